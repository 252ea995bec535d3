"""Checks which names are allowed in the filters of kernels and in the columns of the kernel table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from roofwidget.chips import Chip
from roofwidget.kernels.filters import RESOURCES
from roofwidget.state.field import Refused
from roofwidget.support.did_you_mean import listed, nearest

TABLE_COLUMNS: Final = (
    *("rank", "name", "category", "precision", "count", "time", "self_time", "share", "cumulative_share", "flops"),
    *("achieved", "attainable", "bound_by", "bound_time", "utilization", "roof_fraction", "peak_fraction", "headroom"),
)
"""The keys of the table's own columns; the key of a file's column is its name."""
TABLE_COLUMNS_BY: Final = ("flops", "bytes", "ai", "rate", "bandwidth_utilization")
"""Columns of one precision or level: ``flops:fp16``, ``ai:HBM``. A file's own column ``rank`` is ``extra:rank``."""

COLOUR_COLUMNS: Final = ("category", "precision", "time", "self_time", "count", "flops")
"""The table's own columns that can give points their colours."""


def known_bounds(chips: Iterable[Chip], focus_chip: str) -> dict[str, str]:
    """Return a dict of the resources that can bind a kernel, such as ``{"hbm": "HBM", "compute": "compute"}``.

    A key is the name in lower case. Its value is the name in its usual spelling. If two chips spell a memory level
    differently, the value is the spelling of the focus chip.
    """
    # In a dict, a later entry replaces an earlier entry with the same key. So the focus chip must be last.
    ordered = sorted(chips, key=lambda chip: chip.id == focus_chip)
    return {name.casefold(): name for name in (*(level for chip in ordered for level in chip.memories), *RESOURCES)}


def check_bounds(names: Iterable[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names in the spelling of `known`, without duplicates. Raise `Refused` for an unknown name."""
    found: dict[str, None] = {}
    for name in names:
        if name.casefold() not in known:
            near = nearest(name, known.values()) or known.values()
            raise Refused(f"bounds: '{name[:60]}' binds no kernel on any of the chips; nearest: {listed(near)}")
        found[known[name.casefold()]] = None
    return tuple(found)


def bounds_after(bounds: tuple[str, ...], known: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the names in `bounds` that are still known after a change of chips.

    If no name in `bounds` is still known, return None, which means no filter.
    """
    kept = tuple(known[name.casefold()] for name in bounds if name.casefold() in known)
    # If a change of chips removes all names of a filter, remove the filter: it would hide all kernels. If the filter
    # was empty before, the user wants to hide all kernels, so keep the filter.
    return kept or (None if bounds else ())


def column_key(key: str, extra: Collection[str], trait: str) -> str:
    """Return the key of a column of the kernel table: "site" for "extra:site", a file's own column.

    A key without "extra:" stays as it is. If the table itself has a column "site", "extra:site" stays too.

    For example, "ai:HBM" is allowed even if no chip has the memory level HBM now: a later chip may have this level.

    Raises
    ------
    Refused
        If the key is no column of the table and is not in `extra`, the extra columns of the kernels.
    """
    first, _, name = key.partition(":")
    if first == "extra" and name:
        return key if _is_own(name) else name
    if _is_own(key) or key in extra:
        return key
    options = [*TABLE_COLUMNS, *extra]
    near = nearest(key, options) or options
    forms = " or ".join(f"'{word}:…'" for word in (*TABLE_COLUMNS_BY, "extra"))
    raise Refused(f"{trait}: the table has no column '{key[:60]}'; nearest: {listed(near)}; or {forms}")


def named_key(key: str, extra: Collection[str]) -> str:
    """Return the key by which `column_key` accepts a column for any kernels: "extra:site" if they have no "site"."""
    return key if _is_own(key) or key in extra or key.startswith("extra:") else f"extra:{key}"


def colour_column(key: str, extra: Collection[str]) -> str:
    """Return the key of the column that gives points their colours, after a check.

    Raises
    ------
    Refused
        If the key is neither in `COLOUR_COLUMNS` nor in `extra`, the extra columns of the kernels, nor "extra:…".
    """
    if key in COLOUR_COLUMNS or key in extra:
        return key
    if key.startswith("extra:") and key != "extra:":
        return key.removeprefix("extra:")
    options = [*COLOUR_COLUMNS, *extra]
    raise Refused(f"colour_by: there is no column '{key[:60]}'; nearest: {listed(nearest(key, options) or options)}")


def sort_key(key: str, extra: Collection[str]) -> str:
    """Return the key of the column to sort by, after a check. For example, '-time' sorts by time in descending order.

    The key '' means that the table is not sorted.

    Raises `Refused` for a column that `column_key` does not accept.
    """
    return key and "-" * key.startswith("-") + column_key(key.removeprefix("-"), extra, "sort_by")


def has_column(key: str, extra: Collection[str]) -> bool:
    """Return whether `column_key` accepts the key of a column."""
    try:
        column_key(key, extra, "columns")
    except Refused:
        return False
    return True


def _is_own(key: str) -> bool:
    first, colon, name = key.partition(":")
    return first in TABLE_COLUMNS_BY if colon and name else key in TABLE_COLUMNS
