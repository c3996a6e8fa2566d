/* Blocks that wait for the next proof.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifdef __linux__
#define _DEFAULT_SOURCE /* madvise */
#include <sys/mman.h>
#include <unistd.h>
#endif
#include "keep.h"

/* Under the address sanitizer what waits may not be touched. */
#if defined(__SANITIZE_ADDRESS__)
#define KEEP_POISONS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEP_POISONS
#endif
#endif
#ifdef KEEP_POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

/* What a block begins with. */
typedef struct keep_block {
    size_t bytes; /* of the whole block */
    struct keep_block *next;
} keep_block;

_Static_assert(sizeof(keep_block) % 8 == 0, "what follows is aligned for words");

static void enter(keep *k) {
    while (__atomic_exchange_n(&k->lock, 1, __ATOMIC_ACQUIRE) != 0) {
    } /* a walk over a few dozen blocks at most */
}

static void leave(keep *k) {
    __atomic_store_n(&k->lock, 0, __ATOMIC_RELEASE);
}

static void poison(keep_block *b) {
    ASAN_POISON_MEMORY_REGION(b + 1, b->bytes - sizeof *b);
}

static void unpoison(keep_block *b) {
    ASAN_UNPOISON_MEMORY_REGION(b + 1, b->bytes - sizeof *b);
}

/* The smallest waiting block that has so many bytes, and less than a thirty-second of them to waste. */
static keep_block *take_waiting(keep *k, size_t bytes) {
    keep_block **best = NULL;
    for (keep_block **at = &k->first; *at != NULL; at = &(*at)->next)
        if ((*at)->bytes >= bytes && (*at)->bytes - bytes <= bytes / 32 &&
            (best == NULL || (*at)->bytes < (*best)->bytes))
            best = at;
    if (best == NULL)
        return NULL;
    keep_block *b = *best;
    *best = b->next;
    k->waiting -= b->bytes;
    return b;
}

/* Takes waiting blocks out, those freed last first, until no more than `bytes` wait. Returns their list. */
static keep_block *take_over(keep *k, size_t bytes) {
    keep_block *list = k->first, *last = NULL;
    while (k->waiting > bytes) {
        last = k->first;
        k->waiting -= last->bytes;
        k->first = last->next;
    }
    if (last == NULL)
        return NULL;
    last->next = NULL;
    return list;
}

static void give_back(keep_block *list) {
    while (list != NULL) {
        keep_block *next = list->next;
        unpoison(list);
        free(list);
        list = next;
    }
}

/* Counts a block in, or (taken 0) out again. */
static void count(keep *k, size_t bytes, int taken) {
    enter(k);
    if (!taken)
        k->in_use -= bytes;
    else if (k->in_use > k->most)
        k->most = k->in_use;
    leave(k);
}

/* Asks for pages of megabytes under a new block: the passes over a layer's bits wait less for addresses to be
 * translated, and fewer pages have to be found. Where there are none nothing changes. */
static void use_huge_pages(void *p, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = ((uintptr_t)p + page - 1) / page * page, end = ((uintptr_t)p + bytes) / page * page;
    if (bytes >= KEEP_HUGE && first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)p;
    (void)bytes;
#endif
}

static void *large(keep *k, size_t bytes) {
    enter(k);
    keep_block *b = take_waiting(k, bytes);
    const size_t got = b != NULL ? b->bytes : bytes;
    k->in_use += got;
    keep_block *over = take_over(k, k->most > k->in_use ? k->most - k->in_use : 0);
    leave(k);
    give_back(over);
    if (b != NULL) {
        unpoison(b);
    } else {
        b = malloc(bytes);
        if (b == NULL) { /* what waits may be what is missing */
            keep_release(k);
            b = malloc(bytes);
        }
        if (b != NULL) {
            use_huge_pages(b, bytes);
            b->bytes = bytes;
        }
    }
    count(k, got, b != NULL);
    return b != NULL ? b + 1 : NULL;
}

static void *keep_alloc(void *ctx, size_t bytes) {
    if (bytes > SIZE_MAX - sizeof(keep_block))
        return NULL;
    bytes += sizeof(keep_block);
    if (bytes >= KEEP_LEAST)
        return large(ctx, bytes);
    keep_block *b = malloc(bytes);
    if (b == NULL)
        return NULL;
    b->bytes = bytes;
    return b + 1;
}

static void keep_free(void *ctx, void *p) {
    keep *k = ctx;
    keep_block *b = (keep_block *)p - 1;
    if (b->bytes < KEEP_LEAST) {
        free(b);
        return;
    }
    poison(b);
    enter(k);
    b->next = k->first;
    k->first = b;
    k->in_use -= b->bytes;
    k->waiting += b->bytes;
    leave(k);
}

void keep_init(keep *k, mem *m) {
    *k = (keep){NULL, 0, 0, 0, 0};
    m->alloc_fn = keep_alloc;
    m->free_fn = keep_free;
    m->ctx = k;
}

void keep_release(keep *k) {
    enter(k);
    keep_block *list = take_over(k, 0);
    leave(k);
    give_back(list);
}
