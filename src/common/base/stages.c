/* The stage log.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "posix.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include "stages.h"

double stage_seconds(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t stage_cycles(void) {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t v;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#else
    return 0;
#endif
}

void stage_log_init(stage_log *l) {
    memset(l, 0, sizeof *l);
    l->at = &l->root;
}

void stage_log_free(stage_log *l) {
    stage_node *n = l->root.first;
    while (n != NULL) { /* leaves first, without recursion */
        if (n->first != NULL) {
            stage_node *child = n->first;
            n->first = NULL;
            n = child;
            continue;
        }
        stage_node *after = n->next != NULL ? n->next : n->parent != &l->root ? n->parent : NULL;
        free(n);
        n = after;
    }
    stage_log_init(l);
}

void stage_log_whole(stage_log *l, double seconds, uint64_t cycles) {
    l->root.seconds = seconds;
    l->root.cycles = cycles;
}

static double share_of(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

double stage_share(const stage_node *n) {
    return share_of(n->seconds, n->parent != NULL ? n->parent->seconds : 0);
}

double stage_share_of_whole(const stage_log *l, const stage_node *n) {
    return share_of(n->seconds, l->root.seconds);
}

double stage_elsewhere(const stage_node *n) {
    double rest = n->seconds;
    for (const stage_node *child = n->first; child != NULL; child = child->next)
        rest -= child->seconds;
    return n->first != NULL && rest > 0 ? rest : 0;
}

static stage_node *child_named(const stage_node *parent, const char *name) {
    stage_node *n = parent->first;
    while (n != NULL && strncmp(n->name, name, STAGE_NAME_LEN - 1) != 0)
        n = n->next;
    return n;
}

const stage_node *stage_log_find(const stage_log *l, const stage_node *parent, const char *name) {
    return child_named(parent != NULL ? parent : &l->root, name);
}

void env_stage_begin(env *e, const char *name) {
    stage_log *l = e != NULL ? e->stages : NULL;
    if (l == NULL)
        return;
    if (l->lost > 0) {
        l->lost++;
        return;
    }
    stage_node *parent = l->at, *n = child_named(parent, name);
    if (n == NULL) {
        n = calloc(1, sizeof *n);
        if (n == NULL) { /* a measurement is not worth failing for */
            l->lost = 1;
            l->incomplete = 1;
            return;
        }
        size_t len = strlen(name);
        memcpy(n->name, name, len < STAGE_NAME_LEN ? len : STAGE_NAME_LEN - 1);
        n->parent = parent;
        if (parent->last != NULL)
            parent->last->next = n;
        else
            parent->first = n;
        parent->last = n;
    }
    l->at = n;
    n->begin_seconds = stage_seconds();
    n->begin_cycles = stage_cycles();
}

void env_stage_end(env *e) {
    stage_log *l = e != NULL ? e->stages : NULL;
    if (l == NULL)
        return;
    if (l->lost > 0) {
        l->lost--;
        return;
    }
    stage_node *n = l->at;
    if (n == &l->root)
        return;
    n->cycles += stage_cycles() - n->begin_cycles;
    n->seconds += stage_seconds() - n->begin_seconds;
    n->calls++;
    l->at = n->parent;
}

/* ---- JSON ---- */

typedef struct text {
    char *buf;
    size_t cap, len; /* len goes on past cap */
} text;

static void put(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    size_t room = t->len < t->cap ? t->cap - t->len : 0;
    int n = vsnprintf(room > 0 ? t->buf + t->len : NULL, room, fmt, args);
    va_end(args);
    if (n > 0)
        t->len += (size_t)n;
}

static void put_string(text *t, const char *s) {
    put(t, "\"");
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            put(t, "\\%c", c);
        else if (c < 0x20)
            put(t, "\\u%04x", c);
        else
            put(t, "%c", c);
    }
    put(t, "\"");
}

size_t stage_log_json(const stage_log *l, char *buf, size_t cap) {
    text t = {buf, cap, 0};
    if (cap > 0)
        buf[0] = '\0';
    put(&t, "[");
    const stage_node *n = l->root.first;
    while (n != NULL) {
        put(&t, "{\"name\":");
        put_string(&t, n->name);
        put(&t,
            ",\"calls\":%" PRIu64 ",\"seconds\":%.9f,\"cycles\":%" PRIu64 ",\"share\":%.4f,\"children\":[",
            n->calls, n->seconds, n->cycles, stage_share(n));
        if (n->first != NULL) {
            n = n->first;
            continue;
        }
        put(&t, "]}");
        while (n->next == NULL && n->parent != &l->root) {
            put(&t, "]}");
            n = n->parent;
        }
        n = n->next;
        if (n != NULL)
            put(&t, ",");
    }
    put(&t, "]");
    return t.len;
}
