/* Verbs on single signatures: sign, verify-signature, collect.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "../aggregate/aggregate.h"
#include "../base/io.h"
#include "../hash/shake.h"
#include "../sig/keyfile.h"
#include "cli.h"

int message_resolve(const cli *c, message_args *m) {
    if (m->file == NULL)
        return CLI_OK;
    if (m->given)
        return cli_error(c, NULL, "--message-file", "given besides --message");
    uint8_t *data;
    size_t len;
    if (cli_read(c, m->file, CLI_FILE_LIMIT, &data, &len) != CLI_OK)
        return CLI_ERROR;
    shake256_once(m->message, sizeof m->message, data, len);
    io_free(data, len);
    m->given = 1;
    return CLI_OK;
}

static int sign(const cli *c, const char *key, uint32_t epoch, const uint8_t *message, sheaf_entry *e,
                keyfile_note *note) {
    keyfile *k = NULL;
    sheaf_failure f = {0};
    sheaf_status status = keyfile_open(&k, key, NULL, &f);
    if (status == SHEAF_OK) {
        memcpy(e->public_key, keyfile_public_key(k), SHEAF_KEY_BYTES);
        status = keyfile_sign(e->signature, note, k, epoch, message, &f);
    }
    keyfile_close(k);
    return status == SHEAF_OK ? CLI_OK : cli_failure(c, key, status, &f);
}

static int run_sign(cli *c, int argc, char **argv) {
    const char *key = NULL, *output = "-";
    uint32_t epoch = 0;
    int epoch_given = 0;
    message_args m = {0};
    const arg_spec specs[] = {{"key", 'k', ARG_TEXT, &key, NULL, 0, 0},
                              {"epoch", 0, ARG_NUMBER, &epoch, &epoch_given, 0, UINT32_MAX},
                              {"output", 'o', ARG_TEXT, &output, NULL, 0, 0},
                              MESSAGE_SPECS(m)};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, sizeof specs / sizeof specs[0], &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files > 0)
        return cli_error(c, files[0], NULL, "an argument that is not expected");
    if (key == NULL)
        return cli_error(c, NULL, "--key", "is needed: the key's file");
    if (!epoch_given)
        return cli_error(c, NULL, "--epoch", "is needed");
    if (message_resolve(c, &m) != CLI_OK)
        return CLI_ERROR;
    if (!m.given)
        return cli_error(c, NULL, "--message", "is needed, or --message-file");

    sheaf_entry e;
    keyfile_note note = {0};
    if (sign(c, key, epoch, m.message, &e, &note) != CLI_OK)
        return CLI_ERROR;
    if (note.notice[0] != '\0')
        cli_error(c, key, "notice", "%s", note.notice);
    text t = {0};
    signature_one_json(&t, epoch, m.message, &e);
    int code = text_write(c, &t, output);
    if (code == CLI_OK && strcmp(output, "-") != 0 && c->json) {
        text_json_begin(&t, output);
        text_add(&t, ",\n  \"epoch\": %lu,\n  \"repeated\": %s,\n  \"publicKey\": ", (unsigned long)epoch,
                 note.repeated ? "true" : "false");
        text_json_hex(&t, e.public_key, SHEAF_KEY_BYTES);
        text_add(&t, "\n}\n");
        code = text_write(c, &t, "-");
    } else if (code == CLI_OK && strcmp(output, "-") != 0 && !c->quiet) {
        text_plain(&t, output);
        text_add(&t, ": signed epoch %lu%s\n", (unsigned long)epoch,
                 note.repeated ? " (the same signature as before)" : "");
        code = text_write(c, &t, "-");
    }
    return code;
}

const verb verb_sign = {
    "sign", "sign a message for an epoch", run_sign,
    "Usage: sheaf sign --key FILE --epoch N (--message HEX | --message-file FILE) [-o FILE]\n"
    "\n"
    "Signs a 32-byte message for one epoch and writes the signature as JSON, to standard output unless -o "
    "says where.\n"
    "The key's journal records the message before the signature leaves. An epoch signs one message: the same "
    "message\n"
    "again gives the same signature, another one is refused (exit code 2).\n"
    "\n"
    "  -k, --key FILE        the key, as keygen wrote it\n"
    "  --epoch N             one of the key's epochs\n"
    "  --message HEX         the message, 32 bytes\n"
    "  --message-file FILE   the message is the SHAKE256 (32 bytes) of this file; - is standard input\n"
    "  -o, --output FILE     where the signature goes\n"
    "\n"
    "Examples:\n"
    "  sheaf sign --key alice.key --epoch 7 --message-file block.bin -o alice.sig.json\n"
    "  echo hello | sheaf sign --key alice.key --epoch 8 --message-file -\n"};

/* ---- verify-signature ---- */

typedef struct signature_expected {
    message_args message;
    uint32_t epoch;
    uint8_t key[SHEAF_KEY_BYTES];
    int epoch_given, key_given;
} signature_expected;

static int check_one_file(const cli *c, const char *file, const signature_expected *want) {
    signature_set s;
    if (signatures_read(c, file, &s) != CLI_OK)
        return CLI_ERROR;
    int code = CLI_OK;
    if (want->epoch_given && want->epoch != s.epoch) {
        cli_error(c, file, "epoch", "%lu, %lu was expected", (unsigned long)s.epoch,
                  (unsigned long)want->epoch);
        code = CLI_REJECTED;
    } else if (want->message.given && memcmp(want->message.message, s.message, SHEAF_MESSAGE_BYTES) != 0) {
        cli_error(c, file, "message", "not the expected one");
        code = CLI_REJECTED;
    }
    for (size_t i = 0; i < s.n && code == CLI_OK; i++) {
        const sheaf_entry *e = &s.entries[i];
        if (want->key_given && memcmp(want->key, e->public_key, SHEAF_KEY_BYTES) != 0) {
            cli_error(c, file, "publicKey", "signature %zu is by another key than the expected one", i);
            code = CLI_REJECTED;
        } else if (sheaf_verify_signature(e->public_key, s.epoch, s.message, e->signature) != SHEAF_OK) {
            cli_error(c, file, "signature", "signature %zu does not verify", i);
            code = CLI_REJECTED;
        }
    }
    if (code == CLI_OK && !c->quiet && !c->json) {
        text t = {0};
        text_plain(&t, cli_name(file, 0));
        text_add(&t, ": %s for epoch %lu, message ", s.n == 1 ? "a valid signature" : "valid signatures",
                 (unsigned long)s.epoch);
        text_hex(&t, s.message, SHEAF_MESSAGE_BYTES);
        for (size_t i = 0; i < s.n; i++) {
            text_add(&t, "\n  by ");
            text_hex(&t, s.entries[i].public_key, SHEAF_KEY_BYTES);
        }
        text_add(&t, "\n");
        code = text_write(c, &t, "-");
    }
    signatures_free(&s);
    return code;
}

static int run_verify_signature(cli *c, int argc, char **argv) {
    signature_expected want = {0};
    const arg_spec specs[] = {{"epoch", 0, ARG_NUMBER, &want.epoch, &want.epoch_given, 0, UINT32_MAX},
                              {"public-key", 0, ARG_HEX32, want.key, &want.key_given, 0, 0},
                              MESSAGE_SPECS(want.message)};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, sizeof specs / sizeof specs[0], &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files == 0)
        return cli_error(c, NULL, NULL, "no signature file is given");
    if (message_resolve(c, &want.message) != CLI_OK)
        return CLI_ERROR;
    int worst = CLI_OK;
    text t = {0};
    text_add(&t, "{\n  \"files\": [\n");
    for (int i = 0; i < n_files; i++) {
        int code = check_one_file(c, files[i], &want);
        worst = code > worst ? code : worst;
        text_add(&t, "    {\"file\": ");
        text_json_string(&t, files[i]);
        text_add(&t, ", \"valid\": %s}%s\n", code == CLI_OK ? "true" : "false", i + 1 < n_files ? "," : "");
    }
    text_add(&t, "  ],\n  \"valid\": %s\n}\n", worst == CLI_OK ? "true" : "false");
    if (c->json) {
        int code = text_write(c, &t, "-");
        return code > worst ? code : worst;
    }
    text_free(&t);
    return worst;
}

const verb verb_verify_signature = {
    "verify-signature", "verify single signatures", run_verify_signature,
    "Usage: sheaf verify-signature FILE... [--epoch N] [--message HEX | --message-file FILE] [--public-key "
    "HEX]\n"
    "\n"
    "Verifies the signatures of each file by themselves, without a proof: one signature as sign writes it, "
    "or a list as\n"
    "collect does. Exit code 0 if all are valid and as expected; 1 if one is not; 2 for malformed files.\n"
    "\n"
    "Examples:\n"
    "  sheaf verify-signature alice.sig.json\n"
    "  sheaf verify-signature alice.sig.json --message-file block.bin --epoch 7\n"};

/* ---- collect ---- */

/* Appends `more` to `all`, whose first set fixes epoch and message. */
static int collect_one(const cli *c, signature_set *all, const signature_set *more, const char *file) {
    if (all->n == 0) {
        all->epoch = more->epoch;
        memcpy(all->message, more->message, SHEAF_MESSAGE_BYTES);
    } else if (more->epoch != all->epoch) {
        return cli_error(c, file, "epoch", "signature %zu is for epoch %lu, signature 0 for %lu", all->n,
                         (unsigned long)more->epoch, (unsigned long)all->epoch);
    } else if (memcmp(more->message, all->message, SHEAF_MESSAGE_BYTES) != 0) {
        return cli_error(c, file, "message", "signature %zu is of another message than signature 0", all->n);
    }
    if (more->n > SHEAF_MAX_SIGNERS - all->n)
        return cli_error(c, file, NULL, "with it there are more than %d signatures", SHEAF_MAX_SIGNERS);
    sheaf_entry *grown = realloc(all->entries, (all->n + more->n) * sizeof *grown);
    if (grown == NULL)
        return cli_error(c, file, NULL, "out of memory");
    memcpy(grown + all->n, more->entries, more->n * sizeof *grown);
    all->entries = grown;
    all->n += more->n;
    return CLI_OK;
}

/* Where the signature `index` of all comes from: its file, and in *place its index there. */
static const char *origin(char **files, const size_t *ends, size_t index, size_t *place) {
    size_t i = 0;
    while (index >= ends[i])
        i++;
    *place = index - (i > 0 ? ends[i - 1] : 0);
    return files[i];
}

/* ends[i]: how many signatures files[0..i] have. */
static int check_distinct(const cli *c, const signature_set *s, char **files, const size_t *ends) {
    uint8_t *keys = malloc(s->n * SHEAF_KEY_BYTES);
    if (keys == NULL)
        return cli_error(c, NULL, NULL, "out of memory");
    for (size_t i = 0; i < s->n; i++)
        memcpy(keys + i * SHEAF_KEY_BYTES, s->entries[i].public_key, SHEAF_KEY_BYTES);
    sheaf_failure f = {0};
    sheaf_status status = key_list_check_distinct(keys, s->n, &f);
    if (status != SHEAF_DUPLICATE_KEY) {
        free(keys);
        return status == SHEAF_OK ? CLI_OK : cli_failure(c, NULL, status, &f);
    }
    size_t later = (size_t)f.index, earlier = 0, there, here;
    while (earlier < later &&
           memcmp(keys + earlier * SHEAF_KEY_BYTES, keys + later * SHEAF_KEY_BYTES, SHEAF_KEY_BYTES) != 0)
        earlier++;
    free(keys);
    const char *first = origin(files, ends, earlier, &there), *second = origin(files, ends, later, &here);
    return cli_error(c, second, NULL, "signature %zu has the public key of signature %zu in %s", here, there,
                     cli_name(first, 0));
}

static int run_collect(cli *c, int argc, char **argv) {
    const char *output = NULL;
    int binary = 0;
    const arg_spec specs[] = {{"output", 'o', ARG_TEXT, &output, NULL, 0, 0},
                              {"binary", 0, ARG_FLAG, &binary, NULL, 0, 0}};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, 2, &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files == 0)
        return cli_error(c, NULL, NULL, "no signature file is given");
    if (output == NULL)
        return cli_error(c, NULL, "--output", "is needed: the list's file");
    size_t *ends = calloc((size_t)n_files, sizeof *ends);
    if (ends == NULL)
        return cli_error(c, NULL, NULL, "out of memory");
    signature_set all = {0};
    int code = CLI_OK;
    for (int i = 0; i < n_files && code == CLI_OK; i++) {
        signature_set more;
        code = signatures_read(c, files[i], &more);
        if (code == CLI_OK) {
            code = collect_one(c, &all, &more, files[i]);
            signatures_free(&more);
            ends[i] = all.n;
        }
    }
    if (code == CLI_OK)
        code = check_distinct(c, &all, files, ends);
    free(ends);
    text t = {0};
    if (code == CLI_OK) {
        (binary ? signatures_binary : signatures_json)(&t, &all);
        code = text_write(c, &t, output);
    }
    if (code == CLI_OK && strcmp(output, "-") != 0 && c->json) {
        text_json_begin(&t, output);
        text_add(&t, ",\n  \"signatures\": %zu,\n  \"epoch\": %lu,\n  \"message\": ", all.n,
                 (unsigned long)all.epoch);
        text_json_hex(&t, all.message, SHEAF_MESSAGE_BYTES);
        text_add(&t, "\n}\n");
        code = text_write(c, &t, "-");
    } else if (code == CLI_OK && strcmp(output, "-") != 0 && !c->quiet) {
        text_plain(&t, output);
        text_add(&t, ": %zu signatures for epoch %lu\n", all.n, (unsigned long)all.epoch);
        code = text_write(c, &t, "-");
    }
    signatures_free(&all);
    return code;
}

const verb verb_collect = {
    "collect", "put single signatures into one list", run_collect,
    "Usage: sheaf collect FILE... -o FILE [--binary]\n"
    "\n"
    "Joins signatures, and lists of them, into one list that aggregate takes. They must be of one scheme, "
    "epoch and\n"
    "message, and no public key may be there twice; the file and the index of the first that is not so are "
    "named.\n"
    "\n"
    "  -o, --output FILE  the list; - is standard output\n"
    "  --binary           the compact binary form instead of JSON\n"
    "\n"
    "Examples:\n"
    "  sheaf collect alice.sig.json bob.sig.json -o signatures.json\n"
    "  sheaf collect *.sig.json --binary -o - | sheaf aggregate - -o attestation.sheaf\n"};
