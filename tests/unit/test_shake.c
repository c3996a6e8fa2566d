/* SHAKE256: known answers, every way of calling it, and wiping.  SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../t.h"

#include "common/hash/shake.h"
#include "common/kernels.h"

enum { MAX_IN = 600, MAX_OUT = 600 };

static void from_hex(uint8_t *out, const char *hex) {
    for (size_t i = 0; hex[2 * i] != '\0'; i++) {
        unsigned b = 0;
        sscanf(hex + 2 * i, "%2x", &b);
        out[i] = (uint8_t)b;
    }
}

static void check_answer(const uint8_t *in, size_t len, const char *hex) {
    uint8_t expected[MAX_OUT], out[MAX_OUT];
    size_t n = strlen(hex) / 2;
    from_hex(expected, hex);
    shake256_once(out, n, in, len);
    CHECK_MEM(out, expected, n);
}

TEST(known_answers_of_fips_202) {
    uint8_t a3[200];
    memset(a3, 0xa3, sizeof a3);
    check_answer(NULL, 0,
                 "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f"
                 "d75dc4ddd8c0f200cb05019d67b592f6fc821c49479ab48640292eacb3b7c4be");
    check_answer(a3, sizeof a3,
                 "cd8a920ed141aa0407a22d59288652e9d9f1a7ee0c1e7c1ca699424da84a904d"
                 "2d700caae7396ece96604440577da4f3aa22aeb8857f961c4cd8e06f0ae6610b");
    check_answer((const uint8_t *)"abc", 3,
                 "483366601360a8771c6863080cc4114d8db44530f8f1e1ee4f94ea37e78b5739"
                 "d5a15bef186a5386c75744c0527e1faa9f8726e462a12a4feb06bd8801e751e4");
}

/* Message n is (7 i + n) mod 256 for i < n; all outputs, of 1 + 5 n mod 400 bytes, hashed once more. The
 * digest is that of Python's hashlib. */
TEST(all_lengths_to_300_give_the_pinned_digest) {
    uint8_t in[300], out[MAX_OUT], digest[32], expected[32];
    shake256 all;
    shake256_init(&all);
    for (size_t n = 0; n <= 300; n++) {
        for (size_t i = 0; i < n; i++)
            in[i] = (uint8_t)(7 * i + n);
        size_t out_len = 1 + 5 * n % 400;
        shake256_once(out, out_len, in, n);
        shake256_absorb(&all, out, out_len);
    }
    shake256_squeeze(&all, digest, sizeof digest);
    from_hex(expected, "989f1467563613e258c5b70c383722213b38ee931afe1a06b3ab000ff9898a3d");
    CHECK_MEM(digest, expected, sizeof digest);
}

TEST(absorbing_and_squeezing_in_pieces_is_the_same) {
    uint64_t seed = t_seed();
    uint8_t in[MAX_IN], whole[MAX_OUT], pieces[MAX_OUT];
    t_rand_bytes(&seed, in, sizeof in);
    for (unsigned round = 0; round < 300; round++) {
        size_t in_len = t_rand64(&seed) % (MAX_IN + 1), out_len = t_rand64(&seed) % (MAX_OUT + 1);
        shake256 h;
        shake256_once(whole, out_len, in, in_len);
        shake256_init(&h);
        for (size_t at = 0, n; at < in_len; at += n) {
            n = t_rand64(&seed) % 40;
            n = n < in_len - at ? n : in_len - at;
            shake256_absorb(&h, in + at, n);
        }
        for (size_t at = 0, n; at < out_len; at += n) {
            n = t_rand64(&seed) % 40;
            n = n < out_len - at ? n : out_len - at;
            shake256_squeeze(&h, pieces + at, n);
        }
        CHECK_MEM(pieces, whole, out_len);
    }
}

TEST(a_longer_output_begins_with_the_shorter) {
    uint8_t a[MAX_OUT], b[MAX_OUT];
    shake256_once(a, MAX_OUT, "sheaf", 5);
    for (size_t n = 0; n <= MAX_OUT; n++) {
        shake256_once(b, n, "sheaf", 5);
        CHECK_MEM(b, a, n);
    }
}

static void check_x8(void) {
    static const size_t out_lens[] = {0, 1, 7, 8, 16, 31, 32, 135, 136};
    uint64_t seed = t_seed();
    uint8_t in[8][300], out[8][SHAKE256_RATE + 1], expected[SHAKE256_RATE];
    uint8_t *to[8];
    const uint8_t *from[8];
    t_rand_bytes(&seed, in, sizeof in);
    for (size_t i = 0; i < 8; i++) {
        to[i] = out[i];
        from[i] = in[i];
    }
    for (size_t n = 0; n <= 300; n++) {
        size_t out_len = out_lens[n % (sizeof out_lens / sizeof *out_lens)];
        memset(out, 0x5a, sizeof out);
        shake256_x8(to, out_len, from, n);
        for (size_t i = 0; i < 8; i++) {
            shake256_once(expected, out_len, in[i], n);
            CHECK_MEM(out[i], expected, out_len);
            CHECK_EQ_U64(out[i][out_len], 0x5a);
        }
    }
}

TEST(eight_messages_are_eight_hashes_on_every_back_end) {
    sheaf_isa before = kernels_isa();
    for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++)
        if (kernels_force((sheaf_isa)isa) == 0) /* what is missing is test_kernels' to report */
            check_x8();
    CHECK_EQ_INT(kernels_force(before), 0);
}

TEST(the_hash_of_words_ends_with_its_domain) {
    uint64_t seed = t_seed();
    uint8_t in[8 * 60 + 1], out[32], expected[32];
    for (size_t words = 0; words <= 60; words++) {
        uint8_t domain = (uint8_t)(words % 5);
        t_rand_bytes(&seed, in, 8 * words);
        in[8 * words] = domain;
        shake256_once(expected, 32, in, 8 * words + 1);
        hash_words(out, in, words, domain);
        CHECK_MEM(out, expected, 32);
    }
}

TEST(many_hashes_of_words_are_single_ones) {
    enum { MOST = 26, WORDS = 36, STRIDE = 8 * WORDS + 5 };
    uint64_t seed = t_seed();
    uint8_t in[MOST * STRIDE], out[32 * MOST + 1], expected[32];
    t_rand_bytes(&seed, in, sizeof in);
    for (size_t n = 0; n <= MOST; n++)
        for (size_t words = 0; words <= WORDS; words += words < 15 ? 5 : 1) {
            memset(out, 0x5a, sizeof out);
            hash_words_many(out, in, STRIDE, n, words, HASH_LIST);
            for (size_t i = 0; i < n; i++) {
                hash_words(expected, in + i * STRIDE, words, HASH_LIST);
                CHECK_MEM(out + 32 * i, expected, 32);
            }
            CHECK_EQ_U64(out[32 * n], 0x5a);
        }
}

TEST(different_domains_give_different_hashes) {
    uint8_t in[64] = {1, 2, 3}, a[32], b[32];
    hash_words(a, in, 8, HASH_MERKLE_LEAF);
    hash_words(b, in, 8, HASH_MERKLE_NODE);
    CHECK(memcmp(a, b, 32) != 0);
}

TEST(wiped_memory_is_zero_and_nothing_else_is) {
    uint8_t buf[100], expected[100];
    memset(buf, 0xff, sizeof buf);
    memset(expected, 0xff, sizeof expected);
    secure_wipe(buf + 3, 90);
    memset(expected + 3, 0, 90);
    CHECK_MEM(buf, expected, sizeof buf);
    secure_wipe(buf + 95, 0);
    CHECK_MEM(buf, expected, sizeof buf);
}

T_MAIN()
