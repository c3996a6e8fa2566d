#!/usr/bin/env bash
# The verbs on keys and single signatures.  SPDX-License-Identifier: MIT OR Apache-2.0
name=cli_keys
. "$(dirname "$0")/../support/cli.sh"
seed=77d90d94722c02f2660e1c5b369bf16ecec92f52a28bb0eb999dca5596c3e358 # the first of tests/vectors/leanxmss.json
message=3b0b83fdc854e8914e7e6a52e44f4846aed6b56aee0f6ca8dc7488a0c92a6984

# ---- keygen ----
check "keygen_makes_a_key" 0 "" "$sheaf" keygen --epochs 0:16 -o alice.key
says "keygen_says_the_epochs" "alice.key: epochs 0..15, public key 0x"
holds "keygen_writes_a_private_file" test "$(stat -c %a alice.key)" = 600
holds "keygen_writes_a_journal" test -f alice.key.journal
check "keygen_never_overwrites" 2 "sheaf keygen: .*alice.key.*" "$sheaf" keygen --epochs 0:16 -o alice.key
check "keygen_names_the_nearest_aligned_intervals" 2 "sheaf keygen: --epochs: .*96:32.*" "$sheaf" keygen --epochs 100:32 -o x.key
check "keygen_refuses_a_count_that_is_no_power_of_two" 2 "sheaf keygen: --epochs: .*" "$sheaf" keygen --epochs 0:12 -o x.key
check "keygen_refuses_epochs_past_the_last" 2 "sheaf keygen: --epochs: .*" "$sheaf" keygen --epochs 4294967296:1 -o x.key
check "keygen_refuses_a_bad_interval" 2 "sheaf keygen: --epochs: 7 is not START:COUNT in decimal" "$sheaf" keygen --epochs 7 -o x.key
check "keygen_refuses_a_negative_start" 2 "sheaf keygen: --epochs: -1:1 is not START:COUNT in decimal" \
    "$sheaf" keygen --epochs=-1:1 -o x.key
check "keygen_needs_epochs" 2 "sheaf keygen: --epochs: is needed: START:COUNT" "$sheaf" keygen -o x.key
check "keygen_needs_an_output" 2 "sheaf keygen: --output: is needed: the key's file" "$sheaf" keygen --epochs 0:1
check "keygen_refuses_standard_output" 2 "sheaf keygen: --output: a key has a journal .*" "$sheaf" keygen --epochs 0:1 -o -
check "keygen_refuses_a_short_seed" 2 "sheaf keygen: --seed: not 32 bytes in hex \(64 digits\)" \
    "$sheaf" keygen --epochs 0:1 -o x.key --seed 1234
check "keygen_refuses_a_further_argument" 2 "sheaf keygen: more: an argument that is not expected" \
    "$sheaf" keygen --epochs 0:1 -o x.key more
check "keygen_says_that_a_folder_is_missing" 2 "sheaf keygen: .*No such file or directory: no/x.key.*" \
    "$sheaf" keygen --epochs 0:1 -o no/x.key
holds "nothing_is_left_of_refused_keys" test ! -e x.key
check "keygen_from_a_seed" 0 "" "$sheaf" keygen --epochs 0:1 --seed "$seed" -o seeded.key --json
json_holds "keygen_agrees_with_the_known_answer" .out \
    "j['publicKey'] == '0x0d8ab9a7517db9b101a0ba768b75df8974e2d9b7b4faba2870fc173a13f47ae3' and j['epochs'] == 1"
check "keygen_quiet_says_nothing" 0 "" "$sheaf" keygen --epochs 0:1 -o quiet.key --quiet
holds "quiet_keygen_said_nothing" test -z "$out"
check "a_stopped_keygen_is_an_error" 2 "" \
    python3 "$here/support/stopped.py" TERM "$sheaf" keygen --epochs 0:1048576 --seed "$seed" -o slow.key
says "a_stopped_keygen_says_so" "cancelled"
if [ -r /proc/self/cmdline ]; then
    says "a_running_keygen_shows_its_other_arguments" "epochs 0:1048576"
    holds "a_running_keygen_does_not_show_its_seed" test "${out#*"$seed"}" = "$out"
fi
holds "a_stopped_keygen_leaves_no_key" test ! -e slow.key

# ---- pubkey ----
check "pubkey_prints_a_line_a_key" 0 "" "$sheaf" pubkey alice.key seeded.key
holds "pubkey_printed_two_lines" test "$(wc -l <<<"$out")" = 2
says "pubkey_shows_the_known_key" 0x0d8ab9a7517db9b101a0ba768b75df8974e2d9b7b4faba2870fc173a13f47ae3
check "pubkey_writes_keys_json" 0 "" "$sheaf" pubkey alice.key seeded.key -o keys.json
json_holds "keys_json_has_both" keys.json "len(j['publicKeys']) == 2 and j['scheme'] == 'leanXMSS'"
check "pubkey_needs_a_file" 2 "sheaf pubkey: no key file is given" "$sheaf" pubkey
check "pubkey_names_a_missing_file" 2 "sheaf pubkey: .*No such file or directory: none.key" "$sheaf" pubkey none.key
echo junk >junk.key
check "pubkey_refuses_what_is_no_key" 2 "sheaf pubkey: .*junk.key.*" "$sheaf" pubkey junk.key

# ---- sign ----
check "sign_agrees_with_the_known_answer" 0 "" "$sheaf" sign --key seeded.key --epoch 0 --message 0x$message -o seeded.sig
json_holds "the_signature_is_the_vectors" seeded.sig \
    "j['signature'] == '0x' + json.load(open('$here/vectors/leanxmss.json'))[0]['signature'] and j['epoch'] == 0"
check "signing_again_gives_the_same_signature" 0 "" "$sheaf" sign --key seeded.key --epoch 0 --message $message -o again.sig
says "sign_says_that_it_is_the_same" "the same signature as before"
holds "the_two_signatures_are_equal" cmp seeded.sig again.sig
check "another_message_of_the_epoch_is_refused" 2 "sheaf sign: .*epoch 0.*" \
    "$sheaf" sign --key seeded.key --epoch 0 --message ${message/3b/3c} -o other.sig
holds "no_refused_signature_is_written" test ! -e other.sig
check "an_epoch_outside_the_key_is_refused" 2 "sheaf sign: .*" "$sheaf" sign --key seeded.key --epoch 1 --message $message
check "sign_writes_to_standard_output" 0 "" "$sheaf" sign --key alice.key --epoch 3 --message $message
json_holds "the_printed_signature_is_json" .out "j['epoch'] == 3 and len(j['signature']) == 2 + 2 * 1208"
printf hello >hello.txt
check "sign_hashes_a_message_file" 0 "" "$sheaf" sign --key alice.key --epoch 4 --message-file hello.txt -o hello.sig --json
json_holds "sign_reports_in_json" .out "j['file'] == 'hello.sig' and j['repeated'] is False"
json_holds "the_message_is_the_shake256_of_the_file" hello.sig \
    "j['message'] == '0x' + __import__('hashlib').shake_256(b'hello').hexdigest(32)"
check "sign_needs_a_key" 2 "sheaf sign: --key: is needed.*" "$sheaf" sign --epoch 1 --message $message
check "sign_needs_an_epoch" 2 "sheaf sign: --epoch: is needed" "$sheaf" sign --key alice.key --message $message
check "sign_needs_a_message" 2 "sheaf sign: --message: is needed, or --message-file" "$sheaf" sign --key alice.key --epoch 1
check "sign_takes_one_message_only" 2 "sheaf sign: --message-file: given besides --message" \
    "$sheaf" sign --key alice.key --epoch 1 --message $message --message-file hello.txt
check "sign_refuses_a_bad_message" 2 "sheaf sign: --message: not 32 bytes in hex \(64 digits\)" \
    "$sheaf" sign --key alice.key --epoch 1 --message 12zz
check "sign_refuses_a_large_epoch" 2 "sheaf sign: --epoch: 4294967296 is not a number in 0..4294967295" \
    "$sheaf" sign --key alice.key --epoch 4294967296 --message $message
check "sign_refuses_an_option_twice" 2 "sheaf sign: --epoch: given twice" \
    "$sheaf" sign --key alice.key --epoch 1 --epoch 2 --message $message
check "an_unknown_option_is_named" 2 "sheaf sign: --frob: unknown option.*" "$sheaf" sign --frob
check "an_option_without_its_value_is_named" 2 "sheaf sign: --epoch: needs a value" "$sheaf" sign --epoch
check "a_value_for_a_flag_is_refused" 2 "sheaf sign: --json=1: .*a value where none is taken.*" "$sheaf" sign --json=1

# ---- key-status ----
check "key_status_shows_what_is_left" 0 "" "$sheaf" key-status alice.key
says "key_status_counts" "16, of which 2 used, 14 left"
says "key_status_names_the_used" "used: 3..4"
says "key_status_names_the_next_free" "next free epoch: 0"
says "key_status_warns_of_backups" "warning: a key that is copied, or restored from a backup"
check "key_status_in_json" 0 "" "$sheaf" key-status alice.key --json
json_holds "key_status_json_agrees" .out "j['used'] == 2 and j['left'] == 14 and j['usedRanges'] == [[3, 4]] and j['nextEpoch'] == 0"
check "key_status_of_a_spent_key" 0 "" "$sheaf" key-status seeded.key --json
json_holds "a_spent_key_has_no_next_epoch" .out "j['left'] == 0 and j['nextEpoch'] is None"
check "key_status_takes_one_file" 2 "sheaf key-status: one key file is needed, 2 are given" "$sheaf" key-status alice.key seeded.key

# ---- verify-signature ----
check "a_signature_verifies" 0 "" "$sheaf" verify-signature hello.sig
says "verify_signature_says_by_whom" "hello.sig: a valid signature for epoch 4"
check "a_signature_is_the_expected_one" 0 "" "$sheaf" verify-signature hello.sig --message-file hello.txt --epoch 4 \
    --public-key "$("$sheaf" pubkey alice.key)"
check "another_epoch_was_expected" 1 "sheaf verify-signature: hello.sig: epoch: 4, 5 was expected" \
    "$sheaf" verify-signature hello.sig --epoch 5
check "another_message_was_expected" 1 "sheaf verify-signature: hello.sig: message: not the expected one" \
    "$sheaf" verify-signature hello.sig --message $message
check "another_key_was_expected" 1 "sheaf verify-signature: hello.sig: publicKey: signature 0 is by another key.*" \
    "$sheaf" verify-signature hello.sig --public-key $message
sed 's/"epoch": 4/"epoch": 5/' hello.sig >epoch5.sig
check "a_signature_for_another_epoch_is_rejected" 1 "sheaf verify-signature: epoch5.sig: signature: signature 0 does not verify" \
    "$sheaf" verify-signature epoch5.sig
check "several_files_have_the_worst_code" 1 "sheaf verify-signature: epoch5.sig: .*" \
    "$sheaf" verify-signature hello.sig epoch5.sig seeded.sig --json
json_holds "several_files_are_told_apart" .out "[f['valid'] for f in j['files']] == [True, False, True] and not j['valid']"
check "verify_signature_needs_a_file" 2 "sheaf verify-signature: no signature file is given" "$sheaf" verify-signature

# ---- collect ----
"$sheaf" keygen --epochs 0:16 -o bob.key -q && "$sheaf" sign --key bob.key --epoch 4 --message-file hello.txt -o bob.sig -q
check "collect_joins_signatures" 0 "" "$sheaf" collect hello.sig bob.sig -o list.json
json_holds "the_list_has_both_in_order" list.json \
    "[s['signature'] for s in j['signatures']] == [json.load(open(f))['signature'] for f in ('hello.sig', 'bob.sig')]"
check "a_list_verifies" 0 "" "$sheaf" verify-signature list.json
check "collect_takes_lists_too" 0 "" "$sheaf" collect hello.sig -o one.json -q
check "collect_joins_a_list_and_a_signature" 0 "" "$sheaf" collect one.json bob.sig -o list2.json --json
json_holds "collect_reports_in_json" .out "j['signatures'] == 2 and j['epoch'] == 4"
holds "the_lists_are_equal" cmp list.json list2.json
check "collect_writes_binary" 0 "" "$sheaf" collect hello.sig bob.sig --binary -o list.sigs
holds "the_binary_list_has_its_length" test "$(stat -c %s list.sigs)" = $((56 + 2 * 1240))
check "the_binary_list_reads_back" 0 "" "$sheaf" collect list.sigs -o list3.json
holds "binary_and_json_say_the_same" cmp list.json list3.json
check "collect_refuses_another_epoch" 2 "sheaf collect: epoch5.sig: epoch: signature 1 is for epoch 5, signature 0 for 4" \
    "$sheaf" collect hello.sig epoch5.sig -o bad.json
sed 's/"message": "0x../"message": "0xff/' bob.sig >message.sig
check "collect_refuses_another_message" 2 "sheaf collect: message.sig: message: signature 1 is of another message than signature 0" \
    "$sheaf" collect hello.sig message.sig -o bad.json
check "collect_refuses_a_key_twice" 2 "sheaf collect: hello.sig: signature 0 has the public key of signature 0 in hello.sig" \
    "$sheaf" collect hello.sig bob.sig hello.sig -o bad.json
check "collect_needs_an_output" 2 "sheaf collect: --output: is needed: the list's file" "$sheaf" collect hello.sig
check "collect_needs_a_file" 2 "sheaf collect: no signature file is given" "$sheaf" collect -o x.json
holds "nothing_is_left_of_refused_lists" test ! -e bad.json
finish
