/* The row kernels of the x86-64 back ends, for their tables.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_BITS_X86_H
#define SHEAF_BITS_X86_H

#include <stddef.h>
#include <stdint.h>

#define SHEAF_BITS_DECLARE(isa)                                                                              \
    void bits_sliced_linear_##isa(uint8_t *out, const uint8_t *in);                                          \
    void bits_sliced_chi_##isa(uint8_t *a, const uint8_t *e, unsigned r);                                    \
    void bits_grid_expand_##isa(uint8_t *rows, const uint8_t *from, size_t stride, unsigned inner,           \
                                unsigned outer, size_t digit);                                               \
    void bits_grid_chi_##isa(uint8_t *out, const uint8_t *e0, const uint8_t *e1, const uint8_t *e2,          \
                             const uint8_t *quadratic, size_t points);
SHEAF_BITS_DECLARE(avx2)
SHEAF_BITS_DECLARE(avx512)

#endif
