/* The modules' flat interface (src/wasm_simd/abi.h), each module and each variant.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     SHEAF_MODULES=build/wasm/modules node tests/wasm/abi.mjs [PART-OF-A-NAME] */
import assert from "node:assert/strict";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const modules = path.resolve(process.env.SHEAF_MODULES ?? path.join(root, "build/wasm/modules"));

/* ---- a few lines of harness ---- */

const tests = [];
const test = (name, run) => tests.push({ name, run });

async function runAll(filter) {
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    for (const { name, run } of tests) {
        if (filter && !name.includes(filter)) continue;
        try {
            const reason = await run();
            if (typeof reason === "string") {
                skipped++;
                console.log(`SKIP abi: ${name}: ${reason}`);
            } else {
                passed++;
            }
        } catch (error) {
            failed++;
            console.log(`FAIL abi: ${name}\n${error.stack ?? error}`);
        }
    }
    console.log(`abi: ${passed} passed, ${failed} failed, ${skipped} skipped`);
    process.exitCode = failed > 0 || passed + skipped === 0 ? 1 : 0;
}

/* ---- a module, with the little that these tests need ---- */

const OK = 0;
const REJECTED = 1;
const MALFORMED = 2;
const INVALID_ARGUMENT = 3;
const CANCELLED = 5;
const BAD_SIGNATURE = 9;
const DUPLICATE_KEY = 10;
const EPOCH_RANGE = 11;
const UNSUPPORTED = 12;
const HASH = 2;
const AGGREGATE = 1;

class Module {
    static async load(name, variant = "", options = {}) {
        const { default: create } = await import(pathToFileURL(path.join(modules, `${name}.mjs`)));
        const wasmBinary = fs.readFileSync(path.join(modules, `${name}${variant}.wasm`));
        const self = new Module();
        self.progress = null;
        self.m = await create({
            wasmBinary,
            sheafWorkers: 1,
            sheafProgress: (fraction, stage) => (self.progress ? self.progress(fraction, stage) : false),
            ...options,
        });
        self.result = self.alloc(224);
        self.threads = self.m._sheaf_wasm_has_threads() ? 2 : 1;
        return self;
    }
    get bytes() {
        return new Uint8Array(this.m.wasmMemory.buffer);
    }
    u32(at) {
        return new DataView(this.m.wasmMemory.buffer).getUint32(at, true);
    }
    alloc(length) {
        const at = this.m._sheaf_wasm_alloc(length) >>> 0;
        assert.notEqual(at, 0);
        assert.equal(at % 8, 0);
        return at;
    }
    put(data) {
        const at = this.alloc(Math.max(data.length, 1));
        this.bytes.set(data, at);
        return at;
    }
    copy(at, length) {
        return Buffer.from(this.bytes.slice(at, at + length));
    }
    text(at) {
        at >>>= 0;
        return this.copy(at, this.bytes.indexOf(0, at) - at).toString();
    }
    get status() {
        return this.u32(this.result);
    }
    get check() {
        return this.text(this.m._sheaf_wasm_check_name(this.u32(this.result + 4)));
    }
    get index() {
        return this.u32(this.result + 8);
    }
    get message() {
        return this.text(this.result + 32);
    }
    /* The last call's output, whose place in the module is given back. */
    output() {
        const [at, length] = [this.u32(this.result + 12), this.u32(this.result + 16)];
        const out = this.copy(at, length);
        this.m._sheaf_wasm_free(at);
        return out;
    }
    /* Calls with inputs laid in memory for the time. */
    with(inputs, run) {
        const at = inputs.map((data) => (data === null ? 0 : this.put(data)));
        try {
            return run(...at);
        } finally {
            for (const p of at) this.m._sheaf_wasm_free(p);
        }
    }
    verify(envelope, kind, { epoch = null, message = null, items = null } = {}) {
        return this.with([envelope, message, items], (e, m, i) => {
            const n = items === null ? 0 : items.length / 32;
            const hasEpoch = epoch === null ? 0 : 1;
            return this.m._sheaf_wasm_verify(this.result, e, envelope.length, kind, hasEpoch, epoch ?? 0, m, i, n);
        });
    }
    parse(envelope) {
        const st = this.alloc(32);
        const status = this.with([envelope], (e) => this.m._sheaf_wasm_parse(this.result, st, e, envelope.length));
        const words = Array.from({ length: 8 }, (_, i) => this.u32(st + 4 * i));
        this.m._sheaf_wasm_free(st);
        return { status, words };
    }
    prover(threads = this.threads) {
        assert.equal(this.m._sheaf_wasm_prover_create(this.result, threads), OK, this.message);
        return this.u32(this.result + 12);
    }
    proveHashes(prover, preimages, rate = 0) {
        this.with([preimages], (p) =>
            this.m._sheaf_wasm_prove_hash_batch(this.result, prover, rate, p, preimages.length / 128),
        );
        return this.status;
    }
    aggregate(prover, { epoch, message, entries }, rate = 0) {
        this.with([message, Buffer.concat(entries)], (m, e) =>
            this.m._sheaf_wasm_aggregate(this.result, prover, rate, epoch, m, e, entries.length),
        );
        return this.status;
    }
    keygen(seed, first, logCount, prover = 0) {
        this.with([seed], (s) => this.m._sheaf_wasm_keygen(this.result, prover, s, first, logCount));
        return this.status;
    }
    /* Opens a key for the time of a function. */
    withKey(bytes, run) {
        const info = this.alloc(40);
        const status = this.with([bytes], (b) => this.m._sheaf_wasm_key_open(this.result, info, b, bytes.length));
        const key = this.u32(this.result + 12);
        const read = { first: this.u32(info), logCount: this.u32(info + 4), publicKey: this.copy(info + 8, 32) };
        this.m._sheaf_wasm_free(info);
        if (status !== OK) return { status, ...read };
        try {
            return run(key, read);
        } finally {
            this.m._sheaf_wasm_key_close(key);
        }
    }
    sign(key, epoch, message) {
        const out = this.alloc(1208);
        const status = this.with([message], (m) => this.m._sheaf_wasm_sign(this.result, out, key, epoch, m));
        const signature = this.copy(out, 1208);
        this.m._sheaf_wasm_free(out);
        return { status, signature, trial: this.u32(this.result + 20) };
    }
    close() {
        if (this.threads > 1) this.m.PThread.terminateAllThreads();
    }
}

const shake = (data, length = 32) => crypto.createHash("shake256", { outputLength: length }).update(data).digest();

/* As tests/unit/test_golden.c derives its inputs. */
function derive(label, i, length) {
    const number = Buffer.alloc(8);
    number.writeUInt32LE(i);
    return shake(Buffer.concat([Buffer.from(label), number]), length);
}
const preimages = (n) => Buffer.concat(Array.from({ length: n }, (_, i) => derive("sheaf golden hash", i, 128)));
const golden = fs
    .readFileSync(path.join(root, "tests/vectors/golden.txt"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "))
    .map(([kind, n, rate, length, digest]) => ({ kind, n: +n, rate: +rate, length: +length, digest }));
const EPOCH = 12345;
const MESSAGE = shake("sheaf golden statement");

function checkGolden(envelope, line) {
    const proof = envelope.subarray(60 + 32 * line.n);
    assert.equal(proof.length, line.length);
    assert.equal(shake(proof).toString("hex"), line.digest);
}

function signedEntries(m, n) {
    return Array.from({ length: n }, (_, i) => {
        assert.equal(m.keygen(derive("sheaf golden key", i, 32), EPOCH, 0), OK);
        return m.withKey(m.output(), (key, { publicKey }) => {
            const { status, signature } = m.sign(key, EPOCH, MESSAGE);
            assert.equal(status, OK);
            return Buffer.concat([publicKey, signature]);
        });
    });
}

/* ---- variants ---- */

/* i8x16.relaxed_swizzle of two constants, dropped. */
const zeros = [0xfd, 0x0c, ...new Array(16).fill(0)];
const body = [0, ...zeros, ...zeros, 0xfd, 0x80, 0x02, 0x1a, 0x0b];
const probe = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0];
probe.push(0x0a, body.length + 2, 1, body.length, ...body);
const hasRelaxed = WebAssembly.validate(new Uint8Array(probe));

/* Every prover, with an aggregate that one of them made once, for all that only look at one. */
const variants = ["", "-relaxed"];
let sample;
async function samples() {
    if (sample) return sample;
    const m = await Module.load("sheaf", hasRelaxed ? "-relaxed" : "");
    const prover = m.prover();
    assert.equal(m.proveHashes(prover, preimages(5), 1), OK, m.message);
    const hashes = m.output();
    const entries = signedEntries(m, 1);
    assert.equal(m.aggregate(prover, { epoch: EPOCH, message: MESSAGE, entries }), OK, m.message);
    sample = { hashes, aggregate: m.output(), entries };
    m.m._sheaf_wasm_prover_destroy(prover);
    return sample;
}

const header = fs.readFileSync(path.join(root, "src/wasm_simd/abi.h"), "utf8");
const declared = [...header.matchAll(/^[a-z].*?[ *](sheaf_wasm_\w+)\(/gm)].map((found) => found[1]);
const provingSide = declared.slice(declared.indexOf("sheaf_wasm_prove_bytes"));

for (const name of ["sheaf-verify", "sheaf", "sheaf-threads"]) {
    test(`${name} exports what the header declares`, async () => {
        assert.ok(declared.length > 25 && provingSide.length > 10);
        const m = await Module.load(name);
        for (const f of declared) {
            const there = name !== "sheaf-verify" || !provingSide.includes(f);
            assert.equal(typeof m.m[`_${f}`], there ? "function" : "undefined", f);
        }
        assert.equal(m.m._sheaf_wasm_abi(), Number(/SHEAF_WASM_ABI (\d+)/.exec(header)[1]));
        assert.equal(m.m._sheaf_wasm_has_prover(), name === "sheaf-verify" ? 0 : 1);
        assert.equal(m.m._sheaf_wasm_has_threads(), name === "sheaf-threads" ? 1 : 0);
        assert.match(m.text(m.m._sheaf_wasm_version()), /^\d+\.\d+\.\d+$/);
        m.close();
    });

    test(`${name} needs no evaluation of text`, () => {
        const text = fs.readFileSync(path.join(modules, `${name}.mjs`), "utf8");
        assert.doesNotMatch(text, /\beval\(|\bnew Function\b|\bFunction\(/);
        assert.doesNotMatch(text, /process\.on\(|unhandledRejection|uncaughtException/);
    });

    for (const variant of variants) {
        test(`${name}${variant} reports its kernels`, async () => {
            if (variant && !hasRelaxed) return "no relaxed SIMD here";
            const m = await Module.load(name, variant);
            assert.equal(m.text(m.m._sheaf_wasm_kernels()), variant ? "simd128 (relaxed)" : "simd128");
            m.close();
        });

        test(`${name}${variant} accepts good envelopes and rejects changed ones`, async () => {
            if (variant && !hasRelaxed) return "no relaxed SIMD here";
            const m = await Module.load(name, variant);
            const { hashes, aggregate } = await samples();
            for (const [envelope, kind] of [
                [hashes, HASH],
                [aggregate, AGGREGATE],
            ]) {
                assert.equal(m.verify(envelope, kind), OK, m.message);
                assert.equal(m.message, "");
                const proofAt = m.parse(envelope).words[5];
                for (const at of [proofAt, proofAt + 9, proofAt + 2000, (proofAt + envelope.length) >> 1, envelope.length - 1]) {
                    const changed = Buffer.from(envelope);
                    changed[at] ^= 4;
                    assert.equal(m.verify(changed, kind), REJECTED, `byte ${at}`);
                    assert.notEqual(m.check, "none");
                    assert.notEqual(m.message, "");
                }
                assert.equal(m.verify(envelope, 3 - kind), MALFORMED);
                assert.equal(m.verify(envelope, 3), INVALID_ARGUMENT);
                assert.equal(m.verify(envelope.subarray(0, -1), kind), MALFORMED);
                assert.equal(m.verify(Buffer.concat([envelope, Buffer.alloc(1)]), kind), MALFORMED);
                assert.equal(m.verify(Buffer.alloc(0), kind), MALFORMED);
            }
            m.close();
        });
    }
}

test("the verifier's module is small", () => {
    for (const variant of variants)
        assert.ok(fs.statSync(path.join(modules, `sheaf-verify${variant}.wasm`)).size < 150 * 1024);
});

test("verify compares the statement with what is expected", async () => {
    const m = await Module.load("sheaf-verify");
    const { hashes, aggregate, entries } = await samples();
    const key = entries[0].subarray(0, 32);
    const other = Buffer.alloc(32, 1);
    assert.equal(m.verify(aggregate, AGGREGATE, { epoch: EPOCH, message: MESSAGE, items: key }), OK, m.message);
    for (const wrong of [{ epoch: 0 }, { message: other }, { items: other }, { items: Buffer.concat([key, other]) }]) {
        assert.equal(m.verify(aggregate, AGGREGATE, wrong), REJECTED);
        assert.equal(m.check, "statement");
    }
    assert.equal(m.verify(aggregate, AGGREGATE, { items: Buffer.concat([key, key]) }), REJECTED);
    const digests = Buffer.concat(Array.from({ length: 5 }, (_, i) => shake(derive("sheaf golden hash", i, 128))));
    assert.equal(m.verify(hashes, HASH, { items: digests }), OK, m.message);
    assert.equal(m.verify(hashes, HASH, { epoch: 0 }), INVALID_ARGUMENT);
});

test("parse says where the parts of an envelope are", async () => {
    const m = await Module.load("sheaf-verify");
    const { hashes, aggregate } = await samples();
    const a = m.parse(aggregate);
    assert.equal(a.status, OK);
    assert.deepEqual(a.words, [AGGREGATE, 1, EPOCH, 24, 56, 92, aggregate.length - 92, 0]);
    assert.deepEqual(m.parse(hashes).words, [HASH, 5, 0, 24, 56, 220, hashes.length - 220, 0]);
    const unknown = Buffer.from(aggregate);
    unknown[8] = 9;
    assert.deepEqual(m.parse(unknown), { status: UNSUPPORTED, words: new Array(8).fill(0) });
});

test("inspect describes a proof, accepted or not", async () => {
    const m = await Module.load("sheaf-verify");
    const { aggregate } = await samples();
    const inspect = (e) => m.with([e], (at) => m.m._sheaf_wasm_inspect(m.result, at, e.length));
    assert.equal(inspect(aggregate), OK);
    const info = JSON.parse(m.output());
    assert.equal(info.kind, "leanXMSS aggregate");
    assert.equal(info.accepted, true);
    assert.equal(info.check, "none");
    assert.equal(info.envelope_bytes, aggregate.length);
    assert.equal(info.statement_bytes + info.proof_bytes, aggregate.length);
    assert.equal(
        Object.values(info.parts).reduce((a, b) => a + b),
        info.proof_bytes,
    );
    assert.ok(info.security_bits >= 128 && info.security_bits < 200);
    assert.ok(info.levels.length > 0 && info.levels.every((l) => l.queries > 0));
    const changed = Buffer.from(aggregate);
    changed[changed.length - 1] ^= 1;
    assert.equal(inspect(changed), OK);
    assert.notEqual(m.message, "");
    assert.equal(JSON.parse(m.output()).accepted, false);
    assert.equal(inspect(Buffer.from("<!doctype html>")), MALFORMED);
});

for (const name of ["sheaf", "sheaf-threads"])
    for (const variant of variants) {
        test(`${name}${variant} makes the golden proofs`, async () => {
            if (variant && !hasRelaxed) return "no relaxed SIMD here";
            const m = await Module.load(name, variant);
            const prover = m.prover();
            for (const line of golden) {
                if (line.kind === "hash") assert.equal(m.proveHashes(prover, preimages(line.n), line.rate), OK, m.message);
                else if (line.n <= 1)
                    assert.equal(
                        m.aggregate(prover, { epoch: EPOCH, message: MESSAGE, entries: signedEntries(m, line.n) }, line.rate),
                        OK,
                        m.message,
                    );
                else continue; /* tests/unit/test_golden.c goes through all of them */
                checkGolden(m.output(), line);
            }
            m.m._sheaf_wasm_prover_destroy(prover);
            m.close();
        });
    }

test("proving takes the memory that is said, and gives it back", async () => {
    const m = await Module.load("sheaf");
    const prover = m.prover();
    for (const n of [64, 4096]) {
        const before = m.m._sheaf_wasm_memory_used() >>> 0;
        const said = m.m._sheaf_wasm_prove_bytes(HASH, n, 0, 1) >>> 0;
        const input = preimages(n);
        assert.equal(m.proveHashes(prover, input), OK);
        m.output();
        assert.equal(m.m._sheaf_wasm_memory_used() >>> 0, before);
        if (n < 4096) continue; /* what the module starts with is enough */
        const most = m.m.wasmMemory.buffer.byteLength;
        const foreseen = before + said + input.length;
        assert.ok(most >= foreseen * 0.9, `${most} of ${foreseen}`);
        assert.ok(most <= foreseen * 1.1 + (4 << 20), `${most} of ${foreseen}`);
    }
    assert.equal(m.m._sheaf_wasm_prove_bytes(HASH, 0, 0, 1), 0);
    assert.equal(m.m._sheaf_wasm_prove_bytes(AGGREGATE, 70000, 0, 1), 0);
    assert.equal(m.m._sheaf_wasm_prove_bytes(AGGREGATE, 65536, 0, 1) >>> 0, 0xffffffff);
    m.m._sheaf_wasm_prover_destroy(prover);
});

test("the ledger has every term, and is refused without parameters", async () => {
    const m = await Module.load("sheaf");
    assert.equal(m.m._sheaf_wasm_ledger(m.result, AGGREGATE, 1000, 2), OK);
    const view = new DataView(m.m.wasmMemory.buffer);
    const [data, length, value] = [12, 16, 20].map((at) => view.getUint32(m.result + at, true));
    assert.equal(value, 10 * 256 + 2);
    assert.ok(length % 64 === 0 && length >= 64 * 8);
    const names = new Set();
    for (let at = data; at < data + length; at += 64) {
        const error = view.getFloat64(at, true);
        assert.ok(error <= -128 && error > -1000, String(error));
        assert.ok(m.text(view.getUint32(at + 8, true)).length > 2);
        names.add(m.text(at + 16));
    }
    assert.equal(names.size, length / 64);
    m.m._sheaf_wasm_free(data);
    assert.equal(m.m._sheaf_wasm_ledger(m.result, AGGREGATE, 8, 7), UNSUPPORTED);
    assert.match(m.message, /no parameters for 2\^3 slots at rate 2\^-7/);
    for (const [kind, count] of [[3, 8], [AGGREGATE, 0], [AGGREGATE, 65537], [HASH, 2 ** 20 + 1]])
        assert.equal(m.m._sheaf_wasm_ledger(m.result, kind, count, 0), INVALID_ARGUMENT);
    m.close();
});

test("progress rises to the end, and its callback cancels", async () => {
    const m = await Module.load("sheaf");
    const prover = m.prover();
    const seen = [];
    m.progress = (fraction, stage) => {
        seen.push(fraction);
        assert.ok(stage.length > 0);
        return false;
    };
    assert.equal(m.proveHashes(prover, preimages(8)), OK);
    m.output();
    assert.ok(seen.length > 10 && seen.every((f, i) => f >= (seen[i - 1] ?? 0) && f <= 1));
    const before = m.m._sheaf_wasm_memory_used() >>> 0;
    for (const stop of [
        () => true,
        () => {
            throw new Error("mine");
        },
    ]) {
        m.progress = stop;
        assert.equal(m.proveHashes(prover, preimages(8)), CANCELLED);
        assert.equal(m.keygen(Buffer.alloc(32), 0, 4), CANCELLED);
        assert.equal(m.m._sheaf_wasm_memory_used() >>> 0, before);
    }
    assert.equal(m.m.sheafThrown.message, "mine");
    m.progress = null;
    const flag = m.m._sheaf_wasm_cancel_flag() >>> 0;
    m.bytes[flag] = 1;
    assert.equal(m.proveHashes(prover, preimages(8)), CANCELLED);
    m.bytes[flag] = 0;
    assert.equal(m.proveHashes(prover, preimages(8)), OK);
    m.output();
    m.m._sheaf_wasm_prover_destroy(prover);
});

test("aggregate names what is wrong with its entries", async () => {
    const m = await Module.load("sheaf");
    const prover = m.prover();
    const entries = signedEntries(m, 2);
    const bad = Buffer.from(entries[1]);
    bad[100] ^= 1;
    const job = { epoch: EPOCH, message: MESSAGE };
    assert.equal(m.aggregate(prover, { ...job, entries: [entries[0], bad] }), BAD_SIGNATURE);
    assert.equal(m.index, 1);
    assert.equal(m.aggregate(prover, { ...job, entries: [entries[0], entries[1], entries[0]] }), DUPLICATE_KEY);
    assert.equal(m.index, 2);
    assert.equal(m.aggregate(prover, { ...job, entries: [] }), INVALID_ARGUMENT);
    assert.equal(m.aggregate(0, { ...job, entries }), INVALID_ARGUMENT);
    assert.match(m.message, /no prover/);
    assert.equal(m.proveHashes(0, preimages(1)), INVALID_ARGUMENT);
    assert.equal(m.aggregate(prover, { ...job, entries }, 7), INVALID_ARGUMENT);
    m.m._sheaf_wasm_prover_destroy(prover);
});

test("provers have the threads that are there", async () => {
    const one = await Module.load("sheaf");
    assert.equal(one.m._sheaf_wasm_prover_create(one.result, 2), INVALID_ARGUMENT);
    assert.equal(one.m._sheaf_wasm_prover_create(one.result, 0), INVALID_ARGUMENT);
    const two = await Module.load("sheaf-threads");
    assert.equal(two.m._sheaf_wasm_prover_create(two.result, 1025), INVALID_ARGUMENT);
    const prover = two.prover(3); /* Node.js starts the second worker now */
    assert.equal(two.proveHashes(prover, preimages(5), 1), OK, two.message);
    assert.deepEqual(two.output(), (await samples()).hashes);
    two.m._sheaf_wasm_prover_destroy(prover);
    two.close();
});

test("keys are those of the key file, and sign", async () => {
    const m = await Module.load("sheaf");
    const message = Buffer.alloc(32, 7);
    assert.equal(m.keygen(Buffer.alloc(32, 9), 8, 3), OK);
    const key = m.output();
    assert.equal(key.subarray(0, 8).toString(), "SHEAFKEY");
    assert.equal(key.length, 88 + 16 * 15 + 16 * 29 + 32);
    assert.equal(crypto.createHash("sha256").update(key.subarray(0, -32)).digest("hex"), key.subarray(-32).toString("hex"));
    m.withKey(key, (handle, { first, logCount, publicKey }) => {
        assert.deepEqual([first, logCount], [8, 3]);
        const a = m.sign(handle, 9, message);
        assert.equal(a.status, OK);
        assert.ok(a.trial < 1 << 20);
        assert.deepEqual(m.sign(handle, 9, message), a);
        const verify = (s, epoch) =>
            m.with([publicKey, message, s], (k, t, at) => m.m._sheaf_wasm_verify_signature(k, epoch, t, at));
        assert.equal(verify(a.signature, 9), OK);
        assert.equal(verify(a.signature, 10), BAD_SIGNATURE);
        const changed = Buffer.from(a.signature);
        changed[700] ^= 1;
        assert.equal(verify(changed, 9), BAD_SIGNATURE);
        const outside = m.sign(handle, 16, message);
        assert.equal(outside.status, EPOCH_RANGE);
        assert.ok(outside.signature.every((b) => b === 0));
    });
    for (const at of [0, 8, 20, 30, 60, 200, key.length - 1]) {
        const damaged = Buffer.from(key);
        damaged[at] ^= 1;
        const { status, publicKey } = m.withKey(damaged, () => ({ status: OK }));
        assert.ok([MALFORMED, UNSUPPORTED].includes(status), `byte ${at}`);
        assert.ok(publicKey.every((b) => b === 0));
    }
    assert.equal(m.withKey(key.subarray(0, 50), () => ({ status: OK })).status, MALFORMED);
    assert.equal(m.keygen(Buffer.alloc(32), 4, 3), EPOCH_RANGE);
});

test("keys without a seed differ", async () => {
    const m = await Module.load("sheaf");
    const keys = [0, 1].map(() => {
        assert.equal(m.keygen(null, 0, 0), OK);
        return m.output();
    });
    assert.notDeepEqual(keys[0], keys[1]);
    assert.notDeepEqual(keys[0].subarray(24, 56), Buffer.alloc(32));
});

test("intervals that a key cannot have come with those that it can", async () => {
    const m = await Module.load("sheaf");
    assert.equal(m.m._sheaf_wasm_key_interval(m.result, 4096, 256, 0), OK);
    assert.equal(m.u32(m.result + 20), 8);
    assert.equal(m.m._sheaf_wasm_key_interval(m.result, 0, 0, 1), OK); /* 2^32 epochs */
    assert.equal(m.u32(m.result + 20), 32);
    assert.equal(m.m._sheaf_wasm_key_interval(m.result, 3, 4, 0), EPOCH_RANGE);
    assert.match(m.message, /0:4.*4:4/);
    assert.equal(m.m._sheaf_wasm_keygen_bytes(33) >>> 0, 0xffffffff);
    assert.ok(m.m._sheaf_wasm_keygen_bytes(10) >>> 0 < 100000);
});

await runAll(process.argv[2]);
