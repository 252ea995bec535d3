"""Communication of a profile: the columns of its collectives, and how much of it other kernels hide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.kernels.columns import Bools, DictColumn, Floats
from roofwidget.kernels.metadata import Communication
from roofwidget.support.arrays import Integers

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

KINDS: Final = (
    *("all-reduce", "all-gather", "reduce-scatter", "all-to-all"),
    *("gather", "scatter", "broadcast", "reduce", "send", "receive"),
)
"""The kinds of messages of a profile, for which `roofwidget.network.bus_factor` is defined."""
KIND: Final = "collective"
"""The column of `Kernels.extra` with the kind of collective, one of `roofwidget.network.MESSAGES`."""
SIZE: Final = "message size (B)"
"""The column with the message size S of one call: the larger of what one rank puts in and gets out."""
RANKS: Final = "ranks"
"""The column with the number of ranks of the group."""
GROUP: Final = "group"
"""The column with the name and the ranks of the group."""
SEQUENCE: Final = "sequence number"
"""The column with the number of a call in its group. The ranks of a group count alike."""
ALGORITHM_BANDWIDTH: Final = "algorithm bandwidth (B/s)"
BUS_BANDWIDTH: Final = "bus bandwidth (B/s)"


def texts_of(kernels: Kernels, name: str) -> DictColumn:
    """Return the texts of a column of `extra`, shape (n,); all None if the table has no such column of texts."""
    column = kernels.extra_columns.get(name)
    return column if isinstance(column, DictColumn) else DictColumn((None,), np.zeros(len(kernels), dtype=np.int32))


def numbers_of(kernels: Kernels, name: str) -> Floats:
    """Return the numbers of a column of `extra`, shape (n,); all NaN if the table has no such column of numbers."""
    column = kernels.extra_columns.get(name)
    return np.full(len(kernels), np.nan) if column is None or isinstance(column, DictColumn) else column


def is_message(kernels: Kernels) -> Bools:
    """Return a mask, shape (n,): true for collectives whose kind is known, one by one or as a sum of equal ones.

    Examples
    --------
    >>> import roofwidget as rw
    >>> is_message(rw.Kernels(["a", "b"], [0, 0], [1, 1], extra={"collective": ["all-reduce", None]})).tolist()
    [True, False]
    """
    return texts_of(kernels, KIND).where(lambda kind: kind is not None)


def known_messages(kernels: Kernels) -> Bools:
    """Return a mask, shape (n,): true for messages of known kind and size, and of whole or unknown ranks."""
    ranks, size = numbers_of(kernels, RANKS), numbers_of(kernels, SIZE)
    is_whole = np.isnan(ranks) | ((ranks >= 1) & (ranks == np.floor(ranks)) & np.isfinite(ranks))
    known: Bools = texts_of(kernels, KIND).where(lambda kind: kind in KINDS) & np.isfinite(size) & is_whole
    return known


def has_messages(kernels: Kernels) -> bool:
    """Return whether a table has a collective with a known kind and message size."""
    return SIZE in kernels.extra_columns and bool(known_messages(kernels).any())


def overlap_of(device: Integers, start: Floats, duration: Floats, communicates: Bools) -> Communication | None:
    """Return how the communication of kernels overlaps with the others, or None if none communicates.

    Parameters
    ----------
    device
        The device of each kernel, shape (n,). Streams need not be known.
    start, duration
        Seconds, shape (n,).
    communicates
        Whether each kernel communicates, shape (n,).

    Examples
    --------
    >>> found = overlap_of(
    ...     np.array([0, 0, 0]), np.array([0.0, 1.0, 4.0]), np.array([2.0, 2.0, 1.0]), np.array([False, True, False])
    ... )
    >>> found
    Communication(time=2.0, other=3.0, hidden=1.0)
    """
    if not communicates.any():
        return None
    time = other = both = 0.0
    order = np.lexsort((start, device))
    for rows in np.split(order, np.flatnonzero(np.diff(device[order])) + 1):
        begin, length, sends = start[rows] - start[rows[0]], duration[rows], communicates[rows]
        time += _union(begin[sends], length[sends])
        other += _union(begin[~sends], length[~sends])
        both += _union(begin, length)
    return Communication(time, other, max(time + other - both, 0.0))


def _union(start: Floats, duration: Floats) -> float:
    """Return the length of the union of intervals, which are ordered by their start."""
    if not len(start):
        return 0.0
    reached = np.maximum.accumulate(start + duration)
    gaps = np.maximum(start[1:] - reached[:-1], 0).sum()
    return float(reached[-1] - start[0] - gaps)
