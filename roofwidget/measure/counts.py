"""What a counter returns: FLOPs, bytes and seconds of each operation that a function ran."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final, Literal, TypeAlias

from roofwidget.kernels.columns import is_whole
from roofwidget.measure import system
from roofwidget.support.arguments import shown_value
from roofwidget.units import format_quantity

Grouping: TypeAlias = Literal["op", "module", "fusion"]
"""What a row of a profile is: an operation, a module of a model, or a group of operations that a compiler fused."""

Timing: TypeAlias = Literal["op", "call"] | None
"""What is timed besides the whole call: each operation, nothing else, or (None) not even the call."""


_MIN_CALLS: Final = 3
"""Fewer times do not tell whether times vary."""
_MAX_MEDIAN: Final = 1.5
"""The times of calls vary if their median is longer than the shortest by this factor."""

NO_DEVICE: Final = "XLA"
"""The device of counts that were read from a program's text: it may be for any device."""


def checked_count(value: Any, what: str, least: int) -> int:
    """Return a whole number of at least `least`.

    Raises
    ------
    TypeError, ValueError
        If the value is another: the message begins with `what`.
    """
    if not is_whole(value):
        raise TypeError(f"{what} must be a whole number, got {shown_value(value)}")
    if value < least:
        raise ValueError(f"{what} must be at least {least}, got {value}")
    return int(value)


@dataclass(frozen=True)
class OpCount:
    """One operation that ran, or one group of operations that a compiler fused.

    Parameters
    ----------
    name
        The operation's name, such as ``convolution``.
    flops
        FLOPs by class: ``tensor`` (matrix products, convolutions, attention), ``vector`` and ``transcendental``. None
        if unknown. Empty for an operation that only moves data.
    bytes_read, bytes_written
        Bytes of main memory if nothing is cached, or None if unknown.
    precision
        The precision that the FLOPs have, such as ``fp32``.
    module
        The path of the module that ran the operation, such as ``layer1.0.conv1``; empty without a module.
    shapes
        The shapes of the inputs as text, such as ``1×3×224×224, 64×3×7×7``.
    time
        Median seconds, or None if the operation was not timed.
    category
        The kind of operation, such as ``dot fusion``; empty if the name says it.
    count
        How many times it ran. FLOPs, bytes and seconds are totals over all of them.
    network_bytes
        Bytes that one chip sends over its link, 0 for an operation that runs on one chip, or None if unknown.
    """

    name: str
    flops: dict[str, int] | None
    bytes_read: int | None
    bytes_written: int | None
    precision: str | None = None
    module: str = ""
    shapes: str = ""
    time: float | None = None
    category: str = ""
    count: int = 1
    network_bytes: int | None = 0

    @property
    def bytes(self) -> int | None:
        """Bytes read and written, or None if one of the two is unknown."""
        if self.bytes_read is None or self.bytes_written is None:
            return None
        return self.bytes_read + self.bytes_written


@dataclass(frozen=True)
class Counts:
    """All operations of one call, in the order in which they ran.

    Parameters
    ----------
    ops
        The operations. Views and allocations, which move no bytes, are among them.
    compulsory_bytes
        Bytes of the call's inputs, parameters and outputs, each counted once; None if unknown. No compiler can move
        fewer bytes.
    call_times
        Seconds of each timed call, without counters. Empty if calls were not timed.
    unfused_bytes
        Bytes if each operation that a compiler fused ran on its own; None if the operations are not fused.
    device
        Where it ran, as the framework writes it: ``cpu``, ``cuda:0``.
    warnings
        What a reader must know about these counts.
    load
        Who else used the processors while calls and operations were timed; None if unknown.
    """

    ops: tuple[OpCount, ...]
    compulsory_bytes: int | None = None
    unfused_bytes: int | None = None
    call_times: tuple[float, ...] = ()
    device: str = "cpu"
    warnings: tuple[str, ...] = ()
    load: system.Shares | None = None

    @property
    def disturbance(self) -> str:
        """Why the times do not tell how fast the function is; empty if nothing speaks against them."""
        times = self.call_times
        if not times:
            return ""
        on_processors = self.device.partition(":")[0] == "cpu"
        cause = " and ".join(self.load.remarks()) if self.load is not None and on_processors else ""
        least, most = (format_quantity(end, "s") for end in (min(times), max(times)))
        span = f"a call took {least} to {most}" if least != most else f"a call took {least}"
        if cause:
            return f"{cause} during the timing: {span}"
        varies = len(times) >= _MIN_CALLS and median(times) > _MAX_MEDIAN * min(times)
        return f"the times vary: {span}" if varies else ""


@dataclass(frozen=True)
class Request:
    """How a function is counted and timed.

    Parameters
    ----------
    by
        What a row is. A counter returns operations for ``"module"`` too: the profile adds them up.
    timing
        What is timed.
    warmup, repeat
        The number of calls before the timed calls, and the number of timed calls.
    clock
        Returns seconds; a test may pass a clock of its own.
    warmup_limit_s, repeat_limit_s
        Seconds after which no further call of a kind starts: before the timed calls, of the timed calls, of the calls
        for the times of operations.
    usage
        Returns who has used the processors up to now.
    """

    by: Grouping = "op"
    timing: Timing = "op"
    warmup: int = 2
    repeat: int = 5
    clock: Callable[[], float] = field(default=time.perf_counter)
    warmup_limit_s: float = math.inf
    repeat_limit_s: float = math.inf
    usage: Callable[[], system.Usage] = field(default=system.usage)


Report: TypeAlias = Callable[[OpCount], None]
"""Takes each operation with its time when it has finished."""
