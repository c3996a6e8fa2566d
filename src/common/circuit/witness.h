/* Witnesses: committed words and multiplicities of the two circuits.   docs/protocol.md 9.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Layout: words[j * S + s] is word j of slot s < S, publics[p * S + s] the same for public columns. */
#ifndef SHEAF_WITNESS_H
#define SHEAF_WITNESS_H

#include "../base/base.h"
#include "circuit.h"
#include "leanxmss_layout.h"

/* ---- hash batch ---- */

/* 128-byte messages to words (16 rows) and, unless it is NULL, publics (4 rows): the messages' digests. */
#define WITNESS_HASH_MESSAGE 128
void witness_hash(uint64_t *words, uint64_t *publics, env *e, size_t n, const uint8_t *messages);

/* ---- leanXMSS ---- */

/* Of `signers` public keys (32 bytes each) and signatures (1208 bytes each): words (LX_WORDS rows), publics
 * (LX_PUBLICS rows) and the multiplicities over all 2^m slots. It verifies the signatures on the way:
 * SHEAF_BAD_SIGNATURE, f->index the first that does not verify. Otherwise SHEAF_OK, _CANCELLED,
 * _OUT_OF_MEMORY. Unless SHEAF_OK, what was written is not a witness. */
SHEAF_MUST_CHECK sheaf_status witness_leanxmss(uint64_t *words, uint64_t *publics,
                                               uint64_t multiplicities[LX_TABLE], env *e, size_t signers,
                                               const uint8_t *public_keys, const uint8_t *signatures,
                                               uint32_t epoch, const uint8_t message[32], sheaf_failure *f);

/* The same step by step, eight slots at once. Everything between two steps may be altered: the later steps
 * compute with what they find, so that a false claim gets the witness that it would have. */
#define WITNESS_LANES 8

typedef struct witness_slot {
    uint64_t words[LX_WORDS];
    uint64_t p[2], root[2];         /* the public key */
    uint8_t right[LEANXMSS_HEIGHT]; /* level t's path child is the right one */
    /* Where a CHAIN row's input comes from: START c is c, the output of row i, one before it, 42 + i. */
    uint8_t step_from[LEANXMSS_STEPS];
    uint8_t end_from[LEANXMSS_CHAINS]; /* the same for the chain ends */
    uint64_t top[2];                   /* what the last MERKLE row gives */
} witness_slot;

/* 1. The key and the signature: randomizer, START values, siblings where the epoch has them. */
void witness_lx_read(witness_slot *w, const uint8_t public_key[32],
                     const uint8_t signature[LEANXMSS_SIGNATURE_BYTES], uint32_t epoch);
/* 2. The ENC rows: the positions that the randomizers give. Bit i is set where slot i's encoding is not
 * valid. */
unsigned witness_lx_encode(uint8_t positions[WITNESS_LANES][LEANXMSS_CHAINS],
                           const witness_slot w[WITNESS_LANES], uint32_t epoch, const uint64_t message[4]);
/* 3. START positions, and the CHAIN rows by chain, then by position. -1 where they are not 99 steps: then w
 * is as it was. */
SHEAF_MUST_CHECK int witness_lx_plan(witness_slot *w, const uint8_t positions[LEANXMSS_CHAINS]);
/* 4. The CHAIN rows' inputs and the END words. */
void witness_lx_chains(witness_slot w[WITNESS_LANES], uint32_t epoch);
/* 5. The LEAF sponge's and the path's words, and the top. */
void witness_lx_path(witness_slot w[WITNESS_LANES], uint32_t epoch);
/* 6. The first n <= 8 of them become slots s..s+n-1 of `signers`. */
void witness_lx_store(uint64_t *words, size_t signers, size_t s, const witness_slot *w, size_t n);
/* 7. How often each successor pair of the table is pulled, over all 2^m slots; the last slot is repeated. */
void witness_lx_multiplicities(uint64_t multiplicities[LX_TABLE], const uint64_t *words, size_t signers);

#endif
