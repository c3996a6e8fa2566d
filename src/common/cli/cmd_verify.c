/* The verb verify.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "../aggregate/aggregate.h"
#include "../base/io.h"
#include "cli.h"

static void failure_json(text *t, sheaf_status status, const sheaf_failure *f) {
    text_add(t, ",\n      \"status\": ");
    text_json_string(t, sheaf_status_text(status));
    text_add(t, ",\n      \"check\": ");
    text_json_string(t, sheaf_check_name(f->check));
    text_add(t, ",\n      \"index\": %llu,\n      \"reason\": ", (unsigned long long)f->index);
    text_json_string(t, f->message);
}

static void statement_json(text *t, const sheaf_statement *st) {
    text_add(t, ",\n      \"signers\": %lu,\n      \"epoch\": %lu,\n      \"message\": ",
             (unsigned long)st->count, (unsigned long)st->epoch);
    text_json_hex(t, st->message, SHEAF_MESSAGE_BYTES);
    text_add(t, ",\n      \"publicKeys\": [");
    for (uint32_t i = 0; i < st->count; i++) {
        text_add(t, "%s\n        ", i > 0 ? "," : "");
        text_json_hex(t, st->items + 32 * (size_t)i, 32);
    }
    text_add(t, "\n      ]");
}

static void statement_text(text *t, const char *file, const sheaf_statement *st) {
    text_plain(t, cli_name(file, 0));
    text_add(t, ": accepted: %lu signer%s, epoch %lu, message ", (unsigned long)st->count,
             st->count == 1 ? "" : "s", (unsigned long)st->epoch);
    text_hex(t, st->message, SHEAF_MESSAGE_BYTES);
    text_add(t, "\n");
    for (uint32_t i = 0; i < st->count; i++) {
        text_add(t, "  ");
        text_hex(t, st->items + 32 * (size_t)i, 32);
        text_add(t, "\n");
    }
}

/* Verifies one file; adds its object to `json` where that is asked for. */
static int verify_file(const cli *c, const char *file, const sheaf_expected *want, text *json) {
    const size_t limit = envelope_bytes(SHEAF_MAX_HASHES, SHEAF_MAX_PROOF_BYTES);
    uint8_t *data = NULL;
    size_t len = 0;
    sheaf_failure f = {0};
    sheaf_statement st = {0};
    sheaf_status status = io_read(&data, &len, file, limit, &f);
    if (status == SHEAF_OK)
        status = sheaf_verify_aggregate(data, len, want, &f);
    int readable = data != NULL && sheaf_statement_read(&st, data, len, NULL) == SHEAF_OK &&
                   st.kind == SHEAF_KIND_LEANXMSS;
    int code = status == SHEAF_OK ? CLI_OK : cli_rejection(c, file, status, &f);
    if (c->json) {
        text_add(json, "    {\n      \"file\": ");
        text_json_string(json, file);
        text_add(json, ",\n      \"accepted\": %s", status == SHEAF_OK ? "true" : "false");
        if (status != SHEAF_OK)
            failure_json(json, status, &f);
        if (readable)
            statement_json(json, &st);
        text_add(json, "\n    }");
    } else if (status == SHEAF_OK && !c->quiet) {
        text t = {0};
        statement_text(&t, file, &st);
        code = text_write(c, &t, "-");
    }
    io_free(data, len);
    return code;
}

static int verify_files(const cli *c, char **files, int n_files, const sheaf_expected *want) {
    int worst = CLI_OK;
    text json = {0};
    text_add(&json, "{\n  \"files\": [\n");
    for (int i = 0; i < n_files; i++) {
        int code = verify_file(c, files[i], want, &json);
        worst = code > worst ? code : worst;
        text_add(&json, "%s\n", i + 1 < n_files ? "," : "");
    }
    text_add(&json, "  ],\n  \"accepted\": %s\n}\n", worst == CLI_OK ? "true" : "false");
    if (c->json) {
        int code = text_write(c, &json, "-");
        return code > worst ? code : worst;
    }
    text_free(&json);
    return worst;
}

static int run_verify(cli *c, int argc, char **argv) {
    const char *keys_file = NULL;
    uint32_t epoch = 0;
    int epoch_given = 0;
    message_args m = {0};
    const arg_spec specs[] = {{"keys", 0, ARG_TEXT, &keys_file, NULL, 0, 0},
                              {"epoch", 0, ARG_NUMBER, &epoch, &epoch_given, 0, UINT32_MAX},
                              MESSAGE_SPECS(m)};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, sizeof specs / sizeof specs[0], &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files == 0)
        return cli_error(c, NULL, NULL, "no aggregate is given");
    uint8_t *keys = NULL;
    size_t n_keys = 0;
    if (message_resolve(c, &m) != CLI_OK)
        return CLI_ERROR;
    if (keys_file != NULL) {
        if (keys_read(c, keys_file, &keys, &n_keys) != CLI_OK)
            return CLI_ERROR;
        sheaf_failure f = {0};
        sheaf_status status = key_list_check_distinct(keys, n_keys, &f);
        if (status != SHEAF_OK) {
            free(keys);
            return cli_failure(c, keys_file, status, &f);
        }
    }
    sheaf_expected want = {.epoch = epoch_given ? &epoch : NULL,
                           .message = m.given ? m.message : NULL,
                           .items = keys,
                           .n_items = n_keys};
    int code = verify_files(c, files, n_files, &want);
    free(keys);
    return code;
}

const verb verb_verify = {
    "verify", "verify aggregates and show whom they cover", run_verify,
    "Usage: sheaf verify FILE... [--keys keys.json] [--message HEX | --message-file FILE] [--epoch N]\n"
    "\n"
    "Verifies each aggregate and prints the signers, epoch and message that it proves. What you expect of it "
    "you must say:\n"
    "without --keys, --message and --epoch a proof about anything is accepted, and it is for you to read "
    "what it is about.\n"
    "\n"
    "  --keys FILE           the proof must cover exactly this set of keys, in any order\n"
    "  --message HEX         the proof must be about this message (or --message-file, its SHAKE256)\n"
    "  --epoch N             the proof must be about this epoch\n"
    "  --quiet               print nothing for an accepted file\n"
    "\n"
    "Exit code: 0 all accepted; 1 rejected (the proof is wrong, or not about what was expected); 2 a "
    "malformed file or\n"
    "argument. With several files, the largest of theirs.\n"
    "\n"
    "Examples:\n"
    "  sheaf verify attestation.sheaf --keys keys.json --message-file block.bin --epoch 7\n"
    "  sheaf verify *.sheaf --quiet && echo all accepted\n"
    "  curl -s https://example.org/attestation.sheaf | sheaf verify - --json\n"};
