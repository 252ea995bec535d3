"""Finds the arrays that a function uses without taking them as arguments: in its closure, its globals, its object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

import numpy as np

_Place: TypeAlias = tuple[Callable[[], Any], Callable[[Any], None]]
"""How to read and how to write the variable that holds an array."""


@contextmanager
def captured_arrays(function: Any, wrap: Callable[[Any], Any], plain: Callable[[Any], Any]) -> Iterator[None]:
    """Replace the arrays that a function captures by `wrap` until the block ends.

    A variable that the function sets keeps its new value, changed by `plain`.

    Examples
    --------
    >>> weights = np.ones(2)
    >>> def double():
    ...     return weights * 2
    >>> with captured_arrays(double, lambda array: array + 1, lambda array: array):
    ...     double()
    array([4., 4.])
    >>> double()
    array([2., 2.])
    """
    replaced = []
    for read, write in _places(function, set()):
        before = read()
        during = wrap(before)
        if during is not before:
            write(during)
            replaced.append((read, write, before, during))
    try:
        yield
    finally:
        for read, write, before, during in replaced:
            after = read()
            write(before if after is during else plain(after))


def _places(function: Any, seen: set[int]) -> Iterator[_Place]:
    """Yield the variables with arrays of a function, of its object, and of functions of its module that it uses."""
    while isinstance(function, partial):
        function = function.func
    if id(function) in seen:
        return
    seen.add(id(function))
    if not isinstance(function, FunctionType):
        # A method has an object; any other object that can be called is one itself.
        owner = getattr(function, "__self__", function)
        if not isinstance(owner, (ModuleType, type)) and isinstance(getattr(owner, "__dict__", None), dict):
            yield from (_entry(vars(owner), name) for name, value in vars(owner).items() if _is_array(value))
        function = getattr(function, "__func__", vars(type(function)).get("__call__"))
    if isinstance(function, FunctionType):
        yield from _used(function, seen)


def _used(function: FunctionType, seen: set[int]) -> Iterator[_Place]:
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        if _is_array(value):
            yield _entry(function.__globals__, name)
        elif isinstance(value, FunctionType) and value.__globals__ is function.__globals__:
            yield from _places(value, seen)
    for cell in function.__closure__ or ():
        yield from _cell(cell, seen)


def _names(code: CodeType) -> list[str]:
    """Return the names of globals that code and the code within it use."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part)]
    return [*dict.fromkeys([*code.co_names, *inner])]


def _entry(variables: dict[str, Any], name: str) -> _Place:
    return partial(variables.get, name), partial(variables.__setitem__, name)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _cell(cell: CellType, seen: set[int]) -> Iterator[_Place]:
    try:
        value = cell.cell_contents
    except ValueError:  # the variable has no value yet
        return
    if _is_array(value):
        yield partial(getattr, cell, "cell_contents"), partial(setattr, cell, "cell_contents")
    elif isinstance(value, FunctionType):
        yield from _places(value, seen)
