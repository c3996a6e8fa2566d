/* Arguments and error lines of the command.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <getopt.h>
#include <stdarg.h>
#include <string.h>
#include "cli.h"

static void print_plain(const char *s) {
    text t = {0};
    text_plain(&t, s);
    if (!t.failed && t.buf != NULL)
        fputs(t.buf, stderr);
    else /* no memory: what is plain anyway */
        for (; *s != '\0'; s++)
            fputc(*s >= 0x20 && *s < 0x7f ? *s : '?', stderr);
    text_free(&t);
}

int cli_error(const cli *c, const char *file, const char *field, const char *fmt, ...) {
    char what[512];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(what, sizeof what, fmt, args) < 0)
        what[0] = '\0';
    va_end(args);
    fprintf(stderr, "sheaf%s%s: ", c->verb[0] != '\0' ? " " : "", c->verb);
    if (file != NULL) {
        print_plain(cli_name(file, 0));
        fputs(": ", stderr);
    }
    if (field != NULL) {
        print_plain(field);
        fputs(": ", stderr);
    }
    print_plain(what);
    fputc('\n', stderr);
    return CLI_ERROR;
}

int cli_status_code(sheaf_status status) {
    if (status == SHEAF_OK)
        return CLI_OK;
    return status == SHEAF_REJECTED || status == SHEAF_BAD_SIGNATURE ? CLI_REJECTED : CLI_ERROR;
}

int cli_failure(const cli *c, const char *file, sheaf_status status, const sheaf_failure *f) {
    const char *what =
        f != NULL && f->status == status && f->message[0] != '\0' ? f->message : sheaf_status_text(status);
    /* A message that names the file already is not led by its name once more. */
    text said = {0}, name = {0};
    text_plain(&said, what);
    text_plain(&name, file != NULL ? cli_name(file, 0) : "");
    const int named = name.len > 0 && said.len > 0 && strstr(said.buf, name.buf) != NULL;
    text_free(&said);
    text_free(&name);
    cli_error(c, named ? NULL : file, NULL, "%s", what);
    return cli_status_code(status);
}

int cli_rejection(const cli *c, const char *file, sheaf_status status, const sheaf_failure *f) {
    if (status != SHEAF_REJECTED)
        return cli_failure(c, file, status, f);
    cli_error(c, file, "rejected", "%s (check %s, index %llu)", f->message, sheaf_check_name(f->check),
              (unsigned long long)f->index);
    return CLI_REJECTED;
}

int parse_number(uint64_t *out, const char *digits, uint64_t max) {
    uint64_t v = 0;
    if (*digits == '\0')
        return -1;
    for (; *digits != '\0'; digits++) {
        if (*digits < '0' || *digits > '9')
            return -1;
        uint64_t digit = (uint64_t)(*digits - '0');
        if (digit > max || v > (max - digit) / 10)
            return -1;
        v = 10 * v + digit;
    }
    *out = v;
    return 0;
}

static int hex_digit(char ch) {
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    if (ch >= 'a' && ch <= 'f')
        return ch - 'a' + 10;
    return ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : -1;
}

int parse_hex(uint8_t *out, size_t n, const char *digits) {
    for (size_t i = 0; i < n; i++) {
        int high = hex_digit(digits[2 * i]);
        int low = high < 0 ? -1 : hex_digit(digits[2 * i + 1]);
        if (low < 0)
            return -1;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return digits[2 * n] == '\0' ? 0 : -1;
}

static int store_hex32(const cli *c, const char *option, uint8_t *to, const char *digits) {
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        digits += 2;
    return parse_hex(to, 32, digits) == 0 ? CLI_OK
                                          : cli_error(c, NULL, option, "not 32 bytes in hex (64 digits)");
}

static int store_value(const cli *c, const arg_spec *s, char *value) {
    char option[40];
    snprintf(option, sizeof option, "--%s", s->name);
    uint64_t number = 0;
    switch (s->type) {
    case ARG_FLAG:
        *(int *)s->to = 1;
        return 0;
    case ARG_TEXT:
        *(const char **)s->to = value;
        return 0;
    case ARG_NUMBER:
        if (parse_number(&number, value, s->max) != 0 || number < s->min)
            return cli_error(c, NULL, option, "%s is not a number in %lu..%lu", value, (unsigned long)s->min,
                             (unsigned long)s->max);
        *(uint32_t *)s->to = (uint32_t)number;
        return 0;
    case ARG_HEX32:
        return store_hex32(c, option, s->to, value);
    case ARG_SEED: {
        int code = store_hex32(c, option, s->to, value);
        for (volatile char *p = value; *p != '\0'; p++)
            *p = '*';
        return code;
    }
    }
    return CLI_ERROR;
}

/* The option that getopt_long did not take: a long one is in argv, a short one in optopt. */
static int bad_option(const cli *c, int result, char **argv) {
    char letter[3] = {'-', (char)optopt, '\0'};
    const char *name = optopt > 0 && optopt < 128 ? letter : argv[optind - 1];
    if (result == ':')
        return cli_error(c, NULL, argv[optind - 1], "needs a value");
    return cli_error(c, NULL, name, "unknown option, or a value where none is taken (see sheaf %s --help)",
                     c->verb);
}

int args_parse(cli *c, int argc, char **argv, const arg_spec *specs, size_t n, char ***files, int *n_files) {
    enum { LONG_BASE = 256 };
    arg_spec all[ARGS_MOST + 4];
    struct option options[ARGS_MOST + 5];
    char letters[2 * (ARGS_MOST + 4) + 2] = ":"; /* tells a missing value from an unknown option */
    int given[ARGS_MOST + 4] = {0};
    const arg_spec common[] = {{"json", 0, ARG_FLAG, &c->json, NULL, 0, 0},
                               {"quiet", 'q', ARG_FLAG, &c->quiet, NULL, 0, 0},
                               {"threads", 0, ARG_NUMBER, &c->threads, NULL, 1, 1024},
                               {"help", 'h', ARG_FLAG, &c->help, NULL, 0, 0}};
    const size_t n_common = sizeof common / sizeof common[0];
    if (n > ARGS_MOST)
        return CLI_ERROR;
    if (n > 0)
        memcpy(all, specs, n * sizeof *specs);
    memcpy(all + n, common, sizeof common);
    n += n_common;
    size_t at = 1;
    for (size_t i = 0; i < n; i++) {
        int takes = all[i].type != ARG_FLAG;
        options[i] =
            (struct option){all[i].name, takes ? required_argument : no_argument, NULL, LONG_BASE + (int)i};
        if (all[i].letter != 0) {
            letters[at++] = all[i].letter;
            if (takes)
                letters[at++] = ':';
        }
    }
    letters[at] = '\0';
    memset(&options[n], 0, sizeof options[n]);

    opterr = 0;
    optind = 1;
    for (;;) {
        int result = getopt_long(argc, argv, letters, options, NULL);
        if (result == -1)
            break;
        if (result == '?' || result == ':')
            return bad_option(c, result, argv);
        size_t i = 0;
        while (i < n && result != LONG_BASE + (int)i && (all[i].letter == 0 || result != all[i].letter))
            i++;
        if (given[i]++ != 0) {
            char option[40];
            snprintf(option, sizeof option, "--%s", all[i].name);
            return cli_error(c, NULL, option, "given twice");
        }
        if (all[i].seen != NULL)
            *all[i].seen = 1;
        if (store_value(c, &all[i], optarg) != 0)
            return CLI_ERROR;
    }
    *files = argv + optind;
    *n_files = argc - optind;
    return 0;
}

int args_one_file(cli *c, int argc, char **argv, const char *what, const char **file) {
    char **files;
    int n_files;
    *file = NULL;
    if (args_parse(c, argc, argv, NULL, 0, &files, &n_files) != 0)
        return CLI_ERROR;
    if (!c->help && n_files != 1)
        return cli_error(c, NULL, NULL, "one %s is needed, %d are given", what, n_files);
    *file = c->help ? NULL : files[0];
    return CLI_OK;
}
