#!/usr/bin/env python3
# Changed proofs for tests/cli/reference_verifier.sh.  SPDX-License-Identifier: MIT OR Apache-2.0
"""Changes honest envelopes of at most eight slots, one part of the proof or statement each.

    python3 changes.py hash_batch.sheaf aggregate.sheaf

Writes NAME-CHANGE.sheaf beside each, and prints for each a line `FILE VERDICT`: the verdict that it should get.
The parts' offsets follow from docs/protocol.md 7 and 8.
"""
import sys
from pathlib import Path

from verifier import HASH_BATCH, read_parameters

M = 3  # eight slots


def flip(at, bit=0):
    def change(b):
        b[at] ^= 1 << bit

    return change


def put(at, value):
    def change(b):
        b[at] = value

    return change


def proof_changes(kappa, j, v_out, levels):
    """Two lists of (name, change of the proof's bytes, verdict), the second for aggregates alone: header at 0, root at 8,
    multiplicities at 40, root of the grand product at 96; v_out is the offset of that element."""
    layer_22 = v_out + 24 + 48 * M + 72 * kappa + 48 * 6 + 72 * 3 + 5 * 24  # rounds over s, k, z, y; tail
    layer_21 = layer_22 + 48 * M + 48 * kappa + 72 * 6 + 72 * 3 + 5 * 24
    input_layer = layer_22 + 23 * (layer_21 - layer_22)
    slices = input_layer + 48 * j
    opening = slices + 64 * 24
    assert len(levels) > 1  # a root and an out-of-domain value come before the first nonce
    nonce = opening + 48 * levels[0][0] + 32 + 24
    return [
        ("rate-0", put(4, 0), "header 0"),
        ("v-out", flip(v_out), "layer 23"),
        ("layer-0-tail", flip(input_layer - 100), "layer 0"),
        ("nonce", flip(nonce), "grinding 0"),
        ("last-round", flip(-1), "opening 0"),
        ("byte-less", lambda b: b.pop(), "truncated 0"),
    ], [
        ("count", flip(0), "header 0"),
        ("rate-7", put(4, 7), "header 0"),
        ("stray-bit", flip(7, 7), "header 0"),
        ("root", flip(8), "bus_balance 0"),
        ("multiplicity", flip(40), "multiplicity 7"),
        ("large-multiplicity", flip(40 + 8 * 2 + 7, 7), "multiplicity 2"),
        ("bus-root", flip(96), "bus_balance 0"),
        ("bus-round", flip(96 + 4 * 24), "bus_layer 1"),
        ("bus-tail", flip(v_out - 1), "bus_layer 5"),
        ("layer-22-round", flip(layer_22 + 50), "layer 22"),
        ("layer-22-tail", flip(layer_21 - 1), "layer 22"),
        ("input-round", flip(input_layer + 30), "input 0"),
        ("slice", flip(slices + 700), "input 0"),
        ("column", flip(nonce + 8), "merkle 0"),
        ("byte-more", lambda b: b.append(0), "trailing 0"),
    ]


def change_envelope(path):
    envelope = path.read_bytes()
    hashes = envelope[10] == HASH_BATCH
    proof_at = 60 + 32 * int.from_bytes(envelope[12:16], "little")
    rate = envelope[proof_at + 4]
    levels, _ = read_parameters()["hash" if hashes else "leanxmss", M, rate]

    def write(name, data, verdict):
        changed = path.with_name(f"{path.stem}-{name}.sheaf")
        changed.write_bytes(data)
        print(changed, verdict)

    if hashes:
        changes, _ = proof_changes(0, 4, 40, levels)
        statement = [("digest", 56 + 40, "rejected layer 23")]
    else:
        v_out = 96 + 4 * 24 + (1 + 3 + 5 + 7 + 9) * 96 + 5 * 8 * 24  # root, rounds and tails of the grand product
        both, more = proof_changes(8, 10, v_out, levels)
        changes = both + more
        statement = [(name, at, "rejected bus_balance 0") for name, at in (("key", 96), ("epoch", 16), ("message", 55))]
    for name, change, check in changes:
        proof = bytearray(envelope[proof_at:])
        change(proof)
        write(name, envelope[: proof_at - 4] + len(proof).to_bytes(4, "little") + proof, f"rejected {check}")
    for name, at, verdict in statement + [("magic", 3, "malformed"), ("reserved", 20, "malformed")]:
        data = bytearray(envelope)
        data[at] ^= 1
        write(name, data, verdict)


for argument in sys.argv[1:]:
    change_envelope(Path(argument))
