/* Building and opening Merkle trees.   docs/protocol.md 5.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "merkle.h"

#include <assert.h>

#include "../hash/shake.h"
#include "../kernels.h"

#define DIGEST 32
#define MAX_ARITY 4
#define RATE_LANES (SHAKE256_RATE / 8)

/* ---- leaves ---- */

/* A task hashes this many columns, eight to a group: a row's share of a task is whole cache lines that follow
 * each other, and the groups' states stay in the first cache. */
#define GROUPS 8
#define COLUMNS (8 * GROUPS)
#define AHEAD 4 /* rows lie a power of two apart, where no prefetcher of the machine's foresees the next */

typedef struct leaf_job {
    const uint64_t *words;
    size_t row_stride, n_rows, n; /* n leaves */
    uint8_t *digests;
} leaf_job;

static void permute_groups(uint64_t s[GROUPS][200], size_t columns) {
    for (size_t g = 0; 8 * g < columns; g++)
        kernels()->keccak_f1600_x8(s[g]);
}

static inline void xor8(uint64_t *restrict to, const uint64_t *restrict from) {
    for (size_t i = 0; i < 8; i++)
        to[i] ^= from[i];
}

static void hash_leaves(void *ctx, size_t task, unsigned worker) {
    const leaf_job *job = ctx;
    size_t first = task * COLUMNS, columns = job->n - first < COLUMNS ? job->n - first : COLUMNS, lane = 0;
    _Alignas(64) uint64_t s[GROUPS][200] = {{0}};
    (void)worker;
    for (size_t b = 0; b < job->n_rows; b++) {
        const uint64_t *row = job->words + b * job->row_stride + first;
        size_t p = 0;
        if (b + AHEAD < job->n_rows)
            for (size_t line = 0; line < columns; line += 8)
                __builtin_prefetch(row + AHEAD * job->row_stride + line);
        for (; p + 8 <= columns; p += 8)
            xor8(s[p / 8] + 8 * lane, row + p);
        for (; p < columns; p++) /* fewer than eight leaves in all */
            s[p / 8][8 * lane + p % 8] ^= row[p];
        if (++lane == RATE_LANES) {
            permute_groups(s, columns);
            lane = 0;
        }
    }
    for (size_t p = 0; p < columns; p++) {
        s[p / 8][8 * lane + p % 8] ^= HASH_PAD_FIRST(HASH_MERKLE_LEAF);
        s[p / 8][8 * (RATE_LANES - 1) + p % 8] ^= HASH_PAD_LAST;
    }
    permute_groups(s, columns);
    for (size_t p = 0; p < columns; p++)
        for (size_t l = 0; l < 4; l++)
            store64_le(job->digests + DIGEST * (first + p) + 8 * l, s[p / 8][8 * l + p % 8]);
}

/* ---- nodes ---- */

#define NODES 256 /* a task */

typedef struct node_job {
    const uint8_t *children;
    uint8_t *parents;
    size_t n; /* parents, each with all its children */
    unsigned arity;
} node_job;

static void hash_nodes(void *ctx, size_t task, unsigned worker) {
    const node_job *job = ctx;
    size_t first = task * NODES, count = job->n - first < NODES ? job->n - first : NODES;
    size_t group = (size_t)job->arity * DIGEST;
    (void)worker;
    hash_words_many(job->parents + DIGEST * first, job->children + group * first, group, count, group / 8,
                    HASH_MERKLE_NODE);
}

static void hash_level(pool *p, uint8_t *parents, const uint8_t *children, uint64_t n, unsigned arity) {
    if (n < arity) { /* the root pads with zero digests */
        uint8_t group[MAX_ARITY * DIGEST] = {0};
        memcpy(group, children, (size_t)n * DIGEST);
        hash_words(parents, group, (size_t)arity * DIGEST / 8, HASH_MERKLE_NODE);
        return;
    }
    node_job job = {children, parents, (size_t)(n / arity), arity};
    size_t tasks = (job.n + NODES - 1) / NODES;
    pool_run(tasks > 1 ? p : NULL, tasks, hash_nodes, &job);
}

static uint64_t count_nodes(unsigned log_n, unsigned arity) {
    uint64_t count = 1;
    for (uint64_t n = UINT64_C(1) << log_n; n > 1; n = merkle_parents(n, arity))
        count += n;
    return count;
}

int merkle_build(merkle_tree *t, mem *m, pool *p, const uint64_t *words, size_t row_stride, size_t n_rows,
                 unsigned log_n, unsigned arity) {
    assert(log_n < 56 && (arity == 2 || arity == MAX_ARITY));
    uint64_t count = count_nodes(log_n, arity);
    *t = (merkle_tree){.log_n = log_n, .arity = arity};
    uint8_t *nodes = count > SIZE_MAX / DIGEST ? NULL : mem_alloc(m, (size_t)count * DIGEST);
    if (nodes == NULL)
        return -1;
    t->nodes = nodes;
    t->node_count = (size_t)count;
    leaf_job leaves = {words, row_stride, n_rows, (size_t)1 << log_n, nodes};
    pool_run(p, (leaves.n + COLUMNS - 1) / COLUMNS, hash_leaves, &leaves);
    for (uint64_t n = leaves.n; n > 1; n = merkle_parents(n, arity)) {
        uint8_t *parents = nodes + DIGEST * (size_t)n;
        hash_level(p, parents, nodes, n, arity);
        nodes = parents;
    }
    return 0;
}

void merkle_free(merkle_tree *t, mem *m) {
    mem_free(m, t->nodes);
    *t = (merkle_tree){0};
}

void merkle_root(const merkle_tree *t, uint8_t root[32]) {
    memcpy(root, t->nodes + DIGEST * (t->node_count - 1), DIGEST);
}

/* ---- opening ---- */

/* The known nodes' missing siblings of one level; known[] becomes the parents' indices. Returns how many they
 * are. */
static size_t send_siblings(tx *c, const uint8_t *digests, uint64_t level_nodes, unsigned arity,
                            uint64_t *known, size_t k) {
    size_t parents = 0, i = 0;
    while (i < k) {
        uint64_t parent = known[i] / arity;
        for (unsigned a = 0; a < arity; a++) {
            uint64_t child = parent * arity + a;
            if (i < k && known[i] == child)
                i++;
            else if (child < level_nodes)
                tx_append(c, MSG_OPENING, digests + DIGEST * (size_t)child, DIGEST);
        }
        known[parents++] = parent;
    }
    return parents;
}

void merkle_open(tx *c, const merkle_tree *t, const uint64_t *words, size_t row_stride, size_t n_rows,
                 const uint64_t *positions, size_t n) {
    for (size_t q = 0; q < n; q++)
        assert(positions[q] >> t->log_n == 0);
    if (n == 0)
        return;
    uint64_t *known = malloc(n * sizeof *known);
    uint8_t *leaf = malloc(8 * n_rows + 1); /* never nothing */
    if (known != NULL && leaf != NULL) {
        size_t k = merkle_distinct(known, positions, n);
        for (size_t i = 0; i < k; i++) {
            for (size_t b = 0; b < n_rows; b++)
                store64_le(leaf + 8 * b, words[b * row_stride + (size_t)known[i]]);
            tx_append(c, MSG_OPENING, leaf, 8 * n_rows);
        }
        const uint8_t *digests = t->nodes;
        for (uint64_t nodes = UINT64_C(1) << t->log_n; nodes > 1; nodes = merkle_parents(nodes, t->arity)) {
            k = send_siblings(c, digests, nodes, t->arity, known, k);
            digests += DIGEST * (size_t)nodes;
        }
    } else {
        c->failed = 1;
    }
    free(known);
    free(leaf);
}
