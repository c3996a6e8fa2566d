/* Openings to try: a word, a weight, an honest run.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_TESTS_WHIR_RIG_H
#define SHEAF_TESTS_WHIR_RIG_H

#include "t.h"
#include "pcs/whir.h"

typedef struct whir_rig {
    whir_params par;
    unsigned vars;
    size_t n, live;
    uint64_t *q; /* zero from `live` on */
    evec weight;
    gf192 claim;
    unsigned asked; /* how often a verifier asked for the weight */
} whir_rig;

/* Small rows: folds that sum to log_words - last_log; every kind of level. */
static const whir_params whir_rig_rows[] = {
    {9, 2, 4, 2, {{2, 1, 0, 0, 5, 0}, {3, 3, 0, 0, 4, 0}}},
    {9, 3, 3, 2, {{1, 2, 4, 0, 4, 0}, {3, 1, 0, 0, 6, 0}, {2, 4, 5, 0, 3, 0}}},
    {7, 1, 4, 2, {{3, 1, 3, 0, 7, 0}}},
    {8, 2, 2, 4, {{3, 2, 0, 0, 5, 0}, {3, 4, 2, 0, 6, 0}}},
    {6, 3, 0, 2, {{2, 1, 0, 0, 6, 0}, {2, 2, 1, 0, 5, 0}, {2, 3, 0, 0, 9, 0}}},
    {5, 2, 0, 2, {{4, 1, 0, 0, 3, 0}, {1, 6, 0, 0, 3, 0}}},
    {10, 2, 5, 4, {{4, 1, 0, 0, 40, 0}, {1, 1, 0, 0, 60, 0}}},
};
enum { WHIR_RIG_ROWS = sizeof whir_rig_rows / sizeof *whir_rig_rows };

static T_UNUSED_ gf192 whir_rig_rand_e(uint64_t *seed) {
    gf192 a;
    for (size_t l = 0; l < 3; l++)
        a.c[l] = t_rand64(seed);
    return a;
}

static T_UNUSED_ void whir_rig_free(whir_rig *g) {
    mem_free(NULL, g->q);
    mem_free(NULL, g->weight.p);
}

/* sum_u weight(u) q(u) */
static T_UNUSED_ gf192 whir_rig_sum(const whir_rig *g) {
    gf192 sum = GF192_ZERO;
    for (size_t u = 0; u < g->n; u++)
        sum = gf192_add(sum, gf192_mul_k(evec_get(g->weight, u), g->q[u]));
    return sum;
}

/* A random word and a random weight. */
static T_UNUSED_ int whir_rig_init(whir_rig *g, const whir_params *par, size_t live, uint64_t *seed) {
    memset(g, 0, sizeof *g);
    g->par = *par;
    g->vars = par->log_words;
    g->n = (size_t)1 << g->vars;
    g->live = live;
    g->q = mem_alloc_zero(NULL, g->n * sizeof(uint64_t));
    g->weight = (evec){mem_alloc(NULL, 3 * g->n * sizeof(uint64_t)), g->n};
    if (g->q == NULL || g->weight.p == NULL) {
        whir_rig_free(g);
        return -1;
    }
    for (size_t u = 0; u < live; u++)
        g->q[u] = t_rand64(seed);
    for (size_t i = 0; i < 3 * g->n; i++)
        g->weight.p[i] = t_rand64(seed);
    g->claim = whir_rig_sum(g);
    return 0;
}

/* Commits to g's word and opens `opened`, which is g's word unless someone cheats. c is fresh. */
static T_UNUSED_ int whir_rig_prove(const whir_rig *g, tx *c, env *e, const uint64_t *opened) {
    whir_commitment w;
    evec weight = {mem_alloc(NULL, 3 * g->n * sizeof(uint64_t)), g->n};
    int result = -1;
    if (weight.p == NULL)
        return -1;
    memcpy(weight.p, g->weight.p, 3 * g->n * sizeof(uint64_t));
    if (whir_commit(c, e, &w, &g->par, g->q, g->live) == 0) {
        result = whir_open(c, e, &g->par, &w, opened, weight);
        whir_commitment_free(&w, e->mem);
    }
    mem_free(NULL, weight.p);
    return result;
}

/* The multilinear extension of g's weight at r, highest variable first. */
static T_UNUSED_ gf192 whir_rig_weight_at(void *ctx, const gf192 *r) {
    whir_rig *g = ctx;
    gf192 *t = malloc(g->n * sizeof *t), value = GF192_ZERO;
    g->asked++;
    if (t == NULL)
        return value;
    for (size_t u = 0; u < g->n; u++)
        t[u] = evec_get(g->weight, u);
    for (unsigned i = g->vars; i-- > 0;)
        for (size_t u = 0; u < (size_t)1 << i; u++)
            t[u] = gf192_add(t[u], gf192_mul(r[i], gf192_add(t[u], t[u + ((size_t)1 << i)])));
    value = t[0];
    free(t);
    return value;
}

/* Reads the root and the opening, and nothing may be left. */
static T_UNUSED_ int whir_rig_verify_with(const whir_rig *g, const uint8_t *proof, size_t len, gf192 claim,
                                          gf192 (*weight_at)(void *ctx, const gf192 *r), void *ctx,
                                          sheaf_failure *f) {
    rx c;
    uint64_t words[4];
    uint8_t root[32];
    rx_init(&c, proof, len);
    int result = rx_recv_words(&c, MSG_ROOT, words, 4);
    for (size_t l = 0; l < 4; l++)
        store64_le(root + 8 * l, words[l]);
    if (result == 0)
        result = whir_verify(&c, &g->par, root, g->live, claim, weight_at, ctx);
    if (result == 0)
        result = rx_finish(&c);
    *f = c.fail;
    rx_free(&c);
    return result;
}

static T_UNUSED_ int whir_rig_verify(whir_rig *g, const uint8_t *proof, size_t len, sheaf_failure *f) {
    return whir_rig_verify_with(g, proof, len, g->claim, whir_rig_weight_at, g, f);
}

#endif
