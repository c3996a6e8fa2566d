#!/usr/bin/env bash
# The command and the second verifier (tests/reference/verifier.py, written from docs/protocol.md) give the same verdicts, on
# honest proofs and on changed ones.  SPDX-License-Identifier: MIT OR Apache-2.0
name=reference_verifier
. "$(dirname "$0")/../support/cli.sh"
export PYTHONDONTWRITEBYTECODE=1

# ---- proofs of small shapes, with rates that make one level and more ----
python3 -c 'import hashlib
for n in (1, 5, 64):
    open(f"m{n}.bin", "wb").write(b"".join(hashlib.shake_256(bytes([n, i])).digest(128) for i in range(n)))'
prove_hashes() { # how many, rate
    "$sheaf" hash prove --messages m"$1".bin --log-inv-rate "$2" -o hash"$1".sheaf -q
}
check "a_batch_of_1_is_proven" 0 "" prove_hashes 1 4
check "a_batch_of_5_is_proven" 0 "" prove_hashes 5 2
check "a_batch_of_64_is_proven" 0 "" prove_hashes 64 1
for i in 0 1 2 3 4 5 6 7 8; do
    "$sheaf" keygen --epochs 1001:1 --seed "$(printf '%064x' $((i + 1)))" -o $i.key -q
    "$sheaf" sign --key $i.key --epoch 1001 --message "$(printf '%064x' 99)" -o $i.sig -q
done
aggregate() { # rate, the envelope, signatures
    local rate=$1 envelope=$2
    shift 2
    "$sheaf" collect "$@" -o list.json -q && "$sheaf" aggregate list.json --log-inv-rate "$rate" -o "$envelope" -q
}
check "an_aggregate_of_1_is_proven" 0 "" aggregate 1 keys1.sheaf 0.sig
check "an_aggregate_of_3_is_proven" 0 "" aggregate 4 keys3.sheaf [0-2].sig
check "an_aggregate_of_9_is_proven" 0 "" aggregate 3 keys9.sheaf [0-8].sig

# ---- each line: a file, the verdict that it should get ----
printf '%s.sheaf accepted\n' hash1 hash5 hash64 keys1 keys3 keys9 >verdicts.txt
python3 "$here/reference/changes.py" hash5.sheaf keys3.sheaf >>verdicts.txt || fail "proofs_are_changed" "changes.py failed"
holds "there_are_proofs_to_judge" test "$(wc -l <verdicts.txt)" = 41

# ---- the verdicts, C against Python ----
cut -d' ' -f1 verdicts.txt | xargs python3 "$here/reference/verifier.py" --json >python.json 2>python.err
python3 -c 'import json, sys
for line in sys.stdin:
    j = json.loads(line)
    print(j["file"], j["status"], *(j[k] for k in ("check", "index") if k in j))' <python.json >python.txt

c_verdict() { # file
    local verb=verify code=0 text
    case $1 in hash*) verb="hash verify" ;; esac
    # shellcheck disable=SC2086 # two words
    text=$("$sheaf" $verb "$1" 2>&1 >/dev/null </dev/null) || code=$?
    if [ $code = 0 ]; then
        echo accepted
    elif [ $code = 1 ] && [[ $text =~ \(check\ ([a-z_]+),\ index\ ([0-9]+)\)$ ]]; then
        echo "rejected ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
    elif [ $code = 2 ]; then
        echo malformed
    else
        echo "exit code $code: $text"
    fi
}
while read -r file verdict; do
    c=$(c_verdict "$file")
    python=$(sed -n "s/^$file //p" python.txt)
    if [ "$c" = "$verdict" ] && [ "$python" = "$verdict" ]; then
        pass
    else
        fail "$file" "the command says: $c; the second verifier: $python; it should be: $verdict; $(tail -n 3 python.err)"
    fi
done <verdicts.txt
finish
