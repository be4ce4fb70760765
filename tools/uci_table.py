#!/usr/bin/env python3
"""uci_table.py PROGRAM DATA [OPTION...]: the standard splits of UCI concrete and yacht by
`train` with the default settings, or those of OPTION...: scores, the likelihoods that were
chosen and processor time on one thread: the first tables of docs/ensembles.md and
docs/likelihoods.md. Split k has seed k + 1."""
import argparse
import collections
import resource
import statistics
import sys
import tempfile
from pathlib import Path

from tied_table import mean_error, rows_of, run

SCORES = {"log likelihood": "nll", "RMSE": "rmse", "coverage 95 %": "coverage95",
          "quarter": "coverage95_uncertain"}
SPLITS = 20


def one(program, folder, work, split, options):
    """(scores, seconds of training, likelihood) of a split."""
    paths = {part: work / f"{part}.txt" for part in ("train", "test")}
    for part, path in paths.items():
        path.write_text(rows_of(folder, split, part))
    target = str(int(float((folder / "index_target.txt").read_text())) + 1)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    report = run(program, "train", paths["train"], "--target", target, "--seed", split + 1,
                 "--threads", 1, "-q", "--json", "-o", work / "m.safetensors", *options)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    scores = run(program, "eval", work / "m.safetensors", paths["test"], "--json",
                 "-q")["laws"][0]
    return scores, seconds, report["likelihood"]


def row(program, folder, work, options):
    results = [one(program, folder, work, k, options) for k in range(SPLITS)]
    cells = []
    for name, key in SCORES.items():
        sign = -1 if name == "log likelihood" else 1
        cells.append(mean_error([sign * scores[key] for scores, _, _ in results]))
    seconds = [s for _, s, _ in results]
    cells.append(f"{min(seconds):.2f} to {max(seconds):.2f}, median "
                 f"{statistics.median(seconds):.2f}")
    chosen = collections.Counter(likelihood for _, _, likelihood in results)
    cells.append(", ".join(f"{name} {n}" for name, n in chosen.most_common()))
    print(f"| {folder.name} | " + " | ".join(cells) + " |", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("program", type=Path)
    args.add_argument("data", type=Path)
    a, options = args.parse_known_args()
    print(f"| {' '.join(options) or 'default'} | " + " | ".join(SCORES)
          + " | seconds | likelihood |")
    print("| --- |" + " --- |" * (len(SCORES) + 2))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("concrete", "yacht"):
            row(a.program.resolve(), a.data / "uci" / name, Path(folder), options)


if __name__ == "__main__":
    sys.exit(main())
