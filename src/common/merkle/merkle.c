/* Checking Merkle openings.   docs/protocol.md 5.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "merkle.h"

#include <assert.h>

#include "../hash/shake.h"

#define DIGEST 32
#define MAX_ARITY 4

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

size_t merkle_distinct(uint64_t *out, const uint64_t *positions, size_t n) {
    size_t k = 0;
    if (n == 0)
        return 0;
    memcpy(out, positions, n * sizeof *out);
    qsort(out, n, sizeof *out, ascending);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || out[i] != out[i - 1])
            out[k++] = out[i];
    return k;
}

/* The words of each distinct leaf, ascending: hashes them, and points every query at its leaf. */
static int read_leaves(rx *c, const uint8_t **leaves, uint8_t *digests, const uint64_t *distinct, size_t k,
                       size_t n_rows, const uint64_t *positions, size_t n) {
    const uint8_t *first = NULL;
    size_t leaf_len = 8 * n_rows;
    /* One by one, so that no length is multiplied by k before it is known to be there. */
    for (size_t i = 0; i < k; i++) {
        const uint8_t *leaf;
        if (rx_take(c, MSG_OPENING, &leaf, leaf_len) != 0)
            return -1;
        if (i == 0)
            first = leaf;
    }
    hash_words_many(digests, first, leaf_len, k, n_rows, HASH_MERKLE_LEAF);
    for (size_t q = 0; q < n; q++) {
        const uint64_t *at = bsearch(&positions[q], distinct, k, sizeof *distinct, ascending);
        leaves[q] = first + (size_t)(at - distinct) * leaf_len;
    }
    return 0;
}

/* From the k known nodes of a level (their indices, ascending, and digests) to their parents, in place;
 * returns how many, or 0 where the proof ends early. A child that is not known is in the proof, or zero where
 * the level has no such node. */
static size_t climb(rx *c, uint64_t *known, uint8_t *digests, size_t k, uint64_t level_nodes,
                    unsigned arity) {
    uint8_t groups[8][MAX_ARITY * DIGEST];
    size_t parents = 0, pending = 0, i = 0;
    while (i < k) {
        uint64_t parent = known[i] / arity;
        for (unsigned a = 0; a < arity; a++) {
            uint8_t *to = groups[pending] + a * DIGEST;
            const uint8_t *sent;
            if (i < k && known[i] == parent * arity + a) {
                memcpy(to, digests + DIGEST * i++, DIGEST);
            } else if (parent * arity + a >= level_nodes) {
                memset(to, 0, DIGEST);
            } else {
                if (rx_take(c, MSG_OPENING, &sent, DIGEST) != 0)
                    return 0;
                memcpy(to, sent, DIGEST);
            }
        }
        known[parents++] = parent; /* at most i of them: only what has been read is overwritten */
        pending++;
        if (pending == 8 || i == k) {
            hash_words_many(digests + DIGEST * (parents - pending), groups[0], sizeof groups[0], pending,
                            arity * (DIGEST / 8), HASH_MERKLE_NODE);
            pending = 0;
        }
    }
    return parents;
}

static int check(rx *c, const uint8_t root[32], const uint8_t **leaves, uint64_t *known, uint8_t *digests,
                 size_t n_rows, unsigned log_n, unsigned arity, const uint64_t *positions, size_t n,
                 uint64_t level) {
    size_t k = merkle_distinct(known, positions, n);
    if (read_leaves(c, leaves, digests, known, k, n_rows, positions, n) != 0)
        return -1;
    for (uint64_t nodes = UINT64_C(1) << log_n; nodes > 1; nodes = merkle_parents(nodes, arity)) {
        k = climb(c, known, digests, k, nodes, arity);
        if (k == 0)
            return -1;
    }
    if (memcmp(digests, root, DIGEST) != 0)
        return rx_reject(c, SHEAF_CHECK_MERKLE, level, "an opening does not hash to the root");
    return 0;
}

int merkle_check(rx *c, const uint8_t root[32], const uint8_t **leaves, size_t n_rows, unsigned log_n,
                 unsigned arity, const uint64_t *positions, size_t n, uint64_t level) {
    assert(log_n < 64 && (arity == 2 || arity == MAX_ARITY));
    for (size_t q = 0; q < n; q++) {
        assert(positions[q] >> log_n == 0);
        leaves[q] = NULL;
    }
    if (n == 0)
        return 0;
    uint64_t *known = malloc(n * sizeof *known);
    uint8_t *digests = malloc(n * DIGEST);
    int r = known != NULL && digests != NULL
                ? check(c, root, leaves, known, digests, n_rows, log_n, arity, positions, n, level)
                : rx_fail(c, SHEAF_OUT_OF_MEMORY, "no memory for checking an opening");
    free(known);
    free(digests);
    if (r != 0)
        for (size_t q = 0; q < n; q++)
            leaves[q] = NULL;
    return r;
}
