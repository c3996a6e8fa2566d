/* The outer claim and the known part of the input layer.   docs/protocol.md 8.2, 8.3, 8.5.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "outer.h"
#include "../bus/bus.h"
#include "../keccak_gkr/layers.h"
#include "../poly/poly.h"

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

/* The mass of slot s, the last signer's with those of the slots that repeat it. */
static gf192 slot_mass(const gf192 *eq_s, unsigned m, uint64_t s, uint64_t signers) {
    gf192 mass = eq_s[s];
    if (s + 1 == signers)
        for (uint64_t i = signers; i < UINT64_C(1) << m; i++) mass = gf192_add(mass, eq_s[i]);
    return mass;
}

gf192 column_word_at(const gf192 *eq_s, unsigned m, const uint64_t *column, uint64_t signers) {
    gf192 sum = GF192_ZERO;
    for (uint64_t s = 0; s < signers; s++) sum = gf192_add(sum, gf192_mul_k(slot_mass(eq_s, m, s, signers), column[s]));
    return sum;
}

void column_bits_at(gf192 out[64], const gf192 *eq_s, unsigned m, const uint64_t *column, uint64_t signers) {
    for (unsigned z = 0; z < 64; z++) out[z] = GF192_ZERO;
    for (uint64_t s = 0; s < signers; s++) {
        gf192 mass = slot_mass(eq_s, m, s, signers);
        for (uint64_t left = column[s]; left; left &= left - 1) {
            unsigned z = (unsigned)__builtin_ctzll(left);
            out[z] = gf192_add(out[z], mass);
        }
    }
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
