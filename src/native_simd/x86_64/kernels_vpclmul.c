/* The AVX2 back end's kernels over K and E where 256-bit VPCLMULQDQ is there.   SPDX-License-Identifier: MIT
 * OR Apache-2.0 */
#include "cpu.h"
#include "intrinsics.h"

typedef __m256i vec;
#define VEC_WORDS 4

static inline vec vec_load(const uint64_t *p) {
    return _mm256_load_si256((const __m256i *)(const void *)p);
}
static inline vec vec_loadu(const uint64_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
static inline void vec_store(uint64_t *p, vec v) {
    _mm256_store_si256((__m256i *)(void *)p, v);
}
static inline vec vec_set1(uint64_t a) {
    return _mm256_set1_epi64x((long long)a);
}
static inline vec vec_zero(void) {
    return _mm256_setzero_si256();
}
static inline vec vec_xor(vec a, vec b) {
    return _mm256_xor_si256(a, b);
}
static inline vec vec_xor3(vec a, vec b, vec c) {
    return _mm256_xor_si256(_mm256_xor_si256(a, b), c);
}
static inline vec vec_clmul_lo(vec a, vec b) {
    return _mm256_clmulepi64_epi128(a, b, 0x00);
}
static inline vec vec_clmul_hi(vec a, vec b) {
    return _mm256_clmulepi64_epi128(a, b, 0x11);
}
static inline vec vec_unpack_lo(vec a, vec b) {
    return _mm256_unpacklo_epi64(a, b);
}
static inline vec vec_unpack_hi(vec a, vec b) {
    return _mm256_unpackhi_epi64(a, b);
}
static inline vec vec_double(vec a) {
    return _mm256_add_epi64(a, a);
}
static inline vec vec_shl3(vec a) {
    return _mm256_slli_epi64(a, 3);
}
static inline vec vec_shr60(vec a) {
    return _mm256_srli_epi64(a, 60);
}
static inline vec vec_lookup(vec table, vec at) {
    return _mm256_shuffle_epi8(table, at);
}
#define vec_table16(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

#include "../clmul_kernels.h"

/* A block of 8 words is two registers; each layer's pairs are brought to the same place of two. */
static void ntt_tail8(uint64_t *a, const uint64_t *t4, const uint64_t *t2, const uint64_t *t1, size_t n) {
    for (size_t b = 0; b < n / 8; b++) {
        vec x = vec_load(a + 8 * b), y = vec_load(a + 8 * b + 4);
        butterfly(&x, &y, vec_set1(t4[b]));
        vec u = _mm256_permute2x128_si256(x, y, 0x20), v = _mm256_permute2x128_si256(x, y, 0x31);
        __m128i pair = _mm_loadu_si128((const __m128i *)(const void *)(t2 + 2 * b));
        butterfly(&u, &v, _mm256_permute4x64_epi64(_mm256_castsi128_si256(pair), 0x50));
        x = vec_unpack_lo(u, v);
        y = vec_unpack_hi(u, v);
        butterfly(&x, &y, vec_loadu(t1 + 4 * b));
        u = vec_unpack_lo(x, y);
        v = vec_unpack_hi(x, y);
        vec_store(a + 8 * b, _mm256_permute2x128_si256(u, v, 0x20));
        vec_store(a + 8 * b + 4, _mm256_permute2x128_si256(u, v, 0x31));
    }
}

const sheaf_kernels sheaf_kernels_vpclmul = {
    .name = "avx2",
    .ntt_butterfly = ntt_butterfly,
    .ntt_butterfly4 = ntt_butterfly4,
    .ntt_tail8 = ntt_tail8,
    .evec_mul = evec_mul,
    .evec_mul_add = evec_mul_add,
    .evec_mul_plus = evec_mul_plus,
    .evec_scale = evec_scale,
    .evec_scale_add = evec_scale_add,
    .evec_scale_add_k = evec_scale_add_k,
    .evec_fold = evec_fold,
    .evec_fold4 = evec_fold4,
    .evec_fold_k = evec_fold_k,
    .evec_dot = evec_dot,
    .evec_dot_k = evec_dot_k,
    .evec_dot3 = evec_dot3,
    .evec_dot3_k = evec_dot3_k,
    .evec_dot2 = evec_dot2,
    .evec_dot8 = evec_dot8,
};
