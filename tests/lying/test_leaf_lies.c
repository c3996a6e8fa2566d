/* Whole proofs by a prover that lies in one message and goes on from there, its transcript and all that follows repaired: which check
 * rejects it.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "t.h"
#include "support/leanxmss_forge.h"
#include "bus/bus.h"
#include "circuit/leaf.h"

typedef struct lie {
    msg_kind kind;
    unsigned nth;   /* which message of its kind */
    int word;       /* which of its words; negative: from the end */
    uint64_t add;   /* what is XORed into it */
    void (*tell)(uint64_t *words, size_t n); /* instead */
    sheaf_check check;
    uint64_t index;
    const char *name;
} lie;

typedef struct teller {
    const lie *l;
    unsigned seen, told;
} teller;

static void tell(void *ctx, msg_kind kind, uint64_t *words, size_t n) {
    teller *t = ctx;
    if (kind != t->l->kind || t->seen++ != t->l->nth) return;
    t->told++;
    if (t->l->tell) {
        t->l->tell(words, n);
        return;
    }
    words[t->l->word < 0 ? (size_t)((int)n + t->l->word) : (size_t)t->l->word] ^= t->l->add;
}

/* Two multiplicities change, their sum does not. */
static void move_multiplicity(uint64_t *words, size_t n) {
    words[0]--;
    words[n - 1]++;
}
static void wrap_multiplicities(uint64_t *words, size_t n) {
    words[0] += UINT64_C(1) << 63;
    words[n - 1] += UINT64_C(1) << 63;
}
/* Push's first two children change, their product does not. */
static void same_product(uint64_t *words, size_t n) {
    (void)n;
    gf192 a, b, by = {{3, 5, 7}};
    memcpy(a.c, words, sizeof a);
    memcpy(b.c, words + 3, sizeof b);
    a = gf192_mul(a, by);
    b = gf192_mul(b, gf192_inv(by));
    memcpy(words, a.c, sizeof a);
    memcpy(words + 3, b.c, sizeof b);
}

typedef struct rig {
    circuit c;
    leaf_statement st;
    leaf_witness w;
    uint64_t binding[9];
} rig;

static void run_lies(const rig *g, const lie *lies, size_t n) {
    for (size_t i = 0; i < n; i++) {
        teller t = {&lies[i], 0, 0};
        env e = {.pool = pool_create(2)};
        sheaf_failure f;
        tx c;
        tx_init(&c);
        c.hook = tell;
        c.hook_ctx = &t;
        CHECK_EQ_INT(leaf_prove_on(&c, &e, &g->st, &g->w, 0, &f), SHEAF_OK);
        CHECK_EQ_INT(t.told, 1);
        CHECK_EQ_INT(leaf_verify(c.out, c.len, &g->st, NULL, &f), SHEAF_REJECTED);
        const int as_meant = CHECK_EQ_INT(f.check, lies[i].check) & CHECK_EQ_U64(f.index, lies[i].index);
        if (!as_meant)
            printf("  in \"%s\": %s\n", lies[i].name, f.message);
        tx_free(&c);
        pool_destroy(e.pool);
    }
}

enum { ROUNDS = 11 + 9, M = 3, KAPPA = 8 }; /* sumcheck rounds of a Keccak layer with eight slots */

TEST(each_lie_in_an_aggregate_is_rejected_by_its_check) {
    static forge f;
    REQUIRE(forge_init(&f, 77, t_seed()) == 0);
    forge_honest(&f);
    rig g;
    CHECK_EQ_INT(circuit_build_leanxmss(&g.c, f.epoch, f.message_words), 0);
    memset(g.binding, 0, sizeof g.binding);
    g.st = (leaf_statement){&g.c, FORGE_SIGNERS, f.publics, g.binding, 9};
    g.w = (leaf_witness){f.words, f.multiplicities};
    /* the grand product has height 11: its root has two children, then five layers of 1, 3, 5, 7, 9 rounds */
    static const lie lies[] = {
        {MSG_HEADER, 0, 0, 1, NULL, SHEAF_CHECK_HEADER, 0, "another number of signers"},
        {MSG_HEADER, 0, 0, UINT64_C(1) << 35, NULL, SHEAF_CHECK_HEADER, 0, "a first rate out of range"},
        {MSG_HEADER, 0, 0, UINT64_C(1) << 63, NULL, SHEAF_CHECK_HEADER, 0, "a stray bit in the header"},
        {MSG_ROOT, 0, 0, 1, NULL, SHEAF_CHECK_MERKLE, 0, "the first root"},
        {MSG_ROOT, 1, 3, 1, NULL, SHEAF_CHECK_MERKLE, 1, "the second root"},
        {MSG_MULTIPLICITY, 0, 2, 1, NULL, SHEAF_CHECK_MULTIPLICITY, 7, "one multiplicity"},
        {MSG_MULTIPLICITY, 0, 0, 0, wrap_multiplicities, SHEAF_CHECK_MULTIPLICITY, 0, "multiplicities that wrap around"},
        {MSG_MULTIPLICITY, 0, 0, 0, move_multiplicity, SHEAF_CHECK_BUS_BALANCE, 0, "two multiplicities, the sum kept"},
        {MSG_BUS_TAIL, 0, 0, 1, NULL, SHEAF_CHECK_BUS_BALANCE, 0, "a child of the push root"},
        {MSG_BUS_TAIL, 0, -1, 1, NULL, SHEAF_CHECK_BUS_BALANCE, 0, "a child of the pull root"},
        {MSG_BUS_TAIL, 0, 0, 0, same_product, SHEAF_CHECK_BUS_LAYER, 1, "two children of the root, the product kept"},
        {MSG_BUS_ROUND, 0, 0, 1, NULL, SHEAF_CHECK_BUS_LAYER, 1, "the first bus round"},
        {MSG_BUS_ROUND, 3, 11, 1, NULL, SHEAF_CHECK_BUS_LAYER, 2, "a bus round of the second layer"},
        {MSG_BUS_ROUND, 24, 5, 1, NULL, SHEAF_CHECK_BUS_LAYER, 5, "the last bus round"},
        {MSG_BUS_TAIL, 2, 4, 1, NULL, SHEAF_CHECK_BUS_LAYER, 2, "a bus tail"},
        {MSG_BUS_TAIL, 2, 0, 0, same_product, SHEAF_CHECK_BUS_LAYER, 3, "a bus tail, the product kept"},
        {MSG_BUS_TAIL, 5, 0, 0, same_product, SHEAF_CHECK_OPENING, 0, "the last bus tail, the product kept"},
        {MSG_V_OUT, 0, 0, 1, NULL, SHEAF_CHECK_LAYER, 23, "v_out"},
        {MSG_LAYER_ROUND, 0, 0, 1, NULL, SHEAF_CHECK_LAYER, 23, "layer 23, a round over s"},
        {MSG_LAYER_ROUND, M, 8, 1, NULL, SHEAF_CHECK_LAYER, 23, "layer 23, a round over k"},
        {MSG_LAYER_ROUND, M + KAPPA, 3, 1, NULL, SHEAF_CHECK_LAYER, 23, "layer 23, a round over z"},
        {MSG_LAYER_ROUND, M + KAPPA + 6, 0, 1, NULL, SHEAF_CHECK_LAYER, 23, "layer 23, a round over y"},
        {MSG_LAYER_TAIL, 0, 0, 1, NULL, SHEAF_CHECK_LAYER, 23, "layer 23, its tail"},
        {MSG_LAYER_ROUND, ROUNDS + 1, 0, 1, NULL, SHEAF_CHECK_LAYER, 22, "layer 22, a round over s"},
        {MSG_LAYER_ROUND, 10 * ROUNDS + 5, 4, 1, NULL, SHEAF_CHECK_LAYER, 13, "layer 13, a round over k"},
        {MSG_LAYER_ROUND, 23 * ROUNDS + 13, 1, 1, NULL, SHEAF_CHECK_LAYER, 0, "layer 0, a round over z"},
        {MSG_LAYER_ROUND, 24 * ROUNDS - 1, 2, 1, NULL, SHEAF_CHECK_LAYER, 0, "layer 0, a round over y"},
        {MSG_LAYER_TAIL, 23, 14, 1, NULL, SHEAF_CHECK_LAYER, 0, "layer 0, its tail"},
        {MSG_INPUT_ROUND, 0, 0, 1, NULL, SHEAF_CHECK_INPUT, 0, "the first input round"},
        {MSG_INPUT_ROUND, 9, 5, 1, NULL, SHEAF_CHECK_INPUT, 0, "the last input round"},
        {MSG_SLICES, 0, 100, 1, NULL, SHEAF_CHECK_INPUT, 0, "a slice"},
        {MSG_WHIR_ROUND, 0, 0, 1, NULL, SHEAF_CHECK_OPENING, 0, "the first opening round"},
        {MSG_WHIR_ROUND, 12, 5, 1, NULL, SHEAF_CHECK_OPENING, 0, "the last opening round"},
        {MSG_OOD, 0, 0, 1, NULL, SHEAF_CHECK_OPENING, 0, "an out-of-domain answer"},
        {MSG_LAST_WORD, 0, 7, 1, NULL, SHEAF_CHECK_OPENING, 0, "the last word"},
    };
    run_lies(&g, lies, sizeof lies / sizeof *lies);
    circuit_free(&g.c);
}

/* A false statement has a consistent proof up to the last equation: the links' claim on committed words is what fails. */
TEST(a_batch_with_a_changed_word_is_rejected_at_the_opening) {
    rig g;
    uint64_t words[16 * 3], publics[4 * 3], seed = t_seed();
    uint8_t messages[3 * 128];
    env e = {0};
    t_rand_bytes(&seed, messages, sizeof messages);
    witness_hash(words, publics, &e, 3, messages);
    CHECK_EQ_INT(circuit_build_hash(&g.c), 0);
    g.st = (leaf_statement){&g.c, 3, publics, g.binding, 4};
    g.w = (leaf_witness){words, NULL};
    memset(g.binding, 0, sizeof g.binding);
    for (unsigned i = 0; i < 4; i++) {
        uint8_t *proof;
        size_t len;
        sheaf_failure f;
        uint64_t *at = i < 2 ? &words[20 * i + 2] : &publics[5 * (i - 2) + 1];
        *at ^= UINT64_C(1) << 40;
        CHECK_EQ_INT(leaf_prove(&proof, &len, &e, &g.st, &g.w, 0, &f), SHEAF_OK);
        CHECK_EQ_INT(leaf_verify(proof, len, &g.st, NULL, &f), SHEAF_REJECTED);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_OPENING);
        mem_free(NULL, proof);
        *at ^= UINT64_C(1) << 40;
        CHECK_EQ_INT(leaf_prove(&proof, &len, &e, &g.st, &g.w, 0, &f), SHEAF_OK);
        CHECK_EQ_INT(leaf_verify(proof, len, &g.st, NULL, &f), SHEAF_OK);
        mem_free(NULL, proof);
    }
    circuit_free(&g.c);
}

T_MAIN()
