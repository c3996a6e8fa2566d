/* The CommonJS entry: the same functions, loaded by the first call.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * There is one implementation, and one set of workers, however many parts of a program use either form. */
"use strict";

const path = require("node:path");
const { types } = require("node:util");

let loading;
let loaded;
const load = () => (loading ??= import("./index.js").then((m) => (loaded = m)));

/* Errors are made by the implementation; this class recognises them all by their mark. */
const brand = Symbol.for("sheaf.SheafError");
class SheafError extends Error {
    constructor(code, message, details = {}) {
        super(message, details.cause === undefined ? undefined : { cause: details.cause });
        this.name = "SheafError";
        const { check, index, needed, available, url } = details;
        Object.assign(this, { code, check, index, needed, available, url });
        Object.defineProperty(this, brand, { value: true });
    }

    static [Symbol.hasInstance](value) {
        return typeof value === "object" && value !== null && brand in value;
    }
}

const methods = ["verify", "verifyMany", "verifySignature", "inspect", "createProver", "keygen", "sign", "keyStatus", "close"];
const helpers = ["parseSignatures", "formatSignatures", "parseKeys", "formatKeys"];

/* ---- what is passed before the implementation is loaded ----
 *
 * The other entry has read what it is given when a call returns; so must this one, which cannot read it yet: it copies. Bytes, arrays
 * and objects are copied, and read once; what is alive (a signal, a function) is passed on. The copy is as wrong as what was given. */

const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
const getters = (prototype) =>
    ["buffer", "byteOffset", "byteLength"].map((name) => Object.getOwnPropertyDescriptor(prototype, name).get);
const [ofArrays, ofViews] = [getters(typedArray), getters(DataView.prototype)];
const tagOf = Object.getOwnPropertyDescriptor(typedArray, Symbol.toStringTag).get;

/** A copy of a view's or a buffer's bytes; null where the value is none, or its memory was given away. */
function bytesOf(value) {
    try {
        if (types.isAnyArrayBuffer(value)) return new Uint8Array(value).slice();
        if (!ArrayBuffer.isView(value)) return null;
        const get = Reflect.apply(tagOf, value, []) === undefined ? ofViews : ofArrays;
        const [buffer, offset, length] = get.map((one) => Reflect.apply(one, value, []));
        return new Uint8Array(buffer, offset, length).slice();
    } catch {
        return null;
    }
}

/* What is also looked for in prototypes, as a signature may be of a class. */
const inherited = ["scheme", "epoch", "message", "publicKey", "signature", "signatures"];
const DEPTH = 4; /* arguments, a list, its entries, their fields, bytes in a list of them */

/** @param {unknown} value @param {Uint8Array[]} made the copies of bytes */
function copyOf(value, made, depth = 0) {
    if (typeof value !== "object" || value === null || depth > DEPTH) return value;
    const bytes = bytesOf(value);
    if (bytes !== null) {
        made.push(bytes);
        return bytes;
    }
    if (value instanceof URL) return new URL(value.href);
    /* A Blob, a module, a response: what only the value itself can do. */
    const kind = Object.prototype.toString.call(value);
    if (kind !== "[object Object]" && kind !== "[object Array]") return value;
    let copy;
    if (Array.isArray(value)) {
        copy = [];
        copy.length = value.length;
    } else {
        const above = {};
        for (const name of inherited) if (name in value && !Object.hasOwn(value, name)) above[name] = copyOf(value[name], made, depth + 1);
        copy = Object.create(Object.keys(above).length > 0 ? above : Object.getPrototypeOf(value));
    }
    for (const name of Object.keys(value)) {
        const item = name === "signal" ? value[name] : copyOf(value[name], made, depth + 1);
        Object.defineProperty(copy, name, { value: item, enumerable: true, configurable: true, writable: true });
    }
    return copy;
}

/** The working directory; undefined where there is none any more. */
function here() {
    try {
        return process.cwd();
    } catch {
        return undefined;
    }
}

/** Key files as they were meant in a working directory that is another one now. */
function meantIn(folder, name, args) {
    const full = (file) => (typeof file === "string" && folder !== undefined ? path.resolve(folder, file) : file);
    if (name === "sign" || name === "keyStatus") args[0] = full(args[0]);
    if (name === "keygen" && typeof args[0]?.file === "string") args[0].file = full(args[0].file);
}

/** Calls what is there, or will be, with the arguments as they are now. */
async function call(ready, later, name, args) {
    if (ready !== undefined) return ready[name](...args);
    const made = [];
    const copies = args.map((value) => copyOf(value, made));
    const folder = here();
    try {
        const implementation = await later;
        if (here() !== folder) meantIn(folder, name, copies);
        return await implementation[name](...copies);
    } finally {
        /* Keys and seeds; what these calls return is none of the copies. */
        if (name === "sign" || name === "keygen") for (const bytes of made) bytes.fill(0);
    }
}

exports.SheafError = SheafError;
exports.createSheaf = (options) => {
    let own;
    const given = loaded === undefined ? copyOf(options, []) : options;
    const made = load().then((m) => (own = m.createSheaf(given)));
    made.catch(() => {}); // its first call tells
    return Object.fromEntries(methods.map((name) => [name, (...args) => call(own, made, name, args)]));
};
for (const name of [...methods, ...helpers]) exports[name] = (...args) => call(loaded, load(), name, args);
