/* Keccak-f[1600] by the instructions of the SHA3 extension.   docs/protocol.md 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "neon.h"

#include <arm_neon.h>

#define XOR5(a, b, c, d, e) veor3q_u64(veor3q_u64(a, b, c), d, e)
#define RAX(a, b) vrax1q_u64(a, b)
#define XROT(a, b, n) vxarq_u64(a, b, 64 - (n))
#define CHI(a, b, c) vbcaxq_u64(a, c, b)
#include "keccak_x2.h"

void keccak_f1600_x8_sha3(uint64_t s[200]) {
    for (size_t i = 0; i < 8; i += 2)
        permute_x2(s + i);
}

/* One state: the other half of each register is idle. */
#define LOAD_ONE(l) a[l] = vdupq_n_u64(s[l]);
#define STORE_ONE(l) s[l] = vgetq_lane_u64(a[l], 0);

void keccak_f1600_sha3(uint64_t s[25]) {
    uint64x2_t a[25];
    EACH_LANE(LOAD_ONE)
    for (unsigned r = 0; r < KECCAK_ROUNDS; r++)
        round_x2(a, keccak_rc[r]);
    EACH_LANE(STORE_ONE)
}
