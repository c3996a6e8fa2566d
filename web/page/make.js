/* The second panel: keys, signatures and their proof, made in the tab.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import { announce, byId, bytes, count, counted, download, el, fieldError, hex, memory, time } from "./dom.js";
import { messageOf } from "./message.js";
import { stagesPicture } from "./picture.js";
import { errorWords, proofStages, stageKey, stageWords } from "./words.js";

/** @typedef {import("../types.js").Prover} Prover */

const MAX_SIGNERS = 65536;
const MAX_EPOCH = 4294967295;
const SIGNATURE_BYTES = 1208;
const KEY_BYTES = 32;
/* Shares of the bar that keys and signatures take. */
const KEYS_SHARE = 0.01;
const SIGNING_SHARE = 0.06;
/* A report says what has been done: after these it is the next stage that is under way. */
/** @type {Record<string, string>} */
const NEXT = { commitment: "bus", bus: "Keccak layers" };
/** A screen reader is told no more often than that, in milliseconds. */
const TELL_EVERY = 4000;

/** @type {() => Promise<typeof import("../index.js")>} */
let load;
/** @type {(data: Uint8Array, name: string, keys: Uint8Array[], epoch: number, message: string) => Promise<void>} */
let checkMade;

/* ---- the prover ---- */

/** @type {{settings: string, prover: Promise<Prover>} | null} */
let current = null;

/** The prover of the settings that are chosen. One that was for others is given back. */
function theProver() {
    const threads = byId("threads").value === "1" ? 1 : "auto";
    const maxMemory = Number(byId("memory-limit").value);
    const settings = `${threads} ${maxMemory}`;
    if (current?.settings === settings) return current.prover;
    const before = current;
    const prover = (async () => {
        (await before?.prover.catch(() => null))?.dispose();
        const { createProver } = await load();
        return createProver({ threads, maxMemory, onNotice() {} });
    })();
    const mine = { settings, prover };
    current = mine;
    prover.then(
        (made) => {
            if (current !== mine) return;
            const hint = made.notice === null ? `${counted(made.threads, "thread")}, ${made.kernels}.` : "";
            byId("threads-hint").textContent = made.notice === null ? hint : noticeWords(made.notice);
        },
        () => {
            if (current === mine) current = null;
        },
    );
    return prover;
}

/** @param {string} notice */
function noticeWords(notice) {
    if (globalThis.crossOriginIsolated) return `One thread: ${notice}`;
    return "One thread: this page is served without the headers for cross-origin isolation, so threads cannot share memory.";
}

/* ---- the form ---- */

/** @returns {{signers: number, epoch: number, message: Uint8Array, text: string} | null} */
function request() {
    const signers = byId("signers").valueAsNumber;
    const epoch = byId("epoch").valueAsNumber;
    const text = byId("message").value;
    const read = messageOf(text);
    const goodSigners = Number.isInteger(signers) && signers >= 1 && signers <= MAX_SIGNERS;
    const goodEpoch = Number.isInteger(epoch) && epoch >= 0 && epoch <= MAX_EPOCH;
    fieldError("signers", goodSigners ? "" : `A whole number from 1 to ${count(MAX_SIGNERS)}.`);
    fieldError("epoch", goodEpoch ? "" : `A whole number from 0 to ${count(MAX_EPOCH)}.`);
    fieldError("message", "problem" in read ? read.problem : "");
    byId("message-digest").textContent = "bytes" in read ? hex(read.bytes) : "–";
    if (!goodSigners || !goodEpoch || "problem" in read) return null;
    return { signers, epoch, message: read.bytes, text };
}

/** @param {string} text @param {boolean} refused */
function sayNeeds(text, refused) {
    const node = byId("needs");
    node.classList.toggle("refused", refused);
    if (node.textContent !== text) node.textContent = text;
    byId("start").setAttribute("aria-disabled", String(refused));
}

let asked = 0;

/** Says what the proof would take, and whether it fits. @returns {Promise<boolean>} */
async function showNeeds() {
    const mine = ++asked;
    const wanted = request();
    if (wanted === null) {
        sayNeeds("Fill in the form to see what the proof needs.", false);
        return false;
    }
    try {
        const prover = await theProver();
        const need = await prover.memory({ signers: wanted.signers });
        if (mine !== asked) return need.fits;
        const needed = Number.isFinite(need.needed) ? `about ${memory(need.needed)}` : "more than 4 GiB";
        if (need.fits) sayNeeds(`Needs ${needed} of memory; up to ${memory(need.available)} can be used.`, false);
        else sayNeeds(`Does not fit: it needs ${needed} of memory, and ${memory(need.available)} can be used. Choose fewer signers.`, true);
        return need.fits;
    } catch (error) {
        if (mine !== asked) return false;
        const { title, text } = errorWords(error);
        sayNeeds(`${title}: ${text}`, true);
        return false;
    }
}

/* ---- making ---- */

/** @type {AbortController | null} */
let running = null;

/** Where the time goes, by the reports as they come. */
class Clock {
    constructor() {
        this.begin = performance.now();
        this.last = this.begin;
        /** @type {Map<string, number>} */
        this.times = new Map(proofStages.map((key) => [key, 0]));
    }

    /** The time since the last report was this stage's. @param {string} key */
    report(key) {
        const now = performance.now();
        this.times.set(key, (this.times.get(key) ?? 0) + now - this.last);
        this.last = now;
    }

    get elapsed() {
        return performance.now() - this.begin;
    }

    stages() {
        return [...this.times].map(([key, ms]) => ({ key, ms }));
    }
}

/** @param {Clock} clock */
function progressOf(clock) {
    let stage = "";
    let told = -Infinity;
    const bar = byId("progress");
    /** @param {string} key @param {number} fraction of the whole */
    return (key, fraction) => {
        const now = performance.now();
        bar.value = fraction;
        const percent = `${Math.floor(100 * fraction)} %`;
        byId("work-stage").textContent = `${stageWords(key).name}, ${percent}`;
        if (key !== stage) {
            stage = key;
            byId("stages").replaceChildren(stagesPicture(clock.stages(), key));
        }
        if (now - told > TELL_EVERY) {
            told = now;
            announce(`${stageWords(key).name}, ${percent}`);
        }
    };
}

/** @param {boolean} working */
function showWorking(working) {
    const start = byId("start");
    const cancel = byId("cancel");
    const focused = document.activeElement;
    byId("make-fields").disabled = working;
    cancel.hidden = !working;
    start.hidden = working;
    if (working) {
        byId("work").hidden = false;
        if (focused === start || focused === document.body || byId("make-form").contains(focused)) cancel.focus();
    } else if (focused === cancel || focused === document.body) {
        return true;
    }
    return false;
}

/** @param {{signers: number, epoch: number, message: Uint8Array}} wanted @param {AbortSignal} signal @param {Clock} clock */
async function make({ signers, epoch, message }, signal, clock) {
    const { keygen, sign } = await load();
    const prover = await theProver();
    const progress = progressOf(clock);
    /** @type {{key: Uint8Array, publicKey: Uint8Array}[]} */
    const keys = [];
    try {
        for (let i = 0; i < signers; i++) {
            progress("keys", (KEYS_SHARE * i) / signers);
            keys.push(await keygen({ firstEpoch: epoch, epochCount: 1, signal }));
            clock.report("keys");
        }
        const signatures = [];
        for (let i = 0; i < signers; i++) {
            progress("signing", KEYS_SHARE + (SIGNING_SHARE * i) / signers);
            const { publicKey, signature } = await sign(keys[i].key, { epoch, message }, { signal });
            signatures.push({ publicKey, signature });
            keys[i].key.fill(0);
            clock.report("signing");
        }
        const before = KEYS_SHARE + SIGNING_SHARE;
        progress("witness", before);
        let last = "witness";
        const envelope = await prover.aggregate(
            { epoch, message, signatures },
            {
                signal,
                onProgress(fraction, stage) {
                    /* A stage is reported when a part of it is done. */
                    last = stageKey(stage);
                    clock.report(last);
                    progress(NEXT[last] ?? last, before + (1 - before) * fraction);
                },
            },
        );
        clock.report(last);
        return { envelope, publicKeys: keys.map((k) => k.publicKey), threads: prover.threads };
    } finally {
        for (const { key } of keys) key.fill(0);
    }
}

/** @param {{envelope: Uint8Array, publicKeys: Uint8Array[], threads: number}} made @param {any} wanted @param {number} ms */
function showMade({ envelope, publicKeys, threads }, wanted, ms) {
    const name = `aggregate-of-${wanted.signers}-epoch-${wanted.epoch}.sheaf`;
    const plain = wanted.signers * SIGNATURE_BYTES;
    const total = envelope.length - KEY_BYTES * wanted.signers;
    const who = wanted.signers === 1 ? "Its signature alone has" : `Their ${count(wanted.signers)} signatures alone have`;
    const compared =
        total > plain
            ? `${who} ${bytes(plain)}: for so few signers that is less, but a proof hardly grows with their number.`
            : `${who} ${bytes(plain)}.`;
    const box = el(
        "div",
        { class: "card" },
        el("h3", null, `${counted(wanted.signers, "signature")}, one proof`),
        el("p", null, `The file has ${bytes(envelope.length)} and was made in ${time(ms)} by ${counted(threads, "thread")}. ${compared}`),
        el(
            "div",
            { class: "row actions" },
            el(
                "button",
                { type: "button", class: "primary", id: "save-proof", onclick: () => download(envelope, name, "application/octet-stream") },
                "Save the proof",
            ),
            el(
                "button",
                {
                    type: "button",
                    id: "save-keys",
                    onclick: async () => download(await (await load()).formatKeys(publicKeys), "keys.json", "application/json"),
                },
                "Save its list of keys",
            ),
            el(
                "button",
                {
                    type: "button",
                    id: "check-made",
                    onclick: () => checkMade(envelope, name, publicKeys, wanted.epoch, wanted.text),
                },
                "Check it",
            ),
        ),
    );
    byId("made").replaceChildren(box);
}

/** @param {string} title @param {string} text @param {"bad" | "note"} kind */
function showEnd(title, text, kind) {
    byId("made").replaceChildren(
        el("div", { class: `verdict ${kind}` }, el("div", null, el("h3", null, title), text !== "" && el("p", null, text))),
    );
}

async function start() {
    if (running !== null) return;
    const wanted = request();
    if (wanted === null) {
        byId("make-form").querySelector("[aria-invalid]")?.focus();
        return;
    }
    if (!(await showNeeds())) {
        announce(byId("needs").textContent);
        return;
    }
    if (running !== null) return;
    const mine = (running = new AbortController());
    const clock = new Clock();
    byId("made").replaceChildren();
    byId("stages").replaceChildren();
    byId("progress").value = 0;
    byId("work-stage").textContent = "Starting";
    showWorking(true);
    const tick = () => (byId("work-time").textContent = time(clock.elapsed));
    tick();
    const timer = setInterval(tick, 200);
    try {
        const made = await make(wanted, mine.signal, clock);
        const ms = clock.elapsed;
        clearInterval(timer);
        byId("work-time").textContent = time(ms);
        byId("progress").value = 1;
        byId("work-stage").textContent = "Done";
        byId("stages").replaceChildren(stagesPicture(clock.stages(), null));
        showMade(made, wanted, ms);
        announce(`The proof of ${counted(wanted.signers, "signature")} is made, in ${time(ms)}.`);
    } catch (error) {
        byId("work").hidden = true;
        if (mine.signal.aborted) {
            showEnd("Cancelled", `After ${time(clock.elapsed)}. The keys are gone.`, "note");
            announce("Cancelled.");
        } else {
            const { title, text } = errorWords(error);
            showEnd(title, text, "bad");
            announce(`${title}. ${text}`);
        }
    } finally {
        clearInterval(timer);
        running = null;
        const moved = showWorking(false);
        if (moved) (mine.signal.aborted ? byId("start") : byId("made")).focus({ preventScroll: true });
    }
}

/**
 * @param {() => Promise<typeof import("../index.js")>} loader
 * @param {typeof checkMade} checker
 */
export function startMake(loader, checker) {
    load = loader;
    checkMade = checker;
    byId("make-form").addEventListener("submit", (/** @type {Event} */ event) => {
        event.preventDefault();
        start();
    });
    byId("cancel").addEventListener("click", () => running?.abort());
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let pause;
    const changed = () => {
        request();
        clearTimeout(pause);
        pause = setTimeout(showNeeds, 200);
    };
    byId("make-fields").addEventListener("input", changed);
    request();
    /* The prover is several times the verifier's size: it is fetched when its panel comes into sight, not before. */
    const seen = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        seen.disconnect();
        showNeeds();
    });
    seen.observe(byId("make-form"));
}
