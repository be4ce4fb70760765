#!/usr/bin/env python3
"""mutate.py BUILD [--only TEXT]... [--all] [--out FILE] [--jobs N]: does the suite notice?

Each entry of mutations.txt breaks the product in one place. The broken file is compiled
by the commands of BUILD (an optimised build with tests) and linked before the library,
so neither the sources nor BUILD are touched; then the tests named beside it run, and with
--all, where these pass, every other one. A test that fails, crashes or takes more than
its share of processor time has caught it. Ends with 1 if fewer than 95 % are caught.
--fits runs nothing: it looks whether every breakage still has its place in the sources.

--random N draws N breakages instead (breakages.py, --seed S) and runs every test on each,
those that use most of the file's functions first. A breakage that does not compile, or
leaves the machine code as it was, is drawn again. survivors.txt explains those that no
test can notice; ends with 1 if fewer than 90 % of the others are caught.
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

import breakages

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "mutations.txt"
EXPLAINED = ROOT / "tools" / "survivors.txt"
ENOUGH, ENOUGH_RANDOM = 0.95, 0.9
CPU_SECONDS = 300
PROGRAM = "crossbayes"
LIBRARIES = ("xb_objects", "xb_os", "xb_studies_objects")


class Invalid(Exception):
    """A breakage that does not compile or link."""


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


def mutated(mutant):
    """The file's text with the breakage; the lines taken out must be there once."""
    if "text" in mutant:
        return mutant["text"]
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
            name = os.path.normpath(self.folder / line.strip())  # they may be relative
            if line and not line.startswith(" "):
                source = None
            elif source is None and name in self.compile:
                source = name
            elif source and name == path:
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


def build_objects(build, mutant, room, text):
    """Compiles the file with this text; returns {object of the build: object made here}."""
    broken = room / mutant["file"]
    broken.parent.mkdir(parents=True, exist_ok=True)
    broken.write_text(text)
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
            raise Invalid(f"'{mutant['name']}' does not compile:\n{result.stderr[-2000:]}")
        made[build.object_of(source)] = str(ours)
    if not made:
        raise Invalid(f"'{mutant['name']}': nothing is compiled from {mutant['file']}")
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
        raise Invalid(f"{target} does not link:\n{result.stderr[-2000:]}")
    return out


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


def needs_program(test):
    """The test, or a header of it, runs the program."""
    text = (ROOT / "tests" / f"{test}.c").read_text()
    return "XB_PROGRAM" in text or "clitest.h" in text


def notices(build, test, made, room):
    """True if the test fails with the broken objects."""
    if any("crossbayes_cli" in theirs for theirs in made):
        program, executable = link(build, PROGRAM, made, room), build.folder / "tests" / test
    else:
        executable = link(build, f"tests/{test}", made, room)
        program = (link(build, PROGRAM, made, room) if needs_program(test)
                   else build.folder / PROGRAM)
    environment = dict(os.environ, XB_PROGRAM=str(program))
    result = run([str(executable)], room, env=environment, preexec_fn=limit)
    return result.returncode not in (0, 77)


def every_test(build):
    return sorted(path.name for path in (build.folder / "tests").glob("test_*")
                  if path.is_file() and not path.name.endswith(("_double", "_sealed")))


def codes(made):
    """The bytes of objects without what is there for debuggers."""
    for path in made.values():
        subprocess.run(["objcopy", "--strip-debug", path], check=True)
    return [pathlib.Path(path).read_bytes() for path in made.values()]


def changes_code(build, mutant, room):
    """The objects differ from those of the file as it is, compiled in the same place."""
    text = (ROOT / mutant["file"]).read_text()
    return (codes(build_objects(build, mutant, room, text))
            != codes(build_objects(build, mutant, room, mutant["text"])))


def likely_first(tests, mutant):
    """Tests in the order of how many of the file's functions they name."""
    names = set(re.findall(r"\bxb_\w+", (ROOT / mutant["file"]).read_text()))

    def unlikely(test):
        text = (ROOT / "tests" / f"{test}.c").read_text()
        return -len(names & set(re.findall(r"\bxb_\w+", text)))
    return sorted(tests, key=unlikely)


def draw_valid(build, count, seed):
    """The first `count` random breakages that compile and change the machine code."""
    valid, drawn = [], 0
    for mutant in breakages.draw(ROOT, seed):
        if len(valid) == count:
            break
        drawn += 1
        with tempfile.TemporaryDirectory(prefix="xb-mutant-") as name:
            try:
                if changes_code(build, mutant, pathlib.Path(name)):
                    valid.append(mutant)
            except Invalid:
                pass
    print(f"{drawn} drawn, {len(valid)} of them compile and change the machine code")
    return valid


def judge(build, mutant, everything):
    with tempfile.TemporaryDirectory(prefix="xb-mutant-") as name:
        room = pathlib.Path(name)
        made = build_objects(build, mutant, room, mutated(mutant))
        others = [t for t in everything if t not in mutant["tests"]]
        for test in mutant["tests"] + likely_first(others, mutant):
            if notices(build, test, made, room):
                return test
    return None


def table(results):
    lines = ["| file | breakage | caught by |", "| --- | --- | --- |"]
    for mutant, caught in results:
        lines.append(f"| `{mutant['file']}` | {mutant['name']} | "
                     f"{'`' + caught + '`' if caught else '**survived**'} |")
    return "\n".join(lines) + "\n"


def run_all(build, chosen, everything, at_once):
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        jobs = {pool.submit(judge, build, m, everything): m for m in chosen}
        for job in concurrent.futures.as_completed(jobs):
            caught, mutant = job.result(), jobs[job]
            print(f"{'caught by ' + caught if caught else 'SURVIVED':34}{mutant['file']}: "
                  f"{mutant['name']}", flush=True)
    return [(m, job.result()) for job, m in jobs.items()]


def report(results, out, enough, explained):
    caught = sum(1 for _, by in results if by)
    print(f"{caught} of {len(results)} breakages caught"
          + (f", {explained} more are explained in {EXPLAINED.name}" if explained else ""))
    if out:
        pathlib.Path(out).write_text(table(results))
    return 0 if caught >= enough * len(results) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--only", action="append", help="breakages whose name or file has this")
    parser.add_argument("--fits", action="store_true", help="look at the list alone")
    parser.add_argument("--all", action="store_true", help="all tests, where those named pass")
    parser.add_argument("--out", help="a table of the results, Markdown")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--random", type=int, metavar="N", help="draw N breakages instead")
    parser.add_argument("--seed", type=int, default=1, help="of --random")
    args = parser.parse_args()
    if args.random:
        build = Build(args.build)
        explained = {(m["file"], *m["old"], *m["new"]): m["name"] for m in read_list(EXPLAINED)}
        results = run_all(build, draw_valid(build, args.random, args.seed), every_test(build),
                          args.jobs)
        for mutant, _ in results:
            mutant["why"] = explained.get((mutant["file"], *mutant["old"], *mutant["new"]))
        return report([r for r in results if r[1] or not r[0]["why"]], args.out, ENOUGH_RANDOM,
                      sum(1 for m, by in results if not by and m["why"]))
    chosen = [m for m in read_list()
              if any(text in m["name"] + " " + m["file"] for text in args.only or [""])]
    for mutant in chosen:
        mutated(mutant)  # a list that does not fit the sources ends here
    if args.fits:
        print(f"{len(chosen)} breakages, each has its place")
        return 0
    build = Build(args.build)
    results = run_all(build, chosen, every_test(build) if args.all else [], args.jobs)
    return report(results, args.out, ENOUGH, 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Invalid as error:
        sys.exit(str(error))
