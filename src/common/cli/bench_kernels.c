/* The verb bench kernels: each kernel of every back end.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A kernel that joins the table (kernels.h) gets a row in kernel_rows below: its name, what one element is,
 * how many of them a call does, and a call on the buffers. A test compares the rows with the table. */
#include <string.h>
#include "../kernels.h"
#include "bench.h"

enum {
    N = 1024,   /* elements of a vector: one piece of the prover's passes */
    SHORT = 64, /* those of a layer's row */
    VECTORS = 7,
    BYTE_ROWS = 136, /* of 64 bytes */
    MAPS = 16,
    GRID_INNER = 3,
    GRID_ROWS = 27 /* 3^GRID_INNER */
};

typedef struct buffers {
    uint64_t *words; /* VECTORS of 3 N */
    _Alignas(64) uint64_t states[200];
    _Alignas(64) uint8_t acc[BITMAP_ACC_BYTES];
    _Alignas(64) uint8_t in[64 * BYTE_ROWS];
    _Alignas(64) uint8_t out[64 * BYTE_ROWS];
    bitmap8 maps[MAPS];
    gf192 sum[8], columns[8];
} buffers;

static evec vec(const buffers *b, size_t i) {
    return (evec){b->words + 3 * N * i, N};
}

/* Vectors over K: row i of the last vector but one, and of the last. */
static uint64_t *row(const buffers *b, size_t i) {
    return b->words + 3 * N * (VECTORS - 2) + N * i;
}

static const gf192 constant = {
    {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210), UINT64_C(0x0f1e2d3c4b5a6978)}};

#define CALL(name, ...)                                                                                      \
    static void call_##name(const sheaf_kernels *k, buffers *b) {                                            \
        k->name(__VA_ARGS__);                                                                                \
    }
#define CALL_AS(call, name, ...)                                                                             \
    static void call_##call(const sheaf_kernels *k, buffers *b) {                                            \
        k->name(__VA_ARGS__);                                                                                \
    }

CALL(keccak_f1600_x8, b->states)
CALL(keccak_digest_x8, b->states)
CALL(keccak_f1600, b->states)
CALL(gf192_mul, &b->sum[0], &b->sum[0], &constant)
CALL(gf192_mul_k, &b->sum[0], &b->sum[0], constant.c[0])
CALL(ntt_butterfly, row(b, 0), row(b, 1), constant.c[0], N)
CALL(ntt_butterfly4, row(b, 0), row(b, 1), row(b, 2), row(b, 3), constant.c, N)
CALL(ntt_tail8, row(b, 0), row(b, 3), row(b, 4), row(b, 5), N)
CALL(ntt_rows, row(b, 0), N / 16, row(b, 0), N / 16, row(b, 3), 4, N / 16)
CALL(ntt_block, row(b, 0), row(b, 0), row(b, 3),
     10) /* larger twiddles than it may get: the words mean nothing */
CALL(evec_mul, vec(b, 0), vec(b, 1), vec(b, 2), N)
CALL_AS(evec_mul_short, evec_mul, vec(b, 0), vec(b, 1), vec(b, 2), SHORT)
CALL(evec_mul_add, vec(b, 0), vec(b, 1), vec(b, 2), N)
CALL(evec_mul_plus, vec(b, 0), vec(b, 1), vec(b, 2), vec(b, 3), N)
CALL(evec_scale, vec(b, 0), vec(b, 1), constant, N)
CALL(evec_scale_add, vec(b, 0), vec(b, 1), constant, N)
CALL_AS(evec_scale_add_short, evec_scale_add, vec(b, 0), vec(b, 1), constant, SHORT)
CALL(evec_scale_add_k, vec(b, 0), row(b, 0), constant, N)
CALL(evec_fold, vec(b, 0), vec(b, 1), vec(b, 2), constant, N)
CALL(evec_fold4, vec(b, 0), (const evec[4]){vec(b, 0), vec(b, 1), vec(b, 2), vec(b, 3)},
     (const gf192[2]){constant, constant}, N)
CALL(evec_fold_k, vec(b, 0), row(b, 0), row(b, 1), constant, N)
CALL(evec_dot, &b->sum[0], vec(b, 1), vec(b, 2), N)
CALL_AS(evec_dot_short, evec_dot, &b->sum[0], vec(b, 1), vec(b, 2), SHORT)
CALL(evec_dot_k, &b->sum[0], vec(b, 1), row(b, 0), N)
CALL(evec_dot3, b->sum, vec(b, 1), vec(b, 2), vec(b, 3), vec(b, 4), N)
CALL(evec_dot3_k, b->sum, vec(b, 1), vec(b, 2), row(b, 0), row(b, 1), N)
CALL(evec_dot2, b->sum, vec(b, 1), vec(b, 2), vec(b, 3), vec(b, 4), N)
CALL(evec_dot8, b->sum, (const evec[4]){vec(b, 0), vec(b, 1), vec(b, 2), vec(b, 3)},
     (const evec[4]){vec(b, 4), vec(b, 3), vec(b, 2), vec(b, 1)}, N)
CALL(bitmap_prepare, &b->maps[0], b->columns)
CALL(bitmap_accumulate, b->acc, b->maps, 1, b->in, 64, MAPS)
CALL(bitmap_finish, vec(b, 0), b->acc)
CALL(bitmap_sum, vec(b, 0), b->maps, b->in, 64, MAPS)
CALL(bits_transpose8, b->out, 64, b->in, 64)
CALL(sliced_linear, b->out, b->in)
CALL(sliced_chi, b->out, b->in, 3)
CALL(grid_chi, b->out, 64 * GRID_ROWS, b->in, 64 * 8,
     &(const grid_shape){.inner = GRID_INNER, .linear = 1, .picks = 2, .pick = {0, 64 * 40}})

/* name: the member's, and after a space which use of it this is. */
static const struct {
    const char *name, *unit;
    unsigned units; /* that one call does */
    void (*call)(const sheaf_kernels *k, buffers *b);
} kernel_rows[] = {
    {"keccak_f1600_x8", "permutation", 8, call_keccak_f1600_x8},
    {"keccak_digest_x8", "permutation", 8, call_keccak_digest_x8},
    {"keccak_f1600", "permutation", 1, call_keccak_f1600},
    {"gf192_mul", "product", 1, call_gf192_mul},
    {"gf192_mul_k", "product", 1, call_gf192_mul_k},
    {"ntt_butterfly", "butterfly", N, call_ntt_butterfly},
    {"ntt_butterfly4", "butterfly", 4 * N, call_ntt_butterfly4},
    {"ntt_tail8", "butterfly", 3 * N / 2, call_ntt_tail8},
    {"ntt_rows", "butterfly", 2 * N, call_ntt_rows},
    {"ntt_block", "butterfly", 5 * N, call_ntt_block},
    {"evec_mul", "product", N, call_evec_mul},
    {"evec_mul (64)", "product", SHORT, call_evec_mul_short},
    {"evec_mul_add", "product", N, call_evec_mul_add},
    {"evec_mul_plus", "product", N, call_evec_mul_plus},
    {"evec_scale", "product", N, call_evec_scale},
    {"evec_scale_add", "product", N, call_evec_scale_add},
    {"evec_scale_add (64)", "product", SHORT, call_evec_scale_add_short},
    {"evec_scale_add_k", "product", N, call_evec_scale_add_k},
    {"evec_fold", "fold", N, call_evec_fold},
    {"evec_fold4", "fold of 4", N, call_evec_fold4},
    {"evec_fold_k", "fold", N, call_evec_fold_k},
    {"evec_dot", "term", N, call_evec_dot},
    {"evec_dot (64)", "term", SHORT, call_evec_dot_short},
    {"evec_dot_k", "term", N, call_evec_dot_k},
    {"evec_dot3", "pair", N, call_evec_dot3},
    {"evec_dot3_k", "pair", N, call_evec_dot3_k},
    {"evec_dot2", "pair", N, call_evec_dot2},
    {"evec_dot8", "four pairs", N, call_evec_dot8},
    {"bitmap_prepare", "map", 1, call_bitmap_prepare},
    {"bitmap_accumulate", "byte", 64 * MAPS, call_bitmap_accumulate},
    {"bitmap_finish", "element", 64, call_bitmap_finish},
    {"bitmap_sum", "byte", 64 * MAPS, call_bitmap_sum},
    {"bits_transpose8", "8x8 bits", 64, call_bits_transpose8},
    {"sliced_linear", "state", 8, call_sliced_linear},
    {"sliced_chi", "state", 8, call_sliced_chi},
    {"grid_chi", "row", 5 * GRID_ROWS, call_grid_chi},
};
enum { ROWS = sizeof kernel_rows / sizeof kernel_rows[0] };

/* ---- measuring ---- */

typedef struct back_end {
    const sheaf_kernels *k;
    size_t calls;               /* of a span */
    double nanoseconds, cycles; /* an element: the least of the spans */
} back_end;

/* Those up to the one in use, which SHEAF_ISA may cap; portable first. */
static size_t back_ends(back_end list[SHEAF_ISA_COUNT_]) {
    size_t n = 0;
    for (int i = SHEAF_ISA_PORTABLE; i <= (int)kernels_isa(); i++) {
        const sheaf_kernels *k = kernels_for((sheaf_isa)i);
        if (k != NULL)
            list[n++].k = k;
    }
    return n;
}

static void fill(buffers *b) {
    for (size_t i = 0; i < 3 * N * VECTORS; i++)
        b->words[i] = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
    for (size_t i = 0; i < 200; i++)
        b->states[i] = b->words[i];
    for (size_t i = 0; i < 3; i++)
        b->sum[i] = constant;
    for (size_t i = 0; i < 8; i++)
        b->columns[i] = evec_get(vec(b, 0), i);
    for (size_t i = 0; i < sizeof b->in; i++)
        b->in[i] = (uint8_t)(b->words[i] >> 40);
}

/* What a back end keeps in a layout of its own. */
static void prepare(buffers *b, const sheaf_kernels *k) {
    for (size_t i = 0; i < MAPS; i++)
        k->bitmap_prepare(&b->maps[i], b->columns);
    memset(b->acc, 0, sizeof b->acc);
}

/* Seconds of that many calls; *cycles of the time-stamp counter. */
static double span(buffers *b, const sheaf_kernels *k, size_t i, size_t calls, double *cycles) {
    prepare(b, k);
    double begin = stage_seconds();
    uint64_t count = stage_cycles();
    for (size_t n = 0; n < calls; n++)
        kernel_rows[i].call(k, b);
    *cycles = (double)(stage_cycles() - count);
    return stage_seconds() - begin;
}

/* The back ends in turn, so that what else the machine does falls on all of them. */
static void measure(back_end *list, size_t n, buffers *b, size_t i) {
    static const double enough = 0.004;
    enum { SPANS = 9 };
    double cycles;
    for (size_t e = 0; e < n; e++) {
        list[e].calls = 1;
        while (span(b, list[e].k, i, list[e].calls, &cycles) < enough)
            list[e].calls *= 2;
    }
    for (int s = 0; s < SPANS; s++)
        for (size_t e = 0; e < n; e++) {
            double seconds = span(b, list[e].k, i, list[e].calls, &cycles);
            double units = (double)list[e].calls * kernel_rows[i].units;
            if (s > 0 && 1e9 * seconds / units >= list[e].nanoseconds)
                continue;
            list[e].nanoseconds = 1e9 * seconds / units;
            list[e].cycles = cycles / units;
        }
}

/* ---- what is said ---- */

static double ratio(const back_end *list, size_t e) {
    return list[e].nanoseconds > 0 ? list[0].nanoseconds / list[e].nanoseconds : 0;
}

static void heading(text *t, const cli *c, const back_end *list, size_t n) {
    if (c->json) {
        text_add(t, "{\n  \"bench\": \"kernels\",\n  \"isa\": ");
        text_json_string(t, sheaf_isa_name());
        text_add(t, ",\n  \"kernels\": [");
        return;
    }
    text_add(t,
             "%s, one thread, data in the cache; time-stamp cycles an element, and how many times\n"
             "as fast as portable C\n\n%-22s %-12s",
             sheaf_isa_name(), "kernel", "element");
    for (size_t e = 0; e < n; e++)
        text_add(t, e > 0 ? " %12s %8s" : " %12s", list[e].k->name, "");
    text_add(t, "\n");
}

static void row_json(text *t, const back_end *list, size_t n, size_t i, int first) {
    text_add(t, "%s\n    {\"name\": \"%s\", \"unit\": \"%s\", \"nanoseconds\": %.3f, \"cycles\": %.3f, ",
             first ? "" : ",", kernel_rows[i].name, kernel_rows[i].unit, list[n - 1].nanoseconds,
             list[n - 1].cycles);
    text_add(t, "\"ratio\": %.3f, \"back_ends\": [", ratio(list, n - 1));
    for (size_t e = 0; e < n; e++)
        text_add(t, "%s{\"name\": \"%s\", \"nanoseconds\": %.3f, \"cycles\": %.3f, \"ratio\": %.3f}",
                 e > 0 ? ", " : "", list[e].k->name, list[e].nanoseconds, list[e].cycles, ratio(list, e));
    text_add(t, "]}");
}

static void row_text(text *t, const back_end *list, size_t n, size_t i) {
    text_add(t, "%-22s %-12s", kernel_rows[i].name, kernel_rows[i].unit);
    for (size_t e = 0; e < n; e++) {
        text_add(t, " %12.2f", list[e].cycles > 0 ? list[e].cycles : list[e].nanoseconds);
        if (e > 0)
            text_add(t, " %7.2fx", ratio(list, e));
    }
    text_add(t, "\n");
}

/* Whether a row is of this member; any row where none is asked for. */
static int row_is(size_t i, const char *member) {
    const size_t len = strcspn(kernel_rows[i].name, " ");
    return member == NULL || (strlen(member) == len && strncmp(member, kernel_rows[i].name, len) == 0);
}

static int measure_all(const cli *c, const char *member, buffers *b) {
    back_end list[SHEAF_ISA_COUNT_] = {{NULL, 0, 0, 0}};
    const size_t n = back_ends(list);
    text t = {0};
    size_t shown = 0;
    heading(&t, c, list, n);
    for (size_t i = 0; i < ROWS; i++) {
        if (!row_is(i, member))
            continue;
        fill(b);
        measure(list, n, b, i);
        if (c->json)
            row_json(&t, list, n, i, shown == 0);
        else
            row_text(&t, list, n, i);
        shown++;
    }
    if (c->json)
        text_add(&t, "\n  ]\n}\n");
    return text_write(c, &t, "-");
}

static int run_bench_kernels(cli *c, int argc, char **argv) {
    const char *member = NULL;
    const arg_spec specs[] = {{"kernel", 0, ARG_TEXT, &member, NULL, 0, 0}};
    char **files;
    int n_files;
    if (args_parse(c, argc, argv, specs, 1, &files, &n_files) != 0)
        return CLI_ERROR;
    if (c->help)
        return CLI_OK;
    if (n_files > 0)
        return cli_error(c, files[0], NULL, "an argument that is not expected");
    size_t known = 0;
    for (size_t i = 0; i < ROWS; i++)
        known += (size_t)row_is(i, member);
    if (known == 0)
        return cli_error(c, NULL, "--kernel", "%s is no kernel", member);
    buffers *b = mem_alloc(NULL, sizeof *b);
    uint64_t *words = mem_alloc(NULL, 3 * N * VECTORS * sizeof *words);
    int code;
    if (b != NULL && words != NULL) {
        b->words = words;
        code = measure_all(c, member, b);
    } else {
        code = cli_error(c, NULL, NULL, "out of memory");
    }
    mem_free(NULL, words);
    mem_free(NULL, b);
    return code;
}

const verb verb_bench_kernels = {
    "bench kernels", "measure the innermost operations", run_bench_kernels,
    "Usage: sheaf bench kernels [--kernel NAME] [--json]\n"
    "\n"
    "Measures the innermost operations of each back end that the machine has beside portable C, on one "
    "thread, "
    "with data in\n"
    "the cache: the least of some spans that take turns. SHEAF_ISA caps the back ends, as everywhere.\n"
    "\n"
    "  --kernel NAME       this one alone\n"
    "\n"
    "Examples:\n"
    "  sheaf bench kernels\n"
    "  sheaf bench kernels --kernel evec_fold\n"
    "  SHEAF_ISA=portable sheaf bench kernels --json\n"};
