/* Kernels on rows of 64 bytes, compiled for avx512.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bits_x86.h"
#define BITS(name) name
#define BITS_WIDTH 64
#include "../../common/bits_kernels.h"

void bits_sliced_linear_avx512(uint8_t *out, const uint8_t *in) { sliced_linear(out, in); }
void bits_sliced_chi_avx512(uint8_t *a, const uint8_t *e, unsigned r) { sliced_chi(a, e, r); }
void bits_grid_chi_avx512(uint8_t *out, size_t out_stride, const uint8_t *from, size_t lane_stride, const grid_shape *shape) {
    grid_chi(out, out_stride, from, lane_stride, shape);
}
