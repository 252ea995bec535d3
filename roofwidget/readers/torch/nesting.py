"""Which operation encloses which other operation, and which one launched each row of the device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Bools, Floats
from roofwidget.readers.torch.events import NONE, Collected, Operations
from roofwidget.support.arrays import Integers

Positions: TypeAlias = "npt.NDArray[np.signedinteger[Any]]"
"""Positions of operations, with four bytes if there may be millions."""

# Microseconds. Older profilers round to whole microseconds, so a launch may seem to be outside its operation.
_SLACK_US: Final = 1.0


class Nest:
    """For operations on threads: which operation encloses which other operation of its thread.

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
        self._start, self._duration = start, duration
        # Large traces have millions of operations, so positions have four bytes.
        self._order = np.lexsort((-duration, start, thread)).astype(np.intc)
        self._begins = start[self._order]
        self._ends = self._begins + duration[self._order]
        self._threads, self._bounds = np.unique(thread[self._order], return_index=True)
        self._levels = _by_depth(self._depth())
        self._above = np.full(len(thread), NONE, dtype=np.intc)
        for outer, inner in zip(self._levels, self._levels[1:], strict=False):
            last = np.searchsorted(outer, inner) - 1
            candidate = outer[np.maximum(last, 0)]
            is_there = (last >= 0) & (self._place(candidate) == self._place(inner))
            encloses = is_there & (self._ends[candidate] > self._begins[inner])
            self._above[inner] = np.where(encloses, candidate, NONE)
        self.parent = np.full(len(thread), NONE, dtype=np.intc)
        """The operation that directly encloses each operation, or -1, shape (n,)."""
        self.parent[self._order] = self._in_given_order(self._above)

    @classmethod
    def of(cls, operations: Operations) -> Nest:
        """Return the nest of the operations of a trace."""
        return cls(operations.thread.integers(), operations.start.floats(), operations.duration.floats())

    def levels(self) -> Iterator[Positions]:
        """Yield the outermost operations, then the operations directly inside them, and so on."""
        return (self._order[level] for level in self._levels)

    def enclosing(self, thread: Positions, time: Floats) -> Positions:
        """Return the innermost operation that ran on each thread at each time, or -1."""
        found = np.full(len(time), NONE, dtype=np.intc)
        order = np.argsort(thread, kind="stable").astype(np.intc)
        for rows in np.split(order, np.flatnonzero(np.diff(thread[order])) + 1):
            place = np.searchsorted(self._threads, thread[rows[:1]])
            if len(rows) and place[0] < len(self._threads) and self._threads[place[0]] == thread[rows[0]]:
                found[rows] = self._enclosing(int(place[0]), time[rows])
        return self._in_given_order(found)

    def _enclosing(self, place: int, at: Floats) -> Positions:
        inside = self._span(place)
        found = np.searchsorted(self._begins[inside], at, side="right") - 1
        found = np.where(found >= 0, found + inside.start, NONE)
        # That operation began last; if it had ended before, try the operation that encloses it, and so on.
        while (over := (found >= 0) & (self._ends[found] < at)).any():
            found[over] = self._above[found[over]]
        return found

    def covers(self, rows: Positions, time: Floats) -> Bools:
        """Return whether each operation was running at a time, on any thread; False for row -1."""
        if not len(self._start):
            return np.zeros(len(rows), dtype=np.bool_)
        since = time - self._start[rows]
        return (rows >= 0) & (since >= -_SLACK_US) & (since <= self._duration[rows] + _SLACK_US)

    def _span(self, place: int) -> slice:
        """Return the positions of a thread's operations, which are ordered by start."""
        end = self._bounds[place + 1] if place + 1 < len(self._bounds) else len(self._begins)
        return slice(int(self._bounds[place]), int(end))

    def _place(self, positions: Positions) -> Positions:
        """Return which thread each position belongs to."""
        return np.searchsorted(self._bounds, positions, side="right")

    def _depth(self) -> Positions:
        """Return how many operations enclose each operation: they began before it and have not ended."""
        depth = np.zeros(len(self._begins), dtype=np.intc)
        for place in range(len(self._threads)):
            inside = self._span(place)
            ended = np.searchsorted(np.sort(self._ends[inside]), self._begins[inside], side="right")
            depth[inside] = np.maximum(np.arange(len(ended)) - ended, 0)
        return depth

    def _in_given_order(self, places: Positions) -> Positions:
        if not len(self._order):
            return places
        found: Positions = np.where(places >= 0, self._order[places], np.intc(NONE))
        return found


def _by_depth(depth: Positions) -> list[Positions]:
    """Return the positions of the operations of each depth, smallest depth first, in ascending order."""
    by_depth = np.argsort(depth, kind="stable").astype(np.intc)
    bounds = np.flatnonzero(np.diff(depth[by_depth])) + 1
    return [part for part in np.split(by_depth, bounds) if len(part)]


@dataclass(frozen=True, eq=False)
class Launched:
    """Where each row on the device was launched.

    Parameters
    ----------
    operation
        The operation that launched it, -1 if unknown, shape (m,).
    thread, time
        The thread, and the host's time in microseconds of the runtime call, else of the operation; -1 and NaN if
        unknown, shape (m,).
    """

    operation: Positions
    thread: Positions
    time: Floats

    @classmethod
    def of(cls, collected: Collected, nest: Nest, from_capture: Positions) -> Launched:
        """Return where each row on the device was launched.

        The external id counts if the operation was running at the time of the runtime call, or if this time is unknown.
        Older profilers number launches and operations separately, so equal ids alone prove nothing. `from_capture` are
        operations that are known otherwise, or -1.
        """
        operations, calls = collected.operations, collected.launches
        by_id = _positions(
            operations.external.integers()[collected.operation_rows], collected.device.external.integers()
        )
        launch = launches(collected)
        is_known, has_id = launch >= 0, by_id >= 0
        time, thread = np.full(len(launch), np.nan), np.full(len(launch), NONE, dtype=np.intc)
        for which, at, rows in ((has_id, operations, by_id), (is_known, calls, launch)):
            time[which] = at.start.floats()[rows[which]]
            thread[which] = at.thread.integers()[rows[which]]
        found = np.where(is_known, nest.enclosing(thread, np.nan_to_num(time)), NONE)
        is_by_id = has_id & (~is_known | nest.covers(by_id, np.nan_to_num(time)))
        found = np.where(is_by_id, by_id, found).astype(np.intc)
        return cls(np.where(from_capture >= 0, from_capture, found), thread, time)


def launches(collected: Collected) -> Positions:
    """Return for each row on the device the runtime call that launched it, or -1."""
    return _positions(collected.launches.correlation.integers(), collected.device.correlation.integers())


def _positions(ids: Integers, wanted: Integers) -> Positions:
    """Return the first position of each wanted id, or -1; the id -1 has no position."""
    if not len(ids):
        return np.full(len(wanted), NONE, dtype=np.intc)
    order = np.argsort(ids, kind="stable").astype(np.intc)
    row = order[np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)]
    return np.where((ids[row] == wanted) & (wanted != NONE), row, np.intc(NONE))
