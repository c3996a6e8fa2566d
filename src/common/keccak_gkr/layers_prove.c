/* Keccak layers: the prover.   docs/protocol.md 8.4, [BDT24], [Gru24].
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Instances i = k 2^m + s are kept as bits. With t "bit rounds", i = (i', low), low the t lowest bits of s. A block holds eight
 * consecutive i' as the bits of its bytes: block b has, for each low, a bit-sliced Keccak state of 25 x 64 bytes whose byte (l, z) is
 * bit z of lane l for i' = 8 b + 0..7. So the Keccak round is XOR, AND and moving bytes, and a sum of bits against field elements is an
 * F2-linear map from a byte to E, summed over blocks, for 64 places z at once (bitmap_accumulate).
 *
 * A layer, then:
 * 1. bit rounds: the summand's values on the grid {0, 1, inf}^t are sums of bits against eq over i';
 * 2. fold to E at the t challenges. With the weights w of a row of five,
 *      sum_x w_x (e_x + e_{x+2} + e_{x+1} e_{x+2}) = e_2 B_2 + e_4 B_4 + e_0 B_0 + lambda,
 *      B_2 = w_0 e_1 + w_1 e_3 + l_2,  B_4 = w_2 e_3 + w_3 e_0 + l_4,  B_0 = w_4 e_1 + l_0,  lambda = l_1 e_1 + l_3 e_3,
 *      l_x = w_x + w_{x+3}: six folded rows and three products instead of five and five;
 *    What is left of a row is, at each z, linear in 2^t bits, and so are a bracket and lambda: where a product takes longer than
 *    many look-ups (no carry-less product), these too are sums of bits, by maps made for each z from the weights;
 * 3. rounds on E for the rest of s, and, but in layer 23, for k; what is left is a table of 25 x 64 elements for z and y.
 *
 * Places past `rows` hold the all-zero input and are never stored: they are the same in every slot and only add a constant. */
#include "layers.h"
#include "slice.h"
#include "../hash/keccak.h"
#include "../poly/poly.h"

#define STATE_BYTES 1600 /* one bit-sliced state of eight instances */
#define SEGMENT 4        /* every SEGMENT-th layer is kept; the others are made again from it */
#define CHECKPOINTS 6
#define MAX_BIT_ROUNDS LAYERS_MAX_BIT_ROUNDS
#define GRID_GROUP 8     /* blocks whose grids are expanded at once */
#define ENTRY_WORDS 1152 /* 3 limbs x (3 rows e_0, e_2, e_4, then 3 rows B_0, B_2, B_4) x 64 */
#define HALF 192         /* elements of either half of an entry */
#define ENTRY_STRIDE 384
#define CHUNK_PAIRS 8
#define WEIGHTED LAYERS_WEIGHTED /* products of a row y's weights and low_eq: w_0, ..., w_4, l_1, l_3 */
#define GROUP 64         /* i' at once where brackets are made by maps */
#define RAW_WORDS 9600   /* 3 limbs x (25 rows e, 25 rows x^z e) x 64 */
#define RAW_STRIDE 3200

struct layers_trace {
    layers_shape sh;
    unsigned t;         /* bit rounds */
    size_t s_high;      /* 2^(m - t): i' of one row place */
    size_t primes;      /* rows * s_high: all i' */
    size_t blocks;
    size_t layer_bytes;
    uint8_t *checkpoint[CHECKPOINTS]; /* E_0, E_4, ..., E_20 */
    uint8_t *segment[SEGMENT - 1];    /* the layers after one checkpoint */
    uint64_t dead[24][25];            /* E_r of the all-zero input */
};

static const unsigned pow3[] = {1, 3, 9, 27, 81, 243, 729};

/* ---- bits: the trace ---- */

unsigned layers_bit_rounds(layers_shape sh) {
    unsigned log_instances = sh.m + ceil_log2(sh.rows);
    unsigned t = log_instances >= 20 ? 6 : log_instances >= 12 ? 5 : log_instances >= 10 ? 4 : 3;
    return t < sh.m ? t : sh.m;
}

/* Making the weighted rows costs as much as some of the products that they replace. */
int layers_by_maps(layers_shape sh, unsigned t) {
    return !kernels_have_clmul() && (size_t)sh.rows << (sh.m - t) >= (size_t)1 << t;
}

typedef struct trace_job {
    layers_trace *t;
    const lane_input *inputs;
} trace_job;

static void trace_block(void *ctx, size_t b, unsigned worker) {
    (void)worker;
    const trace_job *job = ctx;
    layers_trace *t = job->t;
    const sheaf_kernels *kn = kernels();
    const unsigned m = t->sh.m;
    uint8_t a[STATE_BYTES], e[STATE_BYTES];
    for (size_t low = 0; low < (size_t)1 << t->t; low++) {
        for (unsigned l = 0; l < 25; l++) {
            uint64_t w[8];
            for (unsigned j = 0; j < 8; j++) {
                size_t prime = 8 * b + j, i = (prime << t->t) + low, k = i >> m;
                if (prime >= t->primes) {
                    w[j] = 0;
                    continue;
                }
                const lane_input *in = &job->inputs[25 * k + l];
                w[j] = in->words ? in->words[i & (((size_t)1 << m) - 1)] : in->value;
            }
            slice_words(a + 64 * l, w);
        }
        size_t at = ((b << t->t) + low) * STATE_BYTES;
        for (unsigned r = 0;; r++) {
            uint8_t *to = r % SEGMENT == 0 ? t->checkpoint[r / SEGMENT] + at : e;
            kn->sliced_linear(to, a);
            if (r == SEGMENT * (CHECKPOINTS - 1)) break;
            kn->sliced_chi(a, to, r);
        }
    }
}

layers_trace *layers_trace_create(env *e, layers_shape sh, const lane_input *inputs, unsigned bit_rounds) {
    layers_trace *t = mem_alloc_zero(e->mem, sizeof *t);
    if (!t) return NULL;
    t->sh = sh;
    t->t = bit_rounds ? bit_rounds : layers_bit_rounds(sh);
    t->s_high = (size_t)1 << (sh.m - t->t);
    t->primes = sh.rows * t->s_high;
    t->blocks = (t->primes + 7) / 8;
    t->layer_bytes = (t->blocks << t->t) * STATE_BYTES;
    int bad = 0;
    for (unsigned i = 0; i < CHECKPOINTS; i++) bad |= !(t->checkpoint[i] = mem_alloc(e->mem, t->layer_bytes));
    for (unsigned i = 0; i + 1 < SEGMENT; i++) bad |= !(t->segment[i] = mem_alloc(e->mem, t->layer_bytes));
    if (bad) {
        layers_trace_destroy(e, t);
        return NULL;
    }
    trace_job job = {t, inputs};
    pool_run(e->pool, t->blocks, trace_block, &job);

    uint64_t s[25] = {0};
    for (unsigned r = 0; r < 24; r++) {
        keccak_round_linear_ref(t->dead[r], s);
        keccak_round_chi_ref(s, t->dead[r], r);
    }
    return t;
}

void layers_trace_destroy(env *e, layers_trace *t) {
    if (!t) return;
    for (unsigned i = 0; i < CHECKPOINTS; i++) mem_free(e->mem, t->checkpoint[i]);
    for (unsigned i = 0; i + 1 < SEGMENT; i++) mem_free(e->mem, t->segment[i]);
    mem_free(e->mem, t);
}

typedef struct segment_job {
    layers_trace *t;
    unsigned first; /* the checkpoint's layer */
} segment_job;

static void segment_block(void *ctx, size_t b, unsigned worker) {
    (void)worker;
    const segment_job *job = ctx;
    layers_trace *t = job->t;
    const sheaf_kernels *kn = kernels();
    uint8_t a[STATE_BYTES];
    for (size_t low = 0; low < (size_t)1 << t->t; low++) {
        size_t at = ((b << t->t) + low) * STATE_BYTES;
        const uint8_t *from = t->checkpoint[job->first / SEGMENT] + at;
        for (unsigned i = 0; i + 1 < SEGMENT; i++) {
            kn->sliced_chi(a, from, job->first + i);
            kn->sliced_linear(t->segment[i] + at, a);
            from = t->segment[i] + at;
        }
    }
}

/* ---- one layer's working memory ---- */

typedef struct prover {
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

    /* weights */
    uint64_t *w_rows, *l_rows; /* w and l (25 rows of 64, stride 1600); not in layer 23 */
    _Alignas(64) uint64_t x_powers[64]; /* x^z */
    uint64_t *x_row;           /* the same as one row of E elements */

    /* maps from bits to E */
    bitmap8 *maps;           /* eq over i', one a block */
    bitmap8 *lane_maps[25];  /* layer 23: Omega(k, l) eq over s_high, or NULL where a lane has no weight */
    uint8_t *lane_active;    /* 25 x blocks: does the lane's map differ from zero there */
    bitmap8 *low_maps;       /* eq over low at this layer's challenges: 2^t / 8 maps */
    gf192 low_eq[1 << MAX_BIT_ROUNDS];
    uint64_t *eq_rows;
    size_t eq_stride;

    /* bit rounds */
    gf192 grid[729];
    size_t shares; /* of the blocks, for one row and outer digit */
    gf192 *partial;
    size_t partial_count;
    uint8_t **scratch; /* one a worker */

    /* rounds on E */
    uint8_t *active;         /* 5 x rows: does row y of place k matter (layer 23; else all do) */
    uint64_t *entries[5];    /* a y: rows x s_high entries */
    gf192 *lambda;           /* rows x s_high */
    uint64_t *dead_entry;    /* 5 */
    gf192 dead_lambda, dead_value, dead_mass;
    int by_maps;             /* inner layers: brackets are made by maps */
    uint64_t *weighted;      /* [y][WEIGHTED][low] rows of 64 elements: a weight times low_eq */
    gf192 *lambda_parts;     /* [y][i'] */
    gf192 *eq_scalar;        /* over the variables left */
    gf192 *eq_place;         /* eq over k at the point, the live places */
    unsigned level;          /* variables of s bound by folds */
    int pending;             /* a fold not carried out yet, at fold_at */
    gf192 fold_at;
    size_t pairs, chunk;
    int all_three;           /* also g(0): the rare case that the claim does not give it */
    uint64_t *raw;           /* layer 23: rows x RAW_WORDS */
    uint64_t *dead_raw;
    gf192 *omega_left;       /* Omega with some k bound */
    size_t places;           /* live places left */
} prover;

static gf192 one_plus(gf192 a) { return gf192_add(GF192_ONE, a); }

static void xor_rows(evec d, evec a, size_t n) {
    for (unsigned limb = 0; limb < 3; limb++)
        for (size_t i = 0; i < n; i++) d.p[limb * d.stride + i] ^= a.p[limb * a.stride + i];
}

static evec row_of(uint64_t *rows, unsigned lane) { return (evec){rows + 64 * lane, 1600}; }

/* Sends a round with a known factor, whose claim the prover follows. */
static void send_known(prover *p, gf192 g0, gf192 g1, gf192 g2, gf192 *challenge) {
    gf192 g[3] = {g0, g1, g2};
    tx_send_e(p->c, MSG_LAYER_ROUND, g + 1, 2);
    transcript_squeeze(&p->c->t, challenge, 1);
    p->claim = poly_eval(g, 2, *challenge);
}

static void send_cubic(prover *p, gf192 h0, gf192 h2, gf192 h3, gf192 *challenge) {
    gf192 sent[3] = {h0, h2, h3};
    gf192 h[4] = {h0, gf192_add(p->claim, gf192_add(h2, h3)), h2, h3};
    tx_send_e(p->c, MSG_LAYER_ROUND, sent, 3);
    transcript_squeeze(&p->c->t, challenge, 1);
    p->claim = poly_eval(h, 3, *challenge);
}

/* ---- maps ---- */

static void maps_task(void *ctx, size_t b, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    const layers_trace *t = p->t;
    gf192 col[8];
    evec eq = {p->eq_rows, p->eq_stride};
    for (unsigned j = 0; j < 8; j++) col[j] = 8 * b + j < t->primes ? evec_get(eq, 8 * b + j) : GF192_ZERO;
    p->kn->bitmap_prepare(&p->maps[b], col);
}

/* eq over i' = (s_high, k) at a point of m + kappa coordinates. */
static void prepare_maps(prover *p, const gf192 *point) {
    const layers_trace *t = p->t;
    unsigned n = t->sh.m - t->t + t->sh.kappa;
    eq_table_evec((evec){p->eq_rows, p->eq_stride}, point + t->t, n, GF192_ONE);
    pool_run(p->e->pool, t->blocks, maps_task, p);
}

static void lane_maps_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    const layers_trace *t = p->t;
    evec eq = {p->eq_rows, p->eq_stride};
    unsigned l = (unsigned)task;
    if (!p->lane_maps[l]) return;
    for (size_t b = 0; b < t->blocks; b++) {
        gf192 col[8];
        int any = 0;
        for (unsigned j = 0; j < 8; j++) {
            size_t prime = 8 * b + j, k = prime / t->s_high;
            col[j] = GF192_ZERO;
            if (prime >= t->primes || gf192_is_zero(p->omega[25 * k + l])) continue;
            col[j] = gf192_mul(p->omega[25 * k + l], evec_get(eq, prime % t->s_high));
            any = 1;
        }
        p->lane_active[l * t->blocks + b] = (uint8_t)any;
        p->kn->bitmap_prepare(&p->lane_maps[l][b], col);
    }
}

/* ---- bit rounds ---- */

static unsigned outer_rounds(unsigned t) { return t <= 5 ? 1 : t - 4; }

/* Whether a grid index has a digit inf (2). */
static int has_infinity(size_t g, unsigned n) {
    for (unsigned v = 0; v < n; v++, g /= 3)
        if (g % 3 == 2) return 1;
    return 0;
}

/* Row y, one choice of the outer digits, one share of the blocks: the summand's sums at all inner grid points. */
static void grid_task(void *ctx, size_t task, unsigned worker) {
    prover *p = ctx;
    const layers_trace *t = p->t;
    const unsigned outer = outer_rounds(t->t), inner = t->t - outer;
    const size_t points = pow3[inner], digits = pow3[outer];
    const unsigned y = (unsigned)(task / (digits * p->shares));
    const size_t digit = task / p->shares % digits, share = task % p->shares;
    const size_t first = share * t->blocks / p->shares, last = (share + 1) * t->blocks / p->shares;
    const int outer_inf = has_infinity(digit, outer);
    uint8_t *expanded = p->scratch[worker];              /* [x][block of the group][grid point][64] */
    uint8_t *product = expanded + 5 * GRID_GROUP * points * 64; /* [block of the group][grid point][64] */
    uint8_t *acc = product + GRID_GROUP * points * 64;          /* [x][grid point] */
    uint8_t quadratic[81];                                      /* grid points where linear terms vanish */
    for (size_t g = 0; g < points; g++) quadratic[g] = (uint8_t)(outer_inf || has_infinity(g, inner));
    memset(acc, 0, 5 * points * BITMAP_ACC_BYTES);

    for (size_t b0 = first; b0 < last; b0 += GRID_GROUP) {
        const size_t count = last - b0 < GRID_GROUP ? last - b0 : GRID_GROUP;
        int use[5] = {1, 1, 1, 1, 1}, any = !p->top;
        if (p->top)
            for (unsigned x = 0; x < 5; x++) {
                use[x] = 0;
                if (!p->lane_maps[x + 5 * y]) continue;
                for (size_t i = 0; i < count; i++) use[x] |= p->lane_active[(x + 5 * y) * t->blocks + b0 + i];
                any |= use[x];
            }
        if (!any) continue;
        for (unsigned x = 0; x < 5; x++)
            for (size_t i = 0; i < count; i++)
                p->kn->grid_expand(expanded + (x * GRID_GROUP + i) * points * 64,
                                   p->bits + ((b0 + i) << t->t) * STATE_BYTES + 64 * (x + 5 * y), STATE_BYTES, inner, outer, digit);
        for (unsigned x = 0; x < 5; x++) {
            if (!use[x]) continue;
            const bitmap8 *maps = (p->top ? p->lane_maps[x + 5 * y] : p->maps) + b0;
            const size_t lane = GRID_GROUP * points * 64;
            for (size_t i = 0; i < count; i++) {
                const uint8_t *at = expanded + i * points * 64;
                p->kn->grid_chi(product + i * points * 64, at + x * lane, at + (x + 1) % 5 * lane, at + (x + 2) % 5 * lane,
                                quadratic, points);
            }
            for (size_t g = 0; g < points; g++)
                p->kn->bitmap_accumulate(acc + (x * points + g) * BITMAP_ACC_BYTES, maps, 1, product + 64 * g, points * 64, count);
        }
    }

    _Alignas(64) uint64_t words[3 * 320]; /* [x][z]: the five rows one after the other, as the weights are */
    const evec rows = {words, 320};
    for (size_t g = 0; g < points; g++) {
        gf192 *total = &p->partial[task * points + g];
        for (unsigned x = 0; x < 5; x++)
            p->kn->bitmap_finish(evec_at(rows, 64 * x), acc + (x * points + g) * BITMAP_ACC_BYTES);
        if (!p->top) {
            p->kn->evec_dot(total, rows, row_of(p->w_rows, 5 * y), 320);
            continue;
        }
        for (unsigned x = 1; x < 5; x++) xor_rows(rows, evec_at(rows, 64 * x), 64);
        p->kn->evec_dot_k(total, rows, p->x_powers, 64);
    }
}

/* The t bit rounds. In layer 23 the maps carry Omega, so that the weights that are left are x^z. */
static void bit_rounds(prover *p) {
    const layers_trace *t = p->t;
    const unsigned outer = outer_rounds(t->t);
    size_t points = pow3[t->t - outer], digits = pow3[outer];
    pool_run(p->e->pool, 5 * digits * p->shares, grid_task, p);
    memset(p->grid, 0, sizeof p->grid);
    for (size_t task = 0; task < 5 * digits * p->shares; task++) {
        gf192 *to = p->grid + task / p->shares % digits * points;
        for (size_t g = 0; g < points; g++) to[g] = gf192_add(to[g], p->partial[task * points + g]);
    }
    size_t left = pow3[t->t];
    gf192 eq[1 << MAX_BIT_ROUNDS];
    for (unsigned n = 0; n < t->t; n++) {
        left /= 3;
        /* over the variables after this one, at their points 0 and 1 only */
        unsigned rest = t->t - n - 1;
        eq_table(eq, p->point + n + 1, rest);
        gf192 h[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
        for (size_t i = 0; i < (size_t)1 << rest; i++) {
            size_t at = 0;
            for (unsigned v = 0; v < rest; v++) at += (i >> v & 1) * pow3[v];
            for (unsigned d = 0; d < 3; d++) h[d] = gf192_add(h[d], gf192_mul(eq[i], p->grid[3 * at + d]));
        }
        /* what dead places add is a constant, which the claim holds already */
        gf192 c1 = gf192_add(gf192_add(h[0], h[1]), h[2]);
        gf192 c0 = gf192_add(p->claim, gf192_mul(p->point[n], gf192_add(c1, h[2])));
        send_known(p, c0, c1, h[2], &p->rho[n]);
        gf192 r = p->rho[n], r2 = gf192_square(r);
        for (size_t i = 0; i < left; i++) {
            const gf192 *v = p->grid + 3 * i;
            gf192 lin = gf192_add(gf192_add(v[0], v[1]), v[2]);
            p->grid[i] = gf192_add(v[0], gf192_add(gf192_mul(r, lin), gf192_mul(r2, v[2])));
        }
    }
    eq_table(p->low_eq, p->rho, t->t);
    for (size_t i = 0; i < (size_t)1 << (t->t - 3); i++) p->kn->bitmap_prepare(&p->low_maps[i], p->low_eq + 8 * i);
}

/* ---- from bits to E ---- */

/* The three brackets of a row of five, and its lambda. w, l: the weights; e1, e3: rows that are not kept. */
static gf192 brackets(const sheaf_kernels *kn, evec entry, const evec w[5], const evec l[5], evec e1, evec e3) {
    evec e0 = entry, b0 = evec_at(entry, HALF), b2 = evec_at(b0, 64), b4 = evec_at(b0, 128);
    kn->evec_mul(b0, w[4], e1, 64);
    xor_rows(b0, l[0], 64);
    kn->evec_mul(b2, w[0], e1, 64);
    kn->evec_mul_add(b2, w[1], e3, 64);
    xor_rows(b2, l[2], 64);
    kn->evec_mul(b4, w[2], e3, 64);
    kn->evec_mul_add(b4, w[3], e0, 64);
    xor_rows(b4, l[4], 64);
    gf192 d1, d3;
    kn->evec_dot(&d1, l[1], e1, 64);
    kn->evec_dot(&d3, l[3], e3, 64);
    return gf192_add(d1, d3);
}

static evec entry_at(const prover *p, unsigned y, size_t at) {
    return (evec){p->entries[y] + at * ENTRY_WORDS, ENTRY_STRIDE};
}

/* The weights of row y of place k: shared by all places but in layer 23, where they are made in `rows` (10 x 192 words). */
static void row_weights(const prover *p, evec w[5], evec l[5], uint64_t *rows, size_t k, unsigned y) {
    for (unsigned x = 0; x < 5; x++) {
        if (!p->top) {
            w[x] = row_of(p->w_rows, x + 5 * y);
            l[x] = row_of(p->l_rows, x + 5 * y);
            continue;
        }
        w[x] = (evec){rows + 192 * x, 64};
        l[x] = (evec){rows + 192 * (x + 5), 64};
        memset(w[x].p, 0, 192 * sizeof(uint64_t));
        p->kn->evec_scale_add_k(w[x], p->x_powers, p->omega[25 * k + x + 5 * y], 64);
    }
    if (!p->top) return;
    for (unsigned x = 0; x < 5; x++) {
        memcpy(l[x].p, w[x].p, 192 * sizeof(uint64_t));
        xor_rows(l[x], w[(x + 3) % 5], 64);
    }
}

static void fold_bits_task(void *ctx, size_t b, unsigned worker) {
    prover *p = ctx;
    const layers_trace *t = p->t;
    const size_t eighths = (size_t)1 << (t->t - 3);
    const sheaf_kernels *kn = p->kn;
    uint8_t *bytes = p->scratch[worker];                   /* [x][eighth][i'][64] */
    uint64_t *rows = (uint64_t *)(void *)(bytes + 5 * eighths * 512);
    _Alignas(64) uint64_t odd[2 * 192];
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES];
    for (unsigned j = 0; j < 8 && 8 * b + j < t->primes; j++) p->lambda[8 * b + j] = GF192_ZERO;
    for (unsigned y = 0; y < 5; y++) {
        int any = 0;
        for (unsigned j = 0; j < 8 && 8 * b + j < t->primes; j++)
            any |= p->active[y * t->sh.rows + (8 * b + j) / t->s_high];
        if (!any) continue;
        for (unsigned x = 0; x < 5; x++)
            for (size_t q = 0; q < eighths; q++)
                kn->bits_transpose8(bytes + (x * eighths + q) * 512, 64,
                                    p->bits + ((b << t->t) + 8 * q) * STATE_BYTES + 64 * (x + 5 * y), STATE_BYTES);
        size_t made = SIZE_MAX;
        evec w[5], l[5];
        for (unsigned j = 0; j < 8 && 8 * b + j < t->primes; j++) {
            const size_t prime = 8 * b + j, k = prime / t->s_high;
            if (!p->active[y * t->sh.rows + k]) continue;
            if (made != k) row_weights(p, w, l, rows, k, y);
            made = k;
            evec entry = entry_at(p, y, prime);
            evec e[5] = {entry, {odd, 64}, evec_at(entry, 64), {odd + 192, 64}, evec_at(entry, 128)};
            for (unsigned x = 0; x < 5; x++) {
                memset(acc, 0, sizeof acc);
                kn->bitmap_accumulate(acc, p->low_maps, 1, bytes + x * eighths * 512 + 64 * j, 512, eighths);
                kn->bitmap_finish(e[x], acc);
            }
            p->lambda[prime] = gf192_add(p->lambda[prime], brackets(kn, entry, w, l, e[1], e[3]));
        }
    }
}

/* ---- the same by maps alone, for the inner layers ---- */

static evec weighted_row(const prover *p, unsigned y, unsigned c, size_t low) {
    return (evec){p->weighted + ((((size_t)y * WEIGHTED + c) << p->t->t) + low) * 192, 64};
}

static void weighted_task(void *ctx, size_t low, unsigned worker) {
    (void)worker;
    const prover *p = ctx;
    for (unsigned y = 0; y < 5; y++)
        for (unsigned c = 0; c < WEIGHTED; c++) {
            const evec weight = c < 5 ? row_of(p->w_rows, c + 5 * y) : row_of(p->l_rows, (c == 5 ? 1 : 3) + 5 * y);
            p->kn->evec_scale(weighted_row(p, y, c, low), weight, p->low_eq[low], 64);
        }
}

/* What one task needs; `eighths` maps or rows of 64 bytes make one sum over low. */
typedef struct map_scratch {
    uint8_t *of_block; /* [x][eighth][i'][z] of one block */
    uint8_t *by_z;     /* [x = 0, 1, 3][z][eighth][i'], i' of the whole group */
    bitmap8 *maps;     /* [WEIGHTED][eighth] at one z */
    uint64_t *row;
    uint8_t *acc, *acc_lambda;
} map_scratch;

static size_t map_scratch_bytes(size_t eighths) {
    return (5 * 512 + 3 * 64 * GROUP + WEIGHTED * sizeof(bitmap8)) * eighths + 192 * sizeof(uint64_t) + 2 * BITMAP_ACC_BYTES;
}

static map_scratch map_scratch_at(uint8_t *at, size_t eighths) {
    map_scratch m;
    m.of_block = at;
    m.by_z = m.of_block + 5 * 512 * eighths;
    m.maps = (bitmap8 *)(void *)(m.by_z + 3 * 64 * GROUP * eighths);
    m.row = (uint64_t *)(void *)(m.maps + WEIGHTED * eighths);
    m.acc = (uint8_t *)(m.row + 192);
    m.acc_lambda = m.acc + BITMAP_ACC_BYTES;
    return m;
}

/* Rows e_0, e_2, e_4 of one block's i', and the bits of the lanes that the brackets are made of. `place`: the block's in its group. */
static void fold_block(const prover *p, const map_scratch *m, unsigned y, size_t b, size_t place) {
    const layers_trace *t = p->t;
    const size_t eighths = (size_t)1 << (t->t - 3);
    static const uint8_t kept_as[5] = {0, 1, 3, 2, 3}; /* which of by_z; 3: not there */
    for (unsigned x = 0; x < 5; x++)
        for (size_t q = 0; q < eighths; q++) {
            uint8_t *bytes = m->of_block + (x * eighths + q) * 512;
            p->kn->bits_transpose8(bytes, 64, p->bits + ((b << t->t) + 8 * q) * STATE_BYTES + 64 * (x + 5 * y), STATE_BYTES);
            if (kept_as[x] == 3) continue;
            uint8_t *to = m->by_z + ((size_t)64 * kept_as[x] * eighths + q) * GROUP + 8 * place;
            for (size_t z = 0; z < 64; z++)
                for (size_t j = 0; j < 8; j++) to[z * eighths * GROUP + j] = bytes[64 * j + z];
        }
    for (size_t j = 0; j < 8 && 8 * b + j < t->primes; j++)
        for (unsigned x = 0; x < 5; x += 2) {
            memset(m->acc, 0, BITMAP_ACC_BYTES);
            p->kn->bitmap_accumulate(m->acc, p->low_maps, 1, m->of_block + x * eighths * 512 + 64 * j, 512, eighths);
            p->kn->bitmap_finish(evec_at(entry_at(p, y, 8 * b + j), 32 * x), m->acc);
        }
}

/* acc += map c of the bits of lane x at z. */
static void add_weighted(const prover *p, const map_scratch *m, uint8_t *acc, unsigned c, unsigned lane, size_t z) {
    const size_t eighths = (size_t)1 << (p->t->t - 3);
    p->kn->bitmap_accumulate(acc, m->maps + c * eighths, 1, m->by_z + (64 * lane + z) * eighths * GROUP, GROUP, eighths);
}

/* Row y of 64 consecutive i', `group` of them. */
static void fold_group_task(void *ctx, size_t task, unsigned worker) {
    enum { X0, X1, X3 }; /* by_z's order */
    static const struct {
        uint8_t c[2], lane[2], terms, l;
    } bracket[3] = {{{4, 0}, {X1, 0}, 1, 0}, {{0, 1}, {X1, X3}, 2, 2}, {{2, 3}, {X3, X0}, 2, 4}};
    const prover *p = ctx;
    const layers_trace *t = p->t;
    const size_t eighths = (size_t)1 << (t->t - 3), group = task / 5, first = GROUP * group;
    const size_t count = t->primes - first < GROUP ? t->primes - first : GROUP;
    const unsigned y = (unsigned)(task % 5);
    const map_scratch m = map_scratch_at(p->scratch[worker], eighths);
    for (size_t i = 0; i < GROUP / 8 && 8 * group + i < t->blocks; i++) fold_block(p, &m, y, 8 * group + i, i);
    memset(m.acc_lambda, 0, BITMAP_ACC_BYTES);
    for (size_t z = 0; z < 64; z++) {
        for (unsigned c = 0; c < WEIGHTED; c++)
            for (size_t q = 0; q < eighths; q++) {
                gf192 col[8];
                for (size_t i = 0; i < 8; i++) col[i] = evec_get(weighted_row(p, y, c, 8 * q + i), z);
                p->kn->bitmap_prepare(&m.maps[c * eighths + q], col);
            }
        for (unsigned k = 0; k < 3; k++) {
            const gf192 constant = evec_get(row_of(p->l_rows, bracket[k].l + 5 * y), z);
            memset(m.acc, 0, BITMAP_ACC_BYTES);
            for (unsigned i = 0; i < bracket[k].terms; i++)
                add_weighted(p, &m, m.acc, bracket[k].c[i], bracket[k].lane[i], z);
            p->kn->bitmap_finish((evec){m.row, 64}, m.acc);
            for (size_t i = 0; i < count; i++)
                evec_set(evec_at(entry_at(p, y, first + i), HALF + 64 * k), z,
                         gf192_add(evec_get((evec){m.row, 64}, i), constant));
        }
        add_weighted(p, &m, m.acc_lambda, 5, X1, z);
        add_weighted(p, &m, m.acc_lambda, 6, X3, z);
    }
    p->kn->bitmap_finish((evec){m.row, 64}, m.acc_lambda);
    for (size_t i = 0; i < count; i++) p->lambda_parts[y * t->primes + first + i] = evec_get((evec){m.row, 64}, i);
}

static void fold_by_maps(prover *p) {
    const layers_trace *t = p->t;
    pool_run(p->e->pool, (size_t)1 << t->t, weighted_task, p);
    pool_run(p->e->pool, 5 * ((t->primes + GROUP - 1) / GROUP), fold_group_task, p);
    for (size_t i = 0; i < t->primes; i++) {
        p->lambda[i] = GF192_ZERO;
        for (unsigned y = 0; y < 5; y++) p->lambda[i] = gf192_add(p->lambda[i], p->lambda_parts[y * t->primes + i]);
    }
}

static void set_bits(evec row, uint64_t lane) {
    memset(row.p, 0, 64 * sizeof(uint64_t));
    memset(row.p + row.stride, 0, 64 * sizeof(uint64_t));
    memset(row.p + 2 * row.stride, 0, 64 * sizeof(uint64_t));
    for (unsigned z = 0; z < 64; z++) row.p[z] = lane >> z & 1;
}

/* The entries of a dead place, its value, and the mass of all of them (inner layers). */
static void prepare_dead(prover *p, unsigned r) {
    const layers_trace *t = p->t;
    _Alignas(64) uint64_t odd[2 * 192];
    p->dead_lambda = p->dead_value = GF192_ZERO;
    for (unsigned y = 0; y < 5; y++) {
        const uint64_t *lane = t->dead[r] + 5 * y;
        evec entry = {p->dead_entry + y * ENTRY_WORDS, ENTRY_STRIDE}, w[5], l[5], e1 = {odd, 64}, e3 = {odd + 192, 64};
        row_weights(p, w, l, NULL, 0, y);
        set_bits(entry, lane[0]);
        set_bits(evec_at(entry, 64), lane[2]);
        set_bits(evec_at(entry, 128), lane[4]);
        set_bits(e1, lane[1]);
        set_bits(e3, lane[3]);
        p->dead_lambda = gf192_add(p->dead_lambda, brackets(p->kn, entry, w, l, e1, e3));
        gf192 d;
        p->kn->evec_dot(&d, entry, evec_at(entry, HALF), HALF);
        p->dead_value = gf192_add(p->dead_value, d);
    }
    p->dead_value = gf192_add(p->dead_value, p->dead_lambda);
}

/* eq(point_k, k) for the live places, and the mass of the dead ones. */
static void place_masses(prover *p, const gf192 *point_k) {
    const layers_shape sh = p->t->sh;
    gf192 sum = GF192_ZERO;
    for (unsigned k = 0; k < sh.rows; k++) {
        gf192 v = GF192_ONE;
        for (unsigned n = 0; n < sh.kappa; n++) v = gf192_mul(v, k >> n & 1 ? point_k[n] : one_plus(point_k[n]));
        p->eq_place[k] = v;
        sum = gf192_add(sum, v);
    }
    p->dead_mass = one_plus(sum);
}

/* ---- rounds on E ---- */

/* Adds one pair's share: d[0] at 1, d[1] at infinity, d[2] at 0 (where wanted). */
static void pair_values(const prover *p, gf192 sum[3], evec a0, evec a1) {
    gf192 d[3];
    if (p->all_three) {
        gf192 v[3];
        p->kn->evec_dot3(v, a0, a1, evec_at(a0, HALF), evec_at(a1, HALF), HALF);
        d[0] = v[1];
        d[1] = v[2];
        d[2] = v[0];
    } else {
        p->kn->evec_dot2(d, a0, a1, evec_at(a0, HALF), evec_at(a1, HALF), HALF);
        d[2] = GF192_ZERO;
    }
    for (unsigned i = 0; i < 3; i++) sum[i] = gf192_add(sum[i], d[i]);
}

static void s_round_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    const layers_trace *t = p->t;
    const size_t tasks_a_place = p->pairs / p->chunk, k = task / tasks_a_place;
    const size_t first = task % tasks_a_place * p->chunk;
    const unsigned lv = p->level;
    gf192 total[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
    for (size_t a = first; a < first + p->chunk; a++) {
        const size_t at0 = k * t->s_high + (2 * a << lv), at1 = at0 + ((size_t)1 << lv);
        gf192 sum[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
        int any = 0;
        for (unsigned y = 0; y < 5; y++) {
            if (!p->active[y * t->sh.rows + k]) continue;
            any = 1;
            evec a0 = entry_at(p, y, at0), a1 = entry_at(p, y, at1);
            if (p->pending) {
                const size_t step = (size_t)1 << (lv - 1);
                p->kn->evec_fold(a0, a0, entry_at(p, y, at0 + step), p->fold_at, ENTRY_STRIDE);
                p->kn->evec_fold(a1, a1, entry_at(p, y, at1 + step), p->fold_at, ENTRY_STRIDE);
            }
            pair_values(p, sum, a0, a1);
        }
        if (!any) continue;
        if (p->pending)
            for (unsigned i = 0; i < 2; i++) {
                gf192 *to = &p->lambda[i ? at1 : at0], other = p->lambda[(i ? at1 : at0) + ((size_t)1 << (lv - 1))];
                *to = gf192_add(*to, gf192_mul(p->fold_at, gf192_add(*to, other)));
            }
        sum[0] = gf192_add(sum[0], p->lambda[at1]);
        sum[2] = gf192_add(sum[2], p->lambda[at0]);
        for (unsigned i = 0; i < 3; i++) total[i] = gf192_add(total[i], gf192_mul(p->eq_scalar[a], sum[i]));
    }
    for (unsigned i = 0; i < 3; i++)
        p->partial[3 * task + i] = p->top ? total[i] : gf192_mul(p->eq_place[k], total[i]);
}

/* Carries out the last fold over s: one entry a place is left. */
static void s_last_fold_task(void *ctx, size_t k, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    const layers_trace *t = p->t;
    const size_t at = k * t->s_high, step = (size_t)1 << (p->level - 1);
    for (unsigned y = 0; y < 5; y++)
        p->kn->evec_fold(entry_at(p, y, at), entry_at(p, y, at), entry_at(p, y, at + step), p->fold_at, ENTRY_STRIDE);
    p->lambda[at] =
        gf192_add(p->lambda[at], gf192_mul(p->fold_at, gf192_add(p->lambda[at], p->lambda[at + step])));
}

/* Turns sums at 1, infinity (and 0) into a round with the factor eq at `point`, and sends it. */
static void send_from_values(prover *p, const gf192 v[3], gf192 point, gf192 *challenge) {
    gf192 c0;
    if (p->all_three)
        c0 = v[2];
    else /* claim = (1 + point) c0 + point g(1) */
        c0 = gf192_mul(gf192_add(p->claim, gf192_mul(point, v[0])), gf192_inv(one_plus(point)));
    send_known(p, c0, gf192_add(gf192_add(c0, v[0]), v[1]), v[1], challenge);
}

static void sum_partial(const prover *p, gf192 v[3], size_t tasks) {
    v[0] = v[1] = v[2] = GF192_ZERO;
    for (size_t i = 0; i < tasks; i++)
        for (unsigned d = 0; d < 3; d++) v[d] = gf192_add(v[d], p->partial[3 * i + d]);
}

static void s_rounds(prover *p) {
    const layers_trace *t = p->t;
    p->level = 0;
    p->pending = 0;
    for (unsigned n = t->t; n < t->sh.m; n++) {
        p->pairs = t->s_high >> (p->level + 1);
        p->chunk = p->pairs < CHUNK_PAIRS ? p->pairs : CHUNK_PAIRS;
        p->all_three = gf192_equal(p->point[n], GF192_ONE);
        eq_table(p->eq_scalar, p->point + n + 1, t->sh.m - n - 1);
        size_t tasks = t->sh.rows * (p->pairs / p->chunk);
        pool_run(p->e->pool, tasks, s_round_task, p);
        gf192 v[3];
        sum_partial(p, v, tasks);
        if (!p->top) {
            gf192 dead = gf192_mul(p->dead_mass, p->dead_value);
            v[0] = gf192_add(v[0], dead);
            v[2] = gf192_add(v[2], dead);
        }
        send_from_values(p, v, p->point[n], &p->rho[n]);
        p->fold_at = p->rho[n];
        p->pending = 1;
        p->level++;
    }
    /* layer 23 goes on from the bits */
    if (p->pending && !p->top) pool_run(p->e->pool, t->sh.rows, s_last_fold_task, p);
}

/* Inner layers: entry of place j << level, or the dead one. */
static evec place_entry(const prover *p, unsigned y, size_t j) {
    if (j >= p->places) return (evec){p->dead_entry + y * ENTRY_WORDS, ENTRY_STRIDE};
    return entry_at(p, y, (j << p->level) * p->t->s_high);
}
static gf192 place_lambda(const prover *p, size_t j) {
    return j >= p->places ? p->dead_lambda : p->lambda[(j << p->level) * p->t->s_high];
}

static void k_round_task(void *ctx, size_t j, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    gf192 sum[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
    for (unsigned y = 0; y < 5; y++) pair_values(p, sum, place_entry(p, y, 2 * j), place_entry(p, y, 2 * j + 1));
    sum[0] = gf192_add(sum[0], place_lambda(p, 2 * j + 1));
    sum[2] = gf192_add(sum[2], place_lambda(p, 2 * j));
    for (unsigned i = 0; i < 3; i++) p->partial[3 * j + i] = gf192_mul(p->eq_scalar[j], sum[i]);
}

static void k_fold_task(void *ctx, size_t j, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    for (unsigned y = 0; y < 5; y++)
        p->kn->evec_fold(place_entry(p, y, 2 * j), place_entry(p, y, 2 * j), place_entry(p, y, 2 * j + 1), p->fold_at,
                         ENTRY_STRIDE);
    gf192 *to = &p->lambda[(2 * j << p->level) * p->t->s_high];
    *to = gf192_add(*to, gf192_mul(p->fold_at, gf192_add(*to, place_lambda(p, 2 * j + 1))));
}

static void k_rounds(prover *p) {
    const layers_shape sh = p->t->sh;
    p->level = 0;
    p->places = sh.rows;
    for (unsigned n = 0; n < sh.kappa; n++) {
        const gf192 point = p->point[sh.m + n];
        const size_t half = (size_t)1 << (sh.kappa - n - 1), live = (p->places + 1) / 2;
        p->all_three = gf192_equal(point, GF192_ONE);
        eq_table(p->eq_scalar, p->point + sh.m + n + 1, sh.kappa - n - 1);
        pool_run(p->e->pool, live, k_round_task, p);
        gf192 v[3], mass = GF192_ZERO;
        sum_partial(p, v, live);
        for (size_t j = live; j < half; j++) mass = gf192_add(mass, p->eq_scalar[j]);
        mass = gf192_mul(mass, p->dead_value);
        v[0] = gf192_add(v[0], mass);
        v[2] = gf192_add(v[2], mass);
        send_from_values(p, v, point, &p->rho[sh.m + n]);
        p->fold_at = p->rho[sh.m + n];
        pool_run(p->e->pool, live, k_fold_task, p);
        p->places = live;
        p->level++;
    }
}

/* ---- rows straight from the bits ---- */

/* Row of lane l at all of rho, into row_of(rows, l): maps hold eq over i', low_eq eq over low. */
typedef struct direct_job {
    prover *p;
    uint64_t *rows;
    unsigned layer;
} direct_job;

static void direct_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const direct_job *job = ctx;
    prover *p = job->p;
    const layers_trace *t = p->t;
    const unsigned l = (unsigned)(5 * (task / 2) + 1 + 2 * (task % 2)); /* x = 1 and 3 */
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES];
    _Alignas(64) uint64_t row[192];
    evec to = row_of(job->rows, l);
    set_bits(to, 0);
    for (size_t low = 0; low < (size_t)1 << t->t; low++) {
        memset(acc, 0, sizeof acc);
        p->kn->bitmap_accumulate(acc, p->maps, 1, p->bits + low * STATE_BYTES + 64 * l, (size_t)STATE_BYTES << t->t, t->blocks);
        p->kn->bitmap_finish((evec){row, 64}, acc);
        p->kn->evec_scale_add(to, (evec){row, 64}, p->low_eq[low], 64);
    }
    set_bits((evec){row, 64}, t->dead[job->layer][l]);
    p->kn->evec_scale_add(to, (evec){row, 64}, p->dead_mass, 64);
}

/* Layer 23: all lanes of place k with s bound. eq_rows holds eq over s_high. Either sum is over one of s's halves by maps and over
 * the other by products; the products are taken where they are fewer. */

static void raw_lane_by_low(const prover *p, evec to, uint8_t *acc, evec row, const bitmap8 *maps, size_t k, unsigned l) {
    const layers_trace *t = p->t;
    const size_t first = k * t->s_high, count = t->s_high >= 8 ? t->s_high / 8 : 1;
    for (size_t low = 0; low < (size_t)1 << t->t; low++) {
        memset(acc, 0, BITMAP_ACC_BYTES);
        p->kn->bitmap_accumulate(acc, maps, 1, p->bits + (((first / 8) << t->t) + low) * STATE_BYTES + 64 * l,
                                 (size_t)STATE_BYTES << t->t, count);
        p->kn->bitmap_finish(row, acc);
        p->kn->evec_scale_add(to, row, p->low_eq[low], 64);
    }
}

static void raw_lane_by_high(const prover *p, evec to, uint8_t *acc, evec row, size_t k, unsigned l) {
    const layers_trace *t = p->t;
    const evec eq = {p->eq_rows, p->eq_stride};
    const size_t first = k * t->s_high, eighths = (size_t)1 << (t->t - 3);
    uint8_t bytes[(1 << MAX_BIT_ROUNDS) * 64];
    for (size_t i = 0; i < t->s_high; i++) {
        const size_t prime = first + i, b = prime / 8;
        if (i == 0 || prime % 8 == 0)
            for (size_t q = 0; q < eighths; q++)
                p->kn->bits_transpose8(bytes + 512 * q, 64, p->bits + ((b << t->t) + 8 * q) * STATE_BYTES + 64 * l, STATE_BYTES);
        memset(acc, 0, BITMAP_ACC_BYTES);
        p->kn->bitmap_accumulate(acc, p->low_maps, 1, bytes + 64 * (prime % 8), 512, eighths);
        if (t->s_high == 1) {
            p->kn->bitmap_finish(to, acc);
            return;
        }
        p->kn->bitmap_finish(row, acc);
        p->kn->evec_scale_add(to, row, evec_get(eq, i), 64);
    }
}

static void raw_task(void *ctx, size_t k, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    const layers_trace *t = p->t;
    evec eq = {p->eq_rows, p->eq_stride};
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES];
    _Alignas(64) uint64_t row[192];
    const size_t first = k * t->s_high, last = first + t->s_high;
    uint64_t *raw = p->raw + k * RAW_WORDS;
    memset(raw, 0, RAW_WORDS * sizeof *raw);
    const int by_high = t->s_high < (size_t)1 << t->t;
    bitmap8 *maps = t->s_high >= 8 ? p->maps : p->maps + k; /* whole blocks of a place, or its own part of one */
    if (!by_high && t->s_high < 8) {
        gf192 col[8];
        for (unsigned j = 0; j < 8; j++) {
            size_t prime = first / 8 * 8 + j;
            col[j] = prime >= first && prime < last ? evec_get(eq, prime - first) : GF192_ZERO;
        }
        p->kn->bitmap_prepare(maps, col);
    }
    for (unsigned l = 0; l < 25; l++) {
        evec to = {raw + 64 * l, RAW_STRIDE};
        if (by_high)
            raw_lane_by_high(p, to, acc, (evec){row, 64}, k, l);
        else
            raw_lane_by_low(p, to, acc, (evec){row, 64}, maps, k, l);
        p->kn->evec_mul(evec_at(to, 1600), to, (evec){p->x_row, 64}, 64);
    }
}

static evec raw_at(const prover *p, size_t j) {
    return (evec){j < p->places ? p->raw + (j << p->level) * RAW_WORDS : p->dead_raw, RAW_STRIDE};
}
static gf192 omega_at(const prover *p, size_t j, unsigned l) {
    return j < p->places ? p->omega_left[25 * (j << p->level) + l] : GF192_ZERO;
}

static gf192 row_sum(evec a) {
    gf192 s = GF192_ZERO;
    for (unsigned z = 0; z < 64; z++) s = gf192_add(s, evec_get(a, z));
    return s;
}

/* w(X) times the quadratic with the values t0 at 0, t1 at 1 and leading coefficient t2: adds c_0, c_2, c_3. */
static void add_cubic(gf192 c[3], gf192 w0, gf192 w1, gf192 t0, gf192 t1, gf192 t2) {
    gf192 lin = gf192_add(gf192_add(t0, t1), t2), slope = gf192_add(w0, w1);
    c[0] = gf192_add(c[0], gf192_mul(w0, t0));
    c[1] = gf192_add(c[1], gf192_add(gf192_mul(w0, t2), gf192_mul(slope, lin)));
    c[2] = gf192_add(c[2], gf192_mul(slope, t2));
}

static void raw_round_task(void *ctx, size_t j, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    evec a = raw_at(p, 2 * j), b = raw_at(p, 2 * j + 1);
    gf192 c[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
    for (unsigned l = 0; l < 25; l++) {
        gf192 w0 = omega_at(p, 2 * j, l), w1 = omega_at(p, 2 * j + 1, l), d[3];
        if (gf192_is_zero(w0) && gf192_is_zero(w1)) continue;
        const unsigned i1 = 64 * (l / 5 * 5 + (l + 1) % 5), i2 = 64 * (l / 5 * 5 + (l + 2) % 5);
        p->kn->evec_dot3(d, evec_at(a, i1), evec_at(b, i1), evec_at(a, 1600 + i2), evec_at(b, 1600 + i2), 64);
        d[0] = gf192_add(d[0], gf192_add(row_sum(evec_at(a, 1600 + 64 * l)), row_sum(evec_at(a, 1600 + i2))));
        d[1] = gf192_add(d[1], gf192_add(row_sum(evec_at(b, 1600 + 64 * l)), row_sum(evec_at(b, 1600 + i2))));
        add_cubic(c, w0, w1, d[0], d[1], d[2]);
    }
    memcpy(p->partial + 3 * j, c, sizeof c);
}

static void raw_fold_task(void *ctx, size_t j, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    evec a = raw_at(p, 2 * j);
    p->kn->evec_fold(a, a, raw_at(p, 2 * j + 1), p->fold_at, RAW_STRIDE);
    for (unsigned l = 0; l < 25; l++) {
        gf192 w0 = omega_at(p, 2 * j, l), w1 = omega_at(p, 2 * j + 1, l);
        p->omega_left[25 * (2 * j << p->level) + l] = gf192_add(w0, gf192_mul(p->fold_at, gf192_add(w0, w1)));
    }
}

static void raw_rounds(prover *p) {
    const layers_trace *t = p->t;
    const layers_shape sh = t->sh;
    evec eq = {p->eq_rows, p->eq_stride};
    eq_table_evec(eq, p->rho + t->t, sh.m - t->t, GF192_ONE);
    for (size_t b = 0; b < t->s_high / 8; b++) {
        gf192 col[8];
        for (unsigned j = 0; j < 8; j++) col[j] = evec_get(eq, 8 * b + j);
        p->kn->bitmap_prepare(&p->maps[b], col);
    }
    pool_run(p->e->pool, sh.rows, raw_task, p);
    for (unsigned l = 0; l < 25; l++) {
        evec row = {p->dead_raw + 64 * l, RAW_STRIDE};
        set_bits(row, t->dead[23][l]);
        p->kn->evec_mul(evec_at(row, 1600), row, (evec){p->x_row, 64}, 64);
    }
    memcpy(p->omega_left, p->omega, 25 * sh.rows * sizeof(gf192));
    p->level = 0;
    p->places = sh.rows;
    for (unsigned n = 0; n < sh.kappa; n++) {
        const size_t live = (p->places + 1) / 2;
        pool_run(p->e->pool, live, raw_round_task, p);
        gf192 c[3];
        sum_partial(p, c, live);
        send_cubic(p, c[0], c[1], c[2], &p->rho[sh.m + n]);
        p->fold_at = p->rho[sh.m + n];
        pool_run(p->e->pool, live, raw_fold_task, p);
        p->places = live;
        p->level++;
    }
}

/* ---- z and y ---- */

static gf192 fold_one(gf192 a, gf192 b, gf192 r) { return gf192_add(a, gf192_mul(r, gf192_add(a, b))); }

/* chi's values for the row of five at e (spaced `step`), lane x, between two neighbours e[i] and e[i + 1] of each lane:
 * value at 0, at 1, and the leading coefficient. */
static void chi_pair(gf192 t[3], const gf192 *e, size_t step, unsigned x) {
    const gf192 *e0 = e + x * step, *e1 = e + (x + 1) % 5 * step, *e2 = e + (x + 2) % 5 * step;
    t[0] = gf192_add(gf192_mul(e1[0], e2[0]), gf192_add(e0[0], e2[0]));
    t[1] = gf192_add(gf192_mul(e1[1], e2[1]), gf192_add(e0[1], e2[1]));
    t[2] = gf192_mul(gf192_add(e1[0], e1[1]), gf192_add(e2[0], e2[1]));
}

/* e: 25 x 64 values at rho; w: the weights (layer 23: Omega at 64 l, x^z left out). Both are consumed. */
static void last_rounds(prover *p, gf192 *e, gf192 *w, gf192 z[6], gf192 y[3], gf192 tail[5]) {
    for (unsigned n = 0; n < 6; n++) {
        const size_t half = (size_t)32 >> n;
        gf192 c[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
        for (unsigned l = 0; l < 25; l++) {
            if (p->top && gf192_is_zero(w[64 * l])) continue;
            gf192 g1 = GF192_ZERO, g2 = GF192_ZERO;
            for (size_t b = 0; b < half; b++) {
                gf192 t[3];
                chi_pair(t, e + 64 * (l / 5 * 5) + 2 * b, 64, l % 5);
                if (!p->top) {
                    add_cubic(c, w[64 * l + 2 * b], w[64 * l + 2 * b + 1], t[0], t[1], t[2]);
                    continue;
                }
                gf64 power = UINT64_C(1) << (b << (n + 1)); /* x^e, e < 64 */
                g1 = gf192_add(g1, gf192_mul_k(gf192_add(gf192_add(t[0], t[1]), t[2]), power));
                g2 = gf192_add(g2, gf192_mul_k(t[2], power));
            }
            if (p->top) {
                c[0] = gf192_add(c[0], gf192_mul(w[64 * l], g1));
                c[1] = gf192_add(c[1], gf192_mul(w[64 * l], g2));
            }
        }
        if (p->top) {
            gf192 t = gf192_from_k(UINT64_C(1) << (1u << n)); /* x^(2^n) */
            gf192 c0 = gf192_add(p->claim, gf192_mul(t, gf192_add(c[0], c[1])));
            send_known(p, gf192_mul(c0, gf192_inv(one_plus(t))), c[0], c[1], &z[n]);
        } else {
            send_cubic(p, c[0], c[1], c[2], &z[n]);
        }
        for (unsigned l = 0; l < 25; l++)
            for (size_t b = 0; b < half; b++) {
                gf192 *at = e + 64 * l + b, *wt = w + 64 * l + b;
                *at = fold_one(at[b], at[b + 1], z[n]);
                if (!p->top) *wt = fold_one(wt[b], wt[b + 1], z[n]);
            }
    }
    gf192 ey[5][8], wy[5][8];
    memset(ey, 0, sizeof ey);
    memset(wy, 0, sizeof wy);
    for (unsigned l = 0; l < 25; l++) {
        ey[l % 5][l / 5] = e[64 * l];
        wy[l % 5][l / 5] = w[64 * l];
    }
    for (unsigned n = 0; n < 3; n++) {
        const size_t half = (size_t)4 >> n;
        gf192 c[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
        for (unsigned x = 0; x < 5; x++)
            for (size_t b = 0; b < half; b++) {
                gf192 t[3];
                chi_pair(t, &ey[0][2 * b], 8, x);
                add_cubic(c, wy[x][2 * b], wy[x][2 * b + 1], t[0], t[1], t[2]);
            }
        send_cubic(p, c[0], c[1], c[2], &y[n]);
        for (unsigned x = 0; x < 5; x++)
            for (size_t b = 0; b < half; b++) {
                ey[x][b] = fold_one(ey[x][2 * b], ey[x][2 * b + 1], y[n]);
                wy[x][b] = fold_one(wy[x][2 * b], wy[x][2 * b + 1], y[n]);
            }
    }
    for (unsigned x = 0; x < 5; x++) tail[x] = ey[x][0];
}

/* ---- the whole ---- */

static int prover_alloc(prover *p) {
    const layers_trace *t = p->t;
    const layers_shape sh = t->sh;
    mem *m = p->e->mem;
    const unsigned outer = outer_rounds(t->t);
    const size_t points = pow3[t->t - outer];
    const size_t grid_bytes = 6 * GRID_GROUP * points * 64 + 5 * points * BITMAP_ACC_BYTES;
    const size_t fold_bytes = 5 * ((size_t)64 << t->t) + 10 * 192 * sizeof(uint64_t);
    const size_t map_bytes = map_scratch_bytes((size_t)1 << (t->t - 3));
    size_t scratch = grid_bytes > fold_bytes ? grid_bytes : fold_bytes;
    if (map_bytes > scratch) scratch = map_bytes;
    const size_t eq_n = (size_t)1 << (sh.m - t->t + sh.kappa);
    size_t half_s = t->s_high / 2 > 0 ? t->s_high / 2 : 1, half_k = (size_t)1 << (sh.kappa ? sh.kappa - 1 : 0);
    /* As many tasks as workers can share evenly, while a share is worth its closing sums. */
    p->shares = pool_threads(p->e->pool);
    if (p->shares > t->blocks / (2 * GRID_GROUP)) p->shares = t->blocks / (2 * GRID_GROUP);
    if (p->shares < 1) p->shares = 1;
    size_t partial = 5 * (size_t)pow3[t->t] * p->shares, s_partial = 3 * sh.rows * half_s;
    if (s_partial > partial) partial = s_partial;
    if (3 * (size_t)sh.rows > partial) partial = 3 * (size_t)sh.rows;
    const size_t maps = t->blocks > sh.rows ? t->blocks : sh.rows;
    int bad = 0;
#define GET(ptr, n) bad |= !((ptr) = mem_alloc(m, (n) * sizeof *(ptr)))
    p->eq_stride = eq_n < 8 ? 8 : eq_n;
    GET(p->w_rows, 4800);
    GET(p->l_rows, 4800);
    GET(p->x_row, 192);
    GET(p->maps, maps);
    GET(p->lane_active, 25 * t->blocks);
    GET(p->low_maps, (size_t)1 << (t->t - 3));
    GET(p->eq_rows, 3 * p->eq_stride);
    GET(p->partial, partial);
    GET(p->active, 5 * (size_t)sh.rows);
    for (unsigned y = 0; y < 5; y++) GET(p->entries[y], t->primes * ENTRY_WORDS);
    GET(p->lambda, t->primes);
    p->by_maps = layers_by_maps(sh, t->t);
    if (p->by_maps) {
        GET(p->weighted, LAYERS_WEIGHTED_WORDS(t->t));
        GET(p->lambda_parts, 5 * t->primes);
    }
    GET(p->dead_entry, 5 * ENTRY_WORDS);
    GET(p->eq_scalar, half_s > half_k ? half_s : half_k);
    GET(p->eq_place, sh.rows);
    GET(p->raw, sh.rows * (size_t)RAW_WORDS);
    GET(p->dead_raw, RAW_WORDS);
    GET(p->omega_left, 25 * (size_t)sh.rows);
    const unsigned workers = pool_threads(p->e->pool);
    p->scratch = mem_alloc_zero(m, workers * sizeof *p->scratch);
    bad |= !p->scratch;
    for (unsigned i = 0; p->scratch && i < workers; i++) GET(p->scratch[i], scratch);
    for (unsigned l = 0; l < 25; l++) {
        int any = 0;
        for (size_t k = 0; k < sh.rows; k++) any |= !gf192_is_zero(p->omega[25 * k + l]);
        if (any) GET(p->lane_maps[l], t->blocks);
    }
#undef GET
    return bad ? -1 : 0;
}

static void free_top_only(prover *p) {
    mem *m = p->e->mem;
    for (unsigned l = 0; l < 25; l++) {
        mem_free(m, p->lane_maps[l]);
        p->lane_maps[l] = NULL;
    }
    mem_free(m, p->raw);
    mem_free(m, p->dead_raw);
    mem_free(m, p->omega_left);
    mem_free(m, p->lane_active);
    p->raw = p->dead_raw = NULL;
    p->omega_left = NULL;
    p->lane_active = NULL;
}

static void prover_free(prover *p) {
    mem *m = p->e->mem;
    free_top_only(p);
    mem_free(m, p->w_rows);
    mem_free(m, p->l_rows);
    mem_free(m, p->x_row);
    mem_free(m, p->maps);
    mem_free(m, p->low_maps);
    mem_free(m, p->eq_rows);
    mem_free(m, p->partial);
    mem_free(m, p->active);
    for (unsigned y = 0; y < 5; y++) mem_free(m, p->entries[y]);
    mem_free(m, p->lambda);
    mem_free(m, p->weighted);
    mem_free(m, p->lambda_parts);
    mem_free(m, p->dead_entry);
    mem_free(m, p->eq_scalar);
    mem_free(m, p->eq_place);
    for (unsigned i = 0; p->scratch && i < pool_threads(p->e->pool); i++) mem_free(m, p->scratch[i]);
    mem_free(m, p->scratch);
}

static void set_weights(prover *p, const gf192 *w) {
    for (unsigned l = 0; l < 25; l++)
        for (unsigned z = 0; z < 64; z++) {
            unsigned shifted = l / 5 * 5 + (l + 3) % 5;
            evec_set((evec){p->w_rows, 1600}, 64 * l + z, w[64 * l + z]);
            evec_set((evec){p->l_rows, 1600}, 64 * l + z, gf192_add(w[64 * l + z], w[64 * shifted + z]));
        }
}

static void prove_layer(prover *p, layers_claim *out, unsigned r, gf192 *e, gf192 *w) {
    layers_trace *t = p->t;
    const layers_shape sh = t->sh;
    gf192 z[6], y[3], tail[5], mu;
    p->top = r == 23;
    p->rho = out->rho;
    if (r % SEGMENT == 0) {
        p->bits = t->checkpoint[r / SEGMENT];
    } else {
        if (r % SEGMENT == SEGMENT - 1) {
            env_stage_begin(p->e, "states");
            segment_job job = {t, r / SEGMENT * SEGMENT};
            pool_run(p->e->pool, t->blocks, segment_block, &job);
            env_stage_end(p->e);
        }
        p->bits = t->segment[r % SEGMENT - 1];
    }

    env_stage_begin(p->e, "bit rounds");
    if (p->top) {
        evec eq = {p->eq_rows, p->eq_stride};
        eq_table_evec(eq, p->point + t->t, sh.m - t->t, GF192_ONE);
        pool_run(p->e->pool, 25, lane_maps_task, p);
        for (unsigned yy = 0; yy < 5; yy++)
            for (size_t k = 0; k < sh.rows; k++) {
                int any = 0;
                for (unsigned x = 0; x < 5; x++) any |= !gf192_is_zero(p->omega[25 * k + x + 5 * yy]);
                p->active[yy * sh.rows + k] = (uint8_t)any;
            }
    } else {
        memset(p->active, 1, 5 * (size_t)sh.rows);
        place_masses(p, p->point + sh.m);
        prepare_dead(p, r);
    }
    bit_rounds(p);
    env_stage_end(p->e);

    if (!p->top || t->t < sh.m) {
        env_stage_begin(p->e, "fold");
        if (p->by_maps && !p->top)
            fold_by_maps(p);
        else
            pool_run(p->e->pool, t->blocks, fold_bits_task, p);
        env_stage_end(p->e);
    }
    env_stage_begin(p->e, "field rounds");
    s_rounds(p);
    if (p->top)
        raw_rounds(p);
    else
        k_rounds(p);
    env_stage_end(p->e);

    env_stage_begin(p->e, "rest");
    prepare_maps(p, p->rho); /* for this layer's last rows and for the next layer's bit rounds */
    if (p->top) {
        for (unsigned i = 0; i < 1600; i++) e[i] = evec_get((evec){p->raw, RAW_STRIDE}, i);
        for (unsigned l = 0; l < 25; l++) w[64 * l] = p->omega_left[l];
    } else {
        /* rows x = 1 and 3 from the bits, the others from the entries */
        uint64_t *rows = p->w_rows; /* the weights are not needed any more */
        place_masses(p, p->rho + sh.m);
        direct_job job = {p, rows, r};
        pool_run(p->e->pool, 10, direct_task, &job);
        for (unsigned l = 0; l < 25; l++)
            for (unsigned b = 0; b < 64; b++)
                e[64 * l + b] = l % 5 % 2 ? evec_get(row_of(rows, l), b)
                                          : evec_get(entry_at(p, l / 5, 0), 64 * (l % 5 / 2) + b);
    }
    last_rounds(p, e, w, z, y, tail);
    tx_send_e(p->c, MSG_LAYER_TAIL, tail, 5);
    transcript_squeeze(&p->c->t, &mu, 1);
    p->claim = poly_eval(tail, 4, mu);
    layers_point weights;
    layers_point_set(&weights, mu, y, z);
    layers_weights(out->w, &weights);
    set_weights(p, out->w);
    memcpy(w, out->w, sizeof out->w);
    memcpy(p->point, out->rho, (sh.m + sh.kappa) * sizeof *p->point);
    env_stage_end(p->e);
}

int layers_prove(tx *c, env *e, layers_claim *out, layers_trace *t, const gf192 *omega, const gf192 *zeta_s, gf192 v_out) {
    prover *p = mem_alloc_zero(e->mem, sizeof *p);
    gf192 *values = mem_alloc(e->mem, 3200 * sizeof *values);
    int result = -1;
    if (p) p->e = e; /* what prover_free needs */
    if (!p || !values) goto done;
    p->c = c;
    p->t = t;
    p->kn = kernels();
    p->omega = omega;
    if (prover_alloc(p)) goto done;
    transcript_label(&c->t, "keccak  ");
    for (unsigned z = 0; z < 64; z++) {
        p->x_powers[z] = UINT64_C(1) << z;
        evec_set((evec){p->x_row, 64}, z, gf192_from_k(p->x_powers[z]));
    }
    gf192 column = GF192_ZERO;
    for (unsigned k = 0; k < t->sh.rows; k++) column = gf192_add(column, omega[25 * k]);
    p->claim = gf192_add(v_out, gf192_mul_k(column, keccak_rc[23]));
    memcpy(p->point, zeta_s, t->sh.m * sizeof *zeta_s);

    for (unsigned r = 24; r-- > 0;) {
        if (r != 23) p->claim = gf192_add(p->claim, layers_constant(out->w, r));
        prove_layer(p, out, r, values, values + 1600);
        if (r == 23) free_top_only(p);
        if (env_progress(e, (24 - r) / 24.0, "Keccak layers")) goto done;
    }
    out->claim = p->claim;
    result = 0;
done:
    if (p) prover_free(p);
    mem_free(e->mem, p);
    mem_free(e->mem, values);
    return result;
}
