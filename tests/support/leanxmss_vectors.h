/* Reads tests/vectors/leanxmss.json: five keys and signatures made by an independent model.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_TESTS_LEANXMSS_VECTORS_H
#define SHEAF_TESTS_LEANXMSS_VECTORS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sig/leanxmss.h"

enum { LEANXMSS_VECTORS = 5 };

typedef struct leanxmss_vector {
    uint8_t seed[32], message[32], public_key[32], randomizer[24], signature[LEANXMSS_SIGNATURE_BYTES];
    uint32_t first, epoch, trials;
    uint64_t count;
} leanxmss_vector;

/* The text after "name": from *at on, which moves past it; NULL where there is none. */
static const char *vector_field_(const char **at, const char *name) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *p = strstr(*at, quoted);
    if (p == NULL)
        return NULL;
    p += strlen(quoted);
    p += strspn(p, " \n[");
    *at = p;
    return p;
}

static int vector_hex_(uint8_t *out, size_t n, const char **at, const char *name) {
    const char *p = vector_field_(at, name);
    if (p == NULL || *p++ != '"')
        return -1;
    for (size_t i = 0; i < n; i++) {
        unsigned byte = 0;
        for (int k = 0; k < 2; k++) {
            const char *digits = "0123456789abcdef", *d = *p != '\0' ? strchr(digits, *p++) : NULL;
            if (d == NULL)
                return -1;
            byte = byte << 4 | (unsigned)(d - digits);
        }
        out[i] = (uint8_t)byte;
    }
    return *p == '"' ? 0 : -1;
}

static int vector_number_(uint64_t *out, const char **at, const char *name) {
    const char *p = name != NULL ? vector_field_(at, name) : *at;
    if (p == NULL)
        return -1;
    p += strspn(p, " \n,");
    char *end = NULL;
    *out = strtoull(p, &end, 10);
    *at = end;
    return end == p ? -1 : 0;
}

static int vector_one_(leanxmss_vector *v, const char **at) {
    uint64_t first = 0, epoch = 0, trials = 0;
    int bad = vector_hex_(v->seed, 32, at, "seed");
    bad = bad || vector_number_(&first, at, "interval") || vector_number_(&v->count, at, NULL);
    bad = bad || vector_number_(&epoch, at, "epoch") || vector_hex_(v->message, 32, at, "message");
    bad = bad || vector_hex_(v->public_key, 32, at, "publicKey") || vector_number_(&trials, at, "trials");
    bad = bad || vector_hex_(v->randomizer, 24, at, "randomizer");
    bad = bad || vector_hex_(v->signature, sizeof v->signature, at, "signature");
    v->first = (uint32_t)first;
    v->epoch = (uint32_t)epoch;
    v->trials = (uint32_t)trials;
    return bad ? -1 : 0;
}

/* 0, or -1 where the file cannot be read. */
static int leanxmss_vectors_load(leanxmss_vector v[LEANXMSS_VECTORS]) {
    static char text[1 << 15];
    const char *path = SHEAF_SOURCE_DIR "/tests/vectors/leanxmss.json";
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return -1;
    size_t len = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[len] = '\0';
    const char *at = text;
    for (size_t i = 0; i < LEANXMSS_VECTORS; i++)
        if (vector_one_(&v[i], &at) != 0)
            return -1;
    return 0;
}

#endif
