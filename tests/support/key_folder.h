/* A folder of its own for the key files of one test, and their bytes.  SPDX-License-Identifier: MIT OR
 * Apache-2.0
 *
 * The including file includes base/posix.h before anything else. */
#ifndef SHEAF_TESTS_KEY_FOLDER_H
#define SHEAF_TESTS_KEY_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include "t.h"
#include "sig/keyfile.h"

enum { KEY_FILE_HEADER = 88, JOURNAL_HEADER_BYTES = 88, JOURNAL_RECORD_BYTES = 72 };

/* Epochs 64 to 71 of this seed, and for each two messages (first byte, the rest zero) for which few trials
 * suffice, so that the tests are quick. */
enum { TEST_FIRST = 64, TEST_LOG_COUNT = 3 };
static T_UNUSED_ const uint8_t test_key_seed[32] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                                    12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                                    23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
static T_UNUSED_ const uint8_t test_messages[8][2] = {{5, 36},  {47, 75}, {57, 133}, {4, 24},
                                                      {17, 38}, {1, 30},  {7, 23},   {11, 10}};

static T_UNUSED_ void test_message(uint8_t message[32], uint32_t epoch, unsigned which) {
    memset(message, 0, 32);
    message[0] = test_messages[epoch - TEST_FIRST][which];
}

typedef struct key_folder {
    char path[256];
    char key[300], journal[300], lock[300], unfinished[300];
} key_folder;

static T_UNUSED_ int key_folder_make(key_folder *d) {
    const char *tmp = getenv("TMPDIR");
    snprintf(d->path, sizeof d->path, "%.200s/sheaf-test-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
    if (mkdtemp(d->path) == NULL)
        return -1;
    snprintf(d->key, sizeof d->key, "%s/a.key", d->path);
    snprintf(d->journal, sizeof d->journal, "%s/a.key.journal", d->path);
    snprintf(d->lock, sizeof d->lock, "%s/a.key.lock", d->path);
    snprintf(d->unfinished, sizeof d->unfinished, "%s/a.key.unfinished", d->path);
    return 0;
}

/* Removes the files in the folder; returns how many there were. */
static T_UNUSED_ int key_folder_empty(const key_folder *d) {
    int n = 0;
    DIR *dir = opendir(d->path);
    if (dir == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[600];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", d->path, entry->d_name);
        if (unlink(path) == 0)
            n++;
    }
    closedir(dir);
    return n;
}

static T_UNUSED_ void key_folder_remove(const key_folder *d) {
    key_folder_empty(d);
    rmdir(d->path);
}

static T_UNUSED_ int there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

/* A whole small file; -1 where it is not there or longer than most. */
static T_UNUSED_ long file_get(const char *path, void *out, size_t most) {
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return -1;
    size_t n = fread(out, 1, most, f);
    int more = fgetc(f) != EOF;
    fclose(f);
    return more ? -1 : (long)n;
}

static T_UNUSED_ int file_put(const char *path, const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return -1;
    size_t written = fwrite(data, 1, n, f);
    return fclose(f) == 0 && written == n ? 0 : -1;
}

/* The key of test_key_seed, in the folder. */
static T_UNUSED_ sheaf_status test_key_create(const key_folder *d, sheaf_failure *f) {
    uint8_t public_key[32];
    return keyfile_create(public_key, d->key, NULL, test_key_seed, TEST_FIRST, TEST_LOG_COUNT, f);
}

/* Opens the folder's key and signs with it. */
static T_UNUSED_ sheaf_status test_key_sign(const key_folder *d, uint8_t signature[LEANXMSS_SIGNATURE_BYTES],
                                            keyfile_note *note, uint32_t epoch, unsigned which,
                                            sheaf_failure *f) {
    keyfile *k;
    uint8_t message[32];
    test_message(message, epoch, which);
    sheaf_status status = keyfile_open(&k, d->key, NULL, f);
    if (status != SHEAF_OK)
        return status;
    status = keyfile_sign(signature, note, k, epoch, message, f);
    keyfile_close(k);
    return status;
}

#endif
