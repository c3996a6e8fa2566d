/* What the command's verbs share: arguments, error lines, text.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { STATUS_CODES, SheafError } from "../../web/core/errors.js";
import { fromHex } from "../../web/core/bytes.js";
import fs from "node:fs";
import { checkWrite, readFile, writeFile } from "../files.js";
import { isSecret } from "../keyfile.js";
import { pathOf } from "../paths.js";

export const OK = 0;
export const REJECTED = 1;
export const ERROR = 2;
export const FILE_LIMIT = 1 << 30;

/** Ends a verb, its error printed. */
export class Exit extends Error {
    /** @param {number} code */
    constructor(code) {
        super("exit");
        this.code = code;
    }
}

/** @param {string} file @param {boolean} [output] */
export function nameOf(file, output = false) {
    return file !== "-" ? file : output ? "standard output" : "standard input";
}

/**
 * For people: control characters, and bytes of a name that are no UTF-8, as \\xNN. Every name and field that comes from a file or
 * an argument goes through here: a line stays one line, and no control character reaches a terminal.
 * @param {string} text
 */
export function plain(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\udc80-\udcff]/gu, (c) => {
        return [...Buffer.from(pathOf(c))].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
    });
}

/** Text on standard error, at once. @param {string} text */
export function say(text) {
    const bytes = Buffer.from(text);
    try {
        for (let at = 0; at < bytes.length; ) at += fs.writeSync(2, bytes, at);
    } catch {
        // nobody reads it
    }
}

/** A verb that runs: its name as it was asked for, and the options of every verb. */
export class Command {
    /** @param {string} verb */
    constructor(verb) {
        this.verb = verb;
        this.json = false;
        this.quiet = false;
        this.help = false;
        this.threads = 0;
        this.logInvRate = 0;
        this.memory = 0; // MiB that a proof may take; 0: what the machine has
    }

    /**
     * Prints `sheaf VERB: PLACE: what is wrong`, the place being one or two of a file, an option, a field.
     * @param {string | null} file @param {string | null} field @param {string} what
     */
    print(file, field, what) {
        const places = [file === null ? null : nameOf(file), field].filter((p) => p !== null);
        say(`sheaf${this.verb && " "}${this.verb}: ${[...places, what].map((t) => plain(/** @type {string} */ (t))).join(": ")}\n`);
    }

    /** @param {string | null} file @param {string | null} field @param {string} what @returns {never} */
    error(file, field, what) {
        this.print(file, field, what);
        throw new Exit(ERROR);
    }

    /**
     * Prints a failure of the library; returns the exit code that it stands for. A message that names the file already is not led
     * by its name once more.
     * @param {string | null} file @param {unknown} error
     */
    failure(file, error) {
        if (error instanceof Exit || !(error instanceof SheafError)) throw error;
        const named = file !== null && error.message.includes(nameOf(file));
        this.print(named ? null : file, null, error.message);
        return codeOf(error.code);
    }

    /** The same, and ends the verb. @param {string | null} file @param {unknown} error @returns {never} */
    fail(file, error) {
        throw new Exit(this.failure(file, error));
    }

    /**
     * @param {string | null} file
     * @param {{check: string, index: number, reason: string}} verdict
     */
    rejection(file, verdict) {
        this.print(file, "rejected", `${verdict.reason} (check ${verdict.check}, index ${verdict.index})`);
        return REJECTED;
    }

    /** @param {string} file @param {number} [limit] */
    read(file, limit = FILE_LIMIT) {
        try {
            return readFile(file, limit);
        } catch (error) {
            return this.fail(file, error);
        }
    }

    /** Before long work whose result --output is to get: whether there is any point in it. @param {string} file */
    checkOutput(file) {
        if (file === "") this.error(null, "--output", "is empty");
        try {
            checkWrite(file);
        } catch (error) {
            this.fail(nameOf(file, true), error);
        }
    }

    /** @param {string} file @param {Uint8Array | string} data */
    write(file, data) {
        /* Only keygen writes keys, and never over one: what a mistyped name would destroy cannot be made again. */
        const secret = file !== "-" && isSecret(file);
        if (secret === null) this.error(file, null, "cannot be read to see that it is no key: not overwritten");
        if (secret) this.error(file, null, "is a key or a key's journal, which is never overwritten");
        try {
            writeFile(file, typeof data === "string" ? Buffer.from(data) : data);
        } catch (error) {
            /* Whoever read our output has gone: there is nobody to tell. */
            if (file === "-" && /** @type {any} */ (error)?.cause?.code === "EPIPE") throw new Exit(141);
            this.fail(nameOf(file, true), error);
        }
    }
}

/** @param {string} code a SheafError's */
export function codeOf(code) {
    return code === "REJECTED" || code === "BAD_SIGNATURE" ? REJECTED : ERROR;
}

/** The number of a SheafError's code in the C interface. @param {string} code */
export function statusOf(code) {
    const status = STATUS_CODES.indexOf(code);
    return status < 0 ? STATUS_CODES.indexOf("UNSUPPORTED") : status;
}

/** Quoted as the native command quotes. @param {string} text */
export function quote(text) {
    const escaped = text.replace(/["\\]/g, "\\$&").replace(/[\u0000-\u001f\u007f-\u009f]/g, (c) => {
        return `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
    });
    return `"${escaped}"`;
}

/** @param {number} n @param {string} [ending] */
export function plural(n, ending = "s") {
    return n === 1 ? "" : ending;
}

/* ---- arguments ---- */

/** Decimal digits alone, at most max; null otherwise. @param {string} digits @param {number} max */
export function parseNumber(digits, max) {
    if (!/^[0-9]+$/.test(digits)) return null;
    const value = Number(digits);
    return Number.isSafeInteger(value) && value <= max ? value : null;
}

/**
 * @typedef {{name: string, letter?: string, type: "flag" | "text" | "number" | "hex32" | "seed", min?: number, max?: number}} Spec
 * @typedef {Record<string, any>} Values by option; undefined where it was not given
 */

/** @type {Spec[]} */
const COMMON = [
    { name: "json", type: "flag" },
    { name: "quiet", letter: "q", type: "flag" },
    { name: "threads", type: "number", min: 1, max: 1024 },
    { name: "help", letter: "h", type: "flag" },
];

/** The long option that a name, or the beginning of one, means; null where it is none or several. @param {Spec[]} all @param {string} name */
function longOption(all, name) {
    const exact = all.find((s) => s.name === name);
    if (exact) return exact;
    const begun = all.filter((s) => s.name.startsWith(name));
    return begun.length === 1 ? begun[0] : null;
}

/** Takes a secret off the list of processes, where the title stands for the arguments. @param {string} secret */
function hide(secret) {
    if (secret === "") return;
    process.title = [process.argv0, ...process.argv.slice(1)].join(" ").replaceAll(secret, "*".repeat(secret.length));
}

/** @param {Command} c @param {Spec} spec @param {string} value */
function valueOf(c, spec, value) {
    const option = `--${spec.name}`;
    if (spec.type === "text") return value;
    if (spec.type === "number") {
        const [min, max] = [spec.min ?? 0, spec.max ?? 0xffffffff];
        const number = parseNumber(value, max);
        if (number === null || number < min) c.error(null, option, `${value} is not a number in ${min}..${max}`);
        return number;
    }
    const bytes = fromHex(/^0[xX]/.test(value) ? value.slice(2) : value);
    if (spec.type === "seed") hide(value);
    if (bytes === null || bytes.length !== 32) c.error(null, option, "not 32 bytes in hex (64 digits)");
    return bytes;
}

/**
 * Options as getopt_long reads them: anywhere among the files, up to "--"; long ones may be begun only.
 * @param {Command} c @param {string[]} argv without the verb @param {Spec[]} specs
 * @returns {{values: Values, files: string[]}}
 */
export function parseArgs(c, argv, specs) {
    const all = [...specs, ...COMMON];
    /** @type {Values} */
    const values = {};
    /** @type {string[]} */
    const files = [];
    const unknown = `unknown option, or a value where none is taken (see sheaf ${c.verb} --help)`;
    /** @param {Spec} spec @param {string | null} value */
    const store = (spec, value) => {
        if (values[spec.name] !== undefined) c.error(null, `--${spec.name}`, "given twice");
        values[spec.name] = spec.type === "flag" ? true : valueOf(c, spec, value ?? "");
    };
    for (let i = 0; i < argv.length; i++) {
        const arg = argv[i];
        if (arg === "--") {
            files.push(...argv.slice(i + 1));
            break;
        }
        if (arg === "-" || !arg.startsWith("-")) {
            files.push(arg);
            if (process.env.POSIXLY_CORRECT !== undefined) {
                files.push(...argv.slice(i + 1));
                break;
            }
            continue;
        }
        if (arg.startsWith("--")) {
            const equals = arg.indexOf("=");
            const spec = longOption(all, equals < 0 ? arg.slice(2) : arg.slice(2, equals));
            if (spec === null) return c.error(null, arg, unknown);
            if (spec.type === "flag") {
                if (equals >= 0) c.error(null, arg, unknown);
                store(spec, null);
            } else if (equals >= 0) {
                store(spec, arg.slice(equals + 1));
            } else {
                if (i + 1 >= argv.length) c.error(null, arg, "needs a value");
                store(spec, argv[++i]);
            }
            continue;
        }
        for (let at = 1; at < arg.length; at++) {
            const spec = all.find((s) => s.letter === arg[at]);
            if (spec === undefined) return c.error(null, `-${arg[at]}`, unknown);
            if (spec.type === "flag") {
                store(spec, null);
                continue;
            }
            if (at + 1 < arg.length) store(spec, arg.slice(at + 1));
            else if (i + 1 < argv.length) store(spec, argv[++i]);
            else c.error(null, arg, "needs a value");
            break;
        }
    }
    c.json = values.json ?? false;
    c.quiet = values.quiet ?? false;
    c.threads = values.threads ?? 0;
    c.help = values.help ?? false;
    c.logInvRate = values["log-inv-rate"] ?? 0;
    c.memory = values.memory ?? 0;
    return { values, files };
}

/** @type {Spec[]} */
export const MESSAGE_SPECS = [
    { name: "message", type: "hex32" },
    { name: "message-file", type: "text" },
];
