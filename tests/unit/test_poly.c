/* eq tables and polynomials against their definitions.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../t.h"
#include "poly/poly.h"

static gf192 e_random(uint64_t *seed) {
    gf192 a;
    for (unsigned i = 0; i < 3; i++)
        a.c[i] = t_rand64(seed);
    return a;
}

/* prod over n of r_n where bit n of i is set, 1 + r_n where it is not */
static gf192 eq_by_definition(const gf192 *r, size_t i, unsigned n) {
    gf192 e = GF192_ONE;
    for (unsigned v = 0; v < n; v++)
        e = gf192_mul(e, (i >> v & 1) ? r[v] : gf192_add(GF192_ONE, r[v]));
    return e;
}

static int equal(gf192 a, gf192 b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

TEST(eq_table_has_the_low_variable_first) {
    uint64_t seed = t_seed();
    gf192 r[8], b[8], table[256];
    for (unsigned v = 0; v < 8; v++)
        r[v] = e_random(&seed);
    for (unsigned n = 0; n <= 8; n++) {
        eq_table(table, r, n);
        for (size_t i = 0; i < (size_t)1 << n; i++) {
            CHECK(equal(table[i], eq_by_definition(r, i, n)));
            for (unsigned v = 0; v < n; v++)
                b[v] = gf192_from_k(i >> v & 1);
            CHECK(equal(table[i], eq_at(r, b, n)));
        }
    }
}

TEST(eq_at_is_symmetric_and_multilinear) {
    uint64_t seed = t_seed();
    gf192 r[5], b[5], table[32], sum = GF192_ZERO, at = e_random(&seed);
    for (unsigned v = 0; v < 5; v++) {
        r[v] = e_random(&seed);
        b[v] = e_random(&seed);
    }
    CHECK(equal(eq_at(r, b, 5), eq_at(b, r, 5)));
    CHECK(equal(eq_at(r, b, 0), GF192_ONE));
    /* the extension of i -> eq(r, i) at b */
    eq_table(table, r, 5);
    for (size_t i = 0; i < 32; i++)
        sum = gf192_add(sum, gf192_mul(table[i], eq_by_definition(b, i, 5)));
    CHECK(equal(sum, eq_at(r, b, 5)));
    /* affine in each variable */
    b[2] = GF192_ZERO;
    gf192 e0 = eq_at(r, b, 5);
    b[2] = GF192_ONE;
    gf192 e1 = eq_at(r, b, 5);
    b[2] = at;
    CHECK(equal(eq_at(r, b, 5), gf192_add(e0, gf192_mul(at, gf192_add(e0, e1)))));
}

TEST(eq_table_in_planes_is_the_plain_one_scaled) {
    static _Alignas(64) uint64_t planes[3 * 4104];
    static gf192 table[4096];
    uint64_t seed = t_seed();
    gf192 r[12], scale = e_random(&seed);
    for (unsigned v = 0; v < 12; v++)
        r[v] = e_random(&seed);
    for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
        sheaf_isa before = kernels_isa();
        if (kernels_force((sheaf_isa)isa) != 0)
            continue;
        for (unsigned n = 0; n <= 12; n++) {
            size_t entries = (size_t)1 << n, stride = (entries < 8 ? 8 : entries) + 8;
            for (size_t i = 0; i < sizeof planes / sizeof planes[0]; i++)
                planes[i] = t_rand64(&seed);
            uint64_t after = planes[entries];
            eq_table_evec((evec){planes, stride}, r, n, scale);
            eq_table(table, r, n);
            for (size_t i = 0; i < entries; i++)
                if (!CHECK(equal(evec_get((evec){planes, stride}, i), gf192_mul(scale, table[i]))))
                    break;
            CHECK_EQ_U64(planes[entries], after);
        }
        CHECK_EQ_INT(kernels_force(before), 0);
    }
}

TEST(poly_eval_sums_the_powers) {
    uint64_t seed = t_seed();
    gf192 c[9], r = e_random(&seed);
    for (unsigned i = 0; i < 9; i++)
        c[i] = e_random(&seed);
    for (unsigned degree = 0; degree < 9; degree++) {
        gf192 sum = GF192_ZERO;
        for (unsigned i = 0; i <= degree; i++)
            sum = gf192_add(sum, gf192_mul(c[i], gf192_pow(r, i)));
        CHECK(equal(poly_eval(c, degree, r), sum));
        CHECK(equal(poly_eval(c, degree, GF192_ZERO), c[0]));
    }
}

TEST(index_word_is_the_extension_of_the_index) {
    uint64_t seed = t_seed();
    gf192 p[10], table[1024], sum = GF192_ZERO;
    for (unsigned n = 0; n < 10; n++)
        p[n] = gf192_from_k(0x2a5u >> n & 1);
    CHECK(equal(index_word_at(p, 10), gf192_from_k(0x2a5)));
    CHECK(equal(index_word_at(p, 0), GF192_ZERO));
    for (unsigned n = 0; n < 10; n++)
        p[n] = e_random(&seed);
    eq_table(table, p, 10);
    for (size_t i = 0; i < 1024; i++)
        sum = gf192_add(sum, gf192_mul_k(table[i], i));
    CHECK(equal(index_word_at(p, 10), sum));
}

T_MAIN()
