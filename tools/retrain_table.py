#!/usr/bin/env python3
"""retrain_table.py PROGRAM DATA [--splits N] [--bits LOW:HIGH] [--only NAME] [--validation FOLDS]: what training for an
array is worth: the tables of docs/design.md.

For each split of UCI concrete and yacht, for as many tables of the scalar task and as many parts of Fashion-MNIST, it
trains a net without the array, then lets `design --retrain` train it for `ecram` without stuck devices at each number of
ADC bits, and, as a control, just as long without the array. All three are read on the same 16 chips. It prints the loss
of NLL against the digital model of the first: mean and standard error over splits, and the difference that the array
makes in training, split by split.

--validation FOLDS leaves the test rows of those splits out altogether, cuts the rows that are left into FOLDS parts and
scores each of them with nets trained on the others: for choosing how to train."""
import argparse
import gzip
import json
import math
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ARRAY = ["--array", "ecram", "--set", "stuck_low=0", "--set", "stuck_high=0", "--set", "dac_bits=8"]
FASHION = Path("/usr/share/datasets/fashion-mnist")
TRAIN_IMAGES, TEST_IMAGES = 4000, 300
GIVEN, AWARE, CONTROL = "given", "aware", "control"


def run(*args, fine=(0,)):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if done.returncode not in fine:
        sys.exit(f"{' '.join(map(str, args))}: {done.stderr}")
    return json.loads(done.stdout)


# ---- data: each split is a pair of files in `work`


def write_rows(work, train, test):
    paths = work / "train.txt", work / "test.txt"
    for path, lines in zip(paths, (train, test)):
        path.write_text("\n".join(lines) + "\n")
    return paths


def lines_of(folder):
    return [line for line in (folder / "data.txt").read_text().splitlines() if line.strip()]


def numbers(folder, part, split):
    return [int(float(n)) for n in (folder / f"index_{part}_{split}.txt").read_text().split()]


def uci(folder, splits, work):
    lines = lines_of(folder)
    for k in range(splits):
        yield write_rows(work, *([lines[i] for i in numbers(folder, part, k)] for part in ("train", "test")))


def folds(folder, splits, parts, work):
    """Of the rows that no split tests on."""
    lines = lines_of(folder)
    tested = {i for k in range(splits) for i in numbers(folder, "test", k)}
    rows = [line for i, line in enumerate(lines) if i not in tested]
    random.Random(1).shuffle(rows)
    for k in range(parts):
        yield write_rows(work, [row for i, row in enumerate(rows) if i % parts != k], rows[k::parts])


def scalar_rows(seed, count):
    """Rows of the scalar task (maths S1)."""
    draw = random.Random(seed)
    xs = [draw.uniform(-1, 1) for _ in range(count)]
    return [f"{x:.6f} {math.sin(2 * math.pi * x) + 0.1 * abs(x) * draw.gauss(0, 1):.6f}" for x in xs]


def scalar(splits, work):
    for k in range(splits):
        yield write_rows(work, scalar_rows(2 * k + 1, 1000), scalar_rows(2 * k + 2, 500))


def images(work, part, source, first, count):
    """Some images of Fashion-MNIST and their labels as IDX files."""
    pixels = gzip.open(FASHION / f"{source}-images-idx3-ubyte.gz").read()[16:]
    labels = gzip.open(FASHION / f"{source}-labels-idx1-ubyte.gz").read()[8:]
    path, end = work / f"{part}-images-idx3-ubyte", first + count
    path.write_bytes(struct.pack(">IIII", 2051, count, 28, 28) + pixels[784 * first:784 * end])
    (work / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, count) + labels[first:end])
    return path


def fashion(splits, work):
    for k in range(splits):
        yield (images(work, "train", "train", k * TRAIN_IMAGES, TRAIN_IMAGES),
               images(work, "test", "t10k", k * TEST_IMAGES, TEST_IMAGES))


def jobs(data, splits, parts, work):
    """Name, settings of train, and the files of each split."""
    for name, target in (("concrete", 9), ("yacht", 7)):
        folder = data / "uci" / name
        files = folds(folder, splits, parts, work) if parts else uci(folder, splits, work)
        yield name, ["--target", target, "--net", "dense 50, relu, dense 1"], files
    if not parts:
        deep = "dense 16, elu, " * 4 + "dense 1"
        yield "scalar", ["--target", 2, "--net", deep, "--likelihood", "heteroscedastic"], scalar(splits, work)
        yield "fashion", ["--net", "flatten, dense 50, relu, dense 10"], fashion(splits, work)


# ---- losses


def searched(program, model, files, bits, *over):
    train, test = files
    found = run(program, "design", model, test, "--calibration", train, *ARRAY, "--over", f"adc_bits={bits}", "--over",
                "draws=50", *over, "--exhaustive", "--retrain", "--keep", "nll<=+0.1", "--json", "-q", fine=(0, 1))
    return found["designs"]


def losses(program, work, settings, files, bits):
    """{(bits, way of training): loss of NLL} of one split."""
    model = work / "m.safetensors"
    run(program, "train", files[0], "--members", 1, *settings, "-q", "--json", "-o", model)
    out = {}
    for d in searched(program, model, files, bits, "--over", "for_array=0,1"):
        out[int(d["adc_bits"]), AWARE if d["for_array"] else GIVEN] = d["loss"]
    # a penalty too small to matter: trained again, without the array
    for d in searched(program, model, files, bits, "--over", "for_array=0", "--over", "n_eff_penalty=1e-9"):
        out[int(d["adc_bits"]), CONTROL] = d["loss"]
    return out


def mean_error(values):
    n = len(values)
    mean = sum(values) / n
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n) if n > 1 else math.nan


def table(name, runs):
    print(f"\n{name}: loss of NLL over {len(runs)} splits, mean and standard error")
    print("| ADC bits | as given | trained again without | trained for the array | difference of the last two |")
    print("| --- | --- | --- | --- | --- |")
    for bits in sorted({b for b, _ in runs[0]}):
        given, control, aware = ([r[bits, way] for r in runs] for way in (GIVEN, CONTROL, AWARE))
        cells = [mean_error(v) for v in (given, control, aware, [a - c for a, c in zip(aware, control)])]
        print(f"| {bits} | " + " | ".join(f"{m:.3f} ± {e:.3f}" for m, e in cells) + " |", flush=True)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("program")
    ask.add_argument("data", type=Path)
    ask.add_argument("--splits", type=int, default=5)
    ask.add_argument("--bits", default="4:10")
    ask.add_argument("--only")
    ask.add_argument("--validation", type=int, default=0)
    a = ask.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, settings, splits in jobs(a.data, a.splits, a.validation, Path(folder)):
            if a.only in (None, name):
                table(name, [losses(a.program, Path(folder), settings, files, a.bits) for files in splits])


if __name__ == "__main__":
    main()
