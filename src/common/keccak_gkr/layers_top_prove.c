/* Keccak layers, proving: layer 23 over k.   docs/protocol.md 8.4.   SPDX-License-Identifier: MIT OR
 * Apache-2.0 */
#include "layers_prover.h"

/* Layer 23: all lanes of place k with s bound. eq_rows holds eq over s_high. Either sum is over one of s's
 * halves by maps and over the other by products; the products are taken where they are fewer. */

static void raw_lane_by_low(const layers_prover *p, evec to, uint8_t *acc, evec row, const bitmap8 *maps,
                            size_t k, unsigned l) {
    const layers_trace *t = p->t;
    const size_t first = k * t->s_high, count = t->s_high >= 8 ? t->s_high / 8 : 1;
    for (size_t low = 0; low < (size_t)1 << t->t; low++) {
        memset(acc, 0, BITMAP_ACC_BYTES);
        p->kn->bitmap_accumulate(acc, maps, 1, p->bits + layers_bits_at(t, first / 8, l, low),
                                 (size_t)STATE_BYTES << t->t, count);
        p->kn->bitmap_finish(row, acc);
        p->kn->evec_scale_add(to, row, p->low_eq[low], 64);
    }
}

static void raw_lane_by_high(const layers_prover *p, evec to, uint8_t *acc, evec row, size_t k, unsigned l) {
    const layers_trace *t = p->t;
    const evec eq = {p->eq_rows, p->eq_stride};
    const size_t eighths = (size_t)1 << (t->t - 3);
    uint8_t bytes[(1 << LAYERS_MAX_BIT_ROUNDS) * 64];
    for (size_t h = 0; h < t->s_live + (t->repeats ? 1 : 0); h++) {
        const size_t prime = h < t->s_live ? k * t->s_live + h : t->sh.rows * t->s_live + k, b = prime / 8;
        if (h == 0 || h == t->s_live || prime % 8 == 0)
            for (size_t q = 0; q < eighths; q++)
                p->kn->bits_transpose8(bytes + 512 * q, 64, p->bits + layers_bits_at(t, b, l, 8 * q), 64);
        memset(acc, 0, BITMAP_ACC_BYTES);
        p->kn->bitmap_accumulate(acc, p->low_maps, 1, bytes + 64 * (prime % 8), 512, eighths);
        if (t->s_high == 1) {
            p->kn->bitmap_finish(to, acc);
            return;
        }
        p->kn->bitmap_finish(row, acc);
        p->kn->evec_scale_add(to, row, layers_kept_eq(t, eq, 0, h), 64);
    }
}

static void raw_task(void *ctx, size_t k, unsigned worker) {
    (void)worker;
    layers_prover *p = ctx;
    const layers_trace *t = p->t;
    evec eq = {p->eq_rows, p->eq_stride};
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES];
    _Alignas(64) uint64_t row[192];
    const size_t first = k * t->s_high, last = first + t->s_high;
    uint64_t *raw = p->raw + k * RAW_WORDS;
    memset(raw, 0, RAW_WORDS * sizeof *raw);
    const int by_high = t->repeats || t->s_high < (size_t)1 << t->t; /* what repeats is not in whole blocks */
    bitmap8 *maps =
        t->s_high >= 8 ? p->maps : p->maps + k; /* whole blocks of a place, or its own part of one */
    if (!by_high && t->s_high < 8) {
        gf192 col[8];
        for (unsigned j = 0; j < 8; j++) {
            size_t prime = first / 8 * 8 + j;
            col[j] = prime >= first && prime < last ? evec_get(eq, prime - first) : GF192_ZERO;
        }
        p->kn->bitmap_prepare(maps, col);
    }
    for (unsigned l = 0; l < 25; l++) {
        evec to = {raw + 64 * l, RAW_STRIDE};
        if (by_high)
            raw_lane_by_high(p, to, acc, (evec){row, 64}, k, l);
        else
            raw_lane_by_low(p, to, acc, (evec){row, 64}, maps, k, l);
        p->kn->evec_mul(evec_at(to, 1600), to, (evec){p->x_row, 64}, 64);
    }
}

static evec raw_at(const layers_prover *p, size_t j) {
    return (evec){j < p->places ? p->raw + (j << p->level) * RAW_WORDS : p->dead_raw, RAW_STRIDE};
}
static gf192 omega_at(const layers_prover *p, size_t j, unsigned l) {
    return j < p->places ? p->omega_left[25 * (j << p->level) + l] : GF192_ZERO;
}

static gf192 row_sum(evec a) {
    gf192 s = GF192_ZERO;
    for (unsigned z = 0; z < 64; z++)
        s = gf192_add(s, evec_get(a, z));
    return s;
}

static void raw_round_task(void *ctx, size_t j, unsigned worker) {
    (void)worker;
    layers_prover *p = ctx;
    evec a = raw_at(p, 2 * j), b = raw_at(p, 2 * j + 1);
    gf192 c[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
    for (unsigned l = 0; l < 25; l++) {
        gf192 w0 = omega_at(p, 2 * j, l), w1 = omega_at(p, 2 * j + 1, l), d[3];
        if (gf192_is_zero(w0) && gf192_is_zero(w1))
            continue;
        const unsigned i1 = 64 * (l / 5 * 5 + (l + 1) % 5), i2 = 64 * (l / 5 * 5 + (l + 2) % 5);
        p->kn->evec_dot3(d, evec_at(a, i1), evec_at(b, i1), evec_at(a, 1600 + i2), evec_at(b, 1600 + i2), 64);
        d[0] = gf192_add(d[0], gf192_add(row_sum(evec_at(a, 1600 + 64 * l)), row_sum(evec_at(a, 1600 + i2))));
        d[1] = gf192_add(d[1], gf192_add(row_sum(evec_at(b, 1600 + 64 * l)), row_sum(evec_at(b, 1600 + i2))));
        add_cubic(c, w0, w1, d[0], d[1], d[2]);
    }
    memcpy(p->partial + 3 * j, c, sizeof c);
}

static void raw_fold_task(void *ctx, size_t j, unsigned worker) {
    (void)worker;
    layers_prover *p = ctx;
    evec a = raw_at(p, 2 * j);
    p->kn->evec_fold(a, a, raw_at(p, 2 * j + 1), p->fold_at, RAW_STRIDE);
    for (unsigned l = 0; l < 25; l++) {
        gf192 w0 = omega_at(p, 2 * j, l), w1 = omega_at(p, 2 * j + 1, l);
        p->omega_left[25 * (2 * j << p->level) + l] = gf192_add(w0, gf192_mul(p->fold_at, gf192_add(w0, w1)));
    }
}

void layers_top_places(layers_prover *p) {
    const layers_trace *t = p->t;
    const layers_shape sh = t->sh;
    evec eq = {p->eq_rows, p->eq_stride};
    eq_table_evec(eq, p->rho + t->t, sh.m - t->t, GF192_ONE);
    for (size_t b = 0; !t->repeats && b < t->s_high / 8; b++) {
        gf192 col[8];
        for (unsigned j = 0; j < 8; j++)
            col[j] = evec_get(eq, 8 * b + j);
        p->kn->bitmap_prepare(&p->maps[b], col);
    }
    pool_run(p->e->pool, sh.rows, raw_task, p);
    for (unsigned l = 0; l < 25; l++) {
        evec row = {p->dead_raw + 64 * l, RAW_STRIDE};
        set_bits(row, t->dead[23][l]);
        p->kn->evec_mul(evec_at(row, 1600), row, (evec){p->x_row, 64}, 64);
    }
    memcpy(p->omega_left, p->omega, 25 * sh.rows * sizeof(gf192));
    p->level = 0;
    p->places = sh.rows;
    for (unsigned n = 0; n < sh.kappa; n++) {
        const size_t live = (p->places + 1) / 2;
        pool_run(p->e->pool, live, raw_round_task, p);
        gf192 c[3];
        layers_sum_partial(p, c, 3, live);
        layers_send_cubic(p, c[0], c[1], c[2], &p->rho[sh.m + n]);
        p->fold_at = p->rho[sh.m + n];
        pool_run(p->e->pool, live, raw_fold_task, p);
        p->places = live;
        p->level++;
    }
}
