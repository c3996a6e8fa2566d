/* The first panel: what a file says, and whether its proof holds.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { announce, byId, bytes, count, counted, download, el, fieldError, hex, svg, time } from "./dom.js";
import { FileProblem, looksLikeKeys, readEnvelope, readKeyText } from "./files.js";
import { epochOf, messageOf } from "./message.js";
import { partsPicture } from "./picture.js";
import { checkWords, errorWords } from "./words.js";

/** @typedef {import("../types.js").Inspection} Inspection */
/** @typedef {{keys: Uint8Array[] | null, epoch: number | null, message: Uint8Array | null}} Expectation */

const KEYS_AT_ONCE = 50;
const NAMES_OF_DIFFERENCE = 5;

/** @type {{name: string, data: Uint8Array} | null} */
let open = null;
/** @type {{name: string, keys: Uint8Array[]} | null} */
let list = null;
/** A list was chosen that is not usable: nothing is compared with it, so nothing is accepted either. */
let badList = false;
/** @type {AbortController | null} the check that is under way */
let running = null;
/** @type {() => Promise<typeof import("../index.js")>} */
let load;

/* ---- the verdict ---- */

/** @type {Record<string, string>} */
const marks = { good: "M5 13l5 5L20 7", bad: "M6 6l12 12M18 6L6 18", note: "M12 5v9M12 18.5v.5", busy: "M6 12h.01M12 12h.01M18 12h.01" };

/**
 * @param {"good" | "bad" | "note" | "busy"} kind
 * @param {string} title
 * @param {...(Node | string | null)} text
 */
function say(kind, title, ...text) {
    const mark = svg("svg", { viewBox: "0 0 24 24", class: "mark", "aria-hidden": "true" }, svg("path", { d: marks[kind] }));
    const box = el("div", { class: `verdict ${kind}` }, mark, el("div", null, el("h3", null, title), ...text));
    byId("verdict").replaceChildren(box);
}

/** @param {...any} children */
const p = (...children) => el("p", null, ...children);

/* ---- what the file says ---- */

/** @param {string[]} things */
const listed = (things) => [things.slice(0, -1).join(", "), ...things.slice(-1)].filter(Boolean).join(" and ");

/** @param {Uint8Array} data */
const code = (data) => el("code", { class: "hex" }, hex(data));

/** @param {boolean | null} same null: not compared @param {boolean} asked whether anything was */
function comparison(same, asked) {
    if (!asked) return null;
    if (same === null) return el("span", { class: "compared" }, "not compared");
    return el("span", { class: `compared ${same ? "same" : "other"}` }, same ? "as you expect" : "not what you expect");
}

/**
 * A list of keys or digests, found by their digits, some at a time.
 * @param {Uint8Array[]} items @param {string} what @param {string} file
 */
function itemList(items, what, file) {
    const shown = el("ol", { class: items.length > 99 ? "keys long" : "keys" });
    const more = el("button", { type: "button", class: "quiet" });
    const state = el("p", { class: "hint", role: "status" });
    const filter = el("input", {
        type: "search",
        id: "key-filter",
        autocomplete: "off",
        autocapitalize: "off",
        spellcheck: "false",
        placeholder: "0x…",
    });
    let limit = KEYS_AT_ONCE;
    const draw = () => {
        const wanted = filter.value.trim().toLowerCase();
        const found = [];
        for (let i = 0; i < items.length; i++) {
            const text = hex(items[i]);
            if (wanted === "" || text.includes(wanted)) found.push({ i, text });
        }
        shown.replaceChildren(
            ...found.slice(0, limit).map(({ i, text }) => el("li", { value: i + 1 }, el("code", { class: "hex" }, text))),
        );
        const rest = found.length - Math.min(limit, found.length);
        more.hidden = rest === 0;
        more.textContent = `Show ${count(Math.min(rest, 10 * KEYS_AT_ONCE))} more`;
        state.textContent = wanted === "" ? "" : found.length === 0 ? "No such one is on the list." : `${count(found.length)} found.`;
    };
    filter.addEventListener("input", () => {
        limit = KEYS_AT_ONCE;
        draw();
    });
    more.addEventListener("click", () => {
        limit += 10 * KEYS_AT_ONCE;
        draw();
    });
    draw();
    const save =
        file !== "" &&
        el(
            "button",
            {
                type: "button",
                onclick: async () => download(await (await load()).formatKeys(items), file, "application/json"),
            },
            "Save the list",
        );
    const tools =
        items.length > 8
            ? el("div", { class: "row" }, el("label", { for: "key-filter" }, "Find"), filter, save)
            : save && el("div", { class: "row" }, save);
    return el(
        "details",
        { class: "fold inner", open: items.length <= 8 },
        el("summary", null, `${counted(items.length, what)}`),
        tools,
        state,
        shown,
        el("div", { class: "row" }, more),
    );
}

/** @param {Uint8Array[]} there @param {Uint8Array[]} expected */
function difference(there, expected) {
    const have = new Set(there.map(hex));
    const want = new Set(expected.map(hex));
    return {
        missing: [...want].filter((key) => !have.has(key)),
        extra: [...have].filter((key) => !want.has(key)),
    };
}

/** @param {string} title @param {string[]} keys */
function differenceList(title, keys) {
    if (keys.length === 0) return null;
    const shown = keys.slice(0, NAMES_OF_DIFFERENCE).map((key) => el("li", null, el("code", { class: "hex" }, key)));
    if (keys.length > NAMES_OF_DIFFERENCE) shown.push(el("li", null, `and ${count(keys.length - NAMES_OF_DIFFERENCE)} more`));
    return el("div", { class: "difference" }, el("p", null, title), el("ul", { class: "keys" }, ...shown));
}

/** @param {Expectation} expected */
const isAsked = (expected) => expected.keys !== null || expected.epoch !== null || expected.message !== null;

/** @param {Uint8Array} a @param {Uint8Array} b */
const same = (a, b) => hex(a) === hex(b);

/** @param {Inspection} info @param {Expectation} expected */
function compare(info, expected) {
    const keys = expected.keys === null ? null : difference(info.publicKeys, expected.keys);
    return {
        keys,
        sameKeys: keys === null ? null : keys.missing.length + keys.extra.length === 0,
        sameEpoch: expected.epoch === null ? null : info.epoch === expected.epoch,
        sameMessage: expected.message === null ? null : info.message !== null && same(info.message, expected.message),
    };
}

/** @param {string} term @param {...any} children */
function row(term, ...children) {
    return el("div", null, el("dt", null, term), el("dd", null, ...children));
}

/** @param {Inspection} info @param {Expectation} expected @param {string} name */
function statementCard(info, expected, name) {
    const is = compare(info, expected);
    const asked = isAsked(expected);
    const aggregate = info.scheme === "leanXMSS";
    const items = aggregate ? info.publicKeys : info.digests;
    const rows = [
        row("File", `${name}, ${bytes(info.envelopeBytes)}`),
        row("Scheme", aggregate ? "leanXMSS over SHAKE256" : "A batch of SHAKE256 hashes"),
    ];
    if (aggregate && info.message !== null) {
        rows.push(
            row("Epoch", String(info.epoch), " ", comparison(is.sameEpoch, asked)),
            row("Message", code(info.message), " ", comparison(is.sameMessage, asked)),
            row(
                "Signers",
                count(info.count),
                " ",
                comparison(is.sameKeys, asked),
                is.keys && differenceList("You expect these, and they did not sign:", is.keys.missing),
                is.keys && differenceList("These signed, and are not on your list:", is.keys.extra),
            ),
        );
    } else {
        rows.push(row("Digests", count(info.count)));
    }
    return el(
        "div",
        { class: "card" },
        el("h3", null, info.accepted || info.check === "statement" ? "The proof says" : "The file claims"),
        el("dl", { class: "facts" }, ...rows),
        itemList(items, aggregate ? "public key" : "digest", aggregate ? "keys.json" : ""),
    );
}

/** @param {Inspection} info */
function partsCard(info) {
    const slots = 2 ** info.logSlots;
    const facts = [
        row("Hashes", `${count(slots * info.permutationsPerSlot)} Keccak permutations, ${info.permutationsPerSlot} in each of ${counted(slots, "slot")}`),
        row("Committed", `${counted(2 ** info.logWords, "word")} of 64 bits at rate 1/${2 ** info.logInvRate}`),
        row("Soundness", `${info.securityBits.toFixed(1)} bits: what the largest error term leaves`),
    ];
    const levels = el(
        "table",
        { class: "levels" },
        el("caption", null, "Levels of the opening; grinding in bits"),
        el(
            "thead",
            null,
            el("tr", null, ...["Level", "Folds", "Rate", "Queries", "Grinding"].map((t) => el("th", { scope: "col", class: "number" }, t))),
        ),
        el(
            "tbody",
            null,
            ...info.levels.map((level, i) =>
                el(
                    "tr",
                    null,
                    el("th", { scope: "row", class: "number" }, String(i)),
                    el("td", { class: "number" }, String(level.fold)),
                    el("td", { class: "number" }, `1/${count(2 ** level.logInvRate)}`),
                    el("td", { class: "number" }, String(level.queries)),
                    el("td", { class: "number" }, String(level.grindingBits)),
                ),
            ),
        ),
    );
    return el(
        "div",
        { class: "card" },
        el("h3", null, "A picture of the proof"),
        partsPicture(info),
        info.logInvRate > 0 &&
            el("details", { class: "fold inner" }, el("summary", null, "Parameters"), el("dl", { class: "facts" }, ...facts), levels),
    );
}

/* ---- checking ---- */

/** What is filled in; null where something filled in is not readable. @returns {Expectation | null} */
function expectation() {
    const epochText = byId("expect-epoch").value;
    const messageText = byId("expect-message").value;
    /** @type {Expectation} */
    const expected = { keys: list?.keys ?? null, epoch: null, message: null };
    let readable = !badList;
    fieldError("expect-epoch", "");
    fieldError("expect-message", "");
    if (epochText.trim() !== "") {
        const read = epochOf(epochText);
        if ("epoch" in read) expected.epoch = read.epoch;
        else {
            readable = false;
            fieldError("expect-epoch", read.problem);
        }
    }
    if (messageText !== "") {
        const read = messageOf(messageText);
        if ("bytes" in read) expected.message = read.bytes;
        else {
            readable = false;
            fieldError("expect-message", read.problem);
        }
    }
    const given = [
        expected.keys && counted(expected.keys.length, "signer"),
        expected.epoch !== null && `epoch ${expected.epoch}`,
        expected.message && "a message",
    ].filter(Boolean);
    byId("expect-note").textContent = given.length === 0 ? "optional" : given.join(", ");
    return readable ? expected : null;
}

/** @param {Inspection} info @param {Expectation} expected */
function sayVerdict(info, expected) {
    const took = time(info.milliseconds);
    const aggregate = info.scheme === "leanXMSS";
    const asked = isAsked(expected);
    if (!aggregate && asked) {
        say("bad", "Rejected: not what you expect", p("It is a batch of hashes, which has no signers, epoch or message."));
        return "Rejected: it is a batch of hashes.";
    }
    if (info.accepted) {
        const who = aggregate
            ? info.count === 1
                ? "The signer on its list signed the message."
                : `All ${count(info.count)} signers on its list signed the message.`
            : `For each of ${counted(info.count, "digest")} a message that hashes to it is known.`;
        const all = expected.keys !== null && expected.epoch !== null && expected.message !== null;
        const caution = !aggregate
            ? null
            : !asked
              ? "Whether these are the signers, the epoch and the message that you mean was not compared: read them below, or fill in what you expect."
              : all
                ? "Signers, epoch and message are those that you expect."
                : "What you filled in is what it says; the rest was not compared.";
        say("good", "Accepted: the proof holds", p(who, ` Checked in ${took}.`), caution && p(caution));
        return `Accepted: the proof holds. ${who} Checked in ${took}.`;
    }
    if (info.check === "statement") {
        const is = compare(info, expected);
        const other = [
            is.sameKeys === false && "the signers",
            is.sameEpoch === false && "the epoch",
            is.sameMessage === false && "the message",
        ].filter((what) => what !== false);
        say("bad", "Rejected: not what you expect", p(`${checkWords("statement")} Checked in ${took}.`), p(`Not as you expect: ${listed(other)}.`));
        return "Rejected: the proof is about something else than you expect.";
    }
    const where = info.index ? `, at ${count(info.index)}` : "";
    say(
        "bad",
        "Rejected: the proof does not hold",
        p(`${checkWords(info.check)} Nothing that this file claims is to be believed. Checked in ${took}.`),
        el("p", { class: "detail" }, "Failed check: ", el("code", null, info.check ?? "unknown"), `${where} (${info.reason})`),
    );
    return `Rejected: the proof does not hold. ${checkWords(info.check)}`;
}

/** @param {any} error */
function sayError(error) {
    byId("findings").hidden = true;
    byId("findings").replaceChildren();
    const { title, text } = error instanceof FileProblem ? { title: error.title, text: error.message } : errorWords(error);
    const notes = [p(text)];
    if (error?.code === "LOAD") notes.push(p("So nothing was checked: this says nothing about the file."));
    say(error?.code === "LOAD" || error?.code === "INTERNAL" ? "note" : "bad", title, ...notes);
}

async function check() {
    running?.abort();
    running = null;
    if (open === null) return;
    const expected = expectation();
    if (expected === null) {
        byId("findings").hidden = true;
        say("note", "Not checked", p("What you expect is not readable as it stands; see above."));
        return;
    }
    const mine = (running = new AbortController());
    const { name, data } = open;
    /* A quick answer needs no announcement of a wait. */
    const patience = setTimeout(() => say("busy", "Checking", p(name)), 150);
    try {
        const sheaf = await load();
        const isAggregate = data[10] === 1;
        const asked = isAggregate && isAsked(expected);
        const info = await sheaf.inspect(data, {
            signal: mine.signal,
            expected: asked
                ? { epoch: expected.epoch ?? "any", message: expected.message ?? "any", publicKeys: expected.keys ?? "any" }
                : undefined,
        });
        if (running !== mine) return;
        clearTimeout(patience);
        sayVerdict(info, expected);
        const findings = byId("findings");
        findings.replaceChildren(statementCard(info, expected, name), partsCard(info));
        findings.hidden = false;
    } catch (error) {
        if (running === mine) sayError(error);
    } finally {
        clearTimeout(patience);
        if (running === mine) running = null;
    }
}

/** @param {File} file */
async function takeKeys(file) {
    byId("keys-error").textContent = "";
    try {
        const text = await readKeyText(file);
        const { parseKeys } = await load();
        const keys = await parseKeys(text);
        if (new Set(keys.map(hex)).size !== keys.length)
            throw new FileProblem("", "A key is on it twice, and a signer must not count twice.");
        list = { name: file.name, keys };
        badList = false;
    } catch (error) {
        list = null;
        badList = true;
        const why = error instanceof Error ? error.message : String(error);
        byId("keys-error").textContent = `${file.name} is not usable as a list of keys: ${why}`;
    }
    showList();
}

function showList() {
    const what = badList ? "not usable" : list === null ? "any" : `${list.name}: ${counted(list.keys.length, "key")}`;
    byId("keys-state").textContent = what;
    byId("keys-clear").hidden = list === null && !badList;
    expectation();
}

/** Files as they were chosen or dropped. @param {File[]} files */
export async function takeFiles(files) {
    const keys = files.find(looksLikeKeys);
    const proof = files.find((file) => file !== keys);
    if (keys !== undefined) {
        byId("expect").setAttribute("open", "");
        await takeKeys(keys);
        if (list === null && proof === undefined) byId("keys-error").scrollIntoView({ block: "nearest" });
    }
    if (proof !== undefined) {
        running?.abort();
        running = null;
        open = null;
        try {
            open = { name: proof.name, data: await readEnvelope(proof) };
        } catch (error) {
            sayError(error);
            return;
        }
    }
    if (keys !== undefined && proof === undefined && open === null && list !== null)
        announce(`${counted(list.keys.length, "key")} expected. Now choose a proof file.`);
    await check();
    if (open !== null) byId("verdict").scrollIntoView({ block: "nearest" });
}

/**
 * Checks what was made in this tab, by the list that it was made for.
 * @param {Uint8Array} data @param {string} name @param {Uint8Array[]} keys @param {number} epoch @param {string} message
 */
export async function takeMade(data, name, keys, epoch, message) {
    open = { name, data };
    list = { name: "made here", keys };
    badList = false;
    byId("expect-epoch").value = String(epoch);
    byId("expect-message").value = message;
    byId("keys-error").textContent = "";
    showList();
    byId("check").scrollIntoView();
    await check();
    byId("verdict").focus({ preventScroll: true });
    byId("verdict").scrollIntoView({ block: "nearest" });
}

/** @param {() => Promise<typeof import("../index.js")>} loader */
export function startCheck(loader) {
    load = loader;
    /** @param {string} id */
    const chosen = (id) => {
        const input = byId(id);
        input.addEventListener("change", () => {
            const files = [...(input.files ?? [])];
            /* So that the same file can be chosen again after it has changed. */
            input.value = "";
            if (files.length === 0) return;
            if (id === "keys-file") takeKeys(files[0]).then(check);
            else takeFiles(files);
        });
    };
    chosen("proof-file");
    chosen("keys-file");
    byId("keys-clear").addEventListener("click", () => {
        list = null;
        badList = false;
        byId("keys-error").textContent = "";
        showList();
        byId("keys-file").focus();
        check();
    });
    for (const id of ["expect-epoch", "expect-message"]) byId(id).addEventListener("change", check);

    const veil = byId("drop-veil");
    const carriesFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
    document.addEventListener("dragover", (event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        veil.hidden = false;
    });
    document.addEventListener("dragleave", (event) => {
        if (event.relatedTarget === null) veil.hidden = true;
    });
    document.addEventListener("drop", (event) => {
        veil.hidden = true;
        if (!carriesFiles(event)) return;
        event.preventDefault();
        takeFiles([...(event.dataTransfer?.files ?? [])]);
    });
}
