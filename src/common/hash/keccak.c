/* Keccak-f[1600], portable.   docs/protocol.md 2.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "keccak.h"

#include <string.h>

/* [FIPS202] 3.2.5: bit 2^j - 1 of constant r is rc(j + 7r). tests/unit/test_keccak.c derives all three
 * tables. */
const uint64_t keccak_rc[KECCAK_ROUNDS] = {
    UINT64_C(0x0000000000000001), UINT64_C(0x0000000000008082), UINT64_C(0x800000000000808a),
    UINT64_C(0x8000000080008000), UINT64_C(0x000000000000808b), UINT64_C(0x0000000080000001),
    UINT64_C(0x8000000080008081), UINT64_C(0x8000000000008009), UINT64_C(0x000000000000008a),
    UINT64_C(0x0000000000000088), UINT64_C(0x0000000080008009), UINT64_C(0x000000008000000a),
    UINT64_C(0x000000008000808b), UINT64_C(0x800000000000008b), UINT64_C(0x8000000000008089),
    UINT64_C(0x8000000000008003), UINT64_C(0x8000000000008002), UINT64_C(0x8000000000000080),
    UINT64_C(0x000000000000800a), UINT64_C(0x800000008000000a), UINT64_C(0x8000000080008081),
    UINT64_C(0x8000000000008080), UINT64_C(0x0000000080000001), UINT64_C(0x8000000080008008),
};

const uint8_t keccak_rho[KECCAK_LANES] = {
    0,  1,  62, 28, 27, /* y = 0 */
    36, 44, 6,  55, 20, /* y = 1 */
    3,  10, 43, 25, 39, /* y = 2 */
    41, 45, 15, 21, 8,  /* y = 3 */
    18, 2,  61, 56, 14, /* y = 4 */
};

const uint8_t keccak_pi[KECCAK_LANES] = {
    0,  10, 20, 5,  15, /* y = 0 */
    16, 1,  11, 21, 6,  /* y = 1 */
    7,  17, 2,  12, 22, /* y = 2 */
    23, 8,  18, 3,  13, /* y = 3 */
    14, 24, 9,  19, 4,  /* y = 4 */
};

static inline uint64_t rotl(uint64_t a, unsigned n) {
    return a << n | a >> ((64u - n) & 63u);
}

void keccak_round_linear_ref(uint64_t e[KECCAK_LANES], const uint64_t a[KECCAK_LANES]) {
    uint64_t c[5];
    for (unsigned x = 0; x < 5; x++)
        c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    for (unsigned l = 0; l < KECCAK_LANES; l++) {
        unsigned x = l % 5;
        uint64_t d = c[(x + 4) % 5] ^ rotl(c[(x + 1) % 5], 1);
        e[keccak_pi[l]] = rotl(a[l] ^ d, keccak_rho[l]);
    }
}

void keccak_round_chi_ref(uint64_t a[KECCAK_LANES], const uint64_t e[KECCAK_LANES], unsigned r) {
    for (unsigned y = 0; y < KECCAK_LANES; y += 5)
        for (unsigned x = 0; x < 5; x++)
            a[y + x] = e[y + x] ^ (~e[y + (x + 1) % 5] & e[y + (x + 2) % 5]);
    a[0] ^= keccak_rc[r];
}

void keccak_round_ref(uint64_t s[KECCAK_LANES], unsigned r) {
    uint64_t e[KECCAK_LANES];
    keccak_round_linear_ref(e, s);
    keccak_round_chi_ref(s, e, r);
}

/* One row of a round's output. All indices are constants, so that compilers keep the lanes in registers. */
#define LANE(l, r) rotl(a[l] ^ d[(l) % 5], r)
#define ROW(y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                                       \
    do {                                                                                                     \
        uint64_t b0 = LANE(l0, r0), b1 = LANE(l1, r1), b2 = LANE(l2, r2), b3 = LANE(l3, r3);                 \
        uint64_t b4 = LANE(l4, r4);                                                                          \
        e[5 * (y) + 0] = b0 ^ (~b1 & b2);                                                                    \
        e[5 * (y) + 1] = b1 ^ (~b2 & b3);                                                                    \
        e[5 * (y) + 2] = b2 ^ (~b3 & b4);                                                                    \
        e[5 * (y) + 3] = b3 ^ (~b4 & b0);                                                                    \
        e[5 * (y) + 4] = b4 ^ (~b0 & b1);                                                                    \
    } while (0);

static inline void round_unrolled(uint64_t e[25], const uint64_t a[25], uint64_t rc) {
    uint64_t c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20];
    uint64_t c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21];
    uint64_t c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22];
    uint64_t c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23];
    uint64_t c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24];
    const uint64_t d[5] = {c4 ^ rotl(c1, 1), c0 ^ rotl(c2, 1), c1 ^ rotl(c3, 1), c2 ^ rotl(c4, 1),
                           c3 ^ rotl(c0, 1)};
    KECCAK_EACH_ROW(ROW)
    e[0] ^= rc;
}

void keccak_f1600_ref(uint64_t s[25]) {
    uint64_t a[25], e[25];
    memcpy(a, s, sizeof a);
    for (unsigned r = 0; r < KECCAK_ROUNDS; r += 2) {
        round_unrolled(e, a, keccak_rc[r]);
        round_unrolled(a, e, keccak_rc[r + 1]);
    }
    memcpy(s, a, sizeof a);
}

/* Eight states: the same rows, each a loop over the states that compilers turn into vector code. */
#define LANE_X8(l, r) rotl(a[8 * (l) + i] ^ d[8 * ((l) % 5) + i], r)
#define ROW_X8(y, l0, r0, l1, r1, l2, r2, l3, r3, l4, r4)                                                    \
    for (unsigned i = 0; i < 8; i++) {                                                                       \
        uint64_t b0 = LANE_X8(l0, r0), b1 = LANE_X8(l1, r1), b2 = LANE_X8(l2, r2);                           \
        uint64_t b3 = LANE_X8(l3, r3), b4 = LANE_X8(l4, r4);                                                 \
        e[40 * (y) + 0 + i] = b0 ^ (~b1 & b2);                                                               \
        e[40 * (y) + 8 + i] = b1 ^ (~b2 & b3);                                                               \
        e[40 * (y) + 16 + i] = b2 ^ (~b3 & b4);                                                              \
        e[40 * (y) + 24 + i] = b3 ^ (~b4 & b0);                                                              \
        e[40 * (y) + 32 + i] = b4 ^ (~b0 & b1);                                                              \
    }

static void round_x8(uint64_t *restrict e, const uint64_t *restrict a, uint64_t rc) {
    uint64_t c[40], d[40];
    for (unsigned i = 0; i < 40; i++)
        c[i] = a[i] ^ a[i + 40] ^ a[i + 80] ^ a[i + 120] ^ a[i + 160];
    for (unsigned i = 0; i < 8; i++) {
        d[i] = c[32 + i] ^ rotl(c[8 + i], 1);
        d[8 + i] = c[i] ^ rotl(c[16 + i], 1);
        d[16 + i] = c[8 + i] ^ rotl(c[24 + i], 1);
        d[24 + i] = c[16 + i] ^ rotl(c[32 + i], 1);
        d[32 + i] = c[24 + i] ^ rotl(c[i], 1);
    }
    KECCAK_EACH_ROW(ROW_X8)
    for (unsigned i = 0; i < 8; i++)
        e[i] ^= rc;
}

void keccak_f1600_x8_ref(uint64_t s[200]) {
    uint64_t e[200];
    for (unsigned r = 0; r < KECCAK_ROUNDS; r += 2) {
        round_x8(e, s, keccak_rc[r]);
        round_x8(s, e, keccak_rc[r + 1]);
    }
}
