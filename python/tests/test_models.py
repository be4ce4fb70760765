"""Networks: the bytes of the command line, laws swapped, scores, arrays, callbacks."""

from __future__ import annotations

import copy
import pickle

import crossbayes as xb
import numpy as np
import pytest
from numpy.testing import assert_allclose

SMALL = {"epochs": 5, "mle_epochs": 5}


def write_csv(path, x, y, names):
    with open(path, "w") as file:
        file.write(",".join(names) + "\n")
        for row, value in zip(x, y):
            file.write(",".join([*(repr(float(v)) for v in row), str(value)]) + "\n")


def same_tensors(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].tobytes() == b[name].tobytes(), name


@pytest.mark.parametrize(
    ("flags", "settings"),
    [
        ((), {}),
        (
            ("--law", "mtj", "--net", "dense 6, tanh, dense 1", "--rate", "1e-2", "--seed", 9),
            {"law": "mtj", "net": "dense 6, tanh, dense 1", "rate": 1e-2, "seed": 9},
        ),
        (
            ("--likelihood", "heteroscedastic", "--validation", 0.2, "--prior", "laplace:b=1"),
            {"likelihood": "heteroscedastic", "validation": 0.2, "prior": "laplace:b=1"},
        ),
        (
            ("--rate-schedule", "constant:1", "--estimator", "shared", "--random", "all"),
            {"rate_schedule": "constant:1", "estimator": "shared", "random": "all"},
        ),
        (("--preset", "paper", "--net", "dense 5, relu, dense 1"),
         {"preset": "paper", "net": "dense 5, relu, dense 1"}),
    ],
)  # fmt: skip
def test_a_model_is_that_of_the_command_line(program, tmp_path, data, flags, settings):
    x, y = data
    names = ["a", "b", "c", "y"]
    write_csv(tmp_path / "d.csv", x, [repr(float(v)) for v in y], names)
    file = tmp_path / "m.safetensors"
    program("train", tmp_path / "d.csv", "--target", "y", "-o", file, "--epochs", 5,
            "--mle-epochs", 5, "-q", *flags)  # fmt: skip
    there, here = xb.Model.load(file), xb.train(x, y, **SMALL, **settings)
    assert here.net == there.net
    same_tensors(here.tensors, there.tensors)
    assert here.noise_std == there.noise_std or np.isnan(here.noise_std)
    assert (here.predict(x[:7]).std == there.predict(x[:7]).std).all()


def test_classes_are_those_of_the_command_line(program, tmp_path, data):
    pd = pytest.importorskip("pandas")
    x, y = data
    label = np.where(y > 0.5, "up", np.where(y < -0.5, "down", "flat"))
    write_csv(tmp_path / "d.csv", x, label, ["a", "b", "c", "way"])
    file = tmp_path / "m.safetensors"
    program("train", tmp_path / "d.csv", "--target", "way", "-o", file, "--epochs", 5,
            "--mle-epochs", 5, "-q")  # fmt: skip
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    there, here = xb.Model(file), xb.train(frame, pd.Series(label, name="way"), **SMALL)
    same_tensors(here.tensors, there.tensors)
    assert here.classes == there.classes == ["down", "flat", "up"]
    assert here.features == ["a", "b", "c"] and here.target == "way"
    p = here.predict(frame.iloc[::-1][["c", "b", "a"]])
    assert_allclose(p.probability.sum(axis=1), 1)
    assert set(p.label) <= set(here.classes)
    table = p.to_frame()
    assert list(table.index) == list(frame.index[::-1])
    assert (here.predict(x).probability[::-1] == p.probability).all()


def test_predictions_agree_with_their_draws(model, data):
    x = data[0][:9]
    p = model.predict(x, draws=500, quantiles=[0.1, 0.5, 0.9])
    draws = model.draws(x, 500)
    assert_allclose(p.mean, draws.mean(axis=0))
    assert_allclose(p.epistemic, draws.std(axis=0), rtol=5e-3)
    assert_allclose(p.std**2, p.epistemic**2 + p.aleatoric**2)
    assert (np.diff(p.quantile, axis=1) > 0).all()
    assert (model.draws(x, 20, first=480) == draws[480:]).all()
    table = pytest.importorskip("pandas") and p.to_frame()
    assert list(table.columns) == [
        "mean",
        "std",
        "epistemic",
        "aleatoric",
        "q0.1",
        "q0.5",
        "q0.9",
    ]


def test_arrays_of_any_layout_are_the_same_numbers(model, data):
    x = data[0]
    want = model.predict(x, draws=50).mean.tobytes()
    wide = np.zeros((len(x), 6))
    wide[:, ::2] = x
    locked = x.copy()
    locked.flags.writeable = False
    for other in (np.asfortranarray(x), wide[:, ::2], x.tolist(), locked, x.astype(object)):
        assert model.predict(other, draws=50).mean.tobytes() == want
    flipped = model.predict(x[::-1], draws=50).mean[::-1]
    assert flipped.tobytes() == want
    big = x.astype(">f8")
    assert model.predict(big, draws=50).mean.tobytes() == want
    kinds = [np.asfortranarray(x), wide[:, ::2], locked, big]
    trained = [xb.train(k, data[1], net="dense 2, relu, dense 1", **SMALL) for k in kinds]
    for other in trained[1:]:
        same_tensors(trained[0].tensors, other.tensors)


def test_float32_is_read_where_it_lies(data):
    x, y = data
    small = ((x - x.mean(0)) / x.std(0)).astype(np.float32)
    model = xb.train(small, y, scaled=True, net="dense 4, relu, dense 1", **SMALL)
    p = model.predict(small, scaled=True, draws=100)
    assert np.isfinite(p.mean).all() and len(p.mean) == len(x)
    from crossbayes.tables import input_rows

    kept = []
    rows = input_rows(model._c, small, kept, True)
    assert np.shares_memory(kept[-1], small) and rows.n == len(x)
    rows = input_rows(model._c, x, kept, False)
    assert np.shares_memory(kept[-1], x) and rows.features == 3


def test_weights_are_the_models_own_memory(model):
    kernel = model.tensors["0.kernel.mu"]
    again = model.tensors["0.kernel.mu"]
    assert np.shares_memory(kernel, again) and not kernel.flags.writeable
    assert kernel.shape == (3, 8) and kernel.dtype == np.float32
    one = xb.train([[0.0], [1.0], [2.0]], [0, 1, 4], net="dense 2, relu, dense 1", **SMALL)
    kernel = one.tensors["0.kernel.sigma"]
    before = kernel.copy()
    one.close()
    del one
    assert (kernel == before).all()


def test_images_are_bytes():
    g = xb.Generator(1, "data")
    x = (g.uniform(60 * 64).reshape(60, 8, 8) * 255).astype(np.uint8)
    y = np.arange(60) % 2
    x[y == 1, :4] //= 4
    net = "conv 4, relu, maxpool 2, flatten, dense 2"
    model = xb.train(x, y, classes=True, net=net, epochs=20, mle_epochs=20)
    assert model.evaluate(x, y).scores["accuracy"] > 0.9
    assert (model.predict(x).label == y.astype(str)).all()


def test_models_are_saved_pickled_and_copied(model, data, tmp_path):
    x = data[0]
    want = model.predict(x, draws=64).std
    model.save(tmp_path / "m.safetensors")
    loaded = xb.Model.load(tmp_path / "m.safetensors")
    loaded.save(tmp_path / "m.safetensors")  # over what it came from
    for again in (loaded, pickle.loads(pickle.dumps(model)), copy.copy(model)):
        assert (again.predict(x, draws=64).std == want).all()
    assert model.settings["epochs"] == 300
    assert "dense 8" in repr(model) and "<table>" in model._repr_html_()


def test_predictions_are_pickled(data):
    x, y = data
    several = xb.train(x, np.c_[y, -y], net="dense 2, relu, dense 2", epochs=2, mle_epochs=2)
    classes = xb.train(x, np.where(y > 0, "high", "low"), epochs=2, mle_epochs=2)
    for model in (several, classes):
        made = model.predict(x[:7], draws=50)
        kept = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(made))))
        assert len(kept) == 7 and repr(kept) == repr(made)
        assert kept.to_frame().equals(made.to_frame())
        for name in ("mean", "disagreement", "quantile", "probability", "information"):
            assert np.array_equal(getattr(kept, name), getattr(made, name)), name
    again = pickle.loads(pickle.dumps(several))
    assert again.report.rows == several.report.rows == len(x)


def test_one_law_may_stand_alone(model, data):
    for law in ("gaussian", xb.law("gaussian")):
        assert model.evaluate(*data, laws=law, draws=20).laws == ["gaussian"]


def test_a_law_is_swapped(model, data):
    x, y = data
    e = model.evaluate(x, y, ["gaussian", "bimodal:m=0.99", xb.law("mtj")], draws=300)
    assert e.laws == ["gaussian", "bimodal:m=0.99", "mtj:B=0.15,w=0.5"]
    assert e.compared[0] is None and e.compared[1].verdict in (
        "same",
        "different",
        "cannot tell",
    )
    assert e.scores["rmse"] < 0.6
    assert e.scores["rmse"].std_error > 0 and e.scores["rmse"].mc_error > 0
    assert len(e.scores.array("pit")) == len(x)
    alone = model.evaluate(x, y).scores
    assert_allclose(alone["rmse"], e.scores["rmse"], rtol=0.05)
    assert pickle.loads(pickle.dumps(alone["rmse"])).std_error == alone["rmse"].std_error
    with pytest.raises(KeyError, match="no score 'mse'; there are rmse"):
        alone["mse"]
    assert "<table>" in e._repr_html_()


def test_evaluation_is_that_of_the_command_line(program, model, data, tmp_path):
    import json

    x, y = data
    model.save(tmp_path / "m.safetensors")
    np.save(tmp_path / "d.npy", np.column_stack([x, y]))
    out = program("eval", tmp_path / "m.safetensors", tmp_path / "d.npy", "--draws", 200,
                  "--json")  # fmt: skip
    mine = model.evaluate(x, y, draws=200).scores
    found = json.loads(out)
    while isinstance(found, (dict, list)) and "nll" not in found:
        found = next(v for v in (found.values() if isinstance(found, dict) else found)
                     if isinstance(v, (dict, list)) and "nll" in json.dumps(v))  # fmt: skip
    there = found["nll"]["value"] if isinstance(found["nll"], dict) else found["nll"]
    assert float(mine["nll"]) == there


def test_a_plan(model):
    plan = model.plan("bimodal:m=0.9", weight_draws=256)
    assert plan.n_eff > 0 and plan.predicted.error >= 0
    assert plan.verdict in repr(plan)
    assert np.isnan(model.plan("mtj", [0, 0, 0], measure=False).measured)


def test_a_model_on_an_array(model, data, tmp_path):
    x, y = data
    ideal = model.on("ideal", x)
    assert_allclose(ideal.draws(x[:5], 50), model.draws(x[:5], 50), rtol=1e-4, atol=1e-4)
    rough = model.on(xb.Array("mtj", adc_bits=3), x)
    assert not np.allclose(rough.draws(x[:5], 50), model.draws(x[:5], 50), rtol=1e-3)
    assay = rough.evaluate(x, y, reads=200)
    assert assay.array["rmse"] > 0 and assay.verdict in ("same", "different", "cannot tell")
    rough.export(tmp_path / "array")
    assert (tmp_path / "array" / "array.json").exists()


def test_epochs_are_watched_and_training_ends_early(data):
    seen = []
    xb.train(*data, net="dense 2, relu, dense 1", on_epoch=seen.append, **SMALL)
    assert [(e.phase, e.epoch) for e in seen] == [(p, k) for p in (1, 2) for k in range(1, 6)]
    assert np.isfinite(seen[-1].f) and seen[-1]["kl"] > 0
    net = "dense 2, relu, dense 1"
    model = xb.train(*data, net=net, on_epoch=lambda e: e.phase < 2 or e.epoch < 3, **SMALL)
    assert model.report.stopped and model.report.epochs == 3
    assert set(model.report.history) >= {"phase", "epoch", "f"}

    def breaks(epoch):
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        xb.train(*data, net=net, on_epoch=breaks, **SMALL)


def test_progress_is_told_and_may_stop(data):
    seen = []
    xb.train(*data, epochs=30, mle_epochs=30, progress=lambda *event: seen.append(event))
    assert seen and seen[-1][1] == seen[-1][2] > 0
    with pytest.raises(xb.Cancelled):
        xb.train(*data, epochs=3000, progress=lambda *_: False)
    with pytest.raises(ZeroDivisionError):
        xb.train(*data, epochs=3000, progress=lambda *_: 1 / 0)
    xb.train(*data, epochs=3, mle_epochs=3, progress=True)


def test_a_task_has_one_bar(monkeypatch):
    """And it goes when the task ends."""
    from crossbayes import _library

    tqdm = pytest.importorskip("tqdm.auto")
    made = []

    class Bar(tqdm.tqdm):
        def __init__(self, **settings):
            made.append(self)
            super().__init__(**settings)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    bar = _library._Bar()
    for task in ("fitting", "training"):
        for done in range(4):
            assert bar(task, done, 3)
    bar.close()
    assert [one.desc.strip(": ") for one in made] == ["fitting", "training"]
    assert [one.n for one in made] == [3, 3] and all(one.disable for one in made)


def test_a_checkpoint_goes_on(data, tmp_path):
    settings = {"net": "dense 4, relu, dense 1", "epochs": 40, "mle_epochs": 10}
    file = tmp_path / "c"
    calls = []

    def stop(epoch):
        calls.append(epoch)
        if len(calls) == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        xb.train(*data, **settings, on_epoch=stop, checkpoint=file, checkpoint_seconds=0)
    assert file.exists()
    resumed = xb.train(*data, **settings, checkpoint=file, resume=True)
    assert not file.exists()
    same_tensors(resumed.tensors, xb.train(*data, **settings).tensors)


def test_several_targets(program, tmp_path, data):
    x, y = data
    both = np.column_stack([y, 10 - 3 * y])
    write_csv(tmp_path / "d.csv", np.column_stack([x, both[:, :1]]), both[:, 1], list("abcyz"))
    file = tmp_path / "m.safetensors"
    program("train", tmp_path / "d.csv", "--target", "y,z", "-o", file, "--epochs", 5,
            "--mle-epochs", 5, "-q")  # fmt: skip
    there, here = xb.Model(file), xb.train(x, both, **SMALL)
    same_tensors(here.tensors, there.tensors)
    assert there.targets == ["y", "z"] and here.targets == ["4", "5"]
    p = there.predict(x, draws=50)
    assert p.mean.shape == p.std.shape == (len(x), 2) and p.quantile.shape == (len(x), 2, 2)
    draws = there.draws(x, 50)
    assert draws.shape == (50, len(x), 2)
    assert_allclose(p.mean, draws.mean(axis=0))
    assert np.isfinite(there.evaluate(x, both, draws=50).scores["nll"])
    assert list(p.to_frame().columns)[:2] == ["y mean", "y std"]
    with pytest.raises(ValueError, match="1 columns, the model has 2 targets"):
        there.evaluate(x, y)


def test_a_data_frame_of_any_kind(program, tmp_path, data):
    pd = pytest.importorskip("pandas")
    x, y = data
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    frame["colour"] = np.where(x[:, 2] > 0, "red", "blue")
    frame.loc[3:9, "b"] = np.nan
    frame.loc[5, "colour"] = None
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(x)), "D")
    frame.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    file = tmp_path / "m.safetensors"
    program("train", tmp_path / "d.csv", "--target", "y", "-o", file, "--epochs", 5,
            "--mle-epochs", 5, "-q")  # fmt: skip
    there, here = xb.Model(file), xb.train(frame, y, **SMALL)
    assert here.features == there.features and here.columns == ["a", "b", "colour"]
    same_tensors(here.tensors, there.tensors)
    assert any("day" in note for note in here.report.notes)
    p = here.predict(frame.sample(frac=1, random_state=1), draws=50)
    whole = here.predict(frame, draws=50)
    assert (p.mean == whole.mean[p.index]).all()
    assert (there.predict(frame, draws=50).mean == whole.mean).all()
    assert here.evaluate(frame, y, draws=50).scores["rmse"] > 0
    with pytest.raises(xb.InputError, match="colour"):
        here.predict(frame.drop(columns="colour"))


def test_a_network_from_elsewhere(model, data):
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    x, y = data
    peer = MLPRegressor(
        hidden_layer_sizes=(6, 5), activation="tanh", max_iter=300, random_state=1
    ).fit(x, y)
    tensors = {}
    for i, (kernel, bias) in enumerate(zip(peer.coefs_, peer.intercepts_)):
        tensors |= {f"{2 * i}.kernel": kernel, f"{2 * i}.bias": bias}
    net = "dense 6, tanh, dense 5, tanh, dense 1"
    same = xb.model_from_arrays(net, tensors, inputs=3, sigma=1e-6, noise_std=0.1)
    assert_allclose(same.predict(x, draws=20).mean, peer.predict(x), atol=1e-4)
    noisy = xb.model_from_arrays(net, tensors, inputs=3, sigma=0.05, noise_std=0.1, law="mtj")
    assert noisy.predict(x).epistemic.min() > 1e-3 and noisy.law.family == "mtj"

    label = (y > 0).astype(int) + (y > 1)
    peer = MLPClassifier(hidden_layer_sizes=(6,), max_iter=300, random_state=1).fit(x, label)
    tensors = {"0.kernel": peer.coefs_[0], "0.bias": peer.intercepts_[0]}
    tensors |= {"2.kernel": peer.coefs_[1], "2.bias": peer.intercepts_[1]}
    net = "dense 6, relu, dense 3"
    same = xb.model_from_arrays(net, tensors, inputs=3, sigma=1e-6, classes=peer.classes_)
    assert_allclose(same.predict(x).probability, peer.predict_proba(x), atol=1e-4)

    scale = {"input_mean": x.mean(0), "input_std": x.std(0), "target_mean": y.mean(),
             "target_std": y.std()}  # fmt: skip
    again = xb.model_from_arrays(model.net, model.tensors, inputs=3,
                                 noise_std=model.noise_std, **scale)  # fmt: skip
    assert_allclose(again.predict(x).mean, model.predict(x).mean, rtol=1e-4, atol=1e-5)
    for change, says in [
        ({"9.kernel": 1}, "no tensor '9.kernel'"),
        ({"0.kernel": np.zeros((2, 6))}, r"shape \(2, 6\), expected \(3, 6\)"),
        ({"0.bias": [np.nan] * 6}, "finite|number"),
    ]:
        with pytest.raises(ValueError, match=says):
            xb.model_from_arrays(net, {**tensors, **change}, inputs=3, sigma=0.1, classes="abc")


def test_an_ensemble(data):
    x, y = data
    model = xb.train(x, y, net="dense 4, relu, dense 1", members=3, **SMALL)
    assert len(model.members) == 3
    first = model.members[0].tensors["0.kernel.mu"]
    assert not np.array_equal(first, model.members[1].tensors["0.kernel.mu"])
    p = model.predict(x, draws=60)
    assert (p.disagreement <= p.epistemic + 1e-12).all() and p.disagreement.max() > 0
    assert model.members[2].predict(x, draws=20).disagreement is None
