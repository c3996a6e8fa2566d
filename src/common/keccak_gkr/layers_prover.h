/* What the files of the Keccak layers' prover share.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Instances i = k 2^m + s are kept as bits. With t "bit rounds", i = (i', low), low the t lowest bits of s. A
 * block holds eight consecutive i' as the bits of its bytes: block b has, for each low, a bit-sliced Keccak
 * state of 25 x 64 bytes whose byte (l, z) is bit z of lane l for i' = 8 b + 0..7. So the Keccak round is
 * XOR, AND and moving bytes, and a sum of bits against field elements is an F2-linear map from a byte to E,
 * summed over blocks, for 64 places z at once. What is read together lies together: the rows of 64 bytes of a
 * lane stand low by low, the lanes of a block one after the other.
 *
 *     layers_trace_prove.c    the states of all layers
 *     layers_bits_prove.c     t rounds on bits: the summand on the grid {0, 1, inf}^t
 *     layers_weights_prove.c  rows of five in a form that takes three products
 *     layers_rows_prove.c     the other rounds over s and k, on rows of E, two at a time
 *     layers_top_prove.c      layer 23 over k: its weights differ from place to place
 *     layers_prove.c          z and y, and the whole
 *
 * Places past `rows` hold the all-zero input: they are the same in every slot, so in a round with a known
 * factor they only add a constant, which the claim holds already. */
#ifndef SHEAF_LAYERS_PROVER_H
#define SHEAF_LAYERS_PROVER_H

#include "layers.h"
#include "../hash/keccak.h"
#include "../poly/poly.h"

#define STATE_BYTES 1600 /* one bit-sliced state of eight instances */
#define SEGMENT 4        /* every SEGMENT-th layer is kept; the others are made again from it */
#define CHECKPOINTS 6
#define GRID_GROUP 16   /* blocks whose grids are made at once */
#define ROW_GROUP 64    /* i' at once where rows are made by maps that carry the weights */
#define MAX_TOGETHER 2  /* variables whose rounds on E are taken together */
#define FIVE_STRIDE 320 /* words between the limbs of a row of five: 64 elements for each x */
#define FIVE_WORDS 960
#define HALF 192 /* elements of either half of a row's factors */
#define FACTORS_STRIDE 384
#define FACTORS_WORDS 1152
#define LAYERS_FORM_VECTORS 25 /* of FIVE_STRIDE elements */
#define RAW_STRIDE 3200        /* layer 23: 25 rows e, then 25 rows x^z e */
#define RAW_WORDS 9600

struct layers_trace {
    layers_shape sh;
    unsigned t;    /* bit rounds */
    size_t s_high; /* 2^(m - t): i' of one place k */
    size_t s_live; /* those of them that are kept, the first ones */
    int repeats;   /* whether there are others: they all hold what the last slot holds, and are kept once */
    size_t primes; /* all that are kept: s_live of each place, and then, of each place, what repeats */
    size_t blocks;
    size_t layer_bytes;
    uint8_t *checkpoint[CHECKPOINTS]; /* E_0, E_4, ..., E_20 */
    uint8_t *segment[SEGMENT - 1];    /* the layers after one checkpoint */
    uint64_t dead[24][25];            /* E_r of the all-zero input */
    int plain;                        /* tests: never scale */
};

/* Which i' is kept at `prime`: the h-th of place k; h = s_live for all that repeat. */
static inline void layers_prime(const layers_trace *t, size_t prime, size_t *k, size_t *h) {
    const size_t kept = t->sh.rows * t->s_live;
    *k = prime < kept ? prime / t->s_live : prime - kept;
    *h = prime < kept ? prime % t->s_live : t->s_live;
}

/* The sum of a place's eq, which begins at `first`, over what its h stands for. */
static inline gf192 layers_kept_eq(const layers_trace *t, evec eq, size_t first, size_t h) {
    gf192 sum = evec_get(eq, first + h);
    if (t->repeats && h == t->s_live)
        while (++h < t->s_high)
            sum = gf192_add(sum, evec_get(eq, first + h));
    return sum;
}

/* Where in a layer's bits the row of 64 bytes of block b, lane l and `low` begins. */
static inline size_t layers_bits_at(const layers_trace *t, size_t b, unsigned l, size_t low) {
    return 64 * (((25 * b + l) << t->t) + low);
}

typedef struct layers_prover {
    tx *c;
    env *e;
    layers_trace *t;
    const sheaf_kernels *kn;
    const gf192 *omega;
    const uint8_t *bits; /* E_r of this layer */
    int top;             /* layer 23 */
    gf192 claim;
    gf192 point[LAYERS_MAX_M + LAYERS_MAX_KAPPA]; /* of the known factors */
    gf192 *rho;                                   /* this layer's challenges */
    uint8_t **scratch;                            /* one a worker */
    gf192 *partial;                               /* of the tasks */

    /* maps from bits to E */
    bitmap8 *maps;          /* eq over i', one a block */
    bitmap8 *lane_maps[25]; /* layer 23: Omega(k, l) eq over s_high, or NULL where a lane has no weight */
    uint8_t *lane_active;   /* 25 x blocks: does the lane's map differ from zero there */
    bitmap8 *low_maps;      /* eq over low at this layer's challenges: 2^t / 8 maps */
    bitmap8 *group_maps;    /* the same over low and the first variables on E */
    gf192 low_eq[1 << LAYERS_MAX_BIT_ROUNDS];
    uint64_t *eq_rows;
    size_t eq_stride;
    gf192 grid[729];
    size_t shares; /* of the blocks, for one row and outer digit */

    /* weights. Lanes stand as the weights have them, l = x + 5y, but for the forms of a row of five, at 5x +
     * y. */
    uint64_t *w_rows, *l_rows; /* w and l_x = w_x + w_{x+3} (25 rows of 64, stride 1600); not in layer 23 */
    uint64_t *form;            /* see layers_weights_prove.c */
    gf64 sqrt_x;
    int plain;                          /* a row's factors are made by products with the weights */
    int keep;                           /* rows of all i' are kept */
    int by_maps;                        /* and in inner layers made by maps that carry the weights */
    uint64_t *weighted;                 /* [y][x][low] rows of 64 elements: a row's scale times low_eq */
    _Alignas(64) uint64_t x_powers[64]; /* x^z */
    uint64_t *x_row;                    /* the same as one row of E elements */

    /* rounds on E */
    uint8_t *active;     /* 5 x rows: does row y of place k matter (layer 23; else all do) */
    uint64_t *table[5];  /* a y: rows of five, FIVE_WORDS each; NULL where no place has weights */
    uint64_t *dead_five; /* 5 rows of five: a dead place's */
    gf192 *eq_scalar;    /* over the variables left */

    /* layer 23 */
    uint64_t *raw; /* rows x RAW_WORDS */
    uint64_t *dead_raw;
    gf192 *omega_left; /* Omega with some k bound */
    gf192 fold_at;
    unsigned level; /* variables of k bound by folds */
    size_t places;  /* live places left */
} layers_prover;

static inline unsigned pow3(unsigned n) {
    unsigned p = 1;
    while (n-- > 0)
        p *= 3;
    return p;
}

static inline evec row_of(uint64_t *rows, unsigned lane) {
    return (evec){rows + 64 * lane, 1600};
}

static inline void xor_rows(evec d, evec a, size_t n) {
    for (unsigned limb = 0; limb < 3; limb++)
        for (size_t i = 0; i < n; i++)
            d.p[limb * d.stride + i] ^= a.p[limb * a.stride + i];
}

/* The bits of a lane as 64 elements. */
static inline void set_bits(evec row, uint64_t lane) {
    for (unsigned z = 0; z < 64; z++) {
        row.p[z] = lane >> z & 1;
        row.p[row.stride + z] = row.p[2 * row.stride + z] = 0;
    }
}

/* w(X) times the quadratic with the values t0 at 0, t1 at 1 and leading coefficient t2: adds c_0, c_2, c_3.
 */
static inline void add_cubic(gf192 c[3], gf192 w0, gf192 w1, gf192 t0, gf192 t1, gf192 t2) {
    gf192 lin = gf192_add(gf192_add(t0, t1), t2), slope = gf192_add(w0, w1);
    c[0] = gf192_add(c[0], gf192_mul(w0, t0));
    c[1] = gf192_add(c[1], gf192_add(gf192_mul(w0, t2), gf192_mul(slope, lin)));
    c[2] = gf192_add(c[2], gf192_mul(slope, t2));
}

/* ---- states ---- */

/* What follows from the shape. distinct, bit_rounds: as layers_trace_create has them. */
void layers_trace_shape(layers_trace *t, layers_shape sh, size_t distinct, unsigned bit_rounds);
/* Sets p->bits to E_r, made from the checkpoint before it where r is the last layer of its segment. */
void layers_states(layers_prover *p, unsigned r);

/* ---- rounds ---- */

/* Sends a round with a known factor, whose claim the prover follows. */
void layers_send_known(layers_prover *p, gf192 g0, gf192 g1, gf192 g2, gf192 *challenge);
void layers_send_cubic(layers_prover *p, gf192 h0, gf192 h2, gf192 h3, gf192 *challenge);
/* Sends `count` rounds with known factors, variables first, ..., from the summand's values on the grid {0, 1,
 * inf}^count, summed against eq over everything after them (3^count values, which are consumed). */
void layers_send_grid(layers_prover *p, gf192 *grid, unsigned first, unsigned count);
/* Of 3 tasks' values each, the sums. */
void layers_sum_partial(const layers_prover *p, gf192 *v, size_t values, size_t tasks);

/* eq over i' = (s_high, k) at a point of m + kappa coordinates: maps a block. */
void layers_prepare_maps(layers_prover *p, const gf192 *point);
/* The t bit rounds. In layer 23 the maps carry Omega, so that the weights that are left are x^z. */
void layers_bits(layers_prover *p);

/* Bytes of scratch that a worker needs. */
size_t layers_bits_scratch(const layers_trace *t);
size_t layers_rows_scratch(const layers_trace *t, int by_maps);

/* ---- rows of five ---- */

/* From w_rows and l_rows: the form of every row of five of an inner layer. */
void layers_set_form(layers_prover *p);
/* What the form leaves out of every place's part of the layer's sum. */
gf192 layers_form_constant(const layers_prover *p);
/* The scale and the shift of lane (x, y): what is kept of the row e_x is scale e_x + shift (e_x itself where
 * p->plain). */
evec layers_scale(const layers_prover *p, unsigned x, unsigned y);
evec layers_shift(const layers_prover *p, unsigned x, unsigned y);
/* The factors of a row of five: HALF elements and HALF elements whose products sum to the row's part of the
 * layer's sum, up to lambda, which is returned, and to layers_form_constant (of all rows). y: the row; k: its
 * place, which matters in layer 23 only. weights: what layers_row_weights made there. */
typedef struct row_weights {
    evec w[5], l[5];
    _Alignas(64) uint64_t rows[10 * 192];
} row_weights;
void layers_row_weights(const layers_prover *p, row_weights *r, size_t k, unsigned y);
gf192 layers_factors(const layers_prover *p, uint64_t *factors, const uint64_t *five, const row_weights *r,
                     unsigned y);
/* The same, without `plain`, for rows that are made in their places: between the two, scale e_x + shift[x] is
 * to be put at to[x]. */
void layers_factors_begin(const layers_prover *p, evec to[5], evec shift[5], uint64_t *factors, unsigned y);
void layers_factors_end(const layers_prover *p, uint64_t *factors, unsigned y);
/* The values that e had before the form was given: 25 x 64 of them, from five rows of five. */
void layers_unform(const layers_prover *p, gf192 *e, uint64_t *const five[5]);

/* From bits to E, then the rounds over what is left of s and, but in layer 23, of k. In the end the rows at
 * rho of an inner layer are in p->table. */
void layers_rows(layers_prover *p, unsigned r);

/* Layer 23: all lanes of all places with s bound, then the rounds over k. */
void layers_top_places(layers_prover *p);

#endif
