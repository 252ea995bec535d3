"""Columns that have a unit for a name, as ``GB/s`` and ``GFLOPs``: used where that says all, else asked about."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from roofwidget.support.did_you_mean import listed

__all__ = ["Meaning", "lacking", "meanings", "question"]

_SHOWN: Final = 12
_TIMES: Final = {"ns": "ns", "us": "us", "µs": "us", "usec": "us", "ms": "ms", "msec": "ms"}
_AMOUNT: Final = re.compile(r"(?P<prefix>[kmgtp]i?|)(?P<unit>flops?|b)(?P<rate>/s)?", re.IGNORECASE)
_BITS_OR_BYTES: Final = re.compile(r"(?P<prefix>[kmgt])bps", re.IGNORECASE)
_ALONE: Final = re.compile(r"(?P<unit>.+)")
_IN_BRACKETS: Final = re.compile(r".*[(\[](?P<unit>[^)\]]*)[)\]]\s*")
_LAST_WORD: Final = re.compile(r".*[ _](?P<unit>[^ _]+)")


@dataclass(frozen=True)
class Meaning:
    """What a column may mean by its unit.

    Parameters
    ----------
    field
        ``"flops"``, ``"bytes"`` or ``"time"``.
    column
        The column.
    units
        The unit that it may be, several where it may be a count or a rate.
    is_certain
        Whether the column's name is that unit and nothing else can be meant.
    """

    field: str
    column: str
    units: tuple[str, ...]
    is_certain: bool


def meanings(names: Sequence[str], known: Collection[str]) -> list[Meaning]:
    """Return what columns mean by their units, of the fields that are not known, in the table's order.

    Examples
    --------
    >>> [(one.field, one.units, one.is_certain) for one in meanings(["GB/s", "gflops", "ms"], known=())]
    [('bytes', ('GB/s',), True), ('flops', ('GFLOP', 'GFLOP/s'), False), ('time', ('ms',), True)]
    """
    stems = {key.split(":")[0] for key in known}
    found = [meaning for name in names if (meaning := _meaning(name)) is not None]
    return [one for one in found if one.field not in stems]


def question(meaning: Meaning) -> str:
    """Say that a column is not used, and how to say what it is.

    Examples
    --------
    >>> print(question(meanings(["GFLOPs"], known=())[0]))
    'GFLOPs' is not used: a count or a rate? say columns={'flops': ('GFLOPs', 'GFLOP')}, or 'GFLOP/s' there
    """
    if meaning.is_certain:
        return f"'{meaning.column}' is not used: it is a rate, and no column tells the time"
    first, *others = meaning.units
    asked = "a count or a rate? say" if others else f"if it tells of {_WORDS[meaning.field]} that the kernel moves, say"
    more = "".join(f", or '{unit}' there" for unit in others)
    return f"'{meaning.column}' is not used: {asked} columns={{'{meaning.field}': {(meaning.column, first)!r}}}{more}"


def lacking(names: Sequence[str], known: Collection[str]) -> str:
    """Say which columns a table lacks, which it has, and how to say what is what.

    Examples
    --------
    >>> print(lacking(["ms"], known=["name"]))
    none of the columns 'ms' is known to hold FLOPs, bytes or seconds; say which does: columns={'time': ('ms', 'ms')}
    """
    is_named = "name" in known
    what = [] if is_named else ["names"]
    if not any(key.split(":")[0] in _WORDS for key in known):
        what.append("FLOPs, bytes or seconds")
    more = f" (of {len(names)})" if len(names) > _SHOWN else ""
    call = {} if is_named else {"name": repr(names[0] if names else "…")}
    call |= {one.field: repr((one.column, one.units[0])) for one in reversed(meanings(names, known))}
    if not call.keys() & _WORDS.keys():
        call |= {"flops": "('…', 'GFLOP')", "time": "('…', 'us')"}
    said = ", ".join(f"'{field}': {call[field]}" for field in ("name", *_WORDS) if field in call)
    return (
        f"none of the columns {listed(names[:_SHOWN])}{more} is known to hold {', and none '.join(what)}; say which "
        f"does: columns={{{said}}}"
    )


_WORDS: Final[Mapping[str, str]] = {"flops": "FLOPs", "bytes": "bytes", "time": "seconds"}


def _meaning(name: str) -> Meaning | None:
    text = name.strip()
    for pattern in (_ALONE, _IN_BRACKETS, _LAST_WORD):
        found = pattern.fullmatch(text)
        meant = _of_unit(found["unit"].strip(), is_alone=pattern is _ALONE) if found else None
        if found and meant:
            field, units = meant
            return Meaning(field, name, units, is_certain=pattern is _ALONE and _is_certain(found["unit"], units))
    return None


def _is_certain(unit: str, units: Sequence[str]) -> bool:
    # Megabytes alone may be those that a kernel holds.
    return len(units) == 1 and (unit.casefold() in _TIMES or "flop" in unit.casefold() or unit.endswith("/s"))


def _of_unit(unit: str, *, is_alone: bool) -> tuple[str, tuple[str, ...]] | None:
    """Return the field of a unit, and how we write it; amounts and times beside other words are those words' matter."""
    if is_alone and unit.casefold() in _TIMES:
        return "time", (_TIMES[unit.casefold()],)
    bits = _BITS_OR_BYTES.fullmatch(unit)
    if bits:
        return "bytes", (f"{_prefix(bits['prefix'])}B/s",)
    found = _AMOUNT.fullmatch(unit)
    if not found or not found["prefix"]:
        return None
    prefix, rate = _prefix(found["prefix"]), found["rate"] or ""
    if found["unit"].casefold() == "b":
        return ("bytes", (f"{prefix}B{rate}",)) if is_alone or rate else None
    if rate or not found["unit"].casefold().endswith("s"):
        return "flops", (f"{prefix}FLOP{rate.casefold()}",)
    return "flops", (f"{prefix}FLOP", f"{prefix}FLOP/s")


def _prefix(text: str) -> str:
    first = text[0].casefold()
    return ("k" if first == "k" and len(text) == 1 else first.upper()) + text[1:].casefold()
