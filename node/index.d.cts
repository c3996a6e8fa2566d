/* Types of Node's CommonJS entry: the same names and types.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import type * as esm from "./index.js" with { "resolution-mode": "import" };

export type * from "./index.js" with { "resolution-mode": "import" };

export type SheafError = esm.SheafError;
export declare const SheafError: typeof esm.SheafError;
export declare const createSheaf: typeof esm.createSheaf;
export declare const verify: typeof esm.verify;
export declare const verifyMany: typeof esm.verifyMany;
export declare const verifySignature: typeof esm.verifySignature;
export declare const inspect: typeof esm.inspect;
export declare const createProver: typeof esm.createProver;
export declare const keygen: typeof esm.keygen;
export declare const sign: typeof esm.sign;
export declare const keyStatus: typeof esm.keyStatus;
export declare const close: typeof esm.close;
export declare const parseSignatures: typeof esm.parseSignatures;
export declare const formatSignatures: typeof esm.formatSignatures;
export declare const parseKeys: typeof esm.parseKeys;
export declare const formatKeys: typeof esm.formatKeys;
