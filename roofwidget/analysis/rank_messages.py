"""Collectives that ranks run together: the time on the wire, and how long each rank waits for the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from roofwidget.analysis.network import ENDS_TOGETHER, bus_bandwidth, bus_factor
from roofwidget.kernels.columns import Bools, DictColumn, Floats, Texts, frozen, unwarned
from roofwidget.kernels.communication import GROUP, KIND, RANKS, SEQUENCE, SIZE, is_message, numbers_of, texts_of
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels

_OF_TWO: Final = frozenset({"send", "receive"})
_MIN_RANKS: Final = 2


@dataclass(frozen=True, eq=False)
class RankMessages:
    """The m collectives that at least two of r ranks ran together, in the order of the first rank.

    A collective's kernel runs from the arrival of its rank to the end of the transfer. So the last rank to arrive has
    the shortest time. This time is that of the wire, and the rest of the time of the other ranks is waiting. A rank may
    leave a broadcast, a reduce, a gather or a scatter before the others, so for these the wire is unknown. It is
    unknown too where profiles of some ranks of the group are missing, because one of them may have come last.

    Attributes
    ----------
    rank
        The names of the r ranks.
    kind, group
        One of `roofwidget.network.MESSAGES`, and the group's name and ranks, shape (m,).
    size, ranks
        The message size S in bytes, and the number of ranks of the group, shape (m,).
    time
        Seconds on each rank, shape (m, r); NaN for a rank that did not take part.
    """

    __module__ = "roofwidget"

    rank: tuple[str, ...]
    kind: Texts
    group: Texts
    size: Floats
    ranks: Floats
    time: Floats

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def wire(self) -> Floats:
        """Seconds of the transfer, shape (m,): the shortest time over the ranks.

        NaN where ranks may leave early, and where the profiles of some ranks are missing.
        """
        ends_together = np.array([kind in ENDS_TOGETHER for kind in self.kind], dtype=np.bool_)
        return frozen(np.where(ends_together & ~(self.missing_ranks > 0), self._shortest, np.nan))

    @property
    def missing_ranks(self) -> Floats:
        """How many ranks of the group have no profile of the collective, shape (m,); NaN if its size is unknown."""
        return frozen(self.ranks - (~np.isnan(self.time)).sum(axis=1))

    @property
    def waiting(self) -> Floats:
        """Seconds that each rank waits for the others, shape (m, r)."""
        return frozen(self.time - self.wire[:, None])

    @property
    def skew(self) -> Floats:
        """Seconds between the first and the last arrival, shape (m,). The ends of a collective align the clocks."""
        return frozen(np.max(np.nan_to_num(self.waiting), axis=1, initial=0) + 0 * self.wire)

    @property
    def late_rank(self) -> Texts:
        """The rank that arrives last, shape (m,); None where the wire is unknown."""
        found = np.array(self.rank, dtype=object)[np.argmin(np.nan_to_num(self.time, nan=np.inf), axis=1)]
        found[np.isnan(self.wire)] = None
        return frozen(found)

    @property
    def sent(self) -> Floats:
        """Bytes that a rank sends by a switch, shape (m,): `bus_factor` times the size."""
        return frozen(bus_factor(self.kind.tolist(), self.ranks) * self.size)

    @property
    def bus_bandwidth(self) -> Floats:
        """The bus bandwidth on the wire, without waiting, bytes/s, shape (m,)."""
        return frozen(bus_bandwidth(self.kind.tolist(), self.size, self.ranks, self.wire))

    @property
    def _shortest(self) -> Floats:
        found: Floats = np.min(np.nan_to_num(self.time, nan=np.inf), axis=1, initial=np.inf)
        return found

    @classmethod
    @unwarned
    def of(cls, tables: Mapping[str, Kernels]) -> RankMessages | None:
        """Return the collectives of the ranks' tables, or None if none is of two ranks.

        A collective is found on other ranks by its group, kind and size, and by its sequence number if the profiles
        have these, or else by its place in the order of the group.
        """
        calls = [_calls(table) for table in tables.values()]
        if sum(len(one) > 0 for one in calls) < _MIN_RANKS:
            return None
        by_number = not any(np.isnan(numbers_of(one, SEQUENCE)).any() for one in calls)
        words: dict[str | None, int] = {}
        keys, times = [], []
        for one in calls:
            kind, group = (_codes(texts_of(one, name), words) for name in (KIND, GROUP))
            number = numbers_of(one, SEQUENCE) if by_number else _places(group)
            size, ranks = (np.nan_to_num(numbers_of(one, name), nan=-1.0) for name in (SIZE, RANKS))
            keys.append(np.stack([group, number, kind, size, ranks], axis=1))
            times.append(one.time)
        every = np.concatenate(keys)
        _, first, which = np.unique(every, axis=0, return_index=True, return_inverse=True)
        rank = np.repeat(np.arange(len(calls)), [len(one) for one in calls])
        shape = (len(first), len(calls))
        cell = np.ravel_multi_index((which.ravel(), rank), shape)
        count = np.bincount(cell, minlength=np.prod(shape)).reshape(shape)
        total = np.bincount(cell, np.concatenate(times), minlength=np.prod(shape)).reshape(shape)
        time = np.where(count > 0, total, np.nan)
        is_shared: Bools = (count > 0).sum(axis=1) >= _MIN_RANKS
        rows = np.flatnonzero(is_shared)
        rows = rows[np.argsort(first[rows], kind="stable")]
        if not len(rows):
            return None
        group, _, kind, size, ranks = every[first[rows]].T
        known = np.array([*words], dtype=object)
        return cls(
            tuple(tables),
            frozen(known[kind.astype(np.intp)]),
            frozen(known[group.astype(np.intp)]),
            frozen(np.where(size >= 0, size, np.nan)),
            frozen(np.where(ranks >= 0, ranks, np.nan)),
            frozen(time[rows]),
        )


def _calls(table: Kernels) -> Kernels:
    """Return the single collectives of a table; none if it has only sums."""
    each = table if table.launches is None else table.launches
    is_of_group = is_message(each) & ~texts_of(each, KIND).where(lambda kind: kind in _OF_TWO)
    return each[np.flatnonzero(is_of_group & ~np.isnan(each.time) & (each.count == 1))]


def _codes(column: DictColumn, words: dict[str | None, int]) -> Floats:
    """Return the texts of a column as numbers that are the same for all ranks."""
    place = np.array([words.setdefault(value, len(words)) for value in column.values], dtype=np.float64)
    found: Floats = place[column.codes]
    return found


def _places(group: Floats) -> Floats:
    """Return the place of each call in the order of its group."""
    order: Rows = np.argsort(group, kind="stable")
    begins = np.searchsorted(group[order], group[order])
    found = np.empty(len(group))
    found[order] = np.arange(len(group)) - begins
    return found
