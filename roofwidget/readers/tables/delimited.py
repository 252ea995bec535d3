"""Tables in text: found among banners and program output, split at ``,``, ``;`` or tabs, numbers in either notation.

Which of ``1,234.5`` and ``1.234,5`` a file means is decided once, from all its columns: cell by cell, ``117.344`` may
be 117.344 or 117344.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import notation
from roofwidget.readers.tables.cells import Columns
from roofwidget.readers.tables.rows import MOST_COLUMNS, Lines, NoHeaderError, Rows, Test, header_of
from roofwidget.support.did_you_mean import nearest

__all__ = ["MOST_COLUMNS", "NoHeaderError", "Table", "table"]


class Table:
    """The rows of one table, column by column as the file writes them.

    Attributes
    ----------
    source
        Where it was read.
    columns
        The cells of each column by its header.
    lines
        The line of each row, counted from 1.
    skipped
        How many lines among the rows were none of them (messages of programs, say).
    units
        The units' row under the header by column, if there is one.
    decimal
        ``"."`` or ``","``: how this file writes its numbers. Set it where the reader knows better.
    decided
        Whether some number shows this; else ``"."`` is assumed, and ``1,234`` is 1234.
    """

    def __init__(
        self,
        source: Source,
        columns: Columns,
        lines: Sequence[int] = (),
        *,
        skipped: int = 0,
        units: Mapping[str, str] | None = None,
        plain: Collection[str] = (),
    ) -> None:
        self.source = source
        self.columns = columns
        self.lines = lines
        self.skipped = skipped
        self.units = units
        self._plain = frozenset(plain)
        self._decimal: str | None = None
        self.decided = False

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def decimal(self) -> str:
        if self._decimal is None:
            self._decimal, self.decided = notation.decimal(
                ((name, cells) for name, cells in self.columns.passing() if name not in self._plain), self._conflict
            )
        return self._decimal

    @decimal.setter
    def decimal(self, mark: str) -> None:
        self._decimal, self.decided = mark, True

    def _conflict(self, first: tuple[str, int], second: tuple[str, int]) -> ProfileError:
        cells = [
            f"{self.columns[name][row]!r} (row {self.lines[row]}, column '{name}')" for name, row in (first, second)
        ]
        reason = f"numbers in two notations: {cells[0]} and {cells[1]}; write the file with one"
        return ProfileError(self.source.name, reason)

    def texts(self, name: str) -> list[str]:
        """Return the cells of a column.

        Raises
        ------
        ProfileError
            If there is no such column: names the nearest.
        """
        if name not in self.columns:
            close = nearest(name, self.columns, most=1)
            hint = f"; the nearest it has is '{close[0]}'" if close else ""
            raise ProfileError(self.source.name, f"the table has no such column{hint}", column=name)
        return self.columns[name]

    def numbers(self, name: str, *, optional: bool = False, least: float = 0.0) -> Floats:
        """Return the numbers of a column, NaN where it says nothing (``""``, ``n/a``, ``nan``, ``no data`` …).

        Parameters
        ----------
        name
            The column's header.
        optional
            Whether a column that is not there is all NaN rather than an error.
        least
            What is less is refused; ``-inf`` takes all.

        Raises
        ------
        ProfileError
            If a cell is no finite number, or less than `least`: names line and column.
        """
        if optional and name not in self.columns:
            return np.full(len(self), np.nan)
        cells = self.texts(name)
        column, bad = notation.numbers(cells, "." if name in self._plain else self.decimal)
        if bad is None and len(wrong := np.flatnonzero(np.isinf(column) | (column < least))):
            bad = int(wrong[0])
        if bad is not None:
            kind = "a finite number" if least == -np.inf else f"a finite number from {least:g}"
            raise self.error(bad, name, f"expected {kind}, got {_brief(cells[bad])}")
        return column

    def error(self, row: int, name: str | None, reason: str) -> ProfileError:
        """Return the error for a cell of the row counted from 0."""
        return ProfileError(self.source.name, reason, row=self.lines[row], column=name)


def table(
    source: Source,
    *,
    header: Test,
    short: Test | None = None,
    plain: Collection[str] = (),
    strict: bool = False,
) -> Table:
    r"""Read the first table whose header row passes the test.

    Lines before it are skipped, and so are lines among the rows that have another number of cells: what a program
    prints stands between the rows of many tools.

    Parameters
    ----------
    source
        The file.
    header
        Whether these cells are the header.
    short
        Whether cells that are fewer than the header's are a row all the same: its last cells are then empty.
    plain
        Columns whose numbers do not follow the notation of the others and always have a decimal point.
    strict
        Whether a line among the rows of several cells, but not of the header's number, is refused: no program printed
        it. One that begins with ``#`` is a remark.

    Raises
    ------
    ProfileError
        If there is no such header, two of its columns have one name, there are more than 20,000 columns or 100 million
        cells, a line is longer than 64 MiB, or the file ends within a row. Without a header a `NoHeaderError`.

    Examples
    --------
    >>> rows = table(Source.of(b"==PROF== hello\n\na;b\n1;2,5\ndone\n3;4\n"), header=lambda cells: "a" in cells)
    >>> dict(rows.columns), list(rows.lines), rows.skipped, rows.numbers("b").tolist()
    ({'a': ['1', '3'], 'b': ['2,5', '4']}, [4, 6], 1, [2.5, 4.0])
    """
    with io.TextIOWrapper(source.open(), encoding=source.encoding) as text:
        lines = Lines(text, source)
        names, delimiter = header_of(lines, header, source)
        rows = Rows(lines, delimiter, len(names), source, short=short, strict=strict)
        cells = rows.read()
    units = None
    if rows.numbers and _are_units(first := cells.first_row()):
        units = {name: cell for name, cell in zip(names, first, strict=True) if name}
        rows.numbers.pop(0)
    columns = Columns(cells, {name: at for at, name in enumerate(names) if name}, first=int(units is not None))
    return Table(source, columns, rows.numbers, skipped=rows.skipped, units=units, plain=plain)


def _are_units(cells: Sequence[str]) -> bool:
    """Whether the first row is one of units, as Nsight Compute writes it: no number, and nothing in the first cell."""
    return not cells[0].strip() and any(cells) and not any(map(notation.is_number, cells))


def _brief(cell: str) -> str:
    text = ascii(cell)
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004 - a line of an error message
