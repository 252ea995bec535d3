"""Counts the operations of a function by calling it with arrays that record what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median
from typing import Any, Final

import numpy as np

from roofwidget.measure.counts import Counts, OpCount, Request
from roofwidget.measure.numpy.arrays import Recorder, plain
from roofwidget.measure.numpy.captured import captured_values
from roofwidget.measure.numpy.creation import creations_counted, recorded_creation
from roofwidget.measure.passes import Passes
from roofwidget.units import format_percent, format_quantity

_MIN_SHARE_OF_CALL: Final = 0.5
"""If the operations take less than this share of a call, they do not explain the call."""
_MIN_UNEXPLAINED_SECONDS: Final = 100e-6
"""A shorter time is Python's own, not that of uncounted operations."""


def count(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], request: Request) -> Counts:
    """Count and time what a function of numpy arrays runs.

    The arrays among the arguments, in the closure of the function, among the globals that it uses and in the object of
    a method are replaced by views that record operations; so are arrays that the function makes by functions of the
    module `numpy`, such as ``np.zeros``. Operations on other arrays are counted where they meet a recorded array.

    If it is timed, the function is called ``warmup`` times before it is counted. Then come one call to count,
    ``repeat`` calls with the plain arrays to time the call, and for the timing ``"op"`` as many to time each operation.

    Errors that the function raises pass through.

    Raises
    ------
    ValueError
        For ``by="fusion"``: numpy runs each operation by itself.

    Examples
    --------
    >>> import numpy as np
    >>> def softmax(x):
    ...     e = np.exp(x - x.max())
    ...     return e / e.sum()
    >>> counts = count(softmax, (np.ones(1000),), {}, Request(timing=None))
    >>> [op.name for op in counts.ops], counts.compulsory_bytes
    (['max', 'subtract', 'exp', 'sum', 'divide'], 16000)
    """
    if request.by == "fusion":
        raise ValueError("by: numpy runs each operation by itself and fuses none; use by='op'")
    passes = Passes(request)
    if request.timing is not None:
        passes.warm_up(lambda: function(*args, **kwargs))
    recorder, result = recorded(function, args, kwargs, request)
    ops, warnings = recorder.ops, recorder.warnings
    compulsory = recorder.compulsory_bytes(result)
    del result
    if request.timing is None:
        return Counts(tuple(ops), compulsory, warnings=tuple(warnings))
    times = tuple(passes.timed(lambda: _seconds(function, args, kwargs, request)))
    if request.timing == "op" and ops:
        ops, more = _with_times(ops, passes.timed(lambda: recorded(function, args, kwargs, request)[0]))
        warnings = [*warnings, *more]
    counts = Counts(tuple(ops), compulsory, call_times=times, warnings=tuple(warnings), load=passes.load)
    if request.timing == "op" and ops and not counts.disturbance:
        counts = replace(counts, warnings=(*counts.warnings, *_unexplained(ops, times)))
    return counts


def count_without_running(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], request: Request
) -> Counts:
    """Count what a function of numpy arrays runs by calling it once: numpy cannot follow shapes alone.

    A warning of the result says so.

    Raises
    ------
    ValueError
        As `count`.
    """
    counts = count(function, args, kwargs, replace(request, timing=None))
    return replace(counts, warnings=("the function ran once: numpy cannot count without running", *counts.warnings))


def recorded(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], request: Request
) -> tuple[Recorder, Any]:
    """Call a function with counted arrays, and return the recorder and the result with plain arrays."""
    recorder = Recorder(request.clock)

    def replaced(value: Any) -> Any:
        return recorder.wrap(value) if isinstance(value, np.ndarray) else recorded_creation(value)

    given, named = recorder.wrap_input(args), recorder.wrap_input(dict(kwargs))
    with (
        captured_values(function, replaced, plain),
        creations_counted(),
        recorder.recording(),
    ):
        result = recorded_creation(function)(*given, **named)
    return recorder, plain(result)


def _seconds(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], request: Request) -> float:
    start = request.clock()
    function(*args, **kwargs)
    return request.clock() - start


def _with_times(ops: list[OpCount], passes: list[Recorder]) -> tuple[list[OpCount], list[str]]:
    """Return the operations with median times. Passes that ran other operations do not count."""
    names = [op.name for op in ops]
    alike = [one.seconds for one in passes if [op.name for op in one.ops] == names]
    if not alike:
        return ops, ["the operations differ from call to call: they have no times"]
    warnings = [] if len(alike) == len(passes) else ["the operations differ from call to call: some calls do not count"]
    return [replace(op, time=median(times)) for op, times in zip(ops, zip(*alike, strict=True), strict=True)], warnings


def _unexplained(ops: list[OpCount], calls: tuple[float, ...]) -> list[str]:
    """Return a warning if the operations take much less time than a call."""
    call, together = median(calls), sum(op.time or 0 for op in ops)
    if not call or together >= _MIN_SHARE_OF_CALL * call or call - together < _MIN_UNEXPLAINED_SECONDS:
        return []
    share, took = format_percent(together / call), format_quantity(call, "s")
    rest = "Python code, or operations that are not seen, such as those of compiled code or of other libraries"
    hint = "state such work with rw.measured(flops=…, bytes=…)"
    return [f"the counted operations take {share} of a call ({took}); the rest is {rest}; {hint}"]
