"""Modules that are loaded when something of them is first used.

The `__init__.py` of a package lists such modules. There, ``from package import module`` loads the package alone, and
``from package.module import name`` loads the module at once. Linters and type checkers see a plain import in both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any


@cache
def _loaded(name: str) -> ModuleType:
    return import_module(name)


class _Late(ModuleType):
    """Stands for a module, and has its names."""

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return _loaded(self.__name__).__doc__

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return vars(_loaded(self.__name__))

    def __getattr__(self, name: str) -> Any:
        return getattr(_loaded(self.__name__), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_loaded(self.__name__), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_loaded(self.__name__), name)

    def __dir__(self) -> list[str]:
        return dir(_loaded(self.__name__))


def late(package: str, *modules: str) -> Callable[[str], ModuleType]:
    """Return a `__getattr__` for a package, which stands in for its named modules until they are loaded.

    Examples
    --------
    >>> found = late("email", "charset")
    >>> found("charset").QP
    1
    >>> found("nothing")
    Traceback (most recent call last):
    AttributeError: module 'email' has no attribute 'nothing'
    """

    @cache
    def stand_in(name: str) -> ModuleType:
        if name not in modules:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return _Late(f"{package}.{name}")

    return stand_in
