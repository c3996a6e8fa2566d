/* WHIR, verifying side: serial, plain, one allocation that the parameters bound.   docs/protocol.md 6.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "whir.h"
#include "../ntt/ntt.h"
#include "../poly/poly.h"

#define MAX_VARS 64
#define LAST_MAX (1u << PARAMS_LAST_LOG)

/* What a level leaves to be evaluated at the end. */
typedef struct level_claims {
    unsigned k; /* variables of its points */
    gf192 xi;
    gf192 ood[NTT_MAX_LOG_N];  /* the out-of-domain point; unused at the last level */
    const uint64_t *positions; /* of its queries */
} level_claims;

typedef struct verifier {
    rx *c;
    const whir_params *par;
    size_t live_rows; /* of level 0 */
    gf192 claim;
    gf192 r[MAX_VARS]; /* the challenge of each variable */
    uint8_t root[32];  /* of the level at hand */
    gf192 last[LAST_MAX];
    level_claims level[WHIR_MAX_LEVELS];
    /* Slices of the one allocation. */
    uint64_t *positions;    /* all levels' */
    const uint8_t **leaves; /* as many as the largest level has queries */
    gf192 *eq;              /* as many as the largest level has rows */
} verifier;

size_t whir_live_rows(const whir_params *par, size_t live_words) {
    const unsigned k = par->log_words - par->level[0].fold;
    return (live_words >> k) + ((live_words & (((size_t)1 << k) - 1)) != 0);
}

/* Binds variables from..from-n+1, highest first. */
static int verify_rounds(verifier *v, unsigned from, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        gf192 sent[2], h[3], *r = &v->r[from - i];
        if (rx_recv_e(v->c, MSG_WHIR_ROUND, sent, 2) != 0)
            return -1;
        h[0] = sent[0];
        h[1] = gf192_add(v->claim, sent[1]);
        h[2] = sent[1];
        transcript_squeeze(&v->c->t, r, 1);
        v->claim = poly_eval(h, 2, *r);
    }
    return 0;
}

/* The folded column of a leaf: rows weighted by v->eq. An element of a later level is three words. */
static gf192 column_value(const verifier *v, unsigned level, const uint8_t *leaf) {
    gf192 sum = GF192_ZERO;
    if (level == 0) {
        for (size_t b = 0; b < v->live_rows; b++)
            sum = gf192_add(sum, gf192_mul_k(v->eq[b], load64_le(leaf + 8 * b)));
        return sum;
    }
    for (size_t b = 0; b < (size_t)1 << v->par->level[level].fold; b++) {
        const uint8_t *p = leaf + 24 * b;
        gf192 row = {{load64_le(p), load64_le(p + 8), load64_le(p + 16)}};
        sum = gf192_add(sum, gf192_mul(v->eq[b], row));
    }
    return sum;
}

/* Steps 3 and 4 of 6.3; y is the out-of-domain value, NULL at the last level. */
static int verify_queries(verifier *v, unsigned level, const gf192 *y) {
    const whir_level *par = &v->par->level[level];
    level_claims *claims = &v->level[level];
    const unsigned log_n = claims->k + par->rate;
    const size_t rows = level == 0 ? v->live_rows : (size_t)3 << par->fold;
    uint64_t *positions = v->positions;

    if (rx_grind(v->c, par->grind, level) != 0)
        return -1;
    transcript_squeeze_words(&v->c->t, positions, par->queries);
    for (size_t q = 0; q < par->queries; q++)
        positions[q] &= (UINT64_C(1) << log_n) - 1;
    claims->positions = positions;
    v->positions += par->queries;
    if (merkle_check(v->c, v->root, v->leaves, rows, log_n, v->par->arity, positions, par->queries, level) !=
        0)
        return -1;

    transcript_squeeze(&v->c->t, &claims->xi, 1);
    gf192 power = claims->xi;
    if (y != NULL) {
        v->claim = gf192_add(v->claim, gf192_mul(power, *y));
        power = gf192_mul(power, claims->xi);
    }
    eq_table(v->eq, v->r + claims->k, par->fold);
    for (size_t q = 0; q < par->queries; q++) {
        v->claim = gf192_add(v->claim, gf192_mul(power, column_value(v, level, v->leaves[q])));
        power = gf192_mul(power, claims->xi);
    }
    return 0;
}

static int verify_levels(verifier *v) {
    unsigned vars = v->par->log_words;
    for (unsigned i = 0; i < v->par->levels; i++) {
        level_claims *claims = &v->level[i];
        const int is_last = i + 1 == v->par->levels;
        uint64_t root[4];
        gf192 y;

        claims->k = vars - v->par->level[i].fold;
        if (verify_rounds(v, vars - 1, v->par->level[i].fold) != 0)
            return -1;
        vars = claims->k;
        if (is_last) {
            if (rx_recv_e(v->c, MSG_LAST_WORD, v->last, (size_t)1 << vars) != 0)
                return -1;
        } else {
            if (rx_recv_words(v->c, MSG_ROOT, root, 4) != 0)
                return -1;
            transcript_squeeze(&v->c->t, claims->ood, vars);
            if (rx_recv_e(v->c, MSG_OOD, &y, 1) != 0)
                return -1;
        }
        if (verify_queries(v, i, is_last ? NULL : &y) != 0)
            return -1;
        if (!is_last)
            for (unsigned l = 0; l < 4; l++)
                store64_le(v->root + 8 * l, root[l]);
    }
    return verify_rounds(v, vars - 1, vars);
}

/* w_p(r) = prod (1 + r_i (1 + Wn_i(p))).   docs/protocol.md 4 */
static gf192 position_weight(const gf192 *r, unsigned k, uint64_t position) {
    gf64 basis[NTT_MAX_LOG_N];
    gf192 product = GF192_ONE;
    ntt_basis_at(basis, k, position);
    for (unsigned i = 0; i < k; i++)
        product = gf192_mul(product, gf192_add(GF192_ONE, gf192_mul_k(r[i], 1 ^ basis[i])));
    return product;
}

/* The share of a level's queries and out-of-domain point in W(r). */
static gf192 level_weight(const verifier *v, unsigned level) {
    const level_claims *claims = &v->level[level];
    gf192 sum = GF192_ZERO, power = claims->xi;
    if (level + 1 < v->par->levels) {
        sum = gf192_mul(power, eq_at(claims->ood, v->r, claims->k));
        power = gf192_mul(power, claims->xi);
    }
    for (size_t q = 0; q < v->par->level[level].queries; q++) {
        sum = gf192_add(sum, gf192_mul(power, position_weight(v->r, claims->k, claims->positions[q])));
        power = gf192_mul(power, claims->xi);
    }
    return sum;
}

/* 6.5 */
static int verify_closing(verifier *v, gf192 weight) {
    gf192 eq[LAST_MAX], value = GF192_ZERO;
    eq_table(eq, v->r, v->par->last_log);
    for (size_t i = 0; i < (size_t)1 << v->par->last_log; i++)
        value = gf192_add(value, gf192_mul(eq[i], v->last[i]));
    for (unsigned i = 0; i < v->par->levels; i++)
        weight = gf192_add(weight, level_weight(v, i));
    if (!gf192_equal(v->claim, gf192_mul(value, weight)))
        return rx_reject(v->c, SHEAF_CHECK_OPENING, 0, "the opening's closing equation does not hold");
    return 0;
}

int whir_verify(rx *c, const whir_params *par, const uint8_t root[32], size_t live_words, gf192 claim,
                gf192 (*weight_at)(void *ctx, const gf192 *r), void *ctx) {
    size_t queries = 0, most_queries = 0, most_rows = 0;
    for (unsigned i = 0; i < par->levels; i++) {
        const size_t t = par->level[i].queries, rows = (size_t)1 << par->level[i].fold;
        queries += t;
        most_queries = t > most_queries ? t : most_queries;
        most_rows = rows > most_rows ? rows : most_rows;
    }
    const size_t leaves_at = round_up(sizeof(verifier), 64);
    const size_t positions_at = leaves_at + round_up(most_queries * sizeof(uint8_t *), 64);
    const size_t eq_at_byte = positions_at + round_up(queries * sizeof(uint64_t), 64);
    uint8_t *memory = mem_alloc(NULL, eq_at_byte + most_rows * sizeof(gf192));
    if (memory == NULL)
        return rx_fail(c, SHEAF_OUT_OF_MEMORY, "out of memory for the opening");

    verifier *v = (verifier *)(void *)memory;
    v->c = c;
    v->par = par;
    v->live_rows = whir_live_rows(par, live_words);
    v->claim = claim;
    v->leaves = (const uint8_t **)(void *)(memory + leaves_at);
    v->positions = (uint64_t *)(void *)(memory + positions_at);
    v->eq = (gf192 *)(void *)(memory + eq_at_byte);
    memcpy(v->root, root, 32);

    transcript_label(&c->t, "whir    ");
    int result = verify_levels(v);
    if (result == 0)
        result = verify_closing(v, weight_at(ctx, v->r));
    mem_free(NULL, memory);
    return result;
}
