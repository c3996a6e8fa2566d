/* Where the leanXMSS circuit has its words, rows and columns.   docs/protocol.md 9.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_LEANXMSS_LAYOUT_H
#define SHEAF_LEANXMSS_LAYOUT_H

#include "../sig/leanxmss.h"

enum {
    LX_BLOCKS = 6, /* of the LEAF sponge */
    LX_RATE_LANES = 17,
    LX_LANES = 25,
    LX_LEAF_LANES = 4 + 2 * LEANXMSS_CHAINS, /* message lanes of the LEAF sponge */
    LX_TABLE = 7,                            /* successor pairs: positions 0..6 */

    /* committed words */
    LX_RANDOMIZER = 0, /* 3 */
    LX_CHAIN = 3,      /* 5 a row: in_0, in_1, cur, next, index */
    LX_CHAIN_WORDS = 5,
    LX_START = LX_CHAIN + LX_CHAIN_WORDS * LEANXMSS_STEPS, /* 3 a chain: X, y_0, y_1 */
    LX_START_WORDS = 3,
    LX_END = LX_START + LX_START_WORDS * LEANXMSS_CHAINS, /* 2 a chain */
    LX_END_WORDS = 2,
    LX_LEAF = LX_END + LX_END_WORDS * LEANXMSS_CHAINS, /* 25 a block from block 1 on */
    LX_MERKLE = LX_LEAF + LX_LANES * (LX_BLOCKS - 1),  /* 4 a level: left_0, left_1, right_0, right_1 */
    LX_MERKLE_WORDS = 4,
    LX_WORDS = LX_MERKLE + LX_MERKLE_WORDS * LEANXMSS_HEIGHT,
    LX_LOG_WORDS = 10,

    /* rows */
    LX_ROW_ENC = 0,
    LX_ROW_CHAIN = 1,
    LX_ROW_LEAF = LX_ROW_CHAIN + LEANXMSS_STEPS,
    LX_ROW_MERKLE = LX_ROW_LEAF + LX_BLOCKS,
    LX_ROWS = LX_ROW_MERKLE + LEANXMSS_HEIGHT,
    LX_LOG_ROWS = 8,

    /* public columns */
    LX_ROOT = 0, /* 2 */
    LX_P = 2,    /* 2 */
    LX_PUBLICS = 4,

    LX_BUS_LOG = 8
};
_Static_assert(LX_WORDS == 961 && LX_ROWS == 138 && LX_LEAF_LANES == 88, "the sizes of docs/protocol.md 9.2");

#define LX_PAD_FIRST UINT64_C(0x1F)
#define LX_PAD_LAST (UINT64_C(1) << 63)

/* Lane 0 of tweak enc(t, p, .), and lane 1 of enc(., ., j). */
static inline uint64_t lx_lane0(unsigned t, uint32_t p) {
    return (uint64_t)t << 8 | (uint64_t)p << 32;
}
static inline uint64_t lx_lane1(uint32_t j) {
    return (uint64_t)j << 32;
}
/* Lane 0 of the step from position p. */
static inline uint64_t lx_step_lane(uint32_t p) {
    return lx_lane0(LEANXMSS_TWEAK_STEP, p);
}
/* The index of the parent that level t + 1 of an epoch's path computes. */
static inline uint32_t lx_parent(uint32_t epoch, unsigned t) {
    return (uint32_t)((uint64_t)epoch >> (t + 1));
}

#endif
