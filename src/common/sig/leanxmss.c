/* leanXMSS over SHAKE256: tweaks, the one hash, the encoding, verification.   docs/leanxmss.md 1 to 4.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "leanxmss.h"
#include "../hash/shake.h"

void leanxmss_tweak(uint8_t out[16], uint8_t t, uint32_t p, uint32_t j) {
    memset(out, 0, 16);
    out[1] = t;
    store32_le(out + 4, p);
    store32_le(out + 12, j);
}

/* The state is wiped: the signer hashes secrets with this function. */
void leanxmss_hash(uint8_t *out, size_t out_len, const uint8_t tweak[16], const uint8_t p[16],
                   const uint8_t *payload, size_t payload_len) {
    shake256 h;
    shake256_init(&h);
    shake256_absorb(&h, tweak, 16);
    shake256_absorb(&h, p, 16);
    shake256_absorb(&h, payload, payload_len);
    shake256_squeeze(&h, out, out_len);
    secure_wipe(&h, sizeof h);
}

/* Reads the same bytes and does the same work for every digest: rejected randomizers of a signer stay secret.
 */
int leanxmss_positions(uint8_t positions[LEANXMSS_CHAINS], const uint8_t digest[16]) {
    uint64_t bad = 0;
    unsigned sum = 0;
    for (size_t half = 0; half < 2; half++) {
        uint64_t w = load64_le(digest + 8 * half);
        bad |= w >> 63;
        for (size_t r = 0; r < LEANXMSS_CHAINS / 2; r++) {
            uint8_t x = (uint8_t)(w >> (3 * r) & 7);
            positions[half * (LEANXMSS_CHAINS / 2) + r] = x;
            sum += x;
        }
    }
    bad |= sum ^ LEANXMSS_TARGET_SUM;
    return bad == 0 ? 0 : -1;
}

int leanxmss_encode(uint8_t positions[LEANXMSS_CHAINS], const uint8_t p[16], uint32_t epoch,
                    const uint8_t message[32], const uint8_t randomizer[24]) {
    uint8_t tweak[16], payload[64] = {0}, digest[16];
    leanxmss_tweak(tweak, LEANXMSS_TWEAK_ENCODING, 0, epoch);
    memcpy(payload, message, 32);
    memcpy(payload + 32, randomizer, 24);
    leanxmss_hash(digest, sizeof digest, tweak, p, payload, sizeof payload);
    return leanxmss_positions(positions, digest);
}

void leanxmss_node(uint8_t out[16], const uint8_t p[16], unsigned level, uint32_t index,
                   const uint8_t left[16], const uint8_t right[16]) {
    uint8_t tweak[16], children[32];
    leanxmss_tweak(tweak, LEANXMSS_TWEAK_NODE, level, index);
    memcpy(children, left, 16);
    memcpy(children + 16, right, 16);
    leanxmss_hash(out, 16, tweak, p, children, sizeof children);
}

int leanxmss_verify(const uint8_t public_key[32], uint32_t epoch, const uint8_t message[32],
                    const uint8_t signature[LEANXMSS_SIGNATURE_BYTES]) {
    const uint8_t *root = public_key, *p = public_key + 16;
    const uint8_t *randomizer = signature + 16 * LEANXMSS_CHAINS, *siblings = randomizer + 24;
    uint8_t positions[LEANXMSS_CHAINS];
    if (leanxmss_encode(positions, p, epoch, message, randomizer) != 0)
        return -1;

    uint8_t tweak[16], ends[16 * LEANXMSS_CHAINS];
    for (size_t i = 0; i < LEANXMSS_CHAINS; i++) {
        uint8_t step[32] = {0};
        memcpy(step, signature + 16 * i, 16);
        step[16] = (uint8_t)i;
        for (uint32_t k = positions[i]; k < 7; k++) {
            leanxmss_tweak(tweak, LEANXMSS_TWEAK_STEP, k, epoch);
            leanxmss_hash(step, 16, tweak, p, step, sizeof step);
        }
        memcpy(ends + 16 * i, step, 16);
    }
    uint8_t node[16];
    leanxmss_tweak(tweak, LEANXMSS_TWEAK_LEAF, 0, epoch);
    leanxmss_hash(node, sizeof node, tweak, p, ends, sizeof ends);

    for (unsigned l = 0; l < LEANXMSS_HEIGHT; l++) {
        const uint8_t *sibling = siblings + 16 * (size_t)l;
        uint32_t parent = (uint32_t)((uint64_t)epoch >> (l + 1));
        if (epoch >> l & 1)
            leanxmss_node(node, p, l + 1, parent, sibling, node);
        else
            leanxmss_node(node, p, l + 1, parent, node, sibling);
    }
    return memcmp(node, root, 16) == 0 ? 0 : -1;
}
