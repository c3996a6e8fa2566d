/* Serves static files with the headers that threads in a browser need.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     node tools/serve.mjs [FOLDER] [--port N] [--host ADDRESS] [--no-isolation] [--csp POLICY]
 *
 * FOLDER: what to serve; default: this project's web/, whose page is at /page/.  --port: default 8080; 0: a free one.
 * --host: default 127.0.0.1, so that only this machine sees it.  --no-isolation: without the headers
 * Cross-Origin-Opener-Policy, Cross-Origin-Embedder-Policy and Cross-Origin-Resource-Policy; a page then has one thread.
 * --csp: sent as Content-Security-Policy ('' for none); default: for this project's web/ the strictest that its page runs under,
 * for another folder none.
 *
 * It prints its address on one line. It is for trying things out; any web server that sends these headers does as well. */
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const TYPES = /** @type {Record<string, string>} */ ({
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".map": "application/json; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ts": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
});

/** Under which this project's page runs, its workers too: nothing inline, nothing from elsewhere. */
export const STRICT_POLICY = [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
].join("; ");

const ISOLATION = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
};

/**
 * The file that an address means; null where there is none in the folder.
 * @param {string} root a real path
 * @param {string} address with the query
 * @returns {{file: string, size: number} | {redirect: string} | null}
 */
export function resolve(root, address) {
    let name;
    try {
        name = decodeURIComponent(address.replace(/[?#].*$/, ""));
    } catch {
        return null;
    }
    if (!name.startsWith("/") || name.includes("\0")) return null;
    try {
        let file = fs.realpathSync(path.join(root, name));
        const inside = () => file === root || file.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
        if (!inside()) return null;
        if (fs.statSync(file).isDirectory()) {
            /* Without the slash a page's relative addresses would start a folder too high; one slash, so that it stays this host. */
            if (!name.endsWith("/")) return { redirect: `${encodeURI(`/${name.replace(/^\/+/, "")}`)}/` };
            file = fs.realpathSync(path.join(file, "index.html"));
            if (!inside()) return null;
        }
        const stat = fs.statSync(file);
        return stat.isFile() ? { file, size: stat.size } : null;
    } catch {
        return null;
    }
}

/**
 * @param {string} folder
 * @param {{isolation?: boolean, csp?: string}} [options] csp: empty for none
 */
export function createServer(folder, { isolation = true, csp } = {}) {
    const root = fs.realpathSync(folder);
    const headers = {
        ...(isolation ? ISOLATION : {}),
        ...(csp ? { "Content-Security-Policy": csp } : {}),
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache",
    };
    return http.createServer((request, response) => {
        /** @param {number} status @param {string} text @param {Record<string, string>} [more] */
        const say = (status, text, more = {}) => {
            response.writeHead(status, { ...headers, "Content-Type": "text/plain; charset=utf-8", ...more });
            response.end(request.method === "HEAD" ? undefined : `${text}\n`);
        };
        if (request.method !== "GET" && request.method !== "HEAD") return say(405, "only GET and HEAD", { Allow: "GET, HEAD" });
        const found = resolve(root, request.url ?? "");
        if (found === null) return say(404, "there is no such file");
        if ("redirect" in found) return say(308, "there is a folder of that name", { Location: found.redirect });
        const type = TYPES[path.extname(found.file).toLowerCase()] ?? "application/octet-stream";
        response.writeHead(200, { ...headers, "Content-Type": type, "Content-Length": String(found.size) });
        if (request.method === "HEAD") return response.end();
        return fs.createReadStream(found.file).on("error", () => response.destroy()).pipe(response);
    });
}

function main() {
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: {
            port: { type: "string", default: "8080" },
            host: { type: "string", default: "127.0.0.1" },
            "no-isolation": { type: "boolean", default: false },
            csp: { type: "string" },
        },
    });
    const own = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), "web");
    const folder = positionals[0] ?? own;
    const port = Number(values.port);
    if (positionals.length > 1 || !Number.isInteger(port) || port < 0 || port > 65535) {
        console.error("usage: node tools/serve.mjs [FOLDER] [--port N] [--host ADDRESS] [--no-isolation] [--csp POLICY]");
        process.exit(2);
    }
    if (!fs.existsSync(folder)) {
        console.error(`serve: there is no folder ${folder}`);
        process.exit(2);
    }
    const isOwn = fs.realpathSync(folder) === fs.realpathSync(own);
    const server = createServer(folder, { isolation: !values["no-isolation"], csp: values.csp ?? (isOwn ? STRICT_POLICY : "") });
    server.on("error", (error) => {
        console.error(`serve: ${error.message}`);
        process.exit(1);
    });
    server.listen(port, values.host, () => {
        const address = /** @type {import("node:net").AddressInfo} */ (server.address());
        const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
        console.log(`http://${host}:${address.port}/`);
    });
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(0));
}

const started = process.argv[1] ?? "";
if (fs.existsSync(started) && fs.realpathSync(started) === fileURLToPath(import.meta.url)) main();
