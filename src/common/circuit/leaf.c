/* The leaf's verifier.   docs/protocol.md 8.2.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "leaf.h"
#include "outer.h"
#include "../bus/bus.h"
#include "../keccak_gkr/layers.h"
#include "../poly/poly.h"

typedef struct opening_weight {
    const circuit *c;
    unsigned m;
    const ring_map *phi;
    const gf192 *point;   /* of the slices: rho_s, then j* */
    const gf192 *zeta_s;
    const gf192 *word;    /* a_j */
    gf192 lambda;
    gf192 *eq_j;          /* scratch, 2^J */
} opening_weight;

static gf192 weight_at(void *ctx, const gf192 *r) {
    const opening_weight *w = ctx;
    const unsigned m = w->m, j_vars = w->c->j_vars;
    gf192 sum = GF192_ZERO;
    eq_table(w->eq_j, r + m, j_vars);
    for (unsigned j = 0; j < w->c->words; j++) sum = gf192_add(sum, gf192_mul(w->word[j], w->eq_j[j]));
    sum = gf192_mul(gf192_mul(w->lambda, sum), eq_at(w->zeta_s, r, m));
    return gf192_add(sum, ring_weight_at(w->phi, w->point, r, m + j_vars));
}

/* Everything that one verification holds. */
typedef struct verifier {
    rx c;
    const leaf_statement *st;
    unsigned m, rate;
    const whir_params *par;
    uint64_t root[4];
    gf192 *eq_j, *eq_k, *public_at, *slices;
    bus_claim bus;
    outer_point at;
    outer_claim outer;
    layers_claim layers;
} verifier;

static int no_memory(verifier *v) {
    return rx_fail(&v->c, SHEAF_OUT_OF_MEMORY, "out of memory");
}

static int check_header(verifier *v) {
    uint64_t header;
    if (rx_recv_words(&v->c, MSG_HEADER, &header, 1)) return -1;
    if ((header & UINT32_MAX) != v->st->signers)
        return rx_reject(&v->c, SHEAF_CHECK_HEADER, 0, "the proof is for another number of signers or hashes");
    if (header >> 32 < 1 || header >> 32 > PARAMS_MAX_RATE)
        return rx_reject(&v->c, SHEAF_CHECK_HEADER, 0, "the proof's first rate is out of range");
    v->rate = (unsigned)(header >> 32);
    v->par = params_lookup(v->st->circuit->family, v->m, v->rate);
    if (!v->par) return rx_reject(&v->c, SHEAF_CHECK_HEADER, 0, "the shape has no parameters at the proof's first rate");
    return 0;
}

static int check_multiplicities(verifier *v, uint64_t *multiplicities) {
    const circuit *c = v->st->circuit;
    const uint64_t pulls = (uint64_t)c->table_pulls << v->m;
    uint64_t sum = 0;
    if (rx_recv_words(&v->c, MSG_MULTIPLICITY, multiplicities, c->n_table)) return -1;
    for (unsigned e = 0; e < c->n_table; e++) {
        if (multiplicities[e] > pulls)
            return rx_reject(&v->c, SHEAF_CHECK_MULTIPLICITY, e, "a multiplicity is larger than the number of look-ups");
        sum += multiplicities[e];
    }
    if (sum != pulls)
        return rx_reject(&v->c, SHEAF_CHECK_MULTIPLICITY, c->n_table, "the multiplicities do not sum to the number of look-ups");
    return 0;
}

/* Steps 4 and 5: the bus, or the point without one. */
static int run_bus(verifier *v) {
    const circuit *c = v->st->circuit;
    if (!circuit_has_bus(c)) {
        transcript_label(&v->c.t, "point   ");
        transcript_squeeze(&v->c.t, v->bus.zeta, v->m);
        v->bus.push = v->bus.pull = GF192_ZERO;
        return 0;
    }
    uint64_t multiplicities[LEAF_MAX_TABLE];
    gf192 drawn[4];
    if (c->n_table && check_multiplicities(v, multiplicities)) return -1;
    transcript_label(&v->c.t, "bus     ");
    transcript_squeeze(&v->c.t, drawn, 4);
    memcpy(v->at.alpha, drawn, sizeof v->at.alpha);
    v->at.beta = drawn[3];
    gf192 extra = outer_table_factor(c, v->at.alpha, v->at.beta, multiplicities);
    return bus_verify(&v->c, &v->bus, extra, c->bus_log + v->m);
}

/* The slices of the public columns that are sources. */
static int known_slices(verifier *v) {
    const circuit *c = v->st->circuit;
    slot_table t = {0};
    for (unsigned p = 0; p < c->publics; p++) {
        if (!circuit_public_is_source(c, p)) continue;
        if (!t.low_eq && slot_table_init(&t, v->layers.rho, v->m, v->st->signers)) return no_memory(v);
        column_bits_at(v->slices + 64 * (size_t)p, &t, v->st->publics + p * v->st->signers);
    }
    slot_table_free(&t);
    return 0;
}

/* Step 8. Leaves the slices and their point (j_point: J coordinates). */
static int run_input(verifier *v, gf192 slices[64], gf192 *j_point) {
    const circuit *c = v->st->circuit;
    const gf192 *w = v->layers.w;
    transcript_label(&v->c.t, "input   ");
    eq_places(v->eq_k, c->rows, v->layers.rho + v->m, c->kappa);
    if (known_slices(v)) return -1;
    gf192 claim = gf192_add(v->layers.claim, input_known(c, v->eq_k, w, v->slices));

    for (unsigned n = 0; n < c->j_vars; n++) {
        gf192 sent[2], h[3];
        if (rx_recv_e(&v->c, MSG_INPUT_ROUND, sent, 2)) return -1;
        h[0] = sent[0];
        h[2] = sent[1];
        h[1] = gf192_add(claim, h[2]);
        transcript_squeeze(&v->c.t, &j_point[n], 1);
        claim = poly_eval(h, 2, j_point[n]);
    }
    if (rx_recv_e(&v->c, MSG_SLICES, slices, 64)) return -1;

    eq_table(v->eq_j, j_point, c->j_vars);
    gf192 sum = GF192_ZERO;
    for (unsigned l = 0; l < 25; l++) {
        gf192 mass = GF192_ZERO, bits = GF192_ZERO;
        for (unsigned k = 0; k < c->rows; k++) {
            const lane_source *src = &c->source[25 * (size_t)k + l];
            if (src->kind == SOURCE_WORD) mass = gf192_add(mass, gf192_mul(v->eq_k[k], v->eq_j[src->a]));
        }
        for (unsigned z = 0; z < 64; z++) bits = gf192_add(bits, gf192_mul(w[64 * l + z], slices[z]));
        sum = gf192_add(sum, gf192_mul(mass, bits));
    }
    if (!gf192_equal(sum, claim))
        return rx_reject(&v->c, SHEAF_CHECK_INPUT, 0, "the slices do not agree with the input layer's claim");
    return 0;
}

static int run(verifier *v) {
    const leaf_statement *st = v->st;
    const circuit *c = st->circuit;
    if (check_header(v)) return -1;
    leaf_absorb_statement(&v->c.t, st, v->m, v->rate);
    if (rx_recv_words(&v->c, MSG_ROOT, v->root, 4)) return -1;
    if (run_bus(v)) return -1;

    v->at.m = v->m;
    v->at.zeta_s = v->bus.zeta;
    v->at.zeta_p = v->bus.zeta + v->m;
    transcript_label(&v->c.t, "links   ");
    transcript_squeeze(&v->c.t, &v->at.gamma, 1);
    gf192 v_out;
    if (rx_recv_e(&v->c, MSG_V_OUT, &v_out, 1)) return -1;
    slot_table slots;
    if (slot_table_init(&slots, v->at.zeta_s, v->m, st->signers)) return no_memory(v);
    for (unsigned p = 0; p < c->publics; p++) v->public_at[p] = column_word_at(&slots, st->publics + p * st->signers);
    slot_table_free(&slots);
    if (outer_build(&v->outer, NULL, c, &v->at, v->public_at)) return no_memory(v);
    gf192 total = gf192_add(v->bus.push, gf192_mul(v->at.gamma, v->bus.pull));
    gf192 v_q = gf192_add(gf192_add(total, v->outer.known), v_out);

    const layers_shape sh = {v->m, c->kappa, c->rows};
    if (layers_verify(&v->c, &v->layers, sh, v->outer.omega, v->at.zeta_s, v_out)) return -1;

    gf192 slices[64], point[LEAF_MAX_VARIABLES], f[RING_CHALLENGES + 1];
    memcpy(point, v->layers.rho, v->m * sizeof *point);
    if (run_input(v, slices, point + v->m)) return -1;

    transcript_label(&v->c.t, "ring    ");
    transcript_squeeze(&v->c.t, f, RING_CHALLENGES + 1);
    ring_map phi;
    ring_map_init(&phi, f);
    const gf192 lambda = f[RING_CHALLENGES];
    opening_weight weight = {c, v->m, &phi, point, v->at.zeta_s, v->outer.word, lambda, v->eq_j};
    gf192 claim = gf192_add(ring_claim(&phi, slices), gf192_mul(lambda, v_q));
    uint8_t root[32];
    for (unsigned i = 0; i < 4; i++) store64_le(root + 8 * i, v->root[i]);
    if (whir_verify(&v->c, v->par, root, (size_t)c->words << v->m, claim, weight_at, &weight)) return -1;
    return rx_finish(&v->c);
}

sheaf_status leaf_verify(const uint8_t *proof, size_t proof_len, const leaf_statement *st, leaf_report *report, sheaf_failure *f) {
    const circuit *c = st->circuit;
    memset(f, 0, sizeof *f);
    if (report) memset(report, 0, sizeof *report);
    const unsigned m = circuit_log_slots(st->signers);
    if (!leaf_supported(c, st->signers) || !params_default_rate(c->family, m)) {
        failure_set(f, SHEAF_UNSUPPORTED, SHEAF_CHECK_NONE, st->signers, "this number of signers is not supported");
        return f->status;
    }
    verifier *v = mem_alloc_zero(NULL, sizeof *v);
    if (v) {
        v->st = st;
        v->m = m;
        v->eq_j = mem_alloc(NULL, sizeof *v->eq_j << c->j_vars);
        v->eq_k = mem_alloc(NULL, c->rows * sizeof *v->eq_k);
        v->public_at = mem_alloc(NULL, (c->publics + 1) * sizeof *v->public_at);
        v->slices = mem_alloc_zero(NULL, (64 * (size_t)c->publics + 1) * sizeof *v->slices);
    }
    if (!v || !v->eq_j || !v->eq_k || !v->public_at || !v->slices) {
        failure_set(f, SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "out of memory");
    } else {
        rx_init(&v->c, proof, proof_len);
        if (run(v)) {
            *f = v->c.fail;
            if (f->status == SHEAF_OK) /* a failure that names no reason is none the less one */
                failure_set(f, SHEAF_REJECTED, SHEAF_CHECK_NONE, 0, "the proof could not be verified");
        }
        if (report) {
            report->rate = v->rate;
            report->m = m;
            memcpy(report->bytes_by_kind, v->c.bytes_by_kind, sizeof report->bytes_by_kind);
        }
        rx_free(&v->c);
    }
    if (v) {
        outer_free(&v->outer, NULL);
        mem_free(NULL, v->eq_j);
        mem_free(NULL, v->eq_k);
        mem_free(NULL, v->public_at);
        mem_free(NULL, v->slices);
        mem_free(NULL, v);
    }
    return f->status;
}
