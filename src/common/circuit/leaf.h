/* The leaf proof: S slots of a circuit, proven and verified.   docs/protocol.md 8.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_LEAF_H
#define SHEAF_LEAF_H

#include "circuit.h"
#include "../hash/transcript.h"
#include "../pcs/whir.h"

#define LEAF_MAX_TABLE 16
#define LEAF_MAX_VARIABLES 40

typedef struct leaf_statement {
    const circuit *circuit;
    uint64_t signers;            /* S >= 1; slots past it repeat slot S-1 */
    const uint64_t *publics;     /* publics[p * S + s] */
    const uint64_t *binding;     /* words that fix the statement: docs/protocol.md 9 */
    size_t n_binding;
} leaf_statement;

typedef struct leaf_witness {
    const uint64_t *words;          /* words[j * S + s] */
    const uint64_t *multiplicities; /* n_table of them, over all 2^m slots; NULL without a table */
} leaf_witness;

/* Proves. rate 0: the shape's default. Returns SHEAF_OK, _CANCELLED, _OUT_OF_MEMORY, _UNSUPPORTED. *proof is from mem_alloc.
 * It does not check the witness: a false one gives a proof that is rejected. */
SHEAF_MUST_CHECK sheaf_status leaf_prove(uint8_t **proof, size_t *proof_len, env *e, const leaf_statement *st, const leaf_witness *w,
                                         unsigned rate, sheaf_failure *f);
/* The same on a channel of the caller's (fresh from tx_init), so that a test build can lie through its hook. */
SHEAF_MUST_CHECK sheaf_status leaf_prove_on(tx *channel, env *e, const leaf_statement *st, const leaf_witness *w, unsigned rate,
                                            sheaf_failure *f);

typedef struct leaf_report { /* what inspect shows; filled as far as the proof was read */
    unsigned rate, m;
    size_t bytes_by_kind[MSG_KIND_COUNT_];
} leaf_report;
/* Verifies; f->check says which check failed. report may be NULL. */
SHEAF_MUST_CHECK sheaf_status leaf_verify(const uint8_t *proof, size_t proof_len, const leaf_statement *st, leaf_report *report,
                                          sheaf_failure *f);

#endif
