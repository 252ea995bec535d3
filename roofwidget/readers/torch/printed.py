"""The table that PyTorch's ``key_averages().table()`` prints: columns as wide as the dashes above them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.torch.average import Average

__all__ = ["averages", "is_table"]

_MOST_TEXT: Final = 64 * 2**20
_RULE: Final = re.compile(r"-{4,}(?:  -{4,}){4,} *")
_CALLS: Final = "# of Calls"
_SECONDS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
# A table prints at most a dozen digits; more would make a number that is infinite.
_NUMBER: Final = re.compile(r"[0-9]{1,24}(?:\.[0-9]+)?")
_WHOLE: Final = re.compile(r"[0-9]{1,24}")
_TIME: Final = re.compile(r"([0-9]{1,24}(?:\.[0-9]+)?)(s|ms|us|ns)")
_FLOPS: Final = re.compile(r"Total ([KMGTP]?)FLOPs")
_POWERS: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_NOTHING: Final = ("", "--", "N/A")
_HOST: Final = ("CPU total", "Self CPU")


def is_table(text: str) -> bool:
    """Whether a text begins like such a table.

    Examples
    --------
    >>> is_table("name,flops")
    False
    """
    return _CALLS in text and "Self CPU" in text and any(_RULE.fullmatch(line) for line in text.splitlines()[:50])


def averages(source: Source) -> list[Average]:
    """Return the rows of the first table in a text.

    Raises
    ------
    ProfileError
        If there is no table, a column is missing or a cell holds something else than it should.
    """
    lines = source.text(_MOST_TEXT).splitlines()
    rules = dict.fromkeys(at for at, line in enumerate(lines) if _RULE.fullmatch(line))
    first = next((at for at in rules if at + 2 in rules and _CALLS in lines[at + 1]), None)
    if first is None:
        raise ProfileError(source.name, f"expected a table with a column '{_CALLS}' between lines of dashes")
    end = next((at for at in rules if at > first + 2), None)
    if end is None:
        raise ProfileError(source.name, "the table has no line of dashes at its end: the file ends too early")
    spans = [match.span() for match in re.finditer("-+", lines[first])]
    headers = [lines[first + 1][a:b].strip() for a, b in spans]
    columns = _Columns.of(headers, source)
    return [
        columns.average(_Row(source.name, number, cells))
        for number, cells in _cells(lines, first + 3, end, spans, headers)
    ]


def _cells(
    lines: Sequence[str], begin: int, end: int, spans: Sequence[tuple[int, int]], headers: Sequence[str]
) -> Iterator[tuple[int, Mapping[str, str]]]:
    for at in range(begin, end):
        if lines[at].strip():
            yield at + 1, dict(zip(headers, (lines[at][a:b].strip() for a, b in spans), strict=True))


@dataclass(frozen=True)
class _Row:
    """A row: its line from 1, and its cells by header."""

    source: str
    line: int
    cells: Mapping[str, str]

    def seconds(self, header: str | None) -> float:
        cell = self.cells[header] if header else ""
        if cell in _NOTHING:
            return 0.0
        found = _TIME.fullmatch(cell)
        if found is None:
            raise self.error(header, f"expected a time such as '5.807us', got {cell!r:.40}")
        return float(found[1]) * _SECONDS[found[2]]

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
    """Which headers hold what; the device's are named after it, and FLOPs after their size."""

    device_total: str | None
    device_self: str | None
    flops: str | None
    unit: float
    shapes: bool

    @classmethod
    def of(cls, headers: Sequence[str], source: Source) -> _Columns:
        for word in ("Name", *_HOST, _CALLS):
            if word not in headers:
                raise ProfileError(source.name, "the table has no such column", column=word)
        devices = [word.removesuffix(" total") for word in headers if word.endswith(" total") and word != _HOST[0]]
        found = [match for match in map(_FLOPS.fullmatch, headers) if match]
        return cls(
            f"{devices[0]} total" if devices else None,
            f"Self {devices[0]}" if devices and f"Self {devices[0]}" in headers else None,
            found[0][0] if found else None,
            _POWERS[found[0][1]] if found else 1.0,
            "Input Shapes" in headers,
        )

    def average(self, row: _Row) -> Average:
        device = row.seconds(self.device_total), row.seconds(self.device_self)
        host = row.seconds(_HOST[0]), row.seconds(_HOST[1])
        return Average(
            row.cells["Name"],
            row.number(_CALLS, whole=True),
            row.number(self.flops) * self.unit if self.flops else 0.0,
            _shapes(row.cells["Input Shapes"]) if self.shapes else None,
            device,
            host,
            is_kernel=host[0] == 0 and device[0] > 0,
            is_label=row.cells["Name"].startswith("ProfilerStep"),
        )


def _shapes(cell: str) -> list[object] | None:
    """Return the sizes by argument, None where the table cut them off."""
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None
