/* Keccak layers: the prover.   docs/protocol.md 8.4, [BDT24], [Gru24].   SPDX-License-Identifier: MIT OR
 * Apache-2.0 */
#include "layers_prover.h"

static gf192 one_plus(gf192 a) {
    return gf192_add(GF192_ONE, a);
}

void layers_send_known(layers_prover *p, gf192 g0, gf192 g1, gf192 g2, gf192 *challenge) {
    gf192 g[3] = {g0, g1, g2};
    tx_send_e(p->c, MSG_LAYER_ROUND, g + 1, 2);
    transcript_squeeze(&p->c->t, challenge, 1);
    p->claim = poly_eval(g, 2, *challenge);
}

void layers_send_cubic(layers_prover *p, gf192 h0, gf192 h2, gf192 h3, gf192 *challenge) {
    gf192 sent[3] = {h0, h2, h3};
    gf192 h[4] = {h0, gf192_add(p->claim, gf192_add(h2, h3)), h2, h3};
    tx_send_e(p->c, MSG_LAYER_ROUND, sent, 3);
    transcript_squeeze(&p->c->t, challenge, 1);
    p->claim = poly_eval(h, 3, *challenge);
}

void layers_send_grid(layers_prover *p, gf192 *grid, unsigned first, unsigned count) {
    size_t left = pow3(count);
    gf192 eq[1 << (LAYERS_MAX_BIT_ROUNDS - 1)];
    for (unsigned n = first; n < first + count; n++) {
        left /= 3;
        /* over the variables after this one, at their points 0 and 1 only */
        const unsigned rest = first + count - n - 1;
        eq_table(eq, p->point + n + 1, rest);
        gf192 h[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
        for (size_t i = 0; i < (size_t)1 << rest; i++) {
            size_t at = 0;
            for (unsigned v = 0; v < rest; v++)
                at += (i >> v & 1) * pow3(v);
            for (unsigned d = 0; d < 3; d++)
                h[d] = gf192_add(h[d], gf192_mul(eq[i], grid[3 * at + d]));
        }
        /* what is left out as constant cancels here; the claim holds it */
        const gf192 c1 = gf192_add(gf192_add(h[0], h[1]), h[2]);
        const gf192 c0 = gf192_add(p->claim, gf192_mul(p->point[n], gf192_add(c1, h[2])));
        layers_send_known(p, c0, c1, h[2], &p->rho[n]);
        const gf192 r = p->rho[n], r2 = gf192_square(r);
        for (size_t i = 0; i < left; i++) {
            const gf192 *v = grid + 3 * i;
            const gf192 lin = gf192_add(gf192_add(v[0], v[1]), v[2]);
            grid[i] = gf192_add(v[0], gf192_add(gf192_mul(r, lin), gf192_mul(r2, v[2])));
        }
    }
}

void layers_sum_partial(const layers_prover *p, gf192 *v, size_t values, size_t tasks) {
    for (size_t d = 0; d < values; d++)
        v[d] = GF192_ZERO;
    for (size_t i = 0; i < tasks; i++)
        for (size_t d = 0; d < values; d++)
            v[d] = gf192_add(v[d], p->partial[values * i + d]);
}

/* ---- z and y ---- */

static gf192 fold_one(gf192 a, gf192 b, gf192 r) {
    return gf192_add(a, gf192_mul(r, gf192_add(a, b)));
}

/* chi's values for the row of five at e (spaced `step`), lane x, between two neighbours e[i] and e[i + 1] of
 * each lane: value at 0, at 1, and the leading coefficient. */
static void chi_pair(gf192 t[3], const gf192 *e, size_t step, unsigned x) {
    const gf192 *e0 = e + x * step, *e1 = e + (x + 1) % 5 * step, *e2 = e + (x + 2) % 5 * step;
    t[0] = gf192_add(gf192_mul(e1[0], e2[0]), gf192_add(e0[0], e2[0]));
    t[1] = gf192_add(gf192_mul(e1[1], e2[1]), gf192_add(e0[1], e2[1]));
    t[2] = gf192_mul(gf192_add(e1[0], e1[1]), gf192_add(e2[0], e2[1]));
}

/* e: 25 x 64 values at rho; w: the weights (layer 23: Omega at 64 l, x^z left out). Both are consumed. */
static void last_rounds(layers_prover *p, gf192 *e, gf192 *w, gf192 z[6], gf192 y[3], gf192 tail[5]) {
    for (unsigned n = 0; n < 6; n++) {
        const size_t half = (size_t)32 >> n;
        gf192 c[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
        for (unsigned l = 0; l < 25; l++) {
            if (p->top && gf192_is_zero(w[64 * l]))
                continue;
            gf192 g1 = GF192_ZERO, g2 = GF192_ZERO;
            for (size_t b = 0; b < half; b++) {
                gf192 t[3];
                chi_pair(t, e + 64 * (l / 5 * 5) + 2 * b, 64, l % 5);
                if (!p->top) {
                    add_cubic(c, w[64 * l + 2 * b], w[64 * l + 2 * b + 1], t[0], t[1], t[2]);
                    continue;
                }
                gf64 power = UINT64_C(1) << (b << (n + 1)); /* x^e, e < 64 */
                g1 = gf192_add(g1, gf192_mul_k(gf192_add(gf192_add(t[0], t[1]), t[2]), power));
                g2 = gf192_add(g2, gf192_mul_k(t[2], power));
            }
            if (p->top) {
                c[0] = gf192_add(c[0], gf192_mul(w[64 * l], g1));
                c[1] = gf192_add(c[1], gf192_mul(w[64 * l], g2));
            }
        }
        if (p->top) {
            gf192 t = gf192_from_k(UINT64_C(1) << (1u << n)); /* x^(2^n) */
            gf192 c0 = gf192_add(p->claim, gf192_mul(t, gf192_add(c[0], c[1])));
            layers_send_known(p, gf192_mul(c0, gf192_inv(one_plus(t))), c[0], c[1], &z[n]);
        } else {
            layers_send_cubic(p, c[0], c[1], c[2], &z[n]);
        }
        for (unsigned l = 0; l < 25; l++)
            for (size_t b = 0; b < half; b++) {
                gf192 *at = e + 64 * l + b, *wt = w + 64 * l + b;
                *at = fold_one(at[b], at[b + 1], z[n]);
                if (!p->top)
                    *wt = fold_one(wt[b], wt[b + 1], z[n]);
            }
    }
    gf192 ey[5][8], wy[5][8];
    memset(ey, 0, sizeof ey);
    memset(wy, 0, sizeof wy);
    for (unsigned l = 0; l < 25; l++) {
        ey[l % 5][l / 5] = e[64 * l];
        wy[l % 5][l / 5] = w[64 * l];
    }
    for (unsigned n = 0; n < 3; n++) {
        const size_t half = (size_t)4 >> n;
        gf192 c[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
        for (unsigned x = 0; x < 5; x++)
            for (size_t b = 0; b < half; b++) {
                gf192 t[3];
                chi_pair(t, &ey[0][2 * b], 8, x);
                add_cubic(c, wy[x][2 * b], wy[x][2 * b + 1], t[0], t[1], t[2]);
            }
        layers_send_cubic(p, c[0], c[1], c[2], &y[n]);
        for (unsigned x = 0; x < 5; x++)
            for (size_t b = 0; b < half; b++) {
                ey[x][b] = fold_one(ey[x][2 * b], ey[x][2 * b + 1], y[n]);
                wy[x][b] = fold_one(wy[x][2 * b], wy[x][2 * b + 1], y[n]);
            }
    }
    for (unsigned x = 0; x < 5; x++)
        tail[x] = ey[x][0];
}

/* ---- the whole ---- */

/* How many there are of what is kept. */
typedef struct sizes {
    size_t scratch, shares, partial, eq, eq_scalar, table, weighted;
    int keep, by_maps;
} sizes;

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static sizes sizes_of(const layers_trace *t, unsigned threads) {
    const layers_shape sh = t->sh;
    const unsigned n = sh.m + sh.kappa - t->t,
                   together = n < MAX_TOGETHER ? n : MAX_TOGETHER;   /* of the variables on E */
    const size_t whole = (size_t)1 << n, live = sh.rows * t->s_high; /* of them, repeated ones too */
    sizes z;
    z.keep = !kernels_have_clmul();
    /* Making the weighted rows costs as much as some of the products that they replace. */
    z.by_maps = z.keep && t->primes >= (size_t)1 << t->t;
    z.scratch = larger(layers_bits_scratch(t), layers_rows_scratch(t, z.by_maps));
    /* As many tasks as workers can share evenly, while a share is worth its closing sums. */
    z.shares = threads;
    if (z.shares > t->blocks / (2 * GRID_GROUP))
        z.shares = t->blocks / (2 * GRID_GROUP);
    if (z.shares < 1)
        z.shares = 1;
    z.partial = larger(5 * (size_t)pow3(t->t) * z.shares,
                       larger(9 * larger(t->blocks, (live + 7) / 8), 3 * (size_t)sh.rows));
    z.eq = larger(8, whole);
    z.eq_scalar = larger(1, whole / 2);
    z.table = ((live - 1) >> (z.keep ? 0 : together)) + 1;
    if (t->repeats)
        z.table = sh.rows * ((t->s_live >> (z.keep ? 0 : together)) + 1);
    z.weighted = z.by_maps ? (size_t)(25 * 192) << t->t : 0;
    return z;
}

/* Takes memory, or, without an environment, only counts it. Non-zero when there is none. */
static int get(layers_prover *p, uint64_t *bytes, void *pointer, size_t size) {
    *bytes += size;
    if (p->e == NULL || size == 0)
        return 0;
    void *made = mem_alloc(p->e->mem, size);
    memcpy(pointer, &made, sizeof made);
    return made == NULL;
}

#define GET(pointer, n) bad |= get(p, bytes, &(pointer), (n) * sizeof *(pointer))

static int get_common(layers_prover *p, uint64_t *bytes, const sizes *z, unsigned workers) {
    const layers_trace *t = p->t;
    int bad = 0;
    p->shares = z->shares;
    p->eq_stride = z->eq;
    p->keep = z->keep;
    p->by_maps = z->by_maps;
    GET(p->scratch, workers);
    if (bad)
        return 1;
    if (p->scratch)
        memset(p->scratch, 0, workers * sizeof *p->scratch);
    for (unsigned i = 0; i < workers; i++) {
        uint8_t *made = NULL;
        GET(made, z->scratch);
        if (p->scratch)
            p->scratch[i] = made;
    }
    GET(p->partial, z->partial);
    GET(p->maps, larger(t->blocks, t->sh.rows));
    GET(p->low_maps, (size_t)1 << (t->t - 3));
    GET(p->group_maps, (size_t)1 << (t->t + MAX_TOGETHER - 3));
    GET(p->eq_rows, 3 * z->eq);
    GET(p->x_row, 192);
    GET(p->eq_scalar, z->eq_scalar);
    return bad;
}

/* Layer 23: has[l]: does lane l have weights. */
static int get_top(layers_prover *p, uint64_t *bytes, const sizes *z, const uint8_t has[25]) {
    const layers_trace *t = p->t;
    int bad = 0;
    for (unsigned y = 0; y < 5; y++) {
        int any = 0;
        for (unsigned l = 5 * y; l < 5 * y + 5; l++) {
            any |= has[l];
            if (has[l])
                GET(p->lane_maps[l], t->blocks);
        }
        if (any && t->sh.m > t->t + (z->keep ? 0 : MAX_TOGETHER))
            GET(p->table[y], z->table * FIVE_WORDS);
    }
    GET(p->lane_active, 25 * t->blocks);
    GET(p->active, 5 * (size_t)t->sh.rows);
    GET(p->raw, t->sh.rows * (size_t)RAW_WORDS);
    GET(p->dead_raw, RAW_WORDS);
    GET(p->omega_left, 25 * (size_t)t->sh.rows);
    return bad;
}

static int get_inner(layers_prover *p, uint64_t *bytes, const sizes *z) {
    int bad = 0;
    GET(p->w_rows, 4800);
    GET(p->l_rows, 4800);
    GET(p->form, (size_t)LAYERS_FORM_VECTORS * FIVE_WORDS);
    GET(p->weighted, z->weighted);
    GET(p->dead_five, 5 * FIVE_WORDS);
    for (unsigned y = 0; y < 5; y++)
        if (p->table[y] == NULL)
            GET(p->table[y], z->table * FIVE_WORDS);
    return bad;
}

#undef GET

static void free_top(layers_prover *p) {
    mem *m = p->e->mem;
    for (unsigned l = 0; l < 25; l++) {
        mem_free(m, p->lane_maps[l]);
        p->lane_maps[l] = NULL;
    }
    mem_free(m, p->lane_active);
    mem_free(m, p->active);
    mem_free(m, p->raw);
    mem_free(m, p->dead_raw);
    mem_free(m, p->omega_left);
    p->lane_active = p->active = NULL;
    p->raw = p->dead_raw = NULL;
    p->omega_left = NULL;
}

static void free_all(layers_prover *p) {
    mem *m = p->e->mem;
    free_top(p);
    for (unsigned i = 0; p->scratch && i < pool_threads(p->e->pool); i++)
        mem_free(m, p->scratch[i]);
    mem_free(m, p->scratch);
    mem_free(m, p->partial);
    mem_free(m, p->maps);
    mem_free(m, p->low_maps);
    mem_free(m, p->group_maps);
    mem_free(m, p->eq_rows);
    mem_free(m, p->x_row);
    mem_free(m, p->eq_scalar);
    mem_free(m, p->w_rows);
    mem_free(m, p->l_rows);
    mem_free(m, p->form);
    mem_free(m, p->weighted);
    mem_free(m, p->dead_five);
    for (unsigned y = 0; y < 5; y++)
        mem_free(m, p->table[y]);
}

uint64_t layers_bytes(layers_shape sh, size_t distinct, unsigned lanes, unsigned threads) {
    layers_trace t = {.plain = 0};
    layers_prover p = {.t = &t};
    uint64_t common = 0, top = 0, inner = 0;
    uint8_t has[25];
    layers_trace_shape(&t, sh, distinct, 0);
    const sizes z = sizes_of(&t, threads);
    for (unsigned l = 0; l < 25; l++)
        has[l] = l < lanes;
    /* nothing is taken, so nothing fails */
    (void)get_common(&p, &common, &z, threads);
    (void)get_top(&p, &top, &z, has);
    (void)get_inner(&p, &inner, &z);
    return common + (top > inner ? top : inner) + (CHECKPOINTS + SEGMENT - 1) * (uint64_t)t.layer_bytes +
           sizeof t + sizeof p + 3200 * sizeof(gf192);
}

static void set_weights(layers_prover *p, const gf192 *w) {
    for (unsigned l = 0; l < 25; l++)
        for (unsigned z = 0; z < 64; z++) {
            const unsigned shifted = l / 5 * 5 + (l + 3) % 5;
            evec_set((evec){p->w_rows, 1600}, 64 * l + z, w[64 * l + z]);
            evec_set((evec){p->l_rows, 1600}, 64 * l + z, gf192_add(w[64 * l + z], w[64 * shifted + z]));
        }
}

/* Which rows y of which places matter in layer 23. */
static void set_active(layers_prover *p) {
    const size_t rows = p->t->sh.rows;
    for (unsigned y = 0; y < 5; y++)
        for (size_t k = 0; k < rows; k++) {
            int any = 0;
            for (unsigned x = 0; x < 5; x++)
                any |= !gf192_is_zero(p->omega[25 * k + x + 5 * y]);
            p->active[y * rows + k] = (uint8_t)any;
        }
}

static void prove_layer(layers_prover *p, layers_claim *out, unsigned r, gf192 *e, gf192 *w) {
    const layers_shape sh = p->t->sh;
    gf192 z[6], y[3], tail[5], mu;
    p->top = r == 23;
    p->rho = out->rho;
    layers_states(p, r);

    env_stage_begin(p->e, "bit rounds");
    layers_bits(p);
    env_stage_end(p->e);

    layers_rows(p, r);

    env_stage_begin(p->e, "rest");
    if (p->top) {
        layers_top_places(p);
        for (unsigned i = 0; i < 1600; i++)
            e[i] = evec_get((evec){p->raw, RAW_STRIDE}, i);
        for (unsigned l = 0; l < 25; l++)
            w[64 * l] = p->omega_left[l];
    } else {
        layers_unform(p, e, p->table);
        memcpy(w, out->w, sizeof out->w);
    }
    layers_prepare_maps(p, p->rho); /* for the next layer's bit rounds */
    last_rounds(p, e, w, z, y, tail);
    tx_send_e(p->c, MSG_LAYER_TAIL, tail, 5);
    transcript_squeeze(&p->c->t, &mu, 1);
    p->claim = poly_eval(tail, 4, mu);
    layers_point weights;
    layers_point_set(&weights, mu, y, z);
    layers_weights(out->w, &weights);
    memcpy(p->point, out->rho, (sh.m + sh.kappa) * sizeof *p->point);
    env_stage_end(p->e);
}

int layers_prove(tx *c, env *e, layers_claim *out, layers_trace *t, const gf192 *omega, const gf192 *zeta_s,
                 gf192 v_out) {
    layers_prover *p = mem_alloc_zero(e->mem, sizeof *p);
    gf192 *values = mem_alloc(e->mem, 3200 * sizeof *values);
    int result = -1;
    if (p)
        p->e = e; /* what free_all needs */
    if (!p || !values)
        goto done;
    p->c = c;
    p->t = t;
    p->kn = kernels();
    p->omega = omega;
    p->sqrt_x = gf64_pow(2, UINT64_C(1) << 63);
    const unsigned workers = pool_threads(e->pool);
    const sizes z = sizes_of(t, workers);
    uint64_t bytes = 0;
    uint8_t has[25] = {0};
    for (size_t i = 0; i < 25 * (size_t)t->sh.rows; i++)
        has[i % 25] |= !gf192_is_zero(omega[i]);
    if (get_common(p, &bytes, &z, workers) || get_top(p, &bytes, &z, has))
        goto done;
    transcript_label(&c->t, "keccak  ");
    for (unsigned i = 0; i < 64; i++) {
        p->x_powers[i] = UINT64_C(1) << i;
        evec_set((evec){p->x_row, 64}, i, gf192_from_k(p->x_powers[i]));
    }
    gf192 column = GF192_ZERO;
    for (unsigned k = 0; k < t->sh.rows; k++)
        column = gf192_add(column, omega[25 * k]);
    p->claim = gf192_add(v_out, gf192_mul_k(column, keccak_rc[23]));
    memcpy(p->point, zeta_s, t->sh.m * sizeof *zeta_s);
    set_active(p);

    for (unsigned r = 24; r-- > 0;) {
        if (r == 22) {
            free_top(p);
            if (get_inner(p, &bytes, &z))
                goto done;
        }
        if (r != 23) {
            p->claim = gf192_add(p->claim, layers_constant(out->w, r));
            set_weights(p, out->w);
        }
        prove_layer(p, out, r, values, values + 1600);
        if (env_progress(e, (24 - r) / 24.0, "Keccak layers"))
            goto done;
    }
    out->claim = p->claim;
    result = 0;
done:
    if (p)
        free_all(p);
    mem_free(e->mem, p);
    mem_free(e->mem, values);
    return result;
}
