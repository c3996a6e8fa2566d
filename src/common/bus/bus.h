/* The grand product: two sides of 2^h leaves each, batched.   docs/protocol.md 7.
 *
 * Leaf index i = p * 2^m + s. Both provers' leaf arrays are consumed. */
#ifndef SHEAF_BUS_H
#define SHEAF_BUS_H

#include "../hash/transcript.h"
#include "../kernels.h"

#define BUS_MAX_HEIGHT 32

typedef struct bus_claim {
    gf192 zeta[BUS_MAX_HEIGHT]; /* h coordinates, low variable first: the first m are zeta_s */
    gf192 push, pull;           /* the claimed multilinear extensions of the two leaf arrays at zeta */
} bus_claim;

/* push, pull: 2^h leaves in planes, h >= 3. */
SHEAF_MUST_CHECK int bus_prove(tx *c, env *e, bus_claim *claim, evec push, evec pull, unsigned h);
/* push_extra: a public factor of the push side (the table's multiplicity powers). */
SHEAF_MUST_CHECK int bus_verify(rx *c, bus_claim *claim, gf192 push_extra, unsigned h);

#endif
