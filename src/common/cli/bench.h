/* What the verbs that measure share.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_BENCH_H
#define SHEAF_BENCH_H

#include "../aggregate/context.h"
#include "../base/stages.h"
#include "cli.h"

enum { BENCH_MOST_REPEATS = 100 };

/* ---- rounds ---- */

typedef struct bench_round {
    double seconds, cpu_seconds; /* of the clock; of all the process's threads, in the kernel too */
    uint64_t cycles;             /* of the time-stamp counter while it ran, however many threads there are */
    uint64_t faults;             /* pages that the system had to find and clear */
    stage_log log;
} bench_round;

typedef struct bench_rounds {
    uint32_t warmup, n; /* rounds that are not looked at, then those that are */
    bench_round *round; /* n of them */
} bench_rounds;

/* What went wrong in a round. */
typedef sheaf_status (*bench_work)(void *arg, sheaf_failure *f);

/* Does the work warmup + n times, with the stages of the last n in the context's log. The rounds must be
 * freed whatever comes back. */
sheaf_status bench_measure(bench_rounds *r, sheaf_context *ctx, bench_work work, void *arg, sheaf_failure *f);
void bench_rounds_free(bench_rounds *r);
/* The round of median time; of two middle ones the slower. */
const bench_round *bench_median_round(const bench_rounds *r);

typedef struct bench_range {
    double median, least, most;
} bench_range;
bench_range bench_range_of(const double *values, size_t n);
bench_range bench_seconds(const bench_rounds *r);
bench_range bench_cpu_seconds(const bench_rounds *r);

/* The most memory that this process has had, whatever it was for; 0 where the system does not say. */
size_t bench_peak_bytes(void);

/* ---- texts ---- */

/* The stages as lines, with seconds and shares of the parent and of the whole; what is in no stage of a
 * parent has a line of its own. */
void bench_stages_text(text *t, const stage_log *l);
/* The field "stages", without a comma after it. */
void bench_stages_json(text *t, const stage_log *l);
/* ` name    1.2345 s (1.2000 .. 1.3000)`, without a line end. */
void bench_range_text(text *t, const char *name, bench_range r);
/* The fields that every bench has: threads, isa, repeats, warmup, and of the rounds seconds (named NAME, with
 * its range), CPU time, faults and memory. Each ends with a comma and a new line. */
void bench_rounds_json(text *t, const char *name, const bench_rounds *r, const sheaf_context *ctx);
/* The same as the last lines before the stages; predicted: bytes that the prover was said to take. */
void bench_costs_text(text *t, const bench_rounds *r, const sheaf_context *ctx, uint64_t predicted);

/* ---- arguments that every bench of proofs and commitments takes ---- */
#define BENCH_ROUND_SPECS(r)                                                                                 \
    {"repeats", 0, ARG_NUMBER, &(r).n, NULL, 1, BENCH_MOST_REPEATS}, {                                       \
        "warmup", 0, ARG_NUMBER, &(r).warmup, NULL, 0, BENCH_MOST_REPEATS                                    \
    }
#define BENCH_ROUND_HELP                                                                                     \
    "  --repeats N         timed rounds, whose median is shown (default 3)\n"                                \
    "  --warmup N          rounds before them (default 1)\n"

#endif
