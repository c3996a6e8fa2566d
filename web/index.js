/* Sheaf in a browser, or in a worker of one.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Importing this does nothing: the first call starts what it needs. */
import { createApi, sheafOptionsOf } from "./core/api.js";
import { browserPlatform } from "./loader.js";

export { SheafError } from "./core/errors.js";
export { formatKeys, formatSignatures, parseKeys, parseSignatures } from "./core/formats.js";

/** @type {import("./types.js").createSheaf} */
export function createSheaf(options) {
    const own = sheafOptionsOf(options);
    const { internal, ...api } = createApi(browserPlatform(own.base), own);
    return api;
}

/** @type {import("./types.js").Sheaf | null} */
let own = null;
const sheaf = () => (own ??= createSheaf());

/** @type {import("./types.js").Sheaf["verify"]} */
export const verify = (envelope, expected, options) => sheaf().verify(envelope, expected, options);
/** @type {import("./types.js").Sheaf["verifyMany"]} */
export const verifyMany = (items, options) => sheaf().verifyMany(items, options);
/** @type {import("./types.js").Sheaf["verifySignature"]} */
export const verifySignature = (signature, options) => sheaf().verifySignature(signature, options);
/** @type {import("./types.js").Sheaf["inspect"]} */
export const inspect = (envelope, options) => sheaf().inspect(envelope, options);
/** @type {import("./types.js").Sheaf["createProver"]} */
export const createProver = (options) => sheaf().createProver(options);
/** @type {import("./types.js").Sheaf["keygen"]} */
export const keygen = (options) => sheaf().keygen(options);
/** @type {import("./types.js").Sheaf["sign"]} */
export const sign = (key, request, options) => sheaf().sign(key, request, options);
/** @type {import("./types.js").Sheaf["close"]} */
export const close = () => (own === null ? Promise.resolve() : own.close());
