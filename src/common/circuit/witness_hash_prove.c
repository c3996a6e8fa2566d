/* Witnesses of a batch of hashes.   docs/protocol.md 9.1.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "witness.h"
#include "../kernels.h"

enum { WORDS = WITNESS_HASH_MESSAGE / 8, DIGEST_WORDS = 4, STATE_LANES = 25, AT_ONCE = 8 };

typedef struct job {
    uint64_t *words, *publics;
    size_t n;
    const uint8_t *messages;
} job;

/* Eight messages; digests of fewer are computed with zeros in the free places. */
static void eight_messages(void *ctx, size_t task, unsigned worker) {
    const job *j = ctx;
    (void)worker;
    const size_t first = task * AT_ONCE, n = j->n - first < AT_ONCE ? j->n - first : AT_ONCE;
    _Alignas(64) uint64_t s[8 * STATE_LANES] = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < WORDS; l++) {
            uint64_t word = load64_le(j->messages + WITNESS_HASH_MESSAGE * (first + i) + 8 * l);
            j->words[l * j->n + first + i] = word;
            s[8 * l + i] = word;
        }
    if (j->publics == NULL)
        return;
    for (size_t i = 0; i < n; i++)
        s[8 * WORDS + i] = LX_PAD_FIRST | LX_PAD_LAST;
    kernels()->keccak_f1600_x8(s);
    for (size_t l = 0; l < DIGEST_WORDS; l++)
        memcpy(j->publics + l * j->n + first, s + 8 * l, n * sizeof(uint64_t));
}

void witness_hash(uint64_t *words, uint64_t *publics, env *e, size_t n, const uint8_t *messages) {
    job j = {words, publics, n, messages};
    pool_run(e->pool, (n + AT_ONCE - 1) / AT_ONCE, eight_messages, &j);
}
