"""Makes calls of the program fail, one at a time, and looks at what is left.

    faults.py PROGRAM SHIM [--sanitized] [--case NAME]... [--fault FAULT]

For every case (cases.py) and every fault: no signal, no leak (sanitised), and either

  - status 0, with the very output and files of an undisturbed run, or
  - another status and exactly one line on stderr; every file is, byte for byte, the one
    before or the new one; none is left that does not belong there; and the same command,
    without the fault, comes to the bytes of an undisturbed run.

Faults are the k-th allocation and the k-th start of a thread (alone, and with all after it),
the k-th open, write, sync (of a file, of a folder), rename, close, mkdir and fallocate, and a
disk that is full after n bytes. An allocation is
tried at the first and the last time that each place in the code makes it (a place is a call
stack); XB_LONG=1 takes all of these, and of cases that are not slow every single one;
without it a selection by a fixed seed."""
import argparse
import concurrent.futures
import os
import random
import re
import shutil
import sys
import time
from dataclasses import dataclass

from cases import CASES, make_inputs
from program import ASAN_EXIT, Program, Wrong, files, write

LONG = os.environ.get("XB_LONG", "0") not in ("", "0")
WORKERS = 2
CACHE = ".images"  # not written where it cannot be: the work goes on without
ERROR_LINE = re.compile("crossbayes( [a-z]+)?: .")


@dataclass
class Trial:
    """A case ready to be run: its folders and what an undisturbed run makes."""
    case: object
    fresh: str     # inputs alone
    previous: str  # and older files where the command writes
    inputs: dict
    made: dict     # files of the undisturbed run that are not inputs
    stdout: bytes
    counts: dict
    stacks: list


def prepare(program, case, inputs):
    fresh = program.folder(inputs)
    for args in case.prepare:
        program.must(args, fresh)
    after = program.folder(fresh)
    stdout = program.must(case.args, after)
    before = files(fresh)
    made = {name: data for name, data in files(after).items() if before.get(name) != data}
    previous = program.folder(fresh)
    for name in made:
        write(previous, name, b"what was at " + name.encode() + b" before\n")
    counts, stacks = count(program, case, fresh)
    return Trial(case, fresh, previous, before, made, stdout, counts, stacks)


def count(program, case, fresh):
    """How many calls of each kind there are, and where allocations are made."""
    report = os.path.join(program.room, "report-" + case.name)
    status, _, err = program.run(case.args, program.folder(fresh), report=report)
    if status != 0:
        raise Wrong("under the shim: status %d: %s" % (status, err.decode()))
    counts, stacks = {}, []
    with open(report) as lines:
        for line in lines:
            word, *numbers = line.split()
            if word == "stack":
                stacks.append(tuple(map(int, numbers)))
            else:
                counts[word] = int(numbers[0])
    return counts, sorted(stacks)


# ---- which faults

def allocation_faults(trial, sanitized):
    """The sanitizer itself cannot go on when memory stays out: it gets single ones."""
    places = {k for ends in trial.stacks for k in ends}
    if LONG and not trial.case.slow and not trial.case.heavy:
        places = range(1, trial.counts["alloc"] + 1)
    for k in sorted(places):
        yield "alloc:%d" % k
        if not sanitized:
            yield "alloc:%d:on" % k


def file_faults(trial):
    reasons = {"write": ("EIO", "ENOSPC", "EINTR", "short"), "open": ("ENOSPC",),
               "truncate": ("ENOSPC",), "dirsync": ("EIO", "EINVAL"), "thread": ("", "on")}
    for kind in ("open", "write", "sync", "dirsync", "rename", "close", "mkdir", "truncate",
                 "thread"):
        for k in range(1, trial.counts[kind] + 1):
            for reason in reasons.get(kind, ("EIO",)):
                yield "%s:%d:%s" % (kind, k, reason)
    size = trial.counts["space"]
    for n in sorted({0, 1, size // 4, size // 2, 3 * size // 4, size - 1}):
        yield "space:%d" % n


def choose(rng, faults, most):
    faults = list(faults)
    if len(faults) <= most:
        return faults
    most = max(most, 1)
    step = len(faults) / most
    return [faults[int((i + rng.random()) * step)] for i in range(most)]


def plan(trial, most, sanitized):
    """`most` faults, half of them allocations; all of them if it is None."""
    rng = random.Random(trial.case.name)
    memory, disk = allocation_faults(trial, sanitized), file_faults(trial)
    if most is None:
        return [*memory, *disk]
    return choose(rng, memory, most - most // 2) + choose(rng, disk, most // 2)


def starts(trial, fault, both):
    """With older files in the place of outputs and without, or (memory) one of the two."""
    folders = [trial.fresh, trial.previous]
    if both and not fault.startswith("alloc"):
        return folders
    return [random.Random(fault).choice(folders)]


# ---- one fault

def check_words(fault, status, err):
    """One clear line; it does not blame the input for memory that is out."""
    lines = [line for line in err.decode(errors="replace").splitlines() if line.strip()]
    if status < 0:
        raise Wrong("died of signal %d: %s" % (-status, " | ".join(lines[:3])))
    if status == ASAN_EXIT:
        raise Wrong("sanitizer: " + "\n".join(lines[:40]))
    if len(lines) != 1 or not ERROR_LINE.match(lines[0]):
        raise Wrong("status %d and %d lines: %s" % (status, len(lines), " | ".join(lines)))
    if fault.startswith("alloc") and "memory" not in lines[0]:
        raise Wrong("does not say that memory is out: " + lines[0])
    return lines[0]


def check_files(trial, folder, start):
    """Each file as it was or as it shall be; nothing else but what may be left."""
    there, before = files(folder), files(start)
    for name, data in there.items():
        if data == before.get(name) or data == trial.made.get(name):
            continue
        if not name.endswith(trial.case.leaves or ("\0",)) or ".tmp-" in name:
            raise Wrong("left %s (%d bytes)" % (name, len(data)))
    for name in before:
        if name not in there:
            raise Wrong("took %s away" % name)


def check_whole(trial, folder, stdout):
    there = files(folder)
    want = dict(trial.inputs, **trial.made)
    if stdout != trial.stdout:
        raise Wrong("said that all is well, but printed something else")
    for name in sorted(there.keys() | want.keys()):
        if there.get(name) != want.get(name) and not name.endswith(CACHE):
            raise Wrong("said that all is well, but %s is %s" %
                        (name, "another" if name in there else "missing"))


def check_again(program, trial, folder):
    """Without the fault the command comes to what it should have come to."""
    status, _, err = program.run(trial.case.args, folder)
    if status != 0:
        raise Wrong("afterwards, without a fault: status %d: %s" % (status, err.decode()))
    there = files(folder)
    for name, data in trial.made.items():
        if there.get(name) != data:
            raise Wrong("afterwards %s is not that of an undisturbed run" % name)


def run_fault(program, trial, fault, start):
    folder = program.folder(start)
    try:
        status, out, err = program.run(trial.case.args, folder, fault=fault)
        if status == 0:
            check_whole(trial, folder, out)
            return "passed"
        said = check_words(fault, status, err)
        check_files(trial, folder, start)
        if fault.endswith((":short", ":EINVAL")) or fault.startswith("thread"):
            raise Wrong("this is no reason to fail: " + said)
        if trial.case.leaves and not program.sanitized:
            check_again(program, trial, folder)
        return said
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- all of them

def run_case(program, case, inputs, most, only, verbose):
    begun, wrong = time.time(), []
    trial = prepare(program, case, inputs)
    faults = [only] if only else plan(trial, most, program.sanitized)
    for fault in faults:
        for start in starts(trial, fault, most is None):
            try:
                said = run_fault(program, trial, fault, start)
                if verbose:
                    print("  %s %s: %s" % (case.name, fault, said))
            except Wrong as problem:
                wrong.append("%s, %s: %s" % (case.name, fault, problem))
                print("WRONG " + wrong[-1], flush=True)
    print("%-18s %6d allocations at %4d places, %5d faults, %2d wrong, %5.1f s" %
          (case.name, trial.counts["alloc"], len(trial.stacks), len(faults), len(wrong),
           time.time() - begun), flush=True)
    return wrong


def how_many(case, sanitized):
    """Faults of a case (None: all); a selection takes some ten seconds in all."""
    if LONG and not sanitized:
        return case.most
    if case.heavy or (case.slow and sanitized):
        return 0
    return 2 if case.slow or sanitized else 12


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("shim")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--case", action="append", help="only this one; may be repeated")
    parser.add_argument("--fault", help="only this one, as XB_FAULT")
    parser.add_argument("--most", type=int, help="faults a case")
    parser.add_argument("-v", "--verbose", action="store_true")
    a = parser.parse_args()
    cases = [c for c in CASES if c.name in (a.case or [c.name])]
    wrong = []
    with Program(a.program, a.shim, a.sanitized) as program, \
            concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        inputs = program.folder()
        make_inputs(program, inputs)
        jobs = []
        for c in cases:
            most = how_many(c, a.sanitized) if a.most is None else a.most
            if most != 0 or a.fault:
                jobs.append(pool.submit(run_case, program, c, inputs, most, a.fault,
                                        a.verbose))
        for job in jobs:
            wrong += job.result()
    print("%d wrong" % len(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
