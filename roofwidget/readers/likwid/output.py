"""What likwid-perfctr prints, in its three forms: tables drawn with lines, ``-O`` lines of cells, or JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source

__all__ = ["Block", "blocks", "has_tables"]

_TITLE: Final = re.compile(r"(?:Region (?P<region>.*), )?Group (?P<number>\d+): (?P<group>\S+)\s*$")
_TABLE: Final = re.compile(
    r"TABLE,(?:Region (?P<region>.*),)?Group (?P<number>\d+) (?P<kind>[^,]+),(?P<group>[^,]+),\d+,*$"
)
_STARTS: Final = re.compile(r"^(?:(?:Region .*, )?Group \d+: \S+\s*|TABLE,(?:Region .*,)?Group \d+ .*)$", re.MULTILINE)
_KINDS: Final = ("Event", "Metric", "Region Info")
_STATISTICS: Final = frozenset({"Sum", "Min", "Max", "Avg"})
_NOTHING: Final = frozenset({"-", "", "nan", "-nan", "inf", "-inf", "nil"})
# More than any machine counts.
_MOST: Final = 1e100
_MOST_BYTES: Final = 256 * 2**20


@dataclass
class Block:
    """One group of counters over one region, values by hardware thread.

    Attributes
    ----------
    region
        The marked region, or None for the whole program.
    number, group
        The group's place in the command, and its name.
    events, metrics
        Values by event and by metric.
    calls
        How often the region was entered, by thread.
    region_time
        Its seconds, by thread.
    """

    region: str | None
    number: int
    group: str
    events: dict[str, list[float]] = field(default_factory=dict)
    metrics: dict[str, list[float]] = field(default_factory=dict)
    calls: list[float] = field(default_factory=list)
    region_time: list[float] = field(default_factory=list)


def has_tables(text: str) -> bool:
    """Whether a text has the title of a group.

    Examples
    --------
    >>> has_tables("Region solve, Group 1: MEM_DP"), has_tables("Group: MEM_DP")
    (True, False)
    """
    return _STARTS.search(text) is not None


def blocks(source: Source) -> list[Block]:
    """Return all groups of a file.

    Raises
    ------
    ProfileError
        If a value is no number, or a row has another number of cells than its header: names the line.
    """
    if source.beginning.lstrip()[:1] == "{":
        return list(_of_json(source))
    found: dict[tuple[str | None, int], Block] = {}
    reader = _Reader(source.name)
    for number, line in enumerate(source.text(limit=_MOST_BYTES).splitlines(), 1):
        title = _TITLE.match(line) or _TABLE.match(line)
        if title is not None:
            key = title["region"], int(title["number"])
            block = found.setdefault(key, Block(*key, title["group"]))
            reader.start(block, is_csv=line.startswith("TABLE"))
        elif reader.block is not None:
            reader.line(line.rstrip(), number)
    return list(found.values())


class _Reader:
    """Takes the lines under a title, which belong to one block after another."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.block: Block | None = None
        self._is_csv = False
        self._header: list[str] = []

    def start(self, block: Block, *, is_csv: bool) -> None:
        self.block, self._is_csv, self._header = block, is_csv, []

    def line(self, line: str, number: int) -> None:
        cells = self._cells(line)
        if cells is None:
            return
        if cells[0] in _KINDS:
            self._header = [cell for cell in cells if cell] if self._is_csv else cells
            return
        if not self._header or self.block is None:
            return
        # A metric's name may hold the separator: "L3|MEM evict data volume [GBytes]".
        values = len(self._header) - 1
        spare = len(cells) - len(self._header)
        if self._is_csv and spare > 0 and not any(cells[len(self._header) :]):
            cells, spare = cells[: len(self._header)], 0
        if spare < 0:
            reason = f"expected {len(self._header)} cells, got {len(cells)}: the file is cut off or damaged"
            raise ProfileError(self.file, reason, place=f"line {number}")
        name = ("," if self._is_csv else "|").join(cells[: spare + 1])
        if not _STATISTICS & set(self._header):
            self._keep(self.block, name, cells[-values:], number)

    def _cells(self, line: str) -> list[str] | None:
        if self._is_csv:
            return None if not line or line.startswith("STRUCT") else [cell.strip() for cell in line.split(",")]
        if not line.startswith("|"):
            return None
        if not line.endswith("|"):
            # Whoever redirects the output of several processes into one file may break a row.
            line += "|"
        return [cell.strip() for cell in line[1:-1].split("|")]

    def _keep(self, block: Block, name: str, cells: Sequence[str], number: int) -> None:
        kind = self._header[0]
        if kind == "Event":
            # The second column is the register; one event may be counted in several.
            values = [_value(self.file, cell, f"line {number}") for cell in cells[1:]]
            known = block.events.get(name)
            block.events[name] = values if known is None else [a + b for a, b in zip(known, values, strict=True)]
            return
        values = [_value(self.file, cell, f"line {number}") for cell in cells]
        if kind == "Metric":
            block.metrics[name] = values
        elif name.casefold().startswith("call"):
            block.calls = values
        else:
            block.region_time = values


def _value(file: str, cell: object, place: str) -> float:
    is_nothing = (
        cell.casefold() in _NOTHING if isinstance(cell, str) else isinstance(cell, float) and not math.isfinite(cell)
    )
    if is_nothing:
        return math.nan
    try:
        number = float(cell)  # type: ignore[arg-type]  # else TypeError
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) < _MOST:
        raise ProfileError(file, f"expected a number, got {cell!r:.60}", place=place)
    return number


def _of_json(source: Source) -> Iterator[Block]:
    """Yield the groups of the JSON filter; it keeps no names of regions, and of several only the last."""
    document = source.json(nan=True)
    groups = document.items() if isinstance(document, dict) else ()
    for number, (name, outer) in enumerate(((name, group) for name, group in groups if name != "Info"), 1):
        tables = outer.get(name) if isinstance(outer, dict) else None
        if not isinstance(tables, dict):
            raise ProfileError(source.name, "expected an object of tables", place=f"'{name}'")
        block = Block(None, number, name)
        for counter, entry in _entries(tables, "Raw"):
            place = f"'{name}.Raw.{counter}'"
            event = entry.get("Event") if isinstance(entry, dict) else None
            values = _values(source.name, entry, place)
            known = block.events.setdefault(str(event or counter), [0.0] * len(values))
            block.events[str(event or counter)] = [a + b for a, b in zip(known, values, strict=False)]
        for metric, entry in _entries(tables, "Metric"):
            block.metrics[metric] = _values(source.name, entry, f"'{name}.Metric.{metric}'")
        yield block


def _entries(tables: Mapping[str, Any], kind: str) -> list[tuple[str, Any]]:
    given = tables.get(kind)
    return list(given.items()) if isinstance(given, dict) else []


def _values(file: str, entry: Any, place: str) -> list[float]:
    values = entry.get("Values") if isinstance(entry, dict) else None
    if not isinstance(values, list):
        raise ProfileError(file, "expected an object with a list 'Values'", place=place)
    return [_value(file, value, place) for value in values]
