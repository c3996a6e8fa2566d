/* The opening: against a plain twin, and against every damaged proof.  SPDX-License-Identifier: MIT OR
 * Apache-2.0 */
#include "t.h"
#include "ntt/ntt.h"
#include "support/whir_rig.h"

/* ---- the plain twin of the prover: scalars, definitions, one array a table ---- */

typedef struct mark { /* a message of a proof */
    msg_kind kind;
    unsigned
        level; /* whose queries come next, or whose opening it is; the number of levels for the last rounds */
    size_t at, len;
} mark;

typedef struct twin {
    const whir_rig *g;
    tx *c;
    gf192 *f, *w;
    size_t n;
    unsigned corrupt; /* the level whose committed word is not the fold, or 0 */
    mark marks[64];
    size_t n_marks;
} twin;

typedef struct twin_word {
    uint64_t *code;
    size_t rows;
    unsigned log_n;
    merkle_tree tree;
} twin_word;

static void note(twin *t, msg_kind kind, unsigned level) {
    const size_t at = t->n_marks > 0 ? t->marks[t->n_marks - 1].at + t->marks[t->n_marks - 1].len : 0;
    t->marks[t->n_marks++] = (mark){kind, level, at, t->c->len - at};
}

/* rows[b] of 2^k words, one after another, to a committed matrix. */
static void twin_commit(twin *t, twin_word *word, const uint64_t *msg, size_t rows, unsigned k, unsigned rate,
                        unsigned level) {
    uint8_t root[32];
    uint64_t words[4];
    word->rows = rows;
    word->log_n = k + rate;
    word->code = malloc((rows << word->log_n) * sizeof(uint64_t));
    if (!CHECK(word->code != NULL))
        abort();
    for (size_t b = 0; b < rows; b++)
        for (size_t p = 0; p < (size_t)1 << word->log_n; p++)
            word->code[(b << word->log_n) + p] = ntt_evaluate_ref(msg + (b << k), k, p);
    CHECK_EQ_INT(merkle_build(&word->tree, NULL, NULL, word->code, (size_t)1 << word->log_n, rows,
                              word->log_n, t->g->par.arity),
                 0);
    merkle_root(&word->tree, root);
    for (size_t l = 0; l < 4; l++)
        words[l] = load64_le(root + 8 * l);
    tx_send_words(t->c, MSG_ROOT, words, 4);
    note(t, MSG_ROOT, level);
}

static void twin_word_free(twin_word *word) {
    free(word->code);
    merkle_free(&word->tree, NULL);
}

static void twin_rounds(twin *t, unsigned rounds, unsigned level) {
    for (unsigned i = 0; i < rounds; i++) {
        const size_t half = t->n / 2;
        gf192 sent[2] = {GF192_ZERO, GF192_ZERO}, r;
        for (size_t u = 0; u < half; u++) {
            const gf192 w2 = gf192_add(t->w[u], t->w[u + half]), f2 = gf192_add(t->f[u], t->f[u + half]);
            sent[0] = gf192_add(sent[0], gf192_mul(t->w[u], t->f[u]));
            sent[1] = gf192_add(sent[1], gf192_mul(w2, f2));
        }
        tx_send_e(t->c, MSG_WHIR_ROUND, sent, 2);
        note(t, MSG_WHIR_ROUND, level);
        transcript_squeeze(&t->c->t, &r, 1);
        for (size_t u = 0; u < half; u++) {
            t->f[u] = gf192_add(t->f[u], gf192_mul(r, gf192_add(t->f[u], t->f[u + half])));
            t->w[u] = gf192_add(t->w[u], gf192_mul(r, gf192_add(t->w[u], t->w[u + half])));
        }
        t->n = half;
    }
}

static void twin_next_word(twin *t, twin_word *word, unsigned level) {
    const whir_level *par = &t->g->par.level[level];
    const unsigned k = ceil_log2(t->n) - par->fold;
    uint64_t *msg = malloc(3 * t->n * sizeof(uint64_t));
    if (!CHECK(msg != NULL))
        abort();
    if (t->corrupt == level)
        t->f[1].c[2] ^= 1;
    for (size_t u = 0; u < t->n; u++) /* element u is column u mod 2^k of row u / 2^k */
        for (size_t l = 0; l < 3; l++)
            msg[((3 * (u >> k) + l) << k) + (u & (((size_t)1 << k) - 1))] = t->f[u].c[l];
    twin_commit(t, word, msg, (size_t)3 << par->fold, k, par->rate, level - 1);
    free(msg);
}

static gf192 eq_index(const gf192 *r, size_t u, unsigned n) {
    gf192 product = GF192_ONE;
    for (unsigned i = 0; i < n; i++)
        product = gf192_mul(product, (u >> i & 1) != 0 ? r[i] : gf192_add(GF192_ONE, r[i]));
    return product;
}

/* W += c w_p; w_p(j) is what position p of the code of the j-th unit vector is. */
static void twin_add_position(twin *t, gf192 c, uint64_t p, unsigned k) {
    uint64_t unit[1u << 9] = {0};
    for (size_t j = 0; j < t->n; j++) {
        unit[j] = 1;
        t->w[j] = gf192_add(t->w[j], gf192_mul_k(c, ntt_evaluate_ref(unit, k, p)));
        unit[j] = 0;
    }
}

static void twin_level(twin *t, unsigned i, twin_word *word, twin_word *next) {
    const whir_level *par = &t->g->par.level[i];
    const int is_last = i + 1 == t->g->par.levels;
    gf192 o[32], xi, power, y = GF192_ZERO;
    uint64_t positions[64];
    twin_rounds(t, par->fold, i);
    const unsigned k = ceil_log2(t->n);
    if (is_last) {
        tx_send_e(t->c, MSG_LAST_WORD, t->f, t->n);
        note(t, MSG_LAST_WORD, i);
    } else {
        twin_next_word(t, next, i + 1);
        transcript_squeeze(&t->c->t, o, k);
        for (size_t u = 0; u < t->n; u++)
            y = gf192_add(y, gf192_mul(eq_index(o, u, k), t->f[u]));
        tx_send_e(t->c, MSG_OOD, &y, 1);
        note(t, MSG_OOD, i);
    }
    tx_grind(t->c, par->grind, NULL);
    if (par->grind > 0)
        note(t, MSG_NONCE, i);
    transcript_squeeze_words(&t->c->t, positions, par->queries);
    for (size_t q = 0; q < par->queries; q++)
        positions[q] %= UINT64_C(1) << word->log_n;
    merkle_open(t->c, &word->tree, word->code, (size_t)1 << word->log_n, word->rows, positions, par->queries);
    note(t, MSG_OPENING, i);
    transcript_squeeze(&t->c->t, &xi, 1);
    power = xi;
    if (!is_last) {
        for (size_t u = 0; u < t->n; u++)
            t->w[u] = gf192_add(t->w[u], gf192_mul(power, eq_index(o, u, k)));
        power = gf192_mul(power, xi);
    }
    for (size_t q = 0; q < par->queries; q++) {
        twin_add_position(t, power, positions[q], k);
        power = gf192_mul(power, xi);
    }
}

/* The proof in c, its messages in t->marks. */
static void twin_prove(twin *t, const whir_rig *g, tx *c, unsigned corrupt) {
    const unsigned k = g->vars - g->par.level[0].fold;
    twin_word word, next = {0};
    memset(t, 0, sizeof *t);
    t->g = g;
    t->c = c;
    t->n = g->n;
    t->corrupt = corrupt;
    t->f = malloc(g->n * sizeof(gf192));
    t->w = malloc(g->n * sizeof(gf192));
    if (!CHECK(t->f != NULL && t->w != NULL))
        abort();
    for (size_t u = 0; u < g->n; u++) {
        t->f[u] = gf192_from_k(g->q[u]);
        t->w[u] = evec_get(g->weight, u);
    }
    size_t rows = 0;
    while (rows << k < g->live)
        rows++;
    tx_init(c);
    twin_commit(t, &word, g->q, rows, k, g->par.level[0].rate, 0);
    transcript_label(&c->t, "whir    ");
    for (unsigned i = 0; i < g->par.levels; i++) {
        memset(&next, 0, sizeof next);
        twin_level(t, i, &word, &next);
        twin_word_free(&word);
        word = next;
    }
    twin_rounds(t, g->par.last_log, g->par.levels);
    free(t->f);
    free(t->w);
}

/* ---- honest proofs ---- */

TEST(the_prover_sends_what_its_plain_twin_sends_and_it_is_accepted) {
    uint64_t seed = t_seed();
    for (size_t i = 0; i < WHIR_RIG_ROWS; i++) {
        const size_t n = (size_t)1 << whir_rig_rows[i].log_words;
        const size_t lives[] = {n, n - 1, n / 2 + 8, 1};
        for (size_t j = 0; j < sizeof lives / sizeof *lives; j++) {
            whir_rig g;
            twin t;
            tx honest, plain;
            mem m = {0};
            env e = {.mem = &m};
            sheaf_failure f;
            REQUIRE(whir_rig_init(&g, &whir_rig_rows[i], lives[j], &seed) == 0);
            tx_init(&honest);
            CHECK_EQ_INT(whir_rig_prove(&g, &honest, &e, g.q), 0);
            CHECK_EQ_U64(m.current, 0);
            twin_prove(&t, &g, &plain, 0);
            CHECK_EQ_U64(honest.len, plain.len);
            CHECK_MEM(honest.out, plain.out, honest.len < plain.len ? honest.len : plain.len);
            CHECK_EQ_INT(whir_rig_verify(&g, honest.out, honest.len, &f), 0);
            CHECK_EQ_INT(f.status, SHEAF_OK);
            CHECK_EQ_U64(g.asked, 1);
            tx_free(&honest);
            tx_free(&plain);
            whir_rig_free(&g);
        }
    }
}

TEST(rows_past_the_live_words_are_not_in_the_leaf) {
    const whir_params *par = &whir_rig_rows[6]; /* 16 rows of 64 words */
    static const struct {
        size_t live, rows;
    } cases[] = {{1024, 16}, {1023, 16}, {961, 16}, {960, 15}, {65, 2}, {64, 1}, {1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_EQ_U64(whir_live_rows(par, cases[i].live), cases[i].rows);
    /* Each row is eight bytes less in each distinct leaf. */
    uint64_t seed = t_seed();
    whir_rig g;
    twin t;
    tx c;
    size_t len[2];
    for (size_t i = 0; i < 2; i++) {
        REQUIRE(whir_rig_init(&g, &whir_rig_rows[5], i == 0 ? 32 : 16, &seed) == 0);
        twin_prove(&t, &g, &c, 0);
        len[i] = c.bytes_by_kind[MSG_OPENING];
        tx_free(&c);
        whir_rig_free(&g);
    }
    CHECK(len[1] < len[0]);
}

/* ---- the real weight ---- */

typedef struct ring_ctx {
    ring_map phi;
    gf192 r[32];
    unsigned n;
} ring_ctx;

static gf192 ring_at(void *ctx, const gf192 *point) {
    const ring_ctx *x = ctx;
    return ring_weight_at(&x->phi, x->r, point, x->n);
}

/* Bits of random words, claimed at a random point, by ring switching. */
static void ring_case(const whir_params *par, size_t live, uint64_t *seed, pool *p) {
    whir_rig g;
    ring_ctx x;
    gf192 f[RING_CHALLENGES], slices[64];
    sheaf_failure fail;
    tx c;
    env e = {.pool = p};
    REQUIRE(whir_rig_init(&g, par, live, seed) == 0);
    for (size_t i = 0; i < RING_CHALLENGES; i++)
        f[i] = whir_rig_rand_e(seed);
    x.n = g.vars;
    for (size_t i = 0; i < x.n; i++)
        x.r[i] = whir_rig_rand_e(seed);
    ring_map_init(&x.phi, f);
    for (unsigned z = 0; z < 64; z++)
        slices[z] = GF192_ZERO;
    for (size_t u = 0; u < live; u++) {
        const gf192 eq = eq_index(x.r, u, x.n);
        for (unsigned z = 0; z < 64; z++)
            if ((g.q[u] >> z & 1) != 0)
                slices[z] = gf192_add(slices[z], eq);
    }
    REQUIRE(ring_weights(g.weight, &e, &x.phi, x.r, x.n, NULL) == 0);
    const gf192 claim = ring_claim(&x.phi, slices);
    CHECK(gf192_equal(claim, whir_rig_sum(&g)));
    tx_init(&c);
    CHECK_EQ_INT(whir_rig_prove(&g, &c, &e, g.q), 0);
    CHECK_EQ_INT(whir_rig_verify_with(&g, c.out, c.len, claim, ring_at, &x, &fail), 0);

    const unsigned z = (unsigned)(t_rand64(seed) % 64); /* one false slice */
    slices[z].c[0] ^= 1;
    CHECK_EQ_INT(whir_rig_verify_with(&g, c.out, c.len, ring_claim(&x.phi, slices), ring_at, &x, &fail), -1);
    CHECK_EQ_INT(fail.check, SHEAF_CHECK_OPENING);
    x.r[0].c[0] ^= 1; /* another point */
    CHECK_EQ_INT(whir_rig_verify_with(&g, c.out, c.len, claim, ring_at, &x, &fail), -1);
    CHECK_EQ_INT(fail.check, SHEAF_CHECK_OPENING);
    tx_free(&c);
    whir_rig_free(&g);
}

TEST(bits_at_a_point_are_opened_by_ring_switching) {
    uint64_t seed = t_seed();
    for (size_t i = 0; i < WHIR_RIG_ROWS; i++) {
        const size_t n = (size_t)1 << whir_rig_rows[i].log_words;
        ring_case(&whir_rig_rows[i], n, &seed, NULL);
        ring_case(&whir_rig_rows[i], n - n / 4, &seed, NULL);
    }
}

TEST(every_rate_of_small_shapes_of_the_table_proves_and_verifies) {
    uint64_t seed = t_seed();
    pool *p = pool_create(2);
    REQUIRE(p != NULL);
    unsigned seen = 0;
    for (unsigned rate = 1; rate <= PARAMS_MAX_RATE; rate++) {
        for (unsigned m = 3; m <= 7; m += 2) {
            const whir_params *par = params_lookup(PARAMS_HASH, m, rate);
            if (par != NULL) {
                ring_case(par, (size_t)16 << m, &seed, p);
                seen++;
            }
        }
        const whir_params *par = params_lookup(PARAMS_LEANXMSS, 3, rate);
        if (par != NULL) {
            ring_case(par, (size_t)961 << 3, &seed, p);
            seen++;
        }
    }
    CHECK(seen >= 4);
    pool_destroy(p);
}

/* ---- the same bytes everywhere ---- */

/* Large enough for several pieces of every kind of pass. */
static const whir_params large = {
    15, 3, 4, 2, {{2, 1, 6, 0, 20, 0}, {5, 2, 0, 0, 13, 0}, {4, 5, 3, 0, 9, 0}}};

TEST(a_proof_is_the_same_bytes_on_every_back_end_and_number_of_threads) {
    uint64_t seed = t_seed();
    whir_rig g;
    tx first;
    sheaf_failure f;
    const sheaf_isa best = kernels_isa();
    REQUIRE(whir_rig_init(&g, &large, 32000, &seed) == 0);
    memset(&first, 0, sizeof first);
    for (unsigned isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
        if (kernels_for((sheaf_isa)isa) == NULL)
            continue;
        CHECK_EQ_INT(kernels_force((sheaf_isa)isa), 0);
        for (unsigned threads = 0; threads <= 3; threads++) {
            env e = {.pool = threads > 0 ? pool_create(threads) : NULL};
            tx c;
            tx_init(&c);
            CHECK_EQ_INT(whir_rig_prove(&g, &c, &e, g.q), 0);
            pool_destroy(e.pool);
            if (first.out == NULL) {
                first = c;
                CHECK_EQ_INT(whir_rig_verify(&g, c.out, c.len, &f), 0);
                continue;
            }
            CHECK_EQ_U64(c.len, first.len);
            CHECK_MEM(c.out, first.out, c.len < first.len ? c.len : first.len);
            tx_free(&c);
        }
    }
    CHECK_EQ_INT(kernels_force(best), 0);
    CHECK_EQ_INT(whir_rig_verify(&g, first.out, first.len, &f), 0);
    tx_free(&first);
    whir_rig_free(&g);
}

/* ---- damaged proofs ---- */

TEST(verify_rejects_another_claim) {
    uint64_t seed = t_seed();
    for (size_t i = 0; i < WHIR_RIG_ROWS; i++) {
        whir_rig g;
        tx c;
        env e = {0};
        sheaf_failure f;
        REQUIRE(whir_rig_init(&g, &whir_rig_rows[i], (size_t)1 << whir_rig_rows[i].log_words, &seed) == 0);
        tx_init(&c);
        CHECK_EQ_INT(whir_rig_prove(&g, &c, &e, g.q), 0);
        for (unsigned bit = 0; bit < 192; bit += 17) {
            gf192 claim = g.claim;
            claim.c[bit / 64] ^= UINT64_C(1) << (bit % 64);
            CHECK_EQ_INT(whir_rig_verify_with(&g, c.out, c.len, claim, whir_rig_weight_at, &g, &f), -1);
            CHECK_EQ_INT(f.status, SHEAF_REJECTED);
            CHECK_EQ_INT(f.check, SHEAF_CHECK_OPENING);
        }
        for (size_t u = 0; u < g.n; u += 37) { /* and another weight */
            g.weight.p[g.n + u] ^= 1;
            CHECK_EQ_INT(whir_rig_verify(&g, c.out, c.len, &f), -1);
            CHECK_EQ_INT(f.check, SHEAF_CHECK_OPENING);
            g.weight.p[g.n + u] ^= 1;
        }
        tx_free(&c);
        whir_rig_free(&g);
    }
}

static int code_is_short(const whir_params *par, unsigned level) {
    unsigned k = par->log_words;
    for (unsigned i = 0; i <= level; i++)
        k -= par->level[i].fold;
    return k == 0 || k + par->level[level].rate <= 4; /* k = 0: all positions are the same */
}

/* What may be said of a proof with one bit of this message flipped and nothing else. */
static int fits(const mark *m, const whir_params *par, const sheaf_failure *f) {
    if (m->kind == MSG_OPENING)
        return f->check == SHEAF_CHECK_MERKLE && f->index == m->level;
    if (m->level == par->levels) /* the last rounds: only the closing equation is still to come */
        return f->check == SHEAF_CHECK_OPENING;
    /* Everything that is drawn later changes: the nonce meets its target once in 2^g, and the positions are
     * others, unless the code is so short that they happen to be the same. */
    if (par->level[m->level].grind > 0 && f->check == SHEAF_CHECK_GRINDING && f->index == m->level)
        return 1;
    if (f->check == SHEAF_CHECK_TRUNCATED || (f->check == SHEAF_CHECK_MERKLE && f->index == m->level))
        return 1;
    return code_is_short(par, m->level) && (f->check == SHEAF_CHECK_OPENING || f->index > m->level);
}

TEST(verify_rejects_a_flipped_bit_in_every_byte_of_every_message) {
    uint64_t seed = t_seed();
    unsigned kinds[MSG_KIND_COUNT_] = {0}, checks[SHEAF_CHECK_COUNT_] = {0};
    for (size_t i = 0; i < WHIR_RIG_ROWS - 1; i++) {
        whir_rig g;
        twin t;
        tx c;
        sheaf_failure f;
        REQUIRE(whir_rig_init(&g, &whir_rig_rows[i], (size_t)1 << whir_rig_rows[i].log_words, &seed) == 0);
        twin_prove(&t, &g, &c, 0);
        CHECK_EQ_U64(t.marks[t.n_marks - 1].at + t.marks[t.n_marks - 1].len, c.len);
        for (size_t k = 0; k < t.n_marks; k++) {
            const mark *m = &t.marks[k];
            for (size_t at = m->at; at < m->at + m->len; at++) {
                const uint8_t bit = (uint8_t)(1u << (t_rand64(&seed) % 8));
                c.out[at] ^= bit;
                CHECK_EQ_INT(whir_rig_verify(&g, c.out, c.len, &f), -1);
                CHECK_EQ_INT(f.status, SHEAF_REJECTED);
                if (!CHECK(fits(m, &g.par, &f)))
                    printf("  row %zu, kind %d, level %u, byte %zu: check %d, index %" PRIu64 "\n", i,
                           (int)m->kind, m->level, at, (int)f.check, f.index);
                kinds[m->kind]++;
                checks[f.check]++;
                c.out[at] ^= bit;
            }
        }
        CHECK_EQ_INT(whir_rig_verify(&g, c.out, c.len, &f), 0);
        tx_free(&c);
        whir_rig_free(&g);
    }
    CHECK(kinds[MSG_ROOT] > 0 && kinds[MSG_WHIR_ROUND] > 0 && kinds[MSG_OOD] > 0 && kinds[MSG_NONCE] > 0);
    CHECK(kinds[MSG_OPENING] > 0 && kinds[MSG_LAST_WORD] > 0);
    CHECK(checks[SHEAF_CHECK_MERKLE] > 0 && checks[SHEAF_CHECK_GRINDING] > 0 &&
          checks[SHEAF_CHECK_OPENING] > 0);
}

TEST(verify_rejects_a_proof_cut_at_any_length) {
    uint64_t seed = t_seed();
    for (size_t i = 0; i < WHIR_RIG_ROWS - 1; i++) {
        whir_rig g;
        tx c;
        env e = {0};
        sheaf_failure f;
        REQUIRE(whir_rig_init(&g, &whir_rig_rows[i], (size_t)1 << whir_rig_rows[i].log_words, &seed) == 0);
        tx_init(&c);
        CHECK_EQ_INT(whir_rig_prove(&g, &c, &e, g.q), 0);
        for (size_t len = 0; len < c.len; len++) {
            uint8_t *cut = malloc(len + 1); /* its own block, so that a sanitizer sees a read past it */
            REQUIRE(cut != NULL);
            memcpy(cut, c.out, len);
            CHECK_EQ_INT(whir_rig_verify(&g, cut, len, &f), -1);
            CHECK_EQ_INT(f.check, SHEAF_CHECK_TRUNCATED);
            free(cut);
        }
        tx_free(&c);
        whir_rig_free(&g);
    }
}

TEST(verify_rejects_trailing_bytes) {
    uint64_t seed = t_seed();
    whir_rig g;
    tx c;
    env e = {0};
    sheaf_failure f;
    REQUIRE(whir_rig_init(&g, &whir_rig_rows[0], 512, &seed) == 0);
    tx_init(&c);
    CHECK_EQ_INT(whir_rig_prove(&g, &c, &e, g.q), 0);
    for (size_t more = 1; more <= 24; more++) {
        const uint8_t zeros[24] = {0};
        uint8_t *longer = malloc(c.len + more);
        REQUIRE(longer != NULL);
        memcpy(longer, c.out, c.len);
        memcpy(longer + c.len, zeros, more);
        CHECK_EQ_INT(whir_rig_verify(&g, longer, c.len + more, &f), -1);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_TRAILING);
        free(longer);
    }
    tx_free(&c);
    whir_rig_free(&g);
}

/* The prover opens another word than the one it committed to, and the claim is true of the other. With this
 * many queries none misses: two codewords agree on less than half of the positions. */
TEST(verify_rejects_a_word_swapped_after_the_commitment) {
    uint64_t seed = t_seed();
    const whir_params par = {9, 2, 4, 2, {{2, 1, 0, 0, 60, 0}, {3, 3, 0, 0, 40, 0}}};
    for (unsigned round = 0; round < 8; round++) {
        whir_rig g;
        tx c;
        env e = {0};
        sheaf_failure f;
        REQUIRE(whir_rig_init(&g, &par, 512, &seed) == 0);
        uint64_t *other = mem_alloc(NULL, g.n * sizeof *other);
        REQUIRE(other != NULL);
        memcpy(other, g.q, g.n * sizeof *other);
        const size_t at = (size_t)(t_rand64(&seed) % g.n);
        const uint64_t bit = UINT64_C(1) << (t_rand64(&seed) % 64);
        other[at] ^= bit;
        tx_init(&c);
        CHECK_EQ_INT(whir_rig_prove(&g, &c, &e, other), 0);
        g.claim = gf192_add(g.claim, gf192_mul_k(evec_get(g.weight, at), bit));
        CHECK_EQ_INT(whir_rig_verify(&g, c.out, c.len, &f), -1);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_OPENING);
        tx_free(&c);
        mem_free(NULL, other);
        whir_rig_free(&g);
    }
}

TEST(verify_rejects_a_later_word_that_is_not_the_fold) {
    uint64_t seed = t_seed();
    const whir_params par = {9, 3, 3, 2, {{1, 2, 0, 0, 50, 0}, {3, 2, 0, 0, 50, 0}, {2, 3, 0, 0, 50, 0}}};
    for (unsigned level = 0; level <= 2; level++) {
        whir_rig g;
        twin t;
        tx c;
        sheaf_failure f;
        REQUIRE(whir_rig_init(&g, &par, 512, &seed) == 0);
        twin_prove(&t, &g, &c, level);
        const int result = whir_rig_verify(&g, c.out, c.len, &f);
        CHECK_EQ_INT(result, level == 0 ? 0 : -1);
        CHECK_EQ_INT(f.check, level == 0 ? SHEAF_CHECK_NONE : SHEAF_CHECK_OPENING);
        tx_free(&c);
        whir_rig_free(&g);
    }
}

TEST(verify_rejects_another_number_of_live_words) {
    uint64_t seed = t_seed();
    whir_rig g;
    tx c;
    env e = {0};
    sheaf_failure f;
    REQUIRE(whir_rig_init(&g, &whir_rig_rows[0], 384, &seed) == 0); /* three rows of four */
    tx_init(&c);
    CHECK_EQ_INT(whir_rig_prove(&g, &c, &e, g.q), 0);
    CHECK_EQ_INT(whir_rig_verify(&g, c.out, c.len, &f), 0);
    for (size_t rows = 1; rows <= 4; rows++) {
        if (rows == 3)
            continue;
        g.live = 128 * rows;
        CHECK_EQ_INT(whir_rig_verify(&g, c.out, c.len, &f), -1);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_MERKLE);
        CHECK_EQ_U64(f.index, 0);
    }
    tx_free(&c);
    whir_rig_free(&g);
}

/* ---- the prover stops cleanly ---- */

static void *no_memory(void *ctx, size_t bytes) {
    size_t *left = ctx;
    if (*left == 0)
        return NULL;
    --*left;
    return malloc(bytes);
}

static void give_back(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

TEST(the_prover_fails_where_memory_does_and_keeps_none) {
    uint64_t seed = t_seed();
    whir_rig g;
    REQUIRE(whir_rig_init(&g, &whir_rig_rows[1], 512, &seed) == 0);
    size_t allowed = 0;
    for (int result = -1; result != 0; allowed++) {
        size_t left = allowed;
        mem m = {.alloc_fn = no_memory, .free_fn = give_back, .ctx = &left};
        env e = {.mem = &m};
        tx c;
        tx_init(&c);
        result = whir_rig_prove(&g, &c, &e, g.q);
        CHECK_EQ_U64(m.current, 0);
        if (result != 0)
            CHECK_EQ_U64(left, 0);
        tx_free(&c);
        REQUIRE(allowed < 100);
    }
    CHECK(allowed > 10);
    whir_rig_free(&g);
}

typedef struct stop {
    unsigned calls, at;
    double last;
} stop;

static int stop_at(void *ctx, double fraction, const char *stage) {
    stop *s = ctx;
    CHECK(fraction >= s->last && fraction <= 1.0 && stage != NULL);
    s->last = fraction;
    return s->calls++ == s->at;
}

TEST(the_prover_stops_where_progress_asks_it_to) {
    uint64_t seed = t_seed();
    whir_rig g;
    REQUIRE(whir_rig_init(&g, &whir_rig_rows[1], 512, &seed) == 0);
    unsigned at = 0;
    for (int result = -1; result != 0; at++) {
        stop s = {.at = at};
        mem m = {0};
        env e = {.mem = &m, .progress = stop_at, .progress_ctx = &s, .progress_span = 1.0};
        tx c;
        whir_commitment w;
        evec weight = {mem_alloc(NULL, 3 * g.n * sizeof(uint64_t)), g.n};
        REQUIRE(weight.p != NULL);
        memcpy(weight.p, g.weight.p, 3 * g.n * sizeof(uint64_t));
        tx_init(&c);
        result = whir_commit(&c, &e, &w, &g.par, g.q, g.live);
        CHECK_EQ_INT(result, at == 0 ? -1 : 0);
        if (result == 0) {
            s.last = 0;
            result = whir_open(&c, &e, &g.par, &w, g.q, weight);
            whir_commitment_free(&w, &m);
        }
        CHECK_EQ_INT(e.cancelled, result != 0);
        CHECK_EQ_U64(m.current, 0);
        tx_free(&c);
        mem_free(NULL, weight.p);
        REQUIRE(at < 100);
    }
    CHECK(at > 9);
    whir_rig_free(&g);
}

T_MAIN()
