/* The worker's side of the protocol: an engine that answers messages, one at a time.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     to the worker      {id, op, args}                 the first op is "open"
 *     from the worker    {id, value} | {id, error}      one of them ends the call
 *                        {id, progress, stage}          before that, any number
 *
 * A call is cancelled by a number other than zero in the shared flag that came with "open"; where memory cannot be shared the
 * page ends the worker instead. */
import { Engine } from "./engine.js";
import { SheafError, packError } from "./errors.js";
import { compile, hasRelaxedSimd } from "./source.js";

/** The least that a message says again about its progress, in milliseconds. */
const PROGRESS_EVERY = 40;
const PAGE = 65536;

/**
 * @typedef {object} Glue a module's JavaScript, as the build makes it
 * @property {(options: object) => Promise<any>} create
 * @property {string} wasm the address of its WebAssembly
 * @property {string} relaxed the address of the one that needs relaxed SIMD
 * @property {boolean} threads
 * @property {(url: string) => Promise<Uint8Array | null>} [readFile]
 *
 * @typedef {object} OpenArgs
 * @property {WebAssembly.Module | Uint8Array | string} [source] instead of the build's own
 * @property {number} [threads] how many a prover may have
 * @property {boolean} [relaxed] false: never the relaxed one
 * @property {number} [maxMemory] bytes
 * @property {SharedArrayBuffer} [flag]
 */

/**
 * The largest shared memory that the engine grants: some reserve its whole maximum at once.
 * @param {number} maxMemory bytes
 */
function sharedMemory(maxMemory) {
    const initial = 512; // 32 MiB: the modules start with no more
    const most = Math.max(initial, Math.min(PAGE, Math.floor(maxMemory / PAGE)));
    let failure;
    for (let maximum = most; maximum >= initial; maximum = Math.floor(maximum / 2)) {
        try {
            return { memory: new WebAssembly.Memory({ initial, maximum, shared: true }), limit: maximum * PAGE };
        } catch (cause) {
            failure = cause;
        }
    }
    throw new SheafError("OUT_OF_MEMORY", "this engine gives no shared WebAssembly memory", { cause: failure });
}

/** @param {Glue} glue @param {OpenArgs} args */
export async function openEngine(glue, args) {
    /** @type {{progress: import("./engine.js").Progress | null}} */
    const slot = { progress: null };
    const source = args.source ?? (args.relaxed !== false && hasRelaxedSimd() ? glue.relaxed : glue.wasm);
    const module = await compile(source, glue.readFile);
    const asked = args.maxMemory ?? PAGE * PAGE;
    let limit = Math.min(asked, PAGE * PAGE - 1);
    /** @type {any} */
    const options = {
        /** @param {WebAssembly.Imports} imports @param {(i: WebAssembly.Instance, m: WebAssembly.Module) => void} receive */
        instantiateWasm(imports, receive) {
            WebAssembly.instantiate(module, imports)
                .then((instance) => receive(instance, module))
                .catch((error) => failed(error));
            return {};
        },
        /** @param {number} fraction @param {string} stage */
        sheafProgress: (fraction, stage) => slot.progress?.(fraction, stage) ?? false,
        print() {},
        printErr() {},
    };
    /** @type {(error: unknown) => void} */
    let failed = () => {};
    const failure = new Promise((_, reject) => {
        failed = reject;
    });
    if (glue.threads) {
        const shared = sharedMemory(asked);
        options.wasmMemory = shared.memory;
        options.sheafWorkers = Math.max(0, (args.threads ?? 1) - 1);
        limit = Math.min(limit, shared.limit);
    }
    let instance;
    try {
        instance = await Promise.race([glue.create(options), failure]);
    } catch (cause) {
        const text = cause instanceof Error ? cause.message : String(cause);
        throw new SheafError("LOAD", `the WebAssembly module does not start: ${text}`, { cause });
    }
    return { engine: new Engine(instance, slot, limit), module };
}

/**
 * @param {Glue} glue
 * @param {{post: (message: any, transfer?: any[]) => void, listen: (handler: (message: any) => void) => void}} port
 */
export function serve(glue, port) {
    /** @type {Engine | null} */
    let engine = null;
    /** @type {Int32Array | null} */
    let flag = null;

    /** @param {number} id @returns {import("./engine.js").Progress} */
    const reporter = (id) => {
        let last = -Infinity;
        let lastStage = "";
        return (fraction, stage) => {
            const now = performance.now();
            if (stage !== lastStage || now - last >= PROGRESS_EVERY) {
                last = now;
                lastStage = stage;
                port.post({ id, progress: fraction, stage });
            }
            return flag !== null && Atomics.load(flag, 0) !== 0;
        };
    };

    /** @param {Uint8Array} bytes */
    const output = (bytes) => ({ value: bytes, transfer: [bytes.buffer] });

    /** @type {Record<string, (e: Engine, args: any, id: number) => {value: any, transfer?: any[]}>} */
    const ops = {
        verify: (e, { envelope, asked }) => ({ value: e.verify(envelope, asked) }),
        verifySignature: (e, { publicKey, epoch, message, signature }) => ({
            value: e.verifySignature(publicKey, epoch, message, signature),
        }),
        inspect(e, { envelope, asked }) {
            const statement = e.parse(envelope);
            const begin = performance.now();
            const { info, index, reason } = e.inspect(envelope);
            const milliseconds = performance.now() - begin;
            /* What was expected is looked at only where the proof is a good one of this kind: its own fault comes first. */
            let verdict = { accepted: info.accepted, check: info.check, index, reason };
            if (asked && verdict.accepted) verdict = e.verify(envelope, { ...asked, kind: statement.kind });
            return { value: { statement, info, verdict, milliseconds } };
        },
        proofMemory: (e, { kind, count, logInvRate, threads }) => ({
            value: { needed: e.proofMemory(kind, count, logInvRate, threads), available: e.memoryLimit },
        }),
        createProver: (e, { threads }) => ({ value: e.createProver(threads) }),
        aggregate: (e, { prover, logInvRate, epoch, message, entries }, id) =>
            output(e.aggregate(prover, logInvRate, epoch, message, entries, reporter(id))),
        proveHashBatch(e, { prover, logInvRate, preimages }, id) {
            try {
                return output(e.proveHashBatch(prover, logInvRate, preimages, reporter(id)));
            } finally {
                preimages.fill(0);
            }
        },
        memoryUsed: (e) => ({ value: e.memoryUsed() }),
        /* The most that it has had: it never shrinks. */
        memorySize: (e) => ({ value: e.bytes().length }),
        keyInterval: (e, { start, count }) => ({ value: e.keyInterval(start, count) }),
        keygen(e, { start, count, seed, threads }, id) {
            const logCount = e.keyInterval(start, count);
            const prover = threads > 1 ? e.createProver(threads) : 0;
            try {
                const key = e.keygen(prover, seed, start, logCount, reporter(id));
                return { value: { key, ...e.keyInfo(key) }, transfer: [key.buffer] };
            } finally {
                seed?.fill(0);
                e.destroyProver(prover);
            }
        },
        keyInfo(e, { key }) {
            try {
                return { value: e.keyInfo(key) };
            } finally {
                key.fill(0);
            }
        },
        sign(e, { key, epoch, message }) {
            try {
                return { value: e.sign(key, epoch, message) };
            } finally {
                key.fill(0);
            }
        },
    };

    /** @param {{id: number, op: string, args: any}} message */
    async function answer({ id, op, args }) {
        try {
            if (op === "open") {
                if (args.flag) flag = new Int32Array(args.flag);
                const opened = await openEngine(glue, args);
                engine = opened.engine;
                const { version, kernels, hasThreads, memoryLimit } = engine;
                port.post({ id, value: { version, kernels, hasThreads, memoryLimit, module: opened.module } });
                return;
            }
            if (engine === null) throw new SheafError("INTERNAL", `${op} before open`);
            const { value, transfer } = ops[op](engine, args, id);
            port.post({ id, value }, transfer);
        } catch (error) {
            port.post({ id, error: packError(error), trap: error instanceof WebAssembly.RuntimeError });
        }
    }

    let last = Promise.resolve();
    port.listen((message) => {
        last = last.then(() => answer(message));
    });
}
