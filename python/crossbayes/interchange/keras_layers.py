"""Networks of TensorFlow Probability's Keras layers, and their files, as models.

A file is read as data: the configuration is JSON, the weights are HDF5, and functions that
Keras stores as code are never run. TensorFlow is not needed for files.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from crossbayes._library import InputError, Path
from crossbayes.interchange.by_text import Group, Norm, model_by_text
from crossbayes.interchange.layers import Chain, MaybeWeight, Weight
from crossbayes.interchange.rows import softplus
from crossbayes.models import Model

_EPSILON = float(np.finfo(np.float32).eps)  # what TFP adds to every scale
TUTORIAL_LEAST = 1e-5  # what the tutorial of DenseVariational adds
TUTORIAL_SHIFT = float(np.log(np.expm1(1.0)))  # and adds before the softplus


class Layer(NamedTuple):
    """A Keras layer: its class, its configuration, its weights by their short names."""

    kind: str
    config: Mapping[str, Any]
    weights: Mapping[str, Any]

    @property
    def where(self) -> str:
        return f"{self.config.get('name', 'layer')}: {self.kind}"


def from_tfp(
    model: Any, *, variational_shift: float = TUTORIAL_SHIFT, **settings: Any
) -> Model:
    """A Keras ``Sequential`` with layers of TensorFlow Probability as a model.

    ``model`` is the object or the path of a ``.h5`` or ``.keras`` file; a ``.weights.h5``
    file also needs ``net`` and ``inputs``, because it has no activations. Layers with
    noise: Dense and Convolution1D/2D, Reparameterization, Flipout and LocalReparameterization,
    and DenseVariational with the posterior of TFP's tutorial, whose scale is
    1e-5 + softplus(``variational_shift`` + x). Further settings are those of
    :func:`crossbayes.model_from_arrays`; with ``net`` also ``order``, the names of the
    layers, where the file has layers of several kinds.
    """
    net, inputs = settings.pop("net", None), settings.pop("inputs", None)
    if net is not None:
        if inputs is None:
            raise ValueError("net= needs inputs= as well")
        groups = list(_groups(model, settings.pop("order", None), variational_shift))
        return model_by_text(net, inputs, groups, "tensorflow-probability", False, settings)
    layers, shape = _live(model) if hasattr(model, "layers") else _stored(model)
    chain = Chain(_start(layers, shape), False, "tensorflow-probability")
    for layer in layers:
        _add(chain, layer, variational_shift)
    return chain.build(**settings)


# ---- what a model is made of


def _live(model: Any) -> tuple[list[Layer], Any]:
    if type(model).__name__ != "Sequential":
        raise InputError(f"{type(model).__name__}: only Sequential models are supported")
    layers = []
    for layer in model.layers:
        kind = type(layer).__name__
        named = {_short(w.name): np.asarray(w) for w in layer.weights}
        if kind == "Normalization":
            named = {"mean": np.asarray(layer.mean), "variance": np.asarray(layer.variance)}
        if kind == "DenseVariational":
            layers.append(_live_variational(layer))
        else:
            layers.append(Layer(kind, layer.get_config(), named))
    return layers, model.input_shape


def _live_variational(layer: Any) -> Layer:
    """DenseVariational has no configuration, but it can be asked for its posterior."""
    posterior = layer._posterior(np.zeros((1, 1), np.float32))
    weights = {"mean": np.asarray(posterior.mean()), "sd": np.asarray(posterior.stddev())}
    name = getattr(layer.activation, "__name__", "linear")
    config = {"name": layer.name, "units": layer.units, "activation": name}
    return Layer("DenseVariational", {**config, "use_bias": layer.use_bias}, weights)


def _short(name: str) -> str:
    """The last part of a weight's name: dense/kernel_posterior_loc:0."""
    return name.split(":")[0].split("/")[-1]


def _stored(path: Path) -> tuple[list[Layer], Any]:
    import h5py

    if str(path).endswith(".keras"):
        with zipfile.ZipFile(path) as archive:
            config = json.loads(archive.read("config.json"))
            with h5py.File(io.BytesIO(archive.read("model.weights.h5")), "r") as file:
                return _with_vars(_configs(config), file)
    with h5py.File(path, "r") as file:
        if "model_config" not in file.attrs:
            raise InputError(f"{path}: has weights alone: give net= and inputs=")
        config = json.loads(_text(file.attrs["model_config"]))
        weights = file["model_weights"]
        layers = [
            Layer(kind, c, _collected(weights[c["name"]]) if c["name"] in weights else {})
            for kind, c in _configs(config)
        ]
    return layers, None


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _configs(config: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    if config.get("class_name") != "Sequential":
        raise InputError(f"{config.get('class_name')}: only Sequential models are supported")
    inside = config["config"]
    layers = inside["layers"] if isinstance(inside, Mapping) else inside
    return [(str(layer["class_name"]).split(">")[-1], layer["config"]) for layer in layers]


def _collected(group: Any) -> dict[str, Any]:
    """Arrays below a group of a file, by the last part of their names; priors left out."""
    found: dict[str, Any] = {}

    def visit(name: str, item: Any) -> None:
        if hasattr(item, "shape") and "prior" not in name.split("/"):
            found[_short(name)] = np.asarray(item)

    group.visititems(visit)
    return found


_VARS = {
    "noisy": (
        "kernel_posterior_loc",
        "kernel_posterior_untransformed_scale",
        "bias_posterior_loc",
    ),
    "BatchNormalization": ("gamma", "beta", "moving_mean", "moving_variance"),
    "Normalization": ("mean", "variance", "count"),
    "plain": ("kernel", "bias"),
}


def _with_vars(
    configs: Sequence[tuple[str, Mapping[str, Any]]], file: Any
) -> tuple[list[Layer], Any]:
    """Layers of a file that numbers its variables: vars/0, vars/1, ..."""
    root = file["layers"] if "layers" in file else file["_layer_checkpoint_dependencies"]
    layers, used = [], set()
    for kind, config in configs:
        names = [
            config.get("name"),
            _snake(kind),
            *(f"{_snake(kind)}_{i}" for i in range(1, 99)),
        ]
        at = next((n for n in names if n in root and n not in used), None)
        arrays = _numbered(root[at]) if at is not None and kind != "InputLayer" else []
        if at is not None and kind != "InputLayer":
            used.add(at)
        layers.append(Layer(kind, config, _named_vars(kind, config, arrays)))
    return layers, None


def _snake(kind: str) -> str:
    name = re.sub(r"\W+", "", kind)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _numbered(group: Any) -> list[Any]:
    inside = group.get("vars", {})
    arrays = [np.asarray(inside[key]) for key in sorted(inside, key=int)]
    if not arrays:  # DenseVariational keeps its posterior in a model of its own
        found: list[Any] = []
        group.visititems(
            lambda name, item: (
                found.append(np.asarray(item))
                if hasattr(item, "shape") and "posterior" in name
                else None
            )
        )
        arrays = found
    return arrays


def _named_vars(kind: str, config: Mapping[str, Any], arrays: list[Any]) -> dict[str, Any]:
    if kind == "DenseVariational":
        return {"constant": arrays[0]} if arrays else {}
    names = _VARS.get(kind, _VARS["noisy" if _noisy(kind) else "plain"])
    if kind == "BatchNormalization":
        absent = {
            "gamma": not config.get("scale", True),
            "beta": not config.get("center", True),
        }
        names = tuple(name for name in names if not absent.get(name, False))
    return dict(zip(names, arrays))


def _noisy(kind: str) -> bool:
    return kind.endswith(("Reparameterization", "Flipout"))


def _start(layers: Sequence[Layer], shape: Any) -> tuple[int, int, int]:
    """Height, width and channels of an input."""
    for layer in layers:
        if shape is not None:
            break
        for key in ("batch_input_shape", "batch_shape"):
            shape = shape or layer.config.get(key)
        built = (layer.config.get("build_config") or {}).get("input_shape")
        shape = shape or built
    if shape is None:
        first = next((la for la in layers if "kernel_posterior_loc" in la.weights), None)
        if first is None or np.ndim(first.weights["kernel_posterior_loc"]) != 2:
            raise InputError("the file does not say the shape of its inputs")
        return 1, 1, int(np.shape(first.weights["kernel_posterior_loc"])[0])
    sides = [int(side) for side in tuple(shape)[1:]]
    if len(sides) == 1:
        return 1, 1, sides[0]
    if len(sides) == 2:
        return sides[0], 1, sides[1]
    if len(sides) == 3:
        return sides[0], sides[1], sides[2]
    raise InputError(f"inputs of {len(sides)} sides are not supported")


# ---- one layer


def _add(chain: Chain, layer: Layer, shift: float) -> None:
    kind, config, where = layer.kind, layer.config, layer.where
    if kind in ("InputLayer", "Dropout"):
        return
    if kind == "Flatten":
        chain.flatten(where)
    elif kind == "BatchNormalization":
        _norm(chain, layer)
    elif kind in ("MaxPooling2D", "MaxPooling1D"):
        _pool(chain, layer)
    elif kind in ("Activation", "ReLU", "ELU", "Softmax"):
        _plain_activation(chain, layer)
    elif kind in ("Normalization", "Rescaling"):
        _scaling(chain, layer)
    elif _is_dense(kind):
        kernel, bias = _weights(layer, chain.shape[2], shift)
        chain.dense(kernel, bias, where)
        chain.activation(_name(config.get("activation")), where)
    elif _is_conv(kind):
        _conv(chain, layer, shift)
    else:
        raise InputError(f"{where}: this layer is not supported")


def _is_dense(kind: str) -> bool:
    return kind.startswith("Dense")


def _is_conv(kind: str) -> bool:
    short = kind.replace("Convolution", "Conv")
    return short.startswith(("Conv1D", "Conv2D")) and "Transpose" not in kind


def _name(activation: Any) -> str:
    """The name of a configured activation."""
    if activation is None:
        return "linear"
    if isinstance(activation, Mapping):
        activation = activation.get("config", activation.get("class_name"))
        if isinstance(activation, Mapping):
            activation = activation.get("name")
    if isinstance(activation, (list, tuple)):
        raise InputError("an activation that is code is not run; use one with a name")
    return str(activation)


def _weights(layer: Layer, inputs: int, shift: float) -> tuple[Weight, MaybeWeight]:
    w = layer.weights
    if "kernel_posterior_loc" in w:
        kernel = _posterior(w, "kernel")
        return kernel, _posterior(w, "bias") if "bias_posterior_loc" in w else None
    if layer.kind == "DenseVariational":
        return _variational(layer, inputs, shift)
    if "kernel" not in w:
        raise InputError(f"{layer.where}: has no kernel among {sorted(w)}")
    return Weight(w["kernel"]), Weight(w["bias"]) if "bias" in w else None


def _posterior(w: Mapping[str, Any], role: str) -> Weight:
    mean = np.asarray(w[f"{role}_posterior_loc"], np.float64)
    spread = w.get(f"{role}_posterior_untransformed_scale")
    return Weight(mean, None if spread is None else _EPSILON + softplus(spread))


def _variational(layer: Layer, inputs: int, shift: float) -> tuple[Weight, MaybeWeight]:
    """Means and scales in one row: kernel and bias of each, kernel first."""
    units, has_bias = int(layer.config["units"]), bool(layer.config.get("use_bias", True))
    if "sd" in layer.weights:
        both = Weight(layer.weights["mean"], layer.weights["sd"])
    else:
        both = _tutorial(layer.weights, shift, layer.where)
    return _split(both, inputs, units, has_bias, layer.where)


def _tutorial(weights: Mapping[str, Any], shift: float, where: str) -> Weight:
    flat = weights.get("constant")
    if flat is None:
        raise InputError(f"{where}: has no posterior/constant among {sorted(weights)}")
    n = np.size(flat) // 2
    flat = np.asarray(flat, np.float64)
    return Weight(flat[:n], TUTORIAL_LEAST + softplus(shift + flat[n:]))


def _split(
    both: Weight, inputs: int, units: int, has_bias: bool, where: str
) -> tuple[Weight, MaybeWeight]:
    cut = inputs * units
    n = cut + (units if has_bias else 0)
    if np.shape(both.mean) != (n,):
        raise InputError(f"{where}: a posterior of {np.shape(both.mean)}, expected {(n,)}")
    kernel = both.moved(lambda v: v[:cut].reshape(inputs, units))
    return kernel, both.moved(lambda v: v[cut:]) if has_bias else None


def _conv(chain: Chain, layer: Layer, shift: float) -> None:
    config, where = layer.config, layer.where
    kernel, bias = _weights(layer, chain.shape[2], shift)
    if np.ndim(kernel.mean) == 3:
        kernel = kernel.moved(lambda w: np.asarray(w)[:, None])
    if np.ndim(kernel.mean) != 4:
        raise InputError(f"{where}: a kernel of {np.shape(kernel.mean)} is not supported")
    if set(_numbers(config.get("dilation_rate", 1))) != {1} or config.get("groups", 1) != 1:
        raise InputError(f"{where}: dilation and groups are not supported")
    if config.get("data_format", "channels_last") != "channels_last":
        raise InputError(f"{where}: data_format is not channels_last")
    padding = str(config.get("padding", "valid")).lower()
    if padding not in ("same", "valid"):
        raise InputError(f"{where}: padding {padding!r} is not supported")
    strides = _numbers(config.get("strides", 1))
    chain.conv(kernel, bias, where, (strides[0], strides[-1]), padding)
    chain.activation(_name(config.get("activation")), where)


def _numbers(value: Any) -> list[int]:
    return [int(v) for v in value] if isinstance(value, (list, tuple)) else [int(value)]


def _norm(chain: Chain, layer: Layer) -> None:
    w, config = layer.weights, layer.config
    chain.batchnorm(
        w.get("gamma"), w.get("beta"), w["moving_mean"], w["moving_variance"],
        float(config.get("epsilon", 1e-3)), float(config.get("momentum", 0.99)), layer.where,
    )  # fmt: skip


def _pool(chain: Chain, layer: Layer) -> None:
    config = layer.config
    if str(config.get("padding", "valid")).lower() != "valid":
        raise InputError(f"{layer.where}: only padding 'valid' is supported")
    size = _numbers(config["pool_size"])
    strides = _numbers(config.get("strides") or size)
    chain.maxpool((size[0], size[-1]), (strides[0], strides[-1]), False, layer.where)


def _plain_activation(chain: Chain, layer: Layer) -> None:
    config = layer.config
    name = _name(config["activation"]) if layer.kind == "Activation" else layer.kind.lower()
    if float(config.get("alpha", 1.0) or 1.0) != 1.0 or config.get("max_value") is not None:
        raise InputError(f"{layer.where}: alpha other than 1 and max_value are not supported")
    chain.activation(name, layer.where)


def _scaling(chain: Chain, layer: Layer) -> None:
    config, w = layer.config, layer.weights
    if layer.kind == "Rescaling":
        scale, offset = np.asarray(config["scale"], float), np.asarray(config["offset"], float)
        chain.scale_inputs(-offset / scale, 1 / scale, layer.where)
        return
    mean = w.get("mean", config.get("mean"))
    variance = w.get("variance", config.get("variance"))
    if mean is None or variance is None:
        raise InputError(f"{layer.where}: has no mean and variance; was adapt() called?")
    sd = np.maximum(np.sqrt(np.asarray(variance, float)), 1e-7)  # Keras's own smallest
    mean, sd = np.asarray(mean, float).reshape(-1), sd.reshape(-1)
    chain.scale_inputs(mean, sd, layer.where)


# ---- weights alone


def _groups(path: Path, given: Sequence[str] | None, shift: float) -> Iterator[Group]:
    """The layers of a file of weights, in the order in which Keras numbered them."""
    import h5py

    with h5py.File(path, "r") as file:
        names = ("layers", "_layer_checkpoint_dependencies", "model_weights")
        at = next((name for name in names if name in file), None)
        root = file[at] if at is not None else file
        order = list(given or [_text(n) for n in file.attrs.get("layer_names", [])])
        for name in order or _by_age([n for n in root if _numbered(root[n])], path):
            if name not in root:
                raise InputError(f"{path}: no layer {name!r}; there are {', '.join(root)}")
            numbered = "vars" in root[name]
            arrays = (
                _numbered(root[name]) if numbered else list(_collected(root[name]).values())
            )
            if arrays:
                named = _collected(root[name]) if not numbered else None
                yield _group(name, arrays, named, shift)


def _by_age(names: Sequence[str], path: Path) -> list[str]:
    """Layers in the order in which they were made; only those of one kind are numbered."""
    if len({_age(name)[0] for name in names}) > 1:
        raise InputError(
            f"{path}: does not say the order of its layers: give order= with"
            f" {', '.join(sorted(names, key=_age))}"
        )
    return sorted(names, key=_age)


def _age(name: str) -> tuple[str, int]:
    """dense, dense_1, dense_2, ..., dense_10."""
    head, _, tail = name.rpartition("_")
    return (head, int(tail)) if tail.isdigit() else (name, 0)


def _group(
    where: str, arrays: list[Any], named: Mapping[str, Any] | None, shift: float
) -> Group:
    if len(arrays) == 1 and np.ndim(arrays[0]) == 1:
        return Group(where, _tutorial({"constant": arrays[0]}, shift, where))
    if named is not None and "kernel_posterior_loc" in named:
        bias = _posterior(named, "bias") if "bias_posterior_loc" in named else None
        return Group(where, _spatial(_posterior(named, "kernel")), bias)
    if len(arrays) == 4 and all(np.ndim(a) == 1 for a in arrays):
        return Group(where, norm=Norm(*arrays))
    if len(arrays) >= 2 and np.shape(arrays[0]) == np.shape(arrays[1]):
        bias = Weight(arrays[2]) if len(arrays) > 2 else None
        return Group(where, _spatial(Weight(arrays[0], _EPSILON + softplus(arrays[1]))), bias)
    return Group(where, Weight(arrays[0]), Weight(arrays[1]) if len(arrays) > 1 else None)


def _spatial(kernel: Weight) -> Weight:
    one = np.ndim(kernel.mean) == 3
    return kernel.moved(lambda w: np.asarray(w)[:, None]) if one else kernel
