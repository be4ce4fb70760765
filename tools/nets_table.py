#!/usr/bin/env python3
"""nets_table.py PROGRAM [--seeds N] [--only layers|steps|held|random]: which net and which settings
suit simulated tables: the tables of docs/networks.md.

    layers   F and RMSE of one hidden layer of 50 units and of two
    steps    RMSE of one layer after more ordinary training, beside that of two layers
    held     the last epoch beside the best one on rows held out
    random   the fitted sd of the noise with random kernels and with random biases too

Every number is the mean over tables, with its standard error; table k has seed k, as has
its training. RMSE and negative log density are those of 3,000 new rows."""
import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ONE, TWO = "dense 50, relu, dense 1", "dense 50, relu, dense 50, relu, dense 1"
NEW_ROWS = 3000
LINEAR = [2, -1.5, 1, 0.5, 0, 0, -0.5, 1]


def sine(source):
    x = source.uniform(-1, 1)
    return [x], math.sin(4 * math.pi * x) + source.gauss(0, 0.1)


def slow_sine(source):
    x = source.uniform(-1, 1)
    return [x], math.sin(2 * math.pi * x) + source.gauss(0, 0.1)


def friedman(source):
    x = [source.random() for _ in range(10)]
    y = 10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
    return x, y + source.gauss(0, 1)


def linear(source):
    x = [source.gauss(0, 1) for _ in LINEAR]
    return x, sum(a * b for a, b in zip(LINEAR, x)) + source.gauss(0, 1.5)


def write(path, row, rows, source):
    drawn = [row(source) for _ in range(rows)]
    names = [f"x{i}" for i in range(len(drawn[0][0]))] + ["y"]
    lines = [",".join(f"{v:.6f}" for v in [*x, y]) for x, y in drawn]
    path.write_text("\n".join([",".join(names)] + lines) + "\n")


def run(*args):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}: {done.stderr}")
    return json.loads(done.stdout)


class Bench:
    def __init__(self, program, folder, seeds):
        self.program, self.folder, self.seeds = program, folder, seeds

    def train(self, row, rows, options, seed):
        """The report of one training, and the scores of new rows."""
        source = random.Random(seed)
        train, test, model = (self.folder / n for n in ("train.csv", "test.csv", "m.safetensors"))
        write(train, row, rows, source)
        write(test, row, NEW_ROWS, source)
        report = run(self.program, "train", train, "--target", "y", "--seed", seed, "--json",
                     "-q", "-o", model, *options)
        return report, run(self.program, "eval", model, test, "--json", "-q")["laws"][0]

    def many(self, row, rows, options):
        return [self.train(row, rows, options, seed) for seed in range(1, self.seeds + 1)]


def mean_error(values):
    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return f"{mean:.4g}"
    error = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n)
    digits = max(0, 1 - math.floor(math.log10(error))) if error > 0 else 3
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def show(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def layers(bench):
    show(["data", "rows", "F, one layer", "F, two", "RMSE, one", "RMSE, two", "F picks the better"])
    for name, row, sizes in [("sin 4πx", sine, [500, 1000, 2000]),
                             ("Friedman", friedman, [500, 1000, 2000]), ("linear", linear, [1000])]:
        for rows in sizes:
            nets = [bench.many(row, rows, ["--net", net]) for net in (ONE, TWO)]
            right = sum((a["f"] < b["f"]) == (s["rmse"] < t["rmse"])
                        for (a, s), (b, t) in zip(*nets))
            show([name, str(rows)] + [mean_error([r["f"] for r, _ in net]) for net in nets] +
                 [mean_error([s["rmse"] for _, s in net]) for net in nets] +
                 [f"{right} of {bench.seeds}"])


def steps(bench):
    show(["10,000 rows of sin 4πx", "RMSE"])
    for name, options in [("one layer", ["--net", ONE]),
                          ("one layer, five times the ordinary training",
                           ["--net", ONE, "--mle-epochs", "100"]),
                          ("two layers", ["--net", TWO])]:
        show([name, mean_error([s["rmse"] for _, s in bench.many(sine, 10000, options)])])


def held(bench):
    show(["", "epoch", "median σ", "RMSE", "NLL", "coverage 95 %"])
    for name, options in [("all 200 rows", []), ("--validation 0.2", ["--validation", "0.2"]),
                          ("--epochs 590", ["--epochs", "590"])]:
        runs = bench.many(friedman, 200, ["--net", ONE, *options])
        show([name] + [mean_error([r[k] for r, _ in runs]) for k in ("epoch_kept", "sigma_median")] +
             [mean_error([s[k] for _, s in runs]) for k in ("rmse", "nll", "coverage95")])


def biases(bench):
    show(["", "fitted sd of the noise", "smallest", "largest"])
    for which in ("kernels", "all"):
        sds = [r["noise_sd"] for r, _ in bench.many(slow_sine, 300, ["--net", ONE, "--random", which])]
        show([f"--random {which}", mean_error(sds), f"{min(sds):.3f}", f"{max(sds):.3f}"])


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program", type=Path)
    args.add_argument("--seeds", type=int, default=5)
    tables = {"layers": layers, "steps": steps, "held": held, "random": biases}
    args.add_argument("--only", choices=tables)
    a = args.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(a.program.resolve(), Path(folder), a.seeds)
        for name, table in tables.items():
            if a.only in (None, name):
                print(f"\n{name}")
                table(bench)


if __name__ == "__main__":
    main()
