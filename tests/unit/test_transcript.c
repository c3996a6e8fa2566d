/* The transcript, the proof channel and grinding.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../t.h"

#include "common/hash/shake.h"
#include "common/hash/transcript.h"
#include "common/kernels.h"

static void random_words(uint64_t *seed, uint64_t *w, size_t n) {
    for (size_t i = 0; i < n; i++)
        w[i] = t_rand64(seed);
}

static void random_elements(uint64_t *seed, gf192 *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        random_words(seed, a[i].c, 3);
}

static int same_state(const transcript *a, const transcript *b) {
    return a->lane == b->lane && memcmp(a->chain, b->chain, sizeof a->chain) == 0 &&
           memcmp(a->s, b->s, sizeof a->s) == 0;
}

/* ---- transcript ---- */

TEST(the_first_chain_is_the_protocols_name) {
    transcript t;
    uint8_t chain[32];
    transcript_init(&t);
    for (size_t i = 0; i < 4; i++)
        store64_le(chain + 8 * i, t.chain[i]);
    CHECK_MEM(chain, "Sheaf leaf protocol, version 001", 32);
}

/* The specification's sentence, with the list in memory: out = SHAKE256(chain || list || 0x02). */
static void plain_squeeze(uint8_t chain[32], uint8_t *out, size_t out_len, const uint64_t *list, size_t n) {
    size_t len = 32 + 8 * n + 1;
    uint8_t *in = malloc(len), *all = malloc(32 + out_len);
    if (in == NULL || all == NULL)
        abort();
    memcpy(in, chain, 32);
    for (size_t i = 0; i < n; i++)
        store64_le(in + 32 + 8 * i, list[i]);
    in[len - 1] = 0x02;
    shake256_once(all, 32 + out_len, in, len);
    memcpy(chain, all, 32);
    memcpy(out, all + 32, out_len);
    free(in);
    free(all);
}

TEST(a_squeeze_is_the_specifications_formula) {
    uint64_t seed = t_seed(), list[64];
    uint8_t chain[32], bytes[24 * 20];
    gf192 e[20];
    uint64_t w[60];
    transcript t;
    memcpy(chain, "Sheaf leaf protocol, version 001", 32);
    transcript_init(&t);
    for (size_t n = 0; n <= 64; n++) {
        size_t count = n % 21;
        random_words(&seed, list, n);
        transcript_absorb(&t, list, n);
        if (n % 2 == 0) {
            transcript_squeeze(&t, e, count);
            plain_squeeze(chain, bytes, 24 * count, list, n);
            for (size_t i = 0; i < 3 * count; i++)
                CHECK_EQ_U64(e[i / 3].c[i % 3], load64_le(bytes + 8 * i));
        } else {
            transcript_squeeze_words(&t, w, 2 * count);
            plain_squeeze(chain, bytes, 16 * count, list, n);
            for (size_t i = 0; i < 2 * count; i++)
                CHECK_EQ_U64(w[i], load64_le(bytes + 8 * i));
        }
        for (size_t i = 0; i < 4; i++)
            CHECK_EQ_U64(t.chain[i], load64_le(chain + 8 * i));
    }
}

/* Computed with Python's hashlib from docs/protocol.md 3.1 alone. */
TEST(the_transcript_gives_the_pinned_challenges) {
    transcript t;
    uint64_t w[20], out[3];
    gf192 e[9];
    transcript_init(&t);
    transcript_label(&t, "protocol");
    for (size_t i = 0; i < 20; i++)
        w[i] = i + 1;
    transcript_absorb(&t, w, 20);
    transcript_squeeze(&t, e, 9);
    CHECK_EQ_U64(e[8].c[0], UINT64_C(0x229adf780d45373c));
    CHECK_EQ_U64(e[8].c[1], UINT64_C(0x0e366cc819dbe247));
    CHECK_EQ_U64(e[8].c[2], UINT64_C(0x19bf6fffadaab66d));
    transcript_squeeze(&t, NULL, 0);
    w[0] = UINT64_MAX;
    transcript_absorb(&t, w, 1);
    transcript_squeeze_words(&t, out, 3);
    CHECK_EQ_U64(out[0], UINT64_C(0x68d7b1c51914bf1a));
    CHECK_EQ_U64(out[1], UINT64_C(0x47649e1cad2db460));
    CHECK_EQ_U64(out[2], UINT64_C(0xca6f35f2c1a92bd4));
}

TEST(an_element_is_absorbed_as_its_three_words) {
    uint64_t seed = t_seed();
    gf192 a[7];
    transcript t, u;
    random_elements(&seed, a, 7);
    transcript_init(&t);
    transcript_init(&u);
    transcript_absorb_e(&t, a, 7);
    for (size_t i = 0; i < 7; i++)
        for (size_t l = 0; l < 3; l++)
            transcript_absorb(&u, &a[i].c[l], 1);
    CHECK(same_state(&t, &u));
}

TEST(a_label_is_one_little_endian_word) {
    transcript t, u;
    uint64_t word = UINT64_C(0x6c6f636f746f7270);
    transcript_init(&t);
    transcript_init(&u);
    transcript_label(&t, "protocol");
    transcript_absorb(&u, &word, 1);
    CHECK(same_state(&t, &u));
}

TEST(an_empty_squeeze_moves_the_chain) {
    transcript t, u;
    gf192 a, b;
    transcript_init(&t);
    transcript_init(&u);
    transcript_squeeze(&u, NULL, 0);
    CHECK(!same_state(&t, &u));
    transcript_squeeze(&t, &a, 1);
    transcript_squeeze(&u, &b, 1);
    CHECK(!gf192_equal(a, b));
}

TEST(a_challenge_depends_on_every_absorbed_word) {
    uint64_t list[40] = {0};
    transcript t;
    gf192 plain, a;
    transcript_init(&t);
    transcript_absorb(&t, list, 40);
    transcript_squeeze(&t, &plain, 1);
    for (size_t i = 0; i < 40; i++) {
        transcript_init(&t);
        list[i] = 1;
        transcript_absorb(&t, list, 40);
        transcript_squeeze(&t, &a, 1);
        CHECK(!gf192_equal(a, plain));
        list[i] = 0;
    }
    transcript_init(&t); /* and on how many there are */
    transcript_absorb(&t, list, 39);
    transcript_squeeze(&t, &a, 1);
    CHECK(!gf192_equal(a, plain));
}

/* ---- channel ---- */

TEST(what_is_sent_is_received_with_the_same_challenges) {
    uint64_t seed = t_seed();
    enum { MESSAGES = 60 };
    uint64_t w[30], got_w[30];
    gf192 e[30], got_e[30], ours, theirs;
    const uint8_t *bytes;
    tx c;
    rx v;
    tx_init(&c);
    for (unsigned i = 0; i < MESSAGES; i++) {
        size_t n = (i * 7) % 30;
        random_words(&seed, w, 30);
        random_elements(&seed, e, 30);
        tx_send_words(&c, MSG_ROOT, w, n);
        tx_send_e(&c, MSG_SLICES, e, n);
        tx_append(&c, MSG_OPENING, w, 8 * n);
        transcript_squeeze(&c.t, &ours, 1);
    }
    CHECK_EQ_INT(c.failed, 0);
    seed = t_seed();
    rx_init(&v, c.out, c.len);
    for (unsigned i = 0; i < MESSAGES; i++) {
        size_t n = (i * 7) % 30;
        random_words(&seed, w, 30);
        random_elements(&seed, e, 30);
        CHECK_EQ_INT(rx_recv_words(&v, MSG_ROOT, got_w, n), 0);
        CHECK_MEM(got_w, w, n * sizeof *w);
        CHECK_EQ_INT(rx_recv_e(&v, MSG_SLICES, got_e, n), 0);
        CHECK_MEM(got_e, e, n * sizeof *e);
        REQUIRE(rx_take(&v, MSG_OPENING, &bytes, 8 * n) == 0);
        CHECK_MEM(bytes, w, 8 * n); /* x86, arm and wasm are all little endian */
        transcript_squeeze(&v.t, &theirs, 1);
    }
    CHECK(same_state(&c.t, &v.t));
    CHECK(gf192_equal(ours, theirs));
    CHECK_EQ_INT(rx_finish(&v), 0);
    CHECK_MEM(c.bytes_by_kind, v.bytes_by_kind, sizeof c.bytes_by_kind);
    CHECK_EQ_U64(c.bytes_by_kind[MSG_ROOT] + c.bytes_by_kind[MSG_SLICES] + c.bytes_by_kind[MSG_OPENING],
                 c.len);
    rx_free(&v);
    tx_free(&c);
}

TEST(a_proof_is_little_endian) {
    static const uint64_t w[2] = {UINT64_C(0x0807060504030201), UINT64_C(0x100f0e0d0c0b0a09)};
    static const gf192 e = {{1, 2, 3}};
    static const uint8_t expected[40] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1, 0, 0, 0,
                                         0, 0, 0, 0, 2, 0, 0, 0, 0, 0,  0,  0,  3,  0,  0,  0,  0, 0, 0, 0};
    tx c;
    tx_init(&c);
    tx_send_words(&c, MSG_ROOT, w, 2);
    tx_send_e(&c, MSG_V_OUT, &e, 1);
    REQUIRE(c.len == 40);
    CHECK_MEM(c.out, expected, 40);
    tx_free(&c);
}

TEST(appended_bytes_are_not_absorbed) {
    tx c;
    transcript before;
    tx_init(&c);
    before = c.t;
    tx_append(&c, MSG_OPENING, "eight by", 8);
    CHECK(same_state(&before, &c.t));
    rx v;
    const uint8_t *bytes;
    rx_init(&v, c.out, c.len);
    CHECK_EQ_INT(rx_take(&v, MSG_OPENING, &bytes, 8), 0);
    CHECK(same_state(&before, &v.t));
    tx_free(&c);
}

TEST(recv_rejects_a_truncated_proof) {
    static const uint8_t proof[47];
    uint64_t w[6] = {1, 1, 1, 1, 1, 1};
    gf192 e[2] = {{{1, 1, 1}}, {{1, 1, 1}}};
    const uint8_t *bytes = proof;
    rx v;
    rx_init(&v, proof, sizeof proof);
    CHECK_EQ_INT(rx_recv_words(&v, MSG_ROOT, w, 6), -1);
    CHECK_EQ_INT(v.fail.status, SHEAF_REJECTED);
    CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_TRUNCATED);
    CHECK_EQ_U64(w[0] | w[5], 0);
    rx_init(&v, proof, sizeof proof);
    CHECK_EQ_INT(rx_recv_e(&v, MSG_SLICES, e, 2), -1);
    CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_TRUNCATED);
    CHECK(gf192_is_zero(e[0]) && gf192_is_zero(e[1]));
    rx_init(&v, proof, sizeof proof);
    CHECK_EQ_INT(rx_take(&v, MSG_OPENING, &bytes, 48), -1);
    CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_TRUNCATED);
    CHECK(bytes == NULL);
    rx_init(&v, NULL, 0);
    CHECK_EQ_INT(rx_recv_words(&v, MSG_ROOT, w, 1), -1);
    CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_TRUNCATED);
    rx_init(&v, proof, sizeof proof);
    CHECK_EQ_INT(rx_take(&v, MSG_OPENING, &bytes, SIZE_MAX), -1);
    CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_TRUNCATED);
}

TEST(an_empty_message_of_an_empty_proof_is_received) {
    uint64_t w;
    rx v;
    rx_init(&v, NULL, 0);
    CHECK_EQ_INT(rx_recv_words(&v, MSG_ROOT, &w, 0), 0);
    CHECK_EQ_INT(rx_finish(&v), 0);
}

TEST(finish_rejects_a_trailing_byte) {
    static const uint8_t proof[9];
    uint64_t w;
    rx v;
    rx_init(&v, proof, sizeof proof);
    CHECK_EQ_INT(rx_recv_words(&v, MSG_ROOT, &w, 1), 0);
    CHECK_EQ_INT(rx_finish(&v), -1);
    CHECK_EQ_INT(v.fail.status, SHEAF_REJECTED);
    CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_TRAILING);
}

TEST(the_first_failure_wins_and_ends_receiving) {
    static const uint8_t proof[64];
    uint64_t w[2] = {7, 7};
    gf192 e;
    const uint8_t *bytes;
    rx v;
    rx_init(&v, proof, sizeof proof);
    CHECK_EQ_INT(rx_reject(&v, SHEAF_CHECK_LAYER, 17, "a layer"), -1);
    CHECK_EQ_INT(rx_reject(&v, SHEAF_CHECK_OPENING, 3, "something later"), -1);
    CHECK_EQ_INT(rx_fail(&v, SHEAF_OUT_OF_MEMORY, "later still"), -1);
    transcript before = v.t;
    CHECK_EQ_INT(rx_recv_words(&v, MSG_ROOT, w, 2), -1);
    CHECK_EQ_U64(w[0] | w[1], 0);
    CHECK_EQ_INT(rx_recv_e(&v, MSG_ROOT, &e, 1), -1);
    CHECK_EQ_INT(rx_take(&v, MSG_OPENING, &bytes, 1), -1);
    CHECK_EQ_INT(rx_finish(&v), -1);
    CHECK_EQ_INT(v.fail.status, SHEAF_REJECTED);
    CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_LAYER);
    CHECK_EQ_U64(v.fail.index, 17);
    CHECK_STR(v.fail.message, "a layer");
    CHECK_EQ_U64(v.pos, 0);
    CHECK(same_state(&before, &v.t));
    rx_free(&v);
    CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_LAYER); /* the failure outlives the channel */
}

/* ---- grinding ---- */

/* The transcript after a few words, and the chain that its nonces are tested on. */
static void before_grinding(transcript *t, uint64_t salt) {
    transcript_absorb(t, &salt, 1);
}

TEST(no_bits_no_message) {
    tx c;
    rx v;
    tx_init(&c);
    rx_init(&v, NULL, 0);
    transcript before = c.t;
    tx_grind(&c, 0, NULL);
    CHECK_EQ_U64(c.len, 0);
    CHECK(same_state(&before, &c.t));
    CHECK_EQ_INT(rx_grind(&v, 0, 1), 0);
    CHECK(same_state(&before, &v.t));
    CHECK_EQ_INT(rx_finish(&v), 0);
    tx_free(&c);
}

TEST(the_nonce_is_the_smallest_one) {
    for (unsigned g = 1; g <= 11; g++) {
        tx c;
        tx_init(&c);
        before_grinding(&c.t, g);
        transcript t = c.t, tried;
        tx_grind(&c, g, NULL);
        REQUIRE(c.len == 8 && c.bytes_by_kind[MSG_NONCE] == 8);
        uint64_t nonce = 0, mask = (UINT64_C(1) << g) - 1;
        transcript_squeeze(&t, NULL, 0);
        for (;; nonce++) {
            tried = t;
            transcript_absorb(&tried, &nonce, 1);
            transcript_squeeze(&tried, NULL, 0);
            if ((tried.chain[0] & mask) == 0)
                break;
        }
        CHECK_EQ_U64(load64_le(c.out), nonce);
        CHECK(same_state(&c.t, &tried));
        tx_free(&c);
    }
}

/* Computed with Python's hashlib from docs/protocol.md 3. */
TEST(the_nonce_is_the_pinned_one) {
    tx c;
    tx_init(&c);
    transcript_label(&c.t, "grinding");
    tx_grind(&c, 12, NULL);
    REQUIRE(c.len == 8);
    CHECK_EQ_U64(load64_le(c.out), 338);
    tx_free(&c);
}

TEST(threads_and_back_ends_do_not_change_the_nonce) {
    sheaf_isa before = kernels_isa();
    for (uint64_t salt = 0; salt < 6; salt++) {
        unsigned g = 10 + (unsigned)salt % 4;
        uint64_t nonce = 0;
        for (unsigned threads = 1; threads <= 3; threads++)
            for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
                if (kernels_force((sheaf_isa)isa) != 0)
                    continue;
                pool *p = pool_create(threads);
                REQUIRE(p != NULL);
                tx c;
                tx_init(&c);
                before_grinding(&c.t, salt);
                tx_grind(&c, g, p);
                REQUIRE(c.len == 8);
                if (threads == 1 && isa == 0)
                    nonce = load64_le(c.out);
                CHECK_EQ_U64(load64_le(c.out), nonce);
                tx_free(&c);
                pool_destroy(p);
            }
    }
    CHECK_EQ_INT(kernels_force(before), 0);
}

TEST(grinding_is_accepted_and_the_sides_stay_together) {
    static const unsigned bits[] = {1, 5, 13};
    tx c;
    rx v;
    tx_init(&c);
    for (size_t i = 0; i < 3; i++)
        tx_grind(&c, bits[i], NULL);
    rx_init(&v, c.out, c.len);
    for (size_t i = 0; i < 3; i++)
        CHECK_EQ_INT(rx_grind(&v, bits[i], i), 0);
    CHECK(same_state(&c.t, &v.t));
    CHECK_EQ_INT(rx_finish(&v), 0);
    tx_free(&c);
}

TEST(grinding_rejects_a_nonce_that_misses_its_target) {
    tx c;
    tx_init(&c);
    tx_grind(&c, 10, NULL);
    REQUIRE(c.len == 8);
    uint64_t nonce = load64_le(c.out);
    REQUIRE(nonce > 0);
    for (uint64_t wrong = 0; wrong < nonce;
         wrong++) { /* the smallest one is right, so all of these are wrong */
        uint8_t proof[8];
        rx v;
        store64_le(proof, wrong);
        rx_init(&v, proof, sizeof proof);
        CHECK_EQ_INT(rx_grind(&v, 10, 4), -1);
        CHECK_EQ_INT(v.fail.status, SHEAF_REJECTED);
        CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_GRINDING);
        CHECK_EQ_U64(v.fail.index, 4);
    }
    tx_free(&c);
}

TEST(grinding_needs_every_bit) {
    for (unsigned g = 1; g <= 9; g++) { /* a nonce of exactly g bits is no nonce of g + 1 */
        for (uint64_t salt = 0;; salt++) {
            tx c;
            rx v;
            tx_init(&c);
            before_grinding(&c.t, salt);
            tx_grind(&c, g, NULL);
            int exact = c.len == 8 && (c.t.chain[0] >> g & 1) == 1;
            if (exact) {
                rx_init(&v, c.out, c.len);
                before_grinding(&v.t, salt);
                CHECK_EQ_INT(rx_grind(&v, g, 0), 0);
                rx_init(&v, c.out, c.len);
                before_grinding(&v.t, salt);
                CHECK_EQ_INT(rx_grind(&v, g + 1, 0), -1);
            }
            tx_free(&c);
            if (exact)
                break;
        }
    }
}

TEST(grinding_rejects_a_missing_nonce) {
    static const uint8_t proof[7];
    rx v;
    rx_init(&v, proof, sizeof proof);
    CHECK_EQ_INT(rx_grind(&v, 3, 2), -1);
    CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_TRUNCATED);
}

T_MAIN()
