/* Merkle trees: build and opening against plain twins, and what the check rejects.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../t.h"

#include "common/hash/shake.h"
#include "common/kernels.h"
#include "common/merkle/merkle.h"

enum { MAX_LOG_N = 9, MAX_POSITIONS = 64 };

typedef struct matrix {
    uint64_t *words;
    size_t stride, n_rows;
    unsigned log_n, arity;
} matrix;

static matrix random_matrix(uint64_t *seed, size_t n_rows, unsigned log_n, unsigned arity) {
    matrix m = {NULL, ((size_t)1 << log_n) + 3, n_rows, log_n,
                arity}; /* rows need not touch, nor be aligned */
    m.words = malloc((n_rows * m.stride + 1) * sizeof *m.words);
    if (m.words == NULL)
        abort();
    for (size_t i = 0; i < n_rows * m.stride; i++)
        m.words[i] = t_rand64(seed);
    return m;
}

/* ---- the twins: docs/protocol.md 5, word for word ---- */

static uint64_t nodes_of_level(const matrix *m, unsigned level) {
    uint64_t n = UINT64_C(1) << m->log_n;
    for (; level > 0; level--)
        n = (n + m->arity - 1) / m->arity;
    return n;
}

static void twin_node(uint8_t digest[32], const matrix *m, unsigned level, uint64_t index) {
    if (level == 0) {
        uint8_t *leaf = malloc(8 * m->n_rows + 1);
        if (leaf == NULL)
            abort();
        for (size_t b = 0; b < m->n_rows; b++)
            store64_le(leaf + 8 * b, m->words[b * m->stride + index]);
        leaf[8 * m->n_rows] = 0x00;
        shake256_once(digest, 32, leaf, 8 * m->n_rows + 1);
        free(leaf);
        return;
    }
    uint8_t children[4 * 32 + 1] = {0};
    for (unsigned a = 0; a < m->arity; a++)
        if (index * m->arity + a < nodes_of_level(m, level - 1))
            twin_node(children + 32 * a, m, level - 1, index * m->arity + a);
    children[32 * m->arity] = 0x01;
    shake256_once(digest, 32, children, 32 * m->arity + 1);
}

static unsigned root_level(const matrix *m) {
    unsigned level = 0;
    while (nodes_of_level(m, level) > 1)
        level++;
    return level;
}

/* The opening's bytes, by a flag for every node that is known. Returns their number. */
static size_t twin_open(uint8_t *out, const matrix *m, const uint64_t *positions, size_t n) {
    uint8_t known[1 << MAX_LOG_N] = {0};
    size_t len = 0;
    for (size_t q = 0; q < n; q++)
        known[positions[q]] = 1;
    for (uint64_t p = 0; p < nodes_of_level(m, 0); p++)
        for (size_t b = 0; known[p] && b < m->n_rows; b++, len += 8)
            store64_le(out + len, m->words[b * m->stride + p]);
    for (unsigned level = 0; level < root_level(m); level++) {
        uint64_t count = nodes_of_level(m, level), parents = nodes_of_level(m, level + 1);
        for (uint64_t parent = 0; parent < parents; parent++) {
            int any = 0;
            uint64_t first = parent * m->arity, end = first + m->arity < count ? first + m->arity : count;
            for (uint64_t c = first; c < end; c++)
                any |= known[c];
            for (uint64_t c = first; c < end; c++)
                if (any && !known[c]) {
                    twin_node(out + len, m, level, c);
                    len += 32;
                }
            known[parent] = (uint8_t)any; /* parent <= first: only flags that are read already */
        }
    }
    return len;
}

/* ---- building ---- */

/* Node i of level `level`, whose first node is number `at`, as bytes. */
static void tree_node(uint8_t digest[32], const merkle_tree *t, const matrix *m, unsigned level, size_t at,
                      uint64_t i) {
    for (size_t w = 0; w < 4; w++)
        store64_le(digest + 8 * w, t->nodes[4 * at + w * nodes_of_level(m, level) + i]);
}

static void check_build(const matrix *m) {
    merkle_tree t;
    uint8_t root[32], twin[32], node[32];
    REQUIRE(merkle_build(&t, NULL, NULL, m->words, m->stride, m->n_rows, m->log_n, m->arity) == 0);
    size_t at = 0;
    for (unsigned level = 0; level <= root_level(m); at += nodes_of_level(m, level++))
        for (uint64_t i = 0; i < nodes_of_level(m, level); i++) {
            REQUIRE(at + i < t.node_count);
            twin_node(twin, m, level, i);
            tree_node(node, &t, m, level, at, i);
            CHECK_MEM(node, twin, 32);
        }
    CHECK_EQ_U64(at, t.node_count);
    merkle_root(&t, root);
    CHECK_MEM(root, twin, 32);
    merkle_free(&t, NULL);
    CHECK(t.nodes == NULL);
}

static const size_t some_rows[] = {0, 1, 2, 16, 17, 18, 34, 51};
enum { SOME_ROWS = sizeof some_rows / sizeof *some_rows };

TEST(every_node_is_the_plain_recursions) {
    uint64_t seed = t_seed();
    for (unsigned arity = 2; arity <= 4; arity += 2)
        for (unsigned log_n = 0; log_n <= MAX_LOG_N; log_n++)
            for (size_t r = log_n < 6 ? 0 : SOME_ROWS - 1; r < SOME_ROWS; r++) {
                matrix m = random_matrix(&seed, some_rows[r], log_n, arity);
                check_build(&m);
                free(m.words);
            }
}

TEST(threads_and_back_ends_do_not_change_the_tree) {
    uint64_t seed = t_seed();
    sheaf_isa before = kernels_isa();
    for (unsigned arity = 2; arity <= 4; arity += 2) {
        matrix m = random_matrix(&seed, 20, 11, arity);
        merkle_tree first = {0};
        REQUIRE(merkle_build(&first, NULL, NULL, m.words, m.stride, m.n_rows, m.log_n, arity) == 0);
        for (unsigned threads = 1; threads <= 3; threads++)
            for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
                if (kernels_force((sheaf_isa)isa) != 0)
                    continue;
                merkle_tree t;
                pool *p = pool_create(threads);
                REQUIRE(p != NULL);
                REQUIRE(merkle_build(&t, NULL, p, m.words, m.stride, m.n_rows, m.log_n, arity) == 0);
                CHECK_EQ_U64(t.node_count, first.node_count);
                CHECK_MEM(t.nodes, first.nodes, 32 * t.node_count);
                tx a, b;
                const uint64_t positions[3] = {5, 2047, 77};
                tx_init(&a);
                tx_init(&b);
                merkle_open(&a, &first, m.words, m.stride, m.n_rows, positions, 3);
                merkle_open(&b, &t, m.words, m.stride, m.n_rows, positions, 3);
                CHECK_EQ_U64(a.len, b.len);
                CHECK_MEM(a.out, b.out, a.len);
                tx_free(&a);
                tx_free(&b);
                merkle_free(&t, NULL);
                pool_destroy(p);
            }
        merkle_free(&first, NULL);
        free(m.words);
    }
    CHECK_EQ_INT(kernels_force(before), 0);
}

static void *no_memory(void *ctx, size_t bytes) {
    (void)bytes;
    ++*(unsigned *)ctx;
    return NULL;
}

TEST(build_reports_that_memory_ran_out) {
    unsigned asked = 0;
    uint64_t words[8] = {0};
    mem m = {.alloc_fn = no_memory, .ctx = &asked};
    merkle_tree t;
    CHECK_EQ_INT(merkle_build(&t, &m, NULL, words, 8, 1, 3, 2), -1);
    CHECK_EQ_U64(asked, 1);
    CHECK(t.nodes == NULL);
    merkle_free(&t, &m);
}

/* ---- openings ---- */

typedef struct opened {
    matrix m;
    merkle_tree t;
    uint8_t root[32];
    uint64_t positions[MAX_POSITIONS];
    size_t n;
    tx c;
} opened;

static int open_random(opened *o, uint64_t *seed, size_t n_rows, unsigned log_n, unsigned arity, size_t n) {
    o->m = random_matrix(seed, n_rows, log_n, arity);
    o->n = n;
    for (size_t q = 0; q < n; q++)
        o->positions[q] = t_rand64(seed) & ((UINT64_C(1) << log_n) - 1);
    if (merkle_build(&o->t, NULL, NULL, o->m.words, o->m.stride, n_rows, log_n, arity) != 0)
        return -1;
    merkle_root(&o->t, o->root);
    tx_init(&o->c);
    merkle_open(&o->c, &o->t, o->m.words, o->m.stride, n_rows, o->positions, n);
    return o->c.failed ? -1 : 0;
}

static void opened_free(opened *o) {
    tx_free(&o->c);
    merkle_free(&o->t, NULL);
    free(o->m.words);
}

static int check_bytes(const opened *o, const uint8_t *proof, size_t len, const uint8_t root[32],
                       const uint8_t **leaves, rx *v) {
    rx_init(v, proof, len);
    return merkle_check(v, root, leaves, o->m.n_rows, o->m.log_n, o->m.arity, o->positions, o->n, 6);
}

static void check_opening(const opened *o) {
    const uint8_t *leaves[MAX_POSITIONS];
    rx v;
    REQUIRE(check_bytes(o, o->c.out, o->c.len, o->root, leaves, &v) == 0);
    CHECK_EQ_INT(rx_finish(&v), 0);
    CHECK_EQ_U64(v.bytes_by_kind[MSG_OPENING], o->c.len);
    CHECK_EQ_U64(o->c.bytes_by_kind[MSG_OPENING], o->c.len);
    for (size_t q = 0; q < o->n; q++) {
        REQUIRE(leaves[q] >= o->c.out && leaves[q] + 8 * o->m.n_rows <= o->c.out + o->c.len);
        for (size_t b = 0; b < o->m.n_rows; b++)
            CHECK_EQ_U64(load64_le(leaves[q] + 8 * b), o->m.words[b * o->m.stride + o->positions[q]]);
    }
    uint8_t *twin = malloc(MAX_POSITIONS * 8 * 64 + (2u << MAX_LOG_N) * 32);
    REQUIRE(twin != NULL);
    size_t len = twin_open(twin, &o->m, o->positions, o->n);
    CHECK_EQ_U64(len, o->c.len);
    CHECK_MEM(o->c.out, twin, len);
    free(twin);
}

TEST(every_opening_is_the_plain_one_and_verifies) {
    uint64_t seed = t_seed();
    static const size_t counts[] = {1, 2, 3, 9, 40};
    for (unsigned arity = 2; arity <= 4; arity += 2)
        for (unsigned log_n = 0; log_n <= MAX_LOG_N; log_n++)
            for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
                opened o;
                REQUIRE(open_random(&o, &seed, 1 + k * 8, log_n, arity, counts[k]) == 0);
                check_opening(&o);
                opened_free(&o);
            }
}

TEST(an_opening_of_all_leaves_has_no_path) {
    uint64_t seed = t_seed();
    for (unsigned arity = 2; arity <= 4; arity += 2)
        for (unsigned log_n = 0; log_n <= 6; log_n++) {
            opened o;
            REQUIRE(open_random(&o, &seed, 3, log_n, arity, 1) == 0);
            o.n = (size_t)1 << log_n;
            for (size_t q = 0; q < o.n; q++)
                o.positions[q] = o.n - 1 - q;
            tx_free(&o.c);
            tx_init(&o.c);
            merkle_open(&o.c, &o.t, o.m.words, o.m.stride, 3, o.positions, o.n);
            CHECK_EQ_U64(o.c.len, 24 * o.n);
            check_opening(&o);
            opened_free(&o);
        }
}

TEST(repeated_positions_are_opened_once) {
    uint64_t seed = t_seed();
    opened once, many;
    REQUIRE(open_random(&once, &seed, 5, 7, 2, 3) == 0);
    many = once;
    many.n = 10;
    for (size_t q = 0; q < many.n; q++)
        many.positions[q] = once.positions[(q * q + 1) % 3];
    for (size_t q = 0; q < 3; q++)
        many.positions[q] = once.positions[2 - q];
    tx_init(&many.c);
    merkle_open(&many.c, &many.t, many.m.words, many.m.stride, 5, many.positions, many.n);
    CHECK_EQ_U64(many.c.len, once.c.len);
    CHECK_MEM(many.c.out, once.c.out, once.c.len);
    check_opening(&many);
    tx_free(&many.c);
    opened_free(&once);
}

TEST(no_positions_no_bytes) {
    uint64_t seed = t_seed();
    opened o;
    rx v;
    REQUIRE(open_random(&o, &seed, 2, 4, 2, 0) == 0);
    CHECK_EQ_U64(o.c.len, 0);
    CHECK_EQ_INT(check_bytes(&o, NULL, 0, o.root, NULL, &v), 0);
    opened_free(&o);
}

static void check_rejected(const opened *o, const uint8_t *proof, size_t len, const uint8_t root[32],
                           sheaf_check check) {
    const uint8_t *leaves[MAX_POSITIONS];
    rx v;
    CHECK_EQ_INT(check_bytes(o, proof, len, root, leaves, &v), -1);
    CHECK_EQ_INT(v.fail.status, SHEAF_REJECTED);
    CHECK_EQ_INT(v.fail.check, check);
    CHECK_EQ_U64(v.fail.index, check == SHEAF_CHECK_MERKLE ? 6 : 0);
    for (size_t q = 0; q < o->n; q++)
        CHECK(leaves[q] == NULL);
}

TEST(check_rejects_a_flip_of_any_byte) {
    uint64_t seed = t_seed();
    for (unsigned arity = 2; arity <= 4; arity += 2)
        for (unsigned log_n = 0; log_n <= MAX_LOG_N; log_n += 3) {
            opened o;
            REQUIRE(open_random(&o, &seed, 4, log_n, arity, 4) == 0);
            for (size_t i = 0; i < o.c.len; i++) {
                uint8_t flip = (uint8_t)(1u << (t_rand64(&seed) & 7));
                o.c.out[i] ^= flip;
                check_rejected(&o, o.c.out, o.c.len, o.root, SHEAF_CHECK_MERKLE);
                o.c.out[i] ^= flip;
            }
            check_opening(&o);
            opened_free(&o);
        }
}

TEST(check_rejects_every_truncation) {
    uint64_t seed = t_seed();
    for (unsigned arity = 2; arity <= 4; arity += 2) {
        opened o;
        REQUIRE(open_random(&o, &seed, 3, 5, arity, 3) == 0);
        for (size_t len = 0; len < o.c.len; len++) {
            uint8_t *cut =
                malloc(len + 1); /* its own block, so that the sanitizer sees a read past the end */
            REQUIRE(cut != NULL);
            memcpy(cut, o.c.out, len);
            check_rejected(&o, cut, len, o.root, SHEAF_CHECK_TRUNCATED);
            free(cut);
        }
        opened_free(&o);
    }
}

TEST(check_leaves_what_follows_the_opening) {
    uint64_t seed = t_seed();
    opened o;
    const uint8_t *leaves[MAX_POSITIONS];
    rx v;
    REQUIRE(open_random(&o, &seed, 3, 5, 4, 3) == 0);
    size_t len = o.c.len;
    tx_append(&o.c, MSG_ROOT, "eight by", 8);
    CHECK_EQ_INT(check_bytes(&o, o.c.out, o.c.len, o.root, leaves, &v), 0);
    CHECK_EQ_U64(v.pos, len);
    opened_free(&o);
}

TEST(check_rejects_another_root) {
    uint64_t seed = t_seed();
    for (unsigned log_n = 0; log_n <= 5; log_n++) {
        opened o;
        REQUIRE(open_random(&o, &seed, 3, log_n, 2, 3) == 0);
        for (size_t i = 0; i < 32; i++) {
            o.root[i] ^= 0x10;
            check_rejected(&o, o.c.out, o.c.len, o.root, SHEAF_CHECK_MERKLE);
            o.root[i] ^= 0x10;
        }
        opened_free(&o);
    }
}

/* The same bytes do not open another leaf, though it needs as many siblings. */
TEST(check_rejects_another_position) {
    uint64_t seed = t_seed();
    for (unsigned arity = 2; arity <= 4; arity += 2) {
        opened o;
        REQUIRE(open_random(&o, &seed, 3, 6, arity, 1) == 0);
        uint64_t right = o.positions[0];
        for (o.positions[0] = 0; o.positions[0] < 64; o.positions[0]++)
            if (o.positions[0] != right)
                check_rejected(&o, o.c.out, o.c.len, o.root, SHEAF_CHECK_MERKLE);
        opened_free(&o);
    }
}

/* A tree of arity 4 with an odd log_n: the root's absent children are zero, whatever the prover would like.
 */
TEST(the_padding_is_not_read_from_the_proof) {
    uint64_t seed = t_seed();
    opened o;
    uint8_t group[4 * 32] = {0}, root[32];
    REQUIRE(open_random(&o, &seed, 2, 1, 4, 1) == 0);
    CHECK_EQ_U64(o.c.len, 16 + 32); /* the leaf and its one sibling */
    tree_node(group, &o.t, &o.m, 0, 0, 0);
    tree_node(group + 32, &o.t, &o.m, 0, 0, 1);
    hash_words(root, group, 16, HASH_MERKLE_NODE);
    CHECK_MEM(root, o.root, 32);
    group[64] = 1; /* a root over a third child */
    hash_words(root, group, 16, HASH_MERKLE_NODE);
    check_rejected(&o, o.c.out, o.c.len, root, SHEAF_CHECK_MERKLE);
    opened_free(&o);
}

TEST(distinct_positions_are_sorted_without_repeats) {
    const uint64_t in[7] = {9, UINT64_MAX, 0, 9, 3, 0, UINT64_C(1) << 40},
                   sorted[5] = {0, 3, 9, UINT64_C(1) << 40, UINT64_MAX};
    uint64_t out[7];
    CHECK_EQ_U64(merkle_distinct(out, in, 7), 5);
    CHECK_MEM(out, sorted, sizeof sorted);
    CHECK_EQ_U64(merkle_distinct(out, in, 0), 0);
}

T_MAIN()
