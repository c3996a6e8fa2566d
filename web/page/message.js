/* A message as a person writes it.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { shake256 } from "./shake256.js";

/**
 * The 32 bytes that are signed: 0x and 64 hex digits are the bytes themselves, anything else a text whose digest they are,
 * as `sheaf sign --message-file` takes it.
 * @param {string} text
 * @returns {{bytes: Uint8Array<ArrayBuffer>, digest: boolean} | {problem: string}}
 */
export function messageOf(text) {
    const trimmed = text.trim();
    if (/^0x[0-9a-f]*$/i.test(trimmed)) {
        if (trimmed.length !== 66) return { problem: `These are ${trimmed.length - 2} hex digits; a message has 64.` };
        const bytes = new Uint8Array(32);
        for (let i = 0; i < 32; i++) bytes[i] = parseInt(trimmed.slice(2 + 2 * i, 4 + 2 * i), 16);
        return { bytes, digest: false };
    }
    return { bytes: shake256(new TextEncoder().encode(text)), digest: true };
}

/**
 * @param {string} text
 * @returns {{epoch: number} | {problem: string}}
 */
export function epochOf(text) {
    const trimmed = text.trim();
    const epoch = Number(trimmed);
    if (/^[0-9]{1,10}$/.test(trimmed) && epoch <= 4294967295) return { epoch };
    return { problem: "An epoch is a whole number from 0 to 4,294,967,295." };
}
