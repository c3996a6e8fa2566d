/* The hook through which tests make the prover lie in one message.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../t.h"

#include "common/hash/transcript.h"

typedef struct liar {
    msg_kind kind;
    uint64_t change;
    unsigned calls;
    size_t words; /* of the last message of this kind */
} liar;

static void lie(void *ctx, msg_kind kind, uint64_t *words, size_t n) {
    liar *l = ctx;
    if (kind != l->kind)
        return;
    l->calls++;
    l->words = n;
    words[n - 1] ^= l->change;
}

static const uint64_t root[4] = {1, 2, 3, 4};
static const gf192 tail[2] = {{{5, 6, 7}}, {{8, 9, 10}}};
static const uint8_t opening[16] = {11, 0, 0, 0, 0, 0, 0, 0, 12};

static void send_all(tx *c, liar *l) {
    tx_init(c);
    c->hook = l != NULL ? lie : NULL;
    c->hook_ctx = l;
    tx_send_words(c, MSG_ROOT, root, 4);
    tx_send_e(c, MSG_BUS_TAIL, tail, 2);
    tx_append(c, MSG_OPENING, opening, sizeof opening);
}

/* The proof with one word changed at offset `at`, and the transcript of a prover that absorbed it so (if it
 * is absorbed). */
static void check_lie(msg_kind kind, size_t at, size_t words, int absorbed) {
    tx honest, lying;
    liar l = {.kind = kind, .change = UINT64_C(1) << 63};
    send_all(&honest, NULL);
    send_all(&lying, &l);
    CHECK_EQ_U64(l.calls, 1);
    CHECK_EQ_U64(l.words, words);
    REQUIRE(honest.len == lying.len && honest.len == 96);
    for (size_t i = 0; i < honest.len; i += 8)
        CHECK_EQ_U64(load64_le(lying.out + i), load64_le(honest.out + i) ^ (i == at ? l.change : 0));
    gf192 a, b, v;
    uint64_t w[10];
    rx c;
    rx_init(&c, lying.out, lying.len);
    CHECK_EQ_INT(rx_recv_words(&c, MSG_ROOT, w, 4), 0);
    CHECK_EQ_INT(rx_recv_words(&c, MSG_BUS_TAIL, w, 6), 0);
    transcript_squeeze(&honest.t, &a, 1);
    transcript_squeeze(&lying.t, &b, 1);
    transcript_squeeze(&c.t, &v, 1);
    CHECK(gf192_equal(b, v)); /* the liar goes on as the verifier will */
    CHECK_EQ_INT(gf192_equal(a, b), !absorbed);
    tx_free(&honest);
    tx_free(&lying);
}

TEST(a_lie_in_words_is_sent_and_absorbed) {
    check_lie(MSG_ROOT, 24, 4, 1);
}
TEST(a_lie_in_elements_is_sent_and_absorbed) {
    check_lie(MSG_BUS_TAIL, 72, 6, 1);
}
TEST(a_lie_in_appended_bytes_is_sent_and_not_absorbed) {
    check_lie(MSG_OPENING, 88, 2, 0);
}

TEST(the_hook_does_not_touch_the_callers_words) {
    tx c;
    liar l = {.kind = MSG_ROOT, .change = 1};
    uint64_t w[4] = {1, 2, 3, 4};
    tx_init(&c);
    c.hook = lie;
    c.hook_ctx = &l;
    tx_send_words(&c, MSG_ROOT, w, 4);
    CHECK_EQ_U64(w[3], 4);
    tx_free(&c);
}

T_MAIN()
