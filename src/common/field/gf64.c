/* K = GF(2^64), portable, in constant time.   docs/protocol.md 1.   SPDX-License-Identifier: MIT OR
 * Apache-2.0 */
#include "gf64.h"
#include "gf64_inline.h"

void gf64_clmul(uint64_t *hi, uint64_t *lo, uint64_t a, uint64_t b) {
    clmul64_inline(hi, lo, a, b);
}

gf64 gf64_reduce(uint64_t hi, uint64_t lo) {
    return reduce_inline(hi, lo);
}

gf64 gf64_mul(gf64 a, gf64 b) {
    return mul_inline(a, b);
}

/* The bits of a 32-bit word at the even places of 64. */
static uint64_t spread(uint64_t a) {
    a = (a | a << 16) & 0x0000ffff0000ffffu;
    a = (a | a << 8) & 0x00ff00ff00ff00ffu;
    a = (a | a << 4) & 0x0f0f0f0f0f0f0f0fu;
    a = (a | a << 2) & 0x3333333333333333u;
    return (a | a << 1) & 0x5555555555555555u;
}

gf64 gf64_square(gf64 a) {
    return reduce_inline(spread(a >> 32), spread(a & 0xffffffffu));
}

static gf64 square_times(gf64 a, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        a = gf64_square(a);
    return a;
}

/* b_n = a^(2^n - 1) along the chain 1, 2, 3, 6, 12, 15, 30, 60, 63; b_{i+j} = b_i^(2^j) b_j. */
gf64 gf64_inv(gf64 a) {
    gf64 b2 = gf64_mul(gf64_square(a), a);
    gf64 b3 = gf64_mul(gf64_square(b2), a);
    gf64 b6 = gf64_mul(square_times(b3, 3), b3);
    gf64 b12 = gf64_mul(square_times(b6, 6), b6);
    gf64 b15 = gf64_mul(square_times(b12, 3), b3);
    gf64 b30 = gf64_mul(square_times(b15, 15), b15);
    gf64 b60 = gf64_mul(square_times(b30, 30), b30);
    gf64 b63 = gf64_mul(square_times(b60, 3), b3);
    return gf64_square(b63);
}

gf64 gf64_pow(gf64 a, uint64_t e) {
    gf64 r = 1;
    for (int i = 63; i >= 0; i--) {
        uint64_t take = 0 - (e >> i & 1);
        r = gf64_square(r);
        r = gf64_mul(r, (a & take) | (1 & ~take));
    }
    return r;
}
