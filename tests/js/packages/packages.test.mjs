/* The packed package in fresh projects.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each project is made anew, takes the tarball as a user would, builds with the tool's own defaults, and is then run: in Node, or
 * in headless Chromium (CHROMIUM, default /usr/bin/chromium). What a browser runs is skipped where there is none. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { createServer } from "../../../tools/serve.mjs";
import { root, workFolder } from "../support.mjs";

const top = workFolder();
const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";
const withBrowser = { skip: fs.existsSync(chromium) ? false : "there is no Chromium" };
const VERSIONS = { vite: "8", webpack: "5", "webpack-cli": "7", esbuild: "0.28", next: "16", react: "19", "react-dom": "19", typescript: "5.9", "@types/node": "20" };
/* As strict as WebAssembly lets it be. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src data:";
const npmrc = "omit-lockfile-registry-resolved=true\nfund=false\naudit=false\nupdate-notifier=false\n";

let tarball = "";

/** @param {string} folder @param {string} file @param {string[]} args @param {Record<string, string>} [env] */
function run(folder, file, args, env = {}) {
    const done = spawnSync(file, args, { cwd: folder, encoding: "utf8", timeout: 900000, env: { ...process.env, SHEAF_NATIVE: "none", ...env } });
    assert.equal(done.status, 0, `${file} ${args.join(" ")}\n${done.stdout}\n${done.stderr}`);
    return done.stdout;
}

/**
 * A fresh project with the tarball and some packages.
 * @param {string} name @param {(keyof typeof VERSIONS)[]} packages @param {Record<string, string>} files @param {object} [more] of package.json
 */
function project(name, packages, files, more = {}) {
    const folder = path.join(top, name);
    fs.mkdirSync(folder);
    const write = (/** @type {string} */ file, /** @type {string} */ text) => {
        fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
        fs.writeFileSync(path.join(folder, file), text);
    };
    write("package.json", JSON.stringify({ name: `a-${name}`, private: true, type: "module", ...more }));
    write(".npmrc", npmrc);
    for (const [file, text] of Object.entries(files)) write(file, text);
    run(folder, "npm", ["install", "--silent", "--prefer-offline", tarball, ...packages.map((p) => `${p}@${VERSIONS[p]}`)]);
    const lock = fs.readFileSync(path.join(folder, "package-lock.json"), "utf8");
    assert.doesNotMatch(lock, /https?:\/\/[^"]*registry/, "the lock file names no host");
    return folder;
}

/** What every project does: proves, verifies, rejects. */
const WORK = `
    const prover = await sheaf.createProver({ onNotice() {} });
    const batch = await prover.proveHashBatch([new Uint8Array(128), new Uint8Array(128).fill(1)]);
    const good = await sheaf.verify(batch, { scheme: "hash", digests: "any" });
    const forged = batch.slice();
    forged[forged.length - 1] ^= 1;
    const bad = await sheaf.verify(forged, { scheme: "hash", digests: "any" });
    const code = await sheaf.verify(new Uint8Array(3), { scheme: "hash", digests: "any" }).catch((e) => e instanceof sheaf.SheafError && e.code);
    const { threads, notice } = prover;
    await prover.dispose();
    return { good, bad, code, threads, notice };`;
const MAIN = `import * as sheaf from "sheaf";
async function work() {${WORK}}
work().then((said) => { document.title = JSON.stringify(said); }, (error) => { document.title = "failed " + error.stack; });
`;
const HTML = (/** @type {string} */ script) => `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title></title><script type="module" src="${script}"></script>\n`;

/** @param {any} said @param {boolean} isolated */
function checkSaid(said, isolated) {
    assert.deepEqual([said.good, said.bad, said.code], [true, false, "MALFORMED"]);
    if (isolated) {
        assert.equal(said.notice, null);
        assert.ok(said.threads >= 1);
    } else {
        assert.equal(said.threads, 1);
        assert.match(said.notice, /not cross-origin isolated/);
    }
}

/** @type {import("playwright-core").Browser | undefined} */
let browser;

/** Opens a folder's page; what it said. @param {string} folder @param {{isolation?: boolean, csp?: string}} [options] */
async function inBrowser(folder, options = {}) {
    const { chromium: launcher } = await import("playwright-core");
    browser ??= await launcher.launch({
        executablePath: chromium,
        args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    });
    const server = createServer(folder, options);
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    const page = await browser.newPage();
    /** @type {string[]} */
    const problems = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(String(error)));
    try {
        const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
        await page.goto(`http://127.0.0.1:${port}/`);
        await page.waitForFunction(() => document.title !== "", null, { timeout: 300000 }).catch((error) => {
            throw new Error(`${error.message}\n${problems.join("\n")}`);
        });
        const title = await page.title();
        assert.match(title, /^\{/, `${title}\n${problems.join("\n")}`);
        assert.deepEqual(problems, []);
        return JSON.parse(title);
    } finally {
        await page.close();
        server.close();
    }
}

/* One suite around all, whose end is the browser's end too: a test file ends only when nothing of it runs any more. */
describe("the packed package", () => {
    before(() => {
        const out = run(top, "npm", ["pack", root, "--silent"]);
        tarball = path.join(top, out.trim().split("\n").pop() ?? "");
    });
    after(() => browser?.close());

    describe("the tarball", () => {
        test("has what is needed and nothing else", () => {
            const names = run(top, "tar", ["-tzf", tarball]).trim().split("\n").map((name) => name.replace(/^package\//, ""));
            for (const name of ["package.json", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "node/cli.js", "node/index.cjs", "node/index.d.cts", "web/index.js", "web/types.d.ts", "web/wasm/sheaf-verify.wasm", "web/wasm/sheaf-threads-relaxed.wasm"])
                assert.ok(names.includes(name), name);
            const odd = names.filter((name) => !/^(package\.json|(web\/)?README\.md|LICENSE-\w+|node\/([\w/-]+)\.(js|cjs|d\.ts|d\.cts)|web\/(core\/)?[\w-]+(\.js|\.d\.ts)|web\/wasm\/[\w-]+\.(mjs|wasm))$/.test(name));
            assert.deepEqual(odd, []);
            assert.ok(fs.statSync(tarball).size < 2 ** 20);
        });
    });

    describe("in Node", () => {
        const script = `async function work(sheaf) {${WORK}}\n`;
        /** @type {string} */
        let folder;
        before(() => {
            folder = project("node", [], {
                "esm.mjs": `import * as sheaf from "sheaf";\n${script}console.log(JSON.stringify(await work(sheaf)));\n`,
                "cjs.cjs": `const sheaf = require("sheaf");\n${script}work(sheaf).then((said) => console.log(JSON.stringify(said)));\n`,
                "key.mjs": `import * as sheaf from "sheaf";
                    const message = new Uint8Array(32);
                    await sheaf.keygen({ file: process.argv[2], firstEpoch: 0, epochCount: 2 });
                    const one = await sheaf.sign(process.argv[2], { epoch: 1, message });
                    console.log(await sheaf.verifySignature(one));
                    const prover = await sheaf.createProver();
                    const { epoch, publicKey } = one;
                    console.log(await sheaf.verify(await prover.aggregate([one]), { epoch, message, publicKeys: [publicKey] }));
                    console.log(await sheaf.sign(process.argv[2], { epoch: 1, message: message.fill(1) }).catch((e) => e.code));\n`,
            });
        });
        test("it is imported", () => checkSaid(JSON.parse(run(folder, process.execPath, ["esm.mjs"])), true));
        test("it is required", () => checkSaid(JSON.parse(run(folder, process.execPath, ["cjs.cjs"])), true));
        test("its command runs", () => {
            assert.match(run(folder, "npx", ["--no", "sheaf", "--", "--version"]), /^sheaf \d+\.\d+\.\d+ \(/);
            run(folder, "npx", ["--no", "sheaf", "--", "hash", "prove", "--log-n", "0", "-o", "x.sheaf", "-q"]);
            assert.match(run(folder, "npx", ["--no", "sheaf", "--", "hash", "verify", "x.sheaf"]), /accepted: 1 hash/);
        });
        for (const version of ["18", "22", "24", "26"]) {
            test(`${version} runs it too`, () => {
                const bin = path.join(top, `node-${version}`);
                fs.mkdirSync(bin);
                fs.writeFileSync(path.join(bin, "package.json"), "{}");
                fs.writeFileSync(path.join(bin, ".npmrc"), npmrc);
                run(bin, "npm", ["install", "--silent", "--prefer-offline", `node-${process.platform}-${process.arch}@${version}`]);
                const node = path.join(bin, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
                assert.ok(run(folder, node, ["--version"]).startsWith(`v${version}.`));
                checkSaid(JSON.parse(run(folder, node, ["esm.mjs"])), true);
                checkSaid(JSON.parse(run(folder, node, ["cjs.cjs"])), true);
                assert.equal(run(folder, node, ["key.mjs", `${version}.key`]), "true\ntrue\nEPOCH_USED\n");
                assert.match(run(folder, node, ["node_modules/sheaf/node/cli.js", "key-status", `${version}.key`]), /2, of which 1 used/);
            });
        }
    });

    describe("in TypeScript", () => {
        test("every way of resolving finds the types", () => {
            const text = `import { verify, SheafError, type Prover } from "sheaf";
                export async function check(envelope: Uint8Array): Promise<boolean> {
                    try {
                        return await verify(envelope, { epoch: 1, message: "0x00", publicKeys: "any" });
                    } catch (error) {
                        if (error instanceof SheafError && error.code === "MALFORMED") return false;
                        throw error;
                    }
                }
                export const threads = (prover: Prover): number => prover.threads;
                // @ts-expect-error what is expected must be said
                export const wrong = () => verify(new Uint8Array(1));\n`;
            const folder = project("types", ["typescript", "@types/node"], { "a.mts": text, "b.cts": text, "c.ts": text });
            const tsc = (/** @type {string[]} */ ...args) => run(folder, "npx", ["--no", "tsc", "--", "--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom,esnext.disposable", ...args]);
            tsc("--module", "node16", "--moduleResolution", "node16", "a.mts", "b.cts");
            tsc("--module", "nodenext", "--moduleResolution", "nodenext", "a.mts", "b.cts");
            tsc("--module", "esnext", "--moduleResolution", "bundler", "c.ts");
            tsc("--module", "esnext", "--moduleResolution", "bundler", "--customConditions", "browser", "c.ts");
        });
    });

    describe("in a browser", withBrowser, () => {
        test("a plain page runs it, isolated or not, under a strict policy", async () => {
            const folder = project("plain", [], {});
            const site = path.join(folder, "site");
            fs.cpSync(path.join(folder, "node_modules", "sheaf", "web"), path.join(site, "sheaf"), { recursive: true });
            fs.writeFileSync(path.join(site, "main.js"), MAIN.replace('"sheaf"', '"./sheaf/index.js"'));
            fs.writeFileSync(path.join(site, "index.html"), HTML("./main.js"));
            checkSaid(await inBrowser(site, { csp: POLICY }), true);
            checkSaid(await inBrowser(site, { csp: POLICY, isolation: false }), false);
        });
        test("a page's own worker runs it", async () => {
            const site = path.join(top, "plain", "site");
            fs.writeFileSync(path.join(site, "own.js"), `import * as sheaf from "./sheaf/index.js";
                async function work() {${WORK}}
                work().then((said) => postMessage(JSON.stringify(said)), (error) => postMessage("failed " + error.stack));\n`);
            fs.writeFileSync(path.join(site, "main.js"), `new Worker("./own.js", { type: "module" }).onmessage = (e) => { document.title = e.data; };\n`);
            checkSaid(await inBrowser(site, { csp: POLICY }), true);
        });
        test("esbuild bundles it", async () => {
            const folder = project("esbuild", ["esbuild"], { "main.js": MAIN });
            const out = path.join(folder, "out");
            run(folder, "npx", ["--no", "esbuild", "--", "main.js", "--bundle", "--format=esm", "--minify", "--outdir=out"]);
            /* esbuild does not know workers: their files go beside the bundle as they are. */
            const web = path.join(folder, "node_modules", "sheaf", "web");
            for (const name of ["core", "wasm", "worker-prover.js", "worker-threads.js", "worker-verifier.js"])
                fs.cpSync(path.join(web, name), path.join(out, name), { recursive: true });
            fs.writeFileSync(path.join(out, "index.html"), HTML("./main.js"));
            checkSaid(await inBrowser(out, { csp: POLICY }), true);
        });
        test("a bundle in another format finds the workers by their base", async () => {
            const folder = path.join(top, "esbuild");
            const out = path.join(folder, "classic");
            fs.writeFileSync(path.join(folder, "classic.js"), MAIN.replace(" * as sheaf", " { createSheaf, SheafError }").replace("async function work() {", 'const sheaf = { ...createSheaf({ base: "./files" }), SheafError };\nasync function work() {'));
            run(folder, "npx", ["--no", "esbuild", "--", "classic.js", "--bundle", "--format=iife", "--outdir=classic", "--log-level=error"]);
            fs.cpSync(path.join(folder, "node_modules", "sheaf", "web"), path.join(out, "files"), { recursive: true });
            fs.writeFileSync(path.join(out, "index.html"), HTML("./classic.js"));
            checkSaid(await inBrowser(out, { csp: POLICY }), true);
        });
        test("webpack bundles it, also by require", async () => {
            const folder = project("webpack", ["webpack", "webpack-cli"], { "main.js": MAIN, "cjs.cjs": MAIN.replace('import * as sheaf from "sheaf";', 'const sheaf = require("sheaf");') });
            for (const entry of ["main.js", "cjs.cjs"]) {
                const out = path.join(folder, `out-${entry.split(".")[0]}`);
                run(folder, "npx", ["--no", "webpack", "--", "--mode", "production", "--entry", `./${entry}`, "--output-path", out, "--output-filename", "main.js"]);
                fs.writeFileSync(path.join(out, "index.html"), HTML("./main.js"));
                checkSaid(await inBrowser(out, { csp: POLICY }), true);
            }
        });
        test("Vite builds it", async () => {
            const folder = project("vite", ["vite"], { "main.js": MAIN, "index.html": HTML("./main.js") });
            run(folder, "npx", ["--no", "vite", "--", "build"]);
            checkSaid(await inBrowser(path.join(folder, "dist"), { csp: POLICY }), true);
            checkSaid(await inBrowser(path.join(folder, "dist"), { csp: POLICY, isolation: false }), false);
        });
        test("Vite serves it while a page is made", async () => {
            const folder = path.join(top, "vite");
            /* Vite's server would put the package's entry elsewhere, and its workers would not be found from there. */
            fs.writeFileSync(path.join(folder, "vite.config.js"), `export default {
                optimizeDeps: { exclude: ["sheaf"] },
                server: { headers: { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" } },
            };\n`);
            const child = spawn("npx", ["--no", "vite", "--", "--port", "0", "--host", "127.0.0.1"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"], detached: true });
            try {
                let said = "";
                const address = await new Promise((resolve, reject) => {
                    child.stdout.on("data", (piece) => {
                        said += String(piece).replace(/\u001b\[[0-9;]*m/g, "");
                        const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
                        if (found) resolve(found[0]);
                    });
                    child.on("exit", () => reject(new Error(said)));
                });
                await inBrowser(path.join(folder, "dist")); // starts the browser
                const page = await /** @type {import("playwright-core").Browser} */ (browser).newPage();
                await page.goto(address);
                await page.waitForFunction(() => document.title !== "", null, { timeout: 300000 });
                checkSaid(JSON.parse(await page.title()), true);
                await page.close();
            } finally {
                process.kill(-(/** @type {number} */ (child.pid)), "SIGKILL");
            }
        });
    });

    describe("in Next.js", () => {
        /** @param {string} folder */
        async function serveAndAsk(folder) {
            const child = spawn("npx", ["--no", "next", "--", "start", "--port", "0", "--hostname", "127.0.0.1"], {
                cwd: folder,
                stdio: ["ignore", "pipe", "pipe"],
                detached: true,
                env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
            });
            try {
                let said = "";
                const address = await new Promise((resolve, reject) => {
                    const look = (/** @type {Buffer} */ piece) => {
                        said += piece;
                        const found = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(said);
                        if (found && /Ready/.test(said)) resolve(found[0]);
                    };
                    child.stdout.on("data", look);
                    child.stderr.on("data", look);
                    child.on("exit", () => reject(new Error(said)));
                });
                const response = await fetch(`${address}/check`);
                const text = await response.text();
                assert.equal(response.status, 200, `${text}\n${said}`);
                return JSON.parse(text);
            } finally {
                process.kill(-(/** @type {number} */ (child.pid)), "SIGKILL");
            }
        }

        test("a server build runs it", async () => {
            const folder = project("next", ["next", "react", "react-dom"], {
                "app/layout.js": "export default function Layout({ children }) { return <html><body>{children}</body></html>; }\n",
                "app/page.js": "export default function Page() { return <p>page</p>; }\n",
                "app/check/route.js": `import * as sheaf from "sheaf";
                    export const dynamic = "force-dynamic";
                    async function work() {${WORK}}
                    export async function GET() {
                        try {
                            return Response.json(await work());
                        } catch (error) {
                            return new Response(String(error.stack), { status: 500 });
                        }
                    }\n`,
            });
            run(folder, "npx", ["--no", "next", "--", "build"], { NEXT_TELEMETRY_DISABLED: "1" });
            checkSaid(await serveAndAsk(folder), true);
            /* And with the setting that the documentation gives for builds that are moved elsewhere. */
            fs.writeFileSync(path.join(folder, "next.config.mjs"), 'export default { serverExternalPackages: ["sheaf"] };\n');
            run(folder, "npx", ["--no", "next", "--", "build"], { NEXT_TELEMETRY_DISABLED: "1" });
            checkSaid(await serveAndAsk(folder), true);
        });
    });
});
