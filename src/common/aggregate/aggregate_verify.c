/* Verifying envelopes: is it the statement that is expected, and does its proof hold.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "aggregate.h"
#include "../sig/leanxmss.h"

static sheaf_status reject_statement(sheaf_failure *f, const char *what) {
    failure_set(f, SHEAF_REJECTED, SHEAF_CHECK_STATEMENT, 0, "%s", what);
    return SHEAF_REJECTED;
}

static sheaf_status check_digests(const sheaf_statement *st, const sheaf_expected *e, sheaf_failure *f) {
    if (st->count != e->n_items) {
        failure_set(f, SHEAF_REJECTED, SHEAF_CHECK_STATEMENT, 0,
                    "the proof covers %lu digests, %zu were expected", (unsigned long)st->count, e->n_items);
        return SHEAF_REJECTED;
    }
    for (size_t i = 0; i < e->n_items; i++) {
        if (memcmp(st->items + 32 * i, e->items + 32 * i, 32) != 0) {
            failure_set(f, SHEAF_REJECTED, SHEAF_CHECK_STATEMENT, i, "digest %zu is not the expected one", i);
            return SHEAF_REJECTED;
        }
    }
    return SHEAF_OK;
}

static sheaf_status check_expected(const sheaf_statement *st, const sheaf_expected *e, sheaf_failure *f) {
    if (e->epoch != NULL && *e->epoch != st->epoch) {
        failure_set(f, SHEAF_REJECTED, SHEAF_CHECK_STATEMENT, 0,
                    "the proof is for epoch %lu, epoch %lu was expected", (unsigned long)st->epoch,
                    (unsigned long)*e->epoch);
        return SHEAF_REJECTED;
    }
    if (e->message != NULL && memcmp(e->message, st->message, SHEAF_MESSAGE_BYTES) != 0)
        return reject_statement(f, "the proof is for another message than the expected one");
    if (e->items == NULL)
        return SHEAF_OK;
    if (st->kind == SHEAF_KIND_HASH)
        return check_digests(st, e, f);
    return key_list_check_same_set(st->items, st->count, e->items, e->n_items, f);
}

sheaf_status aggregate_verify_kind(unsigned kind, const void *envelope, size_t len,
                                   const sheaf_expected *expected, sheaf_failure *f) {
    sheaf_statement st;
    sheaf_failure unread;
    f = f != NULL ? f : &unread;
    if (expected != NULL && expected->items == NULL && expected->n_items > 0) {
        failure_set(f, SHEAF_INVALID_ARGUMENT, SHEAF_CHECK_NONE, 0,
                    "%zu items are expected, but the pointer to them is NULL", expected->n_items);
        return SHEAF_INVALID_ARGUMENT;
    }
    sheaf_status status = sheaf_statement_read(&st, envelope, len, f);
    if (status != SHEAF_OK)
        return status;
    if (st.kind != kind) {
        failure_set(f, SHEAF_MALFORMED, SHEAF_CHECK_NONE, 0, "kind: %s, not %s",
                    st.kind == SHEAF_KIND_HASH ? "a hash batch" : "an aggregate of signatures",
                    kind == SHEAF_KIND_HASH ? "a hash batch" : "an aggregate of signatures");
        return SHEAF_MALFORMED;
    }
    if (expected != NULL) {
        status = check_expected(&st, expected, f);
        if (status != SHEAF_OK)
            return status;
    }
    aggregate_leaf a;
    status = aggregate_leaf_init(&a, &st);
    if (status != SHEAF_OK) {
        failure_set(f, status, SHEAF_CHECK_NONE, 0, "out of memory while preparing the statement");
        return status;
    }
    status = leaf_verify(st.proof, st.proof_len, &a.st, NULL, f);
    aggregate_leaf_free(&a);
    return status;
}

sheaf_status sheaf_verify_aggregate(const void *envelope, size_t len, const sheaf_expected *expected,
                                    sheaf_failure *f) {
    return aggregate_verify_kind(SHEAF_KIND_LEANXMSS, envelope, len, expected, f);
}

sheaf_status sheaf_verify_signature(const uint8_t public_key[SHEAF_KEY_BYTES], uint32_t epoch,
                                    const uint8_t message[SHEAF_MESSAGE_BYTES],
                                    const uint8_t signature[SHEAF_SIGNATURE_BYTES]) {
    return leanxmss_verify(public_key, epoch, message, signature) == 0 ? SHEAF_OK : SHEAF_BAD_SIGNATURE;
}
