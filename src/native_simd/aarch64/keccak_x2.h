/* Two Keccak-f[1600] states in the halves of 25 registers.   docs/protocol.md 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by one file a set of instructions, after it has defined
 *   XOR5(a, b, c, d, e)    the sum of five
 *   RAX(a, b)              a + b rotated left by 1
 *   XROT(a, b, n)          a + b, rotated left by the constant n
 *   CHI(a, b, c)           a + (not b) c
 * The lanes stay in registers over all rounds: with theta's five words they take 30 of the 32. Hence rho and
 * pi go along the one cycle that pi has but for lane 0, each lane to the place of the one moved before it,
 * and chi goes in place. */
#ifndef SHEAF_KECCAK_X2_H
#define SHEAF_KECCAK_X2_H

#include <arm_neon.h>

#include "../../common/hash/keccak.h"

/* Lane `to` is lane `from` rotated: keccak_rho and keccak_pi, backwards along the cycle, lane 1 first. */
#define KECCAK_CYCLE(MOVE)                                                                                   \
    MOVE(1, 6, 44)                                                                                           \
    MOVE(6, 9, 20)                                                                                           \
    MOVE(9, 22, 61)                                                                                          \
    MOVE(22, 14, 39)                                                                                         \
    MOVE(14, 20, 18)                                                                                         \
    MOVE(20, 2, 62)                                                                                          \
    MOVE(2, 12, 43)                                                                                          \
    MOVE(12, 13, 25)                                                                                         \
    MOVE(13, 19, 8)                                                                                          \
    MOVE(19, 23, 56)                                                                                         \
    MOVE(23, 15, 41)                                                                                         \
    MOVE(15, 4, 27)                                                                                          \
    MOVE(4, 24, 14)                                                                                          \
    MOVE(24, 21, 2)                                                                                          \
    MOVE(21, 8, 55)                                                                                          \
    MOVE(8, 16, 45)                                                                                          \
    MOVE(16, 5, 36)                                                                                          \
    MOVE(5, 3, 28)                                                                                           \
    MOVE(3, 18, 21)                                                                                          \
    MOVE(18, 17, 15)                                                                                         \
    MOVE(17, 11, 10)                                                                                         \
    MOVE(11, 7, 6)                                                                                           \
    MOVE(7, 10, 3)

#define MOVE(to, from, n) a[to] = XROT(a[from], d[(from) % 5], n);
#define COLUMN(x) XOR5(a[x], a[(x) + 5], a[(x) + 10], a[(x) + 15], a[(x) + 20])
#define ROW(y)                                                                                               \
    do {                                                                                                     \
        const uint64x2_t b0 = a[y], b1 = a[(y) + 1];                                                         \
        a[y] = CHI(b0, b1, a[(y) + 2]);                                                                      \
        a[(y) + 1] = CHI(b1, a[(y) + 2], a[(y) + 3]);                                                        \
        a[(y) + 2] = CHI(a[(y) + 2], a[(y) + 3], a[(y) + 4]);                                                \
        a[(y) + 3] = CHI(a[(y) + 3], a[(y) + 4], b0);                                                        \
        a[(y) + 4] = CHI(a[(y) + 4], b0, b1);                                                                \
    } while (0)

/* All indices are constants once this is inlined. */
static inline __attribute__((always_inline)) void round_x2(uint64x2_t a[25], uint64_t rc) {
    const uint64x2_t c[5] = {COLUMN(0), COLUMN(1), COLUMN(2), COLUMN(3), COLUMN(4)};
    const uint64x2_t d[5] = {RAX(c[4], c[1]), RAX(c[0], c[2]), RAX(c[1], c[3]), RAX(c[2], c[4]),
                             RAX(c[3], c[0])};
    const uint64x2_t last = XROT(a[1], d[1], 1);
    a[0] = veorq_u64(a[0], d[0]);
    KECCAK_CYCLE(MOVE)
    a[10] = last;
    ROW(0);
    ROW(5);
    ROW(10);
    ROW(15);
    ROW(20);
    a[0] = veorq_u64(a[0], vdupq_n_u64(rc));
}

/* No loops over lanes: a lane under a variable index would keep all of them in memory. */
#define FIVE(F, l) F(l) F((l) + 1) F((l) + 2) F((l) + 3) F((l) + 4)
#define EACH_LANE(F) FIVE(F, 0) FIVE(F, 5) FIVE(F, 10) FIVE(F, 15) FIVE(F, 20)
#define LOAD(l) a[l] = vld1q_u64(s + 8 * (l));
#define STORE(l) vst1q_u64(s + 8 * (l), a[l]);

/* Two neighbours of eight states: lane l at s[8 * l] and s[8 * l + 1]. */
static inline __attribute__((always_inline)) void permute_x2(uint64_t *s) {
    uint64x2_t a[25];
    EACH_LANE(LOAD)
    for (unsigned r = 0; r < KECCAK_ROUNDS; r++)
        round_x2(a, keccak_rc[r]);
    EACH_LANE(STORE)
}

#undef MOVE
#undef COLUMN
#undef ROW

#endif
