"""Read tables in text: find the header among banners and program output, split at ``,``, ``;`` or tabs.

A file writes ``1,234.5`` or ``1.234,5``. The notation is decided from all columns of the file together, because
``117.344`` alone may mean 117.344 or 117344.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

import numpy as np

from roofwidget.kernels.column_meanings import is_no_unit, is_unit
from roofwidget.kernels.columns import Bools, DictColumn, Floats
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import notation
from roofwidget.readers.tables.cells import (
    SEPARATOR,
    Bytes,
    Cells,
    Columns,
    LineNumbers,
    cells_of,
    column_of_texts,
)
from roofwidget.support.arrays import Places
from roofwidget.support.did_you_mean import did_you_mean
from roofwidget.support.text_tables import first_words

# -- blocks of lines -----------------------------------------------------------------------------------------------

_NEWLINE, _SPACE, _QUOTE = b'\n "'
_MAX_LINES_IN_ROW: Final = 1000


class _Block:
    r"""Lines of a table. Plain rows are split all at once: they have `width` cells, and quotes only around whole cells.

    Parameters
    ----------
    text
        Lines that end in ``"\n"``; the last line may lack it.
    delimiter
        The character between cells.
    width
        Cells per row, at least 2.

    Examples
    --------
    >>> block = _Block('a,"b, c"\nloss = 3\nd,"e ""f"\n', ",", 2)
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
        # A line that contains the separator byte itself is not plain.
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
        """Return the first line from `at` on that is not a plain row."""
        following = int(np.searchsorted(self._others, at))
        return int(self._others[following]) if following < len(self._others) else len(self)

    def cells(self, first: int, end: int) -> Bytes:
        """Return the cells of these lines, which are plain rows, with a `SEPARATOR` between two cells."""
        part = slice(self._starts[first], self._ends[end - 1])
        return self._marked[part] if self._dropped is None else self._marked[part][~self._dropped[part]]

    def line(self, at: int) -> str:
        """Return a line with its line end."""
        return self._raw[self._starts[at] : self._ends[at] + 1].decode()

    def lines_from(self, at: int) -> Iterator[str]:
        """Yield the lines from `at` on."""
        return map(self.line, range(at, len(self)))

    def _unquoted(self, data: Bytes, splits: Bools, quotes: Bools, odd: list[Places]) -> Bools:
        """Return a mask of the quotes to drop.

        The method changes two arguments: quoted delimiters are cleared in `splits`, and lines with unusual quotes are
        added to `odd`.
        """
        parity = _parities(quotes)
        before = parity[self._starts - 1]
        before[0] = 0
        # Few blocks have a quoted cell of several lines.
        added = np.repeat(before, np.diff(self._starts, append=len(data))) if before.any() else np.uint8(0)
        inside = (parity ^ added).view(np.bool_)
        splits &= ~inside
        at = np.flatnonzero(quotes)
        opens = inside[at]
        edges = np.concatenate([[True], splits | (data == _NEWLINE), [True]])
        is_quote = np.concatenate([[False], quotes, [False]])
        # A quote inside a cell is written twice. The second quote opens exactly where the first quote closed.
        twice = opens & is_quote[at]
        fits = np.where(opens, edges[at] | twice, edges[at + 2] | is_quote[at + 2])
        dropped = quotes.copy()
        dropped[at[twice]] = False
        # Whatever an empty first line gets here, it is no row.
        unclosed = np.flatnonzero(parity[self._ends - 1] != before)
        odd += [self._lines_of(at[~fits]), unclosed]
        return dropped

    def _spaced(self, data: Bytes, splits: Bools) -> Places:
        """Return the lines with cells that begin with spaces; csv strips these."""
        edges = np.append(True, (splits | (data == _NEWLINE))[:-1])
        return self._lines_of(np.flatnonzero((data == _SPACE) & edges))

    def _lines_of(self, places: Places) -> Places:
        return np.searchsorted(self._ends, places)


def _parities(marks: Bools) -> Bytes:
    """Return whether the number of marks up to each place is odd: 0 or 1, shape (n,).

    The eight places of a word are added at once.

    Examples
    --------
    >>> _parities(np.array([0, 1, 0, 0, 1, 0, 0, 0, 1, 0], dtype=np.bool_)).tolist()
    [0, 1, 1, 1, 0, 0, 0, 0, 1, 1]
    """
    words = np.zeros(-(-len(marks) // 8), dtype="<u8")
    words.view(np.uint8)[: len(marks)] = marks
    for bits in (8, 16, 32):
        words ^= words << np.uint64(bits)
    before = np.cumsum(words >> np.uint64(56), dtype=np.uint64)[:-1] & np.uint64(1)
    words[1:] ^= before * np.uint64(0x0101010101010101)
    return words.view(np.uint8)[: len(marks)]


def split_rows(text: str, delimiter: str, width: int) -> Cells | None:
    r"""Return the cells of lines that are all plain rows, or None if some line is no plain row.

    Examples
    --------
    >>> split_rows("a,1\nb,2\n", ",", 2).column(1).texts(), split_rows("a,1\nb\n", ",", 2)
    (['1', '2'], None)
    """
    block, cells = _Block(text, delimiter, width), cells_of(width, delimiter, is_large=False)
    if block.end_of_rows(0) < len(block):
        return None
    cells.add(block.cells(0, len(block)))
    return cells


def parse_row(lines: Iterator[str], delimiter: str) -> tuple[list[str], list[str]]:
    r"""Return the first row's cells and the row's lines; a quoted cell may span several lines.

    Examples
    --------
    >>> parse_row(iter(['a,"b\n', 'c"\n', "d,e\n"]), ",")
    (['a', 'b\nc'], ['a,"b\n', 'c"\n'])
    """
    used: list[str] = []

    def taken() -> Iterator[str]:
        for line in lines:
            used.append(line)
            yield line
            if len(used) == _MAX_LINES_IN_ROW:
                return

    try:
        cells = next(csv.reader(taken(), delimiter=delimiter, skipinitialspace=delimiter != "\t"), [])
    except csv.Error:
        # The cell never ends, so its quote is a stray quote in the output of a program.
        cells = used[:1]
    return cells, used


# -- lines and rows ------------------------------------------------------------------------------------------------

MAX_COLUMNS: Final = 20_000
_MAX_CELLS: Final = 100_000_000
_MAX_LINE_CHARS: Final = 16 * 2**20
_MAX_LINES_BEFORE_HEADER: Final = 1_000_000
_BLOCK_CHARS: Final = 2**22
_LARGE_BYTES: Final = 2**24
"""For a smaller file, it takes longer to import pyarrow than to split the rows without it."""
DELIMITERS: Final = (",", ";", "\t")

CellTest: TypeAlias = Callable[[Sequence[str]], bool]


class NoHeaderError(ProfileError):
    """No line of the file is the header that the reader needs."""


class _Lines:
    """The lines of a text with their numbers; unused lines can be put back."""

    def __init__(self, text: io.TextIOWrapper, source: Source) -> None:
        self._text = text
        self._source = source
        self._back: list[str] = []
        self.number = 0
        self.has_last_end = True

    def __iter__(self) -> Iterator[str]:
        return iter(self.next, "")

    def next(self) -> str:
        """Return the next line with its line end; an empty text at the end of the file."""
        line = self._back.pop() if self._back else self._read(0)
        self.number += bool(line)
        return line

    def block(self) -> str:
        """Return whole lines of about 4 MiB; an empty text at the end of the file."""
        text = "".join(reversed(self._back)) + self._read(_BLOCK_CHARS)
        self._back.clear()
        self.number += text.count("\n") + (text[-1:] not in ("\n", ""))
        return text

    def put_back(self, lines: Sequence[str]) -> None:
        self._back += reversed(lines)
        self.number -= len(lines)

    def _read(self, size: int) -> str:
        """Return `size` characters and the rest of the last line."""
        try:
            text = self._text.read(size)
            rest = "" if size and text.endswith("\n") else self._text.readline(_MAX_LINE_CHARS + 1)
        except UnicodeDecodeError as error:
            # Decoding the whole file raises an error that names the byte.
            self._source.text()
            raise self._source.error(f"not UTF-8 text: {error.reason}") from None
        if len(rest) > _MAX_LINE_CHARS:
            number = self.number + text.count("\n") + 1
            raise self._source.error("a line longer than 16 MiB", place=f"line {number}")
        if text or rest:
            self.has_last_end = (rest or text).endswith("\n")
        return text + rest


def _header(lines: _Lines, is_header: CellTest, source: Source) -> tuple[list[str], str]:
    """Return the column names and the delimiter of the first header that passes.

    Afterwards `lines` starts after this header.

    Raises
    ------
    ProfileError
        If there is no such header, or two columns have the same name.
    """
    widest = 0
    while lines.number < _MAX_LINES_BEFORE_HEADER:
        line = lines.next()
        if not line:
            break
        for delimiter in DELIMITERS:
            count = line.count(delimiter)
            if not count:
                continue
            widest = max(widest, count + 1)
            if count >= MAX_COLUMNS:
                continue
            lines.put_back([line])
            cells, used = parse_row(iter(lines), delimiter)
            names = [cell.strip().removeprefix("\ufeff") for cell in cells]
            if len(names) > 1 and is_header(names):
                return _checked_names(names, lines.number, source), delimiter
            lines.put_back(used[1:])
    if widest > MAX_COLUMNS:
        raise source.error(f"a table of {widest:,} columns; the limit is {MAX_COLUMNS:,}")
    raise NoHeaderError(source.name, "the file has no table with the columns of this format")


def _checked_names(names: list[str], line: int, source: Source) -> list[str]:
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise source.error("two columns have this name", place=f"line {line}, column '{name}'")
        seen.add(name)
    return names


@dataclass
class _RowReader:
    """Reads the rows under a header. `numbers` has the line of each row, `skipped` counts other lines."""

    lines: _Lines
    delimiter: str
    width: int
    source: Source
    short: CellTest | None
    strict: bool
    only_rows: bool

    def __post_init__(self) -> None:
        self._cells = cells_of(self.width, self.delimiter, is_large=(self.source.size or 0) >= _LARGE_BYTES)
        self.numbers = LineNumbers()
        self.skipped = 0

    def read(self) -> Cells:
        """Return the cells of all rows."""
        while text := self._next_block():
            self._read_block(text)
        return self._cells

    def _next_block(self) -> str:
        """Return the next lines that have to be split here."""
        before = self.lines.number
        while text := self.lines.block():
            count = self.lines.number - before
            if not self._cells.add_block(text, count):
                break
            self._count(before + 1, count)
            before += count
        return text

    def _read_block(self, text: str) -> None:
        block = _Block(text, self.delimiter, self.width)
        first = self.lines.number - len(block) + 1
        at = 0
        while at < len(block):
            end = block.end_of_rows(at)
            if end > at:
                self._cells.add(block.cells(at, end))
                self._count(first + at, end - at)
                at = end
            else:
                at += self._take(block, at, first + at)

    def _take(self, block: _Block, at: int, number: int) -> int:
        """Add a row that is not plain, or skip a line that is not a row; return the number of lines used."""
        line = block.line(at)
        if line == "\n":
            return 1
        cells, used = parse_row(itertools.chain(block.lines_from(at), self.lines), self.delimiter)
        ends_open = not used[-1].endswith("\n") and _is_open(used, self.delimiter)
        if len(cells) > self.width and not any(cells[self.width :]):
            del cells[self.width :]
        is_short = self.short is not None and len(cells) < self.width and self.short(cells)
        if not ends_open and (is_short or len(cells) == self.width):
            self._cells.add_row([*cells, *[""] * (self.width - len(cells))])
            self._count(number)
            return len(used)
        self._refuse_cut_off(cells, used, number)
        if (self.strict or self.only_rows) and self.delimiter in line and not line.startswith("#"):
            self._refuse_row(len(parse_row(iter([line]), self.delimiter)[0]), number)
        self.lines.put_back(used[len(block) - at :])
        self.skipped += bool(line.strip())
        return 1

    def _count(self, line: int, count: int = 1) -> None:
        self.numbers.add(line, count)
        if len(self.numbers) * self.width > _MAX_CELLS:
            raise self.source.error(f"a table of more than {_MAX_CELLS:,} cells; split it")

    def _refuse_cut_off(self, cells: Sequence[str], used: Sequence[str], number: int) -> None:
        """Raise an error if the last line is an incomplete row, which means that the file is incomplete.

        A line counts as an incomplete row if it has more than half of the cells, or begins with a quote, or if the file
        has only rows. The output of a program hardly ever has a line like this. In the middle of the file the line is
        skipped.
        """
        is_part = self.width / 2 < len(cells) <= self.width or (len(used) == 1 and used[0].startswith('"'))
        is_part = is_part or (self.only_rows and not used[0].startswith("#"))
        if is_part and not used[-1].endswith("\n"):
            where = f"{len(cells)} of {self.width} cells"
            raise self.source.error(
                f"the file ends within a row: {where}; export it again, or remove this line", row=number
            )

    def _refuse_row(self, count: int, number: int) -> NoReturn:
        fix = f'quote names that contain {self.delimiter!a}, as in "f<1{self.delimiter} 2>"'
        if count <= self.width:
            fix = "write empty cells too, close the quotes, or remove the line"
        cells = f"{count} cell{'' if count == 1 else 's'}"
        raise self.source.error(f"{cells} where the header has {self.width}: {fix}", row=number)


def _is_open(lines: Sequence[str], delimiter: str) -> bool:
    """Whether a quoted cell of this row continues on the line after the row."""
    *others, last = lines
    return len(parse_row(iter([*others, f"{last}\n", "\n"]), delimiter)[1]) > len(lines)


# -- tables --------------------------------------------------------------------------------------------------------


_SAMPLE_CELLS: Final = 1000
_TWO_NOTATIONS: Final = "numbers in two notations; write the file with one notation"
_BOUND: Final = re.compile(r"[<>\u2264\u2265~]\s*[\d.,].*")
"""A cell such as ``< 0.001s``, which a tool writes for a number that it does not show."""
_MAX_NAMED_BOUNDS: Final = 3


class DelimitedTable:
    """The rows of one table, column by column, as written in the file.

    Attributes
    ----------
    source
        The file.
    columns
        The cells of each column by its header.
    lines
        The line of each row, counted from 1.
    skipped
        How many lines between the rows were not rows, such as messages of programs.
    units
        Units by column, if there is a row of units under the header.
    decimal
        The decimal mark of this file, ``"."`` or ``","``. A reader that knows the mark sets it.
    decided
        Whether some number proves the mark. If no number proves it, ``"."`` is assumed, and ``1,234`` is 1234; but
        between semicolons ``1,234`` is 1.234, and between tabs it is an error.
    has_last_end
        Whether the file's last line has a line end. Without it the last cell may be cut off.
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
        has_last_end: bool = True,
        delimiter: str = ",",
    ) -> None:
        self.source = source
        self.columns = columns
        self.lines = lines
        self.skipped = skipped
        self.units = units
        self._plain = frozenset(plain)
        self._delimiter = delimiter
        self._decimal: str | None = None
        self.decided = False
        self.has_last_end = has_last_end
        self._bounds: dict[str, Places] = {}

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def decimal(self) -> str:
        if self._decimal is None:
            self._decimal, self.decided = notation.decimal(
                ((name, self.columns.column(name)) for name in self.columns if name not in self._plain), self._conflict
            )
            if not self.decided and self._delimiter == ";":
                cells = (self.columns.column(name).different(_SAMPLE_CELLS) for name in self.columns)
                self._decimal = self._usual(list(filter(notation.is_number, itertools.chain(*cells))))
        return self._decimal

    @decimal.setter
    def decimal(self, mark: str) -> None:
        self._decimal, self.decided = mark, True

    def mark_of(self, numbers: Sequence[str]) -> str:
        """Return the decimal mark of numbers that stand beside units in the cells, which prove no mark of the file.

        Raises
        ------
        ProfileError
            If two numbers have different marks, or if no number shows which mark it is.
        """
        mark = self.decimal
        if self.decided:
            return mark
        found, is_proven = notation.decimal(
            [("", column_of_texts(numbers))], lambda first, _: self.error(first[1], None, _TWO_NOTATIONS)
        )
        if is_proven:
            return found
        usual = self._usual(numbers)
        if (unclear := self._unclear(numbers, usual)) is not None:
            texts = ((name, row, cell) for name in self.columns for row, cell in enumerate(self.columns[name]))
            name, row = next((name, row) for name, row, cell in texts if cell.strip().startswith(unclear))
            raise self._ask_for_mark(row, name, unclear)
        return usual

    def _usual(self, numbers: Sequence[str]) -> str:
        """Return the mark of numbers that prove none: semicolons separate cells where commas are decimal marks."""
        has_commas = any("," in cell for cell in numbers) and not any("." in cell for cell in numbers)
        return "," if self._delimiter == ";" and has_commas else "."

    def _unclear(self, numbers: Iterable[str], mark: str) -> str | None:
        """Return the first number that has the other mark than the assumed one, and may be 1000 times too large.

        Between commas, a comma in a number separates thousands.
        """
        other = "," if mark == "." else "."
        if self.decided or self._delimiter == ",":
            return None
        return next((cell for cell in numbers if other in cell and notation.is_number(cell)), None)

    def _ask_for_mark(self, row: int, name: str, number: str) -> ProfileError:
        both = (number.strip().replace(",", "."), re.sub("[.,]", "", number.strip()))
        reason = f"'{number.strip()}' may be {both[0]} or {both[1]}, and no number of the file tells which"
        return self.error(row, name, f"{reason}: pass decimal='.' or decimal=',', or write it without the mark")

    def _conflict(self, first: tuple[str, int], second: tuple[str, int]) -> ProfileError:
        cells = [
            f"{self.columns[name][row]!r} (row {self.lines[row]}, column '{name}')" for name, row in (first, second)
        ]
        reason = f"numbers in two notations: {cells[0]} and {cells[1]}; write the file with one notation"
        return self.source.error(reason)

    def texts(self, name: str) -> list[str]:
        """Return the cells of a column.

        Raises
        ------
        ProfileError
            If the column does not exist. The message names the nearest column.
        """
        self._check(name)
        return self.columns[name]

    def coded(self, name: str) -> DictColumn:
        """Return the cells of a column, dictionary-encoded; the errors are those of `texts`."""
        self._check(name)
        return self.columns.column(name).coded()

    def _check(self, name: str) -> None:
        if name not in self.columns:
            hint = did_you_mean(name, self.columns)
            raise self.source.error(f"the table has no such column{hint}", column=name)

    def numbers(self, name: str, *, optional: bool = False, least: float = 0.0) -> Floats:
        """Return the numbers of a column, NaN for cells without a number (``""``, ``n/a``, ``nan``, ``no data`` …).

        Parameters
        ----------
        name
            The column's header.
        optional
            Whether a missing column gives NaN instead of an error.
        least
            The smallest allowed number; ``-inf`` allows all.

        Raises
        ------
        ProfileError
            If a cell is not a finite number, or is less than `least`. The message names line and column.
        """
        if optional and name not in self.columns:
            return np.full(len(self), np.nan)
        self._check(name)
        mark = "." if name in self._plain else self.decimal
        cells = self.columns.column(name)
        is_unclear = name not in self._plain and not self.decided and self._delimiter != "," and cells.has_marks()
        if is_unclear and (unclear := self._unclear(self.columns[name], mark)) is not None:
            raise self._ask_for_mark(self.columns[name].index(unclear), name, unclear)
        column, bad = cells.numbers(mark)
        if bad is not None and _BOUND.fullmatch(self.columns[name][bad].strip()):
            column, bad = notation.numbers(self.without_bounds(name), mark)
            if bad is not None:
                del self._bounds[name]
        if bad is None and len(wrong := np.flatnonzero(np.isinf(column) | (column < least))):
            bad = int(wrong[0])
        if bad is not None:
            kind = "a finite number" if least == -np.inf else f"a finite number from {least:g}"
            raise self.error(bad, name, f"expected {kind}, got {self.columns[name][bad]!a:.60}")
        return column

    def without_bounds(self, name: str) -> list[str]:
        """Return the cells of a column, where cells such as ``< 0.001`` are empty. `bounds` names these."""
        cells = self.columns[name]
        is_bound = np.array([_BOUND.fullmatch(cell.strip()) is not None for cell in cells], dtype=np.bool_)
        if is_bound.any():
            self._bounds[name] = np.flatnonzero(is_bound)
        return ["" if bound else cell for bound, cell in zip(is_bound.tolist(), cells, strict=True)]

    def bounds(self) -> list[str]:
        """Return a warning for each column that was read and has cells such as ``< 0.001``: these are unknown."""
        found = []
        for name, rows in self._bounds.items():
            cells = (f"{self.columns[name][row].strip()!a:.40} (row {self.lines[row]})" for row in rows.tolist())
            found.append(f"'{name}' is unknown where a bound is written: {first_words(cells, _MAX_NAMED_BOUNDS)}")
        return found

    def open_end(self) -> list[str]:
        """Return a warning if the file's last line has no line end, for files of tools that always write one."""
        if self.has_last_end:
            return []
        name = list(self.columns)[-1]
        return [f"{self.source.name} ends without a line end: if it is cut off, the last '{name}' may be wrong"]

    def error(self, row: int, name: str | None, reason: str) -> ProfileError:
        """Return the error for a cell; the row counts from 0."""
        return self.source.error(reason, row=self.lines[row], column=name)


def read_table(
    source: Source,
    *,
    header: CellTest,
    short: CellTest | None = None,
    plain: Collection[str] = (),
    strict: bool = False,
    only_rows: bool = False,
    index: str = "",
) -> DelimitedTable:
    r"""Read the first table whose header row passes the test.

    Lines before the header are skipped. Lines between the rows are skipped if they have another number of cells than
    the header, because many tools mix the output of the program with their rows.

    Parameters
    ----------
    source
        The file.
    header
        Returns whether these cells are the header.
    short
        Returns whether a line with fewer cells than the header is a row. The missing cells at its end are then empty.
    plain
        Columns whose numbers always have a decimal point, whatever the other columns use.
    strict
        Whether a line between the rows is an error if it has several cells, but not the same number as the header.
        Lines that begin with ``#`` are comments.
    only_rows
        Whether a tool wrote only rows below the header. Then any incomplete last line is a row that is cut off, and
        lines are checked as with `strict`.
    index
        The name of a first column without a header whose cells are texts. Without this name the column is left out.

    Raises
    ------
    ProfileError
        If there is no such header (a `NoHeaderError`), two columns have the same name, there are more than 20,000
        columns or 100 million cells, a line is longer than 16 MiB, or the file ends within a row.

    Examples
    --------
    >>> rows = read_table(Source.of(b"==PROF== hello\n\na;b\n1;2,5\ndone\n3;4\n"), header=lambda cells: "a" in cells)
    >>> dict(rows.columns), list(rows.lines), rows.skipped, rows.numbers("b").tolist()
    ({'a': ['1', '3'], 'b': ['2,5', '4']}, [4, 6], 1, [2.5, 4.0])
    """
    with io.TextIOWrapper(source.open(), encoding=source.encoding) as text:
        lines = _Lines(text, source)
        names, delimiter = _header(lines, header, source)
        rows = _RowReader(lines, delimiter, len(names), source, short, strict, only_rows)
        cells = rows.read()
    units = None
    first = cells.first_row() if rows.numbers else []
    if are_units(first):
        units = {name: cell for name, cell in zip(names, first, strict=True) if name}
        rows.numbers.drop_first()
        cells.drop_first_row()
    if index and not names[0] and index not in names and (first := cells.first_row()):
        names[0] = "" if notation.is_number(first[0]) or not first[0].strip() else index
    columns = Columns(cells, {name: at for at, name in enumerate(names) if name})
    return DelimitedTable(
        source,
        columns,
        rows.numbers,
        skipped=rows.skipped,
        units=units,
        plain=plain,
        has_last_end=lines.has_last_end,
        delimiter=delimiter,
    )


def are_units(cells: Sequence[str]) -> bool:
    """Return whether the cells under a header are a row of units: no numbers, and no first cell or known units only.

    Examples
    --------
    >>> are_units(["", "us", "register/thread"]), are_units(["%", "ms", ""]), are_units(["gemm", "ms"])
    (True, True, False)
    >>> are_units(["[-]", "1", "1e9", "us"]), are_units(["G", "1"])
    (True, False)
    """
    filled = [cell for cell in cells if not is_no_unit(cell)]
    if any(map(notation.is_number, cells)):
        # "1" and a factor such as "1e9" are numbers too, but no kernel without a name has units as its numbers.
        texts = [cell for cell in filled if not notation.is_number(cell)]
        return is_no_unit(cells[0]) and bool(texts) and all(map(is_unit, filled))
    return bool(filled) and (not cells[0].strip() or all(map(is_unit, filled)))


# -- what looks like a header, for messages ------------------------------------------------------------------------

_HEAD_LINES: Final = 50
_MAX_NAME_CHARS: Final = 80
_MAX_SEEN_COLUMNS: Final = 1000


def first_lines(source: Source) -> list[str]:
    """Return the first 50 lines of a text."""
    return source.beginning.removeprefix("\ufeff").splitlines()[:_HEAD_LINES]


def columns_seen(source: Source) -> dict[str, str]:
    r"""Return the columns of a text that looks like a table, or of a JSON list of objects, with their first cells.

    For other texts the result is empty.

    Examples
    --------
    >>> columns_seen(Source.of(b"# my run\nop;gflop\nmatmul;3\n")), columns_seen(Source.of(b"hello, world\n"))
    ({'op': 'matmul', 'gflop': '3'}, {})
    """
    if source.beginning.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return columns_of_text(source)[0]
    document = source.document()
    if not isinstance(document, list) or not all(map(_is_record, document)):
        return {}
    return {str(name): str(cell) for name, cell in document[0].items()} if document else {}


def columns_of_text(source: Source) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns of a table with the cells of its first row, and with the cells of its row of units.

    The header is the first line after which a line has the same number of cells.
    """
    lines = [line for line in first_lines(source) if line.strip()]
    for at, (line, following) in enumerate(itertools.pairwise(lines)):
        for mark in DELIMITERS:
            names, cells = (split_line(text, mark) for text in (line, following))
            if 1 < len(names) == len(cells) <= _MAX_SEEN_COLUMNS and are_column_names(names):
                if not are_units(cells):
                    return dict(zip(names, cells, strict=True)), {}
                first = split_line((*lines[at + 2 : at + 3], "")[0], mark) or [""] * len(names)
                return dict(zip(names, first, strict=False)), dict(zip(names, cells, strict=True))
    return {}, {}


def _is_record(entry: object) -> bool:
    return isinstance(entry, Mapping) and not any(isinstance(value, (list, Mapping)) for value in entry.values())


def split_line(line: str, mark: str) -> list[str]:
    """Return the cells of one line; an empty list if the line does not contain the delimiter."""
    return [cell.strip() for cell in parse_row(iter([line]), mark)[0]] if mark in line else []


def are_column_names(cells: Sequence[str]) -> bool:
    """Return whether cells look like the header of a table: short texts that are no numbers."""
    return all(len(cell) <= _MAX_NAME_CHARS and not notation.is_number(cell) for cell in cells) and any(cells)
