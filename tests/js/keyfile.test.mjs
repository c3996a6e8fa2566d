/* Key files in Node: the native command's files, journal and lock.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, describe, test } from "node:test";
import * as sheaf from "sheaf";
import { hook } from "../../node/lock.js";
import { derive, native, root, runCli, runNative, shake, withNative, workFolder } from "./support.mjs";

const { SheafError } = sheaf;
const folder = workFolder();
let made = 0;
/** A name that no file has. */
const fresh = () => path.join(folder, `${++made}.key`);
/** @param {string} code @param {RegExp} [message] */
const failing = (code, message = /./) => (/** @type {any} */ error) => {
    assert.ok(error instanceof SheafError, error?.stack);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
};
const hex = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString("hex");
const [a, b] = [shake("message a"), shake("message b")];
const hasFlock = spawnSync("flock", ["--version"]).status === 0;
const withFlock = { skip: hasFlock ? false : "there is no command flock" };

/** @param {string} file @param {number} [epochCount] @param {number} [firstEpoch] */
const make = (file, epochCount = 4, firstEpoch = 0) => sheaf.keygen({ file, firstEpoch, epochCount, seed: derive("key file", made) });
/** What the native command makes of a signing. @param {string} file @param {number} epoch @param {Uint8Array} message */
const signNatively = (file, epoch, message) => {
    const { code, out, err } = runNative(["sign", "--key", file, "--epoch", String(epoch), "--message", hex(message)]);
    return { code, err, signature: code === 0 ? JSON.parse(out.toString()).signature.slice(2) : null };
};

after(() => sheaf.close());

describe("a key file", () => {
    test("is made once, private, with a journal, and never overwritten", async () => {
        const file = fresh();
        const said = await make(file);
        assert.equal(said.file, file);
        for (const name of [file, `${file}.journal`]) assert.equal(fs.statSync(name).mode & 0o777, 0o600);
        const before = fs.readFileSync(file);
        await assert.rejects(make(file), failing("IO", /never overwritten/));
        assert.deepEqual(fs.readFileSync(file), before);
        assert.deepEqual(fs.readdirSync(folder).filter((n) => n.startsWith(path.basename(file))).length, 2);
    });
    test("has its umask's bits taken away all the same", () => {
        const file = fresh();
        const done = spawnSync("sh", ["-c", `umask 0; exec "$0" node/cli.js keygen --epochs 0:1 -o "$1" -q`, process.execPath, file], { cwd: root });
        assert.equal(done.status, 0);
        for (const name of [file, `${file}.journal`]) assert.equal(fs.statSync(name).mode & 0o777, 0o600);
    });
    test("is refused for a wrong interval, a missing folder, a journal of another key", async () => {
        await assert.rejects(sheaf.keygen({ file: fresh(), firstEpoch: 0, epochCount: 3 }), failing("EPOCH_RANGE"));
        await assert.rejects(make(path.join(folder, "none", "x.key")), failing("IO", /No such file/));
        const file = fresh();
        await make(file);
        await sheaf.sign(file, { epoch: 0, message: a });
        fs.rmSync(file);
        await assert.rejects(make(file), failing("IO", /a journal with records, of a key that is not here/));
        await assert.rejects(sheaf.keygen(/** @type {any} */ ({ file: 7, firstEpoch: 0, epochCount: 1 })), failing("INVALID_ARGUMENT"));
    });
    test("signs one message an epoch", async () => {
        const file = fresh();
        await make(file);
        const first = await sheaf.sign(file, { epoch: 2, message: a });
        assert.equal(await sheaf.verifySignature(first), true);
        assert.equal(first.repeated, false);
        const again = await sheaf.sign(file, { epoch: 2, message: a });
        assert.equal(again.repeated, true);
        assert.deepEqual(again.signature, first.signature);
        await assert.rejects(sheaf.sign(file, { epoch: 2, message: b }), failing("EPOCH_USED", /record 0 of/));
        await assert.rejects(sheaf.sign(file, { epoch: 4, message: a }), failing("EPOCH_RANGE", /0 to 3/));
        assert.ok(!fs.existsSync(`${file}.lock`));
        const status = await sheaf.keyStatus(file);
        assert.deepEqual([status.used, status.left, status.usedRanges, status.nextEpoch, status.tornRecord], [1, 3, [[2, 2]], 0, false]);
    });
    test("takes signings of one process in turn", async () => {
        const file = fresh();
        await make(file, 8);
        const all = await Promise.all([0, 1, 2, 3, 4].map((epoch) => sheaf.sign(file, { epoch, message: a })));
        for (const one of all) assert.equal(await sheaf.verifySignature(one), true);
        const race = await Promise.allSettled([a, b].map((message) => sheaf.sign(file, { epoch: 7, message })));
        assert.deepEqual(race.map((r) => r.status), ["fulfilled", "rejected"]);
        assert.deepEqual((await sheaf.keyStatus(file)).usedRanges, [[0, 4], [7, 7]]);
    });
    test("is found through a symbolic link, with its one journal", async () => {
        const file = fresh();
        await make(file);
        const link = path.join(folder, "link.key");
        fs.symlinkSync(file, link);
        await sheaf.sign(link, { epoch: 0, message: a });
        assert.ok(!fs.existsSync(`${link}.journal`));
        await assert.rejects(sheaf.sign(file, { epoch: 0, message: b }), failing("EPOCH_USED"));
    });
    test("is refused where it is damaged", async () => {
        const file = fresh();
        await make(file);
        const good = fs.readFileSync(file);
        /** @type {[string, (bytes: Buffer) => Buffer, string, RegExp][]} */
        const damages = [
            ["magic", (x) => ((x[0] ^= 1), x), "MALFORMED", /this is not a key/],
            ["version", (x) => ((x[8] = 2), x), "UNSUPPORTED", /version/],
            ["interval", (x) => ((x[16] = 1), x), "MALFORMED", /not aligned/],
            ["size", (x) => x.subarray(0, x.length - 1), "MALFORMED", /too short or too long/],
            ["seed", (x) => ((x[30] ^= 1), x), "MALFORMED", /checksum/],
            ["node", (x) => ((x[100] ^= 1), x), "MALFORMED", /checksum/],
            ["nothing", (x) => x.subarray(0, 10), "MALFORMED", /this is not a key/],
        ];
        for (const [name, change, code, message] of damages) {
            fs.writeFileSync(file, change(Buffer.from(good)));
            await assert.rejects(sheaf.sign(file, { epoch: 0, message: a }), failing(code, message), name);
            await assert.rejects(sheaf.keyStatus(file), failing(code, message), name);
        }
        await assert.rejects(sheaf.sign(path.join(folder, "none.key"), { epoch: 0, message: a }), failing("IO", /No such file/));
        await assert.rejects(sheaf.sign(folder, { epoch: 0, message: a }), failing("IO"));
    });
    test("of another seed with a right checksum is refused", async () => {
        const file = fresh();
        await make(file);
        const bytes = fs.readFileSync(file);
        bytes[24] ^= 1;
        const { createHash } = await import("node:crypto");
        createHash("sha256").update(bytes.subarray(0, -32)).digest().copy(bytes, bytes.length - 32);
        fs.writeFileSync(file, bytes);
        await assert.rejects(sheaf.sign(file, { epoch: 0, message: a }), failing("MALFORMED", /not its seed's/));
    });
});

describe("a journal", () => {
    /** A key with two records. */
    const used = async () => {
        const file = fresh();
        await make(file, 8);
        await sheaf.sign(file, { epoch: 0, message: a });
        await sheaf.sign(file, { epoch: 1, message: a });
        return { file, journal: `${file}.journal`, bytes: fs.readFileSync(`${file}.journal`) };
    };
    test("that is missing or damaged stops all signing", async () => {
        const { file, journal, bytes } = await used();
        /** @type {[(x: Buffer) => Buffer, string, RegExp][]} */
        const damages = [
            [(x) => x.subarray(0, 87), "MALFORMED", /header is cut short/],
            [(x) => ((x[0] ^= 1), x), "MALFORMED", /not a journal/],
            [(x) => ((x[8] = 2), x), "UNSUPPORTED", /version/],
            [(x) => ((x[30] ^= 1), x), "MALFORMED", /another key/],
            [(x) => ((x[60] ^= 1), x), "MALFORMED", /header is damaged/],
            [(x) => ((x[100] ^= 1), x), "MALFORMED", /record 0 of the journal is damaged/],
            [(x) => ((x[x.length - 1] ^= 1), x), "MALFORMED", /record 1 of the journal is damaged/],
            [(x) => Buffer.concat([x.subarray(0, 88), x.subarray(160)]), "MALFORMED", /record 0 of the journal is damaged/],
        ];
        for (const [change, code, message] of damages) {
            fs.writeFileSync(journal, change(Buffer.from(bytes)));
            await assert.rejects(sheaf.sign(file, { epoch: 3, message: a }), failing(code, message));
        }
        fs.rmSync(journal);
        await assert.rejects(sheaf.sign(file, { epoch: 3, message: a }), failing("IO", /journal is missing/));
        fs.symlinkSync(file, journal);
        await assert.rejects(sheaf.sign(file, { epoch: 3, message: a }), failing("IO"));
        assert.ok(!fs.existsSync(`${file}.lock`), "every refusal gives the lock up");
    });
    test("with a torn record is put right without signing twice", async () => {
        const { file, journal, bytes } = await used();
        const torn = async (/** @type {number} */ length) => {
            fs.writeFileSync(journal, bytes);
            await sheaf.sign(file, { epoch: 5, message: a });
            fs.truncateSync(journal, bytes.length + length);
            assert.equal((await sheaf.keyStatus(file)).tornRecord, true);
        };
        for (const length of [4, 20, 71]) {
            await torn(length);
            const retry = await sheaf.sign(file, { epoch: 5, message: a });
            assert.deepEqual(retry.notices, ["completed a torn record"]);
            await torn(length);
            /* What a record says of the message is in its bytes from the eighth on. */
            const other = sheaf.sign(file, { epoch: 5, message: b });
            if (length > 4) await assert.rejects(other, failing("EPOCH_USED", /begun to sign another message/));
            else await other;
            await torn(length);
            const next = await sheaf.sign(file, { epoch: 6, message: b });
            assert.deepEqual(next.notices, ["withdrew epoch 5, whose record was torn"]);
            await assert.rejects(sheaf.sign(file, { epoch: 5, message: a }), failing("EPOCH_USED", /withdrawn/));
            const status = await sheaf.keyStatus(file);
            assert.deepEqual([status.used, status.withdrawn, status.usedRanges], [4, 1, [[0, 1], [5, 6]]]);
        }
        await torn(3);
        assert.deepEqual((await sheaf.sign(file, { epoch: 6, message: a })).notices, ["wrote over a torn record"]);
    });
});

describe("a lock", () => {
    const lines = (/** @type {Record<string, string | number>} */ change = {}) => {
        const word = (/** @type {string} */ name) => {
            try {
                return fs.readFileSync(name, "utf8").trim();
            } catch {
                return "-";
            }
        };
        const h = {
            pid: process.pid,
            start: 0,
            boot: word("/proc/sys/kernel/random/boot_id"),
            machine: word("/etc/machine-id") || "-",
            host: os.hostname(),
            ...change,
        };
        return `sheaf lock 1\npid ${h.pid}\nstart ${h.start}\nboot ${h.boot}\nmachine ${h.machine}\nhost ${h.host}\nend\n`;
    };
    /** A process that has ended. */
    const gone = () => /** @type {number} */ (spawnSync(process.execPath, ["-e", ""]).pid);

    test("of a process that lives is respected", async () => {
        const file = fresh();
        await make(file);
        fs.writeFileSync(`${file}.lock`, lines());
        await assert.rejects(sheaf.sign(file, { epoch: 0, message: a }), failing("LOCKED", new RegExp(`in use by process ${process.pid}`)));
        fs.writeFileSync(`${file}.lock`, lines({ pid: gone(), host: "elsewhere" }));
        await assert.rejects(sheaf.sign(file, { epoch: 0, message: a }), failing("LOCKED", /on host elsewhere|in use/));
        fs.writeFileSync(`${file}.lock`, lines({ pid: gone(), boot: "another", machine: "another" }));
        await assert.rejects(sheaf.sign(file, { epoch: 0, message: a }), failing("LOCKED"));
    });
    test("of a process that is gone is taken over", withFlock, async () => {
        const file = fresh();
        await make(file);
        const pid = gone();
        fs.writeFileSync(`${file}.lock`, lines({ pid }));
        assert.deepEqual((await sheaf.sign(file, { epoch: 0, message: a })).notices, [`took over the lock of process ${pid}, which is gone`]);
        fs.writeFileSync(`${file}.lock`, lines({ start: 1 }));
        assert.match((await sheaf.sign(file, { epoch: 1, message: a })).notices[0], /which is gone/, "its number is another's now");
        fs.writeFileSync(`${file}.lock`, lines().slice(0, 30));
        assert.deepEqual((await sheaf.sign(file, { epoch: 2, message: a })).notices, ["took over an unfinished lock file"]);
        assert.ok(!fs.existsSync(`${file}.lock`));
    });
    test("whose flock is held is respected whatever its lines say", withFlock, async () => {
        const file = fresh();
        await make(file);
        fs.writeFileSync(`${file}.lock`, lines({ pid: gone() }));
        const holder = spawn("flock", ["-x", `${file}.lock`, "sh", "-c", "echo held; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"], detached: true });
        await new Promise((resolve) => holder.stdout.once("data", resolve));
        try {
            await assert.rejects(sheaf.sign(file, { epoch: 0, message: a }), failing("LOCKED", /in use by process/));
        } finally {
            process.kill(-(/** @type {number} */ (holder.pid)), "SIGKILL");
        }
    });
    test("on the journal alone stops signing too", withFlock, async () => {
        const file = fresh();
        await make(file);
        const holder = spawn("flock", ["-x", `${file}.journal`, "sh", "-c", "echo held; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"], detached: true });
        await new Promise((resolve) => holder.stdout.once("data", resolve));
        try {
            await assert.rejects(sheaf.sign(file, { epoch: 0, message: a }), failing("LOCKED", /writing the journal/));
        } finally {
            process.kill(-(/** @type {number} */ (holder.pid)), "SIGKILL");
        }
    });
    test("that is no regular file is refused", async () => {
        const file = fresh();
        await make(file);
        fs.symlinkSync(file, `${file}.lock`);
        await assert.rejects(sheaf.sign(file, { epoch: 0, message: a }), failing("IO"));
    });
});

describe("together with the native command", withNative, () => {
    test("either reads the other's keys, and they are the same bytes", async () => {
        const [ours, theirs] = [fresh(), fresh()];
        const seed = derive("shared seed", 1);
        const { publicKey } = await sheaf.keygen({ file: ours, firstEpoch: 16, epochCount: 16, seed });
        assert.equal(runNative(["keygen", "--epochs", "16:16", "--seed", hex(seed), "-o", theirs, "-q"]).code, 0);
        for (const suffix of ["", ".journal"]) assert.deepEqual(fs.readFileSync(ours + suffix), fs.readFileSync(theirs + suffix));
        assert.equal(runNative(["pubkey", ours]).out.toString(), `0x${hex(publicKey)}\n`);
        assert.deepEqual((await sheaf.keyStatus(theirs)).publicKey, publicKey);
    });
    test("either refuses the second message of an epoch that the other signed", async () => {
        const file = fresh();
        await make(file);
        const first = await sheaf.sign(file, { epoch: 0, message: a });
        assert.equal(signNatively(file, 0, a).signature, hex(first.signature));
        assert.match(signNatively(file, 0, b).err, /epoch 0 has signed another message \(record 0/);
        const second = signNatively(file, 1, a);
        const again = await sheaf.sign(file, { epoch: 1, message: a });
        assert.equal(hex(again.signature), second.signature);
        assert.equal(again.repeated, true);
        await assert.rejects(sheaf.sign(file, { epoch: 1, message: b }), failing("EPOCH_USED", /record 1/));
        assert.deepEqual((await sheaf.keyStatus(file)).usedRanges, [[0, 1]]);
    });
    test("the journals that both write are the same bytes", async () => {
        const [ours, theirs] = [fresh(), fresh()];
        const seed = derive("shared seed", 2);
        await sheaf.keygen({ file: ours, firstEpoch: 0, epochCount: 4, seed });
        runNative(["keygen", "--epochs", "0:4", "--seed", hex(seed), "-o", theirs, "-q"]);
        for (const [epoch, message] of /** @type {[number, Buffer][]} */ ([[2, a], [0, b], [2, a]])) {
            await sheaf.sign(ours, { epoch, message });
            assert.equal(signNatively(theirs, epoch, message).code, 0);
        }
        assert.deepEqual(fs.readFileSync(`${ours}.journal`), fs.readFileSync(`${theirs}.journal`));
    });
    test("the native command finds the key in use while this process signs", async () => {
        const file = fresh();
        await make(file);
        let seen = "";
        hook.step = (name) => {
            if (name === "write record") seen = signNatively(file, 1, b).err;
        };
        try {
            await sheaf.sign(file, { epoch: 0, message: a });
        } finally {
            hook.step = () => {};
        }
        assert.match(seen, new RegExp(`in use by process ${process.pid} `));
        assert.equal(signNatively(file, 1, b).code, 0);
    });
});

/* ---- ends and failures at every step ---- */

const program = `
    import { hook } from "./node/lock.js";
    import * as sheaf from "sheaf";
    const [what, file, epoch, message, at, how] = process.argv.slice(1);
    let n = 0;
    hook.step = (name) => {
        if (how === "list") console.log(name);
        if (n++ !== Number(at)) return;
        if (how === "kill") process.kill(process.pid, "SIGKILL");
        /* The last ones are marks between steps: nothing there can fail. */
        if (how === "fail" && !["close lock", "signed", "created"].includes(name)) throw Object.assign(new Error("made to fail"), { code: "EIO" });
    };
    const buffer = Buffer.from(message, "hex");
    try {
        const done = what === "sign"
            ? await sheaf.sign(file, { epoch: Number(epoch), message: buffer })
            : await sheaf.keygen({ file, firstEpoch: 0, epochCount: 4, seed: buffer });
        if (how !== "list") console.log("handed out " + Buffer.from(done.signature ?? done.publicKey).toString("hex"));
    } catch (error) {
        console.log("refused " + error.code + " " + error.message);
    }`;

/** @param {string} what @param {string} file @param {number} epoch @param {Uint8Array} message @param {number} at @param {string} how */
function stepped(what, file, epoch, message, at, how) {
    const args = ["--input-type=module", "-e", program, what, file, String(epoch), hex(message), String(at), how];
    const done = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: 120000 });
    return { signal: done.signal, out: done.stdout.trim(), err: done.stderr };
}

describe("at every step", () => {
    const key = path.join(folder, "steps.key");
    /** A copy of a key that has signed epoch 3. @param {string} name */
    const copyOf = (name) => {
        const file = path.join(folder, name);
        for (const suffix of ["", ".journal"]) fs.copyFileSync(key + suffix, file + suffix);
        return file;
    };
    const otherwise = native !== null ? signNatively : (/** @type {string} */ file, /** @type {number} */ epoch, /** @type {Uint8Array} */ message) => {
        const { code, out, err } = runCli(["sign", "--key", file, "--epoch", String(epoch), "--message", hex(message)]);
        return { code, err, signature: code === 0 ? JSON.parse(out.toString()).signature.slice(2) : null };
    };

    test("signing that is killed, or fails, never leads to two messages", withFlock, async () => {
        await make(key);
        await sheaf.sign(key, { epoch: 3, message: b });
        const steps = stepped("sign", copyOf("list.key"), 0, a, -1, "list").out.split("\n");
        for (const step of ["make lock", "open journal", "read journal", "write record", "sync record", "remove lock", "signed"])
            assert.ok(steps.includes(step), `${step} is one of ${steps}`);
        for (const how of ["kill", "fail"]) {
            for (const [i, step] of steps.entries()) {
                const file = copyOf(`${how}-${i}.key`);
                const first = stepped("sign", file, 0, a, i, how);
                if (how === "kill") assert.deepEqual([first.signal, first.out], ["SIGKILL", ""], step);
                else assert.match(first.out, /^(handed out|refused IO|refused INTERNAL)/, `${step}: ${first.out}${first.err}`);
                const out = first.out.startsWith("handed out");
                const second = otherwise(file, 0, b);
                if (out) assert.equal(second.code, 2, `${how} at ${step}: a second message after a signature was handed out`);
                const third = otherwise(file, 0, a);
                assert.ok(!(second.code === 0 && third.code === 0), `${how} at ${step}: both messages were signed`);
                assert.ok(second.code === 0 || third.code === 0, `${how} at ${step}: the epoch is lost: ${second.err} ${third.err}`);
                assert.equal(otherwise(file, 1, b).code, 0, `${how} at ${step}: the key still signs`);
            }
        }
    });
    test("a key whose making is killed is whole or not there", withFlock, () => {
        const steps = stepped("keygen", path.join(folder, "new.key"), 0, a, -1, "list").out.split("\n");
        assert.ok(steps.includes("name key") && steps.includes("created"), String(steps));
        for (const how of ["kill", "fail"]) {
            for (const [i, step] of steps.entries()) {
                const file = path.join(folder, `new-${how}-${i}.key`);
                stepped("keygen", file, 0, a, i, how);
                if (!fs.existsSync(file)) {
                    assert.match(stepped("keygen", file, 0, a, -1, "").out, /^handed out/, `${how} at ${step}`);
                }
                assert.deepEqual(fs.readFileSync(file), fs.readFileSync(path.join(folder, "new.key")), step);
                assert.equal(otherwise(file, 2, a).code, 0, `${how} at ${step}`);
                assert.ok(!fs.existsSync(`${file}.unfinished`), `${how} at ${step}: nothing is left over`);
            }
        }
    });
});
