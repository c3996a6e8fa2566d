/* K = GF(2)[x]/(x^64+x^4+x^3+x+1), one uint64_t, bit i the coefficient of x^i.   docs/protocol.md 1.
 * Portable scalar arithmetic; timing is independent of the operands. */
#ifndef SHEAF_GF64_H
#define SHEAF_GF64_H

#include <stdint.h>

typedef uint64_t gf64;

gf64 gf64_mul(gf64 a, gf64 b);
gf64 gf64_square(gf64 a);
gf64 gf64_inv(gf64 a); /* a^(2^64-2); 0 gives 0 */
gf64 gf64_pow(gf64 a, uint64_t e);

/* The carry-less product before reduction, and its reduction. */
void gf64_clmul(uint64_t *hi, uint64_t *lo, uint64_t a, uint64_t b);
gf64 gf64_reduce(uint64_t hi, uint64_t lo);

static inline gf64 gf64_mul_x(gf64 a) { return (a << 1) ^ (0x1bu & (0u - (a >> 63))); }

#endif
