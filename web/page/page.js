/* The page: its two panels, and what it says of itself.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { startCheck, takeMade } from "./check.js";
import { byId } from "./dom.js";
import { startMake } from "./make.js";

/** @type {Promise<typeof import("../index.js")> | null} */
let loading = null;

/** Sheaf's own code; what failed to load is tried again the next time. */
function load() {
    loading ??= import("../index.js").catch((cause) => {
        loading = null;
        const error = new Error(`Its code could not be loaded from ${new URL("../index.js", import.meta.url).href}.`, { cause });
        throw Object.assign(error, { code: "LOAD" });
    });
    return loading;
}

startCheck(load);
startMake(load, takeMade);
byId("about").textContent = globalThis.crossOriginIsolated
    ? "This page is cross-origin isolated: proofs are made with several threads."
    : "This page is not cross-origin isolated: proofs are made with one thread.";
