/* The page for everyone: keyboard, screen reader, phone, dark, still.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import {
    PATIENCE,
    aggregateOf,
    changed,
    check,
    endAll,
    openPage,
    parse,
    shots,
    startBrowser,
    startMaking,
    startServer,
    verdict,
    writeKeys,
} from "./support.mjs";

/** @param {import("playwright-core").Page} page */
const openFolds = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));

/** Contrast of every text with what lies behind it, where it is too low. @param {import("playwright-core").Page} page */
function faintTexts(page) {
    return page.evaluate(() => {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = 1;
        const pen = canvas.getContext("2d", { willReadFrequently: true });
        /** @param {string} color */
        const rgba = (color) => {
            pen.clearRect(0, 0, 1, 1);
            pen.fillStyle = color;
            pen.fillRect(0, 0, 1, 1);
            const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
            return { rgb: [r, g, b], alpha: a / 255 };
        };
        /** @param {number[]} rgb */
        const light = (rgb) => {
            const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        /** @param {Element} node */
        const behind = (node) => {
            for (let at = node; at !== null; at = at.parentElement) {
                const { rgb, alpha } = rgba(getComputedStyle(at).backgroundColor);
                if (alpha > 0.99) return rgb;
            }
            return [255, 255, 255];
        };
        const faint = [];
        let looked = 0;
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            const text = walk.currentNode.textContent.trim();
            const node = walk.currentNode.parentElement;
            if (text === "" || !node.checkVisibility() || ["SCRIPT", "NOSCRIPT", "TITLE", "OPTION", "title"].includes(node.tagName)) continue;
            const style = getComputedStyle(node);
            const a = light(rgba(style.color).rgb);
            const b = light(behind(node));
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            looked++;
            if (ratio < 4.5) faint.push(`${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
        }
        return { faint, looked };
    });
}

describe("the page, for everyone", () => {
    /** @type {Awaited<ReturnType<typeof startServer>>} */
    let server;
    /** @type {import("playwright-core").Browser} */
    let browser;
    const good = aggregateOf(16);
    const about = parse(good);

    before(async () => {
        server = await startServer();
        browser = await startBrowser();
    });

    after(() => endAll(browser, server));

    test("headings_landmarks_and_language_are_there", async () => {
        const tab = await openPage(browser, server.page);
        await check(tab.page, good);
        const is = await tab.page.evaluate(() => ({
            language: document.documentElement.lang,
            levels: [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((h) => Number(h.tagName[1])),
            landmarks: ["header", "nav", "main", "footer"].map((name) => document.querySelectorAll(name).length),
            ids: [...document.querySelectorAll("[id]")].map((node) => node.id),
            unnamedPictures: document.querySelectorAll("img:not([alt]), svg:not([aria-hidden])").length,
            captions: [...document.querySelectorAll("table")].every((table) => table.caption?.textContent),
        }));
        assert.equal(is.language, "en");
        assert.equal(is.levels.filter((level) => level === 1).length, 1);
        is.levels.forEach((level, i) => assert.ok(i === 0 ? level === 1 : level <= is.levels[i - 1] + 1, "no level is skipped"));
        assert.deepEqual(is.landmarks, [1, 1, 1, 1]);
        assert.equal(new Set(is.ids).size, is.ids.length, "no id twice");
        assert.equal(is.unnamedPictures, 0);
        assert.ok(is.captions);
        await tab.close();
    });

    test("every_control_has_a_role_and_a_name", async () => {
        const tab = await openPage(browser, server.page);
        const { page } = tab;
        await check(page, [good, writeKeys("keys.json", about.keys)]);
        await openFolds(page);
        const names = [
            ["button", "Choose a proof file"],
            ["button", "Signers Choose a list of keys"],
            ["button", "Remove the list"],
            ["button", "Save the list"],
            ["searchbox", "Find"],
            ["textbox", "Epoch"],
            ["textbox", "Message"],
            ["spinbutton", "Signers"],
            ["spinbutton", "Epoch"],
            ["combobox", "Threads"],
            ["combobox", "Memory, at most"],
            ["button", "Make the proof"],
            ["link", "Check"],
            ["link", "Make"],
        ];
        const tree = await page.locator("body").ariaSnapshot();
        for (const [role, name] of names) {
            const found = page.getByRole(/** @type {any} */ (role), { name, exact: false });
            assert.ok((await found.count()) >= 1, `${role} "${name}" in\n${tree}`);
        }
        const unnamed = await page.evaluate(() =>
            [...document.querySelectorAll("input, select, button, summary, a, progress")]
                .filter((node) => {
                    const own = node.textContent.trim();
                    const labels = [...(/** @type {any} */ (node).labels ?? [])].map((l) => l.textContent.trim()).join("");
                    return !(node.getAttribute("aria-labelledby") || labels || own);
                })
                .map((node) => node.outerHTML),
        );
        assert.deepEqual(unnamed, []);
        const broken = await page.evaluate(() =>
            [...document.querySelectorAll("[aria-describedby], [aria-labelledby]")].flatMap((node) =>
                `${node.getAttribute("aria-describedby") ?? ""} ${node.getAttribute("aria-labelledby") ?? ""}`
                    .split(" ")
                    .filter((id) => id !== "" && document.getElementById(id) === null),
            ),
        );
        assert.deepEqual(broken, [], "every description that is referred to is there");
        await tab.close();
    });

    test("verdicts_errors_and_progress_are_spoken", async () => {
        const tab = await openPage(browser, server.page);
        const { page } = tab;
        assert.equal(await page.locator("#verdict").getAttribute("role"), "status");
        assert.equal(await page.locator("#needs").getAttribute("role"), "status");
        assert.equal(await page.locator("#announcer").getAttribute("aria-live"), "polite");
        for (const id of ["#keys-error", "#expect-epoch-error", "#signers-error"])
            assert.equal(await page.locator(id).getAttribute("role"), "alert");
        await check(page, good);
        assert.match(await page.getByRole("status").filter({ hasText: "Accepted" }).innerText(), /16 signers/);
        await page.evaluate(() => {
            globalThis.spoken = [];
            new MutationObserver(() => globalThis.spoken.push(document.getElementById("announcer").textContent)).observe(
                document.getElementById("announcer"),
                { childList: true, characterData: true, subtree: true },
            );
        });
        await startMaking(page, 1);
        await page.waitForSelector("#check-made", { timeout: PATIENCE });
        const spoken = await page.evaluate(() => globalThis.spoken.filter(Boolean));
        assert.match(spoken[0], /^Keys, 0 %/);
        assert.match(spoken.at(-1), /^The proof of 1 signature is made, in /);
        assert.ok(spoken.length <= 2 + (PATIENCE / 4000), "not at every step");
        assert.ok(await page.getByRole("progressbar").isVisible());
        await tab.close();
    });

    test("everything_is_reached_in_order_and_seen_by_keyboard_alone", async () => {
        const tab = await openPage(browser, server.page);
        const { page } = tab;
        await page.waitForFunction(() => document.getElementById("needs").textContent.startsWith("Needs"));
        await page.evaluate(() => window.scrollTo(0, 0));
        const stops = [];
        for (let i = 0; i < 30; i++) {
            await page.keyboard.press("Tab");
            const stop = await page.evaluate(() => {
                const node = document.activeElement;
                if (node === null || node === document.body) return null;
                const seen = node.matches(".file-input") ? node.nextElementSibling : node;
                const style = getComputedStyle(seen);
                const box = seen.getBoundingClientRect();
                return {
                    name: node.id || node.textContent.trim(),
                    ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
                    inSight: box.top >= 0 && box.bottom <= innerHeight + 1 && box.width > 20,
                };
            });
            if (stop === null) break;
            stops.push(stop);
        }
        for (const stop of stops) assert.ok(stop.ring && stop.inSight, JSON.stringify(stop));
        const names = stops.map((stop) => stop.name.replace(/\s+/g, " "));
        assert.deepEqual(names, [
            "Skip to checking a proof",
            "Check",
            "Make",
            "proof-file",
            "What you expect optional",
            "signers",
            "epoch",
            "message",
            "Threads and memory",
            "start",
        ]);
        await tab.close();
    });

    test("a_proof_is_checked_made_cancelled_and_saved_by_keyboard_alone", async () => {
        const tab = await openPage(browser, server.page);
        const { page } = tab;
        const { keyboard } = page;
        /** Goes on until there. @param {string} id @param {string} [key] */
        const goTo = async (id, key = "Tab") => {
            for (let i = 0; i < 60; i++) {
                if ((await page.evaluate(() => document.activeElement?.id)) === id) return;
                await keyboard.press(key);
            }
            assert.fail(`${id} is not reached`);
        };
        /* The browser must know that a chooser is waited for before the key that opens one. */
        const chooserByEnter = async () => {
            const opened = page.waitForEvent("filechooser", { timeout: PATIENCE });
            await page.evaluate(() => 0);
            await keyboard.press("Enter");
            return opened;
        };
        await goTo("proof-file");
        const chooser = await chooserByEnter();
        await chooser.setFiles(good);
        assert.equal((await verdict(page)).kind, "good");

        await keyboard.press("Tab");
        await keyboard.press("Space");
        assert.ok(await page.locator("#expect-epoch").isVisible(), "the fold opens");
        await goTo("keys-file");
        const second = await chooserByEnter();
        await second.setFiles(writeKeys("keys.json", about.keys));
        await page.waitForFunction(() => !document.getElementById("keys-clear").hidden);
        await goTo("keys-clear");
        await keyboard.press("Enter");
        assert.equal(await page.evaluate(() => document.activeElement.id), "keys-file", "focus is not lost with the button");
        await goTo("expect-epoch");
        await keyboard.type(String(about.epoch + 1));
        await keyboard.press("Tab");
        await page.waitForFunction(() => document.querySelector("#verdict .bad") !== null);

        await goTo("signers");
        await keyboard.press("Control+a");
        await keyboard.type("2");
        await keyboard.press("Enter");
        await page.waitForFunction(() => document.activeElement?.id === "cancel");
        await keyboard.press("Enter");
        await page.waitForFunction(() => document.getElementById("made").textContent.startsWith("Cancelled"));
        assert.equal(await page.evaluate(() => document.activeElement.id), "start");
        await keyboard.press("Enter");
        await page.waitForSelector("#check-made", { timeout: PATIENCE });
        assert.equal(await page.evaluate(() => document.activeElement.id), "made", "the result is where one is led");
        await keyboard.press("Tab");
        assert.equal(await page.evaluate(() => document.activeElement.id), "save-proof");
        const [file] = await Promise.all([page.waitForEvent("download"), keyboard.press("Enter")]);
        assert.match(file.suggestedFilename(), /\.sheaf$/);
        await goTo("check-made");
        await keyboard.press("Enter");
        await page.waitForFunction(() => document.activeElement?.id === "verdict");
        assert.equal((await verdict(page)).kind, "good");
        await tab.close();
    });

    for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
        test(`every_text_is_readable_in_${colorScheme}`, async () => {
            const tab = await openPage(browser, server.page, { colorScheme });
            const { page } = tab;
            const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
            assert.equal(Number(/\d+/.exec(ground)[0]) > 128, colorScheme === "light");
            await openFolds(page);
            const others = writeKeys("others.json", about.keys.slice(1).concat(`0x${"ab".repeat(32)}`));
            for (const files of [[good], [changed(good, about.proofAt + 12, "forged.sheaf")], [good, others]]) {
                await check(page, files);
                await openFolds(page);
                const { faint, looked } = await faintTexts(page);
                assert.deepEqual(faint, []);
                assert.ok(looked > 60, `${looked} texts`);
            }
            await tab.close();
        });
    }

    test("nothing_is_wider_than_a_narrow_phone_and_buttons_are_large_enough", async () => {
        for (const width of [320, 360]) {
            const tab = await openPage(browser, server.page, { viewport: { width, height: 740 }, isMobile: true, hasTouch: true });
            const { page } = tab;
            await check(page, [aggregateOf(1024), writeKeys("others.json", about.keys)]);
            await openFolds(page);
            const is = await page.evaluate((room) => ({
                width: document.documentElement.scrollWidth,
                outside: [...document.querySelectorAll("body *:not(.visually-hidden):not(.skip)")]
                    .filter((n) => n.checkVisibility() && n.getBoundingClientRect().right > room + 0.5)
                    .map((n) => n.outerHTML.slice(0, 120)),
                small: [...document.querySelectorAll("button, .button, select, summary, input:not([type=file])")]
                    .filter((n) => n.checkVisibility() && n.getBoundingClientRect().height < (n.tagName === "SUMMARY" ? 24 : 44))
                    .map((n) => n.outerHTML.slice(0, 120)),
            }), width);
            assert.deepEqual(is, { width, outside: [], small: [] });
            await tab.close();
        }
    });

    test("nothing_moves_for_those_who_want_it_still", async () => {
        for (const reducedMotion of /** @type {const} */ (["reduce", "no-preference"])) {
            const tab = await openPage(browser, server.page, { reducedMotion });
            const moving = await tab.page.evaluate(
                () =>
                    [...document.querySelectorAll("*")].filter((node) => {
                        const style = getComputedStyle(node);
                        return (
                            style.animationName !== "none" ||
                            style.transitionDuration.split(",").some((d) => parseFloat(d) > 0) ||
                            style.scrollBehavior === "smooth"
                        );
                    }).length,
            );
            assert.equal(moving === 0, reducedMotion === "reduce", `${moving} things move: ${reducedMotion}`);
            await tab.close();
        }
    });

    test("pictures_of_the_page_are_taken", async () => {
        const sizes = [
            ["phone", 360, 740],
            ["desktop", 1280, 900],
        ];
        const forged = changed(good, about.data.length - 20000, "forged.sheaf");
        const others = writeKeys("others.json", about.keys.slice(1).concat(`0x${"ab".repeat(32)}`));
        for (const [name, width, height] of sizes) {
            for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
                const viewport = { width: Number(width), height: Number(height) };
                const tab = await openPage(browser, server.page, { viewport, colorScheme });
                const { page } = tab;
                /** @param {string} what */
                const shoot = (what) => page.screenshot({ path: path.join(shots, `${what}-${name}-${colorScheme}.png`), fullPage: true });
                await shoot("start");
                await check(page, good);
                await shoot("accepted");
                await check(page, forged);
                await shoot("forged");
                await check(page, [good, others]);
                await shoot("other-keys");
                if (colorScheme === (name === "phone" ? "dark" : "light")) {
                    await startMaking(page, 8);
                    await page.waitForFunction(() => document.getElementById("progress").value > 0.2, null, { timeout: PATIENCE });
                    await shoot("making");
                    await page.waitForSelector("#check-made", { timeout: PATIENCE });
                    await shoot("made");
                }
                await tab.close();
            }
        }
    });
});
