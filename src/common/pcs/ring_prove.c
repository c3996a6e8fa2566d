/* Ring switching, proving side: the weight Phi(eq(r, .)) as a table.   docs/protocol.md 6.7.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Phi is linear over F2, so it is 24 tables, one for each byte of an element. Four of them stay in a
 * first-level cache while a block of the table goes by. The point is public: the look-ups tell nothing. */
#include "whir.h"
#include "../poly/poly.h"

#define BLOCK_LOG 11 /* variables of a block, at most */
#define BYTES 24     /* of an element */

typedef struct ring_job {
    const sheaf_kernels *k;
    const ring_map *phi;
    gf192 (*table)[256]; /* table[8 l + b][v] = Phi of the element whose limb l has v as byte b and nothing
                            else */
    evec weight, eq_low, eq_high, scratch; /* scratch: one block a worker */
    size_t block, padded;                  /* elements of a block, and of its place in scratch */
} ring_job;

static void build_table(void *ctx, size_t task, unsigned worker) {
    ring_job *job = ctx;
    gf192 *t = job->table[task];
    (void)worker;
    t[0] = GF192_ZERO;
    for (unsigned bit = 0; bit < 8; bit++) {
        gf192 a = GF192_ZERO;
        a.c[task / 8] = UINT64_C(1) << (8 * (task % 8) + bit);
        gf192 column = ring_map_apply(job->phi, a);
        for (unsigned v = 0; v < 1u << bit; v++)
            t[(1u << bit) + v] = gf192_add(t[v], column);
    }
}

/* d += the share of bytes 4 half .. 4 half + 3 of a limb. */
static void apply_four(evec d, const uint64_t *limb, unsigned half, gf192 (*table)[256], size_t n) {
    uint64_t *d0 = d.p, *d1 = d.p + d.stride, *d2 = d.p + 2 * d.stride;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = limb[i] >> (32 * half);
        const uint64_t *a = table[0][v & 255].c, *b = table[1][v >> 8 & 255].c;
        const uint64_t *e = table[2][v >> 16 & 255].c, *f = table[3][v >> 24 & 255].c;
        d0[i] ^= a[0] ^ b[0] ^ e[0] ^ f[0];
        d1[i] ^= a[1] ^ b[1] ^ e[1] ^ f[1];
        d2[i] ^= a[2] ^ b[2] ^ e[2] ^ f[2];
    }
}

static void fill_block(void *ctx, size_t task, unsigned worker) {
    ring_job *job = ctx;
    evec eq = evec_at(job->scratch, worker * job->padded), out = evec_at(job->weight, task * job->block);
    job->k->evec_scale(eq, job->eq_low, evec_get(job->eq_high, task), job->padded);
    for (unsigned l = 0; l < 3; l++)
        memset(out.p + l * out.stride, 0, job->block * sizeof(uint64_t));
    for (unsigned g = 0; g < BYTES / 4; g++)
        apply_four(out, eq.p + g / 2 * eq.stride, g & 1, job->table + 4 * g, job->block);
}

int ring_weights(evec weight, env *e, const ring_map *phi, const gf192 *r, unsigned n) {
    const unsigned low = n < BLOCK_LOG ? n : BLOCK_LOG;
    const size_t block = (size_t)1 << low, padded = round_up(block, 8);
    const size_t blocks = (size_t)1 << (n - low), blocks_padded = round_up(blocks, 8);
    const size_t scratch = padded * pool_threads(e->pool);
    uint64_t *words = mem_alloc_zero(e->mem, 3 * (padded + blocks_padded + scratch) * sizeof(uint64_t));
    gf192(*table)[256] = mem_alloc(e->mem, BYTES * sizeof *table);
    int result = -1;
    if (words != NULL && table != NULL) {
        ring_job job = {
            .k = kernels(), .phi = phi, .table = table, .weight = weight, .block = block, .padded = padded};
        job.eq_low = (evec){words, padded};
        job.eq_high = (evec){words + 3 * padded, blocks_padded};
        job.scratch = (evec){job.eq_high.p + 3 * blocks_padded, scratch};
        eq_table_evec(job.eq_low, r, low, GF192_ONE);
        eq_table_evec(job.eq_high, r + low, n - low, GF192_ONE);
        pool_run(e->pool, BYTES, build_table, &job);
        pool_run(e->pool, blocks, fill_block, &job);
        result = 0;
    }
    mem_free(e->mem, table);
    mem_free(e->mem, words);
    return result;
}
