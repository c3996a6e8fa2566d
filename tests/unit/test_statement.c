/* What a proof is bound to, and every refusal before a proof is looked at: the envelope's checks, shapes and
 * rates without parameters, a verifier that runs out of memory.  SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "t.h"
#include "sheaf.h"
#include "aggregate/aggregate.h"
#include "circuit/leaf.h"
#include "circuit/witness.h"
#include "hash/shake.h"
#include "sig/leanxmss.h"

/* ---- memory that runs out in the verifier, which has only the C library's ---- */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define CAN_FAIL 1
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef CAN_FAIL
#endif
#endif
#endif

#ifdef CAN_FAIL
/* The C library's own, under the names that stay when a program has its own malloc. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static _Thread_local size_t allowed = SIZE_MAX; /* allocations still to come on this thread */
static _Thread_local size_t asked;

static int refuse(void) {
    asked++;
    if (allowed == SIZE_MAX)
        return 0;
    if (allowed == 0)
        return 1;
    allowed--;
    return 0;
}

void *malloc(size_t n) {
    return refuse() ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t size) {
    return refuse() ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t n) {
    return refuse() ? NULL : __libc_realloc(p, n);
}
#endif

/* ---- statements with their proofs, made once ---- */

enum { SIGNERS = 3, HASHES = SIGNERS, EPOCH = 41 };

static const uint8_t message[32] = "thirty-two bytes that are signed";

typedef struct envelope {
    uint8_t *bytes;
    size_t len;
} envelope;

static envelope keep(sheaf_context *ctx, uint8_t *bytes, size_t len) {
    envelope e = {malloc(len + 1), len};
    if (CHECK(e.bytes != NULL && bytes != NULL))
        memcpy(e.bytes, bytes, len);
    sheaf_free(ctx, bytes);
    sheaf_context_destroy(ctx);
    return e;
}

static const envelope *batch(void) {
    static envelope e;
    sheaf_context *ctx;
    uint8_t preimages[HASHES * SHEAF_PREIMAGE_BYTES], *bytes = NULL;
    size_t len = 0;
    uint64_t seed = t_seed();
    if (e.bytes != NULL)
        return &e;
    t_rand_bytes(&seed, preimages, sizeof preimages);
    CHECK_EQ_INT(sheaf_context_create(&ctx, &(sheaf_options){.threads = 1}), SHEAF_OK);
    CHECK_EQ_INT(sheaf_prove_hash_batch(ctx, &bytes, &len, preimages, HASHES, NULL), SHEAF_OK);
    return e = keep(ctx, bytes, len), &e;
}

static const envelope *aggregate(void) {
    static envelope e;
    sheaf_context *ctx;
    sheaf_entry entries[SIGNERS];
    uint8_t *bytes = NULL;
    size_t len = 0;
    if (e.bytes != NULL)
        return &e;
    for (unsigned i = 0; i < SIGNERS; i++) {
        leanxmss_key k;
        const uint8_t secret[32] = {(uint8_t)(i + 9)};
        CHECK_EQ_INT(leanxmss_keygen(&k, NULL, secret, EPOCH, 0), SHEAF_OK);
        memcpy(entries[i].public_key, k.public_key, 32);
        CHECK_EQ_INT(leanxmss_sign(entries[i].signature, &k, EPOCH, message, NULL), SHEAF_OK);
        leanxmss_key_wipe(&k, NULL);
    }
    CHECK_EQ_INT(sheaf_context_create(&ctx, &(sheaf_options){.threads = 1}), SHEAF_OK);
    CHECK_EQ_INT(sheaf_aggregate(ctx, &bytes, &len, EPOCH, message, entries, SIGNERS, NULL), SHEAF_OK);
    return e = keep(ctx, bytes, len), &e;
}

static sheaf_status verify(unsigned kind, const uint8_t *bytes, size_t len, const sheaf_expected *expected,
                           sheaf_failure *f) {
    return kind == SHEAF_KIND_HASH ? sheaf_verify_hash_batch(bytes, len, expected, f)
                                   : sheaf_verify_aggregate(bytes, len, expected, f);
}

/* ---- the envelope ---- */

enum {
    AT_VERSION = 8,
    AT_KIND = 10,
    AT_COUNT = 12,
    AT_EPOCH = 16,
    AT_RESERVED = 20,
    AT_MESSAGE = 24,
    AT_LIST = 56
};

/* Two items and a proof of eight bytes: a well-formed envelope, if not a true one. */
enum { SMALL = AT_LIST + 64 + 4 + 8, SMALL_ROOM = SMALL + 8 };

static size_t small_envelope(uint8_t out[SMALL_ROOM], unsigned kind) {
    static const uint8_t zeros[32];
    uint8_t items[64];
    for (unsigned i = 0; i < 64; i++)
        items[i] = (uint8_t)(i + 1);
    const sheaf_statement st = {.kind = kind,
                                .count = 2,
                                .epoch = kind == SHEAF_KIND_HASH ? 0 : EPOCH,
                                .message = kind == SHEAF_KIND_HASH ? zeros : message};
    memset(out, 0, SMALL_ROOM);
    envelope_header_write(out, &st);
    memcpy(out + AT_LIST, items, sizeof items);
    store32_le(out + AT_LIST + 64, 8);
    return SMALL;
}

typedef struct change {
    unsigned kind; /* of the envelope, 0: both */
    size_t at, bytes;
    uint32_t value; /* little endian, in so many bytes */
    long more;      /* bytes more or fewer at the end */
    sheaf_status status;
    const char *message; /* its beginning */
} change;

static const change changes[] = {
    {0, 0, 1, 0x54, 0, SHEAF_MALFORMED, "magic:"},
    {0, 7, 1, 0x1b, 0, SHEAF_MALFORMED, "magic:"},
    {0, 0, 0, 0, 7 - SMALL, SHEAF_MALFORMED, "magic:"},
    {0, 0, 0, 0, AT_LIST - 1 - SMALL, SHEAF_MALFORMED, "header: cut short"},
    {0, AT_VERSION, 2, 0, 0, SHEAF_UNSUPPORTED, "version: 0"},
    {0, AT_VERSION, 2, 2, 0, SHEAF_UNSUPPORTED, "version: 2"},
    {0, AT_VERSION, 2, 0x0101, 0, SHEAF_UNSUPPORTED, "version: 257"},
    {0, AT_KIND, 2, 0, 0, SHEAF_UNSUPPORTED, "kind: 0"},
    {0, AT_KIND, 2, 3, 0, SHEAF_UNSUPPORTED, "kind: 3"},
    {0, AT_KIND, 2, 0x0101, 0, SHEAF_UNSUPPORTED, "kind: 257"},
    {0, AT_COUNT, 4, 0, 0, SHEAF_MALFORMED, "count: 0"},
    {SHEAF_KIND_LEANXMSS, AT_COUNT, 4, 65537, 0, SHEAF_MALFORMED, "count: 65537 is not in 1..65536"},
    {SHEAF_KIND_HASH, AT_COUNT, 4, 1048577, 0, SHEAF_MALFORMED, "count: 1048577 is not in 1..1048576"},
    {0, AT_COUNT, 4, UINT32_MAX, 0, SHEAF_MALFORMED, "count:"},
    {0, AT_RESERVED, 4, 1, 0, SHEAF_MALFORMED, "reserved:"},
    {0, AT_RESERVED, 4, UINT32_C(1) << 31, 0, SHEAF_MALFORMED, "reserved:"},
    {SHEAF_KIND_HASH, AT_EPOCH, 4, 1, 0, SHEAF_MALFORMED, "epoch:"},
    {SHEAF_KIND_HASH, AT_MESSAGE, 1, 1, 0, SHEAF_MALFORMED, "message:"},
    {SHEAF_KIND_HASH, AT_MESSAGE + 31, 1, 128, 0, SHEAF_MALFORMED, "message:"},
    {0, AT_COUNT, 4, 4, 0, SHEAF_MALFORMED, "list: cut short"},
    {0, 0, 0, 0, AT_LIST + 63 - SMALL, SHEAF_MALFORMED, "list: cut short"},
    {0, 0, 0, 0, AT_LIST + 67 - SMALL, SHEAF_MALFORMED, "proof length: cut short"},
    {0, AT_LIST + 64, 4, (1u << 24) + 1, 0, SHEAF_MALFORMED, "proof length: 16777217 is over"},
    {0, AT_LIST + 64, 4, UINT32_MAX, 0, SHEAF_MALFORMED, "proof length: 4294967295 is over"},
    {0, AT_LIST + 64, 4, 9, 0, SHEAF_MALFORMED, "proof: cut short"},
    {0, 0, 0, 0, -1, SHEAF_MALFORMED, "proof: cut short"},
    {0, AT_LIST + 64, 4, 7, 0, SHEAF_MALFORMED, "end: 1 bytes"},
    {0, 0, 0, 0, 1, SHEAF_MALFORMED, "end: 1 bytes"},
};

/* In a block of its own length, so that a sanitizer sees a read past it. */
static sheaf_status read_exactly(const uint8_t *bytes, size_t len, sheaf_failure *f) {
    sheaf_statement st;
    uint8_t *exact = malloc(len > 0 ? len : 1);
    if (!CHECK(exact != NULL))
        return SHEAF_OUT_OF_MEMORY;
    memcpy(exact, bytes, len);
    const sheaf_status status = sheaf_statement_read(&st, exact, len, f);
    CHECK_EQ_INT(f->status, status);
    CHECK((status == SHEAF_OK) == (st.items != NULL));
    free(exact);
    return status;
}

TEST(each_check_of_an_envelope_refuses_what_only_it_can) {
    for (unsigned kind = SHEAF_KIND_LEANXMSS; kind <= SHEAF_KIND_HASH; kind++) {
        uint8_t bytes[SMALL_ROOM];
        sheaf_failure f;
        size_t len = small_envelope(bytes, kind);
        CHECK_EQ_INT(read_exactly(bytes, len, &f), SHEAF_OK);
        for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
            const change *c = &changes[i];
            if (c->kind != 0 && c->kind != kind)
                continue;
            len = small_envelope(bytes, kind);
            for (size_t b = 0; b < c->bytes; b++)
                bytes[c->at + b] = (uint8_t)(c->value >> (8 * b));
            CHECK_EQ_INT(read_exactly(bytes, (size_t)((long)len + c->more), &f), c->status);
            CHECK_EQ_INT(f.check, SHEAF_CHECK_NONE);
            if (!CHECK(strncmp(f.message, c->message, strlen(c->message)) == 0))
                printf("  %s, not %s\n", f.message, c->message);
        }
    }
}

TEST(a_key_twice_is_refused_and_a_digest_twice_is_not) {
    for (unsigned kind = SHEAF_KIND_LEANXMSS; kind <= SHEAF_KIND_HASH; kind++) {
        uint8_t bytes[SMALL_ROOM];
        sheaf_failure f;
        const size_t len = small_envelope(bytes, kind);
        memcpy(bytes + AT_LIST, bytes + AT_LIST + 32, 31); /* all but a byte of P */
        CHECK_EQ_INT(read_exactly(bytes, len, &f), SHEAF_OK);
        bytes[AT_LIST + 31] = bytes[AT_LIST + 63];
        CHECK_EQ_INT(read_exactly(bytes, len, &f), kind == SHEAF_KIND_HASH ? SHEAF_OK : SHEAF_DUPLICATE_KEY);
        CHECK_EQ_U64(f.index, kind == SHEAF_KIND_HASH ? 0 : 1);
    }
}

TEST(a_verifier_refuses_the_other_kind_and_a_key_twice_before_any_proof) {
    uint8_t bytes[SMALL_ROOM];
    sheaf_failure f;
    size_t len = small_envelope(bytes, SHEAF_KIND_HASH);
    CHECK_EQ_INT(sheaf_verify_aggregate(bytes, len, NULL, &f), SHEAF_MALFORMED);
    CHECK_EQ_INT(sheaf_verify_hash_batch(bytes, len, NULL, &f), SHEAF_REJECTED); /* its proof is no proof */
    len = small_envelope(bytes, SHEAF_KIND_LEANXMSS);
    CHECK_EQ_INT(sheaf_verify_hash_batch(bytes, len, NULL, &f), SHEAF_MALFORMED);
    CHECK_EQ_INT(sheaf_verify_aggregate(bytes, len, NULL, &f), SHEAF_REJECTED);
    memcpy(bytes + AT_LIST, bytes + AT_LIST + 32, 32);
    CHECK_EQ_INT(sheaf_verify_aggregate(bytes, len, NULL, &f), SHEAF_DUPLICATE_KEY);
    sheaf_info info;
    CHECK_EQ_INT(sheaf_inspect(&info, bytes, len, &f), SHEAF_DUPLICATE_KEY);
}

TEST(digests_are_expected_in_their_order) {
    const envelope *e = batch();
    const uint32_t epoch = 0;
    uint8_t digests[32 * HASHES];
    sheaf_expected want = {.items = digests, .n_items = HASHES};
    sheaf_failure f;
    memcpy(digests, e->bytes + AT_LIST, sizeof digests);
    CHECK_EQ_INT(sheaf_verify_hash_batch(e->bytes, e->len, &want, &f), SHEAF_OK);
    for (size_t i = 0; i < HASHES; i++) {
        digests[32 * i + 31] ^= 1;
        CHECK_EQ_INT(sheaf_verify_hash_batch(e->bytes, e->len, &want, &f), SHEAF_REJECTED);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_STATEMENT);
        CHECK_EQ_U64(f.index, i);
        digests[32 * i + 31] ^= 1;
    }
    for (want.n_items = 0; want.n_items < HASHES; want.n_items++) {
        CHECK_EQ_INT(sheaf_verify_hash_batch(e->bytes, e->len, &want, &f), SHEAF_REJECTED);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_STATEMENT);
    }
    want = (sheaf_expected){.epoch = &epoch};
    CHECK_EQ_INT(sheaf_verify_hash_batch(e->bytes, e->len, &want, &f), SHEAF_INVALID_ARGUMENT);
    want = (sheaf_expected){.message = message};
    CHECK_EQ_INT(sheaf_verify_hash_batch(e->bytes, e->len, &want, &f), SHEAF_INVALID_ARGUMENT);
}

TEST(no_keys_are_not_a_set_that_is_covered) {
    const envelope *e = aggregate();
    const uint8_t none[32] = {0};
    const sheaf_expected want = {.items = none, .n_items = 0};
    sheaf_failure f;
    CHECK_EQ_INT(sheaf_verify_aggregate(e->bytes, e->len, &want, &f), SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_STATEMENT);
}

TEST(expected_items_that_are_not_there_are_an_error) {
    const envelope *e = aggregate(), *h = batch();
    sheaf_expected want = {.items = NULL, .n_items = 5};
    sheaf_failure f;
    CHECK_EQ_INT(sheaf_verify_aggregate(e->bytes, e->len, &want, &f), SHEAF_INVALID_ARGUMENT);
    CHECK(strstr(f.message, "NULL") != NULL);
    CHECK_EQ_INT(sheaf_verify_hash_batch(h->bytes, h->len, &want, &f), SHEAF_INVALID_ARGUMENT);
    CHECK_EQ_INT(sheaf_verify_hash_batch(h->bytes, h->len, &want, NULL), SHEAF_INVALID_ARGUMENT);
    want.n_items = 0;
    CHECK_EQ_INT(sheaf_verify_aggregate(e->bytes, e->len, &want, &f), SHEAF_OK);
}

/* ---- the statement of a proof ---- */

/* The proof of an envelope whose statement says something else is rejected, by a check that reads the proof.
 */
static void check_lie(unsigned kind, const uint8_t *bytes, size_t len) {
    sheaf_failure f;
    CHECK_EQ_INT(verify(kind, bytes, len, NULL, &f), SHEAF_REJECTED);
    CHECK(f.check != SHEAF_CHECK_NONE && f.check != SHEAF_CHECK_STATEMENT);
}

TEST(a_proof_is_of_its_envelopes_statement_only) {
    for (unsigned kind = SHEAF_KIND_LEANXMSS; kind <= SHEAF_KIND_HASH; kind++) {
        const envelope *e = kind == SHEAF_KIND_HASH ? batch() : aggregate();
        uint8_t *lie = malloc(e->len + 32), t[32];
        sheaf_failure f;
        REQUIRE(lie != NULL);
        memcpy(lie, e->bytes, e->len);
        CHECK_EQ_INT(verify(kind, lie, e->len, NULL, &f), SHEAF_OK);
        for (size_t at = AT_LIST; at < AT_LIST + 96; at += 8) { /* every word of the list */
            lie[at] ^= 16;
            check_lie(kind, lie, e->len);
            lie[at] ^= 16;
        }
        for (size_t at = AT_EPOCH; at < AT_LIST && kind == SHEAF_KIND_LEANXMSS; at++) {
            if (at >= AT_RESERVED && at < AT_MESSAGE)
                continue;
            lie[at] ^= 128;
            check_lie(kind, lie, e->len);
            lie[at] ^= 128;
        }
        memcpy(t, lie + AT_LIST, 32); /* another order */
        memmove(lie + AT_LIST, lie + AT_LIST + 32, 32);
        memcpy(lie + AT_LIST + 32, t, 32);
        check_lie(kind, lie, e->len);
        memcpy(lie, e->bytes, e->len); /* the last one left out */
        store32_le(lie + AT_COUNT, 2);
        memmove(lie + AT_LIST + 64, lie + AT_LIST + 96, e->len - AT_LIST - 96);
        check_lie(kind, lie, e->len - 32);
        memcpy(lie, e->bytes, AT_LIST + 96); /* one more */
        store32_le(lie + AT_COUNT, 4);
        memcpy(lie + AT_LIST + 96, message, 32);
        memcpy(lie + AT_LIST + 128, e->bytes + AT_LIST + 96, e->len - AT_LIST - 96);
        check_lie(kind, lie, e->len + 32);
        free(lie);
    }
}

/* A batch's leaf statement and proof, taken out of the envelope. */
typedef struct leaf_case {
    aggregate_leaf a;
    uint8_t *proof;
    size_t len;
} leaf_case;

static int leaf_case_init(leaf_case *l) {
    const envelope *e = batch();
    sheaf_statement st;
    if (sheaf_statement_read(&st, e->bytes, e->len, NULL) != SHEAF_OK ||
        aggregate_leaf_init(&l->a, &st) != SHEAF_OK)
        return -1;
    l->len = st.proof_len;
    l->proof = malloc(l->len);
    if (l->proof == NULL)
        return -1;
    memcpy(l->proof, st.proof, l->len);
    return 0;
}

static void leaf_case_free(leaf_case *l) {
    aggregate_leaf_free(&l->a);
    free(l->proof);
}

static void check_unbound(const leaf_case *l, const leaf_statement *st) {
    sheaf_failure f;
    CHECK_EQ_INT(leaf_verify(l->proof, l->len, st, NULL, &f), SHEAF_REJECTED);
    CHECK(f.check != SHEAF_CHECK_HEADER);
}

/* Nothing that the equations are made of changes here, only what the transcript starts from. */
TEST(the_transcript_starts_from_the_circuits_digest_the_binding_words_the_count_and_the_rate) {
    leaf_case l;
    sheaf_failure f;
    REQUIRE(leaf_case_init(&l) == 0);
    CHECK_EQ_INT(leaf_verify(l.proof, l.len, &l.a.st, NULL, &f), SHEAF_OK);

    circuit other = l.a.circuit;
    leaf_statement st = l.a.st;
    st.circuit = &other;
    for (size_t i = 0; i < 4; i++) {
        other.digest[i] ^= UINT64_C(1) << 63;
        check_unbound(&l, &st);
        other.digest[i] = l.a.circuit.digest[i];
    }
    st = l.a.st;
    for (size_t i = 0; i < 4; i++) {
        l.a.binding[i] ^= 1;
        check_unbound(&l, &st);
        l.a.binding[i] ^= 1;
    }
    for (st.n_binding = 0; st.n_binding <= 5; st.n_binding++)
        if (st.n_binding != 4)
            check_unbound(&l, &st);

    /* Four signers of whom the last two are one: the same columns, once they are filled up to eight slots. */
    uint64_t publics[4 * 4];
    for (size_t p = 0; p < 4; p++)
        for (size_t s = 0; s < 4; s++)
            publics[4 * p + s] = l.a.publics[3 * p + (s < 3 ? s : 2)];
    st = l.a.st;
    st.publics = publics;
    st.signers = 4;
    CHECK_EQ_INT(leaf_verify(l.proof, l.len, &st, NULL, &f), SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_HEADER);
    const uint64_t header = load64_le(l.proof);
    store64_le(l.proof, header + 1);
    check_unbound(&l, &st);

    /* Another first rate: other parameters as well. */
    for (uint64_t rate = 1; rate <= PARAMS_MAX_RATE; rate++)
        if (rate != header >> 32) {
            store64_le(l.proof, (header & UINT32_MAX) | rate << 32);
            check_unbound(&l, &l.a.st);
        }
    store64_le(l.proof, header);
    CHECK_EQ_INT(leaf_verify(l.proof, l.len, &l.a.st, NULL, &f), SHEAF_OK);
    leaf_case_free(&l);
}

TEST(a_leaf_proof_cut_anywhere_or_longer_is_rejected) {
    leaf_case l;
    sheaf_failure f;
    REQUIRE(leaf_case_init(&l) == 0);
    for (size_t len = 0; len < l.len; len += 1 + len / 50) {
        uint8_t *cut = malloc(len + 1);
        REQUIRE(cut != NULL);
        memcpy(cut, l.proof, len);
        CHECK_EQ_INT(leaf_verify(cut, len, &l.a.st, NULL, &f), SHEAF_REJECTED);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_TRUNCATED);
        free(cut);
    }
    for (size_t more = 1; more <= 8; more++) {
        uint8_t *longer = calloc(1, l.len + more);
        REQUIRE(longer != NULL);
        memcpy(longer, l.proof, l.len);
        CHECK_EQ_INT(leaf_verify(longer, l.len + more, &l.a.st, NULL, &f), SHEAF_REJECTED);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_TRAILING);
        free(longer);
    }
    leaf_case_free(&l);
}

/* ---- shapes ---- */

static void check_header(const circuit *c, uint64_t signers, uint64_t header, sheaf_check check) {
    static uint64_t no_publics[4]; /* no header gets as far as them */
    const leaf_statement st = {c, signers, no_publics, NULL, 0};
    uint8_t proof[8];
    sheaf_failure f;
    store64_le(proof, header);
    CHECK_EQ_INT(leaf_verify(proof, sizeof proof, &st, NULL, &f), SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, check);
    CHECK_EQ_U64(f.index, 0);
}

static void check_headers(const circuit *c, uint64_t most) {
    sheaf_failure f;
    const uint64_t outside[] = {0, most + 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        const leaf_statement st = {c, outside[i], NULL, NULL, 0};
        CHECK_EQ_INT(leaf_verify(NULL, 0, &st, NULL, &f), SHEAF_UNSUPPORTED);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_NONE);
    }
    unsigned absent = 0;
    for (uint64_t rate = 0; rate <= PARAMS_MAX_RATE + 1; rate++) {
        const int valid = rate >= 1 && rate <= PARAMS_MAX_RATE &&
                          params_lookup(c->family, circuit_log_slots(most), (unsigned)rate) != NULL;
        absent += rate >= 1 && rate <= PARAMS_MAX_RATE && !valid;
        /* what is missing after a good header is the rest */
        check_header(c, most, most | rate << 32, valid ? SHEAF_CHECK_TRUNCATED : SHEAF_CHECK_HEADER);
    }
    CHECK(absent > 0);
    check_header(c, most, (most - 1) | UINT64_C(1) << 32, SHEAF_CHECK_HEADER);
    check_header(c, most, most | UINT64_C(1) << 63 | UINT64_C(1) << 32, SHEAF_CHECK_HEADER);
    check_header(c, 2, 3 | UINT64_C(1) << 32, SHEAF_CHECK_HEADER); /* as many slots */
}

TEST(a_header_needs_the_statements_count_and_a_rate_that_has_parameters) {
    const uint64_t words[4] = {1, 2, 3, 4};
    circuit c;
    REQUIRE(circuit_build_hash(&c) == 0);
    check_headers(&c, SHEAF_MAX_HASHES);
    circuit_free(&c);
    REQUIRE(circuit_build_leanxmss(&c, EPOCH, words) == 0);
    check_headers(&c, SHEAF_MAX_SIGNERS);
    circuit_free(&c);
}

/* ---- no memory ---- */

#ifdef CAN_FAIL
typedef sheaf_status verdict_fn(unsigned kind, const envelope *e, sheaf_failure *f);

static sheaf_status verdict_of_verify(unsigned kind, const envelope *e, sheaf_failure *f) {
    const sheaf_expected want = {.items = e->bytes + AT_LIST, .n_items = SIGNERS};
    return verify(kind, e->bytes, e->len, &want, f);
}

static sheaf_status verdict_of_inspect(unsigned kind, const envelope *e, sheaf_failure *f) {
    sheaf_info info;
    const sheaf_status status = sheaf_inspect(&info, e->bytes, e->len, f);
    if (status == SHEAF_OK) {
        CHECK_EQ_U64(info.kind, kind);
        *f = info.failure;
    }
    return status == SHEAF_OK ? info.verdict : status;
}

/* Fails the n-th allocation and all after it, for every n. */
static void check_every_shortage(unsigned kind, verdict_fn *verdict) {
    const envelope *e = kind == SHEAF_KIND_HASH ? batch() : aggregate();
    const size_t before = asked;
    sheaf_failure f;
    CHECK_EQ_INT(verdict(kind, e, &f), SHEAF_OK);
    const size_t calls = asked - before;
    CHECK(calls > 10);
    for (size_t n = 0; n < calls; n++) {
        allowed = n;
        const sheaf_status status = verdict(kind, e, &f);
        allowed = SIZE_MAX;
        CHECK_EQ_INT(status, SHEAF_OUT_OF_MEMORY);
        CHECK_EQ_INT(f.status, SHEAF_OUT_OF_MEMORY);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_NONE);
    }
}
#endif

TEST(a_verifier_without_memory_says_so_and_accepts_nothing) {
#ifdef CAN_FAIL
    for (unsigned kind = SHEAF_KIND_LEANXMSS; kind <= SHEAF_KIND_HASH; kind++) {
        check_every_shortage(kind, verdict_of_verify);
        check_every_shortage(kind, verdict_of_inspect);
    }
#else
    SKIP("the C library's allocator cannot be replaced here");
#endif
}

T_MAIN()
