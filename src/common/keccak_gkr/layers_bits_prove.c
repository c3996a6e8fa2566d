/* Keccak layers, proving: maps from bits to E, and the rounds on bits.   docs/protocol.md 8.4, [BDT24].
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "layers_prover.h"

/* ---- maps ---- */

static void maps_task(void *ctx, size_t b, unsigned worker) {
    (void)worker;
    layers_prover *p = ctx;
    const layers_trace *t = p->t;
    gf192 col[8];
    evec eq = {p->eq_rows, p->eq_stride};
    for (unsigned j = 0; j < 8; j++) {
        size_t k, h;
        layers_prime(t, 8 * b + j, &k, &h);
        col[j] = 8 * b + j < t->primes ? layers_kept_eq(t, eq, k * t->s_high, h) : GF192_ZERO;
    }
    p->kn->bitmap_prepare(&p->maps[b], col);
}

/* eq over i' = (s_high, k) at a point of m + kappa coordinates. */
void layers_prepare_maps(layers_prover *p, const gf192 *point) {
    const layers_trace *t = p->t;
    unsigned n = t->sh.m - t->t + t->sh.kappa;
    eq_table_evec((evec){p->eq_rows, p->eq_stride}, point + t->t, n, GF192_ONE);
    pool_run(p->e->pool, t->blocks, maps_task, p);
}

static void lane_maps_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    layers_prover *p = ctx;
    const layers_trace *t = p->t;
    evec eq = {p->eq_rows, p->eq_stride};
    unsigned l = (unsigned)task;
    if (!p->lane_maps[l])
        return;
    for (size_t b = 0; b < t->blocks; b++) {
        gf192 col[8];
        int any = 0;
        for (unsigned j = 0; j < 8; j++) {
            size_t prime = 8 * b + j, k, h;
            layers_prime(t, prime, &k, &h);
            col[j] = GF192_ZERO;
            if (prime >= t->primes || gf192_is_zero(p->omega[25 * k + l]))
                continue;
            col[j] = gf192_mul(p->omega[25 * k + l], layers_kept_eq(t, eq, 0, h));
            any = 1;
        }
        p->lane_active[l * t->blocks + b] = (uint8_t)any;
        p->kn->bitmap_prepare(&p->lane_maps[l][b], col);
    }
}

/* ---- bit rounds ---- */

static unsigned outer_rounds(unsigned t) {
    return t <= 4 ? 1 : t - 3;
}

size_t layers_bits_scratch(const layers_trace *t) {
    const size_t points = pow3(t->t - outer_rounds(t->t));
    return 5 * GRID_GROUP * points * 64 + 5 * points * BITMAP_ACC_BYTES;
}

/* The grid of the inner variables at one choice of the outer ones' digits, which pick one row of a pair, or
 * the sum of both. */
static grid_shape shape_of(const layers_trace *t, unsigned inner, size_t digit) {
    const unsigned outer = t->t - inner;
    grid_shape s = {.inner = inner};
    for (size_t high = 0; high < (size_t)1 << outer; high++) {
        size_t d = digit;
        int in = 1;
        for (unsigned v = 0; v < outer; v++, d /= 3)
            in &= d % 3 == 2 || (high >> v & 1) == d % 3;
        if (in)
            s.pick[s.picks++] = 64 * high << inner;
    }
    s.linear = s.picks == 1; /* no outer digit is inf */
    return s;
}

/* Row y, one choice of the outer digits, one share of the blocks: the summand's sums at all inner grid
 * points. */
static void grid_task(void *ctx, size_t task, unsigned worker) {
    layers_prover *p = ctx;
    const layers_trace *t = p->t;
    const unsigned outer = outer_rounds(t->t), inner = t->t - outer;
    const size_t points = pow3(inner), digits = pow3(outer);
    const unsigned y = (unsigned)(task / (digits * p->shares));
    const size_t digit = task / p->shares % digits, share = task % p->shares;
    const size_t first = share * t->blocks / p->shares, last = (share + 1) * t->blocks / p->shares;
    const size_t row = points * 64;
    uint8_t *product = p->scratch[worker];         /* [x][block of the group][grid point][64] */
    uint8_t *acc = product + 5 * GRID_GROUP * row; /* [x][grid point] */
    const grid_shape shape = shape_of(t, inner, digit);
    memset(acc, 0, 5 * points * BITMAP_ACC_BYTES);

    for (size_t b0 = first; b0 < last; b0 += GRID_GROUP) {
        const size_t count = last - b0 < GRID_GROUP ? last - b0 : GRID_GROUP;
        unsigned lanes = p->top ? 0 : 31; /* bit x: does lane x matter */
        for (unsigned x = 0; p->top && x < 5; x++)
            for (size_t i = 0; p->lane_maps[x + 5 * y] && i < count; i++)
                if (p->lane_active[(x + 5 * y) * t->blocks + b0 + i])
                    lanes |= 1u << x;
        if (!lanes)
            continue;
        for (size_t i = 0; i < count; i++)
            p->kn->grid_chi(product + i * row, GRID_GROUP * row,
                            p->bits + layers_bits_at(t, b0 + i, 5 * y, 0), (size_t)64 << t->t, &shape);
        for (unsigned x = 0; x < 5; x++) {
            if (!(lanes >> x & 1))
                continue;
            const bitmap8 *maps = (p->top ? p->lane_maps[x + 5 * y] : p->maps) + b0;
            for (size_t g = 0; g < points; g++)
                p->kn->bitmap_accumulate(acc + (x * points + g) * BITMAP_ACC_BYTES, maps, 1,
                                         product + x * GRID_GROUP * row + 64 * g, row, count);
        }
    }

    _Alignas(64) uint64_t words[3 * 320]; /* [x][z]: the five rows one after the other, as the weights are */
    const evec rows = {words, 320};
    for (size_t g = 0; g < points; g++) {
        gf192 *total = &p->partial[task * points + g];
        for (unsigned x = 0; x < 5; x++)
            p->kn->bitmap_finish(evec_at(rows, 64 * x), acc + (x * points + g) * BITMAP_ACC_BYTES);
        if (!p->top) {
            p->kn->evec_dot(total, rows, row_of(p->w_rows, 5 * y), 320);
            continue;
        }
        for (unsigned x = 1; x < 5; x++)
            xor_rows(rows, evec_at(rows, 64 * x), 64);
        p->kn->evec_dot_k(total, rows, p->x_powers, 64);
    }
}

void layers_bits(layers_prover *p) {
    const layers_trace *t = p->t;
    if (p->top) {
        eq_table_evec((evec){p->eq_rows, p->eq_stride}, p->point + t->t, t->sh.m - t->t, GF192_ONE);
        pool_run(p->e->pool, 25, lane_maps_task, p);
    }
    const unsigned outer = outer_rounds(t->t);
    const size_t points = pow3(t->t - outer), digits = pow3(outer);
    pool_run(p->e->pool, 5 * digits * p->shares, grid_task, p);
    memset(p->grid, 0, sizeof p->grid);
    for (size_t task = 0; task < 5 * digits * p->shares; task++) {
        gf192 *to = p->grid + task / p->shares % digits * points;
        for (size_t g = 0; g < points; g++)
            to[g] = gf192_add(to[g], p->partial[task * points + g]);
    }
    layers_send_grid(p, p->grid, 0, t->t);
    eq_table(p->low_eq, p->rho, t->t);
    for (size_t i = 0; i < (size_t)1 << (t->t - 3); i++)
        p->kn->bitmap_prepare(&p->low_maps[i], p->low_eq + 8 * i);
}
