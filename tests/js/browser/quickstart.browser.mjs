/* The README's page runs as it stands there.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { createServer } from "../../../tools/serve.mjs";
import { PATIENCE, root, startBrowser, work } from "./support.mjs";

describe("the README's page", () => {
    const site = path.join(work, "readme");
    /** @type {import("playwright-core").Browser} */
    let browser;

    before(async () => {
        const pages = [...fs.readFileSync(path.join(root, "README.md"), "utf8").matchAll(/^```html\n([\s\S]*?)^```$/gm)];
        assert.equal(pages.length, 1);
        fs.rmSync(site, { recursive: true, force: true });
        fs.cpSync(path.join(root, "web"), path.join(site, "sheaf"), { recursive: true });
        fs.writeFileSync(path.join(site, "index.html"), pages[0][1]);
        browser = await startBrowser();
    });
    after(() => browser?.close());

    for (const isolation of [true, false]) {
        test(`makes_and_accepts_a_proof_${isolation ? "isolated" : "without_isolation"}`, async () => {
            const server = createServer(site, { isolation });
            await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
            const page = await browser.newPage();
            /** @type {string[]} */
            const errors = [];
            page.on("pageerror", (error) => errors.push(String(error)));
            page.on("response", (answer) => answer.ok() || errors.push(`${answer.status()} ${answer.url()}`));
            try {
                const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
                await page.goto(`http://127.0.0.1:${port}/`);
                await page.waitForFunction(() => document.getElementById("said")?.textContent !== "please wait", null, { timeout: PATIENCE });
                assert.match(await page.locator("#said").innerText(), /^accepted, \d+ bytes$/);
                assert.deepEqual(errors, []);
                /* Without one a browser that shows icons asks the server for /favicon.ico. */
                assert.equal(await page.locator('link[rel="icon"]').count(), 1);
            } finally {
                await page.close();
                await new Promise((resolve) => server.close(resolve));
            }
        });
    }
});
