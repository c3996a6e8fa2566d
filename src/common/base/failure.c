/* Filling in what failed.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include "base.h"

void failure_set(sheaf_failure *f, sheaf_status status, sheaf_check check, uint64_t index, const char *fmt,
                 ...) {
    if (f == NULL)
        return;
    f->status = status;
    f->check = check;
    f->index = index;
    char text[sizeof f->message];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0)
        text[0] = '\0';
    /* One line, whatever a file's name or bytes brought in: control characters as the command shows them. */
    char *at = f->message, *const end = at + sizeof f->message - 1;
    for (const char *c = text; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        const int control = byte < 0x20 || byte == 0x7f;
        if (end - at < (control ? 4 : 1))
            break;
        if (control) {
            *at++ = '\\';
            *at++ = 'x';
            *at++ = "0123456789abcdef"[byte >> 4];
            *at++ = "0123456789abcdef"[byte & 15];
        } else {
            *at++ = *c;
        }
    }
    *at = '\0';
}
