/* F2-linear maps on bytes, and transposes of bits.   docs/protocol.md 8.4.   SPDX-License-Identifier: MIT OR
 * Apache-2.0
 *
 * A map's table has, for each of the 24 bytes of an element, the sixteen images of the low nibble and the
 * sixteen of the high one. The accumulator has 24 planes of 64 bytes: byte q of element i at 64 q + i. */
#include <string.h>
#include "kernels_simd128.h"

enum { BYTES = 24, MOST_AT_ONCE = 8 };

void bitmap_prepare_simd128(bitmap8 *m, const gf192 col[8]) {
    for (size_t half = 0; half < 2; half++) {
        const gf192 *c = col + 4 * half;
        for (size_t l = 0; l < 3; l++) {
            v128 words[8], planes[8]; /* entries k and k + 8 */
            const uint64_t c0 = c[0].c[l], c1 = c[1].c[l], c2 = c[2].c[l];
            const v128 from_8_on = wasm_u64x2_make(0, c[3].c[l]);
            for (size_t k = 0; k < 8; k++)
                words[k] =
                    XOR(from_8_on, wasm_u64x2_splat((k & 1 ? c0 : 0) ^ (k & 2 ? c1 : 0) ^ (k & 4 ? c2 : 0)));
            bytes_from_words(planes, words);
            for (size_t q = 0; q < 8; q++)
                store(m->tab + 32 * (8 * l + q) + 16 * half, planes[q]);
        }
    }
}

/* Two planes of the accumulator, so that a nibble is loaded once for both. */
static inline void accumulate_pair(uint8_t *acc, const bitmap8 *maps, size_t map_stride, size_t q,
                                   const v128 (*nibbles)[8], size_t count) {
    v128 s[8];
    for (size_t p = 0; p < 8; p++)
        s[p] = load(acc + 64 * q + 16 * p);
    for (size_t j = 0; j < count; j++) {
        const uint8_t *tab = maps[j * map_stride].tab + 32 * q;
        const v128 low0 = load(tab), high0 = load(tab + 16), low1 = load(tab + 32), high1 = load(tab + 48);
        for (size_t p = 0; p < 4; p++) {
            const v128 low = nibbles[j][p], high = nibbles[j][4 + p];
            s[p] = XOR(s[p], XOR(LOOK_UP(low0, low), LOOK_UP(high0, high)));
            s[4 + p] = XOR(s[4 + p], XOR(LOOK_UP(low1, low), LOOK_UP(high1, high)));
        }
    }
    for (size_t p = 0; p < 8; p++)
        store(acc + 64 * q + 16 * p, s[p]);
}

void bitmap_accumulate_simd128(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes,
                               size_t byte_stride, size_t count) {
    const v128 low_nibble = wasm_u8x16_splat(15);
    v128 nibbles[MOST_AT_ONCE][8];
    while (count > 0) {
        const size_t now = count < MOST_AT_ONCE ? count : MOST_AT_ONCE;
        for (size_t j = 0; j < now; j++)
            for (size_t p = 0; p < 4; p++) {
                v128 v = load(bytes + j * byte_stride + 16 * p);
                nibbles[j][p] = AND(v, low_nibble);
                nibbles[j][4 + p] = AND(wasm_u16x8_shr(v, 4), low_nibble);
            }
        for (size_t q = 0; q < BYTES; q += 2)
            accumulate_pair(acc, maps, map_stride, q, nibbles, now);
        maps += now * map_stride;
        bytes += now * byte_stride;
        count -= now;
    }
}

void bitmap_finish_simd128(evec d, const uint8_t *acc) {
    for (size_t l = 0; l < 3; l++)
        for (size_t p = 0; p < 4; p++) {
            v128 planes[8], words[8];
            for (size_t q = 0; q < 8; q++)
                planes[q] = load(acc + 64 * (8 * l + q) + 16 * p);
            words_from_bytes(words, planes);
            for (size_t k = 0; k < 8; k++)
                store(d.p + l * d.stride + 16 * p + 2 * k, words[k]);
        }
}

void bitmap_sum_simd128(evec d, const bitmap8 *maps, const uint8_t *bytes, size_t byte_stride, size_t count) {
    _Alignas(16) uint8_t acc[BITMAP_ACC_BYTES];
    memset(acc, 0, sizeof acc);
    bitmap_accumulate_simd128(acc, maps, 1, bytes, byte_stride, count);
    bitmap_finish_simd128(d, acc);
}

void bits_transpose8_simd128(uint8_t *out, size_t out_stride, const uint8_t *in, size_t in_stride) {
    for (size_t p = 0; p < 64; p += 16) {
        v128 r[8];
        for (size_t b = 0; b < 8; b++)
            r[b] = load(in + b * in_stride + p);
        transpose_bits(r);
        for (size_t j = 0; j < 8; j++)
            store(out + j * out_stride + p, r[j]);
    }
}
