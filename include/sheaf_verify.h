/* Sheaf: the verifier-only subset of the public C API.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Everything here is provided by libsheaf_verify (and by libsheaf).  No function here starts a thread, reads a
 * file, or allocates more than a fixed multiple of the bytes that it is given. */
#ifndef SHEAF_VERIFY_H
#define SHEAF_VERIFY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SHEAF_MUST_CHECK __attribute__((warn_unused_result))
#define SHEAF_API __attribute__((visibility("default"))) /* everything else in the library is local */
#else
#define SHEAF_MUST_CHECK
#define SHEAF_API
#endif

#define SHEAF_VERSION_STRING "0.1.0"

/* Lengths in bytes, and limits. */
#define SHEAF_KEY_BYTES 32         /* a leanXMSS public key: root (16), parameter P (16) */
#define SHEAF_MESSAGE_BYTES 32     /* the signed message: a digest of what is meant */
#define SHEAF_SIGNATURE_BYTES 1208 /* a leanXMSS signature */
#define SHEAF_DIGEST_BYTES 32      /* an entry of a hash batch: SHAKE256, first 32 bytes */
#define SHEAF_MAX_SIGNERS 65536    /* of one aggregate */
#define SHEAF_MAX_HASHES 1048576   /* of one hash batch */
#define SHEAF_MAX_PROOF_BYTES 16777216

/* The kinds of an envelope (docs/protocol.md 10.1). */
#define SHEAF_KIND_LEANXMSS 1 /* an aggregate of leanXMSS signatures */
#define SHEAF_KIND_HASH 2     /* a batch of SHAKE256 hashes of secret 128-byte messages */

typedef enum sheaf_status {
    SHEAF_OK = 0,
    SHEAF_REJECTED = 1,         /* the proof bytes are wrong, or prove another statement; see sheaf_failure.check */
    SHEAF_MALFORMED = 2,        /* an envelope, key, signature or other file is not of its format */
    SHEAF_INVALID_ARGUMENT = 3, /* an argument is out of its range */
    SHEAF_OUT_OF_MEMORY = 4,
    SHEAF_CANCELLED = 5,        /* the progress callback asked to stop */
    SHEAF_IO = 6,               /* a file could not be read or written */
    SHEAF_LOCKED = 7,           /* another process holds the key's lock */
    SHEAF_EPOCH_USED = 8,       /* the epoch has signed another message already */
    SHEAF_BAD_SIGNATURE = 9,    /* sheaf_failure.index names the signature */
    SHEAF_DUPLICATE_KEY = 10,   /* sheaf_failure.index names the later of the two */
    SHEAF_EPOCH_RANGE = 11,     /* the key does not cover the epoch, or an interval is not aligned */
    SHEAF_UNSUPPORTED = 12      /* a version, scheme or shape that this build does not know */
} sheaf_status;

/* Which check of the verifier failed (docs/soundness.md has a row for each). */
typedef enum sheaf_check {
    SHEAF_CHECK_NONE = 0,
    SHEAF_CHECK_HEADER,           /* signer count or first rate is not the statement's, or out of range */
    SHEAF_CHECK_TRUNCATED,        /* the proof ends early */
    SHEAF_CHECK_TRAILING,         /* bytes are left over */
    SHEAF_CHECK_MULTIPLICITY,     /* a multiplicity is too large, or they do not sum to the number of pulls */
    SHEAF_CHECK_BUS_BALANCE,      /* the two sides' products differ at the root */
    SHEAF_CHECK_BUS_LAYER,        /* a grand-product layer's last claim; index = layer, 1 next to the root */
    SHEAF_CHECK_LAYER,            /* a Keccak layer's last claim; index = round 0..23 */
    SHEAF_CHECK_INPUT,            /* the slices do not agree with the input layer's claim */
    SHEAF_CHECK_GRINDING,         /* a nonce does not meet its target; index = level */
    SHEAF_CHECK_MERKLE,           /* openings do not hash to the root; index = level */
    SHEAF_CHECK_OPENING,          /* the opening's closing equation */
    SHEAF_CHECK_STATEMENT,        /* the statement is not the expected one (keys, message, epoch) */
    SHEAF_CHECK_COUNT_
} sheaf_check;

typedef struct sheaf_failure {
    sheaf_status status;
    sheaf_check check;
    uint64_t index;    /* of the signature, key, level or layer that is meant; 0 if none is */
    char message[192]; /* one line for a person, always terminated */
} sheaf_failure;

/* A short English text for a status, and the stable lower-case name of a check ("bus_layer"). Never NULL. */
SHEAF_API const char *sheaf_status_text(sheaf_status status);
SHEAF_API const char *sheaf_check_name(sheaf_check check);

/* Everywhere below, f may be NULL. Where a function does not return SHEAF_OK, *f says why. Byte pointers need no alignment. */

/* What an envelope states. The pointers go into the envelope's own bytes and live as long as they do. */
typedef struct sheaf_statement {
    unsigned kind;          /* SHEAF_KIND_... */
    uint32_t count;         /* signers, or hashes: 1 .. SHEAF_MAX_SIGNERS or SHEAF_MAX_HASHES */
    uint32_t epoch;         /* 0 for a hash batch */
    const uint8_t *message; /* SHEAF_MESSAGE_BYTES; zeros for a hash batch */
    const uint8_t *items;   /* count entries of 32 bytes: public keys (no two alike), or digests */
    const uint8_t *proof;
    size_t proof_len;
} sheaf_statement;

/* Reads an envelope of either kind without verifying its proof.
 * Errors: SHEAF_MALFORMED (not an envelope, cut short, bytes left over, a count or length out of range), SHEAF_UNSUPPORTED (a
 * format version or a kind that this build does not know), SHEAF_DUPLICATE_KEY (index: the later of the two),
 * SHEAF_OUT_OF_MEMORY. On an error *st is zeroed. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_statement_read(sheaf_statement *st, const void *envelope, size_t len,
                                                             sheaf_failure *f);

/* What the caller expects of a statement. A NULL pointer asks for nothing, so a zeroed struct accepts every statement: then the
 * caller must read what was proven with sheaf_statement_read. */
typedef struct sheaf_expected {
    const uint32_t *epoch;
    const uint8_t *message; /* SHEAF_MESSAGE_BYTES */
    const uint8_t *items;   /* n_items entries of 32 bytes: the public keys in any order (the same set is meant), or the digests
                             * in the envelope's order. NULL with n_items 0 compares nothing; NULL with more is an error */
    size_t n_items;
} sheaf_expected;

/* Verifies an aggregate: that for each key of its list a leanXMSS signature of (epoch, message) is known.
 * expected may be NULL, which asks for nothing.
 * Errors: those of sheaf_statement_read; SHEAF_MALFORMED also where the envelope is of the other kind;
 * SHEAF_REJECTED with f->check: SHEAF_CHECK_STATEMENT where the statement is not the expected one, otherwise the verifier's
 * check that failed; SHEAF_INVALID_ARGUMENT where the expected keys hold one twice, or items is NULL and n_items is not 0. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_verify_aggregate(const void *envelope, size_t len, const sheaf_expected *expected,
                                                               sheaf_failure *f);

/* Verifies a hash batch: that for each digest of its list a 128-byte message with that SHAKE256 digest is known. Digests may
 * repeat. expected->epoch and ->message must be NULL. Errors as above. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_verify_hash_batch(const void *envelope, size_t len, const sheaf_expected *expected,
                                                                sheaf_failure *f);

/* Verifies one leanXMSS signature by itself: SHEAF_OK or SHEAF_BAD_SIGNATURE. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_verify_signature(const uint8_t public_key[SHEAF_KEY_BYTES], uint32_t epoch,
                                                               const uint8_t message[SHEAF_MESSAGE_BYTES],
                                                               const uint8_t signature[SHEAF_SIGNATURE_BYTES]);

/* ---- what a proof is made of ---- */

#define SHEAF_INFO_MAX_LEVELS 8
#define SHEAF_INFO_MAX_PARTS 16

typedef struct sheaf_level { /* one level of the opening, docs/protocol.md 6 */
    unsigned fold, log_inv_rate, grinding_bits, queries;
} sheaf_level;

typedef struct sheaf_part {
    const char *name; /* static text, lower case: "layer_round" */
    size_t bytes;
} sheaf_part;

typedef struct sheaf_info {
    unsigned kind;
    uint32_t count, epoch;
    size_t envelope_bytes, statement_bytes, proof_bytes; /* the first is the sum of the others */
    unsigned log_slots;    /* m: the proof has 2^m slots, those past count repeat the last */
    unsigned log_inv_rate; /* of the first commitment; 0 where the proof's header is not readable */
    unsigned log_words;    /* committed words, 2^log_words */
    unsigned permutations; /* Keccak permutations a slot */
    unsigned n_levels, last_log, arity;
    sheaf_level level[SHEAF_INFO_MAX_LEVELS];
    unsigned n_parts; /* parts of the proof with their sizes, as far as the verifier read it */
    sheaf_part part[SHEAF_INFO_MAX_PARTS];
    double security_bits; /* minus log2 of the ledger's largest error term; 0 where log_inv_rate is */
    sheaf_status verdict; /* what verification says of the proof: SHEAF_OK, SHEAF_REJECTED or SHEAF_OUT_OF_MEMORY */
    sheaf_failure failure;
} sheaf_info;

/* Verifies an envelope of either kind and says what its proof is made of. Returns SHEAF_OK for every well-formed envelope, its
 * proof accepted or not (info->verdict); otherwise the errors of sheaf_statement_read, and *info is zeroed. */
SHEAF_API SHEAF_MUST_CHECK sheaf_status sheaf_inspect(sheaf_info *info, const void *envelope, size_t len, sheaf_failure *f);

#ifdef __cplusplus
}
#endif
#endif
