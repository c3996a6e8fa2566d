/* A module's flat interface as functions on bytes (src/wasm_simd/abi.h).  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Everything here blocks: it belongs into a worker, or into a command that has nothing else to do. */
import { SheafError, STATUS_CODES } from "./errors.js";
import { DIGEST_BYTES, ENTRY_BYTES, KEY_BYTES, MESSAGE_BYTES, PREIMAGE_BYTES, SIGNATURE_BYTES } from "./bytes.js";

export const ABI = 1;
export const KIND_LEANXMSS = 1;
export const KIND_HASH = 2;
const RESULT_BYTES = 224;
const RESULT_MESSAGE = 32;
const STATEMENT_BYTES = 32;
const KEY_INFO_BYTES = 40;
const LEDGER_TERM_BYTES = 64;
/* What a call may need besides its inputs and what the module says. */
const SLACK = 1 << 20;

/**
 * @typedef {{kind: number, count: number, epoch: number, messageAt: number, itemsAt: number, proofAt: number,
 *            proofLength: number}} Statement offsets count from the envelope's first byte
 * @typedef {{accepted: boolean, check: string, index: number, reason: string}} Verdict
 * @typedef {{kind: number, epoch?: number, message?: Uint8Array, items?: Uint8Array}} Asked
 * @typedef {(fraction: number, stage: string) => boolean} Progress true cancels
 */

/** What a proof is called where it is refused. @param {number} kind @param {number} count */
function proofOf(kind, count) {
    if (kind === KIND_HASH) return `a batch of ${count} hash${count === 1 ? "" : "es"}`;
    return `an aggregate of ${count} signature${count === 1 ? "" : "s"}`;
}

/** @param {string} what @param {number} needed bytes; Infinity: more than there can be @param {number} available */
function tooMuch(what, needed, available) {
    const mib = (/** @type {number} */ n, round = Math.ceil) => `${round(n / 1048576)} MiB`;
    const text = Number.isFinite(needed)
        ? `${what} takes ${mib(needed)} of memory, ${mib(available, Math.floor)} can be had`
        : `${what} takes more than the 4096 MiB that WebAssembly can have`;
    return new SheafError("OUT_OF_MEMORY", text, { needed, available });
}

/**
 * Refuses a proof that does not fit, before anything is done for it.
 * @param {number} kind @param {number} count @param {{needed: number, available: number}} need
 */
export function checkProofMemory(kind, count, { needed, available }) {
    if (needed > available) throw tooMuch(proofOf(kind, count), needed, available);
}

export class Engine {
    /**
     * @param {any} instance of one of the modules
     * @param {{progress: Progress | null}} slot where the instance's sheafProgress looks
     * @param {number} memoryLimit bytes that the instance's memory can have
     */
    constructor(instance, slot, memoryLimit) {
        this.m = instance;
        this.slot = slot;
        this.memoryLimit = memoryLimit;
        const abi = instance._sheaf_wasm_abi() >>> 0;
        if (abi !== ABI)
            throw new SheafError("LOAD", `the WebAssembly module has interface ${abi}, this package needs ${ABI}`);
        this.result = this.alloc(RESULT_BYTES);
        this.version = this.text(instance._sheaf_wasm_version());
        this.kernels = this.text(instance._sheaf_wasm_kernels());
        this.hasProver = instance._sheaf_wasm_has_prover() !== 0;
        this.hasThreads = instance._sheaf_wasm_has_threads() !== 0;
        /** @type {Map<number, number>} threads by prover */
        this.provers = new Map();
    }

    /* ---- memory ---- */

    /** The memory's bytes: valid until the next call of the module. */
    bytes() {
        return new Uint8Array(this.m.wasmMemory.buffer);
    }

    /** @param {number} at @param {number} length a copy */
    copy(at, length) {
        const out = new Uint8Array(length);
        out.set(this.bytes().subarray(at, at + length));
        return out;
    }

    /** @param {number} at */
    u32(at) {
        return new DataView(this.m.wasmMemory.buffer).getUint32(at, true);
    }

    /** @param {number} at text that ends with a zero byte */
    text(at) {
        at >>>= 0;
        const bytes = this.bytes();
        const end = bytes.indexOf(0, at);
        return new TextDecoder().decode(this.copy(at, end - at));
    }

    /** @param {number} length */
    alloc(length) {
        const at = this.m._sheaf_wasm_alloc(length) >>> 0;
        if (at === 0) {
            throw new SheafError("OUT_OF_MEMORY", `${length} bytes of WebAssembly memory are not to be had`, {
                needed: this.memoryUsed() + length,
                available: this.memoryLimit,
            });
        }
        return at;
    }

    /**
     * Runs a function with inputs laid in the module's memory, and takes them away again. undefined becomes 0.
     * @template T
     * @param {(Uint8Array | undefined)[]} inputs
     * @param {(...at: number[]) => T} run
     * @param {boolean} [secret]
     * @returns {T}
     */
    with(inputs, run, secret = false) {
        /** @type {number[]} */
        const at = [];
        try {
            for (const input of inputs) {
                if (input === undefined) {
                    at.push(0);
                    continue;
                }
                const p = this.alloc(Math.max(1, input.length)); // an empty list is not the same as none
                at.push(p);
                this.bytes().set(input, p);
            }
            return run(...at);
        } finally {
            at.forEach((p, i) => {
                if (p === 0) return;
                if (secret) this.m._sheaf_wasm_free_secret(p, /** @type {Uint8Array} */ (inputs[i]).length);
                else this.m._sheaf_wasm_free(p);
            });
        }
    }

    memoryUsed() {
        return this.m._sheaf_wasm_memory_used ? this.m._sheaf_wasm_memory_used() >>> 0 : 0;
    }

    /* ---- results ---- */

    message() {
        return this.text(this.result + RESULT_MESSAGE);
    }

    /** @param {number} status */
    statusText(status) {
        return this.text(this.m._sheaf_wasm_status_text(status));
    }

    failure() {
        const status = this.u32(this.result);
        const code = STATUS_CODES[status] ?? "INTERNAL";
        const text = this.message() || this.statusText(status);
        if (code === "CANCELLED" && this.m.sheafThrown) return this.m.sheafThrown;
        return new SheafError(code, text, { index: this.u32(this.result + 8) });
    }

    /** @param {number} status */
    check(status) {
        if (status !== 0) throw this.failure();
    }

    /** The output of the last call, as bytes of our own. @param {boolean} [secret] */
    output(secret = false) {
        const at = this.u32(this.result + 12);
        const length = this.u32(this.result + 16);
        const out = this.copy(at, length);
        if (secret) this.m._sheaf_wasm_free_secret(at, length);
        else this.m._sheaf_wasm_free(at);
        return out;
    }

    /**
     * @template T
     * @param {Progress | null | undefined} progress
     * @param {() => T} run
     */
    reporting(progress, run) {
        this.slot.progress = progress ?? null;
        this.m.sheafThrown = null;
        try {
            return run();
        } finally {
            this.slot.progress = null;
        }
    }

    /**
     * Refuses what does not fit, before anything is done for it.
     * @param {number} work bytes that the module says it takes
     * @param {number} inputs bytes that are laid in its memory
     * @param {string} what
     */
    checkMemory(work, inputs, what) {
        const used = this.memoryUsed();
        const needed = work === 0xffffffff ? Infinity : used + work + inputs + SLACK;
        if (needed > this.memoryLimit) throw tooMuch(what, needed, this.memoryLimit);
    }

    /* ---- verifying side ---- */

    /** @param {Uint8Array} envelope @returns {Statement} */
    parse(envelope) {
        const at = this.alloc(STATEMENT_BYTES);
        try {
            this.with([envelope], (e) => this.check(this.m._sheaf_wasm_parse(this.result, at, e, envelope.length)));
            const [kind, count, epoch, messageAt, itemsAt, proofAt, proofLength] = [0, 4, 8, 12, 16, 20, 24].map(
                (offset) => this.u32(at + offset),
            );
            return { kind, count, epoch, messageAt, itemsAt, proofAt, proofLength };
        } finally {
            this.m._sheaf_wasm_free(at);
        }
    }

    /** @param {Uint8Array} envelope @param {Asked} asked @returns {Verdict} */
    verify(envelope, asked) {
        return this.with([envelope, asked.message, asked.items], (e, message, items) => {
            const status = this.m._sheaf_wasm_verify(
                this.result,
                e,
                envelope.length,
                asked.kind,
                asked.epoch === undefined ? 0 : 1,
                asked.epoch ?? 0,
                message,
                items,
                (asked.items?.length ?? 0) / DIGEST_BYTES,
            );
            if (status !== 0 && status !== 1) throw this.failure();
            return {
                accepted: status === 0,
                check: this.text(this.m._sheaf_wasm_check_name(this.u32(this.result + 4))),
                index: this.u32(this.result + 8),
                reason: this.message(),
            };
        });
    }

    /**
     * The module's own account of an envelope (its fields are those of `sheaf inspect --json`), and the verdict.
     * @param {Uint8Array} envelope
     */
    inspect(envelope) {
        return this.with([envelope], (e) => {
            this.check(this.m._sheaf_wasm_inspect(this.result, e, envelope.length));
            const index = this.u32(this.result + 8);
            const reason = this.message();
            const info = JSON.parse(new TextDecoder().decode(this.output()));
            return { info, index, reason };
        });
    }

    /** @param {Uint8Array} publicKey @param {number} epoch @param {Uint8Array} message @param {Uint8Array} signature */
    verifySignature(publicKey, epoch, message, signature) {
        return this.with([publicKey, message, signature], (k, m, s) => {
            return this.m._sheaf_wasm_verify_signature(k, epoch, m, s) === 0;
        });
    }

    /* ---- proving side ---- */

    /** @param {number} threads */
    createProver(threads) {
        this.check(this.m._sheaf_wasm_prover_create(this.result, threads));
        const prover = this.u32(this.result + 12);
        this.provers.set(prover, threads);
        return prover;
    }

    /** @param {number} prover */
    destroyProver(prover) {
        if (this.provers.delete(prover)) this.m._sheaf_wasm_prover_destroy(prover);
    }

    /**
     * The bytes of WebAssembly memory that a proof takes in all; Infinity where it is 4 GiB or more, 0 where there are no
     * parameters for it.
     * @param {number} kind @param {number} count @param {number} logInvRate @param {number} threads
     */
    proofMemory(kind, count, logInvRate, threads) {
        const work = this.m._sheaf_wasm_prove_bytes(kind, count, logInvRate, threads) >>> 0;
        if (work === 0) return 0;
        if (work === 0xffffffff) return Infinity;
        return this.memoryUsed() + work + count * (kind === KIND_HASH ? PREIMAGE_BYTES : ENTRY_BYTES) + SLACK;
    }

    /**
     * Every error term of a shape's soundness.
     * @param {number} kind @param {number} count @param {number} logInvRate 0: the default
     */
    ledger(kind, count, logInvRate) {
        this.check(this.m._sheaf_wasm_ledger(this.result, kind, count, logInvRate));
        const shape = this.u32(this.result + 20);
        const bytes = this.output();
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        const terms = [];
        for (let at = 0; at < bytes.length; at += LEDGER_TERM_BYTES) {
            const name = new TextDecoder().decode(bytes.subarray(at + 16, bytes.indexOf(0, at + 16)));
            terms.push({ name, log2Error: view.getFloat64(at, true), source: this.text(view.getUint32(at + 8, true)) });
        }
        return { logSlots: shape >>> 8, logInvRate: shape & 255, terms };
    }

    /**
     * @param {number} prover @param {number} logInvRate @param {number} epoch @param {Uint8Array} message
     * @param {Uint8Array} entries @param {Progress} [progress]
     */
    aggregate(prover, logInvRate, epoch, message, entries, progress) {
        const n = entries.length / ENTRY_BYTES;
        const threads = this.provers.get(prover) ?? 1;
        const work = this.m._sheaf_wasm_prove_bytes(KIND_LEANXMSS, n, logInvRate, threads) >>> 0;
        this.checkMemory(work, entries.length, proofOf(KIND_LEANXMSS, n));
        return this.reporting(progress, () =>
            this.with([message, entries], (m, e) => {
                this.check(this.m._sheaf_wasm_aggregate(this.result, prover, logInvRate, epoch, m, e, n));
                return this.output();
            }),
        );
    }

    /** @param {number} prover @param {number} logInvRate @param {Uint8Array} preimages @param {Progress} [progress] */
    proveHashBatch(prover, logInvRate, preimages, progress) {
        const n = preimages.length / PREIMAGE_BYTES;
        const threads = this.provers.get(prover) ?? 1;
        const work = this.m._sheaf_wasm_prove_bytes(KIND_HASH, n, logInvRate, threads) >>> 0;
        this.checkMemory(work, preimages.length, proofOf(KIND_HASH, n));
        return this.reporting(progress, () =>
            this.with(
                [preimages],
                (p) => {
                    this.check(this.m._sheaf_wasm_prove_hash_batch(this.result, prover, logInvRate, p, n));
                    return this.output();
                },
                true,
            ),
        );
    }

    /* ---- keys ---- */

    /** @param {number} start @param {number} count @returns {number} log2(count) */
    keyInterval(start, count) {
        this.check(
            this.m._sheaf_wasm_key_interval(this.result, start, count >>> 0, Math.floor(count / 4294967296)),
        );
        return this.u32(this.result + 20);
    }

    /**
     * The key's bytes, which are the secret.
     * @param {number} prover whose threads to use, or 0
     * @param {Uint8Array | undefined} seed @param {number} first @param {number} logCount @param {Progress} [progress]
     */
    keygen(prover, seed, first, logCount, progress) {
        const work = this.m._sheaf_wasm_keygen_bytes(logCount) >>> 0;
        this.checkMemory(work, 0, `a key of 2^${logCount} epochs`);
        return this.reporting(progress, () =>
            this.with(
                [seed],
                (s) => {
                    this.check(this.m._sheaf_wasm_keygen(this.result, prover, s, first, logCount));
                    return this.output(true);
                },
                true,
            ),
        );
    }

    /**
     * Opens a key for the time of a function.
     * @template T
     * @param {Uint8Array} bytes
     * @param {(key: number, info: {first: number, logCount: number, publicKey: Uint8Array}) => T} run
     * @returns {T}
     */
    withKey(bytes, run) {
        const at = this.alloc(KEY_INFO_BYTES);
        let key = 0;
        try {
            this.checkMemory(bytes.length, bytes.length, "this key");
            this.with([bytes], (k) => this.check(this.m._sheaf_wasm_key_open(this.result, at, k, bytes.length)), true);
            key = this.u32(this.result + 12);
            return run(key, {
                first: this.u32(at),
                logCount: this.u32(at + 4),
                publicKey: this.copy(at + 8, KEY_BYTES),
            });
        } finally {
            this.m._sheaf_wasm_key_close(key);
            this.m._sheaf_wasm_free(at);
        }
    }

    /** @param {Uint8Array} bytes */
    keyInfo(bytes) {
        return this.withKey(bytes, (_, info) => info);
    }

    /**
     * Remembers nothing: the caller sees to it that an epoch signs one message only.
     * @param {Uint8Array} bytes the key's @param {number} epoch @param {Uint8Array} message
     */
    sign(bytes, epoch, message) {
        if (message.length !== MESSAGE_BYTES) throw new SheafError("INVALID_ARGUMENT", "the message is not 32 bytes");
        const out = this.alloc(SIGNATURE_BYTES);
        try {
            return this.withKey(bytes, (key, info) =>
                this.with([message], (m) => {
                    this.check(this.m._sheaf_wasm_sign(this.result, out, key, epoch, m));
                    return {
                        signature: this.copy(out, SIGNATURE_BYTES),
                        trial: this.u32(this.result + 20),
                        publicKey: info.publicKey,
                    };
                }),
            );
        } finally {
            this.m._sheaf_wasm_free(out);
        }
    }
}
