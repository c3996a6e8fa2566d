/* Types of Node's entry.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import type {
    Binary,
    KeyBytes,
    KeygenOptions,
    MadeSignature,
    Prover,
    ProverOptions,
    PublicKeyInfo,
    Sheaf,
    SheafOptions,
    SignOptions,
    SignRequest,
} from "../web/types.js";

export * from "../web/types.js";

export interface KeyFileOptions extends KeygenOptions {
    /** Where the key goes, and its journal beside it (FILE.journal). An existing file is never overwritten. */
    file: string | URL;
}

export interface KeyFileInfo extends PublicKeyInfo {
    file: string;
}

export interface KeyFileSignature extends MadeSignature {
    /** The journal had this epoch and message already: it is the same signature again. */
    repeated: boolean;
    /** What was found and put right: a stale lock, a torn record. */
    notices: string[];
}

export interface KeyStatus extends PublicKeyInfo {
    /** Epochs that can sign no new message, those withdrawn among them. */
    used: number;
    left: number;
    withdrawn: number;
    /** First and last of the used epochs, ascending. */
    usedRanges: [number, number][];
    nextEpoch: number | null;
    tornRecord: boolean;
}

export interface NodeProverOptions extends ProverOptions {
    /**
     * true: the native command where one of this version is found (SHEAF_NATIVE, or the PATH), which proves many times faster; a
     * path: that one; false, the default: WebAssembly. The bytes are the same; `engine` says which it is.
     */
    native?: boolean | string;
}

export interface NodeSheaf extends Omit<Sheaf, "keygen" | "sign" | "createProver"> {
    createProver(options?: NodeProverOptions): Promise<Prover>;
    /** With a file: a key file and its journal, as the native command makes them. Without one: the key's bytes. */
    keygen(options: KeyFileOptions): Promise<KeyFileInfo>;
    keygen(options: KeygenOptions): Promise<KeyBytes>;
    /**
     * By a key file: its journal records the message on the disk before the signature is handed out; an epoch that has signed
     * another message is refused (EPOCH_USED), and so is a key in use elsewhere (LOCKED).
     */
    sign(key: string | URL, request: SignRequest, options?: SignOptions): Promise<KeyFileSignature>;
    /** By a key's bytes, which have no journal: see Sheaf.sign. */
    sign(key: Binary, request: SignRequest, options?: SignOptions): Promise<MadeSignature>;
    /** What a key file's journal says. It changes nothing. */
    keyStatus(key: string | URL): Promise<KeyStatus>;
}

export declare function createSheaf(options?: Omit<SheafOptions, "base">): NodeSheaf;

export declare const verify: NodeSheaf["verify"];
export declare const verifyMany: NodeSheaf["verifyMany"];
export declare const verifySignature: NodeSheaf["verifySignature"];
export declare const inspect: NodeSheaf["inspect"];
export declare const createProver: NodeSheaf["createProver"];
export declare const keygen: NodeSheaf["keygen"];
export declare const sign: NodeSheaf["sign"];
export declare const keyStatus: NodeSheaf["keyStatus"];
export declare const close: NodeSheaf["close"];
