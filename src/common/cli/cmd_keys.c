/* Verbs on keys: keygen, pubkey, key-status.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "../hash/shake.h"
#include "../sig/keyfile.h"
#include "cli.h"

#define RESTORE_WARNING                                                                                      \
    "a key that is copied, or restored from a backup, can sign an epoch twice, which gives the key away: "   \
    "keep one copy, and the "                                                                                \
    "journal beside it"

static int parse_interval(const char *given, uint64_t *start, uint64_t *count) {
    char digits[32];
    const char *colon = strchr(given, ':');
    size_t n = colon != NULL ? (size_t)(colon - given) : 0;
    if (colon == NULL || n >= sizeof digits)
        return -1;
    memcpy(digits, given, n);
    digits[n] = '\0';
    if (parse_number(start, digits, UINT64_C(1) << 40) != 0)
        return -1;
    return parse_number(count, colon + 1, UINT64_C(1) << 40);
}

static int run_keygen(cli *c, int argc, char **argv) {
    const char *epochs = NULL, *output = NULL;
    int seed_given = 0;
    uint8_t seed[32], public_key[SHEAF_KEY_BYTES];
    const arg_spec specs[] = {{"epochs", 0, ARG_TEXT, &epochs, NULL, 0, 0},
                              {"output", 'o', ARG_TEXT, &output, NULL, 0, 0},
                              {"seed", 0, ARG_SEED, seed, &seed_given, 0, 0}};
    char **files;
    int n_files;
    uint64_t start, count;
    if (args_parse(c, argc, argv, specs, 3, &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files > 0)
        return cli_error(c, files[0], NULL, "an argument that is not expected");
    if (epochs == NULL)
        return cli_error(c, NULL, "--epochs", "is needed: START:COUNT");
    if (output == NULL)
        return cli_error(c, NULL, "--output", "is needed: the key's file");
    if (strcmp(output, "-") == 0)
        return cli_error(c, NULL, "--output",
                         "a key has a journal beside it and cannot be written to standard output");
    if (parse_interval(epochs, &start, &count) != 0)
        return cli_error(c, NULL, "--epochs", "%s is not START:COUNT in decimal", epochs);

    sheaf_context *ctx;
    progress_bar bar;
    if (cli_context(c, &ctx, &bar, "keygen") != CLI_OK)
        return CLI_ERROR;
    sheaf_failure f = {0};
    sheaf_status status =
        sheaf_key_create(ctx, public_key, output, start, count, seed_given ? seed : NULL, &f);
    progress_end(&bar);
    sheaf_context_destroy(ctx);
    secure_wipe(seed, sizeof seed);
    if (status == SHEAF_EPOCH_RANGE)
        return cli_failure(c, "--epochs", status, &f);
    if (status != SHEAF_OK)
        return cli_failure(c, output, status, &f);
    text t = {0};
    if (c->json) {
        text_json_begin(&t, output);
        text_add(&t, ",\n  \"scheme\": \"" CLI_SCHEME "\",\n  \"publicKey\": ");
        text_json_hex(&t, public_key, sizeof public_key);
        text_add(&t, ",\n  \"firstEpoch\": %llu,\n  \"epochs\": %llu\n}\n", (unsigned long long)start,
                 (unsigned long long)count);
    } else if (!c->quiet) {
        text_plain(&t, output);
        text_add(&t, ": epochs %llu..%llu, public key ", (unsigned long long)start,
                 (unsigned long long)(start + count - 1));
        text_hex(&t, public_key, sizeof public_key);
        text_add(&t, "\n");
    }
    return text_write(c, &t, "-");
}

const verb verb_keygen = {
    "keygen", "make a signing key", run_keygen,
    "Usage: sheaf keygen --epochs START:COUNT -o FILE [--seed HEX] [--threads N]\n"
    "\n"
    "Makes a leanXMSS key that signs once in each of the epochs START .. START+COUNT-1, and writes it to "
    "FILE and its\n"
    "empty journal to FILE.journal. COUNT is a power of two and START a multiple of it; otherwise the "
    "nearest intervals\n"
    "that are so are named. An existing file is never overwritten.\n"
    "\n"
    "  --epochs START:COUNT  the epochs; time and memory grow with COUNT\n"
    "  -o, --output FILE     the key's file\n"
    "  --seed HEX            32 bytes, for reproducible examples ONLY: a command line is seen by other users "
    "of the\n"
    "                        machine and kept by shells. Without it the seed is the system's randomness\n"
    "\n"
    "Warning: " RESTORE_WARNING ".\n"
    "\n"
    "Examples:\n"
    "  sheaf keygen --epochs 0:1024 -o alice.key\n"
    "  sheaf keygen --epochs 4096:256 -o bob.key --json\n"};

static int open_key(const cli *c, keyfile **k, const char *file) {
    sheaf_failure f = {0};
    sheaf_status status = keyfile_open(k, file, NULL, &f);
    return status == SHEAF_OK ? CLI_OK : cli_failure(c, file, status, &f);
}

static int run_pubkey(cli *c, int argc, char **argv) {
    const char *output = NULL;
    const arg_spec specs[] = {{"output", 'o', ARG_TEXT, &output, NULL, 0, 0}};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, 1, &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files == 0)
        return cli_error(c, NULL, NULL, "no key file is given");
    uint8_t *keys = malloc((size_t)n_files * SHEAF_KEY_BYTES);
    if (keys == NULL)
        return cli_error(c, NULL, NULL, "out of memory");
    int code = CLI_OK;
    for (int i = 0; i < n_files && code == CLI_OK; i++) {
        keyfile *k = NULL;
        code = open_key(c, &k, files[i]);
        if (code == CLI_OK)
            memcpy(keys + (size_t)i * SHEAF_KEY_BYTES, keyfile_public_key(k), SHEAF_KEY_BYTES);
        keyfile_close(k);
    }
    text t = {0};
    if (code == CLI_OK && (c->json || output != NULL)) {
        keys_json(&t, keys, (size_t)n_files);
        code = text_write(c, &t, output != NULL ? output : "-");
    } else if (code == CLI_OK) {
        for (int i = 0; i < n_files; i++) {
            text_hex(&t, keys + (size_t)i * SHEAF_KEY_BYTES, SHEAF_KEY_BYTES);
            text_add(&t, "\n");
        }
        code = text_write(c, &t, "-");
    }
    free(keys);
    return code;
}

const verb verb_pubkey = {"pubkey", "show the public keys of key files", run_pubkey,
                          "Usage: sheaf pubkey FILE... [--json] [-o keys.json]\n"
                          "\n"
                          "Prints each key's public key, 32 bytes in hex, one a line. With --json or -o: one "
                          "keys.json, as verify --keys takes\n"
                          "it.\n"
                          "\n"
                          "Examples:\n"
                          "  sheaf pubkey alice.key\n"
                          "  sheaf pubkey alice.key bob.key -o keys.json\n"};

/* The first epoch that can still sign; 0 where there is none. */
static int next_epoch(const keyfile_usage *u, uint64_t *epoch) {
    uint64_t at = u->first, end = (uint64_t)u->first + u->count;
    for (size_t i = 0; i < u->n_ranges && u->ranges[i].first <= at; i++)
        at = (uint64_t)u->ranges[i].last + 1;
    *epoch = at;
    return at < end;
}

static void status_json(text *t, const char *file, const uint8_t *public_key, const keyfile_usage *u) {
    uint64_t next;
    text_json_begin(t, file);
    text_add(t, ",\n  \"scheme\": \"" CLI_SCHEME "\",\n  \"publicKey\": ");
    text_json_hex(t, public_key, SHEAF_KEY_BYTES);
    text_add(t,
             ",\n  \"firstEpoch\": %lu,\n  \"epochs\": %llu,\n  \"used\": %llu,\n  \"left\": %llu,\n  "
             "\"withdrawn\": %llu,\n",
             (unsigned long)u->first, (unsigned long long)u->count, (unsigned long long)u->used,
             (unsigned long long)u->left, (unsigned long long)u->withdrawn);
    text_add(t, "  \"usedRanges\": [");
    for (size_t i = 0; i < u->n_ranges; i++)
        text_add(t, "%s[%lu, %lu]", i > 0 ? ", " : "", (unsigned long)u->ranges[i].first,
                 (unsigned long)u->ranges[i].last);
    text_add(t, "],\n  \"nextEpoch\": ");
    if (next_epoch(u, &next))
        text_add(t, "%llu", (unsigned long long)next);
    else
        text_add(t, "null");
    text_add(t, ",\n  \"tornRecord\": %s,\n  \"warning\": \"" RESTORE_WARNING "\"\n}\n",
             u->torn ? "true" : "false");
}

static void status_text(text *t, const char *file, const uint8_t *public_key, const keyfile_usage *u) {
    uint64_t next;
    text_plain(t, file);
    text_add(t, ": public key ");
    text_hex(t, public_key, SHEAF_KEY_BYTES);
    text_add(t, "\nepochs %lu..%llu: %llu, of which %llu used, %llu left\n", (unsigned long)u->first,
             (unsigned long long)u->first + u->count - 1, (unsigned long long)u->count,
             (unsigned long long)u->used, (unsigned long long)u->left);
    if (u->n_ranges > 0)
        text_add(t, "used:");
    for (size_t i = 0; i < u->n_ranges; i++) {
        text_add(t, " %lu", (unsigned long)u->ranges[i].first);
        if (u->ranges[i].last != u->ranges[i].first)
            text_add(t, "..%lu", (unsigned long)u->ranges[i].last);
    }
    if (u->n_ranges > 0)
        text_add(t, "\n");
    if (next_epoch(u, &next))
        text_add(t, "next free epoch: %llu\n", (unsigned long long)next);
    if (u->withdrawn > 0)
        text_add(t, "withdrawn without a signature after an interrupted record: %llu\n",
                 (unsigned long long)u->withdrawn);
    if (u->torn)
        text_add(t, "the journal ends in an interrupted record, which the next signature puts right\n");
    text_add(t, "warning: " RESTORE_WARNING "\n");
}

static int run_key_status(cli *c, int argc, char **argv) {
    const char *file;
    int parsed = args_one_file(c, argc, argv, "key file", &file);
    if (file == NULL)
        return parsed;
    keyfile *k = NULL;
    if (open_key(c, &k, file) != CLI_OK)
        return CLI_ERROR;
    keyfile_usage u;
    sheaf_failure f = {0};
    sheaf_status status = keyfile_usage_read(&u, k, &f);
    int code;
    if (status != SHEAF_OK) {
        code = cli_failure(c, file, status, &f);
    } else {
        text t = {0};
        (c->json ? status_json : status_text)(&t, file, keyfile_public_key(k), &u);
        code = text_write(c, &t, "-");
        keyfile_usage_free(&u, k);
    }
    keyfile_close(k);
    return code;
}

const verb verb_key_status = {"key-status", "show which epochs a key has used and which are left",
                              run_key_status,
                              "Usage: sheaf key-status FILE [--json]\n"
                              "\n"
                              "Shows the key's epochs: used, left, the next free one. It reads the key and "
                              "its journal and changes nothing.\n"
                              "\n"
                              "Warning: " RESTORE_WARNING ".\n"
                              "\n"
                              "Examples:\n"
                              "  sheaf key-status alice.key\n"
                              "  sheaf key-status alice.key --json\n"};
