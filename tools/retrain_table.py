#!/usr/bin/env python3
"""retrain_table.py PROGRAM DATA [--splits N] [--bits LOW:HIGH] [--only NAME] [--validation FOLDS]: what training for an
array is worth: the table of docs/design.md.

For every split of UCI concrete and yacht, and for as many tables of the scalar task, it trains a net without the array,
then lets `design --retrain` train it for `ecram` without stuck devices at each number of ADC bits, and reads both on the
same 16 chips. It prints the loss of NLL against the digital model without training for the array: mean and standard
error over splits, and the difference of the two, split by split.

--validation FOLDS leaves the test rows of those splits out altogether, cuts the rows that are left into FOLDS parts and
scores each of them with nets trained on the others: for choosing how to train."""
import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ARRAY = ["--array", "ecram", "--set", "stuck_low=0", "--set", "stuck_high=0", "--set", "dac_bits=8"]


def run(*args, fine=(0,)):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if done.returncode not in fine:
        sys.exit(f"{' '.join(map(str, args))}: {done.stderr}")
    return json.loads(done.stdout)


def lines_of(folder):
    return [line for line in (folder / "data.txt").read_text().splitlines() if line.strip()]


def numbers(folder, part, split):
    return [int(float(n)) for n in (folder / f"index_{part}_{split}.txt").read_text().split()]


def uci(folder, splits):
    """Rows to train on and to test on, for each split."""
    lines = lines_of(folder)
    for k in range(splits):
        yield [[lines[i] for i in numbers(folder, part, k)] for part in ("train", "test")]


def folds(folder, splits, parts):
    """The same of the rows that no split tests on."""
    lines = lines_of(folder)
    tested = {i for k in range(splits) for i in numbers(folder, "test", k)}
    rows = [line for i, line in enumerate(lines) if i not in tested]
    random.Random(1).shuffle(rows)
    for k in range(parts):
        yield [row for i, row in enumerate(rows) if i % parts != k], rows[k::parts]


def scalar(seed, rows):
    """Rows of the scalar task (maths S1)."""
    draw = random.Random(seed)
    xs = [draw.uniform(-1, 1) for _ in range(rows)]
    return [f"{x:.6f} {math.sin(2 * math.pi * x) + 0.1 * abs(x) * draw.gauss(0, 1):.6f}" for x in xs]


def scalar_tables(splits):
    for k in range(splits):
        yield scalar(2 * k + 1, 1000), scalar(2 * k + 2, 500)


def jobs(data, splits, parts):
    """Name, settings of train, and the rows of each split."""
    deep = "dense 16, elu, dense 16, elu, dense 16, elu, dense 16, elu, dense 1"
    for name in ("concrete", "yacht"):
        folder = data / "uci" / name
        rows = folds(folder, splits, parts) if parts else uci(folder, splits)
        yield name, ["--net", "dense 50, relu, dense 1"], rows
    if not parts:
        yield "scalar", ["--net", deep, "--likelihood", "heteroscedastic"], scalar_tables(splits)


def losses(program, work, settings, rows, bits, effort):
    """{(bits, aware): loss of NLL} of one split."""
    for part, lines in zip(("train", "test"), rows):
        (work / f"{part}.txt").write_text("\n".join(lines) + "\n")
    train, test, model = work / "train.txt", work / "test.txt", work / "m.safetensors"
    target = len(rows[0][0].split())
    run(program, "train", train, "--target", target, "--members", 1, *settings, "-q", "--json", "-o", model)
    found = run(program, "design", model, test, "--calibration", train, *ARRAY, "--over", f"adc_bits={bits}", "--over",
                "draws=50", "--exhaustive", "--retrain", "--effort", effort, "--keep", "nll<=+0.1", "--json", "-q",
                fine=(0, 1))
    return {(int(d["adc_bits"]), int(d["aware"])): d["loss"] for d in found["designs"]}


def mean_error(values):
    n = len(values)
    mean = sum(values) / n
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n) if n > 1 else math.nan


def table(name, runs):
    print(f"\n{name}: loss of NLL over {len(runs)} splits, mean and standard error")
    print("| ADC bits | without | for the array | difference |\n| --- | --- | --- | --- |")
    for bits in sorted({b for b, _ in runs[0]}):
        plain, aware = ([r[bits, k] for r in runs] for k in (0, 1))
        cells = [mean_error(v) for v in (plain, aware, [a - p for a, p in zip(aware, plain)])]
        print(f"| {bits} | " + " | ".join(f"{m:.3f} ± {e:.3f}" for m, e in cells) + " |", flush=True)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("program")
    ask.add_argument("data", type=Path)
    ask.add_argument("--splits", type=int, default=5)
    ask.add_argument("--bits", default="4:10")
    ask.add_argument("--only")
    ask.add_argument("--effort", default="standard")
    ask.add_argument("--validation", type=int, default=0)
    a = ask.parse_args()
    for name, settings, splits in jobs(a.data, a.splits, a.validation):
        if a.only in (None, name):
            with tempfile.TemporaryDirectory() as work:
                table(name, [losses(a.program, Path(work), settings, rows, a.bits, a.effort) for rows in splits])


if __name__ == "__main__":
    main()
