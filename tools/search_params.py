#!/usr/bin/env python3
# The parameter search: fills src/common/pcs/params_table.c and the tables of docs/params.md.
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Derives the frozen WHIR parameters of every shape from error bounds.

    tools/search_params.py            prints every shape with its expected proof size
    tools/search_params.py --write    rewrites src/common/pcs/params_table.c and the tables of docs/params.md
    tools/search_params.py --check    derives everything again and compares; exit status 1 where bytes differ

Only the standard library, only integers and fractions, no measurement and no randomness: every machine
derives the same table. docs/params.md explains the rule, docs/soundness-ledger.md derives the bounds.
"""

import argparse
import bisect
import sys
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TABLE_C = ROOT / "src/common/pcs/params_table.c"
DOC = ROOT / "docs/params.md"

# ---- what is being searched --------------------------------------------------------------------


class Family(NamedTuple):
    name: str        # of the C table
    title: str
    j_vars: int      # J: 2^J word places a slot
    words: int       # of them live
    m_min: int
    m_max: int
    rows: int        # Keccak permutations a slot
    kappa: int       # 2^kappa row places
    bus_log: int     # 2^bus_log bus places a side; None without a bus
    table_pulls: int  # pulls a slot from the public table, which become factors of the push side
    multiplicities: int


FAMILIES = (
    Family("leanxmss", "leanXMSS", 10, 961, 3, 16, 138, 8, 8, 99, 7),
    Family("hash", "hash batch", 4, 16, 3, 20, 1, 0, None, 0, 0),
)
RATES = range(1, 7)        # R of the first level
LATER_RATES = range(1, 14)
MAX_LEVELS = 8
MAX_FOLD = 12
MAX_GRIND = 17
MAX_LOG_BLOCK = 32
LAST_LOG = range(3, 6)     # variables of the word sent in the clear; rows of at least eight words everywhere
ARITY = 2
POSITIONS_A_QUERY = 2      # a code has at least twice as many positions as queries
MAX_CLAIMS = 512           # of one batching; an assertion, no parameter set comes near

# ---- error bounds, exact -----------------------------------------------------------------------

FIELD_LOG = 192            # |E| = 2^192
SECURITY = 128
# Every bound is kept below 127/128 of 2^-128 (0.0113 bits), so that the ledger in double precision agrees.
HEADROOM = Fraction(127, 128)
NUMERATOR_MAX = HEADROOM * 2 ** (FIELD_LOG - SECURITY)  # of an error that is a numerator over |E|

FRAC = 64  # fractional bits of the fixed-point numbers below


def sqrt_pow2(e):
    """Lower and upper bounds of 2^(e/2), equal where e is even."""
    square = 1 << (e + 2 * FRAC)
    root = isqrt(square)
    return Fraction(root, 1 << FRAC), Fraction(root + (root * root != square), 1 << FRAC)


SQRT_POW2 = {e: sqrt_pow2(e) for e in range(-13, 40)}


def list_size(k, rate):
    """L = 1 / (2 eta sqrt(rho)) with eta = sqrt(rho)/k: exactly k / (2 rho)."""
    return Fraction(k << rate, 2)


def exceptional(k, rate, log_n):
    """An upper bound of a of [BCHKS25, Thm 4.6], block length 2^log_n, eta = sqrt(rho)/k, k >= 3."""
    rho = Fraction(1, 1 << rate)
    radius = 1 - SQRT_POW2[-rate][0] * Fraction(k + 1, k)
    h = Fraction(2 * k + 1, 2)
    slope = (2 * h**5 + 3 * h * radius * rho) / 3 * SQRT_POW2[3 * rate][1]
    return slope * (1 << log_n) + h * SQRT_POW2[rate][1]


def algebraic_terms(k, variables, fold, rate, first, list_factor):
    """Numerators over |E| of the errors of one level that grow with k: folding, out-of-domain, batching.

    list_factor: the largest multiple of L among the challenges that count once for each candidate."""
    size = list_size(k, rate)
    yield 2 * size + (1 << (fold - 1)) * exceptional(k, rate, variables - fold + rate)  # round 1, the worst
    if not first:
        yield size * (size - 1) / 2 * variables
    yield list_factor * size


@lru_cache(None)
def largest_k(variables, fold, rate, first, list_factor):
    """The smallest slack: the largest k whose errors are all small enough; 0 where even k = 3 is not."""
    def fits(k):
        return all(e <= NUMERATOR_MAX for e in algebraic_terms(k, variables, fold, rate, first, list_factor))
    if not fits(3):
        return 0
    low, high = 3, 1 << 16
    while high - low > 1:
        mid = (low + high) // 2
        low, high = (mid, high) if fits(mid) else (low, mid)
    return low


@lru_cache(None)
def log2_ratio_upper(k):
    """An upper bound of log2((k+1)/k), FRAC fractional bits: squaring, one bit of the logarithm a step."""
    precision = FRAC + 96
    x = ((k + 1) << precision) // k + 1
    bits = 0
    for _ in range(FRAC):
        x = (x * x >> precision) + 1
        bits <<= 1
        if x >> (precision + 1):
            bits |= 1
            x = (x >> 1) + 1
    return bits + 1


@lru_cache(None)
def query_count(rate, k, grind):
    """The least t with (sqrt(rho) + eta)^t 2^-grind <= 2^-(128 + 1/64).

    sqrt(rho) + eta = 2^(-rate/2) (k+1)/k."""
    per_query = (rate << (FRAC - 1)) - log2_ratio_upper(k)
    need = ((SECURITY - grind) << FRAC) + (1 << (FRAC - 6))
    return -(-need // per_query)


def query_error_fits(rate, k, grind, queries):
    """The same bound once more by integers alone (both sides squared): at most 127/128 of 2^-128."""
    left = HEADROOM.denominator**2 * (k + 1) ** (2 * queries) << 2 * SECURITY
    right = HEADROOM.numerator**2 * k ** (2 * queries) << rate * queries + 2 * grind
    return left <= right


# ---- expected sizes ----------------------------------------------------------------------------

SIZE_FRAC = 16  # sizes are bytes with this many fractional bits
E_BYTES, DIGEST, NONCE = 24, 32, 8


@lru_cache(None)
def expected_touched(log_n, queries):
    """Expected number of distinct values among `queries` uniform ones of 2^log_n: N (1 - (1 - 1/N)^t)."""
    if log_n == 0:
        return 1 << SIZE_FRAC
    n = 1 << log_n
    return (n << SIZE_FRAC) - ((n - 1) ** queries << SIZE_FRAC >> log_n * (queries - 1))


@lru_cache(None)
def expected_path_nodes(log_n, queries):
    """Expected number of path nodes of a shared opening.

    At height h, D_h nodes are touched and lie below D_(h+1) touched parents; the other children of these,
    2 D_(h+1) - D_h of them, are sent."""
    return sum(ARITY * expected_touched(log_n - h - 1, queries) - expected_touched(log_n - h, queries)
               for h in range(log_n))


def opening_size(log_n, queries, leaf_bytes):
    return expected_touched(log_n, queries) * leaf_bytes + expected_path_nodes(log_n, queries) * DIGEST


def last_word_size(last_log):
    """The word in the clear and the sumcheck over its variables."""
    return (E_BYTES << last_log) + 2 * E_BYTES * last_log << SIZE_FRAC


def bus_size(height):
    """Radix-4 layers from the root (one of radix 2 there for an odd height); at depth d, d rounds."""
    odd = height % 2
    return odd * 4 * E_BYTES + sum(d * 4 * E_BYTES + 8 * E_BYTES for d in range(odd, height, 2))


def layers_size(m, kappa):
    two, three, tail = 2 * E_BYTES, 3 * E_BYTES, 5 * E_BYTES
    inner = (m + kappa) * two + 9 * three + tail
    top = m * two + kappa * three + 6 * two + 3 * three + tail
    return 23 * inner + top


def fixed_size(fam, m):
    """Bytes of a proof that do not depend on the parameters: all but the opening (the first root is here)."""
    header, v_out, slices = 8, E_BYTES, 64 * E_BYTES
    bus = 8 * fam.multiplicities + bus_size(m + fam.bus_log) if fam.bus_log is not None else 0
    return header + DIGEST + bus + v_out + layers_size(m, fam.kappa) + fam.j_vars * 2 * E_BYTES + slices


# ---- the cost formula --------------------------------------------------------------------------
# Units: time-stamp cycles of a machine with eight-lane kernels; a formula, never a measurement. K has 64
# bits, E 192; three K words make an E word.

COST_BUTTERFLY = 1       # one K butterfly (two words): a product by a constant and two XORs
COST_PERMUTATION = 120   # one Keccak-f[1600], eight lanes at once
COST_E = 4               # one product in E, or folding one E word
COST_ROW = 60_000        # everything outside the opening, for each permutation that is proven
RATE_BYTES = 136


def permutations(n_bytes):
    """Of SHAKE256 over n_bytes, the byte that separates uses counted."""
    return n_bytes // RATE_BYTES + 1


def level_cost(variables, fold, log_n, row_count, limbs, leaf_bytes, queries, grind):
    """Encode and hash the word; the rounds; the weights that queries and the out-of-domain point add."""
    k = variables - fold
    n = 1 << log_n
    encode = row_count * limbs * (n // 2 * k) * COST_BUTTERFLY
    hashing = n * (permutations(leaf_bytes + 1) + 1) * COST_PERMUTATION
    # a round on 2^x words: two products and two folds for each of 2^(x-1) pairs, summed over the rounds
    rounds = 4 * COST_E * ((1 << variables) - (1 << k))
    weights = (queries + 1) * COST_E << k
    grinding = COST_PERMUTATION << grind if grind else 0
    return encode + hashing + rounds + weights + grinding


# ---- memory ------------------------------------------------------------------------------------

MIB, GIB = 1 << 20, 1 << 30
FIRST_CODE_DEFAULT = 512 * MIB  # the first code word, for the default rate of a shape
FIRST_CODE_MAX = 4 * GIB        # and for any rate
FIRST_TOTAL_MAX = 5 * GIB       # the same with its tree
LATER_TOTAL_MAX = 256 * MIB     # the code word and tree of each later level


# ---- one level ---------------------------------------------------------------------------------


class Level(NamedTuple):
    fold: int
    rate: int
    grind: int
    queries: int
    k: int


class Choice(NamedTuple):  # compared and sorted in this order
    cost: int
    size: int
    levels: tuple


def level_choices(variables, fold, rate, live_rows, list_factor, first, positions_a_query=POSITIONS_A_QUERY):
    """Every useful (grinding, queries) of one level; yields (Choice, bytes of the code word)."""
    log_n = variables - fold + rate
    if log_n > MAX_LOG_BLOCK:
        return
    k = largest_k(variables, fold, rate, first, list_factor)
    if k == 0:
        return
    limbs = 1 if first else 3
    leaf_bytes = 8 * limbs * live_rows
    code = leaf_bytes << log_n
    total = code + (ARITY * DIGEST << log_n)
    if first and (code > FIRST_CODE_MAX or total > FIRST_TOTAL_MAX) or not first and total > LATER_TOTAL_MAX:
        return
    fewest = None
    for grind in range(MAX_GRIND + 1):
        queries = query_count(rate, k, grind)
        if queries == fewest:
            continue  # more grinding for nothing
        fewest = queries
        if (1 << log_n) < positions_a_query * queries:
            continue
        cost = level_cost(variables, fold, log_n, live_rows, limbs, leaf_bytes, queries, grind)
        sent = 2 * E_BYTES * fold + (NONCE if grind else 0) + (0 if first else DIGEST + E_BYTES)
        size = opening_size(log_n, queries, leaf_bytes) + (sent << SIZE_FRAC)
        yield Choice(cost, size, (Level(fold, rate, grind, queries, k),)), code


def pareto(choices):
    """Those that no other beats in both cost and size; ascending cost, descending size."""
    out = []
    for c in sorted(choices):
        if not out or c.size < out[-1].size:
            out.append(c)
    return out


def later_fronts(variables_max):
    """For each number of variables that a fold leaves: every sensible way to go on from there to the end."""
    fronts = [[] for _ in range(variables_max + 1)]
    for v in range(LAST_LOG.start, variables_max + 1):
        choices = [Choice(0, last_word_size(v), ())] if v in LAST_LOG else []
        for fold in range(1, min(MAX_FOLD, v - LAST_LOG.start) + 1):
            rest = fronts[v - fold]
            here = pareto(c for rate in LATER_RATES
                          for c, _ in level_choices(v, fold, rate, 1 << fold, MAX_CLAIMS, False))
            choices += [Choice(a.cost + b.cost, a.size + b.size, a.levels + b.levels)
                        for a in here for b in rest if len(b.levels) < MAX_LEVELS - 1]
        fronts[v] = pareto(choices)
    return fronts


# ---- one shape ---------------------------------------------------------------------------------


class Row(NamedTuple):
    size: int  # of the opening
    cost: int  # of the whole proof
    levels: tuple


def candidate_factor(fam, m):
    """The largest numerator among the challenges that are answered for each candidate of the first list."""
    bus = 3 * ((1 << fam.bus_log) + fam.table_pulls << m) if fam.bus_log is not None else 0
    return max(1 << 32, bus)  # ring switching, or the fingerprints


def search_shape(fam, m, fronts):
    """{rate: Row} and the default rate of one shape."""
    v = fam.j_vars + m
    rest = COST_ROW * fam.rows << m

    def first_levels(rate, room):
        for fold in range(1, min(fam.j_vars, MAX_FOLD) + 1):
            k = v - fold
            live = -(-(fam.words << m) // (1 << k))
            if k < len(fronts) and fronts[k]:
                for c, code in level_choices(v, fold, rate, live, candidate_factor(fam, m), True, room):
                    yield k, c, code

    roomy = {rate: list(first_levels(rate, POSITIONS_A_QUERY)) for rate in RATES}
    # A tiny shape may have no code with that many positions: such a row is never the default.
    firsts = {rate: roomy[rate] or list(first_levels(rate, 0)) for rate in RATES}
    firsts = {rate: found for rate, found in firsts.items() if found}
    cheapest = {rate: rest + min(c.cost + fronts[k][0].cost for k, c, _ in found)
                for rate, found in firsts.items()}

    def smallest(rate, budget, code_max):
        """The smallest opening whose cost is at most 5 percent over the budget."""
        best = None
        for k, c, code in firsts[rate]:
            room = budget * 21 // 20 - rest - c.cost
            at = bisect.bisect_right(fronts[k], room, key=lambda x: x.cost)
            if code > code_max or at == 0:
                continue
            tail = fronts[k][at - 1]
            row = Row(c.size + tail.size, rest + c.cost + tail.cost, c.levels + tail.levels)
            best = row if best is None or row < best else best
        return best

    rows = {rate: smallest(rate, cheapest[rate], FIRST_CODE_MAX) for rate in firsts}
    overall = min(cost for rate, cost in cheapest.items() if roomy[rate])
    by_default = {rate: smallest(rate, overall, FIRST_CODE_DEFAULT) for rate in firsts if roomy[rate]}
    by_default = {rate: row for rate, row in by_default.items() if row}
    if by_default:
        default = min(by_default, key=lambda rate: by_default[rate])
        rows[default] = by_default[default]
    else:
        default = min(rows)  # too large for the default's memory at every rate: the one that needs least
    return rows, default


def verify_row(fam, m, rate, levels):
    """Every bound again, for the finished row, without the search's shortcuts."""
    assert 1 <= len(levels) <= MAX_LEVELS
    assert levels[0].rate == rate and levels[0].fold <= fam.j_vars
    variables, claims = fam.j_vars + m, None
    for i, lv in enumerate(levels):
        factor = candidate_factor(fam, m) if i == 0 else claims - 1
        assert 1 <= lv.fold <= MAX_FOLD and 0 <= lv.grind <= MAX_GRIND and 3 <= lv.k < 1 << 16
        assert variables - lv.fold + lv.rate <= MAX_LOG_BLOCK
        errors = algebraic_terms(lv.k, variables, lv.fold, lv.rate, i == 0, factor)
        assert all(e <= NUMERATOR_MAX for e in errors)
        assert query_error_fits(lv.rate, lv.k, lv.grind, lv.queries)
        variables -= lv.fold
        claims = lv.queries + 2
        assert claims <= MAX_CLAIMS
    assert variables in LAST_LOG
    return variables


def derive():
    """[(family, [(m, rows, default rate)])]"""
    fronts = later_fronts(max(f.j_vars + f.m_max for f in FAMILIES) - 1)
    out = []
    for fam in FAMILIES:
        shapes = [(m, *search_shape(fam, m, fronts)) for m in range(fam.m_min, fam.m_max + 1)]
        for m, rows, _ in shapes:
            for rate, row in rows.items():
                verify_row(fam, m, rate, row.levels)
        out.append((fam, shapes))
    return out


# ---- output ------------------------------------------------------------------------------------


def total_size(fam, m, row):
    return fixed_size(fam, m) + (row.size + (1 << SIZE_FRAC - 1) >> SIZE_FRAC)


def row_header(fam, m, levels):
    return fam.j_vars + m, len(levels), fam.j_vars + m - sum(lv.fold for lv in levels), ARITY


def checksum(derived):
    """FNV-1a, 64 bits, over the table as bytes; tests/unit/test_params.c computes it from the C data."""
    h = 0xCBF29CE484222325

    def feed(*values):
        nonlocal h
        for b in values:
            h = (h ^ b) * 0x100000001B3 & (1 << 64) - 1
    for fam, shapes in derived:
        for m, rows, default in shapes:
            feed(default)
            for rate in RATES:
                levels = rows[rate].levels if rate in rows else ()
                feed(*(row_header(fam, m, levels) if levels else (0, 0, 0, 0)))
                for lv in levels:
                    feed(lv.fold, lv.rate, lv.grind)
                    feed(*lv.queries.to_bytes(2, "little"), *lv.k.to_bytes(2, "little"))
    return h


def render_c(derived):
    lines = [
        "/* The frozen parameter table: derived, not to be edited.   docs/params.md, docs/protocol.md 6.6.",
        " *",
        " * Regenerate: `python3 tools/search_params.py --write`; `--check` derives it again and compares.",
        " * A row: variables, levels, variables of the last word, arity, and of each level fold, rate,",
        " * grinding, 0, queries, k.   SPDX-License-Identifier: MIT OR Apache-2.0 */",
        '#include "params_table.h"',
        "",
        f"const uint64_t params_table_checksum = UINT64_C(0x{checksum(derived):016x});",
    ]
    for fam, shapes in derived:
        prefix = f"PARAMS_{fam.name.upper()}_"
        defaults = ", ".join(str(default) for _, _, default in shapes)
        lines += [
            "",
            f"const uint8_t params_{fam.name}_default[{prefix}SHAPES] = {{",
            f"    {defaults}",
            "};",
            "",
            f"const whir_params params_{fam.name}_rows[{prefix}SHAPES][PARAMS_MAX_RATE] = {{",
        ]
        for m, rows, _ in shapes:
            lines.append(f"    {{ /* m = {m} */")
            for rate in RATES:
                if rate not in rows:
                    lines.append("        { 0 },")
                    continue
                levels = rows[rate].levels
                head = ", ".join(map(str, row_header(fam, m, levels)))
                body = ", ".join(f"{{ {lv.fold}, {lv.rate}, {lv.grind}, 0, {lv.queries}, {lv.k} }}"
                                 for lv in levels)
                text = f"        {{ {head}, {{ {body} }} }},"
                if len(text) > 110:
                    at = text.rindex(", { ", 0, 108) + 1
                    lines += [text[:at], " " * 24 + text[at:]]
                else:
                    lines.append(text)
            lines.append("    },")
        lines.append("};")
    return "\n".join(lines) + "\n"


BEGIN, END = "<!-- tables: begin (tools/search_params.py --write) -->", "<!-- tables: end -->"


def render_tables(derived):
    out = []
    for fam, shapes in derived:
        out += ["", f"## {fam.title}", "",
                "Expected bytes of a whole proof, the statement not counted; `*` marks the default rate.", "",
                "| slots | outside the opening | R=1 | R=2 | R=3 | R=4 | R=5 | R=6 |",
                "|---|---|---|---|---|---|---|---|"]
        for m, rows, default in shapes:
            sizes = [f"{total_size(fam, m, rows[r])}{' *' if r == default else ''}" if r in rows else "-"
                     for r in RATES]
            out.append(f"| 2^{m} | {fixed_size(fam, m)} | " + " | ".join(sizes) + " |")
        out += ["", "The parameters, of each level: fold l, rate R, grinding g, queries t.", "",
                "| m | R | levels | last word |", "|---|---|---|---|"]
        for m, rows, default in shapes:
            for rate, row in sorted(rows.items()):
                levels = "; ".join(f"{lv.fold} {lv.rate} {lv.grind} {lv.queries}" for lv in row.levels)
                last = row_header(fam, m, row.levels)[2]
                out.append(f"| {m} | {rate}{' *' if rate == default else ''} | {levels} | 2^{last} |")
    return "\n".join([BEGIN] + out + ["", END])


def with_tables(text, derived):
    head, middle = text.split(BEGIN)
    _, tail = middle.split(END)
    return head + render_tables(derived) + tail


def print_report(derived):
    for fam, shapes in derived:
        print(f"{fam.title}: expected bytes; cost over the least; of each level (fold rate grind queries k)")
        for m, rows, default in shapes:
            least = min(row.cost for row in rows.values())
            print(f"  m = {m}: {fixed_size(fam, m)} bytes outside the opening")
            for rate, row in sorted(rows.items()):
                levels = "  ".join("({} {} {} {} {})".format(*lv) for lv in row.levels)
                mark = "*" if rate == default else " "
                over = 100 * row.cost // least - 100
                print(f"   {mark}R = {rate}: {total_size(fam, m, row):7d}  {over:+4d}%  {levels}")
    print(f"checksum {checksum(derived):016x}")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    mode = ap.add_mutually_exclusive_group()
    mode.add_argument("--write", action="store_true", help="rewrite the table and the document's tables")
    mode.add_argument("--check", action="store_true", help="derive again and compare")
    args = ap.parse_args()
    derived = derive()
    if not (args.write or args.check):
        print_report(derived)
        return 0
    doc = DOC.read_text(encoding="utf-8")
    wanted = {TABLE_C: render_c(derived), DOC: with_tables(doc, derived)}
    if args.write:
        for path, text in wanted.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in wanted.items()
             if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} is not what the search derives", file=sys.stderr)
    if not stale:
        print(f"params: the table is what the search derives, checksum {checksum(derived):016x}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
