/* The command's usage, the same as the native one's.  SPDX-License-Identifier: MIT OR Apache-2.0 */

/* What the native command has no need to say. */
export const NATIVE_NOTE = `
Proofs are made by the native command where one is found (SHEAF_NATIVE is its path, or none; without it the PATH
is searched), and by WebAssembly otherwise. Which of them it was is said beside the result.
`;

export const OVERVIEW = `Usage: sheaf VERB ARGUMENTS...     (sheaf VERB --help says more, with examples)

Sheaf proves in one small proof that many hash-based signatures verify.

  keygen             make a signing key
  pubkey             show the public keys of key files
  key-status         show which epochs a key has used and which are left
  sign               sign a message for an epoch
  verify-signature   verify single signatures
  collect            put single signatures into one list
  aggregate          prove that all signatures of a list verify
  verify             verify aggregates and show whom they cover
  inspect            show what a proof is made of
  security           show every error term of a shape's soundness
  hash prove         prove a batch of SHAKE256 hashes
  hash verify        verify a batch of hashes
  bench hash         measure proving and verifying a hash batch
  bench aggregate    measure aggregating and verifying signatures
  bench commit       measure a commitment: code and tree
  bench kernels      measure the innermost operations

Options of every verb:
  --threads N   threads to use (default: as many as the machine has); proofs are the same for every N
  --json        one JSON object on standard output
  -q, --quiet   say nothing that is not asked for
  -h, --help    this verb's usage
  --version     the version of the command (without a verb)

A file - is standard input or output. The environment variable SHEAF_ISA=portable|avx2|avx512|neon caps the vector
instructions in use.
${NATIVE_NOTE}
Exit code: 0 done, accepted; 1 rejected: a proof or a signature is wrong, or not about what was expected;
2 anything else: malformed files or arguments, files that cannot be read or written, refused signing.

Example:
  sheaf keygen --epochs 0:16 -o alice.key
  sheaf sign --key alice.key --epoch 0 --message-file README.md -o alice.sig.json
  sheaf collect alice.sig.json -o signatures.json
  sheaf aggregate signatures.json -o attestation.sheaf
  sheaf verify attestation.sheaf --message-file README.md --epoch 0
`;

/** Every verb and its usage. @type {Record<string, string>} */
export const VERBS = {
    keygen: `Usage: sheaf keygen --epochs START:COUNT -o FILE [--seed HEX] [--threads N]

Makes a leanXMSS key that signs once in each of the epochs START .. START+COUNT-1, and writes it to FILE and its
empty journal to FILE.journal. COUNT is a power of two and START a multiple of it; otherwise the nearest intervals
that are so are named. An existing file is never overwritten.

  --epochs START:COUNT  the epochs; time and memory grow with COUNT
  -o, --output FILE     the key's file
  --seed HEX            32 bytes, for reproducible examples ONLY: a command line is seen by other users of the
                        machine and kept by shells. Without it the seed is the system's randomness

Warning: a key that is copied, or restored from a backup, can sign an epoch twice, which gives the key away: keep one copy, and the journal beside it.

Examples:
  sheaf keygen --epochs 0:1024 -o alice.key
  sheaf keygen --epochs 4096:256 -o bob.key --json
`,
    pubkey: `Usage: sheaf pubkey FILE... [--json] [-o keys.json]

Prints each key's public key, 32 bytes in hex, one a line. With --json or -o: one keys.json, as verify --keys takes
it.

Examples:
  sheaf pubkey alice.key
  sheaf pubkey alice.key bob.key -o keys.json
`,
    "key-status": `Usage: sheaf key-status FILE [--json]

Shows the key's epochs: used, left, the next free one. It reads the key and its journal and changes nothing.

Warning: a key that is copied, or restored from a backup, can sign an epoch twice, which gives the key away: keep one copy, and the journal beside it.

Examples:
  sheaf key-status alice.key
  sheaf key-status alice.key --json
`,
    sign: `Usage: sheaf sign --key FILE --epoch N (--message HEX | --message-file FILE) [-o FILE]

Signs a 32-byte message for one epoch and writes the signature as JSON, to standard output unless -o says where.
The key's journal records the message before the signature leaves. An epoch signs one message: the same message
again gives the same signature, another one is refused (exit code 2).

  -k, --key FILE        the key, as keygen wrote it
  --epoch N             one of the key's epochs
  --message HEX         the message, 32 bytes
  --message-file FILE   the message is the SHAKE256 (32 bytes) of this file; - is standard input
  -o, --output FILE     where the signature goes

Examples:
  sheaf sign --key alice.key --epoch 7 --message-file block.bin -o alice.sig.json
  echo hello | sheaf sign --key alice.key --epoch 8 --message-file -
`,
    "verify-signature": `Usage: sheaf verify-signature FILE... [--epoch N] [--message HEX | --message-file FILE] [--public-key HEX]

Verifies the signatures of each file by themselves, without a proof: one signature as sign writes it, or a list as
collect does. Exit code 0 if all are valid and as expected; 1 if one is not; 2 for malformed files.

Examples:
  sheaf verify-signature alice.sig.json
  sheaf verify-signature alice.sig.json --message-file block.bin --epoch 7
`,
    collect: `Usage: sheaf collect FILE... -o FILE [--binary]

Joins signatures, and lists of them, into one list that aggregate takes. They must be of one scheme, epoch and
message, and no public key may be there twice; the file and the index of the first that is not so are named.

  -o, --output FILE  the list; - is standard output
  --binary           the compact binary form instead of JSON

Examples:
  sheaf collect alice.sig.json bob.sig.json -o signatures.json
  sheaf collect *.sig.json --binary -o - | sheaf aggregate - -o attestation.sheaf
`,
    aggregate: `Usage: sheaf aggregate FILE -o FILE [--log-inv-rate R] [--memory N] [--threads N]

Reads a list of signatures of one epoch and message (JSON or binary, as collect writes it) and makes one proof that
all of them verify. Each signature is verified first: the index of any that does not is named and nothing is written.
A public key that is there twice is refused, both indices named. The proof and the list of keys go into one file.
Exit code: 0 made; 1 a signature does not verify; 2 anything else.

  -o, --output FILE    the aggregate (.sheaf); - is standard output
  --log-inv-rate R     1..6: larger makes smaller proofs and takes longer; the default suits the number of signers
  --memory N           what the proof may take, in MiB; without it, what the machine has free. A proof that
                       needs more is refused before it is begun

Examples:
  sheaf aggregate signatures.json -o attestation.sheaf
  sheaf aggregate - -o - <signatures.json >attestation.sheaf
`,
    verify: `Usage: sheaf verify FILE... [--keys keys.json] [--message HEX | --message-file FILE] [--epoch N]

Verifies each aggregate and prints the signers, epoch and message that it proves. What you expect of it you must say:
without --keys, --message and --epoch a proof about anything is accepted, and it is for you to read what it is about.

  --keys FILE           the proof must cover exactly this set of keys, in any order
  --message HEX         the proof must be about this message (or --message-file, its SHAKE256)
  --epoch N             the proof must be about this epoch
  --quiet               print nothing for an accepted file

Exit code: 0 all accepted; 1 rejected (the proof is wrong, or not about what was expected); 2 a malformed file or
argument. With several files, the largest of theirs.

Examples:
  sheaf verify attestation.sheaf --keys keys.json --message-file block.bin --epoch 7
  sheaf verify *.sheaf --quiet && echo all accepted
  curl -s https://example.org/attestation.sheaf | sheaf verify - --json
`,
    inspect: `Usage: sheaf inspect FILE [--json]

Verifies an aggregate or a hash batch and shows the size of each part of its proof, its parameters and its
soundness. Exit code: 0 accepted; 1 rejected (what could be read is shown); 2 malformed.

Examples:
  sheaf inspect attestation.sheaf
  sheaf inspect attestation.sheaf --json
`,
    security: `Usage: sheaf security (--signers N | --hash-log-n N) [--log-inv-rate R] [--json]

Prints the ledger of the whole protocol for a shape: for every step in which a wrong proof could pass by luck, the
bound of its probability and where the bound comes from. Exit code: 0 if every term is at most 2^-128, else 1.

Examples:
  sheaf security --signers 1024
  sheaf security --hash-log-n 14 --log-inv-rate 2 --json
`,
    "hash prove": `Usage: sheaf hash prove (--log-n N [--seed HEX] | --messages FILE) -o FILE [--log-inv-rate R]

Proves that 128-byte messages are known whose SHAKE256 digests (32 bytes) are the listed ones.

  --log-n N            2^N made-up messages, N at most 20
  --seed HEX           32 bytes that the messages come from, for reproducible examples ONLY
  --messages FILE      the messages, 128 bytes each, one after the other; - is standard input
  -o, --output FILE    the batch (.sheaf); - is standard output
  --log-inv-rate R     1..6, as for aggregate
  --memory N           what the proof may take, in MiB, as for aggregate

The messages are not in the file, but the proof is not zero knowledge: it may tell something about them.

Examples:
  sheaf hash prove --log-n 10 -o batch.sheaf
  sheaf hash prove --messages secrets.bin -o batch.sheaf
`,
    "hash verify": `Usage: sheaf hash verify FILE [--digests FILE] [--log-n N]

Verifies a batch. Exit code: 0 accepted; 1 rejected; 2 a malformed file or argument.

  --digests FILE  the proof must be about these digests, 32 bytes each, in this order
  --log-n N       the proof must be about 2^N hashes

Examples:
  sheaf hash verify batch.sheaf
  sheaf hash verify batch.sheaf --log-n 10 --json
`,
    "bench hash": `Usage: sheaf bench hash --log-n N [--repeats N] [--warmup N] [--json]

Proves 2^N SHAKE256 hashes of made-up messages, each one Keccak permutation.

  --repeats N         timed rounds, whose median is shown (default 3)
  --warmup N          rounds before them (default 1)
  --log-inv-rate R    1..6, as for aggregate
  --threads N         threads (default: as many as the machine has)
  --memory N          as for aggregate
  -o, --output FILE   also keep the last proof, in a file

Proving is timed from what is in memory to the proof's bytes, all of it, and shown by stages: those of the median round.
Cycles are the time-stamp counter's while it passed, whatever the number of threads; cpu is the time of all threads.
Memory is the most that the process had, and the prover in it.

Examples:
  sheaf bench hash --log-n 14 --threads 1
  sheaf bench hash --log-n 16 --json
`,
    "bench aggregate": `Usage: sheaf bench aggregate --signers N [--repeats N] [--warmup N] [--json]

Makes N signers that anyone can make again, in memory, and aggregates their signatures.

  --repeats N         timed rounds, whose median is shown (default 3)
  --warmup N          rounds before them (default 1)
  --log-inv-rate R    1..6, as for aggregate
  --threads N         threads (default: as many as the machine has)
  --memory N          as for aggregate
  -o, --output FILE   also keep the last proof, in a file

Proving is timed from what is in memory to the proof's bytes, all of it, and shown by stages: those of the median round.
Cycles are the time-stamp counter's while it passed, whatever the number of threads; cpu is the time of all threads.
Memory is the most that the process had, and the prover in it.

Examples:
  sheaf bench aggregate --signers 64
  sheaf bench aggregate --signers 1024 --threads 1 --json
`,
    "bench commit": `Usage: sheaf bench commit --log-words N [--log-rows N] [--repeats N] [--warmup N] [--json]

Commits to 2^N made-up words, as every proof does first: rows of a code (NTT), and a Merkle tree over its columns.

  --log-words N       2^N words, 7..26
  --log-inv-rate R    1..6 (default: that of a proof with as many words)
  --log-rows N        in 2^N rows (default: as in that proof)
  --repeats N         timed rounds, whose median is shown (default 3)
  --warmup N          rounds before them (default 1)
  --threads N         threads (default: as many as the machine has)
  --memory N          as for aggregate

Examples:
  sheaf bench commit --log-words 20 --threads 1
  sheaf bench commit --log-words 16 --log-inv-rate 2 --json
`,
    "bench kernels": `Usage: sheaf bench kernels [--kernel NAME] [--json]

Measures the innermost operations of each back end that the machine has beside portable C, on one thread, with data in
the cache: the least of some spans that take turns. SHEAF_ISA caps the back ends, as everywhere.

  --kernel NAME       this one alone

Examples:
  sheaf bench kernels
  sheaf bench kernels --kernel evec_fold
  SHEAF_ISA=portable sheaf bench kernels --json
`,
};
