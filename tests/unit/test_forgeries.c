/* leanXMSS aggregates of false witnesses: an otherwise honest prover carries each to a whole proof, and the check that is meant for it
 * rejects it.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "t.h"
#include "support/leanxmss_forge.h"
#include "circuit/leaf.h"

static uint64_t binding[9];

static leaf_statement statement(const forge *f, const circuit *c) {
    binding[0] = f->epoch;
    memcpy(binding + 1, f->message_words, sizeof f->message_words);
    return (leaf_statement){c, FORGE_SIGNERS, f->publics, binding, 9};
}

/* Proves what f holds and verifies the proof against the same statement. */
static sheaf_status carry_through(const forge *f, const circuit *c, sheaf_failure *failure) {
    env e = {.pool = pool_create(2)};
    leaf_statement st = statement(f, c);
    leaf_witness w = {f->words, f->multiplicities};
    uint8_t *proof;
    size_t len;
    CHECK_EQ_INT(leaf_prove(&proof, &len, &e, &st, &w, 0, failure), SHEAF_OK);
    sheaf_status status = proof ? leaf_verify(proof, len, &st, NULL, failure) : SHEAF_OUT_OF_MEMORY;
    mem_free(NULL, proof);
    pool_destroy(e.pool);
    return status;
}

static void with_forge(void (*run)(forge *f, circuit *c)) {
    forge *f = malloc(sizeof *f);
    circuit c;
    if (!CHECK(f != NULL) || !CHECK_EQ_INT(forge_init(f, 1000, t_seed()), 0)) return;
    CHECK_EQ_INT(circuit_build_leanxmss(&c, f->epoch, f->message_words), 0);
    run(f, &c);
    circuit_free(&c);
    free(f);
}

static void honest(forge *f, circuit *c) {
    sheaf_failure failure;
    forge_honest(f);
    CHECK_EQ_INT(carry_through(f, c, &failure), SHEAF_OK);
    CHECK_EQ_INT(failure.check, SHEAF_CHECK_NONE);
}
TEST(an_honest_aggregate_is_accepted) { with_forge(honest); }

static void attacks(forge *f, circuit *c) {
    for (size_t i = 0; i < FORGE_ATTACKS; i++) {
        const forge_attack_case *a = &forge_attacks[i];
        sheaf_failure failure;
        a->make(f);
        CHECK_EQ_INT(f->broken, 0);
        CHECK_EQ_INT(carry_through(f, c, &failure), SHEAF_REJECTED);
        /* a false multiset is seen at the bus, before the links are */
        sheaf_check meant = a->bad_multiplicities ? SHEAF_CHECK_MULTIPLICITY
                            : a->bad_tuples       ? SHEAF_CHECK_BUS_BALANCE
                                                  : SHEAF_CHECK_OPENING;
        if (!CHECK_EQ_INT(failure.check, meant)) printf("  in \"%s\": %s\n", a->name, failure.message);
    }
}
TEST(each_false_witness_is_rejected_by_the_check_meant_for_it) { with_forge(attacks); }

/* A proof for one statement, offered for another. */
static void other_statements(forge *f, circuit *c) {
    forge_honest(f);
    env e = {0};
    leaf_statement st = statement(f, c);
    leaf_witness w = {f->words, f->multiplicities};
    uint8_t *proof;
    size_t len;
    sheaf_failure failure;
    CHECK_EQ_INT(leaf_prove(&proof, &len, &e, &st, &w, 0, &failure), SHEAF_OK);
    if (!proof) return;
    CHECK_EQ_INT(leaf_verify(proof, len, &st, NULL, &failure), SHEAF_OK);

    /* another message, another epoch: the circuit and the binding words differ, each alone is enough */
    uint64_t message[4];
    circuit other;
    memcpy(message, f->message_words, sizeof message);
    message[3] ^= 1;
    CHECK_EQ_INT(circuit_build_leanxmss(&other, f->epoch, message), 0);
    leaf_statement changed = st;
    changed.circuit = &other;
    CHECK_EQ_INT(leaf_verify(proof, len, &changed, NULL, &failure), SHEAF_REJECTED);
    circuit_free(&other);
    CHECK_EQ_INT(circuit_build_leanxmss(&other, f->epoch ^ 1, f->message_words), 0);
    CHECK_EQ_INT(leaf_verify(proof, len, &changed, NULL, &failure), SHEAF_REJECTED);
    circuit_free(&other);
    for (size_t i = 0; i < 9; i++) {
        binding[i] ^= 1;
        CHECK_EQ_INT(leaf_verify(proof, len, &st, NULL, &failure), SHEAF_REJECTED);
        binding[i] ^= 1;
    }
    changed = st;
    changed.n_binding = 8;
    CHECK_EQ_INT(leaf_verify(proof, len, &changed, NULL, &failure), SHEAF_REJECTED);

    /* other keys, even where their hash were the same: two signers exchanged, a word of a key */
    for (size_t p = 0; p < LX_PUBLICS; p++) {
        f->publics[p * FORGE_SIGNERS] ^= 2;
        CHECK_EQ_INT(leaf_verify(proof, len, &st, NULL, &failure), SHEAF_REJECTED);
        CHECK_EQ_INT(failure.check, p < LX_P ? SHEAF_CHECK_OPENING : SHEAF_CHECK_INPUT);
        f->publics[p * FORGE_SIGNERS] ^= 2;
    }
    for (size_t p = 0; p < LX_PUBLICS; p++) {
        uint64_t *column = f->publics + p * FORGE_SIGNERS, t = column[0];
        column[0] = column[1];
        column[1] = t;
    }
    CHECK_EQ_INT(leaf_verify(proof, len, &st, NULL, &failure), SHEAF_REJECTED);
    /* fewer signers */
    changed = st;
    changed.signers = 2;
    CHECK_EQ_INT(leaf_verify(proof, len, &changed, NULL, &failure), SHEAF_REJECTED);
    CHECK_EQ_INT(failure.check, SHEAF_CHECK_HEADER);
    mem_free(NULL, proof);
}
TEST(a_proof_is_of_one_statement_only) { with_forge(other_statements); }

T_MAIN()
