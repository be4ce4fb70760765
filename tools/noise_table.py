#!/usr/bin/env python3
"""noise_table.py PROGRAM [--tables N] [--only TEXT]... [--sizes]: the noise net on simulated tables:
docs/likelihoods.md.

Each kind of table is made N times (columns uniform in [-1, 1], mean sin 3a + bc + d / 2) and
learnt from with constant noise, with a noise net by maximum likelihood as in the paper, with one
as large as the net, and with the default one: `dense 50, relu, dense 1`, one member, seed k for
table k. Printed are the mean negative log density of 3,000 new rows, its standard error over the
tables, and how much the default's differs from constant noise in pairs. --only leaves the kinds
whose description contains TEXT. --sizes compares noise nets of several sizes on 3,000 rows instead:
F of the training, NLL of the new rows, what `--likelihood auto` takes, and the oracle."""
import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COLUMNS, NEW_ROWS = 4, 3000
NET = "dense 50, relu, dense 1"
WAYS = {
    "constant noise": ["--likelihood", "gaussian"],
    "maximum likelihood": ["--likelihood", "heteroscedastic", "--noise-prior", "0"],
    "as large as the net": ["--likelihood", "heteroscedastic", "--noise-net", NET],
    "default": ["--likelihood", "heteroscedastic"],
}


def growing(x):
    return np.exp(-1.2 + 1.2 * x[:, 0])


def waving(x):
    return np.exp(-1.2 + np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 0])


KINDS = {  # rows, sd of the noise, what is done to the target, what is done to the rows
    "1,600 rows, whole-number targets (3 to 8)":
        (1600, 0.6, lambda y: np.clip(np.round(5.5 + y), 3, 8), None),
    "the same, rows drawn with replacement":
        (1600, 0.6, lambda y: np.clip(np.round(5.5 + y), 3, 8), "bootstrap"),
    "600 rows, targets below 0 reported as 0": (600, 0.3, lambda y: np.maximum(y, 0), None),
    "100 rows, constant noise": (100, 0.3, None, None),
    "500 rows, constant noise": (500, 0.3, None, None),
    "800 rows, constant noise": (800, 0.3, None, None),
    "100 rows, each of them four times": (100, 0.3, None, "repeat"),
    "200 rows, each three times with targets 0.001 apart": (200, 0.3, None, "jitter"),
    "500 rows, targets rounded to 0.5": (500, 0.3, lambda y: np.round(2 * y) / 2, None),
    "400 rows, noise e^(−1.2 + 1.2a)": (400, growing, None, None),
    "3,000 rows, the same": (3000, growing, None, None),
    "400 rows, noise e^(−1.2 + sin 3b + ac)": (400, waving, None, None),
    "3,000 rows, the same ": (3000, waving, None, None),
}


def rows_of(kind, n, random):
    _, sd, seen, _ = KINDS[kind]
    x = random.uniform(-1, 1, (n, COLUMNS))
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * x[:, 3]
    y += random.normal(size=n) * (sd(x) if callable(sd) else sd)
    return x, seen(y) if seen else y


def repeated(kind, x, y, random):
    how = KINDS[kind][3]
    if how == "bootstrap":
        row = random.integers(0, len(y), len(y))
        return x[row], y[row]
    if how == "jitter":
        return np.repeat(x, 3, 0), np.repeat(y, 3) + random.normal(0, 1e-3, 3 * len(y))
    return (np.repeat(x, 4, 0), np.repeat(y, 4)) if how == "repeat" else (x, y)


def write(path, x, y):
    names = ",".join("abcd"[:COLUMNS]) + ",y"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header=names, comments="", fmt="%.6g")


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)


def learn(program, folder, table, options):
    """The report of training and the NLL of the new rows."""
    model = folder / "m.safetensors"
    report = run(program, "train", folder / "train.csv", "--target", "y", "--members", "1",
                 "--seed", table, "-q", "--json", "-o", model, *options)
    scores = run(program, "eval", model, folder / "test.csv", "--json", "-q", "--draws", "200")
    return report, scores["laws"][0]["nll"]


def nll(program, folder, table, way):
    return learn(program, folder, table, ["--net", NET, *WAYS[way]])[1]


def mean_error(values):
    return f"{statistics.mean(values):.3f} ± {statistics.stdev(values) / math.sqrt(len(values)):.3f}"


SIZES = {"50 + 50": "dense 50, relu, dense 50, relu, dense 1", "50": NET,
         "5": "dense 5, relu, dense 1", "default": None}


def oracle(kind, x, y):
    """The NLL under the law that the targets were drawn from."""
    mean = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * x[:, 3]
    sd = KINDS[kind][1](x)
    return float(np.mean(0.5 * ((y - mean) / sd) ** 2 + np.log(sd) + 0.5 * math.log(2 * math.pi)))


def sizes(program, tables):
    print("| table | noise net | F | NLL |")
    print("| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in [kind for kind in KINDS if kind.startswith("3,000 rows")]:
            rows, known = {}, []
            for table in range(1, tables + 1):
                random = np.random.default_rng(table)
                write(folder / "train.csv", *rows_of(kind, 3000, random))
                new = rows_of(kind, NEW_ROWS, random)
                write(folder / "test.csv", *new)
                known.append(oracle(kind, *new))
                for size, net in SIZES.items():
                    options = ["--noise-net", net] if net else []
                    report, score = learn(program, folder, table, [
                        "--net", NET, "--likelihood", "heteroscedastic", *options])
                    rows.setdefault(size, []).append((report["f"], score))
                report, score = learn(program, folder, table, ["--prior", "standard"])
                rows.setdefault("`--likelihood auto`, net chosen", []).append(
                    (report["f"], score))
                print("auto takes", report["likelihood"], file=sys.stderr)
            for size, found in rows.items():
                print(f"| {kind.strip()} | {size} | {mean_error([f for f, _ in found])} | "
                      f"{mean_error([s for _, s in found])} |")
            print(f"| {kind.strip()} | oracle | | {mean_error(known)} |", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program", type=Path)
    args.add_argument("--tables", type=int, default=4)
    args.add_argument("--only", action="append", default=[])
    args.add_argument("--sizes", action="store_true")
    a = args.parse_args()
    if a.sizes:
        return sizes(a.program.resolve(), a.tables)
    print("| table | " + " | ".join(WAYS) + " | default less constant, in pairs |")
    print("|" + " --- |" * (len(WAYS) + 2))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, (n, *_) in KINDS.items():
            if a.only and not any(text in kind for text in a.only):
                continue
            scores = {way: [] for way in WAYS}
            for table in range(1, a.tables + 1):
                random = np.random.default_rng(table)
                write(folder / "train.csv", *repeated(kind, *rows_of(kind, n, random), random))
                write(folder / "test.csv", *rows_of(kind, NEW_ROWS, random))
                for way in WAYS:
                    scores[way].append(nll(a.program.resolve(), folder, table, way))
            pairs = [d - c for d, c in zip(scores["default"], scores["constant noise"])]
            cells = [mean_error(scores[way]) for way in WAYS] + [mean_error(pairs)]
            print(f"| {kind.strip()} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
