"""Wrong input: an exception of a fitting type with the library's sentence, never a crash."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import crossbayes as xb
import fuzz_calls
import numpy as np
import pytest

NET = {"net": "dense 2, relu, dense 1", "epochs": 3, "mle_epochs": 3}


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda x, y: xb.train(x[0], y, **NET), ValueError, "1 dimension, expected 2"),
        (lambda x, y: xb.train(x, y[:5], **NET), ValueError, "120 rows and y has 5"),
        (lambda x, y: xb.train(x * np.nan, y, **NET), xb.InputError, "nan|finite|number"),
        (lambda x, y: xb.train(x, y * np.inf, **NET), xb.InputError, "inf|finite|number"),
        (lambda x, y: xb.train(x, y, net="dense", epochs=1), xb.InputError, "dense"),
        (lambda x, y: xb.train(x, y, law="mjt", **NET), xb.InputError, "did you mean 'mtj'"),
        (lambda x, y: xb.train(x, y, epoch=3), TypeError, "did you mean 'epochs'"),
        (lambda x, y: xb.train(x, y, learning_rate=1e-3), TypeError, "did you mean 'rate'"),
        (lambda x, y: xb.train(x, y, n_epochs=3), TypeError, "did you mean 'epochs'"),
        (lambda x, y: xb.train(x, y, lr=1e-3), TypeError, "no setting 'lr'; there are .*, rate"),
        (lambda x, y: xb.train(x, y, batch=-5, **NET), ValueError, "batch"),
        (lambda x, y: xb.train(x, y, batch="many", **NET), TypeError, "batch: expected a whole"),
        (lambda x, y: xb.train(x, y, likelihood="poisson", **NET), ValueError, "poisson"),
        (lambda x, y: xb.train(x, y, seed=-1, **NET), ValueError, "seed is -1"),
        (lambda x, y: xb.train(x, y, seed=2**64, **NET), ValueError, "seed is 18446744073709551616"),
        (lambda x, y: xb.train(x.astype(object) + "a", y, **NET), TypeError, None),
        (lambda x, y: xb.train(np.zeros((0, 3)), [], **NET), ValueError, "row"),
        (lambda x, y: xb.train(np.zeros((3, 0)), [1, 2, 3], **NET), ValueError, None),
        (lambda x, y: xb.train(x, np.c_[y, y], **NET), ValueError, "has 1 output"),
        (lambda x, y: xb.train(x, y * 1j, **NET), TypeError, "complex"),
        (lambda x, y: xb.fit(y[:3]), ValueError, "8"),
        (lambda x, y: xb.fit(y, read_interval="50ms"), ValueError, "interval is unknown"),
        (lambda x, y: xb.fit(y * np.nan), ValueError, "finite|nan"),
        (lambda x, y: xb.fit(x), ValueError, "2 dimensions, expected 1"),
        (lambda x, y: xb.fit(y, interval="2.5 parsec"), ValueError, "parsec"),
        (lambda x, y: xb.fit(y, interval=-1), ValueError, "interval is -1"),
        (lambda x, y: xb.fit(["a", "b"]), TypeError, "numbers"),
        (lambda x, y: xb.fit(np.ma.masked_greater(y, 0)), xb.InputError, "is nan"),
        (lambda x, y: xb.train(np.ma.masked_greater(x, 1), y, **NET), xb.InputError, "nan|finite"),
        (lambda x, y: xb.train(x, np.ma.masked_greater(y, 0), **NET), xb.InputError, "nan|finite"),
        (lambda x, y: xb.fit(y, famly="mtj"), TypeError, "did you mean 'family'"),
        (lambda x, y: xb.fit(y, interval=[1]), TypeError, "a number of seconds or a text"),
        (lambda x, y: xb.Model(None), TypeError, "path of a model file, not NoneType"),
        (lambda x, y: xb.train(x, y, on_epoch_arg=1, **NET), TypeError, "no setting 'on_epoch_arg'"),
        (lambda x, y: xb.law("mtj").rvs(-1), ValueError, "size is -1"),
        (lambda x, y: xb.law("mtj").rvs(2**40), ValueError, "at most 17179869184"),
        (lambda x, y: xb.law("mtj").rvs(2**34, dtype="f8"), ValueError, "at most 8589934592"),
        (lambda x, y: xb.law("mtj").rvs(5.5), TypeError, "whole number"),
        (lambda x, y: xb.law("mtj").rvs(5, dtype="f2"), TypeError, "float32 or float64"),
        (lambda x, y: xb.law("mtj").gauss(10**9), ValueError, None),
        (lambda x, y: xb.law("mtj\0"), ValueError, "zero character"),
        (lambda x, y: xb.law(3), TypeError, "law: expected a text, a path or a law, not int"),
        (lambda x, y: xb.law("mtj").pdf(None), TypeError, "x: expected numbers, not None"),
        (lambda x, y: xb.law("mtj").rvs(out=[1.0]), TypeError, "out is list"),
        (lambda x, y: xb.law("mtj").rvs(out=np.zeros(4)[::2]), ValueError, "C order"),
        (lambda x, y: xb.law("mtj").rvs(5, out=np.zeros(4)), ValueError, "has the shape"),
        (lambda x, y: xb.Model.load("/no/such/file"), FileNotFoundError, "no such file"),
        (lambda x, y: xb.Generator(1, "luck"), ValueError, "no purpose 'luck'"),
        (lambda x, y: xb.Array("mtj", adc_bits=99), ValueError, "adc_bits"),
    ],
)  # fmt: skip
def test_it_is_refused(data, call, kind, says):
    with pytest.raises(kind, match=says):
        call(*data)


def test_predictions_refuse(model, data):
    x, y = data
    for wrong, says in [
        (x[:, :2], "2 columns, the model has 3"),
        (x[0], "1 dimension, expected 2: .* one row"),
        (x * np.nan, "nan|finite"),
        (np.zeros((2, 3, 3, 3)), "dimensions"),
        (np.zeros((2, 2, 2), np.uint8), "4 columns, the model has 3"),
    ]:
        with pytest.raises(ValueError, match=says):
            model.predict(wrong)
    with pytest.raises(ValueError, match="rows"):
        model.evaluate(x, y[:4])
    with pytest.raises(ValueError, match="quantile|level"):
        model.predict(x, quantiles=[1.5])
    with pytest.raises(TypeError, match="did you mean 'quantiles'"):
        model.predict(x, quantile=[0.5])
    with pytest.raises(ValueError, match="x has 120 rows, expected one"):
        model.plan("mtj", x)
    with pytest.raises(TypeError, match="this plan cannot be pickled"):
        pickle.dumps(model.plan("mtj", x[0], draws=32))
    with pytest.raises(TypeError, match="did you mean 'antithetic'"):
        model.predict(x, antithetik=True)
    assert model.predict(x[:0]).mean.shape == (0,)


def test_memory_runs_out_without_a_crash(model, data):
    with pytest.raises((MemoryError, ValueError)):
        model.predict(np.zeros((4, 3)), draws=2**60)
    with pytest.raises((MemoryError, ValueError)):
        model.draws(data[0], 2**50)


def test_files_of_another_kind(model, data, tmp_path):
    xb.law("mtj").save(tmp_path / "law.json")
    model.save(tmp_path / "m.safetensors")
    (tmp_path / "cut").write_bytes((tmp_path / "m.safetensors").read_bytes()[:-50])
    with pytest.raises(xb.InputError, match="this is a law file; a model file was expected"):
        xb.Model.load(tmp_path / "law.json")
    with pytest.raises(xb.InputError, match="this is a model file; a law file was expected"):
        xb.law(tmp_path / "m.safetensors")
    with pytest.raises(xb.InputError, match="cut"):
        xb.Model.load(tmp_path / "cut")
    with pytest.raises(xb.InputError):
        xb.Model.load(tmp_path)
    with pytest.raises((xb.Error, OSError), match="nowhere"):
        model.save(tmp_path / "nowhere" / "m.safetensors")


def test_use_after_close(data):
    x, y = data
    model = xb.train(x, y, **NET)
    law, rule, kernel = model.law, xb.law("mtj").gauss(4), model.tensors["0.kernel.mu"]
    nodes = rule.nodes
    model.close()
    model.close()
    rule.close()
    for call in (lambda: model.predict(x), lambda: model.net, lambda: model.tensors):
        with pytest.raises(ValueError, match="this model is closed"):
            call()
    with pytest.raises(ValueError, match="closed"):
        len(rule)
    assert law.cdf(0.0) == 0.5 and kernel.shape == (3, 2) and len(nodes) == 4
    assert "closed" in repr(model)
    with xb.law("mtj") as inside:
        assert inside.mean() == 0
    with pytest.raises(ValueError, match="this law is closed"):
        inside.mean()


def test_threads_share_objects_and_one_closes_them(data):
    x, y = data
    model = xb.train(x, y, **NET)
    want = model.predict(x, draws=200).std.tobytes()
    wrong = []

    def work():
        for _ in range(20):
            try:
                if model.predict(x, draws=200).std.tobytes() != want:
                    wrong.append("bytes")
            except ValueError as error:
                if "closed" not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    model.close()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_gil_is_released(data):
    """Another thread counts while one trains."""
    count, end = 0, threading.Event()

    def work():
        xb.train(*data, net="dense 50, relu, dense 1", epochs=1500, mle_epochs=1500)
        end.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not end.wait(1e-3):
        count += 1
    thread.join()
    assert count > 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="skipped: no fork here")
def test_forked_processes(model, data):
    x = data[0]
    want = model.predict(x, draws=100).std.tobytes()
    child = os.fork()
    if child == 0:
        same = model.predict(x, draws=100).std.tobytes() == want
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    "work",
    [
        "xb.train(x, y, net='dense 50, relu, dense 1', epochs=10**8)",
        "xb.train(x, y, epochs=10**8, on_epoch=lambda e: None)",
        "xb.train(x, y, epochs=2, mle_epochs=2).predict(x.repeat(100, 0), draws=10**6)",
        "[xb.law('mtj').rvs(10**8, seed=1) for _ in range(10**6)]",
        "xb.law('mtj').ppf(np.full(3 * 10**8, 0.3))",
        "xb.train(x, y, members=1, epochs=2, mle_epochs=2).on('mtj', x).draws(x, 5 * 10**6)",
    ],
)
def test_ctrl_c_stops_long_calls(work):
    script = textwrap.dedent(f"""
        import signal, numpy as np, crossbayes as xb
        signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
        x = np.linspace(-1, 1, 300).reshape(100, 3); y = x[:, 0]
        print("ready", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.7)
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    try:
        out, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    assert out == "stopped\n" and child.returncode == 0
    assert time.monotonic() - start < 20


def test_any_call_with_any_argument():
    done, worked = fuzz_calls.run(400, 60, seed=1)
    assert done > 100 and worked > done / 5
