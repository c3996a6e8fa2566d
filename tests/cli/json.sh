#!/usr/bin/env bash
# Files of signatures and keys are read strictly: what is wrong is named by file, field and index.
# SPDX-License-Identifier: MIT OR Apache-2.0
name=cli_json
. "$(dirname "$0")/../support/cli.sh"

# A list of two signatures with made-up values: the format is what is tested, collect verifies nothing.
cat >make.py <<'END'
import json, sys
entry = lambda b: {"publicKey": "0x" + b * 32, "signature": "0x" + b * 1208}
base = {"scheme": "leanXMSS", "epoch": 9, "message": "0x" + "ab" * 32, "signatures": [entry("11"), entry("22")]}
single = {"scheme": "leanXMSS", "epoch": 9, "message": "0x" + "ab" * 32, **entry("11")}
keys = {"scheme": "leanXMSS", "publicKeys": ["0x" + "11" * 32, "0x" + "22" * 32]}
j, s, k = (json.loads(json.dumps(v)) for v in (base, single, keys))
exec(sys.argv[1])
END
list() { python3 make.py "$1; print(json.dumps(j))" >in.json; }      # the list, changed by a line of Python
single() { python3 make.py "$1; print(json.dumps(s))" >in.json; }    # the single signature
keys() { python3 make.py "$1; print(json.dumps(k))" >in.json; }      # the keys
text() { python3 make.py "print($1, end='')" >in.json; }             # any text
# The list that the change makes is refused with this after the file's name.
refused() { # claim, change, pattern
    list "$2"
    check "$1" 2 "sheaf collect: in.json: $3" "$sheaf" collect in.json -o out.json
}

list pass
check "a_strict_list_is_read" 0 "" "$sheaf" collect in.json -o out.json
cp out.json good.json
list "j['signatures'][1]['publicKey'] = '0x' + '22' * 32; j = dict(reversed(list(j.items())))"
check "fields_may_have_any_order" 0 "" "$sheaf" collect in.json -o out.json
holds "and_mean_the_same" cmp out.json good.json
list "j['message'] = '0x' + 'AB' * 32"
check "hex_may_be_upper_case" 0 "" "$sheaf" collect in.json -o out.json
holds "and_is_written_in_lower_case" cmp out.json good.json
text "json.dumps(j, indent=7) + '\n\n  '"
check "white_space_is_free" 0 "" "$sheaf" collect in.json -o out.json

refused "an_unknown_field_is_named" "j['extra'] = 1" "extra: unknown field"
refused "fields_differ_by_case" "j['Epoch'] = j.pop('epoch')" "Epoch: unknown field"
refused "an_unknown_field_of_an_entry_is_named" "j['signatures'][1]['key'] = 1" "signatures\[1\].key: unknown field"
refused "a_missing_field_is_named" "del j['message']" "message: missing"
refused "a_missing_field_of_an_entry_is_named" "del j['signatures'][0]['signature']" "signatures\[0\].signature: missing"
text "json.dumps(j)[:-1] + ', \"epoch\": 9}'"
check "a_field_given_twice_is_named" 2 "sheaf collect: in.json: epoch: given twice" "$sheaf" collect in.json -o out.json
text "json.dumps(j).replace('\"publicKey\"', '\"publicKey\": \"0x\", \"publicKey\"')"
check "a_field_of_an_entry_given_twice_is_named" 2 "sheaf collect: in.json: signatures\[0\].publicKey: given twice" \
    "$sheaf" collect in.json -o out.json
refused "the_scheme_is_checked" "j['scheme'] = 'leanxmss'" "scheme: not leanXMSS"
refused "the_scheme_is_a_string" "j['scheme'] = 1" "scheme: not a string"
refused "an_epoch_is_a_number" "j['epoch'] = '9'" "epoch: not a number"
refused "an_epoch_is_an_integer" "j['epoch'] = 9.5" "epoch: not an integer in 0..4294967295"
refused "an_epoch_is_not_negative" "j['epoch'] = -1" "epoch: not an integer in 0..4294967295"
refused "an_epoch_is_below_2_to_32" "j['epoch'] = 2**32" "epoch: not an integer in 0..4294967295"
refused "an_epoch_is_not_huge" "j['epoch'] = 10**300" "epoch: not an integer in 0..4294967295"
refused "an_epoch_is_not_null" "j['epoch'] = None" "epoch: not a number"
refused "a_message_is_a_string" "j['message'] = [1]" "message: not a string"
refused "hex_needs_its_prefix" "j['message'] = 'ab' * 33" "message: does not begin with 0x"
refused "odd_hex_is_refused" "j['message'] = '0x' + 'ab' * 31 + 'a'" "message: 63 hex digits, 64 are needed \(32 bytes\)"
refused "long_hex_is_refused" "j['message'] += '00'" "message: 66 hex digits, 64 are needed \(32 bytes\)"
refused "what_is_no_hex_digit_is_refused" "j['message'] = '0x' + 'ag' * 32" "message: not hex digits"
refused "an_empty_string_is_refused" "j['message'] = ''" "message: does not begin with 0x"
refused "a_short_key_is_named_by_index" "j['signatures'][1]['publicKey'] = '0x11'" \
    "signatures\[1\].publicKey: 2 hex digits, 64 are needed \(32 bytes\)"
refused "a_short_signature_is_named_by_index" "j['signatures'][1]['signature'] = '0x' + '11' * 1207" \
    "signatures\[1\].signature: 2414 hex digits, 2416 are needed \(1208 bytes\)"
refused "signatures_are_an_array" "j['signatures'] = {}" "signatures: not an array"
refused "a_list_is_not_empty" "j['signatures'] = []" "signatures: 0 entries, 1..65536 can be"
refused "a_list_has_at_most_65536_entries" "j['signatures'] = [{}] * 65537" "signatures: 65537 entries, 1..65536 can be"
refused "an_entry_is_an_object" "j['signatures'][1] = 7" "signatures\[1\]: not an object"
list "j['signatures'][1]['publicKey'] = '0x' + '11' * 32"
check "a_key_twice_is_named_by_both_indices" 2 "sheaf collect: in.json: signature 1 has the public key of signature 0 in in.json" \
    "$sheaf" collect in.json -o out.json
single "s['publicKey'] = '0x' + '22' * 32"
check "a_key_twice_is_named_by_both_files" 2 "sheaf collect: in.json: signature 0 has the public key of signature 1 in good.json" \
    "$sheaf" collect good.json in.json -o out.json

text "'[]'"
check "the_whole_is_an_object" 2 "sheaf collect: in.json: not an object" "$sheaf" collect in.json -o out.json
text "''"
check "an_empty_file_is_no_json" 2 "sheaf collect: in.json: not JSON: line 1 is not understood" "$sheaf" collect in.json -o out.json
text "json.dumps(j) + '{}'"
check "text_after_the_end_is_refused" 2 "sheaf collect: in.json: not JSON: line 1 .*" "$sheaf" collect in.json -o out.json
text "json.dumps(j, indent=1)[:-1]"
check "text_that_ends_early_is_refused_by_line" 2 "sheaf collect: in.json: not JSON: line [0-9]+ is not understood" \
    "$sheaf" collect in.json -o out.json
text "'[' * 100000"
check "deep_nesting_is_refused" 2 "sheaf collect: in.json: not JSON: .*" "$sheaf" collect in.json -o out.json
text "json.dumps(j) + chr(0)"
check "a_zero_byte_is_refused" 2 "sheaf collect: in.json: not JSON: it holds a zero character" "$sheaf" collect in.json -o out.json
list "j['message'] += chr(0) + 'more'"
check "an_escaped_zero_is_refused" 2 "sheaf collect: in.json: not JSON: it holds a zero character" "$sheaf" collect in.json -o out.json
refused "a_line_stays_one_line" "j['a' + chr(10) + 'b' + chr(27)] = 1" "a\\\\x0ab\\\\x1b: unknown field"

# ---- text that is nearly JSON ----
number() { # claim, the epoch's text, pattern
    text "json.dumps(j).replace('9,', '$2,', 1)"
    check "$1" 2 "sheaf collect: in.json: $3" "$sheaf" collect in.json -o out.json
}
for n in 07 00007 -07 7. .7 +7 7.e1 7e 7e+ - 0x7 1_0; do
    number "an_epoch_${n}_is_no_json" "$n" "not JSON: line 1.*"
done
number "a_bad_number_is_named_by_its_place" 007 "not JSON: line 1, column 33: a number as JSON has none"
for n in 7.0 7e0 70e-1 7.00000000000000000001 0.7e1 -0; do
    number "an_epoch_${n}_is_not_digits_alone" "$n" "epoch: not digits alone"
done
text "json.dumps(j).replace('9,', '0,', 1)"
check "an_epoch_is_zero" 0 "" "$sheaf" collect in.json -o out.json
text "json.dumps(j).replace('9,', '4294967295,', 1)"
check "an_epoch_is_the_last" 0 "" "$sheaf" collect in.json -o out.json
for byte in 1 8 11 12 27 31 127; do
    text "json.dumps(j, indent=1).replace('\n', '\n' + chr($byte), 1)"
    check "byte_${byte}_is_no_white_space" 2 "sheaf collect: in.json: not JSON: line 2, column 1: a byte that JSON has not .*" \
        "$sheaf" collect in.json -o out.json
    text "json.dumps(j) + chr($byte)"
    check "byte_${byte}_is_no_white_space_at_the_end" 2 "sheaf collect: in.json: not JSON: line 1, column .*" \
        "$sheaf" collect in.json -o out.json
done
text "json.dumps(j).replace('leanXMSS', 'lean' + chr(10) + 'XMSS')"
check "a_line_end_in_a_string_is_refused" 2 "sheaf collect: in.json: not JSON: line 1, column .*: a control byte in a string" \
    "$sheaf" collect in.json -o out.json
text "json.dumps(j).replace('leanXMSS', 'lean' + chr(92))"
check "a_string_without_an_end_is_refused" 2 "sheaf collect: in.json: not JSON: line 1.*" "$sheaf" collect in.json -o out.json
text "json.dumps(j, indent='\t').replace('\n', '\r\n')"
check "tabs_and_carriage_returns_are_white_space" 0 "" "$sheaf" collect in.json -o out.json
python3 -c "import sys; sys.stdout.buffer.write(b'\xef\xbb\xbf' + open('good.json', 'rb').read())" >in.json
check "a_byte_order_mark_is_refused" 2 "sheaf collect: in.json: not JSON: it begins with a byte order mark" \
    "$sheaf" collect in.json -o out.json

single pass
check "a_single_signature_is_read" 0 "" "$sheaf" collect in.json -o out.json
single "s['signature'] = '0x'"
check "a_single_signature_names_its_field" 2 "sheaf collect: in.json: signature: 0 hex digits, 2416 are needed \(1208 bytes\)" \
    "$sheaf" collect in.json -o out.json
single "del s['publicKey']"
check "a_single_signature_misses_nothing" 2 "sheaf collect: in.json: publicKey: missing" "$sheaf" collect in.json -o out.json

# ---- keys.json, as verify reads it before any proof ----
keys_refused() { # claim, change, pattern
    keys "$2"
    check "$1" 2 "sheaf verify: $3" "$sheaf" verify none.sheaf --keys in.json
}
keys_refused "keys_are_read_first" "pass" "cannot open none.sheaf: No such file or directory"
keys_refused "keys_are_an_array" "k['publicKeys'] = 1" "in.json: publicKeys: not an array"
keys_refused "keys_are_some" "k['publicKeys'] = []" "in.json: publicKeys: 0 entries, 1..65536 can be"
keys_refused "a_bad_key_is_named_by_index" "k['publicKeys'][1] = '0x22'" "in.json: publicKeys\[1\]: 2 hex digits.*"
keys_refused "a_key_is_a_string" "k['publicKeys'][0] = 22" "in.json: publicKeys\[0\]: not a string"
keys_refused "a_key_twice_is_named_by_both_indices_here_too" "k['publicKeys'].append(k['publicKeys'][0])" \
    "in.json: public keys 0 and 2 are the same"
keys_refused "keys_need_their_scheme" "del k['scheme']" "in.json: scheme: missing"
keys_refused "keys_have_no_other_field" "k['epoch'] = 1" "in.json: epoch: unknown field"

# ---- the binary list ----
"$sheaf" collect good.json --binary -o good.sigs -q
binary() { # claim, change of the bytes b, pattern
    python3 -c "b = bytearray(open('good.sigs', 'rb').read()); exec('''$2'''); open('in.sigs', 'wb').write(b)"
    check "$1" 2 "sheaf collect: in.sigs: $3" "$sheaf" collect in.sigs -o out.json
}
binary "the_version_is_checked" "b[8] = 2" "version: 2, this build reads version 1"
binary "the_scheme_number_is_checked" "b[10] = 9" "scheme: 9 is not known"
binary "a_count_of_zero_is_refused" "b[12:16] = bytes(4)" "count: 0 is not in 1..65536"
binary "a_huge_count_is_refused" "b[12:16] = b'\\\\xff' * 4" "count: 4294967295 is not in 1..65536"
binary "a_count_past_the_end_is_refused" "b[12] = 3" "entries: cut short, 2480 of 3720 bytes"
binary "bytes_left_over_are_refused" "b += bytes(1)" "end: 1 bytes are left over"
binary "reserved_bytes_are_zero" "b[23] = 1" "reserved: .*"
binary "a_short_header_is_refused" "del b[55:]" "header: cut short, 55 of 56 bytes"
binary "another_magic_is_no_binary_list" "b[0] = 0" "not JSON: .*"
finish
