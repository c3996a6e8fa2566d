/* The proofs of tests/vectors/golden.txt come out of WebAssembly byte for byte.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A line: circuit, number, first rate, length, H(proof). How inputs are derived is said in tests/unit/test_golden.c. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, describe, test } from "node:test";
import { close, createProver, inspect } from "sheaf";
import { derive, long, root, shake, signaturesOf } from "./support.mjs";

const EPOCH = 12345;
/* Of aggregates with more signers than this only the long run makes each again. */
const QUICK_SIGNERS = 3;

const lines = fs
    .readFileSync(path.join(root, "tests", "vectors", "golden.txt"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "));

describe("golden proofs", () => {
    after(close);

    test("there are some of both circuits", () => {
        assert.ok(lines.filter(([circuit]) => circuit === "hash").length >= 5);
        assert.ok(lines.filter(([circuit]) => circuit === "leanxmss").length >= 4);
    });

    /** @param {import("sheaf").Prover} prover @param {string} circuit @param {number} n @param {number} logInvRate */
    const make = async (prover, circuit, n, logInvRate) => {
        if (circuit === "hash") {
            const messages = Array.from({ length: n }, (_, i) => derive("sheaf golden hash", i, 128));
            return prover.proveHashBatch(messages, { logInvRate });
        }
        const message = shake("sheaf golden statement");
        const list = await signaturesOf(n, { label: "sheaf golden key", epoch: EPOCH, message });
        return prover.aggregate(list, { logInvRate });
    };

    for (const [circuit, count, rate, length, digest] of lines) {
        const n = Number(count);
        const skip = circuit === "leanxmss" && n > QUICK_SIGNERS && !long ? "only with SHEAF_LONG=1" : false;
        for (const threads of n > 1 && n < 10 ? [1, 2] : [1]) {
            test(`${circuit} ${count} at rate ${rate} with ${threads} threads`, { skip }, async () => {
                const prover = await createProver({ threads });
                try {
                    const envelope = await make(prover, circuit, n, Number(rate));
                    const info = await inspect(envelope);
                    assert.equal(info.accepted, true);
                    const proof = envelope.subarray(envelope.length - info.proofBytes);
                    assert.equal(proof.length, Number(length));
                    assert.equal(shake(proof).toString("hex"), digest);
                } finally {
                    await prover.dispose();
                }
            });
        }
    }
});
