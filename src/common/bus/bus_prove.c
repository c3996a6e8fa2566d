/* The grand product, prover.   docs/protocol.md 7.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A round's sums run over pieces of CHUNK pairs that stay in the caches, the fold by the previous challenge
 * done on the way. Sums in E are exact, so the bytes do not depend on how pieces are shared out among
 * threads. */
#include "bus.h"
#include <assert.h>
#include "../poly/poly.h"

enum {
    LOG_CHUNK = 7,
    CHUNK = 1 << LOG_CHUNK,
    MAX_TASKS = 64,
    SCRATCH = 8, /* vectors of CHUNK elements a worker */
    SCRATCH_WORDS = SCRATCH * 3 * CHUNK,
    LOG_PLAIN = 3 /* fewer than 2^3 elements are done one by one: kernels take multiples of 8 */
};

/* A piece of work that is cut into equal tasks. */
static size_t task_count(size_t chunks) {
    return chunks < MAX_TASKS ? chunks : MAX_TASKS;
}

static evec scratch_vector(uint64_t *scratch, unsigned worker, unsigned which) {
    return (evec){scratch + (size_t)worker * SCRATCH_WORDS + (size_t)which * 3 * CHUNK, CHUNK};
}

static void evec_sum(evec d, evec a, evec b, size_t n) {
    for (size_t l = 0; l < 3; l++) {
        uint64_t *to = d.p + l * d.stride;
        const uint64_t *x = a.p + l * a.stride, *y = b.p + l * b.stride;
        for (size_t i = 0; i < n; i++)
            to[i] = x[i] ^ y[i];
    }
}

/* ---- the trees ---- */

typedef struct products {
    const sheaf_kernels *k;
    evec from, to; /* T_{i+2}, T_i */
    unsigned i;
    size_t chunks, per_task;
    uint64_t *scratch;
} products;

static void products_task(void *ctx, size_t task, unsigned worker) {
    const products *p = ctx;
    const size_t len = (size_t)1 << (p->i < LOG_CHUNK ? p->i : LOG_CHUNK), quarter = (size_t)1 << p->i;
    evec t = scratch_vector(p->scratch, worker, 0);
    for (size_t chunk = task * p->per_task; chunk < (task + 1) * p->per_task; chunk++) {
        size_t x = chunk * len;
        evec d = evec_at(p->to, x);
        p->k->evec_mul(d, evec_at(p->from, x), evec_at(p->from, x + quarter), len);
        p->k->evec_mul(t, evec_at(p->from, x + 2 * quarter), evec_at(p->from, x + 3 * quarter), len);
        p->k->evec_mul(d, d, t, len);
    }
}

/* T_i from T_{i+2}. */
static void products_of_four(env *e, evec to, evec from, unsigned i, uint64_t *scratch) {
    const size_t n = (size_t)1 << i;
    if (i >= LOG_PLAIN) {
        products p = {kernels(), from, to, i, i <= LOG_CHUNK ? 1 : n >> LOG_CHUNK, 0, scratch};
        const size_t tasks = task_count(p.chunks);
        p.per_task = p.chunks / tasks;
        pool_run(e->pool, tasks, products_task, &p);
        return;
    }
    for (size_t x = 0; x < n; x++) {
        gf192 low = gf192_mul(evec_get(from, x), evec_get(from, x + n));
        gf192 high = gf192_mul(evec_get(from, x + 2 * n), evec_get(from, x + 3 * n));
        evec_set(to, x, gf192_mul(low, high));
    }
}

/* ---- a layer's rounds ---- */

typedef struct rounds {
    const sheaf_kernels *k;
    evec side[2];  /* T_{i+2} of push and pull: child c at c 2^i, its first 2^{n+1} elements live (2^{n+2}
                      before a fold) */
    unsigned i, n; /* the round's variable is n: pairs are (x, x + 2^n), x < 2^n */
    int fold;      /* fold by r, the challenge of variable n + 1, first */
    gf192 r;
    evec eq_low;    /* eq of the point's variables below min(n, LOG_CHUNK) */
    gf192 *eq_high; /* and of those from LOG_CHUNK to n - 1, one for each chunk */
    size_t chunks, per_task;
    uint64_t *scratch;
    gf192 sum[MAX_TASKS][2][5]; /* of each task and side: the cofactor's coefficients */
} rounds;

/* The coefficients of (A_0 + A_1 X + A_2 X^2) (B_0 + B_1 X + B_2 X^2) from d: A_0 B_0, A_1 B_1, (A_0 +
 * A_1)(B_0 + B_1), A_2 B_2, (A_1 + A_2)(B_1 + B_2), and the product's value at 1. */
static void quartic(gf192 g[5], const gf192 d[6]) {
    g[0] = d[0];
    g[1] = gf192_add(d[2], gf192_add(d[0], d[1]));
    g[3] = gf192_add(d[4], gf192_add(d[1], d[3]));
    g[4] = d[3];
    g[2] = gf192_add(gf192_add(d[5], gf192_add(g[0], g[1])), gf192_add(g[3], g[4]));
}

/* q: the coefficients 0, 1, 2 of (a_0 + (a_0 + a_1) X) (b_0 + (b_0 + b_1) X), and q[3] its value at 1; with
 * eq, times eq. */
static void quadratic_vectors(const sheaf_kernels *k, const evec q[4], evec a0, evec a1, evec b0, evec b1,
                              const evec *eq, size_t n) {
    if (eq != NULL) {
        k->evec_mul(q[0], a0, *eq, n);
        k->evec_mul(q[3], a1, *eq, n);
        a0 = q[0];
        a1 = q[3];
    }
    evec_sum(q[1], a0, a1, n);
    evec_sum(q[2], b0, b1, n);
    k->evec_mul(q[2], q[2], q[1], n);
    k->evec_mul(q[0], a0, b0, n);
    k->evec_mul(q[3], a1, b1, n);
    evec_sum(q[1], q[0], q[3], n);
    evec_sum(q[1], q[1], q[2], n);
}

/* One side's pairs x .. x+n-1, weighted with eq_low. */
static void chunk_vectors(const rounds *w, gf192 g[5], evec side, size_t x, size_t n, unsigned worker) {
    const sheaf_kernels *k = w->k;
    const size_t half = (size_t)1 << w->n;
    evec lo[4], hi[4], a[4], b[4];
    for (size_t c = 0; c < 4; c++) {
        lo[c] = evec_at(side, (c << w->i) + x);
        hi[c] = evec_at(lo[c], half);
        if (w->fold) {
            k->evec_fold(lo[c], lo[c], evec_at(lo[c], 2 * half), w->r, n);
            k->evec_fold(hi[c], hi[c], evec_at(hi[c], 2 * half), w->r, n);
        }
        a[c] = scratch_vector(w->scratch, worker, (unsigned)c);
        b[c] = scratch_vector(w->scratch, worker, 4 + (unsigned)c);
    }
    quadratic_vectors(k, a, lo[0], hi[0], lo[1], hi[1], &w->eq_low, n);
    quadratic_vectors(k, b, lo[2], hi[2], lo[3], hi[3], NULL, n);
    gf192 d[6];
    k->evec_dot3(d, a[0], a[1], b[0], b[1], n);
    k->evec_dot2(d + 3, a[1], a[2], b[1], b[2], n);
    k->evec_dot(d + 5, a[3], b[3], n);
    quartic(g, d);
}

/* The same for pair x alone. */
static void chunk_plain(const rounds *w, gf192 g[5], evec side, size_t x) {
    const size_t half = (size_t)1 << w->n;
    gf192 q[2][4]; /* coefficients 0, 1, 2 and the value at 1 */
    for (size_t pair = 0; pair < 2; pair++) {
        gf192 v[2][2]; /* of the pair's two children: at 0, at 1 */
        for (size_t c = 0; c < 2; c++)
            for (size_t b = 0; b < 2; b++) {
                evec at = evec_at(side, ((2 * pair + c) << w->i) + x + b * half);
                v[c][b] = evec_get(at, 0);
                if (w->fold) {
                    gf192 step = gf192_add(v[c][b], evec_get(at, 2 * half));
                    v[c][b] = gf192_add(v[c][b], gf192_mul(w->r, step));
                    evec_set(at, 0, v[c][b]);
                }
            }
        q[pair][0] = gf192_mul(v[0][0], v[1][0]);
        q[pair][3] = gf192_mul(v[0][1], v[1][1]);
        q[pair][2] = gf192_mul(gf192_add(v[0][0], v[0][1]), gf192_add(v[1][0], v[1][1]));
        q[pair][1] = gf192_add(gf192_add(q[pair][0], q[pair][3]), q[pair][2]);
    }
    gf192 eq = evec_get(w->eq_low, x);
    for (size_t j = 0; j < 4; j++)
        q[0][j] = gf192_mul(q[0][j], eq);
    const gf192 *a = q[0], *b = q[1];
    const gf192 d[6] = {gf192_mul(a[0], b[0]),
                        gf192_mul(a[1], b[1]),
                        gf192_mul(gf192_add(a[0], a[1]), gf192_add(b[0], b[1])),
                        gf192_mul(a[2], b[2]),
                        gf192_mul(gf192_add(a[1], a[2]), gf192_add(b[1], b[2])),
                        gf192_mul(a[3], b[3])};
    quartic(g, d);
}

static void add_scaled(gf192 sum[5], const gf192 g[5], gf192 by) {
    for (size_t j = 0; j < 5; j++)
        sum[j] = gf192_add(sum[j], gf192_mul(by, g[j]));
}

static void round_task(void *ctx, size_t task, unsigned worker) {
    rounds *w = ctx;
    gf192 g[5];
    memset(w->sum[task], 0, sizeof w->sum[task]);
    if (w->n < LOG_PLAIN) {
        for (size_t s = 0; s < 2; s++)
            for (size_t x = 0; x < (size_t)1 << w->n; x++) {
                chunk_plain(w, g, w->side[s], x);
                add_scaled(w->sum[task][s], g, GF192_ONE);
            }
        return;
    }
    const size_t len = (size_t)1 << (w->n < LOG_CHUNK ? w->n : LOG_CHUNK);
    for (size_t chunk = task * w->per_task; chunk < (task + 1) * w->per_task; chunk++)
        for (size_t s = 0; s < 2; s++) {
            chunk_vectors(w, g, w->side[s], chunk * len, len, worker);
            add_scaled(w->sum[task][s], g, w->n > LOG_CHUNK ? w->eq_high[chunk] : GF192_ONE);
        }
}

/* Drops the highest variable of the eq tables: (1 + z) t + z t = t. */
static void eq_drop(rounds *w, unsigned n) {
    const size_t half = (size_t)1 << (n - 1);
    if (n > LOG_CHUNK)
        for (size_t x = 0; x < half >> LOG_CHUNK; x++)
            w->eq_high[x] = gf192_add(w->eq_high[x], w->eq_high[x + (half >> LOG_CHUNK)]);
    else
        for (size_t x = 0; x < half; x++)
            evec_set(w->eq_low, x, gf192_add(evec_get(w->eq_low, x), evec_get(w->eq_low, x + half)));
}

/* Fraction of all the work that is done before round n of layer i. A layer costs four times the one before
 * it, so a third of its cost came before it and the last one is 3/4 of the whole; a layer's rounds halve. */
static double fraction(unsigned h, unsigned i, unsigned n) {
    double layer = 0.75;
    for (unsigned up = i + 2; up < h; up++)
        layer /= 2;
    return layer / 3 + layer * (1 - (double)((uint64_t)2 << n) / (double)((uint64_t)1 << i));
}

/* Step 2 of docs/protocol.md 7 for layer i: the rounds at z, then the tail (push's four children, then
 * pull's). */
static int prove_layer(tx *c, env *e, rounds *w, gf192 point[BUS_MAX_HEIGHT], gf192 tail[8], const gf192 *z,
                       gf192 delta, unsigned i, unsigned h) {
    const unsigned top = i - 1, low = top < LOG_CHUNK ? top : LOG_CHUNK;
    eq_table_evec(w->eq_low, z, low, GF192_ONE);
    eq_table(w->eq_high, z + low, top - low);
    w->i = i;
    w->fold = 0;
    for (unsigned n = i; n-- > 0;) {
        if (env_progress(e, fraction(h, i, n), "bus") != 0)
            return -1;
        w->n = n;
        w->chunks = n <= LOG_CHUNK ? 1 : (size_t)1 << (n - LOG_CHUNK);
        const size_t tasks = task_count(w->chunks);
        w->per_task = w->chunks / tasks;
        pool_run(e->pool, tasks, round_task, w);
        gf192 g[5] = {GF192_ZERO, GF192_ZERO, GF192_ZERO, GF192_ZERO, GF192_ZERO};
        for (size_t t = 0; t < tasks; t++) {
            add_scaled(g, w->sum[t][0], GF192_ONE);
            add_scaled(g, w->sum[t][1], delta);
        }
        tx_send_e(c, MSG_BUS_ROUND, g + 1, 4);
        transcript_squeeze(&c->t, &w->r, 1);
        point[n] = w->r;
        w->fold = 1;
        if (n > 0)
            eq_drop(w, n);
    }
    for (size_t s = 0; s < 2; s++)
        for (size_t child = 0; child < 4; child++) {
            evec at = evec_at(w->side[s], child << i);
            gf192 at0 = evec_get(at, 0);
            tail[4 * s + child] = gf192_add(at0, gf192_mul(w->r, gf192_add(at0, evec_get(at, 1))));
        }
    tx_send_e(c, MSG_BUS_TAIL, tail, 8);
    return 0;
}

/* ---- the whole ---- */

typedef struct trees {
    evec level[2][BUS_MAX_HEIGHT + 1]; /* [side][i]: T_i; T_h is the caller's */
} trees;

/* T_{h-2}, T_{h-4}, ..., T_root; root = 1 or 2, even where h is. */
static int trees_build(env *e, trees *t, unsigned h, unsigned root, uint64_t *scratch) {
    for (unsigned i = h; i > root;) {
        i -= 2;
        const size_t stride = round_up((size_t)1 << i, 8);
        for (size_t s = 0; s < 2; s++) {
            t->level[s][i] = (evec){mem_alloc(e->mem, 3 * stride * sizeof(uint64_t)), stride};
            if (t->level[s][i].p == NULL)
                return -1;
            products_of_four(e, t->level[s][i], t->level[s][i + 2], i, scratch);
        }
    }
    return 0;
}

static void trees_free(env *e, trees *t, unsigned i) {
    for (size_t s = 0; s < 2; s++) {
        mem_free(e->mem, t->level[s][i].p);
        t->level[s][i].p = NULL;
    }
}

int bus_prove(tx *c, env *e, bus_claim *claim, evec push, evec pull, unsigned h) {
    assert(h >= 3 && h <= BUS_MAX_HEIGHT);
    const unsigned root = h % 2 == 1 ? 1 : 2;
    trees t;
    memset(&t, 0, sizeof t);
    t.level[0][h] = push;
    t.level[1][h] = pull;
    memset(claim, 0, sizeof *claim);

    int result = -1;
    uint64_t *scratch = mem_alloc(e->mem, (size_t)pool_threads(e->pool) * SCRATCH_WORDS * sizeof(uint64_t));
    uint64_t *eq_low = mem_alloc(e->mem, 3 * (size_t)CHUNK * sizeof(uint64_t));
    gf192 *eq_high = mem_alloc(e->mem, sizeof(gf192) << (h > LOG_CHUNK + 3 ? h - LOG_CHUNK - 3 : 0));
    rounds *w = mem_alloc(e->mem, sizeof *w);
    if (scratch == NULL || eq_low == NULL || eq_high == NULL || w == NULL ||
        trees_build(e, &t, h, root, scratch) != 0)
        goto out;
    w->k = kernels();
    w->scratch = scratch;
    w->eq_low = (evec){eq_low, CHUNK};
    w->eq_high = eq_high;

    /* 1. The root. */
    const size_t children = (size_t)1 << root;
    gf192 child[8], squeezed[3];
    for (size_t s = 0; s < 2; s++)
        for (size_t x = 0; x < children; x++)
            child[s * children + x] = evec_get(t.level[s][root], x);
    tx_send_e(c, MSG_BUS_TAIL, child, 2 * children);
    transcript_squeeze(&c->t, squeezed, root + 1);
    memcpy(claim->zeta, squeezed, root * sizeof(gf192));
    gf192 delta = squeezed[root];
    claim->push = bus_children_at(child, claim->zeta, root);
    claim->pull = bus_children_at(child + children, claim->zeta, root);

    /* 2. The layers. */
    for (unsigned i = root; i < h; i += 2) {
        gf192 point[BUS_MAX_HEIGHT];
        trees_free(e, &t, i);
        w->side[0] = t.level[0][i + 2];
        w->side[1] = t.level[1][i + 2];
        if (prove_layer(c, e, w, point, child, claim->zeta, delta, i, h) != 0)
            goto out;
        transcript_squeeze(&c->t, squeezed, 3);
        memcpy(claim->zeta, point, i * sizeof(gf192));
        claim->zeta[i] = squeezed[0];
        claim->zeta[i + 1] = squeezed[1];
        delta = squeezed[2];
        claim->push = bus_children_at(child, squeezed, 2);
        claim->pull = bus_children_at(child + 4, squeezed, 2);
    }
    result = 0;
out:
    for (unsigned i = root; i < h; i += 2)
        trees_free(e, &t, i);
    mem_free(e->mem, w);
    mem_free(e->mem, eq_high);
    mem_free(e->mem, eq_low);
    mem_free(e->mem, scratch);
    return result;
}
