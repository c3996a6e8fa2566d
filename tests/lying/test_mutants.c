/* Mutated proofs by the thousand: half of them with changed bytes, half made by a prover that lies at a place
 * drawn at random and goes on from there.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     test_mutants                             the tests: 200 mutants (fewer where code is slow)
 *     test_mutants --write FOLDER N [SEED]     N mutants as envelopes, and FOLDER/manifest.tsv: file, verdict
 * (accepted, rejected, malformed), check, index, what was done
 *
 * Mutant i is a function of the seed and i. Even ones are changes of an honest proof's bytes; odd ones are
 * repaired: the transcript, the nonces and the Merkle paths after the lie are those of the lie. The kinds of
 * messages take turns, so that each check has its share. */
#include "t.h"
#include "support/proof_rig.h"
#include "support/slow.h"

enum { MOST_MESSAGES = 4096, SHAPES = 5, STEP = 8 /* bits of the seed's mix */ };

typedef struct message { /* of an honest proof */
    msg_kind kind;
    size_t at, len; /* bytes */
} message;

typedef struct shape {
    proof_rig g;
    unsigned rate;
    uint8_t *proof;
    size_t len;
    message sent[MOST_MESSAGES];
    size_t n_sent;
    unsigned of_kind[MSG_KIND_COUNT_];
} shape;

/* Signers (negative: hashes) and rate (0: the default). */
static const struct {
    int count;
    unsigned rate;
} shape_rows[SHAPES] = {{-1, 0}, {-5, 2}, {-2, 6}, {1, 0}, {3, 2}};

typedef struct stage {
    shape shapes[SHAPES];
    pool *pool;
} stage;

static void note(void *ctx, msg_kind kind, uint64_t *words, size_t n) {
    shape *s = ctx;
    (void)words;
    if (s->n_sent == MOST_MESSAGES)
        return;
    const message *last = s->n_sent > 0 ? &s->sent[s->n_sent - 1] : NULL;
    s->sent[s->n_sent++] = (message){kind, last != NULL ? last->at + last->len : 0, 8 * n};
    s->of_kind[kind]++;
}

static int shape_init(shape *s, size_t i, pool *p, uint64_t seed) {
    const int count = shape_rows[i].count;
    env e = {.pool = p};
    sheaf_failure f;
    tx c;
    s->rate = shape_rows[i].rate;
    if ((count < 0 ? proof_rig_hash(&s->g, (size_t)-count, seed)
                   : proof_rig_leanxmss(&s->g, (size_t)count, 4000 + (uint32_t)i, seed)) != 0)
        return -1;
    tx_init(&c);
    c.hook = note;
    c.hook_ctx = s;
    if (leaf_prove_on(&c, &e, &s->g.leaf.st, &s->g.w, s->rate, &f) != SHEAF_OK || s->n_sent == MOST_MESSAGES)
        return -1;
    s->proof = c.out;
    s->len = c.len;
    return leaf_verify(c.out, c.len, &s->g.leaf.st, NULL, &f) == SHEAF_OK ? 0 : -1;
}

static int stage_init(stage *t, uint64_t seed) {
    memset(t, 0, sizeof *t);
    t->pool = pool_create(2);
    for (size_t i = 0; i < SHAPES; i++)
        if (shape_init(&t->shapes[i], i, t->pool, seed + i) != 0)
            return -1;
    return 0;
}

static void stage_free(stage *t) {
    for (size_t i = 0; i < SHAPES; i++) {
        free(t->shapes[i].proof);
        proof_rig_free(&t->shapes[i].g);
    }
    pool_destroy(t->pool);
}

/* ---- one mutant ---- */

typedef struct mutant {
    const shape *s;
    uint8_t *envelope;
    size_t len;
    int repaired, statement; /* the statement was changed, not the proof */
    msg_kind kind;           /* of the message that was changed */
    char what[96];
    /* the lie */
    unsigned nth, seen;
    size_t word;
    uint64_t change;
    int whole; /* all of the message's words are random */
    uint64_t seed;
    unsigned told;
} mutant;

static size_t draw(uint64_t *seed, size_t n) {
    return (size_t)(t_rand64(seed) % n);
}

/* A shape that sends messages of this kind, the small ones more often. */
static const shape *draw_shape(const stage *t, msg_kind kind, uint64_t *seed) {
    static const uint8_t weights[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4};
    for (;;) {
        const shape *s = &t->shapes[weights[draw(seed, sizeof weights)]];
        if (s->of_kind[kind] > 0)
            return s;
    }
}

/* Half of the kinds' messages are many: the first one and the last have a share of their own. */
static unsigned draw_message(const shape *s, msg_kind kind, uint64_t *seed) {
    const unsigned n = s->of_kind[kind];
    switch (draw(seed, 4)) {
    case 0:
        return 0;
    case 1:
        return n - 1;
    default:
        return (unsigned)draw(seed, n);
    }
}

static const char *const kind_names[MSG_KIND_COUNT_] = {
    "header",        "root",        "multiplicities", "bus round",   "bus tail",
    "v_out",         "layer round", "layer tail",     "input round", "slices",
    "opening round", "ood",         "nonce",          "opening",     "last word"};

static void lie(void *ctx, msg_kind kind, uint64_t *words, size_t n) {
    mutant *m = ctx;
    if (kind != m->kind || m->seen++ != m->nth)
        return;
    m->told++;
    if (m->whole)
        for (size_t i = 0; i < n; i++)
            words[i] = t_rand64(&m->seed);
    else if (kind == MSG_MULTIPLICITY && (m->change & 0xff) != 0) /* a look-up moved: the sum is right */
        words[m->word % n]--, words[(m->word + 1) % n]++;
    else
        words[m->word % n] ^= m->change;
}

static int make_repaired(mutant *m, const stage *t, size_t number, uint64_t *seed) {
    env e = {.pool = t->pool};
    sheaf_failure f;
    tx c;
    m->repaired = 1;
    m->kind = (msg_kind)(number % MSG_KIND_COUNT_);
    m->s = draw_shape(t, m->kind, seed);
    m->nth = draw_message(m->s, m->kind, seed);
    m->word = draw(seed, 1 << 20);
    m->change = UINT64_C(1) << draw(seed, 64);
    m->whole = draw(seed, 8) == 0;
    m->seed = t_rand64(seed);
    snprintf(m->what, sizeof m->what, "repaired: %s %u, %s", kind_names[m->kind], m->nth,
             m->whole ? "all words" : "a bit");
    tx_init(&c);
    c.hook = lie;
    c.hook_ctx = m;
    int result = -1;
    if (leaf_prove_on(&c, &e, &m->s->g.leaf.st, &m->s->g.w, m->s->rate, &f) == SHEAF_OK && m->told == 1) {
        m->envelope = proof_rig_envelope(&m->s->g, c.out, c.len, &m->len);
        result = m->envelope != NULL ? 0 : -1;
    }
    tx_free(&c);
    return result;
}

/* Where message `nth` of its kind is. */
static const message *find_message(const shape *s, msg_kind kind, unsigned nth) {
    const message *at = s->sent;
    while (at->kind != kind || nth-- > 0)
        at++;
    return at;
}

/* The proof's length is in the envelope before it. */
static int set_length(mutant *m, size_t proof_len) {
    const size_t before = m->len - m->s->len;
    uint8_t *moved = realloc(m->envelope, before + proof_len);
    if (moved == NULL)
        return -1;
    m->envelope = moved;
    m->len = before + proof_len;
    store32_le(moved + before - ENVELOPE_LENGTH_BYTES, (uint32_t)proof_len);
    return 0;
}

static int make_raw(mutant *m, const stage *t, size_t number, uint64_t *seed) {
    m->kind = (msg_kind)(number % MSG_KIND_COUNT_);
    m->s = draw_shape(t, m->kind, seed);
    m->nth = draw_message(m->s, m->kind, seed);
    m->envelope = proof_rig_envelope(&m->s->g, m->s->proof, m->s->len, &m->len);
    if (m->envelope == NULL)
        return -1;
    const size_t before = m->len - m->s->len;
    uint8_t *proof = m->envelope + before;
    const message *at = find_message(m->s, m->kind, m->nth);
    size_t place = at->at + draw(seed, at->len), by;
    switch (draw(seed, 12)) {
    case 0:
        by = draw(seed, m->s->len);
        snprintf(m->what, sizeof m->what, "cut to %zu bytes", by);
        m->kind = MSG_HEADER;
        return set_length(m, by);
    case 1:
        by = 1 + draw(seed, 40);
        snprintf(m->what, sizeof m->what, "%zu bytes more", by);
        m->kind = MSG_HEADER;
        if (set_length(m, m->s->len + by) != 0)
            return -1;
        t_rand_bytes(seed, m->envelope + m->len - by, by);
        return 0;
    case 2: /* after the magic, versions, kind, count, reserved: the epoch of an aggregate, the message, the
               list */
        m->statement = 1;
        place =
            m->s->g.st.kind == SHEAF_KIND_HASH ? 56 + draw(seed, before - 60) : 24 + draw(seed, before - 28);
        m->envelope[place] ^= (uint8_t)(1u << draw(seed, 8));
        snprintf(m->what, sizeof m->what, "statement: byte %zu", place);
        return 0;
    case 3:
        place = draw(seed, m->s->len);
        for (size_t i = 0; i < m->s->n_sent; i++)
            if (m->s->sent[i].at <= place)
                m->kind = m->s->sent[i].kind;
        break;
    case 4: /* a whole word, to zero or all ones */
        place -= place % 8;
        memset(proof + place, proof[place] != 0 ? 0 : 0xff, 8);
        if (memcmp(proof + place, m->s->proof + place, 8) != 0) {
            snprintf(m->what, sizeof m->what, "%s %u: the word at %zu is set", kind_names[m->kind], m->nth,
                     place);
            return 0;
        }
        break;
    default:
        break;
    }
    proof[place] ^= (uint8_t)(1u << draw(seed, 8));
    snprintf(m->what, sizeof m->what, "%s: byte %zu", kind_names[m->kind], place);
    return 0;
}

static int mutant_make(mutant *m, const stage *t, uint64_t seed, size_t i) {
    uint64_t own = seed + (i << STEP);
    memset(m, 0, sizeof *m);
    for (unsigned k = 0; k < 3; k++)
        t_rand64(&own);
    return i % 2 != 0 ? make_repaired(m, t, i / 2, &own) : make_raw(m, t, i / 2, &own);
}

/* ---- the tests ---- */

/* The first check that reads a message of the kind. */
static sheaf_check first_check(msg_kind kind) {
    switch (kind) {
    case MSG_HEADER:
        return SHEAF_CHECK_HEADER;
    case MSG_ROOT:
    case MSG_MULTIPLICITY:
        return SHEAF_CHECK_MULTIPLICITY;
    case MSG_BUS_ROUND:
        return SHEAF_CHECK_BUS_LAYER;
    case MSG_BUS_TAIL:
        return SHEAF_CHECK_BUS_BALANCE;
    case MSG_V_OUT:
    case MSG_LAYER_ROUND:
    case MSG_LAYER_TAIL:
        return SHEAF_CHECK_LAYER;
    case MSG_INPUT_ROUND:
    case MSG_SLICES:
        return SHEAF_CHECK_INPUT;
    default:
        return SHEAF_CHECK_GRINDING;
    }
}

TEST(mutants_are_rejected_by_a_check_that_comes_after_the_change) {
    static stage t;
    const size_t n = 200 / slow_stride(10);
    const uint64_t seed = t_seed();
    unsigned by_check[SHEAF_CHECK_COUNT_] = {0}, accepted = 0;
    REQUIRE(stage_init(&t, seed) == 0);
    for (size_t i = 0; i < n; i++) {
        mutant m;
        sheaf_failure f;
        if (!CHECK_EQ_INT(mutant_make(&m, &t, seed, i), 0))
            break;
        const sheaf_status status = proof_rig_verify(m.envelope, m.len, NULL, &f);
        int as_meant;
        if (status == SHEAF_OK) /* another nonce that meets its target is as good as the smallest */
            as_meant = CHECK(m.repaired && m.kind == MSG_NONCE);
        else
            as_meant =
                CHECK_EQ_INT(status, SHEAF_REJECTED) &
                CHECK(f.check >= first_check(m.kind) || f.check == SHEAF_CHECK_TRUNCATED || m.statement);
        if (!as_meant)
            printf("  mutant %zu, %s: %s\n", i, m.what, f.message);
        accepted += status == SHEAF_OK;
        by_check[f.check]++;
        free(m.envelope);
    }
    CHECK(accepted < 1 + n / 20);
    for (unsigned c = SHEAF_CHECK_HEADER; c < SHEAF_CHECK_STATEMENT; c++)
        if (n >= 200 && !CHECK(by_check[c] > 0))
            printf("  no mutant met the check %s\n", sheaf_check_name((sheaf_check)c));
    stage_free(&t);
}

TEST(a_mutant_is_a_function_of_the_seed_and_its_number) {
    static stage t;
    REQUIRE(stage_init(&t, 1) == 0);
    for (size_t i = 20; i < 24; i++) {
        mutant a, b;
        CHECK_EQ_INT(mutant_make(&a, &t, 9, i), 0);
        CHECK_EQ_INT(mutant_make(&b, &t, 9, i), 0);
        if (CHECK_EQ_U64(a.len, b.len))
            CHECK_MEM(a.envelope, b.envelope, a.len);
        free(b.envelope);
        CHECK_EQ_INT(mutant_make(&b, &t, 10, i), 0);
        CHECK(a.len != b.len || memcmp(a.envelope, b.envelope, a.len) != 0);
        free(a.envelope);
        free(b.envelope);
    }
    stage_free(&t);
}

/* ---- as files ---- */

static int write_mutant(const mutant *m, const char *folder, size_t i, FILE *manifest) {
    char path[4096];
    sheaf_failure f;
    if (snprintf(path, sizeof path, "%s/mutant-%05zu.sheaf", folder, i) >= (int)sizeof path)
        return -1;
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return -1;
    const size_t written = fwrite(m->envelope, 1, m->len, file);
    if (fclose(file) != 0 || written != m->len)
        return -1;
    const sheaf_status status = proof_rig_verify(m->envelope, m->len, NULL, &f);
    return fprintf(manifest, "mutant-%05zu.sheaf\t%s\t%s\t%llu\t%s\n", i,
                   status == SHEAF_OK         ? "accepted"
                   : status == SHEAF_REJECTED ? "rejected"
                                              : "malformed",
                   sheaf_check_name(f.check), (unsigned long long)f.index, m->what) < 0
               ? -1
               : 0;
}

static int write_all(const char *folder, size_t n, uint64_t seed) {
    static stage t;
    char path[4096];
    int result = 0;
    if (snprintf(path, sizeof path, "%s/manifest.tsv", folder) >= (int)sizeof path ||
        stage_init(&t, seed) != 0)
        return -1;
    FILE *manifest = fopen(path, "w");
    if (manifest == NULL)
        return -1;
    for (size_t i = 0; i < n && result == 0; i++) {
        mutant m;
        result = mutant_make(&m, &t, seed, i) != 0 || write_mutant(&m, folder, i, manifest) != 0 ? -1 : 0;
        free(m.envelope);
    }
    stage_free(&t);
    return fclose(manifest) == 0 ? result : -1;
}

int main(int argc, char **argv) {
    if (argc >= 4 && strcmp(argv[1], "--write") == 0) {
        const uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 0) : UINT64_C(0x5eaf);
        return write_all(argv[2], strtoul(argv[3], NULL, 10), seed) == 0 ? 0 : 1;
    }
    return t_main_(argc, argv);
}
