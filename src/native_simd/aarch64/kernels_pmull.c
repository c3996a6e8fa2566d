/* The arm64 back end's kernels over K and E where PMULL is there.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * EOR3 would save instructions here, too, but cores that are not Apple's have it in one pipe only, where it
 * would be in PMULL's way. */
#include "cpu.h"

#include <arm_neon.h>

static inline uint64x2_t vec_clmul_lo(uint64x2_t a, uint64x2_t b) {
    return vreinterpretq_u64_p128(vmull_p64((poly64_t)vgetq_lane_u64(a, 0), (poly64_t)vgetq_lane_u64(b, 0)));
}

static inline uint64x2_t vec_clmul_hi(uint64x2_t a, uint64x2_t b) {
    return vreinterpretq_u64_p128(vmull_high_p64(vreinterpretq_p64_u64(a), vreinterpretq_p64_u64(b)));
}

#define VEC_REDUCE_BY_PRODUCT
#include "vec_neon.h"

const sheaf_kernels sheaf_kernels_pmull = {.name = "neon", VEC_NEON_ENTRIES};
