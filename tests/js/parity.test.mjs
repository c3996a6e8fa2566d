/* The command in Node against the native one: the same output, error lines and exit codes.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { before, describe, test } from "node:test";
import { NATIVE_NOTE } from "../../node/cli/help.js";
import { findNative } from "../../node/native.js";
import { changed, cli, derive, native, root, runCli, runFile, runNative, shake, withLong, withNative, workFolder } from "./support.mjs";

const hex = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString("hex");
const message = hex(shake("parity"));
const VERBS = [
    "keygen", "pubkey", "key-status", "sign", "verify-signature", "collect", "aggregate", "verify", "inspect", "security",
    "hash prove", "hash verify", "bench hash", "bench aggregate", "bench commit", "bench kernels", "bench", "hash",
];

const withProc = { skip: fs.existsSync("/proc/self/cmdline") ? false : "there is no /proc" };

/** What is different by nature: times, and who did it. @param {string} text */
function settled(text) {
    return text
        .replace(/, "isa": "[^"]*"/, "")
        .replace(/^sheaf ([0-9.]+) \(.*\)$/m, "sheaf $1")
        .replace(/"seconds": [0-9.]+(,\n  "engine": .*,\n  "isa": .*,\n  "threads": \d+)?/, '"seconds"')
        .replace(/, [0-9.]+ s(, by WebAssembly \(.*\))?$/m, ", seconds")
        .replace(NATIVE_NOTE, "");
}

describe("the command in Node", withNative, () => {
    const top = workFolder();
    /** The same files for both. @type {string[]} */
    const folders = ["native", "node"].map((name) => path.join(top, name));

    before(() => {
        for (const folder of folders) {
            fs.mkdirSync(folder);
            const run = (/** @type {string[]} */ ...args) => {
                const { code, err } = runNative(args, { cwd: folder });
                assert.equal(code, 0, err);
            };
            for (const i of [0, 1, 2]) {
                run("keygen", "--epochs", "0:8", "--seed", hex(derive("parity", i)), "-o", `${i}.key`, "-q");
                run("sign", "--key", `${i}.key`, "--epoch", "5", "--message", message, "-o", `${i}.sig`, "-q");
            }
            run("sign", "--key", "0.key", "--epoch", "6", "--message", message, "-o", "other.sig", "-q");
            run("collect", "0.sig", "1.sig", "2.sig", "-o", "list.json", "-q");
            run("collect", "0.sig", "1.sig", "2.sig", "--binary", "-o", "list.sigs", "-q");
            run("pubkey", "0.key", "1.key", "2.key", "-o", "keys.json");
            run("pubkey", "0.key", "1.key", "-o", "fewer.json");
            run("aggregate", "list.json", "-o", "good.sheaf", "-q");
            run("hash", "prove", "--log-n", "2", "--seed", message, "-o", "batch.sheaf", "-q");
            const good = fs.readFileSync(path.join(folder, "good.sheaf"));
            fs.writeFileSync(path.join(folder, "forged.sheaf"), changed(good, -1));
            fs.writeFileSync(path.join(folder, "head.sheaf"), changed(good, 60 + 96));
            fs.writeFileSync(path.join(folder, "short.sheaf"), good.subarray(0, 999));
            fs.writeFileSync(path.join(folder, "junk"), "junk\n");
            fs.writeFileSync(path.join(folder, "empty"), "");
        }
    });

    /** Runs both; their answers are the same. @param {string[]} args @param {{input?: Uint8Array, code?: number}} [options] */
    const same = (args, { input, code } = {}) => {
        const [theirs, ours] = [runNative, runCli].map((run, i) => run(args, { cwd: folders[i], input }));
        const line = `sheaf ${args.join(" ")}`;
        assert.equal(ours.code, theirs.code, `${line}: ${ours.err} instead of ${theirs.err}`);
        assert.equal(settled(ours.err).replace(folders[1], folders[0]), settled(theirs.err), line);
        assert.equal(settled(ours.out.toString("latin1")), settled(theirs.out.toString("latin1")), line);
        if (code !== undefined) assert.equal(ours.code, code, `${line}: ${ours.err}`);
        return ours;
    };
    /** Whole files, too. @param {string} name */
    const sameFile = (name) => assert.deepEqual(...[0, 1].map((i) => fs.readFileSync(path.join(folders[i], name))));

    test("has the same usage", () => {
        same(["--help"], { code: 0 });
        same([], { code: 2 });
        same(["--version"], { code: 0 });
        same(["--version", "--json"], { code: 0 });
        same(["--version", "-h"], { code: 0 });
        for (const wrong of [["--nonsense"], ["--json", "-x"], ["verify"], ["--json=1"]]) same(["--version", ...wrong], { code: 2 });
        for (const verb of VERBS) same([...verb.split(" "), "--help"], { code: 0 });
    });
    test("refuses the same arguments", () => {
        for (const verb of VERBS.filter((v) => v !== "bench kernels")) same(verb.split(" "), { code: 2 });
        const wrong = [
            ["frob"], ["bench", "frob"], ["hash"], ["sign", "--frob"], ["sign", "-x"], ["sign", "--epoch"], ["sign", "-k"],
            ["sign", "--json=1"], ["sign", "--e", "x"], ["sign", "--m", "12"], ["sign", "--epoch", "-1"],
            ["sign", "--epoch", "4294967296"], ["sign", "--epoch=1", "--epoch", "2"], ["sign", "--threads", "0"],
            ["sign", "--message", "12"], ["sign", "--key", "0.key", "--epoch", "1"], ["sign", "a", "b"],
            ["sign", "--key", "0.key", "--epoch", "1", "--message", message, "--message-file", "junk"],
            ["keygen", "--epochs", "1", "-o", "x"], ["keygen", "--epochs", "0:3", "-o", "x"], ["keygen", "--epochs", "2:4", "-o", "x"],
            ["keygen", "--epochs", "0:0", "-o", "x"], ["keygen", "--epochs", "4294967296:1", "-o", "x"],
            ["keygen", "--epochs", "1099511627777:1", "-o", "x"], ["keygen", "--epochs", "0:8589934592", "-o", "x"],
            ["keygen", "--epochs", "0:1", "-o", "-"], ["keygen", "--epochs", "0:1", "-o", "x", "y"],
            ["keygen", "--epochs", "0:1", "-o", "x", "--seed", "12"], ["keygen", "--epochs", "0:1", "-o", "no/x"],
            ["keygen", "--epochs", "0:1", "-o", "0.key"],
            ["aggregate", "list.json"], ["aggregate", "a", "b", "-o", "x"], ["aggregate", "list.json", "-o", "x", "--log-inv-rate", "7"],
            ["hash", "prove", "-o", "x"], ["hash", "prove", "--log-n", "21", "-o", "x"], ["hash", "prove", "--log-n", "1", "--messages", "junk", "-o", "x"],
            ["hash", "prove", "--messages", "junk", "--seed", message, "-o", "x"], ["hash", "prove", "--messages", "junk", "-o", "x"],
            ["hash", "prove", "--messages", "empty", "-o", "x"], ["hash", "verify", "a", "b"], ["hash", "verify", "batch.sheaf", "--digests", "junk"],
            ["security", "--signers", "1", "--hash-log-n", "1"], ["security", "--signers", "0"], ["security", "x", "--signers", "1"],
            ["bench", "hash"], ["bench", "hash", "--log-n", "21"], ["bench", "aggregate", "--signers", "0"], ["bench", "kernels", "x"],
            ["bench", "commit", "--log-words", "6"], ["bench", "commit", "x"], ["aggregate", "list.json", "-o", "x", "--memory", "0"],
            ["inspect", "a", "b"], ["key-status", "a", "b"],
        ];
        for (const args of wrong) same(args, { code: 2 });
    });
    test("reads options in every form", () => {
        same(["key-status", "--js", "0.key"], { code: 0 });
        same(["sign", "-k0.key", "--epoch=7", "--message=" + message, "-o-"], { code: 0 });
        same(["sign", "-qk", "0.key", "--epoch", "7", "--message", `0X${message}`], { code: 0 });
        same(["pubkey", "--", "0.key", "1.key"], { code: 0 });
        same(["pubkey", "0.key", "-q", "1.key"], { code: 0 });
    });
    test("shows keys, their states and their signatures", () => {
        same(["pubkey", "0.key", "1.key"], { code: 0 });
        same(["pubkey", "0.key", "1.key", "--json"], { code: 0 });
        same(["key-status", "0.key"], { code: 0 });
        same(["key-status", "0.key", "--json"], { code: 0 });
        same(["sign", "--key", "1.key", "--epoch", "1", "--message", message, "-o", "s.sig"], { code: 0 });
        same(["sign", "--key", "1.key", "--epoch", "1", "--message", message, "-o", "s.sig", "--json"], { code: 0 });
        same(["sign", "--key", "1.key", "--epoch", "1", "--message-file", "junk"], { code: 2 });
        same(["sign", "--key", "1.key", "--epoch", "2", "--message-file", "-"], { code: 0, input: Buffer.from("hello") });
        same(["sign", "--key", "1.key", "--epoch", "8", "--message", message], { code: 2 });
        same(["sign", "--key", "junk", "--epoch", "8", "--message", message], { code: 2 });
        for (const name of ["s.sig", "1.key", "1.key.journal"]) sameFile(name);
        same(["keygen", "--epochs", "16:4", "--seed", message, "-o", "made.key", "--json"], { code: 0 });
        same(["keygen", "--epochs", "4:4", "--seed", message, "-o", "made2.key"], { code: 0 });
        for (const name of ["made.key", "made.key.journal", "made2.key"]) sameFile(name);
    });
    test("collects and checks signatures", () => {
        same(["verify-signature", "0.sig"], { code: 0 });
        same(["verify-signature", "list.json", "--message", message, "--epoch", "5"], { code: 0 });
        same(["verify-signature", "list.sigs", "0.sig", "--json"], { code: 0 });
        same(["verify-signature", "0.sig", "--epoch", "6"], { code: 1 });
        same(["verify-signature", "0.sig", "--message", hex(shake("x")), "--json"], { code: 1 });
        same(["verify-signature", "0.sig", "--public-key", message], { code: 1 });
        same(["verify-signature", "0.sig", "junk", "none", "--json"], { code: 2 });
        same(["collect", "0.sig", "1.sig", "-o", "c.json"], { code: 0 });
        same(["collect", "c.json", "2.sig", "-o", "d.json", "--json"], { code: 0 });
        same(["collect", "list.json", "--binary", "-o", "-"], { code: 0 });
        same(["collect", "0.sig", "other.sig", "-o", "x"], { code: 2 });
        same(["collect", "0.sig", "1.sig", "0.sig", "-o", "x"], { code: 2 });
        same(["collect", "junk", "-o", "x"], { code: 2 });
        same(["collect", "empty", "-o", "x"], { code: 2 });
        same(["collect", "none", "-o", "x"], { code: 2 });
        same(["collect", ".", "-o", "x"], { code: 2 });
        same(["collect", "0.sig", "-o", "no/x"], { code: 2 });
        for (const name of ["c.json", "d.json"]) sameFile(name);
    });
    test("verifies aggregates", () => {
        same(["verify", "good.sheaf"], { code: 0 });
        same(["verify", "good.sheaf", "--keys", "keys.json", "--message", message, "--epoch", "5", "--json"], { code: 0 });
        same(["verify", "good.sheaf", "-q"], { code: 0 });
        same(["verify", "good.sheaf", "--keys", "fewer.json"], { code: 1 });
        same(["verify", "good.sheaf", "--epoch", "6", "--json"], { code: 1 });
        same(["verify", "good.sheaf", "--message", hex(shake("x"))], { code: 1 });
        same(["verify", "forged.sheaf"], { code: 1 });
        same(["verify", "head.sheaf", "--json"], { code: 1 });
        same(["verify", "good.sheaf", "forged.sheaf", "short.sheaf", "junk", "none", "batch.sheaf", "--json"], { code: 2 });
        same(["verify", "good.sheaf", "forged.sheaf", "good.sheaf"], { code: 1 });
        same(["verify", "-", "--json"], { code: 0, input: fs.readFileSync(path.join(folders[0], "good.sheaf")) });
        same(["verify", "-"], { code: 2 });
        same(["verify", "good.sheaf", "--keys", "junk"], { code: 2 });
        same(["verify", "good.sheaf", "--keys", "none"], { code: 2 });
    });
    test("inspects", () => {
        for (const file of ["good.sheaf", "batch.sheaf", "forged.sheaf", "head.sheaf", "short.sheaf", "junk", "none"]) {
            same(["inspect", file]);
            same(["inspect", file, "--json"]);
        }
    });
    test("verifies batches", () => {
        same(["hash", "verify", "batch.sheaf"], { code: 0 });
        same(["hash", "verify", "batch.sheaf", "--log-n", "2", "--json"], { code: 0 });
        same(["hash", "verify", "batch.sheaf", "--log-n", "3"], { code: 1 });
        same(["hash", "verify", "batch.sheaf", "--digests", "empty"], { code: 1 });
        same(["hash", "verify", "good.sheaf"], { code: 2 });
        same(["hash", "verify", "junk", "--json"], { code: 2 });
    });
    test("proves batches, the same bytes", () => {
        same(["hash", "prove", "--log-n", "2", "--seed", message, "-o", "b.sheaf", "--threads", "1"], { code: 0 });
        sameFile("b.sheaf");
        sameFile("batch.sheaf");
        same(["hash", "prove", "--messages", "-", "-o", "-", "--threads", "2"], { code: 0, input: Buffer.alloc(256, 7) });
        same(["hash", "prove", "--log-n", "1", "--seed", message, "-o", "b1.sheaf", "--json", "--log-inv-rate", "3"], { code: 0 });
        sameFile("b1.sheaf");
    });
    test("refuses what does not fit before it proves, with numbers", () => {
        const args = ["hash", "prove", "--log-n", "12", "--memory", "2", "-o", "narrow.sheaf"];
        for (const [i, run] of [runNative, runCli].entries()) {
            const { code, err } = run(args, { cwd: folders[i] });
            assert.equal(code, 2);
            assert.match(err, /^sheaf hash prove: a batch of 4096 hashes takes \d+ MiB of memory, 2 MiB can be had \(see --memory\)\n$/);
            assert.ok(!fs.existsSync(path.join(folders[i], "narrow.sheaf")));
        }
        same(["hash", "prove", "--log-n", "0", "--seed", message, "--memory", "64", "-o", "wide.sheaf"], { code: 0 });
        sameFile("wide.sheaf");
    });
    test("proves aggregates, the same bytes, and each verifies the other's", () => {
        same(["aggregate", "list.json", "-o", "a.sheaf", "--json"], { code: 0 });
        sameFile("a.sheaf");
        const [theirs, ours] = folders.map((folder) => path.join(folder, "a.sheaf"));
        assert.equal(runNative(["verify", ours, "--quiet"]).code, 0);
        assert.equal(runCli(["verify", theirs, "--quiet"]).code, 0);
        const list = JSON.parse(fs.readFileSync(path.join(folders[0], "list.json"), "utf8"));
        list.signatures[1].signature = `0x${"00".repeat(1208)}`;
        for (const folder of folders) fs.writeFileSync(path.join(folder, "bad.json"), JSON.stringify(list));
        same(["aggregate", "bad.json", "-o", "x"], { code: 1 });
        for (const folder of folders) assert.ok(!fs.existsSync(path.join(folder, "x")));
    });
    test("proves aggregates of more signers, the same bytes", withLong, () => {
        for (const folder of folders) {
            for (let i = 3; i < 10; i++) {
                runNative(["keygen", "--epochs", "5:1", "--seed", hex(derive("parity", i)), "-o", `${i}.key`, "-q"], { cwd: folder });
                runNative(["sign", "--key", `${i}.key`, "--epoch", "5", "--message", message, "-o", `${i}.sig`, "-q"], { cwd: folder });
            }
        }
        same(["collect", ...Array.from({ length: 10 }, (_, i) => `${i}.sig`), "-o", "ten.json"], { code: 0 });
        same(["aggregate", "ten.json", "-o", "ten.sheaf"], { code: 0 });
        sameFile("ten.sheaf");
    });

    test("prints the same ledger", () => {
        for (const shape of [["--signers", "1"], ["--signers", "1000"], ["--signers", "65536"], ["--hash-log-n", "0"], ["--hash-log-n", "20"]])
            for (const rate of [[], ["--log-inv-rate", "1"], ["--log-inv-rate", "6"]])
                for (const json of [[], ["--json"]]) same(["security", ...shape, ...rate, ...json], {});
    });
    test("lets the native command prove, and says so", () => {
        const [, folder] = folders;
        const env = { SHEAF_NATIVE: /** @type {string} */ (native) };
        const said = runCli(["aggregate", "list.json", "-o", "n.sheaf"], { cwd: folder, env });
        assert.equal(said.code, 0, said.err);
        assert.ok(said.out.toString().includes(`s, by ${native} (`), said.out.toString());
        assert.deepEqual(fs.readFileSync(path.join(folder, "n.sheaf")), fs.readFileSync(path.join(folder, "good.sheaf")));
        const json = JSON.parse(runCli(["hash", "prove", "--log-n", "1", "-o", "m.sheaf", "--json"], { cwd: folder, env }).out.toString());
        assert.equal(json.engine, native);
        assert.equal(json.hashes, 2);
        const input = fs.readFileSync(path.join(folder, "list.sigs"));
        const piped = runCli(["aggregate", "-", "-o", "-"], { cwd: folder, env, input });
        assert.deepEqual(piped.out, fs.readFileSync(path.join(folder, "good.sheaf")));
        assert.equal(piped.err, "");
        const bad = runCli(["aggregate", "junk", "-o", "x"], { cwd: folder, env });
        assert.deepEqual([bad.code, bad.err], [2, "sheaf aggregate: junk: not JSON: line 1 is not understood\n"]);
    });
    test("ends the native command when it is ended itself", withProc, async () => {
        const env = { ...process.env, SHEAF_NATIVE: /** @type {string} */ (native) };
        /* Its standard input never ends, so it never ends by itself. */
        const args = [cli, "hash", "prove", "--messages", "-", "-o", path.join(top, "never.sheaf")];
        const command = spawn(process.execPath, args, { env, stdio: ["pipe", "ignore", "ignore"] });
        const ended = new Promise((resolve) => command.on("exit", resolve));
        const children = () => fs.readFileSync(`/proc/${command.pid}/task/${command.pid}/children`, "utf8").trim().split(" ");
        const prover = () => children().find((pid) => pid !== "" && fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--messages"));
        let pid;
        while ((pid = prover()) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
        for (const signal of /** @type {NodeJS.Signals[]} */ (["SIGTERM", "SIGINT"])) {
            command.kill(signal);
            await new Promise((resolve) => setTimeout(resolve, 100)); // two at once might be heard as one
        }
        assert.ok([137, 143].includes(/** @type {number} */ (await ended)));
        assert.ok(!fs.existsSync(`/proc/${pid}`));
    });
    test("keeps names that are not UTF-8 from the native command", withProc, () => {
        const line = `cp good.sheaf "$(printf 'a\\351')" && "$0" "$1" verify "$(printf 'a\\351')" &&
            "$0" "$1" hash prove --log-n 0 -o "$(printf 'b\\351')" && "$2" hash verify "$(printf 'b\\351')"`;
        const env = { ...process.env, SHEAF_NATIVE: /** @type {string} */ (native) };
        const done = spawnSync("sh", ["-c", line, process.execPath, cli, /** @type {string} */ (native)], { cwd: folders[1], env, encoding: "utf8" });
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stdout, /^a\\xe9: accepted: 3 signers/);
        assert.match(done.stdout, /^b\\xe9: 1 hashes, .* by WebAssembly /m);
        assert.match(done.stdout, /^b\\xe9: accepted: 1 hash$/m);
    });
    test("finds the native command on the PATH, and neither itself nor another program", () => {
        const bin = path.join(top, "bin");
        const own = path.join(top, "own");
        const foreign = path.join(top, "foreign");
        for (const folder of [bin, own, foreign]) fs.mkdirSync(folder);
        fs.symlinkSync(cli, path.join(own, "sheaf"));
        fs.copyFileSync("/bin/true", path.join(foreign, "sheaf"));
        fs.symlinkSync(/** @type {string} */ (native), path.join(bin, "sheaf"));
        const version = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")).version;
        const find = (/** @type {string[]} */ ...folders_) => findNative(version, { PATH: folders_.join(path.delimiter) })?.file ?? null;
        assert.equal(find(own, foreign), null);
        assert.equal(find(own, foreign, bin), path.join(bin, "sheaf"));
        assert.equal(find(path.join(top, "nothing"), "", bin), path.join(bin, "sheaf"));
        assert.equal(findNative("9.9.9", { PATH: bin }), null);
        assert.equal(findNative(version, { PATH: bin, SHEAF_NATIVE: "none" }), null);
        assert.throws(() => findNative(version, { SHEAF_NATIVE: cli }), /is not the native command sheaf/);
        assert.throws(() => findNative(version, { SHEAF_NATIVE: path.join(foreign, "sheaf") }), /is not the native command/);
        const env = { PATH: [own, foreign, path.dirname(process.execPath), "/usr/bin", "/bin"].join(path.delimiter), SHEAF_NATIVE: "" };
        const said = runFile(path.join(own, "sheaf"), ["hash", "prove", "--log-n", "0", "-o", path.join(top, "p.sheaf")], { env });
        assert.equal(said.code, 0, said.err);
        assert.match(said.out.toString(), /by WebAssembly/);
    });
    test("gives its prover to the interface where that asks for it", async () => {
        const { createProver } = await import("sheaf");
        const prover = await createProver({ native: /** @type {string} */ (native), threads: 1 });
        assert.equal(prover.engine, native);
        const parse = (await import("sheaf")).parseSignatures;
        const list = await parse(fs.readFileSync(path.join(folders[0], "list.sigs")));
        assert.deepEqual(Buffer.from(await prover.aggregate(list)), fs.readFileSync(path.join(folders[0], "good.sheaf")));
        list.signatures[2].signature[9] ^= 1;
        await assert.rejects(prover.aggregate(list), { code: "BAD_SIGNATURE", index: 2, message: "signature 2 does not verify" });
        list.signatures[2] = list.signatures[0];
        await assert.rejects(prover.aggregate(list), { code: "DUPLICATE_KEY", index: 2 });
        const stop = new AbortController();
        const running = prover.proveHashBatch(new Uint8Array(128 * 65536), { signal: stop.signal });
        setTimeout(() => stop.abort(), 50);
        await assert.rejects(running, { code: "CANCELLED" });
        assert.equal((await prover.memory({ signers: 4 })).fits, true);
        const narrow = await createProver({ native: /** @type {string} */ (native), threads: 1, maxMemory: 2 ** 21 });
        await assert.rejects(narrow.proveHashBatch(new Uint8Array(128 * 4096)), { code: "OUT_OF_MEMORY" });
        await assert.rejects(prover.aggregate(list, /** @type {any} */ ({ rate: 1 })), { code: "INVALID_ARGUMENT" });
        const left = assert.rejects(prover.proveHashBatch(new Uint8Array(128 * 65536)), { code: "DISPOSED" });
        await prover.dispose();
        await left;
        await assert.rejects(prover.aggregate(list), { code: "DISPOSED" });
    });
    test("ends without a word when nobody reads it", () => {
        const line = `set -o pipefail; "$0" "$1" verify good.sheaf | true; echo "$?"`;
        const done = spawnSync("bash", ["-c", line, process.execPath, cli], { cwd: folders[1], encoding: "utf8" });
        assert.equal(done.stderr, "");
        assert.match(done.stdout, /^(0|141)\n$/);
    });
});
