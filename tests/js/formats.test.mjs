/* Files of keys and signatures, read strictly and written.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatKeys, formatSignatures, parseKeys, parseSignatures, SheafError } from "sheaf";
import { parseJson } from "../../web/core/json.js";
import { binaryOf, derive } from "./support.mjs";

const list = {
    scheme: "leanXMSS",
    epoch: 9,
    message: derive("message", 0),
    signatures: [0, 1].map((i) => ({ publicKey: derive("key", i), signature: derive("signature", i, 1208) })),
};
const hex = (/** @type {Uint8Array} */ bytes) => `0x${Buffer.from(bytes).toString("hex")}`;
const text = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString();
/** The list as JSON, after a change. @param {(j: any) => void} [change] */
const json = (change) => {
    const j = {
        scheme: list.scheme,
        epoch: list.epoch,
        message: hex(list.message),
        signatures: list.signatures.map((s) => ({ publicKey: hex(s.publicKey), signature: hex(s.signature) })),
    };
    change?.(j);
    return JSON.stringify(j);
};
/** @param {string | Uint8Array} data @param {string} message */
const refused = (data, message) =>
    assert.rejects(parseSignatures(data), (error) => {
        assert.ok(error instanceof SheafError);
        assert.equal(error.code, "MALFORMED");
        assert.equal(error.message, message);
        return true;
    });

/** @param {any} parsed */
const plain = (parsed) => ({
    ...parsed,
    message: hex(parsed.message),
    signatures: parsed.signatures.map((/** @type {any} */ s) => ({ publicKey: hex(s.publicKey), signature: hex(s.signature) })),
});

describe("lists of signatures", () => {
    test("are read in every form", async () => {
        const want = plain(list);
        for (const form of [json(), Buffer.from(json()), binaryOf(list), `${JSON.stringify(JSON.parse(json()), null, 7)}\r\n\t `])
            assert.deepEqual(plain(await parseSignatures(form)), want);
        const reordered = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(json())).reverse()));
        assert.deepEqual(plain(await parseSignatures(reordered)), want);
        const upper = json((j) => (j.message = `0x${j.message.slice(2).toUpperCase()}`));
        assert.deepEqual(plain(await parseSignatures(upper)), want);
    });
    test("are written as they are read", async () => {
        const written = await formatSignatures(list);
        assert.match(text(written), /^\{\n  "scheme": "leanXMSS",\n  "epoch": 9,\n  "message": "0x[0-9a-f]{64}",\n  "signatures": \[\n    \{\n/);
        assert.deepEqual(plain(await parseSignatures(written)), plain(list));
        assert.deepEqual(await formatSignatures(list, { form: "binary" }), binaryOf(list));
        const one = { epoch: 9, message: list.message, ...list.signatures[0] };
        assert.match(text(await formatSignatures(one)), /"signature": "0x[0-9a-f]{2416}"\n\}\n$/);
        assert.equal((await parseSignatures(await formatSignatures(one))).signatures.length, 1);
        assert.deepEqual(await formatSignatures([one]), await formatSignatures({ ...list, signatures: list.signatures.slice(0, 1) }));
        await assert.rejects(formatSignatures(list, /** @type {any} */ ({ form: "xml" })), /form: xml/);
    });
    test("name the field that is wrong", async () => {
        await refused(json((j) => (j.extra = 1)), "extra: unknown field");
        await refused(json((j) => delete j.message), "message: missing");
        await refused(json((j) => delete j.signatures[0].signature), "signatures[0].signature: missing");
        await refused(json((j) => (j.signatures[1].key = 1)), "signatures[1].key: unknown field");
        await refused(`${json().slice(0, -1)}, "epoch": 9}`, "epoch: given twice");
        await refused(json((j) => (j.scheme = "x")), "scheme: not leanXMSS");
        await refused(json((j) => (j.scheme = 1)), "scheme: not a string");
        await refused(json((j) => (j.epoch = "9")), "epoch: not a number");
        for (const epoch of ["7.0", "7e0", "-0"])
            await refused(json((j) => (j.epoch = 97531)).replace("97531", epoch), "epoch: not digits alone");
        for (const epoch of [-1, 1.5, 2 ** 32, 1e300]) await refused(json((j) => (j.epoch = epoch)), "epoch: not an integer in 0..4294967295");
        await refused(json((j) => (j.message = "12")), "message: does not begin with 0x");
        await refused(json((j) => (j.message += "0")), "message: 65 hex digits, 64 are needed (32 bytes)");
        await refused(json((j) => (j.message = `0x${"g".repeat(64)}`)), "message: not hex digits");
        await refused(json((j) => (j.signatures[1].publicKey = 5)), "signatures[1].publicKey: not a string");
        await refused(json((j) => (j.signatures[1] = 5)), "signatures[1]: not an object");
        await refused(json((j) => (j.signatures = [])), "signatures: 0 entries, 1..65536 can be");
        await refused(json((j) => (j.signatures = {})), "signatures: not an array");
        await refused("[]", "not an object");
    });
    test("are one JSON text and nothing else", async () => {
        await refused("", "not JSON: line 1 is not understood");
        await refused(`${json()}{}`, "not JSON: line 1 is not understood");
        await refused('{"scheme":\n\n1,}', "not JSON: line 3 is not understood");
        await refused(`\ufeff${json()}`, "not JSON: it begins with a byte order mark");
        await refused(Buffer.from(`\ufeff${json()}`), "not JSON: it begins with a byte order mark");
        await refused('{\n  "epoch": 07}', "not JSON: line 2, column 12: a number as JSON has none");
        await refused('{\n\f}', "not JSON: line 2, column 1: a byte that JSON has not outside of strings");
        await refused('{"a\u0001": 1}', "not JSON: line 1, column 4: a control byte in a string");
        await refused("[".repeat(100000), "not JSON: line 1 is not understood");
        await refused(`${json()}\0`, "not JSON: it holds a zero character");
        await refused(json((j) => (j.message += "\u0000")), "not JSON: it holds a zero character");
    });
    test("in binary are exact", async () => {
        const good = binaryOf(list);
        /** @param {number} at @param {number[]} bytes */
        const set = (at, ...bytes) => {
            const copy = Uint8Array.from(good);
            copy.set(bytes, at);
            return copy;
        };
        await refused(set(8, 2), "version: 2, this build reads version 1");
        await refused(set(10, 9), "scheme: 9 is not known");
        await refused(set(12, 0), "count: 0 is not in 1..65536");
        await refused(set(12, 255, 255, 255, 255), "count: 4294967295 is not in 1..65536");
        await refused(set(12, 3), "entries: cut short, 2480 of 3720 bytes");
        await refused(set(23, 1), "reserved: the four bytes at 20 are not zero");
        await refused(Buffer.concat([good, Buffer.from([0])]), "end: 1 bytes are left over");
        await refused(good.subarray(0, 55), "header: cut short, 55 of 56 bytes");
    });
});

describe("lists of keys", () => {
    test("are written as they are read", async () => {
        const keys = [derive("key", 0), derive("key", 1)];
        const written = await formatKeys(keys);
        assert.deepEqual((await parseKeys(written)).map(hex), keys.map(hex));
        assert.deepEqual(await formatKeys(Buffer.concat(keys)), written);
        await assert.rejects(parseKeys('{"scheme": "leanXMSS", "publicKeys": ["0x22"]}'), /publicKeys\[0\]: 2 hex digits, 64 are needed/);
        await assert.rejects(parseKeys('{"publicKeys": []}'), /scheme: missing/);
        await assert.rejects(parseKeys(/** @type {any} */ (5)), /not bytes and not text/);
    });
});

describe("JSON", () => {
    /** @param {any} value @returns {any} */
    const back = (value) =>
        Array.isArray(value) ? value.map(back) : value?.list ? Object.fromEntries(value.list.map((/** @type {any} */ [k, v]) => [k, back(v)])) : value;
    test("means what JSON.parse says it means", () => {
        const texts = [
            "0", "-0", "1.5e-3", "1E+2", "true", "false", "null", '""', '"a\\n\\u00e9\\\\\\"\\/\\b\\f\\r\\t"', '"\\ud83d\\ude00"',
            "[]", "[ 1 , [2,{}] ]", '{"a":{"b":[1,2,{"c":null}]},"é":" "}', ' \t\r\n{ "x" : 1 } ',
        ];
        for (const t of texts) assert.deepEqual(back(parseJson(t).value), JSON.parse(t), t);
    });
    test("refuses what JSON.parse refuses", () => {
        const texts = [
            "", " ", "01", "1.", ".5", "+1", "1e", "-", "NaN", "tru", "nulll", '"', '"\\x"', '"\\u12g4"', '"a\nb"', "'a'", "[1,]", "[1 2]", "[", "]",
            "{", '{"a"}', '{"a":}', '{"a":1,}', "{a:1}", '{"a":1 "b":2}', "1 2", "// x\n1", "\u00a01",
        ];
        for (const t of texts) {
            assert.throws(() => JSON.parse(t));
            assert.throws(() => parseJson(t), /not JSON/, t);
        }
    });
});
