#!/usr/bin/env bash
# Aggregating and verifying: honest ones are accepted, other statements are not.  SPDX-License-Identifier: MIT OR Apache-2.0
name=cli_aggregate
. "$(dirname "$0")/../support/cli.sh"

printf 'block 7' >block.bin
printf 'block 8' >other.bin
for i in 0 1 2 3; do
    "$sheaf" keygen --epochs 0:16 --seed "$(printf '%064x' $((i + 1)))" -o $i.key -q
    "$sheaf" sign --key $i.key --epoch 7 --message-file block.bin -o $i.sig -q
done
"$sheaf" collect 0.sig 1.sig 2.sig -o list.json -q
"$sheaf" collect 0.sig 1.sig 2.sig -o list.sigs --binary -q
"$sheaf" pubkey 0.key 1.key 2.key -o keys.json
message=$(python3 -c "import hashlib; print(hashlib.shake_256(b'block 7').hexdigest(32))")

# ---- aggregate ----
check "three_signatures_aggregate" 0 "" "$sheaf" aggregate list.json -o a.sheaf --threads 1
says "aggregate_says_what_it_made" "a.sheaf: 3 signers, epoch 7, proof "
check "the_binary_list_aggregates" 0 "" "$sheaf" aggregate list.sigs -o b.sheaf --threads 2 --json
json_holds "aggregate_reports_in_json" .out \
    "j['signers'] == 3 and j['epoch'] == 7 and j['message'] == '0x$message' and j['envelope_bytes'] == j['proof_bytes'] + 60 + 96"
holds "binary_or_json_one_thread_or_two_the_proof_is_the_same" cmp a.sheaf b.sheaf
check "one_signature_aggregates" 0 "" "$sheaf" aggregate 0.sig -o one.sheaf -q
check "one_signer_verifies" 0 "" "$sheaf" verify one.sheaf
says "verify_says_one_signer" "one.sheaf: accepted: 1 signer, epoch 7"
check "another_rate_makes_another_proof" 0 "" "$sheaf" aggregate list.json --log-inv-rate 1 -o rate1.sheaf
check "which_verifies_as_well" 0 "" "$sheaf" verify rate1.sheaf --quiet
holds "the_proofs_differ" test "$(stat -c %s rate1.sheaf)" != "$(stat -c %s a.sheaf)"
check "a_rate_of_7_is_refused" 2 "sheaf aggregate: --log-inv-rate: 7 is not a number in 1..6" \
    "$sheaf" aggregate list.json --log-inv-rate 7 -o x.sheaf

python3 - <<'END'
import json
def broken(name, *which):
    j = json.load(open("list.json"))
    for i in which:
        s = j["signatures"][i]["signature"]
        j["signatures"][i]["signature"] = s[:-1] + ("1" if s[-1] == "0" else "0")
    json.dump(j, open(name, "w"))
broken("bad1.json", 1)
broken("bad02.json", 0, 2)
j = json.load(open("list.json"))
j["signatures"].append(j["signatures"][1])
json.dump(j, open("twice.json", "w"))
j["signatures"] = j["signatures"][:3]
a, b = j["signatures"][0], j["signatures"][2]
a["publicKey"], b["publicKey"] = b["publicKey"], a["publicKey"]
json.dump(j, open("swapped.json", "w"))
END
check "a_bad_signature_is_named_by_index" 1 "sheaf aggregate: bad1.json: signature 1 does not verify" \
    "$sheaf" aggregate bad1.json -o x.sheaf
check "every_bad_signature_is_named" 1 "sheaf aggregate: bad02.json: signatures 0, 2 do not verify" \
    "$sheaf" aggregate bad02.json -o x.sheaf
check "swapped_keys_are_named" 1 "sheaf aggregate: swapped.json: signatures 0, 2 do not verify" \
    "$sheaf" aggregate swapped.json -o x.sheaf
check "a_key_twice_is_refused_by_both_indices" 2 "sheaf aggregate: twice.json: public keys 1 and 3 are the same" \
    "$sheaf" aggregate twice.json -o x.sheaf
holds "nothing_is_left_of_refused_aggregates" test ! -e x.sheaf
check "aggregate_needs_an_output" 2 "sheaf aggregate: --output: is needed: the aggregate's file" "$sheaf" aggregate list.json
check "aggregate_takes_one_list" 2 "sheaf aggregate: one list of signatures is needed, 2 are given" \
    "$sheaf" aggregate list.json list.json -o x.sheaf
check "aggregate_names_a_missing_file" 2 "sheaf aggregate: cannot open none.json: No such file or directory" \
    "$sheaf" aggregate none.json -o x.sheaf
check "aggregate_says_where_it_cannot_write" 2 "sheaf aggregate: cannot create no/x.sheaf: No such file or directory" \
    "$sheaf" aggregate 0.sig -o no/x.sheaf

# ---- verify ----
check "an_aggregate_verifies" 0 "" "$sheaf" verify a.sheaf
says "verify_names_the_signers" "$("$sheaf" pubkey 1.key)"
check "verify_quiet" 0 "" "$sheaf" verify a.sheaf --quiet
holds "verify_quiet_says_nothing" test -z "$out"
check "it_is_about_what_was_expected" 0 "" "$sheaf" verify a.sheaf --keys keys.json --message $message --epoch 7
check "the_message_may_be_a_file" 0 "" "$sheaf" verify a.sheaf --message-file block.bin
"$sheaf" pubkey 2.key 0.key 1.key -o order.json
check "the_order_of_the_expected_keys_does_not_matter" 0 "" "$sheaf" verify a.sheaf --keys order.json
"$sheaf" pubkey 0.key 1.key -o fewer.json
check "fewer_keys_were_expected" 1 "sheaf verify: a.sheaf: rejected: the proof covers 3 keys, 2 were expected \(check statement.*" \
    "$sheaf" verify a.sheaf --keys fewer.json
"$sheaf" pubkey 0.key 1.key 2.key 3.key -o more.json
check "more_keys_were_expected" 1 "sheaf verify: a.sheaf: rejected: the proof covers 3 keys, 4 were expected \(check statement.*" \
    "$sheaf" verify a.sheaf --keys more.json
"$sheaf" pubkey 0.key 3.key 2.key -o another.json
check "another_set_was_expected" 1 "sheaf verify: a.sheaf: rejected: the (proof's key 1 is not among the expected keys|expected key 1 is not among the proof's keys) \(check statement.*" \
    "$sheaf" verify a.sheaf --keys another.json
check "another_message_was_expected" 1 "sheaf verify: a.sheaf: rejected: the proof is for another message.*\(check statement.*" \
    "$sheaf" verify a.sheaf --message-file other.bin
check "another_epoch_was_expected" 1 "sheaf verify: a.sheaf: rejected: the proof is for epoch 7, epoch 8 was expected \(check statement.*" \
    "$sheaf" verify a.sheaf --epoch 8
check "verify_in_json" 0 "" "$sheaf" verify a.sheaf --json
json_holds "verify_json_has_the_statement" .out \
    "j['accepted'] and j['files'][0]['epoch'] == 7 and j['files'][0]['publicKeys'] == json.load(open('keys.json'))['publicKeys']"
check "verify_in_json_says_why_not" 1 "sheaf verify: a.sheaf: rejected.*" "$sheaf" verify a.sheaf --epoch 8 --json
json_holds "verify_json_names_the_check" .out "not j['accepted'] and j['files'][0]['check'] == 'statement'"
echo junk >junk.sheaf
check "several_files_have_the_worst_code_1" 1 "sheaf verify: a.sheaf: rejected.*" "$sheaf" verify one.sheaf a.sheaf --keys <("$sheaf" pubkey 0.key --json)
check "several_files_have_the_worst_code_2" 2 "sheaf verify: junk.sheaf: magic: not a Sheaf envelope" \
    "$sheaf" verify junk.sheaf a.sheaf one.sheaf --json
json_holds "several_files_are_told_apart" .out "[f['accepted'] for f in j['files']] == [False, True, True] and not j['accepted']"
check "verify_names_a_missing_file" 2 "sheaf verify: cannot open none.sheaf: No such file or directory" "$sheaf" verify none.sheaf
check "verify_needs_a_file" 2 "sheaf verify: no aggregate is given" "$sheaf" verify
check "verify_names_a_bad_epoch" 2 "sheaf verify: --epoch: 7x is not a number in 0..4294967295" "$sheaf" verify a.sheaf --epoch 7x

# A statement that was changed in the file is not the proven one.
lie() { # claim, file, change of the bytes b
    python3 -c "b = bytearray(open('a.sheaf', 'rb').read()); $3; open('$2', 'wb').write(b)"
    check "$1" 1 "sheaf verify: $2: rejected: .*" "$sheaf" verify "$2"
}
lie "a_changed_message_is_rejected" lie1.sheaf "b[24] ^= 1"
lie "a_changed_epoch_is_rejected" lie2.sheaf "b[16] ^= 1"
lie "a_changed_key_is_rejected" lie3.sheaf "b[56 + 40] ^= 1"
lie "keys_in_another_order_are_rejected" lie4.sheaf "b[56:88], b[88:120] = b[88:120], b[56:88]"
lie "a_signer_less_is_rejected" lie5.sheaf "b[12] = 2; del b[56:88]"
lie "a_signer_more_is_rejected" lie6.sheaf "b[12] = 4; b[56:56] = bytes(range(32))"

# ---- inspect ----
check "inspect_shows_the_parts" 0 "" "$sheaf" inspect a.sheaf
says "inspect_says_accepted" "the proof is accepted"
check "inspect_in_json" 0 "" "$sheaf" inspect a.sheaf --json
json_holds "the_parts_add_up" .out "sum(j['parts'].values()) == j['proof_bytes'] and j['accepted'] and j['count'] == 3"
json_holds "the_soundness_is_128_bits" .out "j['security_bits'] >= 128 and len(j['levels']) >= 1 and j['log_inv_rate'] >= 1"
check "inspect_shows_a_rejected_proof" 1 "" "$sheaf" inspect lie1.sheaf
says "inspect_says_rejected" "REJECTED"
check "inspect_refuses_junk" 2 "sheaf inspect: junk.sheaf: magic: .*" "$sheaf" inspect junk.sheaf
check "inspect_takes_one_file" 2 "sheaf inspect: one file is needed, 0 are given" "$sheaf" inspect
finish
