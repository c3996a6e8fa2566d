/* SHAKE256 [FIPS202] and the one hash of the protocol.   docs/protocol.md 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_SHAKE_H
#define SHEAF_SHAKE_H

#include <stddef.h>
#include <stdint.h>

#define SHAKE256_RATE 136

typedef struct shake256 {
    uint64_t s[25];
    size_t pos;
    int squeezing;
} shake256;

void shake256_init(shake256 *h);
void shake256_absorb(shake256 *h, const void *data, size_t len);
void shake256_squeeze(shake256 *h, void *out, size_t len); /* the first call ends absorbing */
void shake256_once(void *out, size_t out_len, const void *in, size_t in_len);

/* Eight messages of equal length: message i's bytes start at in[i]; the first out_len (at most 136) output bytes of each go to
 * out[i]. */
void shake256_x8(uint8_t *const out[8], size_t out_len, const uint8_t *const in[8], size_t in_len);

/* The protocol's hash H(words || domain), docs/protocol.md 2: `in` is n_words * 8 bytes, `domain` the byte that separates
 * uses. */
#define HASH_MERKLE_LEAF 0x00
#define HASH_MERKLE_NODE 0x01
#define HASH_TRANSCRIPT 0x02
#define HASH_LIST 0x03
#define HASH_CIRCUIT 0x04
void hash_words(uint8_t out[32], const uint8_t *in, size_t n_words, uint8_t domain);
/* n of them, public and of equal length: message i at in + i * in_stride, its digest at out + 32 * i; out and in do
 * not overlap. */
void hash_words_many(uint8_t *out, const uint8_t *in, size_t in_stride, size_t n, size_t n_words, uint8_t domain);
/* The padding of such a message: for the lane after its last word, and for the last lane of that block. */
#define HASH_PAD_FIRST(domain) ((uint64_t)(domain) | UINT64_C(0x1f) << 8)
#define HASH_PAD_LAST (UINT64_C(0x80) << 56)

/* Wipes memory in a way that the compiler keeps. */
void secure_wipe(void *p, size_t len);

#endif
