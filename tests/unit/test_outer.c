/* Columns at a point, against sums over every slot.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "t.h"
#include "circuit/outer.h"
#include "kernels.h"
#include "poly/poly.h"

enum { MOST_M = 13 };

static uint64_t column[1 << MOST_M];
static gf192 eq[1 << MOST_M];

/* docs/protocol.md 8: slots past the last signer repeat it. */
static void plain(gf192 *word, gf192 bits[64], unsigned m, uint64_t signers) {
    *word = GF192_ZERO;
    for (unsigned z = 0; z < 64; z++)
        bits[z] = GF192_ZERO;
    for (uint64_t s = 0; s < UINT64_C(1) << m; s++) {
        const uint64_t w = column[s < signers ? s : signers - 1];
        *word = gf192_add(*word, gf192_mul_ref(eq[s], gf192_from_k(w)));
        for (unsigned z = 0; z < 64; z++)
            if (w >> z & 1)
                bits[z] = gf192_add(bits[z], eq[s]);
    }
}

static void check_columns(unsigned m, uint64_t signers, uint64_t *seed) {
    gf192 point[MOST_M], word, bits[64], got[64];
    for (unsigned i = 0; i < m; i++)
        point[i] = (gf192){{t_rand64(seed), t_rand64(seed), t_rand64(seed)}};
    for (uint64_t s = 0; s < signers; s++)
        column[s] = t_rand64(seed) >> (s % 3 == 0 ? 40 : 0);
    eq_table(eq, point, m);
    plain(&word, bits, m, signers);
    for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
        slot_table t;
        if (kernels_force((sheaf_isa)isa) != 0)
            continue;
        REQUIRE(slot_table_init(&t, point, m, signers) == 0);
        CHECK(gf192_equal(column_word_at(&t, column), word));
        column_bits_at(got, &t, column);
        CHECK_MEM(got, bits, sizeof bits);
        slot_table_free(&t);
        CHECK(t.low_eq == NULL);
    }
}

TEST(columns_at_a_point_are_sums_over_all_slots) {
    uint64_t seed = t_seed();
    const sheaf_isa before = kernels_isa();
    for (unsigned m = 3; m <= 5; m++)
        for (uint64_t signers = 1; signers <= UINT64_C(1) << m; signers++)
            check_columns(m, signers, &seed);
    static const struct {
        unsigned m;
        uint64_t signers;
    } large[] = {{10, 1024}, {10, 1000}, {10, 1},    {11, 1024}, {11, 1025},
                 {11, 1033}, {11, 2047}, {13, 8192}, {13, 5000}};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        check_columns(large[i].m, large[i].signers, &seed);
    CHECK_EQ_INT(kernels_force(before), 0);
}

T_MAIN()
