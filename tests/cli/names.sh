#!/usr/bin/env bash
# Names of files: what they may do to a terminal, to JSON, and to a key.  SPDX-License-Identifier: MIT OR Apache-2.0
name=cli_names
. "$(dirname "$0")/../support/cli.sh"

"$sheaf" keygen --epochs 7:1 --seed "$(printf '%064x' 1)" -o v.key -q
printf hello >m
"$sheaf" sign --key v.key --epoch 7 --message-file m -o v.sig -q

# ---- control characters and what is no UTF-8: shown as \xNN, in JSON as \uNNNN or the replacement character ----
shown() { # claim, name, how it is shown, how Python has it in JSON
    cp v.sig "$2"
    check "${1}_on_standard_output" 0 "" "$sheaf" verify-signature "$2"
    says "${1}_is_shown_escaped" "$3: a valid signature"
    check "${1}_as_an_output" 0 "" "$sheaf" collect v.sig -o "$2"
    says "${1}_is_shown_escaped_as_an_output" "$3: 1 signatures"
    check "${1}_in_json" 0 "" "$sheaf" verify-signature "$2" --json
    json_holds "${1}_is_valid_json" .out "j['files'][0]['file'] == $4"
    rm "$2"
    check "${1}_on_standard_error" 2 '.*' "$sheaf" verify-signature "$2"
    case "$err" in *"$3"*) pass ;; *) fail "${1}_is_shown_escaped_in_an_error" "it says: $err" ;; esac
    holds "${1}_is_one_line" test "$(wc -l <.err)" = 1
    holds "${1}_leaves_no_control_byte" test -z "$(LC_ALL=C tr -d '\n\040-\176' <.err)"
}
shown an_escape $'a\e[31mb' 'a\x1b[31mb' '"a\x1b[31mb"'
shown a_line_end $'a\nb' 'a\x0ab' '"a\nb"'
shown a_delete $'a\x7fb' 'a\x7fb' '"a\x7fb"'
shown a_c1_control $'a\xc2\x9bb' 'a\xc2\x9bb' '"a\x9bb"'
shown the_first_c1_control $'a\xc2\x80' 'a\xc2\x80' '"a\x80"'
shown a_bare_c1_byte $'a\x9bb' 'a\x9bb' '"a\ufffdb"'
shown a_latin_1_name $'caf\xe9' 'caf\xe9' '"caf\ufffd"'
shown an_overlong_name $'a\xc0\xafb' 'a\xc0\xafb' '"a\ufffd\ufffdb"'
shown a_surrogate $'a\xed\xa0\x80' 'a\xed\xa0\x80' '"a\ufffd\ufffd\ufffd"'
shown past_the_last_character $'a\xf4\x90\x80\x80' 'a\xf4\x90\x80\x80' '"a\ufffd\ufffd\ufffd\ufffd"'
for good in $'caf\xc3\xa9' $'\xe2\x82\xac' $'\xf0\x9f\x8c\xbe' $'a\xc2\xa0b' 'a"b\c'; do
    cp v.sig "$good"
    check "utf8_is_read" 0 "" "$sheaf" verify-signature "$good"
    says "utf8_is_shown_as_it_is" "$good: a valid signature"
    check "utf8_in_json" 0 "" "$sheaf" verify-signature "$good" --json
    json_holds "utf8_is_the_same_in_json" .out "j['files'][0]['file'].encode() == bytes.fromhex('$(printf %s "$good" | od -An -tx1 | tr -d ' \n')')"
done
check "an_option_is_escaped" 2 '.*x1b.*' "$sheaf" verify --$'\e'x
check "a_verb_is_escaped" 2 '.*x1b.*' "$sheaf" $'\e'x

# ---- where a failure names the file itself: once, and shown in the same way ----
odd=$'a\e[31m\nb\x9b'
is='a\\x1b\[31m\\x0ab\\x9b'
mkdir "$odd"
check "an_odd_name_that_cannot_be_opened" 2 "sheaf inspect: cannot open $is/x: No such file or directory" "$sheaf" inspect "$odd/x"
check "an_odd_name_that_cannot_be_read" 2 "sheaf verify: cannot read $is: Is a directory" "$sheaf" verify "$odd"
check "an_odd_name_that_cannot_be_written" 2 "sheaf collect: cannot write $is: Is a directory" "$sheaf" collect v.sig -o "$odd"
check "an_odd_name_of_no_key" 2 "sheaf key-status: the key file cannot be opened: No such file or directory: $is/k" "$sheaf" key-status "$odd/k"
cp v.sig "$odd/v"
check "an_odd_name_of_another_file" 2 "sheaf pubkey: this is not a key: $is/v" "$sheaf" pubkey "$odd/v"
check "an_odd_name_of_a_key_that_is_there" 2 "sheaf keygen: there is a file already, and a key is never overwritten: $is/v" "$sheaf" keygen --epochs 0:1 -o "$odd/v"
check "an_odd_name_with_a_field" 2 "sheaf verify: $is/v: magic: .*" "$sheaf" verify "$odd/v"
many=$(printf '\e%.0s' {1..60})
check "a_name_of_many_control_characters" 2 "sheaf inspect: .*cannot open .*: No such file or directory" "$sheaf" inspect "$many"
rm -r "$odd"

# ---- an output never takes the place of a key or a journal ----
cp v.key key.copy
cp v.key.journal journal.copy
ln -s v.key link.to.key
ln v.key second.name
for output in v.key v.key.journal link.to.key second.name; do
    refusal="sheaf [a-z ]+: $output: is a key or a key's journal, which is never overwritten"
    check "sign_keeps_$output" 2 "$refusal" "$sheaf" sign --key v.key --epoch 7 --message-file m -o "$output"
    check "pubkey_keeps_$output" 2 "$refusal" "$sheaf" pubkey v.key -o "$output"
    check "collect_keeps_$output" 2 "$refusal" "$sheaf" collect v.sig -o "$output"
    check "aggregate_keeps_$output" 2 "$refusal" "$sheaf" aggregate v.sig -o "$output"
    check "hash_prove_keeps_$output" 2 "$refusal" "$sheaf" hash prove --log-n 1 -o "$output"
done
holds "the_key_is_whole" cmp v.key key.copy
holds "the_journal_is_whole" cmp v.key.journal journal.copy
printf 'SHEAFKE' >near
check "another_file_is_replaced" 0 "" "$sheaf" collect v.sig -o near -q
holds "by_the_output" grep -q leanXMSS near
printf 'mine' >w.key.journal
check "keygen_keeps_a_file_that_is_no_journal" 2 "sheaf keygen: .*no journal.*w.key.journal" "$sheaf" keygen --epochs 0:1 -o w.key
holds "which_is_whole" test "$(cat w.key.journal)" = mine
: >w.key.journal
check "keygen_replaces_an_empty_journal" 0 "" "$sheaf" keygen --epochs 0:1 -o w.key -q

# ---- the cap on vector instructions ----
for isa in avx3 AVX2 'avx2 ' 1; do
    check "sheaf_isa_${isa}_is_refused" 2 "sheaf verify-signature: SHEAF_ISA: $isa is none of portable, avx2, avx512, neon" \
        env SHEAF_ISA="$isa" "$sheaf" verify-signature v.sig
done
for isa in '' portable avx2 avx512 neon; do
    check "sheaf_isa_${isa}_is_taken" 0 "" env SHEAF_ISA="$isa" "$sheaf" verify-signature v.sig
done
check "sheaf_isa_is_refused_by_every_verb" 2 "sheaf hash prove: SHEAF_ISA: x.*" env SHEAF_ISA=x "$sheaf" hash prove --log-n 1 -o h

# ---- the process's limit of a file's size ----
mkdir full
limited() { (ulimit -f 1 && "$@"); } # 1024 bytes; the signal is not ignored here
check "a_limit_of_size_is_an_error" 2 "sheaf collect: .*File too large.*" limited "$sheaf" collect v.sig -o full/x
check "keygen_says_so_too" 2 "sheaf keygen: .*File too large.*" limited "$sheaf" keygen --epochs 0:64 -o full/k.key
holds "and_no_temporary_file_is_left" test -z "$(find full -type f ! -name '*.journal')"
finish
