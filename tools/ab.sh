#!/usr/bin/env bash
# Is it faster?  Two builds in turn, A B A B ..., and their ratios pair by pair.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tools/ab.sh [OPTIONS] REVISION [WORKLOAD]          A is the revision, B the working tree
#     tools/ab.sh [OPTIONS] --binaries A B [WORKLOAD]    two commands that are there
#     tools/ab.sh --clean                                removes build/ab
#
# WORKLOAD is what follows `sheaf bench`: aggregate --signers 64 --threads 1 by default; hash, commit and kernels do as well.
#
#   --with REVISION    B is this revision instead of the working tree
#   --pairs N          pairs of runs (5; 3 for kernels)
#   --isa ISA          the back end's cap for both: portable, avx2, avx512, neon
#   --threads N        in place of the workload's
#   --second WORKLOAD  what B runs instead, as one argument: `--second "hash --log-n 14 --threads 2"`
#   --figure NAME      the field of the bench's JSON that is compared (the least time of a run)
#   --stages           also the ratio of every stage
#   --preset NAME      how revisions are built (native)
#
# A ratio is A / B: over 1 where B is faster. Revisions are built apart, in work trees under build/ab, which stay for the next
# time; the checkout is not touched. SHEAF_AB_DIR puts them elsewhere. Exit code: 0, or 2 for any error.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ab=${SHEAF_AB_DIR:-$root/build/ab}

fail() {
    printf 'ab: %s\n' "$*" >&2
    exit 2
}
usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}"; }

# What was built: only folders of the names that are given here.
clean() {
    local folder
    for folder in "$ab"/tree "$ab"/[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]; do
        if [ -d "$folder" ]; then rm -rf "$folder"; fi
    done
    git -C "$root" worktree prune
    if [ -d "$ab" ]; then rmdir --ignore-fail-on-non-empty "$ab"; fi
}

# ---- arguments ----

with='' pairs='' isa='' threads='' second='' figure='' stages=0 preset=native binaries=() revision=''
number() { # option, value
    case "$2" in '' | *[!0-9]* | 0*) fail "$1: $2 is not a positive number" ;; esac
}
while [ $# -gt 0 ]; do
    case "$1" in
        --with | --pairs | --isa | --threads | --second | --figure | --preset)
            [ $# -ge 2 ] || fail "$1: needs a value"
            case "$1" in
                --pairs | --threads) number "$1" "$2" ;;
                --isa) case "$2" in portable | avx2 | avx512 | neon) ;; *) fail "--isa: $2 is no back end" ;; esac ;;
            esac
            printf -v "${1#--}" '%s' "$2"
            shift 2
            ;;
        --binaries)
            [ $# -ge 3 ] || fail "--binaries: needs two commands"
            binaries=("$2" "$3")
            shift 3
            ;;
        --stages) stages=1 && shift ;;
        --clean)
            clean
            exit 0
            ;;
        -h | --help) usage && exit 0 ;;
        -*) fail "$1: unknown option (see --help)" ;;
        *) break ;;
    esac
done
if [ "${#binaries[@]}" = 0 ]; then
    [ $# -ge 1 ] || fail "a revision is needed (see --help)"
    revision=$1
    shift
elif [ -n "$with" ]; then
    fail "--with: goes with a revision, not with --binaries"
fi
[ "${1-}" = bench ] && shift
workload=("$@")
[ $# -gt 0 ] || workload=(aggregate --signers 64 --threads 1)
command -v python3 >/dev/null || fail "python3 is needed"

# ---- building ----

# The revision's command in $built; its work tree is made where it is not there yet.
build_revision() {
    local sha dir
    sha=$(git -C "$root" rev-parse --verify --quiet "$1^{commit}") || fail "$1: no such revision"
    dir=$ab/${sha:0:12}
    built=$dir/$preset/sheaf
    if [ -x "$built" ] && [ -f "$dir/$preset.done" ]; then return; fi
    if [ "$(git -C "$dir/source" rev-parse --verify --quiet HEAD 2>/dev/null)" != "$sha" ]; then
        rm -rf "$dir"
        mkdir -p "$dir"
        git -C "$root" worktree prune
        git -C "$root" worktree add --quiet --force --detach "$dir/source" "$sha" >"$dir/worktree.log" 2>&1 ||
            fail "$1: no work tree could be made: $(tail -n 1 "$dir/worktree.log")"
    fi
    build "$1" "$dir/source" "$dir"
    touch "$dir/$preset.done"
}

build_tree() {
    mkdir -p "$ab/tree"
    built=$ab/tree/$preset/sheaf
    build "the working tree" "$root" "$ab/tree"
}

build() { # what, source, folder
    local log=$3/$preset.log
    printf 'building %s\n' "$1" >&2
    if ! { cmake -S "$2" --preset "$preset" -B "$3/$preset" -DSHEAF_BUILD_TESTS=OFF \
        "-DSHEAF_BEARSSL_DIR=$root/.deps/bearssl" &&
        cmake --build "$3/$preset" -j "${JOBS:-2}" --target sheaf; } >"$log" 2>&1 || ! [ -x "$3/$preset/sheaf" ]; then
        tail -n 15 "$log" >&2
        fail "$1: the build failed: $log"
    fi
}

if [ "${#binaries[@]}" = 0 ]; then
    cd "$root" # presets are found from here
    build_revision "$revision"
    binaries=("$built")
    names=("$revision ($(git -C "$root" log -1 --format='%h %s' "$revision" | cut -c 1-60))")
    if [ -n "$with" ]; then
        build_revision "$with"
        names+=("$with ($(git -C "$root" log -1 --format='%h %s' "$with" | cut -c 1-60))")
    else
        build_tree
        names+=("the working tree")
    fi
    binaries+=("$built")
else
    names=("${binaries[@]}")
    for i in 0 1; do
        { [ -f "${names[i]}" ] && [ -x "${names[i]}" ]; } || fail "${names[i]}: is no command"
        binaries[i]=$(realpath "${names[i]}") # a name alone would be looked for on the PATH
    done
fi

# ---- running ----

if [ -n "$isa" ]; then export SHEAF_ISA=$isa; fi
export ab_a=${binaries[0]} ab_b=${binaries[1]} ab_name_a=${names[0]} ab_name_b=${names[1]}
export ab_pairs=$pairs ab_threads=$threads ab_second=$second ab_figure=$figure ab_stages=$stages
exec python3 - "${workload[@]}" <<'END'
import filecmp
import json
import os
import shlex
import subprocess
import sys
import tempfile

TIMES = ("seconds_prove_least", "seconds_commit_least", "seconds_prove", "seconds_commit")


def option(name):
    return os.environ["ab_" + name]


def fail(text):
    print("ab: " + text, file=sys.stderr)
    sys.exit(2)


def middle(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def workload(words):
    words = words[1:] if words[:1] == ["bench"] else list(words)
    if not words:
        fail("--second: is empty")
    if option("threads") and words[0] != "kernels":
        if "--threads" in words:
            at = words.index("--threads")
            del words[at : at + 2]
        words += ["--threads", option("threads")]
    return words


def run(binary, words, output):
    # A revision that keeps no output, and a bench that has none, do without.
    keeps = words[0] in ("hash", "aggregate") and not {"-o", "--output"} & set(words)
    line = [binary, "bench", *words, "--json"] + (["-o", output] if keeps else [])
    shown = "%s bench %s" % (binary, " ".join(words))
    try:
        done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        fail("%s: %s" % (shown, error.strerror))
    if done.returncode != 0:
        fail("%s: exit code %d: %s" % (shown, done.returncode, done.stderr.strip().split("\n")[-1]))
    try:
        return json.loads(done.stdout)
    except ValueError:
        fail("%s: its output is not JSON" % shown)


def figure_of(a, b):
    if option("figure"):
        return option("figure")
    for name in TIMES:
        if name in a and name in b:
            return name
    fail("the runs have no time in common (see --figure)")


def value(said, name):
    v = said.get(name)
    if not isinstance(v, (int, float)) or v <= 0:
        fail("%s: is no positive number of this bench" % name)
    return v


def summary(name, ratios):
    plural = "" if len(ratios) == 1 else "s"
    print("%s: median %.4f, range %.4f .. %.4f of %d pair%s" % (name, middle(ratios), min(ratios), max(ratios), len(ratios), plural))


def stages_of(said, stages=None, place=""):
    found = {}
    for s in said["stages"] if stages is None else stages:
        path = place + s["name"]
        found[path] = s["seconds"]
        found.update(stages_of(said, s["children"], path + " / "))
    return found


def table(rows, heading, digits):
    """The least of all runs and their ratio, which a busy machine moves least; then the ratios pair by pair."""
    width = max(len(heading), *(len(name) for name, _ in rows))
    print("\n%-*s %11s %11s %8s   %s" % (width, heading, "least A", "least B", "A/B", "median and range by pairs"))
    for name, pairs in rows:
        ratios = [a / b for a, b in pairs if b > 0]
        if ratios:
            a, b = (min(p[i] for p in pairs) for i in (0, 1))
            shown = (width, name, digits, a, digits, b, a / b if b > 0 else 0, middle(ratios), min(ratios), max(ratios))
            print("%-*s %11.*f %11.*f %8.3f   %.3f (%.3f .. %.3f)" % shown)


def kernels(runs):
    def cycles(said):
        return {k["name"]: k["cycles"] if k["cycles"] > 0 else k["nanoseconds"] for k in said["kernels"]}

    pairs = [(cycles(a), cycles(b)) for a, b in runs]
    both = [name for name in pairs[0][0] if name in pairs[0][1]]
    if not both:
        fail("the two have no kernel in common")
    table([(name, [(a[name], b[name]) for a, b in pairs]) for name in both], "kernel, cycles an element", 2)
    for which, own, other in (("A", 0, 1), ("B", 1, 0)):
        alone = [name for name in pairs[0][own] if name not in pairs[0][other]]
        if alone:
            print("only in %s: %s" % (which, ", ".join(alone)))


def same_outputs(a, b, runs):
    if os.path.exists(a) and os.path.exists(b):
        return filecmp.cmp(a, b, shallow=False)
    roots = [said.get("root") for said in runs[0]]
    return None if None in roots else roots[0] == roots[1]


def main():
    mine = workload(sys.argv[1:])
    other = workload(shlex.split(option("second"))) if option("second") else mine
    whole = mine[0] != "kernels"
    if whole != (other[0] != "kernels"):
        fail("--second: kernels are compared with kernels only")
    pairs = int(option("pairs") or (5 if whole else 3))
    print("A: %s\nB: %s\nbench %s" % (option("name_a"), option("name_b"), " ".join(mine)))
    if other != mine:
        print("B runs bench " + " ".join(other))
    runs, ratios = [], []
    with tempfile.TemporaryDirectory() as folder:
        outputs = [os.path.join(folder, which) for which in "ab"]
        for i in range(pairs):
            a, b = (run(option(which), words, output) for which, words, output in zip("ab", (mine, other), outputs))
            runs.append((a, b))
            if i == 0:
                print("back end: %s" % (a["isa"] if a["isa"] == b["isa"] else "%s, %s" % (a["isa"], b["isa"])), flush=True)
            if whole:
                name = figure_of(a, b)
                ratios.append(value(a, name) / value(b, name))
                print("pair %d: A %.4f  B %.4f  A/B %.4f" % (i + 1, a[name], b[name], ratios[-1]), flush=True)
        if not whole:
            kernels(runs)
            return
        summary("A/B of " + name, ratios)
        a, b = (min(value(pair[i], name) for pair in runs) for i in (0, 1))
        print("A/B of the least of all runs: %.4f (%.4f / %.4f)" % (a / b, a, b))
        if all(said.get("cpu_seconds_least", 0) > 0 for pair in runs for said in pair):
            summary("A/B of cpu_seconds_least", [a["cpu_seconds_least"] / b["cpu_seconds_least"] for a, b in runs])
        same = same_outputs(*outputs, runs) if other == mine else None
        if same is not None:
            print("the results are the same bytes" if same else "THE RESULTS DIFFER")
    if option("stages") == "1":
        found = [(stages_of(a), stages_of(b)) for a, b in runs]
        both = [name for name in found[0][0] if all(name in a and name in b for a, b in found)]
        table([(name, [(a[name], b[name]) for a, b in found]) for name in both], "stage, seconds", 4)


main()
END
