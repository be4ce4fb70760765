#!/usr/bin/env python3
"""mutate.py BUILD [--only TEXT]... [--all] [--out FILE] [--jobs N]: does the suite notice?

Each entry of mutations.txt breaks the product in one place. The broken file is compiled
by the commands of BUILD (an optimised build with tests) and linked before the library
(rebuild.py), so neither the sources nor BUILD are touched; then the tests named beside it
run, and with --all, where these pass, every other one that executes the place. A test that
fails, crashes or takes ten times its usual CPU time has caught it. Ends with 1 if fewer
than 95 % are caught.
--fits runs nothing: it looks whether every breakage still has its place in the sources.

--random N draws N breakages instead (breakages.py, --seed S) and compiles them all into one
build (switched.py), so that a test is linked once. The tests where a breakage makes a
difference run with it, golden cases and short tests first, up to the first that fails or until
they have taken --seconds of CPU time (so the rate is a lower bound); what makes no difference
in any test has survived at once. Breakages that do not compile, or leave the machine code as it was,
do not count. --sanitized BUILD2 shows what these tests let pass to their sanitised forms: an
index one too far changes no result. Results are kept in BUILD/mutants.json, so that a run
that was interrupted, or ended by --minutes, goes on; survivors are shown to tests that
changed since. survivors.txt explains those that no test can notice; ends with 1 if fewer than
90 % of the others are caught.
"""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import breakages
import linemap
import random_judge
import rebuild
from random_judge import SAME
from rebuild import ROOT, Invalid

LIST = ROOT / "tools" / "mutations.txt"
EXPLAINED = ROOT / "tools" / "survivors.txt"
ENOUGH, ENOUGH_RANDOM = 0.95, 0.9
NAMED_SECONDS = 300  # CPU seconds of a test whose usual time is not known
SANITIZED_SLOWER = 10  # times the optimised test's time
RANDOM_SECONDS = 60  # CPU seconds of the tests that a random breakage is shown to


def read_list(path=LIST):
    mutants, lines = [], path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("@ "):
            name, file, *tests = (part.strip() for part in line[2:].split(" | "))
            mutants.append({"name": name, "file": file, "tests": " ".join(tests).split(),
                            "old": [], "new": []})
        elif line.startswith(("- ", "+ ")):
            mutants[-1]["old" if line[0] == "-" else "new"].append(line[2:])
        elif line and not line.startswith("#"):
            sys.exit(f"{path}:{number}: expected @, -, + or #")
    return mutants


def break_text(mutant):
    """Adds the file's text with the breakage and its line; what is taken out must be there once."""
    text = (ROOT / mutant["file"]).read_text()
    pattern = r"[ \t]*\n[ \t]*".join(re.escape(line) for line in mutant["old"])
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        sys.exit(f"{LIST}: '{mutant['name']}': {len(found)} places in {mutant['file']}")
    start, end = found[0].span()
    mutant["text"] = text[:start] + "\n".join(mutant["new"]) + text[end:]
    mutant["line"] = text.count("\n", 0, start) + 1


class Judge:
    """Says which test catches a breakage."""

    def __init__(self, build, lines=None, sanitized=False):
        self.build, self.lines, self.tests = build, lines, build.tests(".")
        self.sanitized = sanitized
        self.seconds = lines.seconds if lines else {}  # CPU seconds of tests, where known

    def notices(self, name, made, room):
        """True if the test fails with the broken objects."""
        test, instead = self.tests[name], {}
        of_program = all(rebuild.PROGRAM_PART in theirs for theirs in made)
        in_map = self.lines and name in self.lines.seconds
        program_runs = self.lines.runs_program(name) if in_map else True
        for target in rebuild.executables(self.build, test):
            is_program = target == rebuild.PROGRAM
            if program_runs if is_program else not of_program or "levels" in target:
                instead[target] = rebuild.link_made(self.build, target, made, room)
        command, environment = rebuild.replaced(self.build, test, instead)
        usual = self.seconds.get(name, NAMED_SECONDS / 10)
        if self.sanitized:
            usual *= SANITIZED_SLOWER
        status, _ = rebuild.run_test(command, environment, room, 10 + 10 * usual,
                                     self.build.folder, limit_memory=not self.sanitized)
        return status not in (0, 77)

    def alone(self, mutant, names):
        """The test of `names` that catches a breakage built by itself; None: none; SAME:
        nothing is broken."""
        names = [n for n in names if n in self.tests
                 and (not self.sanitized or is_built(self.tests[n]))]
        with tempfile.TemporaryDirectory(prefix="xb-mutant-") as name:
            room = pathlib.Path(name)
            try:
                made = rebuild.build_objects(self.build, mutant["file"], mutant["text"], room)
            except Invalid:
                return SAME
            if not self.sanitized and all(
                    code(ours, room) == code(self.build.folder / theirs, room)
                    for theirs, ours in made.items()):
                return SAME
            return self.first(names, made, room)

    def listed(self, mutant):
        """The test that catches a breakage of the list."""
        named = mutant["tests"]
        others = self.lines.tests_of(mutant["file"], mutant["line"]) if self.lines else []
        with tempfile.TemporaryDirectory(prefix="xb-mutant-") as name:
            room = pathlib.Path(name)
            made = rebuild.build_objects(self.build, mutant["file"], mutant["text"], room)
            return self.first(named + [t for t in others if t not in named], made, room)

    def first(self, names, made, room):
        return next((name for name in names if self.notices(name, made, room)), None)


def is_built(test):
    return os.access(test["command"][0], os.X_OK)


def code(path, room):
    """An object without what is there for debuggers."""
    subprocess.run(["objcopy", "--strip-debug", path, room / "code.o"], check=True)
    return (room / "code.o").read_bytes()


def say(mutant, by):
    print(f"{'caught by ' + by if by else 'SURVIVED':34}{mutant['file']}: {mutant['name']}",
          flush=True)


def run_listed(judge, chosen, at_once):
    """Every breakage of the list whose file is compiled here: [(mutant, caught by)]."""
    here = [m for m in chosen if judge.build.sources(m["file"])]
    for mutant in chosen:
        if mutant not in here:
            print(f"skipped: nothing here is compiled from {mutant['file']}: {mutant['name']}")
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        jobs = {pool.submit(judge.listed, m): m for m in here}
        for job in concurrent.futures.as_completed(jobs):
            say(jobs[job], job.result())
    return [(m, job.result()) for job, m in jobs.items()]


def table(results):
    lines = ["| file | breakage | caught by |", "| --- | --- | --- |"]
    for mutant, by in results:
        lines.append(f"| `{mutant['file']}` | {mutant['name']} | "
                     f"{'`' + by + '`' if by else mutant.get('why') or '**survived**'} |")
    return "\n".join(lines) + "\n"


def report(results, out, enough):
    explained = sum(1 for mutant, by in results if not by and mutant.get("why"))
    caught = sum(1 for _, by in results if by)
    print(f"{caught} of {len(results)} breakages caught"
          + (f", {explained} more are explained in {EXPLAINED.name}" if explained else ""))
    if out:
        pathlib.Path(out).write_text(table(results))
    return 0 if caught >= enough * (len(results) - explained) else 1


def random_main(args):
    build = rebuild.Build(args.build)
    mutants = list(itertools.islice(breakages.draw(ROOT, args.seed), args.random))
    sanitized = Judge(rebuild.Build(args.sanitized), sanitized=True) if args.sanitized else None
    explained = {(m["file"], *m["old"], *m["new"]): m["name"] for m in read_list(EXPLAINED)}
    for mutant in mutants:  # these need not run
        mutant["why"] = explained.get((mutant["file"], *mutant["old"], *mutant["new"]))
    judging = random_judge.Judging(build, mutants, args, Judge(build), sanitized)
    return report(judging.all(), args.out, ENOUGH_RANDOM)


def list_main(args):
    chosen = [m for m in read_list()
              if any(text in m["name"] + " " + m["file"] for text in args.only or [""])]
    for mutant in chosen:
        break_text(mutant)  # a list that does not fit the sources ends here
    if args.fits:
        print(f"{len(chosen)} breakages, each has its place")
        return 0
    build = rebuild.Build(args.build)
    lines = linemap.LineMap(build, args.jobs) if args.all else None
    return report(run_listed(Judge(build, lines), chosen, args.jobs), args.out, ENOUGH)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--only", action="append", help="breakages whose name or file has this")
    parser.add_argument("--fits", action="store_true", help="look at the list alone")
    parser.add_argument("--all", action="store_true",
                        help="all tests that execute the place, where those named pass")
    parser.add_argument("--out", help="a table of the results, Markdown")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--random", type=int, metavar="N", help="draw N breakages instead")
    parser.add_argument("--seed", type=int, default=1, help="of --random")
    parser.add_argument("--sanitized", metavar="BUILD2", help="of --random: a sanitised build")
    parser.add_argument("--seconds", type=float, default=RANDOM_SECONDS,
                        help="of --random: CPU seconds of tests for one breakage")
    parser.add_argument("--minutes", type=float, default=float("inf"),
                        help="of --random: begin nothing new after these; run again to go on")
    args = parser.parse_args()
    return random_main(args) if args.random else list_main(args)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Invalid as error:
        sys.exit(str(error))
