/* The transcript, and the verifier's end of the proof channel.   docs/protocol.md 3.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "transcript.h"

#include "../kernels.h"
#include "shake.h"

#define RATE_LANES (SHAKE256_RATE / 8)

/* ---- transcript ---- */

static void restart(transcript *t) {
    memset(t->s, 0, sizeof t->s);
    memcpy(t->s, t->chain, sizeof t->chain);
    t->lane = 4;
}

void transcript_init(transcript *t) {
    static const uint8_t first[] = "Sheaf leaf protocol, version 001";
    for (size_t i = 0; i < 4; i++)
        t->chain[i] = load64_le(first + 8 * i);
    restart(t);
}

void transcript_absorb(transcript *t, const uint64_t *words, size_t n) {
    for (size_t i = 0; i < n; i++) {
        t->s[t->lane] ^= words[i];
        if (++t->lane == RATE_LANES) {
            kernels()->keccak_f1600(t->s);
            t->lane = 0;
        }
    }
}

void transcript_absorb_e(transcript *t, const gf192 *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        transcript_absorb(t, a[i].c, 3);
}

void transcript_label(transcript *t, const char label[8]) {
    uint64_t word = load64_le((const uint8_t *)label);
    transcript_absorb(t, &word, 1);
}

/* The next output word; t->lane counts those of the block that are taken. */
static uint64_t next_word(transcript *t) {
    if (t->lane == RATE_LANES) {
        kernels()->keccak_f1600(t->s);
        t->lane = 0;
    }
    return t->s[t->lane++];
}

/* Ends absorbing and sets the next chain; the challenges are the words that follow, up to restart(). */
static void begin_squeeze(transcript *t) {
    t->s[t->lane] ^= HASH_PAD_FIRST(HASH_TRANSCRIPT);
    t->s[RATE_LANES - 1] ^= HASH_PAD_LAST;
    t->lane = RATE_LANES;
    for (size_t i = 0; i < 4; i++)
        t->chain[i] = next_word(t);
}

void transcript_squeeze(transcript *t, gf192 *out, size_t n) {
    begin_squeeze(t);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < 3; l++)
            out[i].c[l] = next_word(t);
    restart(t);
}

void transcript_squeeze_words(transcript *t, uint64_t *out, size_t n) {
    begin_squeeze(t);
    for (size_t i = 0; i < n; i++)
        out[i] = next_word(t);
    restart(t);
}

/* ---- the verifier's end ---- */

void rx_init(rx *c, const void *proof, size_t len) {
    static const uint8_t none[1];
    memset(c, 0, sizeof *c);
    transcript_init(&c->t);
    c->in = len > 0 ? proof : none;
    c->len = len;
}

/* Nothing is owned. No pointer into the proof stays; the failure and the counts do. */
void rx_free(rx *c) {
    c->in = NULL;
    c->len = c->pos = 0;
}

static int fail(rx *c, sheaf_status status, sheaf_check check, uint64_t index, const char *what) {
    if (c->fail.status == SHEAF_OK)
        failure_set(&c->fail, status, check, index, "%s", what);
    return -1;
}

int rx_fail(rx *c, sheaf_status status, const char *what) {
    return fail(c, status, SHEAF_CHECK_NONE, 0, what);
}

int rx_reject(rx *c, sheaf_check check, uint64_t index, const char *what) {
    return fail(c, SHEAF_REJECTED, check, index, what);
}

/* The next n units of `unit` bytes each, or NULL and a failure. */
static const uint8_t *take(rx *c, msg_kind kind, size_t n, size_t unit) {
    if (c->fail.status != SHEAF_OK)
        return NULL;
    if (n > (c->len - c->pos) / unit) {
        (void)rx_reject(c, SHEAF_CHECK_TRUNCATED, 0, "the proof ends early");
        return NULL;
    }
    const uint8_t *p = c->in + c->pos;
    c->pos += n * unit;
    c->bytes_by_kind[kind] += n * unit;
    return p;
}

int rx_recv_words(rx *c, msg_kind kind, uint64_t *words, size_t n) {
    const uint8_t *p = take(c, kind, n, 8);
    for (size_t i = 0; i < n; i++)
        words[i] = p != NULL ? load64_le(p + 8 * i) : 0;
    if (p == NULL)
        return -1;
    transcript_absorb(&c->t, words, n);
    return 0;
}

int rx_recv_e(rx *c, msg_kind kind, gf192 *a, size_t n) {
    const uint8_t *p = take(c, kind, n, 24);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < 3; l++)
            a[i].c[l] = p != NULL ? load64_le(p + 24 * i + 8 * l) : 0;
    if (p == NULL)
        return -1;
    transcript_absorb_e(&c->t, a, n);
    return 0;
}

int rx_take(rx *c, msg_kind kind, const uint8_t **bytes, size_t n) {
    *bytes = take(c, kind, n, 1);
    return *bytes != NULL ? 0 : -1;
}

int rx_finish(rx *c) {
    if (c->fail.status != SHEAF_OK)
        return -1;
    if (c->pos != c->len)
        return rx_reject(c, SHEAF_CHECK_TRAILING, 0, "bytes are left over after the proof");
    return 0;
}

int rx_grind(rx *c, unsigned g, uint64_t level) {
    uint64_t nonce;
    if (g == 0)
        return 0;
    transcript_squeeze(&c->t, NULL, 0);
    if (rx_recv_words(c, MSG_NONCE, &nonce, 1) != 0)
        return -1;
    transcript_squeeze(&c->t, NULL, 0);
    if (g >= 64 || c->t.chain[0] << (64 - g) != 0)
        return rx_reject(c, SHEAF_CHECK_GRINDING, level, "a nonce does not meet its target");
    return 0;
}
