/* The flat interface of the WebAssembly modules.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What JavaScript calls: only 32-bit numbers and addresses in the module's memory cross, little endian where
 * they lie in memory. The same functions are in every module, except that those under "proving side" are not
 * in the verifier's:
 *
 *     sheaf-verify.mjs    sheaf-verify.wasm, sheaf-verify-relaxed.wasm      verifying side, one thread
 *     sheaf.mjs           sheaf.wasm, sheaf-relaxed.wasm                    everything, one thread
 *     sheaf-threads.mjs   sheaf-threads.wasm, sheaf-threads-relaxed.wasm    everything, threads
 *
 * The .mjs's default export makes an instance: `const m = await create(options)`. One .mjs serves both of its
 * .wasm files: the relaxed one needs relaxed SIMD (WebAssembly.validate on a probe tells), the other only
 * SIMD128. sheaf-threads needs shared memory. Options that are read:
 *
 *     wasmBinary, instantiateWasm, locateFile
 *         as Emscripten has them; by default the .wasm beside the .mjs is fetched
 *     sheafProgress(fraction, stage)
 *         fraction 0..1, stage a string; returns true to cancel. Called on the thread that called the module,
 *         during the calls that name it below. What it throws cancels too, and is kept in m.sheafThrown
 *     sheafWorkers (sheaf-threads)
 *         how many workers are started with the instance, a number; a prover may have one thread more than
 *         that, and in Node.js, where workers can be started during a call, still more. Default 3
 *     wasmMemory (sheaf-threads)
 *         the shared memory, where another than the default is wanted: initial 512 pages, maximum 65536
 *
 * and what it offers: m._sheaf_wasm_... for each function below, and m.wasmMemory; in sheaf-threads also
 * m.PThread, whose terminateAllThreads() ends the workers when the instance is no longer wanted. Memory
 * grows: make a new view of m.wasmMemory.buffer after every call. Numbers come back signed: use `>>> 0`.
 * sheaf-threads: no other thread than the one that made the instance calls the module, and not a browser's
 * main thread, as calls block; its buffer is shared, so copy (slice) before decoding text.
 *
 * Ownership: what a function hands out in sheaf_wasm_result.data is the caller's, who frees it with
 * sheaf_wasm_free (or, where it says so, otherwise). Inputs stay the caller's; nothing keeps a pointer to
 * them after the call. Addresses need an alignment of 4 where they are of numbers and structs, none where
 * they are of bytes; sheaf_wasm_alloc's have 8. */
#ifndef SHEAF_WASM_ABI_H
#define SHEAF_WASM_ABI_H

#include <stdint.h>

/* Changes whenever anything here changes its meaning. */
#define SHEAF_WASM_ABI 1

/* ---- about the module ---- */

uint32_t sheaf_wasm_abi(void);         /* SHEAF_WASM_ABI */
const char *sheaf_wasm_version(void);  /* "0.1.0"; texts here end with a zero byte, are UTF-8 and static */
const char *sheaf_wasm_kernels(void);  /* "simd128", "simd128 (relaxed)" or "portable" */
uint32_t sheaf_wasm_has_prover(void);  /* 1 where the proving side is there */
uint32_t sheaf_wasm_has_threads(void); /* 1 in sheaf-threads */

const char *sheaf_wasm_status_text(uint32_t status); /* of sheaf_status */
const char *sheaf_wasm_check_name(uint32_t check);   /* of sheaf_check: "bus_layer" */

/* ---- memory ---- */

void *sheaf_wasm_alloc(uint32_t bytes); /* 8-byte aligned; 0 where there is no memory left, or bytes is 0 */
void sheaf_wasm_free(void *p);          /* 0 is fine */
/* The same for secrets: overwrites the bytes first. */
void sheaf_wasm_free_secret(void *p, uint32_t bytes);

/* ---- results ---- */

/* Filled by every call that takes one, which returns `status` too. */
typedef struct sheaf_wasm_result { /* 224 bytes */
    uint32_t status;               /*  0: sheaf_status; 0 is success */
    uint32_t check;                /*  4: sheaf_check where status is SHEAF_REJECTED (1) */
    uint32_t index;                /*  8: which signature, key, level or layer is meant; 0 if none is */
    uint32_t data;                 /* 12: an output's address, 0 if there is none */
    uint32_t length;               /* 16: its bytes */
    uint32_t value;                /* 20: a number that the function explains */
    uint32_t reserved[2];          /* 24: zero */
    char message[192]; /* 32: one line for a person, UTF-8, ends with a zero byte; empty on success */
} sheaf_wasm_result;

/* ---- verifying side ---- */

/* What an envelope says, without verifying it. Offsets count from the envelope's first byte. */
typedef struct sheaf_wasm_statement { /* 32 bytes */
    uint32_t kind;                    /*  0: 1 an aggregate of leanXMSS signatures, 2 a hash batch */
    uint32_t count;                   /*  4: signers, or digests */
    uint32_t epoch;                   /*  8 */
    uint32_t message_at;              /* 12: 32 bytes */
    uint32_t items_at;                /* 16: count entries of 32 bytes: public keys, or digests */
    uint32_t proof_at;                /* 20 */
    uint32_t proof_length;            /* 24 */
    uint32_t reserved;                /* 28: zero */
} sheaf_wasm_statement;

/* status: MALFORMED (2), UNSUPPORTED (12), DUPLICATE_KEY (10), OUT_OF_MEMORY (4); *st is then zero. */
uint32_t sheaf_wasm_parse(sheaf_wasm_result *r, sheaf_wasm_statement *st, const uint8_t *envelope,
                          uint32_t length);

/* Verifies an envelope. kind: the one that is asked for (1 or 2); another one is MALFORMED (2). What is
 * expected: epoch where has_epoch is not 0; the 32 bytes at message where that is not 0; and, where items is
 * not 0, n_items entries of 32 bytes: the public keys in any order, or the digests in the envelope's order. A
 * hash batch has no epoch and no message: asking for one is INVALID_ARGUMENT (3). status: 0 accepted;
 * REJECTED (1), with check; those of sheaf_wasm_parse; INVALID_ARGUMENT (3) where items has a key twice. */
uint32_t sheaf_wasm_verify(sheaf_wasm_result *r, const uint8_t *envelope, uint32_t length, uint32_t kind,
                           uint32_t has_epoch, uint32_t epoch, const uint8_t *message, const uint8_t *items,
                           uint32_t n_items);

/* Verifies an envelope and describes its proof. data, length: JSON text with the fields of `sheaf inspect
 * --json` except "file": kind, count, epoch, accepted, check, envelope_bytes, statement_bytes, proof_bytes,
 * parts {name: bytes}, log_slots, permutations_per_slot, log_words, log_inv_rate, arity, last_log, levels
 * [{fold, log_inv_rate, queries, grinding_bits}], security_bits. status is 0 for every well-formed envelope,
 * its proof accepted or not; where it is not, message, check and index say why. Otherwise status is that of
 * sheaf_wasm_parse. */
uint32_t sheaf_wasm_inspect(sheaf_wasm_result *r, const uint8_t *envelope, uint32_t length);

/* One leanXMSS signature: returns 0, or BAD_SIGNATURE (9). public_key 32 bytes, message 32, signature 1208.
 */
uint32_t sheaf_wasm_verify_signature(const uint8_t *public_key, uint32_t epoch, const uint8_t *message,
                                     const uint8_t *signature);

/* ---- proving side: memory in advance ---- */

/* The bytes that proving takes on top of what is allocated when it starts, its inputs not counted; within a
 * tenth of the truth. kind 1 (leanXMSS) or 2 (hash batch), count signers or messages, log_inv_rate 0 (the
 * default) or 1..6, threads as the prover has. 0 where there are no parameters for it, 0xffffffff where it is
 * that much or more. A module has 4 GiB (0xffffffff) at most; sheaf_wasm_memory_used() tells how much it has
 * in use. */
uint32_t sheaf_wasm_prove_bytes(uint32_t kind, uint32_t count, uint32_t log_inv_rate, uint32_t threads);
/* The same for making a key of 2^log_count epochs and its bytes. */
uint32_t sheaf_wasm_keygen_bytes(uint32_t log_count);
/* Bytes of the module's memory in use: program, stacks and what is allocated. */
uint32_t sheaf_wasm_memory_used(void);

/* ---- proving side: the ledger ---- */

typedef struct sheaf_wasm_ledger_term { /* 64 bytes */
    double log2_error;                  /*  0 */
    const char *source;                 /*  8: where the bound comes from; static text */
    uint32_t reserved;                  /* 12: zero */
    char name[48];                      /* 16: ends with a zero byte */
} sheaf_wasm_ledger_term;

/* Every error term of the soundness of proofs of `count` signatures (kind 1) or messages (2). log_inv_rate: 0
 * the default, or 1..6. data, length: the terms. value: 256 log_slots + log_inv_rate. status:
 * INVALID_ARGUMENT (3: the kind or the count), UNSUPPORTED (12: no parameters), OUT_OF_MEMORY (4). */
uint32_t sheaf_wasm_ledger(sheaf_wasm_result *r, uint32_t kind, uint32_t count, uint32_t log_inv_rate);

/* ---- proving side: provers ---- */

/* A prover keeps its threads; data is its handle. threads: 1..1 + sheafWorkers in sheaf-threads, 1 elsewhere.
 * status: INVALID_ARGUMENT (3), OUT_OF_MEMORY (4: also where the threads are not there). */
uint32_t sheaf_wasm_prover_create(sheaf_wasm_result *r, uint32_t threads);
void sheaf_wasm_prover_destroy(uint32_t prover); /* ends its threads; 0 is fine */

/* The address of a number that any thread may set to something other than 0 to cancel the running call (in
 * sheaf-threads from outside, as the memory is shared: Atomics.store). It is looked at whenever progress is
 * reported, and never reset here. */
uint32_t *sheaf_wasm_cancel_flag(void);

/* Proves that n signatures of (epoch, message) verify. entries: n times public key (32 bytes) and signature
 * (1208). log_inv_rate: 0 the default, or 1..6. data, length: the envelope. Reports progress. status:
 * INVALID_ARGUMENT (3), DUPLICATE_KEY (10: index), BAD_SIGNATURE (9: index is the first, message names more),
 * UNSUPPORTED (12), CANCELLED (5), OUT_OF_MEMORY (4). The envelope has the same bytes from every build. */
uint32_t sheaf_wasm_aggregate(sheaf_wasm_result *r, uint32_t prover, uint32_t log_inv_rate, uint32_t epoch,
                              const uint8_t *message, const uint8_t *entries, uint32_t n);

/* Proves that messages with the SHAKE256 digests of these n messages of 128 bytes are known. Otherwise as the
 * above. */
uint32_t sheaf_wasm_prove_hash_batch(sheaf_wasm_result *r, uint32_t prover, uint32_t log_inv_rate,
                                     const uint8_t *preimages, uint32_t n);

/* ---- proving side: keys ---- */

/* Whether a key can have the epochs start..start+count-1, count = count_low + 2^32 count_high: value is then
 * log2(count). Otherwise EPOCH_RANGE (11), and message names the nearest intervals that it can have. */
uint32_t sheaf_wasm_key_interval(sheaf_wasm_result *r, uint32_t start, uint32_t count_low,
                                 uint32_t count_high);

/* Makes a key for the epochs first..first+2^log_count-1, first a multiple of 2^log_count. prover: whose
 * threads to use, 0 for none. seed: 32 bytes, or 0 for the system's randomness. data, length: the key's
 * bytes, those of the key file of docs/leanxmss.md 7.1. They are the secret: free them with
 * sheaf_wasm_free_secret. Reports progress. status: EPOCH_RANGE (11), OUT_OF_MEMORY (4), CANCELLED (5), IO
 * (6: no randomness). */
uint32_t sheaf_wasm_keygen(sheaf_wasm_result *r, uint32_t prover, const uint8_t *seed, uint32_t first,
                           uint32_t log_count);

typedef struct sheaf_wasm_key_info { /* 40 bytes */
    uint32_t first;                  /*  0: first epoch */
    uint32_t log_count;              /*  4: it has 2^log_count of them, 0..32 */
    uint8_t public_key[32];          /*  8 */
} sheaf_wasm_key_info;

/* Reads a key's bytes, checks them and keeps a copy of its own; data is its handle, *info says which key it
 * is. status: MALFORMED (2), UNSUPPORTED (12), OUT_OF_MEMORY (4); *info is then zero. */
uint32_t sheaf_wasm_key_open(sheaf_wasm_result *r, sheaf_wasm_key_info *info, const uint8_t *bytes,
                             uint32_t length);
void sheaf_wasm_key_close(uint32_t key); /* wipes the secret; 0 is fine */

/* Signs a 32-byte message for an epoch: 1208 bytes to signature. value: the randomizer's number (the "trial"
 * of a journal record, docs/leanxmss.md 7.2). The same epoch and message give the same signature. This
 * function remembers nothing: that an epoch never signs two different messages, which would give the key
 * away, is the caller's to see to, before the signature leaves. The signature is verified before it is handed
 * out. status: EPOCH_RANGE (11), MALFORMED (2: the key is damaged). */
uint32_t sheaf_wasm_sign(sheaf_wasm_result *r, uint8_t *signature, uint32_t key, uint32_t epoch,
                         const uint8_t *message);

#endif
