"""linemap.py: which tests execute which lines of the product, for mutate.py.

All sources are compiled once more with gcov's counters and linked to every test; each
test runs once, and the lines that it executed are kept in BUILD/linemap/TEST.json with the
CPU seconds it took. What was made from the same sources and the same test is used again. A
test that skips itself or fails when nothing is broken catches nothing.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import rebuild

COUNTERS = ["--coverage", "-fprofile-update=single", "-fprofile-abs-path"]
# Kernels take minutes to compile and are computed in many tests: they go without counters.
PLAIN = re.compile(r"/kernel/level_\w+\.c$")
SLOW = 3600  # CPU seconds of a test with counters at most
LINK_SECONDS = 0.5  # what a test costs before it runs
PARTS = ("src", "studies", "cli", "include")


def digest(paths):
    """A hash of the files' names and contents."""
    all_of = hashlib.sha256()
    for path in sorted(paths):
        all_of.update(f"{path.relative_to(rebuild.ROOT)}\n".encode())
        all_of.update(path.read_bytes())
    return all_of.hexdigest()[:16]


@functools.lru_cache(maxsize=None)
def product_digest():
    return digest(path for part in PARTS for path in (rebuild.ROOT / part).rglob("*.[ch]"))


@functools.lru_cache(maxsize=None)
def test_digest(name):
    """Of the test's own files, and of the headers that tests share."""
    folder = rebuild.ROOT / "tests"
    if name.startswith("golden_"):
        return digest([folder / "golden.py", folder / "golden" / f"{name[7:]}.txt"])
    own = [path for path in folder.rglob(f"{name}.*") if path.suffix in (".c", ".sh", ".py")]
    return digest(own + list(folder.glob("*.h")))


class LineMap:
    """lines[test][file]: the numbers of lines that the test executed; known[file]: those
    that have a counter; spans[file]: first and last lines of functions."""

    def __init__(self, build, at_once, until=float("inf")):
        self.build, self.folder = build, build.folder / "linemap"
        self.folder.mkdir(exist_ok=True)
        self.product, self.tests = product_digest(), build.tests()
        kept = {name: self.load(name) for name in self.tests}
        missing = [name for name, entry in kept.items() if not entry]
        if missing:
            self.make(missing, at_once, until)
            kept.update((name, self.load(name)) for name in missing)
        kept = {name: entry for name, entry in kept.items() if entry["status"] == 0}
        self.seconds = {name: entry["seconds"] for name, entry in kept.items()}
        self.lines = {name: {file: set(lines) for file, lines in entry["lines"].items()}
                      for name, entry in kept.items()}
        structure = json.loads((self.folder / "structure.json").read_text())
        self.known = {file: set(lines) for file, lines in structure["known"].items()}
        self.spans = structure["spans"]
        self.all_lines = {name: sum(map(len, lines.values())) for name, lines in self.lines.items()}

    def load(self, name):
        path = self.folder / f"{name}.json"
        entry = json.loads(path.read_text()) if path.exists() else {}
        same = entry.get("product") == self.product and entry.get("test") == test_digest(name)
        return entry if same else None

    # ---- making it

    def make(self, names, at_once, until):
        objects = self.compile_all(at_once)
        print(f"linemap: {len(names)} tests to run with counters", flush=True)

        def measured(name):
            return self.measure(name, objects) if time.monotonic() < until else None
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            ends = dict(zip(names, pool.map(measured, names)))
        for name, status in ends.items():
            if status not in (0, 77, None):
                print(f"linemap: {name} ends with {status} there", flush=True)
        left = sum(status is None for status in ends.values())
        if left:
            sys.exit(f"linemap: {left} tests left to run; run again to go on")

    def compile_all(self, at_once):
        """Every source with counters, the libraries' in one archive; {object: ours}."""
        room = self.folder / "objects"
        mark = self.folder / "objects.txt"
        sources = [s for s in self.build.compile if not PLAIN.search(s)]
        made = {self.build.object_of(s): str(room / f"{i}_{pathlib.Path(s).stem}.o")
                for i, s in enumerate(sources)}
        if mark.exists() and mark.read_text() == self.product:
            return made
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir()
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            list(pool.map(lambda s: rebuild.compile_one(
                self.build, s, s, made[self.build.object_of(s)], COUNTERS), sources))
        members = [ours for theirs, ours in made.items()
                   if any(part in theirs for part in rebuild.LIBRARIES)]
        members += [str(self.build.folder / self.build.object_of(s)) for s in self.build.compile
                    if PLAIN.search(s)]
        subprocess.run(["ar", "qc", room / "all.a", *members], check=True)
        self.describe(made)
        mark.write_text(self.product)
        return made

    def describe(self, made):
        """What has counters, from the objects alone."""
        known, spans = {}, {}
        for file in self.read([pathlib.Path(o).with_suffix(".gcno") for o in made.values()]):
            name = own_name(file["file"])
            if name:
                known.setdefault(name, set()).update(l["line_number"] for l in file["lines"])
                spans.setdefault(name, set()).update(
                    (f["start_line"], f["end_line"]) for f in file["functions"])
        (self.folder / "structure.json").write_text(json.dumps(
            {"known": {f: sorted(v) for f, v in known.items()},
             "spans": {f: sorted(v) for f, v in spans.items()}}))

    def read(self, data):
        """gcov's files, of notes or of counts."""
        for start in range(0, len(data), 100):
            out = subprocess.run(["gcov", "--json-format", "--stdout", *data[start:start + 100]],
                                 capture_output=True, text=True, check=True).stdout
            for line in out.splitlines():
                if line.startswith("{"):
                    yield from json.loads(line)["files"]

    def link(self, target, objects, room):
        out = room / pathlib.Path(target).name
        words = rebuild.link_words(self.build, target, out, objects,
                                   [str(self.folder / "objects" / "all.a")], ["--coverage"])
        rebuild.link(self.build, [w for w in words if not rebuild.is_library(w)])
        return out

    def measure(self, name, objects):
        test = self.tests[name]
        with tempfile.TemporaryDirectory(prefix="xb-lines-") as folder:
            room = pathlib.Path(folder)
            instead = {target: self.link(target, objects, room)
                       for target in rebuild.executables(self.build, test)}
            command, environment = rebuild.replaced(self.build, test, instead)
            environment["GCOV_PREFIX"] = str(room / "counts")
            status, seconds = rebuild.run_test(command, environment, room, SLOW,
                                               self.build.folder)
            entry = {"product": self.product, "test": test_digest(name), "seconds": seconds,
                     "status": status, "lines": self.executed(room / "counts")}
        (self.folder / f"{name}.json").write_text(json.dumps(entry))
        return status

    def executed(self, counts):
        """{file: lines executed} from one test's counts; gcov wants the notes beside them."""
        lines, data = {}, sorted(counts.rglob("*.gcda"))
        for path in data:
            notes = path.with_suffix(".gcno")
            os.symlink(self.folder / "objects" / notes.name, notes)
        for file in self.read(data):
            name = own_name(file["file"])
            hit = {line["line_number"] for line in file["lines"] if line["count"]}
            if name and hit:
                lines.setdefault(name, set()).update(hit)
        return {file: sorted(hit) for file, hit in lines.items()}

    # ---- asking it

    def runs_program(self, name):
        return "cli/main.c" in self.lines[name]

    def cost(self, name, files):
        """Seconds of the test for each part of what it executes that is in these files."""
        inside = sum(len(self.lines[name].get(file, ())) for file in files)
        return (self.seconds[name] + LINK_SECONDS) * self.all_lines[name] / inside

    @functools.lru_cache(maxsize=None)
    def tests_of(self, file, line):
        """Tests that execute the line, first those that are short and about its file. A line
        without a counter (a part of a statement, a constant) stands for its function, for the
        files compiled with it, or where these have none, for their folders."""
        wanted = {file: {line}}
        if line not in self.known.get(file, ()):
            around = [range(a, b + 1) for a, b in self.spans.get(file, []) if a <= line <= b]
            users = [own_name(s) for s in self.build.sources(file)]
            if file.startswith("cli/"):  # help and completion read the tables of all commands
                users = [f for f in self.known if f.startswith("cli/")]
            if not any(user in self.known for user in users):
                folders = {os.path.dirname(user) for user in users}
                users = [f for f in self.known if os.path.dirname(f) in folders]
            wanted = ({file: set().union(*around)} if around
                      else {user: self.known.get(user, set()) for user in users})
        found = [name for name, lines in self.lines.items()
                 if any(lines.get(f, set()) & some for f, some in wanted.items())]
        return sorted(found, key=lambda name: self.cost(name, wanted))


def own_name(path):
    """The path within the repository; None: it is not ours."""
    path = os.path.normpath(path)
    inside = os.path.relpath(path, rebuild.ROOT)
    return None if inside.startswith("..") or inside.startswith("build") else inside


if __name__ == "__main__":
    sys.exit(__doc__)
