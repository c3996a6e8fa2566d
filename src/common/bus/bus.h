/* The grand product: two sides of 2^h leaves each, batched.   docs/protocol.md 7.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Leaf index i = p * 2^m + s. The prover's leaf arrays are consumed. */
#ifndef SHEAF_BUS_H
#define SHEAF_BUS_H

#include "../hash/transcript.h"
#include "../kernels.h"

#define BUS_MAX_HEIGHT 32

typedef struct bus_claim {
    gf192 zeta[BUS_MAX_HEIGHT]; /* h coordinates, low variable first: the first m are zeta_s */
    gf192 push, pull;           /* the claimed multilinear extensions of the two leaf arrays at zeta */
} bus_claim;

/* push, pull: 2^h leaves in planes, 3 <= h <= BUS_MAX_HEIGHT. -1: out of memory, or e->cancelled. */
SHEAF_MUST_CHECK int bus_prove(tx *c, env *e, bus_claim *claim, evec push, evec pull, unsigned h);
/* push_extra: a public factor of the push side (the table's multiplicity powers). 0, or -1 with c->fail set.
 */
SHEAF_MUST_CHECK int bus_verify(rx *c, bus_claim *claim, gf192 push_extra, unsigned h);

/* The multilinear extension at z of 2^vars values, vars = 1 or 2: a node's children, child c having the bits
 * of c. */
gf192 bus_children_at(const gf192 *child, const gf192 *z, unsigned vars);

#endif
