"""From measured samples to a law one can trust.

>>> import crossbayes as xb
>>> samples = xb.law("mtj:B=0.15,w=0.5").rvs(3000, seed=1)
>>> fit = xb.fit(samples)
>>> fit.law.family, fit.outcome
('mtj', 'fits')
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from crossbayes import _html, _options
from crossbayes._library import (
    Doubles,
    Handle,
    Path,
    Progress,
    Session,
    borrowed,
    count,
    doubles,
    encoded,
    path_bytes,
    pointer,
    text,
    view,
)
from crossbayes._native import ffi, lib
from crossbayes.laws import Law


class Estimate(float):
    """A number with its standard error."""

    error: float

    def __new__(cls, value: float, error: float) -> Estimate:
        made = super().__new__(cls, value)
        made.error = error
        return made

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self), self.error

    def __repr__(self) -> str:
        out = ffi.new("char[64]")
        lib.xb_number_with_error(out, 64, float(self), self.error)
        return text(out)


class FamilyFit:
    """One family's fit: parameters with errors, likelihood, goodness of fit."""

    def __init__(self, pointer: Any, law: Law, owner: Any) -> None:
        self._c, self._owner = pointer, owner
        self.law = law
        self.name = text(lib.xb_fit_family_name(pointer))
        self.converged = bool(lib.xb_fit_family_converged(pointer))
        self.fits = bool(lib.xb_fit_family_fits(pointer))
        self.decision = text(lib.xb_fit_decision_name(lib.xb_fit_family_decision(pointer)))
        for number in ("log_likelihood", "aic", "bic", "ks", "ks_p", "ad", "ad_p"):
            setattr(self, number, getattr(lib, f"xb_fit_family_{number}")(pointer))
        self.skewness_p = float(lib.xb_fit_family_skewness_p(pointer))
        self.kurtosis_p = float(lib.xb_fit_family_kurtosis_p(pointer))

    log_likelihood: float
    aic: float
    bic: float
    ks: float
    ks_p: float
    ad: float
    ad_p: float

    @property
    def params(self) -> dict[str, Estimate]:
        """The family's parameters, then scale and offset in the samples' unit."""
        family = self._c
        return {
            text(lib.xb_fit_family_param_name(family, i)): Estimate(
                lib.xb_fit_family_param_value(family, i),
                lib.xb_fit_family_param_error(family, i),
            )
            for i in range(lib.xb_fit_family_param_count(family))
        }

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"FamilyFit({self.name}: {shown}; fits: {self.decision})"


class Series(Handle):
    """A trace as a time series: its stationary part, spectrum, levels and reads."""

    _what = "series"

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer

    @property
    def values(self) -> Doubles:
        """The samples of the stationary part, after the requested treatment."""
        n = lib.xb_series_count(self._c)
        array: Doubles = view(lib.xb_series_values(self._c), (n,), np.float64, self._c)
        return array

    @property
    def findings(self) -> dict[str, str]:
        """What was found, one sentence each; the last is the verdict on the reads."""
        return {
            text(lib.xb_series_finding_name(self._c, i)): text(
                lib.xb_series_finding_text(self._c, i)
            )
            for i in range(lib.xb_series_finding_count(self._c))
        }

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(Session().text(lib.xb_series_json, self._c))
        return report

    def spectrum(self) -> dict[str, Doubles]:
        """One-sided power spectral density: frequency, power, error, fitted."""
        n = lib.xb_series_spectrum_count(self._c)
        points = [lib.xb_series_spectrum_at(self._c, i) for i in range(n)]
        names = ("frequency", "power", "error", "fitted")
        return {name: np.array([getattr(p, name) for p in points]) for name in names}

    def independent(self, interval: float, reads: int) -> Estimate:
        """The number of independent draws that these reads at this interval are worth."""
        burst = lib.xb_series_burst(self._c, float(interval), count(reads, "reads", 1))
        return Estimate(burst.independent, burst.error)

    def __repr__(self) -> str:
        lines = "\n".join(f"  {name}: {what}" for name, what in self.findings.items())
        return f"Series({lib.xb_series_count(self._c)} stationary samples)\n{lines}"


class Fit(Handle):
    """The whole report of a fit; made by :func:`fit`."""

    _what = "fit"

    def __init__(self, pointer: Any, series: Series, whole: Fit | None) -> None:
        self._pointer = pointer
        self.series = series
        self.whole = whole

    def _law_at(self, i: int) -> Law:
        return Law(borrowed(lib.xb_fit_law_at(self._c, i), self._c))

    @property
    def families(self) -> list[FamilyFit]:
        fit = self._c
        return [
            FamilyFit(lib.xb_fit_family_at(fit, i), self._law_at(i), fit)
            for i in range(lib.xb_fit_family_count(fit))
        ]

    @property
    def chosen(self) -> FamilyFit:
        return self.families[int(lib.xb_fit_chosen(self._c))]

    @property
    def law(self) -> Law:
        """The chosen law, with its offset and scale in the samples' units."""
        return self._law_at(lib.xb_fit_chosen(self._c))

    @property
    def verdict(self) -> str:
        """One or two sentences."""
        return text(lib.xb_fit_verdict(self._c))

    @property
    def outcome(self) -> str:
        """The verdict's short form: fits, no family fits, cannot be tested, ..."""
        return text(lib.xb_fit_outcome_name(lib.xb_fit_outcome_of(self._c)))

    @property
    def fits(self) -> bool:
        return bool(lib.xb_fit_outcome_of(self._c) == lib.XB_FIT_FITS)

    @property
    def report(self) -> dict[str, Any]:
        """The whole report, as in the law file (docs/formats.md)."""
        report: dict[str, Any] = json.loads(Session().text(lib.xb_fit_json, self._c))
        return report

    def save(self, path: Path) -> None:
        """Saves the law file with the report, as ``crossbayes fit -o`` does."""
        session = Session()
        session.check(lib.xb_fit_save(session.ctx, self._c, path_bytes(path)))

    def plot(self, ax: Any = None, bins: int = 60) -> Any:
        """Plots the samples and the chosen law with matplotlib; returns the axes."""
        from crossbayes.plots import plot_fit

        return plot_fit(self, ax, bins)

    def __repr__(self) -> str:
        if self._pointer is None:
            return "Fit(closed)"
        return f"Fit({self.law.text!r}: {self.outcome})"

    def _repr_html_(self) -> str:
        rows = [
            [f.name, repr(f.params.get("scale", "")), f.aic, f.ks_p, f.ad_p, f.decision]
            for f in self.families
        ]
        head = ["family", "scale", "AIC", "KS p", "AD p", "fits"]
        return _html.grid(self.verdict, head, rows)


_FIT = ("interval", "family", "scale", "offset", "level", "criterion", "optimiser", "progress")


def _seconds(interval: float | str | None, name: str) -> float:
    """Seconds from 2.5e-3 or "2.5ms"; None: unknown."""
    if interval is None:
        return 0.0
    if isinstance(interval, str):
        session = Session()
        out = ffi.new("double *")
        session.check(lib.xb_quantity_parse(session.ctx, out, encoded(interval, name), b"s"))
        interval = out[0]
    try:
        interval = float(interval)
    except (TypeError, ValueError):
        expected = "a number of seconds or a text like '2.5ms'"
        raise TypeError(f"{name}: expected {expected}, not {interval!r}") from None
    if not interval > 0:
        raise ValueError(f"{name} is {interval}, expected more than 0 seconds")
    return interval


def series(
    samples: npt.ArrayLike,
    interval: float | str | None = None,
    *,
    read_interval: float | str | None = None,
    seed: int = 1,
    unit: str | None = None,
    progress: Progress = None,
    **settings: Any,
) -> Series:
    """A trace in time order as a time series (``docs/maths.md``, T).

    ``interval``: seconds between samples, or a text like ``"2.5ms"``; without it all times
    are in samples. ``read_interval``: time between reads, for the verdict on reads as draws.
    Further settings: first, end, detrend, detrend_window, difference, remove_lines, whole,
    segment, reads, level.
    """
    x = doubles(samples, "samples", 1)
    if interval is None and isinstance(read_interval, str):
        raise ValueError(
            f"read_interval is {read_interval!r}, but interval is unknown: give interval, or"
            " read_interval as a number of samples"
        )
    keep: list[Any] = []
    values = {"seed": seed, "unit": unit, **settings}
    values["sample_interval"] = _seconds(interval, "interval")
    values["read_interval"] = _seconds(read_interval, "read_interval")
    options = _options.make("series", values, keep, _FIT)
    with Session(progress) as session:
        return Series(session.make(lib.xb_series_run, pointer(x), x.size, options))


def fit(
    samples: npt.ArrayLike,
    interval: float | str | None = None,
    *,
    family: str | None = None,
    scale: float | None = None,
    offset: float | None = None,
    unit: str | None = None,
    seed: int = 1,
    level: float = 0.01,
    criterion: str = "aic",
    optimiser: str = "newton",
    progress: Progress = None,
    **trace: Any,
) -> Fit:
    """The law of measured samples in time order, with its whole report.

    As ``crossbayes fit``: the stationary part of the trace is found, every family (or the
    one named) is fitted to it by maximum likelihood and judged, the best is chosen.
    ``interval``: seconds between samples, or ``"2.5ms"``; further settings are those of
    :func:`series`.
    """
    x = doubles(samples, "samples", 1)
    part = series(x, interval, seed=seed, unit=unit, progress=progress, **trace)
    keep: list[Any] = []
    values: dict[str, Any] = {"family": family, "fixed_scale": scale, "fixed_offset": offset}
    values |= {"has_fixed_offset": offset is not None, "unit": unit, "seed": seed}
    values |= {"level": level, "criterion": criterion, "optimiser": optimiser}
    options = _options.make("fit", values, keep)
    whole: Fit | None = None
    with Session(progress) as session:
        if part.values.size != x.size:
            whole = Fit(session.make(lib.xb_fit_run, pointer(x), x.size, options), part, None)
            options.whole = whole._c
        options.series = part._c
        made = session.make(lib.xb_fit_run, pointer(part.values), part.values.size, options)
    return Fit(made, part, whole)


class Goodness:
    """How well a given law, which was not fitted to these samples, describes them."""

    def __init__(self, pointer: Any) -> None:
        self.ks = float(lib.xb_goodness_result_ks(pointer))
        self.ks_p = float(lib.xb_goodness_result_ks_p(pointer))
        self.ad = float(lib.xb_goodness_result_ad(pointer))
        self.ad_p = float(lib.xb_goodness_result_ad_p(pointer))
        self.fits = bool(lib.xb_goodness_result_fits(pointer))
        self.outside = int(lib.xb_goodness_result_outside(pointer))

    def __repr__(self) -> str:
        return f"Goodness(fits={self.fits}, ks_p={self.ks_p:.3g}, ad_p={self.ad_p:.3g})"


def goodness(
    law: Law | str, samples: npt.ArrayLike, *, level: float = 0.01, independent: bool = False
) -> Goodness:
    """Kolmogorov-Smirnov and Anderson-Darling tests of samples against a given law.

    It ``fits`` if both p-values are above ``level``; with few independent samples nearly any
    law does. The law must not have been fitted to the same samples: p-values would be too
    large.

    >>> import crossbayes as xb
    >>> xb.goodness("mtj", xb.law("mtj").rvs(1000, seed=2)).fits
    True
    """
    from crossbayes.laws import law as law_of

    x = doubles(samples, "samples", 1)
    options = _options.make("goodness", {"level": level, "independent": independent}, [])
    made = Session().make(lib.xb_law_goodness, law_of(law)._c, pointer(x), x.size, options)
    return Goodness(made)
