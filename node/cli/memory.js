/* How much memory the machine has free.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import fs from "node:fs";
import os from "node:os";

/** What the system says it can still give, swap counted; all that there is where it does not say. */
export function freeBytes() {
    try {
        const text = fs.readFileSync("/proc/meminfo", "latin1");
        const kib = ["MemAvailable", "SwapFree"].map((name) => Number(new RegExp(`^${name}: +([0-9]+) kB$`, "m").exec(text)?.[1]));
        const bytes = 1024 * (kib[0] + kib[1]);
        if (Number.isSafeInteger(bytes)) return bytes;
    } catch {
        // another system
    }
    return os.totalmem();
}
