"""Random weights and their KL as functions that autograd knows.

Draws and KL are the library's, over whole tensors in C. The parameter is log sigma (V8), so
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
_POINTERS = {"float": ffi.typeof("float *"), "double": ffi.typeof("double *")}
_FILL = {"float": lib.xb_py_weights_fill_float, "double": lib.xb_py_weights_fill_double}
_BACK = {"float": lib.xb_py_weights_back_float, "double": lib.xb_py_weights_back_double}
_alone = threading.local()  # a context of one thread, for loops over few weights


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


def pointer(tensor: Tensor | None, kind: str) -> Any:
    """Where a contiguous tensor lies."""
    if tensor is None:
        return ffi.NULL
    assert tensor.is_contiguous()
    return ffi.cast(_POINTERS[kind], tensor.data_ptr())


def context(n: int) -> Any:
    """A session whose loops are as wide as PyTorch's own."""
    if n < _SMALL:
        session = getattr(_alone, "session", None)
        if session is None:
            session = _alone.session = Session(threads=1)
        return session
    few, most = torch.get_num_threads(), _library.default_threads
    return Session(threads=most if 0 < most < few else few)


class Draw(torch.autograd.Function):
    """Random weights of a layer, and their KL to the prior as a last output.

    Called with the number of groups, whether means are added, whether the KL is wanted, the
    sources of each tensor's noise, and then mu and log sigma of each. A tensor becomes
    theta_g = mu + sigma z_g, g = 0 .. groups - 1 (of one group without that side).
    """

    @staticmethod
    def forward(
        ctx: Any, groups: int, mean: bool, with_kl: bool, sources: Any, *pairs: Tensor
    ) -> tuple[Tensor, ...]:
        made, kept, kl = [], [], 0.0
        for source, mu, width in zip(sources, pairs[::2], pairs[1::2]):
            kind, mu = kind_of(width), mu.contiguous()
            sigma = width.exp().contiguous()
            theta = torch.empty((groups, *sigma.shape), dtype=sigma.dtype)
            n = sigma.numel()
            session = context(n * groups)
            _FILL[kind](
                session.ctx, source.sampler, source.stream, pointer(theta, kind),
                pointer(mu if mean else None, kind), pointer(sigma, kind), n, groups,
            )  # fmt: skip
            if with_kl:
                kl += divergence(source, None, None, mu, sigma)
            made.append(theta[0] if groups == 1 else theta)
            kept += [mu, sigma]
        ctx.save_for_backward(*kept)
        ctx.rest = groups, mean, with_kl, sources
        ctx.set_materialize_grads(False)
        return (*made, kept[1].new_tensor(kl))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        kept = ctx.saved_tensors
        out: list[Any] = []
        weight = 0.0 if gradients[-1] is None else float(gradients[-1])
        for at, source in enumerate(ctx.rest[3]):
            out += _one_back(
                ctx.rest, source, gradients[at], weight, *kept[2 * at : 2 * at + 2]
            )
        return (None, None, None, None, *out)


def _one_back(
    rest: Any, source: Source, g: Tensor | None, weight: float, mu: Tensor, sigma: Tensor
) -> tuple[Tensor | None, Tensor]:
    """Gradients of one tensor by mu and log sigma; g is that by its draws."""
    groups, mean, with_kl, _ = rest
    kind, n = kind_of(sigma), sigma.numel()
    by_kl = with_kl and weight != 0.0
    if g is None:
        d_mu, d_sigma = torch.zeros_like(sigma), torch.zeros_like(sigma)
    else:
        g = g.contiguous()
        d_sigma = torch.empty_like(sigma)
        summed = mean and groups > 1
        d_mu = torch.empty_like(sigma) if summed else None
        session = context(n * groups)
        _BACK[kind](
            session.ctx, source.sampler, source.stream, pointer(d_mu, kind),
            pointer(d_sigma, kind), pointer(g, kind), n, groups,
        )  # fmt: skip
        if not summed:
            d_mu = (g.clone() if by_kl else g) if mean else torch.zeros_like(sigma)
    if by_kl:
        divergence(source, d_mu, d_sigma, mu, sigma, weight)
    return d_mu if mean or by_kl else None, d_sigma.mul_(sigma)


def divergence(
    source: Source,
    d_mu: Tensor | None,
    d_sigma: Tensor | None,
    mu: Tensor,
    sigma: Tensor,
    weight: float = 1.0,
) -> float:
    """The sum of KL(q || prior) in nats (V2); adds ``weight`` times its gradient."""
    kind, n = kind_of(sigma), sigma.numel()
    places = [pointer(t, kind) for t in (d_mu, d_sigma, mu, sigma)]
    if kind == "double":
        return float(lib.xb_py_kl_double(source.kl, *places, n, weight))
    session = context(n)
    return float(lib.xb_kl_sum(session.ctx, source.kl, *places, n, weight))


class Divergence(torch.autograd.Function):
    """The KL of some tensors alone, without draws: sources, then mu and log sigma of each."""

    @staticmethod
    def forward(ctx: Any, sources: Any, *pairs: Tensor) -> Tensor:
        total, kept = 0.0, []
        for source, mu, width in zip(sources, pairs[::2], pairs[1::2]):
            mean, sigma = mu.contiguous(), width.exp().contiguous()
            total += divergence(source, None, None, mean, sigma)
            kept += [mean, sigma]
        ctx.save_for_backward(*kept)
        ctx.sources = sources
        return kept[1].new_tensor(total)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        out: list[Any] = []
        kept = ctx.saved_tensors
        for source, mu, sigma in zip(ctx.sources, kept[::2], kept[1::2]):
            d_mu, d_sigma = torch.zeros_like(sigma), torch.zeros_like(sigma)
            divergence(source, d_mu, d_sigma, mu, sigma, float(gradients[0]))
            out += [d_mu, d_sigma.mul_(sigma)]
        return (None, *out)
