/* Lying provers, each by name: whole proofs by a prover that lies in one place and goes on from there as an
 * attacker would, and the check that rejects each.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     test_leaf_lies                   the tests
 *     test_leaf_lies --table           the table of docs/lying-provers.md
 *     test_leaf_lies --write FOLDER    the envelopes of all of them, and a few broken ones
 *
 * FOLDER/manifest.tsv then has a line a file: its name, the kind that is asked for, the file whose statement
 * is expected (- for none, `missing` for items that are not there), status, check, index, the prover's name.
 */
#include "t.h"
#include "support/liar.h"
#include "support/slow.h"
#include "bus/bus.h"
#include "hash/keccak.h"

/* ---- what is told in one message ---- */

/* Two multiplicities change, their sum does not. */
static void move_multiplicity(liar *l, uint64_t *words, size_t n) {
    (void)l;
    words[0]--;
    words[n - 1]++;
}

static void wrap_multiplicities(liar *l, uint64_t *words, size_t n) {
    (void)l;
    words[0] += UINT64_C(1) << 63;
    words[n - 1] += UINT64_C(1) << 63;
}

/* Push's first two children change, their product does not. */
static void same_product(liar *l, uint64_t *words, size_t n) {
    (void)l, (void)n;
    gf192 a, b, by = {{3, 5, 7}};
    memcpy(a.c, words, sizeof a);
    memcpy(b.c, words + 3, sizeof b);
    a = gf192_mul(a, by);
    b = gf192_mul(b, gf192_inv(by));
    memcpy(words, a.c, sizeof a);
    memcpy(words + 3, b.c, sizeof b);
}

/* A child of each side's root changes, by the same factor: the sides still balance. */
static void same_balance(liar *l, uint64_t *words, size_t n) {
    gf192 a, b, by = {{3, 5, 7}};
    (void)l;
    memcpy(a.c, words, sizeof a);
    memcpy(b.c, words + n / 2, sizeof b);
    a = gf192_mul(a, by);
    b = gf192_mul(b, by);
    memcpy(words, a.c, sizeof a);
    memcpy(words + n / 2, b.c, sizeof b);
}

static int nonce_fits(const liar *l, uint64_t nonce) {
    const whir_params *par = params_lookup(liar_family(l), 3, l->rate);
    const unsigned g = par->level[l->seen[MSG_NONCE]].grind;
    transcript fork = l->c.t;
    CHECK(g > 0);
    transcript_absorb(&fork, &nonce, 1);
    transcript_squeeze(&fork, NULL, 0);
    return (fork.chain[0] & ((UINT64_C(1) << g) - 1)) == 0;
}

static void nonce_that_misses(liar *l, uint64_t *words, size_t n) {
    (void)n;
    do
        words[0]++;
    while (nonce_fits(l, words[0]));
}

static void nonce_that_fits_too(liar *l, uint64_t *words, size_t n) {
    (void)n;
    do
        words[0]++;
    while (!nonce_fits(l, words[0]));
}

/* ---- what follows the whole proof ---- */

/* Another tail of the layer with the same claim. */
static void listen_to_layers(liar *l, msg_kind kind, uint64_t *words, size_t n) {
    follow(&l->layers, kind, words, n);
    l->told = l->layers.told;
}
static void tail_9_that_fits(liar *l, msg_kind kind, uint64_t *words, size_t n) {
    l->layers.target = 9;
    listen_to_layers(l, kind, words, n);
}
static void tail_0_that_fits(liar *l, msg_kind kind, uint64_t *words, size_t n) {
    l->layers.target = 0;
    listen_to_layers(l, kind, words, n);
}

static void slices_that_fit(liar *l, msg_kind kind, uint64_t *words, size_t n) {
    follow(&l->layers, kind, words, n);
    if (kind == MSG_INPUT_ROUND)
        l->j_point[l->input_rounds++] = next_challenge(&l->c, words, n);
    if (kind == MSG_SLICES) {
        other_slices(&l->layers, l->proven.circuit, l->j_point, words);
        l->told++;
    }
}

/* The digest that is shown differs from the true one in bit 1 of slot 0's word 1; v_out makes up for it, so
 * that the claim on committed words is true. */
static void false_digest(liar *l) {
    l->items[8] ^= 2;
}
static void v_out_for_false_digest(liar *l, msg_kind kind, uint64_t *words, size_t n) {
    if (kind == MSG_ROOT && l->seen[MSG_ROOT] == 0) {
        transcript fork = l->c.t;
        transcript_absorb(&fork, words, n);
        transcript_label(&fork, "point   ");
        transcript_squeeze(&fork, l->zeta, 3);
        transcript_label(&fork, "links   ");
        transcript_squeeze(&fork, &l->gamma, 1);
    }
    if (kind == MSG_V_OUT) {
        gf192 v, eq[8];
        memcpy(v.c, words, sizeof v);
        eq_table(eq, l->zeta, 3);
        /* of link 1, in slot 0 */
        gf192 change = gf192_mul(gf192_mul(gf192_square(l->gamma), l->gamma), gf192_mul_k(eq[0], 2));
        v = gf192_add(v, change);
        memcpy(words, v.c, sizeof v);
        l->told++;
    }
}

/* ---- witnesses and circuits ---- */

/* A hash whose padding is another one: true digests of a function that is not SHAKE256. */
static void other_padding(liar *l) {
    const uint64_t padding = UINT64_C(0x8000000000000006);
    CHECK_EQ_INT(circuit_build_hash(&l->own), 0);
    l->has_own = 1;
    l->own.source[LIAR_WORDS].value = padding;
    for (size_t s = 0; s < LIAR_SIGNERS; s++) {
        uint64_t state[25] = {0};
        for (size_t j = 0; j < LIAR_WORDS; j++)
            state[j] = l->hash_words[j * LIAR_SIGNERS + s];
        state[LIAR_WORDS] = padding;
        keccak_f1600_ref(state);
        for (size_t p = 0; p < 4; p++)
            l->hash_publics[p * LIAR_SIGNERS + s] = state[p];
    }
}

static void own_circuit(liar *l) {
    CHECK_EQ_INT(circuit_build_leanxmss(&l->own, l->f.epoch, l->f.message_words), 0);
    l->has_own = 1;
}

/* The path need not end in the root's second word. */
static void root_link_left_out(liar *l) {
    own_circuit(l);
    l->own.n_links--;
    l->f.publics[(LX_ROOT + 1) * LIAR_SIGNERS + 1] ^= 1;
}

/* The last chain's end is whatever it is. */
static void end_place_left_out(liar *l) {
    own_circuit(l);
    l->own.n_pull--;
}

static void another_p(liar *l) {
    l->f.publics[LX_P * LIAR_SIGNERS + 1] ^= 1;
}

static void digest_changed(liar *l) {
    l->hash_publics[LIAR_SIGNERS + 1] ^= UINT64_C(1) << 40;
}

/* One signer in two places of the list. */
static void key_twice(liar *l) {
    memcpy(l->f.public_keys[1], l->f.public_keys[0], sizeof l->f.public_keys[0]);
    memcpy(l->f.signatures[1], l->f.signatures[0], sizeof l->f.signatures[0]);
    forge_honest(&l->f);
}

/* Eight slots of which the verifier sees three: what the honest prover repeats may be chosen. */
static void eight_slots(liar *l) {
    for (size_t p = 0; p < LX_PUBLICS; p++)
        for (size_t s = 0; s < LIAR_SLOTS; s++)
            l->more_publics[p * LIAR_SLOTS + s] =
                l->f.publics[p * LIAR_SIGNERS + (s < LIAR_SIGNERS ? s : LIAR_SIGNERS - 1)];
    witness_lx_store(l->more_words, LIAR_SLOTS, 0, l->f.slots, LIAR_SLOTS);
    witness_lx_multiplicities(l->f.multiplicities, l->more_words, LIAR_SLOTS);
    l->w.words = l->more_words;
    l->proven = (leaf_statement){.signers = LIAR_SLOTS, .publics = l->more_publics};
}

/* The last slots walk their chains in another order: as good a witness. */
static void other_slots_past_the_last(liar *l) {
    for (size_t s = LIAR_SIGNERS; s < LIAR_SLOTS; s++) {
        forge_row walk[LEANXMSS_STEPS], rows[LEANXMSS_STEPS];
        size_t n = 0;
        CHECK_EQ_U64(forge_walk(walk, l->f.positions[s]), LEANXMSS_STEPS);
        for (size_t c = LEANXMSS_CHAINS; c-- > 0;)
            for (size_t i = 0; i < LEANXMSS_STEPS; i++)
                if (walk[i].chain == c)
                    rows[n++] = walk[i];
        forge_rows(&l->f.slots[s], rows);
    }
    forge_chains(&l->f);
    forge_path(&l->f);
    CHECK(memcmp(l->f.slots[2].words, l->f.slots[5].words, sizeof l->f.slots[2].words) != 0);
    eight_slots(l);
}

static void false_slot_past_the_last(liar *l) {
    eight_slots(l);
    l->more_words[(LX_LEAF + 30) * LIAR_SLOTS + 5] ^= 1;
}

/* At this rate a row of the committed matrix is 32 words of every slot; the last row with words of the
 * circuit has room for more. */
static void words_past_the_last(liar *l) {
    const size_t words = round_up(LX_WORDS, 32);
    uint64_t seed = l->pristine.seed;
    own_circuit(l);
    l->own.words = (unsigned)words;
    memcpy(l->more_words, l->f.words, sizeof l->f.words);
    for (size_t i = (size_t)LX_WORDS * LIAR_SIGNERS; i < words * LIAR_SIGNERS; i++)
        l->more_words[i] = t_rand64(&seed);
    l->w.words = l->more_words;
}

/* ---- statements ---- */

static void another_message(liar *l) {
    l->message[31] ^= 0x80;
}
static void another_epoch(liar *l) {
    l->shown.epoch ^= 1;
}
static void keys_in_another_order(liar *l) {
    uint8_t first[32];
    memcpy(first, l->items, 32);
    memcpy(l->items, l->items + 32, 32);
    memcpy(l->items + 32, first, 32);
}
static void another_key(liar *l) {
    l->items[32 + 3] ^= 1;
} /* its root */
static void another_keys_p(liar *l) {
    l->items[32 + 19] ^= 1;
} /* its P */
static void fewer(liar *l) {
    l->shown.count = 2;
}
static void more(liar *l) {
    l->shown.count = 4;
    for (size_t i = 0; i < 32; i++)
        l->items[96 + i] = (uint8_t)(i + 1);
}
static void a_rate_of_fewer_queries(liar *l) {
    l->shown_rate = l->rate + 1;
}
static void rate_of_zero(liar *l) {
    l->shown_rate = 0;
}
static void another_kind(liar *l) {
    l->shown.kind = SHEAF_KIND_LEANXMSS + SHEAF_KIND_HASH - l->shown.kind;
    l->shown.epoch = 0;
    memset(l->message, 0, 32);
}

/* A prover of another version of this protocol. */
static void another_first_chain(liar *l, msg_kind kind, uint64_t *words, size_t n) {
    (void)words, (void)n;
    if (kind != MSG_HEADER)
        return;
    l->c.t.chain[3] = l->c.t.s[3] = load64_le((const uint8_t *)"sion 002");
    l->told++;
}
static void another_version_word(liar *l, msg_kind kind, uint64_t *words, size_t n) {
    (void)words, (void)n;
    if (kind != MSG_ROOT || l->seen[MSG_ROOT] > 0)
        return;
    const leaf_statement *st = &l->leaf.st;
    const uint64_t version = 2, fixed[] = {3, st->signers, l->rate, st->n_binding};
    transcript_init(&l->c.t);
    transcript_absorb(&l->c.t, &l->header, 1);
    transcript_label(&l->c.t, "leaf    ");
    transcript_absorb(&l->c.t, &version, 1);
    transcript_absorb(&l->c.t, st->circuit->digest, 4);
    transcript_absorb(&l->c.t, fixed, 4);
    transcript_absorb(&l->c.t, st->binding, st->n_binding);
    l->told++;
}
/* Challenges that do not depend on the list, so that it could be chosen after them. */
static void nothing_bound(liar *l, msg_kind kind, uint64_t *words, size_t n) {
    (void)words, (void)n;
    if (kind != MSG_ROOT || l->seen[MSG_ROOT] > 0)
        return;
    leaf_statement st = l->leaf.st;
    st.n_binding = 0;
    liar_absorb(l, &st);
    l->told++;
}
/* Challenges that do not depend on the committed words. */
static void root_not_absorbed(liar *l, msg_kind kind, uint64_t *words, size_t n) {
    (void)words, (void)n;
    if (kind != MSG_MULTIPLICITY)
        return;
    liar_absorb(l, &l->leaf.st);
    l->told++;
}

/* ---- bytes ---- */

static void a_byte_more(liar *l) {
    tx_append(&l->c, MSG_OPENING, "a byte.", 8), l->c.len -= 7;
}
static void no_proof(liar *l) {
    l->c.len = 0;
}
static void a_word_fewer(liar *l) {
    l->c.len -= 8;
}
/* Only the header is read: 2^14 + 1 signers have no parameters at R = 6. */
enum { TOO_MANY = (1 << 14) + 1 };
static void too_many_for_the_rate(liar *l) {
    static uint8_t list[32 * TOO_MANY];
    const uint64_t header = TOO_MANY | UINT64_C(6) << 32;
    CHECK(params_lookup(PARAMS_LEANXMSS, circuit_log_slots(TOO_MANY), 6) == NULL);
    for (uint32_t i = 0; i < TOO_MANY; i++)
        store32_le(list + 32 * (size_t)i, i);
    l->shown.items = list;
    l->shown.count = TOO_MANY;
    store64_le(l->c.out, header);
}

/* ---- expectations ---- */

static void expect_another_message(liar *l) {
    l->expected_message[0] ^= 1;
}
static void expect_another_epoch(liar *l) {
    l->expected_epoch ^= 1;
}
/* Smaller and larger than the one that is shown: the lists are compared sorted. */
static void expect_a_smaller_key(liar *l) {
    memset(l->expected_items + 32, 0, 32);
}
static void expect_a_larger_key(liar *l) {
    memset(l->expected_items + 32, 0xff, 32);
}
static void expect_fewer(liar *l) {
    l->expected.n_items--;
}
static void expect_a_key_twice(liar *l) {
    memcpy(l->expected_items + 32, l->expected_items, 32);
}
static void expect_items_that_are_not_there(liar *l) {
    l->expected.items = NULL;
}
static void expect_another_order(liar *l) {
    memcpy(l->expected_items, l->items + 32, 32);
    memcpy(l->expected_items + 32, l->items, 32);
}

/* ---- the table ---- */

#define LIE(k, which, at, change) .tells = 1, .kind = (k), .nth = (which), .word = (at), .add = (change)
#define TELL(k, which, how) .tells = 1, .kind = (k), .nth = (which), .tell = (how)
#define FLIP(at) .flips = 1, .flip = (at)
#define BY(c, i) .status = SHEAF_REJECTED, .check = SHEAF_CHECK_##c, .index = (i)
#define ACCEPTED .status = SHEAF_OK

enum { ROUNDS = 11 + 9, M = 3, KAPPA = 8 }; /* sumcheck rounds of an aggregate's Keccak layer */

/* A row without a name begins a part; one with an attack stands for those of leanxmss_forge.h. An aggregate's
 * grand product has height 11: its root has two children, then come five layers of 1, 3, 5, 7, 9 rounds. */
static const lying_prover provers[] = {
    {.lie = "The header, roots, nonces and openings"},
    {"another number of signers", "the header has one signer more or fewer", AGGREGATE,
     LIE(MSG_HEADER, 0, 0, 1), BY(HEADER, 0)},
    {"a first rate out of range", "the header's rate is 12", AGGREGATE,
     LIE(MSG_HEADER, 0, 0, UINT64_C(1) << 35), BY(HEADER, 0)},
    {"a rate of zero", "the header's rate is the one that means the default to a prover", BATCH,
     .show = rate_of_zero, .repaired = 1, BY(HEADER, 0)},
    {"a stray bit in the header", "bit 63 of the header is set", BATCH,
     LIE(MSG_HEADER, 0, 0, UINT64_C(1) << 63), BY(HEADER, 0)},
    {"a rate without parameters", "the shape has no row at the header's rate", AGGREGATE,
     .finish = too_many_for_the_rate, BY(HEADER, 0)},
    {"the first root", "the root of the committed words is another", AGGREGATE, LIE(MSG_ROOT, 0, 0, 1),
     BY(MERKLE, 0)},
    {"the second root", "the root of the folded word is another", AGGREGATE, LIE(MSG_ROOT, 1, 3, 1),
     BY(MERKLE, 1)},
    {"a nonce that misses", "a nonce does not meet its target", AGGREGATE,
     TELL(MSG_NONCE, 0, nonce_that_misses), BY(GRINDING, 0)},
    {"a later nonce that misses", "the second level's nonce does not meet its target", AGGREGATE,
     TELL(MSG_NONCE, 1, nonce_that_misses), BY(GRINDING, 1)},
    {"a leaf of an opening", "an answer to a query is not the committed one", AGGREGATE,
     LIE(MSG_OPENING, 0, 5, 1), BY(MERKLE, 0)},
    {"a node of an opening", "a digest of a path is another", AGGREGATE, LIE(MSG_OPENING, -1, 3, 1),
     BY(MERKLE, 1)},
    {"a byte more", "a byte follows the proof", BATCH, .finish = a_byte_more, BY(TRAILING, 0)},
    {"no proof", "the proof is empty", BATCH, .finish = no_proof, BY(TRUNCATED, 0)},
    {"a word fewer", "the proof's last word is not there", BATCH, .finish = a_word_fewer, BY(TRUNCATED, 0)},

    {.lie = "Multiplicities and the bus"},
    {"one multiplicity", "the look-ups of a step are one more or fewer", AGGREGATE,
     LIE(MSG_MULTIPLICITY, 0, 2, 1), BY(MULTIPLICITY, 7)},
    {"multiplicities that wrap around", "two are 2^63 more: the sum is right modulo 2^64", AGGREGATE,
     TELL(MSG_MULTIPLICITY, 0, wrap_multiplicities), BY(MULTIPLICITY, 0)},
    {"two multiplicities, the sum kept", "a look-up is moved to another step", AGGREGATE,
     TELL(MSG_MULTIPLICITY, 0, move_multiplicity), BY(BUS_BALANCE, 0)},
    {"a child of the push root", "a factor of the push product is another", AGGREGATE,
     LIE(MSG_BUS_TAIL, 0, 0, 1), BY(BUS_BALANCE, 0)},
    {"a child of the pull root", "a factor of the pull product is another", AGGREGATE,
     LIE(MSG_BUS_TAIL, 0, -1, 1), BY(BUS_BALANCE, 0)},
    {"two children of the root, the product kept", "two factors of one side change, their product does not",
     AGGREGATE, TELL(MSG_BUS_TAIL, 0, same_product), BY(BUS_LAYER, 1)},
    {"a child of both roots, the balance kept", "a factor of each side changes by the same", AGGREGATE,
     TELL(MSG_BUS_TAIL, 0, same_balance), BY(BUS_LAYER, 1)},
    {"the first bus round", "a coefficient of a round is another", AGGREGATE, LIE(MSG_BUS_ROUND, 0, 0, 1),
     BY(BUS_LAYER, 1)},
    {"a bus round of the second layer", "the highest coefficient of a round is another", AGGREGATE,
     LIE(MSG_BUS_ROUND, 3, 11, 1), BY(BUS_LAYER, 2)},
    {"the last bus round", "the last round before the leaves is another", AGGREGATE,
     LIE(MSG_BUS_ROUND, 24, 5, 1), BY(BUS_LAYER, 5)},
    {"a bus tail", "a value that a layer ends in is another", AGGREGATE, LIE(MSG_BUS_TAIL, 2, 4, 1),
     BY(BUS_LAYER, 2)},
    {"a bus tail, the product kept", "two values that a layer ends in change, their product does not",
     AGGREGATE, TELL(MSG_BUS_TAIL, 2, same_product), BY(BUS_LAYER, 3)},
    {"the last bus tail, the product kept", "two values at the leaves change, their product does not",
     AGGREGATE, TELL(MSG_BUS_TAIL, 5, same_product), BY(OPENING, 0)},

    {.lie = "The outer claim, the Keccak layers, the input layer"},
    {"v_out", "the claim on the rows' outputs is another", AGGREGATE, LIE(MSG_V_OUT, 0, 0, 1), BY(LAYER, 23)},
    {"a false digest and v_out to fit", "v_out makes the links hold with a digest that no message has", BATCH,
     .show = false_digest, .repaired = 1, .listen = v_out_for_false_digest, BY(LAYER, 23)},
    {"layer 23, a round over s", "a coefficient of a round over the slots is another", AGGREGATE,
     LIE(MSG_LAYER_ROUND, 0, 0, 1), BY(LAYER, 23)},
    {"layer 23, a round over k", "a coefficient of a round over the rows is another", AGGREGATE,
     LIE(MSG_LAYER_ROUND, M, 8, 1), BY(LAYER, 23)},
    {"layer 23, a round over z", "a coefficient of a round over the bits is another", AGGREGATE,
     LIE(MSG_LAYER_ROUND, M + KAPPA, 3, 1), BY(LAYER, 23)},
    {"layer 23, a round over y", "a coefficient of a round over the planes is another", AGGREGATE,
     LIE(MSG_LAYER_ROUND, M + KAPPA + 6, 0, 1), BY(LAYER, 23)},
    {"layer 23, its tail", "a value that the layer ends in is another", AGGREGATE,
     LIE(MSG_LAYER_TAIL, 0, 0, 1), BY(LAYER, 23)},
    {"layer 22, a round over s", "a round over the slots, of a layer that starts from another", AGGREGATE,
     LIE(MSG_LAYER_ROUND, ROUNDS + 1, 0, 1), BY(LAYER, 22)},
    {"layer 13, a round over k", "a round over the rows, of such a layer", AGGREGATE,
     LIE(MSG_LAYER_ROUND, 10 * ROUNDS + 5, 4, 1), BY(LAYER, 13)},
    {"layer 0, a round over z", "a round over the bits, of such a layer", AGGREGATE,
     LIE(MSG_LAYER_ROUND, 23 * ROUNDS + 13, 1, 1), BY(LAYER, 0)},
    {"layer 0, a round over y", "a round over the planes, of such a layer", AGGREGATE,
     LIE(MSG_LAYER_ROUND, 24 * ROUNDS - 1, 2, 1), BY(LAYER, 0)},
    {"layer 0, its tail", "a value that the last layer ends in is another", AGGREGATE,
     LIE(MSG_LAYER_TAIL, 23, 14, 1), BY(LAYER, 0)},
    {"layer 9, a tail that fits", "values that satisfy the layer's equation and are false", AGGREGATE,
     .listen = tail_9_that_fits, BY(LAYER, 8)},
    {"layer 0, a tail that fits", "values of the last layer that satisfy its equation and are false",
     AGGREGATE, .listen = tail_0_that_fits, BY(INPUT, 0)},
    {"another padding", "the layers are of a hash with another padding, and so are the digests", BATCH,
     .make = other_padding, BY(INPUT, 0)},
    {"the first input round", "a coefficient of a round over the words is another", AGGREGATE,
     LIE(MSG_INPUT_ROUND, 0, 0, 1), BY(INPUT, 0)},
    {"the last input round", "the last such round is another", AGGREGATE, LIE(MSG_INPUT_ROUND, 9, 5, 1),
     BY(INPUT, 0)},
    {"a slice", "a bit's value at the point is another", AGGREGATE, LIE(MSG_SLICES, 0, 100, 1), BY(INPUT, 0)},
    {"slices that fit", "slices that satisfy the input equation and are false", AGGREGATE,
     .listen = slices_that_fit, BY(OPENING, 0)},

    {.lie = "The opening"},
    {"the first opening round", "a coefficient of the first round is another", AGGREGATE,
     LIE(MSG_WHIR_ROUND, 0, 0, 1), BY(OPENING, 0)},
    {"the last opening round", "a round after the last word is another", AGGREGATE,
     LIE(MSG_WHIR_ROUND, -1, 5, 1), BY(OPENING, 0)},
    {"a round between two words", "a round of the second level is another", AGGREGATE,
     LIE(MSG_WHIR_ROUND, 6, 2, 1), BY(OPENING, 0)},
    {"an out-of-domain answer", "the folded word's value out of its domain is another", AGGREGATE,
     LIE(MSG_OOD, 0, 0, 1), BY(OPENING, 0)},
    {"the last word", "an element of the last word is another", AGGREGATE, LIE(MSG_LAST_WORD, 0, 7, 1),
     BY(OPENING, 0)},

    {.lie = "Committed words, the rest honest"},
    {"a word of a message", "a hash is of another message than the digest", BATCH, FLIP(5), BY(OPENING, 0)},
    {"a word of a digest", "a digest is of another message than the committed one", BATCH,
     .make = digest_changed, BY(OPENING, 0)},
    {"a word of the randomizer", "row ENC is of another randomizer than the signature's", AGGREGATE,
     FLIP(LX_RANDOMIZER), BY(OPENING, 0)},
    {"a CHAIN row's input", "a step starts from a value that nothing pushed", AGGREGATE,
     FLIP(LX_CHAIN + 5 * 30), BY(BUS_BALANCE, 0)},
    {"a CHAIN row's position", "a step is of a position that its chain is not at", AGGREGATE,
     FLIP(LX_CHAIN + 5 * 30 + 2), BY(BUS_BALANCE, 0)},
    {"a CHAIN row's next position", "a step leads to a position that is not the next", AGGREGATE,
     FLIP(LX_CHAIN + 5 * 30 + 3), BY(BUS_BALANCE, 0)},
    {"a CHAIN row's chain", "a step is of another chain than its value", AGGREGATE,
     FLIP(LX_CHAIN + 5 * 30 + 4), BY(BUS_BALANCE, 0)},
    {"a START position", "a chain starts where none of its steps goes on", AGGREGATE, FLIP(LX_START + 3 * 7),
     BY(BUS_BALANCE, 0)},
    {"a START value", "a chain starts from another value than its first step", AGGREGATE,
     FLIP(LX_START + 3 * 7 + 1), BY(BUS_BALANCE, 0)},
    {"an END value", "the leaf is made with a value that no chain ended in", AGGREGATE, FLIP(LX_END + 2 * 7),
     BY(BUS_BALANCE, 0)},
    {"a word of a LEAF block", "a block of the sponge does not go on from the one before", AGGREGATE,
     FLIP(LX_LEAF + 25 + 3), BY(OPENING, 0)},
    {"a child on the path", "a node is made from another child than the row below gives", AGGREGATE,
     FLIP(LX_MERKLE + 4 * 8), BY(OPENING, 0)},
    {"a link left out", "a circuit without the link to the root, and another root", AGGREGATE,
     .make = root_link_left_out, BY(LAYER, 23)},
    {"a bus place left out", "a circuit in which the last chain has no end", AGGREGATE,
     .make = end_place_left_out, BY(BUS_BALANCE, 0)},
    {"another P", "the list's P is another than the one that the signature's chains were hashed with",
     AGGREGATE, .make = another_p, BY(BUS_BALANCE, 0)},
    {"a false slot past the last", "a slot that no signer has holds no signature", AGGREGATE,
     .make = false_slot_past_the_last, .repaired = 1, BY(OPENING, 0)},

    {.lie = "False witnesses that keep to everything that they can", .attack = forge_attacks},

    {.lie = "An honest proof for another statement"},
    {"another message", "a bit of the message", AGGREGATE, .show = another_message, BY(BUS_BALANCE, 0)},
    {"another epoch", "a bit of the epoch", AGGREGATE, .show = another_epoch, BY(BUS_BALANCE, 0)},
    {"keys in another order", "two keys exchanged", AGGREGATE, .show = keys_in_another_order,
     BY(BUS_BALANCE, 0)},
    {"another key", "a bit of a key's root", AGGREGATE, .show = another_key, BY(BUS_BALANCE, 0)},
    {"fewer signers", "two of three", AGGREGATE, .show = fewer, BY(HEADER, 0)},
    {"an aggregate as a batch", "the keys as digests", AGGREGATE, .show = another_kind, BY(LAYER, 23)},
    {"a batch as an aggregate", "the digests as keys", BATCH, .show = another_kind, BY(MULTIPLICITY, 0)},
    {"another version of the transcript", "its first 32 bytes are others", BATCH,
     .listen = another_first_chain, BY(LAYER, 23)},
    {"another version of the protocol", "the version that the transcript absorbs is 2", AGGREGATE,
     .listen = another_version_word, BY(BUS_BALANCE, 0)},
    {"nothing bound", "the transcript lacks the binding words, so that the list could be chosen last", BATCH,
     .listen = nothing_bound, BY(LAYER, 23)},
    {"the commitment not absorbed", "challenges that could be had before the words were committed to",
     AGGREGATE, .listen = root_not_absorbed, BY(BUS_BALANCE, 0)},
    {"one signer twice", "a proof that is true, of a list that has a key twice", AGGREGATE, .make = key_twice,
     .status = SHEAF_DUPLICATE_KEY, .index = 1},

    {.lie = "The same with the transcript of the statement that is shown"},
    {"another message, repaired", "row ENC hashes the message that was signed", AGGREGATE,
     .show = another_message, .repaired = 1, BY(INPUT, 0)},
    {"another epoch, repaired", "the rows' tweaks have the epoch that was signed", AGGREGATE,
     .show = another_epoch, .repaired = 1, BY(INPUT, 0)},
    {"keys in another order, repaired", "each slot has the other's signature", AGGREGATE,
     .show = keys_in_another_order, .repaired = 1, BY(INPUT, 0)},
    {"another key's root, repaired", "the path ends in the root that was signed under", AGGREGATE,
     .show = another_key, .repaired = 1, BY(OPENING, 0)},
    {"another key's P, repaired", "the rows hash the P that was signed under", AGGREGATE,
     .show = another_keys_p, .repaired = 1, BY(INPUT, 0)},
    {"fewer signers, repaired", "two of three", AGGREGATE, .show = fewer, .repaired = 1, BY(INPUT, 0)},
    {"more signers, repaired", "one that has not signed", AGGREGATE, .show = more, .repaired = 1,
     BY(INPUT, 0)},
    {"a batch of fewer, repaired", "two of three; the third hash is no repetition of the second", BATCH,
     .show = fewer, .repaired = 1, BY(OPENING, 0)},
    {"another rate, repaired",
     "the header has one rate and the words are committed to at one that wants more queries", AGGREGATE,
     .show = a_rate_of_fewer_queries, .repaired = 1, BY(MERKLE, 0)},
    {"an aggregate as a batch, repaired", "the keys as digests", AGGREGATE, .show = another_kind,
     .repaired = 1, BY(LAYER, 23)},

    {.lie = "A true proof that is not what the verifier asks for"},
    {"not the expected message", "the verifier asks for another message", AGGREGATE,
     .expect = expect_another_message, BY(STATEMENT, 0)},
    {"not the expected epoch", "the verifier asks for another epoch", AGGREGATE,
     .expect = expect_another_epoch, BY(STATEMENT, 0)},
    {"a key that was not expected", "the verifier asks for another set of as many keys", AGGREGATE,
     .expect = expect_a_larger_key, BY(STATEMENT, 0)},
    {"without a key that was expected",
     "the verifier asks for a set with a key that sorts before all that are shown", AGGREGATE,
     .expect = expect_a_smaller_key, BY(STATEMENT, 0)},
    {"more keys than expected", "the verifier asks for some of the keys", AGGREGATE, .expect = expect_fewer,
     BY(STATEMENT, 0)},
    {"digests in another order than expected", "the verifier asks for the same digests in another order",
     BATCH, .expect = expect_another_order, BY(STATEMENT, 0)},
    {"more digests than expected", "the verifier asks for some of the digests", BATCH, .expect = expect_fewer,
     BY(STATEMENT, 0)},
    {"items that are not there", "the verifier asks for a number of keys and has none", AGGREGATE,
     .expect = expect_items_that_are_not_there, .status = SHEAF_INVALID_ARGUMENT},
    {"a key expected twice", "the verifier asks for a list that has a key twice", AGGREGATE,
     .expect = expect_a_key_twice, .status = SHEAF_INVALID_ARGUMENT, .index = 1},

    {.lie = "What a prover is free in: it does no harm"},
    {"other slots past the last", "slots that no signer has hold another witness of the last signer",
     AGGREGATE, .make = other_slots_past_the_last, .repaired = 1, ACCEPTED},
    {"words past the last", "words that no row, link or bus place reads are committed to", AGGREGATE,
     .make = words_past_the_last, ACCEPTED},
    {"another nonce", "a nonce that meets its target and is not the smallest", AGGREGATE,
     TELL(MSG_NONCE, 0, nonce_that_fits_too), ACCEPTED},
    {"another nonce of a batch", "such a nonce at a batch's second level", BATCH_2_WORDS,
     TELL(MSG_NONCE, 1, nonce_that_fits_too), ACCEPTED},
};

enum { ROWS = sizeof provers / sizeof provers[0], MOST = ROWS + FORGE_ATTACKS + 1 };

/* Those of leanxmss_forge.h but the ones whose multiplicities alone are false, which have rows of their own.
 */
static size_t false_witnesses(lying_prover *out) {
    static char broken[FORGE_ATTACKS][64];
    size_t n = 0;
    for (size_t i = 0; i < FORGE_ATTACKS; i++) {
        const forge_attack_case *a = &forge_attacks[i];
        int at = 0;
        if (strncmp(a->name, "multiplicit", 11) == 0)
            continue;
        if (a->bad_links > 0)
            at = snprintf(broken[i], sizeof broken[i], "breaks %u link%s", (unsigned)a->bad_links,
                          a->bad_links == 1 ? "" : "s");
        if (a->bad_tuples > 0)
            snprintf(broken[i] + at, sizeof broken[i] - (size_t)at, "%s %u place%s of the bus",
                     at > 0 ? " and" : "breaks", (unsigned)a->bad_tuples, a->bad_tuples == 1 ? "" : "s");
        out[n++] = (lying_prover){.name = a->name,
                                  .lie = broken[i],
                                  .shape = AGGREGATE,
                                  .attack = a,
                                  .status = SHEAF_REJECTED,
                                  /* a false multiset is seen at the bus, before the links are */
                                  .check = a->bad_multiplicities ? SHEAF_CHECK_MULTIPLICITY
                                           : a->bad_tuples       ? SHEAF_CHECK_BUS_BALANCE
                                                                 : SHEAF_CHECK_OPENING};
    }
    return n;
}

static size_t all_provers(lying_prover all[MOST]) {
    size_t n = 0;
    for (size_t i = 0; i < ROWS; i++) {
        all[n++] = provers[i];
        if (provers[i].attack != NULL)
            n += false_witnesses(all + n);
    }
    return n;
}

/* Where its index is not the same for every seed, or not said. */
static int any_index(const lying_prover *p) {
    return p->check == SHEAF_CHECK_STATEMENT || (p->attack != NULL && p->check == SHEAF_CHECK_MULTIPLICITY);
}

/* ---- the tests ---- */

TEST(each_lying_prover_is_rejected_by_the_check_that_is_meant_for_it) {
    static liar l;
    static lying_prover all[MOST];
    const size_t n = all_provers(all);
    REQUIRE(liar_init(&l, t_seed()) == 0);
    CHECK_EQ_INT(liar_rehearse(&l), 0);
    for (size_t i = 0; i < n; i++) {
        const lying_prover *p = &all[i];
        sheaf_failure f;
        /* aggregates take their time; the verifier that meets them is the same code everywhere */
        if (p->name == NULL || (p->shape == AGGREGATE && i % slow_stride(10) != 0))
            continue;
        const int played = CHECK_EQ_INT(liar_play(&l, p), 0) & CHECK_EQ_INT(l.f.broken, 0) &
                           CHECK_EQ_INT(l.told, p->tells || p->listen != NULL);
        const int met = played && CHECK_EQ_INT(liar_verify(&l, &f), p->status) &
                                      CHECK_EQ_INT(f.check, p->check) &
                                      (any_index(p) || CHECK_EQ_U64(f.index, p->index));
        if (!met)
            printf("  in \"%s\": %s\n", p->name, played ? f.message : "not played");
    }
    liar_free(&l);
}

/* A false statement has a consistent proof up to the last equation: the links' claim on committed words is
 * what fails. */
TEST(a_batch_with_a_changed_word_is_rejected_at_the_opening) {
    static liar l;
    REQUIRE(liar_init(&l, t_seed()) == 0);
    for (unsigned word = 0; word < LIAR_WORDS; word += 5) {
        const lying_prover p = {"a word", "", BATCH, FLIP(word), BY(OPENING, 0)};
        sheaf_failure f;
        CHECK_EQ_INT(liar_play(&l, &p), 0);
        CHECK_EQ_INT(liar_verify(&l, &f), SHEAF_REJECTED);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_OPENING);
    }
    liar_free(&l);
}

/* ---- the table of the documentation ---- */

/* Rows that only have another layer, level or place in common with one before are not counted again. */
static int counts(const lying_prover *all, size_t i) {
    if (all[i].name == NULL || all[i].status == SHEAF_OK)
        return 0;
    for (size_t j = 0; j < i && all[i].tells && all[i].tell == NULL; j++)
        if (all[j].tells && all[j].kind == all[i].kind && all[j].tell == NULL && all[j].check == all[i].check)
            return 0;
    return 1;
}

static size_t print_table(char *out, size_t room, const lying_prover *all, size_t n) {
    size_t at = 0;
    unsigned told = 0, distinct = 0;
#define PRINT(...)                                                                                           \
    do {                                                                                                     \
        const int printed = snprintf(out + at, room - at, __VA_ARGS__);                                      \
        at += printed > 0 && (size_t)printed < room - at ? (size_t)printed : 0;                              \
    } while (0)
    for (size_t i = 0; i < n; i++) {
        const lying_prover *p = &all[i];
        told += p->name != NULL && p->status != SHEAF_OK;
        distinct += (unsigned)counts(all, i);
        if (p->name == NULL) {
            const int lies = i + 1 < n && all[i + 1].status != SHEAF_OK;
            PRINT("%s### %s\n\n| %s | %s | %s |\n|---|---|---|\n", i > 0 ? "\n" : "", p->lie,
                  lies ? "lying prover" : "prover", lies ? "its lie" : "what it does",
                  lies ? "rejected by" : "verdict");
            continue;
        }
        PRINT("| %s | %s | ", p->name, p->lie);
        if (p->status == SHEAF_REJECTED && (p->index > 0 || p->check == SHEAF_CHECK_LAYER) && !any_index(p))
            PRINT("`%s` %u |\n", sheaf_check_name(p->check), (unsigned)p->index);
        else if (p->status == SHEAF_REJECTED)
            PRINT("`%s` |\n", sheaf_check_name(p->check));
        else if (p->status == SHEAF_DUPLICATE_KEY)
            PRINT("the list |\n");
        else if (p->status == SHEAF_INVALID_ARGUMENT)
            PRINT("the expected list |\n");
        else
            PRINT("accepted |\n");
    }
    PRINT(
        "\nThat is %u lying provers; %u where the same word of the same kind of message at another layer or "
        "level is not counted again.\n",
        told, distinct);
#undef PRINT
    return at;
}

TEST(there_are_at_least_forty_lying_provers_each_by_its_own_name) {
    static lying_prover all[MOST];
    const size_t n = all_provers(all);
    unsigned distinct = 0;
    for (size_t i = 0; i < n; i++) {
        distinct += (unsigned)counts(all, i);
        if (all[i].name == NULL)
            continue;
        CHECK(all[i].lie[0] != 0);
        for (size_t j = 0; j < i; j++)
            if (!CHECK(all[j].name == NULL || strcmp(all[i].name, all[j].name) != 0))
                printf("  \"%s\" is there twice\n", all[i].name);
    }
    CHECK(distinct >= 40);
}

TEST(the_documentation_has_this_table) {
    static lying_prover all[MOST];
    static char table[32768], doc[65536];
    const size_t n = all_provers(all), len = print_table(table, sizeof table, all, n);
    FILE *file = fopen(SHEAF_SOURCE_DIR "/docs/lying-provers.md", "r");
    REQUIRE(file != NULL);
    doc[fread(doc, 1, sizeof doc - 1, file)] = 0;
    fclose(file);
    CHECK(len > 0 && len + 1 < sizeof table);
    if (!CHECK(strstr(doc, table) != NULL))
        printf("  test_leaf_lies --table prints the one that should be there\n");
}

/* ---- as files ---- */

/* Envelopes that no proof can mend: one change each. */
static const struct broken {
    const char *name;
    liar_shape shape;
    unsigned at, bytes;
    uint32_t value; /* little endian */
    long more;      /* bytes more or fewer at the end */
    int other_kind; /* asked for */
    sheaf_status status;
} broken[] = {
    {"another magic", BATCH, 0, 1, 0x54, 0, 0, SHEAF_MALFORMED},
    {"a header cut short", BATCH, 0, 0, 0, -1, 0, SHEAF_MALFORMED},
    {"another format version", BATCH, 8, 2, 2, 0, 0, SHEAF_UNSUPPORTED},
    {"an unknown kind", BATCH, 10, 2, 0x0102, 0, 0, SHEAF_UNSUPPORTED},
    {"no items", BATCH, 12, 4, 0, 0, 0, SHEAF_MALFORMED},
    {"a reserved byte", BATCH, 20, 4, 1, 0, 0, SHEAF_MALFORMED},
    {"a batch with an epoch", BATCH, 16, 4, 1, 0, 0, SHEAF_MALFORMED},
    {"a batch with a message", BATCH, 24, 1, 1, 0, 0, SHEAF_MALFORMED},
    {"a list cut short", BATCH, 12, 4, 1 << 20, 0, 0, SHEAF_MALFORMED},
    {"no length", BATCH, 0, 0, 0, -2, 0, SHEAF_MALFORMED},
    {"a proof too long", BATCH, 56 + 32 * LIAR_SIGNERS, 4, UINT32_MAX, 0, 0, SHEAF_MALFORMED},
    {"a proof cut short", BATCH, 56 + 32 * LIAR_SIGNERS, 4, 1 << 24, 0, 0, SHEAF_MALFORMED},
    {"a byte after the proof", BATCH, 0, 0, 0, 1, 0, SHEAF_MALFORMED},
    {"a batch where an aggregate is asked for", BATCH, 0, 0, 0, 0, 1, SHEAF_MALFORMED},
    {"an aggregate where a batch is asked for", AGGREGATE, 0, 0, 0, 0, 1, SHEAF_MALFORMED},
};

/* Its new length; -1: cut before the header's end, -2: before the proof's length. */
static size_t break_envelope(uint8_t *envelope, size_t len, const struct broken *b) {
    for (unsigned i = 0; i < b->bytes; i++)
        envelope[b->at + i] = (uint8_t)(b->value >> (8 * i));
    return b->more == -1 ? ENVELOPE_HEADER_BYTES - 1
           : b->more < 0 ? ENVELOPE_HEADER_BYTES + 32 * LIAR_SIGNERS + 3
                         : len + (size_t)b->more;
}

TEST(broken_envelopes_are_refused_before_any_proof) {
    static liar l;
    REQUIRE(liar_init(&l, t_seed()) == 0);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        const lying_prover honest = {.name = "honest", .shape = broken[i].shape};
        sheaf_failure f;
        CHECK_EQ_INT(liar_play(&l, &honest), 0);
        uint8_t *longer = realloc(l.envelope, l.envelope_len + 1);
        REQUIRE(longer != NULL);
        longer[l.envelope_len] = 0;
        l.envelope = longer;
        l.envelope_len = break_envelope(longer, l.envelope_len, &broken[i]);
        if (broken[i].other_kind)
            l.shown.kind = SHEAF_KIND_LEANXMSS + SHEAF_KIND_HASH - l.shown.kind;
        if (!CHECK_EQ_INT(liar_verify(&l, &f), broken[i].status))
            printf("  in \"%s\"\n", broken[i].name);
    }
    liar_free(&l);
}

static int write_file(const char *folder, const char *name, const uint8_t *bytes, size_t len) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return -1;
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return -1;
    const size_t written = fwrite(bytes, 1, len, file);
    return fclose(file) == 0 && written == len ? 0 : -1;
}

/* An envelope with what is expected as its statement, and no proof. */
static int write_expected(const liar *l, const char *folder, const char *name) {
    uint8_t out[ENVELOPE_HEADER_BYTES + 32 * LIAR_MOST_ITEMS + ENVELOPE_LENGTH_BYTES];
    sheaf_statement st = l->shown;
    st.epoch = l->expected_epoch;
    st.message = l->expected_message;
    st.count = (uint32_t)l->expected.n_items;
    envelope_header_write(out, &st);
    memcpy(out + ENVELOPE_HEADER_BYTES, l->expected_items, (size_t)32 * st.count);
    store32_le(out + ENVELOPE_HEADER_BYTES + 32 * st.count, 0);
    return write_file(folder, name, out, envelope_bytes(st.count, 0));
}

static int write_one(liar *l, const char *folder, FILE *manifest, size_t number, const char *title,
                     int other_kind) {
    char name[64], expected[64] = "-";
    sheaf_failure f;
    const int aggregate = (l->shown.kind == SHEAF_KIND_LEANXMSS) != other_kind;
    snprintf(name, sizeof name, "lie-%03u.sheaf", (unsigned)number);
    if (write_file(folder, name, l->envelope, l->envelope_len) != 0)
        return -1;
    if (l->expects && l->expected.items == NULL) {
        snprintf(expected, sizeof expected, "missing");
    } else if (l->expects) {
        snprintf(expected, sizeof expected, "lie-%03u-expected.sheaf", (unsigned)number);
        if (write_expected(l, folder, expected) != 0)
            return -1;
    }
    if (other_kind)
        l->shown.kind = SHEAF_KIND_LEANXMSS + SHEAF_KIND_HASH - l->shown.kind;
    const sheaf_status status = liar_verify(l, &f);
    return fprintf(manifest, "%s\t%s\t%s\t%d\t%s\t%llu\t%s\n", name, aggregate ? "aggregate" : "batch",
                   expected, (int)status, sheaf_check_name(f.check), (unsigned long long)f.index, title) < 0
               ? -1
               : 0;
}

static int write_all(const char *folder) {
    static liar l;
    static lying_prover all[MOST];
    const size_t n = all_provers(all);
    char path[4096];
    size_t number = 0;
    snprintf(path, sizeof path, "%s/manifest.tsv", folder);
    FILE *manifest = fopen(path, "w");
    if (manifest == NULL || liar_init(&l, UINT64_C(0x5eaf)) != 0 || liar_rehearse(&l) != 0)
        return -1;
    int result = 0;
    for (size_t i = 0; i < n && result == 0; i++)
        if (all[i].name != NULL)
            result =
                liar_play(&l, &all[i]) != 0 ? -1 : write_one(&l, folder, manifest, number++, all[i].name, 0);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0] && result == 0; i++) {
        const lying_prover honest = {.name = "honest", .shape = broken[i].shape};
        if (liar_play(&l, &honest) != 0)
            result = -1;
        uint8_t *longer = realloc(l.envelope, l.envelope_len + 1);
        if (longer == NULL)
            result = -1;
        if (result != 0)
            break;
        longer[l.envelope_len] = 0;
        l.envelope = longer;
        l.envelope_len = break_envelope(longer, l.envelope_len, &broken[i]);
        result = write_one(&l, folder, manifest, number++, broken[i].name, broken[i].other_kind);
    }
    for (liar_shape s = 0; s < LIAR_SHAPES && result == 0; s++) {
        const lying_prover honest = {.name = "honest", .shape = s};
        result = liar_play(&l, &honest) != 0 ? -1 : write_one(&l, folder, manifest, number++, "honest", 0);
    }
    liar_free(&l);
    return fclose(manifest) == 0 ? result : -1;
}

int main(int argc, char **argv) {
    static lying_prover all[MOST];
    static char table[32768];
    if (argc == 2 && strcmp(argv[1], "--table") == 0) {
        print_table(table, sizeof table, all, all_provers(all));
        fputs(table, stdout);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_all(argv[2]) == 0 ? 0 : 1;
    return t_main_(argc, argv);
}
