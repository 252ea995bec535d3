"""Tables that are printed for people: with bars (Markdown, boxes) or in aligned columns, as delimited text.

`as_delimited` puts tabs between the cells and keeps each row on its line, so that every reader of delimited text reads
such a table and names the right line in its errors.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from roofwidget.readers.input.source import Source
from roofwidget.readers.tables.delimited import DELIMITERS, MAX_COLUMNS, first_lines
from roofwidget.readers.tables.notation import is_number

_MAX_TEXT_BYTES: Final = 64 * 2**20
_LINES: Final = "\u2500-\u257f"
"""Unicode's characters for drawing boxes."""
_BAR: Final = re.compile(r"(?<!\\)[|\u2502\u2503\u2506\u2507\u250a\u250b\u2551]")
# A rule has three dashes somewhere. Looked for ahead, they cost linear time also in a line that is no rule.
_RULE: Final = re.compile(rf"(?=.*?[-=]{{3}})[-+|:= ]+|(?=.*?[\u2500\u2501\u2550]{{2}})[{_LINES} ]+")
_GAP: Final = re.compile(r" {2,}")
# polars and DuckDB write the type of each column under its name.
_TYPE: Final = re.compile(
    r"---|(?:[iu](?:nt)?|f|float)\d+|str(?:ing)?|bool(?:ean)?|(?:var)?char|text|double|float|real|decimal.*|u?\w*int(?:eger)?"
    r"|cat|enum.*|object|date.*|time.*|null|list.*|struct.*|int64|(?:fixed_size_)?binary|blob"
)
_LEFT_OUT: Final = frozenset({"...", "..", "\u2026", "\u00b7", "\u22ee", "."})
_FOOT: Final = re.compile(r"\[?\(?\d+ rows?\b.*|shape: .*")
_INSTEAD: Final = "save the table as CSV, or print it whole"


@dataclass(frozen=True)
class _Table:
    """A header, the cells of each line under it, and the number of lines before the header. None is no row."""

    names: Sequence[str]
    rows: Sequence[Sequence[str] | None]
    lines_before: int


def as_delimited(source: Source) -> Source | None:
    r"""Return a table that is printed with bars or in aligned columns with tabs between its cells; None for other text.

    Raises
    ------
    ProfileError
        If the print leaves out rows or columns, or wraps them.

    Examples
    --------
    >>> as_delimited(Source.of(b"| op | us |\n|----|----|\n| mm | 5  |\n")).text()
    'op\tus\n\nmm\t5\n'
    >>> as_delimited(Source.of(b"     op   us\n0    mm  5.0\n1  relu  2.5\n")).text()
    'op\tus\nmm\t5.0\nrelu\t2.5\n'
    """
    if source.is_folder or "\0" in source.beginning or "\ufffd" in source.beginning or source.is_much:
        return None
    if not any(_RULE.fullmatch(line) or _GAP.search(line) for line in first_lines(source)):
        return None
    lines = source.text(_MAX_TEXT_BYTES).removeprefix("\ufeff").splitlines()
    table = _with_bars(lines) or _aligned(lines)
    if table is None:
        return None
    for number, row in enumerate(table.rows, table.lines_before + 2):
        if row and set(row) <= _LEFT_OUT | {""} and any(row):
            raise source.error(f"the print leaves out rows: {_INSTEAD}", row=number)
    if _LEFT_OUT & set(table.names):
        raise source.error(f"the print leaves out columns: {_INSTEAD}", row=table.lines_before + 1)
    text = io.StringIO()
    text.write("\n" * table.lines_before)
    write = csv.writer(text, delimiter="\t", lineterminator="\n").writerow
    for row in (table.names, *table.rows):
        write(row or [])
    return Source.of_bytes(source.name, text.getvalue().encode(), path=source.path)


# -- bars ----------------------------------------------------------------------------------------------------------


def _with_bars(lines: Sequence[str]) -> _Table | None:
    """Return the first table with bars between the cells and a line of dashes under its header."""
    for at in range(1, len(lines)):
        if _RULE.fullmatch(lines[at]) and _BAR.search(lines[at - 1]) and not _RULE.fullmatch(lines[at - 1]):
            break
    else:
        return None
    first = at - 1
    while first > 0 and _BAR.search(lines[first - 1]) and not _RULE.fullmatch(lines[first - 1]):
        first -= 1
    heads = [_split(line) for line in lines[first:at]]
    width = len(heads[0])
    names = [" ".join(part for part in parts if part) for parts in zip(*map(_without_types, heads), strict=False)]
    if not 1 < width <= MAX_COLUMNS or any(map(is_number, names)):
        return None
    rows = list(_rows_with_bars(lines[at:], width))
    return _Table(names, [*[None] * (at - first - 1), *rows], first)


def _rows_with_bars(lines: Sequence[str], width: int) -> Iterator[list[str] | None]:
    """Yield the cells of each line, up to the first line that is outside of the table."""
    for line in lines:
        if _RULE.fullmatch(line):
            yield None
            continue
        if not _BAR.search(line):
            return
        cells = _split(line)
        # DuckDB writes the number of rows in a single cell.
        yield cells if len(cells) == width or len(list(filter(None, cells))) > 1 else None


def _split(line: str) -> list[str]:
    """Return the cells between bars. Tables of psql have no bars at their sides."""
    parts = [part.strip().strip("`").replace("\\|", "|") for part in _BAR.split(line)]
    outside = line.strip()
    begin, end = int(_BAR.match(outside) is not None), len(parts) - int(bool(outside) and bool(_BAR.match(outside[-1])))
    return parts[begin:end]


def _without_types(cells: Sequence[str]) -> Sequence[str]:
    return [""] * len(cells) if all(_TYPE.fullmatch(cell) for cell in cells) else cells


# -- aligned columns -----------------------------------------------------------------------------------------------


def _aligned(lines: Sequence[str]) -> _Table | None:
    """Return the first table in aligned columns: two spaces between cells, or cells that end where the headers end."""
    for at, (header, following) in enumerate(itertools.pairwise(lines[:_MAX_LINES_BEFORE_HEADER])):
        names = _GAP.split(header.strip())
        if len(names) < _MIN_COLUMNS or any(map(is_number, names)) or any(mark in header for mark in DELIMITERS):
            continue
        # pandas writes the name of an index alone on a line, and other programs a line of dashes.
        is_between = _RULE.fullmatch(following) is not None or (
            bool(following.strip()) and " " not in following.strip()
        )
        body = list(itertools.takewhile(_is_row, lines[at + 1 + is_between :]))
        rows = _rows_at_gaps(body, len(names)) or _rows_at_ends(body, header, len(names))
        if rows is None:
            continue
        if len(rows[0]) > len(names):
            labels = [row[0] for row in rows]
            has_labels = labels != [str(row) for row in range(len(rows))]
            index = following.strip() if is_between and not _RULE.fullmatch(following) else ""
            names = [index, *names] if has_labels else names
            rows = rows if has_labels else [row[1:] for row in rows]
        if any(is_number(cell) for cell in rows[0]):
            return _Table(names, [*[None] * is_between, *rows], at)
    return None


_MAX_LINES_BEFORE_HEADER: Final = 50
_MIN_COLUMNS: Final = 2


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not _FOOT.fullmatch(line.strip())


def _rows_at_gaps(body: Sequence[str], width: int) -> list[list[str]] | None:
    """Return the cells of lines that are separated by two spaces, if each line has as many: one more is an index."""
    rows = [_GAP.split(line.strip()) for line in body]
    return rows if rows and {len(row) for row in rows} in ({width}, {width + 1}) else None


def _rows_at_ends(body: Sequence[str], header: str, width: int) -> list[list[str]] | None:
    """Return the cells of right-aligned columns, cut where the headers end."""
    ends = [match.end() for match in re.finditer(r"\S+(?: \S+)*", header)]
    starts = [0, *ends[:-1]]
    if not body or any(line[end : end + 1].strip() for line in body for end in ends):
        return None
    rows = [[line[start:end].strip() for start, end in zip(starts, ends, strict=True)] for line in body]
    firsts = [_GAP.split(row[0]) for row in rows]
    if all(len(first) == len(("index", "cell")) for first in firsts):
        rows = [[*first, *row[1:]] for first, row in zip(firsts, rows, strict=True)]
    return rows if all(len(row) in {width, width + 1} and all(row) for row in rows) else None
