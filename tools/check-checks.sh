#!/usr/bin/env bash
# Takes each of the verifier's checks out by itself and shows that it was needed: of the lying provers (docs/lying-provers.md) and broken
# envelopes, exactly those that the check rejects then get another verdict.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tools/check-checks.sh          all checks
#     tools/check-checks.sh WORD     those whose file or message has WORD in it
#
# A check is a place in the sources that rejects or refuses; every one that is found there is tried. Its condition is made false in a copy
# of its file, the copy is linked before the library's own, and tests/link/judge.c reads all the files again. Checks that no envelope can
# meet are tried with the unit test that calls them (`ELSEWHERE` below). About two minutes of one core. The last line is
# `check-checks: N passed, N failed`. BUILD is the build folder (build/native, which is brought up to date).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${BUILD:-build/native}

if [ -z "${BUILD:-}" ]; then
    printf 'check-checks: building %s\n' "$build"
    mkdir -p build
    if ! command -v make >/dev/null 2>&1; then export CMAKE_GENERATOR=Ninja; fi
    if ! { bash tools/setup.sh && cmake --preset native && cmake --build --preset native -j 2 --target sheaf_internal test_leaf_lies; } \
        >build/check-checks.log 2>&1; then
        tail -n 30 build/check-checks.log >&2
        exit 2
    fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/lies"
"$build/tests/test_leaf_lies" --write "$work/lies"

python3 - "$work" "$build" "${1:-}" <<'PYTHON'
import re
import subprocess
import sys
from pathlib import Path

work, build, wanted = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
FOLDERS = ["aggregate", "bus", "circuit", "hash", "keccak_gkr", "merkle", "pcs"]
COMPILE = ["cc", "-std=c17", "-O2", "-w", "-DSHEAF_HAVE_X86", "-DSHEAF_SOURCE_DIR=\".\"", "-Iinclude", "-Isrc", "-Isrc/common", "-Itests"]
LIBRARIES = [f"{build}/libsheaf_internal.a", f"{build}/libsheaf_bearssl.a", "-lm", "-pthread"]

# Conditions that say what is let through, not what is refused.
INVERTED = {
    "public keys %lu and %lu are the same": "if (!found)",
    "the proof's key %lu is not among": "if (order == 0)",
    "the expected key %lu is not among": "if (order == 0)",
}
# What no envelope can ask for: the test that does, and which of its claims.
ELSEWHERE = {
    "no grand product of this height": ("test_bus", "a_proof_of_another_height_is_rejected"),
    "this number of signers is not supported": ("test_statement", "a_header_needs"),
    "a hash batch has no epoch and no message to expect": ("test_aggregate", "a_hash_batch_expects_no_epoch"),
}
# A net under the others: nothing reaches it while they are there.
NETS = {"the proof could not be verified"}
SITE = re.compile(
    r"\brx_reject\((?:v->c|c|&v->c), SHEAF_CHECK_\w+,|\breturn reject_statement\(f,"
    r"|\bfailure_set\(f, SHEAF_(?:REJECTED|MALFORMED|DUPLICATE_KEY|INVALID_ARGUMENT|UNSUPPORTED),|\bFAIL\(SHEAF_\w+,"
)


def closing(text, at):
    """After the bracket that closes the one at `at`."""
    depth, quoted = 0, False
    while True:
        c = text[at]
        if c == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted and c == "(":
            depth += 1
        elif not quoted and c == ")":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1


def without(text, at, message):
    """The source with the condition of the check at `at` made one that never refuses."""
    for beginning, guard in INVERTED.items():
        if message.startswith(beginning):
            start = text.rindex(guard, 0, at)
            return text[:start] + "if (1)" + text[start + len(guard) :]
    for guard in reversed(list(re.finditer(r"\bif \(", text[:at]))):
        end = closing(text, guard.end() - 1)
        if end <= at and re.fullmatch(r"\s*\{?\s*(return |\(void\))?", text[end:at]):
            condition = text[guard.end() - 1 : end]
            return text[: guard.start()] + f"if (0 && {condition})" + text[end:]
    return None


def sites():
    for folder in FOLDERS:
        for path in sorted(Path("src/common", folder).glob("*.c")):
            if path.name.endswith("_prove.c"):
                continue
            text = path.read_text()
            for m in SITE.finditer(text):
                call = text[m.start() : closing(text, text.index("(", m.start()))]
                literals = re.search(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*', call).group()
                message = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))
                if message != "%s":
                    yield path, text[: m.start()].count("\n") + 1, message, text, m.start()


def run(*command, **more):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, **more).stdout


def verdicts(objects):
    run(*COMPILE, "tests/link/judge.c", *objects, *LIBRARIES, "-o", work / "judge")
    return {line.split("\t")[0]: line.split("\t")[1:] for line in run(work / "judge", work / "lies").splitlines()}


def what_counts(verdict):
    """Status, check and index; and the message, which tells errors of a file apart."""
    return verdict[:3] if verdict[0] == "1" else verdict


def compiled(path, source):
    copy = work / path.name
    copy.write_text(source)
    run(*COMPILE, "-iquote", path.parent, "-c", copy, "-o", work / "patched.o")
    return work / "patched.o"


def unit_test_fails(name, claim, objects):
    run(*COMPILE, f"tests/unit/{name}.c", *objects, *LIBRARIES, "-o", work / "unit")
    done = subprocess.run([work / "unit", claim], capture_output=True)
    return done.returncode != 0


def judge_site(path, message, text, at, honest):
    """None, or what is wrong; and what was seen."""
    if message in NETS:
        met = sum(message in v[-1] for v in honest.values())
        return (f"{met} files meet it", "") if met else (None, "a net, which nothing meets")
    source = without(text, at, message)
    if source is None:
        return "its condition was not found", ""
    patched = compiled(path, source)
    seen = verdicts([patched])
    pattern = re.compile(re.sub(r"%\w+", ".*", re.escape(message).replace("\\%", "%")))
    meant = {name for name, v in honest.items() if len(v) > 3 and pattern.match(v[3])}
    changed = {name for name in honest if what_counts(seen[name]) != what_counts(honest[name])}
    accepted = sum(seen[name][0] == "0" for name in changed)
    others = f"{len(honest) - len(changed | meant)} others as before"
    if message in ELSEWHERE:
        name, claim = ELSEWHERE[message]
        if meant or changed:
            return f"{len(changed)} files have another verdict, none was to", ""
        if unit_test_fails(name, claim, []):
            return f"{name} {claim} fails as it is", ""
        if not unit_test_fails(name, claim, [patched]):
            return f"{name} {claim} does not fail without it", ""
        return None, f"{name} {claim} fails without it, {others}"
    if not meant:
        return "no file meets it", ""
    if not meant & changed:
        return f"all {len(meant)} files that it rejects have the same verdict without it", ""
    for name in changed - meant:
        # an inverted condition is one place for two messages
        if not (any(message.startswith(b) for b in INVERTED) and "is not among" in honest[name][3]):
            return f"{name} has another verdict without it, and met another check: {honest[name]} {seen[name]}", ""
    outcomes = [(accepted, "accepted"), (len(changed) - accepted, "with another verdict"), (len(meant - changed), "refused alike")]
    parts = ", ".join(f"{n} {what}" for n, what in outcomes if n > 0)
    return None, f"{len(meant)} met it; without it {parts}; {others}"


honest = verdicts([])
passed = failed = 0
for path, line, message, text, at in sites():
    if wanted not in f"{path} {message}":
        continue
    wrong, seen = judge_site(path, message, text, at, honest)
    passed += wrong is None
    failed += wrong is not None
    print(f"{'ok  ' if wrong is None else 'FAIL'} {path}:{line} \"{message}\": {wrong or seen}", flush=True)
# The manifest's own verdicts are those of the library that the provers are linked with.
for line in (work / "lies/manifest.tsv").read_text().splitlines():
    name, _, _, status, check, index, title = line.split("\t")
    if honest[name][:3] != [status, check, index]:
        failed += 1
        print(f"FAIL \"{title}\" is {honest[name]}, not {status} {check} {index}")
print(f"check-checks: {passed} passed, {failed} failed")
sys.exit(0 if failed == 0 and passed > 0 else 1)
PYTHON
