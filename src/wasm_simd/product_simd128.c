/* Products of two vectors, in planes of bits.   docs/protocol.md 1.   SPDX-License-Identifier: MIT OR
 * Apache-2.0
 *
 * 64 elements are taken apart into planes: plane i has bit i of each word. Words of two kinds share a plane,
 * one in either half of the register, so that one product of polynomials with planes for coefficients (AND,
 * XOR; Karatsuba) makes two products of words. The six products of one of E, p_i = a_i b_i and p_ij = (a_i +
 * a_j)(b_i + b_j), are three such pairs: P = (p0 | p1),  Q = (p02 | p12),  R = (p2 | p01)     (lower half |
 * higher half), and the coefficients, before they are reduced, with y^3 = y + 1, d0 = p0 + p1 + p2 + p12,  d1
 * = p0 + p01 + p12,  d2 = p0 + p1 + p02. Where only a sum of products is wanted, planes are summed first and
 * each becomes one bit in the end. */
#include <string.h>
#include "kernels_simd128.h"
#include "field/gf64_inline.h"

enum {
    BLOCK = 64, /* elements at once */
    WIDE = 128  /* planes of an unreduced product; the last is zero */
};

/* ---- words and planes ---- */

/* 64 words x and 64 words y: plane i has bit i of x's in its lower half and of y's in its higher one, in an
 * order of elements that is the same everywhere. y NULL: zeros. With x1, y1, the planes of the sums x + x1, y
 * + y1. */
static inline v128 two_words(const uint64_t *w, const uint64_t *w1, size_t at) {
    const v128 a = load(w + at);
    return w1 != NULL ? XOR(a, load(w1 + at)) : a;
}

static void take_apart(v128 planes[64], const uint64_t *x, const uint64_t *x1, const uint64_t *y,
                       const uint64_t *y1) {
    for (size_t r = 0; r < 8; r++) {
        v128 words[8], of[8];
        for (size_t k = 0; k < 4; k++) {
            words[k] = two_words(x, x1, 8 * r + 2 * k);
            words[4 + k] = y != NULL ? two_words(y, y1, 8 * r + 2 * k) : wasm_u64x2_splat(0);
        }
        halves_from_words(of, words); /* byte q of words 8r .. 8r + 7 of x, then of y */
        for (size_t q = 0; q < 8; q++)
            planes[8 * q + r] = of[q];
    }
    for (size_t q = 0; q < 8; q++)
        transpose_bits(planes + 8 * q);
}

/* Back again: x = the lower halves; y, unless it is NULL, = the higher ones; both with the words at x0 and y0 added, unless
 * x0 is NULL. planes are overwritten. */
static inline void put_together(uint64_t *x, uint64_t *y, const uint64_t *x0, const uint64_t *y0,
                                v128 planes[64]) {
    for (size_t q = 0; q < 8; q++)
        transpose_bits(planes + 8 * q);
    for (size_t r = 0; r < 8; r++) {
        v128 words[8], of[8];
        for (size_t q = 0; q < 8; q++)
            of[q] = planes[8 * q + r];
        words_from_halves(words, of);
        for (size_t k = 0; k < 4; k++) {
            const size_t at = 8 * r + 2 * k;
            store(x + at, x0 != NULL ? XOR(words[k], load(x0 + at)) : words[k]);
            if (y != NULL)
                store(y + at, x0 != NULL ? XOR(words[4 + k], load(y0 + at)) : words[4 + k]);
        }
    }
}

/* ---- polynomials with planes for coefficients ----
 *
 * Each step ends in memory, so that few values are alive at once: engines that compile quickly spill what is
 * more. */

#define UNROLL _Pragma("clang loop unroll(full)")

static inline void mul4(v128 c[7], const v128 a[4], const v128 b[4]) {
    const v128 a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
    c[0] = AND(a0, b0);
    c[1] = XOR(AND(a0, b1), AND(a1, b0));
    c[2] = XOR(XOR(AND(a0, b2), AND(a1, b1)), AND(a2, b0));
    c[3] = XOR(XOR(AND(a0, b3), AND(a1, b2)), XOR(AND(a2, b1), AND(a3, b0)));
    c[4] = XOR(XOR(AND(a1, b3), AND(a2, b2)), AND(a3, b1));
    c[5] = XOR(AND(a2, b3), AND(a3, b2));
    c[6] = AND(a3, b3);
}

static inline void sum_of_halves(v128 *s, const v128 *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        s[i] = XOR(a[i], a[n + i]);
}

/* c has the products of the lower and of the higher halves, each with a zero at its end, and gains the
 * middle: sum is the product of the sums of halves. */
static inline void combine(v128 *c, const v128 *sum, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const v128 shared = XOR(c[n + i], c[2 * n + i]);
        c[n + i] = XOR(XOR(shared, c[i]), sum[i]);
        c[2 * n + i] = XOR(XOR(shared, c[3 * n + i]), sum[n + i]);
    }
}

/* Here and below c has twice as many coefficients as a factor, the last zero. */
static __attribute__((noinline)) void mul8(v128 c[16], const v128 a[8], const v128 b[8]) {
    v128 sa[4], sb[4], sum[7];
    mul4(c, a, b);
    c[7] = wasm_u64x2_splat(0);
    mul4(c + 8, a + 4, b + 4);
    c[15] = wasm_u64x2_splat(0);
    UNROLL for (size_t i = 0; i < 4; i++) {
        sa[i] = XOR(a[i], a[4 + i]);
        sb[i] = XOR(b[i], b[4 + i]);
    }
    mul4(sum, sa, sb);
    UNROLL for (size_t i = 0; i < 4; i++) {
        const v128 shared = XOR(c[4 + i], c[8 + i]);
        c[4 + i] = XOR(XOR(shared, c[i]), sum[i]);
        if (i < 3)
            c[8 + i] = XOR(XOR(shared, c[12 + i]), sum[4 + i]);
        else
            c[8 + i] = shared;
    }
}

static void mul16(v128 c[32], const v128 a[16], const v128 b[16]) {
    v128 sa[8], sb[8], sum[16];
    mul8(c, a, b);
    mul8(c + 16, a + 8, b + 8);
    sum_of_halves(sa, a, 8);
    sum_of_halves(sb, b, 8);
    mul8(sum, sa, sb);
    combine(c, sum, 8);
}

static void mul32(v128 c[64], const v128 a[32], const v128 b[32]) {
    v128 sa[16], sb[16], sum[32];
    mul16(c, a, b);
    mul16(c + 32, a + 16, b + 16);
    sum_of_halves(sa, a, 16);
    sum_of_halves(sb, b, 16);
    mul16(sum, sa, sb);
    combine(c, sum, 16);
}

static void mul64(v128 c[WIDE], const v128 a[64], const v128 b[64]) {
    v128 sa[32], sb[32], sum[64];
    mul32(c, a, b);
    mul32(c + 64, a + 32, b + 32);
    sum_of_halves(sa, a, 32);
    sum_of_halves(sb, b, 32);
    mul32(sum, sa, sb);
    combine(c, sum, 32);
}

/* ---- products of 64 elements of E ---- */

/* The three pairs of factors of one operand. */
typedef struct factors {
    v128 p[64], q[64], r[64];
} factors;

/* From (x0 | x1) in p and the plane's x2 twice in q. */
static inline void finish_factors(factors *f, int x2_is_high, const v128 *shared) {
    const v128 low_half = wasm_u64x2_make(UINT64_MAX, 0);
    for (size_t i = 0; i < 64; i++) {
        const v128 p = f->p[i], x2 = x2_is_high ? HIGH64(shared[i], shared[i]) : LOW64(shared[i], shared[i]);
        f->q[i] = XOR(p, x2);
        f->r[i] = wasm_v128_bitselect(x2, XOR(p, SWAP64(p)), low_half);
    }
}

/* Factors of a (+ a1) and of b (+ b1) at elements from `at` on. */
static void factors_of_two(factors *fa, factors *fb, evec a, const evec *a1, evec b, const evec *b1,
                           size_t at) {
    v128 third[64]; /* a2 | b2 */
#define LIMB(v, l) ((v).p + (l) * (v).stride + at)
#define LIMB1(v, l) ((v) != NULL ? LIMB(*(v), l) : NULL)
    take_apart(fa->p, LIMB(a, 0), LIMB1(a1, 0), LIMB(a, 1), LIMB1(a1, 1));
    take_apart(fb->p, LIMB(b, 0), LIMB1(b1, 0), LIMB(b, 1), LIMB1(b1, 1));
    take_apart(third, LIMB(a, 2), LIMB1(a1, 2), LIMB(b, 2), LIMB1(b1, 2));
    finish_factors(fa, 0, third);
    finish_factors(fb, 1, third);
}

/* Unreduced coefficients of 64 products: (d0 | d1), and d2 in the lower half. */
typedef struct wide_product {
    v128 d01[WIDE], d2[WIDE];
} wide_product;

/* The pairs of products, P, Q, R in this order. */
typedef struct pairs {
    v128 p[WIDE], q[WIDE], r[WIDE];
} pairs;

static void multiply_pairs(pairs *d, const factors *a, const factors *b) {
    mul64(d->p, a->p, b->p);
    mul64(d->q, a->q, b->q);
    mul64(d->r, a->r, b->r);
}

static void coefficients(wide_product *w, const pairs *d) {
    const v128 low_half = wasm_u64x2_make(UINT64_MAX, 0);
    for (size_t i = 0; i < WIDE - 1; i++) {
        const v128 p = d->p[i], v = XOR(SWAP64(p), AND(p, low_half)); /* p0 + p1 | p0 */
        w->d01[i] = XOR(XOR(v, d->r[i]), HIGH64(d->q[i], d->q[i]));
        w->d2[i] = XOR(v, d->q[i]);
    }
}

/* As gf64_inline.h's reduce_inline. */
static void reduce(v128 c[WIDE]) {
    v128 *h = c + 64;
    h[63] = wasm_u64x2_splat(0);
    h[0] = XOR(h[0], XOR(h[60], h[61]));
    h[1] = XOR(h[1], XOR(h[61], h[62]));
    h[2] = XOR(h[2], h[62]);
    for (size_t i = 63; i > 0; i--)
        h[i] = XOR(h[i], h[i - 1]);
    for (size_t i = 0; i < 3; i++)
        c[i] = XOR(c[i], h[i]);
    for (size_t i = 3; i < 64; i++)
        c[i] = XOR(c[i], XOR(h[i], h[i - 3]));
}

/* d = a b, plus c where there is one, for 64 elements. */
static void multiply_block(evec d, evec a, evec b, const evec *c, size_t at) {
    factors fa, fb;
    pairs p;
    wide_product w;
    factors_of_two(&fa, &fb, a, NULL, b, NULL, at);
    multiply_pairs(&p, &fa, &fb);
    coefficients(&w, &p);
    reduce(w.d01);
    reduce(w.d2);
    put_together(LIMB(d, 0), LIMB(d, 1), LIMB1(c, 0), LIMB1(c, 1), w.d01);
    put_together(LIMB(d, 2), NULL, LIMB1(c, 2), NULL, w.d2);
}

/* ---- sums ---- */

static void add_wide(v128 to[WIDE], const v128 from[WIDE]) {
    for (size_t i = 0; i < WIDE - 1; i++)
        to[i] = XOR(to[i], from[i]);
}

static void add_pairs(pairs *to, const pairs *from) {
    add_wide(to->p, from->p);
    add_wide(to->q, from->q);
    add_wide(to->r, from->r);
}

static inline uint64_t parity(uint64_t a) {
    return (uint64_t)__builtin_popcountll(a) & 1;
}

/* The sum over the elements of planes' lower halves, or higher ones, reduced. */
static uint64_t total(const v128 c[WIDE], int high) {
    uint64_t w[2] = {0, 0};
    const uint64_t *half = (const uint64_t *)c + high;
    for (size_t i = 0; i < WIDE - 1; i++)
        w[i / 64] |= parity(half[2 * i]) << (i % 64);
    return reduce_inline(w[1], w[0]);
}

static gf192 total_of(const pairs *p) {
    wide_product w;
    coefficients(&w, p);
    return (gf192){{total(w.d01, 0), total(w.d01, 1), total(w.d2, 0)}};
}

/* sum (a + a1)(b + b1) over whole blocks of n; n >= BLOCK. */
static gf192 sum_blocks(evec a, const evec *a1, evec b, const evec *b1, size_t n) {
    factors fa, fb;
    pairs sum, p;
    for (size_t at = 0; at + BLOCK <= n; at += BLOCK) {
        factors_of_two(&fa, &fb, a, a1, b, b1, at);
        multiply_pairs(at == 0 ? &sum : &p, &fa, &fb);
        if (at > 0)
            add_pairs(&sum, &p);
    }
    return total_of(&sum);
}

/* sum (a + a1)(k + k1), k over K. */
static gf192 sum_blocks_k(evec a, const evec *a1, const uint64_t *k, const uint64_t *k1, size_t n) {
    v128 x[64], y[64], sum01[WIDE], sum2[WIDE], p[WIDE];
    for (size_t at = 0; at + BLOCK <= n; at += BLOCK) {
        const uint64_t *with = k1 != NULL ? k1 + at : NULL;
        take_apart(y, k + at, with, k + at, with);
        for (size_t l = 0; l < 3; l += 2) {
            const evec *second = a1;
            const uint64_t *s0 = second != NULL ? LIMB(*second, l) : NULL,
                           *s1 = second != NULL ? LIMB(*second, 1) : NULL;
            take_apart(x, LIMB(a, l), s0, l == 0 ? LIMB(a, 1) : NULL, s1);
            v128 *sum = l == 0 ? sum01 : sum2;
            mul64(at == 0 ? sum : p, x, y);
            if (at > 0)
                add_wide(sum, p);
        }
    }
    return (gf192){{total(sum01, 0), total(sum01, 1), total(sum2, 0)}};
}
#undef LIMB1
#undef LIMB

/* ---- the kernels: whole blocks, then the few elements that are left ---- */

static gf192 times(gf192 a, gf192 b) {
    gf192 d;
    gf192_mul_simd128(&d, &a, &b);
    return d;
}

void evec_mul_simd128(evec d, evec a, evec b, size_t n) {
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK)
        multiply_block(d, a, b, NULL, i);
    for (; i < n; i++)
        evec_set(d, i, times(evec_get(a, i), evec_get(b, i)));
}

void evec_mul_add_simd128(evec d, evec a, evec b, size_t n) {
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK)
        multiply_block(d, a, b, &d, i);
    for (; i < n; i++)
        evec_set(d, i, gf192_add(evec_get(d, i), times(evec_get(a, i), evec_get(b, i))));
}

void evec_mul_plus_simd128(evec d, evec a, evec b, evec c, size_t n) {
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK)
        multiply_block(d, a, b, &c, i);
    for (; i < n; i++)
        evec_set(d, i, gf192_add(evec_get(c, i), times(evec_get(a, i), evec_get(b, i))));
}

/* What is left of sum (a + a1)(b + b1) from element i on. */
static gf192 sum_rest(evec a, const evec *a1, evec b, const evec *b1, size_t i, size_t n) {
    gf192 s = GF192_ZERO;
    for (; i < n; i++) {
        gf192 x = evec_get(a, i), y = evec_get(b, i);
        if (a1 != NULL)
            x = gf192_add(x, evec_get(*a1, i));
        if (b1 != NULL)
            y = gf192_add(y, evec_get(*b1, i));
        s = gf192_add(s, times(x, y));
    }
    return s;
}

static gf192 sum_rest_k(evec a, const evec *a1, const uint64_t *k, const uint64_t *k1, size_t i, size_t n) {
    gf192 s = GF192_ZERO;
    for (; i < n; i++) {
        gf192 x = evec_get(a, i);
        if (a1 != NULL)
            x = gf192_add(x, evec_get(*a1, i));
        s = gf192_add(s, gf192_mul_k_ref(x, k1 != NULL ? k[i] ^ k1[i] : k[i]));
    }
    return s;
}

static gf192 sum(evec a, const evec *a1, evec b, const evec *b1, size_t n) {
    const gf192 rest = sum_rest(a, a1, b, b1, n / BLOCK * BLOCK, n);
    return n >= BLOCK ? gf192_add(rest, sum_blocks(a, a1, b, b1, n)) : rest;
}

static gf192 sum_k(evec a, const evec *a1, const uint64_t *k, const uint64_t *k1, size_t n) {
    const gf192 rest = sum_rest_k(a, a1, k, k1, n / BLOCK * BLOCK, n);
    return n >= BLOCK ? gf192_add(rest, sum_blocks_k(a, a1, k, k1, n)) : rest;
}

void evec_dot_simd128(gf192 *d, evec a, evec b, size_t n) {
    *d = sum(a, NULL, b, NULL, n);
}

void evec_dot_k_simd128(gf192 *d, evec a, const uint64_t *k, size_t n) {
    *d = sum_k(a, NULL, k, NULL, n);
}

void evec_dot3_simd128(gf192 d[3], evec a0, evec a1, evec b0, evec b1, size_t n) {
    d[0] = sum(a0, NULL, b0, NULL, n);
    d[1] = sum(a1, NULL, b1, NULL, n);
    d[2] = sum(a0, &a1, b0, &b1, n);
}

void evec_dot3_k_simd128(gf192 d[3], evec a0, evec a1, const uint64_t *k0, const uint64_t *k1, size_t n) {
    d[0] = sum_k(a0, NULL, k0, NULL, n);
    d[1] = sum_k(a1, NULL, k1, NULL, n);
    d[2] = sum_k(a0, &a1, k0, k1, n);
}

void evec_dot2_simd128(gf192 d[2], evec a0, evec a1, evec b0, evec b1, size_t n) {
    d[0] = sum(a1, NULL, b1, NULL, n);
    d[1] = sum(a0, &a1, b0, &b1, n);
}
