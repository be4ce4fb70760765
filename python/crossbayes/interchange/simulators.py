"""Laws and devices for simulators of analog hardware: AIHWKit and CrossSim.

Both take noise as a class of their own that the user derives from. The classes here are made
when they are asked for, because their base comes from the simulator. Noise is drawn by this
library, by address: the same seed gives the same noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crossbayes._library import count
from crossbayes.devices import Device
from crossbayes.draws import Generator
from crossbayes.laws import Law, law

_MICRO = 1e-6


class _Stream:
    """Draws of a law, and ranks of cells, one tensor after another."""

    def __init__(self, law_: Law | str, seed: int) -> None:
        self.law, self.generator = law(law_), Generator(seed, "array")
        self.calls = 0

    def noise(self, shape: Any) -> Any:
        """Standardised draws: mean 0, variance 1."""
        self.calls += 1
        return self.generator.draw(self.law, tuple(shape), step=self.calls)

    def ranks(self, n: int) -> Any:
        """Uniform numbers in (0, 1)."""
        self.calls += 1
        return self.generator.uniform(n, step=self.calls)


def relaxed(device: Device, conductances: Any, seconds: float, ranks: Any) -> Any:
    """What cells have become some time after programming, each by its rank among its like."""
    flat = np.asarray(conductances, np.float64)
    cells = zip(flat.ravel(), np.ravel(ranks))
    moved = [device.relaxed(g, seconds, u) for g, u in cells]
    return np.array(moved).reshape(flat.shape)


def _positive(value: float, name: str) -> float:
    number = float(value)
    if not (number >= 0 and np.isfinite(number)):
        raise ValueError(f"{name} is {value}, expected 0 or more")
    return number


def to_aihwkit(
    law_: Law | str = "gaussian",
    device: Device | None = None,
    *,
    read_std: float = 0.0,
    programming_std: float = 0.0,
    seed: int = 1,
    g_converter: Any = None,
) -> Any:
    """A noise model of AIHWKit, for ``InferenceRPUConfig(noise_model=...)``.

    ``read_std`` and ``programming_std`` are standard deviations of noise with the law's shape,
    in microsiemens, as AIHWKit counts conductances. With a ``device``, which is in siemens,
    cells move after programming as its cells did; conductances are then those that the
    ``g_converter`` gives.
    """
    from aihwkit.inference.noise.base import BaseNoiseModel

    read, write = _positive(read_std, "read_std"), _positive(programming_std, "programming_std")
    stream = _Stream(law_, count(seed, "seed", 0, 2**63 - 1))

    class CrossbayesNoiseModel(BaseNoiseModel):  # type: ignore[misc,unused-ignore]
        """Noise of a measured law or device."""

        def _with(self, g: Any, std: float) -> Any:
            if std == 0:
                return g.clone()
            z = g.new_tensor(np.asarray(stream.noise(g.shape)))
            return (g + std * z).clamp(min=0.0)

        def apply_programming_noise_to_conductance(self, g_target: Any) -> Any:
            return self._with(g_target, write)

        def generate_drift_coefficients(self, g_target: Any) -> Any:
            """The ranks of cells among their like, which they keep."""
            if device is None:
                return None
            ranks = stream.ranks(g_target.numel()).reshape(tuple(g_target.shape))
            return g_target.new_tensor(ranks).clamp(1e-7, 1 - 1e-7)

        def apply_drift_noise_to_conductance(self, g_prog: Any, ranks: Any, t: float) -> Any:
            moved = g_prog
            if device is not None and t > 0:
                cells = g_prog.double().cpu().numpy() * _MICRO
                now = relaxed(device, cells, float(t), ranks.double().cpu().numpy())
                moved = g_prog.new_tensor(now / _MICRO).clamp(min=0.0)
            return self._with(moved, read)

    model = CrossbayesNoiseModel(g_converter)
    model.law = stream.law
    return model


def to_crosssim(
    law_: Law | str = "gaussian",
    device: Device | None = None,
    *,
    g_max: float | None = None,
    seed: int = 1,
    name: str = "CrossbayesDevice",
) -> Any:
    """A device class of CrossSim; its name goes into the parameters.

    ``params.xbar.device.read_noise.model = to_crosssim("mtj").__name__``, and ``magnitude``
    beside it is the standard deviation, as a share of the largest conductance.
    ``programming_error`` takes the law likewise; ``drift_error`` moves cells as those of
    ``device`` did, with ``g_max`` the conductance, in the device's unit, that CrossSim calls 1.
    """
    from simulator.devices.idevice import IdealDevice

    if device is not None and g_max is None:
        g_max = float(device.conductances[-1])
    stream = _Stream(law_, count(seed, "seed", 0, 2**63 - 1))

    def noisy(self: Any, input_: Any) -> Any:
        return input_ + self.magnitude * stream.noise(input_.shape).astype(input_.dtype)

    def drifted(self: Any, input_: Any, time: float) -> Any:
        if device is None or time <= 0:
            return input_
        assert g_max is not None
        ranks = stream.ranks(input_.size)
        return relaxed(device, input_ * g_max, float(time), ranks).astype(input_.dtype) / g_max

    methods = {"read_noise": noisy, "programming_error": noisy, "drift_error": drifted}
    return type(name, (IdealDevice,), {**methods, "law": stream.law})
