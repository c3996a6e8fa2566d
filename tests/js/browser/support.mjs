/* What the browser's tests share: a served page, a browser, files to check.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
export const work = path.join(root, "build", "browser");
export const shots = path.join(root, "build", "screenshots");
export const command = process.env.SHEAF ?? path.join(root, "build", "native", "sheaf");
/** Proving takes seconds, and several times that on a busy machine. */
export const PATIENCE = 120000;

fs.mkdirSync(work, { recursive: true });
fs.mkdirSync(shots, { recursive: true });

/* ---- the server ---- */

/** @param {{isolated?: boolean}} [options] */
export async function startServer({ isolated = true } = {}) {
    const args = [path.join(root, "tools", "serve.mjs"), "--port", "0", ...(isolated ? [] : ["--no-isolation"])];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const address = await new Promise((resolve, reject) => {
        let text = "";
        child.stdout.on("data", (data) => {
            text += data;
            const found = /http:\/\/\S+/.exec(text);
            if (found) resolve(found[0]);
        });
        child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
    });
    const origin = new URL(address).origin;
    return {
        origin,
        page: `${origin}/page/`,
        stop: () =>
            new Promise((resolve) => {
                child.on("exit", resolve);
                child.kill();
            }),
    };
}

/* ---- the browser ---- */

export function startBrowser() {
    return chromium.launch({
        timeout: PATIENCE,
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        args: [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ],
    });
}

/**
 * A page of its own context, which keeps what went wrong on it. `close` fails where anything did.
 * @param {import("playwright-core").Browser} browser
 * @param {string} url
 * @param {import("playwright-core").BrowserContextOptions & {before?: (page: import("playwright-core").Page) => Promise<void>}} [options]
 */
export async function openPage(browser, url, { before, ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1024, height: 800 }, reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(PATIENCE); // a busy machine is no failure
    const page = await context.newPage();
    /** @type {string[]} */
    const problems = [];
    /** @type {string[]} */
    const requests = [];
    page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => problems.push(`exception: ${error.message}`));
    context.on("request", (request) => requests.push(request.url()));
    await page.addInitScript(() => {
        addEventListener("securitypolicyviolation", (event) => {
            console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
        });
    });
    await before?.(page);
    await page.goto(url);
    await page.waitForURL("**/page/");
    await page.waitForFunction(() => !["Starting.", undefined].includes(document.getElementById("about")?.textContent));
    return {
        page,
        problems,
        requests,
        async close() {
            await context.close();
            assert.deepEqual(problems, [], "nothing went wrong on the page");
        },
    };
}

/**
 * Ends everything, and only then says what went wrong.
 * @param {({close?: () => Promise<void>, stop?: () => Promise<unknown>} | undefined)[]} things
 */
export async function endAll(...things) {
    const ends = [];
    for (const thing of things) ends.push(...(await Promise.allSettled([thing?.close?.(), thing?.stop?.()])));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
}

/* ---- files ---- */

/** @param {string} name @param {(file: string) => void} make */
function once(name, make) {
    const file = path.join(work, name);
    if (!fs.existsSync(file) || fs.statSync(file).mtimeMs < fs.statSync(command).mtimeMs) {
        fs.rmSync(file, { force: true });
        make(file);
    }
    return file;
}

/** @param {...string} args */
export function sheaf(...args) {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** An aggregate of n signers that the native command made. @param {number} n */
export function aggregateOf(n) {
    const script = path.join(root, "tools", "make-example.sh");
    const env = { ...process.env, SHEAF: command };
    return once(`signers-${n}.sheaf`, (file) => execFileSync("sh", [script, String(n), file], { env, stdio: "pipe" }));
}

export function hashBatch() {
    return once("hashes.sheaf", (file) => sheaf("hash", "prove", "--log-n", "3", "-o", file));
}

/** @param {string} file */
export function parse(file) {
    const data = fs.readFileSync(file);
    const n = data.readUInt32LE(12);
    const keys = Array.from({ length: n }, (_, i) => data.subarray(56 + 32 * i, 88 + 32 * i));
    return {
        data,
        n,
        epoch: data.readUInt32LE(16),
        message: `0x${data.subarray(24, 56).toString("hex")}`,
        keys: keys.map((key) => `0x${key.toString("hex")}`),
        proofAt: 60 + 32 * n,
    };
}

/** @param {string} name @param {string | Uint8Array} content */
export function write(name, content) {
    const file = path.join(work, name);
    fs.writeFileSync(file, content);
    return file;
}

/** @param {string} name @param {string[]} keys */
export function writeKeys(name, keys) {
    return write(name, JSON.stringify({ scheme: "leanXMSS", publicKeys: keys }));
}

/** The file with one byte changed. @param {string} file @param {number} at @param {string} name */
export function changed(file, at, name) {
    const data = Buffer.from(fs.readFileSync(file));
    data[at] ^= 1;
    return write(name, data);
}

/* ---- the page's words ---- */

/**
 * Gives the page files and waits for what it says about them.
 * @param {import("playwright-core").Page} page @param {string | string[]} files
 */
export async function check(page, files) {
    await page.evaluate(() => document.getElementById("verdict").replaceChildren());
    await page.setInputFiles("#proof-file", files);
    return verdict(page);
}

/** @param {import("playwright-core").Page} page */
export async function verdict(page) {
    await page.waitForSelector("#verdict .verdict:not(.busy)", { timeout: PATIENCE });
    const box = page.locator("#verdict .verdict");
    return {
        kind: (await box.getAttribute("class")).replace("verdict", "").trim(),
        title: await box.locator("h3").innerText(),
        text: await box.innerText(),
    };
}

/** @param {import("playwright-core").Page} page */
export async function facts(page) {
    const rows = await page.locator("#findings .card:first-child .facts > div").all();
    /** @type {Record<string, string>} */
    const out = {};
    for (const row of rows) out[await row.locator("dt").innerText()] = await row.locator("dd").innerText();
    return out;
}

/**
 * Fills in the second panel and starts.
 * @param {import("playwright-core").Page} page @param {number} signers @param {{threads?: string}} [options]
 */
export async function startMaking(page, signers, { threads } = {}) {
    await page.fill("#signers", String(signers));
    if (threads) {
        await page.locator(".options > summary").click();
        await page.selectOption("#threads", threads);
    }
    await page.locator("#start").click();
}
