/* Keccak layers, proving: the rounds over s and k on rows of E.   docs/protocol.md 8.4, [BDT24], [Gru24].
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Rounds are taken two at a time: the sums over the grid {0, 1, inf}^2 of two variables give both, so that
 * the rows are folded once for two rounds, four to one. For the first two even that is not done: their rows
 * are made from the bits and forgotten again, and with the challenges known rows over two variables more are
 * made from the bits, a quarter as many.
 *
 * Of a place's rows those that repeat the last slot are kept once, and stand in its sums with the mass of
 * all.
 *
 * Where products take longer than many look-ups (no carry-less product) it is the other way round: rows are
 * made once, by maps that carry the weights, kept, and folded round by round. */
#include "layers_prover.h"

#define GROUPS_A_TASK 4

typedef struct rows_scratch {
    uint8_t *bytes;    /* [x][i'][eighth][64]: bits of one block, eight lows a byte */
    uint64_t *row;     /* 64 elements */
    uint64_t *factors; /* 2^MAX_TOGETHER of them */
    uint64_t *five;    /* one row of five */
    uint8_t *by_z;     /* [x][z][eighth][i'] of ROW_GROUP i' */
    bitmap8 *maps;     /* one an eighth */
} rows_scratch;

#define ALL_FACTORS ((size_t)1 << MAX_TOGETHER)

size_t layers_rows_scratch(const layers_trace *t, int by_maps) {
    const size_t eighths = (size_t)1 << (t->t - 3), words = 192 + ALL_FACTORS * FACTORS_WORDS + FIVE_WORDS;
    const size_t all = 2560 * eighths + words * sizeof(uint64_t);
    return by_maps ? all + eighths * (5 * 64 * ROW_GROUP + sizeof(bitmap8)) : all;
}

static rows_scratch scratch_of(const layers_prover *p, unsigned worker) {
    const size_t eighths = (size_t)1 << (p->t->t - 3);
    rows_scratch s;
    s.bytes = p->scratch[worker];
    s.row = (uint64_t *)(void *)(s.bytes + 2560 * eighths);
    s.factors = s.row + 192;
    s.five = s.factors + ALL_FACTORS * FACTORS_WORDS;
    s.by_z = (uint8_t *)(s.five + FIVE_WORDS);
    s.maps = (bitmap8 *)(void *)(s.by_z + 5 * 64 * ROW_GROUP * eighths);
    return s;
}

/* ---- rows from bits ---- */

static void transpose_block(const layers_prover *p, const rows_scratch *s, size_t b, unsigned y) {
    const layers_trace *t = p->t;
    const size_t eighths = (size_t)1 << (t->t - 3);
    for (unsigned x = 0; x < 5; x++)
        for (size_t q = 0; q < eighths; q++)
            p->kn->bits_transpose8(s->bytes + 512 * x * eighths + 64 * q, 64 * eighths,
                                   p->bits + layers_bits_at(t, b, x + 5 * y, 8 * q), 64);
}

/* For i' = from, ..., from + 2^n - 1 of a block, summed with the maps, the rows e_x, scaled and shifted. */
static void make_rows(const layers_prover *p, const rows_scratch *s, const evec to[5], const evec shift[5],
                      const bitmap8 *maps, size_t from, unsigned n, unsigned y) {
    const size_t eighths = (size_t)1 << (p->t->t - 3);
    const evec row = {s->row, 64};
    for (unsigned x = 0; x < 5; x++) {
        p->kn->bitmap_sum(p->plain ? to[x] : row, maps, s->bytes + (8 * x + from) * eighths * 64, 64,
                          eighths << n);
        if (!p->plain)
            p->kn->evec_mul_plus(to[x], row, layers_scale(p, x, y), shift[x], 64);
    }
}

static void make_five(const layers_prover *p, const rows_scratch *s, uint64_t *five, const bitmap8 *maps,
                      size_t from, unsigned n, unsigned y) {
    evec to[5], shift[5];
    for (unsigned x = 0; x < 5; x++) {
        to[x] = (evec){five + 64 * x, FIVE_STRIDE};
        shift[x] = layers_shift(p, x, y);
    }
    make_rows(p, s, to, shift, maps, from, n, y);
}

/* The factors of i' = at of a block. */
static gf192 make_factors(const layers_prover *p, const rows_scratch *s, uint64_t *factors, size_t at,
                          const row_weights *weights, unsigned y) {
    if (p->plain) {
        make_five(p, s, s->five, p->low_maps, at, 0, y);
        return layers_factors(p, factors, s->five, weights, y);
    }
    evec to[5], shift[5];
    layers_factors_begin(p, to, shift, factors, y);
    make_rows(p, s, to, shift, p->low_maps, at, 0, y);
    layers_factors_end(p, factors, y);
    return GF192_ZERO;
}

/* Makes a dead place's rows of five. */
static void set_dead(layers_prover *p, unsigned r) {
    for (unsigned y = 0; y < 5; y++)
        for (unsigned x = 0; x < 5; x++) {
            const evec row = {p->dead_five + FIVE_WORDS * y + 64 * x, FIVE_STRIDE};
            set_bits(row, p->t->dead[r][x + 5 * y]);
            if (p->plain)
                continue;
            p->kn->evec_mul(row, row, layers_scale(p, x, y), 64);
            xor_rows(row, layers_shift(p, x, y), 64);
        }
}

/* ---- sums on the grid ---- */

/* What a place has over 2^vars of its variables of s: `live` entries, and others that all equal one another.
 */
typedef struct extent {
    unsigned vars;
    size_t live; /* 2^vars where none repeats */
} extent;

/* The same with the lowest n variables bound, or, where it has not so many, with its own and some of k's. */
static extent extent_bound(extent x, unsigned n) {
    if (n >= x.vars)
        return (extent){0, 1};
    return (extent){x.vars - n, ((x.live - 1) >> n) + 1};
}

static size_t extent_size(extent x) {
    return (size_t)1 << x.vars;
}

/* A group: the 2^together rows of five, one a y, that differ in the variables of the rounds at hand. */
typedef struct rounds {
    layers_prover *p;
    unsigned first, together; /* variables */
    size_t groups;
    extent grouped;   /* of a place, in groups */
    int at_zero;      /* the sum at zeros is wanted: the claim does not give it, by chance */
    gf192 dead_value; /* a dead place's, without the constant that every place has, and that constant */
    gf192 constant;
    /* of the table. Entry (k, h) stands at (k << k_shift) * place + (h << s_shift); what repeats of a place
     * stands after the others, and stays there. */
    size_t live; /* entries, repeated ones too; those past them are dead places' */
    extent left; /* of a place */
    size_t place;
    unsigned k_shift, s_shift;
    unsigned pending; /* variables whose challenges are known, but not folded into the table yet */
    gf192 fold[MAX_TOGETHER];
} rounds;

/* Whether row y of a group matters; the place in layer 23. */
static int group_active(const rounds *q, size_t group, unsigned y, size_t *k) {
    const layers_prover *p = q->p;
    const layers_trace *t = p->t;
    *k = 0;
    if (!p->top)
        return 1;
    *k = group >> (t->sh.m - q->first - q->together);
    return *k < t->sh.rows && p->active[y * t->sh.rows + *k];
}

static gf192 group_weight(const rounds *q, size_t group) {
    const layers_prover *p = q->p;
    if (p->top)
        group &= ((size_t)1 << (p->t->sh.m - q->first - q->together)) -
                 1; /* the place's factor is in the weights */
    return p->eq_scalar[group];
}

/* Adds the products' values on the grid, summed over the row, and lambda's at the points without inf. The
 * first value, at zeros, is left out where the claim gives it. */
static void add_values(const rounds *q, gf192 v[9], uint64_t *factors, const gf192 lambda[4]) {
    const layers_prover *p = q->p;
    gf192 d[8];
    evec a[4], b[4];
    for (unsigned i = 0; i < 1u << q->together; i++) {
        a[i] = (evec){factors + (size_t)i * FACTORS_WORDS, FACTORS_STRIDE};
        b[i] = evec_at(a[i], HALF);
    }
    if (q->together == 2)
        p->kn->evec_dot8(d, a, b, HALF);
    else
        p->kn->evec_dot2(d, a[0], a[1], b[0], b[1], HALF);
    for (unsigned i = 1; i < pow3(q->together); i++)
        v[i] = gf192_add(v[i], d[i - 1]);
    if (q->at_zero) {
        p->kn->evec_dot(d, a[0], b[0], HALF);
        v[0] = gf192_add(v[0], gf192_add(d[0], lambda[0]));
    }
    for (unsigned i = 1; i < 1u << q->together; i++)
        v[i % 2 + 3 * (i / 2)] = gf192_add(v[i % 2 + 3 * (i / 2)], lambda[i]);
}

/* The same for a group whose rows are alike, by the factors of one: nothing is left at inf. */
static void add_value_of_one(const rounds *q, gf192 v[9], const uint64_t *factors, gf192 lambda) {
    gf192 d;
    const evec a = {(uint64_t *)(uintptr_t)factors, FACTORS_STRIDE};
    q->p->kn->evec_dot(&d, a, evec_at(a, HALF), HALF);
    d = gf192_add(d, lambda);
    for (unsigned i = q->at_zero ? 0 : 1; i < 1u << q->together; i++)
        v[i % 2 + 3 * (i / 2)] = gf192_add(v[i % 2 + 3 * (i / 2)], d);
}

static void close_group(const rounds *q, gf192 total[9], const gf192 v[9], size_t group) {
    const gf192 weight = group_weight(q, group);
    for (unsigned i = 0; i < pow3(q->together); i++)
        total[i] = gf192_add(total[i], gf192_mul(weight, v[i]));
}

/* ---- the first rounds, from bits ---- */

/* What a block has: groups, and i' each of which stands for a place's groups that repeat. */
typedef struct unit {
    unsigned at;  /* the first i' of the block */
    int alone;    /* it is the only one */
    size_t k, h;  /* the group of place k; for one alone the first of those that it stands for */
    size_t group; /* the same, counted over all places */
} unit;

static unsigned units_of(const rounds *q, unit units[8], size_t b) {
    const layers_trace *t = q->p->t;
    const size_t kept = t->sh.rows * t->s_live;
    unsigned n = 0;
    for (unsigned at = 0; at < 8 && 8 * b + at < t->primes; n++) {
        unit *u = &units[n];
        u->at = at;
        u->alone = 8 * b + at >= kept;
        layers_prime(t, 8 * b + at, &u->k, &u->h);
        u->group = (u->k * t->s_high + u->h) >> q->together;
        u->h >>= q->together;
        at += u->alone ? 1 : 1u << q->together;
    }
    return n;
}

static void bits_sums_task(void *ctx, size_t b, unsigned worker) {
    const rounds *q = ctx;
    layers_prover *p = q->p;
    const rows_scratch s = scratch_of(p, worker);
    unit units[8];
    const unsigned n = units_of(q, units, b);
    gf192 v[8][9], total[9];
    row_weights weights;
    memset(v, 0, sizeof v);
    memset(total, 0, sizeof total);
    for (unsigned y = 0; y < 5; y++) {
        size_t made = SIZE_MAX;
        int transposed = 0;
        for (unsigned i = 0; i < n; i++) {
            const unit *u = &units[i];
            size_t k;
            gf192 lambda[4];
            if (!group_active(q, u->group, y, &k))
                continue;
            if (!transposed)
                transpose_block(p, &s, b, y);
            transposed = 1;
            if (made != k)
                layers_row_weights(p, &weights, k, y);
            made = k;
            for (unsigned j = 0; j < (u->alone ? 1u : 1u << q->together); j++)
                lambda[j] =
                    make_factors(p, &s, s.factors + (size_t)j * FACTORS_WORDS, u->at + j, &weights, y);
            if (u->alone)
                add_value_of_one(q, v[i], s.factors, lambda[0]);
            else
                add_values(q, v[i], s.factors, lambda);
        }
    }
    for (unsigned i = 0; i < n; i++)
        close_group(q, total, v[i], units[i].group);
    memcpy(p->partial + 9 * b, total, sizeof total);
}

/* Where its entry stands when the table is made. Of a place with fewer groups than one the others are its
 * neighbours'. */
static size_t table_at(const rounds *q, const unit *u) {
    return q->left.vars == 0 ? u->group : u->k * q->place + u->h;
}

static void bits_fold_task(void *ctx, size_t b, unsigned worker) {
    const rounds *q = ctx;
    layers_prover *p = q->p;
    const rows_scratch s = scratch_of(p, worker);
    unit units[8];
    const unsigned n = units_of(q, units, b);
    for (unsigned y = 0; y < 5; y++) {
        int transposed = 0;
        for (unsigned i = 0; i < n; i++) {
            const unit *u = &units[i];
            size_t k;
            if (!group_active(q, u->group, y, &k))
                continue;
            if (!transposed)
                transpose_block(p, &s, b, y);
            transposed = 1;
            uint64_t *to = p->table[y] + table_at(q, u) * FIVE_WORDS;
            if (u->alone) /* alike over the variables on E, too */
                make_five(p, &s, to, p->low_maps, u->at, 0, y);
            else
                make_five(p, &s, to, p->group_maps, u->at, q->together, y);
        }
    }
}

/* ---- rows from bits by maps that carry the weights, for the inner layers ---- */

static evec weighted_row(const layers_prover *p, unsigned y, unsigned x, size_t low) {
    return (evec){p->weighted + ((((size_t)y * 5 + x) << p->t->t) + low) * 192, 64};
}

static void weighted_task(void *ctx, size_t low, unsigned worker) {
    (void)worker;
    const layers_prover *p = ctx;
    for (unsigned y = 0; y < 5; y++)
        for (unsigned x = 0; x < 5; x++)
            p->kn->evec_scale(weighted_row(p, y, x, low), layers_scale(p, x, y), p->low_eq[low], 64);
}

/* Rows y of five of ROW_GROUP i'. */
static void map_fill_task(void *ctx, size_t task, unsigned worker) {
    const rounds *q = ctx;
    const layers_prover *p = q->p;
    const rows_scratch s = scratch_of(p, worker);
    const size_t eighths = (size_t)1 << (p->t->t - 3), b = ROW_GROUP / 8 * (task / 5),
                 left = p->t->blocks - b;
    const size_t blocks = left < ROW_GROUP / 8 ? left : ROW_GROUP / 8;
    const size_t count = p->t->primes - 8 * b < 8 * blocks ? p->t->primes - 8 * b : 8 * blocks;
    size_t at[ROW_GROUP];
    for (size_t i = 0; i < count; i++) {
        size_t k, h;
        layers_prime(p->t, 8 * b + i, &k, &h);
        at[i] = k * q->place + h;
    }
    const unsigned y = (unsigned)(task % 5);
    for (size_t i = 0; i < blocks; i++) {
        transpose_block(p, &s, b + i, y);
        for (unsigned x = 0; x < 5; x++)
            for (size_t e = 0; e < eighths; e++)
                for (size_t j = 0; j < 8; j++) {
                    const uint8_t *from = s.bytes + ((8 * x + j) * eighths + e) * 64;
                    uint8_t *to = s.by_z + (64 * x * eighths + e) * ROW_GROUP + 8 * i + j;
                    for (size_t z = 0; z < 64; z++)
                        to[z * eighths * ROW_GROUP] = from[z];
                }
    }
    const evec row = {s.row, 64};
    for (size_t z = 0; z < 64; z++)
        for (unsigned x = 0; x < 5; x++) {
            const gf192 shift = evec_get(layers_shift(p, x, y), z);
            for (size_t e = 0; e < eighths; e++) {
                gf192 col[8];
                for (size_t i = 0; i < 8; i++)
                    col[i] = evec_get(weighted_row(p, y, x, 8 * e + i), z);
                p->kn->bitmap_prepare(&s.maps[e], col);
            }
            p->kn->bitmap_sum(row, s.maps, s.by_z + (64 * x + z) * eighths * ROW_GROUP, ROW_GROUP, eighths);
            for (size_t i = 0; i < count; i++)
                evec_set((evec){p->table[y] + at[i] * FIVE_WORDS, FIVE_STRIDE}, 64 * x + z,
                         gf192_add(evec_get(row, i), shift));
        }
}

/* ---- the other rounds, from the table ---- */

static uint64_t *entry(const rounds *q, unsigned y, size_t a) {
    if (a >= q->live)
        return q->p->dead_five + FIVE_WORDS * y;
    const size_t k = a >> q->left.vars, h = a & (extent_size(q->left) - 1);
    size_t at = (k << q->k_shift) * q->place + (h << q->s_shift);
    if (h >= q->left.live)
        at = (k + 1) * q->place - 1;
    return q->p->table[y] + at * FIVE_WORDS;
}

/* Folds the 2^pending entries that become entry a, and returns it. */
static uint64_t *folded_entry(const rounds *q, unsigned y, size_t a) {
    const layers_prover *p = q->p;
    const size_t first = a << q->pending;
    if (q->pending == 0 || first >= q->live || (first & (extent_size(q->left) - 1)) >= q->left.live)
        return entry(q, y, first); /* those that are alike stay what they are */
    evec from[4];
    for (unsigned i = 0; i < 1u << q->pending; i++)
        from[i] = (evec){entry(q, y, first + i), FIVE_STRIDE};
    if (q->pending == 1)
        p->kn->evec_fold(from[0], from[0], from[1], q->fold[0], FIVE_STRIDE);
    else
        p->kn->evec_fold4(from[0], from, q->fold, FIVE_STRIDE);
    return from[0].p;
}

static void table_sums_task(void *ctx, size_t task, unsigned worker) {
    const rounds *q = ctx;
    layers_prover *p = q->p;
    const rows_scratch s = scratch_of(p, worker);
    gf192 total[9];
    row_weights weights;
    memset(total, 0, sizeof total);
    for (size_t g = GROUPS_A_TASK * task; g < q->groups && g < GROUPS_A_TASK * (task + 1); g++) {
        gf192 v[9], lambda[4];
        const size_t h = g & (extent_size(q->grouped) - 1);
        if (h > q->grouped.live)
            continue;
        const int alone = h == q->grouped.live; /* for itself and those after it in its place */
        memset(v, 0, sizeof v);
        for (unsigned y = 0; y < 5; y++) {
            size_t k;
            if (!group_active(q, g, y, &k))
                continue;
            layers_row_weights(p, &weights, k, y);
            for (unsigned j = 0; j < (alone ? 1u : 1u << q->together); j++)
                lambda[j] = layers_factors(p, s.factors + (size_t)j * FACTORS_WORDS,
                                           folded_entry(q, y, (g << q->together) + j), &weights, y);
            if (alone)
                add_value_of_one(q, v, s.factors, lambda[0]);
            else
                add_values(q, v, s.factors, lambda);
        }
        close_group(q, total, v, g);
    }
    memcpy(p->partial + 9 * task, total, sizeof total);
}

static void last_fold_task(void *ctx, size_t y, unsigned worker) {
    (void)worker;
    folded_entry(ctx, (unsigned)y, 0);
}

/* ---- all of them ---- */

/* What a dead place adds to the layer's sum beyond the constant of every place, and that constant. */
static void set_constants(rounds *q) {
    layers_prover *p = q->p;
    const rows_scratch s = scratch_of(p, 0);
    row_weights weights;
    for (unsigned y = 0; y < 5; y++) {
        gf192 d;
        const evec a = {s.factors, FACTORS_STRIDE};
        layers_row_weights(p, &weights, 0, y);
        const gf192 lambda = layers_factors(p, s.factors, p->dead_five + FIVE_WORDS * y, &weights, y);
        p->kn->evec_dot(&d, a, evec_at(a, HALF), HALF);
        q->dead_value = gf192_add(q->dead_value, gf192_add(d, lambda));
    }
    q->constant = layers_form_constant(p);
}

/* Adds the weights of the groups that repeat to that of the first of them, which is the only one counted. */
static void gather_weights(const rounds *q) {
    const layers_prover *p = q->p;
    const size_t n = extent_size(q->grouped), at = q->grouped.live;
    for (size_t k = 0; at < n && k < (p->top ? 1 : p->t->sh.rows); k++) {
        gf192 *eq = p->eq_scalar + k * n;
        for (size_t i = at + 1; i < n; i++) {
            eq[at] = gf192_add(eq[at], eq[i]);
            eq[i] = GF192_ZERO;
        }
    }
}

/* The next rounds: one or two, and what they need besides the rows. */
static void begin(rounds *q, unsigned most, unsigned end) {
    layers_prover *p = q->p;
    const gf192 *point = p->point + q->first;
    q->together = end - q->first < most ? end - q->first : most;
    q->at_zero = 0;
    for (unsigned i = 0; i < q->together; i++)
        q->at_zero |= gf192_equal(point[i], GF192_ONE);
    q->groups = ((q->live - 1) >> (q->pending + q->together)) + 1;
    q->grouped = extent_bound(q->left, q->pending + q->together);
    eq_table(p->eq_scalar, point + q->together, end - q->first - q->together);
    gather_weights(q);
}

/* Sends them: the value at zeros follows from the claim, which is the sum of the values at zeros and ones
 * against eq. */
static void send(rounds *q, size_t tasks) {
    layers_prover *p = q->p;
    const gf192 *point = p->point + q->first;
    gf192 grid[9], eq[4];
    layers_sum_partial(p, grid, 9, tasks);
    if (!q->at_zero) {
        gf192 left = p->claim;
        if (!p->top) {
            gf192 dead = GF192_ONE; /* the mass of the groups that are left out */
            for (size_t g = 0; g < q->groups; g++)
                dead = gf192_add(dead, p->eq_scalar[g]);
            left = gf192_add(left, gf192_add(q->constant, gf192_mul(dead, q->dead_value)));
        }
        eq_table(eq, point, q->together);
        for (unsigned i = 1; i < 1u << q->together; i++)
            left = gf192_add(left, gf192_mul(eq[i], grid[i % 2 + 3 * (i / 2)]));
        grid[0] = gf192_mul(left, gf192_inv(eq[0]));
    }
    layers_send_grid(p, grid, q->first, q->together);
}

void layers_rows(layers_prover *p, unsigned r) {
    const layers_trace *t = p->t;
    const unsigned m = t->sh.m, end = p->top ? m : m + t->sh.kappa, most = p->keep ? 1 : MAX_TOGETHER;
    rounds q = {.p = p, .first = t->t, .live = t->sh.rows * t->s_high, .left = {m - t->t, t->s_live}};
    if (p->top) {
        p->plain = 1;
        if (t->t == m)
            return;
    } else {
        layers_set_form(p);
        set_dead(p, r);
        set_constants(&q);
    }

    env_stage_begin(p->e, "fold");
    q.groups = q.live;
    if (!p->keep && q.first < end) {
        begin(&q, most, end);
        pool_run(p->e->pool, t->blocks, bits_sums_task, &q);
        send(&q, t->blocks);
    }
    q.live = q.groups;
    q.left = extent_bound(q.left, q.together);
    q.place = q.left.live < extent_size(q.left) ? q.left.live + 1 : extent_size(q.left);
    if (p->top && q.first + q.together == end) { /* k goes on from the bits */
        env_stage_end(p->e);
        return;
    }
    if (p->by_maps && !p->plain) {
        pool_run(p->e->pool, (size_t)1 << t->t, weighted_task, p);
        pool_run(p->e->pool, 5 * ((t->blocks + ROW_GROUP / 8 - 1) / (ROW_GROUP / 8)), map_fill_task, &q);
    } else {
        gf192 eq[1 << (LAYERS_MAX_BIT_ROUNDS + MAX_TOGETHER)];
        eq_table(eq, p->rho, t->t + q.together);
        for (size_t i = 0; i < (size_t)1 << (t->t + q.together - 3); i++)
            p->kn->bitmap_prepare(&p->group_maps[i], eq + 8 * i);
        pool_run(p->e->pool, t->blocks, bits_fold_task, &q);
    }
    env_stage_end(p->e);

    env_stage_begin(p->e, "field rounds");
    for (q.first += q.together; q.first < end; q.first += q.together) {
        begin(&q, most, end);
        const size_t tasks = (q.groups + GROUPS_A_TASK - 1) / GROUPS_A_TASK;
        pool_run(p->e->pool, tasks, table_sums_task, &q);
        const unsigned of_s = q.pending < q.left.vars ? q.pending : q.left.vars;
        q.live = ((q.live - 1) >> q.pending) + 1;
        q.left = extent_bound(q.left, q.pending);
        q.s_shift += of_s;
        q.k_shift += q.pending - of_s;
        send(&q, tasks);
        q.pending = q.together;
        memcpy(q.fold, p->rho + q.first, q.pending * sizeof *q.fold);
    }
    if (q.pending > 0 && !p->top)
        pool_run(p->e->pool, 5, last_fold_task, &q);
    env_stage_end(p->e);
}
