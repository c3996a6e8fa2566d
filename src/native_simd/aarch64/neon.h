/* The kernels of the arm64 back end that are not in the file of its tables.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_NEON_H
#define SHEAF_NEON_H

#include "../../common/kernels.h"

void keccak_f1600_x8_neon(uint64_t s[200]);
void keccak_f1600_x8_sha3(uint64_t s[200]);
void keccak_f1600_sha3(uint64_t s[25]);

void bitmap_prepare_neon(bitmap8 *m, const gf192 col[8]);
void bitmap_accumulate_neon(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes,
                            size_t byte_stride, size_t count);
void bitmap_accumulate_sha3(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes,
                            size_t byte_stride, size_t count);
void bitmap_finish_neon(evec d, const uint8_t *acc);
void bitmap_sum_neon(evec d, const bitmap8 *maps, const uint8_t *bytes, size_t byte_stride, size_t count);
void bitmap_sum_sha3(evec d, const bitmap8 *maps, const uint8_t *bytes, size_t byte_stride, size_t count);

void bits_transpose8_neon(uint8_t *out, size_t out_stride, const uint8_t *in, size_t in_stride);
void sliced_linear_neon(uint8_t *out, const uint8_t *in);
void sliced_chi_neon(uint8_t *a, const uint8_t *e, unsigned r);
void grid_chi_neon(uint8_t *out, size_t out_stride, const uint8_t *from, size_t lane_stride,
                   const grid_shape *shape);

#endif
