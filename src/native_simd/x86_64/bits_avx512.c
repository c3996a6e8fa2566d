/* Kernels on rows of 64 bytes, compiled for avx512.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bits_x86.h"
#define BITS(name) name
#define BITS_WIDTH 64
#include "../../common/bits_kernels.h"

void bits_sliced_linear_avx512(uint8_t *out, const uint8_t *in) { sliced_linear(out, in); }
void bits_sliced_chi_avx512(uint8_t *a, const uint8_t *e, unsigned r) { sliced_chi(a, e, r); }
void bits_grid_expand_avx512(uint8_t *rows, const uint8_t *from, size_t stride, unsigned inner, unsigned outer, size_t digit) {
    grid_expand(rows, from, stride, inner, outer, digit);
}
void bits_grid_chi_avx512(uint8_t *out, const uint8_t *e0, const uint8_t *e1, const uint8_t *e2, const uint8_t *quadratic,
                        size_t points) {
    grid_chi(out, e0, e1, e2, quadratic, points);
}
