/* The two circuits and their witnesses: digests, honest slots, false ones.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/leanxmss_forge.h"
#include "../support/leanxmss_vectors.h"
#include "hash/shake.h"
#include "kernels.h"

/* ---- digests; tests/cli/circuit_digest.sh derives the same from the specification ---- */

/* leanXMSS with epoch 0x9abcdef1 and the message 00 01 .. 1f. */

static const char hash_digest[] = "hash: 77dd6c9cb150de636c2e6657422a814a93f5f8364ef7085fd4709b83b6ba90d0";
static const char leanxmss_digest[] =
    "leanxmss: 56df4b358e467d9cc4cfe7e5b7629d1896d13e76c79fc6c21f1d146f1da143bb";

static void check_digest(const circuit *c, const char *line) {
    char hex[65];
    for (size_t i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)(c->digest[i / 8] >> 8 * (i % 8) & 0xff));
    CHECK_STR(hex, strrchr(line, ' ') + 1);
}

TEST(circuits_have_the_known_digests) {
    circuit c;
    REQUIRE(circuit_build_hash(&c) == 0);
    check_digest(&c, hash_digest);
    circuit_free(&c);
    uint8_t message[32];
    uint64_t words[4];
    for (size_t i = 0; i < 32; i++)
        message[i] = (uint8_t)i;
    for (size_t k = 0; k < 4; k++)
        words[k] = load64_le(message + 8 * k);
    REQUIRE(circuit_build_leanxmss(&c, UINT32_C(0x9abcdef1), words) == 0);
    check_digest(&c, leanxmss_digest);
    circuit_free(&c);
}

TEST(circuits_have_the_specified_sizes) {
    circuit c;
    const uint64_t message[4] = {1, 2, 3, 4};
    REQUIRE(circuit_build_leanxmss(&c, 7, message) == 0);
    CHECK_EQ_U64(c.words, 961);
    CHECK_EQ_U64(c.j_vars, 10);
    CHECK_EQ_U64(c.rows, 138);
    CHECK_EQ_U64(c.kappa, 8);
    CHECK_EQ_U64(c.publics, 4);
    CHECK_EQ_U64(c.bus_log, 8);
    CHECK_EQ_U64(c.n_push, 141);
    CHECK_EQ_U64(c.n_pull, 240);
    CHECK_EQ_U64(c.n_table, 7);
    CHECK_EQ_U64(c.table_pulls, 99);
    CHECK_EQ_U64(c.n_links, FORGE_LINKS);
    CHECK(circuit_has_bus(&c));
    circuit_free(&c);
    REQUIRE(circuit_build_hash(&c) == 0);
    CHECK_EQ_U64(c.words, 16);
    CHECK_EQ_U64(c.rows, 1);
    CHECK_EQ_U64(c.n_links, 4);
    CHECK(!circuit_has_bus(&c));
    circuit_free(&c);
}

TEST(epoch_and_message_change_the_digest) {
    circuit a, b;
    uint64_t message[4] = {1, 2, 3, 4};
    REQUIRE(circuit_build_leanxmss(&a, 7, message) == 0);
    for (unsigned bit = 0; bit < 32; bit++) {
        REQUIRE(circuit_build_leanxmss(&b, 7 ^ UINT32_C(1) << bit, message) == 0);
        CHECK(memcmp(a.digest, b.digest, sizeof a.digest) != 0);
        circuit_free(&b);
    }
    for (size_t k = 0; k < 4; k++) {
        message[k] ^= UINT64_C(1) << (13 * k);
        REQUIRE(circuit_build_leanxmss(&b, 7, message) == 0);
        CHECK(memcmp(a.digest, b.digest, sizeof a.digest) != 0);
        circuit_free(&b);
        message[k] ^= UINT64_C(1) << (13 * k);
    }
    circuit_free(&a);
}

TEST(slots_are_a_power_of_two_and_at_least_eight) {
    CHECK_EQ_U64(circuit_log_slots(1), 3);
    CHECK_EQ_U64(circuit_log_slots(8), 3);
    CHECK_EQ_U64(circuit_log_slots(9), 4);
    CHECK_EQ_U64(circuit_log_slots(1024), 10);
    CHECK_EQ_U64(circuit_log_slots(1025), 11);
    CHECK_EQ_U64(circuit_log_slots(65536), 16);
}

/* ---- building ---- */

/* Two words, a row of them, a bus of one place a side. */
static int small_circuit(circuit *c) {
    if (circuit_init(c, PARAMS_HASH, 2, 1, 1, 0, 1) != 0)
        return -1;
    const term link[] = {{TERM_OUTPUT, 24, 0, 1}, {TERM_PUBLIC, 0, 0, 1}};
    const term t = {TERM_WORD, 0, 1, 5};
    bus_tuple tuple = {0};
    tuple.count = 1;
    gf64 table[1][BUS_COORDS] = {{0}};
    return circuit_set_source(c, 0, 24, (lane_source){SOURCE_WORD, 1, 0}) | circuit_add_link(c, link, 2) |
           circuit_add_form(c, &tuple.coord[0], &t, 1) | circuit_add_tuple(c, BUS_PUSH, tuple) |
           circuit_add_tuple(c, BUS_PULL, tuple) |
           circuit_set_table(c, (const gf64(*)[BUS_COORDS])table, 1, 1);
}

typedef void (*damage)(circuit *c);
static void two_tuples(circuit *c) {
    CHECK_EQ_INT(circuit_add_tuple(c, BUS_PULL, c->pull[0]), 0);
}
static void nine_coordinates(circuit *c) {
    c->push[0].count = 9;
}
static void form_past_the_end(circuit *c) {
    c->pull[0].coord[0].count = 2;
}
static void form_that_wraps(circuit *c) {
    c->pull[0].coord[0].first = UINT32_MAX;
}
static void link_past_the_end(circuit *c) {
    c->links[0].first = 3;
}
static void unknown_term(circuit *c) {
    c->terms[0].kind = 5;
}
static void lane_25(circuit *c) {
    c->terms[0].b = 25;
}
static void row_1(circuit *c) {
    c->terms[0].a = 1;
}
static void column_1(circuit *c) {
    c->terms[1].a = 1;
}
static void column_with_a_lane(circuit *c) {
    c->terms[1].b = 1;
}
static void word_2(circuit *c) {
    c->terms[2].a = 2;
}
static void constant_with_an_index(circuit *c) {
    c->terms[1].kind = TERM_CONST, c->terms[1].a = 1;
}
static void slot_with_an_index(circuit *c) {
    c->terms[1].kind = TERM_SLOT, c->terms[1].a = 1;
}
static void unknown_source(circuit *c) {
    c->source[3].kind = 3;
}
static void source_word_2(circuit *c) {
    c->source[24].a = 2;
}
static void source_word_with_a_value(circuit *c) {
    c->source[24].value = 1;
}
static void source_column_1(circuit *c) {
    c->source[2] = (lane_source){SOURCE_PUBLIC, 1, 0};
}
static void source_constant_with_an_index(circuit *c) {
    c->source[2].a = 1;
}
static void bus_too_high(circuit *c) {
    c->bus_log = 13;
}
static void too_many_table_pulls(circuit *c) {
    c->table_pulls = 2;
}
static void no_table_pulls(circuit *c) {
    c->table_pulls = 0;
}
static void pulls_without_a_table(circuit *c) {
    c->n_table = 0;
}
static void table_without_a_bus(circuit *c) {
    c->n_push = c->n_pull = 0;
}
static void height_without_a_bus(circuit *c) {
    c->n_push = c->n_pull = c->n_table = c->table_pulls = 0, c->bus_log = 1;
}

TEST(finish_refuses_what_is_out_of_range) {
    static const damage damages[] = {two_tuples,
                                     nine_coordinates,
                                     form_past_the_end,
                                     form_that_wraps,
                                     link_past_the_end,
                                     unknown_term,
                                     lane_25,
                                     row_1,
                                     column_1,
                                     column_with_a_lane,
                                     word_2,
                                     constant_with_an_index,
                                     slot_with_an_index,
                                     unknown_source,
                                     source_word_2,
                                     source_word_with_a_value,
                                     source_column_1,
                                     source_constant_with_an_index,
                                     bus_too_high,
                                     too_many_table_pulls,
                                     no_table_pulls,
                                     pulls_without_a_table,
                                     table_without_a_bus,
                                     height_without_a_bus};
    circuit c;
    REQUIRE(small_circuit(&c) == 0);
    CHECK_EQ_INT(circuit_finish(&c), 0);
    circuit_free(&c);
    CHECK(c.source == NULL && c.terms == NULL && c.n_links == 0);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        REQUIRE(small_circuit(&c) == 0);
        damages[i](&c);
        if (!CHECK(circuit_finish(&c) == -1))
            printf("  case %zu\n", i);
        circuit_free(&c);
    }
}

TEST(init_and_adders_refuse_what_is_out_of_range) {
    circuit c;
    CHECK_EQ_INT(circuit_init(&c, PARAMS_HASH, 3, 1, 1, 0, 0), -1);
    CHECK_EQ_INT(circuit_init(&c, PARAMS_HASH, 0, 1, 1, 0, 0), -1);
    CHECK_EQ_INT(circuit_init(&c, PARAMS_HASH, 1, 0, 2, 0, 0), -1);
    CHECK_EQ_INT(circuit_init(&c, PARAMS_HASH, 1, 0, 0, 0, 0), -1);
    CHECK_EQ_INT(circuit_init(&c, PARAMS_HASH, 1, 17, 1, 0, 0), -1);
    CHECK_EQ_INT(circuit_init(&c, PARAMS_HASH, 1, 0, 1, 17, 0), -1);
    circuit_free(&c);
    REQUIRE(small_circuit(&c) == 0);
    const gf64 table[1][BUS_COORDS] = {{0}};
    CHECK_EQ_INT(circuit_set_source(&c, 1, 0, (lane_source){0}), -1);
    CHECK_EQ_INT(circuit_set_source(&c, 0, 25, (lane_source){0}), -1);
    CHECK_EQ_INT(circuit_set_table(&c, table, 1, 1), -1); /* it has one */
    circuit_free(&c);
    REQUIRE(circuit_init(&c, PARAMS_HASH, 1, 0, 1, 0, 0) == 0);
    CHECK_EQ_INT(circuit_set_table(&c, table, 0, 1), -1);
    bus_tuple tuple = {0};
    int result = 0;
    unsigned n = 0;
    while (result == 0 && n < 10000)
        if ((result = circuit_add_tuple(&c, BUS_PUSH, tuple)) == 0)
            n++;
    CHECK_EQ_U64(n, 4096);
    CHECK_EQ_U64(c.n_push, 4096);
    circuit_free(&c);
}

/* ---- honest witnesses ---- */

/* Witness, then the plain check. */
static int honest_leanxmss(size_t signers, const uint8_t *keys, const uint8_t *signatures, uint32_t epoch,
                           const uint8_t message[32]) {
    uint64_t *words = malloc(LX_WORDS * signers * sizeof *words),
             *publics = malloc(LX_PUBLICS * signers * sizeof *publics);
    uint64_t multiplicities[LX_TABLE], message_words[4], sum = 0;
    circuit c;
    circuit_report report;
    sheaf_failure f;
    env e = {0};
    int ok = CHECK(words != NULL && publics != NULL);
    for (size_t k = 0; k < 4; k++)
        message_words[k] = load64_le(message + 8 * k);
    ok = ok && CHECK_EQ_INT(circuit_build_leanxmss(&c, epoch, message_words), 0);
    if (ok) {
        const unsigned m = circuit_log_slots(signers);
        ok = CHECK_EQ_INT(witness_leanxmss(words, publics, multiplicities, &e, signers, keys, signatures,
                                           epoch, message, &f),
                          SHEAF_OK) &&
             CHECK_EQ_INT(circuit_check(&report, &c, m, signers, words, publics, multiplicities), 0);
        for (size_t i = 0; i < LX_TABLE; i++)
            sum += multiplicities[i];
        ok = ok && CHECK_EQ_U64(sum, (uint64_t)LEANXMSS_STEPS << m);
        circuit_free(&c);
    }
    free(words);
    free(publics);
    return ok;
}

TEST(witnesses_of_the_vectors_satisfy_the_circuit) {
    leanxmss_vector v[LEANXMSS_VECTORS];
    REQUIRE(leanxmss_vectors_load(v) == 0);
    for (size_t i = 0; i < LEANXMSS_VECTORS; i++)
        CHECK(honest_leanxmss(1, v[i].public_key, v[i].signature, v[i].epoch, v[i].message));
}

enum { MANY = 11 };
typedef struct signers {
    uint32_t epoch;
    uint8_t message[32], keys[MANY][LEANXMSS_PUBLIC_KEY_BYTES], signatures[MANY][LEANXMSS_SIGNATURE_BYTES];
} signers;

static int signers_init(signers *g, size_t n, uint32_t epoch, uint64_t *seed) {
    g->epoch = epoch;
    t_rand_bytes(seed, g->message, sizeof g->message);
    for (size_t i = 0; i < n; i++)
        if (forge_sign(g->keys[i], g->signatures[i], epoch, g->message, seed) != 0)
            return -1;
    return 0;
}

TEST(witnesses_of_one_two_five_and_eleven_signers_satisfy_the_circuit) {
    uint64_t seed = t_seed();
    signers g;
    REQUIRE(signers_init(&g, MANY, UINT32_C(0xdeadbeef), &seed) == 0);
    static const size_t counts[] = {1, 2, 5, MANY};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        CHECK(honest_leanxmss(counts[i], g.keys[0], g.signatures[0], g.epoch, g.message));
}

TEST(the_first_bad_signature_is_named) {
    uint64_t seed = t_seed();
    signers g;
    REQUIRE(signers_init(&g, MANY, 12, &seed) == 0);
    uint64_t *words = malloc(LX_WORDS * MANY * sizeof *words), publics[LX_PUBLICS * MANY],
             multiplicities[LX_TABLE];
    REQUIRE(words != NULL);
    /* A chain value, the randomizer, a sibling, the root, P: by byte of the signature or, past it, of the
     * key. */
    static const size_t places[] = {
        5, 670, 675, 700, 1207, LEANXMSS_SIGNATURE_BYTES, LEANXMSS_SIGNATURE_BYTES + 31};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (size_t s = 1; s < MANY; s += 4) {
            uint8_t *at = places[i] < LEANXMSS_SIGNATURE_BYTES
                              ? &g.signatures[s][places[i]]
                              : &g.keys[s][places[i] - LEANXMSS_SIGNATURE_BYTES];
            env e = {0};
            mem m = {NULL, NULL, NULL, 0, 0};
            sheaf_failure f;
            e.mem = &m;
            *at ^= 1;
            g.signatures[MANY - 1][0] ^= 1; /* a later one */
            CHECK_EQ_INT(witness_leanxmss(words, publics, multiplicities, &e, MANY, g.keys[0],
                                          g.signatures[0], g.epoch, g.message, &f),
                         SHEAF_BAD_SIGNATURE);
            CHECK_EQ_INT(f.status, SHEAF_BAD_SIGNATURE);
            CHECK_EQ_U64(f.index, s);
            CHECK_EQ_U64(m.current, 0);
            g.signatures[MANY - 1][0] ^= 1;
            *at ^= 1;
        }
    free(words);
}

TEST(witnesses_do_not_depend_on_back_end_or_threads) {
    uint64_t seed = t_seed();
    signers g;
    REQUIRE(signers_init(&g, MANY, 3, &seed) == 0);
    const sheaf_isa before = kernels_isa();
    const size_t n = LX_WORDS * MANY;
    uint64_t *first = calloc(n, sizeof *first), *words = malloc(n * sizeof *words),
             publics[LX_PUBLICS * MANY];
    uint64_t multiplicities[2][LX_TABLE];
    int have_first = 0;
    REQUIRE(first != NULL && words != NULL);
    for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
        if (kernels_force((sheaf_isa)isa) != 0)
            continue;
        for (unsigned threads = 1; threads <= 3; threads++) {
            env e = {0};
            sheaf_failure f;
            e.pool = pool_create(threads);
            CHECK_EQ_INT(witness_leanxmss(words, publics, multiplicities[have_first], &e, MANY, g.keys[0],
                                          g.signatures[0], g.epoch, g.message, &f),
                         SHEAF_OK);
            if (!have_first)
                memcpy(first, words, n * sizeof *words);
            CHECK_MEM(words, first, n * sizeof *words);
            have_first = 1;
            pool_destroy(e.pool);
        }
    }
    CHECK_MEM(multiplicities[0], multiplicities[1], sizeof multiplicities[0]);
    CHECK_EQ_INT(kernels_force(before), 0);
    free(first);
    free(words);
}

static int stop_at_once(void *ctx, double at, const char *stage) {
    (void)ctx;
    return at >= 0 && stage != NULL;
}
static void *no_memory(void *ctx, size_t bytes) {
    (void)ctx;
    (void)bytes;
    return NULL;
}
static void no_free(void *ctx, void *p) {
    (void)ctx;
    (void)p;
}

TEST(a_witness_can_be_cancelled_and_can_run_out_of_memory) {
    uint64_t seed = t_seed();
    signers g;
    REQUIRE(signers_init(&g, 1, 3, &seed) == 0);
    uint64_t words[LX_WORDS], publics[LX_PUBLICS], multiplicities[LX_TABLE];
    sheaf_failure f;
    env stopped = {0}, poor = {0};
    mem none = {no_memory, no_free, NULL, 0, 0};
    stopped.progress = stop_at_once;
    CHECK_EQ_INT(witness_leanxmss(words, publics, multiplicities, &stopped, 1, g.keys[0], g.signatures[0],
                                  g.epoch, g.message, &f),
                 SHEAF_CANCELLED);
    CHECK_EQ_INT(f.status, SHEAF_CANCELLED);
    poor.mem = &none;
    CHECK_EQ_INT(witness_leanxmss(words, publics, multiplicities, &poor, 1, g.keys[0], g.signatures[0],
                                  g.epoch, g.message, &f),
                 SHEAF_OUT_OF_MEMORY);
    CHECK_EQ_INT(f.status, SHEAF_OUT_OF_MEMORY);
}

TEST(witnesses_of_hashes_satisfy_their_circuit) {
    uint64_t seed = t_seed();
    circuit c;
    REQUIRE(circuit_build_hash(&c) == 0);
    for (size_t n = 1; n <= 19; n += 3) {
        uint8_t *messages = malloc(WITNESS_HASH_MESSAGE * n), *digests = malloc(32 * n);
        uint64_t words[16 * 19], again[16 * 19], publics[4 * 19], from_digests[4 * 19];
        circuit_report r;
        env e = {0};
        REQUIRE(messages != NULL && digests != NULL);
        t_rand_bytes(&seed, messages, WITNESS_HASH_MESSAGE * n);
        for (size_t i = 0; i < n; i++)
            shake256_once(digests + 32 * i, 32, messages + WITNESS_HASH_MESSAGE * i, WITNESS_HASH_MESSAGE);
        e.pool = pool_create(2);
        witness_hash(words, publics, &e, n, messages);
        witness_hash(again, NULL, &e, n, messages);
        pool_destroy(e.pool);
        circuit_hash_publics(from_digests, n, digests);
        CHECK_MEM(words, again, 16 * n * sizeof *words);
        CHECK_MEM(publics, from_digests, 4 * n * sizeof *publics);
        const unsigned m = circuit_log_slots(n);
        CHECK_EQ_INT(circuit_check(&r, &c, m, n, words, publics, NULL), 0);

        const size_t s = (size_t)(t_rand64(&seed) % n), last = s + 1 == n ? ((size_t)1 << m) - s : 1;
        for (size_t k = 0; k < 4; k++) {
            publics[k * n + s] ^= UINT64_C(1) << (17 * k);
            CHECK_EQ_INT(circuit_check(&r, &c, m, n, words, publics, NULL), 1);
            CHECK_EQ_U64(r.bad_links, last);
            CHECK_EQ_U64(r.link, k);
            CHECK_EQ_U64(r.link_slot, s);
            publics[k * n + s] ^= UINT64_C(1) << (17 * k);
        }
        for (size_t j = 0; j < 16; j++) {
            words[j * n + s] ^= UINT64_C(1) << (3 * j);
            CHECK_EQ_INT(circuit_check(&r, &c, m, n, words, publics, NULL), 1);
            CHECK_EQ_U64(r.bad_links, 4 * last);
            CHECK_EQ_U64(r.link_slot, s);
            words[j * n + s] ^= UINT64_C(1) << (3 * j);
        }
        free(messages);
        free(digests);
    }
    circuit_free(&c);
}

/* ---- false witnesses ---- */

static int check_forge(circuit_report *r, const forge *f) {
    circuit c;
    if (!CHECK(circuit_build_leanxmss(&c, f->epoch, f->message_words) == 0))
        return -1;
    int result = circuit_check(r, &c, 3, FORGE_SIGNERS, f->words, f->publics, f->multiplicities);
    circuit_free(&c);
    return result;
}

TEST(every_attack_is_caught_where_it_must_be) {
    static const uint32_t epochs[] = {0, 5, UINT32_C(0xffffffff), UINT32_C(0x80000200)};
    uint64_t seed = t_seed();
    forge *f = malloc(sizeof *f);
    circuit_report r;
    REQUIRE(f != NULL);
    for (size_t e = 0; e < sizeof epochs / sizeof epochs[0]; e++) {
        REQUIRE(forge_init(f, epochs[e], t_rand64(&seed)) == 0);
        forge_honest(f);
        CHECK(!f->broken);
        CHECK_EQ_INT(check_forge(&r, f), 0);
        for (size_t i = 0; i < FORGE_ATTACKS; i++) {
            const forge_attack_case *a = &forge_attacks[i];
            a->make(f);
            int ok = CHECK(!f->broken);
            ok &= CHECK_EQ_INT(check_forge(&r, f), 1);
            ok &= CHECK_EQ_U64(r.bad_links, a->bad_links);
            if (a->bad_links > 0) {
                ok &= CHECK_EQ_U64(r.link, a->link);
                ok &= CHECK_EQ_U64(r.link_slot, 1);
            }
            ok &= CHECK_EQ_U64(r.bad_tuples, a->bad_tuples);
            if (a->bad_tuples > 0) {
                ok &= CHECK_EQ_U64(r.tuple[0], a->tag);
                ok &= CHECK(r.tuple_slot <= 1 && r.pushes != r.pulls);
            }
            ok &= CHECK_EQ_INT(r.bad_multiplicities, a->bad_multiplicities);
            if (!ok)
                printf("  %s, epoch %u\n", a->name, epochs[e]);
        }
    }
    free(f);
}

TEST(every_committed_word_is_constrained) {
    uint64_t seed = t_seed();
    signers g;
    REQUIRE(signers_init(&g, 1, UINT32_C(0x55aa55aa), &seed) == 0);
    uint64_t words[LX_WORDS], publics[LX_PUBLICS], multiplicities[LX_TABLE], message[4];
    circuit c;
    circuit_report r;
    sheaf_failure f;
    env e = {0};
    for (size_t k = 0; k < 4; k++)
        message[k] = load64_le(g.message + 8 * k);
    REQUIRE(circuit_build_leanxmss(&c, g.epoch, message) == 0);
    REQUIRE(witness_leanxmss(words, publics, multiplicities, &e, 1, g.keys[0], g.signatures[0], g.epoch,
                             g.message, &f) == SHEAF_OK);
    for (size_t j = 0; j < LX_WORDS + LX_PUBLICS; j++) {
        uint64_t *at = j < LX_WORDS ? &words[j] : &publics[j - LX_WORDS], bit = UINT64_C(1)
                                                                                << (t_rand64(&seed) % 64);
        *at ^= bit;
        if (!CHECK(circuit_check(&r, &c, 3, 1, words, publics, multiplicities) == 1))
            printf("  word %zu\n", j);
        *at ^= bit;
    }
    CHECK_EQ_INT(circuit_check(&r, &c, 3, 1, words, publics, multiplicities), 0);

    /* Another message or epoch: the encoding does not fit, and with another epoch nothing does. */
    circuit_free(&c);
    message[2] ^= 1;
    REQUIRE(circuit_build_leanxmss(&c, g.epoch, message) == 0);
    CHECK_EQ_INT(circuit_check(&r, &c, 3, 1, words, publics, multiplicities), 1);
    CHECK_EQ_U64(r.bad_links, 2 * 8);
    CHECK_EQ_U64(r.bad_tuples, 0);
    circuit_free(&c);
    message[2] ^= 1;
    REQUIRE(circuit_build_leanxmss(&c, g.epoch ^ 1, message) == 0);
    CHECK_EQ_INT(circuit_check(&r, &c, 3, 1, words, publics, multiplicities), 1);
    CHECK(r.bad_links > 2 * 8);
    CHECK(r.bad_tuples > 0);
    circuit_free(&c);
}

T_MAIN()
