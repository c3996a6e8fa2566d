/* The outer claim and the known part of the input layer.   docs/protocol.md 8.2, 8.3, 8.5.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "outer.h"
#include "../bus/bus.h"
#include "../keccak_gkr/layers.h"
#include "../keccak_gkr/slice.h"
#include "../poly/poly.h"
#include <assert.h>

#define PROTOCOL_VERSION 1

typedef struct builder {
    outer_claim *o;
    const circuit *c;
    const gf192 *public_at;
    gf192 slot;
} builder;

static void add_form(builder *b, term_range form, gf192 weight) {
    for (uint32_t i = form.first; i < form.first + form.count; i++) {
        const term *t = &b->c->terms[i];
        gf192 w = t->coeff == 1 ? weight : gf192_mul_k(weight, t->coeff);
        gf192 *to = &b->o->known;
        switch (t->kind) {
        case TERM_WORD: to = &b->o->word[t->a]; break;
        case TERM_OUTPUT: to = &b->o->omega[25 * (size_t)t->a + t->b]; break;
        case TERM_PUBLIC: w = gf192_mul(w, b->public_at[t->a]); break;
        case TERM_SLOT: w = gf192_mul(w, b->slot); break;
        default: break; /* TERM_CONST */
        }
        *to = gf192_add(*to, w);
    }
}

static void add_side(builder *b, const bus_tuple *side, unsigned n, const gf192 *eq_p, const gf192 eq_alpha[8], gf192 beta,
                     gf192 g) {
    for (size_t p = 0; p < (size_t)1 << b->c->bus_log; p++) {
        gf192 w = gf192_mul(g, eq_p[p]);
        if (p >= n) {
            b->o->known = gf192_add(b->o->known, w);
            continue;
        }
        b->o->known = gf192_add(b->o->known, gf192_mul(w, beta));
        for (uint32_t i = 0; i < side[p].count; i++) add_form(b, side[p].coord[i], gf192_mul(w, eq_alpha[i]));
    }
}

int outer_build(outer_claim *o, mem *mm, const circuit *c, const outer_point *at, const gf192 *public_at) {
    o->known = GF192_ZERO;
    o->word = mem_alloc_zero(mm, c->words * sizeof *o->word);
    o->omega = mem_alloc_zero(mm, 25 * (size_t)c->rows * sizeof *o->omega);
    gf192 *eq_p = mem_alloc(mm, sizeof *eq_p << c->bus_log);
    int result = -1;
    if (o->word && o->omega && eq_p) {
        builder b = {o, c, public_at, index_word_at(at->zeta_s, at->m)};
        if (circuit_has_bus(c)) {
            gf192 eq_alpha[8];
            eq_table(eq_alpha, at->alpha, 3);
            eq_table(eq_p, at->zeta_p, c->bus_log);
            add_side(&b, c->push, c->n_push, eq_p, eq_alpha, at->beta, GF192_ONE);
            add_side(&b, c->pull, c->n_pull, eq_p, eq_alpha, at->beta, at->gamma);
        }
        gf192 power = gf192_square(at->gamma);
        for (unsigned i = 0; i < c->n_links; i++) {
            add_form(&b, c->links[i], power);
            power = gf192_mul(power, at->gamma);
        }
        result = 0;
    }
    mem_free(mm, eq_p);
    if (result) outer_free(o, mm);
    return result;
}

void outer_free(outer_claim *o, mem *mm) {
    mem_free(mm, o->word);
    mem_free(mm, o->omega);
    o->word = o->omega = NULL;
}

gf192 outer_fingerprint_table(const gf192 eq_alpha[8], const gf64 entry[BUS_COORDS]) {
    gf192 fp = GF192_ZERO;
    for (unsigned i = 0; i < BUS_COORDS; i++) fp = gf192_add(fp, gf192_mul_k(eq_alpha[i], entry[i]));
    return fp;
}

gf192 outer_table_factor(const circuit *c, const gf192 alpha[3], gf192 beta, const uint64_t *multiplicities) {
    gf192 eq_alpha[8], product = GF192_ONE;
    eq_table(eq_alpha, alpha, 3);
    for (unsigned e = 0; e < c->n_table; e++) {
        gf192 leaf = gf192_add(beta, outer_fingerprint_table(eq_alpha, c->table[e]));
        product = gf192_mul(product, gf192_pow(leaf, multiplicities[e]));
    }
    return product;
}

void eq_places(gf192 *out, unsigned n, const gf192 *point, unsigned vars) {
    for (unsigned k = 0; k < n; k++) {
        gf192 v = GF192_ONE;
        for (unsigned i = 0; i < vars; i++)
            v = gf192_mul(v, k >> i & 1 ? point[i] : gf192_add(GF192_ONE, point[i]));
        out[k] = v;
    }
}

#define SLOT_LOW 10 /* variables of the low table, at most */

/* sum of eq(point, s) over first <= s < 2^m. */
static gf192 eq_from(const gf192 *point, unsigned m, uint64_t first) {
    gf192 sum = GF192_ZERO, prefix = GF192_ONE; /* prefix: eq of the bits above i with those of `first` */
    if (first >> m) return sum;
    for (unsigned i = m; i-- > 0;) {
        const gf192 one = gf192_mul(prefix, point[i]), zero = gf192_add(prefix, one);
        const int bit = (int)(first >> i & 1);
        if (!bit) sum = gf192_add(sum, one);
        prefix = bit ? one : zero;
    }
    return gf192_add(sum, prefix);
}

int slot_table_init(slot_table *t, const gf192 *point, unsigned m, uint64_t signers) {
    assert(m >= 3 && signers >= 1 && (signers - 1) >> m == 0);
    const unsigned low = m < SLOT_LOW ? m : SLOT_LOW;
    const size_t n = (size_t)1 << low;
    *t = (slot_table){.low = low, .signers = signers, .repeated = eq_from(point, m, signers)};
    t->low_eq = mem_alloc(NULL, n * sizeof *t->low_eq);
    t->high_eq = mem_alloc(NULL, sizeof *t->high_eq << (m - low));
    t->low_planes = (evec){mem_alloc(NULL, 3 * n * sizeof(uint64_t)), n};
    if (!t->low_eq || !t->high_eq || !t->low_planes.p) {
        slot_table_free(t);
        return -1;
    }
    eq_table(t->low_eq, point, low);
    eq_table(t->high_eq, point + low, m - low);
    for (size_t i = 0; i < n; i++) evec_set(t->low_planes, i, t->low_eq[i]);
    return 0;
}

void slot_table_free(slot_table *t) {
    mem_free(NULL, t->low_eq);
    mem_free(NULL, t->high_eq);
    mem_free(NULL, t->low_planes.p);
    *t = (slot_table){0};
}

/* The words of a column that meet high_eq[h]; how many they are. */
static size_t slot_words(const slot_table *t, size_t h) {
    const uint64_t first = (uint64_t)h << t->low, n = UINT64_C(1) << t->low;
    return (size_t)(t->signers - first < n ? t->signers - first : n);
}

static size_t slot_highs(const slot_table *t) {
    return (size_t)((t->signers - 1) >> t->low) + 1;
}

/* By products: for back ends that have them. */
static gf192 word_by_products(const slot_table *t, const uint64_t *column) {
    gf192 sum = gf192_mul_k(t->repeated, column[t->signers - 1]);
    for (size_t h = 0; h < slot_highs(t); h++) {
        _Alignas(64) uint64_t words[1 << SLOT_LOW]; /* the column is neither aligned nor of a whole number of vectors */
        const size_t n = slot_words(t, h), padded = round_up(n, 8);
        gf192 part;
        memcpy(words, column + (h << t->low), n * sizeof *words);
        memset(words + n, 0, (padded - n) * sizeof *words);
        kernels()->evec_dot_k(&part, t->low_planes, words, padded);
        sum = gf192_add(sum, gf192_mul(t->high_eq[h], part));
    }
    return sum;
}

/* All sums of four elements: entry i has those of the bits of i. */
static void sums_of_four(gf192 sums[16], const gf192 *a) {
    sums[0] = GF192_ZERO;
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 1u << i; j++) sums[(1u << i) + j] = gf192_add(sums[j], a[i]);
}

/* sum[z] += the masses of the words of which bit z is set, eight words at a time. */
static void add_masses(gf192 sum[64], const gf192 *mass, const uint64_t *words, size_t n) {
    for (size_t at = 0; at < n; at += 8) {
        uint64_t w[8] = {0};
        uint8_t bits[64];
        gf192 low[16], high[16];
        memcpy(w, words + at, (n - at < 8 ? n - at : 8) * sizeof *w);
        slice_words(bits, w);
        sums_of_four(low, mass + at);
        sums_of_four(high, mass + at + 4);
        for (unsigned z = 0; z < 64; z++)
            sum[z] = gf192_add(sum[z], gf192_add(low[bits[z] & 15], high[bits[z] >> 4]));
    }
}

void column_bits_at(gf192 out[64], const slot_table *t, const uint64_t *column) {
    for (unsigned z = 0; z < 64; z++)
        out[z] = column[t->signers - 1] >> z & 1 ? t->repeated : GF192_ZERO;
    for (size_t h = 0; h < slot_highs(t); h++) {
        gf192 part[64] = {GF192_ZERO};
        add_masses(part, t->low_eq, column + (h << t->low), slot_words(t, h));
        for (unsigned z = 0; z < 64; z++) out[z] = gf192_add(out[z], gf192_mul(t->high_eq[h], part[z]));
    }
}

gf192 column_word_at(const slot_table *t, const uint64_t *column) {
    gf192 bits[64];
    if (kernels_have_clmul()) return word_by_products(t, column);
    column_bits_at(bits, t, column);
    return index_word_at(bits, 64); /* sum_z bits[z] x^z */
}

int circuit_public_is_source(const circuit *c, unsigned column) {
    for (size_t i = 0; i < 25 * (size_t)c->rows; i++)
        if (c->source[i].kind == SOURCE_PUBLIC && c->source[i].a == column) return 1;
    return 0;
}

gf192 input_known(const circuit *c, const gf192 *eq_k, const gf192 *w, const gf192 *slices) {
    gf192 sum = GF192_ZERO;
    for (unsigned l = 0; l < 25; l++) {
        const gf192 *row = w + 64 * l;
        for (unsigned k = 0; k < c->rows; k++) {
            const lane_source *src = &c->source[25 * (size_t)k + l];
            if (src->kind != SOURCE_CONST || src->value == 0) continue;
            gf192 bits = GF192_ZERO;
            for (uint64_t left = src->value; left; left &= left - 1)
                bits = gf192_add(bits, row[__builtin_ctzll(left)]);
            sum = gf192_add(sum, gf192_mul(eq_k[k], bits));
        }
        for (unsigned p = 0; p < c->publics; p++) {
            gf192 mass = GF192_ZERO, bits = GF192_ZERO;
            int any = 0;
            for (unsigned k = 0; k < c->rows; k++) {
                const lane_source *src = &c->source[25 * (size_t)k + l];
                if (src->kind != SOURCE_PUBLIC || src->a != p) continue;
                mass = gf192_add(mass, eq_k[k]);
                any = 1;
            }
            if (!any) continue;
            for (unsigned z = 0; z < 64; z++) bits = gf192_add(bits, gf192_mul(row[z], slices[64 * (size_t)p + z]));
            sum = gf192_add(sum, gf192_mul(mass, bits));
        }
    }
    return sum;
}

int leaf_supported(const circuit *c, uint64_t signers) {
    const unsigned m = circuit_log_slots(signers);
    return signers >= 1 && signers <= UINT32_MAX && m <= LAYERS_MAX_M && c->kappa <= LAYERS_MAX_KAPPA &&
           m + c->j_vars <= LEAF_MAX_VARIABLES && c->n_table <= LEAF_MAX_TABLE &&
           (!circuit_has_bus(c) || c->bus_log + m <= BUS_MAX_HEIGHT);
}

void leaf_absorb_statement(transcript *t, const leaf_statement *st, unsigned m, unsigned rate) {
    const uint64_t fixed[] = {m, st->signers, rate, st->n_binding}, version = PROTOCOL_VERSION;
    transcript_label(t, "leaf    ");
    transcript_absorb(t, &version, 1);
    transcript_absorb(t, st->circuit->digest, 4);
    transcript_absorb(t, fixed, 4);
    transcript_absorb(t, st->binding, st->n_binding);
}
