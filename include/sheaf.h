/* Sheaf: one small proof that many hash-based signatures verify.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * This is the whole public C API: what sheaf_verify.h has, and the proving side. A program that only verifies includes
 * sheaf_verify.h and links libsheaf_verify, which has no prover, no threads and no files.
 *
 *     sheaf_context *ctx;
 *     sheaf_failure why;
 *     if (sheaf_context_create(&ctx, NULL) == SHEAF_OK) {
 *         uint8_t *envelope;
 *         size_t len;
 *         if (sheaf_aggregate(ctx, &envelope, &len, epoch, message, entries, n, &why) == SHEAF_OK) {
 *             ... len bytes, the .sheaf format of docs/protocol.md 10.1 ...
 *             sheaf_free(ctx, envelope);
 *         }
 *         sheaf_context_destroy(ctx);
 *     }
 *
 * Conventions: outputs come first, lengths in bytes unless a name says otherwise; f may be NULL everywhere; on any error the
 * outputs are NULL or zero and *f says what was wrong. A context is used by one thread at a time; different contexts are
 * independent. No function writes to a terminal or ends the process. */
#ifndef SHEAF_H
#define SHEAF_H

#include "sheaf_verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- contexts: threads, memory, progress ---- */

typedef struct sheaf_context sheaf_context;

/* A zeroed struct asks for the defaults. A context takes the memory of a proof at once, before it begins, and keeps it for the next
 * one, until it is destroyed or a larger proof asks for more; what comes from an allocator of the caller's goes back at once. */
typedef struct sheaf_options {
    unsigned threads;      /* workers; 0: as many as the machine has. Proofs are the same bytes for every number */
    unsigned log_inv_rate; /* R of the first commitment, 1..6: larger gives smaller proofs and takes longer; 0: the shape's default */

    /* Memory: both or none; none is the C library's. alloc returns at least `bytes` bytes, or NULL; it and free are called from
     * several threads at once. Verification, and small tables of a proof's circuit (under 100 KB), keep to the C library's. */
    void *(*alloc)(void *alloc_ctx, size_t bytes);
    void (*free)(void *alloc_ctx, void *p);
    void *alloc_ctx;

    /* Progress: called on the caller's own thread, now and then, with the fraction (0..1) of the whole call's work that is done
     * and the stage's name. A non-zero return cancels: the call then undoes what it did and returns SHEAF_CANCELLED. It calls nothing of the
     * same context. */
    int (*progress)(void *progress_ctx, double fraction, const char *stage);
    void *progress_ctx;
} sheaf_options;

/* options may be NULL. Errors: SHEAF_INVALID_ARGUMENT (log_inv_rate over 6, threads over 1024, one allocator hook without the
 * other), SHEAF_OUT_OF_MEMORY (also where threads cannot be started). */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_context_create(sheaf_context **ctx, const sheaf_options *options);
SHEAF_API void sheaf_context_destroy(sheaf_context *ctx); /* NULL is fine; outputs must be freed before */
/* Frees an output of a call with this context. NULL is fine. */
SHEAF_API void sheaf_free(sheaf_context *ctx, void *p);
/* The most bytes that the context's calls held at once so far, outputs included. */
SHEAF_API size_t sheaf_peak_bytes(const sheaf_context *ctx);
/* The bytes that proving n signatures (kind SHEAF_KIND_LEANXMSS) or messages (SHEAF_KIND_HASH) with this context will hold at
 * once, within a tenth of what sheaf_peak_bytes says afterwards (the smallest proofs: within 64 KiB); what the caller holds is
 * not counted. Nearly all of it is written to, so what a machine does not have should not be begun.
 * 0: no such proof can be made (n or the kind out of range, no parameters). UINT64_MAX: out of memory for finding out. */
SHEAF_API uint64_t sheaf_prove_bytes(const sheaf_context *ctx, unsigned kind, size_t n);
/* The vector instructions in use, e.g. "avx2 (vpclmulqdq)"; capped by the environment variable SHEAF_ISA
 * (portable, avx2, avx512, neon). Static text. */
SHEAF_API const char *sheaf_isa_name(void);

/* ---- aggregating signatures ---- */

typedef struct sheaf_entry { /* 1240 bytes without padding, as in the compact signature file (docs/protocol.md 10.4) */
    uint8_t public_key[SHEAF_KEY_BYTES];
    uint8_t signature[SHEAF_SIGNATURE_BYTES];
} sheaf_entry;

/* Proves that n signatures of (epoch, message) verify, n in 1..SHEAF_MAX_SIGNERS. *envelope has *len bytes; free it with
 * sheaf_free. The list in the envelope has the entries' order. Every signature is verified first.
 * Errors: SHEAF_INVALID_ARGUMENT (n out of range); SHEAF_DUPLICATE_KEY (f->index: the later of the two entries);
 * SHEAF_BAD_SIGNATURE (f->index: the first entry whose signature does not verify, f->message names more);
 * SHEAF_UNSUPPORTED (no parameters for this n and log_inv_rate); SHEAF_CANCELLED; SHEAF_OUT_OF_MEMORY. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_aggregate(sheaf_context *ctx, uint8_t **envelope, size_t *len, uint32_t epoch,
                                                        const uint8_t message[SHEAF_MESSAGE_BYTES], const sheaf_entry *entries,
                                                        size_t n, sheaf_failure *f);

/* ---- hash batches ---- */

#define SHEAF_PREIMAGE_BYTES 128

/* Proves that messages with the SHAKE256 digests of these n secret messages are known, n in 1..SHEAF_MAX_HASHES. preimages: n
 * times SHEAF_PREIMAGE_BYTES bytes. The digests are in the envelope; the messages are not, but the proof is not zero knowledge
 * (SECURITY.md). Errors: as for sheaf_aggregate, without those of keys and signatures. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_prove_hash_batch(sheaf_context *ctx, uint8_t **envelope, size_t *len,
                                                               const uint8_t *preimages, size_t n, sheaf_failure *f);

/* ---- signing keys: leanXMSS, stateful ---- */

/* A key file holds the secret; beside it lie FILE.journal, which says what each epoch signed, and, while a process signs,
 * FILE.lock. A signature is returned only when its record has reached the disk. Restoring an old copy of the journal makes it
 * possible to sign an epoch twice, which gives the key away: never do it. */
typedef struct sheaf_key sheaf_key;

/* Makes a key for the epochs start .. start+count-1 and writes it and its empty journal; an existing file is never overwritten.
 * The time and the memory grow with count. seed: 32 bytes, for reproducible examples only; NULL: from the system's randomness.
 * Errors: SHEAF_EPOCH_RANGE (count is not a power of two or start no multiple of it; f->message names the nearest intervals that
 * are), SHEAF_LOCKED (another process uses the path), SHEAF_IO, SHEAF_CANCELLED, SHEAF_OUT_OF_MEMORY. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_key_create(sheaf_context *ctx, uint8_t public_key[SHEAF_KEY_BYTES],
                                                         const char *path, uint64_t start, uint64_t count, const uint8_t *seed,
                                                         sheaf_failure *f);
/* Reads a key; the context outlives it. Errors: SHEAF_IO, SHEAF_MALFORMED, SHEAF_UNSUPPORTED (a version or
 * scheme that this build does not know), SHEAF_OUT_OF_MEMORY. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_key_open(sheaf_context *ctx, sheaf_key **key, const char *path, sheaf_failure *f);
SHEAF_API void sheaf_key_close(sheaf_key *key); /* wipes the secret; NULL is fine */

SHEAF_API void sheaf_key_public(const sheaf_key *key, uint8_t public_key[SHEAF_KEY_BYTES]);
SHEAF_API uint32_t sheaf_key_first_epoch(const sheaf_key *key);
SHEAF_API uint64_t sheaf_key_epoch_count(const sheaf_key *key);

/* Signs a 32-byte message for an epoch. The same message again gives the same signature.
 * Errors: SHEAF_EPOCH_USED (the epoch has signed another message), SHEAF_EPOCH_RANGE (not one of the key's epochs), SHEAF_LOCKED
 * (another process is signing), SHEAF_IO, SHEAF_MALFORMED (a damaged journal), SHEAF_UNSUPPORTED (a journal of an unknown
 * version). On an error no signature has left. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_key_sign(const sheaf_key *key, uint8_t signature[SHEAF_SIGNATURE_BYTES],
                                                       uint32_t epoch, const uint8_t message[SHEAF_MESSAGE_BYTES],
                                                       sheaf_failure *f);
/* Epochs that can sign no new message, and those that can. Errors: SHEAF_IO, SHEAF_MALFORMED, SHEAF_UNSUPPORTED,
 * SHEAF_OUT_OF_MEMORY. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_key_usage(const sheaf_key *key, uint64_t *used, uint64_t *left, sheaf_failure *f);

#ifdef __cplusplus
}
#endif
#endif
