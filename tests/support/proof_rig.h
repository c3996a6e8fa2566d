/* Honest statements of both kinds with their witnesses, ready to be proven, and the envelopes of their
 * proofs. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     proof_rig g;                                  (must not move once it is made)
 *     REQUIRE(proof_rig_leanxmss(&g, 3, epoch, seed) == 0);     or proof_rig_hash(&g, 5, seed)
 *     ... leaf_prove(&proof, &len, &e, &g.leaf.st, &g.w, rate, &f) ...
 *     uint8_t *envelope = proof_rig_envelope(&g, proof, len, &envelope_len);
 *     proof_rig_free(&g); */
#ifndef SHEAF_TESTS_PROOF_RIG_H
#define SHEAF_TESTS_PROOF_RIG_H

#include "t.h"
#include "aggregate/aggregate.h"
#include "circuit/leaf.h"
#include "circuit/witness.h"
#include "hash/shake.h"
#include "sig/leanxmss.h"

typedef struct proof_rig {
    sheaf_statement st;
    aggregate_leaf leaf;
    leaf_witness w;
    uint8_t message[32];
    uint8_t *items;      /* keys or digests */
    uint8_t *signatures; /* leanXMSS */
    uint64_t *words, multiplicities[LX_TABLE];
} proof_rig;

static T_UNUSED_ void proof_rig_free(proof_rig *g) {
    if (g->leaf.publics != NULL)
        aggregate_leaf_free(&g->leaf);
    free(g->items);
    free(g->signatures);
    free(g->words);
    memset(g, 0, sizeof *g);
}

static int proof_rig_finish(proof_rig *g) {
    g->st.message = g->message;
    g->st.items = g->items;
    g->w = (leaf_witness){g->words, g->st.kind == SHEAF_KIND_HASH ? NULL : g->multiplicities};
    return aggregate_leaf_init(&g->leaf, &g->st) == SHEAF_OK ? 0 : -1;
}

/* n random messages. 0, or -1 where there is no memory. */
static T_UNUSED_ int proof_rig_hash(proof_rig *g, size_t n, uint64_t seed) {
    env e = {0};
    memset(g, 0, sizeof *g);
    g->st.kind = SHEAF_KIND_HASH;
    g->st.count = (uint32_t)n;
    uint8_t *messages = malloc(WITNESS_HASH_MESSAGE * n);
    uint64_t *columns = malloc(4 * n * sizeof *columns);
    g->items = malloc(32 * n);
    g->words = malloc(WITNESS_HASH_MESSAGE * n);
    int result = -1;
    if (messages != NULL && columns != NULL && g->items != NULL && g->words != NULL) {
        t_rand_bytes(&seed, messages, WITNESS_HASH_MESSAGE * n);
        witness_hash(g->words, columns, &e, n, messages);
        for (size_t s = 0; s < n; s++)
            shake256_once(g->items + 32 * s, 32, messages + WITNESS_HASH_MESSAGE * s, WITNESS_HASH_MESSAGE);
        result = proof_rig_finish(g);
    }
    free(messages);
    free(columns);
    if (result != 0)
        proof_rig_free(g);
    return result;
}

/* n random keys and their signatures of a random message. 0, or -1 where something failed. */
static T_UNUSED_ int proof_rig_leanxmss(proof_rig *g, size_t n, uint32_t epoch, uint64_t seed) {
    env e = {0};
    sheaf_failure f;
    memset(g, 0, sizeof *g);
    g->st.kind = SHEAF_KIND_LEANXMSS;
    g->st.count = (uint32_t)n;
    g->st.epoch = epoch;
    t_rand_bytes(&seed, g->message, sizeof g->message);
    g->items = malloc(32 * n);
    g->signatures = malloc((size_t)LEANXMSS_SIGNATURE_BYTES * n);
    g->words = malloc((size_t)LX_WORDS * n * sizeof *g->words);
    int bad = g->items == NULL || g->signatures == NULL || g->words == NULL;
    for (size_t i = 0; i < n && !bad; i++) {
        uint8_t secret[32];
        leanxmss_key k;
        t_rand_bytes(&seed, secret, sizeof secret);
        if (leanxmss_keygen(&k, &e, secret, epoch, 0) != SHEAF_OK) {
            bad = 1;
            break;
        }
        memcpy(g->items + 32 * i, k.public_key, 32);
        bad = leanxmss_sign(g->signatures + LEANXMSS_SIGNATURE_BYTES * i, &k, epoch, g->message, NULL) !=
              SHEAF_OK;
        leanxmss_key_wipe(&k, NULL);
    }
    if (!bad)
        bad = proof_rig_finish(g) != 0 ||
              witness_leanxmss(g->words, g->leaf.publics, g->multiplicities, &e, n, g->items, g->signatures,
                               epoch, g->message, &f) != SHEAF_OK;
    if (bad)
        proof_rig_free(g);
    return bad ? -1 : 0;
}

/* From malloc, of exactly *len bytes; NULL where there is no memory. */
static T_UNUSED_ uint8_t *proof_rig_envelope(const proof_rig *g, const uint8_t *proof, size_t proof_len,
                                             size_t *len) {
    *len = envelope_bytes(g->st.count, proof_len);
    uint8_t *out = malloc(*len), *at = out;
    if (out == NULL)
        return NULL;
    envelope_header_write(at, &g->st);
    at += ENVELOPE_HEADER_BYTES;
    memcpy(at, g->items, (size_t)32 * g->st.count);
    at += (size_t)32 * g->st.count;
    store32_le(at, (uint32_t)proof_len);
    memcpy(at + ENVELOPE_LENGTH_BYTES, proof, proof_len);
    return out;
}

/* Verifies an envelope as the kind that it names; of what names none, as an aggregate. */
static T_UNUSED_ sheaf_status proof_rig_verify(const uint8_t *envelope, size_t len,
                                               const sheaf_expected *expected, sheaf_failure *f) {
    return len > 10 && envelope[10] == SHEAF_KIND_HASH ? sheaf_verify_hash_batch(envelope, len, expected, f)
                                                       : sheaf_verify_aggregate(envelope, len, expected, f);
}

#endif
