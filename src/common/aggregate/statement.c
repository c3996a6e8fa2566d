/* The leaf statement of each kind of envelope.   docs/protocol.md 9.  SPDX-License-Identifier: MIT OR
 * Apache-2.0 */
#include "aggregate.h"
#include "../hash/shake.h"

/* H(list || 0x03) as four words. */
static void list_digest(uint64_t out[4], const uint8_t *items, size_t count) {
    static const uint8_t list_byte = 0x03;
    uint8_t digest[32];
    shake256 h;
    shake256_init(&h);
    shake256_absorb(&h, items, 32 * count);
    shake256_absorb(&h, &list_byte, 1);
    shake256_squeeze(&h, digest, sizeof digest);
    for (unsigned i = 0; i < 4; i++)
        out[i] = load64_le(digest + 8 * i);
}

/* Four public columns from the four words of each item: the root and P of a key, or a digest. */
static uint64_t *item_columns(const sheaf_statement *st) {
    uint64_t *columns = mem_alloc(NULL, 4 * (size_t)st->count * sizeof *columns);
    if (columns != NULL)
        (st->kind == SHEAF_KIND_HASH ? circuit_hash_publics : circuit_leanxmss_publics)(columns, st->count,
                                                                                        st->items);
    return columns;
}

static int build_circuit(aggregate_leaf *a, const sheaf_statement *st) {
    if (st->kind == SHEAF_KIND_HASH) {
        list_digest(a->binding, st->items, st->count);
        a->st.n_binding = 4;
        return circuit_build_hash(&a->circuit);
    }
    a->binding[0] = st->epoch;
    for (unsigned i = 0; i < 4; i++)
        a->binding[1 + i] = load64_le(st->message + 8 * i);
    list_digest(a->binding + 5, st->items, st->count);
    a->st.n_binding = 9;
    return circuit_build_leanxmss(&a->circuit, st->epoch, a->binding + 1);
}

sheaf_status aggregate_leaf_init(aggregate_leaf *a, const sheaf_statement *st) {
    memset(a, 0, sizeof *a);
    if (st->kind != SHEAF_KIND_LEANXMSS && st->kind != SHEAF_KIND_HASH)
        return SHEAF_UNSUPPORTED;
    if (build_circuit(a, st) != 0)
        return SHEAF_OUT_OF_MEMORY;
    a->publics = item_columns(st);
    if (a->publics == NULL) {
        circuit_free(&a->circuit);
        return SHEAF_OUT_OF_MEMORY;
    }
    a->st.circuit = &a->circuit;
    a->st.signers = st->count;
    a->st.publics = a->publics;
    a->st.binding = a->binding;
    return SHEAF_OK;
}

void aggregate_leaf_free(aggregate_leaf *a) {
    circuit_free(&a->circuit);
    mem_free(NULL, a->publics);
    memset(a, 0, sizeof *a);
}
