/* Kernels on rows of 64 bytes: one source, compiled once a back end with that back end's instructions (include it once, with
 * BITS(name) giving the functions' names and BITS_WIDTH the bytes of a register). What they do is said in kernels.h.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_BITS_KERNELS_H
#define SHEAF_BITS_KERNELS_H

#include <string.h>
#include "hash/keccak.h"

/* A part of a row: one register of the target, BITS_WIDTH bytes. Wider vectors than the target has make poor code. */
typedef uint64_t bits_part __attribute__((vector_size(BITS_WIDTH), aligned(1), may_alias));

#define BITS_PART(p) (*(bits_part *)(p))
#define BITS_PART_C(p) (*(const bits_part *)(p))
#define BITS_EACH_PART(q) for (size_t q = 0; q < 64; q += BITS_WIDTH)

#ifndef BITS_OWN_SLICED_LINEAR /* the includer has a better one */
static void BITS(sliced_linear)(uint8_t *restrict out, const uint8_t *restrict in) {
    uint8_t c[5][128], lines[25][128]; /* each row twice, so that a rotation is an offset */
    for (unsigned x = 0; x < 5; x++) BITS_EACH_PART(q) {
            const uint8_t *p = in + 64 * x + q;
            bits_part v = BITS_PART_C(p) ^ BITS_PART_C(p + 320) ^ BITS_PART_C(p + 640) ^ BITS_PART_C(p + 960) ^
                          BITS_PART_C(p + 1280);
            BITS_PART(c[x] + q) = v;
            BITS_PART(c[x] + 64 + q) = v;
        }
    for (unsigned x = 0; x < 5; x++) BITS_EACH_PART(q) {
            bits_part d = BITS_PART_C(c[(x + 4) % 5] + q) ^ BITS_PART_C(c[(x + 1) % 5] + 63 + q);
            for (unsigned l = x; l < 25; l += 5) {
                bits_part v = BITS_PART_C(in + 64 * l + q) ^ d;
                BITS_PART(lines[l] + q) = v;
                BITS_PART(lines[l] + 64 + q) = v;
            }
        }
    for (unsigned l = 0; l < 25; l++) {
        const uint8_t *from = lines[l] + (64 - keccak_rho[l]) % 64;
        BITS_EACH_PART(q) BITS_PART(out + 64 * keccak_pi[l] + q) = BITS_PART_C(from + q);
    }
}
#endif

#ifndef BITS_OWN_SLICED_CHI
static void BITS(sliced_chi)(uint8_t *restrict a, const uint8_t *restrict e, unsigned r) {
    for (unsigned y = 0; y < 5; y++) BITS_EACH_PART(q) {
            const uint8_t *p = e + 320 * y + q;
            bits_part v[5];
            for (unsigned x = 0; x < 5; x++) v[x] = BITS_PART_C(p + 64 * x);
            for (unsigned x = 0; x < 5; x++)
                BITS_PART(a + 320 * y + 64 * x + q) = v[x] ^ (~v[(x + 1) % 5] & v[(x + 2) % 5]);
        }
    for (uint64_t left = keccak_rc[r]; left; left &= left - 1) a[__builtin_ctzll(left)] ^= 0xff;
}
#endif

/* chi of five lanes at the points of the grid that have the digits d1 and d2 (which are constants, so that nothing is asked
 * when it runs). v[x]: lane x's rows over {0,1}^inner. */
static inline __attribute__((always_inline)) void BITS(grid_points)(uint8_t *to, size_t out_stride, const bits_part v[5][8],
                                                                    int linear, unsigned d1, unsigned d2) {
    const unsigned first = (d1 == 1 ? 2u : 0u) + (d2 == 1 ? 4u : 0u);
    bits_part e[5][2];
    for (unsigned x = 0; x < 5; x++)
        for (unsigned i = 0; i < 2; i++) {
            const bits_part *row = v[x] + first + i;
            e[x][i] = row[0];
            if (d1 == 2) e[x][i] ^= row[2];
            if (d2 == 2) e[x][i] ^= row[4];
            if (d1 == 2 && d2 == 2) e[x][i] ^= row[6];
        }
    to += 64 * 3 * (d1 + 3 * d2);
    for (unsigned x = 0; x < 5; x++, to += out_stride) {
        const bits_part *e1 = e[x < 4 ? x + 1 : x - 4], *e2 = e[x < 3 ? x + 2 : x - 3];
        for (unsigned i = 0; i < 2; i++) {
            bits_part at = e1[i] & e2[i];
            if (linear) at ^= e[x][i] ^ e2[i];
            BITS_PART(to + 64 * i) = at;
        }
        BITS_PART(to + 128) = (e1[0] ^ e1[1]) & (e2[0] ^ e2[1]);
    }
}

static inline __attribute__((always_inline)) void BITS(grid_chi_inner)(uint8_t *out, size_t out_stride, const uint8_t *from,
                                                                       size_t lane_stride, const grid_shape *s, unsigned inner) {
    BITS_EACH_PART(q) {
        _Alignas(64) bits_part v[5][8];
        for (unsigned x = 0; x < 5; x++) {
            bits_part sum[8] = {{0}};
            for (size_t j = 0; j < s->picks; j++) {
                const uint8_t *p = from + x * lane_stride + s->pick[j] + q;
                for (size_t i = 0; i < (size_t)1 << inner; i++) sum[i] ^= BITS_PART_C(p + 64 * i);
            }
            for (size_t i = 0; i < (size_t)1 << inner; i++) v[x][i] = sum[i];
        }
#define POINTS(linear, d1, d2)                                                                         \
    if (d2 == 0 || inner > 2)                                                                          \
    BITS(grid_points)(out + q, out_stride, (const bits_part(*)[8])v, linear, d1, d2)
        if (s->linear) {
            POINTS(1, 0, 0);
            POINTS(1, 1, 0);
            POINTS(1, 0, 1);
            POINTS(1, 1, 1);
        } else {
            POINTS(0, 0, 0);
            POINTS(0, 1, 0);
            POINTS(0, 0, 1);
            POINTS(0, 1, 1);
        }
        POINTS(0, 2, 0);
        POINTS(0, 2, 1);
        POINTS(0, 0, 2);
        POINTS(0, 1, 2);
        POINTS(0, 2, 2);
#undef POINTS
    }
}

static void BITS(grid_chi)(uint8_t *out, size_t out_stride, const uint8_t *from, size_t lane_stride, const grid_shape *s) {
    if (s->inner == 3)
        BITS(grid_chi_inner)(out, out_stride, from, lane_stride, s, 3);
    else
        BITS(grid_chi_inner)(out, out_stride, from, lane_stride, s, 2);
}

#endif
