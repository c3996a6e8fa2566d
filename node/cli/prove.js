/* Verbs that prove: aggregate, hash prove; and work that takes long.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The native command does it where one is found: it gets the same arguments and the same standard input and output. */
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import os from "node:os";
import { MAX_HASHES, PREIMAGE_BYTES, toHex } from "../../web/core/bytes.js";
import { SheafError } from "../../web/core/errors.js";
import { countOf, entryOf, SCHEME } from "../../web/core/formats.js";
import { createSheaf } from "../index.js";
import { endsWithUs, findNative, nativeEnv } from "../native.js";
import { isUtf8 } from "../paths.js";
import { ERROR, Exit, OK, parseArgs, plain, plural, quote, say } from "./context.js";
import { engineOf } from "./engine.js";
import { freeBytes } from "./memory.js";
import { readSignatures } from "./signatures.js";

/**
 * @typedef {import("./context.js").Command} Command
 * @typedef {{signal: AbortSignal, onProgress: (fraction: number, stage: string) => void}} Work
 */

export const MAX_RATE = 6;
/** @type {import("./context.js").Spec} */
export const MEMORY_SPEC = { name: "memory", type: "number", min: 1, max: 4294967295 };
const BAR_WIDTH = 40;
const BAR_AFTER = 1000;
const BAR_EVERY = 100;
/* Milliseconds that a native command may take to stop. */
const STOPS_WITHIN = 5000;
/* Fewer epochs than this are made where they are asked for: a worker would take longer to start. */
const EPOCHS_IN_PLACE = 256;

/* ---- a progress bar, and stopping by a signal ---- */

/** @type {NodeJS.Signals[]} */
const SIGNALS = ["SIGINT", "SIGTERM"];
const stopping = new AbortController();
const stop = () => stopping.abort();

/** From now on an interrupt asks the running work to stop; a second one ends the process. */
export function catchSignals() {
    for (const name of SIGNALS) process.once(name, stop);
}

/**
 * Runs work that an interrupt stops.
 * @template T
 * @param {Command} c @param {string} what @param {(work: Work) => Promise<T>} run
 * @returns {Promise<T>}
 */
export async function working(c, what, run) {
    const bar = !c.quiet && process.stderr.isTTY === true;
    const begin = performance.now();
    let shown = -Infinity;
    try {
        return await run({
            signal: stopping.signal,
            onProgress(fraction, stage) {
                const now = performance.now();
                if (!bar || now - begin < BAR_AFTER || now - shown < BAR_EVERY) return;
                const filled = Math.max(0, Math.min(BAR_WIDTH, Math.floor(fraction * BAR_WIDTH)));
                const percent = (100 * fraction).toFixed(0).padStart(3);
                say(`\r${what} [${"=".repeat(filled).padEnd(BAR_WIDTH)}] ${percent}% ${stage.slice(0, 20).padEnd(20)}`);
                shown = now;
            },
        });
    } finally {
        if (shown > 0) say("\r\u001b[K");
    }
}

/** A prover of as many threads and as much memory as is asked for. @param {Command} c */
export function proverFor(c) {
    return createSheaf().createProver({ threads: c.threads || "auto", maxMemory: c.memory * 1048576 || freeBytes() });
}

/** Whether a failure is one that --memory changes. @param {unknown} error @returns {error is SheafError} */
export function isOverMemory(error) {
    return error instanceof SheafError && error.code === "OUT_OF_MEMORY" && Number.isFinite(error.needed);
}

/** @param {Command} c @param {SheafError} error */
export function tellMemory(c, error) {
    c.print(null, null, `${error.message} (see --memory)`);
    return ERROR;
}

/** @param {Command} c @param {number} start @param {number} count @param {Uint8Array | undefined} seed */
export async function keygenWork(c, start, count, seed) {
    if (count < EPOCHS_IN_PLACE) {
        const engine = await engineOf("prover");
        return engine.keygen(0, seed, start, engine.keyInterval(start, count));
    }
    return working(c, "keygen", async (work) => {
        const { key } = await createSheaf().keygen({
            firstEpoch: start,
            epochCount: count,
            seed,
            threads: c.threads || "auto",
            ...work,
        });
        return key;
    });
}

/* ---- the native command ---- */

/**
 * The native command that is to do this; null where there is none, or where a name is no UTF-8: Node cannot pass that on.
 * @param {Command} c @param {string[]} argv
 */
export async function nativeFor(c, argv) {
    if (!argv.every(isUtf8)) return null;
    try {
        return findNative((await engineOf("verifier")).version);
    } catch (error) {
        return c.fail(null, error);
    }
}

/**
 * The native command with these arguments; what it wrote to standard output, where that is wanted. Its error lines are its own.
 * @param {string} file @param {string[]} args @param {boolean} capture
 * @returns {Promise<{code: number, out: string}>}
 */
export function delegate(file, args, capture) {
    return new Promise((resolve, reject) => {
        const child = spawn(file, args, { stdio: ["inherit", capture ? "pipe" : "inherit", "inherit"], env: nativeEnv() });
        /* Whatever ends us ends it: asked to stop, which it does by itself and says so; at the second signal, or where it does not
         * stop, at once. A terminal's interrupt reaches it from there too, which does no harm. */
        /** @type {NodeJS.Timeout | undefined} */
        let patience;
        const onSignal = () => {
            child.kill(patience === undefined ? "SIGTERM" : "SIGKILL");
            patience ??= setTimeout(() => child.kill("SIGKILL"), STOPS_WITHIN);
        };
        endsWithUs(child);
        for (const name of SIGNALS) process.off(name, stop).on(name, onSignal);
        if (stopping.signal.aborted) onSignal();
        let out = "";
        child.stdout?.setEncoding("utf8").on("data", (piece) => (out += piece));
        child.on("error", reject);
        child.on("close", (code, signal) => {
            clearTimeout(patience);
            for (const name of SIGNALS) process.off(name, onSignal);
            resolve({ code: code ?? 128 + os.constants.signals[signal ?? "SIGKILL"], out });
        });
    });
}

/* ---- what is said of a proof ---- */

/** @param {string} text @param {Record<string, string | number>} fields more of them, at the object's end */
export function addFields(text, fields) {
    const more = Object.entries(fields).map(([name, value]) => `,\n  "${name}": ${typeof value === "string" ? quote(value) : value}`);
    return text.replace(/\n\}\n$/, `${more.join("")}\n}\n`);
}

/**
 * @param {Command} c @param {string} output
 * @param {{what: string, jsonFields: string[], envelope: number, proof: number, seconds: number}} made
 * @param {{engine: string, isa: string, threads: number}} by
 */
function report(c, output, made, by) {
    if (output === "-" || (c.quiet && !c.json)) return;
    if (c.json) {
        const fields = [
            `"file": ${quote(output)}`,
            ...made.jsonFields,
            `"envelope_bytes": ${made.envelope}`,
            `"proof_bytes": ${made.proof}`,
            `"seconds": ${made.seconds.toFixed(6)}`,
        ];
        c.write("-", addFields(`{\n  ${fields.join(",\n  ")}\n}\n`, by));
        return;
    }
    const isa = by.threads > 0 ? `${by.isa}, ${by.threads} thread${plural(by.threads)}` : by.isa;
    c.write("-", `${plain(output)}: ${made.what}, proof ${made.proof} bytes, file ${made.envelope} bytes, ${made.seconds.toFixed(2)} s, by ${by.engine} (${isa})\n`);
}

/**
 * Lets the native command prove; null where there is none. The report is ours, so that it says who did it.
 * @param {Command} c @param {string[]} words the verb's @param {string[]} argv @param {string} output
 * @param {(said: any) => {what: string, jsonFields: string[]}} describe
 */
async function proveNatively(c, words, argv, output, describe) {
    const native = await nativeFor(c, argv);
    if (native === null) return null;
    const capture = output !== "-" && (c.json || !c.quiet);
    const args = [...words, ...(capture && !c.json ? ["--json"] : []), ...argv];
    const { code, out } = await delegate(native.file, args, capture);
    if (code !== OK || !capture) return code;
    const said = JSON.parse(out);
    const made = { ...describe(said), envelope: said.envelope_bytes, proof: said.proof_bytes, seconds: said.seconds };
    report(c, output, made, { engine: native.file, isa: native.isa, threads: c.threads });
    return OK;
}

/**
 * Proves by WebAssembly, in workers.
 * @param {Command} c @param {string | null} input @param {string} what @param {string} output
 * @param {(prover: import("../index.d.ts").Prover, work: Work) => Promise<Uint8Array>} run
 * @param {{what: string, jsonFields: string[]}} description
 */
async function proveHere(c, input, what, output, run, description) {
    let envelope;
    /** @type {import("../index.d.ts").Prover | undefined} */
    let prover;
    let seconds = 0;
    c.checkOutput(output);
    try {
        prover = await proverFor(c);
        const mine = prover;
        const begin = performance.now();
        envelope = await working(c, what, (work) => run(mine, work));
        seconds = (performance.now() - begin) / 1000;
        c.write(output, envelope);
        const { proofLength } = (await engineOf("verifier")).parse(envelope);
        const made = { ...description, envelope: envelope.length, proof: proofLength, seconds };
        report(c, output, made, { engine: "WebAssembly", isa: mine.kernels, threads: mine.threads });
        return OK;
    } catch (error) {
        if (error instanceof Exit) throw error;
        return isOverMemory(error) ? tellMemory(c, error) : c.failure(input, error);
    } finally {
        await prover?.dispose();
    }
}

/** @param {number} signers @param {number} epoch @param {string} message with 0x */
function describeAggregate(signers, epoch, message) {
    return {
        what: `${signers} signer${plural(signers)}, epoch ${epoch}`,
        jsonFields: [`"signers": ${signers}`, `"epoch": ${epoch}`, `"message": "${message}"`],
    };
}

/** @param {Command} c @param {string[]} argv */
export async function aggregate(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "output", letter: "o", type: "text" },
        { name: "log-inv-rate", type: "number", min: 1, max: MAX_RATE },
        MEMORY_SPEC,
    ]);
    if (c.help) return OK;
    if (files.length !== 1) c.error(null, null, `one list of signatures is needed, ${files.length} are given`);
    const { output } = values;
    if (output === undefined) c.error(null, "--output", "is needed: the aggregate's file");
    catchSignals();
    const describe = (/** @type {any} */ said) => describeAggregate(said.signers, said.epoch, said.message);
    const done = await proveNatively(c, ["aggregate"], argv, output, describe);
    if (done !== null) return done;
    const set = readSignatures(c, files[0]);
    const signatures = Array.from({ length: countOf(set) }, (_, i) => entryOf(set, i));
    const list = { scheme: SCHEME, epoch: set.epoch, message: set.message, signatures };
    return proveHere(
        c,
        files[0],
        "aggregate",
        output,
        (prover, work) => prover.aggregate(list, { logInvRate: c.logInvRate, ...work }),
        describeAggregate(signatures.length, set.epoch, `0x${toHex(set.message)}`),
    );
}

/* ---- hash batches ---- */

/** Message i is SHAKE256(seed || i, 8 bytes, little endian). @param {number} n @param {Uint8Array} seed */
export function examplePreimages(n, seed) {
    const out = new Uint8Array(n * PREIMAGE_BYTES);
    const input = Buffer.alloc(40);
    input.set(seed);
    for (let i = 0; i < n; i++) {
        input.writeUInt32LE(i, 32);
        out.set(createHash("shake256", { outputLength: PREIMAGE_BYTES }).update(input).digest(), i * PREIMAGE_BYTES);
    }
    input.fill(0);
    return out;
}

/** @param {number} n */
const describeBatch = (n) => ({ what: `${n} hashes`, jsonFields: [`"hashes": ${n}`] });

/** @param {Command} c @param {string} file */
function readPreimages(c, file) {
    const bytes = c.read(file, MAX_HASHES * PREIMAGE_BYTES);
    if (bytes.length === 0 || bytes.length % PREIMAGE_BYTES !== 0)
        c.error(file, null, `${bytes.length} bytes are not a positive number of ${PREIMAGE_BYTES}-byte messages`);
    return bytes;
}

/** @param {Command} c @param {string[]} argv */
export async function hashProve(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "output", letter: "o", type: "text" },
        { name: "log-n", type: "number", max: 20 },
        { name: "messages", type: "text" },
        { name: "seed", type: "seed" },
        { name: "log-inv-rate", type: "number", min: 1, max: MAX_RATE },
        MEMORY_SPEC,
    ]);
    if (c.help) return OK;
    const { output, messages, seed } = values;
    const logN = values["log-n"];
    if (files.length > 0) c.error(files[0], null, "an argument that is not expected");
    if (output === undefined) c.error(null, "--output", "is needed: the batch's file");
    if ((logN !== undefined) === (messages !== undefined)) c.error(null, null, "one of --log-n N and --messages FILE is needed");
    if (messages !== undefined && seed !== undefined) c.error(null, "--seed", "goes with --log-n only");
    catchSignals();
    const done = await proveNatively(c, ["hash", "prove"], argv, output, (said) => describeBatch(said.hashes));
    if (done !== null) return done;
    const preimages = messages !== undefined ? readPreimages(c, messages) : examplePreimages(2 ** logN, seed ?? randomBytes(32));
    const n = preimages.length / PREIMAGE_BYTES;
    const run = (/** @type {import("../index.d.ts").Prover} */ prover, /** @type {Work} */ work) =>
        prover.proveHashBatch(preimages, { logInvRate: c.logInvRate, ...work });
    try {
        return await proveHere(c, null, "hash prove", output, run, describeBatch(n));
    } finally {
        preimages.fill(0);
    }
}

