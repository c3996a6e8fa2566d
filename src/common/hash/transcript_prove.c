/* The prover's end of the proof channel, and grinding.   docs/protocol.md 3.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "transcript.h"

#include <assert.h>

#include "../kernels.h"
#include "shake.h"

void tx_init(tx *c) {
    memset(c, 0, sizeof *c);
    transcript_init(&c->t);
}

void tx_free(tx *c) {
    free(c->out);
    c->out = NULL;
    c->len = c->cap = 0;
}

/* Room for n more bytes of this kind; NULL where n is 0 or, c->failed set, there is none. */
static uint8_t *extend(tx *c, msg_kind kind, size_t n) {
    if (c->failed || n == 0)
        return NULL;
    if (n > c->cap - c->len) {
        size_t cap = c->cap < 4096 ? 4096 : c->cap;
        while (n > cap - c->len && cap <= SIZE_MAX / 2)
            cap *= 2;
        uint8_t *out = n > cap - c->len ? NULL : realloc(c->out, cap);
        if (out == NULL) {
            c->failed = 1;
            return NULL;
        }
        c->out = out;
        c->cap = cap;
    }
    uint8_t *p = c->out + c->len;
    c->len += n;
    c->bytes_by_kind[kind] += n;
    return p;
}

/* The hook's turn at the message of n words that stands at p. */
static void lie(tx *c, msg_kind kind, uint8_t *p, size_t n) {
#ifdef SHEAF_TEST_HOOKS
    if (c->hook == NULL)
        return;
    uint64_t *words = malloc(n * sizeof *words);
    if (words == NULL) {
        c->failed = 1; /* rather than the truth where a test counts on a lie */
        return;
    }
    for (size_t i = 0; i < n; i++)
        words[i] = load64_le(p + 8 * i);
    c->hook(c->hook_ctx, kind, words, n);
    for (size_t i = 0; i < n; i++)
        store64_le(p + 8 * i, words[i]);
    free(words);
#else
    (void)c, (void)kind, (void)p, (void)n;
#endif
}

void tx_send_words(tx *c, msg_kind kind, const uint64_t *words, size_t n) {
    uint8_t *p = extend(c, kind, 8 * n);
    if (p == NULL)
        return;
    for (size_t i = 0; i < n; i++)
        store64_le(p + 8 * i, words[i]);
    lie(c, kind, p, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = load64_le(p + 8 * i); /* what the verifier will read */
        transcript_absorb(&c->t, &word, 1);
    }
}

void tx_send_e(tx *c, msg_kind kind, const gf192 *a, size_t n) {
    _Static_assert(sizeof(gf192) == 3 * sizeof(uint64_t), "an element is its three words");
    tx_send_words(c, kind, (const uint64_t *)a, 3 * n);
}

void tx_append(tx *c, msg_kind kind, const void *bytes, size_t n) {
    assert(n % 8 == 0);
    uint8_t *p = extend(c, kind, n);
    if (p == NULL)
        return;
    memcpy(p, bytes, n);
    lie(c, kind, p, n / 8);
}

/* ---- grinding ---- */

#define GRIND_STRIP_MIN 64   /* nonces a task, in the first batch: most searches of few bits end there */
#define GRIND_STRIP_MAX 4096 /* and at most */
#define NO_NONCE UINT64_MAX

typedef struct grind {
    uint64_t chain[4], mask;
    uint64_t first;  /* of the batch */
    size_t strip;    /* nonces a task, a multiple of 8; task k's begin at first + k * strip */
    uint64_t *found; /* a task's smallest nonce, or NO_NONCE */
} grind;

/* SHAKE256(chain || nonce || 0x02) of eight nonces at a time. */
static void grind_strip(void *ctx, size_t task, unsigned worker) {
    const grind *g = ctx;
    uint64_t nonce = g->first + task * g->strip, end = nonce + g->strip;
    (void)worker;
    g->found[task] = NO_NONCE;
    for (; nonce < end; nonce += 8) {
        _Alignas(64) uint64_t s[200] = {0};
        for (size_t i = 0; i < 8; i++) {
            for (size_t l = 0; l < 4; l++)
                s[8 * l + i] = g->chain[l];
            s[8 * 4 + i] = nonce + i;
            s[8 * 5 + i] = HASH_PAD_FIRST(HASH_TRANSCRIPT);
            s[8 * (SHAKE256_RATE / 8 - 1) + i] = HASH_PAD_LAST;
        }
        kernels()->keccak_digest_x8(s);
        for (size_t i = 0; i < 8; i++)
            if ((s[i] & g->mask) == 0) {
                g->found[task] = nonce + i;
                return;
            }
    }
}

/* Batches of equal strips, one after another; in a batch the first task that found one has the smallest
 * nonce. */
static uint64_t find_nonce(const uint64_t chain[4], unsigned bits, pool *p, uint64_t *found, size_t tasks) {
    grind g = {.mask = (UINT64_C(1) << bits) - 1, .strip = GRIND_STRIP_MIN, .found = found};
    memcpy(g.chain, chain, sizeof g.chain);
    for (;;) {
        pool_run(p, tasks, grind_strip, &g);
        for (size_t k = 0; k < tasks; k++)
            if (found[k] != NO_NONCE)
                return found[k];
        g.first += tasks * g.strip;
        if (g.strip < GRIND_STRIP_MAX)
            g.strip *= 2;
    }
}

void tx_grind(tx *c, unsigned g, pool *p) {
    assert(g < 64);
    if (g == 0)
        return;
    transcript_squeeze(&c->t, NULL, 0);
    size_t tasks = pool_threads(p) > 1 ? 4 * (size_t)pool_threads(p) : 1;
    uint64_t *found = c->failed ? NULL : malloc(tasks * sizeof *found);
    if (found == NULL) {
        c->failed = 1;
        return;
    }
    uint64_t nonce = find_nonce(c->t.chain, g, p, found, tasks);
    free(found);
    tx_send_words(c, MSG_NONCE, &nonce, 1);
    transcript_squeeze(&c->t, NULL, 0);
}
