#!/usr/bin/env bash
# What the public archives show and hold.  SPDX-License-Identifier: MIT OR Apache-2.0
#     symbols.sh NM BUILD_FOLDER FILE_LISTING_THE_PROVING_SIDES_OBJECTS
set -euo pipefail
nm=$1 build=$2 prover_list=$3
passed=0 failed=0

check() { # name, what was found (nothing is right)
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL symbols: %s:\n%s\n' "$1" "$2" | head -n 20
    fi
}

include=$(cd "$(dirname "$0")/../../include" && pwd)
declared() { # the functions that a header marks for export
    tr '\n' ' ' <"$include/$1" | sed 's/SHEAF_API/\n&/g' |
        sed -n 's/^SHEAF_API [^(;]*\<\(sheaf_[a-z0-9_]*\)(.*/\1/p' | sort -u
}

for name in sheaf sheaf_verify; do
    archive=$build/lib$name.a
    exported=$("$nm" --defined-only --extern-only --format=posix "$archive" | awk 'NF >= 2 { print $1 }')
    check "${name}_exports_something" "$([ -n "$exported" ] || echo "no symbol")"
    check "${name}_exports_only_sheaf_names" "$(grep -v '^sheaf_' <<<"$exported" || true)"
    # Every exported function is declared in a public header, and nothing else of ours is seen.
    undeclared=''
    for symbol in $exported; do
        grep -qrw -- "$symbol" "$include" || undeclared+="$symbol"$'\n'
    done
    check "${name}_exports_only_what_the_headers_declare" "$undeclared"
    wanted=$(declared sheaf_verify.h)
    if [ "$name" = sheaf ]; then wanted=$(printf '%s\n' "$wanted" "$(declared sheaf.h)" | sort -u); fi
    check "${name}_headers_declare_functions" "$([ -n "$wanted" ] || echo "none found")"
    check "${name}_exports_all_that_its_headers_declare" \
        "$(comm -23 <(printf '%s\n' "$wanted") <(sort -u <<<"$exported"))"
    check "${name}_needs_no_symbol_of_bearssl" "$("$nm" --undefined-only "$archive" | grep -w 'br_[a-z0-9_]*' || true)"
done

verify=$build/libsheaf_verify.a
held=$("$nm" --defined-only --format=posix "$verify" | awk '$2 ~ /^[TtDdBbRrVvWw]$/ { print $1 }' | sort -u)
# Static helpers of the same name may be on both sides: only functions with external linkage are compared.
mapfile -t objects < <(grep . "$prover_list" || true)
proving=''
if [ "${#objects[@]}" -gt 0 ]; then
    proving=$("$nm" --defined-only --extern-only --format=posix "${objects[@]}" |
        awk 'NF >= 2 { print $1 }' | sort -u)
fi
check "the_proving_side_has_symbols" "$([ -n "$proving" ] || echo "none found")"
check "sheaf_verify_holds_nothing_of_the_proving_side" \
    "$(comm -12 <(printf '%s\n' "$held") <(printf '%s\n' "$proving"))"
check "sheaf_verify_holds_nothing_of_bearssl" "$(grep '^br_' <<<"$held" || true)"
check "sheaf_verify_starts_no_thread_and_opens_no_file" "$("$nm" --undefined-only "$verify" |
    grep -wE 'pthread_create|thrd_create|fopen|fdopen|open|open64|openat|read|write|socket|system|fork|popen' || true)"

printf 'test_symbols: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
