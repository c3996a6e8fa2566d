/* Times in Chromium beside the native ones, as one table.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     node tests/js/browser/measure.mjs [--rounds N] [--json]      default: 5 rounds
 *
 * Verifying: an aggregate of 1024 signers. Proving: 16 signers, from signatures in memory to the file's bytes. Native and browser
 * take turns, and each figure is a median. tools/measure-browser.sh brings what this needs. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { command, startBrowser, startServer, work } from "./support.mjs";

const VERIFY_SIGNERS = 1024;
const PROVE_SIGNERS = 16;
const VERIFY_WARMUP = 10;
const VERIFY_TIMES = 60;
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

/**
 * The native command's own figures.
 * @param {number} signers @param {"portable" | "best"} isa @param {string[]} [more]
 */
function native(signers, isa, more = []) {
    const env = { ...process.env };
    delete env.SHEAF_ISA;
    if (isa === "portable") env.SHEAF_ISA = "portable";
    const args = ["bench", "aggregate", "--signers", String(signers), "--threads", "1", "--repeats", "1", "--warmup", "0", "--json", ...more];
    return JSON.parse(execFileSync(command, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
}

const server = await startServer();
const browser = await startBrowser();
try {
    const page = await (await browser.newContext()).newPage();
    await page.goto(server.page);

    /* ---- verifying ---- */

    say(`verifying ${VERIFY_SIGNERS} signers`);
    const file = path.join(work, `measured-${VERIFY_SIGNERS}.sheaf`);
    const nativeBest = native(VERIFY_SIGNERS, "best", ["-o", file]);
    const verifyNative = [nativeBest.seconds_verify * 1000];
    const inBrowser = await page.evaluate(
        async ([text, warmup, times]) => {
            const { inspect, verify } = await import("../index.js");
            const envelope = Uint8Array.from(atob(String(text)), (c) => c.charCodeAt(0));
            const anything = /** @type {const} */ ({ epoch: "any", message: "any", publicKeys: "any" });
            const begin = performance.now();
            if (!(await verify(envelope, anything))) throw new Error("not accepted");
            const first = performance.now() - begin;
            for (let i = 0; i < Number(warmup); i++) await verify(envelope, anything);
            const whole = [];
            const worker = [];
            for (let i = 0; i < Number(times); i++) {
                const at = performance.now();
                if (!(await verify(envelope, anything))) throw new Error("not accepted");
                whole.push(performance.now() - at);
                const is = await inspect(envelope);
                if (!is.accepted) throw new Error("not accepted");
                worker.push(is.milliseconds);
            }
            return { first, whole, worker };
        },
        [fs.readFileSync(file).toString("base64"), VERIFY_WARMUP, VERIFY_TIMES],
    );

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
        const best = native(PROVE_SIGNERS, "best");
        isa = best.isa;
        proving.best.push(best.seconds_prove * 1000);
        proving.portable.push(native(PROVE_SIGNERS, "portable").seconds_prove * 1000);
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
            browser_ms: median(inBrowser.worker),
            browser_call_ms: median(inBrowser.whole),
            browser_first_ms: inBrowser.first,
            native_ms: median(verifyNative),
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
        const rows = [
            ["", "time", "to native best", "to native portable"],
            [`verify ${verify.signers} signers, Chromium`, ms(verify.browser_ms), times(verify.browser_ms, verify.native_ms), ""],
            ["  the whole call, with the way to the worker", ms(verify.browser_call_ms), times(verify.browser_call_ms, verify.native_ms), ""],
            ["  the first call, with loading", ms(verify.browser_first_ms), "", ""],
            ["  native best", ms(verify.native_ms), "1", ""],
            [`prove ${p.signers} signers, Chromium, one thread`, ms(p.browser_ms), times(p.browser_ms, p.native_best_ms), times(p.browser_ms, p.native_portable_ms)],
            ...(p.browser_threads_ms === null
                ? []
                : [[`  ${p.browser_threads} threads`, ms(p.browser_threads_ms), times(p.browser_threads_ms, p.native_best_ms), times(p.browser_threads_ms, p.native_portable_ms)]]),
            ["  native portable, one thread", ms(p.native_portable_ms), times(p.native_portable_ms, p.native_best_ms), "1"],
            ["  native best, one thread", ms(p.native_best_ms), "1", times(p.native_best_ms, p.native_portable_ms)],
            ...MEMORY_OF.map((n) => [`memory to prove ${n} signers, one thread`, `${(result.memory[n] / 1048576).toFixed(1)} MiB`, "", ""]),
        ];
        const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
        console.log(`Chromium ${result.chromium}, ${result.kernels}; native best: ${isa}; ${result.processor}, ${result.cores} cores, load ${result.load}`);
        for (const row of rows)
            console.log(row.map((cell, i) => (i === 0 ? String(cell).padEnd(widths[0]) : String(cell).padStart(widths[i]))).join("  ").trimEnd());
    }
} finally {
    await browser.close();
    await server.stop();
}
