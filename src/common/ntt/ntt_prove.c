/* Additive NTT: domains and the encoder.   docs/protocol.md 4, [LCH14].   SPDX-License-Identifier: MIT OR
 * Apache-2.0
 *
 * A code of 2^(k+rate) positions is 2^rate transforms of 2^k words, one a coset; the layers above them
 * multiply zeros and only copy the message. The butterfly of layer d in the block at position base v has the
 * twiddle Wn_d(v), which is linear in v. The first layers go down the columns of a coset, at most
 * COLUMN_LAYERS layers a pass; the others go along rows, in blocks that stay in the first-level cache for all
 * of them. The rows' blocks of the same positions follow each other, so that who takes these columns next
 * finds them in a cache. */
#include <assert.h>
#include "ntt.h"

#define COLUMN_LAYERS 4
#define TASK_LOG 14       /* words of a column task, at most */
#define LEAST_BLOCK_LOG 8 /* for the sake of threads */

struct ntt_domain {
    unsigned log_n;
    gf64 image[NTT_MAX_LOG_N][NTT_MAX_LOG_N]; /* [d][c] = Wn_d(x^c); zero for c < d, one for c = d */
};

static gf64 twiddle(const ntt_domain *d, unsigned layer, uint64_t v) {
    gf64 t = 0;
    for (unsigned c = layer; c < NTT_MAX_LOG_N; c++)
        t ^= d->image[layer][c] & (0 - (v >> c & 1));
    return t;
}

ntt_domain *ntt_domain_create(mem *m, unsigned log_n) {
    if (log_n > NTT_MAX_LOG_N)
        return NULL;
    ntt_domain *d = mem_alloc_zero(m, sizeof *d);
    if (d == NULL)
        return NULL;
    d->log_n = log_n;
    for (unsigned c = 0; c < NTT_MAX_LOG_N; c++) {
        gf64 basis[NTT_MAX_LOG_N];
        ntt_basis_at(basis, c + 1, UINT64_C(1) << c);
        for (unsigned i = 0; i <= c; i++)
            d->image[i][c] = basis[i];
    }
    return d;
}

void ntt_domain_destroy(mem *m, ntt_domain *d) {
    mem_free(m, d);
}

/* The twiddles of `layers` layers, the last of distance 2^lowest, in the block at v: block i of layer j at
 * tw[2^j + i]. */
static void fill_twiddles(gf64 *tw, const ntt_domain *d, unsigned layers, unsigned lowest, uint64_t v) {
    for (unsigned j = 0; j < layers; j++) {
        const unsigned layer = lowest + layers - 1 - j;
        gf64 *t = tw + ((size_t)1 << j);
        t[0] = twiddle(d, layer, v);
        for (unsigned b = 0; b < j; b++) {
            const gf64 step = d->image[layer][layer + 1 + b];
            for (size_t i = 0, half = (size_t)1 << b; i < half; i++)
                t[half + i] = t[i] ^ step;
        }
    }
}

typedef struct encode_job {
    const ntt_run *run;
    const sheaf_kernels *kern;
    /* Of a column pass: layers top-1 .. top-layers, 2^width columns a task. */
    unsigned top, layers, width;
} encode_job;

/* Columns of one row in one coset, 2^layers words each. */
static void column_task(void *ctx, size_t task, unsigned worker) {
    const encode_job *j = ctx;
    const ntt_run *run = j->run;
    const unsigned low = j->top - j->layers;
    const size_t columns = (task << j->width) & (((size_t)1 << low) - 1), block = task >> (low - j->width);
    const size_t blocks = (size_t)1 << (run->k - j->top), at = (block % blocks << j->top) + columns;
    const size_t coset = block / blocks % run->count, row = block / blocks / run->count;
    const size_t stride = ntt_place(&run->layout, 0, 0, (size_t)1 << low), n = (size_t)1 << j->width;
    uint64_t *to = run->code + ntt_place(&run->layout, row, coset, at);
    gf64 tw[1u << COLUMN_LAYERS];
    (void)worker;
    fill_twiddles(tw, run->domain, j->layers, low,
                  ((run->first + coset) << run->k) + (block % blocks << j->top));
    if (j->top == run->k)
        j->kern->ntt_rows(to, stride, run->msg + (row << run->k) + at, (size_t)1 << low, tw, j->layers, n);
    else
        j->kern->ntt_rows(to, stride, to, stride, tw, j->layers, n);
}

/* All layers of a coset that is too short for the kernels, at v. */
static void plain_block(const ntt_domain *d, uint64_t *to, const uint64_t *msg, unsigned k, uint64_t v) {
    memcpy(to, msg, sizeof *to << k);
    for (unsigned layer = k; layer-- > 0;)
        for (size_t i = 0; i < (size_t)1 << k; i += (size_t)2 << layer)
            for (size_t j = i; j < i + ((size_t)1 << layer); j++) {
                uint64_t *a = to + j, *b = a + ((size_t)1 << layer);
                *a ^= gf64_mul(twiddle(d, layer, v + i), *b);
                *b ^= *a;
            }
}

/* A block of every row. */
static void block_task(void *ctx, size_t task, unsigned worker) {
    const encode_job *j = ctx;
    const ntt_run *run = j->run;
    const unsigned log = run->layout.block_log;
    const size_t coset = task >> (run->k - log), at = (task << log) & (((size_t)1 << run->k) - 1);
    const size_t position = ((run->first + coset) << run->k) + at;
    gf64 tw[1u << NTT_BLOCK_LOG];
    if (log >= NTT_BLOCK_MIN)
        fill_twiddles(tw, run->domain, log, 0, position);
    for (size_t row = 0; row < run->rows; row++) {
        uint64_t *to = run->code + ntt_place(&run->layout, row, coset, at);
        if (log < NTT_BLOCK_MIN)
            plain_block(run->domain, to, run->msg + (row << run->k), log, position);
        else
            j->kern->ntt_block(to, log == run->k ? run->msg + (row << run->k) : to, tw, log);
    }
    if (run->done != NULL)
        run->done(run->ctx, position, run->code + ntt_place(&run->layout, 0, coset, at), worker);
}

unsigned ntt_block_log(unsigned k, unsigned rate, unsigned threads) {
    unsigned log = k < NTT_BLOCK_LOG ? k : NTT_BLOCK_LOG;
    while (threads > 1 && log > LEAST_BLOCK_LOG && (size_t)1 << (k + rate - log) < 4 * (size_t)threads)
        log--;
    return log;
}

void ntt_encode(const ntt_run *run, pool *p) {
    const unsigned block_log = run->layout.block_log;
    assert(block_log <= NTT_BLOCK_LOG && block_log <= run->k &&
           (block_log >= NTT_BLOCK_MIN || block_log == run->k));
    encode_job job = {.run = run, .kern = kernels()};
    for (job.top = run->k; job.top > block_log; job.top -= job.layers) {
        const unsigned left = job.top - block_log, passes = (left + COLUMN_LAYERS - 1) / COLUMN_LAYERS;
        job.layers = (left + passes - 1) / passes;
        job.width = TASK_LOG - job.layers < block_log ? TASK_LOG - job.layers : block_log;
        pool_run(p, (run->rows * run->count) << (run->k - job.layers - job.width), column_task, &job);
    }
    pool_run(p, run->count << (run->k - block_log), block_task, &job);
}

void ntt_encode_rows(const ntt_domain *d, uint64_t *code, const uint64_t *msg, size_t rows, unsigned k,
                     unsigned rate, pool *p) {
    assert(k + rate <= d->log_n);
    const unsigned block_log = ntt_block_log(k, rate, pool_threads(p));
    const ntt_layout row_major = {block_log, (size_t)1 << (k + rate), (size_t)1 << block_log, (size_t)1 << k};
    const ntt_run run = {.domain = d,
                         .msg = msg,
                         .rows = rows,
                         .k = k,
                         .code = code,
                         .layout = row_major,
                         .count = (size_t)1 << rate};
    ntt_encode(&run, p);
}

void ntt_encode_row(const ntt_domain *d, uint64_t *code, const uint64_t *msg, unsigned k, unsigned rate) {
    ntt_encode_rows(d, code, msg, 1, k, rate, NULL);
}
