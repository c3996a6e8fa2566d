/* A leanXMSS secret key as bytes.   docs/leanxmss.md 7.1.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "leanxmss_key.h"

#include "bearssl.h"
#include "../hash/shake.h"

enum { VERSION = 1, SCHEME_LEANXMSS_SHAKE256 = 1 };

const uint8_t leanxmss_key_magic[8] = "SHEAFKEY";

static sheaf_status refuse(sheaf_failure *f, sheaf_status status, const char *what, const char *name) {
    failure_set(f, status, SHEAF_CHECK_NONE, 0, "%s: %s", what, name);
    return status;
}

size_t leanxmss_key_siblings_bytes(unsigned log_count) {
    return 16 * (size_t)(LEANXMSS_HEIGHT - log_count);
}

uint64_t leanxmss_key_bytes(unsigned log_count) {
    return LEANXMSS_KEY_HEADER + leanxmss_key_nodes_bytes(log_count) +
           leanxmss_key_siblings_bytes(log_count) + LEANXMSS_KEY_CHECKSUM;
}

void leanxmss_key_header_write(uint8_t out[LEANXMSS_KEY_HEADER], const leanxmss_key *k) {
    memcpy(out, leanxmss_key_magic, sizeof leanxmss_key_magic);
    store32_le(out + 8, VERSION);
    store32_le(out + 12, SCHEME_LEANXMSS_SHAKE256);
    store32_le(out + 16, k->first);
    store32_le(out + 20, k->log_count);
    memcpy(out + 24, k->seed, 32);
    memcpy(out + 56, k->public_key, 32);
}

sheaf_status leanxmss_key_header_read(leanxmss_key *k, mem *m, const uint8_t header[LEANXMSS_KEY_HEADER],
                                      uint64_t bytes, const char *name, sheaf_failure *f) {
    memset(k, 0, sizeof *k);
    if (memcmp(header, leanxmss_key_magic, sizeof leanxmss_key_magic) != 0)
        return refuse(f, SHEAF_MALFORMED, "this is not a key", name);
    if (load32_le(header + 8) != VERSION || load32_le(header + 12) != SCHEME_LEANXMSS_SHAKE256)
        return refuse(f, SHEAF_UNSUPPORTED, "a key of an unknown version or scheme", name);
    uint32_t first = load32_le(header + 16), log_count = load32_le(header + 20);
    if (log_count > LEANXMSS_HEIGHT || (first & ((UINT64_C(1) << log_count) - 1)) != 0)
        return refuse(f, SHEAF_MALFORMED, "the key's interval is not aligned", name);
    if (bytes != leanxmss_key_bytes(log_count))
        return refuse(f, SHEAF_MALFORMED, "the key is too short or too long", name);
    uint64_t nodes = leanxmss_key_nodes_bytes(log_count);
    k->nodes = nodes <= SIZE_MAX ? mem_alloc(m, (size_t)nodes) : NULL;
    if (k->nodes == NULL) {
        failure_set(f, SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "the key needs %llu bytes of memory: %s",
                    (unsigned long long)nodes, name);
        return SHEAF_OUT_OF_MEMORY;
    }
    k->first = first;
    k->log_count = log_count;
    memcpy(k->seed, header + 24, 32);
    memcpy(k->public_key, header + 56, 32);
    return SHEAF_OK;
}

void leanxmss_key_checksum(uint8_t out[LEANXMSS_KEY_CHECKSUM], const leanxmss_key *k) {
    uint8_t header[LEANXMSS_KEY_HEADER];
    br_sha256_context h;
    leanxmss_key_header_write(header, k);
    br_sha256_init(&h);
    br_sha256_update(&h, header, sizeof header);
    br_sha256_update(&h, k->nodes, (size_t)leanxmss_key_nodes_bytes(k->log_count));
    br_sha256_update(&h, k->siblings, leanxmss_key_siblings_bytes(k->log_count));
    br_sha256_out(&h, out);
    secure_wipe(&h, sizeof h);
    secure_wipe(header, sizeof header);
}

sheaf_status leanxmss_key_accept(const leanxmss_key *k, const uint8_t checksum[LEANXMSS_KEY_CHECKSUM],
                                 const char *name, sheaf_failure *f) {
    uint8_t want[LEANXMSS_KEY_CHECKSUM];
    leanxmss_key_checksum(want, k);
    if (memcmp(checksum, want, sizeof want) != 0)
        return refuse(f, SHEAF_MALFORMED, "the key is damaged (checksum)", name);
    if (leanxmss_key_check(k) != 0)
        return refuse(f, SHEAF_MALFORMED, "the key's public key is not its seed's", name);
    return SHEAF_OK;
}

void leanxmss_key_encode(uint8_t *out, const leanxmss_key *k) {
    size_t nodes = (size_t)leanxmss_key_nodes_bytes(k->log_count),
           siblings = leanxmss_key_siblings_bytes(k->log_count);
    leanxmss_key_header_write(out, k);
    out += LEANXMSS_KEY_HEADER;
    memcpy(out, k->nodes, nodes);
    memcpy(out + nodes, k->siblings, siblings);
    leanxmss_key_checksum(out + nodes + siblings, k);
}

sheaf_status leanxmss_key_decode(leanxmss_key *k, mem *m, const uint8_t *bytes, size_t len, const char *name,
                                 sheaf_failure *f) {
    memset(k, 0, sizeof *k);
    if (len < LEANXMSS_KEY_HEADER)
        return refuse(f, SHEAF_MALFORMED, "this is not a key", name);
    sheaf_status status = leanxmss_key_header_read(k, m, bytes, len, name, f);
    if (status != SHEAF_OK)
        return status;
    size_t nodes = (size_t)leanxmss_key_nodes_bytes(k->log_count),
           siblings = leanxmss_key_siblings_bytes(k->log_count);
    bytes += LEANXMSS_KEY_HEADER;
    memcpy(k->nodes, bytes, nodes);
    memcpy(k->siblings, bytes + nodes, siblings);
    status = leanxmss_key_accept(k, bytes + nodes + siblings, name, f);
    if (status != SHEAF_OK)
        leanxmss_key_wipe(k, m);
    return status;
}
