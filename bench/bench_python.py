#!/usr/bin/env python3
"""What a call from Python costs over C, and draws beside NumPy's.

    python bench/bench_python.py [DRAWS]

Needs the package installed (`make python`, or `pip install .`). Every number is the least
of its repeats.
"""

import sys
import time

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


def in_c(law, calls=100000):
    """Seconds of one density inside C, by the loop over arrays on one thread."""
    x = np.full(calls, 0.3)
    xb.set_threads(1)
    seconds = least(lambda: law.pdf(x), 20) / calls
    xb.set_threads(0)
    return seconds


def calls():
    law = xb.law("mtj")
    model = xb.train(np.eye(3), [0.0, 1, 2], net="dense 4, relu, dense 1", epochs=2)
    inner = in_c(law)
    pointer = law._c
    empty = least(lambda: None, 200, 1000)
    rows = [("law.pdf(0.3)", least(lambda: law.pdf(0.3), 200, 1000) - inner)]
    rows.append(("cffi alone", least(lambda: lib.xb_law_pdf(pointer, 0.3), 200, 1000) - inner))
    rows.append(("law.pdf(array of 1)", least(lambda: law.pdf(np.zeros(1)), 200, 200) - inner))
    # Of no rows, so that nothing but the way there and back is timed.
    x, rows_of = np.zeros((0, 3)), ffi.new("xb_rows *", {"features": 3})
    rows_of.x = ffi.from_buffer("double[]", x)
    out, session = ffi.new("xb_prediction **"), xb._library.Session()

    def predict():
        lib.xb_predict_rows(session.ctx, out, model._c, rows_of, ffi.NULL)
        lib.xb_prediction_destroy(out[0])

    whole = least(lambda: model.predict(x), 200, 20)
    rows.append(("model.predict(X)", whole - least(predict, 200, 20)))
    xb.set_threads(0)
    print("a call over C                     us")
    for name, seconds in rows:
        print(f"  {name:28s} {(seconds - empty) * 1e6:8.2f}")


def draws(n):
    """CPU time of one thread for each side: a busy machine does not change the ratio much."""
    peers = {
        f"NumPy normal, {kind.__name__}": lambda g=np.random.Generator(kind(1)): g.standard_normal(
            n, dtype=np.float32
        )
        for kind in (np.random.PCG64, np.random.SFC64)
    }
    laws = {
        f"rvs, {text}": lambda law=xb.law(text): law.rvs(n, seed=1)
        for text in ("gaussian", "mtj", "ecram", "bimodal")
    }
    xb.set_threads(1)
    best = dict.fromkeys([*peers, *laws], float("inf"))
    for _ in range(3):
        for name, function in {**peers, **laws}.items():
            start = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - start)
    xb.set_threads(0)
    fastest = min(best[name] for name in peers)
    print(f"\n{n:.0e} draws, float32, one thread   CPU s   times NumPy's fastest")
    for name, seconds in best.items():
        print(f"  {name:32s} {seconds:6.3f}   {fastest / seconds:.1f}")


if __name__ == "__main__":
    calls()
    draws(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**8)
