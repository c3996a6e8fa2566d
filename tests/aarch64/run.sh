#!/usr/bin/env bash
# Runs tests of an arm64 build under qemu, or on an arm64 machine.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tests/aarch64/run.sh [BUILD [SUITE...]]     default: build/aarch64, and all of them
#     tests/aarch64/run.sh --list                 the suites' names
#
# A suite's last line is `<name>: N passed, N failed, N skipped`, as everywhere. There are three processors:
# one with PMULL and the SHA3 extension (neon), one with PMULL only (pmull), one with neither (plain), which
# is the first behind the preloaded older.c, as qemu knows none. On an arm64 machine `neon` is that one, and
# the others are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
all=(kernels_neon kernels_pmull kernels_plain keccak_neon golden_neon golden_plain leaf_neon choice command)
if [ "${1-}" = --list ]; then
    printf '%s\n' "${all[@]}"
    exit 0
fi
build=$(realpath "${1:-build/aarch64}")
shift || true
suites=("$@")
if [ "${#suites[@]}" = 0 ]; then suites=("${all[@]}"); fi
if [ ! -x "$build/tests/test_kernels" ]; then
    printf 'run.sh: %s is not built: cmake --preset aarch64 && cmake --build --preset aarch64\n' "$build" >&2
    exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SHEAF_ISA

case "$(uname -m)" in
    aarch64 | arm64)
        native=1
        on() { shift; "$@"; }
        ;;
    *)
        native=0
        qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
        if [ -z "$qemu" ]; then
            printf 'run.sh: no qemu-aarch64 (tools/setup-aarch64.sh brings it)\n' >&2
            exit 2
        fi
        aarch64-linux-gnu-gcc -std=c17 -O2 -Wall -Wextra -Werror -shared -fPIC -o "$work/older.so" \
            tests/aarch64/older.c
        on() { # processor, command...
            local processor=$1 options=()
            shift
            case "$processor" in
                pmull) options=(-cpu cortex-a53) ;;
                plain) options=(-E "LD_PRELOAD=$work/older.so") ;;
            esac
            "$qemu" -L /usr/aarch64-linux-gnu "${options[@]}" "$@"
        }
        ;;
esac

status=0
passed=0 failed=0 skipped=0
finish() { # name
    printf '%s: %d passed, %d failed, %d skipped\n' "$1" "$passed" "$failed" "$skipped"
    [ "$failed" = 0 ] || status=1
}

# One of the unit tests; what it says besides its last line is shown where it matters.
unit() { # suite, processor, program, filter...
    local suite=$1 processor=$2 program=$build/tests/$3 code=0 line
    shift 3
    passed=0 failed=0 skipped=0
    if [ "$native" = 1 ] && [ "$processor" != neon ]; then
        printf 'SKIP %s: this machine is another processor\n' "$suite"
        skipped=1
        finish "$suite"
        return
    fi
    on "$processor" "$program" "$@" >"$work/log" 2>&1 </dev/null || code=$?
    line=$(tail -n 1 "$work/log")
    if [[ $line =~ ^[a-z0-9_]+:\ ([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[3]}
    fi
    if [ "$passed" = 0 ] || { [ "$code" != 0 ] && [ "$failed" = 0 ]; }; then
        failed=$((failed + 1))
        printf 'FAIL %s: ended with status %d; the end of what it said:\n' "$suite" "$code"
        tail -n 25 "$work/log"
    elif [ "$failed" != 0 ]; then
        cat "$work/log"
    else
        grep '^SKIP' "$work/log" | sed "s/^SKIP [a-z_]*:/SKIP $suite:/" || true
    fi
    finish "$suite"
}

is() { # claim, wanted, found
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s: %s is not %s\n' "$1" "$3" "$2"
    fi
}

# Which back end is chosen, by the tests' own words.
choice() {
    local value code
    passed=0 failed=0 skipped=0
    for value in portable neon avx2 avx512 nonsense ''; do
        code=0
        SHEAF_ISA=$value on neon "$build/tests/test_kernels" choice_respects >/dev/null 2>&1 || code=$?
        is "the_cap_${value:-of_nothing}_is_respected" 0 "$code"
    done
    finish choice
}

described() { on "$1" "$build/sheaf" --version | sed 's/^[^(]*(\(.*\))$/\1/'; }

command_says() {
    local code=0 isa seed
    passed=0 failed=0 skipped=0
    if [ ! -x "$build/sheaf" ]; then
        printf 'SKIP command: it is not built, for want of libcjson\n'
        skipped=1
        finish command
        return
    fi
    if [ "$native" = 0 ]; then
        is all_extensions_are_found "neon (pmull, sha3)" "$(described neon)"
        is pmull_alone_is_found "neon (pmull)" "$(described pmull)"
        is their_lack_is_found "neon" "$(described plain)"
    fi
    is portable_is_respected "portable" "$(SHEAF_ISA=portable described neon)"
    is another_processors_back_end_is_a_cap_below "portable" "$(SHEAF_ISA=avx2 described neon)"
    SHEAF_ISA=nonsense on neon "$build/sheaf" hash verify x.sheaf >/dev/null 2>&1 || code=$?
    is an_unknown_back_end_is_refused 2 "$code"
    seed=$(printf '%064d' 7)
    for isa in neon portable; do
        SHEAF_ISA=$isa on neon "$build/sheaf" hash prove --log-n 2 --seed "$seed" -q \
            -o "$work/$isa.sheaf" || true
    done
    code=0
    cmp -s "$work/neon.sheaf" "$work/portable.sheaf" || code=$?
    is the_proof_is_that_of_the_portable_back_end 0 "$code"
    code=0
    on neon "$build/sheaf" hash verify -q "$work/neon.sheaf" >/dev/null 2>&1 || code=$?
    is the_proof_is_accepted 0 "$code"
    finish command
}

for suite in "${suites[@]}"; do
    case "$suite" in
        kernels_neon) SHEAF_ISA=neon unit "$suite" neon test_kernels ;;
        kernels_*) SHEAF_ISA=neon unit "$suite" "${suite#*_}" test_kernels neon_ ;;
        keccak_*) SHEAF_ISA=neon unit "$suite" "${suite#*_}" test_keccak ;;
        golden_neon) SHEAF_ISA=neon SHEAF_GOLDEN_CHOSEN=1 unit "$suite" neon test_golden ;;
        golden_plain) SHEAF_ISA=neon SHEAF_GOLDEN_CHOSEN=1 unit "$suite" plain test_golden hash ;;
        leaf_neon) SHEAF_ISA=neon unit "$suite" neon test_leaf ;;
        choice) choice ;;
        command) command_says ;;
        *)
            printf 'run.sh: unknown suite %s\n' "$suite" >&2
            exit 2
            ;;
    esac
done
exit "$status"
