/* The AVX-512 back end: VPCLMULQDQ on 512-bit registers, and GFNI for the byte maps. SPDX-License-Identifier:
 * MIT OR Apache-2.0
 */
#include "cpu.h"
#include "intrinsics.h"
#include "bits_x86.h"
#include "keccak_x86.h"
#include <string.h>

typedef __m512i vec;
#define VEC_WORDS 8

static inline vec vec_load(const uint64_t *p) {
    return _mm512_load_si512((const void *)p);
}
static inline vec vec_loadu(const uint64_t *p) {
    return _mm512_loadu_si512((const void *)p);
}
static inline void vec_store(uint64_t *p, vec v) {
    _mm512_store_si512((void *)p, v);
}
static inline vec vec_set1(uint64_t a) {
    return _mm512_set1_epi64((long long)a);
}
static inline vec vec_zero(void) {
    return _mm512_setzero_si512();
}
static inline vec vec_xor(vec a, vec b) {
    return _mm512_xor_si512(a, b);
}
static inline vec vec_xor3(vec a, vec b, vec c) {
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}
static inline vec vec_clmul_lo(vec a, vec b) {
    return _mm512_clmulepi64_epi128(a, b, 0x00);
}
static inline vec vec_clmul_hi(vec a, vec b) {
    return _mm512_clmulepi64_epi128(a, b, 0x11);
}
static inline vec vec_unpack_lo(vec a, vec b) {
    return _mm512_unpacklo_epi64(a, b);
}
static inline vec vec_unpack_hi(vec a, vec b) {
    return _mm512_unpackhi_epi64(a, b);
}

/* hi (x^4 + x^3 + x + 1), a byte at a time: the low half of a byte's product stays at its place, the high
 * half belongs to the byte above. That of the highest byte, four bits, is past the top: it comes in at the
 * lowest byte once more, whose product is then no longer than that byte. The matrices are those of
 * GF2P8AFFINEQB, where bit i of the result is the parity of the byte masked by byte 7 - i. */
#define VEC_REDUCE_ADD
static inline vec vec_reduce_add(vec lo, vec hi, vec add) {
    const vec low = vec_set1(0x0103060d1b366cd8u), high = vec_set1(0xb060c08000000000u);
    const vec lowest = vec_set1(0xff);
    const vec above = _mm512_rol_epi64(_mm512_gf2p8affine_epi64_epi8(hi, high, 0), 8);
    hi = _mm512_ternarylogic_epi64(hi, above, lowest, 0x78); /* hi + (above & lowest) */
    lo = _mm512_ternarylogic_epi64(lo, above, lowest, 0xb4); /* lo + (above & ~lowest) */
    return vec_xor3(lo, _mm512_gf2p8affine_epi64_epi8(hi, low, 0), add);
}

#define VEC_LANE_SUMS
static inline vec vec_lane_sums(vec a, vec b, vec c) {
    vec ab = vec_xor(_mm512_shuffle_i32x4(a, b, 0x44), _mm512_shuffle_i32x4(a, b, 0xee));
    vec cc = vec_xor(c, _mm512_shuffle_i32x4(c, c, 0x4e));
    return vec_xor(_mm512_shuffle_i32x4(ab, cc, 0x88), _mm512_shuffle_i32x4(ab, cc, 0xdd));
}

#include "../clmul_kernels.h"

static inline vec indices(long long i0, long long i1, long long i2, long long i3, long long i4, long long i5,
                          long long i6, long long i7) {
    return _mm512_setr_epi64(i0, i1, i2, i3, i4, i5, i6, i7);
}

/* Two blocks of 8 words, A in x and B in y. In pairs of words, x = A01 A23 A45 A67 and y likewise; before
 * each layer the partners are brought to the same place of two registers, and the twiddles to the order that
 * this gives. */
static inline void tail_pair(vec *x, vec *y, const uint64_t *t4, const uint64_t *t2, const uint64_t *t1) {
    vec w4 = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)t4));
    vec w2 = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)t2));
    vec w1 = vec_loadu(t1);
    vec u = _mm512_shuffle_i32x4(*x, *y, 0x44),
        v = _mm512_shuffle_i32x4(*x, *y, 0xee); /* A01 A23 B01 B23; A45 A67 B45 B67 */
    butterfly(&u, &v, _mm512_permutexvar_epi64(indices(0, 0, 0, 0, 1, 1, 1, 1), w4));
    vec p = _mm512_shuffle_i32x4(u, v, 0x88),
        q = _mm512_shuffle_i32x4(u, v, 0xdd); /* A01 B01 A45 B45; A23 B23 A67 B67 */
    butterfly(&p, &q, _mm512_permutexvar_epi64(indices(0, 0, 2, 2, 1, 1, 3, 3), w2));
    u = vec_unpack_lo(p, q); /* A02 B02 A46 B46; A13 B13 A57 B57 */
    v = vec_unpack_hi(p, q);
    butterfly(&u, &v, _mm512_shuffle_i32x4(w1, w1, 0xd8));
    p = vec_unpack_lo(u, v);
    q = vec_unpack_hi(u, v);
    *x = _mm512_permutex2var_epi64(p, indices(0, 1, 8, 9, 4, 5, 12, 13), q);
    *y = _mm512_permutex2var_epi64(p, indices(2, 3, 10, 11, 6, 7, 14, 15), q);
}

static void ntt_tail8(uint64_t *a, const uint64_t *t4, const uint64_t *t2, const uint64_t *t1, size_t n) {
    size_t b = 0;
    for (; b + 1 < n / 8; b += 2) {
        vec x = vec_load(a + 8 * b), y = vec_load(a + 8 * b + 8);
        tail_pair(&x, &y, t4 + b, t2 + 2 * b, t1 + 4 * b);
        vec_store(a + 8 * b, x);
        vec_store(a + 8 * b + 8, y);
    }
    if (b < n / 8) { /* one block is left: beside it one of zeros */
        uint64_t s4[2] = {t4[b], 0}, s2[4] = {t2[2 * b], t2[2 * b + 1], 0, 0}, s1[8] = {0};
        memcpy(s1, t1 + 4 * b, 4 * sizeof *s1);
        vec x = vec_load(a + 8 * b), y = vec_zero();
        tail_pair(&x, &y, s4, s2, s1);
        vec_store(a + 8 * b, x);
    }
}

/* 32 words are four registers. */
#define NTT_TAIL_LOG 5
static inline void ntt_tail(uint64_t *to, const uint64_t *from, const uint64_t *tw, unsigned log) {
    const size_t blocks = (size_t)1 << (log - 5);
    const uint64_t *t16 = tw + blocks, *t8 = tw + 2 * blocks, *t4 = tw + 4 * blocks, *t2 = tw + 8 * blocks,
                   *t1 = tw + 16 * blocks;
    for (size_t b = 0; b < blocks; b++) {
        vec x[4];
        for (size_t j = 0; j < 4; j++)
            x[j] = vec_load(from + 32 * b + 8 * j);
        butterfly(&x[0], &x[2], vec_set1(t16[b]));
        butterfly(&x[1], &x[3], vec_set1(t16[b]));
        for (size_t h = 0; h < 2; h++) {
            butterfly(&x[2 * h], &x[2 * h + 1], vec_set1(t8[2 * b + h]));
            tail_pair(&x[2 * h], &x[2 * h + 1], t4 + 4 * b + 2 * h, t2 + 8 * b + 4 * h, t1 + 16 * b + 8 * h);
        }
        for (size_t j = 0; j < 4; j++)
            vec_store(to + 32 * b + 8 * j, x[j]);
    }
}

#include "../ntt_kernels.h"

/* ---- maps on bytes ----
 * GF2P8AFFINEQB multiplies each byte by an 8x8 bit matrix: bit i of the result is the parity of the byte
 * masked by byte 7 - i of the matrix. A map is 24 such matrices, one for each byte of an element; the
 * accumulator is 24 planes of 64 bytes, in the order that bytes_load gives them. */

static void bitmap_prepare(bitmap8 *m, const gf192 col[8]) {
    /* With byte j of the constant being bit 7 - j alone, the instruction transposes its matrix operand: bit i
     * of byte j of the result is bit 7 - j of byte 7 - i. Row 7 - i of the operand must be column i of the
     * map, so the columns go in backwards. */
    const vec flip = vec_set1(0x0102040810204080u);
    /* Within a lane the bytes of its two words alternate; then 16-bit units from the four lanes come
     * together. */
    const vec pairs =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    const vec units = _mm512_set_epi16(31, 23, 15, 7, 30, 22, 14, 6, 29, 21, 13, 5, 28, 20, 12, 4, 27, 19, 11,
                                       3, 26, 18, 10, 2, 25, 17, 9, 1, 24, 16, 8, 0);
    for (size_t l = 0; l < 3; l++) {
        _Alignas(64) uint64_t w[8];
        for (size_t c = 0; c < 8; c++)
            w[c] = col[7 - c].c[l];
        vec bytes = _mm512_permutexvar_epi16(units, _mm512_shuffle_epi8(vec_load(w), pairs));
        _mm512_store_si512((void *)(m->tab + 64 * l), _mm512_gf2p8affine_epi64_epi8(flip, bytes, 0));
    }
}

static inline vec map_image(vec bytes, const uint8_t *matrix) {
    uint64_t w;
    memcpy(&w, matrix, sizeof w);
    return _mm512_gf2p8affine_epi64_epi8(bytes, vec_set1(w), 0);
}

/* In lane L, at 8h + 2i + b, the byte of element 32h + 8i + 2L + b: three layers of interleavings then make
 * words of planes in the elements' order. */
static inline vec bytes_load(const uint8_t *bytes) {
#define FROM(h, lane) (0x1918111009080100 + (32 * (h) + 2 * (lane)) * 0x0101010101010101)
    const vec from = indices(FROM(0, 0), FROM(1, 0), FROM(0, 1), FROM(1, 1), FROM(0, 2), FROM(1, 2),
                             FROM(0, 3), FROM(1, 3));
#undef FROM
    return _mm512_permutexvar_epi8(from, _mm512_loadu_si512((const void *)bytes));
}

#define PLANES 24

/* Adds to n planes, of which the first one's matrix is at `skip` in a map. Loops over planes are unrolled by
 * demand, and early: else compilers keep the planes in memory. */
static inline __attribute__((always_inline)) void planes_add(vec *s, const size_t n, size_t skip,
                                                             const bitmap8 *maps, size_t map_stride,
                                                             const uint8_t *bytes, size_t byte_stride,
                                                             size_t count) {
    size_t j = 0;
    for (; j + 1 < count; j += 2) {
        const uint8_t *t0 = maps[j * map_stride].tab + skip, *t1 = maps[(j + 1) * map_stride].tab + skip;
        const vec b0 = bytes_load(bytes + j * byte_stride), b1 = bytes_load(bytes + (j + 1) * byte_stride);
#pragma GCC unroll 24
        for (size_t o = 0; o < n; o++)
            s[o] = vec_xor3(s[o], map_image(b0, t0 + 8 * o), map_image(b1, t1 + 8 * o));
    }
    if (j < count) {
        const uint8_t *t0 = maps[j * map_stride].tab + skip;
        const vec b0 = bytes_load(bytes + j * byte_stride);
#pragma GCC unroll 24
        for (size_t o = 0; o < n; o++)
            s[o] = vec_xor(s[o], map_image(b0, t0 + 8 * o));
    }
}

static void bitmap_accumulate(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes,
                              size_t byte_stride, size_t count) {
    vec s[PLANES];
#pragma GCC unroll 24
    for (size_t o = 0; o < PLANES; o++)
        s[o] = _mm512_load_si512((const void *)(acc + 64 * o));
    planes_add(s, PLANES, 0, maps, map_stride, bytes, byte_stride, count);
#pragma GCC unroll 24
    for (size_t o = 0; o < PLANES; o++)
        _mm512_store_si512((void *)(acc + 64 * o), s[o]);
}

/* Eight planes of 64 bytes to 64 words: interleavings of bytes, of pairs and of fours. */
static inline void planes_to_words(uint64_t *d, const vec planes[8]) {
    vec q[8];
#pragma GCC unroll 4
    for (size_t o = 0; o < 8; o += 2) { /* q[o]: the low half of each lane; q[o + 1]: the high one */
        q[o] = _mm512_unpacklo_epi8(planes[o], planes[o + 1]);
        q[o + 1] = _mm512_unpackhi_epi8(planes[o], planes[o + 1]);
    }
#pragma GCC unroll 2
    for (size_t h = 0; h < 2; h++) {
        vec a = _mm512_unpacklo_epi16(q[h], q[2 + h]), b = _mm512_unpackhi_epi16(q[h], q[2 + h]);
        vec c = _mm512_unpacklo_epi16(q[4 + h], q[6 + h]), e = _mm512_unpackhi_epi16(q[4 + h], q[6 + h]);
        vec_store(d + 32 * h, _mm512_unpacklo_epi32(a, c));
        vec_store(d + 32 * h + 8, _mm512_unpackhi_epi32(a, c));
        vec_store(d + 32 * h + 16, _mm512_unpacklo_epi32(b, e));
        vec_store(d + 32 * h + 24, _mm512_unpackhi_epi32(b, e));
    }
}

static void bitmap_finish(evec d, const uint8_t *acc) {
    for (size_t l = 0; l < 3; l++) {
        vec planes[8];
#pragma GCC unroll 8
        for (size_t o = 0; o < 8; o++)
            planes[o] = _mm512_load_si512((const void *)(acc + 64 * (8 * l + o)));
        planes_to_words(d.p + l * d.stride, planes);
    }
}

/* Limb by limb: a processor puts one limb's bytes together while it maps to the next one's. */
static void bitmap_sum(evec d, const bitmap8 *maps, const uint8_t *bytes, size_t byte_stride, size_t count) {
    for (size_t l = 0; l < 3; l++) {
        vec s[8];
#pragma GCC unroll 8
        for (size_t o = 0; o < 8; o++)
            s[o] = vec_zero();
        planes_add(s, 8, 64 * l, maps, 1, bytes, byte_stride, count);
        planes_to_words(d.p + l * d.stride, s);
    }
}

/* Exchanges the bits of a under mask << shift with those of b under mask; the selections are mask ? x : y. */
static inline void swap_bits(vec *a, vec *b, unsigned shift, vec mask) {
    vec up = _mm512_slli_epi64(*b, shift), down = _mm512_srli_epi64(*a, shift);
    *a = _mm512_ternarylogic_epi64(mask, *a, up, 0xca);
    *b = _mm512_ternarylogic_epi64(mask, down, *b, 0xca);
}

static void bits_transpose8(uint8_t *out, size_t out_stride, const uint8_t *in, size_t in_stride) {
    const vec m4 = vec_set1(0x0f0f0f0f0f0f0f0fu), m2 = vec_set1(0x3333333333333333u),
              m1 = vec_set1(0x5555555555555555u);
    vec r[8];
    for (size_t i = 0; i < 8; i++)
        r[i] = _mm512_loadu_si512((const void *)(in + i * in_stride));
    for (size_t i = 0; i < 4; i++)
        swap_bits(&r[i], &r[i + 4], 4, m4);
    for (size_t i = 0; i < 8; i++)
        if (i % 4 < 2)
            swap_bits(&r[i], &r[i + 2], 2, m2);
    for (size_t i = 0; i < 8; i += 2)
        swap_bits(&r[i], &r[i + 1], 1, m1);
    for (size_t i = 0; i < 8; i++)
        _mm512_storeu_si512((void *)(out + i * out_stride), r[i]);
}

const sheaf_kernels sheaf_kernels_avx512 = {
    .name = "avx512",
    .keccak_f1600_x8 = keccak_f1600_x8_avx512,
    .keccak_digest_x8 = keccak_digest_x8_avx512,
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
    .sliced_linear = bits_sliced_linear_avx512,
    .sliced_chi = bits_sliced_chi_avx512,
    .grid_chi = bits_grid_chi_avx512,
};
