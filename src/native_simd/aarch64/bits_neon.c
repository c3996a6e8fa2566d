/* Kernels on rows of 64 bytes by NEON.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A row is four registers. The linear half of a Keccak round moves whole rows and rotates each by a constant
 * number of bytes: that is one EXT a register of the result, where reading memory at an odd place just after
 * writing it would wait for the writes. */
#include "neon.h"

#include <arm_neon.h>

#define BITS(name) name
#define BITS_WIDTH 16
#define BITS_OWN_SLICED_LINEAR
#include "../../common/bits_kernels.h"

static inline uint8x16x4_t row_load(const uint8_t *p) {
    return (uint8x16x4_t){{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}};
}

static inline void row_store(uint8_t *p, uint8x16x4_t a) {
    vst1q_u8(p, a.val[0]);
    vst1q_u8(p + 16, a.val[1]);
    vst1q_u8(p + 32, a.val[2]);
    vst1q_u8(p + 48, a.val[3]);
}

static inline uint8x16x4_t row_xor(uint8x16x4_t a, uint8x16x4_t b) {
    return (uint8x16x4_t){{veorq_u8(a.val[0], b.val[0]), veorq_u8(a.val[1], b.val[1]),
                           veorq_u8(a.val[2], b.val[2]), veorq_u8(a.val[3], b.val[3])}};
}

/* Byte z to place z + n, for a constant n: part i begins n % 16 bytes before the end of part i - n / 16 - 1.
 */
#define ROTATED_PART(a, n, i)                                                                                \
    vextq_u8((a).val[((i) + 3 - (n) / 16 + ((n) % 16 == 0)) % 4], (a).val[((i) + 4 - (n) / 16) % 4],         \
             (16 - (n) % 16) % 16)
#define ROTATED(a, n)                                                                                        \
    ((uint8x16x4_t){                                                                                         \
        {ROTATED_PART(a, n, 0), ROTATED_PART(a, n, 1), ROTATED_PART(a, n, 2), ROTATED_PART(a, n, 3)}})

/* The empty statement keeps compilers from reading many rows ahead, for which there are no registers. */
#define LANE(to, l, r)                                                                                       \
    do {                                                                                                     \
        const uint8x16x4_t v = row_xor(row_load(in + 64 * (l)), d[(l) % 5]);                                 \
        row_store(out + 64 * (to), ROTATED(v, r));                                                           \
        __asm__ volatile("" : : : "memory");                                                                 \
    } while (0)

void sliced_linear_neon(uint8_t *restrict out, const uint8_t *restrict in) {
    uint8x16x4_t c[5], d[5];
    for (size_t x = 0; x < 5; x++) {
        c[x] = row_load(in + 64 * x);
        for (size_t y = 1; y < 5; y++)
            c[x] = row_xor(c[x], row_load(in + 64 * (x + 5 * y)));
    }
    for (size_t x = 0; x < 5; x++)
        d[x] = row_xor(c[(x + 4) % 5], ROTATED(c[(x + 1) % 5], 1));
    KECCAK_EACH_ROW(KECCAK_ROW_OF_LANES)
}

void sliced_chi_neon(uint8_t *a, const uint8_t *e, unsigned r) {
    sliced_chi(a, e, r);
}

void grid_chi_neon(uint8_t *out, size_t out_stride, const uint8_t *from, size_t lane_stride,
                   const grid_shape *shape) {
    grid_chi(out, out_stride, from, lane_stride, shape);
}

/* Exchanges the bits of a under the complement of the byte `mask` with those of b under mask, n places apart.
 */
#define EXCHANGE(a, b, n, mask)                                                                              \
    do {                                                                                                     \
        const uint8x16_t keep = vdupq_n_u8(mask), up = vshlq_n_u8(b, n), down = vshrq_n_u8(a, n);            \
        a = vbslq_u8(keep, a, up);                                                                           \
        b = vbslq_u8(keep, down, b);                                                                         \
    } while (0)

void bits_transpose8_neon(uint8_t *out, size_t out_stride, const uint8_t *in, size_t in_stride) {
    for (size_t p = 0; p < 64; p += 16) {
        uint8x16_t r[8];
        for (size_t i = 0; i < 8; i++)
            r[i] = vld1q_u8(in + i * in_stride + p);
        for (size_t i = 0; i < 4; i++) { /* the halves of bytes: shifts that insert do it alone */
            const uint8x16_t a = r[i];
            r[i] = vsliq_n_u8(a, r[i + 4], 4);
            r[i + 4] = vsriq_n_u8(r[i + 4], a, 4);
        }
        for (size_t i = 0; i < 8; i++)
            if (i % 4 < 2)
                EXCHANGE(r[i], r[i + 2], 2, 0x33);
        for (size_t i = 0; i < 8; i += 2)
            EXCHANGE(r[i], r[i + 1], 1, 0x55);
        for (size_t i = 0; i < 8; i++)
            vst1q_u8(out + i * out_stride + p, r[i]);
    }
}
