/* What the verifier's checks, the proof's parts, the prover's stages and the errors are called for a person.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/** What it means that a check failed (docs/soundness.md, section 6). @type {Record<string, string>} */
const checks = {
    header: "Its first bytes name a number of signers or a rate that is not the statement's.",
    truncated: "It ends too early: bytes are missing.",
    trailing: "There are bytes left over behind its end.",
    multiplicity: "The number of hash-chain steps that it admits to is not the number that the signatures need.",
    bus_balance: "The ends of its hash chains do not match their beginnings, so some chain was not followed step by step.",
    bus_layer: "The bookkeeping that ties hash chains together does not add up.",
    layer: "A round of the hash function was not computed as it should be.",
    input: "The hashed values are not those of the signatures and keys on the list.",
    grinding: "A piece of work that makes cheating expensive was not done.",
    merkle: "The values it shows are not the ones it committed to.",
    opening: "The values it committed to do not satisfy what was claimed about them.",
    statement: "The proof holds, but it is about something else than you expect.",
};

/** @param {string | null} check */
export function checkWords(check) {
    return (check && checks[check]) || "A check of the verifier does not hold.";
}

/**
 * Groups of the proof's parts, in the order in which they are drawn.
 * @type {{name: string, what: string, parts: string[]}[]}
 */
const groups = [
    {
        name: "Openings",
        what: "Columns of the committed tables at random places, with the hashes that lead from them to a root",
        parts: ["opening"],
    },
    {
        name: "Keccak layers",
        what: "Messages that reduce all 24 rounds of every hash to a claim about its input",
        parts: ["layer_round", "layer_tail", "v_out"],
    },
    {
        name: "Bus",
        what: "Messages that show that each hash chain runs unbroken from the signature to the key",
        parts: ["multiplicity", "bus_round", "bus_tail"],
    },
    {
        name: "Inputs",
        what: "Messages that tie the hashes' inputs to the committed words",
        parts: ["input_round", "slices"],
    },
    {
        name: "Commitments",
        what: "Roots, and the rounds that shrink the committed table until its last word fits in here",
        parts: ["header", "root", "whir_round", "out_of_domain", "nonce", "last_word"],
    },
];

/**
 * The parts of an envelope by groups. A part that is not known has the last group, and what the verifier did not come to one of its
 * own.
 * @param {Record<string, number>} parts @param {number} statementBytes @param {number} envelopeBytes
 * @returns {{name: string, what: string, bytes: number, hue: number}[]} hue: of the colours in page.css, the same for every proof
 */
export function partGroups(parts, statementBytes, envelopeBytes) {
    const known = new Set(groups.flatMap((group) => group.parts));
    const rest = Object.keys(parts).filter((name) => !known.has(name));
    const made = groups.map(({ name, what, parts: own }, i) => {
        const names = i === groups.length - 1 ? [...own, ...rest] : own;
        return { name, what, bytes: names.reduce((sum, part) => sum + (parts[part] ?? 0), 0) };
    });
    const statement = { name: "Statement", what: "Who signed what: the epoch, the message and the list", bytes: statementBytes };
    const read = made.reduce((sum, group) => sum + group.bytes, statementBytes);
    const unread = { name: "Not read", what: "Checking ended before it, with the check that failed", bytes: envelopeBytes - read };
    return [...made, statement, unread].map((group, hue) => ({ ...group, hue })).filter((group) => group.bytes > 0);
}

/** Stages of making a proof, in their order. @type {Record<string, {name: string, what: string}>} */
const stages = {
    keys: { name: "Keys", what: "A new key for each signer" },
    signing: { name: "Signatures", what: "Each signer tries randomizers until the message's code has the right sum" },
    witness: { name: "Witness", what: "Every hash of every signature, written down" },
    commitment: { name: "Commitment", what: "Encoding what was written down, and a Merkle tree over it" },
    bus: { name: "Bus", what: "Tying the hash chains together" },
    "Keccak layers": { name: "Keccak layers", what: "All hashes' rounds, from the last to the first" },
    open: { name: "Opening", what: "Showing the committed values where they are asked for" },
};

/** A report's stage as one of the above. @param {string} stage */
export function stageKey(stage) {
    return stage === "commit" ? "commitment" : stage;
}

/** @param {string} key */
export function stageWords(key) {
    return stages[key] ?? { name: key, what: "" };
}

export const proofStages = Object.keys(stages);

/**
 * A headline and an explanation of an error.
 * @param {any} error
 * @returns {{title: string, text: string}}
 */
export function errorWords(error) {
    const message = String(error?.message ?? error);
    switch (error?.code) {
        case "MALFORMED":
            return { title: "This is not a proof file", text: message };
        case "UNSUPPORTED":
            return { title: "This is not supported here", text: message };
        case "DUPLICATE_KEY":
            return { title: "A signer is on the list twice", text: `${message}. Such a file is no proof of anything.` };
        case "LOAD":
            return { title: "Sheaf could not be loaded", text: message };
        case "OUT_OF_MEMORY":
            return { title: "There is not enough memory", text: message };
        case "BAD_SIGNATURE":
            return { title: "A signature does not verify", text: message };
        case "INVALID_ARGUMENT":
            return { title: "This cannot be asked for", text: message };
        case "IO":
            return { title: "The file could not be read", text: message };
        default:
            return { title: "Something went wrong", text: message };
    }
}
