"""Tables of one tool as data: the columns that tell the tool, and what each column means.

A reader declares the tables of its tool as `ToolTable` values. The functions here find such a table in a text or among
the columns of a data frame, and return the arguments of `Kernels`.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from roofwidget import units
from roofwidget.kernels.column_meanings import BASE_UNITS, CHIP, number_and_unit, unit_of
from roofwidget.kernels.columns import Bools, DictColumn, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.kernels.table_fields import Dialect, Field, TableColumns, kernels_arguments, with_own
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source, folded
from roofwidget.readers.tables import notation
from roofwidget.readers.tables.delimited import (
    DELIMITERS,
    MAX_COLUMNS,
    CellTest,
    DelimitedTable,
    read_table,
    split_line,
)
from roofwidget.readers.tables.notation import is_number, unguarded
from roofwidget.support.arrays import Places
from roofwidget.support.text_tables import counted

# -- what a tool writes --------------------------------------------------------------------------------------------

_WITH_UNIT: Final = re.compile(r"(?P<stem>.*\S)\s*[(\[](?P<unit>[^()\[\]]*)[)\]]\s*", re.DOTALL)


@dataclass(frozen=True)
class ToolColumn:
    """A column that has one of our fields.

    Parameters
    ----------
    name
        The header, with or without its unit. Case, and spaces or underscores, do not matter.
    unit
        The unit of the numbers, if neither the header nor a row of units says another. ``"GFLOP/s"`` for FLOPs and
        ``"GB/s"`` for bytes are rates: they are multiplied by the time.
    per
        ``"launch"`` if the number is for one launch; ``""`` for a total.
    rule
        Where the number comes from, for `Kernels.origin`; empty if the column's name is enough.
    has_unit_in_cells
        Whether cells are texts such as ``"1.234s"``.
    is_binary
        Whether the tool writes KB, MB and GB for powers of 1024 bytes.
    """

    name: str
    unit: str = ""
    per: str = ""
    rule: str = ""
    has_unit_in_cells: bool = False
    is_binary: bool = False

    def field_of(self, key: str, header: str, row_unit: str = "") -> Field | None:
        """Return the field `key` for a column, or None if the column is another, or has a unit of another quantity.

        Parameters
        ----------
        key
            The field, such as ``"time"`` or ``"bytes:L2"``.
        header
            The column's header.
        row_unit
            The column's unit in a row of units; empty if there is none.
        """
        stem, header_unit = split_unit(header)
        if _plain(header) == _plain(self.name):
            header_unit = ""
        elif _plain(stem) != _plain(self.name):
            return None
        quantity = BASE_UNITS.get(key.split(":", maxsplit=1)[0])
        if quantity is None:
            return None if header_unit else Field(header, per=self.per, rule=self.rule)
        unit = header_unit or row_unit or self.unit
        amount = unit.removesuffix("/s") if quantity in {"FLOP", "B"} else unit
        scale = factor(re.sub("^([KMG])B$", r"\1iB", amount) if self.is_binary else amount, quantity)
        if scale is None:
            return None
        return Field(header, scale, "second" if amount != unit else self.per, self.rule)


@dataclass(frozen=True)
class LeftOut:
    """Rows that are not kernels of a device.

    Parameters
    ----------
    column
        The header of the column that tells such rows.
    cell
        The pattern of the whole cell.
    what
        What the rows are, for the warning: ``"calls of the host's API"``.
    """

    column: str
    cell: re.Pattern[str]
    what: str


@dataclass(frozen=True)
class ToolTable:
    """A table that a tool writes.

    Parameters
    ----------
    tool
        The name of the tool, and of the dialect.
    told_by
        Sets of headers, with or without their units. A table is of this tool if it has all headers of one set.
    columns
        The columns of each field, such as ``"time"`` or ``"bytes:L2"``. The first that the table has is used.
    left_out
        Rows that are not kernels.
    keeps
        Returns which rows are kernels, as a mask of shape (n,), where a pattern does not tell them.
    notes
        Warnings that hold of each such table.
    has_unit_row
        Whether the row under the header may be a row of units even if its first cell is not empty.
    refusal
        Why the table has no kernels, and what to read instead; empty if it has kernels.
    short
        Which rows may end early; see `read_table`.
    uncounted
        Fields that the tool writes as 0 together where it does not count them.
    """

    tool: str
    told_by: Sequence[Collection[str]]
    columns: Mapping[str, Sequence[ToolColumn]] = field(default_factory=dict)
    left_out: Sequence[LeftOut] = ()
    keeps: Callable[[TableColumns], Bools] | None = None
    notes: Sequence[str] = ()
    has_unit_row: bool = False
    refusal: str = ""
    short: CellTest | None = None
    uncounted: Collection[str] = ()

    def is_header(self, names: Sequence[str]) -> bool:
        """Return whether these are the headers of such a table.

        Examples
        --------
        >>> ToolTable("tool", [{"Kernel", "Time"}]).is_header(["ID", "kernel", "Time [us]"])
        True
        """
        if len(names) > MAX_COLUMNS:
            return False
        there = {_plain(text) for name in names for text in (name, split_unit(name)[0])}
        return any(headers <= there for headers in self._plain)

    def has_words(self, text: str) -> bool:
        """Return whether a text that `folded` returned has all headers of one set, as words that may be anywhere."""
        return any(all(header in text for header in headers) for headers in self._folded)

    @functools.cached_property
    def _folded(self) -> list[list[str]]:
        return [list(map(folded, headers)) for headers in self.told_by]

    @functools.cached_property
    def _plain(self) -> list[frozenset[str]]:
        return [frozenset(map(_plain, headers)) for headers in self.told_by]

    def dialect(self, names: Sequence[str], row_units: Mapping[str, str] | None = None) -> Dialect | None:
        """Return which column has which field, or None if the columns are not those of this table.

        Examples
        --------
        >>> table = ToolTable("tool", [{"Kernel"}], {"time": [ToolColumn("Time", "ms")]})
        >>> table.dialect(["Kernel", "Time [us]"]).fields["time"]
        Field(column='Time [us]', scale=1e-06, per='', rule='')
        """
        if not self.is_header(names):
            return None
        fields = {key: column for key, (column, _) in self._found(names, row_units).items()}
        return Dialect(self.tool, fields, self.uncounted)

    def units_in_cells(self, names: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return the columns whose cells have units: the quantity, and the unit of cells without one."""
        found = self._found(names, None).items()
        return {
            one.column: (BASE_UNITS[key.split(":")[0]], column.unit)
            for key, (one, column) in found
            if column.has_unit_in_cells
        }

    def _found(self, names: Sequence[str], row_units: Mapping[str, str] | None) -> dict[str, tuple[Field, ToolColumn]]:
        row_units = row_units or {}
        found: dict[str, tuple[Field, ToolColumn]] = {}
        for key, columns in self.columns.items():
            for column in columns:
                fields = (column.field_of(key, name, row_units.get(name, "")) for name in names)
                one = next((one for one in fields if one is not None), None)
                if one is not None:
                    found[key] = Field(one.column, 1.0, one.per, one.rule) if column.has_unit_in_cells else one, column
                    break
        return found


def split_unit(header: str) -> tuple[str, str]:
    """Return a header without the unit in brackets at its end, and the unit.

    Examples
    --------
    >>> split_unit("Total Time (ns)"), split_unit("Time(%)"), split_unit("Name")
    (('Total Time', 'ns'), ('Time', '%'), ('Name', ''))
    """
    found = _WITH_UNIT.fullmatch(header) if header.rstrip().endswith((")", "]")) else None
    return (found["stem"], found["unit"].strip()) if found else (header, "")


def factor(unit: str, quantity: str) -> float | None:
    """Return the factor from a unit to the base unit of a quantity, or None if the unit is of another quantity.

    Examples
    --------
    >>> factor("us", "s"), factor("MB", "B"), factor("", "s"), factor("%", "s")
    (1e-06, 1000000.0, 1.0, None)
    """
    if not unit.strip():
        return 1.0
    found = unit_of(unit)
    if found is None or not found.text or BASE_UNITS[found.field] != quantity:
        return None
    return units.parse(f"1 {found.text}", quantity, "the unit")


@functools.lru_cache(4096)
def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").split())


# -- the columns of a text -----------------------------------------------------------------------------------------


class TextColumns:
    """The columns of a table of texts.

    Parameters
    ----------
    read
        The table.
    table
        What the columns mean.
    """

    keeps_empty = False
    states_own_fields = True
    how = "pass columns="

    def __init__(self, read: DelimitedTable, table: ToolTable) -> None:
        self._read, self._table = read, table
        self.names: Sequence[str] = list(read.columns)
        self.skipped = read.skipped
        self.units: Mapping[str, str] = read.units or {}
        self._first = 0
        first = [read.columns.column(name).different(1)[0] for name in read.columns]
        if table.has_unit_row and not self.units and any(first) and not any(map(is_number, first)):
            self.units = dict(zip(self.names, first, strict=True))
            self._first = 1
        self._cell_units = table.units_in_cells(self.names)

    def __len__(self) -> int:
        return len(self._read) - self._first

    def numbers(self, column: str, *, truths: bool = False) -> Floats:  # noqa: ARG002 - a text is no truth value
        if column in self._cell_units:
            return self._numbers_with_units(column)
        if not self._first:
            return self._read.numbers(column, least=-np.inf)
        cells = self._cells(column)
        numbers, bad = notation.numbers(cells, self._read.decimal)
        if bad is not None:
            raise self.refuse(bad, column, f"expected a finite number, got {cells[bad]!a:.60}")
        return numbers

    def words(self, column: str) -> DictColumn:
        words = self._read.coded(column).map(lambda cell: unguarded(cell or "") or None)
        return words.at_rows(np.arange(self._first, len(self._read)))

    def refuse(self, row: int, column: str, reason: str) -> ProfileError:
        return self._read.error(row + self._first, column, reason)

    def bounds(self) -> list[str]:
        """Return the warnings of `DelimitedTable.bounds`."""
        return self._read.bounds()

    def arguments(self) -> dict[str, Any]:
        """Return what `arguments` returns for this table."""
        return arguments(self, self._table, self._read.source.name)

    def _cells(self, column: str) -> list[str]:
        return self._read.texts(column)[self._first :]

    def _numbers_with_units(self, column: str) -> Floats:
        quantity, plain_unit = self._cell_units[column]
        cells = self._read.without_bounds(column)[self._first :]
        different = list(dict.fromkeys(cells))
        parted = [number_and_unit(cell) or (cell, plain_unit) for cell in different]
        plain = [number for number, _ in parted]
        scales = [factor(unit, quantity) for _, unit in parted]
        mark = self._read.mark_of(list(filter(is_number, plain)))
        numbers, bad = notation.numbers(plain, mark)
        bad = next((at for at, scale in enumerate(scales) if scale is None), bad)
        if bad is not None:
            reason = f"expected a number with a unit, such as '1.5{quantity}', got {different[bad]!a:.60}"
            raise self.refuse(cells.index(different[bad]), column, reason)
        values = dict(zip(different, (numbers * np.array(scales, dtype=np.float64)).tolist(), strict=True))
        return np.array([values[cell] for cell in cells], dtype=np.float64)


class KeptRows:
    """Some rows of the columns of a table."""

    def __init__(self, given: TableColumns, rows: Places) -> None:
        self._given = given
        self._rows = rows
        self.names, self.skipped, self.how = given.names, given.skipped, given.how
        self.keeps_empty, self.states_own_fields = given.keeps_empty, given.states_own_fields

    def numbers(self, column: str, *, truths: bool = False) -> Floats:
        return self._given.numbers(column, truths=truths)[self._rows]

    def words(self, column: str) -> DictColumn:
        return self._given.words(column).at_rows(self._rows)

    def refuse(self, row: int, column: str, reason: str) -> ValueError:
        return self._given.refuse(int(self._rows[row]), column, reason)


# -- reading -------------------------------------------------------------------------------------------------------


def find(source: Source, tables: Sequence[ToolTable]) -> ToolTable | None:
    """Return the table whose header is in the first 64 KiB of a text, or None."""
    if source.is_folder:
        return None
    # Most files are of another tool. A search for the words costs much less than splitting each line.
    possible = [table for table in tables if table.has_words(source.folded)]
    for line in source.beginning.removeprefix("\ufeff").splitlines() if possible else ():
        words = folded(line)
        splits = [split_line(line, mark) for mark in DELIMITERS] if any(t.has_words(words) for t in possible) else []
        for table in possible:
            if any(len(names) > 1 and table.is_header(names) for names in splits):
                return table
    return None


def tables_of(source: Source, table: ToolTable) -> list[Source]:
    r"""Return each table of this kind in a text, up to the first line without a cell, on the same lines as in the file.

    Examples
    --------
    >>> text = b"hello\nKernel,Time\na,1\n\nbye\nKernel,Time\nb,2\n"
    >>> [one.text().strip() for one in tables_of(Source.of(text), ToolTable("tool", [{"Kernel", "Time"}]))]
    ['Kernel,Time\na,1', 'Kernel,Time\nb,2']
    """
    lines = source.text().removeprefix("\ufeff").splitlines()
    starts = [
        at
        for at, line in enumerate(lines)
        if table.has_words(folded(line)) and any(table.is_header(split_line(line, mark)) for mark in DELIMITERS)
    ]
    found = []
    for start, following in itertools.pairwise([*starts, len(lines)]):
        end = next(
            (at for at in range(start, following) if not any(mark in lines[at] for mark in DELIMITERS)), following
        )
        found.append(_of_lines(source, start, lines[start:end], is_whole=end < len(lines)))
    return found


def _of_lines(source: Source, before: int, lines: Sequence[str], *, is_whole: bool) -> Source:
    text = "\n" * before + "\n".join(lines) + "\n" * is_whole
    return Source.of_bytes(source.name, text.encode())


def read_columns(source: Source, table: ToolTable, decimal: str | None = None) -> TextColumns:
    """Return the columns of a tool's table, and its units if it has a row of units.

    `decimal` is the decimal mark, if the user gives it.

    Raises
    ------
    ProfileError
        If the table is of a kind without kernels, has no rows, or is damaged.
    """
    if table.refusal:
        raise source.error(table.refusal)
    found = read_table(source, header=table.is_header, short=table.short, strict=True)
    if not len(found):
        raise source.error(f"the table of {table.tool} has no row under its header")
    if decimal is not None:
        found.decimal = decimal
    columns = TextColumns(found, table)
    if not len(columns):
        raise source.error(f"the table of {table.tool} has a row of units and no other row")
    return columns


def arguments(
    given: TableColumns, table: ToolTable, source: str, own: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the arguments of `Kernels` for a tool's table, without the rows that are not kernels.

    `own` has the columns that the user named.

    Raises
    ------
    ProfileError
        If no row is a kernel, or a cell is bad.
    """
    dialect = table.dialect(given.names, given.units if isinstance(given, TextColumns) else None)
    if dialect is None or not dialect.is_enough:
        raise ProfileError(
            source, f"the table of {table.tool} has no column of names, or none of FLOPs, bytes or seconds"
        )
    if own:
        dialect = with_own(dialect, own, given.names)
    keep, warnings = _kept(given, table, dialect.fields["name"].column, source)
    result = kernels_arguments(KeptRows(given, keep), dialect, is_chip_asked=CHIP in (own or {}))
    bounds = given.bounds() if isinstance(given, TextColumns) else []
    result["warnings"] = [*table.notes, *warnings, *result["warnings"], *bounds]
    return result


def kernels_of(found: Mapping[str, Any], source: str) -> Kernels:
    """Return kernels with these arguments.

    Raises
    ------
    ProfileError
        If a value is none that `Kernels` takes, such as a number of launches that is not whole.
    """
    try:
        return Kernels(**found, source=source)
    except ValueError as error:
        raise ProfileError(source, str(error)) from None


def _kept(given: TableColumns, table: ToolTable, names: str, source: str) -> tuple[Places, list[str]]:
    """Return the rows that are kernels, and a warning for each kind of others."""
    keep = np.array([True]) if table.keeps is None else table.keeps(given)
    counts: dict[str, int] = {}
    for rule in table.left_out:
        header = next((name for name in given.names if _plain(name) == _plain(rule.column)), None)
        if header is None:
            continue
        words = given.words(header)
        told = {word: rule.cell.fullmatch(word or "") is not None for word in set(words)}
        is_out = np.array([told[word] for word in words], dtype=np.bool_) & keep
        keep = keep & ~is_out
        counts[rule.what] = counts.get(rule.what, 0) + int(is_out.sum())
    rows = np.flatnonzero(np.broadcast_to(keep, len(given.words(names))))
    if not len(rows):
        raise ProfileError(source, f"no row is a kernel of a device: all rows are {' or '.join(counts) or 'totals'}")
    return rows, [f"{counted(n, 'row')} left out: {what}" for what, n in counts.items() if n]
