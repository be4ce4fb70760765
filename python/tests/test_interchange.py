"""Models of other libraries: recorded files beside what those libraries predicted.

The files in fixtures/interchange were saved by the libraries themselves, with the mean and
standard deviation of 10,000 of their own draws (peers/record.py). peers/test_peers.py does
the same with the libraries at hand.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import crossbayes as xb
import numpy as np
import pytest
from crossbayes.interchange import rows

FOLDER = Path(__file__).parent / "fixtures" / "interchange"
CASES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
DRAWS = 10_000
# 17 cases of at most 9 numbers and 2 statistics; seeds are fixed.
WORST = 4.5


def imported(name):
    case = CASES[name]
    path, settings = FOLDER / case["file"], dict(case["settings"])
    if name == "posteriors_net":  # safetensors has no mappings in mappings
        from crossbayes.interchange import files

        flat = files._safetensors(path)
        state = {
            part: {k.split("/")[1]: v for k, v in flat.items() if k.startswith(f"{part}/")}
            for part in ("params", "log_sd_diag")
        }
        return xb.from_posteriors(state, **settings)
    return xb.import_file(path, **settings)


@pytest.mark.parametrize("name", list(CASES))
def test_recorded_files(name):
    if CASES[name]["file"].endswith((".h5", ".keras")):
        pytest.importorskip("h5py", reason="skipped: h5py is not installed")
    case = {k: np.array(v) for k, v in CASES[name].items() if k not in ("file", "settings")}
    draws = imported(name).draws(case["x"], DRAWS, seed=21)
    draws = draws[..., None] if draws.ndim == 2 else draws
    mean, sd = draws.mean(0), draws.std(0)
    kurtosis = (((draws - mean) / sd) ** 4).mean(0)
    by_mean = np.abs(mean - case["mean"]) / np.hypot(sd / DRAWS**0.5, case["mean_error"])
    own = sd * np.sqrt((kurtosis - 1) / (4 * DRAWS))
    by_sd = np.abs(sd - case["sd"]) / np.hypot(own, case["sd_error"])
    assert by_mean.max() < WORST
    assert by_sd.max() < WORST


# ---- layers of PyTorch, described by hand: no library is needed


class Layer:
    """What from_torch asks of a module, under a name of the caller's choice."""

    def __init__(self, kind, parameters=None, children=(), **attributes):
        self.__class__ = type(kind, (Layer,), {})
        self.kept, self.inner = parameters or {}, dict(children)
        self.training = False
        for name, value in attributes.items():
            setattr(self, name, value)

    def named_parameters(self, recurse=True):
        return list(self.kept.items())

    def named_buffers(self, recurse=True):
        return []

    def named_children(self):
        return list(self.inner.items())

    def children(self):
        return list(self.inner.values())

    def modules(self):
        return [self, *self.children()]


class Sequential(Layer):
    def __init__(self, *layers):
        self.kept, self.inner = {}, {str(i): layer for i, layer in enumerate(layers)}

    def forward(self, x):
        raise AssertionError("an import runs nothing")


def dense(inputs, outputs, **more):
    weight = np.arange(inputs * outputs).reshape(outputs, inputs) / 10
    values = {"weight": weight, "bias": np.zeros(outputs)}
    return Layer("Linear", values, in_features=inputs, **more)


def test_a_style_without_a_package():
    """PyTorch-BayesianCNN is not on PyPI: its names, from its sources."""
    state = {"fc.W_mu": [[1.0, 2.0]], "fc.W_rho": [[-1.0, 0.5]], "fc.bias_mu": [3.0]}
    state["fc.bias_rho"] = [-2.0]
    state = {name: np.array(value) for name, value in state.items()}
    model = xb.from_torch(state, net="dense 1", inputs=2, noise_std=0.1)
    assert model.tensors["0.kernel.mu"].tolist() == [[1.0], [2.0]]
    expected = np.log1p(np.exp([[-1.0], [0.5]]))
    np.testing.assert_allclose(model.tensors["0.kernel.sigma"], expected, rtol=1e-6)
    np.testing.assert_allclose(
        model.tensors["0.bias.sigma"], np.log1p(np.exp([-2.0])), rtol=1e-6
    )
    assert model.provenance["imported_from"] == "PyTorch-BayesianCNN"


def test_flatten_moves_channels_last():
    """Numbers of an image [c][h][w] meet their own weights after the import."""
    h, w, c = 2, 3, 4
    weight = np.random.default_rng(1).normal(size=(5, c * h * w))
    flatten = Layer("Flatten", start_dim=1, end_dim=-1)
    net = Sequential(flatten, Layer("Linear", {"weight": weight}, bias=None))
    model = xb.from_torch(net, input_shape=(c, h, w), noise_std=0.1)
    image = np.random.default_rng(2).normal(size=(c, h, w))
    drawn = model.draws(image.transpose(1, 2, 0).reshape(1, -1), 1)
    np.testing.assert_allclose(drawn[0, 0], weight @ image.ravel(), rtol=1e-5)


def test_inverse_softplus():
    sigma = np.array([1e-8, 1e-3, 0.5, 3.0, 50.0])
    np.testing.assert_allclose(rows.softplus(rows.inverse_softplus(sigma)), sigma, rtol=1e-12)


def conv(shape=(2, 3, 3, 3), **more):
    plain = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
    return Layer("Conv2d", {"weight": np.zeros(shape)}, **{**plain, **more})


@pytest.mark.parametrize(
    ("net", "settings", "says"),
    [
        (Sequential(dense(3, 2), Layer("GELU")), {}, "1: GELU: this layer is not supported"),
        (Sequential(dense(3, 2), dense(3, 1)), {}, "1: Linear: takes 3 inputs, but gets 2"),
        (Sequential(Layer("LSTM", {"w": np.zeros(3)})), {}, "0: LSTM: this layer is not supported"),
        (Sequential(Layer("MaxPool2d"), conv()), {}, "give input_shape"),
        (Sequential(dense(3, 2), Layer("ELU", alpha=0.5)), {}, "alpha is 0.5, expected 1"),
        (Sequential(dense(3, 2), Layer("Softmax"), dense(2, 1)), {}, "follows softmax"),
        (Layer("MyNet", children={"a": dense(2, 1)}), {}, "MyNet is neither a Sequential"),
        (Sequential(conv(groups=3)), {}, "groups"),
        (Sequential(conv(dilation=(2, 2))), {}, "dilation"),
        (Sequential(conv(padding=(2, 2))), {}, "neither 'same' nor 'valid'"),
        (Sequential(conv(stride=(1, 2))), {}, "stride .* is not square"),
        (Sequential(conv(padding_mode="reflect", padding=(1, 1))), {}, "reflect"),
        (Sequential(conv(), dense(2, 1)), {}, "needs flatten before it"),
        (Sequential(conv((2, 3, 9, 9))), {}, "does not fit"),
        (Sequential(Layer("Conv3d", {"weight": np.zeros((1, 1, 2, 2, 2))})), {}, "not supported"),
        (Sequential(conv((2, 5, 3, 3))), {}, "takes 5 channels, but gets 3"),
        (Sequential(dense(3, 1)), {"noise_std": None}, "give noise_std="),
        (Sequential(dense(3, 1)), {"law": "mjt"}, "did you mean 'mtj'"),
        (Sequential(dense(3, 1)), {"noise_std": -1.0}, "noise_sd is -1"),
        (Sequential(dense(3, 2)), {"classes": ["a"]}, "class|output"),
        (Sequential(dense(3, 1)), {"prior": "cauchy"}, "cauchy"),
        ({"a.weight": np.zeros((2, 3))}, {}, "a state dict has no activations.*a dense 2"),
        ({"a.weight": np.zeros((2, 3)) * np.nan}, {"net": "dense 2 nobias", "inputs": 3}, "finite|nan"),
        ({"a.weight": np.zeros((2, 3))}, {"net": "dense 3 nobias", "inputs": 3}, "kernel of"),
        ({"a.weight": np.zeros((2, 3))}, {"net": "dense 2", "inputs": 3}, "a: has no bias"),
        ({"a.strange": np.zeros((2, 3))}, {"net": "dense 2", "inputs": 3}, "a: no library names its weights strange"),
        ({"a.weight_mu": np.zeros((2, 3)), "a.weight_rho": np.zeros(3)}, {"net": "dense 2", "inputs": 3}, "weight_rho has the shape"),
    ],
)  # fmt: skip
def test_it_is_refused_by_name(net, settings, says):
    shape = {}
    first = net.children()[0] if isinstance(net, Sequential) else None
    if first is not None and type(first).__name__.startswith("Conv"):
        shape = {"input_shape": (3, 5, 5)}
    with pytest.raises(ValueError, match=says):
        xb.from_torch(net, **{"noise_std": 0.1, **shape, **settings})


def test_what_is_no_module():
    with pytest.raises(TypeError, match="expected a torch module or a state dict, not int"):
        xb.from_torch(3)


GUIDE = {
    "w_auto_loc": np.ones((2, 1)),
    "w_auto_scale": np.ones((2, 1)),
    "s_auto_loc": np.ones(()),
}
GUIDE |= {"s_auto_scale": np.ones(())}


@pytest.mark.parametrize(
    ("params", "settings", "says"),
    [
        (GUIDE, {}, "the site 's' is in no layer"),
        (GUIDE, {"ignore": ["t"]}, "no site 't'"),
        (GUIDE, {"ignore": ["s"], "net": "dense 1"}, "no site left for the layer 'dense 1'"),
        (GUIDE, {"ignore": ["s"], "sites": ["v"]}, "no site 'v' left; there are w"),
        (GUIDE, {"ignore": ["s"], "order": "both"}, "order is 'both'"),
        (GUIDE, {"ignore": ["s"], "order": "out,in"}, "kernel of"),
        ({}, {}, "no site with a mean and a scale"),
        ({"auto_loc": np.ones(3), "auto_scale": np.ones(3)}, {}, "give layout="),
        ({"auto_loc": np.ones(3), "auto_scale": np.ones(3)}, {"layout": {"w": (2, 1)}}, "3 numbers, but layout= has 2"),
        ({"auto_loc": np.ones(3), "auto_scale": np.ones(3)}, {"layout": {"w": (9, 1)}}, "3 numbers, but layout= has 9"),
    ],
)  # fmt: skip
def test_guides_refuse(params, settings, says):
    whole = {"net": "dense 1 nobias", "inputs": 2, "noise_std": 0.1, **settings}
    with pytest.raises(ValueError, match=says):
        xb.from_numpyro(params, **whole)


def test_files_refuse(tmp_path):
    law = tmp_path / "law.json"
    law.write_text("{}")
    with pytest.raises(xb.InputError, match="law.json: unknown kind of file"):
        xb.import_file(law)
    with pytest.raises(FileNotFoundError, match="no such file"):
        xb.import_file(tmp_path / "none.pt")
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(xb.InputError, match="broken.npz: not an archive"):
        xb.import_file(broken)
    objects = tmp_path / "objects.npz"
    np.savez(objects, a=np.array([{"run": "me"}], dtype=object))
    with pytest.raises(xb.InputError, match="not an archive of arrays: .*pickle"):
        xb.import_file(objects)
    pytest.importorskip("h5py", reason="skipped: h5py is not installed")
    for name in ("cut.h5", "cut.keras"):
        (tmp_path / name).write_bytes(b"\x89HDF and no more")
        with pytest.raises(xb.InputError, match=f"{name}: not a file of Keras"):
            xb.import_file(tmp_path / name)
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes(b"\xff" * 20)
    with pytest.raises(xb.InputError, match="cut.safetensors"):
        xb.import_file(cut)


def run(*args):
    done = subprocess.run(
        [sys.executable, "-m", "crossbayes", *map(str, args)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def test_the_command(tmp_path):
    case = CASES["bayesian_torch_linear"]
    file, out = FOLDER / case["file"], tmp_path / "model.safetensors"
    rc, said = run(
        "import",
        file,
        "--net",
        "dense 6, tanh, dense 2",
        "--inputs",
        4,
        "--noise-sd",
        "0.1",
        "-o",
        out,
    )
    assert rc == 0, said
    assert "44 weights, 44 of them random, from bayesian-torch" in said
    kept = xb.Model.load(out).tensors
    made = imported("bayesian_torch_linear").tensors
    assert all((kept[name] == made[name]).all() for name in made)
    before = out.read_bytes()
    ours = tmp_path / "ours.safetensors"
    ours.write_bytes(before)
    for args, says in [
        (("import", file, "-o", out), "give net="),
        (("import", file, "--net", "dense 6, gelu", "--inputs", "4", "-o", out), "gelu"),
        (("import", file, "--net", "dense 6", "--inputs", "four", "-o", out), "--inputs four"),
        (
            ("import", out, "--net", "dense 6", "--inputs", "4", "-o", out),
            "is the input itself",
        ),
        (("import", tmp_path / "no.pt", "-o", out), "no.pt: no such file"),
        (("import", ours, "-o", out), "this is a model of crossbayes already"),
    ]:
        rc, said = run(*args)
        assert rc == 2
        assert says in said
        assert said.count("\n") == 1
        assert out.read_bytes() == before
