/* Files, read and written whole.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Whoever opens a path sees the old bytes or all of the new ones, whenever the machine stops, and once a write has returned the
 * new ones have reached the disk. */
import fs from "node:fs";
import path from "node:path";
import { SheafError } from "../web/core/errors.js";
import { codeOf, textOf } from "./errno.js";
import { discard, lstatSync, openSync, pathOf, realpathSync, renameSync } from "./paths.js";

const { constants: C } = fs;
const NAME_SHOWN = 96;
const PIECE = 1 << 16;

/** The end of a long path: where its file's name is. @param {string} name */
function shown(name) {
    return name.length > NAME_SHOWN ? name.slice(-NAME_SHOWN) : name;
}

/** @param {string} doing @param {string} name @param {unknown} error */
function failure(doing, name, error) {
    return new SheafError("IO", `cannot ${doing} ${shown(name)}: ${textOf(error)}`, { cause: error });
}

/** Waits without spinning: for a descriptor that does not block and is not ready. @param {number} ms */
export function pause(ms) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * @template T
 * @param {() => T} call
 * @returns {T}
 */
function retrying(call) {
    for (;;) {
        try {
            return call();
        } catch (error) {
            const code = codeOf(error);
            if (code === "EAGAIN") pause(5);
            else if (code !== "EINTR") throw error;
        }
    }
}

/** @param {number} fd @param {string} name @param {number} most */
function readAll(fd, name, most) {
    const tooLong = () => new SheafError("MALFORMED", `${shown(name)} is longer than ${most} bytes`);
    /** @type {Buffer[]} */
    const pieces = [];
    let length = 0;
    let room = PIECE;
    try {
        const stat = fs.fstatSync(fd);
        if (stat.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
        if (stat.isFile()) {
            if (stat.size > most) throw tooLong();
            room = Math.max(room, stat.size + 1);
        }
        for (;;) {
            const piece = Buffer.allocUnsafeSlow(room);
            const got = retrying(() => readOrEnd(fd, piece));
            if (got === 0) break;
            pieces.push(piece.subarray(0, got));
            length += got;
            if (length > most) throw tooLong();
            room = PIECE;
        }
        if (pieces.length === 1) return pieces[0];
        const whole = Buffer.allocUnsafeSlow(length);
        let at = 0;
        for (const piece of pieces) at += piece.copy(whole, at);
        return whole;
    } catch (error) {
        if (error instanceof SheafError) throw error;
        throw failure("read", name, error);
    } finally {
        /* What is read may be a key. */
        if (pieces.length > 1) for (const piece of pieces) piece.fill(0);
    }
}

/** @param {number} fd @param {Buffer} piece */
function readOrEnd(fd, piece) {
    try {
        return fs.readSync(fd, piece, 0, piece.length, null);
    } catch (error) {
        if (codeOf(error) === "EOF") return 0; // the end of standard input, where the system calls it an error
        throw error;
    }
}

/**
 * A file, or standard input where it is "-".
 * @param {string} file @param {number} most bytes
 */
export function readFile(file, most) {
    if (file === "-") return readAll(0, "standard input", most);
    let fd;
    try {
        fd = openSync(file, C.O_RDONLY);
    } catch (error) {
        throw failure("open", file, error);
    }
    try {
        return readAll(fd, file, most);
    } finally {
        fs.closeSync(fd);
    }
}

/** @param {number} fd @param {Uint8Array} bytes */
function writeAll(fd, bytes) {
    for (let at = 0; at < bytes.length; ) at += retrying(() => fs.writeSync(fd, bytes, at, bytes.length - at, null));
}

/** Some file systems cannot synchronise some things, and say so: there is nothing more to be done then. @param {number} fd */
function sync(fd) {
    try {
        retrying(() => fs.fsyncSync(fd));
    } catch (error) {
        if (!["EINVAL", "ENOTSUP", "EROFS"].includes(codeOf(error))) throw error;
    }
}

/** @param {string} file */
function syncFolder(file) {
    if (process.platform === "win32") return; // folders cannot be opened there
    let fd;
    try {
        fd = openSync(path.dirname(file), C.O_RDONLY | C.O_DIRECTORY);
    } catch (error) {
        if (codeOf(error) === "EACCES") return; // a folder that may be written and not read cannot be synchronised
        throw error;
    }
    try {
        sync(fd);
    } finally {
        fs.closeSync(fd);
    }
}

let counter = 0;

/** @param {string} file no symbolic link, and no special file @param {Uint8Array} bytes */
function writeWhole(file, bytes) {
    let temporary = "";
    let fd = -1;
    for (let tries = 0; fd < 0; tries++) {
        temporary = `${file}.tmp-${process.pid}-${++counter}`;
        try {
            fd = openSync(temporary, C.O_WRONLY | C.O_CREAT | C.O_EXCL, 0o666);
        } catch (error) {
            if (codeOf(error) !== "EEXIST" || tries >= 99) throw failure("create", file, error);
        }
    }
    let doing = "write";
    try {
        try {
            writeAll(fd, bytes);
            sync(fd);
        } finally {
            fs.closeSync(fd);
        }
        doing = "replace";
        renameSync(temporary, file);
    } catch (error) {
        discard(temporary);
        throw failure(doing, file, error);
    }
    try {
        syncFolder(file);
    } catch (error) {
        throw failure("synchronise the folder of", file, error);
    }
}

/** @param {number} fd @param {string} name @param {Uint8Array} bytes */
function writeDirectly(fd, name, bytes) {
    try {
        writeAll(fd, bytes);
    } catch (error) {
        throw failure("write", name, error);
    }
}

/**
 * Throws what writeFile would where it could not even begin: for work that should not be done in vain.
 * @param {string} file
 */
export function checkWrite(file) {
    if (file === "-") return;
    let stat;
    try {
        stat = lstatSync(file);
    } catch (error) {
        if (codeOf(error) !== "ENOENT") throw failure("write", file, error);
    }
    if (stat?.isDirectory()) throw failure("write", file, { code: "EISDIR" });
    if (stat !== undefined && !stat.isFile()) return;
    try {
        fs.accessSync(pathOf(path.dirname(file)), C.W_OK | C.X_OK);
    } catch (error) {
        throw failure("create", file, error);
    }
}

/**
 * A file, whole or not at all, or standard output where it is "-". A symbolic link is followed; what is no regular file (a pipe, a
 * device) is written to directly.
 * @param {string} file @param {Uint8Array} bytes
 */
export function writeFile(file, bytes) {
    if (file === "-") {
        writeDirectly(1, "standard output", bytes);
        return;
    }
    let target = file;
    let stat;
    try {
        stat = lstatSync(file);
        if (stat.isSymbolicLink()) {
            target = realpathSync(file);
            stat = lstatSync(target);
        }
    } catch (error) {
        if (codeOf(error) === "ENOENT" && stat === undefined) {
            writeWhole(file, bytes);
            return;
        }
        throw failure("write", file, error);
    }
    if (stat.isFile()) {
        writeWhole(target, bytes);
    } else if (stat.isDirectory()) {
        throw failure("write", file, { code: "EISDIR" });
    } else {
        let fd;
        try {
            fd = openSync(file, C.O_WRONLY);
        } catch (error) {
            throw failure("open", file, error);
        }
        try {
            writeDirectly(fd, file, bytes);
        } finally {
            fs.closeSync(fd);
        }
    }
}
