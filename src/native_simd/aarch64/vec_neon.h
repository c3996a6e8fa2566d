/* Two words of K in a register: names for ../clmul_kernels.h.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by one file a kind of carry-less product, after it has included <arm_neon.h> and defined
 * vec_clmul_lo and vec_clmul_hi on uint64x2_t. */
#ifndef SHEAF_VEC_NEON_H
#define SHEAF_VEC_NEON_H

typedef uint64x2_t vec;
#define VEC_WORDS 2

static inline vec vec_load(const uint64_t *p) {
    return vld1q_u64(p);
}
static inline vec vec_loadu(const uint64_t *p) {
    return vld1q_u64(p);
}
static inline void vec_store(uint64_t *p, vec v) {
    vst1q_u64(p, v);
}
static inline void vec_storeu(uint64_t *p, vec v) {
    vst1q_u64(p, v);
}
static inline uint64_t vec_word0(vec v) {
    return vgetq_lane_u64(v, 0);
}
static inline vec vec_set1(uint64_t a) {
    return vdupq_n_u64(a);
}
static inline vec vec_zero(void) {
    return vdupq_n_u64(0);
}
static inline vec vec_xor(vec a, vec b) {
    return veorq_u64(a, b);
}
/* The first operand is met last: in a running sum one addition waits for the one before, not two. */
static inline vec vec_xor3(vec a, vec b, vec c) {
    return veorq_u64(a, veorq_u64(b, c));
}
static inline vec vec_unpack_lo(vec a, vec b) {
    return vzip1q_u64(a, b);
}
static inline vec vec_unpack_hi(vec a, vec b) {
    return vzip2q_u64(a, b);
}
static inline vec vec_double(vec a) {
    return vaddq_u64(a, a);
}
static inline vec vec_shl3(vec a) {
    return vshlq_n_u64(a, 3);
}
static inline vec vec_shr60(vec a) {
    return vshrq_n_u64(a, 60);
}
static inline vec vec_lookup(vec table, vec at) {
    return vreinterpretq_u64_u8(vqtbl1q_u8(vreinterpretq_u8_u64(table), vreinterpretq_u8_u64(at)));
}
#define BYTE_AT(b, i) ((uint64_t)(uint8_t)(b) << (8 * (i)))
#define WORD_OF(b0, b1, b2, b3, b4, b5, b6, b7)                                                              \
    vcreate_u64(BYTE_AT(b0, 0) | BYTE_AT(b1, 1) | BYTE_AT(b2, 2) | BYTE_AT(b3, 3) | BYTE_AT(b4, 4) |         \
                BYTE_AT(b5, 5) | BYTE_AT(b6, 6) | BYTE_AT(b7, 7))
#define vec_table16(b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15)                    \
    vcombine_u64(WORD_OF(b0, b1, b2, b3, b4, b5, b6, b7), WORD_OF(b8, b9, b10, b11, b12, b13, b14, b15))

#include "../clmul_kernels.h"
#include "../ntt_kernels.h"

/* The entries of a table that are made here. */
#define VEC_NEON_ENTRIES                                                                                     \
    .gf192_mul = gf192_mul_words, .gf192_mul_k = gf192_mul_k_words, .ntt_butterfly = ntt_butterfly, .ntt_butterfly4 = ntt_butterfly4,          \
    .ntt_tail8 = ntt_tail8, .ntt_rows = ntt_rows, .ntt_block = ntt_block, .evec_mul = evec_mul,              \
    .evec_mul_add = evec_mul_add, .evec_scale = evec_scale,                                                  \
    .evec_scale_add = evec_scale_add, .evec_scale_add_k = evec_scale_add_k, .evec_fold = evec_fold,          \
    .evec_fold_k = evec_fold_k, .evec_dot = evec_dot, .evec_dot_k = evec_dot_k, .evec_dot3 = evec_dot3,      \
    .evec_dot3_k = evec_dot3_k, .evec_dot2 = evec_dot2, .evec_dot8 = evec_dot8, .evec_fold4 = evec_fold4,    \
    .evec_mul_plus = evec_mul_plus

#endif
