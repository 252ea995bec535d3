"""`profile` and `count_flops`: FLOPs, bytes and times of every operation that a function runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from statistics import median
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.result import Bound
from roofwidget.chips import NETWORK, Chip
from roofwidget.chips import chip as look_up
from roofwidget.kernels import columns
from roofwidget.kernels.columns import MAIN_LEVEL
from roofwidget.kernels.filters import whole_from_one
from roofwidget.kernels.table import Kernels
from roofwidget.measure import profile_report
from roofwidget.measure.counts import NO_DEVICE, Counts, Grouping, OpCount, Request, Timing, checked_count
from roofwidget.measure.frameworks import COUNTERS, counter, default_grouping, framework_of
from roofwidget.measure.hardware_peaks import HardwarePeaks
from roofwidget.measure.peaks import measure_peaks
from roofwidget.support.arguments import shown_value, text_argument
from roofwidget.support.did_you_mean import choose_from, did_you_mean, keywords
from roofwidget.support.text_tables import counted, first_few

if TYPE_CHECKING:
    from roofwidget.widget import RooflineWidget

_GROUPINGS: Final = ("op", "module", "fusion")
_TIMINGS: Final = ("op", "call")
_MAX_UNKNOWN_NAMED: Final = 5
_WARMUP: Final = 2
_REPEAT: Final = 5
_SLOW_S: Final = 1.0
"""Seconds after which no further call starts, if the number of calls is not given."""
_OWN_KEYWORDS: Final = ("by", "timing", "warmup", "repeat", "framework")
_ROOF_KEYWORDS: Final = frozenset({"peaks", "chip", "chips", "hardware", "roofs"})
_SUMMARY: Final = "give the chip or the peaks first, as in p.summary('h100-sxm')"


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
        nor move bytes, such as views, have no row. `Kernels.program` has one row for the whole call.
    warnings : tuple of str
        What a reader must know about the counts.

    Examples
    --------
    >>> product = OpCount("matmul", {"tensor": 65_536}, 20_480, 8_192, "fp64", time=2e-6)
    >>> p = Profile("forward", Counts((product,), compulsory_bytes=28_672, call_times=(3e-6, 2.5e-6, 9e-6)))
    >>> p
    Profile(forward on cpu: 1 operation, 65.5 kFLOP, 28.7 kB, 3 µs a call)
    >>> p.kernels.names.tolist(), p.time
    (['matmul'], 3e-06)
    """

    __module__ = "roofwidget"

    def __init__(self, name: str, counts: Counts, by: Grouping = "op") -> None:
        self.name = name
        self.by = by
        self.warnings = (*counts.warnings, *_remarks(counts))
        self._counts = counts

    @cached_property
    def kernels(self) -> Kernels:
        rows = self.counted_ops
        table = table_of(rows, self.name, self.warnings)
        program = self._program(table)
        if self.by == "module":
            own = own_operations(self.name) if any(op.module for op in rows) else self.name
            table = table.replace(extra={**table.extra, "module": [op.module or own for op in rows]})
            table = table.groupby("module")
        return table.replace(program=program)

    def _program(self, table: Kernels) -> Kernels | None:
        """Return one row for the whole call: sums over the operations, and the time of a call without counters."""
        if not len(table):
            return None
        whole = table.replace(extra={"call": self.name}).groupby("call")
        compulsory = np.nan if self.compulsory_bytes is None else self.compulsory_bytes
        return whole.replace(
            time=[np.nan if self.time is None else self.time],
            count=[1],
            launches=None,
            launch_rows=None,
            extra={"compulsory bytes": [compulsory]},
            warnings=[],
        )

    @property
    def ops(self) -> tuple[OpCount, ...]:
        """The operations in the order in which they ran, also those that neither compute nor move bytes."""
        return self._counts.ops

    @property
    def counted_ops(self) -> tuple[OpCount, ...]:
        """The operations in the order in which they ran, without those that neither compute nor move bytes."""
        return tuple(op for op in self._counts.ops if op.flops is None or op.bytes != 0 or any(op.flops.values()))

    @property
    def calls(self) -> int:
        """The number of operations that ran, also those that neither compute nor move bytes."""
        return sum(op.count for op in self._counts.ops)

    @property
    def flops(self) -> int:
        """FLOPs of matrix products, convolutions and attention: what is usually meant by the FLOPs of a model.

        Operations with unknown FLOPs do not count; a warning names them.
        """
        return self._flops_of("tensor")

    @property
    def other_flops(self) -> int:
        """FLOPs of all other operations: element-wise ones, reductions, transcendental functions."""
        return self._flops_of("vector", "transcendental")

    @property
    def bytes(self) -> int:
        """Bytes of main memory if each operation reads its inputs from it and writes its outputs to it.

        Operations with unknown bytes do not count; a warning names them.
        """
        return sum(op.bytes or 0 for op in self._counts.ops)

    @property
    def compulsory_bytes(self) -> int | None:
        """Bytes of inputs, parameters and outputs, each once: no fusion can move fewer. None if unknown."""
        return self._counts.compulsory_bytes

    @property
    def unfused_bytes(self) -> int:
        """Bytes if each operation ran on its own, without fusion; equals `bytes` if no operations are fused."""
        unfused = self._counts.unfused_bytes
        return self.bytes if unfused is None else unfused

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
    def is_disturbed(self) -> bool:
        """Whether other programs disturbed the timing, or the times vary; `warnings` says which."""
        return bool(self._counts.disturbance)

    @property
    def ops_time(self) -> float | None:
        """Seconds of all timed operations together; None if operations were not timed.

        The sum can differ from `time`: a call also spends time between operations, and timing each operation takes
        time too.
        """
        times = [op.time for op in self._counts.ops if op.time is not None]
        return sum(times) if times else None

    @property
    def device(self) -> str:
        """Where the function ran, as its framework writes it."""
        return self._counts.device

    @property
    def precision(self) -> str | None:
        """The precision of most FLOPs; without FLOPs, of most bytes. None if no operation has a precision."""
        weights: dict[str, tuple[int, int]] = {}
        for op in self._counts.ops:
            if op.precision is not None:
                flops, moved = weights.get(op.precision, (0, 0))
                weights[op.precision] = flops + sum((op.flops or {}).values()), moved + (op.bytes or 0)
        return max(weights, key=weights.__getitem__, default=None)

    def _flops_of(self, *classes: str) -> int:
        return sum((op.flops or {}).get(name, 0) for op in self._counts.ops for name in classes)

    def bound(self, peaks: Any = None, *, memory: str = "main") -> Bound:
        """Return the bounds of the rows on a chip.

        Parameters
        ----------
        peaks
            A `Chip`, the name of a chip, or `HardwarePeaks`. By default the peaks of the device that the function ran
            on, which `measure_peaks` measures in a few seconds, once per process.
        memory
            The memory level that the counted bytes cross, such as ``"L3"`` for a call whose data fit the L3 cache. The
            default is the main memory.

        Raises
        ------
        LookupError
            If there is no such chip.
        MissingFigureError
            If the chip has no such memory level.
        """
        return _bound(self.kernels, self._chip(peaks), memory)

    def roofline(self, peaks: Any = None, **traits: Any) -> RooflineWidget:
        """Return a `RooflineWidget` with the rows on a chip; `peaks` is as in `bound`."""
        return self.kernels.roofline(chips=[self._chip(peaks)], **traits)

    @keywords("Profile.summary", {"chip": _SUMMARY})
    def summary(self, peaks: Any = None, top: int = 10, *, memory: str = "main") -> None:
        """Print how close the call is to the roof of a chip, and the slowest rows.

        Operations that are equal, with the same shapes, are one row of the printed table.

        It names the roofs, and what they would allow if each array moved once, as with ideal fusion.

        The roofs allow the sum of the rows' bounds: each row takes at least its FLOPs over the peak or its bytes over
        the bandwidth, whichever is longer.

        Parameters
        ----------
        peaks, memory
            As in `bound`.
        top
            How many rows to print.

        Raises
        ------
        TypeError, ValueError
            If `top` is not a positive whole number, or a keyword is unknown.
        LookupError
            If there is no such chip.
        MissingFigureError
            If the chip has no such memory level.

        Examples
        --------
        >>> chip = Chip("My chip", {"fp64": "100 GFLOP/s"}, {"DRAM": "20 GB/s"})
        >>> product = OpCount("matmul", {"tensor": 65_536}, 20_480, 8_192, "fp64", time=2e-6)
        >>> Profile("forward", Counts((product,), call_times=(2.8672e-6,))).summary(chip)
        forward reaches 50 % of the roof of My chip: a call takes 2.87 µs, and the roofs allow 1.43 µs, bound by DRAM.
        Its operations take 2 µs of a call; the other 867 ns (30 %) pass between them.
        Roofs: fp64 100 GFLOP/s, DRAM 20 GB/s.
        operation  time  FLOPs       bytes    AI           achieved      bound by  of roof
        matmul     2 µs  65.5 kFLOP  28.7 kB  2.29 FLOP/B  32.8 GFLOP/s  DRAM      72 %
        """
        rows = whole_from_one(top, "summary: top")
        given = peaks_for([self]) if peaks is None else peaks
        remarks = given.chip.notes if isinstance(given, HardwarePeaks) else ()
        tables = (self.kernels, profile_report.merged(self.kernels))
        bound, of_merged = (_bound(table, as_chip(given), memory) for table in tables)
        print(profile_report.summary(self, bound, of_merged, rows, remarks))  # noqa: T201 - its purpose

    def _chip(self, given: Any) -> Chip:
        return as_chip(peaks_for([self]) if given is None else given)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with the columns of `kernels`."""
        return self.kernels.to_dataframe()

    def __repr__(self) -> str:
        return f"Profile({profile_report.one_line_of(self)})"

    def _repr_html_(self) -> str:
        return profile_report.html(self)


def peaks_for(profiles: Sequence[Profile]) -> HardwarePeaks:
    """Measure the peaks of the device that one or several profiles ran on, in their precisions."""
    device = profiles[0].device
    if device == NO_DEVICE:
        raise ValueError("a program's text is for any device: name the chip to judge it by, as in p.summary('v5p')")
    # `measure_peaks` might not measure bf16 by itself.
    is_rare = device.startswith("cpu") and any(one.precision == "bf16" for one in profiles)
    return measure_peaks(device, dtype=["bf16", "fp32", "fp64"] if is_rare else None)


def own_operations(name: str) -> str:
    """Return the name of the row of what a model runs itself, outside of its modules.

    Examples
    --------
    >>> own_operations("MLP")
    'MLP (own operations)'
    """
    return f"{name} (own operations)"


def as_chip(given: Any) -> Chip:
    """Return a chip for a `Chip`, the name of a chip, or `HardwarePeaks`.

    Examples
    --------
    >>> as_chip("v5p").name
    'TPU v5p'
    """
    measured = getattr(given, "chip", None)
    return measured if isinstance(measured, Chip) else look_up(given)


def profile(
    function: Callable[..., Any],
    *args: Any,
    by: Grouping | None = None,
    timing: Timing = "op",
    warmup: int | None = None,
    repeat: int | None = None,
    framework: str = "auto",
    **kwargs: Any,
) -> Profile:
    """Count and time what a function or a model runs.

    The function is called several times with the same arguments: `warmup` times first, once to count its operations,
    `repeat` times to time a call, and `repeat` times to time each operation. So a function that changes its arguments
    or other state changes them each time. A call that is counted is never the call that is timed.

    numpy's operations are seen on the arrays among the arguments, on arrays that the function captures or makes by
    functions such as ``np.zeros``, and on all results of these. What compiled code of other libraries does is not seen:
    a warning says if it takes most of the time. State such work with ``rw.measured(flops=…, bytes=…)``.

    Errors that the function raises pass through.

    Parameters
    ----------
    function
        A function of numpy arrays, a PyTorch model or function, or a JAX function.
    *args, **kwargs
        Its arguments. A keyword that is also one of the keywords below reaches the function through
        ``functools.partial``.
    by
        What a row is: ``"op"``, an operation; ``"module"``, a module of a model, with the sums of its operations;
        ``"fusion"``, a group of operations that a compiler fused. The default is what runs as one kernel: a fusion for
        JAX, an operation for numpy and PyTorch.
    timing
        What is timed: ``"op"``, the call and each operation; ``"call"``, the call; None, nothing.
    warmup, repeat
        The number of calls before all others, and the number of timed calls. Times are medians. By default 2 and 5, and
        fewer for a slow function: after a second no further call of the same kind starts, so that a function of some
        seconds runs four times. A number that is given is kept.
    framework
        ``"numpy"``, ``"torch"`` or ``"jax"``; ``"auto"`` finds the framework of the function and its arguments.

    Returns
    -------
    Profile
        A table of rows in ``kernels``, sums, bounds, and a chart.

    Raises
    ------
    TypeError
        If the function cannot be called, or a number is not whole.
    ValueError
        If a keyword has an unknown value, a number is too small, or the framework cannot count by this grouping.
    ImportError
        If the framework is not installed; the message names the extra that installs it.

    Examples
    --------
    Three lines answer how close a function is to the roof of this machine: ``import roofwidget as rw``, ``p =
    rw.profile(f, x)`` and ``p.summary()``.

    >>> import numpy as np
    >>> p = profile(np.add, np.ones(1000), np.ones(1000), timing="call", repeat=1)
    >>> p.other_flops, p.bytes, p.time > 0
    (1000, 24000, True)
    """
    found = _framework(function, framework, [args, kwargs])
    request = _request(default_grouping(found) if by is None else by, timing, warmup, repeat)
    try:
        counts = counter(found).count(function, args, kwargs, request)
    except TypeError as error:
        hint = _hint_at_own_keyword(str(error), kwargs)
        if not hint:
            raise
        raise TypeError(f"{error}{hint}") from error
    return Profile(_name_of(function), counts, request.by)


def _hint_at_own_keyword(message: str, given: Iterable[str]) -> str:
    """Return a hint if a function refuses a keyword that resembles one of `profile`, or that names roofs."""
    refused = [word for word in given if "keyword" in message and f"'{word}'" in message]
    if not _ROOF_KEYWORDS.isdisjoint(refused):
        return "; give the roofs to the profile, as in p.summary(peaks) or p.roofline(peaks)"
    hints = [did_you_mean(word, _OWN_KEYWORDS, "") for word in refused]
    return next((f"{hint} It is a keyword of rw.profile" for hint in hints if hint), "")


def count_flops(
    function: Callable[..., Any], *args: Any, by: Grouping | None = None, framework: str = "auto", **kwargs: Any
) -> Profile:
    """Count what a function or a model would run, without running it.

    PyTorch and JAX follow shapes alone, so a model of any size takes about a second. numpy cannot: its function runs
    once, and a warning of the result says so.

    Parameters
    ----------
    function, *args, by, framework, **kwargs
        As in `profile`.

    Returns
    -------
    Profile
        As from `profile`, without times.

    Raises
    ------
    TypeError, ValueError, ImportError
        As `profile`.

    Examples
    --------
    >>> import numpy as np
    >>> p = count_flops(np.matmul, np.ones((64, 32)), np.ones((32, 16)))
    >>> p
    Profile(matmul on cpu: 1 operation, 65.5 kFLOP, 28.7 kB, 1 warning)
    """
    found = _framework(function, framework, [args, kwargs])
    request = _request(default_grouping(found) if by is None else by, None, 0, 1)
    counts = counter(found).count_without_running(function, args, kwargs, request)
    return Profile(_name_of(function), counts, request.by)


def _request(by: Any, timing: Any, warmup: Any, repeat: Any) -> Request:
    grouping = checked_grouping(by)
    if timing is not None and text_argument(timing, "timing") not in _TIMINGS:
        raise ValueError(f"timing: unknown {timing!r:.40}{choose_from(timing, _TIMINGS)}, or None")
    limits = [_SLOW_S if value is None else math.inf for value in (warmup, repeat)]
    warmup, repeat = _WARMUP if warmup is None else warmup, _REPEAT if repeat is None else repeat
    return Request(
        grouping,
        cast("Timing", timing),
        checked_count(warmup, "warmup", 0),
        checked_count(repeat, "repeat", 1),
        warmup_limit_s=limits[0],
        repeat_limit_s=limits[1],
    )


def checked_grouping(by: Any) -> Grouping:
    """Return a grouping: ``op``, ``module`` or ``fusion``.

    Raises
    ------
    TypeError, ValueError
        If `by` is not one of them.
    """
    if text_argument(by, "by") not in _GROUPINGS:
        raise ValueError(f"by: unknown {by!r:.40}{choose_from(by, _GROUPINGS)}")
    return cast("Grouping", by)


def _framework(function: Any, framework: Any, values: list[Any]) -> str:
    """Return the framework that counts a function, after checks of both."""
    if not callable(function):
        raise TypeError(
            f"the first argument must be a function or a model, got {shown_value(function)}; "
            "give the function and its arguments apart, as in rw.profile(f, x)"
        )
    if text_argument(framework, "framework") == "auto":
        return framework_of(function, values)
    if framework not in COUNTERS:
        raise ValueError(f"framework: unknown {framework!r:.40}{choose_from(framework, ('auto', *COUNTERS))}")
    return cast("str", framework)


def _name_of(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _remarks(counts: Counts) -> list[str]:
    """Return warnings that all frameworks share: nothing was counted, or amounts of operations are unknown."""
    disturbance = [counts.disturbance] if counts.disturbance else []
    if not counts.ops:
        return [*disturbance, profile_report.NOTHING_COUNTED]
    unknown = {
        "FLOPs": [op.name for op in counts.ops if op.flops is None],
        "bytes": [op.name for op in counts.ops if op.bytes is None],
    }
    return disturbance + [
        f"{what} of {counted(len(names), 'operation')} are unknown, and sums leave them out: "
        f"{first_few(list(dict.fromkeys(names)), _MAX_UNKNOWN_NAMED)}"
        for what, names in unknown.items()
        if names
    ]


def table_of(rows: Sequence[OpCount], source: str, warnings: tuple[str, ...] = ()) -> Kernels:
    """Return a table with one row per operation."""
    return Kernels(
        [" ".join(part for part in (op.module, op.name) if part) for op in rows],
        # Without FLOPs an operation has zero, not an unknown number.
        columns.by_key_of_rows([op.flops if op.flops is None else op.flops or {"vector": 0} for op in rows], "tensor"),
        _bytes_by_level(rows),
        time=np.array([op.time for op in rows], dtype=np.float64),
        precision=[op.precision for op in rows],
        category=[op.category or op.name for op in rows],
        count=[op.count for op in rows],
        origin={"flops": "counted from shapes", "bytes": "each operation reads inputs and writes outputs, uncached"},
        extra={"module": [op.module for op in rows], "shapes": [op.shapes for op in rows]},
        warnings=warnings,
        source=source,
    )


def _bound(table: Kernels, chip: Chip, memory: str) -> Bound:
    level = chip.memory(memory)
    if level != chip.main_memory:
        table = table.replace(bytes={level: table.bytes})
    return bound_lenient(table, chip, memory=level)


def _bytes_by_level(rows: Sequence[OpCount]) -> dict[str, list[float]]:
    """Return bytes of main memory per row, and bytes over the link if any row sends some."""
    moved = {MAIN_LEVEL: [np.nan if op.bytes is None else op.bytes for op in rows]}
    if any(op.network_bytes != 0 for op in rows):
        moved[NETWORK] = [op.network_bytes or np.nan for op in rows]
    return moved
