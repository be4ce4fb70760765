#!/usr/bin/env python3
"""tied_table.py PROGRAM DATA [--splits N] [--seeds N] [--only NAME]: what tying a weight's
width to the states of its cells costs: the table of docs/tied.md.

Trains each net with free widths, with a pair of cells and with three, on the storm data
(one split, several seeds) and on the standard splits of UCI concrete and yacht, and prints
means and standard errors over runs, and the differences from free widths run by run."""
import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = {"free": [], "pair": ["--cells", "pair"], "three": ["--cells", "three"]}
SCORES = ["nll", "rmse", "coverage95"]


def run(*args):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}: {done.stderr}")
    return json.loads(done.stdout)


def rows_of(folder, split, part):
    """The rows of one part of a split as lines of text."""
    lines = [line for line in (folder / "data.txt").read_text().splitlines() if line.strip()]
    numbers = (folder / f"index_{part}_{split}.txt").read_text().split()
    return "".join(lines[int(float(n))] + "\n" for n in numbers)


def uci(folder, work, splits):
    target = str(int(float((folder / "index_target.txt").read_text())) + 1)
    for split in range(splits):
        paths = []
        for part in ("train", "test"):
            paths.append(work / f"{folder.name}_{part}.txt")
            paths[-1].write_text(rows_of(folder, split, part))
        yield paths[0], paths[1], target, "dense 50, relu, dense 1", split + 1


def storm(folder, seeds):
    net = "dense 100, relu, dense 100, relu, dense 2"
    for seed in range(seeds):
        yield folder / "train.csv", folder / "test.csv", "next_x,next_y", net, seed + 1


def scores_of(program, work, job, options):
    train, test, target, net, seed = job
    model = work / "m.safetensors"
    run(program, "train", train, "--target", target, "--net", net, "--law", "laplace",
        "--seed", seed, "-q", "--json", "-o", model, *options)
    law = run(program, "eval", model, test, "--json", "-q")["laws"][0]
    out = {key: law[key] for key in SCORES if key in law}
    for one in law.get("targets", []):
        out["rmse " + one["target"]] = one["rmse"]
    return out


def mean_error(values):
    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return f"{mean:.3f}"
    error = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n)
    digits = 4 if abs(mean) < 1.5 and error < 0.01 else 3
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def table(name, runs):
    keys = list(next(iter(runs.values()))[0])
    print(f"\n| {name} | " + " | ".join(keys) + " |")
    print("| --- |" + " --- |" * len(keys))
    for case, results in runs.items():
        cells = [mean_error([r[k] for r in results]) for k in keys]
        print(f"| {case} | " + " | ".join(cells) + " |")
    for case, results in runs.items():
        if case == "free":
            continue
        cells = [mean_error([a[k] - b[k] for a, b in zip(results, runs["free"])]) for k in keys]
        print(f"| {case} − free | " + " | ".join(cells) + " |")
    sys.stdout.flush()


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("program", type=Path)
    args.add_argument("data", type=Path)
    args.add_argument("--splits", type=int, default=20)
    args.add_argument("--seeds", type=int, default=5)
    args.add_argument("--only")
    a = args.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        sets = {"storm": lambda: storm(a.data / "storm", a.seeds),
                "concrete": lambda: uci(a.data / "uci" / "concrete", work, a.splits),
                "yacht": lambda: uci(a.data / "uci" / "yacht", work, a.splits)}
        for name, jobs in sets.items():
            if a.only and a.only != name:
                continue
            runs = {case: [] for case in CASES}
            for job in jobs():
                for case, options in CASES.items():
                    runs[case].append(scores_of(a.program.resolve(), work, job, options))
            table(name, runs)


if __name__ == "__main__":
    main()
