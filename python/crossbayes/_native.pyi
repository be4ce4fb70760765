from typing import Any, Callable, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

class _FFI:
    NULL: Any
    def def_extern(self, **settings: Any) -> Callable[[_F], _F]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _FFI
lib: Any
