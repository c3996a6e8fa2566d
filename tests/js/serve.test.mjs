/* The server of static files: headers, types, and nothing outside its folder.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { STRICT_POLICY, createServer } from "../../tools/serve.mjs";
import { root, workFolder } from "./support.mjs";

const top = workFolder();
const folder = path.join(top, "site");
fs.mkdirSync(path.join(folder, "sub dir"), { recursive: true });
fs.mkdirSync(path.join(folder, "bare"));
for (const name of ["index.html", "a.js", "a.mjs", "a.wasm", "a.css", "a.svg", "a.unknown", "sub dir/index.html"])
    fs.writeFileSync(path.join(folder, name), name);
fs.writeFileSync(path.join(top, "secret"), "secret");
fs.mkdirSync(path.join(top, "site-more"));
fs.writeFileSync(path.join(top, "site-more", "x"), "secret");
fs.symlinkSync(path.join(top, "secret"), path.join(folder, "way-out"));

/** The path goes out as it is written. @param {http.Server} server @param {string} address @param {string} [method] */
function ask(server, address, method = "GET") {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    return /** @type {Promise<{status: number, headers: http.IncomingHttpHeaders, body: string}>} */ (
        new Promise((resolve, reject) => {
            const request = http.request({ host: "127.0.0.1", port, path: address, method }, (response) => {
                let body = "";
                response.on("data", (piece) => (body += piece));
                response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
            });
            request.on("error", reject).end();
        })
    );
}
/** @param {http.Server} server */
const listening = (server) => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));

describe("the server", () => {
    const server = createServer(folder);
    before(() => listening(server));
    after(() => server.close());

    test("sends the isolation headers with everything", async () => {
        for (const address of ["/", "/a.js", "/a.wasm", "/none"]) {
            const { headers } = await ask(server, address);
            assert.equal(headers["cross-origin-opener-policy"], "same-origin");
            assert.equal(headers["cross-origin-embedder-policy"], "require-corp");
            assert.equal(headers["cross-origin-resource-policy"], "same-origin");
            assert.equal(headers["x-content-type-options"], "nosniff");
        }
    });
    test("knows the types that browsers insist on", async () => {
        const types = { "/": "text/html", "/a.js": "text/javascript", "/a.mjs": "text/javascript", "/a.wasm": "application/wasm", "/a.css": "text/css", "/a.svg": "image/svg+xml", "/a.unknown": "application/octet-stream" };
        for (const [address, type] of Object.entries(types)) {
            const { status, headers } = await ask(server, address);
            assert.equal(status, 200);
            assert.equal(String(headers["content-type"]).split(";")[0], type, address);
        }
    });
    test("answers folders with their index", async () => {
        assert.equal((await ask(server, "/sub%20dir/")).body, "sub dir/index.html");
        const { status, headers } = await ask(server, "/sub%20dir?x=1");
        assert.deepEqual([status, headers.location], [308, "/sub%20dir/"]);
        assert.equal((await ask(server, "//sub%20dir")).headers.location, "/sub%20dir/", "no other host is named");
        assert.equal((await ask(server, "/bare/")).status, 404);
    });
    test("answers HEAD, and no other method", async () => {
        const { status, headers, body } = await ask(server, "/a.js", "HEAD");
        assert.deepEqual([status, headers["content-length"], body], [200, "4", ""]);
        assert.equal((await ask(server, "/a.js", "POST")).status, 405);
    });
    test("gives nothing outside its folder", async () => {
        for (const address of ["/../secret", "/..%2fsecret", "/%2e%2e/secret", "/sub%20dir/../../secret", "/way-out", "/../site-more/x", "/a%00.js", "/%zz", "secret"]) {
            const { status, body } = await ask(server, address);
            assert.ok([400, 404].includes(status), `${address}: ${status}`);
            assert.ok(!body.includes("secret\n") || body.startsWith("there is no"), address);
        }
    });
    test("leaves the headers out where that is asked for, and sends a policy", async () => {
        const other = createServer(folder, { isolation: false, csp: "default-src 'self'" });
        await listening(other);
        try {
            const { headers } = await ask(other, "/");
            assert.equal(headers["cross-origin-opener-policy"], undefined);
            assert.equal(headers["cross-origin-embedder-policy"], undefined);
            assert.equal(headers["content-security-policy"], "default-src 'self'");
        } finally {
            other.close();
        }
    });
    /** What the command answers. @param {string[]} args @param {string} address */
    const asCommand = async (args, address) => {
        const child = spawn(process.execPath, [path.join(root, "tools", "serve.mjs"), "--port", "0", ...args], { stdio: ["ignore", "pipe", "inherit"] });
        try {
            const origin = await new Promise((resolve) => child.stdout.once("data", (data) => resolve(String(data).trim())));
            assert.match(origin, /^http:\/\/127\.0\.0\.1:\d+\/$/);
            const response = await fetch(`${origin}${address}`);
            assert.equal(response.status, 200);
            return { policy: response.headers.get("content-security-policy"), text: await response.text() };
        } finally {
            child.kill();
        }
    };
    test("as a command says its address and serves the page, under the page's policy", async () => {
        const { policy, text } = await asCommand([], "index.js");
        assert.match(text, /export const verify/);
        assert.equal(policy, STRICT_POLICY);
        assert.equal((await asCommand([path.join(root, "web", "..", "web")], "page/")).policy, STRICT_POLICY);
        const page = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec((await asCommand(["--csp", ""], "page/")).text);
        assert.equal(STRICT_POLICY, `${page?.[1]}; frame-ancestors 'none'`, "what only a header can say is all that is added");
    });
    test("as a command sends another policy, or none", async () => {
        assert.equal((await asCommand(["--csp", "default-src 'self'"], "")).policy, "default-src 'self'");
        assert.equal((await asCommand(["--csp", ""], "")).policy, null);
        assert.equal((await asCommand([folder], "")).policy, null, "another folder has needs of its own");
    });
    test("as a command refuses what is no folder", () => {
        const done = spawnSync(process.execPath, [path.join(root, "tools", "serve.mjs"), path.join(top, "none")], { encoding: "utf8" });
        assert.equal(done.status, 2);
        assert.match(done.stderr, /^serve: there is no folder .*none\n$/);
    });
});
