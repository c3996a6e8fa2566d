/* The caller's side of the protocol: one worker, one call at a time.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { ownOf } from "./bytes.js";
import { SheafError, cancelled, unpackError } from "./errors.js";

/**
 * @typedef {object} Port a worker, whatever the platform calls it
 * @property {(message: any, transfer?: any[]) => void} post
 * @property {() => void} terminate
 * @property {(busy: boolean) => void} hold whether it may keep the process alive
 *
 * @typedef {(handlers: {message: (m: any) => void, failed: (error: SheafError) => void}) => Port} Spawn
 *
 * @typedef {object} Call
 * @property {string} op
 * @property {any} args
 * @property {any[]} [transfer]
 * @property {AbortSignal} [signal]
 * @property {(fraction: number, stage: string) => void} [onProgress]
 * @property {boolean} [long] worth stopping in the middle
 *
 * @typedef {Call & {resolve: (value: any) => void, reject: (error: unknown) => void, over: boolean,
 *                   abort: (() => void) | null}} Queued
 */

export class Client {
    /**
     * @param {Spawn} spawn
     * @param {() => Promise<import("./host.js").OpenArgs>} openArgs asked whenever a worker starts
     * @param {(value: any) => void} [opened] what the module says of itself
     */
    constructor(spawn, openArgs, opened) {
        this.spawn = spawn;
        this.openArgs = openArgs;
        this.opened = opened;
        /** @type {Queued[]} */
        this.queue = [];
        /** @type {Queued | null} */
        this.current = null;
        /** @type {Port | null} */
        this.port = null;
        /** @type {Promise<void> | null} */
        this.ready = null;
        /** @type {Map<number, {resolve: (value: any) => void, reject: (error: unknown) => void}>} */
        this.waiting = new Map();
        /** @type {Int32Array | null} */
        this.flag = null;
        this.nextId = 1;
        /** How many workers were ended: a start that was overtaken by an end goes no further. */
        this.ends = 0;
        this.closed = false;
    }

    /** Calls that are running or waiting. */
    get load() {
        return this.queue.length + (this.current === null ? 0 : 1);
    }

    /**
     * @param {Call} call
     * @returns {Promise<any>}
     */
    call(call) {
        if (this.closed) return Promise.reject(new SheafError("DISPOSED", "it has been disposed of"));
        const { op, args, transfer, signal, onProgress, long } = ownOf(call);
        if (signal?.aborted) return Promise.reject(cancelled(signal.reason));
        return new Promise((resolve, reject) => {
            /** @type {Queued} */
            const queued = { op, args, transfer, signal, onProgress, long, resolve, reject, over: false, abort: null };
            if (signal) {
                queued.abort = () => this.abort(queued);
                signal.addEventListener("abort", queued.abort, { once: true });
            }
            this.queue.push(queued);
            this.next();
        });
    }

    /** @param {Queued} queued @param {(q: Queued) => void} how */
    settle(queued, how) {
        if (queued.over) return;
        queued.over = true;
        if (queued.abort) queued.signal?.removeEventListener("abort", queued.abort);
        how(queued);
    }

    /**
     * The caller hears of it at once; a worker that cannot be told is ended, and the next call starts another.
     * @param {Queued} queued
     */
    abort(queued) {
        const running = this.current === queued;
        this.settle(queued, (q) => q.reject(cancelled(q.signal?.reason)));
        if (!running) {
            this.queue = this.queue.filter((q) => q !== queued);
        } else if (queued.long) {
            if (this.flag !== null) Atomics.store(this.flag, 0, 1);
            else this.stop(cancelled(queued.signal?.reason));
        }
    }

    next() {
        if (this.current !== null || this.closed) return;
        const queued = this.queue.shift();
        if (queued === undefined) {
            this.port?.hold(false);
            return;
        }
        this.current = queued;
        this.run(queued).then(
            (value) => this.settle(queued, (q) => q.resolve(value)),
            (error) => this.settle(queued, (q) => q.reject(error)),
        ).then(() => {
            if (this.current === queued) this.current = null;
            this.next();
        });
    }

    /** @param {Queued} queued */
    async run(queued) {
        await this.start();
        this.port?.hold(true);
        if (queued.over) return undefined;
        if (this.flag !== null) Atomics.store(this.flag, 0, 0);
        const args = typeof queued.args === "function" ? await queued.args() : queued.args;
        return this.request(queued.op, args, queued.transfer);
    }

    /** @param {string} op @param {any} args @param {any[]} [transfer] */
    request(op, args, transfer) {
        return new Promise((resolve, reject) => {
            const { port } = this;
            if (port === null) {
                reject(new SheafError("INTERNAL", "the worker is gone"));
                return;
            }
            const id = this.nextId++;
            this.waiting.set(id, { resolve, reject });
            try {
                port.post({ id, op, args }, transfer);
            } catch (error) {
                this.waiting.delete(id);
                reject(error);
            }
        });
    }

    /** Starts a worker where there is none; a start that failed is tried again by the next call. */
    start() {
        if (this.ready === null) {
            const ready = this.open();
            this.ready = ready;
            ready.catch((error) => {
                if (this.ready === ready) this.stop(error);
            });
        }
        return this.ready;
    }

    async open() {
        const { ends } = this;
        const args = await this.openArgs();
        if (this.closed) throw new SheafError("DISPOSED", "it has been disposed of");
        if (ends !== this.ends) throw new SheafError("INTERNAL", "the worker is gone");
        const port = this.spawn({
            message: (m) => {
                if (this.port === port) this.receive(m);
            },
            failed: (error) => {
                if (this.port === port) this.stop(error);
            },
        });
        this.port = port;
        port.hold(true);
        this.flag = null;
        const about = await this.requestOpen(args, port);
        this.opened?.(about);
    }

    /** @param {any} args @param {Port} port */
    async requestOpen(args, port) {
        if (typeof SharedArrayBuffer === "function") {
            try {
                const flag = new SharedArrayBuffer(4);
                this.flag = new Int32Array(flag);
                return await this.request("open", { ...args, flag });
            } catch (error) {
                /* A page that is not cross-origin isolated may have the class, and still cannot send its objects. */
                if (error instanceof SheafError || this.port !== port) throw error;
                this.flag = null;
            }
        }
        return this.request("open", args);
    }

    /** @param {any} m */
    receive(m) {
        const waiting = this.waiting.get(m.id);
        if (m.progress !== undefined) {
            const queued = this.current;
            if (waiting === undefined || queued === null || queued.over || !queued.onProgress) return;
            try {
                queued.onProgress(m.progress, m.stage);
            } catch (error) {
                /* What the callback throws ends the call, and is what its promise rejects with. */
                this.settle(queued, (q) => q.reject(error));
                this.abort(queued);
            }
            return;
        }
        if (waiting === undefined) return;
        this.waiting.delete(m.id);
        if (m.error === undefined) {
            waiting.resolve(m.value);
            return;
        }
        const error = unpackError(m.error);
        waiting.reject(error);
        /* After a trap nothing in the module's memory is to be relied on. */
        if (m.trap) this.stop(error);
    }

    /** Ends the worker; what waits for it fails. @param {unknown} error */
    stop(error) {
        const { port, waiting } = this;
        this.ends++;
        this.port = null;
        this.ready = null;
        this.flag = null;
        this.waiting = new Map();
        port?.terminate();
        for (const { reject } of waiting.values()) reject(error);
    }

    /** No call after this one. */
    close() {
        if (this.closed) return;
        this.closed = true;
        const error = new SheafError("DISPOSED", "it has been disposed of");
        const all = this.current === null ? this.queue : [this.current, ...this.queue];
        this.queue = [];
        for (const queued of all) this.settle(queued, (q) => q.reject(error));
        this.stop(error);
    }
}
