/* F2-linear maps on bytes by table look-ups.   docs/protocol.md 8.4.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "neon.h"

#include <arm_neon.h>

#define XOR3(a, b, c) veorq_u8(veorq_u8(a, b), c)
#include "bitmap_neon.h"

BITMAP_KERNELS(neon)

/* Interleavings of bytes, of pairs and of fours. */
#define ZIP(lo, hi, type, a, b)                                                                              \
    do {                                                                                                     \
        const uint8x16_t x = a, y = b;                                                                       \
        lo = vreinterpretq_u8_##type(                                                                        \
            vzip1q_##type(vreinterpretq_##type##_u8(x), vreinterpretq_##type##_u8(y)));                      \
        hi = vreinterpretq_u8_##type(                                                                        \
            vzip2q_##type(vreinterpretq_##type##_u8(x), vreinterpretq_##type##_u8(y)));                      \
    } while (0)
#define vreinterpretq_u8_u8(a) (a)

/* Sixteen words, 0 and 8, 1 and 9, ..., 7 and 15 in a register each, as planes: out[q] has byte q of each. */
static inline void planes_of_words(uint8x16_t out[8], const uint8x16_t in[8]) {
    uint8x16_t p[8], q[8];
    for (size_t i = 0; i < 4; i++) /* p[i]: words 2i, 2i + 1; p[4 + i]: the same and 8 on */
        ZIP(p[i], p[4 + i], u8, in[2 * i], in[2 * i + 1]);
    for (size_t h = 0; h < 8; h += 4)
        for (size_t i = 0; i < 2; i++) /* q[h + 2i]: bytes 0 to 3 of words 4i to 4i + 3 */
            ZIP(q[h + 2 * i], q[h + 2 * i + 1], u16, p[h + 2 * i], p[h + 2 * i + 1]);
    for (size_t h = 0; h < 8; h += 4)
        for (size_t i = 0; i < 2; i++) /* p[h + 2i]: bytes 4i, 4i + 1 of eight words */
            ZIP(p[h + 2 * i], p[h + 2 * i + 1], u32, q[h + i], q[h + 2 + i]);
    for (size_t i = 0; i < 4; i++)
        ZIP(out[2 * i], out[2 * i + 1], u64, p[i], p[4 + i]);
}

void bitmap_prepare_neon(bitmap8 *m, const gf192 col[8]) {
    /* For either half of the input the four sums of its first two columns and those of its last two: entry i
     * of a table is the sum of those at i % 4 and at i / 4. */
    const uint8x16_t low = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
    const uint8x16_t high = {8, 8, 8, 8, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11};
    const uint8x16_t four = vdupq_n_u8(4);
    for (size_t l = 0; l < 3; l++) {
        uint8x16_t words[8], planes[8];
        for (size_t half = 0; half < 2; half++) {
            const gf192 *c = col + 4 * half;
            const uint64x2_t zero = vdupq_n_u64(0);
            const uint64x2_t c0 = vcombine_u64(vcreate_u64(c[0].c[l]), vcreate_u64(c[2].c[l]));
            const uint64x2_t c1 = vcombine_u64(vcreate_u64(c[1].c[l]), vcreate_u64(c[3].c[l]));
            words[4 * half] = vreinterpretq_u8_u64(zero);
            words[4 * half + 1] = vreinterpretq_u8_u64(c0);
            words[4 * half + 2] = vreinterpretq_u8_u64(c1);
            words[4 * half + 3] = vreinterpretq_u8_u64(veorq_u64(c0, c1));
        }
        planes_of_words(planes, words);
        for (size_t q = 0; q < 8; q++) {
            uint8_t *t = m->tab + 32 * (8 * l + q);
            vst1q_u8(t, veorq_u8(vqtbl1q_u8(planes[q], low), vqtbl1q_u8(planes[q], high)));
            vst1q_u8(t + 16, veorq_u8(vqtbl1q_u8(planes[q], vaddq_u8(low, four)),
                                      vqtbl1q_u8(planes[q], vaddq_u8(high, four))));
        }
    }
}

/* Eight planes of 16 lanes to 16 words. */
static inline void words_of_planes(uint64_t *d, const uint8_t *acc) {
    uint8x16_t p[8], q[8];
    for (size_t o = 0; o < 8; o += 2) /* q[o]: bytes o, o + 1 of lanes 0 to 7; q[o + 1]: of lanes 8 to 15 */
        ZIP(q[o], q[o + 1], u8, vld1q_u8(acc + 64 * o), vld1q_u8(acc + 64 * o + 64));
    for (size_t h = 0; h < 2; h++)
        for (size_t o = 0; o < 4;
             o += 2) /* p[4h + o]: four bytes of lanes 8h to 8h + 3; p[4h + o + 1]: of the next four */
            ZIP(p[4 * h + o], p[4 * h + o + 1], u16, q[2 * o + h], q[2 * o + 2 + h]);
    for (size_t h = 0; h < 4; h++) { /* lanes 4h to 4h + 3 */
        uint8x16_t lo, hi;
        ZIP(lo, hi, u32, p[h / 2 * 4 + h % 2], p[h / 2 * 4 + 2 + h % 2]);
        vst1q_u64(d + 4 * h, vreinterpretq_u64_u8(lo));
        vst1q_u64(d + 4 * h + 2, vreinterpretq_u64_u8(hi));
    }
}

void bitmap_finish_neon(evec d, const uint8_t *acc) {
    for (size_t l = 0; l < 3; l++)
        for (size_t lanes = 0; lanes < 64; lanes += 16)
            words_of_planes(d.p + l * d.stride + lanes, acc + 512 * l + lanes);
}
