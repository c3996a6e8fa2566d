/* Random bytes for secrets.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifdef __EMSCRIPTEN__
#define _GNU_SOURCE
#include <unistd.h>
#endif
#include <bearssl.h>
#include "random.h"
#include "wipe.h"

enum { DRBG_MOST = 1 << 16 }; /* bytes a request, by the generator's definition (NIST SP 800-90A) */

/* Non-zero where the system gave its randomness. */
#ifdef __EMSCRIPTEN__
static int add_system_seed(br_hmac_drbg_context *rng) { /* JavaScript's crypto.getRandomValues */
    uint8_t seed[48];
    int seeded = getentropy(seed, sizeof seed) == 0;
    if (seeded)
        br_hmac_drbg_update(rng, seed, sizeof seed);
    wipe(seed, sizeof seed);
    return seeded;
}
#else
static int add_system_seed(br_hmac_drbg_context *rng) {
    br_prng_seeder seed = br_prng_seeder_system(NULL);
    return seed != NULL && seed(&rng->vtable);
}
#endif

int random_bytes(void *out, size_t len) {
    br_hmac_drbg_context rng;
    uint8_t *p = out;
    if (len > 0)
        memset(p, 0, len);
    br_hmac_drbg_init(&rng, &br_sha256_vtable, NULL, 0);
    int seeded = add_system_seed(&rng);
    while (seeded && len > 0) {
        size_t n = len < DRBG_MOST ? len : DRBG_MOST;
        br_hmac_drbg_generate(&rng, p, n);
        p += n;
        len -= n;
    }
    wipe(&rng, sizeof rng);
    return seeded ? 0 : -1;
}
