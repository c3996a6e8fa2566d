/* Verifies one aggregate in headless Chromium, by the page.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     node tests/js/browser/verify.mjs FILE [--keys FILE] [--epoch N] [--message TEXT] [--times N]
 *
 * The message: 0x and 64 hex digits, or a text whose SHAKE256 digest is meant. Prints what the page says, and the median time of
 * N checks (default 5). Exit code: 0 accepted, 1 rejected, 2 anything else. tools/test-browser.sh --setup brings what it needs. */
import { parseArgs } from "node:util";
import { check, openPage, startBrowser, startServer } from "./support.mjs";

const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        keys: { type: "string" },
        epoch: { type: "string" },
        message: { type: "string" },
        times: { type: "string", default: "5" },
    },
});
const times = Number(values.times);
if (positionals.length !== 1 || !Number.isInteger(times) || times < 1) {
    console.error("usage: node tests/js/browser/verify.mjs FILE [--keys FILE] [--epoch N] [--message TEXT] [--times N]");
    process.exit(2);
}

/** A time as the page says it, in milliseconds. @param {string} text */
function millisecondsIn(text) {
    const found = /Checked in ([0-9.]+) (ms|s)\b/.exec(text);
    return found === null ? null : Number(found[1]) * (found[2] === "s" ? 1000 : 1);
}

process.exitCode = 2;
const server = await startServer();
const browser = await startBrowser();
try {
    const { page } = await openPage(browser, server.page);
    await page.evaluate(() => (/** @type {any} */ (document.getElementById("expect")).open = true));
    if (values.epoch !== undefined) await page.fill("#expect-epoch", values.epoch);
    if (values.message !== undefined) await page.fill("#expect-message", values.message);
    const files = [positionals[0], ...(values.keys === undefined ? [] : [values.keys])];
    const taken = [];
    let said = await check(page, files);
    for (let i = 0; i < times; i++) {
        said = await check(page, files);
        const ms = millisecondsIn(said.text);
        if (ms !== null) taken.push(ms);
    }
    taken.sort((a, b) => a - b);
    const time = taken.length > 0 ? `, ${taken[taken.length >> 1]} ms` : "";
    const told = said.text.replace(/ ?Checked in [0-9.]+ m?s\./, "").replace(/\s*\n+\s*/g, " / ");
    console.log(`Chromium ${browser.version()}${time}: ${told}`);
    if (said.kind === "good") process.exitCode = 0;
    else if (said.title.startsWith("Rejected")) process.exitCode = 1;
} finally {
    await browser.close();
    await server.stop();
}
