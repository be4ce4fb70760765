"""Random weights and their KL as functions that autograd knows.

Draws and KL are the library's, in C (glue_weights.h). The parameter is log sigma (V8), so
that the derivative by it is sigma times the one by sigma. The backward pass draws the noise
again instead of keeping it (maths N8).
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import torch
from torch import Tensor

from crossbayes import _library
from crossbayes._library import Session
from crossbayes._native import ffi, lib

_SMALL = 1 << 16  # weights below which threads cost more than they bring
_KINDS = {torch.float32: "float", torch.float64: "double"}
_POINTERS = {kind: ffi.typeof(f"{kind} *") for kind in ("float", "double")}
_WORK = {kind: ffi.typeof(f"xb_py_weights_{kind} *") for kind in ("float", "double")}
_FILL = {"float": lib.xb_py_weights_fill_float, "double": lib.xb_py_weights_fill_double}
_BACK = {"float": lib.xb_py_weights_back_float, "double": lib.xb_py_weights_back_double}
_alone = threading.local()  # a context of one thread


class Source(NamedTuple):
    """Where a tensor's noise comes from, as C takes it."""

    sampler: Any
    stream: Any
    kl: Any


def kind_of(tensor: Tensor) -> str:
    """Float or double: the precision of a tensor in the memory of this machine."""
    if tensor.device.type != "cpu":
        raise ValueError(f"weights are on {tensor.device}; layers with noise run on the CPU")
    kind = _KINDS.get(tensor.dtype)
    if kind is None:
        raise TypeError(f"weights are {tensor.dtype}, expected float32 or float64")
    return kind


def pointer(tensor: Tensor, kind: str) -> Any:
    """Where a contiguous tensor lies."""
    assert tensor.is_contiguous()
    return ffi.cast(_POINTERS[kind], tensor.data_ptr())


def one_thread() -> Any:
    """A context of one thread, kept by each thread."""
    session = getattr(_alone, "session", None)
    if session is None:
        session = _alone.session = Session(threads=1)
    return session


def context(n: int) -> Any:
    """A session whose loops are as wide as PyTorch's own."""
    few, most = torch.get_num_threads(), _library.default_threads
    many = most if 0 < most < few else few
    return one_thread() if n < _SMALL or many == 1 else Session(threads=many)


class _Work:
    """The C struct of one tensor's weights, and what it points to."""

    def __init__(
        self, source: Source, mu: Tensor, width: Tensor, groups: int, mean: bool, with_kl: bool
    ) -> None:
        self.kind, n = kind_of(width), width.numel()
        self.c = ffi.new(_WORK[self.kind])
        self.keep: list[Any] = [source, mu, width]
        c = self.c
        c.sampler, c.where = source.sampler, source.stream
        c.alone = one_thread().ctx
        c.mu, c.width = pointer(mu, self.kind), pointer(width, self.kind)
        c.m, c.groups, c.mean = n, groups, mean
        if with_kl:
            c.kl = source.kl

    def fill(self, theta: Tensor | None) -> float:
        """Writes the draws; returns the KL."""
        c = self.c
        if theta is not None:
            c.theta = pointer(theta, self.kind)
        sums = ffi.new("double[]", int(c.m) // lib.XB_PY_BLOCK + 1)
        c.sums = sums
        return float(_FILL[self.kind](context(c.m * c.groups).ctx, c))

    def back(self, g: Tensor | None, weight: float, like: Tensor) -> tuple[Tensor, Tensor]:
        """Gradients by mu and log sigma."""
        c, d_mu, d_width = self.c, torch.empty_like(like), torch.empty_like(like)
        if g is not None:
            g = g.contiguous()
            c.g = pointer(g, self.kind)
        c.weight = weight
        c.d_mu, c.d_width = pointer(d_mu, self.kind), pointer(d_width, self.kind)
        _BACK[self.kind](context(c.m * c.groups).ctx, c)
        return d_mu, d_width


class Draw(torch.autograd.Function):
    """Random weights of a layer, and their KL to the prior as a last output.

    Called with the number of groups, whether means are added, whether the KL is wanted, the
    sources of each tensor's noise, and then mu and log sigma of each. A tensor becomes
    theta_g = mu + sigma z_g, g = 0 .. groups - 1 (of one group without that side); of 0
    groups there is the KL alone.
    """

    @staticmethod
    def forward(
        ctx: Any, groups: int, mean: bool, with_kl: bool, sources: Any, *pairs: Tensor
    ) -> tuple[Tensor, ...]:
        made, kl = [], 0.0
        kept = [tensor.contiguous() for tensor in pairs]
        for source, mu, width in zip(sources, kept[::2], kept[1::2]):
            work = _Work(source, mu, width, groups, mean, with_kl)
            if groups == 0:
                kl += work.fill(None)
                continue
            shape = mu.shape if groups == 1 else (groups, *mu.shape)
            theta = torch.empty(shape, dtype=mu.dtype)
            kl += work.fill(theta)
            made.append(theta)
        ctx.save_for_backward(*kept)
        ctx.rest = groups, mean, with_kl, sources
        ctx.set_materialize_grads(False)
        return (*made, kept[0].new_tensor(kl))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        groups, mean, with_kl, sources = ctx.rest
        weight = 0.0 if gradients[-1] is None else float(gradients[-1])
        kept = ctx.saved_tensors
        out: list[Any] = []
        for at, source in enumerate(sources):
            mu, width = kept[2 * at : 2 * at + 2]
            work = _Work(source, mu, width, groups, mean, with_kl and weight != 0.0)
            out += work.back(gradients[at] if groups else None, weight, mu)
        return (None, None, None, None, *out)
