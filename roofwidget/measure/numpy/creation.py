"""Counts arrays that a function makes itself, such as by `numpy.zeros`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Lock
from types import FrameType
from typing import Any, Final

import numpy as np

from roofwidget.measure.numpy.arrays import Recorder, active
from roofwidget.measure.numpy.functions import NO_OPERATION, Call, Work, allocates, computed

_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    name: getattr(np, name)
    for name in (
        *("arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty", "eye", "full"),
        *("identity", "ones", "zeros"),
    )
}
"""numpy's functions that make arrays and that it does not let a subclass of arrays intercept."""

_FRAMEWORKS: Final = frozenset({"jax", "jaxlib", "torch"})
"""Packages that make numpy arrays for their own bookkeeping."""


class _Replacement:
    """Replaces `_FUNCTIONS` in the module numpy while any thread counts. Other threads see no difference."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._users += 1
            if self._users == 1:
                for name, function in _FUNCTIONS.items():
                    setattr(np, name, _recorded(name, function))
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    for name, function in _FUNCTIONS.items():
                        setattr(np, name, function)


creations_counted: Final = _Replacement()
"""A context in which the recorder of a thread counts the arrays that `numpy.zeros` and its kin make."""


def recorded_creation(function: Any) -> Any:
    """Return the recorded form of a function that makes arrays, such as `numpy.zeros`. Return other values as they are.

    Code that imports such a function from numpy by name does not see its replacement in the module.
    """
    name = next((name for name, known in _FUNCTIONS.items() if known is function), None)
    return function if name is None else _recorded(name, function)


def _recorded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        recorder: Recorder | None = active.get()
        if recorder is None or _is_framework(sys._getframe(1)):  # noqa: SLF001 - the cheap way to ask who calls
            return function(*args, **kwargs)
        return recorder.run(name, function, args, kwargs, allocates if name == "empty" else _made)

    return recorded


def _is_framework(caller: FrameType | None) -> bool:
    """Return whether a framework calls, itself or through functions of numpy."""
    while caller is not None:
        package = str(caller.f_globals.get("__name__")).partition(".")[0]
        if package != "numpy":
            return package in _FRAMEWORKS
        caller = caller.f_back
    return False


def _made(call: Call) -> Work:
    """Return the work of making an array: it reads the arrays that it copies, and writes its result."""
    if any(array.base is not None for array in call.results) or not call.new:
        return NO_OPERATION
    return computed({}, call)
