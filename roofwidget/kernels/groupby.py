"""Sums over groups of kernels. FLOPs, bytes and seconds are added, so every ratio is a ratio of sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.chips import NETWORK, is_off_chip
from roofwidget.kernels import low_level
from roofwidget.kernels.columns import ASKED_PRECISION, Bools, DictColumn, Floats, unwarned
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.non_kernels import non_kernels
from roofwidget.kernels.unknown_work import has_unknown_work
from roofwidget.support.did_you_mean import listed, nearest

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

PER_LAUNCH: Final = ("time min (s)", "time median (s)", "time max (s)")
"""The columns that grouping adds to `Kernels.extra`: seconds per launch."""
KNOWN_SHARE: Final = "known share of time"
"""The column that grouping adds where work is unknown: the share of a group's time in kernels of known work."""

_MAX_ORIGINS_NAMED: Final = 3
Codes = npt.NDArray[np.int32]


def grouped(kernels: Kernels, by: Sequence[str]) -> Kernels:
    """Return a table with one row per unique combination of values in the columns `by`; see `Kernels.groupby`."""
    groups = _Groups.of([_keys(column_of(kernels, name, "groupby: the table")) for name in by], len(kernels))
    flops, unknown_flops = _summed_flops(kernels, groups)
    moved, unknown_bytes = _summed_bytes(kernels, groups)
    time = groups.sum(kernels.time)
    unknown_time = np.isnan(time) & groups.has(~np.isnan(kernels.time))
    unknown = {"FLOPs": unknown_flops, "bytes": unknown_bytes, "seconds": unknown_time}
    own = (*PER_LAUNCH, KNOWN_SHARE)
    extra = {name: groups.shared(column) for name, column in kernels.extra_columns.items() if name not in own}
    extra |= _low_level(kernels, groups, extra)
    launches, owner = _launches(kernels, groups)
    return kernels.replace(
        names=_names(kernels, groups, by),
        flops=flops,
        bytes=moved,
        time=time,
        precision=groups.shared_words(kernels.codes("precision")),
        category=groups.shared_words(kernels.codes("category")),
        count=groups.sum(kernels.count),
        self_time=groups.sum(kernels.self_time) if kernels.has_self_time else None,
        intensity=groups.shared(kernels.intensity),
        rate=groups.shared(kernels.rate),
        origin={key: groups.joined(kernels.codes(f"origin:{key}")) for key in kernels.origin},
        extra=extra | _per_launch(launches, owner, len(groups)) | _known_share(kernels, groups),
        launches=launches,
        launch_rows=owner,
        warnings=[*kernels.warnings, *_remarks(unknown)],
    )


@dataclass(frozen=True)
class _Groups:
    """The group of each row, and the rows ordered by group.

    Parameters
    ----------
    group
        The group of each row, shape (n,).
    order
        The rows, group by group, shape (n,). Within a group they keep the order of the table.
    start
        The start of each group in `order`, shape (groups,).
    """

    group: Rows
    order: Rows
    start: Rows

    @classmethod
    def of(cls, columns: Sequence[Codes], n: int) -> _Groups:
        key = np.zeros(n, dtype=np.int64)
        for codes in columns:
            _, key = np.unique(key * (codes.max(initial=0) + 1) + codes, return_inverse=True)
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.intp)
        rank[np.argsort(first, kind="stable")] = np.arange(len(first))
        group = rank[group]
        return cls.numbered(group, len(first))

    @classmethod
    def numbered(cls, group: Rows, count: int) -> _Groups:
        order = np.argsort(group, kind="stable")
        return cls(group, order, np.searchsorted(group[order], np.arange(count)))

    def __len__(self) -> int:
        return len(self.start)

    @property
    def size(self) -> Rows:
        return np.diff(self.start, append=len(self.order))

    @property
    def first(self) -> Rows:
        """The first row of each group."""
        return self.order[self.start]

    def sum(self, column: npt.NDArray[Any]) -> Floats:
        """Return the sum of each group; NaN if any value in the group is NaN."""
        return self._reduced(np.add, column)

    def sum_of_known(self, column: Floats) -> Floats:
        """Return the sum of the known amounts of each group; NaN for a group without a known amount."""
        known = self.sum(~np.isnan(column))
        return np.where(known > 0, self.sum(np.nan_to_num(column)), np.nan)

    def has(self, rows: Bools) -> Bools:
        """Return a mask of the groups that contain one of these rows."""
        return self.sum(rows) > 0

    @unwarned
    def _reduced(self, function: np.ufunc, column: npt.NDArray[Any]) -> Floats:
        if not len(self):
            return np.zeros(0)
        found: Floats = function.reduceat(column[self.order].astype(np.float64), self.start)
        return found

    def is_shared(self, column: npt.NDArray[Any]) -> Bools:
        """Return a mask of the groups in which all rows have the same value. NaN counts as equal to NaN."""
        low, high = self._reduced(np.minimum, column), self._reduced(np.maximum, column)
        nothing = self.sum(np.isnan(column)) == self.size if column.dtype.kind == "f" else False
        found: Bools = (low == high) | nothing
        return found

    def shared(self, column: Floats | DictColumn) -> Floats | DictColumn:
        """Return for each group the value that all its rows share. If they differ: NaN for numbers, None for texts."""
        if isinstance(column, DictColumn):
            return self.shared_words(column)
        return np.where(self.is_shared(column), column[self.first], np.nan)

    def shared_words(self, column: DictColumn) -> DictColumn:
        codes = np.where(self.is_shared(column.codes), column.codes[self.first], len(column.values))
        return DictColumn((*column.values, None), codes.astype(np.int32))

    def joined(self, column: DictColumn) -> DictColumn:
        """Return a text for each group.

        If all rows of a group have the same text, the result is this text. If the texts differ, the result joins the
        first few of them.
        """
        words: dict[str | None, int] = {word: code for code, word in enumerate(column.values)}
        codes = column.codes[self.first].astype(np.int32)
        for group in np.flatnonzero(~self.is_shared(column.codes)):
            end = self.start[group + 1] if group + 1 < len(self) else None
            found = dict.fromkeys(column.codes[self.order[self.start[group] : end]].tolist())
            texts = [column.values[code] or "unknown" for code in found]
            more = [f"{len(texts) - _MAX_ORIGINS_NAMED} more"] if len(texts) > _MAX_ORIGINS_NAMED else []
            codes[group] = words.setdefault("; ".join([*texts[:_MAX_ORIGINS_NAMED], *more]), len(words))
        return DictColumn(tuple(words), codes)


def column_of(kernels: Kernels, name: str, where: str) -> Floats | DictColumn:
    """Return the column called `name`: ``name``, ``precision``, ``category`` or a column of `Kernels.extra`."""
    extra = kernels.extra_columns
    if name in extra:
        return extra[name]
    known = ["name", "precision", "category", *extra]
    if name in known:
        return kernels.codes(name)
    raise ValueError(f"{where} has no column '{name}'; nearest: {listed(nearest(name, known) or known)}")


def _keys(column: Floats | DictColumn) -> Codes:
    if isinstance(column, DictColumn):
        # `values` can contain None twice (see `shared_words`), with two codes. Here equal values get the same code.
        same: dict[str | None, int] = {}
        return np.array([same.setdefault(word, len(same)) for word in column.values], dtype=np.int32)[column.codes]
    _, codes = np.unique(column, return_inverse=True, equal_nan=True)
    return codes.astype(np.int32)


def _names(kernels: Kernels, groups: _Groups, by: Sequence[str]) -> list[str]:
    first = groups.first
    if "name" in by:
        return list(kernels.names[first])
    columns = [column_of(kernels, name, "groupby: the table")[first] for name in by]
    parts = [column.texts() if isinstance(column, DictColumn) else column for column in columns]
    return [" · ".join(_shown(value) for value in values) for values in zip(*parts, strict=True)]


def _shown(value: object) -> str:
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return "unknown"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _summed_flops(kernels: Kernels, groups: _Groups) -> tuple[dict[str, Floats], Bools]:
    """Return the sums by precision, and a mask of groups whose sums are unknown although some rows are known.

    If the rows of a group differ in precision, plain FLOPs of a row are added to the FLOPs of the row's precision.
    """
    unknown = np.isnan(kernels.flops)
    columns = dict(kernels.flops_by_precision)
    words = kernels.codes("precision")
    mixed = ~groups.is_shared(words.codes)[groups.group]
    plain = columns.get(ASKED_PRECISION)
    if plain is not None and mixed.any():
        rest = plain.copy()
        for code, word in enumerate(words.values):
            moved = mixed & (words.codes == code) & ~np.isnan(plain)
            if word is None or not moved.any():
                continue
            there = columns.get(word, np.full(len(plain), np.nan))
            columns[word] = np.where(moved, np.nan_to_num(there) + plain, there)
            rest[moved] = np.nan
        columns[ASKED_PRECISION] = rest
    lost = groups.has(unknown)
    sums = {word: np.where(lost, np.nan, groups.sum_of_known(column)) for word, column in columns.items()}
    return sums, lost & groups.has(~unknown)


def _summed_bytes(kernels: Kernels, groups: _Groups) -> tuple[dict[str, Floats], Bools]:
    """Return the sums by level, and a mask of groups with unknown main-memory bytes although some rows are known.

    Names of off-chip memory, such as "HBM" and "DRAM", mean the same memory, so a row needs bytes under only one of
    these names. At any other memory level a missing amount is unknown. For the network a missing amount counts as zero,
    because readers give no amount if no bytes cross the link.
    """
    columns = kernels.bytes_by_level
    outside = [column for level, column in columns.items() if is_off_chip(level)]
    unknown = np.all([np.isnan(column) for column in outside], axis=0) if outside else np.ones(len(kernels), np.bool_)
    lost = groups.has(unknown)
    sums = {
        level: np.where(lost, np.nan, groups.sum_of_known(column))
        if is_off_chip(level)
        else groups.sum_of_known(column)
        if level.casefold() == NETWORK
        else groups.sum(column)
        for level, column in columns.items()
    }
    return sums, lost & groups.has(~unknown)


def _launches(kernels: Kernels, groups: _Groups) -> tuple[Kernels, Rows]:
    """Return the rows to add up, and the group of each row. The rows are the table's launches if it has launches."""
    before, owner = kernels.launches_with_rows()
    return (kernels, groups.group) if before is None else (before, groups.group[owner])


def _per_launch(launches: Kernels, owner: Rows, count: int) -> dict[str, Floats]:
    """Return the shortest, median and longest launch of each group, seconds; NaN if a launch has no time."""
    each = launches.time / launches.count
    inner = _Groups.numbered(owner, count)
    order = np.lexsort((each, owner))
    weights = np.cumsum(launches.count[order])
    total = inner.sum(launches.count)
    before = np.cumsum(total) - total

    def at(place: Floats) -> Floats:
        rows = np.searchsorted(weights, before + place, side="right")
        return each[order[np.minimum(rows, len(order) - 1)]] if len(order) else np.zeros(0)

    middle = (at((total - 1) // 2) + at(total // 2)) / 2
    least, most = at(np.zeros(count)), at(total - 1)
    unknown = inner.has(np.isnan(each))
    parts = dict(zip(PER_LAUNCH, (least, middle, most), strict=True))
    return {name: np.where(unknown, np.nan, column) for name, column in parts.items()}


def _low_level(
    kernels: Kernels, groups: _Groups, shared: Mapping[str, Floats | DictColumn]
) -> Mapping[str, Floats | DictColumn]:
    """Return the low-level columns of the groups. The number of a text, such as a stall, is known where the text is."""
    found: dict[str, Floats | DictColumn] = {}
    for name, column in low_level.summed(kernels.extra_columns, kernels.time, groups.sum).items():
        same: Any = shared[name]
        text = shared.get(name.removesuffix(" (%)"))
        is_known = text.where(bool) if isinstance(text, DictColumn) else True
        # The mean of equal numbers is this number, without rounding.
        is_mean = np.isnan(same) | low_level.LOW_LEVEL_COLUMNS[name].adds
        found[name] = np.where(is_known, np.where(is_mean, column, same), np.nan)
    return found


@unwarned
def _known_share(kernels: Kernels, groups: _Groups) -> dict[str, Floats]:
    """Return the share of each group's self time in kernels of known work; nothing if all groups are wholly known.

    It is NaN for a group without kernels, such as idle time, and for one without times.
    """
    is_kernel = np.array([kind is None for kind in non_kernels(kernels)], dtype=np.bool_)
    before = kernels.extra_columns.get(KNOWN_SHARE)
    of_row = np.where(has_unknown_work(kernels), 0.0, 1.0)
    if isinstance(before, np.ndarray):
        of_row = np.where(np.isnan(before), of_row, before)
    time = np.where(is_kernel, np.nan_to_num(kernels.self_time), 0.0)
    share = groups.sum(time * of_row) / groups.sum(time)
    return {KNOWN_SHARE: share} if (share < 1).any() else {}


def _remarks(unknown: Mapping[str, Bools]) -> list[str]:
    return [
        f"{what} of {int(rows.sum())} of {len(rows)} groups are unknown: a part of each of these groups is unknown"
        for what, rows in unknown.items()
        if rows.any()
    ]
