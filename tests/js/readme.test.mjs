/* The example in web/README.md, as it stands there.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { root } from "./support.mjs";

const text = fs.readFileSync(path.join(root, "web", "README.md"), "utf8");
const examples = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);

test("the example runs and says what it says it does", () => {
    assert.equal(examples.length, 1);
    const said = [...examples[0].matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, what]) => what);
    const done = spawnSync(process.execPath, ["--input-type=module", "-e", examples[0]], { cwd: root, encoding: "utf8" });
    assert.equal(done.stderr, "");
    assert.deepEqual(done.stdout.trim().split("\n"), said);
});

test("every function that it names is there", async () => {
    const sheaf = await import("sheaf");
    const named = [...text.matchAll(/`(verify|keygen|sign|createProver|createSheaf)\b/g)].map(([, name]) => name);
    assert.ok(new Set(named).size >= 4);
    for (const name of named) assert.equal(typeof (/** @type {any} */ (sheaf)[name]), "function", name);
});
