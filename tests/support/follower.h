/* For provers whose lie keeps the equation of the check that reads it. Such a lie needs challenges that the
 * prover has had: the hook is called before its message is absorbed, so it forks the transcript there and
 * squeezes what the prover is about to squeeze.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_TESTS_FOLLOWER_H
#define SHEAF_TESTS_FOLLOWER_H

#include "t.h"
#include "circuit/outer.h"
#include "hash/transcript.h"
#include "keccak_gkr/layers.h"
#include "poly/poly.h"

static T_UNUSED_ gf192 next_challenges(const tx *c, const uint64_t *words, size_t n, gf192 *out,
                                       size_t n_out) {
    transcript fork = c->t;
    transcript_absorb(&fork, words, n);
    transcript_squeeze(&fork, out, n_out);
    return out[n_out - 1];
}

static T_UNUSED_ gf192 next_challenge(const tx *c, const uint64_t *words, size_t n) {
    gf192 r;
    return next_challenges(c, words, n, &r, 1);
}

/* ---- Keccak layers: other values of the same chi claim ---- */

enum { MOST_ROWS = 256, HONEST = 99 };

/* Follows the layers through the hook and lies in one tail. */
typedef struct follower {
    const tx *c;
    layers_shape sh;
    const gf192 *omega; /* NULL: then layer 23 is not the target */
    unsigned target;    /* the layer whose tail is false; HONEST: none */
    unsigned layer, n;  /* at hand, and its rounds so far */
    gf192 rho[LAYERS_MAX_M + LAYERS_MAX_KAPPA], z[6], y[3];
    gf192 w[25 * 64]; /* of the layer at hand; at the end the inputs' */
    gf192 by;
    unsigned told;
} follower;

static T_UNUSED_ void follower_init(follower *f, const tx *c, layers_shape sh, const gf192 *omega,
                                    unsigned target) {
    memset(f, 0, sizeof *f);
    f->c = c;
    f->sh = sh;
    f->omega = omega;
    f->target = target;
    f->layer = 23;
    f->by = (gf192){{3, 5, 7}};
}

/* The verifier's weights of the five values: docs/protocol.md 8.4. */
static T_UNUSED_ void tail_weights(const follower *f, gf192 wt[5]) {
    gf192 eq_y[8], eq_z[64], eq_k[MOST_ROWS];
    for (unsigned x = 0; x < 5; x++)
        wt[x] = GF192_ZERO;
    eq_table(eq_y, f->y, 3);
    eq_table(eq_z, f->z, 6);
    eq_places(eq_k, f->sh.rows, f->rho + f->sh.m, f->sh.kappa);
    for (size_t l = 0; l < 25; l++) {
        gf192 sum = GF192_ZERO;
        if (f->layer == 23)
            for (size_t k = 0; k < f->sh.rows; k++)
                sum = gf192_add(sum, gf192_mul(eq_k[k], f->omega[25 * k + l]));
        else
            for (size_t b = 0; b < 64; b++)
                sum = gf192_add(sum, gf192_mul(eq_z[b], f->w[64 * l + b]));
        wt[l % 5] = gf192_add(wt[l % 5], gf192_mul(eq_y[l / 5], sum));
    }
}

/* e_0 and e_2 are never multiplied by each other, so the claim is affine in the two. */
static T_UNUSED_ void other_values(const gf192 wt[5], gf192 e[5], gf192 by) {
    const gf192 claim = layers_chi_claim(wt, e);
    gf192 slope[2];
    for (size_t i = 0; i < 2; i++) {
        gf192 moved[5];
        memcpy(moved, e, sizeof moved);
        moved[2 * i] = gf192_add(moved[2 * i], GF192_ONE);
        slope[i] = gf192_add(claim, layers_chi_claim(wt, moved));
        CHECK(!gf192_is_zero(slope[i]));
    }
    e[0] = gf192_add(e[0], gf192_mul(by, slope[1]));
    e[2] = gf192_add(e[2], gf192_mul(by, slope[0]));
    CHECK(gf192_equal(layers_chi_claim(wt, e), claim));
}

static T_UNUSED_ void follow(follower *f, msg_kind kind, uint64_t *words, size_t n) {
    const unsigned vars = f->sh.m + f->sh.kappa;
    if (kind == MSG_LAYER_ROUND) {
        const unsigned i = f->n++;
        gf192 *to = i < vars ? &f->rho[i] : i < vars + 6 ? &f->z[i - vars] : &f->y[i - vars - 6];
        *to = next_challenge(f->c, words, n);
    } else if (kind == MSG_LAYER_TAIL) {
        if (f->layer == f->target) {
            gf192 e[5], wt[5];
            memcpy(e, words, sizeof e);
            tail_weights(f, wt);
            other_values(wt, e, f->by);
            memcpy(words, e, sizeof e);
            f->told++;
        }
        layers_point at;
        layers_point_set(&at, next_challenge(f->c, words, n), f->y, f->z);
        layers_weights(f->w, &at);
        f->layer--;
        f->n = 0;
    }
}

/* Two slices change, sum_z w(j*, z) s_z does not. */
static T_UNUSED_ void other_slices(const follower *f, const circuit *c, const gf192 *j_point,
                                   uint64_t *words) {
    static gf192 eq_j[1 << 10];
    gf192 slice[64], eq_k[MOST_ROWS], weight[2] = {GF192_ZERO, GF192_ZERO};
    memcpy(slice, words, sizeof slice);
    eq_table(eq_j, j_point, c->j_vars);
    eq_places(eq_k, c->rows, f->rho + f->sh.m, c->kappa);
    for (size_t i = 0; i < 25 * (size_t)c->rows; i++)
        if (c->source[i].kind == SOURCE_WORD) {
            const gf192 mass = gf192_mul(eq_k[i / 25], eq_j[c->source[i].a]);
            for (size_t z = 0; z < 2; z++)
                weight[z] = gf192_add(weight[z], gf192_mul(mass, f->w[64 * (i % 25) + z]));
        }
    for (size_t z = 0; z < 2; z++) {
        CHECK(!gf192_is_zero(weight[z]));
        slice[z] = gf192_add(slice[z], gf192_mul(f->by, weight[1 - z]));
    }
    memcpy(words, slice, sizeof slice);
}

#endif
