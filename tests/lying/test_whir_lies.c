/* Openings whose prover lies in one message and carries on from it.  SPDX-License-Identifier: MIT OR
 * Apache-2.0 */
#include "t.h"
#include "support/whir_rig.h"

typedef struct lie {
    msg_kind kind;
    unsigned which;  /* of the messages of this kind, in order */
    unsigned word;   /* of the message, counted round */
    uint64_t change; /* XOR; 0 only counts */
    /* What was seen: */
    unsigned count[MSG_KIND_COUNT_];
    size_t words;   /* of the message that was changed */
    unsigned level; /* whose queries come next when it was sent, or are being answered */
} lie;

static void hook(void *ctx, msg_kind kind, uint64_t *words, size_t n) {
    lie *l = ctx;
    if (kind == l->kind && l->count[kind] == l->which) {
        words[l->word % n] ^= l->change;
        l->words = n;
        /* The openings of level i follow root i + 1, or the last word. */
        l->level = l->count[MSG_ROOT] + l->count[MSG_LAST_WORD] < 2
                       ? 0
                       : l->count[MSG_ROOT] + l->count[MSG_LAST_WORD] - 2;
    }
    l->count[kind]++;
}

/* Proves with the lie and verifies; non-zero where it was told. */
static int tell(whir_rig *g, lie *l, sheaf_failure *f) {
    tx c;
    env e = {0};
    memset(l->count, 0, sizeof l->count);
    l->words = 0;
    tx_init(&c);
    c.hook = hook;
    c.hook_ctx = l;
    CHECK_EQ_INT(whir_rig_prove(g, &c, &e, g->q), 0);
    const int result = whir_rig_verify(g, c.out, c.len, f);
    CHECK_EQ_INT(result == 0 ? SHEAF_OK : SHEAF_REJECTED, f->status);
    tx_free(&c);
    return l->words > 0;
}

/* Tells every lie of a kind, a few bits of every word of every message, and hands each outcome to `judge`. */
static void tell_all(msg_kind kind, unsigned bits,
                     void (*judge)(const whir_rig *g, const lie *l, const sheaf_failure *f)) {
    uint64_t seed = t_seed();
    unsigned told = 0;
    for (size_t i = 0; i < WHIR_RIG_ROWS; i++) {
        whir_rig g;
        sheaf_failure f;
        lie l = {.kind = kind};
        REQUIRE(whir_rig_init(&g, &whir_rig_rows[i], (size_t)1 << whir_rig_rows[i].log_words, &seed) == 0);
        tell(&g, &l, &f);
        CHECK_EQ_INT(f.status, SHEAF_OK);
        const unsigned messages = l.count[kind];
        for (l.which = 0; l.which < messages; l.which++) {
            l.word = 0;
            do {
                for (unsigned b = 0; b < bits; b++) {
                    l.change = UINT64_C(1) << (t_rand64(&seed) % 64);
                    CHECK(tell(&g, &l, &f));
                    judge(&g, &l, &f);
                    told++;
                }
            } while (++l.word < l.words);
        }
        whir_rig_free(&g);
    }
    CHECK(told > 0);
}

static void judge_opening(const whir_rig *g, const lie *l, const sheaf_failure *f) {
    (void)g, (void)l;
    CHECK_EQ_INT(f->check, SHEAF_CHECK_OPENING);
    CHECK_EQ_U64(f->index, 0);
}

static void judge_root(const whir_rig *g, const lie *l, const sheaf_failure *f) {
    (void)g;
    CHECK_EQ_INT(f->check, SHEAF_CHECK_MERKLE);
    CHECK_EQ_U64(f->index, l->which);
}

static void judge_answer(const whir_rig *g, const lie *l, const sheaf_failure *f) {
    (void)g;
    CHECK_EQ_INT(f->check, SHEAF_CHECK_MERKLE);
    CHECK_EQ_U64(f->index, l->level);
}

TEST(a_lie_in_a_round_fails_the_closing_equation) {
    tell_all(MSG_WHIR_ROUND, 1, judge_opening);
}

TEST(a_lie_out_of_domain_fails_the_closing_equation) {
    tell_all(MSG_OOD, 4, judge_opening);
}

TEST(a_lie_in_the_last_word_fails_the_closing_equation) {
    tell_all(MSG_LAST_WORD, 1, judge_opening);
}

TEST(another_root_fails_its_own_level) {
    tell_all(MSG_ROOT, 2, judge_root);
}

TEST(a_lie_in_an_opening_fails_its_level) {
    tell_all(MSG_OPENING, 1, judge_answer);
}

/* Another nonce fails its level's grinding, unless it meets the target too; then it is as good as the
 * smallest. */
TEST(another_nonce_fails_its_level_unless_it_meets_the_target) {
    uint64_t seed = t_seed();
    unsigned refused = 0, accepted = 0;
    for (size_t i = 0; i < WHIR_RIG_ROWS; i++) {
        whir_rig g;
        sheaf_failure f;
        lie l = {.kind = MSG_NONCE};
        REQUIRE(whir_rig_init(&g, &whir_rig_rows[i], (size_t)1 << whir_rig_rows[i].log_words, &seed) == 0);
        for (unsigned level = 0; level < g.par.levels; level++) {
            if (g.par.level[level].grind == 0)
                continue;
            for (unsigned attempt = 0; attempt < 3u << g.par.level[level].grind; attempt++) {
                l.change = t_rand64(&seed) | 1;
                CHECK(tell(&g, &l, &f));
                if (f.status == SHEAF_OK) {
                    accepted++;
                    continue;
                }
                CHECK_EQ_INT(f.check, SHEAF_CHECK_GRINDING);
                CHECK_EQ_U64(f.index, level);
                refused++;
            }
            l.which++;
        }
        whir_rig_free(&g);
    }
    CHECK(accepted > 0 && refused > accepted);
}

/* A false claim, and a first round that makes up for it at one point: wrong at every other. */
TEST(a_round_that_fits_a_false_claim_at_one_point_fails_the_closing_equation) {
    uint64_t seed = t_seed();
    for (size_t i = 0; i < WHIR_RIG_ROWS; i++) {
        whir_rig g;
        sheaf_failure f;
        REQUIRE(whir_rig_init(&g, &whir_rig_rows[i], (size_t)1 << whir_rig_rows[i].log_words, &seed) == 0);
        for (unsigned word = 0; word < 6; word++) {
            lie l = {.kind = MSG_WHIR_ROUND, .word = word, .change = t_rand64(&seed) | 1};
            const gf192 honest = g.claim;
            /* c_0 + change, c_1 = claim + change + c_2: the same at X = 1. The other words: the same at X =
             * 0. */
            g.claim.c[word % 3] ^= l.change;
            CHECK(tell(&g, &l, &f));
            judge_opening(&g, &l, &f);
            g.claim = honest;
        }
        whir_rig_free(&g);
    }
}

T_MAIN()
