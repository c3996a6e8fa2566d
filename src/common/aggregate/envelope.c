/* The envelope: one statement and its proof as bytes.   docs/protocol.md 10.1.  SPDX-License-Identifier: MIT
 * OR Apache-2.0 */
#include "aggregate.h"

static const uint8_t envelope_magic[8] = {0x53, 0x48, 0x45, 0x41, 0x46, 0x0d, 0x0a, 0x1a};
enum { ENVELOPE_VERSION = 1 };

static uint32_t load16(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}
static void store16(uint8_t *p, unsigned v) {
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

void envelope_header_write(uint8_t *out, const sheaf_statement *st) {
    memcpy(out, envelope_magic, 8);
    store16(out + 8, ENVELOPE_VERSION);
    store16(out + 10, st->kind);
    store32_le(out + 12, st->count);
    store32_le(out + 16, st->epoch);
    store32_le(out + 20, 0);
    memcpy(out + 24, st->message, SHEAF_MESSAGE_BYTES);
}

static int all_zero(const uint8_t *p, size_t n) {
    uint8_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= p[i];
    return any == 0;
}

#define FAIL(status, ...)                                                                                    \
    do {                                                                                                     \
        failure_set(f, (status), SHEAF_CHECK_NONE, 0, __VA_ARGS__);                                          \
        return (status);                                                                                     \
    } while (0)

static sheaf_status read_header(sheaf_statement *st, const uint8_t *in, size_t len, sheaf_failure *f) {
    if (len < 8 || memcmp(in, envelope_magic, 8) != 0)
        FAIL(SHEAF_MALFORMED, "magic: not a Sheaf envelope");
    if (len < ENVELOPE_HEADER_BYTES)
        FAIL(SHEAF_MALFORMED, "header: cut short, %zu of %d bytes", len, ENVELOPE_HEADER_BYTES);
    if (load16(in + 8) != ENVELOPE_VERSION)
        FAIL(SHEAF_UNSUPPORTED, "version: %u, this build reads version %d", load16(in + 8), ENVELOPE_VERSION);
    st->kind = load16(in + 10);
    if (st->kind != SHEAF_KIND_LEANXMSS && st->kind != SHEAF_KIND_HASH)
        FAIL(SHEAF_UNSUPPORTED, "kind: %u is not known", st->kind);
    st->count = load32_le(in + 12);
    uint32_t limit = st->kind == SHEAF_KIND_HASH ? SHEAF_MAX_HASHES : SHEAF_MAX_SIGNERS;
    if (st->count == 0 || st->count > limit)
        FAIL(SHEAF_MALFORMED, "count: %lu is not in 1..%lu", (unsigned long)st->count, (unsigned long)limit);
    st->epoch = load32_le(in + 16);
    st->message = in + 24;
    if (load32_le(in + 20) != 0)
        FAIL(SHEAF_MALFORMED, "reserved: the four bytes at 20 are not zero");
    if (st->kind == SHEAF_KIND_HASH && st->epoch != 0)
        FAIL(SHEAF_MALFORMED, "epoch: not zero in a hash batch");
    if (st->kind == SHEAF_KIND_HASH && !all_zero(st->message, SHEAF_MESSAGE_BYTES))
        FAIL(SHEAF_MALFORMED, "message: not zero in a hash batch");
    return SHEAF_OK;
}

static sheaf_status read_body(sheaf_statement *st, const uint8_t *in, size_t len, sheaf_failure *f) {
    size_t items_len = (size_t)32 * st->count, at = ENVELOPE_HEADER_BYTES;
    if (len - at < items_len)
        FAIL(SHEAF_MALFORMED, "list: cut short, %zu of %zu bytes", len - at, items_len);
    st->items = in + at;
    at += items_len;
    if (len - at < ENVELOPE_LENGTH_BYTES)
        FAIL(SHEAF_MALFORMED, "proof length: cut short");
    st->proof_len = load32_le(in + at);
    at += ENVELOPE_LENGTH_BYTES;
    if (st->proof_len > SHEAF_MAX_PROOF_BYTES)
        FAIL(SHEAF_MALFORMED, "proof length: %zu is over %d", st->proof_len, SHEAF_MAX_PROOF_BYTES);
    if (len - at < st->proof_len)
        FAIL(SHEAF_MALFORMED, "proof: cut short, %zu of %zu bytes", len - at, st->proof_len);
    if (len - at > st->proof_len)
        FAIL(SHEAF_MALFORMED, "end: %zu bytes are left over", len - at - st->proof_len);
    st->proof = in + at;
    if (st->kind == SHEAF_KIND_LEANXMSS)
        return key_list_check_distinct(st->items, st->count, f);
    return SHEAF_OK;
}

sheaf_status sheaf_statement_read(sheaf_statement *st, const void *envelope, size_t len, sheaf_failure *f) {
    memset(st, 0, sizeof *st);
    if (f != NULL)
        memset(f, 0, sizeof *f);
    sheaf_status status = read_header(st, envelope, len, f);
    if (status == SHEAF_OK)
        status = read_body(st, envelope, len, f);
    if (status != SHEAF_OK)
        memset(st, 0, sizeof *st);
    return status;
}
