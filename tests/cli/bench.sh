#!/usr/bin/env bash
# The bench: its figures, its tree of stages, its rows of kernels.  SPDX-License-Identifier: MIT OR Apache-2.0
name=cli_bench
. "$(dirname "$0")/../support/cli.sh"

fields="permutations signers hashes threads isa warmup repeats seconds_prove seconds_prove_least seconds_prove_most cpu_seconds \
cpu_seconds_least page_faults seconds_verify seconds_verify_least seconds_verify_most cycles_per_permutation permutations_per_second \
signatures_per_second proof_bytes peak_bytes prover_peak_bytes predicted_bytes log_inv_rate security_bits \
layer_cycles_per_permutation stages"

# ---- proofs ----
check "the_proof_is_not_mixed_with_the_figures" 2 "sheaf bench hash: --output: is a file: standard output is for the figures" \
    "$sheaf" bench hash --log-n 3 --json -o -
check "a_proof_that_could_not_be_kept_is_not_made" 2 "sheaf bench hash: cannot create nowhere/x.sheaf: No such file or directory" \
    "$sheaf" bench hash --log-n 10 -o nowhere/x.sheaf
check "bench_hash_in_json" 0 "" "$sheaf" bench hash --log-n 3 --repeats 3 --warmup 0 --threads 1 --json
json_holds "bench_hash_has_every_field" .out "all(f in j for f in '$fields'.split()) and j['permutations'] == 8 and j['threads'] == 1"
json_holds "the_median_is_within_the_range" .out \
    "0 < j['seconds_prove_least'] <= j['seconds_prove'] <= j['seconds_prove_most'] and j['repeats'] == 3 and j['warmup'] == 0"
json_holds "so_is_that_of_verifying" .out "0 < j['seconds_verify_least'] <= j['seconds_verify'] <= j['seconds_verify_most']"
json_holds "its_stages_are_a_tree" .out \
    "all({'name', 'calls', 'seconds', 'cycles', 'share', 'children'} <= set(s) for s in j['stages']) and any(s['children'] for s in j['stages'])"
cat >tree.py <<'END'
import json, sys
def holds(stages, seconds):
    # Shares are of the parent, and the children fit into it, up to rounding.
    ok = sum(s["seconds"] for s in stages) <= seconds * 1.001 + 1e-6
    return ok and all(abs(s["share"] * seconds - s["seconds"]) <= 1e-4 * seconds + 1e-6 and
                      holds(s["children"], s["seconds"]) for s in stages)
j = json.load(open(sys.argv[1]))
sys.exit(0 if holds(j["stages"], j["seconds_prove"]) else 1)
END
holds "shares_are_of_the_parent" python3 tree.py .out
json_holds "a_layer_is_the_sum_of_its_parts" .out \
    "(lambda c: {'states', 'all'} < set(c) and sum(c.values()) - c['all'] <= c['all'] * 1.01 + 1)(j['layer_cycles_per_permutation'])"
check "bench_aggregate_in_json" 0 "" "$sheaf" bench aggregate --signers 3 --repeats 1 --warmup 0 --threads 2 --json -o bench.sheaf
json_holds "bench_aggregate_has_every_field" .out \
    "all(f in j for f in '$fields'.split()) and j['permutations'] == 3 * 138 and j['signers'] == 3 and j['signatures_per_second'] > 0"
json_holds "its_figures_are_some" .out \
    "j['seconds_prove'] > 0 and min(j['peak_bytes'], j['prover_peak_bytes']) > 10**6 and j['security_bits'] >= 128 and j['proof_bytes'] > 10**4"
json_holds "the_memory_was_foretold" .out "abs(j['predicted_bytes'] - j['prover_peak_bytes']) < 0.1 * j['prover_peak_bytes']"
check "bench_keeps_the_proof" 0 "" "$sheaf" verify bench.sheaf --epoch 7
check "bench_in_words" 0 "" "$sheaf" bench hash --log-n 3 --repeats 1 --warmup 0
says "bench_says_permutations" "8 hashes, 8 permutations"
says "bench_says_shares" "of parent   of whole"
holds "stages_are_indented" grep -qE '^    bit rounds +[0-9.]+ s +[0-9.]+% +[0-9.]+%$' .out
check "bench_says_nothing_where_it_is_to_be_quiet" 0 "" "$sheaf" bench hash --log-n 3 --repeats 1 --warmup 0 -q
holds "and_it_does_not" test ! -s .out

# ---- commitments ----
check "bench_commit_in_json" 0 "" "$sheaf" bench commit --log-words 10 --repeats 2 --warmup 0 --threads 1 --json
cp .out one.json
json_holds "bench_commit_has_code_and_tree" .out \
    "[s['name'] for s in j['stages']] == ['encode', 'merkle'] and j['seconds_ntt'] > 0 and j['seconds_merkle'] > 0 and j['log_words'] == 10"
# Counted anew: butterflies of every row's code; leaves of one row's words each, and the nodes over them.
json_holds "it_counts_butterflies" .out \
    "j['butterflies'] == 2 ** (j['log_rows'] + j['log_columns'] + j['log_inv_rate'] - 1) * j['log_columns']"
json_holds "it_counts_permutations" .out \
    "(lambda n: j['arity'] == 2 and j['hash_permutations'] == n * (8 * 2 ** j['log_rows'] // 136 + 1) + n - 1)(2 ** (j['log_columns'] + j['log_inv_rate']))"
json_holds "the_memory_of_a_commitment_was_foretold" .out "0 <= j['prover_peak_bytes'] - j['predicted_bytes'] < 65536"
check "the_same_by_two_threads" 0 "" "$sheaf" bench commit --log-words 10 --repeats 1 --warmup 0 --threads 2 --json
holds "the_root_is_the_same" python3 -c "import json; a, b = (json.load(open(f))['root'] for f in ('one.json', '.out')); assert a == b and len(a) == 66"
check "another_rate_and_other_rows" 0 "" "$sheaf" bench commit --log-words 13 --log-inv-rate 2 --log-rows 10 --repeats 1 --json
json_holds "are_taken" .out "j['log_inv_rate'] == 2 and j['log_rows'] == 10 and j['log_columns'] == 3"
check "bench_commit_in_words" 0 "" "$sheaf" bench commit --log-words 7 --repeats 1 --warmup 0
says "bench_commit_says_words" "2^7 words in"
says "bench_commit_says_the_ntt" "a butterfly"
check "too_few_columns" 2 "sheaf bench commit: --log-rows: 5 leaves fewer than 2\^3 columns" "$sheaf" bench commit --log-words 7 --log-rows 5
check "bench_commit_needs_a_size" 2 "sheaf bench commit: --log-words: is needed" "$sheaf" bench commit
check "too_many_words" 2 "sheaf bench commit: --log-words: 27 is not a number in 7..26" "$sheaf" bench commit --log-words 27

# ---- kernels ----
check "bench_kernels" 0 "" "$sheaf" bench kernels --json
cat >kernels.py <<'END'
import json, re, sys
j = json.load(open(sys.argv[1]))
table = open(sys.argv[2]).read()
table = table[table.index("typedef struct sheaf_kernels"):table.index("} sheaf_kernels;")]
members = set(re.findall(r"\(\*(\w+)\)\(", table))
rows = [k["name"].split(" ")[0] for k in j["kernels"]]
assert len(members) > 20 and set(rows) == members, set(rows) ^ members
for k in j["kernels"]:
    assert k["back_ends"][0]["name"] == "portable" and k["nanoseconds"] > 0 and k["ratio"] > 0, k
    assert all(b["nanoseconds"] > 0 and b["ratio"] > 0 for b in k["back_ends"]), k
    assert k["back_ends"][-1]["nanoseconds"] == k["nanoseconds"], k
END
holds "every_kernel_of_the_table_is_measured" python3 kernels.py .out "$root/src/common/kernels.h"
check "one_kernel_alone" 0 "" env SHEAF_ISA=portable "$sheaf" bench kernels --kernel evec_dot --json
json_holds "in_all_its_uses_and_on_the_capped_back_end" .out \
    "[k['name'].split()[0] for k in j['kernels']] == ['evec_dot'] * 2 and [b['name'] for b in j['kernels'][0]['back_ends']] == ['portable']"
check "bench_kernels_in_words" 0 "" "$sheaf" bench kernels --kernel gf192_mul
says "it_says_what_an_element_is" "gf192_mul              product"
check "an_unknown_kernel" 2 "sheaf bench kernels: --kernel: evec is no kernel" "$sheaf" bench kernels --kernel evec

# ---- memory in advance ----
check "a_bench_that_does_not_fit_is_refused" 2 \
    "sheaf bench aggregate: an aggregate of 60000 signatures takes [0-9]+ MiB of memory, 20 MiB can be had \(see --memory\)" \
    "$sheaf" bench aggregate --signers 60000 --memory 20
check "so_is_a_bench_of_hashes" 2 "sheaf bench hash: a batch of 1048576 hashes takes [0-9]+ MiB of memory, 1 MiB can be had .*" \
    "$sheaf" bench hash --log-n 20 --memory 1
check "so_is_a_commitment" 2 "sheaf bench commit: a commitment of 1048576 words takes [0-9]+ MiB of memory, 9 MiB can be had .*" \
    "$sheaf" bench commit --log-words 20 --memory 9
check "so_is_a_batch" 2 "sheaf hash prove: a batch of 4096 hashes takes [0-9]+ MiB of memory, 2 MiB can be had .*" \
    "$sheaf" hash prove --log-n 12 --memory 2 -o x.sheaf
# Sanitizers map more than any limit that would be felt.
if ! grep -qa __asan_init "$sheaf"; then
    check "a_limit_of_the_process_counts" 2 "sheaf hash prove: a batch of 65536 hashes takes [0-9]+ MiB of memory, 97 MiB can be had .*" \
        bash -c "ulimit -d 100000; '$sheaf' hash prove --log-n 16 -o x.sheaf"
fi
holds "nothing_is_left_of_what_is_refused" test ! -e x.sheaf
check "with_enough_it_is_made" 0 "" "$sheaf" hash prove --log-n 3 --memory 64 -o x.sheaf -q
holds "and_is_there" test -s x.sheaf
check "memory_is_a_number" 2 "sheaf aggregate: --memory: 0 is not a number in 1..4294967295" "$sheaf" aggregate x --memory 0 -o y

# ---- arguments ----
check "bench_needs_a_size" 2 "sheaf bench hash: --log-n: is needed" "$sheaf" bench hash
check "bench_needs_a_number_of_signers" 2 "sheaf bench aggregate: --signers: is needed" "$sheaf" bench aggregate
check "bench_needs_a_second_word" 2 "sheaf: bench: needs a second word: bench hash, bench aggregate, bench commit, bench kernels" "$sheaf" bench
check "bench_takes_no_file" 2 "sheaf bench commit: x: an argument that is not expected" "$sheaf" bench commit x
finish
