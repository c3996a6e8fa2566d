# What the tests of the command share.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     name=keys; . "$(dirname "$0")/../support/cli.sh"
#     check "a claim" CODE PATTERN command...     runs it; $out and $err hold what it wrote, PATTERN is of the error line, a
#                                                 regular expression for the whole of it ("" wants no error at all)
#     finish
#
# Run as: bash script.sh COMMAND. The script then works in a folder of its own.
set -uo pipefail
sheaf=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root=$(cd "$here/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
passed=0 failed=0 out='' err=''

pass() { passed=$((passed + 1)); }
fail() { # claim, what was seen
    failed=$((failed + 1))
    printf 'FAIL %s: %s\n%s\n' "$name" "$1" "$2" | head -n 12
}

check() {
    local claim=$1 code=$2 pattern=$3 got=0
    shift 3
    "$@" >"$work/.out" 2>"$work/.err" </dev/null || got=$?
    out=$(tr -d '\0' <"$work/.out")
    err=$(cat "$work/.err")
    if [ "$got" != "$code" ]; then
        fail "$claim" "exit code $got, not $code: $err"
    elif [ -z "$pattern" ] && [ -n "$err" ]; then
        fail "$claim" "an error line where there should be none: $err"
    elif [ -n "$pattern" ] && ! [[ $err =~ ^$pattern$ ]]; then
        fail "$claim" "the error line is: $err
the pattern is: $pattern"
    else
        pass
    fi
}

# The last command's standard output has this in it.
says() { # claim, text
    case "$out" in *"$2"*) pass ;; *) fail "$1" "it says: $out" ;; esac
}

# A test of the shell's own.
holds() { # claim, command...
    local claim=$1
    shift
    if "$@" >"$work/.log" 2>&1; then pass; else fail "$claim" "$* failed: $(cat "$work/.log")"; fi
}

# An expression over the JSON object in a file, in Python; j is the object.
json_holds() { # claim, file, expression
    if python3 -c 'import json,sys; j=json.load(open(sys.argv[1])); sys.exit(0 if eval(sys.argv[2]) else 1)' "$2" "$3" \
        >"$work/.log" 2>&1; then
        pass
    else
        fail "$1" "$3 is not so in: $(head -c 600 "$2") $(cat "$work/.log")"
    fi
}

finish() {
    printf '%s: %d passed, %d failed\n' "$name" "$passed" "$failed"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
