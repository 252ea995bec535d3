"""Takes times: of whole calls, and of operations while they run one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch


class Watch(Protocol):
    """Takes the times between `start` and `stop`."""

    def start(self) -> None:
        """Begin an interval."""

    def stop(self) -> None:
        """End the interval."""

    def seconds(self) -> list[float]:
        """Return the seconds of all intervals."""


class ClockWatch:
    """Reads a clock before and after each operation, when the device has nothing left to do."""

    def __init__(self, clock: Callable[[], float], synchronize: Callable[[], None]) -> None:
        self._clock, self._synchronize = clock, synchronize
        self._begin = 0.0
        self._seconds: list[float] = []

    def start(self) -> None:
        self._synchronize()
        self._begin = self._clock()

    def stop(self) -> None:
        self._synchronize()
        self._seconds.append(self._clock() - self._begin)

    def seconds(self) -> list[float]:
        return self._seconds


class EventWatch:
    """Records an event of the device before and after each operation, and waits once, at the end.

    Parameters
    ----------
    make_event
        Returns an event with ``record()`` and ``elapsed_time(later)`` in milliseconds, as `torch.cuda.Event` has them.
    synchronize
        Waits until the device has nothing left to do.
    """

    def __init__(self, make_event: Callable[[], Any], synchronize: Callable[[], None]) -> None:
        self._make_event, self._synchronize = make_event, synchronize
        self._events: list[tuple[Any, Any]] = []

    def start(self) -> None:
        begin, end = self._make_event(), self._make_event()
        self._events.append((begin, end))
        begin.record()

    def stop(self) -> None:
        self._events[-1][1].record()

    def seconds(self) -> list[float]:
        self._synchronize()
        return [begin.elapsed_time(end) / 1e3 for begin, end in self._events]


def watch_for(device: str, clock: Callable[[], float]) -> Watch:
    """Return what times operations on a device: events for CUDA, else a clock."""
    if device.startswith("cuda"):
        return EventWatch(lambda: torch.cuda.Event(enable_timing=True), torch.cuda.synchronize)
    return ClockWatch(clock, synchronizer(device))


def synchronizer(device: str) -> Callable[[], None]:
    """Return what waits until a device has nothing left to do."""
    waits = {"cuda": torch.cuda.synchronize, "mps": torch.mps.synchronize}
    found: Callable[[], None] = waits.get(device.partition(":")[0], lambda: None)
    return found


def seconds_of(
    call: Callable[[], object],
    clock: Callable[[], float],
    *,
    before: Callable[[], object],
    synchronize: Callable[[], None],
) -> float:
    """Return the seconds of a call.

    Parameters
    ----------
    call, clock
        What is timed, and what tells the time.
    before
        Called before the call; its time does not count.
    synchronize
        Waits until the device has nothing left to do.
    """
    before()
    synchronize()
    begin = clock()
    call()
    synchronize()
    return clock() - begin
