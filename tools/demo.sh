#!/bin/sh
# Shows what Sheaf does, on a machine that has nothing yet: sets up, builds, signs, aggregates, verifies natively, in Node.js and in
# a browser, and catches three lies.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     sh tools/demo.sh              all of it; where there is no Emscripten or no Chromium to be had it says so and goes on
#     sh tools/demo.sh --native     without WebAssembly: no Node.js, no browser
#
# Everything it makes is in build/. SIGNERS (64) is the number of signers.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
signers=${SIGNERS:-64}
start=$(date +%s)
web=1
case "${1-}" in
    '') ;;
    --native) web=0 ;;
    *) echo "usage: sh tools/demo.sh [--native]" >&2; exit 2 ;;
esac

if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold='' plain=''; fi
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
say() { printf '  %s\n' "$*"; }
die() { printf '\ndemo: %s\n' "$*" >&2; exit 1; }

title "1. Setting up and building"
say "Installing what is missing (a C compiler, CMake, a JSON library) and fetching BearSSL, for randomness ..."
mkdir -p build
bash tools/setup.sh >build/demo-setup.log 2>&1 || { tail -n 20 build/demo-setup.log >&2; die "the setup failed"; }
say "Compiling the library and the command ..."
if ! command -v make >/dev/null 2>&1; then CMAKE_GENERATOR=Ninja; export CMAKE_GENERATOR; fi
{
    cmake --preset native && cmake --build --preset native -j 2 --target sheaf test_lying_prover
} >build/demo-build.log 2>&1 || { tail -n 30 build/demo-build.log >&2; die "the build failed"; }
sheaf=$root/build/native/sheaf
liar=$root/build/native/tests/test_lying_prover
say "Built: $("$sheaf" --version)"

work=$root/build/demo
rm -rf "$work"
mkdir -p "$work"
cd "$work"

title "2. $signers people sign a message"
printf 'Block 42 is final.\n' >message.txt
say "The message: $(cat message.txt)"
say "Each makes a key of their own (16 signatures long) and signs for epoch 5. These keys are from the system's randomness."
i=0
while [ "$i" -lt "$signers" ]; do
    "$sheaf" keygen --epochs 0:16 -o "signer-$i.key" --quiet
    "$sheaf" sign --key "signer-$i.key" --epoch 5 --message-file message.txt -o "signer-$i.sig" --quiet
    i=$((i + 1))
done
say "One of them, signer 0:"
"$sheaf" pubkey signer-0.key | sed 's/^/    public key /'
"$sheaf" verify-signature signer-0.sig --message-file message.txt --quiet && say "  and the signature is good by itself: 1208 bytes."
say "A key never signs two messages in one epoch; it refuses:"
printf 'Block 42 is NOT final.\n' >other.txt
if "$sheaf" sign --key signer-0.key --epoch 5 --message-file other.txt -o no.sig 2>refused.txt; then die "it signed twice"; fi
sed 's/^/    /' refused.txt

title "3. One proof for all of them"
"$sheaf" pubkey signer-*.key -o keys.json
"$sheaf" collect signer-*.sig -o signatures.json | sed 's/^/  /'
"$sheaf" aggregate signatures.json -o attestation.sheaf | sed 's/^/  /'
say "The signatures are $((signers * 1208)) bytes and would be twice that for twice as many signers; the proof grows only by a"
say "step or so each time their number doubles."

title "4. Anyone verifies it, without the signatures"
"$sheaf" verify attestation.sheaf --keys keys.json --message-file message.txt --epoch 5 --quiet || die "the proof was not accepted"
say "ACCEPTED: exactly these $signers keys signed exactly this message for epoch 5."
# What each more of many copies adds: a process's start is not verification.
ms=$(python3 - "$sheaf" <<'END'
import subprocess, sys, time
def run(copies):
    begin = time.perf_counter()
    subprocess.run([sys.argv[1], "verify", "--quiet", *["attestation.sheaf"] * copies], check=True)
    return time.perf_counter() - begin
run(2)
print("%.1f" % ((run(41) - run(1)) / 40 * 1000))
END
)
say "It took $ms ms, natively, one thread."
"$sheaf" inspect attestation.sheaf | grep '^soundness' | sed 's/^/  /'

title "5. The same file, in Node.js and in a browser"
# Each of these leaves its log in build/; what cannot be had here leaves its part out.
wasm_there() {
    cd "$root"
    bash tools/setup.sh --wasm --js && cmake --preset wasm &&
        cmake --build --preset wasm -j 2 --target module_sheaf-verify module_sheaf module_sheaf-threads &&
        node tools/wasm-files.mjs
}
chromium_there() {
    cd "$root"
    NO_BUILD=1 SHEAF=$sheaf bash tools/test-browser.sh --setup
}
in_node() { # a file; prints the verdict and the median time of eleven
    node --input-type=module - "$1" "$root" <<'END'
import fs from "node:fs";
import { pathToFileURL } from "node:url";
const [file, root] = process.argv.slice(2);
const { createSheaf, parseKeys } = await import(pathToFileURL(`${root}/node/index.js`).href);
const { createHash } = await import("node:crypto");
const sheaf = createSheaf();
const expected = {
    epoch: 5,
    message: createHash("shake256", { outputLength: 32 }).update(fs.readFileSync("message.txt")).digest(),
    publicKeys: await parseKeys(fs.readFileSync("keys.json")),
};
const envelope = fs.readFileSync(file);
let accepted = await sheaf.verify(envelope, expected); // the first call loads the module
const times = [];
for (let i = 0; i < 11; i++) {
    const begin = performance.now();
    accepted = accepted && (await sheaf.verify(envelope, expected));
    times.push(performance.now() - begin);
}
const ms = times.sort((a, b) => a - b)[5].toFixed(1);
const { check } = accepted ? { check: null } : await sheaf.inspect(envelope, { expected });
console.log(accepted ? `ACCEPTED in Node.js ${process.version}, in ${ms} ms.` : `REFUSED in Node.js: the check ${check} failed.`);
process.exitCode = accepted ? 0 : 1;
END
}
in_browser() { # a file; prints what the page says
    (cd "$root" && node tests/js/browser/verify.mjs "$work/$1" --keys "$work/keys.json" --epoch 5 --message "$message" --times 11)
}
# A verifier must end with the code that is right.
run_as() { # code, command...
    want=$1 code=0
    shift
    "$@" >said.txt 2>&1 || code=$?
    sed 's/^/  /' said.txt
    [ "$code" = "$want" ] || die "$1 ended with $code, not $want"
}

why() { grep -i error "$root/build/$1" | tail -n 1; } # a log's last complaint
node=0 browser=0
if [ "$web" = 1 ]; then
    say "Bringing Emscripten and Node.js and compiling the same C code to WebAssembly ..."
    if (wasm_there) >"$root/build/demo-wasm.log" 2>&1; then
        node=1
        say "The verifier is $(wc -c <"$root/web/wasm/sheaf-verify.wasm") bytes of WebAssembly."
        say "Bringing Chromium, a browser without a window here ..."
        if (chromium_there) >"$root/build/demo-chromium.log" 2>&1; then browser=1; fi
    fi
else
    say "Left out, as --native asks."
fi
message=$(python3 -c 'import hashlib; print("0x" + hashlib.shake_256(open("message.txt", "rb").read()).hexdigest(32))')
if [ "$node" = 1 ]; then
    run_as 0 in_node attestation.sheaf
elif [ "$web" = 1 ]; then
    say "The WebAssembly modules cannot be built on this machine: $(why demo-wasm.log)"
    say "So this goes on without Node.js and a browser."
fi
if [ "$browser" = 1 ]; then
    run_as 0 in_browser attestation.sheaf
elif [ "$node" = 1 ]; then
    say "No Chromium can be had on this machine: $(why demo-chromium.log)"
    say "So this goes on without a browser. By hand: node tools/serve.mjs, and open the address that it prints in any browser."
fi

title "6. Three lies"
# The command must reject, with exit code 1, and say why.
lie() { # what is wrong, arguments of verify
    say "$1"
    shift
    code=0
    "$sheaf" verify "$@" --quiet 2>lie.txt || code=$?
    [ "$code" = 1 ] || die "the lie was not rejected (exit code $code): $(cat lie.txt)"
    sed 's/^/    REFUSED: /' lie.txt
}

say "Lie one, a swapped key. Mallory puts her key into the file in the place of signer 0's."
"$sheaf" keygen --epochs 0:16 -o mallory.key --quiet
python3 - "$("$sheaf" pubkey mallory.key)" <<'END'
import sys
file = bytearray(open("attestation.sheaf", "rb").read())
file[56:88] = bytes.fromhex(sys.argv[1][2:])  # after the header come the keys, 32 bytes each
open("swapped.sheaf", "wb").write(file)
END
lie "The proof was made for another list of keys:" swapped.sheaf --message-file message.txt --epoch 5

say "Lie two, another message. The same proof, the message in the file replaced by the other text's."
python3 - <<'END'
import hashlib
file = bytearray(open("attestation.sheaf", "rb").read())
file[24:56] = hashlib.shake_256(open("other.txt", "rb").read()).digest(32)
open("message.sheaf", "wb").write(file)
END
lie "The proof was made for another message:" message.sheaf --keys keys.json --message-file other.txt --epoch 5

say "Lie three, a lying prover. It has no signature of the last signer, makes one up that looks right in all but the"
say "secret, computes everything else honestly and proves that all $signers signed."
"$sheaf" collect signer-*.sig --binary -o signatures.sigs --quiet
"$liar" --write signatures.sigs forged.sheaf || die "the liar could not make its proof"
lie "The proof has the right form and size, and is wrong:" forged.sheaf --keys keys.json --message-file message.txt --epoch 5
[ "$node" = 0 ] || run_as 1 in_node forged.sheaf
[ "$browser" = 0 ] || run_as 1 in_browser forged.sheaf

title "Done in $(($(date +%s) - start)) seconds."
say "The files are in build/demo. Next: build/native/sheaf --help"
[ "$node" = 0 ] || say "The page itself, to make and check proofs: node tools/serve.mjs"
