/* Verbs that verify: verify, inspect, hash verify.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { DIGEST_BYTES, MAX_ENVELOPE_BYTES, MAX_HASHES, MESSAGE_BYTES, toHex } from "../../web/core/bytes.js";
import { KIND_HASH, KIND_LEANXMSS } from "../../web/core/engine.js";
import { SheafError } from "../../web/core/errors.js";
import { readKeys } from "../../web/core/formats.js";
import { readFile } from "../files.js";
import { MESSAGE_SPECS, OK, REJECTED, nameOf, parseArgs, plain, plural, quote } from "./context.js";
import { engineOf, statusText } from "./engine.js";
import { checkDistinct, messageOf } from "./signatures.js";

/**
 * @typedef {import("./context.js").Command} Command
 * @typedef {import("../../web/core/engine.js").Engine} Engine
 * @typedef {import("../../web/core/engine.js").Statement} Statement
 */

/** The statement of an envelope; null where it is none. @param {Engine} engine @param {Uint8Array} data */
function statementOf(engine, data) {
    try {
        return engine.parse(data);
    } catch (error) {
        if (error instanceof SheafError) return null;
        throw error;
    }
}

/** @param {Uint8Array} data @param {Statement} st */
function keysOf(data, st) {
    return Array.from({ length: st.count }, (_, i) => `0x${toHex(data.subarray(st.itemsAt + 32 * i, st.itemsAt + 32 * (i + 1)))}`);
}

/** @param {Uint8Array} data @param {Statement} st */
const messageAt = (data, st) => `0x${toHex(data.subarray(st.messageAt, st.messageAt + MESSAGE_BYTES))}`;

/** @param {Uint8Array} data @param {Statement} st */
function statementJson(data, st) {
    const keys = keysOf(data, st).map((key) => `\n        "${key}"`);
    return (
        `,\n      "signers": ${st.count},\n      "epoch": ${st.epoch},\n      "message": "${messageAt(data, st)}"` +
        `,\n      "publicKeys": [${keys.join(",")}\n      ]`
    );
}

/** @param {string} file @param {Uint8Array} data @param {Statement} st */
function statementLines(file, data, st) {
    const first = `${plain(nameOf(file))}: accepted: ${st.count} signer${plural(st.count)}, epoch ${st.epoch}, message ${messageAt(data, st)}\n`;
    return first + keysOf(data, st).map((key) => `  ${key}\n`).join("");
}

/** @param {Command} c @param {string} file @param {any} asked @param {string[]} json */
async function verifyFile(c, file, asked, json) {
    const engine = await engineOf("verifier");
    /** @type {Buffer | null} */
    let data = null;
    let code = OK;
    let failure = null;
    try {
        data = readFile(file, MAX_ENVELOPE_BYTES);
        const verdict = engine.verify(data, asked);
        if (!verdict.accepted) {
            failure = { status: "REJECTED", check: verdict.check, index: verdict.index, reason: verdict.reason };
            code = c.rejection(file, verdict);
        }
    } catch (error) {
        code = c.failure(file, error);
        const { code: status, index, message } = /** @type {SheafError} */ (error);
        failure = { status, check: "none", index: index ?? 0, reason: message };
    }
    const statement = data === null ? null : statementOf(engine, data);
    const readable = data !== null && statement?.kind === KIND_LEANXMSS ? { data, statement } : null;
    if (c.json) {
        let text = `    {\n      "file": ${quote(file)},\n      "accepted": ${failure === null}`;
        if (failure !== null) {
            text +=
                `,\n      "status": ${quote(statusText(engine, failure.status))},\n      "check": ${quote(failure.check)}` +
                `,\n      "index": ${failure.index},\n      "reason": ${quote(failure.reason)}`;
        }
        if (readable !== null) text += statementJson(readable.data, readable.statement);
        json.push(`${text}\n    }`);
    } else if (failure === null && readable !== null && !c.quiet) {
        c.write("-", statementLines(file, readable.data, readable.statement));
    }
    return code;
}

/** @param {Command} c @param {string[]} argv */
export async function verify(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "keys", type: "text" },
        { name: "epoch", type: "number" },
        ...MESSAGE_SPECS,
    ]);
    if (c.help) return OK;
    if (files.length === 0) c.error(null, null, "no aggregate is given");
    const message = messageOf(c, values);
    let items;
    if (values.keys !== undefined) {
        const data = c.read(values.keys);
        try {
            items = readKeys(data);
        } catch (error) {
            if (!(error instanceof SheafError)) throw error;
            return c.error(values.keys, null, error.message);
        }
        checkDistinct(c, values.keys, items);
    }
    const asked = { kind: KIND_LEANXMSS, epoch: values.epoch, message, items };
    let worst = OK;
    /** @type {string[]} */
    const json = [];
    for (const file of files) worst = Math.max(worst, await verifyFile(c, file, asked, json));
    if (c.json) c.write("-", `{\n  "files": [\n${json.join(",\n")}\n  ],\n  "accepted": ${worst === OK}\n}\n`);
    return worst;
}

/* ---- inspect ---- */

/** @param {string} file @param {any} i the module's account */
function infoJson(file, i) {
    const parts = Object.entries(i.parts).map(([name, bytes]) => `\n    "${name}": ${bytes}`);
    const levels = i.levels.map((/** @type {any} */ l) => {
        return `\n    {"fold": ${l.fold}, "log_inv_rate": ${l.log_inv_rate}, "queries": ${l.queries}, "grinding_bits": ${l.grinding_bits}}`;
    });
    return (
        `{\n  "file": ${quote(file)},\n  "kind": ${quote(i.kind)},\n  "count": ${i.count},\n  "epoch": ${i.epoch},\n` +
        `  "accepted": ${i.accepted},\n  "check": ${quote(i.check)},\n` +
        `  "envelope_bytes": ${i.envelope_bytes},\n  "statement_bytes": ${i.statement_bytes},\n` +
        `  "proof_bytes": ${i.proof_bytes},\n  "parts": {${parts.join(",")}\n  },\n` +
        `  "log_slots": ${i.log_slots},\n  "permutations_per_slot": ${i.permutations_per_slot},\n  "log_words": ${i.log_words},\n` +
        `  "log_inv_rate": ${i.log_inv_rate},\n  "arity": ${i.arity},\n  "last_log": ${i.last_log},\n` +
        `  "levels": [${levels.join(",")}\n  ],\n  "security_bits": ${i.security_bits.toFixed(2)}\n}\n`
    );
}

/** @param {string} file @param {any} i @param {string} reason */
function infoText(file, i, reason) {
    const hash = i.kind === "hash batch";
    const size = (/** @type {number} */ n) => String(n).padStart(10);
    const lines = [
        `${plain(nameOf(file))}: ${i.kind}, ${i.count} ${hash ? "digests" : "signers"}${hash ? "" : `, epoch ${i.epoch}`}`,
        i.accepted
            ? "the proof is accepted"
            : `the proof is REJECTED: ${reason} (check ${i.check}); below is what could be read of it`,
        "",
        `file      ${size(i.envelope_bytes)} bytes`,
        `statement ${size(i.statement_bytes)} bytes`,
        `proof     ${size(i.proof_bytes)} bytes, of which`,
    ];
    for (const [name, bytes] of Object.entries(i.parts)) {
        const share = i.proof_bytes > 0 ? (100 * bytes) / i.proof_bytes : 0;
        lines.push(`  ${name.padEnd(14)} ${String(bytes).padStart(9)}  ${share.toFixed(1).padStart(5)}%`);
    }
    const slots = `2^${i.log_slots} slots of ${i.permutations_per_slot} permutations`;
    if (i.log_inv_rate === 0) {
        lines.push("", `${slots}; the parameters are not known: the proof's header is not readable`, "");
        return lines.join("\n");
    }
    lines.push("", `${slots}, 2^${i.log_words} committed words`, "level    fold   rate  queries  grinding");
    i.levels.forEach((/** @type {any} */ l, /** @type {number} */ k) => {
        const rate = `2^-${String(l.log_inv_rate).padEnd(2)}`;
        const [fold, queries, bits] = [String(l.fold).padStart(6), String(l.queries).padStart(8), String(l.grinding_bits).padStart(4)];
        lines.push(`${String(k).padEnd(6)} ${fold}  ${rate} ${queries} ${bits} bits`);
    });
    lines.push(
        `last word 2^${i.last_log} elements, Merkle arity ${i.arity}`,
        `soundness: ${i.security_bits.toFixed(2)} bits (the largest error term; see sheaf security)`,
        "",
    );
    return lines.join("\n");
}

/** @param {Command} c @param {string[]} argv */
export async function inspect(c, argv) {
    const { files } = parseArgs(c, argv, []);
    if (c.help) return OK;
    if (files.length !== 1) c.error(null, null, `one file is needed, ${files.length} are given`);
    const data = c.read(files[0], MAX_ENVELOPE_BYTES);
    const engine = await engineOf("verifier");
    let told;
    try {
        told = engine.inspect(data);
    } catch (error) {
        return c.failure(files[0], error);
    }
    const { info, reason } = told;
    c.write("-", c.json ? infoJson(files[0], info) : infoText(files[0], info, reason));
    return info.accepted ? OK : REJECTED;
}

/* ---- hash verify ---- */

/** @param {Command} c @param {string[]} argv */
export async function hashVerify(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "digests", type: "text" },
        { name: "log-n", type: "number", max: 20 },
    ]);
    if (c.help) return OK;
    if (files.length !== 1) c.error(null, null, `one batch is needed, ${files.length} are given`);
    const [file] = files;
    let items;
    if (values.digests !== undefined) {
        items = c.read(values.digests, MAX_HASHES * DIGEST_BYTES);
        if (items.length % DIGEST_BYTES !== 0)
            c.error(values.digests, null, `${items.length} bytes are no whole number of ${DIGEST_BYTES}-byte digests`);
    }
    const data = c.read(file, MAX_ENVELOPE_BYTES);
    const engine = await engineOf("verifier");
    const expected = values["log-n"] === undefined ? undefined : 2 ** values["log-n"];
    let code = OK;
    let count = 0;
    let check = "none";
    try {
        count = engine.parse(data).count;
        let verdict = engine.verify(data, { kind: KIND_HASH, items });
        if (verdict.accepted && expected !== undefined && count !== expected) {
            const reason = `the proof covers ${count} hashes, 2^${values["log-n"]} were expected`;
            verdict = { accepted: false, check: "statement", index: 0, reason };
        }
        if (!verdict.accepted) {
            check = verdict.check;
            code = c.rejection(file, verdict);
        }
    } catch (error) {
        code = c.failure(file, error);
    }
    if (c.json) {
        const fields = [`"file": ${quote(file)}`, `"accepted": ${code === OK}`, `"hashes": ${count}`, `"check": "${check}"`];
        c.write("-", `{\n  ${fields.join(",\n  ")}\n}\n`);
    } else if (code === OK && !c.quiet) {
        c.write("-", `${plain(nameOf(file))}: accepted: ${count} hash${plural(count, "es")}\n`);
    }
    return code;
}
