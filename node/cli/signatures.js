/* Verbs on single signatures: sign, verify-signature, collect.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { createHash } from "node:crypto";
import { ENTRY_BYTES, KEY_BYTES, MAX_SIGNERS, sameBytes, toHex } from "../../web/core/bytes.js";
import { SheafError } from "../../web/core/errors.js";
import { countOf, entryOf, readSignatureSet, writeBinary, writeSignature, writeSignatures } from "../../web/core/formats.js";
import { closeKey, openKey, signByKey } from "../keyfile.js";
import { ERROR, MESSAGE_SPECS, OK, REJECTED, Exit, nameOf, parseArgs, plain, quote } from "./context.js";
import { engineOf, keysBy } from "./engine.js";

/**
 * @typedef {import("./context.js").Command} Command
 * @typedef {import("../../web/core/formats.js").SignatureSet} SignatureSet
 */

/** The message that --message or --message-file gives; undefined without them. @param {Command} c @param {any} values @returns {Uint8Array | undefined} */
export function messageOf(c, values) {
    const file = values["message-file"];
    if (file === undefined) return values.message;
    if (values.message !== undefined) c.error(null, "--message-file", "given besides --message");
    return createHash("shake256", { outputLength: 32 }).update(c.read(file)).digest();
}

/** Any of a signature file's forms. @param {Command} c @param {string} file @returns {SignatureSet} */
export function readSignatures(c, file) {
    const data = c.read(file);
    try {
        return readSignatureSet(data);
    } catch (error) {
        if (!(error instanceof SheafError)) throw error;
        return c.error(file, null, error.message);
    }
}

/** The first two places that hold the same key, the later one as early as can be; null where no key is there twice. */
/** @param {Uint8Array} keys joined */
export function findDuplicate(keys) {
    /** @type {Map<string, number>} */
    const seen = new Map();
    for (let i = 0; i * KEY_BYTES < keys.length; i++) {
        const name = toHex(keys.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES));
        const earlier = seen.get(name);
        if (earlier !== undefined) return { earlier, later: i };
        seen.set(name, i);
    }
    return null;
}

/** @param {Command} c @param {string} file @param {Uint8Array} keys joined */
export function checkDistinct(c, file, keys) {
    const twice = findDuplicate(keys);
    if (twice !== null) c.error(file, null, `public keys ${twice.earlier} and ${twice.later} are the same`);
}

/** @param {Command} c @param {string[]} argv */
export async function sign(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "key", letter: "k", type: "text" },
        { name: "epoch", type: "number" },
        { name: "output", letter: "o", type: "text" },
        ...MESSAGE_SPECS,
    ]);
    if (c.help) return OK;
    const { key: keyFile, epoch, output = "-" } = values;
    if (files.length > 0) c.error(files[0], null, "an argument that is not expected");
    if (keyFile === undefined) c.error(null, "--key", "is needed: the key's file");
    if (epoch === undefined) c.error(null, "--epoch", "is needed");
    const message = messageOf(c, values);
    if (message === undefined) return c.error(null, "--message", "is needed, or --message-file");

    let made;
    let publicKey;
    try {
        const keys = keysBy(() => Promise.reject(new Error("no key is made here")));
        const key = await openKey(keyFile, keys);
        try {
            publicKey = key.publicKey;
            made = await signByKey(key, epoch, message, keys);
        } finally {
            closeKey(key);
        }
    } catch (error) {
        c.failure(keyFile, error);
        return ERROR;
    }
    if (made.notices.length > 0) c.print(keyFile, "notice", made.notices.join("; "));
    const entries = new Uint8Array(ENTRY_BYTES);
    entries.set(publicKey);
    entries.set(made.signature, KEY_BYTES);
    c.write(output, writeSignature({ epoch, message, entries }));
    if (output === "-") return OK;
    if (c.json) {
        const fields = [
            `"file": ${quote(output)}`,
            `"epoch": ${epoch}`,
            `"repeated": ${made.repeated}`,
            `"publicKey": "0x${toHex(publicKey)}"`,
        ];
        c.write("-", `{\n  ${fields.join(",\n  ")}\n}\n`);
    } else if (!c.quiet) {
        c.write("-", `${plain(output)}: signed epoch ${epoch}${made.repeated ? " (the same signature as before)" : ""}\n`);
    }
    return OK;
}

/**
 * @param {Command} c @param {string} file
 * @param {{epoch?: number, message?: Uint8Array, key?: Uint8Array}} want
 */
async function checkFile(c, file, want) {
    const set = readSignatures(c, file);
    const rejected = (/** @type {string} */ field, /** @type {string} */ what) => {
        c.print(file, field, what);
        return REJECTED;
    };
    if (want.epoch !== undefined && want.epoch !== set.epoch) return rejected("epoch", `${set.epoch}, ${want.epoch} was expected`);
    if (want.message !== undefined && !sameBytes(want.message, set.message)) return rejected("message", "not the expected one");
    const engine = await engineOf("verifier");
    const n = countOf(set);
    for (let i = 0; i < n; i++) {
        const { publicKey, signature } = entryOf(set, i);
        if (want.key !== undefined && !sameBytes(want.key, publicKey))
            return rejected("publicKey", `signature ${i} is by another key than the expected one`);
        if (!engine.verifySignature(publicKey, set.epoch, set.message, signature))
            return rejected("signature", `signature ${i} does not verify`);
    }
    if (!c.quiet && !c.json) {
        const what = n === 1 ? "a valid signature" : "valid signatures";
        const by = Array.from({ length: n }, (_, i) => `\n  by 0x${toHex(entryOf(set, i).publicKey)}`).join("");
        c.write("-", `${plain(nameOf(file))}: ${what} for epoch ${set.epoch}, message 0x${toHex(set.message)}${by}\n`);
    }
    return OK;
}

/** @param {Command} c @param {string[]} argv */
export async function verifySignature(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "epoch", type: "number" },
        { name: "public-key", type: "hex32" },
        ...MESSAGE_SPECS,
    ]);
    if (c.help) return OK;
    if (files.length === 0) c.error(null, null, "no signature file is given");
    const want = { epoch: values.epoch, key: values["public-key"], message: messageOf(c, values) };
    let worst = OK;
    const lines = [];
    for (const file of files) {
        let code;
        try {
            code = await checkFile(c, file, want);
        } catch (error) {
            if (!(error instanceof Exit)) throw error;
            code = error.code;
        }
        worst = Math.max(worst, code);
        lines.push(`    {"file": ${quote(file)}, "valid": ${code === OK}}`);
    }
    if (c.json) c.write("-", `{\n  "files": [\n${lines.join(",\n")}\n  ],\n  "valid": ${worst === OK}\n}\n`);
    return worst;
}

/** @param {Command} c @param {string[]} argv */
export async function collect(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "output", letter: "o", type: "text" },
        { name: "binary", type: "flag" },
    ]);
    if (c.help) return OK;
    if (files.length === 0) c.error(null, null, "no signature file is given");
    const { output } = values;
    if (output === undefined) c.error(null, "--output", "is needed: the list's file");
    /** @type {SignatureSet | null} */
    let all = null;
    /** @type {Uint8Array[]} */
    const pieces = [];
    /** @type {[string, number][]} where each signature comes from */
    const origins = [];
    let n = 0;
    for (const file of files) {
        const more = readSignatures(c, file);
        if (all === null) all = more;
        else if (more.epoch !== all.epoch)
            c.error(file, "epoch", `signature ${n} is for epoch ${more.epoch}, signature 0 for ${all.epoch}`);
        else if (!sameBytes(more.message, all.message))
            c.error(file, "message", `signature ${n} is of another message than signature 0`);
        if (countOf(more) > MAX_SIGNERS - n) c.error(file, null, `with it there are more than ${MAX_SIGNERS} signatures`);
        pieces.push(more.entries);
        n += countOf(more);
        for (let i = 0; i < countOf(more); i++) origins.push([file, i]);
    }
    if (all === null) return ERROR;
    const set = { ...all, entries: Buffer.concat(pieces) };
    const twice = findDuplicate(Buffer.concat(Array.from({ length: n }, (_, i) => entryOf(set, i).publicKey)));
    if (twice !== null) {
        const [[first, there], [second, here]] = [origins[twice.earlier], origins[twice.later]];
        c.error(second, null, `signature ${here} has the public key of signature ${there} in ${nameOf(first)}`);
    }
    c.write(output, values.binary ? writeBinary(set) : writeSignatures(set));
    if (output === "-") return OK;
    if (c.json) {
        const fields = [
            `"file": ${quote(output)}`,
            `"signatures": ${n}`,
            `"epoch": ${set.epoch}`,
            `"message": "0x${toHex(set.message)}"`,
        ];
        c.write("-", `{\n  ${fields.join(",\n  ")}\n}\n`);
    } else if (!c.quiet) {
        c.write("-", `${plain(output)}: ${n} signatures for epoch ${set.epoch}\n`);
    }
    return OK;
}
