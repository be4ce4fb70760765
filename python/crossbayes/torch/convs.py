"""A convolution of images of few channels, the first of a network, as one function of autograd.

Its draws, KL, outputs and gradients are C (glue_convs.h). It is for one draw for the batch, in
float32, where the machine has long vectors and the gradient of the images is not needed;
PyTorch's convolution, which is faster with more channels, does the rest.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from crossbayes._native import ffi, lib
from crossbayes.torch import functions, layers
from crossbayes.torch.functions import Plan

_CONV = ffi.typeof("xb_py_conv *")
_FAST = bool(lib.xb_py_conv_fast())


def run(layer: Any, x: Tensor) -> Tensor | None:
    """The layer's outputs; None: PyTorch's convolution does it."""
    pads = _pads(layer, x) if _FAST and layer.noise.fused and type(x) is Tensor else None
    given = layer.weights()
    if pads is None or not functions.alike([x, *given], torch.float32):
        return None
    if torch.is_autocast_enabled("cpu") or (x.requires_grad and torch.is_grad_enabled()):
        return None
    with_kl = layer.training and torch.is_grad_enabled()
    plan = Plan(layer.noise.source(), layer.numbers(), 1, True, with_kl)
    y, kl = Conv.apply(plan, pads, x, *given)
    if with_kl:
        layers.note([layer], kl, given)
    made: Tensor = y
    return made


def _pads(layer: Any, x: Tensor) -> tuple[int, ...] | None:
    """What ``F.pad`` adds left, right, above and below; None: the shapes are not for this."""
    shape = layer._parameters["kernel_mu"].shape
    if len(shape) != 4 or x.dim() != 4 or len(x) == 0 or x.shape[1] != shape[2]:
        return None
    taps = shape[0] * shape[1] * shape[2]
    whole = taps % lib.XB_PY_TAPS == 0 and shape[3] % lib.XB_PY_LANES == 0
    if not whole or not 0 < taps <= lib.XB_PY_MOST_TAPS or shape[3] == 0 or layer.groups != 1:
        return None
    if set(layer.stride) != {1} or set(layer.dilation) != {1}:
        return None
    pads: list[int] = []
    for side in (1, 0):
        size, pad = shape[side], layer.padding
        if pad == "same":
            pads += ((size - 1) // 2, size // 2)
        else:
            pads += (0, 0) if pad == "valid" else (pad[side], pad[side])
        if x.shape[side + 2] + sum(pads[-2:]) < size:
            return None  # PyTorch's own error
    return tuple(pads)


def _lines(x: Tensor, pads: tuple[int, ...]) -> Tensor:
    """Images in the library's order, channels last, with their edges."""
    lines = x.movedim(1, -1).contiguous()
    return F.pad(lines, (0, 0, *pads)) if any(pads) else lines


def _run(way: Any, x: Tensor, w: Tensor, *places: int) -> None:
    """A call of C: y, w, the bias and sums are addresses."""
    kh, kw, inputs, out = w.shape
    n, h, wide = len(x), x.shape[1] - kh + 1, x.shape[2] - kw + 1
    y, weight, bias, sums = places
    sides = n, h, wide, kh, kw, inputs, out
    way(functions.wide(), ffi.new(_CONV, (y, x.data_ptr(), weight, bias, sums, *sides)))


class Conv(torch.autograd.Function):
    """Called with a :class:`Plan`, padding, x, and ``weights()`` of the layer.

    Outputs are y and the KL. They can be differentiated once, with respect to the parameters.
    """

    @staticmethod
    def forward(
        ctx: Any, plan: Plan, pads: tuple[int, ...], x: Tensor, *given: Tensor
    ) -> tuple[Tensor, Tensor]:
        kept = [t if t.is_contiguous() else t.contiguous() for t in given]
        pairs = kept if len(kept) != 3 else kept[:2]
        made = [torch.empty_like(mu) for mu in pairs[::2]]
        kl = functions.fill(plan, pairs, made)
        lines = _lines(x, pads)
        theta = made[0]
        kh, kw, _, out = theta.shape
        n, h, wide = len(lines), lines.shape[1] - kh + 1, lines.shape[2] - kw + 1
        y = torch.empty((n, out, h, wide), memory_format=torch.channels_last)
        bias = made[1] if len(kept) > 3 else kept[2] if len(kept) > 2 else None
        places = theta.data_ptr(), 0 if bias is None else bias.data_ptr()
        _run(lib.xb_py_conv_forward, lines, theta, y.data_ptr(), *places, 0)
        ctx.save_for_backward(lines, *kept, *made)
        ctx.plan, ctx.many = plan, len(kept)
        ctx.set_materialize_grads(False)
        return y, torch.scalar_tensor(kl)

    @staticmethod
    def backward(ctx: Any, dy: Any, d_kl: Any) -> tuple[Any, ...]:
        functions.once()
        x, *saved = ctx.saved_tensors
        plan, kept, made = ctx.plan, saved[: ctx.many], saved[ctx.many :]
        out = [torch.empty_like(t) for t in kept]
        bias = out[2].data_ptr() if len(out) > 2 else 0
        if dy is None:
            for gradient in out:
                gradient.zero_()
        else:
            dy = dy.contiguous(memory_format=torch.channels_last)
            taps, channels = made[0].numel() // made[0].shape[3], made[0].shape[3]
            sums = torch.empty(len(x) * (taps + 1) * channels)
            places = dy.data_ptr(), out[0].data_ptr(), bias, sums.data_ptr()
            _run(lib.xb_py_conv_backward, x, made[0], *places)
        weight = 0.0 if d_kl is None else float(d_kl)
        if weight == 0.0:
            plan = plan._replace(with_kl=False)
        random = slice(0, 2 if len(kept) == 3 else None)
        functions.back(plan, kept[random], made, out[random], weight)
        return (None, None, None, *out)
