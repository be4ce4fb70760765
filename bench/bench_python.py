#!/usr/bin/env python3
"""What a call from Python costs over C, and draws beside NumPy's.

    python bench/bench_python.py [DRAWS]

Needs the package installed (`make python`, or `pip install .`). Every time is the least of
its repeats; both sides of a ratio alternate in one run.
"""

import sys
import time

import numpy as np

import crossbayes as xb
from crossbayes._native import ffi, lib


def least(function, repeats, calls=1):
    """Seconds of one call."""
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
    rng = {
        "PCG64, float32": np.random.Generator(np.random.PCG64(1)),
        "SFC64, float32": np.random.Generator(np.random.SFC64(1)),
    }
    room = np.empty(n, np.float32)
    peers = {
        name: least(lambda g=g: g.standard_normal(dtype=np.float32, out=room), 3)
        for name, g in rng.items()
    }
    fresh = {
        name: least(lambda g=g: g.standard_normal(n, dtype=np.float32), 3)
        for name, g in rng.items()
    }
    name = min(fresh, key=fresh.get)
    print(f"\n{n:.0e} draws                      s    of NumPy's fastest ({name}), times")
    for peer in rng:
        print(f"  NumPy normal, {peer:17s} {fresh[peer]:6.3f}   (into old memory {peers[peer]:.3f})")
    for threads in (1, 0):
        xb.set_threads(threads)
        for text in ("gaussian", "mtj", "bimodal"):
            law = xb.law(text)
            seconds = least(lambda law=law: law.rvs(n, seed=1), 3)
            label = f"{text}, {'1 thread' if threads else 'all cores'}"
            print(f"  rvs {label:27s} {seconds:6.3f}   {fresh[name] / seconds:.1f}")
    xb.set_threads(0)


if __name__ == "__main__":
    calls()
    draws(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**8)
