/* Random bytes for secrets.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_RANDOM_H
#define SHEAF_RANDOM_H

#include "base.h"

/* Fills out with bytes from HMAC-DRBG over SHA-256, seeded afresh by the system's generator, its state wiped
 * afterwards. Returns 0, or -1 where the system gives no randomness; out is then all zero. */
SHEAF_MUST_CHECK int random_bytes(void *out, size_t len);

#endif
