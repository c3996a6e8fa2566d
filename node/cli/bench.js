/* Verbs that measure, and security: bench hash, bench aggregate, bench kernels.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Where a native command is found it is what is measured; SHEAF_NATIVE=none measures the WebAssembly. */
import { createHash } from "node:crypto";
import { ENTRY_BYTES, KEY_BYTES, MAX_SIGNERS } from "../../web/core/bytes.js";
import { KIND_HASH, KIND_LEANXMSS } from "../../web/core/engine.js";
import { createSheaf } from "../index.js";
import { OK, parseArgs, plural, quote } from "./context.js";
import { engineOf } from "./engine.js";
import { MAX_RATE, MEMORY_SPEC, addFields, catchSignals, delegate, examplePreimages, nativeFor, proverOptions, working } from "./prove.js";

/** @typedef {import("./context.js").Command} Command */

const MOST_REPEATS = 100;
const LEAST_VERIFICATIONS = 5;
const EXAMPLE_EPOCH = 7;

/** @param {Command} c @param {string[]} argv with the verb's words @param {boolean} [say] which command it was */
async function natively(c, argv, say = false) {
    catchSignals();
    const native = await nativeFor(c, argv);
    if (native === null) return null;
    const { code, out } = await delegate(native.file, argv, say);
    if (say && code === OK) {
        const added = c.json ? addFields(out, { engine: native.file }) : `${out}\nby ${native.file}\n`;
        if (out !== "") c.write("-", added);
    }
    return code;
}

/** The middle one; of two middle ones the slower. @param {{seconds: number}[]} times @returns {any} */
function median(times) {
    return [...times].sort((a, b) => a.seconds - b.seconds)[Math.floor(times.length / 2)];
}

/* ---- signers that anyone can make again (src/common/cli/examples.c) ---- */

/** @param {string} text @param {number} [i] */
function shake(text, i) {
    const hash = createHash("shake256", { outputLength: 32 }).update(text);
    if (i === undefined) return hash.digest();
    const index = Buffer.alloc(8);
    index.writeUInt32LE(i);
    return hash.update(index).digest();
}

/** @param {number} n @param {AbortSignal} signal */
async function exampleSignatures(n, signal) {
    const engine = await engineOf("prover");
    const message = shake("sheaf example message");
    const entries = new Uint8Array(n * ENTRY_BYTES);
    for (let i = 0; i < n; i++) {
        const key = engine.keygen(0, shake("sheaf example signer", i), EXAMPLE_EPOCH, 0);
        const { signature, publicKey } = engine.sign(key, EXAMPLE_EPOCH, message);
        key.fill(0);
        entries.set(publicKey, i * ENTRY_BYTES);
        entries.set(signature, i * ENTRY_BYTES + KEY_BYTES);
        if (i % 16 === 0) await new Promise((resolve) => setImmediate(resolve)); // lets a signal be heard
        signal.throwIfAborted();
    }
    return { epoch: EXAMPLE_EPOCH, message, entries };
}

/** @param {{epoch: number, message: Uint8Array, entries: Uint8Array}} set */
function listOf(set) {
    const signatures = [];
    for (let at = 0; at < set.entries.length; at += ENTRY_BYTES) {
        const entry = set.entries.subarray(at, at + ENTRY_BYTES);
        signatures.push({ publicKey: entry.subarray(0, KEY_BYTES), signature: entry.subarray(KEY_BYTES) });
    }
    return { epoch: set.epoch, message: set.message, signatures };
}

/* ---- measuring ---- */

/**
 * @param {(o: any) => Promise<Uint8Array>} prove @param {any} work
 * @returns {Promise<{seconds: number, stages: Map<string, {calls: number, seconds: number}>, envelope: Uint8Array}>}
 */
async function timeOnce(prove, work) {
    /** @type {Map<string, {calls: number, seconds: number}>} */
    const stages = new Map();
    let at = performance.now();
    const begin = at;
    let name = "";
    const leave = (/** @type {number} */ now) => {
        const stage = stages.get(name);
        if (stage !== undefined) stage.seconds += (now - at) / 1000;
        at = now;
    };
    const onProgress = (/** @type {number} */ fraction, /** @type {string} */ stage) => {
        leave(performance.now());
        if (stage !== name) {
            name = stage;
            const known = stages.get(name) ?? { calls: 0, seconds: 0 };
            known.calls++;
            stages.set(name, known);
        }
        work.onProgress(fraction, stage);
    };
    const envelope = await prove({ signal: work.signal, onProgress });
    leave(performance.now());
    return { seconds: (performance.now() - begin) / 1000, stages, envelope };
}

/** @param {any} r figures */
function figuresJson(r) {
    const stages = [...r.stages].map(([name, s]) => {
        return `{"name":${quote(name)},"calls":${s.calls},"seconds":${s.seconds.toFixed(9)},"cycles":0,"children":[]}`;
    });
    const fields = [
        `"bench": ${quote(r.signers ? "aggregate" : "hash")}`,
        `"permutations": ${r.permutations}`,
        `"signers": ${r.signers}`,
        `"hashes": ${r.hashes}`,
        `"threads": ${r.threads}`,
        `"isa": ${quote(r.isa)}`,
        `"repeats": ${r.repeats}`,
        `"seconds_prove": ${r.prove.toFixed(6)}`,
        `"seconds_verify": ${r.verify.toFixed(6)}`,
        `"cycles_per_permutation": 0.0`,
        `"permutations_per_second": ${(r.permutations / r.prove).toFixed(1)}`,
        `"signatures_per_second": ${(r.signers / r.prove).toFixed(2)}`,
        `"proof_bytes": ${r.proofBytes}`,
        `"peak_bytes": ${r.peakBytes}`,
        `"log_inv_rate": ${r.rate}`,
        `"security_bits": ${r.securityBits.toFixed(2)}`,
        `"stages": [${stages.join(",")}]`,
        `"engine": "WebAssembly"`,
    ];
    return `{\n  ${fields.join(",\n  ")}\n}\n`;
}

/** @param {any} r figures */
function figuresText(r) {
    const count = r.signers ? `${r.signers} signers` : `${r.hashes} hashes`;
    const threads = `${r.threads} thread${plural(r.threads)}`;
    const rate = (r.permutations / r.prove).toFixed(0);
    const signatures = r.signers ? `, ${(r.signers / r.prove).toFixed(1)} signatures a second` : "";
    const seconds = (/** @type {number} */ s) => s.toFixed(4).padStart(10);
    const lines = [
        `${count}, ${r.permutations} permutations, ${threads}, WebAssembly (${r.isa}); medians of ${r.repeats}`,
        `prove   ${seconds(r.prove)} s, ${rate} permutations a second${signatures}`,
        `verify  ${seconds(r.verify)} s`,
        `proof   ${String(r.proofBytes).padStart(10)} bytes, first rate 2^-${r.rate}, ${r.securityBits.toFixed(2)} bits of soundness`,
        `memory  ${(r.peakBytes / 1e6).toFixed(1).padStart(10)} MB at most`,
        "",
    ];
    for (const [name, s] of r.stages) {
        lines.push(`  ${name.padEnd(30)} ${seconds(s.seconds)} s ${((100 * s.seconds) / r.prove).toFixed(1).padStart(5)}%`);
    }
    return `${lines.join("\n")}\n`;
}

/** @param {Command} c @param {string[]} argv @param {string} sizeName @param {number} least @param {number} most */
function benchArgs(c, argv, sizeName, least, most) {
    const { values, files } = parseArgs(c, argv, [
        { name: sizeName, type: "number", min: least, max: most },
        { name: "repeats", type: "number", min: 1, max: MOST_REPEATS },
        { name: "warmup", type: "number", max: MOST_REPEATS },
        { name: "log-inv-rate", type: "number", min: 1, max: MAX_RATE },
        MEMORY_SPEC,
        { name: "output", letter: "o", type: "text" },
    ]);
    if (files.length > 0) c.error(files[0], null, "an argument that is not expected");
    if (values[sizeName] === undefined && !c.help) c.error(null, `--${sizeName}`, "is needed");
    return { size: values[sizeName], repeats: values.repeats ?? 3, warmup: values.warmup ?? 1, output: values.output };
}

/**
 * @param {Command} c @param {{repeats: number, warmup: number, output?: string}} b
 * @param {{kind: number, signers: number, hashes: number}} size
 * @param {(prover: any, o: any) => Promise<Uint8Array>} prove
 */
async function measure(c, b, size, prove) {
    const { kind, signers, hashes } = size;
    let prover;
    try {
        prover = await createSheaf().createProver(proverOptions(c));
        const mine = prover;
        const times = await working(c, "bench", async (work) => {
            const all = [];
            for (let i = 0; i < b.warmup + b.repeats; i++) all.push(await timeOnce((o) => prove(mine, o), work));
            return all.slice(b.warmup);
        });
        const mid = median(times);
        const engine = await engineOf("verifier");
        const verifications = Array.from({ length: Math.max(b.repeats, LEAST_VERIFICATIONS) }, () => {
            const begin = performance.now();
            if (!engine.verify(mid.envelope, { kind }).accepted) throw new Error("the proof does not verify");
            return { seconds: (performance.now() - begin) / 1000 };
        });
        const { info } = engine.inspect(mid.envelope);
        if (b.output !== undefined) c.write(b.output, mid.envelope);
        if (!c.json && c.quiet) return OK;
        const figures = {
            signers,
            hashes,
            permutations: (signers || hashes) * info.permutations_per_slot,
            threads: prover.threads,
            isa: prover.kernels,
            repeats: b.repeats,
            prove: mid.seconds,
            verify: median(verifications).seconds,
            proofBytes: info.proof_bytes,
            peakBytes: process.resourceUsage().maxRSS * 1024,
            rate: info.log_inv_rate,
            securityBits: info.security_bits,
            stages: mid.stages,
        };
        c.write("-", (c.json ? figuresJson : figuresText)(figures));
        return OK;
    } catch (error) {
        return c.failure(null, error);
    } finally {
        await prover?.dispose();
    }
}

/** @param {Command} c @param {string[]} argv */
export async function benchHash(c, argv) {
    const b = benchArgs(c, argv, "log-n", 0, 20);
    if (c.help) return OK;
    const done = await natively(c, ["bench", "hash", ...argv], true);
    if (done !== null) return done;
    const hashes = 2 ** b.size;
    const preimages = examplePreimages(hashes, new Uint8Array(32));
    const { logInvRate } = c;
    return measure(c, b, { kind: KIND_HASH, signers: 0, hashes }, (prover, o) => prover.proveHashBatch(preimages, { ...o, logInvRate }));
}

/** @param {Command} c @param {string[]} argv */
export async function benchAggregate(c, argv) {
    const b = benchArgs(c, argv, "signers", 1, MAX_SIGNERS);
    if (c.help) return OK;
    const done = await natively(c, ["bench", "aggregate", ...argv], true);
    if (done !== null) return done;
    const list = listOf(await working(c, "bench", ({ signal }) => exampleSignatures(b.size, signal)));
    const { logInvRate } = c;
    return measure(c, b, { kind: KIND_LEANXMSS, signers: b.size, hashes: 0 }, (prover, o) => prover.aggregate(list, { ...o, logInvRate }));
}

/** @param {Command} c @param {string} what @returns {never} */
function onlyNative(c, what) {
    return c.error(null, null, `${what} by the native command only, and none is found (see SHEAF_NATIVE in sheaf --help)`);
}

/** @param {Command} c @param {string[]} argv */
export async function benchCommit(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "log-words", type: "number", min: 7, max: 26 },
        { name: "log-rows", type: "number", max: 26 },
        { name: "repeats", type: "number", min: 1, max: MOST_REPEATS },
        { name: "warmup", type: "number", max: MOST_REPEATS },
        { name: "log-inv-rate", type: "number", min: 1, max: MAX_RATE },
        MEMORY_SPEC,
    ]);
    if (c.help) return OK;
    if (files.length > 0) c.error(files[0], null, "an argument that is not expected");
    if (values["log-words"] === undefined) c.error(null, "--log-words", "is needed");
    return (await natively(c, ["bench", "commit", ...argv])) ?? onlyNative(c, "commitments are measured");
}

/** @param {Command} c @param {string[]} argv */
export async function benchKernels(c, argv) {
    const { files } = parseArgs(c, argv, [{ name: "kernel", type: "text" }]);
    if (c.help) return OK;
    if (files.length > 0) c.error(files[0], null, "an argument that is not expected");
    return (await natively(c, ["bench", "kernels", ...argv])) ?? onlyNative(c, "kernels are measured");
}

/** @param {Command} c @param {string[]} argv */
export async function security(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "signers", type: "number", min: 1, max: MAX_SIGNERS },
        { name: "hash-log-n", type: "number", max: 20 },
        { name: "log-inv-rate", type: "number", min: 1, max: MAX_RATE },
    ]);
    if (c.help) return OK;
    if (files.length > 0) c.error(files[0], null, "an argument that is not expected");
    if ((values.signers !== undefined) === (values["hash-log-n"] !== undefined))
        c.error(null, null, "one of --signers N and --hash-log-n N is needed");
    return (await natively(c, ["security", ...argv])) ?? onlyNative(c, "the ledger is printed");
}
