/* leanXMSS: known answers, round trips, refusals.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "t.h"
#include "support/leanxmss_vectors.h"
#include "hash/shake.h"

static const uint8_t some_seed[32] = {7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5};

TEST(known_answers_are_reproduced) {
    static leanxmss_vector vectors[LEANXMSS_VECTORS];
    REQUIRE(leanxmss_vectors_load(vectors) == 0);
    for (size_t i = 0; i < LEANXMSS_VECTORS; i++) {
        const leanxmss_vector *v = &vectors[i];
        leanxmss_key k;
        REQUIRE(leanxmss_keygen(&k, NULL, v->seed, v->first, ceil_log2(v->count)) == SHEAF_OK);
        CHECK_MEM(k.public_key, v->public_key, 32);
        CHECK_EQ_INT(leanxmss_key_check(&k), 0);
        uint8_t signature[LEANXMSS_SIGNATURE_BYTES], positions[LEANXMSS_CHAINS];
        uint32_t trials = 0;
        CHECK(leanxmss_sign(signature, &k, v->epoch, v->message, &trials) == SHEAF_OK);
        CHECK_EQ_U64(trials, v->trials);
        CHECK_MEM(signature, v->signature, sizeof signature);
        CHECK_MEM(signature + 16 * LEANXMSS_CHAINS, v->randomizer, 24);
        CHECK_EQ_INT(leanxmss_encode(positions, v->public_key + 16, v->epoch, v->message, v->randomizer), 0);
        CHECK_EQ_INT(leanxmss_verify(v->public_key, v->epoch, v->message, v->signature), 0);
        leanxmss_key_wipe(&k, NULL);
    }
}

TEST(known_answers_verify_for_no_other_statement) {
    static leanxmss_vector vectors[LEANXMSS_VECTORS];
    REQUIRE(leanxmss_vectors_load(vectors) == 0);
    for (size_t i = 0; i < LEANXMSS_VECTORS; i++)
        for (size_t j = 0; j < LEANXMSS_VECTORS; j++) {
            const leanxmss_vector *a = &vectors[i], *b = &vectors[j];
            int want = i == j ? 0 : -1;
            CHECK_EQ_INT(leanxmss_verify(b->public_key, a->epoch, a->message, a->signature), want);
            CHECK_EQ_INT(leanxmss_verify(a->public_key, b->epoch, a->message, a->signature), want);
            CHECK_EQ_INT(leanxmss_verify(a->public_key, a->epoch, b->message, a->signature), want);
            CHECK_EQ_INT(leanxmss_verify(a->public_key, a->epoch, a->message, b->signature), want);
        }
}

TEST(signatures_of_every_interval_verify) {
    static const struct {
        uint32_t first;
        unsigned log_count;
        uint32_t step; /* between the epochs that sign */
    } keys[] = {
        {0, 0, 1},
        {12345, 0, 1},
        {UINT32_MAX, 0, 1},
        {0, 1, 1},
        {0x80000000, 1, 1},
        {UINT32_MAX - 1, 1, 1},
        {8, 3, 3},
        {0x12345678, 3, 5},
        {UINT32_MAX - 7, 3, 7},
        {64, 6, 21},
        {UINT32_MAX - 63, 6, 63},
    };
    uint64_t seed = t_seed();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        leanxmss_key k;
        uint8_t secret[32];
        t_rand_bytes(&seed, secret, sizeof secret);
        REQUIRE(leanxmss_keygen(&k, NULL, secret, keys[i].first, keys[i].log_count) == SHEAF_OK);
        for (uint64_t at = 0; at < UINT64_C(1) << keys[i].log_count; at += keys[i].step) {
            uint32_t epoch = keys[i].first + (uint32_t)at;
            uint8_t message[32], a[LEANXMSS_SIGNATURE_BYTES], b[LEANXMSS_SIGNATURE_BYTES];
            t_rand_bytes(&seed, message, sizeof message);
            CHECK(leanxmss_sign(a, &k, epoch, message, NULL) == SHEAF_OK);
            CHECK_EQ_INT(leanxmss_verify(k.public_key, epoch, message, a), 0);
            CHECK_EQ_INT(leanxmss_verify(k.public_key, epoch ^ 1, message, a), -1);
            if (at == 0) {
                CHECK(leanxmss_sign(b, &k, epoch, message, NULL) == SHEAF_OK);
                CHECK_MEM(a, b, sizeof a);
            }
        }
        leanxmss_key_wipe(&k, NULL);
    }
}

TEST(verify_rejects_any_changed_byte) {
    static leanxmss_vector vectors[LEANXMSS_VECTORS];
    REQUIRE(leanxmss_vectors_load(vectors) == 0);
    leanxmss_vector *v = &vectors[4];
    uint64_t seed = t_seed();
    REQUIRE(leanxmss_verify(v->public_key, v->epoch, v->message, v->signature) == 0);
    for (size_t i = 0; i < LEANXMSS_SIGNATURE_BYTES; i++) {
        uint8_t flip = (uint8_t)(1u << (t_rand64(&seed) & 7));
        v->signature[i] ^= flip;
        CHECK_EQ_INT(leanxmss_verify(v->public_key, v->epoch, v->message, v->signature), -1);
        v->signature[i] ^= flip;
    }
    for (size_t i = 0; i < 32; i++) {
        uint8_t flip = (uint8_t)(1u << (t_rand64(&seed) & 7));
        v->message[i] ^= flip;
        CHECK_EQ_INT(leanxmss_verify(v->public_key, v->epoch, v->message, v->signature), -1);
        v->message[i] ^= flip;
        v->public_key[i] ^= flip;
        CHECK_EQ_INT(leanxmss_verify(v->public_key, v->epoch, v->message, v->signature), -1);
        v->public_key[i] ^= flip;
    }
    for (unsigned bit = 0; bit < 32; bit++)
        CHECK_EQ_INT(leanxmss_verify(v->public_key, v->epoch ^ (uint32_t)1 << bit, v->message, v->signature),
                     -1);
    CHECK_EQ_INT(leanxmss_verify(v->public_key, v->epoch, v->message, v->signature), 0);
}

/* A chain value one step further with its position one lower is what a forger would hand in: the encoding
 * forbids it. */
TEST(verify_rejects_a_chain_value_that_was_advanced) {
    static leanxmss_vector vectors[LEANXMSS_VECTORS];
    REQUIRE(leanxmss_vectors_load(vectors) == 0);
    leanxmss_vector *v = &vectors[1];
    uint8_t positions[LEANXMSS_CHAINS], tweak[16], payload[32];
    REQUIRE(leanxmss_encode(positions, v->public_key + 16, v->epoch, v->message, v->randomizer) == 0);
    for (size_t i = 0; i < LEANXMSS_CHAINS; i++) {
        if (positions[i] == 7)
            continue;
        uint8_t kept[16];
        memcpy(kept, v->signature + 16 * i, 16);
        memset(payload, 0, sizeof payload);
        memcpy(payload, kept, 16);
        payload[16] = (uint8_t)i;
        leanxmss_tweak(tweak, LEANXMSS_TWEAK_STEP, positions[i], v->epoch);
        leanxmss_hash(v->signature + 16 * i, 16, tweak, v->public_key + 16, payload, sizeof payload);
        CHECK_EQ_INT(leanxmss_verify(v->public_key, v->epoch, v->message, v->signature), -1);
        memcpy(v->signature + 16 * i, kept, 16);
    }
    CHECK_EQ_INT(leanxmss_verify(v->public_key, v->epoch, v->message, v->signature), 0);
}

static void digest_of(uint8_t digest[16], const uint8_t positions[LEANXMSS_CHAINS]) {
    for (size_t half = 0; half < 2; half++) {
        uint64_t w = 0;
        for (size_t r = 0; r < 21; r++)
            w |= (uint64_t)positions[21 * half + r] << (3 * r);
        store64_le(digest + 8 * half, w);
    }
}

TEST(positions_are_those_of_the_digest_and_sum_to_the_target) {
    uint64_t seed = t_seed();
    for (int round = 0; round < 200; round++) {
        uint8_t want[LEANXMSS_CHAINS] = {0}, have[LEANXMSS_CHAINS], digest[16];
        for (int sum = 0; sum < LEANXMSS_TARGET_SUM;) {
            size_t c = (size_t)(t_rand64(&seed) % LEANXMSS_CHAINS);
            if (want[c] < 7) {
                want[c]++;
                sum++;
            }
        }
        digest_of(digest, want);
        CHECK_EQ_INT(leanxmss_positions(have, digest), 0);
        CHECK_MEM(have, want, sizeof want);
        for (size_t half = 0; half < 2; half++) { /* bit 63 of either word */
            digest[8 * half + 7] ^= 0x80;
            CHECK_EQ_INT(leanxmss_positions(have, digest), -1);
            digest[8 * half + 7] ^= 0x80;
        }
        size_t c = (size_t)(t_rand64(&seed) % LEANXMSS_CHAINS);
        want[c] = (uint8_t)(want[c] > 0 ? want[c] - 1 : 1); /* one less, or one more */
        digest_of(digest, want);
        CHECK_EQ_INT(leanxmss_positions(have, digest), -1);
    }
}

TEST(tweak_is_laid_out_as_specified) {
    static const uint8_t want[16] = {0, 6, 0, 0, 0x21, 0x43, 0x65, 0x87, 0, 0, 0, 0, 0xef, 0xcd, 0xab, 0x89};
    uint8_t have[16];
    memset(have, 0xff, sizeof have);
    leanxmss_tweak(have, 6, 0x87654321, 0x89abcdef);
    CHECK_MEM(have, want, sizeof want);
}

TEST(hash_is_shake256_of_tweak_parameter_and_payload) {
    uint64_t seed = t_seed();
    uint8_t all[32 + 672], want[32], have[32];
    t_rand_bytes(&seed, all, sizeof all);
    shake256_once(want, sizeof want, all, sizeof all);
    leanxmss_hash(have, sizeof have, all, all + 16, all + 32, sizeof all - 32);
    CHECK_MEM(have, want, sizeof want);
}

TEST(a_part_of_an_interval_has_the_same_nodes) {
    leanxmss_key whole, part;
    REQUIRE(leanxmss_keygen(&whole, NULL, some_seed, 64, 6) == SHEAF_OK);
    REQUIRE(leanxmss_keygen(&part, NULL, some_seed, 64 + 24, 3) == SHEAF_OK);
    CHECK_MEM(whole.public_key + 16, part.public_key + 16, 16); /* P is the seed's */
    CHECK(memcmp(whole.public_key, part.public_key, 16) != 0);  /* the root is the interval's too */
    CHECK_MEM(whole.nodes + 16 * 24, part.nodes, 16 * 8);
    CHECK_MEM(whole.nodes + 16 * (64 + 12), part.nodes + 16 * 8, 16 * 4);
    CHECK_MEM(whole.nodes + 16 * (64 + 32 + 16 + 3), part.nodes + 16 * 14, 16);
    leanxmss_key_wipe(&whole, NULL);
    leanxmss_key_wipe(&part, NULL);
}

TEST(keys_are_the_same_on_any_number_of_threads) {
    leanxmss_key one;
    REQUIRE(leanxmss_keygen(&one, NULL, some_seed, 512, 8) == SHEAF_OK);
    for (unsigned threads = 1; threads <= 4; threads++) {
        mem m = {0};
        env e = {.mem = &m, .pool = pool_create(threads)};
        leanxmss_key k;
        REQUIRE(e.pool != NULL);
        CHECK(leanxmss_keygen(&k, &e, some_seed, 512, 8) == SHEAF_OK);
        CHECK_MEM(k.public_key, one.public_key, 32);
        CHECK_MEM(k.nodes, one.nodes, leanxmss_key_nodes_bytes(8));
        CHECK(m.current > 0);
        leanxmss_key_wipe(&k, &m);
        CHECK_EQ_U64(m.current, 0);
        pool_destroy(e.pool);
    }
    leanxmss_key_wipe(&one, NULL);
}

TEST(keygen_refuses_unaligned_intervals) {
    static const struct {
        uint32_t first;
        unsigned log_count;
    } bad[] = {{1, 1},           {4, 3},  {UINT32_MAX, 1}, {UINT32_MAX - 8, 3}, {32, 6}, {1, 32},
               {0x80000000, 32}, {0, 33}, {0, 64}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        leanxmss_key k;
        CHECK(leanxmss_keygen(&k, NULL, some_seed, bad[i].first, bad[i].log_count) == SHEAF_EPOCH_RANGE);
        CHECK(k.nodes == NULL);
    }
}

TEST(sign_refuses_epochs_outside_the_interval) {
    static const uint8_t zero[LEANXMSS_SIGNATURE_BYTES], message[32];
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
    leanxmss_key k;
    REQUIRE(leanxmss_keygen(&k, NULL, some_seed, 16, 2) == SHEAF_OK);
    static const uint32_t outside[] = {0, 15, 20, 0x80000010, UINT32_MAX};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        memset(signature, 0xff, sizeof signature);
        CHECK(leanxmss_sign(signature, &k, outside[i], message, NULL) == SHEAF_EPOCH_RANGE);
        CHECK_MEM(signature, zero, sizeof zero);
    }
    leanxmss_key_wipe(&k, NULL);
}

static int stop_half_way(void *ctx, double fraction, const char *stage) {
    (void)stage;
    (*(unsigned *)ctx)++;
    return fraction >= 0.5;
}

TEST(keygen_stops_when_asked_and_keeps_nothing) {
    static const leanxmss_key empty;
    mem m = {0};
    unsigned calls = 0;
    env e = {.mem = &m, .progress = stop_half_way, .progress_ctx = &calls, .progress_span = 1};
    leanxmss_key k;
    CHECK(leanxmss_keygen(&k, &e, some_seed, 0, 11) == SHEAF_CANCELLED);
    CHECK_EQ_U64(calls, 3); /* at 0, 1/4 and 1/2 of 2048 epochs */
    CHECK_EQ_U64(m.current, 0);
    CHECK_MEM(&k, &empty, sizeof k);
}

static void *refuse_memory(void *ctx, size_t bytes) {
    *(size_t *)ctx = bytes;
    return NULL;
}

TEST(keygen_asks_for_all_its_memory_before_it_starts) {
    size_t asked = 0;
    unsigned calls = 0;
    mem m = {.alloc_fn = refuse_memory, .ctx = &asked};
    env e = {.mem = &m, .progress = stop_half_way, .progress_ctx = &calls, .progress_span = 1};
    leanxmss_key k;
    CHECK(leanxmss_keygen(&k, &e, some_seed, 0, 20) == SHEAF_OUT_OF_MEMORY);
    CHECK(asked >= ((size_t)2 << 20) * 16 - 16);
    CHECK_EQ_U64(calls, 0);
    CHECK(k.nodes == NULL);
    CHECK_EQ_U64(leanxmss_key_nodes_bytes(0), 16);
    CHECK_EQ_U64(leanxmss_key_nodes_bytes(32), UINT64_C(0x1ffffffff0));
}

TEST(key_check_finds_what_is_not_the_seeds) {
    leanxmss_key k;
    REQUIRE(leanxmss_keygen(&k, NULL, some_seed, 40, 3) == SHEAF_OK);
    CHECK_EQ_INT(leanxmss_key_check(&k), 0);
    uint8_t *const places[] = {k.seed,        k.public_key,   k.public_key + 16,
                               k.siblings[0], k.siblings[28], k.nodes + 16 * 14};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        places[i][3] ^= 0x10;
        CHECK_EQ_INT(leanxmss_key_check(&k), -1);
        places[i][3] ^= 0x10;
    }
    k.first = 48;
    CHECK_EQ_INT(leanxmss_key_check(&k), -1);
    k.first = 41;
    CHECK_EQ_INT(leanxmss_key_check(&k), -1);
    k.first = 40;
    CHECK_EQ_INT(leanxmss_key_check(&k), 0);
    leanxmss_key_wipe(&k, NULL);
    static const leanxmss_key empty;
    CHECK_MEM(&k, &empty, sizeof k);
}

T_MAIN()
