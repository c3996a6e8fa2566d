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

static void BITS(grid_expand)(uint8_t *rows, const uint8_t *from, size_t stride, unsigned inner, unsigned outer, size_t digit) {
    /* the outer digits pick one row, or the sum of two, of every pair */
    size_t pick[8], picks = 0;
    for (size_t high = 0; high < (size_t)1 << outer; high++) {
        size_t d = digit;
        int in = 1;
        for (unsigned v = 0; v < outer; v++, d /= 3) in &= d % 3 == 2 || (high >> v & 1) == d % 3;
        if (in) pick[picks++] = (high << inner) * stride;
    }
    for (size_t low = 0; low < (size_t)1 << inner; low++) BITS_EACH_PART(q) {
            const uint8_t *p = from + low * stride + q;
            bits_part sum = BITS_PART_C(p + pick[0]);
            for (size_t i = 1; i < picks; i++) sum ^= BITS_PART_C(p + pick[i]);
            BITS_PART(rows + 64 * low + q) = sum;
        }
    size_t low = 64; /* bytes of the rows over the variables done */
    for (unsigned v = 0; v < inner; v++, low *= 3)
        for (size_t h = (size_t)1 << (inner - v - 1); h-- > 0;) {
            const uint8_t *src = rows + h * 2 * low;
            uint8_t *to = rows + h * 3 * low;
            for (size_t i = low; i > 0;) { /* from the back: nothing is overwritten before it is read */
                i -= BITS_WIDTH;
                bits_part v0 = BITS_PART_C(src + i), v1 = BITS_PART_C(src + low + i);
                BITS_PART(to + 2 * low + i) = v0 ^ v1;
                BITS_PART(to + low + i) = v1;
                BITS_PART(to + i) = v0;
            }
        }
}

static void BITS(grid_chi)(uint8_t *out, const uint8_t *e0, const uint8_t *e1, const uint8_t *e2, const uint8_t *quadratic,
                           size_t points) {
    for (size_t g = 0; g < points; g++) {
        const uint8_t *p0 = e0 + 64 * g, *p1 = e1 + 64 * g, *p2 = e2 + 64 * g;
        if (quadratic[g]) {
            BITS_EACH_PART(q) BITS_PART(out + 64 * g + q) = BITS_PART_C(p1 + q) & BITS_PART_C(p2 + q);
        } else {
            BITS_EACH_PART(q) {
                bits_part c = BITS_PART_C(p2 + q);
                BITS_PART(out + 64 * g + q) = (BITS_PART_C(p1 + q) & c) ^ c ^ BITS_PART_C(p0 + q);
            }
        }
    }
}

#endif
