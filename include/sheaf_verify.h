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
#define SHEAF_API __attribute__((visibility("default")))
#else
#define SHEAF_MUST_CHECK
#define SHEAF_API
#endif

/* What a build of the library shows; everything else in it is local. */
#if defined(__GNUC__) || defined(__clang__)
#define SHEAF_API __attribute__((visibility("default")))
#else
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
    SHEAF_CHECK_BUS_LAYER,        /* a grand-product layer's last claim; index = layer, 0 next to the root */
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

#ifdef __cplusplus
}
#endif
#endif
