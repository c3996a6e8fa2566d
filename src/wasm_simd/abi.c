/* The flat interface, verifying side.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include "abi.h"
#include "abi_result.h"
#include "base/wipe.h"
#include "kernels.h"

_Static_assert(sizeof(sheaf_wasm_result) == 224 && sizeof(sheaf_wasm_statement) == 32,
               "JavaScript knows these layouts");
_Static_assert(sizeof((sheaf_failure *)0)->message == sizeof((sheaf_wasm_result *)0)->message,
               "a failure's text fits");

/* ---- about the module ---- */

uint32_t sheaf_wasm_abi(void) {
    return SHEAF_WASM_ABI;
}

const char *sheaf_wasm_version(void) {
    return SHEAF_VERSION_STRING;
}

const char *sheaf_wasm_kernels(void) {
    return kernels_describe();
}

uint32_t sheaf_wasm_has_prover(void) {
#ifdef SHEAF_WASM_VERIFIER
    return 0;
#else
    return 1;
#endif
}

uint32_t sheaf_wasm_has_threads(void) {
#ifdef SHEAF_NO_THREADS
    return 0;
#else
    return 1;
#endif
}

const char *sheaf_wasm_status_text(uint32_t status) {
    return sheaf_status_text((sheaf_status)status);
}

const char *sheaf_wasm_check_name(uint32_t check) {
    return sheaf_check_name((sheaf_check)check);
}

/* ---- memory ---- */

void *sheaf_wasm_alloc(uint32_t bytes) {
    return bytes > 0 ? malloc(bytes) : NULL;
}

void sheaf_wasm_free(void *p) {
    free(p);
}

void sheaf_wasm_free_secret(void *p, uint32_t bytes) {
    wipe(p, bytes);
    free(p);
}

/* ---- results ---- */

uint32_t result_of(sheaf_wasm_result *r, sheaf_status status, const sheaf_failure *f) {
    memset(r, 0, sizeof *r);
    r->status = (uint32_t)status;
    if (status != SHEAF_OK && f != NULL) {
        r->check = (uint32_t)f->check;
        r->index = (uint32_t)f->index;
        memcpy(r->message, f->message, sizeof r->message);
    }
    return r->status;
}

/* ---- verifying ---- */

static sheaf_status parse(sheaf_statement *st, const uint8_t *envelope, uint32_t length, sheaf_failure *f) {
    memset(f, 0, sizeof *f);
    return sheaf_statement_read(st, envelope, length, f);
}

uint32_t sheaf_wasm_parse(sheaf_wasm_result *r, sheaf_wasm_statement *out, const uint8_t *envelope,
                          uint32_t length) {
    sheaf_statement st;
    sheaf_failure f;
    memset(out, 0, sizeof *out);
    sheaf_status status = parse(&st, envelope, length, &f);
    if (status == SHEAF_OK)
        *out = (sheaf_wasm_statement){.kind = st.kind,
                                      .count = st.count,
                                      .epoch = st.epoch,
                                      .message_at = (uint32_t)(st.message - envelope),
                                      .items_at = (uint32_t)(st.items - envelope),
                                      .proof_at = (uint32_t)(st.proof - envelope),
                                      .proof_length = (uint32_t)st.proof_len};
    return result_of(r, status, &f);
}

uint32_t sheaf_wasm_verify(sheaf_wasm_result *r, const uint8_t *envelope, uint32_t length, uint32_t kind,
                           uint32_t has_epoch, uint32_t epoch, const uint8_t *message, const uint8_t *items,
                           uint32_t n_items) {
    sheaf_failure f = {0};
    const sheaf_expected expected = {
        .epoch = has_epoch != 0 ? &epoch : NULL, .message = message, .items = items, .n_items = n_items};
    sheaf_status status;
    if (kind == SHEAF_KIND_LEANXMSS) {
        status = sheaf_verify_aggregate(envelope, length, &expected, &f);
    } else if (kind == SHEAF_KIND_HASH) {
        status = sheaf_verify_hash_batch(envelope, length, &expected, &f);
    } else {
        status = SHEAF_INVALID_ARGUMENT;
        failure_set(&f, status, SHEAF_CHECK_NONE, 0, "kind %lu is none that can be asked for",
                    (unsigned long)kind);
    }
    return result_of(r, status, &f);
}

uint32_t sheaf_wasm_verify_signature(const uint8_t *public_key, uint32_t epoch, const uint8_t *message,
                                     const uint8_t *signature) {
    return (uint32_t)sheaf_verify_signature(public_key, epoch, message, signature);
}

/* ---- what a proof is made of ---- */

typedef struct text { /* grows to what every sheaf_info takes: the parts and levels are few, names short */
    char *at;
    size_t len, cap;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->at + t->len, t->cap - t->len, fmt, args);
    va_end(args);
    if (n > 0)
        t->len += (size_t)n;
    if (t->len >= t->cap)
        t->len = t->cap - 1;
}

static void put_info(text *t, const sheaf_info *i) {
    put(t, "{\"kind\":\"%s\",\"count\":%lu,\"epoch\":%lu,\"accepted\":%s,\"check\":\"%s\",",
        i->kind == SHEAF_KIND_HASH ? "hash batch" : "leanXMSS aggregate", (unsigned long)i->count,
        (unsigned long)i->epoch, i->verdict == SHEAF_OK ? "true" : "false",
        sheaf_check_name(i->failure.check));
    put(t, "\"envelope_bytes\":%zu,\"statement_bytes\":%zu,\"proof_bytes\":%zu,\"parts\":{",
        i->envelope_bytes, i->statement_bytes, i->proof_bytes);
    for (unsigned k = 0; k < i->n_parts; k++)
        put(t, "%s\"%s\":%zu", k > 0 ? "," : "", i->part[k].name, i->part[k].bytes);
    put(t, "},\"log_slots\":%u,\"permutations_per_slot\":%u,\"log_words\":%u,\"log_inv_rate\":%u,",
        i->log_slots, i->permutations, i->log_words, i->log_inv_rate);
    put(t, "\"arity\":%u,\"last_log\":%u,\"levels\":[", i->arity, i->last_log);
    for (unsigned k = 0; k < i->n_levels; k++)
        put(t, "%s{\"fold\":%u,\"log_inv_rate\":%u,\"queries\":%u,\"grinding_bits\":%u}", k > 0 ? "," : "",
            i->level[k].fold, i->level[k].log_inv_rate, i->level[k].queries, i->level[k].grinding_bits);
    /* In hundredths: printing a double would bring a tenth of the module with it. */
    unsigned hundredths = i->security_bits > 0 ? (unsigned)(i->security_bits * 100 + 0.5) : 0;
    put(t, "],\"security_bits\":%u.%02u}", hundredths / 100, hundredths % 100);
}

uint32_t sheaf_wasm_inspect(sheaf_wasm_result *r, const uint8_t *envelope, uint32_t length) {
    enum { MOST = 4096 };
    sheaf_failure f = {0};
    sheaf_info info;
    sheaf_status status = sheaf_inspect(&info, envelope, length, &f);
    text t = {.cap = MOST};
    if (status == SHEAF_OK) {
        t.at = malloc(MOST);
        if (t.at == NULL) {
            status = SHEAF_OUT_OF_MEMORY;
            failure_set(&f, status, SHEAF_CHECK_NONE, 0, "out of memory");
        }
    }
    result_of(r, status, &f);
    if (status != SHEAF_OK)
        return (uint32_t)status;
    put_info(&t, &info);
    r->data = (uint32_t)(uintptr_t)t.at;
    r->length = (uint32_t)t.len;
    if (info.verdict != SHEAF_OK) {
        r->check = (uint32_t)info.failure.check;
        r->index = (uint32_t)info.failure.index;
        memcpy(r->message, info.failure.message, sizeof r->message);
    }
    return (uint32_t)status;
}
