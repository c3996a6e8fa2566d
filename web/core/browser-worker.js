/* A browser's worker as the protocol's port.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { serve } from "./host.js";

/** @param {import("./host.js").Glue} glue */
export function serveWorker(glue) {
    /** @type {any} */
    const scope = globalThis;
    serve(glue, {
        post: (message, transfer) => scope.postMessage(message, transfer ?? []),
        listen: (handler) => scope.addEventListener("message", (/** @type {MessageEvent} */ event) => handler(event.data)),
    });
}
