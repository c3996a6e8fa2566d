/* Additive NTT: domains and the encoder.   docs/protocol.md 4, [LCH14].   SPDX-License-Identifier: MIT OR
 * Apache-2.0
 *
 * A code of 2^(k+rate) positions is 2^rate transforms of 2^k words, one a coset; the layers above them
 * multiply zeros and only copy the message. The butterfly of layer d in the block at position base v has the
 * twiddle Wn_d(v), which is linear in v. Layers go two at a time down the recursion; below 2^BLOCK_LOG words
 * all layers are done in the first-level cache, with twiddles from small tables of the low bits of v plus one
 * word for the high bits. */
#include <assert.h>
#include "ntt.h"

#define BLOCK_LOG 11 /* words of a block in cache, as an exponent */
#define TAIL_LOG 3   /* layers of the tail kernel */
#define TAIL_WORDS 512
#define CHUNK_WORDS 512

struct ntt_domain {
    unsigned log_n;
    gf64 image[NTT_MAX_LOG_N][NTT_MAX_LOG_N]; /* [d][c] = Wn_d(x^c); zero for c < d, one for c = d */
    gf64 low[1u << BLOCK_LOG]; /* layer d, block i: Wn_d(2^(d+1) i) at [2^(BLOCK_LOG-1-d) + i] */
};

/* The low twiddles of layer d < BLOCK_LOG. */
static const gf64 *low_twiddles(const ntt_domain *d, unsigned layer) {
    return d->low + ((size_t)1 << (BLOCK_LOG - 1 - layer));
}

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
    for (unsigned layer = 0; layer < BLOCK_LOG; layer++)
        for (size_t i = 0, n = (size_t)1 << (BLOCK_LOG - 1 - layer); i < n; i++)
            d->low[n + i] = twiddle(d, layer, (uint64_t)i << (layer + 1));
    return d;
}

void ntt_domain_destroy(mem *m, ntt_domain *d) {
    mem_free(m, d);
}

/* One radix-4 step on n columns of the block of 2^log words at position base v: layers log-1 and log-2. */
static void step4(const ntt_domain *d, const sheaf_kernels *kern, uint64_t *block, unsigned log, uint64_t v,
                  size_t at, size_t n) {
    size_t quarter = (size_t)1 << (log - 2);
    gf64 t[3];
    t[0] = twiddle(d, log - 1, v);
    t[1] = twiddle(d, log - 2, v);
    t[2] = t[1] ^ d->image[log - 2][log - 1];
    block += at;
    kern->ntt_butterfly4(block, block + quarter, block + 2 * quarter, block + 3 * quarter, t, n);
}

/* All layers of a block of 2^log words, TAIL_LOG <= log <= BLOCK_LOG. */
static void block_in_cache(const ntt_domain *d, const sheaf_kernels *kern, uint64_t *block, unsigned log,
                           uint64_t v) {
    size_t n = (size_t)1 << log;
    unsigned layer = log; /* layers below this one are still to do */
    if ((log - TAIL_LOG) % 2 != 0) {
        layer--;
        kern->ntt_butterfly(block, block + n / 2, twiddle(d, layer, v), n / 2);
    }
    while (layer > TAIL_LOG) {
        const gf64 *upper = low_twiddles(d, layer - 1), *lower = low_twiddles(d, layer - 2);
        gf64 base_upper = twiddle(d, layer - 1, v), base_lower = twiddle(d, layer - 2, v);
        size_t quarter = (size_t)1 << (layer - 2);
        for (size_t i = 0; i < n >> layer; i++) {
            uint64_t *b = block + (i << layer);
            gf64 t[3] = {base_upper ^ upper[i], base_lower ^ lower[2 * i], base_lower ^ lower[2 * i + 1]};
            kern->ntt_butterfly4(b, b + quarter, b + 2 * quarter, b + 3 * quarter, t, quarter);
        }
        layer -= 2;
    }
    gf64 base4 = twiddle(d, 2, v), base2 = twiddle(d, 1, v), base1 = twiddle(d, 0, v);
    const gf64 *low4 = low_twiddles(d, 2), *low2 = low_twiddles(d, 1), *low1 = low_twiddles(d, 0);
    size_t piece = n < TAIL_WORDS ? n : TAIL_WORDS;
    for (size_t at = 0; at < n; at += piece) {
        _Alignas(64) gf64 t4[TAIL_WORDS / 8], t2[TAIL_WORDS / 4], t1[TAIL_WORDS / 2];
        for (size_t i = 0; i < piece / 8; i++)
            t4[i] = base4 ^ low4[at / 8 + i];
        for (size_t i = 0; i < piece / 4; i++)
            t2[i] = base2 ^ low2[at / 4 + i];
        for (size_t i = 0; i < piece / 2; i++)
            t1[i] = base1 ^ low1[at / 2 + i];
        kern->ntt_tail8(block + at, t4, t2, t1, piece);
    }
}

/* All layers of a block of any size from 2^TAIL_LOG on. */
static void block_layers(const ntt_domain *d, const sheaf_kernels *kern, uint64_t *block, unsigned log,
                         uint64_t v) {
    if (log <= BLOCK_LOG) {
        block_in_cache(d, kern, block, log, v);
        return;
    }
    size_t quarter = (size_t)1 << (log - 2);
    step4(d, kern, block, log, v, 0, quarter);
    for (size_t i = 0; i < 4; i++)
        block_layers(d, kern, block + i * quarter, log - 2, v + i * quarter);
}

/* The first radix-4 step, from the message: copy and transform column blocks while they are in cache. */
static void first_step(const ntt_domain *d, const sheaf_kernels *kern, uint64_t *out, const uint64_t *msg,
                       unsigned k, uint64_t v, size_t from, size_t n) {
    size_t quarter = (size_t)1 << (k - 2);
    for (size_t done = 0; done < n; done += CHUNK_WORDS) {
        size_t now = n - done < CHUNK_WORDS ? n - done : CHUNK_WORDS;
        for (size_t i = 0; i < 4; i++)
            memcpy(out + i * quarter + from + done, msg + i * quarter + from + done, now * sizeof *out);
        step4(d, kern, out, k, v, from + done, now);
    }
}

/* One coset: the 2^k positions from v on. */
static void encode_coset(const ntt_domain *d, const sheaf_kernels *kern, uint64_t *out, const uint64_t *msg,
                         unsigned k, uint64_t v) {
    if (k > BLOCK_LOG) {
        size_t quarter = (size_t)1 << (k - 2);
        first_step(d, kern, out, msg, k, v, 0, quarter);
        for (size_t i = 0; i < 4; i++)
            block_layers(d, kern, out + i * quarter, k - 2, v + i * quarter);
        return;
    }
    memcpy(out, msg, sizeof *out << k);
    if (k >= TAIL_LOG) {
        block_in_cache(d, kern, out, k, v);
        return;
    }
    for (unsigned layer = k; layer-- > 0;)
        for (size_t i = 0; i < (size_t)1 << k; i += (size_t)2 << layer)
            for (size_t j = i; j < i + ((size_t)1 << layer); j++) {
                uint64_t *a = out + j, *b = a + ((size_t)1 << layer);
                *a ^= gf64_mul(twiddle(d, layer, v + i), *b);
                *b ^= *a;
            }
}

typedef struct encode_job {
    const ntt_domain *d;
    const sheaf_kernels *kern;
    uint64_t *code;
    const uint64_t *msg;
    unsigned k, rate;
    unsigned level;       /* radix-4 steps done before this pass */
    unsigned log_columns; /* a task of a column pass */
} encode_job;

/* Where unit `unit` (a coset of a row) lies. */
static void locate(const encode_job *j, size_t unit, uint64_t **out, const uint64_t **msg, uint64_t *v) {
    *out = j->code + (unit << j->k);
    *msg = j->msg + (unit >> j->rate << j->k);
    *v = (uint64_t)(unit & (((size_t)1 << j->rate) - 1)) << j->k;
}

/* One radix-4 step at j->level, on one block of columns. */
static void column_task(void *ctx, size_t task, unsigned worker) {
    const encode_job *j = ctx;
    (void)worker;
    unsigned log = j->k - 2 * j->level, log_tasks = log - 2 - j->log_columns;
    size_t from = (task & (((size_t)1 << log_tasks) - 1)) << j->log_columns, block = task >> log_tasks;
    size_t columns = (size_t)1 << j->log_columns, inner = block & (((size_t)1 << 2 * j->level) - 1);
    uint64_t *out, v;
    const uint64_t *msg;
    locate(j, block >> 2 * j->level, &out, &msg, &v);
    if (j->level == 0)
        first_step(j->d, j->kern, out, msg, j->k, v, from, columns);
    else
        step4(j->d, j->kern, out + (inner << log), log, v + ((uint64_t)inner << log), from, columns);
}

/* All that is left below j->level, on one block. */
static void block_task(void *ctx, size_t task, unsigned worker) {
    const encode_job *j = ctx;
    (void)worker;
    unsigned log = j->k - 2 * j->level;
    size_t inner = task & (((size_t)1 << 2 * j->level) - 1);
    uint64_t *out, v;
    const uint64_t *msg;
    locate(j, task >> 2 * j->level, &out, &msg, &v);
    if (j->level == 0)
        encode_coset(j->d, j->kern, out, msg, j->k, v);
    else
        block_layers(j->d, j->kern, out + (inner << log), log, v + ((uint64_t)inner << log));
}

void ntt_encode_rows(const ntt_domain *d, uint64_t *code, const uint64_t *msg, size_t rows, unsigned k,
                     unsigned rate, pool *p) {
    assert(k + rate <= d->log_n);
    size_t units = rows << rate, threads = pool_threads(p);
    encode_job job = {d, kernels(), code, msg, k, rate, 0, 0};
    unsigned levels = 0;
    while (threads > 1 && units << 2 * levels < 4 * threads && k > 2 * levels + BLOCK_LOG)
        levels++;
    for (; job.level < levels; job.level++) {
        unsigned log_quarter = k - 2 * job.level - 2;
        job.log_columns = log_quarter > 13 ? log_quarter - 4 : log_quarter < 9 ? log_quarter : 9;
        pool_run(p, units << (k - 2 - job.log_columns), column_task, &job);
    }
    pool_run(p, units << 2 * levels, block_task, &job);
}

void ntt_encode_row(const ntt_domain *d, uint64_t *code, const uint64_t *msg, unsigned k, unsigned rate) {
    ntt_encode_rows(d, code, msg, 1, k, rate, NULL);
}
