"""Layers that run as one pass of the library, forward and backward in C.

A part is a layer with noise, or several modules of a Sequential one after another that begin
with one. Where the library has them too (float32, on the CPU), the part is a net of its own
whose tensors are numbered as in the whole network, so its draws are those of layers that run
alone; its noise is drawn again in the backward pass, not kept, and the KL of its weights comes
with it. Everything else runs by PyTorch's own operations (layers.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from crossbayes._library import Session
from crossbayes._native import ffi, lib
from crossbayes.torch import chains, functions
from crossbayes.torch.layers import ImagePool, NoisyConv, NoisyLayer, NoisyLinear, note

_ESTIMATOR = {
    "shared": lib.XB_ESTIMATOR_SHARED,
    "flipout": lib.XB_ESTIMATOR_FLIPOUT,
    "example": lib.XB_ESTIMATOR_EXAMPLE,
}
_PART, _TENSORS = ffi.typeof("xb_py_part *"), ffi.typeof("xb_py_tensor[]")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
# Weights of a dense layer; above, products of the whole batch are faster (chains.py): a pass
# cuts it into pieces, so that sums have the same order for any number of threads.
_MOST = {"shared": 1 << 11, "flipout": 1 << 13}
_KEPT = 32  # nets of different shapes that a network keeps


# ---- what the library has


def _dense(layer: Any) -> str | None:
    if layer.kernel_mu.numel() > _MOST.get(layer.noise.estimator, 1 << 62):
        return None
    return f"dense {layer.out_features}" + ("" if layer.bias_mu is not None else " nobias")


def _conv(layer: Any) -> str | None:
    sides, step = tuple(layer.kernel_mu.shape[:-2]), layer.stride[0]
    plain = layer.groups == 1 and set(layer.dilation) == {1}
    if not plain or any(s != step for s in layer.stride):
        return None
    pads = layer.padding
    if not isinstance(pads, str):
        same = step == 1 and all(2 * p == k - 1 for p, k in zip(pads, sides))
        if not same and any(pads):
            return None
        pads = "same" if same else "valid"
    text = f"conv {layer.out_channels} {sides[0]}x{sides[1] if len(sides) > 1 else 1}"
    text += f" stride {step}" if step > 1 else ""
    return f"{text} {pads}" + ("" if layer.bias_mu is not None else " nobias")


def _pool(layer: Any) -> str | None:
    size = layer.kernel_size
    step = size if layer.stride is None else layer.stride
    if not isinstance(size, int) or not isinstance(step, int):
        return None
    if layer.padding != 0 or layer.dilation != 1 or layer.return_indices:
        return None
    return f"maxpool {size} stride {step}" + (" ceil" if layer.ceil_mode else "")


_TEXT: dict[type, Any] = {
    NoisyLinear: _dense,
    NoisyConv: _conv,
    ImagePool: _pool,
    nn.MaxPool2d: _pool,
    nn.ReLU: lambda _: "relu",
    nn.Tanh: lambda _: "tanh",
    nn.Sigmoid: lambda _: "sigmoid",
    nn.ELU: lambda layer: "elu" if layer.alpha == 1.0 else None,
}


def text_of(module: Any) -> str | None:
    """The library's text of a module; None: the library does not have it."""
    make = _TEXT.get(type(module))
    text: str | None = None if make is None else make(module)
    return text


class Run:
    """Modules one after another that may run as one; what is known of them beforehand."""

    def __init__(self, modules: list[Any], texts: list[str | None]) -> None:
        self.modules = modules
        self.texts = tuple(text or "" for text in texts)
        self.layers = [m for m in modules if isinstance(m, NoisyLayer)]
        self.together = bool(self.layers) and self.layers[0] is modules[0]
        self.random = tuple(r for layer in self.layers for r in layer.random())
        # products of the whole batch: too large for a part, or a layer that has no text
        self.chain = self.together and "" in self.texts and chains.fits(modules)
        self.numbers = tuple(n for layer in self.layers for n in layer.numbers())
        self.kept: Any = None  # shape of the last inputs, estimator, and what ran

    def given(self) -> list[Tensor]:
        """The parameters of all layers as they are now."""
        made: list[Tensor] = []
        for layer in self.layers:
            made += layer.weights()
        return made

    def __call__(self, x: Tensor) -> Tensor | None:
        """The outputs; None: the modules cannot run as one on these inputs."""
        if not self.together:
            return None
        return chains.run(self, x) if self.chain else run(self, x)


def runs(modules: Sequence[Any]) -> list[Run]:
    """The longest runs of these modules; one of a single module may be anything."""
    made: list[tuple[list[Any], list[str | None]]] = []
    open_ = chain = False  # the last run may go on; it is a chain
    for module in modules:
        text, noisy = text_of(module), isinstance(module, NoisyLayer)
        known = not hooked([module]) and (text is not None or type(module) is NoisyLinear)
        fits = text is not None if not chain else type(module) in (NoisyLinear, nn.ReLU)
        if not (open_ and known and fits and (not noisy or _follows(made[-1][0], module))):
            made.append(([], []))
            open_, chain = known and noisy, text is None
        made[-1][0].append(module)
        made[-1][1].append(None if chain and noisy else text)
    return [Run(*one) for one in made]


def hooked(modules: Sequence[Any]) -> bool:
    """Whether any of them has a hook, which must see its module alone."""
    for module in modules:  # every step asks: any() of generators takes three times as long
        own = module.__dict__
        for name in _HOOKS:
            if own[name]:
                return True
    return False


def _follows(part: list[Any], layer: Any) -> bool:
    """Whether a layer's tensors are numbered on from those of the part, in the same noise."""
    last = next(m for m in reversed(part) if isinstance(m, NoisyLayer))
    end = last.tensor + (1 if last.bias_mu is None else 2)
    return bool(
        end == layer.tensor
        and layer.noise is last.noise
        and layer.kernel_mu.dim() == last.kernel_mu.dim()  # flatten orders images otherwise
        and layer not in part
    )


# ---- a part that runs


class Slot:
    """The workspace of one pass: the library's, the net's blocks of mu and sigma, and the
    struct of its calls in C, which knows the parameters' places until they change.
    """

    __slots__ = ("at", "blocks", "c", "capacity", "part", "sizes", "tensors")

    def __init__(self, runner: Runner, rows: int, c: Any) -> None:
        self.c, self.capacity = c, rows
        self.blocks = torch.empty(2 * runner.params)
        self.tensors = ffi.new(_TENSORS, len(runner.tensors))
        self.part = p = ffi.new(_PART)
        setattr(p, "pass", c)
        p.tensor, p.count = self.tensors, len(runner.tensors)
        p.mu = self.blocks.data_ptr()
        p.sigma = p.mu + 4 * runner.params
        self.at: list[int] = []
        self.sizes: list[int] = []

    def place(self, runner: Runner, given: Sequence[Tensor]) -> None:
        """Tells the struct where the parameters are."""
        at = [t.data_ptr() for t in given]
        sizes = [t.numel() for t in given]
        if at == self.at and sizes == self.sizes:
            return
        expected = [m for m, random in runner.tensors for _ in range(1 + random)]
        if sizes != expected:
            raise ValueError(f"parameters have {sizes} elements, expected {expected}")
        next_ = 0
        for place, (m, random) in zip(self.tensors, runner.tensors):
            place.m, place.mu = m, at[next_]
            place.width = at[next_ + 1] if random else 0
            next_ += 1 + random
        self.at, self.sizes = at, sizes


class Runner:
    """A net of the library, and the passes of it that are free."""

    def __init__(
        self, text: str, shape: Any, first: int, random: tuple[bool, ...], estimator: str
    ) -> None:
        session = Session()
        options = ffi.new("xb_net_options *", lib.xb_net_options_default())
        options.stochastic = lib.XB_STOCHASTIC_ALL
        place = ffi.new("xb_shape *", shape)[0]
        self.net = session.make(lib.xb_net_parse, text.encode(), place, options)
        for tensor, is_random in enumerate(random):
            if not is_random:
                session.check(lib.xb_net_set_stochastic(session.ctx, self.net, tensor, False))
        sizes = [lib.xb_net_tensor_at(self.net, t).size for t in range(len(random))]
        self.tensors = list(zip(sizes, random))  # size of each, and whether it is random
        self.options = ffi.new("xb_pass_options *", lib.xb_pass_options_default())
        self.options.estimator = _ESTIMATOR[estimator]
        self.options.first_tensor = first
        self.backend = ffi.new("char[]", b"cpu")
        self.options.backend = self.backend
        self.params = int(lib.xb_net_param_count(self.net))
        out = lib.xb_net_output(self.net)
        self.out = int(out.h), int(out.w), int(out.c)
        self.free: dict[bool, list[Slot]] = {True: [], False: []}
        self.gradients: list[Any] = []  # where they lie in the block of a backward pass

    def take(self, rows: int, gradients: bool) -> Slot:
        """A pass with room for so many examples."""
        free = self.free[gradients]
        while free:
            slot = free.pop()
            if slot.capacity >= rows:
                return slot
        self.options.batch, self.options.gradients = rows, gradients
        return Slot(self, rows, Session().make(lib.xb_pass_create, self.net, self.options))


class Lent:
    """A pass between forward and backward; it goes back when nobody needs it any more."""

    __slots__ = ("home", "slot")

    def __init__(self, slot: Slot, home: list[Slot]) -> None:
        self.slot: Slot | None = slot
        self.home = home

    def give_back(self) -> None:
        slot, self.slot = self.slot, None
        if slot is not None:
            self.home.append(slot)

    __del__ = give_back


class Part(NamedTuple):
    """One call of a part: what runs, and where its noise is."""

    runner: Runner
    source: functions.Source
    with_kl: bool
    image: int  # sides of an example: 1: none, 2: one dimension, 3: two


def run(part: Run, x: Tensor) -> Tensor | None:
    """The part's outputs; None: the library cannot run it on these inputs."""
    first = part.layers[0]
    noise = first.noise
    if not noise.fused or type(x) is not Tensor:
        return None
    given = part.given()
    if x.dtype != torch.float32 or not x.is_cpu or not functions.alike(given, torch.float32):
        return None
    shape, estimator = x.shape, noise.estimator
    kept = part.kept
    if kept is not None and kept[0] == shape and kept[1] == estimator:
        runner = kept[2]
    else:
        runner = _find(part, noise, shape, given[0], estimator)
        part.kept = shape, estimator, runner
    if runner is None:
        return None
    with_kl = torch.is_grad_enabled() and first.training
    call = Part(runner, noise.source(), with_kl, len(shape) - 1)
    y, kl = Pass.apply(call, x, *given)
    if with_kl:
        note(part.layers, kl, given)
    made: Tensor = y
    return made


def _find(part: Run, noise: Any, shape: Any, kernel: Tensor, estimator: str) -> Runner | None:
    """What runs the part on inputs of a shape; None: the library does not."""
    sides = kernel.dim() - 1
    if len(shape) != sides + 1 or shape[0] == 0:
        return None
    if len(part.modules) == 1 and sides == 3 and estimator == "shared":
        return None  # of a convolution of images alone PyTorch's product is faster
    if shape[1] != kernel.shape[-2]:
        return None  # PyTorch's own error
    key = part.texts, shape[1:], part.layers[0].tensor, part.random, estimator
    if key in noise.runners:
        known: Runner | None = noise.runners[key]
        return known
    return _runner(noise, key, shape)


def _runner(noise: Any, key: Any, shape: Any) -> Runner | None:
    """The net of these modules; made once for each shape of examples."""
    texts, _, tensor, random, estimator = key
    made = None
    if "" not in texts:
        with contextlib.suppress(ValueError):  # of what does not fit, PyTorch says so itself
            made = Runner(", ".join(texts), _shape(shape), tensor, random, estimator)
    if len(noise.runners) >= _KEPT:
        noise.runners.clear()
    noise.runners[key] = made
    return made


def _shape(sides: Any) -> tuple[int, int, int]:
    """Height, width and channels of an example of PyTorch's order."""
    if len(sides) == 2:
        return 1, 1, sides[1]
    return sides[2], sides[3] if len(sides) == 4 else 1, sides[1]


def _lines(x: Tensor) -> Tensor:
    """Examples in the library's order, channels last; the same memory where it is so."""
    if x.dim() > 2:
        x = x.movedim(1, -1)
    return x if x.is_contiguous() else x.contiguous()


def _empty(rows: int, shape: tuple[int, int, int], image: int) -> Tensor:
    """Examples of PyTorch's order of sides in memory of the library's order."""
    h, w, c = shape
    if image == 1:
        return torch.empty((rows, h * w * c))
    if image == 2:
        return torch.empty_strided((rows, c, h), (h * c, 1, c))
    return torch.empty_strided((rows, c, h, w), (h * w * c, 1, w * c, c))


class Pass(torch.autograd.Function):
    """A part, called with its inputs and then the parameters of each of its tensors.

    Outputs are y and the KL of the part's weights; they can be differentiated once.
    """

    @staticmethod
    def forward(ctx: Any, part: Part, x: Tensor, *given: Tensor) -> tuple[Tensor, Tensor]:
        lines = _lines(x)
        kept = [t if t.is_contiguous() else t.contiguous() for t in given]
        gradients = True in ctx.needs_input_grad
        runner = part.runner
        slot = runner.take(len(lines), gradients)
        lent = Lent(slot, runner.free[gradients])
        y = _empty(len(lines), runner.out, part.image)
        kl = _forward(part, slot, y, lines, kept)
        if gradients:
            ctx.save_for_backward(lines, *kept)
            ctx.part, ctx.lent, ctx.shape = part, lent, x.shape
            ctx.set_materialize_grads(False)
        else:
            lent.give_back()
        return y, torch.scalar_tensor(kl)

    @staticmethod
    def backward(ctx: Any, dy: Any, d_kl: Any) -> tuple[Any, ...]:
        functions.once()
        part, lent = ctx.part, ctx.lent
        x, *given = ctx.saved_tensors
        slot = lent.slot
        if slot is None:  # a second time: the same noise, so the same pass again
            slot = part.runner.take(len(x), True)
            ctx.lent = lent = Lent(slot, part.runner.free[True])
            _forward(part, slot, _empty(len(x), part.runner.out, part.image), x, given)
        d_x = _empty(len(x), _shape(ctx.shape), part.image) if ctx.needs_input_grad[1] else None
        made = _backward(part, slot, given, dy, d_x, 0.0 if d_kl is None else float(d_kl))
        lent.give_back()
        return (None, d_x, *made)


def _forward(part: Part, slot: Slot, y: Tensor, x: Tensor, given: Sequence[Tensor]) -> float:
    slot.place(part.runner, given)
    p, source, wide = slot.part, part.source, functions.wide()
    kl = source.kl if part.with_kl else ffi.NULL
    noise = source.sampler, source.stream, kl
    places = y.data_ptr(), x.data_ptr(), len(x)
    _check(wide, lib.xb_py_part_forward(p, wide, functions.context(1), *noise, *places))
    return float(p.divergence)


def _backward(
    part: Part, slot: Slot, given: Any, dy: Any, d_x: Tensor | None, weight: float
) -> list[Tensor]:
    """Gradients by the parameters, views of one block: means, then widths."""
    runner, wide = part.runner, functions.wide()  # this thread may be another
    block = torch.empty(2 * runner.params)
    kl = part.source.kl if part.with_kl and weight != 0.0 else ffi.NULL
    at_dy = at_dx = 0
    if dy is not None:
        dy = _lines(dy)
        at_dy, at_dx = dy.data_ptr(), 0 if d_x is None else d_x.data_ptr()
    elif d_x is not None:
        d_x.zero_()
    places = block.data_ptr(), at_dx, at_dy
    alone = functions.context(1)
    status = lib.xb_py_part_backward(slot.part, wide, alone, kl, weight, runner.params, *places)
    _check(wide, status)
    if not runner.gradients:
        runner.gradients = _places(runner, given)
    return [torch.as_strided(block, *place) for place in runner.gradients]


def _places(runner: Runner, given: Sequence[Tensor]) -> list[Any]:
    """Sizes, strides and place of each gradient in the block."""
    made, at, start = [], 0, 0
    for m, random in runner.tensors:
        mu = given[at]
        made.append((mu.shape, mu.stride(), start))
        if random:
            made.append((mu.shape, mu.stride(), start + runner.params))
        at += 1 + random
        start += m
    return made


def _check(ctx: Any, status: int) -> None:
    if status != lib.XB_OK:
        raise RuntimeError(ffi.string(lib.xb_ctx_message(ctx)).decode())
