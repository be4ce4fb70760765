"""What torch.compile leaves as it is: functions that call the library in C."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar

import torch

F = TypeVar("F", bound=Callable[..., Any])


def apart(function: F) -> F:
    """The function, which torch.compile calls instead of reading it.

    Its wrapper is made when a compiler asks for it, because the import that it needs takes a
    second.
    """

    @functools.wraps(function)
    def run(*args: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling():
            return _wrapped(function)(*args, **named)
        return function(*args, **named)

    return run  # type: ignore[return-value]


_made: dict[Any, Any] = {}  # functools.cache makes the compiler warn


def _wrapped(function: Any) -> Any:
    made = _made.get(function)
    if made is None:
        made = _made[function] = torch.compiler.disable(function)
    return made
