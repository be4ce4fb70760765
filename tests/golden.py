#!/usr/bin/env python3
"""golden.py PROGRAM SOURCES [--exact] [--update] [CASE]...: do whole results stay as they are?

A case, tests/golden/NAME.txt, is a transcript: a line `$ COMMAND` runs in an empty folder of
the case, the lines below it are what it printed. `show FILE...` prints the files of results
(tables, JSON, figures' data, pages) in a short form: of a long table the first lines, then
for each column its mean, its slope over the rows and its size (the mean of the absolute
values). `#` starts a comment.

Words must be the same. With --exact, where the program computes the bytes that it computed
for the transcripts (is_exact), numbers must be the same too, up to EXACT of their value or of
their column's size, for what is left of rounding where results cancel. Elsewhere a number may
differ by TOLERANCE and by one unit of the last digit shown; a whole number may not. So the
results of every instruction set, compiler and C library pass; the cases of FUSED, where
rounding moves a trained net further, are skipped on machines without fused multiply-add, and
those of SENSITIVE wherever numbers need not be the same.
Figures are not drawn: a gnuplot that only pretends keeps this independent of the version that
is installed; the tests of figures run the real one.

--update writes the present results of a build by GCC into the cases: read the difference
before you keep it.
"""
import concurrent.futures
import html
import json
import math
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile

TOLERANCE, EXACT, SMALLEST = 2e-3, 1e-9, 1e-13
C_LIBRARY = ("glibc", "2.36")  # the one that the transcripts were made with
FUSED = ("paper", "study_array", "study_scalar", "study_utkface")
WIDE = ("array_images", "demo", "images", "study_utkface")  # nets of images, exact with AVX-512 alone
SENSITIVE = ("array_effects", "array_images", "array_keys", "choices", "corners", "crossbar_device",
             "demo", "digits", "eval_kinds", "images", "recordings", "seeds",
             "sizes")  # where one rounding decides what is printed
SOURCES = pathlib.Path(__file__).resolve().parent
LONG, FIRST = 8, 3  # lines of a table that is shortened, and of its beginning that are shown
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")
GNUPLOT = """#!/bin/sh
echo '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"/>' > "${4%.gp}.svg"
"""


# ---- short forms of files

def summary(values):
    """A column in three numbers, and how many it has."""
    n, centre = len(values), (len(values) - 1) / 2
    slope = sum((i - centre) * x for i, x in enumerate(values)) / (centre * n)
    return (f"{n} numbers, mean {sum(values) / n:.7g}, slope {slope:.7g}, "
            f"size {sum(map(abs, values)) / n:.7g}")


def finite(values):
    """Those of the values that are finite numbers."""
    numbers = []
    for value in values:
        try:
            numbers.append(float(value))
        except (TypeError, ValueError):
            continue
    return [x for x in numbers if math.isfinite(x)]


def show_column(name, values):
    numbers = finite(values)
    if len(numbers) > 1:
        return f"column {name}: {summary(numbers)}"
    return f"column {name}: {len(set(map(str, values)))} different"


def show_block(lines):
    """Lines of one table, shortened if there are many."""
    if len(lines) <= LONG:
        return lines
    rows = [re.split(r"[,\t]" if "," in lines[-1] else r"\s+", line.strip()) for line in lines]
    body = [row for row in rows if len(row) == len(rows[-1]) and finite(row)]
    if len(body) < LONG:
        return lines
    return lines[:FIRST] + [f"... {len(lines)} lines"] + [
        show_column(i, column) for i, column in enumerate(zip(*body), 1)]


def show_table(text):
    """Blocks between empty lines."""
    out, block = [], []
    for line in text.splitlines() + [""]:
        if line.strip():
            block.append(line)
        elif block:
            out += show_block(block) + [""]
            block = []
    return out[:-1]


def show_json(value, name):
    """A line for each leaf; long lists of numbers as columns."""
    if isinstance(value, dict):
        return [line for key, inside in value.items()
                for line in show_json(inside, f"{name}.{key}" if name else key)]
    if isinstance(value, list):
        if len(value) > LONG and all(isinstance(inside, dict) for inside in value):
            return [line for key in value[0] for line in show_json(
                [inside.get(key) for inside in value], f"{name}[].{key}")]
        if len(value) > LONG and not any(isinstance(inside, (dict, list)) for inside in value):
            return [show_column(f"{name}, {len(value)}", value)]
        if len(value) > LONG and len({type(inside) is list and len(inside) for inside in value}) == 1:
            return [line for i, column in enumerate(zip(*value))
                    for line in show_json(list(column), f"{name}[][{i}]")]
        return [line for i, inside in enumerate(value)
                for line in show_json(inside, f"{name}[{i}]")]
    text = f"{value:.7g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
    return [f"{name} = {text}"]


def show_page(text):
    """What a page says, without marks and figures."""
    text = re.sub(r"<(style|script|svg|head)\b.*?</\1>|<svg[^>]*/>", " ", text, flags=re.S)
    text = html.unescape(re.sub(r"</?(?:b|i|code|sub|sup|a|span|em|strong)\b[^>]*>", "", text))
    return [line for line in (" ".join(part.split()) for part in re.split(r"<[^>]*>|\n\n", text))
            if line]


def show_file(path):
    text = path.read_text()
    if path.suffix == ".html":
        return show_page(text)
    try:
        return show_json(json.loads(text), "") if path.suffix == ".json" else show_table(text)
    except ValueError:
        return text.splitlines()


def show(words, folder):
    out = []
    for word in words:
        paths = sorted(folder.glob(word))
        if not paths:
            out.append(f"{word}: no such file")
        for path in paths:
            out += [f"== {path.relative_to(folder)}", *show_file(path)]
    return "\n".join(out) + "\n"


# ---- comparing

def parts(line):
    """A line's words, and its numbers as they are written."""
    body = line.lstrip(" ")
    words = re.sub(r" {2,}", "  ", NUMBER.sub("#", body))
    return len(line) - len(body), words, NUMBER.findall(body)


def unit(number):
    """One unit of the last digit; 0 for a whole number."""
    mantissa, _, power = number.lower().partition("e")
    if "." not in mantissa and not power:
        return 0
    digits = len(mantissa.partition(".")[2])
    return 1.01 * 10.0 ** (int(power or 0) - digits)


def allowed(shown, size, exact):
    """How far a number may be from one that is shown as this."""
    if unit(shown) == 0:
        return SMALLEST
    return SMALLEST + (EXACT * size if exact else unit(shown) + TOLERANCE * size)


def is_same(expected, now, exact):
    if expected == now:
        return True
    (indent, words, a), (now_indent, now_words, b) = parts(expected), parts(now)
    if (indent, words) != (now_indent, now_words):
        return False
    is_column = re.match(r"column .*size ", expected)
    for x, y in zip(a, b):
        size = abs(float(a[-1])) if is_column else max(abs(float(x)), abs(float(y)))
        if not abs(float(x) - float(y)) <= allowed(x, size, exact):
            return False
    return True


def difference(expected, now, exact):
    """The first line that differs, in words, or None."""
    a, b = expected.splitlines(), now.splitlines()
    for i, (x, y) in enumerate(zip(a + [""] * len(b), b + [""] * len(a))):
        if not is_same(x, y, exact) and (i < len(a) or i < len(b)):
            return f"line {i + 1}: expected '{x}'\n{' ' * len(f'line {i + 1}')}       got '{y}'"
    return None


# ---- cases

def steps(case):
    """[command, what it printed], and the lines before the first."""
    head, found = [], []
    for line in case.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:].rstrip("\n"), ""])
        elif found:
            found[-1][1] += line
        else:
            head.append(line)
    return "".join(head), found


def run(command, folder, environment):
    words = shlex.split(command)
    if words[0] == "show":
        return show(words[1:], folder)
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True,
                          errors="backslashreplace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.stdout + (f"exit {done.returncode}\n" if done.returncode else "")


def clean(text, version):
    """Without what differs from release to release or by rounding, the lists of files (which
    tests/fault/outputs.py checks), and blanks at the ends of lines."""
    text = re.sub(r'"[0-9a-f]{16,64}"', '"HASH"', text.replace(version, "VERSION"))
    text = re.sub(r"^wrote .*\n(?: {5,}.*\n)*", "", text, flags=re.M)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def check(path, program, version, exact, whole):
    """A case's complaint or None, and the case as it would be now, or up to the complaint."""
    head, todo = steps(path.read_text())
    now, complaint = head, None
    with tempfile.TemporaryDirectory(prefix="golden-") as room:
        folder, tools = pathlib.Path(room) / "case", pathlib.Path(room) / "tools"
        folder.mkdir()
        tools.mkdir()
        (tools / "gnuplot").write_text(GNUPLOT)
        (tools / "gnuplot").chmod(0o755)
        (tools / "crossbayes").symlink_to(program)
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", LC_ALL="C.UTF-8",
                           XDG_CACHE_HOME=room, SOURCE_DATE_EPOCH="0",
                           SEEDS=str(SOURCES / "fuzz" / "seeds"))
        for command, expected in todo:
            printed = clean(run(command, folder, environment), version)
            now += f"$ {command}\n{printed}"
            wrong = difference(expected, printed, exact)
            if wrong and not complaint:
                complaint = f"{path.stem}: '{command}': {wrong}"
                if not whole:
                    break
    return complaint, now


def instructions():
    """What the machine's instruction set has, by the names of Linux; "" is none of x86."""
    found = re.search(r"^flags.*", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found[0].split() if found else [""]


def is_exact(case):
    """Here the same code of GCC computes the same bytes (docs/reliability.md, Determinism)."""
    needed = {"avx512vl"} if case in WIDE else {"avx2", "fma"}
    return needed <= set(instructions()) and platform.libc_ver() == C_LIBRARY


def reason_to_skip(case, exact):
    if case in FUSED and not {"", "fma"} & set(instructions()):
        return "no fused multiply-add"
    if case in SENSITIVE and not exact:
        return "another compiler, C library or instruction set than the transcripts'"
    return None


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    program, sources = (pathlib.Path(word).resolve() for word in words[:2])
    version = subprocess.run([program, "--version"], check=True, capture_output=True,
                             text=True).stdout.split()[1]
    cases = [path for path in sorted((sources / "tests" / "golden").glob("*.txt"))
             if path.stem in words[2:] or not words[2:]]
    update = "--update" in sys.argv
    wanted = update or "--exact" in sys.argv
    exact = {path: wanted and is_exact(path.stem) for path in cases}
    for path in list(cases):
        why = reason_to_skip(path.stem, exact[path])
        if why:
            print(f"skipped: golden_{path.stem}: {why}")
            cases.remove(path)
    if not cases:
        sys.exit(77)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda path: check(path, program, version, exact[path],
                                                update), cases))
    for path, (complaint, now) in zip(cases, ends):
        if complaint:
            print(complaint)
            if update:
                path.write_text(now)
    print(f"{len(cases)} cases, {sum(1 for complaint, _ in ends if complaint)} differ")
    sys.exit(1 if any(complaint for complaint, _ in ends) else 0)


main()
