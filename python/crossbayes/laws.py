"""Noise laws, with the names that scipy.stats uses.

>>> import crossbayes as xb
>>> mtj = xb.law("mtj:B=0.15,w=0.5")
>>> mtj.cdf(0.0)
0.5
>>> mtj.rvs(3, seed=1)
array([-0.00407268, -0.45606875, -0.19736716], dtype=float32)
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from crossbayes import _html
from crossbayes._library import (
    Doubles,
    Handle,
    Path,
    Session,
    count,
    doubles,
    encoded,
    keep_error,
    path_bytes,
    pointer,
    seed_of,
    text,
)
from crossbayes._native import ffi, lib

if TYPE_CHECKING:
    from crossbayes.draws import Rule

Size = Union[int, float, "tuple[int, ...]", "list[int]", None]

_CHUNK = 1 << 17  # values between two looks at Ctrl-C; quantiles take about 1 µs each
_PDF, _LOGPDF, _CDF, _SF, _PPF, _ISF = range(6)  # the order of glue.h


class Moments(NamedTuple):
    """Mean, variance, skewness and excess kurtosis."""

    mean: float
    variance: float
    skewness: float
    excess_kurtosis: float


class Placement(NamedTuple):
    """How a law maps to the samples' units: offset + scale * x."""

    offset: float
    scale: float
    unit: str


class Law(Handle):
    """A probability distribution of one device's noise; made by :func:`law`.

    Functions take numbers or arrays and live on the law's own support; networks use it
    standardised, with mean 0 and variance 1.
    """

    _what = "law"

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer
        self._samplers: dict[bool, Any] = {}

    # ---- what it is

    @property
    def text(self) -> str:
        """The text that makes the law, ``"mtj:B=0.15,w=0.5"``."""
        return text(lib.xb_law_text(self._c))

    @property
    def family(self) -> str:
        return text(lib.xb_law_family(self._c))

    @property
    def params(self) -> dict[str, float]:
        """The parameters of the law; empty for a law that was made from samples."""
        law = self._c
        return {
            text(lib.xb_law_param_name(law, i)): lib.xb_law_param_value(law, i)
            for i in range(lib.xb_law_param_count(law))
        }

    @property
    def placement(self) -> Placement:
        """How the law maps to the samples' units, if it was fitted to samples."""
        place = lib.xb_law_placement(self._c)
        return Placement(place.offset, place.scale, text(place.unit))

    @property
    def symmetric(self) -> bool:
        return bool(lib.xb_law_is_symmetric(self._c))

    def support(self) -> tuple[float, float]:
        """Both ends of the support; infinite if there is no end.

        >>> law("ecram").support()
        (-1.0, 1.0)
        """
        return lib.xb_law_lower(self._c), lib.xb_law_upper(self._c)

    # ---- densities, masses, quantiles

    def _each(self, which: int, x: Any) -> Any:
        values = doubles(x, "x")
        out = np.empty(values.shape)
        n = values.size
        if n > lib.XB_PY_BLOCK:
            self._many(which, out.reshape(-1), values.reshape(-1))
        elif n:
            lib.xb_py_law_each(ffi.NULL, self._c, which, pointer(out), pointer(values), n)
        return float(out) if out.ndim == 0 else out

    def _many(self, which: int, out: Doubles, x: Doubles) -> None:
        session, law = Session(), self._c
        for at in range(0, x.size, _CHUNK):
            y, part = out[at : at + _CHUNK], x[at : at + _CHUNK]
            lib.xb_py_law_each(session.ctx, law, which, pointer(y), pointer(part), part.size)

    def pdf(self, x: npt.ArrayLike) -> Any:
        """The density.

        >>> law("gaussian").pdf([0.0, 1.0])
        array([0.39894228, 0.24197072])
        """
        if isinstance(x, float):
            return lib.xb_law_pdf(self._c, x)
        return self._each(_PDF, x)

    def logpdf(self, x: npt.ArrayLike) -> Any:
        """The density's logarithm, -inf outside the support."""
        if isinstance(x, float):
            return lib.xb_law_log_pdf(self._c, x)
        return self._each(_LOGPDF, x)

    def cdf(self, x: npt.ArrayLike) -> Any:
        """The mass below x."""
        if isinstance(x, float):
            return lib.xb_law_cdf(self._c, x)
        return self._each(_CDF, x)

    def sf(self, x: npt.ArrayLike) -> Any:
        """The mass above x, with full relative precision in the upper tail."""
        if isinstance(x, float):
            return lib.xb_law_survival(self._c, x)
        return self._each(_SF, x)

    def ppf(self, q: npt.ArrayLike) -> Any:
        """The quantile: where the mass below is q; NaN outside [0, 1].

        >>> round(law("gaussian").ppf(0.975), 6)
        1.959964
        """
        if isinstance(q, float):
            return lib.xb_law_quantile(self._c, q) + 0.0
        return self._each(_PPF, q) + 0.0  # the middle of a symmetric law is 0, not -0

    def isf(self, q: npt.ArrayLike) -> Any:
        """Where the mass above is q."""
        if isinstance(q, float):
            return lib.xb_law_isf(self._c, q) + 0.0
        return self._each(_ISF, q) + 0.0

    def median(self) -> float:
        return float(lib.xb_law_quantile(self._c, 0.5)) + 0.0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The central interval that holds this share of the mass."""
        if not 0 <= confidence <= 1:
            raise ValueError(f"confidence is {confidence}, expected 0 to 1")
        tail = (1 - confidence) / 2
        return lib.xb_law_quantile(self._c, tail), lib.xb_law_isf(self._c, tail)

    # ---- numbers

    def moments(self) -> Moments:
        """Mean, variance, skewness and excess kurtosis.

        >>> law("laplace").moments()
        Moments(mean=0.0, variance=2.0, skewness=0.0, excess_kurtosis=3.0)
        """
        m = lib.xb_law_moments(self._c)
        return Moments(m.mean, m.variance, m.skewness, m.excess_kurtosis)

    def moment(self, order: int) -> float:
        """The raw moment E[x^order]."""
        return float(lib.xb_law_raw_moment(self._c, count(order, "order", 0, 128)))

    def mean(self) -> float:
        return float(lib.xb_law_mean(self._c))

    def std(self) -> float:
        return float(lib.xb_law_sd(self._c))

    def var(self) -> float:
        return self.std() ** 2

    def entropy(self) -> float:
        """The entropy in nats."""
        return float(lib.xb_law_entropy(self._c))

    def kl(self, other: Law | str | None = None) -> float:
        """KL(self || other) in nats; without `other`, to the Gaussian of the same moments.

        Both laws are taken on their own supports. Where `other` has no density, KL is
        infinite. By a quadrature of 4,096 points on the panels of this law, to 2e-6
        where `other` has a corner inside a panel.

        >>> round(law("mtj").kl(), 6)
        0.048106
        """
        if other is None:
            return float(lib.xb_law_kl_gaussian(self._c))
        return _kl(self, law(other))

    def gauss(self, n: int, method: str = "stable") -> Rule:
        """The Gauss rule of n points with this law as weight.

        >>> law("gaussian").gauss(2).nodes
        array([-1.,  1.])
        """
        from crossbayes.draws import gauss_rule

        return gauss_rule(self, n, method)

    def expect(self, function: Callable[[Any], Any], n: int = 64) -> float:
        """E[function(x)] by the Gauss rule of n points; function takes an array.

        >>> round(law("mtj").expect(lambda x: x**2), 6) == round(law("mtj").var(), 6)
        True
        """
        return self.gauss(n).expect(function)

    # ---- draws

    def sampler(self, standardise: bool) -> Any:
        """The library's sampler, made once."""
        made = self._samplers.get(standardise)
        if made is None:
            options = ffi.new("xb_sampler_options *", lib.xb_sampler_options_default())
            options.standardise = standardise
            made = Session().make(lib.xb_sampler_create, self._c, options)
            self._samplers[standardise] = made
        return made

    def rvs(
        self,
        size: Size = None,
        seed: int | None = None,
        *,
        dtype: npt.DTypeLike = np.float32,
        standardise: bool = False,
        physical: bool = False,
        out: npt.NDArray[Any] | None = None,
    ) -> Any:
        """Random draws, float32 or float64, made on all cores.

        Draw i is a function of (seed, i) alone, and the same number that
        ``crossbayes sample --seed`` writes. Without a seed, one is taken from the
        operating system. ``standardise``: mean 0, variance 1, as networks use the law;
        ``physical``: in the units of the samples that the law was fitted to. ``out``: an
        array of float32 or float64 to write to, instead of ``size`` and ``dtype``.

        >>> law("mtj").rvs((2, 2), seed=1).shape
        (2, 2)
        """
        from crossbayes.draws import Generator

        if standardise and physical:
            raise ValueError("set at most one of standardise and physical")
        draws = Generator(seed_of(seed)).draw(
            self, size, standardise=standardise, dtype=dtype, out=out
        )
        if physical:
            place = self.placement
            moved = place.offset + place.scale * np.asarray(draws, np.float64)
            draws = moved.astype(draws.dtype)
            if out is not None:
                out[...] = draws
                return out
        return draws

    # ---- files, pickles, texts

    def save(self, path: Path) -> None:
        """Saves a law file, as ``crossbayes fit`` does."""
        session = Session()
        session.check(lib.xb_law_save(session.ctx, self._c, path_bytes(path)))

    def to_json(self) -> str:
        return Session().text(lib.xb_law_json, self._c)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.params and self.placement == (0.0, 1.0, ""):
            values = np.array(list(self.params.values()))
            return _from_params, (self.family, values, self.text)
        return _from_json, (self.to_json(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Law) and (
            self._c == other._c or self.__reduce__()[1][-1] == other.__reduce__()[1][-1]
        )

    def __hash__(self) -> int:
        return hash(self.text)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Plots the density with matplotlib; returns the axes."""
        from crossbayes.plots import plot_law

        return plot_law(self, ax, **style)

    def __repr__(self) -> str:
        return f"Law({self.text!r})" if self._pointer is not None else "Law(closed)"

    def _repr_html_(self) -> str:
        low, high = self.support()
        rows: dict[str, Any] = dict(self.params)
        rows |= {"support": f"{low:g} to {high:g}", "mean": self.mean(), "std": self.std()}
        m = self.moments()
        rows |= {"skewness": m.skewness, "excess kurtosis": m.excess_kurtosis}
        rows |= {"KL to Gaussian, nats": self.kl()}
        return _html.table(self.text, rows)


def _kl(p: Law, q: Law) -> float:
    from crossbayes.draws import composite_rule

    rule = composite_rule(p, 4096)
    x, w = rule.nodes, rule.weights
    inside = w > 0
    with np.errstate(invalid="ignore"):
        ratio = p.logpdf(x[inside]) - q.logpdf(x[inside])
    value = float(np.sum(w[inside] * ratio))
    return max(value, 0.0) if abs(value) < 1e-12 else value


def _from_params(family: str, values: npt.NDArray[np.float64], _: str) -> Law:
    session = Session()
    made = session.make(
        lib.xb_law_create, encoded(family, "family"), pointer(values), values.size
    )
    return Law(made)


def _from_json(content: str) -> Law:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "law.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return Law(Session().make(lib.xb_law_load, os.fsencode(path)))


def law(what: str | os.PathLike[str] | Law) -> Law:
    """A law from its text or from a law file; a :class:`Law` is returned unchanged.

    >>> law("bimodal:m=0.9").params
    {'m': 0.9}
    >>> law("mjt")
    Traceback (most recent call last):
        ...
    crossbayes._library.InputError: unknown law 'mjt', did you mean 'mtj'?
    """
    if isinstance(what, Law):
        return what
    session = Session()
    if isinstance(what, str):
        return Law(session.make(lib.xb_law_parse, encoded(what, "law")))
    if not isinstance(what, os.PathLike):
        raise TypeError(f"law: expected a text, a path or a law, not {type(what).__name__}")
    return Law(session.make(lib.xb_law_load, path_bytes(what, read=True)))


def families() -> dict[str, str]:
    """The families of laws, each in a few words."""
    return {
        text(lib.xb_law_family_name(i)): text(lib.xb_law_family_about(i))
        for i in range(lib.xb_law_family_count())
    }


def law_from_samples(samples: npt.ArrayLike) -> Law:
    """The smooth empirical law of any sample, 8 values or more, in time order."""
    x = doubles(samples, "samples", 1)
    return Law(Session().make(lib.xb_law_from_samples, pointer(x), x.size))


# Densities of laws that live, which may be longer than their Law does: models and samplers
# share them.
_densities: dict[Any, Any] = {}


@ffi.def_extern(error=float("nan"), onerror=keep_error)
def xb_py_density(handle: Any, x: float) -> float:
    return float(ffi.from_handle(handle)(x))


@ffi.def_extern(onerror=keep_error)
def xb_py_forget(handle: Any) -> None:
    _densities.pop(handle, None)


def law_from_density(
    pdf: Callable[[float], float],
    name: str = "own",
    *,
    support: tuple[float, float] = (-np.inf, np.inf),
    breaks: npt.ArrayLike = (),
    symmetric: bool = False,
) -> Law:
    """A law from your own density, a pure function of one float.

    ``breaks``: points where it has corners or jumps. The library checks that it is a
    density (it integrates to 1 within 1e-9). Such a law cannot be written to a file.

    >>> import math
    >>> own = law_from_density(lambda x: 0.5 * math.exp(-abs(x)), breaks=[0.0], symmetric=True)
    >>> round(own.entropy(), 9) == round(law("laplace").entropy(), 9)
    True
    """
    if not callable(pdf):
        raise TypeError("pdf: expected a function of one number")
    corners = np.sort(doubles(breaks, "breaks", 1))
    options = ffi.new("xb_law_functions_options *", lib.xb_law_functions_options_default())
    handle = ffi.new_handle(pdf)
    options.arg = handle
    options.pdf = lib.xb_py_density
    options.lower, options.upper = support
    options.breaks, options.n_breaks = pointer(corners), corners.size
    options.symmetric = symmetric
    options.destroy = lib.xb_py_forget
    _densities[handle] = handle
    try:
        return Law(Session().make(lib.xb_law_from_functions, encoded(name, "name"), options))
    except BaseException:
        _densities.pop(handle, None)
        raise
