/* Prints what a browser fetches, as a table: modules and scripts, raw and compressed.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     node tools/module-sizes.mjs     of web/wasm, which tools/wasm-files.mjs fills */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const web = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), "web");
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

/** Scripts and all that they import. @param {string[]} files @param {Set<string>} [found] */
function withImports(files, found = new Set()) {
    for (const file of files) {
        if (found.has(file)) continue;
        found.add(file);
        const text = fs.readFileSync(path.join(web, file), "utf8");
        const imports = [...text.matchAll(/^(?:import|export|\}) .*?from "(\..*)";$/gm)].map((match) => match[1]);
        withImports(imports.map((name) => path.join(path.dirname(file), name)), found);
    }
    return found;
}

/** One row: files, each compressed by itself. @param {string} what @param {Iterable<string>} files */
function row(what, files) {
    const bytes = [...files].map((file) => fs.readFileSync(path.join(web, file)));
    const sum = (/** @type {(b: Buffer) => Uint8Array} */ made) => bytes.reduce((n, b) => n + made(b).length, 0).toLocaleString("en");
    const [raw, gzip, brotli] = [sum((b) => b), sum((b) => gzipSync(b, { level: 9 })), sum((b) => brotliCompressSync(b, BROTLI))];
    return `| ${what} | ${raw} | ${gzip} | ${brotli} |`;
}

console.log("| | bytes | gzip | brotli |\n|---|---|---|---|");
console.log(row("the verifier, `sheaf-verify.wasm`", ["wasm/sheaf-verify.wasm"]));
console.log(row("the prover, `sheaf.wasm`", ["wasm/sheaf.wasm"]));
console.log(row("the prover with threads, `sheaf-threads.wasm`", ["wasm/sheaf-threads.wasm"]));
console.log(row("JavaScript to verify, of the page and its worker", withImports(["index.js", "worker-verifier.js"])));
console.log(row("JavaScript to verify and prove, with threads", withImports(["index.js", "worker-verifier.js", "worker-threads.js"])));
