/* A prover that lies: it lacks one signer's signature, makes one up and proves all the same, as well as
 * anyone could. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     test_lying_prover                             the tests
 *     test_lying_prover --write LIST.sigs FILE      the lie as a file: LIST (binary, docs/protocol.md 10.4)
 * loses its last signature, and FILE claims that it did not
 *
 * The made-up signature has a true randomizer, so that its encoding is valid and there are 99 chain steps:
 * only the signer's secret is missing. Every row of the witness is computed honestly from there; what is
 * false is that the path ends in the signer's root. */
#include "aggregate/context.h"
#include "circuit/witness.h"
#include "hash/shake.h"
#include "sig/leanxmss.h"
#include "t.h"

enum { HEADER = 56 };

/* Chain values and siblings from nowhere; the first randomizer whose encoding is valid. */
static void make_up(sheaf_entry *e, uint32_t epoch, const uint8_t message[32]) {
    uint8_t *randomizer = e->signature + 16 * LEANXMSS_CHAINS, positions[LEANXMSS_CHAINS];
    static const char label[] = "I never saw this signer's secret";
    shake256_once(e->signature, sizeof e->signature, label, sizeof label);
    for (uint64_t trial = 0;; trial++) {
        store64_le(randomizer, trial);
        if (leanxmss_encode(positions, e->public_key + 16, epoch, message, randomizer) == 0)
            return;
    }
}

/* The witness of entries as they are, valid or not. */
static int lying_witness(uint64_t *words, const sheaf_entry *entries, size_t n, uint32_t epoch,
                         const uint8_t message[32]) {
    static witness_slot w[WITNESS_LANES];
    uint8_t positions[WITNESS_LANES][LEANXMSS_CHAINS];
    uint64_t message_words[4];
    for (unsigned k = 0; k < 4; k++)
        message_words[k] = load64_le(message + 8 * k);
    for (size_t first = 0; first < n; first += WITNESS_LANES) {
        size_t here = n - first < WITNESS_LANES ? n - first : WITNESS_LANES;
        for (size_t i = 0; i < WITNESS_LANES; i++) {
            const sheaf_entry *e = &entries[first + (i < here ? i : here - 1)];
            witness_lx_read(&w[i], e->public_key, e->signature, epoch);
        }
        if (witness_lx_encode(positions, w, epoch, message_words) != 0)
            return -1;
        for (size_t i = 0; i < WITNESS_LANES; i++)
            if (witness_lx_plan(&w[i], positions[i]) != 0)
                return -1;
        witness_lx_chains(w, epoch);
        witness_lx_path(w, epoch);
        witness_lx_store(words, n, first, w, here);
    }
    return 0;
}

/* An envelope that claims that the entries are signatures. For sheaf_free. */
static int lie(sheaf_context *ctx, uint8_t **envelope, size_t *len, const sheaf_entry *entries, size_t n,
               uint32_t epoch, const uint8_t message[32]) {
    uint8_t *keys = malloc(32 * n);
    uint64_t *words = malloc(n * LX_WORDS * sizeof *words), multiplicities[LX_TABLE];
    int done = -1;
    aggregate_leaf leaf;
    sheaf_failure f;
    *envelope = NULL;
    if (keys != NULL && words != NULL) {
        for (size_t i = 0; i < n; i++)
            memcpy(keys + 32 * i, entries[i].public_key, 32);
        sheaf_statement st = {.kind = SHEAF_KIND_LEANXMSS,
                              .count = (uint32_t)n,
                              .epoch = epoch,
                              .message = message,
                              .items = keys};
        if (lying_witness(words, entries, n, epoch, message) == 0 &&
            aggregate_leaf_init(&leaf, &st) == SHEAF_OK) {
            env e = context_env(ctx);
            witness_lx_multiplicities(multiplicities, words, n);
            const leaf_witness witness = {words, multiplicities};
            done =
                aggregate_prove_leaf(ctx, &e, envelope, len, &st, &leaf, &witness, &f) == SHEAF_OK ? 0 : -1;
            aggregate_leaf_free(&leaf);
        }
    }
    free(keys);
    free(words);
    return done;
}

/* ---- the lie as a file ---- */

static uint8_t *read_whole(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        data = size > 0 ? malloc((size_t)size) : NULL;
        *len = data != NULL && fseek(file, 0, SEEK_SET) == 0 ? fread(data, 1, (size_t)size, file) : 0;
    }
    fclose(file);
    return data;
}

static int write_lie(const char *list, const char *path) {
    size_t len = 0, out_len = 0;
    uint8_t *data = read_whole(list, &len), *envelope = NULL;
    sheaf_context *ctx = NULL;
    int code = 1;
    uint32_t n = len >= HEADER + sizeof(sheaf_entry) ? load32_le(data + 12) : 0;
    if (n > 0 && len == HEADER + n * sizeof(sheaf_entry) && sheaf_context_create(&ctx, NULL) == SHEAF_OK) {
        sheaf_entry *entries = (sheaf_entry *)(data + HEADER);
        uint32_t epoch = load32_le(data + 16);
        make_up(&entries[n - 1], epoch, data + 24);
        FILE *file =
            lie(ctx, &envelope, &out_len, entries, n, epoch, data + 24) == 0 ? fopen(path, "wb") : NULL;
        if (file != NULL) {
            code = fwrite(envelope, 1, out_len, file) == out_len ? 0 : 1;
            code |= fclose(file) != 0;
        }
        sheaf_free(ctx, envelope);
    }
    sheaf_context_destroy(ctx);
    free(data);
    if (code != 0)
        fprintf(stderr, "test_lying_prover: no lie could be made of %s\n", list);
    return code;
}

/* ---- the tests ---- */

static const uint8_t message[32] = "pay nobody anything, ever again";

static int make_entries(sheaf_entry *entries, size_t n, uint32_t epoch) {
    for (size_t i = 0; i < n; i++) {
        leanxmss_key k;
        uint8_t seed[32] = {(uint8_t)(i + 1), 0x77};
        if (leanxmss_keygen(&k, NULL, seed, epoch, 0) != SHEAF_OK)
            return -1;
        memcpy(entries[i].public_key, k.public_key, 32);
        int signed_ok = leanxmss_sign(entries[i].signature, &k, epoch, message, NULL) == SHEAF_OK;
        leanxmss_key_wipe(&k, NULL);
        if (!signed_ok)
            return -1;
    }
    return 0;
}

/* Proves the entries by the path of the lying prover and says what the verifier says. */
static sheaf_status verdict(const sheaf_entry *entries, size_t n, uint32_t epoch, sheaf_failure *f) {
    sheaf_context *ctx;
    uint8_t *envelope = NULL;
    size_t len = 0;
    sheaf_status status = SHEAF_OUT_OF_MEMORY;
    if (!CHECK(sheaf_context_create(&ctx, NULL) == SHEAF_OK))
        return status;
    if (CHECK(lie(ctx, &envelope, &len, entries, n, epoch, message) == 0))
        status = sheaf_verify_aggregate(envelope, len, NULL, f);
    sheaf_free(ctx, envelope);
    sheaf_context_destroy(ctx);
    return status;
}

TEST(the_same_path_with_true_signatures_is_accepted) {
    sheaf_entry entries[3];
    sheaf_failure f = {0};
    REQUIRE(make_entries(entries, 3, 7) == 0);
    CHECK_EQ_INT(verdict(entries, 3, 7, &f), SHEAF_OK);
    CHECK_STR(f.message, "");
}

TEST(a_made_up_signature_is_rejected_by_the_opening) {
    sheaf_entry entries[3];
    for (size_t liar = 0; liar < 3; liar++) {
        sheaf_failure f = {0};
        REQUIRE(make_entries(entries, 3, 7) == 0);
        make_up(&entries[liar], 7, message);
        CHECK_EQ_INT(sheaf_verify_signature(entries[liar].public_key, 7, message, entries[liar].signature),
                     SHEAF_BAD_SIGNATURE);
        CHECK_EQ_INT(verdict(entries, 3, 7, &f), SHEAF_REJECTED);
        CHECK_EQ_INT(f.check, SHEAF_CHECK_OPENING);
    }
}

TEST(one_wrong_bit_of_a_sibling_is_rejected_by_the_opening) {
    sheaf_entry entries[2];
    sheaf_failure f = {0};
    REQUIRE(make_entries(entries, 2, 7) == 0);
    entries[1].signature[SHEAF_SIGNATURE_BYTES - 1] ^= 0x40;
    CHECK_EQ_INT(verdict(entries, 2, 7, &f), SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_OPENING);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--write") == 0)
        return write_lie(argv[2], argv[3]);
    return t_main_(argc, argv);
}
