"""Where the noise of a network comes from: one law, one seed, one place in the stream.

All layers of a network share a :class:`Noise`. A draw is a function of (seed, tensor, sample,
step) and nothing else (maths N7), so it can be repeated, and is the C library's draw.
"""

from __future__ import annotations

import threading
from typing import Any

from crossbayes import _options
from crossbayes._library import Session, count, seed_of
from crossbayes._native import ffi, lib
from crossbayes.laws import Law, law
from crossbayes.torch.functions import Source

ESTIMATORS = ("shared", "flipout", "example")
PREDICT_STEP = 2**32 - 1  # (P1) where predictions draw; training never gets there
SIGNS_IN, SIGNS_OUT = 1 << 30, 1 << 31  # (N10) tensors whose draws give the signs
_STREAM = ffi.typeof("xb_stream *")
_gaussian: list[Any] = []
_MADE = ("_kl", "_prior", "_sampler", "together", "runners")  # what copies make anew


class _Together(threading.local):
    """Where the noise of a call of the network is, and the KL of what ran in it.

    Each thread has its own.
    """

    def __init__(self) -> None:
        self.parts: dict[Any, Any] = {}
        self.place: tuple[int, int] | None = None
        self.source: Source | None = None  # of this place


class Noise:
    """The noise that the layers of one network share."""

    def __init__(self, law_: Law | str, prior: str, seed: int | None, estimator: str) -> None:
        self.together = _Together()
        self.runners: dict[Any, Any] = {}
        self.fused = True  # layers run in C where they can, to be differentiated once
        self.prior = prior
        self.seed = seed_of(seed)
        self.step, self.sample = -1, -1  # of the last call; the first is number 0
        self.training = True
        self.estimator = estimator
        self.law = law_

    # ---- settings

    @property
    def law(self) -> Law:
        return self._law

    @law.setter
    def law(self, value: Law | str) -> None:
        chosen = law(value)
        self._check(chosen, self.estimator)
        self._law, self._kl = chosen, self._divergence(chosen)
        self._sampler = chosen.sampler(True)

    @property
    def estimator(self) -> str:
        return self._estimator

    @estimator.setter
    def estimator(self, name: str) -> None:
        if name not in ESTIMATORS:
            raise ValueError(f"no estimator {name!r}; there are {', '.join(ESTIMATORS)}")
        if hasattr(self, "_law"):
            self._check(self._law, name)
        self._estimator = name

    def _check(self, chosen: Law, estimator: str) -> None:
        if estimator == "flipout" and not chosen.symmetric:
            raise ValueError(f"flipout needs a symmetric law, which {chosen.text} is not")

    def _divergence(self, chosen: Law) -> Any:
        self._prior = ffi.new("xb_prior *", _options.parsed("xb_prior", self.prior, "prior"))
        return Session().make(lib.xb_kl_create, chosen._c, self._prior, 0)

    @property
    def _key(self) -> Any:
        return lib.xb_key_make(self.seed, lib.XB_PURPOSE_WEIGHT)

    # ---- places

    def advance(self, training: bool) -> None:
        """The next draw: another step while training, another sample of a prediction."""
        if training:
            self.step += 1
        else:
            self.sample += 1
        self.training = training
        place = (self.step, 0) if training else (PREDICT_STEP, self.sample)
        together = self.together
        together.place, together.source = place, None
        together.parts.clear()

    def at(self, sample: int) -> None:
        """The next prediction is draw number ``sample``: that of ``Model.draws``."""
        self.sample = count(sample, "sample", 0, 2**32 - 1) - 1

    def source(self) -> Source:
        """Where draws are now; one for all that a call of the network draws."""
        together = self.together
        kept = together.source
        if kept is not None and kept.sampler is self._sampler:
            return kept
        made = Source(self._sampler, self._stream(0), self._kl, self._prior)
        if together.place is not None:
            together.source = made
        return made

    def signs(self, tensor: int) -> Source:
        """Where the signs of a tensor are: the signs of gaussian draws, bit 31 of the word."""
        if not _gaussian:
            _gaussian.append(law("gaussian").sampler(True))
        return Source(_gaussian[0], self._stream(tensor), None, None)

    def _stream(self, tensor: int) -> Any:
        stream = ffi.new(_STREAM)
        stream.key, stream.tensor = self._key, tensor
        place = self.together.place
        if place is None:
            place = (self.step, 0) if self.training else (PREDICT_STEP, self.sample)
        stream.step, stream.sample = max(place[0], 0), max(place[1], 0)
        return stream

    # ---- copies

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in vars(self).items() if k not in _MADE}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.together = _Together()
        self.runners = {}
        self.law = self._law

    def __repr__(self) -> str:
        return f"Noise({self._law.text!r}, seed={self.seed}, estimator={self._estimator!r})"
