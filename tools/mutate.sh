#!/bin/sh
# Two verifiers on mutated proofs: half of them with changed bytes, half made by provers that lie somewhere and go on from there
# (tests/lying/test_mutants.c). The library and tests/reference/verifier.py must say the same of each: accepted, malformed, or which check
# rejects it and where.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     sh tools/mutate.sh [N]        N mutants (2000)
#
# Each of the verifier's checks must be the rejecting one in at least N/100 of them. SEED (0x5eaf) draws others; JOBS (2) is how many
# verifiers in Python run at once: together they take about 0.4 N seconds of one core. MUTANTS is the program that makes the mutants
# (it is built where it is not given), KEEP a folder for the files, which are otherwise removed.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
number=${1:-2000}
jobs=${JOBS:-2}
case $number in '' | *[!0-9]* | 0) printf 'mutate: %s is not a number of mutants\n' "$number" >&2; exit 2 ;; esac

mutants=${MUTANTS:-$root/build/native/tests/test_mutants}
if [ -z "${MUTANTS:-}" ]; then
    printf 'mutate: building %s\n' "$mutants"
    mkdir -p "$root/build"
    if ! command -v make >/dev/null 2>&1; then CMAKE_GENERATOR=Ninja; export CMAKE_GENERATOR; fi
    (
        cd "$root"
        bash tools/setup.sh && cmake --preset native && cmake --build --preset native -j 2 --target test_mutants
    ) >"$root/build/mutate-build.log" 2>&1 || { tail -n 30 "$root/build/mutate-build.log" >&2; exit 2; }
fi

work=${KEEP:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
fi
mkdir -p "$work"
"$mutants" --write "$work" "$number" "${SEED:-0x5eaf}" || { printf 'mutate: the mutants could not be written\n' >&2; exit 2; }

tab=$(printf '\t')
cd "$work"
awk -F"$tab" '{ print $1 ": " ($2 == "rejected" ? "rejected: " $3 " " $4 : $2) }' manifest.tsv | sort >library.txt
# Rejections make the exit status non-zero; what counts is what was said.
cut -f 1 manifest.tsv | xargs -n 8 -P "$jobs" python3 "$root/tests/reference/verifier.py" >said.txt 2>errors.txt || true
sed 's/: accepted, .*/: accepted/; s/: malformed: .*/: malformed/' said.txt | sort >reference.txt
head -n 5 errors.txt >&2

alike=$(comm -12 library.txt reference.txt | wc -l)
comm -23 library.txt reference.txt | while IFS= read -r line; do
    file=${line%%:*}
    printf 'FAIL mutate: %s (%s)\n  the library:   %s\n  the reference: %s\n' "$file" \
        "$(awk -F"$tab" -v f="$file" '$1 == f { print $5 }' manifest.tsv)" "${line#*: }" \
        "$(sed -n "s/^$file: //p" reference.txt)"
done
failed=$((number - alike))
passed=$alike

least=$((number / 100 > 0 ? number / 100 : 1))
for check in header truncated trailing multiplicity bus_balance bus_layer layer input grinding merkle opening; do
    met=$(grep -c ": rejected: $check " library.txt || true)
    printf '%-14s %5d\n' "$check" "$met"
    if [ "$met" -lt "$least" ]; then
        printf 'FAIL mutate: %s rejected %d mutants, %d are wanted\n' "$check" "$met" "$least"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
done
printf '%-14s %5d\n' accepted "$(grep -c ': accepted' library.txt || true)" malformed "$(grep -c ': malformed' library.txt || true)"
printf 'mutations: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
