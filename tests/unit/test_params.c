/* The parameter table and the ledger.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <math.h>
#include "../t.h"
#include "common/circuit/circuit.h"
#include "common/pcs/params.h"
#include "common/pcs/params_table.h"

typedef struct shape_limits {
    params_family family;
    unsigned j_vars, words, min_m, max_m;
} shape_limits;

static const shape_limits FAMILIES[] = {{PARAMS_LEANXMSS, 10, 961, 3, 16}, {PARAMS_HASH, 4, 16, 3, 20}};

typedef struct row_id {
    const shape_limits *family;
    unsigned m, rate;
    const whir_params *row;
} row_id;

/* Calls fn for every row of the table; returns how many there are. */
static unsigned for_every_row(void (*fn)(const row_id *id)) {
    unsigned n = 0;
    for (size_t f = 0; f < sizeof FAMILIES / sizeof FAMILIES[0]; f++)
        for (unsigned m = FAMILIES[f].min_m; m <= FAMILIES[f].max_m; m++)
            for (unsigned rate = 1; rate <= PARAMS_MAX_RATE; rate++) {
                row_id id = {&FAMILIES[f], m, rate, params_lookup(FAMILIES[f].family, m, rate)};
                if (id.row == NULL)
                    continue;
                n++;
                fn(&id);
            }
    return n;
}

/* ---- lookup ---- */

TEST(lookup_is_null_outside_the_table) {
    for (size_t f = 0; f < sizeof FAMILIES / sizeof FAMILIES[0]; f++) {
        const shape_limits *s = &FAMILIES[f];
        const unsigned ms[] = {0, s->min_m - 1, s->max_m + 1, 63, UINT32_MAX};
        for (size_t i = 0; i < sizeof ms / sizeof ms[0]; i++) {
            CHECK_EQ_U64(params_default_rate(s->family, ms[i]), 0);
            for (unsigned rate = 0; rate <= PARAMS_MAX_RATE + 1; rate++)
                CHECK(params_lookup(s->family, ms[i], rate) == NULL);
        }
        CHECK(params_lookup(s->family, s->min_m, PARAMS_MAX_RATE + 1) == NULL);
        CHECK(params_lookup(s->family, s->max_m, UINT32_MAX) == NULL);
    }
    CHECK(params_lookup(PARAMS_FAMILY_COUNT_, 10, 1) == NULL);
    CHECK_EQ_U64(params_default_rate(PARAMS_FAMILY_COUNT_, 10), 0);
}

TEST(shapes_whose_code_word_is_too_large_have_no_row) {
    /* 961 words of 2^16 slots, eight bytes, times 2^4: more than 4 GiB */
    CHECK(params_lookup(PARAMS_LEANXMSS, 16, 3) != NULL);
    CHECK(params_lookup(PARAMS_LEANXMSS, 16, 4) == NULL);
    CHECK(params_lookup(PARAMS_LEANXMSS, 15, 4) != NULL);
    CHECK(params_lookup(PARAMS_LEANXMSS, 15, 5) == NULL);
}

TEST(rate_zero_is_the_default_rate) {
    for (size_t f = 0; f < sizeof FAMILIES / sizeof FAMILIES[0]; f++)
        for (unsigned m = FAMILIES[f].min_m; m <= FAMILIES[f].max_m; m++) {
            const unsigned rate = params_default_rate(FAMILIES[f].family, m);
            CHECK(rate >= 1 && rate <= PARAMS_MAX_RATE);
            CHECK(params_lookup(FAMILIES[f].family, m, 0) != NULL);
            CHECK(params_lookup(FAMILIES[f].family, m, 0) == params_lookup(FAMILIES[f].family, m, rate));
        }
}

TEST(every_small_shape_has_every_rate) {
    for (unsigned m = 3; m <= 12; m++)
        for (unsigned rate = 1; rate <= PARAMS_MAX_RATE; rate++) {
            CHECK(params_lookup(PARAMS_LEANXMSS, m, rate) != NULL);
            CHECK(params_lookup(PARAMS_HASH, m, rate) != NULL);
        }
}

/* ---- the rows ---- */

static uint64_t first_code_bytes(const row_id *id) {
    const whir_level *lv = &id->row->level[0];
    const unsigned k = id->row->log_words - lv->fold;
    const uint64_t live = (uint64_t)id->family->words << id->m;
    const uint64_t rows = (live + (UINT64_C(1) << k) - 1) >> k;
    return rows * 8 << (k + lv->rate);
}

static void check_row(const row_id *id) {
    const whir_params *row = id->row;
    unsigned variables = id->family->j_vars + id->m;
    CHECK_EQ_U64(row->log_words, variables);
    CHECK(row->levels >= 1 && row->levels <= WHIR_MAX_LEVELS);
    CHECK_EQ_U64(row->arity, 2);
    CHECK_EQ_U64(row->level[0].rate, id->rate);
    CHECK(row->level[0].fold <= id->family->j_vars);
    for (unsigned i = 0; i < row->levels && i < WHIR_MAX_LEVELS; i++) {
        const whir_level *lv = &row->level[i];
        CHECK(lv->fold >= 1 && lv->fold <= 12 && lv->fold < variables);
        variables -= lv->fold;
        CHECK(lv->rate >= 1 && lv->rate <= (i == 0 ? 6 : 13));
        CHECK(variables + lv->rate <= 32);
        CHECK(lv->grind <= 17);
        CHECK_EQ_U64(lv->pad, 0);
        CHECK(lv->queries >= 1 && lv->queries <= 510);
        CHECK(lv->eta_k >= 3);
    }
    CHECK_EQ_U64(row->last_log, variables);
    CHECK(row->last_log >= 3 && row->last_log <= PARAMS_LAST_LOG);
    for (unsigned i = row->levels; i < WHIR_MAX_LEVELS; i++)
        CHECK_EQ_U64(row->level[i].fold, 0);
    CHECK(first_code_bytes(id) <= UINT64_C(4) << 30);
}

TEST(rows_fold_to_a_short_last_word_within_all_limits) {
    CHECK_EQ_U64(for_every_row(check_row), 183);
}

static void check_default_memory(const row_id *id) {
    /* the largest shape alone has no rate that fits: its default is the one that needs least */
    if (id->rate != params_default_rate(id->family->family, id->m))
        return;
    if (first_code_bytes(id) > UINT64_C(512) << 20) {
        CHECK_EQ_U64(id->m, 16);
        CHECK_EQ_U64(id->rate, 1);
    }
}

TEST(default_rates_keep_the_first_code_word_within_half_a_gigabyte) {
    for_every_row(check_default_memory);
}

static uint64_t fnv(uint64_t h, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* The bytes: of each family and each m its default rate; then of each of its six rows log_words, levels,
 * last_log, arity (zeros for an absent one), and of each level fold, rate, grind, queries and eta_k in two
 * bytes each. */
TEST(table_has_the_checksum_it_was_generated_with) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t f = 0; f < sizeof FAMILIES / sizeof FAMILIES[0]; f++)
        for (unsigned m = FAMILIES[f].min_m; m <= FAMILIES[f].max_m; m++) {
            const uint8_t rate_byte = (uint8_t)params_default_rate(FAMILIES[f].family, m);
            h = fnv(h, &rate_byte, 1);
            for (unsigned rate = 1; rate <= PARAMS_MAX_RATE; rate++) {
                static const whir_params absent;
                const whir_params *row = params_lookup(FAMILIES[f].family, m, rate);
                if (row == NULL)
                    row = &absent;
                const uint8_t head[] = {row->log_words, row->levels, row->last_log, row->arity};
                h = fnv(h, head, sizeof head);
                for (unsigned i = 0; i < row->levels; i++) {
                    const whir_level *lv = &row->level[i];
                    const uint8_t level[] = {lv->fold,
                                             lv->rate,
                                             lv->grind,
                                             (uint8_t)lv->queries,
                                             (uint8_t)(lv->queries >> 8),
                                             (uint8_t)lv->eta_k,
                                             (uint8_t)(lv->eta_k >> 8)};
                    h = fnv(h, level, sizeof level);
                }
            }
        }
    CHECK_EQ_U64(h, params_table_checksum);
}

TEST(table_is_what_the_search_derives) {
#if defined(SHEAF_SOURCE_DIR) && !defined(__EMSCRIPTEN__)
    if (system("command -v python3 >/dev/null 2>&1") != 0)
        SKIP("python3 is not installed");
    CHECK(system("python3 '" SHEAF_SOURCE_DIR "/tools/search_params.py' --check") == 0);
#else
    SKIP("no source folder to run the search from");
#endif
}

/* ---- the bounds once more, from the formulas in real numbers ---- */

static long double list_of(const whir_level *lv) {
    const long double root = powl(2.0L, -0.5L * lv->rate), eta = root / lv->eta_k;
    return 1 / (2 * eta * root);
}

static long double a_of(const whir_level *lv, unsigned log_n) {
    const long double rho = powl(2.0L, -(long double)lv->rate), root = sqrtl(rho), eta = root / lv->eta_k;
    const long double k = fmaxl(ceill(root / eta - 1e-9L), 3) + 0.5L;
    return (2 * powl(k, 5) + 3 * k * (1 - root - eta) * rho) / (3 * powl(rho, 1.5L)) * powl(2.0L, log_n) +
           k / root;
}

static const ledger_term *find(const ledger_term *terms, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(terms[i].name, name) == 0)
            return &terms[i];
    return NULL;
}

/* The term of this name is numerator/2^192 or, where that is not what it is, 2^log2_error; and it is at most
 * 2^-128. */
static void check_term(const ledger_term *terms, size_t n, long double log2_error, const char *name,
                       unsigned level) {
    char full[48];
    snprintf(full, sizeof full, name, level);
    const ledger_term *t = find(terms, n, full);
    if (!CHECK(t != NULL))
        return;
    CHECK(log2_error <= -128);
    CHECK(fabsl(t->log2_error - log2_error) < 1e-9L);
}

static void check_ledger_of_row(const row_id *id) {
    ledger_shape shape;
    ledger_term terms[LEDGER_MAX_TERMS];
    if (!CHECK_EQ_INT(ledger_shape_init(&shape, id->family->family, id->m, id->rate), 0))
        return;
    const size_t n = ledger_compute(terms, LEDGER_MAX_TERMS, &shape);
    if (!CHECK(n <= LEDGER_MAX_TERMS))
        return;
    CHECK_EQ_U64(n, (shape.has_bus ? 10u : 7u) + 4u * id->row->levels - 2u);

    double worst = -1000;
    for (size_t i = 0; i < n; i++) {
        CHECK(terms[i].log2_error <= -128);
        CHECK(terms[i].log2_error > -192);
        CHECK(strlen(terms[i].name) > 0 && terms[i].source != NULL && strlen(terms[i].source) > 0);
        CHECK(find(terms, i, terms[i].name) == NULL); /* no name twice */
        if (terms[i].log2_error > worst)
            worst = terms[i].log2_error;
    }
    CHECK(ledger_security_bits(&shape) == -worst);
    CHECK(worst > -129); /* no query more than the bound asks for would leave so much */

    const long double first = list_of(&id->row->level[0]);
    unsigned variables = id->row->log_words;
    for (unsigned i = 0; i < id->row->levels; i++) {
        const whir_level *lv = &id->row->level[i];
        const long double list = list_of(lv),
                          agreement = powl(2.0L, -0.5L * lv->rate) * (1 + 1.0L / lv->eta_k);
        const long double a = a_of(lv, variables - lv->fold + lv->rate);
        check_term(terms, n, lv->queries * log2l(agreement) - lv->grind, "level %u queries", i);
        /* one query less would not do, so the count is the least */
        CHECK((lv->queries - 1) * log2l(agreement) - lv->grind > -128.02L);
        check_term(terms, n, log2l(2 * list + powl(2.0L, lv->fold - 1) * a) - 192, "level %u folding", i);
        if (i > 0) {
            check_term(terms, n, log2l(list * (list - 1) / 2 * variables) - 192, "level %u out-of-domain", i);
            check_term(terms, n, log2l((id->row->level[i - 1].queries + 1) * list) - 192, "level %u batching",
                       i);
        }
        variables -= lv->fold;
    }
    check_term(terms, n, log2l(id->row->level[id->row->levels - 1].queries) - 192, "last word batching", 0);
    check_term(terms, n, 32 + log2l(first) - 192, "ring switching", 0);
    check_term(terms, n, log2l((id->m + (shape.has_bus ? 193 : 4) + 1) * first) - 192, "point and links", 0);
    if (shape.has_bus)
        check_term(terms, n, log2l(3.0L * 355 * first) + id->m - 192, "bus fingerprints", 0);
}

TEST(every_error_of_every_shape_is_at_most_2_to_the_minus_128) {
    CHECK_EQ_U64(for_every_row(check_ledger_of_row), 183);
}

/* The counts that the ledger assumes of a family are those of its circuit. */
static void check_shape_of(const circuit *c) {
    ledger_shape shape;
    REQUIRE(ledger_shape_init(&shape, c->family, 10, 0) == 0);
    CHECK_EQ_U64(shape.m, 10);
    CHECK_EQ_U64(shape.j_vars, c->j_vars);
    CHECK_EQ_U64(shape.kappa, c->kappa);
    CHECK_EQ_U64(shape.links, c->n_links);
    CHECK_EQ_U64(shape.has_bus != 0, c->n_push + c->n_pull != 0);
    CHECK_EQ_U64(shape.bus_log, c->bus_log);
    const uint64_t push = (uint64_t)(c->n_push + c->table_pulls) << 10, pull = (uint64_t)c->n_pull << 10;
    CHECK(shape.bus_factors >= push && shape.bus_factors >= pull);
}

TEST(shapes_of_the_ledger_are_those_of_the_circuits) {
    const uint64_t message[4] = {1, 2, 3, 4};
    circuit c;
    REQUIRE(circuit_build_leanxmss(&c, 5, message) == 0);
    check_shape_of(&c);
    circuit_free(&c);
    REQUIRE(circuit_build_hash(&c) == 0);
    check_shape_of(&c);
    circuit_free(&c);
}

TEST(ledger_of_an_unknown_shape_is_empty) {
    ledger_shape shape;
    ledger_term one;
    CHECK_EQ_INT(ledger_shape_init(&shape, PARAMS_LEANXMSS, 16, 4), -1);
    CHECK_EQ_INT(ledger_shape_init(&shape, PARAMS_HASH, 2, 0), -1);
    CHECK_EQ_INT(ledger_shape_init(&shape, PARAMS_FAMILY_COUNT_, 3, 1), -1);
    if (!CHECK_EQ_INT(ledger_shape_init(&shape, PARAMS_HASH, 3, 1), 0))
        return;
    CHECK(ledger_compute(&one, 1, &shape) > 1);
    shape.j_vars++; /* not the table's */
    CHECK_EQ_U64(ledger_compute(&one, 1, &shape), 0);
    CHECK(ledger_security_bits(&shape) == 0);
}

TEST(ledger_writes_no_more_terms_than_there_is_room_for) {
    ledger_shape shape;
    ledger_term terms[4];
    REQUIRE(ledger_shape_init(&shape, PARAMS_LEANXMSS, 10, 0) == 0);
    memset(terms, 0x5a, sizeof terms);
    const size_t n = ledger_compute(terms, 3, &shape);
    CHECK(n > 3);
    CHECK(strcmp(terms[2].name, "bus tails") == 0);
    const ledger_term *past = &terms[3];
    for (size_t i = 0; i < sizeof *past; i++)
        CHECK_EQ_U64(((const uint8_t *)past)[i], 0x5a);
    CHECK_EQ_U64(ledger_compute(NULL, 0, &shape), n);
}

TEST(larger_circuits_have_larger_errors) {
    ledger_shape shape;
    ledger_term a[LEDGER_MAX_TERMS], b[LEDGER_MAX_TERMS];
    REQUIRE(ledger_shape_init(&shape, PARAMS_LEANXMSS, 10, 0) == 0);
    const size_t n = ledger_compute(a, LEDGER_MAX_TERMS, &shape);
    shape.bus_factors *= 2;
    shape.links += 1000;
    CHECK_EQ_U64(ledger_compute(b, LEDGER_MAX_TERMS, &shape), n);
    const ledger_term *bus_a = find(a, n, "bus fingerprints"), *bus_b = find(b, n, "bus fingerprints");
    const ledger_term *links_a = find(a, n, "point and links"), *links_b = find(b, n, "point and links");
    REQUIRE(bus_a != NULL && bus_b != NULL && links_a != NULL && links_b != NULL);
    CHECK(fabs(bus_b->log2_error - bus_a->log2_error - 1) < 1e-9);
    CHECK(links_b->log2_error > links_a->log2_error + 2);
    /* a bus of 2^60 factors is past the bound, and the ledger says so */
    shape.bus_factors = UINT64_C(1) << 60;
    CHECK(ledger_security_bits(&shape) < 128);
}

T_MAIN()
