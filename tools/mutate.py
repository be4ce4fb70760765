#!/usr/bin/env python3
"""mutate.py BUILD [--only TEXT]... [--all] [--out FILE] [--jobs N]: does the suite notice?

Each entry of mutations.txt breaks the product in one place. The broken file is compiled
by the commands of BUILD (an optimised build with tests) and linked before the library,
so neither the sources nor BUILD are touched; then the tests named beside it run, and with
--all, where these pass, every other one. A test that fails, crashes or takes more than
its share of processor time has caught it. Ends with 1 if fewer than 95 % are caught.
--fits runs nothing: it looks whether every breakage still has its place in the sources.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "mutations.txt"
ENOUGH = 0.95
CPU_SECONDS = 300
PROGRAM = "crossbayes"
LIBRARIES = ("xb_objects", "xb_studies_objects")
NEED_PROGRAM = {"test_cli", "test_cli_words", "test_extremes", "test_energy", "test_reproduce"}


def read_list():
    mutants, lines = [], LIST.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("@ "):
            name, file, tests = (part.strip() for part in line[2:].split("|"))
            mutants.append({"name": name, "file": file, "tests": tests.split(),
                            "old": [], "new": []})
        elif line.startswith(("- ", "+ ")):
            mutants[-1]["old" if line[0] == "-" else "new"].append(line[2:])
        elif line and not line.startswith("#"):
            sys.exit(f"{LIST}:{number}: expected @, -, + or #")
    return mutants


def mutated(mutant):
    """The file's text with the breakage; the lines taken out must be there once."""
    text = (ROOT / mutant["file"]).read_text()
    pattern = r"[ \t]*\n[ \t]*".join(re.escape(line) for line in mutant["old"])
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        sys.exit(f"{LIST}: '{mutant['name']}': {len(found)} places in {mutant['file']}")
    start, end = found[0].span()
    return text[:start] + "\n".join(mutant["new"]) + text[end:]


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        entries = json.loads((self.folder / "compile_commands.json").read_text())
        self.compile = {}
        for entry in entries:  # the libraries' and the program's objects, not the tests' own
            if any(f"{part}.dir" in entry["command"] for part in (*LIBRARIES, "crossbayes_cli")):
                self.compile[entry["file"]] = entry["command"]
        self.deps = subprocess.run(["ninja", "-C", self.folder, "-t", "deps"], check=True,
                                   capture_output=True, text=True).stdout

    def sources(self, file):
        """What must be compiled again: the file, or all that include the header."""
        path = str(ROOT / file)
        if path in self.compile:
            return [path]
        users, source = [], None
        for line in self.deps.splitlines():
            if line and not line.startswith(" "):
                source = None
            elif source is None and line.strip() in self.compile:
                source = line.strip()
            elif source and line.strip() == path:
                users.append(source)
        return sorted(set(users))

    def object_of(self, source):
        return re.search(r"-o (\S+)", self.compile[source]).group(1)

    def link_command(self, target):
        out = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", target],
                             check=True, capture_output=True, text=True).stdout
        line = out.strip().splitlines()[-1]
        return re.sub(r"^: && | && :$", "", line)


def run(command, cwd, **more):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True,
                          errors="replace", **more)


def build_objects(build, mutant, room):
    """Compiles the broken file; returns {object of the build: object made here}."""
    broken = room / mutant["file"]
    broken.parent.mkdir(parents=True)
    broken.write_text(mutated(mutant))
    made = {}
    for source in build.sources(mutant["file"]):
        ours = room / (pathlib.Path(source).name + ".o")
        words = shlex.split(build.compile[source])
        for flag in ("-MD", "-Werror"):
            while flag in words:
                words.remove(flag)
        for flag in ("-MT", "-MF"):
            if flag in words:
                del words[words.index(flag):words.index(flag) + 2]
        words[words.index("-o") + 1] = str(ours)
        if source == str(ROOT / mutant["file"]):
            words[words.index("-c") + 1] = str(broken)
        words[1:1] = [f"-I{room / 'src'}", f"-I{room / 'studies'}", "-iquote", str(pathlib.Path(source).parent)]
        result = run(words, build.folder)
        if result.returncode != 0:
            sys.exit(f"'{mutant['name']}' does not compile:\n{result.stderr[-2000:]}")
        made[build.object_of(source)] = str(ours)
    if not made:
        sys.exit(f"'{mutant['name']}': nothing is compiled from {mutant['file']}")
    return made


def link(build, target, made, room):
    words = shlex.split(build.link_command(target))
    out = room / pathlib.Path(target).name
    words[words.index("-o") + 1] = str(out)
    words = [made.get(word, word) for word in words]
    extra = [ours for theirs, ours in made.items()
             if ours not in words and any(part in theirs for part in LIBRARIES)]
    library = next(i for i, word in enumerate(words) if re.search(r"libcrossbayes.*\.a$", word))
    words[library:library] = extra
    result = run(words, build.folder)
    if result.returncode != 0:
        sys.exit(f"{target} does not link:\n{result.stderr[-2000:]}")
    return out


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


def notices(build, test, made, room):
    """True if the test fails with the broken objects."""
    if any("crossbayes_cli" in theirs for theirs in made):
        program, executable = link(build, PROGRAM, made, room), build.folder / "tests" / test
    else:
        executable = link(build, f"tests/{test}", made, room)
        program = (link(build, PROGRAM, made, room) if test in NEED_PROGRAM
                   else build.folder / PROGRAM)
    environment = dict(os.environ, XB_PROGRAM=str(program))
    result = run([str(executable)], room, env=environment, preexec_fn=limit)
    return result.returncode not in (0, 77)


def every_test(build):
    return sorted(path.name for path in (build.folder / "tests").glob("test_*")
                  if path.is_file() and not path.name.endswith("_double"))


def judge(build, mutant, everything):
    with tempfile.TemporaryDirectory(prefix="xb-mutant-") as name:
        room = pathlib.Path(name)
        made = build_objects(build, mutant, room)
        others = [t for t in everything if t not in mutant["tests"]]
        for test in mutant["tests"] + others:
            if notices(build, test, made, room):
                return test
    return None


def table(results):
    lines = ["| file | breakage | caught by |", "| --- | --- | --- |"]
    for mutant, caught in results:
        lines.append(f"| `{mutant['file']}` | {mutant['name']} | "
                     f"{'`' + caught + '`' if caught else '**survived**'} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--only", action="append", help="breakages whose name or file has this")
    parser.add_argument("--fits", action="store_true", help="look at the list alone")
    parser.add_argument("--all", action="store_true", help="all tests, where those named pass")
    parser.add_argument("--out", help="a table of the results, Markdown")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    chosen = [m for m in read_list()
              if any(text in m["name"] + " " + m["file"] for text in args.only or [""])]
    for mutant in chosen:
        mutated(mutant)  # a list that does not fit the sources ends here
    if args.fits:
        print(f"{len(chosen)} breakages, each has its place")
        return 0
    build = Build(args.build)
    everything = every_test(build) if args.all else []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = {pool.submit(judge, build, m, everything): m for m in chosen}
        for job in concurrent.futures.as_completed(jobs):
            caught, mutant = job.result(), jobs[job]
            print(f"{'caught by ' + caught if caught else 'SURVIVED':34}{mutant['file']}: "
                  f"{mutant['name']}", flush=True)
    results = [(m, job.result()) for job, m in jobs.items()]
    caught = sum(1 for _, by in results if by)
    print(f"{caught} of {len(results)} breakages caught")
    if args.out:
        pathlib.Path(args.out).write_text(table(results))
    return 0 if caught >= ENOUGH * len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
