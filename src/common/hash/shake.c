/* SHAKE256 [FIPS202], one message and eight.   docs/protocol.md 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "shake.h"

#include <string.h>

#include "../base/base.h"
#include "../base/wipe.h"
#include "../kernels.h"

#define RATE_LANES (SHAKE256_RATE / 8)
#define SHAKE_PAD 0x1f

void secure_wipe(void *p, size_t len) {
    wipe(p, len);
}

/* ---- one message ---- */

void shake256_init(shake256 *h) {
    memset(h, 0, sizeof *h);
}

static void xor_byte(uint64_t *s, size_t pos, uint8_t b) {
    s[pos / 8] ^= (uint64_t)b << (8 * (pos % 8));
}

void shake256_absorb(shake256 *h, const void *data, size_t len) {
    const uint8_t *in = data;
    while (len > 0) {
        if (h->pos % 8 == 0 && len >= 8) {
            h->s[h->pos / 8] ^= load64_le(in);
            h->pos += 8;
            in += 8;
            len -= 8;
        } else {
            xor_byte(h->s, h->pos++, *in++);
            len--;
        }
        if (h->pos == SHAKE256_RATE) {
            kernels()->keccak_f1600(h->s);
            h->pos = 0;
        }
    }
}

void shake256_squeeze(shake256 *h, void *out, size_t len) {
    uint8_t *o = out;
    if (!h->squeezing) {
        xor_byte(h->s, h->pos, SHAKE_PAD);
        xor_byte(h->s, SHAKE256_RATE - 1, 0x80);
        h->pos = SHAKE256_RATE; /* the block to read from is yet to come */
        h->squeezing = 1;
    }
    while (len > 0) {
        if (h->pos == SHAKE256_RATE) {
            kernels()->keccak_f1600(h->s);
            h->pos = 0;
        }
        if (h->pos % 8 == 0 && len >= 8) {
            store64_le(o, h->s[h->pos / 8]);
            h->pos += 8;
            o += 8;
            len -= 8;
        } else {
            *o++ = (uint8_t)(h->s[h->pos / 8] >> (8 * (h->pos % 8)));
            h->pos++;
            len--;
        }
    }
}

void shake256_once(void *out, size_t out_len, const void *in, size_t in_len) {
    shake256 h;
    shake256_init(&h);
    shake256_absorb(&h, in, in_len);
    shake256_squeeze(&h, out, out_len);
    secure_wipe(&h, sizeof h);
}

void hash_words(uint8_t out[32], const uint8_t *in, size_t n_words, uint8_t domain) {
    shake256 h;
    shake256_init(&h);
    shake256_absorb(&h, in, 8 * n_words);
    shake256_absorb(&h, &domain, 1);
    shake256_squeeze(&h, out, 32);
    secure_wipe(&h, sizeof h);
}

/* ---- eight messages of equal length: lane l of state i is s[8 * l + i] ---- */

/* Absorbs n_words words of each; returns how many lanes of the last block they take, < RATE_LANES. */
static size_t absorb_words_x8(uint64_t s[200], const uint8_t *const in[8], size_t n_words) {
    size_t lane = 0;
    for (size_t w = 0; w < n_words; w++) {
        for (size_t i = 0; i < 8; i++)
            s[8 * lane + i] ^= load64_le(in[i] + 8 * w);
        if (++lane == RATE_LANES) {
            kernels()->keccak_f1600_x8(s);
            lane = 0;
        }
    }
    return lane;
}

/* Writes the first out_len bytes of output. */
static void squeeze_x8(const uint64_t s[200], uint8_t *const out[8], size_t out_len) {
    for (size_t i = 0; i < 8; i++) {
        size_t n = 0;
        for (; n + 8 <= out_len; n += 8)
            store64_le(out[i] + n, s[n + i]);
        for (; n < out_len; n++)
            out[i][n] = (uint8_t)(s[n / 8 * 8 + i] >> (8 * (n % 8)));
    }
}

void shake256_x8(uint8_t *const out[8], size_t out_len, const uint8_t *const in[8], size_t in_len) {
    _Alignas(64) uint64_t s[200] = {0};
    size_t words = in_len / 8, rest = in_len % 8, lane = absorb_words_x8(s, in, words);
    for (size_t i = 0; i < 8; i++) {
        uint64_t last = (uint64_t)SHAKE_PAD << (8 * rest);
        for (size_t b = 0; b < rest; b++)
            last |= (uint64_t)in[i][8 * words + b] << (8 * b);
        s[8 * lane + i] ^= last;
        s[8 * (RATE_LANES - 1) + i] ^= HASH_PAD_LAST;
    }
    kernels()->keccak_f1600_x8(s);
    squeeze_x8(s, out, out_len);
    secure_wipe(s, sizeof s);
}

/* Of public messages. */
static void hash_words_x8(uint8_t *const out[8], const uint8_t *const in[8], size_t n_words, uint8_t domain) {
    _Alignas(64) uint64_t s[200] = {0};
    size_t lane = absorb_words_x8(s, in, n_words);
    for (size_t i = 0; i < 8; i++) {
        s[8 * lane + i] ^= HASH_PAD_FIRST(domain);
        s[8 * (RATE_LANES - 1) + i] ^= HASH_PAD_LAST;
    }
    kernels()->keccak_digest_x8(s);
    squeeze_x8(s, out, 32);
}

void hash_words_many(uint8_t *out, const uint8_t *in, size_t in_stride, size_t n, size_t n_words,
                     uint8_t domain) {
    for (size_t first = 0; first < n; first += 8) {
        size_t count = n - first < 8 ? n - first : 8;
        uint8_t spare[32], *to[8];
        const uint8_t *from[8];
        if (count == 1) { /* eight states cost more than one */
            hash_words(out + 32 * first, in + first * in_stride, n_words, domain);
            return;
        }
        for (size_t i = 0; i < 8; i++) { /* states past the last message repeat it */
            from[i] = in + (first + (i < count ? i : count - 1)) * in_stride;
            to[i] = i < count ? out + 32 * (first + i) : spare;
        }
        hash_words_x8(to, from, n_words, domain);
    }
}
