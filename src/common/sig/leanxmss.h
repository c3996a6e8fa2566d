/* leanXMSS over SHAKE256.   docs/leanxmss.md.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_LEANXMSS_H
#define SHEAF_LEANXMSS_H

#include "../base/base.h"

#define LEANXMSS_CHAINS 42
#define LEANXMSS_HEIGHT 32
#define LEANXMSS_TARGET_SUM 195
#define LEANXMSS_STEPS 99
#define LEANXMSS_PUBLIC_KEY_BYTES 32  /* root, P */
#define LEANXMSS_SIGNATURE_BYTES 1208 /* 42 chain values, randomizer (24), 32 siblings */

/* Tweak types, docs/leanxmss.md 2. */
enum {
    LEANXMSS_TWEAK_SECRET = 0,
    LEANXMSS_TWEAK_STEP = 1,
    LEANXMSS_TWEAK_LEAF = 2,
    LEANXMSS_TWEAK_NODE = 3,
    LEANXMSS_TWEAK_ENCODING = 4,
    LEANXMSS_TWEAK_PARAMETER = 5,
    LEANXMSS_TWEAK_FILLER = 6,
    LEANXMSS_TWEAK_RANDOMIZER = 7
};

/* Verification, plain. 0 accepted, -1 rejected. */
SHEAF_MUST_CHECK int leanxmss_verify(const uint8_t public_key[32], uint32_t epoch, const uint8_t message[32],
                                     const uint8_t signature[LEANXMSS_SIGNATURE_BYTES]);
/* The 42 positions of (P, epoch, message, randomizer); -1 where the encoding is not valid. */
SHEAF_MUST_CHECK int leanxmss_encode(uint8_t positions[LEANXMSS_CHAINS], const uint8_t p[16], uint32_t epoch,
                                     const uint8_t message[32], const uint8_t randomizer[24]);
/* The positions in an encoding digest; -1 where it is not valid. Constant time. */
SHEAF_MUST_CHECK int leanxmss_positions(uint8_t positions[LEANXMSS_CHAINS], const uint8_t digest[16]);
/* Tweak bytes enc(t, p, j). */
void leanxmss_tweak(uint8_t out[16], uint8_t t, uint32_t p, uint32_t j);
/* The first out_len bytes of SHAKE256(tweak || P || payload); out may be the payload. */
void leanxmss_hash(uint8_t *out, size_t out_len, const uint8_t tweak[16], const uint8_t p[16],
                   const uint8_t *payload, size_t payload_len);
/* The Merkle node of a level in 1..32; out may be a child. */
void leanxmss_node(uint8_t out[16], const uint8_t p[16], unsigned level, uint32_t index,
                   const uint8_t left[16], const uint8_t right[16]);

/* Secret key in memory: seed, aligned interval and all nodes of its subtree. */
typedef struct leanxmss_key {
    uint8_t seed[32];
    uint8_t public_key[32];
    uint32_t first;     /* first epoch, a multiple of the count */
    unsigned log_count; /* 2^log_count epochs, 0..32 */
    uint8_t *nodes; /* level 0 (leaves) first: 2^log_count digests of 16 bytes, then each level up, to one */
    uint8_t siblings[LEANXMSS_HEIGHT]
                    [16]; /* the filler siblings above the subtree; entry l is at level log_count + l */
} leanxmss_key;

/* Bytes of the nodes of a key, for log_count in 0..32: what keygen allocates. */
uint64_t leanxmss_key_nodes_bytes(unsigned log_count);
/* Allocates before it starts: SHEAF_OUT_OF_MEMORY where the nodes do not fit, SHEAF_EPOCH_RANGE where the
 * interval is not aligned, SHEAF_CANCELLED. e may be NULL. On any error nothing is kept. */
SHEAF_MUST_CHECK sheaf_status leanxmss_keygen(leanxmss_key *k, env *e, const uint8_t seed[32], uint32_t first,
                                              unsigned log_count);
/* 0 where P, the filler siblings and the root are those of the seed, the interval and the subtree's top node;
 * else -1. */
SHEAF_MUST_CHECK int leanxmss_key_check(const leanxmss_key *k);
void leanxmss_key_wipe(leanxmss_key *k, mem *m);
/* Deterministic. trials may be NULL. Stateless: the caller keeps the one-message-an-epoch rule
 * (sig/keyfile.h). SHEAF_EPOCH_RANGE where the key does not cover the epoch. */
SHEAF_MUST_CHECK sheaf_status leanxmss_sign(uint8_t signature[LEANXMSS_SIGNATURE_BYTES],
                                            const leanxmss_key *k, uint32_t epoch, const uint8_t message[32],
                                            uint32_t *trials);

#endif
