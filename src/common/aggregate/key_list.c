/* Lists of 32-byte keys: no key twice, and equality as sets.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Keys are sorted by references: a merge sort, so that no choice of keys makes it slow, and a stable one, so
 * that of equal keys the earlier comes first. */
#include "aggregate.h"

typedef struct key_ref {
    uint64_t prefix; /* the key's first eight bytes, which nearly always decide */
    uint32_t index;
} key_ref;

static int key_order(const uint8_t *keys_a, const key_ref *a, const uint8_t *keys_b, const key_ref *b) {
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return memcmp(keys_a + 32 * (size_t)a->index, keys_b + 32 * (size_t)b->index, 32);
}

static void merge_runs(key_ref *out, const key_ref *in, size_t mid, size_t n, const uint8_t *keys) {
    size_t i = 0, j = mid;
    for (size_t k = 0; k < n; k++) {
        int left = i < mid && (j >= n || key_order(keys, &in[i], keys, &in[j]) <= 0);
        out[k] = left ? in[i++] : in[j++];
    }
}

/* The sorted references of n keys, or NULL when out of memory. n >= 1. */
static key_ref *key_list_sorted(const uint8_t *keys, size_t n) {
    key_ref *a = mem_alloc(NULL, n * sizeof *a), *b = mem_alloc(NULL, n * sizeof *b);
    if (a == NULL || b == NULL) {
        mem_free(NULL, a);
        mem_free(NULL, b);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        a[i] = (key_ref){load64_le(keys + 32 * i), (uint32_t)i};
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run) {
            size_t len = n - at < 2 * run ? n - at : 2 * run;
            merge_runs(b + at, a + at, len < run ? len : run, len, keys);
        }
        key_ref *t = a;
        a = b;
        b = t;
    }
    mem_free(NULL, b);
    return a;
}

/* The pair of equal keys whose later index is smallest; 0 where there is none. */
static int find_duplicate(const key_ref *sorted, const uint8_t *keys, size_t n, uint32_t *earlier,
                          uint32_t *later) {
    int found = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        if (key_order(keys, &sorted[i], keys, &sorted[i + 1]) != 0 || (found && sorted[i + 1].index > *later))
            continue;
        found = 1;
        *earlier = sorted[i].index;
        *later = sorted[i + 1].index;
    }
    return found;
}

static sheaf_status out_of_memory(sheaf_failure *f) {
    failure_set(f, SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "out of memory while comparing keys");
    return SHEAF_OUT_OF_MEMORY;
}

sheaf_status key_list_check_distinct(const uint8_t *keys, size_t n, sheaf_failure *f) {
    if (n < 2)
        return SHEAF_OK;
    key_ref *sorted = key_list_sorted(keys, n);
    if (sorted == NULL)
        return out_of_memory(f);
    uint32_t earlier = 0, later = 0;
    int found = find_duplicate(sorted, keys, n, &earlier, &later);
    mem_free(NULL, sorted);
    if (!found)
        return SHEAF_OK;
    failure_set(f, SHEAF_DUPLICATE_KEY, SHEAF_CHECK_NONE, later, "public keys %lu and %lu are the same",
                (unsigned long)earlier, (unsigned long)later);
    return SHEAF_DUPLICATE_KEY;
}

static sheaf_status compare_sorted(const uint8_t *keys, const key_ref *a, const uint8_t *expected,
                                   const key_ref *b, size_t n, sheaf_failure *f) {
    for (size_t i = 0; i < n; i++) {
        int order = key_order(keys, &a[i], expected, &b[i]);
        if (order == 0)
            continue;
        if (order < 0)
            failure_set(f, SHEAF_REJECTED, SHEAF_CHECK_STATEMENT, a[i].index,
                        "the proof's key %lu is not among the expected keys", (unsigned long)a[i].index);
        else
            failure_set(f, SHEAF_REJECTED, SHEAF_CHECK_STATEMENT, b[i].index,
                        "the expected key %lu is not among the proof's keys", (unsigned long)b[i].index);
        return SHEAF_REJECTED;
    }
    return SHEAF_OK;
}

sheaf_status key_list_check_same_set(const uint8_t *keys, size_t n, const uint8_t *expected,
                                     size_t n_expected, sheaf_failure *f) {
    if (n != n_expected) {
        failure_set(f, SHEAF_REJECTED, SHEAF_CHECK_STATEMENT, 0,
                    "the proof covers %zu keys, %zu were expected", n, n_expected);
        return SHEAF_REJECTED;
    }
    key_ref *a = key_list_sorted(keys, n), *b = key_list_sorted(expected, n);
    sheaf_status status;
    uint32_t earlier = 0, later = 0;
    if (a == NULL || b == NULL) {
        status = out_of_memory(f);
    } else if (find_duplicate(b, expected, n, &earlier, &later)) {
        failure_set(f, SHEAF_INVALID_ARGUMENT, SHEAF_CHECK_NONE, later,
                    "the expected keys %lu and %lu are the same", (unsigned long)earlier,
                    (unsigned long)later);
        status = SHEAF_INVALID_ARGUMENT;
    } else {
        status = compare_sorted(keys, a, expected, b, n, f);
    }
    mem_free(NULL, a);
    mem_free(NULL, b);
    return status;
}
