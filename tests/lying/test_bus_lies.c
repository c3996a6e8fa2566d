/* Grand products by a prover that lies in one message and goes on from there: its transcript is consistent,
 * so only the algebra can reject it.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/bus_rig.h"

enum { LOWEST = 3, HIGHEST = 10 };

/* What the lie is. */
typedef enum lie_kind {
    LIE_BIT,         /* one bit of one word */
    LIE_REPLACE,     /* the whole message is random */
    LIE_SAME_PRODUCT /* two of push's children change, their product does not */
} lie_kind;

typedef struct lie {
    lie_kind kind;
    size_t word; /* the lie is told in the message that holds this word of the proof */
    uint64_t seed;
    size_t sent; /* words so far */
    int told;
    int tail;
} lie;

static void tell(void *ctx, msg_kind kind, uint64_t *words, size_t n) {
    lie *l = ctx;
    size_t first = l->sent;
    l->sent += n;
    if (l->word < first || l->word >= first + n)
        return;
    l->told++;
    l->tail = kind == MSG_BUS_TAIL;
    if (l->kind == LIE_BIT) {
        words[l->word - first] ^= UINT64_C(1) << (t_rand64(&l->seed) % 64);
    } else if (l->kind == LIE_REPLACE) {
        for (size_t i = 0; i < n; i++)
            words[i] = t_rand64(&l->seed);
    } else {
        gf192 a, b, by = rand_e(&l->seed);
        memcpy(a.c, words, sizeof a);
        memcpy(b.c, words + 3, sizeof b);
        a = gf192_mul(a, by);
        b = gf192_mul(b, gf192_inv(by));
        memcpy(words, a.c, sizeof a);
        memcpy(words + 3, b.c, sizeof b);
    }
}

/* Proves with the lie and verifies. claim: the verifier's, which is meaningful where it accepts. */
static int lie_and_verify(const bus_rig *b, lie *l, bus_claim *claim, sheaf_failure *f) {
    env e = {0};
    tx c;
    bus_claim prover;
    tx_init(&c);
    c.hook = tell;
    c.hook_ctx = l;
    CHECK_EQ_INT(bus_rig_prove(b, &c, &e, &prover), 0);
    CHECK_EQ_U64(l->sent, bus_proof_words(b->h));
    CHECK_EQ_INT(l->told, 1);
    int result = bus_rig_verify(b->h, b->extra, c.out, c.len, claim, f);
    tx_free(&c);
    return result;
}

static void check_rejected(int result, const sheaf_failure *f, unsigned layer) {
    CHECK_EQ_INT(result, -1);
    CHECK_EQ_INT(f->status, SHEAF_REJECTED);
    CHECK_EQ_INT(f->check, layer == 0 ? SHEAF_CHECK_BUS_BALANCE : SHEAF_CHECK_BUS_LAYER);
    CHECK_EQ_U64(f->index, layer);
}

TEST(a_lie_in_any_word_is_rejected_by_its_layer) {
    uint64_t seed = t_seed();
    for (unsigned h = LOWEST; h <= HIGHEST; h++) {
        bus_rig b;
        REQUIRE(bus_rig_init(&b, h, &seed) == 0);
        for (size_t word = 0; word < bus_proof_words(h); word++) {
            if (h > 7 && t_rand64(&seed) % 4 != 0) /* a quarter of them, where they are many */
                continue;
            lie l = {.kind = LIE_BIT, .word = word, .seed = t_rand64(&seed)};
            bus_claim claim;
            sheaf_failure f;
            int result = lie_and_verify(&b, &l, &claim, &f);
            check_rejected(result, &f, bus_place_of(h, word).layer);
            CHECK_EQ_INT(l.tail, bus_place_of(h, word).tail);
        }
        bus_rig_free(&b);
    }
}

TEST(a_random_message_is_rejected_by_its_layer) {
    uint64_t seed = t_seed();
    for (unsigned h = LOWEST; h <= HIGHEST; h++) {
        bus_rig b;
        REQUIRE(bus_rig_init(&b, h, &seed) == 0);
        for (size_t word = 0; word < bus_proof_words(h); word += 12) {
            lie l = {.kind = LIE_REPLACE, .word = word, .seed = t_rand64(&seed)};
            bus_claim claim;
            sheaf_failure f;
            int result = lie_and_verify(&b, &l, &claim, &f);
            check_rejected(result, &f, bus_place_of(h, word).layer);
        }
        bus_rig_free(&b);
    }
}

/* Such a lie passes its own layer's check: the next one rejects, and after the last one the claim is false.
 */
TEST(children_of_the_right_product_are_rejected_one_layer_on) {
    uint64_t seed = t_seed();
    for (unsigned h = LOWEST; h <= HIGHEST; h++) {
        bus_rig b;
        REQUIRE(bus_rig_init(&b, h, &seed) == 0);
        const unsigned last = (h - 1) / 2;
        unsigned tried = 0;
        for (size_t word = 0; word < bus_proof_words(h); word++) {
            bus_place at = bus_place_of(h, word);
            if (!at.tail ||
                (word > 0 && bus_place_of(h, word - 1).tail && bus_place_of(h, word - 1).layer == at.layer))
                continue;
            tried++;
            lie l = {.kind = LIE_SAME_PRODUCT, .word = word, .seed = t_rand64(&seed)};
            bus_claim claim;
            sheaf_failure f;
            int result = lie_and_verify(&b, &l, &claim, &f);
            if (at.layer < last) {
                check_rejected(result, &f, at.layer + 1);
            } else {
                CHECK_EQ_INT(result, 0);
                CHECK(!gf192_equal(claim.push, plain_mle(b.push, h, claim.zeta)));
                CHECK(gf192_equal(claim.pull, plain_mle(b.pull, h, claim.zeta)));
            }
        }
        CHECK_EQ_U64(tried, last + 1);
        bus_rig_free(&b);
    }
}

T_MAIN()
