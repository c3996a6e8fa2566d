/* What a public context holds.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_CONTEXT_H
#define SHEAF_CONTEXT_H

#include "aggregate.h"
#include "../base/keep.h"
#include "sheaf.h"

struct sheaf_context {
    sheaf_options options;
    mem mem;
    keep keep;                /* what mem takes its blocks from, where the caller has no allocator */
    pool *pool;               /* NULL: the caller's thread alone */
    struct stage_log *stages; /* set by the bench; NULL otherwise */
};

/* The environment of one call: its progress goes from 0 to 1. */
env context_env(sheaf_context *ctx);

/* Proves the leaf with the rest of e's progress and makes the envelope of st, whose proof it sets on the way.
 */
SHEAF_MUST_CHECK sheaf_status aggregate_prove_leaf(sheaf_context *ctx, env *e, uint8_t **envelope,
                                                   size_t *len, sheaf_statement *st,
                                                   const aggregate_leaf *leaf, const leaf_witness *witness,
                                                   sheaf_failure *f);
sheaf_status aggregate_out_of_memory(sheaf_failure *f); /* says so, and returns the status */

#endif
