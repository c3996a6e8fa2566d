/* Verbs that measure (bench hash, aggregate, commit, kernels), and security.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Where a native command is found it is what is measured; SHEAF_NATIVE=none measures the WebAssembly. The ledger comes from the modules. */
import { createHash } from "node:crypto";
import { ENTRY_BYTES, KEY_BYTES, MAX_SIGNERS } from "../../web/core/bytes.js";
import { KIND_HASH, KIND_LEANXMSS, checkProofMemory } from "../../web/core/engine.js";
import { OK, REJECTED, parseArgs, plural, quote } from "./context.js";
import { engineOf } from "./engine.js";
import {
    MAX_RATE,
    MEMORY_SPEC,
    addFields,
    catchSignals,
    delegate,
    examplePreimages,
    isOverMemory,
    nativeFor,
    proverFor,
    tellMemory,
    working,
} from "./prove.js";

/** @typedef {import("./context.js").Command} Command */

const NEEDED_BITS = 128;
const MOST_REPEATS = 100;
const LEAST_VERIFICATIONS = 5;
const EXAMPLE_EPOCH = 7;
const MOST_LOG_WORDS = 26;
const LOG_COLUMNS_LEAST = 3;

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
 * @typedef {{seconds: number, cpu: number, faults: number, stages: Map<string, {calls: number, seconds: number}>,
 *            envelope: Uint8Array}} Round
 * @typedef {{median: number, least: number, most: number}} Range
 */

/**
 * @param {(o: any) => Promise<Uint8Array>} prove @param {any} work
 * @returns {Promise<Round>}
 */
async function timeOnce(prove, work) {
    /** @type {Round["stages"]} */
    const stages = new Map();
    const [cpu, { minorPageFault }] = [process.cpuUsage(), process.resourceUsage()];
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
    const used = process.cpuUsage(cpu);
    return {
        seconds: (performance.now() - begin) / 1000,
        cpu: (used.user + used.system) / 1e6,
        faults: process.resourceUsage().minorPageFault - minorPageFault,
        stages,
        envelope,
    };
}

/** The middle one; of two middle ones the slower. @param {Round[]} rounds */
function medianRound(rounds) {
    return [...rounds].sort((a, b) => a.seconds - b.seconds)[Math.floor(rounds.length / 2)];
}

/** @param {number[]} values @returns {Range} */
function rangeOf(values) {
    const sorted = [...values].sort((a, b) => a - b);
    return { median: sorted[Math.floor(sorted.length / 2)], least: sorted[0], most: sorted[sorted.length - 1] };
}

/** @param {string} name @param {Range} r */
function rangeJson(name, r) {
    return [`"${name}": ${r.median.toFixed(6)}`, `"${name}_least": ${r.least.toFixed(6)}`, `"${name}_most": ${r.most.toFixed(6)}`];
}

/** The native command's fields; what only it can count is 0 or empty. @param {any} r figures */
function figuresJson(r) {
    const stages = [...r.mid.stages].map(([name, s]) => {
        const share = (s.seconds / r.mid.seconds).toFixed(4);
        return `{"name":${quote(name)},"calls":${s.calls},"seconds":${s.seconds.toFixed(9)},"cycles":0,"share":${share},"children":[]}`;
    });
    const fields = [
        `"bench": ${quote(r.signers ? "aggregate" : "hash")}`,
        `"permutations": ${r.permutations}`,
        `"signers": ${r.signers}`,
        `"hashes": ${r.hashes}`,
        `"threads": ${r.threads}`,
        `"isa": ${quote(r.isa)}`,
        `"warmup": ${r.warmup}`,
        `"repeats": ${r.repeats}`,
        ...rangeJson("seconds_prove", r.prove),
        `"cpu_seconds": ${r.cpu.median.toFixed(6)}`,
        `"cpu_seconds_least": ${r.cpu.least.toFixed(6)}`,
        `"page_faults": ${r.mid.faults}`,
        `"peak_bytes": ${r.peakBytes}`,
        `"prover_peak_bytes": ${r.proverPeakBytes}`,
        `"predicted_bytes": ${r.predicted}`,
        ...rangeJson("seconds_verify", r.verify),
        `"cycles_per_permutation": 0.0`,
        `"permutations_per_second": ${(r.permutations / r.prove.median).toFixed(1)}`,
        `"signatures_per_second": ${(r.signers / r.prove.median).toFixed(2)}`,
        `"proof_bytes": ${r.proofBytes}`,
        `"log_inv_rate": ${r.rate}`,
        `"security_bits": ${r.securityBits.toFixed(2)}`,
        `"layer_cycles_per_permutation": {}`,
        `"stages": [${stages.join(",")}]`,
        `"engine": "WebAssembly"`,
    ];
    return `{\n  ${fields.join(",\n  ")}\n}\n`;
}

/** @param {any} r figures */
function figuresText(r) {
    const count = r.signers ? `${r.signers} signers` : `${r.hashes} hashes`;
    const threads = `${r.threads} thread${plural(r.threads)}`;
    const rate = (r.permutations / r.prove.median).toFixed(0);
    const signatures = r.signers ? `, ${(r.signers / r.prove.median).toFixed(1)} signatures a second` : "";
    const seconds = (/** @type {number} */ s) => s.toFixed(4).padStart(10);
    const range = (/** @type {Range} */ x) => `${seconds(x.median)} s (${x.least.toFixed(4)} .. ${x.most.toFixed(4)})`;
    const megabytes = (/** @type {number} */ n) => (n / 1e6).toFixed(1);
    const lines = [
        `${count}, ${r.permutations} permutations, ${threads}, WebAssembly (${r.isa}); medians of ${r.repeats}, with the range`,
        `prove   ${range(r.prove)}, ${rate} permutations a second${signatures}`,
        `verify  ${range(r.verify)}`,
        `proof   ${String(r.proofBytes).padStart(10)} bytes, first rate 2^-${r.rate}, ${r.securityBits.toFixed(2)} bits of soundness`,
        `cpu     ${range(r.cpu)}, ${r.mid.faults} page faults`,
        `memory  ${megabytes(r.peakBytes).padStart(10)} MB at most in the process, ${megabytes(r.proverPeakBytes)} MB in the module ` +
            `(${megabytes(r.predicted)} MB were foretold)`,
        "",
        `  ${"stage".padEnd(30)} ${"time".padStart(12)} ${"of whole".padStart(10)}`,
    ];
    for (const [name, s] of r.mid.stages) {
        const share = ((100 * s.seconds) / r.mid.seconds).toFixed(1);
        lines.push(`  ${name.padEnd(30)} ${seconds(s.seconds)} s ${share.padStart(9)}%`);
    }
    return `${lines.join("\n")}\n`;
}

/** @type {import("./context.js").Spec[]} */
const ROUND_SPECS = [
    { name: "repeats", type: "number", min: 1, max: MOST_REPEATS },
    { name: "warmup", type: "number", max: MOST_REPEATS },
];

/** @param {Command} c @param {string[]} argv @param {string} sizeName @param {number} least @param {number} most */
function benchArgs(c, argv, sizeName, least, most) {
    const { values, files } = parseArgs(c, argv, [
        { name: sizeName, type: "number", min: least, max: most },
        ...ROUND_SPECS,
        { name: "log-inv-rate", type: "number", min: 1, max: MAX_RATE },
        MEMORY_SPEC,
        { name: "output", letter: "o", type: "text" },
    ]);
    if (files.length > 0) c.error(files[0], null, "an argument that is not expected");
    if (values[sizeName] === undefined && !c.help) c.error(null, `--${sizeName}`, "is needed");
    if (values.output === "-") c.error(null, "--output", "is a file: standard output is for the figures");
    return { size: values[sizeName], repeats: values.repeats ?? 3, warmup: values.warmup ?? 1, output: values.output };
}

/**
 * @param {Command} c @param {{repeats: number, warmup: number, output?: string}} b
 * @param {{kind: number, signers: number, hashes: number}} size
 * @param {() => Promise<(prover: any, o: any) => Promise<Uint8Array>>} prepare makes what is proven, where it fits
 */
async function measure(c, b, size, prepare) {
    const { kind, signers, hashes } = size;
    let prover;
    if (b.output !== undefined) c.checkOutput(b.output);
    try {
        prover = await proverFor(c);
        const mine = prover;
        const { logInvRate } = c;
        const need = await mine.memory(signers ? { signers, logInvRate } : { hashes, logInvRate });
        checkProofMemory(kind, signers || hashes, need);
        const prove = await prepare();
        const rounds = await working(c, "bench", async (work) => {
            const all = [];
            for (let i = 0; i < b.warmup + b.repeats; i++) all.push(await timeOnce((o) => prove(mine, { ...o, logInvRate }), work));
            return all.slice(b.warmup);
        });
        const mid = medianRound(rounds);
        const engine = await engineOf("verifier");
        const verifications = Array.from({ length: Math.max(b.repeats, LEAST_VERIFICATIONS) }, () => {
            const begin = performance.now();
            if (!engine.verify(mid.envelope, { kind }).accepted) throw new Error("the proof does not verify");
            return (performance.now() - begin) / 1000;
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
            warmup: b.warmup,
            repeats: b.repeats,
            mid,
            prove: rangeOf(rounds.map((r) => r.seconds)),
            cpu: rangeOf(rounds.map((r) => r.cpu)),
            verify: rangeOf(verifications),
            proofBytes: info.proof_bytes,
            peakBytes: process.resourceUsage().maxRSS * 1024,
            proverPeakBytes: await /** @type {any} */ (mine)._client.call({ op: "memorySize", args: {} }),
            predicted: need.needed,
            rate: info.log_inv_rate,
            securityBits: info.security_bits,
        };
        c.write("-", (c.json ? figuresJson : figuresText)(figures));
        return OK;
    } catch (error) {
        return isOverMemory(error) ? tellMemory(c, error) : c.failure(null, error);
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
    return measure(c, b, { kind: KIND_HASH, signers: 0, hashes }, async () => {
        const preimages = examplePreimages(hashes, new Uint8Array(32));
        return (prover, o) => prover.proveHashBatch(preimages, o);
    });
}

/** @param {Command} c @param {string[]} argv */
export async function benchAggregate(c, argv) {
    const b = benchArgs(c, argv, "signers", 1, MAX_SIGNERS);
    if (c.help) return OK;
    const done = await natively(c, ["bench", "aggregate", ...argv], true);
    if (done !== null) return done;
    return measure(c, b, { kind: KIND_LEANXMSS, signers: b.size, hashes: 0 }, async () => {
        const list = listOf(await working(c, "bench", ({ signal }) => exampleSignatures(b.size, signal)));
        return (prover, o) => prover.aggregate(list, o);
    });
}

/** @param {Command} c @param {string} what @returns {never} */
function onlyNative(c, what) {
    return c.error(null, null, `${what} by the native command only, and none is found (see SHEAF_NATIVE in sheaf --help)`);
}

/** @param {Command} c @param {string[]} argv */
export async function benchCommit(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "log-words", type: "number", min: 7, max: MOST_LOG_WORDS },
        { name: "log-rows", type: "number", max: MOST_LOG_WORDS },
        ...ROUND_SPECS,
        { name: "log-inv-rate", type: "number", min: 1, max: MAX_RATE },
        MEMORY_SPEC,
    ]);
    if (c.help) return OK;
    if (files.length > 0) c.error(files[0], null, "an argument that is not expected");
    const { "log-words": words, "log-rows": rows } = values;
    if (words === undefined) c.error(null, "--log-words", "is needed");
    if (rows + LOG_COLUMNS_LEAST > words) c.error(null, "--log-rows", `${rows} leaves fewer than 2^${LOG_COLUMNS_LEAST} columns`);
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
    const [kind, count] = values.signers === undefined ? [KIND_HASH, 2 ** values["hash-log-n"]] : [KIND_LEANXMSS, values.signers];
    const engine = await engineOf("prover");
    try {
        return printLedger(c, kind, engine.ledger(kind, count, values["log-inv-rate"] ?? 0));
    } catch (error) {
        return c.failure(null, error);
    }
}

/** @param {Command} c @param {number} kind @param {ReturnType<import("../../web/core/engine.js").Engine["ledger"]>} ledger */
function printLedger(c, kind, { logSlots, logInvRate, terms }) {
    const errors = terms.map((t) => t.log2Error);
    const largest = Math.max(...errors);
    const sum = largest + Math.log2(errors.reduce((all, e) => all + 2 ** (e - largest), 0));
    const over = errors.filter((e) => !(e <= -NEEDED_BITS)).length;
    if (c.json) {
        const rows = terms.map(
            (t) => `\n    {"name": ${quote(t.name)}, "log2_error": ${t.log2Error.toFixed(3)}, "source": ${quote(t.source)}}`,
        );
        const fields = [
            `"scheme": "${kind === KIND_HASH ? "hash" : "leanXMSS"}"`,
            `"log_slots": ${logSlots}`,
            `"log_inv_rate": ${logInvRate}`,
            `"terms": [${rows.join(",")}\n  ]`,
            `"largest_log2_error": ${largest.toFixed(3)}`,
            `"sum_log2_error": ${sum.toFixed(3)}`,
            `"security_bits": ${(-largest).toFixed(3)}`,
            `"ok": ${over === 0}`,
        ];
        c.write("-", `{\n  ${fields.join(",\n  ")}\n}\n`);
    } else {
        const row = (/** @type {string} */ name, /** @type {string} */ error, /** @type {string} */ source) =>
            `${name.padEnd(46)} ${error.padStart(10)}  ${source}`;
        const lines = [
            `${kind === KIND_HASH ? "hash batch" : "leanXMSS aggregate"}, 2^${logSlots} slots, first rate 2^-${logInvRate}`,
            "",
            row("term", "log2 error", "source"),
            ...terms.map((t) => row(t.name, t.log2Error.toFixed(2), t.source) + (t.log2Error <= -NEEDED_BITS ? "" : "  <-- over 2^-128")),
            "",
            `largest term: 2^${largest.toFixed(2)} (${(-largest).toFixed(2)} bits of soundness)`,
            `sum of all terms: 2^${sum.toFixed(2)}`,
        ];
        c.write("-", `${lines.join("\n")}\n`);
    }
    if (over === 0) return OK;
    c.print(null, null, `${over} term${over === 1 ? " is" : "s are"} over 2^-${NEEDED_BITS}`);
    return REJECTED;
}
