#!/usr/bin/env bash
# Standard input and output in the place of files, and writing that fails or is stopped.  SPDX-License-Identifier: MIT OR Apache-2.0
name=cli_streams
. "$(dirname "$0")/../support/cli.sh"

for i in 0 1; do
    "$sheaf" keygen --epochs 7:1 --seed "$(printf '%064x' $((i + 1)))" -o $i.key -q
    printf 'the message' | "$sheaf" sign --key $i.key --epoch 7 --message-file - >$i.sig
done
"$sheaf" collect 0.sig 1.sig -o list.json -q
"$sheaf" aggregate list.json -o a.sheaf -q

# ---- streams ----
by() { bash -c "set -o pipefail; $1" sh "$sheaf"; }
check "a_message_comes_from_standard_input" 0 "" by 'printf "the message" | "$1" verify-signature 0.sig --message-file -'
check "a_signature_comes_from_standard_input" 0 "" by '"$1" verify-signature - <0.sig'
says "and_is_called_so" "standard input: a valid signature"
check "collect_writes_to_standard_output" 0 "" by '"$1" collect 0.sig 1.sig -o - | cmp - list.json'
check "collect_reads_standard_input" 0 "" by 'cat 1.sig | "$1" collect 0.sig - -o - | cmp - list.json'
check "aggregate_reads_and_writes_streams" 0 "" by '"$1" aggregate - -o - <list.json | cmp - a.sheaf'
check "aggregate_reads_a_binary_stream" 0 "" by '"$1" collect list.json --binary -o - | "$1" aggregate - -o - | cmp - a.sheaf'
check "verify_reads_standard_input" 0 "" by '"$1" verify - --message-file <(printf "the message") <a.sheaf'
says "and_names_it" "standard input: accepted: 2 signers"
check "a_whole_pipeline" 0 "" by '"$1" collect 0.sig 1.sig -o - | "$1" aggregate - -o - | "$1" verify - --quiet'
check "inspect_reads_standard_input" 0 "" by '"$1" inspect - <a.sheaf'
check "a_malformed_stream_is_named" 2 "sheaf verify: standard input: magic: not a Sheaf envelope" by 'echo junk | "$1" verify -'
check "an_empty_stream_is_named" 2 "sheaf verify: standard input: magic: not a Sheaf envelope" by '"$1" verify - </dev/null'
check "keys_come_from_a_pipe" 0 "" by '"$1" verify a.sheaf --keys <("$1" pubkey 0.key 1.key --json)'
check "hash_prove_streams" 0 "" by 'head -c 256 /dev/zero | "$1" hash prove --messages - -o - | "$1" hash verify -'

# ---- writing that fails ----
printf 'what was there' >kept.sheaf
check "a_full_device_is_an_error" 2 "sheaf aggregate: .*/dev/full.*No space left on device" "$sheaf" aggregate list.json -o /dev/full
check "standard_output_that_is_full_is_an_error" 2 "sheaf verify: .*standard output.*No space left on device" \
    by '"$1" verify a.sheaf >/dev/full'
check "a_file_too_large_is_an_error" 2 "sheaf aggregate: .*kept.sheaf.*" \
    by 'trap "" XFSZ; ulimit -f 8; "$1" aggregate list.json -o kept.sheaf'
holds "the_old_file_stays_whole" test "$(cat kept.sheaf)" = "what was there"
check "a_folder_is_no_file" 2 "sheaf aggregate: .*" by 'mkdir -p folder; "$1" aggregate list.json -o folder'
mkdir in-a-folder
check "an_error_leaves_no_file" 2 "sheaf aggregate: .*" by 'trap "" XFSZ; ulimit -f 8; "$1" aggregate list.json -o in-a-folder/x.sheaf'
holds "the_folder_stays_empty" test -z "$(ls -A in-a-folder)"

head -c $((65536 * 128)) /dev/zero >many.bin # messages that take long to prove

# ---- the progress bar ----
on_a_terminal() { python3 "$here/support/stopped.py" "$@"; } # the signal that is sent when a bar is seen, command...
long="hash prove --messages many.bin -o in-a-folder/long.sheaf"
for signal in TERM INT; do
    # shellcheck disable=SC2086
    check "sig${signal}_cancels_long_work" 2 "" on_a_terminal $signal "$sheaf" $long
    says "sig${signal}_came_when_a_bar_was_seen_after_a_second" "bar: late"
    says "sig${signal}_is_told" "said: sheaf hash prove: cancelled"
    holds "sig${signal}_leaves_nothing" test -z "$(ls -A in-a-folder)"
done
# shellcheck disable=SC2086
check "a_killed_process_leaves_no_output" 137 "" on_a_terminal KILL "$sheaf" $long
holds "no_half_file_has_the_name" test ! -e in-a-folder/long.sheaf
# On a busy machine what is short elsewhere may last for a second.
check "short_work_ends" 0 "" on_a_terminal NONE "$sheaf" hash prove --log-n 0 -o short.sheaf
holds "short_work_shows_no_bar_within_a_second" test "${out#*early}" = "$out"
check "quiet_work_ends" 0 "" on_a_terminal NONE "$sheaf" hash prove --log-n 3 -o short.sheaf --quiet
says "quiet_work_shows_no_bar" "bar: none"
holds "and_says_nothing" test "${out##*said:}" = " "
finish
