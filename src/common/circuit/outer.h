/* The outer claim and the known part of the input layer, shared by the leaf's prover and verifier.   docs/protocol.md 8.3, 8.5.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_OUTER_H
#define SHEAF_OUTER_H

#include "circuit.h"
#include "leaf.h"

/* What the bus (or its absence) leaves, and the challenges that the outer claim is made of. */
typedef struct outer_point {
    unsigned m;
    const gf192 *zeta_s;    /* m coordinates */
    const gf192 *zeta_p;    /* bus_log coordinates; unused without a bus */
    gf192 alpha[3], beta, gamma;
} outer_point;

/* v = known + sum_j word[j] q(j, zeta_s) + sum_{k,l} omega[25 k + l] out_l(k, zeta_s) */
typedef struct outer_claim {
    gf192 known;
    gf192 *word;  /* circuit->words */
    gf192 *omega; /* circuit->rows x 25 */
} outer_claim;

/* public_at: each public column's MLE at zeta_s, as a K word. Returns -1 when out of memory. */
SHEAF_MUST_CHECK int outer_build(outer_claim *o, mem *mm, const circuit *c, const outer_point *at, const gf192 *public_at);
void outer_free(outer_claim *o, mem *mm);

gf192 outer_fingerprint_table(const gf192 eq_alpha[8], const gf64 entry[BUS_COORDS]);
/* prod_e (beta + fp(entry e))^multiplicity[e] */
gf192 outer_table_factor(const circuit *c, const gf192 alpha[3], gf192 beta, const uint64_t *multiplicities);

/* eq(point, k) for k < n, bits of k at `vars` coordinates. */
void eq_places(gf192 *out, unsigned n, const gf192 *point, unsigned vars);

/* eq(point, s) over 2^m slots of which the last from the signers' number on repeat the last signer. */
typedef struct slot_table {
    unsigned low; /* variables of the low table */
    uint64_t signers;
    gf192 *low_eq, *high_eq; /* eq(s) = low_eq[s mod 2^low] high_eq[s >> low] */
    evec low_planes;         /* low_eq once more */
    gf192 repeated;          /* sum of eq over the slots that repeat */
} slot_table;
/* m >= 3, 1 <= signers <= 2^m. Returns -1 when out of memory. */
SHEAF_MUST_CHECK int slot_table_init(slot_table *t, const gf192 *point, unsigned m, uint64_t signers);
void slot_table_free(slot_table *t);

/* sum_s eq(s) column[s] over all slots, the column having one word a signer. */
gf192 column_word_at(const slot_table *t, const uint64_t *column);
/* The same for each of its 64 bits. */
void column_bits_at(gf192 out[64], const slot_table *t, const uint64_t *column);

/* The share of constants and public columns in the input layer's claim. eq_k: circuit->rows values; w: 25 x 64;
 * slices: publics x 64, only those of columns that are sources are read. */
gf192 input_known(const circuit *c, const gf192 *eq_k, const gf192 *w, const gf192 *slices);
int circuit_public_is_source(const circuit *c, unsigned column);

/* Whether the circuit with this many signers is within the engine's bounds. */
int leaf_supported(const circuit *c, uint64_t signers);
/* What every leaf absorbs after its header. */
void leaf_absorb_statement(transcript *t, const leaf_statement *st, unsigned m, unsigned rate);

#endif
