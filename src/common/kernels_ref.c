/* The portable twin of every kernel in kernels.h.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Plain loops over the scalar products; what the other back ends are compared with, and what fills their
 * gaps. */
#include <string.h>
#include "kernels.h"
#include "field/gf64_inline.h"
#include "hash/keccak.h"

static void mul_ref(gf192 *d, const gf192 *a, const gf192 *b) {
    *d = gf192_mul_ref(*a, *b);
}

static void mul_k_ref(gf192 *d, const gf192 *a, uint64_t b) {
    *d = gf192_mul_k_ref(*a, b);
}

#ifndef SHEAF_VERIFIER_KERNELS /* see dispatch.c */
#define BITS(name) name##_ref
#define BITS_WIDTH 16
#include "bits_kernels.h"

static void ntt_butterfly_ref(uint64_t *a, uint64_t *b, uint64_t t, size_t n) {
    for (size_t i = 0; i < n; i++) {
        a[i] ^= mul_inline(t, b[i]);
        b[i] ^= a[i];
    }
}

static void ntt_butterfly4_ref(uint64_t *a0, uint64_t *a1, uint64_t *a2, uint64_t *a3, const uint64_t t[3],
                               size_t n) {
    ntt_butterfly_ref(a0, a2, t[0], n);
    ntt_butterfly_ref(a1, a3, t[0], n);
    ntt_butterfly_ref(a0, a1, t[1], n);
    ntt_butterfly_ref(a2, a3, t[2], n);
}

static void ntt_tail8_ref(uint64_t *a, const uint64_t *t4, const uint64_t *t2, const uint64_t *t1, size_t n) {
    for (size_t b = 0; b < n / 8; b++) {
        ntt_butterfly_ref(a + 8 * b, a + 8 * b + 4, t4[b], 4);
        for (size_t i = 0; i < 2; i++)
            ntt_butterfly_ref(a + 8 * b + 4 * i, a + 8 * b + 4 * i + 2, t2[2 * b + i], 2);
        for (size_t i = 0; i < 4; i++)
            ntt_butterfly_ref(a + 8 * b + 2 * i, a + 8 * b + 2 * i + 1, t1[4 * b + i], 1);
    }
}

#define NTT(name) ntt_##name##_ref
#include "ntt_steps.h"

static void evec_mul_ref(evec d, evec a, evec b, size_t n) {
    for (size_t i = 0; i < n; i++)
        evec_set(d, i, gf192_mul_ref(evec_get(a, i), evec_get(b, i)));
}

static void evec_mul_add_ref(evec d, evec a, evec b, size_t n) {
    for (size_t i = 0; i < n; i++)
        evec_set(d, i, gf192_add(evec_get(d, i), gf192_mul_ref(evec_get(a, i), evec_get(b, i))));
}

static void evec_mul_plus_ref(evec d, evec a, evec b, evec c, size_t n) {
    for (size_t i = 0; i < n; i++)
        evec_set(d, i, gf192_add(gf192_mul_ref(evec_get(a, i), evec_get(b, i)), evec_get(c, i)));
}
static void evec_scale_ref(evec d, evec a, gf192 c, size_t n) {
    for (size_t i = 0; i < n; i++)
        evec_set(d, i, gf192_mul_ref(c, evec_get(a, i)));
}

static void evec_scale_add_ref(evec d, evec a, gf192 c, size_t n) {
    for (size_t i = 0; i < n; i++)
        evec_set(d, i, gf192_add(evec_get(d, i), gf192_mul_ref(c, evec_get(a, i))));
}

static void evec_scale_add_k_ref(evec d, const uint64_t *k, gf192 c, size_t n) {
    for (size_t i = 0; i < n; i++)
        evec_set(d, i, gf192_add(evec_get(d, i), gf192_mul_k_ref(c, k[i])));
}

static void evec_fold_ref(evec d, evec a0, evec a1, gf192 r, size_t n) {
    for (size_t i = 0; i < n; i++) {
        gf192 a = evec_get(a0, i);
        evec_set(d, i, gf192_add(a, gf192_mul_ref(r, gf192_add(a, evec_get(a1, i)))));
    }
}

static void evec_fold4_ref(evec d, const evec a[4], const gf192 r[2], size_t n) {
    for (size_t i = 0; i < n; i++) {
        gf192 v[4];
        for (size_t j = 0; j < 4; j++) v[j] = evec_get(a[j], i);
        v[0] = gf192_add(v[0], gf192_mul_ref(r[0], gf192_add(v[0], v[1])));
        v[2] = gf192_add(v[2], gf192_mul_ref(r[0], gf192_add(v[2], v[3])));
        evec_set(d, i, gf192_add(v[0], gf192_mul_ref(r[1], gf192_add(v[0], v[2]))));
    }
}
static void evec_fold_k_ref(evec d, const uint64_t *k0, const uint64_t *k1, gf192 r, size_t n) {
    for (size_t i = 0; i < n; i++)
        evec_set(d, i, gf192_add(gf192_from_k(k0[i]), gf192_mul_k_ref(r, k0[i] ^ k1[i])));
}

static void evec_dot_ref(gf192 *d, evec a, evec b, size_t n) {
    gf192 s = GF192_ZERO;
    for (size_t i = 0; i < n; i++)
        s = gf192_add(s, gf192_mul_ref(evec_get(a, i), evec_get(b, i)));
    *d = s;
}

static void evec_dot_k_ref(gf192 *d, evec a, const uint64_t *k, size_t n) {
    uint64_t hi[3] = {0, 0, 0}, lo[3] = {0, 0, 0};
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < 3; l++) {
            uint64_t h, w;
            clmul64_inline(&h, &w, a.p[l * a.stride + i], k[i]);
            hi[l] ^= h;
            lo[l] ^= w;
        }
    for (size_t l = 0; l < 3; l++)
        d->c[l] = reduce_inline(hi[l], lo[l]);
}

static void evec_dot3_ref(gf192 d[3], evec a0, evec a1, evec b0, evec b1, size_t n) {
    gf192 s0 = GF192_ZERO, s1 = GF192_ZERO, s2 = GF192_ZERO;
    for (size_t i = 0; i < n; i++) {
        gf192 x0 = evec_get(a0, i), x1 = evec_get(a1, i), y0 = evec_get(b0, i), y1 = evec_get(b1, i);
        s0 = gf192_add(s0, gf192_mul_ref(x0, y0));
        s1 = gf192_add(s1, gf192_mul_ref(x1, y1));
        s2 = gf192_add(s2, gf192_mul_ref(gf192_add(x0, x1), gf192_add(y0, y1)));
    }
    d[0] = s0;
    d[1] = s1;
    d[2] = s2;
}

static void evec_dot3_k_ref(gf192 d[3], evec a0, evec a1, const uint64_t *k0, const uint64_t *k1, size_t n) {
    gf192 s0 = GF192_ZERO, s1 = GF192_ZERO, s2 = GF192_ZERO;
    for (size_t i = 0; i < n; i++) {
        gf192 x0 = evec_get(a0, i), x1 = evec_get(a1, i);
        s0 = gf192_add(s0, gf192_mul_k_ref(x0, k0[i]));
        s1 = gf192_add(s1, gf192_mul_k_ref(x1, k1[i]));
        s2 = gf192_add(s2, gf192_mul_k_ref(gf192_add(x0, x1), k0[i] ^ k1[i]));
    }
    d[0] = s0;
    d[1] = s1;
    d[2] = s2;
}

static void evec_dot2_ref(gf192 d[2], evec a0, evec a1, evec b0, evec b1, size_t n) {
    gf192 s1 = GF192_ZERO, s2 = GF192_ZERO;
    for (size_t i = 0; i < n; i++) {
        gf192 x1 = evec_get(a1, i), y1 = evec_get(b1, i);
        s1 = gf192_add(s1, gf192_mul_ref(x1, y1));
        s2 = gf192_add(s2, gf192_mul_ref(gf192_add(evec_get(a0, i), x1), gf192_add(evec_get(b0, i), y1)));
    }
    d[0] = s1;
    d[1] = s2;
}
static void evec_dot8_ref(gf192 d[8], const evec a[4], const evec b[4], size_t n) {
    for (size_t k = 0; k < 8; k++) {
        /* which of the four the point's value is the sum of */
        static const uint8_t u[3] = {5, 10, 15}, v[3] = {3, 12, 15};
        const unsigned of = u[(k + 1) % 3] & v[(k + 1) / 3];
        d[k] = GF192_ZERO;
        for (size_t i = 0; i < n; i++) {
            gf192 x = GF192_ZERO, y = GF192_ZERO;
            for (unsigned j = 0; j < 4; j++) {
                if ((of >> j & 1) == 0) continue;
                x = gf192_add(x, evec_get(a[j], i));
                y = gf192_add(y, evec_get(b[j], i));
            }
            d[k] = gf192_add(d[k], gf192_mul_ref(x, y));
        }
    }
}
static void bitmap_prepare_ref(bitmap8 *m, const gf192 col[8]) {
    for (size_t half = 0; half < 2; half++) {
        gf192 t[16] = {GF192_ZERO};
        for (size_t i = 1; i < 16; i++) {
            size_t low = 0;
            while (!(i >> low & 1))
                low++;
            t[i] = gf192_add(t[i & (i - 1)], col[4 * half + low]);
        }
        memcpy(m->tab + half * sizeof t, t, sizeof t);
    }
}

static void bitmap_accumulate_ref(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes,
                                  size_t byte_stride, size_t count) {
    uint64_t s[192];
    memcpy(s, acc, sizeof s);
    for (size_t j = 0; j < count; j++) {
        gf192 t[32];
        memcpy(t, maps[j * map_stride].tab, sizeof t);
        const uint8_t *in = bytes + j * byte_stride;
        for (size_t i = 0; i < 64; i++) {
            const gf192 *lo = &t[in[i] & 15], *hi = &t[16 + (in[i] >> 4)];
            for (size_t l = 0; l < 3; l++)
                s[64 * l + i] ^= lo->c[l] ^ hi->c[l];
        }
    }
    memcpy(acc, s, sizeof s);
}

static void bitmap_finish_ref(evec d, const uint8_t *acc) {
    for (size_t l = 0; l < 3; l++)
        memcpy(d.p + l * d.stride, acc + 512 * l, 512);
}

static void bitmap_sum_ref(evec d, const bitmap8 *maps, const uint8_t *bytes, size_t byte_stride, size_t count) {
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES] = {0};
    bitmap_accumulate_ref(acc, maps, 1, bytes, byte_stride, count);
    bitmap_finish_ref(d, acc);
}
static void bits_transpose8_ref(uint8_t *out, size_t out_stride, const uint8_t *in, size_t in_stride) {
    for (size_t i = 0; i < 64; i++) {
        uint64_t x = 0, t;
        for (size_t b = 0; b < 8; b++)
            x |= (uint64_t)in[b * in_stride + i] << (8 * b);
        t = (x ^ x >> 7) & 0x00aa00aa00aa00aau;
        x ^= t ^ t << 7;
        t = (x ^ x >> 14) & 0x0000cccc0000ccccu;
        x ^= t ^ t << 14;
        t = (x ^ x >> 28) & 0x00000000f0f0f0f0u;
        x ^= t ^ t << 28;
        for (size_t j = 0; j < 8; j++)
            out[j * out_stride + i] = (uint8_t)(x >> (8 * j));
    }
}

#endif

const sheaf_kernels sheaf_kernels_ref = {
    .name = "portable",
    .keccak_f1600_x8 = keccak_f1600_x8_ref,
    .keccak_digest_x8 = keccak_f1600_x8_ref,
    .keccak_f1600 = keccak_f1600_ref,
    .gf192_mul = mul_ref,
    .gf192_mul_k = mul_k_ref,
#ifndef SHEAF_VERIFIER_KERNELS
    .ntt_butterfly = ntt_butterfly_ref,
    .ntt_butterfly4 = ntt_butterfly4_ref,
    .ntt_tail8 = ntt_tail8_ref,
    .ntt_rows = ntt_rows_ref,
    .ntt_block = ntt_block_ref,
    .evec_mul = evec_mul_ref,
    .evec_mul_add = evec_mul_add_ref,
    .evec_mul_plus = evec_mul_plus_ref,
    .evec_scale = evec_scale_ref,
    .evec_scale_add = evec_scale_add_ref,
    .evec_scale_add_k = evec_scale_add_k_ref,
    .evec_fold = evec_fold_ref,
    .evec_fold4 = evec_fold4_ref,
    .evec_fold_k = evec_fold_k_ref,
    .evec_dot = evec_dot_ref,
    .evec_dot_k = evec_dot_k_ref,
    .evec_dot3 = evec_dot3_ref,
    .evec_dot3_k = evec_dot3_k_ref,
    .evec_dot2 = evec_dot2_ref,
    .evec_dot8 = evec_dot8_ref,
    .bitmap_prepare = bitmap_prepare_ref,
    .bitmap_accumulate = bitmap_accumulate_ref,
    .bitmap_finish = bitmap_finish_ref,
    .bitmap_sum = bitmap_sum_ref,
    .bits_transpose8 = bits_transpose8_ref,
    .sliced_linear = sliced_linear_ref,
    .sliced_chi = sliced_chi_ref,
    .grid_chi = grid_chi_ref,
#endif
};
