"""The lines of a table in text, and its rows among them: many at once where lines are rows, else one by one."""

from __future__ import annotations

import io
import itertools
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NoReturn, TypeAlias

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables.blocks import Block, row
from roofwidget.readers.tables.cells import Cells

__all__ = ["MOST_COLUMNS", "Lines", "NoHeaderError", "Rows", "Test", "header_of"]

MOST_COLUMNS: Final = 20_000
_MOST_CELLS: Final = 100_000_000
_MOST_LINE: Final = 64 * 2**20
_BEFORE_HEADER: Final = 1_000_000
_BLOCK: Final = 2**20
_DELIMITERS: Final = (",", ";", "\t")

Test: TypeAlias = Callable[[Sequence[str]], bool]


class NoHeaderError(ProfileError):
    """No line of a file is the header that is looked for."""


class Lines:
    """The lines of a text with their numbers; lines that were not wanted after all can be put back."""

    def __init__(self, text: io.TextIOWrapper, source: Source) -> None:
        self._text = text
        self._source = source
        self._back: list[str] = []
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.next, "")

    def next(self) -> str:
        """Return the next line with its end, empty at the end of the file."""
        line = self._back.pop() if self._back else self._read(0)
        self.number += bool(line)
        return line

    def block(self) -> str:
        """Return the lines of about the next MiB, empty at the end of the file."""
        text = "".join(reversed(self._back)) + self._read(_BLOCK)
        self._back.clear()
        self.number += text.count("\n") + (text[-1:] not in ("\n", ""))
        return text

    def put_back(self, lines: Sequence[str]) -> None:
        self._back += reversed(lines)
        self.number -= len(lines)

    def _read(self, size: int) -> str:
        """Return so much and what is left of the line."""
        try:
            text = self._text.read(size)
            rest = "" if size and text.endswith("\n") else self._text.readline(_MOST_LINE + 1)
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
            cells, used = row(iter(lines), delimiter)
            names = [cell.strip().removeprefix("\ufeff") for cell in cells]
            if len(names) > 1 and is_header(names):
                return _checked_names(names, lines.number, source), delimiter
            lines.put_back(used[1:])
    if widest > MOST_COLUMNS:
        raise ProfileError(source.name, f"a table of {widest:,} columns; at most {MOST_COLUMNS:,} are read")
    raise NoHeaderError(source.name, "the file has no table with the columns of this format")


def _checked_names(names: list[str], line: int, source: Source) -> list[str]:
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise ProfileError(source.name, "two columns have this name", place=f"line {line}, column '{name}'")
        seen.add(name)
    return names


class Rows:
    """The rows under a header: `read` reads them, and fills `numbers`, their lines, and `skipped`."""

    def __init__(
        self, lines: Lines, delimiter: str, width: int, source: Source, *, short: Test | None, strict: bool
    ) -> None:
        self._lines = lines
        self._delimiter = delimiter
        self._width = width
        self._source = source
        self._short = short
        self._strict = strict
        self._cells = Cells(width)
        self.numbers = array("q")
        self.skipped = 0

    def read(self) -> Cells:
        """Return the cells of all rows."""
        while text := self._lines.block():
            block = Block(text, self._delimiter, self._width)
            first = self._lines.number - len(block) + 1
            at = 0
            while at < len(block):
                end = block.end_of_rows(at)
                if end > at:
                    self._cells.add(block.cells(at, end))
                    self._count(range(first + at, first + end))
                    at = end
                else:
                    at += self._take(block, at, first + at)
        return self._cells

    def _take(self, block: Block, at: int, number: int) -> int:
        """Add a row in another form, or pass over what is none; return how many lines of the text that took."""
        line = block.line(at)
        if line == "\n":
            return 1
        cells, used = row(itertools.chain(block.lines_from(at), self._lines), self._delimiter)
        ends_open = not used[-1].endswith("\n") and _is_open(used, self._delimiter)
        if len(cells) > self._width and not any(cells[self._width :]):
            del cells[self._width :]
        is_short = self._short is not None and len(cells) < self._width and self._short(cells)
        if not ends_open and (is_short or len(cells) == self._width):
            self._cells.add_row([*cells, *[""] * (self._width - len(cells))])
            self._count([number])
            return len(used)
        self._refuse_cut_off(cells, used, number)
        if self._strict and self._delimiter in line and not line.startswith("#"):
            self._refuse_row(len(row(iter([line]), self._delimiter)[0]), number)
        self._lines.put_back(used[len(block) - at :])
        self.skipped += bool(line.strip())
        return 1

    def _count(self, lines: Sequence[int]) -> None:
        self.numbers.extend(lines)
        if len(self.numbers) * self._width > _MOST_CELLS:
            raise ProfileError(self._source.name, f"a table of more than {_MOST_CELLS:,} cells; split it")

    def _refuse_cut_off(self, cells: Sequence[str], used: Sequence[str], number: int) -> None:
        """Refuse a last line without an end that is a part of a row: the file is cut off. Elsewhere it is no row.

        Most of a row's cells are a part of one, and so is less that begins with a quote, as a program's output hardly
        ever does.
        """
        is_part = self._width / 2 < len(cells) <= self._width or (len(used) == 1 and used[0].startswith('"'))
        if is_part and not used[-1].endswith("\n"):
            where = f"{len(cells)} of {self._width} cells"
            reason = f"the file ends within a row: {where}; it is cut off: export it again, or take this line out"
            raise ProfileError(self._source.name, reason, row=number)

    def _refuse_row(self, count: int, number: int) -> NoReturn:
        mend = f'quote names that hold {self._delimiter!a}, as in "f<1{self._delimiter} 2>"'
        if count <= self._width:
            mend = "write empty cells too, close what is quoted, or take the line out"
        cells = f"{count} cell{'' if count == 1 else 's'}"
        reason = f"{cells} where the header has {self._width}: {mend}"
        raise ProfileError(self._source.name, reason, row=number)


def _is_open(lines: Sequence[str], delimiter: str) -> bool:
    """Whether a quoted cell goes on beyond the last of these lines of one row."""
    *others, last = lines
    return len(row(iter([*others, f"{last}\n", "\n"]), delimiter)[1]) > len(lines)
