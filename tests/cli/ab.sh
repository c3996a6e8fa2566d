#!/usr/bin/env bash
# tools/ab.sh: two builds in turn.  SPDX-License-Identifier: MIT OR Apache-2.0
name=cli_ab
. "$(dirname "$0")/../support/cli.sh"
ab=$root/tools/ab.sh
unset SHEAF_AB_DIR SHEAF_ISA

# ---- two commands that are there ----
least="--repeats 1 --warmup 0"
# shellcheck disable=SC2086
check "two_commands_are_compared" 0 "" "$ab" --pairs 2 --stages --binaries "$sheaf" "$sheaf" bench hash --log-n 3 $least
says "each_pair_is_shown" "pair 2: A "
says "so_is_the_median" "A/B of seconds_prove_least: median "
says "so_is_the_range" " of 2 pairs"
says "so_is_cpu_time" "A/B of cpu_seconds_least: median "
says "so_are_stages" "layers / bit rounds"
says "equal_commands_make_equal_proofs" "the results are the same bytes"
# shellcheck disable=SC2086
check "commitments_are_compared" 0 "" "$ab" --pairs 1 --isa portable --binaries "$sheaf" "$sheaf" commit --log-words 8 $least
says "by_their_roots" "the results are the same bytes"
says "on_the_back_end_that_is_asked_for" "back end: portable"
# shellcheck disable=SC2086
check "b_may_run_something_else" 0 "" "$ab" --pairs 1 --binaries "$sheaf" "$sheaf" --second "hash --log-n 3 --threads 2 $least" \
    hash --log-n 3 --threads 1 $least
says "which_is_said" "B runs bench hash --log-n 3 --threads 2 $least"
# shellcheck disable=SC2086
check "threads_take_the_place_of_the_workloads" 0 "" "$ab" --pairs 1 --threads 2 --figure threads --binaries "$sheaf" "$sheaf" \
    hash --log-n 3 --threads 1 $least
says "in_both" "pair 1: A 2.0000  B 2.0000  A/B 1.0000"
ln -s "$sheaf" near
# shellcheck disable=SC2086
check "a_command_may_be_in_this_folder" 0 "" "$ab" --pairs 1 --binaries near near hash --log-n 0 $least
says "under_its_name" "A: near"
check "kernels_are_compared" 0 "" "$ab" --pairs 1 --isa portable --binaries "$sheaf" "$sheaf" kernels --kernel evec_dot
says "one_by_one" "evec_dot (64)"

# ---- what is wrong is said ----
check "a_revision_is_needed" 2 "ab: a revision is needed \(see --help\)" "$ab"
check "an_unknown_option" 2 "ab: --frob: unknown option \(see --help\)" "$ab" --frob HEAD
check "an_option_without_its_value" 2 "ab: --pairs: needs a value" "$ab" --pairs
check "no_pairs" 2 "ab: --pairs: 0 is not a positive number" "$ab" --pairs 0 HEAD
check "a_back_end_that_there_is_not" 2 "ab: --isa: avx is no back end" "$ab" --isa avx HEAD
check "one_command_is_not_two" 2 "ab: --binaries: needs two commands" "$ab" --binaries "$sheaf"
check "a_command_that_is_not_there" 2 "ab: no/sheaf: is no command" "$ab" --binaries "$sheaf" no/sheaf
check "a_revision_beside_commands" 2 "ab: --with: goes with a revision, not with --binaries" "$ab" --with HEAD --binaries "$sheaf" "$sheaf"
check "a_workload_that_is_refused" 2 "ab: .* bench hash --log-n 21: exit code 2: sheaf bench hash: --log-n: 21 is not a number in 0..20" \
    "$ab" --binaries "$sheaf" "$sheaf" hash --log-n 21
printf '#!/bin/sh\necho hello\n' >talks
chmod +x talks
check "a_command_that_is_another" 2 "ab: .*talks bench hash: its output is not JSON" "$ab" --binaries ./talks "$sheaf" hash
printf 'no program\n' >text
chmod +x text
check "a_file_that_cannot_be_run" 2 "ab: .*/text bench hash: .*" "$ab" --binaries text "$sheaf" hash
check "a_folder" 2 "ab: \.: is no command" "$ab" --binaries . "$sheaf"
# shellcheck disable=SC2086
check "a_figure_that_there_is_not" 2 "ab: speed: is no positive number of this bench" "$ab" --figure speed --binaries "$sheaf" "$sheaf" hash --log-n 3 $least
check "kernels_against_something_else" 2 "ab: --second: kernels are compared with kernels only" \
    "$ab" --second kernels --binaries "$sheaf" "$sheaf" hash --log-n 3
check "its_usage" 0 "" "$ab" --help
says "its_usage_has_every_option" "--preset NAME"

# ---- revisions: of a project of the same shape whose command only prints ----
if command -v git >/dev/null && command -v cmake >/dev/null; then
    mkdir -p project/tools
    cp "$ab" project/tools/ab.sh
    cd project || exit 2
    git() { command git -c user.name=x -c user.email=x@example.org -c commit.gpgsign=false "$@"; }
    cat >CMakePresets.json <<'END'
{ "version": 6, "configurePresets": [{ "name": "native", "binaryDir": "${sourceDir}/unused" }] }
END
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(fake NONE)
configure_file(command.sh sheaf COPYONLY)
add_custom_target(sheaf)
END
    prints() { printf '#!/bin/sh\necho \x27{"isa": "none", "seconds_prove": %s, "stages": []}\x27\n' "$1" >command.sh; }
    prints 3
    chmod +x command.sh
    git init -q . && git add . && git commit -q -m first
    prints 2
    git commit -q -a -m second
    echo 'message(FATAL_ERROR "it does not build")' >CMakeLists.txt
    git commit -q -a -m broken
    git checkout -q HEAD~1 -- CMakeLists.txt
    prints 1
    before=$(git status --porcelain; git rev-parse HEAD)
    check "a_revision_against_the_working_tree" 0 "building .*" tools/ab.sh --pairs 1 HEAD~2
    says "is_built_apart" "pair 1: A 3.0000  B 1.0000  A/B 3.0000"
    says "and_named" "A: HEAD~2 ("
    check "two_revisions" 0 "building .*" tools/ab.sh --pairs 1 --with HEAD~1 HEAD~2
    says "are_built_apart" "pair 1: A 3.0000  B 2.0000  A/B 1.5000"
    check "what_is_built_is_built_once" 0 "" tools/ab.sh --pairs 1 --with HEAD~1 HEAD~2
    says "and_runs_again" "A/B 1.5000"
    check "a_build_that_fails" 2 ".*it does not build.*ab: HEAD: the build failed: .*/native.log" tools/ab.sh HEAD
    check "and_fails_again" 2 ".*ab: HEAD: the build failed: .*" tools/ab.sh HEAD
    check "an_unknown_revision" 2 "ab: nowhere: no such revision" tools/ab.sh nowhere
    check "an_unknown_second_revision" 2 "ab: nowhere: no such revision" tools/ab.sh --with nowhere HEAD~1
    holds "the_checkout_is_as_it_was" test "$(git status --porcelain | grep -v ' build/$'; git rev-parse HEAD)" = "$before"
    check "it_cleans_up" 0 "" tools/ab.sh --clean
    holds "all_of_it" test ! -e build/ab
    holds "also_for_git" test "$(git worktree list | wc -l)" = 1
else
    printf 'SKIP %s: revisions: git or cmake is missing\n' "$name"
fi
cd "$work" || exit 2
finish
