/* From statements to leaf proofs: envelopes, lists of keys, the circuit of a kind.   docs/protocol.md 9, 10.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_AGGREGATE_H
#define SHEAF_AGGREGATE_H

#include "../base/base.h"
#include "../circuit/circuit.h"
#include "../circuit/leaf.h"
#include "../pcs/params.h"
#include "sheaf_verify.h"

/* ---- the envelope, docs/protocol.md 10.1 ---- */
#define ENVELOPE_HEADER_BYTES 56 /* up to the list */
#define ENVELOPE_LENGTH_BYTES 4  /* the proof's length, after the list */

/* Writes the header and the list's place is left to the caller: out has ENVELOPE_HEADER_BYTES bytes. */
void envelope_header_write(uint8_t *out, const sheaf_statement *st);
/* The whole length of an envelope. */
static inline size_t envelope_bytes(uint32_t count, size_t proof_len) {
    return ENVELOPE_HEADER_BYTES + (size_t)32 * count + ENVELOPE_LENGTH_BYTES + proof_len;
}

/* ---- lists of 32-byte keys ---- */

/* SHEAF_DUPLICATE_KEY, with both indices in the message and the later one as the index, where two of n keys
 * are alike. */
SHEAF_MUST_CHECK sheaf_status key_list_check_distinct(const uint8_t *keys, size_t n, sheaf_failure *f);
/* SHEAF_REJECTED (SHEAF_CHECK_STATEMENT) where the sets differ; SHEAF_INVALID_ARGUMENT where `expected` has
 * one twice. keys are distinct. */
SHEAF_MUST_CHECK sheaf_status key_list_check_same_set(const uint8_t *keys, size_t n, const uint8_t *expected,
                                                      size_t n_expected, sheaf_failure *f);

/* ---- the leaf statement of an envelope's statement ---- */
#define AGGREGATE_MAX_BINDING 9
typedef struct aggregate_leaf {
    circuit circuit;
    uint64_t *publics;
    uint64_t binding[AGGREGATE_MAX_BINDING];
    leaf_statement st; /* points into this struct, which must not move */
} aggregate_leaf;

/* Reads kind, count, epoch, message and items of st. SHEAF_OUT_OF_MEMORY, or SHEAF_UNSUPPORTED for an unknown
 * kind; then there is nothing to free. */
SHEAF_MUST_CHECK sheaf_status aggregate_leaf_init(aggregate_leaf *a, const sheaf_statement *st);
void aggregate_leaf_free(aggregate_leaf *a);
/* Verification of either kind: parse, expected statement, proof. kind: which one is asked for. */
SHEAF_MUST_CHECK sheaf_status aggregate_verify_kind(unsigned kind, const void *envelope, size_t len,
                                                    const sheaf_expected *expected, sheaf_failure *f);

#endif
