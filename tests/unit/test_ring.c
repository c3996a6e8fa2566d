/* Ring switching: the map, the claim, the weight.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "t.h"
#include "pcs/whir.h"
#include "poly/poly.h"

#define MOST_VARS 13

static gf192 rand_e(uint64_t *seed) {
    gf192 a = {{t_rand64(seed), t_rand64(seed), t_rand64(seed)}};
    return a;
}

static void rand_es(uint64_t *seed, gf192 *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        a[i] = rand_e(seed);
}

/* The definition: six maps one after another. */
static gf192 phi_plain(const gf192 f[RING_CHALLENGES], gf192 a) {
    for (unsigned p = 0; p < RING_CHALLENGES; p++) {
        gf192 power = a;
        for (unsigned i = 0; i < 1u << (5 - p); i++)
            power = gf192_mul(power, power);
        a = gf192_add(a, gf192_mul(f[p], power));
    }
    return a;
}

static gf192 eq_index(const gf192 *r, size_t u, unsigned n) {
    gf192 product = GF192_ONE;
    for (unsigned i = 0; i < n; i++)
        product = gf192_mul(product, (u >> i & 1) != 0 ? r[i] : gf192_add(GF192_ONE, r[i]));
    return product;
}

/* The multilinear extension at `point`: a sum over all of the table. */
static gf192 mle_plain(evec table, const gf192 *point, unsigned n) {
    gf192 sum = GF192_ZERO;
    for (size_t u = 0; u < (size_t)1 << n; u++)
        sum = gf192_add(sum, gf192_mul(eq_index(point, u, n), evec_get(table, u)));
    return sum;
}

static evec new_evec(size_t n) {
    const size_t stride = round_up(n, 8);
    return (evec){mem_alloc(NULL, 3 * stride * sizeof(uint64_t)), stride};
}

static gf192 slice_at(const uint64_t *q, unsigned z, const gf192 *r, unsigned n) {
    gf192 sum = GF192_ZERO;
    for (size_t u = 0; u < (size_t)1 << n; u++)
        if ((q[u] >> z & 1) != 0)
            sum = gf192_add(sum, eq_index(r, u, n));
    return sum;
}

TEST(the_map_is_its_composition) {
    uint64_t seed = t_seed();
    for (unsigned round = 0; round < 10; round++) {
        gf192 f[RING_CHALLENGES], a = rand_e(&seed);
        ring_map phi;
        rand_es(&seed, f, RING_CHALLENGES);
        ring_map_init(&phi, f);
        CHECK(gf192_equal(ring_map_apply(&phi, a), phi_plain(f, a)));
    }
}

TEST(the_map_of_zero_challenges_is_the_identity) {
    uint64_t seed = t_seed();
    gf192 f[RING_CHALLENGES], a = rand_e(&seed);
    ring_map phi;
    memset(f, 0, sizeof f);
    ring_map_init(&phi, f);
    CHECK(gf192_equal(phi.coeff[0], GF192_ONE));
    CHECK(gf192_equal(ring_map_apply(&phi, a), a));
}

TEST(the_first_challenge_goes_with_the_highest_power) {
    uint64_t seed = t_seed();
    const gf192 a = rand_e(&seed);
    for (unsigned p = 0; p < RING_CHALLENGES; p++) {
        gf192 f[RING_CHALLENGES];
        ring_map phi;
        memset(f, 0, sizeof f);
        f[p] = rand_e(&seed);
        ring_map_init(&phi, f);
        for (unsigned k = 1; k < 64; k++)
            CHECK(gf192_equal(phi.coeff[k], k == 32u >> p ? f[p] : GF192_ZERO));
        gf192 expected = gf192_add(a, gf192_mul(f[p], gf192_frobenius(a, 32u >> p)));
        CHECK(gf192_equal(ring_map_apply(&phi, a), expected));
    }
}

TEST(the_claim_is_the_sum_of_mapped_slices) {
    uint64_t seed = t_seed();
    gf192 f[RING_CHALLENGES], s[64], sum = GF192_ZERO;
    ring_map phi;
    rand_es(&seed, f, RING_CHALLENGES);
    rand_es(&seed, s, 64);
    ring_map_init(&phi, f);
    for (unsigned z = 0; z < 64; z++)
        sum = gf192_add(sum, gf192_mul_k(phi_plain(f, s[z]), UINT64_C(1) << z));
    CHECK(gf192_equal(ring_claim(&phi, s), sum));
}

/* sum_u Phi(eq(r, u)) q(u) = sum_z x^z Phi(s_z), everything from the definitions. */
TEST(the_claim_on_words_is_the_claim_on_bits) {
    uint64_t seed = t_seed();
    for (unsigned n = 0; n <= 5; n++) {
        gf192 f[RING_CHALLENGES], r[MOST_VARS], s[64], sum = GF192_ZERO;
        uint64_t q[32];
        ring_map phi;
        rand_es(&seed, f, RING_CHALLENGES);
        rand_es(&seed, r, n);
        ring_map_init(&phi, f);
        for (size_t u = 0; u < (size_t)1 << n; u++) {
            q[u] = t_rand64(&seed);
            sum = gf192_add(sum, gf192_mul_k(phi_plain(f, eq_index(r, u, n)), q[u]));
        }
        for (unsigned z = 0; z < 64; z++)
            s[z] = slice_at(q, z, r, n);
        CHECK(gf192_equal(ring_claim(&phi, s), sum));
        s[n].c[1] ^= 1; /* and a false slice gives another claim */
        CHECK(!gf192_equal(ring_claim(&phi, s), sum));
    }
}

TEST(the_weight_table_is_the_map_of_eq_and_its_extension_is_the_closed_form) {
    static const unsigned sizes[] = {0, 1, 2, 3, 4, 7, 10, 11, 12, 13};
    uint64_t seed = t_seed();
    mem m = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const unsigned n = sizes[i];
        gf192 f[RING_CHALLENGES], r[MOST_VARS], point[MOST_VARS];
        ring_map phi;
        env e = {.mem = &m};
        evec weight = new_evec((size_t)1 << n);
        REQUIRE(weight.p != NULL);
        rand_es(&seed, f, RING_CHALLENGES);
        rand_es(&seed, r, n);
        rand_es(&seed, point, n);
        ring_map_init(&phi, f);
        CHECK_EQ_INT(ring_weights(weight, &e, &phi, r, n, NULL), 0);
        CHECK_EQ_U64(m.current, 0);
        for (size_t u = 0; u < (size_t)1 << n; u += n < 8 ? 1 : 97)
            CHECK(gf192_equal(evec_get(weight, u), phi_plain(f, eq_index(r, u, n))));
        CHECK(gf192_equal(ring_weight_at(&phi, r, point, n), mle_plain(weight, point, n)));
        mem_free(NULL, weight.p);
    }
}

TEST(the_weight_table_does_not_depend_on_threads_or_back_end) {
    const unsigned n = MOST_VARS;
    const size_t bytes = 3 * ((size_t)1 << n) * sizeof(uint64_t);
    uint64_t seed = t_seed();
    gf192 f[RING_CHALLENGES], r[MOST_VARS];
    ring_map phi;
    evec one = new_evec((size_t)1 << n), other = new_evec((size_t)1 << n);
    REQUIRE(one.p != NULL && other.p != NULL);
    rand_es(&seed, f, RING_CHALLENGES);
    rand_es(&seed, r, n);
    ring_map_init(&phi, f);
    const sheaf_isa isa = kernels_isa();
    for (unsigned threads = 1; threads <= 3; threads++) {
        env e = {.pool = pool_create(threads)};
        REQUIRE(e.pool != NULL);
        CHECK_EQ_INT(kernels_force(SHEAF_ISA_PORTABLE), 0);
        CHECK_EQ_INT(ring_weights(threads == 1 ? one : other, &e, &phi, r, n, NULL), 0);
        if (threads > 1)
            CHECK_MEM(one.p, other.p, bytes);
        CHECK_EQ_INT(kernels_force(isa), 0);
        CHECK_EQ_INT(ring_weights(other, &e, &phi, r, n, NULL), 0);
        CHECK_MEM(one.p, other.p, bytes);
        pool_destroy(e.pool);
    }
    mem_free(NULL, one.p);
    mem_free(NULL, other.p);
}

/* Blocks that have several periods of the table, and periods that have several blocks; not all of the
 * coefficients. */
TEST(the_extra_weight_is_added_where_it_belongs) {
    static const struct {
        unsigned n, vars;
        size_t coeffs;
    } shapes[] = {{3, 3, 1}, {4, 3, 1}, {7, 3, 13}, {12, 5, 128}, {12, 9, 7}, {13, 11, 3}, {10, 10, 0}};
    uint64_t seed = t_seed();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const unsigned n = shapes[i].n, vars = shapes[i].vars;
        const size_t size = (size_t)1 << n, period = (size_t)1 << vars;
        gf192 f[RING_CHALLENGES], r[MOST_VARS], coeff[128];
        ring_map phi;
        env e = {.pool = pool_create(2)};
        evec plain = new_evec(size), weight = new_evec(size), table = new_evec(period);
        REQUIRE(e.pool != NULL && plain.p != NULL && weight.p != NULL && table.p != NULL);
        rand_es(&seed, f, RING_CHALLENGES);
        rand_es(&seed, r, n);
        rand_es(&seed, coeff, shapes[i].coeffs);
        if (shapes[i].coeffs > 2)
            coeff[1] = GF192_ZERO;
        for (size_t s = 0; s < period; s++)
            evec_set(table, s, rand_e(&seed));
        const ring_extra extra = {table, vars, coeff, shapes[i].coeffs};
        ring_map_init(&phi, f);
        CHECK_EQ_INT(ring_weights(plain, &e, &phi, r, n, NULL), 0);
        CHECK_EQ_INT(ring_weights(weight, &e, &phi, r, n, &extra), 0);
        for (size_t u = 0; u < size; u++) {
            const gf192 more = u >> vars < shapes[i].coeffs
                                   ? gf192_mul(coeff[u >> vars], evec_get(table, u % period))
                                   : GF192_ZERO;
            if (!CHECK(gf192_equal(evec_get(weight, u), gf192_add(evec_get(plain, u), more))))
                break;
        }
        mem_free(NULL, plain.p);
        mem_free(NULL, weight.p);
        mem_free(NULL, table.p);
        pool_destroy(e.pool);
    }
}

static void *no_memory(void *ctx, size_t bytes) {
    size_t *left = ctx;
    return (*left)-- > 0 ? malloc(bytes) : NULL;
}

static void give_back(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

TEST(the_weight_table_fails_where_memory_does) {
    uint64_t seed = t_seed();
    gf192 f[RING_CHALLENGES], r[4];
    ring_map phi;
    evec weight = new_evec(16);
    REQUIRE(weight.p != NULL);
    rand_es(&seed, f, RING_CHALLENGES);
    rand_es(&seed, r, 4);
    ring_map_init(&phi, f);
    for (size_t allowed = 0; allowed < 2; allowed++) {
        size_t left = allowed;
        mem m = {.alloc_fn = no_memory, .free_fn = give_back, .ctx = &left};
        env e = {.mem = &m};
        CHECK_EQ_INT(ring_weights(weight, &e, &phi, r, 4, NULL), -1);
        CHECK_EQ_U64(m.current, 0);
    }
    mem_free(NULL, weight.p);
}

T_MAIN()
