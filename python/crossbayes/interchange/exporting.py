"""Models as networks of bayesian-torch, BLiTZ and crossbayes.torch: state dicts and modules."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from crossbayes._library import ArgumentError
from crossbayes.interchange.described import Described, checked, described
from crossbayes.interchange.rows import inverse_softplus
from crossbayes.models import Model

# A rho whose sigma, 4e-18, is nothing beside any weight, and whose logarithm is finite: for
# tensors that are fixed here and random there.
FIXED_RHO = -40.0
_NAMES: dict[str, Callable[[str, bool], tuple[str, str]]] = {
    "bayesian-torch": lambda role, conv: (
        (f"mu_{'kernel' if conv else 'weight'}", f"rho_{'kernel' if conv else 'weight'}")
        if role == "weight"
        else ("mu_bias", "rho_bias")
    ),
    "blitz": lambda role, conv: (f"{role}_mu", f"{role}_rho"),
}


def to_state_dict(
    model: Model, library: str = "bayesian-torch", *, any_law: bool = False
) -> Any:
    """A model's net as the state dict of a Sequential, one module for each of its layers.

    ``library``: bayesian-torch or blitz. Values are torch tensors where PyTorch is installed,
    else arrays. These libraries draw gaussian noise: a model of another law is refused without
    ``any_law=True``, which exports the means and widths alone. Tensors that are not random get
    rho = -40. How inputs and target are scaled is in :func:`crossbayes.scaling`.
    """
    checked(model)
    if not isinstance(library, str) or library not in _NAMES:
        raise ValueError(f"no library {library!r}; there are {', '.join(_NAMES)}")
    if model.law.family != "gaussian" and not any_law:
        raise ArgumentError(
            f"the model's law is {model.law.text}, and {library} draws gaussian noise: set"
            " any_law=True to export its means and widths all the same"
        )
    state: dict[str, Any] = {}
    order: Any = None
    for layer in described(model):
        if layer.kind == "flatten":
            order = _rows(layer)
        elif layer.kind in ("dense", "conv"):
            state |= _affine(layer, library, order)
            order = None
        elif layer.kind == "batchnorm":
            state |= _norm(layer, order)
    return {name: _tensor(value) for name, value in state.items()}


def _rows(layer: Described) -> Any:
    """The place among our features of each of PyTorch's, behind a flatten of images."""
    h, w, c = layer.before
    if h * w == 1:
        return None
    return np.arange(h * w * c).reshape(h, w, c).transpose(2, 0, 1).ravel()


def _affine(layer: Described, library: str, order: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for role, ours in (("weight", "kernel"), ("bias", "bias")):
        if f"{ours}.mu" not in layer.tensors:
            continue
        mu = layer.tensors[f"{ours}.mu"]
        sigma = layer.tensors.get(f"{ours}.sigma")
        rho = np.full(mu.shape, FIXED_RHO) if sigma is None else inverse_softplus(sigma)
        mean, spread = _NAMES[library](role, layer.kind == "conv")
        for name, values in ((mean, mu), (spread, rho)):
            made[f"{layer.at}.{name}"] = _turned(values, order)
            if library == "blitz":  # which keeps each tensor a second time
                short = "mu" if name is mean else "rho"
                made[f"{layer.at}.{role}_sampler.{short}"] = made[f"{layer.at}.{name}"]
    return made


def _turned(values: Any, order: Any) -> Any:
    if values.ndim == 2 and order is not None:
        values = values[order]
    axes = {1: (0,), 2: (1, 0), 4: (3, 2, 0, 1)}[values.ndim]
    return np.ascontiguousarray(np.transpose(values, axes), np.float32)


def _norm(layer: Described, order: Any) -> dict[str, Any]:
    names = {"weight": "scale.mu", "bias": "shift.mu"}
    names |= {"running_mean": "mean", "running_var": "variance"}
    made: dict[str, Any] = {}
    for theirs, ours in names.items():
        values = np.asarray(layer.tensors[ours], np.float32)
        made[f"{layer.at}.{theirs}"] = values if order is None else values[order]
    made[f"{layer.at}.num_batches_tracked"] = np.int64(0)
    return made


def _tensor(value: Any) -> Any:
    try:
        import torch
    except ImportError:
        return value
    return torch.tensor(np.array(value))


# ---- modules


def to_torch(model: Model, library: str = "bayesian-torch", *, any_law: bool = False) -> Any:
    """A model's net as a Sequential of PyTorch, with layers of ``library`` and its weights.

    ``library``: bayesian-torch, blitz, or crossbayes, whose layers keep the law. Convolutions
    with stride whose padding PyTorch does not have are refused.
    """
    checked(model)
    import torch
    from torch import nn

    if library == "crossbayes":
        return _with_our_layers(model)
    state = to_state_dict(model, library, any_law=any_law)
    layers = [_module(layer, nn, _MAKERS[library]()) for layer in described(model)]
    net = nn.Sequential(*layers)
    missing, extra = net.load_state_dict(state, strict=False)
    left = [name for name in missing if not name.endswith(("eps_w", "eps"))]
    if extra or any("bias" not in name for name in left):
        raise ArgumentError(f"{library} has other tensors: {[*left, *extra][0]}")
    for layer in net:
        if hasattr(layer, "dnn_to_bnn_flag"):
            layer.dnn_to_bnn_flag = True  # outputs alone, as a Sequential needs them
    assert isinstance(net, torch.nn.Module)
    return net.eval()


def _module(layer: Described, nn: Any, makers: tuple[Any, Any]) -> Any:
    """The module of one layer; its weights come later."""
    words = layer.words
    plain = {"relu": nn.ReLU, "elu": nn.ELU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}
    if layer.kind in plain:
        return plain[layer.kind]()
    if layer.kind == "flatten":
        return nn.Flatten()
    if layer.kind == "maxpool":
        return nn.MaxPool2d(words["window"], words["stride"], ceil_mode=words["ceil"])
    if layer.kind == "batchnorm":
        flat = layer.before[0] * layer.before[1] == 1
        kind = nn.BatchNorm1d if flat else nn.BatchNorm2d
        return kind(layer.before[2], eps=words["epsilon"], momentum=1 - words["momentum"])
    if layer.kind == "dense":
        return makers[0](layer.before[2], layer.after[2], words["bias"])
    return makers[1](
        layer.before[2], layer.after[2], layer.tensors["kernel.mu"].shape[:2],
        words["stride"], _pads(layer), words["bias"],
    )  # fmt: skip


def _pads(layer: Described) -> Any:
    """PyTorch's padding, the same on both sides; TensorFlow's `same` may not be."""
    from crossbayes.interchange.layers import _tf_same

    if not layer.words["same"]:
        return (0, 0)
    sides = layer.tensors["kernel.mu"].shape[:2]
    stride = layer.words["stride"]
    pads = [_tf_same(layer.before[a], sides[a], stride) for a in (0, 1)]
    if any(first != last for first, last in pads):
        raise ArgumentError(
            f"{layer.where}: pads {tuple(pads)}, and PyTorch pads both sides alike"
        )
    return (pads[0][0], pads[1][0])


def _bayesian_torch() -> tuple[Any, Any]:
    from bayesian_torch.layers import Conv2dReparameterization, LinearReparameterization

    return (
        lambda i, o, bias: LinearReparameterization(i, o, bias=bias),
        lambda i, o, k, s, p, bias: Conv2dReparameterization(
            i, o, tuple(k), stride=s, padding=p, bias=bias
        ),
    )


def _blitz() -> tuple[Any, Any]:
    from blitz.modules import BayesianConv2d, BayesianLinear

    return (
        lambda i, o, bias: BayesianLinear(i, o, bias=bias),
        lambda i, o, k, s, p, bias: BayesianConv2d(
            i, o, tuple(k), stride=s, padding=p, bias=bias
        ),
    )


_MAKERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "bayesian-torch": _bayesian_torch,
    "blitz": _blitz,
}


def _with_our_layers(model: Model) -> Any:
    import torch
    from torch import nn

    import crossbayes.torch as xt

    makers = (
        lambda i, o, bias: nn.Linear(i, o, bias=bias),
        lambda i, o, k, s, p, bias: nn.Conv2d(i, o, tuple(k), stride=s, padding=p, bias=bias),
    )
    layers = described(model)
    biases = any("bias.sigma" in layer.tensors for layer in layers)
    plain = nn.Sequential(*(_module(layer, nn, makers) for layer in layers))
    net = xt.bayesian(plain, law=model.law, random="all" if biases else "kernels").eval()
    state = to_state_dict(model, "blitz", any_law=True)
    made = {}
    for name, old in net.state_dict().items():
        theirs = name.replace("kernel_", "weight_").replace("_log_sigma", "_rho")
        value = state[theirs]
        if name.endswith("_log_sigma"):
            value = torch.nn.functional.softplus(value.double()).log().float()
        kernel = {2: (1, 0), 4: (2, 3, 1, 0)}.get(value.dim()) if "kernel_" in name else None
        made[name] = (value if kernel is None else value.permute(kernel)).reshape(old.shape)
    net.load_state_dict(made)
    return net
