#!/usr/bin/env bash
# Envelopes that are not of the format are errors of the file, changed proofs are rejected, and nothing crashes.
# SPDX-License-Identifier: MIT OR Apache-2.0
name=cli_envelope
. "$(dirname "$0")/../support/cli.sh"

"$sheaf" hash prove --log-n 3 --seed "$(printf '%064x' 1)" -o hash.sheaf -q
for i in 0 1; do
    "$sheaf" keygen --epochs 7:1 --seed "$(printf '%064x' $((i + 1)))" -o $i.key -q
    "$sheaf" sign --key $i.key --epoch 7 --message "$(printf '%064x' 99)" -o $i.sig -q
done
"$sheaf" collect 0.sig 1.sig -o list.json -q
"$sheaf" aggregate list.json -o keys.sheaf -q
holds "there_is_a_batch_and_an_aggregate" test -s hash.sheaf -a -s keys.sheaf
verify_hash() { "$sheaf" hash verify "$1"; }
verify_keys() { "$sheaf" verify "$1"; }

# A changed envelope; the changes are lines of Python on the bytes b.
changed() { # claim, kind, exit code, change, pattern
    python3 -c "b = bytearray(open('$2.sheaf', 'rb').read()); $4; open('x.sheaf', 'wb').write(b)" || fail "$1" "the test itself"
    check "$1" "$3" "sheaf (hash )?verify: x.sheaf: $5" verify_"$2" x.sheaf
}
for kind in hash keys; do
    check "the_unchanged_${kind}_envelope_verifies" 0 "" verify_$kind $kind.sheaf
    changed "${kind}_another_magic" $kind 2 "b[3] = 0" "magic: not a Sheaf envelope"
    changed "${kind}_version_2" $kind 2 "b[8] = 2" "version: 2, this build reads version 1"
    changed "${kind}_version_0" $kind 2 "b[8] = 0" "version: 0, .*"
    changed "${kind}_version_257" $kind 2 "b[9] = 1" "version: 257, .*"
    changed "${kind}_kind_0" $kind 2 "b[10] = 0" "kind: 0 is not known"
    changed "${kind}_kind_3" $kind 2 "b[10] = 3" "kind: 3 is not known"
    changed "${kind}_kind_258" $kind 2 "b[11] = 1" "kind: 25[78] is not known"
    changed "${kind}_count_0" $kind 2 "b[12:16] = bytes(4)" "count: 0 is not in 1..[0-9]+"
    changed "${kind}_the_largest_count" $kind 2 "b[12:16] = bytes([255] * 4)" "count: 4294967295 is not in 1..[0-9]+"
    changed "${kind}_a_count_past_the_end" $kind 2 "b[12:16] = (65536).to_bytes(4, 'little')" "list: cut short, [0-9]+ of 2097152 bytes"
    changed "${kind}_reserved_bytes" $kind 2 "b[20] = 1" "reserved: the four bytes at 20 are not zero"
    changed "${kind}_reserved_bytes_high" $kind 2 "b[23] = 128" "reserved: the four bytes at 20 are not zero"
    changed "${kind}_a_byte_left_over" $kind 2 "b += bytes(1)" "end: 1 bytes are left over"
    changed "${kind}_a_byte_missing" $kind 2 "del b[-1]" "proof: cut short, [0-9]+ of [0-9]+ bytes"
    changed "${kind}_the_list_alone" $kind 2 "del b[56 + 32 * b[12]:]" "proof length: cut short"
    changed "${kind}_a_proof_length_over_2_to_24" $kind 2 "at = 56 + 32 * b[12]; b[at:at + 4] = (2**24 + 1).to_bytes(4, 'little')" \
        "proof length: 16777217 is over 16777216"
    changed "${kind}_the_largest_proof_length" $kind 2 "at = 56 + 32 * b[12]; b[at:at + 4] = bytes([255] * 4)" \
        "proof length: 4294967295 is over 16777216"
    changed "${kind}_an_empty_proof" $kind 1 "at = 56 + 32 * b[12]; b[at:] = bytes(4)" "rejected: .*check truncated.*"
    changed "${kind}_a_longer_proof" $kind 1 \
        "at = 56 + 32 * b[12]; n = len(b) - at - 3; b[at:at + 4] = n.to_bytes(4, 'little'); b += bytes(1)" "rejected: .*check trailing.*"
    changed "${kind}_a_shorter_proof" $kind 1 \
        "at = 56 + 32 * b[12]; n = len(b) - at - 5; b[at:at + 4] = n.to_bytes(4, 'little'); del b[-1]" "rejected: .*"
done
changed "hash_a_count_over_2_to_20" hash 2 "b[12:16] = (2**20 + 1).to_bytes(4, 'little')" "count: 1048577 is not in 1..1048576"
changed "keys_a_count_over_2_to_16" keys 2 "b[12:16] = (2**16 + 1).to_bytes(4, 'little')" "count: 65537 is not in 1..65536"
changed "hash_an_epoch" hash 2 "b[16] = 1" "epoch: not zero in a hash batch"
changed "hash_a_message" hash 2 "b[55] = 1" "message: not zero in a hash batch"
changed "keys_a_key_twice" keys 2 "b[88:120] = b[56:88]" "public keys 0 and 1 are the same"
changed "keys_called_a_hash_batch" keys 2 "b[10] = 2; b[16] = 0; b[24:56] = bytes(32)" "kind: a hash batch, not an aggregate of signatures"
changed "hash_called_an_aggregate" hash 2 "b[10] = 1" "kind: an aggregate of signatures, not a hash batch"
changed "keys_for_hash_verify" keys 2 "b[10] = 2" "message: not zero in a hash batch|epoch: .*"
changed "hash_a_changed_digest" hash 1 "b[60] ^= 4" "rejected: .*"
changed "hash_two_digests_exchanged" hash 1 "b[56:88], b[88:120] = b[88:120], b[56:88]" "rejected: .*"
check "verify_refuses_a_hash_batch" 2 "sheaf verify: hash.sheaf: kind: a hash batch, not an aggregate of signatures" \
    "$sheaf" verify hash.sheaf
check "hash_verify_refuses_an_aggregate" 2 "sheaf hash verify: keys.sheaf: kind: an aggregate of signatures, not a hash batch" \
    "$sheaf" hash verify keys.sheaf

# Truncated at every length from nothing to past the list: every one is an error of the file.
bad=''
for ((n = 0; n <= 56 + 64 + 4; n++)); do
    head -c $n keys.sheaf >cut.sheaf
    "$sheaf" verify cut.sheaf >.out 2>.err && got=0 || got=$?
    [ "$got" = 2 ] && [ "$(wc -l <.err)" = 1 ] || bad="$bad $n($got)"
done
holds "truncated_at_every_length_up_to_the_proof" test -z "$bad"

# A byte of the proof changed, at places all over it: rejected with the exit code 1 and one line.
bad=''
size=$(stat -c %s hash.sheaf)
at=$((60 + 32 * 8))
step=$(((size - at) / 97 + 1))
for ((p = at; p < size; p += step)); do
    python3 - $p <<'END'
import sys
b = bytearray(open("hash.sheaf", "rb").read())
b[int(sys.argv[1])] ^= 1 << int(sys.argv[1]) % 8
open("flip.sheaf", "wb").write(b)
END
    "$sheaf" hash verify flip.sheaf >.out 2>.err && got=0 || got=$?
    [ "$got" = 1 ] && [ "$(wc -l <.err)" = 1 ] || bad="$bad $p($got)"
done
holds "a_changed_byte_of_the_proof_is_rejected" test -z "$bad"
finish
