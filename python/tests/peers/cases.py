"""Networks of other libraries, small ones, each with what its own library draws from it.

A case gives the network, its inputs, the library's own draws of the outputs
[draws][rows][outputs], and how it is imported as an object and as a file. Nothing here is
imported by the package; libraries are imported by the case that needs them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import crossbayes as xb
import numpy as np

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
NOISE = 1e-3  # a regression needs one; draws of the outputs do not have it
ROWS = 3


class Case(NamedTuple):
    x: Any  # rows as the model takes them: images [h][w][c]
    draw: Callable[[int], Any]
    imported: Callable[[], xb.Model]
    save: Callable[[Any], tuple[Any, dict[str, Any]]]  # folder: path and settings


def seeded(make: Callable[[], Case]) -> Case:
    """A case whose network starts from the same random numbers every time."""
    import torch

    torch.manual_seed(7)
    return make()


def _loop(forward: Callable[[], Any], n: int) -> Any:
    return np.stack([np.asarray(forward(), np.float64) for _ in range(n)])


# ---- PyTorch


def _torch_case(net: Any, shape: tuple[int, ...], text: str, **settings: Any) -> Case:
    import torch

    torch.set_num_threads(1)
    net.eval()
    x = torch.randn(ROWS, *shape, generator=torch.Generator().manual_seed(5))
    last = x.numpy()
    sides: Any = shape[0]
    if len(shape) == 3:
        last, sides = last.transpose(0, 2, 3, 1), (shape[1], shape[2], shape[0])
    elif len(shape) == 2:
        last, sides = last.transpose(0, 2, 1), (shape[1], 1, shape[0])

    def draw(n: int) -> Any:
        torch.manual_seed(11)
        with torch.no_grad():
            return _loop(lambda: net(x).numpy(), n)

    def save(folder: Any) -> tuple[Any, dict[str, Any]]:
        path = folder / "net.pt"
        torch.save(net.state_dict(), path)
        return path, {"net": text, "inputs": sides, **settings}

    made = settings.get("classes") is None
    settings = {"noise_std": NOISE, **settings} if made else settings
    return Case(
        last.reshape(ROWS, -1).astype(np.float64),
        draw,
        lambda: xb.from_torch(net, input_shape=shape, **settings),
        save,
    )


def _spread(net: Any) -> Any:
    """Batch normalisation with statistics that are not those of a new one."""
    import torch

    g = torch.Generator().manual_seed(2)
    for layer in net.modules():
        if hasattr(layer, "running_mean"):
            layer.running_mean.normal_(generator=g)
            layer.running_var.uniform_(0.5, 2.0, generator=g)
            layer.weight.data.normal_(1.0, 0.3, generator=g)
            layer.bias.data.normal_(0.0, 0.3, generator=g)
    return net


def _bayesian_torch(kind: str, net: Any, shape: tuple[int, ...], text: str, **kw: Any) -> Case:
    from bayesian_torch.models.dnn_to_bnn import dnn_to_bnn

    dnn_to_bnn(
        net,
        {
            "prior_mu": 0.0, "prior_sigma": 1.0, "posterior_mu_init": 0.0,
            "posterior_rho_init": -2.0, "type": kind, "moped_enable": False, "moped_delta": 0.5,
        },
    )  # fmt: skip
    return _torch_case(_spread(net), shape, text, **kw)


def _dense_net() -> Any:
    from torch import nn

    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Dropout(0.2), nn.Linear(6, 2))


def bayesian_torch_linear() -> Case:
    return _bayesian_torch("Reparameterization", _dense_net(), (4,), "dense 6, tanh, dense 2")


def bayesian_torch_flipout() -> Case:
    return _bayesian_torch("Flipout", _dense_net(), (4,), "dense 6, tanh, dense 2")


def bayesian_torch_conv2d() -> Case:
    from torch import nn

    net = nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1, bias=False), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.BatchNorm1d(18), nn.Linear(18, 3), nn.Softmax(1),
    )  # fmt: skip
    text = "conv 3 3x3 nobias, batchnorm momentum 0.9 epsilon 1e-5, relu, maxpool 2, flatten"
    text += ", batchnorm momentum 0.9 epsilon 1e-5, dense 3"
    return _bayesian_torch("Reparameterization", net, (2, 5, 6), text, classes=["a", "b", "c"])


def bayesian_torch_conv2d_flipout() -> Case:
    """One position only: elsewhere its signs differ from pixel to pixel (docs/python.md)."""
    from torch import nn

    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ELU(), nn.Flatten(), nn.Linear(4, 2))
    text = "conv 4 3x3 valid, elu, flatten, dense 2"
    return _bayesian_torch("Flipout", net, (2, 3, 3), text)


def bayesian_torch_conv1d() -> Case:
    from bayesian_torch.layers import Conv1dReparameterization, LinearReparameterization
    from torch import nn

    net = nn.Sequential(
        Conv1dReparameterization(2, 3, 3, stride=2, padding=1, posterior_rho_init=-2.0),
        nn.Sigmoid(), nn.Flatten(), LinearReparameterization(12, 1, posterior_rho_init=-2.0),
    )  # fmt: skip
    for layer in net:
        layer.dnn_to_bnn_flag = True  # only outputs, as a Sequential needs them
    return _torch_case(net, (2, 7), "conv 3 3x1 stride 2, sigmoid, flatten, dense 1")


def torchbnn_net() -> Case:
    import torchbnn
    from torch import nn

    net = nn.Sequential(
        torchbnn.BayesConv2d(0, 0.2, 1, 2, 2), nn.ELU(), nn.Flatten(),
        torchbnn.BayesLinear(0, 0.1, 12, 5), nn.ReLU(), torchbnn.BayesLinear(0, 0.2, 5, 1),
    )  # fmt: skip
    return _torch_case(net, (1, 3, 4), "conv 2 2x2 valid, elu, flatten, dense 5, relu, dense 1")


def torchbnn_frozen() -> Case:
    import torch
    import torchbnn
    from torch import nn

    net = nn.Sequential(torchbnn.BayesLinear(0, 0.5, 3, 4), nn.Tanh(), nn.Linear(4, 1))
    torch.manual_seed(3)
    net[0].freeze()
    net.append(torchbnn.BayesLinear(0, 0.1, 1, 1))
    return _torch_case(net, (3,), "dense 4, tanh, dense 1, dense 1")


def blitz_net() -> Case:
    from blitz.modules import BayesianConv2d, BayesianLinear
    from torch import nn

    net = nn.Sequential(
        BayesianConv2d(2, 3, (3, 3), padding=1, bias=False, posterior_rho_init=-2.0), nn.ReLU(),
        nn.Flatten(), BayesianLinear(36, 4, posterior_rho_init=-3.0), nn.Sigmoid(),
        BayesianLinear(4, 1, posterior_rho_init=-2.0),
    )  # fmt: skip
    text = "conv 3 3x3 nobias, relu, flatten, dense 4, sigmoid, dense 1"
    return _torch_case(net, (2, 3, 4), text)


def torch_uncertainty_net() -> Case:
    from torch import nn
    from torch_uncertainty.layers import BayesConv2d, BayesLinear

    net = nn.Sequential(
        BayesConv2d(1, 2, 2, sigma_init=-2.0), nn.Tanh(), nn.Flatten(),
        BayesLinear(12, 1, sigma_init=-2.0),
    )  # fmt: skip
    return _torch_case(net, (1, 3, 4), "conv 2 2x2 valid, tanh, flatten, dense 1")


def posteriors_net() -> Case:
    import posteriors
    import torch
    import torchopt
    from torch import nn
    from torch.func import functional_call

    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    transform = posteriors.vi.diag.build(
        lambda p, batch: (-sum((v**2).sum() for v in p.values()), torch.zeros(())),
        torchopt.adam(1e-2), init_log_sds=-2.0,
    )  # fmt: skip
    params = dict(net.named_parameters())
    state = transform.init(params)
    x = torch.randn(ROWS, 3, generator=torch.Generator().manual_seed(5))

    def one() -> Any:
        return functional_call(net, posteriors.vi.diag.sample(state), (x,)).detach().numpy()

    def draw(n: int) -> Any:
        torch.manual_seed(11)
        return _loop(one, n)

    settings = {"net": "dense 4, tanh, dense 1", "inputs": 3, "noise_std": NOISE}

    def save(folder: Any) -> tuple[Any, dict[str, Any]]:
        path = folder / "state.pt"
        kept = {
            name: {k: v.detach() for k, v in getattr(state, name).items()}
            for name in ("params", "log_sd_diag")
        }
        torch.save(kept, path)
        return path, settings

    return Case(x.double().numpy(), draw, lambda: xb.from_posteriors(state, **settings), save)


# ---- TensorFlow Probability


def _keras_case(
    net: Any, shape: tuple[int, ...], file: str, extra: dict[str, Any] | None = None
) -> Case:
    import tensorflow as tf

    x = np.random.default_rng(5).normal(size=(ROWS, *shape)).astype(np.float32)
    rng = np.random.default_rng(6)
    for w in net.weights:
        value = rng.normal(size=w.shape) * 0.3
        if "untransformed_scale" in w.name:
            value = value - 2
        elif "variance" in w.name or "gamma" in w.name:
            value = np.exp(value)
        if "count" not in w.name:
            w.assign(value)

    @tf.function
    def some(n: Any) -> Any:
        return tf.map_fn(lambda _: net(x), tf.range(n), fn_output_signature=tf.float32)

    def draw(n: int) -> Any:
        tf.random.set_seed(11)
        return np.asarray(some(tf.constant(n)), np.float64)

    def save(folder: Any) -> tuple[Any, dict[str, Any]]:
        path = folder / file
        (net.save_weights if "weights" in file else net.save)(path)
        return path, {"noise_std": NOISE, **(extra or {})}

    flat = x.reshape(ROWS, -1).astype(np.float64)
    return Case(flat, draw, lambda: xb.from_tfp(net, noise_std=NOISE), save)


def tfp_conv() -> Case:
    import tensorflow_probability as tfp
    import tf_keras as keras

    layers = tfp.layers
    net = keras.Sequential([
        keras.Input((7, 6, 2)),
        layers.Convolution2DReparameterization(3, 3, padding="same", strides=2, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.MaxPooling2D(2),
        layers.Convolution2DFlipout(4, (2, 1)),
        keras.layers.Flatten(),
        layers.DenseFlipout(5, activation="tanh"),
        layers.DenseReparameterization(3, activation="softmax"),
    ])  # fmt: skip
    return _keras_case(net, (7, 6, 2), "net.h5")


def tfp_dense() -> Case:
    import tensorflow_probability as tfp
    import tf_keras as keras

    net = keras.Sequential([
        keras.Input((4,)),
        keras.layers.Rescaling(0.5, 0.25),
        tfp.layers.DenseLocalReparameterization(5, activation="elu"),
        keras.layers.Dropout(0.3),
        tfp.layers.DenseFlipout(4, activation="sigmoid"),
        tfp.layers.DenseReparameterization(2),
    ])  # fmt: skip
    return _keras_case(net, (4,), "net.keras")


def tfp_variational() -> Case:
    import tensorflow as tf
    import tensorflow_probability as tfp
    import tf_keras as keras

    tfd, tfpl = tfp.distributions, tfp.layers
    c = np.log(np.expm1(1.0))

    def posterior(kernel: int, bias: int = 0, dtype: Any = None) -> Any:
        n = kernel + bias

        def normal(t: Any) -> Any:
            scale = 1e-5 + tf.nn.softplus(c + t[..., n:])
            return tfd.Independent(tfd.Normal(loc=t[..., :n], scale=scale), 1)

        return keras.Sequential(
            [tfpl.VariableLayer(2 * n, dtype=dtype), tfpl.DistributionLambda(normal)]
        )

    def prior(kernel: int, bias: int = 0, dtype: Any = None) -> Any:
        return keras.Sequential([
            tfpl.VariableLayer(kernel + bias, dtype=dtype),
            tfpl.DistributionLambda(lambda t: tfd.Independent(tfd.Normal(loc=t, scale=1.0), 1)),
        ])  # fmt: skip

    net = keras.Sequential([
        keras.Input((3,)),
        tfpl.DenseVariational(4, posterior, prior, activation="tanh"),
        tfpl.DenseVariational(1, posterior, prior),
    ])  # fmt: skip
    settings = {"net": "dense 4, tanh, dense 1", "inputs": 3}
    return _keras_case(net, (3,), "net.weights.h5", settings)


# ---- Pyro and NumPyro


def _guide_case(x: Any, draw: Any, importer: Any, params: Any, settings: Any) -> Case:
    def save(folder: Any) -> tuple[Any, dict[str, Any]]:
        path = folder / "params.npz"
        np.savez(path, **{name: np.asarray(value) for name, value in params.items()})
        return path, settings

    return Case(x, draw, lambda: importer(params, **settings), save)


def _numpyro(diagonal: bool) -> Case:
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import autoguide

    shapes = {"w1": (3, 4), "b1": (4,), "w2": (4, 1), "b2": (1,)}

    def model(x: Any, y: Any = None) -> None:
        w = {k: numpyro.sample(k, dist.Normal(0, 1).expand(s)) for k, s in shapes.items()}
        s = numpyro.sample("s", dist.HalfNormal(1.0))
        mean = jnp.tanh(x @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]
        numpyro.sample("y", dist.Normal(mean[:, 0], s), obs=y)

    rng = np.random.default_rng(5)
    x = rng.normal(size=(ROWS, 3))
    kind = autoguide.AutoDiagonalNormal if diagonal else autoguide.AutoNormal
    guide = kind(model, init_scale=0.2)
    svi = numpyro.infer.SVI(model, guide, numpyro.optim.Adam(0.02), numpyro.infer.Trace_ELBO())
    params = svi.run(jax.random.PRNGKey(0), 50, x, x[:, 0], progress_bar=False).params

    def draw(n: int) -> Any:
        w = guide.sample_posterior(jax.random.PRNGKey(11), params, sample_shape=(n,))
        h = jnp.tanh(jnp.einsum("ri,nio->nro", x, w["w1"]) + w["b1"][:, None])
        return np.asarray(jnp.einsum("nri,nio->nro", h, w["w2"]) + w["b2"][:, None], np.float64)

    settings = {
        "net": "dense 4, tanh, dense 1", "inputs": 3, "ignore": ["s"], "noise_std": NOISE,
        **({"layout": {**shapes, "s": ()}} if diagonal else {}),
    }  # fmt: skip
    return _guide_case(x, draw, xb.from_numpyro, params, settings)


def numpyro_normal() -> Case:
    return _numpyro(False)


def numpyro_diagonal() -> Case:
    return _numpyro(True)


def _pyro(diagonal: bool) -> Case:
    import pyro
    import pyro.distributions as dist
    import torch
    from pyro.infer import autoguide

    shapes = {"fc1.weight": (4, 3), "fc1.bias": (4,), "fc2.weight": (1, 4), "fc2.bias": (1,)}

    def model(x: Any) -> Any:
        pyro.sample("s", dist.HalfNormal(1.0))
        w = {
            k: pyro.sample(k, dist.Normal(0.0, 1.0).expand(s).to_event(len(s)))
            for k, s in shapes.items()
        }
        h = torch.tanh(x @ w["fc1.weight"].T + w["fc1.bias"])
        return h @ w["fc2.weight"].T + w["fc2.bias"]

    pyro.clear_param_store()
    pyro.set_rng_seed(4)
    x = torch.randn(ROWS, 3)
    kind = autoguide.AutoDiagonalNormal if diagonal else autoguide.AutoNormal
    guide = kind(model, init_scale=0.2)
    guide(x)

    def draw(n: int) -> Any:
        pyro.set_rng_seed(11)
        with torch.no_grad():
            return _loop(lambda: pyro.poutine.condition(model, guide(x))(x).numpy(), n)

    settings = {
        "net": "dense 4, tanh, dense 1", "inputs": 3, "ignore": ["s"], "noise_std": NOISE,
        **({"layout": {"s": (), **shapes}} if diagonal else {}),
    }  # fmt: skip
    params = {k: v.detach().clone() for k, v in guide.state_dict().items()}
    return _guide_case(x.double().numpy(), draw, xb.from_pyro, params, settings)


def pyro_normal() -> Case:
    return _pyro(False)


def pyro_diagonal() -> Case:
    return _pyro(True)


CASES = (
    bayesian_torch_linear,
    bayesian_torch_flipout,
    bayesian_torch_conv2d,
    bayesian_torch_conv2d_flipout,
    bayesian_torch_conv1d,
    torchbnn_net,
    torchbnn_frozen,
    blitz_net,
    torch_uncertainty_net,
    posteriors_net,
    tfp_conv,
    tfp_dense,
    tfp_variational,
    numpyro_normal,
    numpyro_diagonal,
    pyro_normal,
    pyro_diagonal,
)
