/* Key files on disk: a key that can sign no epoch twice.   docs/leanxmss.md 6, 7.   SPDX-License-Identifier:
 * MIT OR Apache-2.0
 *
 * Beside NAME, written once and never again, lie NAME.journal, which says what each epoch signed, and, while
 * a process signs, NAME.lock. A signature is returned only when its record is in the journal and on the disk.
 */
#ifndef SHEAF_KEYFILE_H
#define SHEAF_KEYFILE_H

#include "leanxmss.h"

typedef struct keyfile keyfile;

/* The interval of epochs start..start+count-1 as a key has it. Where it is not aligned (count a power of two,
 * start a multiple of it) or runs past the last epoch: SHEAF_EPOCH_RANGE, and f names the nearest intervals
 * that are. */
SHEAF_MUST_CHECK sheaf_status keyfile_interval(uint32_t *first, unsigned *log_count, uint64_t start,
                                               uint64_t count, sheaf_failure *f);

/* Makes a key and writes it and its empty journal. seed NULL: from the system's randomness. An existing file
 * is never overwritten (SHEAF_IO), nor is a journal with records. Progress, cancellation, threads and memory
 * are e's; e may be NULL. */
SHEAF_MUST_CHECK sheaf_status keyfile_create(uint8_t public_key[LEANXMSS_PUBLIC_KEY_BYTES], const char *path,
                                             env *e, const uint8_t *seed, uint32_t first, unsigned log_count,
                                             sheaf_failure *f);

/* Reads a key; it takes no lock. m may be NULL and outlives the key. Symbolic links are resolved, so that one
 * key has one journal. */
SHEAF_MUST_CHECK sheaf_status keyfile_open(keyfile **k, const char *path, mem *m, sheaf_failure *f);
void keyfile_close(keyfile *k); /* wipes; NULL is fine */

const uint8_t *keyfile_public_key(const keyfile *k);
uint32_t keyfile_first(const keyfile *k);
uint64_t keyfile_count(const keyfile *k);

/* What a caller may want to say about a signature that was made. */
typedef struct keyfile_note {
    uint32_t trials;  /* randomizers tried before the valid one */
    int repeated;     /* the journal had this epoch and message already: it is the same signature again */
    char notice[192]; /* what was found and put right (a stale lock, a torn record), one line; "" where
                         nothing was */
} keyfile_note;

/* Signs. SHEAF_EPOCH_USED where the epoch has signed another message, SHEAF_LOCKED where another process is
 * signing (f names it), SHEAF_EPOCH_RANGE, SHEAF_IO, SHEAF_MALFORMED (a damaged journal: f names file and
 * record). note may be NULL. On any error the signature is zeroed and no signature has left. */
SHEAF_MUST_CHECK sheaf_status keyfile_sign(uint8_t signature[LEANXMSS_SIGNATURE_BYTES], keyfile_note *note,
                                           const keyfile *k, uint32_t epoch, const uint8_t message[32],
                                           sheaf_failure *f);

/* Whether the file has what begins a key or a journal, so that nothing may take its place: 1 or 0; -1 where
 * it cannot be read. 0 where there is no file. */
int keyfile_is_secret(const char *path);

typedef struct keyfile_range {
    uint32_t first, last; /* both belong to it */
} keyfile_range;

/* What the journal says. Ranges are of epochs that can sign no new message, ascending, none touching the
 * next. */
typedef struct keyfile_usage {
    uint32_t first;
    uint64_t count, used, left; /* used + left = count; used counts the withdrawn */
    uint64_t withdrawn;         /* epochs that a torn record took from use without a signature */
    int torn; /* the journal ends in a torn record, which the next signature will put right */
    size_t n_ranges;
    keyfile_range *ranges; /* NULL where n_ranges is 0 */
} keyfile_usage;

SHEAF_MUST_CHECK sheaf_status keyfile_usage_read(keyfile_usage *u, const keyfile *k, sheaf_failure *f);
void keyfile_usage_free(keyfile_usage *u, const keyfile *k);

#ifdef SHEAF_TEST_HOOKS
/* Called before every step that touches a file, and once after the last of an operation. It may end the
 * process; a non-zero return makes the step fail. */
extern int (*keyfile_test_hook)(const char *step);
#endif

#endif
