/* What a public context holds.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_CONTEXT_H
#define SHEAF_CONTEXT_H

#include "aggregate.h"
#include "../base/arena.h"
#include "sheaf.h"

struct sheaf_context {
    sheaf_options options;
    mem mem;
    arena arena;              /* what mem takes its blocks from, where the caller has no allocator */
    pool *pool;               /* NULL: the caller's thread alone */
    struct stage_log *stages; /* set by the bench; NULL otherwise */
};

/* The environment of one call: its progress goes from 0 to 1. */
env context_env(sheaf_context *ctx);

/* Takes so many bytes at once, for what is allocated until context_end. */
SHEAF_MUST_CHECK sheaf_status context_take(sheaf_context *ctx, uint64_t bytes, sheaf_failure *f);
/* Before a proof of so many signatures or messages: takes the memory that it will need. Fails as a proof does
 * that runs out of memory. After it, however it ended: context_end. */
SHEAF_MUST_CHECK sheaf_status context_begin(sheaf_context *ctx, unsigned kind, uint64_t count,
                                            sheaf_failure *f);
void context_end(sheaf_context *ctx);

/* Proves the leaf with the rest of e's progress and makes the envelope of st, whose proof it sets on the way.
 */
SHEAF_MUST_CHECK sheaf_status aggregate_prove_leaf(sheaf_context *ctx, env *e, uint8_t **envelope,
                                                   size_t *len, sheaf_statement *st,
                                                   const aggregate_leaf *leaf, const leaf_witness *witness,
                                                   sheaf_failure *f);
sheaf_status aggregate_out_of_memory(sheaf_failure *f); /* says so, and returns the status */

#endif
