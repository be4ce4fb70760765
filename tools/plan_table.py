#!/usr/bin/env python3
"""plan_table.py PROGRAM [DATA] [--seeds N] [--rows N] [--draws N] [--only LAW]: how far plan's predicted
KL is from the measured one: the check that docs/networks.md reports.

Trains small nets on a noisy sine wave, plans each at several inputs under every law, with
the measured RRAM traces of DATA fitted and as empirical laws, and prints the smallest and
the largest ratio of predicted to measured KL for each law, where the ratio is known to a
tenth (one standard error). Ratios of plans that call themselves unreliable are apart."""
import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

NETS = ["dense 3, elu, dense 1", "dense 16, relu, dense 1", "dense 4, elu, dense 4, elu, dense 1",
        "dense 8, tanh, dense 8, tanh, dense 1", "dense 3, elu, dense 3, elu, dense 3, elu, dense 1"]
LAWS = ["mtj", "bimodal:m=0.9", "laplace", "student:nu=7", "student:nu=10",
        "sinh-arcsinh:epsilon=0.5,delta=0.8", "levels:x=-1/0.5,p=0.3/0.7,s=0.3",
        "levels:x=-1/0/1,p=0.3/0.4/0.3,s=0.05"]
TRACES = ["rram_level00", "rram_level08", "rram_level16"]
TRAIN_ROWS = 2000
RATIO_ERROR = 0.1  # above it a ratio says nothing


def run(*args):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}: {done.stderr}")
    return done.stdout


def wave(path, rows, source):
    lines = ["x,y"]
    for _ in range(rows):
        x = source.uniform(-1, 1)
        lines.append(f"{x:.6f},{math.sin(2 * math.pi * x) + source.gauss(0, 0.1):.6f}")
    path.write_text("\n".join(lines) + "\n")


def laws_of(program, data, work):
    """Names and what the program is given for them."""
    laws = {text: text for text in LAWS}
    for trace in TRACES if data else []:
        for kind, options in (("fitted", []), ("empirical", ["--family", "empirical"])):
            file = work / f"{trace}_{kind}.json"
            run(program, "fit", data / "noise" / f"{trace}.csv", "--sample-rate", "400Hz", "-o", file,
                *options)
            laws[f"{trace}, {kind}"] = file
    return laws


def plans(program, laws, nets, work, options):
    """(law, net, plan at one input) for everything."""
    source = random.Random(1)
    wave(work / "train.csv", TRAIN_ROWS, source)
    wave(work / "inputs.csv", options.rows, source)
    for net in nets:
        for seed in range(1, options.seeds + 1):
            model = work / "model.safetensors"
            run(program, "train", work / "train.csv", "--target", "y", "--net", net, "--seed",
                seed, "--threads", options.threads, "-o", model, "-q")
            for name, law in laws.items():
                found = json.loads(run(program, "plan", law, "--model", model, "--data",
                                       work / "inputs.csv", "--rows", options.rows, "--draws",
                                       options.draws, "--threads", options.threads, "--json"))
                for at in found["at"]:
                    yield name, net, seed, at


def ratio_of(at):
    """Predicted over measured KL and its relative error."""
    if not (at["predicted"] > 0 and at["measured"] > 0):
        return math.nan, math.inf
    error = math.hypot(at["predicted_error"] / at["predicted"],
                       at["measured_error"] / at["measured"])
    return at["predicted"] / at["measured"], error


def said(ratios):
    return f"{min(ratios):.2f} to {max(ratios):.2f} ({len(ratios)})" if ratios else "–"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=2)
    parser.add_argument("--draws", type=int, default=32768)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", help="laws whose names contain this")
    parser.add_argument("--all", action="store_true", help="print every plan too, as JSON lines")
    options = parser.parse_args()
    table = {}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        laws = laws_of(options.program, options.data, work)
        laws = {name: law for name, law in laws.items() if (options.only or "") in name}
        for name, net, seed, at in plans(options.program, laws, NETS, work, options):
            row = table.setdefault(name, {True: [], False: [], None: 0})
            ratio, error = ratio_of(at)
            if error <= RATIO_ERROR:
                row[at["trusted"]].append(ratio)
            else:
                row[None] += 1
            if options.all:
                print(json.dumps({"law": name, "net": net, "seed": seed, "ratio": ratio,
                                  "ratio_error": error, **at}), flush=True)
    print("| law | reliable | called unreliable | too few draws to say |")
    print("| --- | --- | --- | --- |")
    for name, row in table.items():
        print(f"| {name} | {said(row[True])} | {said(row[False])} | {row[None]} |")


if __name__ == "__main__":
    main()
