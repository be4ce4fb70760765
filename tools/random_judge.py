"""random_judge.py: which test catches which of the breakages drawn at random; for mutate.py."""
import concurrent.futures
import functools
import hashlib
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
    it; "passed", {test: its digest}; "differs", those of them where it made a difference."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.found = json.loads(path.read_text()) if path.exists() else {}

    @staticmethod
    def key(mutant):
        return hashlib.sha256(f"{mutant['file']}\n{mutant['text']}".encode()).hexdigest()[:16]

    def of(self, mutant):
        return self.found.setdefault(self.key(mutant), {
            "name": f"{mutant['file']}: {mutant['name']}", "by": None, "passed": {},
            "differs": {}, "seen": 0})

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
        self.spent = dict.fromkeys(range(len(mutants) + 1), 0)

    def all(self):
        """[(mutant, caught by)] of the breakages that break something."""
        self.switched = switched.Switched(self.build, self.mutants, self.args.jobs)
        print(f"{len(self.mutants)} breakages, {len(self.switched.alone)} of them cannot be "
              "switched", flush=True)
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            list(pool.map(self.show, self.order))
            list(pool.map(self.finish, range(1, len(self.mutants) + 1)))
        if time.monotonic() > self.until:
            raise rebuild.Invalid("the time is over; run again to go on")
        ends = [(mutant, self.results.of(mutant)["by"]) for mutant in self.mutants]
        return [(mutant, by) for mutant, by in ends if by != SAME]

    def open_numbers(self, name):
        """The breakages that this test has still to be asked about."""
        digest = linemap.test_digest(name)
        return [n for n, mutant in enumerate(self.mutants, 1)
                if not (known := self.results.of(mutant))["by"]
                and known["passed"].get(name) != digest and self.spent[n] < self.args.seconds
                and self.build.sources(mutant["file"])]

    def show(self, name):
        """Runs one test with each breakage that makes a difference in it."""
        numbers = self.open_numbers(name)
        if not numbers or time.monotonic() > self.until:
            return
        try:
            status, usual, seen, output = self.switched.seen(self.tests[name], FIRST_SECONDS)
        except Exception as error:
            print(f"{name} cannot be used: {str(error)[-500:]}", flush=True)
            return
        if status != 0:
            print(f"{name} ends with {status} without a breakage: {output[-300:]}", flush=True)
            return
        for number in numbers:
            if time.monotonic() > self.until:
                return
            self.one(name, number, usual, seen[number])
        self.results.keep()

    def one(self, name, number, usual, how):
        mutant = self.mutants[number - 1]
        known = self.results.of(mutant)
        known["seen"] |= how
        if known["by"]:
            return
        if how & switched.NEAR:
            known["differs"][name] = usual
            if number not in self.switched.alone:
                status, used, output = self.switched.run(
                    self.tests[name], {"XB_MUTANT": str(number)},
                    LEAST_SECONDS + TIMES_USUAL * usual)
                self.spent[number] += used
                if status not in (0, 77):
                    known["by"], known["how"] = name, f"{status}: {output[-400:]}"
                    print(f"caught by {name:25} {known['name']}", flush=True)
                    self.results.keep()
                    return
        if number not in self.switched.alone:
            known["passed"][name] = linemap.test_digest(name)

    @functools.lru_cache(maxsize=None)
    def near(self, folder):
        """The tests that came to any breakage of a folder."""
        return sorted({name for m in self.mutants if m["file"].startswith(folder + "/")
                       for name in self.results.of(m)["differs"]}, key=self.order.index)

    def finish(self, number):
        """Breakages that were not caught: alone, is anything broken at all, and sanitised?"""
        mutant = self.mutants[number - 1]
        known = self.results.of(mutant)
        if known["by"] or time.monotonic() > self.until:
            return
        if not self.build.sources(mutant["file"]):
            known["by"] = SAME
            return
        near = sorted(known["differs"], key=known["differs"].get)
        if number in self.switched.alone:
            near = near or self.near(mutant["file"].rpartition("/")[0])
            names, seconds = [], 0
            for name in near:
                seconds += known["differs"].get(name, 1) + linemap.LINK_SECONDS
                if seconds < self.args.seconds and \
                        known["passed"].get(name) != linemap.test_digest(name):
                    names.append(name)
        else:
            names = []
        known["by"] = self.judge.alone(mutant, names)
        if not known["by"]:
            known["passed"].update((name, linemap.test_digest(name)) for name in names)
        if not known["by"] and self.sanitized and near and OF_MEMORY.search(mutant["new"][0]):
            known["by"] = self.sanitized.alone(mutant, near[:5])
        print(f"{'caught by ' + known['by'] if known['by'] else 'SURVIVED':34} {known['name']}"
              f" (seen {known['seen']})", flush=True)
        self.results.keep()
