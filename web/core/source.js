/* WebAssembly from wherever the caller has it.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { SheafError } from "./errors.js";
import { shown, viewOf } from "./bytes.js";

/**
 * @typedef {WebAssembly.Module | Response | URL | string | ArrayBuffer | ArrayBufferView} WasmSource a string is a URL
 */

/* Two functions that only an engine with the instructions can have: a splat, and a relaxed swizzle of two. */
const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0, 10];
const simd = new Uint8Array([...head, 8, 1, 6, 0, 0x41, 0, 0xfd, 15, 11]);
const relaxed = new Uint8Array([...head, 15, 1, 13, 0, 0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15, 0xfd, 0x80, 2, 11]);

export function hasSimd() {
    return WebAssembly.validate(simd);
}

export function hasRelaxedSimd() {
    return WebAssembly.validate(relaxed);
}

/** @param {Uint8Array} bytes */
function looksLikeHtml(bytes) {
    const text = new TextDecoder().decode(bytes.slice(0, 256)).trimStart().toLowerCase();
    return text.startsWith("<!doctype") || text.startsWith("<html") || text.startsWith("<head") || text.startsWith("<?xml");
}

/**
 * Checks that bytes are WebAssembly at all; what a server answers in its place is said with the address.
 * @param {Uint8Array} bytes
 * @param {{url?: string, status?: number, type?: string}} [from]
 */
export function checkMagic(bytes, from = {}) {
    if (bytes.length >= 8 && bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d) return;
    const what = looksLikeHtml(bytes) ? "HTML" : bytes.length === 0 ? "nothing" : "something else";
    if (from.url === undefined) throw new SheafError("LOAD", `the bytes given as WebAssembly are ${what}`);
    const told = [from.status && `status ${from.status}`, from.type && `type ${from.type}`].filter(Boolean).join(", ");
    throw new SheafError("LOAD", `${from.url} answered with ${what} in the place of WebAssembly${told && ` (${told})`}`, {
        url: from.url,
    });
}

/** @param {Response} response @param {string} url */
async function responseBytes(response, url) {
    if (response.bodyUsed) throw new SheafError("LOAD", `the Response of ${url || "the WebAssembly"} was read already`);
    if (!response.ok) {
        throw new SheafError("LOAD", `${url} answered with status ${response.status} in the place of WebAssembly`, { url });
    }
    let bytes;
    try {
        bytes = new Uint8Array(await response.arrayBuffer());
    } catch (cause) {
        throw new SheafError("LOAD", `${url}: reading ended early`, { url, cause });
    }
    checkMagic(bytes, { url, status: response.status, type: response.headers.get("content-type") ?? undefined });
    return bytes;
}

/** @param {unknown} source */
function isModule(source) {
    return source instanceof WebAssembly.Module || Object.prototype.toString.call(source) === "[object WebAssembly.Module]";
}

/** @param {unknown} source @returns {source is Response} */
function isResponse(source) {
    return typeof Response === "function" && source instanceof Response;
}

/** Refuses what is no source at all; what it holds is looked at when it is used. @param {unknown} source */
export function checkSource(source) {
    if (typeof source === "string" || source instanceof URL || isModule(source) || isResponse(source)) return;
    if (viewOf(source) === null)
        throw new SheafError("INVALID_ARGUMENT", "wasm: not bytes, an address, a Response or a WebAssembly.Module");
}

/**
 * What can travel to a worker: bytes of our own, a module, or an absolute address. A Response is read here.
 * @param {unknown} source
 * @param {string} [base] that a relative address is meant from
 * @returns {Promise<WebAssembly.Module | Uint8Array | string>}
 */
export async function portable(source, base) {
    checkSource(source);
    if (isModule(source)) return /** @type {WebAssembly.Module} */ (source);
    if (isResponse(source)) return responseBytes(source, source.url);
    if (typeof source === "string" || source instanceof URL) {
        try {
            return new URL(source, base).href;
        } catch (cause) {
            throw new SheafError("INVALID_ARGUMENT", `wasm: ${shown(source)} is not an address`, { cause });
        }
    }
    const view = /** @type {Uint8Array} */ (viewOf(source));
    checkMagic(view);
    const bytes = new Uint8Array(view.length);
    bytes.set(view);
    return bytes;
}

/**
 * @param {WebAssembly.Module | Uint8Array | string} source
 * @param {(url: string) => Promise<Uint8Array | null>} [readFile] for addresses that fetch does not take; null: it does
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compile(source, readFile) {
    if (!hasSimd()) throw new SheafError("UNSUPPORTED", "this engine has no WebAssembly SIMD");
    let bytes;
    if (typeof source === "string") {
        bytes = (await readFile?.(source)) ?? null;
        if (bytes === null) {
            let response;
            try {
                response = await fetch(source);
            } catch (cause) {
                throw new SheafError("LOAD", `${source} could not be fetched`, { url: source, cause });
            }
            bytes = await responseBytes(response, source);
        } else {
            checkMagic(bytes, { url: source });
        }
    } else if (source instanceof Uint8Array) {
        bytes = source;
    } else {
        return source;
    }
    try {
        return await WebAssembly.compile(/** @type {BufferSource} */ (bytes));
    } catch (cause) {
        const url = typeof source === "string" ? source : undefined;
        const text = cause instanceof Error ? cause.message : String(cause);
        throw new SheafError("LOAD", `${url ?? "the WebAssembly"} was not compiled: ${text}`, { url, cause });
    }
}
