/* The circuit of a batch of hashes: 128-byte messages, 32-byte digests.   docs/protocol.md 9.1.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "circuit.h"

enum { WORDS = 16, LOG_WORDS = 4, DIGEST_WORDS = 4 };

static int build(circuit *c) {
    if (circuit_init(c, PARAMS_HASH, WORDS, LOG_WORDS, 1, 0, DIGEST_WORDS) != 0)
        return -1;
    for (unsigned l = 0; l < WORDS; l++)
        if (circuit_set_source(c, 0, l, (lane_source){SOURCE_WORD, (uint16_t)l, 0}) != 0)
            return -1;
    /* SHAKE256's padding of 128 bytes, first and last byte in one lane. */
    if (circuit_set_source(c, 0, WORDS, (lane_source){SOURCE_CONST, 0, UINT64_C(0x800000000000001F)}) != 0)
        return -1;
    for (unsigned l = 0; l < DIGEST_WORDS; l++) {
        const term link[] = {{TERM_OUTPUT, (uint8_t)l, 0, 1}, {TERM_PUBLIC, 0, (uint16_t)l, 1}};
        if (circuit_add_link(c, link, 2) != 0)
            return -1;
    }
    return circuit_finish(c);
}

int circuit_build_hash(circuit *c) {
    int result = build(c);
    if (result != 0)
        circuit_free(c);
    return result;
}

void circuit_hash_publics(uint64_t *publics, size_t n, const uint8_t *digests) {
    for (size_t p = 0; p < DIGEST_WORDS; p++)
        for (size_t s = 0; s < n; s++)
            publics[p * n + s] = load64_le(digests + 8 * (DIGEST_WORDS * s + p));
}
