"""Linear and Conv layers whose weights carry a device's noise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from crossbayes._native import lib
from crossbayes.laws import Law
from crossbayes.torch import functions
from crossbayes.torch.noise import SIGNS_IN, SIGNS_OUT, Noise


class NoisyLayer(nn.Module):
    """What Linear and Conv layers with noise have in common.

    ``weight_mu`` and ``weight_log_sigma`` have PyTorch's shape, and lie in memory as the
    library's kernels do ([in][out], [kh][kw][in][out]), so that their draws are the library's.
    """

    def __init__(self, plain: Any, noise: Noise, tensor: int, sigma: float, bias: bool) -> None:
        super().__init__()
        self.noise, self.tensor = noise, tensor
        self.axes = _axes(plain.weight.dim())
        self.weight_mu = nn.Parameter(self._laid(plain.weight.detach()))
        self.weight_log_sigma = nn.Parameter(_width(self.weight_mu, sigma))
        self.bias_mu = None if plain.bias is None else nn.Parameter(plain.bias.detach().clone())
        self.bias_log_sigma = None
        if bias and self.bias_mu is not None:
            self.bias_log_sigma = nn.Parameter(_width(self.bias_mu, sigma))

    @property
    def law(self) -> Law:
        return self.noise.law

    def _laid(self, weight: Tensor) -> Tensor:
        """The same tensor in the library's order of memory."""
        inner = weight.permute(self.axes).contiguous().clone()
        return inner.permute(_inverse(self.axes))

    def random(self) -> Iterator[tuple[str, int]]:
        """Names and tensor numbers of what is random."""
        yield "weight", self.tensor
        if self.bias_log_sigma is not None:
            yield "bias", self.tensor + 1

    def _pair(self, role: str) -> tuple[Tensor, Tensor]:
        """Means and log sigma in the library's order."""
        mu, width = getattr(self, f"{role}_mu"), getattr(self, f"{role}_log_sigma")
        if role == "bias":
            return mu, width
        return mu.permute(self.axes), width.permute(self.axes)

    def sigma(self, role: str) -> Tensor:
        """Standard deviations in the library's order."""
        return self._pair(role)[1].detach().exp()

    def _sources(self) -> tuple[list[functions.Source], list[Tensor]]:
        """The noise, and the means and log sigma, of each random tensor."""
        sources: list[functions.Source] = []
        pairs: list[Tensor] = []
        for role, tensor in self.random():
            sources.append(self.noise.source(tensor))
            pairs += self._pair(role)
        return sources, pairs

    def kl(self) -> Tensor:
        """KL of this layer's weights to the prior, in nats."""
        sources, pairs = self._sources()
        value: Tensor = functions.Divergence.apply(sources, *pairs)
        return value

    def drawn(self, groups: int = 1, mean: bool = True) -> tuple[Tensor, Tensor | None]:
        """A draw of kernel and bias in the library's order; of several [groups][...].

        ``mean`` False leaves the means out; the bias is None where the layer has none, or
        where only its mean would be left.
        """
        sources, pairs = self._sources()
        with_kl = self.training and torch.is_grad_enabled()
        made = functions.Draw.apply(groups, mean, with_kl, sources, *pairs)
        stamp = tuple(p._version for p in self.parameters())
        self.__dict__["_last"] = (made[-1], stamp) if with_kl else None
        if self.bias_log_sigma is not None:
            return made[0], made[1]
        return made[0], self.bias_mu if mean else None

    def last_kl(self) -> Tensor | None:
        """The KL that the last draw computed on its way, once; None where it cannot be used."""
        last = self.__dict__.pop("_last", None)
        if last is None or last[1] != tuple(p._version for p in self.parameters()):
            return None
        value: Tensor = last[0]
        return value

    def signs(self, side: int, rows: int, channels: int, like: Tensor) -> Tensor:
        """Random signs [rows][channels] of this layer (N10)."""
        place = self.noise.signs(self.tensor | side)
        z = torch.empty((rows, channels), dtype=torch.float32)
        session = functions.context(z.numel())
        lib.xb_sampler_fill_parallel(
            session.ctx,
            place.sampler,
            functions.pointer(z, "float"),
            z.numel(),
            place.stream,
            0,
        )
        return -z.sign().to(like.dtype)  # the upper half of a word is the sign -1

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() < 2:
            raise ValueError(f"inputs of {tuple(x.shape)}: expected a batch of examples")
        return getattr(self, f"_{self.noise.estimator}")(x)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_last"}

    def extra_repr(self) -> str:
        return f"{tuple(self.weight_mu.shape)}, law={self.noise.law.text!r}"


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
        rows, middle = len(x), (1,) * (x.dim() - 2)
        r = self.signs(SIGNS_IN, rows, self.in_features, x).view(rows, *middle, -1)
        s = self.signs(SIGNS_OUT, rows, self.out_features, x).view(rows, *middle, -1)
        mean = _affine(x, self.weight_mu.t(), self.bias_mu)
        return mean + s * _affine(x * r, *self.drawn(mean=False))


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
        run = F.conv1d if self.weight_mu.dim() == 3 else F.conv2d
        y: Tensor = run(x, weight, bias, self.stride, self.padding, self.dilation, groups)
        return y

    def _turned(self, theta: Tensor) -> Tensor:
        """A kernel of the library's order in PyTorch's."""
        return theta.permute(_inverse(self.axes))

    def _shared(self, x: Tensor) -> Tensor:
        theta, bias = self.drawn()
        return self._conv(x, self._turned(theta), bias, self.groups)

    def _example(self, x: Tensor) -> Tensor:
        """Every example is a group of channels with kernels of its own."""
        rows = len(x)
        theta, bias = self.drawn(rows)
        each = theta.view(rows, *self.weight_mu.permute(self.axes).shape)
        back = [0, *(a + 1 for a in _inverse(self.axes))]
        weight = each.permute(back).reshape(-1, *self.weight_mu.shape[1:])
        wide = x.reshape(1, -1, *x.shape[2:])
        y = self._conv(wide, weight, None, rows * self.groups)
        y = y.view(rows, self.out_channels, *y.shape[2:])
        if bias is None:
            return y
        many = rows if self.bias_log_sigma is not None else 1
        return y + bias.view(many, self.out_channels, *(1,) * (x.dim() - 2))

    def _flipout(self, x: Tensor) -> Tensor:
        rows, space = len(x), (1,) * (x.dim() - 2)
        r = self.signs(SIGNS_IN, rows, self.in_channels, x).view(rows, -1, *space)
        s = self.signs(SIGNS_OUT, rows, self.out_channels, x).view(rows, -1, *space)
        mean = self._conv(x, self.weight_mu, self.bias_mu, self.groups)
        delta, bias = self.drawn(mean=False)
        return mean + s * self._conv(x * r, self._turned(delta), bias, self.groups)


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
