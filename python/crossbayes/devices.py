"""Measured devices and simulated arrays."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crossbayes import _html, _options
from crossbayes._library import (
    Doubles,
    Handle,
    Path,
    Session,
    doubles,
    encoded,
    named_enum,
    path_bytes,
    pointer,
    text,
)
from crossbayes._native import ffi, lib
from crossbayes.laws import Law


class Move(NamedTuple):
    """How far cells have moved from their programmed conductance."""

    shift: float
    shift_error: float
    spread: float
    spread_error: float
    skewness: float
    cells: int
    extrapolated: bool


class Device(Handle):
    """A device as measured by a campaign; see :func:`device`."""

    _what = "device"

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer

    @property
    def unit(self) -> str:
        return text(lib.xb_device_unit(self._c))

    @property
    def conductances(self) -> Doubles:
        """The mean programmed conductance of each state, ascending."""
        n = lib.xb_device_state_count(self._c)
        return np.array([lib.xb_device_state_at(self._c, i).conductance for i in range(n)])

    @property
    def times(self) -> Doubles:
        """Seconds after programming at which cells were read, ascending, above 0."""
        n = lib.xb_device_time_count(self._c)
        return np.array([lib.xb_device_time_at(self._c, i) for i in range(n)])

    def moved(self, conductance: float, seconds: float) -> Move:
        """How far cells of a given conductance have moved, ``seconds`` after programming."""
        m = lib.xb_device_moved(self._c, float(conductance), float(seconds))
        return Move(*(getattr(m, name) for name in Move._fields))

    def relaxed(self, conductance: float, seconds: float, u: float) -> float:
        """The conductance that a cell of rank u in (0, 1) among cells like it has reached."""
        if not 0 < u < 1:
            raise ValueError(f"u is {u}, expected more than 0 and less than 1")
        return float(lib.xb_device_relaxed(self._c, float(conductance), float(seconds), u))

    @property
    def report(self) -> dict[str, Any]:
        """The whole report, as in the device file."""
        report: dict[str, Any] = json.loads(Session().text(lib.xb_device_json, self._c))
        return report

    def save(self, path: Path) -> None:
        session = Session()
        session.check(lib.xb_device_save(session.ctx, self._c, path_bytes(path)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (Device, _saved(self))

    def __repr__(self) -> str:
        if self._pointer is None:
            return "Device(closed)"
        states, times = len(self.conductances), len(self.times)
        return f"Device({lib.xb_device_cells(self._c)} cells, {states} states, {times} times)"


def device(path: Path) -> Device:
    """Loads a device from its file."""
    return Device(Session().make(lib.xb_device_load, path_bytes(path, read=True)))


def measure_device(
    cell: npt.ArrayLike,
    state: npt.ArrayLike,
    time: npt.ArrayLike,
    value: npt.ArrayLike,
    programmed: npt.ArrayLike | None = None,
    *,
    min_cells: int = 20,
    unit: str = "S",
) -> Device:
    """A device from the readings of a campaign, one element each, in any order.

    ``cell`` numbers the cells, ``state`` is the state that each was programmed to, ``time``
    is in seconds after programming, and ``value`` is the conductance in ``unit``.
    ``programmed`` is the conductance right after programming; without it, it is the cell's
    reading at time 0. States of fewer than ``min_cells`` cells are left out.
    """
    columns = {"cell": cell, "state": state, "time": time, "value": value}
    if programmed is not None:
        columns["programmed"] = programmed
    arrays = {name: doubles(column, name, 1) for name, column in columns.items()}
    sizes = {array.size for array in arrays.values()}
    if len(sizes) != 1:
        raise ValueError("columns of a campaign differ in length")
    pointers = {name: pointer(array) for name, array in arrays.items()}
    campaign = ffi.new("xb_campaign *", {"n": sizes.pop(), **pointers})
    keep: list[Any] = []
    options = _options.make("device", {"min_cells": min_cells, "unit": unit}, keep)
    return Device(Session().make(lib.xb_device_measure, campaign, options))


def weight_cells(session: Session, cells: str, device: Device | None) -> Any:
    """The cells that weights are made of (V31); with a device, they have its widths."""
    base = session.make(lib.xb_weight_cells_parse, encoded(cells, "cells"))
    if device is None:
        return base
    if not isinstance(device, Device):
        raise TypeError(f"device: expected a Device, not {type(device).__name__}")
    n = int(lib.xb_device_trace_count(device._c))
    if n < 2:
        raise ValueError(f"device: read noise at {n} states, expected 2 or more")
    traces = [lib.xb_device_trace_at(device._c, i) for i in range(n)]
    g, width = (np.array([getattr(t, k) for t in traces]) for k in ("conductance", "width"))
    return session.make(lib.xb_weight_cells_measured, base, pointer(g), pointer(width), n)


class Array(Handle):
    """A simulated array: a preset or an array file, with some of its numbers changed.

    ``array_presets()`` lists the presets and ``array_fields()`` the numbers with their
    units. For a number that belongs to an effect, 0 turns the effect off.

    >>> import crossbayes as xb
    >>> a = xb.Array("mtj", adc_bits=6)
    >>> a["adc_bits"]
    6.0
    >>> "adc" in a.effects
    True
    """

    _what = "array"

    def __init__(
        self,
        preset: str | Path = "ideal",
        *,
        law: Law | str | None = None,
        redraw: str | None = None,
        **numbers: float,
    ) -> None:
        session = Session()
        name = (
            encoded(preset, "preset") if isinstance(preset, str) else path_bytes(preset, True)
        )
        self._pointer = session.make(lib.xb_array_parse, name)
        if law is not None:
            label = law.text if isinstance(law, Law) else law
            session.check(lib.xb_array_set_law(session.ctx, self._c, encoded(label, "law")))
        if redraw is not None:
            lib.xb_array_set_redraw(self._c, named_enum("redraw", redraw))
        for key, value in numbers.items():
            self._set(key, value)
        session.check(lib.xb_array_check(session.ctx, self._c))

    def _set(self, key: str, value: float) -> None:
        session = Session()
        session.check(lib.xb_array_set(session.ctx, self._c, encoded(key, "key"), float(value)))

    def __getitem__(self, key: str) -> float:
        session = Session()
        out = ffi.new("double *")
        session.check(lib.xb_array_get(session.ctx, out, self._c, encoded(key, "key")))
        return float(out[0])

    @property
    def numbers(self) -> dict[str, float]:
        """All numbers of the array; :func:`array_fields` says what each is."""
        return {name: self[name] for name in array_fields()}

    @property
    def effects(self) -> list[str]:
        """The effects that are on."""
        return [
            text(lib.xb_array_effect_name(i))
            for i in range(lib.xb_array_effect_count())
            if lib.xb_array_has_effect(self._c, i)
        ]

    @property
    def name(self) -> str:
        return text(lib.xb_array_name(self._c))

    def with_(self, **numbers: float) -> Array:
        """A copy with other numbers.

        >>> Array("mtj").with_(adc_bits=4)["adc_bits"]
        4.0
        """
        session = Session()
        made = Array.__new__(Array)
        made._pointer = session.make(lib.xb_array_copy, self._c)
        for key, value in numbers.items():
            made._set(key, value)
        session.check(lib.xb_array_check(session.ctx, made._c))
        return made

    def save(self, path: Path) -> None:
        session = Session()
        session.check(lib.xb_array_save(session.ctx, self._c, path_bytes(path)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (Array, _saved(self))

    def __repr__(self) -> str:
        if self._pointer is None:
            return "Array(closed)"
        return f"Array({self.name!r}: {', '.join(self.effects) or 'no effects'})"

    def _repr_html_(self) -> str:
        return _html.table(repr(self), {k: v for k, v in self.numbers.items() if v != 0})


def _saved(thing: Device | Array) -> bytes:
    """The file of a device or an array, for pickles."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved.json")
        thing.save(path)
        with open(path, "rb") as file:
            return file.read()


def _loaded(kind: type[Device] | type[Array], content: bytes) -> Device | Array:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved.json")
        with open(path, "wb") as file:
            file.write(content)
        return device(path) if kind is Device else Array(path)


def array_fields() -> dict[str, str]:
    """The numbers of an array, each in a few words."""
    fields = (lib.xb_array_field_at(i) for i in range(lib.xb_array_field_count()))
    return {text(field.key): text(field.about) for field in fields}


def array_presets() -> dict[str, str]:
    """The arrays that have a name, each in a few words."""
    return {
        text(lib.xb_array_preset_name(i)): text(lib.xb_array_preset_about(i))
        for i in range(lib.xb_array_preset_count())
    }
