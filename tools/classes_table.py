#!/usr/bin/env python3
"""classes_table.py PROGRAM [--set NAME]... [--with OPTIONS]... [--seed N]: scores of classes on
scikit-learn's bundled sets: the tables of docs/likelihoods.md.

Five folds (StratifiedKFold, shuffled, random_state 0) are learnt from with the default settings,
with further OPTIONS of `train` (one text each, such as --with '--prior normal:sd=2'), and with
scikit-learn's LogisticRegression and MLPClassifier on standardised columns. Printed are the mean
negative log probability of a test row's class, its standard error over the folds, the differences
fold by fold, the accuracy, and the processor time of a training on one thread."""
import argparse
import json
import math
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

SETS = {"digits": datasets.load_digits, "iris": datasets.load_iris, "wine": datasets.load_wine,
        "breast_cancer": datasets.load_breast_cancer}


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)


def write(path, x, y):
    names = ",".join([f"x{i}" for i in range(1, x.shape[1] + 1)] + ["y"])
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header=names, comments="", fmt="%.8g")


def ours(program, folder, options, seed):
    model = folder / "m.safetensors"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    report = run(program, "train", folder / "train.csv", "--target", "y", "--classes", "--seed",
                 seed, "--threads", "1", "--json", "-q", "-o", model, *shlex.split(options))
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    scores = run(program, "eval", model, folder / "test.csv", "--json", "-q")["laws"][0]
    return {"nll": scores["nll"], "accuracy": scores["accuracy"], "seconds": seconds,
            "chosen": f"{report['net']} {report.get('prior', '')}"}


def theirs(train, test):
    scale = StandardScaler().fit(train[0])
    classes = np.unique(train[1])
    for name, judge in (("LogisticRegression", LogisticRegression(max_iter=5000)),
                        ("MLPClassifier", MLPClassifier(max_iter=1000, random_state=0))):
        judge.fit(scale.transform(train[0]), train[1])
        p = judge.predict_proba(scale.transform(test[0]))
        yield name, {"nll": log_loss(test[1], p, labels=classes)}


def mean_error(values):
    return f"{statistics.mean(values):.4f} ± {statistics.stdev(values) / math.sqrt(len(values)):.4f}"


def one_set(a, folder, name):
    x, y = SETS[name](return_X_y=True)
    results = {}
    for fit, test in StratifiedKFold(5, shuffle=True, random_state=0).split(x, y):
        write(folder / "train.csv", x[fit], y[fit])
        write(folder / "test.csv", x[test], y[test])
        for options in ["", *a.options]:
            results.setdefault(options or "default", []).append(
                ours(a.program.resolve(), folder, options, a.seed))
        for peer, scores in theirs((x[fit], y[fit]), (x[test], y[test])):
            results.setdefault(peer, []).append(scores)
    nll = {way: [s["nll"] for s in scores] for way, scores in results.items()}
    for way, scores in results.items():
        line = f"{name}, {way}: NLL {mean_error(nll[way])}"
        for peer in ("LogisticRegression", "MLPClassifier"):
            if "accuracy" in scores[0]:
                line += f", less {peer} {mean_error([p - q for p, q in zip(nll[way], nll[peer])])}"
        if "accuracy" in scores[0]:
            line += (f", accuracy {mean_error([s['accuracy'] for s in scores])}, "
                     f"{statistics.mean(s['seconds'] for s in scores):.2f} s, "
                     f"{sorted({s['chosen'] for s in scores})}")
        print(line, flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program", type=Path)
    args.add_argument("--set", choices=SETS, action="append")
    args.add_argument("--with", dest="options", action="append", default=[])
    args.add_argument("--seed", type=int, default=1)
    a = args.parse_args()
    warnings.filterwarnings("ignore")  # MLPClassifier's steps end at its default number
    with tempfile.TemporaryDirectory() as folder:
        for name in a.set or SETS:
            one_set(a, Path(folder), name)


if __name__ == "__main__":
    main()
