"""The table that PyTorch's profiler prints: its rows as averages.

The cells of a line are separated by two or more spaces. The widths of the lines of dashes are not used: PyTorch prints
headers that are wider than their dashes.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from roofwidget import units
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.support.did_you_mean import first_in


@dataclass(frozen=True)
class Average:
    """One row of the averages: calls of one operation, or launches of one kernel.

    Parameters
    ----------
    key, count
        The name, and the number of calls.
    flops
        FLOPs of all calls; 0 if the profiler does not count them.
    shapes
        Sizes by argument, or None if unknown.
    device, host
        Pairs of seconds, on the device and on the host: with and without called operations. NaN is unknown.
    is_kernel
        Whether the row is a kernel rather than an operation.
    is_label
        Whether the row is a range that the user named, such as a step.
    operator
        The operation's name as formulas know it, or "" if it is the key.
    negative
        The columns of times that are negative. These times are unknown.
    cut
        The columns whose texts a printed table cuts off.
    """

    key: str
    count: float
    flops: float
    shapes: Sequence[object] | None
    device: tuple[float, float]
    host: tuple[float, float]
    is_kernel: bool
    is_label: bool
    operator: str = ""
    negative: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()

    @property
    def ran_on_device(self) -> bool:
        """Whether the device spent time on the row. An unknown time is time too."""
        return self.device[0] != 0

    def times(self, *, on_device: bool) -> tuple[float, float]:
        """Return the seconds on the device or on the host, with and without called operations."""
        return self.device if on_device else self.host


@dataclass(frozen=True)
class PrintedTable:
    """The rows of a printed table.

    Parameters
    ----------
    rows
        The rows.
    self_totals
        The lines under the table: seconds without called operations by device, such as ``{"CPU": 0.01}``. They count
        rows that are not printed too.
    tables
        The number of tables in the text.
    """

    rows: list[Average]
    self_totals: Mapping[str, float]
    tables: int


_MAX_TEXT_BYTES: Final = 64 * 2**20
_DASHES: Final = re.compile(r" *(?:-{1,3} +)*(?P<dashes>-{4,}(?: {2,}-{4,}){4,})")
_GAP: Final = re.compile(r"\s{2,}|\t")
# PyTorch 1.6 and older print "Number of Calls", "Self CPU total", and names of operations without "aten::".
_CALLS: Final = ("# of Calls", "Number of Calls")
_SELF_CPU: Final = ("Self CPU", "Self CPU total")
_CPU: Final = "CPU total"
_OVERLOAD: Final = "Overload Name"
_SHAPES: Final = "Input Shapes"
_LOCATION: Final = "Source Location"
# A row has at least its name, five columns of CPU times and the calls.
_MIN_CELLS: Final = 7
# A table prints at most a dozen digits; a much longer number could become infinite.
_NUMBER: Final = re.compile(r"[0-9]{1,24}(?:\.[0-9]+)?")
_WHOLE: Final = re.compile(r"[0-9]{1,24}")
_TIME: Final = re.compile(r"(-?[0-9]{1,24}(?:\.[0-9]+)?)(s|ms|us|ns)")
_SHARE: Final = re.compile(r"-?[0-9.]+%|nan", re.IGNORECASE)
_SELF_TOTAL: Final = re.compile(r"Self (\w+) time total: (\S+)")
# "Total GFLOPs" is a count. PyTorch 1.8 and 1.9 print "GFLOPS", which is a rate.
_FLOPS: Final = re.compile(r"Total ([KMGTP]?)FLOPs|([KMGTP]?)FLOPS")
# PyTorch cuts names at 55 characters.
_CUT: Final = "..."
_MIN_CUT_NAME: Final = 55
_NOTHING: Final = ("", "--", "N/A")


def is_printed_table(text: str) -> bool:
    """Whether a text contains a table of averages.

    Examples
    --------
    >>> is_printed_table("name,flops")
    False
    """
    may_be = "Self CPU" in text and any(word in text for word in _CALLS)
    return may_be and next(_headers(text.splitlines()), None) is not None


def _headers(lines: Sequence[str]) -> Iterator[int]:
    """Yield the line numbers, from 0, of the headers: each has a line of dashes under it."""
    for at, line in enumerate(lines[:-1]):
        if "Self CPU" in line and any(word in line for word in _CALLS) and _dashes(lines[at + 1]) is not None:
            yield at


def _dashes(line: str) -> int | None:
    """Return where the dashes of a line begin, after what a logger writes before them; None for another line."""
    line = line.rstrip()
    found = _DASHES.fullmatch(line, len(line.rstrip("- ")))
    return found.start("dashes") if found else None


def printed_table(source: Source, table: int) -> PrintedTable:
    """Return one of the tables of a text; `table` counts from 1.

    Raises
    ------
    ProfileError
        If there is no such table, a column is missing or a cell has an unexpected value.
    """
    lines = source.text(_MAX_TEXT_BYTES).splitlines()
    found = list(_headers(lines))
    if not found:
        raise source.error(f"expected a table with a column '{_CALLS[0]}' between lines of dashes")
    if not 0 < table <= len(found):
        raise source.error(f"there is no table {table}; the tables are 1 to {len(found)}")
    header = found[table - 1]
    # A logger may begin each line with the time, the level or the rank.
    prefix = _dashes(lines[header + 1]) or 0
    if not lines[header][:prefix].strip():
        prefix = 0
    names = _GAP.split(lines[header][prefix:].strip())
    columns = _Columns.of(names, source)
    rows = []
    for at in range(header + 2, len(lines)):
        line = lines[at][prefix:].strip()
        if _dashes(line) is not None or _SELF_TOTAL.match(line):
            break
        cells = _cells(line, names, source.name, at + 1) if line else None
        if cells is not None:
            rows.append(columns.average(_Row(source.name, at + 1, cells)))
    else:
        raise source.error("the table has no line of dashes at its end: the file is incomplete")
    return PrintedTable(rows, _self_totals(lines[at : at + 4]), len(found))


def _self_totals(lines: Sequence[str]) -> dict[str, float]:
    """Return the seconds of the lines under a table, by device."""
    totals = [found for found in map(_SELF_TOTAL.search, lines) if found]
    times = [(found[1], _TIME.fullmatch(found[2])) for found in totals]
    return {device: units.parse(time[0], "s", "the total") for device, time in times if time}


def _cells(line: str, headers: Sequence[str], source: str, number: int) -> dict[str, str] | None:
    """Return the cells of a line by header; None for a line that has only a further entry of a call stack."""
    parts = _GAP.split(line)
    gaps = [*(match[0] for match in _GAP.finditer(line)), ""]
    pairs = enumerate(itertools.pairwise(parts[1:]), 1)
    first = next((at for at, (cell, after) in pairs if _SHARE.fullmatch(cell) and _TIME.fullmatch(after)), 0)
    if not first and _LOCATION in headers and len(parts) < _MIN_CELLS:
        return None
    first = first or 1 + (_OVERLOAD in headers and len(parts) == len(headers))
    # A name may contain two spaces. The column of overload names has empty cells.
    has_overload = _OVERLOAD in headers and first > 1
    named = first - has_overload
    texts = ["".join(part + gap for part, gap in zip(parts[:named], gaps, strict=False)).strip()]
    if _OVERLOAD in headers:
        texts.append(parts[first - 1] if has_overload else "")
    cells, rest = [*texts, *parts[first:]], list(headers)
    if _LOCATION in headers:
        # The place of a call may contain two spaces, and may be empty. PyTorch prints the FLOPs under its header.
        rest.remove(_LOCATION)
        rest.append(_LOCATION)
        cells = [*cells[: len(rest) - 1], "  ".join(cells[len(rest) - 1 :])]
        cells += [""] * (len(rest) - len(cells))
        is_flops = len(rest) > 1 and _FLOPS.fullmatch(rest[-2])
        if is_flops and cells[-2] not in _NOTHING and not _NUMBER.fullmatch(cells[-2]):
            cells[-2:] = cells[-1], cells[-2]
    if len(cells) != len(rest):
        raise ProfileError(source, f"expected {len(rest)} cells, got {len(cells)}", row=number)
    return dict(zip(rest, cells, strict=True))


@dataclass(frozen=True)
class _Row:
    """A row: its line (from 1), its cells by header, and the headers of negative times."""

    source: str
    line: int
    cells: Mapping[str, str]
    negative: list[str] = field(default_factory=list)

    def seconds(self, header: str | None) -> float:
        """Return the seconds of a cell; NaN if the table has no such column, or if the time is negative."""
        if header is None:
            return np.nan
        cell = self.cells[header]
        if cell in _NOTHING:
            return 0.0
        found = _TIME.fullmatch(cell)
        if found is None:
            raise self.error(header, f"expected a time such as '5.807us', got {cell!r:.40}")
        seconds = units.parse(cell, "s", "the time")
        if seconds < 0:
            self.negative.append(header)
            return np.nan
        return seconds

    def number(self, header: str, *, whole: bool = False) -> float:
        cell = self.cells[header]
        if cell in _NOTHING:
            return 0.0
        if not (_WHOLE if whole else _NUMBER).fullmatch(cell):
            raise self.error(header, f"expected a {'whole ' if whole else ''}number, got {cell!r:.40}")
        return float(cell)

    def error(self, header: str | None, reason: str) -> ProfileError:
        return ProfileError(self.source, reason, row=self.line, column=header)


@dataclass(frozen=True)
class _Columns:
    """The headers by meaning.

    A header of device times contains the device's name. The header of FLOPs has a prefix, such as G.
    """

    calls: str
    host: tuple[str, str]
    device: tuple[str, str | None] | None
    flops: str | None
    unit: float
    is_rate: bool

    @classmethod
    def of(cls, headers: Sequence[str], source: Source) -> _Columns:
        calls = first_in(_CALLS, headers)
        own = first_in(_SELF_CPU, headers)
        for word, found in (
            ("Name", "Name" in headers),
            ("Self CPU", own),
            (_CPU, _CPU in headers),
            (_CALLS[0], calls),
        ):
            if not found:
                raise source.error("the table has no such column", column=word)
        if len(set(headers)) < len(headers):
            raise source.error("two columns of the table have the same name")
        totals = [word.removesuffix(" total") for word in headers if word.endswith(" total") and word != _CPU]
        device = next((word for word in totals if not word.startswith("Self ")), None)
        selfs = (f"Self {device}", f"Self {device} total")
        flops = next((match for match in map(_FLOPS.fullmatch, headers) if match), None)
        return cls(
            calls or "",
            (_CPU, own or ""),
            (f"{device} total", first_in(selfs, headers)) if device else None,
            flops[0] if flops else None,
            units.prefix_factor(flops[1] or flops[2] or "") if flops else 1.0,
            flops is not None and flops[1] is None,
        )

    def average(self, row: _Row) -> Average:
        device = (row.seconds(self.device[0]), row.seconds(self.device[1])) if self.device else (0.0, 0.0)
        host = row.seconds(self.host[0]), row.seconds(self.host[1])
        flops = row.number(self.flops) * self.unit if self.flops else 0.0
        if self.is_rate and flops:
            flops *= device[0] or host[0]
        name, shapes = row.cells["Name"], row.cells.get(_SHAPES, "")
        sizes = _printed_shapes(shapes) if shapes else None
        cut = ["names"] * (name.endswith(_CUT) and len(name) >= _MIN_CUT_NAME)
        cut += ["shapes"] * (sizes is None and shapes not in _NOTHING)
        return Average(
            name,
            row.number(self.calls, whole=True),
            flops,
            sizes,
            device,
            host,
            is_kernel=host[0] == 0 and device[0] > 0,
            is_label=name.startswith("ProfilerStep"),
            operator=f"aten::{name}" if self.calls == _CALLS[1] and "::" not in name else "",
            negative=tuple(row.negative),
            cut=tuple(cut),
        )


def _printed_shapes(cell: str) -> list[object] | None:
    """Return the sizes by argument, None if the table truncated them."""
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None
