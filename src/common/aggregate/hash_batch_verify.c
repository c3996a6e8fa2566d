/* Verifying a hash batch.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "aggregate.h"

sheaf_status sheaf_verify_hash_batch(const void *envelope, size_t len, const sheaf_expected *expected,
                                     sheaf_failure *f) {
    if (expected != NULL && (expected->epoch != NULL || expected->message != NULL)) {
        failure_set(f, SHEAF_INVALID_ARGUMENT, SHEAF_CHECK_NONE, 0,
                    "a hash batch has no epoch and no message to expect");
        return SHEAF_INVALID_ARGUMENT;
    }
    return aggregate_verify_kind(SHEAF_KIND_HASH, envelope, len, expected, f);
}
