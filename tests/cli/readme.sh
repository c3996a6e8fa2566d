#!/usr/bin/env bash
# The README says what is so: its example compiles against an installed copy and runs, its commands work, its links lead somewhere.
# SPDX-License-Identifier: MIT OR Apache-2.0
name=cli_readme
. "$(dirname "$0")/../support/cli.sh"
build=$(dirname "$sheaf")

# ---- the example in C, by pkg-config, as a stranger would ----
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" >example.c
holds "there_is_an_example" grep -q sheaf_aggregate example.c
flags=
if grep -q '^SHEAF_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then flags="-fsanitize=address,undefined"; fi
check "the_build_installs" 0 ".*" cmake --install "$build" --prefix "$work/prefix"
pc=$(dirname "$(find "$work/prefix" -name sheaf.pc)")
# shellcheck disable=SC2046,SC2086
check "the_example_compiles" 0 "" cc -std=c17 -Wall -Wextra -Werror $flags example.c -o example \
    $(PKG_CONFIG_PATH=$pc pkg-config --define-variable=prefix="$work/prefix" --cflags --libs sheaf)
check "the_example_runs" 0 "" ./example
says "the_example_accepts" "accepted: "
check "the_example_never_overwrites_a_key" 1 ".*alice.key.*" ./example

# ---- the commands ----
rm -f alice.* bob.*
sheaf() { "$sheaf" "$@"; }
grep -E '^(sheaf|echo) ' "$root/README.md" | sed 's/ *#.*//; s/0:1024/0:16/' >commands
holds "there_are_commands" test "$(grep -c '^sheaf ' commands)" = 8
while read -r line; do
    check "$line" 0 "" eval "$line"
done <commands

# ---- the links ----
for document in README.md ARCHITECTURE.md SECURITY.md; do
    missing=$(grep -o '](\([^):]*\))' "$root/$document" | sed 's/](\(.*\))/\1/; s/#.*//' | sort -u | while read -r link; do
        [ -z "$link" ] || [ -e "$root/$link" ] || echo "$link"
    done)
    holds "the_links_of_${document}_lead_somewhere: $missing" test -z "$missing"
done
verbs=$("$sheaf" --help | sed -n 's/^  \([a-z][a-z-]*\( [a-z]*\)\{0,1\}\)  .*/\1/p')
missing=$(while read -r verb; do grep -qF "\`$verb\`" "$root/README.md" || echo "$verb"; done <<<"$verbs")
holds "every_verb_is_in_the_readme: $missing" test -z "$missing"
finish
