"""Arrays and data frames as the library takes them.

A data frame may hold anything that a table on disk may: words become features, missing
cells are filled and flagged (docs/formats.md). An array holds numbers, all of them finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crossbayes._library import (
    Doubles,
    Session,
    doubles,
    encoded,
    pointer,
    text,
    unmasked,
    view,
)
from crossbayes._native import ffi, lib

_TYPES = {
    np.dtype(np.float64): lib.XB_COLUMN_F64,
    np.dtype(np.float32): lib.XB_COLUMN_F32,
    np.dtype(np.int64): lib.XB_COLUMN_I64,
    np.dtype(np.int32): lib.XB_COLUMN_I32,
    np.dtype(np.uint8): lib.XB_COLUMN_U8,
    np.dtype(np.bool_): lib.XB_COLUMN_U8,
}

Column = npt.NDArray[Any]


def is_frame(values: Any) -> bool:
    """Is it a pandas data frame, or one that behaves like it?"""
    return hasattr(values, "columns") and hasattr(values, "iloc")


def matrix(values: Any, name: str = "X") -> Column:
    """Rows and columns of numbers, where they lie if they are an array already."""
    array = unmasked(values)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        array = doubles(values, name)
    if array.ndim != 2:
        if array.ndim == 1:
            hint = "X.reshape(-1, 1) is one column, X.reshape(1, -1) one row"
            raise ValueError(f"{name} has 1 dimension, expected 2: {hint}")
        raise ValueError(f"{name} has {array.ndim} dimensions, expected 2")
    return array


# ---- columns


def _missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ == "NAType"


def _is_text(column: Column) -> bool:
    return column.dtype.kind in "US" or (
        column.dtype == object and any(isinstance(value, str) for value in column)
    )


def _texts(column: Column, name: str, keep: list[Any]) -> Any:
    """An array of C texts, NULL where one is missing; each distinct one is stored once."""
    stored: dict[str, Any] = {}
    out = ffi.new("char *[]", max(len(column), 1))
    for i, value in enumerate(column):
        if not isinstance(value, str) and _missing(value):
            continue
        word = value if isinstance(value, str) else str(value)
        if word not in stored:
            stored[word] = ffi.new("char[]", encoded(word, name))
        out[i] = stored[word]
    keep += [out, stored]
    return out


def _column(array: Column, name: str | None, number: int, keep: list[Any]) -> dict[str, Any]:
    """One xb_column, in place where its type is one that the library reads."""
    made: dict[str, Any] = {}
    label = name or f"column {number + 1}"
    if name is not None:
        made["name"] = ffi.new("char[]", encoded(name, "column"))
        keep.append(made["name"])
    if array.dtype.kind in "mM":
        array = np.datetime_as_string(array) if array.dtype.kind == "M" else array.astype(float)
    if _is_text(array):
        made |= {"values": _texts(array, label, keep), "type": lib.XB_COLUMN_TEXT}
        return made
    if array.dtype not in _TYPES or not array.dtype.isnative:
        array = doubles(array, label, 1)
    keep.append(array)
    address = array.__array_interface__["data"][0]
    made |= {"values": ffi.cast("void *", address), "type": _TYPES[array.dtype]}
    made["stride"] = array.strides[0] if array.size else 0
    return made


def _columns(values: Any, name: str) -> tuple[list[Column], list[str] | None, int]:
    """Columns, their names where there are some, and how many rows there are."""
    if is_frame(values):
        names = [str(column) for column in values.columns]
        return [_pandas(values.iloc[:, j]) for j in range(len(names))], names, len(values)
    array = matrix(values, name)
    return [array[:, j] for j in range(array.shape[1])], None, len(array)


def _pandas(series: Any) -> Column:
    array = series.to_numpy()
    if array.dtype == object and not _is_text(array):  # nullable numbers
        array = series.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(array)


def _targets(y: Any, rows: int) -> tuple[list[Column], list[str] | None]:
    """One column of targets or several, and their names."""
    if is_frame(y):
        columns, names, n = _columns(y, "y")
    else:
        array = unmasked(y)
        if array.ndim not in (1, 2):
            raise ValueError(f"y has {array.ndim} dimensions, expected 1 or 2")
        columns = [array] if array.ndim == 1 else list(array.T)
        name, n = getattr(y, "name", None), len(array)
        names = None if name is None else [str(name)]
    if n != rows:
        raise ValueError(f"X has {rows} rows and y has {n}")
    if not columns:
        raise ValueError("y has no columns")
    return columns, names


def _table(columns: Sequence[Column], names: Sequence[str | None], keep: list[Any]) -> Any:
    parts = [_column(c, name, j, keep) for j, (c, name) in enumerate(zip(columns, names))]
    return ffi.new("xb_column[]", parts)


def make_frame(session: Session, x: Any, y: Any, classes: bool | None, keep: list[Any]) -> Any:
    """An xb_frame to train on: the same table as from a file with these columns."""
    columns, names, rows = _columns(x, "X")
    targets, target_names = _targets(y, rows)
    if names is not None and target_names is None:
        free = [name for name in ("y", "target", "y.target") if name not in names]
        target_names = [free[0] + (str(k + 1) if k else "") for k in range(len(targets))]
    first = len(columns) + 1
    labels: list[str | None] = list(names) if names else [None] * len(columns)
    if names is None:
        labels += [None] * len(targets)
        wanted = ",".join(str(first + k) for k in range(len(targets)))
    else:
        labels += target_names or []
        wanted = ",".join(target_names or [])
    options = ffi.new("xb_frame_options *", lib.xb_frame_options_default())
    target = ffi.new("char[]", encoded(wanted, "target"))
    options.target = target
    options.prepare = names is not None
    if classes is not None:
        options.target_kind = lib.XB_TARGET_CLASS if classes else lib.XB_TARGET_NUMBER
    table = _table([*columns, *targets], labels, keep)
    return session.make(lib.xb_frame_create, table, len(labels), rows, options)


def frame_notes(frame: Any) -> list[str]:
    """What became of columns and cells, a sentence each."""
    return [text(lib.xb_frame_note_at(frame, i)) for i in range(lib.xb_frame_note_count(frame))]


# ---- inputs of a model


def image_shape(x: Column) -> tuple[int, int, int]:
    """Height, width and channels of [n][h][w] or [n][h][w][c]."""
    h, w = x.shape[1:3]
    return int(h), int(w), int(x.shape[3]) if x.ndim == 4 else 1


def model_inputs(model: Any, x: Any, keep: list[Any]) -> Doubles:
    """A table's features [n][features] in double, by the model's recipe for a data frame."""
    features = int(lib.xb_model_feature_count(model))
    if is_frame(x):
        columns, names, rows = _columns(x, "X")
        table = _table(columns, names or [], keep)
        frame = Session().make(
            lib.xb_model_frame_create, model, table, len(columns), rows, False, ffi.NULL
        )
        shape = (rows, features)
        made: Doubles = view(lib.xb_frame_values(frame), shape, np.float64, frame)
        return made
    array = doubles(matrix(x), "X", 2)
    if array.shape[1] != features:
        raise ValueError(f"X has {array.shape[1]} columns, the model has {features} inputs")
    return array


def input_rows(model: Any, x: Any, keep: list[Any], scaled: bool) -> Any:
    """xb_rows of inputs to predict from: float32 (scaled) and bytes without a copy."""
    rows = ffi.new("xb_rows *")
    image = getattr(x, "dtype", None) == np.uint8 and x.ndim in (3, 4)
    if image:
        array = np.ascontiguousarray(x).reshape(len(x), -1)
        rows.bytes = pointer(array, "uint8_t")
    elif scaled:
        array = np.ascontiguousarray(matrix(x), np.float32)
        if not np.isfinite(array).all():
            raise ValueError("X has values that are not finite")
        rows.scaled = pointer(array, "float")
    else:
        array = model_inputs(model, x, keep)
        rows.x = pointer(array)
    features = int(lib.xb_model_feature_count(model))
    if array.shape[1] != features:
        raise ValueError(f"X has {array.shape[1]} columns, the model has {features} inputs")
    keep.append(array)
    rows.n, rows.features = array.shape
    return rows


def target_numbers(model: Any, y: Any, rows: int) -> Doubles:
    """Targets as the library takes them; class k of the model is k."""
    columns, _ = _targets(y, rows)
    classes = int(lib.xb_model_class_count(model))
    wanted = int(lib.xb_model_target_count(model))
    if len(columns) != wanted:
        raise ValueError(f"y has {len(columns)} columns, the model has {wanted} targets")
    if classes == 0:
        return np.column_stack([doubles(c, "y", 1) for c in columns])
    names = [text(lib.xb_model_class_name(model, k)) for k in range(classes)]
    place = {name: k for k, name in enumerate(names)}
    out = np.empty(rows)
    for i, value in enumerate(columns[0].tolist()):
        label = class_text(value)
        if label not in place:
            raise ValueError(
                f"y: row {i + 1}: no class {label!r}; there are {', '.join(names)}"
            )
        out[i] = place[label]
    return out


def class_text(value: Any) -> str:
    """A class as the library names it: 1, 1.0 and True are "1"."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def single_target(y: Any, rows: int) -> Doubles:
    """Numbers of the one target beside images, or of several."""
    columns, _ = _targets(y, rows)
    return np.column_stack([doubles(c, "y", 1) for c in columns])
