/* Kernels in WebAssembly's SIMD.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "kernels.h"
#define BITS(name) name##_simd128
#define BITS_WIDTH 16
#include "bits_kernels.h"

const sheaf_kernels sheaf_kernels_simd128 = {
    .name = "simd128",
    .sliced_linear = sliced_linear_simd128,
    .sliced_chi = sliced_chi_simd128,
    .grid_expand = grid_expand_simd128,
    .grid_chi = grid_chi_simd128,
};
