/* The command `sheaf`: which verb is meant.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "../kernels.h"
#include "cli.h"

static const verb *const verbs[] = {&verb_keygen,       &verb_pubkey,           &verb_key_status,
                                    &verb_sign,         &verb_verify_signature, &verb_collect,
                                    &verb_aggregate,    &verb_verify,           &verb_inspect,
                                    &verb_security,     &verb_hash_prove,       &verb_hash_verify,
                                    &verb_bench_hash,   &verb_bench_aggregate,  &verb_bench_commit,
                                    &verb_bench_kernels};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static void overview(text *t) {
    text_add(t, "Usage: sheaf VERB ARGUMENTS...     (sheaf VERB --help says more, with examples)\n"
                "\n"
                "Sheaf proves in one small proof that many hash-based signatures verify.\n"
                "\n");
    for (size_t i = 0; i < VERBS; i++)
        text_add(t, "  %-18s %s\n", verbs[i]->name, verbs[i]->summary);
    text_add(t, "\n"
                "Options of every verb:\n"
                "  --threads N   threads to use (default: as many as the machine has); proofs are the same "
                "for every N\n"
                "  --json        one JSON object on standard output\n"
                "  -q, --quiet   say nothing that is not asked for\n"
                "  -h, --help    this verb's usage\n"
                "  --version     the version of the command (without a verb)\n"
                "\n"
                "A file - is standard input or output. The environment variable "
                "SHEAF_ISA=portable|avx2|avx512|neon caps the vector\n"
                "instructions in use.\n"
                "\n"
                "Exit code: 0 done, accepted; 1 rejected: a proof or a signature is wrong, or not about what "
                "was expected;\n"
                "2 anything else: malformed files or arguments, files that cannot be read or written, "
                "refused signing.\n"
                "\n"
                "Example:\n"
                "  sheaf keygen --epochs 0:16 -o alice.key\n"
                "  sheaf sign --key alice.key --epoch 0 --message-file README.md -o alice.sig.json\n"
                "  sheaf collect alice.sig.json -o signatures.json\n"
                "  sheaf aggregate signatures.json -o attestation.sheaf\n"
                "  sheaf verify attestation.sheaf --message-file README.md --epoch 0\n");
}

static int show_overview(const cli *c) {
    text t = {0};
    overview(&t);
    return text_write(c, &t, "-");
}

static int show_version(const cli *c, int json) {
    text t = {0};
    if (json)
        text_add(&t, "{\"version\": \"" SHEAF_VERSION_STRING "\", \"isa\": \"%s\"}\n", sheaf_isa_name());
    else
        text_add(&t, "sheaf " SHEAF_VERSION_STRING " (%s)\n", sheaf_isa_name());
    return text_write(c, &t, "-");
}

/* sheaf --version and the options of every verb. */
static int run_version(cli *c, int argc, char **argv) {
    char **files;
    int n_files;
    c->verb = "--version";
    if (args_parse(c, argc, argv, NULL, 0, &files, &n_files) != 0)
        return CLI_ERROR;
    if (n_files > 0)
        return cli_error(c, files[0], NULL, "an argument that is not expected");
    return c->help ? show_overview(c) : show_version(c, c->json);
}

/* The verb of one or two words at argv[1]; *words says how many. */
static const verb *find_verb(int argc, char **argv, int *words) {
    for (size_t i = 0; i < VERBS; i++) {
        const char *name = verbs[i]->name, *space = strchr(name, ' ');
        if (space == NULL && strcmp(name, argv[1]) == 0) {
            *words = 1;
            return verbs[i];
        }
        if (space != NULL && argc > 2 && strlen(argv[1]) == (size_t)(space - name) &&
            strncmp(name, argv[1], (size_t)(space - name)) == 0 && strcmp(space + 1, argv[2]) == 0) {
            *words = 2;
            return verbs[i];
        }
    }
    return NULL;
}

/* A first word that only begins verbs ("bench"): says which there are. */
static int unknown_verb(const cli *c, int argc, char **argv) {
    size_t len = strlen(argv[1]);
    int asked = argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
    text t = {0};
    for (size_t i = 0; i < VERBS; i++)
        if (strncmp(verbs[i]->name, argv[1], len) == 0 && verbs[i]->name[len] == ' ')
            text_add(&t, "%s%s", t.len > 0 ? ", " : "", verbs[i]->name);
    int code = CLI_ERROR;
    if (t.len == 0)
        cli_error(c, argv[1], NULL, "unknown verb (see sheaf --help)");
    else if (!asked)
        cli_error(c, argv[1], NULL, "needs a second word: %s", t.buf);
    text_free(&t);
    if (asked && t.len == 0) { /* the usage of every verb that begins so */
        for (size_t i = 0; i < VERBS; i++)
            if (strncmp(verbs[i]->name, argv[1], len) == 0 && verbs[i]->name[len] == ' ')
                text_add(&t, "%s%s", t.len > 0 ? "\n" : "", verbs[i]->help);
        if (t.len > 0)
            code = text_write(c, &t, "-");
    }
    return code;
}

int main(int argc, char **argv) {
    cli c = {.verb = ""};
    cli_prepare_process();
    if (argc < 2) {
        cli_error(&c, NULL, NULL, "a verb is needed (see sheaf --help)");
        return CLI_ERROR;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return show_overview(&c);
    if (strcmp(argv[1], "--version") == 0)
        return run_version(&c, argc - 1, argv + 1);
    int words = 0;
    const verb *v = find_verb(argc, argv, &words);
    if (v == NULL)
        return unknown_verb(&c, argc, argv);
    c.verb = v->name;
    const char *isa = getenv("SHEAF_ISA");
    if (!kernels_cap_known(isa))
        return cli_error(&c, NULL, "SHEAF_ISA", "%s is none of portable, avx2, avx512, neon", isa);
    int code = v->run(&c, argc - words, argv + words);
    if (code == CLI_OK && c.help) {
        text t = {0};
        text_add(&t, "%s", v->help);
        return text_write(&c, &t, "-");
    }
    return code;
}
