"""Figures by matplotlib, which is asked for only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crossbayes._library import text
from crossbayes._native import lib

if TYPE_CHECKING:
    from crossbayes.fits import Fit
    from crossbayes.laws import Law


def axes(ax: Any) -> Any:
    """The given axes, or new ones."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    return plt.subplots(figsize=(6, 3.6), layout="constrained")[1]


def plot_law(law: Law, ax: Any = None, **style: Any) -> Any:
    """A law's density over its support or its central 99.8 %."""
    ax = axes(ax)
    low, high = law.support()
    x = np.linspace(max(low, law.ppf(1e-3)), min(high, law.isf(1e-3)), 801)
    ax.plot(x, law.pdf(x), **{"label": law.text, **style})
    ax.set(xlabel="noise", ylabel="density", ylim=(0, None))
    ax.legend(frameon=False)
    return ax


def plot_fit(fit: Fit, ax: Any = None, bins: int = 60) -> Any:
    """The stationary part of the samples and the chosen law, in the samples' units."""
    ax = axes(ax)
    law, values = fit.law, fit.series.values
    place = law.placement
    unit = lib.xb_si_unit_for(float(np.abs(values).max()), place.unit.encode())
    ax.hist(values / unit.factor, bins, density=True, color="0.8", label="samples")
    x = np.linspace(*law.interval(0.998), 801)
    scale = place.scale / unit.factor
    ax.plot(place.offset / unit.factor + scale * x, law.pdf(x) / scale, label=law.family)
    name = text(unit.text)
    ax.set(xlabel=f"value in {name}" if name else "value", ylabel="density")
    ax.set_title(f"{law.family}: {fit.outcome}", fontsize="medium")
    ax.legend(frameon=False)
    return ax
