/* Lists of keys and signatures as files: docs/protocol.md 10.2 - 10.4.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { SheafError, invalid } from "./errors.js";
import { JsonError, Members, parseJson } from "./json.js";
import {
    ENTRY_BYTES,
    KEY_BYTES,
    MAX_EPOCH,
    MAX_SIGNERS,
    MESSAGE_BYTES,
    SIGNATURE_BYTES,
    fromHex,
    joinOf,
    load32,
    shown,
    store32,
    toHex,
    viewOf,
} from "./bytes.js";
import { entriesOf, optionsOf } from "./api.js";

export const SCHEME = "leanXMSS";
const BINARY_MAGIC = [0x53, 0x48, 0x53, 0x49, 0x47, 0x0d, 0x0a, 0x1a];
const BINARY_VERSION = 1;
const BINARY_SCHEME = 1;
const BINARY_HEADER = 56;
/* A place in a document is shown up to so many characters. */
const PLACE_MOST = 95;

/** @typedef {{epoch: number, message: Uint8Array, entries: Uint8Array}} SignatureSet entries: key and signature, joined */

/** @param {string} what */
function malformed(what) {
    return new SheafError("MALFORMED", what);
}

/** @param {string} place @param {string} what */
function at(place, what) {
    return malformed(place === "" ? what : `${place.slice(0, PLACE_MOST)}: ${what}`);
}

/** @param {string} path @param {string} name */
function join(path, name) {
    return path === "" ? name : `${path}.${name}`;
}

/** @param {string} text */
function parse(text) {
    try {
        return parseJson(text);
    } catch (error) {
        if (error instanceof JsonError) throw malformed(error.message);
        throw error;
    }
}

/**
 * The fields of an object: each of the names once, and no other.
 * @param {unknown} object @param {string[]} names @param {string} path
 */
function fieldsOf(object, names, path) {
    if (!(object instanceof Members)) throw at(path, "not an object");
    /** @type {unknown[]} */
    const fields = new Array(names.length);
    const seen = new Array(names.length).fill(false);
    for (const [name, value] of object.list) {
        const i = names.indexOf(name);
        if (i < 0) throw at(join(path, name), "unknown field");
        if (seen[i]) throw at(join(path, name), "given twice");
        seen[i] = true;
        fields[i] = value;
    }
    names.forEach((name, i) => {
        if (!seen[i]) throw at(join(path, name), "missing");
    });
    return fields;
}

/** @param {unknown} value @param {string} place @param {number} length */
function hexOf(value, place, length) {
    if (typeof value !== "string") throw at(place, "not a string");
    if (!value.startsWith("0x")) throw at(place, "does not begin with 0x");
    const digits = value.length - 2;
    if (digits !== 2 * length) throw at(place, `${digits} hex digits, ${2 * length} are needed (${length} bytes)`);
    const bytes = fromHex(value.slice(2));
    if (bytes === null) throw at(place, "not hex digits");
    return bytes;
}

/** @param {unknown} value */
function checkScheme(value) {
    if (typeof value !== "string") throw at("scheme", "not a string");
    if (value !== SCHEME) throw at("scheme", `not ${SCHEME}`);
}

/** @param {unknown} value @param {boolean} digitsAlone */
function epochOf(value, digitsAlone) {
    if (typeof value !== "number") throw at("epoch", "not a number");
    if (!Number.isInteger(value) || value < 0 || value > MAX_EPOCH) throw at("epoch", `not an integer in 0..${MAX_EPOCH}`);
    if (!digitsAlone) throw at("epoch", "not digits alone");
    return value;
}

/** @param {unknown} value @param {string} place */
function listOf(value, place) {
    if (!Array.isArray(value)) throw at(place, "not an array");
    if (value.length < 1 || value.length > MAX_SIGNERS)
        throw at(place, `${value.length} entries, 1..${MAX_SIGNERS} can be`);
    return value;
}

/** @param {Uint8Array} entries @param {number} i @param {string} path @param {unknown} key @param {unknown} signature */
function setEntry(entries, i, path, key, signature) {
    entries.set(hexOf(key, join(path, "publicKey"), KEY_BYTES), i * ENTRY_BYTES);
    entries.set(hexOf(signature, join(path, "signature"), SIGNATURE_BYTES), i * ENTRY_BYTES + KEY_BYTES);
}

/** @param {string} text @returns {SignatureSet} */
function readText(text) {
    const { value: document, digitsAlone } = parse(text);
    const many = document instanceof Members && document.list.some(([name]) => name === "signatures");
    const names = many ? ["signatures"] : ["publicKey", "signature"];
    const [scheme, epochField, messageField, ...rest] = fieldsOf(document, ["scheme", "epoch", "message", ...names], "");
    checkScheme(scheme);
    const epoch = epochOf(epochField, digitsAlone);
    const message = hexOf(messageField, "message", MESSAGE_BYTES);
    if (!many) {
        const entries = new Uint8Array(ENTRY_BYTES);
        setEntry(entries, 0, "", rest[0], rest[1]);
        return { epoch, message, entries };
    }
    const list = listOf(rest[0], "signatures");
    const entries = new Uint8Array(list.length * ENTRY_BYTES);
    list.forEach((item, i) => {
        const path = `signatures[${i}]`;
        const [key, signature] = fieldsOf(item, ["publicKey", "signature"], path);
        setEntry(entries, i, path, key, signature);
    });
    return { epoch, message, entries };
}

/** @param {Uint8Array} bytes @returns {SignatureSet} */
function readBinary(bytes) {
    if (bytes.length < BINARY_HEADER) throw at("header", `cut short, ${bytes.length} of ${BINARY_HEADER} bytes`);
    const version = bytes[8] | (bytes[9] << 8);
    const scheme = bytes[10] | (bytes[11] << 8);
    const n = load32(bytes, 12);
    if (version !== BINARY_VERSION) throw at("version", `${version}, this build reads version ${BINARY_VERSION}`);
    if (scheme !== BINARY_SCHEME) throw at("scheme", `${scheme} is not known`);
    if (n === 0 || n > MAX_SIGNERS) throw at("count", `${n} is not in 1..${MAX_SIGNERS}`);
    if (load32(bytes, 20) !== 0) throw at("reserved", "the four bytes at 20 are not zero");
    const needed = n * ENTRY_BYTES;
    const there = bytes.length - BINARY_HEADER;
    if (there < needed) throw at("entries", `cut short, ${there} of ${needed} bytes`);
    if (there > needed) throw at("end", `${there - needed} bytes are left over`);
    return { epoch: load32(bytes, 16), message: bytes.slice(24, 56), entries: bytes.slice(BINARY_HEADER) };
}

/**
 * Any of the forms: one signature (JSON), a list (JSON), a list (binary).
 * @param {Uint8Array | string} data
 */
export function readSignatureSet(data) {
    if (typeof data === "string") return readText(data);
    if (data.length >= 8 && BINARY_MAGIC.every((byte, i) => data[i] === byte)) return readBinary(data);
    return readText(decode(data));
}

/** keys.json: the public keys, joined. @param {Uint8Array | string} data */
export function readKeys(data) {
    const { value: document } = parse(typeof data === "string" ? data : decode(data));
    const [scheme, keys] = fieldsOf(document, ["scheme", "publicKeys"], "");
    checkScheme(scheme);
    const list = listOf(keys, "publicKeys");
    const joined = new Uint8Array(list.length * KEY_BYTES);
    list.forEach((key, i) => joined.set(hexOf(key, `publicKeys[${i}]`, KEY_BYTES), i * KEY_BYTES));
    return joined;
}

/** @param {Uint8Array} data */
function decode(data) {
    /* Memory that is shared is not decoded in place. */
    const own = data.buffer instanceof ArrayBuffer ? data : data.slice();
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(own);
}

/** @param {number} epoch @param {Uint8Array} message */
function commonText(epoch, message) {
    return `{\n  "scheme": "${SCHEME}",\n  "epoch": ${epoch},\n  "message": "0x${toHex(message)}",\n`;
}

/** @param {SignatureSet} set @param {number} i */
export function entryOf(set, i) {
    const entry = set.entries.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES);
    return { publicKey: entry.subarray(0, KEY_BYTES), signature: entry.subarray(KEY_BYTES) };
}

/** @param {SignatureSet} set */
export function countOf(set) {
    return set.entries.length / ENTRY_BYTES;
}

/** @param {SignatureSet} set of one */
export function writeSignature(set) {
    const { publicKey, signature } = entryOf(set, 0);
    return (
        commonText(set.epoch, set.message) +
        `  "publicKey": "0x${toHex(publicKey)}",\n  "signature": "0x${toHex(signature)}"\n}\n`
    );
}

/** @param {SignatureSet} set */
export function writeSignatures(set) {
    const parts = Array.from({ length: countOf(set) }, (_, i) => {
        const { publicKey, signature } = entryOf(set, i);
        return `    {\n      "publicKey": "0x${toHex(publicKey)}",\n      "signature": "0x${toHex(signature)}"\n    }`;
    });
    return `${commonText(set.epoch, set.message)}  "signatures": [\n${parts.join(",\n")}\n  ]\n}\n`;
}

/** @param {SignatureSet} set */
export function writeBinary(set) {
    const out = new Uint8Array(BINARY_HEADER + set.entries.length);
    out.set(BINARY_MAGIC);
    out[8] = BINARY_VERSION;
    out[10] = BINARY_SCHEME;
    store32(out, 12, countOf(set));
    store32(out, 16, set.epoch);
    out.set(set.message, 24);
    out.set(set.entries, BINARY_HEADER);
    return out;
}

/** @param {Uint8Array} keys joined */
export function writeKeys(keys) {
    const lines = Array.from({ length: keys.length / KEY_BYTES }, (_, i) => {
        return `    "0x${toHex(keys.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES))}"`;
    });
    return `{\n  "scheme": "${SCHEME}",\n  "publicKeys": [\n${lines.join(",\n")}\n  ]\n}\n`;
}

/* ---- the same for callers, as objects; asynchronous as all of the interface ---- */

/** @param {unknown} data @param {string} name @returns {Uint8Array | string} */
function dataOf(data, name) {
    const view = typeof data === "string" ? data : viewOf(data);
    if (view === null) throw invalid(`${name}: not bytes and not text`);
    return view;
}

/** @type {import("../types.js").parseSignatures} */
export async function parseSignatures(data) {
    const set = readSignatureSet(dataOf(data, "data"));
    const signatures = Array.from({ length: countOf(set) }, (_, i) => {
        const { publicKey, signature } = entryOf(set, i);
        return { publicKey: publicKey.slice(), signature: signature.slice() };
    });
    return { scheme: SCHEME, epoch: set.epoch, message: set.message.slice(), signatures };
}

/** @type {import("../types.js").formatSignatures} */
export async function formatSignatures(signatures, options) {
    const form = optionsOf(options, ["form"], "options").form ?? "json";
    if (form !== "json" && form !== "binary") throw invalid(`form: ${shown(form)} is not "json" or "binary"`);
    if (typeof signatures !== "object" || signatures === null) throw invalid("signatures: not an object");
    const one = !Array.isArray(signatures) && "signature" in signatures;
    const set = entriesOf(one ? [signatures] : signatures);
    const text = form === "binary" ? null : one ? writeSignature(set) : writeSignatures(set);
    return text === null ? writeBinary(set) : new TextEncoder().encode(text);
}

/** @type {import("../types.js").parseKeys} */
export async function parseKeys(data) {
    const keys = readKeys(dataOf(data, "data"));
    return Array.from({ length: keys.length / KEY_BYTES }, (_, i) => keys.slice(i * KEY_BYTES, (i + 1) * KEY_BYTES));
}

/** @type {import("../types.js").formatKeys} */
export async function formatKeys(keys) {
    return new TextEncoder().encode(writeKeys(joinOf(keys, "publicKeys", KEY_BYTES, MAX_SIGNERS)));
}
