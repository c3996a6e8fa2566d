/* Text that grows, for JSON and reports.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

/* Room for n more bytes and a terminator; NULL when there is none. */
static char *reserve(text *t, size_t n) {
    if (t->failed)
        return NULL;
    if (t->cap - t->len <= n) {
        size_t cap = t->cap < 1024 ? 1024 : t->cap;
        while (cap - t->len <= n && cap <= SIZE_MAX / 2)
            cap *= 2;
        char *buf = cap - t->len > n ? realloc(t->buf, cap) : NULL;
        if (buf == NULL) {
            t->failed = 1;
            return NULL;
        }
        t->buf = buf;
        t->cap = cap;
    }
    return t->buf + t->len;
}

void text_add(text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *at = n < 0 ? NULL : reserve(t, (size_t)n);
    if (at == NULL) {
        t->failed = 1;
        return;
    }
    va_start(args, fmt);
    vsnprintf(at, (size_t)n + 1, fmt, args);
    va_end(args);
    t->len += (size_t)n;
}

void text_bytes(text *t, const void *bytes, size_t n) {
    char *at = reserve(t, n);
    if (at == NULL)
        return;
    memcpy(at, bytes, n);
    at[n] = '\0';
    t->len += n;
}

void text_hex(text *t, const uint8_t *bytes, size_t n) {
    static const char digits[] = "0123456789abcdef";
    char *at = reserve(t, 2 * n + 2);
    if (at == NULL)
        return;
    *at++ = '0';
    *at++ = 'x';
    for (size_t i = 0; i < n; i++) {
        *at++ = digits[bytes[i] >> 4];
        *at++ = digits[bytes[i] & 15];
    }
    *at = '\0';
    t->len += 2 * n + 2;
}

void text_json_string(text *t, const char *s) {
    text_add(t, "\"");
    for (; *s != '\0'; s++) {
        unsigned char ch = (unsigned char)*s;
        if (ch == '"' || ch == '\\')
            text_add(t, "\\%c", ch);
        else if (ch < 0x20)
            text_add(t, "\\u%04x", ch);
        else
            text_add(t, "%c", ch);
    }
    text_add(t, "\"");
}

void text_json_begin(text *t, const char *file) {
    text_add(t, "{\n  \"file\": ");
    text_json_string(t, file);
}

void text_json_hex(text *t, const uint8_t *bytes, size_t n) {
    text_add(t, "\"");
    text_hex(t, bytes, n);
    text_add(t, "\"");
}

void text_free(text *t) {
    free(t->buf);
    memset(t, 0, sizeof *t);
}

int text_write(const cli *c, text *t, const char *file) {
    int code = CLI_OK;
    if (t->failed)
        code = cli_error(c, NULL, NULL, "out of memory");
    else if (t->len > 0)
        code = cli_write(c, file, t->buf, t->len);
    text_free(t);
    return code;
}
