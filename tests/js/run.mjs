/* Runs the JavaScript tests and says how many passed, as tools/test.sh reads it.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     node tests/js/run.mjs [NAME...]     NAME: a suite, as `api` for tests/js/api.test.mjs; default: all of that folder
 *
 * SHEAF is the native command's path (default build/native/sheaf); what compares with it is skipped where there is none.
 * SHEAF_LONG=1 runs the longer half of some suites too. */
import fs from "node:fs";
import path from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";

const folder = path.dirname(fileURLToPath(import.meta.url));
const names = process.argv.slice(2);
const all = fs.readdirSync(folder).filter((file) => file.endsWith(".test.mjs")).sort();
const files = (names.length > 0 ? names.map((name) => `${name}.test.mjs`) : all).map((file) => path.join(folder, file));
for (const file of files) fs.accessSync(file);

let passed = 0;
let failed = 0;
let skipped = 0;
const stream = run({ files, concurrency: 1, timeout: 1500000 });
/** @param {any} data */
const isSuite = (data) => data.details?.type === "suite" || data.name === data.file || files.includes(data.name);
stream.on("test:pass", (data) => {
    if (isSuite(data)) return;
    if (data.skip !== undefined && data.skip !== false) {
        skipped++;
        console.log(`SKIP js: ${data.name}: ${data.skip}`);
    } else {
        passed++;
    }
});
stream.on("test:fail", (data) => {
    const error = data.details?.error;
    const cause = error?.cause ?? error;
    /* A suite fails with its tests; one that fails by itself, or a file that does not load, counts as one. */
    if (isSuite(data) && error?.failureType === "subtestsFailed") return;
    failed++;
    console.log(`FAIL js: ${data.name}\n${cause?.stack ?? cause}`);
});
stream.on("test:stderr", (data) => process.stderr.write(data.message));
stream.on("end", () => {
    console.log(`js: ${passed} passed, ${failed} failed, ${skipped} skipped`);
    process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
});
stream.resume();
