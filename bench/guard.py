#!/usr/bin/env python3
"""Have fixed kernels become slower? Counts the instructions of guard_kernels' cases with
callgrind and compares them with bench/instructions.txt: no clock, so a busy machine does
not matter.
    guard.py BUILD             exit 1 where a case takes more than it may
    guard.py BUILD --update    write the counts down (after a change that means it)

Valgrind has no AVX-512, so level v3 is what runs, everywhere. The C library is told to do
without `rep`, which counts as an instruction for each byte and is used from a size that
depends on the processor. Counts hold for one compiler (its major version, in the file):
with another the guard says so and stops. Each run shows that it can fail: a case with a
tenth more work must be found slower.
"""

import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTS = os.path.join(HERE, "instructions.txt")
TOLERANCE = 0.01
TIMES, PLANTED = 10, 11  # of the case that is planted
PLANTED_CASE = "draw-mtj"
LEVEL = "v3"
NO_REP = ":".join(f"glibc.cpu.x86_rep_{what}_threshold={1 << 30}" for what in ("stosb", "movsb"))
HEAD = """# Instructions of fixed kernels at level {level}, counted by callgrind: make guard.
# After a change that means to change them: bench/guard.py BUILD --update
# compiler: {compiler}
"""


def say(text):
    print(text, flush=True)


def compiler_of(build):
    """Name and major version of the compiler that made the build, as CMake has them."""
    path, = glob.glob(os.path.join(build, "CMakeFiles", "*", "CMakeCCompiler.cmake"))
    with open(path) as file:
        text = file.read()
    name = re.search(r'CMAKE_C_COMPILER_ID "(.*?)"', text)[1]
    return f"{name} {re.search(r'CMAKE_C_COMPILER_VERSION .([0-9]+)', text)[1]}"


def count(build, case, times):
    """Instructions of one case, all of `times` together."""
    quiet = {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "1",
             "OMP_NUM_THREADS": "1", "GLIBC_TUNABLES": NO_REP}
    ran = subprocess.run(
        ["valgrind", "--tool=callgrind", "--toggle-collect=measured",
         "--callgrind-out-file=/dev/null", os.path.join(build, "guard_kernels"), case,
         str(times), os.path.join(build, "guard.csv")],
        capture_output=True, text=True, check=False, env={**os.environ, **quiet})
    collected = re.search(r"Collected : (\d+)", ran.stderr)
    if ran.returncode or not collected:
        raise SystemExit(f"guard: {case}: {ran.stderr.strip().splitlines()[-1]}")
    if ran.stdout.strip() != LEVEL:
        say(f"skipped: this machine runs level {ran.stdout.strip()}, not {LEVEL}")
        raise SystemExit(0)
    return int(collected[1])


def kept():
    """The counts in the repository, and their compiler."""
    with open(COUNTS) as file:
        lines = file.read().splitlines()
    compiler = next(s.split(": ")[1] for s in lines if s.startswith("# compiler"))
    rows = (s.split() for s in lines if s and not s.startswith("#"))
    return {name: int(value) for name, value in rows}, compiler


def verdict(found, known):
    if found > known * (1 + TOLERANCE):
        return "SLOWER"
    return "fewer: update the counts" if found < known * (1 - TOLERANCE) else "ok"


def update(counts, compiler):
    with open(COUNTS + ".new", "w") as file:
        file.write(HEAD.format(level=LEVEL, compiler=compiler))
        file.writelines(f"{name:20} {value}\n" for name, value in counts.items())
    os.replace(COUNTS + ".new", COUNTS)
    say(f"wrote {COUNTS}")


def check(counts, planted):
    known, slower = kept()[0], []
    for name, value in counts.items():
        if name not in known:
            raise SystemExit(f"guard: {name} is not in {COUNTS}: update it")
        found = verdict(value, known[name])
        say(f"{name:20} {value:12,} instructions, {100 * (value / known[name] - 1):+6.2f} %"
            f"  {found}")
        slower += [name] if found == "SLOWER" else []
    if verdict(planted, counts[PLANTED_CASE]) != "SLOWER":
        raise SystemExit("guard: a tenth more work went unseen")
    say(f"planted slowdown of {PLANTED_CASE}: seen, "
        f"{100 * (planted / counts[PLANTED_CASE] - 1):+.2f} %")
    if slower:
        raise SystemExit(f"guard: slower than {COUNTS} allows: {', '.join(slower)}")


def main():
    build, asked = sys.argv[1], sys.argv[2:]
    compiler = compiler_of(build)
    if not asked and compiler != kept()[1]:
        say(f"skipped: counts are of {kept()[1]}, this is {compiler}")
        return
    listed = subprocess.run([os.path.join(build, "guard_kernels")], capture_output=True,
                            text=True, check=True)
    counts = {name: count(build, name, TIMES if name == PLANTED_CASE else 1)
              for name in listed.stdout.split()}
    if asked == ["--update"]:
        update(counts, compiler)
    else:
        check(counts, count(build, PLANTED_CASE, PLANTED))


if __name__ == "__main__":
    main()
