/* JSON read strictly: RFC 8259, with every name of an object kept, in order, even twice.  SPDX-License-Identifier: MIT OR Apache-2.0 */

const MOST_DEPTH = 1000;
const plain = /[^"\\\u0000-\u001f]*/y;
const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const between = /[a-z \t\n\r{}[\]:,]*/y;
const escapes = /** @type {Record<string, string>} */ ({
    '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t",
});

/** An object's members in the order of the text. */
export class Members {
    constructor() {
        /** @type {[string, unknown][]} */
        this.list = [];
    }

    /** @param {string} name the first of that name */
    get(name) {
        return this.list.find(([n]) => n === name)?.[1];
    }
}

class Reader {
    /** @param {string} text */
    constructor(text) {
        this.text = text;
        this.at = 0;
    }

    /** @returns {never} */
    fail() {
        throw notUnderstood(this.text, this.at);
    }

    /** @param {RegExp} pattern a sticky one; moves past what it matches */
    match(pattern) {
        pattern.lastIndex = this.at;
        const found = pattern.exec(this.text)?.[0] ?? "";
        this.at += found.length;
        return found;
    }

    /** @param {string} word */
    skip(word) {
        if (!this.text.startsWith(word, this.at)) return false;
        this.at += word.length;
        return true;
    }

    string() {
        let out = "";
        for (;;) {
            out += this.match(plain);
            if (this.skip('"')) return out;
            if (!this.skip("\\")) this.fail();
            const letter = this.text[this.at] ?? "";
            if (letter === "u") {
                const code = this.text.slice(this.at + 1, this.at + 5);
                if (!/^[0-9a-fA-F]{4}$/.test(code)) this.fail();
                out += String.fromCharCode(parseInt(code, 16));
                this.at += 5;
            } else if (letter in escapes && letter !== "") {
                out += escapes[letter];
                this.at++;
            } else {
                this.fail();
            }
        }
    }

    /** @param {number} depth @returns {unknown} */
    value(depth) {
        if (depth > MOST_DEPTH) this.fail();
        this.match(space);
        if (this.skip('"')) return this.string();
        if (this.skip("{")) return this.object(depth);
        if (this.skip("[")) return this.array(depth);
        if (this.skip("true")) return true;
        if (this.skip("false")) return false;
        if (this.skip("null")) return null;
        const digits = this.match(number);
        if (digits === "") this.fail();
        return Number(digits);
    }

    /** @param {number} depth */
    object(depth) {
        const members = new Members();
        this.match(space);
        if (this.skip("}")) return members;
        for (;;) {
            this.match(space);
            if (!this.skip('"')) this.fail();
            const name = this.string();
            this.match(space);
            if (!this.skip(":")) this.fail();
            members.list.push([name, this.value(depth + 1)]);
            this.match(space);
            if (this.skip("}")) return members;
            if (!this.skip(",")) this.fail();
        }
    }

    /** @param {number} depth */
    array(depth) {
        /** @type {unknown[]} */
        const items = [];
        this.match(space);
        if (this.skip("]")) return items;
        for (;;) {
            items.push(this.value(depth + 1));
            this.match(space);
            if (this.skip("]")) return items;
            if (!this.skip(",")) this.fail();
        }
    }
}

export class JsonError extends Error {}

/** @param {string} text @param {number} at */
function notUnderstood(text, at) {
    return new JsonError(`not JSON: line ${placeOf(text, at).line} is not understood`);
}

/** Both counted from 1. @param {string} text @param {number} at */
function placeOf(text, at) {
    let line = 1;
    let begin = 0;
    for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) {
        line++;
        begin = i + 1;
    }
    return { line, column: at - begin + 1 };
}

/**
 * Looks at the text token by token, so that what is wrong with one is said with its place.
 * @param {string} text
 * @returns {boolean} whether every number is digits alone
 */
function checkTokens(text) {
    let digitsAlone = true;
    /** @param {number} at @param {string} what @returns {never} */
    const fail = (at, what) => {
        const { line, column } = placeOf(text, at);
        throw new JsonError(`not JSON: line ${line}, column ${column}: ${what}`);
    };
    /** @param {RegExp} pattern @param {number} at */
    const lengthAt = (pattern, at) => {
        pattern.lastIndex = at;
        return pattern.exec(text)?.[0].length ?? 0;
    };
    for (let at = lengthAt(between, 0); at < text.length; at += lengthAt(between, at)) {
        if (text[at] === '"') {
            for (at++; ; ) {
                at += lengthAt(plain, at);
                if (text[at] !== "\\") break;
                at += 2;
            }
            if (at < text.length && text[at] !== '"') fail(at, "a control byte in a string");
            at++;
        } else if (/[-0-9]/.test(text[at])) {
            const length = lengthAt(number, at);
            const end = at + length;
            /* What follows must not go on as a number: 07, 7., 7e. */
            if (length === 0 || /[-+.0-9eE]/.test(text[end] ?? "")) fail(at, "a number as JSON has none");
            if (!/^[0-9]+$/.test(text.slice(at, end))) digitsAlone = false;
            at = end;
        } else {
            fail(at, "a byte that JSON has not outside of strings");
        }
    }
    return digitsAlone;
}

/**
 * One value and white space: objects are Members, everything else is as in JSON.parse.
 * @param {string} text
 * @returns {{value: unknown, digitsAlone: boolean}} digitsAlone: every number is written so
 */
export function parseJson(text) {
    if (text.includes("\0") || text.includes("\\u0000")) throw new JsonError("not JSON: it holds a zero character");
    if (text.startsWith("\ufeff")) throw new JsonError("not JSON: it begins with a byte order mark");
    const digitsAlone = checkTokens(text);
    const reader = new Reader(text);
    const value = reader.value(0);
    reader.match(space);
    if (reader.at !== text.length) reader.fail();
    return { value, digitsAlone };
}
