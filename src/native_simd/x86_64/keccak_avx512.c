/* Eight Keccak-f[1600] states by AVX-512.   docs/protocol.md 2.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The 25 lanes stay in registers through all rounds. Theta needs the five column sums and one rotated sum
 * beside them, 31 registers; a row of chi frees its five sources as it goes. */
#include "keccak_x86.h"

#include "../../common/hash/keccak.h"
#include "intrinsics.h"

#define XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define CHI(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0xd2) /* a + (1 + b) c */
#define ROTL(a, n) _mm512_rol_epi64(a, n)

#define COLUMN(x) XOR3(XOR3(a[x], a[(x) + 5], a[(x) + 10]), a[(x) + 15], a[(x) + 20])
#define THETA(x)                                                                                             \
    do {                                                                                                     \
        __m512i before = c[((x) + 4) % 5], after = ROTL(c[((x) + 1) % 5], 1);                                \
        a[(x) + 0] = XOR3(a[(x) + 0], before, after);                                                        \
        a[(x) + 5] = XOR3(a[(x) + 5], before, after);                                                        \
        a[(x) + 10] = XOR3(a[(x) + 10], before, after);                                                      \
        a[(x) + 15] = XOR3(a[(x) + 15], before, after);                                                      \
        a[(x) + 20] = XOR3(a[(x) + 20], before, after);                                                      \
    } while (0)
#define ROW(y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                                       \
    do {                                                                                                     \
        __m512i b0 = ROTL(a[l0], r0), b1 = ROTL(a[l1], r1), b2 = ROTL(a[l2], r2);                            \
        __m512i b3 = ROTL(a[l3], r3), b4 = ROTL(a[l4], r4);                                                  \
        e[5 * (y) + 0] = CHI(b0, b1, b2);                                                                    \
        e[5 * (y) + 1] = CHI(b1, b2, b3);                                                                    \
        e[5 * (y) + 2] = CHI(b2, b3, b4);                                                                    \
        e[5 * (y) + 3] = CHI(b3, b4, b0);                                                                    \
        e[5 * (y) + 4] = CHI(b4, b0, b1);                                                                    \
    } while (0);

/* a is used up. */
static inline __attribute__((always_inline)) void round_x8(__m512i e[25], __m512i a[25], uint64_t rc) {
    const __m512i c[5] = {COLUMN(0), COLUMN(1), COLUMN(2), COLUMN(3), COLUMN(4)};
    THETA(0);
    THETA(1);
    THETA(2);
    THETA(3);
    THETA(4);
    KECCAK_EACH_ROW(ROW)
    e[0] = _mm512_xor_si512(e[0], _mm512_set1_epi64((long long)rc));
}

static inline __attribute__((always_inline)) void load_state(__m512i a[25], const uint64_t *s) {
#pragma GCC unroll 25
    for (unsigned l = 0; l < 25; l++)
        a[l] = _mm512_load_si512((const void *)(s + 8 * l));
}

void keccak_f1600_x8_avx512(uint64_t s[200]) {
    __m512i a[25], e[25];
    load_state(a, s);
    for (unsigned r = 0; r < KECCAK_ROUNDS; r += 2) {
        round_x8(e, a, keccak_rc[r]);
        round_x8(a, e, keccak_rc[r + 1]);
    }
#pragma GCC unroll 25
    for (unsigned l = 0; l < 25; l++)
        _mm512_store_si512((void *)(s + 8 * l), a[l]);
}

/* The compiler leaves out of the last round what no lane from 0 to 3 needs. */
void keccak_digest_x8_avx512(uint64_t s[200]) {
    __m512i a[25], e[25];
    load_state(a, s);
    for (unsigned r = 0; r < KECCAK_ROUNDS - 2; r += 2) {
        round_x8(e, a, keccak_rc[r]);
        round_x8(a, e, keccak_rc[r + 1]);
    }
    round_x8(e, a, keccak_rc[KECCAK_ROUNDS - 2]);
    round_x8(a, e, keccak_rc[KECCAK_ROUNDS - 1]);
#pragma GCC unroll 4
    for (unsigned l = 0; l < 4; l++)
        _mm512_store_si512((void *)(s + 8 * l), a[l]);
}
