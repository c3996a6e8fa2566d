/* Additive NTT in the novel polynomial basis [LCH14] over the span of 1, x, x^2, ...   docs/protocol.md 4. */
#ifndef SHEAF_NTT_H
#define SHEAF_NTT_H

#include "../base/base.h"
#include "../field/gf192.h"
#include "../kernels.h"

#define NTT_MAX_LOG_N 32

/* Wn_i(p) for i = 0..k-1: the normalised vanishing polynomials at codeword position p. out: k words. Plain,
 * for the verifier. */
void ntt_basis_at(gf64 *out, unsigned k, uint64_t p);

typedef struct ntt_domain ntt_domain; /* twiddles for codes of up to 2^log_n positions */
ntt_domain *ntt_domain_create(mem *m, unsigned log_n);
void ntt_domain_destroy(mem *m, ntt_domain *d);

/* Encode one row: msg (2^k words, basis coefficients) to code (2^(k+rate) words in position order). Disjoint,
 * 64-byte aligned. */
void ntt_encode_row(const ntt_domain *d, uint64_t *code, const uint64_t *msg, unsigned k, unsigned rate);
/* Encode `rows` rows of 2^k words each (row b at msg + b * 2^k, at code + b * 2^(k+rate)), in parallel. */
void ntt_encode_rows(const ntt_domain *d, uint64_t *code, const uint64_t *msg, size_t rows, unsigned k,
                     unsigned rate, pool *p);

/* Where a code's words are put: word i of coset c (position c * 2^k + i) of row b at
 * b * row + c * coset + (i >> block_log) * block + i mod 2^block_log. They are multiples of 8 unless
 * k < 3. */
typedef struct ntt_layout {
    unsigned block_log;
    size_t row, block, coset;
} ntt_layout;

static inline size_t ntt_place(const ntt_layout *l, size_t row, size_t coset, size_t i) {
    return row * l->row + coset * l->coset + (i >> l->block_log) * l->block +
           (i & (((size_t)1 << l->block_log) - 1));
}

/* The block_log that suits codes of 2^rate cosets of 2^k words each on so many threads, at most k and
 * NTT_BLOCK_LOG. */
unsigned ntt_block_log(unsigned k, unsigned rate, unsigned threads);

/* A run of the encoder: the cosets first .. first+count-1 of all rows, put where the layout says, coset
 * `first` as its coset 0. Each block of positions is handed to `done` (unless it is NULL) when all its rows
 * are there, on the thread that wrote them last. */
typedef struct ntt_run {
    const ntt_domain *domain;
    const uint64_t *msg;
    size_t rows;
    unsigned k;
    uint64_t *code;
    ntt_layout layout;
    size_t first, count;
    void (*done)(void *ctx, size_t position, const uint64_t *words,
                 unsigned worker); /* words: those of row 0 */
    void *ctx;
} ntt_run;
/* layout.block_log as ntt_block_log has it; where it is k, each task encodes from the message alone. */
void ntt_encode(const ntt_run *run, pool *p);

/* The plain twin: direct evaluation of the polynomial with these coefficients at position pos. O(2^k * k). */
gf64 ntt_evaluate_ref(const uint64_t *msg, unsigned k, uint64_t pos);

#endif
