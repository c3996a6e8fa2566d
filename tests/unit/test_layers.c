/* Keccak layers: honest proofs accepted and their last claim true; each lie rejected.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../t.h"
#include "keccak_gkr/layers.h"
#include "hash/keccak.h"
#include "poly/poly.h"

typedef struct rig {
    layers_shape sh;
    uint64_t *words;  /* rows x 25 x M */
    lane_input *in;   /* rows x 25 */
    gf192 *omega;     /* rows x 25 */
    gf192 zeta[LAYERS_MAX_M];
    gf192 v_out;
    size_t distinct;  /* what the prover is told; 0: all slots */
    uint64_t seed;
} rig;

static gf192 rand_e(uint64_t *seed) { return (gf192){{t_rand64(seed), t_rand64(seed), t_rand64(seed)}}; }

static void rig_init(rig *g, unsigned m, unsigned kappa, unsigned rows, uint64_t seed) {
    const size_t slots = (size_t)1 << m;
    *g = (rig){.sh = {m, kappa, rows}, .seed = seed};
    g->words = malloc(rows * 25 * slots * 8);
    g->in = calloc(rows * 25, sizeof *g->in);
    g->omega = calloc(rows * 25, sizeof *g->omega);
    for (size_t i = 0; i < rows * 25 * slots; i++) g->words[i] = t_rand64(&g->seed);
    for (size_t i = 0; i < rows * 25; i++) {
        if (t_rand64(&g->seed) % 3) {
            g->in[i].words = g->words + i * slots;
        } else {
            g->in[i].value = t_rand64(&g->seed) & 1 ? 0 : t_rand64(&g->seed);
        }
        /* every third place has all lanes in its weights, the others the first two */
        if (i % 25 < 2 || (i / 25) % 3 == 1) g->omega[i] = rand_e(&g->seed);
    }
    for (unsigned n = 0; n < m; n++) g->zeta[n] = rand_e(&g->seed);
}

static uint64_t lane_of(const rig *g, size_t k, unsigned l, size_t s) {
    const lane_input *in = &g->in[25 * k + l];
    return in->words ? in->words[s] : in->value;
}

/* sum Omega out at zeta_s, plainly */
static void rig_claim(rig *g) {
    const size_t slots = (size_t)1 << g->sh.m;
    gf192 *eq = malloc(slots * sizeof *eq);
    eq_table(eq, g->zeta, g->sh.m);
    g->v_out = GF192_ZERO;
    for (size_t k = 0; k < g->sh.rows; k++)
        for (size_t s = 0; s < slots; s++) {
            uint64_t a[25];
            for (unsigned l = 0; l < 25; l++) a[l] = lane_of(g, k, l, s);
            keccak_f1600_ref(a);
            for (unsigned l = 0; l < 25; l++)
                g->v_out = gf192_add(g->v_out, gf192_mul(eq[s], gf192_mul_k(g->omega[25 * k + l], a[l])));
        }
    free(eq);
}

static void rig_free(rig *g) {
    free(g->words);
    free(g->in);
    free(g->omega);
}

static int prove_as(const rig *g, tx *c, layers_claim *out, unsigned bit_rounds, unsigned threads, int plain) {
    mem m = {0};
    env e = {.mem = &m, .pool = pool_create(threads)};
    layers_trace *t = layers_trace_create(&e, g->sh, g->distinct ? g->distinct : (size_t)1 << g->sh.m, g->in, bit_rounds);
    if (t && plain) layers_trace_set_plain(t);
    tx_init(c);
    int r = t ? layers_prove(c, &e, out, t, g->omega, g->zeta, g->v_out) : -1;
    layers_trace_destroy(&e, t);
    pool_destroy(e.pool);
    CHECK_EQ_U64(m.current, 0);
    return r;
}

static int prove(const rig *g, tx *c, layers_claim *out, unsigned bit_rounds, unsigned threads) {
    return prove_as(g, c, out, bit_rounds, threads, 0);
}

/* The input claim's left side, plainly. */
static gf192 input_side(const rig *g, const layers_claim *out) {
    const size_t slots = (size_t)1 << g->sh.m, places = (size_t)1 << g->sh.kappa;
    gf192 *eq = malloc(slots * places * sizeof *eq), sum = GF192_ZERO;
    eq_table(eq, out->rho, g->sh.m + g->sh.kappa);
    for (size_t k = 0; k < g->sh.rows; k++)
        for (size_t s = 0; s < slots; s++)
            for (unsigned l = 0; l < 25; l++) {
                uint64_t a = lane_of(g, k, l, s);
                gf192 bits = GF192_ZERO;
                for (unsigned z = 0; z < 64; z++)
                    if (a >> z & 1) bits = gf192_add(bits, out->w[64 * l + z]);
                sum = gf192_add(sum, gf192_mul(eq[k * slots + s], bits));
            }
    free(eq);
    return sum;
}

static void run_shape(unsigned m, unsigned kappa, unsigned rows) {
    rig g;
    rig_init(&g, m, kappa, rows, t_seed() + 100 * m + rows);
    rig_claim(&g);
    tx first, other;
    layers_claim out, seen;
    CHECK_EQ_INT(prove(&g, &first, &out, 0, 1), 0);
    CHECK(gf192_equal(input_side(&g, &out), out.claim));
    rx c;
    rx_init(&c, first.out, first.len);
    CHECK_EQ_INT(layers_verify(&c, &seen, g.sh, g.omega, g.zeta, g.v_out), 0);
    CHECK_EQ_INT(rx_finish(&c), 0);
    CHECK(gf192_equal(seen.claim, out.claim));
    CHECK_MEM(seen.w, out.w, sizeof out.w);
    CHECK_MEM(seen.rho, out.rho, (m + kappa) * sizeof *out.rho);
    rx_free(&c);
    for (unsigned t = 3; t <= m && t <= LAYERS_MAX_BIT_ROUNDS; t++) {
        CHECK_EQ_INT(prove(&g, &other, &seen, t, t - 2), 0);
        CHECK_EQ_U64(other.len, first.len);
        if (other.len == first.len) CHECK_MEM(other.out, first.out, first.len);
        tx_free(&other);
    }
    tx_free(&first);
    rig_free(&g);
}

TEST(honest_layers_are_accepted_and_leave_a_true_claim) {
    run_shape(3, 0, 1);
    run_shape(3, 2, 3);
    run_shape(4, 1, 2);
    run_shape(5, 3, 5);
    run_shape(6, 2, 4);
    run_shape(7, 0, 1);
}

TEST(more_bit_rounds_do_not_change_a_byte) { run_shape(6, 1, 2); }

/* The way for weights of which one is zero, against the scaled rows that are used otherwise. */
TEST(rows_by_products_with_the_weights_give_the_same_bytes) {
    static const layers_shape shapes[] = {{3, 0, 1}, {4, 3, 5}, {6, 2, 3}, {8, 1, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned t = 3; t <= shapes[i].m && t <= 5; t++) {
            rig g;
            tx scaled, plain;
            layers_claim out, seen;
            rig_init(&g, shapes[i].m, shapes[i].kappa, shapes[i].rows, t_seed() + i);
            rig_claim(&g);
            CHECK_EQ_INT(prove_as(&g, &scaled, &out, t, 1, 0), 0);
            CHECK_EQ_INT(prove_as(&g, &plain, &seen, t, 2, 1), 0);
            CHECK_EQ_U64(plain.len, scaled.len);
            if (plain.len == scaled.len) CHECK_MEM(plain.out, scaled.out, scaled.len);
            CHECK_MEM(&seen.w, &out.w, sizeof out.w);
            tx_free(&scaled);
            tx_free(&plain);
            rig_free(&g);
        }
}

/* All columns repeat what slot d - 1 holds. */
static void repeat_from(rig *g, size_t d) {
    const size_t slots = (size_t)1 << g->sh.m;
    for (size_t i = 0; i < 25 * (size_t)g->sh.rows; i++)
        for (size_t s = d; s < slots; s++) g->words[i * slots + s] = g->words[i * slots + d - 1];
}

static void check_repeats(const rig *g, const tx *want, unsigned t, unsigned threads, int plain) {
    tx got;
    layers_claim out;
    CHECK_EQ_INT(prove_as(g, &got, &out, t, threads, plain), 0);
    if (CHECK_EQ_U64(got.len, want->len)) CHECK_MEM(got.out, want->out, want->len);
    tx_free(&got);
}

TEST(slots_that_repeat_are_counted_once_and_change_no_byte) {
    static const struct {
        unsigned m, kappa, rows;
        size_t distinct;
    } shapes[] = {{6, 0, 1, 1}, {6, 2, 3, 9}, {6, 1, 2, 32}, {6, 1, 2, 33}, {7, 3, 5, 65}, {7, 0, 1, 97}, {8, 1, 2, 1}, {8, 2, 3, 130}, {9, 0, 1, 200}};
    const sheaf_isa before = kernels_isa();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int ones = 0; ones < 2; ones++) {
            rig g;
            tx all;
            layers_claim out;
            rig_init(&g, shapes[i].m, shapes[i].kappa, shapes[i].rows, t_seed() + i);
            repeat_from(&g, shapes[i].distinct);
            for (unsigned n = 0; ones && n < shapes[i].m; n++) g.zeta[n] = n % 3 ? GF192_ONE : GF192_ZERO;
            rig_claim(&g);
            CHECK_EQ_INT(prove(&g, &all, &out, 3, 1), 0);
            CHECK(gf192_equal(input_side(&g, &out), out.claim));
            g.distinct = shapes[i].distinct;
            for (unsigned t = 3; t <= 5; t++)
                for (int plain = 0; plain < 2; plain++) check_repeats(&g, &all, t, 1 + t % 2, plain);
            for (int isa = 0; !ones && isa < SHEAF_ISA_COUNT_; isa++)
                if (kernels_force((sheaf_isa)isa) == 0) check_repeats(&g, &all, 3 + (unsigned)i % 2, 2, 0);
            CHECK_EQ_INT(kernels_force(before), 0);
            tx_free(&all);
            rig_free(&g);
        }
}

TEST(a_point_of_ones_is_no_special_case) {
    rig g;
    rig_init(&g, 5, 2, 3, t_seed());
    for (unsigned n = 0; n < 5; n++) g.zeta[n] = n % 2 ? GF192_ZERO : GF192_ONE;
    rig_claim(&g);
    for (unsigned t = 3; t <= 5; t++) {
        tx c;
        layers_claim out, seen;
        CHECK_EQ_INT(prove(&g, &c, &out, t, 1), 0);
        rx v;
        rx_init(&v, c.out, c.len);
        CHECK_EQ_INT(layers_verify(&v, &seen, g.sh, g.omega, g.zeta, g.v_out), 0);
        rx_free(&v);
        tx_free(&c);
    }
    rig_free(&g);
}

TEST(back_ends_give_the_same_bytes) {
    rig g;
    rig_init(&g, 6, 2, 3, t_seed());
    rig_claim(&g);
    tx first;
    layers_claim out;
    sheaf_isa before = kernels_isa();
    CHECK_EQ_INT(kernels_force(SHEAF_ISA_PORTABLE), 0);
    CHECK_EQ_INT(prove(&g, &first, &out, 0, 1), 0);
    unsigned compared = 0;
    for (unsigned isa = SHEAF_ISA_AVX2; isa < SHEAF_ISA_COUNT_; isa++) {
        if (kernels_force((sheaf_isa)isa)) continue;
        tx other;
        CHECK_EQ_INT(prove(&g, &other, &out, 0, 2), 0);
        CHECK_EQ_U64(other.len, first.len);
        if (other.len == first.len) CHECK_MEM(other.out, first.out, first.len);
        tx_free(&other);
        compared++;
    }
    CHECK_EQ_INT(kernels_force(before), 0);
    tx_free(&first);
    rig_free(&g);
    if (!compared) SKIP("this machine or build has the portable back end only");
}

/* A false claim on the outputs is caught by layer 23's last check, a changed message of a layer by that layer's or, for a tail, too. */
TEST(a_false_output_claim_is_rejected_at_layer_23) {
    rig g;
    rig_init(&g, 4, 1, 2, t_seed());
    rig_claim(&g);
    g.v_out.c[1] ^= 1;
    tx c;
    layers_claim out, seen;
    CHECK_EQ_INT(prove(&g, &c, &out, 0, 1), 0);
    rx v;
    rx_init(&v, c.out, c.len);
    CHECK_EQ_INT(layers_verify(&v, &seen, g.sh, g.omega, g.zeta, g.v_out), -1);
    CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_LAYER);
    CHECK_EQ_U64(v.fail.index, 23);
    rx_free(&v);
    tx_free(&c);
    rig_free(&g);
}

TEST(every_changed_byte_is_rejected_in_its_own_layer) {
    rig g;
    rig_init(&g, 3, 1, 2, t_seed());
    rig_claim(&g);
    tx c;
    layers_claim out, seen;
    CHECK_EQ_INT(prove(&g, &c, &out, 0, 1), 0);
    const size_t top = 24 * (3 * 2 + 1 * 3 + 6 * 2 + 3 * 3 + 5), inner = 24 * (4 * 2 + 9 * 3 + 5);
    CHECK_EQ_U64(c.len, top + 23 * inner);
    for (size_t at = 0; at < c.len; at += 7) {
        c.out[at] ^= (uint8_t)(1u << at % 8);
        uint64_t layer = at < top ? 23 : 22 - (at - top) / inner;
        rx v;
        rx_init(&v, c.out, c.len);
        CHECK_EQ_INT(layers_verify(&v, &seen, g.sh, g.omega, g.zeta, g.v_out), -1);
        CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_LAYER);
        CHECK_EQ_U64(v.fail.index, layer);
        rx_free(&v);
        c.out[at] ^= (uint8_t)(1u << at % 8);
    }
    for (size_t len = 0; len < c.len; len += 11) {
        rx v;
        rx_init(&v, c.out, len);
        CHECK_EQ_INT(layers_verify(&v, &seen, g.sh, g.omega, g.zeta, g.v_out), -1);
        CHECK_EQ_INT(v.fail.check, SHEAF_CHECK_TRUNCATED);
        rx_free(&v);
    }
    tx_free(&c);
    rig_free(&g);
}

TEST(weights_at_a_point_are_the_dense_weights) {
    uint64_t seed = t_seed();
    gf192 y[3], z[6], at_y[3], at_z[6], w[25 * 64], eq_y[8], eq_z[64], wt[5];
    for (unsigned i = 0; i < 3; i++) {
        y[i] = rand_e(&seed);
        at_y[i] = rand_e(&seed);
    }
    for (unsigned i = 0; i < 6; i++) {
        z[i] = rand_e(&seed);
        at_z[i] = rand_e(&seed);
    }
    layers_point p;
    layers_point_set(&p, rand_e(&seed), y, z);
    layers_weights(w, &p);
    layers_weights_at(wt, &p, at_y, at_z);
    eq_table(eq_y, at_y, 3);
    eq_table(eq_z, at_z, 6);
    for (unsigned x = 0; x < 5; x++) {
        gf192 sum = GF192_ZERO;
        for (unsigned i = 0; i < 5; i++)
            for (unsigned b = 0; b < 64; b++)
                sum = gf192_add(sum, gf192_mul(gf192_mul(eq_y[i], eq_z[b]), w[64 * (x + 5 * i) + b]));
        CHECK(gf192_equal(sum, wt[x]));
    }
    for (unsigned r = 0; r < 24; r++) CHECK(gf192_equal(layers_constant(w, r), layers_point_constant(&p, r)));
}

/* The weights against their meaning: sum w(l, z) A(l, z) = sum mu^x eq(y, .) eq(z, .) E(l, z) for E = rho pi theta A. */
TEST(weights_are_the_transpose_of_the_linear_layer) {
    uint64_t seed = t_seed();
    uint64_t a[25], e[25];
    gf192 y[3], z[6], w[25 * 64], eq_y[8], eq_z[64], mu = rand_e(&seed), left = GF192_ZERO, right = GF192_ZERO;
    for (unsigned i = 0; i < 25; i++) a[i] = t_rand64(&seed);
    for (unsigned i = 0; i < 3; i++) y[i] = rand_e(&seed);
    for (unsigned i = 0; i < 6; i++) z[i] = rand_e(&seed);
    keccak_round_linear_ref(e, a);
    layers_point p;
    layers_point_set(&p, mu, y, z);
    layers_weights(w, &p);
    eq_table(eq_y, y, 3);
    eq_table(eq_z, z, 6);
    for (unsigned l = 0; l < 25; l++)
        for (unsigned b = 0; b < 64; b++) {
            if (a[l] >> b & 1) left = gf192_add(left, w[64 * l + b]);
            if (e[l] >> b & 1)
                right = gf192_add(right, gf192_mul(gf192_pow(mu, l % 5), gf192_mul(eq_y[l / 5], eq_z[b])));
        }
    CHECK(gf192_equal(left, right));
}

T_MAIN()
