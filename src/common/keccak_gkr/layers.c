/* Keccak layers: the verifier, and what both sides share.   docs/protocol.md 8.4.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "layers.h"
#include "../hash/keccak.h"
#include "../poly/poly.h"

gf192 layers_chi_claim(const gf192 wt[5], const gf192 e[5]) {
    gf192 sum = GF192_ZERO;
    for (unsigned x = 0; x < 5; x++) {
        gf192 v = gf192_mul(e[(x + 1) % 5], e[(x + 2) % 5]);
        v = gf192_add(v, gf192_add(e[x], e[(x + 2) % 5]));
        sum = gf192_add(sum, gf192_mul(wt[x], v));
    }
    return sum;
}

gf192 layers_constant(const gf192 w0[64], unsigned r) {
    gf192 sum = GF192_ZERO;
    for (unsigned z = 0; z < 64; z++)
        if (keccak_rc[r] >> z & 1) sum = gf192_add(sum, w0[z]);
    return sum;
}

void layers_point_set(layers_point *p, gf192 mu, const gf192 *y, const gf192 *z) {
    gf192 eq_y[8], power = GF192_ONE;
    eq_table(eq_y, y, 3);
    eq_table(p->eq_z, z, 6);
    memcpy(p->z, z, sizeof p->z);
    for (unsigned x = 0; x < 5; x++) {
        for (unsigned yy = 0; yy < 5; yy++) p->lane[x + 5 * yy] = gf192_mul(power, eq_y[yy]);
        power = gf192_mul(power, mu);
    }
}

void layers_weights(gf192 w[25 * 64], const layers_point *p) {
    gf192 dd[5][64];
    memset(dd, 0, sizeof dd);
    for (unsigned l = 0; l < 25; l++) {
        for (unsigned b = 0; b < 64; b++) {
            gf192 g = gf192_mul(p->lane[keccak_pi[l]], p->eq_z[(b + keccak_rho[l]) % 64]);
            w[64 * l + b] = g;
            dd[l % 5][b] = gf192_add(dd[l % 5][b], g);
        }
    }
    for (unsigned l = 0; l < 25; l++) {
        unsigned right = (l % 5 + 1) % 5, left = (l % 5 + 4) % 5;
        for (unsigned b = 0; b < 64; b++)
            w[64 * l + b] = gf192_add(w[64 * l + b], gf192_add(dd[right][b], dd[left][(b + 1) % 64]));
    }
}

gf192 layers_point_constant(const layers_point *p, unsigned r) {
    /* Lane 0's row of the weights: its own term, and the columns x = 1 and, a place on, x = 4. */
    gf192 sum = GF192_ZERO;
    for (unsigned l = 0; l < 25; l++) {
        if (l != 0 && l % 5 != 1 && l % 5 != 4) continue;
        const unsigned shift = keccak_rho[l] + (l % 5 == 4 ? 1u : 0u);
        gf192 bits = GF192_ZERO;
        for (uint64_t left = keccak_rc[r]; left; left &= left - 1)
            bits = gf192_add(bits, p->eq_z[((unsigned)__builtin_ctzll(left) + shift) % 64]);
        sum = gf192_add(sum, gf192_mul(p->lane[keccak_pi[l]], bits));
    }
    return sum;
}

/* k[s] = sum_z eq(q, z) eq(p, z + s mod 64) for all s, by adding bit by bit: two states, without a carry and with one. */
static void rotation_kernel(gf192 k[64], const gf192 q[6], const gf192 p[6]) {
    gf192 carry[64];
    k[0] = GF192_ONE;
    carry[0] = GF192_ZERO;
    for (unsigned n = 0; n < 6; n++) {
        const gf192 both = gf192_mul(q[n], p[n]);
        const gf192 only_p = gf192_add(p[n], both), only_q = gf192_add(q[n], both);
        const gf192 same = gf192_add(GF192_ONE, gf192_add(q[n], p[n])); /* both bits 1, or both 0 */
        for (unsigned s = 0; s < 1u << n; s++) {
            const gf192 no = k[s], yes = carry[s];
            gf192 *zero = &k[s], *one = &k[s + (1u << n)]; /* bit n of the shift */
            *zero = gf192_add(gf192_mul(no, same), gf192_mul(yes, only_p));
            carry[s] = gf192_mul(yes, only_q);
            *one = gf192_mul(no, only_p);
            carry[s + (1u << n)] = gf192_add(gf192_mul(no, only_q), gf192_mul(yes, same));
        }
    }
    for (unsigned s = 0; s < 64; s++) k[s] = gf192_add(k[s], carry[s]); /* a last carry falls off */
}

void layers_weights_at(gf192 wt[5], const layers_point *p, const gf192 *y, const gf192 *z) {
    gf192 eq_y[8], kernel[64], own[5], column[5], shifted[5], live = GF192_ZERO;
    eq_table(eq_y, y, 3);
    rotation_kernel(kernel, z, p->z);
    memset(own, 0, sizeof own);
    memset(column, 0, sizeof column);
    memset(shifted, 0, sizeof shifted);
    for (unsigned l = 0; l < 25; l++) {
        const unsigned x = l % 5;
        const gf192 lane = p->lane[keccak_pi[l]], g = gf192_mul(lane, kernel[keccak_rho[l]]);
        own[x] = gf192_add(own[x], gf192_mul(eq_y[l / 5], g));
        column[x] = gf192_add(column[x], g);
        shifted[x] = gf192_add(shifted[x], gf192_mul(lane, kernel[(keccak_rho[l] + 1) % 64]));
    }
    for (unsigned yy = 0; yy < 5; yy++) live = gf192_add(live, eq_y[yy]);
    for (unsigned x = 0; x < 5; x++)
        wt[x] = gf192_add(own[x], gf192_mul(live, gf192_add(column[(x + 1) % 5], shifted[(x + 4) % 5])));
}

/* A round whose polynomial comes without the factor that both sides know, so that g(0) follows: c[1], c[2] received. */
static int round_known(rx *c, gf192 *claim, gf192 *challenge, gf192 c0_factor, int is_eq) {
    gf192 g[3];
    if (rx_recv_e(c, MSG_LAYER_ROUND, g + 1, 2)) return -1;
    gf192 high = gf192_mul(c0_factor, gf192_add(g[1], g[2]));
    g[0] = gf192_add(*claim, high);
    if (!is_eq) g[0] = gf192_mul(g[0], gf192_inv(gf192_add(GF192_ONE, c0_factor)));
    transcript_squeeze(&c->t, challenge, 1);
    *claim = poly_eval(g, 2, *challenge);
    return 0;
}

static int round_cubic(rx *c, gf192 *claim, gf192 *challenge) {
    gf192 sent[3], h[4];
    if (rx_recv_e(c, MSG_LAYER_ROUND, sent, 3)) return -1;
    h[0] = sent[0];
    h[2] = sent[1];
    h[3] = sent[2];
    h[1] = gf192_add(*claim, gf192_add(h[2], h[3]));
    transcript_squeeze(&c->t, challenge, 1);
    *claim = poly_eval(h, 3, *challenge);
    return 0;
}

/* Omega(point_k, x, y) for each x. */
static void omega_at(gf192 wt[5], layers_shape sh, const gf192 *omega, const gf192 *point_k, const gf192 *y) {
    gf192 eq_y[8];
    eq_table(eq_y, y, 3);
    for (unsigned x = 0; x < 5; x++) wt[x] = GF192_ZERO;
    for (unsigned k = 0; k < sh.rows; k++) {
        gf192 eq_k = GF192_ONE;
        for (unsigned n = 0; n < sh.kappa; n++)
            eq_k = gf192_mul(eq_k, k >> n & 1 ? point_k[n] : gf192_add(GF192_ONE, point_k[n]));
        for (unsigned x = 0; x < 5; x++) {
            gf192 sum = GF192_ZERO;
            for (unsigned yy = 0; yy < 5; yy++) {
                gf192 o = omega[25 * k + x + 5 * yy];
                if (!gf192_is_zero(o)) sum = gf192_add(sum, gf192_mul(eq_y[yy], o));
            }
            wt[x] = gf192_add(wt[x], gf192_mul(eq_k, sum));
        }
    }
}

int layers_verify(rx *c, layers_claim *out, layers_shape sh, const gf192 *omega, const gf192 *zeta_s, gf192 v_out) {
    const unsigned m = sh.m, kappa = sh.kappa;
    gf192 point[LAYERS_MAX_M + LAYERS_MAX_KAPPA], z[6], y[3], e[5], wt[5], mu;
    layers_point weights;
    transcript_label(&c->t, "keccak  ");

    gf192 column = GF192_ZERO;
    for (unsigned k = 0; k < sh.rows; k++) column = gf192_add(column, omega[25 * k]);
    gf192 claim = gf192_add(v_out, gf192_mul_k(column, keccak_rc[23]));
    memcpy(point, zeta_s, m * sizeof *point);

    for (unsigned layer = 24; layer-- > 0;) {
        const int top = layer == 23;
        gf192 *rho = out->rho;
        if (!top) claim = gf192_add(claim, layers_point_constant(&weights, layer));
        for (unsigned n = 0; n < m; n++)
            if (round_known(c, &claim, &rho[n], point[n], 1)) return -1;
        for (unsigned n = m; n < m + kappa; n++)
            if (top ? round_cubic(c, &claim, &rho[n]) : round_known(c, &claim, &rho[n], point[n], 1)) return -1;
        for (unsigned n = 0; n < 6; n++) {
            gf192 t = gf192_from_k(UINT64_C(1) << (1u << n)); /* x^(2^n) */
            if (top ? round_known(c, &claim, &z[n], t, 0) : round_cubic(c, &claim, &z[n])) return -1;
        }
        for (unsigned n = 0; n < 3; n++)
            if (round_cubic(c, &claim, &y[n])) return -1;
        if (rx_recv_e(c, MSG_LAYER_TAIL, e, 5)) return -1;

        if (top)
            omega_at(wt, sh, omega, rho + m, y);
        else
            layers_weights_at(wt, &weights, y, z);
        if (!gf192_equal(claim, layers_chi_claim(wt, e)))
            return rx_reject(c, SHEAF_CHECK_LAYER, layer, "a Keccak layer's values do not agree with its claim");
        transcript_squeeze(&c->t, &mu, 1);
        claim = poly_eval(e, 4, mu);
        layers_point_set(&weights, mu, y, z);
        memcpy(point, rho, (m + kappa) * sizeof *point);
    }
    layers_weights(out->w, &weights);
    out->claim = claim;
    return 0;
}
