#!/bin/sh
# Writes an aggregate of N signers that anyone can make again.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tools/make-example.sh N FILE      e.g. tools/make-example.sh 1024 build/example-1024.sheaf
#
# Signer i's secret is SHAKE256("sheaf example signer" || i as 8 bytes), the epoch is 7, the message
# SHAKE256("sheaf example message"). The same N gives the same bytes on every machine. SHEAF names the command (default: the
# native build's, built first where it is missing).
set -eu

if [ "$#" != 2 ]; then
    echo "usage: tools/make-example.sh N FILE" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
sheaf=${SHEAF:-$root/build/native/sheaf}
if [ ! -x "$sheaf" ] && [ -z "${SHEAF:-}" ]; then
    (
        cd "$root"
        bash tools/setup.sh
        cmake --preset native && cmake --build --preset native --target sheaf
    ) >&2
fi
"$sheaf" bench aggregate --signers "$1" --repeats 1 --warmup 0 --quiet --output "$2"
"$sheaf" verify "$2" --quiet --epoch 7
echo "$2: an aggregate of $1 signers"
