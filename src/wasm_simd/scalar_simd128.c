/* One product in E.   docs/protocol.md 1.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Integer products with holes, as field/gf64_inline.h has them, two at once: of the six products of words
 * (Karatsuba over y) each is three of halves (Karatsuba over x^32), eighteen in all, four to a vector.
 * Constant time. */
#include "kernels_simd128.h"
#include "field/gf64_inline.h"

/* The halves of four products of 32-bit words. */
typedef struct wide {
    v128 low, high; /* of words 0 and 1, of words 2 and 3 */
} wide;

static inline wide multiply(v128 a, v128 b) {
    const uint64_t m0 = 0x1111111111111111u;
    v128 m[4], x[4], y[4];
    for (unsigned i = 0; i < 4; i++) {
        m[i] = wasm_u64x2_splat(m0 << i);
        x[i] = AND(a, m[i]);
        y[i] = AND(b, m[i]);
    }
    wide d = {wasm_u64x2_splat(0), wasm_u64x2_splat(0)};
    for (unsigned k = 0; k < 4; k++) { /* bits of k mod 4 */
        v128 low = wasm_u64x2_splat(0), high = low;
        for (unsigned i = 0; i < 4; i++) {
            const unsigned j = (k - i) & 3;
            low = XOR(low, wasm_u64x2_extmul_low_u32x4(x[i], y[j]));
            high = XOR(high, wasm_u64x2_extmul_high_u32x4(x[i], y[j]));
        }
        d.low = wasm_v128_or(d.low, AND(low, m[k]));
        d.high = wasm_v128_or(d.high, AND(high, m[k]));
    }
    return d;
}

#define LANE(v, i) ((uint64_t)wasm_i64x2_extract_lane(v, i))

/* From the products of the lower halves, the higher ones and the sums of both: the product of two words. */
static inline void join(uint64_t *hi, uint64_t *lo, uint64_t l, uint64_t h, uint64_t s) {
    const uint64_t m = s ^ l ^ h;
    *lo = l ^ m << 32;
    *hi = h ^ m >> 32;
}

void gf192_mul_simd128(gf192 *d, const gf192 *a, const gf192 *b) {
    const v128 a01 = wasm_u64x2_make(a->c[0], a->c[1]), b01 = wasm_u64x2_make(b->c[0], b->c[1]);
    const v128 a2 = wasm_u64x2_splat(a->c[2]), b2 = wasm_u64x2_splat(b->c[2]);
    const v128 as = XOR(a01, a2), bs = XOR(b01, b2);                     /* a0 + a2, a1 + a2 */
    const v128 ar = wasm_i64x2_shuffle(a2, XOR(a01, SWAP64(a01)), 0, 2); /* a2, a0 + a1 */
    const v128 br = wasm_i64x2_shuffle(b2, XOR(b01, SWAP64(b01)), 0, 2);
#define HALVES(v, w)                                                                                         \
    wasm_i32x4_shuffle(XOR(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2)),                                         \
                       XOR(w, wasm_i32x4_shuffle(w, w, 1, 0, 3, 2)), 0, 2, 4, 6)
    const wide p = multiply(a01, b01), q = multiply(as, bs), r = multiply(ar, br);
    const wide pq = multiply(HALVES(a01, as), HALVES(b01, bs)); /* sums of halves: p0, p1, q0, q1 */
    const wide rr = multiply(HALVES(ar, ar), HALVES(br, br));   /* r0, r1 */
    uint64_t h[6], l[6];                                        /* p0, p1, p02, p12, p2, p01 */
    join(&h[0], &l[0], LANE(p.low, 0), LANE(p.low, 1), LANE(pq.low, 0));
    join(&h[1], &l[1], LANE(p.high, 0), LANE(p.high, 1), LANE(pq.low, 1));
    join(&h[2], &l[2], LANE(q.low, 0), LANE(q.low, 1), LANE(pq.high, 0));
    join(&h[3], &l[3], LANE(q.high, 0), LANE(q.high, 1), LANE(pq.high, 1));
    join(&h[4], &l[4], LANE(r.low, 0), LANE(r.low, 1), LANE(rr.low, 0));
    join(&h[5], &l[5], LANE(r.high, 0), LANE(r.high, 1), LANE(rr.low, 1));
    const uint64_t h01 = h[0] ^ h[1], l01 = l[0] ^ l[1];
    d->c[0] = reduce_inline(h01 ^ h[4] ^ h[3], l01 ^ l[4] ^ l[3]);
    d->c[1] = reduce_inline(h[0] ^ h[5] ^ h[3], l[0] ^ l[5] ^ l[3]);
    d->c[2] = reduce_inline(h01 ^ h[2], l01 ^ l[2]);
}
