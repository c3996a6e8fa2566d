/* Verbs that measure: bench hash, bench aggregate, bench kernels.  SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "../base/stages.h"
#include "../circuit/leanxmss_layout.h"
#include "../kernels.h"
#include "examples.h"

enum { MOST_REPEATS = 100, LEAST_VERIFICATIONS = 5 };

/* ---- what is measured ---- */

typedef struct bench {
    const cli *c;
    sheaf_context *ctx;
    uint32_t repeats, warmup;
    unsigned kind;
    size_t n;                 /* signers or hashes */
    unsigned rows;            /* permutations a slot */
    const signature_set *set; /* of an aggregate */
    const uint8_t *preimages; /* of a hash batch */
    const char *output;       /* where the last envelope goes; NULL: nowhere */
} bench;

typedef struct timing {
    double seconds;
    uint64_t cycles;
    stage_log log;
} timing;

/* The index of the middle one; of two middle ones the slower. */
static size_t median(const timing *t, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t before = 0;
        for (size_t k = 0; k < n; k++)
            before += t[k].seconds < t[i].seconds || (t[k].seconds == t[i].seconds && k < i);
        if (before == n / 2)
            return i;
    }
    return 0;
}

static sheaf_status prove_once(const bench *b, uint8_t **envelope, size_t *len, sheaf_failure *f) {
    if (b->kind == SHEAF_KIND_HASH)
        return sheaf_prove_hash_batch(b->ctx, envelope, len, b->preimages, b->n, f);
    return sheaf_aggregate(b->ctx, envelope, len, b->set->epoch, b->set->message, b->set->entries, b->n, f);
}

static sheaf_status time_proving(const bench *b, timing *t, uint8_t **envelope, size_t *len,
                                 sheaf_failure *f) {
    for (uint32_t i = 0; i < b->warmup + b->repeats; i++) {
        timing warm, *at = i < b->warmup ? &warm : &t[i - b->warmup];
        sheaf_free(b->ctx, *envelope);
        b->ctx->stages = i < b->warmup ? NULL : &at->log;
        at->seconds = stage_seconds();
        at->cycles = stage_cycles();
        sheaf_status status = prove_once(b, envelope, len, f);
        at->cycles = stage_cycles() - at->cycles;
        at->seconds = stage_seconds() - at->seconds;
        b->ctx->stages = NULL;
        if (status != SHEAF_OK)
            return status;
    }
    return SHEAF_OK;
}

static sheaf_status time_verifying(const bench *b, double *seconds, const uint8_t *envelope, size_t len,
                                   sheaf_failure *f) {
    timing t[MOST_REPEATS];
    uint32_t n = b->repeats < LEAST_VERIFICATIONS ? LEAST_VERIFICATIONS : b->repeats;
    for (uint32_t i = 0; i < n; i++) {
        t[i].seconds = stage_seconds();
        sheaf_status status = (b->kind == SHEAF_KIND_HASH ? sheaf_verify_hash_batch
                                                          : sheaf_verify_aggregate)(envelope, len, NULL, f);
        t[i].seconds = stage_seconds() - t[i].seconds;
        if (status != SHEAF_OK)
            return status;
    }
    *seconds = t[median(t, n)].seconds;
    return SHEAF_OK;
}

/* ---- what is said ---- */

typedef struct figures {
    double prove, verify; /* seconds, medians */
    double cycles;        /* a permutation */
    uint64_t permutations;
    size_t proof_bytes, peak_bytes;
    unsigned rate;
    double security_bits;
    const stage_log *log;
} figures;

/* The most memory that this process has had, whatever it was for. */
static size_t peak_bytes(void) {
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (size_t)u.ru_maxrss * 1024 : 0;
}

static void fill_shape(figures *r, const bench *b) {
    params_family family = b->kind == SHEAF_KIND_HASH ? PARAMS_HASH : PARAMS_LEANXMSS;
    unsigned m = circuit_log_slots(b->n);
    ledger_shape shape;
    r->rate = b->c->log_inv_rate > 0 ? b->c->log_inv_rate : params_default_rate(family, m);
    if (ledger_shape_init(&shape, family, m, r->rate) == 0)
        r->security_bits = ledger_security_bits(&shape);
}

static void figures_json(text *t, const bench *b, const figures *r) {
    int signers = b->kind == SHEAF_KIND_LEANXMSS;
    text_add(t,
             "{\n  \"bench\": \"%s\",\n  \"permutations\": %llu,\n  \"signers\": %zu,\n  \"hashes\": %zu,\n  "
             "\"threads\": %u,\n",
             signers ? "aggregate" : "hash", (unsigned long long)r->permutations, signers ? b->n : 0,
             signers ? 0 : b->n, pool_threads(b->ctx->pool));
    text_add(t, "  \"isa\": ");
    text_json_string(t, sheaf_isa_name());
    text_add(t,
             ",\n  \"repeats\": %lu,\n  \"seconds_prove\": %.6f,\n  \"seconds_verify\": %.6f,\n  "
             "\"cycles_per_permutation\": %.1f,\n",
             (unsigned long)b->repeats, r->prove, r->verify, r->cycles);
    text_add(
        t,
        "  \"permutations_per_second\": %.1f,\n  \"signatures_per_second\": %.2f,\n  \"proof_bytes\": %zu,\n",
        (double)r->permutations / r->prove, signers ? (double)b->n / r->prove : 0.0, r->proof_bytes);
    text_add(t, "  \"peak_bytes\": %zu,\n  \"log_inv_rate\": %u,\n  \"security_bits\": %.2f,\n  \"stages\": ",
             r->peak_bytes, r->rate, r->security_bits);
    size_t len = stage_log_json(r->log, NULL, 0);
    char *stages = malloc(len + 1);
    if (stages != NULL) {
        stage_log_json(r->log, stages, len + 1);
        text_bytes(t, stages, len);
    } else {
        t->failed = 1;
    }
    free(stages);
    text_add(t, "\n}\n");
}

static void stages_text(text *t, const stage_node *n, int indent, double whole) {
    for (; n != NULL; n = n->next) {
        text_add(t, "%*s%-*s %10.4f s %5.1f%%\n", indent, "", 32 - indent, n->name, n->seconds,
                 100 * n->seconds / whole);
        stages_text(t, n->first, indent + 2, whole);
    }
}

static void figures_text(text *t, const bench *b, const figures *r) {
    int signers = b->kind == SHEAF_KIND_LEANXMSS;
    text_add(t, "%zu %s, %llu permutations, %u thread%s, %s; medians of %lu\n", b->n,
             signers ? "signers" : "hashes", (unsigned long long)r->permutations, pool_threads(b->ctx->pool),
             pool_threads(b->ctx->pool) == 1 ? "" : "s", sheaf_isa_name(), (unsigned long)b->repeats);
    text_add(t, "prove   %10.4f s", r->prove);
    if (r->cycles > 0)
        text_add(t, ", %.0f time-stamp cycles a permutation", r->cycles);
    text_add(t, ", %.0f permutations a second", (double)r->permutations / r->prove);
    if (signers)
        text_add(t, ", %.1f signatures a second", (double)b->n / r->prove);
    text_add(t,
             "\nverify  %10.4f s\nproof   %10zu bytes, first rate 2^-%u, %.2f bits of soundness\nmemory  "
             "%10.1f MB at most\n\n",
             r->verify, r->proof_bytes, r->rate, r->security_bits, 1e-6 * (double)r->peak_bytes);
    stages_text(t, r->log->root.first, 2, r->prove);
}

static int print_figures(const bench *b, const timing *t, double verify, size_t len) {
    const timing *mid = &t[median(t, b->repeats)];
    figures r = {.prove = mid->seconds, .verify = verify, .log = &mid->log, .peak_bytes = peak_bytes()};
    r.permutations = (uint64_t)b->n * b->rows;
    r.cycles = (double)mid->cycles / (double)r.permutations;
    r.proof_bytes = len - envelope_bytes((uint32_t)b->n, 0);
    fill_shape(&r, b);
    text out = {0};
    (b->c->json ? figures_json : figures_text)(&out, b, &r);
    return text_write(b->c, &out, "-");
}

static int measure(const bench *b) {
    uint8_t *envelope = NULL;
    size_t len = 0;
    sheaf_failure f = {0};
    double verify = 0;
    timing *t = calloc(b->repeats, sizeof *t);
    if (t == NULL)
        return cli_error(b->c, NULL, NULL, "out of memory");
    for (uint32_t i = 0; i < b->repeats; i++)
        stage_log_init(&t[i].log);
    sheaf_status status = time_proving(b, t, &envelope, &len, &f);
    if (status == SHEAF_OK)
        status = time_verifying(b, &verify, envelope, len, &f);
    progress_end(b->ctx->options.progress_ctx);
    int code = status == SHEAF_OK ? CLI_OK : cli_rejection(b->c, NULL, status, &f);
    if (code == CLI_OK && b->output != NULL)
        code = cli_write(b->c, b->output, envelope, len);
    if (code == CLI_OK && (b->c->json || !b->c->quiet))
        code = print_figures(b, t, verify, len);
    for (uint32_t i = 0; i < b->repeats; i++)
        stage_log_free(&t[i].log);
    free(t);
    sheaf_free(b->ctx, envelope);
    return code;
}

/* ---- the verbs ---- */

static int bench_args(cli *c, int argc, char **argv, bench *b, const char *size_name, uint32_t *size,
                      uint32_t least, uint32_t most) {
    int size_given = 0;
    const arg_spec specs[] = {{size_name, 0, ARG_NUMBER, size, &size_given, least, most},
                              {"repeats", 0, ARG_NUMBER, &b->repeats, NULL, 1, MOST_REPEATS},
                              {"warmup", 0, ARG_NUMBER, &b->warmup, NULL, 0, MOST_REPEATS},
                              {"log-inv-rate", 0, ARG_NUMBER, &c->log_inv_rate, NULL, 1, PARAMS_MAX_RATE},
                              {"output", 'o', ARG_TEXT, &b->output, NULL, 0, 0}};
    char **files;
    int n_files;
    b->c = c;
    b->repeats = 3;
    b->warmup = 1;
    if (args_parse(c, argc, argv, specs, 5, &files, &n_files) != 0)
        return CLI_ERROR;
    if (n_files > 0)
        return cli_error(c, files[0], NULL, "an argument that is not expected");
    if (!size_given && !c->help) {
        char option[32];
        snprintf(option, sizeof option, "--%s", size_name);
        return cli_error(c, NULL, option, "is needed");
    }
    return CLI_OK;
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
    int code = cli_context(c, &b.ctx, &bar, "bench");
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
    if (cli_context(c, &b.ctx, &bar, "bench") != CLI_OK)
        return CLI_ERROR;
    signature_set set;
    sheaf_status status = example_signatures(&set, b.ctx, signers);
    b.set = &set;
    int code = status == SHEAF_OK ? measure(&b) : cli_failure(c, NULL, status, NULL);
    signatures_free(&set);
    sheaf_context_destroy(b.ctx);
    return code;
}

#define BENCH_OPTIONS                                                                                        \
    "  --repeats N         timed rounds, whose median is shown (default 3)\n"                                \
    "  --warmup N          rounds before them (default 1)\n"                                                 \
    "  --log-inv-rate R    1..6, as for aggregate\n"                                                         \
    "  --threads N         threads (default: as many as the machine has)\n"                                  \
    "  -o, --output FILE   also keep the last proof\n"                                                       \
    "\n"                                                                                                     \
    "Proving is timed from what is in memory to the proof's bytes, all of it. Memory is the most that the "  \
    "process had.\n"

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

/* ---- kernels ---- */

enum { KERNEL_WORDS = 4096, KERNEL_BLOCKS = 9 }; /* small enough for the first two caches */

typedef struct kernel_buffers {
    uint64_t *words; /* KERNEL_BLOCKS of KERNEL_WORDS */
    gf192 sum;
} kernel_buffers;

static evec block(const kernel_buffers *k, unsigned i) {
    return (evec){k->words + 3 * i * (size_t)KERNEL_WORDS, KERNEL_WORDS};
}

static const gf192 some_element = {
    {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210), UINT64_C(0x0f1e2d3c4b5a6978)}};

static void time_keccak(kernel_buffers *k) {
    kernels()->keccak_f1600(k->words);
}
static void time_keccak_x8(kernel_buffers *k) {
    kernels()->keccak_f1600_x8(k->words);
}
static void time_mul(kernel_buffers *k) {
    kernels()->gf192_mul(&k->sum, &k->sum, &some_element);
}
static void time_evec_mul(kernel_buffers *k) {
    kernels()->evec_mul(block(k, 2), block(k, 0), block(k, 1), KERNEL_WORDS);
}
static void time_evec_scale(kernel_buffers *k) {
    kernels()->evec_scale(block(k, 2), block(k, 0), some_element, KERNEL_WORDS);
}
static void time_evec_fold(kernel_buffers *k) {
    kernels()->evec_fold(block(k, 2), block(k, 0), block(k, 1), some_element, KERNEL_WORDS);
}
static void time_evec_dot(kernel_buffers *k) {
    kernels()->evec_dot(&k->sum, block(k, 0), block(k, 1), KERNEL_WORDS);
}
static void time_butterfly(kernel_buffers *k) {
    kernels()->ntt_butterfly(k->words, k->words + KERNEL_WORDS, some_element.c[0], KERNEL_WORDS);
}

static const struct {
    const char *name, *unit;
    void (*run)(kernel_buffers *);
    unsigned units; /* that one run does */
} kernel_list[] = {
    {"keccak_f1600", "permutation", time_keccak, 1},
    {"keccak_f1600_x8", "permutation", time_keccak_x8, 8},
    {"gf192_mul", "product", time_mul, 1},
    {"evec_mul", "product", time_evec_mul, KERNEL_WORDS},
    {"evec_scale", "product", time_evec_scale, KERNEL_WORDS},
    {"evec_fold", "fold", time_evec_fold, KERNEL_WORDS},
    {"evec_dot", "term", time_evec_dot, KERNEL_WORDS},
    {"ntt_butterfly", "butterfly", time_butterfly, KERNEL_WORDS},
};
enum { KERNELS = sizeof kernel_list / sizeof kernel_list[0] };

/* The best of several spans of about a hundredth of a second: nanoseconds and cycles a unit. */
static void time_kernel(kernel_buffers *k, size_t i, double *ns, double *cycles) {
    static const double span = 0.01;
    enum { SPANS = 7 };
    size_t calls = 1;
    *ns = *cycles = 0;
    for (int s = 0; s < SPANS;) {
        double begin = stage_seconds();
        uint64_t count = stage_cycles();
        for (size_t n = 0; n < calls; n++)
            kernel_list[i].run(k);
        double units = (double)calls * kernel_list[i].units;
        double c = (double)(stage_cycles() - count) / units, seconds = stage_seconds() - begin;
        if (seconds < span) {
            calls *= 2; /* not long enough yet: does not count */
            continue;
        }
        if (s == 0 || 1e9 * seconds / units < *ns) {
            *ns = 1e9 * seconds / units;
            *cycles = c;
        }
        s++;
    }
}

static int run_bench_kernels(cli *c, int argc, char **argv) {
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, NULL, 0, &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files > 0)
        return cli_error(c, files[0], NULL, "an argument that is not expected");
    kernel_buffers k = {.words = mem_alloc(NULL, KERNEL_BLOCKS * (size_t)KERNEL_WORDS * sizeof(uint64_t)),
                        .sum = some_element};
    if (k.words == NULL)
        return cli_error(c, NULL, NULL, "out of memory");
    for (size_t i = 0; i < KERNEL_BLOCKS * (size_t)KERNEL_WORDS; i++)
        k.words[i] = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
    text t = {0};
    if (c->json) {
        text_add(&t, "{\n  \"isa\": ");
        text_json_string(&t, sheaf_isa_name());
        text_add(&t, ",\n  \"kernels\": [");
    } else {
        text_add(&t, "%s, one thread\n", sheaf_isa_name());
    }
    for (size_t i = 0; i < KERNELS; i++) {
        double ns, cycles;
        time_kernel(&k, i, &ns, &cycles);
        if (c->json)
            text_add(&t,
                     "%s\n    {\"name\": \"%s\", \"unit\": \"%s\", \"nanoseconds\": %.3f, \"cycles\": %.3f}",
                     i > 0 ? "," : "", kernel_list[i].name, kernel_list[i].unit, ns, cycles);
        else
            text_add(&t, "%-18s %10.2f ns %10.2f cycles a %s\n", kernel_list[i].name, ns, cycles,
                     kernel_list[i].unit);
    }
    if (c->json)
        text_add(&t, "\n  ]\n}\n");
    mem_free(NULL, k.words);
    return text_write(c, &t, "-");
}

const verb verb_bench_kernels = {
    "bench kernels", "measure the innermost operations", run_bench_kernels,
    "Usage: sheaf bench kernels [--json]\n"
    "\n"
    "Measures the innermost operations of the back end in use, on one thread, with data in the cache.\n"
    "\n"
    "Examples:\n"
    "  sheaf bench kernels\n"
    "  SHEAF_ISA=portable sheaf bench kernels --json\n"};
