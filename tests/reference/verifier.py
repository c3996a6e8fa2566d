#!/usr/bin/env python3
# The second verifier.  SPDX-License-Identifier: MIT OR Apache-2.0
"""A second verifier of Sheaf envelopes, written from docs/protocol.md alone.

    python3 verifier.py [--json] [--trace] FILE.sheaf...

Prints one line a file: `FILE: accepted, S signers` (S digests for a hash batch), `FILE: rejected: CHECK INDEX` with
the names that docs/protocol.md gives its checks, or `FILE: malformed: WHY`. Exit status: 0 all accepted, 1 some
rejected, 2 some are no envelopes. With --json, one object a file and line.

It is plain and slow and shares nothing with the C sources, so that a mistake in the specification or in either
verifier shows as two verdicts. Numbers in comments are sections of docs/protocol.md; the parameters of 6.6 are
read out of docs/params.md, which is a part of the specification. The standard library alone.
"""
import argparse
import hashlib
import json
import re
import sys
from itertools import zip_longest
from pathlib import Path

PARAMS_DOC = Path(__file__).resolve().parent.parent.parent / "docs/params.md"


class Rejected(Exception):
    """The proof is wrong: the check that failed, and its index (3.2)."""

    def __init__(self, check, index=0):
        super().__init__(f"{check} {index}")
        self.check, self.index = check, index


class Malformed(Exception):
    """The file is no envelope (10.1)."""


# ---- 1. The fields ---------------------------------------------------------------------------------
#
# An element of E is a Python integer with one byte a coefficient, 0 or 1: that of x^i y^j is byte i + 128 j. Addition
# is ^. In the integer product of two elements of K, byte n is the number of ways in which x^n arises, at most 64, so
# no byte carries, and the bytes' lowest bits are the product over GF(2). Products may be added with ^ before they are
# reduced. Elements of K are those without y. Plain 64-bit words occur where bits are meant.

LOW_X = int.from_bytes(b"\1" * 64, "big")  # the coefficients of an element of K
ELEMENT = LOW_X | LOW_X << 1024 | LOW_X << 2048  # those of an element of E
ONES = int.from_bytes(b"\1" * 384, "big")  # the lowest bit of every byte
MODULUS = 1 << 64 | 0x1B


def word(w):
    """The element of K that a 64-bit word is."""
    return int.from_bytes(format(w, "064b").encode(), "big") & LOW_X


def element(data):
    """The element of K or E that 8 or 24 bytes are."""
    return sum(word(w) << 1024 * j for j, w in enumerate(words_of(data)))


def words_of(data):
    return [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]


def raw_product(a, b):
    """The product with y^3 = y + 1 applied (d_n as in 1.2), still to be reduced."""
    a0, a1, a2 = a & LOW_X, a >> 1024 & LOW_X, a >> 2048
    b0, b1, b2 = b & LOW_X, b >> 1024 & LOW_X, b >> 2048
    p0, p1, p2 = a0 * b0, a1 * b1, a2 * b2
    d0, d4 = p0, p2
    d1 = (a0 ^ a1) * (b0 ^ b1) ^ p0 ^ p1
    d2 = (a0 ^ a2) * (b0 ^ b2) ^ p0 ^ p2 ^ p1
    d3 = (a1 ^ a2) * (b1 ^ b2) ^ p1 ^ p2
    return d0 ^ d3 | (d1 ^ d3 ^ d4) << 1024 | (d2 ^ d4) << 2048


def reduce(p):
    """The element that a sum of raw products is."""
    p &= ONES
    for _ in range(2):  # x^64 = x^4 + x^3 + x + 1; the first round leaves x^66 at most
        high = p >> 512 & ELEMENT
        p = p & ELEMENT ^ high ^ high << 8 ^ high << 24 ^ high << 32
    return p


def mul(a, b):
    return reduce(raw_product(a, b))


def dot(a, b):
    p = 0
    for x, y in zip(a, b, strict=True):
        p ^= raw_product(x, y)
    return reduce(p)


def product(factors):
    result = 1
    for f in factors:
        result = mul(result, f)
    return result


def total(terms):
    result = 0
    for t in terms:
        result ^= t
    return result


def frobenius(a, times):
    """a^(2^times)."""
    for _ in range(times):
        a = mul(a, a)
    return a


def power(a, n):
    result = 1
    for bit in format(n, "b"):
        result = mul(result, result)
        if bit == "1":
            result = mul(result, a)
    return result


def inverse_in_k(a):
    return power(a, 2**64 - 2)


def x_power(n):
    """x^n as a word, of either sign."""
    w = 1
    for _ in range(n):
        w = w << 1 ^ (w >> 63) * MODULUS
    for _ in range(-n):
        w = (w ^ (w & 1) * MODULUS) >> 1
    return w


def horner(coefficients, at):
    result = 0
    for c in reversed(coefficients):
        result = mul(result, at) ^ c
    return result


# ---- 1.3 Multilinear polynomials; the low variable comes first everywhere ----


def eq_table(point):
    table = [1]
    for r in point:
        high = [mul(t, r) for t in table]
        table = [t ^ h for t, h in zip(table, high)] + high
    return table


def eq(a, b):
    return product(1 ^ x ^ y for x, y in zip(a, b, strict=True))


def mle(table, point):
    for r in point:
        table = [a ^ mul(r, a ^ b) for a, b in zip(table[::2], table[1::2])]
    return table[0]


# ---- 2. The hash -----------------------------------------------------------------------------------


def shake(data, length):
    return hashlib.shake_256(data).digest(length)


LEAF, NODE, TRANSCRIPT, LIST, CIRCUIT = b"\0", b"\1", b"\2", b"\3", b"\4"

# Lane l goes to lane PI[l] rotated by RHO[l]. RHO and RC come from their definitions in FIPS 202 (3.2.2, 3.2.5), not
# from the specification's lists of numbers.
PI = [y + 5 * ((2 * x + 3 * y) % 5) for y in range(5) for x in range(5)]


def rotation_offsets():
    offsets = [0] * 25
    x, y = 1, 0
    for t in range(24):
        offsets[x + 5 * y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return offsets


def round_constants():
    def rc(t):
        r = 1
        for _ in range(t % 255):
            r <<= 1
            r ^= (r >> 8) * 0x171
        return r & 1

    return [sum(rc(j + 7 * r) << 2**j - 1 for j in range(7)) for r in range(24)]


RHO = rotation_offsets()
RC = round_constants()


# ---- 3. The transcript and the proof ---------------------------------------------------------------


class Channel:
    """The proof's bytes as they are read, and the transcript that they and the statement make."""

    def __init__(self, proof):
        self.proof, self.at = proof, 0
        self.chain, self.list = b"Sheaf leaf protocol, version 001", b""

    def read(self, n):
        """n bytes that are not absorbed."""
        if len(self.proof) - self.at < n:
            raise Rejected("truncated")
        self.at += n
        return self.proof[self.at - n : self.at]

    def receive(self, n):
        """n bytes that are absorbed."""
        data = self.read(n)
        self.list += data
        return data

    def receive_words(self, n):
        return words_of(self.receive(8 * n))

    def receive_elements(self, n):
        data = self.receive(24 * n)
        return [element(data[24 * i : 24 * i + 24]) for i in range(n)]

    def label(self, text):
        assert len(text) == 8
        self.list += text.encode()

    def absorb_words(self, words):
        self.list += b"".join(w.to_bytes(8, "little") for w in words)

    def squeeze_bytes(self, n):
        out = shake(self.chain + self.list + TRANSCRIPT, 32 + n)
        self.chain, self.list = out[:32], b""
        return out[32:]

    def squeeze(self, n):
        out = self.squeeze_bytes(24 * n)
        return [element(out[24 * i : 24 * i + 24]) for i in range(n)]

    def squeeze_one(self):
        return self.squeeze(1)[0]

    def squeeze_words(self, n):
        return words_of(self.squeeze_bytes(8 * n))

    def grind(self, bits, level):
        if bits == 0:
            return
        self.squeeze(0)
        self.receive_words(1)
        self.squeeze(0)
        if words_of(self.chain)[0] % 2**bits:
            raise Rejected("grinding", level)

    # Rounds of the sumchecks, from the claim to the challenge and the next claim. The coefficient that is not sent
    # follows from the claim.

    def finish_round(self, coefficients):
        r = self.squeeze_one()
        return r, horner(coefficients, r)

    def round_degree_2(self, claim):
        c0, c2 = self.receive_elements(2)
        return self.finish_round([c0, claim ^ c2, c2])

    def round_degree_3(self, claim):
        c0, c2, c3 = self.receive_elements(3)
        return self.finish_round([c0, claim ^ c2 ^ c3, c2, c3])

    def round_cofactor(self, claim, z, degree):
        """The factor 1 + z + X is left out."""
        c = self.receive_elements(degree)
        return self.finish_round([claim ^ mul(z, total(c)), *c])

    def round_power_of_x(self, claim, n):
        """The factor 1 + X (1 + t), t = x^(2^n), is left out."""
        c = self.receive_elements(2)
        t = word(x_power(2**n))
        return self.finish_round([mul(claim ^ mul(t, total(c)), inverse_in_k(1 ^ t)), *c])


class TracingChannel(Channel):
    """A channel that prints what passes: where in the proof, how many bytes, how they begin; each label and squeeze."""

    @staticmethod
    def show(what, *parts):
        print(f"{what:<8}", *parts)

    def read(self, n):
        at, data = self.at, super().read(n)
        if n:
            self.show("read", f"{at:>6} {n:>5}", data[:16].hex())
        return data

    def label(self, text):
        super().label(text)
        self.show("label", f'"{text}"')

    def absorb_words(self, words):
        super().absorb_words(words)
        self.show("absorb", " ".join(f"{w:x}" for w in words))

    def squeeze_bytes(self, n):
        absorbed, out = len(self.list), super().squeeze_bytes(n)
        self.show("squeeze", f"{absorbed:>6} {n:>5}", self.chain[:8].hex(), out[:16].hex())
        return out


# ---- 4. The code -----------------------------------------------------------------------------------


def code_constants(n):
    """W_i(x^i)^2 / W_{i+1}(x^{i+1}), i < n."""
    own = []  # W_i(x^i)
    for i in range(n + 1):
        value = word(1 << i)
        for w in own:
            value = mul(value, value ^ w)
        own.append(value)
    return [mul(mul(own[i], own[i]), inverse_in_k(own[i + 1])) for i in range(n)]


CODE = code_constants(31)


def position_weight(position, point):
    """w_p at a point."""
    result, wn = 1, word(position)
    for i, r in enumerate(point):
        result = mul(result, 1 ^ r ^ mul(r, wn))
        wn = mul(mul(wn, wn) ^ wn, CODE[i])
    return result


# ---- 5. Merkle trees -------------------------------------------------------------------------------


def open_tree(ch, root, log_n, leaf_bytes, positions, level):
    """The columns at the positions, as bytes."""
    columns = {p: ch.read(leaf_bytes) for p in sorted(set(positions))}
    nodes = {p: shake(c + LEAF, 32) for p, c in columns.items()}
    for _ in range(log_n):
        parents = {}
        for parent in sorted({p // 2 for p in nodes}):
            children = [nodes[p] if p in nodes else ch.read(32) for p in (2 * parent, 2 * parent + 1)]
            parents[parent] = shake(b"".join(children) + NODE, 32)
        nodes = parents
    if nodes[0] != root:
        raise Rejected("merkle", level)
    return columns


# ---- 6. The opening --------------------------------------------------------------------------------


def read_parameters(path=PARAMS_DOC):
    """6.6: {(family, m, R): (levels, last)} from the tables; a level is (fold, rate, grinding, queries)."""
    table, family = {}, None
    row = re.compile(r"\| (\d+) \| (\d)(?: \*)? \| ([\d ;]+) \| 2\^(\d+) \|$")
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            family = {"## leanXMSS": "leanxmss", "## hash batch": "hash"}.get(line)
        elif family and (found := row.match(line)):
            m, rate, levels, last = found.groups()
            levels = [tuple(map(int, level.split())) for level in levels.split(";")]
            table[family, int(m), int(rate)] = levels, int(last)
    return table


def open_word(ch, params, circuit, m, root, claim, weight):
    """6.3 to 6.5. weight(point) is W_0 there."""
    levels, last = params
    n_vars = circuit.j + m
    assert n_vars == sum(level[0] for level in levels) + last
    challenges = [None] * n_vars  # by variable
    parts = []  # of W past W_0: (coefficient, the number of low variables it is a function of, that function)
    v = n_vars
    ch.label("whir    ")
    for i, (fold, rate, grind, queries) in enumerate(levels):
        for n in reversed(range(v - fold, v)):
            challenges[n], claim = ch.round_degree_2(claim)
        k = v - fold
        if i < len(levels) - 1:
            next_root = ch.receive(32)
            outside = ch.squeeze(k)
            (outside_value,) = ch.receive_elements(1)
        else:
            last_word = ch.receive_elements(2**k)
        ch.grind(grind, i)
        positions = [w % 2 ** (k + rate) for w in ch.squeeze_words(queries)]
        if i == 0:  # words; rows past the live ones are absent
            rows, size = -(-circuit.words * 2**m // 2**k), 8
        else:
            rows, size = 2**fold, 24
        columns = open_tree(ch, root, k + rate, rows * size, positions, i)
        eqs = eq_table(challenges[k:v])[:rows]
        values = {}
        for p, column in columns.items():
            values[p] = dot(eqs, [element(column[size * b : size * (b + 1)]) for b in range(rows)])
        xi = ch.squeeze_one()
        coefficient = xi
        if i < len(levels) - 1:
            claim ^= mul(xi, outside_value)
            parts.append((xi, k, lambda point, o=outside: eq(o, point)))
            coefficient = mul(xi, xi)
            root = next_root
        for p in positions:
            claim ^= mul(coefficient, values[p])
            parts.append((coefficient, k, lambda point, p=p: position_weight(p, point)))
            coefficient = mul(coefficient, xi)
        v = k
    for n in reversed(range(v)):
        challenges[n], claim = ch.round_degree_2(claim)
    w = weight(challenges) ^ total(mul(c, part(challenges[:k])) for c, k, part in parts)
    if claim != mul(mle(last_word, challenges[:v]), w):
        raise Rejected("opening")


# ---- 6.7 Ring switching ----


def phi(f, a):
    for p in range(6):
        a ^= mul(f[p], frobenius(a, 2 ** (5 - p)))
    return a


def phi_coefficients(f):
    coefficients = [1] + [0] * 63
    for p in range(6):
        e = 2 ** (5 - p)
        shifted = [0] * e + [mul(f[p], frobenius(c, e)) for c in coefficients[: 64 - e]]
        coefficients = [c ^ d for c, d in zip(coefficients, shifted)]
    return coefficients


def ring_weight(f, r, at):
    """The MLE of Phi(eq(r, .)) at a point."""
    result = 0
    for c in phi_coefficients(f):
        result ^= mul(c, eq(r, at))
        r = [mul(a, a) for a in r]
    return result


# ---- 7. The grand product --------------------------------------------------------------------------


def grand_product(ch, h, extra):
    """The point and the two sides' claims there."""
    first = 2 - h % 2
    children = ch.receive_elements(2 * 2**first)
    push, pull = children[: 2**first], children[2**first :]
    if mul(extra, product(push)) != product(pull):
        raise Rejected("bus_balance")
    *point, delta = ch.squeeze(first + 1)
    push, pull = mle(push, point), mle(pull, point)
    i, layer = first, 0
    while i < h:
        layer += 1
        claim = push ^ mul(delta, pull)
        challenges = [None] * i
        for n in reversed(range(i)):
            challenges[n], claim = ch.round_cofactor(claim, point[n], 4)
        tail = ch.receive_elements(8)
        if claim != product(tail[:4]) ^ mul(delta, product(tail[4:])):
            raise Rejected("bus_layer", layer)
        *zeta, delta = ch.squeeze(3)
        push, pull = mle(tail[:4], zeta), mle(tail[4:], zeta)
        point = challenges + zeta
        i += 2
    return point, push, pull


# ---- 8.1, 8.6, 9. The circuits ---------------------------------------------------------------------

# Kinds of terms (8.6). A lane's source is (CONSTANT, value), (WORD, j) or (COLUMN, p); its kinds have other numbers.
CONSTANT, WORD, OUTPUT, COLUMN, SLOT = range(5)
SOURCE_KIND = {CONSTANT: 0, WORD: 1, COLUMN: 2}


def term(kind, a=0, b=0, coeff=1):
    return kind, a, b, coeff


def constant(value):
    return term(CONSTANT, coeff=value)


def as_term(source):
    kind, value = source
    return constant(value) if kind == CONSTANT else term(kind, value)


class Circuit:
    def __init__(self, family, words, j, rows, kappa, publics, bus_log=None):
        self.family, self.words, self.j = family, words, j
        self.kappa, self.publics, self.bus_log = kappa, publics, bus_log
        self.rows = [[(CONSTANT, 0)] * 25 for _ in range(rows)]
        self.links = []
        self.push, self.pull = [], []  # places: lists of affine forms, which are lists of terms
        self.table, self.table_pulls = [], 0  # entries: lists of words

    def set_row(self, row, lanes):
        for lane, source in lanes.items():
            self.rows[row][lane] = source

    def digest(self):
        out = [self.words, self.j, len(self.rows), self.kappa, self.publics, self.bus_log or 0]
        out += [len(self.push), len(self.pull), len(self.table), self.table_pulls, len(self.links)]
        for row in self.rows:
            for kind, value in row:
                out += [0, value] if kind == CONSTANT else [SOURCE_KIND[kind] + 2**8 * value, 0]
        for link in self.links:
            out += form_words(link)
        for place in self.push + self.pull:
            out.append(len(place))
            for form in place:
                out += form_words(form)
        for entry in self.table:
            out += entry + [0] * (8 - len(entry))
        return words_of(shake(b"".join(w.to_bytes(8, "little") for w in out) + CIRCUIT, 32))


def form_words(form):
    out = [len(form)]
    for kind, a, b, coeff in form:
        out += [kind + 2**8 * b + 2**16 * a, coeff]
    return out


def hash_circuit():
    """9.1"""
    c = Circuit("hash", words=16, j=4, rows=1, kappa=0, publics=4)
    c.set_row(0, {l: (WORD, l) for l in range(16)})
    c.set_row(0, {16: (CONSTANT, 0x800000000000001F)})
    c.links = [[term(OUTPUT, 0, l), term(COLUMN, l)] for l in range(4)]
    return c


def leanxmss_circuit(epoch, message):
    """9.2"""
    c = Circuit("leanxmss", words=961, j=10, rows=138, kappa=8, publics=4, bus_log=8)
    chains, steps, height = 42, 99, 32

    # Committed words, by name.
    in_0, in_1, cur, nxt, index = ([(WORD, 3 + 5 * i + n) for i in range(steps)] for n in range(5))
    start_x, y_0, y_1 = ([(WORD, 498 + 3 * k + n) for k in range(chains)] for n in range(3))
    ends = [[(WORD, 624 + 2 * k + n) for n in range(2)] for k in range(chains)]
    leaf_words = {b: [(WORD, 708 + 25 * (b - 1) + l) for l in range(25)] for b in range(1, 6)}
    merkle = [[(WORD, 833 + 4 * t + n) for n in range(4)] for t in range(height)]

    # Rows.
    epoch_lane = (CONSTANT, epoch << 32)
    tweak = {2: (COLUMN, 2), 3: (COLUMN, 3)}
    padding = {8: (CONSTANT, 0x1F), 16: (CONSTANT, 1 << 63)}
    c.set_row(0, {0: (CONSTANT, 0x400), 1: epoch_lane, **tweak})
    c.set_row(0, {4 + i: (CONSTANT, w) for i, w in enumerate(words_of(message))})
    c.set_row(0, {8 + i: (WORD, i) for i in range(3)})
    c.set_row(0, {12: (CONSTANT, 0x1F), 16: (CONSTANT, 1 << 63)})
    for i in range(steps):
        c.set_row(1 + i, {0: cur[i], 1: epoch_lane, 4: in_0[i], 5: in_1[i], 6: index[i], **tweak, **padding})
    leaf = [(CONSTANT, 0x200), epoch_lane, (COLUMN, 2), (COLUMN, 3)] + [e for end in ends for e in end]
    c.set_row(100, {l: leaf[l] for l in range(17)})
    for b in range(1, 6):
        c.set_row(100 + b, {l: leaf_words[b][l] for l in range(25)})
    for t in range(height):
        lane_0, lane_1 = 0x300 + ((t + 1) << 32), (epoch >> (t + 1)) << 32
        c.set_row(106 + t, {0: (CONSTANT, lane_0), 1: (CONSTANT, lane_1), **tweak, **padding})
        c.set_row(106 + t, {4 + n: merkle[t][n] for n in range(4)})

    # Links.
    for w in range(2):
        link = [term(OUTPUT, 0, w)]
        for i in range(21):
            _, x_word = start_x[21 * w + i]
            link.append(term(WORD, x_word, coeff=x_power(3 * i - 32)))
            link.append(constant(x_power(3 * i - 32 + 8)))  # 0x100 is x^8
        c.links.append(link)
    for b in range(1, 6):
        for l in range(25):
            link = [as_term(leaf_words[b][l]), term(OUTPUT, 99 + b, l)]
            if l < 17 and 17 * b + l < 88:
                link.append(as_term(leaf[17 * b + l]))
            if b == 5 and l == 3:
                link.append(constant(0x1F))
            if b == 5 and l == 16:
                link.append(constant(1 << 63))
            c.links.append(link)
    for t in range(height):
        for w in range(2):
            c.links.append([as_term(merkle[t][w + 2 * (epoch >> t & 1)]), term(OUTPUT, 105 + t, w)])
    for w in range(2):
        c.links.append([term(OUTPUT, 137, w), term(COLUMN, w)])

    # Bus.
    def lane0(p):
        return 0x100 + (p << 32)

    def place(*terms):
        return [[t] for t in terms]

    ch, step, slot = constant(1), constant(2), term(SLOT)
    for k in range(chains):
        c.push.append(place(ch, slot, constant(k), *map(as_term, (start_x[k], y_0[k], y_1[k]))))
    for i in range(steps):
        outputs = term(OUTPUT, 1 + i, 0), term(OUTPUT, 1 + i, 1)
        c.push.append(place(ch, slot, as_term(index[i]), as_term(nxt[i]), *outputs))
    for i in range(steps):
        c.pull.append(place(ch, slot, *map(as_term, (index[i], cur[i], in_0[i], in_1[i]))))
    for i in range(steps):
        c.pull.append(place(step, as_term(cur[i]), as_term(nxt[i])))
    for k in range(chains):
        c.pull.append(place(ch, slot, constant(k), constant(lane0(7)), *map(as_term, ends[k])))
    c.table = [[2, lane0(p), lane0(p + 1)] for p in range(7)]
    c.table_pulls = 99
    return c


# ---- 8. The leaf proof -----------------------------------------------------------------------------


class Statement:
    """A circuit, the slots' public columns and the binding words (9)."""

    def __init__(self, circuit, list_bytes, binding):
        self.circuit = circuit
        self.signers = len(list_bytes) // 32
        self.m = max(3, (self.signers - 1).bit_length())
        self.binding = binding + words_of(shake(list_bytes + LIST, 32))
        slots = [words_of(list_bytes[32 * s : 32 * s + 32]) for s in range(self.signers)]
        slots += slots[-1:] * (2**self.m - self.signers)
        self.columns = list(zip(*slots))


def verify_leaf(proof, statement, channel=Channel):
    """8.2; raises Rejected."""
    circuit, m = statement.circuit, statement.m
    ch = channel(proof)

    (header,) = ch.receive_words(1)
    rate = header >> 32
    params = read_parameters().get((circuit.family, m, rate))
    if header % 2**32 != statement.signers or not 1 <= rate <= 6 or params is None:
        raise Rejected("header")

    ch.label("leaf    ")
    ch.absorb_words([1, *circuit.digest(), m, statement.signers, rate])
    ch.absorb_words([len(statement.binding), *statement.binding])
    root = ch.receive(32)

    multiplicities = ch.receive_words(len(circuit.table))
    pulls = circuit.table_pulls * 2**m
    for e, n in enumerate(multiplicities):
        if n > pulls:
            raise Rejected("multiplicity", e)
    if sum(multiplicities) != pulls:
        raise Rejected("multiplicity", len(multiplicities))

    if circuit.bus_log is not None:
        ch.label("bus     ")
        *alpha, beta = ch.squeeze(4)
        alpha_eq = eq_table(alpha)
        extra = 1
        for entry, n in zip(circuit.table, multiplicities):
            leaf = beta ^ dot(alpha_eq[: len(entry)], map(word, entry))
            extra = mul(extra, power(leaf, n))
        point, push, pull = grand_product(ch, circuit.bus_log + m, extra)
        zeta_s, zeta_p = point[:m], point[m:]
        bus = alpha_eq, beta, eq_table(zeta_p), push, pull
    else:
        ch.label("point   ")
        zeta_s = ch.squeeze(m)
        bus = None

    ch.label("links   ")
    gamma = ch.squeeze_one()
    (v_out,) = ch.receive_elements(1)
    a, omega, v_q = outer_claim(statement, gamma, bus, zeta_s, v_out)

    claim, rho_s, rho_k, weights = keccak_layers(ch, circuit, m, zeta_s, omega, v_out)
    slices, j_star = input_layer(ch, statement, claim, rho_s, rho_k, weights)

    ch.label("ring    ")
    *f, lam = ch.squeeze(7)
    claim = mul(lam, v_q) ^ dot((word(x_power(z)) for z in range(64)), (phi(f, s) for s in slices))

    def weight(at):
        at_s, at_j = at[:m], at[m:]
        words = mul(dot(a, eq_table(at_j)[: circuit.words]), eq(zeta_s, at_s))
        return ring_weight(f, rho_s + j_star, at) ^ mul(lam, words)

    open_word(ch, params, circuit, m, root, claim, weight)
    if ch.at != len(proof):
        raise Rejected("trailing")


def outer_claim(statement, gamma, bus, zeta_s, v_out):
    """8.3: the coefficients a of the words and Omega of the outputs, and v_q."""
    circuit = statement.circuit
    slot = dot(zeta_s, (word(x_power(n)) for n in range(len(zeta_s))))
    columns = [mle(list(map(word, column)), zeta_s) for column in statement.columns]
    a = [0] * circuit.words
    omega = {}
    public, v = 0, 0

    def add(weight, form):
        nonlocal public
        for kind, index, lane, coeff in form:
            c = mul(weight, word(coeff))
            if kind == WORD:
                a[index] ^= c
            elif kind == OUTPUT:
                omega[index, lane] = omega.get((index, lane), 0) ^ c
            else:
                public ^= mul(c, {CONSTANT: 1, COLUMN: columns[index], SLOT: slot}[kind])

    if bus:
        alpha_eq, beta, places_eq, push, pull = bus
        v = push ^ mul(gamma, pull)
        for g, side in ((1, circuit.push), (gamma, circuit.pull)):
            for at_p, place in zip_longest(places_eq, side):
                weight = mul(g, at_p)
                if place is None:  # past the list: the leaf is 1
                    public ^= weight
                    continue
                public ^= mul(weight, beta)
                for at_i, form in zip(alpha_eq, place):
                    add(mul(weight, at_i), form)
    weight = mul(gamma, gamma)
    for link in circuit.links:
        add(weight, link)
        weight = mul(weight, gamma)
    return a, omega, v ^ public ^ v_out


def chi(tail, weights):
    """sum_x weights_x (e_x + e_{x+2} + e_{x+1} e_{x+2})."""
    result = 0
    for x in range(5):
        e, e1, e2 = (tail[(x + n) % 5] for n in range(3))
        result ^= mul(weights[x], e ^ e2 ^ mul(e1, e2))
    return result


def linear_weights(mu, y_eq, z_eq):
    """8.4, between layers: W(l, z), the transpose of E_r's linear map applied to u."""
    mu_powers = [power(mu, x) for x in range(5)]
    u = []
    for l in range(25):
        c = mul(mu_powers[l % 5], y_eq[l // 5])
        u.append([mul(c, e) for e in z_eq])
    g = [[u[PI[l]][(z + RHO[l]) % 64] for z in range(64)] for l in range(25)]
    dd = [[total(g[x + 5 * y][z] for y in range(5)) for z in range(64)] for x in range(5)]
    return [[g[l][z] ^ dd[(l + 1) % 5][z] ^ dd[(l - 1) % 5][(z + 1) % 64] for z in range(64)] for l in range(25)]


def keccak_layers(ch, circuit, m, zeta_s, omega, v_out):
    """8.4: the claim on A_0, its point (rho_s, rho_k) and its weight W."""
    ch.label("keccak  ")
    rho = weights = None
    claim = v_out ^ mul(word(RC[23]), total(c for (_, lane), c in omega.items() if lane == 0))
    for r in reversed(range(24)):
        z_star = [None] * 6
        y_star = [None] * 3
        if r == 23:
            challenges = []
            for n in range(m):
                c, claim = ch.round_cofactor(claim, zeta_s[n], 2)
                challenges.append(c)
            for n in range(circuit.kappa):
                c, claim = ch.round_degree_3(claim)
                challenges.append(c)
            for n in range(6):
                z_star[n], claim = ch.round_power_of_x(claim, n)
        else:
            claim ^= total(weights[0][z] for z in range(64) if RC[r] >> z & 1)
            challenges = []
            for n in range(m + circuit.kappa):
                c, claim = ch.round_cofactor(claim, rho[n], 2)
                challenges.append(c)
            for n in range(6):
                z_star[n], claim = ch.round_degree_3(claim)
        for n in range(3):
            y_star[n], claim = ch.round_degree_3(claim)
        rho = challenges
        y_eq, z_eq = eq_table(y_star), eq_table(z_star)
        if r == 23:
            k_eq = eq_table(rho[m:])
            at_lanes = [0] * 25
            for (k, lane), c in omega.items():
                at_lanes[lane] ^= mul(k_eq[k], c)
        else:
            at_lanes = [dot(z_eq, weights[l]) for l in range(25)]
        tail = ch.receive_elements(5)
        if claim != chi(tail, [dot(y_eq[:5], at_lanes[x::5]) for x in range(5)]):
            raise Rejected("layer", r)
        mu = ch.squeeze_one()
        claim = horner(tail, mu)
        weights = linear_weights(mu, y_eq, z_eq)
    return claim, rho[:m], rho[m:], weights


def input_layer(ch, statement, claim, rho_s, rho_k, weights):
    """8.5: the slices and j*."""
    ch.label("input   ")
    circuit = statement.circuit
    k_eq = eq_table(rho_k)
    columns = {}  # the weights of each public column's bits
    for k, row in enumerate(circuit.rows):
        for l, (kind, value) in enumerate(row):
            if kind == CONSTANT and value:
                claim ^= mul(k_eq[k], total(weights[l][z] for z in range(64) if value >> z & 1))
            elif kind == COLUMN:
                old = columns.get(value, [0] * 64)
                columns[value] = [o ^ mul(k_eq[k], w) for o, w in zip(old, weights[l])]
    for p, bits in columns.items():
        claim ^= mle([total(bits[z] for z in range(64) if w >> z & 1) for w in statement.columns[p]], rho_s)

    j_star = []
    for _ in range(circuit.j):
        r, claim = ch.round_degree_2(claim)
        j_star.append(r)
    slices = ch.receive_elements(64)
    j_eq = eq_table(j_star)
    at_lanes = [0] * 25
    for k, row in enumerate(circuit.rows):
        for l, (kind, value) in enumerate(row):
            if kind == WORD:
                at_lanes[l] ^= mul(k_eq[k], j_eq[value])
    at_bits = [dot(at_lanes, [weights[l][z] for l in range(25)]) for z in range(64)]
    if claim != dot(at_bits, slices):
        raise Rejected("input")
    return slices, j_star


# ---- 10.1 The envelope -----------------------------------------------------------------------------

MAGIC = bytes.fromhex("53 48 45 41 46 0D 0A 1A")
AGGREGATE, HASH_BATCH = 1, 2
MAX_PROOF = 2**24


def read_envelope(data):
    """The statement, the proof and the kind."""

    def number(at, size):
        return int.from_bytes(data[at : at + size], "little")

    def need(condition, what):
        if not condition:
            raise Malformed(what)

    need(len(data) >= 56, "it is too short")
    need(data[:8] == MAGIC, "the magic is another")
    need(number(8, 2) == 1, "the format version is not 1")
    kind, signers, epoch, message = number(10, 2), number(12, 4), number(16, 4), data[24:56]
    need(kind in (AGGREGATE, HASH_BATCH), "the kind is not known")
    need(1 <= signers <= (2**16 if kind == AGGREGATE else 2**20), "the count is out of range")
    need(data[20:24] == bytes(4), "bytes that must be zero are not")
    need(kind == AGGREGATE or (epoch == 0 and message == bytes(32)), "a hash batch has an epoch or a message")
    proof_at = 60 + 32 * signers
    need(len(data) >= proof_at, "it is too short")
    length = number(proof_at - 4, 4)
    need(length <= MAX_PROOF, "the proof is too long")
    need(len(data) == proof_at + length, "the file does not end with the proof")
    list_bytes = data[56 : proof_at - 4]
    if kind == HASH_BATCH:
        return Statement(hash_circuit(), list_bytes, []), data[proof_at:], kind
    keys = {list_bytes[i : i + 32] for i in range(0, len(list_bytes), 32)}
    need(len(keys) == signers, "a public key is there twice")
    statement = Statement(leanxmss_circuit(epoch, message), list_bytes, [epoch, *words_of(message)])
    return statement, data[proof_at:], kind


def verdict(data, channel=Channel):
    """One envelope's verdict, as what --json prints."""
    try:
        statement, proof, kind = read_envelope(data)
    except Malformed as e:
        return {"status": "malformed", "message": str(e)}
    try:
        verify_leaf(proof, statement, channel)
    except Rejected as e:
        return {"status": "rejected", "check": e.check, "index": e.index}
    name = "aggregate" if kind == AGGREGATE else "hash batch"
    return {"status": "accepted", "kind": name, "signers": statement.signers}


def main():
    parser = argparse.ArgumentParser(description="Verifies Sheaf envelopes, slowly.")
    parser.add_argument("files", nargs="+", metavar="FILE.sheaf")
    parser.add_argument("--json", action="store_true", help="one JSON object a file and line")
    parser.add_argument("--trace", action="store_true", help="print what is read, absorbed and squeezed (docs/protocol.md 11)")
    args = parser.parse_args()
    channel = TracingChannel if args.trace else Channel
    worst = 0
    for name in args.files:
        try:
            v = verdict(Path(name).read_bytes(), channel)
        except OSError as e:
            v = {"status": "malformed", "message": e.strerror}
        worst = max(worst, {"accepted": 0, "rejected": 1, "malformed": 2}[v["status"]])
        if args.json:
            print(json.dumps({"file": name, **v}), flush=True)
        elif v["status"] == "accepted":
            one, many = ("signer", "signers") if v["kind"] == "aggregate" else ("digest", "digests")
            print(f"{name}: accepted, {v['signers']} {one if v['signers'] == 1 else many}", flush=True)
        elif v["status"] == "rejected":
            print(f"{name}: rejected: {v['check']} {v['index']}", flush=True)
        else:
            print(f"{name}: malformed: {v['message']}", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
