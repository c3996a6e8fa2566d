/* Verbs that measure proofs: bench hash, bench aggregate.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "../aggregate/memory.h"
#include "../circuit/leanxmss_layout.h"
#include "bench.h"
#include "examples.h"

enum { LEAST_VERIFICATIONS = 5, LAYERS = 24 };

/* ---- what is measured ---- */

typedef struct bench {
    const cli *c;
    sheaf_context *ctx;
    bench_rounds rounds;
    unsigned kind;
    size_t n;                 /* signers or hashes */
    unsigned rows;            /* permutations a slot */
    const signature_set *set; /* of an aggregate */
    const uint8_t *preimages; /* of a hash batch */
    const char *output;       /* where the last envelope goes; NULL: nowhere */
    uint8_t *envelope;        /* the last round's */
    size_t len;
} bench;

static sheaf_status prove_once(void *arg, sheaf_failure *f) {
    bench *b = arg;
    sheaf_free(b->ctx, b->envelope);
    if (b->kind == SHEAF_KIND_HASH)
        return sheaf_prove_hash_batch(b->ctx, &b->envelope, &b->len, b->preimages, b->n, f);
    return sheaf_aggregate(b->ctx, &b->envelope, &b->len, b->set->epoch, b->set->message, b->set->entries,
                           b->n, f);
}

static sheaf_status time_verifying(const bench *b, bench_range *r, sheaf_failure *f) {
    double v[BENCH_MOST_REPEATS] = {0};
    uint32_t n = b->rounds.n < LEAST_VERIFICATIONS ? LEAST_VERIFICATIONS : b->rounds.n;
    for (uint32_t i = 0; i < n; i++) {
        v[i] = stage_seconds();
        sheaf_status status = (b->kind == SHEAF_KIND_HASH ? sheaf_verify_hash_batch : sheaf_verify_aggregate)(
            b->envelope, b->len, NULL, f);
        v[i] = stage_seconds() - v[i];
        if (status != SHEAF_OK)
            return status;
    }
    *r = bench_range_of(v, n);
    return SHEAF_OK;
}

/* ---- what is said ---- */

typedef struct figures {
    const bench_round *mid;
    bench_range prove, verify;
    double cycles; /* a permutation */
    uint64_t permutations, predicted;
    size_t proof_bytes;
    unsigned rate;
    double security_bits;
} figures;

static void fill_shape(figures *r, const bench *b) {
    params_family family = b->kind == SHEAF_KIND_HASH ? PARAMS_HASH : PARAMS_LEANXMSS;
    unsigned m = circuit_log_slots(b->n);
    ledger_shape shape;
    r->rate = b->c->log_inv_rate > 0 ? b->c->log_inv_rate : params_default_rate(family, m);
    if (ledger_shape_init(&shape, family, m, r->rate) == 0)
        r->security_bits = ledger_security_bits(&shape);
}

/* Time-stamp cycles that a permutation takes in one layer, on average: in each part of the layers, which are
 * the stages below "layers", and in all. The states have a part before the layers, too. */
typedef struct layer_part {
    const char *name;
    double cycles;
} layer_part;
enum { LAYER_PARTS_MOST = 16 };

static size_t layer_parts(layer_part *part, const figures *r) {
    const stage_log *l = &r->mid->log;
    const stage_node *layers = stage_log_find(l, NULL, "layers"), *states = stage_log_find(l, NULL, "states");
    const double each = 1 / ((double)LAYERS * (double)r->permutations);
    double all = states != NULL ? (double)states->cycles : 0;
    size_t n = 0;
    part[n++] = (layer_part){"states", all * each};
    for (const stage_node *s = layers != NULL ? layers->first : NULL; s != NULL; s = s->next) {
        if (strcmp(s->name, part[0].name) == 0)
            part[0].cycles += (double)s->cycles * each;
        else if (n + 1 < LAYER_PARTS_MOST)
            part[n++] = (layer_part){s->name, (double)s->cycles * each};
    }
    all += layers != NULL ? (double)layers->cycles : 0;
    part[n++] = (layer_part){"all", all * each};
    return n;
}

static void figures_json(text *t, const bench *b, const figures *r) {
    int signers = b->kind == SHEAF_KIND_LEANXMSS;
    text_add(t,
             "{\n  \"bench\": \"%s\",\n  \"permutations\": %llu,\n  \"signers\": %zu,\n  \"hashes\": %zu,\n",
             signers ? "aggregate" : "hash", (unsigned long long)r->permutations, signers ? b->n : 0,
             signers ? 0 : b->n);
    bench_rounds_json(t, "seconds_prove", &b->rounds, b->ctx);
    text_add(t,
             "  \"predicted_bytes\": %llu,\n  \"seconds_verify\": %.6f,\n  \"seconds_verify_least\": "
             "%.6f,\n  \"seconds_verify_most\": %.6f,\n",
             (unsigned long long)r->predicted, r->verify.median, r->verify.least, r->verify.most);
    text_add(t,
             "  \"cycles_per_permutation\": %.1f,\n  \"permutations_per_second\": %.1f,\n  "
             "\"signatures_per_second\": %.2f,\n  \"proof_bytes\": %zu,\n",
             r->cycles, (double)r->permutations / r->prove.median,
             signers ? (double)b->n / r->prove.median : 0.0, r->proof_bytes);
    text_add(t, "  \"log_inv_rate\": %u,\n  \"security_bits\": %.2f,\n  \"layer_cycles_per_permutation\": {",
             r->rate, r->security_bits);
    layer_part part[LAYER_PARTS_MOST];
    for (size_t i = 0, n = layer_parts(part, r); i < n; i++) {
        text_add(t, "%s", i > 0 ? ", " : "");
        text_json_string(t, part[i].name);
        text_add(t, ": %.1f", part[i].cycles);
    }
    text_add(t, "},\n");
    bench_stages_json(t, &r->mid->log);
    text_add(t, "\n}\n");
}

static void figures_text(text *t, const bench *b, const figures *r) {
    int signers = b->kind == SHEAF_KIND_LEANXMSS;
    const unsigned threads = pool_threads(b->ctx->pool);
    text_add(t, "%zu %s, %llu permutations, %u thread%s, %s; medians of %lu, with the range\n", b->n,
             signers ? "signers" : "hashes", (unsigned long long)r->permutations, threads,
             threads == 1 ? "" : "s", sheaf_isa_name(), (unsigned long)b->rounds.n);
    bench_range_text(t, "prove", r->prove);
    if (r->cycles > 0)
        text_add(t, ", %.0f time-stamp cycles a permutation", r->cycles);
    text_add(t, ", %.0f permutations a second", (double)r->permutations / r->prove.median);
    if (signers)
        text_add(t, ", %.1f signatures a second", (double)b->n / r->prove.median);
    text_add(t, "\n");
    bench_range_text(t, "verify", r->verify);
    text_add(t, "\nproof   %10zu bytes, first rate 2^-%u, %.2f bits of soundness\n", r->proof_bytes, r->rate,
             r->security_bits);
    bench_costs_text(t, &b->rounds, b->ctx, r->predicted);
    if (r->cycles > 0) {
        layer_part part[LAYER_PARTS_MOST];
        text_add(t, "cycles of a permutation in a layer:");
        for (size_t i = 0, n = layer_parts(part, r); i < n; i++)
            text_add(t, "%s %s %.1f", i > 0 ? "," : "", part[i].name, part[i].cycles);
        text_add(t, "\n");
    }
    text_add(t, "\n");
    bench_stages_text(t, &r->mid->log);
}

static int print_figures(const bench *b, bench_range verify) {
    figures r = {.mid = bench_median_round(&b->rounds), .prove = bench_seconds(&b->rounds), .verify = verify};
    r.permutations = (uint64_t)b->n * b->rows;
    r.predicted = aggregate_prove_bytes(b->kind, b->n, b->c->log_inv_rate, pool_threads(b->ctx->pool));
    r.cycles = (double)r.mid->cycles / (double)r.permutations;
    r.proof_bytes = b->len - envelope_bytes((uint32_t)b->n, 0);
    fill_shape(&r, b);
    text out = {0};
    (b->c->json ? figures_json : figures_text)(&out, b, &r);
    return text_write(b->c, &out, "-");
}

static int measure(bench *b) {
    sheaf_failure f = {0};
    bench_range verify = {0};
    sheaf_status status = bench_measure(&b->rounds, b->ctx, prove_once, b, &f);
    if (status == SHEAF_OK)
        status = time_verifying(b, &verify, &f);
    progress_end(b->ctx->options.progress_ctx);
    int code = status == SHEAF_OK ? CLI_OK : cli_rejection(b->c, NULL, status, &f);
    if (code == CLI_OK && b->output != NULL)
        code = cli_write(b->c, b->output, b->envelope, b->len);
    if (code == CLI_OK && (b->c->json || !b->c->quiet))
        code = print_figures(b, verify);
    bench_rounds_free(&b->rounds);
    sheaf_free(b->ctx, b->envelope);
    return code;
}

/* ---- the verbs ---- */

static int bench_args(cli *c, int argc, char **argv, bench *b, const char *size_name, uint32_t *size,
                      uint32_t least, uint32_t most) {
    int size_given = 0;
    const arg_spec specs[] = {{size_name, 0, ARG_NUMBER, size, &size_given, least, most},
                              BENCH_ROUND_SPECS(b->rounds),
                              {"log-inv-rate", 0, ARG_NUMBER, &c->log_inv_rate, NULL, 1, PARAMS_MAX_RATE},
                              MEMORY_SPEC(c),
                              {"output", 'o', ARG_TEXT, &b->output, NULL, 0, 0}};
    char **files;
    int n_files;
    b->c = c;
    b->rounds = (bench_rounds){1, 3, NULL};
    if (args_parse(c, argc, argv, specs, sizeof specs / sizeof specs[0], &files, &n_files) != 0)
        return CLI_ERROR;
    if (n_files > 0)
        return cli_error(c, files[0], NULL, "an argument that is not expected");
    if (!size_given && !c->help) {
        char option[32];
        snprintf(option, sizeof option, "--%s", size_name);
        return cli_error(c, NULL, option, "is needed");
    }
    if (b->output != NULL && strcmp(b->output, "-") == 0)
        return cli_error(c, NULL, "--output", "is a file: standard output is for the figures");
    return CLI_OK;
}

/* The context, where the proof fits into memory. */
static int bench_begin(cli *c, bench *b, progress_bar *bar) {
    if (cli_context(c, &b->ctx, bar, "bench") != CLI_OK)
        return CLI_ERROR;
    if (b->output != NULL && cli_check_output(c, b->output) != CLI_OK)
        return CLI_ERROR;
    return cli_check_proof_memory(c, b->ctx, b->kind, b->n);
}

static int run_bench_hash(cli *c, int argc, char **argv) {
    static const uint8_t seed[32] = {0};
    bench b = {.kind = SHEAF_KIND_HASH, .rows = 1};
    uint32_t log_n = 0;
    progress_bar bar;
    if (bench_args(c, argc, argv, &b, "log-n", &log_n, 0, 20) != CLI_OK)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    b.n = (size_t)1 << log_n;
    uint8_t *preimages = malloc(b.n * SHEAF_PREIMAGE_BYTES);
    if (preimages == NULL)
        return cli_error(c, NULL, NULL, "out of memory");
    example_preimages(preimages, b.n, seed);
    b.preimages = preimages;
    int code = bench_begin(c, &b, &bar);
    if (code == CLI_OK)
        code = measure(&b);
    sheaf_context_destroy(b.ctx);
    free(preimages);
    return code;
}

static int run_bench_aggregate(cli *c, int argc, char **argv) {
    bench b = {.kind = SHEAF_KIND_LEANXMSS, .rows = LX_ROWS};
    uint32_t signers = 0;
    progress_bar bar;
    if (bench_args(c, argc, argv, &b, "signers", &signers, 1, SHEAF_MAX_SIGNERS) != CLI_OK)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    b.n = signers;
    signature_set set = {0};
    b.set = &set;
    int code = bench_begin(c, &b, &bar);
    if (code == CLI_OK) {
        sheaf_status status = example_signatures(&set, b.ctx, signers);
        code = status == SHEAF_OK ? measure(&b) : cli_failure(c, NULL, status, NULL);
    }
    signatures_free(&set);
    sheaf_context_destroy(b.ctx);
    return code;
}

#define BENCH_OPTIONS                                                                                        \
    BENCH_ROUND_HELP                                                                                         \
    "  --log-inv-rate R    1..6, as for aggregate\n"                                                         \
    "  --threads N         threads (default: as many as the machine has)\n"                                  \
    "  --memory N          as for aggregate\n"                                                               \
    "  -o, --output FILE   also keep the last proof, in a file\n"                                                       \
    "\n"                                                                                                     \
    "Proving is timed from what is in memory to the proof's bytes, all of it, and shown by stages: those "   \
    "of "                                                                                                    \
    "the median round.\n"                                                                                    \
    "Cycles are the time-stamp counter's while it passed, whatever the number of threads; cpu is the time "  \
    "of all threads.\n"                                                                                      \
    "Memory is the most that the process had, and the prover in it.\n"

const verb verb_bench_hash = {"bench hash", "measure proving and verifying a hash batch", run_bench_hash,
                              "Usage: sheaf bench hash --log-n N [--repeats N] [--warmup N] [--json]\n"
                              "\n"
                              "Proves 2^N SHAKE256 hashes of made-up messages, each one Keccak permutation.\n"
                              "\n" BENCH_OPTIONS "\n"
                              "Examples:\n"
                              "  sheaf bench hash --log-n 14 --threads 1\n"
                              "  sheaf bench hash --log-n 16 --json\n"};

const verb verb_bench_aggregate = {
    "bench aggregate", "measure aggregating and verifying signatures", run_bench_aggregate,
    "Usage: sheaf bench aggregate --signers N [--repeats N] [--warmup N] [--json]\n"
    "\n"
    "Makes N signers that anyone can make again, in memory, and aggregates their signatures.\n"
    "\n" BENCH_OPTIONS "\n"
    "Examples:\n"
    "  sheaf bench aggregate --signers 64\n"
    "  sheaf bench aggregate --signers 1024 --threads 1 --json\n"};
