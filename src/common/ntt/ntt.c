/* Additive NTT: the normalised vanishing polynomials at a point and the plain evaluation.   docs/protocol.md
 * 4, [LCH14]. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ntt.h"

/* Wn_{i+1}(X) = step[i] Wn_i(X) (Wn_i(X) + 1): the constant that makes Wn_{i+1}(x^{i+1}) one.
 * tests/unit/test_ntt.c derives them from the definition. */
static const gf64 step[NTT_MAX_LOG_N - 1] = {
    0x7ffffffffffffffbu, 0xc92492492492492fu, 0x3d7af5ebd7af5ebfu, 0x72e5e5cbcb97972bu, 0x7bdef7bdf7bdef7fu,
    0xc8f591eb23d647a7u, 0x8b6abbd681fb2b19u, 0x6c58fe8e0bce44fcu, 0x606e17d816b35328u, 0x5ccfe54eb14fcfc8u,
    0x1682d202ef234ad4u, 0x8368758e7b0ccceau, 0x13f45f979475411bu, 0x6815a89c2ab96e10u, 0xda6ceb0500fb5056u,
    0x21cf62363d6dc93eu, 0x07a2979ad37ff217u, 0xf540df9eaa1b2a91u, 0x86090b6b15417699u, 0x2289f602dffc7a85u,
    0x3806090597f6d898u, 0x3a0a6c4123d11393u, 0x0a3391e30e3372beu, 0x4e1f70273bcef46fu, 0x47cee6ea224b3dadu,
    0xd0d686e7af904663u, 0x4eb5db98977069b7u, 0x7c556a7fbf36f647u, 0x136804760b12c78au, 0x8320bbc5855b106bu,
    0xf0963ea21cf64f34u,
};

void ntt_basis_at(gf64 *out, unsigned k, uint64_t p) {
    gf64 w = p;
    for (unsigned i = 0; i < k; i++) {
        out[i] = w;
        if (i + 1 < k)
            w = gf64_mul(step[i], gf64_square(w) ^ w);
    }
}

/* The top variable first: a polynomial of 2^k coefficients is its low half plus Wn_{k-1} times its high half.
 */
static gf64 evaluate(const uint64_t *msg, unsigned k, const gf64 *basis) {
    if (k == 0)
        return msg[0];
    gf64 hi = evaluate(msg + (UINT64_C(1) << (k - 1)), k - 1, basis);
    return evaluate(msg, k - 1, basis) ^ gf64_mul(basis[k - 1], hi);
}

gf64 ntt_evaluate_ref(const uint64_t *msg, unsigned k, uint64_t pos) {
    gf64 basis[NTT_MAX_LOG_N];
    if (k > NTT_MAX_LOG_N)
        return 0;
    ntt_basis_at(basis, k, pos);
    return evaluate(msg, k, basis);
}
