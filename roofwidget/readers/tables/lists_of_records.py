"""Tables of any origin: CSV, Parquet, JSON lists of records, data frames (pandas, polars, Arrow …), lists of dicts.

Tables of any tool that writes one row per kernel can be read. The table needs a column of names, and a column of FLOPs,
bytes or seconds.

- Names of kernels: ``name``, ``kernel``, ``operation``, ``layer``, ``function``, ``benchmark`` and the like. A table
  without any text has kernels that are named by their rows, with a warning.
- Amounts: ``flops``, ``bytes`` (``flops:fp16``, ``bytes:L2``, ``DRAM bytes`` for one precision or level); ``time`` or
  ``duration``; ``self_time``, ``count``, ``precision``, ``category``. Without a unit the numbers are FLOPs, bytes and
  seconds, totals over all launches; but ``duration``, ``latency`` and similar words need a unit.
- Ratios: ``AI`` or ``arithmetic intensity`` (FLOP/B), ``performance (GFLOP/s)``, ``bandwidth (GB/s)``. Two of FLOPs,
  seconds and FLOP/s give the third; so do FLOPs, bytes and FLOP/B, and bytes, seconds and bytes/s. A table of
  intensities and rates alone gives `Kernels.intensity` and `Kernels.rate`: FLOPs, bytes and seconds stay unknown.
- Averages (``avg time (ms)``, ``time per call (us)``) times the column of launches give totals.
- Units: in brackets or at the end of the header (``time (us)``, ``bytes [MB]``, ``duration_ns``, ``time/ms``,
  ``Runtime in ms``), in a row of units under the header, in the cells (``1.5 ms``), where each cell has its own, or in
  a column beside (``time``, ``time unit``). A factor may stand instead: ``op count (x10^9)``, ``FLOPs [G]``; and ``-``
  or ``1`` for no unit.
- Bytes read and bytes written (``dram_read_bytes``, ``HBM write (MB)``) are added. One without the other is not all
  bytes, and a row that lacks one is unknown. The memory that a kernel occupies (``Mem (GiB)``) is no traffic.
- Numbers: one notation holds for a file, ``1,234.5`` or ``1.234,5``, and any number may prove it. If none does, a point
  is a decimal mark; a comma separates thousands between commas, is a decimal mark between semicolons, and is an error
  otherwise: ``decimal=","`` tells. A cell such as ``< 0.001`` is unknown, with a warning.
- A column ``measured on`` or ``ran on`` names the catalogue's chip on which all kernels ran; this chip becomes
  `Kernels.chip`. If the column names no known chip, or two chips, a warning says so.
- Shares, statistics (minimum, maximum, deviation), moments, numbers of rows and sizes are no amounts. A last row with
  the sums or means of the other rows is left out, with a warning.
- Tables of TraceLens, XProf and fasterbench as data frames or in files of any form.

A JSON document may have the list of records under a key of at most three levels (``{"results": [{…}]}``), and the
table may be written by columns (``{"name": […], "flops": […]}``) or in any form of ``DataFrame.to_json``. If a key
such as ``hardware`` or ``gpu`` stands beside it, it gives the chip: by a name of the catalogue, or by a peak and a
bandwidth with units in their keys (``peak_tflops``, ``fp16_tflops``, ``bandwidth_gb_s``). A file with an object on each
line (``.jsonl``) is a list of these objects.

Tables that are printed for people are read too: Markdown, boxes of characters, and columns that spaces align, as
pandas, polars, DuckDB, psql and rich print them. If the print leaves out rows, save the table as CSV. The index of a
data frame has the names of kernels if no column has them.

A workbook (``.xlsx``, ``.xlsm``, ``.ods``) is read as its sheets are: the first sheet with a table of kernels, or
``sheet="its name"``. Titles above the table, a row of units and notes below it are understood, formulas have their
saved values, and dates are texts.

If two columns mean the same, our own word wins. If a table has more than it needs and the numbers disagree by more than
their digits allow, FLOPs, bytes and seconds win over ratios, and a warning says where. A word such as ``GFLOPS`` may be
a count or a rate. It is used if the other columns contradict one of the two, or if the table has intensities and no
times; else a warning asks.

Name other columns with ``columns={"flops": "their column"}``, or ``("their column", "GFLOP")`` with a unit
(``"GFLOP/s"`` is a rate, ``"us/launch"`` an average). A row has as many cells as the header. Lines with one cell, or
that begin with ``#``, are not rows. All other columns of numbers or texts go to `Kernels.extra`. A warning names
columns that look like FLOPs, bytes or a time and are not used. `roofwidget.bound`, `roofwidget.roofline` and
`Kernels.from_dataframe` understand the columns of a data frame in the same way.

In text files, the apostrophe that keeps spreadsheets from reading a text as a formula (``'=f``) is removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.arrow import metadata_of
from roofwidget.kernels.column_meanings import (
    CHIP,
    INDEX,
    UNCLEAR,
    lacking,
    may_have_units,
    named_by_index,
    no_column,
    take_units,
    unit_in,
    units_beside,
    with_units,
)
from roofwidget.kernels.columns import DictColumn, Floats
from roofwidget.kernels.dataframes import GivenColumns, columns_of, is_frame, opened, own_arguments
from roofwidget.kernels.table import Kernels
from roofwidget.kernels.table_fields import (
    columns_and_units,
    found_in,
    kernels_arguments,
    with_index,
    with_own,
)
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input import documents, workbooks
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import nested, notation
from roofwidget.readers.tables.delimited import (
    DELIMITERS,
    MAX_COLUMNS,
    DelimitedTable,
    NoHeaderError,
    columns_of_text,
    first_lines,
    read_table,
    split_line,
)
from roofwidget.readers.tables.notation import unguarded
from roofwidget.readers.tables.parquet import columns_of_parquet
from roofwidget.readers.tables.tools import lacking_columns, tool_arguments, tool_table
from roofwidget.support.did_you_mean import did_you_mean, listed

# -- reader --------------------------------------------------------------------------------------------------------

FORMAT: Final = "table"
EXPECTED: Final = (
    "a table (CSV, Parquet, workbook, JSON records) with a column of names and columns of FLOPs, bytes or seconds"
)
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_MAX_COLUMNS_WITH_UNITS: Final = 64
"""A wider table has counters, whose cells have no units."""
_MAX_EMPTY_CELLS: Final = 16
"""More than there are ways to write that a cell is empty."""
_PARQUET: Final = b"PAR1"
_HOW: Final = "pass columns="
_NO_RECORDS: Final = "expected a list of objects, one per kernel"
# An object, or a list. A line such as "[INFO] start" or "[12:00:01] start" is none.
_BEGIN_OF_JSON: Final = re.compile(r"""\ufeff?\s*(?:\{|\[\s*(?:[\[\]{"]|-?\d[-+.\deE]*\s*[,\]]))""")
_BEGIN_OF_RECORDS: Final = re.compile(r"\s*(?:\[\s*(?=\{)|\{)")


def recognises(source: Source) -> bool:
    """Whether the file is Parquet, or a table or list of records with known column names."""
    if workbooks.is_workbook(source) or source.head.startswith(_PARQUET):
        return True
    if source.is_folder:
        return False
    document = source.document(_begins_with_record)
    if document is not None:
        found = nested.records_in(document, _is_header)
        return found is not None and _is_header(found.first_keys)
    if (record := nested.line_record(source)) is not None:
        return _is_header(list(record))
    if any(_is_header(split_line(line, mark)) for line in first_lines(source) for mark in DELIMITERS):
        return True
    return _has_units(*columns_of_text(source))


def read(
    source: Source,
    *,
    columns: Mapping[str, Any] | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> Kernels:
    """Read a table of kernels from a file.

    Parameters
    ----------
    source
        The file.
    columns
        Column names by field, for columns that are not found automatically: a name, or a name and its unit.
    decimal
        The decimal mark, ``"."`` or ``","``, if the file's numbers do not prove it.
    sheet
        The sheet of a workbook. None reads the first sheet that has a table of kernels.
    """
    if workbooks.is_workbook(source):
        return _kernels_of_workbook(source, columns, sheet)
    if source.head.startswith(_PARQUET):
        cells, metadata = columns_of_parquet(source)
        try:
            return _of_columns(cells, metadata, source.name, columns)
        except ValueError as error:
            raise error if isinstance(error, ProfileError) else source.error(str(error)) from None
    # The user may name columns that have no known name.
    document = source.document(_BEGIN_OF_RECORDS.match if columns else _may_be_records)
    if document is not None:
        return _kernels_of_document(document, source.name, columns)
    if nested.line_record(source) is not None:
        return _kernels(_Given(nested.columns_of_records(nested.line_records(source)), source.name), columns)
    try:
        found = _table(source, [column for given in (columns or {}).items() for column, _ in columns_and_units(*given)])
    except ProfileError as error:
        # A table may come after a line of JSON.
        if error.row is None and _BEGIN_OF_JSON.match(source.beginning):
            raise source.damage or source.error(_NO_RECORDS) from None
        raise
    if decimal is not None:
        found.decimal = decimal
    return _kernels(_Read(found), columns)


def _kernels_of_document(document: object, name: str, own: Mapping[str, Any] | None) -> Kernels:
    """Return the kernels of a list of records in a JSON document, and the chip that the document names beside it."""
    wanted = [column for given in (own or {}).items() for column, _ in columns_and_units(*given)]
    found = nested.records_in(document, lambda keys: set(wanted) <= set(keys) if wanted else _is_header(keys))
    if found is None:
        raise ProfileError(name, _NO_RECORDS)
    kernels = _kernels(_Given(found.columns, name), own)
    messages = [*found.messages]
    if kernels.chip is None:
        kernels.chip, about_chip = nested.chip_beside(document, name, set(kernels.precision.tolist()))
        messages += about_chip
    kernels.warnings = (*kernels.warnings, *messages)
    return kernels


def _kernels_of_workbook(source: Source, columns: Mapping[str, Any] | None, sheet: str | None) -> Kernels:
    """Return the kernels of the named sheet, or of the first sheet that has a table of kernels."""
    found = workbooks.sheets(source)
    names = [each.name for each in found]
    if sheet is not None and sheet not in names:
        raise source.error(
            f"there is no sheet '{sheet}' with cells{did_you_mean(sheet, names, f'; there are {listed(names)}')}"
        )
    failed: ProfileError | None = None
    for each in found if sheet is None else [found[names.index(sheet)]]:
        text = each.source(source.name)
        if sheet is None and not columns and not recognises(text):
            continue
        try:
            kernels = read(text, columns=columns, decimal=".")
        except ProfileError as error:
            failed = failed or error
            continue
        if each.formulas_without_value:
            said = f"formulas without a saved value: {each.formulas_without_value}; open the workbook and save it"
            kernels.warnings = (*kernels.warnings, said)
        return kernels
    if failed is not None:
        raise failed
    if not names:
        raise source.error(f"the workbook has no cells: {workbooks.INSTEAD}")
    none = f"no sheet has a table of kernels ({listed(names)})"
    raise source.error(f"{none}: pass columns=, or {workbooks.INSTEAD}")


def _table(source: Source, wanted: Sequence[str]) -> DelimitedTable:
    """Return the table whose header has the wanted columns; if none are wanted, the table with known column names."""
    seen, row_units = columns_of_text(source)
    # A row of units looks like a header too.
    is_seen = not wanted and _has_units(seen, row_units)
    try:
        found = read_table(
            source,
            header=lambda cells: (
                list(cells) == list(seen)
                if is_seen
                else set(wanted) <= set(map(unguarded, cells))
                if wanted
                else _is_header(cells)
            ),
            strict=True,
            index=INDEX,
        )
    except NoHeaderError:
        if not seen:
            raise
        missing = [column for column in wanted if column not in seen]
        reason = no_column(missing[0], list(seen)) if missing else lacking_columns(seen)
        raise source.error(reason) from None
    if not len(found):
        raise source.error(f"no row under the header, whose columns are {listed(list(found.columns)[:12])}")
    return found


def takes(given: object) -> bool:
    """Whether an object is a data frame, a mapping of columns, or a list of kernels, tuples or dicts."""
    return is_frame(given) or isinstance(given, (list, tuple))


def read_object(given: Any, *, columns: Mapping[str, Any] | None = None) -> Kernels:
    """Return kernels from a data frame, a mapping of columns, or a list."""
    if isinstance(given, (list, tuple)) and not nested.are_records(given):
        return Kernels.from_records(given)
    if columns is None and isinstance(given, (list, tuple)) and all("name" in record for record in given):
        keywords = {"name", "flops", "bytes", "time", "precision", "category", "count"}
        if all(record.keys() <= keywords for record in given):
            return Kernels.from_records(given)
    name = type(given).__name__
    if isinstance(given, (list, tuple)):
        return _kernels(_Given(nested.columns_of_records(given), name), columns)
    try:
        frame = opened(given)
        return _of_columns(columns_of(frame), metadata_of(frame), name, columns)
    except ValueError as error:
        raise error if isinstance(error, ProfileError) else ProfileError(name, str(error)) from None


def _of_columns(
    found: Mapping[str, Any], metadata: Mapping[bytes, bytes] | None, name: str, own: Mapping[str, Any] | None
) -> Kernels:
    """Return the kernels of a data frame or a Parquet file. Columns that the user names are not those of `Kernels`."""
    arguments = None if own else own_arguments(found, metadata)
    return _kernels(_Given(found, name), own) if arguments is None else Kernels(**arguments)


class _Read:
    """A table whose cells are texts that have to be parsed."""

    keeps_empty = False
    states_own_fields = True
    how = _HOW

    def __init__(self, read: DelimitedTable) -> None:
        self._read = read
        self.name = read.source.name
        guarded = {unguarded(column): column for column in read.columns}
        # If two headers differ only in the apostrophe of `unguarded`, all headers stay unchanged.
        self._columns = guarded if len(guarded) == len(read.columns) else {column: column for column in read.columns}
        self.names: Sequence[str] = list(self._columns)
        self.skipped = read.skipped
        self.units = {name: read.units.get(column, "") for name, column in self._columns.items()} if read.units else {}
        self._taken: dict[str, Any] = {}
        self.in_cells: Collection[str] = ()
        if len(self.names) <= _MAX_COLUMNS_WITH_UNITS:
            asked = [name for name in self.names if not self.units.get(name) and may_have_units(name)]
            self._taken = {name: read.without_bounds(self._columns[name]) for name in asked if self._has_units(name)}
            beside = {
                name: unit
                for name, unit in units_beside(self.names).items()
                if name in asked and name not in self._taken
            }
            self._taken |= {
                name: with_units(read.texts(self._columns[name]), read.texts(self._columns[unit]))
                for name, unit in beside.items()
            }
            taken = take_units(self._taken, self._taken, self._numbers_of)
            self.units |= dict.fromkeys(beside, UNCLEAR) | taken
            self.in_cells = frozenset(taken)

    def _has_units(self, name: str) -> bool:
        return any(map(unit_in, self._read.columns.column(self._columns[name]).different(_MAX_EMPTY_CELLS)))

    def _numbers_of(self, texts: Sequence[str]) -> tuple[Floats, int | None]:
        return notation.numbers(texts, self._read.mark_of(texts))

    def numbers(self, column: str, *, truths: bool = False) -> Floats:  # noqa: ARG002 - a text is no truth value
        if isinstance(taken := self._taken.get(column), np.ndarray):
            return taken
        return self._read.numbers(self._columns[column], least=-np.inf)

    def words(self, column: str) -> DictColumn:
        return self._read.coded(self._columns[column]).map(lambda cell: unguarded(cell or "") or None)

    def refuse(self, row: int, column: str, reason: str) -> ProfileError:
        return self._read.error(row, self._columns[column], reason)

    def bounds(self) -> list[str]:
        """Return the warnings of `DelimitedTable.bounds`."""
        return self._read.bounds()


class _Given(GivenColumns):
    """Columns whose values are already numbers or texts, as in a data frame. Errors name the source."""

    keeps_empty = False
    states_own_fields = True

    def __init__(self, given: Mapping[str, Sequence[Any]], name: str) -> None:
        if len(given) > MAX_COLUMNS:
            raise ProfileError(name, f"a table of {len(given):,} columns; the limit is {MAX_COLUMNS:,}")
        super().__init__(given, _HOW)
        self.name = name

    def numbers(self, column: str, *, truths: bool = False) -> Floats:
        try:
            return super().numbers(column, truths=truths)
        except ValueError as error:
            raise ProfileError(self.name, str(error)) from None

    def words(self, column: str) -> DictColumn:
        try:
            return super().words(column)
        except ValueError as error:
            raise ProfileError(self.name, str(error)) from None

    def refuse(self, row: int, column: str, reason: str) -> ProfileError:
        return ProfileError(self.name, reason, row=row, column=column)


def _begins_with_record(text: str) -> bool:
    """Return whether the begin of a JSON text has a list of objects with known column names."""
    firsts = nested.first_records(text)
    return nested.may_be_columns(text) or any(isinstance(one, Mapping) and _is_header(list(one)) for one in firsts)


def _may_be_records(text: str) -> bool:
    """Return whether the first object of a list has a known column of names, or is longer than the text."""

    def may_be(record: Mapping[str, Any] | json.JSONDecodeError) -> bool:
        if isinstance(record, json.JSONDecodeError):
            return documents.has_open_string(text, record.pos) or record.pos >= len(text) - 1
        return "name" in found_in(list(record)).fields or tool_table(list(record)) is not None

    return nested.may_be_columns(text) or any(map(may_be, nested.first_records(text)))


def _is_header(cells: Sequence[str]) -> bool:
    if len(cells) > MAX_COLUMNS:
        return False
    if tool_table(cells) is not None or found_in(cells).is_enough:
        return True
    # The first column of a table of pandas is its index, which may have the names.
    first = (cells[0] or INDEX) if cells else ""
    return named_by_index([first], lambda _: True) is not None and found_in(["name", *cells[1:]]).is_enough


def _has_units(seen: Mapping[str, str], row_units: Mapping[str, str]) -> bool:
    """Return whether the units under a header, or in its first row, make the table one of kernels."""
    found = row_units or {name: unit for name, cell in seen.items() if (unit := unit_in(cell))}
    return bool(found) and found_in(list(seen), found).is_enough


def _kernels(given: _Read | _Given, own: Mapping[str, Any] | None) -> Kernels:
    try:
        arguments = tool_arguments(given, given.name, own) or _plain_arguments(given, own)
        if isinstance(given, _Read):
            arguments["warnings"] = [*arguments["warnings"], *given.bounds()]
        return Kernels(**arguments, source=given.name)
    except ValueError as error:
        raise error if isinstance(error, ProfileError) else ProfileError(given.name, str(error)) from None


def _plain_arguments(given: _Read | _Given, own: Mapping[str, Any] | None) -> dict[str, Any]:
    dialect = with_index(found_in(given.names, given.units, given.in_cells), given)
    if own:
        dialect = with_own(dialect, own, given.names, given.units, given.in_cells)
    is_named = "name" in dialect.fields
    texts = [] if is_named and dialect.is_enough else _texts(given)
    if not (dialect.is_enough or (not texts and dialect.stems & {"flops", "bytes", "time"})) or (
        texts and not is_named
    ):
        raise ProfileError(given.name, lacking(given.names, dialect.fields, texts, given.units))
    return kernels_arguments(given, dialect, is_chip_asked=CHIP in (own or {}))


def _texts(given: _Read | _Given) -> list[str]:
    """Return the columns whose cells are texts and no numbers."""
    return [name for name in given.names if not _is_numeric(given, name)]


def _is_numeric(given: _Read | _Given, name: str) -> bool:
    try:
        given.numbers(name)
    except ValueError:
        return False
    return True
