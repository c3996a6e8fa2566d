/* One region of memory for a whole proof.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * How much a proof takes is known before it starts (aggregate/memory.h), so that much is taken at once: what
 * is not there is missed before the work and not in its middle, addresses stay near one another, and the next
 * proof finds the pages where this one left them. Blocks are placed first fit, which for the prover's order
 * of taking and freeing wastes next to nothing: a proof's sum of blocks and a hundredth. Any thread may take
 * and free. */
#ifndef SHEAF_ARENA_H
#define SHEAF_ARENA_H

#include "base.h"

#define ARENA_LEAST ((size_t)1 << 12) /* smaller blocks are the C allocator's */
#define ARENA_HUGE ((size_t)1 << 22)  /* from here on a region asks for huge pages */

typedef struct arena {
    uint8_t *region;
    size_t bytes;           /* of the region */
    struct arena_gap *gaps; /* what is free of it, by address; no two touch */
    size_t blocks;          /* taken in it */
    size_t beyond;          /* blocks of ARENA_LEAST and more, while open, for which it had no place */
    int open;
    int lock; /* atomic */
} arena;

/* From now on m takes its blocks from a, or from the C allocator while a is closed. m has none yet. */
void arena_init(arena *a, mem *m);
/* Opens, with a region of at least so many bytes: the one that there is, or, where that is smaller and empty,
 * a new one. Returns -1 where there is no memory for it; then a has no region and stays closed. */
SHEAF_MUST_CHECK int arena_open(arena *a, size_t bytes);
/* What is taken from now on can outlive the proof, and is not from the region. What is in it stays until it
 * is freed. */
void arena_close(arena *a);
/* Gives the region back. Nothing is in it. */
void arena_release(arena *a);

#endif
