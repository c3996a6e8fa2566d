/* The additive NTT against its definition.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../t.h"
#include "ntt/ntt.h"
#include "poly/poly.h"

static int equal(gf192 a, gf192 b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* W_i(X) = prod over the 2^i elements v of the span of 1, x, ..., x^(i-1) of (X + v). */
static gf64 vanishing(unsigned i, gf64 at) {
    gf64 w = 1;
    for (uint64_t v = 0; v < UINT64_C(1) << i; v++)
        w = gf64_mul(w, at ^ v);
    return w;
}

TEST(basis_is_the_normalised_vanishing_polynomials) {
    uint64_t seed = t_seed();
    for (int trial = 0; trial < 8; trial++) {
        uint64_t p = t_rand64(&seed) >> 32;
        gf64 basis[12];
        ntt_basis_at(basis, 12, p);
        for (unsigned i = 0; i < 12; i++)
            CHECK_EQ_U64(basis[i], gf64_mul(vanishing(i, p), gf64_inv(vanishing(i, UINT64_C(1) << i))));
    }
}

/* The same for all indices, by W_{i+1}(X) = W_i(X) (W_i(X) + W_i(x^i)), which derives the constants of the
 * code. */
TEST(basis_follows_the_recursion_up_to_the_last_index) {
    uint64_t seed = t_seed();
    gf64 w[NTT_MAX_LOG_N], basis[NTT_MAX_LOG_N], p = t_rand64(&seed) >> 32, wp = p;
    for (unsigned c = 0; c < NTT_MAX_LOG_N; c++)
        w[c] = UINT64_C(1) << c; /* W_i(x^c) */
    ntt_basis_at(basis, NTT_MAX_LOG_N, p);
    for (unsigned i = 0; i < NTT_MAX_LOG_N; i++) {
        gf64 at_i = w[i];
        CHECK_EQ_U64(gf64_mul(basis[i], at_i), wp);
        wp = gf64_mul(wp, wp ^ at_i);
        for (unsigned c = 0; c < NTT_MAX_LOG_N; c++)
            w[c] = gf64_mul(w[c], w[c] ^ at_i);
    }
    for (unsigned c = 0; c < NTT_MAX_LOG_N; c++) { /* zero on its span, one at the next basis vector */
        ntt_basis_at(basis, NTT_MAX_LOG_N, UINT64_C(1) << c);
        for (unsigned i = c; i < NTT_MAX_LOG_N; i++)
            CHECK_EQ_U64(basis[i], i == c);
    }
}

TEST(plain_evaluation_is_the_sum_over_the_basis) {
    uint64_t seed = t_seed();
    gf64 msg[64], basis[6];
    for (unsigned k = 0; k <= 6; k++) {
        for (size_t i = 0; i < (size_t)1 << k; i++)
            msg[i] = t_rand64(&seed);
        uint64_t p = t_rand64(&seed) >> 32;
        ntt_basis_at(basis, k, p);
        gf64 sum = 0;
        for (size_t j = 0; j < (size_t)1 << k; j++) {
            gf64 term = msg[j];
            for (unsigned i = 0; i < k; i++)
                if (j >> i & 1)
                    term = gf64_mul(term, basis[i]);
            sum ^= term;
        }
        CHECK_EQ_U64(ntt_evaluate_ref(msg, k, p), sum);
    }
}

typedef struct buffers {
    mem m;
    ntt_domain *domain;
    uint64_t *msg, *code;
} buffers;

static int buffers_open(buffers *b, size_t rows, unsigned k, unsigned rate, uint64_t *seed) {
    memset(b, 0, sizeof *b);
    b->domain = ntt_domain_create(&b->m, k + rate);
    b->msg = mem_alloc(&b->m, rows * sizeof(uint64_t) << k);
    b->code = mem_alloc(&b->m, rows * sizeof(uint64_t) << (k + rate));
    if (!CHECK(b->domain != NULL && b->msg != NULL && b->code != NULL))
        return 0;
    for (size_t i = 0; i < rows << k; i++)
        b->msg[i] = t_rand64(seed);
    for (size_t i = 0; i < rows << (k + rate); i++)
        b->code[i] = UINT64_C(0xdeadbeefdeadbeef);
    return 1;
}

static void buffers_close(buffers *b) {
    mem_free(&b->m, b->code);
    mem_free(&b->m, b->msg);
    ntt_domain_destroy(&b->m, b->domain);
    CHECK_EQ_U64(b->m.current, 0);
}

TEST(code_is_the_polynomial_at_every_position) {
    uint64_t seed = t_seed();
    for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
        sheaf_isa before = kernels_isa();
        if (kernels_force((sheaf_isa)isa) != 0)
            continue;
        for (unsigned k = 0; k <= 9; k++)
            for (unsigned rate = 0; rate <= 6; rate += k < 5 ? 1 : 3) {
                buffers b;
                if (buffers_open(&b, 1, k, rate, &seed)) {
                    ntt_encode_row(b.domain, b.code, b.msg, k, rate);
                    size_t positions = (size_t)1 << (k + rate), step = positions > 512 ? positions / 331 : 1;
                    for (size_t p = 0; p < positions; p += step)
                        if (!CHECK_EQ_U64(b.code[p], ntt_evaluate_ref(b.msg, k, p)))
                            break;
                }
                buffers_close(&b);
            }
        CHECK_EQ_INT(kernels_force(before), 0);
    }
}

TEST(long_code_is_the_polynomial_at_random_positions) {
    uint64_t seed = t_seed();
    for (unsigned k = 10; k <= 16; k++) {
        buffers b;
        if (buffers_open(&b, 1, k, 2, &seed)) {
            ntt_encode_row(b.domain, b.code, b.msg, k, 2);
            for (int i = 0; i < 12; i++) {
                size_t p = t_rand64(&seed) & (((size_t)1 << (k + 2)) - 1);
                CHECK_EQ_U64(b.code[p], ntt_evaluate_ref(b.msg, k, p));
            }
        }
        buffers_close(&b);
    }
}

TEST(rows_by_any_number_of_threads_are_the_rows_one_by_one) {
    uint64_t seed = t_seed();
    static const struct {
        size_t rows;
        unsigned k, rate;
    } shapes[] = {{1, 0, 0},  {3, 2, 1},  {5, 7, 2},  {1, 12, 1},
                  {1, 13, 0}, {2, 14, 1}, {1, 16, 1}, {9, 11, 1}};
    for (unsigned threads = 1; threads <= 7; threads += 2) {
        pool *p = pool_create(threads);
        REQUIRE(p != NULL);
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            unsigned k = shapes[s].k, rate = shapes[s].rate;
            buffers b;
            uint64_t *row = NULL;
            if (buffers_open(&b, shapes[s].rows, k, rate, &seed)) {
                ntt_encode_rows(b.domain, b.code, b.msg, shapes[s].rows, k, rate, p);
                row = mem_alloc(&b.m, sizeof *row << (k + rate));
                for (size_t i = 0; i < shapes[s].rows && CHECK(row != NULL); i++) {
                    ntt_encode_row(b.domain, row, b.msg + (i << k), k, rate);
                    CHECK_MEM(row, b.code + (i << (k + rate)), sizeof *row << (k + rate));
                }
                mem_free(&b.m, row);
            }
            buffers_close(&b);
        }
        pool_destroy(p);
    }
}

/* The weight that the opening gives a codeword position is a tensor. */
TEST(position_is_a_multilinear_functional_of_the_message) {
    uint64_t seed = t_seed();
    enum { K = 7 };
    gf64 basis[K];
    gf192 r[K], table[1 << K];
    for (unsigned i = 0; i < K; i++)
        r[i] = (gf192){{t_rand64(&seed), t_rand64(&seed), t_rand64(&seed)}};
    eq_table(table, r, K);
    for (int trial = 0; trial < 20; trial++) {
        uint64_t p = t_rand64(&seed) >> 32;
        ntt_basis_at(basis, K, p);
        gf192 product = GF192_ONE, sum = GF192_ZERO;
        for (unsigned i = 0; i < K; i++)
            product = gf192_mul(product, gf192_add(gf192_add(GF192_ONE, r[i]), gf192_mul_k(r[i], basis[i])));
        for (size_t j = 0; j < 1 << K; j++) {
            gf64 value = 1;
            for (unsigned i = 0; i < K; i++)
                if (j >> i & 1)
                    value = gf64_mul(value, basis[i]);
            sum = gf192_add(sum, gf192_mul_k(table[j], value));
        }
        CHECK(equal(product, sum));
    }
}

TEST(domain_refuses_more_than_the_field_table_holds) {
    mem m = {0};
    CHECK(ntt_domain_create(&m, NTT_MAX_LOG_N + 1) == NULL);
    CHECK_EQ_U64(m.current, 0);
}

static void *no_memory(void *ctx, size_t bytes) {
    (void)ctx;
    (void)bytes;
    return NULL;
}

static void no_free(void *ctx, void *p) {
    (void)ctx;
    (void)p;
}

TEST(domain_without_memory_is_null) {
    mem m = {.alloc_fn = no_memory, .free_fn = no_free};
    CHECK(ntt_domain_create(&m, 4) == NULL);
}

T_MAIN()
