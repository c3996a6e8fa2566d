/* Sums of images of F2-linear maps, with EOR3.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "neon.h"

#include <arm_neon.h>

#define XOR3(a, b, c) veor3q_u8(a, b, c)
#include "bitmap_neon.h"

void bitmap_accumulate_sha3(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes,
                            size_t byte_stride, size_t count) {
    bitmap_accumulate(acc, maps, map_stride, bytes, byte_stride, count);
}
