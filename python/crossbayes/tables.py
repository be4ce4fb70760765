"""Arrays and data frames as the library takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from crossbayes._library import Doubles, Session, doubles, encoded, pointer
from crossbayes._native import ffi, lib

_TYPES = {
    np.dtype(np.float64): lib.XB_COLUMN_F64,
    np.dtype(np.float32): lib.XB_COLUMN_F32,
    np.dtype(np.int64): lib.XB_COLUMN_I64,
    np.dtype(np.int32): lib.XB_COLUMN_I32,
    np.dtype(np.uint8): lib.XB_COLUMN_U8,
    np.dtype(np.bool_): lib.XB_COLUMN_U8,
}


def is_frame(values: Any) -> bool:
    """Is it a pandas data frame, or one that behaves like it?"""
    return hasattr(values, "columns") and hasattr(values, "iloc")


def matrix(values: Any, name: str = "X") -> npt.NDArray[Any]:
    """Rows and columns of numbers, where they lie if they are an array already."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        array = doubles(values, name)
    if array.ndim != 2:
        hint = "; one column is X.reshape(-1, 1)" if array.ndim == 1 else ""
        raise ValueError(f"{name} has {array.ndim} dimensions, expected 2{hint}")
    return array


def _is_text(column: npt.NDArray[Any]) -> bool:
    return column.dtype.kind in "US" or (
        column.dtype == object and any(isinstance(value, str) for value in column)
    )


def _texts(column: npt.NDArray[Any], name: str, keep: list[Any]) -> Any:
    """An array of C texts; each distinct one is stored once."""
    stored: dict[str, Any] = {}
    out = ffi.new("char *[]", max(len(column), 1))
    for i, value in enumerate(column):
        if not isinstance(value, str):
            raise TypeError(f"{name}: row {i + 1} is {value!r}, expected a text as before it")
        if value not in stored:
            stored[value] = ffi.new("char[]", encoded(value, name))
        out[i] = stored[value]
    keep += [out, stored]
    return out


def _column(
    array: npt.NDArray[Any], name: str | None, keep: list[Any], number: int = 0
) -> dict[str, Any]:
    """One xb_column, in place where its type is one that the library reads."""
    made: dict[str, Any] = {}
    label = name or f"column {number + 1}"
    if name is not None:
        made["name"] = ffi.new("char[]", encoded(name, "column"))
        keep.append(made["name"])
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


def features_of(x: Any) -> tuple[list[npt.NDArray[Any]], list[str] | None]:
    """Columns, and their names where there are some."""
    if is_frame(x):
        names = [str(name) for name in x.columns]
        return [x.iloc[:, j].to_numpy() for j in range(len(names))], names
    array = matrix(x)
    return [array[:, j] for j in range(array.shape[1])], None


def target_of(y: Any, rows: int) -> tuple[npt.NDArray[Any], str | None]:
    """One column of targets, and its name."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"y has {array.ndim} dimensions, expected 1")
    if array.size != rows:
        raise ValueError(f"X has {rows} rows and y has {array.size}")
    name = getattr(y, "name", None)
    return array, None if name is None else str(name)


def make_frame(session: Session, x: Any, y: Any, classes: bool | None, keep: list[Any]) -> Any:
    """An xb_frame: the same table as from a file with these columns."""
    columns, names = features_of(x)
    rows = columns[0].size if columns else 0
    target, target_name = target_of(y, rows)
    if names is not None and target_name is None:
        target_name = "y" if "y" not in names else "target"
    labels = [*names, target_name] if names is not None else [None] * (len(columns) + 1)
    parts = [
        _column(column, label, keep, j)
        for j, (column, label) in enumerate(zip([*columns, target], labels))
    ]
    table = ffi.new("xb_column[]", parts)
    options = ffi.new("xb_frame_options *", lib.xb_frame_options_default())
    number = ffi.new("char[]", encoded(target_name or str(len(parts)), "target"))
    options.target = number
    if classes is not None:
        options.target_kind = lib.XB_TARGET_CLASS if classes else lib.XB_TARGET_NUMBER
    return session.make(lib.xb_frame_create, table, len(parts), rows, options)


def image_shape(x: npt.NDArray[Any]) -> tuple[int, int, int]:
    """Height, width and channels of [n][h][w] or [n][h][w][c]."""
    h, w = x.shape[1:3]
    return int(h), int(w), int(x.shape[3]) if x.ndim == 4 else 1


def input_rows(x: Any, features: int, names: list[str], keep: list[Any], scaled: bool) -> Any:
    """xb_rows of inputs to predict from: float32 (scaled) and bytes without a copy."""
    rows = ffi.new("xb_rows *")
    if is_frame(x) and set(names) <= {str(column) for column in x.columns}:
        x = x.set_axis([str(column) for column in x.columns], axis=1)[names]
    array = np.asarray(x)
    if array.dtype == np.uint8 and array.ndim in (3, 4):
        array = np.ascontiguousarray(array).reshape(len(array), -1)
        rows.bytes = pointer(array, "uint8_t")
    elif scaled:
        array = np.ascontiguousarray(matrix(array), np.float32)
        if not np.isfinite(array).all():
            raise ValueError("X has values that are not finite")
        rows.scaled = pointer(array, "float")
    else:
        array = doubles(array, "X", 2)
        rows.x = pointer(array)
    if array.shape[1] != features:
        raise ValueError(f"X has {array.shape[1]} columns, the model has {features} inputs")
    keep.append(array)
    rows.n, rows.features = array.shape
    return rows


def class_numbers(y: Any, names: list[str], rows: int) -> Doubles:
    """Targets as numbers: class k of the model is k."""
    target, _ = target_of(y, rows)
    if not names:
        return doubles(target, "y", 1)
    place = {name: k for k, name in enumerate(names)}
    out = np.empty(rows)
    for i, value in enumerate(target.tolist()):
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
