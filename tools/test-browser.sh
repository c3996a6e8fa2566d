#!/usr/bin/env bash
# Runs the page's tests in headless Chromium.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tools/test-browser.sh             all of them; the last line is `browser: N passed, N failed`
#     tools/test-browser.sh SUITE ...   some: access check load make quickstart
#     tools/test-browser.sh --setup     only brings what they need
#
# What is missing is brought first: Chromium (Debian's package), playwright-core (npm), the WebAssembly modules and the native
# command, which makes the files that are checked. SHEAF names another native command, CHROMIUM another browser.
# NO_BUILD=1: the modules in web/wasm are taken as they are. Pictures of the page are left in build/screenshots.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=tests/js/browser
playwright=1.61 # the last that Node.js 18 runs

say() { printf 'test-browser: %s\n' "$*" >&2; }
die() {
    say "error: $*"
    printf 'browser: 0 passed, 1 failed\n'
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# ---- what the tests need ----

bring_chromium() {
    local browser=${CHROMIUM:-/usr/bin/chromium}
    [ -x "$browser" ] && return
    [ -z "${CHROMIUM:-}" ] || die "there is no $CHROMIUM"
    have apt-get || die "no Chromium: install it, or name one by CHROMIUM"
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        have sudo && sudo -n true 2>/dev/null || die "no Chromium, and no right to install it"
        as_root=(sudo -n)
    fi
    say "installing Chromium"
    "${as_root[@]}" apt-get update -qq </dev/null >/dev/null || say "apt-get update failed; trying with the lists that are there"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core \
        </dev/null >/dev/null 2>&1 || die "Chromium could not be installed"
}

bring_playwright() {
    have node && have npm || die "Node.js and npm are needed"
    [ -f node_modules/playwright-core/package.json ] && return
    say "installing playwright-core"
    npm install --no-save --no-audit --no-fund --ignore-scripts --silent "playwright-core@$playwright" </dev/null >/dev/null ||
        die "playwright-core could not be installed"
}

bring_modules() {
    if [ "${NO_BUILD:-}" = 1 ]; then
        [ -f web/wasm/sheaf.wasm ] || die "web/wasm has no modules"
        return
    fi
    local log=build/logs/build-wasm-modules.log
    mkdir -p build/logs
    say "building the WebAssembly modules"
    {
        bash tools/setup.sh && bash tools/setup-wasm.sh
        [ -f build/wasm/CMakeCache.txt ] || cmake --preset wasm
        cmake --build build/wasm -j "${JOBS:-2}" --target module_sheaf-verify module_sheaf module_sheaf-threads
        node tools/wasm-files.mjs
    } >"$log" 2>&1 </dev/null || {
        tail -n 30 "$log" >&2
        die "the WebAssembly modules were not built"
    }
}

bring_command() {
    [ -n "${SHEAF:-}" ] || export SHEAF=$PWD/build/native/sheaf
    [ -x "$SHEAF" ] && return
    local log=build/logs/build-native-command.log
    mkdir -p build/logs
    say "building the native command"
    {
        bash tools/setup.sh
        [ -f build/native/CMakeCache.txt ] || cmake --preset native
        cmake --build build/native -j "${JOBS:-2}" --target sheaf
    } >"$log" 2>&1 </dev/null || {
        tail -n 30 "$log" >&2
        die "the native command was not built"
    }
}

bring_chromium
bring_playwright
bring_modules
bring_command
if [ "${1:-}" = --setup ]; then exit 0; fi

# ---- the suites, one after another ----

suites=("$@")
if [ "${#suites[@]}" = 0 ]; then suites=(check load make access quickstart); fi
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for suite in "${suites[@]}"; do
    file=$folder/$suite.browser.mjs
    [ -f "$file" ] || die "there is no suite $suite"
    status=0
    timeout 240 node --test --test-reporter=tap "$file" >"$log" 2>&1 </dev/null || status=$?
    p=$(sed -n 's/^# pass \([0-9]*\)$/\1/p' "$log" | tail -n 1)
    t=$(sed -n 's/^# tests \([0-9]*\)$/\1/p' "$log" | tail -n 1)
    p=${p:-0} t=${t:-0}
    f=$((t - p))
    # A suite that ended badly without counting a failure is one.
    if [ "$status" != 0 ] && [ "$f" = 0 ] || [ "$t" = 0 ]; then f=$((f + 1)); fi
    if [ "$f" != 0 ]; then cat "$log"; fi
    printf '%s: %d passed, %d failed\n' "$suite" "$p" "$f" >&2
    passed=$((passed + p)) failed=$((failed + f))
done
printf 'browser: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
