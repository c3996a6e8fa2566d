/* Types of the browser's entry.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import type { Sheaf } from "./types.js";
export * from "./types.js";
export declare const verify: Sheaf["verify"];
export declare const verifyMany: Sheaf["verifyMany"];
export declare const verifySignature: Sheaf["verifySignature"];
export declare const inspect: Sheaf["inspect"];
export declare const createProver: Sheaf["createProver"];
export declare const keygen: Sheaf["keygen"];
export declare const sign: Sheaf["sign"];
export declare const close: Sheaf["close"];
