/* The worker that proves, on one thread.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import create from "./wasm/sheaf.mjs";
import { serveWorker } from "./core/browser-worker.js";

serveWorker({
    create,
    wasm: new URL("./wasm/sheaf.wasm", import.meta.url).href,
    relaxed: new URL("./wasm/sheaf-relaxed.wasm", import.meta.url).href,
    threads: false,
});
