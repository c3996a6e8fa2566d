/* Small helpers for making elements and saying numbers.  SPDX-License-Identifier: MIT OR Apache-2.0 */

/**
 * The element of that id, which the page has. Of any kind, so that a field's value needs no cast.
 * @param {string} id @returns {any}
 */
export function byId(id) {
    return document.getElementById(id);
}

/**
 * @param {string} tag
 * @param {Record<string, any> | null} [attributes] on*: a listener; hidden, disabled and the like: true or false
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {any}
 */
export function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else if (value === true) node.setAttribute(name, "");
        else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
    }
    for (const child of children) if (child) node.append(child);
    return node;
}

/** @param {string} tag @param {Record<string, any>} attributes @param {...Node} children */
export function svg(tag, attributes, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
    node.append(...children);
    return node;
}

const whole = new Intl.NumberFormat("en");

/** @param {number} n */
export function count(n) {
    return whole.format(n);
}

/** @param {number} n @param {string} one @param {string} [many] */
export function counted(n, one, many = `${one}s`) {
    return `${whole.format(n)} ${n === 1 ? one : many}`;
}

/** A size for reading: exact below 10,000 bytes. @param {number} n */
export function bytes(n) {
    if (n < 10000) return counted(n, "byte");
    if (n < 999500) return `${(n / 1000).toPrecision(3)} kB`;
    if (n < 999500000) return `${(n / 1e6).toPrecision(3)} MB`;
    return `${(n / 1e9).toPrecision(3)} GB`;
}

/** Memory is counted in powers of two. @param {number} n */
export function memory(n) {
    const mib = n / 1048576;
    if (mib < 1024) return `${mib < 10 ? mib.toFixed(1) : Math.round(mib)} MiB`;
    return `${(mib / 1024).toFixed(1).replace(".0", "")} GiB`;
}

/** @param {number} ms */
export function time(ms) {
    if (ms < 0.95) return `${ms.toFixed(2)} ms`;
    if (ms < 9.95) return `${ms.toFixed(1)} ms`;
    if (ms < 999.5) return `${Math.round(ms)} ms`;
    if (ms < 59950) return `${(ms / 1000).toFixed(ms < 9950 ? 2 : 1)} s`;
    const seconds = Math.round(ms / 1000);
    return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** @param {number} part @param {number} total */
export function share(part, total) {
    const percent = total > 0 ? (100 * part) / total : 0;
    if (percent > 0 && percent < 0.1) return "< 0.1 %";
    return `${percent.toFixed(1)} %`;
}

/** @param {Uint8Array} data */
export function hex(data) {
    let out = "0x";
    for (const byte of data) out += byte.toString(16).padStart(2, "0");
    return out;
}

/** Says something to a screen reader, once, whatever the eye sees. @param {string} text */
export function announce(text) {
    const node = byId("announcer");
    if (node.textContent === text) node.textContent = "";
    node.textContent = text;
}

/** @param {string} id of a field @param {string} text empty: there is nothing wrong */
export function fieldError(id, text) {
    byId(`${id}-error`).textContent = text;
    const field = document.getElementById(id);
    if (text) field?.setAttribute("aria-invalid", "true");
    else field?.removeAttribute("aria-invalid");
}

/** Hands a file to the person. @param {Uint8Array} data @param {string} name @param {string} type */
export function download(data, name, type) {
    const url = URL.createObjectURL(new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (data)], { type }));
    const link = el("a", { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}
