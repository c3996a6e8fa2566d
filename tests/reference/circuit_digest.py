"""The digests of the two circuits, derived from docs/protocol.md 8.6 and 9 alone.  SPDX-License-Identifier: MIT OR Apache-2.0

    python3 circuit_digest.py

prints the digests that tests/unit/test_circuit.c has; leanXMSS's is for epoch 0x9abcdef1 and the message 00 01 .. 1f.
Standard library only.
"""
import hashlib

CONST, WORD, OUT, PUBLIC, SLOT = range(5)  # kinds of terms; of sources: 0 constant, 1 word, 2 public column


def mul_x(a):
    a <<= 1
    return a ^ (1 << 64 | 0x1B) if a >> 64 else a


def power_of_x(n):
    """x^n in K; the order of x divides 2^64 - 1."""
    a = 1
    if n >= 0:
        for _ in range(n):
            a = mul_x(a)
        return a
    for _ in range(-n):  # halve: x^-1 takes away the lowest bit, or the modulus first
        a = (a ^ (1 << 64 | 0x1B) if a & 1 else a) >> 1
    return a


def mul(a, b):
    r = 0
    while b:
        if b & 1:
            r ^= a
        a = mul_x(a)
        b >>= 1
    return r


class Circuit:
    def __init__(self, words, j, rows, kappa, publics, bus_log=0):
        self.head = [words, j, rows, kappa, publics, bus_log]
        self.rows = [[(0, 0)] * 25 for _ in range(rows)]  # (constant) or (kind, index): two words each
        self.links, self.push, self.pull, self.table, self.table_pulls = [], [], [], [], 0

    def source(self, row, lane, kind, value):
        self.rows[row][lane] = (0, value) if kind == CONST else (kind + (value << 8), 0)

    def digest(self):
        out = self.head + [len(self.push), len(self.pull), len(self.table), self.table_pulls, len(self.links)]
        for row in self.rows:
            for lane in row:
                out += lane

        def form(terms):
            out.append(len(terms))
            for kind, a, b, coeff in terms:
                out.extend((kind + (b << 8) + (a << 16), coeff))

        for link in self.links:
            form(link)
        for place in self.push + self.pull:
            out.append(len(place))
            for coordinate in place:
                form(coordinate)
        for entry in self.table:
            out += entry + [0] * (8 - len(entry))
        data = b"".join(w.to_bytes(8, "little") for w in out)
        return hashlib.shake_256(data + b"\x04").hexdigest(32)


def const(v):
    return (CONST, 0, 0, v)


def word(j, coeff=1):
    return (WORD, j, 0, coeff)


def lane(row, l):
    return (OUT, row, l, 1)


def public(p):
    return (PUBLIC, p, 0, 1)


def hash_batch():
    c = Circuit(16, 4, 1, 0, 4)
    for l in range(16):
        c.source(0, l, WORD, l)
    c.source(0, 16, CONST, 0x800000000000001F)
    c.links = [[lane(0, l), public(l)] for l in range(4)]
    return c.digest()


def leanxmss(epoch, message):
    c = Circuit(961, 10, 138, 8, 4, 8)
    m = [int.from_bytes(message[8 * i : 8 * i + 8], "little") for i in range(4)]
    chain = lambda i: 3 + 5 * i  # in_0, in_1, cur, next, index
    start = lambda k: 498 + 3 * k
    end = lambda k: 624 + 2 * k
    leaf = lambda b, l: 708 + 25 * (b - 1) + l
    merkle = lambda t: 833 + 4 * t

    def put(row, **lanes):
        for name, (kind, value) in lanes.items():
            c.source(row, int(name[1:]), kind, value)

    C = lambda v: (CONST, v)
    W = lambda j: (WORD, j)
    P = dict(l2=(2, 2), l3=(2, 3))

    put(0, l0=C(0x400), l1=C(epoch << 32), **P, l4=C(m[0]), l5=C(m[1]), l6=C(m[2]), l7=C(m[3]), l8=W(0), l9=W(1), l10=W(2),
        l12=C(0x1F), l16=C(1 << 63))
    for i in range(99):
        w = chain(i)
        put(1 + i, l0=W(w + 2), l1=C(epoch << 32), **P, l4=W(w), l5=W(w + 1), l6=W(w + 4), l8=C(0x1F), l16=C(1 << 63))

    leaf_message = [(CONST, 0x200), (CONST, epoch << 32), (2, 2), (2, 3)]
    for k in range(42):
        leaf_message += [(WORD, end(k)), (WORD, end(k) + 1)]
    assert len(leaf_message) == 88
    for l in range(17):
        c.source(100, l, *leaf_message[l])
    for b in range(1, 6):
        for l in range(25):
            c.source(100 + b, l, WORD, leaf(b, l))
    for t in range(32):
        w = merkle(t)
        put(106 + t, l0=C(0x300 + ((t + 1) << 32)), l1=C((epoch >> (t + 1)) << 32), **P, l4=W(w), l5=W(w + 1), l6=W(w + 2),
            l7=W(w + 3), l8=C(0x1F), l16=C(1 << 63))

    for h in range(2):
        link = [lane(0, h)]
        for i in range(21):
            p = power_of_x(3 * i - 32)
            link += [word(start(21 * h + i), p), const(mul(p, 0x100))]
        c.links.append(link)
    for b in range(1, 6):
        for l in range(25):
            link = [word(leaf(b, l)), lane(99 + b, l)]
            if l < 17 and 17 * b + l < 88:
                kind, value = leaf_message[17 * b + l]
                link.append({CONST: const, WORD: word, 2: public}[kind](value))
            if b == 5 and l == 3:
                link.append(const(0x1F))
            if b == 5 and l == 16:
                link.append(const(1 << 63))
            c.links.append(link)
    for t in range(32):
        for h in range(2):
            right = epoch >> t & 1
            c.links.append([word(merkle(t) + 2 * right + h), lane(105 + t, h)])
    for h in range(2):
        c.links.append([lane(137, h), public(h)])

    CH, STEP = 1, 2
    lane0 = lambda p: 0x100 + (p << 32)
    place = lambda *terms: [[t] for t in terms]
    slot = (SLOT, 0, 0, 1)
    for k in range(42):
        s = start(k)
        c.push.append(place(const(CH), slot, const(k), word(s), word(s + 1), word(s + 2)))
    for i in range(99):
        w = chain(i)
        c.push.append(place(const(CH), slot, word(w + 4), word(w + 3), lane(1 + i, 0), lane(1 + i, 1)))
    for i in range(99):
        w = chain(i)
        c.pull.append(place(const(CH), slot, word(w + 4), word(w + 2), word(w), word(w + 1)))
    for i in range(99):
        w = chain(i)
        c.pull.append(place(const(STEP), word(w + 2), word(w + 3)))
    for k in range(42):
        c.pull.append(place(const(CH), slot, const(k), const(lane0(7)), word(end(k)), word(end(k) + 1)))
    c.table = [[STEP, lane0(p), lane0(p + 1)] for p in range(7)]
    c.table_pulls = 99
    return c.digest()


if __name__ == "__main__":
    assert mul(power_of_x(-32), power_of_x(32)) == 1
    print("hash:", hash_batch())
    print("leanxmss:", leanxmss(0x9ABCDEF1, bytes(range(32))))
