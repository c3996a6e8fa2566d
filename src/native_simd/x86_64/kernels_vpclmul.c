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

/* Products by twiddles of fewer than 60 bits: nothing goes past the top. */
static inline vec reduce_short(wide a) {
    vec lo = vec_unpack_lo(a.even, a.odd), hi = vec_unpack_hi(a.even, a.odd);
    vec u = vec_xor(hi, vec_double(hi));
    return vec_xor3(lo, u, vec_shl3(u));
}

/* 32 words are eight registers. For the last two layers a lane holds one block of a layer: first words 0, 1
 * and 4, 5 in u, their partners in v; then the partners share the lane. */
#define NTT_TAIL_LOG 5
static inline void tail_pair(uint64_t *to, vec x, vec y, const uint64_t *t2, const uint64_t *t1) {
    const __m256i t =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)t2)),
                                _mm_loadu_si128((const __m128i *)(const void *)(t2 + 1)), 1);
    vec u = _mm256_permute2x128_si256(x, y, 0x20), v = _mm256_permute2x128_si256(x, y, 0x31);
    wide p = {vec_clmul_lo(v, t), _mm256_clmulepi64_epi128(v, t, 0x01)};
    u = vec_xor(u, wide_reduce(p));
    v = vec_xor(v, u);
    const vec w = vec_loadu(t1);
    p = (wide){_mm256_clmulepi64_epi128(u, w, 0x01), vec_clmul_hi(v, w)};
    x = vec_xor(vec_unpack_lo(u, v), reduce_short(p));
    y = vec_xor(vec_unpack_hi(u, v), x);
    u = vec_unpack_lo(x, y);
    v = vec_unpack_hi(x, y);
    vec_store(to, _mm256_permute2x128_si256(u, v, 0x20));
    vec_store(to + 4, _mm256_permute2x128_si256(u, v, 0x31));
}

static inline void ntt_tail(uint64_t *to, const uint64_t *from, const uint64_t *tw, unsigned log) {
    const uint64_t *t16 = tw + ((size_t)1 << (log - 5)), *t8 = tw + ((size_t)1 << (log - 4)),
                   *t4 = tw + ((size_t)1 << (log - 3));
    const uint64_t *t2 = tw + ((size_t)1 << (log - 2)), *t1 = tw + ((size_t)1 << (log - 1));
    for (size_t b = 0; b < (size_t)1 << (log - 5); b++) {
        vec x[8];
        for (size_t j = 0; j < 8; j++)
            x[j] = vec_load(from + 32 * b + 4 * j);
        for (size_t j = 0; j < 4; j++)
            butterfly(&x[j], &x[j + 4], vec_set1(t16[b]));
        for (size_t h = 0; h < 2; h++)
            for (size_t j = 0; j < 2; j++)
                butterfly(&x[4 * h + j], &x[4 * h + j + 2], vec_set1(t8[2 * b + h]));
        for (size_t h = 0; h < 4; h++)
            butterfly(&x[2 * h], &x[2 * h + 1], vec_set1(t4[4 * b + h]));
        for (size_t h = 0; h < 4; h++)
            tail_pair(to + 32 * b + 8 * h, x[2 * h], x[2 * h + 1], t2 + 8 * b + 2 * h, t1 + 16 * b + 4 * h);
    }
}

#include "../ntt_kernels.h"

const sheaf_kernels sheaf_kernels_vpclmul = {
    .name = "avx2",
    .ntt_butterfly = ntt_butterfly,
    .ntt_butterfly4 = ntt_butterfly4,
    .ntt_tail8 = ntt_tail8,
    .ntt_rows = ntt_rows,
    .ntt_block = ntt_block,
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
