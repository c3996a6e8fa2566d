/* The worker that proves, on several threads.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import create from "./wasm/sheaf-threads.mjs";
import { serveWorker } from "./core/browser-worker.js";

serveWorker({
    create,
    wasm: new URL("./wasm/sheaf-threads.wasm", import.meta.url).href,
    relaxed: new URL("./wasm/sheaf-threads-relaxed.wasm", import.meta.url).href,
    threads: true,
});
