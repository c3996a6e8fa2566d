/* Eight Keccak-f[1600] states by AVX2, as two fours.   docs/protocol.md 2.
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
    if (n == 1) /* additions have more ports than shifts */
        return _mm256_or_si256(_mm256_add_epi64(a, a), _mm256_srli_epi64(a, 63));
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

#define LANE(l, r) rotl(XOR(load(a + 8 * (l)), d[(l) % 5]), r)
#define PUT(y, x, v)                                                                                         \
    do {                                                                                                     \
        __m256i put = v;                                                                                     \
        if ((y) == 0 && (x) == 0)                                                                            \
            put = XOR(put, _mm256_set1_epi64x((long long)rc));                                               \
        store(e + 8 * (5 * (y) + (x)), put);                                                                 \
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

/* c: the column sums of a on entry, of e on return. Lane l is at a + 8 l and e + 8 l. */
static inline __attribute__((always_inline)) void round_x4(uint64_t *restrict e, __m256i c[5],
                                                           const uint64_t *restrict a, uint64_t rc) {
    const __m256i d[5] = {XOR(c[4], rotl(c[1], 1)), XOR(c[0], rotl(c[2], 1)), XOR(c[1], rotl(c[3], 1)),
                          XOR(c[2], rotl(c[4], 1)), XOR(c[3], rotl(c[0], 1))};
    KECCAK_EACH_ROW(ROW)
}

/* The last round's lanes 0 to 3. */
#define FIRST_ROW(y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                                 \
    if ((y) == 0) {                                                                                          \
        const __m256i b0 = LANE(l0, r0), b1 = LANE(l1, r1), b2 = LANE(l2, r2);                               \
        const __m256i b3 = LANE(l3, r3), b4 = LANE(l4, r4);                                                  \
        store(e, XOR(CHI(b0, b1, b2), _mm256_set1_epi64x((long long)rc)));                                   \
        store(e + 8, CHI(b1, b2, b3));                                                                       \
        store(e + 16, CHI(b2, b3, b4));                                                                      \
        store(e + 24, CHI(b3, b4, b0));                                                                      \
    }

static inline __attribute__((always_inline)) void last_round_x4(uint64_t *restrict e, const __m256i c[5],
                                                                const uint64_t *restrict a, uint64_t rc) {
    const __m256i d[5] = {XOR(c[4], rotl(c[1], 1)), XOR(c[0], rotl(c[2], 1)), XOR(c[1], rotl(c[3], 1)),
                          XOR(c[2], rotl(c[4], 1)), XOR(c[3], rotl(c[0], 1))};
    KECCAK_EACH_ROW(FIRST_ROW)
}

static inline __attribute__((always_inline)) void column_sums(__m256i c[5], const uint64_t *s) {
    for (size_t x = 0; x < 5; x++) {
        c[x] = XOR(XOR(load(s + 8 * x), load(s + 8 * (x + 5))), load(s + 8 * (x + 10)));
        c[x] = XOR(XOR(c[x], load(s + 8 * (x + 15))), load(s + 8 * (x + 20)));
    }
}

/* The two fours take turns: a round of one fills the time in which the other's waits for its column sums.
 * Rounds from .. to-1, both even. */
static inline __attribute__((always_inline)) void
rounds(uint64_t *restrict s, uint64_t *restrict e, __m256i c[5], __m256i f[5], unsigned from, unsigned to) {
    for (unsigned r = from; r < to; r += 2) {
        round_x4(e, c, s, keccak_rc[r]);
        round_x4(e + 4, f, s + 4, keccak_rc[r]);
        round_x4(s, c, e, keccak_rc[r + 1]);
        round_x4(s + 4, f, e + 4, keccak_rc[r + 1]);
    }
}

/* Room for a copy of eight states, half a page away from s in the addresses' low twelve bits: by those alone
 * a load is held up behind an earlier store. */
typedef struct room {
    _Alignas(64) uint64_t words[512 + 200];
} room;

static inline uint64_t *copy_in(room *r, const uint64_t *s) {
    return r->words + ((uintptr_t)s + 2048 - (uintptr_t)r->words) % 4096 / 8;
}

void keccak_f1600_x8_avx2(uint64_t s[200]) {
    room r;
    uint64_t *e = copy_in(&r, s);
    __m256i c[5], f[5];
    column_sums(c, s);
    column_sums(f, s + 4);
    rounds(s, e, c, f, 0, KECCAK_ROUNDS);
    /* The copy is the state one round before the end, and the state may hold a secret. */
    for (size_t i = 0; i < 200; i += 4)
        store(e + i, _mm256_setzero_si256());
    __asm__ __volatile__("" : : "r"(e) : "memory");
}

void keccak_digest_x8_avx2(uint64_t s[200]) {
    room r;
    uint64_t *e = copy_in(&r, s);
    __m256i c[5], f[5];
    column_sums(c, s);
    column_sums(f, s + 4);
    rounds(s, e, c, f, 0, KECCAK_ROUNDS - 2);
    round_x4(e, c, s, keccak_rc[KECCAK_ROUNDS - 2]);
    round_x4(e + 4, f, s + 4, keccak_rc[KECCAK_ROUNDS - 2]);
    last_round_x4(s, c, e, keccak_rc[KECCAK_ROUNDS - 1]);
    last_round_x4(s + 4, f, e + 4, keccak_rc[KECCAK_ROUNDS - 1]);
}
