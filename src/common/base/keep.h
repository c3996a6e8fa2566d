/* Blocks that wait for the next proof.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What a proof frees the next one asks for again, and pages that went back to the system in between must be
 * found and cleared anew. A keep stands between a mem and the C allocator: large blocks that are freed stay
 * in it for requests of about their size. It never holds more than was in use at once before: what would be
 * over goes back, the blocks that were freed last first, since proofs of one shape take and free theirs in
 * one order. Any thread may take and free. */
#ifndef SHEAF_KEEP_H
#define SHEAF_KEEP_H

#include "base.h"

#define KEEP_LEAST ((size_t)1 << 18) /* smaller blocks go back at once: the allocator has places for them */
#define KEEP_HUGE ((size_t)1 << 22)  /* from here on blocks ask for huge pages */

typedef struct keep {
    struct keep_block *first;     /* waiting, the one that was freed last first */
    size_t in_use, waiting, most; /* bytes of large blocks; most: that were in use at once */
    int lock;                     /* atomic */
} keep;

/* From now on m takes its blocks from k, which has none waiting. m has none yet. */
void keep_init(keep *k, mem *m);
/* Gives back all that wait. */
void keep_release(keep *k);

#endif
