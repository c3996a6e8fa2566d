/* One region of memory for a whole proof.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifdef __linux__
#define _DEFAULT_SOURCE /* madvise */
#include <sys/mman.h>
#endif
#include "arena.h"

/* Under the address sanitizer what is free may not be touched. */
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS
#endif
#endif
#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { GRAIN = 64, HUGE_PAGE = 1 << 21 };

/* What a gap begins with. */
typedef struct arena_gap {
    size_t bytes;
    struct arena_gap *next;
} arena_gap;

/* What a block begins with, in the region as out of it. */
typedef struct arena_block {
    size_t bytes; /* of the whole block */
    size_t unused;
} arena_block;

_Static_assert(sizeof(arena_gap) <= GRAIN, "every gap has room for its own description");
_Static_assert(sizeof(arena_block) % 8 == 0, "what follows is aligned for words");

static void enter(arena *a) {
    while (__atomic_exchange_n(&a->lock, 1, __ATOMIC_ACQUIRE) != 0) {
    } /* a walk over a few dozen gaps at most */
}

static void leave(arena *a) {
    __atomic_store_n(&a->lock, 0, __ATOMIC_RELEASE);
}

static arena_gap *gap_at(uint8_t *p) {
    return (arena_gap *)(void *)p;
}

static uint8_t *end_of(arena_gap *g) {
    return (uint8_t *)g + g->bytes;
}

/* Makes a gap of all that is there; its description stays accessible. */
static arena_gap *gap_make(uint8_t *p, size_t bytes, arena_gap *next) {
    ASAN_UNPOISON_MEMORY_REGION(p, sizeof(arena_gap));
    arena_gap *g = gap_at(p);
    *g = (arena_gap){bytes, next};
    ASAN_POISON_MEMORY_REGION(p + sizeof *g, bytes - sizeof *g);
    return g;
}

/* From the first gap that is large enough; NULL where none is. */
static uint8_t *take(arena *a, size_t bytes) {
    for (arena_gap **at = &a->gaps; *at != NULL; at = &(*at)->next) {
        arena_gap *g = *at;
        if (g->bytes < bytes)
            continue;
        uint8_t *p = (uint8_t *)g;
        *at = g->bytes > bytes ? gap_make(p + bytes, g->bytes - bytes, g->next) : g->next;
        ASAN_UNPOISON_MEMORY_REGION(p, bytes);
        return p;
    }
    return NULL;
}

static void give(arena *a, uint8_t *p, size_t bytes) {
    arena_gap *before = NULL, *after = a->gaps;
    while (after != NULL && (uint8_t *)after < p) {
        before = after;
        after = after->next;
    }
    if (after != NULL && p + bytes == (uint8_t *)after) {
        bytes += after->bytes;
        after = after->next;
    }
    if (before != NULL && end_of(before) == p)
        gap_make((uint8_t *)before, before->bytes + bytes, after);
    else if (before != NULL)
        before->next = gap_make(p, bytes, after);
    else
        a->gaps = gap_make(p, bytes, after);
}

static void *block_start(uint8_t *p, size_t bytes) {
    if (p == NULL)
        return NULL;
    const arena_block b = {bytes, 0};
    memcpy(p, &b, sizeof b);
    return p + sizeof b;
}

static void *arena_alloc(void *ctx, size_t bytes) {
    arena *a = ctx;
    if (bytes > SIZE_MAX - sizeof(arena_block) - GRAIN)
        return NULL;
    bytes = round_up(bytes + sizeof(arena_block), GRAIN);
    uint8_t *p = NULL;
    if (bytes >= ARENA_LEAST) {
        enter(a);
        if (a->open) {
            p = take(a, bytes);
            a->blocks += p != NULL;
            a->beyond += p == NULL;
        }
        leave(a);
    }
    return block_start(p != NULL ? p : malloc(bytes), bytes);
}

static void arena_free(void *ctx, void *payload) {
    arena *a = ctx;
    arena_block b;
    uint8_t *p = (uint8_t *)payload - sizeof b;
    memcpy(&b, p, sizeof b);
    if ((uintptr_t)p - (uintptr_t)a->region >= a->bytes) { /* the region moves only while it is empty */
        free(p);
        return;
    }
    enter(a);
    give(a, p, b.bytes);
    a->blocks--;
    leave(a);
}

void arena_init(arena *a, mem *m) {
    *a = (arena){0};
    m->alloc_fn = arena_alloc;
    m->free_fn = arena_free;
    m->ctx = a;
}

/* Pages of megabytes: the passes over a layer's bits wait less for addresses to be translated, and fewer
 * pages have to be found. Where there are none nothing changes. */
static void use_huge_pages(uint8_t *region, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes >= ARENA_HUGE)
        (void)madvise(region, bytes, MADV_HUGEPAGE);
#else
    (void)region;
    (void)bytes;
#endif
}

static int region_make(arena *a, size_t bytes) {
    const size_t align = bytes >= ARENA_HUGE ? HUGE_PAGE : GRAIN;
    if (bytes > SIZE_MAX - align)
        return -1;
    bytes = round_up(bytes, align);
    a->region = aligned_alloc(align, bytes);
    if (a->region == NULL)
        return -1;
    use_huge_pages(a->region, bytes);
    a->bytes = bytes;
    a->gaps = gap_make(a->region, bytes, NULL);
    return 0;
}

int arena_open(arena *a, size_t bytes) {
    if (a->bytes < bytes && a->blocks == 0) {
        arena_release(a);
        if (region_make(a, bytes) != 0)
            return -1;
    }
    a->beyond = 0;
    a->open = 1;
    return 0;
}

void arena_close(arena *a) {
    a->open = 0;
}

void arena_release(arena *a) {
    ASAN_UNPOISON_MEMORY_REGION(a->region, a->bytes);
    free(a->region);
    a->region = NULL;
    a->bytes = 0;
    a->gaps = NULL;
}
