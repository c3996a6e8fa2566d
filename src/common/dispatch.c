/* The choice of the back end.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The first use probes the machine, fills each available table's gaps from the one below it and tests what it
 * chose against the portable twin: a back end that fails is not used, and the description says so.
 *
 * SHEAF_VERIFIER_KERNELS: a build in which only the verifying side is there, and its kernels: Keccak and the
 * scalar product. The others are NULL. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "kernels.h"

#ifdef SHEAF_HAVE_X86
#include "../native_simd/x86_64/cpu.h"
#endif
#ifdef SHEAF_HAVE_NEON
#include "../native_simd/aarch64/cpu.h"
#endif

#define DESCRIPTION_LEN 128

typedef struct back_end {
    int available;
    sheaf_kernels table;
    char description[DESCRIPTION_LEN];
} back_end;

static back_end back_ends[SHEAF_ISA_COUNT_]; /* written once, under `ready` */
static atomic_flag building = ATOMIC_FLAG_INIT;
static atomic_int ready;
static atomic_int chosen; /* a sheaf_isa; meaningful once ready */
const sheaf_kernels *_Atomic sheaf_kernels_chosen;

static const char *const isa_names[SHEAF_ISA_COUNT_] = {"portable", "avx2", "avx512", "simd128", "neon"};

static void append(char *to, const char *text) {
    size_t at = strlen(to), len = strlen(text);
    if (len > DESCRIPTION_LEN - 1 - at)
        len = DESCRIPTION_LEN - 1 - at;
    memcpy(to + at, text, len);
    to[at + len] = 0;
}

#define FILL(field)                                                                                          \
    if (t->field == NULL)                                                                                    \
    t->field = lower->field

/* Takes from the lower table what t lacks. */
static void fill(sheaf_kernels *t, const sheaf_kernels *lower) {
    FILL(name);
    if (t->keccak_digest_x8 ==
        NULL) /* a back end's own permutation is better than a lower one's shorter one */
        t->keccak_digest_x8 = t->keccak_f1600_x8 != NULL ? t->keccak_f1600_x8 : lower->keccak_digest_x8;
    FILL(keccak_f1600_x8);
    FILL(keccak_f1600);
    FILL(gf192_mul);
    FILL(gf192_mul_k);
#ifndef SHEAF_VERIFIER_KERNELS
    FILL(ntt_butterfly);
    FILL(ntt_butterfly4);
    FILL(ntt_tail8);
    FILL(ntt_rows);
    FILL(ntt_block);
    FILL(evec_mul);
    FILL(evec_mul_add);
    FILL(evec_mul_plus);
    FILL(evec_scale);
    FILL(evec_scale_add);
    FILL(evec_scale_add_k);
    FILL(evec_fold);
    FILL(evec_fold4);
    FILL(evec_fold_k);
    FILL(evec_dot);
    FILL(evec_dot_k);
    FILL(evec_dot3);
    FILL(evec_dot3_k);
    FILL(evec_dot2);
    FILL(evec_dot8);
    /* The four share a layout that is the back end's own. */
    if (t->bitmap_prepare == NULL || t->bitmap_accumulate == NULL || t->bitmap_finish == NULL ||
        t->bitmap_sum == NULL) {
        t->bitmap_prepare = lower->bitmap_prepare;
        t->bitmap_accumulate = lower->bitmap_accumulate;
        t->bitmap_finish = lower->bitmap_finish;
        t->bitmap_sum = lower->bitmap_sum;
    }
    FILL(bits_transpose8);
    FILL(sliced_linear);
    FILL(sliced_chi);
    FILL(grid_chi);
#endif
}

/* ---- self-test: every kernel of t once on few data, against the portable twin ---- */

#define TEST_N 24 /* elements: neither a power of two nor a multiple of every register width */
#define TEST_STRIDE 32

typedef struct scratch {
    _Alignas(64) uint64_t v[6][3 * TEST_STRIDE];
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES];
    _Alignas(64) uint64_t states[200], digests[200], wide[192], block[2 * TEST_N];
    bitmap8 maps[2];
    uint8_t bytes[1600], out[8 * 64], rows[4096];
    gf192 sums[3];
} scratch;

/* Fixed words without a pattern: a linear congruential sequence, its high half folded in. */
static void scratch_init(scratch *s) {
    uint64_t x = 0x5851f42d4c957f2du;
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 3 * TEST_STRIDE; j++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            s->v[i][j] = x ^ x >> 31;
        }
    for (size_t i = 0; i < sizeof s->bytes; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        s->bytes[i] = (uint8_t)(x >> 56);
    }
}

static evec scratch_evec(scratch *s, size_t i) {
    return (evec){s->v[i], TEST_STRIDE};
}

/* Kernels that only the proving side uses. */
#ifndef SHEAF_VERIFIER_KERNELS
static void exercise_prover(scratch *s, const sheaf_kernels *k) {
    evec a = scratch_evec(s, 0), b = scratch_evec(s, 1), c = scratch_evec(s, 2), d = scratch_evec(s, 3);
    gf192 r = evec_get(scratch_evec(s, 4), 5), col[8], twice[3];
    const gf192 twice_r[2] = {r, evec_get(scratch_evec(s, 4), 6)};
    uint64_t *k0 = s->v[5], *k1 = s->v[5] + TEST_STRIDE;
    k->ntt_butterfly(k0, k1, r.c[0], TEST_N);
    k->ntt_butterfly4(s->v[4], s->v[4] + TEST_STRIDE, k0, k1, r.c, TEST_N);
    k->ntt_tail8(k0, s->v[4], s->v[4] + 8, s->v[4] + 16, TEST_N);
    k->ntt_rows(s->block, TEST_N, s->v[1], TEST_STRIDE, s->v[3], 1, TEST_N);
    for (size_t i = 0; i < 32; i++) /* the last layer's are positions */
        s->wide[i] = s->v[3][i] >> (i < 16 ? 0 : 32);
    k->ntt_block(s->block, s->block, s->wide, NTT_BLOCK_MIN);
    k->evec_mul(d, a, b, TEST_N);
    k->evec_mul_add(d, b, c, TEST_N);
    k->evec_scale_add(d, a, r, TEST_N);
    k->evec_scale_add_k(d, k0, r, TEST_N);
    k->evec_fold(a, a, b, r, TEST_N);
    k->evec_fold4(c, (const evec[4]){c, a, b, d}, twice_r, TEST_N);
    k->evec_mul_plus(d, d, a, b, TEST_N);
    k->evec_fold_k(b, k0, k1, r, TEST_N);
    k->evec_scale(c, c, r, TEST_N);
    k->evec_dot(&s->sums[0], a, d, TEST_N);
    k->evec_dot_k(&s->sums[1], b, k0, TEST_N);
    k->gf192_mul(&s->sums[2], &s->sums[0], &s->sums[1]);
    k->evec_dot3(twice, a, b, c, d, TEST_N);
    for (size_t i = 0; i < 3; i++)
        s->sums[i] = gf192_add(s->sums[i], twice[i]);
    k->evec_dot3_k(twice, a, b, k0, k1, TEST_N);
    for (size_t i = 0; i < 3; i++)
        k->gf192_mul(&s->sums[i], &s->sums[i], &twice[i]);
    k->evec_dot2(twice, b, c, a, d, TEST_N);
    for (size_t i = 0; i < 2; i++)
        s->sums[i] = gf192_add(s->sums[i], twice[i]);
    gf192 eight[8];
    k->evec_dot8(eight, (const evec[4]){a, b, c, d}, (const evec[4]){c, d, b, a}, TEST_N);
    for (size_t i = 0; i < 8; i++)
        s->sums[i % 3] = gf192_add(s->sums[i % 3], eight[i]);
    for (size_t j = 0; j < 2; j++) {
        for (size_t i = 0; i < 8; i++)
            col[i] = evec_get(d, 8 * j + i);
        k->bitmap_prepare(&s->maps[j], col);
    }
    k->bitmap_accumulate(s->acc, s->maps, 1, s->bytes, 64, 2);
    k->bitmap_accumulate(s->acc, s->maps, 0, s->bytes + 128, 64, 3);
    k->bitmap_finish((evec){s->wide, 64}, s->acc);
    for (size_t i = 0; i < 3; i++)
        s->sums[i] = gf192_add(s->sums[i], evec_get((evec){s->wide, 64}, 9 * i));
    k->bitmap_sum((evec){s->wide, 64}, s->maps, s->bytes + 64, 64, 2);
    k->bits_transpose8(s->out, 64, s->bytes, 64);
    k->sliced_linear(s->rows, s->bytes);
    k->sliced_chi(s->rows + 1600, s->rows, 3);
    const grid_shape shape = {.inner = 2, .linear = 1, .picks = 2, .pick = {0, 128}};
    k->grid_chi(s->rows + 1216, 576, s->rows, 64, &shape);
}
#endif

/* One pass over all kernels; what each wrote stays in *s. */
static void exercise(scratch *s, const sheaf_kernels *k) {
    scratch_init(s);
    k->keccak_f1600(s->v[5]);
#ifndef SHEAF_VERIFIER_KERNELS
    exercise_prover(s, k);
#endif
    for (size_t i = 0; i < 3; i++) {
        const gf192 a = evec_get(scratch_evec(s, 2), i), b = evec_get(scratch_evec(s, 4), i);
        gf192 d;
        k->gf192_mul(&d, &a, &b);
        k->gf192_mul_k(&d, &d, b.c[0]);
        s->sums[i] = gf192_add(s->sums[i], d);
    }
    for (size_t i = 0; i < 200; i++)
        s->states[i] = s->v[i % 3][i % (3 * TEST_STRIDE)] + i;
    memcpy(s->digests, s->states, sizeof s->states);
    k->keccak_f1600_x8(s->states);
    k->keccak_digest_x8(s->digests);
}

static int self_test(const sheaf_kernels *k) {
    static scratch mine, twin; /* under `building` */
    static int twin_done;
    exercise(&mine, k);
    if (!twin_done)
        exercise(&twin, &sheaf_kernels_ref);
    twin_done = 1;
    return memcmp(mine.v, twin.v, sizeof mine.v) == 0 &&
                   memcmp(mine.sums, twin.sums, sizeof mine.sums) == 0 &&
                   memcmp(mine.wide, twin.wide, sizeof mine.wide) == 0 &&
                   memcmp(mine.states, twin.states, sizeof mine.states) == 0 &&
                   memcmp(mine.digests, twin.digests, 32 * sizeof mine.digests[0]) == 0 &&
                   memcmp(mine.block, twin.block, sizeof mine.block) == 0 &&
                   memcmp(mine.out, twin.out, sizeof mine.out) == 0 &&
                   memcmp(mine.rows, twin.rows, sizeof mine.rows) == 0
               ? 0
               : -1;
}

/* ---- the choice ---- */

/* The highest back end that a value of SHEAF_ISA allows; *understood is 0 where it is none of the names. */
static sheaf_isa cap(const char *text, int *understood) {
    *understood = 1;
    if (text == NULL || *text == 0)
        return SHEAF_ISA_COUNT_;
    for (int i = 0; i < SHEAF_ISA_COUNT_; i++)
        if (strcmp(text, isa_names[i]) == 0)
            return (sheaf_isa)i;
    *understood = 0;
    return SHEAF_ISA_COUNT_;
}

typedef struct candidate {
    sheaf_isa isa;
    int preferred; /* chosen where SHEAF_ISA does not name another */
    sheaf_kernels table;
    const char *with[2]; /* extensions that it uses, for the description; NULL: none */
} candidate;

#if defined(SHEAF_HAVE_X86) || defined(SHEAF_HAVE_NEON)
/* Puts the kernels of one more extension over a candidate's, if they pass their test: else it does without
 * them. */
static void improve(candidate *c, const sheaf_kernels *better, const char **with, const char *extension) {
    sheaf_kernels table = *better, whole;
    fill(&table, &c->table);
    whole = table;
    fill(&whole, &sheaf_kernels_ref);
    if (self_test(&whole) == 0) {
        c->table = table;
        *with = extension;
    }
}
#endif

/* What this machine has above the portable back end, lowest first. */
static size_t probe(candidate *c) {
    size_t n = 0;
#ifdef SHEAF_HAVE_X86
    x86_features cpu = x86_probe();
    if (cpu.avx2) {
        c[n] = (candidate){SHEAF_ISA_AVX2, 1, sheaf_kernels_avx2, {"pclmulqdq"}};
        if (cpu.vpclmulqdq)
            improve(&c[n], &sheaf_kernels_vpclmul, &c[n].with[0], "vpclmulqdq");
#ifdef SHEAF_SIMDE
        cpu.gfni = 1;
#endif
        if (cpu.gfni)
            improve(&c[n], &sheaf_kernels_gfni, &c[n].with[1], "gfni");
        n++;
    }
#ifdef SHEAF_SIMDE /* emulated, as GFNI above: there for tests on every machine, chosen only by name */
    c[n++] = (candidate){SHEAF_ISA_AVX512, 0, sheaf_kernels_avx512, {"emulated"}};
#else
    if (cpu.avx512)
        c[n++] = (candidate){SHEAF_ISA_AVX512, 1, sheaf_kernels_avx512, {"vpclmulqdq", "gfni"}};
#endif
#endif
#ifdef SHEAF_HAVE_NEON
    const arm_features arm = arm_probe();
    c[n] = (candidate){SHEAF_ISA_NEON, 1, sheaf_kernels_neon, {NULL}};
    if (arm.pmull)
        improve(&c[n], &sheaf_kernels_pmull, &c[n].with[0], "pmull");
    if (arm.sha3)
        improve(&c[n], &sheaf_kernels_sha3, &c[n].with[1], "sha3");
    n++;
#endif
#ifdef SHEAF_HAVE_SIMD128
    c[n] = (candidate){SHEAF_ISA_SIMD128, 1, sheaf_kernels_simd128, {NULL}};
    if (strcmp(c[n].table.name, isa_names[SHEAF_ISA_SIMD128]) != 0)
        c[n].with[0] = "relaxed";
    n++;
#endif
    (void)c;
    return n;
}

/* " (a, b)", of those that there are. */
static void describe_extensions(char *to, const char *const with[2]) {
    const char *before = " (";
    for (size_t i = 0; i < 2; i++)
        if (with[i] != NULL) {
            append(to, before);
            append(to, with[i]);
            before = ", ";
        }
    if (*before == ',')
        append(to, ")");
}

static void choose(sheaf_isa isa) {
    atomic_store_explicit(&chosen, (int)isa, memory_order_relaxed);
    atomic_store_explicit(&sheaf_kernels_chosen, &back_ends[isa].table, memory_order_release);
}

static void build(void) {
    candidate list[SHEAF_ISA_COUNT_];
    int understood;
#ifdef __EMSCRIPTEN__
    const char *asked = NULL; /* a page has no environment, and asking for one brings a lot with it */
#else
    const char *asked = getenv("SHEAF_ISA");
#endif
    sheaf_isa limit = cap(asked, &understood);
    sheaf_isa wanted = SHEAF_ISA_PORTABLE, last = SHEAF_ISA_PORTABLE;
    back_ends[SHEAF_ISA_PORTABLE] = (back_end){1, sheaf_kernels_ref, "portable"};
    for (size_t i = 0, n = probe(list); i < n; i++) {
        back_end *b = &back_ends[list[i].isa];
        b->table = list[i].table;
        fill(&b->table, &back_ends[last].table);
        append(b->description, isa_names[list[i].isa]);
        describe_extensions(b->description, list[i].with);
        b->available = 1;
        last = list[i].isa;
        if (last <= limit && (list[i].preferred || last == limit))
            wanted = last;
    }
    while (wanted != SHEAF_ISA_PORTABLE && self_test(&back_ends[wanted].table) != 0) {
        sheaf_isa failed = wanted;
        back_ends[failed].available = 0;
        do
            wanted = (sheaf_isa)(wanted - 1);
        while (!back_ends[wanted].available);
        append(back_ends[wanted].description, "; ");
        append(back_ends[wanted].description, isa_names[failed]);
        append(back_ends[wanted].description, " failed its self-test");
    }
    if (!understood)
        append(back_ends[wanted].description, "; SHEAF_ISA not understood");
    choose(wanted);
}

int kernels_cap_known(const char *value) {
    int understood;
    (void)cap(value, &understood);
    return understood;
}

static void ensure(void) {
    if (atomic_load_explicit(&ready, memory_order_acquire))
        return;
    while (atomic_flag_test_and_set_explicit(&building, memory_order_acquire)) {
    } /* another thread builds: well under a millisecond */
    if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
        build();
        atomic_store_explicit(&ready, 1, memory_order_release);
    }
    atomic_flag_clear_explicit(&building, memory_order_release);
}

sheaf_isa kernels_isa(void) {
    ensure();
    return (sheaf_isa)atomic_load_explicit(&chosen, memory_order_relaxed);
}

const sheaf_kernels *kernels_choose(void) {
    return &back_ends[kernels_isa()].table;
}

const sheaf_kernels *kernels_for(sheaf_isa isa) {
    ensure();
    if ((unsigned)isa >= SHEAF_ISA_COUNT_ || !back_ends[isa].available)
        return NULL;
    return &back_ends[isa].table;
}

int kernels_have_clmul(void) {
    const sheaf_isa isa = kernels_isa();
#ifdef SHEAF_HAVE_NEON
    if (isa == SHEAF_ISA_NEON)
        return back_ends[isa].table.evec_mul == sheaf_kernels_pmull.evec_mul;
#endif
    return isa == SHEAF_ISA_AVX2 || isa == SHEAF_ISA_AVX512;
}

const char *kernels_describe(void) {
    return back_ends[kernels_isa()].description;
}

int kernels_force(sheaf_isa isa) {
    if (kernels_for(isa) == NULL)
        return -1;
    choose(isa);
    return 0;
}
