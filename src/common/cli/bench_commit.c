/* The verb bench commit: the first commitment alone.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../aggregate/memory.h"
#include "../hash/shake.h"
#include "../pcs/whir.h"
#include "bench.h"

enum {
    LEAST_LOG = 7,
    MOST_LOG = 26,
    LEANXMSS_LEAST_LOG = 13, /* fewer words than any aggregate's are a hash batch's */
    LEANXMSS_J = 10,
    HASH_J = 4,
    COLUMNS_LEAST_LOG = 3 /* what the encoder's innermost kernel takes */
};

typedef struct commit_bench {
    const cli *c;
    sheaf_context *ctx;
    bench_rounds rounds;
    whir_params par; /* of its levels only the first is read */
    unsigned k;      /* the matrix has 2^k columns before it is encoded */
    uint64_t *words;
    uint8_t root[32];
} commit_bench;

static sheaf_status commit_once(void *arg, sheaf_failure *f) {
    commit_bench *b = arg;
    env e = context_env(b->ctx);
    tx channel;
    whir_commitment w;
    tx_init(&channel);
    int bad = whir_commit(&channel, &e, &w, &b->par, b->words, (size_t)1 << b->par.log_words);
    if (bad == 0) {
        merkle_root(&w.tree, b->root);
        whir_commitment_free(&w, e.mem);
    }
    tx_free(&channel);
    if (bad == 0)
        return SHEAF_OK;
    failure_set(f, e.cancelled ? SHEAF_CANCELLED : SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "%s",
                e.cancelled ? "cancelled" : "out of memory");
    return f->status;
}

static uint64_t bytes_of(const commit_bench *b) {
    const size_t rows = (size_t)1 << b->par.level[0].fold;
    return whir_commitment_bytes(&b->par, rows, pool_threads(b->ctx->pool)).most;
}

/* ---- what is said ---- */

typedef struct commit_figures {
    bench_range all, ntt, merkle;
    double ntt_cycles, merkle_cycles; /* of the median round */
    uint64_t butterflies, permutations, predicted;
} commit_figures;

/* Over the rounds; the stage may be missing in none. */
static bench_range stage_range(const bench_rounds *r, const char *name) {
    double v[BENCH_MOST_REPEATS] = {0};
    for (uint32_t i = 0; i < r->n; i++) {
        const stage_node *n = stage_log_find(&r->round[i].log, NULL, name);
        v[i] = n != NULL ? n->seconds : 0;
    }
    return bench_range_of(v, r->n);
}

static double stage_cycles_of(const bench_rounds *r, const char *name) {
    const stage_node *n = stage_log_find(&bench_median_round(r)->log, NULL, name);
    return n != NULL ? (double)n->cycles : 0;
}

/* Permutations that hash so many words and the byte of padding. */
static uint64_t permutations_of(uint64_t words) {
    return 8 * words / SHAKE256_RATE + 1;
}

static commit_figures figures_of(const commit_bench *b) {
    const unsigned log_n = b->k + b->par.level[0].rate;
    const uint64_t rows = UINT64_C(1) << b->par.level[0].fold;
    commit_figures r = {.all = bench_seconds(&b->rounds),
                        .ntt = stage_range(&b->rounds, "encode"),
                        .merkle = stage_range(&b->rounds, "merkle"),
                        .ntt_cycles = stage_cycles_of(&b->rounds, "encode"),
                        .merkle_cycles = stage_cycles_of(&b->rounds, "merkle"),
                        .butterflies = (rows * b->k << log_n) / 2,
                        .permutations = permutations_of(rows) << log_n,
                        .predicted = bytes_of(b)};
    for (uint64_t n = UINT64_C(1) << log_n; n > 1; n = merkle_parents(n, b->par.arity))
        r.permutations += merkle_parents(n, b->par.arity) * permutations_of(4 * (uint64_t)b->par.arity);
    return r;
}

static void range_json(text *t, const char *name, bench_range r) {
    text_add(t, "  \"%s\": %.6f,\n  \"%s_least\": %.6f,\n  \"%s_most\": %.6f,\n", name, r.median, name,
             r.least, name, r.most);
}

static void commit_json(text *t, const commit_bench *b, const commit_figures *r) {
    text_add(t,
             "{\n  \"bench\": \"commit\",\n  \"log_words\": %u,\n  \"log_inv_rate\": %u,\n  \"log_rows\": "
             "%u,\n  \"log_columns\": %u,\n  \"arity\": %u,\n  \"root\": ",
             b->par.log_words, b->par.level[0].rate, b->par.level[0].fold, b->k, b->par.arity);
    text_json_hex(t, b->root, sizeof b->root);
    text_add(t, ",\n");
    bench_rounds_json(t, "seconds_commit", &b->rounds, b->ctx);
    range_json(t, "seconds_ntt", r->ntt);
    range_json(t, "seconds_merkle", r->merkle);
    text_add(t,
             "  \"predicted_bytes\": %llu,\n  \"butterflies\": %llu,\n  \"cycles_per_butterfly\": %.3f,\n  "
             "\"hash_permutations\": %llu,\n  \"cycles_per_hash_permutation\": %.1f,\n",
             (unsigned long long)r->predicted, (unsigned long long)r->butterflies,
             r->ntt_cycles / (double)r->butterflies, (unsigned long long)r->permutations,
             r->merkle_cycles / (double)r->permutations);
    bench_stages_json(t, &bench_median_round(&b->rounds)->log);
    text_add(t, "\n}\n");
}

static void commit_text(text *t, const commit_bench *b, const commit_figures *r) {
    const unsigned threads = pool_threads(b->ctx->pool);
    const bench_round *mid = bench_median_round(&b->rounds);
    text_add(t,
             "2^%u words in 2^%u rows, rate 2^-%u, trees of %u; %u thread%s, %s; medians of %lu, with the "
             "range\n",
             b->par.log_words, b->par.level[0].fold, b->par.level[0].rate, b->par.arity, threads,
             threads == 1 ? "" : "s", sheaf_isa_name(), (unsigned long)b->rounds.n);
    bench_range_text(t, "commit", r->all);
    if (mid->cycles > 0)
        text_add(t, ", %.1f time-stamp cycles a word",
                 (double)mid->cycles / (double)(1u << b->par.log_words));
    text_add(t, "\n");
    bench_range_text(t, "ntt", r->ntt);
    if (mid->cycles > 0)
        text_add(t, ", %.3f cycles a butterfly", r->ntt_cycles / (double)r->butterflies);
    text_add(t, "\n");
    bench_range_text(t, "merkle", r->merkle);
    if (mid->cycles > 0)
        text_add(t, ", %.1f cycles a permutation", r->merkle_cycles / (double)r->permutations);
    text_add(t, "\nroot    ");
    text_hex(t, b->root, sizeof b->root);
    text_add(t, "\n");
    bench_costs_text(t, &b->rounds, b->ctx, r->predicted);
    text_add(t, "\n");
    bench_stages_text(t, &mid->log);
}

static int report(const commit_bench *b) {
    if (b->c->quiet && !b->c->json)
        return CLI_OK;
    const commit_figures r = figures_of(b);
    text t = {0};
    (b->c->json ? commit_json : commit_text)(&t, b, &r);
    return text_write(b->c, &t, "-");
}

/* ---- the verb ---- */

static int measure(commit_bench *b) {
    sheaf_failure f = {0};
    sheaf_status status = context_take(b->ctx, bytes_of(b), &f);
    if (status == SHEAF_OK)
        status = bench_measure(&b->rounds, b->ctx, commit_once, b, &f);
    context_end(b->ctx);
    progress_end(b->ctx->options.progress_ctx);
    int code = status == SHEAF_OK ? report(b) : cli_failure(b->c, NULL, status, &f);
    bench_rounds_free(&b->rounds);
    return code;
}

static int run_on_words(commit_bench *b) {
    const size_t n = (size_t)1 << b->par.log_words;
    b->words = mem_alloc(NULL, n * sizeof *b->words);
    if (b->words == NULL)
        return cli_error(b->c, NULL, NULL, "out of memory");
    for (size_t i = 0; i < n; i++) {
        uint64_t x = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
        b->words[i] = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    }
    int code = measure(b);
    mem_free(NULL, b->words);
    return code;
}

static int run_bench_commit(cli *c, int argc, char **argv) {
    commit_bench b = {.c = c, .rounds = {1, 3, NULL}};
    uint32_t log_words = 0, log_rows = 0;
    int words_given = 0, rows_given = 0;
    const arg_spec specs[] = {{"log-words", 0, ARG_NUMBER, &log_words, &words_given, LEAST_LOG, MOST_LOG},
                              {"log-rows", 0, ARG_NUMBER, &log_rows, &rows_given, 0, MOST_LOG},
                              BENCH_ROUND_SPECS(b.rounds),
                              {"log-inv-rate", 0, ARG_NUMBER, &c->log_inv_rate, NULL, 1, PARAMS_MAX_RATE},
                              MEMORY_SPEC(c)};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, sizeof specs / sizeof specs[0], &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files > 0)
        return cli_error(c, files[0], NULL, "an argument that is not expected");
    if (!words_given)
        return cli_error(c, NULL, "--log-words", "is needed");
    const int lx = log_words >= LEANXMSS_LEAST_LOG;
    const whir_params *par = params_lookup(lx ? PARAMS_LEANXMSS : PARAMS_HASH,
                                           log_words - (lx ? LEANXMSS_J : HASH_J), c->log_inv_rate);
    if (par == NULL)
        return cli_error(c, NULL, NULL, "there are no parameters for 2^%u words at this rate",
                         (unsigned)log_words);
    b.par = *par;
    if (rows_given && log_rows + COLUMNS_LEAST_LOG > log_words)
        return cli_error(c, NULL, "--log-rows", "%u leaves fewer than 2^%d columns", (unsigned)log_rows,
                         COLUMNS_LEAST_LOG);
    if (rows_given)
        b.par.level[0].fold = (uint8_t)log_rows;
    b.k = b.par.log_words - (unsigned)b.par.level[0].fold;
    const size_t rows = (size_t)1 << b.par.level[0].fold;
    const uint64_t needed =
        whir_commitment_bytes(&b.par, rows, c->threads).most + (UINT64_C(8) << b.par.log_words);
    if (cli_check_memory(c, needed, "a commitment", UINT64_C(1) << log_words, "words") != CLI_OK)
        return CLI_ERROR;
    progress_bar bar;
    int code = cli_context(c, &b.ctx, &bar, "bench");
    if (code == CLI_OK)
        code = run_on_words(&b);
    sheaf_context_destroy(b.ctx);
    return code;
}

const verb verb_bench_commit = {
    "bench commit", "measure a commitment: code and tree", run_bench_commit,
    "Usage: sheaf bench commit --log-words N [--log-rows N] [--repeats N] [--warmup N] [--json]\n"
    "\n"
    "Commits to 2^N made-up words, as every proof does first: rows of a code (NTT), and a Merkle tree over "
    "its columns.\n"
    "\n"
    "  --log-words N       2^N words, 7..26\n"
    "  --log-inv-rate R    1..6 (default: that of a proof with as many words)\n"
    "  --log-rows N        in 2^N rows (default: as in that proof)\n" BENCH_ROUND_HELP
    "  --threads N         threads (default: as many as the machine has)\n"
    "  --memory N          as for aggregate\n"
    "\n"
    "Examples:\n"
    "  sheaf bench commit --log-words 20 --threads 1\n"
    "  sheaf bench commit --log-words 16 --log-inv-rate 2 --json\n"};
