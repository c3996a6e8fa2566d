/* Files before they are read: what they are, and whether they can be what they should.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
import { bytes, count } from "./dom.js";

const HEADER_BYTES = 56;
const MAGIC = [0x53, 0x48, 0x45, 0x41, 0x46, 0x0d, 0x0a, 0x1a];
const MAX_PROOF_BYTES = 16777216;
const MOST_ITEMS = [0, 65536, 1048576];
/** The longest envelope of either kind. */
const MAX_ENVELOPE_BYTES = HEADER_BYTES + 32 * MOST_ITEMS[2] + 4 + MAX_PROOF_BYTES;
/** A list of the most keys that there can be, generously laid out. */
const MAX_KEYS_BYTES = 16777216;

/** What is wrong with a file, for the person who chose it. */
export class FileProblem extends Error {
    /** @param {string} title @param {string} text */
    constructor(title, text) {
        super(text);
        this.title = title;
    }
}

const NOT_ONE = "This is not a proof file";

/** @param {Blob} file @param {number} [from] @param {number} [to] */
async function read(file, from = 0, to = file.size) {
    try {
        return new Uint8Array(await file.slice(from, to).arrayBuffer());
    } catch {
        throw new FileProblem("The file could not be read", "It may have been moved, or changed since it was chosen.");
    }
}

/**
 * Reads a proof file; one that is none, or too large for what its first bytes say, is refused by those alone.
 * @param {Blob} file
 */
export async function readEnvelope(file) {
    if (file.size === 0) throw new FileProblem(NOT_ONE, "The file is empty.");
    if (file.size > MAX_ENVELOPE_BYTES) {
        const text = `It has ${bytes(file.size)}; no proof file has more than ${bytes(MAX_ENVELOPE_BYTES)}. It was not read.`;
        throw new FileProblem("This file is too large", text);
    }
    const head = await read(file, 0, Math.min(file.size, HEADER_BYTES));
    if (head.length < 8 || !MAGIC.every((byte, i) => head[i] === byte)) {
        const text = "It does not begin as a Sheaf file does. Those end in .sheaf and come from sheaf aggregate, or from below.";
        throw new FileProblem(NOT_ONE, text);
    }
    if (head.length === HEADER_BYTES) {
        const view = new DataView(head.buffer);
        const most = MOST_ITEMS[view.getUint16(10, true)];
        const items = view.getUint32(12, true);
        if (most !== undefined && items <= most && file.size > HEADER_BYTES + 32 * items + 4 + MAX_PROOF_BYTES) {
            const text = `It has ${bytes(file.size)}, more than a list of ${count(items)} and a proof can be. It was not read.`;
            throw new FileProblem("This file is too large", text);
        }
    }
    return read(file);
}

/** @param {Blob} file */
export async function readKeyText(file) {
    if (file.size > MAX_KEYS_BYTES)
        throw new FileProblem("This list is too large", `It has ${bytes(file.size)}, and no list of keys that much. It was not read.`);
    const data = await read(file);
    return new TextDecoder().decode(data);
}

/** Whether a file is meant as a list of keys rather than as a proof. @param {File} file */
export function looksLikeKeys(file) {
    return /\.json$/i.test(file.name) || file.type === "application/json";
}
