"""What-ifs on single kernels: the new time if a kernel moves fewer or more bytes, or gets closer to its roof."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from roofwidget.analysis.result import Bound
from roofwidget.chips import NETWORK
from roofwidget.kernels.columns import Floats, unwarned
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels

BoundFunction = Callable[[Kernels], Bound]
"""A function that returns the bound of kernels."""


@unwarned
def with_moves(kernels: Kernels, moves: Mapping[int, Mapping[str, float]], bound_of: BoundFunction) -> Kernels:
    """Return the kernels with what-ifs applied.

    The factor ``bytes`` multiplies a kernel's bytes at every memory level, but not its bytes over the link. The kernel
    keeps its utilization, so its new time is ``time * new bound / old bound``. The factor ``time`` multiplies this new
    time. No kernel goes above its roof, so the time factor is at least the utilization. For a kernel that is above its
    roof already, the time factor is at least 1. The self time changes by the same factor as the time. A new time is NaN
    if the bytes change and the bound is unknown.

    Parameters
    ----------
    kernels
        The n kernels as they are.
    moves
        Maps a row to its factors: a dict with ``"bytes"`` and ``"time"``, both above 0. A missing factor is 1.
    bound_of
        A function that takes some of the kernels and returns their `Bound`.

    Returns
    -------
    Kernels
        The same rows. Totals, single launches and origins are left out because they describe the measured data.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})
    >>> table = rw.Kernels(["norm"], [1e9], [62e6], time=[124e-6])
    >>> rw.bound(table, chip).utilization.tolist()
    [0.5]
    >>> float(with_moves(table, {0: {"bytes": 0.5}}, lambda some: rw.bound(some, chip)).time[0])
    6.2e-05
    """
    if not moves:
        return kernels
    rows = np.fromiter(moves, dtype=np.intp)
    before = kernels[rows]
    by_bytes, by_time = (np.array([move.get(key, 1.0) for move in moves.values()]) for key in ("bytes", "time"))
    after = _with_bytes(before, by_bytes)
    bound = bound_of(before)
    # If the bytes of a kernel do not change, the new time does not depend on the bound, which may be unknown.
    follows = np.where(by_bytes == 1, 1.0, bound_of(after).time / bound.time)
    factor = follows * np.fmax(by_time, least_time(bound))
    return _put_back(kernels, rows, after, factor)


def least_time(bound: Bound) -> Floats:
    """Return the smallest time factor that keeps each kernel at or below its roof, shape (n,); NaN is unknown."""
    return np.minimum(bound.utilization, 1.0)


def _with_bytes(kernels: Kernels, factor: Floats) -> Kernels:
    return kernels.replace(
        bytes={
            level: column if level.casefold() == NETWORK else column * factor
            for level, column in kernels.bytes_by_level.items()
        }
    )


def _put_back(kernels: Kernels, rows: Rows, part: Kernels, factor: Floats) -> Kernels:
    def put(column: Floats, values: Floats) -> Floats:
        changed = column.copy()
        changed[rows] = values
        return changed

    moved = part.bytes_by_level
    return kernels.replace(
        bytes={level: put(column, moved[level]) for level, column in kernels.bytes_by_level.items()},
        time=put(kernels.time, part.time * factor),
        self_time=put(kernels.self_time, kernels.self_time[rows] * factor) if kernels.has_self_time else None,
        origin=None,
        launches=None,
        program=None,
        steps=None,
    )
