/* Building and opening Merkle trees.   docs/protocol.md 5.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "merkle.h"

#include <assert.h>

#include "../hash/shake.h"
#include "../kernels.h"

#define DIGEST 32
#define WORDS (DIGEST / 8)
#define MAX_ARITY 4
#define RATE_LANES (SHAKE256_RATE / 8)
#define LANES 25
#define AT_ONCE 8 /* states */

/* Where level `level` begins, counted in nodes, and how many it has. */
typedef struct level {
    size_t at, n;
} level;

static level level_above(level l, unsigned arity) {
    return (level){l.at + l.n, (size_t)merkle_parents(l.n, arity)};
}

static level leaves_of(const merkle_tree *t) {
    return (level){0, (size_t)1 << t->log_n};
}

static uint64_t *lane_of(const merkle_tree *t, level l, size_t word) {
    return t->nodes + WORDS * l.at + word * l.n;
}

/* ---- leaves ---- */

/* So many columns are hashed side by side: a row's share of them is whole cache lines that follow each other,
 * and their states stay in the first cache. */
#define GROUPS 8
#define COLUMNS (AT_ONCE * GROUPS)
#define AHEAD 4 /* rows lie a power of two apart, where no prefetcher of the machine's foresees the next */

static inline void copy8(uint64_t *restrict to, const uint64_t *restrict from) {
    memcpy(to, from, AT_ONCE * sizeof *to);
}

static inline void xor8(uint64_t *restrict to, const uint64_t *restrict from) {
    for (size_t i = 0; i < AT_ONCE; i++)
        to[i] ^= from[i];
}

static inline void fill8(uint64_t *to, uint64_t word) {
    for (size_t i = 0; i < AT_ONCE; i++)
        to[i] = word;
}

/* The lanes from `lane` on of states that have no more words than those before it. */
static inline void clear_lanes(uint64_t *s, size_t lane) {
    for (; lane < LANES; lane++)
        fill8(s + AT_ONCE * lane, 0);
}

/* The digests of n states, to the nodes from `at` on of a level. */
static void put_digests(const merkle_tree *t, level l, size_t at, const uint64_t *s, size_t n) {
    for (size_t w = 0; w < WORDS; w++)
        if (n == AT_ONCE)
            copy8(lane_of(t, l, w) + at, s + AT_ONCE * w);
        else
            memcpy(lane_of(t, l, w) + at, s + AT_ONCE * w, n * sizeof *s);
}

/* A row's words join lane `lane` of the states, of which there are fewer than eight in all or a multiple. The
 * first words of a state find nothing there. */
static inline void absorb_row(uint64_t (*s)[AT_ONCE * LANES], size_t lane, const uint64_t *row,
                              size_t columns, int first) {
    if (columns < AT_ONCE) {
        for (size_t i = 0; i < columns; i++)
            s[0][AT_ONCE * lane + i] = row[i] ^ (first ? 0 : s[0][AT_ONCE * lane + i]);
        return;
    }
    for (size_t g = 0; g < columns / AT_ONCE; g++)
        if (first)
            copy8(s[g] + AT_ONCE * lane, row + AT_ONCE * g);
        else
            xor8(s[g] + AT_ONCE * lane, row + AT_ONCE * g);
}

/* The leaves first .. first+columns-1, words being the first one's. */
static void hash_columns(const merkle_tree *t, size_t first, size_t columns, const uint64_t *words,
                         size_t row_stride, size_t n_rows) {
    const sheaf_kernels *k = kernels();
    const size_t groups = (columns + AT_ONCE - 1) / AT_ONCE;
    _Alignas(64) uint64_t s[GROUPS][AT_ONCE * LANES];
    size_t lane = 0;
    for (size_t g = 0; g < groups; g++)
        clear_lanes(s[g], columns < AT_ONCE ? 0 : n_rows < RATE_LANES ? n_rows : RATE_LANES);
    for (size_t b = 0; b < n_rows; b++) {
        const uint64_t *row = words + b * row_stride;
        if (b + AHEAD < n_rows)
            for (size_t line = 0; line < columns; line += 8)
                __builtin_prefetch(row + AHEAD * row_stride + line);
        absorb_row(s, lane, row, columns, b < RATE_LANES);
        if (++lane == RATE_LANES) {
            for (size_t g = 0; g < groups; g++)
                k->keccak_f1600_x8(s[g]);
            lane = 0;
        }
    }
    for (size_t g = 0; g < groups; g++) {
        for (size_t i = 0; i < AT_ONCE; i++) {
            s[g][AT_ONCE * lane + i] ^= HASH_PAD_FIRST(HASH_MERKLE_LEAF);
            s[g][AT_ONCE * (RATE_LANES - 1) + i] ^= HASH_PAD_LAST;
        }
        k->keccak_digest_x8(s[g]);
        put_digests(t, leaves_of(t), first + AT_ONCE * g, s[g], columns < AT_ONCE ? columns : AT_ONCE);
    }
}

/* ---- nodes ---- */

/* The nodes first .. first+count-1 of a level, from all their children in the level below, eight at a time.
 */
static void hash_nodes(const merkle_tree *t, level below, level to, size_t first, size_t count) {
    const sheaf_kernels *k = kernels();
    const unsigned arity = t->arity;
    for (size_t done = 0; done < count; done += AT_ONCE) {
        const size_t n = count - done < AT_ONCE ? count - done : AT_ONCE, at = first + done;
        const int whole = arity == 2 && n == AT_ONCE;
        _Alignas(64) uint64_t s[AT_ONCE * LANES];
        clear_lanes(s, whole ? 2 * WORDS : 0);
        for (size_t l = 0; l < WORDS; l++) {
            const uint64_t *child = lane_of(t, below, l) + arity * at;
            if (whole) {
                for (size_t i = 0; i < AT_ONCE; i++) {
                    s[AT_ONCE * l + i] = child[2 * i];
                    s[AT_ONCE * (WORDS + l) + i] = child[2 * i + 1];
                }
            } else {
                for (size_t a = 0; a < arity; a++)
                    for (size_t i = 0; i < n && arity * (at + i) + a < below.n; i++)
                        s[AT_ONCE * (WORDS * a + l) + i] = child[arity * i + a];
            }
        }
        fill8(s + AT_ONCE * WORDS * arity, HASH_PAD_FIRST(HASH_MERKLE_NODE));
        for (size_t i = 0; i < AT_ONCE; i++)
            s[AT_ONCE * (RATE_LANES - 1) + i] ^= HASH_PAD_LAST;
        k->keccak_digest_x8(s);
        put_digests(t, to, at, s, n);
    }
}

/* A part's nodes are made with it while eight of them are side by side. */
static int in_part(size_t nodes, unsigned arity) {
    return nodes >= (size_t)AT_ONCE * arity;
}

void merkle_part(merkle_tree *t, size_t first, unsigned log_part, const uint64_t *words, size_t row_stride,
                 size_t n_rows) {
    size_t count = (size_t)1 << log_part;
    for (size_t p = 0; p < count; p += COLUMNS)
        hash_columns(t, first + p, count - p < COLUMNS ? count - p : COLUMNS, words + p, row_stride, n_rows);
    for (level below = leaves_of(t); in_part(count, t->arity);) {
        const level to = level_above(below, t->arity);
        first /= t->arity;
        count /= t->arity;
        hash_nodes(t, below, to, first, count);
        below = to;
    }
}

/* ---- the tree ---- */

uint64_t merkle_count(unsigned log_n, unsigned arity) {
    uint64_t count = 1;
    for (uint64_t n = UINT64_C(1) << log_n; n > 1; n = merkle_parents(n, arity))
        count += n;
    return count;
}

int merkle_init(merkle_tree *t, mem *m, unsigned log_n, unsigned arity) {
    assert(log_n < 56 && (arity == 2 || arity == MAX_ARITY));
    const uint64_t count = merkle_count(log_n, arity);
    *t = (merkle_tree){.log_n = log_n, .arity = arity};
    t->nodes = count > SIZE_MAX / DIGEST ? NULL : mem_alloc(m, (size_t)count * DIGEST);
    t->node_count = t->nodes != NULL ? (size_t)count : 0;
    return t->nodes != NULL ? 0 : -1;
}

#define NODES 64 /* a task */

typedef struct nodes_job {
    const merkle_tree *t;
    level below, to;
} nodes_job;

static void nodes_task(void *ctx, size_t task, unsigned worker) {
    const nodes_job *job = ctx;
    const size_t first = task * NODES;
    (void)worker;
    hash_nodes(job->t, job->below, job->to, first, job->to.n - first < NODES ? job->to.n - first : NODES);
}

void merkle_finish(merkle_tree *t, pool *p, unsigned log_part) {
    nodes_job job = {t, leaves_of(t), {0, 0}};
    for (size_t count = (size_t)1 << log_part; in_part(count, t->arity); count /= t->arity)
        job.below = level_above(job.below, t->arity);
    for (; job.below.n > 1; job.below = job.to) {
        job.to = level_above(job.below, t->arity);
        pool_run(p, (job.to.n + NODES - 1) / NODES, nodes_task, &job);
    }
}

typedef struct parts_job {
    merkle_tree *t;
    const uint64_t *words;
    size_t row_stride, n_rows;
    unsigned log_part;
} parts_job;

static void part_task(void *ctx, size_t task, unsigned worker) {
    const parts_job *job = ctx;
    const size_t first = task << job->log_part;
    (void)worker;
    merkle_part(job->t, first, job->log_part, job->words + first, job->row_stride, job->n_rows);
}

int merkle_build(merkle_tree *t, mem *m, pool *p, const uint64_t *words, size_t row_stride, size_t n_rows,
                 unsigned log_n, unsigned arity) {
    const unsigned log_part = log_n < 8 ? log_n : 8;
    if (merkle_init(t, m, log_n, arity) != 0)
        return -1;
    parts_job job = {t, words, row_stride, n_rows, log_part};
    pool_run(p, (size_t)1 << (log_n - log_part), part_task, &job);
    merkle_finish(t, p, log_part);
    return 0;
}

void merkle_free(merkle_tree *t, mem *m) {
    mem_free(m, t->nodes);
    *t = (merkle_tree){0};
}

static void node_bytes(uint8_t out[DIGEST], const merkle_tree *t, level l, size_t i) {
    for (size_t w = 0; w < WORDS; w++)
        store64_le(out + 8 * w, lane_of(t, l, w)[i]);
}

void merkle_root(const merkle_tree *t, uint8_t root[32]) {
    node_bytes(root, t, (level){t->node_count - 1, 1}, 0);
}

/* ---- opening ---- */

/* The known nodes' missing siblings of one level; known[] becomes the parents' indices. Returns how many they
 * are. */
static size_t send_siblings(tx *c, const merkle_tree *t, level l, uint64_t *known, size_t k) {
    const unsigned arity = t->arity;
    size_t parents = 0, i = 0;
    while (i < k) {
        uint64_t parent = known[i] / arity;
        for (unsigned a = 0; a < arity; a++) {
            uint64_t child = parent * arity + a;
            if (i < k && known[i] == child) {
                i++;
            } else if (child < l.n) {
                uint8_t digest[DIGEST];
                node_bytes(digest, t, l, (size_t)child);
                tx_append(c, MSG_OPENING, digest, DIGEST);
            }
        }
        known[parents++] = parent;
    }
    return parents;
}

void merkle_open_leaves(tx *c, const merkle_tree *t, const uint64_t *leaves, size_t n_rows,
                        const uint64_t *distinct, size_t k) {
    if (k == 0)
        return;
    uint64_t *known = malloc(k * sizeof *known);
    uint8_t *leaf = malloc(8 * n_rows + 1); /* never nothing */
    if (known != NULL && leaf != NULL) {
        memcpy(known, distinct, k * sizeof *known);
        for (size_t i = 0; i < k; i++) {
            for (size_t b = 0; b < n_rows; b++)
                store64_le(leaf + 8 * b, leaves[i * n_rows + b]);
            tx_append(c, MSG_OPENING, leaf, 8 * n_rows);
        }
        for (level l = leaves_of(t); l.n > 1; l = level_above(l, t->arity))
            k = send_siblings(c, t, l, known, k);
    } else {
        c->failed = 1;
    }
    free(known);
    free(leaf);
}

void merkle_open(tx *c, const merkle_tree *t, const uint64_t *words, size_t row_stride, size_t n_rows,
                 const uint64_t *positions, size_t n) {
    for (size_t q = 0; q < n; q++)
        assert(positions[q] >> t->log_n == 0);
    if (n == 0)
        return;
    uint64_t *distinct = malloc(n * sizeof *distinct), *leaves = malloc((n * n_rows + 1) * sizeof *leaves);
    if (distinct != NULL && leaves != NULL) {
        const size_t k = merkle_distinct(distinct, positions, n);
        for (size_t i = 0; i < k; i++)
            for (size_t b = 0; b < n_rows; b++)
                leaves[i * n_rows + b] = words[b * row_stride + (size_t)distinct[i]];
        merkle_open_leaves(c, t, leaves, n_rows, distinct, k);
    } else {
        c->failed = 1;
    }
    free(distinct);
    free(leaves);
}
