/* Golden proofs: the same bytes from every back end and number of threads, and the same as ever.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tests/vectors/golden.txt has a line a proof: circuit, signers, first rate (0: the default), length, H(proof). Input i is made from
 * SHAKE256("sheaf golden KIND" || i, 8 bytes little endian): a 128-byte message, or a key's 32-byte seed; epoch 12345, message
 * SHAKE256("sheaf golden statement"). SHEAF_GOLDEN_PRINT=1 prints the lines that this build gives; SHEAF_GOLDEN_CHOSEN=1 makes them
 * on the chosen back end only, with two threads: for emulators, where the other runs take too long. */
#include "t.h"
#include "circuit/leaf.h"
#include "circuit/witness.h"
#include "hash/shake.h"
#include "kernels.h"
#include "sig/leanxmss.h"

enum { EPOCH = 12345 };

typedef struct rig {
    circuit c;
    leaf_statement st;
    leaf_witness w;
    uint64_t *words, *publics, multiplicities[LX_TABLE], binding[9];
} rig;

static void derive(uint8_t *out, size_t len, const char *label, uint64_t i) {
    uint8_t in[64];
    size_t n = strlen(label);
    memcpy(in, label, n);
    store64_le(in + n, i);
    shake256_once(out, len, in, n + 8);
}

static void bind_list(uint64_t *to, const uint8_t *entries, size_t n) {
    uint8_t *list = malloc(32 * n + 1), digest[32];
    memcpy(list, entries, 32 * n);
    list[32 * n] = 0x03;
    shake256_once(digest, 32, list, 32 * n + 1);
    for (unsigned i = 0; i < 4; i++) to[i] = load64_le(digest + 8 * i);
    free(list);
}

static int make_hash(rig *g, size_t n) {
    env e = {0};
    uint8_t *messages = calloc(n, 128), *digests = malloc(32 * n);
    g->words = malloc(16 * n * 8);
    g->publics = malloc(4 * n * 8);
    for (size_t i = 0; i < n; i++) derive(messages + 128 * i, 128, "sheaf golden hash", i);
    witness_hash(g->words, g->publics, &e, n, messages);
    for (size_t i = 0; i < n; i++) shake256_once(digests + 32 * i, 32, messages + 128 * i, 128);
    bind_list(g->binding, digests, n);
    g->st = (leaf_statement){&g->c, n, g->publics, g->binding, 4};
    g->w = (leaf_witness){g->words, NULL};
    free(messages);
    free(digests);
    return circuit_build_hash(&g->c);
}

static int make_leanxmss(rig *g, size_t n) {
    env e = {.pool = pool_create(2)};
    uint8_t *keys = malloc(32 * n), *signatures = malloc((size_t)LEANXMSS_SIGNATURE_BYTES * n), message[32];
    sheaf_failure f;
    int bad = 0;
    g->words = malloc((size_t)LX_WORDS * n * 8);
    g->publics = malloc(LX_PUBLICS * n * 8);
    shake256_once(message, 32, "sheaf golden statement", 22);
    for (size_t i = 0; i < n; i++) {
        uint8_t seed[32];
        leanxmss_key k;
        derive(seed, 32, "sheaf golden key", i);
        bad |= leanxmss_keygen(&k, &e, seed, EPOCH, 0) != SHEAF_OK;
        memcpy(keys + 32 * i, k.public_key, 32);
        bad |= leanxmss_sign(signatures + LEANXMSS_SIGNATURE_BYTES * i, &k, EPOCH, message, NULL) != SHEAF_OK;
        leanxmss_key_wipe(&k, NULL);
    }
    bad |= witness_leanxmss(g->words, g->publics, g->multiplicities, &e, n, keys, signatures, EPOCH, message, &f) != SHEAF_OK;
    g->binding[0] = EPOCH;
    for (unsigned i = 0; i < 4; i++) g->binding[1 + i] = load64_le(message + 8 * i);
    bind_list(g->binding + 5, keys, n);
    bad |= circuit_build_leanxmss(&g->c, EPOCH, g->binding + 1);
    g->st = (leaf_statement){&g->c, n, g->publics, g->binding, 9};
    g->w = (leaf_witness){g->words, g->multiplicities};
    free(keys);
    free(signatures);
    pool_destroy(e.pool);
    return bad;
}

static void release(rig *g) {
    circuit_free(&g->c);
    free(g->words);
    free(g->publics);
}

/* One proof on the back end in force. */
static void prove_and_compare(const rig *g, unsigned rate, unsigned threads, const char *line, const char *what, size_t n) {
    env e = {.pool = pool_create(threads)};
    uint8_t *proof, digest[32];
    size_t len;
    sheaf_failure f;
    CHECK_EQ_INT(leaf_prove(&proof, &len, &e, &g->st, &g->w, rate, &f), SHEAF_OK);
    if (proof) {
        char made[160];
        shake256_once(digest, 32, proof, len);
        int at = snprintf(made, sizeof made, "%s %zu %u %zu ", what, n, rate, len);
        for (unsigned i = 0; i < 32; i++) at += snprintf(made + at, sizeof made - (size_t)at, "%02x", digest[i]);
        if (getenv("SHEAF_GOLDEN_PRINT")) printf("%s\n", made);
        CHECK_STR(made, line);
        CHECK_EQ_INT(leaf_verify(proof, len, &g->st, NULL, &f), SHEAF_OK);
    }
    mem_free(NULL, proof);
    pool_destroy(e.pool);
}

/* Runs the lines of golden.txt of this circuit. On the portable back end the larger ones run once. */
static unsigned run_lines(const char *circuit_name, int (*make)(rig *g, size_t n)) {
    FILE *file = fopen(SHEAF_SOURCE_DIR "/tests/vectors/golden.txt", "r");
    if (!CHECK(file != NULL)) return 0;
    char line[200];
    unsigned lines = 0;
    const sheaf_isa chosen = kernels_isa();
    const int only_chosen = getenv("SHEAF_GOLDEN_CHOSEN") != NULL;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char what[16];
        size_t n;
        unsigned rate;
        if (sscanf(line, "%15s %zu %u", what, &n, &rate) != 3 || strcmp(what, circuit_name) != 0) continue;
        lines++;
        rig g = {0};
        if (!CHECK_EQ_INT(make(&g, n), 0)) break;
        for (int isa = only_chosen ? (int)chosen : 0; isa <= (int)chosen; isa++) {
            if (kernels_force((sheaf_isa)isa)) continue;
            const int slow = isa == SHEAF_ISA_PORTABLE && strcmp(what, "leanxmss") == 0;
            if (slow && chosen != SHEAF_ISA_PORTABLE && n > 1) continue; /* seen by the runs on that back end alone */
            const int once = slow || only_chosen;
            for (unsigned threads = once ? 2 : 1; threads <= (once ? 2u : 3u); threads++)
                prove_and_compare(&g, rate, threads, line, what, n);
        }
        CHECK_EQ_INT(kernels_force(chosen), 0);
        release(&g);
    }
    fclose(file);
    return lines;
}

TEST(golden_hash_batches) { CHECK(run_lines("hash", make_hash) >= 5); }
TEST(golden_aggregates) { CHECK(run_lines("leanxmss", make_leanxmss) >= 4); }

T_MAIN()
