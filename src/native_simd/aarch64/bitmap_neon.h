/* Sums of images of F2-linear maps on bytes.   docs/protocol.md 8.4.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by one file a set of instructions, after it has defined XOR3, the sum of three vectors of bytes.
 *
 * A map is, for each of the 24 bytes of an element, a table of 16 bytes for the input's low half and one for
 * its high half. The accumulator is 24 planes of 64 bytes, one for each byte of an element. */
#ifndef SHEAF_BITMAP_NEON_H
#define SHEAF_BITMAP_NEON_H

#include <arm_neon.h>
#include <string.h>

#include "neon.h"

enum {
    MAP_RUN = 32,  /* maps a pass */
    MAP_PLANES = 3 /* planes at once, of all 64 lanes: with the halves of the bytes and a table they fill the
                      registers */
};

/* MAP_PLANES planes, at most MAP_RUN maps. halves[j]: low halves of 64 lanes, then high ones. */
static inline __attribute__((always_inline)) void accumulate_planes(uint8_t *acc, const uint8_t *tables,
                                                                    size_t table_stride,
                                                                    uint8x16_t (*halves)[8], size_t count,
                                                                    int fresh) {
    uint8x16_t s[4 * MAP_PLANES];
    for (size_t i = 0; i < 4 * MAP_PLANES; i++)
        s[i] = fresh ? vdupq_n_u8(0) : vld1q_u8(acc + 16 * i);
    for (size_t j = 0; j < count; j++, tables += table_stride)
        for (size_t o = 0; o < MAP_PLANES; o++) {
            const uint8x16_t lo = vld1q_u8(tables + 32 * o), hi = vld1q_u8(tables + 32 * o + 16);
            for (size_t p = 0; p < 4; p++)
                s[4 * o + p] =
                    XOR3(s[4 * o + p], vqtbl1q_u8(lo, halves[j][p]), vqtbl1q_u8(hi, halves[j][4 + p]));
        }
    for (size_t i = 0; i < 4 * MAP_PLANES; i++)
        vst1q_u8(acc + 16 * i, s[i]);
}

/* As kernels.h has it for bitmap_accumulate; where `fresh` is set acc need not be zero before. */
static inline __attribute__((always_inline)) void accumulate(uint8_t *acc, const bitmap8 *maps,
                                                             size_t map_stride, const uint8_t *bytes,
                                                             size_t byte_stride, size_t count, int fresh) {
    const uint8x16_t low_half = vdupq_n_u8(15);
    uint8x16_t halves[MAP_RUN][8];
    if (fresh && count == 0)
        memset(acc, 0, BITMAP_ACC_BYTES);
    for (size_t from = 0; from < count; from += MAP_RUN) {
        const size_t now = count - from < MAP_RUN ? count - from : MAP_RUN;
        for (size_t j = 0; j < now; j++)
            for (size_t p = 0; p < 4; p++) {
                const uint8x16_t v = vld1q_u8(bytes + (from + j) * byte_stride + 16 * p);
                halves[j][p] = vandq_u8(v, low_half);
                halves[j][4 + p] = vshrq_n_u8(v, 4);
            }
        for (size_t plane = 0; plane < 24; plane += MAP_PLANES)
            accumulate_planes(acc + 64 * plane, maps[from * map_stride].tab + 32 * plane,
                              map_stride * sizeof *maps, halves, now, fresh && from == 0);
    }
}

/* The two kernels, under names that end in isa. */
#define BITMAP_KERNELS(isa)                                                                                  \
    void bitmap_accumulate_##isa(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes, \
                                 size_t byte_stride, size_t count) {                                         \
        accumulate(acc, maps, map_stride, bytes, byte_stride, count, 0);                                     \
    }                                                                                                        \
    void bitmap_sum_##isa(evec d, const bitmap8 *maps, const uint8_t *bytes, size_t byte_stride,             \
                          size_t count) {                                                                    \
        _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES];                                                          \
        accumulate(acc, maps, 1, bytes, byte_stride, count, 1);                                              \
        bitmap_finish_neon(d, acc);                                                                          \
    }

#endif
