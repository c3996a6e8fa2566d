/* Eight Keccak-f[1600] states by AVX2, as two fours.   docs/protocol.md 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * 25 lanes do not fit 16 registers, so a round streams from one copy of the state to another: one copy is `s`
 * itself, the other is on the stack, and so are theta's words.
 *
 * A round of four is 184 instructions that four ports share, and 50 of them are shifts, for which there are
 * two. So the order of the instructions counts: each row's chi takes turns with the rotations of the next
 * row, the last row's with those of the other four's first row, and the two fours take turns round by round,
 * so that none waits for its theta. Compilers move arithmetic to where it needs the fewest registers; HERE
 * says no. */
#include "keccak_x86.h"

#include "../../common/hash/keccak.h"
#include "intrinsics.h"

#define INLINE static inline __attribute__((always_inline))
#define XOR _mm256_xor_si256
#define HERE(v) __asm__ __volatile__("" : "+x"(v))

/* n is a constant once this is inlined. Rotations by whole bytes are one instruction. */
INLINE __m256i rotl(__m256i a, int n) {
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

INLINE __m256i load(const uint64_t *p) {
    return _mm256_load_si256((const __m256i *)p);
}

INLINE void store(uint64_t *p, __m256i v) {
    _mm256_store_si256((__m256i *)p, v);
}

/* Four states: lane l at a + 8 l, after the round at e + 8 l; word x of theta at d + 4 x. */
typedef struct four {
    uint64_t *a, *e, *d;
} four;

/* Lane l after theta and rho. */
INLINE __m256i lane(const four *f, int l, int r) {
    return rotl(XOR(load(f->d + 4 * (l % 5)), load(f->a + 8 * l)), r);
}

INLINE __m256i chi(const __m256i b[5], int x) {
    return XOR(b[x], _mm256_andnot_si256(b[(x + 1) % 5], b[(x + 2) % 5]));
}

/* Lane x + 5 y of the round's result from row y, and its share of the column sum. */
INLINE void put(const four *f, __m256i c[5], const __m256i b[5], int y, int x, uint64_t rc) {
    __m256i v = chi(b, x);
    if (x == 0 && y == 0)
        v = XOR(v, _mm256_set1_epi64x((long long)rc));
    HERE(v);
    store(f->e + 8 * (5 * y + x), v);
    c[x] = y == 0 ? v : XOR(c[x], v);
    HERE(c[x]);
}

/* Theta's words from the column sums. */
INLINE void theta(const four *f, const __m256i c[5]) {
    for (int x = 0; x < 5; x++)
        store(f->d + 4 * x, XOR(rotl(c[(x + 1) % 5], 1), c[(x + 4) % 5]));
}

INLINE void theta_of(const four *f) {
    __m256i c[5];
    for (int x = 0; x < 5; x++) {
        c[x] = load(f->a + 8 * x);
        for (int y = 1; y < 5; y++)
            c[x] = XOR(c[x], load(f->a + 8 * (x + 5 * y)));
    }
    theta(f, c);
}

INLINE void take(__m256i b[5], const __m256i n[5]) {
    for (int x = 0; x < 5; x++)
        b[x] = n[x];
}

/* Lane x of a row of g is made, and then the same place of the row before it is done with: row y of f. */
#define STEP(g, x, l, r, y)                                                                                  \
    do {                                                                                                     \
        n[x] = lane(g, l, r);                                                                                \
        HERE(n[x]);                                                                                          \
        put(f, c, b, y, x, rc);                                                                              \
    } while (0)
#define STEPS(g, y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                                  \
    STEP(g, 0, l0, r0, y);                                                                                   \
    STEP(g, 1, l1, r1, y);                                                                                   \
    STEP(g, 2, l2, r2, y);                                                                                   \
    STEP(g, 3, l3, r3, y);                                                                                   \
    STEP(g, 4, l4, r4, y);                                                                                   \
    take(b, n);
#define ROW_WITHIN(y, ...)                                                                                   \
    if ((y) > 0) {                                                                                           \
        STEPS(f, (y)-1, __VA_ARGS__)                                                                         \
    }
#define ROW_OF_OTHER(y, ...)                                                                                 \
    if ((y) == 0) {                                                                                          \
        STEPS(other, 4, __VA_ARGS__)                                                                         \
    }
#define FIRST_ROW(y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                                 \
    if ((y) == 0) {                                                                                          \
        b[0] = lane(f, l0, r0);                                                                              \
        b[1] = lane(f, l1, r1);                                                                              \
        b[2] = lane(f, l2, r2);                                                                              \
        b[3] = lane(f, l3, r3);                                                                              \
        b[4] = lane(f, l4, r4);                                                                              \
    }

/* A round of f whose first row's lanes are in b; then those of the other four are. */
INLINE void round_x4(four *f, const four *other, __m256i b[5], uint64_t rc) {
    __m256i c[5], n[5];
    KECCAK_EACH_ROW(ROW_WITHIN)
    KECCAK_EACH_ROW(ROW_OF_OTHER)
    theta(f, c);
    uint64_t *e = f->e;
    f->e = f->a;
    f->a = e;
}

INLINE void first_row(const four *f, __m256i b[5]){KECCAK_EACH_ROW(FIRST_ROW)}

/* All rounds but the last, from s, after which the fours' states are in the copy, and b has the first row's
 * lanes of the first four. */
INLINE void rounds(four *f, four *g, __m256i b[5], uint64_t *s, uint64_t *copy) {
    *f = (four){s, copy, copy + 200};
    *g = (four){s + 4, copy + 4, copy + 220};
    theta_of(f);
    theta_of(g);
    first_row(f, b);
    for (unsigned r = 0; r < KECCAK_ROUNDS - 1; r++) {
        round_x4(f, g, b, keccak_rc[r]);
        round_x4(g, f, b, keccak_rc[r]);
    }
}

/* The last round, which wants no theta after it. The copy is the state one round before the end, which may be
 * a secret: its lanes are cleared as they are read, as stores are what the round has room for. */
#define LAST_STEP(x, l, r)                                                                                   \
    do {                                                                                                     \
        n[x] = lane(f, l, r);                                                                                \
        store(f->a + 8 * (l), _mm256_setzero_si256());                                                       \
    } while (0)
#define LAST_ROW(y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                                  \
    {                                                                                                        \
        LAST_STEP(0, l0, r0);                                                                                \
        LAST_STEP(1, l1, r1);                                                                                \
        LAST_STEP(2, l2, r2);                                                                                \
        LAST_STEP(3, l3, r3);                                                                                \
        LAST_STEP(4, l4, r4);                                                                                \
        for (int x = 0; x < 5; x++)                                                                          \
            store(f->e + 8 * (5 * (y) + x), chi(n, x));                                                      \
    }

INLINE void last_round_x4(const four *f) {
    const __m256i rc = _mm256_set1_epi64x((long long)keccak_rc[KECCAK_ROUNDS - 1]);
    __m256i n[5];
    KECCAK_EACH_ROW(LAST_ROW)
    store(f->e, XOR(load(f->e), rc));
    for (int x = 0; x < 5; x++)
        store(f->d + 4 * x, _mm256_setzero_si256());
}

/* The last round's lanes 0 to 3. */
INLINE void last_digest_x4(const four *f, const __m256i b[5]) {
    const __m256i rc = _mm256_set1_epi64x((long long)keccak_rc[KECCAK_ROUNDS - 1]);
    store(f->e, XOR(chi(b, 0), rc));
    for (int x = 1; x < 4; x++)
        store(f->e + 8 * x, chi(b, x));
}

/* Room for a copy of eight states and for theta's words, half a page away from s in the addresses' low twelve
 * bits: by those alone a load is held up behind an earlier store. */
typedef struct room {
    _Alignas(64) uint64_t words[512 + 240];
} room;

INLINE uint64_t *copy_in(room *r, const uint64_t *s) {
    return r->words + ((uintptr_t)s + 2048 - (uintptr_t)r->words) % 4096 / 8;
}

void keccak_f1600_x8_avx2(uint64_t s[200]) {
    room r;
    uint64_t *copy = copy_in(&r, s);
    __m256i b[5];
    four f, g;
    rounds(&f, &g, b, s, copy);
    last_round_x4(&f);
    last_round_x4(&g);
    __asm__ __volatile__("" : : "r"(copy) : "memory"); /* what is cleared stays clear */
}

void keccak_digest_x8_avx2(uint64_t s[200]) {
    room r;
    __m256i b[5];
    four f, g;
    rounds(&f, &g, b, s, copy_in(&r, s));
    last_digest_x4(&f, b);
    first_row(&g, b);
    last_digest_x4(&g, b);
}
