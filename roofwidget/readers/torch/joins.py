"""Which operation a kernel belongs to: by the id that both carry, else by when and where it was launched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Floats
from roofwidget.readers.torch.events import NONE, Collected, Integers, Mask

__all__ = ["Nest", "launching"]

Axis: TypeAlias = npt.NDArray[np.complex128]

# Older profilers write whole microseconds: a launch may seem to come this much before or after its operation.
_SLACK: Final = 1.0


class Nest:
    """Which operation encloses which, thread by thread.

    Parameters
    ----------
    thread
        Whole numbers from 0, shape (n,).
    start, duration
        Microseconds, shape (n,).

    Examples
    --------
    >>> nest = Nest(np.array([0, 0, 0]), np.array([0.0, 2.0, 7.0]), np.array([9.0, 3.0, 1.0]))
    >>> nest.parent.tolist(), nest.enclosing(np.array([0, 0]), np.array([4.0, 6.0])).tolist()
    ([-1, 0, 0], [1, 0])
    """

    def __init__(self, thread: Integers, start: Floats, duration: Floats) -> None:
        n = len(thread)
        self._start, self._duration = start, duration
        begins = _axis(thread, start)
        self._order = np.lexsort((np.arange(n), -duration, begins))
        self._begins = begins[self._order]
        self._ends = self._begins + 1j * duration[self._order]
        self._levels = _by_depth(self._depth())
        self._above = np.full(n, NONE)
        for outer, inner in zip(self._levels, self._levels[1:], strict=False):
            last = np.searchsorted(outer, inner) - 1
            candidate = outer[np.maximum(last, 0)]
            encloses = (last >= 0) & (self._ends[candidate] > self._begins[inner])
            self._above[inner] = np.where(encloses, candidate, NONE)
        self.parent = np.full(n, NONE)
        """The operation right around each, or -1, shape (n,)."""
        self.parent[self._order] = self._in_given_order(self._above)

    def levels(self) -> Iterator[Integers]:
        """Yield the operations that nothing encloses, then those right within these, and so on."""
        return (self._order[level] for level in self._levels)

    def enclosing(self, thread: Integers, time: Floats) -> Integers:
        """Return the innermost operation that was running on each thread at each time, or -1."""
        at = _axis(thread, time)
        # The one that began last; if that had ended by then, the one around it, and so on.
        found = np.searchsorted(self._begins, at, side="right") - 1
        while (over := self._ended(found, at)).any():
            found = np.where(over, self._above[found], found)
        return self._in_given_order(found)

    def covers(self, rows: Integers, time: Floats) -> Mask:
        """Tell whether an operation was running at a time, on whatever thread; False for row -1."""
        if not len(self._start):
            return np.zeros(len(rows), dtype=np.bool_)
        since = time - self._start[rows]
        return (rows >= 0) & (since >= -_SLACK) & (since <= self._duration[rows] + _SLACK)

    def _depth(self) -> Integers:
        """How many enclose each: all that began before it but those that have ended."""
        ended = np.searchsorted(np.sort(self._ends), self._begins, side="right")
        depth: Integers = np.maximum(np.arange(len(ended)) - ended, 0)
        return depth

    def _ended(self, found: Integers, at: Axis) -> Mask:
        if not len(self._ends):
            return np.zeros(len(at), dtype=np.bool_)
        over: Mask = (found >= 0) & (self._ends[found] < at)
        return over

    def _in_given_order(self, places: Integers) -> Integers:
        if not len(self._order):
            return places
        found: Integers = np.where(places >= 0, self._order[places], NONE)
        return found


def _axis(thread: Integers, time: Floats) -> Axis:
    """Return one axis for all threads. Complex numbers are ordered by their first part, then by their second.

    A stretch of a line for each thread would round the times of long traces, and of those where one event is far off.
    """
    axis: Axis = thread + 1j * time
    return axis


def _by_depth(depth: Integers) -> list[Integers]:
    """Return the positions of the least depth, of the next, …, each in order."""
    by_depth = np.argsort(depth, kind="stable")
    bounds = np.flatnonzero(np.diff(depth[by_depth])) + 1
    return [part for part in np.split(by_depth, bounds) if len(part)]


def launching(kept: Collected, nest: Nest) -> Integers:
    """Return for each row on the device the operation that launched it, or -1.

    An external id is believed where the operation was running when the runtime was called, or nothing tells when that
    was: older profilers number launches and operations apart, and there the same number means nothing.
    """
    by_id = _found(kept.operations.external.integers(), kept.device.external.integers())
    launch = _found(kept.launches.correlation.integers(), kept.device.correlation.integers())
    if not len(kept.launches.start):
        return by_id
    known = launch >= 0
    time = np.where(known, kept.launches.start.floats()[launch], 0)
    by_time = nest.enclosing(kept.launches.thread.integers()[launch], time)
    believed = (by_id >= 0) & (~known | nest.covers(by_id, time))
    return np.where(believed, by_id, np.where(known, by_time, NONE))


def _found(ids: Integers, wanted: Integers) -> Integers:
    """Return where each wanted id stands first, or -1; the id -1 stands nowhere."""
    if not len(ids):
        return np.full(len(wanted), NONE)
    order = np.argsort(ids, kind="stable")
    row = order[np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)]
    return np.where((ids[row] == wanted) & (wanted != NONE), row, NONE)
