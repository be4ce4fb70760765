"""From a table of numbers, or images, to a model."""

from __future__ import annotations

import os
from typing import Any, Callable

import numpy as np

from crossbayes import _options
from crossbayes._library import (
    Doubles,
    Path,
    Progress,
    Session,
    encoded,
    keep_error,
    named_enum,
    path_bytes,
    pointer,
    raise_kept,
    seed_of,
    text,
)
from crossbayes._native import ffi, lib
from crossbayes.devices import Device, weight_cells
from crossbayes.fits import Estimate
from crossbayes.laws import Law
from crossbayes.models import Model
from crossbayes.tables import frame_notes, image_shape, make_frame, single_target

_COLUMNS = {
    text(lib.xb_history_column_name(value)): value
    for value in sorted(ffi.typeof("xb_history_column").elements)
}

# As the command line names them, where the library's own name is another.
_RENAMED = {"rate_schedule": "rate", "random": "stochastic"}
_OWN = ("net", "law", "rate", "estimator", "prior", "target_range", "preset", "start", "gp",
        "cells", "device")  # fmt: skip
_FREE_ONLY = ("sigma", "sigma_rate", "sigma_transform")  # settings of free widths


class Epoch(dict[str, float]):
    """An epoch of training: phase, epoch, step, f, kl, log_likelihood, validation, ..."""

    def __getattr__(self, name: str) -> float:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@ffi.def_extern(error=False, onerror=keep_error)
def xb_py_epoch(handle: Any, trainer: Any) -> bool:
    watch = ffi.from_handle(handle)
    values = {name: lib.xb_trainer_epoch_value(trainer, c) for name, c in _COLUMNS.items()}
    return watch(Epoch(values)) is not False


class TrainReport:
    """The report of a training run.

    ``history`` has an array by epoch for each column; ``rows``, ``held`` and
    ``copies`` are the numbers of training rows, of rows held out, and of rows left out because
    they repeat another row. ``epochs`` is the number of epochs of variational inference,
    ``epoch_kept`` the one whose weights were kept, and ``stopped`` says whether ``on_epoch``
    ended training. ``f`` (the negative ELBO) and ``log_likelihood`` are sums over the training
    rows, for the standardised target. ``likelihood_reason``, ``prior_reason`` and
    ``other_net`` (the net that was rejected) are None if nothing was chosen. ``notes`` say
    what became of a data frame's columns and missing cells.
    """

    def __init__(self, pointer: Any, notes: list[str]) -> None:
        self.notes = notes
        history = lib.xb_train_report_history(pointer)
        rows, columns = lib.xb_table_row_count(history), lib.xb_table_column_count(history)
        self.history: dict[str, Doubles] = {
            text(lib.xb_table_column_name(history, c)): np.array(
                [lib.xb_table_get(history, r, c) for r in range(rows)]
            )
            for c in range(columns)
        }
        self.rows = int(lib.xb_train_report_row_count(pointer))
        self.held = int(lib.xb_train_report_held_count(pointer))
        self.copies = int(lib.xb_train_report_copy_count(pointer))
        self.epochs = int(lib.xb_train_report_epoch_count(pointer))
        self.epoch_kept = int(lib.xb_train_report_epoch_kept(pointer))
        self.stopped = bool(lib.xb_train_report_stopped(pointer))
        f, likelihood = (
            lib.xb_train_report_f(pointer),
            lib.xb_train_report_log_likelihood(pointer),
        )
        self.f = Estimate(f.value, f.std_error)
        self.log_likelihood = Estimate(likelihood.value, likelihood.std_error)
        self.likelihood_reason = text(lib.xb_train_report_likelihood_reason(pointer)) or None
        self.prior_reason = text(lib.xb_train_report_prior_reason(pointer)) or None
        self.other_net = text(lib.xb_train_report_other_net(pointer)) or None

    def __repr__(self) -> str:
        return f"TrainReport({self.rows} rows, {self.epochs} epochs, F = {self.f!r})"


def _options_of(settings: dict[str, Any], session: Session, keep: list[Any]) -> Any:
    """xb_train_options; names as on the command line, with underscores."""
    given = {
        _RENAMED.get(name, name): value for name, value in settings.items() if value is not None
    }
    rate = settings.get("rate")
    if "rate_schedule" not in settings:
        given.pop("rate", None)
    estimator = given.pop("estimator", None)
    span = given.pop("target_range", None)
    if given.get("prior") in ("auto", "standard", "fitted"):
        given["prior_scale"] = given.pop("prior")
    preset = given.pop("preset", None)
    options = _options.make("train", {}, keep)
    if preset is not None:
        session.check(lib.xb_train_preset(session.ctx, options, encoded(preset, "preset")))
    _options.fill("train", options, given, keep, _OWN)
    if rate is not None:
        options.adam.rate = float(rate)
    if estimator not in (None, "auto"):
        options.estimator = named_enum("estimator", estimator)
    if span is not None:
        low, high = span
        options.target_mean, options.target_sd = low, high - low
    return options


def _set_cells(
    options: Any, session: Session, cells: Any, device: Any, settings: Any, keep: list[Any]
) -> None:
    """Weights made of cells: their text, or with a measured device its widths."""
    if cells is None:
        if device is not None:
            raise ValueError("device goes with cells, e.g. cells='pair'")
        return
    for name in _FREE_ONLY:
        if settings.get(name) is not None:
            raise ValueError(
                f"{name} does not go with cells: widths follow from the cells' states"
            )
    keep.append(weight_cells(session, cells, device))
    options.cells = keep[-1]


def _add_process(session: Session, model: Any, data: Any, gp: Any) -> None:
    """A Gaussian process beside the net (V43)."""
    rows = ffi.new("xb_rows *")
    rows.x, rows.n, rows.features = data.x, data.n, data.features
    session.check(lib.xb_model_add_process(session.ctx, model, rows, gp))


def _length(gp: Any) -> float:
    try:
        return float(gp)
    except (TypeError, ValueError):
        raise TypeError(f"gp: expected a number, not {gp!r}") from None


def _images(x: Any, y: Any, classes: bool | None, keep: list[Any]) -> Any:
    """Bytes of images or floats as the net takes them, read where they lie."""
    data = ffi.new("xb_train_data *")
    array = np.ascontiguousarray(x)
    if array.dtype == np.uint8:
        data.bytes = pointer(array, "uint8_t")
    else:
        array = array.astype(np.float32, copy=False)
        if not np.isfinite(array).all():
            raise ValueError("X has values that are not finite")
        data.scaled = pointer(array, "float")
    numbers = single_target(y, len(array))
    if classes:
        if not np.array_equal(numbers, np.round(numbers)) or (numbers < 0).any():
            raise ValueError("y: expected class numbers 0, 1, ... beside arrays of images")
        data.classes = int(numbers.max(initial=0)) + 1
    data.y = pointer(numbers)
    data.n, data.features = len(array), int(np.prod(array.shape[1:]))
    keep += [array, numbers]
    return data


def train(
    x: Any,
    y: Any,
    *,
    law: Law | str | None = None,
    net: str | None = None,
    classes: bool | None = None,
    seed: int = 1,
    epochs: int | None = None,
    on_epoch: Callable[[Epoch], Any] | None = None,
    checkpoint: Path | None = None,
    scaled: bool = False,
    gp: float | None = None,
    cells: str | None = None,
    device: Device | None = None,
    progress: Progress = None,
    **settings: Any,
) -> Model:
    """Trains a Bayesian network of y given x; the same bytes as ``crossbayes train``.

    ``x``: rows and columns, as an array of numbers or as a data frame, whose words and
    missing cells become features; or images, uint8 [n][h][w][c]. Columns are standardised,
    but images are not. ``scaled=True`` says that x is float32 as the net takes it: it is
    neither standardised nor copied.

    ``y``: numbers, with two dimensions for several targets, or classes. Texts are classes;
    numbers are classes with ``classes=True``.

    ``on_epoch(epoch)`` is called after each epoch. If it returns False, training ends and
    the model reached so far is the result. Ctrl-C ends training with KeyboardInterrupt;
    with a ``checkpoint`` file, the same call with ``resume=True`` continues from there.

    ``gp``: adds a Gaussian process over the inputs, which widens intervals away from the
    training rows; the value, e.g. 0.25, is its length scale in standard deviations of a
    column times the square root of the number of columns. ``prior``: a prior, or how the scale
    of a normal one is found (``auto``, ``standard`` or ``fitted``). ``cells`` (three, pair,
    ...): each weight is made of memory cells whose read noise is its width; with a
    ``device``, the widths are those of its traces.

    Further settings are those of the command line, with underscores: likelihood (auto,
    gaussian, heteroscedastic, student, poisson, negative-binomial), members, effort,
    noise_net, random, prior, mle_epochs, batch, draws, estimator, group, antithetic,
    rate, rate_schedule, sigma, sigma_rate, sigma_transform, temperature, freeze, preset,
    validation, patience, resume, target_range, mirror, skewed, keep_copies, backend, ...
    ``prior_by_fan=False`` is ``--prior-as-is``. Beside a ``net``, likelihood auto is gaussian
    unless ``choose_likelihood=True``, which is ``--likelihood auto``.
    """
    keep: list[Any] = []
    values = {"law": law, "net": net, "seed": seed_of(seed), "epochs": epochs, **settings}
    notes: list[str] = []
    with Session(progress) as session:
        options = _options_of(values, session, keep)
        _set_cells(options, session, cells, device, settings, keep)
        length = None if gp is None else _length(gp)
        array = np.asarray(x) if scaled or getattr(x, "ndim", 2) > 2 else None
        if array is not None:
            data = _images(array, y, classes, keep)
            if array.ndim > 2:
                options.input.h, options.input.w, options.input.c = image_shape(array)
        else:
            frame = make_frame(session, x, y, classes, keep)
            notes = frame_notes(frame)
            data = ffi.new("xb_train_data *", lib.xb_train_data_of(frame))
        if length is not None and (data.classes > 0 or not data.x):
            raise ValueError("gp is for a table and one target of numbers")
        if checkpoint is not None:
            keep.append(ffi.new("char[]", path_bytes(checkpoint)))
            options.checkpoint = keep[-1]
        if on_epoch is not None:
            handle = ffi.new_handle(on_epoch)
            options.on_epoch, options.on_epoch_arg = lib.xb_py_epoch, handle
            options.stop_keeps = True
        report = ffi.new("xb_train_report **")
        model = Model(session.make(lib.xb_train, report, data, options))
        model.report = TrainReport(ffi.gc(report[0], lib.xb_train_report_destroy), notes)
        raise_kept()
        if length is not None:
            _add_process(session, model._c, data, length)
        if checkpoint is not None and os.path.exists(checkpoint):
            os.unlink(checkpoint)  # it only had the result, which is here
        return model


def train_presets() -> dict[str, str]:
    """The named sets of settings for ``preset``, each in a few words."""
    return {
        text(lib.xb_train_preset_name(i)): text(lib.xb_train_preset_sets(i))
        for i in range(lib.xb_train_preset_count())
    }
