"""Rows of a trace: one per call of an operation on the device, per launch, or per call on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Bools, DictColumn, Floats
from roofwidget.readers.torch.events import NONE, Codes, Collected
from roofwidget.readers.torch.formulas import MATRIX_PRODUCT, OpCall, OpWork, assumption_warnings, work_of
from roofwidget.support.arrays import Integers

# -- work of each different call -----------------------------------------------------------------------------------

COMPULSORY: Final = "compulsory bytes: each operand read once, each result written once"

_FLOATS: Final = ("fp64", "fp32", "fp16", "bf16", "fp8")


class WorkTable:
    """Columns of work, with one row per call code. The code -1 means no call, so all its work is unknown.

    Parameters
    ----------
    calls
        The different calls, without repetitions.
    """

    def __init__(self, calls: Sequence[OpCall]) -> None:
        works = self._works = [*(work_of(call) for call in calls), None]
        self.has_work = np.array([work is not None for work in works])
        self.is_vector = np.array([work is not None and work.vector for work in works])
        self.flops = np.array([np.nan if work is None else work.flops for work in works])
        self.bytes = np.array([np.nan if work is None or work.bytes is None else work.bytes for work in works])
        pairs = [*zip(calls, works, strict=False), (OpCall("", ()), None)]
        self.name = _call_column(pairs, lambda call, _: call.name or None)
        self.shape = _call_column(pairs, _shape)
        self.dtype = _call_column(pairs, lambda call, _: call.dtype or None)
        self.precision = _call_column(pairs, _precision)
        self.category = _call_column(pairs, lambda _, work: work.family if work else None)
        self.flops_rule = _call_column(pairs, lambda _, work: work.rule if work else None)
        self.bytes_rule = _call_column(pairs, lambda _, work: COMPULSORY if work and work.bytes is not None else None)

    def assumptions(self, rows: Rows) -> list[str]:
        """Return warnings of what the work of the rows assumes."""
        return assumption_warnings(self._works[call] for call in set(rows.call[rows.carries].tolist()))


def dict_column(words: Sequence[str | None], codes: npt.NDArray[np.signedinteger[Any]]) -> DictColumn:
    """Return a dictionary-encoded column from texts (possibly repeated) and their codes."""
    index: Codes[str | None] = Codes()
    place = np.array([index(word) for word in words], dtype=np.int32)
    return DictColumn(tuple(index.values()), place[codes])


def _call_column(
    pairs: Sequence[tuple[OpCall, OpWork | None]], word: Callable[[OpCall, OpWork | None], str | None]
) -> DictColumn:
    words = [word(call, work) for call, work in pairs]
    return dict_column(words, np.arange(len(words)))


def _shape(call: OpCall, work: OpWork | None) -> str | None:
    detail = f"; {work.detail}" if work and work.detail else ""
    return f"{call.shape}{detail}" or None


def _precision(call: OpCall, work: OpWork | None) -> str | None:
    """Return the dtype of the first floating-point tensor. In a matrix product an int8 tensor counts too."""
    found = [call.precision(position) for position, sizes in enumerate(call.dims) if sizes]
    wanted = (*_FLOATS, "int8") if work and work.family == MATRIX_PRODUCT else _FLOATS
    return next((word for word in found if word in wanted), None)


# -- the operation of each launch ----------------------------------------------------------------------------------

_Axis: TypeAlias = npt.NDArray[np.complex128]

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
        """The operation that directly encloses each operation, or -1, shape (n,)."""
        self.parent[self._order] = self._in_given_order(self._above)

    def levels(self) -> Iterator[Integers]:
        """Yield the outermost operations, then the operations directly inside them, and so on."""
        return (self._order[level] for level in self._levels)

    def enclosing(self, thread: Integers, time: Floats) -> Integers:
        """Return the innermost operation that ran on each thread at each time, or -1."""
        at = _axis(thread, time)
        # Try the operation that began last; if that operation had ended before, try the operation that encloses it, and
        # so on.
        found = np.searchsorted(self._begins, at, side="right") - 1
        while (over := self._ended(found, at)).any():
            found = np.where(over, self._above[found], found)
        return self._in_given_order(found)

    def covers(self, rows: Integers, time: Floats) -> Bools:
        """Return whether each operation was running at a time, on any thread; False for row -1."""
        if not len(self._start):
            return np.zeros(len(rows), dtype=np.bool_)
        since = time - self._start[rows]
        return (rows >= 0) & (since >= -_SLACK_US) & (since <= self._duration[rows] + _SLACK_US)

    def _depth(self) -> Integers:
        """Return how many operations enclose each operation: they began before it and have not ended."""
        ended = np.searchsorted(np.sort(self._ends), self._begins, side="right")
        depth: Integers = np.maximum(np.arange(len(ended)) - ended, 0)
        return depth

    def _ended(self, found: Integers, at: _Axis) -> Bools:
        if not len(self._ends):
            return np.zeros(len(at), dtype=np.bool_)
        over: Bools = (found >= 0) & (self._ends[found] < at)
        return over

    def _in_given_order(self, places: Integers) -> Integers:
        if not len(self._order):
            return places
        found: Integers = np.where(places >= 0, self._order[places], NONE)
        return found


def _axis(thread: Integers, time: Floats) -> _Axis:
    """Return one axis for all threads: complex numbers are ordered by real part (thread), then imaginary part (time).

    An offset per thread on a real axis would round the times of long traces.
    """
    axis: _Axis = thread + 1j * time
    return axis


def _by_depth(depth: Integers) -> list[Integers]:
    """Return the positions of the operations of each depth, smallest depth first, in ascending order."""
    by_depth = np.argsort(depth, kind="stable")
    bounds = np.flatnonzero(np.diff(depth[by_depth])) + 1
    return [part for part in np.split(by_depth, bounds) if len(part)]


def launching_operations(collected: Collected, nest: Nest) -> Integers:
    """Return for each row on the device the operation that launched it, or -1.

    The external id counts if the operation was running at the time of the runtime call, or if this time is unknown.
    Older profilers number launches and operations separately, so equal ids alone prove nothing.
    """
    by_id = _positions(collected.operations.external.integers(), collected.device.external.integers())
    launch = _positions(collected.launches.correlation.integers(), collected.device.correlation.integers())
    if not len(collected.launches.start):
        return by_id
    known = launch >= 0
    time = np.where(known, collected.launches.start.floats()[launch], 0)
    by_time = nest.enclosing(collected.launches.thread.integers()[launch], time)
    is_by_id = (by_id >= 0) & (~known | nest.covers(by_id, time))
    return np.where(is_by_id, by_id, np.where(known, by_time, NONE))


def _positions(ids: Integers, wanted: Integers) -> Integers:
    """Return the first position of each wanted id, or -1; the id -1 has no position."""
    if not len(ids):
        return np.full(len(wanted), NONE)
    order = np.argsort(ids, kind="stable")
    row = order[np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)]
    return np.where((ids[row] == wanted) & (wanted != NONE), row, NONE)


# -- rows ----------------------------------------------------------------------------------------------------------

_COPIES: Final = ("gpu_memcpy", "gpu_memset")


@dataclass
class Rows:
    """Rows of the result, with the positions of the trace rows from which they are made.

    -1 instead of a code or a position means that the row has none.

    Parameters
    ----------
    call
        Code of the call whose work the row has, shape (n,).
    time, self_time
        Microseconds, shape (n,).
    carries
        Whether the call's work counts in this row, shape (n,).
    device
        The position in the device activity of one kernel of the row, shape (n,).
    kernels
        The kernels of the row, as a code into `kernel_words`, shape (n,).
    kernel_words
        Names of kernels, several joined by `` + ``.
    members
        The number of kernels of the row, shape (n,).
    """

    call: Integers
    time: Floats
    self_time: Floats
    carries: Bools
    device: Integers
    kernels: Integers
    kernel_words: Sequence[str]
    members: Integers

    def __len__(self) -> int:
        return len(self.call)


def is_copy(collected: Collected) -> Bools:
    """Return a mask of device rows, shape (m,): true for copies and fills. Their events have bytes."""
    of_category = np.array([word in _COPIES for word in collected.categories.values()], dtype=np.bool_)
    return of_category[collected.device.category.integers()]


def _outermost_with_work(nest: Nest, has_work: Bools) -> Integers:
    """Return for each operation the outermost enclosing operation (or itself) with known work; -1 if there is none.

    If the work of an operation is known, it includes the work of all operations inside, so their work is not counted
    again. For example, a convolution includes the transposition inside it.
    """
    found = np.full(len(nest.parent), NONE)
    for level in nest.levels():
        above = nest.parent[level]
        outer = np.where(above >= 0, found[above], NONE)
        found[level] = np.where(outer >= 0, outer, np.where(has_work[level], level, NONE))
    return found


def _owners(collected: Collected, table: WorkTable) -> tuple[Integers, Integers]:
    """Return two columns: the operation of each device row, or -1, and the call of each operation."""
    operations = collected.operations
    nest = Nest(operations.thread.integers(), operations.start.floats(), operations.duration.floats())
    call = operations.call.integers()
    launcher = np.where(is_copy(collected), NONE, launching_operations(collected, nest))
    if not len(call):
        return launcher, call
    root = _outermost_with_work(nest, table.has_work[call])
    return np.where((launcher >= 0) & (root[launcher] >= 0), root[launcher], launcher), call


def launch_rows(collected: Collected, table: WorkTable) -> Rows:
    """Return a row for each launch; the longest kernel of an operation has the operation's work."""
    owner, call = _owners(collected, table)
    n, time = len(owner), collected.device.duration.floats()
    order = np.lexsort((-time, owner))
    longest = np.ones(n, dtype=np.bool_)
    longest[order[1:]] = (owner[order[1:]] != owner[order[:-1]]) | (owner[order[1:]] < 0)
    rows = np.argsort(collected.device.start.floats(), kind="stable")
    return Rows(
        _calls_of(call, owner)[rows],
        time[rows],
        time[rows],
        longest[rows],
        rows,
        collected.device.name.integers()[rows],
        collected.names.values(),
        np.ones(n, dtype=np.int64),
    )


def operation_rows(collected: Collected, table: WorkTable) -> Rows:
    """Return a row per call of an operation that ran on the device, and a row per launch without operation."""
    owner, call = _owners(collected, table)
    time, name = collected.device.duration.floats(), collected.device.name.integers()
    # A launch without an operation gets a key that no other row has. This key is greater than the keys of operations.
    key = np.where(owner >= 0, owner, len(call) + np.arange(len(owner)))
    _, first, group, members = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    names = collected.names.values()
    words: Codes[str] = Codes()
    for word in names:
        words(word)
    kernels = name[first]
    order = np.lexsort((collected.device.start.floats(), group))
    begins = np.searchsorted(group[order], np.arange(len(first)))
    for row in np.flatnonzero(members > 1):
        ran = dict.fromkeys(name[order[begins[row] : begins[row] + members[row]]].tolist())
        kernels[row] = words(" + ".join(names[code] for code in ran))
    total: Floats = np.bincount(group, time, len(first)).astype(np.float64)
    carries = np.ones(len(first), dtype=np.bool_)
    # Sort the rows by start time, because users read the launches one by one.
    rows = np.argsort(collected.device.start.floats()[first], kind="stable")
    return Rows(
        _calls_of(call, owner[first])[rows],
        total[rows],
        total[rows],
        carries,
        first[rows],
        kernels[rows],
        words.values(),
        members[rows],
    )


def host_rows(collected: Collected, table: WorkTable) -> Rows:
    """Return a row per call on the host, without calls inside an operation of known work."""
    operations = collected.operations
    time = operations.duration.floats()
    nest = Nest(operations.thread.integers(), operations.start.floats(), time)
    call = operations.call.integers()
    root = _outermost_with_work(nest, table.has_work[call])
    inner = nest.parent >= 0
    within = np.bincount(nest.parent[inner], time[inner], len(call))
    own = np.where(root >= 0, time, np.maximum(time - within, 0))
    rows = np.flatnonzero((root < 0) | (root == np.arange(len(root))))
    none = np.full(len(rows), NONE)
    return Rows(call[rows], time[rows], own[rows], np.ones(len(rows), np.bool_), none, none, (), none)


def _calls_of(call: Integers, owner: Integers) -> Integers:
    return np.where(owner >= 0, call[owner], NONE) if len(call) else np.full(len(owner), NONE)
