/* Additive NTT in the novel polynomial basis [LCH14] over the span of 1, x, x^2, ...   docs/protocol.md 4. */
#ifndef SHEAF_NTT_H
#define SHEAF_NTT_H

#include "../base/base.h"
#include "../field/gf192.h"
#include "../kernels.h"

#define NTT_MAX_LOG_N 32

/* Wn_i(p) for i = 0..k-1: the normalised vanishing polynomials at codeword position p. out: k words. Plain, for the verifier. */
void ntt_basis_at(gf64 *out, unsigned k, uint64_t p);

typedef struct ntt_domain ntt_domain; /* twiddles for codes of up to 2^log_n positions */
ntt_domain *ntt_domain_create(mem *m, unsigned log_n);
void ntt_domain_destroy(mem *m, ntt_domain *d);

/* Encode one row: msg (2^k words, basis coefficients) to code (2^(k+rate) words in position order). Disjoint, 64-byte aligned. */
void ntt_encode_row(const ntt_domain *d, uint64_t *code, const uint64_t *msg, unsigned k, unsigned rate);
/* Encode `rows` rows of 2^k words each (row b at msg + b * 2^k, at code + b * 2^(k+rate)), in parallel. */
void ntt_encode_rows(const ntt_domain *d, uint64_t *code, const uint64_t *msg, size_t rows, unsigned k, unsigned rate, pool *p);

/* The plain twin: direct evaluation of the polynomial with these coefficients at position pos. O(2^k * k). */
gf64 ntt_evaluate_ref(const uint64_t *msg, unsigned k, uint64_t pos);

#endif
