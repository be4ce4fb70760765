"""A model on a simulated array of devices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crossbayes import _options
from crossbayes._library import (
    Doubles,
    Handle,
    Path,
    Progress,
    Session,
    count,
    path_bytes,
    pointer,
    text,
)
from crossbayes._native import ffi, lib
from crossbayes.devices import Array
from crossbayes.models import Model
from crossbayes.scores import Score, Scores, score_of
from crossbayes.tables import model_inputs, target_numbers


class Assay(NamedTuple):
    """The comparison of an array with the digital model."""

    digital: Scores
    array: Scores
    verdict: str
    nll_difference: Score
    kl_at_least: float


class AnalogModel(Handle):
    """A trained model on an array; one read of the array is one draw of all weights."""

    _what = "analog model"

    def __init__(
        self,
        model: Model,
        array: Array | str,
        calibration: npt.ArrayLike | None = None,
        *,
        progress: Progress = None,
        **settings: Any,
    ) -> None:
        self.model = model
        self.array = array if isinstance(array, Array) else Array(array)
        self._settings = settings
        self._keep: list[Any] = []
        features = int(lib.xb_model_feature_count(model._c))
        x = np.empty((0, features)) if calibration is None else self._inputs(calibration)
        self._calibration = x
        options = _options.make("analog", settings, self._keep)
        with Session(progress) as session:
            self._pointer = session.make(
                lib.xb_analog_create, model._c, self.array._c, pointer(x), len(x), options
            )
        self._model = model._c  # borrowed by the analog model

    def _inputs(self, x: Any) -> Doubles:
        return model_inputs(self.model._c, x, self._keep)

    def draws(
        self, x: Any, reads: int = 1000, *, first: int = 0, progress: Progress = None
    ) -> Doubles:
        """The net's outputs in each read, shape (reads, rows) or (reads, rows, classes)."""
        values = self._inputs(x)
        out = np.empty((count(reads, "reads"), len(values), *self.model._outputs()))
        with Session(progress) as session:
            session.check(
                lib.xb_analog_draws(
                    session.ctx, pointer(out), ffi.NULL, self._c, pointer(values),
                    len(values), count(first, "first"), len(out),
                )
            )  # fmt: skip
        return out

    def evaluate(
        self, x: Any, y: Any, *, reads: int = 1000, tolerance: float = 0.1,
        progress: Progress = None,
    ) -> Assay:  # fmt: skip
        """Scores of the array beside the digital model's, and whether they differ."""
        values = self._inputs(x)
        target = target_numbers(self.model._c, y, len(values))
        keep: list[Any] = []
        options = _options.make("assay", {"reads": reads, "tolerance": tolerance}, keep)
        analog = _options.make("analog", self._settings, keep)
        options.analog = analog
        if len(self._calibration):
            options.calibration = pointer(self._calibration)
            options.calibration_n = len(self._calibration)
        with Session(progress) as session:
            assay = session.make(
                lib.xb_assay_create, self.model._c, pointer(values), pointer(target),
                len(values), options,
            )  # fmt: skip
            result = session.make(lib.xb_assay_run, assay, self.array._c)
        owner = (assay, result, self.model._c, values, target)
        digital = lib.xb_assay_result_scores(lib.xb_assay_digital(assay))
        distance = lib.xb_assay_result_distance(result)
        return Assay(
            Scores(digital, owner),
            Scores(lib.xb_assay_result_scores(result), owner),
            text(lib.xb_verdict_name(lib.xb_distances_verdict(distance))),
            score_of(lib.xb_assay_result_nll_difference(result)),
            float(lib.xb_assay_result_kl_at_least(result)),
        )

    def export(self, folder: Path) -> None:
        """Writes the data to program: conductances of each tile as NPY, and array.json."""
        session = Session()
        session.check(lib.xb_analog_export(session.ctx, self._c, path_bytes(folder)))

    def __repr__(self) -> str:
        if self._pointer is None:
            return "AnalogModel(closed)"
        return f"AnalogModel({self.model!r} on {self.array!r})"
