/* Verbs on hash batches: hash prove, hash verify.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "../base/io.h"
#include "../base/random.h"
#include "../base/stages.h"
#include "../hash/shake.h"
#include "examples.h"

enum { HASH_MOST_LOG = 20 };

/* 2^log_n messages from the seed, or from the system's randomness. */
static int make_preimages(const cli *c, uint8_t **preimages, size_t *n, uint32_t log_n, const uint8_t *seed) {
    uint8_t fresh[32];
    *n = (size_t)1 << log_n;
    *preimages = malloc(*n * SHEAF_PREIMAGE_BYTES);
    if (*preimages == NULL)
        return cli_error(c, NULL, NULL, "out of memory");
    if (seed == NULL && random_bytes(fresh, sizeof fresh) != 0)
        return cli_error(c, NULL, NULL, "the system gives no randomness");
    example_preimages(*preimages, *n, seed != NULL ? seed : fresh);
    secure_wipe(fresh, sizeof fresh);
    return CLI_OK;
}

static int read_preimages(const cli *c, uint8_t **preimages, size_t *n, const char *file) {
    size_t len;
    if (cli_read(c, file, (size_t)SHEAF_MAX_HASHES * SHEAF_PREIMAGE_BYTES, preimages, &len) != CLI_OK)
        return CLI_ERROR;
    *n = len / SHEAF_PREIMAGE_BYTES;
    if (len == 0 || len % SHEAF_PREIMAGE_BYTES != 0)
        return cli_error(c, file, NULL, "%zu bytes are not a positive number of %d-byte messages", len,
                         SHEAF_PREIMAGE_BYTES);
    return CLI_OK;
}

static int hash_prove(const cli *c, const char *output, const uint8_t *preimages, size_t n) {
    sheaf_context *ctx;
    progress_bar bar;
    if (cli_context(c, &ctx, &bar, "hash prove") != CLI_OK)
        return CLI_ERROR;
    if (cli_check_output(c, output) != CLI_OK ||
        cli_check_proof_memory(c, ctx, SHEAF_KIND_HASH, n) != CLI_OK) {
        sheaf_context_destroy(ctx);
        return CLI_ERROR;
    }
    uint8_t *envelope = NULL;
    size_t len = 0;
    sheaf_failure f = {0};
    double begin = stage_seconds();
    sheaf_status status = sheaf_prove_hash_batch(ctx, &envelope, &len, preimages, n, &f);
    double seconds = stage_seconds() - begin;
    progress_end(&bar);
    int code = status == SHEAF_OK ? cli_write(c, output, envelope, len) : cli_failure(c, NULL, status, &f);
    if (code == CLI_OK && strcmp(output, "-") != 0 && (c->json || !c->quiet)) {
        size_t proof_len = len - envelope_bytes((uint32_t)n, 0);
        text t = {0};
        if (c->json) {
            text_json_begin(&t, output);
            text_add(&t,
                     ",\n  \"hashes\": %zu,\n  \"envelope_bytes\": %zu,\n  \"proof_bytes\": %zu,\n  "
                     "\"seconds\": %.6f\n}\n",
                     n, len, proof_len, seconds);
        } else {
            text_plain(&t, output);
            text_add(&t, ": %zu hashes, proof %zu bytes, file %zu bytes, %.2f s\n", n, proof_len, len,
                     seconds);
        }
        code = text_write(c, &t, "-");
    }
    sheaf_free(ctx, envelope);
    sheaf_context_destroy(ctx);
    return code;
}

static int run_hash_prove(cli *c, int argc, char **argv) {
    const char *output = NULL, *input = NULL;
    uint32_t log_n = 0;
    int log_given = 0, seed_given = 0;
    uint8_t seed[32];
    const arg_spec specs[] = {{"output", 'o', ARG_TEXT, &output, NULL, 0, 0},
                              {"log-n", 0, ARG_NUMBER, &log_n, &log_given, 0, HASH_MOST_LOG},
                              {"messages", 0, ARG_TEXT, &input, NULL, 0, 0},
                              {"seed", 0, ARG_SEED, seed, &seed_given, 0, 0},
                              {"log-inv-rate", 0, ARG_NUMBER, &c->log_inv_rate, NULL, 1, PARAMS_MAX_RATE},
                              MEMORY_SPEC(c)};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, 6, &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files > 0)
        return cli_error(c, files[0], NULL, "an argument that is not expected");
    if (output == NULL)
        return cli_error(c, NULL, "--output", "is needed: the batch's file");
    if (log_given == (input != NULL))
        return cli_error(c, NULL, NULL, "one of --log-n N and --messages FILE is needed");
    if (input != NULL && seed_given)
        return cli_error(c, NULL, "--seed", "goes with --log-n only");
    uint8_t *preimages = NULL;
    size_t n = 0;
    int code = input != NULL ? read_preimages(c, &preimages, &n, input)
                             : make_preimages(c, &preimages, &n, log_n, seed_given ? seed : NULL);
    if (code == CLI_OK)
        code = hash_prove(c, output, preimages, n);
    io_free(preimages, preimages != NULL ? n * SHEAF_PREIMAGE_BYTES : 0);
    return code;
}

const verb verb_hash_prove = {
    "hash prove", "prove a batch of SHAKE256 hashes", run_hash_prove,
    "Usage: sheaf hash prove (--log-n N [--seed HEX] | --messages FILE) -o FILE [--log-inv-rate R]\n"
    "\n"
    "Proves that 128-byte messages are known whose SHAKE256 digests (32 bytes) are the listed ones.\n"
    "\n"
    "  --log-n N            2^N made-up messages, N at most 20\n"
    "  --seed HEX           32 bytes that the messages come from, for reproducible examples ONLY\n"
    "  --messages FILE      the messages, 128 bytes each, one after the other; - is standard input\n"
    "  -o, --output FILE    the batch (.sheaf); - is standard output\n"
    "  --log-inv-rate R     1..6, as for aggregate\n"
    "  --memory N           what the proof may take, in MiB, as for aggregate\n"
    "\n"
    "The messages are not in the file, but the proof is not zero knowledge: it may tell something about "
    "them.\n"
    "\n"
    "Examples:\n"
    "  sheaf hash prove --log-n 10 -o batch.sheaf\n"
    "  sheaf hash prove --messages secrets.bin -o batch.sheaf\n"};

static int report_batch(const cli *c, const char *file, sheaf_status status, const sheaf_failure *f,
                        uint32_t count) {
    text t = {0};
    if (c->json) {
        text_json_begin(&t, file);
        text_add(&t, ",\n  \"accepted\": %s,\n  \"hashes\": %lu,\n  \"check\": \"%s\"\n}\n",
                 status == SHEAF_OK ? "true" : "false", (unsigned long)count,
                 sheaf_check_name(status == SHEAF_OK ? SHEAF_CHECK_NONE : f->check));
    } else if (status == SHEAF_OK && !c->quiet) {
        text_plain(&t, cli_name(file, 0));
        text_add(&t, ": accepted: %lu hash%s\n", (unsigned long)count, count == 1 ? "" : "es");
    }
    return text_write(c, &t, "-");
}

/* log_n: NULL where any number of hashes will do. */
static int verify_batch(const cli *c, const char *file, const sheaf_expected *want, const uint32_t *log_n) {
    uint8_t *data;
    size_t len;
    if (cli_read(c, file, envelope_bytes(SHEAF_MAX_HASHES, SHEAF_MAX_PROOF_BYTES), &data, &len) != CLI_OK)
        return CLI_ERROR;
    sheaf_failure f = {0};
    sheaf_statement st = {0};
    sheaf_status status = sheaf_statement_read(&st, data, len, &f);
    uint32_t count = st.count;
    if (status == SHEAF_OK)
        status = sheaf_verify_hash_batch(data, len, want, &f);
    io_free(data, len);
    if (status == SHEAF_OK && log_n != NULL && count != UINT32_C(1) << *log_n) {
        failure_set(&f, SHEAF_REJECTED, SHEAF_CHECK_STATEMENT, 0,
                    "the proof covers %lu hashes, 2^%lu were expected", (unsigned long)count,
                    (unsigned long)*log_n);
        status = SHEAF_REJECTED;
    }
    int code = status == SHEAF_OK ? CLI_OK : cli_rejection(c, file, status, &f);
    int written = report_batch(c, file, status, &f, count);
    return written > code ? written : code;
}

static int run_hash_verify(cli *c, int argc, char **argv) {
    const char *digests_file = NULL;
    uint32_t log_n = 0;
    int log_given = 0;
    const arg_spec specs[] = {{"digests", 0, ARG_TEXT, &digests_file, NULL, 0, 0},
                              {"log-n", 0, ARG_NUMBER, &log_n, &log_given, 0, HASH_MOST_LOG}};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, 2, &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files != 1)
        return cli_error(c, NULL, NULL, "one batch is needed, %d are given", n_files);
    uint8_t *digests = NULL;
    size_t len = 0;
    if (digests_file != NULL &&
        cli_read(c, digests_file, (size_t)SHEAF_MAX_HASHES * 32, &digests, &len) != CLI_OK)
        return CLI_ERROR;
    sheaf_expected want = {.items = digests, .n_items = len / 32};
    int code = len % 32 != 0
                   ? cli_error(c, digests_file, NULL, "%zu bytes are no whole number of 32-byte digests", len)
                   : verify_batch(c, files[0], &want, log_given ? &log_n : NULL);
    io_free(digests, len);
    return code;
}

const verb verb_hash_verify = {
    "hash verify", "verify a batch of hashes", run_hash_verify,
    "Usage: sheaf hash verify FILE [--digests FILE] [--log-n N]\n"
    "\n"
    "Verifies a batch. Exit code: 0 accepted; 1 rejected; 2 a malformed file or argument.\n"
    "\n"
    "  --digests FILE  the proof must be about these digests, 32 bytes each, in this order\n"
    "  --log-n N       the proof must be about 2^N hashes\n"
    "\n"
    "Examples:\n"
    "  sheaf hash verify batch.sheaf\n"
    "  sheaf hash verify batch.sheaf --log-n 10 --json\n"};
