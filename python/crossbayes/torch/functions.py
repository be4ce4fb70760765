"""Random weights and their KL as functions that autograd knows.

Draws and KL are the library's, in C (glue_weights.h), one call for all tensors of a draw. The
parameter is log sigma (V8), so that its derivative is sigma times that of sigma. The
backward pass (maths N8) has sigma z from theta, which the layer's product keeps anyway.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from crossbayes import _library
from crossbayes._library import Session
from crossbayes._native import ffi, lib

_SMALL = 1 << 16  # weights below which threads cost more than they bring
_DRAW, _PLACES = ffi.typeof("xb_py_draw *"), ffi.typeof("xb_py_places[]")
_SUMS = ffi.typeof("double[]")
_FILL = {torch.float32: lib.xb_py_draw_fill_float, torch.float64: lib.xb_py_draw_fill_double}
_BACK = {torch.float32: lib.xb_py_draw_back_float, torch.float64: lib.xb_py_draw_back_double}
_kept = threading.local()  # contexts that a thread uses again


class Source(NamedTuple):
    """Where noise comes from, as C takes it."""

    sampler: Any
    stream: Any
    kl: Any
    prior: Any  # of the KL


def alike(parameters: Sequence[Tensor], kind: torch.dtype | None = None) -> bool:
    """Whether one draw can make them all: one precision, in the memory of this machine."""
    first = parameters[0].dtype if kind is None else kind
    for p in parameters:
        if p.dtype != first or not p.is_cpu:
            return False
    return first in _FILL


def check(parameters: Sequence[Tensor]) -> None:
    """Refuses what is not float32 or float64 in the memory of this machine."""
    if alike(parameters):
        return
    for p in parameters:
        if p.device.type != "cpu":
            raise ValueError(f"weights are on {p.device}; layers with noise run on the CPU")
        if p.dtype not in _FILL:
            raise TypeError(f"weights are {p.dtype}, expected float32 or float64")
    raise TypeError("means and widths of a layer differ in their precision")


def context(threads: int) -> Any:
    """A context of this many threads, kept by each thread of the program."""
    try:
        return _kept.contexts[threads]
    except AttributeError:
        _kept.contexts, _kept.sessions = {}, []
    except KeyError:
        pass
    session = Session(threads=threads)
    _kept.sessions.append(session)
    ctx = _kept.contexts[threads] = session.ctx
    return ctx


def wide() -> Any:
    """A context whose loops are as wide as PyTorch's own."""
    few, most = torch.get_num_threads(), _library.default_threads
    return context(most if 0 < most < few else few)


class Plan(NamedTuple):
    """What is drawn: tensors by their numbers, as one draw or many, with the KL or without."""

    source: Source
    numbers: Sequence[int]
    groups: int  # draws of each tensor; 0: the KL alone
    mean: bool  # means are added; else they are outputs of their own
    with_kl: bool


def _struct(plan: Plan, places: Any, weight: float, largest: int) -> tuple[Any, Any]:
    """The C struct of a draw, and what it points to."""
    d, source = ffi.new(_DRAW), plan.source
    d.alone = d.ctx = context(1)
    d.alone_below = _SMALL // max(plan.groups, 1)
    if largest >= d.alone_below:
        d.ctx = wide()
    d.sampler, d.where = source.sampler, source.stream[0]
    at, sums = ffi.new(_PLACES, places), ffi.new(_SUMS, largest // lib.XB_PY_BLOCK + 1)
    d.at, d.sums, d.count = at, sums, len(places)
    d.groups, d.mean, d.weight = plan.groups, plan.mean, weight
    if plan.with_kl:
        d.kl, d.prior = source.kl, source.prior
    return d, (at, sums)


class Draw(torch.autograd.Function):
    """Random weights, and their KL to the prior as a last output.

    Called with a :class:`Plan`, and then mu and log sigma of each tensor. A tensor becomes
    theta_g = mu + sigma z_g, g = 0 .. groups - 1 (of one group without that side); of 0
    groups there is the KL alone. Without means there are sigma z of all tensors, then mu of
    all, so that what comes back to mu from both sides is added here.
    """

    @staticmethod
    def forward(ctx: Any, plan: Plan, *pairs: Tensor) -> tuple[Tensor, ...]:
        kept = [t if t.is_contiguous() else t.contiguous() for t in pairs]
        made: list[Tensor] = []
        places, largest, groups = [], 0, plan.groups
        for at, number in enumerate(plan.numbers):
            mu, width = kept[2 * at], kept[2 * at + 1]
            address, m = 0, mu.numel()
            if groups == 1:
                made.append(torch.empty_like(mu))
                address = made[at].data_ptr()
            elif groups:
                made.append(mu.new_empty((groups, *mu.shape)))
                address = made[at].data_ptr()
            places.append((number, m, mu.data_ptr(), width.data_ptr(), address, 0, 0, 0, 0))
            largest = max(largest, m)
        c, _keep = _struct(plan, places, 0.0, largest)
        kl = _FILL[kept[0].dtype](c)
        ctx.save_for_backward(*kept, *made)
        if groups and not plan.mean:
            made += [mu.view_as(mu) for mu in kept[::2]]
        ctx.plan = plan
        ctx.set_materialize_grads(False)
        return (*made, torch.scalar_tensor(kl, dtype=kept[0].dtype))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "layers with noise have no second derivatives with respect to parameters"
            )
        plan, kept = ctx.plan, ctx.saved_tensors
        weight = 0.0 if gradients[-1] is None else float(gradients[-1])
        if plan.with_kl and weight == 0.0:
            plan = plan._replace(with_kl=False)
        out: list[Any] = []
        places, largest, many = [], 0, len(plan.numbers)
        alive = [g if g is None or g.is_contiguous() else g.contiguous() for g in gradients]
        for at, number in enumerate(plan.numbers):
            mu, width = kept[2 * at : 2 * at + 2]
            m, d_mu, d_width = mu.numel(), torch.empty_like(mu), torch.empty_like(mu)
            theta = g = mean = 0
            if plan.groups:
                theta, g = kept[2 * many + at].data_ptr(), _address(alive[at])
                mean = 0 if plan.mean else _address(alive[many + at])
            back = theta, g, mean, d_mu.data_ptr(), d_width.data_ptr()
            places.append((number, m, mu.data_ptr(), width.data_ptr(), *back))
            largest = max(largest, m)
            out += (d_mu, d_width)
        c, _keep = _struct(plan, places, weight, largest)
        _BACK[kept[0].dtype](c)
        return (None, *out)


def once() -> None:
    """Refuses a second derivative of what runs in C."""
    if torch.is_grad_enabled():
        raise RuntimeError(
            "layers with noise run in C, which is differentiated once; set"
            " crossbayes.torch.noise_of(net).fused = False to differentiate twice"
        )


def fill(plan: Plan, pairs: Sequence[Tensor], made: Sequence[Tensor]) -> float:
    """Draws random tensors, mu and log sigma of each in ``pairs``; returns their KL."""
    return _run(plan, pairs, made, _FILL, 0.0)


def back(
    plan: Plan, pairs: Sequence[Tensor], made: Any, out: Sequence[Tensor], weight: float
) -> None:
    """The gradient of that, in the memory ``out`` of the gradients of the products. Where
    means are apart, the place of a width holds the gradient of sigma z before.
    """
    _run(plan, pairs, made, _BACK, weight, out)


def _run(plan: Plan, kept: Any, made: Any, way: Any, weight: float, out: Any = None) -> float:
    """A draw of one group, or its gradient in the memory of the gradients of the products."""
    places, largest = [], 0
    for at, number in enumerate(plan.numbers):
        mu, width = kept[2 * at], kept[2 * at + 1]
        back = (0, 0, 0, 0)
        if out is not None:
            d_mu, d_width = out[2 * at].data_ptr(), out[2 * at + 1].data_ptr()
            back = (d_mu, 0, d_mu, d_width) if plan.mean else (d_width, d_mu, d_mu, d_width)
        m = mu.numel()
        first = (number, m, mu.data_ptr(), width.data_ptr(), made[at].data_ptr())
        places.append((*first, *back))
        largest = max(largest, m)
    c, _keep = _struct(plan, places, weight, largest)
    return float(way[kept[0].dtype](c) or 0.0)


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()


def signs(source: Source, rows: int, channels: int, like: Tensor) -> Tensor:
    """Random signs [rows][channels] (N10)."""
    sign = torch.empty((rows, channels))
    place = ffi.cast("float *", sign.data_ptr())
    lib.xb_py_signs(source.sampler, source.stream, place, sign.numel())
    return sign if like.dtype == torch.float32 else sign.to(like.dtype)
