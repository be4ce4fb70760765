"""A small fuzzer over the public calls: every call ends with a value or a fitting exception.

python fuzz_calls.py SECONDS [SEED]
"""

from __future__ import annotations

import inspect
import os
import random
import sys
import tempfile
import time

import crossbayes as xb
import numpy as np

FITTING = (
    TypeError,
    ValueError,
    KeyError,
    OSError,
    OverflowError,
    MemoryError,
    xb.Error,
    ImportError,
)


def values(rng: random.Random, folder: str):
    """Arguments that a call may or may not take."""
    x = np.linspace(-1, 1, 12)
    return [
        None, True, False, 0, 1, -1, 3, 2**31, 2**63, -(2**63), 2**80, 0.5, -0.0, 1e-320, 1e308,
        float("nan"), float("inf"), 1j, "", "mtj", "gaussian", "mtj:B=nan", "mtj:B=1e999", "\0",
        "dense 3, relu, dense 1", "dense 0", "é" * 300, b"mtj", [], [[]], {}, (), object(), len,
        x, x.reshape(-1, 1), x.reshape(3, 4), x[::-1], np.float32(x), x.astype(object), x * np.nan,
        np.array(["a", "b"] * 6), np.array([None, 1.0]), np.zeros((0, 3)), np.zeros((3, 0)),
        np.zeros((2, 2, 2, 2)), np.zeros((4, 4, 4), np.uint8), np.arange(12), x.astype(">f4"),
        np.array(7.0), np.ma.masked_array(x, x > 0), rng.random(), rng.randrange(100),
        xb.law("mtj"), xb.Array("mtj"), xb.Generator(1), folder, os.path.join(folder, "none"),
        os.path.join(folder, "m.safetensors"), os.path.join(folder, "law.json"), lambda *_: False,
        lambda *_: 1 / 0, [1, "a"], [[1, 2], [3]], range(20), np.float16(x), (2, 3), 1e9, "1e9",
    ]  # fmt: skip


# Files that nobody asked for; and an object that is closed refuses all that comes after.
LEFT_OUT = ("save", "export", "plot", "sampler", "close")


def targets(folder: str):
    """What is called: functions, and methods of small objects."""
    x = np.linspace(-2, 2, 24).reshape(12, 2)
    model = xb.train(x, x[:, 0], net="dense 2, tanh, dense 1", epochs=2, mle_epochs=2)
    model.save(os.path.join(folder, "m.safetensors"))
    GOOD["model"], GOOD["path"] = model, os.path.join(folder, "m.safetensors")
    law, fit = xb.law("bimodal"), xb.fit(xb.law("mtj").rvs(64, seed=1))
    law.save(os.path.join(folder, "law.json"))
    evaluation, analog = model.evaluate(x, x[:, 0], draws=20), model.on("mtj", x)
    closed = xb.law("ecram")
    closed.close()
    objects = [law, closed, fit, fit.series, model, evaluation, evaluation.scores, analog]
    objects += [xb.Generator(3), xb.Array("ecram"), law.gauss(3), model.predict(x)]
    calls = [
        getattr(xb, name)
        for name in xb.__all__
        if callable(getattr(xb, name)) and name not in ("set_threads", "Law", "Prediction")
        and not isinstance(getattr(xb, name), type)
    ]  # fmt: skip
    calls += [xb.Array, xb.Generator, xb.Model.load]
    for thing in objects:
        calls += [
            getattr(thing, name)
            for name in dir(type(thing))
            if not name.startswith("_") and name not in LEFT_OUT
            and callable(getattr(type(thing), name))
        ]  # fmt: skip
    return calls


NAMES = ["seed", "law", "draws", "epochs", "net", "size", "interval", "x", "batch", "progress",
         "tensor", "first", "quantiles", "laws", "scaled", "classes", "dtype", "prior", "nonsense",
         "adc_bits", "on_epoch", "family", "validation", "estimator", "reads", "gp", "cells", "out",
         "device", "members", "likelihood"]  # fmt: skip

# Sizes that are allowed and would take hours or all memory.
SLOW = {"epochs": 3, "mle_epochs": 3, "draws": 30, "reads": 20, "size": 50, "n": 50}


def tame(argument):
    """Large but allowed numbers are cut, so that a call ends soon."""
    if (
        isinstance(argument, (int, float))
        and not isinstance(argument, bool)
        and 1000 < argument < 2**40
    ):
        return 1000
    return argument


# Arguments that a call does take, by their names.
X = np.linspace(-2, 2, 24).reshape(12, 2)
GOOD = {"x": X, "X": X, "y": X[:, 0], "law": "mtj", "law_": "bimodal", "what": "gaussian",
        "size": 40, "n": 7, "q": 0.3, "other": "laplace", "order": 2, "net":
        "dense 2, relu, dense 1", "tensors": {"0.kernel": np.ones((2, 2)), "0.bias": [0, 0],
        "2.kernel": [[1.0], [2]], "2.bias": [0]}, "inputs": 2, "array": "mtj", "name": "nll",
        "interval": 0.1, "reads": 9, "function": np.square, "cell": X[:, 0], "state": X[:, 0],
        "time": X[:, 0], "value": X[:, 0], "conductance": 1e-6, "seconds": 1.0, "u": 0.5,
        "library": "blitz", "module": {"a.weight": np.ones((1, 2))}}  # fmt: skip

NOISE = np.sin(np.arange(40.0) ** 2)


def arguments(rng: random.Random, function, pool):
    """What fits, with something else here and there; or anything."""
    if rng.random() < 0.3:
        return [tame(rng.choice(pool)) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    needed = [p for p in parameters if p.default is p.empty and p.kind in (0, 1)]
    wrong = rng.random() < 0.5
    picked = []
    for p in needed:
        good = NOISE if p.name == "samples" else GOOD.get(p.name, "legendre")
        picked.append(tame(rng.choice(pool)) if wrong and rng.random() < 0.5 else good)
    return picked


def one_call(rng: random.Random, calls, pool):
    function = rng.choice(calls)
    args = arguments(rng, function, pool)
    kwargs = {}
    for name in rng.sample(NAMES, rng.choice([0, 0, 0, 0, 1, 2])):
        kwargs[name] = tame(rng.choice(pool))
    if function is xb.train:
        kwargs.setdefault("epochs", 2)
        kwargs.setdefault("mle_epochs", 2)
    for name, most in SLOW.items():
        if isinstance(kwargs.get(name), (int, float)) and kwargs[name] > most:
            kwargs[name] = most
    try:
        function(*args, **kwargs)
        return True
    except FITTING:
        return False
    except ZeroDivisionError:  # of our own callback
        return False
    except BaseException as error:
        name = getattr(function, "__qualname__", repr(function))
        raise AssertionError(f"{name}{tuple(args)!r} {kwargs!r}: {error!r}") from error


def run(count: int | None, seconds: float, seed: int) -> tuple[int, int]:
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    done = worked = 0
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        calls, pool = targets(folder), values(rng, folder)
        while time.monotonic() < end and (count is None or done < count):
            worked += one_call(rng, calls, pool)
            done += 1
    return done, worked


if __name__ == "__main__":
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)
    print("seed", seed, flush=True)
    done, worked = run(None, float(sys.argv[1]), seed)
    print(f"{done} calls, {worked} of them worked")
