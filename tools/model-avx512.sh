#!/bin/sh
# What llvm-mca's models of processors say of the AVX-512 kernels, as a table.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     sh tools/model-avx512.sh [--avx2] [BUILD]
#
# A model, no measurement (docs/benchmarks/avx512-model.md). Takes the inner loops out of the objects of a build (by
# default build/native); --avx2 those of the AVX2 back end instead, for Zen 3, to hold the model against
# `sheaf bench kernels`. LLVM_MCA names the program, CPUS the processors.
set -eu
here=$(dirname "$0")/..
avx2=''
if [ "${1:-}" = --avx2 ]; then
    avx2=1
    shift
fi
case ${1:-} in
-*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
objects=${1:-$here/build/native}/CMakeFiles/sheaf_simd_objects.dir/src/native_simd/x86_64
mca=${LLVM_MCA:-$(command -v llvm-mca-19 || command -v llvm-mca || true)}
[ -n "$mca" ] || { echo "tools/model-avx512.sh: llvm-mca is not installed (Debian: llvm-19)" >&2; exit 1; }
[ -d "$objects" ] || { echo "tools/model-avx512.sh: $objects: no such folder: build first" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# File, function, what of it, what an element is, elements a block. What of it:
#   loops[:n,n,...]  every inner loop once, or so many times
#   largest          the largest inner loop
#   nest:n           the inner loop n times and what follows it in the outer one
#   whole            all of it
rows_avx512='kernels bitmap_accumulate loops byte 128
kernels bitmap_sum nest:2 byte/3 256
kernels bitmap_finish whole element 64
kernels evec_mul loops product 8
kernels evec_mul_plus loops product 8
kernels evec_scale_add_k loops product 8
kernels evec_fold loops fold 8
kernels evec_fold4 loops fold 8
kernels evec_dot loops term 8
kernels evec_dot8 loops:1,1,1,2,2,1 term 8
kernels ntt_butterfly loops butterfly 8
kernels ntt_butterfly4 loops butterfly 32
kernels ntt_steps largest butterfly 96
kernels ntt_block largest butterfly 80
kernels bits_transpose8 whole 8x8-bits 64
bits bits_sliced_linear_avx512 whole state 8
bits bits_sliced_chi_avx512 whole state 8
keccak keccak_f1600_x8_avx512 loops two-rounds 8'
rows_avx2='kernels_avx2 bitmap_accumulate largest byte 16
kernels_vpclmul evec_mul loops product 4
kernels_vpclmul evec_mul_plus loops product 4
kernels_vpclmul evec_scale_add_k loops product 4
kernels_vpclmul evec_fold loops fold 4
kernels_vpclmul evec_fold4 loops fold 4
kernels_vpclmul evec_dot loops term 4
kernels_vpclmul evec_dot8 loops:1,1,1,2,2,1,0 term 4
kernels_vpclmul ntt_butterfly loops butterfly 4
kernels_vpclmul ntt_butterfly4 loops butterfly 16
kernels_avx2 bits_transpose8 whole 8x8-bits 64
keccak_avx2 keccak_f1600_x8_avx2 largest two-rounds 4'
if [ -n "$avx2" ]; then
    rows=$rows_avx2 suffix='' cpus=${CPUS:-znver3}
else
    rows=$rows_avx512 suffix=_avx512 cpus=${CPUS:-sapphirerapids icelake-server znver4}
fi

# A function's disassembly to one file of assembly; nothing where it is not made as expected.
cat >"$tmp/cut.awk" <<'AWK'
function put(from, to, times,   t, i) {
    for (t = 0; t < times; t++)
        for (i = from; i <= to; i++)
            if (text[i] !~ /^(nop|data16|cs nop|ret|leave|endbr64|vzeroupper)/) print text[i]
}
/^ *[0-9a-f]+:\t/ {
    split($0, field, "\t")
    address = field[1]
    gsub(/[ :]/, "", address)
    line = field[2]
    sub(/ *#.*/, "", line)
    to = ""
    if (match(line, /[0-9a-f]+ <[^>]*>/)) {
        to = substr(line, RSTART)
        sub(/ .*/, "", to)
        line = substr(line, 1, RSTART - 1) "0x" to
    }
    at[address] = ++n
    text[n] = line
    target[n] = line ~ /^j/ ? to : ""
}
END {
    for (i = 1; i <= n; i++)
        if (target[i] != "" && text[i] !~ /^jmp/ && target[i] in at && at[target[i]] <= i) {
            first[++loops] = at[target[i]]
            last[loops] = i
        }
    for (l = 1; l <= loops; l++) {
        inner = 1
        for (k = 1; k <= loops; k++)
            if (k != l && first[k] >= first[l] && last[k] <= last[l]) inner = 0
        if (inner) in_order[++count] = l
    }
    for (l = 1; l <= count; l++)
        if (!best || last[in_order[l]] - first[in_order[l]] > last[best] - first[best]) best = in_order[l]
    split(what, word, ":")
    if (word[1] == "whole" && !loops) put(1, n, 1)
    if (word[1] == "largest" && best) put(first[best], last[best], 1)
    if (word[1] == "loops") {
        given = split(word[2], times, ",")
        if (given && given != count) exit
        for (l = 1; l <= count; l++) put(first[in_order[l]], last[in_order[l]], given ? times[l] : 1)
    }
    if (word[1] == "nest" && best) { # the next jump forward leaves out the odd element
        for (l = 1; l <= loops; l++)
            if (first[l] < first[best] && last[l] > last[best] && (!outer || last[l] < last[outer])) outer = l
        for (i = last[best] + 1; outer && i <= last[outer]; i++)
            if (target[i] != "" && at[target[i]] > i) {
                put(first[best], last[best], word[2])
                put(at[target[i]], last[outer], 1)
                exit
            }
    }
}
AWK

printf '| kernel | an element |'
for cpu in $cpus; do printf ' %s | busiest |' "$cpu"; done
printf '\n|---|---|'
for cpu in $cpus; do printf -- '---|---|'; done
printf '\n'
echo "$rows" | while read -r file function what unit elements; do
    objdump -d --no-show-raw-insn --disassemble="$function" "$objects/$file$suffix.c.o" |
        awk -v what="$what" -f "$tmp/cut.awk" >"$tmp/block.s"
    printf '| %s | %s |' "$function" "$unit"
    for cpu in $cpus; do
        if [ ! -s "$tmp/block.s" ]; then
            printf ' | |' # compiled to something else
            continue
        fi
        "$mca" -mtriple=x86_64 -mcpu="$cpu" -iterations=200 "$tmp/block.s" 2>/dev/null | awk -v elements="$elements" '
            /^Total Cycles:/ { cycles = $3 / 200 }
            /^\[[0-9.]+\] +- / { name[$1] = $3 }
            /^Resource pressure per iteration:/ { getline; order = split($0, place, " "); getline; split($0, pressure, " ") }
            END {
                for (i = 1; i <= order; i++) # several pipes of one name: their most
                    if (pressure[i] + 0 > most) { most = pressure[i] + 0; which = name[place[i]] }
                printf " %.3g | %s %d%% |", cycles / elements, which, 100 * most / cycles
            }'
    done
    printf '\n'
done
