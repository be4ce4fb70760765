"""Whole networks: noise on their layers, the KL of all of them, another law."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from crossbayes._library import count
from crossbayes.laws import Law
from crossbayes.models import Model
from crossbayes.torch import passes
from crossbayes.torch.compiled import apart
from crossbayes.torch.layers import ImagePool, NoisyConv, NoisyLayer, NoisyLinear, SeriesPool
from crossbayes.torch.noise import Noise

_KINDS: dict[type, Any] = {nn.Linear: NoisyLinear, nn.Conv1d: NoisyConv, nn.Conv2d: NoisyConv}
RANDOM = ("kernels", "all")


def bayesian(
    module: Any,
    law: Law | str = "gaussian",
    prior: str = "normal:sd=1",
    *,
    sigma: float = 0.05,
    estimator: str = "shared",
    random: str = "kernels",
    seed: int | None = 1,
) -> Any:
    """A copy of a module whose Linear, Conv1d and Conv2d layers have a device's noise.

    The weights become means, and ``sigma`` is the standard deviation at the start; both are
    trained. ``estimator``: shared (one draw for a batch), flipout (one draw with random signs
    for each example; symmetric laws) or example (a draw for each example). ``random``: kernels,
    or all for biases too. Each call of the network makes a new draw: that of step 0, 1,
    ... in training mode, and that of sample 0, 1, ... after ``eval()``, where sample s is draw
    s of :meth:`crossbayes.Model.draws` with the same seed.
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected a torch module, not {type(module).__name__}")
    if random not in RANDOM:
        raise ValueError(f"random is {random!r}, expected {' or '.join(RANDOM)}")
    if not sigma > 0 or sigma == float("inf"):
        raise ValueError(f"sigma is {sigma}, expected more than 0")
    if any(isinstance(layer, NoisyLayer) for layer in module.modules()):
        raise ValueError("the module has layers with noise already; use swap_law")
    noise = Noise(law, prior, seed, estimator)
    made = copy.deepcopy(module)
    numbers = _numbers(made)
    if type(made) in _KINDS:
        made = nn.Sequential(made)
        numbers = {f"0{name and '.'}{name}": n for name, n in numbers.items()}
    replaced = 0
    for name, layer in list(made.named_modules()):
        kind = _KINDS.get(type(layer))
        if kind is None:
            continue
        parent, _, last = name.rpartition(".")
        new = kind(layer, noise, numbers[name], sigma, random == "all")
        setattr(made.get_submodule(parent), last, new)
        replaced += 1
    if replaced == 0:
        raise ValueError(f"{type(module).__name__} has no Linear, Conv1d or Conv2d layer")
    made.register_forward_pre_hook(_before)
    for layer in made.modules():
        if type(layer) is nn.Sequential:
            layer.__class__ = NoisySequential
        if type(layer) is nn.MaxPool2d:
            layer.__class__, layer.noise = ImagePool, noise
        if type(layer) is nn.MaxPool1d:
            layer.__class__, layer.noise = SeriesPool, noise
    return made


def _numbers(module: Any) -> dict[str, int]:
    """The number of each layer's first tensor, as a net of the library counts them."""
    numbers, next_ = {}, 0
    for name, layer in module.named_modules():
        own = len(list(layer.parameters(recurse=False)))
        if own:
            numbers[name], next_ = next_, next_ + own
    return numbers


class NoisySequential(nn.Sequential):
    """A Sequential that runs layers with noise, and what follows them, in one pass."""

    @apart
    def forward(self, x: Any) -> Any:
        for run in self._runs():
            y = run(x) if len(run.modules) > 1 else None
            if y is None:
                for module in run.modules:
                    x = module(x)
            else:
                x = y
        return x

    def _runs(self) -> list[passes.Run]:
        """What runs as one; kept while modules and estimator are the same."""
        modules = list(self._modules.values())
        kept = self.__dict__.get("_kept_runs")
        if kept is not None and kept[0] == modules and not passes.hooked(modules):
            layer, estimator, runs = kept[1:]
            if layer is None or layer.noise.estimator == estimator:
                return runs  # type: ignore[no-any-return]
        made = passes.runs(modules)
        first = next((layer for run in made for layer in run.layers), None)
        if not passes.hooked(modules):
            estimator = None if first is None else first.noise.estimator
            self.__dict__["_kept_runs"] = modules, first, estimator, made
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_kept_runs"}

    def _get_name(self) -> str:
        return "Sequential"


@apart
def _before(module: Any, _: Any) -> None:
    """The next draw."""
    noise_of(module).advance(bool(module.training))


def _collect(module: Any, found: dict[NoisyLayer, None]) -> None:
    """As ``modules()``, which takes three times as long."""
    if isinstance(module, NoisyLayer):
        found[module] = None
        return
    for child in module._modules.values():
        if child is not None:
            _collect(child, found)


def _first(module: Any) -> NoisyLayer | None:
    """The first layer with noise; a step asks for it."""
    if isinstance(module, NoisyLayer):
        return module
    for child in module._modules.values():
        found = None if child is None else _first(child)
        if found is not None:
            return found
    return None


def _noisy(module: Any) -> list[NoisyLayer]:
    """The layers with noise, each once."""
    found: dict[NoisyLayer, None] = {}
    if isinstance(module, nn.Module):
        _collect(module, found)
    if not found:
        raise ValueError(f"{type(module).__name__} has no layer with noise; see bayesian()")
    return list(found)


def noise_of(module: Any) -> Noise:
    """The noise that the layers of a network share: its seed, step, sample and law."""
    first = _first(module) if isinstance(module, nn.Module) else None
    return _noisy(module)[0].noise if first is None else first.noise


@apart
def kl(module: Any) -> Tensor:
    """KL(q || prior), summed over all random weights, in nats; it has gradients.

    The law is the network's own: for a gaussian law and prior the closed form, for others
    what the library computes (maths V2-V6).
    """
    parts = [layer.kl() for layer in _noisy(module)]
    total: Tensor = sum(parts[1:], parts[0])
    return total


@apart
def free_energy(module: Any, nll: Tensor, examples: int, temperature: float = 1.0) -> Tensor:
    """The loss of variational inference: the batch's mean NLL + KL / examples (V1).

    ``nll`` is minus the log-likelihood, averaged over the examples of the batch (not their
    sum); ``examples`` is the size of the whole training set, because every weight has one
    posterior for all of it. Batches of any size then add up to the same objective.
    """
    n = count(examples, "examples", 1)
    if not isinstance(nll, Tensor) or nll.dim() != 0:
        raise ValueError("nll: expected one number, the mean over the batch")
    parts = _parts(_noisy(module))
    total: Tensor = parts[0] if len(parts) == 1 else sum(parts[1:], parts[0])
    total = total if total.dtype == nll.dtype else total.to(nll.dtype)
    return torch.add(nll, total, alpha=temperature / n)


def _parts(layers: list[NoisyLayer]) -> list[Tensor]:
    """The KL of all layers, each once: what the last call computed on its way, used once, so
    that gradients come in one pass; else computed now.
    """
    made: list[Tensor] = []
    first = layers[0].noise.together.parts.get(layers[0])
    if first is not None and first.layers == layers and first.fresh():
        layers[0].noise.together.parts.clear()  # the usual case: all of it ran at once
        return [first.kl]
    done: set[NoisyLayer] = set()
    for layer in layers:
        if layer in done:
            continue
        part = layer.noise.together.parts.pop(layer, None)
        if part is None or not done.isdisjoint(part.layers) or not part.fresh():
            made.append(layer.kl())
            done.add(layer)
            continue
        for other in part.layers:
            layer.noise.together.parts.pop(other, None)
        made.append(part.kl)
        done.update(part.layers)
    return made


def swap_law(module: Any, law: Law | str) -> Any:
    """The same network under another law: means and widths stay, the noise changes."""
    noises = {id(layer.noise): layer.noise for layer in _noisy(module)}
    for noise in noises.values():
        noise.law = law
    return module


def tensors(model: Model) -> dict[str, Tensor]:
    """A model's means and standard deviations as tensors that share its memory (DLPack).

    The memory belongs to the model and must not be written.
    """
    return {name: torch.from_dlpack(_Shared(array)) for name, array in model.tensors.items()}


class _Shared:
    """An array that cannot be written, offered by DLPack without a copy."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **settings: Any) -> Any:
        settings.pop("copy", None)
        return self.array.__dlpack__(**{**settings, "max_version": (1, 0)})

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()
