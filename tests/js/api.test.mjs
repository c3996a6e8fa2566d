/* The interface in Node: what it accepts, rejects and throws.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as sheaf from "sheaf";
import { changed, derive, envelopeOf, root, shake, signaturesOf } from "./support.mjs";

const { SheafError } = sheaf;
/** @param {string} code @param {RegExp} [message] @param {Record<string, unknown>} [fields] */
const failing = (code, message = /./, fields = {}) => (/** @type {any} */ error) => {
    assert.ok(error instanceof SheafError, `a SheafError, not ${error?.stack}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    for (const [name, value] of Object.entries(fields)) assert.equal(/** @type {any} */ (error)[name], value, name);
    return true;
};
const hex = (/** @type {Uint8Array} */ bytes) => `0x${Buffer.from(bytes).toString("hex")}`;
/* Of an envelope with 3 keys. */
const PROOF_AT = 60 + 3 * 32;

/** @type {Awaited<ReturnType<typeof signaturesOf>>} */
let list;
/** @type {Uint8Array} */
let envelope;
/** @type {Uint8Array[]} */
let keys;
/** @type {any} */
let expected;

before(async () => {
    list = await signaturesOf(3);
    envelope = await envelopeOf(list);
    keys = list.signatures.map((s) => s.publicKey);
    expected = { scheme: "leanXMSS", epoch: list.epoch, message: list.message, publicKeys: keys };
});
after(() => sheaf.close());

describe("verify", () => {
    test("accepts a good aggregate about what is expected", async () => {
        assert.equal(await sheaf.verify(envelope, expected), true);
    });
    test("accepts the keys in any order, joined, and in hex", async () => {
        assert.equal(await sheaf.verify(envelope, { ...expected, publicKeys: [...keys].reverse() }), true);
        assert.equal(await sheaf.verify(envelope, { ...expected, publicKeys: Buffer.concat(keys) }), true);
        assert.equal(await sheaf.verify(envelope, { ...expected, publicKeys: keys.map(hex), message: hex(list.message) }), true);
    });
    test("takes every kind of bytes and leaves them with the caller", async () => {
        const buffer = Uint8Array.from(envelope).buffer;
        const inside = new Uint8Array(envelope.length + 9).subarray(5, 5 + envelope.length);
        inside.set(envelope);
        for (const form of [buffer, Buffer.from(envelope), inside, new DataView(buffer), new Blob([envelope])])
            assert.equal(await sheaf.verify(/** @type {any} */ (form), expected), true);
        assert.equal(buffer.byteLength, envelope.length);
        assert.deepEqual(Uint8Array.from(inside), envelope);
    });
    test("takes shared memory", async () => {
        const shared = new Uint8Array(new SharedArrayBuffer(envelope.length));
        shared.set(envelope);
        assert.equal(await sheaf.verify(shared, expected), true);
    });
    test("sees the bytes as they were when it was called", async () => {
        const bytes = Uint8Array.from(envelope);
        const answer = sheaf.verify(bytes, expected);
        bytes.fill(0);
        assert.equal(await answer, true);
    });
    test("rejects a changed byte anywhere in the proof", async () => {
        for (const at of [PROOF_AT, PROOF_AT + 40, PROOF_AT + 5000, Math.floor(envelope.length / 2), -1])
            assert.equal(await sheaf.verify(changed(envelope, at), expected), false, `byte ${at}`);
    });
    test("rejects another statement", async () => {
        assert.equal(await sheaf.verify(envelope, { ...expected, epoch: list.epoch + 1 }), false);
        assert.equal(await sheaf.verify(envelope, { ...expected, message: shake("another") }), false);
        assert.equal(await sheaf.verify(envelope, { ...expected, publicKeys: keys.slice(1) }), false);
        assert.equal(await sheaf.verify(envelope, { ...expected, publicKeys: [...keys.slice(1), derive("other", 1)] }), false);
    });
    test("rejects a changed statement whose fields are left open", async () => {
        const open = { epoch: "any", message: "any", publicKeys: "any" };
        assert.equal(await sheaf.verify(envelope, /** @type {any} */ (open)), true);
        for (const at of [16, 30, 60, 100]) assert.equal(await sheaf.verify(changed(envelope, at), /** @type {any} */ (open)), false);
    });
    test("throws for what is no envelope", async () => {
        const broken = [
            [new Uint8Array(0), "MALFORMED", /magic/],
            [Buffer.from("<!DOCTYPE html>"), "MALFORMED", /magic/],
            [envelope.subarray(0, 30), "MALFORMED", /header/],
            [envelope.subarray(0, envelope.length - 1), "MALFORMED", /proof: cut short/],
            [Buffer.concat([envelope, Buffer.from([0])]), "MALFORMED", /1 bytes are left over/],
            [changed(envelope, 8), "UNSUPPORTED", /version/],
            [changed(changed(envelope, 10), 11), "UNSUPPORTED", /kind/],
        ];
        for (const [bytes, code, message] of /** @type {[Uint8Array, string, RegExp][]} */ (broken))
            await assert.rejects(sheaf.verify(bytes, expected), failing(code, message));
        const twice = Uint8Array.from(envelope);
        twice.copyWithin(56 + 64, 56, 56 + 32);
        await assert.rejects(sheaf.verify(twice, expected), failing("DUPLICATE_KEY", /public keys 0 and 2/, { index: 2 }));
    });
    test("throws for an envelope of the other scheme", async () => {
        await assert.rejects(sheaf.verify(envelope, { scheme: "hash", digests: "any" }), failing("MALFORMED"));
    });
    test("refuses a huge envelope before it reads it", async () => {
        const huge = new Uint8Array(2 ** 26);
        for (const form of [huge, huge.buffer, new Blob([huge])])
            await assert.rejects(sheaf.verify(form, expected), failing("MALFORMED", /the most/));
    });
    test("throws for wrong arguments", async () => {
        /** @type {[any, any, RegExp][]} */
        const wrong = [
            [envelope, undefined, /expected: not an object/],
            [envelope, {}, /expected.epoch: missing/],
            [envelope, { ...expected, publicKeys: undefined }, /expected.publicKeys: missing \(say "any"/],
            [envelope, { ...expected, message: null }, /expected.message: missing/],
            [envelope, { ...expected, keys }, /expected: keys is not known/],
            [envelope, { ...expected, scheme: "rsa" }, /scheme: rsa is not known/],
            [envelope, { ...expected, epoch: -1 }, /epoch: -1 is not an integer/],
            [envelope, { ...expected, epoch: 1.5 }, /epoch/],
            [envelope, { ...expected, epoch: "5" }, /epoch/],
            [envelope, { ...expected, epoch: 2 ** 32 }, /epoch/],
            [envelope, { ...expected, message: new Uint8Array(31) }, /message: 31 bytes, 32 are needed/],
            [envelope, { ...expected, message: "12" }, /message: does not begin with 0x/],
            [envelope, { ...expected, message: "0xzz" }, /message: not hex digits/],
            [envelope, { ...expected, publicKeys: [] }, /publicKeys: 0 entries/],
            [envelope, { ...expected, publicKeys: [keys[0], 7] }, /publicKeys\[1\]: not bytes/],
            [envelope, { ...expected, publicKeys: new Uint8Array(33) }, /no whole number/],
            [envelope, { ...expected, publicKeys: [keys[0], keys[1], keys[0]] }, /expected keys 0 and 2 are the same/],
            ["0x00", expected, /envelope: not bytes/],
            [null, expected, /envelope: not bytes/],
        ];
        for (const [bytes, what, message] of wrong) await assert.rejects(sheaf.verify(bytes, what), failing("INVALID_ARGUMENT", message));
        await assert.rejects(sheaf.verify(envelope, expected, /** @type {any} */ ({ sig: 1 })), failing("INVALID_ARGUMENT", /sig is not an option/));
        await assert.rejects(sheaf.verify(envelope, expected, /** @type {any} */ ({ signal: 1 })), failing("INVALID_ARGUMENT", /AbortSignal/));
    });
    test("is cancelled before it starts and while it waits", async () => {
        const reason = new Error("enough");
        await assert.rejects(sheaf.verify(envelope, expected, { signal: AbortSignal.abort(reason) }), failing("CANCELLED", /./, { cause: reason }));
        const stop = new AbortController();
        const answers = [1, 2, 3, 4, 5, 6].map(() => sheaf.verify(envelope, expected, { signal: stop.signal }));
        stop.abort();
        for (const answer of await Promise.allSettled(answers)) failing("CANCELLED")(/** @type {any} */ (answer).reason);
        assert.equal(await sheaf.verify(envelope, expected), true);
    });
});

describe("verifyMany", () => {
    test("answers in order and reports", async () => {
        const bad = changed(envelope, -1);
        /** @type {number[]} */
        const seen = [];
        const items = [envelope, bad, envelope, envelope, bad].map((e) => ({ envelope: e, expected }));
        const results = await sheaf.verifyMany(items, { onProgress: (f) => seen.push(f) });
        assert.deepEqual(results, [true, false, true, true, false]);
        assert.equal(seen.length, 5);
        assert.equal(seen[4], 1);
    });
    test("says which one is malformed", async () => {
        const items = [envelope, new Uint8Array(3)].map((e) => ({ envelope: e, expected }));
        await assert.rejects(sheaf.verifyMany(items), failing("MALFORMED", /^items\[1\]: magic/, { index: 1 }));
    });
    test("answers nothing for nothing, and wants an array", async () => {
        assert.deepEqual(await sheaf.verifyMany([]), []);
        await assert.rejects(sheaf.verifyMany(/** @type {any} */ (envelope)), failing("INVALID_ARGUMENT"));
    });
    test("is cancelled", async () => {
        const stop = new AbortController();
        const items = Array.from({ length: 40 }, () => ({ envelope, expected }));
        const answer = sheaf.verifyMany(items, { signal: stop.signal, onProgress: () => stop.abort() });
        await assert.rejects(answer, failing("CANCELLED"));
    });
});

describe("inspect", () => {
    test("tells what an aggregate says and is made of", async () => {
        const info = await sheaf.inspect(envelope);
        assert.equal(info.scheme, "leanXMSS");
        assert.equal(info.count, 3);
        assert.equal(info.epoch, list.epoch);
        assert.deepEqual(Buffer.from(/** @type {Uint8Array} */ (info.message)), Buffer.from(list.message));
        assert.deepEqual(info.publicKeys.map(hex), keys.map(hex));
        assert.deepEqual(info.digests, []);
        assert.equal(info.accepted, true);
        assert.deepEqual([info.check, info.index, info.reason], [null, null, null]);
        assert.equal(info.envelopeBytes, envelope.length);
        assert.equal(info.statementBytes + info.proofBytes, info.envelopeBytes);
        assert.equal(Object.values(info.parts).reduce((a, b) => a + b, 0), info.proofBytes);
        assert.ok(info.securityBits >= 128);
        assert.ok(info.levels.length > 0 && info.levels.every((l) => l.queries > 0));
        assert.ok(info.milliseconds > 0);
    });
    test("says what failed in a forged proof", async () => {
        const info = await sheaf.inspect(changed(envelope, -1));
        assert.equal(info.accepted, false);
        assert.match(String(info.check), /^[a-z_]+$/);
        assert.ok(String(info.reason).length > 5);
    });
    test("compares with what is expected", async () => {
        const info = await sheaf.inspect(envelope, { expected: { ...expected, publicKeys: keys.slice(1) } });
        assert.equal(info.accepted, false);
        assert.equal(info.check, "statement");
        assert.equal((await sheaf.inspect(envelope, { expected })).accepted, true);
        await assert.rejects(sheaf.inspect(envelope, { expected: { scheme: "hash", digests: "any" } }), failing("MALFORMED"));
    });
    test("throws for what is no envelope", async () => {
        await assert.rejects(sheaf.inspect(new Uint8Array(100)), failing("MALFORMED", /magic/));
    });
    test("returns bytes that are copies", async () => {
        const info = await sheaf.inspect(envelope);
        info.publicKeys[0].fill(0);
        /** @type {Uint8Array} */ (info.message).fill(0);
        assert.equal(await sheaf.verify(envelope, expected), true);
        assert.equal(info.publicKeys[1].byteOffset, 0);
        assert.equal(info.publicKeys[1].buffer.byteLength, 32);
    });
});

describe("single signatures", () => {
    const one = () => ({ epoch: list.epoch, message: list.message, ...list.signatures[0] });
    test("verify, also in hex", async () => {
        assert.equal(await sheaf.verifySignature(one()), true);
        const s = one();
        assert.equal(await sheaf.verifySignature({ ...s, publicKey: hex(s.publicKey), signature: hex(s.signature) }), true);
    });
    test("are rejected when anything is changed", async () => {
        const s = one();
        assert.equal(await sheaf.verifySignature({ ...s, signature: changed(s.signature, 100) }), false);
        assert.equal(await sheaf.verifySignature({ ...s, epoch: s.epoch + 1 }), false);
        assert.equal(await sheaf.verifySignature({ ...s, message: shake("x") }), false);
        assert.equal(await sheaf.verifySignature({ ...s, publicKey: keys[1] }), false);
    });
    test("throw when they are none", async () => {
        await assert.rejects(sheaf.verifySignature({ ...one(), signature: new Uint8Array(10) }), failing("INVALID_ARGUMENT", /1208 are needed/));
        await assert.rejects(sheaf.verifySignature(/** @type {any} */ (7)), failing("INVALID_ARGUMENT"));
    });
});

describe("keys as bytes", () => {
    test("are made and sign", async () => {
        const made = await sheaf.keygen({ firstEpoch: 8, epochCount: 4 });
        assert.equal(made.publicKey.length, 32);
        assert.equal(Buffer.from(made.key.subarray(0, 8)).toString(), "SHEAFKEY");
        const message = shake("to sign");
        const signed = await sheaf.sign(made.key, { epoch: 9, message });
        assert.equal(await sheaf.verifySignature(signed), true);
        assert.deepEqual((await sheaf.sign(made.key, { epoch: 9, message })).signature, signed.signature);
    });
    test("come from a seed the same each time, and otherwise not", async () => {
        const seed = derive("seed", 1);
        const ask = { firstEpoch: 0, epochCount: 2, seed };
        assert.deepEqual((await sheaf.keygen(ask)).key, (await sheaf.keygen(ask)).key);
        const free = { firstEpoch: 0, epochCount: 2 };
        assert.notDeepEqual((await sheaf.keygen(free)).publicKey, (await sheaf.keygen(free)).publicKey);
        assert.deepEqual(seed, derive("seed", 1));
    });
    test("sign one message an epoch, as far as this process remembers", async () => {
        const { key } = await sheaf.keygen({ firstEpoch: 0, epochCount: 2 });
        await sheaf.sign(key, { epoch: 0, message: shake("one") });
        await assert.rejects(sheaf.sign(key, { epoch: 0, message: shake("two") }), failing("EPOCH_USED"));
        await assert.rejects(sheaf.createSheaf().sign(key, { epoch: 0, message: shake("two") }), failing("EPOCH_USED"));
        const race = await Promise.allSettled(["three", "four"].map((m) => sheaf.sign(key, { epoch: 1, message: shake(m) })));
        assert.deepEqual(race.map((r) => r.status).sort(), ["fulfilled", "rejected"]);
    });
    test("sign one message an epoch beside a damaged copy that fails", async () => {
        const { key } = await sheaf.keygen({ firstEpoch: 0, epochCount: 4 });
        const bad = changed(key, 100);
        for (const [epoch, first, second] of /** @type {[number, Uint8Array, Uint8Array][]} */ ([[3, bad, key], [2, key, bad]])) {
            const both = await Promise.allSettled([first, second].map((k) => sheaf.sign(k, { epoch, message: shake("one") })));
            assert.deepEqual(both.map((r) => r.status === "fulfilled"), [first === key, second === key]);
            await assert.rejects(sheaf.sign(key, { epoch, message: shake("two") }), failing("EPOCH_USED"));
        }
    });
    test("use no epoch up where every copy fails", async () => {
        const { key } = await sheaf.keygen({ firstEpoch: 0, epochCount: 1 });
        const bad = changed(key, 100);
        const both = await Promise.allSettled([bad, bad].map((k) => sheaf.sign(k, { epoch: 0, message: shake("one") })));
        for (const result of both) failing("MALFORMED")(/** @type {any} */ (result).reason);
        assert.equal(await sheaf.verifySignature(await sheaf.sign(key, { epoch: 0, message: shake("two") })), true);
    });
    test("are refused when wrong", async () => {
        const { key } = await sheaf.keygen({ firstEpoch: 4, epochCount: 4 });
        await assert.rejects(sheaf.sign(key, { epoch: 3, message: shake("m") }), failing("EPOCH_RANGE"));
        await assert.rejects(sheaf.sign(changed(key, 30), { epoch: 4, message: shake("m") }), failing("MALFORMED"));
        await assert.rejects(sheaf.sign(new Uint8Array(5), { epoch: 4, message: shake("m") }), failing("MALFORMED"));
        await assert.rejects(sheaf.keygen({ firstEpoch: 4, epochCount: 3 }), failing("EPOCH_RANGE", /4:4/));
        await assert.rejects(sheaf.keygen({ firstEpoch: 2, epochCount: 4 }), failing("EPOCH_RANGE", /0:4/));
        await assert.rejects(sheaf.keygen({ firstEpoch: 0, epochCount: 0 }), failing("INVALID_ARGUMENT", /epochCount/));
        await assert.rejects(sheaf.keygen(/** @type {any} */ ({ firstEpoch: 0, epochs: 1 })), failing("INVALID_ARGUMENT", /epochs is not an option/));
    });
    test("of too many epochs are refused with numbers", async () => {
        await assert.rejects(sheaf.keygen({ firstEpoch: 0, epochCount: 2 ** 32 }), (/** @type {any} */ error) => {
            failing("OUT_OF_MEMORY", /MiB/)(error);
            return error.needed > error.available;
        });
    });
    test("that are given up at once leave no worker, and the process ends", () => {
        const text = `import { keygen } from "sheaf";
            const stop = new AbortController();
            const first = keygen({ firstEpoch: 0, epochCount: 16, signal: stop.signal }).catch((error) => error.code);
            stop.abort();
            await keygen({ firstEpoch: 0, epochCount: 16 });
            console.log(await first);`;
        const done = spawnSync(process.execPath, ["--input-type=module", "-e", text], { cwd: root, encoding: "utf8", timeout: 60000 });
        assert.deepEqual([done.status, done.signal, done.stdout], [0, null, "CANCELLED\n"], done.stderr);
    });
    test("are made on several threads, and stopped", async () => {
        /** @type {[number, string][]} */
        const seen = [];
        const ask = { firstEpoch: 0, epochCount: 64, seed: derive("seed", 2) };
        const alone = await sheaf.keygen({ ...ask, threads: 1 });
        const made = await sheaf.keygen({ ...ask, threads: 2, onProgress: (f, s) => seen.push([f, s]) });
        assert.deepEqual(made.key, alone.key);
        assert.ok(seen.length > 0 && seen.every(([f, s]) => f >= 0 && f <= 1 && s.length > 0));
        const stop = new AbortController();
        const long = { firstEpoch: 0, epochCount: 2 ** 20, threads: 1, signal: stop.signal, onProgress: () => stop.abort() };
        await assert.rejects(sheaf.keygen(long), failing("CANCELLED"));
    });
});

describe("provers", () => {
    const messages = Array.from({ length: 4 }, (_, i) => derive("preimage", i, 128));
    const digests = messages.map((m) => shake(m));
    /** @type {sheaf.Prover} */
    let prover;
    before(async () => {
        prover = await sheaf.createProver({ threads: 1 });
    });
    after(() => prover.dispose());

    test("prove a batch that verifies", async () => {
        /** @type {[number, string][]} */
        const seen = [];
        const batch = await prover.proveHashBatch(messages, { onProgress: (f, s) => seen.push([f, s]) });
        assert.equal(await sheaf.verify(batch, { scheme: "hash", digests }), true);
        assert.equal(await sheaf.verify(batch, { scheme: "hash", digests: "any" }), true);
        assert.equal(await sheaf.verify(batch, { scheme: "hash", digests: [...digests].reverse() }), false);
        assert.equal(await sheaf.verify(changed(batch, -1), { scheme: "hash", digests }), false);
        assert.ok(seen.length > 1);
        assert.ok(seen.every(([f], i) => f >= 0 && f <= 1 && (i === 0 || f >= seen[i - 1][0])), "progress goes forward");
        const info = await sheaf.inspect(batch);
        assert.deepEqual([info.scheme, info.count, info.epoch, info.message], ["hash", 4, null, null]);
        assert.deepEqual(info.digests.map(hex), digests.map(hex));
    });
    test("say what they are", () => {
        assert.equal(prover.threads, 1);
        assert.equal(prover.engine, "WebAssembly");
        assert.match(prover.kernels, /simd128|portable/);
        assert.equal(prover.notice, null);
    });
    test("refuse what is wrong before they prove", async () => {
        const bad = structuredClone(list);
        bad.signatures[1].signature[50] ^= 1;
        await assert.rejects(prover.aggregate(bad), failing("BAD_SIGNATURE", /signature 1 does not verify/, { index: 1 }));
        const twice = { ...list, signatures: [...list.signatures, list.signatures[1]] };
        await assert.rejects(prover.aggregate(twice), failing("DUPLICATE_KEY", /1 and 3/, { index: 3 }));
        await assert.rejects(prover.aggregate({ ...list, signatures: [] }), failing("INVALID_ARGUMENT", /0 entries/));
        await assert.rejects(prover.aggregate(list, { logInvRate: 7 }), failing("INVALID_ARGUMENT", /logInvRate/));
        const single = list.signatures.map((s, i) => ({ ...s, epoch: list.epoch + i, message: list.message }));
        await assert.rejects(prover.aggregate(single), failing("INVALID_ARGUMENT", /signatures\[1\]: for epoch 6/, { index: 1 }));
        await assert.rejects(prover.proveHashBatch([new Uint8Array(127)]), failing("INVALID_ARGUMENT", /messages\[0\]: 127 bytes/));
    });
    test("say in advance what a proof takes", async () => {
        const small = await prover.memory({ signers: 16 });
        const large = await prover.memory({ signers: 1024 });
        assert.equal(small.fits, true);
        assert.ok(small.needed < large.needed);
        assert.ok(small.available <= 2 ** 32);
        await assert.rejects(prover.memory({}), failing("INVALID_ARGUMENT"));
    });
    test("refuse with numbers what does not fit", async () => {
        const narrow = await sheaf.createProver({ threads: 1, maxMemory: 40 * 2 ** 20 });
        try {
            const need = await narrow.memory({ hashes: 2 ** 18 });
            assert.equal(need.fits, false);
            let begun = false;
            await assert.rejects(narrow.proveHashBatch(new Uint8Array(128 * 2 ** 18), { onProgress: () => (begun = true) }), (/** @type {any} */ error) => {
                failing("OUT_OF_MEMORY", /MiB of memory, 40 MiB can be had/)(error);
                return error.needed > error.available && error.available === 40 * 2 ** 20;
            });
            assert.equal(begun, false, "before it starts");
            assert.equal(await sheaf.verify(await narrow.proveHashBatch(messages), { scheme: "hash", digests }), true);
        } finally {
            await narrow.dispose();
        }
    });
    test("are cancelled in the middle and prove again", async () => {
        const stop = new AbortController();
        const reason = new Error("enough");
        const many = new Uint8Array(128 * 4096);
        const answer = prover.proveHashBatch(many, { signal: stop.signal, onProgress: () => stop.abort(reason) });
        await assert.rejects(answer, failing("CANCELLED", /./, { cause: reason }));
        assert.equal(await sheaf.verify(await prover.proveHashBatch(messages), { scheme: "hash", digests }), true);
    });
    test("end a call whose callback throws, with what it threw", async () => {
        const mine = new Error("mine");
        const answer = prover.proveHashBatch(messages, {
            onProgress() {
                throw mine;
            },
        });
        await assert.rejects(answer, (error) => error === mine);
        assert.equal(await sheaf.verify(await prover.proveHashBatch(messages), { scheme: "hash", digests }), true);
    });
    test("take calls one after the other", async () => {
        const [a, b] = await Promise.all([prover.proveHashBatch(messages), prover.proveHashBatch(messages.slice(1))]);
        assert.equal(await sheaf.verify(a, { scheme: "hash", digests }), true);
        assert.equal(await sheaf.verify(b, { scheme: "hash", digests: digests.slice(1) }), true);
    });
    test("make the same bytes on several threads", async () => {
        const several = await sheaf.createProver({ threads: 2 });
        try {
            assert.equal(several.threads, 2);
            assert.deepEqual(await several.proveHashBatch(messages), await prover.proveHashBatch(messages));
            const stop = new AbortController();
            const answer = several.proveHashBatch(new Uint8Array(128 * 4096), { signal: stop.signal, onProgress: () => stop.abort() });
            await assert.rejects(answer, failing("CANCELLED"));
            assert.deepEqual(await several.proveHashBatch(messages), await prover.proveHashBatch(messages));
        } finally {
            await several.dispose();
        }
    });
    test("answer nothing after dispose", async () => {
        const gone = await sheaf.createProver({ threads: 1 });
        const running = gone.proveHashBatch(messages);
        await gone.dispose();
        await gone.dispose();
        await assert.rejects(running, failing("DISPOSED"));
        await assert.rejects(gone.proveHashBatch(messages), failing("DISPOSED"));
    });
    test("are not made from wrong options", async () => {
        for (const threads of [0, 1.5, "2", 65]) await assert.rejects(sheaf.createProver(/** @type {any} */ ({ threads })), failing("INVALID_ARGUMENT", /threads/));
        await assert.rejects(sheaf.createProver({ maxMemory: -1 }), failing("INVALID_ARGUMENT", /maxMemory/));
        await assert.rejects(sheaf.createProver(/** @type {any} */ ({ thread: 1 })), failing("INVALID_ARGUMENT", /thread is not an option/));
        await assert.rejects(sheaf.createProver({ signal: AbortSignal.abort() }), failing("CANCELLED"));
    });
});

describe("WebAssembly", () => {
    const file = path.join(root, "web", "wasm", "sheaf-verify.wasm");
    const bytes = fs.readFileSync(file);
    /** @type {http.Server} */
    let server;
    let origin = "";
    before(async () => {
        server = http.createServer((request, response) => {
            if (request.url === "/good.wasm") response.setHeader("Content-Type", "application/wasm").end(bytes);
            else if (request.url === "/typeless.wasm") response.end(bytes);
            else if (request.url === "/missing.wasm") response.writeHead(404, { "Content-Type": "text/html" }).end("<h1>none</h1>");
            else response.setHeader("Content-Type", "text/html").end("<!DOCTYPE html><title>an app</title>");
        });
        await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
        origin = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
    });
    after(() => server.close());

    /** @param {any} wasm */
    const verifyBy = async (wasm) => {
        const own = sheaf.createSheaf({ wasm });
        try {
            return await own.verify(envelope, expected);
        } finally {
            await own.close();
        }
    };
    test("comes as bytes, an address, a Response, a module", async () => {
        assert.equal(await verifyBy(Uint8Array.from(bytes)), true);
        assert.equal(await verifyBy(Uint8Array.from(bytes).buffer), true);
        assert.equal(await verifyBy({ verifier: bytes }), true);
        assert.equal(await verifyBy(`${origin}/good.wasm`), true);
        assert.equal(await verifyBy(`${origin}/typeless.wasm`), true);
        assert.equal(await verifyBy(pathToFileURL(file)), true);
        assert.equal(await verifyBy(await WebAssembly.compile(bytes)), true);
        assert.equal(await verifyBy(await fetch(`${origin}/good.wasm`)), true);
    });
    test("is not what a server answers with HTML, and the address is named", async () => {
        const url = `${origin}/app/sheaf.wasm`;
        for (const source of [url, new URL(url), await fetch(url)])
            await assert.rejects(verifyBy(source), failing("LOAD", /app\/sheaf\.wasm answered with HTML .*text\/html/, { url }));
        const missing = `${origin}/missing.wasm`;
        await assert.rejects(verifyBy(missing), failing("LOAD", /status 404/, { url: missing }));
        await assert.rejects(verifyBy("http://127.0.0.1:9/none.wasm"), failing("LOAD", /could not be fetched/));
        await assert.rejects(verifyBy(pathToFileURL("/nowhere/none.wasm")), failing("LOAD", /none\.wasm could not be read/));
    });
    test("is checked by its first bytes, and by the engine", async () => {
        await assert.rejects(verifyBy(Buffer.from("<!doctype html>....")), failing("LOAD", /are HTML/));
        await assert.rejects(verifyBy(new Uint8Array(0)), failing("LOAD", /are nothing/));
        await assert.rejects(verifyBy(bytes.subarray(0, 1000)), failing("LOAD", /was not compiled/));
        await assert.rejects(verifyBy(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])), failing("LOAD", /./));
        await assert.rejects(verifyBy(7), failing("INVALID_ARGUMENT", /wasm/));
        await assert.rejects(verifyBy(null), failing("INVALID_ARGUMENT", /wasm/));
        assert.throws(() => sheaf.createSheaf(/** @type {any} */ ({ wasm: { checker: bytes } })), failing("INVALID_ARGUMENT", /checker/));
    });
    test("that failed to load is asked for again by the next call", async () => {
        let answers = 0;
        const flaky = http.createServer((_, response) => {
            if (answers++ === 0) response.writeHead(503).end();
            else response.end(bytes);
        });
        await new Promise((resolve) => flaky.listen(0, "127.0.0.1", () => resolve(undefined)));
        const own = sheaf.createSheaf({ wasm: `http://127.0.0.1:${/** @type {any} */ (flaky.address()).port}/x.wasm` });
        try {
            await assert.rejects(own.verify(envelope, expected), failing("LOAD", /503/));
            assert.equal(await own.verify(envelope, expected), true);
        } finally {
            await own.close();
            flaky.close();
        }
    });
    test("of a prover can be given too", async () => {
        const wasm = fs.readFileSync(path.join(root, "web", "wasm", "sheaf.wasm"));
        const prover = await sheaf.createProver({ threads: 1, wasm });
        const batch = await prover.proveHashBatch([new Uint8Array(128)]);
        await prover.dispose();
        assert.equal(await sheaf.verify(batch, { scheme: "hash", digests: [shake(new Uint8Array(128))] }), true);
    });
});

describe("the package", () => {
    /** Runs a program; what it wrote. @param {string} text @param {string[]} [args] */
    const program = (text, args = ["--input-type=module"]) => {
        const done = spawnSync(process.execPath, [...args, "-e", text], { cwd: root, encoding: "utf8", timeout: 120000 });
        assert.equal(done.status, 0, done.stderr);
        return done.stdout.trim();
    };
    test("does nothing when it is imported", () => {
        const text = `const state = () => JSON.stringify([
                Object.getOwnPropertyNames(globalThis), process.eventNames().map(String),
                process.getActiveResourcesInfo(), process.env]);
            const before = state();
            await import("sheaf");
            await new Promise((resolve) => setTimeout(resolve, 50)); // the loader's own requests end
            console.log(state() === before);`;
        assert.equal(program(text), "true");
    });
    test("keeps no process alive", () => {
        const text = `import * as sheaf from "sheaf";
            const prover = await sheaf.createProver({ threads: 2 });
            const batch = await prover.proveHashBatch([new Uint8Array(128)]);
            console.log(await sheaf.verify(batch, { scheme: "hash", digests: "any" }));`;
        assert.equal(program(text), "true");
    });
    test("keeps the process for as long as it is waited for", () => {
        const text = `import("sheaf").then(async (s) => console.log(await s.verifySignature({
            epoch: 0, message: new Uint8Array(32), publicKey: new Uint8Array(32), signature: new Uint8Array(1208) })));`;
        assert.equal(program(text), "false");
    });
    test("has the same functions for require", async () => {
        const cjs = createRequire(import.meta.url)("sheaf");
        assert.deepEqual(Object.keys(cjs).sort(), Object.keys(sheaf).sort());
        assert.equal(await cjs.verify(envelope, expected), true);
        await assert.rejects(cjs.verify(envelope, {}), (error) => error instanceof cjs.SheafError && error instanceof SheafError);
        assert.ok(new cjs.SheafError("IO", "x") instanceof SheafError);
        const own = cjs.createSheaf();
        assert.equal(await own.verify(envelope, expected), true);
        await own.close();
        await assert.rejects(cjs.createSheaf({ wrong: 1 }).verify(envelope, expected), failing("INVALID_ARGUMENT", /wrong/));
        assert.deepEqual((await cjs.parseKeys(await cjs.formatKeys(keys))).map(hex), keys.map(hex));
    });
    test("works in a worker", () => {
        const text = `import { Worker } from "node:worker_threads";
            const code = \`import("sheaf").then(async (s) => {
                const p = await s.createProver({ threads: 2 });
                const b = await p.proveHashBatch([new Uint8Array(128)]);
                (await import("node:worker_threads")).parentPort.postMessage(await s.verify(b, { scheme: "hash", digests: "any" }));
            })\`;
            new Worker(code, { eval: true }).on("message", (m) => console.log(m));`;
        assert.equal(program(text), "true");
    });
    test("an error is no instance when it is something else", () => {
        for (const other of [null, undefined, 1, "x", new Error("x"), { code: "IO" }]) assert.equal(/** @type {any} */ (other) instanceof SheafError, false);
    });
});
