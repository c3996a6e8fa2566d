#!/usr/bin/env bash
# Hash batches, the ledger, and every verb's help.  SPDX-License-Identifier: MIT OR Apache-2.0
name=cli_hash
. "$(dirname "$0")/../support/cli.sh"

# ---- hash prove, hash verify ----
seed=$(printf '%064x' 5)
check "a_batch_is_proven" 0 "" "$sheaf" hash prove --log-n 4 --seed $seed -o a.sheaf --json
json_holds "hash_prove_reports_in_json" .out "j['hashes'] == 16 and j['envelope_bytes'] == j['proof_bytes'] + 60 + 32 * 16"
check "a_batch_verifies" 0 "" "$sheaf" hash verify a.sheaf
says "hash_verify_counts" "a.sheaf: accepted: 16 hashes"
check "it_has_the_expected_size" 0 "" "$sheaf" hash verify a.sheaf --log-n 4
check "another_size_was_expected" 1 "sheaf hash verify: a.sheaf: rejected: the proof covers 16 hashes, 2\^5 were expected.*" \
    "$sheaf" hash verify a.sheaf --log-n 5
check "the_same_seed_gives_the_same_file" 0 "" "$sheaf" hash prove --log-n 4 --seed $seed -o b.sheaf -q
holds "which_is_equal" cmp a.sheaf b.sheaf
check "without_a_seed_it_is_another" 0 "" "$sheaf" hash prove --log-n 4 -o c.sheaf -q
holds "which_differs" test "$(cksum <c.sheaf)" != "$(cksum <a.sheaf)"
python3 - <<'END'
import hashlib
messages = [bytes([i]) * 128 for i in range(5)]
open("messages.bin", "wb").write(b"".join(messages))
digests = [hashlib.shake_256(m).digest(32) for m in messages]
open("digests.bin", "wb").write(b"".join(digests))
open("other.bin", "wb").write(b"".join(digests[:4] + [bytes(32)]))
open("order.bin", "wb").write(b"".join(reversed(digests)))
open("fewer.bin", "wb").write(b"".join(digests[:4]))
END
check "messages_from_a_file_are_proven" 0 "" "$sheaf" hash prove --messages messages.bin -o m.sheaf -q
check "their_digests_are_those_of_another_implementation" 0 "" "$sheaf" hash verify m.sheaf --digests digests.bin
check "another_digest_was_expected" 1 "sheaf hash verify: m.sheaf: rejected: digest 4 is not the expected one \(check statement.*" \
    "$sheaf" hash verify m.sheaf --digests other.bin
check "another_order_was_expected" 1 "sheaf hash verify: m.sheaf: rejected: digest 0 is not the expected one \(check statement.*" \
    "$sheaf" hash verify m.sheaf --digests order.bin
check "fewer_digests_were_expected" 1 "sheaf hash verify: m.sheaf: rejected: the proof covers 5 digests, 4 were expected.*" \
    "$sheaf" hash verify m.sheaf --digests fewer.bin --json
json_holds "hash_verify_names_the_check" .out "not j['accepted'] and j['check'] == 'statement' and j['hashes'] == 5"
head -c 130 messages.bin >odd.bin
check "messages_are_128_bytes" 2 "sheaf hash prove: odd.bin: 130 bytes are not a positive number of 128-byte messages" \
    "$sheaf" hash prove --messages odd.bin -o x.sheaf
: >empty.bin
check "there_is_a_message" 2 "sheaf hash prove: empty.bin: 0 bytes are not .*" "$sheaf" hash prove --messages empty.bin -o x.sheaf
check "digests_are_32_bytes" 2 "sheaf hash verify: odd.bin: 130 bytes are no whole number of 32-byte digests" \
    "$sheaf" hash verify m.sheaf --digests odd.bin
check "a_folder_that_is_not_there_is_named" 2 "sheaf hash prove: cannot create nowhere/x.sheaf: No such file or directory" \
    "$sheaf" hash prove --log-n 10 -o nowhere/x.sheaf
check "an_output_has_a_name" 2 "sheaf hash prove: --output: is empty" "$sheaf" hash prove --log-n 3 -o ""
check "a_folder_is_no_output" 2 "sheaf hash prove: cannot write .: Is a directory" "$sheaf" hash prove --log-n 3 -o .
check "messages_or_a_size" 2 "sheaf hash prove: one of --log-n N and --messages FILE is needed" "$sheaf" hash prove -o x.sheaf
check "not_both" 2 "sheaf hash prove: one of --log-n N and --messages FILE is needed" \
    "$sheaf" hash prove --log-n 3 --messages messages.bin -o x.sheaf
check "a_size_over_20_is_refused" 2 "sheaf hash prove: --log-n: 21 is not a number in 0..20" "$sheaf" hash prove --log-n 21 -o x.sheaf
check "a_seed_needs_a_size" 2 "sheaf hash prove: --seed: goes with --log-n only" \
    "$sheaf" hash prove --messages messages.bin --seed $seed -o x.sheaf
check "hash_prove_needs_an_output" 2 "sheaf hash prove: --output: is needed: the batch's file" "$sheaf" hash prove --log-n 3
check "hash_verify_takes_one_file" 2 "sheaf hash verify: one batch is needed, 2 are given" "$sheaf" hash verify a.sheaf b.sheaf
holds "nothing_is_left_of_refused_batches" test ! -e x.sheaf
check "inspect_reads_a_batch" 0 "" "$sheaf" inspect m.sheaf --json
json_holds "inspect_names_its_kind" .out "j['kind'] == 'hash batch' and j['count'] == 5 and j['permutations_per_slot'] == 1"

# ---- security ----
check "the_ledger_of_1024_signers" 0 "" "$sheaf" security --signers 1024
says "the_ledger_names_the_largest_term" "largest term: 2^-128."
check "the_ledger_in_json" 0 "" "$sheaf" security --hash-log-n 14 --log-inv-rate 2 --json
json_holds "every_term_is_at_most_2_to_minus_128" .out \
    "j['ok'] and len(j['terms']) > 5 and all(t['log2_error'] <= -128 and t['source'] for t in j['terms']) and j['log_slots'] == 14"
for shape in "--signers 1" "--signers 65536" "--hash-log-n 0" "--hash-log-n 20"; do
    # shellcheck disable=SC2086
    check "the_ledger_of_${shape// /_}" 0 "" "$sheaf" security $shape
done
check "the_ledger_needs_a_shape" 2 "sheaf security: one of --signers N and --hash-log-n N is needed" "$sheaf" security
check "the_ledger_needs_one_shape" 2 "sheaf security: one of .*" "$sheaf" security --signers 3 --hash-log-n 3
check "too_many_signers_have_none" 2 "sheaf security: --signers: 65537 is not a number in 1..65536" "$sheaf" security --signers 65537

# ---- help, version ----
for verb in keygen pubkey key-status sign verify-signature collect aggregate verify inspect security "hash prove" "hash verify" \
    "bench hash" "bench aggregate" "bench commit" "bench kernels"; do
    # shellcheck disable=SC2086
    check "help_of_${verb/ /_}" 0 "" "$sheaf" $verb --help
    says "help_of_${verb/ /_}_has_its_usage" "Usage: sheaf $verb"
    says "help_of_${verb/ /_}_has_examples" "Examples:"
    help=$("$sheaf" --help)
    holds "the_overview_names_${verb/ /_}" grep -qF "  $verb " <<<"$help"
done
check "help_of_hash" 0 "" "$sheaf" hash --help
says "help_of_hash_has_both" "Usage: sheaf hash verify"
check "help_wins_over_other_options" 0 "" "$sheaf" bench hash -h --threads 1
check "the_seed_is_for_examples_only" 0 "" "$sheaf" keygen --help
says "and_the_help_says_so" "for reproducible examples ONLY"
check "version" 0 "" "$sheaf" --version
says "version_says_a_number" "sheaf 0."
check "version_in_json" 0 "" "$sheaf" --version --json
check "version_with_options_of_every_verb" 0 "" "$sheaf" --version --quiet --threads 1
check "version_refuses_an_unknown_option" 2 "sheaf --version: --nonsense: unknown option.*" "$sheaf" --version --nonsense
check "version_refuses_it_after_another" 2 "sheaf --version: -x: unknown option.*" "$sheaf" --version --json -x
check "version_refuses_a_word" 2 "sheaf --version: verify: an argument that is not expected" "$sheaf" --version verify
check "version_helps" 0 "" "$sheaf" --version --help
says "by_the_overview" "Usage: sheaf VERB"
check "version_in_json" 0 "" "$sheaf" --version --json
json_holds "version_json_has_the_isa" .out "j['version'] and j['isa']"
check "a_verb_is_needed" 2 "sheaf: a verb is needed \(see sheaf --help\)" "$sheaf"
check "an_unknown_verb_is_named" 2 "sheaf: frob: unknown verb \(see sheaf --help\)" "$sheaf" frob
check "a_bad_number_of_threads" 2 "sheaf verify: --threads: 0 is not a number in 1..1024" "$sheaf" verify --threads 0
finish
