"""The lines of a table in text, and its rows among them: by the block where all are rows, else one by one."""

from __future__ import annotations

import csv
import io
import itertools
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NoReturn, TypeAlias

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.source import Source

__all__ = ["MOST_COLUMNS", "Lines", "Rows", "Test", "header_of"]

MOST_COLUMNS: Final = 20_000
_MOST_CELLS: Final = 100_000_000
_MOST_LINE: Final = 64 * 2**20
_MOST_LINES_IN_A_ROW: Final = 1000
_BEFORE_HEADER: Final = 1_000_000
_BLOCK: Final = 2**20
_DELIMITERS: Final = (",", ";", "\t")

Test: TypeAlias = Callable[[Sequence[str]], bool]


class Lines:
    """The lines of a text with their numbers; lines that were not wanted after all can be put back."""

    def __init__(self, text: io.TextIOWrapper, source: Source) -> None:
        self._text = text
        self._source = source
        self._back: list[str] = []
        self.number = 0

    @property
    def has_back(self) -> bool:
        """Whether lines that were put back are still to come."""
        return bool(self._back)

    def next(self) -> str:
        """Return the next line with its end, empty at the end of the file."""
        line = self._back.pop() if self._back else self._read(0)
        self.number += bool(line)
        return line

    def block(self) -> list[str]:
        """Return the lines of about the next MiB, none at the end of the file."""
        text = self._read(_BLOCK)
        found = list(io.StringIO(text, newline=""))
        self.number += len(found)
        return found

    def put_back(self, lines: Sequence[str]) -> None:
        self._back += reversed(lines)
        self.number -= len(lines)

    def row(self, delimiter: str) -> tuple[list[str], list[str]]:
        """Return the next line's cells, and the lines used: several where a quoted cell goes on."""
        first = self.next()
        used = [first]

        def lines() -> Iterator[str]:
            yield first
            while len(used) < _MOST_LINES_IN_A_ROW and (line := self.next()):
                used.append(line)
                yield line

        try:
            cells = next(_split(lines(), delimiter), [])
        except csv.Error:
            # A cell without an end, as a stray quote in a program's output makes one.
            cells = [first]
        return cells, used

    def _read(self, size: int) -> str:
        """Return so much and what is left of the line."""
        try:
            text = self._text.read(size)
            rest = self._text.readline(_MOST_LINE + 1)
        except UnicodeDecodeError as error:
            self._refuse_bytes(error)
        if len(rest) > _MOST_LINE:
            number = self.number + text.count("\n") + 1
            raise ProfileError(self._source.name, "a line longer than 64 MiB", place=f"line {number}")
        return text + rest

    def _refuse_bytes(self, error: UnicodeDecodeError) -> NoReturn:
        # Reading it all again finds the place.
        self._source.text()
        raise ProfileError(self._source.name, f"not UTF-8 text: {error.reason}")


def _split(lines: Iterator[str] | Sequence[str], delimiter: str) -> Iterator[list[str]]:
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter != "\t")


def header_of(lines: Lines, is_header: Test, source: Source) -> tuple[list[str], str]:
    """Return the names of the columns and what separates them, with `lines` after the first header that passes.

    Raises
    ------
    ProfileError
        If there is none, or two columns have one name.
    """
    widest = 0
    while lines.number < _BEFORE_HEADER:
        line = lines.next()
        if not line:
            break
        for delimiter in _DELIMITERS:
            count = line.count(delimiter)
            if not count:
                continue
            widest = max(widest, count + 1)
            if count >= MOST_COLUMNS:
                continue
            lines.put_back([line])
            cells, used = lines.row(delimiter)
            names = [cell.strip().removeprefix("\ufeff") for cell in cells]
            if len(names) > 1 and is_header(names):
                return _checked_names(names, lines.number, source), delimiter
            lines.put_back(used[1:])
    if widest > MOST_COLUMNS:
        raise ProfileError(source.name, f"a table of {widest:,} columns; at most {MOST_COLUMNS:,} are read")
    raise ProfileError(source.name, "the file has no table with the columns of this format")


def _checked_names(names: list[str], line: int, source: Source) -> list[str]:
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise ProfileError(source.name, "two columns have this name", place=f"line {line}, column '{name}'")
        seen.add(name)
    return names


class Rows:
    """The rows under a header: `columns` reads them, and fills `numbers`, their lines, and `skipped`."""

    def __init__(
        self, lines: Lines, delimiter: str, width: int, source: Source, *, stop: Test | None, short: Test | None
    ) -> None:
        self._lines = lines
        self._delimiter = delimiter
        self._width = width
        self._source = source
        self._stop = stop
        self._short = short
        # Tuples of texts, block by block: the garbage collector passes them by, and one list it would walk each time.
        self._columns: list[list[tuple[str, ...]]] = [[] for _ in range(width)]
        # Profilers repeat kernels' names and units in every row: such texts are kept once.
        self._kept: dict[str, str] = {}
        self.numbers = array("q")
        self.skipped = 0

    def columns(self) -> list[list[str]]:
        """Return the cells of each column."""
        while block := self._lines.block():
            if self._are_rows(block):
                continue
            self._lines.put_back(block)
            rows, more = self._rows_one_by_one()
            self._add(rows)
            if not more:
                break
        return [list(itertools.chain.from_iterable(blocks)) for blocks in self._columns]

    def _are_rows(self, lines: Sequence[str]) -> bool:
        """Add lines that are a row each; False where they are not, and nothing is added."""
        before = self._lines.number - len(lines)
        try:
            rows = list(_split(lines, self._delimiter))
        except csv.Error:
            return False
        if len(rows) != len(lines) or set(map(len, rows)) != {self._width}:
            return False
        if self._stop is not None and any(map(self._stop, rows)):
            return False
        self.numbers.extend(range(before + 1, before + len(lines) + 1))
        self._add(rows)
        return True

    def _rows_one_by_one(self) -> tuple[list[list[str]], bool]:
        """Return the rows of the lines that were put back, and whether the table may go on after them."""
        found: list[list[str]] = []
        while self._lines.has_back:
            number = self._lines.number + 1
            cells, used = self._lines.row(self._delimiter)
            if self._stop is not None and self._stop(cells):
                return found, False
            if len(cells) > self._width and not any(cells[self._width :]):
                del cells[self._width :]
            if self._short is not None and len(cells) < self._width and self._short(cells):
                cells += [""] * (self._width - len(cells))
            if len(cells) == self._width:
                self.numbers.append(number)
                found.append(cells)
                continue
            self._refuse_cut_off(cells, used, number)
            self._lines.put_back(used[1:])
            self.skipped += bool(used[0].strip())
        return found, True

    def _add(self, rows: Sequence[Sequence[str]]) -> None:
        if len(self.numbers) * self._width > _MOST_CELLS:
            raise ProfileError(self._source.name, f"a table of more than {_MOST_CELLS:,} cells; split it")
        for blocks, cells in zip(self._columns, zip(*rows, strict=True), strict=False):
            repeats = len(set(cells)) * 2 <= len(cells)
            blocks.append(tuple(map(self._kept.setdefault, cells, cells)) if repeats else cells)

    def _refuse_cut_off(self, cells: Sequence[str], used: Sequence[str], number: int) -> None:
        """Refuse a last line of most of a row's cells and no end: the file is cut off. Elsewhere it is no row."""
        ends_here = not used[-1].endswith(("\n", "\r"))
        if ends_here and self._width / 2 < len(cells) < self._width:
            reason = f"the file ends within a row: {len(cells)} of {self._width} cells; it is cut off"
            raise ProfileError(self._source.name, reason, row=number)
