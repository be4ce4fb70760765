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
_NOISE = ffi.typeof("xb_noise *")
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

    def given(self) -> list[Tensor]:
        """The parameters of all layers as they are now."""
        if len(self.layers) == 1:
            return self.layers[0].weights()
        return [p for layer in self.layers for p in layer.weights()]

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


class Slot(NamedTuple):
    """The workspace of one pass: the library's, and the net's blocks of mu and sigma."""

    c: Any
    blocks: Tensor
    capacity: int


class Runner:
    """A net of the library, and the passes of it that are free."""

    def __init__(self, text: str, shape: Any, first: int, fixed: Any, estimator: str) -> None:
        session = Session()
        options = ffi.new("xb_net_options *", lib.xb_net_options_default())
        options.stochastic = lib.XB_STOCHASTIC_ALL
        place = ffi.new("xb_shape *", shape)[0]
        self.net = session.make(lib.xb_net_parse, text.encode(), place, options)
        for tensor in fixed:
            session.check(lib.xb_net_set_stochastic(session.ctx, self.net, tensor, False))
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
        made = Session().make(lib.xb_pass_create, self.net, self.options)
        return Slot(made, torch.empty(2 * self.params), rows)


class Lent:
    """A pass between forward and backward; it goes back when nobody needs it any more."""

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
    noise: Any  # xb_noise
    source: functions.Source
    with_kl: bool
    image: int  # sides of an example: 1: none, 2: one dimension, 3: two
    random: tuple[bool, ...]  # of each tensor


def run(part: Run, x: Tensor) -> Tensor | None:
    """The part's outputs; None: the library cannot run it on these inputs."""
    layers = part.layers
    first = layers[0]
    noise, kernel = first.noise, first._parameters["kernel_mu"]
    sides = kernel.dim() - 1
    if not noise.fused or type(x) is not Tensor or x.dim() != sides + 1 or len(x) == 0:
        return None
    if len(part.modules) == 1 and sides == 3 and noise.estimator == "shared":
        return None  # of a convolution of images alone PyTorch's product is faster
    if x.shape[1] != kernel.shape[-2]:
        return None  # PyTorch's own error
    given = part.given()
    if x.dtype != torch.float32 or not functions.alike([x, *given]):
        return None
    key = part.texts, x.shape[1:], first.tensor, part.random, noise.estimator
    runner = noise.runners[key] if key in noise.runners else _runner(noise, key, x.shape)
    if runner is None:
        return None
    source = noise.source()
    stream = source.stream
    place = ffi.new(_NOISE)
    place.sampler, place.key = source.sampler, stream.key
    place.step, place.sample = stream.step, stream.sample
    with_kl = torch.is_grad_enabled() and first.training
    y, kl = Pass.apply(Part(runner, place, source, with_kl, sides, part.random), x, *given)
    if with_kl:
        note(layers, kl, given)
    made: Tensor = y
    return made


def _runner(noise: Any, key: Any, shape: Any) -> Runner | None:
    """The net of these modules; made once for each shape of examples."""
    texts, _, tensor, random, estimator = key
    made = None
    if "" not in texts:
        fixed = [i for i, r in enumerate(random) if not r]
        with contextlib.suppress(ValueError):  # of what does not fit, PyTorch says so itself
            made = Runner(", ".join(texts), _shape(shape), tensor, fixed, estimator)
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
    return x.contiguous()


def _empty(rows: int, shape: tuple[int, int, int], image: int) -> Tensor:
    """Examples of PyTorch's order of sides in memory of the library's order."""
    h, w, c = shape
    if image == 1:
        return torch.empty((rows, h * w * c))
    if image == 2:
        return torch.empty_strided((rows, c, h), (h * c, 1, c))
    return torch.empty_strided((rows, c, h, w), (h * w * c, 1, w * c, c))


def _struct(part: Part, slot: Slot, x: Tensor, given: Sequence[Tensor]) -> tuple[Any, Any]:
    """The C struct of a call, and what it points to."""
    p, at = ffi.new(_PART), iter(given)
    p.ctx, p.alone = functions.wide(), functions.context(1)
    setattr(p, "pass", slot.c)
    p.noise, p.batch, p.x = part.noise[0], len(x), x.data_ptr()
    if part.with_kl:
        p.kl = part.source.kl
    p.mu = slot.blocks.data_ptr()
    p.sigma = p.mu + 4 * part.runner.params
    places = []
    for random in part.random:
        mu = next(at)
        width = next(at).data_ptr() if random else 0
        places.append((mu.numel(), mu.data_ptr(), width))
    tensors = ffi.new(_TENSORS, places)
    p.tensor, p.count = tensors, len(places)
    return p, tensors


class Pass(torch.autograd.Function):
    """A part, called with its inputs and then the parameters of each of its tensors.

    Outputs are y and the KL of the part's weights. To be differentiated once.
    """

    @staticmethod
    def forward(ctx: Any, part: Part, x: Tensor, *given: Tensor) -> tuple[Tensor, Tensor]:
        lines = _lines(x)
        kept = [t if t.is_contiguous() else t.contiguous() for t in given]
        gradients = any(ctx.needs_input_grad)
        slot = part.runner.take(len(x), gradients)
        lent = Lent(slot, part.runner.free[gradients])
        y = _empty(len(x), part.runner.out, part.image)
        struct = _struct(part, slot, lines, kept)
        kl = _forward(struct[0], y)
        if gradients:
            ctx.save_for_backward(lines, *kept)
            ctx.part, ctx.lent, ctx.struct = part, lent, struct
            ctx.shape = x.shape
            ctx.set_materialize_grads(False)
        else:
            lent.give_back()
        return y, torch.scalar_tensor(kl)

    @staticmethod
    def backward(ctx: Any, dy: Any, d_kl: Any) -> tuple[Any, ...]:
        functions.once()
        part, (x, *given) = ctx.part, ctx.saved_tensors
        slot, lent = ctx.lent.slot, ctx.lent
        if slot is None:  # a second time: the same noise, so the same pass again
            slot = part.runner.take(len(x), True)
            ctx.lent = lent = Lent(slot, part.runner.free[True])
            ctx.struct = _struct(part, slot, x, given)
            _forward(ctx.struct[0], _empty(len(x), part.runner.out, part.image))
        d_x = _empty(len(x), _shape(ctx.shape), part.image) if ctx.needs_input_grad[1] else None
        weight = 0.0 if d_kl is None else float(d_kl)
        made = _backward(part, ctx.struct[0], given, dy, d_x, weight)
        lent.give_back()
        return (None, d_x, *made)


def _forward(p: Any, y: Tensor) -> float:
    p.y = y.data_ptr()
    _check(p, lib.xb_py_part_forward(p))
    return float(p.divergence)


def _backward(
    part: Part, p: Any, given: Any, dy: Any, d_x: Tensor | None, weight: float
) -> list[Tensor]:
    """Gradients by the parameters, views of one block: means, then widths."""
    p.ctx, p.alone = functions.wide(), functions.context(1)  # this thread may be another
    block = torch.empty(2 * part.runner.params)
    p.d_mu, p.weight = block.data_ptr(), weight
    p.d_width = p.d_mu + 4 * part.runner.params
    if weight == 0.0:
        p.kl = ffi.NULL
    if dy is not None:
        lines = _lines(dy)
        p.dy = lines.data_ptr()
        p.dx = 0 if d_x is None else d_x.data_ptr()
    elif d_x is not None:
        d_x.zero_()
    _check(p, lib.xb_py_part_backward(p))
    runner = part.runner
    if not runner.gradients:
        runner.gradients = _places(part, given)
    return [torch.as_strided(block, *place) for place in runner.gradients]


def _places(part: Part, given: Sequence[Tensor]) -> list[Any]:
    """Sizes, strides and place of each gradient in the block."""
    made, at, start = [], 0, 0
    for random in part.random:
        mu = given[at]
        made.append((mu.shape, mu.stride(), start))
        if random:
            made.append((mu.shape, mu.stride(), start + part.runner.params))
        at += 2 if random else 1
        start += mu.numel()
    return made


def _check(p: Any, status: int) -> None:
    if status != lib.XB_OK:
        raise RuntimeError(ffi.string(lib.xb_ctx_message(p.ctx)).decode())
