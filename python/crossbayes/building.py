"""A model from arrays: a network that was trained elsewhere, with noise on its weights."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crossbayes import _options
from crossbayes._library import Session, count, doubles, encoded, named_enum, pointer, text
from crossbayes._native import ffi, lib
from crossbayes.laws import Law, law
from crossbayes.models import Model

Tensors = Mapping[str, npt.ArrayLike]


def model_from_arrays(
    net: str,
    tensors: Tensors,
    *,
    inputs: int | tuple[int, int, int],
    sigma: float | None = None,
    law: Law | str = "gaussian",
    noise_std: Any = 0.0,
    classes: Sequence[Any] | None = None,
    input_mean: npt.ArrayLike | None = None,
    input_std: npt.ArrayLike | None = None,
    target_mean: Any = 0.0,
    target_std: Any = 1.0,
    features: Sequence[str] | None = None,
    target: str | Sequence[str] = "y",
    random: str | Collection[str] = "kernels",
    prior: str = "normal:sd=1",
    provenance: Mapping[str, Any] | None = None,
) -> Model:
    """A model from weights as arrays, e.g. of a network trained elsewhere.

    ``net`` is the text of the layers and ``inputs`` the number of inputs (or height, width
    and channels). ``tensors``: "0.kernel" [in][out] (conv [kh][kw][in][out]), "0.bias",
    ..., layers counted from 0 with activations; standard deviations as "0.kernel.sigma",
    and ``sigma`` for all that have none. "0.kernel.mu" is a name of the means too, so
    ``model.tensors`` will do. ``classes``: their names, and the outputs are logits; else
    the one output is a number, and ``noise_std``, above 0, is the sd of its noise. ``target``
    may be a list of names, one for each output of a net with several; ``noise_std``,
    ``target_mean`` and ``target_std`` may then be lists too. ``random``: kernels, all, none, or
    the names of random tensors.

    >>> import numpy as np
    >>> line = {"0.kernel": [[2.0]], "0.bias": [1.0]}
    >>> m = model_from_arrays("dense 1", line, inputs=1, sigma=0.1, noise_std=0.5)
    >>> p = m.predict([[3.0]], draws=4000)
    >>> bool(abs(p.mean[0] - 7) < 0.05 and abs(p.epistemic[0] - 0.3) < 0.02)
    True
    """
    keep: list[Any] = []
    session = Session()
    shape = (1, 1, inputs) if isinstance(inputs, (int, np.integer)) else tuple(inputs)
    sides = [count(side, "inputs", 1, 2**31 - 1) for side in shape]
    where = ffi.new("xb_shape *", sides)[0]
    by_name = not isinstance(random, str)
    options = _options.make("net", {"stochastic": "none" if by_name else random}, keep)
    parsed = session.make(lib.xb_net_parse, encoded(net, "net"), where, options)
    for name in random if by_name else ():
        at = lib.xb_net_tensor_find(parsed, encoded(name, "random"))
        if at < 0:
            raise ValueError(f"random: the net has no tensor {name!r}")
        session.check(lib.xb_net_set_stochastic(session.ctx, parsed, at, True))
    mu, spread = _blocks(parsed, dict(tensors), sigma)
    state = _state(parsed, tensors)
    n = int(np.prod(sides))
    parts = ffi.new("xb_model_parts *")
    noise = _law(law)
    parts.net, parts.law = parsed, noise._c
    parts.weights.mu, parts.weights.sigma = pointer(mu, "float"), pointer(spread, "float")
    if state.size:
        parts.weights.state = pointer(state, "float")
    parts.prior = _options.parsed("xb_prior", prior, "prior")
    parts.likelihood = named_enum(
        "likelihood", "softmax" if classes is not None else "gaussian"
    )
    if provenance is not None:
        parts.provenance = _kept(json.dumps(provenance), keep)
    several = not isinstance(target, str)
    if classes is None and np.ndim(noise_std) == 0 and noise_std == 0:
        raise ValueError("noise_std is 0, expected the sd of the target's noise, above 0")
    if not several:
        parts.noise_sd, parts.target_mean, parts.target_sd = noise_std, target_mean, target_std
        parts.target_name = _kept(str(target), keep)
    parts.feature_name = _names(features, n, 1, keep)
    if classes is not None:
        parts.classes = len(classes)
        parts.class_name = _names([str(c) for c in classes], len(classes), 0, keep)
    for name, values in (("input_mean", input_mean), ("input_sd", input_std)):
        if values is not None:
            array = np.ascontiguousarray(np.broadcast_to(doubles(values, name), (n,)))
            keep.append(array)
            setattr(parts, name, pointer(array))
    if not several:
        return Model(session.make(lib.xb_model_create, parts))
    each = _targets(list(target), noise_std, target_mean, target_std, keep)
    return Model(session.make(lib.xb_model_create_targets, parts, each, len(each)))


def _targets(names: list[str], noise_std: Any, mean: Any, std: Any, keep: list[Any]) -> Any:
    """xb_model_target of each name; a number stands for all of them."""
    made = ffi.new("xb_model_target[]", len(names))
    columns = (("noise_sd", noise_std), ("mean", mean), ("sd", std))
    for field, values in columns:
        array = doubles(values, field)
        if array.ndim and array.shape != (len(names),):
            raise ValueError(f"{field} has the shape {array.shape}, expected ({len(names)},)")
        for at, value in enumerate(np.broadcast_to(array, (len(names),))):
            setattr(made[at], field, value)
    for at, name in enumerate(names):
        made[at].name = _kept(name, keep)
    return made


_law = law  # inside the function, `law` is an argument


def _blocks(net: Any, tensors: dict[str, Any], sigma: float | None) -> tuple[Any, Any]:
    """Means and standard deviations in the net's layout; every tensor is used once."""
    size = int(lib.xb_net_param_count(net))
    mu, spread = np.zeros(size, np.float32), np.zeros(size, np.float32)
    tensors.pop("state", None)
    given = ", ".join(sorted(tensors))
    for i in range(lib.xb_net_tensor_count(net)):
        tensor = lib.xb_net_tensor_at(net, i)
        name, shape = text(tensor.name), tuple(tensor.shape[d] for d in range(tensor.ndim))
        part = slice(tensor.offset, tensor.offset + tensor.size)
        mean = tensors.pop(name, tensors.pop(f"{name}.mu", None))
        if mean is None:
            raise ValueError(
                f"no tensor {name!r} of shape {shape}; there are {given or 'none'}"
            )
        mu[part] = _flat(mean, name, shape)
        sd = tensors.pop(f"{name}.sigma", sigma)
        if not tensor.stochastic:
            continue
        if sd is None:
            raise ValueError(f"no standard deviations: set sigma, or give '{name}.sigma'")
        sd = np.broadcast_to(sd, shape) if np.ndim(sd) == 0 else sd
        spread[part] = _flat(sd, f"{name}.sigma", shape)
    if tensors:
        raise ValueError(f"the net has no tensor {sorted(tensors)[0]!r}")
    return mu, spread


def _flat(values: Any, name: str, shape: tuple[int, ...]) -> Any:
    array = doubles(values, name)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}, expected {shape}")
    return array.reshape(-1)


def _state(net: Any, tensors: Tensors) -> npt.NDArray[np.float32]:
    """Running means and variances of batchnorm."""
    n = int(lib.xb_net_state_count(net))
    state = np.zeros(n, np.float32)
    if n and "state" in tensors:
        state[:] = _flat(tensors["state"], "state", (n,))
    elif n:
        lib.xb_net_state_start(net, pointer(state, "float"))
    return state


def _kept(word: str, keep: list[Any]) -> Any:
    keep.append(ffi.new("char[]", encoded(word, "name")))
    return keep[-1]


def _names(words: Sequence[str] | None, n: int, first: int, keep: list[Any]) -> Any:
    """Names as C takes them; numbers where there are none."""
    given = [str(i + first) for i in range(n)] if words is None else list(words)
    if len(given) != n:
        raise ValueError(f"{len(given)} names, expected {n}")
    keep.append(ffi.new("char *[]", [_kept(word, keep) for word in given]))
    return keep[-1]
