/* Witnesses of leanXMSS statements, honest ones and false ones: each attack keeps to everything that it can
 * and says where it must fail.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     forge f;
 *     REQUIRE(forge_init(&f, epoch, seed) == 0);
 *     for (size_t i = 0; i < FORGE_ATTACKS; i++) { forge_attacks[i].make(&f); ... f.words, f.publics,
 * f.multiplicities }
 *
 * There are three signers, so eight slots, of which 2..7 are alike. Attacks are on slot 1 (and 0). An
 * attacker has all secret keys and may choose the roots; what an attack needs of them is in `publics`. */
#ifndef SHEAF_TESTS_LEANXMSS_FORGE_H
#define SHEAF_TESTS_LEANXMSS_FORGE_H

#include "t.h"
#include "circuit/check.h"
#include "circuit/witness.h"

enum {
    FORGE_SIGNERS = 3,
    FORGE_LINK_LEAF = 2, /* the circuit's links, in their order */
    FORGE_LINK_PATH = FORGE_LINK_LEAF + 25 * 5,
    FORGE_LINK_ROOT = FORGE_LINK_PATH + 2 * LEANXMSS_HEIGHT,
    FORGE_LINKS = FORGE_LINK_ROOT + 2
};

typedef struct forge {
    uint32_t epoch;
    uint8_t message[32];
    uint64_t message_words[4];
    uint8_t public_keys[FORGE_SIGNERS][LEANXMSS_PUBLIC_KEY_BYTES];
    uint8_t signatures[FORGE_SIGNERS][LEANXMSS_SIGNATURE_BYTES];
    uint64_t seed;
    uint8_t positions[WITNESS_LANES][LEANXMSS_CHAINS];
    witness_slot slots[WITNESS_LANES];
    uint64_t words[LX_WORDS * FORGE_SIGNERS], publics[LX_PUBLICS * FORGE_SIGNERS], multiplicities[LX_TABLE];
    int broken; /* a step could not be done: the test is wrong */
} forge;

/* A key for one epoch and its signature. */
static T_UNUSED_ int forge_sign(uint8_t public_key[32], uint8_t signature[LEANXMSS_SIGNATURE_BYTES],
                                uint32_t epoch, const uint8_t message[32], uint64_t *seed) {
    uint8_t secret[32];
    leanxmss_key k;
    env e = {0};
    t_rand_bytes(seed, secret, sizeof secret);
    if (leanxmss_keygen(&k, &e, secret, epoch, 0) != SHEAF_OK)
        return -1;
    sheaf_status status = leanxmss_sign(signature, &k, epoch, message, NULL);
    memcpy(public_key, k.public_key, 32);
    leanxmss_key_wipe(&k, NULL);
    return status == SHEAF_OK ? 0 : -1;
}

static T_UNUSED_ int forge_init(forge *f, uint32_t epoch, uint64_t seed) {
    memset(f, 0, sizeof *f);
    f->epoch = epoch;
    f->seed = seed;
    t_rand_bytes(&f->seed, f->message, sizeof f->message);
    for (size_t k = 0; k < 4; k++)
        f->message_words[k] = load64_le(f->message + 8 * k);
    for (size_t s = 0; s < FORGE_SIGNERS; s++)
        if (forge_sign(f->public_keys[s], f->signatures[s], epoch, f->message, &f->seed) != 0)
            return -1;
    return 0;
}

/* ---- steps ---- */

static T_UNUSED_ void forge_read(forge *f) {
    f->broken = 0;
    for (size_t i = 0; i < WITNESS_LANES; i++) {
        size_t s = i < FORGE_SIGNERS ? i : FORGE_SIGNERS - 1;
        witness_lx_read(&f->slots[i], f->public_keys[s], f->signatures[s], f->epoch);
    }
    f->broken |= witness_lx_encode(f->positions, f->slots, f->epoch, f->message_words) != 0;
    for (size_t i = 0; i < WITNESS_LANES; i++)
        f->broken |= witness_lx_plan(&f->slots[i], f->positions[i]) != 0;
}

static T_UNUSED_ void forge_chains(forge *f) {
    witness_lx_chains(f->slots, f->epoch);
}
static T_UNUSED_ void forge_path(forge *f) {
    witness_lx_path(f->slots, f->epoch);
}

static T_UNUSED_ void forge_close(forge *f) {
    witness_lx_store(f->words, FORGE_SIGNERS, 0, f->slots, FORGE_SIGNERS);
    circuit_leanxmss_publics(f->publics, FORGE_SIGNERS, f->public_keys[0]);
    witness_lx_multiplicities(f->multiplicities, f->words, FORGE_SIGNERS);
}

/* The attacker's key is one whose root is what the rows give. */
static T_UNUSED_ void forge_own_root(forge *f, size_t s) {
    f->publics[LX_ROOT * FORGE_SIGNERS + s] = f->slots[s].top[0];
    f->publics[(LX_ROOT + 1) * FORGE_SIGNERS + s] = f->slots[s].top[1];
}

static T_UNUSED_ void forge_finish(forge *f) {
    forge_chains(f);
    forge_path(f);
    forge_close(f);
    forge_own_root(f, 0);
    forge_own_root(f, 1);
}

static T_UNUSED_ void forge_honest(forge *f) {
    forge_read(f);
    forge_chains(f);
    forge_path(f);
    forge_close(f);
}

/* Free choice of the CHAIN rows. */
typedef struct forge_row {
    size_t chain; /* whose value it goes on from */
    uint64_t index;
    uint32_t cur, next;
} forge_row;

static T_UNUSED_ void forge_rows(witness_slot *w, const forge_row rows[LEANXMSS_STEPS]) {
    uint8_t from[LEANXMSS_CHAINS];
    for (size_t c = 0; c < LEANXMSS_CHAINS; c++)
        from[c] = (uint8_t)c;
    for (size_t i = 0; i < LEANXMSS_STEPS; i++) {
        uint64_t *row = w->words + LX_CHAIN + LX_CHAIN_WORDS * i;
        row[2] = lx_step_lane(rows[i].cur);
        row[3] = lx_step_lane(rows[i].next);
        row[4] = rows[i].index;
        w->step_from[i] = from[rows[i].chain];
        if (rows[i].index == rows[i].chain)
            from[rows[i].chain] = (uint8_t)(LEANXMSS_CHAINS + i);
    }
    memcpy(w->end_from, from, sizeof from);
}

/* The rows that the positions ask for, at most 99; their number. */
static T_UNUSED_ size_t forge_walk(forge_row rows[LEANXMSS_STEPS], const uint8_t positions[LEANXMSS_CHAINS]) {
    size_t n = 0;
    for (size_t c = 0; c < LEANXMSS_CHAINS; c++)
        for (uint32_t p = positions[c]; p < LX_TABLE && n < LEANXMSS_STEPS; p++)
            rows[n++] = (forge_row){c, c, p, p + 1};
    return n;
}

/* A chain in first..end-1 whose position is in low..high. */
static T_UNUSED_ size_t forge_chain(forge *f, size_t slot, size_t first, size_t end, uint8_t low,
                                    uint8_t high) {
    for (size_t c = first; c < end; c++)
        if (f->positions[slot][c] >= low && f->positions[slot][c] <= high)
            return c;
    f->broken = 1;
    return first;
}

/* A randomizer of slot 1 whose positions sum to `sum`, and the positions. */
static T_UNUSED_ void forge_randomizer(forge *f, unsigned sum) {
    witness_slot *w = &f->slots[1];
    uint8_t tweak[16], payload[64] = {0}, digest[16];
    leanxmss_tweak(tweak, LEANXMSS_TWEAK_ENCODING, 0, f->epoch);
    memcpy(payload, f->message, 32);
    for (unsigned tries = 0; tries < 1u << 20; tries++) {
        t_rand_bytes(&f->seed, payload + 32, 24);
        leanxmss_hash(digest, sizeof digest, tweak, f->public_keys[1] + 16, payload, sizeof payload);
        unsigned total = 0;
        if (leanxmss_positions(f->positions[1], digest) == 0) /* the honest sum */
            continue;
        for (size_t c = 0; c < LEANXMSS_CHAINS; c++)
            total += f->positions[1][c];
        if (total == sum && ((digest[7] | digest[15]) & 0x80) == 0) {
            for (size_t k = 0; k < 3; k++)
                w->words[LX_RANDOMIZER + k] = load64_le(payload + 32 + 8 * k);
            for (size_t c = 0; c < LEANXMSS_CHAINS; c++)
                w->words[LX_START + LX_START_WORDS * c] = lx_step_lane(f->positions[1][c]);
            return;
        }
    }
    f->broken = 1;
}

/* ---- attacks ---- */

/* Two digits that the message does not have, in different words of the encoding. */
static T_UNUSED_ void forge_wrong_digit(forge *f) {
    forge_read(f);
    uint8_t *x = f->positions[1];
    x[forge_chain(f, 1, 0, 21, 0, 6)]++;
    x[forge_chain(f, 1, 21, 42, 1, 7)]--;
    f->broken |= witness_lx_plan(&f->slots[1], x) != 0;
    forge_finish(f);
}

/* One chain jumps over a position, another marks time for a row. */
static T_UNUSED_ void forge_skipped_step(forge *f) {
    forge_read(f);
    const size_t a = forge_chain(f, 1, 0, 42, 0, 5), b = forge_chain(f, 1, a + 1, 42, 0, 6);
    forge_row walk[LEANXMSS_STEPS], rows[LEANXMSS_STEPS];
    size_t n = 0;
    f->broken |= forge_walk(walk, f->positions[1]) != LEANXMSS_STEPS;
    for (size_t i = 0; i < LEANXMSS_STEPS; i++) {
        const forge_row r = walk[i];
        const int first = r.cur == f->positions[1][r.chain];
        if (r.chain == a && !first && r.cur == f->positions[1][a] + 1u)
            continue;
        if (r.chain == b && first)
            rows[n++] = (forge_row){b, b, r.cur, r.cur};
        rows[n] = r;
        if (r.chain == a && first)
            rows[n].next = r.cur + 2;
        n++;
    }
    f->broken |= n != LEANXMSS_STEPS;
    forge_rows(&f->slots[1], rows);
    forge_finish(f);
}

static T_UNUSED_ void forge_skipped_step_made_up(forge *f) {
    forge_skipped_step(f);
    f->multiplicities[0] += 2;
}

/* An encoding that needs a step more than there are rows. */
static T_UNUSED_ void forge_step_more(forge *f) {
    forge_read(f);
    forge_randomizer(f, LEANXMSS_TARGET_SUM - 1);
    forge_row rows[LEANXMSS_STEPS];
    f->broken |= forge_walk(rows, f->positions[1]) != LEANXMSS_STEPS;
    forge_rows(&f->slots[1], rows);
    forge_finish(f);
}

/* The same, and the last row takes two positions at once. */
static T_UNUSED_ void forge_step_more_jumped(forge *f) {
    forge_row rows[LEANXMSS_STEPS];
    forge_read(f);
    for (unsigned tries = 0; tries == 0 || rows[LEANXMSS_STEPS - 1].next == LX_TABLE; tries++) {
        if (tries == 50) {
            f->broken = 1;
            return;
        }
        forge_randomizer(f, LEANXMSS_TARGET_SUM - 1);
        f->broken |= forge_walk(rows, f->positions[1]) != LEANXMSS_STEPS;
    }
    rows[LEANXMSS_STEPS - 1].next++;
    forge_rows(&f->slots[1], rows);
    forge_finish(f);
}

/* An encoding that needs a step less: the free row belongs to no chain. */
static T_UNUSED_ void forge_step_less(forge *f) {
    forge_read(f);
    forge_randomizer(f, LEANXMSS_TARGET_SUM + 1);
    forge_row rows[LEANXMSS_STEPS];
    f->broken |= forge_walk(rows, f->positions[1]) != LEANXMSS_STEPS - 1;
    rows[LEANXMSS_STEPS - 1] = (forge_row){0, LEANXMSS_CHAINS, 0, 1};
    forge_rows(&f->slots[1], rows);
    forge_finish(f);
}

/* One chain ends a step early, another goes a step past the end. */
static T_UNUSED_ void forge_step_more_and_less(forge *f) {
    forge_read(f);
    const size_t a = forge_chain(f, 1, 0, 42, 0, 6), b = forge_chain(f, 1, a + 1, 42, 0, 6);
    forge_row walk[LEANXMSS_STEPS], rows[LEANXMSS_STEPS];
    size_t n = 0;
    f->broken |= forge_walk(walk, f->positions[1]) != LEANXMSS_STEPS;
    for (size_t i = 0; i < LEANXMSS_STEPS; i++) {
        if (walk[i].chain == a && walk[i].next == LX_TABLE)
            continue;
        rows[n++] = walk[i];
        if (walk[i].chain == b && walk[i].next == LX_TABLE)
            rows[n++] = (forge_row){b, b, LX_TABLE, LX_TABLE + 1};
    }
    f->broken |= n != LEANXMSS_STEPS;
    forge_rows(&f->slots[1], rows);
    forge_finish(f);
}

static T_UNUSED_ void forge_swapped_sibling_at(forge *f, size_t t) {
    forge_read(f);
    uint64_t *row = f->slots[1].words + LX_MERKLE + LX_MERKLE_WORDS * t;
    for (size_t v = 0; v < 2; v++)
        row[2u * f->slots[1].right[t] + v] = row[2u * (1u - f->slots[1].right[t]) + v];
    f->slots[1].right[t] ^= 1;
    forge_finish(f);
}
static T_UNUSED_ void forge_swapped_sibling_0(forge *f) {
    forge_swapped_sibling_at(f, 0);
}
static T_UNUSED_ void forge_swapped_sibling_9(forge *f) {
    forge_swapped_sibling_at(f, 9);
}
static T_UNUSED_ void forge_swapped_sibling_31(forge *f) {
    forge_swapped_sibling_at(f, 31);
}

/* A sibling that is not the key's: the path goes elsewhere. */
static T_UNUSED_ void forge_wrong_sibling(forge *f) {
    forge_read(f);
    f->slots[1].words[LX_MERKLE + LX_MERKLE_WORDS * 4 + 2 * (1u - f->slots[1].right[4])] ^= 1;
    forge_chains(f);
    forge_path(f);
    forge_close(f);
}

static T_UNUSED_ void forge_swap_ends(uint64_t *a, uint64_t *b) {
    for (size_t v = 0; v < 2; v++) {
        uint64_t t = a[v];
        a[v] = b[v];
        b[v] = t;
    }
}

/* Two slots' leaves are made with each other's end of chain 17. */
static T_UNUSED_ void forge_chains_of_two_slots(forge *f) {
    const size_t at = LX_END + LX_END_WORDS * 17;
    forge_read(f);
    forge_chains(f);
    forge_swap_ends(f->slots[0].words + at, f->slots[1].words + at);
    forge_path(f);
    forge_close(f);
    forge_own_root(f, 0);
    forge_own_root(f, 1);
}

/* Two chains of one slot stand in each other's place. */
static T_UNUSED_ void forge_chains_of_one_slot(forge *f) {
    forge_read(f);
    forge_chains(f);
    forge_swap_ends(f->slots[1].words + LX_END, f->slots[1].words + LX_END + LX_END_WORDS * 41);
    forge_path(f);
    forge_close(f);
    forge_own_root(f, 1);
}

static T_UNUSED_ void forge_wrong_randomizer(forge *f) {
    forge_read(f);
    f->slots[1].words[LX_RANDOMIZER + 2] ^= UINT64_C(1) << 63;
    forge_finish(f);
}

static T_UNUSED_ void forge_wrong_root(forge *f) {
    forge_honest(f);
    f->publics[(LX_ROOT + 1) * FORGE_SIGNERS + 1] ^= 1;
}

/* Another signer's signature under one's own key. */
static T_UNUSED_ void forge_stolen_signature(forge *f) {
    forge_read(f);
    witness_lx_read(&f->slots[1], f->public_keys[1], f->signatures[0], f->epoch);
    f->broken |= witness_lx_plan(&f->slots[1], f->positions[0]) != 0;
    forge_chains(f);
    forge_path(f);
    forge_close(f);
}

static T_UNUSED_ void forge_wrong_leaf_block(forge *f) {
    forge_honest(f);
    f->slots[1].words[LX_LEAF + 25 * 2 + 20] ^= 4; /* block 3, a lane of its capacity */
    forge_close(f);
}

static T_UNUSED_ void forge_wrong_last_leaf_block(forge *f) {
    forge_honest(f);
    f->slots[1].words[LX_LEAF + 25 * 4 + 16] ^= LX_PAD_LAST; /* block 5, its padding */
    forge_close(f);
}

static T_UNUSED_ void forge_wrong_chain_value(forge *f) {
    forge_honest(f);
    const size_t c = forge_chain(f, 1, 0, 42, 0, 5);
    size_t i = 0;
    while (f->slots[1].words[LX_CHAIN + LX_CHAIN_WORDS * i + 4] != c)
        i++;
    f->slots[1].words[LX_CHAIN + LX_CHAIN_WORDS * (i + 1)] ^= 1; /* the chain's second row */
    forge_close(f);
}

static T_UNUSED_ void forge_wrong_chain_index(forge *f) {
    forge_read(f);
    const size_t c = forge_chain(f, 1, 0, 42, 0, 5);
    size_t i = 0;
    while (f->slots[1].words[LX_CHAIN + LX_CHAIN_WORDS * i + 4] != c)
        i++;
    f->slots[1].words[LX_CHAIN + LX_CHAIN_WORDS * (i + 1) + 4] ^= 64;
    forge_finish(f);
}

static T_UNUSED_ void forge_wrong_end(forge *f) {
    forge_honest(f);
    f->slots[1].words[LX_END + LX_END_WORDS * 20] ^= 2; /* message lane 44: block 2, lane 10 */
    forge_close(f);
}

/* A START position that is no position, in the bits that the encoding's link does not see: x^{3i-32} takes
 * bits 0..31 of chain 20's word to bits 28..59 of the digest, where the other chains' positions make up for
 * it. */
static T_UNUSED_ void forge_position_of_no_form(forge *f) {
    forge_read(f);
    uint64_t *start = f->slots[1].words + LX_START;
    start[LX_START_WORDS * 20] ^= 1;                      /* x^28 of the digest */
    start[LX_START_WORDS * 9] ^= UINT64_C(1) << (32 + 1); /* x^28 again: 27 + 1 */
    forge_finish(f);
}

static T_UNUSED_ void forge_multiplicity_moved(forge *f) {
    forge_honest(f);
    f->multiplicities[2]++;
    f->multiplicities[5]--;
}

static T_UNUSED_ void forge_multiplicity_more(forge *f) {
    forge_honest(f);
    f->multiplicities[2]++;
}

static T_UNUSED_ void forge_multiplicity_wraps(forge *f) {
    forge_honest(f);
    f->multiplicities[2] += UINT64_C(1) << 63;
    f->multiplicities[5] += UINT64_C(1) << 63;
}

typedef struct forge_attack_case {
    const char *name;
    void (*make)(forge *f);
    /* What is to be found: links (the first of them), tuples (the first of them), multiplicities. */
    uint64_t bad_links;
    unsigned link;
    uint64_t bad_tuples;
    gf64 tag; /* of the first tuple */
    int bad_multiplicities;
} forge_attack_case;

static const forge_attack_case forge_attacks[] = {
    {"wrong digit", forge_wrong_digit, 2, 0, 0, 0, 0},
    {"skipped step", forge_skipped_step, 0, 0, 2, 2, 1},
    {"skipped step, multiplicities made up", forge_skipped_step_made_up, 0, 0, 3, 2, 0},
    {"a step more", forge_step_more, 0, 0, 2, 1, 0},
    {"a step more, two at once", forge_step_more_jumped, 0, 0, 1, 2, 1},
    {"a step less", forge_step_less, 0, 0, 2, 1, 0},
    {"a step more and a step less", forge_step_more_and_less, 0, 0, 5, 1, 1},
    {"swapped sibling, level 0", forge_swapped_sibling_0, 2, FORGE_LINK_PATH, 0, 0, 0},
    {"swapped sibling, level 9", forge_swapped_sibling_9, 2, FORGE_LINK_PATH + 18, 0, 0, 0},
    {"swapped sibling, level 31", forge_swapped_sibling_31, 2, FORGE_LINK_PATH + 62, 0, 0, 0},
    {"wrong sibling", forge_wrong_sibling, 2, FORGE_LINK_ROOT, 0, 0, 0},
    {"chains of two slots exchanged", forge_chains_of_two_slots, 0, 0, 4, 1, 0},
    {"chains of one slot exchanged", forge_chains_of_one_slot, 0, 0, 4, 1, 0},
    {"wrong randomizer", forge_wrong_randomizer, 2, 0, 0, 0, 0},
    {"wrong root", forge_wrong_root, 1, FORGE_LINK_ROOT + 1, 0, 0, 0},
    {"stolen signature", forge_stolen_signature, 4, 0, 0, 0, 0},
    {"wrong leaf block", forge_wrong_leaf_block, 26, FORGE_LINK_LEAF + 25 * 2 + 20, 0, 0, 0},
    {"wrong last leaf block", forge_wrong_last_leaf_block, 3, FORGE_LINK_LEAF + 25 * 4 + 16, 0, 0, 0},
    {"wrong chain value", forge_wrong_chain_value, 0, 0, 4, 1, 0},
    {"wrong chain index", forge_wrong_chain_index, 0, 0, 4, 1, 0},
    {"wrong chain end", forge_wrong_end, 1, FORGE_LINK_LEAF + 25 + 10, 2, 1, 0},
    {"start position of no form", forge_position_of_no_form, 0, 0, 4, 1, 0},
    {"multiplicity moved", forge_multiplicity_moved, 0, 0, 2, 2, 0},
    {"multiplicity too large", forge_multiplicity_more, 0, 0, 1, 2, 1},
    {"multiplicities that wrap around", forge_multiplicity_wraps, 0, 0, 2, 2, 1},
};
enum { FORGE_ATTACKS = sizeof forge_attacks / sizeof forge_attacks[0] };

#endif
