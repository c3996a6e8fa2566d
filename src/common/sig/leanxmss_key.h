/* A leanXMSS secret key as bytes.   docs/leanxmss.md 7.1.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The pieces are for who reads and writes a file without a second copy of the nodes (sig/keyfile.c): header,
 * nodes, siblings, checksum. In every failure's text `name` says what the bytes are of: a file's path. */
#ifndef SHEAF_LEANXMSS_KEY_H
#define SHEAF_LEANXMSS_KEY_H

#include "leanxmss.h"

enum { LEANXMSS_KEY_HEADER = 88, LEANXMSS_KEY_CHECKSUM = 32 };
extern const uint8_t leanxmss_key_magic[8]; /* a key file begins so */

/* All bytes of a key, log_count in 0..32. */
uint64_t leanxmss_key_bytes(unsigned log_count);
/* Bytes of the siblings, which follow the nodes. */
size_t leanxmss_key_siblings_bytes(unsigned log_count);

void leanxmss_key_header_write(uint8_t out[LEANXMSS_KEY_HEADER], const leanxmss_key *k);
/* Checks a header against the number of all bytes and only then allocates the nodes, still without value. On
 * failure nothing is kept. */
SHEAF_MUST_CHECK sheaf_status leanxmss_key_header_read(leanxmss_key *k, mem *m,
                                                       const uint8_t header[LEANXMSS_KEY_HEADER],
                                                       uint64_t bytes, const char *name, sheaf_failure *f);
void leanxmss_key_checksum(uint8_t out[LEANXMSS_KEY_CHECKSUM], const leanxmss_key *k);
/* Whether a key that was read is whole: its checksum, and that seed, public key and siblings belong together.
 */
SHEAF_MUST_CHECK sheaf_status leanxmss_key_accept(const leanxmss_key *k,
                                                  const uint8_t checksum[LEANXMSS_KEY_CHECKSUM],
                                                  const char *name, sheaf_failure *f);

/* The whole at once; out has leanxmss_key_bytes(k->log_count). Both the bytes and the key are secret. */
void leanxmss_key_encode(uint8_t *out, const leanxmss_key *k);
SHEAF_MUST_CHECK sheaf_status leanxmss_key_decode(leanxmss_key *k, mem *m, const uint8_t *bytes, size_t len,
                                                  const char *name, sheaf_failure *f);

#endif
