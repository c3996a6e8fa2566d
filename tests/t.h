/* A small header-only test harness.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     #include "../t.h"
 *     TEST(fold_of_a_constant_is_the_constant) {
 *         uint64_t seed = t_seed();     (printed where the test fails; SHEAF_TEST_SEED overrides it)
 *         uint64_t a = t_rand64(&seed);
 *         CHECK_EQ_U64(fold(a, a), a);
 *     }
 *     T_MAIN()
 *
 * One executable is one suite. Its last line is `<name>: N passed, N failed, N skipped`, <name> the
 * executable's; the exit status is 0 where nothing failed. An argument runs only the tests whose names
 * contain it; --list names them all.
 *
 * A failing check prints its place and values, and the test goes on. Each CHECK is an expression that is
 * non-zero where it holds: `if (!CHECK(p != NULL)) return;`. REQUIRE is that line, for functions returning
 * void. Checks may be made on several threads at once; SKIP only on the test's own. */
#ifndef SHEAF_TESTS_T_H
#define SHEAF_TESTS_T_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define T_UNUSED_ __attribute__((unused))
#else
#error "the tests need gcc or clang"
#endif

typedef struct t_test_ {
    const char *name;
    void (*fn)(void);
    struct t_test_ *next;
} t_test_;

static t_test_ *t_first_, **t_end_ = &t_first_;
static unsigned t_failures_; /* of the running test; atomic */
static const char *t_skipped_;
static int t_seed_used_;
static uint64_t t_seed_value_;

enum { T_MOST_PRINTED_ = 8 }; /* failing checks printed for one test */

static T_UNUSED_ void t_register_(t_test_ *t) {
    t->next = NULL;
    *t_end_ = t;
    t_end_ = &t->next;
}

/* Counts a failure; non-zero where it is to be printed. */
static T_UNUSED_ int t_fail_(const char *file, int line) {
    unsigned n = __atomic_fetch_add(&t_failures_, 1u, __ATOMIC_RELAXED);
    if (n < T_MOST_PRINTED_) {
        const char *slash = strrchr(file, '/');
        fprintf(stdout, "  %s:%d: ", slash != NULL ? slash + 1 : file, line);
        return 1;
    }
    return 0;
}

static T_UNUSED_ int t_check_(int ok, const char *file, int line, const char *text) {
    if (!ok && t_fail_(file, line))
        fprintf(stdout, "CHECK(%s)\n", text);
    return ok;
}

static T_UNUSED_ int t_check_u64_(uint64_t a, uint64_t b, const char *file, int line, const char *ta,
                                  const char *tb) {
    if (a == b)
        return 1;
    if (t_fail_(file, line))
        fprintf(stdout, "%s == %s: 0x%" PRIx64 " (%" PRIu64 ") is not 0x%" PRIx64 " (%" PRIu64 ")\n", ta, tb,
                a, a, b, b);
    return 0;
}

static T_UNUSED_ int t_check_int_(long long a, long long b, const char *file, int line, const char *ta,
                                  const char *tb) {
    if (a == b)
        return 1;
    if (t_fail_(file, line))
        fprintf(stdout, "%s == %s: %lld is not %lld\n", ta, tb, a, b);
    return 0;
}

static T_UNUSED_ void t_print_hex_(const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        fprintf(stdout, "%02x", p[i]);
}

static T_UNUSED_ int t_check_mem_(const void *a, const void *b, size_t n, const char *file, int line,
                                  const char *ta, const char *tb) {
    if (n == 0)
        return 1;
    if (a == NULL || b == NULL) {
        if (t_fail_(file, line))
            fprintf(stdout, "%s == %s: a null pointer\n", ta, tb);
        return 0;
    }
    const uint8_t *p = a, *q = b;
    size_t i = 0;
    while (i < n && p[i] == q[i])
        i++;
    if (i == n)
        return 1;
    if (t_fail_(file, line)) {
        size_t shown = n - i < 16 ? n - i : 16;
        fprintf(stdout, "%s == %s: of %zu bytes, from byte %zu on: ", ta, tb, n, i);
        t_print_hex_(p + i, shown);
        fprintf(stdout, " is not ");
        t_print_hex_(q + i, shown);
        fprintf(stdout, "\n");
    }
    return 0;
}

static T_UNUSED_ int t_check_str_(const char *a, const char *b, const char *file, int line, const char *ta,
                                  const char *tb) {
    if (a != NULL && b != NULL && strcmp(a, b) == 0)
        return 1;
    if (t_fail_(file, line))
        fprintf(stdout, "%s == %s: \"%s\" is not \"%s\"\n", ta, tb, a != NULL ? a : "(null)",
                b != NULL ? b : "(null)");
    return 0;
}

/* splitmix64: the next word, and the state moved on. */
static T_UNUSED_ uint64_t t_rand64(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static T_UNUSED_ void t_rand_bytes(uint64_t *state, void *out, size_t n) {
    uint8_t *p = out;
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)t_rand64(state);
}

/* The run's seed: SHEAF_TEST_SEED where it is set, else a fixed one. A failing test that asked for it prints
 * it. */
static T_UNUSED_ uint64_t t_seed(void) {
    t_seed_used_ = 1;
    return t_seed_value_;
}

static T_UNUSED_ int t_main_(int argc, char **argv) {
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *suite = argc > 0 ? (slash != NULL ? slash + 1 : argv[0]) : "tests";
    const char *filter = argc > 1 ? argv[1] : NULL;
    const char *env_seed = getenv("SHEAF_TEST_SEED");
    unsigned passed = 0, failed = 0, skipped = 0;

    setvbuf(stdout, NULL, _IOLBF, 4096); /* what was said before a crash is seen */
    t_seed_value_ = UINT64_C(0x5eaf);
    if (env_seed != NULL && *env_seed != '\0') {
        char *end = NULL;
        t_seed_value_ = strtoull(env_seed, &end, 0);
        if (*end != '\0') {
            fprintf(stderr, "%s: SHEAF_TEST_SEED=%s is not a number\n", suite, env_seed);
            return 2;
        }
        fprintf(stdout, "%s: SHEAF_TEST_SEED=0x%" PRIx64 "\n", suite, t_seed_value_);
    }
    if (filter != NULL && strcmp(filter, "--list") == 0) {
        for (const t_test_ *t = t_first_; t != NULL; t = t->next)
            fprintf(stdout, "%s\n", t->name);
        return 0;
    }
    for (const t_test_ *t = t_first_; t != NULL; t = t->next) {
        if (filter != NULL && strstr(t->name, filter) == NULL)
            continue;
        t_failures_ = 0;
        t_skipped_ = NULL;
        t_seed_used_ = 0;
        t->fn();
        unsigned failures = __atomic_load_n(&t_failures_, __ATOMIC_RELAXED);
        if (failures != 0) {
            failed++;
            fprintf(stdout, "FAIL %s: %s (%u checks", suite, t->name, failures);
            if (t_seed_used_)
                fprintf(stdout, ", SHEAF_TEST_SEED=0x%" PRIx64, t_seed_value_);
            fprintf(stdout, ")\n");
        } else if (t_skipped_ != NULL) {
            skipped++;
            fprintf(stdout, "SKIP %s: %s: %s\n", suite, t->name, t_skipped_);
        } else {
            passed++;
        }
    }
    fprintf(stdout, "%s: %u passed, %u failed, %u skipped\n", suite, passed, failed, skipped);
    if (passed + failed + skipped == 0) {
        fprintf(stderr, "%s: no test ran\n", suite);
        return 2;
    }
    return failed != 0;
}

#define TEST(name)                                                                                           \
    static void t_fn_##name(void);                                                                           \
    static t_test_ t_def_##name = {#name, t_fn_##name, NULL};                                                \
    __attribute__((constructor)) static void t_reg_##name(void) {                                            \
        t_register_(&t_def_##name);                                                                          \
    }                                                                                                        \
    static void t_fn_##name(void)

#define CHECK(cond) t_check_((cond) ? 1 : 0, __FILE__, __LINE__, #cond)
#define CHECK_EQ_U64(a, b) t_check_u64_((uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__, #a, #b)
#define CHECK_EQ_INT(a, b) t_check_int_((long long)(a), (long long)(b), __FILE__, __LINE__, #a, #b)
#define CHECK_MEM(a, b, n) t_check_mem_((a), (b), (size_t)(n), __FILE__, __LINE__, #a, #b)
#define CHECK_STR(a, b) t_check_str_((a), (b), __FILE__, __LINE__, #a, #b)

#define REQUIRE(cond)                                                                                        \
    do {                                                                                                     \
        if (!CHECK(cond))                                                                                    \
            return;                                                                                          \
    } while (0)

/* Ends the test: this machine or build lacks what it needs. A test that failed before stays failed. */
#define SKIP(reason)                                                                                         \
    do {                                                                                                     \
        t_skipped_ = (reason);                                                                               \
        return;                                                                                              \
    } while (0)

/* Runs every TEST of the file, in the order they are written. Arguments are ignored. */
#define T_MAIN(...)                                                                                          \
    int main(int argc, char **argv) {                                                                        \
        return t_main_(argc, argv);                                                                          \
    }

#endif
