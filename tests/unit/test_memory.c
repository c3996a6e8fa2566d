/* What proving is said to take against what it takes.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The most is held while the first two Keccak layers are proven, so the proofs are cancelled after them. */
#include "t.h"
#include "aggregate/context.h"
#include "aggregate/memory.h"
#include "sheaf.h"
#include "sig/leanxmss.h"

static int stop_after_two_layers(void *ctx, double fraction, const char *stage) {
    int *layers = ctx;
    (void)fraction;
    *layers += strcmp(stage, "Keccak layers") == 0;
    return *layers > 1;
}

/* Within a tenth; the smallest proofs' fixed parts may be as much as 64 KiB off. */
static void check_close(size_t peak, uint64_t said, size_t n, unsigned rate) {
    const uint64_t off = said > peak ? said - peak : peak - said;
    if (!CHECK(off <= peak / 10 || off <= 65536))
        printf("  n = %zu, rate %u: %zu bytes, %" PRIu64 " were said\n", n, rate, peak, said);
}

static const uint8_t message[32] = {1, 2, 3};
enum { EPOCH = 7 };

static int make_entry(sheaf_entry *e, uint32_t i) {
    uint8_t seed[32] = {0};
    leanxmss_key k;
    store32_le(seed, i);
    if (leanxmss_keygen(&k, NULL, seed, EPOCH, 0) != SHEAF_OK)
        return -1;
    memcpy(e->public_key, k.public_key, sizeof e->public_key);
    sheaf_status status = leanxmss_sign(e->signature, &k, EPOCH, message, NULL);
    leanxmss_key_wipe(&k, NULL);
    return status == SHEAF_OK ? 0 : -1;
}

TEST(aggregates_take_what_is_said) {
    static const struct {
        unsigned n, rate, threads;
    } shapes[] = {{1, 0, 1}, {16, 0, 1}, {16, 6, 2}, {33, 1, 1}, {128, 0, 2}, {256, 2, 1}};
    enum { MOST = 256 };
    sheaf_entry *entries = malloc(MOST * sizeof *entries);
    REQUIRE(entries != NULL);
    for (uint32_t i = 0; i < MOST; i++)
        CHECK_EQ_INT(make_entry(&entries[i], i), 0);
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        int layers = 0;
        const sheaf_options options = {.threads = shapes[s].threads,
                                       .log_inv_rate = shapes[s].rate,
                                       .progress = stop_after_two_layers,
                                       .progress_ctx = &layers};
        sheaf_context *ctx;
        REQUIRE(sheaf_context_create(&ctx, &options) == SHEAF_OK);
        uint8_t *envelope;
        size_t len;
        CHECK_EQ_INT(sheaf_aggregate(ctx, &envelope, &len, EPOCH, message, entries, shapes[s].n, NULL),
                     SHEAF_CANCELLED);
        CHECK_EQ_INT(layers, 2);
        check_close(sheaf_peak_bytes(ctx), sheaf_prove_bytes(ctx, SHEAF_KIND_LEANXMSS, shapes[s].n),
                    shapes[s].n, shapes[s].rate);
        CHECK_EQ_U64(ctx->arena.beyond, 0); /* all of it was in the one region */
        sheaf_context_destroy(ctx);
    }
    free(entries);
}

TEST(hash_batches_take_what_is_said) {
    static const struct {
        unsigned n, rate, threads;
    } shapes[] = {{1, 0, 1},    {8, 6, 1},    {60, 0, 1},   {128, 1, 3},  {600, 0, 2},
                  {1000, 0, 1}, {4096, 6, 1}, {9000, 1, 1}, {16384, 0, 2}};
    enum { MOST = 16384 };
    uint8_t *preimages = calloc(MOST, SHEAF_PREIMAGE_BYTES);
    REQUIRE(preimages != NULL);
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        int layers = 0;
        const sheaf_options options = {.threads = shapes[s].threads,
                                       .log_inv_rate = shapes[s].rate,
                                       .progress = stop_after_two_layers,
                                       .progress_ctx = &layers};
        sheaf_context *ctx;
        REQUIRE(sheaf_context_create(&ctx, &options) == SHEAF_OK);
        uint8_t *envelope;
        size_t len;
        CHECK_EQ_INT(sheaf_prove_hash_batch(ctx, &envelope, &len, preimages, shapes[s].n, NULL),
                     SHEAF_CANCELLED);
        CHECK_EQ_INT(layers, 2);
        check_close(sheaf_peak_bytes(ctx), sheaf_prove_bytes(ctx, SHEAF_KIND_HASH, shapes[s].n), shapes[s].n,
                    shapes[s].rate);
        CHECK_EQ_U64(ctx->arena.beyond, 0); /* all of it was in the one region */
        sheaf_context_destroy(ctx);
    }
    free(preimages);
}

TEST(shapes_without_parameters_take_nothing) {
    CHECK_EQ_U64(aggregate_prove_bytes(SHEAF_KIND_LEANXMSS, 0, 0, 1), 0);
    CHECK_EQ_U64(aggregate_prove_bytes(SHEAF_KIND_LEANXMSS, SHEAF_MAX_SIGNERS + 1, 0, 1), 0);
    CHECK_EQ_U64(aggregate_prove_bytes(SHEAF_KIND_HASH, SHEAF_MAX_HASHES + 1, 0, 1), 0);
    CHECK_EQ_U64(aggregate_prove_bytes(SHEAF_KIND_HASH, 8, 7, 1), 0);
    CHECK_EQ_U64(aggregate_prove_bytes(3, 8, 0, 1), 0);
    sheaf_context *ctx;
    REQUIRE(sheaf_context_create(&ctx, NULL) == SHEAF_OK);
    CHECK_EQ_U64(sheaf_prove_bytes(ctx, SHEAF_KIND_LEANXMSS, 0), 0);
    CHECK_EQ_U64(sheaf_prove_bytes(ctx, SHEAF_KIND_LEANXMSS, SHEAF_MAX_SIGNERS + 1), 0);
    CHECK_EQ_U64(sheaf_prove_bytes(ctx, SHEAF_KIND_HASH, (size_t)-1), 0);
    CHECK_EQ_U64(sheaf_prove_bytes(ctx, 0, 8), 0);
    sheaf_context_destroy(ctx);
}

TEST(what_a_context_takes_is_by_its_rate_and_its_threads) {
    for (unsigned rate = 0; rate <= 6; rate += 3)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            const sheaf_options options = {.threads = threads, .log_inv_rate = rate};
            sheaf_context *ctx;
            REQUIRE(sheaf_context_create(&ctx, &options) == SHEAF_OK);
            CHECK_EQ_U64(sheaf_prove_bytes(ctx, SHEAF_KIND_LEANXMSS, 100),
                         aggregate_prove_bytes(SHEAF_KIND_LEANXMSS, 100, rate, threads));
            sheaf_context_destroy(ctx);
        }
    CHECK(aggregate_prove_bytes(SHEAF_KIND_LEANXMSS, 100, 0, 3) >
          aggregate_prove_bytes(SHEAF_KIND_LEANXMSS, 100, 0, 1));
    CHECK(aggregate_prove_bytes(SHEAF_KIND_LEANXMSS, 100, 6, 1) >
          aggregate_prove_bytes(SHEAF_KIND_LEANXMSS, 100, 3, 1));
}

/* The proof of the whole takes no more than its first layer. */
TEST(the_first_layer_holds_the_most) {
    sheaf_context *ctx;
    REQUIRE(sheaf_context_create(&ctx, &(sheaf_options){.threads = 1}) == SHEAF_OK);
    uint8_t *envelope, preimages[64 * SHEAF_PREIMAGE_BYTES] = {0};
    size_t len;
    REQUIRE(sheaf_prove_hash_batch(ctx, &envelope, &len, preimages, 64, NULL) == SHEAF_OK);
    check_close(sheaf_peak_bytes(ctx), aggregate_prove_bytes(SHEAF_KIND_HASH, 64, 0, 1), 64, 0);
    sheaf_free(ctx, envelope);
    sheaf_context_destroy(ctx);
}

T_MAIN()
