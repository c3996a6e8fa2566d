/* Aggregating signatures: from a list of them to an envelope.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>
#include "aggregate.h"
#include "context.h"
#include "../circuit/witness.h"
#include "../sig/leanxmss.h"

/* The share of the whole that the witness takes, for progress. */
static const double witness_share = 0.05;

sheaf_status aggregate_out_of_memory(sheaf_failure *f) {
    failure_set(f, SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "out of memory");
    return SHEAF_OUT_OF_MEMORY;
}

static sheaf_status envelope_make(sheaf_context *ctx, uint8_t **envelope, size_t *len,
                                  const sheaf_statement *st, sheaf_failure *f) {
    if (st->proof_len > SHEAF_MAX_PROOF_BYTES) {
        failure_set(f, SHEAF_UNSUPPORTED, SHEAF_CHECK_NONE, 0,
                    "the proof has %zu bytes, an envelope holds %d", st->proof_len, SHEAF_MAX_PROOF_BYTES);
        return SHEAF_UNSUPPORTED;
    }
    size_t items_len = (size_t)32 * st->count;
    uint8_t *out = mem_alloc(&ctx->mem, envelope_bytes(st->count, st->proof_len));
    if (out == NULL)
        return aggregate_out_of_memory(f);
    envelope_header_write(out, st);
    memcpy(out + ENVELOPE_HEADER_BYTES, st->items, items_len);
    store32_le(out + ENVELOPE_HEADER_BYTES + items_len, (uint32_t)st->proof_len);
    memcpy(out + ENVELOPE_HEADER_BYTES + items_len + ENVELOPE_LENGTH_BYTES, st->proof, st->proof_len);
    *envelope = out;
    *len = envelope_bytes(st->count, st->proof_len);
    return SHEAF_OK;
}

sheaf_status aggregate_prove_leaf(sheaf_context *ctx, env *e, uint8_t **envelope, size_t *len,
                                  sheaf_statement *st, const aggregate_leaf *leaf,
                                  const leaf_witness *witness, sheaf_failure *f) {
    uint8_t *proof = NULL;
    e->progress_at = witness_share;
    e->progress_span = 1 - witness_share;
    sheaf_status status =
        leaf_prove(&proof, &st->proof_len, e, &leaf->st, witness, ctx->options.log_inv_rate, f);
    st->proof = proof;
    context_end(ctx); /* the envelope stays */
    if (status == SHEAF_OK)
        status = envelope_make(ctx, envelope, len, st, f);
    mem_free(&ctx->mem, proof);
    return status;
}

/* ---- leanXMSS ---- */

/* The entries as the witness wants them, keys and signatures apart, and the committed words. */
typedef struct job {
    uint8_t *keys, *signatures;
    uint64_t *words;
    uint64_t multiplicities[LX_TABLE];
} job;

static int job_init(job *j, mem *m, const sheaf_entry *entries, size_t n) {
    j->keys = mem_alloc(m, n * SHEAF_KEY_BYTES);
    j->signatures = mem_alloc(m, n * SHEAF_SIGNATURE_BYTES);
    j->words = mem_alloc(m, n * LX_WORDS * sizeof *j->words);
    if (j->keys == NULL || j->signatures == NULL || j->words == NULL)
        return -1;
    for (size_t i = 0; i < n; i++) {
        memcpy(j->keys + i * SHEAF_KEY_BYTES, entries[i].public_key, SHEAF_KEY_BYTES);
        memcpy(j->signatures + i * SHEAF_SIGNATURE_BYTES, entries[i].signature, SHEAF_SIGNATURE_BYTES);
    }
    return 0;
}

static void job_free(job *j, mem *m) {
    mem_free(m, j->keys);
    mem_free(m, j->signatures);
    mem_free(m, j->words);
}

/* The making of the witness found a signature that does not verify, and stopped: names it and those after it.
 */
static void name_bad_signatures(sheaf_failure *f, const sheaf_statement *st, const sheaf_entry *entries) {
    enum { NAMED = 8 };
    char list[NAMED * 8 + 1] = "";
    size_t bad = 0, at = 0, first = (size_t)f->index;
    for (size_t i = first; i < st->count; i++) {
        if (i > first &&
            leanxmss_verify(entries[i].public_key, st->epoch, st->message, entries[i].signature) == 0)
            continue;
        if (bad++ < NAMED)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%zu", bad > 1 ? ", " : "", i);
    }
    if (bad == 1)
        failure_set(f, SHEAF_BAD_SIGNATURE, SHEAF_CHECK_NONE, first, "signature %s does not verify", list);
    else if (bad <= NAMED)
        failure_set(f, SHEAF_BAD_SIGNATURE, SHEAF_CHECK_NONE, first, "signatures %s do not verify", list);
    else
        failure_set(f, SHEAF_BAD_SIGNATURE, SHEAF_CHECK_NONE, first,
                    "signatures %s and %zu more do not verify", list, bad - NAMED);
}

static sheaf_status prove_job(sheaf_context *ctx, uint8_t **envelope, size_t *len, sheaf_statement *st,
                              job *j, const sheaf_entry *entries, sheaf_failure *f) {
    aggregate_leaf leaf;
    env e = context_env(ctx);
    sheaf_status status = aggregate_leaf_init(&leaf, st);
    if (status != SHEAF_OK)
        return aggregate_out_of_memory(f);
    env_stage_begin(&e, "witness");
    e.progress_span = witness_share;
    status = witness_leanxmss(j->words, leaf.publics, j->multiplicities, &e, st->count, j->keys,
                              j->signatures, st->epoch, st->message, f);
    env_stage_end(&e);
    if (status == SHEAF_BAD_SIGNATURE)
        name_bad_signatures(f, st, entries);
    if (status == SHEAF_OK) {
        const leaf_witness witness = {j->words, j->multiplicities};
        status = aggregate_prove_leaf(ctx, &e, envelope, len, st, &leaf, &witness, f);
    }
    aggregate_leaf_free(&leaf);
    return status;
}

sheaf_status sheaf_aggregate(sheaf_context *ctx, uint8_t **envelope, size_t *len, uint32_t epoch,
                             const uint8_t message[SHEAF_MESSAGE_BYTES], const sheaf_entry *entries, size_t n,
                             sheaf_failure *f) {
    sheaf_failure unread;
    f = f != NULL ? f : &unread;
    *envelope = NULL;
    *len = 0;
    if (n < 1 || n > SHEAF_MAX_SIGNERS) {
        failure_set(f, SHEAF_INVALID_ARGUMENT, SHEAF_CHECK_NONE, 0, "%zu signatures, 1..%d can be", n,
                    SHEAF_MAX_SIGNERS);
        return SHEAF_INVALID_ARGUMENT;
    }
    job j = {0};
    sheaf_status status = context_begin(ctx, SHEAF_KIND_LEANXMSS, n, f);
    if (status != SHEAF_OK)
        return status;
    if (job_init(&j, &ctx->mem, entries, n) != 0) {
        status = aggregate_out_of_memory(f);
    } else {
        sheaf_statement st = {.kind = SHEAF_KIND_LEANXMSS,
                              .count = (uint32_t)n,
                              .epoch = epoch,
                              .message = message,
                              .items = j.keys};
        status = key_list_check_distinct(j.keys, n, f);
        if (status == SHEAF_OK)
            status = prove_job(ctx, envelope, len, &st, &j, entries, f);
    }
    job_free(&j, &ctx->mem);
    context_end(ctx);
    return status;
}
