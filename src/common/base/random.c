/* Random bytes for secrets.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <bearssl.h>
#include "random.h"
#include "wipe.h"

enum { DRBG_MOST = 1 << 16 }; /* bytes a request, by the generator's definition (NIST SP 800-90A) */

int random_bytes(void *out, size_t len) {
    br_hmac_drbg_context rng;
    uint8_t *p = out;
    if (len > 0)
        memset(p, 0, len);
    br_prng_seeder seed = br_prng_seeder_system(NULL);
    if (seed == NULL)
        return -1;
    br_hmac_drbg_init(&rng, &br_sha256_vtable, NULL, 0);
    int seeded = seed(&rng.vtable);
    while (seeded && len > 0) {
        size_t n = len < DRBG_MOST ? len : DRBG_MOST;
        br_hmac_drbg_generate(&rng, p, n);
        p += n;
        len -= n;
    }
    wipe(&rng, sizeof rng);
    return seeded ? 0 : -1;
}
