"""Linear and Conv layers whose weights carry a device's noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from crossbayes.laws import Law
from crossbayes.torch import functions, pools
from crossbayes.torch.compiled import apart
from crossbayes.torch.noise import SIGNS_IN, SIGNS_OUT, Noise


class NoisyLayer(nn.Module):
    """What Linear and Conv layers with noise have in common.

    ``kernel_mu`` and ``kernel_log_sigma`` have the library's order of sides, [in][out] or
    [kh][kw][in][out], so that their draws are the library's.
    """

    def __init__(self, plain: Any, noise: Noise, tensor: int, sigma: float, bias: bool) -> None:
        super().__init__()
        self.noise, self.tensor = noise, tensor
        self.axes = _axes(plain.weight.dim())
        weight = plain.weight.detach().permute(self.axes)
        self.kernel_mu = nn.Parameter(weight.clone(memory_format=torch.contiguous_format))
        self.kernel_log_sigma = nn.Parameter(_width(self.kernel_mu, sigma))
        self.bias_mu = None if plain.bias is None else nn.Parameter(plain.bias.detach().clone())
        self.bias_log_sigma = None
        if bias and self.bias_mu is not None:
            self.bias_log_sigma = nn.Parameter(_width(self.bias_mu, sigma))

    @property
    def law(self) -> Law:
        return self.noise.law

    def _pair(self, role: str) -> tuple[Tensor, Tensor]:
        """Means and log sigma of the kernel or the bias."""
        return getattr(self, f"{role}_mu"), getattr(self, f"{role}_log_sigma")

    def sigma(self, role: str) -> Tensor:
        """Standard deviations of the kernel or the bias."""
        return self._pair(role)[1].detach().exp()

    def pairs(self) -> list[Tensor]:
        """Means and log sigma of each random tensor, one after another."""
        made = self.weights()
        return made[:2] if len(made) == 3 else made

    def weights(self) -> list[Tensor]:
        """The same with a bias that is not random, whose mean is alone."""
        p = self._parameters
        made: list[Any] = [p["kernel_mu"], p["kernel_log_sigma"]]
        bias, width = p.get("bias_mu"), p.get("bias_log_sigma")
        if bias is not None:
            made.append(bias)
        if width is not None:
            made.append(width)
        return made

    def random(self) -> tuple[bool, ...]:
        """Whether kernel and bias, if there is one, are random."""
        if self.bias_mu is None:
            return (True,)
        return True, self.bias_log_sigma is not None

    def numbers(self) -> tuple[int, ...]:
        """Tensor numbers of what is random, in the same order."""
        kernel = self.tensor
        return (kernel, kernel + 1) if self.bias_log_sigma is not None else (kernel,)

    def kl(self) -> Tensor:
        """KL of this layer's weights to the prior, in nats."""
        plan = functions.Plan(self.noise.source(), self.numbers(), 0, False, True)
        pairs = self.pairs()
        functions.check(pairs)
        value: Tensor = functions.Draw.apply(plan, *pairs)[0]
        return value

    def drawn(self, groups: int = 1) -> tuple[Tensor, Tensor | None]:
        """A draw of kernel and bias in the library's order; of several [groups][...]."""
        made = self._draws(groups, True)
        return made[0], made[1] if len(made) > 1 else self.bias_mu

    def drawn_apart(self) -> tuple[Tensor, Tensor | None, Tensor, Tensor | None]:
        """Sigma z of kernel and bias, and then the means of both; None: there is no such."""
        made = self._draws(1, False)
        if len(made) > 2:
            return made[0], made[1], made[2], made[3]
        return made[0], None, made[1], self.bias_mu

    def _draws(self, groups: int, mean: bool) -> Any:
        with_kl = self.training and torch.is_grad_enabled()
        plan = functions.Plan(self.noise.source(), self.numbers(), groups, mean, with_kl)
        pairs = self.pairs()
        functions.check(pairs)
        *made, kl = functions.Draw.apply(plan, *pairs)
        if with_kl:
            note([self], kl, self.weights())
        return made

    def signs(
        self, rows: int, channels: tuple[int, int], like: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Random signs [rows][channels] of this layer's inputs and outputs (N10)."""
        r = self.noise.signs(self.tensor | SIGNS_IN)
        s = self.noise.signs(self.tensor | SIGNS_OUT)
        return (
            functions.signs(r, rows, channels[0], like),
            functions.signs(s, rows, channels[1], like),
        )

    @apart
    def forward(self, x: Tensor) -> Tensor:
        if x.dim() < 2:
            raise ValueError(f"inputs of {tuple(x.shape)}: expected a batch of examples")
        y = self._alone()(x)
        return getattr(self, f"_{self.noise.estimator}")(x) if y is None else y

    def _alone(self) -> Any:
        """The layer as a run of its own."""
        estimator, run = self.__dict__.get("_kept_run", (None, None))
        if estimator != self.noise.estimator:
            estimator, run = self.noise.estimator, passes.Run([self], [passes.text_of(self)])
            self.__dict__["_kept_run"] = estimator, run
        return run

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_kept_run"}

    def extra_repr(self) -> str:
        return f"{tuple(self.kernel_mu.shape)}, law={self.noise.law.text!r}"


class NoisyLinear(NoisyLayer):
    """``nn.Linear`` with noise on its weights; made by :func:`bayesian`."""

    def __init__(self, plain: Any, noise: Noise, tensor: int, sigma: float, bias: bool) -> None:
        super().__init__(plain, noise, tensor, sigma, bias)
        self.in_features, self.out_features = plain.in_features, plain.out_features

    def _shared(self, x: Tensor) -> Tensor:
        return _affine(x, *self.drawn())

    def _example(self, x: Tensor) -> Tensor:
        rows = len(x)
        theta, bias = self.drawn(rows)
        each = theta.view(rows, self.in_features, self.out_features)
        y = torch.bmm(x.reshape(rows, -1, self.in_features), each)
        if bias is not None:
            y = y + (bias.view(rows, 1, -1) if self.bias_log_sigma is not None else bias)
        return y.view(*x.shape[:-1], self.out_features)

    def _flipout(self, x: Tensor) -> Tensor:
        rows = len(x)
        r, s = self.signs(rows, (self.in_features, self.out_features), x)
        if x.dim() > 2:
            middle = (1,) * (x.dim() - 2)
            r, s = r.view(rows, *middle, -1), s.view(rows, *middle, -1)
        delta, bias_delta, mu, bias_mu = self.drawn_apart()
        return torch.addcmul(_affine(x, mu, bias_mu), s, _affine(x * r, delta, bias_delta))


class NoisyConv(NoisyLayer):
    """``nn.Conv1d`` or ``nn.Conv2d`` with noise on its kernels; made by :func:`bayesian`."""

    def __init__(self, plain: Any, noise: Noise, tensor: int, sigma: float, bias: bool) -> None:
        super().__init__(plain, noise, tensor, sigma, bias)
        if plain.padding_mode != "zeros":
            raise ValueError(f"padding_mode {plain.padding_mode!r} is not supported")
        self.stride, self.padding = plain.stride, plain.padding
        self.dilation, self.groups = plain.dilation, plain.groups
        self.in_channels, self.out_channels = plain.in_channels, plain.out_channels
        self.kernel_size = plain.kernel_size

    def _conv(self, x: Tensor, weight: Tensor, bias: Tensor | None, groups: int) -> Tensor:
        run = F.conv1d if self.kernel_mu.dim() == 3 else F.conv2d
        y: Tensor = run(x, weight, bias, self.stride, self.padding, self.dilation, groups)
        return y

    def _turned(self, theta: Tensor) -> Tensor:
        """A kernel of the library's order in PyTorch's."""
        return theta.permute(_inverse(self.axes))

    def _shared(self, x: Tensor) -> Tensor:
        """Images come out with their channels last, which makes pooling faster."""
        y = convs.run(self, x)
        if y is not None:
            return y
        theta, bias = self.drawn()
        weight = self._turned(theta)
        if weight.dim() == 4:
            weight = weight.contiguous(memory_format=torch.channels_last)
        return self._conv(x, weight, bias, self.groups)

    def _example(self, x: Tensor) -> Tensor:
        """Every example is a group of channels with kernels of its own."""
        rows = len(x)
        theta, bias = self.drawn(rows)
        each = theta.view(rows, *self.kernel_mu.shape)
        back = [0, *(a + 1 for a in _inverse(self.axes))]
        turned = each.permute(back)
        weight = turned.reshape(-1, *turned.shape[2:])
        wide = x.reshape(1, -1, *x.shape[2:])
        y = self._conv(wide, weight, None, rows * self.groups)
        y = y.view(rows, self.out_channels, *y.shape[2:])
        if bias is None:
            return y
        many = rows if self.bias_log_sigma is not None else 1
        return y + bias.view(many, self.out_channels, *(1,) * (x.dim() - 2))

    def _flipout(self, x: Tensor) -> Tensor:
        rows, space = len(x), (1,) * (x.dim() - 2)
        r, s = self.signs(rows, (self.in_channels, self.out_channels), x)
        r, s = r.view(rows, -1, *space), s.view(rows, -1, *space)
        delta, bias_delta, mu, bias_mu = self.drawn_apart()
        mean = self._conv(x, self._turned(mu), bias_mu, self.groups)
        noise = self._conv(x * r, self._turned(delta), bias_delta, self.groups)
        return torch.addcmul(mean, s, noise)


class ImagePool(nn.MaxPool2d):
    """``nn.MaxPool2d`` of images with their channels last; made by :func:`bayesian`.

    Convolutions with noise give such images. Windows that do not overlap are pooled in C. The
    gradient that comes back through a flatten has another order, which makes PyTorch's pooling
    five times as slow, so it is put into the order of the images first.
    """

    @apart
    def forward(self, x: Tensor) -> Any:
        noise = getattr(self, "noise", None)
        if noise is not None and noise.fused:
            size = pools.size_of(self, x)
            if size:
                return pools.Pool.apply(x, (size, size))
        y = super().forward(x)
        if isinstance(y, Tensor) and y.requires_grad and y.dim() == 4 and not y.is_contiguous():
            y.register_hook(_channels_last)
        return y

    def _get_name(self) -> str:
        return "MaxPool2d"


class SeriesPool(nn.MaxPool1d):
    """``nn.MaxPool1d`` of series with their channels last; made by :func:`bayesian`.

    Convolutions with noise give such series. Windows that do not overlap are pooled in C.
    """

    @apart
    def forward(self, x: Tensor) -> Any:
        noise = getattr(self, "noise", None)
        if noise is not None and noise.fused and type(x) is Tensor and x.dim() == 3:
            images = x.unsqueeze(2)
            size = pools.size_of(self, images)
            if size:
                return pools.Pool.apply(images, (1, size)).squeeze(2)
        return super().forward(x)

    def _get_name(self) -> str:
        return "MaxPool1d"


def _channels_last(gradient: Tensor) -> Tensor:
    return gradient.contiguous(memory_format=torch.channels_last)


class Part(NamedTuple):
    """What ran at once, and the KL of its weights that came with it."""

    layers: Sequence[NoisyLayer]
    kl: Tensor
    stamp: list[int]

    def fresh(self) -> bool:
        """Whether the KL is that of the parameters as they are now."""
        now: list[Tensor] = []
        for layer in self.layers:
            now += layer.weights()
        return self.stamp == stamp(now)


def note(layers: Sequence[NoisyLayer], kl: Tensor, given: Sequence[Tensor]) -> None:
    """Keeps a KL for free_energy, with the parameters that it belongs to."""
    part, parts = Part(layers, kl, stamp(given)), layers[0].noise.together.parts
    for layer in layers:
        parts[layer] = part


def stamp(parameters: Sequence[Tensor]) -> list[int]:
    """Which parameters, and their versions, which a step of an optimiser raises."""
    return [id(p) for p in parameters] + [p._version for p in parameters]


def _affine(x: Tensor, theta: Tensor, bias: Tensor | None) -> Tensor:
    """The product x theta + bias; theta [in][out], so that its gradient lies as it does."""
    if x.dim() == 2 and bias is not None:
        return torch.addmm(bias, x, theta)
    y = x @ theta
    return y if bias is None else y + bias


def _axes(dims: int) -> tuple[int, ...]:
    """PyTorch's order of a kernel's sides in the library's."""
    return {2: (1, 0), 3: (2, 1, 0), 4: (2, 3, 1, 0)}[dims]


def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axes.index(i) for i in range(len(axes)))


def _width(mu: Tensor, sigma: float) -> Tensor:
    """Log sigma, the same for all weights."""
    return torch.full_like(mu, math.log(sigma))


from crossbayes.torch import convs, passes  # noqa: E402  (they need the classes above)
