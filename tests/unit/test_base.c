/* The bottom layer.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/posix.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <dirent.h>
#include "../t.h"
#include "base/base.h"
#include "base/io.h"
#include "base/random.h"
#include "base/stages.h"

/* ---- texts ---- */

TEST(every_status_has_a_text_of_its_own) {
    for (int i = SHEAF_OK; i <= SHEAF_UNSUPPORTED; i++) {
        const char *text = sheaf_status_text((sheaf_status)i);
        REQUIRE(text != NULL && *text != '\0');
        CHECK(strcmp(text, sheaf_status_text((sheaf_status)999)) != 0);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(text, sheaf_status_text((sheaf_status)j)) != 0);
    }
}

TEST(every_check_has_a_name_of_its_own_in_lower_case) {
    for (int i = 0; i < SHEAF_CHECK_COUNT_; i++) {
        const char *name = sheaf_check_name((sheaf_check)i);
        REQUIRE(name != NULL && *name != '\0');
        CHECK_EQ_U64(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        CHECK(strcmp(name, "unknown") != 0);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(name, sheaf_check_name((sheaf_check)j)) != 0);
    }
    CHECK_STR(sheaf_check_name(SHEAF_CHECK_COUNT_), "unknown");
    CHECK_STR(sheaf_check_name((sheaf_check)-1), "unknown");
}

TEST(a_failure_message_is_one_terminated_line) {
    sheaf_failure f;
    memset(&f, 0xff, sizeof f);
    failure_set(&f, SHEAF_REJECTED, SHEAF_CHECK_MERKLE, 7, "level %d\nof\t%s", 3, "x");
    CHECK_EQ_INT(f.status, SHEAF_REJECTED);
    CHECK_EQ_INT(f.check, SHEAF_CHECK_MERKLE);
    CHECK_EQ_U64(f.index, 7);
    CHECK_STR(f.message, "level 3\\x0aof\\x09x");
    for (size_t before = 185; before < 192; before++) { /* no escape is cut */
        char controls[200];
        memset(controls, 'a', before);
        memset(controls + before, 0x1b, sizeof controls - before);
        controls[sizeof controls - 1] = '\0';
        failure_set(&f, SHEAF_IO, SHEAF_CHECK_NONE, 0, "%s", controls);
        CHECK_EQ_U64(strlen(f.message), before + (sizeof f.message - 1 - before) / 4 * 4);
        CHECK_EQ_U64(strcspn(f.message, "\\"), before);
    }
    failure_set(&f, SHEAF_IO, SHEAF_CHECK_NONE, 0, "%s\x7f", "a");
    failure_set(&f, SHEAF_IO, SHEAF_CHECK_NONE, 0, "%s again", f.message); /* of its own text */
    CHECK_STR(f.message, "a\\x7f again");

    char longer[1000];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    failure_set(&f, SHEAF_IO, SHEAF_CHECK_NONE, 0, "%s", longer);
    CHECK_EQ_U64(strlen(f.message), sizeof f.message - 1);
    failure_set(NULL, SHEAF_IO, SHEAF_CHECK_NONE, 0, "nobody asked"); /* must not crash */
}

/* ---- integers ---- */

TEST(ceil_log2_is_the_smallest_exponent) {
    CHECK_EQ_U64(ceil_log2(0), 0);
    CHECK_EQ_U64(ceil_log2(1), 0);
    for (unsigned k = 1; k < 63; k++) {
        uint64_t n = UINT64_C(1) << k;
        CHECK_EQ_U64(ceil_log2(n), k);
        CHECK_EQ_U64(ceil_log2(n + 1), k + 1);
        CHECK_EQ_U64(ceil_log2(n - 1), n - 1 > n / 2 ? k : k - 1);
    }
    CHECK_EQ_U64(round_up(0, 8), 0);
    CHECK_EQ_U64(round_up(1, 8), 8);
    CHECK_EQ_U64(round_up(16, 8), 16);
}

TEST(loads_and_stores_are_little_endian) {
    const uint8_t bytes[8] = {0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
    uint8_t out[8];
    CHECK_EQ_U64(load64_le(bytes), UINT64_C(0xffeeddccbbaa9988));
    CHECK_EQ_U64(load32_le(bytes), 0xbbaa9988u);
    store64_le(out, UINT64_C(0xffeeddccbbaa9988));
    CHECK_MEM(out, bytes, 8);
    store32_le(out, 0xbbaa9988u);
    CHECK_MEM(out, bytes, 4);
}

/* ---- memory ---- */

TEST(memory_is_aligned_and_counted) {
    mem m = {0};
    void *p[40];
    for (size_t i = 0; i < 40; i++) {
        p[i] = mem_alloc(&m, i * i + 1);
        REQUIRE(p[i] != NULL);
        CHECK_EQ_U64((uintptr_t)p[i] % 64, 0);
        memset(p[i], 0x5a, i * i + 1);
    }
    size_t most = m.current;
    CHECK(most >= 40 * 39 * 79 / 6);
    CHECK_EQ_U64(m.peak, most);
    for (size_t i = 0; i < 40; i++)
        mem_free(&m, p[i]);
    CHECK_EQ_U64(m.current, 0);
    CHECK_EQ_U64(m.peak, most);
}

TEST(zeroed_memory_is_zero_even_where_it_was_used_before) {
    for (int round = 0; round < 8; round++) {
        uint8_t *p = mem_alloc_zero(NULL, 5000), any = 0;
        REQUIRE(p != NULL);
        for (size_t i = 0; i < 5000; i++)
            any |= p[i];
        CHECK_EQ_INT(any, 0);
        memset(p, 0xff, 5000);
        mem_free(NULL, p);
    }
}

TEST(memory_refuses_nothing_and_far_too_much) {
    mem m = {0};
    CHECK(mem_alloc(&m, 0) == NULL);
    CHECK(mem_alloc(&m, SIZE_MAX) == NULL);
    CHECK(mem_alloc(&m, SIZE_MAX - 64) == NULL);
    CHECK(mem_alloc_zero(&m, SIZE_MAX - 64) == NULL);
    CHECK_EQ_U64(m.current, 0);
    mem_free(&m, NULL);
    mem_free(NULL, NULL);
}

typedef struct custom {
    int allocs, frees, fail;
    char *last;
} custom;

static void *custom_alloc(void *ctx, size_t bytes) {
    custom *c = ctx;
    if (c->fail)
        return NULL;
    c->allocs++;
    char *p = malloc(bytes + 1);
    if (p == NULL)
        return NULL;
    memset(p, 0xee, bytes + 1);
    c->last = p;
    return p + 1; /* as unaligned as can be */
}

static void custom_free(void *ctx, void *p) {
    custom *c = ctx;
    c->frees++;
    free((char *)p - 1);
}

TEST(an_allocator_of_the_callers_may_be_unaligned_and_may_fail) {
    custom c = {0};
    mem m = {custom_alloc, custom_free, &c, 0, 0};
    uint8_t *p = mem_alloc_zero(&m, 100), any = 0;
    REQUIRE(p != NULL);
    CHECK_EQ_U64((uintptr_t)p % 64, 0);
    for (size_t i = 0; i < 100; i++)
        any |= p[i];
    CHECK_EQ_INT(any, 0);
    c.fail = 1;
    CHECK(mem_alloc(&m, 8) == NULL);
    mem_free(&m, p);
    CHECK_EQ_INT(c.allocs, 1);
    CHECK_EQ_INT(c.frees, 1);
    CHECK_EQ_U64(m.current, 0);
}

/* ---- threads ---- */

typedef struct tally {
    unsigned *times; /* of each task; atomic */
    unsigned workers;
    unsigned outside;       /* calls with a worker that there is not; atomic */
    unsigned in_worker[64]; /* atomic: at most one task at a time a worker */
    unsigned twice;
} tally;

static void count_task(void *ctx, size_t task, unsigned worker) {
    tally *t = ctx;
    if (worker >= t->workers || worker >= 64) {
        __atomic_add_fetch(&t->outside, 1, __ATOMIC_RELAXED);
        return;
    }
    if (__atomic_add_fetch(&t->in_worker[worker], 1, __ATOMIC_ACQ_REL) != 1)
        __atomic_add_fetch(&t->twice, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&t->times[task], 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&t->in_worker[worker], 1, __ATOMIC_ACQ_REL);
}

static void check_pool(pool *p, size_t tasks) {
    tally t = {calloc(tasks + 1, sizeof(unsigned)), pool_threads(p), 0, {0}, 0};
    REQUIRE(t.times != NULL);
    pool_run(p, tasks, count_task, &t);
    size_t wrong = 0;
    for (size_t i = 0; i < tasks; i++)
        wrong += t.times[i] != 1;
    CHECK_EQ_U64(wrong, 0);
    CHECK_EQ_U64(t.times[tasks], 0);
    CHECK_EQ_U64(t.outside, 0);
    CHECK_EQ_U64(t.twice, 0);
    free(t.times);
}

TEST(a_pool_runs_every_task_once_on_any_number_of_threads) {
    static const unsigned threads[] = {1, 2, 3, 8};
    static const size_t tasks[] = {0, 1, 2, 3, 7, 64, 1000, 12345};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        pool *p = pool_create(threads[i]);
        REQUIRE(p != NULL);
#ifdef SHEAF_NO_THREADS
        CHECK_EQ_U64(pool_threads(p), 1);
#else
        CHECK_EQ_U64(pool_threads(p), threads[i]);
#endif
        for (size_t j = 0; j < sizeof tasks / sizeof *tasks; j++)
            check_pool(p, tasks[j]);
        pool_destroy(p);
    }
}

TEST(a_pool_survives_many_short_runs) {
    pool *p = pool_create(4);
    REQUIRE(p != NULL);
    for (size_t i = 0; i < 3000; i++)
        check_pool(p, i % 9);
    pool_destroy(p);
}

TEST(no_pool_is_this_thread) {
    CHECK_EQ_U64(pool_threads(NULL), 1);
    check_pool(NULL, 100);
    pool_destroy(NULL);
}

TEST(a_pool_of_zero_threads_has_as_many_as_the_machine) {
    pool *p = pool_create(0);
    REQUIRE(p != NULL);
    CHECK(pool_threads(p) >= 1);
    check_pool(p, 1000);
    pool_destroy(p);
}

TEST(a_pool_that_was_never_used_can_be_destroyed) {
    for (int i = 0; i < 50; i++) {
        pool *p = pool_create(3);
        REQUIRE(p != NULL);
        pool_destroy(p);
    }
}

#ifndef SHEAF_NO_THREADS
typedef struct meeting {
    unsigned here; /* atomic */
    unsigned met;
} meeting;

static void meet(void *ctx, size_t task, unsigned worker) {
    meeting *m = ctx;
    (void)task;
    (void)worker;
    __atomic_add_fetch(&m->here, 1, __ATOMIC_ACQ_REL);
    for (double end = stage_seconds() + 20; stage_seconds() < end;)
        if (__atomic_load_n(&m->here, __ATOMIC_ACQUIRE) == 2) {
            __atomic_add_fetch(&m->met, 1, __ATOMIC_ACQ_REL);
            return;
        }
}

TEST(two_threads_really_work_at_once) {
    pool *p = pool_create(2);
    meeting m = {0, 0};
    REQUIRE(p != NULL);
    pool_run(p, 2, meet, &m); /* each task waits for the other */
    CHECK_EQ_U64(m.met, 2);
    pool_destroy(p);
}
#endif

TEST(a_pool_refuses_an_absurd_number_of_threads) {
    pool *p = pool_create(1000000);
#ifdef SHEAF_NO_THREADS
    CHECK_EQ_U64(pool_threads(p), 1);
#else
    CHECK(p == NULL);
#endif
    pool_destroy(p);
}

/* ---- progress ---- */

typedef struct watcher {
    double last;
    int calls, stop_at;
    char stage[16];
} watcher;

static int watch(void *ctx, double fraction, const char *stage) {
    watcher *w = ctx;
    w->last = fraction;
    snprintf(w->stage, sizeof w->stage, "%s", stage);
    return ++w->calls == w->stop_at;
}

TEST(progress_is_the_steps_part_of_the_whole_within_bounds) {
    watcher w = {0};
    env e = {.progress = watch, .progress_ctx = &w, .progress_at = 0.5, .progress_span = 0.25};
    CHECK_EQ_INT(env_progress(&e, 0.5, "commit"), 0);
    CHECK(w.last > 0.624 && w.last < 0.626);
    CHECK_STR(w.stage, "commit");
    CHECK_EQ_INT(env_progress(&e, -3, "a"), 0);
    CHECK(w.last >= 0.5 && w.last < 0.501);
    CHECK_EQ_INT(env_progress(&e, 7, "a"), 0);
    CHECK(w.last > 0.749 && w.last < 0.751);
    CHECK_EQ_INT(w.calls, 3);
    CHECK_EQ_INT(env_progress(NULL, 0.5, "a"), 0);
    e.progress = NULL;
    CHECK_EQ_INT(env_progress(&e, 0.5, "a"), 0);
}

TEST(a_cancelled_work_stays_cancelled_and_asks_no_more) {
    watcher w = {.stop_at = 2};
    env e = {.progress = watch, .progress_ctx = &w, .progress_span = 1};
    CHECK_EQ_INT(env_progress(&e, 0.1, "a"), 0);
    CHECK(env_progress(&e, 0.2, "a") != 0);
    CHECK(env_progress(&e, 0.3, "a") != 0);
    CHECK_EQ_INT(w.calls, 2);
    CHECK_EQ_INT(e.cancelled, 1);
}

/* ---- stages ---- */

static void some_stages(env *e) {
    for (int i = 0; i < 3; i++) {
        env_stage_begin(e, "layer");
        env_stage_begin(e, "rounds");
        env_stage_end(e);
        env_stage_begin(e, "fold");
        env_stage_end(e);
        env_stage_begin(e, "rounds");
        env_stage_end(e);
        env_stage_end(e);
    }
    env_stage_begin(e, "rounds");
    env_stage_end(e);
}

TEST(stages_of_one_name_under_one_parent_are_one) {
    stage_log l;
    stage_log_init(&l);
    env e = {.stages = &l};
    some_stages(&e);
    const stage_node *layer = stage_log_find(&l, NULL, "layer");
    const stage_node *outer = stage_log_find(&l, NULL, "rounds");
    REQUIRE(layer != NULL && outer != NULL);
    const stage_node *rounds = stage_log_find(&l, layer, "rounds"), *fold = stage_log_find(&l, layer, "fold");
    REQUIRE(rounds != NULL && fold != NULL);
    CHECK_EQ_U64(layer->calls, 3);
    CHECK_EQ_U64(rounds->calls, 6);
    CHECK_EQ_U64(fold->calls, 3);
    CHECK_EQ_U64(outer->calls, 1);
    CHECK(stage_log_find(&l, layer, "layer") == NULL);
    CHECK(rounds->seconds >= 0 && layer->seconds >= rounds->seconds + fold->seconds);
    CHECK(layer->cycles >= rounds->cycles + fold->cycles);
#if defined(__x86_64__)
    CHECK(layer->cycles > 0);
#endif
    CHECK_EQ_INT(l.incomplete, 0);
    stage_log_free(&l);
    CHECK(stage_log_find(&l, NULL, "layer") == NULL);
}

TEST(shares_are_of_the_parent_and_of_the_whole) {
    stage_log l;
    stage_log_init(&l);
    env e = {.stages = &l};
    some_stages(&e);
    stage_node *layer = l.root.first, *rounds = layer->first, *fold = rounds->next;
    REQUIRE(fold != NULL && layer->next != NULL);
    CHECK_EQ_U64(stage_share(layer) > 0, 0); /* nobody said how long the whole took */
    layer->seconds = 4;
    layer->next->seconds = 1;
    rounds->seconds = 2.5;
    fold->seconds = 1;
    stage_log_whole(&l, 8, 800);
    CHECK(stage_share(layer) > 0.499 && stage_share(layer) < 0.501);
    CHECK(stage_share(rounds) > 0.624 && stage_share(rounds) < 0.626);
    CHECK(stage_share_of_whole(&l, rounds) > 0.3124 && stage_share_of_whole(&l, rounds) < 0.3126);
    CHECK(stage_elsewhere(&l.root) > 2.99 && stage_elsewhere(&l.root) < 3.01);
    CHECK(stage_elsewhere(layer) > 0.49 && stage_elsewhere(layer) < 0.51);
    CHECK(stage_elsewhere(fold) <= 0); /* it has no stages */
    rounds->seconds = 40;              /* clocks may disagree */
    CHECK(stage_elsewhere(layer) <= 0);
    layer->seconds = 0;
    CHECK(stage_share(rounds) <= 0);
    CHECK_EQ_U64(l.root.cycles, 800);
    stage_log_free(&l);
    CHECK(l.root.seconds <= 0);
}

TEST(stages_measure_the_time_that_passes) {
    stage_log l;
    stage_log_init(&l);
    env e = {.stages = &l};
    double before = stage_seconds();
    env_stage_begin(&e, "wait");
    while (stage_seconds() < before + 0.02) {
    }
    env_stage_end(&e);
    double passed = stage_seconds() - before;
    const stage_node *n = stage_log_find(&l, NULL, "wait");
    REQUIRE(n != NULL);
    CHECK(n->seconds > 0.01 && n->seconds <= passed);
    stage_log_free(&l);
}

TEST(an_end_without_a_beginning_and_no_log_are_harmless) {
    stage_log l;
    stage_log_init(&l);
    env e = {.stages = &l};
    env_stage_end(&e);
    env_stage_begin(&e, "a");
    env_stage_end(&e);
    env_stage_end(&e);
    env_stage_begin(&e, "b");
    env_stage_end(&e);
    CHECK(stage_log_find(&l, NULL, "b") != NULL);
    stage_log_free(&l);
    env none = {0};
    some_stages(&none);
    some_stages(NULL);
    CHECK(none.stages == NULL);
}

TEST(a_long_name_is_cut_and_still_merges) {
    stage_log l;
    stage_log_init(&l);
    env e = {.stages = &l};
    char name[200];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < 2; i++) {
        env_stage_begin(&e, name);
        env_stage_end(&e);
    }
    const stage_node *n = stage_log_find(&l, NULL, name);
    REQUIRE(n != NULL);
    CHECK_EQ_U64(strlen(n->name), STAGE_NAME_LEN - 1);
    CHECK_EQ_U64(n->calls, 2);
    CHECK(n->next == NULL);
    stage_log_free(&l);
}

TEST(the_stage_tree_is_written_as_json) {
    stage_log l;
    stage_log_init(&l);
    env e = {.stages = &l};
    char text[4096], part[64];
    CHECK_EQ_U64(stage_log_json(&l, text, sizeof text), 2);
    CHECK_STR(text, "[]");
    env_stage_begin(&e, "a \"b\"\\\n");
    env_stage_begin(&e, "c");
    env_stage_begin(&e, "d");
    env_stage_end(&e);
    env_stage_end(&e);
    env_stage_end(&e);
    env_stage_begin(&e, "f");
    env_stage_end(&e);
    size_t len = stage_log_json(&l, text, sizeof text);
    CHECK_EQ_U64(len, strlen(text));
    /* Without its numbers. */
    char shape[4096];
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        int number = text[i] == ':' && text[i + 1] >= '0' && text[i + 1] <= '9';
        shape[n++] = text[i];
        if (number)
            i += strspn(text + i + 1, "0123456789.");
    }
    shape[n] = '\0';
    CHECK_STR(shape, "[{\"name\":\"a \\\"b\\\"\\\\\\u000a\",\"calls\":,\"seconds\":,\"cycles\":,\"share\":,\"children\":["
                     "{\"name\":\"c\",\"calls\":,\"seconds\":,\"cycles\":,\"share\":,\"children\":["
                     "{\"name\":\"d\",\"calls\":,\"seconds\":,\"cycles\":,\"share\":,\"children\":[]}]}]},"
                     "{\"name\":\"f\",\"calls\":,\"seconds\":,\"cycles\":,\"share\":,\"children\":[]}]");
    for (size_t cap = 0; cap <= sizeof part; cap++) {
        memset(part, 'x', sizeof part);
        CHECK_EQ_U64(stage_log_json(&l, part, cap), len);
        if (cap > 0) {
            CHECK_EQ_U64(strlen(part), cap - 1);
            CHECK_MEM(part, text, cap - 1);
        }
    }
    stage_log_free(&l);
}

/* ---- files ---- */

static char folder[256];

static const char *in_folder(const char *name) {
    static char path[4][512];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", folder, name);
    return path[at];
}

static int folder_make(void) {
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/sheaf-base-XXXXXX", tmp != NULL && strlen(tmp) < 200 ? tmp : "/tmp");
    return mkdtemp(folder) != NULL;
}

/* Removes the folder and its files; returns how many there were. */
static int folder_remove(void) {
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *entry; d != NULL && (entry = readdir(d)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char path[600];
        snprintf(path, sizeof path, "%s/%.255s", folder, entry->d_name);
        unlink(path);
        n++;
    }
    if (d != NULL)
        closedir(d);
    rmdir(folder);
    return n;
}

static void check_file(const char *path, const void *bytes, size_t n) {
    uint8_t *data;
    size_t len;
    sheaf_failure f;
    if (!CHECK_EQ_INT(io_read(&data, &len, path, n, &f), SHEAF_OK))
        return;
    if (CHECK_EQ_U64(len, n))
        CHECK_MEM(data, bytes, n);
    CHECK_EQ_INT(data[len], 0);
    io_free(data, len);
}

TEST(what_is_written_is_read_back) {
    uint64_t seed = t_seed();
    static uint8_t bytes[100000];
    static const size_t sizes[] = {0, 1, 2, 4094, 4095, 4096, 4097, 65536, 100000};
    sheaf_failure f;
    REQUIRE(folder_make());
    t_rand_bytes(&seed, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK_EQ_INT(io_write(in_folder("a"), bytes, sizes[i], IO_REPLACE, &f), SHEAF_OK);
        check_file(in_folder("a"), bytes, sizes[i]);
    }
    CHECK_EQ_INT(folder_remove(), 1); /* no temporary file is left */
}

TEST(a_path_without_a_folder_is_in_this_one) {
    sheaf_failure f;
    char before[512];
    REQUIRE(folder_make());
    REQUIRE(getcwd(before, sizeof before) != NULL && chdir(folder) == 0);
    CHECK_EQ_INT(io_write("plain", "xyz", 3, IO_REPLACE, &f), SHEAF_OK);
    check_file("plain", "xyz", 3);
    REQUIRE(chdir(before) == 0);
    check_file(in_folder("plain"), "xyz", 3);
    CHECK_EQ_INT(folder_remove(), 1);
}

TEST(a_file_over_the_bound_is_malformed) {
    sheaf_failure f;
    uint8_t *data;
    size_t len;
    REQUIRE(folder_make());
    REQUIRE(io_write(in_folder("a"), "12345678", 8, IO_REPLACE, &f) == SHEAF_OK);
    check_file(in_folder("a"), "12345678", 8);
    CHECK_EQ_INT(io_read(&data, &len, in_folder("a"), 7, &f), SHEAF_MALFORMED);
    CHECK(data == NULL && len == 0);
    CHECK_EQ_INT(f.status, SHEAF_MALFORMED);
    CHECK(strstr(f.message, "/a is longer than 7 bytes") != NULL);
    folder_remove();
}

TEST(a_file_that_says_no_length_is_bounded_too) {
    sheaf_failure f;
    uint8_t *data;
    size_t len;
    CHECK_EQ_INT(io_read(&data, &len, "/dev/zero", 100000, &f), SHEAF_MALFORMED);
    CHECK(data == NULL && len == 0);
    CHECK_EQ_INT(io_read(&data, &len, "/dev/null", 0, &f), SHEAF_OK);
    CHECK_EQ_U64(len, 0);
    io_free(data, len);
}

TEST(a_missing_file_and_a_folder_are_named_in_the_failure) {
    sheaf_failure f;
    uint8_t *data;
    size_t len;
    REQUIRE(folder_make());
    CHECK_EQ_INT(io_read(&data, &len, in_folder("none"), 10, &f), SHEAF_IO);
    CHECK(data == NULL && len == 0);
    CHECK(strstr(f.message, "/none: ") != NULL && strstr(f.message, strerror(ENOENT)) != NULL);
    CHECK_EQ_INT(io_read(&data, &len, folder, 10, &f), SHEAF_IO);
    CHECK(strstr(f.message, strerror(EISDIR)) != NULL);
    CHECK_EQ_INT(io_write(folder, "x", 1, IO_REPLACE, &f), SHEAF_IO);
    CHECK(strstr(f.message, strerror(EISDIR)) != NULL);
    CHECK_EQ_INT(io_write(in_folder("none/x"), "x", 1, IO_REPLACE, &f), SHEAF_IO);
    CHECK(strstr(f.message, "none/x") != NULL);
    CHECK_EQ_INT(io_read(&data, &len, in_folder("none"), 10, NULL), SHEAF_IO);
    CHECK_EQ_INT(folder_remove(), 0);
}

TEST(a_new_file_does_not_replace_one_that_is_there) {
    sheaf_failure f;
    struct stat st;
    REQUIRE(folder_make());
    CHECK_EQ_INT(io_write(in_folder("key"), "first", 5, IO_NEW | IO_PRIVATE, &f), SHEAF_OK);
    CHECK_EQ_INT(io_write(in_folder("key"), "again", 5, IO_NEW | IO_PRIVATE, &f), SHEAF_IO);
    CHECK(strstr(f.message, strerror(EEXIST)) != NULL);
    check_file(in_folder("key"), "first", 5);
    REQUIRE(stat(in_folder("key"), &st) == 0);
    CHECK_EQ_U64(st.st_mode & 0777, 0600);
    CHECK_EQ_U64(st.st_nlink, 1);
    CHECK_EQ_INT(folder_remove(), 1);
}

TEST(the_umask_holds_for_what_is_not_private) {
    sheaf_failure f;
    struct stat st;
    REQUIRE(folder_make());
    mode_t before = umask(027);
    CHECK_EQ_INT(io_write(in_folder("a"), "x", 1, IO_REPLACE, &f), SHEAF_OK);
    umask(before);
    REQUIRE(stat(in_folder("a"), &st) == 0);
    CHECK_EQ_U64(st.st_mode & 0777, 0640);
    folder_remove();
}

TEST(a_symbolic_link_is_followed_and_stays) {
    sheaf_failure f;
    struct stat st;
    REQUIRE(folder_make());
    REQUIRE(io_write(in_folder("real"), "old", 3, IO_REPLACE, &f) == SHEAF_OK);
    REQUIRE(symlink("real", in_folder("link")) == 0);
    CHECK_EQ_INT(io_write(in_folder("link"), "newer", 5, IO_REPLACE, &f), SHEAF_OK);
    check_file(in_folder("real"), "newer", 5);
    REQUIRE(lstat(in_folder("link"), &st) == 0);
    CHECK(S_ISLNK(st.st_mode));
    REQUIRE(symlink("nowhere", in_folder("broken")) == 0);
    CHECK_EQ_INT(io_write(in_folder("broken"), "x", 1, IO_REPLACE, &f), SHEAF_IO);
    CHECK_EQ_INT(folder_remove(), 3);
}

TEST(a_device_is_written_to_and_not_replaced) {
    sheaf_failure f;
    struct stat st;
    CHECK_EQ_INT(io_write("/dev/null", "x", 1, IO_REPLACE, &f), SHEAF_OK);
    REQUIRE(lstat("/dev/null", &st) == 0);
    CHECK(S_ISCHR(st.st_mode));
    if (access("/dev/full", W_OK) == 0) {
        CHECK_EQ_INT(io_write("/dev/full", "x", 1, IO_REPLACE, &f), SHEAF_IO);
        CHECK(strstr(f.message, strerror(ENOSPC)) != NULL);
    }
}

TEST(a_reader_meanwhile_sees_the_old_or_the_new_and_nothing_between) {
    enum { SIZE = 200000, TURNS = 60 };
    static uint8_t bytes[SIZE];
    sheaf_failure f;
    REQUIRE(folder_make());
    memset(bytes, 'a', SIZE);
    REQUIRE(io_write(in_folder("a"), bytes, SIZE, IO_REPLACE, &f) == SHEAF_OK);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        for (int i = 0; i < TURNS; i++) {
            memset(bytes, 'a' + i % 26, SIZE);
            if (io_write(in_folder("a"), bytes, SIZE, IO_REPLACE, &f) != SHEAF_OK)
                _exit(1);
        }
        _exit(0);
    }
    int status = -1, wrong = 0, reads = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        uint8_t *data;
        size_t len;
        if (io_read(&data, &len, in_folder("a"), SIZE, &f) != SHEAF_OK) {
            wrong++;
            continue;
        }
        reads++;
        wrong += len != SIZE || data[0] != data[SIZE - 1] || memcmp(data, data + 1, SIZE - 1) != 0;
        io_free(data, len);
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQ_INT(wrong, 0);
    CHECK(reads > 0);
    CHECK_EQ_INT(folder_remove(), 1);
}

TEST(standard_input_and_output_are_a_dash) {
    sheaf_failure f;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    fflush(stdout);
    int in = dup(STDIN_FILENO), out = dup(STDOUT_FILENO);
    REQUIRE(out >= 0);
    REQUIRE(dup2(ends[0], STDIN_FILENO) >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0);
    close(ends[0]);
    close(ends[1]);
    sheaf_status wrote = io_write("-", "through a pipe", 14, IO_REPLACE, &f);
    dup2(out, STDOUT_FILENO);
    close(out);
    uint8_t *data;
    size_t len;
    sheaf_status read = io_read(&data, &len, "-", 14, &f);
    if (in >= 0) {
        dup2(in, STDIN_FILENO);
        close(in);
    } else {
        close(STDIN_FILENO);
    }
    CHECK_EQ_INT(wrote, SHEAF_OK);
    CHECK_EQ_INT(read, SHEAF_OK);
    if (CHECK_EQ_U64(len, 14))
        CHECK_MEM(data, "through a pipe", 14);
    io_free(data, len);
}

/* ---- randomness ---- */

TEST(random_bytes_differ_and_fill_everything) {
    enum { N = 200000 };
    static uint8_t a[N + 1], b[N + 1];
    REQUIRE(random_bytes(NULL, 0) == 0);
    REQUIRE(random_bytes(a, N) == 0 && random_bytes(b, N) == 0);
    CHECK_EQ_INT(a[N], 0);
    size_t count[256] = {0}, same = 0;
    for (size_t i = 0; i < N; i++) {
        count[a[i]]++;
        same += a[i] == b[i];
    }
    for (int i = 0; i < 256; i++)
        CHECK(count[i] > 500 && count[i] < 1100); /* 781 on average, a deviation is 28 */
    CHECK(same > 500 && same < 1100);
    CHECK(memcmp(a, a + 65536, 32) != 0);
    uint8_t small[2][32];
    REQUIRE(random_bytes(small[0], 32) == 0 && random_bytes(small[1], 32) == 0);
    CHECK(memcmp(small[0], small[1], 32) != 0);
}

T_MAIN()
