/* WHIR with interleaved words: commit, open, verify; and ring switching.   docs/protocol.md 6. */
#ifndef SHEAF_WHIR_H
#define SHEAF_WHIR_H

#include "../hash/transcript.h"
#include "../kernels.h"
#include "../merkle/merkle.h"
#include "../ntt/ntt.h"
#include "params.h"

/* ---- the first commitment ---- */
typedef struct whir_commitment {
    const uint64_t *msg; /* the rows that are encoded, 2^k words each */
    uint64_t *own;       /* the same where they are the commitment's */
    unsigned k, rate;
    size_t live_rows;
    uint64_t *code; /* NULL where computing the few words that are opened takes less than keeping all */
    size_t together; /* cosets that were encoded at once: their words are where the layout says, one such group
                      * after another */
    ntt_layout layout;
    merkle_tree tree;
} whir_commitment;

/* q: 2^log_words K words, index u = j * 2^m + s, unchanged until the commitment is freed. Rows wholly past
 * live_words (a count of words, a multiple of 2^m) must be zero and are neither encoded nor hashed. Sends the root. */
SHEAF_MUST_CHECK int whir_commit(tx *c, env *e, whir_commitment *w, const whir_params *par, const uint64_t *q, size_t live_words);
void whir_commitment_free(whir_commitment *w, mem *m);
/* Bytes that a commitment holds, and the most while it is made on so many threads. */
typedef struct whir_bytes {
    uint64_t held, most;
} whir_bytes;
whir_bytes whir_commitment_bytes(const whir_params *par, size_t live_rows, unsigned threads);

/* Proves what sum_u weight(u) q(u) is; the sum itself is not sent. log_words >= 4. weight: 2^log_words E elements in planes,
 * consumed (overwritten). Its stages, and the commitment's, are children of the span that the caller has open. */
SHEAF_MUST_CHECK int whir_open(tx *c, env *e, const whir_params *par, const whir_commitment *w, const uint64_t *q, evec weight);

/* Verifies. Calls weight_at(ctx, r) once, with the full point r of log_words coordinates, for the weight's multilinear
 * extension there. */
SHEAF_MUST_CHECK int whir_verify(rx *c, const whir_params *par, const uint8_t root[32], size_t live_words, gf192 claim,
                                 gf192 (*weight_at)(void *ctx, const gf192 *r), void *ctx);

/* Number of live rows: ceil(live_words / 2^(log_words - fold_0)). */
size_t whir_live_rows(const whir_params *par, size_t live_words);

/* ---- ring switching ---- */
#define RING_CHALLENGES 6
typedef struct ring_map { /* Phi = sum_k coeff[k] Frob^k, k = 0..63 */
    gf192 coeff[64];
} ring_map;
void ring_map_init(ring_map *phi, const gf192 f[RING_CHALLENGES]);
gf192 ring_map_apply(const ring_map *phi, gf192 a);
/* sum_z x^z Phi(s_z) */
gf192 ring_claim(const ring_map *phi, const gf192 slices[64]);
/* sum_k c_k prod_n (1 + r_n^(2^k) + point_n), n variables */
gf192 ring_weight_at(const ring_map *phi, const gf192 *r, const gf192 *point, unsigned n);
/* coeff[j] table(s) for the n first of the j = u >> vars, s being the low bits of u. */
typedef struct ring_extra {
    evec table;
    unsigned vars; /* >= 3 */
    const gf192 *coeff;
    size_t n;
} ring_extra;
/* weight(u) = Phi(eq(r, u)) for every u in 0..2^n-1 (prover; those of dead rows too, since folding mixes them in), and
 * with extra, unless it is NULL. Returns 0, or -1 when out of memory. */
SHEAF_MUST_CHECK int ring_weights(evec weight, env *e, const ring_map *phi, const gf192 *r, unsigned n,
                                  const ring_extra *extra);

#endif
