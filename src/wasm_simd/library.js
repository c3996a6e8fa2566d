/* What the module calls of JavaScript.  SPDX-License-Identifier: MIT OR Apache-2.0 */
addToLibrary({
    sheaf_js_progress__deps: ["$UTF8ToString"],
    sheaf_js_progress: (millionths, stage) => {
        const report = Module["sheafProgress"];
        if (!report) return 0;
        try {
            return report((millionths >>> 0) / 1e6, UTF8ToString(stage)) ? 1 : 0;
        } catch (error) {
            // An exception must not unwind the module's frames, which would leave their memory behind.
            Module["sheafThrown"] = error;
            return 1;
        }
    },
});
