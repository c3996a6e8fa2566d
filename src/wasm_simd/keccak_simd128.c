/* Keccak-f[1600] on pairs of states.   docs/protocol.md 2.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "hash/keccak.h"
#include "kernels_simd128.h"

/* Whole bytes move by one shuffle, other amounts take two shifts. */
#define ROTATE(a, n)                                                                                         \
    ((n) == 8    ? wasm_i8x16_shuffle(a, a, 7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14)            \
     : (n) == 56 ? wasm_i8x16_shuffle(a, a, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8)            \
                 : wasm_v128_or(wasm_i64x2_shl(a, n), wasm_u64x2_shr(a, (64 - (n)) & 63)))

#define LANE(l, r) ROTATE(XOR(a[l], d[(l) % 5]), r)
#define CHI(b0, b1, b2) XOR(b0, wasm_v128_andnot(b2, b1))
#define ROW(y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                                       \
    do {                                                                                                     \
        v128 b0 = LANE(l0, r0), b1 = LANE(l1, r1), b2 = LANE(l2, r2), b3 = LANE(l3, r3);                     \
        v128 b4 = LANE(l4, r4);                                                                              \
        e[5 * (y) + 0] = CHI(b0, b1, b2);                                                                    \
        e[5 * (y) + 1] = CHI(b1, b2, b3);                                                                    \
        e[5 * (y) + 2] = CHI(b2, b3, b4);                                                                    \
        e[5 * (y) + 3] = CHI(b3, b4, b0);                                                                    \
        e[5 * (y) + 4] = CHI(b4, b0, b1);                                                                    \
    } while (0);

static inline v128 column(const v128 a[25], size_t x) {
    return XOR(XOR(XOR(a[x], a[x + 5]), XOR(a[x + 10], a[x + 15])), a[x + 20]);
}

static inline void round_of_pair(v128 e[25], const v128 a[25], uint64_t rc) {
    const v128 c0 = column(a, 0), c1 = column(a, 1), c2 = column(a, 2), c3 = column(a, 3), c4 = column(a, 4);
    const v128 d[5] = {XOR(c4, ROTATE(c1, 1)), XOR(c0, ROTATE(c2, 1)), XOR(c1, ROTATE(c3, 1)),
                       XOR(c2, ROTATE(c4, 1)), XOR(c3, ROTATE(c0, 1))};
    KECCAK_EACH_ROW(ROW)
    e[0] = XOR(e[0], wasm_u64x2_splat(rc));
}

/* Lane l of the pair is at s + 8 l. */
static void permute_pair(uint64_t *s) {
    v128 a[25], e[25];
    for (size_t l = 0; l < 25; l++)
        a[l] = load(s + 8 * l);
    for (unsigned r = 0; r < KECCAK_ROUNDS; r += 2) {
        round_of_pair(e, a, keccak_rc[r]);
        round_of_pair(a, e, keccak_rc[r + 1]);
    }
    for (size_t l = 0; l < 25; l++)
        store(s + 8 * l, a[l]);
}

void keccak_f1600_x8_simd128(uint64_t s[200]) {
    for (size_t i = 0; i < 8; i += 2)
        permute_pair(s + i);
}
