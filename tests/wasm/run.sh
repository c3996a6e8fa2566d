#!/usr/bin/env bash
# Runs the tests of a WebAssembly build in Node.js.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tests/wasm/run.sh [BUILD [SUITE...]]     default: build/wasm, and all that it has
#
# A suite's last line is `<name>: N passed, N failed, N skipped`, as everywhere. `abi` is the one in JavaScript; those that end in
# _relaxed need relaxed SIMD, which Node.js 20 has behind a flag.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "${1:-build/wasm}")
shift || true
if [ ! -f "$build/tests/suites.txt" ]; then
    printf 'run.sh: %s is not built: cmake --preset wasm && cmake --build --preset wasm\n' "$build" >&2
    exit 2
fi
suites=("$@")
if [ "${#suites[@]}" = 0 ]; then mapfile -t suites <"$build/tests/suites.txt"; fi

relaxed=()
if node --experimental-wasm-relaxed-simd -e 0 2>/dev/null; then relaxed=(--experimental-wasm-relaxed-simd); fi

status=0
for suite in "${suites[@]}"; do
    [ -n "$suite" ] || continue
    case "$suite" in
        abi)
            SHEAF_MODULES=$build/modules node "${relaxed[@]}" tests/wasm/abi.mjs || status=1
            ;;
        *_relaxed)
            if node "${relaxed[@]}" -e 'process.exit(WebAssembly.validate(fs.readFileSync(process.argv[1])) ? 0 : 1)' \
                "$build/tests/$suite.wasm"; then
                node "${relaxed[@]}" "$build/tests/$suite.cjs" || status=1
            else
                printf 'SKIP %s: this Node.js has no relaxed SIMD\n%s: 0 passed, 0 failed, 1 skipped\n' "$suite" "$suite"
            fi
            ;;
        *) node "$build/tests/$suite.cjs" || status=1 ;;
    esac
done
exit "$status"
