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

void layers_weights(gf192 w[25 * 64], gf192 mu, const gf192 *y, const gf192 *z) {
    gf192 eq_y[8], eq_z[64], lane[25], dd[5][64];
    eq_table(eq_y, y, 3);
    eq_table(eq_z, z, 6);
    gf192 power = GF192_ONE;
    for (unsigned x = 0; x < 5; x++) {
        for (unsigned yy = 0; yy < 5; yy++) lane[x + 5 * yy] = gf192_mul(power, eq_y[yy]);
        power = gf192_mul(power, mu);
    }
    /* G(l, z), and its column sums. */
    memset(dd, 0, sizeof dd);
    for (unsigned l = 0; l < 25; l++) {
        for (unsigned b = 0; b < 64; b++) {
            gf192 g = gf192_mul(lane[keccak_pi[l]], eq_z[(b + keccak_rho[l]) % 64]);
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

int layers_verify(rx *c, layers_claim *out, layers_shape sh, const gf192 *omega, const gf192 *zeta_s, gf192 v_out) {
    const unsigned m = sh.m, kappa = sh.kappa;
    gf192 point[LAYERS_MAX_M + LAYERS_MAX_KAPPA], z[6], y[3], e[5], wt[5], eq_y[8], mu;
    transcript_label(&c->t, "keccak  ");

    gf192 column = GF192_ZERO;
    for (unsigned k = 0; k < sh.rows; k++) column = gf192_add(column, omega[25 * k]);
    gf192 claim = gf192_add(v_out, gf192_mul_k(column, keccak_rc[23]));
    memcpy(point, zeta_s, m * sizeof *point);

    for (unsigned layer = 24; layer-- > 0;) {
        const int top = layer == 23;
        gf192 *rho = out->rho;
        if (!top) claim = gf192_add(claim, layers_constant(out->w, layer));
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

        eq_table(eq_y, y, 3);
        memset(wt, 0, sizeof wt);
        if (top) {
            for (unsigned k = 0; k < sh.rows; k++) {
                gf192 eq_k = GF192_ONE; /* eq(rho_k, k) */
                for (unsigned n = 0; n < kappa; n++) {
                    gf192 r = rho[m + n];
                    eq_k = gf192_mul(eq_k, k >> n & 1 ? r : gf192_add(GF192_ONE, r));
                }
                for (unsigned x = 0; x < 5; x++) {
                    gf192 sum = GF192_ZERO;
                    for (unsigned yy = 0; yy < 5; yy++) {
                        gf192 o = omega[25 * k + x + 5 * yy];
                        if (!gf192_is_zero(o)) sum = gf192_add(sum, gf192_mul(eq_y[yy], o));
                    }
                    wt[x] = gf192_add(wt[x], gf192_mul(eq_k, sum));
                }
            }
        } else {
            gf192 eq_z[64];
            eq_table(eq_z, z, 6);
            for (unsigned l = 0; l < 25; l++) {
                gf192 sum = GF192_ZERO;
                for (unsigned b = 0; b < 64; b++) sum = gf192_add(sum, gf192_mul(eq_z[b], out->w[64 * l + b]));
                wt[l % 5] = gf192_add(wt[l % 5], gf192_mul(eq_y[l / 5], sum));
            }
        }
        if (!gf192_equal(claim, layers_chi_claim(wt, e)))
            return rx_reject(c, SHEAF_CHECK_LAYER, layer, "a Keccak layer's values do not agree with its claim");
        transcript_squeeze(&c->t, &mu, 1);
        claim = poly_eval(e, 4, mu);
        layers_weights(out->w, mu, y, z);
        memcpy(point, rho, (m + kappa) * sizeof *point);
    }
    out->claim = claim;
    return 0;
}
