/* The grand product: honest runs, changed messages, lengths, back ends and threads.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/bus_rig.h"

enum { LOWEST = 3, HIGHEST = 10 };

static uint8_t *copy_of(const uint8_t *p, size_t n) {
    uint8_t *q = malloc(n);
    if (q != NULL)
        memcpy(q, p, n);
    return q;
}

static void check_honest(unsigned h, uint64_t *seed) {
    bus_rig b;
    env e = {0};
    tx c;
    bus_claim proven, verified;
    REQUIRE(bus_rig_init(&b, h, seed) == 0);
    tx_init(&c);
    CHECK_EQ_INT(bus_rig_prove(&b, &c, &e, &proven), 0);
    CHECK(!c.failed);
    CHECK_EQ_U64(c.len, 8 * bus_proof_words(h));

    rx v;
    rx_init(&v, c.out, c.len);
    CHECK_EQ_INT(bus_verify(&v, &verified, b.extra, h), 0);
    CHECK_EQ_INT(rx_finish(&v), 0);
    CHECK_MEM(&proven, &verified, sizeof proven);
    CHECK_MEM(v.t.chain, c.t.chain, sizeof c.t.chain);
    CHECK(gf192_equal(verified.push, plain_mle(b.push, h, verified.zeta)));
    CHECK(gf192_equal(verified.pull, plain_mle(b.pull, h, verified.zeta)));
    rx_free(&v);
    tx_free(&c);
    bus_rig_free(&b);
}

TEST(honest_products_verify_and_claims_are_the_leaves_extensions) {
    uint64_t seed = t_seed();
    for (unsigned h = LOWEST; h <= HIGHEST; h++)
        check_honest(h, &seed);
}

TEST(honest_products_of_many_chunks_verify) {
    uint64_t seed = t_seed();
    check_honest(12, &seed);
    check_honest(17, &seed);
}

TEST(a_product_that_holds_a_zero_verifies) {
    uint64_t seed = t_seed();
    bus_rig b;
    env e = {0};
    tx c;
    bus_claim claim;
    sheaf_failure f;
    REQUIRE(bus_rig_init(&b, 6, &seed) == 0);
    b.push[5] = GF192_ZERO;
    b.pull[60] = GF192_ZERO;
    tx_init(&c);
    CHECK_EQ_INT(bus_rig_prove(&b, &c, &e, &claim), 0);
    CHECK_EQ_INT(bus_rig_verify(6, b.extra, c.out, c.len, &claim, &f), 0);
    CHECK(gf192_equal(claim.push, plain_mle(b.push, 6, claim.zeta)));
    CHECK(gf192_equal(claim.pull, plain_mle(b.pull, 6, claim.zeta)));
    tx_free(&c);
    bus_rig_free(&b);
}

static void check_unbalanced(const bus_rig *b, gf192 extra) {
    env e = {0};
    tx c;
    bus_claim claim;
    sheaf_failure f;
    tx_init(&c);
    CHECK_EQ_INT(bus_rig_prove(b, &c, &e, &claim), 0);
    CHECK_EQ_INT(bus_rig_verify(b->h, extra, c.out, c.len, &claim, &f), -1);
    CHECK_EQ_INT(f.status, SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_BUS_BALANCE);
    tx_free(&c);
}

TEST(unequal_sides_are_rejected_at_the_root) {
    uint64_t seed = t_seed();
    for (unsigned h = LOWEST; h <= HIGHEST; h++) {
        bus_rig b;
        REQUIRE(bus_rig_init(&b, h, &seed) == 0);
        check_unbalanced(&b, gf192_add(b.extra, GF192_ONE));
        check_unbalanced(&b, GF192_ZERO);
        size_t i = (size_t)(t_rand64(&seed) % b.n);
        b.push[i].c[2] ^= 1;
        check_unbalanced(&b, b.extra);
        b.push[i].c[2] ^= 1;
        b.pull[i] = gf192_add(b.pull[i], GF192_ONE);
        check_unbalanced(&b, b.extra);
        bus_rig_free(&b);
    }
}

TEST(every_changed_message_is_rejected_by_its_own_check) {
    uint64_t seed = t_seed();
    for (unsigned h = LOWEST; h <= HIGHEST; h++) {
        bus_rig b;
        env e = {0};
        tx c;
        bus_claim claim;
        sheaf_failure f;
        REQUIRE(bus_rig_init(&b, h, &seed) == 0);
        tx_init(&c);
        CHECK_EQ_INT(bus_rig_prove(&b, &c, &e, &claim), 0);
        for (size_t word = 0; word < c.len / 8; word++) {
            unsigned bit = (unsigned)(t_rand64(&seed) % 64);
            c.out[8 * word + bit / 8] ^= (uint8_t)(1 << bit % 8);
            CHECK_EQ_INT(bus_rig_verify(h, b.extra, c.out, c.len, &claim, &f), -1);
            CHECK_EQ_INT(f.status, SHEAF_REJECTED);
            unsigned layer = bus_place_of(h, word).layer;
            CHECK_EQ_INT(f.check, layer == 0 ? SHEAF_CHECK_BUS_BALANCE : SHEAF_CHECK_BUS_LAYER);
            CHECK_EQ_U64(f.index, layer);
            c.out[8 * word + bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        CHECK_EQ_INT(bus_rig_verify(h, b.extra, c.out, c.len, &claim, &f), 0);
        tx_free(&c);
        bus_rig_free(&b);
    }
}

TEST(children_that_are_exchanged_at_the_root_are_rejected_by_layer_1) {
    uint64_t seed = t_seed();
    for (unsigned h = LOWEST; h <= HIGHEST; h++)
        for (size_t side = 0; side < 2; side++) {
            bus_rig b;
            env e = {0};
            tx c;
            bus_claim claim;
            sheaf_failure f;
            REQUIRE(bus_rig_init(&b, h, &seed) == 0);
            tx_init(&c);
            CHECK_EQ_INT(bus_rig_prove(&b, &c, &e, &claim), 0);
            uint8_t t[24], *first = c.out + 24 * side * (h % 2 == 1 ? 2 : 4);
            memcpy(t, first, 24);
            memcpy(first, first + 24, 24);
            memcpy(first + 24, t, 24);
            CHECK_EQ_INT(bus_rig_verify(h, b.extra, c.out, c.len, &claim, &f), -1);
            CHECK_EQ_INT(f.check, SHEAF_CHECK_BUS_LAYER);
            CHECK_EQ_U64(f.index, 1);
            tx_free(&c);
            bus_rig_free(&b);
        }
}

TEST(every_truncation_and_a_trailing_byte_are_rejected) {
    uint64_t seed = t_seed();
    for (unsigned h = LOWEST; h <= HIGHEST; h++) {
        bus_rig b;
        env e = {0};
        tx c;
        bus_claim claim;
        sheaf_failure f;
        REQUIRE(bus_rig_init(&b, h, &seed) == 0);
        tx_init(&c);
        CHECK_EQ_INT(bus_rig_prove(&b, &c, &e, &claim), 0);
        for (size_t len = 0; len < c.len; len++) {
            uint8_t *cut =
                malloc(len + 1); /* ends where the proof does, so that a sanitizer sees a read past it */
            REQUIRE(cut != NULL);
            memcpy(cut + 1, c.out, len);
            CHECK_EQ_INT(bus_rig_verify(h, b.extra, cut + 1, len, &claim, &f), -1);
            CHECK_EQ_INT(f.check, SHEAF_CHECK_TRUNCATED);
            free(cut);
        }
        uint8_t *longer = calloc(1, c.len + 1);
        REQUIRE(longer != NULL);
        memcpy(longer, c.out, c.len);
        CHECK_EQ_INT(bus_rig_verify(h, b.extra, longer, c.len + 1, &claim, &f), -1);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_TRAILING);
        free(longer);
        tx_free(&c);
        bus_rig_free(&b);
    }
}

TEST(a_proof_of_another_height_is_rejected) {
    uint64_t seed = t_seed();
    bus_rig b;
    env e = {0};
    tx c;
    bus_claim claim;
    sheaf_failure f;
    REQUIRE(bus_rig_init(&b, 7, &seed) == 0);
    tx_init(&c);
    CHECK_EQ_INT(bus_rig_prove(&b, &c, &e, &claim), 0);
    CHECK_EQ_INT(bus_rig_verify(5, b.extra, c.out, c.len, &claim, &f), -1);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_TRAILING); /* the same layers, two fewer */
    CHECK_EQ_INT(bus_rig_verify(9, b.extra, c.out, c.len, &claim, &f), -1);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_TRUNCATED);
    CHECK_EQ_INT(bus_rig_verify(6, b.extra, c.out, c.len, &claim, &f), -1);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_BUS_BALANCE);
    CHECK_EQ_INT(bus_rig_verify(2, b.extra, c.out, c.len, &claim, &f), -1);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_HEADER);
    CHECK_EQ_INT(bus_rig_verify(BUS_MAX_HEIGHT + 1, b.extra, c.out, c.len, &claim, &f), -1);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_HEADER);
    tx_free(&c);
    bus_rig_free(&b);
}

TEST(back_ends_and_threads_give_the_same_bytes) {
    const sheaf_isa before = kernels_isa();
    for (unsigned h = LOWEST; h <= 17; h = h < 12 ? h + 1 : h + 5) {
        uint64_t seed = t_seed();
        bus_rig b;
        uint8_t *first = NULL;
        size_t first_len = 0;
        REQUIRE(bus_rig_init(&b, h, &seed) == 0);
        for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
            if (kernels_force((sheaf_isa)isa) != 0)
                continue;
            for (unsigned threads = 1; threads <= 3; threads++) {
                env e = {0};
                tx c;
                bus_claim claim;
                e.pool = pool_create(threads);
                REQUIRE(e.pool != NULL);
                tx_init(&c);
                CHECK_EQ_INT(bus_rig_prove(&b, &c, &e, &claim), 0);
                if (first == NULL) {
                    first = copy_of(c.out, c.len);
                    first_len = c.len;
                }
                CHECK_EQ_U64(c.len, first_len);
                CHECK_MEM(c.out, first, first_len);
                tx_free(&c);
                pool_destroy(e.pool);
            }
        }
        free(first);
        bus_rig_free(&b);
    }
    CHECK_EQ_INT(kernels_force(before), 0);
}

/* Allocates `left` times, then fails. */
static void *failing_alloc(void *ctx, size_t bytes) {
    size_t *left = ctx;
    if (*left == 0)
        return NULL;
    (*left)--;
    return malloc(bytes);
}
static void plain_free(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

TEST(running_out_of_memory_is_reported_and_leaks_nothing) {
    uint64_t seed = t_seed();
    bus_rig b;
    REQUIRE(bus_rig_init(&b, 7, &seed) == 0);
    int result = -1;
    size_t allowed = 0;
    for (; result != 0 && allowed < 100; allowed++) {
        size_t left = allowed;
        mem m = {failing_alloc, plain_free, &left, 0, 0};
        env e = {0};
        tx c;
        bus_claim claim;
        e.mem = &m;
        tx_init(&c);
        result = bus_rig_prove(&b, &c, &e, &claim);
        CHECK_EQ_U64(m.current, 0);
        tx_free(&c);
    }
    CHECK_EQ_INT(result, 0);
    CHECK(allowed > 5);
    bus_rig_free(&b);
}

/* Stops at its third call. */
static int stop_third(void *ctx, double at, const char *stage) {
    unsigned *calls = ctx;
    CHECK(at >= 0 && at <= 1 && stage != NULL);
    return ++*calls == 3;
}

TEST(a_progress_report_can_stop_the_prover) {
    uint64_t seed = t_seed();
    bus_rig b;
    mem m = {NULL, NULL, NULL, 0, 0};
    env e = {0};
    tx c;
    bus_claim claim;
    unsigned calls = 0;
    REQUIRE(bus_rig_init(&b, 9, &seed) == 0);
    e.mem = &m;
    e.progress = stop_third;
    e.progress_ctx = &calls;
    e.progress_span = 1;
    tx_init(&c);
    CHECK_EQ_INT(bus_rig_prove(&b, &c, &e, &claim), -1);
    CHECK_EQ_U64(calls, 3);
    CHECK(e.cancelled);
    CHECK_EQ_U64(m.current, 0);
    tx_free(&c);
    bus_rig_free(&b);
}

T_MAIN()
