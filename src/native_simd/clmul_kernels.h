/* The kernels over K and E by carry-less multiplication, for one register width.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by one file a width, after it has defined
 *   vec, VEC_WORDS                    the register and its 64-bit words (2, 4 or 8), in lanes of two
 *   vec_load, vec_store               aligned;  vec_loadu  unaligned
 *   vec_set1, vec_zero                one word everywhere; zero
 *   vec_xor, vec_xor3                 of two, of three
 *   vec_clmul_lo, vec_clmul_hi        in each lane the product of the low words; of the high words
 *   vec_unpack_lo, vec_unpack_hi      in each lane the low words of both operands; the high words
 *   vec_storeu, vec_word0             where VEC_WORDS is 2: unaligned; the low word
 *   VEC_LANE_SUMS, vec_lane_sums      where four lanes are added without leaving the registers: lane i of the
 *                                     result is the sum of the lanes of the i-th of three operands
 * and one way to reduce,
 *   VEC_REDUCE_ADD, vec_reduce_add    of its own: the words lo and hi of products reduced, a third added
 *   VEC_REDUCE_BY_PRODUCT             or by the multiplier, where that is the quicker way
 *   vec_double, vec_shl3, vec_shr60   or by shifts of each word by 1, 3 and 60 places; then, and for the
 *                                     multiplier, there are
 *   vec_table16, vec_lookup           a table of 16 bytes in every lane; look-up of each byte (values 0..15)
 *
 * It defines the functions that the file's table names. kernels.h says what they do.
 *
 * Products stay unreduced as long as sums of them are what is wanted. A pair (even, odd) holds the 128-bit
 * products of the even and of the odd words of two vectors. */
#ifndef SHEAF_CLMUL_KERNELS_H
#define SHEAF_CLMUL_KERNELS_H

#include "../common/field/gf64_inline.h"
#include "../common/kernels.h"

typedef struct wide { /* a vector of unreduced elements of K */
    vec even, odd;
} wide;

typedef struct wide3 { /* of E */
    wide c[3];
} wide3;

typedef struct factor { /* elements of E with the sums that Karatsuba's method multiplies */
    vec c0, c1, c2, c01, c02, c12;
} factor;

static inline wide wide_mul(vec a, vec b) {
    return (wide){vec_clmul_lo(a, b), vec_clmul_hi(a, b)};
}

static inline wide wide_xor(wide a, wide b) {
    return (wide){vec_xor(a.even, b.even), vec_xor(a.odd, b.odd)};
}

static inline wide wide_xor3(wide a, wide b, wide c) {
    return (wide){vec_xor3(a.even, b.even, c.even), vec_xor3(a.odd, b.odd, c.odd)};
}

#if defined VEC_REDUCE_ADD
static inline vec wide_reduce_add(wide a, vec add) {
    return vec_reduce_add(vec_unpack_lo(a.even, a.odd), vec_unpack_hi(a.even, a.odd), add);
}
static inline vec wide_reduce(wide a) {
    return wide_reduce_add(a, vec_zero());
}
#elif defined VEC_REDUCE_BY_PRODUCT
/* The high words times x^4+x^3+x+1; what that moves past the top, a few bits, is looked up. */
static inline vec wide_reduce(wide a) {
    const vec fold = vec_set1(0x1b);
    const vec products = vec_table16(0x00, 0x1b, 0x36, 0x2d, 0x6c, 0x77, 0x5a, 0x41, (char)0xd8, (char)0xc3,
                                     (char)0xee, (char)0xf5, (char)0xb4, (char)0xaf, (char)0x82, (char)0x99);
    wide r = {vec_clmul_hi(a.even, fold), vec_clmul_hi(a.odd, fold)};
    vec past = vec_lookup(products, vec_unpack_hi(r.even, r.odd));
    a = wide_xor(a, r);
    return vec_xor(past, vec_unpack_lo(a.even, a.odd));
}
#else
/* Entry n is (n + n/x + n/x^3)(1+x)(1+x^3), what the bits past the top come back as: see reduce_inline. */
static inline vec fold_table(void) {
    return vec_table16(0x00, 0x1b, 0x2d, 0x36, 0x5a, 0x41, 0x77, 0x6c, (char)0xaf, (char)0xb4, (char)0x82,
                       (char)0x99, (char)0xf5, (char)0xee, (char)0xd8, (char)0xc3);
}

static inline vec wide_reduce(wide a) {
    vec lo = vec_unpack_lo(a.even, a.odd), hi = vec_unpack_hi(a.even, a.odd);
    vec past = vec_lookup(fold_table(), vec_shr60(hi));
    vec u = vec_xor(hi, vec_double(hi));
    return vec_xor3(vec_xor(lo, past), u, vec_shl3(u));
}
#endif

#ifndef VEC_REDUCE_ADD
static inline vec wide_reduce_add(wide a, vec add) {
    return vec_xor(add, wide_reduce(a));
}
#endif

static inline factor factor_of(vec c0, vec c1, vec c2) {
    return (factor){c0, c1, c2, vec_xor(c0, c1), vec_xor(c0, c2), vec_xor(c1, c2)};
}

static inline factor factor_set1(gf192 r) {
    return factor_of(vec_set1(r.c[0]), vec_set1(r.c[1]), vec_set1(r.c[2]));
}

static inline factor factor_load(evec a, size_t i) {
    return factor_of(vec_load(a.p + i), vec_load(a.p + a.stride + i), vec_load(a.p + 2 * a.stride + i));
}

static inline factor factor_load_sum(evec a, evec b, size_t i) {
    return factor_of(vec_xor(vec_load(a.p + i), vec_load(b.p + i)),
                     vec_xor(vec_load(a.p + a.stride + i), vec_load(b.p + b.stride + i)),
                     vec_xor(vec_load(a.p + 2 * a.stride + i), vec_load(b.p + 2 * b.stride + i)));
}

static inline wide3 wide3_mul(factor a, factor b) {
    wide p0 = wide_mul(a.c0, b.c0), p1 = wide_mul(a.c1, b.c1), p2 = wide_mul(a.c2, b.c2);
    wide p01 = wide_mul(a.c01, b.c01), p02 = wide_mul(a.c02, b.c02), p12 = wide_mul(a.c12, b.c12);
    wide low = wide_xor(p0, p1);
    return (wide3){{wide_xor3(low, p2, p12), wide_xor3(p0, p01, p12), wide_xor(low, p02)}};
}

static inline vec evec_load(evec a, size_t i, size_t l) {
    return vec_load(a.p + l * a.stride + i);
}

static inline void evec_store(evec d, size_t i, size_t l, vec v) {
    vec_store(d.p + l * d.stride + i, v);
}

/* ---- elementwise ---- */

static void evec_mul(evec d, evec a, evec b, size_t n) {
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        wide3 p = wide3_mul(factor_load(a, i), factor_load(b, i));
        for (size_t l = 0; l < 3; l++)
            evec_store(d, i, l, wide_reduce(p.c[l]));
    }
}

static void evec_mul_add(evec d, evec a, evec b, size_t n) {
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        wide3 p = wide3_mul(factor_load(a, i), factor_load(b, i));
        for (size_t l = 0; l < 3; l++)
            evec_store(d, i, l, wide_reduce_add(p.c[l], evec_load(d, i, l)));
    }
}

static void evec_mul_plus(evec d, evec a, evec b, evec c, size_t n) {
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        wide3 p = wide3_mul(factor_load(a, i), factor_load(b, i));
        for (size_t l = 0; l < 3; l++)
            evec_store(d, i, l, wide_reduce_add(p.c[l], evec_load(c, i, l)));
    }
}

static void evec_scale(evec d, evec a, gf192 c, size_t n) {
    factor f = factor_set1(c);
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        wide3 p = wide3_mul(factor_load(a, i), f);
        for (size_t l = 0; l < 3; l++)
            evec_store(d, i, l, wide_reduce(p.c[l]));
    }
}

static void evec_scale_add(evec d, evec a, gf192 c, size_t n) {
    factor f = factor_set1(c);
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        wide3 p = wide3_mul(factor_load(a, i), f);
        for (size_t l = 0; l < 3; l++)
            evec_store(d, i, l, wide_reduce_add(p.c[l], evec_load(d, i, l)));
    }
}

static void evec_scale_add_k(evec d, const uint64_t *k, gf192 c, size_t n) {
    vec f[3] = {vec_set1(c.c[0]), vec_set1(c.c[1]), vec_set1(c.c[2])};
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        vec v = vec_load(k + i);
        for (size_t l = 0; l < 3; l++)
            evec_store(d, i, l, wide_reduce_add(wide_mul(v, f[l]), evec_load(d, i, l)));
    }
}

static void evec_fold(evec d, evec a0, evec a1, gf192 r, size_t n) {
    factor f = factor_set1(r);
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        wide3 p = wide3_mul(factor_load_sum(a0, a1, i), f);
        for (size_t l = 0; l < 3; l++)
            evec_store(d, i, l, wide_reduce_add(p.c[l], evec_load(a0, i, l)));
    }
}

static inline wide wide_mul3(vec a, vec b, vec c, vec d, vec e, vec f) {
    return wide_xor3(wide_mul(a, b), wide_mul(c, d), wide_mul(e, f));
}

/* a0 + sum of eq(r, i) (a0 + a_i): the three products are summed before they are put together and reduced. */
static void evec_fold4(evec d, const evec a[4], const gf192 r[2], size_t n) {
    const factor low = factor_set1(r[0]), high = factor_set1(r[1]);
    const wide3 both = wide3_mul(low, high);
    const vec b0 = wide_reduce(both.c[0]), b1 = wide_reduce(both.c[1]), b2 = wide_reduce(both.c[2]);
    const factor f3 = factor_of(b0, b1, b2);
    const factor f1 = factor_of(vec_xor(low.c0, b0), vec_xor(low.c1, b1), vec_xor(low.c2, b2));
    const factor f2 = factor_of(vec_xor(high.c0, b0), vec_xor(high.c1, b1), vec_xor(high.c2, b2));
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        const factor x1 = factor_load_sum(a[0], a[1], i), x2 = factor_load_sum(a[0], a[2], i);
        const factor x3 = factor_load_sum(a[0], a[3], i);
        const wide p0 = wide_mul3(x1.c0, f1.c0, x2.c0, f2.c0, x3.c0, f3.c0);
        const wide p1 = wide_mul3(x1.c1, f1.c1, x2.c1, f2.c1, x3.c1, f3.c1);
        const wide p2 = wide_mul3(x1.c2, f1.c2, x2.c2, f2.c2, x3.c2, f3.c2);
        const wide p01 = wide_mul3(x1.c01, f1.c01, x2.c01, f2.c01, x3.c01, f3.c01);
        const wide p02 = wide_mul3(x1.c02, f1.c02, x2.c02, f2.c02, x3.c02, f3.c02);
        const wide p12 = wide_mul3(x1.c12, f1.c12, x2.c12, f2.c12, x3.c12, f3.c12);
        const wide first = wide_xor(p0, p1);
        const wide c[3] = {wide_xor3(first, p2, p12), wide_xor3(p0, p01, p12), wide_xor(first, p02)};
        for (size_t l = 0; l < 3; l++)
            evec_store(d, i, l, wide_reduce_add(c[l], evec_load(a[0], i, l)));
    }
}

static void evec_fold_k(evec d, const uint64_t *k0, const uint64_t *k1, gf192 r, size_t n) {
    vec f[3] = {vec_set1(r.c[0]), vec_set1(r.c[1]), vec_set1(r.c[2])};
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        vec v = vec_load(k0 + i), sum = vec_xor(v, vec_load(k1 + i));
        evec_store(d, i, 0, wide_reduce_add(wide_mul(sum, f[0]), v));
        evec_store(d, i, 1, wide_reduce(wide_mul(sum, f[1])));
        evec_store(d, i, 2, wide_reduce(wide_mul(sum, f[2])));
    }
}

/* ---- sums of products: one reduction at the end ---- */

/* The six sums of Karatsuba's method; even and odd words may share one, as only their total is wanted. */
typedef struct dot_sums {
    vec p0, p1, p2, p01, p02, p12;
} dot_sums;

static inline vec dot_step(vec s, vec a, vec b) {
    return vec_xor3(s, vec_clmul_lo(a, b), vec_clmul_hi(a, b));
}

static inline void dot_add(dot_sums *s, factor a, factor b) {
    s->p0 = dot_step(s->p0, a.c0, b.c0);
    s->p1 = dot_step(s->p1, a.c1, b.c1);
    s->p2 = dot_step(s->p2, a.c2, b.c2);
    s->p01 = dot_step(s->p01, a.c01, b.c01);
    s->p02 = dot_step(s->p02, a.c02, b.c02);
    s->p12 = dot_step(s->p12, a.c12, b.c12);
}

static inline dot_sums dot_zero(void) {
    return (dot_sums){vec_zero(), vec_zero(), vec_zero(), vec_zero(), vec_zero(), vec_zero()};
}

#ifdef VEC_LANE_SUMS
static inline gf192 lanes_reduce(vec c0, vec c1, vec c2) {
    _Alignas(64) uint64_t w[VEC_WORDS];
    const vec sums = vec_lane_sums(c0, c1, c2);
    vec_store(w, wide_reduce((wide){sums, sums}));
    return (gf192){{w[0], w[2], w[4]}};
}
#else
static inline uint64_t lanes_reduce1(vec v) {
    _Alignas(64) uint64_t w[VEC_WORDS];
    uint64_t lo = 0, hi = 0;
    vec_store(w, v);
    for (size_t i = 0; i < VEC_WORDS; i += 2) {
        lo ^= w[i];
        hi ^= w[i + 1];
    }
    return reduce_inline(hi, lo);
}

static inline gf192 lanes_reduce(vec c0, vec c1, vec c2) {
    return (gf192){{lanes_reduce1(c0), lanes_reduce1(c1), lanes_reduce1(c2)}};
}
#endif

static inline gf192 dot_finish(const dot_sums *s) {
    vec low = vec_xor(s->p0, s->p1);
    return lanes_reduce(vec_xor3(low, s->p2, s->p12), vec_xor3(s->p0, s->p01, s->p12), vec_xor(low, s->p02));
}

static inline void dot_range(dot_sums *s, evec a, evec b, size_t from, size_t to) {
    dot_sums t = *s;
    for (size_t i = from; i < to; i += VEC_WORDS)
        dot_add(&t, factor_load(a, i), factor_load(b, i));
    *s = t;
}

static inline void dot_range_sum(dot_sums *s, evec a0, evec a1, evec b0, evec b1, size_t from, size_t to) {
    dot_sums t = *s;
    for (size_t i = from; i < to; i += VEC_WORDS)
        dot_add(&t, factor_load_sum(a0, a1, i), factor_load_sum(b0, b1, i));
    *s = t;
}

static void evec_dot(gf192 *d, evec a, evec b, size_t n) {
    dot_sums s = dot_zero();
    dot_range(&s, a, b, 0, n);
    *d = dot_finish(&s);
}

/* Several sums over the same inputs go one after the other over ranges that stay in the first-level cache:
 * the accumulators of one are all that the registers hold. */
#define DOT_RANGE 128

static void evec_dot3(gf192 d[3], evec a0, evec a1, evec b0, evec b1, size_t n) {
    dot_sums s0 = dot_zero(), s1 = dot_zero(), s2 = dot_zero();
    for (size_t from = 0; from < n; from += DOT_RANGE) {
        size_t to = n - from < DOT_RANGE ? n : from + DOT_RANGE;
        dot_range(&s0, a0, b0, from, to);
        dot_range(&s1, a1, b1, from, to);
        dot_range_sum(&s2, a0, a1, b0, b1, from, to);
    }
    d[0] = dot_finish(&s0);
    d[1] = dot_finish(&s1);
    d[2] = dot_finish(&s2);
}

static void evec_dot2(gf192 d[2], evec a0, evec a1, evec b0, evec b1, size_t n) {
    dot_sums s1 = dot_zero(), s2 = dot_zero();
    for (size_t from = 0; from < n; from += DOT_RANGE) {
        size_t to = n - from < DOT_RANGE ? n : from + DOT_RANGE;
        dot_range(&s1, a1, b1, from, to);
        dot_range_sum(&s2, a0, a1, b0, b1, from, to);
    }
    d[0] = dot_finish(&s1);
    d[1] = dot_finish(&s2);
}

/* Products keep the multiplier busy for longer than it takes to load and add four of each factor. */
static inline vec vec_load_sum4(const evec a[4], size_t i, size_t l) {
    return vec_xor(vec_xor3(evec_load(a[0], i, l), evec_load(a[1], i, l), evec_load(a[2], i, l)),
                   evec_load(a[3], i, l));
}

static inline factor factor_load_sum4(const evec a[4], size_t i) {
    return factor_of(vec_load_sum4(a, i, 0), vec_load_sum4(a, i, 1), vec_load_sum4(a, i, 2));
}

static inline void dot_range_sum4(dot_sums *s, const evec a[4], const evec b[4], size_t from, size_t to) {
    dot_sums t = *s;
    for (size_t i = from; i < to; i += VEC_WORDS)
        dot_add(&t, factor_load_sum4(a, i), factor_load_sum4(b, i));
    *s = t;
}

static void evec_dot8(gf192 d[8], const evec a[4], const evec b[4], size_t n) {
    dot_sums s[8];
    for (size_t j = 0; j < 8; j++)
        s[j] = dot_zero();
    for (size_t from = 0; from < n; from += DOT_RANGE / 2) {
        const size_t to = n - from < DOT_RANGE / 2 ? n : from + DOT_RANGE / 2;
        dot_range(&s[0], a[1], b[1], from, to);
        dot_range(&s[2], a[2], b[2], from, to);
        dot_range(&s[3], a[3], b[3], from, to);
        for (size_t j = 0; j < 2; j++) {
            dot_range_sum(&s[1 + 3 * j], a[2 * j], a[2 * j + 1], b[2 * j], b[2 * j + 1], from, to);
            dot_range_sum(&s[5 + j], a[j], a[2 + j], b[j], b[2 + j], from, to);
        }
        dot_range_sum4(&s[7], a, b, from, to);
    }
    for (size_t j = 0; j < 8; j++)
        d[j] = dot_finish(&s[j]);
}

static void evec_dot_k(gf192 *d, evec a, const uint64_t *k, size_t n) {
    vec s0 = vec_zero(), s1 = vec_zero(), s2 = vec_zero();
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        vec v = vec_load(k + i);
        s0 = dot_step(s0, evec_load(a, i, 0), v);
        s1 = dot_step(s1, evec_load(a, i, 1), v);
        s2 = dot_step(s2, evec_load(a, i, 2), v);
    }
    *d = lanes_reduce(s0, s1, s2);
}

static void evec_dot3_k(gf192 d[3], evec a0, evec a1, const uint64_t *k0, const uint64_t *k1, size_t n) {
    vec s[3][3];
    for (size_t j = 0; j < 3; j++)
        for (size_t l = 0; l < 3; l++)
            s[j][l] = vec_zero();
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        vec v0 = vec_load(k0 + i), v1 = vec_load(k1 + i), v01 = vec_xor(v0, v1);
        for (size_t l = 0; l < 3; l++) {
            vec w0 = evec_load(a0, i, l), w1 = evec_load(a1, i, l);
            s[0][l] = dot_step(s[0][l], w0, v0);
            s[1][l] = dot_step(s[1][l], w1, v1);
            s[2][l] = dot_step(s[2][l], vec_xor(w0, w1), v01);
        }
    }
    for (size_t j = 0; j < 3; j++)
        d[j] = lanes_reduce(s[j][0], s[j][1], s[j][2]);
}

/* ---- additive NTT ---- */

/* a += t b, then b += a. */
static inline void butterfly(vec *a, vec *b, vec t) {
    *a = wide_reduce_add(wide_mul(*b, t), *a);
    *b = vec_xor(*b, *a);
}

static void ntt_butterfly(uint64_t *a, uint64_t *b, uint64_t t, size_t n) {
    vec tv = vec_set1(t);
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        vec x = vec_load(a + i), y = vec_load(b + i);
        butterfly(&x, &y, tv);
        vec_store(a + i, x);
        vec_store(b + i, y);
    }
}

static void ntt_butterfly4(uint64_t *a0, uint64_t *a1, uint64_t *a2, uint64_t *a3, const uint64_t t[3],
                           size_t n) {
    vec t0 = vec_set1(t[0]), t1 = vec_set1(t[1]), t2 = vec_set1(t[2]);
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        vec x0 = vec_load(a0 + i), x1 = vec_load(a1 + i), x2 = vec_load(a2 + i), x3 = vec_load(a3 + i);
        butterfly(&x0, &x2, t0);
        butterfly(&x1, &x3, t0);
        butterfly(&x0, &x1, t1);
        butterfly(&x2, &x3, t2);
        vec_store(a0 + i, x0);
        vec_store(a1 + i, x1);
        vec_store(a2 + i, x2);
        vec_store(a3 + i, x3);
    }
}

/* ---- two words a register ---- */

#if VEC_WORDS == 2
static void ntt_tail8(uint64_t *a, const uint64_t *t4, const uint64_t *t2, const uint64_t *t1, size_t n) {
    for (size_t b = 0; b < n / 8; b++) {
        uint64_t *w = a + 8 * b;
        vec x0 = vec_load(w), x1 = vec_load(w + 2), x2 = vec_load(w + 4), x3 = vec_load(w + 6);
        vec t = vec_set1(t4[b]);
        butterfly(&x0, &x2, t);
        butterfly(&x1, &x3, t);
        butterfly(&x0, &x1, vec_set1(t2[2 * b]));
        butterfly(&x2, &x3, vec_set1(t2[2 * b + 1]));
        vec even0 = vec_unpack_lo(x0, x1), odd0 = vec_unpack_hi(x0, x1);
        vec even1 = vec_unpack_lo(x2, x3), odd1 = vec_unpack_hi(x2, x3);
        butterfly(&even0, &odd0, vec_loadu(t1 + 4 * b));
        butterfly(&even1, &odd1, vec_loadu(t1 + 4 * b + 2));
        vec_store(w, vec_unpack_lo(even0, odd0));
        vec_store(w + 2, vec_unpack_hi(even0, odd0));
        vec_store(w + 4, vec_unpack_lo(even1, odd1));
        vec_store(w + 6, vec_unpack_hi(even1, odd1));
    }
}

/* One product in E. */
static void gf192_mul_words(gf192 *d, const gf192 *a, const gf192 *b) {
    vec a01 = vec_loadu(a->c), b01 = vec_loadu(b->c), a22 = vec_set1(a->c[2]), b22 = vec_set1(b->c[2]);
    vec a_2 = vec_xor(a01, a22), b_2 = vec_xor(b01, b22); /* (a0 + a2, a1 + a2) */
    vec p0 = vec_clmul_lo(a01, b01), p1 = vec_clmul_hi(a01, b01), p2 = vec_clmul_lo(a22, b22);
    vec p02 = vec_clmul_lo(a_2, b_2), p12 = vec_clmul_hi(a_2, b_2);
    vec p01 = vec_clmul_lo(vec_xor(a01, vec_unpack_hi(a01, a01)), vec_xor(b01, vec_unpack_hi(b01, b01)));
    vec low = vec_xor(p0, p1);
    wide c01 = {vec_xor3(low, p2, p12), vec_xor3(p0, p01, p12)};
    vec c2 = vec_xor(low, p02);
    vec_storeu(d->c, wide_reduce(c01));
    d->c[2] = vec_word0(wide_reduce((wide){c2, c2}));
}

static void gf192_mul_k_words(gf192 *d, const gf192 *a, uint64_t b) {
    vec a01 = vec_loadu(a->c), k = vec_set1(b), p2 = vec_clmul_lo(vec_set1(a->c[2]), k);
    vec_storeu(d->c, wide_reduce(wide_mul(a01, k)));
    d->c[2] = vec_word0(wide_reduce((wide){p2, p2}));
}
#endif

#endif
