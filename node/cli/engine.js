/* A module in the command's own thread, which has nothing else to do.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { openEngine } from "../../web/core/host.js";
import { STATUS_CODES } from "../../web/core/errors.js";
import { loadGlue, packageFolder } from "../glue.js";

/** @typedef {import("../../web/core/engine.js").Engine} Engine */

/** @type {Map<string, Promise<Engine>>} */
const engines = new Map();

/** @param {"verifier" | "prover"} kind @returns {Promise<Engine>} */
export function engineOf(kind) {
    let engine = engines.get(kind);
    if (engine === undefined) {
        engine = loadGlue(kind, packageFolder())
            .then((glue) => openEngine(glue, {}))
            .then((opened) => opened.engine);
        engines.set(kind, engine);
    }
    return engine;
}

/**
 * Keys in memory, for key files (../keyfile.js).
 * @param {import("../keyfile.js").Keys["make"]} make
 * @returns {import("../keyfile.js").Keys}
 */
export function keysBy(make) {
    /**
     * @template T
     * @param {Uint8Array} key @param {(engine: Engine) => T} run
     */
    const wiping = async (key, run) => {
        try {
            return run(await engineOf("prover"));
        } finally {
            key.fill(0);
        }
    };
    return {
        make,
        check: (key) => wiping(key, (e) => e.keyInfo(key)),
        sign: (key, epoch, message) => wiping(key, (e) => e.sign(key, epoch, message)),
    };
}

/** What a code of the interface is called. @param {Engine} engine @param {string} code */
export function statusText(engine, code) {
    return engine.statusText(Math.max(0, STATUS_CODES.indexOf(code)));
}
