/* The command: what its verbs share.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_CLI_H
#define SHEAF_CLI_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "sheaf.h"

/* Exit codes. */
enum { CLI_OK = 0, CLI_REJECTED = 1, CLI_ERROR = 2 };

typedef struct cli {
    const char *verb; /* as it was asked for: "hash prove" */
    int json, quiet, help;
    uint32_t threads;      /* 0: as many as the machine has */
    uint32_t log_inv_rate; /* 0: the shape's default */
    uint32_t memory_mib;   /* what proving may take; 0: what the machine has free */
} cli;

/* Prints `sheaf VERB: PLACE: what is wrong` on standard error, PLACE being one or two of a file, an option, a
 * field (NULL: none). Returns CLI_ERROR. */
int cli_error(const cli *c, const char *file, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a failure of the library: its text, or the status's where it has none. Returns the exit code
 * that the status stands for: CLI_REJECTED for SHEAF_REJECTED and SHEAF_BAD_SIGNATURE, else CLI_ERROR. */
int cli_failure(const cli *c, const char *file, sheaf_status status, const sheaf_failure *f);
int cli_status_code(sheaf_status status);
/* As cli_failure, and a rejection names the check that failed. */
int cli_rejection(const cli *c, const char *file, sheaf_status status, const sheaf_failure *f);

/* ---- arguments ---- */
typedef enum arg_type {
    ARG_FLAG,   /* int *to = 1 */
    ARG_TEXT,   /* const char **to */
    ARG_NUMBER, /* uint32_t *to, decimal, min..max */
    ARG_HEX32,  /* uint8_t to[32], 64 hex digits with or without 0x */
    ARG_SEED    /* the same; the argument is overwritten, so that a list of processes no longer shows it */
} arg_type;
typedef struct arg_spec {
    const char *name; /* without the dashes */
    char letter;      /* short form, or 0 */
    arg_type type;
    void *to;
    int *seen; /* set where the option was given; may be NULL */
    uint32_t min, max;
} arg_spec;
enum { ARGS_MOST = 16 };
/* Parses the options of `specs` (at most ARGS_MOST) and the common ones (--json, --quiet, --threads, --help);
 * files[0..*n_files) are the other arguments, in argv's memory. 0, or CLI_ERROR with the error printed. An
 * option given twice is an error. */
int args_parse(cli *c, int argc, char **argv, const arg_spec *specs, size_t n, char ***files, int *n_files);
/* The same for a verb without options of its own that takes one file; *file is NULL where help was asked for.
 */
int args_one_file(cli *c, int argc, char **argv, const char *what, const char **file);
/* A message given as --message HEX or --message-file FILE (its SHAKE256): put both into the specs of a verb.
 */
typedef struct message_args {
    uint8_t message[SHEAF_MESSAGE_BYTES];
    int given; /* after message_resolve: which of the two does not matter */
    const char *file;
} message_args;
#define MESSAGE_SPECS(m)                                                                                     \
    {"message", 0, ARG_HEX32, (m).message, &(m).given, 0, 0}, {                                              \
        "message-file", 0, ARG_TEXT, &(m).file, NULL, 0, 0                                                   \
    }
int message_resolve(const cli *c, message_args *m);
/* Decimal digits alone, at most max. */
int parse_number(uint64_t *out, const char *digits, uint64_t max);
/* Exactly n bytes from 2n hex digits of either case; -1 otherwise. */
int parse_hex(uint8_t *out, size_t n, const char *digits);

/* ---- files and streams ("-") ---- */
enum { CLI_FILE_LIMIT = 1 << 30 };
/* Reads the whole of a file, or of standard input, at most `limit` bytes; *data is from malloc, with a zero
 * byte after its end. 0, or CLI_ERROR with the error printed. */
int cli_read(const cli *c, const char *file, size_t limit, uint8_t **data, size_t *len);
/* Writes a file whole or not at all, or standard output. */
int cli_write(const cli *c, const char *file, const void *data, size_t len);
/* Before long work whose result --output is to get: whether there is any point in it. */
int cli_check_output(const cli *c, const char *file);
const char *cli_name(const char *file, int output); /* "standard input" or "standard output" for "-" */

/* ---- text that grows: JSON output ---- */
typedef struct text {
    char *buf;
    size_t len, cap;
    int failed; /* out of memory */
} text;
void text_add(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_bytes(text *t, const void *bytes, size_t n);
void text_hex(text *t, const uint8_t *bytes, size_t n); /* 0x and digits, without quotes */
void text_json_begin(text *t, const char *file);        /* an object, and in it the field "file" */
void text_json_string(text *t, const char *s);          /* quoted; valid JSON whatever the bytes are */
/* For people: control characters and bytes that are not UTF-8 as \xNN. Every name and field that comes from a
 * file or an argument goes through here: a line stays one line, and no control character reaches a terminal.
 */
void text_plain(text *t, const char *s);
void text_json_hex(text *t, const uint8_t *bytes, size_t n); /* quoted, with 0x */
int text_write(const cli *c, text *t,
               const char *file); /* writes it (nothing, if it is empty) and frees it; 0 or CLI_ERROR */
void text_free(text *t);

/* ---- keys and signatures as files: docs/protocol.md 10 ---- */
#define CLI_SCHEME "leanXMSS"
typedef struct signature_set {
    uint32_t epoch;
    uint8_t message[SHEAF_MESSAGE_BYTES];
    sheaf_entry *entries;
    size_t n;
} signature_set;
/* Reads any of the forms: one signature (JSON), a list (JSON), a list (binary). 0, or CLI_ERROR with the
 * error printed. */
int signatures_read(const cli *c, const char *file, signature_set *s);
void signatures_free(signature_set *s);
/* The same forms written: JSON of one, JSON of a list, binary. */
void signature_one_json(text *t, uint32_t epoch, const uint8_t *message, const sheaf_entry *e);
void signatures_json(text *t, const signature_set *s);
void signatures_binary(text *t, const signature_set *s);
/* keys.json: the public keys in *keys, 32 bytes each, from malloc. */
int keys_read(const cli *c, const char *file, uint8_t **keys, size_t *n);
void keys_json(text *t, const uint8_t *keys, size_t n);

/* ---- a progress bar, and stopping by a signal ---- */
typedef struct progress_bar {
    const char *what;
    double begin, shown_at;
    int enabled, shown;
} progress_bar;
void progress_begin(progress_bar *b, const cli *c, const char *what);
int progress_report(void *bar, double fraction, const char *stage); /* for sheaf_options */
void progress_end(progress_bar *b);                                 /* removes it from the terminal */
/* A file that grows over the process's limit is from now on an error of writing, which cleans up, not the
 * end. */
void cli_prepare_process(void);
/* From now on an interrupt asks the running work to stop; a second one ends the process. */
void progress_catch_signals(void);

/* A context with the command's options and a progress bar. 0 or CLI_ERROR. */
int cli_context(const cli *c, sheaf_context **ctx, progress_bar *bar, const char *what);

/* ---- memory in advance ---- */
#define MEMORY_SPEC(c) {"memory", 0, ARG_NUMBER, &(c)->memory_mib, NULL, 1, UINT32_MAX}
/* CLI_OK where so many bytes are within --memory, or else within what the machine has free; otherwise CLI_ERROR
 * with the error printed: `WHAT of COUNT THINGS takes ...`. */
int cli_check_memory(const cli *c, uint64_t needed, const char *what, uint64_t count, const char *things);
/* The same for a proof of `count` signatures or messages (SHEAF_KIND_...) by this context. */
int cli_check_proof_memory(const cli *c, const sheaf_context *ctx, unsigned kind, uint64_t count);

/* ---- the verbs: argv[0] is the verb ---- */
typedef struct verb {
    const char *name, *summary;
    int (*run)(cli *c, int argc, char **argv);
    const char *help;
} verb;
extern const verb verb_keygen, verb_pubkey, verb_key_status, verb_sign, verb_verify_signature, verb_collect,
    verb_aggregate, verb_verify, verb_inspect, verb_security, verb_hash_prove, verb_hash_verify,
    verb_bench_hash, verb_bench_aggregate, verb_bench_commit, verb_bench_kernels;

#endif
