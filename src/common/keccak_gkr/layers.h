/* Keccak-f[1600] by layers: 24 sumchecks from a claim on the outputs to one on the inputs.
 * docs/protocol.md 8.4. SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_LAYERS_H
#define SHEAF_LAYERS_H

#include "../hash/transcript.h"
#include "../kernels.h"

#define LAYERS_MAX_M 20
#define LAYERS_MAX_KAPPA 12
#define LAYERS_MAX_BIT_ROUNDS 6

/* 2^m slots; `rows` permutations a slot in 2^kappa places. */
typedef struct layers_shape {
    unsigned m, kappa, rows;
} layers_shape;

/* The claim left on the inputs: sum_{l,z} w[64 l + z] A_0(l, z, rho) = claim. */
typedef struct layers_claim {
    gf192 rho[LAYERS_MAX_M + LAYERS_MAX_KAPPA]; /* m coordinates of s, then kappa of k */
    gf192 w[25 * 64];
    gf192 claim;
} layers_claim;

/* omega: rows x 25, Omega(k, l) at 25 k + l. */
SHEAF_MUST_CHECK int layers_verify(rx *c, layers_claim *out, layers_shape sh, const gf192 *omega,
                                   const gf192 *zeta_s, gf192 v_out);

/* ---- proving side ---- */

/* Where a lane of a row's input comes from: a column of 2^m words, or (words NULL) the same value in every
 * slot. What repeats must do so in every column. */
typedef struct lane_input {
    const uint64_t *words;
    uint64_t value;
} lane_input;

typedef struct layers_trace layers_trace;
/* The states of all permutations, bit-sliced. distinct: all slots from the last of so many on hold the
 * same, 1..2^m. inputs: rows x 25; not kept. bit_rounds: how many variables of s each layer binds before it
 * leaves the bits, 3..min(m, LAYERS_MAX_BIT_ROUNDS), or 0 to choose by size. Neither choice changes a proof
 * byte. NULL when out of memory. */
layers_trace *layers_trace_create(env *e, layers_shape sh, size_t distinct, const lane_input *inputs,
                                  unsigned bit_rounds);
void layers_trace_destroy(env *e, layers_trace *t);
SHEAF_MUST_CHECK int layers_prove(tx *c, env *e, layers_claim *out, layers_trace *t, const gf192 *omega,
                                  const gf192 *zeta_s, gf192 v_out);

/* Tests only: makes rows of five by products with the weights, as where one of them is zero. */
void layers_trace_set_plain(layers_trace *t);

/* What layers_trace_create chooses. */
unsigned layers_bit_rounds(layers_shape sh);
/* The most bytes that layers_trace_create and layers_prove hold at once. lanes: of how many Omega is not zero
 * everywhere, the first ones. */
uint64_t layers_bytes(layers_shape sh, size_t distinct, unsigned lanes, unsigned threads);

/* ---- shared by both sides ---- */

/* The weights that a layer leaves: the transpose of rho-pi-theta applied to mu^x eq(y, .) eq(z, .), kept as
 * the point. */
typedef struct layers_point {
    gf192 lane[25]; /* mu^x eq(y, y') for lane x + 5y' */
    gf192 z[6], eq_z[64];
} layers_point;
/* Points: three coordinates of y, six of z. */
void layers_point_set(layers_point *p, gf192 mu, const gf192 *y, const gf192 *z);
/* All 25 x 64 of the weights. */
void layers_weights(gf192 w[25 * 64], const layers_point *p);
/* wt[x] = sum_{y'<5, z'} eq(y, y') eq(z, z') w(x + 5y', z'), without the dense weights. */
void layers_weights_at(gf192 wt[5], const layers_point *p, const gf192 *y, const gf192 *z);
/* layers_constant of the weights. */
gf192 layers_point_constant(const layers_point *p, unsigned r);
/* The value that a layer's last claim must have: sum_x wt[x] (e_x + e_{x+2} + e_{x+1} e_{x+2}). */
gf192 layers_chi_claim(const gf192 wt[5], const gf192 e[5]);
/* sum over the set bits z of RC[r] of w[z]: the round constant's part under weights on lane 0. */
gf192 layers_constant(const gf192 w0[64], unsigned r);

#endif
