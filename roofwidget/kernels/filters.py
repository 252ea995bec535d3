"""The filters of kernels: which rows of a table are shown.

`js/src/roofline/filters.ts` mirrors this file. The tests compare both with `tests/golden/filters.json`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.kernels.columns import TIE_TOLERANCE, Bools, DictColumn, Floats, Texts, folded, is_number, is_whole
from roofwidget.kernels.metadata import Rows
from roofwidget.support.did_you_mean import listed, nearest

if TYPE_CHECKING:
    from roofwidget.chips import Chip
    from roofwidget.kernels.table import Kernels

RESOURCES: Final = ("compute", "network", "overhead", "unknown")
"""The resources that can bind a kernel, apart from memory levels."""
PHASE: Final = "phase"
"""The column of `Kernels.extra` with the phase of a model or a training step in which each kernel ran."""

# All characters are listed, because Python and JavaScript disagree on which characters are white space.
_BLANKS: Final = re.compile("[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")


@dataclass(frozen=True)
class Filters:
    """Filters of kernels. A kernel is shown if it passes all filters. By default each filter lets every kernel pass.

    Parameters
    ----------
    search
        Words that must all occur in the name, in any case and order; ``*`` matches any characters within a word.
    categories, precisions
        Only kernels of these categories or precisions; ``""`` selects kernels without a category or precision. None
        switches the filter off.
    bounds
        Only kernels that are bound by one of these resources: ``compute``, a level's name, ``network``, ``overhead``,
        ``unknown``. None switches the filter off.
    time_share
        Keep the longest kernels that together reach this share of the table's self time. Equally long kernels are taken
        in the table's order. 1 keeps all kernels, also those that were not measured. In a table without times all
        kernels pass.
    top
        How many of the kernels that pass all other filters to keep: first the longest by self time, then kernels that
        were not measured. Equally long kernels are taken in the table's order. None means no limit.
    infeed
        Whether to keep kernels whose category contains "infeed" or "outfeed", in any case.
    phases
        Only kernels of these phases, such as "prefill"; ``""`` selects kernels without a phase. None switches the
        filter off.

    Examples
    --------
    >>> import roofwidget as rw
    >>> kernels = rw.Kernels(["fusion.1", "copy", "fusion.2"], [1, 0, 1], [1, 1, 1], time=[1, 5, 4])
    >>> Filters(search="FUS*2").rows(kernels).tolist(), Filters(time_share=0.9).rows(kernels).tolist()
    ([2], [1, 2])
    """

    search: str = ""
    categories: tuple[str, ...] | None = None
    bounds: tuple[str, ...] | None = None
    precisions: tuple[str, ...] | None = None
    time_share: float = 1.0
    top: int | None = None
    infeed: bool = True
    phases: tuple[str, ...] | None = None

    def rows(self, kernels: Kernels, bound_by: Callable[[], Texts] | None = None) -> Rows:
        """Return the rows that pass, in the table's order.

        `bound_by` returns the resource that binds each kernel. It is required if `bounds` is set; otherwise it is not
        called.
        """
        passes = _longest(kernels.self_time, self.time_share)
        if self.search:
            passes &= kernels.codes("name").where(name_search(self.search))
        if self.categories is not None:
            passes &= kernels.codes("category").where(_among(self.categories))
        if self.precisions is not None:
            passes &= kernels.codes("precision").where(_among(self.precisions))
        if self.phases is not None:
            passes &= phase_column(kernels).where(_among(self.phases))
        if not self.infeed:
            passes &= ~kernels.codes("category").where(is_feed)
        if self.bounds is not None and bound_by is not None:
            passes &= np.isin(bound_by().astype(np.str_), self.bounds)
        rows = np.flatnonzero(passes)
        if self.top is not None and self.top < len(rows):
            rows = np.sort(rows[np.argsort(-kernels.self_time[rows], kind="stable")[: self.top]])
        return rows


def phase_column(kernels: Kernels) -> DictColumn:
    """Return the phase of each kernel, the column ``"phase"`` of `Kernels.extra`; None for each without this column."""
    column = kernels.extra_columns.get(PHASE)
    return column if isinstance(column, DictColumn) else DictColumn((None,), np.zeros(len(kernels), dtype=np.int32))


def whole_from_one(value: Any, what: str) -> int:
    """Return a positive whole number. Anything else raises an error that names `what`.

    Examples
    --------
    >>> whole_from_one(5, "n")
    5
    """
    if not is_whole(value):
        raise TypeError(f"{what} must be a whole number, got {value!r:.60}")
    if value < 1:
        raise ValueError(f"{what} must be at least 1, got {value}")
    return int(value)


def share_above_zero(value: Any) -> float:
    """Return a share above 0 and at most 1. Anything else raises an error.

    Examples
    --------
    >>> share_above_zero(1)
    1.0
    """
    if not is_number(value):
        raise TypeError(f"time_share must be a number, got {value!r:.60}")
    if not 0 < value <= 1:
        raise ValueError(f"time_share must be above 0 and at most 1, such as 0.9 for 90 %, got {value!r:.60}")
    return float(value)


def checked_text(value: Any, what: str) -> str:
    """Return a text. Anything else raises an error that names the argument `what`."""
    if not isinstance(value, str):
        raise TypeError(f"filter: {what} must be text, got {value!r:.60}")
    return value


def _as_list(given: Any, what: str) -> list[str]:
    words = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    return [checked_text(word, what) for word in words]


def known_values(given: Any, what: str, column: DictColumn, *, casefold: bool = False) -> tuple[str, ...] | None:
    """Return the given texts as a tuple. Raise an error for a text that no kernel has."""
    if given is None:
        return None
    words = [folded(word) if casefold else word for word in _as_list(given, what)]
    there = dict.fromkeys(column.values[code] or "" for code in dict.fromkeys(column.codes.tolist()))
    for word in words:
        if word and word not in there:
            options = [name for name in there if name]
            msg = f"filter: {what}: no kernel has '{word}'"
            near = nearest(word, options) or options
            raise ValueError(f"{msg}; nearest: {listed(near)}" if near else f"{msg} or any other")
    return tuple(words)


def known_resources(given: Any, chip: Chip | None) -> tuple[str, ...] | None:
    """Return the given resources in the chip's spelling. Raise an error for a resource that the chip does not have."""
    if given is None or chip is None:
        return None
    by_key = {name.casefold(): name for name in (*RESOURCES, *chip.memories)}
    words = _as_list(given, "bounds")
    for word in words:
        if word.casefold() not in by_key:
            options = list(by_key.values())
            near = nearest(word, options) or options
            raise ValueError(f"filter: '{word}' binds no kernel on {chip.name}; nearest: {listed(near)}")
    return tuple(by_key[word.casefold()] for word in words)


def share_of_time(kernels: Kernels, rows: Rows) -> float:
    """Return the share of these rows in the table's self time; NaN if the table has no times.

    Examples
    --------
    >>> import roofwidget as rw
    >>> share_of_time(rw.Kernels(["a", "b", "c"], [1, 1, 1], [1, 1, 1], time=[1, 3, float("nan")]), [1, 2])
    0.75
    """
    total = float(np.nansum(kernels.self_time))
    return float(np.nansum(kernels.self_time[rows])) / total if total > 0 else float("nan")


def small(text: str) -> str:
    """Return a text in lower case, in the form that a search compares.

    A final sigma becomes a plain sigma, and a combining dot on an i is dropped. So the lower case of each letter is one
    character, whatever letters are beside it.

    Examples
    --------
    >>> small("ΟΔΟΣ"), small("İSTANBUL"), small("Straße")
    ('οδοσ', 'istanbul', 'straße')
    """
    lower = text.lower()
    return lower if lower.isascii() else lower.replace("ς", "\u03c3").replace("i\u0307", "i")


def is_feed(category: str | None) -> bool:
    """Return whether a category means that the device waits for data from the host.

    Examples
    --------
    >>> is_feed("Infeed"), is_feed("host outfeed"), is_feed("copy")
    (True, True, False)
    """
    name = (category or "").lower()
    return "infeed" in name or "outfeed" in name


def name_search(search: str) -> Callable[[str | None], bool]:
    """Return a function that says whether a name matches a search; see `Filters`.

    Examples
    --------
    >>> [name_search("flash*fwd")(name) for name in ("void Flash_FWD_kernel", "flash_bwd")]
    [True, False]
    """
    words = [word.split("*") for word in _BLANKS.split(small(search)) if word]

    def found(name: str | None) -> bool:
        text = small(name or "")
        return all(_occurs(parts, text) for parts in words)

    return found


def _occurs(parts: list[str], text: str) -> bool:
    """Return whether all given parts of a word occur in the text, one after the other."""
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def _among(wanted: tuple[str, ...]) -> Callable[[str | None], bool]:
    known = frozenset(wanted)
    return lambda word: (word or "") in known


def _longest(seconds: Floats, share: float) -> Bools:
    passes = np.ones(len(seconds), dtype=np.bool_)
    order = np.argsort(-seconds, kind="stable")
    summed = np.cumsum(seconds[order][: np.count_nonzero(~np.isnan(seconds))])
    if share >= 1 or not summed.size or not summed[-1] > 0:
        return passes
    # Without the tolerance a rounding error of the sum could add one more kernel.
    enough = int(np.searchsorted(summed, share * summed[-1] * (1 - TIE_TOLERANCE)))
    passes[order[enough + 1 :]] = False
    return passes
