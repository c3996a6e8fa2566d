/* Times in Chromium beside the native ones, as one table.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     node tests/js/browser/measure.mjs [--rounds N] [--json]      default: 5 rounds
 *
 * Verifying: an aggregate of 1024 signers; natively, what each more of many copies adds to one run of the command. Proving: 16
 * signers, from signatures in memory to the file's bytes. Native and browser take turns, and each figure is a median.
 * tools/measure-browser.sh brings what this needs. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import { parseArgs } from "node:util";
import { aggregateOf, command, startBrowser, startServer } from "./support.mjs";

const VERIFY_SIGNERS = 1024;
const PROVE_SIGNERS = 16;
const VERIFY_WARMUP = 10;
/** In each round. */
const VERIFY_TIMES = 20;
const NATIVE_COPIES = 20;
const MEMORY_OF = [16, 64, 256];

const { values } = parseArgs({ options: { rounds: { type: "string", default: "5" }, json: { type: "boolean", default: false } } });
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds: a whole number from 1");

/** @param {number[]} times */
function median(times) {
    const sorted = [...times].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {string} text */
const say = (text) => process.stderr.write(`measure: ${text}\n`);

/** @typedef {"portable" | "best"} Isa */

/** @param {Isa} isa @param {string[]} args */
function run(isa, args) {
    const env = { ...process.env };
    delete env.SHEAF_ISA;
    if (isa === "portable") env.SHEAF_ISA = "portable";
    return execFileSync(command, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

/** The native command's own figures. @param {Isa} isa */
function nativeProve(isa) {
    const args = ["--signers", String(PROVE_SIGNERS), "--threads", "1", "--repeats", "1", "--warmup", "0", "--json"];
    return JSON.parse(run(isa, ["bench", "aggregate", ...args]));
}

/** Milliseconds. @param {Isa} isa @param {string} file */
function nativeVerify(isa, file) {
    const timed = (/** @type {number} */ copies) => {
        const begin = performance.now();
        run(isa, ["verify", "--quiet", ...new Array(copies).fill(file)]);
        return performance.now() - begin;
    };
    const one = timed(1);
    return (timed(1 + NATIVE_COPIES) - one) / NATIVE_COPIES;
}

const server = await startServer();
const browser = await startBrowser();
try {
    const page = await (await browser.newContext()).newPage();
    await page.goto(server.page);

    /* ---- verifying ---- */

    const file = aggregateOf(VERIFY_SIGNERS);
    const first = await page.evaluate(
        async ([text, warmup]) => {
            const { verify } = await import("../index.js");
            const envelope = Uint8Array.from(atob(String(text)), (c) => c.charCodeAt(0));
            const anything = /** @type {const} */ ({ epoch: "any", message: "any", publicKeys: "any" });
            Object.assign(globalThis, { envelope, anything });
            const begin = performance.now();
            if (!(await verify(envelope, anything))) throw new Error("not accepted");
            const took = performance.now() - begin;
            for (let i = 0; i < Number(warmup); i++) await verify(envelope, anything);
            return took;
        },
        [fs.readFileSync(file).toString("base64"), VERIFY_WARMUP],
    );
    /** @type {Record<string, number[]>} */
    const verifying = { worker: [], call: [], best: [], portable: [] };
    for (let round = 1; round <= rounds; round++) {
        say(`verifying ${VERIFY_SIGNERS} signers, round ${round} of ${rounds}`);
        const times = await page.evaluate(async (n) => {
            const { inspect, verify } = await import("../index.js");
            const { envelope, anything } = globalThis;
            const call = [];
            const worker = [];
            for (let i = 0; i < n; i++) {
                const at = performance.now();
                if (!(await verify(envelope, anything))) throw new Error("not accepted");
                call.push(performance.now() - at);
                const is = await inspect(envelope);
                if (!is.accepted) throw new Error("not accepted");
                worker.push(is.milliseconds);
            }
            return { call, worker };
        }, VERIFY_TIMES);
        verifying.call.push(...times.call);
        verifying.worker.push(...times.worker);
        verifying.best.push(nativeVerify("best", file));
        verifying.portable.push(nativeVerify("portable", file));
    }

    /* ---- proving ---- */

    await page.evaluate(
        async ([signers]) => {
            const { createProver, keygen, sign } = await import("../index.js");
            const message = new Uint8Array(32).fill(7);
            const signatures = [];
            for (let i = 0; i < signers; i++) {
                const { key } = await keygen({ firstEpoch: 7, epochCount: 1, seed: new Uint8Array(32).fill(i) });
                signatures.push(await sign(key, { epoch: 7, message }));
            }
            globalThis.signatures = signatures;
            globalThis.provers = [await createProver({ threads: 1 }), await createProver({ threads: "auto" })];
        },
        [PROVE_SIGNERS],
    );
    const about = await page.evaluate(() => globalThis.provers.map(({ threads, kernels }) => ({ threads, kernels })));
    const prove = (/** @type {number} */ which) =>
        page.evaluate(async (i) => {
            const begin = performance.now();
            await globalThis.provers[i].aggregate(globalThis.signatures);
            return performance.now() - begin;
        }, which);
    /** @type {Record<string, number[]>} */
    const proving = { portable: [], best: [], one: [], many: [] };
    let isa = "";
    await prove(0);
    for (let round = 1; round <= rounds; round++) {
        say(`proving ${PROVE_SIGNERS} signers, round ${round} of ${rounds}`);
        proving.one.push(await prove(0));
        const best = nativeProve("best");
        isa = best.isa;
        proving.best.push(best.seconds_prove * 1000);
        proving.portable.push(nativeProve("portable").seconds_prove * 1000);
        if (about[1].threads > 1) proving.many.push(await prove(1));
    }
    const memory = await page.evaluate(
        async (counts) => {
            const out = [];
            for (const signers of counts) out.push((await globalThis.provers[0].memory({ signers })).needed);
            return out;
        },
        MEMORY_OF,
    );

    /* ---- the table ---- */

    const result = {
        chromium: browser.version(),
        processor: os.cpus()[0].model.trim(),
        cores: os.cpus().length,
        load: Number(os.loadavg()[0].toFixed(1)),
        kernels: about[0].kernels,
        native_isa: isa,
        verify: {
            signers: VERIFY_SIGNERS,
            rounds,
            browser_ms: median(verifying.worker),
            browser_call_ms: median(verifying.call),
            browser_first_ms: first,
            native_portable_ms: median(verifying.portable),
            native_best_ms: median(verifying.best),
        },
        prove: {
            signers: PROVE_SIGNERS,
            rounds,
            browser_ms: median(proving.one),
            browser_threads: about[1].threads,
            browser_threads_ms: proving.many.length > 0 ? median(proving.many) : null,
            native_portable_ms: median(proving.portable),
            native_best_ms: median(proving.best),
        },
        memory: Object.fromEntries(MEMORY_OF.map((n, i) => [n, memory[i]])),
    };
    if (values.json) {
        console.log(JSON.stringify(result, null, 2));
    } else {
        const { verify, prove: p } = result;
        const ms = (/** @type {number} */ value) => (value < 100 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`);
        const times = (/** @type {number} */ a, /** @type {number} */ b) => `${(a / b).toFixed(a / b < 10 ? 2 : 1)} x`;
        /** @param {string} what @param {number} time @param {{native_best_ms: number, native_portable_ms: number}} to */
        const row = (what, time, to) => [what, ms(time), times(time, to.native_best_ms), times(time, to.native_portable_ms)];
        const rows = [
            ["", "time", "to native best", "to native portable"],
            row(`verify ${verify.signers} signers, Chromium`, verify.browser_ms, verify),
            row("  the whole call, with the way to the worker", verify.browser_call_ms, verify),
            row("  the first call, with loading", verify.browser_first_ms, verify),
            row("  native portable", verify.native_portable_ms, verify),
            row("  native best", verify.native_best_ms, verify),
            row(`prove ${p.signers} signers, Chromium, one thread`, p.browser_ms, p),
            ...(p.browser_threads_ms === null ? [] : [row(`  ${p.browser_threads} threads`, p.browser_threads_ms, p)]),
            row("  native portable, one thread", p.native_portable_ms, p),
            row("  native best, one thread", p.native_best_ms, p),
            ...MEMORY_OF.map((n) => [`memory to prove ${n} signers, one thread`, `${(result.memory[n] / 1048576).toFixed(1)} MiB`, "", ""]),
        ];
        const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => String(cells[column]).length)));
        console.log(`Chromium ${result.chromium}, ${result.kernels}; native best: ${isa}; ${result.processor}, ${result.cores} cores, load ${result.load}`);
        for (const cells of rows)
            console.log(cells.map((cell, i) => (i === 0 ? String(cell).padEnd(widths[0]) : String(cell).padStart(widths[i]))).join("  ").trimEnd());
    }
} finally {
    await browser.close();
    await server.stop();
}
