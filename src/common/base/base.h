/* Integers, memory with accounting, threads, progress.  Bottom layer: includes nothing of ours but the public headers. */
#ifndef SHEAF_BASE_H
#define SHEAF_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "sheaf_verify.h"

static inline size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; } /* to > 0 */
static inline unsigned ceil_log2(uint64_t n) { /* smallest k with 2^k >= n; 0 for n <= 1 */
    unsigned k = 0;
    while (k < 63 && (UINT64_C(1) << k) < n) k++;
    return k;
}
static inline uint64_t load64_le(const uint8_t *p) { /* spelled out: compilers make one load of it wherever it stands */
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}
static inline uint32_t load32_le(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline void store64_le(uint8_t *p, uint64_t v) {
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> (8 * i));
}
static inline void store32_le(uint8_t *p, uint32_t v) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (8 * i));
}

void failure_set(sheaf_failure *f, sheaf_status status, sheaf_check check, uint64_t index, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- memory: 64-byte aligned, counted. A context of NULL means the C allocator, uncounted. ---- */
typedef struct mem {
    void *(*alloc_fn)(void *ctx, size_t bytes); /* NULL: malloc. Need not align; mem_alloc does. */
    void (*free_fn)(void *ctx, void *p);
    void *ctx;
    size_t current, peak; /* bytes, updated atomically */
} mem;

void *mem_alloc(mem *m, size_t bytes);         /* NULL when out of memory, or when bytes is 0 */
void *mem_alloc_zero(mem *m, size_t bytes);
void mem_free(mem *m, void *p);                /* NULL is fine */

/* ---- threads ---- */
typedef struct pool pool;
pool *pool_create(unsigned threads);           /* 0: as many as the machine has; NULL on failure */
void pool_destroy(pool *p);
unsigned pool_threads(const pool *p);          /* 1 for NULL */
/* Calls fn(ctx, task, worker) for every task in 0..tasks-1, each once, in any order, on up to pool_threads workers (worker <
 * pool_threads); returns when all are done. p = NULL runs in this thread. Not re-entrant. */
void pool_run(pool *p, size_t tasks, void (*fn)(void *ctx, size_t task, unsigned worker), void *ctx);

/* ---- what every proving function gets ---- */
typedef struct stage_node stage_node; /* base/stages.h */
typedef struct env {
    mem *mem;
    pool *pool;
    struct stage_log *stages; /* NULL: not measured */
    /* Progress: fraction 0..1 of the whole work; a non-zero return asks to stop. May be NULL. */
    int (*progress)(void *ctx, double fraction, const char *stage);
    void *progress_ctx;
    double progress_at, progress_span; /* the part of the whole that the current step covers */
    int cancelled;
} env;

/* Reports; returns non-zero when the work is to stop (and from then on). */
int env_progress(env *e, double fraction_of_step, const char *stage);
/* Spans for the bench: nested, by name. No effect where stages is NULL. */
void env_stage_begin(env *e, const char *name);
void env_stage_end(env *e);

#endif
