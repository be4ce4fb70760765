"""All results (one JSON line each, on stdin) as one table on stdout and one JSON
file: the machine and the versions first, then the rows, then the targets."""

import ctypes
import importlib.metadata
import json
import os
import platform
import subprocess
import sys

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


def machine(build):
    lib = ctypes.CDLL(os.path.join(build, "libcrossbayes.so"))
    lib.xb_sampler_level.restype = lib.xb_version.restype = ctypes.c_char_p
    return {"processor": first_line("/proc/cpuinfo", "model name").partition(": ")[2],
            "cores": os.cpu_count(),
            "level": lib.xb_sampler_level().decode(),
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


def width(spread):
    """The quartiles' distance in per cent of the median."""
    return f"{100 * (spread['q3'] - spread['q1']) / spread['median']:.1f} %"


def ratio_text(value):
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def cells(row):
    peer = row.get("peer") or ""
    for why in ("missing", "wrong"):
        if why in row:
            return [row["case"], "", peer, why, "", "", row[why]]
    ours = human(per_item(row, "ours"))
    if "theirs" not in row:
        return [row["case"], ours, "", "", "", width(row["ours"]), row["check"]]
    return [row["case"], ours, peer, human(per_item(row, "theirs")),
            ratio_text(row["ratio"]["median"]), width(row["ratio"]), row["check"]]


def print_table(rows):
    head = ["workload", "ours", "peer", "peer's", "ratio", "spread", "checked"]
    body, last = [head], None
    for row in rows:
        if row["workload"] != last:
            body.append([row["workload"]] + [""] * 6)
        last = row["workload"]
        found = cells(row)
        body.append(["  " + found[0]] + found[1:])
    wide = [max(len(line[i]) for line in body) for i in range(6)]
    for line in body:
        text = [line[0].ljust(wide[0])]
        text += [line[i].ljust(wide[i]) if i == 2 else line[i].rjust(wide[i])
                 for i in range(1, 6)]
        print("  ".join(text + line[6:]).rstrip())


def judged(row):
    """One target: (text, met) with what was measured."""
    target, name = row["target"], f"{row['workload']}, {row['case']}"
    if target["of"] == "ours":
        value = per_item(row, "ours")
        met = value <= target["at_most"]
        return f"{name}: {human(value)}, at most {human(target['at_most'])}", met
    value = row["ratio"]["median"]
    text = f"{name}: {ratio_text(value)} x {row['peer']}, at least {target['at_least']:g}"
    if target["aim"]:
        text += f" (aim {target['aim']:g}, {'met' if value >= target['aim'] else 'missed'})"
    return text, value >= target["at_least"]


def main():
    build, here = sys.argv[1], {"command": " ".join(sys.argv[2:])}
    rows = [json.loads(line) for line in sys.stdin]
    order = list(dict.fromkeys(row["workload"] for row in rows))
    rows.sort(key=lambda row: order.index(row["workload"]))
    here.update(machine=machine(build), versions=versions())
    for name in ("machine", "versions"):
        print(f"{name}: " + ", ".join(f"{k} {v}" for k, v in here[name].items()))
    print("ratio: peer's time / ours, median of pairs; spread: its quartiles' distance\n")
    print_table(rows)
    targets = [judged(row) for row in rows if row.get("target")]
    print("\ntargets")
    for text, met in targets:
        print(f"  {'met   ' if met else 'MISSED'}  {text}")
    path = os.path.join(build, "bench.json")
    with open(path + ".new", "w") as file:
        json.dump({**here, "rows": rows,
                   "targets": [{"text": t, "met": m} for t, m in targets]}, file, indent=1)
    os.replace(path + ".new", path)
    print(f"\n{path}")


if __name__ == "__main__":
    main()
