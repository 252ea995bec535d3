"""`profile` and `count_flops`: FLOPs, bytes and times of every operation that a function runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from statistics import median
from typing import Any, Final

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.result import Bound
from roofwidget.chips import Chip
from roofwidget.chips import chip as look_up
from roofwidget.kernels import columns
from roofwidget.kernels.table import Kernels
from roofwidget.measure.counts import Counts, Grouping, OpCount, Request, Timing
from roofwidget.measure.frameworks import counter, framework_of
from roofwidget.support.did_you_mean import choose_from
from roofwidget.widget import RooflineWidget

_GROUPINGS: Final = ("op", "module", "fusion")
_TIMINGS: Final = ("op", "call", None)


class Profile:
    """FLOPs, bytes and times of one call of a function; `profile` and `count_flops` return it.

    Parameters
    ----------
    name
        The name of the function or model.
    counts
        What the counter found.
    by
        What a row is: ``op``, ``module`` or ``fusion``.

    Attributes
    ----------
    kernels : Kernels
        One row per operation, module or fused group, in the order in which they ran. Operations that neither compute
        nor move bytes, such as views, have no row.
    warnings : tuple of str
        What a reader must know about the counts.
    """

    __module__ = "roofwidget"

    def __init__(self, name: str, counts: Counts, by: Grouping = "op") -> None:
        self.name = name
        self.by = by
        self.warnings = counts.warnings
        self._counts = counts

    @cached_property
    def kernels(self) -> Kernels:
        rows = [op for op in self._counts.ops if op.flops is None or op.bytes != 0 or any(op.flops.values())]
        table = _table(rows, self.name, self.warnings)
        return _by_module(table) if self.by == "module" else table

    @property
    def calls(self) -> int:
        """The number of operations that ran, also those that neither compute nor move bytes."""
        return len(self._counts.ops)

    @property
    def flops(self) -> int:
        """FLOPs of matrix products, convolutions and attention: what is usually meant by the FLOPs of a model."""
        return self._flops_of("tensor")

    @property
    def other_flops(self) -> int:
        """FLOPs of all other operations: element-wise ones, reductions, transcendental functions."""
        return self._flops_of("vector", "transcendental")

    @property
    def bytes(self) -> int:
        """Bytes of main memory if each operation reads its inputs from it and writes its outputs to it."""
        return sum(op.bytes or 0 for op in self._counts.ops)

    @property
    def compulsory_bytes(self) -> int | None:
        """Bytes of inputs, parameters and outputs, each once: no fusion can move fewer. None if unknown."""
        return self._counts.compulsory_bytes

    @property
    def time(self) -> float | None:
        """Median seconds of a call without counters; None if calls were not timed."""
        times = self._counts.call_times
        return median(times) if times else None

    @property
    def call_times(self) -> tuple[float, ...]:
        """Seconds of each timed call."""
        return self._counts.call_times

    @property
    def device(self) -> str:
        """Where the function ran, as its framework writes it."""
        return self._counts.device

    def _flops_of(self, *classes: str) -> int:
        return sum((op.flops or {}).get(name, 0) for op in self._counts.ops for name in classes)

    def bound(self, chip: Any) -> Bound:
        """Return the bounds of the rows on a chip: a `Chip`, the name of a chip, or `HardwarePeaks`."""
        return bound_lenient(self.kernels, as_chip(chip))

    def roofline(self, chip: Any, **traits: Any) -> RooflineWidget:
        """Return a `RooflineWidget` with the rows on a chip: a `Chip`, the name of a chip, or `HardwarePeaks`."""
        return RooflineWidget([as_chip(chip)], self.kernels, **traits)


def as_chip(given: Any) -> Chip:
    """Return a chip for a `Chip`, the name of a chip, or `HardwarePeaks`."""
    measured = getattr(given, "chip", None)
    return measured if isinstance(measured, Chip) else look_up(given)


def profile(
    function: Callable[..., Any],
    *args: Any,
    by: Grouping = "op",
    timing: Timing = "op",
    warmup: int = 2,
    repeat: int = 5,
    framework: str = "auto",
    **kwargs: Any,
) -> Profile:
    """Count and time what a function or a model runs."""
    request = _request(by, timing, warmup, repeat)
    found = framework_of(function, [args, kwargs]) if framework == "auto" else framework
    return Profile(_name_of(function), counter(found).count(function, args, kwargs, request), by)


def count_flops(
    function: Callable[..., Any], *args: Any, by: Grouping = "op", framework: str = "auto", **kwargs: Any
) -> Profile:
    """Count what a function or a model would run, without running it."""
    request = _request(by, None, 0, 1)
    found = framework_of(function, [args, kwargs]) if framework == "auto" else framework
    return Profile(_name_of(function), counter(found).count_without_running(function, args, kwargs, request), by)


def _request(by: Grouping, timing: Timing, warmup: int, repeat: int) -> Request:
    if by not in _GROUPINGS:
        raise ValueError(f"by: unknown {by!r:.40}{choose_from(by, _GROUPINGS)}")
    if timing not in _TIMINGS:
        raise ValueError(f"timing must be 'op', 'call' or None, got {timing!r:.40}")
    if warmup < 0 or repeat < 1:
        raise ValueError(f"warmup must be at least 0 and repeat at least 1, got {warmup} and {repeat}")
    return Request(by, timing, warmup, repeat)


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _table(rows: list[OpCount], source: str, warnings: tuple[str, ...]) -> Kernels:
    return Kernels(
        [" ".join(part for part in (op.module, op.name) if part) for op in rows],
        # Without FLOPs an operation has zero, not an unknown number.
        columns.by_key_of_rows([op.flops if op.flops is None else op.flops or {"vector": 0} for op in rows], "tensor"),
        [np.nan if op.bytes is None else op.bytes for op in rows],
        time=[np.nan if op.time is None else op.time for op in rows],
        precision=[op.precision for op in rows],
        category=[op.name for op in rows],
        extra={"module": [op.module for op in rows], "shapes": [op.shapes for op in rows]},
        warnings=warnings,
        source=source,
    )


def _by_module(table: Kernels) -> Kernels:
    return table.groupby("module")
