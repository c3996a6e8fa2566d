/* Workers and modules in a browser.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { shown } from "./core/bytes.js";
import { SheafError } from "./core/errors.js";

/** @typedef {import("./core/api.js").Kind} Kind */

const NOT_ISOLATED =
    "one thread: the page is not cross-origin isolated, so memory cannot be shared " +
    "(the headers Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp change that)";

/**
 * Each of these is written out, because bundlers look for this very form and put the worker beside the bundle.
 * @param {Kind} kind
 * @param {string | undefined} base where the package's files are served, instead
 */
function makeWorker(kind, base) {
    const name = `sheaf-${kind}`;
    if (base !== undefined) {
        const url = new URL(`worker-${kind}.js`, base);
        return { url: url.href, worker: new Worker(url, { type: "module", name }) };
    }
    switch (kind) {
        case "verifier": {
            const worker = new Worker(new URL("./worker-verifier.js", import.meta.url), { type: "module", name: "sheaf-verifier" });
            return { url: "worker-verifier.js", worker };
        }
        case "prover": {
            const worker = new Worker(new URL("./worker-prover.js", import.meta.url), { type: "module", name: "sheaf-prover" });
            return { url: "worker-prover.js", worker };
        }
        default: {
            const worker = new Worker(new URL("./worker-threads.js", import.meta.url), { type: "module", name: "sheaf-threads" });
            return { url: "worker-threads.js", worker };
        }
    }
}

/** @param {Kind} kind @param {string | undefined} base */
function startWorker(kind, base) {
    if (typeof Worker !== "function") {
        throw new SheafError("UNSUPPORTED", "there are no workers here, and Sheaf runs in one so as never to block a page");
    }
    try {
        return makeWorker(kind, base);
    } catch (cause) {
        const text = cause instanceof Error ? cause.message : String(cause);
        throw new SheafError(
            "LOAD",
            `the worker could not be made (${text}); a bundler that does not know new Worker(new URL(...)) needs the package's ` +
                `folder web/ served, and createSheaf({ base: "its address" })`,
            { cause },
        );
    }
}

/** Where relative addresses start: a page's own address, or a worker's. */
function here() {
    return globalThis.document?.baseURI ?? globalThis.location?.href;
}

/**
 * @param {string | URL | undefined} base
 * @returns {import("./core/api.js").Platform}
 */
export function browserPlatform(base) {
    /** @type {string | undefined} */
    let folder;
    if (base !== undefined) {
        try {
            folder = new URL(base, here()).href;
        } catch (cause) {
            throw new SheafError("INVALID_ARGUMENT", `base: ${shown(base)} is not an address`, { cause });
        }
        if (!folder.endsWith("/")) folder += "/";
    }
    let told = false;
    return {
        spawn: (kind) => (handlers) => {
            const { url, worker } = startWorker(kind, folder);
            worker.onmessage = (event) => handlers.message(event.data);
            worker.onmessageerror = () => handlers.failed(new SheafError("INTERNAL", "a message of the worker was not readable"));
            worker.onerror = (event) => {
                event.preventDefault?.();
                /* A script that could not be loaded says nothing more than that. */
                const text = event.message
                    ? `the worker failed: ${event.message}`
                    : `the worker's script could not be loaded: ${url} (is it served as JavaScript, from this origin, ` +
                      `and with Cross-Origin-Embedder-Policy where the page has it?)`;
                handlers.failed(new SheafError("LOAD", text, { url }));
            };
            return {
                post: (message, transfer) => worker.postMessage(message, transfer ?? []),
                terminate: () => worker.terminate(),
                hold() {},
            };
        },
        noThreads() {
            if (globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer === "function") return null;
            return NOT_ISOLATED;
        },
        cores: () => globalThis.navigator?.hardwareConcurrency || 1,
        memoryLimit: () => Infinity,
        base: here,
        notice(text) {
            if (told) return;
            told = true;
            globalThis.console?.warn(`sheaf: ${text}`);
        },
    };
}
