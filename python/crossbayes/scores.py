"""How good a predictive is, and how far the predictives of two laws are apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from crossbayes import _html
from crossbayes._library import Doubles, Handle, encoded, text, view
from crossbayes._native import ffi, lib


class Score(float):
    """A score with its errors over test points (std_error) and over weight draws (mc_error)."""

    std_error: float
    mc_error: float

    def __new__(cls, value: float, std_error: float, mc_error: float) -> Score:
        made = super().__new__(cls, value)
        made.std_error, made.mc_error = std_error, mc_error
        return made

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]
        return float(self), self.std_error, self.mc_error

    def __repr__(self) -> str:
        out = ffi.new("char[64]")
        lib.xb_number_with_error(out, 64, float(self), self.std_error)
        return text(out)


def score_of(s: Any) -> Score:
    return Score(s.value, s.std_error, s.mc_error)


class Scores(Mapping[str, Score]):
    """Scores by name: rmse, nll, crps, coverage, ... or accuracy, nll, brier, ece, ..."""

    def __init__(self, pointer: Any, owner: Any) -> None:
        self._c, self._owner = pointer, owner

    def __len__(self) -> int:
        return int(lib.xb_scores_count(self._c))

    def __iter__(self) -> Iterator[str]:
        return (text(lib.xb_scores_name(self._c, i)) for i in range(len(self)))

    def __getitem__(self, name: str) -> Score:
        i = lib.xb_scores_find(self._c, encoded(name, "score")) if isinstance(name, str) else -1
        if i < 0:
            raise KeyError(f"no score {name!r}; there are {', '.join(self)}")
        return score_of(lib.xb_scores_at(self._c, i))

    def array(self, name: str) -> Doubles:
        """An array behind the scores: pit, crps or nll of each point, share by level, ..."""
        size = ffi.new("int64_t *")
        address = lib.xb_scores_array_get(self._c, encoded(name, "array"), size)
        if not address:
            names = range(lib.xb_scores_array_count(self._c))
            known = ", ".join(text(lib.xb_scores_array_name(self._c, i)) for i in names)
            raise KeyError(f"no array {name!r}; there are {known}")
        array: Doubles = view(address, (size[0],), np.float64, self._owner)
        return array

    @property
    def doubts(self) -> list[str]:
        """Reasons why these scores may be unreliable, one sentence each."""
        n = lib.xb_scores_doubt_count(self._c)
        return [text(lib.xb_scores_doubt_at(self._c, i)) for i in range(n)]

    def __repr__(self) -> str:
        return "Scores(" + ", ".join(f"{name}={value!r}" for name, value in self.items()) + ")"

    def _repr_html_(self) -> str:
        return _html.table("scores", {name: repr(value) for name, value in self.items()})


class Distance(NamedTuple):
    """A distance between two samples, averaged over the points."""

    value: float
    std_error: float
    p_value: float
    floor: float


class Comparison:
    """How far a law's outputs are from the first law's.

    ``verdict`` is same, different or cannot tell, and ``findings`` are the sentences behind
    it. ``needed`` says how many draws would decide (None if the verdict is decided).
    ``distances`` has the distances by name, ``kl_at_least`` is a lower bound of the KL in nats
    that holds with 95 % confidence, and ``nll_difference`` is the NLL minus the first law's.
    """

    def __init__(self, pointer: Any, law: int) -> None:
        outputs = lib.xb_evaluation_outputs(pointer, law)
        self.verdict = text(lib.xb_verdict_name(lib.xb_distances_verdict(outputs)))
        n = lib.xb_distances_count(outputs)
        at = (lib.xb_distances_at(outputs, i) for i in range(n))
        names = [text(lib.xb_distances_name(outputs, i)) for i in range(n)]
        self.distances = {
            name: Distance(d.value, d.std_error, d.p_value, d.floor)
            for name, d in zip(names, at)
        }
        self.kl_at_least = float(lib.xb_evaluation_kl_at_least(pointer, law))
        self.nll_difference = score_of(lib.xb_evaluation_nll_difference(pointer, law))
        count = lib.xb_evaluation_finding_count(pointer, law)
        self.findings = [
            text(lib.xb_evaluation_finding_at(pointer, law, i)) for i in range(count)
        ]
        self.needed = text(lib.xb_evaluation_needed(pointer, law)) or None

    def __repr__(self) -> str:
        return f"Comparison({self.verdict})"


class Evaluation(Handle):
    """A model's scores under each law, and how far the laws are apart.

    ``scores`` are the first law's; ``under[i]`` those of law i, ``compared[i]`` its
    distance from the first (None for the first itself).
    """

    _what = "evaluation"

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer
        n = lib.xb_evaluation_law_count(pointer)
        self.laws = [text(lib.xb_evaluation_law_name(pointer, i)) for i in range(n)]
        self.draws = int(lib.xb_evaluation_draws(pointer))
        self.under = [Scores(lib.xb_evaluation_scores(pointer, i), pointer) for i in range(n)]
        self.compared = [None, *(Comparison(pointer, i) for i in range(1, n))]

    @property
    def scores(self) -> Scores:
        return self.under[0]

    def __repr__(self) -> str:
        return f"Evaluation({', '.join(self.laws)}; {self.draws} draws)"

    def _repr_html_(self) -> str:
        rows = [[name, *(repr(s[name]) for s in self.under)] for name in self.scores]
        verdicts = ["verdict", "", *(c.verdict for c in self.compared if c is not None)]
        return _html.grid("scores", ["", *self.laws], [*rows, verdicts])


def evaluation_of(pointer: Any) -> Evaluation:
    return Evaluation(pointer)
