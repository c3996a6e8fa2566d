/* The page's first panel: files of every sort.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, describe, test } from "node:test";
import {
    aggregateOf,
    changed,
    check,
    endAll,
    facts,
    hashBatch,
    openPage,
    parse,
    startBrowser,
    startServer,
    verdict,
    work,
    write,
    writeKeys,
} from "./support.mjs";

describe("the page, checking", () => {
    /** @type {Awaited<ReturnType<typeof startServer>>} */
    let server;
    /** @type {import("playwright-core").Browser} */
    let browser;
    /** @type {Awaited<ReturnType<typeof openPage>>} */
    let tab;
    /** @type {import("playwright-core").Page} */
    let page;
    const good = aggregateOf(16);
    const about = parse(good);

    before(async () => {
        server = await startServer();
        browser = await startBrowser();
        tab = await openPage(browser, server.page);
        page = tab.page;
    });

    after(() => endAll(tab, browser, server));

    test("an_aggregate_is_accepted_and_described", async () => {
        const said = await check(page, good);
        assert.equal(said.kind, "good");
        assert.match(said.title, /^Accepted/);
        assert.match(said.text, /All 16 signers/);
        assert.match(said.text, /Checked in [0-9.]+ m?s\./);
        assert.match(said.text, /was not compared/);
        const is = await facts(page);
        assert.match(is.Scheme, /leanXMSS/);
        assert.equal(is.Epoch, String(about.epoch));
        assert.equal(is.Message, about.message);
        assert.equal(is.Signers, "16");
        await page.locator("#findings details summary").first().click();
        assert.deepEqual(await page.locator("ol.keys code").allInnerTexts(), about.keys);
    });

    test("verification_runs_in_a_worker", async () => {
        await check(page, good);
        assert.ok(page.workers().some((worker) => worker.url().endsWith("worker-verifier.js")));
    });

    test("the_parts_add_up_to_the_file", async () => {
        await check(page, good);
        const cells = await page.locator("table.parts tbody tr td.number:nth-child(2)").allInnerTexts();
        const sizes = cells.map((text) => Number(text.replaceAll(",", "")));
        assert.equal(cells.length, 6);
        assert.equal(
            sizes.reduce((a, b) => a + b),
            about.data.length,
        );
    });

    test("an_aggregate_of_1024_signers_shows_its_keys_piece_by_piece_and_finds_one", async () => {
        const file = aggregateOf(1024);
        const many = parse(file);
        assert.equal((await check(page, file)).kind, "good");
        const list = page.locator("#findings details").first();
        await list.locator("summary").click();
        assert.equal(await list.locator("li").count(), 50);
        await list.getByRole("button", { name: "Show 500 more" }).click();
        assert.equal(await list.locator("li").count(), 550);
        await list.getByLabel("Find").fill(many.keys[1000].slice(0, 20));
        assert.deepEqual(await list.locator("li code").allInnerTexts(), [many.keys[1000]]);
        assert.equal(await list.locator("li").getAttribute("value"), "1001");
        await list.getByLabel("Find").fill("0xnothing");
        assert.match(await list.locator("[role=status]").innerText(), /No such one/);
    });

    test("a_hash_batch_is_accepted_and_described", async () => {
        const said = await check(page, hashBatch());
        assert.equal(said.kind, "good");
        const is = await facts(page);
        assert.match(is.Scheme, /hashes/);
        assert.equal(is.Digests, "8");
        assert.equal(is.Epoch, undefined);
    });

    test("a_byte_changed_anywhere_in_the_proof_is_rejected_with_the_check_in_words", async () => {
        const length = about.data.length - about.proofAt;
        /** @type {Set<string>} */
        const checks = new Set();
        for (const at of [0, 12, 60, 150, 1200, 8000, 30000, length - 40000, length - 700, length - 1]) {
            const said = await check(page, changed(good, about.proofAt + at, "forged.sheaf"));
            assert.equal(said.kind, "bad", `byte ${at}`);
            assert.equal(said.title, "Rejected: the proof does not hold");
            assert.match(said.text, /Nothing that this file claims is to be believed/);
            checks.add(await page.locator("#verdict .detail code").innerText());
            assert.equal(await page.locator("#findings h3").first().innerText(), "The file claims");
        }
        for (const name of ["header", "multiplicity", "bus_balance", "layer", "merkle"])
            assert.ok(checks.has(name), `${name} is among ${[...checks]}`);
        assert.ok(!checks.has("unknown"));
    });

    test("another_epoch_message_or_key_in_the_statement_is_rejected", async () => {
        for (const at of [16, 30, 56 + 32 * 5]) {
            const said = await check(page, changed(good, at, "moved.sheaf"));
            assert.equal(said.kind, "bad");
            assert.match(said.title, /^Rejected/);
        }
    });

    test("what_is_no_proof_file_is_said_to_be_none", async () => {
        const files = {
            "rubbish.sheaf": Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919 + 13) & 255)),
            "empty.sheaf": Buffer.alloc(0),
            "text.sheaf": "<html>hello</html>",
            "head.sheaf": about.data.subarray(0, 8),
            "cut.sheaf": about.data.subarray(0, about.data.length - 1),
            "longer.sheaf": Buffer.concat([about.data, Buffer.alloc(1)]),
        };
        for (const [name, content] of Object.entries(files)) {
            const said = await check(page, write(name, content));
            assert.equal(said.kind, "bad", name);
            assert.equal(said.title, "This is not a proof file", name);
            assert.ok(await page.locator("#findings").isHidden());
        }
    });

    test("a_version_that_is_not_known_is_said_to_be_unsupported", async () => {
        const said = await check(page, changed(good, 9, "version.sheaf"));
        assert.equal(said.title, "This is not supported here");
        assert.match(said.text, /version/);
    });

    test("a_key_that_is_there_twice_is_refused", async () => {
        const data = Buffer.from(about.data);
        data.copy(data, 56 + 32 * 9, 56, 88);
        const said = await check(page, write("twice.sheaf", data));
        assert.equal(said.kind, "bad");
        assert.match(said.title, /twice/);
    });

    test("a_huge_file_is_refused_without_being_read", async () => {
        const huge = `${work}/huge.sheaf`;
        fs.writeFileSync(huge, about.data.subarray(0, 1000));
        fs.truncateSync(huge, 300e6);
        /* Large for the one signer that its header speaks of, though some proof file could have that size. */
        const large = `${work}/large.sheaf`;
        const head = Buffer.from(about.data.subarray(0, 1000));
        head.writeUInt32LE(1, 12);
        fs.writeFileSync(large, head);
        fs.truncateSync(large, 20e6);
        await page.evaluate(() => {
            const read = Blob.prototype.arrayBuffer;
            globalThis.bytesRead = 0;
            Blob.prototype.arrayBuffer = function () {
                globalThis.bytesRead += this.size;
                return read.call(this);
            };
        });
        for (const file of [huge, large]) {
            const said = await check(page, file);
            assert.equal(said.kind, "bad");
            assert.equal(said.title, "This file is too large");
            assert.match(said.text, /It was not read/);
        }
        assert.ok((await page.evaluate(() => globalThis.bytesRead)) <= 56);
        fs.truncateSync(huge, 0);
        fs.truncateSync(large, 0);
    });

    test("the_expected_keys_in_any_order_are_accepted", async () => {
        const said = await check(page, [good, writeKeys("keys.json", [...about.keys].reverse())]);
        assert.equal(said.kind, "good");
        assert.match((await facts(page)).Signers, /as you expect/);
        assert.match(await page.locator("#keys-state").innerText(), /keys\.json: 16 keys/);
    });

    test("keys_that_differ_are_rejected_and_named", async () => {
        const stranger = `0x${"ab".repeat(32)}`;
        const list = about.keys.filter((_, i) => i !== 3).concat(stranger);
        const said = await check(page, [good, writeKeys("others.json", list)]);
        assert.equal(said.kind, "bad");
        assert.equal(said.title, "Rejected: not what you expect");
        const { Signers } = await facts(page);
        assert.match(Signers, /not what you expect/);
        assert.ok(Signers.includes(stranger) && Signers.includes(about.keys[3]));
        assert.ok(!Signers.includes(about.keys[4]));
        const fewer = await check(page, [good, writeKeys("fewer.json", about.keys.slice(1))]);
        assert.equal(fewer.kind, "bad");
        await page.getByRole("button", { name: "Remove the list" }).click();
        assert.equal((await verdict(page)).kind, "good");
    });

    test("an_expected_epoch_and_message_are_compared", async () => {
        assert.equal((await check(page, good)).kind, "good");
        const expect = async (/** @type {string} */ id, /** @type {string} */ value, /** @type {string} */ kind) => {
            await page.evaluate(() => document.getElementById("verdict").replaceChildren());
            await page.fill(id, value);
            await page.locator(id).blur();
            assert.equal((await verdict(page)).kind, kind, `${id} ${value}`);
        };
        if (!(await page.locator("#expect").getAttribute("open"))) await page.evaluate(() => (document.getElementById("expect").open = true));
        await expect("#expect-epoch", String(about.epoch), "good");
        await expect("#expect-epoch", String(about.epoch + 1), "bad");
        assert.match((await facts(page)).Epoch, /not what you expect/);
        await expect("#expect-epoch", "seven", "note");
        assert.match(await page.locator("#expect-epoch-error").innerText(), /whole number/);
        await expect("#expect-epoch", "", "good");
        await expect("#expect-message", about.message, "good");
        await expect("#expect-message", about.message.toUpperCase().replace("0X", "0x"), "good");
        await expect("#expect-message", about.message.replace(/.$/, (c) => (c === "0" ? "1" : "0")), "bad");
        await expect("#expect-message", "0x1234", "note");
        await expect("#expect-message", "some text", "bad");
        await expect("#expect-message", "", "good");
    });

    test("a_hash_batch_is_not_what_someone_expects_who_expects_signers", async () => {
        const said = await check(page, [hashBatch(), writeKeys("keys.json", about.keys)]);
        assert.equal(said.kind, "bad");
        assert.match(said.text, /batch of hashes/);
        await page.getByRole("button", { name: "Remove the list" }).click();
    });

    test("a_list_of_keys_that_is_none_is_said_to_be_none", async () => {
        const lists = {
            "not.json": "{",
            "fields.json": '{"keys": []}',
            "short.json": '{"scheme": "leanXMSS", "publicKeys": ["0x12"]}',
            "none.json": '{"scheme": "leanXMSS", "publicKeys": []}',
            "twice.json": JSON.stringify({ scheme: "leanXMSS", publicKeys: [about.keys[0], about.keys[0]] }),
        };
        for (const [name, text] of Object.entries(lists)) {
            await page.setInputFiles("#keys-file", write(name, text));
            await page.waitForFunction((n) => document.getElementById("keys-error").textContent.includes(n), name);
            assert.equal(await page.locator("#keys-state").innerText(), "not usable");
        }
        await page.getByRole("button", { name: "Remove the list" }).click();
        assert.equal(await page.locator("#keys-state").innerText(), "any");
        assert.equal(await page.locator("#keys-error").innerText(), "");
    });

    test("a_list_that_is_not_readable_leaves_no_acceptance_standing", async () => {
        await check(page, [good, writeKeys("keys.json", about.keys)]);
        await page.evaluate(() => document.getElementById("verdict").replaceChildren());
        await page.setInputFiles("#keys-file", write("broken.json", "["));
        const said = await verdict(page);
        assert.equal(said.title, "Not checked");
        assert.match(await page.locator("#keys-error").innerText(), /broken\.json is not usable/);
    });

    test("files_that_are_dropped_are_checked", async () => {
        await page.getByRole("button", { name: "Remove the list" }).click();
        const keys = fs.readFileSync(writeKeys("keys.json", about.keys), "utf8");
        await page.evaluate(() => document.getElementById("verdict").replaceChildren());
        const transfer = await page.evaluateHandle(
            ([proof, list]) => {
                const data = new DataTransfer();
                data.items.add(new File([Uint8Array.from(atob(proof), (c) => c.charCodeAt(0))], "dropped.sheaf"));
                data.items.add(new File([list], "dropped.json", { type: "application/json" }));
                return data;
            },
            [about.data.toString("base64"), keys],
        );
        await page.dispatchEvent("main", "dragover", { dataTransfer: transfer });
        assert.ok(await page.locator("#drop-veil").isVisible());
        await page.dispatchEvent("main", "drop", { dataTransfer: transfer });
        const said = await verdict(page);
        assert.equal(said.kind, "good");
        assert.ok(await page.locator("#drop-veil").isHidden());
        const is = await facts(page);
        assert.match(is.File, /^dropped\.sheaf/);
        assert.match(is.Signers, /as you expect/);
        await page.getByRole("button", { name: "Remove the list" }).click();
    });

    test("a_file_name_is_shown_as_text", async () => {
        const name = "<img src=x onerror=alert(1)>.sheaf";
        fs.copyFileSync(good, `${work}/${name}`);
        await check(page, `${work}/${name}`);
        assert.ok((await facts(page)).File.startsWith(name));
        assert.equal(await page.locator("#findings img").count(), 0);
    });

    test("the_last_of_two_files_is_the_one_that_is_shown", async () => {
        const large = aggregateOf(1024);
        await page.setInputFiles("#proof-file", large);
        await page.setInputFiles("#proof-file", good);
        await page.waitForFunction(() => document.querySelector("#findings .facts dd")?.textContent.startsWith("signers-16."));
        await page.waitForTimeout(300);
        assert.equal((await facts(page)).Signers, "16");
    });
});
