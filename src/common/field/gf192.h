/* E = K[y]/(y^3+y+1), |E| = 2^192; limbs are the coefficients of 1, y, y^2.   docs/protocol.md 1.
 * Scalar arithmetic goes through the chosen back end (kernels.h); the _ref forms are portable. */
#ifndef SHEAF_GF192_H
#define SHEAF_GF192_H

#include "gf64.h"

typedef struct gf192 {
    uint64_t c[3];
} gf192;

#define GF192_ZERO ((gf192){{0, 0, 0}})
#define GF192_ONE ((gf192){{1, 0, 0}})

static inline gf192 gf192_add(gf192 a, gf192 b) {
    return (gf192){{a.c[0] ^ b.c[0], a.c[1] ^ b.c[1], a.c[2] ^ b.c[2]}};
}
static inline gf192 gf192_from_k(gf64 a) { return (gf192){{a, 0, 0}}; }
static inline int gf192_is_zero(gf192 a) { return (a.c[0] | a.c[1] | a.c[2]) == 0; }
static inline int gf192_equal(gf192 a, gf192 b) { return gf192_is_zero(gf192_add(a, b)); }

gf192 gf192_mul(gf192 a, gf192 b);    /* by the chosen back end */
gf192 gf192_mul_k(gf192 a, gf64 b);   /* E by K, the same */
gf192 gf192_square(gf192 a);
gf192 gf192_inv(gf192 a);             /* 0 gives 0 */
gf192 gf192_frobenius(gf192 a, unsigned k); /* a^(2^k) */
gf192 gf192_pow(gf192 a, uint64_t e);

/* Portable, for the kernels themselves, which are not chosen yet when they are tested. */
gf192 gf192_mul_ref(gf192 a, gf192 b);
gf192 gf192_mul_k_ref(gf192 a, gf64 b);

#endif
