/* The public interface: envelopes, expected statements, contexts.  SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "sheaf.h"
#include "aggregate/aggregate.h"
#include "hash/shake.h"
#include "sig/leanxmss.h"
#include "t.h"

enum { EPOCH = 7, SIGNERS = 3, HASHES = 5 };
static const uint8_t message[32] = "a message of thirty-two bytes...";

/* ---- what the tests share: made once ---- */

static sheaf_entry entries[SIGNERS];
static uint8_t preimages[HASHES * SHEAF_PREIMAGE_BYTES];

static const sheaf_entry *make_entries(void) {
    static int made;
    for (unsigned i = 0; i < SIGNERS && !made; i++) {
        leanxmss_key k;
        uint8_t seed[32] = {(uint8_t)(i + 1)};
        if (!CHECK(leanxmss_keygen(&k, NULL, seed, EPOCH, 0) == SHEAF_OK))
            continue;
        memcpy(entries[i].public_key, k.public_key, 32);
        CHECK(leanxmss_sign(entries[i].signature, &k, EPOCH, message, NULL) == SHEAF_OK);
        leanxmss_key_wipe(&k, NULL);
    }
    made = 1;
    return entries;
}

static const uint8_t *make_preimages(void) {
    for (size_t i = 0; i < sizeof preimages; i++)
        preimages[i] = (uint8_t)(i * 7);
    return preimages;
}

typedef struct proof {
    uint8_t *bytes; /* from malloc: a copy */
    size_t len;
} proof;

static proof copy_and_free(sheaf_context *ctx, uint8_t *envelope, size_t len) {
    proof p = {malloc(len > 0 ? len : 1), len};
    if (CHECK(p.bytes != NULL) && CHECK(envelope != NULL))
        memcpy(p.bytes, envelope, len);
    sheaf_free(ctx, envelope);
    return p;
}

static proof aggregate_with(const sheaf_options *options) {
    sheaf_context *ctx;
    uint8_t *envelope = NULL;
    size_t len = 0;
    sheaf_failure f;
    if (!CHECK(sheaf_context_create(&ctx, options) == SHEAF_OK))
        return (proof){NULL, 0};
    CHECK_EQ_INT(sheaf_aggregate(ctx, &envelope, &len, EPOCH, message, make_entries(), SIGNERS, &f),
                 SHEAF_OK);
    proof p = copy_and_free(ctx, envelope, len);
    sheaf_context_destroy(ctx);
    return p;
}

static proof batch_with(const sheaf_options *options) {
    sheaf_context *ctx;
    uint8_t *envelope = NULL;
    size_t len = 0;
    if (!CHECK(sheaf_context_create(&ctx, options) == SHEAF_OK))
        return (proof){NULL, 0};
    CHECK_EQ_INT(sheaf_prove_hash_batch(ctx, &envelope, &len, make_preimages(), HASHES, NULL), SHEAF_OK);
    proof p = copy_and_free(ctx, envelope, len);
    sheaf_context_destroy(ctx);
    return p;
}

static const proof *aggregate(void) {
    static proof p;
    if (p.bytes == NULL)
        p = aggregate_with(NULL);
    return &p;
}

/* ---- statements ---- */

TEST(a_statement_reads_back) {
    const proof *p = aggregate();
    sheaf_statement st;
    REQUIRE(sheaf_statement_read(&st, p->bytes, p->len, NULL) == SHEAF_OK);
    CHECK_EQ_U64(st.kind, SHEAF_KIND_LEANXMSS);
    CHECK_EQ_U64(st.count, SIGNERS);
    CHECK_EQ_U64(st.epoch, EPOCH);
    CHECK_MEM(st.message, message, 32);
    for (unsigned i = 0; i < SIGNERS; i++)
        CHECK_MEM(st.items + 32 * i, entries[i].public_key, 32);
    CHECK_EQ_U64(p->len, 60 + 32 * SIGNERS + st.proof_len);
}

TEST(a_statement_cut_short_anywhere_is_malformed) {
    const proof *p = aggregate();
    sheaf_statement st;
    for (size_t len = 0; len < 60 + 32 * SIGNERS + 40; len++) {
        uint8_t *exact = malloc(len > 0 ? len : 1); /* so that a read past the end is seen by the sanitizer */
        sheaf_failure f;
        REQUIRE(exact != NULL);
        memcpy(exact, p->bytes, len);
        CHECK_EQ_INT(sheaf_statement_read(&st, exact, len, &f), SHEAF_MALFORMED);
        CHECK(f.message[0] != '\0' && st.items == NULL && st.count == 0);
        free(exact);
    }
    CHECK_EQ_INT(sheaf_statement_read(&st, NULL, 0, NULL), SHEAF_MALFORMED);
}

TEST(what_is_expected_is_compared) {
    const proof *p = aggregate();
    uint8_t keys[SIGNERS * 32], other[32] = {1};
    const uint32_t epoch = EPOCH, later = EPOCH + 1;
    sheaf_failure f;
    for (unsigned i = 0; i < SIGNERS; i++)
        memcpy(keys + 32 * i, entries[SIGNERS - 1 - i].public_key, 32);
    sheaf_expected want = {.epoch = &epoch, .message = message, .items = keys, .n_items = SIGNERS};
    CHECK_EQ_INT(sheaf_verify_aggregate(p->bytes, p->len, &want, &f), SHEAF_OK);
    CHECK_EQ_INT(sheaf_verify_aggregate(p->bytes, p->len, &want, NULL), SHEAF_OK);
    CHECK_EQ_INT(sheaf_verify_aggregate(p->bytes, p->len, NULL, NULL), SHEAF_OK);

    want.epoch = &later;
    CHECK_EQ_INT(sheaf_verify_aggregate(p->bytes, p->len, &want, &f), SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_STATEMENT);
    want.epoch = NULL;
    want.message = other;
    CHECK_EQ_INT(sheaf_verify_aggregate(p->bytes, p->len, &want, &f), SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_STATEMENT);
    want.message = NULL;
    want.n_items = SIGNERS - 1;
    CHECK_EQ_INT(sheaf_verify_aggregate(p->bytes, p->len, &want, &f), SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_STATEMENT);
    want.n_items = SIGNERS;
    keys[40] ^= 1;
    CHECK_EQ_INT(sheaf_verify_aggregate(p->bytes, p->len, &want, &f), SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_STATEMENT);
    memcpy(keys + 32, keys, 32);
    CHECK_EQ_INT(sheaf_verify_aggregate(p->bytes, p->len, &want, &f), SHEAF_INVALID_ARGUMENT);
    CHECK_EQ_U64(f.index, 1);
}

TEST(a_hash_batch_expects_no_epoch) {
    proof p = batch_with(NULL);
    const uint32_t epoch = 0;
    sheaf_expected want = {.epoch = &epoch};
    sheaf_failure f;
    CHECK_EQ_INT(sheaf_verify_hash_batch(p.bytes, p.len, NULL, &f), SHEAF_OK);
    CHECK_EQ_INT(sheaf_verify_hash_batch(p.bytes, p.len, &want, &f), SHEAF_INVALID_ARGUMENT);
    CHECK_EQ_INT(sheaf_verify_aggregate(p.bytes, p.len, NULL, &f), SHEAF_MALFORMED);
    uint8_t digest[32];
    sheaf_statement st;
    REQUIRE(sheaf_statement_read(&st, p.bytes, p.len, &f) == SHEAF_OK);
    for (unsigned i = 0; i < HASHES; i++) {
        shake256_once(digest, 32, preimages + i * SHEAF_PREIMAGE_BYTES, SHEAF_PREIMAGE_BYTES);
        CHECK_MEM(st.items + 32 * i, digest, 32);
    }
    free(p.bytes);
}

/* ---- lists of keys ---- */

static void fill_keys(uint8_t *keys, size_t n, uint64_t *seed, int one_prefix) {
    t_rand_bytes(seed, keys, 32 * n);
    for (size_t i = 0; i < n && one_prefix; i++)
        memset(keys + 32 * i, 0x55, 24); /* as an adversary would choose them */
}

TEST(a_key_twice_is_found_wherever_it_is) {
    enum { MOST = 70 };
    uint64_t seed = t_seed();
    uint8_t keys[32 * MOST];
    for (size_t n = 2; n <= MOST; n += 1 + n / 7) {
        for (int one_prefix = 0; one_prefix < 2; one_prefix++) {
            fill_keys(keys, n, &seed, one_prefix);
            CHECK_EQ_INT(key_list_check_distinct(keys, n, NULL), SHEAF_OK);
            size_t a = t_rand64(&seed) % n, b = t_rand64(&seed) % n;
            if (a == b)
                continue;
            sheaf_failure f;
            memcpy(keys + 32 * a, keys + 32 * b, 32);
            CHECK_EQ_INT(key_list_check_distinct(keys, n, &f), SHEAF_DUPLICATE_KEY);
            CHECK_EQ_U64(f.index, a > b ? a : b);
            char both[64];
            snprintf(both, sizeof both, "public keys %zu and %zu are the same", a < b ? a : b, a < b ? b : a);
            CHECK_STR(f.message, both);
        }
    }
}

TEST(the_first_of_several_duplicates_is_named) {
    uint64_t seed = t_seed();
    uint8_t keys[32 * 20];
    sheaf_failure f;
    fill_keys(keys, 20, &seed, 0);
    memcpy(keys + 32 * 19, keys, 32);
    memcpy(keys + 32 * 9, keys + 32 * 4, 32);
    memcpy(keys + 32 * 14, keys + 32 * 4, 32);
    CHECK_EQ_INT(key_list_check_distinct(keys, 20, &f), SHEAF_DUPLICATE_KEY);
    CHECK_STR(f.message, "public keys 4 and 9 are the same");
}

TEST(equal_sets_are_equal_in_any_order) {
    enum { N = 33 };
    uint64_t seed = t_seed();
    uint8_t keys[32 * N], shuffled[32 * N];
    for (int one_prefix = 0; one_prefix < 2; one_prefix++) {
        fill_keys(keys, N, &seed, one_prefix);
        for (size_t i = 0; i < N; i++)
            memcpy(shuffled + 32 * (i * 10 % N), keys + 32 * i, 32);
        CHECK_EQ_INT(key_list_check_same_set(keys, N, shuffled, N, NULL), SHEAF_OK);
        for (size_t i = 0; i < N; i++) {
            shuffled[32 * i + 31] ^= 0x80;
            CHECK_EQ_INT(key_list_check_same_set(keys, N, shuffled, N, NULL), SHEAF_REJECTED);
            shuffled[32 * i + 31] ^= 0x80;
        }
    }
}

/* ---- proving ---- */

TEST(a_proof_is_the_same_for_every_number_of_threads) {
    for (unsigned threads = 1; threads <= 3; threads++) {
        proof p = aggregate_with(&(sheaf_options){.threads = threads});
        if (CHECK_EQ_U64(p.len, aggregate()->len))
            CHECK_MEM(p.bytes, aggregate()->bytes, p.len);
        free(p.bytes);
    }
}

TEST(bad_entries_are_named) {
    sheaf_context *ctx;
    uint8_t *envelope = (uint8_t *)&ctx; /* to see that it is set */
    size_t len = 1;
    sheaf_failure f;
    sheaf_entry bad[SIGNERS];
    memcpy(bad, make_entries(), sizeof bad);
    REQUIRE(sheaf_context_create(&ctx, NULL) == SHEAF_OK);
    bad[1].signature[100] ^= 1;
    bad[2].signature[1207] ^= 1;
    CHECK_EQ_INT(sheaf_aggregate(ctx, &envelope, &len, EPOCH, message, bad, SIGNERS, &f),
                 SHEAF_BAD_SIGNATURE);
    CHECK_EQ_U64(f.index, 1);
    CHECK_STR(f.message, "signatures 1, 2 do not verify");
    CHECK(envelope == NULL && len == 0);
    CHECK_EQ_INT(sheaf_aggregate(ctx, &envelope, &len, EPOCH + 1, message, entries, SIGNERS, &f),
                 SHEAF_BAD_SIGNATURE);
    CHECK_STR(f.message, "signatures 0, 1, 2 do not verify");
    bad[2] = bad[0];
    CHECK_EQ_INT(sheaf_aggregate(ctx, &envelope, &len, EPOCH, message, bad, SIGNERS, &f),
                 SHEAF_DUPLICATE_KEY);
    CHECK_EQ_U64(f.index, 2);
    CHECK_EQ_INT(sheaf_aggregate(ctx, &envelope, &len, EPOCH, message, bad, 0, &f), SHEAF_INVALID_ARGUMENT);
    CHECK_EQ_INT(sheaf_aggregate(ctx, &envelope, &len, EPOCH, message, bad, SHEAF_MAX_SIGNERS + 1, NULL),
                 SHEAF_INVALID_ARGUMENT);
    CHECK_EQ_INT(sheaf_prove_hash_batch(ctx, &envelope, &len, preimages, 0, &f), SHEAF_INVALID_ARGUMENT);
    sheaf_context_destroy(ctx);
}

TEST(options_out_of_range_are_refused) {
    sheaf_context *ctx;
    CHECK_EQ_INT(sheaf_context_create(&ctx, &(sheaf_options){.threads = 1025}), SHEAF_INVALID_ARGUMENT);
    CHECK_EQ_INT(sheaf_context_create(&ctx, &(sheaf_options){.log_inv_rate = 7}), SHEAF_INVALID_ARGUMENT);
    CHECK(ctx == NULL);
    sheaf_context_destroy(NULL);
}

/* An allocator that counts what is out and fails from the n-th call on. */
typedef struct counting {
    size_t calls, out, fail_at;
} counting;

static void *counting_alloc(void *ctx, size_t bytes) {
    counting *c = ctx;
    size_t call = __atomic_fetch_add(&c->calls, 1, __ATOMIC_RELAXED);
    if (call >= c->fail_at)
        return NULL;
    void *p = malloc(bytes);
    if (p != NULL)
        __atomic_fetch_add(&c->out, 1, __ATOMIC_RELAXED);
    return p;
}

static void counting_free(void *ctx, void *p) {
    counting *c = ctx;
    __atomic_fetch_sub(&c->out, 1, __ATOMIC_RELAXED);
    free(p);
}

TEST(the_allocator_hook_needs_both_functions) {
    sheaf_context *ctx;
    CHECK_EQ_INT(sheaf_context_create(&ctx, &(sheaf_options){.alloc = counting_alloc}),
                 SHEAF_INVALID_ARGUMENT);
    CHECK_EQ_INT(sheaf_context_create(&ctx, &(sheaf_options){.free = counting_free}), SHEAF_INVALID_ARGUMENT);
}

TEST(memory_that_runs_out_is_an_error_wherever_it_does) {
    counting c = {.fail_at = SIZE_MAX};
    const sheaf_options options = {
        .threads = 1, .alloc = counting_alloc, .free = counting_free, .alloc_ctx = &c};
    proof p = batch_with(&options);
    size_t calls = c.calls;
    CHECK_EQ_U64(c.out, 0);
    CHECK(calls > 10);
    free(p.bytes);
    for (size_t n = 0; n < calls; n++) {
        sheaf_context *ctx;
        uint8_t *envelope = NULL;
        size_t len = 0;
        c = (counting){.fail_at = n};
        sheaf_status status = sheaf_context_create(&ctx, &options);
        if (status == SHEAF_OK) {
            sheaf_failure f;
            status = sheaf_prove_hash_batch(ctx, &envelope, &len, make_preimages(), HASHES, &f);
            CHECK_EQ_INT(f.status, SHEAF_OUT_OF_MEMORY);
            CHECK(envelope == NULL && len == 0);
            sheaf_context_destroy(ctx);
        }
        CHECK_EQ_INT(status, SHEAF_OUT_OF_MEMORY);
        CHECK_EQ_U64(c.out, 0);
    }
}

typedef struct stopping {
    unsigned calls, stop_at;
    double last;
    int backwards, out_of_range;
} stopping;

static int stop_after(void *ctx, double fraction, const char *stage) {
    stopping *s = ctx;
    s->backwards |= fraction < s->last - 1e-9;
    s->out_of_range |= !(fraction >= 0 && fraction <= 1) || stage == NULL;
    s->last = fraction;
    return ++s->calls >= s->stop_at;
}

TEST(progress_goes_from_nothing_to_all) {
    stopping s = {.stop_at = UINT32_MAX};
    proof p = aggregate_with(&(sheaf_options){.threads = 1, .progress = stop_after, .progress_ctx = &s});
    CHECK(s.calls > 10);
    CHECK(!s.backwards && !s.out_of_range);
    CHECK(s.last > 0.9);
    free(p.bytes);
}

TEST(every_progress_call_can_cancel) {
    stopping all = {.stop_at = UINT32_MAX};
    proof p = batch_with(&(sheaf_options){.threads = 1, .progress = stop_after, .progress_ctx = &all});
    free(p.bytes);
    for (unsigned n = 1; n <= all.calls; n++) {
        counting c = {.fail_at = SIZE_MAX};
        stopping s = {.stop_at = n};
        sheaf_context *ctx;
        uint8_t *envelope = NULL;
        size_t len = 0;
        sheaf_failure f;
        const sheaf_options options = {.threads = 1,
                                       .alloc = counting_alloc,
                                       .free = counting_free,
                                       .alloc_ctx = &c,
                                       .progress = stop_after,
                                       .progress_ctx = &s};
        REQUIRE(sheaf_context_create(&ctx, &options) == SHEAF_OK);
        CHECK_EQ_INT(sheaf_prove_hash_batch(ctx, &envelope, &len, preimages, HASHES, &f), SHEAF_CANCELLED);
        CHECK(envelope == NULL && len == 0);
        CHECK_EQ_U64(s.calls, n);
        sheaf_context_destroy(ctx);
        CHECK_EQ_U64(c.out, 0);
    }
}

TEST(the_peak_of_memory_is_counted) {
    sheaf_context *ctx;
    uint8_t *envelope = NULL;
    size_t len = 0;
    REQUIRE(sheaf_context_create(&ctx, NULL) == SHEAF_OK);
    size_t before = sheaf_peak_bytes(ctx);
    REQUIRE(sheaf_prove_hash_batch(ctx, &envelope, &len, make_preimages(), HASHES, NULL) == SHEAF_OK);
    CHECK(sheaf_peak_bytes(ctx) > before + len);
    sheaf_free(ctx, envelope);
    sheaf_free(ctx, NULL);
    sheaf_context_destroy(ctx);
}

/* ---- inspecting ---- */

TEST(inspect_tells_the_parts) {
    const proof *p = aggregate();
    sheaf_info info;
    REQUIRE(sheaf_inspect(&info, p->bytes, p->len, NULL) == SHEAF_OK);
    size_t sum = 0;
    for (unsigned i = 0; i < info.n_parts; i++)
        sum += info.part[i].bytes;
    CHECK_EQ_INT(info.verdict, SHEAF_OK);
    CHECK_EQ_U64(sum, info.proof_bytes);
    CHECK_EQ_U64(info.statement_bytes + info.proof_bytes, p->len);
    CHECK_EQ_U64(info.count, SIGNERS);
    CHECK_EQ_U64(info.log_slots, 3);
    CHECK_EQ_U64(info.permutations, 138);
    CHECK(info.security_bits >= 128 && info.n_levels >= 1 && info.log_inv_rate >= 1);
}

TEST(inspect_of_a_changed_proof_says_which_check_failed) {
    const proof *p = aggregate();
    uint8_t *changed = malloc(p->len);
    sheaf_info info;
    REQUIRE(changed != NULL);
    memcpy(changed, p->bytes, p->len);
    changed[60 + 32 * SIGNERS] ^= 1; /* the header's number of signers */
    CHECK_EQ_INT(sheaf_inspect(&info, changed, p->len, NULL), SHEAF_OK);
    CHECK_EQ_INT(info.verdict, SHEAF_REJECTED);
    CHECK_EQ_INT(info.failure.check, SHEAF_CHECK_HEADER);
    CHECK_EQ_INT(sheaf_inspect(&info, changed, 59, NULL), SHEAF_MALFORMED);
    CHECK_EQ_U64(info.envelope_bytes, 0);
    free(changed);
}

/* ---- one signature ---- */

TEST(single_signatures_verify) {
    const sheaf_entry *e = make_entries();
    uint8_t bad[SHEAF_SIGNATURE_BYTES];
    memcpy(bad, e[0].signature, sizeof bad);
    bad[7] ^= 2;
    CHECK_EQ_INT(sheaf_verify_signature(e[0].public_key, EPOCH, message, e[0].signature), SHEAF_OK);
    CHECK_EQ_INT(sheaf_verify_signature(e[0].public_key, EPOCH, message, bad), SHEAF_BAD_SIGNATURE);
    CHECK_EQ_INT(sheaf_verify_signature(e[1].public_key, EPOCH, message, e[0].signature),
                 SHEAF_BAD_SIGNATURE);
    CHECK_EQ_INT(sheaf_verify_signature(e[0].public_key, EPOCH + 1, message, e[0].signature),
                 SHEAF_BAD_SIGNATURE);
}

T_MAIN()
