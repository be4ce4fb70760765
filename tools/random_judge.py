"""random_judge.py: which test catches which of the breakages drawn at random; for mutate.py.

First every test runs once without a breakage and notes where a breakage would have made a
difference. Then each breakage in turn, in the order in which they were drawn, is shown to the
tests where it made one, the shortest first: so the first of them are a fair sample when the
time is over.
"""
import concurrent.futures
import functools
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


class Results:
    """What was found of each breakage, kept in a file as it comes: "by", the test that caught
    it; "passed", {test: its digest}; "met", {test: [its digest, how it met the breakage
    (schemata.py), the CPU seconds it takes]}."""

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


class Judging:
    def __init__(self, build, mutants, args, judge, sanitized):
        self.build, self.mutants, self.args = build, mutants, args
        self.judge, self.sanitized = judge, sanitized
        self.results = Results(build.folder / "mutants.json")
        self.until = time.monotonic() + 60 * args.minutes
        usual = usual_seconds(build)
        self.tests = build.tests()
        self.order = sorted(self.tests, key=lambda name: usual.get(name, 1))
        self.done = set()

    def all(self):
        """[(mutant, caught by)] of the breakages that break something; of the first that were
        drawn, if the time was over before the others."""
        self.switched = switched.Switched(self.build, self.mutants, self.args.jobs)
        print(f"{len(self.mutants)} breakages, {len(self.switched.alone)} of them cannot be "
              f"switched; {len(self.order)} tests", flush=True)
        numbers = range(1, len(self.mutants) + 1)
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            list(pool.map(self.meet, self.order))
            list(pool.map(self.decide, numbers))
        first = list(itertools.takewhile(self.done.__contains__, numbers))
        if len(first) < len(self.mutants):
            print(f"the time is over; of the first {len(first)} that were drawn "
                  "(run again to go on):")
        ends = [(self.mutants[n - 1], self.known(n)["by"]) for n in first]
        return [(mutant, by) for mutant, by in ends if by != SAME]

    def known(self, number):
        return self.results.of(self.mutants[number - 1])

    def is_open(self, number):
        """Neither caught nor compiled nowhere."""
        known, file = self.known(number), self.mutants[number - 1]["file"]
        if not known["by"] and not self.build.sources(file):
            known["by"] = SAME
        return not known["by"]

    def over(self):
        return time.monotonic() > self.until

    def meet(self, name):
        """Runs one test without a breakage: where would one have made a difference?"""
        digest = linemap.test_digest(name)
        numbers = [n for n in range(1, len(self.mutants) + 1) if self.is_open(n)
                   and self.known(n)["met"].get(name, [None])[0] != digest]
        if not numbers or self.over():
            return
        try:
            status, usual, seen, output = self.switched.seen(self.tests[name], FIRST_SECONDS)
        except Exception as error:
            status, output = "an error", str(error)
        if status not in (0, 77):
            print(f"{name} ends with {status} without a breakage: {output[-300:]}", flush=True)
        if status == 0:
            for number in numbers:
                self.known(number)["met"][name] = [digest, seen[number], usual]
            self.results.keep()

    def near(self, number):
        """[(seconds, test)] of the tests where the breakage made a difference, the shortest
        first."""
        return sorted((seconds, name) for name, (_, how, seconds)
                      in self.known(number)["met"].items()
                      if name in self.tests and how & switched.NEAR)

    @functools.lru_cache(maxsize=None)
    def near_folder(self, folder):
        """The tests that came to any breakage of a folder."""
        return sorted({pair for number, mutant in enumerate(self.mutants, 1)
                       if mutant["file"].startswith(folder + "/")
                       for pair in self.near(number)})

    def to_show(self, number, near, extra):
        """Those of the tests that this breakage has still to be shown to, as many as their
        time allows."""
        passed, seconds = self.known(number)["passed"], 0
        for usual, name in near:
            seconds += usual + extra
            if seconds > self.args.seconds:
                return
            if passed.get(name) != linemap.test_digest(name):
                yield name, usual

    def decide(self, number):
        if self.over():
            return
        if self.is_open(number):
            known = self.known(number)
            self.judge_one(number, self.mutants[number - 1], known)
            if not (known["by"] or self.over()):
                known["by"] = self.last_resort(number, self.mutants[number - 1], known)
            if self.over() and not known["by"]:
                return
            met = max((how for _, how, _ in known["met"].values()), default=0)
            print(f"{'caught by ' + known['by'] if known['by'] else 'SURVIVED':34} "
                  f"{known['name']} (met {met})", flush=True)
            self.results.keep()
        self.done.add(number)

    def judge_one(self, number, mutant, known):
        """Shows it to the tests where it makes a difference."""
        alone, near = number in self.switched.alone, self.near(number)
        if alone:
            near = near or self.near_folder(mutant["file"].rpartition("/")[0])
            chosen = [n for n, _ in self.to_show(number, near, linemap.LINK_SECONDS)]
            known["by"] = self.judge.alone(mutant, chosen)
            if not known["by"]:
                known["passed"].update((n, linemap.test_digest(n)) for n in chosen)
            return
        for name, usual in self.to_show(number, near, 0):
            if self.over():
                return
            status, _, output = self.switched.run(
                self.tests[name], {"XB_MUTANT": str(number)},
                LEAST_SECONDS + TIMES_USUAL * usual)
            if status not in (0, 77):
                known["by"], known["how"] = name, f"{status}: {output[-400:]}"
                return
            known["passed"][name] = linemap.test_digest(name)

    def last_resort(self, number, mutant, known):
        """Is anything broken at all, and do the sanitised tests notice?"""
        if number not in self.switched.alone:
            same = self.judge.alone(mutant, [])
            if same:
                return same
        near = [name for _, name in self.near(number)]
        if self.sanitized and near and OF_MEMORY.search(mutant["new"][0]):
            return self.sanitized.alone(mutant, near[:5])
        return None
