#!/usr/bin/env bash
# Builds everything and runs every test.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tools/test.sh                        the whole of it: native portable asan wasm js browser aarch64
#     tools/test.sh GROUP...               some of it
#     tools/test.sh --list [GROUP...]      what would run, of what is built: label, back-end cap, suite, command
#
#     native      the optimised build, and the command line
#     portable    the same without vector instructions
#     asan        the same with sanitizers
#     clang       as native, by clang (not in the whole of it)
#     wasm        the WebAssembly modules and unit tests, in Node.js
#     js          the JavaScript package and the Node command
#     browser     the page, in headless Chromium
#     aarch64     the arm64 build's kernels, golden proofs and command, under qemu
#
# What is missing on the machine is installed first (tools/setup*.sh, tools/test-browser.sh). Prints a line a suite, and every
# failing or skipped test by name. The last line is `N passed, N failed`, summed over the single tests; the exit status is non-zero
# where anything failed or did not run to its end. Logs stay in build/logs. JOBS (2) is how many suites run at once and how many
# files are compiled at once; SUITE_SECONDS (1500) the longest that one suite may take.
#
# Not here, as they take long or need more: tools/test-packages.sh (the packed package with bundlers and other versions of
# Node.js), tools/mutate.sh, tools/check-checks.sh.
[ -n "${BASH_VERSION-}" ] || exec bash "$0" "$@" # sh tools/test.sh does as well
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${JOBS:-2}
seconds=${SUITE_SECONDS:-1500}
logs=build/logs

groups=() list_only=0
for argument in "$@"; do
    case "$argument" in
        --list) list_only=1 ;;
        native | portable | asan | clang | wasm | js | browser | aarch64) groups+=("$argument") ;;
        *) printf 'test: unknown argument %s\n' "$argument" >&2; exit 2 ;;
    esac
done
if [ "${#groups[@]}" = 0 ]; then groups=(native portable asan wasm js browser aarch64); fi
wanted() { [[ " ${groups[*]} " == *" $1 "* ]]; }

say() { printf '== %s\n' "$*"; }

# ---- building: a group whose preparation fails counts as one failure, and the others run ----

declare -A broken=()
prepare() { # group, what is done, command...
    local group=$1 what=$2 log=$logs/prepare-${2// /-}.log
    shift 2
    [ -z "${broken[$group]-}" ] || return 0
    say "$what"
    if "$@" >"$log" 2>&1 </dev/null; then return; fi
    grep -E 'error|Error' "$log" | head -n 20 || true
    tail -n 30 "$log"
    printf 'FAIL %s: %s failed (%s)\n' "$group" "$what" "$log"
    broken[$group]=1
}

build() { # preset, targets...
    local preset=$1 target
    local -a targets=()
    shift
    for target in "$@"; do targets+=(--target "$target"); done
    cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs" "${targets[@]}"
}

npm_packages() {
    # npm's own note of what it installed is younger than the list where nothing has changed.
    [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent --no-audit --no-fund
}

if [ "$list_only" = 0 ]; then
    rm -rf "$logs"
    mkdir -p "$logs"
    flags=()
    if wanted wasm || wanted js || wanted browser; then flags=(--wasm --js); fi
    bash tools/setup.sh "${flags[@]}"
    if ! command -v make >/dev/null 2>&1; then export CMAKE_GENERATOR=Ninja; fi
    for preset in native portable asan clang; do
        if wanted "$preset"; then prepare "$preset" "building $preset" build "$preset"; fi
    done
    if wanted wasm; then prepare wasm "building wasm" build wasm; fi
    # JavaScript is compared with the native command, and runs the modules; where they were not asked for, no more than those.
    for group in js browser; do
        if ! wanted "$group"; then continue; fi
        if ! wanted native; then prepare "$group" "building the command for $group" build native sheaf; fi
        if ! wanted wasm; then
            prepare "$group" "building the modules for $group" build wasm module_sheaf-verify module_sheaf module_sheaf-threads
        fi
        prepare "$group" "placing the modules for $group" node tools/wasm-files.mjs
        prepare "$group" "installing packages for $group" npm_packages
    done
    if wanted aarch64; then
        prepare aarch64 "setting up for arm64" bash tools/setup-aarch64.sh
        prepare aarch64 "building aarch64" build aarch64
    fi
    if wanted browser; then prepare browser "setting up the browser" env NO_BUILD=1 bash tools/test-browser.sh --setup; fi
fi

# ---- what there is to run ----

plan=() alone=()
add() { plan+=("$1"$'\t'"$2"$'\t'"$3"$'\t'"$4"); } # label, back-end cap (- for none), name, command

# Under a cap that this machine would choose anyway a suite would only repeat itself.
machine_has() { grep -qw "$1" /proc/cpuinfo 2>/dev/null; }

suites_of() { # group, build folder
    if [ -f "$2/tests/suites.txt" ]; then
        grep . "$2/tests/suites.txt"
    else
        printf 'test: %s is not built\n' "$1" >&2
        exit 2
    fi
}

# First, as its golden proofs take minutes under qemu, which other suites fill.
if wanted aarch64 && [ -z "${broken[aarch64]-}" ]; then
    for suite in $(bash tests/aarch64/run.sh --list); do
        add aarch64 - "$suite" "bash tests/aarch64/run.sh build/aarch64 $suite"
    done
fi

for preset in native portable asan clang; do
    if ! wanted "$preset" || [ -n "${broken[$preset]-}" ]; then continue; fi
    build=build/$preset
    suites=$(suites_of "$preset" "$build")
    # The portable build runs everything on the portable back end; golden proofs and kernels compare all that there are.
    caps=(-)
    if [ "$preset" = native ] && machine_has avx512f; then caps=(avx2 -); fi
    while read -r suite; do
        for cap in "${caps[@]}"; do
            # What has its own back ends, or none, runs once.
            case "$suite" in test_kernels | test_kernels_simde | test_base) [ "$cap" = - ] || continue ;; esac
            # Whole proofs by dozens: the verdict on a lie is the verifier's, whose code is the same; these run where proving is quick.
            case "$preset/$suite" in
                portable/test_leaf_lies | portable/test_more_lies | portable/test_mutants | portable/test_forgeries) continue ;;
            esac
            label=$preset
            [ "$cap" = - ] || label=$preset/$cap
            add "$label" "$cap" "$suite" "$build/tests/$suite"
        done
    done <<<"$suites"
    if [ -f "$build/tests/prover_objects.txt" ]; then # not with sanitizers, nor where the archives are plain
        add "$preset" - symbols "tests/link/symbols.sh nm $build $build/tests/prover_objects.txt"
    fi
    if [ "$preset" = native ]; then
        add "$preset" - install "tests/link/install.sh $build"
    fi
    if [ -x "$build/sheaf" ] && [ "$preset" != portable ]; then
        for script in tests/cli/*.sh; do
            add "$preset" - "cli_$(basename "$script" .sh)" "bash $script $build/sheaf"
        done
    fi
done

if wanted wasm && [ -z "${broken[wasm]-}" ]; then
    suites=$(suites_of wasm build/wasm)
    while read -r suite; do
        add wasm - "$suite" "bash tests/wasm/run.sh build/wasm $suite"
    done <<<"$suites"
fi

if wanted js && [ -z "${broken[js]-}" ]; then
    for file in tests/js/*.test.mjs; do
        suite=$(basename "$file" .test.mjs)
        add js - "$suite" "env SHEAF=build/native/sheaf node tests/js/run.mjs $suite"
    done
    # The same command in Node.js. Left out: what is not there (the bench of kernels), and what would prove for minutes.
    for suite in hash keys json names streams aggregate worked_example; do
        add js - "cli_$suite" "env SHEAF_NATIVE=none bash tests/cli/$suite.sh node/cli.js"
    done
fi

# A page's tests wait for what a person would see, which takes its time beside other work: they run when all else is done.
if wanted browser && [ -z "${broken[browser]-}" ]; then
    alone+=("${#plan[@]}")
    add browser - browser "env NO_BUILD=1 SHEAF=build/native/sheaf bash tools/test-browser.sh"
fi

if [ "$list_only" = 1 ]; then
    printf '%s\n' "${plan[@]}"
    exit 0
fi

# ---- running ----

run_one() { # number, label, cap, name, command
    local log=$logs/$1.log status=0 begin=$SECONDS line
    local -a words
    read -r -a words <<<"$5"
    (
        if [ "$3" = - ]; then unset SHEAF_ISA; else export SHEAF_ISA=$3; fi
        exec timeout "$seconds" "${words[@]}"
    ) >"$log" 2>&1 </dev/null || status=$?
    line=$(grep -E '^[A-Za-z0-9_.-]+: [0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 || true)
    local passed=0 failed=0 skipped=0
    if [[ $line =~ :\ ([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
        passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[4]:-0}
    fi
    {
        # A suite that ended badly without counting a failure is one: a crash, a finding, a time-out.
        if [ "$status" != 0 ] && [ "$failed" = 0 ] || [ -z "$line" ]; then
            failed=$((failed + 1))
            printf 'FAIL %s %s: ended with status %d; the end of what it said:\n' "$2" "$4" "$status"
            tail -n 25 "$log"
        elif [ "$failed" != 0 ]; then
            cat "$log"
        else
            grep '^SKIP' "$log" || true
        fi
        printf '%-16s %s: %d passed, %d failed, %d skipped (%d s)\n' "$2" "$4" "$passed" "$failed" \
            "$skipped" $((SECONDS - begin))
    } >"$logs/$1.said"
    printf '%d %d %d\n' "$passed" "$failed" "$skipped" >"$logs/$1.count"
    cat "$logs/$1.said"
}

say "running ${#plan[@]} suites"
running=0
for ((i = 0; i < ${#plan[@]}; i++)); do
    IFS=$'\t' read -r label cap name command <<<"${plan[$i]}"
    if [[ " ${alone[*]} " == *" $i "* ]]; then
        wait
        running=0
        run_one "$(printf '%03d' "$i")" "$label" "$cap" "$name" "$command"
        continue
    fi
    run_one "$(printf '%03d' "$i")" "$label" "$cap" "$name" "$command" &
    running=$((running + 1))
    if [ "$running" -ge "$jobs" ]; then
        wait -n || true
        running=$((running - 1))
    fi
done
wait

passed=0 failed=0 skipped=0
for group in "${!broken[@]}"; do
    printf 'FAIL %s was not run\n' "$group"
    failed=$((failed + 1))
done
for ((i = 0; i < ${#plan[@]}; i++)); do
    count=$logs/$(printf '%03d' "$i").count
    if [ -f "$count" ]; then
        read -r p f s <"$count"
    else
        p=0 f=1 s=0
        printf 'FAIL suite number %d left no count\n' "$i"
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
say "$skipped skipped, ${SECONDS} s in all"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
