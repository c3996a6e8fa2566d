/* The leaf proof over hash batches: every path of the engine but the bus.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../t.h"
#include "circuit/leaf.h"
#include "hash/shake.h"
#include "kernels.h"

typedef struct batch {
    circuit c;
    uint64_t signers;
    uint64_t *words, *publics;
    uint64_t binding[4];
    leaf_statement st;
    leaf_witness w;
} batch;

static void batch_init(batch *b, uint64_t signers, uint64_t seed) {
    *b = (batch){.signers = signers};
    CHECK_EQ_INT(circuit_build_hash(&b->c), 0);
    b->words = malloc(16 * signers * 8);
    b->publics = malloc(4 * signers * 8);
    uint8_t *digests = malloc(32 * signers + 1);
    for (uint64_t s = 0; s < signers; s++) {
        uint8_t message[128], digest[32];
        for (unsigned j = 0; j < 16; j++) {
            uint64_t v = t_rand64(&seed);
            b->words[j * signers + s] = v;
            store64_le(message + 8 * j, v);
        }
        shake256_once(digest, 32, message, 128);
        for (unsigned j = 0; j < 4; j++) b->publics[j * signers + s] = load64_le(digest + 8 * j);
        memcpy(digests + 32 * s, digest, 32);
    }
    digests[32 * signers] = 0x03;
    uint8_t all[32];
    shake256_once(all, 32, digests, 32 * signers + 1);
    for (unsigned j = 0; j < 4; j++) b->binding[j] = load64_le(all + 8 * j);
    free(digests);
    b->st = (leaf_statement){&b->c, signers, b->publics, b->binding, 4};
    b->w = (leaf_witness){b->words, NULL};
}

static void batch_free(batch *b) {
    circuit_free(&b->c);
    free(b->words);
    free(b->publics);
}

static sheaf_status prove(const batch *b, uint8_t **proof, size_t *len, unsigned rate, unsigned threads) {
    mem m = {0};
    env e = {.mem = &m, .pool = pool_create(threads)};
    sheaf_failure f;
    uint8_t *made;
    sheaf_status st = leaf_prove(&made, len, &e, &b->st, &b->w, rate, &f);
    *proof = NULL;
    if (made) {
        *proof = malloc(*len);
        memcpy(*proof, made, *len);
        mem_free(&m, made);
    }
    CHECK_EQ_U64(m.current, 0);
    pool_destroy(e.pool);
    return st;
}

TEST(honest_batches_are_accepted) {
    static const uint64_t counts[] = {1, 2, 7, 8, 9, 64, 100};
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        batch b;
        batch_init(&b, counts[i], t_seed() + i);
        uint8_t *proof;
        size_t len;
        CHECK_EQ_INT(prove(&b, &proof, &len, 0, 1), SHEAF_OK);
        sheaf_failure f;
        leaf_report report;
        CHECK_EQ_INT(leaf_verify(proof, len, &b.st, &report, &f), SHEAF_OK);
        if (f.status) printf("  %s: %s\n", sheaf_check_name(f.check), f.message);
        free(proof);
        batch_free(&b);
    }
}

TEST(a_false_message_is_rejected) {
    batch b;
    batch_init(&b, 5, t_seed());
    b.words[3 * 5 + 2] ^= 1;
    uint8_t *proof;
    size_t len;
    CHECK_EQ_INT(prove(&b, &proof, &len, 0, 1), SHEAF_OK);
    sheaf_failure f;
    CHECK_EQ_INT(leaf_verify(proof, len, &b.st, NULL, &f), SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_OPENING);
    free(proof);
    batch_free(&b);
}

T_MAIN()
