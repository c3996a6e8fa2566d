#!/usr/bin/env bash
# The library and the reference verifier agree on 200 mutated proofs, on fewer where sanitizers make them slowly.
# SPDX-License-Identifier: MIT OR Apache-2.0
set -euo pipefail
build=$(cd "$(dirname "$1")" && pwd)
number=200
if grep -q '^SHEAF_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then number=40; fi
MUTANTS=$build/tests/test_mutants exec sh "$(dirname "${BASH_SOURCE[0]}")/../../tools/mutate.sh" "$number"
