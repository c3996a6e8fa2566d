/* Rounds that are measured, and what is said of them.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../base/posix.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "bench.h"

/* ---- rounds ---- */

static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void add_usage(bench_round *r, double sign) {
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) != 0)
        return;
    r->cpu_seconds += sign * (seconds_of(u.ru_utime) + seconds_of(u.ru_stime));
    r->faults += sign < 0 ? 0 - (uint64_t)u.ru_minflt : (uint64_t)u.ru_minflt;
}

static sheaf_status do_round(bench_round *r, sheaf_context *ctx, bench_work work, void *arg,
                             sheaf_failure *f) {
    memset(r, 0, sizeof *r);
    stage_log_init(&r->log);
    ctx->stages = &r->log;
    add_usage(r, -1);
    r->seconds = stage_seconds();
    r->cycles = stage_cycles();
    sheaf_status status = work(arg, f);
    r->cycles = stage_cycles() - r->cycles;
    r->seconds = stage_seconds() - r->seconds;
    add_usage(r, 1);
    ctx->stages = NULL;
    stage_log_whole(&r->log, r->seconds, r->cycles);
    return status;
}

sheaf_status bench_measure(bench_rounds *r, sheaf_context *ctx, bench_work work, void *arg,
                           sheaf_failure *f) {
    r->round = calloc(r->n, sizeof *r->round);
    if (r->round == NULL)
        return SHEAF_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < r->n; i++)
        stage_log_init(&r->round[i].log);
    for (uint32_t i = 0; i < r->warmup; i++) {
        bench_round warm;
        sheaf_status status = do_round(&warm, ctx, work, arg, f);
        stage_log_free(&warm.log);
        if (status != SHEAF_OK)
            return status;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        sheaf_status status = do_round(&r->round[i], ctx, work, arg, f);
        if (status != SHEAF_OK)
            return status;
    }
    return SHEAF_OK;
}

void bench_rounds_free(bench_rounds *r) {
    for (uint32_t i = 0; r->round != NULL && i < r->n; i++)
        stage_log_free(&r->round[i].log);
    free(r->round);
    r->round = NULL;
}

/* The index of the middle one; of two middle ones the larger. */
static size_t median_index(const double *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t before = 0;
        for (size_t k = 0; k < n; k++)
            before += v[k] < v[i] || (v[k] == v[i] && k < i);
        if (before == n / 2)
            return i;
    }
    return 0;
}

bench_range bench_range_of(const double *values, size_t n) {
    bench_range r = {values[median_index(values, n)], values[0], values[0]};
    for (size_t i = 1; i < n; i++) {
        r.least = values[i] < r.least ? values[i] : r.least;
        r.most = values[i] > r.most ? values[i] : r.most;
    }
    return r;
}

static void all_seconds(double v[BENCH_MOST_REPEATS], const bench_rounds *r) {
    for (uint32_t i = 0; i < r->n; i++)
        v[i] = r->round[i].seconds;
}

const bench_round *bench_median_round(const bench_rounds *r) {
    double v[BENCH_MOST_REPEATS] = {0};
    all_seconds(v, r);
    return &r->round[median_index(v, r->n)];
}

bench_range bench_seconds(const bench_rounds *r) {
    double v[BENCH_MOST_REPEATS] = {0};
    all_seconds(v, r);
    return bench_range_of(v, r->n);
}

bench_range bench_cpu_seconds(const bench_rounds *r) {
    double v[BENCH_MOST_REPEATS] = {0};
    for (uint32_t i = 0; i < r->n; i++)
        v[i] = r->round[i].cpu_seconds;
    return bench_range_of(v, r->n);
}

size_t bench_peak_bytes(void) {
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) != 0)
        return 0;
#ifdef __APPLE__
    return (size_t)u.ru_maxrss;
#else
    return (size_t)u.ru_maxrss * 1024;
#endif
}

/* ---- texts ---- */

enum { NAME_COLUMNS = 32 };
static const double worth_a_line = 0.0005; /* of the whole */

static void stage_line(text *t, int indent, const char *name, double seconds, double parent, double whole) {
    text_add(t, "%*s%-*s %10.4f s %9.1f%% %9.1f%%\n", indent, "", NAME_COLUMNS - indent, name, seconds,
             parent > 0 ? 100 * seconds / parent : 0, whole > 0 ? 100 * seconds / whole : 0);
}

static void stages_of(text *t, const stage_node *parent, int indent, double whole) {
    for (const stage_node *n = parent->first; n != NULL; n = n->next) {
        stage_line(t, indent, n->name, n->seconds, parent->seconds, whole);
        stages_of(t, n, indent + 2, whole);
    }
    if (stage_elsewhere(parent) > worth_a_line * whole)
        stage_line(t, indent, "in no stage", stage_elsewhere(parent), parent->seconds, whole);
}

void bench_stages_text(text *t, const stage_log *l) {
    text_add(t, "  %-*s %12s %10s %10s\n", NAME_COLUMNS - 2, "stage", "time", "of parent", "of whole");
    stages_of(t, &l->root, 2, l->root.seconds);
}

void bench_stages_json(text *t, const stage_log *l) {
    size_t len = stage_log_json(l, NULL, 0);
    char *stages = malloc(len + 1);
    text_add(t, "  \"stages\": ");
    if (stages != NULL) {
        stage_log_json(l, stages, len + 1);
        text_bytes(t, stages, len);
    } else {
        t->failed = 1;
    }
    free(stages);
}

void bench_range_text(text *t, const char *name, bench_range r) {
    text_add(t, "%-8s%10.4f s (%.4f .. %.4f)", name, r.median, r.least, r.most);
}

void bench_rounds_json(text *t, const char *name, const bench_rounds *r, const sheaf_context *ctx) {
    const bench_range seconds = bench_seconds(r), cpu = bench_cpu_seconds(r);
    text_add(t, "  \"threads\": %u,\n  \"isa\": ", pool_threads(ctx->pool));
    text_json_string(t, sheaf_isa_name());
    text_add(t,
             ",\n  \"warmup\": %lu,\n  \"repeats\": %lu,\n  \"%s\": %.6f,\n  \"%s_least\": %.6f,\n  "
             "\"%s_most\": %.6f,\n",
             (unsigned long)r->warmup, (unsigned long)r->n, name, seconds.median, name, seconds.least, name,
             seconds.most);
    text_add(t,
             "  \"cpu_seconds\": %.6f,\n  \"cpu_seconds_least\": %.6f,\n  \"page_faults\": %llu,\n  "
             "\"peak_bytes\": %zu,\n  \"prover_peak_bytes\": %zu,\n",
             cpu.median, cpu.least, (unsigned long long)bench_median_round(r)->faults, bench_peak_bytes(),
             sheaf_peak_bytes(ctx));
}

void bench_costs_text(text *t, const bench_rounds *r, const sheaf_context *ctx, uint64_t predicted) {
    bench_range_text(t, "cpu", bench_cpu_seconds(r));
    text_add(t, ", %llu page faults\n", (unsigned long long)bench_median_round(r)->faults);
    text_add(t, "memory  %10.1f MB at most in the process, %.1f MB in the prover (%.1f MB were foretold)\n",
             1e-6 * (double)bench_peak_bytes(), 1e-6 * (double)sheaf_peak_bytes(ctx),
             1e-6 * (double)predicted);
}
