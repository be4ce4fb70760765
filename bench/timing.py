"""How everything here is timed, and what a result looks like.

Ours and the peer take turns in one process on one core: warm-up, then `repeats`
pairs, the order swapped from pair to pair. A turn repeats the work until it is
long enough for the clock. The clock is the processor time of the whole process,
which a busy machine disturbs least and in which no helper thread is free.
A result is one JSON line; table.py makes the table of all of them. Work done by all
cores is timed by the wall clock (clock=time.perf_counter_ns), which a busy machine does
disturb.
"""

import argparse
import gc
import json
import os
import sys
import time

from crossbayes_ctypes import Library

REPEATS, REPEATS_QUICK = 15, 5
TURN_SECONDS, TURN_SECONDS_QUICK = 0.004, 0.001
BRIEF_SECONDS = 0.5  # a run shorter than this is begun with one that does not count
KS_LIMIT = 2.7  # sqrt(n) D above it: one false alarm in a million


class WrongResult(Exception):
    """One side does not compute what both were asked for."""


def seconds(work, times, clock=time.process_time_ns):
    start = clock()
    for _ in range(times):
        work()
    return (clock() - start) * 1e-9 / times


def spread(values):
    """Median and quartiles."""
    ordered = sorted(values)

    def at(p):
        place = p * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    return {"median": at(0.5), "q1": at(0.25), "q3": at(0.75)}


def limits_of(build):
    """What limits.py measured; nothing if it has not run."""
    try:
        with open(os.path.join(build, "limits.json")) as file:
            return json.load(file)
    except OSError:
        return {}


LIMIT_NAME = {"fma": "multiply-adds", "store": "stores", "draw": "draws alone",
              "read": "reads"}


class Bench:
    def __init__(self, about):
        parser = argparse.ArgumentParser(description=about)
        parser.add_argument("build", help="where the libraries were built")
        parser.add_argument("peer", nargs="?", help="whom to compare with")
        parser.add_argument("--quick", action="store_true", help="fewer, shorter repeats")
        parser.add_argument("--data", help="folder of measured data, if there is one")
        options = parser.parse_args()
        self.build, self.peer, self.quick = options.build, options.peer, options.quick
        self.data = options.data
        self.xb = Library(self.build)
        self.repeats = REPEATS_QUICK if self.quick else REPEATS
        self.limits = limits_of(self.build)

    def share(self, **work):
        """The least time that the machine needs for this much of one kind of work."""
        (kind, amount), = work.items()
        if not self.limits.get(kind):
            return None
        return {"name": LIMIT_NAME[kind], "seconds": amount / self.limits[kind]}

    def times_for(self, work):
        turn = TURN_SECONDS_QUICK if self.quick else TURN_SECONDS
        work()  # warm-up: tables, caches, lazily built things
        return max(1, round(turn / max(seconds(work, 1), 1e-7)))

    def put(self, **record):
        json.dump(record, sys.stdout)
        print(flush=True)
        print(f"  {record['workload']}: {record['case']}", file=sys.stderr)

    def compare(self, workload, case, ours, peer, theirs, items=1, target=None, check="",
                repeats=None, clock=time.process_time_ns, limit=None):
        """Both in turns; ratio = their time / our time of the same pair. limit: what
        share() says of one item."""
        work = (ours, theirs)
        times = [self.times_for(w) for w in work]
        brief = [seconds(w, 1, clock) < BRIEF_SECONDS for w in work]
        taken = ([], [])
        gc.disable()
        for turn in range(repeats or self.repeats):
            for side in ((0, 1), (1, 0))[turn % 2]:
                if brief[side]:  # the other side left the heap and the caches in disorder
                    work[side]()
                taken[side].append(seconds(work[side], times[side], clock))
        gc.enable()
        self.put(workload=workload, case=case, peer=peer, items=items, check=check,
                 ours=spread(taken[0]), theirs=spread(taken[1]),
                 ratio=spread([b / a for a, b in zip(*taken)]), target=target,
                 limit=limit and {"name": limit["name"], "share": limit["seconds"] * items
                                  / spread(taken[0])["median"]})

    def alone(self, workload, case, ours, items=1, target=None, check="", repeats=None):
        times = self.times_for(ours)
        gc.disable()
        taken = [seconds(ours, times) for _ in range(repeats or self.repeats)]
        gc.enable()
        self.put(workload=workload, case=case, peer=None, items=items, check=check,
                 ours=spread(taken), target=target)

    def missing(self, workload, case, peer, reason):
        self.put(workload=workload, case=case, peer=peer, missing=str(reason))

    def wrong(self, workload, case, peer, reason):
        """The peer answers, but not the question."""
        self.put(workload=workload, case=case, peer=peer, wrong=str(reason))

    def judge(self, who, ks):
        if not ks <= KS_LIMIT:
            raise WrongResult(f"{who}: draws miss the law, sqrt(n) KS = {ks:.3g}")
        return ks


def fastest(bench, workload, case, makers, clock=time.process_time_ns, tries=3):
    """Of a peer's forms, (name, maker of work) each, the one that needs least: its name
    and work. A form that cannot be had is a row of the table."""
    best = None
    for name, make in makers:
        try:
            work = make()
            work()  # compiles, warms up
            taken = min(seconds(work, 1, clock) for _ in range(tries))
        except Exception as error:  # a compiler that is not there: another form serves
            bench.missing(workload, case, name, (str(error).splitlines() or [name])[0])
            continue
        if best is None or taken < best[0]:
            best = (taken, name, work)
    if best is None:
        raise WrongResult("the peer has no form that runs")
    return best[1:]


def fastest_run(bench, workload, case, makers, steps):
    """The same of forms that are objects with run(steps): name and object."""
    made = {}

    def maker(name, make):
        def work_of():
            made[name] = make()
            return lambda: made[name].run(steps)
        return name, work_of

    name, _ = fastest(bench, workload, case, [maker(*m) for m in makers])
    return name, made[name]


def ratio_at_least(value, aim=None):
    return {"of": "ratio", "at_least": value, "aim": aim}


def ours_at_most(value):
    """Seconds per item."""
    return {"of": "ours", "at_most": value}
