#!/usr/bin/env node
/* The command `sheaf`: which verb is meant.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { benchAggregate, benchCommit, benchHash, benchKernels, security } from "./cli/bench.js";
import { Command, ERROR, Exit, OK, parseArgs, quote } from "./cli/context.js";
import { engineOf } from "./cli/engine.js";
import { OVERVIEW, VERBS } from "./cli/help.js";
import { keyStatus, keygen, pubkey } from "./cli/keys.js";
import { aggregate, hashProve } from "./cli/prove.js";
import { collect, sign, verifySignature } from "./cli/signatures.js";
import { hashVerify, inspect, verify } from "./cli/verify.js";
import { argumentsOf } from "./paths.js";
import { SheafError } from "../web/core/errors.js";

/** @type {Record<string, (c: Command, argv: string[]) => Promise<number>>} */
const runs = {
    keygen,
    pubkey,
    "key-status": keyStatus,
    sign,
    "verify-signature": verifySignature,
    collect,
    aggregate,
    verify,
    inspect,
    security,
    "hash prove": hashProve,
    "hash verify": hashVerify,
    "bench hash": benchHash,
    "bench aggregate": benchAggregate,
    "bench commit": benchCommit,
    "bench kernels": benchKernels,
};

/** A first word that only begins verbs ("bench"): says which there are. @param {Command} c @param {string[]} argv */
function unknownVerb(c, argv) {
    const begun = Object.keys(VERBS).filter((name) => name.startsWith(`${argv[0]} `));
    if (begun.length === 0) return c.error(argv[0], null, "unknown verb (see sheaf --help)");
    if (argv[1] !== "--help" && argv[1] !== "-h") return c.error(argv[0], null, `needs a second word: ${begun.join(", ")}`);
    c.write("-", begun.map((name) => VERBS[name]).join("\n"));
    return OK;
}

/** sheaf --version and the options of every verb. @param {Command} c @param {string[]} argv */
async function showVersion(c, argv) {
    c.verb = "--version";
    const { files } = parseArgs(c, argv, []);
    if (files.length > 0) c.error(files[0], null, "an argument that is not expected");
    if (c.help) {
        c.write("-", OVERVIEW);
        return OK;
    }
    const { version, kernels } = await engineOf("verifier");
    c.write("-", c.json ? `{"version": "${version}", "isa": ${quote(kernels)}}\n` : `sheaf ${version} (${kernels})\n`);
    return OK;
}

/** @param {string[]} argv */
async function run(argv) {
    const c = new Command("");
    if (argv.length === 0) return c.error(null, null, "a verb is needed (see sheaf --help)");
    if (argv[0] === "--help" || argv[0] === "-h") {
        c.write("-", OVERVIEW);
        return OK;
    }
    if (argv[0] === "--version") return showVersion(c, argv.slice(1));
    const two = `${argv[0]} ${argv[1]}`;
    const verb = Object.hasOwn(runs, argv[0]) ? argv[0] : Object.hasOwn(runs, two) ? two : null;
    if (verb === null) return unknownVerb(c, argv);
    c.verb = verb;
    const isa = process.env.SHEAF_ISA ?? "";
    if (!["", "portable", "avx2", "avx512", "neon"].includes(isa))
        return c.error(null, "SHEAF_ISA", `${isa} is none of portable, avx2, avx512, neon`);
    const code = await runs[verb](c, argv.slice(verb.split(" ").length));
    if (code === OK && c.help) c.write("-", VERBS[verb]);
    return code;
}

/** @param {string[]} argv */
async function main(argv) {
    /* A file that grows over the process's limit is an error of writing, which cleans up, not the end. */
    if (process.platform !== "win32") process.on("SIGXFSZ", () => {});
    try {
        return await run(argv);
    } catch (error) {
        if (error instanceof Exit) return error.code;
        const text = error instanceof SheafError ? error.message : error instanceof Error ? error.stack : String(error);
        new Command("").print(null, null, text ?? "");
        return ERROR;
    }
}

process.exit(await main(argumentsOf(process.argv.slice(2))));
