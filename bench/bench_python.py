#!/usr/bin/env python3
"""The Python package's claims of speed in one table, each beside its peer in the same run.

    python bench/bench_python.py [--draws 1e8] [--concrete data.txt] [--seconds 20] [--docs FILE]

`make bench-python` runs all of it, in about three minutes of an idle machine; DOCS=1 writes the
table to docs/python.md as well. Needs the package; draws need NumPy, steps and training need
torch and bayesian-torch and are left out, with a line that says so, where they are missing.
Every number is the least of its repeats, the two sides taking turns.
"""

import argparse
import os
import platform
import time
from pathlib import Path

import numpy as np

import crossbayes as xb
from crossbayes._native import ffi, lib


def least(function, repeats, calls=1):
    """Seconds of one call, the least of its repeats."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, time.perf_counter() - start)
    return best / calls


BEGIN, END = "<!-- make bench-python DOCS=1 writes this -->\n", "<!-- to here -->\n"
table = []  # its lines


def line(text):
    table.append(text)
    print(text, flush=True)


def row(what, measured, peer, ratio, goal, met):
    line(f"| {what} | {measured} | {peer} | {ratio} | {goal} | {'yes' if met else 'no'} |")


def machine():
    """What the numbers were measured on, as a line of text."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    for entry in cpuinfo.read_text().splitlines() if cpuinfo.exists() else []:
        if entry.startswith("model name"):
            model = entry.split(":", 1)[1].strip()
            break
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}"


def update(path):
    """Puts the table in the place of the one in a page."""
    page = path.read_text()
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{path}: no table between {BEGIN.strip()} and {END.strip()}")
    path.write_text(before + BEGIN + "\n".join(table) + "\n" + END + after)


# ---- what a call costs over C


def in_c(function, nothing, repeats, calls):
    """Seconds of a C function alone: a call of it by cffi, less one of a function that does nothing."""
    return max(least(function, repeats, calls) - nothing, 0.0)


def c_draw(law):
    sampler, stream, z = law.sampler(False), ffi.new("xb_stream *"), ffi.new("float[1]")
    return lambda: lib.xb_sampler_fill(sampler, z, 1, stream, 0)


def c_predict(model, x):
    rows = ffi.new("xb_rows *", {"n": len(x), "features": x.shape[1]})
    rows.x = ffi.from_buffer("double[]", x)
    out, session = ffi.new("xb_prediction **"), xb._library.Session()

    def predict():
        lib.xb_predict_rows(session.ctx, out, model._c, rows, ffi.NULL)
        lib.xb_prediction_destroy(out[0])

    predict.kept = rows, x, session
    return predict


def calls():
    law = xb.law("mtj")
    model = xb.train(np.eye(3), [0.0, 1, 2], net="dense 4, relu, dense 1", epochs=2)
    pointer, one, x = law._c, np.full(1, 0.3), np.zeros((1, 3))
    xb.set_threads(1)
    cases = {
        "`law.pdf(0.3)`": (lambda: law.pdf(0.3), lambda: lib.xb_law_pdf(pointer, 0.3)),
        "`law.pdf(array of 1)`": (lambda: law.pdf(one), lambda: lib.xb_law_pdf(pointer, 0.3)),
        "`law.ppf(0.3)`": (lambda: law.ppf(0.3), lambda: lib.xb_law_quantile(pointer, 0.3)),
        "`law.rvs(1, seed=1)`": (lambda: law.rvs(1, seed=1), c_draw(law)),
        "`model.predict(one row)`": (lambda: model.predict(x), c_predict(model, x)),
    }
    empty = least(lambda: None, 300, 200)
    nothing = least(lambda: lib.xb_law_is_symmetric(pointer), 300, 200)
    for name, (python, c) in cases.items():
        often = (300, 200) if "predict" not in name else (3000, 1)  # a prediction takes 0.6 ms
        inner = in_c(c, nothing, *often)
        over = least(python, *often) - empty - inner
        row(f"{name}, time beyond C", f"{over * 1e6:.1f} µs", f"C: {inner * 1e6:.2f} µs", "",
            "at most 5 µs", over <= 5e-6)
    xb.set_threads(0)


# ---- draws


def draws(n):
    """CPU time of one thread for each side; NumPy also into memory that is there already."""
    buffer = np.empty(n, np.float32)
    peers = {}
    for kind in (np.random.PCG64, np.random.SFC64, np.random.PCG64DXSM, np.random.Philox):
        g = np.random.Generator(kind(1))
        peers[kind.__name__] = lambda g=g: g.standard_normal(n, dtype=np.float32)
        peers[f"{kind.__name__}, out="] = lambda g=g: g.standard_normal(
            dtype=np.float32, out=buffer
        )
    ours = {}
    for text in ("gaussian", "mtj", "ecram", "bimodal"):
        law = xb.law(text)
        ours[f"`rvs({n:.0e})`, {text}"] = lambda law=law: law.rvs(n, seed=1)
        ours[f"`rvs({n:.0e}, out=)`, {text}"] = lambda law=law: law.rvs(out=buffer, seed=1)
    xb.set_threads(1)
    best = dict.fromkeys([*peers, *ours], float("inf"))
    for _ in range(4):  # memory that the system hands out for the first time is slow
        for name, function in {**peers, **ours}.items():
            start = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - start)
    xb.set_threads(0)
    fastest = min(peers, key=lambda name: best[name])
    for name in ours:
        times = best[fastest] / best[name]
        row(name, f"{best[name]:.3f} s", f"NumPy {fastest}: {best[fastest]:.3f} s",
            f"{times:.1f}", "4", times >= 4)


# ---- training beside bayesian-torch


def concrete(path, seconds):
    import bench_concrete

    ours, nll, spent, best, epochs = bench_concrete.compare(path, seconds)
    reached = "" if best <= nll else "more than "
    row("training, UCI concrete", f"{ours:.2f} s to an NLL of {nll:.3f}",
        f"bayesian-torch: {spent:.1f} s, NLL {best:.3f}, {epochs} epochs",
        f"{reached}{spent / ours:.0f}", "20", spent >= 20 * ours)


def steps():
    import bench_torch

    for name, estimator, plain, theirs, ours in bench_torch.measure(1):
        row(f"step, {name}, {estimator}", f"{ours:.2f} ms (plain net {plain:.2f})",
            f"bayesian-torch: {theirs:.2f} ms", f"{theirs / ours:.2f}", "2",
            theirs >= 2 * ours)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=float, default=1e8)
    parser.add_argument("--concrete", metavar="FILE", help="UCI concrete: numbers, target last")
    parser.add_argument("--seconds", type=float, default=20, help="CPU time of the peer's training")
    parser.add_argument("--docs", type=Path, metavar="FILE", help="page whose table is replaced")
    given = parser.parse_args()
    line("| what | crossbayes | compared with | times as fast | goal | met |")
    line("| --- | --- | --- | --- | --- | --- |")
    calls()
    draws(int(given.draws))
    try:
        steps()
        if given.concrete:
            concrete(given.concrete, given.seconds)
        else:
            print("skipped: training; --concrete FILE has the data")
    except ImportError as error:
        print(f"skipped: steps and training: {error}")
    line("")
    line(f"Measured on {machine()}.")
    if given.docs:
        update(given.docs)


if __name__ == "__main__":
    main()
