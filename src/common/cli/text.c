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

/* The length of the UTF-8 character at s, at most 4 bytes, and its number; 0 where there is none (a byte that
 * begins none, a character that is cut short, longer than it need be, a surrogate, or past the last). */
static size_t utf8_at(const char *s, uint32_t *number) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)s;
    size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (n > 1 && (p[0] < 0xc0 || p[0] > 0xf7))
        return 0;
    uint32_t v = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) /* the terminator is none either */
            return 0;
        v = v << 6 | (p[i] & 0x3fu);
    }
    if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return 0;
    *number = v;
    return n;
}

static int is_control(uint32_t number) {
    return number < 0x20 || (number >= 0x7f && number < 0xa0);
}

void text_plain(text *t, const char *s) {
    while (*s != '\0') {
        uint32_t number = 0;
        size_t n = utf8_at(s, &number), shown = n > 0 ? n : 1;
        if (n > 0 && !is_control(number))
            text_bytes(t, s, n);
        else
            for (size_t i = 0; i < shown; i++)
                text_add(t, "\\x%02x", (unsigned)(unsigned char)s[i]);
        s += shown;
    }
}

void text_json_string(text *t, const char *s) {
    text_add(t, "\"");
    while (*s != '\0') {
        uint32_t number = 0xfffd; /* the replacement character, for a byte that is not UTF-8 */
        size_t n = utf8_at(s, &number);
        if (*s == '"' || *s == '\\')
            text_add(t, "\\%c", *s);
        else if (n == 0 || is_control(number))
            text_add(t, "\\u%04lx", (unsigned long)number);
        else
            text_bytes(t, s, n);
        s += n > 0 ? n : 1;
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
