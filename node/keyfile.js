/* Key files on disk: docs/leanxmss.md 6, 7.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The same files, and the same steps in the same order, as the native command's (src/common/sig/keyfile.c): either reads what
 * the other wrote and refuses a second message for an epoch that the other signed. Everything serves one rule: an epoch never
 * signs two different messages, whatever ends the process or the machine, at whatever moment, and whoever else signs. Hence:
 * lock; read the whole journal; make the signature; append its record; wait for the disk; only then hand it out; unlock. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { SheafError } from "../web/core/errors.js";
import { load32, sameBytes, store32 } from "../web/core/bytes.js";
import { codeOf } from "./errno.js";
import { flock, hook, ioFailure, takeLock } from "./lock.js";
import { discard, identityOf, linkSync, open, openSync, realpathSync, renameSync, statSync, unlinkSync } from "./paths.js";

const { constants: C } = fs;
const FORMAT_VERSION = 1;
const SCHEME_LEANXMSS_SHAKE256 = 1;
const TAG = 32;
const KEY_HEADER = 88;
const JOURNAL_HEADER = 88;
const RECORD = 72;
const RECORD_BODY = RECORD - TAG;
const HEIGHT = 32;
const KEY_MAGIC = Buffer.from("SHEAFKEY");
const JOURNAL_MAGIC = Buffer.from("SHEAFJNL");
/* In a record's place for the trial: the epoch can sign nothing any more. */
const WITHDRAWN = 0xffffffff;
const RECORDS_AT_ONCE = 4096;

/**
 * What makes and uses keys in memory.
 * @typedef {object} Keys
 * @property {(start: number, count: number, seed: Uint8Array | undefined) => Promise<Uint8Array>} make
 * @property {(key: Uint8Array) => Promise<unknown>} check throws where the key is not whole; the bytes are a copy, which it wipes
 * @property {(key: Uint8Array, epoch: number, message: Uint8Array) =>
 *            Promise<{signature: Uint8Array<ArrayBuffer>, trial: number}>} sign the key is a copy, which it wipes
 *
 * @typedef {{key: string, journal: string, lock: string, fresh: string, folder: string}} Names
 * @typedef {{at: Names, first: number, logCount: number, count: number, publicKey: Uint8Array<ArrayBuffer>, bytes: Buffer}} KeyFile
 * @typedef {{epoch: number, trial: number, message: Uint8Array}} JournalRecord
 */

/** @param {string} code @param {string} text @param {number} [index] */
function refusal(code, text, index) {
    return new SheafError(code, text, { index });
}

/** @param {string} file @returns {Names} */
function namesOf(file) {
    const slash = file.lastIndexOf("/");
    const folder = process.platform === "win32" ? path.dirname(file) : slash < 0 ? "." : file.slice(0, slash) || "/";
    return { key: file, journal: `${file}.journal`, lock: `${file}.lock`, fresh: `${file}.unfinished`, folder };
}

/** @param {Uint8Array[]} parts */
function sha256(...parts) {
    const hash = createHash("sha256");
    for (const part of parts) hash.update(part);
    return hash.digest();
}

/* ---- files ---- */

/** @param {fs.promises.FileHandle} file @param {Uint8Array} bytes @param {number} at @param {string} step */
async function writeAt(file, bytes, at, step) {
    hook.step(step);
    for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
        if (bytesWritten === 0) throw Object.assign(new Error("nothing was written"), { code: "ENOSPC" });
        done += bytesWritten;
    }
}

/** A file that ends early is a failure too. @param {fs.promises.FileHandle} file @param {number} length @param {number} at */
async function readAt(file, length, at) {
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length; ) {
        const { bytesRead } = await file.read(bytes, done, Math.min(length - done, 1 << 30), at + done);
        if (bytesRead === 0) throw Object.assign(new Error("the file ends early"), { code: "EIO" });
        done += bytesRead;
    }
    return bytes;
}

/** @param {fs.promises.FileHandle} file @param {string} step */
async function syncFile(file, step) {
    hook.step(step);
    await file.sync();
}

/** A file system that has no such operation on folders orders its names by itself. @param {string} folder @param {string} step */
async function syncFolder(folder, step) {
    hook.step(step);
    if (process.platform === "win32") return; // folders cannot be opened there
    const file = await open(folder, C.O_RDONLY | C.O_DIRECTORY);
    try {
        await file.sync();
    } catch (error) {
        if (codeOf(error) !== "EINVAL") throw error;
    } finally {
        await file.close();
    }
}

/** @param {fs.promises.FileHandle} file */
async function regularSize(file) {
    const stat = await file.stat();
    if (!stat.isFile()) throw Object.assign(new Error("not a regular file"), { code: "EINVAL" });
    return stat.size;
}

/** Makes a file that was not there, mode 0600 whatever the umask. @param {string} name @param {string} step */
async function makeFile(name, step) {
    hook.step(step);
    const file = await open(name, C.O_RDWR | C.O_CREAT | C.O_EXCL | (C.O_NOFOLLOW ?? 0), 0o600);
    try {
        await file.chmod(0o600);
        return file;
    } catch (error) {
        await file.close();
        throw error;
    }
}

/** @param {string} name @param {string} [step] */
function remove(name, step) {
    if (step !== undefined) hook.step(step);
    try {
        unlinkSync(name);
    } catch (error) {
        if (codeOf(error) !== "ENOENT") throw error;
    }
}

/** null where there is nothing of that name. @param {string} name */
function lstat(name) {
    try {
        return identityOf(name);
    } catch (error) {
        if (codeOf(error) === "ENOENT") return null;
        throw error;
    }
}

/**
 * @template T
 * @param {string} what @param {string} name @param {() => Promise<T> | T} run
 * @returns {Promise<T>}
 */
async function orSay(what, name, run) {
    try {
        return await run();
    } catch (error) {
        if (error instanceof SheafError) throw error;
        throw ioFailure(what, name, error);
    }
}

/* ---- the key ---- */

/** Bytes of the nodes of a key. @param {number} logCount */
const nodesBytes = (logCount) => 16 * (2 ** (logCount + 1) - 1);
/** @param {number} logCount */
const keySize = (logCount) => KEY_HEADER + nodesBytes(logCount) + 16 * (HEIGHT - logCount) + TAG;

/**
 * Opens and checks a key; it takes no lock. Symbolic links are resolved, so that one key has one journal.
 * @param {string} file its name in errors @param {Keys} keys @param {string} [from] where it is
 * @returns {Promise<KeyFile>} whose bytes are for closeKey
 */
export async function openKey(file, keys, from = file) {
    const real = await orSay("the key file cannot be opened", file, () => realpathSync(from));
    const handle = await orSay("the key file cannot be opened", file, () => open(real, C.O_RDONLY | (C.O_NONBLOCK ?? 0)));
    try {
        return await readKey(handle, file, real, keys);
    } finally {
        await handle.close();
    }
}

/** @param {fs.promises.FileHandle} handle @param {string} file @param {string} real @param {Keys} keys @returns {Promise<KeyFile>} */
async function readKey(handle, file, real, keys) {
    const unreadable = "the key file cannot be read";
    const size = await orSay(unreadable, file, () => regularSize(handle));
    if (size < KEY_HEADER) throw refusal("MALFORMED", `this is not a key: ${file}`);
    const header = await orSay(unreadable, file, () => readAt(handle, KEY_HEADER, 0));
    const first = load32(header, 16);
    const logCount = load32(header, 20);
    const publicKey = new Uint8Array(header.subarray(56, 88));
    const known = load32(header, 8) === FORMAT_VERSION && load32(header, 12) === SCHEME_LEANXMSS_SHAKE256;
    const isKey = header.subarray(0, 8).equals(KEY_MAGIC);
    header.fill(0);
    if (!isKey) throw refusal("MALFORMED", `this is not a key: ${file}`);
    if (!known) throw refusal("UNSUPPORTED", `a key of an unknown version or scheme: ${file}`);
    if (logCount > HEIGHT || first % 2 ** logCount !== 0)
        throw refusal("MALFORMED", `the key's interval is not aligned: ${file}`);
    if (size !== keySize(logCount)) throw refusal("MALFORMED", `the key is too short or too long: ${file}`);
    if (size > os.totalmem() || size > 2 ** 32)
        throw refusal("OUT_OF_MEMORY", `the key needs ${size} bytes of memory: ${file}`);
    const bytes = await orSay(unreadable, file, () => readAt(handle, size, 0));
    let good = false;
    try {
        if (!sha256(bytes.subarray(0, size - TAG)).equals(bytes.subarray(size - TAG)))
            throw refusal("MALFORMED", `the key is damaged (checksum): ${file}`);
        try {
            await keys.check(Uint8Array.from(bytes));
        } catch (error) {
            if (!(error instanceof SheafError) || error.code !== "MALFORMED") throw error;
            throw refusal("MALFORMED", `the key's public key is not its seed's: ${file}`);
        }
        good = true;
        return { at: namesOf(real), first, logCount, count: 2 ** logCount, publicKey, bytes };
    } finally {
        if (!good) bytes.fill(0);
    }
}

/** Wipes the secret. @param {KeyFile} key */
export function closeKey(key) {
    key.bytes.fill(0);
}

/** The whole file under a name that nobody reads, then its own name, which must be free. @param {Names} at @param {Uint8Array} bytes */
async function placeKey(at, bytes) {
    await orSay("a left-over file cannot be removed", at.fresh, () => remove(at.fresh, "remove left-over key"));
    const file = await orSay("the key file cannot be made", at.fresh, () => makeFile(at.fresh, "make key"));
    try {
        await orSay("the key file cannot be written", at.fresh, async () => {
            try {
                await writeAt(file, bytes, 0, "write key");
                await syncFile(file, "sync key");
            } finally {
                await file.close();
            }
        });
        await orSay("the key file cannot be given its name", at.key, () => {
            hook.step("name key");
            /* link() refuses a name that is taken; rename(), for file systems without links, only under our lock does. */
            try {
                linkSync(at.fresh, at.key);
            } catch (error) {
                if (!["EPERM", "ENOTSUP", "ENOSYS", "EMLINK"].includes(codeOf(error))) throw error;
                if (lstat(at.key) !== null) throw Object.assign(new Error("taken"), { code: "EEXIST" });
                renameSync(at.fresh, at.key);
            }
        });
    } catch (error) {
        discard(at.fresh);
        throw error;
    }
    await orSay("the key file is there, but may not survive a power failure", at.key, () =>
        syncFolder(at.folder, "sync folder of key"),
    );
    await orSay("the key file is there, and so is a left-over", at.fresh, () => remove(at.fresh, "remove second name"));
}

/**
 * Whether a file of at most a header is the beginning of a journal of ours. What a power failure left of one, nothing or a part of
 * its magic, is one too.
 * @param {string} name
 */
function beginsJournal(name) {
    const fd = openSync(name, C.O_RDONLY | (C.O_NOFOLLOW ?? 0));
    try {
        const head = Buffer.alloc(JOURNAL_MAGIC.length);
        const n = fs.readSync(fd, head, 0, head.length, 0);
        return head.subarray(0, n).equals(JOURNAL_MAGIC.subarray(0, n));
    } finally {
        fs.closeSync(fd);
    }
}

/**
 * Whether a file has what begins a key or a journal, so that nothing may take its place; null where it cannot be read.
 * @param {string} name
 */
export function isSecret(name) {
    try {
        const stat = statSync(name);
        if (!stat.isFile() || stat.size < KEY_MAGIC.length) return false;
    } catch {
        return false; // what is not to be reached is said by whatever writes there
    }
    let fd;
    try {
        fd = openSync(name, C.O_RDONLY | (C.O_NONBLOCK ?? 0));
        const head = Buffer.alloc(KEY_MAGIC.length);
        fs.readSync(fd, head, 0, head.length, 0);
        return head.equals(KEY_MAGIC) || head.equals(JOURNAL_MAGIC);
    } catch {
        return null;
    } finally {
        if (fd !== undefined) fs.closeSync(fd);
    }
}

/**
 * The empty journal. One without records, of a key that never came to be or never signed, makes place.
 * @param {Names} at @param {{first: number, logCount: number, publicKey: Uint8Array}} key
 */
async function placeJournal(at, key) {
    const stat = await orSay("the journal cannot be made", at.journal, () => lstat(at.journal));
    if (stat !== null) {
        if (!stat.isFile() || stat.size > JOURNAL_HEADER) {
            const text = "there is a journal with records, of a key that is not here; move it away first";
            throw refusal("IO", `${text}: ${at.journal}`);
        }
        if (!(await orSay("what has the journal's name cannot be read", at.journal, () => beginsJournal(at.journal)))) {
            const text = "the journal's name is taken by a file that is no journal; move it away first";
            throw refusal("IO", `${text}: ${at.journal}`);
        }
        await orSay("an empty journal cannot be removed", at.journal, () => remove(at.journal, "remove empty journal"));
    }
    const file = await orSay("the journal cannot be made", at.journal, () => makeFile(at.journal, "make journal"));
    try {
        await orSay("the journal cannot be written", at.journal, async () => {
            await writeAt(file, journalHeader(key), 0, "write journal header");
            await syncFile(file, "sync journal");
            await syncFolder(at.folder, "sync folder of journal");
        });
    } catch (error) {
        discard(at.journal);
        throw error;
    } finally {
        await file.close();
    }
}

/**
 * Makes a key for an aligned interval and writes it and its empty journal. An existing file is never overwritten, nor is a
 * journal with records.
 * @param {string} file @param {number} start @param {number} count @param {Uint8Array | undefined} seed @param {Keys} keys
 */
export async function createKey(file, start, count, seed, keys) {
    const at = namesOf(file);
    const needed = nodesBytes(Math.ceil(Math.log2(count)));
    if (needed > os.totalmem()) {
        const [need, have] = [needed, os.totalmem()].map((n) => Math.floor(n / 1048576));
        throw new SheafError("OUT_OF_MEMORY", `a key of ${count} epochs needs ${need} MiB of memory; this machine has ${have} MiB`, {
            needed,
            available: os.totalmem(),
        });
    }
    /** @type {string[]} */
    const notices = [];
    const lock = await takeLock(at.lock, notices);
    try {
        if ((await orSay("the key file cannot be made", at.key, () => lstat(at.key))) !== null)
            throw refusal("IO", `there is a file already, and a key is never overwritten: ${at.key}`);
        const bytes = await keys.make(start, count, seed);
        try {
            const publicKey = Uint8Array.from(bytes.subarray(56, 88));
            await placeJournal(at, { first: load32(bytes, 16), logCount: load32(bytes, 20), publicKey });
            await placeKey(at, bytes);
            return { publicKey, notices };
        } finally {
            bytes.fill(0);
        }
    } finally {
        await lock.release();
        hook.step("created");
    }
}

/* ---- the journal ---- */

/** @param {{first: number, logCount: number, publicKey: Uint8Array}} key */
function journalHeader(key) {
    const out = Buffer.alloc(JOURNAL_HEADER);
    JOURNAL_MAGIC.copy(out);
    store32(out, 8, FORMAT_VERSION);
    store32(out, 12, SCHEME_LEANXMSS_SHAKE256);
    store32(out, 16, key.first);
    store32(out, 20, key.logCount);
    out.set(key.publicKey, 24);
    sha256(out.subarray(0, JOURNAL_HEADER - TAG)).copy(out, JOURNAL_HEADER - TAG);
    return out;
}

/** The bytes of a record after the one with this tag. @param {Uint8Array} tag @param {JournalRecord} r */
function recordBytes(tag, r) {
    const out = Buffer.alloc(RECORD);
    store32(out, 0, r.epoch);
    store32(out, 4, r.trial);
    out.set(r.message, 8);
    sha256(tag, out.subarray(0, RECORD_BODY)).copy(out, RECORD_BODY);
    return out;
}

/** @param {number} index */
const recordAt = (index) => JOURNAL_HEADER + index * RECORD;

/** @param {KeyFile} key @param {number} epoch */
const covers = (key, epoch) => epoch >= key.first && epoch < key.first + key.count;

class Journal {
    /** @param {KeyFile} key @param {fs.promises.FileHandle} file */
    constructor(key, file) {
        this.key = key;
        this.file = file;
        this.name = key.at.journal;
        this.records = 0; // whole ones
        this.tag = Buffer.alloc(TAG); // of the last record or of the header
        this.tail = Buffer.alloc(0); // a torn record's bytes
    }

    /**
     * Opens the journal and checks that it is this key's. To write, it takes flock on it too, which holds even where somebody
     * removed the lock file of a living process.
     * @param {KeyFile} key @param {boolean} toWrite
     */
    static async open(key, toWrite) {
        const name = key.at.journal;
        let file;
        try {
            hook.step("open journal");
            file = await open(name, (toWrite ? C.O_RDWR : C.O_RDONLY) | (C.O_NOFOLLOW ?? 0) | (C.O_NONBLOCK ?? 0));
        } catch (error) {
            if (codeOf(error) === "ENOENT") {
                const text = "the journal is missing (was the key restored from a backup?), so the key cannot sign";
                throw refusal("IO", `${text}: ${name}`);
            }
            throw ioFailure("the journal cannot be opened", name, error);
        }
        const journal = new Journal(key, file);
        try {
            if (toWrite && (await flock(file.fd)) === "held")
                throw refusal("LOCKED", `another process is writing the journal: ${name}`);
            await journal.readHeader();
            return journal;
        } catch (error) {
            await file.close();
            throw error;
        }
    }

    async readHeader() {
        const { key, name } = this;
        const unreadable = "the journal cannot be read";
        const size = await orSay(unreadable, name, () => regularSize(this.file));
        if (size < JOURNAL_HEADER) throw refusal("MALFORMED", `the journal's header is cut short: ${name}`);
        this.records = Math.floor((size - JOURNAL_HEADER) / RECORD);
        const have = await orSay(unreadable, name, () => readAt(this.file, JOURNAL_HEADER, 0));
        this.tail = await orSay(unreadable, name, () =>
            readAt(this.file, (size - JOURNAL_HEADER) % RECORD, recordAt(this.records)),
        );
        const want = journalHeader(key);
        if (!have.subarray(0, 8).equals(JOURNAL_MAGIC)) throw refusal("MALFORMED", `this is not a journal: ${name}`);
        if (load32(have, 8) !== FORMAT_VERSION || load32(have, 12) !== SCHEME_LEANXMSS_SHAKE256)
            throw refusal("UNSUPPORTED", `a journal of an unknown version or scheme: ${name}`);
        if (!have.subarray(16, JOURNAL_HEADER - TAG).equals(want.subarray(16, JOURNAL_HEADER - TAG)))
            throw refusal("MALFORMED", `the journal belongs to another key: ${name}`);
        if (!have.equals(want)) throw refusal("MALFORMED", `the journal's header is damaged (checksum): ${name}`);
        if (this.records > key.count)
            throw refusal("MALFORMED", `the journal has more records than the key has epochs: ${name}`);
        this.tag = have.subarray(JOURNAL_HEADER - TAG);
    }

    /** Reads and checks all records in order and shows each to visit. @param {(index: number, r: JournalRecord) => void} visit */
    async scan(visit) {
        for (let i = 0; i < this.records; ) {
            const n = Math.min(this.records - i, RECORDS_AT_ONCE);
            const at = i;
            const bytes = await orSay("the journal cannot be read", this.name, () => {
                hook.step("read journal");
                return readAt(this.file, n * RECORD, recordAt(at));
            });
            for (let b = 0; b < n; b++, i++) {
                const there = bytes.subarray(b * RECORD, (b + 1) * RECORD);
                const r = { epoch: load32(there, 0), trial: load32(there, 4), message: there.subarray(8, RECORD_BODY) };
                if (!recordBytes(this.tag, r).equals(there))
                    throw refusal("MALFORMED", `record ${i} of the journal is damaged (checksum): ${this.name}`, i);
                if (!covers(this.key, r.epoch)) {
                    const text = `record ${i} of the journal is for epoch ${r.epoch}, which the key does not have`;
                    throw refusal("MALFORMED", `${text}: ${this.name}`, i);
                }
                this.tag = there.subarray(RECORD_BODY);
                visit(i, r);
            }
        }
    }

    /** Appends a record, waits for the disk. A torn record in its place is written over: it is shorter. @param {JournalRecord} r */
    async append(r) {
        const bytes = recordBytes(this.tag, r);
        const end = recordAt(this.records);
        try {
            await writeAt(this.file, bytes, end, "write record");
            await syncFile(this.file, "sync record");
        } catch (error) {
            /* Nothing has left, so the record may go. It must, where the disk refused it: a second wait for the same bytes could
             * succeed without their being there. If even this fails, it binds the epoch to the message. */
            try {
                hook.step("cut record");
                await this.file.truncate(end + this.tail.length);
            } catch (second) {
                throw ioFailure("the journal cannot be written, nor its last record be taken back", this.name, second);
            }
            throw ioFailure("the journal cannot be written", this.name, error);
        }
        this.tag = bytes.subarray(RECORD_BODY);
        this.records++;
        this.tail = Buffer.alloc(0);
    }

    close() {
        return this.file.close();
    }
}

/* ---- signing ---- */

/**
 * A torn record was never waited for, so its signature never left. Still, where its epoch can be read, that epoch may from now on
 * sign only what the record would have said: the retry that would write the very same bytes goes on; any other message is refused;
 * and before another epoch's record takes the place, the epoch is withdrawn.
 * @param {Journal} journal @param {number} tornEpoch @param {boolean} tornFound @param {JournalRecord} next @param {string[]} notices
 */
async function settleTornRecord(journal, tornEpoch, tornFound, next, notices) {
    const { tail } = journal;
    if (tail.length === 0) return;
    if (tail.length < 4 || !covers(journal.key, tornEpoch) || tornFound) {
        notices.push("wrote over a torn record");
        return;
    }
    if (tornEpoch === next.epoch) {
        if (!recordBytes(journal.tag, next).subarray(0, tail.length).equals(tail)) {
            throw refusal("EPOCH_USED", `epoch ${tornEpoch} has begun to sign another message: a torn record of ${journal.name}`);
        }
        notices.push("completed a torn record");
        return;
    }
    await journal.append({ epoch: tornEpoch, trial: WITHDRAWN, message: new Uint8Array(32) });
    notices.push(`withdrew epoch ${tornEpoch}, whose record was torn`);
}

/** A crash while the key was made may have left it under its first name too. @param {Names} at @param {string[]} notices */
function removeSecondName(at, notices) {
    const [a, b] = [lstat(at.fresh), lstat(at.key)];
    if (a === null || b === null || a.dev !== b.dev || a.ino !== b.ino) return;
    try {
        remove(at.fresh, "remove second name");
        notices.push("removed a left-over second name of the key");
    } catch {
        // it does no harm
    }
}

/** @param {KeyFile} key @param {number} epoch @param {Uint8Array} message @param {Keys} keys */
async function makeSignature(key, epoch, message, keys) {
    try {
        return await keys.sign(Uint8Array.from(key.bytes), epoch, message);
    } catch (error) {
        if (!(error instanceof SheafError) || error.code !== "MALFORMED") throw error;
        throw refusal("MALFORMED", `the key's nodes do not fit its public key: ${key.at.key}`);
    }
}

/**
 * @param {Journal} journal @param {{found: number, index: number, r: JournalRecord}} before @param {Uint8Array} message
 * @param {Keys} keys
 */
async function signAgain(journal, before, message, keys) {
    const { key, name } = journal;
    const { found, index, r } = before;
    if (found > 1)
        throw refusal("MALFORMED", `record ${index} of the journal names epoch ${r.epoch} a second time: ${name}`, index);
    if (r.trial === WITHDRAWN)
        throw refusal("EPOCH_USED", `epoch ${r.epoch} was withdrawn after a crash (record ${index} of ${name})`);
    if (!sameBytes(r.message, message))
        throw refusal("EPOCH_USED", `epoch ${r.epoch} has signed another message (record ${index} of ${name})`);
    const made = await makeSignature(key, r.epoch, message, keys);
    /* Another randomizer would show other positions of the same chains. */
    if (made.trial !== r.trial) {
        const text = `record ${index} of the journal has another randomizer than this key`;
        throw refusal("MALFORMED", `${text}: ${name}`, index);
    }
    /* The process that wrote the record may have ended before the disk had it. */
    await orSay("the journal cannot be written", name, () => syncFile(journal.file, "sync journal again"));
    return { signature: made.signature, repeated: true };
}

/**
 * @param {KeyFile} key @param {number} epoch @param {Uint8Array} message @param {Keys} keys @param {string[]} notices
 */
async function signLocked(key, epoch, message, keys, notices) {
    removeSecondName(key.at, notices);
    const journal = await Journal.open(key, true);
    try {
        const tornEpoch = journal.tail.length >= 4 ? load32(journal.tail, 0) : -1;
        let tornFound = false;
        const before = { found: 0, index: 0, r: { epoch, trial: 0, message } };
        await journal.scan((index, r) => {
            if (r.epoch === epoch) {
                before.found++;
                before.index = index;
                before.r = { ...r, message: Uint8Array.from(r.message) };
            }
            if (r.epoch === tornEpoch) tornFound = true;
        });
        if (before.found > 0) return await signAgain(journal, before, message, keys);
        const made = await makeSignature(key, epoch, message, keys);
        const next = { epoch, trial: made.trial, message };
        await settleTornRecord(journal, tornEpoch, tornFound, next, notices);
        await journal.append(next);
        return { signature: made.signature, repeated: false };
    } finally {
        await journal.close();
    }
}

/**
 * Signs. EPOCH_USED where the epoch has signed another message, LOCKED where another process is signing.
 * @param {KeyFile} key @param {number} epoch @param {Uint8Array} message @param {Keys} keys
 */
export async function signByKey(key, epoch, message, keys) {
    if (!covers(key, epoch)) {
        const text = `the key does not cover epoch ${epoch}: it has ${key.first} to ${key.first + key.count - 1}`;
        throw refusal("EPOCH_RANGE", text);
    }
    /** @type {string[]} */
    const notices = [];
    const lock = await takeLock(key.at.lock, notices);
    let made;
    try {
        made = await signLocked(key, epoch, message, keys, notices);
    } finally {
        await lock.release();
        hook.step("signed");
    }
    return { ...made, notices };
}

/* ---- what the journal says ---- */

/**
 * Ranges are of epochs that can sign no new message, ascending, none touching the next.
 * @param {KeyFile} key
 */
export async function usageOf(key) {
    const journal = await Journal.open(key, false);
    try {
        const epochs = new Uint32Array(journal.records);
        let withdrawn = 0;
        await journal.scan((index, r) => {
            epochs[index] = r.epoch;
            if (r.trial === WITHDRAWN) withdrawn++;
        });
        epochs.sort();
        /** @type {[number, number][]} */
        const ranges = [];
        for (const epoch of epochs) {
            const last = ranges[ranges.length - 1];
            if (last !== undefined && epoch === last[1])
                throw refusal("MALFORMED", `the journal names an epoch twice: ${journal.name}`);
            if (last !== undefined && epoch === last[1] + 1) last[1] = epoch;
            else ranges.push([epoch, epoch]);
        }
        let next = key.first;
        for (const [first, last] of ranges) {
            if (first > next) break;
            next = last + 1;
        }
        const used = journal.records;
        return {
            firstEpoch: key.first,
            epochs: key.count,
            used,
            left: key.count - used,
            withdrawn,
            usedRanges: ranges,
            nextEpoch: next < key.first + key.count ? next : null,
            tornRecord: journal.tail.length > 0,
        };
    } finally {
        await journal.close();
    }
}

