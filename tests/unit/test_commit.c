/* Commitments against the plain way: encode all, build a tree, open it.   SPDX-License-Identifier: MIT OR
 * Apache-2.0 */
#include "../t.h"
#include "pcs/commit.h"

typedef struct shape {
    size_t rows;
    unsigned k, rate, arity;
    size_t queries; /* few: words are computed when opened; many: the code is kept */
    int kept;
} shape;

static const shape shapes[] = {
    {3, 3, 2, 2, 5, 0},   {7, 5, 1, 2, 20, 0},  {7, 5, 1, 2, 21, 1},  {4, 9, 3, 4, 30, 0},
    {5, 11, 1, 2, 9, 0},  {3, 12, 2, 2, 33, 0}, {6, 13, 1, 4, 12, 0}, {3, 16, 0, 2, 8, 0},
    {3, 13, 0, 2, 40, 1}, {2, 12, 1, 2, 3, 1},  {1, 2, 4, 2, 6, 1},   {5, 2, 1, 4, 3, 1},
    {9, 0, 3, 2, 4, 1},   {4, 8, 6, 2, 17, 0},  {4, 14, 1, 2, 20, 0}, {3, 10, 2, 4, 40, 0},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0], MOST_QUERIES = 40 };

typedef struct subject {
    uint64_t *msg, positions[MOST_QUERIES];
    tx plain; /* root and opening */
} subject;

static void subject_init(subject *s, const shape *sh, uint64_t *seed) {
    const unsigned log_n = sh->k + sh->rate;
    const size_t words = sh->rows << sh->k;
    merkle_tree t;
    uint8_t root[32];
    uint64_t root_words[4];
    s->msg = mem_alloc(NULL, words * sizeof(uint64_t));
    uint64_t *code = mem_alloc(NULL, (sh->rows << log_n) * sizeof(uint64_t));
    ntt_domain *d = ntt_domain_create(NULL, log_n);
    if (s->msg == NULL || code == NULL || d == NULL)
        abort();
    for (size_t i = 0; i < words; i++)
        s->msg[i] = t_rand64(seed);
    for (size_t q = 0; q < sh->queries; q++)
        s->positions[q] = t_rand64(seed) & ((UINT64_C(1) << log_n) - 1);
    ntt_encode_rows(d, code, s->msg, sh->rows, sh->k, sh->rate, NULL);
    if (merkle_build(&t, NULL, NULL, code, (size_t)1 << log_n, sh->rows, log_n, sh->arity) != 0)
        abort();
    merkle_root(&t, root);
    for (size_t l = 0; l < 4; l++)
        root_words[l] = load64_le(root + 8 * l);
    tx_init(&s->plain);
    tx_send_words(&s->plain, MSG_ROOT, root_words, 4);
    merkle_open(&s->plain, &t, code, (size_t)1 << log_n, sh->rows, s->positions, sh->queries);
    merkle_free(&t, NULL);
    ntt_domain_destroy(NULL, d);
    mem_free(NULL, code);
}

static void subject_free(subject *s) {
    tx_free(&s->plain);
    mem_free(NULL, s->msg);
}

static whir_commitment rows_of(const subject *s, const shape *sh) {
    return (whir_commitment){.msg = s->msg, .k = sh->k, .rate = sh->rate, .live_rows = sh->rows};
}

static void check_shape(const subject *s, const shape *sh, unsigned threads) {
    mem m = {0};
    env e = {.mem = &m, .pool = pool_create(threads)};
    whir_commitment w = rows_of(s, sh);
    tx c;
    REQUIRE(e.pool != NULL);
    tx_init(&c);
    REQUIRE(commit_rows(&c, &e, &w, sh->queries, sh->arity) == 0);
    CHECK_EQ_INT(w.code != NULL, sh->kept);
    CHECK_EQ_INT(commit_open(&c, &e, &w, s->positions, sh->queries), 0);
    CHECK_EQ_U64(c.len, s->plain.len);
    CHECK_MEM(c.out, s->plain.out, c.len);
    whir_commitment_free(&w, &m);
    CHECK_EQ_U64(m.current, 0);
    tx_free(&c);
    pool_destroy(e.pool);
}

TEST(root_and_opening_are_those_of_the_whole_code) {
    uint64_t seed = t_seed();
    const sheaf_isa before = kernels_isa();
    for (size_t i = 0; i < SHAPES; i++) {
        subject s;
        subject_init(&s, &shapes[i], &seed);
        for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++)
            for (unsigned threads = 1; threads <= 5 && kernels_force((sheaf_isa)isa) == 0; threads += 2)
                check_shape(&s, &shapes[i], threads);
        CHECK_EQ_INT(kernels_force(before), 0);
        subject_free(&s);
    }
}

/* What is held, and the most while it is made, against what is said. */
TEST(memory_is_as_foretold) {
    uint64_t seed = t_seed();
    static const whir_params pars[] = {
        {16, 1, 4, 2, {{4, 3, 0, 0, 30, 0}}},   /* computed: one coset at a time */
        {15, 1, 4, 2, {{4, 3, 0, 0, 30, 0}}},   /* computed: a coset a thread */
        {16, 1, 4, 4, {{4, 2, 0, 0, 200, 0}}}}; /* kept */
    for (size_t i = 0; i < sizeof pars / sizeof pars[0]; i++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            mem m = {0};
            env e = {.mem = &m, .pool = pool_create(threads)};
            tx c;
            whir_commitment w;
            const size_t words = (size_t)1 << pars[i].log_words;
            uint64_t *q = mem_alloc(NULL, words * sizeof *q);
            REQUIRE(q != NULL && e.pool != NULL);
            for (size_t u = 0; u < words; u++)
                q[u] = t_rand64(&seed);
            tx_init(&c);
            REQUIRE(whir_commit(&c, &e, &w, &pars[i], q, words) == 0);
            const whir_bytes said = whir_commitment_bytes(&pars[i], w.live_rows, threads);
            CHECK(m.current >= said.held && m.current - said.held < 1024);
            CHECK(m.peak >= said.most && m.peak - said.most < 16384);
            whir_commitment_free(&w, &m);
            tx_free(&c);
            mem_free(NULL, q);
            pool_destroy(e.pool);
        }
}

typedef struct limited {
    unsigned left;
} limited;

static void *limited_alloc(void *ctx, size_t bytes) {
    limited *l = ctx;
    return l->left > 0 ? l->left--, malloc(bytes) : NULL;
}

static void limited_free(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

TEST(every_allocation_may_fail) {
    uint64_t seed = t_seed();
    for (size_t i = 4; i < SHAPES; i += 4) {
        subject s;
        subject_init(&s, &shapes[i], &seed);
        unsigned allowed = 0;
        for (int result = -1; result != 0; allowed++) {
            limited l = {allowed};
            mem m = {.alloc_fn = limited_alloc, .free_fn = limited_free, .ctx = &l};
            env e = {.mem = &m};
            whir_commitment w = rows_of(&s, &shapes[i]);
            tx c;
            tx_init(&c);
            result = commit_rows(&c, &e, &w, shapes[i].queries, shapes[i].arity);
            if (result == 0) {
                result = commit_open(&c, &e, &w, s.positions, shapes[i].queries);
                whir_commitment_free(&w, &m);
            }
            CHECK_EQ_U64(m.current, 0);
            tx_free(&c);
            REQUIRE(allowed < 20);
        }
        CHECK(allowed > 4);
        subject_free(&s);
    }
}

T_MAIN()
