"""Many ranks of one program: which rank is the slowest in each kernel, and which rank holds the others up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.analysis.rank_messages import RankMessages
from roofwidget.kernels.collectives import collectives
from roofwidget.kernels.columns import Bools, DictColumn, Floats, Texts, frozen, unwarned
from roofwidget.kernels.communication import is_message
from roofwidget.kernels.concat import concat
from roofwidget.kernels.groupby import column_of
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.non_kernels import NON_KERNELS, non_kernels
from roofwidget.kernels.table import Kernels
from roofwidget.support.arguments import mapping_argument, text_argument
from roofwidget.support.text_tables import (
    aligned,
    and_more,
    counted,
    first_few,
    html_table,
    html_with_notes,
    one_line,
)
from roofwidget.support.unknowns import EqualWhereUnknown
from roofwidget.units import format_change, format_percent, format_quantity, format_significant

if TYPE_CHECKING:
    from roofwidget.widget import RooflineWidget

_RANK: Final = "rank"
_HEADER: Final = ("kernel", "slowest", "", "median", "fastest", "", "spread")
_MAX_LINES: Final = 8
_MAX_TABLE_ROWS: Final = 50
_MAX_NAMED_KERNELS: Final = 3
_MAX_NAMED_RANKS: Final = 3
_MIN_RANKS: Final = 2
# Clocks and temperatures differ from chip to chip by a few percent.
_ABOVE: Final = 0.05
# FLOPs of the same work differ by less, because profilers round them.
_SAME_WORK: Final = 0.01


@dataclass(frozen=True, eq=False)
class Straggler(EqualWhereUnknown):
    """A rank whose kernels are slower than the same kernels at the median rank. Collectives are left out.

    Attributes
    ----------
    rank
        The rank's name.
    seconds
        Seconds that its kernels take longer than the same kernels at the median rank.
    share
        These seconds over the seconds at the median rank.
    kernels
        The kernels that take longer than at the median rank, and by how many seconds, the largest first.
    flops_share
        By how much the rank's FLOPs exceed the median rank's, as a share; NaN if FLOPs are unknown.
    """

    __module__ = "roofwidget"

    rank: str
    seconds: float
    share: float
    kernels: Mapping[str, float]
    flops_share: float

    def __str__(self) -> str:
        named = [f"{one_line(name)} +{format_quantity(more, 's')}" for name, more in self.kernels.items()]
        text = f"{one_line(self.rank)} takes {format_quantity(self.seconds, 's')} more than the median rank"
        text += f" ({format_change(1.0, 1.0 + self.share)}): {first_few(named, _MAX_NAMED_KERNELS)}"
        return text + (
            f"; it has {format_change(1.0, 1.0 + self.flops_share)} FLOPs" if self.flops_share > _SAME_WORK else ""
        )


class Ranks:
    """One profile per rank of a program: r ranks, k kernels. `roofwidget.ranks` makes it.

    A row is a kernel: all launches of one name, or of one combination of the columns `match`, with its seconds (self
    time) on each rank. A collective ends at the same time on all ranks. So the rank that starts it last has the
    shortest time, and the time on other ranks is mostly waiting. Collectives therefore do not make a straggler; nor
    does time in which a device was idle or copied over a link. Only kernels of at least two ranks are compared, so
    ranks may have different stages of a pipeline.

    Parameters
    ----------
    tables
        `Kernels` by the rank's name, at least two.
    match
        The columns that identify a kernel.
    above
        A rank is a straggler if its kernels take longer than at the median rank by more than this share.

    Examples
    --------
    >>> def rank(gemm, wait):
    ...     return Kernels(["gemm", "all-reduce"], [4e12, 0], [1e9, 1e9], time=[gemm, wait])
    >>> Ranks({"rank 0": rank(0.10, 0.05), "rank 1": rank(0.13, 0.02), "rank 2": rank(0.10, 0.05)})
    Ranks: 3 ranks, 2 kernels; time of a rank 150 ms, median 150 ms
    straggler: rank 1 takes 30 ms more than the median rank (+30 %): gemm +30 ms
    waiting in collectives: 30 ms at the median rank; rank 1 comes last
    kernel      slowest          median  fastest          spread
    gemm        rank 1   130 ms  100 ms  rank 0   100 ms  30 %
    all-reduce  rank 0   50 ms   50 ms   rank 1   20 ms   60 % (waiting)
    """

    __module__ = "roofwidget"

    def __init__(self, tables: Mapping[str, Kernels], match: Sequence[str] = ("name",), above: float = _ABOVE) -> None:
        given = mapping_argument(tables, "tables", "{'rank 0': kernels, 'rank 1': others}")
        if len(given) < _MIN_RANKS:
            raise ValueError(f"ranks needs at least two ranks, got {counted(len(given), 'rank')}")
        for name, table in given.items():
            if not isinstance(table, Kernels):
                raise TypeError(f"rank '{name}' must be Kernels, got {type(table).__name__}")
            if np.isnan(table.self_time).all():
                raise ValueError(f"rank '{name}' has no times: ranks are compared by time")
        if isinstance(above, bool) or not isinstance(above, (int, float)) or not above > 0:
            raise ValueError(f"above must be a share above 0, such as 0.05 for 5 %, got {above!r:.40}")
        columns = (match,) if isinstance(match, str) else tuple(match)
        if not columns:
            raise ValueError("match needs at least one column, such as 'name'")
        self.tables: Mapping[str, Kernels] = {str(name): table for name, table in given.items()}
        self.match = tuple(text_argument(column, "match") for column in columns)
        self._above = above
        keys: dict[tuple[Any, ...], int] = {}
        self._rows = [_rows_of(table, self.match, keys) for table in self.tables.values()]
        shown = [" ".join(str(part) for part in key if part is not None) for key in keys]
        self._names = frozen(np.array(shown, dtype=object))
        self._is_collective = np.zeros(len(keys), dtype=np.bool_)
        for table, rows in zip(self.tables.values(), self._rows, strict=True):
            self._is_collective[rows[collectives(table)]] = True
        self._is_work = ~self._is_collective
        for table, rows in zip(self.tables.values(), self._rows, strict=True):
            self._is_work[rows[np.isin(non_kernels(table).astype(np.str_), NON_KERNELS)]] = False

    def __len__(self) -> int:
        return len(self._names)

    def __getstate__(self) -> dict[str, Any]:
        # A pickle must not name internal types, so the values of cached properties are left out.
        cached = {name for name, value in vars(Ranks).items() if isinstance(value, cached_property)}
        return {name: value for name, value in vars(self).copy().items() if name not in cached}

    @property
    def ranks(self) -> tuple[str, ...]:
        """The names of the ranks."""
        return tuple(self.tables)

    @property
    def names(self) -> Texts:
        """The kernels, shape (k,): names, or the values of the columns `match`."""
        return self._names

    @property
    def is_collective(self) -> Bools:
        """Whether each kernel is a collective, shape (k,)."""
        return frozen(self._is_collective)

    @cached_property
    def time(self) -> Floats:
        """Seconds of each kernel on each rank, shape (k, r); NaN where a rank has no such kernel or did not time it."""
        return self._summed([table.self_time for table in self.tables.values()])

    @cached_property
    def median(self) -> Floats:
        """The median over the ranks that have the kernel, seconds, shape (k,)."""
        return frozen(_over_ranks(np.nanmedian, self.time))

    @cached_property
    def slowest(self) -> Floats:
        """Seconds on the slowest rank, shape (k,)."""
        return frozen(_over_ranks(np.nanmax, self.time))

    @cached_property
    def fastest(self) -> Floats:
        """Seconds on the fastest rank, shape (k,)."""
        return frozen(_over_ranks(np.nanmin, self.time))

    @property
    def slowest_rank(self) -> Texts:
        """The name of the slowest rank, shape (k,); None where no rank was timed."""
        return self._named(np.argmax(np.nan_to_num(self.time, nan=-1.0), axis=1))

    @property
    def fastest_rank(self) -> Texts:
        """The name of the fastest rank, shape (k,); None where no rank was timed."""
        return self._named(np.argmin(np.nan_to_num(self.time, nan=np.inf), axis=1))

    @property
    @unwarned
    def spread(self) -> Floats:
        """Slowest minus fastest over the median, shape (k,); NaN if fewer than two ranks have the kernel."""
        return np.where(self._is_shared, (self.slowest - self.fastest) / self.median, np.nan)

    @cached_property
    def excess(self) -> Floats:
        """Seconds that the kernels of each rank take longer than the same kernels at the median rank, shape (r,).

        Collectives, idle time, and kernels that only one rank has do not count.
        """
        return frozen(np.nansum(self._excess, axis=0))

    @cached_property
    def messages(self) -> RankMessages | None:
        """The collectives that ranks ran together, one by one; None if the profiles do not have their sizes."""
        return RankMessages.of(self.tables)

    @cached_property
    def waiting(self) -> Floats:
        """Seconds that each rank waits in collectives, shape (r,).

        The wait in a collective is its time on the rank minus its time on the rank with the shortest time. Where
        profiles have single collectives, these are compared (see `messages`), and else the sums of a kernel. A
        collective of which the profile of a rank is missing does not count.
        """
        has_messages = np.zeros(len(self), dtype=np.bool_)
        if self.messages is not None:
            for table, rows in zip(self.tables.values(), self._rows, strict=True):
                has_messages[rows[is_message(table)]] = True
        times = self.time[self._is_collective & self._is_shared & ~has_messages]
        waiting = np.nansum(times - _over_ranks(np.nanmin, times)[:, None], axis=0)
        of_messages = 0.0 if self.messages is None else np.nansum(self.messages.waiting, axis=0)
        return frozen(waiting + of_messages)

    @property
    def hidden_share(self) -> Floats:
        """The share of each rank's communication that other kernels hide, shape (r,); NaN if it is unknown."""
        told = [table.communication for table in self.tables.values()]
        return frozen(np.array([np.nan if one is None else one.hidden_share for one in told]))

    @cached_property
    def last(self) -> str | None:
        """The rank that comes last to collectives, so that others wait for it; None if no rank clearly does.

        It waits less than half as long as the median rank, which waits for more than `above` of its time.
        """
        rank, usual = int(np.argmin(self.waiting)), float(np.median(self.waiting))
        total = float(np.median(np.nansum(self.time, axis=0)))
        is_clear = usual > self._above * total and self.waiting[rank] < usual / 2
        return self.ranks[rank] if is_clear else None

    @cached_property
    def stragglers(self) -> tuple[Straggler, ...]:
        """The ranks whose kernels are slower than at the median rank by more than `above`, the slowest first."""
        usual = np.nansum(np.where(np.isnan(self._excess), np.nan, self.median[:, None]), axis=0)
        order = np.argsort(-self.excess, kind="stable")
        found = [rank for rank in order.tolist() if self.excess[rank] > self._above * usual[rank]]
        return tuple(self._straggler(rank, float(usual[rank])) for rank in found)

    @property
    def _is_shared(self) -> Bools:
        """Whether at least two ranks have the kernel, shape (k,)."""
        found: Bools = np.isfinite(self.time).sum(axis=1) >= _MIN_RANKS
        return found

    @cached_property
    def _excess(self) -> Floats:
        """Seconds above the median by kernel and rank, shape (k, r); NaN where ranks are not compared."""
        is_compared = self._is_work & self._is_shared
        return np.where(is_compared[:, None], self.time - self.median[:, None], np.nan)

    @cached_property
    def kernels(self) -> Kernels:
        """All kernels of all ranks as one table, one row per kernel and rank.

        The category of a row is its rank, which is also the column ``"rank"`` of `extra`. The category in the profile
        is the column ``"category in the profile"``.
        """
        parts = {}
        for rank, table in self.tables.items():
            sums = table.groupby(*self.match)
            extra: dict[str, Any] = {**sums.extra_columns, _RANK: rank}
            if any(sums.category):
                extra["category in the profile"] = sums.codes("category")
            parts[rank] = sums.replace(extra=extra)
        chips = {table.chip for table in self.tables.values()}
        (chip,) = chips if len(chips) == 1 else (None,)
        differ = ["the ranks are of different chips"] if len(chips) > 1 else []
        warned = [f"{rank}: {text}" for rank, table in self.tables.items() for text in table.warnings]
        source = counted(len(self.tables), "rank")
        return concat(parts).replace(chip=chip, warnings=[*differ, *warned], source=source, series=True)

    def roofline(self, **traits: Any) -> RooflineWidget:
        """Return a `RooflineWidget` with the kernels of all ranks; the rank is the category, so it has the colour."""
        return self.kernels.roofline(**traits)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with one row per kernel, in the order of the first rank.

        The columns are ``kernel``, ``collective``, ``ranks`` (how many have the kernel), ``slowest_rank``, ``slowest``,
        ``median``, ``fastest_rank``, ``fastest`` (seconds), ``spread``, and ``time:RANK`` for each rank (seconds).
        """
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        columns: dict[str, Any] = {
            "kernel": self.names,
            "collective": self._is_collective,
            "ranks": np.isfinite(self.time).sum(axis=1),
            "slowest_rank": self.slowest_rank,
            "slowest": self.slowest,
            "median": self.median,
            "fastest_rank": self.fastest_rank,
            "fastest": self.fastest,
            "spread": self.spread,
        }
        times = {f"time:{rank}": self.time[:, at] for at, rank in enumerate(self.ranks)}
        return pd.DataFrame({**columns, **times})

    def __repr__(self) -> str:
        rows = [list(_HEADER), *self._lines(_MAX_LINES)]
        return "\n".join([self._title(), *self.findings, *aligned(rows), *and_more(len(self), _MAX_LINES)])

    def _repr_html_(self) -> str:
        header = ("kernel", "slowest rank", "slowest", "median", "fastest rank", "fastest", "spread")
        more = "".join(and_more(len(self), _MAX_TABLE_ROWS))
        return html_with_notes(html_table(self._title(), header, self._lines(_MAX_TABLE_ROWS), more), self.findings)

    def _title(self) -> str:
        total = np.nansum(self.time, axis=0)
        low, usual, high = (format_quantity(float(one), "s") for one in (total.min(), np.median(total), total.max()))
        span = low if low == high else f"{low} to {high}"
        what = f"{counted(len(self.tables), 'rank')}, {counted(len(self), 'kernel')}"
        return f"Ranks: {what}; time of a rank {span}, median {usual}"

    @property
    def findings(self) -> tuple[str, ...]:
        """What the ranks show, a sentence each: stragglers, communication, and which rank comes last."""
        found = [f"straggler: {one}" for one in self.stragglers[:_MAX_NAMED_RANKS]]
        found += and_more(len(self.stragglers), _MAX_NAMED_RANKS)
        if not self.stragglers:
            found.append(
                f"no straggler: no rank takes {100 * self._above:.3g} % more than the median rank in the same kernels"
            )
        found += self._about_messages()
        usual = format_quantity(float(np.median(self.waiting)), "s")
        if self.last is not None:
            text = f"waiting in collectives: {usual} at the median rank; {one_line(self.last)} comes last"
            is_slow = any(one.rank == self.last for one in self.stragglers)
            found.append(text if is_slow else f"{text}, but its kernels are no slower: look outside kernels")
        elif self.messages is not None and (self.messages.missing_ranks > 0).all():
            missing, ranks = self.messages.missing_ranks.min(), self.messages.ranks.max()
            found.append(f"{missing:g} of {ranks:g} ranks have no profile, so waiting and the last rank are unknown")
        elif self._is_collective.any():
            found.append(f"waiting in collectives: {usual} at the median rank; no rank clearly comes last")
        return tuple(found)

    def _about_messages(self) -> list[str]:
        """Return a line on the bytes and rates of the collectives, if the profiles have them."""
        parts = []
        if self.messages is not None:
            parts.append(counted(len(self.messages), "collective"))
            sent, wire = (self._at_median(self.messages, one) for one in (self.messages.sent, self.messages.wire))
            if sent > 0 and wire > 0:
                rate = format_quantity(sent / wire, "B/s")
                parts.append(f"{format_quantity(sent, 'B')} in {format_quantity(wire, 's')} on the wire ({rate})")
        hidden = self.hidden_share[~np.isnan(self.hidden_share)]
        if len(hidden):
            parts.append(f"{format_percent(float(np.median(hidden)))} hidden behind other kernels")
        return [f"communication at the median rank: {', '.join(parts)}"] if parts else []

    @staticmethod
    def _at_median(messages: RankMessages, column: Floats) -> float:
        """Return the sum over a rank's messages whose bytes and wire are known, at the median rank."""
        takes_part = ~np.isnan(messages.waiting) & ~np.isnan(messages.sent)[:, None]
        return float(np.median(np.where(takes_part, column[:, None], 0.0).sum(axis=0)))

    def _lines(self, most: int) -> list[list[str]]:
        """Return the kernels with the largest difference between ranks; collectives and idle time come last."""
        gap = np.nan_to_num(self.slowest - self.fastest, nan=-1.0)
        order = np.lexsort((-gap, ~self._is_work))[:most]
        return [
            [
                one_line(self._names[row]),
                one_line(self.slowest_rank[row] or ""),
                format_quantity(float(self.slowest[row]), "s"),
                format_quantity(float(self.median[row]), "s"),
                one_line(self.fastest_rank[row] or ""),
                format_quantity(float(self.fastest[row]), "s"),
                _share(float(self.spread[row])) + (" (waiting)" if self._is_collective[row] else ""),
            ]
            for row in order.tolist()
        ]

    def _straggler(self, rank: int, usual: float) -> Straggler:
        more = np.nan_to_num(self._excess[:, rank])
        order = np.argsort(-more, kind="stable")
        kernels = {self._names[row]: float(more[row]) for row in order.tolist() if more[row] > 0}
        flops = [float(np.nansum(table.flops)) for table in self.tables.values()]
        middle = float(np.median(flops))
        flops_share = flops[rank] / middle - 1 if middle > 0 else float("nan")
        seconds = float(self.excess[rank])
        return Straggler(self.ranks[rank], seconds, seconds / usual if usual else np.inf, kernels, flops_share)

    def _summed(self, columns: Sequence[Floats]) -> Floats:
        found = np.full((len(self._names), len(columns)), np.nan)
        for at, (rows, column) in enumerate(zip(self._rows, columns, strict=True)):
            known = ~np.isnan(column)
            has = np.bincount(rows[known], minlength=len(self._names)) > 0
            found[has, at] = np.bincount(rows[known], column[known], len(self._names))[has]
        return frozen(found)

    def _named(self, ranks: Rows) -> Texts:
        found = np.array(self.ranks, dtype=object)[ranks]
        found[np.isnan(self.time).all(axis=1)] = None
        return frozen(found)


def _rows_of(table: Kernels, match: Sequence[str], keys: dict[tuple[Any, ...], int]) -> Rows:
    """Return for each row of a table the number of its kernel. New kernels are added to `keys`."""
    columns = [column_of(table, name, "ranks: a table") for name in match]
    cells = [column.texts().tolist() if isinstance(column, DictColumn) else column.tolist() for column in columns]
    return np.array([keys.setdefault(key, len(keys)) for key in zip(*cells, strict=True)], dtype=np.intp)


def _over_ranks(function: Any, times: Floats) -> Floats:
    """Return a statistic of each row without unknown times; NaN for a row that has only these."""
    found = np.full(len(times), np.nan)
    known = np.isfinite(times).any(axis=1)
    if known.any():
        found[known] = function(times[known], axis=1)
    return found


def _share(value: float) -> str:
    return "" if np.isnan(value) else f"{format_significant(100 * value)} %"
