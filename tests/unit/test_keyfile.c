/* Key files: what they hold, what is refused, what a damaged one gives.  SPDX-License-Identifier: MIT OR
 * Apache-2.0 */
#include "base/posix.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include "support/key_folder.h"
#include "support/leanxmss_vectors.h"
#include "bearssl.h"
#include "sig/leanxmss_key.h"

static const uint8_t zero_signature[LEANXMSS_SIGNATURE_BYTES];

/* A folder with the test key in it, for the tests that start so. */
static int begin(key_folder *d) {
    sheaf_failure f = {0};
    if (!CHECK(key_folder_make(d) == 0))
        return -1;
    if (!CHECK(test_key_create(d, &f) == SHEAF_OK)) {
        printf("  %s\n", f.message);
        key_folder_remove(d);
        return -1;
    }
    return 0;
}

/* The journal of n signatures by the first n epochs, and its bytes. */
static int begin_signed(key_folder *d, uint8_t *journal, size_t n) {
    if (begin(d) != 0)
        return -1;
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
    for (uint32_t i = 0; i < n; i++)
        CHECK(test_key_sign(d, signature, NULL, TEST_FIRST + i, 0, NULL) == SHEAF_OK);
    size_t len = JOURNAL_HEADER_BYTES + n * JOURNAL_RECORD_BYTES;
    CHECK_EQ_INT(file_get(d->journal, journal, len), (long)len);
    return 0;
}

static void sha256(uint8_t out[32], const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len) {
    br_sha256_context h;
    br_sha256_init(&h);
    br_sha256_update(&h, a, a_len);
    br_sha256_update(&h, b, b_len);
    br_sha256_out(&h, out);
}

/* ---- files and formats ---- */

TEST(known_answers_come_from_key_files_too) {
    static leanxmss_vector vectors[LEANXMSS_VECTORS];
    REQUIRE(leanxmss_vectors_load(vectors) == 0);
    key_folder d;
    REQUIRE(key_folder_make(&d) == 0);
    for (size_t i = 0; i < LEANXMSS_VECTORS; i++) {
        const leanxmss_vector *v = &vectors[i];
        uint8_t public_key[32], signature[LEANXMSS_SIGNATURE_BYTES];
        keyfile_note note;
        keyfile *k = NULL;
        unsigned log_count;
        uint32_t first;
        CHECK(keyfile_interval(&first, &log_count, v->first, v->count, NULL) == SHEAF_OK);
        CHECK(keyfile_create(public_key, d.key, NULL, v->seed, first, log_count, NULL) == SHEAF_OK);
        CHECK_MEM(public_key, v->public_key, 32);
        REQUIRE(keyfile_open(&k, d.key, NULL, NULL) == SHEAF_OK);
        CHECK_MEM(keyfile_public_key(k), v->public_key, 32);
        CHECK_EQ_U64(keyfile_first(k), v->first);
        CHECK_EQ_U64(keyfile_count(k), v->count);
        for (int again = 0; again < 2; again++) {
            CHECK(keyfile_sign(signature, &note, k, v->epoch, v->message, NULL) == SHEAF_OK);
            CHECK_MEM(signature, v->signature, sizeof signature);
            CHECK_EQ_U64(note.trials, v->trials);
            CHECK_EQ_INT(note.repeated, again);
            CHECK_STR(note.notice, "");
        }
        keyfile_close(k);
        CHECK_EQ_INT(key_folder_empty(&d), 2); /* key and journal; neither lock nor temporary stays */
    }
    key_folder_remove(&d);
}

TEST(key_file_is_laid_out_as_specified) {
    key_folder d;
    uint8_t bytes[2048], sum[32];
    leanxmss_key k;
    REQUIRE(begin(&d) == 0);
    REQUIRE(leanxmss_keygen(&k, NULL, test_key_seed, TEST_FIRST, TEST_LOG_COUNT) == SHEAF_OK);
    const size_t nodes = 15 * 16, siblings = 29 * 16, all = KEY_FILE_HEADER + nodes + siblings + 32;
    CHECK_EQ_INT(file_get(d.key, bytes, sizeof bytes), (long)all);
    CHECK_MEM(bytes, "SHEAFKEY\1\0\0\0\1\0\0\0\100\0\0\0\3\0\0\0", 24);
    CHECK_MEM(bytes + 24, test_key_seed, 32);
    CHECK_MEM(bytes + 56, k.public_key, 32);
    CHECK_MEM(bytes + 88, k.nodes, nodes);
    CHECK_MEM(bytes + 88 + nodes, k.siblings, siblings);
    sha256(sum, bytes, all - 32, NULL, 0);
    CHECK_MEM(bytes + all - 32, sum, 32);
    struct stat st;
    CHECK(stat(d.key, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(stat(d.journal, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(!there(d.lock) && !there(d.unfinished));
    leanxmss_key_wipe(&k, NULL);
    key_folder_remove(&d);
}

TEST(a_key_in_memory_has_the_bytes_of_its_file) {
    key_folder d;
    static uint8_t file[2048], bytes[2048];
    leanxmss_key k, again;
    mem m = {0};
    sheaf_failure f;
    REQUIRE(begin(&d) == 0);
    long n = file_get(d.key, file, sizeof file);
    REQUIRE(leanxmss_keygen(&k, NULL, test_key_seed, TEST_FIRST, TEST_LOG_COUNT) == SHEAF_OK);
    REQUIRE(n > 0 && leanxmss_key_bytes(TEST_LOG_COUNT) == (uint64_t)n);
    leanxmss_key_encode(bytes, &k);
    CHECK_MEM(bytes, file, n);
    REQUIRE(leanxmss_key_decode(&again, &m, bytes, (size_t)n, "it", &f) == SHEAF_OK);
    CHECK_MEM(again.public_key, k.public_key, 32);
    CHECK_MEM(again.nodes, k.nodes, leanxmss_key_nodes_bytes(TEST_LOG_COUNT));
    CHECK_MEM(again.siblings, k.siblings, sizeof k.siblings);
    leanxmss_key_wipe(&again, &m);
    static const leanxmss_key empty;
    for (long i = 0; i < n; i++) {
        bytes[i] ^= 0x40;
        sheaf_status want = i >= 8 && i < 16 ? SHEAF_UNSUPPORTED : SHEAF_MALFORMED;
        CHECK_EQ_INT(leanxmss_key_decode(&again, &m, bytes, (size_t)n, "it", &f), want);
        CHECK_MEM(&again, &empty, sizeof again);
        bytes[i] ^= 0x40;
        CHECK_EQ_INT(leanxmss_key_decode(&again, &m, bytes, (size_t)i, "it", &f), SHEAF_MALFORMED);
    }
    CHECK_EQ_INT(leanxmss_key_decode(&again, &m, bytes, (size_t)n + 1, "it", &f), SHEAF_MALFORMED);
    CHECK(strstr(f.message, "too long: it") != NULL);
    CHECK_EQ_U64(m.current, 0);
    leanxmss_key_wipe(&k, NULL);
    key_folder_remove(&d);
}

TEST(key_file_is_private_whatever_the_umask) {
    key_folder d;
    struct stat st;
    REQUIRE(key_folder_make(&d) == 0);
    mode_t kept = umask(0);
    CHECK(test_key_create(&d, NULL) == SHEAF_OK);
    umask(kept);
    CHECK(stat(d.key, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(stat(d.journal, &st) == 0 && (st.st_mode & 0777) == 0600);
    key_folder_remove(&d);
}

TEST(journal_is_laid_out_as_specified) {
    key_folder d;
    uint8_t bytes[JOURNAL_HEADER_BYTES + 2 * JOURNAL_RECORD_BYTES], sum[32],
        signature[LEANXMSS_SIGNATURE_BYTES];
    keyfile *k;
    REQUIRE(begin_signed(&d, bytes, 2) == 0);
    REQUIRE(keyfile_open(&k, d.key, NULL, NULL) == SHEAF_OK);
    CHECK_MEM(bytes, "SHEAFJNL\1\0\0\0\1\0\0\0\100\0\0\0\3\0\0\0", 24);
    CHECK_MEM(bytes + 24, keyfile_public_key(k), 32);
    sha256(sum, bytes, 56, NULL, 0);
    CHECK_MEM(bytes + 56, sum, 32);
    for (uint32_t i = 0; i < 2; i++) {
        const uint8_t *record = bytes + JOURNAL_HEADER_BYTES + i * JOURNAL_RECORD_BYTES;
        keyfile_note note;
        uint8_t message[32];
        test_message(message, TEST_FIRST + i, 0);
        CHECK(keyfile_sign(signature, &note, k, TEST_FIRST + i, message, NULL) == SHEAF_OK);
        CHECK_EQ_U64(load32_le(record), TEST_FIRST + i);
        CHECK_EQ_U64(load32_le(record + 4), note.trials);
        CHECK_MEM(record + 8, message, 32);
        sha256(sum, record - 32, 32, record, 40);
        CHECK_MEM(record + 40, sum, 32);
    }
    keyfile_close(k);
    key_folder_remove(&d);
}

TEST(an_existing_file_is_never_overwritten) {
    key_folder d;
    uint8_t before[2048], after[2048], public_key[32];
    static const uint8_t zero[32];
    sheaf_failure f;
    REQUIRE(begin(&d) == 0);
    long n = file_get(d.key, before, sizeof before);
    memset(public_key, 0xff, sizeof public_key);
    CHECK(keyfile_create(public_key, d.key, NULL, NULL, 0, 0, &f) == SHEAF_IO);
    CHECK(strstr(f.message, "never overwritten") != NULL);
    CHECK_MEM(public_key, zero, 32);
    CHECK_EQ_INT(file_get(d.key, after, sizeof after), n);
    CHECK_MEM(before, after, n > 0 ? n : 0);
    CHECK(!there(d.lock));

    char link[600]; /* a symbolic link that leads nowhere is something too */
    snprintf(link, sizeof link, "%s/b.key", d.path);
    CHECK(symlink("nowhere", link) == 0);
    CHECK(keyfile_create(public_key, link, NULL, NULL, 0, 0, &f) == SHEAF_IO);
    CHECK(strstr(f.message, "never overwritten") != NULL);
    key_folder_remove(&d);
}

TEST(create_keeps_a_journal_with_records_and_replaces_one_without) {
    key_folder d;
    uint8_t journal[JOURNAL_HEADER_BYTES + JOURNAL_RECORD_BYTES],
        after[JOURNAL_HEADER_BYTES + JOURNAL_RECORD_BYTES];
    uint8_t public_key[32], signature[LEANXMSS_SIGNATURE_BYTES];
    sheaf_failure f;
    REQUIRE(begin_signed(&d, journal, 1) == 0);
    CHECK(unlink(d.key) == 0);
    CHECK(keyfile_create(public_key, d.key, NULL, NULL, TEST_FIRST, 3, &f) == SHEAF_IO);
    CHECK(strstr(f.message, "journal with records") != NULL);
    CHECK_EQ_INT(file_get(d.journal, after, sizeof after), (long)sizeof after);
    CHECK_MEM(journal, after, sizeof after);
    CHECK(!there(d.key) && !there(d.lock) && !there(d.unfinished));

    for (size_t len = 0; len <= JOURNAL_HEADER_BYTES; len += 11) {
        unlink(d.key);
        CHECK(file_put(d.journal, journal, len) == 0);
        CHECK(keyfile_create(public_key, d.key, NULL, NULL, TEST_FIRST, 3, &f) == SHEAF_OK);
        CHECK(test_key_sign(&d, signature, NULL, TEST_FIRST, 0, &f) == SHEAF_OK);
    }
    key_folder_remove(&d);
}

TEST(create_keeps_a_file_that_is_no_journal) {
    static const char *const taken[] = {"notes of mine", "S", "SHEAFJNM", "SHEAFKEY and so on"};
    key_folder d;
    uint8_t public_key[32], after[64];
    sheaf_failure f;
    REQUIRE(key_folder_make(&d) == 0);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        const size_t len = strlen(taken[i]);
        const int ours = len == 1; /* a journal's first byte may be what is left of one */
        unlink(d.key);
        CHECK(file_put(d.journal, (const uint8_t *)taken[i], len) == 0);
        CHECK_EQ_INT(keyfile_create(public_key, d.key, NULL, NULL, TEST_FIRST, 3, &f),
                     ours ? SHEAF_OK : SHEAF_IO);
        if (ours)
            continue;
        CHECK(strstr(f.message, "no journal") != NULL && strstr(f.message, "a.key.journal") != NULL);
        CHECK_EQ_INT(file_get(d.journal, after, sizeof after), (long)len);
        CHECK_MEM(after, taken[i], len);
        CHECK(!there(d.key) && !there(d.lock) && !there(d.unfinished));
    }
    key_folder_remove(&d);
}

TEST(keys_without_a_given_seed_differ) {
    key_folder d;
    uint8_t one[32], two[32];
    REQUIRE(key_folder_make(&d) == 0);
    CHECK(keyfile_create(one, d.key, NULL, NULL, 0, 0, NULL) == SHEAF_OK);
    CHECK_EQ_INT(key_folder_empty(&d), 2);
    CHECK(keyfile_create(two, d.key, NULL, NULL, 0, 0, NULL) == SHEAF_OK);
    CHECK(memcmp(one, two, 16) != 0 && memcmp(one + 16, two + 16, 16) != 0);
    key_folder_remove(&d);
}

static void *small_machine(void *ctx, size_t bytes) {
    return bytes > *(size_t *)ctx ? NULL : malloc(bytes);
}

static void give_back(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

TEST(a_key_that_does_not_fit_is_refused_with_a_number) {
    key_folder d;
    uint8_t public_key[32];
    sheaf_failure f;
    size_t most = 1 << 20;
    mem m = {.alloc_fn = small_machine, .free_fn = give_back, .ctx = &most};
    env e = {.mem = &m};
    REQUIRE(key_folder_make(&d) == 0);
    CHECK(keyfile_create(public_key, d.key, &e, NULL, 0, 32, &f) == SHEAF_OUT_OF_MEMORY);
    CHECK(strstr(f.message, "131071 MiB") != NULL);
    CHECK(keyfile_create(public_key, d.key, &e, NULL, 0, 18, &f) == SHEAF_OUT_OF_MEMORY);
    CHECK(strstr(f.message, "7 MiB") != NULL);
    CHECK_EQ_INT(key_folder_empty(&d), 0);
    CHECK(keyfile_create(public_key, d.key, &e, NULL, 4, 3, &f) == SHEAF_EPOCH_RANGE);
    CHECK(keyfile_create(public_key, d.key, &e, NULL, 0, 33, &f) == SHEAF_EPOCH_RANGE);
    CHECK_EQ_INT(key_folder_empty(&d), 0);
    CHECK_EQ_U64(m.current, 0);
    key_folder_remove(&d);
}

static int stop_now(void *ctx, double fraction, const char *stage) {
    (void)ctx, (void)stage;
    return fraction > 0;
}

TEST(a_cancelled_create_leaves_no_file) {
    key_folder d;
    uint8_t public_key[32];
    sheaf_failure f;
    env e = {.progress = stop_now, .progress_span = 1};
    REQUIRE(key_folder_make(&d) == 0);
    CHECK(keyfile_create(public_key, d.key, &e, NULL, 0, 10, &f) == SHEAF_CANCELLED);
    CHECK_EQ_INT(key_folder_empty(&d), 0);
    key_folder_remove(&d);
}

/* ---- opening ---- */

TEST(open_rejects_any_changed_byte_of_a_key_file) {
    key_folder d;
    uint8_t bytes[2048];
    mem m = {0};
    sheaf_failure f;
    REQUIRE(begin(&d) == 0);
    long n = file_get(d.key, bytes, sizeof bytes);
    REQUIRE(n > 0);
    for (long i = 0; i < n; i++) {
        bytes[i] ^= 0x04;
        keyfile *k;
        CHECK(file_put(d.key, bytes, (size_t)n) == 0);
        sheaf_status want = i >= 8 && i < 16 ? SHEAF_UNSUPPORTED : SHEAF_MALFORMED;
        CHECK_EQ_INT(keyfile_open(&k, d.key, &m, &f), want);
        CHECK(k == NULL);
        CHECK(strstr(f.message, "a.key") != NULL);
        bytes[i] ^= 0x04;
    }
    CHECK_EQ_U64(m.current, 0);
    key_folder_remove(&d);
}

TEST(open_rejects_any_other_length) {
    key_folder d;
    uint8_t bytes[2048] = {0};
    mem m = {0};
    keyfile *k;
    REQUIRE(begin(&d) == 0);
    long n = file_get(d.key, bytes, sizeof bytes - 64);
    REQUIRE(n > 0);
    for (long len = 0; len < n + 32; len++) {
        if (len == n)
            continue;
        CHECK(file_put(d.key, bytes, (size_t)len) == 0);
        CHECK_EQ_INT(keyfile_open(&k, d.key, &m, NULL), SHEAF_MALFORMED);
    }
    CHECK(file_put(d.key, bytes, (size_t)n) == 0);
    CHECK_EQ_INT(keyfile_open(&k, d.key, &m, NULL), SHEAF_OK);
    keyfile_close(k);
    CHECK_EQ_U64(m.current, 0);
    key_folder_remove(&d);
}

TEST(a_length_that_the_file_does_not_have_allocates_nothing) {
    key_folder d;
    uint8_t bytes[2048];
    mem m = {0};
    keyfile *k;
    REQUIRE(begin(&d) == 0);
    long n = file_get(d.key, bytes, sizeof bytes);
    REQUIRE(n > 0);
    for (uint32_t log_count = 20; log_count < 70; log_count++) {
        store32_le(bytes + 16, 0);
        store32_le(bytes + 20, log_count);
        CHECK(file_put(d.key, bytes, (size_t)n) == 0);
        CHECK_EQ_INT(keyfile_open(&k, d.key, &m, NULL), SHEAF_MALFORMED);
    }
    CHECK(m.peak < 8192);
    key_folder_remove(&d);
}

TEST(a_key_whose_checksum_fits_but_not_its_seed_is_rejected) {
    key_folder d;
    uint8_t bytes[2048];
    keyfile *k;
    sheaf_failure f;
    REQUIRE(begin(&d) == 0);
    long n = file_get(d.key, bytes, sizeof bytes);
    REQUIRE(n > 32);
    bytes[24] ^= 1;
    sha256(bytes + n - 32, bytes, (size_t)n - 32, NULL, 0);
    CHECK(file_put(d.key, bytes, (size_t)n) == 0);
    CHECK_EQ_INT(keyfile_open(&k, d.key, NULL, &f), SHEAF_MALFORMED);
    CHECK(strstr(f.message, "not its seed's") != NULL);
    key_folder_remove(&d);
}

/* Inner nodes are not derived anew at opening; a signature over a wrong one must not leave, nor use up its
 * epoch. */
TEST(a_wrong_node_gives_no_signature) {
    key_folder d;
    uint8_t bytes[2048], journal[512], signature[LEANXMSS_SIGNATURE_BYTES];
    sheaf_failure f;
    REQUIRE(begin(&d) == 0);
    long n = file_get(d.key, bytes, sizeof bytes);
    REQUIRE(n > 32);
    bytes[KEY_FILE_HEADER + 16] ^= 1; /* the second leaf */
    sha256(bytes + n - 32, bytes, (size_t)n - 32, NULL, 0);
    CHECK(file_put(d.key, bytes, (size_t)n) == 0);
    memset(signature, 0xff, sizeof signature);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, TEST_FIRST, 0, &f), SHEAF_MALFORMED);
    CHECK_MEM(signature, zero_signature, sizeof signature);
    CHECK_EQ_INT(file_get(d.journal, journal, sizeof journal), JOURNAL_HEADER_BYTES);
    key_folder_remove(&d);
}

TEST(what_is_no_file_is_an_error) {
    key_folder d;
    keyfile *k;
    char fifo[600];
    REQUIRE(begin(&d) == 0);
    snprintf(fifo, sizeof fifo, "%s/fifo", d.path);
    CHECK(mkfifo(fifo, 0600) == 0);
    CHECK_EQ_INT(keyfile_open(&k, fifo, NULL, NULL), SHEAF_IO);
    CHECK_EQ_INT(keyfile_open(&k, d.path, NULL, NULL), SHEAF_IO);
    CHECK_EQ_INT(keyfile_open(&k, "/nowhere/at/all.key", NULL, NULL), SHEAF_IO);
    uint8_t public_key[32];
    CHECK_EQ_INT(keyfile_create(public_key, "/nowhere/at/all.key", NULL, NULL, 0, 0, NULL), SHEAF_IO);
    key_folder_remove(&d);
}

TEST(a_key_behind_a_symbolic_link_uses_its_own_journal) {
    key_folder d;
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES], message[32];
    keyfile *k;
    char link[600], journal[700];
    REQUIRE(begin(&d) == 0);
    snprintf(link, sizeof link, "%s/link", d.path);
    snprintf(journal, sizeof journal, "%s.journal", link);
    CHECK(symlink("a.key", link) == 0);
    REQUIRE(keyfile_open(&k, link, NULL, NULL) == SHEAF_OK);
    test_message(message, TEST_FIRST, 0);
    CHECK_EQ_INT(keyfile_sign(signature, NULL, k, TEST_FIRST, message, NULL), SHEAF_OK);
    CHECK(!there(journal));
    keyfile_close(k);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, TEST_FIRST, 1, NULL), SHEAF_EPOCH_USED);
    key_folder_remove(&d);
}

/* ---- signing ---- */

TEST(an_epoch_signs_one_message_only) {
    key_folder d;
    uint8_t journal[JOURNAL_HEADER_BYTES + 8 * JOURNAL_RECORD_BYTES], after[sizeof journal],
        a[LEANXMSS_SIGNATURE_BYTES], b[LEANXMSS_SIGNATURE_BYTES];
    sheaf_failure f;
    keyfile_note note;
    REQUIRE(begin_signed(&d, journal, 8) == 0);
    for (uint32_t i = 0; i < 8; i++) {
        CHECK_EQ_INT(test_key_sign(&d, a, &note, TEST_FIRST + i, 0, &f), SHEAF_OK);
        CHECK_EQ_INT(note.repeated, 1);
        memset(b, 0xff, sizeof b);
        CHECK_EQ_INT(test_key_sign(&d, b, &note, TEST_FIRST + i, 1, &f), SHEAF_EPOCH_USED);
        CHECK_EQ_INT(f.status, SHEAF_EPOCH_USED);
        CHECK(strstr(f.message, "signed another message") != NULL);
        CHECK_MEM(b, zero_signature, sizeof b);
        CHECK_EQ_INT(test_key_sign(&d, b, &note, TEST_FIRST + i, 0, &f), SHEAF_OK);
        CHECK_MEM(a, b, sizeof a);
    }
    CHECK_EQ_INT(file_get(d.journal, after, sizeof after), (long)sizeof after);
    CHECK_MEM(after, journal, sizeof after);
    key_folder_remove(&d);
}

TEST(epochs_outside_the_key_are_refused) {
    key_folder d;
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES], message[32] = {0}, journal[512];
    sheaf_failure f;
    keyfile *k;
    REQUIRE(begin(&d) == 0);
    REQUIRE(keyfile_open(&k, d.key, NULL, NULL) == SHEAF_OK);
    static const uint32_t outside[] = {0, 63, 72, UINT32_MAX};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        memset(signature, 0xff, sizeof signature);
        CHECK_EQ_INT(keyfile_sign(signature, NULL, k, outside[i], message, &f), SHEAF_EPOCH_RANGE);
        CHECK(strstr(f.message, "64 to 71") != NULL);
        CHECK_MEM(signature, zero_signature, sizeof signature);
    }
    CHECK_EQ_INT(file_get(d.journal, journal, sizeof journal), JOURNAL_HEADER_BYTES);
    keyfile_close(k);
    key_folder_remove(&d);
}

TEST(a_missing_journal_stops_signing) {
    key_folder d;
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
    sheaf_failure f;
    REQUIRE(begin(&d) == 0);
    CHECK(unlink(d.journal) == 0);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, TEST_FIRST, 0, &f), SHEAF_IO);
    CHECK(strstr(f.message, "the journal is missing") != NULL && strstr(f.message, "backup") != NULL);
    CHECK(!there(d.journal) && !there(d.lock));
    key_folder_remove(&d);
}

TEST(a_journal_that_is_a_link_or_a_folder_stops_signing) {
    key_folder d;
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
    char moved[600];
    REQUIRE(begin(&d) == 0);
    snprintf(moved, sizeof moved, "%s/moved", d.path);
    CHECK(rename(d.journal, moved) == 0);
    CHECK(symlink("moved", d.journal) == 0);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, TEST_FIRST, 0, NULL), SHEAF_IO);
    CHECK(unlink(d.journal) == 0);
    CHECK(mkdir(d.journal, 0700) == 0);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, TEST_FIRST, 0, NULL), SHEAF_IO);
    CHECK(rmdir(d.journal) == 0);
    key_folder_remove(&d);
}

TEST(the_journal_of_another_key_is_refused) {
    key_folder d;
    uint8_t journal[JOURNAL_HEADER_BYTES + 1], signature[LEANXMSS_SIGNATURE_BYTES], public_key[32];
    sheaf_failure f;
    REQUIRE(begin(&d) == 0);
    CHECK_EQ_INT(file_get(d.journal, journal, sizeof journal), JOURNAL_HEADER_BYTES);
    key_folder_empty(&d);
    CHECK(keyfile_create(public_key, d.key, NULL, NULL, TEST_FIRST, TEST_LOG_COUNT, NULL) == SHEAF_OK);
    CHECK(file_put(d.journal, journal, JOURNAL_HEADER_BYTES) == 0);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, TEST_FIRST, 0, &f), SHEAF_MALFORMED);
    CHECK(strstr(f.message, "another key") != NULL);
    key_folder_remove(&d);
}

TEST(a_damaged_journal_is_an_error_that_names_file_and_record) {
    key_folder d;
    uint8_t journal[JOURNAL_HEADER_BYTES + 3 * JOURNAL_RECORD_BYTES], signature[LEANXMSS_SIGNATURE_BYTES];
    keyfile *k;
    REQUIRE(begin_signed(&d, journal, 3) == 0);
    REQUIRE(keyfile_open(&k, d.key, NULL, NULL) == SHEAF_OK);
    for (size_t i = 0; i < sizeof journal; i++) {
        sheaf_failure f = {0};
        keyfile_usage u;
        uint8_t message[32] = {0};
        journal[i] ^= 0x20;
        CHECK(file_put(d.journal, journal, sizeof journal) == 0);
        memset(signature, 0xff, sizeof signature);
        sheaf_status want = i >= 8 && i < 16 ? SHEAF_UNSUPPORTED : SHEAF_MALFORMED;
        CHECK_EQ_INT(keyfile_sign(signature, NULL, k, TEST_FIRST + 5, message, &f), want);
        CHECK_MEM(signature, zero_signature, sizeof signature);
        CHECK(strstr(f.message, "a.key.journal") != NULL);
        if (i >= JOURNAL_HEADER_BYTES) { /* the last record too: it is whole, so it is no torn one */
            char name[32];
            size_t record = (i - JOURNAL_HEADER_BYTES) / JOURNAL_RECORD_BYTES;
            snprintf(name, sizeof name, "record %zu of", record);
            CHECK_EQ_U64(f.index, record);
            CHECK(strstr(f.message, name) != NULL);
        }
        CHECK_EQ_INT(keyfile_usage_read(&u, k, &f), want);
        CHECK(u.ranges == NULL);
        journal[i] ^= 0x20;
    }
    for (size_t cut = 1; cut < JOURNAL_HEADER_BYTES; cut++) {
        CHECK(file_put(d.journal, journal, JOURNAL_HEADER_BYTES - cut) == 0);
        uint8_t message[32] = {0};
        CHECK_EQ_INT(keyfile_sign(signature, NULL, k, TEST_FIRST, message, NULL), SHEAF_MALFORMED);
    }
    keyfile_close(k);
    key_folder_remove(&d);
}

/* Journals with right checksums that no signer writes. */
TEST(a_journal_that_says_what_cannot_be_is_refused) {
    key_folder d;
    enum { MOST = 10 };
    uint8_t journal[JOURNAL_HEADER_BYTES + MOST * JOURNAL_RECORD_BYTES], signature[LEANXMSS_SIGNATURE_BYTES];
    sheaf_failure f;
    keyfile *k;
    keyfile_usage u;
    REQUIRE(begin_signed(&d, journal, 1) == 0);
    REQUIRE(keyfile_open(&k, d.key, NULL, NULL) == SHEAF_OK);
    static const struct {
        size_t n;
        uint32_t epochs[MOST];
    } bad[] = {{2, {64, 72}},                              /* not the key's */
               {2, {64, 64}},                              /* twice */
               {9, {64, 65, 66, 67, 68, 69, 70, 71, 64}}}; /* more than there are */
    for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++) {
        for (size_t i = 0; i < bad[b].n; i++) {
            uint8_t *record = journal + JOURNAL_HEADER_BYTES + i * JOURNAL_RECORD_BYTES;
            memset(record, 0, 40);
            store32_le(record, bad[b].epochs[i]);
            sha256(record + 40, record - 32, 32, record, 40);
        }
        CHECK(file_put(d.journal, journal, JOURNAL_HEADER_BYTES + bad[b].n * JOURNAL_RECORD_BYTES) == 0);
        CHECK_EQ_INT(test_key_sign(&d, signature, NULL, 64, 0, &f), SHEAF_MALFORMED);
        CHECK_EQ_INT(keyfile_usage_read(&u, k, &f), SHEAF_MALFORMED);
    }
    /* One whose trial is not the message's first valid one: another randomizer would show other chain values.
     */
    uint8_t *record = journal + JOURNAL_HEADER_BYTES;
    test_message(record + 8, 64, 0);
    store32_le(record, 64);
    store32_le(record + 4, 12345);
    sha256(record + 40, record - 32, 32, record, 40);
    CHECK(file_put(d.journal, journal, JOURNAL_HEADER_BYTES + JOURNAL_RECORD_BYTES) == 0);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, 64, 0, &f), SHEAF_MALFORMED);
    CHECK(strstr(f.message, "another randomizer") != NULL);
    CHECK_MEM(signature, zero_signature, sizeof signature);
    keyfile_close(k);
    key_folder_remove(&d);
}

TEST(a_torn_record_binds_its_epoch) {
    key_folder d;
    uint8_t journal[JOURNAL_HEADER_BYTES + 2 * JOURNAL_RECORD_BYTES],
        after[JOURNAL_HEADER_BYTES + 8 * JOURNAL_RECORD_BYTES];
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES], want[LEANXMSS_SIGNATURE_BYTES];
    keyfile_note note;
    REQUIRE(begin_signed(&d, journal, 2) == 0);
    CHECK_EQ_INT(test_key_sign(&d, want, NULL, TEST_FIRST + 1, 0, NULL), SHEAF_OK);
    for (size_t torn = 1; torn < JOURNAL_RECORD_BYTES; torn++) {
        const size_t len = JOURNAL_HEADER_BYTES + JOURNAL_RECORD_BYTES + torn;
        int epoch_readable = torn >= 4, differs = torn >= 5; /* the next byte is the trial's, which differs */

        /* The same message goes on, and writes the very same record. */
        CHECK(file_put(d.journal, journal, len) == 0);
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, TEST_FIRST + 1, 0, NULL), SHEAF_OK);
        CHECK_MEM(signature, want, sizeof want);
        CHECK_EQ_INT(note.repeated, 0);
        CHECK_STR(note.notice, epoch_readable ? "completed a torn record" : "wrote over a torn record");
        CHECK_EQ_INT(file_get(d.journal, after, sizeof after), (long)sizeof journal);
        CHECK_MEM(after, journal, sizeof journal);

        /* Another is refused where the bytes that are there contradict it, and the record stays for the
         * first. */
        CHECK(file_put(d.journal, journal, len) == 0);
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, TEST_FIRST + 1, 1, NULL),
                     differs ? SHEAF_EPOCH_USED : SHEAF_OK);
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, TEST_FIRST + 1, 0, NULL),
                     differs ? SHEAF_OK : SHEAF_EPOCH_USED);

        /* Another epoch's signature withdraws it. */
        CHECK(file_put(d.journal, journal, len) == 0);
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, TEST_FIRST + 2, 0, NULL), SHEAF_OK);
        if (epoch_readable) {
            CHECK_STR(note.notice, "withdrew epoch 65, whose record was torn");
            CHECK_EQ_INT(test_key_sign(&d, signature, &note, TEST_FIRST + 1, 0, NULL), SHEAF_EPOCH_USED);
            CHECK_EQ_INT(test_key_sign(&d, signature, &note, TEST_FIRST + 1, 1, NULL), SHEAF_EPOCH_USED);
            CHECK_EQ_INT(file_get(d.journal, after, sizeof after),
                         JOURNAL_HEADER_BYTES + 3 * JOURNAL_RECORD_BYTES);
        } else {
            CHECK_EQ_INT(file_get(d.journal, after, sizeof after),
                         JOURNAL_HEADER_BYTES + 2 * JOURNAL_RECORD_BYTES);
        }

        /* A signature that is in the journal already touches nothing. */
        CHECK(file_put(d.journal, journal, len) == 0);
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, TEST_FIRST, 0, NULL), SHEAF_OK);
        CHECK_EQ_INT(file_get(d.journal, after, sizeof after), (long)len);
    }
    key_folder_remove(&d);
}

TEST(a_torn_record_of_no_epoch_of_the_key_is_written_over) {
    key_folder d;
    uint8_t journal[JOURNAL_HEADER_BYTES + 2 * JOURNAL_RECORD_BYTES], signature[LEANXMSS_SIGNATURE_BYTES];
    keyfile_note note;
    static const uint32_t epochs[] = {0, 72, UINT32_MAX, TEST_FIRST}; /* the last has a whole record */
    REQUIRE(begin_signed(&d, journal, 1) == 0);
    for (size_t i = 0; i < sizeof epochs / sizeof epochs[0]; i++) {
        store32_le(journal + JOURNAL_HEADER_BYTES + JOURNAL_RECORD_BYTES, epochs[i]);
        CHECK(file_put(d.journal, journal, JOURNAL_HEADER_BYTES + JOURNAL_RECORD_BYTES + 9) == 0);
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, TEST_FIRST + 1, 0, NULL), SHEAF_OK);
        CHECK_STR(note.notice, "wrote over a torn record");
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, TEST_FIRST, 0, NULL), SHEAF_OK);
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, TEST_FIRST, 1, NULL), SHEAF_EPOCH_USED);
    }
    key_folder_remove(&d);
}

TEST(a_full_disk_gives_no_signature_and_no_record) {
    key_folder d;
    uint8_t journal[JOURNAL_HEADER_BYTES + JOURNAL_RECORD_BYTES], after[1024],
        signature[LEANXMSS_SIGNATURE_BYTES];
    sheaf_failure f;
    REQUIRE(begin_signed(&d, journal, 1) == 0);
    struct rlimit kept, limit;
    REQUIRE(getrlimit(RLIMIT_FSIZE, &kept) == 0);
    void (*kept_handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (size_t room = 0; room < JOURNAL_RECORD_BYTES; room += 7) {
        limit = kept;
        limit.rlim_cur = sizeof journal + room;
        if (room == 0) /* the lock is written under the same limit */
            CHECK(limit.rlim_cur > 100);
        CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        memset(signature, 0xff, sizeof signature);
        sheaf_status status = test_key_sign(&d, signature, NULL, TEST_FIRST + 1, 0, &f);
        CHECK(setrlimit(RLIMIT_FSIZE, &kept) == 0);
        CHECK_EQ_INT(status, SHEAF_IO);
        CHECK_MEM(signature, zero_signature, sizeof signature);
        CHECK_EQ_INT(file_get(d.journal, after, sizeof after), (long)sizeof journal);
        CHECK_MEM(after, journal, sizeof journal);
        CHECK(!there(d.lock));
    }
    signal(SIGXFSZ, kept_handler);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, TEST_FIRST + 1, 1, NULL), SHEAF_OK);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, TEST_FIRST + 1, 0, NULL), SHEAF_EPOCH_USED);
    key_folder_remove(&d);
}

/* ---- usage, intervals ---- */

TEST(usage_lists_what_is_used_and_what_is_left) {
    static const struct {
        uint32_t epoch;
        uint64_t ranges;
    } order[] = {{70, 1}, {64, 2}, {66, 3}, {65, 2}, {71, 2}, {68, 3}, {69, 2}, {67, 1}};
    key_folder d;
    keyfile *k;
    keyfile_usage u;
    mem m = {0};
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES], message[32];
    REQUIRE(begin(&d) == 0);
    REQUIRE(keyfile_open(&k, d.key, &m, NULL) == SHEAF_OK);
    size_t held = m.current;
    CHECK_EQ_INT(keyfile_usage_read(&u, k, NULL), SHEAF_OK);
    CHECK(u.first == 64 && u.count == 8 && u.used == 0 && u.left == 8 && u.n_ranges == 0 && u.ranges == NULL);
    keyfile_usage_free(&u, k);
    for (size_t i = 0; i < 8; i++) {
        test_message(message, order[i].epoch, 0);
        CHECK_EQ_INT(keyfile_sign(signature, NULL, k, order[i].epoch, message, NULL), SHEAF_OK);
        CHECK_EQ_INT(keyfile_usage_read(&u, k, NULL), SHEAF_OK);
        CHECK_EQ_U64(u.used, i + 1);
        CHECK_EQ_U64(u.left, 7 - i);
        CHECK_EQ_U64(u.n_ranges, order[i].ranges);
        CHECK_EQ_U64(u.withdrawn, 0);
        CHECK_EQ_INT(u.torn, 0);
        uint64_t in_ranges = 0;
        for (size_t r = 0; r < u.n_ranges; r++) {
            in_ranges += u.ranges[r].last - u.ranges[r].first + UINT64_C(1);
            CHECK(r == 0 || u.ranges[r].first > u.ranges[r - 1].last + 1);
        }
        CHECK_EQ_U64(in_ranges, i + 1);
        keyfile_usage_free(&u, k);
        CHECK_EQ_U64(m.current, held);
    }
    keyfile_close(k);
    CHECK_EQ_U64(m.current, 0);
    key_folder_remove(&d);
}

TEST(usage_tells_of_torn_and_withdrawn_records) {
    key_folder d;
    keyfile *k;
    keyfile_usage u;
    uint8_t journal[JOURNAL_HEADER_BYTES + 2 * JOURNAL_RECORD_BYTES], signature[LEANXMSS_SIGNATURE_BYTES];
    REQUIRE(begin_signed(&d, journal, 2) == 0);
    REQUIRE(keyfile_open(&k, d.key, NULL, NULL) == SHEAF_OK);
    CHECK(file_put(d.journal, journal, sizeof journal - 1) == 0);
    CHECK_EQ_INT(keyfile_usage_read(&u, k, NULL), SHEAF_OK);
    CHECK(u.torn == 1 && u.used == 1 && u.withdrawn == 0);
    keyfile_usage_free(&u, k);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, TEST_FIRST + 3, 0, NULL), SHEAF_OK);
    CHECK_EQ_INT(keyfile_usage_read(&u, k, NULL), SHEAF_OK);
    CHECK(u.torn == 0 && u.used == 3 && u.withdrawn == 1 && u.n_ranges == 2);
    CHECK(u.n_ranges == 2 && u.ranges[0].first == 64 && u.ranges[0].last == 65 && u.ranges[1].first == 67 &&
          u.ranges[1].last == 67);
    keyfile_usage_free(&u, k);
    /* Not even the message of zeros that its record shows. */
    static const uint8_t zeros[32];
    sheaf_failure f = {0};
    CHECK_EQ_INT(keyfile_sign(signature, NULL, k, TEST_FIRST + 1, zeros, &f), SHEAF_EPOCH_USED);
    CHECK(strstr(f.message, "withdrawn") != NULL);
    keyfile_close(k);
    key_folder_remove(&d);
}

TEST(aligned_intervals_are_accepted) {
    static const struct {
        uint64_t start, count;
        unsigned log_count;
    } good[] = {{0, 1, 0},   {7, 1, 0},          {0xffffffff, 1, 0},         {6, 2, 1},
                {64, 64, 6}, {0xfffffff8, 8, 3}, {0, UINT64_C(1) << 32, 32}, {0x80000000, 0x80000000, 31}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint32_t first;
        unsigned log_count;
        CHECK_EQ_INT(keyfile_interval(&first, &log_count, good[i].start, good[i].count, NULL), SHEAF_OK);
        CHECK_EQ_U64(first, good[i].start);
        CHECK_EQ_U64(log_count, good[i].log_count);
    }
}

TEST(unaligned_intervals_are_refused_and_the_nearest_named) {
    static const struct {
        uint64_t start, count;
        const char *named[3];
    } bad[] = {
        {3, 8, {"0:8 ", "8:8,", "0:16,"}},
        {1, 2, {"0:2 ", "2:2,", "0:4,"}},
        {12, 8, {"8:8 ", "16:8,", "0:32,"}},
        {UINT64_C(0xfffffff4), 8, {"4294967280:8 ", "4294967288:8,", "4294967280:16,"}},
        {4, 12, {"0:16", "0:16", "0:16"}},
        {8, 3, {"8:4", "8:4", "8:4"}},
        {15, 3, {"0:32", "0:32", "0:32"}},
        {UINT64_C(0xffffffff), 2, {"the last epoch is 4294967295", "", ""}},
        {UINT64_C(1) << 32, 1, {"the last epoch is 4294967295", "", ""}},
        {1, UINT64_C(1) << 32, {"the last epoch is 4294967295", "", ""}},
        {0, UINT64_MAX, {"the last epoch is 4294967295", "", ""}},
        {UINT64_MAX, UINT64_MAX, {"the last epoch is 4294967295", "", ""}},
        {0, 0, {"at least one", "", ""}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint32_t first;
        unsigned log_count;
        sheaf_failure f = {0};
        CHECK_EQ_INT(keyfile_interval(&first, &log_count, bad[i].start, bad[i].count, &f), SHEAF_EPOCH_RANGE);
        CHECK_EQ_INT(f.status, SHEAF_EPOCH_RANGE);
        for (size_t n = 0; n < 3; n++)
            if (!CHECK(strstr(f.message, bad[i].named[n]) != NULL))
                printf("  %s is not in: %s\n", bad[i].named[n], f.message);
        CHECK(strlen(f.message) < sizeof f.message - 1); /* nothing was cut off */
    }
}

T_MAIN()
