"""Counts, Gaussian processes, weights made of cells, several targets: as on the command line."""

from __future__ import annotations

import pickle

import crossbayes as xb
import numpy as np
import pytest
from test_models import same_tensors, write_csv

SMALL = {"net": "dense 6, tanh, dense 1", "epochs": 60, "mle_epochs": 60}
FLAGS = ("--net", SMALL["net"], "--epochs", 60, "--mle-epochs", 60, "-q")


def counts(data):
    """Whole numbers whose rate depends on the row; variance above the mean."""
    x, y = data
    g = xb.Generator(7, "data")
    rate = np.exp(0.8 * y + 1)
    return x, np.floor(rate * -np.log(g.uniform(len(y))))


@pytest.mark.parametrize("likelihood", ["poisson", "negative-binomial"])
def test_counts(program, tmp_path, data, likelihood):
    x, y = counts(data)
    write_csv(tmp_path / "d.csv", x, [int(v) for v in y], list("abcy"))
    file = tmp_path / "m.safetensors"
    program("train", tmp_path / "d.csv", "--target", "y", "-o", file, *FLAGS,
            "--likelihood", likelihood)  # fmt: skip
    there, here = xb.Model(file), xb.train(x, y, likelihood=likelihood, **SMALL)
    same_tensors(here.tensors, there.tensors)
    assert here.likelihood == likelihood and np.isnan(xb.train(x, data[1], **SMALL).dispersion)
    assert here.dispersion == there.dispersion and (here.dispersion == 0) == (
        likelihood == "poisson"
    )
    p = here.predict(x, quantiles=[0.05, 0.5, 0.95])
    assert (p.quantile == np.round(p.quantile)).all() and (p.quantile >= 0).all()
    assert (p.mean > 0).all() and np.isfinite(here.evaluate(x, y).scores["nll"])
    spread = p.epistemic**2 + p.aleatoric**2
    np.testing.assert_allclose(p.std**2, spread, rtol=1e-6)
    with pytest.raises(xb.Error, match="whole"):
        xb.train(x, y - 0.5, likelihood=likelihood, **SMALL)


def test_a_gaussian_process(program, tmp_path, data):
    x, y = data
    write_csv(tmp_path / "d.csv", x, [repr(float(v)) for v in y], list("abcy"))
    file = tmp_path / "m.safetensors"
    program("train", tmp_path / "d.csv", "--target", "y", "-o", file, *FLAGS, "--gp", 0.25)
    there, here = xb.Model(file), xb.train(x, y, gp=0.25, **SMALL)
    plain = xb.train(x, y, **SMALL)
    assert here.process_length == there.process_length == 0.25
    assert np.isnan(plain.process_length)
    far = np.full((1, 3), 30.0)
    assert here.predict(far).std[0] == there.predict(far).std[0] > plain.predict(far).std[0]
    again = pickle.loads(pickle.dumps(here))
    assert again.predict(far).std[0] == here.predict(far).std[0]
    for bad, says in ((0, "length"), (-1, "length"), (np.nan, "length")):
        with pytest.raises(xb.ArgumentError, match=says):
            xb.train(x, y, gp=bad, **SMALL)
    with pytest.raises(TypeError, match="gp: expected a number, not 'long'"):
        xb.train(x, y, gp="long", **SMALL)
    with pytest.raises(ValueError, match="gp is for a table and one target of numbers"):
        xb.train(x, np.where(y > 0, "a", "b"), gp=0.25)


def test_weights_made_of_cells(program, tmp_path, data):
    x, y = data
    write_csv(tmp_path / "d.csv", x, [repr(float(v)) for v in y], list("abcy"))
    file = tmp_path / "m.safetensors"
    program("train", tmp_path / "d.csv", "--target", "y", "-o", file, *FLAGS, "--cells", "pair")
    there, here = xb.Model(file), xb.train(x, y, cells="pair", **SMALL)
    same_tensors(here.tensors, there.tensors)
    assert here.cells == there.cells and here.cells.startswith("pair")
    states = here.cell_states["0.kernel"]
    assert states.shape == (2, 3, 6) and not states.flags.writeable
    # w = (g1 - g2 - offset) / scale with the offset 0 and the scale 7 of a pair
    np.testing.assert_allclose(
        (states[0] - states[1]) / 7, here.tensors["0.kernel.mu"], rtol=1e-4, atol=1e-5
    )
    free = xb.train(x, y, **SMALL)
    assert free.cells is None and free.cell_states == {}
    with pytest.raises(ValueError, match="sigma does not go with cells"):
        xb.train(x, y, cells="pair", sigma=0.1)
    with pytest.raises(ValueError, match="device goes with cells"):
        xb.train(x, y, device=object())
    with pytest.raises(TypeError, match="device: expected a Device, not str"):
        xb.train(x, y, cells="pair", device="device.json")
    with pytest.raises(xb.InputError, match="pear"):
        xb.train(x, y, cells="pear")


def test_several_targets_of_a_regressor(data):
    x, y = data
    both = np.column_stack([y, 10 - 3 * y])
    r = xb.BayesianRegressor(net="dense 8, tanh, dense 2", epochs=200, mle_epochs=200)
    mean, std = r.fit(x, both).predict(x, return_std=True)
    assert mean.shape == std.shape == both.shape and r.score(x, both) > 0.8
    assert next(iter(r.predict_dist(x).to_frame().columns)).endswith("mean")


def test_counts_of_a_regressor(data):
    x, y = counts(data)
    r = xb.BayesianRegressor(
        likelihood="negative-binomial", epochs=40, mle_epochs=40, members=2
    )
    p = r.fit(x, y).predict_dist(x)
    assert r.model_.likelihood == "negative-binomial" and len(r.model_.members) == 2
    assert (p.quantile == np.round(p.quantile)).all()
    r = xb.BayesianRegressor(net="dense 6, relu, dense 1", epochs=40, gp=0.5).fit(*data)
    assert r.model_.process_length == 0.5
