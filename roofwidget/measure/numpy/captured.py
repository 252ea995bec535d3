"""Finds what a function uses without taking it as an argument: in its closure, its globals and its object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

_Place: TypeAlias = tuple[Callable[[], Any], Callable[[Any], None]]
"""How to read and how to write a variable."""


@contextmanager
def captured_values(function: Any, changed: Callable[[Any], Any], restored: Callable[[Any], Any]) -> Iterator[None]:
    """Replace the values that a function captures by `changed` of them until the block ends.

    A variable that the function sets keeps its new value, as `restored` returns it.

    Examples
    --------
    >>> weight = 3
    >>> def double():
    ...     return weight * 2
    >>> with captured_values(double, lambda value: 5 if value == 3 else value, lambda value: value):
    ...     double()
    10
    >>> double()
    6
    """
    replaced = []
    try:
        for read, write in list(_places(function, set())):
            before = read()
            during = changed(before)
            if during is not before:
                write(during)
                replaced.append((read, write, before, during))
        yield
    finally:
        for read, write, before, during in replaced:
            after = read()
            value = before if after is during else restored(after)
            if value is not after:
                write(value)


def _places(function: Any, seen: set[int]) -> Iterator[_Place]:
    """Yield the variables of a function, of its object, and of functions of its module that it uses."""
    while isinstance(function, partial):
        function = function.func
    if id(function) in seen or str(getattr(function, "__module__", "")).partition(".")[0] == "numpy":
        return
    seen.add(id(function))
    if not isinstance(function, FunctionType):
        # A method has an object; any other object that can be called is one itself.
        owner = getattr(function, "__self__", function)
        if not isinstance(owner, (ModuleType, type)) and isinstance(getattr(owner, "__dict__", None), dict):
            yield from (_entry(vars(owner), name) for name in list(vars(owner)))
        function = getattr(function, "__func__", vars(type(function)).get("__call__"))
    if isinstance(function, FunctionType):
        yield from _used(function, seen)


def _used(function: FunctionType, seen: set[int]) -> Iterator[_Place]:
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and value.__globals__ is function.__globals__:
            yield from _places(value, seen)
        elif name in function.__globals__:
            yield _entry(function.__globals__, name)
    for cell in function.__closure__ or ():
        yield from _cell(cell, seen)


def _names(code: CodeType) -> list[str]:
    """Return the names of globals that code and the code within it use."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part)]
    return [*dict.fromkeys([*code.co_names, *inner])]


def _entry(variables: dict[str, Any], name: str) -> _Place:
    return partial(variables.get, name), partial(variables.__setitem__, name)


def _cell(cell: CellType, seen: set[int]) -> Iterator[_Place]:
    try:
        value = cell.cell_contents
    except ValueError:  # the variable has no value yet
        return
    if isinstance(value, FunctionType):
        yield from _places(value, seen)
    else:
        yield partial(getattr, cell, "cell_contents"), partial(setattr, cell, "cell_contents")
