/* The types: the implementation keeps to them, and callers get what they say.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import * as browser from "../../web/index.js";
import * as node from "sheaf";
import { root } from "./support.mjs";

const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
const skip = fs.existsSync(tsc) ? false : "TypeScript is not installed (npm ci)";

/** The names that a declaration file exports as values, those of ./types.js with them. @param {string} file */
function declared(file) {
    const text = ["web/types.d.ts", file].map((f) => fs.readFileSync(path.join(root, f), "utf8")).join("\n");
    return [...new Set([...text.matchAll(/^export declare (?:const|function|class) (\w+)/gm)].map(([, name]) => name))].sort();
}

test("the implementation and the callers pass the type checker", { skip }, () => {
    const done = spawnSync(process.execPath, [tsc, "-p", path.join(root, "tests", "js", "tsconfig.json")], { encoding: "utf8", cwd: root });
    assert.equal(done.stdout, "");
    assert.equal(done.status, 0);
});

test("what is declared is there, and nothing else", () => {
    assert.deepEqual(Object.keys(browser).sort(), declared("web/index.d.ts"));
    assert.deepEqual(Object.keys(node).sort(), declared("node/index.d.ts"));
    assert.deepEqual(declared("node/index.d.cts"), declared("node/index.d.ts"));
});

test("an interface of one's own has the methods that are declared", () => {
    const methods = ["close", "createProver", "inspect", "keygen", "sign", "verify", "verifyMany", "verifySignature"];
    assert.deepEqual(Object.keys(browser.createSheaf()).sort(), methods);
    assert.deepEqual(Object.keys(node.createSheaf()).sort(), [...methods, "keyStatus"].sort());
});
