#!/usr/bin/env bash
# Brings Emscripten for the WebAssembly build: .deps/emscripten becomes a link to its folder.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tools/setup-wasm.sh            uses an emcc of the PATH where it is new enough, otherwise unpacks one privately
#     tools/setup-wasm.sh --check    changes nothing; exits non-zero where there is none yet
#
# The private one is Debian trixie's package, unpacked under .deps/ and never installed, on LLVM 19 of the machine's own
# distribution (Debian 12 has it). The mirror is the one that the machine's apt is set up for. Running it again is cheap.
# Anywhere else: install Emscripten 3.1.60 or newer, so that emcc is on the PATH, and run this again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
deps=$PWD/.deps
link=$deps/emscripten
private=$deps/emscripten-private
suite=trixie
llvm=19
oldest=3.1.60

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

check_only=0
case "${1-}" in
    '') ;;
    --check) check_only=1 ;;
    *) die "unknown argument $1 (known: --check)" ;;
esac

# ---- one that is there ----

new_enough() { # a version, as 3.1.69
    local a b c x y z
    IFS=. read -r a b c <<<"${1%%[!0-9.]*}"
    IFS=. read -r x y z <<<"$oldest"
    [ $((a * 1000000 + ${b:-0} * 1000 + ${c:-0})) -ge $((x * 1000000 + y * 1000 + z)) ]
}

version_of() { # an emcc
    "$1" --version 2>/dev/null | sed -n '1s/.* \([0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*\).*/\1/p'
}

usable() { # an emcc
    local version
    version=$(version_of "$1") && [ -n "$version" ] && new_enough "$version"
}

toolchain_there() { [ -f "$link/cmake/Modules/Platform/Emscripten.cmake" ] && usable "$link/emcc"; }

link_to() { # a folder
    mkdir -p "$deps"
    rm -rf "$link"
    ln -s "$1" "$link"
}

from_path() {
    have emcc && usable emcc || return 1
    local root=''
    if have em-config; then root=$(em-config EMSCRIPTEN_ROOT 2>/dev/null || true); fi
    [ -d "$root" ] || root=$(dirname "$(readlink -f "$(command -v emcc)")")
    root=$(readlink -f "$root") # which may be our own link
    [ -f "$root/cmake/Modules/Platform/Emscripten.cmake" ] || return 1
    [ "$check_only" = 1 ] || link_to "$root"
}

if from_path || toolchain_there; then
    if [ "$check_only" = 0 ]; then say "Emscripten $(version_of "$link/emcc") is ready"; fi
    exit 0
fi
if [ "$check_only" = 1 ]; then
    say "missing: Emscripten $oldest or newer (tools/setup-wasm.sh brings it)"
    exit 1
fi

# ---- a private one ----

manual="install Emscripten $oldest or newer yourself, so that emcc is on the PATH"
have apt-get && have dpkg-deb || die "no apt-get here: $manual"

tools_missing() {
    missing=()
    [ -x "/usr/lib/llvm-$llvm/bin/clang" ] || missing+=("clang-$llvm")
    [ -x "/usr/lib/llvm-$llvm/bin/wasm-ld" ] || missing+=("lld-$llvm")
    [ -x "/usr/lib/llvm-$llvm/bin/llvm-ar" ] || missing+=("llvm-$llvm")
    have node || missing+=(nodejs)
    have python3 || missing+=(python3)
}

tools_missing
if [ "${#missing[@]}" -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" != 0 ]; then
        have sudo && sudo -n true 2>/dev/null || die "these packages are missing: ${missing[*]}; or $manual"
        as_root=(sudo -n)
    fi
    say "installing: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq </dev/null || say "apt-get update failed; trying with the lists that are there"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
        </dev/null >/dev/null || say "apt-get install failed"
    tools_missing
    [ "${#missing[@]}" = 0 ] || die "these packages could not be installed: ${missing[*]}; or $manual"
fi

# The address of the machine's own Debian mirror.
mirror=$(apt-get indextargets --format '$(ORIGIN)|$(COMPONENT)|$(REPO_URI)' "Created-By: Packages" |
    awk -F'|' '$1 == "Debian" && $2 == "main" && $3 !~ /security/ { print $3; exit }')
[ -n "$mirror" ] || die "apt knows no Debian mirror here (run apt-get update first, or $manual)"

rm -rf "$private"
mkdir -p "$private"/{lists/partial,cache/archives/partial,download}
options=''
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [ -f "$keyring" ]; then options="[signed-by=$keyring] "; fi
printf 'deb %s%s %s main\n' "$options" "$mirror" "$suite" >"$private/sources.list"
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$private/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$private/lists" -o "Dir::Cache=$private/cache" -o APT::Sandbox::User= -o Acquire::Languages=none)

say "fetching Emscripten's packages"
"${apt[@]}" update </dev/null || die "apt-get could not read $suite's index"
# libc6, libstdc++6 and libgcc-s1 are for binaryen's programs, which are linked with newer ones than Debian 12 has.
packages=(emscripten binaryen libc6 libstdc++6 libgcc-s1 node-acorn)
(cd "$private/download" && "${apt[@]}" download "${packages[@]}" </dev/null >/dev/null) || die "apt-get could not fetch ${packages[*]}"

say "unpacking"
em=$private/root/usr/share/emscripten
mkdir -p "$private/root"
for package in "${packages[@]}"; do
    file=$(echo "$private"/download/"$package"_*.deb)
    [ -f "$file" ] || die "$package was not fetched"
    # Without the libraries for link-time optimisation, position-independent code and the address sanitizer, and the tests.
    dpkg-deb --fsys-tarfile "$file" | tar -x -C "$private/root" --no-same-owner \
        --exclude='*/lto' --exclude='*/thinlto' --exclude='*/pic' --exclude='*asan*' --exclude='*lsan*' \
        --exclude='./usr/share/emscripten/tests' --exclude='./usr/share/emscripten/test' \
        --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale'
done
rm -rf "$private"/{lists,cache,download,sources.list}
[ -f "$em/emcc.py" ] || die "the package does not look like Emscripten"

# binaryen's programs start through their own loader and libraries.
triplet=$(basename "$(dirname "$(echo "$private"/root/usr/lib/*/libstdc++.so.6)")")
libraries=$private/root/usr/lib/$triplet
loader=$(echo "$libraries"/ld-linux*.so.*)
[ -x "$loader" ] || die "libc6 of $suite has no loader"
mkdir -p "$private/binaryen/bin"
for program in "$private"/root/usr/bin/wasm*; do
    name=$(basename "$program")
    if [ -L "$program" ] || [ ! -x "$program" ]; then continue; fi
    printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" "$program" >"$private/binaryen/bin/$name"
    chmod +x "$private/binaryen/bin/$name"
done
ln -sfn "$private/root/usr/lib" "$private/binaryen/lib"

mkdir -p "$em/node_modules"
acorn=$(echo "$private"/root/usr/share/nodejs/acorn)
[ -d "$acorn" ] || die "node-acorn has no acorn"
rm -rf "$em/node_modules/acorn"
ln -s "$acorn" "$em/node_modules/acorn"

# Its scripts are CommonJS, whatever the package.json of the folder around says.
printf '{}\n' >"$private/package.json"

cat >"$em/.emscripten" <<CONFIG
LLVM_ROOT = '/usr/lib/llvm-$llvm/bin'
BINARYEN_ROOT = '$private/binaryen'
NODE_JS = '$(command -v node)'
FROZEN_CACHE = True
CACHE = '$(echo "$em/cache")'
CONFIG

link_to "$em"
toolchain_there || die "the unpacked Emscripten does not start"
say "Emscripten $(version_of "$link/emcc") is ready"
