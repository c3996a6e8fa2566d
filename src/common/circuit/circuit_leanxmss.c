/* The circuit of leanXMSS signatures on one epoch and message.   docs/protocol.md 9.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "circuit.h"
#include "leanxmss_layout.h"

/* Tags of bus tuples. */
enum { TAG_CHAIN = 1, TAG_STEP = 2 };

/* What is being built; after the first failure nothing more is added. */
typedef struct builder {
    circuit *c;
    uint32_t epoch;
    const uint64_t *message;
    int failed;
} builder;

/* ---- sources ---- */

static lane_source constant(uint64_t value) {
    return (lane_source){SOURCE_CONST, 0, value};
}
static lane_source word(unsigned j) {
    return (lane_source){SOURCE_WORD, (uint16_t)j, 0};
}
static lane_source column(unsigned p) {
    return (lane_source){SOURCE_PUBLIC, (uint16_t)p, 0};
}

static void set(builder *b, unsigned row, unsigned lane, lane_source s) {
    if (!b->failed && circuit_set_source(b->c, row, lane, s) != 0)
        b->failed = 1;
}

/* Lanes 0..3: the tweak and P. */
static void set_prefix(builder *b, unsigned row, lane_source tweak0, uint64_t tweak1) {
    set(b, row, 0, tweak0);
    set(b, row, 1, constant(tweak1));
    set(b, row, 2, column(LX_P));
    set(b, row, 3, column(LX_P + 1));
}

static void set_padding(builder *b, unsigned row, unsigned lane) {
    set(b, row, lane, constant(LX_PAD_FIRST));
    set(b, row, LX_RATE_LANES - 1, constant(LX_PAD_LAST));
}

static lane_source leaf_message(const builder *b, unsigned lane) {
    switch (lane) {
    case 0:
        return constant(lx_lane0(LEANXMSS_TWEAK_LEAF, 0));
    case 1:
        return constant(lx_lane1(b->epoch));
    case 2:
    case 3:
        return column(LX_P + lane - 2);
    default:
        return word(LX_END + lane - 4);
    }
}

static void set_rows(builder *b) {
    set_prefix(b, LX_ROW_ENC, constant(lx_lane0(LEANXMSS_TWEAK_ENCODING, 0)), lx_lane1(b->epoch));
    for (unsigned l = 0; l < 4; l++)
        set(b, LX_ROW_ENC, 4 + l, constant(b->message[l]));
    for (unsigned l = 0; l < 3; l++)
        set(b, LX_ROW_ENC, 8 + l, word(LX_RANDOMIZER + l));
    set_padding(b, LX_ROW_ENC, 12);

    for (unsigned i = 0; i < LEANXMSS_STEPS; i++) {
        const unsigned row = LX_ROW_CHAIN + i, w = LX_CHAIN + LX_CHAIN_WORDS * i;
        set_prefix(b, row, word(w + 2), lx_lane1(b->epoch));
        set(b, row, 4, word(w));
        set(b, row, 5, word(w + 1));
        set(b, row, 6, word(w + 4));
        set_padding(b, row, 8);
    }

    for (unsigned l = 0; l < LX_RATE_LANES; l++)
        set(b, LX_ROW_LEAF, l, leaf_message(b, l));
    for (unsigned k = 1; k < LX_BLOCKS; k++)
        for (unsigned l = 0; l < LX_LANES; l++)
            set(b, LX_ROW_LEAF + k, l, word(LX_LEAF + LX_LANES * (k - 1) + l));

    for (unsigned t = 0; t < LEANXMSS_HEIGHT; t++) {
        const unsigned row = LX_ROW_MERKLE + t;
        set_prefix(b, row, constant(lx_lane0(LEANXMSS_TWEAK_NODE, t + 1)), lx_lane1(lx_parent(b->epoch, t)));
        for (unsigned l = 0; l < LX_MERKLE_WORDS; l++)
            set(b, row, 4 + l, word(LX_MERKLE + LX_MERKLE_WORDS * t + l));
        set_padding(b, row, 8);
    }
}

/* ---- links ---- */

static term t_constant(gf64 value) {
    return (term){TERM_CONST, 0, 0, value};
}
static term t_word(unsigned j) {
    return (term){TERM_WORD, 0, (uint16_t)j, 1};
}
static term t_output(unsigned row, unsigned lane) {
    return (term){TERM_OUTPUT, (uint8_t)lane, (uint16_t)row, 1};
}
static term t_column(unsigned p) {
    return (term){TERM_PUBLIC, 0, (uint16_t)p, 1};
}

/* The term of a message lane of the LEAF sponge. */
static term t_leaf_message(const builder *b, unsigned lane) {
    lane_source s = leaf_message(b, lane);
    return s.kind == SOURCE_CONST ? t_constant(s.value) : s.kind == SOURCE_WORD ? t_word(s.a) : t_column(s.a);
}

static void add_link(builder *b, const term *t, size_t n) {
    if (!b->failed && circuit_add_link(b->c, t, n) != 0)
        b->failed = 1;
}

/* 1. A digest word is the sum of its 21 positions, three bits each: x^{3i-32} takes lane 0 of a position to
 * its place. */
static void add_encoding_links(builder *b) {
    enum { HALF = LEANXMSS_CHAINS / 2 };
    gf64 shift = gf64_inv(gf64_pow(2, 32)), places[HALF];
    for (unsigned i = 0; i < HALF; i++) {
        places[i] = shift;
        shift = gf64_mul(shift, 8);
    }
    for (unsigned w = 0; w < 2; w++) {
        term t[1 + 2 * HALF];
        size_t n = 0;
        t[n++] = t_output(LX_ROW_ENC, w);
        for (unsigned i = 0; i < HALF; i++) {
            t[n] = t_word(LX_START + LX_START_WORDS * (HALF * w + i));
            t[n++].coeff = places[i];
            t[n++] = t_constant(gf64_mul(places[i], lx_step_lane(0)));
        }
        add_link(b, t, n);
    }
}

/* 2. The LEAF sponge. */
static void add_leaf_links(builder *b) {
    for (unsigned k = 1; k < LX_BLOCKS; k++)
        for (unsigned l = 0; l < LX_LANES; l++) {
            const unsigned lane = LX_RATE_LANES * k + l;
            term t[4];
            size_t n = 0;
            t[n++] = t_word(LX_LEAF + LX_LANES * (k - 1) + l);
            t[n++] = t_output(LX_ROW_LEAF + k - 1, l);
            if (l < LX_RATE_LANES && lane < LX_LEAF_LANES)
                t[n++] = t_leaf_message(b, lane);
            if (k == LX_BLOCKS - 1 && lane == LX_LEAF_LANES)
                t[n++] = t_constant(LX_PAD_FIRST);
            if (k == LX_BLOCKS - 1 && l == LX_RATE_LANES - 1)
                t[n++] = t_constant(LX_PAD_LAST);
            add_link(b, t, n);
        }
}

/* 3. and 4. The path to the root. */
static void add_path_links(builder *b) {
    for (unsigned t = 0; t < LEANXMSS_HEIGHT; t++)
        for (unsigned w = 0; w < 2; w++) {
            const unsigned right = b->epoch >> t & 1; /* the child that the path comes from */
            const term link[] = {t_word(LX_MERKLE + LX_MERKLE_WORDS * t + 2 * right + w),
                                 t_output(LX_ROW_MERKLE + t - 1, w)};
            add_link(b, link, 2);
        }
    for (unsigned w = 0; w < 2; w++) {
        const term link[] = {t_output(LX_ROWS - 1, w), t_column(LX_ROOT + w)};
        add_link(b, link, 2);
    }
}

/* ---- the bus ---- */

/* A place whose coordinates are one term each. */
static void add_place(builder *b, bus_side side, const term *t, unsigned n) {
    bus_tuple tuple = {0};
    tuple.count = n;
    for (unsigned i = 0; i < n && !b->failed; i++)
        if (circuit_add_form(b->c, &tuple.coord[i], &t[i], 1) != 0)
            b->failed = 1;
    if (!b->failed && circuit_add_tuple(b->c, side, tuple) != 0)
        b->failed = 1;
}

/* (CH, s, index, lane 0 of the position, value) */
static void add_chain_place(builder *b, bus_side side, term index, term position, term value0, term value1) {
    const term t[] = {t_constant(TAG_CHAIN), {TERM_SLOT, 0, 0, 1}, index, position, value0, value1};
    add_place(b, side, t, 6);
}

static void add_bus(builder *b) {
    b->c->bus_log = LX_BUS_LOG;
    for (unsigned c = 0; c < LEANXMSS_CHAINS; c++) {
        const unsigned w = LX_START + LX_START_WORDS * c;
        add_chain_place(b, BUS_PUSH, t_constant(c), t_word(w), t_word(w + 1), t_word(w + 2));
    }
    for (unsigned i = 0; i < LEANXMSS_STEPS; i++) {
        const unsigned w = LX_CHAIN + LX_CHAIN_WORDS * i, row = LX_ROW_CHAIN + i;
        add_chain_place(b, BUS_PUSH, t_word(w + 4), t_word(w + 3), t_output(row, 0), t_output(row, 1));
    }
    for (unsigned i = 0; i < LEANXMSS_STEPS; i++) {
        const unsigned w = LX_CHAIN + LX_CHAIN_WORDS * i;
        add_chain_place(b, BUS_PULL, t_word(w + 4), t_word(w + 2), t_word(w), t_word(w + 1));
    }
    for (unsigned i = 0; i < LEANXMSS_STEPS; i++) {
        const unsigned w = LX_CHAIN + LX_CHAIN_WORDS * i;
        const term t[] = {t_constant(TAG_STEP), t_word(w + 2), t_word(w + 3)};
        add_place(b, BUS_PULL, t, 3);
    }
    for (unsigned c = 0; c < LEANXMSS_CHAINS; c++) {
        const unsigned w = LX_END + LX_END_WORDS * c;
        add_chain_place(b, BUS_PULL, t_constant(c), t_constant(lx_step_lane(LX_TABLE)), t_word(w),
                        t_word(w + 1));
    }
    gf64 table[LX_TABLE][BUS_COORDS] = {{0}};
    for (unsigned p = 0; p < LX_TABLE; p++) {
        table[p][0] = TAG_STEP;
        table[p][1] = lx_step_lane(p);
        table[p][2] = lx_step_lane(p + 1);
    }
    if (!b->failed &&
        circuit_set_table(b->c, (const gf64(*)[BUS_COORDS])table, LX_TABLE, LEANXMSS_STEPS) != 0)
        b->failed = 1;
}

int circuit_build_leanxmss(circuit *c, uint32_t epoch, const uint64_t message[4]) {
    builder b = {c, epoch, message, 0};
    if (circuit_init(c, PARAMS_LEANXMSS, LX_WORDS, LX_LOG_WORDS, LX_ROWS, LX_LOG_ROWS, LX_PUBLICS) == 0) {
        set_rows(&b);
        add_encoding_links(&b);
        add_leaf_links(&b);
        add_path_links(&b);
        add_bus(&b);
        if (!b.failed && circuit_finish(c) == 0)
            return 0;
    }
    circuit_free(c);
    return -1;
}

/* A public key is root, P: the columns in their order. */
void circuit_leanxmss_publics(uint64_t *publics, size_t n, const uint8_t *public_keys) {
    for (size_t p = 0; p < LX_PUBLICS; p++)
        for (size_t s = 0; s < n; s++)
            publics[p * n + s] = load64_le(public_keys + 8 * (LX_PUBLICS * s + p));
}
