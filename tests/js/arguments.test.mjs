/* What callers pass: read once, at once, and checked before anything is copied.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import * as sheaf from "sheaf";
import * as browser from "../../web/index.js";
import { derive, envelopeOf, native, root, shake, signaturesOf, withNative, workFolder } from "./support.mjs";

const { SheafError } = sheaf;
/** @param {string} code @param {RegExp} [message] @param {number} [index] */
const failing = (code, message = /./, index) => (/** @type {any} */ error) => {
    assert.ok(error instanceof SheafError, `a SheafError, not ${error?.stack ?? error}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    if (index !== undefined) assert.equal(error.index, index);
    return true;
};
const wrong = (/** @type {RegExp} */ message, /** @type {number} */ index) => failing("INVALID_ARGUMENT", message, index);
const any = (/** @type {any} */ value) => value;

/** @type {Awaited<ReturnType<typeof signaturesOf>>} */
let list;
/** @type {Uint8Array} */
let envelope;
/** @type {any} */
let expected;
/** @type {any[]} whole signatures */
let whole;

before(async () => {
    list = await signaturesOf(2);
    envelope = await envelopeOf(list);
    expected = { epoch: list.epoch, message: list.message, publicKeys: list.signatures.map((s) => s.publicKey) };
    whole = list.signatures.map((s) => ({ epoch: list.epoch, message: list.message, ...s }));
});
after(() => sheaf.close());

/** Runs while every object seems to have a property. @param {string} name @param {any} value @param {() => Promise<void>} run */
async function polluted(name, value, run) {
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true, enumerable: false });
    try {
        await run();
    } finally {
        delete any(Object.prototype)[name];
    }
}

describe("verifyMany", () => {
    /** Ten items of their own. */
    const items = () => Array.from({ length: 10 }, () => any({ envelope: Uint8Array.from(envelope), expected: structuredClone(expected) }));
    const good = Array(10).fill(true);

    test("sees everything as it was when it was called", async () => {
        /** @type {[string, (all: any[]) => void][]} */
        const changes = [
            ["epochs", (all) => all.forEach((item) => item.expected.epoch++)],
            ["keys", (all) => all.forEach((item) => item.expected.publicKeys.pop())],
            ["key bytes", (all) => all.forEach((item) => item.expected.publicKeys[0].fill(0))],
            ["envelopes", (all) => all.forEach((item) => item.envelope.fill(0))],
            ["expectations", (all) => all.forEach((item) => (item.expected = null))],
            ["fewer items", (all) => (all.length = 3)],
            ["no item", (all) => (all[7] = null)],
        ];
        for (const [name, change] of changes) {
            const all = items();
            const answer = sheaf.verifyMany(all);
            change(all);
            assert.deepEqual(await answer, good, name);
        }
    });
    test("refuses holes and what is no item, and says which", async () => {
        const all = items();
        delete all[6];
        await assert.rejects(sheaf.verifyMany(all), wrong(/items\[6\]: missing/, 6));
        for (const item of [null, undefined, 5, "x"])
            await assert.rejects(sheaf.verifyMany(any([...items(), item])), wrong(/items\[10\]: not an object/, 10));
        await assert.rejects(sheaf.verifyMany(any([{}])), wrong(/items\[0\]: expected: not an object/, 0));
        await assert.rejects(sheaf.verifyMany(any([{ envelope: 5, expected }])), wrong(/items\[0\]: envelope: not bytes/, 0));
    });
});

describe("the CommonJS entry", () => {
    test("sees bytes as they were when it was called, once it is loaded", async () => {
        const entry = createRequire(import.meta.url)("sheaf");
        const own = entry.createSheaf({ verifiers: 1 });
        for (const one of [entry, own]) {
            assert.equal(await one.verify(envelope, expected), true);
            const bytes = Uint8Array.from(envelope);
            const answer = one.verify(bytes, expected);
            bytes.fill(0);
            assert.equal(await answer, true);
        }
        await own.close();
    });
});

describe("an expectation", () => {
    test("is made of own properties alone", async () => {
        for (const name of ["epoch", "message", "publicKeys"]) {
            const open = { ...expected };
            delete open[name];
            const message = new RegExp(`expected.${name}: missing`);
            await polluted(name, "any", async () => {
                await assert.rejects(sheaf.verify(envelope, open), wrong(message));
                await assert.rejects(sheaf.verifyMany([{ envelope, expected: open }]), wrong(message));
            });
            await assert.rejects(sheaf.verify(envelope, Object.assign(Object.create({ [name]: "any" }), open)), wrong(message));
        }
        await polluted("expected", { epoch: "any", message: "any", publicKeys: "any" }, async () => {
            await assert.rejects(sheaf.verifyMany(any([{ envelope }])), wrong(/expected: not an object/));
        });
    });
    test("is read once, field by field", async () => {
        for (const [name, other] of /** @type {[string, any][]} */ ([["epoch", 9], ["message", shake("x")], ["publicKeys", [derive("x", 1)]], ["scheme", "leanXMSS"]])) {
            let reads = 0;
            const asked = { ...expected, scheme: "leanXMSS" };
            Object.defineProperty(asked, name, { enumerable: true, get: () => (reads++ === 0 ? other : "any") });
            assert.equal(await sheaf.verify(envelope, asked), name === "scheme");
            assert.equal(reads, 1, name);
        }
    });
});

describe("options", () => {
    test("are own properties alone", async () => {
        const prover = await sheaf.createProver({ threads: 1 });
        const own = sheaf.createSheaf({ verifiers: 1 });
        assert.equal(await own.verify(envelope, expected), true);
        for (const name of ["signal", "onProgress", "signers", "logInvRate", "transfer"]) {
            await polluted(name, 5, async () => {
                assert.equal(await own.verify(envelope, expected), true, name);
                assert.deepEqual(await own.verifyMany([{ envelope, expected }], {}), [true], name);
                assert.equal((await prover.memory({ hashes: 2 })).fits, true, name);
                assert.equal((await prover.proveHashBatch([new Uint8Array(128)])).length > 0, true, name);
            });
        }
        await prover.dispose();
        await own.close();
    });
    test("have a signal that does all that is asked of one", async () => {
        const half = { aborted: false, addEventListener() {} };
        const signals = [null, 5, {}, half, { ...half, removeEventListener: 1 }, { ...half, removeEventListener() {}, aborted: 0 }, Object.create(AbortSignal.prototype)];
        for (const signal of signals.map(any)) {
            await assert.rejects(sheaf.verify(envelope, expected, { signal }), wrong(/signal: not an AbortSignal/));
            await assert.rejects(sheaf.createProver({ signal }), wrong(/signal: not an AbortSignal/));
            await assert.rejects(sheaf.keygen({ firstEpoch: 0, epochCount: 1, signal }), wrong(/signal: not an AbortSignal/));
        }
        const like = { ...half, removeEventListener() {} };
        assert.equal(await sheaf.verify(envelope, expected, { signal: any(like) }), true);
    });
    test("are refused when they are none", async () => {
        assert.throws(() => sheaf.createSheaf(any(null)), wrong(/options: not an object/));
        assert.throws(() => browser.createSheaf(any(null)), wrong(/options: not an object/));
        for (const create of [sheaf.createSheaf, browser.createSheaf]) {
            assert.throws(() => create(any({ onNotice: 5 })), wrong(/onNotice: not a function/));
            assert.throws(() => create({ maxMemory: NaN }), wrong(/maxMemory/));
        }
        await assert.rejects(sheaf.createProver(any(null)), wrong(/options: not an object/));
    });
    test("of a prover are checked the same with the native command and without", withNative, async () => {
        /** @type {[any, RegExp][]} */
        const all = [
            [{ foo: 1 }, /foo is not an option/],
            [{ wasm: 5 }, /wasm: not bytes/],
            [{ wasm: null }, /wasm: not bytes/],
            [{ signal: 5 }, /signal/],
            [{ onNotice: 5 }, /onNotice: not a function/],
            [{ threads: 0 }, /threads/],
            [{ threads: "1" }, /threads/],
            ...[NaN, "1", 0, -1].map((maxMemory) => any([{ maxMemory }, /maxMemory: not a number of bytes/])),
        ];
        for (const way of [{}, { native: false }, { native }])
            for (const [options, message] of all) await assert.rejects(sheaf.createProver(any({ ...way, ...options })), wrong(message));
        await assert.rejects(sheaf.createProver(any({ native: 5 })), wrong(/native: not true/));
        await assert.rejects(sheaf.createProver(any({ native, signal: AbortSignal.abort() })), failing("CANCELLED"));
        const unbound = await sheaf.createProver(any({ native, threads: 1, maxMemory: Infinity }));
        const batch = await unbound.proveHashBatch(new Uint8Array(128));
        assert.equal(await sheaf.verify(batch, { scheme: "hash", digests: [shake(new Uint8Array(128))] }), true);
        await unbound.dispose();
    });
});

describe("bytes", () => {
    const given = () => {
        const bytes = new Uint8Array(1208);
        structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
        return bytes;
    };
    /** What is no bytes, though it looks like them. */
    const none = () => [
        given(),
        given().buffer,
        (() => {
            const buffer = new ArrayBuffer(32);
            const view = new DataView(buffer);
            structuredClone(buffer, { transfer: [buffer] });
            return view;
        })(),
        new Proxy(new Uint8Array(32), {}),
        Object.create(Uint8Array.prototype),
        Object.create(ArrayBuffer.prototype),
        Object.create(DataView.prototype),
        { length: 32, byteLength: 32, [Symbol.toStringTag]: "ArrayBuffer" },
        Symbol("x"),
        Object.create(null),
        null,
        32,
    ].map(any);

    test("that are none are refused wherever they are given", async () => {
        const prover = await sheaf.createProver({ threads: 1 });
        for (const bytes of none()) {
            /** @type {(() => Promise<any>)[]} */
            const calls = [
                () => sheaf.verify(bytes, expected),
                () => sheaf.verify(envelope, { ...expected, message: bytes ?? 5 }),
                () => sheaf.verify(envelope, { ...expected, publicKeys: bytes ?? 5 }),
                () => sheaf.verify(envelope, { ...expected, publicKeys: [bytes] }),
                () => sheaf.verifyMany([{ envelope: bytes, expected }]),
                () => sheaf.inspect(bytes),
                () => sheaf.verifySignature({ ...whole[0], signature: bytes }),
                () => sheaf.verifySignature({ ...whole[0], publicKey: bytes }),
                () => prover.aggregate([{ ...whole[0], signature: bytes }]),
                () => prover.proveHashBatch([bytes]),
                () => prover.proveHashBatch(bytes),
                () => sheaf.sign(bytes, { epoch: 0, message: list.message }),
                () => sheaf.keygen({ firstEpoch: 0, epochCount: 1, seed: bytes }),
                () => sheaf.parseKeys(bytes),
                () => sheaf.parseSignatures(bytes),
                () => sheaf.formatKeys(bytes),
                () => sheaf.createProver({ wasm: bytes }),
            ];
            for (const call of calls) await assert.rejects(call(), wrong(/not bytes|^wasm: .* is not one of/), String(call));
        }
        await prover.dispose();
    });
    test("are as long as they are, whatever they say", async () => {
        class Liar extends Uint8Array {
            get length() {
                return 32;
            }
            get byteLength() {
                return 32;
            }
        }
        const asked = (/** @type {any} */ message) => sheaf.verify(envelope, { ...expected, message });
        await assert.rejects(asked(new Liar(31)), wrong(/message: 31 bytes, 32 are needed/));
        await assert.rejects(asked(new Liar(0)), wrong(/message: 0 bytes, 32 are needed/));
        assert.equal(await asked(Liar.from(list.message)), true);
        assert.equal(await sheaf.verify(Liar.from(envelope), expected), true);
    });
    test("of a wrong length are not copied", async () => {
        /* What is copied is copied by this. */
        const { set } = Uint8Array.prototype;
        let most = 0;
        Uint8Array.prototype.set = function (from, at) {
            most = Math.max(most, from.length);
            return set.call(this, from, at);
        };
        const huge = new Uint8Array(2 ** 27);
        const text = `0x${"0".repeat(2 ** 24)}`;
        try {
            for (const bytes of [huge, huge.buffer, text]) {
                const message = typeof bytes === "string" ? /message: \d+ hex digits, 64 are the most/ : /32 are needed/;
                await assert.rejects(sheaf.verify(envelope, { ...expected, message: any(bytes) }), wrong(message));
                await assert.rejects(sheaf.verifySignature({ ...whole[0], signature: any(bytes) }), wrong(/1208 are needed|2416 are the most/));
                await assert.rejects(sheaf.formatKeys([any(bytes)]), wrong(/publicKeys\[0\]: /));
            }
            await assert.rejects(sheaf.verify(envelope, { ...expected, publicKeys: huge }), wrong(/publicKeys: 4194304 entries/));
            await assert.rejects(sheaf.verify(huge, expected), failing("MALFORMED", /the most/));
        } finally {
            Uint8Array.prototype.set = set;
        }
        assert.ok(most <= envelope.length, `${most} bytes were copied`);
    });
    test("that are no envelope are not asked for in hex", async () => {
        await assert.rejects(sheaf.verify(any("0x00"), expected), wrong(/^envelope: not bytes \(a Uint8Array, an ArrayBuffer\)$/));
        await assert.rejects(sheaf.verify(Object.create(Blob.prototype), expected), wrong(/envelope: not a Blob/));
    });
});

describe("arrays", () => {
    test("with a hole are refused, and which", async () => {
        const prover = await sheaf.createProver({ threads: 1 });
        const [s0, s1] = whole;
        const [k0, k1] = expected.publicKeys;
        await assert.rejects(sheaf.verify(envelope, { ...expected, publicKeys: [k0, , k1] }), wrong(/publicKeys\[1\]: missing/, 1));
        await assert.rejects(sheaf.verify(envelope, { scheme: "hash", digests: any([, k1]) }), wrong(/digests\[0\]: missing/, 0));
        await assert.rejects(prover.aggregate(any([s0, , s1])), wrong(/signatures\[1\]: missing/, 1));
        await assert.rejects(prover.aggregate(any([, s1])), wrong(/signatures\[0\]: missing/, 0));
        await assert.rejects(prover.aggregate(any({ ...list, signatures: [list.signatures[0], ,] })), wrong(/signatures\[1\]: missing/, 1));
        await assert.rejects(prover.proveHashBatch(any([new Uint8Array(128), ,])), wrong(/messages\[1\]: missing/, 1));
        await assert.rejects(sheaf.formatKeys(any([k0, , k1])), wrong(/publicKeys\[1\]: missing/, 1));
        await prover.dispose();
    });
});

describe("values of any kind", () => {
    test("are told without a failure of their own", async () => {
        const prover = await sheaf.createProver({ threads: 1 });
        const [s0, s1] = whole;
        for (const odd of [Object.create(null), Symbol("s"), { toString: () => any({}) }].map(any)) {
            await assert.rejects(sheaf.verify(envelope, { ...expected, epoch: odd }), wrong(/epoch: .* is not an integer/));
            await assert.rejects(sheaf.verify(envelope, { ...expected, scheme: odd }), wrong(/scheme: .* is not known/));
            await assert.rejects(sheaf.verifySignature({ ...s0, scheme: odd }), wrong(/scheme: .* is not known/));
            await assert.rejects(prover.aggregate([s0, { ...s1, epoch: odd }]), wrong(/signatures\[1\]: for epoch /, 1));
            await assert.rejects(sheaf.formatSignatures(whole, any({ form: odd })), wrong(/form: /));
        }
        for (const value of [null, undefined, "x", 5].map(any)) await assert.rejects(sheaf.formatSignatures(value), wrong(/signatures: not an object/));
        await assert.rejects(sheaf.formatSignatures(whole, any(null)), wrong(/options: not an object/));
        await prover.dispose();
    });
});

describe("a key file's name", () => {
    const folder = fs.realpathSync(workFolder());
    const [m, other] = [shake("m"), shake("other")];
    /** Runs in the folder. @param {string} name @param {() => Promise<void>} run */
    const within = async (name, run) => {
        const back = process.cwd();
        process.chdir(name);
        try {
            await run();
        } finally {
            process.chdir(back);
        }
    };

    test("is one key's in every spelling", async () => {
        await within(folder, async () => {
            await sheaf.keygen({ file: "r.key", firstEpoch: 0, epochCount: 8 });
            fs.symlinkSync("r.key", "link.key");
            fs.symlinkSync(".", "here");
            const names = ["r.key", "./r.key", path.join(folder, "r.key"), "link.key", "here/r.key", "here/link.key"];
            const made = await Promise.all(names.map((name, epoch) => sheaf.sign(name, { epoch, message: m })));
            for (const one of made) assert.equal(await sheaf.verifySignature(one), true);
            const race = await Promise.allSettled([m, other].map((message, i) => sheaf.sign(names[i], { epoch: 7, message })));
            failing("EPOCH_USED")(any(race[1]).reason);
            const twice = await Promise.allSettled(["./new.key", "here/new.key"].map((file) => sheaf.keygen({ file, firstEpoch: 0, epochCount: 1 })));
            assert.equal(twice[0].status, "fulfilled");
            failing("IO", /never overwritten: here\/new\.key$/)(any(twice[1]).reason);
        });
    });
    test("is meant as of the call, however the working directory changes", async () => {
        const elsewhere = path.join(folder, "elsewhere");
        fs.mkdirSync(elsewhere);
        /** @type {Promise<any>[]} */
        let calls = [];
        await within(folder, async () => {
            calls = [sheaf.keygen({ file: "moved.key", firstEpoch: 0, epochCount: 1 })];
        });
        assert.equal((await calls[0]).file, "moved.key");
        await within(folder, async () => {
            calls = [sheaf.sign("moved.key", { epoch: 0, message: m }), sheaf.keyStatus("moved.key")];
        });
        const [signed, status] = await Promise.all(calls);
        assert.equal(await sheaf.verifySignature(signed), true);
        assert.deepEqual(status.publicKey, signed.publicKey);
        assert.deepEqual(fs.readdirSync(elsewhere), []);
    });
    test("stands in errors as it was given", async () => {
        await within(folder, async () => {
            await assert.rejects(sheaf.sign("no.key", { epoch: 0, message: m }), failing("IO", /: no\.key$/));
            await assert.rejects(sheaf.keygen({ file: "no/x.key", firstEpoch: 0, epochCount: 1 }), failing("IO", /: no\/x\.key/));
            await assert.rejects(sheaf.keyStatus("./no.key"), failing("IO", /: \.\/no\.key$/));
        });
    });
    test("comes with a seed that is copied at once", async () => {
        const seed = derive("seed", 9);
        const whenCalled = Uint8Array.from(seed);
        const first = sheaf.keygen({ file: path.join(folder, "seed.key"), firstEpoch: 0, epochCount: 1, seed });
        seed.fill(0);
        assert.deepEqual((await first).publicKey, (await sheaf.keygen({ firstEpoch: 0, epochCount: 1, seed: whenCalled })).publicKey);
    });
});

describe("a key's bytes", () => {
    const request = () => ({ epoch: 0, message: shake("a message") });

    test("are as many as a key has, and are not copied otherwise", async () => {
        const { key } = await sheaf.keygen({ firstEpoch: 0, epochCount: 2 });
        for (const length of [0, 10, 87, 88, key.length - 1, key.length + 1, 2 ** 31 + 1])
            await assert.rejects(sheaf.sign(new Uint8Array(length), request()), failing("MALFORMED", new RegExp(`^key: ${length} bytes, no key`)));
        assert.equal((await sheaf.sign(key, request())).signature.length, 1208);
    });
    test("are no more than fit into a module's memory", async () => {
        const bytesOf = (/** @type {number} */ log) => 88 + 16 * (2 ** (log + 1) - 1) + 16 * (32 - log) + 32;
        await assert.rejects(sheaf.sign(new Uint8Array(bytesOf(26)), request()), failing("OUT_OF_MEMORY", /^key: one of 2\^26 epochs, 2\^25/));
    });
});

describe("the functions of require, before they are loaded", () => {
    /** Runs a program whose calls are all made before anything is loaded. @param {string} text @returns {any} what it prints, as JSON */
    function program(text) {
        const begin = `const s = require("sheaf");
            const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));
            const given = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
            const envelope = bytes(given.envelope);
            const expected = { epoch: given.epoch, message: bytes(given.message), publicKeys: given.keys.map(bytes) };
            const signature = { epoch: given.epoch, message: bytes(given.message), publicKey: bytes(given.keys[0]), signature: bytes(given.signature) };
            const done = (calls) => Promise.allSettled(calls).then((all) =>
                console.log(JSON.stringify(all.map((one) => (one.status === "fulfilled" ? one.value : one.reason.code ?? String(one.reason))))));\n`;
        const hex = (/** @type {Uint8Array} */ b) => Buffer.from(b).toString("hex");
        const { epoch, message, signatures } = list;
        const input = { envelope: hex(envelope), epoch, message: hex(message), keys: signatures.map((one) => hex(one.publicKey)), signature: hex(signatures[0].signature) };
        const ran = spawnSync(process.execPath, ["--input-type=commonjs", "-e", begin + text], { cwd: root, encoding: "utf8", timeout: 120000, input: JSON.stringify(input) });
        assert.equal(ran.status, 0, ran.stderr);
        return JSON.parse(ran.stdout);
    }

    test("see everything as it was when they were called", () => {
        const said = program(`
            const shared = new Uint8Array(new SharedArrayBuffer(envelope.length));
            shared.set(envelope);
            class Signature {
                #message = Uint8Array.from(signature.message);
                constructor() { this.epoch = signature.epoch; this.publicKey = signature.publicKey; this.signature = signature.signature; }
                get message() { return this.#message; }
                change() { this.#message.fill(0); this.epoch++; }
            }
            const one = new Signature(), item = { envelope, expected }, items = [item];
            const seed = new Uint8Array(32).fill(3), interval = { firstEpoch: 0, epochCount: 1, seed };
            const module = new WebAssembly.Module(require("node:fs").readFileSync("web/wasm/sheaf-verify.wasm"));
            const options = { wasm: { verifier: module } }, own = s.createSheaf(options);
            const calls = [
                s.verify(envelope, expected), s.verify(shared, expected), s.verify(new DataView(envelope.buffer), expected),
                s.verify(envelope.buffer, expected), s.verify(new Blob([envelope]), expected), s.verifyMany(items), own.verify(envelope, expected),
                s.verifySignature(signature), s.verifySignature(one), s.inspect(envelope).then((info) => info.accepted),
                s.formatKeys(expected.publicKeys).then((text) => given.keys.every((key) => Buffer.from(text).includes(key))),
                s.keygen(interval).then(({ publicKey }) => Buffer.from(publicKey).toString("hex")),
                s.keygen({ firstEpoch: 0, epochCount: 1, seed: new Uint8Array(32).fill(3) }).then(({ publicKey }) => Buffer.from(publicKey).toString("hex")),
            ];
            expected.epoch++;
            expected.message.fill(0);
            for (const key of expected.publicKeys) key.fill(0);
            expected.publicKeys.length = 0;
            one.change();
            signature.signature.fill(0);
            signature.epoch++;
            item.envelope = 5;
            items.length = 0;
            envelope.fill(0);
            shared.fill(0);
            seed.fill(0);
            interval.epochCount = 3;
            options.wasm.verifier = 5;
            done(calls);`);
        assert.deepEqual(said.slice(0, 11), [true, true, true, true, true, [true], true, true, true, true, true]);
        assert.equal(said[11], said[12]);
        assert.match(said[11], /^[0-9a-f]{64}$/);
    });
    test("mean the files of the directory that they were called in", () => {
        const folder = workFolder();
        fs.mkdirSync(path.join(folder, "elsewhere"));
        const said = program(`
            process.chdir(${JSON.stringify(folder)});
            const options = { file: "a.key", firstEpoch: 0, epochCount: 1 };
            const calls = [s.keygen(options).then(() => 1), s.keyStatus("none.key"), s.sign("none.key", { epoch: 0, message: expected.message })];
            process.chdir("elsewhere");
            require("node:fs").writeFileSync("none.key", "");
            done(calls);`);
        assert.deepEqual(said, [1, "IO", "IO"]);
        assert.deepEqual(fs.readdirSync(path.join(folder, "elsewhere")), ["none.key"]);
        assert.ok(fs.existsSync(path.join(folder, "a.key")));
    });
    test("refuse what is wrong as the other entry does", () => {
        const said = program(`
            const sparse = [...expected.publicKeys];
            delete sparse[0];
            const gone = Uint8Array.from(envelope);
            structuredClone(gone, { transfer: [gone.buffer] });
            const { epoch, ...rest } = expected;
            const ending = new AbortController();
            const calls = [
                s.verify(5, expected), s.verify(gone, expected), s.verify(envelope, { ...expected, publicKeys: sparse }),
                s.verify(envelope, Object.assign(Object.create({ epoch }), rest)), s.verify(envelope, { ...expected, more: 1 }),
                s.verify(envelope, { ...expected, publicKeys: Object.assign([], { length: 2 ** 32 - 1 }) }),
                s.verify(envelope, { get epoch() { throw new Error("thrown") } }), s.verify(),
                s.verify(envelope, expected, { signal: ending.signal }),
            ];
            ending.abort();
            done(calls);`);
        assert.deepEqual(said, [...Array(6).fill("INVALID_ARGUMENT"), "Error: thrown", "INVALID_ARGUMENT", "CANCELLED"]);
    });
});
