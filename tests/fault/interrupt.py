"""A folder of results is made anew over an older one and cut off: by Ctrl-C (SIGINT) and by
SIGKILL, before chosen calls, among them every rename and every flush of a folder at the end,
when results are put in their places.

    interrupt.py PROGRAM SHIM

A mark is the file that tells of all others: a page, a list, a stamp. Where the old mark is,
all of its files are the old ones; where the new one is, the new ones. Each file is old or
new, whole. After Ctrl-C no temporary file is left, and results of `study` and `demo` are all
old or all new. The same command, run again, comes to the new results."""
import os
import random
import sys
from dataclasses import dataclass

from cases import make_inputs
from program import LONG, Program, Wrong, call_of, files

STUDY = ["study", "--quick", "--format", "svg", "-o", "results", "-q"]
SMALL = ["--widths", "1", "--depths", "1", "--seeds", "1"]
PAPER = ["reproduce", "--quick", "--only", "1,3", "--format", "svg", "-o", "paper", "-q"]
EARLIER = (1, 2, 6)[LONG]  # moments before results are put in place, of each kind
LAST = (4, 8, 25)[LONG]    # calls of each kind at the end, where results are put in place
TEMPORARY = (".tmp-", ".figure-")


@dataclass
class Scene:
    name: str
    args: list
    old: list     # what differs in the older run
    new: list
    groups: dict  # prefix of the files -> their marks
    whole: bool = True  # after Ctrl-C all is old or all is new
    heavy: bool = False  # some ten seconds a run: XB_LONG=1 only


SCENES = [
    Scene("study laws", [STUDY[0], "laws", *STUDY[1:]], ["--noise", "noise.csv"],
          ["--noise", "z.csv"], {"results/": ("laws.json", "laws.html")}),
    Scene("study energy", [STUDY[0], "energy", *STUDY[1:], *SMALL], ["--seed", "1"],
          ["--seed", "2"], {"results/energy": (".json", ".html")}),
    Scene("reproduce", PAPER, ["--seed", "1"], ["--seed", "2"],
          {"paper/": ("index.html", "claims.json"), "paper/fig1/": ("stamp.json",),
           "paper/fig3/": ("stamp.json",)}, whole=False),
    Scene("demo", ["demo", "-o", "demo", "-q"], ["--noise", "noise.csv"],
          ["--noise", "z.csv"], {"demo/": ("report.html",)}, heavy=True),
]


def is_temporary(name):
    return any(part in name for part in TEMPORARY)


def within(there, prefix):
    return {n: d for n, d in there.items() if n.startswith(prefix) and not is_temporary(n)}


def told_of(there, prefix, marks):
    return {n: d for n, d in within(there, prefix).items() if n not in marks}


def check_group(there, old, new, prefix, marks):
    """Beside a mark are its own files alone."""
    marks = [prefix + mark for mark in marks]
    for mark in marks:
        fits = mark not in there or any(
            side[mark] == there[mark] and
            told_of(side, prefix, marks) == told_of(there, prefix, marks)
            for side in (old, new))
        if not fits:
            mixed = [n for n, d in within(there, prefix).items() if d != old.get(n)]
            raise Wrong("%s stands beside %s of another run" % (mark, mixed[:4]))


def check(scene, there, old, new, interrupted):
    for name, data in there.items():
        if is_temporary(name) and interrupted:
            raise Wrong("left %s" % name)
        kept = is_temporary(name) or name.endswith((".safetensors", ".checkpoint"))
        if data not in (old.get(name), new.get(name)) and not kept:
            raise Wrong("%s is neither the old nor the new" % name)
    for prefix, marks in scene.groups.items():
        check_group(there, old, new, prefix, marks)
        if interrupted and scene.whole and \
                within(there, prefix) not in (within(old, prefix), within(new, prefix)):
            raise Wrong("%s is neither all old nor all new" % prefix)


def count_calls(program, scene, start):
    report = os.path.join(program.room, "calls")
    end = program.run(scene.args + scene.new, program.folder(start), report=report)
    if end.status != 0:
        raise Wrong("under the shim: %s" % end.stderr.decode())
    with open(report) as lines:
        return {w: int(n) for w, n, *more in map(str.split, lines) if not more}


def faults_of(scene, counts):
    """All renames and flushes of the last stretch, and moments before it."""
    rng = random.Random(scene.name)
    last = {kind: range(max(1, counts[kind] - LAST), counts[kind] + 1)
            for kind in ("rename", "dirsync")}
    chosen = {"%s:%d" % (kind, k) for kind in last for k in last[kind]}
    chosen.add("write:1")  # so that a run is certainly cut off before its results
    for kind in ("rename", "alloc", "write"):
        chosen |= {"%s:%d" % (kind, rng.randint(1, counts[kind])) for _ in range(EARLIER)}
    return [c + how for c in sorted(chosen, key=call_of) for how in (":int", ":kill")]


def check_again(program, scene, folder, new):
    program.must(scene.args + scene.new, folder)
    there = files(folder)
    for name, data in new.items():
        if there.get(name) != data:
            raise Wrong("run again, %s is not the new one" % name)


def run_scene(program, scene, inputs):
    start, seen = program.folder(inputs), {"old": 0, "new": 0, "between": 0}
    program.must(scene.args + scene.old, start)
    done = program.folder(start)
    program.must(scene.args + scene.new, done)
    old, new = files(start), files(done)
    faults = faults_of(scene, count_calls(program, scene, start))
    if old == new:
        raise Wrong("both runs come to the same: nothing is shown")
    again, tried = set(), 0
    for fault, end in program.run_copies(scene.args + scene.new, start, faults):
        if fault is None:
            continue
        try:
            there = files(end.folder)
            check(scene, there, old, new, fault.endswith(":int"))
            results = {n: d for p in scene.groups for n, d in within(there, p).items()}
            whole = [side for side, all_of in (("old", old), ("new", new)) if results ==
                     {n: d for p in scene.groups for n, d in within(all_of, p).items()}]
            state = whole[0] if whole else "between"
            seen[state] += 1
            tried += 1
            if state not in again:
                again.add(state)
                check_again(program, scene, end.folder, new)
        except Wrong as problem:
            raise Wrong("%s: %s" % (fault, problem))
    if not (seen["old"] and seen["new"]):
        raise Wrong("no run was cut off before, or none after its end: %s" % seen)
    print("%-14s cut off %3d times: %s" % (scene.name, tried, ", ".join(
        "%d %s" % (n, s) for s, n in seen.items())), flush=True)


def main():
    with Program(sys.argv[1], sys.argv[2]) as program:
        inputs = program.folder()
        make_inputs(program, inputs)
        program.must(["sample", "ecram:B=0.1,w=0.6", "-n", "60", "-o", "z.csv", "-q"], inputs)
        for scene in SCENES:
            if scene.heavy and not LONG:
                print("skipped: %s cut off (XB_LONG=1)" % scene.name)
                continue
            try:
                run_scene(program, scene, inputs)
            except Wrong as problem:
                print("WRONG %s, %s" % (scene.name, problem))
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
