/* The flat interface, proving side.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <malloc.h>
#include "abi.h"
#include "abi_result.h"
#include "aggregate/context.h"
#include "aggregate/memory.h"
#include "base/random.h"
#include "base/wipe.h"
#include "pcs/params.h"
#include "sig/keyfile.h"
#include "sig/leanxmss_key.h"

_Static_assert(sizeof(sheaf_wasm_key_info) == 40, "JavaScript knows this layout");

/* Of JavaScript (library.js): millionths done, and the stage. Non-zero asks to stop. */
extern int sheaf_js_progress(uint32_t millionths, const char *stage);

/* ---- memory in advance ---- */

static uint32_t saturated(uint64_t bytes) {
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

uint32_t sheaf_wasm_prove_bytes(uint32_t kind, uint32_t count, uint32_t log_inv_rate, uint32_t threads) {
    return saturated(aggregate_prove_bytes(kind, count, log_inv_rate, threads));
}

uint32_t sheaf_wasm_keygen_bytes(uint32_t log_count) {
    if (log_count > LEANXMSS_HEIGHT)
        return UINT32_MAX;
    return saturated(leanxmss_key_nodes_bytes(log_count) +
                     leanxmss_key_bytes(log_count)); /* the key, then its bytes */
}

uint32_t sheaf_wasm_memory_used(void) {
    extern unsigned char __heap_base;
    return (uint32_t)(uintptr_t)&__heap_base + (uint32_t)mallinfo().uordblks;
}

/* ---- the ledger ---- */

_Static_assert(sizeof(sheaf_wasm_ledger_term) == 64, "JavaScript knows this layout");

uint32_t sheaf_wasm_ledger(sheaf_wasm_result *r, uint32_t kind, uint32_t count, uint32_t log_inv_rate) {
    const params_family family = kind == SHEAF_KIND_HASH ? PARAMS_HASH : PARAMS_LEANXMSS;
    const uint32_t most = kind == SHEAF_KIND_HASH ? SHEAF_MAX_HASHES : SHEAF_MAX_SIGNERS;
    sheaf_failure f = {0};
    if ((kind != SHEAF_KIND_HASH && kind != SHEAF_KIND_LEANXMSS) || count < 1 || count > most) {
        failure_set(&f, SHEAF_INVALID_ARGUMENT, SHEAF_CHECK_NONE, 0,
                    "there is no proof of this kind and count");
        return result_of(r, f.status, &f);
    }
    const unsigned m = circuit_log_slots(count);
    const unsigned rate = log_inv_rate > 0 ? log_inv_rate : params_default_rate(family, m);
    ledger_shape shape;
    ledger_term terms[LEDGER_MAX_TERMS];
    size_t n = 0;
    if (ledger_shape_init(&shape, family, m, rate) == 0)
        n = ledger_compute(terms, LEDGER_MAX_TERMS, &shape);
    if (n == 0 || n > LEDGER_MAX_TERMS) {
        failure_set(&f, SHEAF_UNSUPPORTED, SHEAF_CHECK_NONE, 0,
                    "there are no parameters for 2^%u slots at rate 2^-%u", m, rate);
        return result_of(r, f.status, &f);
    }
    sheaf_wasm_ledger_term *out = calloc(n, sizeof *out);
    if (out == NULL)
        return result_of(r, aggregate_out_of_memory(&f), &f);
    for (size_t i = 0; i < n; i++) {
        out[i].log2_error = terms[i].log2_error;
        out[i].source = terms[i].source;
        memcpy(out[i].name, terms[i].name, sizeof out[i].name);
    }
    result_of(r, SHEAF_OK, NULL);
    r->data = (uint32_t)(uintptr_t)out;
    r->length = (uint32_t)(n * sizeof *out);
    r->value = m << 8 | rate;
    return SHEAF_OK;
}

/* ---- provers ---- */

static uint32_t cancel_flag;

uint32_t *sheaf_wasm_cancel_flag(void) {
    return &cancel_flag;
}

static int progress(void *ctx, double fraction, const char *stage) {
    (void)ctx;
    int stop = sheaf_js_progress((uint32_t)(fraction * 1e6 + 0.5), stage);
    return stop != 0 || __atomic_load_n(&cancel_flag, __ATOMIC_RELAXED) != 0;
}

static sheaf_context *prover_at(uint32_t handle) {
    return (sheaf_context *)(uintptr_t)handle;
}

uint32_t sheaf_wasm_prover_create(sheaf_wasm_result *r, uint32_t threads) {
    sheaf_context *ctx = NULL;
    sheaf_failure f = {0};
    const sheaf_options options = {.threads = threads, .progress = progress};
    sheaf_status status = SHEAF_INVALID_ARGUMENT;
    if (threads >= 1 && (threads == 1 || sheaf_wasm_has_threads() != 0))
        status = sheaf_context_create(&ctx, &options);
    if (status == SHEAF_INVALID_ARGUMENT)
        failure_set(&f, status, SHEAF_CHECK_NONE, 0, "%lu threads are not to be had", (unsigned long)threads);
    else if (status != SHEAF_OK)
        failure_set(&f, status, SHEAF_CHECK_NONE, 0, "no memory, or no workers, for %lu threads",
                    (unsigned long)threads);
    result_of(r, status, &f);
    r->data = (uint32_t)(uintptr_t)ctx;
    return r->status;
}

void sheaf_wasm_prover_destroy(uint32_t prover) {
    sheaf_context_destroy(prover_at(prover));
}

/* Hands out what the context made as a block of the C library's, which the caller can free. */
static uint32_t hand_out(sheaf_wasm_result *r, sheaf_context *ctx, sheaf_status status, uint8_t *made,
                         size_t len, sheaf_failure *f) {
    uint8_t *out = NULL;
    if (status == SHEAF_OK) {
        out = malloc(len);
        if (out != NULL) {
            memcpy(out, made, len);
        } else {
            status = SHEAF_OUT_OF_MEMORY;
            failure_set(f, status, SHEAF_CHECK_NONE, 0, "out of memory");
        }
        sheaf_free(ctx, made);
    }
    result_of(r, status, f);
    r->data = (uint32_t)(uintptr_t)out;
    r->length = out != NULL ? (uint32_t)len : 0;
    return r->status;
}

/* -1 where there is no prover, or no such rate. */
static int set_rate(sheaf_context *ctx, uint32_t log_inv_rate, sheaf_failure *f) {
    if (ctx == NULL) {
        failure_set(f, SHEAF_INVALID_ARGUMENT, SHEAF_CHECK_NONE, 0, "no prover");
        return -1;
    }
    if (log_inv_rate > PARAMS_MAX_RATE) {
        failure_set(f, SHEAF_INVALID_ARGUMENT, SHEAF_CHECK_NONE, 0, "log_inv_rate %lu is over %d",
                    (unsigned long)log_inv_rate, PARAMS_MAX_RATE);
        return -1;
    }
    ctx->options.log_inv_rate = log_inv_rate;
    return 0;
}

uint32_t sheaf_wasm_aggregate(sheaf_wasm_result *r, uint32_t prover, uint32_t log_inv_rate, uint32_t epoch,
                              const uint8_t *message, const uint8_t *entries, uint32_t n) {
    _Static_assert(sizeof(sheaf_entry) == 1240 && _Alignof(sheaf_entry) == 1,
                   "entries are the bytes of 10.4");
    sheaf_context *ctx = prover_at(prover);
    sheaf_failure f = {0};
    uint8_t *envelope = NULL;
    size_t len = 0;
    sheaf_status status = SHEAF_INVALID_ARGUMENT;
    if (set_rate(ctx, log_inv_rate, &f) == 0)
        status = sheaf_aggregate(ctx, &envelope, &len, epoch, message, (const sheaf_entry *)entries, n, &f);
    return hand_out(r, ctx, status, envelope, len, &f);
}

uint32_t sheaf_wasm_prove_hash_batch(sheaf_wasm_result *r, uint32_t prover, uint32_t log_inv_rate,
                                     const uint8_t *preimages, uint32_t n) {
    sheaf_context *ctx = prover_at(prover);
    sheaf_failure f = {0};
    uint8_t *envelope = NULL;
    size_t len = 0;
    sheaf_status status = SHEAF_INVALID_ARGUMENT;
    if (set_rate(ctx, log_inv_rate, &f) == 0)
        status = sheaf_prove_hash_batch(ctx, &envelope, &len, preimages, n, &f);
    return hand_out(r, ctx, status, envelope, len, &f);
}

/* ---- keys ---- */

uint32_t sheaf_wasm_key_interval(sheaf_wasm_result *r, uint32_t start, uint32_t count_low,
                                 uint32_t count_high) {
    uint32_t first = 0;
    unsigned log_count = 0;
    sheaf_failure f = {0};
    sheaf_status status =
        keyfile_interval(&first, &log_count, start, (uint64_t)count_high << 32 | count_low, &f);
    result_of(r, status, &f);
    r->value = log_count;
    return r->status;
}

static sheaf_status make_key(leanxmss_key *k, env *e, const uint8_t *given, uint32_t first,
                             uint32_t log_count, sheaf_failure *f) {
    uint8_t seed[32];
    if (given != NULL) {
        memcpy(seed, given, sizeof seed);
    } else if (random_bytes(seed, sizeof seed) != 0) {
        failure_set(f, SHEAF_IO, SHEAF_CHECK_NONE, 0, "the system gives no randomness");
        return SHEAF_IO;
    }
    sheaf_status status = leanxmss_keygen(k, e, seed, first, log_count);
    wipe(seed, sizeof seed);
    if (status != SHEAF_OK)
        failure_set(f, status, SHEAF_CHECK_NONE, 0, "a key of 2^%lu epochs from epoch %lu: %s",
                    (unsigned long)log_count, (unsigned long)first, sheaf_status_text(status));
    return status;
}

uint32_t sheaf_wasm_keygen(sheaf_wasm_result *r, uint32_t prover, const uint8_t *seed, uint32_t first,
                           uint32_t log_count) {
    sheaf_failure f = {0};
    leanxmss_key k;
    env alone = {.progress = progress, .progress_span = 1};
    env e = prover != 0 ? context_env(prover_at(prover)) : alone;
    e.mem = NULL;
    sheaf_status status = make_key(&k, &e, seed, first, log_count, &f);
    uint8_t *out = NULL;
    size_t len = 0;
    if (status == SHEAF_OK) {
        uint64_t bytes = leanxmss_key_bytes(log_count);
        len = (size_t)bytes;
        out = bytes <= UINT32_MAX ? malloc(len) : NULL;
        if (out != NULL) {
            leanxmss_key_encode(out, &k);
        } else {
            status = SHEAF_OUT_OF_MEMORY;
            failure_set(&f, status, SHEAF_CHECK_NONE, 0, "no memory for the bytes of a key of 2^%lu epochs",
                        (unsigned long)log_count);
        }
        leanxmss_key_wipe(&k, NULL);
    }
    result_of(r, status, &f);
    r->data = (uint32_t)(uintptr_t)out;
    r->length = out != NULL ? (uint32_t)len : 0;
    return r->status;
}

static leanxmss_key *key_at(uint32_t handle) {
    return (leanxmss_key *)(uintptr_t)handle;
}

uint32_t sheaf_wasm_key_open(sheaf_wasm_result *r, sheaf_wasm_key_info *info, const uint8_t *bytes,
                             uint32_t length) {
    sheaf_failure f = {0};
    leanxmss_key *k = malloc(sizeof *k);
    memset(info, 0, sizeof *info);
    sheaf_status status = SHEAF_OUT_OF_MEMORY;
    if (k != NULL)
        status = leanxmss_key_decode(k, NULL, bytes, length, "the key", &f);
    else
        failure_set(&f, status, SHEAF_CHECK_NONE, 0, "out of memory");
    if (status != SHEAF_OK) {
        free(k);
        k = NULL;
    }
    result_of(r, status, &f);
    if (k != NULL) {
        r->data = (uint32_t)(uintptr_t)k;
        info->first = k->first;
        info->log_count = k->log_count;
        memcpy(info->public_key, k->public_key, sizeof info->public_key);
    }
    return r->status;
}

void sheaf_wasm_key_close(uint32_t key) {
    leanxmss_key *k = key_at(key);
    if (k == NULL)
        return;
    leanxmss_key_wipe(k, NULL);
    free(k);
}

uint32_t sheaf_wasm_sign(sheaf_wasm_result *r, uint8_t *signature, uint32_t key, uint32_t epoch,
                         const uint8_t *message) {
    const leanxmss_key *k = key_at(key);
    sheaf_failure f = {0};
    uint32_t trials = 0;
    sheaf_status status = leanxmss_sign(signature, k, epoch, message, &trials);
    if (status != SHEAF_OK) {
        failure_set(&f, status, SHEAF_CHECK_NONE, 0, "the key cannot sign for epoch %lu: %s",
                    (unsigned long)epoch, sheaf_status_text(status));
    } else if (leanxmss_verify(k->public_key, epoch, message, signature) != 0) {
        /* a fault in memory must not leave as a signature */
        memset(signature, 0, LEANXMSS_SIGNATURE_BYTES);
        status = SHEAF_MALFORMED;
        failure_set(&f, status, SHEAF_CHECK_NONE, 0, "the key's nodes do not fit its public key");
    }
    result_of(r, status, &f);
    r->value = trials;
    return r->status;
}
