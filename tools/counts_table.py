#!/usr/bin/env python3
"""counts_table.py PROGRAM [--tables N]: the likelihoods of counts beside those of numbers, on
simulated tables: the table of counts in docs/likelihoods.md.

Four columns, uniform on (-1, 1); the rate is proportional to exp(0.8 + sin 3a + 0.8 b² +
0.5 cd). The oracle's NLL is that of the law that the counts were drawn from."""
import argparse
import csv
import math
import random
import sys
import tempfile
from pathlib import Path

from tied_table import mean_error, run

TRAIN, TEST = 800, 2000
CASES = {"Poisson, mean 4": (4, None), "negative binomial, mean 4": (4, 0.5),
         "negative binomial, mean 400": (400, 0.2)}
LIKELIHOODS = ("auto", "poisson", "negative-binomial", "gaussian", "heteroscedastic")


def shape(x):
    return math.exp(0.8 + math.sin(3 * x[0]) + 0.8 * x[1] ** 2 + 0.5 * x[2] * x[3])


def poisson(rng, rate):
    """By halves, because exp(-rate) of a large rate is 0."""
    if rate > 30:
        return poisson(rng, rate / 2) + poisson(rng, rate / 2)
    k, left = 0, rng.random()
    mass = math.exp(-rate)
    while left >= mass and k < 1000:
        left -= mass
        k += 1
        mass *= rate / k
    return k


def drawn(rng, rate, dispersion):
    if dispersion is not None:
        rate *= rng.gammavariate(1 / dispersion, dispersion)
    return poisson(rng, rate)


def log_mass(k, rate, dispersion):
    if dispersion is None:
        return k * math.log(rate) - rate - math.lgamma(k + 1)
    size = 1 / dispersion
    return (math.lgamma(k + size) - math.lgamma(size) - math.lgamma(k + 1)
            + size * math.log(size / (size + rate)) + k * math.log(rate / (size + rate)))


def make(path, rng, n, factor, dispersion):
    """Writes a table; returns the oracle's NLL."""
    nll = 0
    with path.open("w") as file:
        out = csv.writer(file)
        out.writerow(["a", "b", "c", "d", "y"])
        for _ in range(n):
            x = [rng.uniform(-1, 1) for _ in range(4)]
            rate = factor * shape(x)
            y = drawn(rng, rate, dispersion)
            nll -= log_mass(y, rate, dispersion) / n
            out.writerow([f"{v:.9f}" for v in x] + [y])
    return nll


def below_zero(program, model, test, work):
    """The share of rows whose 95 % interval goes below 0."""
    path = work / "p.csv"
    run(program, "predict", model, test, "-q", "--json", "-o", path)
    with path.open() as file:
        low = [float(r["q0.025"]) for r in csv.DictReader(file)]
    return sum(v < 0 for v in low) / len(low)


def scores(program, work, likelihood, seed):
    model, test = work / "m.safetensors", work / "test.csv"
    report = run(program, "train", work / "train.csv", "--target", "y", "--members", 1,
                 "--likelihood", likelihood, "--prior", "standard", "--seed", seed, "-q", "--json",
                 "-o", model)
    law = run(program, "eval", model, test, "--json", "-q")["laws"][0]
    return (law["nll"], law["coverage95"], below_zero(program, model, test, work),
            report["likelihood"])


def case(program, work, name, tables):
    factor, dispersion = CASES[name]
    rng = random.Random(0)
    mean = sum(shape([rng.uniform(-1, 1) for _ in range(4)]) for _ in range(20000)) / 20000
    results, oracle = {l: [] for l in LIKELIHOODS}, []
    for seed in range(1, tables + 1):
        rng = random.Random(f"{name} {seed}")
        make(work / "train.csv", rng, TRAIN, factor / mean, dispersion)
        oracle.append(make(work / "test.csv", rng, TEST, factor / mean, dispersion))
        for likelihood in LIKELIHOODS:
            results[likelihood].append(scores(program, work, likelihood, seed))
    for likelihood, found in results.items():
        nll, coverage, below, kind = zip(*found)
        chosen = f" ({', '.join(sorted(set(kind)))})" if likelihood == "auto" else ""
        print(f"| {name} | `{likelihood}`{chosen} | {mean_error(nll)} | {mean_error(oracle)} | "
              f"{mean_error(coverage)} | {100 * sum(below) / len(below):.0f} % |", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("program", type=Path)
    args.add_argument("--tables", type=int, default=3)
    a = args.parse_args()
    print("| table | likelihood | NLL | oracle | coverage 95 % | intervals that go below 0 |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            case(a.program.resolve(), Path(folder), name, a.tables)


if __name__ == "__main__":
    sys.exit(main())
