/* The table of this back end, and its kernels on rows of bits.   SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "kernels_simd128.h"
#ifndef SHEAF_VERIFIER_KERNELS /* see dispatch.c */
#define BITS(name) name##_simd128
#define BITS_WIDTH 16
#include "bits_kernels.h"

/* Single words: the portable products are as good. */
static void ntt_tail8_simd128(uint64_t *a, const uint64_t *t4, const uint64_t *t2, const uint64_t *t1,
                              size_t n) {
    sheaf_kernels_ref.ntt_tail8(a, t4, t2, t1, n);
}
#define NTT(name) ntt_##name##_simd128
#include "ntt_steps.h"
#endif

const sheaf_kernels sheaf_kernels_simd128 = {
    .name = SIMD128_NAME,
    .gf192_mul = gf192_mul_simd128,
#ifndef SHEAF_VERIFIER_KERNELS
    .ntt_butterfly = ntt_butterfly_simd128,
    .ntt_butterfly4 = ntt_butterfly4_simd128,
    .ntt_rows = ntt_rows_simd128,
    .ntt_block = ntt_block_simd128,
    .evec_mul = evec_mul_simd128,
    .evec_mul_add = evec_mul_add_simd128,
    .evec_mul_plus = evec_mul_plus_simd128,
    .evec_scale = evec_scale_simd128,
    .evec_scale_add = evec_scale_add_simd128,
    .evec_scale_add_k = evec_scale_add_k_simd128,
    .evec_fold = evec_fold_simd128,
    .evec_fold_k = evec_fold_k_simd128,
    .evec_dot = evec_dot_simd128,
    .evec_dot_k = evec_dot_k_simd128,
    .evec_dot3 = evec_dot3_simd128,
    .evec_dot3_k = evec_dot3_k_simd128,
    .evec_dot2 = evec_dot2_simd128,
    .bitmap_prepare = bitmap_prepare_simd128,
    .bitmap_accumulate = bitmap_accumulate_simd128,
    .bitmap_finish = bitmap_finish_simd128,
    .bitmap_sum = bitmap_sum_simd128,
    .bits_transpose8 = bits_transpose8_simd128,
    .sliced_linear = sliced_linear_simd128,
    .sliced_chi = sliced_chi_simd128,
    .grid_chi = grid_chi_simd128,
#endif
};
