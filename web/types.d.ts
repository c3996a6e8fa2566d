/* The interface, in a browser and in Node.  SPDX-License-Identifier: MIT OR Apache-2.0 */

/** Bytes: binary, or text of `0x` and hex digits. They are copied before a function returns its promise. */
export type Bytes = Uint8Array | ArrayBuffer | ArrayBufferView | string;

/** Binary only. */
export type Binary = Uint8Array | ArrayBuffer | ArrayBufferView;

/** A string is an address. A Response is read once. */
export type WasmSource = Binary | string | URL | Response | WebAssembly.Module;

/** Byte strings of one length: as an array of them, or joined. */
export type BytesList = readonly Bytes[] | Binary;

/**
 * What an aggregate must be about, by the object's own properties (as with all options). "any" leaves a field open: then it is for the caller to
 * read what was proven (inspect).
 */
export interface ExpectedAggregate {
    scheme?: "leanXMSS";
    epoch: number | "any";
    /** 32 bytes. */
    message: Bytes | "any";
    /** 32 bytes each, in any order: the proof must cover exactly this set. */
    publicKeys: BytesList | "any";
}

/** What a hash batch must be about. */
export interface ExpectedHashBatch {
    scheme: "hash";
    /** 32 bytes each, in the envelope's order. */
    digests: BytesList | "any";
}

export type Expected = ExpectedAggregate | ExpectedHashBatch;

/** One signature, as `sign` gives it and as its JSON file says it. */
export interface Signature {
    scheme?: string;
    epoch: number;
    /** 32 bytes. */
    message: Bytes;
    /** 32 bytes. */
    publicKey: Bytes;
    /** 1208 bytes. */
    signature: Bytes;
}

/** Signatures of one epoch and message. */
export interface SignatureList {
    scheme?: string;
    epoch: number;
    message: Bytes;
    signatures: readonly { publicKey: Bytes; signature: Bytes }[];
}

export interface SignOptions {
    signal?: AbortSignal;
}

export interface VerifyOptions {
    signal?: AbortSignal;
}

/** Called with a fraction in 0..1 and the name of the stage. What it throws ends the call, whose promise rejects with it. */
export type OnProgress = (fraction: number, stage: string) => void;

export interface VerifyManyOptions extends VerifyOptions {
    onProgress?: OnProgress;
}

export interface InspectOptions extends VerifyOptions {
    /** Compared with the statement, where the proof itself is accepted. */
    expected?: Expected;
}

export interface ProveOptions {
    signal?: AbortSignal;
    onProgress?: OnProgress;
    /** 1..6: larger makes smaller proofs and takes longer; 0, the default: what suits the number. */
    logInvRate?: number;
}

export interface ProverOptions {
    /** "auto", the default: as many as there are cores, where threads are to be had. */
    threads?: number | "auto";
    /** The module of as many threads: the "threads" one for two or more, else the "prover" one. */
    wasm?: WasmSource;
    /** Bytes of memory that the module may take; what needs more is refused before it starts. */
    maxMemory?: number;
    signal?: AbortSignal;
    /** Told once where there is one thread although more were wanted, and why. Without it a page's console is. */
    onNotice?: (text: string) => void;
}

export interface MemoryRequest {
    signers?: number;
    hashes?: number;
    logInvRate?: number;
}

export interface MemoryNeed {
    /** Bytes of WebAssembly memory, within a tenth; Infinity where it is over 4 GiB. */
    needed: number;
    available: number;
    fits: boolean;
}

export interface Prover {
    /** In use: 1 where threads were not to be had. */
    readonly threads: number;
    /** The module's vector instructions: "simd128", "simd128 (relaxed)", "portable". */
    readonly kernels: string;
    /** "WebAssembly", or the path of the native command. */
    readonly engine: string;
    /** Why there is one thread, or null. */
    readonly notice: string | null;
    /** Proves that all signatures verify: the envelope, the same bytes as from every other build. */
    aggregate(signatures: SignatureList | readonly Signature[], options?: ProveOptions): Promise<Uint8Array<ArrayBuffer>>;
    /** Proves that messages (128 bytes each) with the digests in the envelope are known. It is not zero knowledge. */
    proveHashBatch(messages: BytesList, options?: ProveOptions): Promise<Uint8Array<ArrayBuffer>>;
    /** What a proof would take. */
    memory(request: MemoryRequest): Promise<MemoryNeed>;
    /** Ends its worker. Calls that have not ended reject with the code DISPOSED. */
    dispose(): Promise<void>;
}

export interface KeygenOptions {
    /** A multiple of epochCount. */
    firstEpoch: number;
    /** A power of two; time and memory grow with it. */
    epochCount: number;
    /** 32 bytes, for reproducible examples only. Without it: the system's randomness. */
    seed?: Bytes;
    threads?: number | "auto";
    maxMemory?: number;
    signal?: AbortSignal;
    onProgress?: OnProgress;
}

export interface PublicKeyInfo {
    scheme: "leanXMSS";
    publicKey: Uint8Array<ArrayBuffer>;
    firstEpoch: number;
    epochCount: number;
}

export interface KeyBytes extends PublicKeyInfo {
    /** The secret, in the format of a key file. It has no journal: see `sign`. */
    key: Uint8Array<ArrayBuffer>;
}

export interface SignRequest {
    epoch: number;
    /** 32 bytes: a digest of what is meant. */
    message: Bytes;
}

/** What `sign` gives: ready for `aggregate` and `verifySignature`. */
export interface MadeSignature {
    scheme: "leanXMSS";
    epoch: number;
    message: Uint8Array<ArrayBuffer>;
    publicKey: Uint8Array<ArrayBuffer>;
    signature: Uint8Array<ArrayBuffer>;
}

export interface ParsedSignatures {
    scheme: "leanXMSS";
    epoch: number;
    message: Uint8Array<ArrayBuffer>;
    signatures: { publicKey: Uint8Array<ArrayBuffer>; signature: Uint8Array<ArrayBuffer> }[];
}

export interface Level {
    fold: number;
    logInvRate: number;
    queries: number;
    grindingBits: number;
}

/** What an envelope says and what its proof is made of. */
export interface Inspection {
    scheme: "leanXMSS" | "hash";
    /** Signers, or digests. */
    count: number;
    /** null for a hash batch, as the message. */
    epoch: number | null;
    message: Uint8Array<ArrayBuffer> | null;
    publicKeys: Uint8Array<ArrayBuffer>[];
    digests: Uint8Array<ArrayBuffer>[];
    /** The proof verifies (and its statement is the expected one, where one was given). */
    accepted: boolean;
    /** Which check failed, where, and why for a person; null where accepted. */
    check: string | null;
    index: number | null;
    reason: string | null;
    /** That verification took, in the worker. */
    milliseconds: number;
    envelopeBytes: number;
    statementBytes: number;
    proofBytes: number;
    /** Bytes of the proof's parts, as far as it could be read. */
    parts: Record<string, number>;
    logSlots: number;
    permutationsPerSlot: number;
    logWords: number;
    logInvRate: number;
    arity: number;
    lastLog: number;
    levels: Level[];
    securityBits: number;
}

export interface Sheaf {
    /**
     * Whether the aggregate (or hash batch) is proven and is about what is expected. `false`: rejected, which is anything wrong
     * in the proof's bytes, or another statement. What is no envelope at all, or a wrong argument, throws a SheafError.
     */
    verify(envelope: Binary | Blob, expected: Expected, options?: VerifyOptions): Promise<boolean>;
    /** The same for many, some at once. Where one throws, the error's index says which. */
    verifyMany(
        items: readonly { envelope: Binary | Blob; expected: Expected }[],
        options?: VerifyManyOptions,
    ): Promise<boolean[]>;
    verifySignature(signature: Signature, options?: VerifyOptions): Promise<boolean>;
    /** Verifies an envelope and tells everything about it. */
    inspect(envelope: Binary | Blob, options?: InspectOptions): Promise<Inspection>;
    createProver(options?: ProverOptions): Promise<Prover>;
    keygen(options: KeygenOptions): Promise<KeyBytes>;
    /**
     * Signs by a key's bytes. An epoch must never sign two messages: that gives the key away. Bytes have no journal, so only what
     * this process or page has signed is remembered (and refused: EPOCH_USED); the rest is the caller's to see to.
     * A key of more than 2^25 epochs does not fit here (OUT_OF_MEMORY).
     */
    sign(key: Binary, request: SignRequest, options?: SignOptions): Promise<MadeSignature>;
    /** Ends the workers that verify and sign, and every prover. The next call starts new ones. */
    close(): Promise<void>;
}

export interface SheafOptions {
    /** One source: the verifier's module. Or a source for each. Without it: the package's own. */
    wasm?: WasmSource | { verifier?: WasmSource; prover?: WasmSource; threads?: WasmSource };
    /** Browsers: the address of a copy of the package's folder web/, where the workers are loaded from. */
    base?: string | URL;
    /** false: not the modules that need relaxed SIMD, even where the engine has it. The proofs are the same. */
    relaxed?: boolean;
    /** Bytes of memory that a module may take. */
    maxMemory?: number;
    /** How many verify at once, at most. */
    verifiers?: number;
    onNotice?: (text: string) => void;
}

/** An interface of its own, with its own workers and modules. */
export declare function createSheaf(options?: SheafOptions): Sheaf;

export type SheafErrorCode =
    | "MALFORMED"
    | "INVALID_ARGUMENT"
    | "OUT_OF_MEMORY"
    | "CANCELLED"
    | "IO"
    | "LOCKED"
    | "EPOCH_USED"
    | "BAD_SIGNATURE"
    | "DUPLICATE_KEY"
    | "EPOCH_RANGE"
    | "UNSUPPORTED"
    /** A worker or a module could not be loaded; `url` says which. */
    | "LOAD"
    /** A prover was used after dispose. */
    | "DISPOSED"
    | "INTERNAL";

export declare class SheafError extends Error {
    constructor(
        code: string,
        message: string,
        details?: {
            check?: string;
            index?: number;
            needed?: number;
            available?: number;
            url?: string;
            cause?: unknown;
        },
    );
    readonly name: "SheafError";
    readonly code: SheafErrorCode;
    /** Which signature, key or item is meant. */
    readonly index?: number;
    readonly check?: string;
    /** Bytes, where the code is OUT_OF_MEMORY. */
    readonly needed?: number;
    readonly available?: number;
    /** What did not load. */
    readonly url?: string;
}

/** Reads one signature (JSON) or a list (JSON or binary), strictly (docs/protocol.md 10.2 - 10.4). */
export declare function parseSignatures(data: Binary | string): Promise<ParsedSignatures>;
/** Writes a list, or one signature, as a file. "json" is the default form. */
export declare function formatSignatures(
    signatures: Signature | SignatureList | readonly Signature[],
    options?: { form?: "json" | "binary" },
): Promise<Uint8Array<ArrayBuffer>>;
/** Reads keys.json. */
export declare function parseKeys(data: Binary | string): Promise<Uint8Array<ArrayBuffer>[]>;
/** Writes keys.json. */
export declare function formatKeys(keys: BytesList): Promise<Uint8Array<ArrayBuffer>>;
