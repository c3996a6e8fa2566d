/* Slot circuits as data: building, validation, digest.   docs/protocol.md 8.1, 8.6.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "circuit.h"
#include "../hash/shake.h"

enum {
    LANES = 25,
    MAX_INDEX_VARS = 16, /* words, rows and columns are numbered by 16 bits */
    MAX_BUS_LOG = 12,    /* with 2^20 slots that is BUS_MAX_HEIGHT */
    MAX_LINKS = 1 << 16,
    MAX_TABLE = 1 << 16,
    MAX_TERMS = 1 << 24
};

int circuit_init(circuit *c, params_family family, unsigned words, unsigned j_vars, unsigned rows,
                 unsigned kappa, unsigned publics) {
    memset(c, 0, sizeof *c);
    if (j_vars > MAX_INDEX_VARS || kappa > MAX_INDEX_VARS || words == 0 || rows == 0 ||
        words > 1u << j_vars || rows > 1u << kappa || publics > 1u << MAX_INDEX_VARS)
        return -1;
    c->source = calloc((size_t)rows * LANES, sizeof *c->source);
    if (c->source == NULL)
        return -1;
    c->family = family;
    c->words = words;
    c->j_vars = j_vars;
    c->rows = rows;
    c->kappa = kappa;
    c->publics = publics;
    return 0;
}

void circuit_free(circuit *c) {
    free(c->source);
    free(c->terms);
    free(c->links);
    free(c->push);
    free(c->pull);
    free(c->table);
    memset(c, 0, sizeof *c);
}

unsigned circuit_log_slots(uint64_t signers) {
    unsigned m = ceil_log2(signers);
    return m < 3 ? 3 : m;
}

/* Room for one more than `count` items of `size` bytes; the array where it is now, or NULL: at most `most`
 * items. */
static void *room_for_one(void *items, size_t count, size_t *cap, size_t size, size_t most) {
    if (count < *cap)
        return items;
    if (count >= most)
        return NULL;
    size_t larger = *cap == 0 ? 16 : 2 * *cap;
    void *moved = realloc(items, larger * size);
    if (moved != NULL)
        *cap = larger;
    return moved;
}

/* ---- adding ---- */

int circuit_set_source(circuit *c, unsigned row, unsigned lane, lane_source source) {
    if (row >= c->rows || lane >= LANES)
        return -1;
    c->source[(size_t)row * LANES + lane] = source;
    return 0;
}

int circuit_add_term(circuit *c, term t) {
    term *terms = room_for_one(c->terms, c->n_terms, &c->cap_terms, sizeof t, MAX_TERMS);
    if (terms == NULL)
        return -1;
    c->terms = terms;
    terms[c->n_terms++] = t;
    return 0;
}

int circuit_add_form(circuit *c, term_range *form, const term *t, size_t n) {
    const size_t first = c->n_terms;
    for (size_t i = 0; i < n; i++)
        if (circuit_add_term(c, t[i]) != 0) {
            c->n_terms = first;
            return -1;
        }
    *form = (term_range){(uint32_t)first, (uint32_t)n};
    return 0;
}

int circuit_add_link(circuit *c, const term *t, size_t n) {
    size_t cap = c->cap_links;
    term_range *links = room_for_one(c->links, c->n_links, &cap, sizeof *links, MAX_LINKS);
    if (links == NULL)
        return -1;
    c->links = links;
    c->cap_links = (unsigned)cap;
    if (circuit_add_form(c, &links[c->n_links], t, n) != 0)
        return -1;
    c->n_links++;
    return 0;
}

int circuit_add_tuple(circuit *c, bus_side side, bus_tuple tuple) {
    bus_tuple **places = side == BUS_PUSH ? &c->push : &c->pull;
    unsigned *n = side == BUS_PUSH ? &c->n_push : &c->n_pull,
             *cap_of = side == BUS_PUSH ? &c->cap_push : &c->cap_pull;
    size_t cap = *cap_of;
    bus_tuple *moved = room_for_one(*places, *n, &cap, sizeof tuple, (size_t)1 << MAX_BUS_LOG);
    if (moved == NULL)
        return -1;
    *places = moved;
    *cap_of = (unsigned)cap;
    moved[(*n)++] = tuple;
    return 0;
}

int circuit_set_table(circuit *c, const gf64 (*entries)[BUS_COORDS], unsigned n, unsigned pulls) {
    if (c->table != NULL || n == 0 || n > MAX_TABLE)
        return -1;
    c->table = malloc(n * sizeof *c->table);
    if (c->table == NULL)
        return -1;
    memcpy(c->table, entries, n * sizeof *c->table);
    c->n_table = n;
    c->table_pulls = pulls;
    return 0;
}

/* ---- validation: what is not used is zero, so that a circuit has one digest ---- */

static int source_valid(const circuit *c, const lane_source *s) {
    switch (s->kind) {
    case SOURCE_CONST:
        return s->a == 0;
    case SOURCE_WORD:
        return s->a < c->words && s->value == 0;
    case SOURCE_PUBLIC:
        return s->a < c->publics && s->value == 0;
    default:
        return 0;
    }
}

static int term_valid(const circuit *c, const term *t) {
    switch (t->kind) {
    case TERM_CONST:
    case TERM_SLOT:
        return t->a == 0 && t->b == 0;
    case TERM_WORD:
        return t->a < c->words && t->b == 0;
    case TERM_OUTPUT:
        return t->a < c->rows && t->b < LANES;
    case TERM_PUBLIC:
        return t->a < c->publics && t->b == 0;
    default:
        return 0;
    }
}

static int form_valid(const circuit *c, term_range form) {
    return form.first <= c->n_terms && form.count <= c->n_terms - form.first;
}

static int tuples_valid(const circuit *c, const bus_tuple *t, unsigned n) {
    if (n > 1u << c->bus_log)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        if (t[i].count > BUS_COORDS)
            return 0;
        for (unsigned k = 0; k < t[i].count; k++)
            if (!form_valid(c, t[i].coord[k]))
                return 0;
    }
    return 1;
}

static int circuit_valid(const circuit *c) {
    if (c->bus_log > MAX_BUS_LOG || (!circuit_has_bus(c) && (c->bus_log != 0 || c->n_table != 0)))
        return 0;
    if (c->n_table == 0 ? c->table_pulls != 0 : c->table_pulls == 0 || c->table_pulls > c->n_pull)
        return 0;
    for (size_t i = 0; i < (size_t)c->rows * LANES; i++)
        if (!source_valid(c, &c->source[i]))
            return 0;
    for (size_t i = 0; i < c->n_terms; i++)
        if (!term_valid(c, &c->terms[i]))
            return 0;
    for (unsigned i = 0; i < c->n_links; i++)
        if (!form_valid(c, c->links[i]))
            return 0;
    return tuples_valid(c, c->push, c->n_push) && tuples_valid(c, c->pull, c->n_pull);
}

/* ---- the digest ---- */

static void absorb_word(shake256 *h, uint64_t word) {
    uint8_t bytes[8];
    store64_le(bytes, word);
    shake256_absorb(h, bytes, sizeof bytes);
}

static void absorb_form(shake256 *h, const circuit *c, term_range form) {
    absorb_word(h, form.count);
    for (uint32_t i = 0; i < form.count; i++) {
        const term *t = &c->terms[form.first + i];
        absorb_word(h, t->kind + ((uint64_t)t->b << 8) + ((uint64_t)t->a << 16));
        absorb_word(h, t->coeff);
    }
}

static void absorb_tuples(shake256 *h, const circuit *c, const bus_tuple *t, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        absorb_word(h, t[i].count);
        for (unsigned k = 0; k < t[i].count; k++)
            absorb_form(h, c, t[i].coord[k]);
    }
}

int circuit_finish(circuit *c) {
    if (!circuit_valid(c))
        return -1;
    shake256 h;
    shake256_init(&h);
    const uint64_t shape[] = {c->words,  c->j_vars, c->rows,    c->kappa,       c->publics, c->bus_log,
                              c->n_push, c->n_pull, c->n_table, c->table_pulls, c->n_links};
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++)
        absorb_word(&h, shape[i]);
    for (size_t i = 0; i < (size_t)c->rows * LANES; i++) {
        absorb_word(&h, c->source[i].kind + ((uint64_t)c->source[i].a << 8));
        absorb_word(&h, c->source[i].value);
    }
    for (unsigned i = 0; i < c->n_links; i++)
        absorb_form(&h, c, c->links[i]);
    absorb_tuples(&h, c, c->push, c->n_push);
    absorb_tuples(&h, c, c->pull, c->n_pull);
    for (unsigned i = 0; i < c->n_table; i++)
        for (unsigned k = 0; k < BUS_COORDS; k++)
            absorb_word(&h, c->table[i][k]);
    const uint8_t domain = HASH_CIRCUIT;
    uint8_t digest[32];
    shake256_absorb(&h, &domain, 1);
    shake256_squeeze(&h, digest, sizeof digest);
    for (size_t i = 0; i < 4; i++)
        c->digest[i] = load64_le(digest + 8 * i);
    return 0;
}
