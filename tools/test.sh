#!/usr/bin/env bash
# Builds everything and runs every test.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tools/test.sh                        the whole of it: native, portable and asan builds
#     tools/test.sh native                 one build's tests, or several: native portable asan clang
#     tools/test.sh --list                 what would run
#
# Prints a line a suite, and every failing or skipped test by name. The last line is `N passed, N failed`, summed
# over the single tests; the exit status is non-zero where anything failed or did not run to its end. Logs stay
# in build/logs. JOBS (2) is how many suites run at once and how many files are compiled at once; SUITE_SECONDS
# (1500) the longest that one suite may take.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source=$PWD
jobs=${JOBS:-2}
seconds=${SUITE_SECONDS:-1500}
logs=$source/build/logs

presets=() list_only=0
for argument in "$@"; do
    case "$argument" in
        --list) list_only=1 ;;
        native | portable | asan | clang) presets+=("$argument") ;;
        *) printf 'test: unknown argument %s\n' "$argument" >&2; exit 2 ;;
    esac
done
if [ "${#presets[@]}" = 0 ]; then presets=(native portable asan); fi

say() { printf '== %s\n' "$*"; }

# ---- building ----

if [ "$list_only" = 0 ]; then
    bash tools/setup.sh
    rm -rf "$logs"
    mkdir -p "$logs"
    if ! command -v make >/dev/null 2>&1; then export CMAKE_GENERATOR=Ninja; fi
    for preset in "${presets[@]}"; do
        say "building $preset"
        log=$logs/build-$preset.log
        if ! { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs"; } >"$log" 2>&1; then
            grep -E 'error|Error' "$log" | head -n 20
            tail -n 30 "$log"
            printf 'FAIL the %s build\n0 passed, 1 failed\n' "$preset"
            exit 1
        fi
    done
fi

# ---- what there is to run: lines of label, back-end cap (- for none), command ----

plan=()
add() { plan+=("$1"$'\t'"$2"$'\t'"$3"); } # label, cap, command

# Under a cap that this machine would choose anyway a suite would only repeat itself.
machine_has() { grep -qw "$1" /proc/cpuinfo 2>/dev/null; }

for preset in "${presets[@]}"; do
    build=$source/build/$preset
    if [ ! -f "$build/tests/suites.txt" ]; then
        printf 'test: %s is not built\n' "$preset" >&2
        exit 2
    fi
    # The portable build runs everything on the portable back end; golden proofs and kernels compare all that there are.
    caps=(-)
    if [ "$preset" = native ] && machine_has avx512f; then caps=(avx2 -); fi
    while read -r suite; do
        [ -n "$suite" ] || continue
        for cap in "${caps[@]}"; do
            # What has its own back ends, or none, runs once.
            case "$suite" in test_kernels | test_kernels_simde | test_base) [ "$cap" = - ] || continue ;; esac
            # Whole proofs by dozens: the verdict on a lie is the verifier's, whose code is the same; these run where proving is quick.
            case "$preset/$suite" in
                portable/test_leaf_lies | portable/test_more_lies | portable/test_mutants | portable/test_forgeries) continue ;;
            esac
            label=$preset
            [ "$cap" = - ] || label=$preset/$cap
            add "$label" "$cap" "$build/tests/$suite"
        done
    done <"$build/tests/suites.txt"
    if [ "$preset" != asan ]; then
        add "$preset" - "$source/tests/link/symbols.sh nm $build $build/tests/prover_objects.txt"
    fi
    if [ "$preset" = native ]; then
        add "$preset" - "$source/tests/link/install.sh $build"
    fi
    if [ -x "$build/sheaf" ] && [ "$preset" != portable ]; then
        for script in "$source"/tests/cli/*.sh; do
            [ -f "$script" ] && add "$preset" - "bash $script $build/sheaf"
        done
    fi
done

if [ "$list_only" = 1 ]; then
    printf '%s\n' "${plan[@]}" | sed "s|$source/||g"
    exit 0
fi

# ---- running ----

run_one() { # number, label, cap, command
    local log=$logs/$1.log status=0 begin=$SECONDS name line
    local -a words
    read -r -a words <<<"$4"
    name=$(basename "${words[0]}")
    if [ "$name" = bash ]; then name=$(basename "${words[1]}" .sh); fi
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
            printf 'FAIL %s %s: ended with status %d; the end of what it said:\n' "$2" "$name" "$status"
            tail -n 25 "$log"
        elif [ "$failed" != 0 ]; then
            cat "$log"
        else
            grep '^SKIP' "$log" || true
        fi
        printf '%-16s %s: %d passed, %d failed, %d skipped (%d s)\n' "$2" "$name" "$passed" "$failed" \
            "$skipped" $((SECONDS - begin))
    } >"$logs/$1.said"
    printf '%d %d %d\n' "$passed" "$failed" "$skipped" >"$logs/$1.count"
    cat "$logs/$1.said"
}

say "running ${#plan[@]} suites"
number=0 running=0
for item in "${plan[@]}"; do
    IFS=$'\t' read -r label cap command <<<"$item"
    number=$((number + 1))
    run_one "$(printf '%03d' "$number")" "$label" "$cap" "$command" &
    running=$((running + 1))
    if [ "$running" -ge "$jobs" ]; then
        wait -n || true
        running=$((running - 1))
    fi
done
wait

passed=0 failed=0 skipped=0
for ((i = 1; i <= number; i++)); do
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
