"""Max pooling of images with their channels last, in C."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from crossbayes._native import ffi, lib
from crossbayes.torch import functions

_SIDES, _WINDOW = ffi.typeof("int64_t[4]"), ffi.typeof("int64_t[2]")
_LARGEST = 16  # side of a window: places in it are bytes


def size_of(pool: Any, x: Any) -> int:
    """The side of the windows of a pooling; 0: it does not run in C on these images.

    ``pool`` is an ``nn.MaxPool2d`` or an ``nn.MaxPool1d``; x are images in either case, those
    of series with one line.
    """
    size = _side(pool.kernel_size)
    step = size if pool.stride is None else _side(pool.stride)
    whole = size == step and 1 < size <= _LARGEST and not pool.ceil_mode
    if not whole or pool.return_indices or _side(pool.padding) or _side(pool.dilation) != 1:
        return 0
    if type(x) is not Tensor or x.dim() != 4 or x.dtype != torch.float32 or not x.is_cpu:
        return 0
    least = min(x.shape[2:]) if isinstance(pool, torch.nn.MaxPool2d) else x.shape[3]
    fits = x.numel() > 0 and least >= size and not x.is_contiguous()
    return size if fits and x.is_contiguous(memory_format=torch.channels_last) else 0


def _side(sides: Any) -> int:
    """Of a window of equal sides; -1: it is none."""
    if isinstance(sides, int):
        return sides
    return int(sides[0]) if len(set(sides)) == 1 else -1


class Pool(torch.autograd.Function):
    """``F.max_pool2d(x, window)`` of float32 images with their channels last."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, window: tuple[int, int]) -> Tensor:
        n, c, h, w = x.shape
        shape, order = (n, c, h // window[0], w // window[1]), torch.channels_last
        y = torch.empty(shape, memory_format=order)
        place = torch.empty(shape, dtype=torch.uint8, memory_format=order)
        places = y.data_ptr(), place.data_ptr(), x.data_ptr()
        ctx.sides = ffi.new(_SIDES, (n, h, w, c))
        ctx.window = ffi.new(_WINDOW, window)
        lib.xb_py_pool_forward(functions.wide(), *places, ctx.sides, ctx.window)
        ctx.save_for_backward(place)
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Any, ...]:
        (place,) = ctx.saved_tensors
        n, h, w, c = ctx.sides
        if torch.is_grad_enabled():  # the gradient is to be differentiated in turn
            return _spread(dy, place, (n, c, h, w), ctx.window), None
        order = torch.channels_last
        dy = dy.contiguous(memory_format=order)
        dx = torch.empty((n, c, h, w), memory_format=order)
        places = dx.data_ptr(), dy.data_ptr(), place.data_ptr()
        lib.xb_py_pool_backward(functions.wide(), *places, ctx.sides, ctx.window)
        return dx, None


def _spread(dy: Tensor, place: Tensor, shape: tuple[int, ...], window: Any) -> Tensor:
    """The gradient, by PyTorch's operations."""
    (n, c, h, w), (high, wide) = shape, window
    lines = torch.arange(dy.shape[2]).view(-1, 1) * high + place.long() // wide
    columns = torch.arange(dy.shape[3]) * wide + place.long() % wide
    at = (lines * w + columns).flatten(2)
    return dy.new_zeros((n, c, h * w)).scatter(2, at, dy.flatten(2)).view(n, c, h, w)
