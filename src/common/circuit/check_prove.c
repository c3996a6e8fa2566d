/* A circuit evaluated plainly on a witness.   docs/protocol.md 8.1.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "check.h"
#include "../kernels.h"

enum { LANES = 25 };

/* A tuple where it stands, `count` times. */
typedef struct entry {
    gf64 t[BUS_COORDS];
    uint64_t slot, count;
    unsigned place;
    bus_side side;
} entry;

typedef struct slot_view {
    const circuit *c;
    const uint64_t *words, *publics; /* of this slot, `stride` apart */
    size_t stride;
    uint64_t slot;
    uint64_t *out; /* rows x 25 */
} slot_view;

static uint64_t source_value(const slot_view *v, const lane_source *s) {
    switch (s->kind) {
    case SOURCE_WORD:
        return v->words[s->a * v->stride];
    case SOURCE_PUBLIC:
        return v->publics[s->a * v->stride];
    default:
        return s->value;
    }
}

static void evaluate_rows(const slot_view *v) {
    for (size_t row = 0; row < v->c->rows; row++) {
        uint64_t *s = v->out + LANES * row;
        for (size_t l = 0; l < LANES; l++)
            s[l] = source_value(v, &v->c->source[LANES * row + l]);
        kernels()->keccak_f1600(s);
    }
}

static gf64 form_value(const slot_view *v, term_range form) {
    gf64 sum = 0;
    for (uint32_t i = 0; i < form.count; i++) {
        const term *t = &v->c->terms[form.first + i];
        gf64 of = 1;
        if (t->kind == TERM_WORD)
            of = v->words[t->a * v->stride];
        else if (t->kind == TERM_OUTPUT)
            of = v->out[LANES * (size_t)t->a + t->b];
        else if (t->kind == TERM_PUBLIC)
            of = v->publics[t->a * v->stride];
        else if (t->kind == TERM_SLOT)
            of = v->slot;
        sum ^= t->coeff == 1 ? of : gf64_mul(t->coeff, of);
    }
    return sum;
}

static void check_links(circuit_report *report, const slot_view *v) {
    for (unsigned i = 0; i < v->c->n_links; i++)
        if (form_value(v, v->c->links[i]) != 0 && report->bad_links++ == 0) {
            report->link = i;
            report->link_slot = v->slot;
        }
}

static size_t collect(entry *to, const slot_view *v, bus_side side) {
    const bus_tuple *tuples = side == BUS_PUSH ? v->c->push : v->c->pull;
    const unsigned n = side == BUS_PUSH ? v->c->n_push : v->c->n_pull;
    for (unsigned p = 0; p < n; p++) {
        to[p] = (entry){.slot = v->slot, .count = 1, .place = p, .side = side};
        for (unsigned k = 0; k < tuples[p].count; k++)
            to[p].t[k] = form_value(v, tuples[p].coord[k]);
    }
    return n;
}

static int compare_words(const uint64_t *a, const uint64_t *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_places(const entry *a, const entry *b) {
    const uint64_t x[3] = {a->slot, (uint64_t)a->side, a->place},
                   y[3] = {b->slot, (uint64_t)b->side, b->place};
    return compare_words(x, y, 3);
}

/* By tuple, then by where it stands. */
static int compare_entries(const void *x, const void *y) {
    const entry *a = x, *b = y;
    int by_tuple = compare_words(a->t, b->t, BUS_COORDS);
    return by_tuple != 0 ? by_tuple : compare_places(a, b);
}

static void check_balance(circuit_report *report, entry *e, size_t n) {
    const entry *first = NULL;
    qsort(e, n, sizeof *e, compare_entries);
    for (size_t i = 0, next; i < n; i = next) {
        uint64_t count[2] = {0, 0};
        for (next = i; next < n && compare_words(e[i].t, e[next].t, BUS_COORDS) == 0; next++)
            count[e[next].side] += e[next].count;
        if (count[BUS_PUSH] == count[BUS_PULL])
            continue;
        report->bad_tuples++;
        if (first != NULL && compare_places(first, &e[i]) < 0)
            continue;
        first = &e[i];
        memcpy(report->tuple, first->t, sizeof report->tuple);
        report->side = first->side;
        report->place = first->place;
        report->tuple_slot = first->slot;
        report->pushes = count[BUS_PUSH];
        report->pulls = count[BUS_PULL];
    }
}

static int multiplicities_bad(const circuit *c, unsigned m, const uint64_t *multiplicities) {
    const uint64_t most = (uint64_t)c->table_pulls << m;
    uint64_t left = most;
    for (unsigned i = 0; i < c->n_table; i++) {
        if (multiplicities[i] > left)
            return 1;
        left -= multiplicities[i];
    }
    return left != 0;
}

int circuit_check(circuit_report *report, const circuit *c, unsigned m, uint64_t signers,
                  const uint64_t *words, const uint64_t *publics, const uint64_t *multiplicities) {
    const uint64_t slots = UINT64_C(1) << m;
    memset(report, 0, sizeof *report);
    uint64_t *out = malloc((size_t)c->rows * LANES * sizeof *out);
    entry *e = malloc(((size_t)slots * (c->n_push + c->n_pull) + c->n_table + 1) * sizeof *e);
    if (out == NULL || e == NULL) {
        free(out);
        free(e);
        return -1;
    }
    size_t n = 0;
    for (uint64_t s = 0; s < slots; s++) {
        const uint64_t from = s < signers ? s : signers - 1;
        slot_view v = {c, words + from, publics + from, (size_t)signers, s, out};
        if (s < signers) /* repeated slots have the rows of the last one */
            evaluate_rows(&v);
        check_links(report, &v);
        n += collect(e + n, &v, BUS_PUSH);
        n += collect(e + n, &v, BUS_PULL);
    }
    for (unsigned i = 0; i < c->n_table; i++) {
        e[n] = (entry){.slot = slots, .count = multiplicities[i], .place = i, .side = BUS_PUSH};
        memcpy(e[n++].t, c->table[i], sizeof e->t);
    }
    check_balance(report, e, n);
    report->bad_multiplicities = multiplicities_bad(c, m, multiplicities);
    free(out);
    free(e);
    return report->bad_links != 0 || report->bad_tuples != 0 || report->bad_multiplicities;
}
