/* Grand products to try: leaves, an honest run, plain multilinear extensions.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_TESTS_BUS_RIG_H
#define SHEAF_TESTS_BUS_RIG_H

#include "t.h"
#include "bus/bus.h"
#include "poly/poly.h"

typedef struct bus_rig {
    unsigned h;
    size_t n;
    gf192 *push, *pull; /* n leaves each */
    gf192 extra;        /* extra prod(push) = prod(pull) */
} bus_rig;

static T_UNUSED_ gf192 rand_e(uint64_t *seed) {
    gf192 a;
    for (size_t l = 0; l < 3; l++)
        a.c[l] = t_rand64(seed);
    return a;
}

/* Random leaves, a run of ones among them, the pull side in another order. Needs no zero to be drawn. */
static T_UNUSED_ int bus_rig_init(bus_rig *b, unsigned h, uint64_t *seed) {
    b->h = h;
    b->n = (size_t)1 << h;
    b->push = malloc(b->n * sizeof(gf192));
    b->pull = malloc(b->n * sizeof(gf192));
    if (b->push == NULL || b->pull == NULL)
        return -1;
    for (size_t i = 0; i < b->n; i++)
        b->push[i] = i % 8 > 4 ? GF192_ONE : rand_e(seed);
    memcpy(b->pull, b->push, b->n * sizeof(gf192));
    for (size_t i = b->n - 1; i > 0; i--) {
        size_t j = (size_t)(t_rand64(seed) % (i + 1));
        gf192 t = b->pull[i];
        b->pull[i] = b->pull[j];
        b->pull[j] = t;
    }
    b->extra = rand_e(seed);
    b->push[0] = gf192_mul(b->push[0], gf192_inv(b->extra));
    return 0;
}

static T_UNUSED_ void bus_rig_free(bus_rig *b) {
    free(b->push);
    free(b->pull);
}

/* The whole of c is the grand product's messages. Leaves the rig's arrays as they are. */
static T_UNUSED_ int bus_rig_prove(const bus_rig *b, tx *c, env *e, bus_claim *claim) {
    const size_t n = b->n;
    uint64_t *words = mem_alloc(NULL, 6 * n * sizeof(uint64_t));
    if (words == NULL)
        return -1;
    evec push = {words, n}, pull = {words + 3 * n, n};
    for (size_t i = 0; i < n; i++) {
        evec_set(push, i, b->push[i]);
        evec_set(pull, i, b->pull[i]);
    }
    int result = bus_prove(c, e, claim, push, pull, b->h);
    mem_free(NULL, words);
    return result;
}

/* Verifies the bytes as a whole proof: 0, or -1 with the failure. */
static T_UNUSED_ int bus_rig_verify(unsigned h, gf192 extra, const void *proof, size_t len, bus_claim *claim,
                                    sheaf_failure *f) {
    rx c;
    rx_init(&c, proof, len);
    int result = bus_verify(&c, claim, extra, h);
    if (result == 0)
        result = rx_finish(&c);
    *f = c.fail;
    rx_free(&c);
    return result;
}

static T_UNUSED_ gf192 plain_mle(const gf192 *values, unsigned vars, const gf192 *z) {
    gf192 *eq = malloc(sizeof(gf192) << vars), s = GF192_ZERO;
    if (!CHECK(eq != NULL))
        return s;
    eq_table(eq, z, vars);
    for (size_t i = 0; i < (size_t)1 << vars; i++)
        s = gf192_add(s, gf192_mul(eq[i], values[i]));
    free(eq);
    return s;
}

/* Where message word `word` belongs: layer 0 is the root, and its place within the layer: rounds first, then
 * the tail. */
typedef struct bus_place {
    unsigned layer;
    int tail;
} bus_place;

static T_UNUSED_ size_t bus_proof_words(unsigned h) {
    size_t n = 3 * 2 * ((size_t)1 << (h % 2 == 1 ? 1 : 2));
    for (unsigned i = h % 2 == 1 ? 1 : 2; i < h; i += 2)
        n += 3 * (4 * (size_t)i + 8);
    return n;
}

static T_UNUSED_ bus_place bus_place_of(unsigned h, size_t word) {
    unsigned i = h % 2 == 1 ? 1 : 2;
    size_t end = 3 * 2 * ((size_t)1 << i);
    bus_place p = {0, 1};
    for (; word >= end; i += 2) {
        p.layer++;
        p.tail = word >= end + 12 * (size_t)i;
        end += 3 * (4 * (size_t)i + 8);
    }
    return p;
}

#endif
