/* The interface, on any platform that has workers.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { Client } from "./client.js";
import { SheafError, cancelled, invalid } from "./errors.js";
import { KIND_HASH, KIND_LEANXMSS } from "./engine.js";
import {
    DIGEST_BYTES,
    ENTRY_BYTES,
    KEY_BYTES,
    MAX_ENVELOPE_BYTES,
    MAX_EPOCH,
    MAX_HASHES,
    MAX_SIGNERS,
    MESSAGE_BYTES,
    PREIMAGE_BYTES,
    SIGNATURE_BYTES,
    binaryOf,
    copyOf,
    eachOf,
    integerOf,
    joinOf,
    ownOf,
    sameBytes,
    shown,
    toHex,
    viewOf,
} from "./bytes.js";
import { checkSource, portable } from "./source.js";

/** Workers of one interface that verify at once, at most. */
const MOST_VERIFIERS = 4;
/** Threads that "auto" takes at most: more gain little, and each has its stack. */
const MOST_THREADS = 16;
/** From so many epochs on, making a key is worth threads. */
const THREADS_FROM_EPOCHS = 1024;
const KEY_PUBLIC_AT = 56;
const KEY_LEAST_BYTES = 88;
/* A key's bytes and what is made of them have to fit into a module's memory, which has 4 GiB. */
const KEY_MOST_LOG = 25;

/**
 * @typedef {"verifier" | "prover" | "threads"} Kind which module
 *
 * @typedef {object} Platform
 * @property {(kind: Kind) => import("./client.js").Spawn} spawn
 * @property {() => string | null} noThreads why there are no threads here; null: there are
 * @property {() => number} cores
 * @property {() => number} memoryLimit bytes that a module may take here at most
 * @property {() => string | undefined} base that relative addresses are meant from
 * @property {(text: string) => void} notice told to the user where nobody listens
 */

/* What keys given as bytes have signed since this code was loaded: public key, then epoch, then message. Bytes have no journal.
 * `users` counts the calls under way; a record is `kept` once a signature may have left. */
/** @type {Map<string, Map<number, {message: string, users: number, kept: boolean}>>} */
const signedHere = new Map();

/* ---- arguments ---- */

/** @param {any} value @param {string} what @returns {any} */
function objectOf(value, what) {
    if (typeof value !== "object" || value === null) throw invalid(`${what}: not an object`);
    return value;
}

/** Whether a value does all that is asked of a signal here. @param {any} signal */
function isSignal(signal) {
    if (typeof signal !== "object" || signal === null) return false;
    try {
        const { aborted, addEventListener, removeEventListener } = signal;
        return typeof aborted === "boolean" && typeof addEventListener === "function" && typeof removeEventListener === "function";
    } catch {
        return false; // a prototype's getter without its object
    }
}

/**
 * The known options among an object's own properties, each read once.
 * @param {any} options @param {readonly string[]} known @param {string} what
 * @returns {any}
 */
export function optionsOf(options, known, what) {
    if (options === undefined) return Object.create(null);
    objectOf(options, what);
    for (const name of Object.keys(options)) {
        if (!known.includes(name)) throw invalid(`${what}: ${shown(name)} is not an option (known: ${known.join(", ")})`);
    }
    const own = ownOf(options, known);
    if (own.signal !== undefined && !isSignal(own.signal)) throw invalid("signal: not an AbortSignal");
    for (const name of ["onProgress", "onNotice"])
        if (own[name] !== undefined && typeof own[name] !== "function") throw invalid(`${name}: not a function`);
    if (own.maxMemory !== undefined && !(typeof own.maxMemory === "number" && own.maxMemory >= 1))
        throw invalid("maxMemory: not a number of bytes");
    return own;
}

const sheafOptions = ["wasm", "relaxed", "maxMemory", "verifiers", "base", "onNotice"];
/** @param {any} options createSheaf's */
export function sheafOptionsOf(options) {
    return optionsOf(options, sheafOptions, "options");
}

/**
 * What createProver takes, checked the same whoever proves.
 * @param {any} options @param {string[]} [more] that are known too
 */
export function proverOptionsOf(options, more = []) {
    const own = optionsOf(options, ["threads", "wasm", "maxMemory", "signal", "onNotice", ...more], "options");
    if (own.threads !== undefined && own.threads !== "auto") integerOf(own.threads, "threads", 1, 64);
    for (const source of Object.values(sourcesOf(own.wasm, "prover"))) checkSource(source);
    return own;
}

/**
 * A copy of the envelope's bytes, made at once; or the Blob, whose bytes nothing changes.
 * One that is too long for any proof is refused before it is read.
 * @param {any} value
 * @returns {Uint8Array<ArrayBuffer> | Blob}
 */
function envelopeOf(value) {
    const check = (/** @type {number} */ length) => {
        if (length > MAX_ENVELOPE_BYTES)
            throw new SheafError("MALFORMED", `the envelope has ${length} bytes, ${MAX_ENVELOPE_BYTES} are the most`);
    };
    if (typeof Blob !== "function" || viewOf(value) !== null || !(value instanceof Blob)) return binaryOf(value, "envelope", check);
    let size;
    try {
        size = value.size;
    } catch (cause) {
        throw new SheafError("INVALID_ARGUMENT", "envelope: not a Blob", { cause });
    }
    check(size);
    return value;
}

/** @param {Uint8Array<ArrayBuffer> | Blob} envelope @returns {Promise<Uint8Array<ArrayBuffer>>} */
async function bytesOf(envelope) {
    if (envelope instanceof Uint8Array) return envelope;
    try {
        return new Uint8Array(await envelope.arrayBuffer());
    } catch (cause) {
        throw new SheafError("IO", "the file could not be read", { cause });
    }
}

/** @param {unknown} scheme */
function unknownScheme(scheme) {
    return invalid(`scheme: ${shown(scheme)} is not known`);
}

/**
 * What a statement is compared with: own properties, each read once. Whatever is to be left open is said so: "any".
 * @param {any} expected
 * @returns {import("./engine.js").Asked}
 */
function askedOf(expected) {
    objectOf(expected, "expected");
    const scheme = ownOf(expected, ["scheme"]).scheme ?? "leanXMSS";
    if (scheme !== "leanXMSS" && scheme !== "hash") throw unknownScheme(scheme);
    const fields = scheme === "hash" ? ["digests"] : ["epoch", "message", "publicKeys"];
    for (const name of Object.keys(expected)) {
        if (name !== "scheme" && !fields.includes(name)) throw invalid(`expected: ${shown(name)} is not known`);
    }
    const own = ownOf(expected, fields);
    for (const name of fields) {
        if (own[name] === undefined || own[name] === null)
            throw invalid(`expected.${name}: missing (say "any" where every one will do)`);
    }
    const given = (/** @type {string} */ name) => own[name] !== "any";
    if (scheme === "hash") {
        const items = given("digests") ? joinOf(own.digests, "digests", DIGEST_BYTES, MAX_HASHES) : undefined;
        return { kind: KIND_HASH, items };
    }
    return {
        kind: KIND_LEANXMSS,
        epoch: given("epoch") ? integerOf(own.epoch, "epoch", 0, MAX_EPOCH) : undefined,
        message: given("message") ? copyOf(own.message, "message", MESSAGE_BYTES) : undefined,
        items: given("publicKeys") ? joinOf(own.publicKeys, "publicKeys", KEY_BYTES, MAX_SIGNERS) : undefined,
    };
}

/**
 * Signatures of one epoch and message, as the module takes them.
 * @param {any} value {epoch, message, signatures: [{publicKey, signature}]}, or an array of whole signatures
 */
export function entriesOf(value) {
    objectOf(value, "signatures");
    const whole = Array.isArray(value);
    const list = whole ? value : value.signatures;
    if (!Array.isArray(list)) throw invalid("signatures: not an array");
    const n = list.length;
    if (n < 1 || n > MAX_SIGNERS) throw invalid(`signatures: ${n} entries, 1..${MAX_SIGNERS} can be`);
    /** @type {{epoch: number, message: Uint8Array} | null} */
    let common = null;
    const commonOf = (/** @type {any} */ said) => {
        if ((said.scheme ?? "leanXMSS") !== "leanXMSS") throw unknownScheme(said.scheme);
        return { epoch: integerOf(said.epoch, "epoch", 0, MAX_EPOCH), message: copyOf(said.message, "message", MESSAGE_BYTES) };
    };
    if (!whole) {
        const { scheme, epoch, message } = value;
        common = commonOf({ scheme, epoch, message });
    }
    const entries = new Uint8Array(n * ENTRY_BYTES);
    eachOf(list, "signatures", n, (entry, i) => {
        const at = `signatures[${i}]`;
        objectOf(entry, at);
        const { scheme, epoch, message, publicKey, signature } = entry;
        common ??= commonOf({ scheme, epoch, message });
        if (epoch !== undefined && epoch !== common.epoch)
            throw invalid(`${at}: for epoch ${shown(epoch)}, the first is for ${common.epoch}`, i);
        if (message !== undefined && !sameBytes(copyOf(message, `${at}.message`, MESSAGE_BYTES), common.message))
            throw invalid(`${at}: of another message than the first`, i);
        entries.set(copyOf(publicKey, `${at}.publicKey`, KEY_BYTES), i * ENTRY_BYTES);
        entries.set(copyOf(signature, `${at}.signature`, SIGNATURE_BYTES), i * ENTRY_BYTES + KEY_BYTES);
    });
    const { epoch, message } = /** @type {{epoch: number, message: Uint8Array}} */ (/** @type {unknown} */ (common));
    return { epoch, message, entries };
}

/** Refuses what is no length of a key, docs/leanxmss.md 7.1. @param {number} length */
function checkKeyLength(length) {
    const bytesOf = (/** @type {number} */ log) => KEY_LEAST_BYTES + 16 * (2 ** (log + 1) - 1) + 16 * (32 - log) + 32;
    let log = 0;
    while (log < 32 && bytesOf(log) < length) log++;
    if (bytesOf(log) !== length) throw new SheafError("MALFORMED", `key: ${length} bytes, no key has so many`);
    if (log > KEY_MOST_LOG) throw new SheafError("OUT_OF_MEMORY", `key: one of 2^${log} epochs, 2^${KEY_MOST_LOG} are the most here`);
}

/** What is to be signed. @param {any} request */
export function signRequestOf(request) {
    const { epoch, message } = ownOf(objectOf(request, "request"), ["epoch", "message"]);
    return { epoch: integerOf(epoch, "epoch", 0, MAX_EPOCH), message: copyOf(message, "message", MESSAGE_BYTES) };
}

/** @param {any} value */
export function rateOf(value) {
    return value === undefined ? 0 : integerOf(value, "logInvRate", 0, 6);
}

/** @param {any} wasm one source, or one for each module @param {Kind} alone which module one source is */
function sourcesOf(wasm, alone) {
    /** @type {Partial<Record<Kind, unknown>>} */
    const sources = Object.create(null);
    if (wasm === undefined) return sources;
    const kinds = /** @type {Kind[]} */ (["verifier", "prover", "threads"]);
    if (typeof wasm === "object" && wasm !== null && Object.getPrototypeOf(wasm) === Object.prototype) {
        for (const name of Object.keys(wasm)) {
            const kind = kinds.find((k) => k === name);
            if (kind === undefined) throw invalid(`wasm: ${shown(name)} is not one of ${kinds.join(", ")}`);
            sources[kind] = wasm[name];
        }
    } else {
        sources[alone] = wasm;
    }
    return sources;
}

/** The module's account with this interface's names. @param {any} answer @param {Uint8Array} envelope */
function inspectionOf(answer, envelope) {
    const { statement: st, info, verdict, milliseconds } = answer;
    const aggregate = st.kind === KIND_LEANXMSS;
    const items = Array.from({ length: st.count }, (_, i) => envelope.slice(st.itemsAt + 32 * i, st.itemsAt + 32 * (i + 1)));
    return {
        scheme: aggregate ? "leanXMSS" : "hash",
        count: st.count,
        epoch: aggregate ? st.epoch : null,
        message: aggregate ? envelope.slice(st.messageAt, st.messageAt + MESSAGE_BYTES) : null,
        publicKeys: aggregate ? items : [],
        digests: aggregate ? [] : items,
        accepted: verdict.accepted,
        check: verdict.accepted ? null : verdict.check,
        index: verdict.accepted ? null : verdict.index,
        reason: verdict.accepted ? null : verdict.reason,
        milliseconds,
        envelopeBytes: info.envelope_bytes,
        statementBytes: info.statement_bytes,
        proofBytes: info.proof_bytes,
        parts: info.parts,
        logSlots: info.log_slots,
        permutationsPerSlot: info.permutations_per_slot,
        logWords: info.log_words,
        logInvRate: info.log_inv_rate,
        arity: info.arity,
        lastLog: info.last_log,
        levels: info.levels.map((/** @type {any} */ l) => ({
            fold: l.fold,
            logInvRate: l.log_inv_rate,
            queries: l.queries,
            grindingBits: l.grinding_bits,
        })),
        securityBits: info.security_bits,
    };
}

/* ---- provers ---- */

/* Nobody but createProver makes one. */
const made = Symbol("made");

export class Prover {
    /**
     * @param {symbol} token
     * @param {Client} client
     * @param {{threads: number, kernels: string, engine: string, notice: string | null}} about
     */
    constructor(token, client, about) {
        if (token !== made) throw invalid("a Prover comes from createProver");
        this.threads = about.threads;
        this.kernels = about.kernels;
        this.engine = about.engine;
        this.notice = about.notice;
        /** @type {Client} */
        this._client = client;
        /** @type {unknown} the worker that holds the handle */
        this._owner = null;
        this._handle = 0;
        Object.defineProperties(this, { _client: { enumerable: false }, _owner: { enumerable: false }, _handle: { enumerable: false } });
    }

    /** A worker that was ended takes its prover along. */
    async _prover() {
        if (this._owner !== this._client.port) {
            this._handle = await this._client.request("createProver", { threads: this.threads });
            this._owner = this._client.port;
        }
        return this._handle;
    }

    /**
     * @param {string} op @param {any} args @param {any[]} transfer @param {any} options
     * @returns {Promise<Uint8Array<ArrayBuffer>>}
     */
    _prove(op, args, transfer, options) {
        return this._client.call({
            op,
            args: async () => ({ ...args, prover: await this._prover() }),
            transfer,
            signal: options.signal,
            onProgress: options.onProgress,
            long: true,
        });
    }

    /** @param {any} signatures @param {any} [options] */
    async aggregate(signatures, options) {
        const o = optionsOf(options, ["signal", "onProgress", "logInvRate"], "options");
        const logInvRate = rateOf(o.logInvRate);
        const { epoch, message, entries } = entriesOf(signatures);
        return this._prove("aggregate", { logInvRate, epoch, message, entries }, [entries.buffer], o);
    }

    /** @param {any} messages @param {any} [options] */
    async proveHashBatch(messages, options) {
        const o = optionsOf(options, ["signal", "onProgress", "logInvRate"], "options");
        const logInvRate = rateOf(o.logInvRate);
        const preimages = joinOf(messages, "messages", PREIMAGE_BYTES, MAX_HASHES);
        return this._prove("proveHashBatch", { logInvRate, preimages }, [preimages.buffer], o);
    }

    /** @param {any} request */
    async memory(request) {
        const { signers, hashes, logInvRate: rate } = ownOf(objectOf(request, "request"), ["signers", "hashes", "logInvRate"]);
        if ((signers === undefined) === (hashes === undefined))
            throw invalid("one of signers and hashes is needed");
        const kind = signers === undefined ? KIND_HASH : KIND_LEANXMSS;
        const count =
            kind === KIND_HASH
                ? integerOf(hashes, "hashes", 1, MAX_HASHES)
                : integerOf(signers, "signers", 1, MAX_SIGNERS);
        const logInvRate = rateOf(rate);
        const { threads } = this;
        const said = await this._client.call({ op: "proofMemory", args: { kind, count, logInvRate, threads } });
        if (said.needed === 0)
            throw new SheafError("UNSUPPORTED", `there are no parameters for ${count} at rate 2^-${logInvRate}`);
        return { needed: said.needed, available: said.available, fits: said.needed <= said.available };
    }

    async dispose() {
        this._client.close();
    }
}

if (typeof Symbol.asyncDispose === "symbol") {
    Object.defineProperty(Prover.prototype, Symbol.asyncDispose, { value: Prover.prototype.dispose });
}

/* ---- the interface ---- */

/**
 * @param {Platform} platform
 * @param {any} [options]
 */
export function createApi(platform, options) {
    const own = sheafOptionsOf(options);
    const sources = sourcesOf(own.wasm, "verifier");
    const verifiers = own.verifiers === undefined ? 0 : integerOf(own.verifiers, "verifiers", 1, 64);
    /** @type {Partial<Record<Kind, Promise<any>>>} */
    const given = Object.create(null);
    /** @type {Partial<Record<Kind, WebAssembly.Module>>} compiled here once already */
    const modules = Object.create(null);
    /** @type {Set<Client>} */
    const clients = new Set();
    /** @type {Client[]} */
    let pool = [];
    /** @type {Client | null} */
    let signer = null;

    /** @param {any} value */
    const memoryOf = (value) => {
        return Math.min(value ?? own.maxMemory ?? Infinity, platform.memoryLimit(), 4294967296);
    };

    /**
     * @param {Kind} kind
     * @param {{threads?: number, source?: unknown, maxMemory?: number, about?: (value: any) => void}} [more]
     */
    function clientOf(kind, more = {}) {
        more = ownOf(more);
        const maxMemory = memoryOf(more.maxMemory);
        /** @type {Promise<any> | undefined} */
        let source;
        const client = new Client(
            platform.spawn(kind),
            async () => {
                /* A Response can be read once: what it was read to is kept. */
                if (more.source !== undefined) source ??= portable(more.source, platform.base());
                else if (sources[kind] !== undefined) source = given[kind] ??= portable(sources[kind], platform.base());
                const chosen = more.source === undefined ? (modules[kind] ?? (await source)) : await source;
                return { source: chosen, threads: more.threads ?? 1, relaxed: own.relaxed ?? true, maxMemory };
            },
            (value) => {
                if (more.source === undefined) modules[kind] = value.module;
                more.about?.(value);
            },
        );
        clients.add(client);
        return client;
    }

    /** @param {Client} client */
    function close(client) {
        clients.delete(client);
        client.close();
    }

    /** The least busy verifier; another is started while all are busy and there may be more. */
    function verifier() {
        const most = verifiers || Math.max(1, Math.min(MOST_VERIFIERS, platform.cores()));
        let best = pool[0];
        for (const client of pool) if (client.load < best.load) best = client;
        if (best === undefined || (best.load > 0 && pool.length < most)) {
            best = clientOf("verifier");
            pool.push(best);
        }
        return best;
    }

    function keeper() {
        signer ??= clientOf("prover");
        return signer;
    }

    /** @param {any} envelope @param {any} expected @param {any} [options] */
    async function verify(envelope, expected, options) {
        const { signal } = optionsOf(options, ["signal"], "options");
        if (signal?.aborted) throw cancelled(signal.reason);
        const asked = askedOf(expected);
        return verifyAsked(envelopeOf(envelope), asked, signal);
    }

    /** @param {Uint8Array<ArrayBuffer> | Blob} envelope @param {any} asked @param {AbortSignal | undefined} signal */
    async function verifyAsked(envelope, asked, signal) {
        const bytes = await bytesOf(envelope);
        const verdict = await verifier().call({
            op: "verify",
            args: { envelope: bytes, asked },
            transfer: [bytes.buffer],
            signal,
        });
        return verdict.accepted === true;
    }

    /** @param {any} items @param {any} [options] */
    async function verifyMany(items, options) {
        const { signal, onProgress } = optionsOf(options, ["signal", "onProgress"], "options");
        if (signal?.aborted) throw cancelled(signal.reason);
        if (!Array.isArray(items)) throw invalid("items: not an array of {envelope, expected}");
        /** Says of which item an error is. @param {unknown} error @param {number} i */
        const of = (error, i) => {
            if (!(error instanceof SheafError) || error.code === "CANCELLED") return error;
            const { code, message, check, needed, available, url } = error;
            return new SheafError(code, `items[${i}]: ${message}`, { index: i, check, needed, available, url, cause: error });
        };
        /* Everything is read and copied before anything is waited for. */
        const n = items.length;
        /** @type {{envelope: Uint8Array<ArrayBuffer> | Blob, asked: any}[]} */
        const read = [];
        eachOf(items, "items", n, (item, i) => {
            if (typeof item !== "object" || item === null) throw invalid(`items[${i}]: not an object`, i);
            try {
                const { envelope, expected } = ownOf(item, ["envelope", "expected"]);
                const asked = askedOf(expected);
                read.push({ envelope: envelopeOf(envelope), asked });
            } catch (error) {
                throw of(error, i);
            }
        });
        /** @type {boolean[]} */
        const results = new Array(n).fill(false);
        let next = 0;
        let done = 0;
        let failed = false;
        async function lane() {
            while (next < n && !failed) {
                const i = next++;
                try {
                    results[i] = await verifyAsked(read[i].envelope, read[i].asked, signal);
                } catch (error) {
                    failed = true;
                    throw of(error, i);
                }
                done++;
                if (!failed) onProgress?.(done / n, "verify");
            }
        }
        const lanes = Math.min(n, verifiers || Math.max(1, Math.min(MOST_VERIFIERS, platform.cores())));
        await Promise.all(Array.from({ length: lanes }, lane));
        return results;
    }

    /** @param {any} signature @param {any} [options] */
    async function verifySignature(signature, options) {
        const { signal } = optionsOf(options, ["signal"], "options");
        objectOf(signature, "signature");
        const scheme = signature.scheme ?? "leanXMSS";
        if (scheme !== "leanXMSS") throw unknownScheme(scheme);
        const args = {
            publicKey: copyOf(signature.publicKey, "publicKey", KEY_BYTES),
            epoch: integerOf(signature.epoch, "epoch", 0, MAX_EPOCH),
            message: copyOf(signature.message, "message", MESSAGE_BYTES),
            signature: copyOf(signature.signature, "signature", SIGNATURE_BYTES),
        };
        return (await verifier().call({ op: "verifySignature", args, signal })) === true;
    }

    /** @param {any} envelope @param {any} [options] */
    async function inspect(envelope, options) {
        const { signal, expected } = optionsOf(options, ["signal", "expected"], "options");
        const asked = expected === undefined ? undefined : askedOf(expected);
        const bytes = await bytesOf(envelopeOf(envelope));
        const answer = await verifier().call({ op: "inspect", args: { envelope: bytes, asked }, signal });
        if (asked && asked.kind !== answer.statement.kind)
            throw new SheafError("MALFORMED", "the envelope is of another scheme than was expected");
        return inspectionOf(answer, bytes);
    }

    /** @param {any} threads @returns {{threads: number, notice: string | null}} */
    function threadsOf(threads) {
        const why = platform.noThreads();
        if (threads === undefined || threads === "auto") {
            const cores = Math.max(1, Math.min(MOST_THREADS, platform.cores()));
            return { threads: why === null ? cores : 1, notice: why !== null && cores > 1 ? why : null };
        }
        const asked = integerOf(threads, "threads", 1, 64);
        return { threads: why === null ? asked : 1, notice: why !== null && asked > 1 ? why : null };
    }

    /** @param {any} [options] */
    async function createProver(options) {
        const o = proverOptionsOf(options);
        let { threads, notice } = threadsOf(o.threads);
        const tell = o.onNotice ?? own.onNotice ?? platform.notice;
        /** @param {number} n */
        const start = async (n) => {
            /** @type {Kind} */
            const kind = n > 1 ? "threads" : "prover";
            /** @type {any} */
            let about = null;
            const client = clientOf(kind, {
                threads: n,
                source: sourcesOf(o.wasm, kind)[kind],
                maxMemory: o.maxMemory,
                about: (value) => (about = value),
            });
            try {
                await client.call({ op: "memoryUsed", args: {}, signal: o.signal });
                const prover = new Prover(made, client, { threads: n, kernels: about.kernels, engine: "WebAssembly", notice });
                await client.call({ op: "memoryUsed", args: async () => ((await prover._prover(), {})), signal: o.signal });
                const dispose = client.close.bind(client);
                client.close = () => {
                    clients.delete(client);
                    dispose();
                };
                return prover;
            } catch (error) {
                close(client);
                throw error;
            }
        };
        if (threads > 1) {
            try {
                return await start(threads);
            } catch (error) {
                /* Threads that were asked for by number, or a source that is not WebAssembly, are not given up in silence. */
                const code = error instanceof SheafError ? error.code : "INTERNAL";
                const automatic = o.threads === undefined || o.threads === "auto";
                if (!automatic || o.wasm !== undefined || !["OUT_OF_MEMORY", "LOAD", "INTERNAL"].includes(code)) throw error;
                notice = `threads could not be started, so there is one: ${error instanceof Error ? error.message : error}`;
                threads = 1;
            }
        }
        if (notice !== null) tell(notice);
        return start(1);
    }

    /** @param {any} options */
    async function keygen(options) {
        const known = ["firstEpoch", "epochCount", "seed", "threads", "signal", "onProgress", "maxMemory"];
        const o = optionsOf(objectOf(options, "options"), known, "options");
        const start = integerOf(o.firstEpoch, "firstEpoch", 0, MAX_EPOCH);
        const count = integerOf(o.epochCount, "epochCount", 1, MAX_EPOCH + 1);
        const seed = o.seed === undefined ? undefined : copyOf(o.seed, "seed", 32);
        const automatic = o.threads === undefined || o.threads === "auto";
        const { threads } = automatic && count < THREADS_FROM_EPOCHS ? { threads: 1 } : threadsOf(o.threads);
        const client = threads > 1 ? clientOf("threads", { threads, maxMemory: o.maxMemory }) : keeper();
        try {
            const value = await client.call({
                op: "keygen",
                args: { start, count, seed, threads },
                signal: o.signal,
                onProgress: o.onProgress,
                long: true,
            });
            return { scheme: "leanXMSS", key: value.key, publicKey: value.publicKey, firstEpoch: start, epochCount: count };
        } finally {
            if (client !== signer) close(client);
        }
    }

    /**
     * The signature alone, by a key's bytes, which no journal guards.
     * @param {Uint8Array} key a copy, which goes to the worker and is wiped
     * @param {number} epoch @param {Uint8Array} message @param {AbortSignal} [signal]
     * @returns {Promise<{signature: Uint8Array<ArrayBuffer>, publicKey: Uint8Array<ArrayBuffer>, trial: number}>}
     */
    function signRaw(key, epoch, message, signal) {
        return keeper().call({ op: "sign", args: { key, epoch, message }, transfer: [key.buffer], signal });
    }

    /** @param {Uint8Array} key a copy, which goes to the worker and is wiped */
    function keyInfo(key) {
        return keeper().call({ op: "keyInfo", args: { key }, transfer: [key.buffer] });
    }

    /** Refuses an interval that no key can have. @param {number} start @param {number} count */
    function checkInterval(start, count) {
        return keeper().call({ op: "keyInterval", args: { start, count } });
    }

    /** @param {any} key @param {any} request @param {any} [options] */
    async function sign(key, request, options) {
        const { signal } = optionsOf(options, ["signal"], "options");
        const { epoch, message } = signRequestOf(request);
        const bytes = binaryOf(key, "key", checkKeyLength);
        const name = toHex(bytes.subarray(KEY_PUBLIC_AT, KEY_LEAST_BYTES));
        const signed = signedHere.get(name) ?? new Map();
        const now = toHex(message);
        const record = signed.get(epoch) ?? { message: now, users: 0, kept: false };
        if (record.message !== now) {
            bytes.fill(0);
            throw new SheafError("EPOCH_USED", `epoch ${epoch} has signed another message`);
        }
        record.users++;
        signed.set(epoch, record);
        signedHere.set(name, signed);
        try {
            const { signature, publicKey } = await signRaw(bytes, epoch, message, signal);
            record.kept = true;
            return { scheme: "leanXMSS", epoch, message, publicKey, signature };
        } catch (error) {
            /* What no signature left for is not used up; after a cancellation that cannot be known. */
            const known = error instanceof SheafError && ["MALFORMED", "EPOCH_RANGE", "UNSUPPORTED", "LOAD"].includes(error.code);
            if (!known) record.kept = true;
            throw error;
        } finally {
            /* The last to leave takes a record along that no call of all has needed. */
            if (--record.users === 0 && !record.kept) signed.delete(epoch);
        }
    }

    /** Ends every worker; the next call starts what it needs. */
    async function close_() {
        pool = [];
        signer = null;
        for (const client of [...clients]) close(client);
    }

    return {
        verify,
        verifyMany,
        verifySignature,
        inspect,
        createProver,
        keygen,
        sign,
        close: close_,
        internal: { signRaw, keyInfo, checkInterval, threadsOf },
    };
}
