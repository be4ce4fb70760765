"""How libraries name means and spreads of a layer, and which spread gives which sigma.

There is one row for each library. A layer is recognised by the names of its parameters alone,
so that files can be read where the library itself is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, NamedTuple

import numpy as np

from crossbayes._library import InputError
from crossbayes.interchange.layers import Weight

Arrays = Mapping[str, Any]


def softplus(rho: Any) -> Any:
    """log(1 + exp(rho)) in double, without overflow."""
    return np.logaddexp(0.0, np.asarray(rho, np.float64))


def exponential(rho: Any) -> Any:
    return np.exp(np.asarray(rho, np.float64))


def positive(scale: Any) -> Any:
    return np.asarray(scale, np.float64)


def inverse_softplus(sigma: Any) -> Any:
    """The rho whose softplus is sigma: sigma + log(1 - exp(-sigma))."""
    sigma = np.asarray(sigma, np.float64)
    return sigma + np.log(-np.expm1(-sigma))


class Row(NamedTuple):
    """A library: the names of a kernel's and a bias's mean and spread."""

    library: str
    kernel: tuple[str, str]
    bias: tuple[str, str]
    sigma: Callable[[Any], Any]


OURS = "crossbayes.torch"  # kernels in this library's order already
ROWS = (
    Row(OURS, ("kernel_mu", "kernel_log_sigma"), ("bias_mu", "bias_log_sigma"), exponential),
    Row("bayesian-torch", ("mu_weight", "rho_weight"), ("mu_bias", "rho_bias"), softplus),
    Row("bayesian-torch", ("mu_kernel", "rho_kernel"), ("mu_bias", "rho_bias"), softplus),
    Row(
        "torchbnn",
        ("weight_mu", "weight_log_sigma"),
        ("bias_mu", "bias_log_sigma"),
        exponential,
    ),
    Row("BLiTZ", ("weight_mu", "weight_rho"), ("bias_mu", "bias_rho"), softplus),
    # What torch-uncertainty calls sigma is rho.
    Row(
        "torch-uncertainty", ("weight_mu", "weight_sigma"), ("bias_mu", "bias_sigma"), softplus
    ),
    Row("PyTorch-BayesianCNN", ("W_mu", "W_rho"), ("bias_mu", "bias_rho"), softplus),
)


def row_of(names: Any) -> Row | None:
    """The row whose kernel these parameters have; None: a layer without noise."""
    return next((row for row in ROWS if set(row.kernel) <= set(names)), None)


def layer_weights(parameters: Arrays, where: str) -> tuple[str, Weight, Weight | None]:
    """The library, the kernel and the bias of one layer, in the library's own order."""
    row = row_of(parameters)
    if row is None:
        if "weight" not in parameters:
            raise InputError(
                f"{where or 'state dict'}: no library names its weights"
                f" {', '.join(sorted(parameters))}"
            )
        bias = parameters.get("bias")
        return "torch", Weight(parameters["weight"]), None if bias is None else Weight(bias)
    kernel = _weight(row, row.kernel, parameters, "weight")
    if parameters.get(row.bias[0]) is None:
        return row.library, kernel, None
    return row.library, kernel, _weight(row, row.bias, parameters, "bias")


def _weight(row: Row, names: tuple[str, str], parameters: Arrays, role: str) -> Weight:
    mean = np.asarray(parameters[names[0]], np.float64)
    spread = parameters.get(names[1])
    if spread is None:
        return Weight(mean)
    sigma = row.sigma(spread)
    if np.shape(sigma) != mean.shape:
        raise InputError(f"{names[1]} has the shape {np.shape(sigma)}, {names[0]} {mean.shape}")
    frozen = parameters.get(f"{role}_eps") if row.library == "torchbnn" else None
    # torchbnn's frozen layers repeat one draw.
    return Weight(mean, sigma) if frozen is None else Weight(mean + sigma * np.asarray(frozen))
