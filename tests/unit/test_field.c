/* K and E against a bitwise schoolbook.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../t.h"
#include "field/gf192.h"
#include "kernels.h"

#define TRIALS 2000

/* ---- the schoolbook: one bit at a time, from the definitions alone ---- */

static uint64_t k_mul(uint64_t a, uint64_t b) {
    uint64_t s = 0;
    for (int i = 63; i >= 0; i--) {
        s = (s >> 63) ? (s << 1) ^ 0x1b : s << 1;
        if (b >> i & 1)
            s ^= a;
    }
    return s;
}

static gf192 e_mul(gf192 a, gf192 b) {
    uint64_t d[5] = {0, 0, 0, 0, 0};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned j = 0; j < 3; j++)
            d[i + j] ^= k_mul(a.c[i], b.c[j]);
    for (unsigned i = 4; i >= 3; i--) { /* y^i = y^(i-2) + y^(i-3) */
        d[i - 2] ^= d[i];
        d[i - 3] ^= d[i];
    }
    return (gf192){{d[0], d[1], d[2]}};
}

/* Random words, with the extremes among them. */
static uint64_t k_random(uint64_t *seed) {
    static const uint64_t special[8] = {
        0, 1, 2, 0x1b, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(0xf) << 60, UINT32_MAX};
    uint64_t choice = t_rand64(seed) & 31;
    return choice < 8 ? special[choice] : t_rand64(seed);
}

static gf192 e_random(uint64_t *seed) {
    gf192 a;
    for (unsigned i = 0; i < 3; i++)
        a.c[i] = k_random(seed);
    return a;
}

TEST(k_product_is_the_schoolbook_product) {
    uint64_t seed = t_seed();
    for (int i = 0; i < TRIALS; i++) {
        uint64_t a = k_random(&seed), b = k_random(&seed);
        CHECK_EQ_U64(gf64_mul(a, b), k_mul(a, b));
    }
    for (unsigned i = 0; i < 64; i++)
        for (unsigned j = 0; j < 64; j++)
            CHECK_EQ_U64(gf64_mul(UINT64_C(1) << i, UINT64_C(1) << j),
                         k_mul(UINT64_C(1) << i, UINT64_C(1) << j));
}

TEST(k_carryless_product_has_every_bit_in_place) {
    for (unsigned i = 0; i < 64; i++)
        for (unsigned j = 0; j < 64; j++) {
            uint64_t hi, lo;
            gf64_clmul(&hi, &lo, UINT64_C(1) << i, UINT64_C(1) << j);
            CHECK_EQ_U64(lo, i + j < 64 ? UINT64_C(1) << (i + j) : 0);
            CHECK_EQ_U64(hi, i + j < 64 ? 0 : UINT64_C(1) << (i + j - 64));
        }
    uint64_t hi, lo; /* (x^64-1)/(x-1) squared has the even powers up to 126 */
    gf64_clmul(&hi, &lo, UINT64_MAX, UINT64_MAX);
    CHECK_EQ_U64(lo, UINT64_C(0x5555555555555555));
    CHECK_EQ_U64(hi, UINT64_C(0x5555555555555555));
}

TEST(k_reduction_folds_every_high_bit) {
    uint64_t power = 1; /* x^i by doubling */
    for (unsigned i = 0; i < 127; i++) {
        uint64_t hi = i < 64 ? 0 : UINT64_C(1) << (i - 64), lo = i < 64 ? UINT64_C(1) << i : 0;
        CHECK_EQ_U64(gf64_reduce(hi, lo), power);
        CHECK_EQ_U64(gf64_mul_x(power), k_mul(power, 2));
        power = k_mul(power, 2);
    }
}

TEST(k_square_is_the_product_with_itself) {
    uint64_t seed = t_seed();
    for (unsigned i = 0; i < 64; i++)
        CHECK_EQ_U64(gf64_square(UINT64_C(1) << i), k_mul(UINT64_C(1) << i, UINT64_C(1) << i));
    for (int i = 0; i < TRIALS; i++) {
        uint64_t a = k_random(&seed);
        CHECK_EQ_U64(gf64_square(a), k_mul(a, a));
    }
}

TEST(k_inverse_times_element_is_one) {
    uint64_t seed = t_seed();
    CHECK_EQ_U64(gf64_inv(0), 0);
    CHECK_EQ_U64(gf64_inv(1), 1);
    for (int i = 0; i < 200; i++) {
        uint64_t a = k_random(&seed);
        CHECK_EQ_U64(k_mul(a, gf64_inv(a)), a != 0);
    }
}

TEST(k_power_multiplies_and_x_generates_the_group) {
    static const uint64_t primes[7] = {3, 5, 17, 257, 641, 65537, 6700417};
    uint64_t a = UINT64_C(0x9d3f00c1a2b37e55), power = 1, order = 1;
    for (uint64_t e = 0; e < 40; e++) {
        CHECK_EQ_U64(gf64_pow(a, e), power);
        power = k_mul(power, a);
    }
    CHECK_EQ_U64(gf64_pow(0, 0), 1);
    CHECK_EQ_U64(gf64_pow(0, 5), 0);
    CHECK_EQ_U64(gf64_pow(2, UINT64_MAX), 1);
    for (unsigned i = 0; i < 7; i++) {
        order *= primes[i];
        CHECK(gf64_pow(2, UINT64_MAX / primes[i]) != 1);
    }
    CHECK_EQ_U64(order, UINT64_MAX); /* so these are all the primes of 2^64 - 1 */
}

static int equal(gf192 a, gf192 b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

TEST(e_product_is_the_schoolbook_product) {
    uint64_t seed = t_seed();
    for (int i = 0; i < TRIALS; i++) {
        gf192 a = e_random(&seed), b = e_random(&seed), want = e_mul(a, b);
        CHECK(equal(gf192_mul_ref(a, b), want));
        CHECK(equal(gf192_mul(a, b), want));
        CHECK(equal(gf192_mul_k(a, b.c[0]), e_mul(a, gf192_from_k(b.c[0]))));
    }
}

TEST(e_product_on_every_back_end_is_the_schoolbook_product) {
    uint64_t seed = t_seed();
    for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
        const sheaf_kernels *k = kernels_for((sheaf_isa)isa);
        if (k == NULL)
            continue;
        for (int i = 0; i < TRIALS; i++) {
            gf192 a = e_random(&seed), b = e_random(&seed), want = e_mul(a, b), d;
            k->gf192_mul(&d, &a, &b);
            CHECK(equal(d, want));
            d = a;
            k->gf192_mul(&d, &d, &b);
            CHECK(equal(d, want));
            k->gf192_mul(&b, &a, &b);
            CHECK(equal(b, want));
        }
    }
}

TEST(e_is_a_field) {
    uint64_t seed = t_seed();
    for (int i = 0; i < 300; i++) {
        gf192 a = e_random(&seed), b = e_random(&seed), c = e_random(&seed);
        CHECK(equal(gf192_mul(a, b), gf192_mul(b, a)));
        CHECK(equal(gf192_mul(a, gf192_mul(b, c)), gf192_mul(gf192_mul(a, b), c)));
        CHECK(equal(gf192_mul(a, gf192_add(b, c)), gf192_add(gf192_mul(a, b), gf192_mul(a, c))));
        CHECK(equal(gf192_mul(a, GF192_ONE), a));
        CHECK(equal(e_mul(a, gf192_inv(a)), gf192_is_zero(a) ? GF192_ZERO : GF192_ONE));
    }
    CHECK(equal(gf192_inv(GF192_ZERO), GF192_ZERO));
}

TEST(e_square_and_power_multiply) {
    uint64_t seed = t_seed();
    for (int i = 0; i < 300; i++) {
        gf192 a = e_random(&seed);
        CHECK(equal(gf192_square(a), e_mul(a, a)));
    }
    gf192 a = e_random(&seed), power = GF192_ONE;
    for (uint64_t e = 0; e < 40; e++) {
        CHECK(equal(gf192_pow(a, e), power));
        power = e_mul(power, a);
    }
}

TEST(e_frobenius_is_repeated_squaring_and_has_period_192) {
    uint64_t seed = t_seed();
    for (int i = 0; i < 4; i++) {
        gf192 a = e_random(&seed), s = a;
        for (unsigned k = 0; k <= 192; k++) {
            CHECK(equal(gf192_frobenius(a, k), s));
            s = e_mul(s, s);
        }
        CHECK(equal(gf192_frobenius(a, 192), a));
        gf192 b = e_random(&seed);
        CHECK(equal(gf192_frobenius(gf192_mul(a, b), 77),
                    gf192_mul(gf192_frobenius(a, 77), gf192_frobenius(b, 77))));
        CHECK(equal(gf192_frobenius(gf192_add(a, b), 77),
                    gf192_add(gf192_frobenius(a, 77), gf192_frobenius(b, 77))));
    }
    gf192 k = gf192_from_k(t_rand64(&seed));
    CHECK(equal(gf192_frobenius(k, 64), k)); /* K is the fixed field of the 2^64-th power */
}

T_MAIN()
