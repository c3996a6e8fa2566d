/* A program that has libsheaf_verify.a and its header, and nothing else.  SPDX-License-Identifier: MIT OR
 * Apache-2.0 PROVE_HASHES is the path of a program that writes an envelope of three hashes to its standard
 * output. */
#define _POSIX_C_SOURCE 200809L
#include "sheaf_verify.h"
#include "t.h"

enum { MOST = 1 << 20 };

static uint8_t envelope[MOST];

static size_t read_envelope(void) { /* its length; 0 where there is none */
    FILE *f = popen("exec '" PROVE_HASHES "'", "r");
    if (f == NULL)
        return 0;
    size_t len = fread(envelope, 1, MOST, f);
    return pclose(f) == 0 ? len : 0;
}

TEST(the_verifying_archive_accepts_what_the_other_proved) {
    sheaf_failure f;
    sheaf_statement st;
    size_t len = read_envelope();
    REQUIRE(len > 0 && len < MOST);
    CHECK_EQ_INT(sheaf_verify_hash_batch(envelope, len, NULL, &f), SHEAF_OK);
    REQUIRE(sheaf_statement_read(&st, envelope, len, &f) == SHEAF_OK);
    CHECK_EQ_U64(st.count, 3);

    sheaf_expected wanted = {.items = st.items, .n_items = 3};
    CHECK_EQ_INT(sheaf_verify_hash_batch(envelope, len, &wanted, &f), SHEAF_OK);
    wanted.n_items = 2;
    CHECK_EQ_INT(sheaf_verify_hash_batch(envelope, len, &wanted, &f), SHEAF_REJECTED);
    CHECK_STR(sheaf_check_name(f.check), "statement");

    sheaf_info info;
    REQUIRE(sheaf_inspect(&info, envelope, len, &f) == SHEAF_OK);
    CHECK_EQ_INT(info.verdict, SHEAF_OK);
    CHECK_EQ_U64(info.envelope_bytes, len);
}

TEST(the_verifying_archive_rejects_a_changed_proof) {
    sheaf_failure f;
    sheaf_statement st;
    size_t len = read_envelope();
    REQUIRE(len > 0 && len < MOST && sheaf_statement_read(&st, envelope, len, &f) == SHEAF_OK);
    uint64_t seed = t_seed();
    for (int i = 0; i < 20; i++) {
        size_t at = (size_t)(st.proof - envelope) + t_rand64(&seed) % st.proof_len;
        uint8_t bit = (uint8_t)(1u << (t_rand64(&seed) & 7));
        envelope[at] ^= bit;
        CHECK_EQ_INT(sheaf_verify_hash_batch(envelope, len, NULL, &f), SHEAF_REJECTED);
        CHECK(f.check != SHEAF_CHECK_NONE && f.message[0] != '\0');
        envelope[at] ^= bit;
    }
    CHECK_EQ_INT(sheaf_verify_hash_batch(envelope, len, NULL, &f), SHEAF_OK);
}

TEST(the_verifying_archive_has_the_rest_of_its_header) {
    sheaf_failure f;
    static const uint8_t nothing[SHEAF_SIGNATURE_BYTES];
    CHECK_EQ_INT(sheaf_verify_signature(nothing, 0, nothing, nothing), SHEAF_BAD_SIGNATURE);
    CHECK_EQ_INT(sheaf_verify_aggregate(nothing, sizeof nothing, NULL, &f), SHEAF_MALFORMED);
    CHECK_STR(sheaf_status_text(SHEAF_OK), "ok");
}

T_MAIN()
