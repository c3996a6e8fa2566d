/* Every kernel of the WebAssembly back end beside its portable twin, in nanoseconds. SPDX-License-Identifier:
 * MIT OR Apache-2.0
 *
 *     node build/wasm/tests/bench_kernels.cjs [N]      rows of N elements (384); an argument -c prints comma
 * separated values
 *
 * The least of several runs. A kernel that differs from its twin is named, and the program fails. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kernels.h"

enum { ROWS = 10, RUNS = 150, MAPS = 8 };

static size_t n = 384;
static uint64_t *words[2]; /* two equal arenas of ROWS rows of three limbs */
static _Alignas(64) uint8_t bytes[4][MAPS * 1600];
static bitmap8 maps[MAPS];
static gf192 constant;
static uint64_t seed = 0x5eaf;

static uint64_t next_word(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed ^ seed >> 29;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t *row(const uint64_t *arena, size_t i) {
    return (uint64_t *)arena + 3 * n * i;
}
static evec vec(const uint64_t *arena, size_t i) {
    return (evec){row(arena, i), n};
}

typedef struct subject {
    const char *name;
    void (*run)(const sheaf_kernels *k, uint64_t *arena);
    size_t elements; /* 0: n */
} subject;

static uint8_t *bytes_of(const uint64_t *arena, size_t i) {
    return (uint8_t *)row(arena, i);
}

static void run_keccak_x8(const sheaf_kernels *k, uint64_t *a) {
    k->keccak_f1600_x8(a);
}
static void run_keccak(const sheaf_kernels *k, uint64_t *a) {
    k->keccak_f1600(a);
}
static void run_gf192_mul(const sheaf_kernels *k, uint64_t *a) {
    gf192 x = evec_get(vec(a, 0), 0), y = constant;
    for (size_t i = 0; i < 64; i++)
        k->gf192_mul(&x, &x, &y);
    evec_set(vec(a, 0), 0, x);
}
static void run_ntt_butterfly(const sheaf_kernels *k, uint64_t *a) {
    k->ntt_butterfly(row(a, 0), row(a, 1), constant.c[0], n);
}
static void run_ntt_butterfly4(const sheaf_kernels *k, uint64_t *a) {
    k->ntt_butterfly4(row(a, 0), row(a, 1), row(a, 2), row(a, 3), constant.c, n);
}
static void run_ntt_tail8(const sheaf_kernels *k, uint64_t *a) {
    k->ntt_tail8(row(a, 0), row(a, 1), row(a, 2), row(a, 3), n);
}
static void run_evec_mul(const sheaf_kernels *k, uint64_t *a) {
    k->evec_mul(vec(a, 0), vec(a, 1), vec(a, 2), n);
}
static void run_evec_mul_add(const sheaf_kernels *k, uint64_t *a) {
    k->evec_mul_add(vec(a, 0), vec(a, 1), vec(a, 2), n);
}
static void run_evec_scale(const sheaf_kernels *k, uint64_t *a) {
    k->evec_scale(vec(a, 0), vec(a, 1), constant, n);
}
static void run_evec_scale_add(const sheaf_kernels *k, uint64_t *a) {
    k->evec_scale_add(vec(a, 0), vec(a, 1), constant, n);
}
static void run_evec_scale_add_new(const sheaf_kernels *k, uint64_t *a) {
    gf192 c = evec_get(vec(a, 3), 0); /* another constant every time, 64 elements */
    k->evec_scale_add(vec(a, 0), vec(a, 1), c, 64);
    c.c[0] = c.c[0] * 5 + 1;
    evec_set(vec(a, 3), 0, c);
}
static void run_evec_scale_add_k(const sheaf_kernels *k, uint64_t *a) {
    k->evec_scale_add_k(vec(a, 0), row(a, 1), constant, n);
}
static void run_evec_fold(const sheaf_kernels *k, uint64_t *a) {
    k->evec_fold(vec(a, 0), vec(a, 1), vec(a, 2), constant, n);
}
static void run_evec_fold_k(const sheaf_kernels *k, uint64_t *a) {
    k->evec_fold_k(vec(a, 0), row(a, 1), row(a, 2), constant, n);
}
static void run_evec_dot(const sheaf_kernels *k, uint64_t *a) {
    gf192 d;
    k->evec_dot(&d, vec(a, 0), vec(a, 1), n);
    evec_set(vec(a, 2), 0, d);
}
static void run_evec_dot_64(const sheaf_kernels *k, uint64_t *a) {
    gf192 d;
    k->evec_dot(&d, vec(a, 0), vec(a, 1), 64);
    evec_set(vec(a, 2), 0, d);
}
static void run_evec_mul_64(const sheaf_kernels *k, uint64_t *a) {
    k->evec_mul(vec(a, 0), vec(a, 1), vec(a, 2), 64);
}
static void run_evec_dot_k(const sheaf_kernels *k, uint64_t *a) {
    gf192 d;
    k->evec_dot_k(&d, vec(a, 0), row(a, 1), n);
    evec_set(vec(a, 2), 0, d);
}
static void keep(uint64_t *a, const gf192 *d, size_t count) {
    for (size_t i = 0; i < count; i++)
        evec_set(vec(a, 4), i, d[i]);
}
static void run_evec_dot3(const sheaf_kernels *k, uint64_t *a) {
    gf192 d[3];
    k->evec_dot3(d, vec(a, 0), vec(a, 1), vec(a, 2), vec(a, 3), n);
    keep(a, d, 3);
}
static void run_evec_dot3_k(const sheaf_kernels *k, uint64_t *a) {
    gf192 d[3];
    k->evec_dot3_k(d, vec(a, 0), vec(a, 1), row(a, 2), row(a, 3), n);
    keep(a, d, 3);
}
static void run_evec_dot2(const sheaf_kernels *k, uint64_t *a) {
    gf192 d[2];
    k->evec_dot2(d, vec(a, 0), vec(a, 1), vec(a, 2), vec(a, 3), n);
    keep(a, d, 2);
}
static void run_evec_mul_plus(const sheaf_kernels *k, uint64_t *a) {
    k->evec_mul_plus(vec(a, 0), vec(a, 1), vec(a, 2), vec(a, 3), n);
}
static void run_bitmap_sum(const sheaf_kernels *k, uint64_t *a) {
    k->bitmap_sum(vec(a, 0), maps, bytes_of(a, 1), 64, 4);
}
static void run_bitmap_prepare(const sheaf_kernels *k, uint64_t *a) {
    gf192 col[8];
    for (size_t i = 0; i < 8; i++)
        col[i] = evec_get(vec(a, 1), i);
    k->bitmap_prepare(&maps[0], col);
}
static void run_bitmap(const sheaf_kernels *k, uint64_t *a) {
    _Alignas(64) static uint8_t acc[BITMAP_ACC_BYTES];
    memset(acc, 0, sizeof acc);
    k->bitmap_accumulate(acc, maps, 1, bytes_of(a, 1), 64, MAPS);
    k->bitmap_finish(vec(a, 0), acc);
}
static void run_bits_transpose8(const sheaf_kernels *k, uint64_t *a) {
    k->bits_transpose8(bytes_of(a, 0), 64, bytes_of(a, 1), 64);
}
static void run_sliced_linear(const sheaf_kernels *k, uint64_t *a) {
    k->sliced_linear(bytes[0], bytes[1]);
    memcpy(a, bytes[0], 1600);
}
static void run_sliced_chi(const sheaf_kernels *k, uint64_t *a) {
    k->sliced_chi(bytes[0], bytes[1], 3);
    memcpy(a, bytes[0], 1600);
}

static const subject subjects[] = {
    {"keccak_f1600_x8", run_keccak_x8, 8},
    {"keccak_f1600", run_keccak, 1},
    {"gf192_mul (chained)", run_gf192_mul, 64},
    {"ntt_butterfly", run_ntt_butterfly, 0},
    {"ntt_butterfly4", run_ntt_butterfly4, 0},
    {"ntt_tail8", run_ntt_tail8, 0},
    {"evec_mul", run_evec_mul, 0},
    {"evec_mul, 64", run_evec_mul_64, 64},
    {"evec_mul_add", run_evec_mul_add, 0},
    {"evec_scale", run_evec_scale, 0},
    {"evec_scale_add", run_evec_scale_add, 0},
    {"evec_scale_add, 64, new constants", run_evec_scale_add_new, 64},
    {"evec_scale_add_k", run_evec_scale_add_k, 0},
    {"evec_fold", run_evec_fold, 0},
    {"evec_fold_k", run_evec_fold_k, 0},
    {"evec_dot", run_evec_dot, 0},
    {"evec_dot, 64", run_evec_dot_64, 64},
    {"evec_dot_k", run_evec_dot_k, 0},
    {"evec_dot3", run_evec_dot3, 0},
    {"evec_dot3_k", run_evec_dot3_k, 0},
    {"evec_dot2", run_evec_dot2, 0},
    {"evec_mul_plus", run_evec_mul_plus, 0},
    {"bitmap_prepare", run_bitmap_prepare, 1},
    {"bitmap_sum of 4, a byte", run_bitmap_sum, 256},
    {"bitmap_accumulate and finish, a byte", run_bitmap, 64 * MAPS},
    {"bits_transpose8", run_bits_transpose8, 1},
    {"sliced_linear", run_sliced_linear, 1},
    {"sliced_chi", run_sliced_chi, 1},
};

static double time_of(const subject *s, const sheaf_kernels *k, uint64_t *arena) {
    double best = 1e300;
    size_t times = 4;
    for (int run = 0; run < RUNS;) {
        double t = now();
        for (size_t i = 0; i < times; i++)
            s->run(k, arena);
        t = now() - t;
        if (t < 2e5) { /* too short to measure; longer ones are interrupted */
            times *= 2;
            continue;
        }
        if (t / (double)times < best)
            best = t / (double)times;
        run++;
    }
    return best / (double)(s->elements > 0 ? s->elements : n);
}

int main(int argc, char **argv) {
    int comma = 0, bad = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-c") == 0)
            comma = 1;
        else
            n = (size_t)strtoul(argv[i], NULL, 10) / 64 * 64;
    }
    if (n < 256)
        n = 256;
    const sheaf_kernels *k = &sheaf_kernels_simd128;
    const sheaf_kernels *twin = &sheaf_kernels_ref;
    const size_t len = 3 * n * ROWS * sizeof(uint64_t);
    for (size_t i = 0; i < 2; i++)
        words[i] = aligned_alloc(64, len);
    if (words[0] == NULL || words[1] == NULL)
        return 2;
    constant = (gf192){{next_word(), next_word(), next_word()}};
    for (size_t i = 0; i < sizeof bytes[1]; i++)
        bytes[1][i] = (uint8_t)(next_word() >> 40);
    if (!comma)
        printf("%s, rows of %zu elements, ns an element\n%-38s %10s %10s %8s\n", k->name, n, "kernel",
               "portable", "simd128", "ratio");
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        const subject *s = &subjects[i];
        for (size_t w = 0; w < len / sizeof(uint64_t); w++)
            words[0][w] = words[1][w] = next_word();
        const sheaf_kernels *complete = kernels_for(SHEAF_ISA_SIMD128); /* gaps filled */
        sheaf_kernels own = *k;
        if (complete != NULL)
            own = *complete;
        if (own.ntt_tail8 == NULL)
            own.ntt_tail8 = twin->ntt_tail8;
        if (own.keccak_f1600 == NULL)
            own.keccak_f1600 = twin->keccak_f1600;
        run_bitmap_prepare(&own, words[0]);
        for (size_t m = 1; m < MAPS; m++)
            maps[m] = maps[0];
        s->run(&own, words[0]);
        run_bitmap_prepare(twin, words[1]);
        for (size_t m = 1; m < MAPS; m++)
            maps[m] = maps[0];
        s->run(twin, words[1]);
        if (memcmp(words[0], words[1], len) != 0) {
            printf("%s differs from its twin\n", s->name);
            bad = 1;
        }
        double t1 = time_of(s, twin, words[1]), t0 = time_of(s, &own, words[0]);
        printf(comma ? "%s,%.2f,%.2f,%.2f\n" : "%-38s %10.2f %10.2f %8.2f\n", s->name, t1, t0, t1 / t0);
    }
    return bad;
}
