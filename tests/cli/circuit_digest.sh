#!/usr/bin/env bash
# The circuits' digests that tests/unit/test_circuit.c has are those that the specification gives, derived in another language.
# Needs no command; the argument that all these scripts get is not used.  SPDX-License-Identifier: MIT OR Apache-2.0
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2

passed=0 failed=0
lines=$(python3 tests/reference/circuit_digest.py) || lines='the reference script failed'
while IFS= read -r line; do
    if grep -qF "\"$line\"" tests/unit/test_circuit.c; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL circuit_digest: tests/unit/test_circuit.c does not have: %s\n' "$line"
    fi
done <<<"$lines"
if [ $((passed + failed)) != 2 ]; then
    failed=$((failed + 1))
    printf 'FAIL circuit_digest: %d circuits, not 2\n' $((passed + failed - 1))
fi
printf 'circuit_digest: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
