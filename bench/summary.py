#!/usr/bin/env python3
"""Puts what was measured last (BUILD/bench.json, BUILD/scaling.json where it is) into
docs/performance.md, between its marks.
    summary.py BUILD docs/performance.md
Rows with a target, and those missing or wrong; the whole table is in BUILD/bench.txt."""

import json
import os
import sys

from table import human, is_met, per_item, ratio_text

BEGIN, END = "<!-- measured: bench/summary.py -->", "<!-- measured: end -->"
LIMITS = {"store": "bytes stored", "store beyond caches": "bytes stored beyond the caches",
          "read": "bytes read", "read beyond caches": "bytes read beyond the caches",
          "fma": "multiply-adds of floats", "draw": "Gaussian draws"}
HEAD = """| workload | ours | peer | peer's | ratio (quartiles) | target | result |
| --- | --- | --- | --- | --- | --- | --- |
"""


def line(row):
    name = f"{row['workload']}: {row['case']}"
    for why in ("missing", "wrong"):
        if why in row:
            return f"| {name} | | {row.get('peer') or ''} | | {why}: {row[why]} | | |\n"
    target, met = row["target"], "met" if is_met(row) else "**missed**"
    ours = human(per_item(row, "ours"))
    if target["of"] == "ours":
        return f"| {name} | {ours} | | | | at most {human(target['at_most'])} | {met} |\n"
    r = row["ratio"]
    return (f"| {name} | {ours} | {row['peer']} | {human(per_item(row, 'theirs'))} | "
            f"{ratio_text(r['median'])} ({ratio_text(r['q1'])} to {ratio_text(r['q3'])}) | "
            f"{target['at_least']:g} | {met} |\n")


def bench_text(found):
    about = found["machine"]
    rows = [r for r in found["rows"] if r.get("target") or "missing" in r or "wrong" in r]
    met = sum(t["met"] for t in found["targets"])
    limits = ", ".join(f"{v / 1e9:.3g}e9 {LIMITS.get(k, k)}" for k, v in found["limits"].items())
    return (f"`{found['command']}` on {about['processor']}, {about['cores']} cores, kernels of "
            f"level {about['level']}, load {about['load'].split()[0]} at the end: {met} of "
            f"{len(found['targets'])} targets met. One core can do this much per second: "
            f"{limits}.\n\n"
            + HEAD + "".join(line(r) for r in rows))


def scaling_text(found):
    text = (f"\n`make scaling`, load {found['load'][0]:.1f}:\n\n"
            "| grows with | time ~ | memory, MB, smallest and largest |\n| --- | --- | --- |\n")
    for case, r in found["growth"].items():
        text += (f"| {case}: {r['what']}, {r['sizes'][0]} to {r['sizes'][-1]} | "
                 f"size^{r['exponent']:.2f} | {r['megabytes'][0]:.0f}, "
                 f"{r['megabytes'][-1]:.0f} |\n")
    text += "\n| two threads | by the wall clock | processor time, both over one |\n"
    text += "| --- | --- | --- |\n"
    for case, r in found["threads"].items():
        text += f"| {case} | {r['speedup']:.2f} x | {r['work_ratio']:.2f} x |\n"
    return text


def measured(build):
    text = ""
    for name, make in (("bench.json", bench_text), ("scaling.json", scaling_text)):
        path = os.path.join(build, name)
        if os.path.exists(path):
            with open(path) as file:
                text += make(json.load(file))
    return text


def main():
    build, page = sys.argv[1:]
    with open(page) as file:
        before, rest = file.read().split(BEGIN)
    after = rest.split(END)[1]
    with open(page + ".new", "w") as file:
        file.write(f"{before}{BEGIN}\n{measured(build)}{END}{after}")
    os.replace(page + ".new", page)


if __name__ == "__main__":
    main()
