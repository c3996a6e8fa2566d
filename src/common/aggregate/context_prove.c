/* Contexts: options turned into threads and memory.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <inttypes.h>
#include "context.h"
#include "memory.h"
#include "../kernels.h"
#include "../pcs/params.h"

enum { MOST_THREADS = 1024 };

static int options_valid(const sheaf_options *o) {
    return o->threads <= MOST_THREADS && o->log_inv_rate <= PARAMS_MAX_RATE &&
           (o->alloc == NULL) == (o->free == NULL);
}

/* The caller's allocator, or the C library's: where the context itself is. */
static mem hooks_of(const sheaf_options *o) {
    mem m = {0};
    if (o != NULL) {
        m.alloc_fn = o->alloc;
        m.free_fn = o->free;
        m.ctx = o->alloc_ctx;
    }
    return m;
}

sheaf_status sheaf_context_create(sheaf_context **ctx, const sheaf_options *options) {
    *ctx = NULL;
    if (options != NULL && !options_valid(options))
        return SHEAF_INVALID_ARGUMENT;
    mem hooks = hooks_of(options);
    sheaf_context *c = mem_alloc_zero(&hooks, sizeof *c);
    if (c == NULL)
        return SHEAF_OUT_OF_MEMORY;
    c->mem = hooks;
    if (options != NULL)
        c->options = *options;
#ifndef __EMSCRIPTEN__ /* there no page ever goes back to the system, nor is one larger than another */
    if (c->options.alloc == NULL)
        arena_init(&c->arena, &c->mem);
#endif
    if (c->options.threads != 1) {
        c->pool = pool_create(c->options.threads);
        if (c->pool == NULL) {
            mem_free(&hooks, c);
            return SHEAF_OUT_OF_MEMORY;
        }
    }
    *ctx = c;
    return SHEAF_OK;
}

void sheaf_context_destroy(sheaf_context *ctx) {
    if (ctx == NULL)
        return;
    pool_destroy(ctx->pool);
    arena_release(&ctx->arena);
    mem hooks = hooks_of(&ctx->options);
    mem_free(&hooks, ctx);
}

void sheaf_free(sheaf_context *ctx, void *p) {
    mem_free(&ctx->mem, p);
}

size_t sheaf_peak_bytes(const sheaf_context *ctx) {
    return __atomic_load_n(&ctx->mem.peak, __ATOMIC_RELAXED);
}

const char *sheaf_isa_name(void) {
    return kernels_describe();
}

/* Not with an allocator of the caller's, nor in WebAssembly. */
static int has_arena(const sheaf_context *ctx) {
    return ctx->mem.ctx == &ctx->arena;
}

sheaf_status context_take(sheaf_context *ctx, uint64_t bytes, sheaf_failure *f) {
    if (!has_arena(ctx))
        return SHEAF_OK;
    /* and what is lost between blocks, at most a seventieth as measured, and to their descriptions */
    if (bytes < SIZE_MAX / 2 && arena_open(&ctx->arena, (size_t)(bytes + bytes / 32 + (1 << 16))) == 0)
        return SHEAF_OK;
    failure_set(f, SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "out of memory: proving takes %" PRIu64 " bytes",
                bytes);
    return SHEAF_OUT_OF_MEMORY;
}

sheaf_status context_begin(sheaf_context *ctx, unsigned kind, uint64_t count, sheaf_failure *f) {
    if (!has_arena(ctx))
        return SHEAF_OK; /* to know how much would be work for nothing */
    const uint64_t bytes =
        aggregate_prove_bytes(kind, count, ctx->options.log_inv_rate, pool_threads(ctx->pool));
    if (bytes == UINT64_MAX)
        return aggregate_out_of_memory(f);
    return bytes == 0 ? SHEAF_OK : context_take(ctx, bytes, f); /* no parameters: the proof says so itself */
}

void context_end(sheaf_context *ctx) {
    arena_close(&ctx->arena);
}

env context_env(sheaf_context *ctx) {
    return (env){.mem = &ctx->mem,
                 .pool = ctx->pool,
                 .stages = ctx->stages,
                 .progress = ctx->options.progress,
                 .progress_ctx = ctx->options.progress_ctx,
                 .progress_span = 1};
}
