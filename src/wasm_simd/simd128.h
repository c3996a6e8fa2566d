/* Short names for WebAssembly's vector instructions, and byte transposes.   SPDX-License-Identifier: MIT OR
 * Apache-2.0 */
#ifndef SHEAF_SIMD128_H
#define SHEAF_SIMD128_H

#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

typedef v128_t v128;

/* table[index] for sixteen indices of 0..15 at once. The relaxed form is free to do as it likes with other
 * indices, and is one instruction where the strict one is two. */
#ifdef __wasm_relaxed_simd__
#define SIMD128_NAME "simd128 (relaxed)"
#define LOOK_UP(table, index) wasm_i8x16_relaxed_swizzle(table, index)
#else
#define SIMD128_NAME "simd128"
#define LOOK_UP(table, index) wasm_i8x16_swizzle(table, index)
#endif
#define XOR(a, b) wasm_v128_xor(a, b)
#define AND(a, b) wasm_v128_and(a, b)

static inline v128 load(const void *p) {
    return wasm_v128_load(p);
}
static inline void store(void *p, v128 a) {
    wasm_v128_store(p, a);
}

/* Interleave the lower, or the higher, halves of two vectors. */
#define LOW8(a, b) wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH8(a, b) wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW16(a, b) wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH16(a, b) wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW32(a, b) wasm_i32x4_shuffle(a, b, 0, 4, 1, 5)
#define HIGH32(a, b) wasm_i32x4_shuffle(a, b, 2, 6, 3, 7)
#define LOW64(a, b) wasm_i64x2_shuffle(a, b, 0, 2)
#define HIGH64(a, b) wasm_i64x2_shuffle(a, b, 1, 3)
#define SWAP64(a) wasm_i64x2_shuffle(a, a, 1, 0)

/* Sixteen words, 0 and 8, 1 and 9, ..., 7 and 15 in one vector each, as planes: byte i of out[q] is byte q of
 * word i. */
static inline void bytes_from_words(v128 out[8], const v128 in[8]) {
    v128 a[8], b[8];
    for (size_t k = 0; k < 4; k++) { /* two words, of which the second half of a has those from 8 on */
        a[k] = LOW8(in[2 * k], in[2 * k + 1]);
        a[4 + k] = HIGH8(in[2 * k], in[2 * k + 1]);
    }
    for (size_t k = 0; k < 4; k++) { /* four words: bytes 0..3 of them, and bytes 4..7 */
        b[k] = LOW16(a[2 * k], a[2 * k + 1]);
        b[4 + k] = HIGH16(a[2 * k], a[2 * k + 1]);
    }
    for (size_t k = 0; k < 4; k++) { /* eight words: two bytes of each */
        a[k] = LOW32(b[2 * k], b[2 * k + 1]);
        a[4 + k] = HIGH32(b[2 * k], b[2 * k + 1]);
    }
    /* a: bytes 01 of words 0..7, of words 8..15; bytes 45 of both; then 23 and 67 */
    for (size_t k = 0; k < 4; k++) {
        const size_t q = 4 * (k % 2) + k / 2 * 2;
        out[q] = LOW64(a[2 * k], a[2 * k + 1]);
        out[q + 1] = HIGH64(a[2 * k], a[2 * k + 1]);
    }
}

/* Back again, but with neighbours in one vector: words 0 and 1, 2 and 3, ..., 14 and 15. */
static inline void words_from_bytes(v128 out[8], const v128 in[8]) {
    v128 a[8], b[8];
    for (size_t q = 0; q < 4; q++) { /* two bytes of each word */
        a[2 * q] = LOW8(in[2 * q], in[2 * q + 1]);
        a[2 * q + 1] = HIGH8(in[2 * q], in[2 * q + 1]);
    }
    for (size_t h = 0; h < 2; h++) /* four bytes of words 8h .. 8h + 7 */
        for (size_t q = 0; q < 2; q++) {
            b[4 * h + 2 * q] = LOW16(a[4 * q + h], a[4 * q + 2 + h]);
            b[4 * h + 2 * q + 1] = HIGH16(a[4 * q + h], a[4 * q + 2 + h]);
        }
    for (size_t h = 0; h < 4; h++) { /* all bytes of words 4h .. 4h + 3 */
        size_t at = h / 2 * 4 + h % 2;
        out[2 * h] = LOW32(b[at], b[at + 2]);
        out[2 * h + 1] = HIGH32(b[at], b[at + 2]);
    }
}

/* Eight words x (in[0..3]) and eight words y (in[4..7]): out[q] has byte q of x's in its lower half and of
 * y's in its higher one, the words in the order 0, 4, 2, 6, 1, 5, 3, 7. And back. */
static inline void halves_from_words(v128 out[8], const v128 in[8]) {
    v128 e[8];
    for (size_t h = 0; h < 8; h += 4) {
        const v128 c0 = LOW8(in[h], in[h + 2]), c1 = HIGH8(in[h], in[h + 2]); /* words 0, 4 and 1, 5 */
        const v128 c2 = LOW8(in[h + 1], in[h + 3]),
                   c3 = HIGH8(in[h + 1], in[h + 3]); /* words 2, 6 and 3, 7 */
        const v128 d0 = LOW16(c0, c2), d1 = HIGH16(c0, c2), d2 = LOW16(c1, c3), d3 = HIGH16(c1, c3);
        e[h] = LOW32(d0, d2);
        e[h + 1] = HIGH32(d0, d2);
        e[h + 2] = LOW32(d1, d3);
        e[h + 3] = HIGH32(d1, d3);
    }
    for (size_t q = 0; q < 4; q++) {
        out[2 * q] = LOW64(e[q], e[4 + q]);
        out[2 * q + 1] = HIGH64(e[q], e[4 + q]);
    }
}

static inline void words_from_halves(v128 out[8], const v128 in[8]) {
    for (size_t h = 0; h < 2; h++) {
        v128 e[4], d[4], c[4];         /* each pair of bytes, then each four, then all eight */
        for (size_t q = 0; q < 4; q++) /* byte 2q and 2q + 1 of words 0, 4, 2, 6, 1, 5, 3, 7 */
            e[q] = h == 0 ? LOW8(in[2 * q], in[2 * q + 1]) : HIGH8(in[2 * q], in[2 * q + 1]);
        d[0] = LOW16(e[0], e[1]); /* bytes 0..3 of words 0, 4, 2, 6 */
        d[1] = HIGH16(e[0], e[1]);
        d[2] = LOW16(e[2], e[3]); /* bytes 4..7 */
        d[3] = HIGH16(e[2], e[3]);
        c[0] = LOW32(d[0], d[2]);  /* words 0, 4 */
        c[1] = HIGH32(d[0], d[2]); /* words 2, 6 */
        c[2] = LOW32(d[1], d[3]);  /* words 1, 5 */
        c[3] = HIGH32(d[1], d[3]); /* words 3, 7 */
        out[4 * h] = LOW64(c[0], c[2]);
        out[4 * h + 1] = LOW64(c[1], c[3]);
        out[4 * h + 2] = HIGH64(c[0], c[2]);
        out[4 * h + 3] = HIGH64(c[1], c[3]);
    }
}

/* Exchanges the bits of `mask`, shifted up by n, of a with those of b. */
#define EXCHANGE(a, b, n, mask)                                                                              \
    do {                                                                                                     \
        const v128 t_ = AND(XOR(wasm_u64x2_shr(a, n), b), wasm_u8x16_splat(mask));                           \
        b = XOR(b, t_);                                                                                      \
        a = XOR(a, wasm_i64x2_shl(t_, n));                                                                   \
    } while (0)

/* In every byte position: bit j of row b becomes bit b of row j. */
static inline void transpose_bits(v128 r[8]) {
    for (size_t i = 0; i < 4; i++)
        EXCHANGE(r[i], r[i + 4], 4, 0x0f);
    for (size_t i = 0; i < 8; i += (i & 1) ? 3 : 1)
        EXCHANGE(r[i], r[i + 2], 2, 0x33);
    for (size_t i = 0; i < 8; i += 2)
        EXCHANGE(r[i], r[i + 1], 1, 0x55);
}

#endif
