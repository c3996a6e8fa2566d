/* The native command, where there is one: it proves many times faster.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { SheafError, cancelled } from "../web/core/errors.js";

/* First bytes of a program in machine code: ELF, Mach-O (both orders, and universal), PE. A script is none: it may be this very
 * command, or a package manager's way to it. */
const PROGRAMS = ["7f454c46", "cffaedfe", "cefaedfe", "feedfacf", "feedface", "cafebabe"];

/** @param {string} file */
function isProgram(file) {
    let fd;
    try {
        if (!fs.statSync(file).isFile()) return false;
        fs.accessSync(file, fs.constants.X_OK);
        fd = fs.openSync(file, "r");
        const head = Buffer.alloc(4);
        fs.readSync(fd, head, 0, 4, 0);
        return PROGRAMS.includes(head.toString("hex")) || head.subarray(0, 2).toString("latin1") === "MZ";
    } catch {
        return false;
    } finally {
        if (fd !== undefined) fs.closeSync(fd);
    }
}

/** What a program says it is; null where it is not this version of sheaf. @param {string} file @param {string} version */
function ask(file, version) {
    const env = { ...process.env, SHEAF_NATIVE: "none" };
    const { status, stdout } = spawnSync(file, ["--version", "--json"], { encoding: "utf8", timeout: 10000, env, stdio: ["ignore", "pipe", "ignore"] });
    if (status !== 0) return null;
    try {
        const said = JSON.parse(stdout);
        return said.version === version && typeof said.isa === "string" ? { file, isa: said.isa } : null;
    } catch {
        return null;
    }
}

/**
 * SHEAF_NATIVE is its path, or "none"; without it the PATH is searched. Only this version's is taken, as another may make other
 * proofs; a program that merely has the name is passed over.
 * @param {string} version
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {{file: string, isa: string} | null}
 */
export function findNative(version, env = process.env) {
    const given = env.SHEAF_NATIVE;
    if (given === "none") return null;
    if (given !== undefined && given !== "") {
        const found = isProgram(given) ? ask(given, version) : null;
        if (found === null)
            throw new SheafError("INVALID_ARGUMENT", `SHEAF_NATIVE: ${given} is not the native command sheaf ${version}`);
        return found;
    }
    const name = process.platform === "win32" ? "sheaf.exe" : "sheaf";
    for (const folder of (env.PATH ?? "").split(path.delimiter)) {
        if (folder === "") continue;
        const file = path.join(folder, name);
        if (!isProgram(file)) continue;
        const found = ask(file, version);
        if (found !== null) return found;
    }
    return null;
}

/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();
const endAll = () => {
    for (const child of children) child.kill("SIGKILL");
};

/** A native command that runs does not outlive this process, where that ends by itself. @param {import("node:child_process").ChildProcess} child */
export function endsWithUs(child) {
    if (children.size === 0) process.on("exit", endAll);
    children.add(child);
    child.on("close", () => {
        children.delete(child);
        if (children.size === 0) process.off("exit", endAll);
    });
}

/** The environment of a native command that is started here. */
export function nativeEnv() {
    return { ...process.env, SHEAF_NATIVE: "none" };
}

/* Exit codes do not tell kinds of failures apart; the interface's own checks before have told most of them. */
/** @param {string} said */
function codeOf(said) {
    if (/do(es)? not verify/.test(said)) return "BAD_SIGNATURE";
    if (/public keys \d+ and \d+ are the same/.test(said)) return "DUPLICATE_KEY";
    if (/out of memory|MiB of memory, /.test(said)) return "OUT_OF_MEMORY";
    if (/no parameters/.test(said)) return "UNSUPPORTED";
    return "IO";
}

/**
 * Runs it with bytes for its standard input; what it writes to its standard output.
 * @param {string} file @param {string[]} args @param {Uint8Array} input @param {AbortSignal} [signal]
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export function runNative(file, args, input, signal) {
    return new Promise((resolve, reject) => {
        const child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"], env: nativeEnv() });
        endsWithUs(child);
        /** @type {Buffer[]} */
        const out = [];
        let err = "";
        const stop = () => child.kill("SIGTERM");
        signal?.addEventListener("abort", stop, { once: true });
        child.stdout.on("data", (piece) => out.push(piece));
        child.stderr.on("data", (piece) => (err = (err + piece).slice(-2000)));
        child.stdin.on("error", () => {}); // it ended early, and its exit code says why
        child.stdin.end(input);
        child.on("error", (cause) => reject(new SheafError("IO", `${file} does not start: ${cause.message}`, { cause })));
        child.on("close", (code) => {
            signal?.removeEventListener("abort", stop);
            if (signal?.aborted) return reject(cancelled(signal.reason));
            if (code === 0) return resolve(Uint8Array.from(Buffer.concat(out)));
            const said = err.trim().split("\n").pop() ?? "";
            const text = said.replace(/^sheaf [a-z ]*: (standard input: )?/, "") || `${file} ended with code ${code}`;
            const index = /signatures? (\d+)/.exec(text) ?? /and (\d+) are the same/.exec(text);
            return reject(new SheafError(codeOf(said), text, { index: index ? Number(index[1]) : undefined }));
        });
    });
}
