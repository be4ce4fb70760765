"""Random draws by their address, and quadrature rules.

A draw is a function of (seed, purpose, element, tensor, sample, step) and of nothing else:
no state, no order of calls.

    >>> import crossbayes as xb
    >>> g = xb.Generator(seed=1)
    >>> whole = g.draw("mtj", 1000)
    >>> bool((g.draw("mtj", 10, first=990) == whole[990:]).all())
    True
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from crossbayes._library import (
    Doubles,
    Handle,
    Session,
    count,
    named_enum,
    pointer,
    seed_of,
    view,
)
from crossbayes._native import ffi, lib
from crossbayes.laws import Law, Size, law

_PURPOSES = {
    "sample": lib.XB_PURPOSE_SAMPLE,
    "weight": lib.XB_PURPOSE_WEIGHT,
    "data": lib.XB_PURPOSE_DATA,
    "init": lib.XB_PURPOSE_INIT,
    "bootstrap": lib.XB_PURPOSE_BOOTSTRAP,
    "array": lib.XB_PURPOSE_ARRAY,
}
_CHUNK = 1 << 24  # draws between two looks at Ctrl-C
_WORD = 2**32 - 1
_STREAM = ffi.typeof("xb_stream *")
_F4, _F8 = np.dtype(np.float32), np.dtype(np.float64)


def shape_of(size: Size) -> tuple[int, ...]:
    if isinstance(size, (tuple, list)) or (isinstance(size, np.ndarray) and size.ndim == 1):
        return tuple(count(n, "size") for n in size)
    return (count(size, "size"),)


def _place(size: Size, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Memory for draws."""
    shape = shape_of(1 if size is None else size)
    kind = _F4 if dtype is np.float32 else np.dtype(dtype)
    if kind is not _F4 and kind is not _F8:
        raise TypeError(f"dtype is {kind}, expected float32 or float64")
    _elements(shape, 0, 2 if kind is _F8 else 1)
    return np.empty(shape, kind)


def _given(out: Any, size: Size) -> npt.NDArray[Any]:
    """The caller's memory for draws."""
    if not isinstance(out, np.ndarray) or (out.dtype != _F4 and out.dtype != _F8):
        kind = getattr(out, "dtype", type(out).__name__)
        raise TypeError(f"out is {kind}, expected an array of float32 or float64")
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError("out: expected an array in C order that can be written")
    if size is not None and shape_of(size) != out.shape:
        raise ValueError(f"out has the shape {out.shape}, size is {shape_of(size)}")
    return out


def fill(sampler: Any, out: npt.NDArray[Any], where: Any, first: int) -> None:
    """Draws first, first + 1, ... into an array of one dimension; few need no context."""
    wide = out.dtype == _F8
    if out.size <= lib.XB_PY_BLOCK:
        few = lib.xb_sampler_fill_double if wide else lib.xb_sampler_fill
        few(sampler, pointer(out, "double" if wide else "float"), out.size, where, first)
        return
    session = Session()
    for at in range(0, out.size, _CHUNK):
        part = out[at : at + _CHUNK]
        if wide:
            lib.xb_py_fill_double(
                session.ctx, sampler, pointer(part), part.size, where, first + at
            )
        else:
            lib.xb_sampler_fill_parallel(
                session.ctx, sampler, pointer(part, "float"), part.size, where, first + at
            )


class Generator:
    """Random numbers by their address, the same bytes as the C library's.

    ``purpose`` is a name (sample, weight, data, init, bootstrap, array) or a number of
    your own from 1000 on; another purpose is an independent stream.
    """

    def __init__(self, seed: int | None = None, purpose: str | int = "sample") -> None:
        self.seed = seed_of(seed)
        if isinstance(purpose, str):
            if purpose not in _PURPOSES:
                raise ValueError(f"no purpose {purpose!r}; there are {', '.join(_PURPOSES)}")
            number = _PURPOSES[purpose]
        else:
            number = count(purpose, "purpose", 1000, 2**31 - 1)
        self.purpose = purpose
        self._key = lib.xb_key_make(self.seed, number)

    def _stream(self, tensor: int, sample: int, step: int) -> Any:
        stream = ffi.new(_STREAM)
        stream.key = self._key
        if tensor or sample or step:
            stream.tensor = count(tensor, "tensor", 0, _WORD)
            stream.sample = count(sample, "sample", 0, _WORD)
            stream.step = count(step, "step", 0, _WORD)
        return stream

    def draw(
        self,
        law_: Law | str,
        size: Size = None,
        *,
        tensor: int = 0,
        sample: int = 0,
        step: int = 0,
        first: int = 0,
        standardise: bool = True,
        dtype: npt.DTypeLike = np.float32,
        out: npt.NDArray[Any] | None = None,
    ) -> Any:
        """Draws of a law: elements first, first + 1, ... of one tensor's stream.

        ``out``: an array of float32 or float64 in C order to write them to, instead of
        ``size`` and ``dtype``.
        """
        made = _place(size, dtype) if out is None else _given(out, size)
        if first or out is not None:
            _elements((made.size,), first, 2 if made.dtype == _F8 else 1)
        sampler = law(law_).sampler(bool(standardise))
        flat = made if made.ndim == 1 else made.reshape(-1)
        fill(sampler, flat, self._stream(tensor, sample, step), first)
        return made if size is not None or out is not None else made[0]

    def words(
        self, n: int, *, tensor: int = 0, sample: int = 0, step: int = 0, first: int = 0
    ) -> npt.NDArray[np.uint32]:
        """The 32-bit words behind the draws.

        >>> Generator(1).words(2)
        array([2111917127,  435580868], dtype=uint32)
        """
        n = _elements((count(n, "n"),), first, 1)
        out = np.empty(n, np.uint32)
        stream = self._stream(tensor, sample, step)
        for at in range(0, n, _CHUNK):
            part = out[at : at + _CHUNK]
            lib.xb_py_words(stream, pointer(part, "uint32_t"), part.size, first + at)
        return out

    def uniform(
        self, n: int, *, tensor: int = 0, sample: int = 0, step: int = 0, first: int = 0
    ) -> Doubles:
        """Uniform doubles in (0, 1), both ends open."""
        n = _elements((count(n, "n"),), first, 2)
        out = np.empty(n)
        stream = self._stream(tensor, sample, step)
        for at in range(0, n, _CHUNK):
            part = out[at : at + _CHUNK]
            lib.xb_py_uniforms(stream, pointer(part), part.size, first + at)
        return out

    def __repr__(self) -> str:
        return f"Generator(seed={self.seed}, purpose={self.purpose!r})"


def _elements(shape: tuple[int, ...], first: int, words: int) -> int:
    n = 1
    for size in shape:
        n *= size
    most = lib.XB_STREAM_MAX // words
    if count(first, "first") + n > most:
        raise ValueError(f"elements up to {first + n}, expected at most {most} in a stream")
    return n


class Rule(Handle):
    """A quadrature: E[f] is the sum of ``weights * f(nodes)``."""

    _what = "rule"

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer

    def __len__(self) -> int:
        return int(lib.xb_rule_count(self._c))

    @property
    def nodes(self) -> Doubles:
        array: Doubles = view(lib.xb_rule_nodes(self._c), (len(self),), np.float64, self._c)
        return array

    @property
    def weights(self) -> Doubles:
        array: Doubles = view(lib.xb_rule_weights(self._c), (len(self),), np.float64, self._c)
        return array

    def expect(self, function: Callable[[Doubles], Any]) -> float:
        """The sum for a function of an array."""
        return float(np.sum(self.weights * function(self.nodes)))

    def __repr__(self) -> str:
        return f"Rule({len(self)} points)"


def gauss_rule(law_: Law | str, n: int, method: str = "stable") -> Rule:
    """The Gauss rule of a law; ``method``: stable, or wheeler as in the paper."""
    kind = named_enum("recurrence_method", method)
    made = Session().make(lib.xb_rule_gauss, law(law_)._c, count(n, "n", 1), kind)
    return Rule(made)


def composite_rule(law_: Law | str, n: int, kind: str = "smooth") -> Rule:
    """A rule for functions that are not smooth: split, laguerre, ..., smooth."""
    number = named_enum("composite", kind)
    made = Session().make(
        lib.xb_rule_composite, law(law_)._c, count(n, "n", 1), number, ffi.NULL
    )
    return Rule(made)


def standard_rule(name: str, n: int) -> Rule:
    """One of legendre, lobatto, laguerre and hermite (the standard normal's).

    >>> standard_rule("legendre", 2).weights
    array([1., 1.])
    """
    makers = {
        "legendre": lib.xb_rule_legendre,
        "lobatto": lib.xb_rule_lobatto,
        "laguerre": lib.xb_rule_laguerre,
        "hermite": lib.xb_rule_hermite,
    }
    if name not in makers:
        raise ValueError(f"no rule {name!r}; there are {', '.join(makers)}")
    return Rule(Session().make(makers[name], count(n, "n", 1)))
