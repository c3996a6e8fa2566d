/* eq tables, multilinear evaluation, round polynomials.   docs/protocol.md 1.3. */
#ifndef SHEAF_POLY_H
#define SHEAF_POLY_H

#include "../field/gf192.h"
#include "../kernels.h"

/* prod_n (1 + r_n + b_n) */
gf192 eq_at(const gf192 *r, const gf192 *b, unsigned n);
/* table[i] = eq(r, i), low variable first, 2^n entries: plain array (verifier; n small). */
void eq_table(gf192 *table, const gf192 *r, unsigned n);
/* The same in planes, by kernels: 2^n entries at d (stride >= max(8, 2^n)). scale multiplies every entry. */
void eq_table_evec(evec d, const gf192 *r, unsigned n, gf192 scale);

/* sum_i c_i r^i */
gf192 poly_eval(const gf192 *c, unsigned degree, gf192 r);
/* The word sum_n p_n x^n: the multilinear extension of "index as a K word" at p. */
gf192 index_word_at(const gf192 *p, unsigned n);

#endif
