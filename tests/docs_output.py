#!/usr/bin/env python3
"""docs_output.py PROGRAM SOURCES [--update] [PAGE]...: does the program still print what the pages show?

In README.md and docs/*.md an unmarked block after a block of `sh` is the output of that
block. Of each page that shows output, all blocks of `sh` up to the last one with output
run, in order, in one empty folder. Lines shown must be printed one after the other; a line
`...` stands for any number of lines. Two comments steer this, invisible to a reader:

    <!-- run           commands that the page takes for granted; they run as a block does
    ...
    -->
    <!-- not run -->   the next block is left alone

Pages that take long run with XB_LONG=1 or by name. --update writes what is printed into the
pages, but for blocks with `...`; read the text around them again.

Measured data that a page needs comes from $CROSSBAYES_DATA or shared/data beside the
sources; without it the page is skipped, and said to be. Ends with 77 if no page ran.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Names that pages use, and where the data is.
DATA = {
    "rram_level00.csv": "noise/rram_level00.csv",
    "rram_level08.csv": "noise/rram_level08.csv",
    "rram_level16.csv": "noise/rram_level16.csv",
    "rram_relaxation_techB.csv.gz": "noise/rram_relaxation_techB.csv.gz",
    "yacht_hydrodynamics.data": "uci/yacht/data.txt",
}
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$"
                   r"|^<!-- run\n(?P<setup>.*?)^-->$|^<!-- (?P<skip>not run) -->$", re.S | re.M)
SLOW = ("docs/tutorial.md", "docs/arrays.md")  # a minute of processor time each
SECONDS = None if "XB_PATIENT" in os.environ else 280  # None: whoever runs it ends what hangs


def steps(page):
    """The page's [commands, output shown or None], in order."""
    found, skip = [], False
    for match in BLOCK.finditer(page):
        language, text = match["language"], match["text"]
        if match["skip"]:
            skip = True
        elif match["setup"] is not None:
            found.append([match["setup"], None])
        elif language == "sh":
            found.append(None if skip else [text, None])
            skip = False
        elif language == "" and found and found[-1] and found[-1][1] is None:
            found[-1][1] = text
        else:
            found.append(None)
    found = [step for step in found if step]
    while found and found[-1][1] is None:
        found.pop()
    return found


def clean(text):
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def missing(shown, printed):
    """The first line shown that was not printed in its place, or None."""
    parts, part = [], []
    for line in clean(shown):
        if line.strip() == "...":
            parts.append(part)
            part = []
        else:
            part.append(line)
    parts.append(part)
    lines, start = clean(printed), 0
    for part in parts:
        best = 0
        for at in range(start, len(lines) + 1):
            same = 0
            while same < len(part) and at + same < len(lines) and lines[at + same] == part[same]:
                same += 1
            best = max(best, same)
            if same == len(part):
                start = at + same
                break
        else:
            return part[best]
    return None


def has_gap(shown):
    return any(line.strip() == "..." for line in shown.splitlines())


def check(name, page, program, data):
    """The page's complaints and {shown: printed} where these differ; None without its data."""
    todo = steps(page)
    needs = [file for file in DATA if any(file in commands for commands, _ in todo)]
    if any(not (data / DATA[file]).exists() for file in needs):
        return None
    wrong, printed = [], {}
    with tempfile.TemporaryDirectory(prefix="docs-output-") as folder:
        for file in needs:
            os.symlink(data / DATA[file], pathlib.Path(folder) / file)
        environment = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}",
                           XDG_CACHE_HOME=folder, LC_ALL="C.UTF-8")
        for commands, shown in todo:
            done = subprocess.run(["stdbuf", "-oL", "sh", "-eu", "-c", commands], cwd=folder, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=SECONDS)
            first = commands.strip().splitlines()[0]
            if done.returncode != 0:
                wrong.append(f"{name}: '{first}' ended with {done.returncode}:\n{done.stdout}")
            elif shown is not None and (line := missing(shown, done.stdout)) is not None:
                wrong.append(f"{name}: '{first}' does not print '{line}' there; it prints:\n"
                             f"{done.stdout}")
                printed[shown] = done.stdout.strip("\n") + "\n"
    return wrong, printed


def update(path, page, printed):
    for shown, now in printed.items():
        if not has_gap(shown):
            page = page.replace(f"```\n{shown}```", f"```\n{now}```")
    path.write_text(page)


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    program, sources = (pathlib.Path(word).resolve() for word in words[:2])
    data = pathlib.Path(os.environ.get("CROSSBAYES_DATA", sources.parent / "shared" / "data"))
    slow = os.environ.get("XB_LONG", "0") != "0"
    pages = words[2:] or ["README.md", *sorted(f"docs/{page.name}" for page in
                                               (sources / "docs").glob("*.md"))]
    ran, complaints = 0, []
    for name in pages:
        page = (sources / name).read_text()
        if not steps(page):
            continue
        if name in SLOW and not slow and not words[2:]:
            print(f"skipped: {name}: takes long (XB_LONG=1)")
            continue
        result = check(name, page, program, data)
        if result is None:
            print(f"skipped: {name}: its data is not there (CROSSBAYES_DATA)")
            continue
        ran += 1
        complaints += result[0]
        print(f"{name}: {len(result[0])} complaints")
        if "--update" in sys.argv:
            update(sources / name, page, result[1])
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0 if ran else 77)


main()
