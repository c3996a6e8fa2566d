#!/usr/bin/env bash
# Brings what a build and its tests need: missing packages by apt-get, BearSSL's source package into .deps/.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tools/setup.sh              installs what is missing (as root, or by sudo), then fetches
#     tools/setup.sh --js         the same, and Node.js and npm, for the JavaScript package and its tests
#     tools/setup.sh --wasm       the same, and Emscripten by tools/setup-wasm.sh, for the WebAssembly build
#     tools/setup.sh --check      changes nothing; says what is missing and exits non-zero if anything is
#
# Flags may stand together: --check --wasm --js. tools/test-browser.sh --setup brings Chromium.
# Running it again is cheap. Where packages cannot be installed it names them; BearSSL's sources of version 0.6
# may also be put into .deps/bearssl by hand (the folder that holds inc/bearssl.h).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
deps=$PWD/.deps

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

oldest_node=18

check_only=0 wasm=0 js=0
for argument in "$@"; do
    case "$argument" in
        --check) check_only=1 ;;
        --wasm) wasm=1 ;;
        --js) js=1 ;;
        *) die "unknown argument $argument (known: --check, --js, --wasm)" ;;
    esac
done

have() { command -v "$1" >/dev/null 2>&1; }
have_header() { # a header that the C compiler finds
    have cc && printf '#include <%s>\n' "$1" | cc -x c -fsyntax-only - >/dev/null 2>&1
}
new_enough_node() { node -e "process.exit(parseInt(process.versions.node) >= $oldest_node ? 0 : 1)" 2>/dev/null; }
bearssl_there() { [ -f "$deps/bearssl/inc/bearssl.h" ] && [ -f "$deps/bearssl/src/inner.h" ]; }

# ---- packages ----

required=() # without these nothing is built or tested
optional=() # without these a test is skipped, and says so

list_missing() {
    required=() optional=()
    have gcc && have cc || required+=(gcc libc6-dev)
    have_header stdio.h || required+=(libc6-dev)
    have cmake || required+=(cmake)
    have make || have ninja || required+=(make)
    have pkg-config || required+=(pkg-config)
    have python3 || required+=(python3)
    { have pkg-config && pkg-config --exists libcjson; } || required+=(libcjson-dev)
    if ! bearssl_there; then
        have dpkg-source || required+=(dpkg-dev)
        have xz || required+=(xz-utils)
        have patch || required+=(patch)
    fi
    if [ "$js" = 1 ]; then
        have node || required+=(nodejs)
        have npm || required+=(npm)
    fi
    have_header simde/x86/avx512.h || optional+=(libsimde-dev)
}

list_missing
if [ "$check_only" = 1 ]; then
    missing=0
    if [ "${#required[@]}" -gt 0 ]; then say "missing packages: ${required[*]}"; missing=1; fi
    if [ "${#optional[@]}" -gt 0 ]; then say "missing, for optional tests: ${optional[*]}"; missing=1; fi
    if ! bearssl_there; then say "missing: BearSSL's sources in .deps/bearssl"; missing=1; fi
    if [ "$js" = 1 ] && have node && ! new_enough_node; then say "Node.js is older than $oldest_node"; missing=1; fi
    if [ "$wasm" = 1 ]; then bash tools/setup-wasm.sh --check || missing=1; fi
    exit "$missing"
fi

if [ "${#required[@]}" -gt 0 ] || [ "${#optional[@]}" -gt 0 ]; then
    as_root=()
    can_install=1
    if ! have apt-get; then
        can_install=0
    elif [ "$(id -u)" != 0 ]; then
        if have sudo && sudo -n true 2>/dev/null; then as_root=(sudo -n); else can_install=0; fi
    fi
    if [ "$can_install" = 1 ]; then
        say "installing: ${required[*]} ${optional[*]}"
        export DEBIAN_FRONTEND=noninteractive
        "${as_root[@]}" apt-get update -qq </dev/null || say "apt-get update failed; going on with its old lists"
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            "${required[@]}" "${optional[@]}" </dev/null >/dev/null || say "apt-get install failed"
        list_missing
    fi
    if [ "${#required[@]}" -gt 0 ]; then
        die "these packages are missing and could not be installed here: ${required[*]}"
    fi
    if [ "${#optional[@]}" -gt 0 ]; then
        say "not installed, the tests that need them will be skipped: ${optional[*]}"
    fi
fi

if [ "$js" = 1 ] && ! new_enough_node; then
    die "Node.js $(node --version) is too old: version $oldest_node or newer is needed"
fi

# ---- BearSSL ----

# One line per distribution index that this machine has: address, release, component. The mirror is the machine's
# own choice.
debian_indexes() {
    apt-get indextargets --format '$(ORIGIN)|$(COMPONENT)|$(REPO_URI)|$(CODENAME)' "Created-By: Packages" |
        awk -F'|' '($1 == "Debian" || $1 == "Ubuntu") && ($2 == "main" || $2 == "universe") && !seen[$0]++ {
            print $3, $4, $2 }'
}

fetch_bearssl() {
    have apt-get || die "no apt-get: put BearSSL 0.6's sources into .deps/bearssl by hand"
    local tmp=$deps/bearssl.tmp keyring=/usr/share/keyrings/debian-archive-keyring.gpg options='' indexes
    rm -rf "$tmp"
    mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/download"
    indexes=$(debian_indexes)
    [ -n "$indexes" ] || die "apt knows no distribution here (run apt-get update first)"
    # Ubuntu, which has the component universe, signs with other keys, those that apt knows anyway.
    if [ -f "$keyring" ] && ! grep -q universe <<<"$indexes"; then options="[signed-by=$keyring] "; fi
    printf '%s\n' "$indexes" | while read -r uri release component; do
        printf 'deb-src %s%s %s %s\n' "$options" "$uri" "$release" "$component"
    done >"$tmp/sources.list"
    local private=(-o "Dir::Etc::sourcelist=$tmp/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$tmp/lists" -o "Dir::Cache=$tmp/cache"
        -o APT::Sandbox::User= -o Acquire::Languages=none)
    say "fetching BearSSL's source package"
    apt-get "${private[@]}" update -qq </dev/null || die "apt-get could not read the source index"
    (cd "$tmp/download" && apt-get "${private[@]}" source --download-only -qq bearssl </dev/null >/dev/null) ||
        die "apt-get found no source package bearssl"
    local dsc=("$tmp"/download/bearssl_*.dsc)
    [ -f "${dsc[0]}" ] || die "no description file in the source package"
    if ! dpkg-source --no-check -x "${dsc[0]}" "$tmp/bearssl" >/dev/null 2>"$tmp/log"; then # apt-get has checked it
        cat "$tmp/log" >&2
        die "dpkg-source failed"
    fi
    [ -f "$tmp/bearssl/inc/bearssl.h" ] || die "the source package does not look like BearSSL"
    rm -rf "$deps/bearssl"
    mv "$tmp/bearssl" "$deps/bearssl"
    rm -rf "$tmp"
}

mkdir -p "$deps"
bearssl_there || fetch_bearssl
[ "$wasm" = 0 ] || bash tools/setup-wasm.sh
say "ready"
