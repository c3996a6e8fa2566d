/* The kernels of this back end; src/common/kernels.h says what they do.   SPDX-License-Identifier: MIT OR
 * Apache-2.0
 *
 * WebAssembly has no carry-less product. Products by a constant look nibbles up in tables
 * (constant_simd128.c); products of two vectors go through planes of bits (product_simd128.c). Tables are
 * addressed by the data, which is the transcript's, the proof's and the witness's: of an aggregate that is
 * public, of a hash batch as public as the proof makes it (SECURITY.md). Keys and seeds never come here: they
 * meet Keccak alone, which is constant time, and of which the compiler makes as good vector code from the
 * portable loops. */
#ifndef SHEAF_KERNELS_SIMD128_H
#define SHEAF_KERNELS_SIMD128_H

#include "kernels.h"
#include "simd128.h"

void gf192_mul_simd128(gf192 *d, const gf192 *a, const gf192 *b);

/* constant_simd128.c */
void ntt_butterfly_simd128(uint64_t *a, uint64_t *b, uint64_t t, size_t n);
void ntt_butterfly4_simd128(uint64_t *a0, uint64_t *a1, uint64_t *a2, uint64_t *a3, const uint64_t t[3],
                            size_t n);
void evec_scale_simd128(evec d, evec a, gf192 c, size_t n);
void evec_scale_add_simd128(evec d, evec a, gf192 c, size_t n);
void evec_scale_add_k_simd128(evec d, const uint64_t *k, gf192 c, size_t n);
void evec_fold_simd128(evec d, evec a0, evec a1, gf192 r, size_t n);
void evec_fold_k_simd128(evec d, const uint64_t *k0, const uint64_t *k1, gf192 r, size_t n);

/* product_simd128.c */
void evec_mul_simd128(evec d, evec a, evec b, size_t n);
void evec_mul_add_simd128(evec d, evec a, evec b, size_t n);
void evec_mul_plus_simd128(evec d, evec a, evec b, evec c, size_t n);
void evec_dot_simd128(gf192 *d, evec a, evec b, size_t n);
void evec_dot_k_simd128(gf192 *d, evec a, const uint64_t *k, size_t n);
void evec_dot3_simd128(gf192 d[3], evec a0, evec a1, evec b0, evec b1, size_t n);
void evec_dot3_k_simd128(gf192 d[3], evec a0, evec a1, const uint64_t *k0, const uint64_t *k1, size_t n);
void evec_dot2_simd128(gf192 d[2], evec a0, evec a1, evec b0, evec b1, size_t n);

/* bits_simd128.c */
void bitmap_prepare_simd128(bitmap8 *m, const gf192 col[8]);
void bitmap_accumulate_simd128(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes,
                               size_t byte_stride, size_t count);
void bitmap_finish_simd128(evec d, const uint8_t *acc);
void bitmap_sum_simd128(evec d, const bitmap8 *maps, const uint8_t *bytes, size_t byte_stride, size_t count);
void bits_transpose8_simd128(uint8_t *out, size_t out_stride, const uint8_t *in, size_t in_stride);

#endif
