/* Signers and messages that anyone can make again.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "../hash/shake.h"
#include "../sig/leanxmss.h"
#include "examples.h"

void example_preimages(uint8_t *out, size_t n, const uint8_t seed[32]) {
    uint8_t in[40];
    memcpy(in, seed, 32);
    for (size_t i = 0; i < n; i++) {
        store64_le(in + 32, i);
        shake256_once(out + i * SHEAF_PREIMAGE_BYTES, SHEAF_PREIMAGE_BYTES, in, sizeof in);
    }
    secure_wipe(in, sizeof in);
}

static void example_seed(uint8_t seed[32], size_t i) {
    static const char label[] = "sheaf example signer";
    uint8_t in[sizeof label - 1 + 8];
    memcpy(in, label, sizeof label - 1);
    store64_le(in + sizeof label - 1, i);
    shake256_once(seed, 32, in, sizeof in);
}

typedef struct job {
    signature_set *s;
    size_t first;
    int failed;
} job;

static void sign_one(void *ctx, size_t task, unsigned worker) {
    job *j = ctx;
    sheaf_entry *e = &j->s->entries[j->first + task];
    leanxmss_key key;
    uint8_t seed[32];
    (void)worker;
    example_seed(seed, j->first + task);
    if (leanxmss_keygen(&key, NULL, seed, j->s->epoch, 0) != SHEAF_OK) {
        __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    memcpy(e->public_key, key.public_key, SHEAF_KEY_BYTES);
    if (leanxmss_sign(e->signature, &key, j->s->epoch, j->s->message, NULL) != SHEAF_OK)
        __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
    leanxmss_key_wipe(&key, NULL);
}

sheaf_status example_signatures(signature_set *s, sheaf_context *ctx, size_t n) {
    enum { BATCH = 64 };
    static const char message[] = "sheaf example message";
    env e = context_env(ctx);
    memset(s, 0, sizeof *s);
    s->epoch = EXAMPLE_EPOCH;
    shake256_once(s->message, sizeof s->message, message, sizeof message - 1);
    s->entries = calloc(n, sizeof *s->entries);
    if (s->entries == NULL)
        return SHEAF_OUT_OF_MEMORY;
    s->n = n;
    job j = {s, 0, 0};
    for (; j.first < n; j.first += BATCH) {
        if (env_progress(&e, (double)j.first / (double)n, "signing") != 0) {
            signatures_free(s);
            return SHEAF_CANCELLED;
        }
        pool_run(e.pool, n - j.first < BATCH ? n - j.first : BATCH, sign_one, &j);
    }
    if (j.failed) {
        signatures_free(s);
        return SHEAF_OUT_OF_MEMORY;
    }
    return SHEAF_OK;
}
