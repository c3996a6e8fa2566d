/* The back-end contract: every kernel, its layout, bounds and aliasing, said once.
 *
 * A back end is one sheaf_kernels table. kernels_ref.c is the portable twin of every entry; the others
 * (src/native_simd/x86_64/kernels_avx2.c, kernels_avx512.c, aarch64/kernels_neon.c, src/wasm_simd/kernels_simd128.c) may leave
 * an entry NULL, and dispatch fills it from the next lower back end (the bitmap_ ones only together: they share a layout).
 * Dispatch is per block of work, never per product (gf192_mul excepted, for the verifier).
 *
 * Vectors of K words: uint64_t[n].  Vectors of E elements ("evec"): three planes of K words, limb l of element i at
 * p[l * stride + i].  Unless said otherwise: n is a multiple of 8 (n = 0 allowed), pointers are 64-byte aligned and
 * strides are multiples of 8 words; outputs either equal an input exactly (same pointer, same stride) or do not overlap it.
 * Timing depends on n only, except where a comment says _var. */
#ifndef SHEAF_KERNELS_H
#define SHEAF_KERNELS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "field/gf192.h"

typedef struct evec {
    uint64_t *p;
    size_t stride;
} evec;

static inline evec evec_at(evec v, size_t i) { return (evec){v.p + i, v.stride}; }
static inline gf192 evec_get(evec v, size_t i) {
    return (gf192){{v.p[i], v.p[v.stride + i], v.p[2 * v.stride + i]}};
}
static inline void evec_set(evec v, size_t i, gf192 a) {
    v.p[i] = a.c[0];
    v.p[v.stride + i] = a.c[1];
    v.p[2 * v.stride + i] = a.c[2];
}

typedef enum sheaf_isa {
    SHEAF_ISA_PORTABLE = 0,
    SHEAF_ISA_AVX2 = 1,
    SHEAF_ISA_AVX512 = 2,
    SHEAF_ISA_SIMD128 = 3,
    SHEAF_ISA_NEON = 4,
    SHEAF_ISA_COUNT_
} sheaf_isa;

/* 8 bits -> 192 bits, F2-linear: column c (0..7) is the image of bit c. `tab` is the same map in the form that the back end
 * likes best; bitmap_prepare fills it from the columns. Its size is fixed, so that an array of maps can be laid out. */
typedef struct bitmap8 {
    _Alignas(64) uint8_t tab[768];
} bitmap8;

/* See grid_chi. */
typedef struct grid_shape {
    unsigned inner; /* 2 or 3 */
    int linear;
    size_t picks; /* at most 8 */
    size_t pick[8];
} grid_shape;

#define NTT_BLOCK_MIN 5
#define NTT_BLOCK_LOG 11

typedef struct sheaf_kernels {
    const char *name;

    /* ---- Keccak ---- */
    /* Eight Keccak-f[1600] states at once: lane l (= x + 5y) of state i is s[8 * l + i]. */
    void (*keccak_f1600_x8)(uint64_t s[200]);
    /* The same for public states of which lanes 0 to 3 are all that is wanted: what the others hold afterwards is
     * not said, and no memory is wiped. */
    void (*keccak_digest_x8)(uint64_t s[200]);
    /* One state, 25 lanes. */
    void (*keccak_f1600)(uint64_t s[25]);

    /* ---- scalar products in E ---- */
    void (*gf192_mul)(gf192 *d, const gf192 *a, const gf192 *b);
    void (*gf192_mul_k)(gf192 *d, const gf192 *a, uint64_t b); /* b in K */

    /* ---- additive NTT over K ---- */
    /* One butterfly layer on two rows: a += t*b, then b += a. a, b disjoint. */
    void (*ntt_butterfly)(uint64_t *a, uint64_t *b, uint64_t t, size_t n);
    /* Four rows, two layers at once (radix 4): layer one pairs (a0,a2) and (a1,a3) with twiddle t0; layer two pairs
     * (a0,a1) with t1 and (a2,a3) with t2. Rows disjoint. */
    void (*ntt_butterfly4)(uint64_t *a0, uint64_t *a1, uint64_t *a2, uint64_t *a3, const uint64_t t[3], size_t n);
    /* The last three layers (distances 4, 2, 1) on n words, n/8 blocks of 8: block b uses t4[b] for distance 4,
     * t2[2b..2b+1] for distance 2 and t1[4b..4b+3] for distance 1. The twiddles need the alignment of words only. */
    void (*ntt_tail8)(uint64_t *a, const uint64_t *t4, const uint64_t *t2, const uint64_t *t1, size_t n);

    /* Several layers at once. The twiddle of block i of layer j, counted from the first of them, is tw[2^j + i].
     * log >= 1 layers on 2^log rows of n words: row r lies at from + r * from_stride and goes to
     * to + r * to_stride. */
    void (*ntt_rows)(uint64_t *to, size_t to_stride, const uint64_t *from, size_t from_stride,
                     const uint64_t *tw, unsigned log, size_t n);
    /* All layers of 2^log words, NTT_BLOCK_MIN <= log <= NTT_BLOCK_LOG. The last layer's twiddles are below
     * 2^32. */
    void (*ntt_block)(uint64_t *to, const uint64_t *from, const uint64_t *tw, unsigned log);

    /* ---- vectors over K and E ---- */
    void (*evec_mul)(evec d, evec a, evec b, size_t n);               /* d = a b */
    void (*evec_mul_add)(evec d, evec a, evec b, size_t n);           /* d += a b */
    void (*evec_mul_plus)(evec d, evec a, evec b, evec c, size_t n);  /* d = a b + c */
    void (*evec_scale)(evec d, evec a, gf192 c, size_t n);            /* d = c a */
    void (*evec_scale_add)(evec d, evec a, gf192 c, size_t n);        /* d += c a */
    void (*evec_scale_add_k)(evec d, const uint64_t *k, gf192 c, size_t n); /* d += c k, k over K */
    void (*evec_fold)(evec d, evec a0, evec a1, gf192 r, size_t n);   /* d = a0 + r (a0 + a1) */
    /* Two variables at once: the fold with r[1] of the folds with r[0] of a[0], a[1] and of a[2], a[3]. d equals a[0] or overlaps
     * none of them. */
    void (*evec_fold4)(evec d, const evec a[4], const gf192 r[2], size_t n);
    void (*evec_fold_k)(evec d, const uint64_t *k0, const uint64_t *k1, gf192 r, size_t n); /* the same, K inputs */
    void (*evec_dot)(gf192 *d, evec a, evec b, size_t n);             /* sum a b */
    void (*evec_dot_k)(gf192 *d, evec a, const uint64_t *k, size_t n); /* sum a k */
    /* Values of a product of two affine polynomials, summed:
     * d[0] = sum a0 b0 (at X = 0), d[1] = sum a1 b1 (at 1), d[2] = sum (a0+a1)(b0+b1) (leading coefficient). */
    void (*evec_dot3)(gf192 d[3], evec a0, evec a1, evec b0, evec b1, size_t n);
    void (*evec_dot3_k)(gf192 d[3], evec a0, evec a1, const uint64_t *k0, const uint64_t *k1, size_t n);
    /* d[0] = sum a1 b1, d[1] = sum (a0+a1)(b0+b1): what a round with a known factor needs. */
    void (*evec_dot2)(gf192 d[2], evec a0, evec a1, evec b0, evec b1, size_t n);
    /* Values as evec_dot3 has them for two variables, a[i] and b[i] at the variables' values i % 2 and i / 2: d[u + 3 v - 1] is the
     * sum at u, v in {0, 1, infinity}, infinity being the leading coefficient; the one at 0, 0 is left out. */
    void (*evec_dot8)(gf192 d[8], const evec a[4], const evec b[4], size_t n);

    /* ---- F2-linear maps on bytes (Keccak layers on bits, Merkle-free) ---- */
    /* Fill one map from its 8 columns. */
    void (*bitmap_prepare)(bitmap8 *m, const gf192 col[8]);
    /* acc[i] += sum_{j < count} map_j(bytes[j * byte_stride + i]) for i in 0..63, map_j = maps[j * map_stride].
     * acc is an opaque accumulator of 64 elements in the back end's own layout (ACC_BYTES bytes, 64-byte aligned; all zero is
     * the zero of every layout); bitmap_finish turns it into 64 E elements in planes (d.stride arbitrary multiple of 8). bytes
     * need no alignment. Not constant time in `bytes` on the portable back end (_var). */
    void (*bitmap_accumulate)(uint8_t *acc, const bitmap8 *maps, size_t map_stride, const uint8_t *bytes, size_t byte_stride,
                              size_t count);
    void (*bitmap_finish)(evec d, const uint8_t *acc);
    /* Both for one sum: d[i] = sum_{j < count} maps[j](bytes[j * byte_stride + i]), i in 0..63. */
    void (*bitmap_sum)(evec d, const bitmap8 *maps, const uint8_t *bytes, size_t byte_stride, size_t count);
    /* 8x8 bit transposes: for each i in 0..63, bit b of out[j * out_stride + i] = bit j of in[b * in_stride + i], b, j in 0..7. */
    void (*bits_transpose8)(uint8_t *out, size_t out_stride, const uint8_t *in, size_t in_stride);

    /* ---- rows of 64 bytes: bits of many instances at once; no alignment is asked for ---- */
    /* A bit-sliced Keccak state: 25 rows, byte z of row l has bit z of lane l of eight states. One round in its halves:
     * out = pi rho theta in, and a = chi(e) + RC[r]. Disjoint. */
    void (*sliced_linear)(uint8_t *out, const uint8_t *in);
    void (*sliced_chi)(uint8_t *a, const uint8_t *e, unsigned r);
    /* chi on the grid {0,1,inf}^inner, inf being the sum of 0 and 1, for a row of five lanes. Lane x has a row for each point of
     * {0,1}^inner, first variable fastest: row i is the sum over j < picks of what is at from + x * lane_stride + pick[j] + 64 i.
     * With e_x the lanes' rows on the grid, 3^inner of them, out + x * out_stride gets e_{x+1} & e_{x+2}; where `linear` is
     * set, the points of {0,1}^inner also have e_x + e_{x+2} (a linear term vanishes at inf). Disjoint. */
    void (*grid_chi)(uint8_t *out, size_t out_stride, const uint8_t *from, size_t lane_stride, const grid_shape *shape);
} sheaf_kernels;

#define BITMAP_ACC_BYTES 1536

extern const sheaf_kernels sheaf_kernels_ref;
extern const sheaf_kernels sheaf_kernels_avx2;   /* present only in builds for x86-64 */
extern const sheaf_kernels sheaf_kernels_avx512; /* the same */
extern const sheaf_kernels sheaf_kernels_neon;   /* in builds for arm64 */
extern const sheaf_kernels sheaf_kernels_simd128; /* in builds for WebAssembly; its name says whether relaxed SIMD is used */

/* The chosen table: probed once, capped by SHEAF_ISA=portable|avx2|avx512|neon, self-tested against the portable one. Thread safe. */
const sheaf_kernels *kernels_choose(void);
extern const sheaf_kernels *_Atomic sheaf_kernels_chosen; /* NULL before the first use */
static inline const sheaf_kernels *kernels(void) {
    const sheaf_kernels *k = atomic_load_explicit(&sheaf_kernels_chosen, memory_order_acquire);
    return k != NULL ? k : kernels_choose();
}
/* Whether SHEAF_ISA may have this value: a back end's name, empty, or NULL for unset. */
int kernels_cap_known(const char *value);
/* The table of one back end with its gaps filled from lower ones, or NULL where the machine or the build lacks it. */
const sheaf_kernels *kernels_for(sheaf_isa isa);
sheaf_isa kernels_isa(void);
/* Whether the chosen back end multiplies without carries in hardware. Where it does not, a product in E takes longer than dozens of
 * byte maps, and common code may prefer those; the bytes that it makes are the same. */
int kernels_have_clmul(void);
const char *kernels_describe(void); /* e.g. "avx2 (vpclmulqdq)" */

/* Tests only: force a back end for the process; returns 0, or -1 where it is unavailable. */
int kernels_force(sheaf_isa isa);

#endif
