/* The README's programs for Node.js run as they stand there.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { root, runFile, workFolder } from "./support.mjs";

const readme = fs.readFileSync(path.join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({ kind, text }));

describe("the README", () => {
    const folder = workFolder();
    const programs = blocks.filter(({ kind }) => kind === "js");
    const [commands] = blocks.filter(({ kind, text }) => kind === "sh" && text.includes("node sign.mjs"));
    /* The package as it is here, in the place of one that is packed and installed: tools/test-packages.sh does that. */
    fs.mkdirSync(path.join(folder, "node_modules", ".bin"), { recursive: true });
    fs.symlinkSync(root, path.join(folder, "node_modules", "sheaf"));
    fs.symlinkSync("../sheaf/node/cli.js", path.join(folder, "node_modules", ".bin", "sheaf"));
    fs.writeFileSync(path.join(folder, "package.json"), "{}");
    for (const { text } of programs) {
        const name = /^\/\/ (\S+\.[cm]js):/.exec(text)?.[1];
        assert.ok(name, `a program says its file's name first: ${text.slice(0, 40)}`);
        fs.writeFileSync(path.join(folder, name), text);
    }

    test("has a program of each kind of module", () => {
        assert.deepEqual(fs.readdirSync(folder).filter((name) => /\.[cm]js$/.test(name)), ["sign.mjs", "verify.cjs"]);
    });
    test("its programs run, one after another", () => {
        const line = commands.text.split("\n").filter((text) => text.startsWith("node ")).join("\n");
        const { code, out, err } = runFile("sh", ["-c", line], { cwd: folder, env: { SHEAF_NATIVE: "none" } });
        assert.equal(code, 0, err);
        const said = out.toString().split("\n");
        assert.equal(said[0], "accepted");
        assert.match(said[1], /^attestation\.sheaf: accepted: 2 signers, epoch 7, message 0x[0-9a-f]{64}$/);
    });
    test("its verifier rejects another message", () => {
        const changed = fs.readFileSync(path.join(folder, "verify.cjs"), "utf8").replace("thirty-two", "thirty two");
        fs.writeFileSync(path.join(folder, "other.cjs"), changed);
        assert.equal(runFile(process.execPath, ["other.cjs"], { cwd: folder }).out.toString(), "rejected\n");
    });
    test("names files of the package only that are there", () => {
        const named = [...readme.matchAll(/`(?:node |sh |bash )?((?:tools|web|node|tests|docs|build)\/[\w./-]+)/g)].map(([, name]) => name);
        assert.ok(named.length > 5);
        const missing = named.filter((name) => !name.startsWith("build/") && !fs.existsSync(path.join(root, name)));
        assert.deepEqual(missing, []);
    });
    test("its tables of sizes are those of the modules, nearly", () => {
        const script = fileURLToPath(new URL("../../tools/module-sizes.mjs", import.meta.url));
        const numbers = (/** @type {string} */ text) =>
            Object.fromEntries([...text.matchAll(/^\| ([^|\n]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$/gm)].map(([, what, ...n]) => [what, n.map((x) => Number(x.replaceAll(",", "")))]));
        const now = numbers(runFile(process.execPath, [script]).out.toString());
        const said = numbers(readme);
        assert.equal(Object.keys(now).length, 5);
        for (const [what, sizes] of Object.entries(now)) {
            assert.ok(said[what], `${what} is in the README`);
            sizes.forEach((size, i) => assert.ok(Math.abs(said[what][i] / size - 1) < 0.1, `${what}: ${said[what][i]}, now ${size}`));
        }
    });
});
