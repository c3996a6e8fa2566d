#!/usr/bin/env bash
# Brings what the arm64 build and its tests need on another kind of machine: Debian's cross compiler, qemu,
# and arm64's libcjson, for the command, into .deps/aarch64.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tools/setup-aarch64.sh            installs what is missing (as root, or by sudo), then fetches
#     tools/setup-aarch64.sh --check    changes nothing; says what is missing, if anything with an exit code
#
# Run tools/setup.sh first. Running it again is cheap. Without libcjson all is built but the command.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=$PWD/.deps/aarch64

say() { printf 'setup-aarch64: %s\n' "$*"; }
die() { printf 'setup-aarch64: error: %s\n' "$*" >&2; exit 1; }

check_only=0
case "${1-}" in
    '') ;;
    --check) check_only=1 ;;
    *) die "unknown argument $1 (known: --check)" ;;
esac

have() { command -v "$1" >/dev/null 2>&1; }
have_libc() { printf '#include <stdio.h>\n' | aarch64-linux-gnu-gcc -x c -fsyntax-only - >/dev/null 2>&1; }
cjson_there() { [ -f "$target/usr/include/cjson/cJSON.h" ]; }

missing=()
list_missing() {
    missing=()
    have aarch64-linux-gnu-gcc || missing+=(gcc-aarch64-linux-gnu)
    { have aarch64-linux-gnu-gcc && have_libc; } || missing+=(libc6-dev-arm64-cross)
    have qemu-aarch64 || have qemu-aarch64-static || missing+=(qemu-user)
}

list_missing
if [ "$check_only" = 1 ]; then
    [ "${#missing[@]}" = 0 ] || say "missing packages: ${missing[*]}"
    cjson_there || say "missing: arm64's libcjson in .deps/aarch64 (for the command)"
    [ "${#missing[@]}" = 0 ] && cjson_there
    exit
fi

if [ "${#missing[@]}" -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" != 0 ]; then as_root=(sudo -n); fi
    have apt-get || die "these packages are missing and there is no apt-get: ${missing[*]}"
    say "installing: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq </dev/null || say "apt-get update failed; going on with its old lists"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        "${missing[@]}" </dev/null >/dev/null || say "apt-get install failed"
    list_missing
    [ "${#missing[@]}" = 0 ] || die "these packages are missing and could not be installed: ${missing[*]}"
fi

# Another architecture's packages, with lists of our own: the machine stays one of its own architecture.
fetch_cjson() (
    tmp=$PWD/.deps/aarch64.tmp keyring=/usr/share/keyrings/debian-archive-keyring.gpg options='arch=arm64'
    rm -rf "$tmp"
    mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/download" "$tmp/root"
    : >"$tmp/status"
    if [ -f "$keyring" ]; then options+=" signed-by=$keyring"; fi
    apt-get indextargets --format '$(ORIGIN)|$(COMPONENT)|$(REPO_URI)|$(CODENAME)' "Created-By: Packages" |
        awk -F'|' -v options="$options" '$1 == "Debian" && $2 == "main" && !seen[$0]++ {
            print "deb [" options "]", $3, $4, $2 }' >"$tmp/sources.list"
    [ -s "$tmp/sources.list" ] || exit 1
    private=(-o "Dir::Etc::sourcelist=$tmp/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$tmp/lists" -o "Dir::State::status=$tmp/status" -o "Dir::Cache=$tmp/cache"
        -o APT::Sandbox::User= -o Acquire::Languages=none
        -o APT::Architecture=arm64 -o APT::Architectures=arm64)
    apt-get "${private[@]}" update -qq </dev/null || exit 1
    (cd "$tmp/download" && apt-get "${private[@]}" download -qq libcjson1 libcjson-dev) >/dev/null ||
        exit 1
    for package in "$tmp"/download/*.deb; do
        dpkg-deb -x "$package" "$tmp/root" || exit 1
    done
    rm -rf "$target"
    mv "$tmp/root" "$target"
    rm -rf "$tmp"
)

mkdir -p .deps
if ! cjson_there; then
    say "fetching arm64's libcjson"
    fetch_cjson || say "arm64's libcjson could not be had: the command will not be built"
fi
say "ready"
