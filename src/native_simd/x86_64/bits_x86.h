/* The row kernels of the x86-64 back ends, for their tables.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_BITS_X86_H
#define SHEAF_BITS_X86_H

#include "../../common/kernels.h"

#define SHEAF_BITS_DECLARE(isa)                                                                              \
    void bits_sliced_linear_##isa(uint8_t *out, const uint8_t *in);                                          \
    void bits_sliced_chi_##isa(uint8_t *a, const uint8_t *e, unsigned r);                                    \
    void bits_grid_chi_##isa(uint8_t *out, size_t out_stride, const uint8_t *from, size_t lane_stride,       \
                             const grid_shape *shape);
SHEAF_BITS_DECLARE(avx2)
SHEAF_BITS_DECLARE(avx512)

#endif
