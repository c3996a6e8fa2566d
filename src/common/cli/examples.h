/* Signers and messages that anyone can make again: for the bench and for examples, never for use.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_EXAMPLES_H
#define SHEAF_EXAMPLES_H

#include "../aggregate/context.h"
#include "cli.h"

/* n messages of SHEAF_PREIMAGE_BYTES bytes: message i is SHAKE256(seed || i, 8 bytes, little endian). */
void example_preimages(uint8_t *out, size_t n, const uint8_t seed[32]);

/* Signer i's seed is SHAKE256("sheaf example signer" || i, 8 bytes, little endian), its key has the one epoch
 * EXAMPLE_EPOCH, and the message is SHAKE256("sheaf example message"). */
enum { EXAMPLE_EPOCH = 7 };
/* Uses the context's threads and progress. entries is from malloc. */
sheaf_status example_signatures(signature_set *s, sheaf_context *ctx, size_t n);

#endif
