/* Verbs on keys: keygen, pubkey, key-status.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { KEY_BYTES, MAX_EPOCH, toHex } from "../../web/core/bytes.js";
import { SheafError } from "../../web/core/errors.js";
import { SCHEME, writeKeys } from "../../web/core/formats.js";
import { closeKey, createKey, openKey, usageOf } from "../keyfile.js";
import { OK, parseArgs, parseNumber, plain, quote } from "./context.js";
import { engineOf, keysBy } from "./engine.js";
import { catchSignals, keygenWork } from "./prove.js";

/** @typedef {import("./context.js").Command} Command */

const MOST_PARSED = 2 ** 40;
const RESTORE_WARNING =
    "a key that is copied, or restored from a backup, can sign an epoch twice, which gives the key away: keep one copy, and the " +
    "journal beside it";

/** @param {string} given */
function parseInterval(given) {
    const colon = given.indexOf(":");
    if (colon < 0) return null;
    const [start, count] = [given.slice(0, colon), given.slice(colon + 1)].map((part) => parseNumber(part, MOST_PARSED));
    return start === null || count === null ? null : { start, count };
}

/** @param {number} start @param {number} count */
async function checkInterval(start, count) {
    /* The module takes 32 bits of a start, and what is over them is past the last epoch whatever else is wrong. */
    if (count > 0 && start > MAX_EPOCH) throw new SheafError("EPOCH_RANGE", `the last epoch is ${MAX_EPOCH}`);
    (await engineOf("prover")).keyInterval(start, count);
}

/** @param {Command} c @param {string[]} argv */
export async function keygen(c, argv) {
    const { values, files } = parseArgs(c, argv, [
        { name: "epochs", type: "text" },
        { name: "output", letter: "o", type: "text" },
        { name: "seed", type: "seed" },
    ]);
    if (c.help) return OK;
    const { epochs, output, seed } = values;
    if (files.length > 0) c.error(files[0], null, "an argument that is not expected");
    if (epochs === undefined) c.error(null, "--epochs", "is needed: START:COUNT");
    if (output === undefined) c.error(null, "--output", "is needed: the key's file");
    if (output === "-")
        c.error(null, "--output", "a key has a journal beside it and cannot be written to standard output");
    const interval = parseInterval(epochs);
    if (interval === null) return c.error(null, "--epochs", `${epochs} is not START:COUNT in decimal`);
    const { start, count } = interval;
    catchSignals();
    let made;
    try {
        await checkInterval(start, count);
        const keys = keysBy((...args) => keygenWork(c, ...args));
        made = await createKey(output, start, count, seed, keys);
    } catch (error) {
        const interval_ = error instanceof SheafError && error.code === "EPOCH_RANGE";
        return c.failure(interval_ ? "--epochs" : output, error);
    }
    const key = `0x${toHex(made.publicKey)}`;
    if (c.json) {
        const fields = [
            `"file": ${quote(output)}`,
            `"scheme": "${SCHEME}"`,
            `"publicKey": "${key}"`,
            `"firstEpoch": ${start}`,
            `"epochs": ${count}`,
        ];
        c.write("-", `{\n  ${fields.join(",\n  ")}\n}\n`);
    } else if (!c.quiet) {
        c.write("-", `${plain(output)}: epochs ${start}..${start + count - 1}, public key ${key}\n`);
    }
    return OK;
}

const keys = keysBy(() => Promise.reject(new Error("no key is made here")));

/** @param {Command} c @param {string} file */
async function open(c, file) {
    try {
        return await openKey(file, keys);
    } catch (error) {
        return c.fail(file, error);
    }
}

/** @param {Command} c @param {string[]} argv */
export async function pubkey(c, argv) {
    const { values, files } = parseArgs(c, argv, [{ name: "output", letter: "o", type: "text" }]);
    if (c.help) return OK;
    if (files.length === 0) c.error(null, null, "no key file is given");
    const all = new Uint8Array(files.length * KEY_BYTES);
    for (const [i, file] of files.entries()) {
        const key = await open(c, file);
        all.set(key.publicKey, i * KEY_BYTES);
        closeKey(key);
    }
    if (c.json || values.output !== undefined) {
        c.write(values.output ?? "-", writeKeys(all));
    } else {
        const lines = files.map((_, i) => `0x${toHex(all.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES))}\n`);
        c.write("-", lines.join(""));
    }
    return OK;
}

/** @param {string} file @param {Uint8Array} publicKey @param {Awaited<ReturnType<typeof usageOf>>} u */
function statusJson(file, publicKey, u) {
    const fields = [
        `"file": ${quote(file)}`,
        `"scheme": "${SCHEME}"`,
        `"publicKey": "0x${toHex(publicKey)}"`,
        `"firstEpoch": ${u.firstEpoch}`,
        `"epochs": ${u.epochs}`,
        `"used": ${u.used}`,
        `"left": ${u.left}`,
        `"withdrawn": ${u.withdrawn}`,
        `"usedRanges": [${u.usedRanges.map(([first, last]) => `[${first}, ${last}]`).join(", ")}]`,
        `"nextEpoch": ${u.nextEpoch}`,
        `"tornRecord": ${u.tornRecord}`,
        `"warning": ${quote(RESTORE_WARNING)}`,
    ];
    return `{\n  ${fields.join(",\n  ")}\n}\n`;
}

/** @param {string} file @param {Uint8Array} publicKey @param {Awaited<ReturnType<typeof usageOf>>} u */
function statusText(file, publicKey, u) {
    const last = u.firstEpoch + u.epochs - 1;
    const lines = [
        `${plain(file)}: public key 0x${toHex(publicKey)}`,
        `epochs ${u.firstEpoch}..${last}: ${u.epochs}, of which ${u.used} used, ${u.left} left`,
    ];
    if (u.usedRanges.length > 0) {
        const ranges = u.usedRanges.map(([first, end]) => (first === end ? `${first}` : `${first}..${end}`));
        lines.push(`used: ${ranges.join(" ")}`);
    }
    if (u.nextEpoch !== null) lines.push(`next free epoch: ${u.nextEpoch}`);
    if (u.withdrawn > 0) lines.push(`withdrawn without a signature after an interrupted record: ${u.withdrawn}`);
    if (u.tornRecord) lines.push("the journal ends in an interrupted record, which the next signature puts right");
    lines.push(`warning: ${RESTORE_WARNING}`);
    return `${lines.join("\n")}\n`;
}

/** @param {Command} c @param {string[]} argv */
export async function keyStatus(c, argv) {
    const { files } = parseArgs(c, argv, []);
    if (c.help) return OK;
    if (files.length !== 1) c.error(null, null, `one key file is needed, ${files.length} are given`);
    const key = await open(c, files[0]);
    try {
        const usage = await usageOf(key);
        c.write("-", (c.json ? statusJson : statusText)(files[0], key.publicKey, usage));
        return OK;
    } catch (error) {
        return c.failure(files[0], error);
    } finally {
        closeKey(key);
    }
}
