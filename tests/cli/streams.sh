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
# Runs a long proof with a terminal as standard error and stops it when a bar is seen.
cat >terminal.py <<'END'
import os, pty, select, signal, subprocess, sys, time
main, side = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stderr=side, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
os.close(side)
seen, begin = b"", time.time()
while process.poll() is None and time.time() - begin < 60 and b"%" not in seen:
    if select.select([main], [], [], 0.1)[0]:
        try:
            seen += os.read(main, 1000)
        except OSError:  # the other side is closed
            break
shown_after = time.time() - begin
process.send_signal(signal.SIGTERM)
process.wait()
sys.stdout.write("bar after a second\n" if b"[" in seen and b"%" in seen and shown_after > 0.9 else "no bar\n")
END
check "long_work_shows_a_bar_on_a_terminal" 0 "" python3 terminal.py "$sheaf" hash prove --messages many.bin -o in-a-folder/bar.sheaf
holds "after_a_second" test "$out" = "bar after a second"
check "short_work_shows_none" 0 "" python3 terminal.py "$sheaf" hash prove --log-n 3 -o short.sheaf
holds "none_at_all" test "$out" = "no bar"
check "quiet_work_shows_none" 0 "" timeout 20 python3 terminal.py "$sheaf" hash verify short.sheaf --quiet
holds "none_either" test "$out" = "no bar"

# ---- work that is stopped ----
stop() { # signal: begins a long proof, stops it, and gives its exit code
    "$sheaf" hash prove --messages many.bin -o in-a-folder/long.sheaf &
    local pid=$!
    sleep 1.5
    kill -"$1" $pid
    wait $pid
}
for signal in TERM INT; do
    check "sig${signal}_cancels" 2 "sheaf hash prove: cancelled" stop $signal
    holds "sig${signal}_leaves_nothing" test -z "$(ls -A in-a-folder)"
done
check "a_killed_process_leaves_no_output" 137 ".*" stop KILL
holds "no_half_file_has_the_name" test ! -e in-a-folder/long.sheaf
finish
