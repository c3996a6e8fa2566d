/* Bytes as callers give them, and as text.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { invalid } from "./errors.js";

export const KEY_BYTES = 32;
export const MESSAGE_BYTES = 32;
export const DIGEST_BYTES = 32;
export const SIGNATURE_BYTES = 1208;
export const ENTRY_BYTES = KEY_BYTES + SIGNATURE_BYTES;
export const PREIMAGE_BYTES = 128;
export const MAX_SIGNERS = 65536;
export const MAX_HASHES = 1048576;
export const MAX_EPOCH = 0xffffffff;
/* The longest envelope that there can be: header, list, length, proof. */
export const MAX_ENVELOPE_BYTES = 60 + 32 * MAX_HASHES + 16777216;

const digits = "0123456789abcdef";

/** @param {Uint8Array} bytes */
export function toHex(bytes) {
    let out = "";
    for (const byte of bytes) out += digits[byte >> 4] + digits[byte & 15];
    return out;
}

/** @param {number} c a character's code */
function digit(c) {
    if (c >= 48 && c <= 57) return c - 48;
    const lower = c | 32;
    return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/**
 * The bytes of hex digits of either case, without a prefix; null where the text is no such thing.
 * @param {string} text
 */
export function fromHex(text) {
    if (text.length % 2 !== 0) return null;
    const out = new Uint8Array(text.length / 2);
    for (let i = 0; i < out.length; i++) {
        const high = digit(text.charCodeAt(2 * i));
        const low = digit(text.charCodeAt(2 * i + 1));
        if (high < 0 || low < 0) return null;
        out[i] = (high << 4) | low;
    }
    return out;
}

/**
 * A view of the caller's bytes, without a copy; null where the value holds none.
 * @param {unknown} value
 * @returns {Uint8Array | null}
 */
export function viewOf(value) {
    if (value instanceof Uint8Array) return value;
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    /* By its tag, since a buffer may come from another realm. */
    const tag = Object.prototype.toString.call(value);
    if (tag === "[object ArrayBuffer]" || tag === "[object SharedArrayBuffer]")
        return new Uint8Array(/** @type {ArrayBuffer} */ (value));
    return null;
}

/**
 * A copy of the caller's bytes that is nobody else's: it may be handed to a worker.
 * @param {unknown} value bytes, or text of 0x and hex digits
 * @param {string} name for the error
 * @param {number} [length] that they must have
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function copyOf(value, name, length) {
    let bytes;
    if (typeof value === "string") {
        if (!value.startsWith("0x") && !value.startsWith("0X")) throw invalid(`${name}: does not begin with 0x`);
        bytes = fromHex(value.slice(2));
        if (bytes === null) throw invalid(`${name}: not hex digits`);
    } else {
        const view = viewOf(value);
        if (view === null) throw invalid(`${name}: not bytes (a Uint8Array, an ArrayBuffer, or 0x and hex digits)`);
        bytes = new Uint8Array(view.length);
        bytes.set(view);
    }
    if (length !== undefined && bytes.length !== length)
        throw invalid(`${name}: ${bytes.length} bytes, ${length} are needed`);
    return bytes;
}

/**
 * A list of byte strings of one length, joined: given as an array of them, or joined already.
 * @param {unknown} value
 * @param {string} name
 * @param {number} length of each
 * @param {number} most how many there can be
 */
export function joinOf(value, name, length, most) {
    /** @type {Uint8Array<ArrayBuffer>} */
    let joined;
    if (Array.isArray(value)) {
        if (value.length > most) throw invalid(`${name}: ${value.length} entries, 1..${most} can be`);
        joined = new Uint8Array(value.length * length);
        value.forEach((item, i) => joined.set(copyOf(item, `${name}[${i}]`, length), i * length));
    } else {
        joined = copyOf(value, name);
        if (joined.length % length !== 0)
            throw invalid(`${name}: ${joined.length} bytes are no whole number of entries of ${length}`);
    }
    const n = joined.length / length;
    if (n < 1 || n > most) throw invalid(`${name}: ${n} entries, 1..${most} can be`);
    return joined;
}

/** @param {unknown} value @param {string} name @param {number} min @param {number} max */
export function integerOf(value, name, min, max) {
    if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max)
        throw invalid(`${name}: ${String(value)} is not an integer in ${min}..${max}`);
    return value;
}

/** @param {Uint8Array} a @param {Uint8Array} b */
export function sameBytes(a, b) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
    return true;
}

/** @param {Uint8Array} bytes @param {number} at */
export function load32(bytes, at) {
    return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

/** @param {Uint8Array} bytes @param {number} at @param {number} value */
export function store32(bytes, at, value) {
    bytes[at] = value;
    bytes[at + 1] = value >>> 8;
    bytes[at + 2] = value >>> 16;
    bytes[at + 3] = value >>> 24;
}
