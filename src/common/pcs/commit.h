/* Committing to the rows of a matrix of words, and opening columns of its code.   docs/protocol.md 4, 5.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_COMMIT_H
#define SHEAF_COMMIT_H

#include "whir.h"

/* w: msg, own, k, rate and live_rows are set. Encodes, hashes and sends the root; -1: out of memory, and w is
 * freed. */
SHEAF_MUST_CHECK int commit_rows(tx *c, env *e, whir_commitment *w, size_t queries, unsigned arity);
/* Sends an opening of the positions. */
SHEAF_MUST_CHECK int commit_open(tx *c, env *e, const whir_commitment *w, const uint64_t *positions,
                                 size_t n);

/* table[j * stride] = prod_i basis_i^{j_i}, j < 2^n: what word j of a row counts for at a position whose
 * basis this is. */
void commit_tensor(uint64_t *table, size_t stride, const gf64 *basis, unsigned n);

#endif
