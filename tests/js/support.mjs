/* What the JavaScript tests share.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { openEngine } from "../../web/core/host.js";
import { loadGlue, packageFolder } from "../../node/glue.js";
import { writeBinary } from "../../web/core/formats.js";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const cli = path.join(root, "node", "cli.js");
export const long = process.env.SHEAF_LONG === "1";

/** The native command; null where there is none. */
export const native = (() => {
    const file = process.env.SHEAF ?? path.join(root, "build", "native", "sheaf");
    return fs.existsSync(file) ? path.resolve(file) : null;
})();
/** For tests that need it. */
export const withNative = { skip: native === null ? "there is no native command" : false };
export const withLong = { skip: long ? false : "only with SHEAF_LONG=1" };

/** @param {string | Uint8Array} data @param {number} [length] */
export function shake(data, length = 32) {
    return createHash("shake256", { outputLength: length }).update(data).digest();
}

/** A 32-byte value of a name and a number. @param {string} label @param {number} i @param {number} [length] */
export function derive(label, i, length = 32) {
    const index = Buffer.alloc(8);
    index.writeUInt32LE(i);
    return shake(Buffer.concat([Buffer.from(label), index]), length);
}

/** A folder that goes away after the tests. */
export function workFolder() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "sheaf-js-"));
    after(() => fs.rmSync(folder, { recursive: true, force: true }));
    return folder;
}

/** @type {Promise<import("../../web/core/engine.js").Engine> | null} */
let engine = null;
/** A module in this thread. */
export function engineHere() {
    engine ??= loadGlue("prover", packageFolder()).then((glue) => openEngine(glue, {})).then((o) => o.engine);
    return engine;
}

/**
 * n signatures of one epoch and message, by keys of one epoch.
 * @param {number} n @param {{label?: string, epoch?: number, message?: Uint8Array}} [options]
 */
export async function signaturesOf(n, { label = "sheaf test key", epoch = 5, message = shake("sheaf test message") } = {}) {
    const e = await engineHere();
    const signatures = Array.from({ length: n }, (_, i) => {
        const { signature, publicKey } = e.sign(e.keygen(0, derive(label, i), epoch, 0), epoch, message);
        return { publicKey, signature };
    });
    return { scheme: "leanXMSS", epoch, message, signatures };
}

/** @param {{epoch: number, message: Uint8Array, signatures: {publicKey: Uint8Array, signature: Uint8Array}[]}} list */
export function binaryOf(list) {
    const entries = Buffer.concat(list.signatures.flatMap((s) => [s.publicKey, s.signature]));
    return writeBinary({ epoch: list.epoch, message: list.message, entries });
}

/** @param {string} file @param {string[]} args @param {{input?: Uint8Array, cwd?: string, env?: Record<string, string>}} [options] */
export function runFile(file, args, { input, cwd, env = {} } = {}) {
    const { status, stdout, stderr, error } = spawnSync(file, args, {
        input: input ?? Buffer.alloc(0),
        cwd,
        env: { ...process.env, ...env },
        maxBuffer: 1 << 28,
        timeout: 300000,
    });
    if (error) throw error;
    return { code: status, out: stdout, err: stderr.toString() };
}

/** The native command. @param {string[]} args @param {object} [options] */
export const runNative = (args, options) => runFile(/** @type {string} */ (native), args, options);
/** Node's, which finds no native one. @param {string[]} args @param {any} [options] */
export const runCli = (args, options = {}) =>
    runFile(process.execPath, [cli, ...args], { ...options, env: { SHEAF_NATIVE: "none", ...options.env } });

/** An aggregate's envelope, made the fastest way that there is. @param {Awaited<ReturnType<typeof signaturesOf>>} list */
export async function envelopeOf(list) {
    if (native !== null) {
        const { code, out, err } = runNative(["aggregate", "-", "-o", "-", "-q"], { input: binaryOf(list) });
        if (code !== 0) throw new Error(err);
        return new Uint8Array(out);
    }
    const e = await engineHere();
    const prover = e.createProver(1);
    const entries = new Uint8Array(Buffer.concat(list.signatures.flatMap((s) => [s.publicKey, s.signature])));
    return e.aggregate(prover, 0, list.epoch, list.message, entries);
}

/** A copy with one byte changed. @param {Uint8Array} bytes @param {number} at */
export function changed(bytes, at) {
    const copy = Uint8Array.from(bytes);
    copy[at < 0 ? copy.length + at : at] ^= 1;
    return copy;
}
