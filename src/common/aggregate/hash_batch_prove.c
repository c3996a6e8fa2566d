/* Proving hash batches.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "aggregate.h"
#include "context.h"
#include "../circuit/witness.h"
#include "../hash/shake.h"

_Static_assert(SHEAF_PREIMAGE_BYTES == WITNESS_HASH_MESSAGE, "one length of message");

enum { WORDS = WITNESS_HASH_MESSAGE / 8 };

/* The digests, 32 bytes each, from their four columns. */
static void digests_from_columns(uint8_t *digests, const uint64_t *columns, size_t n) {
    for (size_t s = 0; s < n; s++)
        for (size_t p = 0; p < 4; p++)
            store64_le(digests + 32 * s + 8 * p, columns[p * n + s]);
}

static sheaf_status prove(sheaf_context *ctx, uint8_t **envelope, size_t *len, uint64_t *words,
                          uint8_t *digests, uint64_t *columns, const uint8_t *preimages, size_t n,
                          sheaf_failure *f) {
    static const uint8_t no_message[SHEAF_MESSAGE_BYTES] = {0};
    env e = context_env(ctx);
    env_stage_begin(&e, "witness");
    witness_hash(words, columns, &e, n, preimages);
    env_stage_end(&e);
    digests_from_columns(digests, columns, n);
    sheaf_statement st = {
        .kind = SHEAF_KIND_HASH, .count = (uint32_t)n, .message = no_message, .items = digests};
    aggregate_leaf leaf;
    if (aggregate_leaf_init(&leaf, &st) != SHEAF_OK)
        return aggregate_out_of_memory(f);
    const leaf_witness witness = {words, NULL};
    sheaf_status status = aggregate_prove_leaf(ctx, &e, envelope, len, &st, &leaf, &witness, f);
    aggregate_leaf_free(&leaf);
    return status;
}

sheaf_status sheaf_prove_hash_batch(sheaf_context *ctx, uint8_t **envelope, size_t *len,
                                    const uint8_t *preimages, size_t n, sheaf_failure *f) {
    sheaf_failure unread;
    f = f != NULL ? f : &unread;
    *envelope = NULL;
    *len = 0;
    if (n < 1 || n > SHEAF_MAX_HASHES) {
        failure_set(f, SHEAF_INVALID_ARGUMENT, SHEAF_CHECK_NONE, 0, "%zu messages, 1..%d can be", n,
                    SHEAF_MAX_HASHES);
        return SHEAF_INVALID_ARGUMENT;
    }
    sheaf_status status = context_begin(ctx, SHEAF_KIND_HASH, n, f);
    if (status != SHEAF_OK)
        return status;
    mem *m = &ctx->mem;
    uint64_t *words = mem_alloc(m, n * WORDS * sizeof *words),
             *columns = mem_alloc(m, n * 4 * sizeof *columns);
    uint8_t *digests = mem_alloc(m, n * 32);
    if (words == NULL || columns == NULL || digests == NULL)
        status = aggregate_out_of_memory(f);
    else
        status = prove(ctx, envelope, len, words, digests, columns, preimages, n, f);
    if (words != NULL)
        secure_wipe(words, n * WORDS * sizeof *words);
    mem_free(m, words);
    mem_free(m, columns);
    mem_free(m, digests);
    context_end(ctx);
    return status;
}
