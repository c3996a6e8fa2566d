/* The ledger: the error of every challenge of the whole protocol.   docs/soundness-ledger.md.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Double precision, for people and tests; the parameters themselves come from exact arithmetic
 * (tools/search_params.py) and keep a hundredth of a bit in hand. No verifier's decision reads anything here.
 */
#include <stdarg.h>
#include <stdio.h>
#include "params.h"

#define FIELD_LOG 192.0 /* |E| = 2^192 */
#define SQRT2 1.41421356237309504880

/* 2^e, e < 64 */
static double pow2(unsigned e) {
    return (double)(UINT64_C(1) << e);
}

/* 2^(twice/2) */
static double pow2_half(unsigned twice) {
    return pow2(twice / 2) * (twice % 2 != 0 ? SQRT2 : 1.0);
}

/* log2 of a finite x >= 1. Our own, so that the verifying library needs no mathematical one: halve down to
 * less than sqrt(2), then log((1+s)/(1-s)) = 2 (s + s^3/3 + ...), |s| < 0.172. */
static double log2_of(double x) {
    double n = 0, s, power, sum = 0;
    for (; x >= SQRT2; x /= 2)
        n++;
    s = (x - 1) / (x + 1);
    power = s;
    for (unsigned i = 1; i < 26; i += 2, power *= s * s)
        sum += power / i;
    return n + 2 * sum * 1.44269504088896340736;
}

/* ---- one level ---- */

/* L = 1/(2 eta sqrt(rho)) = k 2^(R-1) with eta = sqrt(rho)/k */
static double list_size(const whir_level *lv) {
    return lv->eta_k * pow2(lv->rate) / 2;
}

/* a of [BCHKS25, Thm 4.6], block length 2^log_n */
static double exceptional(const whir_level *lv, unsigned log_n) {
    const double k = lv->eta_k, h = k + 0.5, rho = 1 / pow2(lv->rate), root = 1 / pow2_half(lv->rate);
    const double radius = 1 - root - root / k;
    return (2 * h * h * h * h * h + 3 * h * radius * rho) / 3 * pow2_half(3u * lv->rate) * pow2(log_n) +
           h / root;
}

/* log2 of (sqrt(rho) + eta)^t 2^-g */
static double queries_log2(const whir_level *lv) {
    const double per_query = log2_of((lv->eta_k + 1.0) / lv->eta_k) - lv->rate / 2.0;
    return lv->queries * per_query - lv->grind;
}

/* ---- the terms ---- */

typedef struct ledger {
    ledger_term *terms;
    size_t cap, n;
} ledger;

static void add(ledger *out, double log2_error, const char *source, const char *name, ...)
    __attribute__((format(printf, 4, 5)));
static void add(ledger *out, double log2_error, const char *source, const char *name, ...) {
    if (out->n < out->cap) {
        ledger_term *t = &out->terms[out->n];
        va_list args;
        va_start(args, name);
        vsnprintf(t->name, sizeof t->name, name, args);
        va_end(args);
        t->log2_error = log2_error;
        t->source = source;
    }
    out->n++;
}

/* An error of numerator/|E|. */
#define ADD_ALGEBRAIC(out, numerator, source, ...)                                                           \
    add(out, log2_of(numerator) - FIELD_LOG, source, __VA_ARGS__)

/* What is answered for each candidate of the first commitment: everything before the opening's own rounds. */
static void add_candidate_terms(ledger *out, const ledger_shape *shape, double list) {
    if (shape->has_bus) {
        ADD_ALGEBRAIC(out, 3.0 * (double)shape->bus_factors * list, "Schwartz-Zippel, degree 3 a factor",
                      "bus fingerprints");
        ADD_ALGEBRAIC(out, 4 * list, "sumcheck, degree 4", "bus rounds");
        ADD_ALGEBRAIC(out, 3 * list, "two child variables, one batching", "bus tails");
    }
    ADD_ALGEBRAIC(out, (shape->m + shape->links + 1.0) * list, "Schwartz-Zippel at zeta_s, powers of gamma",
                  "point and links");
    ADD_ALGEBRAIC(out, 3 * list, "sumcheck, degree 2 or 3 [Gru24]", "keccak rounds");
    ADD_ALGEBRAIC(out, 4 * list, "powers of mu, five values", "keccak tails");
    ADD_ALGEBRAIC(out, 2 * list, "sumcheck, degree 2", "input rounds");
    ADD_ALGEBRAIC(out, pow2(32) * list, "degree below 2^32, lambda included [DP24]", "ring switching");
}

static void add_level_terms(ledger *out, const whir_params *par, unsigned i, unsigned variables) {
    const whir_level *lv = &par->level[i];
    const double list = list_size(lv);
    if (i > 0) {
        ADD_ALGEBRAIC(out, list * (list - 1) / 2 * variables, "pairs of candidates, Schwartz-Zippel [ACFY25]",
                      "level %u out-of-domain", i);
        ADD_ALGEBRAIC(out, (par->level[i - 1].queries + 1.0) * list, "powers of xi [ACFY25]",
                      "level %u batching", i);
    }
    ADD_ALGEBRAIC(out, 2 * list + pow2(lv->fold - 1u) * exceptional(lv, variables - lv->fold + lv->rate),
                  "sumcheck, degree 2; [BCHKS25, Thm 4.6] a row", "level %u folding", i);
    add(out, queries_log2(lv), "(sqrt(rho) + eta)^t 2^-g [ACFY25]", "level %u queries", i);
}

/* The shape's parameters, NULL where it has none or is not the table's. */
static const whir_params *params_of(const ledger_shape *shape) {
    const whir_params *par = params_lookup(shape->family, shape->m, shape->rate);
    return par != NULL && shape->j_vars + shape->m == par->log_words ? par : NULL;
}

size_t ledger_compute(ledger_term *terms, size_t cap, const ledger_shape *shape) {
    ledger out = {terms, cap, 0};
    const whir_params *par = params_of(shape);
    if (par == NULL)
        return 0;
    add_candidate_terms(&out, shape, list_size(&par->level[0]));
    unsigned variables = par->log_words;
    for (unsigned i = 0; i < par->levels; i++) {
        add_level_terms(&out, par, i, variables);
        variables -= par->level[i].fold;
    }
    ADD_ALGEBRAIC(&out, (double)par->level[par->levels - 1].queries, "powers of xi, one candidate",
                  "last word batching");
    ADD_ALGEBRAIC(&out, 2.0, "sumcheck, degree 2, one candidate", "last word rounds");
    return out.n;
}

double ledger_security_bits(const ledger_shape *shape) {
    ledger_term terms[LEDGER_MAX_TERMS];
    const size_t n = ledger_compute(terms, LEDGER_MAX_TERMS, shape);
    double worst = n != 0 ? -FIELD_LOG : 0;
    for (size_t i = 0; i < n && i < LEDGER_MAX_TERMS; i++)
        if (terms[i].log2_error > worst)
            worst = terms[i].log2_error;
    return -worst;
}

int ledger_shape_init(ledger_shape *shape, params_family family, unsigned m, unsigned rate) {
    static const ledger_shape families[PARAMS_FAMILY_COUNT_] = {
        [PARAMS_LEANXMSS] = {.kappa = 8, .j_vars = 10, .bus_log = 8, .has_bus = 1, .links = 193},
        [PARAMS_HASH] = {.kappa = 0, .j_vars = 4, .bus_log = 0, .has_bus = 0, .links = 4},
    };
    if (params_lookup(family, m, rate) == NULL)
        return -1;
    *shape = families[family];
    shape->family = family;
    shape->m = m;
    shape->rate = rate;
    /* 99 look-ups a slot turn into factors of the push side; the leaves are counted as if every place were in
     * use. */
    if (shape->has_bus)
        shape->bus_factors = ((UINT64_C(1) << shape->bus_log) + 99) << m;
    return 0;
}
