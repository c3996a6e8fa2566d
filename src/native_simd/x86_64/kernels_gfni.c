/* The AVX2 back end's maps on bytes where GFNI is there.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * GF2P8AFFINEQB multiplies each byte by an 8x8 bit matrix: bit i of the result is the parity of the byte
 * masked by byte 7 - i of the matrix. A map is 24 such matrices, one for each byte of an element. */
#include <string.h>
#include "cpu.h"
#include "intrinsics.h"
#include "maps_x86.h"

static void bitmap_prepare(bitmap8 *m, const gf192 col[8]) {
    /* With byte j of the constant being bit 7 - j alone, the instruction transposes its matrix operand: bit i
     * of byte j of the result is bit 7 - j of byte 7 - i. Row 7 - i of the operand must be column i of the
     * map, so the columns go in backwards. */
    const __m128i flip = _mm_set1_epi64x(0x0102040810204080);
    gf192 back[8];
    for (size_t c = 0; c < 8; c++)
        back[c] = col[7 - c];
    for (size_t l = 0; l < 3; l++) {
        __m128i r[4];
        map_bytes(r, back, l);
        for (size_t i = 0; i < 4; i++)
            _mm_store_si128((__m128i *)(void *)(m->tab + 64 * l + 16 * i),
                            _mm_gf2p8affine_epi64_epi8(flip, r[i], 0));
    }
}

static inline __m256i bytes_load(const uint8_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

enum { MAP_PLANES = 6 }; /* planes whose 64 lanes are in registers, beside one map's bytes and a matrix */

static inline void planes_add(__m256i s[2 * MAP_PLANES], const uint8_t *matrices, const uint8_t *bytes) {
    const __m256i in0 = bytes_load(bytes), in1 = bytes_load(bytes + 32);
    for (size_t o = 0; o < MAP_PLANES; o++) {
        uint64_t w;
        memcpy(&w, matrices + 8 * o, sizeof w);
        const __m256i matrix = _mm256_set1_epi64x((long long)w);
        s[2 * o] = _mm256_xor_si256(s[2 * o], _mm256_gf2p8affine_epi64_epi8(in0, matrix, 0));
        s[2 * o + 1] = _mm256_xor_si256(s[2 * o + 1], _mm256_gf2p8affine_epi64_epi8(in1, matrix, 0));
    }
}

/* As kernels.h has it for bitmap_accumulate; where `fresh` is set acc need not be zero before. */
static inline __attribute__((always_inline)) void accumulate(uint8_t *acc, const bitmap8 *maps,
                                                             size_t map_stride, const uint8_t *bytes,
                                                             size_t byte_stride, size_t count, int fresh) {
    for (size_t plane = 0; plane < 24; plane += MAP_PLANES) {
        __m256i s[2 * MAP_PLANES], *at = (__m256i *)(void *)(acc + 64 * plane);
        for (size_t o = 0; o < 2 * MAP_PLANES; o++)
            s[o] = fresh ? _mm256_setzero_si256() : _mm256_load_si256(at + o);
        for (size_t j = 0; j < count; j++)
            planes_add(s, maps[j * map_stride].tab + 8 * plane, bytes + j * byte_stride);
        for (size_t o = 0; o < 2 * MAP_PLANES; o++)
            _mm256_store_si256(at + o, s[o]);
    }
}

static void bitmap_accumulate(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes,
                              size_t byte_stride, size_t count) {
    accumulate(acc, maps, map_stride, bytes, byte_stride, count, 0);
}

static void bitmap_finish(evec d, const uint8_t *acc) {
    planes_finish(d, acc);
}

static void bitmap_sum(evec d, const bitmap8 *maps, const uint8_t *bytes, size_t byte_stride, size_t count) {
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES];
    accumulate(acc, maps, 1, bytes, byte_stride, count, 1);
    planes_finish(d, acc);
}

const sheaf_kernels sheaf_kernels_gfni = {
    .name = "avx2",
    .bitmap_prepare = bitmap_prepare,
    .bitmap_accumulate = bitmap_accumulate,
    .bitmap_finish = bitmap_finish,
    .bitmap_sum = bitmap_sum,
};
