"""Makes calls of the program fail, one at a time, and looks at what is left.

    faults.py PROGRAM SHIM [--sanitized] [--case NAME]... [--fault FAULT]

For every case (cases.py) and every fault: no signal, no leak (sanitised), and either

  - status 0, with the very output and files of an undisturbed run, or
  - another status and exactly one line on stderr; every file is, byte for byte, the one
    before or the new one; none is left that does not belong there; and the same command,
    without the fault, comes to the bytes of an undisturbed run.

Faults are the k-th allocation and the k-th start of a thread (alone, and with all after it),
the k-th open, write, sync (of a file, of a folder), rename, close, mkdir and fallocate, and a
disk that is full after n bytes. Each run begins in one of two folders: without older files
in the place of its outputs, and with them. Of the two ways of an allocation to fail each
folder has one, by turns. A command is run once a folder, and copies of that run suffer the
faults (fork.c); the few that copies cannot are run by themselves.

XB_LONG=2 takes every fault. Some do not stop the command (half of a write, EINTR, a stream
without a buffer, a word that cannot be printed): each of these costs as much as the rest of
the run, so long commands get a selection of them, and under a sanitizer a selection of all.
With XB_LONG=1, and more so without it, every command gets a selection by a fixed seed. Under
a sanitizer, allocations are the first and the last of each place in the code (a call
stack)."""
import argparse
import concurrent.futures
import hashlib
import os
import random
import re
import shutil
import sys
import time
from dataclasses import dataclass, field

from cases import CASES, make_inputs
from program import ASAN_EXIT, KINDS, LONG, Program, Wrong, call_of, files, write

WORKERS = 2
CACHE = ".images"
ERROR_LINE = re.compile("crossbayes( [a-z]+)?: .")
GOES_ON = (":short", ":EINTR", ":EINVAL")
MOST_GO_ON = 60  # faults that do not stop a command, of long ones
HEAVY_SANITIZED = 40
# Faults of a case and a folder in the short form and in the long one, without and with a
# sanitizer.
SELECTED = ({"quick": (8, 100), "slow": (5, 30), "heavy": (0, 10)},
            {"quick": (3, 20), "slow": (0, 10), "heavy": (0, 4)})
SANITIZER_FAILED = b"AddressSanitizer: CHECK failed"  # itself, where it starts a thread


@dataclass
class Start:
    """A folder that a run begins in, and how many calls of each kind it then makes."""
    folder: str
    files: dict
    counts: dict
    stacks: list  # the first and last allocation of each place in the code


@dataclass
class Trial:
    """A case ready to be run, and what an undisturbed run makes."""
    case: object
    fresh: Start     # inputs alone
    previous: Start  # and older files where the command writes
    made: dict       # files of the undisturbed run that are not inputs
    stdout: bytes
    resumed: dict = field(default_factory=dict)  # what came of folders that faults left


def prepare(program, case, inputs):
    folder = program.folder(inputs)
    for args in case.prepare:
        program.must(args, folder)
    after = program.folder(folder)
    stdout = program.must(case.args, after)
    before = files(folder)
    made = {name: data for name, data in files(after).items() if before.get(name) != data}
    previous = program.folder(folder)
    for name in made:
        kind = b""  # a cache or a figure's script that is none of ours is not replaced
        if name.endswith(CACHE):
            kind = b"XBIMAGE\0"
        elif name.endswith(".gp"):
            kind = made[name].splitlines(True)[0]
        write(previous, name, kind + b"what was at " + name.encode() + b" before\n")
    return Trial(case, begin(program, case, folder), begin(program, case, previous), made,
                 stdout)


def begin(program, case, folder):
    """Counts the calls of a run that begins in this folder."""
    report = os.path.join(program.room, "report-" + case.name)
    end = program.run(case.args, program.folder(folder), report=report)
    if end.status != 0:
        raise Wrong("under the shim: status %d: %s" % (end.status, end.stderr.decode()))
    counts, stacks = {}, []
    with open(report) as lines:
        for line in lines:
            word, *numbers = line.split()
            if word == "stack":
                stacks.append(tuple(map(int, numbers)))
            else:
                counts[word] = int(numbers[0])
    return Start(folder, files(folder), counts, sorted(stacks))


# ---- which faults

def allocation_faults(trial, start, sanitized):
    """The sanitizer itself cannot go on when memory stays out: it gets single ones."""
    if sanitized:
        for k in sorted({k for ends in start.stacks for k in ends}):
            yield "alloc:%d" % k
        return
    for k in range(1, start.counts["alloc"] + 1):
        alone = k % 2 == (start is trial.fresh)
        yield "alloc:%d" % k if alone else "alloc:%d:on" % k


def file_faults(start):
    writes = ("EIO", "ENOSPC", "EINTR", "short")
    reasons = {"write": writes, "print": writes, "open": ("ENOSPC",), "truncate": ("ENOSPC",),
               "dirsync": ("EIO", "EINVAL"), "thread": ("", "on"), "buffer": ("", "on")}
    for kind in KINDS[1:-1]:
        for k in range(1, start.counts[kind] + 1):
            for reason in reasons.get(kind, ("EIO",)):
                yield "%s:%d:%s" % (kind, k, reason)
    size = start.counts["space"]
    for n in sorted({0, 1, size // 4, size // 2, 3 * size // 4, size - 1}):
        yield "space:%d" % n


def goes_on(fault):
    """A command goes on, whole or to its end."""
    return fault.startswith(("buffer", "print")) or fault.endswith(GOES_ON)


def choose(rng, faults, most):
    if len(faults) <= most:
        return faults
    step = len(faults) / max(most, 1)
    return [faults[int((i + rng.random()) * step)] for i in range(most)]


def plan(trial, start, most, sanitized):
    """`most` faults, half of them allocations; all of them if it is None."""
    rng = random.Random(trial.case.name + os.path.basename(start.folder))
    memory, disk = list(allocation_faults(trial, start, sanitized)), list(file_faults(start))
    if most is not None:
        return choose(rng, memory, most - most // 2) + choose(rng, disk, most // 2)
    lasting = [f for f in disk if goes_on(f)]
    if trial.case.heavy:
        lasting = choose(rng, lasting, MOST_GO_ON)
    return memory + [f for f in disk if not goes_on(f)] + lasting


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
    if fault.startswith(("alloc", "buffer")) and "memory" not in lines[0]:
        raise Wrong("does not say that memory has run out: " + lines[0])
    return lines[0]


def check_files(trial, there, start):
    """Each file as it was or as it shall be; nothing else but what may be left."""
    for name, data in there.items():
        if data == start.files.get(name) or data == trial.made.get(name):
            continue
        if not name.endswith(trial.case.leaves or ("\0",)) or ".tmp-" in name:
            raise Wrong("left %s (%d bytes)" % (name, len(data)))
    for name in start.files:
        if name not in there and not name.startswith(trial.case.discards) and \
                not name.endswith(trial.case.marks or ("\0",)):
            raise Wrong("took %s away" % name)


def check_whole(trial, there, stdout):
    want = dict(trial.fresh.files, **trial.made)
    if stdout != trial.stdout:
        raise Wrong("said that all is well, but printed something else")
    for name in sorted(there.keys() | want.keys()):
        if there.get(name) != want.get(name):
            raise Wrong("said that all is well, but %s is %s" %
                        (name, "another" if name in there else "missing"))


def check_again(program, trial, folder, there):
    """Without the fault the command comes to what it should have come to. The same files
    come to the same end: they are tried once."""
    read = [file for file in sorted(there.items()) if file[0].endswith(trial.case.reads)]
    key = hashlib.sha256(repr(read).encode()).digest()
    if key not in trial.resumed:
        trial.resumed[key] = problem_again(program, trial, folder)
    if trial.resumed[key]:
        raise Wrong("afterwards, without a fault: " + trial.resumed[key])


def problem_again(program, trial, folder):
    end = program.run(trial.case.args, folder)
    if end.status != 0:
        return "status %d: %s" % (end.status, end.stderr.decode())
    there = files(folder)
    for name, data in trial.made.items():
        if there.get(name) != data:
            return name + " is not that of an undisturbed run"
    return None


def judge(program, trial, start, fault, end):
    """What the program said, if all is as it should be."""
    if end.status == ASAN_EXIT and SANITIZER_FAILED in end.stderr:
        return "nothing: the sanitizer itself had no memory"
    there = files(end.folder)
    if end.status == 0:
        check_whole(trial, there, end.stdout)
        return "passed"
    said = check_words(fault, end.status, end.stderr)
    check_files(trial, there, start)
    if fault.endswith((":short", ":EINVAL")) or fault.startswith(("thread", "buffer")):
        raise Wrong("this is no reason to fail: " + said)
    if trial.case.leaves and not program.sanitized:
        check_again(program, trial, end.folder, there)
    return said


# ---- all of them

def run_alone(program, trial, start, fault):
    folder = program.folder(start.folder)
    try:
        return judge(program, trial, start, fault,
                     program.run(trial.case.args, folder, fault=fault))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_copies(program, trial, start, faults):
    """Yields each fault with a function that runs or judges it."""
    left = set(faults)
    for fault, end in program.run_copies(trial.case.args, start.folder, faults):
        if fault is None:
            check_whole(trial, files(end.folder), end.stdout)
        else:
            left.discard(fault)
            yield fault, lambda: judge(program, trial, start, fault, end)
    for fault in sorted(left, key=call_of):
        yield fault, lambda: run_alone(program, trial, start, fault)


def run_start(program, trial, start, faults, verbose):
    """The wrongs that were seen."""
    wrong = []
    for fault, look in run_copies(program, trial, start, faults):
        try:
            said = look()
            if verbose:
                print("  %s %s: %s" % (trial.case.name, fault, said))
        except Wrong as problem:
            wrong.append("%s, %s: %s" % (trial.case.name, fault, problem))
            print("WRONG " + wrong[-1], flush=True)
    return wrong


def run_case(program, case, inputs, most, only, verbose):
    begun, wrong, tried = time.time(), [], 0
    trial = prepare(program, case, inputs)
    with concurrent.futures.ThreadPoolExecutor(WORKERS if case.heavy else 1) as pool:
        jobs = []
        for start in (trial.fresh, trial.previous):
            faults = [only] if only else plan(trial, start, most, program.sanitized)
            jobs.append(pool.submit(run_start, program, trial, start, faults, verbose))
            tried += len(faults)
        for job in jobs:
            wrong += job.result()
    print("%-18s %6d allocations at %4d places, %6d faults, %2d wrong, %6.1f s" %
          (case.name, trial.fresh.counts["alloc"], len(trial.fresh.stacks), tried, len(wrong),
           time.time() - begun), flush=True)
    return wrong


def how_many(case, sanitized):
    """Faults of a case and a folder (None: all). The selection of `make check` takes some ten
    seconds in all, most of them the undisturbed runs."""
    if LONG == 2:
        return HEAVY_SANITIZED if case.heavy and sanitized else None
    kind = "heavy" if case.heavy else "slow" if case.slow else "quick"
    return SELECTED[sanitized][kind][LONG]


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
