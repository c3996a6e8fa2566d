/* A stage for lying provers: each makes a whole envelope, everything after its lie repaired as an attacker
 * would, and says which check rejects it.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On the stage there are an honest batch of three hashes or an honest aggregate of three signers. A lying
 * prover may make     another witness (or circuit) than the honest one, show     another statement than the
 * one that is proven; `repaired`, the transcript is the shown statement's, listen   to every message as it is
 * sent, and change it, tell     one lie in one message, finish   with changes to the proof's bytes, expect
 * that the verifier wants another statement than the one shown. The prover goes on from its lies: its
 * transcript, nonces and Merkle paths are made after them. */
#ifndef SHEAF_TESTS_LIAR_H
#define SHEAF_TESTS_LIAR_H

#include "t.h"
#include "aggregate/aggregate.h"
#include "circuit/leaf.h"
#include "circuit/outer.h"
#include "support/follower.h"
#include "support/leanxmss_forge.h"

typedef enum liar_shape {
    BATCH,         /* three hashes at the default rate */
    BATCH_2_WORDS, /* the same at R = 2: two committed words, both with grinding */
    AGGREGATE,     /* three signers at the default rate: two committed words, both with grinding */
    LIAR_SHAPES
} liar_shape;

enum {
    LIAR_SIGNERS = FORGE_SIGNERS,
    LIAR_SLOTS = 8,
    LIAR_EPOCH = 77,
    LIAR_WORDS = 16, /* of a hash */
    LIAR_MOST_ITEMS = 8,
    LIAR_FINISH_ROOM = 64 /* bytes that a proof may get longer by */
};

typedef struct liar liar;

typedef struct lying_prover {
    const char *name, *lie;
    liar_shape shape;
    /* the witness */
    const forge_attack_case *attack;
    int flips; /* a bit of committed word `flip` of slot 1 */
    unsigned flip;
    void (*make)(liar *l);
    /* the statement */
    void (*show)(liar *l);
    int repaired;
    /* the messages */
    void (*listen)(liar *l, msg_kind kind, uint64_t *words, size_t n);
    int tells;
    msg_kind kind;
    int nth, word; /* of the kind's messages, of the message's words; negative: from the end */
    uint64_t add;  /* what is XORed into the word, */
    void (*tell)(liar *l, uint64_t *words, size_t n); /* or what is done to the message */
    /* the bytes */
    void (*finish)(liar *l);
    void (*expect)(liar *l);
    /* how it ends; SHEAF_OK for a freedom that does no harm */
    sheaf_status status;
    sheaf_check check;
    uint64_t index;
} lying_prover;

struct liar {
    const lying_prover *p;
    pool *pool;
    forge pristine, f;
    /* what is proven */
    uint64_t hash_words[LIAR_WORDS * LIAR_SLOTS], hash_publics[4 * LIAR_SIGNERS];
    uint64_t more_words[1024 * LIAR_SLOTS],
        more_publics[LX_PUBLICS * LIAR_SLOTS]; /* for witnesses of another size */
    aggregate_leaf truth;
    circuit own; /* `has_own`: instead of the truth's */
    int has_own;
    leaf_statement proven;
    leaf_witness w;
    unsigned rate;
    /* what is shown */
    sheaf_statement shown;
    uint8_t message[32], items[32 * LIAR_MOST_ITEMS];
    unsigned shown_rate;
    aggregate_leaf leaf;
    /* on the way */
    tx c;
    uint64_t header;
    unsigned seen[MSG_KIND_COUNT_], told;
    gf192 zeta[8], gamma;
    follower layers;
    gf192 j_point[16];
    unsigned input_rounds;
    /* what the verifier expects: nothing unless `expects` */
    int expects;
    sheaf_expected expected;
    uint32_t expected_epoch;
    uint8_t expected_message[32], expected_items[32 * LIAR_MOST_ITEMS];
    /* the result */
    uint8_t *envelope;
    size_t envelope_len;
    unsigned honest[LIAR_SHAPES][MSG_KIND_COUNT_]; /* messages of an honest proof, by kind */
};

static T_UNUSED_ int liar_init(liar *l, uint64_t seed) {
    memset(l, 0, sizeof *l);
    if (forge_init(&l->pristine, LIAR_EPOCH, seed) != 0)
        return -1;
    l->pool = pool_create(2);
    return 0;
}

static T_UNUSED_ void liar_clear(liar *l) { /* what one prover leaves */
    if (l->truth.publics != NULL)
        aggregate_leaf_free(&l->truth);
    if (l->leaf.publics != NULL)
        aggregate_leaf_free(&l->leaf);
    if (l->has_own)
        circuit_free(&l->own);
    l->has_own = 0;
    tx_free(&l->c);
    free(l->envelope);
    l->envelope = NULL;
}

static T_UNUSED_ void liar_free(liar *l) {
    liar_clear(l);
    pool_destroy(l->pool);
}

static params_family liar_family(const liar *l) {
    return l->p->shape == AGGREGATE ? PARAMS_LEANXMSS : PARAMS_HASH;
}

static void liar_honest(liar *l) {
    l->f = l->pristine;
    l->rate = l->p->shape == BATCH_2_WORDS ? 2 : params_default_rate(liar_family(l), 3);
    if (l->p->shape == AGGREGATE) {
        forge_honest(&l->f);
        l->w = (leaf_witness){l->f.words, l->f.multiplicities};
    } else {
        uint64_t seed = l->pristine.seed;
        uint8_t messages[LIAR_SIGNERS * WITNESS_HASH_MESSAGE];
        env e = {0};
        t_rand_bytes(&seed, messages, sizeof messages);
        witness_hash(l->hash_words, l->hash_publics, &e, LIAR_SIGNERS, messages);
        l->w = (leaf_witness){l->hash_words, NULL};
    }
}

static uint64_t *liar_publics(liar *l) {
    return l->p->shape == AGGREGATE ? l->f.publics : l->hash_publics;
}

/* The list that the witness's public columns are. */
static void liar_items(liar *l) {
    for (size_t s = 0; s < LIAR_SIGNERS; s++)
        for (size_t p = 0; p < 4; p++)
            store64_le(l->items + 32 * s + 8 * p, liar_publics(l)[p * LIAR_SIGNERS + s]);
}

static void liar_statement(liar *l) {
    memset(&l->shown, 0, sizeof l->shown);
    memset(l->message, 0, sizeof l->message);
    l->shown.kind = SHEAF_KIND_HASH;
    l->shown.count = LIAR_SIGNERS;
    if (l->p->shape == AGGREGATE) {
        l->shown.kind = SHEAF_KIND_LEANXMSS;
        l->shown.epoch = l->f.epoch;
        memcpy(l->message, l->f.message, 32);
    }
    liar_items(l);
    l->shown.message = l->message;
    l->shown.items = l->items;
    l->shown_rate = l->rate;
}

/* The transcript as the verifier has it after the header. */
static T_UNUSED_ void liar_absorb(liar *l, const leaf_statement *st) {
    transcript_init(&l->c.t);
    transcript_absorb(&l->c.t, &l->header, 1);
    leaf_absorb_statement(&l->c.t, st, circuit_log_slots(st->signers), l->shown_rate);
}

static void liar_hook(void *ctx, msg_kind kind, uint64_t *words, size_t n) {
    liar *l = ctx;
    const lying_prover *p = l->p;
    if (kind == MSG_HEADER && p->repaired)
        words[0] = l->shown.count | (uint64_t)l->shown_rate << 32;
    if (kind == MSG_HEADER)
        l->header = words[0];
    if (kind == MSG_ROOT && l->seen[MSG_ROOT] == 0 && p->repaired)
        liar_absorb(l, &l->leaf.st);
    if (p->listen != NULL)
        p->listen(l, kind, words, n);
    const unsigned nth = p->nth < 0 ? l->honest[p->shape][p->kind] + (unsigned)p->nth : (unsigned)p->nth;
    if (p->tells && kind == p->kind && l->seen[kind] == nth) {
        if (p->tell != NULL)
            p->tell(l, words, n);
        else
            words[p->word < 0 ? n - (size_t)-p->word : (size_t)p->word] ^= p->add;
        l->told++;
    }
    l->seen[kind]++;
}

static T_UNUSED_ int liar_make_envelope(liar *l, const uint8_t *proof, size_t len) {
    l->envelope_len = envelope_bytes(l->shown.count, len);
    l->envelope = malloc(l->envelope_len);
    if (l->envelope == NULL)
        return -1;
    uint8_t *at = l->envelope + ENVELOPE_HEADER_BYTES;
    envelope_header_write(l->envelope, &l->shown);
    memcpy(at, l->shown.items, (size_t)32 * l->shown.count);
    at += (size_t)32 * l->shown.count;
    store32_le(at, (uint32_t)len);
    memcpy(at + ENVELOPE_LENGTH_BYTES, proof, len);
    return 0;
}

static int liar_prove(liar *l) {
    const lying_prover *p = l->p;
    env e = {.pool = l->pool};
    sheaf_failure f;
    if (aggregate_leaf_init(&l->truth, &l->shown) != SHEAF_OK)
        return -1;
    if (p->show != NULL)
        p->show(l);
    if (aggregate_leaf_init(&l->leaf, &l->shown) != SHEAF_OK)
        return -1;
    if (l->proven.signers == 0) /* unless `make` has said what is proven */
        l->proven = l->truth.st;
    l->proven.circuit = l->has_own ? &l->own : &l->truth.circuit;
    l->proven.binding = l->truth.binding;
    l->proven.n_binding = l->truth.st.n_binding;
    tx_init(&l->c);
    l->c.hook = liar_hook;
    l->c.hook_ctx = l;
    follower_init(&l->layers, &l->c, (layers_shape){3, l->proven.circuit->kappa, l->proven.circuit->rows},
                  NULL, HONEST);
    if (leaf_prove_on(&l->c, &e, &l->proven, &l->w, l->rate, &f) != SHEAF_OK)
        return -1;
    if (p->finish != NULL)
        p->finish(l);
    return liar_make_envelope(l, l->c.out, l->c.len);
}

/* Plays one prover: its envelope, and what is expected of it, are then on the stage. -1 where something
 * failed that is no lie. */
static T_UNUSED_ int liar_play(liar *l, const lying_prover *p) {
    liar_clear(l);
    l->p = p;
    memset(l->seen, 0, sizeof l->seen);
    memset(&l->proven, 0, sizeof l->proven);
    l->told = 0;
    l->input_rounds = 0;
    l->expects = 0;
    liar_honest(l);
    if (p->attack != NULL)
        p->attack->make(&l->f);
    if (p->flips)
        ((uint64_t *)(uintptr_t)l->w.words)[p->flip * LIAR_SIGNERS + 1] ^= 2;
    if (p->make != NULL)
        p->make(l);
    liar_statement(l);
    if (liar_prove(l) != 0)
        return -1;
    if (p->expect != NULL) {
        l->expects = 1;
        l->expected_epoch = l->shown.epoch;
        memcpy(l->expected_message, l->message, 32);
        memcpy(l->expected_items, l->items, sizeof l->expected_items);
        l->expected =
            (sheaf_expected){&l->expected_epoch, l->expected_message, l->expected_items, l->shown.count};
        if (l->shown.kind == SHEAF_KIND_HASH)
            l->expected.epoch = NULL, l->expected.message = NULL;
        p->expect(l);
    }
    return 0;
}

static T_UNUSED_ sheaf_status liar_verify(const liar *l, sheaf_failure *f) {
    memset(f, 0, sizeof *f);
    return (l->shown.kind == SHEAF_KIND_HASH ? sheaf_verify_hash_batch : sheaf_verify_aggregate)(
        l->envelope, l->envelope_len, l->expects ? &l->expected : NULL, f);
}

/* Counts the messages of honest proofs. -1 where one is not accepted. */
static T_UNUSED_ int liar_rehearse(liar *l) {
    for (liar_shape s = 0; s < LIAR_SHAPES; s++) {
        const lying_prover honest = {.name = "honest", .shape = s};
        sheaf_failure f;
        if (liar_play(l, &honest) != 0 || liar_verify(l, &f) != SHEAF_OK)
            return -1;
        memcpy(l->honest[s], l->seen, sizeof l->seen);
    }
    return 0;
}

#endif
