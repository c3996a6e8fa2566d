/* The region that a proof's memory comes from.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "t.h"
#include "base/arena.h"
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
    arena a;
    mem m;
} rig;

static void rig_init(rig *r, size_t bytes) {
    memset(r, 0, sizeof *r);
    arena_init(&r->a, &r->m);
    CHECK_EQ_INT(arena_open(&r->a, bytes), 0);
    CHECK(r->a.bytes >= bytes);
}

static int within(const rig *r, const uint8_t *p) {
    return r->a.region != NULL && p >= r->a.region && p < r->a.region + r->a.bytes;
}

/* All that is free lies in one gap, as before the first block. */
static int all_free(const rig *r) {
    return r->a.blocks == 0 && (const uint8_t *)r->a.gaps == r->a.region;
}

TEST(blocks_are_from_the_region_while_it_is_open) {
    rig r;
    rig_init(&r, 4 * MIB);
    uint8_t *a = mem_alloc(&r.m, MIB), *small = mem_alloc(&r.m, ARENA_LEAST / 2);
    arena_close(&r.a);
    uint8_t *late = mem_alloc(&r.m, MIB);
    REQUIRE(a != NULL && small != NULL && late != NULL);
    CHECK(within(&r, a));
    CHECK(!within(&r, small));
    CHECK(!within(&r, late));
    CHECK_EQ_U64(r.a.blocks, 1);
    memset(a, 1, MIB);
    memset(late, 2, MIB);
    mem_free(&r.m, a); /* the region takes its own back when it is closed, too */
    CHECK(all_free(&r));
    CHECK(__asan_address_is_poisoned(a + MIB / 2) || !UNDER_ASAN);
    mem_free(&r.m, small);
    mem_free(&r.m, late);
    CHECK_EQ_U64(r.m.current, 0);
    CHECK_EQ_U64(r.a.beyond, 0);
    arena_release(&r.a);
    CHECK(r.a.region == NULL);
}

TEST(the_first_gap_that_is_large_enough_is_taken) {
    rig r;
    rig_init(&r, 16 * MIB);
    uint8_t *p[6];
    for (size_t i = 0; i < 6; i++) {
        REQUIRE((p[i] = mem_alloc(&r.m, (i + 1) * MIB / 2)) != NULL);
        CHECK(i == 0 || p[i] > p[i - 1]);
    }
    mem_free(&r.m, p[1]); /* 1 MiB */
    mem_free(&r.m, p[3]); /* 2 MiB */
    CHECK(mem_alloc(&r.m, 3 * MIB / 2) == p[3]);
    CHECK(mem_alloc(&r.m, MIB / 2) == p[1]);
    mem_free(&r.m, p[0]);
    mem_free(&r.m, p[1]); /* beside what p[0] left, and before what is left of its own: one gap */
    CHECK(mem_alloc(&r.m, 3 * MIB / 2) == p[0]);
    mem_free(&r.m, p[5]);
    mem_free(&r.m, p[2]);
    mem_free(&r.m, p[4]);
    mem_free(&r.m, p[3]);
    mem_free(&r.m, p[0]);
    CHECK(all_free(&r));
    CHECK_EQ_U64(r.m.current, 0);
    arena_release(&r.a);
}

TEST(a_reused_block_is_zero_where_that_is_asked_for) {
    rig r;
    rig_init(&r, 4 * MIB);
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
    arena_release(&r.a);
}

TEST(what_does_not_fit_is_taken_elsewhere_and_counted) {
    rig r;
    rig_init(&r, MIB);
    uint8_t *a = mem_alloc(&r.m, 2 * MIB), *b = mem_alloc(&r.m, MIB / 2);
    REQUIRE(a != NULL && b != NULL);
    CHECK(!within(&r, a));
    CHECK(within(&r, b));
    CHECK_EQ_U64(r.a.beyond, 1);
    memset(a, 1, 2 * MIB);
    mem_free(&r.m, a);
    mem_free(&r.m, b);
    CHECK(mem_alloc(&r.m, SIZE_MAX - 90) ==
          NULL); /* with the beginnings of both more than there are numbers */
    CHECK(all_free(&r));
    CHECK_EQ_U64(r.m.current, 0);
    arena_release(&r.a);
}

TEST(a_region_is_kept_until_a_larger_one_is_asked_for) {
    rig r;
    rig_init(&r, 8 * MIB);
    uint8_t *before = r.a.region;
    arena_close(&r.a);
    CHECK_EQ_INT(arena_open(&r.a, MIB), 0);
    CHECK(r.a.region == before);
    CHECK(r.a.bytes >= 8 * MIB);
    uint8_t *a = mem_alloc(&r.m, MIB);
    CHECK(a != NULL && within(&r, a));
    CHECK_EQ_INT(arena_open(&r.a, 9 * MIB), 0); /* not while something is in it */
    CHECK(r.a.region == before);
    mem_free(&r.m, a);
    CHECK_EQ_INT(arena_open(&r.a, 24 * MIB), 0);
    CHECK(r.a.bytes >= 24 * MIB);
    CHECK((a = mem_alloc(&r.m, 23 * MIB)) != NULL && within(&r, a));
    mem_free(&r.m, a);
    arena_release(&r.a);
}

TEST(a_region_that_cannot_be_had_is_said_at_once) {
    if (UNDER_ASAN)
        SKIP("the sanitizer ends a program that asks for too much");
    rig r;
    rig_init(&r, MIB);
    CHECK_EQ_INT(arena_open(&r.a, SIZE_MAX / 2), -1);
    CHECK_EQ_INT(arena_open(&r.a, SIZE_MAX), -1);
    CHECK(r.a.region == NULL);
    CHECK_EQ_U64(r.a.bytes, 0);
    uint8_t *a = mem_alloc(&r.m, MIB);
    CHECK(a != NULL);
    mem_free(&r.m, a);
    CHECK_EQ_INT(arena_open(&r.a, 2 * MIB), 0);
    CHECK((a = mem_alloc(&r.m, MIB)) != NULL && within(&r, a));
    mem_free(&r.m, a);
    arena_release(&r.a);
}

/* Blocks of all sizes taken and freed at random keep what is written to them, and leave one gap. */
TEST(blocks_do_not_overlap) {
    enum { PLACES = 40, TURNS = 6000 };
    uint64_t seed = t_seed();
    rig r;
    rig_init(&r, MIB);
    uint8_t *p[PLACES] = {0};
    size_t size[PLACES] = {0}, wrong = 0;
    for (int i = 0; i < TURNS; i++) {
        size_t at = t_rand64(&seed) % PLACES;
        if (p[at] != NULL) {
            for (size_t j = 0; j < size[at]; j++)
                wrong += p[at][j] != (uint8_t)at;
            mem_free(&r.m, p[at]);
            p[at] = NULL;
        } else {
            size[at] = 1 + t_rand64(&seed) % (1 << (10 + t_rand64(&seed) % 9));
            REQUIRE((p[at] = mem_alloc(&r.m, size[at])) != NULL);
            wrong += (uintptr_t)p[at] % 64 != 0;
            memset(p[at], (int)at, size[at]);
        }
    }
    CHECK_EQ_U64(wrong, 0);
    CHECK(r.a.beyond > 0); /* it was full at times */
    for (size_t i = 0; i < PLACES; i++)
        mem_free(&r.m, p[i]);
    CHECK(all_free(&r));
    CHECK_EQ_U64(r.m.current, 0);
    arena_release(&r.a);
}

typedef struct sharing {
    rig r;
    int failed; /* atomic */
} sharing;

static void take_and_free(void *ctx, size_t task, unsigned worker) {
    sharing *s = ctx;
    (void)worker;
    const size_t bytes = ARENA_LEAST + (task % 5) * 4096;
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

TEST(threads_share_a_region) {
    sharing s = {.failed = 0};
    rig_init(&s.r, MIB);
    pool *p = pool_create(4);
    REQUIRE(p != NULL);
    pool_run(p, 400, take_and_free, &s);
    pool_destroy(p);
    CHECK_EQ_INT(s.failed, 0);
    CHECK(all_free(&s.r));
    CHECK_EQ_U64(s.r.m.current, 0);
    arena_release(&s.r.a);
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
    CHECK(old->arena.bytes > 0);
    CHECK(old->arena.bytes <= peak + peak / 16 + (1 << 22)); /* to whole huge pages */
#endif
    CHECK_EQ_U64(old->arena.blocks, 0);
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
