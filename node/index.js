/* Sheaf in Node.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Importing this does nothing: the first call starts what it needs, and nothing that it started keeps the process alive. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createApi, entriesOf, optionsOf, proverOptionsOf, rateOf, sheafOptionsOf, signRequestOf } from "../web/core/api.js";
import { MAX_EPOCH, MAX_HASHES, PREIMAGE_BYTES, copyOf, integerOf, joinOf, ownOf, shown } from "../web/core/bytes.js";
import { SheafError, cancelled, invalid } from "../web/core/errors.js";
import { writeBinary } from "../web/core/formats.js";
import { closeKey, createKey, openKey, signByKey, usageOf } from "./keyfile.js";
import { findNative, runNative } from "./native.js";
import { realpathSync } from "./paths.js";
import { nodePlatform } from "./platform.js";

export { SheafError } from "../web/core/errors.js";
export { formatKeys, formatSignatures, parseKeys, parseSignatures } from "../web/core/formats.js";

const VERSION = "0.1.0";

/** One signing at a time of a key in this process, whatever it is called: the lock is for other processes. */
/** @type {Map<string, Promise<unknown>>} */
const busy = new Map();

/**
 * @template T
 * @param {string} name absolute
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
async function inTurn(name, run) {
    name = trueName(name);
    const before = busy.get(name) ?? Promise.resolve();
    const mine = before.then(run, run);
    const settled = mine.catch(() => {});
    busy.set(name, settled);
    try {
        return await mine;
    } finally {
        if (busy.get(name) === settled) busy.delete(name);
    }
}

/** A name without symbolic links, as far as there are files of it. @param {string} name absolute */
function trueName(name) {
    for (const [there, rest] of [[name, ""], [path.dirname(name), path.basename(name)]]) {
        try {
            return path.join(realpathSync(there), rest);
        } catch {
            continue; // not there yet, or not to be reached: opening it says so
        }
    }
    return name;
}

/**
 * A path as it is meant now, however the working directory changes. A directory whose name Node cannot tell leaves it as it is.
 * @param {string} name
 */
function resolved(name) {
    const full = path.resolve(name);
    return full.includes("\ufffd") && !name.includes("\ufffd") ? name : full;
}

/** A file's path, where the value is one: bytes are none. @param {any} value */
function pathOf(value) {
    if (value instanceof URL) {
        try {
            return fileURLToPath(value);
        } catch (cause) {
            throw new SheafError("INVALID_ARGUMENT", `file: ${shown(value)} is no file's address`, { cause });
        }
    }
    return typeof value === "string" ? value : null;
}

/** @param {any} options @returns {import("./index.d.ts").NodeSheaf} */
export function createSheaf(options) {
    const own_ = sheafOptionsOf(options);
    if (own_.base !== undefined) throw invalid("base: there is none in Node");
    const { internal, ...api } = createApi(nodePlatform(), own_);

    /** @param {any} [o] @returns {import("./keyfile.js").Keys} */
    const keysFor = (o = Object.create(null)) => ({
        async make(start, count, seed) {
            const { signal, onProgress, threads, maxMemory } = o;
            const made = await api.keygen({ firstEpoch: start, epochCount: count, seed, signal, onProgress, threads, maxMemory });
            return made.key;
        },
        check: internal.keyInfo,
        sign: (key, epoch, message) => internal.signRaw(key, epoch, message, undefined),
    });

    /** @param {any} o */
    async function keygen(o) {
        if (typeof o !== "object" || o === null || ownOf(o, ["file"]).file === undefined) return api.keygen(o);
        const known = ["file", "firstEpoch", "epochCount", "seed", "threads", "signal", "onProgress", "maxMemory"];
        const own = optionsOf(o, known, "options");
        const name = pathOf(own.file);
        if (name === null) throw invalid("file: not a path");
        const full = resolved(name);
        const start = integerOf(own.firstEpoch, "firstEpoch", 0, MAX_EPOCH);
        const count = integerOf(own.epochCount, "epochCount", 1, MAX_EPOCH + 1);
        const seed = own.seed === undefined ? undefined : copyOf(own.seed, "seed", 32);
        if (own.threads !== undefined && own.threads !== "auto") integerOf(own.threads, "threads", 1, 64);
        await internal.checkInterval(start, count);
        try {
            const { publicKey } = await inTurn(full, () => createKey(full, start, count, seed, keysFor(own)));
            return { scheme: "leanXMSS", file: name, publicKey, firstEpoch: start, epochCount: count };
        } catch (error) {
            /* The name as the caller knows it. */
            if (error instanceof SheafError) error.message = error.message.replaceAll(full, () => name);
            throw error;
        }
    }

    /** @param {any} key @param {any} request @param {any} [o] */
    async function sign(key, request, o) {
        const name = pathOf(key);
        if (name === null) return api.sign(key, request, o);
        const { signal } = optionsOf(o, ["signal"], "options");
        const { epoch, message } = signRequestOf(request);
        const full = resolved(name);
        const keys = keysFor();
        return inTurn(full, async () => {
            /* Not cancelled once it has begun: a record that is on the disk should have its signature. */
            if (signal?.aborted) throw cancelled(signal.reason);
            const opened = await openKey(name, keys, full);
            try {
                const { signature, repeated, notices } = await signByKey(opened, epoch, message, keys);
                const { publicKey } = opened;
                return { scheme: "leanXMSS", epoch, message, publicKey, signature, repeated, notices };
            } finally {
                closeKey(opened);
            }
        });
    }

    /** @param {any} key */
    async function keyStatus(key) {
        const name = pathOf(key);
        if (name === null) throw invalid("key: not a path");
        const opened = await openKey(name, keysFor(), resolved(name));
        try {
            const { epochs, ...usage } = await usageOf(opened);
            return { scheme: "leanXMSS", publicKey: opened.publicKey, epochCount: epochs, ...usage };
        } finally {
            closeKey(opened);
        }
    }

    /** @param {any} [options] */
    async function createProver(options) {
        const { native = false, ...others } = proverOptionsOf(options, ["native"]);
        if (native === false) return api.createProver(others);
        if (native !== true && typeof native !== "string") throw invalid("native: not true, false or a path");
        const o = ownOf(others);
        if (o.signal?.aborted) throw cancelled(o.signal.reason);
        const env = typeof native === "string" ? { SHEAF_NATIVE: native } : process.env;
        const found = findNative(VERSION, env);
        if (found === null) return api.createProver(others);
        const threads = internal.threadsOf(o.threads).threads;
        return nativeProver(found, threads, o.maxMemory, () => api.createProver({ ...others, signal: undefined, threads: 1 }));
    }

    return { ...api, keygen, sign, keyStatus, createProver };
}

/**
 * A prover that is the native command.
 * @param {{file: string, isa: string}} native @param {number} threads @param {number | undefined} maxMemory
 * @param {() => Promise<any>} other tells what the WebAssembly would take
 * @returns {any}
 */
function nativeProver(native, threads, maxMemory, other) {
    const stopping = new AbortController();
    /* As much as any machine may have is no bound. */
    const mib = maxMemory === undefined || maxMemory > 2 ** 50 ? Infinity : Math.max(1, Math.floor(maxMemory / 1048576));
    /** @param {any} options */
    const checked = (options) => {
        const o = optionsOf(options, ["signal", "onProgress", "logInvRate"], "options");
        return { signal: o.signal, onProgress: o.onProgress, logInvRate: rateOf(o.logInvRate) };
    };
    /** @param {string[]} args @param {Uint8Array} input @param {any} o */
    async function run(args, input, o) {
        const checkEnded = () => {
            if (o.signal?.aborted) throw cancelled(o.signal.reason);
            if (stopping.signal.aborted) throw new SheafError("DISPOSED", "it has been disposed of");
        };
        checkEnded();
        const rate = o.logInvRate > 0 ? ["--log-inv-rate", String(o.logInvRate)] : [];
        const memory = Number.isFinite(mib) ? ["--memory", String(mib)] : [];
        const all = [...args, "-o", "-", "--quiet", "--threads", String(threads), ...rate, ...memory];
        o.onProgress?.(0, "native");
        checkEnded();
        /* Ended by the caller's signal, or by dispose. */
        const ending = new AbortController();
        const end = () => ending.abort(o.signal?.reason);
        const signals = o.signal ? [o.signal, stopping.signal] : [stopping.signal];
        for (const signal of signals) signal.addEventListener("abort", end, { once: true });
        let envelope;
        try {
            envelope = await runNative(native.file, all, input, ending.signal);
        } catch (error) {
            checkEnded();
            throw error;
        } finally {
            for (const signal of signals) signal.removeEventListener("abort", end);
        }
        o.onProgress?.(1, "native");
        return envelope;
    }
    return {
        threads,
        kernels: native.isa,
        engine: native.file,
        notice: null,
        async aggregate(/** @type {any} */ signatures, /** @type {any} */ options) {
            const o = checked(options);
            return run(["aggregate", "-"], writeBinary(entriesOf(signatures)), o);
        },
        async proveHashBatch(/** @type {any} */ messages, /** @type {any} */ options) {
            const o = checked(options);
            return run(["hash", "prove", "--messages", "-"], joinOf(messages, "messages", PREIMAGE_BYTES, MAX_HASHES), o);
        },
        async memory(/** @type {any} */ request) {
            const asked = typeof request === "object" && request !== null ? ownOf(request) : request; // as it is now
            const prover = await other();
            try {
                return await prover.memory(asked);
            } finally {
                await prover.dispose();
            }
        },
        async dispose() {
            stopping.abort();
        },
    };
}

/** @type {import("./index.d.ts").NodeSheaf | null} */
let own = null;
const sheaf = () => (own ??= createSheaf());

/** @type {import("./index.d.ts").NodeSheaf["verify"]} */
export const verify = (envelope, expected, options) => sheaf().verify(envelope, expected, options);
/** @type {import("./index.d.ts").NodeSheaf["verifyMany"]} */
export const verifyMany = (items, options) => sheaf().verifyMany(items, options);
/** @type {import("./index.d.ts").NodeSheaf["verifySignature"]} */
export const verifySignature = (signature, options) => sheaf().verifySignature(signature, options);
/** @type {import("./index.d.ts").NodeSheaf["inspect"]} */
export const inspect = (envelope, options) => sheaf().inspect(envelope, options);
/** @type {import("./index.d.ts").NodeSheaf["createProver"]} */
export const createProver = (options) => sheaf().createProver(options);
/** @type {import("./index.d.ts").NodeSheaf["keygen"]} */
export const keygen = (/** @type {any} */ options) => /** @type {any} */ (sheaf().keygen(options));
/** @type {import("./index.d.ts").NodeSheaf["sign"]} */
export const sign = (/** @type {any} */ key, /** @type {any} */ request, /** @type {any} */ options) =>
    /** @type {any} */ (sheaf().sign(key, request, options));
/** @type {import("./index.d.ts").NodeSheaf["keyStatus"]} */
export const keyStatus = (key) => sheaf().keyStatus(key);
/** @type {import("./index.d.ts").NodeSheaf["close"]} */
export const close = () => (own === null ? Promise.resolve() : own.close());
