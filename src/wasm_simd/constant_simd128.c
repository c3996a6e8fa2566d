/* Products of a vector by one constant.   docs/protocol.md 1, 4.2.   SPDX-License-Identifier: MIT OR
 * Apache-2.0
 *
 * Multiplying by a constant of K is linear over F2: for each nibble of the word and each byte of the product
 * a table of sixteen bytes. Words are taken apart into planes of bytes, 64 words at once, so that one
 * instruction looks up sixteen of them. A constant of E takes six such products (Karatsuba): with p_i = r_i
 * x_i, p_ij = (r_i + r_j)(x_i + x_j) and y^3 = y + 1, d0 = p0 + p1 + p2 + p12,  d1 = p0 + p01 + p12,  d2 = p0
 * + p1 + p02. */
#include <string.h>
#include "kernels_simd128.h"
#include "field/gf64_inline.h"

enum {
    BLOCK = 64,  /* words at once */
    PARTS = 4,   /* vectors of a plane */
    NIBBLES = 16 /* of a word */
};

/* tab[i][q]: byte q of the products by nibble i. */
typedef struct k_table {
    v128 tab[NIBBLES][8];
} k_table;

/* 64 words: plane q has byte q of each. */
typedef struct planes {
    v128 p[8][PARTS];
} planes;

/* The nibbles of 64 words, the lowest first. */
typedef struct nibbles {
    v128 n[NIBBLES][PARTS];
} nibbles;

/* ---- tables ---- */

static void k_table_make(k_table *t, uint64_t c) {
    for (size_t i = 0; i < NIBBLES; i++) {
        const uint64_t c2 = gf64_mul_x(c), c4 = gf64_mul_x(c2), c8 = gf64_mul_x(c4);
        const v128 from_8_on = wasm_u64x2_make(0, c8);
        v128 words[8]; /* k and k + 8 times c */
        for (size_t k = 0; k < 8; k++)
            words[k] =
                XOR(from_8_on, wasm_u64x2_splat((k & 1 ? c : 0) ^ (k & 2 ? c2 : 0) ^ (k & 4 ? c4 : 0)));
        bytes_from_words(t->tab[i], words);
        c = gf64_mul_x(c8);
    }
}

static void k_table_sum(k_table *t, const k_table *a, const k_table *b) {
    for (size_t i = 0; i < NIBBLES; i++)
        for (size_t q = 0; q < 8; q++)
            t->tab[i][q] = XOR(a->tab[i][q], b->tab[i][q]);
}

/* The tables of the constant that was used last: a fold goes through many rows with one. */
typedef struct e_tables {
    gf192 c;
    int whole; /* the sums are made, too */
    k_table one[3], sum01, sum02, sum12;
} e_tables;

static _Thread_local e_tables last; /* zero to begin with, which are the tables of zero but for `whole` */

/* Those of c's coefficients, and where sums is not 0 those of their sums. */
static const e_tables *tables_of(gf192 c, int sums) {
    e_tables *t = &last;
    if (!gf192_equal(t->c, c)) {
        for (size_t l = 0; l < 3; l++)
            k_table_make(&t->one[l], c.c[l]);
        t->c = c;
        t->whole = 0;
    }
    if (sums && !t->whole) {
        k_table_sum(&t->sum01, &t->one[0], &t->one[1]);
        k_table_sum(&t->sum02, &t->one[0], &t->one[2]);
        k_table_sum(&t->sum12, &t->one[1], &t->one[2]);
        t->whole = 1;
    }
    return t;
}

/* ---- words and planes ---- */

/* Words 16 part .. 16 part + 15, neighbours in one vector: in the planes the even ones come first. */
static inline void take_apart(nibbles *to, size_t part, const v128 words[8]) {
    const v128 low = wasm_u8x16_splat(15);
    v128 bytes[8];
    bytes_from_words(bytes, words);
    for (size_t q = 0; q < 8; q++) {
        to->n[2 * q][part] = AND(bytes[q], low);
        to->n[2 * q + 1][part] = AND(wasm_u16x8_shr(bytes[q], 4), low);
    }
}

static void nibbles_of(nibbles *to, const uint64_t *w) {
    for (size_t part = 0; part < PARTS; part++) {
        v128 words[8];
        for (size_t k = 0; k < 8; k++)
            words[k] = load(w + 16 * part + 2 * k);
        take_apart(to, part, words);
    }
}

static void nibbles_of_sum(nibbles *to, const uint64_t *w0, const uint64_t *w1) {
    for (size_t part = 0; part < PARTS; part++) {
        v128 words[8];
        for (size_t k = 0; k < 8; k++)
            words[k] = XOR(load(w0 + 16 * part + 2 * k), load(w1 + 16 * part + 2 * k));
        take_apart(to, part, words);
    }
}

static void nibbles_sum(nibbles *to, const nibbles *a, const nibbles *b) {
    for (size_t i = 0; i < NIBBLES; i++)
        for (size_t part = 0; part < PARTS; part++)
            to->n[i][part] = XOR(a->n[i][part], b->n[i][part]);
}

/* to = from, or to = from + base where there is one. */
static void words_of(uint64_t *to, const uint64_t *base, const planes *from) {
    for (size_t part = 0; part < PARTS; part++) {
        v128 bytes[8], words[8];
        for (size_t q = 0; q < 8; q++)
            bytes[q] = from->p[q][part];
        words_from_bytes(words, bytes);
        for (size_t k = 0; k < 8; k++) { /* the even words came first, see take_apart */
            const size_t at = 16 * part + 2 * k, h = k / 2;
            const v128 pair = k % 2 ? HIGH64(words[h], words[4 + h]) : LOW64(words[h], words[4 + h]);
            store(to + at, base != NULL ? XOR(pair, load(base + at)) : pair);
        }
    }
}

/* ---- products ---- */

/* Up to three targets gain t x. */
static inline void add_product(planes *d0, planes *d1, planes *d2, const k_table *t, const nibbles *x) {
    for (size_t q = 0; q < 8; q += 2) {
        v128 s[2 * PARTS];
        for (size_t i = 0; i < 2 * PARTS; i++)
            s[i] = wasm_u64x2_splat(0);
        for (size_t i = 0; i < NIBBLES; i++) {
            const v128 even = t->tab[i][q], odd = t->tab[i][q + 1];
            for (size_t part = 0; part < PARTS; part++) {
                const v128 index = x->n[i][part];
                s[part] = XOR(s[part], LOOK_UP(even, index));
                s[PARTS + part] = XOR(s[PARTS + part], LOOK_UP(odd, index));
            }
        }
        for (size_t i = 0; i < 2 * PARTS; i++) {
            const size_t plane = q + i / PARTS, part = i % PARTS;
            if (d0 != NULL)
                d0->p[plane][part] = XOR(d0->p[plane][part], s[i]);
            if (d1 != NULL)
                d1->p[plane][part] = XOR(d1->p[plane][part], s[i]);
            if (d2 != NULL)
                d2->p[plane][part] = XOR(d2->p[plane][part], s[i]);
        }
    }
}

/* d = c x for 64 elements. x is overwritten. */
static void multiply(planes d[3], const e_tables *t, nibbles x[3]) {
    nibbles sum;
    memset(d, 0, 3 * sizeof *d);
    add_product(&d[0], &d[1], &d[2], &t->one[0], &x[0]);
    add_product(&d[0], NULL, &d[2], &t->one[1], &x[1]);
    add_product(&d[0], NULL, NULL, &t->one[2], &x[2]);
    nibbles_sum(&sum, &x[1], &x[2]);
    add_product(&d[0], &d[1], NULL, &t->sum12, &sum);
    nibbles_sum(&x[1], &x[0], &x[1]);
    add_product(&d[1], NULL, NULL, &t->sum01, &x[1]);
    nibbles_sum(&x[2], &x[0], &x[2]);
    add_product(&d[2], NULL, NULL, &t->sum02, &x[2]);
}

/* d = c x for 64 words of K. */
static void multiply_k(planes d[3], const e_tables *t, const nibbles *x) {
    memset(d, 0, 3 * sizeof *d);
    for (size_t l = 0; l < 3; l++)
        add_product(&d[l], NULL, NULL, &t->one[l], x);
}

/* ---- the kernels: whole blocks, then the few elements that are left ---- */

static gf192 times(gf192 a, gf192 b) {
    gf192 d;
    gf192_mul_simd128(&d, &a, &b);
    return d;
}

void evec_scale_simd128(evec d, evec a, gf192 c, size_t n) {
    const e_tables *t = n >= BLOCK ? tables_of(c, 1) : NULL;
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        nibbles x[3];
        planes s[3];
        for (size_t l = 0; l < 3; l++)
            nibbles_of(&x[l], a.p + l * a.stride + i);
        multiply(s, t, x);
        for (size_t l = 0; l < 3; l++)
            words_of(d.p + l * d.stride + i, NULL, &s[l]);
    }
    for (; i < n; i++)
        evec_set(d, i, times(c, evec_get(a, i)));
}

void evec_scale_add_simd128(evec d, evec a, gf192 c, size_t n) {
    const e_tables *t = n >= BLOCK ? tables_of(c, 1) : NULL;
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        nibbles x[3];
        planes s[3];
        for (size_t l = 0; l < 3; l++)
            nibbles_of(&x[l], a.p + l * a.stride + i);
        multiply(s, t, x);
        for (size_t l = 0; l < 3; l++)
            words_of(d.p + l * d.stride + i, d.p + l * d.stride + i, &s[l]);
    }
    for (; i < n; i++)
        evec_set(d, i, gf192_add(evec_get(d, i), times(c, evec_get(a, i))));
}

void evec_scale_add_k_simd128(evec d, const uint64_t *k, gf192 c, size_t n) {
    const e_tables *t = n >= BLOCK ? tables_of(c, 0) : NULL;
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        nibbles x;
        planes s[3];
        nibbles_of(&x, k + i);
        multiply_k(s, t, &x);
        for (size_t l = 0; l < 3; l++)
            words_of(d.p + l * d.stride + i, d.p + l * d.stride + i, &s[l]);
    }
    for (; i < n; i++)
        evec_set(d, i, gf192_add(evec_get(d, i), gf192_mul_k_ref(c, k[i])));
}

void evec_fold_simd128(evec d, evec a0, evec a1, gf192 r, size_t n) {
    const e_tables *t = n >= BLOCK ? tables_of(r, 1) : NULL;
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        nibbles x[3];
        planes s[3];
        for (size_t l = 0; l < 3; l++)
            nibbles_of_sum(&x[l], a0.p + l * a0.stride + i, a1.p + l * a1.stride + i);
        multiply(s, t, x);
        for (size_t l = 0; l < 3; l++)
            words_of(d.p + l * d.stride + i, a0.p + l * a0.stride + i, &s[l]);
    }
    for (; i < n; i++) {
        const gf192 a = evec_get(a0, i);
        evec_set(d, i, gf192_add(a, times(r, gf192_add(a, evec_get(a1, i)))));
    }
}

void evec_fold_k_simd128(evec d, const uint64_t *k0, const uint64_t *k1, gf192 r, size_t n) {
    const e_tables *t = n >= BLOCK ? tables_of(r, 0) : NULL;
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        nibbles x;
        planes s[3];
        nibbles_of_sum(&x, k0 + i, k1 + i);
        multiply_k(s, t, &x);
        for (size_t l = 0; l < 3; l++)
            words_of(d.p + l * d.stride + i, l == 0 ? k0 + i : NULL, &s[l]);
    }
    for (; i < n; i++)
        evec_set(d, i, gf192_add(gf192_from_k(k0[i]), gf192_mul_k_ref(r, k0[i] ^ k1[i])));
}

/* A table costs as much as a few dozen products: shorter rows take those. */
static void butterfly(uint64_t *a, uint64_t *b, uint64_t t, const k_table *table, size_t n) {
    size_t i = 0;
    for (; table != NULL && i + BLOCK <= n; i += BLOCK) {
        nibbles x;
        planes s;
        memset(&s, 0, sizeof s);
        nibbles_of(&x, b + i);
        add_product(&s, NULL, NULL, table, &x);
        words_of(a + i, a + i, &s);
        for (size_t k = 0; k < BLOCK; k += 2)
            store(b + i + k, XOR(load(b + i + k), load(a + i + k)));
    }
    for (; i < n; i++) {
        a[i] ^= mul_inline(t, b[i]);
        b[i] ^= a[i];
    }
}

void ntt_butterfly_simd128(uint64_t *a, uint64_t *b, uint64_t t, size_t n) {
    k_table table;
    if (n >= BLOCK)
        k_table_make(&table, t);
    butterfly(a, b, t, n >= BLOCK ? &table : NULL, n);
}

void ntt_butterfly4_simd128(uint64_t *a0, uint64_t *a1, uint64_t *a2, uint64_t *a3, const uint64_t t[3],
                            size_t n) {
    k_table table;
    if (n >= BLOCK)
        k_table_make(&table, t[0]);
    butterfly(a0, a2, t[0], n >= BLOCK ? &table : NULL, n);
    butterfly(a1, a3, t[0], n >= BLOCK ? &table : NULL, n);
    ntt_butterfly_simd128(a0, a1, t[1], n);
    ntt_butterfly_simd128(a2, a3, t[2], n);
}
