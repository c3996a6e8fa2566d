/* Ring switching from bits to words: the map and what the verifier evaluates.   docs/protocol.md 6.7, [DP24].
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "whir.h"

void ring_map_init(ring_map *phi, const gf192 f[RING_CHALLENGES]) {
    for (unsigned k = 0; k < 64; k++)
        phi->coeff[k] = GF192_ZERO;
    phi->coeff[0] = GF192_ONE;
    for (unsigned p = 0; p < RING_CHALLENGES; p++) {
        unsigned e = 1u << (RING_CHALLENGES - 1 - p);
        /* Downwards, so that coeff[k - e] is still the one before this map. */
        for (unsigned k = 63; k >= e; k--) {
            gf192 moved = gf192_mul(f[p], gf192_frobenius(phi->coeff[k - e], e));
            phi->coeff[k] = gf192_add(phi->coeff[k], moved);
        }
    }
}

gf192 ring_map_apply(const ring_map *phi, gf192 a) {
    gf192 sum = GF192_ZERO;
    for (unsigned k = 0; k < 64; k++) {
        sum = gf192_add(sum, gf192_mul(phi->coeff[k], a));
        a = gf192_square(a);
    }
    return sum;
}

gf192 ring_claim(const ring_map *phi, const gf192 slices[64]) {
    gf192 power[64], sum = GF192_ZERO; /* power[z] = s_z^(2^k) */
    memcpy(power, slices, sizeof power);
    for (unsigned k = 0; k < 64; k++) {
        gf192 word = GF192_ZERO; /* sum_z x^z s_z^(2^k), by Horner's rule */
        for (unsigned z = 64; z-- > 0;) {
            word = (gf192){{gf64_mul_x(word.c[0]), gf64_mul_x(word.c[1]), gf64_mul_x(word.c[2])}};
            word = gf192_add(word, power[z]);
            power[z] = gf192_square(power[z]);
        }
        sum = gf192_add(sum, gf192_mul(phi->coeff[k], word));
    }
    return sum;
}

gf192 ring_weight_at(const ring_map *phi, const gf192 *r, const gf192 *point, unsigned n) {
    gf192 product[64], sum = GF192_ZERO; /* product[k]: over the variables so far */
    memcpy(product, phi->coeff, sizeof product);
    for (unsigned i = 0; i < n; i++) {
        gf192 power = r[i], shift = gf192_add(GF192_ONE, point[i]);
        for (unsigned k = 0; k < 64; k++) {
            product[k] = gf192_mul(product[k], gf192_add(power, shift));
            power = gf192_square(power);
        }
    }
    for (unsigned k = 0; k < 64; k++)
        sum = gf192_add(sum, product[k]);
    return sum;
}
