"""The library's option structs from keyword arguments.

What there is to set is read from the struct itself, so an option that the library gains is
there in Python without a line of code.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from crossbayes._library import Session, count, encoded, named_enum
from crossbayes._native import ffi, lib
from crossbayes.laws import law

_DOUBLE = ffi.typeof("double")


def _struct_name(ctype: Any) -> str:
    return str(ctype.cname).replace("struct ", "").replace("const ", "").strip(" *")


def parsed(kind: str, value: Any, name: str) -> Any:
    """A frozen value by its text: xb_prior, xb_schedule."""
    session = Session()
    out = ffi.new(f"{kind} *")
    parse = getattr(lib, f"{kind}_parse")
    session.check(parse(session.ctx, out, encoded(value, name)))
    return out[0]


def _pointed(ctype: Any, value: Any, name: str, keep: list[Any]) -> Any:
    """What a pointer in options points to; the caller keeps it."""
    if ctype.item.cname == "char":
        kept = ffi.new("char[]", encoded(value, name))
    elif _struct_name(ctype) == "xb_law":
        kept = law(value)._c
    elif hasattr(value, "_c"):
        kept = value._c
    else:
        raise TypeError(f"{name}: cannot be set from {type(value).__name__}")
    keep.append(kept)
    return kept


def _set(options: Any, name: str, ctype: Any, value: Any, keep: list[Any]) -> None:
    if ctype is _DOUBLE and type(value) is float:
        pass
    elif ctype.kind == "enum":
        value = named_enum(
            _struct_name(ctype).replace("enum ", "").replace("xb_", "", 1), value
        )
    elif ctype.kind == "struct":
        value = parsed(_struct_name(ctype), value, name)
    elif ctype.kind == "pointer":
        value = _pointed(ctype, value, name, keep)
    elif ctype.cname in ("_Bool", "bool"):
        if not isinstance(value, (bool, int)) or value not in (0, 1):
            raise TypeError(f"{name}: expected True or False, not {value!r}")
        value = bool(value)
    elif ctype.cname in ("double", "float"):
        try:
            value = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"{name}: expected a number, not {value!r}") from None
    else:
        value = count(value, name, -(2**62) if name != "seed" else 0, 2**63 - 1)
    setattr(options, name, value)


@functools.cache
def settings(kind: str) -> dict[str, Any]:
    """The fields of xb_KIND_options and their types."""
    fields = dict(ffi.typeof(f"xb_{kind}_options").fields)
    fields.pop("struct_size")
    kinds = {name: field.type for name, field in fields.items()}
    return {name: ctype for name, ctype in kinds.items() if not _is_plain(ctype)}


def _is_plain(ctype: Any) -> bool:
    """Numbers and functions behind a pointer, which only the package itself sets."""
    if ctype.kind != "pointer":
        return False
    kind, name = ctype.item.kind, ctype.item.cname
    return kind in ("function", "void", "pointer") or (kind == "primitive" and name != "char")


@functools.cache
def _empty(kind: str) -> tuple[Any, Any, int]:
    """The struct's type, what fills it with defaults, and its size."""
    ctype = ffi.typeof(f"xb_{kind}_options *")
    return ctype, getattr(lib, f"xb_{kind}_options_init"), ffi.sizeof(ctype.item)


def make(
    kind: str, values: Mapping[str, Any], keep: list[Any], known: Sequence[str] = ()
) -> Any:
    """xb_KIND_options with these values; None leaves a default.

    `keep` gets what the options point to; `known` as for :func:`fill`.
    """
    options = defaults(kind)
    fill(kind, options, values, keep, known)
    return options


def defaults(kind: str) -> Any:
    """xb_KIND_options as the library fills it."""
    ctype, init, size = _empty(kind)
    options = ffi.new(ctype)
    init(options, size)
    return options


def fill(
    kind: str,
    options: Any,
    values: Mapping[str, Any],
    keep: list[Any],
    known: Sequence[str] = (),
) -> None:
    """Sets fields by name; `known` are names that the caller takes besides, for messages."""
    fields = settings(kind)
    for name, value in values.items():
        if name not in fields:
            raise unknown(name, [*fields, *known])
        if value is not None:
            _set(options, name, fields[name], value, keep)


def unknown(name: str, names: list[str]) -> TypeError:
    """The error for a keyword that does not exist."""
    words = name.split("_")  # learning_rate: rate; n_epochs: epochs
    near = [n for n in names if n in words] or difflib.get_close_matches(name, names)
    if near:
        return TypeError(f"no setting {name!r}, did you mean {near[0]!r}?")
    return TypeError(f"no setting {name!r}; there are {', '.join(sorted(set(names)))}")
