/* What the 256-bit back ends' maps on bytes share: the accumulator of 24 planes of 64 bytes, one for each
 * byte of an element.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_MAPS_X86_H
#define SHEAF_MAPS_X86_H

#include "intrinsics.h"
#include "../../common/kernels.h"

static inline __m128i map_word(const uint64_t *p) {
    return _mm_loadl_epi64((const __m128i *)(const void *)p);
}

/* Limb l of eight columns, byte by byte: half o % 2 of r[o / 2] has byte o of every column, column 0 lowest.
 */
static inline void map_bytes(__m128i r[4], const gf192 col[8], size_t l) {
    __m128i p[4], q[4];
    for (size_t i = 0; i < 4; i++)
        p[i] = _mm_unpacklo_epi8(map_word(&col[2 * i].c[l]), map_word(&col[2 * i + 1].c[l]));
    for (size_t i = 0; i < 4; i += 2) {
        q[i] = _mm_unpacklo_epi16(p[i], p[i + 1]);
        q[i + 1] = _mm_unpackhi_epi16(p[i], p[i + 1]);
    }
    for (size_t i = 0; i < 2; i++) {
        r[2 * i] = _mm_unpacklo_epi32(q[i], q[i + 2]);
        r[2 * i + 1] = _mm_unpackhi_epi32(q[i], q[i + 2]);
    }
}

/* Eight planes of 32 bytes to 32 words: interleavings of bytes, of pairs and of fours. */
static inline void planes_to_words(uint64_t *d, const uint8_t *acc) {
    __m256i p[8], q[8];
    for (size_t o = 0; o < 8; o++)
        p[o] = _mm256_load_si256((const __m256i *)(const void *)(acc + 64 * o));
    for (size_t o = 0; o < 8;
         o += 2) { /* q[o]: bytes (o, o+1) of lanes 0-7 and 16-23; q[o + 1]: of lanes 8-15 and 24-31 */
        q[o] = _mm256_unpacklo_epi8(p[o], p[o + 1]);
        q[o + 1] = _mm256_unpackhi_epi8(p[o], p[o + 1]);
    }
    for (size_t h = 0; h < 2; h++) {
        __m256i a = _mm256_unpacklo_epi16(q[h], q[2 + h]), b = _mm256_unpackhi_epi16(q[h], q[2 + h]);
        __m256i c = _mm256_unpacklo_epi16(q[4 + h], q[6 + h]), e = _mm256_unpackhi_epi16(q[4 + h], q[6 + h]);
        p[0] = _mm256_unpacklo_epi32(a, c); /* lanes 0, 1 and 16, 17 (with 8 more where h = 1) */
        p[1] = _mm256_unpackhi_epi32(a, c);
        p[2] = _mm256_unpacklo_epi32(b, e);
        p[3] = _mm256_unpackhi_epi32(b, e);
        for (size_t i = 0; i < 4; i += 2) {
            uint64_t *w = d + 8 * h + 2 * i;
            _mm256_store_si256((__m256i *)(void *)w, _mm256_permute2x128_si256(p[i], p[i + 1], 0x20));
            _mm256_store_si256((__m256i *)(void *)(w + 16), _mm256_permute2x128_si256(p[i], p[i + 1], 0x31));
        }
    }
}

static inline void planes_finish(evec d, const uint8_t *acc) {
    for (size_t l = 0; l < 3; l++)
        for (size_t lanes = 0; lanes < 64; lanes += 32)
            planes_to_words(d.p + l * d.stride + lanes, acc + 512 * l + lanes);
}

#endif
