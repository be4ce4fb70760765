"""How Python calls the C library: contexts, errors, progress, arrays without copies.

Every call has a context of its own, so that threads and forked processes need not know of
each other. cffi releases the GIL in each call; long calls ask Python about twenty times a
second whether to go on, which is when Ctrl-C is noticed.
"""

from __future__ import annotations

import functools
import math
import os
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Callable, Union

import numpy as np
import numpy.typing as npt

from crossbayes._native import ffi, lib

Progress = Union[None, bool, Callable[[str, int, int], Any]]
Path = Union[str, "os.PathLike[str]"]
Doubles = npt.NDArray[np.float64]


class Error(Exception):
    """The library refused something or failed; the text is the library's sentence."""


class ArgumentError(Error, ValueError):
    """An argument is outside its range."""


class InputError(Error, ValueError):
    """A file, a text or data are not what was expected."""


class FileError(Error, OSError):
    """A file could not be written."""


class NumericError(Error, ArithmeticError):
    """A computation did not reach a usable result."""


class Cancelled(Error):
    """A callback asked to stop."""


_errors: dict[int, type[Exception]] = {
    lib.XB_E_ARGUMENT: ArgumentError,
    lib.XB_E_INPUT: InputError,
    lib.XB_E_IO: FileError,
    lib.XB_E_MEMORY: MemoryError,
    lib.XB_E_NUMERIC: NumericError,
    lib.XB_E_CANCELLED: Cancelled,
}

# The exception of a callback, kept while the library unwinds. Callbacks come on the thread
# of the call.
_raised = threading.local()


def raise_kept() -> None:
    """Raises what a callback raised where the library took it for a wish to stop."""
    error = getattr(_raised, "error", None)
    _raised.error = None
    if error is not None:
        raise error


def keep_error(kind: type, error: BaseException, trace: TracebackType | None) -> None:
    _raised.error = error


@ffi.def_extern(error=False, onerror=keep_error)
def xb_py_heard(handle: Any, task: Any, done: int, total: int) -> bool:
    listener = ffi.from_handle(handle)
    return listener is None or listener(text(task), done, total) is not False


class _Bar:
    """A tqdm bar, or nothing where tqdm is not installed."""

    def __init__(self) -> None:
        self.bar: Any = None
        self.shown: tuple[str, int] | None = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self.make: Any = None
        else:
            self.make = tqdm

    def __call__(self, task: str, done: int, total: int) -> bool:
        if self.make is None:
            return True
        if self.shown != (task, total):
            self.close()
            self.bar, self.shown = self.make(total=total, desc=task, leave=False), (task, total)
        self.bar.n = done
        self.bar.refresh()
        return True

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


_SILENT = ffi.new_handle(None)
_LISTENER, _CTX = ffi.typeof("xb_py_listener *"), ffi.typeof("xb_ctx **")


class Session:
    """A context of the library, for one call or several that belong together."""

    __slots__ = ("_bar", "_handle", "_listener", "ctx")

    def __init__(self, progress: Progress = None, threads: int | None = None) -> None:
        _raised.error = None
        self._bar = _Bar() if progress is True else None
        listener = self._bar or progress or None
        if listener is not None and not callable(listener):
            raise TypeError("progress: expected True, None or a function (task, done, total)")
        self._handle = _SILENT if listener is None else ffi.new_handle(listener)
        self._listener = ffi.new(_LISTENER)
        out = ffi.new(_CTX)
        many = default_threads if threads is None else threads
        silent = listener is None
        if lib.xb_py_ctx(out, self._listener, self._handle, silent, many) != lib.XB_OK:
            raise MemoryError("not enough memory for a context")
        self.ctx = ffi.gc(out[0], lib.xb_ctx_destroy)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def check(self, status: int) -> None:
        """Raises what the status stands for, with the library's sentence."""
        if status == lib.XB_OK:
            return
        error = getattr(_raised, "error", None)
        _raised.error = None
        if status == lib.XB_E_CANCELLED and error is not None:
            raise error
        message = text(lib.xb_ctx_message(self.ctx)) or text(lib.xb_status_text(status))
        raise _errors[status](message) from error

    def make(self, function: Any, *args: Any) -> Any:
        """The object that function(ctx, &object, *args) makes, destroyed by its last user."""
        kind, destroy = _made_by(function)
        out = ffi.new(kind)
        self.check(function(self.ctx, out, *args))
        return ffi.gc(out[0], destroy)

    def text(self, function: Any, *args: Any) -> str:
        """The text that function(ctx, &text, *args) hands out."""
        out = ffi.new("char **")
        self.check(function(self.ctx, out, *args))
        try:
            return text(out[0])
        finally:
            lib.xb_free(out[0])


_quiet = threading.local()


class _QuietSession(Session):
    """A session that a thread keeps for its next call."""

    __slots__ = ("process", "threads")

    def __init__(self) -> None:
        super().__init__()
        self.threads, self.process = default_threads, os.getpid()

    def __exit__(self, *_: object) -> None:
        _quiet.session = self


def quiet_session() -> Session:
    """A session without progress that a thread uses again, for short calls without files.

    A context remembers the files that it read and wrote, so calls with files have their own.
    A session that is in use (a call within a callback of another) is not handed out twice.
    """
    kept: _QuietSession | None = getattr(_quiet, "session", None)
    _quiet.session = None
    if kept is None or kept.threads != default_threads or kept.process != os.getpid():
        return _QuietSession()
    _raised.error = None
    return kept


@functools.cache
def _made_by(function: Any) -> tuple[Any, Any]:
    """The type of what a function makes, and what destroys it."""
    kind = ffi.typeof(function).args[1]
    name = kind.item.item.cname.replace("struct ", "")
    return kind, getattr(lib, f"{name}_destroy")


default_threads = 0


def set_threads(threads: int) -> None:
    """Sets the number of threads; 0: one per core. Results do not depend on it."""
    global default_threads
    if threads < 0:
        raise ValueError(f"threads is {threads}, expected 0 or more")
    default_threads = int(threads)


def text(pointer: Any) -> str:
    """A C text, "" for NULL."""
    if not pointer:
        return ""
    return bytes(ffi.string(pointer)).decode("utf-8", "replace")


def encoded(value: str, name: str) -> bytes:
    """A Python text as C takes it."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a text, not {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{name}: has a zero character")
    return value.encode("utf-8", "surrogateescape")


def path_bytes(path: Path, read: bool = False) -> bytes:
    """A file name; one to be read must be there."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("a file name has a zero character")
    if read and not os.path.exists(name):
        raise FileNotFoundError(2, "no such file", os.fsdecode(name))
    return name


def count(value: Any, name: str, least: int = 0, most: int = 2**62) -> int:
    """A whole number in a range."""
    try:
        number = value.__index__()
    except AttributeError:
        number = None
    if number is None and isinstance(value, float) and value.is_integer():
        number = int(value)  # 1e6 is how people write a million
    if number is None:
        raise TypeError(f"{name}: expected a whole number, not {value!r}")
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}, expected {least} to {most}")
    return int(number)


def seed_of(seed: Any) -> int:
    """A seed as the library takes it; None draws one from the operating system."""
    if seed is None:
        return int.from_bytes(os.urandom(7), "little")
    return count(seed, "seed", 0, 2**63 - 1)


def doubles(values: Any, name: str, ndim: int | None = None) -> Doubles:
    """float64 in C order; the same memory where it already is that. Masked values are NaN."""
    array = unmasked(values)
    if array.dtype == np.float64 and (ndim is None or array.ndim == ndim):
        return np.asarray(array, dtype=np.float64, order="C")
    if array.dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, not complex ones")
    if array.dtype.kind not in "fiub":
        if array.dtype == object and any(value is None for value in array.flat):
            raise TypeError(f"{name}: expected numbers, not None")
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}: expected numbers: {error}") from None
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} has {array.ndim} dimensions, expected {ndim}")
    return np.asarray(array, dtype=np.float64, order="C")


def unmasked(values: Any) -> npt.NDArray[Any]:
    """An array; one with masked values has NaN in their places."""
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.is_masked(values):
        return np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"a masked array of {values.dtype}: expected numbers")
    return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))


_ARRAYS = {kind: ffi.typeof(f"{kind}[]") for kind in ("double", "float", "uint8_t", "uint32_t")}


def pointer(array: npt.NDArray[Any], kind: str = "double") -> Any:
    """Where an array in C order lies; the result keeps it alive."""
    return ffi.from_buffer(_ARRAYS[kind], array)


def borrowed(address: Any, owner: Any) -> Any:
    """What belongs to `owner`, which it keeps alive."""

    def release(_: Any, kept: Any = owner) -> None:
        del kept

    return ffi.gc(address, release)


def view(address: Any, shape: Sequence[int], dtype: npt.DTypeLike, owner: Any) -> Any:
    """The library's memory as an array that cannot be written and keeps `owner` alive."""
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    if size == 0 or not address:
        return np.empty(shape, kind)
    array = np.frombuffer(ffi.buffer(borrowed(address, owner), size), kind).reshape(shape)
    array.flags.writeable = False
    return array


class Handle:
    """An object of the library. It never changes, so threads may share it."""

    _pointer: Any = None
    _what = "object"

    def close(self) -> None:
        """Lets go of the object; its memory goes with its last user."""
        self._pointer = None

    @property
    def _c(self) -> Any:
        pointer = self._pointer
        if pointer is None:
            raise ValueError(f"this {self._what} is closed")
        return pointer

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        how = ": save it to a file" if hasattr(self, "save") else ""
        raise TypeError(f"this {self._what} cannot be pickled{how}")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def named_enum(enum: str, value: Any) -> int:
    """An enum's value from its name, by the library's own parser."""
    if not isinstance(value, str):
        raise TypeError(f"{enum}: expected a text, not {value!r}")
    session = Session()
    out = ffi.new(f"xb_{enum} *")
    session.check(getattr(lib, f"xb_{enum}_parse")(session.ctx, out, encoded(value, enum)))
    return int(out[0])
