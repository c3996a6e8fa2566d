/* The stage log: the work's time as a tree of named spans.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * env_stage_begin and env_stage_end (base.h) fill it, on one thread. Spans of one name under one parent are
 * one node: its time is their sum. Time is the wall clock's and the time-stamp counter's on that thread, so
 * work that the pool's other threads do meanwhile is not added. */
#ifndef SHEAF_STAGES_H
#define SHEAF_STAGES_H

#include "base.h"

#define STAGE_NAME_LEN 48 /* with the terminator; longer names are cut */

struct stage_node {
    char name[STAGE_NAME_LEN];
    uint64_t calls;
    double seconds;
    uint64_t cycles; /* of the time-stamp counter; 0 where the processor has none that we read */
    stage_node *parent, *first, *last, *next; /* first and last child; next sibling */
    double begin_seconds;                     /* of the span that is open */
    uint64_t begin_cycles;
};

typedef struct stage_log {
    stage_node root; /* nameless; its children are the outermost stages. Its times are stage_log_whole's */
    stage_node *at;  /* the innermost open span */
    unsigned lost;   /* open spans that found no memory, or whose parent did not */
    int incomplete;  /* set for good once a span was lost */
} stage_log;

void stage_log_init(stage_log *l);
void stage_log_free(stage_log *l);
/* Says how long all of it took: what the outermost stages are shares of. */
void stage_log_whole(stage_log *l, double seconds, uint64_t cycles);
/* What part of its parent's time a stage took, 0..1, and what part of the whole; 0 where that has no time. */
double stage_share(const stage_node *n);
double stage_share_of_whole(const stage_log *l, const stage_node *n);
/* The parent's seconds that are in none of its stages; 0 where it has no stages. */
double stage_elsewhere(const stage_node *n);
/* The child of `parent` (NULL: an outermost stage) of that name, or NULL. */
const stage_node *stage_log_find(const stage_log *l, const stage_node *parent, const char *name);
/* Writes the outermost stages as a JSON array of {"name", "calls", "seconds", "cycles", "share", "children":
 * [...]}, the share being that of the parent; terminated, and cut to cap bytes. Returns the length of the
 * whole text without the terminator: what snprintf would. */
size_t stage_log_json(const stage_log *l, char *buf, size_t cap);

/* The clocks. */
double stage_seconds(void);
uint64_t stage_cycles(void);

#endif
