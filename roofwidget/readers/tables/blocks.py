"""Whole lines of a table's text, split into cells all at once where each line is a row, and a row in any other form."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from roofwidget.readers.tables.cells import SEPARATOR

__all__ = ["Block", "row"]

_NEWLINE, _SPACE, _QUOTE = b'\n "'
_MOST_LINES_IN_A_ROW: Final = 1000

Places = npt.NDArray[np.intp]
Marks = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]


class Block:
    r"""Lines of a table, and which of them are plain rows: of the table's width, with quotes around whole cells.

    Parameters
    ----------
    text
        Lines that end in ``"\n"``, the last one perhaps without.
    delimiter
        What separates cells.
    width
        How many cells a row has, from 2.

    Examples
    --------
    >>> block = Block('a,"b, c"\nloss = 3\nd,"e ""f"\n', ",", 2)
    >>> block.end_of_rows(0), block.cells(0, 1).tobytes(), block.line(1), block.cells(2, 3).tobytes()
    (1, b'a\x1fb, c', 'loss = 3\n', b'd\x1fe "f')
    """

    def __init__(self, text: str, delimiter: str, width: int) -> None:
        self._raw = text.encode()
        data = np.frombuffer(self._raw, dtype=np.uint8)
        ends = np.flatnonzero(data == _NEWLINE)
        self._ends = ends if text.endswith("\n") else np.append(ends, len(data))
        self._starts = np.append(0, self._ends[:-1] + 1)
        splits = data == ord(delimiter)
        quotes = data == _QUOTE
        odd: list[Places] = []
        self._dropped = self._unquoted(data, splits, quotes, odd) if quotes.any() else None
        places = np.flatnonzero(splits)
        if delimiter != "\t":
            odd.append(self._spaced(data, splits))
        # The sign that is put between the cells must not be in them.
        odd.append(self._lines_of(np.flatnonzero(data == SEPARATOR)))
        rows = np.diff(np.searchsorted(places, self._ends), prepend=0) == width - 1
        for lines in odd:
            rows[lines] = False
        self._others = np.flatnonzero(~rows)
        self._marked = data.copy()
        self._marked[places] = self._marked[ends] = SEPARATOR

    def __len__(self) -> int:
        return len(self._ends)

    def end_of_rows(self, at: int) -> int:
        """Return the first line from here that is no plain row."""
        following = int(np.searchsorted(self._others, at))
        return int(self._others[following]) if following < len(self._others) else len(self)

    def cells(self, first: int, end: int) -> Bytes:
        """Return the cells of these lines, all plain rows, with a `SEPARATOR` between two."""
        part = slice(self._starts[first], self._ends[end - 1])
        return self._marked[part] if self._dropped is None else self._marked[part][~self._dropped[part]]

    def line(self, at: int) -> str:
        """Return a line with its end."""
        return self._raw[self._starts[at] : self._ends[at] + 1].decode()

    def lines_from(self, at: int) -> Iterator[str]:
        """Yield the lines from here on."""
        return map(self.line, range(at, len(self)))

    def _unquoted(self, data: Bytes, splits: Marks, quotes: Marks, odd: list[Places]) -> Marks:
        """Return the quotes that are no part of cells; mend `splits`, and add the lines where they enclose no cells."""
        parity = np.cumsum(quotes.view(np.uint8), dtype=np.uint8) & 1
        before = np.append(np.uint8(0), parity)[self._starts]
        inside = (parity ^ np.repeat(before, np.diff(self._starts, append=len(data)))).astype(np.bool_)
        splits &= ~inside
        at = np.flatnonzero(quotes)
        opens = inside[at]
        edges = np.concatenate([[True], splits | (data == _NEWLINE), [True]])
        is_quote = np.concatenate([[False], quotes, [False]])
        # A quote within a cell is written twice: the second one opens where the first one closed.
        twice = opens & is_quote[at]
        fits = np.where(opens, edges[at] | twice, edges[at + 2] | is_quote[at + 2])
        dropped = quotes.copy()
        dropped[at[twice]] = False
        unclosed = np.flatnonzero(np.append(np.uint8(0), parity)[np.minimum(self._ends, len(data))] != before)
        odd += [self._lines_of(at[~fits]), unclosed]
        return dropped

    def _spaced(self, data: Bytes, splits: Marks) -> Places:
        """Return the lines of cells that begin with spaces, which are no part of them."""
        edges = np.append(True, (splits | (data == _NEWLINE))[:-1])
        return self._lines_of(np.flatnonzero((data == _SPACE) & edges))

    def _lines_of(self, places: Places) -> Places:
        return np.searchsorted(self._ends, places)


def row(lines: Iterator[str], delimiter: str) -> tuple[list[str], list[str]]:
    r"""Return the first row's cells, and the lines used: several where a quoted cell goes on.

    Examples
    --------
    >>> row(iter(['a,"b\n', 'c"\n', "d,e\n"]), ",")
    (['a', 'b\nc'], ['a,"b\n', 'c"\n'])
    """
    used: list[str] = []

    def taken() -> Iterator[str]:
        for line in lines:
            used.append(line)
            yield line
            if len(used) == _MOST_LINES_IN_A_ROW:
                return

    try:
        cells = next(csv.reader(taken(), delimiter=delimiter, skipinitialspace=delimiter != "\t"), [])
    except csv.Error:
        # A cell without an end, as a stray quote in a program's output makes one.
        cells = used[:1]
    return cells, used
