#!/usr/bin/env bash
# The worked example of docs/protocol.md is what the command makes and what the second verifier sees.
# SPDX-License-Identifier: MIT OR Apache-2.0
name=worked_example
. "$(dirname "$0")/../support/cli.sh"
export PYTHONDONTWRITEBYTECODE=1

python3 -c 'open("three.bin", "wb").write(b"".join(bytes([i]) * 128 for i in (1, 2, 3)))'
check "the_example_is_proven" 0 "" "$sheaf" hash prove --messages three.bin --log-inv-rate 4 -o three.sheaf -q
python3 "$root/tests/reference/verifier.py" --trace three.sheaf >trace.txt
cat >compare.py <<'P'
import sys
doc = open(sys.argv[1]).read().split("```text\n")[-1].split("\n```")[0].splitlines()
trace = [line.rstrip() for line in open("trace.txt")]
trace[-1] = trace[-1].split(": ")[-1]
at = 0
for line in doc:
    if line == "...":
        continue
    line = line.split(": ")[-1] if line.endswith("digests") else line
    if line not in trace[at:]:
        sys.exit(f"not in the trace, or not in this order: {line}")
    at = trace.index(line, at) + 1
print("all lines", len(doc) > 30)
P
check "the_document_has_its_trace" 0 "" python3 compare.py "$root/docs/protocol.md"
says "no_line_is_left_out" "all lines True"
finish
