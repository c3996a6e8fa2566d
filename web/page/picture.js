/* Pictures: parts by size, stages by time.  SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A picture is drawn for the eye only; the table with it says the same in words. */
import { bytes, count, el, share, svg, time } from "./dom.js";
import { partGroups, stageWords } from "./words.js";

const WIDTH = 1000;
const GAP = 4;
/** A part is drawn this wide at least. */
const LEAST = 6;

/** One bar of segments side by side. @param {{value: number, hue: number, name: string}[]} segments */
function stackedBar(segments) {
    const room = WIDTH - GAP * (segments.length - 1);
    const total = segments.reduce((sum, s) => sum + s.value, 0) || 1;
    const widths = segments.map((s) => Math.max(LEAST, (room * s.value) / total));
    const scale = room / widths.reduce((sum, w) => sum + w, 0);
    let x = 0;
    const rects = segments.map((s, i) => {
        const width = widths[i] * scale;
        const title = svg("title", {});
        title.textContent = s.name;
        const rect = svg("rect", { x: x.toFixed(2), y: 0, width: width.toFixed(2), height: 40, class: `hue-${s.hue}` }, title);
        x += width + GAP;
        return rect;
    });
    return svg("svg", { viewBox: `0 0 ${WIDTH} 40`, preserveAspectRatio: "none", class: "stack", "aria-hidden": "true" }, ...rects);
}

/** @param {number} fraction @param {number} hue */
function meter(fraction, hue) {
    return svg(
        "svg",
        { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "meter", "aria-hidden": "true" },
        svg("rect", { x: 0, y: 0, width: 100, height: 8, class: "track" }),
        svg("rect", { x: 0, y: 0, width: (100 * Math.min(1, fraction)).toFixed(2), height: 8, class: `hue-${hue}` }),
    );
}

/** @param {{parts: Record<string, number>, statementBytes: number, envelopeBytes: number}} info */
export function partsPicture(info) {
    const groups = partGroups(info.parts, info.statementBytes, info.envelopeBytes);
    /* The description has a row of its own, so that it is readable where the screen is narrow. */
    const bodies = groups.map((group) =>
        el(
            "tbody",
            null,
            el(
                "tr",
                null,
                el(
                    "th",
                    { scope: "rowgroup" },
                    el("span", { class: `swatch hue-${group.hue}`, "aria-hidden": "true" }),
                    group.name,
                ),
                el("td", { class: "number" }, count(group.bytes)),
                el("td", { class: "number" }, share(group.bytes, info.envelopeBytes)),
            ),
            el("tr", null, el("td", { colspan: 3, class: "what" }, group.what)),
        ),
    );
    const table = el(
        "table",
        { class: "parts" },
        el("caption", null, `What its ${count(info.envelopeBytes)} bytes are`),
        el(
            "thead",
            null,
            el(
                "tr",
                null,
                el("th", { scope: "col" }, "Part"),
                el("th", { scope: "col", class: "number" }, "Bytes"),
                el("th", { scope: "col", class: "number" }, "Share"),
            ),
        ),
        ...bodies,
    );
    const segments = groups.map((g) => ({ value: g.bytes, hue: g.hue, name: `${g.name}: ${bytes(g.bytes)}` }));
    return el("div", { class: "picture" }, stackedBar(segments), table);
}

/**
 * @param {{key: string, ms: number}[]} stages in their order
 * @param {string | null} running the stage that is under way
 */
export function stagesPicture(stages, running) {
    const total = stages.reduce((sum, s) => sum + s.ms, 0);
    const most = Math.max(...stages.map((s) => s.ms), 1);
    const bodies = stages.map(({ key, ms }) => {
        const { name, what } = stageWords(key);
        const waiting = ms === 0 && key !== running;
        return el(
            "tbody",
            { class: key === running ? "running" : waiting ? "waiting" : null },
            el(
                "tr",
                null,
                el("th", { scope: "rowgroup" }, name),
                el("td", { class: "meter-cell" }, meter(waiting ? 0 : ms / most, 0)),
                el("td", { class: "number" }, waiting ? "–" : key === running ? "…" : time(ms)),
            ),
            what !== "" && el("tr", null, el("td", { colspan: 3, class: "what" }, what)),
        );
    });
    return el(
        "div",
        { class: "picture" },
        el(
            "table",
            { class: "times" },
            el("caption", null, running === null ? `Where its ${time(total)} went` : "Stages so far"),
            el(
                "thead",
                { class: "visually-hidden" },
                el("tr", null, el("th", { scope: "col" }, "Stage"), el("td", null), el("th", { scope: "col" }, "Time")),
            ),
            ...bodies,
        ),
    );
}
