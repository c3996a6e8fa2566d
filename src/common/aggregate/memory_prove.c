/* The prover's memory, counted from the sizes of its tables.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The most is held while the Keccak layers are proven: the committed word with its code and tree, the
 * outputs, nine layers of bits and one layer's field elements. A test compares the sum with what is
 * allocated. */
#include "memory.h"
#include "context.h"
#include "../circuit/witness.h"
#include "../keccak_gkr/layers.h"
#include "../kernels.h"
#include "../pcs/whir.h"
#include "../sig/leanxmss.h"

enum { WORD = 8, ELEMENT = 24 };

/* Which lanes of which rows the circuit looks at: how many pairs, and how many lanes. */
typedef struct looked_at {
    uint64_t outputs, lanes;
} looked_at;

static int look(looked_at *l, const circuit *c) {
    const size_t all = 25 * (size_t)c->rows;
    uint8_t *used = mem_alloc_zero(NULL, all);
    if (used == NULL)
        return -1;
    for (size_t i = 0; i < c->n_terms; i++)
        if (c->terms[i].kind == TERM_OUTPUT)
            used[25 * (size_t)c->terms[i].a + c->terms[i].b] = 1;
    *l = (looked_at){0, 0};
    for (size_t lane = 0; lane < 25; lane++) {
        uint64_t rows = 0;
        for (size_t at = lane; at < all; at += 25)
            rows += used[at];
        l->outputs += rows;
        l->lanes += rows > 0;
    }
    mem_free(NULL, used);
    return 0;
}

/* The columns of 2^m slots, and the witness that they are made from. */
static uint64_t column_bytes(const circuit *c, unsigned m, uint64_t count, uint64_t outputs) {
    const uint64_t slots = UINT64_C(1) << m, lanes = 25 * (uint64_t)c->rows;
    const uint64_t given = c->family == PARAMS_LEANXMSS ? LEANXMSS_SIGNATURE_BYTES + 32 : 4 * WORD + 32;
    return (given + WORD * (uint64_t)c->words) * count + ((WORD * slots) << c->j_vars) +
           slots * (WORD * (c->publics + 1 + outputs) + ELEMENT) + lanes * (3 * sizeof(void *) + ELEMENT);
}

uint64_t aggregate_prove_bytes(unsigned kind, uint64_t count, unsigned log_inv_rate, unsigned threads) {
    const uint64_t most = kind == SHEAF_KIND_HASH ? SHEAF_MAX_HASHES : SHEAF_MAX_SIGNERS;
    if ((kind != SHEAF_KIND_HASH && kind != SHEAF_KIND_LEANXMSS) || count < 1 || count > most)
        return 0;
    const unsigned m = circuit_log_slots(count);
    const params_family family = kind == SHEAF_KIND_HASH ? PARAMS_HASH : PARAMS_LEANXMSS;
    const whir_params *par =
        params_lookup(family, m, log_inv_rate > 0 ? log_inv_rate : params_default_rate(family, m));
    if (par == NULL)
        return 0;
    circuit c;
    const uint64_t message[4] = {0};
    if ((kind == SHEAF_KIND_HASH ? circuit_build_hash(&c) : circuit_build_leanxmss(&c, 0, message)) != 0)
        return UINT64_MAX;
    looked_at l;
    uint64_t bytes = UINT64_MAX;
    if (look(&l, &c) == 0)
        bytes = column_bytes(&c, m, count, l.outputs) +
                whir_commitment_bytes(par, whir_live_rows(par, (size_t)c.words << m), threads).held +
                layers_bytes((layers_shape){m, c.kappa, c.rows}, (size_t)count, (unsigned)l.lanes, threads);
    circuit_free(&c);
    return bytes;
}

uint64_t sheaf_prove_bytes(const sheaf_context *ctx, unsigned kind, size_t n) {
    return aggregate_prove_bytes(kind, n, ctx->options.log_inv_rate, pool_threads(ctx->pool));
}
