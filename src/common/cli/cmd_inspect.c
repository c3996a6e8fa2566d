/* Verbs that explain: inspect, security.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../aggregate/aggregate.h"
#include "../base/io.h"
#include "cli.h"

static const char *kind_name(unsigned kind) {
    return kind == SHEAF_KIND_HASH ? "hash batch" : "leanXMSS aggregate";
}

static void info_json(text *t, const char *file, const sheaf_info *i) {
    text_json_begin(t, file);
    text_add(t,
             ",\n  \"kind\": \"%s\",\n  \"count\": %lu,\n  \"epoch\": %lu,\n  \"accepted\": %s,\n  "
             "\"check\": \"%s\",\n",
             kind_name(i->kind), (unsigned long)i->count, (unsigned long)i->epoch,
             i->verdict == SHEAF_OK ? "true" : "false", sheaf_check_name(i->failure.check));
    text_add(
        t, "  \"envelope_bytes\": %zu,\n  \"statement_bytes\": %zu,\n  \"proof_bytes\": %zu,\n  \"parts\": {",
        i->envelope_bytes, i->statement_bytes, i->proof_bytes);
    for (unsigned k = 0; k < i->n_parts; k++)
        text_add(t, "%s\n    \"%s\": %zu", k > 0 ? "," : "", i->part[k].name, i->part[k].bytes);
    text_add(t,
             "\n  },\n  \"log_slots\": %u,\n  \"permutations_per_slot\": %u,\n  \"log_words\": %u,\n  "
             "\"log_inv_rate\": %u,\n"
             "  \"arity\": %u,\n  \"last_log\": %u,\n  \"levels\": [",
             i->log_slots, i->permutations, i->log_words, i->log_inv_rate, i->arity, i->last_log);
    for (unsigned k = 0; k < i->n_levels; k++)
        text_add(t, "%s\n    {\"fold\": %u, \"log_inv_rate\": %u, \"queries\": %u, \"grinding_bits\": %u}",
                 k > 0 ? "," : "", i->level[k].fold, i->level[k].log_inv_rate, i->level[k].queries,
                 i->level[k].grinding_bits);
    text_add(t, "\n  ],\n  \"security_bits\": %.2f\n}\n", i->security_bits);
}

static void info_text(text *t, const char *file, const sheaf_info *i) {
    text_plain(t, cli_name(file, 0));
    text_add(t, ": %s, %lu %s", kind_name(i->kind), (unsigned long)i->count,
             i->kind == SHEAF_KIND_HASH ? "digests" : "signers");
    if (i->kind == SHEAF_KIND_LEANXMSS)
        text_add(t, ", epoch %lu", (unsigned long)i->epoch);
    if (i->verdict == SHEAF_OK)
        text_add(t, "\nthe proof is accepted\n");
    else
        text_add(t, "\nthe proof is REJECTED: %s (check %s); below is what could be read of it\n",
                 i->failure.message, sheaf_check_name(i->failure.check));
    text_add(t, "\nfile      %10zu bytes\nstatement %10zu bytes\nproof     %10zu bytes, of which\n",
             i->envelope_bytes, i->statement_bytes, i->proof_bytes);
    for (unsigned k = 0; k < i->n_parts; k++)
        text_add(t, "  %-14s %9zu  %5.1f%%\n", i->part[k].name, i->part[k].bytes,
                 i->proof_bytes > 0 ? 100.0 * (double)i->part[k].bytes / (double)i->proof_bytes : 0.0);
    text_add(t, "\n2^%u slots of %u permutations", i->log_slots, i->permutations);
    if (i->log_inv_rate == 0) {
        text_add(t, "; the parameters are not known: the proof's header is not readable\n");
        return;
    }
    text_add(t, ", 2^%u committed words\n%-6s %6s %6s %8s %9s\n", i->log_words, "level", "fold", "rate",
             "queries", "grinding");
    for (unsigned k = 0; k < i->n_levels; k++)
        text_add(t, "%-6u %6u  2^-%-2u %8u %4u bits\n", k, i->level[k].fold, i->level[k].log_inv_rate,
                 i->level[k].queries, i->level[k].grinding_bits);
    text_add(t,
             "last word 2^%u elements, Merkle arity %u\nsoundness: %.2f bits (the largest error term; see "
             "sheaf security)\n",
             i->last_log, i->arity, i->security_bits);
}

static int run_inspect(cli *c, int argc, char **argv) {
    const char *file;
    int parsed = args_one_file(c, argc, argv, "file", &file);
    if (file == NULL)
        return parsed;
    uint8_t *data;
    size_t len;
    if (cli_read(c, file, envelope_bytes(SHEAF_MAX_HASHES, SHEAF_MAX_PROOF_BYTES), &data, &len) != CLI_OK)
        return CLI_ERROR;
    sheaf_info info;
    sheaf_failure f = {0};
    sheaf_status status = sheaf_inspect(&info, data, len, &f);
    io_free(data, len);
    if (status != SHEAF_OK)
        return cli_failure(c, file, status, &f);
    text t = {0};
    (c->json ? info_json : info_text)(&t, file, &info);
    int code = text_write(c, &t, "-");
    return code != CLI_OK ? code : cli_status_code(info.verdict);
}

const verb verb_inspect = {
    "inspect", "show what a proof is made of", run_inspect,
    "Usage: sheaf inspect FILE [--json]\n"
    "\n"
    "Verifies an aggregate or a hash batch and shows the size of each part of its proof, its parameters and "
    "its\n"
    "soundness. Exit code: 0 accepted; 1 rejected (what could be read is shown); 2 malformed.\n"
    "\n"
    "Examples:\n"
    "  sheaf inspect attestation.sheaf\n"
    "  sheaf inspect attestation.sheaf --json\n"};

/* ---- security ---- */

static const double needed_bits = 128;

static double log2_of_sum(const ledger_term *terms, size_t n) {
    double most = -HUGE_VAL, sum = 0;
    for (size_t i = 0; i < n; i++)
        most = terms[i].log2_error > most ? terms[i].log2_error : most;
    for (size_t i = 0; i < n; i++)
        sum += exp2(terms[i].log2_error - most);
    return most + log2(sum);
}

static int print_ledger(const cli *c, const ledger_shape *shape, const ledger_term *terms, size_t n) {
    double largest = -HUGE_VAL, sum = log2_of_sum(terms, n);
    size_t over = 0;
    for (size_t i = 0; i < n; i++) {
        largest = terms[i].log2_error > largest ? terms[i].log2_error : largest;
        over += !(terms[i].log2_error <= -needed_bits); /* one that is not a number is over, too */
    }
    text t = {0};
    if (c->json) {
        text_add(&t,
                 "{\n  \"scheme\": \"%s\",\n  \"log_slots\": %u,\n  \"log_inv_rate\": %u,\n  \"terms\": [",
                 shape->family == PARAMS_HASH ? "hash" : CLI_SCHEME, shape->m, shape->rate);
        for (size_t i = 0; i < n; i++) {
            text_add(&t, "%s\n    {\"name\": ", i > 0 ? "," : "");
            text_json_string(&t, terms[i].name);
            text_add(&t, ", \"log2_error\": %.3f, \"source\": ", terms[i].log2_error);
            text_json_string(&t, terms[i].source);
            text_add(&t, "}");
        }
        text_add(&t,
                 "\n  ],\n  \"largest_log2_error\": %.3f,\n  \"sum_log2_error\": %.3f,\n  \"security_bits\": "
                 "%.3f,\n  \"ok\": %s\n}\n",
                 largest, sum, -largest, over == 0 ? "true" : "false");
    } else {
        text_add(&t, "%s, 2^%u slots, first rate 2^-%u\n\n%-46s %10s  %s\n",
                 shape->family == PARAMS_HASH ? "hash batch" : "leanXMSS aggregate", shape->m, shape->rate,
                 "term", "log2 error", "source");
        for (size_t i = 0; i < n; i++)
            text_add(&t, "%-46s %10.2f  %s%s\n", terms[i].name, terms[i].log2_error, terms[i].source,
                     terms[i].log2_error <= -needed_bits ? "" : "  <-- over 2^-128");
        text_add(&t, "\nlargest term: 2^%.2f (%.2f bits of soundness)\nsum of all terms: 2^%.2f\n", largest,
                 -largest, sum);
    }
    int code = text_write(c, &t, "-");
    if (code == CLI_OK && over > 0) {
        cli_error(c, NULL, NULL, "%zu term%s over 2^-%.0f", over, over == 1 ? " is" : "s are", needed_bits);
        code = CLI_REJECTED;
    }
    return code;
}

static int run_security(cli *c, int argc, char **argv) {
    uint32_t signers = 0, hash_log = 0;
    int signers_given = 0, hash_given = 0;
    const arg_spec specs[] = {{"signers", 0, ARG_NUMBER, &signers, &signers_given, 1, SHEAF_MAX_SIGNERS},
                              {"hash-log-n", 0, ARG_NUMBER, &hash_log, &hash_given, 0, 20},
                              {"log-inv-rate", 0, ARG_NUMBER, &c->log_inv_rate, NULL, 1, PARAMS_MAX_RATE}};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, 3, &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files > 0)
        return cli_error(c, files[0], NULL, "an argument that is not expected");
    if (signers_given == hash_given)
        return cli_error(c, NULL, NULL, "one of --signers N and --hash-log-n N is needed");
    params_family family = hash_given ? PARAMS_HASH : PARAMS_LEANXMSS;
    unsigned m = circuit_log_slots(hash_given ? UINT64_C(1) << hash_log : signers);
    unsigned rate = c->log_inv_rate > 0 ? c->log_inv_rate : params_default_rate(family, m);
    ledger_shape shape;
    if (ledger_shape_init(&shape, family, m, rate) != 0)
        return cli_error(c, NULL, NULL, "there are no parameters for 2^%u slots at rate 2^-%u", m, rate);
    ledger_term terms[LEDGER_MAX_TERMS];
    size_t n = ledger_compute(terms, LEDGER_MAX_TERMS, &shape);
    if (n == 0 || n > LEDGER_MAX_TERMS)
        return cli_error(c, NULL, NULL, "the ledger has %zu terms, 1..%d can be", n, LEDGER_MAX_TERMS);
    return print_ledger(c, &shape, terms, n);
}

const verb verb_security = {
    "security", "show every error term of a shape's soundness", run_security,
    "Usage: sheaf security (--signers N | --hash-log-n N) [--log-inv-rate R] [--json]\n"
    "\n"
    "Prints the ledger of the whole protocol for a shape: for every step in which a wrong proof could pass "
    "by luck, the\n"
    "bound of its probability and where the bound comes from. Exit code: 0 if every term is at most 2^-128, "
    "else 1.\n"
    "\n"
    "Examples:\n"
    "  sheaf security --signers 1024\n"
    "  sheaf security --hash-log-n 14 --log-inv-rate 2 --json\n"};
