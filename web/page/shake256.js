/* SHAKE256, for the digest of a text that is to be signed; a few blocks, so plain 32-bit halves will do.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

const RATE = 136;

/* Rotations and places of rho and pi, and the constants of iota, from their definitions [FIPS 202]. */
const rotation = new Uint8Array(25);
const place = new Uint8Array(25);
for (let t = 0, x = 1, y = 0; t < 24; t++) {
    rotation[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
}
for (let y = 0; y < 5; y++) for (let x = 0; x < 5; x++) place[x + 5 * y] = y + 5 * ((2 * x + 3 * y) % 5);

const constants = new Uint32Array(48);
for (let round = 0, lfsr = 1; round < 24; round++) {
    for (let j = 0; j < 7; j++) {
        const bit = (1 << j) - 1;
        if (lfsr & 1) constants[2 * round + (bit >> 5)] ^= 1 << (bit & 31);
        lfsr = (lfsr << 1) ^ (lfsr >> 7 ? 0x171 : 0);
    }
}

/** @param {Uint32Array} a 25 lanes, the low half first */
function permute(a) {
    const b = new Uint32Array(50);
    const c = new Uint32Array(10);
    for (let round = 0; round < 24; round++) {
        for (let i = 0; i < 10; i++) c[i] = a[i] ^ a[i + 10] ^ a[i + 20] ^ a[i + 30] ^ a[i + 40];
        for (let x = 0; x < 5; x++) {
            const near = 2 * ((x + 1) % 5);
            const far = 2 * ((x + 4) % 5);
            const low = c[far] ^ ((c[near] << 1) | (c[near + 1] >>> 31));
            const high = c[far + 1] ^ ((c[near + 1] << 1) | (c[near] >>> 31));
            for (let i = 2 * x; i < 50; i += 10) {
                a[i] ^= low;
                a[i + 1] ^= high;
            }
        }
        for (let lane = 0; lane < 25; lane++) {
            const r = rotation[lane] & 31;
            const swapped = rotation[lane] >> 5;
            const low = a[2 * lane + swapped];
            const high = a[2 * lane + 1 - swapped];
            const to = 2 * place[lane];
            b[to] = r === 0 ? low : (low << r) | (high >>> (32 - r));
            b[to + 1] = r === 0 ? high : (high << r) | (low >>> (32 - r));
        }
        for (let row = 0; row < 50; row += 10) {
            for (let i = 0; i < 10; i++) a[row + i] = b[row + i] ^ (~b[row + ((i + 2) % 10)] & b[row + ((i + 4) % 10)]);
        }
        a[0] ^= constants[2 * round];
        a[1] ^= constants[2 * round + 1];
    }
}

/** The first 32 bytes. @param {Uint8Array} data @returns {Uint8Array<ArrayBuffer>} */
export function shake256(data) {
    const state = new Uint32Array(50);
    const padded = new Uint8Array((Math.floor(data.length / RATE) + 1) * RATE);
    padded.set(data);
    padded[data.length] ^= 0x1f;
    padded[padded.length - 1] ^= 0x80;
    const view = new DataView(padded.buffer);
    for (let at = 0; at < padded.length; at += RATE) {
        for (let i = 0; i < RATE / 4; i++) state[i] ^= view.getUint32(at + 4 * i, true);
        permute(state);
    }
    const out = new Uint8Array(32);
    const outView = new DataView(out.buffer);
    for (let i = 0; i < 8; i++) outView.setUint32(4 * i, state[i], true);
    return out;
}
