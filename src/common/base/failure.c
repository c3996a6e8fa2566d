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
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(f->message, sizeof f->message, fmt, args);
    va_end(args);
    if (n < 0)
        f->message[0] = '\0';
    /* One line, whatever a file's name or bytes brought in. */
    for (char *c = f->message; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}
