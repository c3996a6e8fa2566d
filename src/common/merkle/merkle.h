/* Merkle trees over the columns of a row-major word matrix.   docs/protocol.md 5.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_MERKLE_H
#define SHEAF_MERKLE_H

#include "../base/base.h"
#include "../hash/transcript.h"

/* The digests of a level of n nodes are four vectors of n words: word l of node i at l * n + i. The levels
 * follow each other, the leaves' first. */
typedef struct merkle_tree {
    unsigned log_n; /* 2^log_n leaves */
    unsigned arity; /* 2 or 4 */
    uint64_t *nodes;
    size_t node_count;
} merkle_tree;

/* Leaf p hashes the words rows[0][p], rows[1][p], ..., rows[n_rows-1][p] (8 bytes each, little endian), then
 * the byte 0x00. Row b starts at words + b * row_stride. Returns 0, or -1 when out of memory. */
SHEAF_MUST_CHECK int merkle_build(merkle_tree *t, mem *m, pool *p, const uint64_t *words, size_t row_stride,
                                  size_t n_rows, unsigned log_n, unsigned arity);
/* The same in parts, for those who make the words as they go: after merkle_init each part of 2^log_part
 * leaves, all of one size, in any order and on any threads, `words` being where its first leaf's words are;
 * then merkle_finish. */
SHEAF_MUST_CHECK int merkle_init(merkle_tree *t, mem *m, unsigned log_n, unsigned arity);
void merkle_part(merkle_tree *t, size_t first, unsigned log_part, const uint64_t *words, size_t row_stride,
                 size_t n_rows);
void merkle_finish(merkle_tree *t, pool *p, unsigned log_part);
void merkle_free(merkle_tree *t, mem *m);
void merkle_root(const merkle_tree *t, uint8_t root[32]);

/* The number of nodes in the level above one of n > 1 nodes. */
static inline uint64_t merkle_parents(uint64_t n, unsigned arity) {
    return n < arity ? 1 : n / arity;
}
/* The nodes of all levels. */
uint64_t merkle_count(unsigned log_n, unsigned arity);
/* Writes the distinct ones of n positions, ascending, and returns their number. */
size_t merkle_distinct(uint64_t *out, const uint64_t *positions, size_t n);

/* positions: n of them, repeats allowed, any order, all < 2^log_n. Writes (tx_append, MSG_OPENING) the
 * distinct leaves' words in ascending order of position, then the path nodes, level by level from the leaves,
 * ascending, each once. Sets c->failed when out of memory. */
void merkle_open(tx *c, const merkle_tree *t, const uint64_t *words, size_t row_stride, size_t n_rows,
                 const uint64_t *positions, size_t n);
/* The same with the words of the k distinct leaves at hand: row b of the i-th of them at leaves[i * n_rows +
 * b]. */
void merkle_open_leaves(tx *c, const merkle_tree *t, const uint64_t *leaves, size_t n_rows,
                        const uint64_t *distinct, size_t k);

/* Reads an opening, checks it against the root (rejects with SHEAF_CHECK_MERKLE, index = level), and points
 * leaves[q] at the words of query q's leaf: n_rows * 8 bytes inside the proof. All NULL on failure. */
SHEAF_MUST_CHECK int merkle_check(rx *c, const uint8_t root[32], const uint8_t **leaves, size_t n_rows,
                                  unsigned log_n, unsigned arity, const uint64_t *positions, size_t n,
                                  uint64_t level);

#endif
