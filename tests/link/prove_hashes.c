/* A program that has libsheaf.a and its header, and nothing else: writes an envelope of three hashes to
 * standard output. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include "sheaf.h"

int main(void) {
    uint8_t preimages[3 * SHEAF_PREIMAGE_BYTES];
    for (size_t i = 0; i < sizeof preimages; i++)
        preimages[i] = (uint8_t)(i * 7 + i / 128);
    sheaf_failure f;
    memset(&f, 0, sizeof f);
    sheaf_context *ctx = NULL;
    sheaf_status status = sheaf_context_create(&ctx, NULL);
    if (status != SHEAF_OK) {
        fprintf(stderr, "prove_hashes: %s\n", sheaf_status_text(status));
        return 1;
    }
    uint8_t *envelope = NULL;
    size_t len = 0;
    status = sheaf_prove_hash_batch(ctx, &envelope, &len, preimages, 3, &f);
    int failed = status != SHEAF_OK;
    if (failed)
        fprintf(stderr, "prove_hashes: %s: %s\n", sheaf_status_text(status), f.message);
    else
        failed = fwrite(envelope, 1, len, stdout) != len || fflush(stdout) != 0;
    sheaf_free(ctx, envelope);
    sheaf_context_destroy(ctx);
    return failed;
}
