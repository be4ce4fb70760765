"""Guides of Pyro and NumPyro, and variational states of posteriors, as models.

There a network is a program of the user's own: a guide knows sites with names and shapes,
and nothing of layers. The caller gives the net's text; sites are its kernels and biases in
order, or as ``sites`` names them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from crossbayes._library import InputError
from crossbayes.interchange.by_text import Group, Inputs, model_by_text, parse, shape_of
from crossbayes.interchange.layers import MaybeWeight, Weight
from crossbayes.interchange.rows import exponential, positive, softplus
from crossbayes.models import Model

Sites = Sequence[Union[str, "tuple[str, str | None]"]]
Layout = Mapping[str, Sequence[int]]
ORDERS = ("in,out", "out,in")


def from_numpyro(
    params: Mapping[str, Any],
    *,
    net: str,
    inputs: Inputs,
    sites: Sites | None = None,
    layout: Layout | None = None,
    ignore: Sequence[str] = (),
    order: str = "in,out",
    **settings: Any,
) -> Model:
    """A NumPyro AutoNormal or AutoDiagonalNormal guide as a model.

    ``params`` is what ``svi.run(...).params`` or ``get_params`` gives. ``net`` has the
    layers and ``inputs`` is the number of inputs. ``sites`` pairs each kernel with its bias,
    ``[("w1", "b1"), ("w2", "b2")]``; without it sites are taken in their own order. A site
    that is no weight, such as the scale of the noise, is named in ``ignore``; give its value
    as ``noise_std``. ``order`` says which side of a kernel comes first.

    AutoDiagonalNormal has one row for all sites: ``layout`` has their names and shapes in the
    order of the program, those that are ignored too, ``{"w1": (3, 4), "b1": (4,), ...}``.
    """
    _mapping(params, "params")
    found = {name: np.asarray(value) for name, value in params.items()}
    if "auto_loc" in found and "auto_scale" in found:
        flat = Weight(found["auto_loc"], positive(found["auto_scale"]))
        weights = _flat(flat, layout, "numpyro")
    else:
        weights = _paired(found, "{}_auto_loc", "{}_auto_scale", positive)
    return _from_sites(weights, net, inputs, sites, ignore, order, "numpyro", settings)


def from_pyro(
    state: Mapping[str, Any],
    *,
    net: str,
    inputs: Inputs,
    sites: Sites | None = None,
    layout: Layout | None = None,
    ignore: Sequence[str] = (),
    order: str = "out,in",
    **settings: Any,
) -> Model:
    """A Pyro AutoNormal or AutoDiagonalNormal guide as a model.

    ``state`` is the guide's ``state_dict()`` or the guide itself. Kernels of a PyroModule's
    Linear are [out][in], which is the default of ``order`` here. The rest is as in
    :func:`from_numpyro`.
    """
    if hasattr(state, "state_dict"):
        state = state.state_dict()
    _mapping(state, "state")
    found = {name: _host(value) for name, value in state.items()}
    if "loc" in found and "scale_unconstrained" in found:
        flat = Weight(found["loc"], softplus(found["scale_unconstrained"]))
        weights = _flat(flat, layout, "pyro")
    else:
        weights = _paired(found, "locs.{}_unconstrained", "scales.{}_unconstrained", softplus)
    return _from_sites(weights, net, inputs, sites, ignore, order, "pyro", settings)


def from_posteriors(
    state: Any, *, net: str, inputs: Inputs, sites: Sites | None = None, **settings: Any
) -> Model:
    """The state of posteriors' ``vi.diag`` as a model: its ``params`` and ``log_sd_diag``.

    ``state`` is the state itself, or a mapping with these two.
    """
    names = ("params", "log_sd_diag")
    found = state if isinstance(state, Mapping) else {n: getattr(state, n, None) for n in names}
    means, spreads = found.get("params"), found.get("log_sd_diag")
    if means is None or spreads is None:
        raise InputError("expected params and log_sd_diag, as posteriors.vi.diag has them")
    weights = {
        name: Weight(_host(means[name]), exponential(_host(spreads[name]))) for name in means
    }
    return _from_sites(weights, net, inputs, sites, (), "out,in", "posteriors", settings)


def _mapping(value: Any, name: str) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: expected arrays by name, not {type(value).__name__}")


def _host(value: Any) -> Any:
    if hasattr(value, "detach"):
        value = value.detach().cpu().double().numpy()
    return np.asarray(value)


def _paired(found: Mapping[str, Any], loc: str, scale: str, sigma: Any) -> dict[str, Weight]:
    """Sites by their names, from the names of their means and scales."""
    head, tail = loc.split("{}")
    weights = {}
    for name, mean in found.items():
        if not (name.startswith(head) and name.endswith(tail)):
            continue
        site = name[len(head) : len(name) - len(tail) or None]
        if scale.format(site) in found:
            weights[site] = Weight(mean, sigma(found[scale.format(site)]))
    return weights


def _from_sites(
    weights: dict[str, Weight],
    net: str,
    inputs: Inputs,
    sites: Sites | None,
    ignore: Sequence[str],
    order: str,
    library: str,
    settings: Mapping[str, Any],
) -> Model:
    if not weights:
        raise InputError(f"{library}: there is no site with a mean and a scale")
    for name in ignore:
        if weights.pop(name, None) is None:
            raise InputError(f"ignore: there is no site {name!r}")
    pairs = _pairs(net, inputs, weights, library) if sites is None else _given(sites)
    groups = []
    for kernel, bias in pairs:
        missing = next((n for n in (kernel, bias) if n is not None and n not in weights), None)
        if missing is not None:
            there = ", ".join(weights)
            raise InputError(f"there is no site {missing!r} left; there are {there}")
        kernel_weight = _ordered(weights.pop(kernel), order, kernel)
        groups.append(Group(kernel, kernel_weight, _row(weights, bias)))
    if weights:
        raise InputError(
            f"the site {next(iter(weights))!r} is in no layer of {net!r}: name it in ignore="
            " if it is no weight"
        )
    return model_by_text(net, inputs, groups, library, order == "out,in", settings)


def _given(sites: Sites) -> list[tuple[str, str | None]]:
    return [(s, None) if isinstance(s, str) else (str(s[0]), s[1]) for s in sites]


def _pairs(
    net: str, inputs: Inputs, weights: Mapping[str, Weight], library: str
) -> list[tuple[str, str | None]]:
    """Kernels and biases of the net's layers: sites of two sides and of one, in order."""
    names = sorted(weights, key=_natural) if library == "numpyro" else list(weights)
    kernels = [name for name in names if np.ndim(weights[name].mean) >= 2]
    biases = [name for name in names if np.ndim(weights[name].mean) == 1]
    pairs: list[tuple[str, str | None]] = []
    for layer in parse(net, shape_of(inputs)):
        if layer.name not in ("dense", "conv"):
            continue
        plain = "nobias" in layer.text.split()
        if not kernels or not (plain or biases):
            raise InputError(f"there is no site left for the layer {layer.text!r}")
        pairs.append((kernels.pop(0), None if plain else biases.pop(0)))
    return pairs


def _natural(name: str) -> list[Any]:
    """w2 before w10: JAX sorts the names of a mapping by their letters."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _ordered(kernel: Weight, order: str, site: str) -> Weight:
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}, expected one of {', '.join(ORDERS)}")
    if np.ndim(kernel.mean) not in (2, 4):
        raise InputError(f"site {site!r}: {np.shape(kernel.mean)} is not the shape of a kernel")
    if order == "in,out":
        return kernel
    axes = (1, 0) if np.ndim(kernel.mean) == 2 else (2, 3, 1, 0)
    return kernel.moved(lambda w: np.transpose(np.asarray(w), axes))


def _row(weights: dict[str, Weight], bias: str | None) -> MaybeWeight:
    """A bias, which some programs write as [1][out]."""
    return (
        None if bias is None else weights.pop(bias).moved(lambda b: np.asarray(b).reshape(-1))
    )


def _flat(flat: Weight, layout: Layout | None, library: str) -> dict[str, Weight]:
    """The sites of a guide that has one row for all of them."""
    if layout is None:
        raise InputError(
            f"{library}: this guide has one row for all sites: give layout= with their shapes"
        )
    size = sum(math.prod(shape) for shape in layout.values())
    if size != np.size(flat.mean):
        raise InputError(f"{library}: {np.size(flat.mean)} numbers, but layout= has {size}")
    weights, at = {}, 0
    for name in layout:
        shape = tuple(int(side) for side in layout[name])
        piece = slice(at, at + math.prod(shape))
        weights[name] = flat.moved(lambda v, p=piece, s=shape: np.ravel(v)[p].reshape(s))
        at = piece.stop
    return weights
