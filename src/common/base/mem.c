/* Counted, aligned memory.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base.h"

enum { ALIGN = 64 };

/* What lies just below an aligned block. */
typedef struct header {
    void *start;  /* what the allocator gave */
    size_t bytes; /* what was asked of it */
} header;

static void count_up(mem *m, size_t bytes) {
    size_t now = __atomic_add_fetch(&m->current, bytes, __ATOMIC_RELAXED);
    size_t peak = __atomic_load_n(&m->peak, __ATOMIC_RELAXED);
    while (now > peak &&
           !__atomic_compare_exchange_n(&m->peak, &peak, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void *alloc(mem *m, size_t bytes, int zero) {
    const size_t extra = sizeof(header) + ALIGN - 1;
    if (bytes == 0 || bytes > SIZE_MAX - extra)
        return NULL;
    size_t total = bytes + extra;
    int own = m == NULL || m->alloc_fn == NULL;
    /* calloc knows which pages are zero already. */
    void *start = !own ? m->alloc_fn(m->ctx, total) : zero ? calloc(1, total) : malloc(total);
    if (start == NULL)
        return NULL;
    uint8_t *p = (uint8_t *)start + sizeof(header);
    p += (ALIGN - ((uintptr_t)p & (ALIGN - 1))) & (ALIGN - 1);
    const header h = {start, total};
    memcpy(p - sizeof h, &h, sizeof h);
    if (zero && !own)
        memset(p, 0, bytes);
    if (m != NULL)
        count_up(m, total);
    return p;
}

void *mem_alloc(mem *m, size_t bytes) {
    return alloc(m, bytes, 0);
}

void *mem_alloc_zero(mem *m, size_t bytes) {
    return alloc(m, bytes, 1);
}

void mem_free(mem *m, void *p) {
    if (p == NULL)
        return;
    header h;
    memcpy(&h, (uint8_t *)p - sizeof h, sizeof h);
    if (m != NULL)
        __atomic_sub_fetch(&m->current, h.bytes, __ATOMIC_RELAXED);
    if (m != NULL && m->alloc_fn != NULL) {
        if (m->free_fn != NULL)
            m->free_fn(m->ctx, h.start);
    } else {
        free(h.start);
    }
}
