"""Weights without their net: the net's text says what stands between them.

A file of weights has no activations, strides or windows. The caller gives the net as this
library writes it, "dense 20, relu, dense 1", and the weights in its order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from crossbayes import _options
from crossbayes._library import InputError, Session, count, encoded, text
from crossbayes._native import ffi, lib
from crossbayes.interchange.layers import Chain, MaybeWeight, Weight
from crossbayes.models import Model

Inputs = Union[int, "tuple[int, int, int]"]


class Norm(NamedTuple):
    """The numbers of a batch normalisation; None where it has no such tensor."""

    scale: Any
    shift: Any
    mean: Any
    variance: Any


class Group(NamedTuple):
    """The weights of one layer, kernels in this library's order."""

    where: str
    kernel: MaybeWeight = None
    bias: MaybeWeight = None
    norm: Optional[Norm] = None  # noqa: UP045 (read at run time by 3.9)


class Parsed(NamedTuple):
    """A layer of a net: its text, its name, and the shape that it gives."""

    text: str
    name: str
    shape: tuple[int, int, int]


def shape_of(inputs: Inputs | Sequence[int]) -> tuple[int, int, int]:
    """Height, width and channels; a number of inputs is 1 x 1 x n."""
    sides = (1, 1, inputs) if isinstance(inputs, (int, np.integer)) else tuple(inputs)
    if len(sides) != 3:
        raise ValueError(f"inputs has {len(sides)} sides, expected height, width, channels")
    h, w, c = (count(side, "inputs", 1, 2**31 - 1) for side in sides)
    return h, w, c


def parse(net: str, shape: tuple[int, int, int]) -> list[Parsed]:
    """The layers of a net by the library's own parser."""
    session = Session()
    where = ffi.new("xb_shape *", shape)[0]
    options = _options.make("net", {}, [])
    made = session.make(lib.xb_net_parse, encoded(net, "net"), where, options)
    words = text(lib.xb_net_text(made)).split(", ")
    layers = []
    for at, word in enumerate(words):
        out = lib.xb_net_layer_output(made, at)
        name = text(lib.xb_net_layer_name(made, at))
        layers.append(Parsed(word, name, (out.h, out.w, out.c)))
    return layers


def model_by_text(
    net: str,
    inputs: Inputs | Sequence[int],
    groups: Sequence[Group],
    library: str,
    channels_first: bool,
    settings: Mapping[str, Any],
) -> Model:
    """A model of the net's layers with the groups' weights, in order."""
    shape = shape_of(inputs)
    chain = Chain(shape, channels_first, library)
    left = list(groups)
    for layer in parse(net, shape):
        _place(chain, layer, left)
    if left:
        raise InputError(f"{left[0].where}: the net {net!r} has no layer left for it")
    return chain.build(**settings)


def _place(chain: Chain, layer: Parsed, left: list[Group]) -> None:
    if layer.name == "flatten":
        chain.flatten(layer.text)
    elif layer.name == "batchnorm":
        group = _next(layer, left)
        if group.norm is None:
            raise InputError(
                f"{group.where}: is not a batch normalisation, as {layer.text!r} is"
            )
        epsilon = _word(layer.text, "epsilon", 1e-3)
        momentum = _word(layer.text, "momentum", 0.99)
        chain.batchnorm(*group.norm, epsilon, momentum, group.where)
    elif layer.name in ("dense", "conv"):
        group = _next(layer, left)
        kernel, bias = _checked(chain, layer, group)
        chain.placed(layer.text, layer.shape, kernel, bias)
    else:
        chain.placed(layer.text, layer.shape, None, None)


def _next(layer: Parsed, left: list[Group]) -> Group:
    if not left:
        raise InputError(f"there are no weights for the layer {layer.text!r}")
    return left.pop(0)


def _word(text_: str, name: str, other: float) -> float:
    words = text_.split()
    return float(words[words.index(name) + 1]) if name in words else other


def _checked(chain: Chain, layer: Parsed, group: Group) -> tuple[Weight, MaybeWeight]:
    """The kernel and bias of a group, if they are what the layer takes."""
    if group.kernel is None:
        raise InputError(f"{group.where}: has no kernel, as {layer.text!r} needs")
    h, w, c = chain.shape
    units = layer.shape[2]
    without = "nobias" in layer.text.split()
    if np.ndim(group.kernel.mean) == 1 and layer.name == "dense":
        group = _cut(group, h * w * c, units, without)
    assert group.kernel is not None
    have = np.shape(group.kernel.mean)
    wanted: tuple[int, ...] = (h * w * c, units)
    if layer.name == "conv":
        sides = next(word for word in layer.text.split()[2:] if "x" in word).split("x")
        wanted = (int(sides[0]), int(sides[1]), c, units)
    if have != wanted:
        raise InputError(
            f"{group.where}: a kernel of {have}, but {layer.text!r} takes {wanted}"
        )
    if without != (group.bias is None):
        has = "has no bias" if group.bias is None else "has a bias"
        raise InputError(f"{group.where}: {has}, unlike {layer.text!r}")
    return group.kernel, group.bias


def _cut(group: Group, inputs: int, units: int, without: bool) -> Group:
    """A layer whose weights are one row, the kernel and then the bias."""
    assert group.kernel is not None
    cut = inputs * units
    n = cut + (0 if without else units)
    if np.shape(group.kernel.mean) != (n,):
        have = np.shape(group.kernel.mean)
        raise InputError(f"{group.where}: a posterior of {have}, expected {(n,)}")
    kernel = group.kernel.moved(lambda v: v[:cut].reshape(inputs, units))
    bias = None if without else group.kernel.moved(lambda v: v[cut:])
    return Group(group.where, kernel, bias)
