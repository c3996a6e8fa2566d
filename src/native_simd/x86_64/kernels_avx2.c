/* The AVX2 back end.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The kernels over K and E by 128-bit PCLMULQDQ, two words at a time (kernels_vpclmul.c has them four at a
 * time, where the processor can); the byte kernels on 256-bit registers. */
#include <string.h>
#include "cpu.h"
#include "intrinsics.h"
#include "bits_x86.h"
#include "keccak_x86.h"

typedef __m128i vec;
#define VEC_WORDS 2

static inline vec vec_load(const uint64_t *p) {
    return _mm_load_si128((const __m128i *)(const void *)p);
}
static inline vec vec_loadu(const uint64_t *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}
static inline void vec_store(uint64_t *p, vec v) {
    _mm_store_si128((__m128i *)(void *)p, v);
}
static inline void vec_storeu(uint64_t *p, vec v) {
    _mm_storeu_si128((__m128i *)(void *)p, v);
}
static inline uint64_t vec_word0(vec v) {
    return (uint64_t)_mm_cvtsi128_si64(v);
}
static inline vec vec_set1(uint64_t a) {
    return _mm_set1_epi64x((long long)a);
}
static inline vec vec_zero(void) {
    return _mm_setzero_si128();
}
static inline vec vec_xor(vec a, vec b) {
    return _mm_xor_si128(a, b);
}
static inline vec vec_xor3(vec a, vec b, vec c) {
    return _mm_xor_si128(_mm_xor_si128(a, b), c);
}
static inline vec vec_clmul_lo(vec a, vec b) {
    return _mm_clmulepi64_si128(a, b, 0x00);
}
static inline vec vec_clmul_hi(vec a, vec b) {
    return _mm_clmulepi64_si128(a, b, 0x11);
}
static inline vec vec_unpack_lo(vec a, vec b) {
    return _mm_unpacklo_epi64(a, b);
}
static inline vec vec_unpack_hi(vec a, vec b) {
    return _mm_unpackhi_epi64(a, b);
}
static inline vec vec_double(vec a) {
    return _mm_add_epi64(a, a);
}
static inline vec vec_shl3(vec a) {
    return _mm_slli_epi64(a, 3);
}
static inline vec vec_shr60(vec a) {
    return _mm_srli_epi64(a, 60);
}
static inline vec vec_lookup(vec table, vec at) {
    return _mm_shuffle_epi8(table, at);
}
#define vec_table16(...) _mm_setr_epi8(__VA_ARGS__)

#include "../clmul_kernels.h"
#include "../ntt_kernels.h"
#include "maps_x86.h"

/* ---- maps on bytes ----
 * A map is, for each byte of the image, a table of 16 bytes for the input's low half and one for its high
 * half. The accumulator is 24 planes of 64 bytes, one for each byte of an element. */

static void bitmap_prepare(bitmap8 *m, const gf192 col[8]) {
    /* Entry i of a table is the sum over c of column c where bit c of i is set: a choice of byte c or of
     * nothing (negative), of bytes 0-3 for the low half of the input and 4-7 for its high half. */
    const __m256i take[4] = {_mm256_setr_epi8(-1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 4,
                                              -1, 4, -1, 4, -1, 4, -1, 4, -1, 4, -1, 4, -1, 4),
                             _mm256_setr_epi8(-1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1,
                                              5, 5, -1, -1, 5, 5, -1, -1, 5, 5, -1, -1, 5, 5),
                             _mm256_setr_epi8(-1, -1, -1, -1, 2, 2, 2, 2, -1, -1, -1, -1, 2, 2, 2, 2, -1, -1,
                                              -1, -1, 6, 6, 6, 6, -1, -1, -1, -1, 6, 6, 6, 6),
                             _mm256_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, 3, 3, 3, 3, 3, 3, 3, 3, -1, -1,
                                              -1, -1, -1, -1, -1, -1, 7, 7, 7, 7, 7, 7, 7, 7)};
    for (size_t l = 0; l < 3; l++) {
        __m128i r[4];
        map_bytes(r, col, l);
        for (size_t o = 0; o < 8; o++) {
            __m128i bytes = o % 2 == 0 ? r[o / 2] : _mm_unpackhi_epi64(r[o / 2], r[o / 2]);
            __m256i all = _mm256_broadcastq_epi64(bytes);
            __m256i t01 =
                _mm256_xor_si256(_mm256_shuffle_epi8(all, take[0]), _mm256_shuffle_epi8(all, take[1]));
            __m256i t23 =
                _mm256_xor_si256(_mm256_shuffle_epi8(all, take[2]), _mm256_shuffle_epi8(all, take[3]));
            _mm256_store_si256((__m256i *)(void *)(m->tab + 32 * (8 * l + o)), _mm256_xor_si256(t01, t23));
        }
    }
}

static inline __m256i table_load(const uint8_t *t) {
    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)t));
}

static inline __m256i bytes_load(const uint8_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* s += table lo at the low halves + table hi at the high halves */
static inline __m256i lookup_add(__m256i s, __m256i table_lo, __m256i table_hi, __m256i lo, __m256i hi) {
    return _mm256_xor_si256(
        s, _mm256_xor_si256(_mm256_shuffle_epi8(table_lo, lo), _mm256_shuffle_epi8(table_hi, hi)));
}

enum {
    MAP_RUN = 32,
    MAP_PLANES = 4
}; /* maps a pass; planes whose 64 lanes are in registers: each table is loaded once */

static inline void planes_add(__m256i s[2 * MAP_PLANES], const uint8_t *t, const __m256i in[4]) {
    for (size_t o = 0; o < MAP_PLANES; o++) {
        __m256i lo = table_load(t + 32 * o), hi = table_load(t + 32 * o + 16);
        s[2 * o] = lookup_add(s[2 * o], lo, hi, in[0], in[2]);
        s[2 * o + 1] = lookup_add(s[2 * o + 1], lo, hi, in[1], in[3]);
    }
}

static void bitmap_accumulate(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes,
                              size_t byte_stride, size_t count) {
    const __m256i half = _mm256_set1_epi8(15);
    __m256i in[MAP_RUN][4]; /* low halves of lanes 0-31 and 32-63, then the high halves */
    for (size_t from = 0; from < count; from += MAP_RUN) {
        size_t now = count - from < MAP_RUN ? count - from : MAP_RUN;
        for (size_t j = 0; j < now; j++)
            for (size_t g = 0; g < 2; g++) {
                __m256i v = bytes_load(bytes + (from + j) * byte_stride + 32 * g);
                in[j][g] = _mm256_and_si256(v, half);
                in[j][2 + g] = _mm256_and_si256(_mm256_srli_epi16(v, 4), half);
            }
        for (size_t plane = 0; plane < 24; plane += MAP_PLANES) {
            __m256i s[2 * MAP_PLANES], *at = (__m256i *)(void *)(acc + 64 * plane);
            for (size_t o = 0; o < 2 * MAP_PLANES; o++)
                s[o] = _mm256_load_si256(at + o);
            for (size_t j = 0; j < now; j++)
                planes_add(s, maps[(from + j) * map_stride].tab + 32 * plane, in[j]);
            for (size_t o = 0; o < 2 * MAP_PLANES; o++)
                _mm256_store_si256(at + o, s[o]);
        }
    }
}

static void bitmap_finish(evec d, const uint8_t *acc) {
    planes_finish(d, acc);
}

static void bitmap_sum(evec d, const bitmap8 *maps, const uint8_t *bytes, size_t byte_stride, size_t count) {
    const __m256i half = _mm256_set1_epi8(15);
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES];
    if (count == 0 || count > MAP_RUN) {
        memset(acc, 0, sizeof acc);
        bitmap_accumulate(acc, maps, 1, bytes, byte_stride, count);
        bitmap_finish(d, acc);
        return;
    }
    __m256i in[MAP_RUN][4]; /* as in bitmap_accumulate */
    for (size_t j = 0; j < count; j++)
        for (size_t g = 0; g < 2; g++) {
            __m256i v = bytes_load(bytes + j * byte_stride + 32 * g);
            in[j][g] = _mm256_and_si256(v, half);
            in[j][2 + g] = _mm256_and_si256(_mm256_srli_epi16(v, 4), half);
        }
    for (size_t plane = 0; plane < 24; plane += MAP_PLANES) {
        __m256i s[2 * MAP_PLANES];
        for (size_t o = 0; o < 2 * MAP_PLANES; o++)
            s[o] = _mm256_setzero_si256();
        for (size_t j = 0; j < count; j++)
            planes_add(s, maps[j].tab + 32 * plane, in[j]);
        for (size_t o = 0; o < 2 * MAP_PLANES; o++)
            _mm256_store_si256((__m256i *)(void *)(acc + 64 * plane) + o, s[o]);
    }
    bitmap_finish(d, acc);
}

/* Exchanges the bits of a under mask << shift with those of b under mask. */
static inline void swap_bits(__m256i *a, __m256i *b, int shift, __m256i mask) {
    __m256i t = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64(*a, shift), *b), mask);
    *b = _mm256_xor_si256(*b, t);
    *a = _mm256_xor_si256(*a, _mm256_slli_epi64(t, shift));
}

static void bits_transpose8(uint8_t *out, size_t out_stride, const uint8_t *in, size_t in_stride) {
    const __m256i m4 = _mm256_set1_epi8(0x0f), m2 = _mm256_set1_epi8(0x33), m1 = _mm256_set1_epi8(0x55);
    for (size_t lanes = 0; lanes < 64; lanes += 32) {
        __m256i r[8];
        for (size_t i = 0; i < 8; i++)
            r[i] = _mm256_loadu_si256((const __m256i *)(const void *)(in + i * in_stride + lanes));
        for (size_t i = 0; i < 4; i++)
            swap_bits(&r[i], &r[i + 4], 4, m4);
        for (size_t i = 0; i < 8; i++)
            if (i % 4 < 2)
                swap_bits(&r[i], &r[i + 2], 2, m2);
        for (size_t i = 0; i < 8; i += 2)
            swap_bits(&r[i], &r[i + 1], 1, m1);
        for (size_t i = 0; i < 8; i++)
            _mm256_storeu_si256((__m256i *)(void *)(out + i * out_stride + lanes), r[i]);
    }
}

const sheaf_kernels sheaf_kernels_avx2 = {
    .name = "avx2",
    .keccak_f1600_x8 = keccak_f1600_x8_avx2,
    .keccak_digest_x8 = keccak_digest_x8_avx2,
    .gf192_mul = gf192_mul_words,
    .gf192_mul_k = gf192_mul_k_words,
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
    .bitmap_prepare = bitmap_prepare,
    .bitmap_accumulate = bitmap_accumulate,
    .bitmap_finish = bitmap_finish,
    .bitmap_sum = bitmap_sum,
    .bits_transpose8 = bits_transpose8,
    .sliced_linear = bits_sliced_linear_avx2,
    .sliced_chi = bits_sliced_chi_avx2,
    .grid_chi = bits_grid_chi_avx2,
};
