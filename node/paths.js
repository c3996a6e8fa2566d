/* Names of files that are not UTF-8.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * To most systems a name is bytes, to Node a string. Here a name is a string in which a byte that belongs to no UTF-8 character is
 * a lone surrogate, U+DC00 plus the byte; every call that takes a name has it turned into the very bytes again. */
import fs from "node:fs";

const loneBytes = /[\udc80-\udcff]/u;
const replaced = "\ufffd";

/** How long the UTF-8 character is that begins there; 0 where none does. @param {Buffer} bytes @param {number} at */
function characterAt(bytes, at) {
    const first = bytes[at];
    const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    const there = bytes.subarray(at, at + length);
    return Buffer.from(there.toString()).equals(there) ? length : 0;
}

/** @param {Buffer} bytes */
export function nameOf(bytes) {
    let out = "";
    for (let at = 0; at < bytes.length; ) {
        const length = characterAt(bytes, at);
        out += length === 0 ? String.fromCharCode(0xdc00 + bytes[at]) : bytes.toString("utf8", at, at + length);
        at += length || 1;
    }
    return out;
}

/** @param {string} name */
export const isUtf8 = (name) => !loneBytes.test(name);

/** What the system's calls take. @param {string} name */
export function pathOf(name) {
    if (isUtf8(name)) return name;
    const pieces = [...name].map((c) => (loneBytes.test(c) ? Buffer.of(c.charCodeAt(0) - 0xdc00) : Buffer.from(c)));
    return Buffer.concat(pieces);
}

/**
 * A program's arguments with no byte lost, where the system shows them. @param {string[]} argv as Node has them
 */
export function argumentsOf(argv) {
    if (!argv.some((argument) => argument.includes(replaced))) return argv;
    let line;
    try {
        line = fs.readFileSync("/proc/self/cmdline");
    } catch {
        return argv;
    }
    /** @type {Buffer[]} */
    const all = [];
    for (let at = 0; at < line.length; ) {
        const end = line.indexOf(0, at);
        all.push(line.subarray(at, end));
        at = end + 1;
    }
    const own = all.slice(-argv.length);
    return own.every((bytes, i) => bytes.toString() === argv[i]) ? own.map(nameOf) : argv;
}

/* ---- the calls ---- */

/** @param {string} name @param {number} flags @param {number} [mode] */
export const open = (name, flags, mode) => fs.promises.open(pathOf(name), flags, mode);
/** @param {string} name @param {number} flags @param {number} [mode] */
export const openSync = (name, flags, mode) => fs.openSync(pathOf(name), flags, mode);
/** @param {string} name */
export const lstatSync = (name) => fs.lstatSync(pathOf(name));
/** @param {string} name */
export const identityOf = (name) => fs.lstatSync(pathOf(name), { bigint: true });
/** @param {string} name */
export const statSync = (name) => fs.statSync(pathOf(name));
/** @param {string} name @param {string} other */
export const linkSync = (name, other) => fs.linkSync(pathOf(name), pathOf(other));
/** @param {string} name @param {string} other */
export const renameSync = (name, other) => fs.renameSync(pathOf(name), pathOf(other));
/** @param {string} name */
export const unlinkSync = (name) => fs.unlinkSync(pathOf(name));
/** @param {string} name */
export const realpathSync = (name) => nameOf(fs.realpathSync.native(pathOf(name), "buffer"));

/** Removes what is left, and says nothing where it cannot be: there is an error already. @param {string} name */
export function discard(name) {
    try {
        unlinkSync(name);
    } catch {
        // it stays
    }
}
