/* The WebAssembly modules as Node finds them.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { SheafError } from "../web/core/errors.js";

/** @typedef {import("../web/core/api.js").Kind} Kind */

/** @type {Record<Kind, string>} */
const NAMES = { verifier: "sheaf-verify", prover: "sheaf", threads: "sheaf-threads" };

/**
 * The package's folder. A bundled copy of this file is somewhere else than its package: then it is looked for from where the
 * program was started.
 */
export function packageFolder() {
    const tried = [];
    try {
        tried.push(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
    } catch {
        // a bundler may have left no address here
    }
    try {
        const require = createRequire(path.join(process.cwd(), "noop.js"));
        tried.push(path.dirname(require.resolve("sheaf/package.json")));
    } catch {
        // not installed there
    }
    const found = tried.find((folder) => fs.existsSync(path.join(folder, "node", "worker.js")));
    if (found === undefined) {
        const text = `the package's files are not to be found (in ${tried.join(", ") || "any folder"}): a bundler took them apart`;
        throw new SheafError("LOAD", `${text}; keep the package "sheaf" external (in Next.js: serverExternalPackages: ["sheaf"])`);
    }
    return found;
}

/** What fetch does not take. @param {string} url */
export async function readModule(url) {
    if (!url.startsWith("file:")) return null;
    try {
        return await fs.promises.readFile(fileURLToPath(url));
    } catch (cause) {
        throw new SheafError("LOAD", `${url} could not be read: ${/** @type {Error} */ (cause).message}`, { url, cause });
    }
}

/**
 * @param {Kind} kind
 * @param {string} folder the package's
 * @returns {Promise<import("../web/core/host.js").Glue>}
 */
export async function loadGlue(kind, folder) {
    const at = pathToFileURL(path.join(folder, "web", "wasm", NAMES[kind])).href;
    let create;
    try {
        ({ default: create } = await import(/* webpackIgnore: true */ /* @vite-ignore */ `${at}.mjs`));
    } catch (cause) {
        const text = `the module ${at}.mjs does not load (in a work tree: cmake --workflow or tools/wasm-files.mjs makes it)`;
        throw new SheafError("LOAD", `${text}: ${cause instanceof Error ? cause.message : cause}`, { url: `${at}.mjs`, cause });
    }
    return { create, wasm: `${at}.wasm`, relaxed: `${at}-relaxed.wasm`, threads: kind === "threads", readFile: readModule };
}
