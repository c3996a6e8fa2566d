/* Every kernel of every back end against its portable twin, and the twins of the byte kernels against their
 * definitions. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A check runs both back ends on two copies of one random arena and compares the whole arenas, so that a
 * write outside of what the contract names is found too. */
#include "base/posix.h"
#include "../t.h"
#include "hash/keccak.h"
#include "kernels.h"

#include <errno.h>
#include <unistd.h>
#ifdef SHEAF_HAVE_NEON
#include "native_simd/aarch64/cpu.h"
#endif
#if defined(__linux__)
#include <sys/wait.h>
#endif
#if !defined(SHEAF_NO_THREADS)
#include <pthread.h>
#endif

/* ---- first of all, as it is about the first use ---- */

#if !defined(SHEAF_NO_THREADS)
static void *first_use(void *out) {
    *(const sheaf_kernels **)out = kernels();
    return NULL;
}

TEST(first_use_on_several_threads_gives_one_table) {
    enum { N = 8 };
    pthread_t threads[N];
    const sheaf_kernels *seen[N];
    for (int i = 0; i < N; i++)
        REQUIRE(pthread_create(&threads[i], NULL, first_use, &seen[i]) == 0);
    for (int i = 0; i < N; i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
        CHECK(seen[i] == kernels());
        CHECK(seen[i]->evec_mul != NULL && seen[i]->bitmap_finish != NULL);
    }
}
#endif

/* ---- arenas ---- */

#define ARENA_WORDS 32768
static _Alignas(64) uint64_t arena_twin[ARENA_WORDS], arena_mine[ARENA_WORDS];
static size_t arena_used; /* words */

static void arena_start(uint64_t *seed) {
    for (size_t i = 0; i < ARENA_WORDS; i++)
        arena_twin[i] = arena_mine[i] = t_rand64(seed);
    arena_used = 0;
}

/* The place of n words in both arenas, 64-byte aligned, with unused words behind. */
static size_t place(size_t n) {
    size_t at = arena_used;
    arena_used += (n + 15) / 8 * 8;
    if (arena_used > ARENA_WORDS) {
        fprintf(stderr, "test_kernels: the arena is too small\n");
        exit(2);
    }
    return at;
}

typedef struct span { /* an evec's place */
    size_t at, stride;
} span;

static span place_evec(size_t n, uint64_t *seed) {
    size_t stride = n + 8 * (t_rand64(seed) % 4);
    return (span){place(3 * stride), stride};
}

static evec twin_evec(span s) {
    return (evec){arena_twin + s.at, s.stride};
}
static evec mine_evec(span s) {
    return (evec){arena_mine + s.at, s.stride};
}

static int arenas_agree(const char *what, size_t n) {
    int same = CHECK_MEM(arena_mine, arena_twin, sizeof arena_twin);
    if (!same)
        fprintf(stdout, "  in %s, n = %zu\n", what, n);
    return same;
}

/* Random, but with the words on which reductions and carries go wrong. */
static gf192 scalar(uint64_t *seed) {
    gf192 a = {{t_rand64(seed), t_rand64(seed), t_rand64(seed)}};
    switch (t_rand64(seed) % 6) {
    case 0:
        return GF192_ZERO;
    case 1:
        return (gf192){{UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    case 2:
        return (gf192){{UINT64_C(1) << 63, 1, 0}};
    default:
        return a;
    }
}

static const size_t sizes[] = {0, 8, 16, 24, 64, 128, 136, 264, 1000};
#define EACH_SIZE(n)                                                                                         \
    for (size_t n##_i = 0, n; n##_i < sizeof sizes / sizeof sizes[0] && (n = sizes[n##_i], 1); n##_i++)

static const sheaf_kernels *const twin = &sheaf_kernels_ref;

/* ---- one check a kernel ---- */

static void check_keccak(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    for (int i = 0; i < 8; i++) {
        arena_start(&seed);
        size_t s = place(200), one = place(25);
        if (i == 0) {
            memset(arena_mine + s, 0, 1600);
            memset(arena_twin + s, 0, 1600);
        }
        k->keccak_f1600_x8(arena_mine + s);
        twin->keccak_f1600_x8(arena_twin + s);
        k->keccak_f1600(arena_mine + one);
        twin->keccak_f1600(arena_twin + one);
        if (!arenas_agree("keccak", 8))
            return;
    }
}

/* Lanes 0 to 3 of eight states; nothing but the states is written. */
static void check_keccak_digest(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    for (int i = 0; i < 8; i++) {
        arena_start(&seed);
        size_t s = place(200);
        k->keccak_digest_x8(arena_mine + s);
        twin->keccak_f1600_x8(arena_twin + s);
        memcpy(arena_mine + s + 32, arena_twin + s + 32, 168 * sizeof(uint64_t));
        if (!arenas_agree("keccak_digest_x8", 8))
            return;
    }
}

static void check_gf192_mul(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    for (int i = 0; i < 500; i++) {
        gf192 a = scalar(&seed), b = scalar(&seed), want, d;
        twin->gf192_mul(&want, &a, &b);
        k->gf192_mul(&d, &a, &b);
        CHECK_MEM(&d, &want, sizeof d);
        d = a;
        k->gf192_mul(&d, &d, &b);
        CHECK_MEM(&d, &want, sizeof d);
        d = b;
        k->gf192_mul(&d, &a, &d);
        CHECK_MEM(&d, &want, sizeof d);
    }
}

static void check_gf192_mul_k(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    for (int i = 0; i < 500; i++) {
        gf192 a = scalar(&seed), want, d;
        const uint64_t b = scalar(&seed).c[i % 3];
        twin->gf192_mul_k(&want, &a, b);
        k->gf192_mul_k(&d, &a, b);
        CHECK_MEM(&d, &want, sizeof d);
        const gf192 wide = gf192_mul_ref(a, gf192_from_k(b));
        CHECK_MEM(&d, &wide, sizeof d);
        k->gf192_mul_k(&a, &a, b);
        CHECK_MEM(&a, &want, sizeof a);
    }
}

static void check_ntt(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    EACH_SIZE(n) {
        arena_start(&seed);
        size_t r[4];
        for (int i = 0; i < 4; i++)
            r[i] = place(n);
        gf192 t = scalar(&seed);
        k->ntt_butterfly(arena_mine + r[0], arena_mine + r[1], t.c[0], n);
        twin->ntt_butterfly(arena_twin + r[0], arena_twin + r[1], t.c[0], n);
        if (!arenas_agree("ntt_butterfly", n))
            return;
        k->ntt_butterfly4(arena_mine + r[0], arena_mine + r[1], arena_mine + r[2], arena_mine + r[3], t.c, n);
        twin->ntt_butterfly4(arena_twin + r[0], arena_twin + r[1], arena_twin + r[2], arena_twin + r[3], t.c,
                             n);
        if (!arenas_agree("ntt_butterfly4", n))
            return;
        size_t t4 = place(n / 8), t2 = place(n / 4), t1 = place(n / 2);
        k->ntt_tail8(arena_mine + r[3], arena_mine + t4, arena_mine + t2, arena_mine + t1, n);
        twin->ntt_tail8(arena_twin + r[3], arena_twin + t4, arena_twin + t2, arena_twin + t1, n);
        if (!arenas_agree("ntt_tail8", n))
            return;
    }
}

/* The twiddles of the tail need no alignment beyond that of words. */
static void check_ntt_tail_twiddles(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    for (size_t shift = 1; shift < 8; shift++) {
        arena_start(&seed);
        size_t a = place(40), t4 = place(16) + shift, t2 = place(24) + shift, t1 = place(32) + shift;
        k->ntt_tail8(arena_mine + a, arena_mine + t4, arena_mine + t2, arena_mine + t1, 40);
        twin->ntt_tail8(arena_twin + a, arena_twin + t4, arena_twin + t2, arena_twin + t1, 40);
        if (!arenas_agree("ntt_tail8, shifted twiddles", 40))
            return;
    }
}

/* In place, and from one place to another; all but the rows' words stays as it is. */
static void check_ntt_rows(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    static const size_t widths[] = {8, 24, 136, 512};
    for (unsigned log = 1; log <= 7; log++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
            for (int apart = 0; apart < 2; apart++) {
                const size_t n = widths[w], stride = n + 8 * (t_rand64(&seed) % 3);
                if (stride << log > ARENA_WORDS / 2 - 512)
                    continue;
                arena_start(&seed);
                size_t from = place(stride << log), tw = place((size_t)1 << log), to = from;
                size_t to_stride = stride;
                if (apart) {
                    to_stride = n;
                    to = place(to_stride << log);
                }
                k->ntt_rows(arena_mine + to, to_stride, arena_mine + from, stride, arena_mine + tw, log, n);
                twin->ntt_rows(arena_twin + to, to_stride, arena_twin + from, stride, arena_twin + tw, log, n);
                if (!arenas_agree("ntt_rows", n))
                    return;
            }
}

static void check_ntt_block(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    for (unsigned log = NTT_BLOCK_MIN; log <= NTT_BLOCK_LOG; log++)
        for (int apart = 0; apart < 2; apart++) {
            const size_t n = (size_t)1 << log;
            arena_start(&seed);
            size_t from = place(n), tw = place(n), to = apart ? place(n) : from;
            for (size_t i = n / 2; i < n; i++) { /* the last layer's twiddles are positions */
                arena_mine[tw + i] >>= 32;
                arena_twin[tw + i] >>= 32;
            }
            k->ntt_block(arena_mine + to, arena_mine + from, arena_mine + tw, log);
            twin->ntt_block(arena_twin + to, arena_twin + from, arena_twin + tw, log);
            if (!arenas_agree("ntt_block", n))
                return;
        }
}

/* d apart from the inputs, then the first input, then the second. */
static void check_evec_elementwise(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    EACH_SIZE(n) for (int alias = 0; alias < 4; alias++) {
        arena_start(&seed);
        span a = place_evec(n, &seed), b = alias == 3 ? a : place_evec(n, &seed);
        span d = alias == 0 ? place_evec(n, &seed) : alias == 2 ? b : a;
        gf192 c = scalar(&seed);
        k->evec_mul(mine_evec(d), mine_evec(a), mine_evec(b), n);
        twin->evec_mul(twin_evec(d), twin_evec(a), twin_evec(b), n);
        if (!arenas_agree("evec_mul", n))
            return;
        k->evec_mul_add(mine_evec(d), mine_evec(a), mine_evec(b), n);
        twin->evec_mul_add(twin_evec(d), twin_evec(a), twin_evec(b), n);
        if (!arenas_agree("evec_mul_add", n))
            return;
        k->evec_mul_plus(mine_evec(d), mine_evec(a), mine_evec(b), mine_evec(d), n);
        twin->evec_mul_plus(twin_evec(d), twin_evec(a), twin_evec(b), twin_evec(d), n);
        if (!arenas_agree("evec_mul_plus", n))
            return;
        k->evec_scale(mine_evec(d), mine_evec(a), c, n);
        twin->evec_scale(twin_evec(d), twin_evec(a), c, n);
        if (!arenas_agree("evec_scale", n))
            return;
        c = scalar(&seed);
        k->evec_scale_add(mine_evec(d), mine_evec(b), c, n);
        twin->evec_scale_add(twin_evec(d), twin_evec(b), c, n);
        if (!arenas_agree("evec_scale_add", n))
            return;
        c = scalar(&seed);
        k->evec_fold(mine_evec(d), mine_evec(a), mine_evec(b), c, n);
        twin->evec_fold(twin_evec(d), twin_evec(a), twin_evec(b), c, n);
        if (!arenas_agree("evec_fold", n))
            return;
        const gf192 r[2] = {scalar(&seed), scalar(&seed)};
        const span e = place_evec(n, &seed), f = place_evec(n, &seed);
        k->evec_fold4(mine_evec(a), (const evec[4]){mine_evec(a), mine_evec(b), mine_evec(e), mine_evec(f)}, r, n);
        twin->evec_fold4(twin_evec(a), (const evec[4]){twin_evec(a), twin_evec(b), twin_evec(e), twin_evec(f)}, r, n);
        if (!arenas_agree("evec_fold4 in place", n))
            return;
        const span to = place_evec(n, &seed);
        k->evec_fold4(mine_evec(to), (const evec[4]){mine_evec(e), mine_evec(b), mine_evec(f), mine_evec(a)}, r, n);
        twin->evec_fold4(twin_evec(to), (const evec[4]){twin_evec(e), twin_evec(b), twin_evec(f), twin_evec(a)}, r, n);
        if (!arenas_agree("evec_fold4", n))
            return;
    }
}

static void check_evec_from_k(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    EACH_SIZE(n) {
        arena_start(&seed);
        span d = place_evec(n, &seed);
        size_t k0 = place(n), k1 = place(n);
        gf192 c = scalar(&seed);
        k->evec_scale_add_k(mine_evec(d), arena_mine + k0, c, n);
        twin->evec_scale_add_k(twin_evec(d), arena_twin + k0, c, n);
        if (!arenas_agree("evec_scale_add_k", n))
            return;
        k->evec_fold_k(mine_evec(d), arena_mine + k0, arena_mine + k1, c, n);
        twin->evec_fold_k(twin_evec(d), arena_twin + k0, arena_twin + k1, c, n);
        if (!arenas_agree("evec_fold_k", n))
            return;
    }
}

static void check_evec_sums(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    EACH_SIZE(n) for (int alias = 0; alias < 2; alias++) {
        arena_start(&seed);
        span a0 = place_evec(n, &seed), a1 = place_evec(n, &seed);
        span b0 = alias ? a0 : place_evec(n, &seed), b1 = alias ? a1 : place_evec(n, &seed);
        size_t k0 = place(n), k1 = place(n);
        gf192 want[3], got[3];
        memset(got, 0x55, sizeof got);
        k->evec_dot(got, mine_evec(a0), mine_evec(b0), n);
        twin->evec_dot(want, twin_evec(a0), twin_evec(b0), n);
        CHECK_MEM(got, want, sizeof(gf192));
        k->evec_dot_k(got, mine_evec(a1), arena_mine + k0, n);
        twin->evec_dot_k(want, twin_evec(a1), arena_twin + k0, n);
        CHECK_MEM(got, want, sizeof(gf192));
        k->evec_dot3(got, mine_evec(a0), mine_evec(a1), mine_evec(b0), mine_evec(b1), n);
        twin->evec_dot3(want, twin_evec(a0), twin_evec(a1), twin_evec(b0), twin_evec(b1), n);
        CHECK_MEM(got, want, sizeof want);
        k->evec_dot3_k(got, mine_evec(a0), mine_evec(a1), arena_mine + k0, arena_mine + k1, n);
        twin->evec_dot3_k(want, twin_evec(a0), twin_evec(a1), arena_twin + k0, arena_twin + k1, n);
        CHECK_MEM(got, want, sizeof want);
        k->evec_dot2(got, mine_evec(a0), mine_evec(a1), mine_evec(b0), mine_evec(b1), n);
        twin->evec_dot2(want, twin_evec(a0), twin_evec(a1), twin_evec(b0), twin_evec(b1), n);
        CHECK_MEM(got, want, 2 * sizeof(gf192));
        gf192 want8[8], got8[8];
        k->evec_dot8(got8, (const evec[4]){mine_evec(a0), mine_evec(a1), mine_evec(b1), mine_evec(b0)},
                     (const evec[4]){mine_evec(b0), mine_evec(b1), mine_evec(a0), mine_evec(a0)}, n);
        twin->evec_dot8(want8, (const evec[4]){twin_evec(a0), twin_evec(a1), twin_evec(b1), twin_evec(b0)},
                        (const evec[4]){twin_evec(b0), twin_evec(b1), twin_evec(a0), twin_evec(a0)}, n);
        CHECK_MEM(got8, want8, sizeof want8);
        if (!arenas_agree("sums: the inputs", n))
            return;
    }
}

enum { MAPS = 70 };
static bitmap8 maps_mine[MAPS], maps_twin[MAPS];

static void check_bitmap(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    static const size_t counts[] = {0, 1, 2, 31, 32, 33, MAPS};
    for (size_t j = 0; j < MAPS; j++) {
        gf192 col[8];
        for (int c = 0; c < 8; c++)
            col[c] = scalar(&seed);
        k->bitmap_prepare(&maps_mine[j], col);
        twin->bitmap_prepare(&maps_twin[j], col);
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (size_t map_stride = 0; map_stride < 3; map_stride++) {
            size_t count = map_stride == 2 ? counts[i] / 2 : counts[i];
            size_t byte_stride = 64 + t_rand64(&seed) % 40, shift = t_rand64(&seed) % 9;
            _Alignas(64) uint8_t acc_mine[BITMAP_ACC_BYTES] = {0}, acc_twin[BITMAP_ACC_BYTES] = {0};
            arena_start(&seed);
            size_t bytes = place(MAPS * 104 / 8 + 16);
            for (int twice = 0; twice < 2; twice++) { /* the second call adds to the first */
                k->bitmap_accumulate(acc_mine, maps_mine, map_stride,
                                     (const uint8_t *)(arena_mine + bytes) + shift + (size_t)twice,
                                     byte_stride, count);
                twin->bitmap_accumulate(acc_twin, maps_twin, map_stride,
                                        (const uint8_t *)(arena_twin + bytes) + shift + (size_t)twice,
                                        byte_stride, count);
            }
            span d = place_evec(64, &seed);
            k->bitmap_finish(mine_evec(d), acc_mine);
            twin->bitmap_finish(twin_evec(d), acc_twin);
            if (!arenas_agree("bitmap", count))
                return;
            if (map_stride != 1)
                continue;
            const uint8_t *from_mine = (const uint8_t *)(arena_mine + bytes) + shift;
            const uint8_t *from_twin = (const uint8_t *)(arena_twin + bytes) + shift;
            k->bitmap_sum(mine_evec(d), maps_mine, from_mine, byte_stride, count);
            twin->bitmap_sum(twin_evec(d), maps_twin, from_twin, byte_stride, count);
            if (!arenas_agree("bitmap_sum", count))
                return;
        }
}

static void check_bits_transpose(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    for (int i = 0; i < 20; i++) {
        arena_start(&seed);
        size_t in_stride = 64 + t_rand64(&seed) % 70, out_stride = 64 + t_rand64(&seed) % 70;
        size_t in = place(140), out = place(140), shift = t_rand64(&seed) % 9;
        k->bits_transpose8((uint8_t *)(arena_mine + out) + shift, out_stride,
                           (uint8_t *)(arena_mine + in) + shift, in_stride);
        twin->bits_transpose8((uint8_t *)(arena_twin + out) + shift, out_stride,
                              (uint8_t *)(arena_twin + in) + shift, in_stride);
        if (!arenas_agree("bits_transpose8", 64))
            return;
    }
}

static void check_sliced(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    for (unsigned r = 0; r < KECCAK_ROUNDS; r++) {
        arena_start(&seed);
        size_t in = place(201), e = place(201), a = place(201), shift = t_rand64(&seed) % 8;
        k->sliced_linear((uint8_t *)(arena_mine + e) + shift, (const uint8_t *)(arena_mine + in) + shift);
        twin->sliced_linear((uint8_t *)(arena_twin + e) + shift, (const uint8_t *)(arena_twin + in) + shift);
        if (!arenas_agree("sliced_linear", r))
            return;
        k->sliced_chi((uint8_t *)(arena_mine + a) + shift, (const uint8_t *)(arena_mine + e) + shift, r);
        twin->sliced_chi((uint8_t *)(arena_twin + a) + shift, (const uint8_t *)(arena_twin + e) + shift, r);
        if (!arenas_agree("sliced_chi", r))
            return;
    }
}

static size_t power_of_3(unsigned n) {
    size_t p = 1;
    while (n-- > 0)
        p *= 3;
    return p;
}

static void check_grid(const sheaf_kernels *k) {
    uint64_t seed = t_seed();
    for (unsigned inner = 2; inner <= 3; inner++)
        for (size_t picks = 1; picks <= 8; picks++) {
            size_t points = power_of_3(inner), shift = t_rand64(&seed) % 8;
            size_t lane_stride = ((size_t)64 << inner) + t_rand64(&seed) % 70,
                   out_stride = 64 * points + t_rand64(&seed) % 70;
            grid_shape s = {.inner = inner, .picks = picks};
            for (size_t j = 0; j < picks; j++)
                s.pick[j] = t_rand64(&seed) % 1000;
            s.linear = t_rand64(&seed) & 1;
            arena_start(&seed);
            size_t from = place(5 * lane_stride / 8 + 160), out = place(5 * out_stride / 8 + 16);
            k->grid_chi((uint8_t *)(arena_mine + out) + shift, out_stride,
                        (const uint8_t *)(arena_mine + from) + shift, lane_stride, &s);
            twin->grid_chi((uint8_t *)(arena_twin + out) + shift, out_stride,
                           (const uint8_t *)(arena_twin + from) + shift, lane_stride, &s);
            if (!arenas_agree("grid_chi", points))
                return;
        }
}

/* ---- the back ends ---- */

#ifdef __wasm__
static const sheaf_kernels *simd128_table(void) {
    return kernels_for(SHEAF_ISA_SIMD128);
}
#elif defined(SHEAF_HAVE_NEON)
/* The tables of which the back end is made, and what it is on this machine. */
static const sheaf_kernels *with_gaps_filled(sheaf_kernels *t, const sheaf_kernels *table) {
    for (size_t at = 0; at < sizeof *t; at += sizeof(void (*)(void))) {
        void (*entry)(void);
        memcpy(&entry, (const char *)table + at, sizeof entry);
        if (entry == NULL)
            memcpy(&entry, (const char *)twin + at, sizeof entry);
        memcpy((char *)t + at, &entry, sizeof entry);
    }
    return t;
}

static const sheaf_kernels *plain_neon_table(void) {
    static sheaf_kernels t;
    return with_gaps_filled(&t, &sheaf_kernels_neon);
}
static const sheaf_kernels *pmull_table(void) {
    static sheaf_kernels t;
    return arm_probe().pmull ? with_gaps_filled(&t, &sheaf_kernels_pmull) : NULL;
}
static const sheaf_kernels *sha3_table(void) {
    static sheaf_kernels t;
    return arm_probe().sha3 ? with_gaps_filled(&t, &sheaf_kernels_sha3) : NULL;
}
static const sheaf_kernels *neon_table(void) {
    return kernels_for(SHEAF_ISA_NEON);
}
#else
/* The AVX2 table without what 256-bit VPCLMULQDQ replaces. */
static const sheaf_kernels *pclmul_table(void) {
#ifdef SHEAF_HAVE_X86
    static sheaf_kernels t;
    if (kernels_for(SHEAF_ISA_AVX2) == NULL)
        return NULL;
    t = sheaf_kernels_avx2;
    if (t.keccak_f1600 == NULL)
        t.keccak_f1600 = twin->keccak_f1600;
    return &t;
#else
    return NULL;
#endif
}

static const sheaf_kernels *avx2_table(void) {
    return kernels_for(SHEAF_ISA_AVX2);
}
static const sheaf_kernels *avx512_table(void) {
    return kernels_for(SHEAF_ISA_AVX512);
}
#endif

#define ON(back_end, check)                                                                                  \
    TEST(back_end##_##check##_is_the_portable_one) {                                                         \
        const sheaf_kernels *k = back_end##_table();                                                         \
        if (k == NULL)                                                                                       \
            SKIP("this machine or build lacks " #back_end);                                                  \
        check_##check(k);                                                                                    \
    }
#ifdef __wasm__
#define ON_EACH(check) ON(simd128, check)
#elif defined(SHEAF_HAVE_NEON)
#define ON_EACH(check) ON(plain_neon, check) ON(pmull, check) ON(sha3, check) ON(neon, check)
#else
#define ON_EACH(check) ON(pclmul, check) ON(avx2, check) ON(avx512, check)
#endif

ON_EACH(keccak)
ON_EACH(keccak_digest)
ON_EACH(gf192_mul)
ON_EACH(gf192_mul_k)
ON_EACH(ntt)
ON_EACH(ntt_tail_twiddles)
ON_EACH(ntt_rows)
ON_EACH(ntt_block)
ON_EACH(evec_elementwise)
ON_EACH(evec_from_k)
ON_EACH(evec_sums)
ON_EACH(bitmap)
ON_EACH(bits_transpose)
ON_EACH(sliced)
ON_EACH(grid)

/* ---- the portable kernels against their definitions ---- */

/* Layer j pairs words half a block apart, a block of it being 2^(log-j) words. */
static void layers_by_definition(uint64_t *words, const uint64_t *tw, unsigned log, unsigned layers) {
    for (unsigned j = 0; j < layers; j++)
        for (size_t i = 0, half = (size_t)1 << (log - j - 1); i < (size_t)1 << log; i++) {
            if (i & half)
                continue;
            words[i] ^= gf64_mul(tw[((size_t)1 << j) + i / (2 * half)], words[i + half]);
            words[i + half] ^= words[i];
        }
}

TEST(portable_ntt_layers_follow_their_definition) {
    uint64_t seed = t_seed(), tw[256], want[256];
    _Alignas(64) uint64_t got[256];
    for (unsigned log = 5; log <= 8; log++) {
        const size_t n = (size_t)1 << log;
        for (size_t i = 0; i < n; i++) {
            want[i] = got[i] = t_rand64(&seed);
            tw[i] = t_rand64(&seed) >> (i >= n / 2 ? 32 : 0);
        }
        twin->ntt_rows(got, 8, got, 8, tw, log - 3, 8);
        layers_by_definition(want, tw, log, log - 3);
        CHECK_MEM(got, want, n * sizeof *got);
        twin->ntt_block(got, got, tw, log);
        layers_by_definition(want, tw, log, log);
        CHECK_MEM(got, want, n * sizeof *got);
    }
}

TEST(portable_bitmap_is_the_sum_of_the_columns_of_set_bits) {
    uint64_t seed = t_seed();
    enum { COUNT = 3 };
    gf192 col[COUNT][8];
    bitmap8 maps[COUNT];
    uint8_t bytes[COUNT * 64];
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES] = {0};
    _Alignas(64) uint64_t out[3 * 72];
    for (size_t j = 0; j < COUNT; j++) {
        for (int c = 0; c < 8; c++)
            col[j][c] = scalar(&seed);
        twin->bitmap_prepare(&maps[j], col[j]);
    }
    t_rand_bytes(&seed, bytes, sizeof bytes);
    twin->bitmap_accumulate(acc, maps, 1, bytes, 64, COUNT);
    twin->bitmap_finish((evec){out, 72}, acc);
    for (size_t i = 0; i < 64; i++) {
        gf192 sum = GF192_ZERO;
        for (size_t j = 0; j < COUNT; j++)
            for (int c = 0; c < 8; c++)
                if (bytes[64 * j + i] >> c & 1)
                    sum = gf192_add(sum, col[j][c]);
        gf192 got = evec_get((evec){out, 72}, i);
        CHECK_MEM(&got, &sum, sizeof sum);
    }
}

TEST(portable_transpose_exchanges_rows_and_bits) {
    uint64_t seed = t_seed();
    uint8_t in[8 * 64], out[8 * 80];
    t_rand_bytes(&seed, in, sizeof in);
    twin->bits_transpose8(out, 80, in, 64);
    for (size_t i = 0; i < 64; i++)
        for (size_t b = 0; b < 8; b++)
            for (size_t j = 0; j < 8; j++)
                CHECK_EQ_INT(out[80 * j + i] >> b & 1, in[64 * b + i] >> j & 1);
}

TEST(portable_fold_interpolates_and_sums_are_those_of_the_ends) {
    uint64_t seed = t_seed();
    enum { N = 16 };
    _Alignas(64) uint64_t w[5][3 * N];
    evec v[5];
    for (size_t i = 0; i < 5; i++) {
        v[i] = (evec){w[i], N};
        for (size_t j = 0; j < 3 * N; j++)
            w[i][j] = t_rand64(&seed);
    }
    gf192 r = scalar(&seed), d3[3], d2[2], s[3] = {GF192_ZERO, GF192_ZERO, GF192_ZERO};
    twin->evec_fold(v[4], v[0], v[1], r, N);
    twin->evec_dot3(d3, v[0], v[1], v[2], v[3], N);
    twin->evec_dot2(d2, v[0], v[1], v[2], v[3], N);
    for (size_t i = 0; i < N; i++) {
        gf192 a0 = evec_get(v[0], i), a1 = evec_get(v[1], i), b0 = evec_get(v[2], i), b1 = evec_get(v[3], i);
        gf192 at_r = gf192_add(gf192_mul_ref(gf192_add(GF192_ONE, r), a0), gf192_mul_ref(r, a1)),
              got = evec_get(v[4], i);
        CHECK_MEM(&got, &at_r, sizeof got);
        s[0] = gf192_add(s[0], gf192_mul_ref(a0, b0));
        s[1] = gf192_add(s[1], gf192_mul_ref(a1, b1));
        s[2] = gf192_add(s[2], gf192_mul_ref(gf192_add(a0, a1), gf192_add(b0, b1)));
    }
    CHECK_MEM(d3, s, sizeof s);
    CHECK_MEM(d2, s + 1, sizeof d2);
}

/* Byte z of row l has bit z of lane l of eight states. */
static void slice(uint8_t *rows, const uint64_t state[8][25]) {
    for (size_t l = 0; l < 25; l++)
        for (size_t z = 0; z < 64; z++) {
            unsigned b = 0;
            for (size_t i = 0; i < 8; i++)
                b |= (unsigned)(state[i][l] >> z & 1) << i;
            rows[64 * l + z] = (uint8_t)b;
        }
}

TEST(portable_sliced_round_is_the_round_of_eight_states) {
    uint64_t seed = t_seed(), a[8][25], e[8][25];
    uint8_t rows[1600], got[1600], want[1600];
    for (unsigned r = 0; r < KECCAK_ROUNDS; r++) {
        for (size_t i = 0; i < 8; i++)
            for (size_t l = 0; l < 25; l++)
                a[i][l] = t_rand64(&seed);
        slice(rows, (const uint64_t(*)[25])a);
        for (size_t i = 0; i < 8; i++)
            keccak_round_linear_ref(e[i], a[i]);
        slice(want, (const uint64_t(*)[25])e);
        twin->sliced_linear(got, rows);
        CHECK_MEM(got, want, sizeof want);
        for (size_t i = 0; i < 8; i++)
            keccak_round_chi_ref(a[i], e[i], r);
        slice(want, (const uint64_t(*)[25])a);
        twin->sliced_chi(rows, got, r);
        CHECK_MEM(rows, want, sizeof want);
    }
}

/* The row on the grid of a lane with rows over {0,1}^n: grid point g in base 3, the first variable fastest. */
static void grid_row(uint8_t row[64], const uint8_t *lane, unsigned n, size_t g) {
    memset(row, 0, 64);
    for (size_t b = 0; b < (size_t)1 << n; b++) {
        size_t d = g;
        int in = 1;
        for (unsigned v = 0; v < n; v++, d /= 3)
            in = in && (d % 3 == 2 || d % 3 == (b >> v & 1));
        for (size_t i = 0; in && i < 64; i++)
            row[i] ^= lane[64 * b + i];
    }
}

TEST(portable_grid_has_chi_of_rows_that_are_summed_at_infinity) {
    uint64_t seed = t_seed();
    enum { INNER = 3, OUTER = 2, ROWS = 1 << (INNER + OUTER), POINTS = 27 };
    static uint8_t from[5 * 64 * ROWS], got[5 * 64 * POINTS];
    t_rand_bytes(&seed, from, sizeof from);
    for (size_t digit = 0; digit < 9; digit++) {
        grid_shape s = {.inner = INNER};
        for (size_t high = 0; high < 1 << OUTER; high++)
            if ((digit % 3 == 2 || digit % 3 == (high & 1)) && (digit / 3 == 2 || digit / 3 == high >> 1))
                s.pick[s.picks++] = 64 * high << INNER;
        s.linear = digit % 2 == 0;
        twin->grid_chi(got, 64 * POINTS, from, 64 * ROWS, &s);
        for (size_t x = 0; x < 5; x++)
            for (size_t g = 0; g < POINTS; g++) {
                uint8_t e[3][64], want[64];
                const int linear = s.linear && g % 3 < 2 && g / 3 % 3 < 2 && g / 9 < 2;
                for (size_t i = 0; i < 3; i++)
                    grid_row(e[i], from + 64 * ROWS * ((x + i) % 5), INNER + OUTER, g + POINTS * digit);
                for (size_t i = 0; i < 64; i++)
                    want[i] = (uint8_t)((e[1][i] & e[2][i]) ^ (linear ? e[0][i] ^ e[2][i] : 0));
                CHECK_MEM(got + 64 * (POINTS * x + g), want, sizeof want);
            }
    }
}

/* ---- the choice ---- */

TEST(every_available_table_is_complete) {
    for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
        const sheaf_kernels *k = kernels_for((sheaf_isa)isa);
        if (k == NULL)
            continue;
        void (*entry)(void);
        for (size_t at = sizeof k->name; at < sizeof *k; at += sizeof entry) {
            memcpy(&entry, (const char *)k + at, sizeof entry);
            CHECK(entry != NULL);
        }
    }
    CHECK(kernels_for(SHEAF_ISA_PORTABLE) != NULL);
    CHECK(kernels_for(SHEAF_ISA_COUNT_) == NULL);
}

TEST(forcing_a_back_end_changes_the_choice_and_the_description) {
    sheaf_isa before = kernels_isa();
    static const char *const names[] = {"portable", "avx2", "avx512", "simd128", "neon"};
    for (int isa = 0; isa < SHEAF_ISA_COUNT_; isa++) {
        int available = kernels_for((sheaf_isa)isa) != NULL;
        CHECK_EQ_INT(kernels_force((sheaf_isa)isa), available ? 0 : -1);
        if (!available)
            continue;
        CHECK_EQ_INT(kernels_isa(), isa);
        CHECK(kernels() == kernels_for((sheaf_isa)isa));
        CHECK(strncmp(kernels_describe(), names[isa], strlen(names[isa])) == 0);
        CHECK(strstr(kernels_describe(), "failed") == NULL);
    }
    CHECK_EQ_INT(kernels_force(SHEAF_ISA_COUNT_), -1);
    CHECK_EQ_INT(kernels_force(before), 0);
}

TEST(choice_respects_the_environment) {
    const char *cap = getenv("SHEAF_ISA");
    if (cap == NULL)
        cap = "";
    if (strcmp(cap, "portable") == 0)
        CHECK_EQ_INT(kernels_isa(), SHEAF_ISA_PORTABLE);
    if (strcmp(cap, "avx2") == 0)
        CHECK(kernels_isa() <= SHEAF_ISA_AVX2);
    if (strcmp(cap, "neon") == 0 && kernels_for(SHEAF_ISA_NEON) != NULL)
        CHECK_EQ_INT(kernels_isa(), SHEAF_ISA_NEON);
    if (strcmp(cap, "nonsense") == 0)
        CHECK(strstr(kernels_describe(), "not understood") != NULL);
    else
        CHECK(strstr(kernels_describe(), "not understood") == NULL);
    CHECK(kernels() == kernels_for(kernels_isa()));
}

/* The choice is made once a process, so each value gets a process of its own, which runs the test above. */
TEST(each_value_of_the_environment_is_respected) {
#if defined(__linux__)
    static const char *const values[] = {"portable", "avx2", "avx512", "neon", "nonsense", ""};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        fflush(stdout);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            if (setenv("SHEAF_ISA", values[i], 1) == 0 && freopen("/dev/null", "w", stdout) != NULL)
                execl("/proc/self/exe", "test_kernels_child", "choice_respects_the_environment",
                      (char *)NULL);
            _exit(errno == ENOEXEC ? 126 : 127);
        }
        int status = -1;
        REQUIRE(waitpid(child, &status, 0) == child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 126)
            SKIP("this system runs this program, but by itself it would not (an emulator)");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
#else
    SKIP("no /proc/self/exe here");
#endif
}

T_MAIN()
