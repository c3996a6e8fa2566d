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

/* The types' own getters, taken before anybody can change them: a value's own properties may say anything. */
/** @param {object | undefined} prototype @param {PropertyKey} name @returns {(value: unknown) => any} which may throw */
function getterOf(prototype, name) {
    const get = prototype && Object.getOwnPropertyDescriptor(prototype, name)?.get;
    return (value) => (get === undefined ? undefined : Reflect.apply(get, value, []));
}
const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
const typeOfArray = getterOf(typedArray, Symbol.toStringTag);
const arrays = ["buffer", "byteOffset", "byteLength"].map((name) => getterOf(typedArray, name));
const views = ["buffer", "byteOffset", "byteLength"].map((name) => getterOf(DataView.prototype, name));
const bufferLength = getterOf(ArrayBuffer.prototype, "byteLength");
const sharedLength = getterOf(typeof SharedArrayBuffer === "function" ? SharedArrayBuffer.prototype : undefined, "byteLength");

/**
 * An object's own properties, each read once, so that neither a prototype nor a second look says something else.
 * @template {object} T
 * @param {T} object @param {readonly string[]} [names] these only
 * @returns {T}
 */
export function ownOf(object, names = Object.keys(object)) {
    const out = Object.create(null);
    for (const name of names) if (Object.hasOwn(object, name)) out[name] = /** @type {any} */ (object)[name];
    return out;
}

/** A value for an error's text, whatever it is. @param {unknown} value */
export function shown(value) {
    try {
        return String(value).slice(0, 80);
    } catch {
        return "an object";
    }
}

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
 * A view of the caller's bytes, without a copy; null where the value holds none (any more).
 * @param {unknown} value
 * @returns {Uint8Array | null}
 */
export function viewOf(value) {
    if (typeof value !== "object" || value === null) return null;
    try {
        if (ArrayBuffer.isView(value)) {
            const [buffer, offset, length] = (typeOfArray(value) === undefined ? views : arrays).map((get) => get(value));
            return new Uint8Array(buffer, offset, length);
        }
    } catch {
        return null; // its buffer was given away
    }
    /* By what only such a buffer answers, since it may come from another realm. */
    for (const lengthOf of [bufferLength, sharedLength]) {
        try {
            const length = lengthOf(value);
            if (length !== undefined) return new Uint8Array(/** @type {ArrayBuffer} */ (value), 0, length);
        } catch {
            continue;
        }
    }
    return null;
}

/** @param {string} name @param {number} there @param {number | undefined} length that there must be */
function checkLength(name, there, length) {
    if (length !== undefined && there !== length) throw invalid(`${name}: ${there} bytes, ${length} are needed`);
}

/**
 * The bytes of a text of 0x and hex digits. One that is longer than it may be is not read.
 * @param {string} text @param {string} name @param {number} most
 */
function hexBytes(text, name, most) {
    if (!text.startsWith("0x") && !text.startsWith("0X")) throw invalid(`${name}: does not begin with 0x`);
    if (text.length - 2 > 2 * most) throw invalid(`${name}: ${text.length - 2} hex digits, ${2 * most} are the most`);
    const bytes = fromHex(text.slice(2));
    if (bytes === null) throw invalid(`${name}: not hex digits`);
    return bytes;
}

/** @param {string} name @param {unknown} value @param {string} forms that there are */
function notBytes(name, value, forms) {
    const what = ArrayBuffer.isView(value) ? "their memory was given away" : `a Uint8Array, an ArrayBuffer${forms}`;
    return invalid(`${name}: not bytes (${what})`);
}

/**
 * A copy of the caller's bytes that is nobody else's: it may be handed to a worker. Lengths are checked before anything is copied.
 * @param {unknown} value bytes alone
 * @param {string} name for the error
 * @param {(length: number) => void} [check] throws where it cannot be so long
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function binaryOf(value, name, check) {
    const view = viewOf(value);
    if (view === null) throw notBytes(name, value, "");
    check?.(view.length);
    const bytes = new Uint8Array(view.length);
    bytes.set(view);
    return bytes;
}

/**
 * The same, of bytes of a known length.
 * @param {unknown} value bytes, or text of 0x and hex digits
 * @param {string} name for the error
 * @param {number} length that they must have
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function copyOf(value, name, length) {
    const view = typeof value === "string" ? hexBytes(value, name, length) : viewOf(value);
    if (view === null) throw notBytes(name, value, ", or 0x and hex digits");
    checkLength(name, view.length, length);
    const bytes = new Uint8Array(length);
    bytes.set(view);
    return bytes;
}

/**
 * An array's items, each read once. A hole is an error.
 * @param {readonly unknown[]} list @param {string} name
 * @param {number} n how many there are @param {(item: any, i: number) => void} take
 */
export function eachOf(list, name, n, take) {
    for (let i = 0; i < n; i++) {
        if (!Object.hasOwn(list, i)) throw invalid(`${name}[${i}]: missing`, i);
        take(list[i], i);
    }
}

/**
 * A list of byte strings of one length, joined: given as an array of them, or joined already.
 * @param {unknown} value
 * @param {string} name
 * @param {number} length of each
 * @param {number} most how many there can be
 */
export function joinOf(value, name, length, most) {
    const checkCount = (/** @type {number} */ n) => {
        if (n < 1 || n > most) throw invalid(`${name}: ${n} entries, 1..${most} can be`);
    };
    if (Array.isArray(value)) {
        const n = value.length;
        checkCount(n);
        const joined = new Uint8Array(n * length);
        eachOf(value, name, n, (item, i) => joined.set(copyOf(item, `${name}[${i}]`, length), i * length));
        return joined;
    }
    const bytes = typeof value === "string" ? hexBytes(value, name, most * length) : value;
    return binaryOf(bytes, name, (there) => {
        if (there % length !== 0) throw invalid(`${name}: ${there} bytes are no whole number of entries of ${length}`);
        checkCount(there / length);
    });
}

/** @param {unknown} value @param {string} name @param {number} min @param {number} max */
export function integerOf(value, name, min, max) {
    if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max)
        throw invalid(`${name}: ${shown(value)} is not an integer in ${min}..${max}`);
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
