/* WHIR, proving side.   docs/protocol.md 6.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tables are folded in halves, so every pass is over contiguous vectors, in pieces that the pool's workers
 * take and whose sums are added by XOR: exact, so that no number of threads changes a byte. Kernels take
 * multiples of eight elements; rounds on fewer are plain, and the small tables of a level's claims are padded
 * with zeros. */
#include "commit.h"
#include "../poly/poly.h"

#define PIECE_LOG 10 /* elements of a piece, as an exponent */
#define PIECE ((size_t)1 << PIECE_LOG)
#define VECTOR 8 /* the kernels' granule */

/* ---- rounds ---- */

typedef struct round_sums {
    gf192 c0, c2;
} round_sums;

typedef struct prover {
    tx *c;
    env *e;
    const whir_params *par;
    const sheaf_kernels *k;
    const uint64_t *q; /* level 0's word until its first fold, then NULL */
    evec f, w; /* the word (once q is folded) and the weight: n elements at the start of each plane. The first
                * fold frees the weight's upper half; the word goes there. */
    size_t n;
    gf192 r;          /* what is being folded with */
    round_sums *part; /* one a worker, zero between passes */
} prover;

static gf192 word_at(const prover *s, size_t i) {
    return s->q != NULL ? gf192_from_k(s->q[i]) : evec_get(s->f, i);
}

static void add_sums(round_sums *to, gf192 c0, gf192 c2) {
    to->c0 = gf192_add(to->c0, c0);
    to->c2 = gf192_add(to->c2, c2);
}

static round_sums collect(prover *s) {
    round_sums total = {GF192_ZERO, GF192_ZERO};
    for (unsigned i = 0; i < pool_threads(s->e->pool); i++) {
        add_sums(&total, s->part[i].c0, s->part[i].c2);
        s->part[i] = (round_sums){GF192_ZERO, GF192_ZERO};
    }
    return total;
}

/* The sums over len pairs of elements `half` apart. With the halves exchanged, evec_dot2's value at 1 is the
 * one at 0. */
static void sum_range(prover *s, size_t at, size_t half, size_t len, unsigned worker) {
    gf192 d[2];
    s->k->evec_dot2(d, evec_at(s->w, at + half), evec_at(s->w, at), evec_at(s->f, at + half),
                    evec_at(s->f, at), len);
    add_sums(&s->part[worker], d[0], d[1]);
}

static void sum_range_k(prover *s, size_t at, size_t half, size_t len, unsigned worker) {
    gf192 d[3];
    s->k->evec_dot3_k(d, evec_at(s->w, at), evec_at(s->w, at + half), s->q + at, s->q + at + half, len);
    add_sums(&s->part[worker], d[0], d[2]);
}

/* The weight first: the word may be written where its upper half is read. */
static void fold_range(prover *s, size_t at, size_t half, size_t len) {
    const evec w = evec_at(s->w, at), f = evec_at(s->f, at);
    s->k->evec_fold(w, w, evec_at(s->w, at + half), s->r, len);
    if (s->q != NULL)
        s->k->evec_fold_k(f, s->q + at, s->q + at + half, s->r, len);
    else
        s->k->evec_fold(f, f, evec_at(s->f, at + half), s->r, len);
}

static size_t piece_of(size_t n) {
    return n < PIECE ? n : PIECE;
}

static void sum_piece(void *ctx, size_t task, unsigned worker) {
    prover *s = ctx;
    const size_t half = s->n / 2, len = piece_of(half);
    if (s->q != NULL)
        sum_range_k(s, task * len, half, len, worker);
    else
        sum_range(s, task * len, half, len, worker);
}

static void fold_piece(void *ctx, size_t task, unsigned worker) {
    prover *s = ctx;
    const size_t half = s->n / 2, len = piece_of(half);
    (void)worker;
    fold_range(s, task * len, half, len);
}

/* Folds a piece of either half of what stays, and sums over what it has just written. */
static void fold_and_sum_piece(void *ctx, size_t task, unsigned worker) {
    prover *s = ctx;
    const size_t half = s->n / 2, quarter = s->n / 4, len = piece_of(quarter), at = task * len;
    fold_range(s, at, half, len);
    fold_range(s, at + quarter, half, len);
    sum_range(s, at, quarter, len, worker);
}

static round_sums sum_round(prover *s) {
    const size_t half = s->n / 2;
    if (half >= VECTOR) {
        pool_run(s->e->pool, half / piece_of(half), sum_piece, s);
        return collect(s);
    }
    round_sums sums = {GF192_ZERO, GF192_ZERO};
    for (size_t i = 0; i < half; i++) {
        const gf192 w0 = evec_get(s->w, i), f0 = word_at(s, i);
        const gf192 w2 = gf192_add(w0, evec_get(s->w, half + i)), f2 = gf192_add(f0, word_at(s, half + i));
        add_sums(&sums, gf192_mul(w0, f0), gf192_mul(w2, f2));
    }
    return sums;
}

static gf192 fold_one(gf192 a0, gf192 a1, gf192 r) {
    return gf192_add(a0, gf192_mul(r, gf192_add(a0, a1)));
}

static void end_fold(prover *s) {
    s->n /= 2;
    s->q = NULL;
}

static void fold_round(prover *s) {
    const size_t half = s->n / 2;
    if (half >= VECTOR) {
        pool_run(s->e->pool, half / piece_of(half), fold_piece, s);
    } else {
        for (size_t i = 0; i < half; i++) {
            evec_set(s->w, i, fold_one(evec_get(s->w, i), evec_get(s->w, half + i), s->r));
            evec_set(s->f, i, fold_one(word_at(s, i), word_at(s, half + i), s->r));
        }
    }
    end_fold(s);
}

/* fold_round, then sum_round, in one pass where it is worth it. */
static round_sums fold_and_sum_round(prover *s) {
    const size_t quarter = s->n / 4;
    if (quarter < VECTOR) {
        fold_round(s);
        return sum_round(s);
    }
    pool_run(s->e->pool, quarter / piece_of(quarter), fold_and_sum_piece, s);
    end_fold(s);
    return collect(s);
}

/* Half of what is left of the work, a rough measure, is done after each level. */
static int report(prover *s, unsigned level, double part_of_level) {
    const double before = 1.0 - 1.0 / (double)(1u << level);
    return env_progress(s->e, before + part_of_level / (double)(2u << level), "open");
}

static int run_rounds(prover *s, unsigned level, unsigned rounds) {
    round_sums sums = rounds > 0 ? sum_round(s) : (round_sums){GF192_ZERO, GF192_ZERO};
    for (unsigned i = 0; i < rounds; i++) {
        const gf192 sent[2] = {sums.c0, sums.c2};
        tx_send_e(s->c, MSG_WHIR_ROUND, sent, 2);
        transcript_squeeze(&s->c->t, &s->r, 1);
        if (i + 1 < rounds)
            sums = fold_and_sum_round(s);
        else
            fold_round(s);
        if (report(s, level, 0.5 * (i + 1) / rounds) != 0)
            return -1;
    }
    return 0;
}

static int staged_rounds(prover *s, unsigned level, unsigned rounds) {
    env_stage_begin(s->e, "rounds");
    const int result = run_rounds(s, level, rounds);
    env_stage_end(s->e);
    return result;
}

/* ---- the next word ---- */

/* An element of row b is three rows of the matrix, its limbs: 3b, 3b+1, 3b+2.   docs/protocol.md 6.1 */
static int commit_folded(prover *s, unsigned level, whir_commitment *w) {
    const whir_level *par = &s->par->level[level];
    const size_t rows = (size_t)1 << par->fold, columns = s->n >> par->fold;
    uint64_t *msg = mem_alloc(s->e->mem, 3 * s->n * sizeof(uint64_t));
    if (msg == NULL)
        return -1;
    for (size_t b = 0; b < rows; b++)
        for (size_t l = 0; l < 3; l++)
            memcpy(msg + (3 * b + l) * columns, s->f.p + l * s->f.stride + b * columns,
                   columns * sizeof(uint64_t));
    *w = (whir_commitment){
        .msg = msg, .own = msg, .k = ceil_log2(columns), .rate = par->rate, .live_rows = 3 * rows};
    return commit_rows(s->c, s->e, w, par->queries, s->par->arity);
}

static void send_last_word(prover *s) {
    gf192 last[1u << PARAMS_LAST_LOG];
    for (size_t i = 0; i < s->n; i++)
        last[i] = evec_get(s->f, i);
    tx_send_e(s->c, MSG_LAST_WORD, last, s->n);
}

/* ---- a level's claims ----
 *
 * The weight of a claim is a tensor, so it is kept as two tables, over the low variables (a block) and the
 * high ones (the blocks). Those of queries are over K. A block of the weight gains, for each claim, its low
 * table times one constant. */
typedef struct level_claims {
    prover *s;
    unsigned k, low;      /* variables, and those of a block */
    size_t block, blocks; /* elements of a block, blocks */
    size_t padded;        /* a block's place: at least VECTOR, zeros past the block */
    size_t queries;
    int has_ood;
    gf192 xi;
    evec eq_low, eq_high;
    uint64_t *q_low;  /* [query][padded] */
    uint64_t *q_high; /* [block][query] */
    uint64_t *positions;
    gf192 *coeff; /* of each query's claim */
    void *memory;
} level_claims;

static int claims_init(level_claims *t, prover *s, unsigned level) {
    const size_t queries = s->par->level[level].queries;
    memset(t, 0, sizeof *t);
    t->s = s;
    t->k = ceil_log2(s->n);
    t->low = t->k < PIECE_LOG ? t->k : PIECE_LOG;
    t->block = (size_t)1 << t->low;
    t->blocks = (size_t)1 << (t->k - t->low);
    t->padded = round_up(t->block, VECTOR);
    t->queries = queries;
    t->has_ood = level + 1 < s->par->levels;
    const size_t high_padded = round_up(t->blocks, VECTOR);
    const size_t words = 3 * (t->padded + high_padded) + queries * (t->padded + t->blocks + 1 + 3);
    uint64_t *p = mem_alloc_zero(s->e->mem, words * sizeof(uint64_t));
    if (p == NULL)
        return -1;
    t->memory = p;
    t->eq_low = (evec){p, t->padded};
    p += 3 * t->padded;
    t->eq_high = (evec){p, high_padded};
    p += 3 * high_padded;
    t->q_low = p;
    p += queries * t->padded;
    t->q_high = p;
    p += queries * t->blocks;
    t->positions = p;
    t->coeff = (gf192 *)(void *)(p + queries);
    return 0;
}

static void claims_free(level_claims *t) {
    mem_free(t->s->e->mem, t->memory);
}

static void ood_block(void *ctx, size_t task, unsigned worker) {
    level_claims *t = ctx;
    gf192 d;
    t->s->k->evec_dot(&d, t->eq_low, evec_at(t->s->f, task * t->block), t->padded);
    add_sums(&t->s->part[worker], gf192_mul(evec_get(t->eq_high, task), d), GF192_ZERO);
}

/* Draws the out-of-domain point and sends the word's value there. */
static void send_ood(level_claims *t) {
    gf192 o[NTT_MAX_LOG_N];
    transcript_squeeze(&t->s->c->t, o, t->k);
    eq_table_evec(t->eq_low, o, t->low, GF192_ONE);
    eq_table_evec(t->eq_high, o + t->low, t->k - t->low, GF192_ONE);
    pool_run(t->s->e->pool, t->blocks, ood_block, t);
    const gf192 y = collect(t->s).c0;
    tx_send_e(t->s->c, MSG_OOD, &y, 1);
}

static void query_tables(void *ctx, size_t task, unsigned worker) {
    level_claims *t = ctx;
    gf64 basis[NTT_MAX_LOG_N];
    (void)worker;
    ntt_basis_at(basis, t->k, t->positions[task]);
    commit_tensor(t->q_low + task * t->padded, 1, basis, t->low);
    commit_tensor(t->q_high + task, t->queries, basis + t->low, t->k - t->low);
}

static void weigh_block(void *ctx, size_t task, unsigned worker) {
    level_claims *t = ctx;
    const evec w = evec_at(t->s->w, task * t->block);
    const uint64_t *high = t->q_high + task * t->queries;
    (void)worker;
    if (t->has_ood)
        t->s->k->evec_scale_add(w, t->eq_low, gf192_mul(t->xi, evec_get(t->eq_high, task)), t->padded);
    for (size_t q = 0; q < t->queries; q++)
        t->s->k->evec_scale_add_k(w, t->q_low + q * t->padded, gf192_mul_k(t->coeff[q], high[q]), t->padded);
}

/* Steps 3 and 4 of 6.3. */
static int answer_queries(level_claims *t, unsigned level, const whir_commitment *w) {
    prover *s = t->s;
    const whir_level *par = &s->par->level[level];
    const unsigned log_n = t->k + par->rate;
    tx_grind(s->c, par->grind, s->e->pool);
    transcript_squeeze_words(&s->c->t, t->positions, t->queries);
    for (size_t q = 0; q < t->queries; q++)
        t->positions[q] &= (UINT64_C(1) << log_n) - 1;
    if (commit_open(s->c, s->e, w, t->positions, t->queries) != 0)
        return -1;

    transcript_squeeze(&s->c->t, &t->xi, 1);
    gf192 power = t->has_ood ? gf192_mul(t->xi, t->xi) : t->xi;
    for (size_t q = 0; q < t->queries; q++) {
        t->coeff[q] = power;
        power = gf192_mul(power, t->xi);
    }
    pool_run(s->e->pool, t->queries, query_tables, t);
    pool_run(s->e->pool, t->blocks, weigh_block, t);
    return 0;
}

/* ---- the whole ---- */

/* Level i, whose word is committed in w; *next is the next level's commitment, made where there is one. */
static int run_level(prover *s, unsigned i, const whir_commitment *w, whir_commitment *next) {
    level_claims claims;
    const int is_last = i + 1 == s->par->levels;
    if (staged_rounds(s, i, s->par->level[i].fold) != 0)
        return -1;
    if (is_last)
        send_last_word(s);
    else if (commit_folded(s, i + 1, next) != 0)
        return -1;
    if (claims_init(&claims, s, i) != 0)
        return -1;
    env_stage_begin(s->e, "queries");
    if (!is_last)
        send_ood(&claims);
    const int result = answer_queries(&claims, i, w);
    env_stage_end(s->e);
    claims_free(&claims);
    return result != 0 ? -1 : report(s, i, 1.0);
}

static int run_levels(prover *s, const whir_commitment *first) {
    whir_commitment own[2]; /* the level's word, unless it is the first, and the next one */
    int result = 0;
    memset(own, 0, sizeof own);
    for (unsigned i = 0; i < s->par->levels && result == 0; i++) {
        result = run_level(s, i, i == 0 ? first : &own[0], &own[1]);
        whir_commitment_free(&own[0], s->e->mem);
        own[0] = own[1];
        memset(&own[1], 0, sizeof own[1]);
    }
    whir_commitment_free(&own[0], s->e->mem);
    return result;
}

int whir_open(tx *c, env *e, const whir_params *par, const whir_commitment *w, const uint64_t *q,
              evec weight) {
    const size_t n = (size_t)1 << par->log_words;
    prover s = {
        .c = c, .e = e, .par = par, .k = kernels(), .q = q, .f = evec_at(weight, n / 2), .w = weight, .n = n};
    int result = -1;
    s.part = mem_alloc_zero(e->mem, pool_threads(e->pool) * sizeof *s.part);
    if (s.part != NULL) {
        transcript_label(&c->t, "whir    ");
        result = run_levels(&s, w);
        if (result == 0)
            result = staged_rounds(&s, par->levels, par->last_log);
    }
    mem_free(e->mem, s.part);
    return result == 0 && !c->failed ? 0 : -1;
}
