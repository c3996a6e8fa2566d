/* leanXMSS over SHAKE256.   docs/leanxmss.md. */
#ifndef SHEAF_LEANXMSS_H
#define SHEAF_LEANXMSS_H

#include "../base/base.h"

#define LEANXMSS_CHAINS 42
#define LEANXMSS_HEIGHT 32
#define LEANXMSS_TARGET_SUM 195
#define LEANXMSS_STEPS 99
#define LEANXMSS_PUBLIC_KEY_BYTES 32   /* root, P */
#define LEANXMSS_SIGNATURE_BYTES 1208  /* 42 chain values, randomizer (24), 32 siblings */

/* Verification, plain. 0 accepted, -1 rejected. */
SHEAF_MUST_CHECK int leanxmss_verify(const uint8_t public_key[32], uint32_t epoch, const uint8_t message[32],
                                     const uint8_t signature[LEANXMSS_SIGNATURE_BYTES]);
/* The 42 positions of (P, epoch, message, randomizer); -1 where the encoding is not valid. */
SHEAF_MUST_CHECK int leanxmss_encode(uint8_t positions[LEANXMSS_CHAINS], const uint8_t p[16], uint32_t epoch,
                                     const uint8_t message[32], const uint8_t randomizer[24]);
/* Tweak bytes enc(t, p, j). */
void leanxmss_tweak(uint8_t out[16], uint8_t t, uint32_t p, uint32_t j);

/* Secret key in memory: seed, aligned interval and all nodes of its subtree. */
typedef struct leanxmss_key {
    uint8_t seed[32];
    uint8_t public_key[32];
    uint32_t first;          /* first epoch, a multiple of the count */
    unsigned log_count;      /* 2^log_count epochs, 0..32 */
    uint8_t *nodes;          /* level 0 (leaves) first: 2^log_count digests of 16 bytes, then each level up, to one */
    uint8_t siblings[LEANXMSS_HEIGHT][16]; /* the filler siblings above the subtree; entry l is at level log_count + l */
} leanxmss_key;

SHEAF_MUST_CHECK sheaf_status leanxmss_keygen(leanxmss_key *k, env *e, const uint8_t seed[32], uint32_t first, unsigned log_count);
void leanxmss_key_wipe(leanxmss_key *k, mem *m);
/* Deterministic. trials may be NULL. Stateless: the caller keeps the one-message-an-epoch rule (sig/keyfile.h). */
SHEAF_MUST_CHECK sheaf_status leanxmss_sign(uint8_t signature[LEANXMSS_SIGNATURE_BYTES], const leanxmss_key *k, uint32_t epoch,
                                            const uint8_t message[32], uint32_t *trials);

#endif
