/* Wiping memory within this layer.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_WIPE_H
#define SHEAF_WIPE_H

#include <string.h>

static inline void wipe(void *p, size_t len) {
    if (p == NULL || len == 0)
        return;
    memset(p, 0, len);
    __asm__ volatile("" : : "r"(p) : "memory"); /* the bytes count as read: the store stays */
}

#endif
