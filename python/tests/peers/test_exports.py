"""Models given to other libraries, which run them: PyTorch's, ONNX Runtime, CrossSim, AIHWKit."""

from __future__ import annotations

import importlib.util
import os
import sys

import agreement
import crossbayes as xb
import numpy as np
import pytest

DRAWS = 10_000
NETS = {
    "dense": ("dense 6, tanh, dense 2", 4),
    "conv": (
        "conv 3 3x3, batchnorm momentum 0.9 epsilon 1e-5, relu, maxpool 2, flatten, dense 5, elu, dense 2 nobias",
        (5, 6, 2),
    ),
    "even": ("conv 2 2x2, flatten, dense 1", (3, 3, 1)),
    "strided": ("conv 2 3x2 stride 2, sigmoid, maxpool 2 stride 1 ceil, flatten, batchnorm, dense 1", (7, 6, 1)),
}  # fmt: skip


def made(name, law="gaussian", random="all", classes=None, seed=1):
    """A model with weights of a fixed stream; its inputs and target are scaled."""
    text, inputs = NETS[name]
    g = np.random.default_rng(seed)
    from crossbayes.interchange import by_text

    shape = by_text.shape_of(inputs)
    tensors, state, before = {}, [], shape
    for at, layer in enumerate(by_text.parse(text, shape)):
        fan, c = int(np.prod(before)), before[2]
        if layer.name == "dense":
            tensors[f"{at}.kernel"] = g.normal(size=(fan, layer.shape[2])) / fan**0.5
        elif layer.name == "conv":
            sides = [
                int(s) for s in next(w for w in layer.text.split()[2:] if "x" in w).split("x")
            ]
            tensors[f"{at}.kernel"] = g.normal(size=(*sides, c, layer.shape[2])) / 3
        elif layer.name == "batchnorm":
            tensors[f"{at}.scale"] = g.normal(1, 0.2, size=c)
            tensors[f"{at}.shift"] = g.normal(0, 0.2, size=c)
            state += [g.normal(size=c), g.uniform(0.5, 2, size=c)]
        if layer.name in ("dense", "conv") and "nobias" not in layer.text:
            tensors[f"{at}.bias"] = g.normal(size=layer.shape[2]) / 3
        before = layer.shape
    if state:
        tensors["state"] = np.concatenate(state)
    outputs, n = before[2], int(np.prod(shape))
    rest = (
        {"classes": classes}
        if classes
        else {"noise_std": 0.1, "target_mean": 3.0, "target_std": 2.0}
    )
    if not classes and outputs > 1:
        rest["target"] = [f"y{k}" for k in range(outputs)]
    return xb.model_from_arrays(
        text, tensors, inputs=inputs, sigma=0.15, law=law, random=random,
        input_mean=g.normal(size=n), input_std=g.uniform(0.5, 2, size=n), **rest,
    )  # fmt: skip


def rows(model, n=3):
    return np.random.default_rng(8).normal(size=(n, len(model.features)))


# ---- PyTorch


@pytest.mark.parametrize("library", ["bayesian-torch", "blitz", "crossbayes"])
@pytest.mark.parametrize("name", ["dense", "conv"])
@pytest.mark.parametrize("random", ["all", "kernels"])
def test_modules_predict_as_the_model_does(library, name, random):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    model = made(name, random=random)
    net = xb.to_torch(model, library)
    x, s = rows(model), xb.scaling(model)
    inputs = torch.tensor((x - s.input_mean) / s.input_std, dtype=torch.float32)
    if name == "conv":
        inputs = inputs.view(-1, 5, 6, 2).permute(0, 3, 1, 2)
    torch.manual_seed(3)
    with torch.no_grad():
        drawn = np.stack([net(inputs).numpy() for _ in range(DRAWS // 2)])
    theirs = agreement.moments(drawn * s.target_std + s.target_mean)
    ours = agreement.moments(agreement.outputs(model, x, DRAWS))
    assert max(agreement.distance(ours, theirs)) < agreement.WORST
    back = xb.from_torch(net, input_shape=(2, 5, 6) if name == "conv" else None, noise_std=1.0)
    for key, tensor in model.tensors.items():
        np.testing.assert_allclose(
            back.tensors[key], tensor, rtol=2e-5, atol=1e-12, err_msg=key
        )


def test_laws_that_others_cannot_draw():
    model = made("dense", law="mtj")
    with pytest.raises(xb.ArgumentError, match="bayesian-torch draws gaussian noise"):
        xb.to_state_dict(model)
    assert "0.rho_weight" in xb.to_state_dict(model, any_law=True)
    with pytest.raises(ValueError, match="no library 'keras'"):
        xb.to_state_dict(model, "keras")
    with pytest.raises(xb.ArgumentError, match="PyTorch pads both sides alike"):
        xb.to_torch(made("even"))


# ---- ONNX


@pytest.mark.parametrize("name", list(NETS))
@pytest.mark.parametrize("random", ["all", "kernels"])
def test_onnx_runs_a_models_draws(name, random, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    model = made(name, law="mtj", random=random)
    path = tmp_path / "model.onnx"
    xb.to_onnx(model, path)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    x, g = rows(model), xb.Generator(4, "weight")
    expected = agreement.outputs(model, x, 3, seed=4)
    numbers = {
        key[:-3]: t for t, key in enumerate(k for k in model.tensors if k.endswith(".mu"))
    }
    for s in range(3):
        feeds = {"x": x.astype(np.float32)}
        for one in session.get_inputs()[1:]:
            tensor = one.name[2:]
            place = {"tensor": numbers[tensor], "sample": s, "step": 2**32 - 1}
            feeds[one.name] = g.draw("mtj", tuple(one.shape), **place)
        (y,) = session.run(["y"], feeds)
        np.testing.assert_allclose(y, expected[s], rtol=2e-4, atol=2e-4)


def test_onnx_with_draws_inside(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    model = made("dense", law="bimodal:m=0.9", classes=["a", "b"])
    path = tmp_path / "model.onnx"
    xb.to_onnx(model, path, draws=7, seed=4)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [i.name for i in session.get_inputs()] == ["x"]
    x = rows(model)
    p, std, draws = session.run(["p", "std", "draws"], {"x": x.astype(np.float32)})
    expected = model.draws(x, 7, seed=4)
    np.testing.assert_allclose(draws, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(p, expected.mean(0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(std, expected.std(0), rtol=1e-3, atol=1e-5)
    with pytest.raises(ValueError, match="draws is 0"):
        xb.to_onnx(model, draws=0)


def test_onnx_of_counts_gives_rates():
    runtime = pytest.importorskip("onnxruntime")
    x = np.linspace(-2, 2, 60).reshape(-1, 1)
    counts = np.random.default_rng(1).poisson(np.exp(x[:, 0] + 1)).astype(float)
    few = {"epochs": 30, "mle_epochs": 30, "members": 1, "net": "dense 4, tanh, dense 1"}
    model = xb.train(x, counts, likelihood="poisson", **few)
    bytes_ = xb.to_onnx(model, draws=5, seed=4).SerializeToString()
    session = runtime.InferenceSession(bytes_, providers=["CPUExecutionProvider"])
    (draws,) = session.run(["draws"], {"x": x.astype(np.float32)})
    expected = model.draws(x, 5, seed=4)
    np.testing.assert_allclose(draws.reshape(expected.shape), expected, rtol=1e-4)


def test_onnx_without_a_gaussian_process():
    x = np.linspace(-2, 2, 60).reshape(-1, 1)
    few = {"epochs": 3, "mle_epochs": 3, "members": 1, "net": "dense 4, tanh, dense 1"}
    with pytest.raises(xb.ArgumentError, match="a Gaussian process beside its net"):
        xb.to_onnx(xb.train(x, x[:, 0], gp=0.5, **few))


# ---- simulators of arrays


def a_device():
    g = np.random.default_rng(3)
    n, levels = 60, np.repeat([1e-6, 5e-6, 9e-6], 60)
    cell = np.tile(np.arange(3 * n), 2)
    time = np.repeat([0.0, 100.0], 3 * n)
    value = np.concatenate([levels, levels * 0.9 + 1e-7 * g.normal(size=3 * n)])
    return xb.measure_device(cell, np.tile(np.repeat([0, 1, 2], n), 2), time, value)


def find_crosssim():
    folder = os.environ.get("CROSSSIM")
    if folder and folder not in sys.path:
        sys.path.insert(0, folder)
    if importlib.util.find_spec("simulator") is None:
        pytest.skip("skipped: CrossSim is not on PyPI; set CROSSSIM to its sources")


def test_crosssim_reads_with_the_laws_noise():
    """A device of CrossSim has the law's own draws, and an AnalogCore multiplies with it."""
    find_crosssim()
    from simulator import AnalogCore, CrossSimParameters
    from simulator.devices.device import Device

    kind = xb.to_crosssim("bimodal:m=0.9", name="OursBimodal")
    params = CrossSimParameters()
    params.core.style = "BALANCED"
    params.xbar.device.read_noise.enable = True
    params.xbar.device.read_noise.model = kind.__name__
    params.xbar.device.read_noise.magnitude = 0.01
    core = AnalogCore(np.full((1, 1), 0.5), params)
    kind_again = xb.to_crosssim("bimodal:m=0.9", name="OursFresh")
    params.xbar.device.read_noise.model = kind_again.__name__
    read = Device.create_device(params.xbar.device).read_noise(np.full((20, 30), 0.5))
    # CrossSim tries a model once when it makes a device, so the first read is call 2.
    z = xb.Generator(1, "array").draw("bimodal:m=0.9", (20, 30), step=2)
    np.testing.assert_allclose(read, 0.5 + 0.01 * z.astype(float), rtol=1e-12)
    y = np.array([float(core.matvec(np.ones(1))[0]) for _ in range(1000)])
    # A pair of cells, one of them at 0, where its noise is cut: a bias of half a deviation.
    assert 0.001 < y.std() < 0.015
    assert abs(y.mean() - 0.5) < 0.01


def test_crosssim_cells_relax_as_the_devices_did():
    find_crosssim()
    from simulator import AnalogCore, CrossSimParameters
    from simulator.devices.device import Device

    AnalogCore(np.eye(2), CrossSimParameters())  # chooses NumPy as the simulator's backend
    measured = a_device()
    device = xb.to_crosssim("gaussian", measured, g_max=1e-5, name="OursRelaxed")
    params = CrossSimParameters()
    params.xbar.device.drift_error.enable = True
    params.xbar.device.drift_error.model = device.__name__
    params.xbar.device.time = 100.0
    made_ = Device.create_device(params.xbar.device)
    now = made_.drift_error(np.full((50, 40), 0.5), 100.0)
    move = measured.moved(5e-6, 100.0)
    assert abs(now.mean() * 1e-5 - (5e-6 + move.shift)) < 4 * move.spread / 2000**0.5 + 2e-9
    assert abs(now.std() * 1e-5 / move.spread - 1) < 0.15


def find_aihwkit():
    """The real package, or the noise models of its sources: the rest of it is compiled."""
    folder = os.environ.get("AIHWKIT_SOURCES")
    if "aihwkit" in sys.modules:
        return
    if importlib.util.find_spec("aihwkit") is None and folder:
        import types

        package = types.ModuleType("aihwkit")
        package.__path__ = [os.path.join(folder, "src", "aihwkit")]
        inference = types.ModuleType("aihwkit.inference")
        inference.__path__ = [os.path.join(folder, "src", "aihwkit", "inference")]
        sys.modules.update({"aihwkit": package, "aihwkit.inference": inference})
        return
    if importlib.util.find_spec("aihwkit") is None:
        pytest.skip("skipped: aihwkit has no wheel; set AIHWKIT_SOURCES to its sources")


def test_aihwkit_programmes_and_reads():
    torch = pytest.importorskip("torch")
    find_aihwkit()
    model = xb.to_aihwkit("bimodal:m=0.9", read_std=0.2, programming_std=0.5)
    weights = torch.full((100, 80), 0.4)
    weights[0, 0] = 1.0
    programmed, ranks = model.apply_programming_noise(weights)
    assert all(r is None for r in ranks)
    g_max = model.g_converter.g_max
    off = (programmed - weights)[1:] * g_max / weights.max()
    z = (off / 0.5).numpy().ravel()
    # A pair of cells: the one at 0 has its noise cut at 0, so half of it is left.
    assert abs(np.median(np.abs(z)) - 0.9) < 0.4
    again, _ = xb.to_aihwkit(
        "bimodal:m=0.9", read_std=0.2, programming_std=0.5
    ).apply_programming_noise(weights)
    assert (again == programmed).all()
    read = model.apply_drift_noise(programmed, ranks, 20.0)
    assert 0 < float((read - programmed).std()) < 0.05


def test_aihwkit_cells_relax_as_the_devices_did():
    torch = pytest.importorskip("torch")
    find_aihwkit()
    measured = a_device()
    model = xb.to_aihwkit("gaussian", measured)
    g = torch.full((50, 40), 5.0)
    ranks = model.generate_drift_coefficients(g)
    now = model.apply_drift_noise_to_conductance(g, ranks, 100.0).double().numpy() * 1e-6
    move = measured.moved(5e-6, 100.0)
    assert abs(now.mean() - (5e-6 + move.shift)) < 4 * move.spread / 2000**0.5 + 2e-9
    assert abs(now.std() / move.spread - 1) < 0.15
    assert (
        model.apply_drift_noise_to_conductance(g, ranks, 100.0).double().numpy() * 1e-6 == now
    ).all()


def on_tiles(net, noise_model):
    """A network on AIHWKit's own tiles, programmed and read a second later."""
    conversion = pytest.importorskip(
        "aihwkit.nn.conversion", reason="skipped: aihwkit's tiles are not compiled here"
    )
    from aihwkit.simulator.configs import InferenceRPUConfig

    config = InferenceRPUConfig(noise_model=noise_model)
    config.forward.is_perfect = True
    config.drift_compensation = None
    made = conversion.convert_to_analog(net, config).eval()
    made.program_analog_weights()
    made.drift_analog_weights(1.0)
    return made


def test_aihwkit_tiles_run_with_the_laws_noise():
    """Weights on the tiles are off by the law's draws, a cell at 0 by those above 0."""
    torch = pytest.importorskip("torch")
    find_aihwkit()
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(60, 50), torch.nn.ReLU(), torch.nn.Linear(50, 2))
    law, std = "bimodal:m=0.9", 0.5

    def programmed():
        return on_tiles(net, xb.to_aihwkit(law, programming_std=std))

    first, again = programmed(), programmed()
    weights = first[0].get_weights()[0]
    assert (weights == again[0].get_weights()[0]).all()
    plain = net[0].weight.detach()
    g_max = xb.to_aihwkit(law).g_converter.g_max
    off = (weights - plain) * g_max / plain.abs().max()  # microsiemens
    z = xb.law(law).rvs(200_000, seed=5, standardise=True)
    expected = std * np.sqrt(z.var() + np.maximum(z, 0).var())
    # Of these pairs no cell is cut at 0 but the empty one.
    clear = plain.abs() > 0.2 * plain.abs().max()
    assert abs(float(off[clear].std()) / expected - 1) < 0.1
    x = torch.randn(4, 60)
    assert 0 < float((first(x) - net(x)).abs().max()) < 0.5


def test_simulators_refuse():
    find_crosssim()
    find_aihwkit()
    for make in (xb.to_crosssim, xb.to_aihwkit):
        with pytest.raises(xb.InputError, match="did you mean 'mtj'"):
            make("mjt")
    with pytest.raises(ValueError, match="read_std is -1"):
        xb.to_aihwkit("mtj", read_std=-1)
