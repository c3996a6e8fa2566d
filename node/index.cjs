/* The CommonJS entry: the same functions, loaded by the first call.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * There is one implementation, and one set of workers, however many parts of a program use either form. */
"use strict";

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

exports.SheafError = SheafError;
exports.createSheaf = (options) => {
    let own;
    const made = load().then((m) => (own = m.createSheaf(options)));
    made.catch(() => {}); // its first call tells
    return Object.fromEntries(methods.map((name) => [name, async (...args) => (own ?? (await made))[name](...args)]));
};
/* What is passed is read at once, as by the other entry, as soon as the implementation is loaded. */
for (const name of [...methods, ...helpers]) exports[name] = async (...args) => (loaded ?? (await load()))[name](...args);
