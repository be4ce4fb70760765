#!/usr/bin/env python3
"""uci_table.py PROGRAM DATA [--splits N] [--only CASE]...: scores of the standard splits of UCI
concrete and yacht: the tables of docs/networks.md, docs/likelihoods.md and docs/ensembles.md.

DATA has the folders concrete and yacht, each with data.txt, index_target.txt and, for each
split k, index_train_k.txt and index_test_k.txt, as they are published with Gal & Ghahramani
(2016). Split k is trained with --seed k+1 on one thread and scored by `eval` with 1,000
weight draws. Printed are means and standard errors over splits, what the program chose, and
the processor time of training: its median, least and most."""
import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

STANDARD = ["--prior", "standard"]
ALONE = ["--members", "1", "--skewed", "keep", *STANDARD]
CONSTANT = ["--likelihood", "gaussian", *ALONE]
CASES = {
    "one": ["--net", "dense 50, relu, dense 1", *CONSTANT],
    "chosen": CONSTANT,
    "two": ["--net", "dense 50, relu, dense 50, relu, dense 1", *CONSTANT],
    "auto": ALONE,
    "default": [],
    "standard": STANDARD,
    "fitted": ["--prior", "fitted"],
    "kept-columns": ["--skewed", "keep", *STANDARD],
    "process": ["--gp", "0.25"],
}
SCORES = {"RMSE": "rmse", "NLL": "nll", "coverage 95 %": "coverage95",
          "quarter": "coverage95_uncertain"}


def run(*args):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}: {done.stderr}")
    return json.loads(done.stdout)


def numbers(path):
    return [int(float(word)) for word in path.read_text().split()]


def write(folder, split, part, path):
    """Writes the rows of one part of a split; the target comes last."""
    rows = [line.split() for line in (folder / "data.txt").read_text().splitlines() if line.strip()]
    columns = numbers(folder / "index_features.txt") + numbers(folder / "index_target.txt")[:1]
    names = [f"x{i}" for i in range(1, len(columns))] + ["y"]
    lines = [[rows[i][c] for c in columns] for i in numbers(folder / f"index_{part}_{split}.txt")]
    path.write_text("\n".join(",".join(line) for line in [names, *lines]) + "\n")


def one_split(program, folder, work, split, options):
    train, test, model = (work / name for name in ("train.csv", "test.csv", "m.safetensors"))
    write(folder, split, "train", train)
    write(folder, split, "test", test)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    report = run(program, "train", train, "--target", "y", "--seed", split + 1, "--threads", "1",
                 "--json", "-q", "-o", model, *options)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return report, run(program, "eval", model, test, "--json", "-q")["laws"][0], seconds


def mean_error(values):
    mean = statistics.mean(values)
    if len(values) < 2:
        return f"{mean:.4f}"
    return f"{mean:.4f} ± {statistics.stdev(values) / math.sqrt(len(values)):.4f}"


def table(name, runs):
    for case, results in runs.items():
        cells = [f"{label} {mean_error([s[key] for _, s, _ in results])}"
                 for label, key in SCORES.items()]
        times = sorted(seconds for _, _, seconds in results)
        nets = Counter(r["net"] for r, _, _ in results)
        likelihoods = Counter(r["likelihood"] for r, _, _ in results)
        print(f"{name}, {case}: " + ", ".join(cells))
        if all("disagreement_share" in s for _, s, _ in results):
            print("  share of the epistemic variance between members "
                  + mean_error([s["disagreement_share"] for _, s, _ in results]))
        print(f"  {dict(nets)}, {dict(likelihoods)}, {statistics.median(times):.2f} s "
              f"({times[0]:.2f} to {times[-1]:.2f})", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program", type=Path)
    args.add_argument("data", type=Path)
    args.add_argument("--splits", type=int, default=20)
    args.add_argument("--only", choices=CASES, action="append")
    a = args.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for case in a.only or CASES:
            for name in ("concrete", "yacht"):
                results = [one_split(a.program.resolve(), a.data / name, Path(folder), split,
                                     CASES[case]) for split in range(a.splits)]
                table(name, {case: results})


if __name__ == "__main__":
    main()
