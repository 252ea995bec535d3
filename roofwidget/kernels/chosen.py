"""Some kernels of a table: those that lead it by a column, and those that pass filters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from roofwidget.kernels.columns import DictColumn, Floats, folded
from roofwidget.support.did_you_mean import keywords, listed, nearest

if TYPE_CHECKING:
    from roofwidget.chips import Chip
    from roofwidget.kernels.table import Kernels

__all__ = ["ANSWERS", "Chosen", "share_above_zero", "whole_from_one"]

ANSWERS: Final = ("compute", "network", "overhead", "unknown")
"""What binds a kernel, beside the names of memory levels."""

_OWN: Final = ("time", "self_time", "flops", "bytes", "count", "arithmetic_intensity", "achieved")
_JUDGED: Final = ("headroom", "utilization", "roof_fraction", "peak_fraction", "attainable")


class Chosen:
    """The part of `Kernels` that picks rows."""

    if TYPE_CHECKING:
        chip: Chip | None

    @keywords("Kernels.top")
    def top(self, n: int = 5, by: str = "headroom", chip: Chip | str | None = None) -> Kernels:
        """Return the n kernels with the largest of something, largest first; of equals the first of the table.

        Where it is not known a kernel comes last.

        Parameters
        ----------
        n
            How many; all there are if these are fewer.
        by
            ``"headroom"`` (what reaching the roof is worth, seconds), ``"utilization"``, ``"roof_fraction"``,
            ``"peak_fraction"`` or ``"attainable"``, as `roofwidget.bound` says them of `chip`; ``"time"``,
            ``"self_time"``, ``"flops"``, ``"bytes"``, ``"count"``, ``"arithmetic_intensity"`` or ``"achieved"``; or a
            column of numbers of `extra`.
        chip
            The chip, or the name of one; by default the one they ran on. A kernel that it lacks a figure for comes
            last.

        Raises
        ------
        TypeError, ValueError
            If n is no whole number from 1, `by` is nothing known (the nearest is named), or a chip is needed and there
            is none.

        Examples
        --------
        >>> import roofwidget as rw
        >>> table = rw.Kernels(["matmul", "copy", "gelu"], [4e14, 0, 1e12], [1e12, 2e12, 1e12], time=[9, 3, 4])
        >>> table.top(2, chip=rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})).names.tolist()
        ['matmul', 'gelu']
        >>> table.top(1, by="bytes").names.tolist()
        ['copy']
        """
        column = self._ranked_by(by, chip)
        return self._table()[np.argsort(-column, kind="stable")[: whole_from_one(n, "top: n")]]

    @keywords("Kernels.filter")
    def filter(
        self,
        search: str = "",
        *,
        categories: Iterable[str] | str | None = None,
        bounds: Iterable[str] | str | None = None,
        precisions: Iterable[str] | str | None = None,
        time_share: float = 1.0,
        top: int | None = None,
        infeed: bool = True,
        chip: Chip | str | None = None,
    ) -> Kernels:
        """Return the kernels that pass all of these filters, in the table's order.

        Parameters
        ----------
        search
            Words that all occur in the name, in any case and order; ``*`` in a word is any run of characters.
        categories, precisions
            Only kernels of these; ``""`` is for those without one.
        bounds
            Only kernels that are bound by one of these on `chip`: ``"compute"``, a level's name, ``"network"``,
            ``"overhead"``, ``"unknown"``.
        time_share
            The fewest kernels that make up this share of the whole table's self time, such as 0.9.
        top
            Of those that pass all else the first so many by self time.
        infeed
            Whether categories that contain "infeed" or "outfeed" are among them.
        chip
            The chip, or the name of one; by default the one they ran on. Only for `bounds`.

        Raises
        ------
        TypeError, ValueError
            For a value of the wrong kind or out of its range; for a category or precision that no kernel has, or an
            answer that is none on the chip (the nearest are named); and for `bounds` without a chip.

        Examples
        --------
        >>> import roofwidget as rw
        >>> names = ["fusion.1", "copy", "fusion.2"]
        >>> table = rw.Kernels(names, [1, 0, 1], [1, 1, 1], time=[1, 5, 4], category=["loop", None, "loop"])
        >>> table.filter("fus*2").names.tolist(), table.filter(time_share=0.9).names.tolist()
        (['fusion.2'], ['copy', 'fusion.2'])
        >>> table.filter(categories="loop", top=1).names.tolist()
        ['fusion.2']
        """
        from roofwidget.kernels.filters import Filters  # noqa: PLC0415 - it needs this class

        table = self._table()
        judge = _chip_of(table, chip, "filter(bounds=…)") if bounds is not None else None
        filters = Filters(
            _text(search, "search"),
            _known(categories, "categories", table.codes("category")),
            _answers(bounds, judge),
            _known(precisions, "precisions", table.codes("precision"), casefold=True),
            share_above_zero(time_share),
            None if top is None else whole_from_one(top, "filter: top"),
            bool(infeed),
        )
        from roofwidget.analysis.bound_lenient import bound_lenient  # noqa: PLC0415 - it needs this class

        return table[filters.rows(table, None if judge is None else lambda: bound_lenient(table, judge).bound_by)]

    def _table(self) -> Kernels:
        return cast("Kernels", self)

    def _ranked_by(self, by: str, chip: Chip | str | None) -> Floats:
        table = self._table()
        if by in _OWN:
            return cast("Floats", getattr(table, by))
        if by in _JUDGED:
            from roofwidget.analysis.bound_lenient import bound_lenient  # noqa: PLC0415 - it needs this class

            return cast("Floats", getattr(bound_lenient(table, _chip_of(table, chip, f"top(by='{by}')")), by))
        numbers = {name: column for name, column in table.extra_columns.items() if not isinstance(column, DictColumn)}
        if by not in numbers:
            options = [*_JUDGED, *_OWN, *numbers]
            msg = f"top: there is no '{by}' to rank by; nearest: {listed(nearest(str(by), options) or options)}"
            raise ValueError(msg)
        return numbers[by]


def whole_from_one(value: Any, what: str) -> int:
    """Return a whole number from 1, else raise an error that names what it is for.

    Examples
    --------
    >>> whole_from_one(5, "n")
    5
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        msg = f"{what} must be a whole number, got {value!r:.60}"
        raise TypeError(msg)
    if value < 1:
        msg = f"{what} must be from 1, got {value}"
        raise ValueError(msg)
    return int(value)


def share_above_zero(value: Any) -> float:
    """Return a share above 0 and up to 1.

    Examples
    --------
    >>> share_above_zero(1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        msg = f"time_share must be a number, got {value!r:.60}"
        raise TypeError(msg)
    if not 0 < value <= 1:
        msg = f"time_share must be above 0 and at most 1, such as 0.9 for 90 %, got {value!r:.60}"
        raise ValueError(msg)
    return float(value)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        msg = f"filter: {what} must be text, got {value!r:.60}"
        raise TypeError(msg)
    return value


def _words(given: Any, what: str) -> list[str]:
    words = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    return [_text(word, what) for word in words]


def _known(given: Any, what: str, column: DictColumn, *, casefold: bool = False) -> tuple[str, ...] | None:
    """Return the words, if some kernel has each of them."""
    if given is None:
        return None
    words = [folded(word) if casefold else word for word in _words(given, what)]
    there = dict.fromkeys(column.values[code] or "" for code in dict.fromkeys(column.codes.tolist()))
    for word in words:
        if word and word not in there:
            options = [name for name in there if name]
            msg = f"filter: no kernel has '{word}' of {what}"
            near = nearest(word, options) or options
            raise ValueError(f"{msg}; nearest: {listed(near)}" if near else f"{msg}: none is told")
    return tuple(words)


def _answers(given: Any, chip: Chip | None) -> tuple[str, ...] | None:
    if given is None or chip is None:
        return None
    by_key = {name.casefold(): name for name in (*ANSWERS, *chip.memories)}
    words = _words(given, "bounds")
    for word in words:
        if word.casefold() not in by_key:
            options = list(by_key.values())
            near = nearest(word, options) or options
            msg = f"filter: '{word}' binds no kernel on {chip.name}; nearest: {listed(near)}"
            raise ValueError(msg)
    return tuple(by_key[word.casefold()] for word in words)


def _chip_of(kernels: Kernels, chip: Chip | str | None, what: str) -> Chip:
    from roofwidget.chips import chip as look_up  # noqa: PLC0415 - the catalogue is read only for a name

    if chip is not None:
        return look_up(chip)
    if kernels.chip is None:
        msg = f"{what} needs a chip, as these kernels do not tell which one they ran on: give chip="
        raise ValueError(msg)
    return kernels.chip
