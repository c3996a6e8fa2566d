/* eq tables, multilinear evaluation, polynomials of one variable.   docs/protocol.md 1.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "poly.h"

gf192 eq_at(const gf192 *r, const gf192 *b, unsigned n) {
    gf192 e = GF192_ONE;
    for (unsigned i = 0; i < n; i++)
        e = gf192_mul(e, gf192_add(GF192_ONE, gf192_add(r[i], b[i])));
    return e;
}

/* Each further variable doubles the table: the upper copy times r, the lower times 1 + r. */
void eq_table(gf192 *table, const gf192 *r, unsigned n) {
    table[0] = GF192_ONE;
    for (unsigned v = 0; v < n; v++)
        for (size_t i = 0, half = (size_t)1 << v; i < half; i++) {
            table[half + i] = gf192_mul(r[v], table[i]);
            table[i] = gf192_add(table[i], table[half + i]);
        }
}

void eq_table_evec(evec d, const gf192 *r, unsigned n, gf192 scale) {
    const sheaf_kernels *k = kernels();
    evec_set(d, 0, scale);
    for (unsigned v = 0; v < n; v++) {
        size_t half = (size_t)1 << v;
        if (half < 8) {
            for (size_t i = 0; i < half; i++) {
                gf192 lo = evec_get(d, i), hi;
                k->gf192_mul(&hi, &r[v], &lo);
                evec_set(d, half + i, hi);
                evec_set(d, i, gf192_add(lo, hi));
            }
            continue;
        }
        /* In pieces that stay in the first-level cache between the product and the sum. */
        for (size_t at = 0, piece = half < 256 ? half : 256; at < half; at += piece) {
            evec lo = evec_at(d, at), hi = evec_at(d, half + at);
            k->evec_scale(hi, lo, r[v], piece);
            for (size_t l = 0; l < 3; l++)
                for (size_t i = 0; i < piece; i++)
                    lo.p[l * d.stride + i] ^= hi.p[l * d.stride + i];
        }
    }
}

gf192 poly_eval(const gf192 *c, unsigned degree, gf192 r) {
    gf192 s = c[degree];
    for (unsigned i = degree; i-- > 0;)
        s = gf192_add(c[i], gf192_mul(r, s));
    return s;
}

gf192 index_word_at(const gf192 *p, unsigned n) {
    gf192 s = GF192_ZERO;
    for (unsigned i = n; i-- > 0;)
        s = gf192_add(p[i], (gf192){{gf64_mul_x(s.c[0]), gf64_mul_x(s.c[1]), gf64_mul_x(s.c[2])}});
    return s;
}
