/* Blocks that wait for the next proof.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "t.h"
#include "base/keep.h"
#include "aggregate/context.h"
#include "sheaf.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ /* as gcc says it */
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#define __asan_address_is_poisoned(p) ((void)(p), 0)
#endif

enum { MIB = 1 << 20 };

typedef struct rig {
    keep k;
    mem m;
} rig;

static void rig_init(rig *r) {
    memset(r, 0, sizeof *r);
    keep_init(&r->k, &r->m);
}

static size_t waiting(const rig *r) {
    return r->k.waiting;
}

TEST(a_freed_block_is_given_to_the_next_of_its_size) {
    rig r;
    rig_init(&r);
    uint8_t *a = mem_alloc(&r.m, 3 * MIB);
    REQUIRE(a != NULL);
    memset(a, 0x5a, 3 * MIB);
    mem_free(&r.m, a);
    CHECK(waiting(&r) >= 3 * MIB);
    CHECK(__asan_address_is_poisoned(a + MIB) || !UNDER_ASAN);
    uint8_t *b = mem_alloc(&r.m, 3 * MIB - 1000);
    CHECK(b == a);
    CHECK_EQ_U64(waiting(&r), 0);
    CHECK(!__asan_address_is_poisoned(b + MIB));
    memset(b, 1, 3 * MIB - 1000);
    mem_free(&r.m, b);
    CHECK_EQ_U64(r.m.current, 0);
    keep_release(&r.k);
    CHECK_EQ_U64(waiting(&r), 0);
}

TEST(a_reused_block_is_zero_where_that_is_asked_for) {
    rig r;
    rig_init(&r);
    uint8_t *a = mem_alloc(&r.m, MIB);
    REQUIRE(a != NULL);
    memset(a, 0xff, MIB);
    mem_free(&r.m, a);
    uint8_t *b = mem_alloc_zero(&r.m, MIB), any = 0;
    REQUIRE(b == a);
    for (size_t i = 0; i < MIB; i++)
        any |= b[i];
    CHECK_EQ_INT(any, 0);
    mem_free(&r.m, b);
    keep_release(&r.k);
}

TEST(a_block_much_too_large_is_not_wasted) {
    rig r;
    rig_init(&r);
    uint8_t *a = mem_alloc(&r.m, 4 * MIB);
    REQUIRE(a != NULL);
    mem_free(&r.m, a);
    uint8_t *b = mem_alloc(&r.m, 3 * MIB);
    REQUIRE(b != NULL);
    CHECK_EQ_U64(waiting(&r), 0); /* four and three were never in use at once */
    mem_free(&r.m, b);
    keep_release(&r.k);
}

TEST(of_several_blocks_the_one_that_fits_best_is_taken) {
    rig r;
    rig_init(&r);
    static const size_t more[4] = {3000, 0, 9000, 1000};
    void *p[4];
    for (size_t i = 0; i < 4; i++)
        REQUIRE((p[i] = mem_alloc(&r.m, MIB + more[i])) != NULL);
    for (size_t i = 0; i < 4; i++)
        mem_free(&r.m, p[i]);
    CHECK(mem_alloc(&r.m, MIB + 500) == p[3]);
    CHECK(mem_alloc(&r.m, MIB + 500) == p[0]);
    CHECK(mem_alloc(&r.m, MIB - 10) == p[1]);
    CHECK(mem_alloc(&r.m, MIB - 10) == p[2]);
    CHECK_EQ_U64(waiting(&r), 0);
    for (size_t i = 0; i < 4; i++)
        mem_free(&r.m, p[i]);
    keep_release(&r.k);
}

TEST(small_blocks_do_not_wait) {
    rig r;
    rig_init(&r);
    void *a = mem_alloc(&r.m, KEEP_LEAST / 2);
    REQUIRE(a != NULL);
    mem_free(&r.m, a);
    CHECK_EQ_U64(waiting(&r), 0);
    CHECK_EQ_U64(r.k.most, 0);
    CHECK(mem_alloc(&r.m, SIZE_MAX - 90) == NULL); /* with the beginnings of both more than there are numbers */
    CHECK_EQ_U64(r.k.in_use, 0);
    CHECK_EQ_U64(r.k.most, 0);
}

TEST(what_is_missing_is_taken_from_what_waits) {
    if (UNDER_ASAN)
        SKIP("the sanitizer ends a program that asks for too much");
    rig r;
    rig_init(&r);
    void *a = mem_alloc(&r.m, 2 * MIB);
    REQUIRE(a != NULL);
    mem_free(&r.m, a);
    CHECK(waiting(&r) > 0);
    CHECK(mem_alloc(&r.m, SIZE_MAX / 2) == NULL);
    CHECK_EQ_U64(waiting(&r), 0);
    CHECK_EQ_U64(r.k.in_use, 0);
}

/* Blocks of all sizes taken and freed at random: in use and waiting never exceed what was in use at once. */
TEST(no_more_waits_than_was_in_use_before) {
    enum { PLACES = 24, TURNS = 4000 };
    uint64_t seed = t_seed();
    rig r;
    rig_init(&r);
    uint8_t *p[PLACES] = {0};
    size_t size[PLACES] = {0}, wrong = 0, most = 0, reused = 0;
    for (int i = 0; i < TURNS; i++) {
        size_t at = t_rand64(&seed) % PLACES;
        if (p[at] != NULL) {
            wrong += p[at][0] != (uint8_t)at || p[at][size[at] - 1] != (uint8_t)at;
            mem_free(&r.m, p[at]);
            p[at] = NULL;
        } else {
            const size_t before = waiting(&r);
            size[at] = 1000 + (t_rand64(&seed) % 8) * (KEEP_LEAST / 2);
            REQUIRE((p[at] = mem_alloc(&r.m, size[at])) != NULL);
            p[at][0] = p[at][size[at] - 1] = (uint8_t)at;
            reused += waiting(&r) < before;
        }
        most = r.k.in_use > most ? r.k.in_use : most;
        wrong += r.k.in_use + r.k.waiting > most;
    }
    CHECK_EQ_U64(wrong, 0);
    CHECK_EQ_U64(r.k.most, most);
    CHECK(reused > TURNS / 8);
    for (size_t i = 0; i < PLACES; i++)
        mem_free(&r.m, p[i]);
    CHECK_EQ_U64(r.k.in_use, 0);
    CHECK_EQ_U64(r.m.current, 0);
    keep_release(&r.k);
}

typedef struct sharing {
    rig r;
    int failed; /* atomic */
} sharing;

static void take_and_free(void *ctx, size_t task, unsigned worker) {
    sharing *s = ctx;
    (void)worker;
    const size_t bytes = KEEP_LEAST + (task % 5) * 4096;
    uint8_t *p = mem_alloc(&s->r.m, bytes);
    int bad = p == NULL;
    if (p != NULL) {
        memset(p, (int)(task % 251), bytes);
        for (size_t i = 0; i < bytes; i += 4095)
            bad |= p[i] != task % 251;
        mem_free(&s->r.m, p);
    }
    if (bad)
        __atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
}

TEST(threads_share_what_waits) {
    sharing s = {.failed = 0};
    rig_init(&s.r);
    pool *p = pool_create(4);
    REQUIRE(p != NULL);
    pool_run(p, 400, take_and_free, &s);
    pool_destroy(p);
    CHECK_EQ_INT(s.failed, 0);
    CHECK_EQ_U64(s.r.k.in_use, 0);
    CHECK_EQ_U64(s.r.m.current, 0);
    keep_release(&s.r.k);
}

/* ---- proofs ---- */

enum { MOST = 1024 };

static uint8_t *batch(sheaf_context *ctx, const uint8_t *preimages, size_t n, size_t *len) {
    uint8_t *envelope = NULL;
    if (sheaf_prove_hash_batch(ctx, &envelope, len, preimages, n, NULL) != SHEAF_OK)
        return NULL;
    return envelope;
}

/* A context that has proven something else gives the bytes that a fresh one gives, and holds no more. */
TEST(a_context_proves_again_what_a_fresh_one_proves) {
    static const size_t sizes[] = {MOST, 8, MOST / 2 + 3, MOST};
    uint64_t seed = t_seed();
    uint8_t *preimages = malloc((size_t)MOST * SHEAF_PREIMAGE_BYTES);
    sheaf_context *old, *fresh;
    REQUIRE(preimages != NULL);
    t_rand_bytes(&seed, preimages, (size_t)MOST * SHEAF_PREIMAGE_BYTES);
    REQUIRE(sheaf_context_create(&old, &(sheaf_options){.threads = 2}) == SHEAF_OK);
    size_t peak = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        REQUIRE(sheaf_context_create(&fresh, &(sheaf_options){.threads = 1}) == SHEAF_OK);
        size_t a_len = 0, b_len = 0;
        uint8_t *a = batch(old, preimages, sizes[i], &a_len), *b = batch(fresh, preimages, sizes[i], &b_len);
        if (CHECK(a != NULL && b != NULL) && CHECK_EQ_U64(a_len, b_len))
            CHECK_MEM(a, b, a_len);
        sheaf_free(old, a);
        sheaf_free(fresh, b);
        sheaf_context_destroy(fresh);
        if (i == 0)
            peak = sheaf_peak_bytes(old);
        CHECK_EQ_U64(sheaf_peak_bytes(old), peak); /* the first is the largest */
    }
#ifndef __EMSCRIPTEN__
    CHECK(old->keep.waiting > 0);
    CHECK(old->keep.waiting <= old->keep.most && old->keep.most <= peak + peak / 32);
#endif
    CHECK_EQ_U64(old->keep.in_use, 0);
    sheaf_context_destroy(old);
    free(preimages);
}

typedef struct hooks {
    size_t held; /* blocks */
} hooks;

static void *hook_alloc(void *ctx, size_t bytes) {
    hooks *h = ctx;
    void *p = malloc(bytes);
    __atomic_add_fetch(&h->held, p != NULL, __ATOMIC_RELAXED);
    return p;
}

static void hook_free(void *ctx, void *p) {
    hooks *h = ctx;
    __atomic_sub_fetch(&h->held, 1, __ATOMIC_RELAXED);
    free(p);
}

TEST(an_allocator_of_the_callers_gets_everything_back_at_once) {
    hooks h = {0};
    const sheaf_options options = {.threads = 1, .alloc = hook_alloc, .free = hook_free, .alloc_ctx = &h};
    uint8_t *preimages = calloc(MOST, SHEAF_PREIMAGE_BYTES);
    sheaf_context *ctx;
    REQUIRE(preimages != NULL && sheaf_context_create(&ctx, &options) == SHEAF_OK);
    const size_t before = h.held;
    size_t len;
    uint8_t *envelope = batch(ctx, preimages, MOST, &len);
    REQUIRE(envelope != NULL);
    CHECK_EQ_U64(h.held, before + 1);
    sheaf_free(ctx, envelope);
    CHECK_EQ_U64(h.held, before);
    sheaf_context_destroy(ctx);
    CHECK_EQ_U64(h.held, 0);
    free(preimages);
}

T_MAIN()
