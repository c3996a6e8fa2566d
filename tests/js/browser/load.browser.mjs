/* How the page meets its server: isolation, policy, what a server gets wrong.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PATIENCE, aggregateOf, check, endAll, openPage, startBrowser, startMaking, startServer, verdict } from "./support.mjs";

describe("the page, served", () => {
    /** @type {Awaited<ReturnType<typeof startServer>>} */
    let isolated;
    /** @type {Awaited<ReturnType<typeof startServer>>} */
    let plain;
    /** @type {import("playwright-core").Browser} */
    let browser;
    const good = aggregateOf(16);

    before(async () => {
        isolated = await startServer();
        plain = await startServer({ isolated: false });
        browser = await startBrowser();
    });

    after(() => endAll(browser, isolated, plain));

    test("the_front_address_leads_to_the_page", async () => {
        const tab = await openPage(browser, `${isolated.origin}/`);
        assert.match(await tab.page.title(), /^Sheaf/);
        await tab.close();
    });

    test("with_the_isolation_headers_there_are_as_many_threads_as_cores", async () => {
        const tab = await openPage(browser, isolated.page);
        const { page } = tab;
        assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), true);
        assert.match(await page.locator("#about").innerText(), /is cross-origin isolated/);
        const cores = await page.evaluate(() => navigator.hardwareConcurrency);
        await page.locator(".options > summary").click();
        await page.waitForFunction(() => document.getElementById("threads-hint").textContent !== "");
        const hint = await page.locator("#threads-hint").innerText();
        assert.match(hint, cores > 1 ? new RegExp(`^${Math.min(16, cores)} threads, `) : /^1 thread, /);
        await tab.close();
    });

    test("without_them_everything_works_on_one_thread_and_the_page_says_so", async () => {
        const tab = await openPage(browser, plain.page);
        const { page } = tab;
        assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), false);
        assert.match(await page.locator("#about").innerText(), /not cross-origin isolated/);
        assert.equal((await check(page, good)).kind, "good");
        await startMaking(page, 2);
        await page.waitForSelector("#check-made", { timeout: PATIENCE });
        assert.match(await page.locator("#made").innerText(), /by 1 thread\./);
        await page.locator(".options > summary").click();
        if ((await page.evaluate(() => navigator.hardwareConcurrency)) > 1)
            assert.match(await page.locator("#threads-hint").innerText(), /without the headers for cross-origin isolation/);
        await page.locator("#check-made").click();
        assert.equal((await verdict(page)).kind, "good");
        await tab.close();
    });

    test("without_them_a_proof_is_cancelled_too", async () => {
        const tab = await openPage(browser, plain.page);
        const { page } = tab;
        await startMaking(page, 16);
        await page.waitForFunction(() => document.getElementById("progress").value > 0.06, null, { timeout: PATIENCE });
        await page.locator("#cancel").click();
        await page.waitForFunction(() => document.getElementById("made").textContent.startsWith("Cancelled"));
        await tab.close();
    });

    test("the_policy_is_strict_in_the_page_and_from_the_server", async () => {
        for (const server of [isolated, plain]) {
            const answer = await fetch(server.page);
            const text = await answer.text();
            const meta = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(text)[1];
            const header = answer.headers.get("content-security-policy");
            for (const policy of [meta, header]) {
                const rules = new Map(policy.split(";").map((rule) => [rule.trim().split(" ")[0], rule.trim().split(" ").slice(1)]));
                assert.deepEqual(rules.get("default-src"), ["'none'"]);
                assert.deepEqual(rules.get("script-src"), ["'self'", "'wasm-unsafe-eval'"]);
                assert.deepEqual(rules.get("style-src"), ["'self'"]);
                assert.deepEqual(rules.get("base-uri"), ["'none'"]);
                assert.ok(!/unsafe-inline|'unsafe-eval'|\*|https?:|data:/.test(policy), policy);
            }
            assert.ok(!/<script(?![^>]*\ssrc=)|\son[a-z]+=|\sstyle=|<style/i.test(text), "nothing inline");
        }
    });

    test("the_policy_is_in_force", async () => {
        const tab = await openPage(browser, isolated.page);
        const ran = await tab.page.evaluate(async () => {
            globalThis.ran = [];
            const script = document.createElement("script");
            script.textContent = "globalThis.ran.push('inline')";
            document.body.append(script);
            /* Later, since the tool that drives the browser lifts the policy for the call itself. */
            setTimeout(() => {
                try {
                    globalThis.ran.push(new Function("return 'eval'")());
                } catch {
                    globalThis.refused = true;
                }
            });
            const image = document.createElement("img");
            image.setAttribute("onerror", "globalThis.ran.push('handler')");
            image.src = "missing.png";
            document.body.append(image);
            await new Promise((resolve) => setTimeout(resolve, 300));
            return { ran: globalThis.ran, refused: globalThis.refused };
        });
        assert.deepEqual(ran, { ran: [], refused: true });
        assert.ok(tab.problems.some((text) => text.startsWith("error: policy: script-src")));
        tab.problems.length = 0;
        await tab.close();
    });

    test("nothing_is_asked_of_another_server_and_no_file_is_sent", async () => {
        const sent = [];
        const tab = await openPage(browser, isolated.page, {
            async before(page) {
                page.on("request", (request) => {
                    if (request.method() !== "GET" || request.postDataBuffer() !== null) sent.push(request.url());
                });
            },
        });
        assert.equal((await check(tab.page, good)).kind, "good");
        assert.deepEqual(sent, []);
        assert.ok(tab.requests.length > 5);
        for (const url of tab.requests) assert.equal(new URL(url).origin, isolated.origin);
        await tab.close();
    });

    test("checking_does_not_fetch_the_prover", async () => {
        const tab = await openPage(browser, isolated.page, { viewport: { width: 1024, height: 300 } });
        assert.equal((await check(tab.page, good)).kind, "good");
        const wasm = tab.requests.map((url) => new URL(url).pathname).filter((name) => name.endsWith(".wasm"));
        assert.ok(wasm.length >= 1);
        for (const name of wasm) assert.match(name, /sheaf-verify/);
        await tab.close();
    });

    /** @param {string} pattern @param {object} answer @param {(said: {kind: string, title: string, text: string}) => void} expect */
    async function withAnswer(pattern, answer, expect) {
        const tab = await openPage(browser, isolated.page);
        const { page, problems } = tab;
        await page.context().route(pattern, (route) => route.fulfill(/** @type {any} */ (answer)));
        expect(await check(page, good));
        assert.ok(await page.locator("#findings").isHidden());
        await page.context().unroute(pattern);
        assert.equal((await check(page, good)).kind, "good", "the next try is a new one");
        /* What a browser says of an answer that is an error is no fault of the page. */
        const own = problems.filter((text) => !/Failed to load resource|MIME type/.test(text));
        problems.splice(0, problems.length, ...own);
        await tab.close();
    }

    test("html_served_in_the_place_of_webassembly_is_named", async () => {
        const html = { status: 200, contentType: "text/html", body: "<!doctype html><title>Not here</title>" };
        await withAnswer("**/*.wasm", html, (said) => {
            assert.equal(said.kind, "note");
            assert.equal(said.title, "Sheaf could not be loaded");
            assert.match(said.text, /\/sheaf-verify[a-z-]*\.wasm answered with HTML in the place of WebAssembly/);
            assert.match(said.text, /nothing was checked/);
        });
    });

    test("missing_webassembly_is_named", async () => {
        await withAnswer("**/*.wasm", { status: 404, body: "none" }, (said) => {
            assert.equal(said.kind, "note");
            assert.match(said.text, /\.wasm answered with status 404/);
        });
    });

    test("a_missing_worker_is_named", async () => {
        await withAnswer("**/worker-verifier.js", { status: 404, body: "none" }, (said) => {
            assert.equal(said.kind, "note");
            assert.match(said.text, /worker/);
        });
    });

    test("html_in_the_place_of_the_provers_webassembly_is_named_in_its_panel", async () => {
        const tab = await openPage(browser, isolated.page, {
            before: (page) =>
                page.context().route("**/*.wasm", (route) => route.fulfill({ contentType: "text/html", body: "<html></html>" })),
        });
        await tab.page.locator("#make-form").scrollIntoViewIfNeeded();
        await tab.page.waitForFunction(() => document.getElementById("needs").textContent.includes("could not be loaded"));
        assert.match(await tab.page.locator("#needs").innerText(), /HTML/);
        assert.equal(await tab.page.locator("#start").getAttribute("aria-disabled"), "true");
        await tab.close();
    });
});
