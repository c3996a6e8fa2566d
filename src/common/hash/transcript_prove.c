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

#define GRIND_STRIP 64 /* nonces that a worker takes at once, a multiple of 8 */
#define LANES 25
#define NO_NONCE UINT64_MAX

typedef struct grind {
    uint64_t chain[4], mask;
    uint64_t *found; /* a worker's nonce, or NO_NONCE */
    /* Atomic: */
    size_t next; /* the first strip that nobody has taken */
    size_t last; /* the first strip where one was found: those after it are of no use */
} grind;

/* SHAKE256(chain || nonce || 0x02) of eight nonces from `first` on. Returns the smallest that will do. */
static uint64_t try_eight(const grind *g, uint64_t first) {
    _Alignas(64) uint64_t s[8 * LANES];
    for (size_t l = 0; l < LANES; l++) {
        const uint64_t word = l < 4                        ? g->chain[l]
                              : l == 5                     ? HASH_PAD_FIRST(HASH_TRANSCRIPT)
                              : l == SHAKE256_RATE / 8 - 1 ? HASH_PAD_LAST
                                                           : 0;
        for (size_t i = 0; i < 8; i++)
            s[8 * l + i] = word;
    }
    for (size_t i = 0; i < 8; i++)
        s[8 * 4 + i] = first + i;
    kernels()->keccak_digest_x8(s);
    for (size_t i = 0; i < 8; i++)
        if ((s[i] & g->mask) == 0)
            return first + i;
    return NO_NONCE;
}

/* The smallest nonce of a strip, or none where an earlier strip has one. */
static uint64_t search_strip(const grind *g, size_t strip) {
    const uint64_t first = (uint64_t)strip * GRIND_STRIP;
    uint64_t found = NO_NONCE;
    for (uint64_t at = 0; at < GRIND_STRIP && found == NO_NONCE; at += 8) {
        if (__atomic_load_n(&g->last, __ATOMIC_RELAXED) < strip)
            break;
        found = try_eight(g, first + at);
    }
    return found;
}

/* Strips are taken in ascending order, and one is left early only where an earlier one has a nonce: so the
 * smallest of all is found, whoever takes what. */
static void grind_worker(void *ctx, size_t task, unsigned worker) {
    grind *g = ctx;
    (void)task;
    for (;;) {
        const size_t strip = __atomic_fetch_add(&g->next, 1, __ATOMIC_RELAXED);
        size_t last = __atomic_load_n(&g->last, __ATOMIC_RELAXED);
        if (strip > last)
            return;
        const uint64_t nonce = search_strip(g, strip);
        if (nonce == NO_NONCE)
            continue;
        g->found[worker] = nonce;
        while (strip < last &&
               !__atomic_compare_exchange_n(&g->last, &last, strip, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        return;
    }
}

static uint64_t find_nonce(const uint64_t chain[4], unsigned bits, pool *p, uint64_t *found) {
    const unsigned workers = pool_threads(p);
    grind g = {.mask = (UINT64_C(1) << bits) - 1, .found = found, .last = SIZE_MAX};
    uint64_t smallest = NO_NONCE;
    memcpy(g.chain, chain, sizeof g.chain);
    for (unsigned i = 0; i < workers; i++)
        found[i] = NO_NONCE;
    pool_run(p, workers, grind_worker, &g);
    for (unsigned i = 0; i < workers; i++)
        smallest = found[i] < smallest ? found[i] : smallest;
    return smallest;
}

void tx_grind(tx *c, unsigned g, pool *p) {
    assert(g < 64);
    if (g == 0)
        return;
    transcript_squeeze(&c->t, NULL, 0);
    uint64_t *found = c->failed ? NULL : malloc(pool_threads(p) * sizeof *found);
    if (found == NULL) {
        c->failed = 1;
        return;
    }
    uint64_t nonce = find_nonce(c->t.chain, g, p, found);
    free(found);
    tx_send_words(c, MSG_NONCE, &nonce, 1);
    transcript_squeeze(&c->t, NULL, 0);
}
