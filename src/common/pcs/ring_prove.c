/* Ring switching, proving side: the weight Phi(eq(r, .)) as a table.   docs/protocol.md 6.7.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Phi is linear over F2, so it is a sum of 24 maps, one of each byte of an element: GROUP elements are taken
 * apart into planes of bytes for the kernel that adds such maps up. */
#include "whir.h"
#include "../poly/poly.h"

#define BLOCK_LOG                                                                                            \
    8            /* variables of a block, at most: its eq table and the maps stay in the first-level cache */
#define GROUP 64 /* elements that the kernel takes */
#define BYTES 24 /* of an element */

typedef struct ring_job {
    const sheaf_kernels *k;
    const ring_map *phi;
    const ring_extra *extra;
    bitmap8 *maps; /* maps[8 l + b]: Phi of an element of which only byte b of limb l is not zero */
    evec weight, eq_low, eq_high;
    size_t block; /* elements */
} ring_job;

static void build_map(void *ctx, size_t task, unsigned worker) {
    ring_job *job = ctx;
    gf192 column[8];
    (void)worker;
    for (unsigned bit = 0; bit < 8; bit++) {
        gf192 a = GF192_ZERO;
        a.c[task / 8] = UINT64_C(1) << (8 * (task % 8) + bit);
        column[bit] = ring_map_apply(job->phi, a);
    }
    job->k->bitmap_prepare(&job->maps[task], column);
}

/* Exchanges the bits of a under mask << shift with those of b under mask. */
static inline void swap_bits(uint64_t *a, uint64_t *b, unsigned shift, uint64_t mask) {
    const uint64_t t = (*a >> shift ^ *b) & mask;
    *b ^= t;
    *a ^= t << shift;
}

/* Plane b has byte b of each word. */
static void take_apart(uint8_t planes[8 * GROUP], const uint64_t w[GROUP]) {
    for (size_t g = 0; g < GROUP / 8; g++) {
        uint64_t x[8];
        memcpy(x, w + 8 * g, sizeof x);
        for (size_t i = 0; i < 4; i++)
            swap_bits(&x[i], &x[i + 4], 32, 0x00000000ffffffffu);
        for (size_t i = 0; i < 8; i++)
            if (i % 4 < 2)
                swap_bits(&x[i], &x[i + 2], 16, 0x0000ffff0000ffffu);
        for (size_t i = 0; i < 8; i += 2)
            swap_bits(&x[i], &x[i + 1], 8, 0x00ff00ff00ff00ffu);
        for (size_t b = 0; b < 8; b++)
            store64_le(planes + GROUP * b + 8 * g, x[b]);
    }
}

/* The elements from `first` on of a block, GROUP of them or all. */
static void fill_group(const ring_job *job, size_t task, size_t first) {
    _Alignas(64) uint64_t eq[3 * GROUP] = {0}, small[3 * GROUP];
    uint8_t planes[BYTES * GROUP];
    const size_t n = job->block < GROUP ? job->block : GROUP;
    const evec to = evec_at(job->weight, task * job->block + first);
    job->k->evec_scale((evec){eq, GROUP}, evec_at(job->eq_low, first), evec_get(job->eq_high, task),
                       round_up(n, 8));
    for (size_t l = 0; l < 3; l++)
        take_apart(planes + 8 * GROUP * l, eq + GROUP * l);
    job->k->bitmap_sum(n == GROUP ? to : (evec){small, GROUP}, job->maps, planes, GROUP, BYTES);
    for (size_t i = 0; n < GROUP && i < n; i++)
        evec_set(to, i, evec_get((evec){small, GROUP}, i));
}

static void add_extra(const ring_job *job, size_t first) {
    const ring_extra *x = job->extra;
    const size_t period = (size_t)1 << x->vars, piece = period < job->block ? period : job->block;
    for (size_t at = first; at < first + job->block && at >> x->vars < x->n; at += piece)
        if (!gf192_is_zero(x->coeff[at >> x->vars]))
            job->k->evec_scale_add(evec_at(job->weight, at), evec_at(x->table, at & (period - 1)),
                                   x->coeff[at >> x->vars], piece);
}

static void fill_block(void *ctx, size_t task, unsigned worker) {
    const ring_job *job = ctx;
    (void)worker;
    for (size_t first = 0; first < job->block; first += GROUP)
        fill_group(job, task, first);
    if (job->extra != NULL)
        add_extra(job, task * job->block);
}

int ring_weights(evec weight, env *e, const ring_map *phi, const gf192 *r, unsigned n,
                 const ring_extra *extra) {
    const unsigned low = n < BLOCK_LOG ? n : BLOCK_LOG;
    const size_t block = (size_t)1 << low, padded = round_up(block, 8);
    const size_t blocks = (size_t)1 << (n - low), blocks_padded = round_up(blocks, 8);
    uint64_t *words = mem_alloc_zero(e->mem, 3 * (padded + blocks_padded) * sizeof(uint64_t));
    bitmap8 *maps = mem_alloc(e->mem, BYTES * sizeof *maps);
    int result = -1;
    if (words != NULL && maps != NULL) {
        ring_job job = {
            .k = kernels(), .phi = phi, .extra = extra, .maps = maps, .weight = weight, .block = block};
        job.eq_low = (evec){words, padded};
        job.eq_high = (evec){words + 3 * padded, blocks_padded};
        eq_table_evec(job.eq_low, r, low, GF192_ONE);
        eq_table_evec(job.eq_high, r + low, n - low, GF192_ONE);
        pool_run(e->pool, BYTES, build_map, &job);
        pool_run(e->pool, blocks, fill_block, &job);
        result = 0;
    }
    mem_free(e->mem, maps);
    mem_free(e->mem, words);
    return result;
}
