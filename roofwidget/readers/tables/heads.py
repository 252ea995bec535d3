"""What looks like a table's header, whatever its columns are called: for messages."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Final

from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import notation
from roofwidget.readers.tables.blocks import row

__all__ = ["columns_of_text", "columns_seen", "first_lines"]

_LINES: Final = 50
_LONGEST: Final = 80
_MOST: Final = 1000
_DELIMITERS: Final = (",", ";", "\t")


def first_lines(source: Source) -> list[str]:
    """Return the first 50 lines of a text."""
    return source.beginning.removeprefix("\ufeff").splitlines()[:_LINES]


def columns_seen(source: Source) -> list[str]:
    r"""Return the names of the columns of what looks like a table or is a list of objects; none where nothing does.

    Examples
    --------
    >>> columns_seen(Source.of(b"# my run\nop;gflop\nmatmul;3\n")), columns_seen(Source.of(b"hello, world\n"))
    (['op', 'gflop'], [])
    """
    if source.beginning.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return columns_of_text(source)
    document = source.document()
    if not isinstance(document, list) or not all(map(_is_record, document)):
        return []
    return [str(name) for name in document[0]] if document else []


def columns_of_text(source: Source) -> list[str]:
    """Return the first line of several words of which the next has as many cells."""
    lines = [line for line in first_lines(source) if line.strip()]
    for line, following in itertools.pairwise(lines):
        for mark in _DELIMITERS:
            names, cells = (_cells(text, mark) for text in (line, following))
            if 1 < len(names) == len(cells) <= _MOST and _are_words(names):
                return names
    return []


def _is_record(entry: object) -> bool:
    return isinstance(entry, Mapping) and not any(isinstance(value, (list, Mapping)) for value in entry.values())


def _cells(line: str, mark: str) -> list[str]:
    return [cell.strip() for cell in row(iter([line]), mark)[0]] if mark in line else []


def _are_words(cells: Sequence[str]) -> bool:
    return all(len(cell) <= _LONGEST and not notation.is_number(cell) for cell in cells) and any(cells)
