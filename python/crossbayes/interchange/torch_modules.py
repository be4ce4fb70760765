"""Networks of PyTorch and of Bayesian layers on top of it, as models.

Layers are recognised by their class names and parameter names, so none of those libraries
is imported here, and PyTorch itself only by whoever made the module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from crossbayes._library import InputError
from crossbayes.interchange.by_text import Group, Inputs, Norm, model_by_text
from crossbayes.interchange.layers import Chain, MaybeWeight, Weight
from crossbayes.interchange.rows import OURS, layer_weights, row_of
from crossbayes.models import Model

_NORMS = ("BatchNorm1d", "BatchNorm2d")
_POINTWISE = {
    "ReLU": "relu",
    "ELU": "elu",
    "Tanh": "tanh",
    "Sigmoid": "sigmoid",
    "Identity": "identity",
    "Softmax": "softmax",
    "LogSoftmax": "softmax",
}


def from_torch(
    module: Any,
    *,
    input_shape: Sequence[int] | None = None,
    net: str | None = None,
    inputs: Inputs | None = None,
    **settings: Any,
) -> Model:
    """A PyTorch module, or its state dict, as a model.

    A ``Sequential`` of supported layers needs nothing else, except ``input_shape`` if it starts
    with images: (channels, height, width), as PyTorch has them without the batch. The model
    takes images as [height][width][channels]. For any other module, or for a state dict, give
    the layers as ``net`` and the number of inputs as ``inputs``, as in
    :func:`crossbayes.model_from_arrays`; weights are taken in the order of the state dict.

    Layers with noise are those of bayesian-torch, torchbnn, BLiTZ, torch-uncertainty and
    :mod:`crossbayes.torch`; plain layers stay without noise. No library keeps its prior in
    the weights: give ``prior=`` where it matters. Further settings are those of
    ``model_from_arrays``: classes, noise_std, input_mean, input_std, target_mean, ...
    """
    law = _law_of(module)
    if law is not None:
        settings.setdefault("law", law)
    if isinstance(module, Mapping):
        return _from_state(module, net, inputs, settings)
    if not hasattr(module, "named_parameters"):
        raise TypeError(f"expected a torch module or a state dict, not {type(module).__name__}")
    if net is not None:
        return _from_state(module.state_dict(), net, inputs, settings)
    layers = list(_leaves(module, ""))
    chain = Chain(_start(layers, input_shape), True, _library(layers))
    for where, layer in layers:
        _add(chain, where, layer)
    return chain.build(**settings)


def _leaves(module: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The layers of nested Sequentials, in order."""
    kind = type(module).__name__
    if _is_sequential(module):
        for name, child in module.named_children():
            yield from _leaves(child, f"{path}.{name}" if path else name)
    elif row_of(_own(module)) or kind in _HANDLERS or not list(module.children()):
        yield (f"{path}: {kind}" if path else kind), module
    else:
        raise InputError(
            f"{kind} is neither a Sequential nor a layer that is known: give the text of its"
            " layers as net="
        )


def _is_sequential(module: Any) -> bool:
    """Whether forward runs the children one after another, as Sequential's own does."""
    kinds = type(module).__mro__
    if kinds[0].__module__ == "crossbayes.torch.networks":
        return True
    sequential = next((k for k in kinds if k.__name__ == "Sequential"), None)
    return sequential is not None and type(module).forward is sequential.forward  # type: ignore[attr-defined]


def _own(module: Any) -> dict[str, Any]:
    """Parameters and buffers of a module itself, as arrays."""
    named = [
        *module.named_parameters(recurse=False),
        *module.named_buffers(recurse=False),
    ]
    return {name: _array(value) for name, value in named if value is not None}


def _array(tensor: Any) -> Any:
    """A tensor as numbers of double precision, on the host."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu().double().numpy()
    return np.asarray(tensor)


def _start(layers: Sequence[tuple[str, Any]], shape: Sequence[int] | None) -> tuple[int, ...]:
    """Height, width and channels of an input; from the first layer where it is dense."""
    if shape is not None:
        sides = [int(side) for side in shape]
        if len(sides) == 3:
            return sides[1], sides[2], sides[0]
        if len(sides) == 2:
            return sides[1], 1, sides[0]
        if len(sides) == 1:
            return 1, 1, sides[0]
        raise ValueError(f"input_shape has {len(sides)} sides, expected 1 to 3")
    for where, layer in layers:
        if hasattr(layer, "in_features"):
            return 1, 1, int(layer.in_features)
        if type(layer).__name__ == "BatchNorm1d":
            return 1, 1, int(layer.num_features)
        if type(layer).__name__ not in (*_POINTWISE, "Dropout"):
            _handler(where, layer)
            raise ValueError(f"{where}: give input_shape=(channels, height, width)")
    raise InputError("there is no layer with weights")


def _library(layers: Sequence[tuple[str, Any]]) -> str:
    rows = (row_of(_own(layer)) for _, layer in layers)
    return next((row.library for row in rows if row is not None), "torch")


def _law_of(module: Any) -> Any:
    """The law of our own layers, where the module has any."""
    for layer in module.modules() if hasattr(module, "modules") else ():
        if type(layer).__module__.startswith("crossbayes.torch") and hasattr(layer, "law"):
            return layer.law
    return None


# ---- one layer


def _handler(where: str, layer: Any) -> Any:
    """What adds such a layer to a chain; others are refused by name."""
    kind = type(layer).__name__
    handler = _HANDLERS.get(kind)
    if handler is None and "Transpose" not in kind and row_of(_own(layer)):
        handler = _affine
    if handler is None:
        raise InputError(
            f"{where}: this layer is not supported; there are Linear, Conv1d, Conv2d with and"
            " without noise, BatchNorm, MaxPool2d, Flatten, Dropout, and the activations"
            f" {', '.join(_POINTWISE)}"
        )
    return handler


def _add(chain: Chain, where: str, layer: Any) -> None:
    _handler(where, layer)(chain, where, layer)


def _affine(chain: Chain, where: str, layer: Any) -> None:
    library, kernel, bias = layer_weights(_own(layer), where)
    if getattr(layer, "bias", None) is False:
        bias = None  # BLiTZ keeps the tensors of a bias that is not used
    if getattr(layer, "freeze", None) is True or getattr(layer, "frozen", None) is True:
        kernel = Weight(kernel.mean)  # BLiTZ, torch-uncertainty: frozen layers use the means
        bias = None if bias is None else Weight(bias.mean)
    one = np.ndim(kernel.mean) == 3
    kernel = ordered(kernel, where, library)
    if np.ndim(kernel.mean) == 2:
        chain.dense(kernel, bias, where)
        return
    for name, plain in (("dilation", 1), ("groups", 1)):
        values = _pair(getattr(layer, name, plain))
        if set(values) != {plain}:
            raise InputError(f"{where}: {name} {values} is not supported, expected {plain}")
    if getattr(layer, "padding_mode", "zeros") != "zeros":
        raise InputError(f"{where}: padding_mode {layer.padding_mode!r} is not supported")
    padding = _padding(layer.padding, one)
    chain.conv(kernel, bias, where, _pair(layer.stride), padding)


def ordered(kernel: Weight, where: str, library: str = "torch") -> Weight:
    """A kernel of PyTorch's order in ours; layers of crossbayes.torch have it already."""
    sides = {2: (1, 0), 3: (2, 1, 0), 4: (2, 3, 1, 0)}
    if library == OURS:
        sides = {n: tuple(range(n)) for n in sides}
    axes = sides.get(np.ndim(kernel.mean))
    if axes is None:
        raise InputError(f"{where}: a kernel of {np.shape(kernel.mean)} is not supported")
    moved = kernel.moved(lambda w: np.transpose(np.asarray(w), axes))
    if len(axes) == 3:  # [k][in][out] of one dimension: [k][1][in][out]
        moved = moved.moved(lambda w: w[:, None])
    return moved


def _pair(value: Any) -> tuple[int, int]:
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return (int(values[0]), int(values[-1]))


def _padding(padding: Any, one: bool) -> Any:
    if isinstance(padding, str):
        return padding
    first, last = _pair(padding)
    return [(first, first), (0, 0) if one else (last, last)]


def _norm(chain: Chain, where: str, layer: Any) -> None:
    own = _own(layer)
    if own.get("running_mean") is None:
        raise InputError(f"{where}: keeps no running mean, which prediction needs")
    momentum = 0.1 if layer.momentum is None else float(layer.momentum)
    chain.batchnorm(
        own.get("weight"), own.get("bias"), own["running_mean"], own["running_var"],
        float(layer.eps), 1 - momentum, where,
    )  # fmt: skip


def _pool(chain: Chain, where: str, layer: Any) -> None:
    if set(_pair(layer.padding)) != {0} or set(_pair(layer.dilation)) != {1}:
        raise InputError(f"{where}: padding and dilation are not supported")
    stride = layer.kernel_size if layer.stride is None else layer.stride
    chain.maxpool(_pair(layer.kernel_size), _pair(stride), bool(layer.ceil_mode), where)


def _pointwise(chain: Chain, where: str, layer: Any) -> None:
    if getattr(layer, "alpha", 1.0) != 1.0:
        raise InputError(f"{where}: alpha is {layer.alpha:g}, expected 1")
    chain.activation(_POINTWISE[type(layer).__name__], where)


def _flatten(chain: Chain, where: str, layer: Any) -> None:
    if (layer.start_dim, layer.end_dim) != (1, -1):
        raise InputError(f"{where}: flattens dimensions {layer.start_dim} to {layer.end_dim}")
    chain.flatten(where)


def _dropout(chain: Chain, where: str, layer: Any) -> None:
    if layer.training and layer.p > 0:
        raise InputError(f"{where}: is in training mode, where it is random; call eval() first")


_HANDLERS = {
    **dict.fromkeys(("Linear", "Conv1d", "Conv2d"), _affine),
    **dict.fromkeys(_NORMS, _norm),
    **dict.fromkeys(("MaxPool2d", "ImagePool"), _pool),  # ImagePool: of crossbayes.torch
    **dict.fromkeys(("Dropout", "Dropout1d", "Dropout2d"), _dropout),
    **dict.fromkeys(_POINTWISE, _pointwise),
    "Flatten": _flatten,
}


# ---- a state dict and the net's text


def _from_state(
    state: Mapping[str, Any], net: str | None, inputs: Inputs | None, settings: dict[str, Any]
) -> Model:
    groups, library = state_groups(state)
    if net is None or inputs is None:
        layers = ", ".join(_described(group) for group in groups)
        raise InputError(
            "a state dict has no activations: give net= and inputs=; its layers are " + layers
        )
    return model_by_text(net, inputs, groups, library, True, settings)


def _described(group: Group) -> str:
    if group.kernel is None:
        return f"{group.where} batchnorm"
    shape = np.shape(group.kernel.mean)
    if len(shape) == 2:
        return f"{group.where} dense {shape[1]}"
    return f"{group.where} conv {shape[3]} {shape[0]}x{shape[1]}"


_BESIDE = (
    "weight_sampler",
    "bias_sampler",
    "weight_prior_dist",
    "bias_prior_dist",
    "num_batches_tracked",
    "bias_zero",
)


def state_groups(state: Mapping[str, Any]) -> tuple[list[Group], str]:
    """The layers of a state dict in its order, and the library that they come from."""
    layers: dict[str, dict[str, Any]] = {}
    for name, value in state.items():
        if any(part in _BESIDE for part in name.split(".")) or value is None:
            continue
        prefix, _, last = str(name).rpartition(".")
        layers.setdefault(prefix, {})[last] = _array(value)
    library, groups = "torch", []
    for where, parameters in layers.items():
        if "running_mean" in parameters:
            p = parameters
            norm = Norm(p.get("weight"), p.get("bias"), p["running_mean"], p["running_var"])
            groups.append(Group(where, norm=norm))
            continue
        found, kernel, bias = layer_weights(parameters, where)
        library = found if found != "torch" else library
        groups.append(Group(where, ordered(kernel, where, found), _one_row(bias, where)))
    return groups, library


def _one_row(bias: MaybeWeight, where: str) -> MaybeWeight:
    if bias is not None and np.ndim(bias.mean) != 1:
        raise InputError(f"{where}: a bias of {np.shape(bias.mean)}, expected one row")
    return bias
