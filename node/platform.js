/* Workers and memory in Node.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { SheafError } from "../web/core/errors.js";
import { packageFolder } from "./glue.js";

/** @returns {import("../web/core/api.js").Platform} */
export function nodePlatform() {
    return {
        spawn: (kind) => (handlers) => {
            const folder = packageFolder();
            /* Made so that no bundler takes the address for an asset of its own. */
            const file = path.join(folder, ...["node", "worker.js"]);
            const options = { workerData: { kind, folder }, execArgv: [], name: `sheaf-${kind}` };
            let worker;
            try {
                worker = new Worker(pathToFileURL(file), options);
            } catch (cause) {
                const text = cause instanceof Error ? cause.message : String(cause);
                throw new SheafError("LOAD", `the worker could not be made (${text})`, { cause });
            }
            worker.on("message", handlers.message);
            worker.on("messageerror", () => {
                handlers.failed(new SheafError("INTERNAL", "a message of the worker was not readable"));
            });
            worker.on("error", (cause) => {
                handlers.failed(new SheafError("INTERNAL", `the worker failed: ${cause.message}`, { cause }));
            });
            worker.on("exit", (code) => {
                handlers.failed(new SheafError("INTERNAL", `the worker ended with code ${code}`));
            });
            return {
                post: (message, transfer) => worker.postMessage(message, transfer ?? []),
                terminate() {
                    void worker.terminate();
                },
                /* An idle worker must not keep the process; a call that is waited for must. */
                hold: (busy) => (busy ? worker.ref() : worker.unref()),
            };
        },
        noThreads: () => null,
        cores: () => os.availableParallelism?.() ?? (os.cpus().length || 1),
        memoryLimit() {
            const constrained = /** @type {any} */ (process).constrainedMemory?.() || Infinity;
            return Math.min(os.totalmem(), constrained);
        },
        base: () => pathToFileURL(`${process.cwd()}/`).href,
        notice() {},
    };
}
