/* Puts the built WebAssembly modules where the JavaScript looks for them: web/wasm.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     node tools/wasm-files.mjs [BUILD]     BUILD: the build's folder; default build/wasm
 *     node tools/wasm-files.mjs --check     copies nothing; fails where they are missing or older than the build's
 *
 * Files that are the same already stay as they are. */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const names = ["sheaf-verify", "sheaf", "sheaf-threads"].flatMap((n) => [`${n}.mjs`, `${n}.wasm`, `${n}-relaxed.wasm`]);
const check = process.argv[2] === "--check";
const build = path.resolve(check || !process.argv[2] ? path.join(root, "build", "wasm") : process.argv[2]);
const to = path.join(root, "web", "wasm");

/**
 * What bundlers cannot take in the threads' module, said otherwise: they look for new Worker(new URL(...), {...}) with the options
 * written out, and make workers of a form that has no await at its outermost level. Newer versions of Emscripten may need neither.
 * @param {string} name @param {Buffer} bytes
 */
function fitForBundlers(name, bytes) {
    if (name !== "sheaf-threads.mjs") return bytes;
    const worker = 'new Worker(new URL("sheaf-threads.mjs",import.meta.url),';
    const options = '{type:"module",workerData:"em-pthread",name:"em-pthread"}';
    const asked = "(await import('worker_threads')).workerData === 'em-pthread'";
    let text = bytes.toString();
    /* Node 18 gives a worker's workers the arguments of the whole process, of which some are none for a worker. */
    const own = options.replace("}", ",execArgv:[]}");
    if (text.includes(`workerOptions=${options}`)) text = text.replace(`${worker}workerOptions)`, `${worker}${own})`);
    if (text.includes(`if (isNode) isPthread = ${asked};`)) {
        text = text
            .replace(`isPthread = ${asked};`, `import('worker_threads').then((w) => w.workerData === 'em-pthread' && createSheafModule());`)
            .replace("\nisPthread && createSheafModule();", "\n!isNode && isPthread && createSheafModule();");
    }
    if (!text.includes(`${worker}{`)) throw new Error(`${name} makes its workers in a way that bundlers do not see`);
    if (text.includes(asked)) throw new Error(`${name} has an await at its outermost level`);
    return Buffer.from(text);
}

/** @param {string} file */
const bytesOf = (file) => (fs.existsSync(file) ? fs.readFileSync(file) : null);

let bad = 0;
fs.mkdirSync(to, { recursive: true });
for (const name of names) {
    const built = bytesOf(path.join(build, "modules", name));
    const source = built && fitForBundlers(name, built);
    const there = bytesOf(path.join(to, name));
    if (check && there === null) {
        console.error(`${path.join(to, name)} is not there`);
        bad++;
    } else if (source === null) {
        if (check) continue; // a package, or a tree whose modules came ready: there is nothing to compare with
        console.error(`${path.join(build, "modules", name)} is not there: build it first (cmake --preset wasm)`);
        bad++;
    } else if (there !== null && source.equals(there)) {
        continue;
    } else if (check) {
        console.error(`${path.join(to, name)} is not the build's`);
        bad++;
    } else {
        fs.writeFileSync(path.join(to, name), source, { mode: 0o644 });
    }
}
if (!check) {
    /* For the type checker, which would read the modules' own text otherwise. */
    const types = "declare const create: (options: object) => Promise<any>;\nexport default create;\n";
    for (const name of names.filter((n) => n.endsWith(".mjs"))) {
        fs.writeFileSync(path.join(to, name.replace(/mjs$/, "d.mts")), types);
    }
}
process.exitCode = bad > 0 ? 1 : 0;
