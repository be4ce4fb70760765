"""Dense layers one after another, with relu between them, as one function of autograd.

Products are the library's in float32, else PyTorch's. What is done to each weight (draws,
widths, the KL and its gradient) is one call in C for all layers together, forward and backward;
so are the signs of flipout, and what is done with them is one pass in C each.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from crossbayes._native import ffi, lib
from crossbayes.torch import functions
from crossbayes.torch.functions import Plan, Source
from crossbayes.torch.noise import SIGNS_IN, SIGNS_OUT

_WHOLE = ffi.typeof("int64_t[]")
# The library's products use vectors on these machines; elsewhere they are plain loops.
_VECTORS = platform.machine().lower() in ("x86_64", "amd64", "aarch64", "arm64")
_TURN = {
    torch.float32: (lib.xb_py_turn_float, lib.xb_py_turn_add_float, lib.xb_py_turn_back_float),
    torch.float64: (
        lib.xb_py_turn_double,
        lib.xb_py_turn_add_double,
        lib.xb_py_turn_back_double,
    ),
}


class Link(NamedTuple):
    """A dense layer of a chain."""

    sides: tuple[int, int]  # inputs and outputs
    given: int  # its parameters: 2 of the kernel; 3: with a bias; 4: with a random one
    relu: bool  # relu follows


class Signs(NamedTuple):
    """Where the signs of flipout come from, of inputs and outputs of each layer in turn."""

    source: Source
    tensors: Sequence[int]


def fits(modules: Sequence[Any]) -> bool:
    """Whether these modules are a chain: dense layers with noise, relu after some."""
    noisy = [type(m) is layers.NoisyLinear for m in modules]
    relus = [type(m) is nn.ReLU for m in modules]
    twice = any(a and b for a, b in zip(relus, relus[1:]))
    return all(a or b for a, b in zip(noisy, relus)) and noisy[0] and not twice


def run(chain: Any, x: Tensor) -> Tensor | None:
    """The outputs of a run of layers; None: not of these inputs."""
    first, given = chain.layers[0], chain.given()
    noise = first.noise
    plain = noise.fused and type(x) is Tensor and x.dim() == 2
    if not plain or noise.estimator == "example" or not functions.alike([x, *given]):
        return None
    links = _links(chain)
    wide = [x.shape[1], *(link.sides[1] for link in links)]
    if torch.is_autocast_enabled("cpu") or any(a != b.sides[0] for a, b in zip(wide, links)):
        return None  # PyTorch's own error
    with_kl = first.training and torch.is_grad_enabled()
    signs = None
    if noise.estimator == "flipout":
        tensors = [n for m in chain.layers for n in (m.tensor | SIGNS_IN, m.tensor | SIGNS_OUT)]
        signs = Signs(noise.signs(0), tensors)
    plan = Plan(noise.source(), chain.numbers, 1, signs is None, with_kl)
    y, kl = Chain.apply(plan, links, signs, x, *given)
    if with_kl:
        layers.note(chain.layers, kl, given)
    made: Tensor = y
    return made


def _links(chain: Any) -> list[Link]:
    made: list[Link] = []
    for module in chain.modules:
        if type(module) is nn.ReLU:
            made[-1] = made[-1]._replace(relu=True)
        else:
            given = 1 + len(module.random()) + (module.bias_log_sigma is not None)
            made.append(Link((module.in_features, module.out_features), given, False))
    return made


def _signs(signs: Signs, links: Sequence[Link], rows: int) -> tuple[Tensor, list[int]]:
    """All signs of a batch, and the address of each tensor's."""
    sizes = [rows * side for link in links for side in link.sides]
    made = torch.empty(sum(sizes))
    at = made.data_ptr()
    tensors, counts = ffi.new(_WHOLE, signs.tensors), ffi.new(_WHOLE, sizes)
    source = signs.source
    lib.xb_py_signs_all(source.sampler, source.stream, at, tensors, counts, len(sizes))
    places = []
    for size in sizes:
        places.append(at)
        at += 4 * size
    return made, places


class Chain(torch.autograd.Function):
    """Dense layers with one draw (N8), or with signs a draw for each example (N10).

    Called with a :class:`Plan`, the :class:`Link` of each layer, :class:`Signs` of flipout or
    None, x [rows][in], and then ``weights()`` of each layer. Outputs are y and the KL; they
    can be differentiated once.
    """

    @staticmethod
    def forward(
        ctx: Any,
        plan: Plan,
        links: Sequence[Link],
        signs: Signs | None,
        x: Tensor,
        *given: Tensor,
    ) -> tuple[Tensor, Tensor]:
        kept = [t if t.is_contiguous() else t.contiguous() for t in given]
        pairs = _pairs(links, kept)
        made = [torch.empty_like(mu) for mu in pairs[::2]]
        kl = functions.fill(plan, pairs, made)
        x = x if x.is_contiguous() else x.contiguous()
        layers = _layers(links, kept, made)
        if signs is None:
            passed = _forward(links, layers, x)
            sign = None
        else:
            sign = _signs(signs, links, len(x))
            passed = _forward_turned(links, layers, x, sign[1])
        y = passed.pop()
        ctx.save_for_backward(*kept, *made, *passed, y if links[-1].relu else x)
        ctx.plan, ctx.links, ctx.sign, ctx.counts = plan, links, sign, (len(kept), len(made))
        ctx.set_materialize_grads(False)
        return y, torch.scalar_tensor(kl, dtype=x.dtype)

    @staticmethod
    def backward(ctx: Any, dy: Any, d_kl: Any) -> tuple[Any, ...]:
        functions.once()
        plan, links, (many, drawn) = ctx.plan, ctx.links, ctx.counts
        saved = ctx.saved_tensors
        kept, made = saved[:many], saved[many : many + drawn]
        passed = saved[many + drawn :]
        if dy is None:
            dy = passed[0].new_zeros((len(passed[0]), links[-1].sides[1]))
        elif not dy.is_contiguous():
            dy = dy.contiguous()
        run = _backward if ctx.sign is None else _backward_turned
        layers = _layers(links, kept, made)
        dx, out = run(links, layers, passed, dy, ctx.sign, ctx.needs_input_grad[3])
        weight = 0.0 if d_kl is None else float(d_kl)
        if weight == 0.0:
            plan = plan._replace(with_kl=False)
        functions.back(plan, _pairs(links, kept), made, _pairs(links, out), weight)
        return (None, None, None, dx, *out)


def _pairs(links: Sequence[Link], given: Sequence[Tensor]) -> Sequence[Tensor]:
    """Of all parameters, those of random tensors."""
    if all(link.given != 3 for link in links):
        return given
    made: list[Tensor] = []
    at = 0
    for link in links:
        made += given[at : at + (2 if link.given == 3 else link.given)]
        at += link.given
    return made


class Weights(NamedTuple):
    """Of one layer: means, and what was drawn: theta, or sigma z without means."""

    mu: Tensor
    bias: Tensor | None
    theta: Tensor
    bias_theta: Tensor | None  # None: the bias is not random


def _layers(
    links: Sequence[Link], kept: Sequence[Tensor], made: Sequence[Tensor]
) -> list[Weights]:
    layers, at, drawn = [], 0, 0
    for _, given, _ in links:
        bias = kept[at + 2] if given > 2 else None
        random = made[drawn + 1] if given > 3 else None
        layers.append(Weights(kept[at], bias, made[drawn], random))
        at += given
        drawn += 2 if given > 3 else 1
    return layers


# ---- products: the library's in float32, else PyTorch's


def _product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """The outputs of a dense layer."""
    if not _own(x):
        return torch.mm(x, weight) if bias is None else torch.addmm(bias, x, weight)
    y = x.new_empty((len(x), weight.shape[1]))
    places = y.data_ptr(), x.data_ptr(), weight.data_ptr()
    at = 0 if bias is None else bias.data_ptr()
    lib.xb_py_dense_forward(functions.wide(), *places, at, len(x), *weight.shape)
    return y


def _by_weight(x: Tensor, dy: Tensor) -> Tensor:
    """The gradient with respect to its weights."""
    if not _own(x):
        return torch.mm(x.t(), dy)
    made = x.new_empty((x.shape[1], dy.shape[1]))
    places = made.data_ptr(), x.data_ptr(), dy.data_ptr()
    lib.xb_py_dense_weight(functions.wide(), *places, len(x), *made.shape)
    return made


def _by_input(dy: Tensor, weight: Tensor) -> Tensor:
    """The gradient with respect to its inputs."""
    if not _own(dy):
        return torch.mm(dy, weight.t())
    dx = dy.new_empty((len(dy), len(weight)))
    places = dx.data_ptr(), dy.data_ptr(), weight.data_ptr()
    lib.xb_py_dense_input(functions.wide(), *places, len(dy), *weight.shape)
    return dx


def _own(x: Tensor) -> bool:
    return x.dtype == torch.float32 and _VECTORS


# ---- one draw for the batch


def _forward(links: Sequence[Link], layers: Sequence[Weights], x: Tensor) -> list[Tensor]:
    """The inputs of each layer, and the outputs of the last."""
    passed = [x]
    for link, (_, bias, theta, bias_theta) in zip(links, layers):
        x = _product(x, theta, bias if bias_theta is None else bias_theta)
        if link.relu:
            x.relu_()
        passed.append(x)
    return passed


def _backward(
    links: Sequence[Link], layers: Any, passed: Any, dy: Tensor, _: Any, wanted: bool
) -> tuple[Tensor | None, list[Tensor]]:
    """The gradient with respect to x, if it is wanted, and with respect to the parameters,
    before the pass over each weight: that of widths is not yet there.
    """
    out: list[Tensor] = []
    dx: Tensor | None = dy
    for at in reversed(range(len(links))):
        if links[at].relu:
            dy = torch.ops.aten.threshold_backward(dy, passed[at + 1], 0)
        g = _by_weight(passed[at], dy)
        by = [g, torch.empty_like(g)]
        if links[at].given > 2:
            by.append(dy.sum(0))
        if links[at].given > 3:
            by.append(torch.empty_like(by[2]))
        out[:0] = by
        dx = _by_input(dy, layers[at].theta) if at or wanted else None
        if dx is not None:
            dy = dx
    return dx, out


# ---- signs


def _forward_turned(
    links: Sequence[Link], layers: Sequence[Weights], x: Tensor, signs: Sequence[int]
) -> list[Tensor]:
    """The inputs of each layer, plain and turned, and the outputs of the last."""
    turn, turn_add, _ = _TURN[x.dtype]
    rows, wide = len(x), functions.wide()
    passed = []
    for at, (link, layer) in enumerate(zip(links, layers)):
        turned = torch.empty_like(x)
        turn(wide, turned.data_ptr(), x.data_ptr(), signs[2 * at], rows * link.sides[0])
        passed += [x, turned]
        x = _product(x, layer.mu, layer.bias)
        noise = _product(turned, layer.theta, layer.bias_theta)
        n = rows * link.sides[1]
        turn_add(wide, x.data_ptr(), noise.data_ptr(), signs[2 * at + 1], n, link.relu)
    return [*passed, x]


def _backward_turned(
    links: Sequence[Link], layers: Any, passed: Any, dy: Tensor, sign: Any, wanted: bool
) -> tuple[Tensor | None, list[Tensor]]:
    """As :func:`_backward`; the place of a width holds the gradient of sigma z."""
    turn, turn_add, turn_back = _TURN[dy.dtype]
    rows, signs, wide = len(dy), sign[1], functions.wide()
    out: list[Tensor] = []
    own, dx = False, None  # whether dy may be written
    for at in reversed(range(len(links))):
        (wide_in, wide_out), given, relu = links[at]
        turned, s = torch.empty_like(dy), signs[2 * at + 1]
        if relu:
            y, behind = passed[2 * at + 2], dy if own else torch.empty_like(dy)
            places = turned.data_ptr(), behind.data_ptr(), dy.data_ptr(), y.data_ptr()
            turn_back(wide, *places, s, rows * wide_out)
            dy = behind
        else:
            turn(wide, turned.data_ptr(), dy.data_ptr(), s, rows * wide_out)
        by = [_by_weight(passed[2 * at], dy), _by_weight(passed[2 * at + 1], turned)]
        if given > 2:
            by.append(dy.sum(0))
        if given > 3:
            by.append(turned.sum(0))
        out[:0] = by
        if at or wanted:
            dx = _by_input(dy, layers[at].mu)
            noise = _by_input(turned, layers[at].theta)
            n = rows * wide_in
            turn_add(wide, dx.data_ptr(), noise.data_ptr(), signs[2 * at], n, False)
            dy, own = dx, True
    return dx if wanted else None, out


from crossbayes.torch import layers  # noqa: E402  (it needs what is above)
