/* Keccak-f[1600] [FIPS202]: the portable permutation, one round in its two halves, and the tables that the
 * layer prover and verifier share.   docs/protocol.md 2.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Lane l = x + 5y. A round is e = linear(a) = pi rho theta a, then a' = chi(e), plus the round constant in
 * lane 0. */
#ifndef SHEAF_KECCAK_H
#define SHEAF_KECCAK_H

#include <stdint.h>

#define KECCAK_LANES 25
#define KECCAK_ROUNDS 24

extern const uint64_t keccak_rc[KECCAK_ROUNDS];
extern const uint8_t keccak_rho[KECCAK_LANES]; /* lane l is rotated left by keccak_rho[l] */
extern const uint8_t keccak_pi[KECCAK_LANES];  /* and becomes lane keccak_pi[l] */

/* The linear half by rows of its output, for code unrolled over lanes: ROW(y, l0,r0, ..., l4,r4) where lane
 * lx, rotated left by rx, becomes lane x + 5y. */
#define KECCAK_EACH_ROW(ROW)                                                                                 \
    ROW(0, 0, 0, 6, 44, 12, 43, 18, 21, 24, 14)                                                              \
    ROW(1, 3, 28, 9, 20, 10, 3, 16, 45, 22, 61)                                                              \
    ROW(2, 1, 1, 7, 6, 13, 25, 19, 8, 20, 18)                                                                \
    ROW(3, 4, 27, 5, 36, 11, 10, 17, 15, 23, 56)                                                             \
    ROW(4, 2, 62, 8, 55, 14, 39, 15, 41, 21, 2)

/* A row's lanes one by one: LANE(to, l, r), which the including file defines. */
#define KECCAK_ROW_OF_LANES(y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                       \
    LANE(5 * (y), l0, r0);                                                                                   \
    LANE(5 * (y) + 1, l1, r1);                                                                               \
    LANE(5 * (y) + 2, l2, r2);                                                                               \
    LANE(5 * (y) + 3, l3, r3);                                                                               \
    LANE(5 * (y) + 4, l4, r4);

/* One round's halves. e and a are disjoint. r < KECCAK_ROUNDS. */
void keccak_round_linear_ref(uint64_t e[KECCAK_LANES], const uint64_t a[KECCAK_LANES]);
void keccak_round_chi_ref(uint64_t a[KECCAK_LANES], const uint64_t e[KECCAK_LANES], unsigned r);
/* One whole round in place. */
void keccak_round_ref(uint64_t s[KECCAK_LANES], unsigned r);

/* The portable kernels; kernels.h says what they do. */
void keccak_f1600_ref(uint64_t s[25]);
void keccak_f1600_x8_ref(uint64_t s[200]);

#endif
