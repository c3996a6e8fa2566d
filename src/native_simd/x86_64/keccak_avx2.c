/* Eight Keccak-f[1600] states by AVX2, in two passes of four.   docs/protocol.md 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * 25 lanes do not fit 16 registers, so a round streams from one copy of the state to another: one copy is `s`
 * itself, the other is on the stack. A row needs its five lanes, theta's five words and the five column sums
 * that it adds up for the next round, which leaves one register for the rest. */
#include "keccak_x86.h"

#include "../../common/hash/keccak.h"
#include "intrinsics.h"

#define XOR _mm256_xor_si256
#define CHI(a, b, c) XOR(a, _mm256_andnot_si256(b, c))

/* n is a constant once this is inlined. Rotations by whole bytes are one instruction. */
static inline __attribute__((always_inline)) __m256i rotl(__m256i a, int n) {
    if (n == 0)
        return a;
    if (n == 8)
        return _mm256_shuffle_epi8(a, _mm256_set_epi64x(0x0e0d0c0b0a09080f, 0x0605040302010007,
                                                        0x0e0d0c0b0a09080f, 0x0605040302010007));
    if (n == 56)
        return _mm256_shuffle_epi8(a, _mm256_set_epi64x(0x080f0e0d0c0b0a09, 0x0007060504030201,
                                                        0x080f0e0d0c0b0a09, 0x0007060504030201));
    return _mm256_or_si256(_mm256_slli_epi64(a, n), _mm256_srli_epi64(a, 64 - n));
}

static inline __attribute__((always_inline)) __m256i load(const uint64_t *p) {
    return _mm256_load_si256((const __m256i *)p);
}

static inline __attribute__((always_inline)) void store(uint64_t *p, __m256i v) {
    _mm256_store_si256((__m256i *)p, v);
}

#define LANE(l, r) rotl(XOR(load(a + a_step * (l)), d[(l) % 5]), r)
#define PUT(y, x, v)                                                                                         \
    do {                                                                                                     \
        __m256i put = v;                                                                                     \
        if ((y) == 0 && (x) == 0)                                                                            \
            put = XOR(put, _mm256_set1_epi64x((long long)rc));                                               \
        store(e + e_step * (5 * (y) + (x)), put);                                                            \
        c[x] = (y) == 0 ? put : XOR(c[x], put);                                                              \
    } while (0)
#define ROW(y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                                       \
    do {                                                                                                     \
        __m256i b0 = LANE(l0, r0), b1 = LANE(l1, r1), b2 = LANE(l2, r2);                                     \
        __m256i b3 = LANE(l3, r3), b4 = LANE(l4, r4);                                                        \
        PUT(y, 0, CHI(b0, b1, b2));                                                                          \
        PUT(y, 1, CHI(b1, b2, b3));                                                                          \
        PUT(y, 2, CHI(b2, b3, b4));                                                                          \
        PUT(y, 3, CHI(b3, b4, b0));                                                                          \
        PUT(y, 4, CHI(b4, b0, b1));                                                                          \
    } while (0);

/* c: the column sums of a on entry, of e on return. Lane l is at a + a_step * l and e + e_step * l. */
static inline __attribute__((always_inline)) void round_x4(uint64_t *restrict e, size_t e_step, __m256i c[5],
                                                           const uint64_t *restrict a, size_t a_step,
                                                           uint64_t rc) {
    const __m256i d[5] = {XOR(c[4], rotl(c[1], 1)), XOR(c[0], rotl(c[2], 1)), XOR(c[1], rotl(c[3], 1)),
                          XOR(c[2], rotl(c[4], 1)), XOR(c[3], rotl(c[0], 1))};
    KECCAK_EACH_ROW(ROW)
}

static inline __attribute__((always_inline)) void permute_x4(uint64_t *restrict s, uint64_t *restrict e) {
    __m256i c[5];
    for (size_t x = 0; x < 5; x++) {
        c[x] = XOR(XOR(load(s + 8 * x), load(s + 8 * (x + 5))), load(s + 8 * (x + 10)));
        c[x] = XOR(XOR(c[x], load(s + 8 * (x + 15))), load(s + 8 * (x + 20)));
    }
    for (unsigned r = 0; r < KECCAK_ROUNDS; r += 2) {
        round_x4(e, 4, c, s, 8, keccak_rc[r]);
        round_x4(s, 8, c, e, 4, keccak_rc[r + 1]);
    }
}

void keccak_f1600_x8_avx2(uint64_t s[200]) {
    _Alignas(64) uint64_t e[100];
    permute_x4(s, e);
    permute_x4(s + 4, e);
    /* The copy is the state one round before the end, and the state may hold a secret. */
    for (size_t i = 0; i < 100; i += 4)
        store(e + i, _mm256_setzero_si256());
    __asm__ __volatile__("" : : "r"(e) : "memory");
}
