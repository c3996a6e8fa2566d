/* The worker that verifies.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import create from "./wasm/sheaf-verify.mjs";
import { serveWorker } from "./core/browser-worker.js";

serveWorker({
    create,
    wasm: new URL("./wasm/sheaf-verify.wasm", import.meta.url).href,
    relaxed: new URL("./wasm/sheaf-verify-relaxed.wasm", import.meta.url).href,
    threads: false,
});
