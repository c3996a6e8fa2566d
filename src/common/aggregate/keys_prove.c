/* The public face of key files.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "context.h"
#include "../sig/keyfile.h"

struct sheaf_key {
    keyfile *file;
    mem *mem;
};

sheaf_status sheaf_key_create(sheaf_context *ctx, uint8_t public_key[SHEAF_KEY_BYTES], const char *path,
                              uint64_t start, uint64_t count, const uint8_t *seed, sheaf_failure *f) {
    uint32_t first = 0;
    unsigned log_count = 0;
    memset(public_key, 0, SHEAF_KEY_BYTES);
    sheaf_status status = keyfile_interval(&first, &log_count, start, count, f);
    if (status != SHEAF_OK)
        return status;
    env e = context_env(ctx);
    return keyfile_create(public_key, path, &e, seed, first, log_count, f);
}

sheaf_status sheaf_key_open(sheaf_context *ctx, sheaf_key **key, const char *path, sheaf_failure *f) {
    *key = NULL;
    sheaf_key *k = mem_alloc_zero(&ctx->mem, sizeof *k);
    if (k == NULL) {
        failure_set(f, SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "out of memory");
        return SHEAF_OUT_OF_MEMORY;
    }
    k->mem = &ctx->mem;
    sheaf_status status = keyfile_open(&k->file, path, k->mem, f);
    if (status != SHEAF_OK)
        mem_free(k->mem, k);
    else
        *key = k;
    return status;
}

void sheaf_key_close(sheaf_key *key) {
    if (key == NULL)
        return;
    keyfile_close(key->file);
    mem_free(key->mem, key);
}

void sheaf_key_public(const sheaf_key *key, uint8_t public_key[SHEAF_KEY_BYTES]) {
    memcpy(public_key, keyfile_public_key(key->file), SHEAF_KEY_BYTES);
}

uint32_t sheaf_key_first_epoch(const sheaf_key *key) {
    return keyfile_first(key->file);
}

uint64_t sheaf_key_epoch_count(const sheaf_key *key) {
    return keyfile_count(key->file);
}

sheaf_status sheaf_key_sign(const sheaf_key *key, uint8_t signature[SHEAF_SIGNATURE_BYTES], uint32_t epoch,
                            const uint8_t message[SHEAF_MESSAGE_BYTES], sheaf_failure *f) {
    return keyfile_sign(signature, NULL, key->file, epoch, message, f);
}

sheaf_status sheaf_key_usage(const sheaf_key *key, uint64_t *used, uint64_t *left, sheaf_failure *f) {
    keyfile_usage u;
    *used = *left = 0;
    sheaf_status status = keyfile_usage_read(&u, key->file, f);
    if (status != SHEAF_OK)
        return status;
    *used = u.used;
    *left = u.left;
    keyfile_usage_free(&u, key->file);
    return SHEAF_OK;
}
