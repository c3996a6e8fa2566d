/* Whole proofs and envelopes with one byte changed, cut short or made longer: all are refused, none brings
 * the verifier down. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every byte and every length is tried; every seventh where code is slow (portable back end, sanitizers), and
 * fewer of an aggregate's. SHEAF_TEST_STRIDE=N takes every N-th instead. A changed copy has a heap block of
 * exactly its size, so that a sanitizer sees a read past its end. */
#include "t.h"
#include "support/proof_rig.h"
#include "support/slow.h"

enum { SLOW_STRIDE = 7, AGGREGATE_STRIDE = 23, TASK = 64 /* changed copies a task */ };

static size_t stride(void) {
    return slow_stride(SLOW_STRIDE);
}

typedef struct sweep {
    const proof_rig *g;
    const uint8_t *bytes;
    size_t len, first, step, count; /* places first, first + step, ...: `count` of them */
    void (*one)(struct sweep *s, size_t place);
    unsigned by_check[SHEAF_CHECK_COUNT_];
} sweep;

static void sweep_task(void *ctx, size_t task, unsigned worker) {
    sweep *s = ctx;
    (void)worker;
    for (size_t i = task * TASK; i < s->count && i < (task + 1) * TASK; i++)
        s->one(s, s->first + i * s->step);
}

/* Runs `one` for the places first, first + step, ... before end. */
static size_t sweep_run(sweep *s, size_t first, size_t end, size_t step) {
    pool *p = pool_create(2);
    s->first = first;
    s->step = step;
    s->count = end > first ? (end - first + step - 1) / step : 0;
    pool_run(p, (s->count + TASK - 1) / TASK, sweep_task, s);
    pool_destroy(p);
    return s->count;
}

static void count_check(sweep *s, sheaf_check check) {
    __atomic_fetch_add(&s->by_check[check], 1u, __ATOMIC_RELAXED);
}

/* ---- proofs ---- */

static void change_a_byte(sweep *s, size_t place) {
    uint8_t *copy = malloc(s->len);
    sheaf_failure f;
    memcpy(copy, s->bytes, s->len);
    copy[place] ^= (uint8_t)(1u << (place + place / 8 + place / 64) % 8);
    const int rejected = CHECK_EQ_INT(leaf_verify(copy, s->len, &s->g->leaf.st, NULL, &f), SHEAF_REJECTED);
    const int named = CHECK(f.check != SHEAF_CHECK_NONE && f.check < SHEAF_CHECK_COUNT_);
    const int said = CHECK(f.message[0] != 0);
    if (!rejected || !named || !said)
        printf("  byte %zu of %zu\n", place, s->len);
    else
        count_check(s, f.check);
    free(copy);
}

/* What is there is as it was: only what is missing can be found. */
static void cut(sweep *s, size_t length) {
    uint8_t *copy = length > 0 ? malloc(length) : NULL;
    sheaf_failure f;
    if (length > 0)
        memcpy(copy, s->bytes, length);
    const int rejected = CHECK_EQ_INT(leaf_verify(copy, length, &s->g->leaf.st, NULL, &f), SHEAF_REJECTED);
    const int truncated = CHECK_EQ_INT(f.check, SHEAF_CHECK_TRUNCATED);
    if (!rejected || !truncated)
        printf("  %zu bytes of %zu: %s\n", length, s->len, f.message);
    free(copy);
}

/* Zeros, then the proof's own first bytes. */
static void lengthen(sweep *s, size_t by) {
    uint8_t *copy = calloc(1, s->len + by);
    sheaf_failure f;
    memcpy(copy, s->bytes, s->len);
    for (unsigned i = 0; i < 2; i++) {
        const int rejected =
            CHECK_EQ_INT(leaf_verify(copy, s->len + by, &s->g->leaf.st, NULL, &f), SHEAF_REJECTED);
        const int trailing = CHECK_EQ_INT(f.check, SHEAF_CHECK_TRAILING);
        if (!rejected || !trailing)
            printf("  %zu bytes more than %zu: %s\n", by, s->len, f.message);
        memcpy(copy + s->len, s->bytes, by < s->len ? by : s->len);
    }
    free(copy);
}

static int prove(sweep *s, proof_rig *g, unsigned rate) {
    env e = {.pool = pool_create(2)};
    uint8_t *proof;
    sheaf_failure f;
    memset(s, 0, sizeof *s);
    s->g = g;
    const int proven =
        CHECK_EQ_INT(leaf_prove(&proof, &s->len, &e, &g->leaf.st, &g->w, rate, &f), SHEAF_OK) &&
        CHECK_EQ_INT(leaf_verify(proof, s->len, &g->leaf.st, NULL, &f), SHEAF_OK);
    s->bytes = proof;
    pool_destroy(e.pool);
    return proven;
}

static void release(sweep *s, proof_rig *g) {
    mem_free(NULL, (void *)(uintptr_t)s->bytes);
    proof_rig_free(g);
}

TEST(no_byte_of_the_proof_of_a_batch_can_be_changed) {
    proof_rig g;
    sweep s;
    REQUIRE(proof_rig_hash(&g, 1, t_seed()) == 0);
    if (prove(&s, &g, 0)) {
        s.one = change_a_byte;
        sweep_run(&s, 0, s.len, stride());
        /* the places that this must have come to */
        CHECK(s.by_check[SHEAF_CHECK_HEADER] > 0);
        CHECK(s.by_check[SHEAF_CHECK_LAYER] > 0);
        CHECK(s.by_check[SHEAF_CHECK_INPUT] > 0);
        CHECK(s.by_check[SHEAF_CHECK_MERKLE] > 0);
        CHECK(s.by_check[SHEAF_CHECK_OPENING] > 0);
    }
    release(&s, &g);
}

TEST(the_proof_of_a_batch_is_rejected_at_any_other_length) {
    proof_rig g;
    sweep s;
    REQUIRE(proof_rig_hash(&g, 1, t_seed()) == 0);
    if (prove(&s, &g, 0)) {
        s.one = cut;
        sweep_run(&s, 0, s.len, stride());
        cut(&s, s.len - 1);
        s.one = lengthen;
        sweep_run(&s, 1, 130, 1);
        lengthen(&s, s.len);
        lengthen(&s, 100000);
    }
    release(&s, &g);
}

/* Two committed words, grinding, several signers. */
TEST(no_byte_of_a_proof_with_two_levels_can_be_changed) {
    proof_rig g;
    sweep s;
    REQUIRE(proof_rig_hash(&g, 5, t_seed()) == 0);
    if (prove(&s, &g, 2)) {
        s.one = change_a_byte;
        sweep_run(&s, 0, s.len, 11 * stride());
        CHECK(s.by_check[SHEAF_CHECK_GRINDING] > 0);
        s.one = cut;
        sweep_run(&s, 0, s.len, 23 * stride());
    }
    release(&s, &g);
}

TEST(no_byte_of_the_proof_of_an_aggregate_can_be_changed) {
    proof_rig g;
    sweep s;
    REQUIRE(proof_rig_leanxmss(&g, 1, 77, t_seed()) == 0);
    if (prove(&s, &g, 0)) {
        s.one = change_a_byte;
        sweep_run(&s, 0, s.len, AGGREGATE_STRIDE * stride());
        sweep_run(&s, 0, 64, 1); /* the header, the root, multiplicities */
        CHECK(s.by_check[SHEAF_CHECK_HEADER] > 0);
        CHECK(s.by_check[SHEAF_CHECK_MULTIPLICITY] > 0);
        CHECK(s.by_check[SHEAF_CHECK_BUS_BALANCE] > 0);
        CHECK(s.by_check[SHEAF_CHECK_BUS_LAYER] > 0);
        CHECK(s.by_check[SHEAF_CHECK_LAYER] > 0);
        CHECK(s.by_check[SHEAF_CHECK_MERKLE] > 0);
        s.one = cut;
        sweep_run(&s, 0, s.len, 4 * AGGREGATE_STRIDE * stride() + 1);
        cut(&s, s.len - 1);
        lengthen(&s, 1);
        lengthen(&s, 8);
    }
    release(&s, &g);
}

/* ---- envelopes ---- */

/* A byte of the statement: another statement, or none. */
static void change_a_byte_of_the_statement(sweep *s, size_t place) {
    uint8_t *copy = malloc(s->len);
    memcpy(copy, s->bytes, s->len);
    for (unsigned bit = 0; bit < 8; bit++) {
        sheaf_failure f;
        copy[place] ^= (uint8_t)(1u << bit);
        const sheaf_status a = sheaf_verify_aggregate(copy, s->len, NULL, &f);
        const sheaf_check check_a = f.check;
        const sheaf_status h = sheaf_verify_hash_batch(copy, s->len, NULL, &f);
        const sheaf_status mine = s->g->st.kind == SHEAF_KIND_HASH ? h : a;
        const sheaf_check check = s->g->st.kind == SHEAF_KIND_HASH ? f.check : check_a;
        if (!CHECK(a != SHEAF_OK && h != SHEAF_OK) |
            !CHECK(mine == SHEAF_MALFORMED || mine == SHEAF_UNSUPPORTED || mine == SHEAF_REJECTED) |
            !CHECK((mine == SHEAF_REJECTED) == (check != SHEAF_CHECK_NONE)))
            printf("  byte %zu, bit %u: %s\n", place, bit, sheaf_status_text(mine));
        copy[place] ^= (uint8_t)(1u << bit);
    }
    free(copy);
}

static void cut_an_envelope(sweep *s, size_t length) {
    uint8_t *copy = malloc(length + (length == 0));
    sheaf_failure f;
    memcpy(copy, s->bytes, length);
    if (!CHECK_EQ_INT(proof_rig_verify(copy, length, NULL, &f), SHEAF_MALFORMED))
        printf("  %zu bytes of %zu: %s\n", length, s->len, f.message);
    free(copy);
}

static void lengthen_an_envelope(sweep *s, size_t by) {
    uint8_t *copy = calloc(1, s->len + by);
    sheaf_failure f;
    memcpy(copy, s->bytes, s->len);
    CHECK_EQ_INT(proof_rig_verify(copy, s->len + by, NULL, &f), SHEAF_MALFORMED);
    free(copy);
}

static void sweep_envelope(proof_rig *g) {
    sweep s;
    if (prove(&s, g, 0)) {
        size_t len;
        uint8_t *envelope = proof_rig_envelope(g, s.bytes, s.len, &len);
        sheaf_failure f;
        CHECK(envelope != NULL);
        CHECK_EQ_INT(proof_rig_verify(envelope, len, NULL, &f), SHEAF_OK);
        sweep e = {.g = g, .bytes = envelope, .len = len, .one = change_a_byte_of_the_statement};
        sweep_run(&e, 0, len - s.len, 1);
        e.one = cut_an_envelope;
        sweep_run(&e, 0, len, stride());
        cut_an_envelope(&e, len - 1);
        e.one = lengthen_an_envelope;
        sweep_run(&e, 1, 40, 1);
        free(envelope);
    }
    release(&s, g);
}

TEST(no_bit_of_what_a_batch_states_can_be_changed_and_no_byte_of_its_envelope_left_out) {
    proof_rig g;
    REQUIRE(proof_rig_hash(&g, 2, t_seed()) == 0);
    sweep_envelope(&g);
}

TEST(no_bit_of_what_an_aggregate_states_can_be_changed_and_no_byte_of_its_envelope_left_out) {
    proof_rig g;
    REQUIRE(proof_rig_leanxmss(&g, 2, 0, t_seed()) == 0);
    sweep_envelope(&g);
}

T_MAIN()
