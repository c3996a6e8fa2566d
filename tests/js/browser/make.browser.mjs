/* The page's second panel: keys, signatures and proofs made in the tab.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { PATIENCE, endAll, facts, openPage, sheaf, startBrowser, startMaking, startServer, verdict, work } from "./support.mjs";

describe("the page, making", () => {
    /** @type {Awaited<ReturnType<typeof startServer>>} */
    let server;
    /** @type {import("playwright-core").Browser} */
    let browser;
    /** @type {Awaited<ReturnType<typeof openPage>>} */
    let tab;
    /** @type {import("playwright-core").Page} */
    let page;

    before(async () => {
        server = await startServer();
        browser = await startBrowser();
        tab = await openPage(browser, server.page);
        page = tab.page;
    });

    after(() => endAll(tab, browser, server));

    const needs = () => page.locator("#needs").innerText();

    test("what_a_proof_needs_is_shown_and_grows_with_its_signers", async () => {
        const shown = [];
        await page.fill("#signers", "3");
        await page.waitForFunction(() => document.getElementById("needs").textContent.startsWith("Needs about"));
        for (const n of [64, 256, 4096]) {
            const before_ = await needs();
            await page.fill("#signers", String(n));
            await page.waitForFunction(
                (last) => {
                    const text = document.getElementById("needs").textContent;
                    return text !== last && /about [0-9.]+ .iB/.test(text);
                },
                before_,
            );
            const [, amount, unit] = /about ([0-9.]+) ([MG])iB/.exec(await needs());
            shown.push(Number(amount) * (unit === "G" ? 1024 : 1));
        }
        assert.ok(shown[0] < shown[1] && shown[1] < shown[2], shown.join(" "));
    });

    test("a_proof_that_does_not_fit_is_refused_before_it_starts", async () => {
        await page.locator(".options > summary").click();
        await page.selectOption("#memory-limit", "67108864");
        await page.fill("#signers", "1024");
        await page.waitForFunction(() => document.getElementById("needs").textContent.startsWith("Does not fit"));
        assert.match(await needs(), /needs about [0-9.]+ [MG]iB of memory, and [0-9]+ MiB can be used/);
        assert.equal(await page.locator("#start").getAttribute("aria-disabled"), "true");
        await page.locator("#start").press("Enter");
        await page.waitForTimeout(500);
        assert.ok(await page.locator("#work").isHidden());
        await page.selectOption("#memory-limit", "4294967296");
        await page.waitForFunction(() => document.getElementById("needs").textContent.startsWith("Needs"));
        assert.equal(await page.locator("#start").getAttribute("aria-disabled"), "false");
    });

    test("what_cannot_be_asked_for_is_said_beside_its_field", async () => {
        const cases = [
            ["#signers", ["0", "-1", "65537", "2.5", ""], "16"],
            ["#epoch", ["-1", "4294967296", ""], "7"],
            ["#message", ["0x", "0x1234"], "a text"],
        ];
        for (const [id, wrong, right] of cases) {
            for (const value of wrong) {
                await page.fill(/** @type {string} */ (id), value);
                assert.notEqual(await page.locator(`${id}-error`).innerText(), "", `${id} ${value}`);
                assert.equal(await page.locator(/** @type {string} */ (id)).getAttribute("aria-invalid"), "true");
                await page.locator("#start").press("Enter");
                assert.ok(await page.locator("#work").isHidden());
                assert.equal(await page.evaluate(() => `#${document.activeElement.id}`), id, "the field is where one is led");
            }
            await page.fill(/** @type {string} */ (id), /** @type {string} */ (right));
            assert.equal(await page.locator(`${id}-error`).innerText(), "");
        }
    });

    test("the_message_is_the_texts_shake256_digest_or_the_bytes_themselves", async () => {
        for (const text of ["", "Hello", "ä€😀", "x".repeat(135), "x".repeat(136), "y".repeat(1000)]) {
            await page.fill("#message", text);
            const digest = createHash("shake256", { outputLength: 32 }).update(text).digest("hex");
            assert.equal(await page.locator("#message-digest").innerText(), `0x${digest}`);
        }
        const own = `0x${"0123456789abcdef".repeat(4)}`;
        await page.fill("#message", own);
        assert.equal(await page.locator("#message-digest").innerText(), own);
    });

    test("a_proof_is_made_saved_and_verified_by_the_native_command", async () => {
        await page.fill("#message", "Hello from a test");
        await page.fill("#epoch", "4294967295");
        await page.evaluate(() => {
            globalThis.seen = [];
            const bar = document.getElementById("progress");
            const look = () => {
                if (!document.getElementById("work").hidden) globalThis.seen.push(bar.value);
            };
            new MutationObserver(look).observe(bar, { attributes: true });
        });
        await startMaking(page, 3);
        await page.waitForSelector("#check-made", { timeout: PATIENCE });
        const seen = await page.evaluate(() => globalThis.seen);
        assert.ok(seen.length > 10, `${seen.length} reports`);
        const going = seen.slice(0, -1);
        assert.ok(going.every((value, i) => i === 0 || value >= going[i - 1]), "progress only grows");
        assert.equal(seen.at(-1), 1);
        assert.match(await page.locator("#made").innerText(), /3 signatures, one proof/);
        const stages = await page.locator("table.times tbody th").allInnerTexts();
        assert.deepEqual(stages, ["Keys", "Signatures", "Witness", "Commitment", "Bus", "Keccak layers", "Opening"]);

        /** @param {string} button */
        const save = async (button) => {
            const [file] = await Promise.all([page.waitForEvent("download"), page.locator(button).click()]);
            const to = path.join(work, file.suggestedFilename());
            await file.saveAs(to);
            return to;
        };
        const proof = await save("#save-proof");
        const keys = await save("#save-keys");
        assert.equal(path.basename(proof), "aggregate-of-3-epoch-4294967295.sheaf");
        const text = path.join(work, "message.txt");
        fs.writeFileSync(text, "Hello from a test");
        sheaf("verify", proof, "--keys", keys, "--message-file", text, "--epoch", "4294967295");

        await page.locator("#check-made").click();
        const said = await verdict(page);
        assert.equal(said.kind, "good");
        assert.match(said.text, /Signers, epoch and message are those that you expect/);
        assert.match((await facts(page)).Epoch, /^4294967295 .*as you expect$/);
    });

    test("a_proof_is_cancelled_and_another_can_be_made", async () => {
        await startMaking(page, 64);
        /* The bar of the proof before is full until this one starts. */
        const proving = () => !document.getElementById("cancel").hidden && document.getElementById("progress").value > 0.07;
        await page.waitForFunction(proving, null, { timeout: PATIENCE });
        assert.ok(await page.locator("#start").isHidden());
        assert.ok(await page.locator("#signers").isDisabled());
        await page.getByRole("button", { name: "Cancel" }).click();
        await page.waitForFunction(() => document.getElementById("made").textContent.startsWith("Cancelled"));
        assert.ok(await page.locator("#cancel").isHidden());
        assert.ok(await page.locator("#signers").isEnabled());
        assert.equal(await page.evaluate(() => document.activeElement.id), "start");
        await startMaking(page, 1);
        await page.waitForSelector("#check-made", { timeout: PATIENCE });
        assert.match(await page.locator("#made").innerText(), /1 signature, one proof/);
    });

    test("cancelling_while_keys_are_signed_with_works_too", async () => {
        await startMaking(page, 3000);
        await page.waitForFunction(() => document.getElementById("work-stage").textContent.startsWith("Keys"));
        await page.locator("#cancel").press("Space");
        await page.waitForFunction(() => document.getElementById("made").textContent.startsWith("Cancelled"));
    });

    test("the_browsers_proof_has_the_same_bytes_as_the_native_one_for_any_number_of_threads", async () => {
        const folder = fs.mkdtempSync(path.join(work, "same-"));
        const at = (/** @type {string} */ name) => path.join(folder, name);
        for (const i of [1, 2]) {
            sheaf("keygen", "--epochs", "7:1", "--seed", String(i).repeat(64), "-o", at(`${i}.key`), "--quiet");
            sheaf("sign", "--key", at(`${i}.key`), "--epoch", "7", "--message", `0x${"5a".repeat(32)}`, "-o", at(`${i}.sig`));
        }
        sheaf("collect", at("1.sig"), at("2.sig"), "-o", at("signatures.json"));
        sheaf("aggregate", at("signatures.json"), "-o", at("native.sheaf"), "--quiet");
        const native = createHash("sha256").update(fs.readFileSync(at("native.sheaf"))).digest("hex");
        const made = await page.evaluate(async (text) => {
            const { createProver, parseSignatures } = await import("../index.js");
            const digests = [];
            for (const threads of [1, 2]) {
                const prover = await createProver({ threads });
                const envelope = await prover.aggregate(await parseSignatures(text));
                const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", envelope));
                digests.push(`${prover.threads} ${[...digest].map((b) => b.toString(16).padStart(2, "0")).join("")}`);
                await prover.dispose();
            }
            return digests;
        }, fs.readFileSync(at("signatures.json"), "utf8"));
        assert.deepEqual(made, [`1 ${native}`, `2 ${native}`]);
        fs.rmSync(folder, { recursive: true });
    });
});
