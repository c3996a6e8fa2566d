/* What this package throws.  SPDX-License-Identifier: MIT OR Apache-2.0 */

/* The codes of the C interface, by their number (include/sheaf_verify.h). */
export const STATUS_CODES = Object.freeze([
    "OK",
    "REJECTED",
    "MALFORMED",
    "INVALID_ARGUMENT",
    "OUT_OF_MEMORY",
    "CANCELLED",
    "IO",
    "LOCKED",
    "EPOCH_USED",
    "BAD_SIGNATURE",
    "DUPLICATE_KEY",
    "EPOCH_RANGE",
    "UNSUPPORTED",
]);

/* A registered symbol: an error of one copy of the package (ESM and CommonJS, page and worker) is an instance for all. */
const brand = Symbol.for("sheaf.SheafError");

export class SheafError extends Error {
    /**
     * @param {string} code one of STATUS_CODES, or LOAD, DISPOSED, INTERNAL
     * @param {string} message one line for a person
     * @param {{check?: string, index?: number, needed?: number, available?: number, url?: string, cause?: unknown}} [details]
     */
    constructor(code, message, details = {}) {
        super(message, details.cause === undefined ? undefined : { cause: details.cause });
        this.name = "SheafError";
        this.code = code;
        /** @type {string | undefined} */
        this.check = details.check;
        /** @type {number | undefined} */
        this.index = details.index;
        /** @type {number | undefined} */
        this.needed = details.needed;
        /** @type {number | undefined} */
        this.available = details.available;
        /** @type {string | undefined} */
        this.url = details.url;
        Object.defineProperty(this, brand, { value: true });
    }

    /**
     * @param {unknown} value
     * @returns {value is SheafError}
     */
    static [Symbol.hasInstance](value) {
        return typeof value === "object" && value !== null && brand in value;
    }
}

/* Errors lose their class on the way from a worker: they travel as plain objects. */

/** @param {unknown} error */
export function packError(error) {
    if (error instanceof SheafError) {
        const { code, message, check, index, needed, available, url } = error;
        return { code, message, check, index, needed, available, url };
    }
    return { code: "INTERNAL", message: String(error instanceof Error ? (error.stack ?? error.message) : error) };
}

/** @param {any} packed */
export function unpackError(packed) {
    return new SheafError(packed.code, packed.message, packed);
}

/** @param {string} message @param {number} [index] */
export function invalid(message, index) {
    return new SheafError("INVALID_ARGUMENT", message, { index });
}

/** @param {unknown} [reason] the signal's */
export function cancelled(reason) {
    return new SheafError("CANCELLED", "cancelled", { cause: reason });
}
