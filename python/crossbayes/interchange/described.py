"""A model taken apart for exports: its layers with their words, its tensors, its scaling."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crossbayes._library import ArgumentError, view
from crossbayes._native import ffi, lib
from crossbayes.interchange.by_text import parse
from crossbayes.models import Model


class Described(NamedTuple):
    """A layer: what it is, what goes in and comes out, and its tensors by role."""

    at: int
    kind: str
    before: tuple[int, int, int]
    after: tuple[int, int, int]
    words: dict[str, Any]
    tensors: dict[str, Any]

    @property
    def where(self) -> str:
        return f"layer {self.at + 1}, {self.kind}"


class Scaling(NamedTuple):
    """Inputs enter a net as (x - input_mean) / input_std, outputs leave as mean + std y.

    For counts the output is the logarithm of the rate.
    """

    input_mean: Any
    input_std: Any
    target_mean: Any
    target_std: Any


def scaling(model: Model) -> Scaling:
    """How inputs and outputs of a model are scaled around its net.

    Refused for models that take logarithms of skewed columns.
    """
    checked(model)
    c, n = model._c, int(lib.xb_model_feature_count(model._c))
    if not lib.xb_model_of_images(c) and lib.xb_model_input_bend(c) != ffi.NULL:
        raise ArgumentError(
            "the model takes logarithms of skewed columns, which an export cannot hold:"
            " train it with skewed='keep'"
        )
    targets = [lib.xb_model_target_at(c, k) for k in range(len(model.targets))]
    of_images = lib.xb_model_of_images(c)
    mean = np.zeros(n) if of_images else view(lib.xb_model_input_mean(c), (n,), "f8", c)
    sd = np.ones(n) if of_images else view(lib.xb_model_input_sd(c), (n,), "f8", c)
    plain = bool(model.classes)
    return Scaling(
        mean,
        sd,
        np.zeros(1) if plain else np.array([t.mean for t in targets]),
        np.ones(1) if plain else np.array([t.sd for t in targets]),
    )


def checked(model: Any) -> Model:
    """The model, if it is one."""
    if not isinstance(model, Model):
        raise TypeError(f"expected a model, not {type(model).__name__}")
    return model


def described(model: Model) -> list[Described]:
    """The layers of a model's net, with their numbers."""
    if len(model.members) > 1:
        raise ArgumentError("the model is an ensemble: export each of model.members")
    net = lib.xb_model_net(model._c)
    shape = lib.xb_net_input(net)
    before = (int(shape.h), int(shape.w), int(shape.c))
    tensors, state, layers = model.tensors, _state(model), []
    for at, layer in enumerate(parse(model.net, before)):
        own = {
            name.split(".", 1)[1]: array
            for name, array in tensors.items()
            if name.startswith(f"{at}.")
        }
        if layer.name == "batchnorm":
            c = before[2]
            own["mean"], own["variance"], state = state[:c], state[c : 2 * c], state[2 * c :]
        layers.append(
            Described(at, layer.name, before, layer.shape, _words(layer.name, layer.text), own)
        )
        before = layer.shape
    return layers


def _state(model: Model) -> Any:
    net, weights = lib.xb_model_net(model._c), lib.xb_model_weights(model._c)
    return view(weights.state, (lib.xb_net_state_count(net),), np.float32, model._c)


def _words(kind: str, text: str) -> dict[str, Any]:
    """The options of a layer from its text, with the defaults that it leaves out."""
    words = text.split()[1:]
    after = {a: b for a, b in zip(words, words[1:])}
    if kind == "batchnorm":
        return {
            "momentum": float(after.get("momentum", 0.99)),
            "epsilon": float(after.get("epsilon", 1e-3)),
        }
    if kind == "maxpool":
        window = int(words[0])
        return {
            "window": window,
            "stride": int(after.get("stride", window)),
            "ceil": "ceil" in words,
        }
    if kind == "conv":
        stride, same = int(after.get("stride", 1)), "valid" not in words
        return {"stride": stride, "same": same, "bias": "nobias" not in words}
    return {"bias": "nobias" not in words} if kind == "dense" else {}
