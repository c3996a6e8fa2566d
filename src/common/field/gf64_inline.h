/* The carry-less product by integer products with holes, and its reduction, inline for the portable code.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * An integer product of two 32-bit words whose bits are four apart adds at most eight ones at any place, so
 * the sum stays inside the three empty bits above the place and its low bit is the carry-less sum.  Sixteen
 * such products give a 32 x 32 product, and three of those (Karatsuba) a 64 x 64 one.  No table, no branch.
 */
#ifndef SHEAF_GF64_INLINE_H
#define SHEAF_GF64_INLINE_H

#include "gf64.h"

static inline uint64_t clmul32_inline(uint32_t a, uint32_t b) {
    const uint64_t m0 = 0x1111111111111111u, m1 = m0 << 1, m2 = m0 << 2, m3 = m0 << 3;
    uint64_t a0 = a & m0, a1 = a & m1, a2 = a & m2, a3 = a & m3;
    uint64_t b0 = b & m0, b1 = b & m1, b2 = b & m2, b3 = b & m3;
    uint64_t c0 = (a0 * b0) ^ (a1 * b3) ^ (a2 * b2) ^ (a3 * b1);
    uint64_t c1 = (a0 * b1) ^ (a1 * b0) ^ (a2 * b3) ^ (a3 * b2);
    uint64_t c2 = (a0 * b2) ^ (a1 * b1) ^ (a2 * b0) ^ (a3 * b3);
    uint64_t c3 = (a0 * b3) ^ (a1 * b2) ^ (a2 * b1) ^ (a3 * b0);
    return (c0 & m0) | (c1 & m1) | (c2 & m2) | (c3 & m3);
}

static inline void clmul64_inline(uint64_t *hi, uint64_t *lo, uint64_t a, uint64_t b) {
    uint32_t al = (uint32_t)a, ah = (uint32_t)(a >> 32), bl = (uint32_t)b, bh = (uint32_t)(b >> 32);
    uint64_t l = clmul32_inline(al, bl), h = clmul32_inline(ah, bh);
    uint64_t m = clmul32_inline(al ^ ah, bl ^ bh) ^ l ^ h;
    *lo = l ^ (m << 32);
    *hi = h ^ (m >> 32);
}

/* hi x^64 = hi (x^4+x^3+x+1), where x^4+x^3+x+1 = (1+x)(1+x^3), so that the product is two shifts; the bits
 * that it moves past the top are folded back the same way. */
static inline uint64_t reduce_inline(uint64_t hi, uint64_t lo) {
    uint64_t past = (hi >> 60) ^ (hi >> 61) ^ (hi >> 63);
    uint64_t h = hi ^ past, u = h ^ (h << 1);
    return lo ^ u ^ (u << 3);
}

static inline uint64_t mul_inline(uint64_t a, uint64_t b) {
    uint64_t hi, lo;
    clmul64_inline(&hi, &lo, a, b);
    return reduce_inline(hi, lo);
}

#endif
