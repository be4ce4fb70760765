"""Layers as other libraries describe them, turned into a net of this library.

A reader of another library's format calls :class:`Chain` once for each layer, in order. The
chain follows the shape of one example, writes the net's text, and moves weights to the
order of this library: kernels [in][out] and [kh][kw][in][out], images [h][w][c].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from crossbayes._library import InputError
from crossbayes.building import model_from_arrays
from crossbayes.models import Model

ACTIVATIONS = ("elu", "relu", "tanh", "sigmoid")


class Weight(NamedTuple):
    """Means of a tensor and their standard deviations; None: the tensor is fixed."""

    mean: Any
    sigma: Any = None

    def moved(self, order: Any) -> Weight:
        """The same weights after ``order`` was applied to means and deviations."""
        return Weight(order(self.mean), None if self.sigma is None else order(self.sigma))


MaybeWeight = Optional[Weight]


class Chain:
    """A net that grows layer by layer.

    ``shape``: height, width and channels of one input. ``channels_first``: how the other
    library flattens images, so that dense layers behind them can be put into our order.
    """

    def __init__(self, shape: Sequence[int], channels_first: bool, library: str) -> None:
        h, w, c = (int(side) for side in shape)
        self.start = (h, w, c)
        self.shape: tuple[int, ...] = self.start
        self.channels_first = channels_first
        self.library = library
        self.words: list[str] = []
        self.tensors: dict[str, Any] = {}
        self.random: list[str] = []
        self.state: list[Any] = []
        self.order: Any = None  # place of each of our features among theirs, where it differs
        self.softmax = False
        self.scaling: tuple[Any, Any] | None = None

    # ---- layers

    def dense(self, kernel: Weight, bias: MaybeWeight, where: str) -> None:
        """A dense layer; kernel [in][out]."""
        self._open(where)
        if self.shape[0] * self.shape[1] > 1:
            raise InputError(f"{where}: a dense layer on images needs flatten before it")
        inputs, units = np.shape(kernel.mean)
        if inputs != self.shape[2]:
            raise InputError(f"{where}: takes {inputs} inputs, but gets {self.shape[2]}")
        if self.order is not None:
            kernel = kernel.moved(lambda w: np.asarray(w)[self.order])
            self.order = None
        self._put("kernel", kernel)
        self._bias(bias)
        self._add(f"dense {units}" + ("" if bias else " nobias"), (1, 1, units))

    def conv(
        self,
        kernel: Weight,
        bias: MaybeWeight,
        where: str,
        stride: Sequence[int] = (1, 1),
        padding: Any = "valid",
    ) -> None:
        """A convolution; kernel [kh][kw][in][out], padding same, valid or pairs."""
        self._open(where)
        kh, kw, channels, units = np.shape(kernel.mean)
        if channels != self.shape[2]:
            raise InputError(
                f"{where}: takes {channels} channels, but gets {self.shape[2]}"
                " (grouped convolutions are not supported)"
            )
        step = _single(stride, where, "stride", self.shape[:2])
        pads = [self._padding(padding, axis, size, step) for axis, size in ((0, kh), (1, kw))]
        same = _same(pads, self.shape, (kh, kw), step, where)
        self._put("kernel", kernel)
        self._bias(bias)
        text = f"conv {units} {kh}x{kw}" + (f" stride {step}" if step > 1 else "")
        sides = [_conv_side(self.shape[a], (kh, kw)[a], step, same) for a in (0, 1)]
        text += ("" if same else " valid") + ("" if bias else " nobias")
        self._add(text, (*sides, units))

    def _padding(self, padding: Any, axis: int, size: int, step: int) -> tuple[int, int]:
        if padding == "valid":
            return (0, 0)
        if padding == "same":
            return _tf_same(self.shape[axis], size, step)
        return int(padding[axis][0]), int(padding[axis][1])

    def maxpool(
        self, size: Sequence[int], stride: Sequence[int], ceil: bool, where: str
    ) -> None:
        """Max pooling with square windows."""
        self._open(where)
        window = _single(size, where, "window", self.shape[:2])
        step = _single(stride, where, "stride", self.shape[:2])
        sides = [_pool_side(side, window, step, ceil) for side in self.shape[:2]]
        if min(sides) < 1:
            raise InputError(
                f"{where}: a window of {window} does not fit into {self.shape[:2]}"
            )
        text = f"maxpool {window}" + (f" stride {step}" if step != window else "")
        self._add(text + (" ceil" if ceil else ""), (*sides, self.shape[2]))

    def batchnorm(
        self,
        scale: Any,
        shift: Any,
        mean: Any,
        variance: Any,
        epsilon: float,
        momentum: float,
        where: str,
    ) -> None:
        """Batch normalisation; ``momentum`` in our sense, the share that is kept."""
        self._open(where)
        channels = self.shape[2]
        rows = []
        for values, other in ((scale, 1.0), (shift, 0.0), (mean, 0.0), (variance, 1.0)):
            row = np.full(channels, other) if values is None else np.asarray(values)
            if row.shape != (channels,):
                raise InputError(f"{where}: {row.size} channels, but gets {channels}")
            rows.append(row if self.order is None else row[self.order])
        self._put("scale", Weight(rows[0]))
        self._put("shift", Weight(rows[1]))
        self.state += [rows[2], rows[3]]
        self._add(f"batchnorm momentum {momentum:.10g} epsilon {epsilon:.10g}", self.shape)

    def activation(self, name: str, where: str) -> None:
        """An activation by its name; softmax only as the end of the net."""
        self._open(where)
        if name in ("linear", "identity"):
            return
        if name == "softmax":
            self.softmax = True
            return
        if name not in ACTIVATIONS:
            raise InputError(
                f"{where}: no activation {name!r} here; there are {', '.join(ACTIVATIONS)}"
            )
        self._add(name, self.shape)

    def flatten(self, where: str) -> None:
        """Images to features."""
        self._open(where)
        h, w, c = self.shape
        if h * w > 1 and self.channels_first:
            self.order = np.arange(h * w * c).reshape(c, h, w).transpose(1, 2, 0).ravel()
        self._add("flatten", (1, 1, h * w * c))

    def scale_inputs(self, mean: Any, std: Any, where: str) -> None:
        """Inputs enter as (x - mean) / std; before every other layer."""
        if self.words or self.scaling is not None:
            raise InputError(f"{where}: scaling is supported as the first layer only")
        size = self.start
        flat = [np.broadcast_to(np.asarray(v, float), size).ravel() for v in (mean, std)]
        self.scaling = (flat[0], flat[1])

    def placed(
        self, text: str, shape: Sequence[int], kernel: MaybeWeight, bias: MaybeWeight
    ) -> None:
        """A layer of a net whose text is known: ``shape`` is what it gives."""
        if kernel is not None:
            if self.order is not None:
                kernel = kernel.moved(lambda w: np.asarray(w)[self.order])
                self.order = None
            self._put("kernel", kernel)
        self._bias(bias)
        self._add(text, shape)

    # ---- the model

    def build(self, **settings: Any) -> Model:
        """The model; settings are those of :func:`crossbayes.model_from_arrays`."""
        if not self.words:
            raise InputError(f"{self.library}: there is no layer")
        if self.order is not None:
            raise InputError(
                f"{self.library}: the net ends with flatten; a dense layer is missing"
            )
        outputs = self.shape[0] * self.shape[1] * self.shape[2]
        if self.softmax and settings.get("classes") is None:
            settings["classes"] = [str(k) for k in range(outputs)]
        if settings.get("classes") is None and settings.get("target") is None:
            names = [f"y{k + 1}" for k in range(outputs)]
            settings["target"] = names if outputs > 1 else "y"
        if settings.get("classes") is None and settings.get("noise_std") is None:
            raise ValueError(
                "give noise_std=, the standard deviation of the data's noise: weights do not"
                " have it (or classes=, where the outputs are logits)"
            )
        if self.scaling is not None:
            settings.setdefault("input_mean", self.scaling[0])
            settings.setdefault("input_std", self.scaling[1])
        tensors = dict(self.tensors)
        if self.state:
            tensors["state"] = np.concatenate(self.state)
        settings.setdefault("provenance", {"imported_from": self.library})
        chosen = {name: value for name, value in settings.items() if value is not None}
        return model_from_arrays(
            ", ".join(self.words), tensors, inputs=self.start, random=self.random, **chosen
        )

    # ---- parts

    def _open(self, where: str) -> None:
        if self.softmax:
            raise InputError(f"{where}: follows softmax, which must be the last layer")

    def _add(self, text: str, shape: Sequence[int]) -> None:
        if min(shape) < 1:
            raise InputError(f"{text}: does not fit into {self.shape}")
        self.words.append(text)
        self.shape = tuple(int(side) for side in shape)

    def _put(self, role: str, weight: Weight) -> None:
        name = f"{len(self.words)}.{role}"
        self.tensors[name] = np.asarray(weight.mean)
        if weight.sigma is not None:
            self.tensors[f"{name}.sigma"] = np.asarray(weight.sigma)
            self.random.append(name)

    def _bias(self, bias: MaybeWeight) -> None:
        if bias is not None:
            self._put("bias", bias)


def _single(values: Sequence[int], where: str, what: str, sides: Sequence[int]) -> int:
    """The one number of a pair; along a side of length 1 every number means the same."""
    wanted = {int(v) for v, side in zip(values, sides) if side > 1} or {int(values[0])}
    if len(wanted) > 1:
        raise InputError(f"{where}: {what} {tuple(values)} is not square")
    return wanted.pop()


def _conv_side(side: int, kernel: int, stride: int, same: bool) -> int:
    return -(-side // stride) if same else (side - kernel) // stride + 1


def _pool_side(side: int, size: int, stride: int, ceil: bool) -> int:
    whole = (side - size) // stride + 1
    return whole + (1 if ceil and (side - size) % stride else 0)


def _tf_same(side: int, kernel: int, stride: int) -> tuple[int, int]:
    """TensorFlow's `same`: the smaller half comes first."""
    total = max((-(-side // stride) - 1) * stride + kernel - side, 0)
    return total // 2, total - total // 2


def _same(
    pads: Sequence[tuple[int, int]],
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: int,
    where: str,
) -> bool:
    """Whether padding is our `same` (True) or our `valid` (False); others are refused."""
    if all(pad == (0, 0) for pad in pads):
        return False
    ours = [_tf_same(shape[axis], kernel[axis], stride) for axis in (0, 1)]
    # What hangs over the end is cut off by a stride that does not reach it.
    reach = [(-(-shape[axis] // stride) - 1) * stride + kernel[axis] for axis in (0, 1)]
    for axis in (0, 1):
        before, after = pads[axis]
        sides = (shape[axis] + before + after - kernel[axis]) // stride + 1
        if before != ours[axis][0] or sides != -(-shape[axis] // stride):
            raise InputError(
                f"{where}: padding {tuple(pads)} at stride {stride} is neither 'same' nor"
                f" 'valid'; 'same' would be {tuple(ours)}"
            )
        assert before + shape[axis] + after >= reach[axis]
    return True
