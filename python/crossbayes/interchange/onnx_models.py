"""Models as ONNX graphs: the noise is an input, or a number of draws is part of the file.

A graph has no random numbers of its own, so that every run of it can be repeated: the input
"z.0.kernel" takes the standardised draws of that tensor, mean 0 and variance 1, in this
library's order. Zeros there give the net at its means.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from crossbayes._library import ArgumentError, Path, count
from crossbayes._native import lib
from crossbayes.draws import Generator
from crossbayes.interchange.described import Described, checked, described, scaling
from crossbayes.laws import Law, law
from crossbayes.models import Model

OPSET = 17
_PREDICT_STEP = 2**32 - 1  # (P1) where predictions draw
_PLAIN = {"relu": "Relu", "elu": "Elu", "tanh": "Tanh", "sigmoid": "Sigmoid"}


class _Graph:
    """Nodes and constants of a graph as they come."""

    def __init__(self) -> None:
        from onnx import helper, numpy_helper

        self.helper, self.numpy = helper, numpy_helper
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.inputs: list[Any] = []
        self.count = 0

    def constant(self, name: str, values: Any, dtype: Any = np.float32) -> str:
        if name not in self.constants:
            array = np.ascontiguousarray(values, dtype)
            self.constants[name] = self.numpy.from_array(array, name)
        return name

    def node(self, kind: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        self.count += 1
        out = name or f"{kind.lower()}_{self.count}"
        self.nodes.append(self.helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def input(self, name: str, shape: Any) -> str:
        kind = self.helper.np_dtype_to_tensor_dtype(np.dtype(np.float32))
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, shape))
        return name

    def model(self, outputs: dict[str, Any], metadata: dict[str, str]) -> Any:
        kind = self.helper.np_dtype_to_tensor_dtype(np.dtype(np.float32))
        infos = [
            self.helper.make_tensor_value_info(name, kind, shape)
            for name, shape in outputs.items()
        ]
        graph = self.helper.make_graph(
            self.nodes, "crossbayes", self.inputs, infos, list(self.constants.values())
        )
        opset = [self.helper.make_opsetid("", OPSET)]
        made = self.helper.make_model(
            graph, opset_imports=opset, producer_name="crossbayes", ir_version=9
        )
        self.helper.set_model_props(made, metadata)
        return made


def to_onnx(
    model: Model,
    path: Path | None = None,
    *,
    draws: int | None = None,
    seed: int = 1,
    law: Law | str | None = None,
) -> Any:
    """A model as an ONNX graph, saved where ``path`` says.

    The input "x" is [n][inputs] in the data's own units, the output "y" [n][targets] in the
    target's (rates for counts), or "p" [n][classes] for classes. Without ``draws`` each
    random tensor has an input for its noise, "z.0.kernel", with the tensor's shape: draws of
    any law, mean 0 and variance 1. With ``draws`` the graph holds that many draws of the
    weights, those of ``Model.draws`` with this seed and law; "draws" are all outputs
    [draws][n][...], "y" or "p" their mean and "std" their standard deviation.

    Refused are ensembles (export each of ``model.members``), models with a Gaussian process
    (``gp``) and models that take logarithms of skewed columns.
    """
    checked(model)
    if not math.isnan(model.process_length):
        raise ArgumentError(
            "the model has a Gaussian process beside its net, which an ONNX graph cannot"
            " hold: train it without gp"
        )
    import onnx

    layers, graph = described(model), _Graph()
    x = _scaled(graph, model, graph.input("x", ["n", sum_of(layers[0].before)]))
    metadata = {"net": model.net, "law": model.law.text, "target": model.target}
    if draws is None:
        out = _net(graph, model, layers, x, None)
        name = "p" if model.classes else "y"
        graph.node("Identity", out, name=name)
        made = graph.model({name: ["n", layers[-1].after[2]]}, metadata)
    else:
        s = count(draws, "draws", 1, 10_000)
        made = _unrolled(graph, model, layers, x, s, Generator(seed, "weight"), law, metadata)
    onnx.checker.check_model(made)
    if path is not None:
        onnx.save(made, path)
    return made


def sum_of(shape: tuple[int, int, int]) -> int:
    return shape[0] * shape[1] * shape[2]


def _unrolled(
    graph: _Graph,
    model: Model,
    layers: list[Described],
    x: str,
    draws: int,
    generator: Generator,
    law_: Law | str | None,
    metadata: dict[str, str],
) -> Any:
    noise = model.law if law_ is None else law(law_)
    every = []
    for s in range(draws):
        drawn = {"generator": generator, "law": noise, "sample": s}
        out = _net(graph, model, layers, x, drawn)
        axes = graph.constant("first_axis", [0], np.int64)
        every.append(graph.node("Unsqueeze", out, axes))
    both = graph.node("Concat", *every, axis=0, name="draws")
    name, outputs = "p" if model.classes else "y", layers[-1].after[2]
    mean = graph.node("ReduceMean", both, axes=[0], keepdims=0, name=name)
    off = graph.node("Sub", both, mean)
    square = graph.node("ReduceMean", graph.node("Mul", off, off), axes=[0], keepdims=0)
    graph.node("Sqrt", square, name="std")
    shapes = {name: ["n", outputs], "std": ["n", outputs], "draws": [draws, "n", outputs]}
    return graph.model(shapes, {**metadata, "draws": str(draws), "law": noise.text})


def _scaled(graph: _Graph, model: Model, x: str) -> str:
    """Inputs as the net takes them: (x - mean) / std."""
    s = scaling(model)
    if not np.any(s.input_mean) and np.all(s.input_std == 1):
        return x
    shifted = graph.node("Sub", x, graph.constant("input_mean", s.input_mean))
    return graph.node("Div", shifted, graph.constant("input_std", s.input_std))


def _net(graph: _Graph, model: Model, layers: list[Described], x: str, drawn: Any) -> str:
    """One pass through the net; drawn None: noise comes from inputs of the graph."""
    h, w, c = layers[0].before
    image = h * w > 1
    if image:  # [n][h][w][c] as one row becomes [n][c][h][w], which ONNX wants
        shape = graph.constant("image_shape", [-1, h, w, c], np.int64)
        x = graph.node("Transpose", graph.node("Reshape", x, shape), perm=[0, 3, 1, 2])
    number = 0
    for layer in layers:
        x, image = _layer(graph, layer, x, image, drawn, number)
        number += len([name for name in layer.tensors if name.endswith(".mu")])
    if model.classes:
        return graph.node("Softmax", x, axis=1)
    s = scaling(model)
    scaled = graph.node("Mul", x, graph.constant("target_std", s.target_std))
    out = graph.node("Add", scaled, graph.constant("target_mean", s.target_mean))
    return graph.node("Exp", out) if lib.xb_model_of_counts(model._c) else out


def _layer(
    graph: _Graph, layer: Described, x: str, image: bool, drawn: Any, number: int
) -> tuple[str, bool]:
    if layer.kind in _PLAIN:
        return graph.node(_PLAIN[layer.kind], x), image
    if layer.kind == "flatten":
        if image:
            x = graph.node("Transpose", x, perm=[0, 2, 3, 1])
        return graph.node("Flatten", x, axis=1), False
    if layer.kind == "batchnorm":
        return _norm(graph, layer, x), image
    if layer.kind == "maxpool":
        w = layer.words
        size, stride = [w["window"]] * 2, [w["stride"]] * 2
        ceil = int(w["ceil"])
        return graph.node(
            "MaxPool", x, kernel_shape=size, strides=stride, ceil_mode=ceil
        ), image
    if layer.kind == "dense":
        y = graph.node("MatMul", x, _weights(graph, layer, "kernel", drawn, number))
        if layer.words["bias"]:
            y = graph.node("Add", y, _weights(graph, layer, "bias", drawn, number + 1))
        return y, False
    if layer.kind == "conv":
        return _conv(graph, layer, x, drawn, number), True
    raise ArgumentError(f"{layer.where}: has no ONNX form here")


def _conv(graph: _Graph, layer: Described, x: str, drawn: Any, number: int) -> str:
    kernel = _weights(graph, layer, "kernel", drawn, number)
    turned = graph.node("Transpose", kernel, perm=[3, 2, 0, 1])
    inputs = [x, turned]
    if layer.words["bias"]:
        inputs.append(_weights(graph, layer, "bias", drawn, number + 1))
    padding = "SAME_UPPER" if layer.words["same"] else "VALID"
    strides = [layer.words["stride"]] * 2
    return graph.node("Conv", *inputs, auto_pad=padding, strides=strides)


def _norm(graph: _Graph, layer: Described, x: str) -> str:
    names = ("scale.mu", "shift.mu", "mean", "variance")
    values = [graph.constant(f"{layer.at}.{n}", layer.tensors[n]) for n in names]
    return graph.node("BatchNormalization", x, *values, epsilon=layer.words["epsilon"])


def _weights(graph: _Graph, layer: Described, role: str, drawn: Any, number: int) -> str:
    """The name of a tensor's values: mu, or mu + sigma z (N7)."""
    name = f"{layer.at}.{role}"
    mu, sigma = layer.tensors[f"{role}.mu"], layer.tensors.get(f"{role}.sigma")
    if sigma is None:
        return graph.constant(f"{name}.mu", mu)
    if drawn is not None:
        place = {"tensor": number, "sample": drawn["sample"], "step": _PREDICT_STEP}
        z = drawn["generator"].draw(drawn["law"], mu.shape, **place)
        return graph.constant(f"{name}.draw{drawn['sample']}", mu + sigma * z)
    z_name = graph.input(f"z.{name}", list(mu.shape))
    noise = graph.node("Mul", graph.constant(f"{name}.sigma", sigma), z_name)
    return graph.node("Add", graph.constant(f"{name}.mu", mu), noise)
