/* The protocol with a worker, by workers made of plain functions.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createApi } from "../../web/core/api.js";
import { Client } from "../../web/core/client.js";
import { SheafError, packError } from "../../web/core/errors.js";
import { nodePlatform } from "../../node/platform.js";
import { shake } from "./support.mjs";

/**
 * A worker whose answers the test gives.
 * @param {(m: any, answer: (m: any) => void) => void} on
 */
function workers(on) {
    const all = /** @type {any[]} */ ([]);
    /** @type {import("../../web/core/client.js").Spawn} */
    const spawn = (handlers) => {
        const worker = { ended: false, held: false, messages: /** @type {any[]} */ ([]), handlers };
        all.push(worker);
        return {
            post(message) {
                worker.messages.push(message);
                queueMicrotask(() => on(message, (m) => !worker.ended && handlers.message({ id: message.id, ...m })));
            },
            terminate: () => (worker.ended = true),
            hold: (busy) => (worker.held = busy),
        };
    };
    return { all, spawn };
}

/** @param {any} m @param {(m: any) => void} answer */
const echo = (m, answer) => answer({ value: m.op === "open" ? { module: 1 } : m.args });
const openArgs = async () => ({});
const tick = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("a client", () => {
    test("starts its worker by the first call, and once", async () => {
        const { all, spawn } = workers(echo);
        const client = new Client(spawn, openArgs);
        assert.equal(all.length, 0);
        assert.deepEqual(await Promise.all([1, 2, 3].map((args) => client.call({ op: "echo", args }))), [1, 2, 3]);
        assert.equal(all.length, 1);
        assert.deepEqual(all[0].messages.map((m) => m.op), ["open", "echo", "echo", "echo"]);
    });
    test("lets the process end between calls, and not within one", async () => {
        const { all, spawn } = workers((m, answer) => (m.op === "open" ? echo(m, answer) : setTimeout(() => echo(m, answer), 5)));
        const client = new Client(spawn, openArgs);
        const call = client.call({ op: "echo", args: 1 });
        await tick();
        assert.equal(all[0].held, true);
        await call;
        await tick();
        assert.equal(all[0].held, false);
    });
    test("sends one call at a time, in order", async () => {
        /** @type {(() => void)[]} */
        const waiting = [];
        const { all, spawn } = workers((m, answer) => (m.op === "open" ? echo(m, answer) : waiting.push(() => echo(m, answer))));
        const client = new Client(spawn, openArgs);
        const calls = [1, 2].map((args) => client.call({ op: "echo", args }));
        await tick();
        assert.equal(all[0].messages.length, 2);
        assert.equal(client.load, 2);
        waiting[0]();
        assert.equal(await calls[0], 1);
        await tick();
        waiting[1]();
        assert.equal(await calls[1], 2);
    });
    test("passes errors on with everything they say", async () => {
        const error = new SheafError("BAD_SIGNATURE", "signature 3", { index: 3, needed: 5, url: "u" });
        const { spawn } = workers((m, answer) => (m.op === "open" ? echo(m, answer) : answer({ error: packError(error) })));
        await assert.rejects(new Client(spawn, openArgs).call({ op: "x", args: 1 }), (/** @type {any} */ e) => {
            assert.ok(e instanceof SheafError);
            return e.code === "BAD_SIGNATURE" && e.message === "signature 3" && e.index === 3 && e.needed === 5 && e.url === "u";
        });
        assert.deepEqual(packError(new TypeError("x")).code, "INTERNAL");
    });
    test("starts anew after a start that failed", async () => {
        let starts = 0;
        const { all, spawn } = workers((m, answer) => {
            if (m.op === "open" && starts++ === 0) answer({ error: packError(new SheafError("LOAD", "no")) });
            else echo(m, answer);
        });
        const client = new Client(spawn, openArgs);
        await assert.rejects(client.call({ op: "echo", args: 1 }), { code: "LOAD" });
        assert.equal(await client.call({ op: "echo", args: 2 }), 2);
        assert.deepEqual(all.map((w) => w.ended), [true, false]);
    });
    test("starts anew after a worker that ended or trapped", async () => {
        let trap = true;
        const { all, spawn } = workers((m, answer) => {
            if (m.op === "open") echo(m, answer);
            else if (trap) answer({ error: packError(new Error("unreachable")), trap: true });
            else echo(m, answer);
        });
        const client = new Client(spawn, openArgs);
        await assert.rejects(client.call({ op: "echo", args: 1 }), { code: "INTERNAL" });
        trap = false;
        assert.equal(await client.call({ op: "echo", args: 2 }), 2);
        all[1].handlers.failed(new SheafError("INTERNAL", "it ended"));
        assert.equal(await client.call({ op: "echo", args: 3 }), 3);
        assert.equal(all.length, 3);
    });
    test("fails what a dying worker was asked", async () => {
        const { all, spawn } = workers((m, answer) => m.op === "open" && echo(m, answer));
        const client = new Client(spawn, openArgs);
        const call = client.call({ op: "x", args: 1 });
        await tick();
        all[0].handlers.failed(new SheafError("INTERNAL", "it ended"));
        await assert.rejects(call, { code: "INTERNAL", message: "it ended" });
    });
    test("tells a worker to stop by the shared flag", async () => {
        /** @type {any} */
        let flag;
        const { all, spawn } = workers((m, answer) => {
            if (m.op === "open") flag = new Int32Array(m.args.flag);
            echo(m, m.op === "open" || m.args === 2 ? answer : () => {});
        });
        const client = new Client(spawn, openArgs);
        const stop = new AbortController();
        const call = client.call({ op: "x", args: 1, signal: stop.signal, long: true });
        await tick();
        stop.abort("why");
        await assert.rejects(call, { code: "CANCELLED", cause: "why" });
        assert.equal(flag[0], 1);
        assert.equal(all[0].ended, false);
        const next = client.call({ op: "x", args: 2 });
        all[0].handlers.message({ id: 2, error: packError(new SheafError("CANCELLED", "cancelled")) });
        assert.equal(await next, 2);
        assert.equal(flag[0], 0, "the next call is not cancelled");
    });
    test("ends a worker that cannot be told, and starts another", async () => {
        const { SharedArrayBuffer: shared } = globalThis;
        const { all, spawn } = workers((m, answer) => echo(m, m.op === "open" || m.args === 2 ? answer : () => {}));
        const client = new Client(spawn, openArgs);
        const stop = new AbortController();
        try {
            // @ts-expect-error as on a page that is not cross-origin isolated
            delete globalThis.SharedArrayBuffer;
            const call = client.call({ op: "x", args: 1, signal: stop.signal, long: true });
            const second = client.call({ op: "x", args: 2 });
            await tick();
            assert.equal(all[0].messages[0].args.flag, undefined);
            stop.abort();
            await assert.rejects(call, { code: "CANCELLED" });
            assert.equal(all[0].ended, true);
            assert.equal(await second, 2);
            assert.equal(all.length, 2);
        } finally {
            globalThis.SharedArrayBuffer = shared;
        }
    });
    test("leaves a short call alone that nobody waits for", async () => {
        const { all, spawn } = workers((m, answer) => (m.op === "open" ? echo(m, answer) : setTimeout(() => echo(m, answer), 10)));
        const client = new Client(spawn, openArgs);
        const stop = new AbortController();
        const call = client.call({ op: "x", args: 1, signal: stop.signal });
        await tick();
        stop.abort();
        await assert.rejects(call, { code: "CANCELLED" });
        assert.equal(await client.call({ op: "x", args: 2 }), 2);
        assert.equal(all.length, 1);
    });
    test("drops a cancelled call that had not begun", async () => {
        const { all, spawn } = workers((m, answer) => (m.op === "open" ? echo(m, answer) : setTimeout(() => echo(m, answer), 10)));
        const client = new Client(spawn, openArgs);
        const stop = new AbortController();
        const first = client.call({ op: "x", args: 1 });
        const second = client.call({ op: "x", args: 2, signal: stop.signal });
        stop.abort();
        await assert.rejects(second, { code: "CANCELLED" });
        assert.equal(await first, 1);
        await tick();
        assert.deepEqual(all[0].messages.map((m) => m.args).slice(1), [1]);
    });
    test("starts one worker where a call is cancelled before there is any", async () => {
        const { all, spawn } = workers(echo);
        const client = new Client(spawn, openArgs);
        const stop = new AbortController();
        const first = client.call({ op: "x", args: 1, signal: stop.signal, long: true });
        stop.abort();
        const second = client.call({ op: "x", args: 2 });
        await assert.rejects(first, { code: "CANCELLED" });
        assert.equal(await second, 2);
        await tick();
        assert.deepEqual(all.filter((w) => !w.ended).map((w) => w.held), [false]);
        client.close();
        assert.ok(all.every((w) => w.ended));
    });
    test("starts no worker once closed in the middle of a start", async () => {
        const { all, spawn } = workers(echo);
        const client = new Client(spawn, openArgs);
        const call = client.call({ op: "x", args: 1 });
        client.close();
        await assert.rejects(call, { code: "DISPOSED" });
        await tick();
        assert.equal(all.length, 0);
    });
    test("answers nothing once closed", async () => {
        const { all, spawn } = workers((m, answer) => m.op === "open" && echo(m, answer));
        const client = new Client(spawn, openArgs);
        const calls = [client.call({ op: "x", args: 1 }), client.call({ op: "x", args: 2 })];
        const settled = Promise.allSettled(calls);
        await tick();
        client.close();
        for (const { reason } of /** @type {any} */ (await settled)) assert.equal(reason.code, "DISPOSED");
        await assert.rejects(client.call({ op: "x", args: 3 }), { code: "DISPOSED" });
        assert.equal(all[0].ended, true);
    });
    test("reports progress, and stops with what a callback throws", async () => {
        const { spawn } = workers((m, answer) => {
            if (m.op !== "open") answer({ progress: 0.5, stage: "half" });
            if (m.op === "open" || m.args === 2) echo(m, answer);
        });
        const client = new Client(spawn, openArgs);
        const mine = new Error("mine");
        const throws = () => {
            throw mine;
        };
        await assert.rejects(client.call({ op: "x", args: 1, onProgress: throws }), (e) => e === mine);
    });
});

describe("where there are no threads", () => {
    const why = "one thread: the page is not cross-origin isolated";
    /** @param {string[]} told */
    const platform = (told) => ({ ...nodePlatform(), noThreads: () => why, cores: () => 4, notice: (/** @type {string} */ t) => told.push(t) });

    test("a prover has one, and says why", async () => {
        /** @type {string[]} */
        const told = [];
        const api = createApi(platform(told));
        for (const threads of ["auto", undefined, 4]) {
            const prover = await api.createProver({ threads });
            assert.equal(prover.threads, 1);
            assert.equal(prover.notice, why);
            await prover.dispose();
        }
        assert.deepEqual(told, [why, why, why]);
        const prover = await api.createProver({ threads: 1 });
        assert.equal(prover.notice, null);
        assert.equal(told.length, 3);
        const batch = await prover.proveHashBatch([new Uint8Array(128)]);
        assert.equal(await api.verify(batch, { scheme: "hash", digests: [shake(new Uint8Array(128))] }), true);
        await api.close();
    });
    test("who listens is told instead", async () => {
        /** @type {string[]} */
        const told = [];
        /** @type {string[]} */
        const heard = [];
        const api = createApi(platform(told), { onNotice: (/** @type {string} */ text) => heard.push(text) });
        await api.createProver();
        await api.createProver({ onNotice: (/** @type {string} */ text) => heard.push(`own ${text}`) });
        assert.deepEqual([told, heard], [[], [why, `own ${why}`]]);
        await api.close();
    });
    test("threads that do not start are one thread in the end", async () => {
        const node = nodePlatform();
        /** @type {string[]} */
        const told = [];
        const api = createApi({
            ...node,
            spawn: (kind) => {
                if (kind !== "threads") return node.spawn(kind);
                return () => {
                    throw new SheafError("LOAD", "no such worker");
                };
            },
            cores: () => 4,
            notice: (text) => told.push(text),
        });
        const prover = await api.createProver();
        assert.equal(prover.threads, 1);
        assert.match(String(prover.notice), /could not be started.*no such worker/);
        assert.deepEqual(told, [prover.notice]);
        await assert.rejects(api.createProver({ threads: 2 }), { code: "LOAD" });
        await api.close();
    });
});
