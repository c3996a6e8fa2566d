/* Node's worker as the protocol's port.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { parentPort, workerData } from "node:worker_threads";
import { packError } from "../web/core/errors.js";
import { serve } from "../web/core/host.js";
import { loadGlue } from "./glue.js";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
/** @type {((message: any) => void)[]} */
let handlers = [];
/** @type {any[]} what came before the module was there */
let early = [];

port.on("message", (message) => {
    if (handlers.length === 0) early.push(message);
    for (const handler of handlers) handler(message);
});

loadGlue(workerData.kind, workerData.folder).then(
    (glue) =>
        serve(glue, {
            post: (message, transfer) => port.postMessage(message, transfer ?? []),
            listen(handler) {
                handlers = [handler];
                for (const message of early) handler(message);
                early = [];
            },
        }),
    (error) => {
        const answer = (/** @type {any} */ { id }) => port.postMessage({ id, error: packError(error) });
        handlers = [answer];
        early.forEach(answer);
    },
);
