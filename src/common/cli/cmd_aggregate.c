/* The verb aggregate.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>
#include "../base/stages.h"
#include "cli.h"

static void report(text *t, const cli *c, const char *output, const signature_set *s, const uint8_t *envelope,
                   size_t len, double seconds) {
    sheaf_statement st;
    size_t proof_len = sheaf_statement_read(&st, envelope, len, NULL) == SHEAF_OK ? st.proof_len : 0;
    if (c->json) {
        text_json_begin(t, output);
        text_add(t, ",\n  \"signers\": %zu,\n  \"epoch\": %lu,\n  \"message\": ", s->n,
                 (unsigned long)s->epoch);
        text_json_hex(t, s->message, SHEAF_MESSAGE_BYTES);
        text_add(t, ",\n  \"envelope_bytes\": %zu,\n  \"proof_bytes\": %zu,\n  \"seconds\": %.6f\n}\n", len,
                 proof_len, seconds);
    } else {
        text_plain(t, output);
        text_add(t, ": %zu signer%s, epoch %lu, proof %zu bytes, file %zu bytes, %.2f s\n", s->n,
                 s->n == 1 ? "" : "s", (unsigned long)s->epoch, proof_len, len, seconds);
    }
}

static int aggregate(const cli *c, const char *input, const char *output, const signature_set *s) {
    sheaf_context *ctx;
    progress_bar bar;
    if (cli_context(c, &ctx, &bar, "aggregate") != CLI_OK)
        return CLI_ERROR;
    if (cli_check_output(c, output) != CLI_OK ||
        cli_check_proof_memory(c, ctx, SHEAF_KIND_LEANXMSS, s->n) != CLI_OK) {
        sheaf_context_destroy(ctx);
        return CLI_ERROR;
    }
    uint8_t *envelope = NULL;
    size_t len = 0;
    sheaf_failure f = {0};
    double begin = stage_seconds();
    sheaf_status status = sheaf_aggregate(ctx, &envelope, &len, s->epoch, s->message, s->entries, s->n, &f);
    double seconds = stage_seconds() - begin;
    progress_end(&bar);
    int code;
    if (status != SHEAF_OK) {
        code = cli_failure(c, input, status, &f);
    } else {
        code = cli_write(c, output, envelope, len);
        if (code == CLI_OK && strcmp(output, "-") != 0 && (c->json || !c->quiet)) {
            text t = {0};
            report(&t, c, output, s, envelope, len, seconds);
            code = text_write(c, &t, "-");
        }
    }
    sheaf_free(ctx, envelope);
    sheaf_context_destroy(ctx);
    return code;
}

static int run_aggregate(cli *c, int argc, char **argv) {
    const char *output = NULL;
    const arg_spec specs[] = {{"output", 'o', ARG_TEXT, &output, NULL, 0, 0},
                              {"log-inv-rate", 0, ARG_NUMBER, &c->log_inv_rate, NULL, 1, 6},
                              MEMORY_SPEC(c)};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, 3, &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files != 1)
        return cli_error(c, NULL, NULL, "one list of signatures is needed, %d are given", n_files);
    if (output == NULL)
        return cli_error(c, NULL, "--output", "is needed: the aggregate's file");
    signature_set s;
    if (signatures_read(c, files[0], &s) != CLI_OK)
        return CLI_ERROR;
    int code = aggregate(c, files[0], output, &s);
    signatures_free(&s);
    return code;
}

const verb verb_aggregate = {"aggregate", "prove that all signatures of a list verify", run_aggregate,
                             "Usage: sheaf aggregate FILE -o FILE [--log-inv-rate R] [--memory N] [--threads N]\n"
                             "\n"
                             "Reads a list of signatures of one epoch and message (JSON or binary, as "
                             "collect writes it) and makes one proof that\n"
                             "all of them verify. Each signature is verified first: the index of any that "
                             "does not is named and nothing is written.\n"
                             "A public key that is there twice is refused, both indices named. The proof and "
                             "the list of keys go into one file.\n"
                             "Exit code: 0 made; 1 a signature does not verify; 2 anything else.\n"
                             "\n"
                             "  -o, --output FILE    the aggregate (.sheaf); - is standard output\n"
                             "  --log-inv-rate R     1..6: larger makes smaller proofs and takes longer; the "
                             "default suits the number of signers\n"
                             "  --memory N           what the proof may take, in MiB; without it, what the "
                             "machine has free. A proof that\n"
                             "                       needs more is refused before it is begun\n"
                             "\n"
                             "Examples:\n"
                             "  sheaf aggregate signatures.json -o attestation.sheaf\n"
                             "  sheaf aggregate - -o - <signatures.json >attestation.sheaf\n"};
