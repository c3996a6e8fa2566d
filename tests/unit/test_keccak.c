/* Keccak-f[1600]: the tables, the round's halves, and every back end against the one-state permutation.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../t.h"

#include "common/hash/keccak.h"
#include "common/kernels.h"
#ifdef SHEAF_HAVE_NEON
#include "native_simd/aarch64/cpu.h"
#include "native_simd/aarch64/neon.h"
#endif

/* The permutation from [FIPS202]'s definitions, bit by bit where they are: no table of ours. */
static unsigned lfsr_bit(unsigned t) {
    unsigned r = 1;
    for (t %= 255; t > 0; t--)
        r = (r << 1) ^ ((r >> 7) * 0x171u);
    return r & 1;
}

TEST(round_constants_come_from_the_linear_feedback_register) {
    for (unsigned r = 0; r < KECCAK_ROUNDS; r++) {
        uint64_t rc = 0;
        for (unsigned j = 0; j <= 6; j++)
            rc |= (uint64_t)lfsr_bit(j + 7 * r) << ((1u << j) - 1);
        CHECK_EQ_U64(keccak_rc[r], rc);
    }
}

TEST(rotations_come_from_the_walk_of_rho) {
    uint8_t rho[KECCAK_LANES] = {0};
    unsigned x = 1, y = 0;
    for (unsigned t = 0; t < 24; t++) {
        rho[x + 5 * y] = (uint8_t)((t + 1) * (t + 2) / 2 % 64);
        unsigned next = (2 * x + 3 * y) % 5;
        x = y;
        y = next;
    }
    CHECK_MEM(keccak_rho, rho, sizeof rho);
}

TEST(pi_sends_x_y_to_y_2x_plus_3y) {
    for (unsigned l = 0; l < KECCAK_LANES; l++) {
        unsigned x = l % 5, y = l / 5;
        CHECK_EQ_U64(keccak_pi[l], y + 5 * ((2 * x + 3 * y) % 5));
    }
}

TEST(unrolled_rows_agree_with_the_tables) {
#define LANE_OF_ROW(d, l, r)                                                                                 \
    CHECK_EQ_U64(keccak_pi[l], d);                                                                           \
    CHECK_EQ_U64(keccak_rho[l], r);
#define CHECK_ROW(y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                                 \
    LANE_OF_ROW(5 * y + 0, l0, r0)                                                                           \
    LANE_OF_ROW(5 * y + 1, l1, r1)                                                                           \
    LANE_OF_ROW(5 * y + 2, l2, r2)                                                                           \
    LANE_OF_ROW(5 * y + 3, l3, r3)                                                                           \
    LANE_OF_ROW(5 * y + 4, l4, r4)
    KECCAK_EACH_ROW(CHECK_ROW)
}

TEST(permutation_of_the_zero_state_is_the_known_one) {
    static const uint64_t first[5] = {UINT64_C(0xf1258f7940e1dde7), UINT64_C(0x84d5ccf933c0478a),
                                      UINT64_C(0xd598261ea65aa9ee), UINT64_C(0xbd1547306f80494d),
                                      UINT64_C(0x8b284e056253d057)};
    uint64_t s[25] = {0};
    keccak_f1600_ref(s);
    CHECK_MEM(s, first, sizeof first);
}

static void random_words(uint64_t *seed, uint64_t *w, size_t n) {
    for (size_t i = 0; i < n; i++)
        w[i] = t_rand64(seed);
}

TEST(a_round_is_its_linear_half_then_chi) {
    uint64_t seed = t_seed(), s[25], e[25], a[25];
    for (unsigned r = 0; r < KECCAK_ROUNDS; r++) {
        random_words(&seed, s, 25);
        keccak_round_linear_ref(e, s);
        keccak_round_chi_ref(a, e, r);
        keccak_round_ref(s, r);
        CHECK_MEM(a, s, sizeof s);
    }
}

TEST(the_linear_half_is_linear) {
    uint64_t seed = t_seed(), a[25], b[25], c[25], ea[25], eb[25], ec[25];
    random_words(&seed, a, 25);
    random_words(&seed, b, 25);
    for (size_t l = 0; l < 25; l++)
        c[l] = a[l] ^ b[l];
    keccak_round_linear_ref(ea, a);
    keccak_round_linear_ref(eb, b);
    keccak_round_linear_ref(ec, c);
    for (size_t l = 0; l < 25; l++)
        CHECK_EQ_U64(ec[l], ea[l] ^ eb[l]);
}

/* docs/protocol.md 2: A'(x) = E(x) + E(x+2) + E(x+1) E(x+2). */
TEST(chi_is_the_polynomial_of_the_specification) {
    uint64_t seed = t_seed(), e[25], a[25];
    random_words(&seed, e, 25);
    keccak_round_chi_ref(a, e, 3);
    a[0] ^= keccak_rc[3];
    for (size_t y = 0; y < 25; y += 5)
        for (size_t x = 0; x < 5; x++)
            CHECK_EQ_U64(a[y + x], e[y + x] ^ e[y + (x + 2) % 5] ^ (e[y + (x + 1) % 5] & e[y + (x + 2) % 5]));
}

TEST(the_permutation_is_its_24_rounds) {
    uint64_t seed = t_seed(), s[25], rounds[25];
    random_words(&seed, s, 25);
    memcpy(rounds, s, sizeof s);
    keccak_f1600_ref(s);
    for (unsigned r = 0; r < KECCAK_ROUNDS; r++)
        keccak_round_ref(rounds, r);
    CHECK_MEM(s, rounds, sizeof s);
}

/* All eight states different, and each checked against the one-state permutation. */
static void check_x8(void (*f)(uint64_t s[200]), uint64_t seed) {
    _Alignas(64) uint64_t s[200];
    uint64_t one[8][25];
    random_words(&seed, s, 200);
    for (size_t i = 0; i < 8; i++)
        for (size_t l = 0; l < 25; l++)
            one[i][l] = s[8 * l + i];
    for (unsigned times = 0; times < 3; times++) {
        f(s);
        for (size_t i = 0; i < 8; i++) {
            keccak_f1600_ref(one[i]);
            for (size_t l = 0; l < 25; l++)
                CHECK_EQ_U64(s[8 * l + i], one[i][l]);
        }
    }
}

TEST(eight_portable_states_are_eight_permutations) {
    check_x8(keccak_f1600_x8_ref, t_seed());
}

static void check_isa(const sheaf_kernels *k) {
    uint64_t seed = t_seed(), s[25], ref[25];
    check_x8(k->keccak_f1600_x8, seed);
    random_words(&seed, s, 25);
    memcpy(ref, s, sizeof s);
    k->keccak_f1600(s);
    keccak_f1600_ref(ref);
    CHECK_MEM(s, ref, sizeof s);
}

TEST(the_avx2_back_end_agrees) {
    if (kernels_for(SHEAF_ISA_AVX2) == NULL)
        SKIP("no AVX2 here");
    check_isa(kernels_for(SHEAF_ISA_AVX2));
}

TEST(the_avx512_back_end_agrees) {
    if (kernels_for(SHEAF_ISA_AVX512) == NULL)
        SKIP("no AVX-512 here");
    check_isa(kernels_for(SHEAF_ISA_AVX512));
}

#ifdef SHEAF_HAVE_NEON
TEST(the_neon_back_end_agrees) {
    REQUIRE(kernels_for(SHEAF_ISA_NEON) != NULL);
    check_isa(kernels_for(SHEAF_ISA_NEON));
}

TEST(eight_states_by_plain_neon_are_eight_permutations) {
    check_x8(keccak_f1600_x8_neon, t_seed());
}

/* Not every machine's back end has it in its table. */
TEST(one_state_by_the_sha3_extension_is_the_permutation) {
    if (!arm_probe().sha3)
        SKIP("no SHA3 extension here");
    uint64_t seed = t_seed(), s[25], ref[25];
    random_words(&seed, s, 25);
    for (int times = 0; times < 5; times++) {
        memcpy(ref, s, sizeof s);
        keccak_f1600_sha3(s);
        keccak_f1600_ref(ref);
        CHECK_MEM(s, ref, sizeof s);
    }
}
#endif

T_MAIN()
