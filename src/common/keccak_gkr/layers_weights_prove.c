/* Keccak layers, proving: rows of five in the form that takes three products.   SPDX-License-Identifier: MIT
 * OR Apache-2.0
 *
 * With the weights w of a row of five, l_x = w_x + w_{x+3}, the row's part of a layer's sum is
 *
 *     sum_x w_x (e_x + e_{x+2} + e_{x+1} e_{x+2}) = sum_x (w_x e_{x+1} e_{x+2} + l_x e_x).
 *
 * Scaled. Put f_x = s_x e_x + t_x. The five products keep their coefficients if s_{x+1} s_{x+2} = w_x for
 * every x, and a cycle of odd length has a solution where square roots exist: with R^2 = w_0 w_1 w_2 w_3 w_4,
 * wanted are
 *
 *     s_x = w_{x+1} w_{x+3} w_{x+4} / R,    1 / s_x = w_x w_{x+2} / R,
 *
 * and the t_x can be chosen so that all linear terms but one vanish: t_{x-1} + t_{x+1} = c_x = l_x / s_x for
 * x = 0, 2, 3, 4. Then
 *
 *     the sum = f_2 (f_1 + f_3) + f_4 (f_3 + f_0) + (f_0 + C) f_1 + a constant,
 *
 * C the sum of all c_x.
 *
 * Plain, for weights of which one is zero (never, but for chance, outside layer 23) and as the other half of
 * tests: f = e, and
 *
 *     the sum = e_2 (w_0 e_1 + w_1 e_3 + l_2) + e_4 (w_2 e_3 + w_3 e_0 + l_4) + e_0 (w_4 e_1 + l_0) + lambda,
 *     lambda = l_1 e_1 + l_3 e_3. */
#include "layers_prover.h"

/* Vectors of 320 elements, row y at 64 y, in p->form. */
enum {
    SCALE = 0,
    SHIFT = 5,
    UNSCALE = 10,
    EXTRA = 15,
    SHIFT_EXTRA = 16,
    WEIGHT = 17,
    ROOT = 22,
    PRODUCT = 23,
    SPARE = 24
};
_Static_assert(SPARE + 1 == LAYERS_FORM_VECTORS, "one place for each");

static evec form(const layers_prover *p, unsigned i) {
    return (evec){p->form + (size_t)i * FIVE_WORDS, FIVE_STRIDE};
}

evec layers_scale(const layers_prover *p, unsigned x, unsigned y) {
    return evec_at(form(p, SCALE + x), 64 * y);
}
evec layers_shift(const layers_prover *p, unsigned x, unsigned y) {
    return evec_at(form(p, SHIFT + x), 64 * y);
}

/* One row for each x of lanes x + 5y, as a vector. */
static void gather(evec to, uint64_t *rows, unsigned x) {
    for (unsigned y = 0; y < 5; y++) {
        const evec from = row_of(rows, x + 5 * y);
        for (unsigned limb = 0; limb < 3; limb++)
            memcpy(to.p + limb * to.stride + 64 * y, from.p + limb * from.stride, 64 * sizeof(uint64_t));
    }
}

/* 1 / a, elementwise, by one inversion; -1 where an element is zero. */
static int invert(evec d, evec a, size_t n) {
    gf192 before[FIVE_STRIDE], all = GF192_ONE;
    for (size_t i = 0; i < n; i++) {
        before[i] = all;
        all = gf192_mul(all, evec_get(a, i));
    }
    if (gf192_is_zero(all))
        return -1;
    all = gf192_inv(all);
    for (size_t i = n; i-- > 0;) {
        const gf192 v = evec_get(a, i);
        evec_set(d, i, gf192_mul(all, before[i]));
        all = gf192_mul(all, v);
    }
    return 0;
}

/* The bits at even places, together. */
static uint64_t even_bits(uint64_t v) {
    v &= UINT64_C(0x5555555555555555);
    v = (v | v >> 1) & UINT64_C(0x3333333333333333);
    v = (v | v >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    v = (v | v >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v | v >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (v | v >> 16) & UINT64_C(0xffffffff);
}

/* Square roots, elementwise: in K, sqrt(sum a_i x^i) = sum a_2i x^i + sqrt(x) sum a_(2i+1) x^i; and sqrt(y) =
 * y^2 + y. */
static void square_roots(const layers_prover *p, evec a, evec spare, size_t n) {
    for (unsigned limb = 0; limb < 3; limb++)
        for (size_t i = 0; i < n; i++) {
            uint64_t *at = a.p + limb * a.stride + i;
            spare.p[limb * spare.stride + i] = even_bits(*at >> 1);
            *at = even_bits(*at);
        }
    p->kn->evec_scale_add(a, spare, gf192_from_k(p->sqrt_x), n);
    for (size_t i = 0; i < n; i++) {
        const gf192 v = evec_get(a, i);
        evec_set(a, i, (gf192){{v.c[0], v.c[1] ^ v.c[2], v.c[1]}});
    }
}

void layers_set_form(layers_prover *p) {
    const sheaf_kernels *kn = p->kn;
    const size_t n = FIVE_STRIDE;
    const evec root = form(p, ROOT), product = form(p, PRODUCT), spare = form(p, SPARE),
               extra = form(p, EXTRA);
    evec w[5], s[5], u[5], t[5];
    for (unsigned x = 0; x < 5; x++) {
        w[x] = form(p, WEIGHT + x);
        s[x] = form(p, SCALE + x);
        u[x] = form(p, UNSCALE + x);
        t[x] = form(p, SHIFT + x);
        gather(w[x], p->w_rows, x);
    }
    kn->evec_mul(product, w[0], w[1], n);
    for (unsigned x = 2; x < 5; x++)
        kn->evec_mul(product, product, w[x], n);
    p->plain = p->t->plain || invert(root, product, n) != 0;
    if (p->plain)
        return;
    square_roots(p, root, spare, n);
    for (unsigned x = 0; x < 5; x++) {
        kn->evec_mul(u[x], w[x], root, n);
        kn->evec_mul(u[x], u[x], w[(x + 2) % 5], n);
    }
    for (unsigned x = 0; x < 5; x++)
        kn->evec_mul(s[x], u[(x + 1) % 5], w[(x + 4) % 5], n);
    /* c_x in the place of w_x, which is not needed any more */
    for (unsigned x = 0; x < 5; x++) {
        gather(w[x], p->l_rows, x);
        kn->evec_mul(w[x], w[x], u[x], n);
    }
    static const uint8_t sums[5][2] = {{4, 2}, {5, 5}, {3, 0}, {2, 5}, {0, 5}}; /* t_x, of c's; 5: none */
    memset(extra.p, 0, FIVE_WORDS * sizeof(uint64_t));
    for (unsigned x = 0; x < 5; x++) {
        memset(t[x].p, 0, FIVE_WORDS * sizeof(uint64_t));
        for (unsigned i = 0; i < 2; i++)
            if (sums[x][i] < 5)
                xor_rows(t[x], w[sums[x][i]], n);
        xor_rows(extra, w[x], n);
    }
    const evec both = form(p, SHIFT_EXTRA);
    memcpy(both.p, t[0].p, FIVE_WORDS * sizeof(uint64_t));
    xor_rows(both, extra, n);
}

gf192 layers_form_constant(const layers_prover *p) {
    if (p->plain)
        return GF192_ZERO;
    /* sum of t_{x+1} t_{x+2} and C t_1, where t_1 = 0 */
    gf192 sum = GF192_ZERO, d;
    for (unsigned x = 1; x < 4; x++) {
        p->kn->evec_dot(&d, form(p, SHIFT + x + 1), form(p, SHIFT + (x + 2) % 5), FIVE_STRIDE);
        sum = gf192_add(sum, d);
    }
    return sum;
}

void layers_row_weights(const layers_prover *p, row_weights *r, size_t k, unsigned y) {
    if (!p->plain)
        return;
    for (unsigned x = 0; x < 5; x++) {
        if (!p->top) {
            r->w[x] = row_of(p->w_rows, x + 5 * y);
            r->l[x] = row_of(p->l_rows, x + 5 * y);
            continue;
        }
        r->w[x] = (evec){r->rows + 192 * x, 64};
        r->l[x] = (evec){r->rows + 192 * (x + 5), 64};
        memset(r->w[x].p, 0, 192 * sizeof(uint64_t));
        p->kn->evec_scale_add_k(r->w[x], p->x_powers, p->omega[25 * k + x + 5 * y], 64);
    }
    if (!p->top)
        return;
    for (unsigned x = 0; x < 5; x++) {
        memcpy(r->l[x].p, r->w[x].p, 192 * sizeof(uint64_t));
        xor_rows(r->l[x], r->w[(x + 3) % 5], 64);
    }
}

static gf192 plain_factors(const layers_prover *p, evec a, evec five, const row_weights *r) {
    const sheaf_kernels *kn = p->kn;
    const evec b = evec_at(a, HALF), b4 = evec_at(b, 64), b0 = evec_at(b, 128);
    evec e[5];
    for (unsigned x = 0; x < 5; x++)
        e[x] = evec_at(five, 64 * x);
    for (unsigned limb = 0; limb < 3; limb++)
        for (unsigned i = 0; i < 3; i++)
            memcpy(a.p + limb * a.stride + 64 * i, e[i < 2 ? 2 + 2 * i : 0].p + limb * five.stride,
                   64 * sizeof(uint64_t));
    kn->evec_mul(b, r->w[0], e[1], 64);
    kn->evec_mul_add(b, r->w[1], e[3], 64);
    xor_rows(b, r->l[2], 64);
    kn->evec_mul(b4, r->w[2], e[3], 64);
    kn->evec_mul_add(b4, r->w[3], e[0], 64);
    xor_rows(b4, r->l[4], 64);
    kn->evec_mul(b0, r->w[4], e[1], 64);
    xor_rows(b0, r->l[0], 64);
    gf192 d1, d3;
    kn->evec_dot(&d1, r->l[1], e[1], 64);
    kn->evec_dot(&d3, r->l[3], e[3], 64);
    return gf192_add(d1, d3);
}

gf192 layers_factors(const layers_prover *p, uint64_t *restrict factors, const uint64_t *restrict five,
                     const row_weights *r, unsigned y) {
    if (p->plain)
        return plain_factors(p, (evec){factors, FACTORS_STRIDE},
                             (evec){(uint64_t *)(uintptr_t)five, FIVE_STRIDE}, r);
    for (unsigned limb = 0; limb < 3; limb++) {
        const uint64_t *f = five + limb * FIVE_STRIDE;
        const uint64_t *extra = form(p, EXTRA).p + limb * FIVE_STRIDE + 64 * y;
        uint64_t *a = factors + limb * FACTORS_STRIDE, *b = a + HALF;
        for (size_t z = 0; z < 64; z++) {
            a[z] = f[128 + z];
            a[64 + z] = f[256 + z];
            a[128 + z] = f[z] ^ extra[z];
            b[z] = f[64 + z] ^ f[192 + z];
            b[64 + z] = f[192 + z] ^ f[z];
            b[128 + z] = f[64 + z];
        }
    }
    return GF192_ZERO;
}

void layers_factors_begin(const layers_prover *p, evec to[5], evec shift[5], uint64_t *factors, unsigned y) {
    static const uint8_t place[5] = {2, 5, 0, 4, 1}; /* f_0 + C, f_1, f_2, f_3 and f_4, in rows of 64 */
    for (unsigned x = 0; x < 5; x++) {
        to[x] = (evec){factors + 64 * place[x], FACTORS_STRIDE};
        shift[x] = x == 0 ? evec_at(form(p, SHIFT_EXTRA), 64 * y) : layers_shift(p, x, y);
    }
}

void layers_factors_end(const layers_prover *p, uint64_t *restrict factors, unsigned y) {
    for (unsigned limb = 0; limb < 3; limb++) {
        const uint64_t *extra = form(p, EXTRA).p + limb * FIVE_STRIDE + 64 * y;
        uint64_t *a = factors + limb * FACTORS_STRIDE, *b = a + HALF;
        for (size_t z = 0; z < 64; z++) {
            b[z] = b[128 + z] ^ b[64 + z];
            b[64 + z] ^= a[128 + z] ^ extra[z];
        }
    }
}

void layers_unform(const layers_prover *p, gf192 *e, uint64_t *const five[5]) {
    for (unsigned y = 0; y < 5; y++)
        for (unsigned x = 0; x < 5; x++) {
            const evec row = {five[y] + 64 * x, FIVE_STRIDE};
            if (!p->plain) {
                xor_rows(row, layers_shift(p, x, y), 64);
                p->kn->evec_mul(row, row, evec_at(form(p, UNSCALE + x), 64 * y), 64);
            }
            for (unsigned z = 0; z < 64; z++)
                e[64 * (x + 5 * y) + z] = evec_get(row, z);
        }
}
