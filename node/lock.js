/* The lock of a key file: docs/leanxmss.md 7.3.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Node has no flock of its own. Where the system has the command flock, it is started with the open file as one of its own:
 * the lock belongs to the open file and stays, when the command has ended, until this process closes it or ends. Where there is
 * no such command the lock file alone is the lock, and a stale one is never taken over: the finder is told which file to remove.
 *
 * The file gets its name with its lines in it, by link(): nobody ever sees it without them. */
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import { SheafError } from "../web/core/errors.js";
import { codeOf, textOf } from "./errno.js";
import { discard, identityOf, linkSync, open, unlinkSync } from "./paths.js";

const { constants: C } = fs;
const TEXT_MOST = 511;
const FIRST_LINE = "sheaf lock 1\n";
/* What flock answers where another holds it; 1 is its own default, and what a shell's errors have too. */
const HELD = 77;

/** @typedef {{pid: number, start: number, boot: string, machine: string, host: string}} Holder */

/** @param {number} ms */
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Called before every step that touches a file; tests end the process there, or make the step fail.
 * @type {{step: (name: string) => void}}
 */
export const hook = { step() {} };

/* ---- flock ---- */

/**
 * "taken", "held" by another, or "none" where this system or file system has none.
 * @param {number} fd
 * @returns {Promise<"taken" | "held" | "none">}
 */
export function flock(fd) {
    if (process.platform === "win32") return Promise.resolve("none");
    return new Promise((resolve) => {
        const child = spawn("flock", ["-n", "-x", "-E", String(HELD), "3"], { stdio: ["ignore", "ignore", "ignore", fd] });
        child.on("error", () => resolve("none"));
        child.on("close", (code) => resolve(code === 0 ? "taken" : code === HELD ? "held" : "none"));
    });
}

/* ---- who holds it ---- */

/** The first word of a small file, "-" where there is none. @param {string} file */
function wordOf(file) {
    try {
        return fs.readFileSync(file, "latin1").slice(0, 63).split(/[ \n\t]/)[0] || "-";
    } catch {
        return "-";
    }
}

/** What tells one run of the system from the next, "-" where nothing does. */
function bootOf() {
    if (process.platform !== "darwin") return wordOf("/proc/sys/kernel/random/boot_id");
    const said = spawnSync("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "latin1", timeout: 1000 });
    return /^[!-~]{1,62}(?=\n$)/.exec(said.stdout ?? "")?.[0] ?? "-";
}

/** The state letter and the start time of a process; null where the system does not tell. @param {number} pid */
function processStat(pid) {
    try {
        const text = fs.readFileSync(`/proc/${pid}/stat`, "latin1");
        const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before it may hold anything
        return { state: fields[0], start: Number(fields[19]) || 0 };
    } catch {
        return null;
    }
}

/** @returns {Holder} */
function self() {
    const host = os.hostname().slice(0, 63).replace(/[^!-~]/g, "_") || "-";
    return {
        pid: process.pid,
        start: processStat(process.pid)?.start ?? 0,
        boot: bootOf(),
        machine: wordOf("/etc/machine-id"),
        host,
    };
}

/** @param {Holder} h */
function linesOf(h) {
    return `${FIRST_LINE}pid ${h.pid}\nstart ${h.start}\nboot ${h.boot}\nmachine ${h.machine}\nhost ${h.host}\nend\n`;
}

/** null where the text is not whole. @param {string} text @returns {Holder | null} */
export function parseHolder(text) {
    const value = "([^\\n]{1,63})";
    const pattern = `^sheaf lock 1\\npid ${value}\\nstart ${value}\\nboot ${value}\\nmachine ${value}\\nhost ${value}\\nend\\n$`;
    const found = new RegExp(pattern).exec(text);
    if (found === null) return null;
    const [pid, start] = [parseInt(found[1], 10), parseInt(found[2], 10) || 0];
    if (!(pid >= 1 && pid <= 0x7fffffff)) return null;
    return { pid, start, boot: found[3], machine: found[4], host: found[5] };
}

/** @param {fs.promises.FileHandle} file @returns {Promise<Holder | null>} */
async function readHolder(file) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TEXT_MOST), 0, TEXT_MOST, 0);
    return parseHolder(buffer.subarray(0, bytesRead).toString("latin1"));
}

/** @param {Holder} h */
function isGone(h) {
    try {
        process.kill(h.pid, 0);
    } catch (error) {
        if (codeOf(error) === "ESRCH") return true;
    }
    const stat = processStat(h.pid);
    if (stat === null) return false;
    return stat.state === "Z" || stat.state === "X" || (h.start !== 0 && stat.start !== 0 && stat.start !== h.start);
}

/** Whether the name still leads to the open file. @param {fs.promises.FileHandle} file @param {string} name */
async function sameFile(file, name) {
    try {
        const [a, b] = [await file.stat({ bigint: true }), identityOf(name)];
        return a.dev === b.dev && a.ino === b.ino;
    } catch {
        return false;
    }
}

/** @param {string} text */
const locked = (text) => new SheafError("LOCKED", text);

/** @param {string} what @param {string} name @param {unknown} error */
export function ioFailure(what, name, error) {
    return new SheafError("IO", `${what}: ${textOf(error)}: ${name}`, { cause: error });
}

/* ---- taking it ---- */

export class Lock {
    /** @param {fs.promises.FileHandle} file @param {string} name @param {string[]} notices */
    constructor(file, name, notices) {
        this.file = file;
        this.name = name;
        this.notices = notices;
    }

    async release() {
        if (await sameFile(this.file, this.name)) {
            try {
                hook.step("remove lock");
                unlinkSync(this.name);
            } catch {
                this.notices.push("the lock file could not be removed");
                await this.file.truncate(0).catch(() => this.notices.push("nor be emptied"));
            }
        }
        hook.step("close lock");
        await this.file.close();
    }
}

/**
 * A file with our lines under the lock's name; null where the name is taken.
 * @param {string} name @param {Holder} me
 */
async function makeFile(name, me) {
    const fresh = `${name}.${process.pid}-${Math.floor(Math.random() * 2 ** 32).toString(16)}`;
    let file;
    try {
        hook.step("make lock");
        file = await open(fresh, C.O_RDWR | C.O_CREAT | C.O_EXCL | (C.O_NOFOLLOW ?? 0), 0o600);
    } catch (error) {
        throw ioFailure("the lock cannot be made", name, error);
    }
    try {
        await file.write(linesOf(me), 0, "latin1");
        hook.step("name lock");
        linkSync(fresh, name);
        return file;
    } catch (error) {
        await file.close();
        if (codeOf(error) === "EEXIST") return null;
        /* A file system without links: made by its name, and empty for a moment. */
        if (["EPERM", "ENOTSUP", "ENOSYS", "EMLINK"].includes(codeOf(error))) return makeFileDirectly(name, me);
        throw ioFailure("the lock cannot be made", name, error);
    } finally {
        discard(fresh);
    }
}

/** @param {string} name @param {Holder} me */
async function makeFileDirectly(name, me) {
    let file;
    try {
        file = await open(name, C.O_RDWR | C.O_CREAT | C.O_EXCL | (C.O_NOFOLLOW ?? 0), 0o600);
    } catch (error) {
        if (codeOf(error) === "EEXIST") return null;
        throw ioFailure("the lock cannot be made", name, error);
    }
    try {
        await file.write(linesOf(me), 0, "latin1");
        return file;
    } catch (error) {
        discard(name);
        await file.close();
        throw ioFailure("the lock cannot be written", name, error);
    }
}

/**
 * Whether a lock whose flock is free is stale; where it is not, throws why.
 * @param {fs.promises.FileHandle} file @param {Holder} me @param {string} name @param {string[]} notices
 */
async function checkStale(file, me, name, notices) {
    let h = await readHolder(file);
    if (h === null) {
        await wait(50); // where flock does not reach its maker, it may be about to write
        h = await readHolder(file);
    }
    if (h === null) {
        notices.push("took over an unfinished lock file");
        return;
    }
    if (h.host !== me.host)
        throw locked(`the key is locked by process ${h.pid} on host ${h.host}, not this one; if it is gone, remove ${name}`);
    if (h.boot !== me.boot) {
        if (h.machine === me.machine && h.machine !== "-") {
            notices.push(`took over the lock of process ${h.pid}, which a restart of this machine ended`);
            return;
        }
        throw locked(`the key is locked by process ${h.pid} of another boot of ${h.host}; if it is gone, remove ${name}`);
    }
    if (!isGone(h)) throw locked(`the key is in use by process ${h.pid} on ${h.host}: ${name}`);
    notices.push(`took over the lock of process ${h.pid}, which is gone`);
}

/** @param {fs.promises.FileHandle} file @param {string} name @param {boolean} canFlock */
async function heldBy(file, name, canFlock) {
    const h = await readHolder(file);
    if (h === null) return locked(`the key is in use by a process that has not named itself yet: ${name}`);
    return locked(`the key is in use by process ${h.pid} on ${h.host}${canFlock ? "" : "; if it is gone, remove the lock"}: ${name}`);
}

/**
 * Our own file: whoever looks at it may hold its flock for a moment, and finds that its process lives.
 * @param {fs.promises.FileHandle} file @param {string} name
 */
async function flockOwn(file, name) {
    for (let tries = 0; tries < 100; tries++) {
        if ((await flock(file.fd)) !== "held") return;
        await wait(5);
    }
    throw locked(`the lock changes hands too often: ${name}`);
}

/**
 * A file that somebody else made: ours if it is stale, null if it went away meanwhile.
 * @param {string} name @param {Holder} me @param {string[]} notices
 */
async function takeOver(name, me, notices) {
    let file;
    try {
        file = await open(name, C.O_RDWR | (C.O_NOFOLLOW ?? 0) | (C.O_NONBLOCK ?? 0));
    } catch (error) {
        if (codeOf(error) === "ENOENT") return null;
        throw ioFailure("the lock cannot be used", name, error);
    }
    let ours = false;
    try {
        if (!(await file.stat()).isFile()) throw ioFailure("the lock cannot be used", name, { code: "EINVAL" });
        hook.step("flock lock");
        const got = await flock(file.fd);
        if (got !== "taken") throw await heldBy(file, name, got === "held");
        if (!(await sameFile(file, name))) return null;
        await checkStale(file, me, name, notices);
        try {
            hook.step("empty stale lock");
            await file.truncate(0);
            await file.write(linesOf(me), 0, "latin1");
        } catch (error) {
            throw ioFailure("the stale lock cannot be taken over", name, error);
        }
        ours = true;
        return file;
    } finally {
        if (!ours) await file.close();
    }
}

/**
 * @param {string} name the lock's
 * @param {string[]} notices what was found and put right
 */
export async function takeLock(name, notices) {
    const me = self();
    for (let tries = 0; tries < 100; tries++) {
        const made = await makeFile(name, me);
        if (made !== null) {
            try {
                await flockOwn(made, name);
                if (await sameFile(made, name)) return new Lock(made, name, notices);
            } catch (error) {
                if (await sameFile(made, name)) discard(name);
                await made.close();
                throw error;
            }
            await made.close();
        } else {
            const taken = await takeOver(name, me, notices);
            if (taken !== null) return new Lock(taken, name, notices);
        }
        await wait(1);
    }
    throw locked(`the lock changes hands too often: ${name}`);
}
