/* Committing to the rows of a matrix of words, and opening columns of its code.   docs/protocol.md 4, 5.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A block of columns is hashed as soon as it is encoded, while it is in a cache. Where the code is many times
 * as long as the rows and few columns of it are opened, it is not kept: cosets follow each other in the same
 * memory, and what is opened is computed from the rows, each word a sum over the row. */
#include "commit.h"

#define LOW_LOG 8  /* words of a row that a sum takes at once, as an exponent */
#define KEEP 10    /* a word of the code costs, to write, as much as so many products */
#define LOG_TASK 8 /* columns that are worth a task, as an exponent */
#define LEAST_BLOCK LOG_TASK
#define NEAR ((size_t)1 << 15) /* words of a block that a second-level cache keeps until they are hashed */

/* ---- committing ---- */

typedef struct commit_job {
    env *e;
    whir_commitment *w;
    const ntt_domain *domain;
    uint64_t *words;   /* the code, or what groups of cosets share */
    unsigned log_part; /* columns that are hashed at once */
} commit_job;

/* Words of a group of cosets. */
static size_t group_words(const whir_commitment *w) {
    return w->together * w->live_rows << w->k;
}

/* The caller's thread divides its time between the two stages; the other threads are not measured. */
static void hash_part(void *ctx, size_t position, const uint64_t *words, unsigned worker) {
    const commit_job *j = ctx;
    whir_commitment *w = j->w;
    if (worker == 0) {
        env_stage_end(j->e);
        env_stage_begin(j->e, "merkle");
    }
    merkle_part(&w->tree, position, j->log_part, words, w->layout.row, w->live_rows);
    if (worker == 0) {
        env_stage_end(j->e);
        env_stage_begin(j->e, "encode");
    }
}

static ntt_run run_of(const commit_job *j, size_t group, size_t place) {
    const whir_commitment *w = j->w;
    return (ntt_run){.domain = j->domain,
                     .msg = w->msg,
                     .rows = w->live_rows,
                     .k = w->k,
                     .code = j->words + (w->code != NULL ? group : place) * group_words(w),
                     .layout = w->layout,
                     .first = group * w->together,
                     .count = w->together};
}

/* A group by one thread. */
static void group_task(void *ctx, size_t group, unsigned worker) {
    const commit_job *j = ctx;
    const ntt_run run = run_of(j, group, worker);
    ntt_encode(&run, NULL);
    hash_part(ctx, run.first << run.k, run.code, worker);
}

static void encode_and_hash(commit_job *j) {
    whir_commitment *w = j->w;
    const size_t groups = ((size_t)1 << w->rate) / w->together;
    if (w->layout.block_log == w->k) {
        pool_run(j->e->pool, groups, group_task, j);
        return;
    }
    for (size_t group = 0; group < groups; group++) {
        ntt_run run = run_of(j, group, 0);
        run.done = hash_part;
        run.ctx = j;
        ntt_encode(&run, j->e->pool);
    }
}

/* How a matrix of `rows` rows is committed to. */
typedef struct plan {
    unsigned block_log, log_part;
    int keep;                /* the code */
    size_t together, places; /* groups that there is room for */
} plan;

static plan plan_of(size_t rows, unsigned k, unsigned rate, size_t queries, unsigned threads) {
    const size_t cosets = (size_t)1 << rate;
    plan p = {.block_log = ntt_block_log(k, rate, threads), .together = 1};
    while (p.block_log < k && p.block_log > LEAST_BLOCK && rows << p.block_log > NEAR)
        p.block_log--;
    p.log_part = p.block_log;
    p.keep = queries > (size_t)KEEP << rate || k < 3 || rows < 3; /* what computes words takes no less */
    if (p.block_log < k) {                                        /* so many that all threads have work */
        while (threads > 1 && p.together << (k - p.block_log) < 4 * (size_t)threads && p.together < cosets)
            p.together *= 2;
    } else { /* so many that their columns are worth a task */
        for (; p.log_part < LOG_TASK && p.together < cosets; p.log_part++)
            p.together *= 2;
    }
    p.places = p.keep ? cosets / p.together : p.block_log < k || threads == 0 ? 1 : threads;
    return p;
}

static void send_root(tx *c, const merkle_tree *t) {
    uint8_t root[32];
    uint64_t words[4];
    merkle_root(t, root);
    for (unsigned l = 0; l < 4; l++)
        words[l] = load64_le(root + 8 * l);
    tx_send_words(c, MSG_ROOT, words, 4);
}

int commit_rows(tx *c, env *e, whir_commitment *w, size_t queries, unsigned arity) {
    const plan how = plan_of(w->live_rows, w->k, w->rate, queries, pool_threads(e->pool));
    commit_job j = {.e = e, .w = w, .log_part = how.log_part};
    int result = -1;
    w->together = how.together;
    if (how.block_log < w->k)
        w->layout = (ntt_layout){.block_log = how.block_log,
                                 .row = (size_t)1 << how.block_log,
                                 .block = w->live_rows << how.block_log,
                                 .coset = w->live_rows << w->k};
    else
        w->layout = (ntt_layout){.block_log = w->k, .row = how.together << w->k, .coset = (size_t)1 << w->k};
    env_stage_begin(e, "encode");
    ntt_domain *domain = ntt_domain_create(e->mem, w->k + w->rate);
    uint64_t *words = w->live_rows > SIZE_MAX / sizeof(uint64_t) / how.places / how.together >> w->k
                          ? NULL
                          : mem_alloc(e->mem, how.places * group_words(w) * sizeof(uint64_t));
    if (domain != NULL && words != NULL && merkle_init(&w->tree, e->mem, w->k + w->rate, arity) == 0) {
        j.domain = domain;
        j.words = words;
        if (how.keep)
            w->code = words;
        encode_and_hash(&j);
        result = 0;
    }
    env_stage_end(e);
    if (result == 0) {
        env_stage_begin(e, "merkle");
        merkle_finish(&w->tree, e->pool, how.log_part);
        env_stage_end(e);
        send_root(c, &w->tree);
    }
    if (w->code == NULL)
        mem_free(e->mem, words);
    ntt_domain_destroy(e->mem, domain);
    if (result != 0)
        whir_commitment_free(w, e->mem);
    return result;
}

void whir_commitment_free(whir_commitment *w, mem *m) {
    mem_free(m, w->own);
    mem_free(m, w->code);
    merkle_free(&w->tree, m);
    memset(w, 0, sizeof *w);
}

int whir_commit(tx *c, env *e, whir_commitment *w, const whir_params *par, const uint64_t *q,
                size_t live_words) {
    const whir_level *level = &par->level[0];
    *w = (whir_commitment){.msg = q,
                           .k = par->log_words - level->fold,
                           .rate = level->rate,
                           .live_rows = whir_live_rows(par, live_words)};
    int result = commit_rows(c, e, w, level->queries, par->arity);
    if (result == 0 && env_progress(e, 1.0, "commit") != 0) {
        whir_commitment_free(w, e->mem);
        result = -1;
    }
    return result;
}

whir_bytes whir_commitment_bytes(const whir_params *par, size_t live_rows, unsigned threads) {
    const whir_level *level = &par->level[0];
    const unsigned k = (unsigned)par->log_words - level->fold;
    const plan how = plan_of(live_rows, k, level->rate, level->queries, threads);
    const uint64_t nodes = merkle_count(k + level->rate, par->arity) * 32;
    const uint64_t words = (uint64_t)how.places * how.together * live_rows * sizeof(uint64_t) << k;
    return (whir_bytes){nodes + (how.keep ? words : 0), nodes + words};
}

/* ---- opening ---- */

void commit_tensor(uint64_t *table, size_t stride, const gf64 *basis, unsigned n) {
    table[0] = 1;
    for (unsigned i = 0; i < n; i++)
        for (size_t j = 0, half = (size_t)1 << i; j < half; j++)
            table[(half + j) * stride] = gf64_mul(table[j * stride], basis[i]);
}

/* Words of the code computed from the rows, three rows at a time as a vector of elements. The positions of a
 * coset share the encoder's first layers: at most three of them, after which each position has an eighth of
 * the columns to sum. */
#define CHUNK 16 /* positions of a coset, a task */
#define SHARED 3 /* layers */
typedef struct open_job {
    const whir_commitment *w;
    const sheaf_kernels *kern;
    const uint64_t *distinct;
    size_t *first;                    /* of each chunk, and past the last */
    unsigned low;                     /* variables of a sum */
    size_t highs;                     /* sums a row */
    uint64_t *low_table, *high_table; /* one after another */
    uint64_t *leaves;
} open_job;

static void tensor_task(void *ctx, size_t i, unsigned worker) {
    const open_job *j = ctx;
    gf64 basis[NTT_MAX_LOG_N];
    (void)worker;
    ntt_basis_at(basis, j->w->k, j->distinct[i]);
    commit_tensor(j->low_table + (i << j->low), 1, basis, j->low);
    commit_tensor(j->high_table + i * j->highs, 1, basis + j->low, j->w->k - j->low);
}

/* Splits n ascending positions into chunks. Returns how many. */
static size_t split(size_t *first, const uint64_t *distinct, size_t n, unsigned k) {
    size_t chunks = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || distinct[i] >> k != distinct[i - 1] >> k || i - first[chunks - 1] == CHUNK)
            first[chunks++] = i;
    first[chunks] = n;
    return chunks;
}

static size_t triples_of(const whir_commitment *w) {
    return (w->live_rows + 2) / 3;
}

/* Layers that are worth sharing: each costs, for all columns, what one and a half positions' sums do. */
static unsigned shared_layers(const open_job *j, size_t positions) {
    const unsigned most = j->w->k - j->low;
    const unsigned worth = positions > 8 ? SHARED : positions > 4 ? 2 : positions > 2 ? 1 : 0;
    return worth < most ? worth : most;
}

/* The twiddles of these layers, in the coset of a position, as the kernels have them. */
static void shared_twiddles(gf64 tw[1 << SHARED], unsigned k, unsigned layers, uint64_t position) {
    const uint64_t coset = position >> k << k;
    for (unsigned layer = 0; layer < layers; layer++)
        for (uint64_t b = 0; b < UINT64_C(1) << layer; b++) {
            gf64 basis[NTT_MAX_LOG_N];
            ntt_basis_at(basis, k, coset + (b << (k - layer)));
            tw[(UINT64_C(1) << layer) + b] = basis[k - 1 - layer];
        }
}

static void words_task(void *ctx, size_t task, unsigned worker) {
    const open_job *j = ctx;
    const whir_commitment *w = j->w;
    const size_t triple = task % triples_of(w), from = j->first[task / triples_of(w)];
    const size_t n = j->first[task / triples_of(w) + 1] - from, sum = (size_t)1 << j->low;
    /* The last three overlap the ones before where the rows are no multiple of three. */
    const size_t row = 3 * triple + 3 <= w->live_rows ? 3 * triple : w->live_rows - 3;
    const unsigned layers = shared_layers(j, n), rest = w->k - layers;
    _Alignas(64) uint64_t tile[3 << (LOW_LOG + SHARED)];
    gf64 tw[1 << SHARED];
    gf192 sums[CHUNK] = {GF192_ZERO};
    (void)worker;
    shared_twiddles(tw, w->k, layers, j->distinct[from]);
    for (size_t h = 0; h < j->highs >> layers; h++) {
        evec words = {(uint64_t *)w->msg + (row << w->k) + h * sum, (size_t)1 << w->k}; /* only read */
        if (layers > 0) {
            const evec to = {tile, sum << layers};
            for (size_t l = 0; l < 3; l++)
                j->kern->ntt_rows(to.p + l * to.stride, sum, words.p + l * words.stride, (size_t)1 << rest,
                                  tw, layers, sum);
            words = to;
        }
        for (size_t i = 0; i < n; i++) {
            const size_t block = (size_t)(j->distinct[from + i] >> rest) & (((size_t)1 << layers) - 1);
            gf192 part;
            j->kern->evec_dot_k(&part, evec_at(words, block * sum), j->low_table + ((from + i) << j->low),
                                sum);
            sums[i] = gf192_add(sums[i], gf192_mul_k(part, j->high_table[(from + i) * j->highs + h]));
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t l = 3 * triple - row; l < 3; l++)
            j->leaves[(from + i) * w->live_rows + row + l] = sums[i].c[l];
}

static int compute_leaves(env *e, const whir_commitment *w, uint64_t *leaves, const uint64_t *distinct,
                          size_t n) {
    const unsigned low = w->k < LOW_LOG ? w->k : LOW_LOG;
    open_job j = {.w = w, .kern = kernels(), .distinct = distinct, .low = low, .leaves = leaves};
    j.highs = (size_t)1 << (w->k - low);
    j.low_table = mem_alloc(e->mem, ((n << low) + n * j.highs) * sizeof(uint64_t));
    j.first = mem_alloc(e->mem, (n + 1) * sizeof *j.first);
    const int result = j.low_table != NULL && j.first != NULL ? 0 : -1;
    if (result == 0) {
        j.high_table = j.low_table + (n << low);
        pool_run(e->pool, n, tensor_task, &j);
        pool_run(e->pool, triples_of(w) * split(j.first, distinct, n, w->k), words_task, &j);
    }
    mem_free(e->mem, j.first);
    mem_free(e->mem, j.low_table);
    return result;
}

static void collect_leaves(const whir_commitment *w, uint64_t *leaves, const uint64_t *distinct, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const size_t coset = (size_t)(distinct[i] >> w->k),
                     at = (size_t)distinct[i] & (((size_t)1 << w->k) - 1);
        const uint64_t *group = w->code + coset / w->together * group_words(w);
        for (size_t b = 0; b < w->live_rows; b++)
            leaves[i * w->live_rows + b] = group[ntt_place(&w->layout, b, coset % w->together, at)];
    }
}

int commit_open(tx *c, env *e, const whir_commitment *w, const uint64_t *positions, size_t n) {
    uint64_t *distinct = mem_alloc(e->mem, n * (1 + w->live_rows) * sizeof *distinct);
    int result = -1;
    if (distinct != NULL) {
        uint64_t *leaves = distinct + n;
        const size_t k = merkle_distinct(distinct, positions, n);
        result = 0;
        if (w->code != NULL)
            collect_leaves(w, leaves, distinct, k);
        else
            result = compute_leaves(e, w, leaves, distinct, k);
        if (result == 0)
            merkle_open_leaves(c, &w->tree, leaves, w->live_rows, distinct, k);
    }
    mem_free(e->mem, distinct);
    return result;
}
