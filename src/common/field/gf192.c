/* E = GF(2^192), scalar.   docs/protocol.md 1.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "gf192.h"
#include "gf64_inline.h"
#include "../kernels.h"

/* Six products p_i = a_i b_i, p_ij = (a_i + a_j)(b_i + b_j); with y^3 = y + 1 the coefficients are
 * p0+p1+p2+p12, p0+p01+p12 and p0+p1+p02, summed before the three reductions. */
gf192 gf192_mul_ref(gf192 a, gf192 b) {
    uint64_t h0, l0, h1, l1, h2, l2, h01, l01, h02, l02, h12, l12;
    clmul64_inline(&h0, &l0, a.c[0], b.c[0]);
    clmul64_inline(&h1, &l1, a.c[1], b.c[1]);
    clmul64_inline(&h2, &l2, a.c[2], b.c[2]);
    clmul64_inline(&h01, &l01, a.c[0] ^ a.c[1], b.c[0] ^ b.c[1]);
    clmul64_inline(&h02, &l02, a.c[0] ^ a.c[2], b.c[0] ^ b.c[2]);
    clmul64_inline(&h12, &l12, a.c[1] ^ a.c[2], b.c[1] ^ b.c[2]);
    return (gf192){{reduce_inline(h0 ^ h1 ^ h2 ^ h12, l0 ^ l1 ^ l2 ^ l12),
                    reduce_inline(h0 ^ h01 ^ h12, l0 ^ l01 ^ l12),
                    reduce_inline(h0 ^ h1 ^ h02, l0 ^ l1 ^ l02)}};
}

gf192 gf192_mul_k_ref(gf192 a, gf64 b) {
    return (gf192){{mul_inline(a.c[0], b), mul_inline(a.c[1], b), mul_inline(a.c[2], b)}};
}

gf192 gf192_mul(gf192 a, gf192 b) {
    gf192 d;
    kernels()->gf192_mul(&d, &a, &b);
    return d;
}

gf192 gf192_mul_k(gf192 a, gf64 b) {
    gf192 d;
    kernels()->gf192_mul_k(&d, &a, b);
    return d;
}

/* y -> y^2, so y^2 -> y^4 = y^2 + y: what the Frobenius does to the powers of y. */
static gf192 conjugate(gf192 a) {
    return (gf192){{a.c[0], a.c[2], a.c[1] ^ a.c[2]}};
}

gf192 gf192_square(gf192 a) {
    return conjugate((gf192){{gf64_square(a.c[0]), gf64_square(a.c[1]), gf64_square(a.c[2])}});
}

gf192 gf192_frobenius(gf192 a, unsigned k) {
    for (unsigned i = 0; i < k % 64; i++)
        for (unsigned l = 0; l < 3; l++)
            a.c[l] = gf64_square(a.c[l]);
    for (unsigned i = 0; i < k % 3; i++)
        a = conjugate(a);
    return a;
}

/* The 2^64-th power is the conjugate (64 = 1 mod 3), so the product of the three conjugates is the norm, in
 * K. */
gf192 gf192_inv(gf192 a) {
    gf192 c1 = conjugate(a), c2 = conjugate(c1), m = gf192_mul_ref(c1, c2);
    return gf192_mul_k_ref(m, gf64_inv(gf192_mul_ref(a, m).c[0]));
}

gf192 gf192_pow(gf192 a, uint64_t e) {
    gf192 r = GF192_ONE;
    for (int i = 63; i >= 0; i--) {
        uint64_t take = 0 - (e >> i & 1);
        gf192 f = {{(a.c[0] & take) | (1 & ~take), a.c[1] & take, a.c[2] & take}};
        r = gf192_mul(gf192_square(r), f);
    }
    return r;
}
