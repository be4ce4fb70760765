"""All results (one JSON line each, on stdin) as one table on stdout, and in the build
folder as bench.txt, bench.json and a figure, bench.svg: the machine and the versions
first, then the rows, then the targets."""

import contextlib
import ctypes
import importlib.metadata
import io
import json
import os
import platform
import subprocess
import sys

from figure import draw_figure
from timing import limits_of

DEBIAN = ("libgsl27", "libunuran16t64", "libunuran16", "libopenblas0-pthread")
PYTHON = ("numpy", "scipy", "torch", "pandas", "chaospy", "jax")


def first_line(path, key=""):
    try:
        with open(path) as file:
            return next(line.strip() for line in file if line.startswith(key))
    except (OSError, StopIteration):
        return ""


def debian_version(package):
    asked = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package],
                           capture_output=True, text=True, check=False)
    return asked.stdout if asked.returncode == 0 else ""


def versions():
    found = {"python": platform.python_version()}
    for name in DEBIAN:
        if debian_version(name):
            found[name] = debian_version(name)
    for name in PYTHON:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "missing"
    return found


def tfp_version(build):
    """From its own environment."""
    python = os.path.join(os.environ.get("XB_BENCH_TFP_VENV",
                                         os.path.join(build, "peers-tfp")), "bin/python")
    code = "import importlib.metadata as m; print(m.version('tensorflow-probability'))"
    try:
        asked = subprocess.run([python, "-c", code], capture_output=True, text=True,
                               check=False)
        return asked.stdout.strip() or "missing"
    except OSError:
        return "missing"


def machine(build):
    lib = ctypes.CDLL(os.path.join(build, "libcrossbayes.so"))
    levels = ctypes.CDLL(os.path.join(build, "libxb_levels.so"))
    levels.levels_best.restype = lib.xb_version.restype = ctypes.c_char_p
    return {"processor": first_line("/proc/cpuinfo", "model name").partition(": ")[2],
            "cores": os.cpu_count(),
            "level": levels.levels_best().decode(),
            "load": first_line("/proc/loadavg"),
            "system": platform.platform(),
            "crossbayes": lib.xb_version().decode()}


def per_item(row, side):
    return row[side]["median"] / row["items"]


def human(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio_text(value):
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def quartiles(row):
    """Of the ratio, or of our time where there is no peer."""
    spread = row.get("ratio")
    if spread:
        return f"{ratio_text(spread['q1'])} - {ratio_text(spread['q3'])}"
    low, high = (row["ours"][q] / row["items"] for q in ("q1", "q3"))
    return f"{human(low)} - {human(high)}"


def is_met(row):
    target = row["target"]
    if target["of"] == "ours":
        return per_item(row, "ours") <= target["at_most"]
    return row["ratio"]["median"] >= target["at_least"]


def target_cells(row):
    target = row.get("target")
    if not target:
        return ["", ""]
    text = (f"<= {human(target['at_most'])}" if target["of"] == "ours"
            else f">= {target['at_least']:g}")
    return [text, "met" if is_met(row) else "MISSED"]


def limit_cell(row):
    limit = row.get("limit")
    return f"{100 * limit['share']:.0f} % of {limit['name']}" if limit else ""


HEAD = ["workload", "ours", "peer", "peer's", "ratio", "quartiles", "target", "", "limit",
        "checked"]
LEFT = ("workload", "peer", "", "limit", "checked")


def cells(row):
    """One row of the table, a cell for each of HEAD."""
    peer = row.get("peer") or ""
    for why in ("missing", "wrong"):
        if why in row:
            return [row["case"], "", peer, why, "", "", "", "", "", row[why]]
    theirs = ["", ""]
    if "theirs" in row:
        theirs = [human(per_item(row, "theirs")), ratio_text(row["ratio"]["median"])]
    return [row["case"], human(per_item(row, "ours")), peer, *theirs, quartiles(row),
            *target_cells(row), limit_cell(row), row["check"]]


def print_table(rows):
    body, last = [HEAD], None
    for row in rows:
        if row["workload"] != last:
            body.append([row["workload"]] + [""] * (len(HEAD) - 1))
        last = row["workload"]
        found = cells(row)
        body.append(["  " + found[0]] + found[1:])
    wide = [max(len(line[i]) for line in body) for i in range(len(HEAD))]
    for line in body:
        print("  ".join(cell.ljust(w) if name in LEFT else cell.rjust(w)
                        for cell, w, name in zip(line, wide, HEAD)).rstrip())


def judged(row):
    """One target: (text, met) with what was measured."""
    target, name = row["target"], f"{row['workload']}, {row['case']}"
    if target["of"] == "ours":
        value = human(per_item(row, "ours"))
        return f"{name}: {value}, at most {human(target['at_most'])}", is_met(row)
    value = row["ratio"]["median"]
    text = f"{name}: {ratio_text(value)} x {row['peer']}, at least {target['at_least']:g}"
    if target["aim"]:
        text += f" (aim {target['aim']:g}, {'met' if value >= target['aim'] else 'missed'})"
    return text, is_met(row)


def print_all(here, rows, targets):
    for name in ("machine", "versions"):
        print(f"{name}: " + ", ".join(f"{k} {v}" for k, v in here[name].items()))
    print("limits of one core: " + ", ".join(
        f"{name} {value / 1e9:.3g}e9/s" for name, value in here["limits"].items()))
    print("ratio: peer's time / ours, median of pairs, and its quartiles\n")
    print_table(rows)
    print(f"\ntargets: {sum(met for _, met in targets)} of {len(targets)} met")
    for text, met in targets:
        print(f"  {'met   ' if met else 'MISSED'}  {text}")


def write_whole(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


def main():
    build, here = sys.argv[1], {"command": " ".join(sys.argv[2:])}
    rows = [json.loads(line) for line in sys.stdin]
    order = list(dict.fromkeys(row["workload"] for row in rows))
    rows.sort(key=lambda row: order.index(row["workload"]))
    here.update(machine=machine(build), versions={**versions(), "tensorflow-probability": tfp_version(build)},
                limits=limits_of(build))
    targets = [judged(row) for row in rows if row.get("target")]
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        print_all(here, rows, targets)
    print(text.getvalue())
    write_whole(os.path.join(build, "bench.txt"), text.getvalue())
    write_whole(os.path.join(build, "bench.json"), json.dumps(
        {**here, "rows": rows, "targets": [{"text": t, "met": m} for t, m in targets]},
        indent=1))
    made = draw_figure(build, rows)
    print(f"{build}/bench.txt, bench.json" + (", bench.svg" if made else ""))


if __name__ == "__main__":
    main()
