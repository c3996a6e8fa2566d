/* The Fiat-Shamir transcript and the proof channel.   docs/protocol.md 3.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Prover and verifier call mirrored functions: every tx_send_* on one side has an rx_recv_* on the other, in the same order,
 * and the same challenges between. What is sent is absorbed; tx_append/rx_take move bytes that are bound otherwise (Merkle
 * openings). */
#ifndef SHEAF_TRANSCRIPT_H
#define SHEAF_TRANSCRIPT_H

#include <stddef.h>
#include <stdint.h>
#include "../field/gf192.h"
#include "../base/base.h"

/* Words go into the sponge as they come, so a transcript owns no memory and cannot fail; a copy is an independent fork. */
typedef struct transcript {
    uint64_t chain[4];
    uint64_t s[25]; /* SHAKE256's state over chain || words absorbed since the last squeeze */
    size_t lane;    /* lanes of the current block that are taken, < 17 */
} transcript;

void transcript_init(transcript *t);
void transcript_absorb(transcript *t, const uint64_t *words, size_t n);
void transcript_absorb_e(transcript *t, const gf192 *a, size_t n);
void transcript_label(transcript *t, const char label[8]); /* eight ASCII bytes as one word, little endian */
void transcript_squeeze(transcript *t, gf192 *out, size_t n); /* n >= 0 challenges; the chain moves on */
void transcript_squeeze_words(transcript *t, uint64_t *out, size_t n);

/* Kinds of messages, so that a test build can lie in exactly one of them. */
typedef enum msg_kind {
    MSG_HEADER, MSG_ROOT, MSG_MULTIPLICITY, MSG_BUS_ROUND, MSG_BUS_TAIL, MSG_V_OUT, MSG_LAYER_ROUND, MSG_LAYER_TAIL,
    MSG_INPUT_ROUND, MSG_SLICES, MSG_WHIR_ROUND, MSG_OOD, MSG_NONCE, MSG_OPENING, MSG_LAST_WORD, MSG_KIND_COUNT_
} msg_kind;

typedef struct tx { /* the proving side */
    transcript t;
    uint8_t *out;
    size_t len, cap;
    int failed; /* out of memory: the bytes are not a proof; once set, nothing more is written */
    size_t bytes_by_kind[MSG_KIND_COUNT_];
#ifdef SHEAF_TEST_HOOKS
    /* Called before a message is absorbed and written; may change the words (a copy of them) in place. */
    void (*hook)(void *ctx, msg_kind kind, uint64_t *words, size_t n);
    void *hook_ctx;
#endif
} tx;

void tx_init(tx *c);
void tx_free(tx *c);
void tx_send_words(tx *c, msg_kind kind, const uint64_t *words, size_t n);
void tx_send_e(tx *c, msg_kind kind, const gf192 *a, size_t n);
void tx_append(tx *c, msg_kind kind, const void *bytes, size_t n); /* written, not absorbed; n a multiple of 8 */

typedef struct rx { /* the verifying side */
    transcript t;
    const uint8_t *in;
    size_t len, pos;
    sheaf_failure fail; /* the first failure; once set, every receive fails */
    size_t bytes_by_kind[MSG_KIND_COUNT_];
} rx;

void rx_init(rx *c, const void *proof, size_t len);
void rx_free(rx *c);
SHEAF_MUST_CHECK int rx_recv_words(rx *c, msg_kind kind, uint64_t *words, size_t n); /* 0, or -1: c->fail set, words zero */
SHEAF_MUST_CHECK int rx_recv_e(rx *c, msg_kind kind, gf192 *a, size_t n);
SHEAF_MUST_CHECK int rx_take(rx *c, msg_kind kind, const uint8_t **bytes, size_t n); /* a pointer into the proof */
/* Record a rejection, or another failure of the verifier (out of memory): sets fail (unless set) and returns -1. */
int rx_reject(rx *c, sheaf_check check, uint64_t index, const char *what);
int rx_fail(rx *c, sheaf_status status, const char *what);
SHEAF_MUST_CHECK int rx_finish(rx *c); /* -1 where bytes are left over */

/* Grinding: squeeze 0; then the smallest nonce whose absorption alone gives a chain with g low zero bits. g = 0: no message.
 * docs/protocol.md 3.3.  g < 64. Threads do not change the nonce. */
void tx_grind(tx *c, unsigned g, pool *p);
SHEAF_MUST_CHECK int rx_grind(rx *c, unsigned g, uint64_t level); /* level: for the failure's index only */

#endif
