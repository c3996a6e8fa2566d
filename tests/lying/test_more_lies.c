/* Lies that keep the equation of the check that reads them, so that a later check has to find them; words
 * that keep every claim but their queries'; and a lie in every message of a batch's proof.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Such lies need challenges that the prover has had. The hook is called before its message is absorbed: it
 * forks the transcript there and squeezes what the prover is about to squeeze. */
#include "t.h"
#include "support/bus_rig.h"
#include "support/follower.h"
#include "support/leanxmss_forge.h"
#include "support/whir_rig.h"
#include "circuit/leaf.h"
#include "circuit/outer.h"
#include "hash/keccak.h"
#include "keccak_gkr/layers.h"
#include "ntt/ntt.h"

/* ---- Keccak layers: other values of the same chi claim ---- */

static void follow_hook(void *ctx, msg_kind kind, uint64_t *words, size_t n) {
    follow(ctx, kind, words, n);
}

enum { RIG_M = 3, RIG_ROWS = 2, RIG_SLOTS = 1 << RIG_M };

typedef struct layers_rig {
    layers_shape sh;
    uint64_t words[25 * RIG_ROWS][RIG_SLOTS];
    lane_input in[25 * RIG_ROWS];
    gf192 omega[25 * RIG_ROWS], zeta[RIG_M], v_out;
} layers_rig;

static void layers_rig_init(layers_rig *g, uint64_t *seed) {
    gf192 eq[RIG_SLOTS];
    g->sh = (layers_shape){RIG_M, 1, RIG_ROWS};
    g->v_out = GF192_ZERO;
    for (size_t n = 0; n < RIG_M; n++)
        g->zeta[n] = rand_e(seed);
    eq_table(eq, g->zeta, RIG_M);
    for (size_t i = 0; i < 25 * RIG_ROWS; i++) {
        g->omega[i] = rand_e(seed);
        g->in[i] = (lane_input){g->words[i], 0};
        for (size_t s = 0; s < RIG_SLOTS; s++)
            g->words[i][s] = t_rand64(seed);
    }
    for (size_t k = 0; k < RIG_ROWS; k++)
        for (size_t s = 0; s < RIG_SLOTS; s++) {
            uint64_t a[25];
            for (size_t l = 0; l < 25; l++)
                a[l] = g->words[25 * k + l][s];
            keccak_f1600_ref(a);
            for (size_t l = 0; l < 25; l++)
                g->v_out = gf192_add(g->v_out, gf192_mul(eq[s], gf192_mul_k(g->omega[25 * k + l], a[l])));
        }
}

/* Proves with a false tail in `target` and verifies. The claims left on the inputs go to the prover's and
 * the verifier's; w is theirs both. */
static void layers_with(const layers_rig *g, unsigned target, layers_claim *proven, layers_claim *seen,
                        sheaf_failure *fail) {
    env e = {0};
    tx c;
    rx v;
    follower f;
    layers_trace *t = layers_trace_create(&e, g->sh, (size_t)1 << g->sh.m, g->in, 0);
    REQUIRE(t != NULL);
    tx_init(&c);
    follower_init(&f, &c, g->sh, g->omega, target);
    c.hook = follow_hook;
    c.hook_ctx = &f;
    CHECK_EQ_INT(layers_prove(&c, &e, proven, t, g->omega, g->zeta, g->v_out), 0);
    CHECK_EQ_INT(f.told, target != HONEST);
    CHECK_MEM(f.w, proven->w, sizeof f.w); /* it has followed */
    layers_trace_destroy(&e, t);
    rx_init(&v, c.out, c.len);
    int result = layers_verify(&v, seen, g->sh, g->omega, g->zeta, g->v_out);
    CHECK_EQ_INT(result == 0 ? SHEAF_OK : SHEAF_REJECTED, v.fail.status);
    *fail = v.fail;
    rx_free(&v);
    tx_free(&c);
}

/* A layer's check accepts them; the next one does not; after layer 0 the claim on the inputs is false. */
TEST(other_values_of_the_same_claim_are_rejected_one_layer_on) {
    static layers_rig g;
    static layers_claim proven, seen;
    uint64_t seed = t_seed();
    sheaf_failure f;
    layers_rig_init(&g, &seed);
    layers_with(&g, HONEST, &proven, &seen, &f);
    CHECK_EQ_INT(f.status, SHEAF_OK);
    CHECK(gf192_equal(proven.claim, seen.claim));
    for (unsigned target = 24; target-- > 0;) {
        layers_with(&g, target, &proven, &seen, &f);
        if (target > 0) {
            CHECK_EQ_INT(f.check, SHEAF_CHECK_LAYER);
            CHECK_EQ_U64(f.index, target - 1);
        } else {
            CHECK_EQ_INT(f.status, SHEAF_OK);
            CHECK_MEM(seen.w, proven.w, sizeof seen.w);
            CHECK(!gf192_equal(seen.claim, proven.claim));
        }
    }
}

/* ---- the grand product: other children of the same equation ---- */

typedef struct bus_teller {
    const tx *c;
    unsigned target; /* the tail that is false, 0 the root's */
    unsigned seen, told;
    gf192 delta; /* of the layer at hand */
    gf192 by;
} bus_teller;

static gf192 product3(const gf192 *a) {
    return gf192_mul(a[0], gf192_mul(a[1], a[2]));
}

/* The root: both products by the same factor. A layer: both products change, push + delta pull does not. */
static void bus_tell(void *ctx, msg_kind kind, uint64_t *words, size_t n) {
    bus_teller *t = ctx;
    if (kind != MSG_BUS_TAIL)
        return;
    const size_t side = n / 6; /* children of one side */
    gf192 child[8], drawn[3];
    memcpy(child, words, n * sizeof *words);
    if (t->seen == t->target) {
        if (t->seen == 0) {
            child[0] = gf192_mul(child[0], t->by);
            child[side] = gf192_mul(child[side], t->by);
        } else {
            const gf192 push = product3(child + 1), pull = gf192_mul(t->delta, product3(child + 5));
            child[0] = gf192_add(child[0], gf192_mul(t->by, pull));
            child[4] = gf192_add(child[4], gf192_mul(t->by, push));
        }
        memcpy(words, child, n * sizeof *words);
        t->told++;
    }
    t->delta = next_challenges(t->c, words, n, drawn, side == 2 ? 2 : 3);
    t->seen++;
}

TEST(children_of_the_right_batch_are_rejected_one_layer_on) {
    uint64_t seed = t_seed();
    for (unsigned h = 3; h <= 8; h++) {
        const unsigned last = (h - 1) / 2;
        bus_rig b;
        REQUIRE(bus_rig_init(&b, h, &seed) == 0);
        for (unsigned target = 0; target <= last; target++) {
            env e = {0};
            tx c;
            bus_claim proven, seen;
            sheaf_failure f;
            bus_teller t = {.c = &c, .target = target, .by = rand_e(&seed)};
            tx_init(&c);
            c.hook = bus_tell;
            c.hook_ctx = &t;
            CHECK_EQ_INT(bus_rig_prove(&b, &c, &e, &proven), 0);
            CHECK_EQ_INT(t.told, 1);
            CHECK_EQ_U64(t.seen, last + 1);
            const int result = bus_rig_verify(h, b.extra, c.out, c.len, &seen, &f);
            if (target < last) {
                CHECK_EQ_INT(result, -1);
                CHECK_EQ_INT(f.check, SHEAF_CHECK_BUS_LAYER);
                CHECK_EQ_U64(f.index, target + 1);
            } else {
                CHECK_EQ_INT(result, 0);
                CHECK(!gf192_equal(seen.push, plain_mle(b.push, h, seen.zeta)));
                CHECK(!gf192_equal(seen.pull, plain_mle(b.pull, h, seen.zeta)));
            }
            tx_free(&c);
        }
        bus_rig_free(&b);
    }
}

/* ---- whole proofs ---- */

typedef struct leaf_rig {
    circuit c;
    leaf_statement st;
    leaf_witness w;
    uint64_t binding[9];
    unsigned rate;
    uint64_t words[16 * 3], publics[4 * 3]; /* of a batch */
} leaf_rig;

static void batch_init(leaf_rig *g, unsigned rate) {
    uint64_t seed = t_seed();
    uint8_t messages[3 * 128];
    env e = {0};
    memset(g, 0, sizeof *g);
    t_rand_bytes(&seed, messages, sizeof messages);
    witness_hash(g->words, g->publics, &e, 3, messages);
    CHECK_EQ_INT(circuit_build_hash(&g->c), 0);
    g->st = (leaf_statement){&g->c, 3, g->publics, g->binding, 4};
    g->w = (leaf_witness){g->words, NULL};
    g->rate = rate;
}

/* Of the forge's witness; it must stay. */
static int aggregate_init(leaf_rig *g, forge *f) {
    memset(g, 0, sizeof *g);
    if (forge_init(f, 78, t_seed()) != 0)
        return -1;
    forge_honest(f);
    CHECK_EQ_INT(circuit_build_leanxmss(&g->c, f->epoch, f->message_words), 0);
    g->st = (leaf_statement){&g->c, FORGE_SIGNERS, f->publics, g->binding, 9};
    g->w = (leaf_witness){f->words, f->multiplicities};
    return 0;
}

/* What is told in a whole proof: a false tail of a layer, of the bus, false slices, or one changed word. */
typedef struct leaf_teller {
    const leaf_rig *g;
    const tx *c;
    follower layers;
    bus_teller bus;
    int lie_in_slices;
    gf192 j_point[16];
    unsigned input_rounds;
    unsigned told;
    /* one changed word */
    int one;
    msg_kind kind;
    unsigned which;
    size_t word;
    uint64_t change;
    unsigned seen[MSG_KIND_COUNT_];
    unsigned level; /* whose queries are being answered, or come next, at the lie */
} leaf_teller;

/* A change of the nonce after which it misses its target. */
static uint64_t missing_nonce(const leaf_teller *t, uint64_t nonce) {
    const whir_params *par = params_lookup(t->g->c.family, circuit_log_slots(t->g->st.signers), t->g->rate);
    for (uint64_t change = t->change;; change += 2) {
        transcript fork = t->c->t;
        const uint64_t tried = nonce ^ change;
        transcript_absorb(&fork, &tried, 1);
        transcript_squeeze(&fork, NULL, 0);
        if ((fork.chain[0] & ((UINT64_C(1) << par->level[t->level].grind) - 1)) != 0)
            return change;
    }
}

static void leaf_tell(void *ctx, msg_kind kind, uint64_t *words, size_t n) {
    leaf_teller *t = ctx;
    follow(&t->layers, kind, words, n);
    bus_tell(&t->bus, kind, words, n);
    if (kind == MSG_INPUT_ROUND)
        t->j_point[t->input_rounds++] = next_challenge(t->c, words, n);
    if (kind == MSG_SLICES && t->lie_in_slices) {
        other_slices(&t->layers, t->g->st.circuit, t->j_point, words);
        t->told++;
    }
    if (t->one && kind == t->kind && t->seen[kind] == t->which) {
        const unsigned words_sent = t->seen[MSG_ROOT] + t->seen[MSG_LAST_WORD];
        t->level = words_sent < 2 ? 0 : words_sent - 2;
        words[t->word % n] ^= kind == MSG_NONCE ? missing_nonce(t, words[0]) : t->change;
        t->told++;
    }
    t->seen[kind]++;
}

static leaf_teller honest_teller(const leaf_rig *g) {
    leaf_teller t = {.g = g};
    follower_init(&t.layers, NULL, (layers_shape){circuit_log_slots(g->st.signers), g->c.kappa, g->c.rows},
                  NULL, HONEST);
    t.bus.target = HONEST;
    t.bus.by = t.layers.by;
    return t;
}

/* Proves with the teller's lie and verifies. */
static void tell_leaf(const leaf_rig *g, leaf_teller *t, sheaf_failure *f) {
    env e = {0};
    tx c;
    tx_init(&c);
    t->c = t->layers.c = t->bus.c = &c;
    c.hook = leaf_tell;
    c.hook_ctx = t;
    CHECK_EQ_INT(leaf_prove_on(&c, &e, &g->st, &g->w, g->rate, f), SHEAF_OK);
    const sheaf_status status = leaf_verify(c.out, c.len, &g->st, NULL, f);
    CHECK_EQ_INT(status, f->status);
    tx_free(&c);
}

static void expect(const sheaf_failure *f, sheaf_check check, uint64_t index, const char *what) {
    const int as_meant = CHECK_EQ_INT(f->status, SHEAF_REJECTED) & CHECK_EQ_INT(f->check, check) &
                         CHECK_EQ_U64(f->index, index);
    if (!as_meant)
        printf("  in %s: %s\n", what, f->message);
}

static void lies_that_fit(const leaf_rig *g) {
    static const unsigned targets[] = {22, 9, 0};
    sheaf_failure f;
    leaf_teller t = honest_teller(g);
    tell_leaf(g, &t, &f);
    CHECK_EQ_INT(f.status, SHEAF_OK);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        t = honest_teller(g);
        t.layers.target = targets[i];
        tell_leaf(g, &t, &f);
        CHECK_EQ_INT(t.layers.told, 1);
        if (targets[i] > 0)
            expect(&f, SHEAF_CHECK_LAYER, targets[i] - 1, "a layer's tail of the right claim");
        else
            expect(&f, SHEAF_CHECK_INPUT, 0, "layer 0's tail of the right claim");
    }
    t = honest_teller(g);
    t.lie_in_slices = 1;
    tell_leaf(g, &t, &f);
    CHECK_EQ_INT(t.told, 1);
    expect(&f, SHEAF_CHECK_OPENING, 0, "slices of the right sum");
}

TEST(lies_that_fit_their_equation_in_a_batch_are_rejected_by_the_next_check) {
    leaf_rig g;
    batch_init(&g, 0);
    lies_that_fit(&g);
    circuit_free(&g.c);
}

TEST(lies_that_fit_their_equation_in_an_aggregate_are_rejected_by_the_next_check) {
    static forge forged;
    leaf_rig g;
    sheaf_failure f;
    REQUIRE(aggregate_init(&g, &forged) == 0);
    lies_that_fit(&g);
    /* height 11: the root's tail and five more. After the last the claims on the leaves are false, and so is
     * what is claimed of the committed words. */
    leaf_teller t = honest_teller(&g);
    t.bus.target = 5;
    tell_leaf(&g, &t, &f);
    CHECK_EQ_INT(t.bus.told, 1);
    CHECK_EQ_INT(t.bus.seen, 6);
    expect(&f, SHEAF_CHECK_OPENING, 0, "the last tail of the bus, its equation kept");
    circuit_free(&g.c);
}

/* ---- a lie in every message ---- */

static void expect_one(const leaf_rig *g, const leaf_teller *t, const sheaf_failure *f) {
    const unsigned rounds = circuit_log_slots(g->st.signers) + g->c.kappa + 9;
    switch (t->kind) {
    case MSG_V_OUT:
        expect(f, SHEAF_CHECK_LAYER, 23, "v_out");
        break;
    case MSG_LAYER_ROUND:
        expect(f, SHEAF_CHECK_LAYER, 23 - t->which / rounds, "a layer's round");
        break;
    case MSG_LAYER_TAIL:
        expect(f, SHEAF_CHECK_LAYER, 23 - t->which, "a layer's tail");
        break;
    case MSG_INPUT_ROUND:
    case MSG_SLICES:
        expect(f, SHEAF_CHECK_INPUT, 0, "the input layer");
        break;
    case MSG_ROOT:
        expect(f, SHEAF_CHECK_MERKLE, t->which, "a root");
        break;
    case MSG_OPENING:
        expect(f, SHEAF_CHECK_MERKLE, t->level, "an opening");
        break;
    case MSG_NONCE:
        expect(f, SHEAF_CHECK_GRINDING, t->level, "a nonce");
        break;
    default: /* rounds, out-of-domain values and the last word of the opening */
        expect(f, SHEAF_CHECK_OPENING, 0, "the opening");
    }
}

/* One word of every `step`-th message of a kind. */
static void lie_in_each(const leaf_rig *g, msg_kind kind, unsigned messages, unsigned step, uint64_t *seed) {
    for (unsigned which = 0; which < messages; which += step) {
        sheaf_failure f;
        leaf_teller t = honest_teller(g);
        t.one = 1;
        t.kind = kind;
        t.which = which;
        t.word = (size_t)(t_rand64(seed) % 4096);
        t.change = UINT64_C(1) << (t_rand64(seed) % 64);
        tell_leaf(g, &t, &f);
        CHECK_EQ_INT(t.told, 1);
        expect_one(g, &t, &f);
    }
}

TEST(a_lie_in_any_message_of_a_batch_is_rejected_by_the_check_that_is_meant_for_it) {
    static const msg_kind kinds[] = {MSG_ROOT,        MSG_V_OUT,   MSG_LAYER_ROUND, MSG_LAYER_TAIL,
                                     MSG_INPUT_ROUND, MSG_SLICES,  MSG_OOD,         MSG_WHIR_ROUND,
                                     MSG_NONCE,       MSG_OPENING, MSG_LAST_WORD};
    uint64_t seed = t_seed();
    leaf_rig g;
    sheaf_failure f;
    batch_init(&g, 2); /* two levels, both with grinding */
    leaf_teller honest = honest_teller(&g);
    tell_leaf(&g, &honest, &f);
    CHECK_EQ_INT(f.status, SHEAF_OK);
    CHECK_EQ_U64(honest.seen[MSG_ROOT], 2);
    CHECK_EQ_U64(honest.seen[MSG_NONCE], 2);
    CHECK_EQ_U64(honest.seen[MSG_LAYER_ROUND], 24 * 12);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const unsigned messages = honest.seen[kinds[i]];
        CHECK(messages > 0);
        lie_in_each(&g, kinds[i], messages, kinds[i] == MSG_OPENING ? 1 + messages / 40 : 1, &seed);
    }
    circuit_free(&g.c);
}

TEST(a_lie_in_a_nonce_or_an_opening_of_an_aggregate_is_rejected_by_its_level) {
    static forge forged;
    uint64_t seed = t_seed();
    leaf_rig g;
    sheaf_failure f;
    REQUIRE(aggregate_init(&g, &forged) == 0);
    leaf_teller honest = honest_teller(&g);
    tell_leaf(&g, &honest, &f);
    CHECK_EQ_INT(f.status, SHEAF_OK);
    CHECK(honest.seen[MSG_NONCE] > 0 && honest.seen[MSG_OPENING] > 0);
    lie_in_each(&g, MSG_NONCE, honest.seen[MSG_NONCE], 1, &seed);
    lie_in_each(&g, MSG_OPENING, honest.seen[MSG_OPENING], 1 + honest.seen[MSG_OPENING] / 6, &seed);
    circuit_free(&g.c);
}

/* ---- words that keep all claims but their queries' ---- */

/* A plain prover of an opening, which goes on from another word than the one it has: it adds to it, just
 * before it commits to it or sends it, two elements that the claim so far does not see. All that is said
 * later is true of that word. Only the queries, whose answers are the old word's, can tell. */
typedef struct plain {
    const whir_rig *g;
    tx *c;
    gf192 f[512], w[512];
    size_t n;
    unsigned lie; /* 1 .. levels - 1: in that level's word; levels: in the last one; 0: nowhere */
    int agreed;   /* every query of the old word fell where the new one agrees */
} plain;

typedef struct plain_word {
    uint64_t *code;
    size_t rows;
    unsigned log_n;
    merkle_tree tree;
} plain_word;

static int plain_commit(plain *p, plain_word *word, const uint64_t *msg, size_t rows, unsigned k,
                        unsigned rate) {
    uint8_t root[32];
    uint64_t sent[4];
    word->rows = rows;
    word->log_n = k + rate;
    word->code = malloc((rows << word->log_n) * sizeof *word->code);
    if (word->code == NULL)
        return -1;
    for (size_t b = 0; b < rows; b++)
        for (size_t at = 0; at < (size_t)1 << word->log_n; at++)
            word->code[(b << word->log_n) + at] = ntt_evaluate_ref(msg + (b << k), k, at);
    if (merkle_build(&word->tree, NULL, NULL, word->code, (size_t)1 << word->log_n, rows, word->log_n,
                     p->g->par.arity) != 0)
        return -1;
    merkle_root(&word->tree, root);
    for (size_t l = 0; l < 4; l++)
        sent[l] = load64_le(root + 8 * l);
    tx_send_words(p->c, MSG_ROOT, sent, 4);
    return 0;
}

static void plain_rounds(plain *p, unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++) {
        const size_t half = p->n / 2;
        gf192 sent[2] = {GF192_ZERO, GF192_ZERO}, r;
        for (size_t u = 0; u < half; u++) {
            const gf192 dw = gf192_add(p->w[u], p->w[u + half]), df = gf192_add(p->f[u], p->f[u + half]);
            sent[0] = gf192_add(sent[0], gf192_mul(p->w[u], p->f[u]));
            sent[1] = gf192_add(sent[1], gf192_mul(dw, df));
        }
        tx_send_e(p->c, MSG_WHIR_ROUND, sent, 2);
        transcript_squeeze(&p->c->t, &r, 1);
        for (size_t u = 0; u < half; u++) {
            p->w[u] = gf192_add(p->w[u], gf192_mul(r, gf192_add(p->w[u], p->w[u + half])));
            p->f[u] = gf192_add(p->f[u], gf192_mul(r, gf192_add(p->f[u], p->f[u + half])));
        }
        p->n = half;
    }
}

/* The weight of position `at` on index u: the u-th basis polynomial there. */
static gf64 basis_at(unsigned k, uint64_t at, size_t u) {
    gf64 basis[NTT_MAX_LOG_N], product = 1;
    ntt_basis_at(basis, k, at);
    for (unsigned i = 0; i < k; i++)
        if (u >> i & 1)
            product = gf64_mul(product, basis[i]);
    return product;
}

/* The last two elements: at those positions where the top basis polynomial is zero, a quarter of them at
 * rate 1/2, nothing changes. */
static void plain_lie(plain *p, gf192 by, gf192 added[2]) {
    const size_t a = p->n - 2, b = p->n - 1;
    added[0] = gf192_mul(by, p->w[b]);
    added[1] = gf192_mul(by, p->w[a]);
    CHECK(!gf192_is_zero(added[0]) && !gf192_is_zero(added[1]));
    p->f[a] = gf192_add(p->f[a], added[0]);
    p->f[b] = gf192_add(p->f[b], added[1]);
}

static int plain_next(plain *p, plain_word *next, unsigned level, gf192 *o, unsigned vars) {
    const whir_level *par = &p->g->par.level[level];
    static uint64_t msg[3 * 512];
    const unsigned k = vars - par->fold;
    for (size_t u = 0; u < p->n; u++)
        for (size_t l = 0; l < 3; l++)
            msg[((3 * (u >> k) + l) << k) + (u & (((size_t)1 << k) - 1))] = p->f[u].c[l];
    if (plain_commit(p, next, msg, (size_t)3 << par->fold, k, par->rate) != 0)
        return -1;
    transcript_squeeze(&p->c->t, o, vars);
    const gf192 y = plain_mle(p->f, vars, o);
    tx_send_e(p->c, MSG_OOD, &y, 1);
    return 0;
}

static void plain_claims(plain *p, const plain_word *word, unsigned level, const gf192 *o, unsigned vars,
                         const gf192 *added) {
    const whir_level *par = &p->g->par.level[level];
    uint64_t positions[64];
    gf192 xi, power, eq[512];
    tx_grind(p->c, par->grind, NULL);
    transcript_squeeze_words(&p->c->t, positions, par->queries);
    for (size_t q = 0; q < par->queries; q++)
        positions[q] &= (UINT64_C(1) << word->log_n) - 1;
    merkle_open(p->c, &word->tree, word->code, (size_t)1 << word->log_n, word->rows, positions, par->queries);
    for (size_t q = 0; q < par->queries && added != NULL; q++) {
        const gf192 a = gf192_mul_k(added[0], basis_at(vars, positions[q], p->n - 2)),
                    b = gf192_mul_k(added[1], basis_at(vars, positions[q], p->n - 1));
        p->agreed &= gf192_equal(a, b);
    }
    transcript_squeeze(&p->c->t, &xi, 1);
    power = xi;
    if (o != NULL) {
        eq_table(eq, o, vars);
        for (size_t u = 0; u < p->n; u++)
            p->w[u] = gf192_add(p->w[u], gf192_mul(power, eq[u]));
        power = gf192_mul(power, xi);
    }
    for (size_t q = 0; q < par->queries; q++) {
        for (size_t u = 0; u < p->n; u++)
            p->w[u] = gf192_add(p->w[u], gf192_mul_k(power, basis_at(vars, positions[q], u)));
        power = gf192_mul(power, xi);
    }
}

/* 0, or -1 without memory. */
static int plain_prove(plain *p, gf192 by) {
    const whir_params *par = &p->g->par;
    unsigned vars = par->log_words;
    plain_word word = {0}, next = {0};
    p->n = p->g->n;
    p->agreed = 1;
    for (size_t u = 0; u < p->n; u++) {
        p->f[u] = gf192_from_k(p->g->q[u]);
        p->w[u] = evec_get(p->g->weight, u);
    }
    const unsigned k = vars - par->level[0].fold;
    int result = plain_commit(p, &word, p->g->q, (size_t)1 << par->level[0].fold, k, par->level[0].rate);
    transcript_label(&p->c->t, "whir    ");
    for (unsigned i = 0; i < par->levels && result == 0; i++) {
        const int is_last = i + 1 == par->levels, lie = p->lie == i + 1;
        gf192 o[NTT_MAX_LOG_N], added[2];
        plain_rounds(p, par->level[i].fold);
        vars -= par->level[i].fold;
        if (lie)
            plain_lie(p, by, added);
        if (is_last)
            tx_send_e(p->c, MSG_LAST_WORD, p->f, p->n);
        else
            result = plain_next(p, &next, i + 1, o, vars);
        if (result == 0)
            plain_claims(p, &word, i, is_last ? NULL : o, vars, lie ? added : NULL);
        free(word.code);
        merkle_free(&word.tree, NULL);
        word = next;
        memset(&next, 0, sizeof next);
    }
    free(word.code);
    merkle_free(&word.tree, NULL);
    plain_rounds(p, vars);
    return result;
}

/* Few queries, so that a lie now and then gets through, and exactly then. */
TEST(a_word_that_is_false_in_its_queries_only_is_accepted_where_none_of_them_tells) {
    static const whir_params few = {9, 2, 4, 2, {{2, 1, 2, 0, 1, 0}, {3, 1, 0, 0, 1, 0}}};
    static plain p;
    uint64_t seed = t_seed();
    for (unsigned lie = 0; lie <= few.levels; lie++) {
        unsigned accepted = 0, rejected = 0;
        for (unsigned round = 0; round < 40; round++) {
            whir_rig g;
            tx c;
            sheaf_failure f;
            REQUIRE(whir_rig_init(&g, &few, 512, &seed) == 0);
            tx_init(&c);
            p.g = &g;
            p.c = &c;
            p.lie = lie;
            REQUIRE(plain_prove(&p, whir_rig_rand_e(&seed)) == 0);
            const int result = whir_rig_verify(&g, c.out, c.len, &f);
            CHECK_EQ_INT(result, p.agreed ? 0 : -1);
            CHECK_EQ_INT(f.check, p.agreed ? SHEAF_CHECK_NONE : SHEAF_CHECK_OPENING);
            accepted += result == 0;
            rejected += result != 0;
            tx_free(&c);
            whir_rig_free(&g);
        }
        CHECK(accepted > 0 && (rejected > accepted) == (lie > 0));
    }
}

T_MAIN()
