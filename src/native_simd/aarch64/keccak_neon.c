/* Eight Keccak-f[1600] states by plain NEON, two at a time.   docs/protocol.md 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "neon.h"

#include <arm_neon.h>

#define ROTL(a, n) vsriq_n_u64(vshlq_n_u64(a, n), a, 64 - (n))
#define XOR5(a, b, c, d, e) veorq_u64(veorq_u64(veorq_u64(a, b), veorq_u64(c, d)), e)
#define RAX(a, b) veorq_u64(a, ROTL(b, 1))
#define XROT(a, b, n) ROTL(veorq_u64(a, b), n)
#define CHI(a, b, c) veorq_u64(a, vbicq_u64(c, b))
#include "keccak_x2.h"

void keccak_f1600_x8_neon(uint64_t s[200]) {
    for (size_t i = 0; i < 8; i += 2)
        permute_x2(s + i);
}
