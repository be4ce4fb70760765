"""random_judge.py: which test catches which of the breakages drawn at random; for mutate.py.

Each test runs once without a breakage and notes where a breakage would have made a difference,
then once with each of these that is not caught yet. The golden cases come first, because they
show whole results, to what is built by itself too; then the tests whose names say that they are
about a broken file. What is left is compiled by itself, in the order in which it was drawn: does
it change anything, and do the sanitised tests notice it?
"""
import concurrent.futures
import hashlib
import itertools
import json
import re
import threading
import time

import linemap
import rebuild
import switched

SAME = "same code"  # what takes the place of a test's name where there is nothing to catch
FIRST_SECONDS = 600  # CPU seconds of a test without breakages at most
LEAST_SECONDS, TIMES_USUAL = 3, 5  # CPU seconds with a breakage: at most
# Where a breakage may read or write too far and change no result.
OF_MEMORY = re.compile(r"[\[<>]|alloc|_new\(|_room\(|mem(cpy|set|move)|sizeof|size|bytes|\bn\b")


WORD = re.compile(r"[a-z]{4,}")  # of a file's or a test's name


class Results:
    """What was found of each breakage, kept in a file as it comes: "by", the test that caught
    it; "passed", {test: its digest}; "met", {test: [how it met the breakage (schemata.py), the
    CPU seconds it takes, its digest]}."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.found = json.loads(path.read_text()) if path.exists() else {}

    @staticmethod
    def key(mutant):
        return hashlib.sha256(f"{mutant['file']}\n{mutant['text']}".encode()).hexdigest()[:16]

    def of(self, mutant):
        with self.lock:
            return self.found.setdefault(self.key(mutant), {
                "name": f"{mutant['file']}: {mutant['name']}", "by": None, "passed": {},
                "met": {}})

    def seconds(self):
        """{test: CPU seconds} as earlier runs saw them."""
        return {name: seconds for known in self.found.values()
                for name, (_, seconds, _) in known["met"].items()}

    def keep(self):
        with self.lock:
            whole = self.path.with_suffix(".new")
            whole.write_text(json.dumps(self.found, indent=0))
            whole.replace(self.path)


def usual_seconds(build):
    """{test: seconds} as CTest saw them last."""
    path = build.folder / "Testing" / "Temporary" / "CTestCostData.txt"
    rows = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    return {row[0]: float(row[2]) for row in rows if len(row) == 3}


def is_golden(name):
    return name.startswith("golden_")


def by_kind(pair):
    return not is_golden(pair[1]), pair


class Judging:
    def __init__(self, build, mutants, args, judge, sanitized):
        self.build, self.mutants, self.args = build, mutants, args
        self.judge, self.sanitized = judge, sanitized
        self.results = Results(build.folder / "mutants.json")
        self.until = time.monotonic() + 60 * args.minutes
        usual = {**usual_seconds(build), **self.results.seconds()}
        for judge in filter(None, (judge, sanitized)):
            judge.seconds = usual
        self.tests = build.tests()
        words = {word for m in mutants if not self.results.of(m)["by"]
                 for word in WORD.findall(m["file"].partition("/")[2])}
        self.order = sorted(self.tests, key=lambda name: (
            not is_golden(name), not words & set(WORD.findall(name)), usual.get(name, 1)))
        self.spent = dict.fromkeys(range(1, len(mutants) + 1), 0)

    def all(self):
        """[(mutant, caught by)] of the breakages that break something."""
        self.switched = switched.Switched(self.build, self.mutants, self.args.jobs)
        print(f"{len(self.mutants)} breakages, {len(self.switched.alone)} of them cannot be "
              f"switched; {len(self.order)} tests", flush=True)
        numbers = range(1, len(self.mutants) + 1)
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            list(pool.map(self.show, filter(is_golden, self.order)))
            list(pool.map(self.finish, sorted(self.switched.alone)))
            list(pool.map(self.show, itertools.filterfalse(is_golden, self.order)))
            list(pool.map(self.finish, numbers))
        if self.over():
            print("the time is over, not everything was shown to every test; run again to go on")
        ends = [(self.mutants[n - 1], self.known(n)["by"]) for n in numbers]
        return [(mutant, by) for mutant, by in ends if by != SAME]

    def known(self, number):
        return self.results.of(self.mutants[number - 1])

    def is_open(self, number):
        """Neither caught nor explained nor compiled nowhere."""
        known, mutant = self.known(number), self.mutants[number - 1]
        if not known["by"] and not self.build.sources(mutant["file"]):
            known["by"] = SAME
        return not known["by"] and not mutant["why"]

    def over(self):
        return time.monotonic() > self.until

    # ---- breakages that are switched

    def is_done(self, number, name, digest):
        known = self.known(number)
        if number in self.switched.alone:  # those are only noted
            return known["met"].get(name, [None])[-1] == digest
        return known["passed"].get(name) == digest

    def show(self, name):
        """Runs one test with each breakage that makes a difference in it."""
        digest = linemap.test_digest(name)
        numbers = [n for n in self.spent if self.is_open(n) and self.spent[n] < self.args.seconds
                   and not self.is_done(n, name, digest)]
        if not numbers or self.over():
            return
        try:
            status, usual, seen, output = self.switched.seen(self.tests[name], FIRST_SECONDS)
        except Exception as error:
            status, output = "an error", str(error)
        if status not in (0, 77):
            print(f"{name} ends with {status} without a breakage: {output[-300:]}", flush=True)
        if status != 0:
            return
        self.judge.seconds[name] = usual
        print(f"{name}: {usual:.1f} s, {sum(seen[n] & switched.NEAR > 0 for n in numbers)} of "
              f"{len(numbers)} make a difference", flush=True)
        for number in numbers:
            if self.over():
                return
            self.known(number)["met"][name] = [seen[number], usual, digest]
            if number not in self.switched.alone:
                self.one(number, name, usual, seen[number])
        self.results.keep()

    def one(self, number, name, usual, how):
        """One test with one breakage."""
        known = self.known(number)
        if known["by"]:
            return
        if how & switched.NEAR:
            status, used, output = self.switched.run(
                self.tests[name], {"XB_MUTANT": str(number)},
                LEAST_SECONDS + TIMES_USUAL * usual)
            self.spent[number] += used
            if status not in (0, 77):
                known["by"], known["how"] = name, f"{status}: {output[-400:]}"
                print(f"{'caught by ' + name:34} {known['name']}", flush=True)
                self.results.keep()
                return
        known["passed"][name] = linemap.test_digest(name)

    # ---- the others

    def near(self, number):
        """[(seconds, test)] of the tests where the breakage made a difference, golden cases
        and short tests first."""
        return sorted(((seconds, name) for name, (how, seconds, _)
                       in self.known(number)["met"].items()
                       if name in self.tests and how & switched.NEAR), key=by_kind)

    def near_folder(self, folder):
        """The tests that came to any breakage of a folder."""
        return sorted({pair for number, mutant in enumerate(self.mutants, 1)
                       if mutant["file"].startswith(folder + "/")
                       for pair in self.near(number)}, key=by_kind)

    def to_show(self, number):
        """The tests that a breakage built by itself has still to be shown to, as many as its
        time allows."""
        folder = self.mutants[number - 1]["file"].rpartition("/")[0]
        passed, seconds, chosen = self.known(number)["passed"], 0, []
        for usual, name in self.near(number) or self.near_folder(folder):
            seconds += usual + linemap.LINK_SECONDS
            if seconds < self.args.seconds and passed.get(name) != linemap.test_digest(name):
                chosen.append(name)
        return chosen

    def finish(self, number):
        """A breakage that no test has caught: is anything broken at all, does a test notice it
        alone, or a sanitised one?"""
        mutant, known = self.mutants[number - 1], self.known(number)
        if not self.is_open(number) or self.over():
            return
        names = self.to_show(number) if number in self.switched.alone else []
        known["by"] = self.judge.alone(mutant, names)
        if not known["by"]:
            known["passed"].update((name, linemap.test_digest(name)) for name in names)
            if self.sanitized and OF_MEMORY.search(mutant["new"][0]):
                near = [name for _, name in self.near(number) if name in self.sanitized.tests]
                known["by"] = self.sanitized.alone(mutant, near[:5]) if near else None
        met = max((how for how, _, _ in known["met"].values()), default=0)
        print(f"{'caught by ' + known['by'] if known['by'] else 'SURVIVED':34} {known['name']}"
              f" (met {met})", flush=True)
        self.results.keep()
