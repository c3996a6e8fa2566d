/* The leaf's prover.   docs/protocol.md 8.2.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "leaf.h"
#include "outer.h"
#include "../bus/bus.h"
#include "../keccak_gkr/layers.h"
#include "../keccak_gkr/slice.h"
#include "../poly/poly.h"

/* Shares of the whole that the parts take, for progress. */
#define PART_COMMIT 0.03
#define PART_BUS 0.04
#define PART_LAYERS 0.85

#define SLOTS_AT_ONCE 512 /* that are worth a task */

typedef struct prover {
    tx *c;
    env *e;
    const sheaf_kernels *kn;
    const circuit *cir;
    const leaf_statement *st;
    const leaf_witness *wit;
    unsigned m;
    size_t slots;
    const whir_params *par;

    uint64_t *q;          /* 2^J columns of M words */
    uint64_t *publics;    /* columns of M words */
    uint64_t *slot_index; /* M words: 0, 1, ... */
    uint64_t **output;    /* rows x 25: columns of M words, NULL where no form reads the lane */
    lane_input *inputs;   /* rows x 25 */
    whir_commitment commitment;

    bus_claim bus;
    evec leaves[2];
    gf192 alpha[3], beta, eq_alpha[8];
    outer_point at;
    outer_claim outer;
    layers_trace *trace;
    layers_claim layers;

    uint64_t *eq_s; /* 3 x M */
    uint64_t *wj, *vj; /* the input layer: 2^J rows of 64 E elements each */
    bitmap8 *maps;  /* M / 8 */
} prover;

static evec eq_s_of(const prover *p) { return (evec){p->eq_s, p->slots}; }

/* ---- columns ---- */

static void repeat_column(uint64_t *to, const uint64_t *from, uint64_t signers, size_t slots) {
    memcpy(to, from, (size_t)signers * sizeof *to);
    for (size_t s = (size_t)signers; s < slots; s++) to[s] = from[signers - 1];
}

static void mark_outputs(const prover *p, uint8_t *used) {
    for (size_t i = 0; i < p->cir->n_terms; i++) {
        const term *t = &p->cir->terms[i];
        if (t->kind == TERM_OUTPUT) used[25 * (size_t)t->a + t->b] = 1;
    }
}

/* A column of q or, past them, of the publics. */
static void columns_task(void *ctx, size_t j, unsigned worker) {
    (void)worker;
    const prover *p = ctx;
    const circuit *c = p->cir;
    const size_t M = p->slots, n_q = (size_t)1 << c->j_vars, signers = (size_t)p->st->signers;
    if (j < c->words)
        repeat_column(p->q + j * M, p->wit->words + j * signers, signers, M);
    else if (j < n_q)
        memset(p->q + j * M, 0, M * sizeof *p->q);
    else
        repeat_column(p->publics + (j - n_q) * M, p->st->publics + (j - n_q) * signers, signers, M);
}

static int columns_build(prover *p) {
    const circuit *c = p->cir;
    const size_t M = p->slots, lanes = 25 * (size_t)c->rows;
    mem *mm = p->e->mem;
    p->q = mem_alloc(mm, (M << c->j_vars) * sizeof *p->q);
    p->publics = mem_alloc(mm, (M * c->publics + 1) * sizeof *p->publics);
    p->slot_index = mem_alloc(mm, M * sizeof *p->slot_index);
    p->output = mem_alloc_zero(mm, lanes * sizeof *p->output);
    p->inputs = mem_alloc_zero(mm, lanes * sizeof *p->inputs);
    p->eq_s = mem_alloc(mm, 3 * M * sizeof *p->eq_s);
    uint8_t *used = mem_alloc_zero(mm, lanes);
    int result = -1;
    if (!p->q || !p->publics || !p->slot_index || !p->output || !p->inputs || !p->eq_s || !used) goto done;
    pool_run(p->e->pool, ((size_t)1 << c->j_vars) + c->publics, columns_task, p);
    for (size_t s = 0; s < M; s++) p->slot_index[s] = s;
    for (size_t i = 0; i < lanes; i++) {
        const lane_source *src = &c->source[i];
        if (src->kind == SOURCE_WORD)
            p->inputs[i].words = p->q + src->a * M;
        else if (src->kind == SOURCE_PUBLIC)
            p->inputs[i].words = p->publics + src->a * M;
        else
            p->inputs[i].value = src->value;
    }
    mark_outputs(p, used);
    for (size_t i = 0; i < lanes; i++)
        if (used[i] && !(p->output[i] = mem_alloc(mm, M * sizeof **p->output))) goto done;
    result = 0;
done:
    mem_free(mm, used);
    return result;
}

/* The outputs of one row, eight slots at a time, of SLOTS_AT_ONCE slots. */
static void outputs_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    const size_t k = task % p->cir->rows, first = task / p->cir->rows * SLOTS_AT_ONCE;
    const size_t end = p->slots - first < SLOTS_AT_ONCE ? p->slots : first + SLOTS_AT_ONCE;
    int any = 0;
    for (unsigned l = 0; l < 25; l++) any |= p->output[25 * k + l] != NULL;
    if (!any) return;
    for (size_t s = first; s < end; s += 8) {
        _Alignas(64) uint64_t state[200];
        for (unsigned l = 0; l < 25; l++) {
            const lane_input *in = &p->inputs[25 * k + l];
            for (unsigned i = 0; i < 8; i++) state[8 * l + i] = in->words ? in->words[s + i] : in->value;
        }
        p->kn->keccak_f1600_x8(state);
        for (unsigned l = 0; l < 25; l++)
            if (p->output[25 * k + l]) memcpy(p->output[25 * k + l] + s, state + 8 * l, 64);
    }
}

static size_t slot_pieces(const prover *p) { return (p->slots + SLOTS_AT_ONCE - 1) / SLOTS_AT_ONCE; }

/* ---- the bus ---- */

static const uint64_t *term_column(const prover *p, const term *t) {
    switch (t->kind) {
    case TERM_WORD: return p->q + t->a * p->slots;
    case TERM_OUTPUT: return p->output[25 * (size_t)t->a + t->b];
    case TERM_PUBLIC: return p->publics + t->a * p->slots;
    case TERM_SLOT: return p->slot_index;
    default: return NULL;
    }
}

static void leaves_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    const circuit *c = p->cir;
    const size_t places = (size_t)1 << c->bus_log, place = task % places, side = task / places;
    const bus_tuple *tuples = side ? c->pull : c->push;
    evec leaf = evec_at(p->leaves[side], place * p->slots);
    gf192 constant = GF192_ONE;
    const bus_tuple *tuple = place < (side ? c->n_pull : c->n_push) ? &tuples[place] : NULL;
    if (tuple) {
        constant = p->beta;
        for (uint32_t i = 0; i < tuple->count; i++)
            for (uint32_t t = 0; t < tuple->coord[i].count; t++) {
                const term *tm = &c->terms[tuple->coord[i].first + t];
                if (tm->kind == TERM_CONST)
                    constant = gf192_add(constant, gf192_mul_k(p->eq_alpha[i], tm->coeff));
            }
    }
    for (unsigned limb = 0; limb < 3; limb++)
        for (size_t s = 0; s < p->slots; s++) leaf.p[limb * leaf.stride + s] = constant.c[limb];
    if (!tuple) return;
    for (uint32_t i = 0; i < tuple->count; i++)
        for (uint32_t t = 0; t < tuple->coord[i].count; t++) {
            const term *tm = &c->terms[tuple->coord[i].first + t];
            if (tm->kind != TERM_CONST)
                p->kn->evec_scale_add_k(leaf, term_column(p, tm), gf192_mul_k(p->eq_alpha[i], tm->coeff), p->slots);
        }
}

static int run_bus(prover *p) {
    const circuit *c = p->cir;
    mem *mm = p->e->mem;
    if (!circuit_has_bus(c)) {
        transcript_label(&p->c->t, "point   ");
        transcript_squeeze(&p->c->t, p->bus.zeta, p->m);
        return 0;
    }
    if (c->n_table) tx_send_words(p->c, MSG_MULTIPLICITY, p->wit->multiplicities, c->n_table);
    gf192 drawn[4];
    transcript_label(&p->c->t, "bus     ");
    transcript_squeeze(&p->c->t, drawn, 4);
    memcpy(p->alpha, drawn, sizeof p->alpha);
    p->beta = drawn[3];
    eq_table(p->eq_alpha, p->alpha, 3);
    const size_t n = p->slots << c->bus_log;
    int result = -1;
    for (unsigned side = 0; side < 2; side++)
        p->leaves[side] = (evec){mem_alloc(mm, 3 * n * sizeof(uint64_t)), n};
    if (p->leaves[0].p && p->leaves[1].p) {
        env_stage_begin(p->e, "leaves");
        pool_run(p->e->pool, (size_t)2 << c->bus_log, leaves_task, p);
        env_stage_end(p->e);
        result = bus_prove(p->c, p->e, &p->bus, p->leaves[0], p->leaves[1], c->bus_log + p->m);
    }
    for (unsigned side = 0; side < 2; side++) {
        mem_free(mm, p->leaves[side].p);
        p->leaves[side].p = NULL;
    }
    return result;
}

/* ---- the outer claim ---- */

/* The sums over the slots of the publics, and of the outputs that the claim wants. */
typedef struct links_job {
    const prover *p;
    gf192 *public_at, *output_at;
} links_job;

static void public_sum_task(void *ctx, size_t i, unsigned worker) {
    const links_job *j = ctx;
    (void)worker;
    j->p->kn->evec_dot_k(&j->public_at[i], eq_s_of(j->p), j->p->publics + i * j->p->slots, j->p->slots);
}

static void output_sum_task(void *ctx, size_t i, unsigned worker) {
    const links_job *j = ctx;
    const prover *p = j->p;
    (void)worker;
    j->output_at[i] = GF192_ZERO;
    if (p->output[i] && !gf192_is_zero(p->outer.omega[i]))
        p->kn->evec_dot_k(&j->output_at[i], eq_s_of(p), p->output[i], p->slots);
}

static int run_links(prover *p, gf192 *v_out) {
    const circuit *c = p->cir;
    p->at = (outer_point){.m = p->m, .zeta_s = p->bus.zeta, .zeta_p = p->bus.zeta + p->m, .beta = p->beta};
    memcpy(p->at.alpha, p->alpha, sizeof p->alpha);
    transcript_label(&p->c->t, "links   ");
    transcript_squeeze(&p->c->t, &p->at.gamma, 1);
    eq_table_evec(eq_s_of(p), p->at.zeta_s, p->m, GF192_ONE);
    const size_t lanes = 25 * (size_t)c->rows;
    gf192 *sums = mem_alloc(p->e->mem, (c->publics + lanes) * sizeof *sums);
    if (!sums) return -1;
    links_job job = {p, sums, sums + c->publics};
    pool_run(p->e->pool, c->publics, public_sum_task, &job);
    int result = outer_build(&p->outer, p->e->mem, c, &p->at, job.public_at);
    if (result == 0) {
        pool_run(p->e->pool, lanes, output_sum_task, &job);
        *v_out = GF192_ZERO;
        for (size_t i = 0; i < lanes; i++) *v_out = gf192_add(*v_out, gf192_mul(p->outer.omega[i], job.output_at[i]));
    }
    mem_free(p->e->mem, sums);
    if (result) return -1;
    tx_send_e(p->c, MSG_V_OUT, v_out, 1);
    return 0;
}

/* ---- the input layer ---- */

static evec input_row(uint64_t *rows, const circuit *c, size_t j) { return (evec){rows + 64 * j, (size_t)64 << c->j_vars}; }

static void maps_task(void *ctx, size_t b, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    gf192 col[8];
    for (unsigned i = 0; i < 8; i++) col[i] = evec_get(eq_s_of(p), 8 * b + i);
    p->kn->bitmap_prepare(&p->maps[b], col);
}

/* V(j, z) for all z: the bits of word j against eq over the slots. */
static void word_bits_task(void *ctx, size_t j, unsigned worker) {
    (void)worker;
    prover *p = ctx;
    const uint64_t *column = p->q + j * p->slots;
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES] = {0}, bytes[16 * 64];
    for (size_t b = 0; b < p->slots / 8; b += 16) {
        size_t count = p->slots / 8 - b < 16 ? p->slots / 8 - b : 16;
        for (size_t i = 0; i < count; i++) slice_words(bytes + 64 * i, column + 8 * (b + i));
        p->kn->bitmap_accumulate(acc, p->maps + b, 1, bytes, 64, count);
    }
    p->kn->bitmap_finish(input_row(p->vj, p->cir, j), acc);
}

#define MOST_PIECES 4 /* of a row, each a task */

typedef struct input_round {
    const prover *p;
    size_t len;        /* of a piece */
    size_t fold_pairs; /* of rows, with r; then */
    size_t sum_pairs;  /* those whose sums are wanted */
    gf192 r, sums[MOST_PIECES][2];
} input_round;

static evec input_piece(uint64_t *rows, const input_round *in, size_t j, size_t task) {
    return evec_at(input_row(rows, in->p->cir, j), in->len * task);
}

static void input_round_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    input_round *in = ctx;
    const sheaf_kernels *kn = in->p->kn;
    uint64_t *wj = in->p->wj, *vj = in->p->vj;
    gf192 *sums = in->sums[task], d[3];
    for (size_t j = 0; j < in->fold_pairs; j++) {
        kn->evec_fold(input_piece(wj, in, j, task), input_piece(wj, in, 2 * j, task), input_piece(wj, in, 2 * j + 1, task), in->r,
                      in->len);
        kn->evec_fold(input_piece(vj, in, j, task), input_piece(vj, in, 2 * j, task), input_piece(vj, in, 2 * j + 1, task), in->r,
                      in->len);
    }
    sums[0] = sums[1] = GF192_ZERO;
    for (size_t j = 0; j < in->sum_pairs; j++) {
        kn->evec_dot3(d, input_piece(wj, in, 2 * j, task), input_piece(wj, in, 2 * j + 1, task), input_piece(vj, in, 2 * j, task),
                      input_piece(vj, in, 2 * j + 1, task), in->len);
        sums[0] = gf192_add(sums[0], d[0]);
        sums[1] = gf192_add(sums[1], d[2]);
    }
}

/* The rounds over the words: rows are folded in place, so each task has a piece of all rows. */
static void input_rounds(prover *p, gf192 *j_point) {
    const unsigned threads = pool_threads(p->e->pool), n = p->cir->j_vars;
    const size_t pieces = threads < 2 ? 1 : threads < MOST_PIECES ? 2 : MOST_PIECES;
    input_round in = {.p = p, .len = 64 / pieces, .sum_pairs = ((size_t)1 << n) / 2};
    for (unsigned v = 0; v < n; v++) {
        gf192 sent[2] = {GF192_ZERO, GF192_ZERO};
        pool_run(p->e->pool, pieces, input_round_task, &in);
        for (size_t i = 0; i < pieces; i++)
            for (unsigned k = 0; k < 2; k++) sent[k] = gf192_add(sent[k], in.sums[i][k]);
        tx_send_e(p->c, MSG_INPUT_ROUND, sent, 2);
        transcript_squeeze(&p->c->t, &j_point[v], 1);
        in.r = j_point[v];
        in.fold_pairs = in.sum_pairs;
        in.sum_pairs /= 2;
    }
    pool_run(p->e->pool, pieces, input_round_task, &in);
}

/* Leaves the slices and j* (J coordinates). */
static int run_input(prover *p, gf192 slices[64], gf192 *j_point) {
    const circuit *c = p->cir;
    mem *mm = p->e->mem;
    const size_t n = (size_t)64 << c->j_vars;
    _Alignas(64) uint64_t w_rows[4800];
    gf192 *eq_k = mem_alloc(mm, c->rows * sizeof *eq_k);
    p->wj = mem_alloc_zero(mm, 3 * n * sizeof *p->wj);
    p->vj = mem_alloc_zero(mm, 3 * n * sizeof *p->vj);
    p->maps = mem_alloc(mm, p->slots / 8 * sizeof *p->maps);
    int result = -1;
    if (!eq_k || !p->wj || !p->vj || !p->maps) goto done;

    transcript_label(&p->c->t, "input   ");
    eq_table_evec(eq_s_of(p), p->layers.rho, p->m, GF192_ONE);
    eq_places(eq_k, c->rows, p->layers.rho + p->m, c->kappa);
    pool_run(p->e->pool, p->slots / 8, maps_task, p);
    pool_run(p->e->pool, c->words, word_bits_task, p);
    for (size_t i = 0; i < 1600; i++) evec_set((evec){w_rows, 1600}, i, p->layers.w[i]);
    for (unsigned k = 0; k < c->rows; k++)
        for (unsigned l = 0; l < 25; l++) {
            const lane_source *src = &c->source[25 * (size_t)k + l];
            if (src->kind == SOURCE_WORD)
                p->kn->evec_scale_add(input_row(p->wj, c, src->a), (evec){w_rows + 64 * l, 1600}, eq_k[k], 64);
        }
    input_rounds(p, j_point);
    for (unsigned z = 0; z < 64; z++) slices[z] = evec_get(input_row(p->vj, c, 0), z);
    tx_send_e(p->c, MSG_SLICES, slices, 64);
    result = 0;
done:
    mem_free(mm, eq_k);
    mem_free(mm, p->wj);
    mem_free(mm, p->vj);
    mem_free(mm, p->maps);
    p->wj = p->vj = NULL;
    p->maps = NULL;
    return result;
}

/* ---- the opening ---- */

static int run_opening(prover *p, const gf192 *point) {
    const circuit *c = p->cir;
    mem *mm = p->e->mem;
    const unsigned n = p->m + c->j_vars;
    gf192 f[RING_CHALLENGES + 1];
    transcript_label(&p->c->t, "ring    ");
    transcript_squeeze(&p->c->t, f, RING_CHALLENGES + 1);
    ring_map *phi = mem_alloc(mm, sizeof *phi);
    gf192 *coeff = mem_alloc(mm, c->words * sizeof *coeff);
    evec weight = {mem_alloc(mm, (3 * sizeof(uint64_t)) << n), (size_t)1 << n};
    int result = -1;
    if (phi && coeff && weight.p) {
        env_stage_begin(p->e, "ring weights");
        ring_map_init(phi, f);
        eq_table_evec(eq_s_of(p), p->at.zeta_s, p->m, GF192_ONE);
        for (unsigned j = 0; j < c->words; j++) coeff[j] = gf192_mul(f[RING_CHALLENGES], p->outer.word[j]);
        const ring_extra extra = {eq_s_of(p), p->m, coeff, c->words};
        result = ring_weights(weight, p->e, phi, point, n, &extra);
        env_stage_end(p->e);
        if (result == 0) result = whir_open(p->c, p->e, p->par, &p->commitment, p->q, weight);
    }
    mem_free(mm, weight.p);
    mem_free(mm, coeff);
    mem_free(mm, phi);
    return result;
}

static void part(prover *p, double at, double span) {
    p->e->progress_at = at;
    p->e->progress_span = span;
}

static int run(prover *p, unsigned rate) {
    const circuit *c = p->cir;
    env *e = p->e;
    const double base = e->progress_at, whole = e->progress_span > 0 ? e->progress_span : 1;
    gf192 v_out, slices[64], point[LEAF_MAX_VARIABLES];
    int result = -1;

    if (columns_build(p)) return -1;
    const uint64_t header = p->st->signers | (uint64_t)rate << 32;
    tx_send_words(p->c, MSG_HEADER, &header, 1);
    leaf_absorb_statement(&p->c->t, p->st, p->m, rate);

    part(p, base, whole * PART_COMMIT);
    env_stage_begin(e, "commit");
    result = whir_commit(p->c, e, &p->commitment, p->par, p->q, (size_t)c->words * p->slots);
    env_stage_end(e);
    if (result || env_progress(e, 1, "commitment")) return -1;

    part(p, base + whole * PART_COMMIT, whole * PART_BUS);
    env_stage_begin(e, "outputs");
    pool_run(e->pool, c->rows * slot_pieces(p), outputs_task, p);
    env_stage_end(e);
    env_stage_begin(e, "bus");
    result = run_bus(p);
    env_stage_end(e);
    if (result || env_progress(e, 1, "bus")) return -1;

    env_stage_begin(e, "links");
    result = run_links(p, &v_out);
    env_stage_end(e);
    if (result) return -1;

    part(p, base + whole * (PART_COMMIT + PART_BUS), whole * PART_LAYERS);
    env_stage_begin(e, "states");
    p->trace = layers_trace_create(e, (layers_shape){p->m, c->kappa, c->rows}, (size_t)p->st->signers, p->inputs, 0);
    env_stage_end(e);
    if (!p->trace) return -1;
    env_stage_begin(e, "layers");
    result = layers_prove(p->c, e, &p->layers, p->trace, p->outer.omega, p->at.zeta_s, v_out);
    env_stage_end(e);
    layers_trace_destroy(e, p->trace);
    p->trace = NULL;
    if (result) return -1;

    const double done = PART_COMMIT + PART_BUS + PART_LAYERS;
    part(p, base + whole * done, whole * (1 - done));
    env_stage_begin(e, "input");
    memcpy(point, p->layers.rho, p->m * sizeof *point);
    result = run_input(p, slices, point + p->m);
    env_stage_end(e);
    if (result) return -1;

    env_stage_begin(e, "open");
    result = run_opening(p, point);
    env_stage_end(e);
    part(p, base, whole);
    return result || p->c->failed ? -1 : 0;
}

static void release(prover *p) {
    mem *mm = p->e->mem;
    layers_trace_destroy(p->e, p->trace);
    outer_free(&p->outer, mm);
    whir_commitment_free(&p->commitment, mm);
    if (p->output)
        for (size_t i = 0; i < 25 * (size_t)p->cir->rows; i++) mem_free(mm, p->output[i]);
    mem_free(mm, p->output);
    mem_free(mm, p->inputs);
    mem_free(mm, p->q);
    mem_free(mm, p->publics);
    mem_free(mm, p->slot_index);
    mem_free(mm, p->eq_s);
    mem_free(mm, p);
}

sheaf_status leaf_prove_on(tx *channel, env *e, const leaf_statement *st, const leaf_witness *w, unsigned rate, sheaf_failure *f) {
    memset(f, 0, sizeof *f);
    const unsigned m = circuit_log_slots(st->signers);
    const params_family family = st->circuit->family;
    if (rate == 0) rate = params_default_rate(family, m);
    const whir_params *par = leaf_supported(st->circuit, st->signers) ? params_lookup(family, m, rate) : NULL;
    if (!par) {
        failure_set(f, SHEAF_UNSUPPORTED, SHEAF_CHECK_NONE, st->signers,
                    "no parameters for this number of signers at this rate");
        return f->status;
    }
    prover *p = mem_alloc_zero(e->mem, sizeof *p);
    int result = -1;
    if (p) {
        p->c = channel;
        p->e = e;
        p->kn = kernels();
        p->cir = st->circuit;
        p->st = st;
        p->wit = w;
        p->m = m;
        p->slots = (size_t)1 << m;
        p->par = par;
        result = run(p, rate);
        release(p);
    }
    if (result && e->cancelled)
        failure_set(f, SHEAF_CANCELLED, SHEAF_CHECK_NONE, 0, "cancelled");
    else if (result)
        failure_set(f, SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "out of memory");
    return f->status;
}

sheaf_status leaf_prove(uint8_t **proof, size_t *proof_len, env *e, const leaf_statement *st, const leaf_witness *w, unsigned rate,
                        sheaf_failure *f) {
    tx channel;
    tx_init(&channel);
    *proof = NULL;
    *proof_len = 0;
    if (leaf_prove_on(&channel, e, st, w, rate, f) == SHEAF_OK) {
        *proof = mem_alloc(e->mem, channel.len);
        if (*proof) {
            memcpy(*proof, channel.out, channel.len);
            *proof_len = channel.len;
        } else {
            failure_set(f, SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "out of memory");
        }
    }
    tx_free(&channel);
    return f->status;
}
