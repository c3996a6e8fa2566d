/* Kernels on rows of 64 bytes: one source, compiled once a back end with that back end's instructions (include it once, with
 * BITS(name) giving the functions' names). What they do is said in kernels.h.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_BITS_KERNELS_H
#define SHEAF_BITS_KERNELS_H

#include <string.h>
#include "hash/keccak.h"

/* A row. The compiler splits it into the registers that the target has. */
typedef uint64_t bits_row __attribute__((vector_size(64), aligned(1), may_alias));

#define BITS_ROW(p) (*(bits_row *)(p))
#define BITS_ROW_C(p) (*(const bits_row *)(p))

static void BITS(sliced_linear)(uint8_t *restrict out, const uint8_t *restrict in) {
    bits_row d[5];
    uint8_t c[5][128]; /* column parities, twice, so that a rotation is an offset */
    for (unsigned x = 0; x < 5; x++) {
        const uint8_t *p = in + 64 * x;
        bits_row v = BITS_ROW_C(p) ^ BITS_ROW_C(p + 320) ^ BITS_ROW_C(p + 640) ^ BITS_ROW_C(p + 960) ^ BITS_ROW_C(p + 1280);
        BITS_ROW(c[x]) = v;
        BITS_ROW(c[x] + 64) = v;
    }
    for (unsigned x = 0; x < 5; x++) d[x] = BITS_ROW_C(c[(x + 4) % 5]) ^ BITS_ROW_C(c[(x + 1) % 5] + 63);
    for (unsigned l = 0; l < 25; l++) {
        uint8_t line[128];
        bits_row v = BITS_ROW_C(in + 64 * l) ^ d[l % 5];
        BITS_ROW(line) = v;
        BITS_ROW(line + 64) = v;
        BITS_ROW(out + 64 * keccak_pi[l]) = BITS_ROW_C(line + (64 - keccak_rho[l]) % 64);
    }
}

static void BITS(sliced_chi)(uint8_t *restrict a, const uint8_t *restrict e, unsigned r) {
    for (unsigned y = 0; y < 5; y++) {
        const uint8_t *p = e + 320 * y;
        bits_row v[5];
        for (unsigned x = 0; x < 5; x++) v[x] = BITS_ROW_C(p + 64 * x);
        for (unsigned x = 0; x < 5; x++) BITS_ROW(a + 320 * y + 64 * x) = v[x] ^ (~v[(x + 1) % 5] & v[(x + 2) % 5]);
    }
    for (uint64_t left = keccak_rc[r]; left; left &= left - 1) a[__builtin_ctzll(left)] ^= 0xff;
}

static void BITS(grid_expand)(uint8_t *rows, const uint8_t *from, size_t stride, unsigned inner, unsigned outer, size_t digit) {
    /* the outer digits pick one row, or the sum of two, of every pair */
    for (size_t low = 0; low < (size_t)1 << inner; low++) {
        bits_row sum = {0};
        for (size_t high = 0; high < (size_t)1 << outer; high++) {
            size_t d = digit;
            int in = 1;
            for (unsigned v = 0; v < outer; v++, d /= 3) in &= d % 3 == 2 || (high >> v & 1) == d % 3;
            if (in) sum ^= BITS_ROW_C(from + (low + (high << inner)) * stride);
        }
        BITS_ROW(rows + 64 * low) = sum;
    }
    size_t low = 1;
    for (unsigned v = 0; v < inner; v++, low *= 3)
        for (size_t h = (size_t)1 << (inner - v - 1); h-- > 0;) {
            const uint8_t *src = rows + h * 2 * low * 64;
            uint8_t *to = rows + h * 3 * low * 64;
            for (size_t i = low; i-- > 0;) { /* from the back: nothing is overwritten before it is read */
                bits_row v0 = BITS_ROW_C(src + 64 * i), v1 = BITS_ROW_C(src + 64 * (low + i));
                BITS_ROW(to + 64 * (2 * low + i)) = v0 ^ v1;
                BITS_ROW(to + 64 * (low + i)) = v1;
                BITS_ROW(to + 64 * i) = v0;
            }
        }
}

static void BITS(grid_chi)(uint8_t *out, const uint8_t *e0, const uint8_t *e1, const uint8_t *e2, const uint8_t *quadratic,
                           size_t points) {
    for (size_t g = 0; g < points; g++) {
        bits_row b = BITS_ROW_C(e1 + 64 * g), c = BITS_ROW_C(e2 + 64 * g);
        b &= c;
        if (!quadratic[g]) b ^= c ^ BITS_ROW_C(e0 + 64 * g);
        BITS_ROW(out + 64 * g) = b;
    }
}

#endif
