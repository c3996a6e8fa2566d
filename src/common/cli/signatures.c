/* Files of keys and signatures, read strictly and written.   docs/protocol.md 10.2 - 10.4.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include "../base/io.h"
#include "cli.h"

/* ---- JSON: every field is there once, of its type, and there are no others ---- */

static const char *or_top(const char *path) {
    return path[0] != '\0' ? path : NULL;
}

/* "signatures[3]" and "publicKey" make "signatures[3].publicKey". */
static const char *join(char *out, size_t cap, const char *path, const char *name) {
    snprintf(out, cap, "%s%s%s", path, path[0] != '\0' ? "." : "", name);
    return out;
}

enum { PATH_ROOM = 96 };

static int json_fields(const cli *c, const char *file, const char *path, const cJSON *object,
                       const char *const *names, const cJSON **fields, size_t n) {
    char at[PATH_ROOM];
    if (!cJSON_IsObject(object))
        return cli_error(c, file, or_top(path), "not an object");
    for (size_t i = 0; i < n; i++)
        fields[i] = NULL;
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        size_t i = 0;
        while (i < n && strcmp(names[i], item->string) != 0)
            i++;
        if (i == n)
            return cli_error(c, file, join(at, sizeof at, path, item->string), "unknown field");
        if (fields[i] != NULL)
            return cli_error(c, file, join(at, sizeof at, path, names[i]), "given twice");
        fields[i] = item;
    }
    for (size_t i = 0; i < n; i++)
        if (fields[i] == NULL)
            return cli_error(c, file, join(at, sizeof at, path, names[i]), "missing");
    return CLI_OK;
}

static int json_hex(const cli *c, const char *file, const char *path, const char *name, const cJSON *item,
                    uint8_t *out, size_t n) {
    char at[PATH_ROOM];
    join(at, sizeof at, path, name);
    if (!cJSON_IsString(item))
        return cli_error(c, file, at, "not a string");
    const char *s = item->valuestring;
    if (s[0] != '0' || s[1] != 'x')
        return cli_error(c, file, at, "does not begin with 0x");
    size_t digits = strlen(s + 2);
    if (digits != 2 * n)
        return cli_error(c, file, at, "%zu hex digits, %zu are needed (%zu bytes)", digits, 2 * n, n);
    if (parse_hex(out, n, s + 2) != 0)
        return cli_error(c, file, at, "not hex digits");
    return CLI_OK;
}

static int json_scheme(const cli *c, const char *file, const cJSON *item) {
    if (!cJSON_IsString(item))
        return cli_error(c, file, "scheme", "not a string");
    if (strcmp(item->valuestring, CLI_SCHEME) != 0)
        return cli_error(c, file, "scheme", "not " CLI_SCHEME);
    return CLI_OK;
}

static int json_epoch(const cli *c, const char *file, const cJSON *item, int plain, uint32_t *epoch) {
    if (!cJSON_IsNumber(item))
        return cli_error(c, file, "epoch", "not a number");
    double v = item->valuedouble;
    if (!(v >= 0 && v <= 4294967295.0) || v != (double)(uint32_t)v)
        return cli_error(c, file, "epoch", "not an integer in 0..4294967295");
    if (!plain)
        return cli_error(c, file, "epoch", "not digits alone");
    *epoch = (uint32_t)v;
    return CLI_OK;
}

/* The parser takes more than RFC 8259 has: numbers as strtod reads them, any control byte as white space, and
 * inside strings, a byte order mark. So the text is looked at first, token by token. */

static const char *skip_digits(const char *p) {
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

/* The end of the number at p, or NULL where it is none; *plain is set to 0 unless it is digits alone. */
static const char *skip_number(const char *p, int *plain) {
    const char *begin = p, *whole = p + (*p == '-');
    p = skip_digits(whole);
    if (p == whole || (*whole == '0' && p != whole + 1))
        return NULL;
    const char *digits_end = p;
    if (*p == '.') {
        p = skip_digits(p + 1);
        if (p == digits_end + 1)
            return NULL;
    }
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        const char *power = p;
        p = skip_digits(p);
        if (p == power)
            return NULL;
    }
    if (whole != begin || p != digits_end)
        *plain = 0;
    return p;
}

/* The end of the string at p, or the control byte in it, or the text's end. */
static const char *skip_string(const char *p) {
    for (p++; (unsigned char)*p >= 0x20 && *p != '"'; p++)
        if (*p == '\\' && p[1] != '\0')
            p++;
    return p;
}

/* What is wrong with the tokens of a text without zero bytes, *at being where; NULL if nothing is. */
static const char *json_bad_token(const char *source, const char **at, int *plain) {
    const char *p = source;
    *plain = 1;
    while (*p != '\0') {
        *at = p;
        if (*p == '"') {
            *at = p = skip_string(p);
            if (*p != '"' && *p != '\0')
                return "a control byte in a string";
            p += *p == '"';
        } else if (*p == '-' || (*p >= '0' && *p <= '9')) {
            p = skip_number(p, plain);
            if (p == NULL)
                return "a number as JSON has none";
        } else if ((*p >= 'a' && *p <= 'z') || strchr(" \t\n\r{}[]:,", *p) != NULL) {
            p++;
        } else {
            return "a byte that JSON has not outside of strings";
        }
    }
    return NULL;
}

/* The document, for cJSON_Delete; NULL with the error printed. *plain: every number in it is digits alone. */
static cJSON *json_parse(const cli *c, const char *file, const uint8_t *data, size_t len, int *plain) {
    const char *source = (const char *)data, *end = source;
    *plain = 0;
    if (memchr(data, 0, len) != NULL || strstr(source, "\\u0000") != NULL) {
        cli_error(c, file, NULL, "not JSON: it holds a zero character");
        return NULL;
    }
    if (strncmp(source, "\xef\xbb\xbf", 3) == 0) {
        cli_error(c, file, NULL, "not JSON: it begins with a byte order mark");
        return NULL;
    }
    const char *at = source, *wrong = json_bad_token(source, &at, plain);
    if (wrong != NULL) {
        unsigned long line = 1, column = 1;
        for (const char *p = source; p < at; p++) {
            line += *p == '\n';
            column = *p == '\n' ? 1 : column + 1;
        }
        cli_error(c, file, NULL, "not JSON: line %lu, column %lu: %s", line, column, wrong);
        return NULL;
    }
    cJSON *document = cJSON_ParseWithLengthOpts(source, len + 1, &end, 1);
    if (document == NULL) {
        unsigned long line = 1;
        for (const char *p = source; p < end; p++)
            line += *p == '\n';
        cli_error(c, file, NULL, "not JSON: line %lu is not understood", line);
    }
    return document;
}

/* ---- signatures ---- */

enum { BINARY_VERSION = 1, BINARY_SCHEME = 1, BINARY_HEADER = 56 };
static const uint8_t binary_magic[8] = {0x53, 0x48, 0x53, 0x49, 0x47, 0x0d, 0x0a, 0x1a};
_Static_assert(sizeof(sheaf_entry) == SHEAF_KEY_BYTES + SHEAF_SIGNATURE_BYTES, "an entry has no padding");

static sheaf_entry *entries_alloc(const cli *c, const char *file, signature_set *s, size_t n) {
    s->entries = calloc(n, sizeof *s->entries);
    s->n = n;
    if (s->entries == NULL)
        cli_error(c, file, NULL, "out of memory");
    return s->entries;
}

static int entry_fields(const cli *c, const char *file, const char *path, sheaf_entry *e, const cJSON *key,
                        const cJSON *signature) {
    if (json_hex(c, file, path, "publicKey", key, e->public_key, SHEAF_KEY_BYTES) != CLI_OK)
        return CLI_ERROR;
    return json_hex(c, file, path, "signature", signature, e->signature, SHEAF_SIGNATURE_BYTES);
}

/* scheme, epoch, message: the first three fields of both forms. */
static int common_fields(const cli *c, const char *file, signature_set *s, const cJSON *const *fields,
                         int plain) {
    if (json_scheme(c, file, fields[0]) != CLI_OK ||
        json_epoch(c, file, fields[1], plain, &s->epoch) != CLI_OK)
        return CLI_ERROR;
    return json_hex(c, file, "", "message", fields[2], s->message, SHEAF_MESSAGE_BYTES);
}

static int read_single(const cli *c, const char *file, const cJSON *document, int plain, signature_set *s) {
    static const char *const names[] = {"scheme", "epoch", "message", "publicKey", "signature"};
    const cJSON *fields[5];
    if (json_fields(c, file, "", document, names, fields, 5) != CLI_OK ||
        common_fields(c, file, s, fields, plain) != CLI_OK || entries_alloc(c, file, s, 1) == NULL)
        return CLI_ERROR;
    return entry_fields(c, file, "", s->entries, fields[3], fields[4]);
}

static int read_list(const cli *c, const char *file, const cJSON *document, int plain, signature_set *s) {
    static const char *const names[] = {"scheme", "epoch", "message", "signatures"};
    static const char *const entry_names[] = {"publicKey", "signature"};
    const cJSON *fields[4], *entry[2];
    if (json_fields(c, file, "", document, names, fields, 4) != CLI_OK ||
        common_fields(c, file, s, fields, plain) != CLI_OK)
        return CLI_ERROR;
    if (!cJSON_IsArray(fields[3]))
        return cli_error(c, file, "signatures", "not an array");
    size_t n = 0, i = 0;
    for (const cJSON *item = fields[3]->child; item != NULL; item = item->next)
        n++;
    if (n == 0 || n > SHEAF_MAX_SIGNERS)
        return cli_error(c, file, "signatures", "%zu entries, 1..%d can be", n, SHEAF_MAX_SIGNERS);
    if (entries_alloc(c, file, s, n) == NULL)
        return CLI_ERROR;
    for (const cJSON *item = fields[3]->child; item != NULL; item = item->next, i++) {
        char path[PATH_ROOM / 2];
        snprintf(path, sizeof path, "signatures[%zu]", i);
        if (json_fields(c, file, path, item, entry_names, entry, 2) != CLI_OK ||
            entry_fields(c, file, path, &s->entries[i], entry[0], entry[1]) != CLI_OK)
            return CLI_ERROR;
    }
    return CLI_OK;
}

static int read_binary(const cli *c, const char *file, const uint8_t *in, size_t len, signature_set *s) {
    if (len < BINARY_HEADER)
        return cli_error(c, file, "header", "cut short, %zu of %d bytes", len, BINARY_HEADER);
    unsigned version = (unsigned)in[8] | (unsigned)in[9] << 8,
             scheme = (unsigned)in[10] | (unsigned)in[11] << 8;
    uint32_t n = load32_le(in + 12);
    if (version != BINARY_VERSION)
        return cli_error(c, file, "version", "%u, this build reads version %d", version, BINARY_VERSION);
    if (scheme != BINARY_SCHEME)
        return cli_error(c, file, "scheme", "%u is not known", scheme);
    if (n == 0 || n > SHEAF_MAX_SIGNERS)
        return cli_error(c, file, "count", "%lu is not in 1..%d", (unsigned long)n, SHEAF_MAX_SIGNERS);
    if (load32_le(in + 20) != 0)
        return cli_error(c, file, "reserved", "the four bytes at 20 are not zero");
    size_t entries = n * sizeof(sheaf_entry);
    if (len - BINARY_HEADER < entries)
        return cli_error(c, file, "entries", "cut short, %zu of %zu bytes", len - BINARY_HEADER, entries);
    if (len - BINARY_HEADER > entries)
        return cli_error(c, file, "end", "%zu bytes are left over", len - BINARY_HEADER - entries);
    s->epoch = load32_le(in + 16);
    memcpy(s->message, in + 24, SHEAF_MESSAGE_BYTES);
    if (entries_alloc(c, file, s, n) == NULL)
        return CLI_ERROR;
    memcpy(s->entries, in + BINARY_HEADER, entries);
    return CLI_OK;
}

int signatures_read(const cli *c, const char *file, signature_set *s) {
    uint8_t *data;
    size_t len;
    memset(s, 0, sizeof *s);
    if (cli_read(c, file, CLI_FILE_LIMIT, &data, &len) != CLI_OK)
        return CLI_ERROR;
    int code = CLI_ERROR;
    if (len >= sizeof binary_magic && memcmp(data, binary_magic, sizeof binary_magic) == 0) {
        code = read_binary(c, file, data, len, s);
    } else {
        int plain;
        cJSON *document = json_parse(c, file, data, len, &plain);
        if (document != NULL)
            code = cJSON_GetObjectItemCaseSensitive(document, "signatures") != NULL
                       ? read_list(c, file, document, plain, s)
                       : read_single(c, file, document, plain, s);
        cJSON_Delete(document);
    }
    io_free(data, len);
    if (code != CLI_OK)
        signatures_free(s);
    return code;
}

void signatures_free(signature_set *s) {
    free(s->entries);
    memset(s, 0, sizeof *s);
}

static void common_json(text *t, uint32_t epoch, const uint8_t *message) {
    text_add(
        t, "{\n  \"scheme\": \"" CLI_SCHEME "\",\n  \"epoch\": %lu,\n  \"message\": ", (unsigned long)epoch);
    text_json_hex(t, message, SHEAF_MESSAGE_BYTES);
    text_add(t, ",\n");
}

void signature_one_json(text *t, uint32_t epoch, const uint8_t *message, const sheaf_entry *e) {
    common_json(t, epoch, message);
    text_add(t, "  \"publicKey\": ");
    text_json_hex(t, e->public_key, SHEAF_KEY_BYTES);
    text_add(t, ",\n  \"signature\": ");
    text_json_hex(t, e->signature, SHEAF_SIGNATURE_BYTES);
    text_add(t, "\n}\n");
}

void signatures_json(text *t, const signature_set *s) {
    common_json(t, s->epoch, s->message);
    text_add(t, "  \"signatures\": [\n");
    for (size_t i = 0; i < s->n; i++) {
        text_add(t, "    {\n      \"publicKey\": ");
        text_json_hex(t, s->entries[i].public_key, SHEAF_KEY_BYTES);
        text_add(t, ",\n      \"signature\": ");
        text_json_hex(t, s->entries[i].signature, SHEAF_SIGNATURE_BYTES);
        text_add(t, "\n    }%s\n", i + 1 < s->n ? "," : "");
    }
    text_add(t, "  ]\n}\n");
}

void signatures_binary(text *t, const signature_set *s) {
    uint8_t header[BINARY_HEADER] = {0};
    memcpy(header, binary_magic, sizeof binary_magic);
    header[8] = BINARY_VERSION;
    header[10] = BINARY_SCHEME;
    store32_le(header + 12, (uint32_t)s->n);
    store32_le(header + 16, s->epoch);
    memcpy(header + 24, s->message, SHEAF_MESSAGE_BYTES);
    text_bytes(t, header, sizeof header);
    text_bytes(t, s->entries, s->n * sizeof *s->entries);
}

/* ---- keys ---- */

int keys_read(const cli *c, const char *file, uint8_t **keys, size_t *n) {
    static const char *const names[] = {"scheme", "publicKeys"};
    const cJSON *fields[2];
    uint8_t *data;
    size_t len, i = 0;
    *keys = NULL;
    *n = 0;
    if (cli_read(c, file, CLI_FILE_LIMIT, &data, &len) != CLI_OK)
        return CLI_ERROR;
    int plain; /* there are no numbers in it */
    cJSON *document = json_parse(c, file, data, len, &plain);
    io_free(data, len);
    if (document == NULL)
        return CLI_ERROR;
    int code = json_fields(c, file, "", document, names, fields, 2);
    if (code == CLI_OK)
        code = json_scheme(c, file, fields[0]);
    if (code == CLI_OK && !cJSON_IsArray(fields[1]))
        code = cli_error(c, file, "publicKeys", "not an array");
    if (code == CLI_OK) {
        for (const cJSON *item = fields[1]->child; item != NULL; item = item->next)
            ++*n;
        if (*n == 0 || *n > SHEAF_MAX_SIGNERS)
            code = cli_error(c, file, "publicKeys", "%zu entries, 1..%d can be", *n, SHEAF_MAX_SIGNERS);
        else if ((*keys = malloc(*n * SHEAF_KEY_BYTES)) == NULL)
            code = cli_error(c, file, NULL, "out of memory");
    }
    for (const cJSON *item = code == CLI_OK ? fields[1]->child : NULL; item != NULL && code == CLI_OK;
         item = item->next, i++) {
        char name[PATH_ROOM / 2];
        snprintf(name, sizeof name, "publicKeys[%zu]", i);
        code = json_hex(c, file, "", name, item, *keys + i * SHEAF_KEY_BYTES, SHEAF_KEY_BYTES);
    }
    cJSON_Delete(document);
    if (code != CLI_OK) {
        free(*keys);
        *keys = NULL;
        *n = 0;
    }
    return code;
}

void keys_json(text *t, const uint8_t *keys, size_t n) {
    text_add(t, "{\n  \"scheme\": \"" CLI_SCHEME "\",\n  \"publicKeys\": [\n");
    for (size_t i = 0; i < n; i++) {
        text_add(t, "    ");
        text_json_hex(t, keys + i * SHEAF_KEY_BYTES, SHEAF_KEY_BYTES);
        text_add(t, "%s\n", i + 1 < n ? "," : "");
    }
    text_add(t, "  ]\n}\n");
}
