/* Judges envelopes by the public interface, each in a process of its own, so that a verifier that was damaged
 * on purpose may crash. tools/check-checks.sh builds it.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     judge FOLDER
 *
 * reads the manifest that test_leaf_lies --write has left there and prints a line a file: its name, status,
 * check, index, message; or its name and `crashed`. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sheaf_verify.h"

static uint32_t load32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint8_t *read_file(const char *folder, const char *name, size_t *len) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    size_t cap = 1 << 16;
    uint8_t *bytes = malloc(cap);
    *len = 0;
    for (size_t n; bytes != NULL && (n = fread(bytes + *len, 1, cap - *len, f)) > 0;) {
        *len += n;
        if (*len == cap) {
            uint8_t *larger = realloc(bytes, cap *= 2);
            if (larger == NULL)
                free(bytes);
            bytes = larger;
        }
    }
    fclose(f);
    return bytes;
}

static int judge(const char *folder, const char *name, int aggregate, const char *expected_name) {
    size_t len, expected_len;
    uint32_t epoch;
    sheaf_expected expected = {0};
    sheaf_failure f = {0};
    uint8_t *bytes = read_file(folder, name, &len), *e = NULL;
    if (bytes == NULL)
        return 1;
    if (strcmp(expected_name, "missing") == 0) {
        expected.n_items = 1;
    } else if (strcmp(expected_name, "-") != 0) {
        e = read_file(folder, expected_name, &expected_len);
        if (e == NULL)
            return 1;
        epoch = load32(e + 16);
        if (aggregate)
            expected.epoch = &epoch, expected.message = e + 24;
        expected.n_items = load32(e + 12);
        expected.items = e + 56;
    }
    const sheaf_status status = (aggregate ? sheaf_verify_aggregate : sheaf_verify_hash_batch)(
        bytes, len, expected.n_items > 0 ? &expected : NULL, &f);
    printf("%s\t%d\t%s\t%llu\t%s\n", name, (int)status, sheaf_check_name(f.check),
           (unsigned long long)f.index, f.message);
    free(bytes);
    free(e);
    return fflush(stdout) != 0;
}

int main(int argc, char **argv) {
    char path[4096], line[512], name[128], kind[16], expected[128];
    if (argc != 2)
        return 2;
    snprintf(path, sizeof path, "%s/manifest.tsv", argv[1]);
    FILE *manifest = fopen(path, "r");
    if (manifest == NULL)
        return 2;
    while (fgets(line, sizeof line, manifest) != NULL) {
        if (sscanf(line, "%127[^\t]\t%15[^\t]\t%127[^\t]", name, kind, expected) != 3)
            return 2;
        int status;
        const pid_t child = fork();
        if (child < 0)
            return 2;
        if (child == 0)
            _exit(judge(argv[1], name, strcmp(kind, "aggregate") == 0, expected));
        if (waitpid(child, &status, 0) != child)
            return 2;
        if (!WIFEXITED(status))
            printf("%s\tcrashed\n", name);
        else if (WEXITSTATUS(status) != 0)
            return 2;
        fflush(stdout);
    }
    fclose(manifest);
    return 0;
}
