"""Tables of any origin: CSV, Parquet, JSON lists of records, data frames of pandas and polars, lists of dicts.

Tables of any tool that writes one row per kernel can be read. The table needs a column of names, and a column of FLOPs,
bytes or seconds.

- Plain words: ``name`` or ``kernel``; ``flops``, ``bytes`` (``flops:fp16``, ``bytes:L2``, ``DRAM bytes`` for one
  precision or level); ``time`` or ``duration``; ``self_time``, ``count``, ``precision``, ``category``. Units are in
  brackets or at the end (``time (us)``, ``duration_ns``, ``bytes [MB]``). Without a unit the numbers are FLOPs, bytes
  and seconds, totals over all launches. A column ``measured on`` or ``ran on`` names the catalogue's chip on which all
  kernels ran; this chip becomes `Kernels.chip`. If the column names no known chip, or two chips, a warning says so.
- TraceLens: ``GFLOPS_first`` and ``Data Moved (MB)_first`` are for one launch. ``Data Moved`` is in MiB. It counts each
  operand once, so it is a model, not measured traffic.
- XProf's roofline table as a data frame: rates (1e9 FLOP/s, 2**30 bytes/s) times total time. Rows of totals and the
  second list without infeed are left out. Operations with neither FLOPs nor bytes are unknown.
- fasterbench: fasterbench writes 0 FLOPs for layers that it does not count. The FLOPs of these layers become unknown.

Name other columns with ``columns={"flops": "their column"}``, or ``("their column", "GFLOP")`` with a unit
(``"GFLOP/s"`` is a rate). A column that is named by its unit alone is used if the unit has one meaning (``GB/s``,
``GFLOP``, ``ms``); ``GFLOPs`` may be a count or a rate, so a warning asks which. A row has as many cells as the header.
Lines with one cell, or that begin with ``#``, are not rows. All other columns of numbers or texts go to
`Kernels.extra`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from roofwidget.chips import AmbiguousChipError, Chip, UnknownChipError
from roofwidget.chips import chip as chip_called
from roofwidget.kernels import columns as checks
from roofwidget.kernels.columns import MAIN_LEVEL, Floats
from roofwidget.kernels.dataframes import FIELDS
from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
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
from roofwidget.readers.tables.dialects import (
    CHIP,
    Dialect,
    Field,
    column_and_unit,
    found_in,
    lacking,
    meanings,
    no_column,
    question,
    with_own,
)
from roofwidget.support.did_you_mean import listed

# -- data frames and Parquet ---------------------------------------------------------------------------------------


def is_frame(given: object) -> bool:
    """Whether `given` is a data frame, an Arrow table or a mapping of columns."""
    if isinstance(given, Mapping):
        return bool(given) and all(_is_column(column) for column in given.values())
    return hasattr(given, "column_names") or (hasattr(given, "columns") and hasattr(given, "__getitem__"))


def _is_column(column: object) -> bool:
    return isinstance(column, (list, tuple, np.ndarray)) or hasattr(column, "to_list")


def columns_of(given: Any) -> dict[str, Sequence[Any]]:
    """Return the columns by name: arrays of numbers, else lists."""
    if isinstance(given, (list, tuple)):
        names = dict.fromkeys(str(name) for record in given for name in record)
        return {name: [record.get(name) for record in given] for name in names}
    if isinstance(given, Mapping):
        return {str(name): _column_values(column) for name, column in given.items()}
    if hasattr(given, "column_names"):
        return {name: given.column(name).to_pylist() for name in given.column_names}
    found: dict[str, Sequence[Any]] = {}
    for name in given.columns:
        if str(name) in found:
            raise ProfileError(type(given).__name__, "two columns have this name", column=str(name))
        found[str(name)] = _column_values(given[name])
    return found


def _column_values(column: Any) -> Any:
    """Return a column's values: an array if all are numbers, else a list."""
    if isinstance(column, np.ndarray):
        return column if column.dtype.kind in "iufb" else column.tolist()
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        return np.asarray(column)
    return column.to_list() if hasattr(column, "to_list") else list(column)


def _parquet(source: Source) -> dict[str, Sequence[Any]]:
    """Return the columns of a Parquet file.

    Raises
    ------
    ImportError
        If neither pyarrow nor polars is installed.
    ProfileError
        If the file is damaged.
    """
    read = _parquet_reader()
    try:
        with source.open() as stream:
            return columns_of(read(stream))
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise ProfileError(source.name, f"the Parquet file is damaged: {first:.200}") from None
    except Exception as error:
        # The errors of polars derive directly from Exception.
        if type(error).__module__.split(".")[0] != "polars":
            raise
        raise ProfileError(source.name, f"the Parquet file is damaged: {error!s:.200}") from None


def _parquet_reader() -> Any:
    try:
        from pyarrow import parquet as arrow  # noqa: PLC0415 - optional
    except ImportError:
        try:
            import polars  # noqa: PLC0415, ICN001 - optional; named as it is
        except ImportError:
            msg = "reading Parquet needs pyarrow or polars: pip install 'roofwidget[parquet]'"
            raise ImportError(msg) from None
        return polars.read_parquet
    return arrow.read_table


# -- the chip that a column names ----------------------------------------------------------------------------------


def _chip_of_column(
    given: _Columns, field: Field | None, rows: npt.NDArray[np.intp], *, is_asked: bool
) -> tuple[Chip | None, list[str]]:
    """Return the chip that a column names (None if no column names a chip), and warnings.

    Raises
    ------
    ProfileError
        If the user named the column, and a cell names no chip of the catalogue or a second chip.
    """
    if field is None:
        return None, []
    try:
        words = given.words(field.column)
        return _one_chip([words[row] for row in rows]), []
    except _NoChipError as error:
        if is_asked:
            raise given.refuse(int(rows[error.row]), field.column, error.reason) from None
        return None, [f"column '{field.column:.60}' does not name one chip: {error.reason}"]
    except ProfileError:
        # The column is not text; it may hold device numbers.
        if is_asked:
            raise
        return None, []


class _NoChipError(LookupError):
    """The cells do not name exactly one chip of the catalogue. The error has a row number and the reason."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row
        self.reason = reason


def _one_chip(words: Sequence[str | None]) -> Chip | None:
    """Return the chip that all filled cells name, or None if all cells are empty."""
    known: dict[str, Chip] = {}
    for row, word in enumerate(words):
        name = (word or "").strip()
        if not name or name in known:
            continue
        try:
            found = chip_called(name)
        except UnknownChipError:
            raise _NoChipError(row, f"the catalogue has no chip '{name:.60}'") from None
        except AmbiguousChipError as error:
            raise _NoChipError(row, str(error)) from None
        other = next(iter(known.values()), found)
        if other.id != found.id:
            raise _NoChipError(row, f"'{other.id}' and '{found.id}', but a table must be of one chip: split it")
        known[name] = found
    return next(iter(known.values()), None)


# -- reader --------------------------------------------------------------------------------------------------------

FORMAT: Final = "table"
EXPECTED: Final = "a table (CSV, Parquet, JSON records) with a column of names and columns of FLOPs, bytes or seconds"

_PARQUET: Final = b"PAR1"
_COUNTED: Final = ("flops", "bytes", "time", "self_time")
# Columns of XProf that select rows.
_SELECTING: Final = ("Step", "step", "Rank", "rank", "Include Infeed/Outfeed", "include_infeed_outfeed")


def recognises(source: Source) -> bool:
    """Whether the file is Parquet, or a table or list of records with known column names."""
    if source.is_folder:
        return False
    if source.head.startswith(_PARQUET):
        return True
    document = source.document()
    if document is not None:
        return _are_records(document) and _is_header(list(document[0]))  # type: ignore[index]  # they are a list
    return any(_is_header(split_line(line, mark)) for line in first_lines(source) for mark in DELIMITERS)


def read(source: Source, *, columns: Mapping[str, Any] | None = None, decimal: str | None = None) -> Kernels:
    """Read a table of kernels from a file.

    Parameters
    ----------
    source
        The file.
    columns
        Column names by field, for columns that are not found automatically: a name, or a name and its unit.
    decimal
        The decimal mark, ``"."`` or ``","``, if the file's numbers do not prove it.
    """
    if source.head.startswith(_PARQUET):
        return _kernels(_Given(_parquet(source), source.name), columns)
    document = source.document()
    if document is not None:
        if not _are_records(document):
            raise ProfileError(source.name, "expected a list of objects, one per kernel")
        return _kernels(_Given(columns_of(document), source.name), columns)
    found = _table(source, [column_and_unit(*given)[0] for given in (columns or {}).items()])
    if decimal is not None:
        found.decimal = decimal
    return _kernels(_Read(found), columns)


def _table(source: Source, wanted: Sequence[str]) -> DelimitedTable:
    """Return the table whose header has the wanted columns; if none are wanted, the table with known column names."""
    try:
        found = read_table(
            source, header=lambda cells: set(wanted) <= set(cells) if wanted else _is_header(cells), strict=True
        )
    except NoHeaderError:
        names = columns_of_text(source)
        if not names:
            raise
        missing = [column for column in wanted if column not in names]
        reason = no_column(missing[0], names) if missing else lacking(names, found_in(names).fields)
        raise ProfileError(source.name, reason) from None
    if not len(found):
        raise ProfileError(
            source.name, f"no row under the header, whose columns are {listed(list(found.columns)[:12])}"
        )
    return found


def takes(given: object) -> bool:
    """Whether an object is a data frame, a mapping of columns, or a list of kernels, tuples or dicts."""
    return is_frame(given) or isinstance(given, (list, tuple))


def read_object(given: Any, *, columns: Mapping[str, Any] | None = None) -> Kernels:
    """Return kernels from a data frame, a mapping of columns, or a list."""
    if isinstance(given, (list, tuple)) and not _are_records(given):
        return Kernels.from_records(given)
    if columns is None and isinstance(given, (list, tuple)) and all("name" in record for record in given):
        keywords = {"name", "flops", "bytes", "time", "precision", "category", "count"}
        if all(record.keys() <= keywords for record in given):
            return Kernels.from_records(given)
    return _kernels(_Given(columns_of(given), type(given).__name__), columns)


class _Read:
    """A table whose cells are texts that have to be parsed."""

    def __init__(self, read: DelimitedTable) -> None:
        self._read = read
        self.name = read.source.name
        self.names = list(read.columns)
        self.skipped = read.skipped

    def numbers(self, column: str) -> Floats:
        return self._read.numbers(column, least=-np.inf)

    def words(self, column: str) -> list[str | None]:
        return [cell or None for cell in self._read.texts(column)]

    def refuse(self, row: int, column: str, reason: str) -> ProfileError:
        return self._read.error(row, column, reason)


class _Given:
    """Columns whose values are already numbers or texts, as in a data frame."""

    skipped = 0

    def __init__(self, given: Mapping[str, Sequence[Any]], name: str) -> None:
        if len(given) > MAX_COLUMNS:
            raise ProfileError(name, f"a table of {len(given):,} columns; the limit is {MAX_COLUMNS:,}")
        self._given = given
        self.name = name
        self.names = list(given)

    def numbers(self, column: str) -> Floats:
        values = self._given[column]
        if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
            return np.asarray(values, dtype=np.float64)
        try:
            return checks.float_cells([_plain(value) for value in values], column)
        except ValueError as error:
            raise ProfileError(self.name, str(error)) from None

    def words(self, column: str) -> list[str | None]:
        try:
            return checks.text_cells(self._given[column], column) or []
        except ValueError as error:
            raise ProfileError(self.name, str(error)) from None

    def refuse(self, row: int, column: str, reason: str) -> ProfileError:
        return ProfileError(self.name, reason, row=row, column=column)


_Columns: TypeAlias = _Read | _Given
"""The columns of a table from any source."""


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, (bool, np.bool_)) else value


def _are_records(given: object) -> bool:
    return isinstance(given, (list, tuple)) and bool(given) and all(isinstance(record, Mapping) for record in given)


def _is_header(cells: Sequence[str]) -> bool:
    return len(cells) <= MAX_COLUMNS and found_in(cells).is_enough


def _kernels(given: _Columns, own: Mapping[str, Any] | None) -> Kernels:
    dialect = found_in(given.names)
    if own:
        try:
            dialect = with_own(dialect, own, given.names)
        except ValueError as error:
            raise ProfileError(given.name, str(error)) from None
    if not dialect.is_enough:
        raise ProfileError(given.name, lacking(given.names, dialect.fields))
    rows = _selected(given, dialect)
    amounts = _Fields(given, dialect, rows)
    flops, moved = amounts.by_key("flops", ""), amounts.by_key("bytes", MAIN_LEVEL)
    warnings = _remarks(given, dialect)
    if dialect.name in {"XProf", "fasterbench"}:
        flops, moved, more_warnings = _with_unknowns(dialect, flops, moved)
        warnings += more_warnings
    chip, more_warnings = _chip_of_column(given, dialect.fields.get(CHIP), rows, is_asked=CHIP in (own or {}))
    used = {field.column for key, field in dialect.fields.items() if key != CHIP or chip is not None}
    try:
        return Kernels(
            amounts.names(),
            flops,
            moved,
            time=amounts.time,
            self_time=amounts.amount("self_time"),
            precision=amounts.precision(),
            category=amounts.words("category"),
            count=amounts.count,
            origin=_origins(given, dialect, rows),
            extra=_extra(given, [name for name in given.names if name not in used], rows),
            warnings=[*warnings, *more_warnings],
            source=given.name,
            chip=chip,
        )
    except ValueError as error:
        raise error if isinstance(error, ProfileError) else ProfileError(given.name, str(error)) from None


def _selected(given: _Columns, dialect: Dialect) -> npt.NDArray[np.intp]:
    """Return the rows that are kernels; XProf's table also has totals, and repeats all rows without infeed."""
    count = len(given.words(dialect.fields["name"].column))
    keep = np.ones(count, dtype=np.bool_)
    if dialect.name == "XProf":
        for column in set(_SELECTING) & set(given.names):
            if column.casefold() == "rank":
                keep &= given.numbers(column) > 0
            elif column.casefold() == "step":
                keep &= np.array([word == "Total" for word in given.words(column)])
            else:
                keep &= _truths(given, column)
    return np.flatnonzero(keep)


def _truths(given: _Columns, column: str) -> npt.NDArray[np.bool_]:
    try:
        numbers: npt.NDArray[np.bool_] = given.numbers(column) != 0
    except ProfileError:
        return np.array([(word or "").casefold() == "true" for word in given.words(column)])
    return numbers


class _Fields:
    """The fields of the rows that are kernels, in FLOPs, bytes and seconds over all launches."""

    def __init__(self, given: _Columns, dialect: Dialect, rows: npt.NDArray[np.intp]) -> None:
        self._given = given
        self._fields = dialect.fields
        self._rows = rows
        count = self._raw("count")
        self.count = np.ones(len(rows)) if count is None else count
        self.time = self.amount("time")

    def _raw(self, key: str) -> Floats | None:
        field = self._fields.get(key)
        if field is None:
            return None
        numbers = self._given.numbers(field.column)[self._rows]
        if (numbers < 0).any():
            row = int(np.argmax(numbers < 0))
            raise self._given.refuse(int(self._rows[row]), field.column, f"{numbers[row]:g} is negative")
        return numbers

    def amount(self, key: str) -> Floats | None:
        numbers, field = self._raw(key), self._fields.get(key)
        return None if numbers is None or field is None else self._total(numbers, field)

    def _total(self, numbers: Floats, field: Field) -> Floats:
        numbers = numbers * field.scale
        if field.per == "launch":
            return numbers * self.count
        if field.per == "second":
            return numbers * (np.full(len(numbers), np.nan) if self.time is None else self.time)
        return numbers

    def by_key(self, field: str, plain: str) -> dict[str, Any]:
        keys = [key for key in self._fields if key.split(":")[0] == field]
        found = {key.partition(":")[2] or plain: self.amount(key) for key in keys}
        return found or {plain: np.full(len(self._rows), np.nan)}

    def words(self, key: str) -> list[str | None] | None:
        if key not in self._fields:
            return None
        words = self._given.words(self._fields[key].column)
        return [words[row] for row in self._rows]

    def names(self) -> list[str]:
        return [word or "" for word in self.words("name") or []]

    def precision(self) -> list[str | None] | None:
        """Return the precisions; TraceLens writes ``matrix_bf16``."""
        words = self.words("precision")
        if words is None or self._fields["precision"].column != "Compute Spec":
            return words
        return [word.rpartition("_")[2] if word else None for word in words]


def _with_unknowns(dialect: Dialect, flops: dict[str, Any], moved: dict[str, Any]) -> tuple[Any, Any, list[str]]:
    """Make the amounts unknown that the tool did not count; return all amounts and a warning."""
    nothing = np.all([column == 0 for column in flops.values()], axis=0)
    if dialect.name == "XProf":
        nothing &= np.all([column == 0 for column in moved.values()], axis=0)
        moved = {level: np.where(nothing, np.nan, column) for level, column in moved.items()}
    flops = {key: np.where(nothing, np.nan, column) for key, column in flops.items()}
    what = "neither FLOPs nor bytes" if dialect.name == "XProf" else "no FLOPs"
    count = f"{int(nothing.sum())} of {len(nothing)} rows"
    text = f"{count} have {what}: {dialect.name} writes this for what it does not count"
    return flops, moved, [f"{text}, so these are unknown, not zero"] if nothing.any() else []


def _remarks(given: _Columns, dialect: Dialect) -> list[str]:
    found = []
    if given.skipped:
        lines = "1 line" if given.skipped == 1 else f"{given.skipped} lines"
        found.append(f"{lines} between the rows skipped: not rows of the table")
    if dialect.name == "TraceLens":
        found.append("bytes are TraceLens's model, operands once: not measured traffic")
    if dialect.name == "plain":
        found += map(question, meanings(given.names, dialect.fields))
    return found


def _origins(given: _Columns, dialect: Dialect, rows: npt.NDArray[np.intp]) -> dict[str, Any]:
    """Return where each number comes from: its column, or the text in an ``origin:`` column."""
    fields = {key: field for key, field in dialect.fields.items() if key.split(":")[0] in _COUNTED}
    found: dict[str, Any] = {key: field.origin for key, field in fields.items()}
    for name in given.names:
        head, _, key = name.partition(":")
        if head == "origin" and key:
            words = given.words(name)
            found[key] = [words[row] for row in rows]
    return found


def _extra(given: _Columns, names: Sequence[str], rows: npt.NDArray[np.intp]) -> dict[str, Any]:
    """Return the columns that are not fields, if they have numbers or texts. Empty columns are left out."""
    kept: dict[str, Any] = {}
    for name in names:
        if name in FIELDS or name.startswith(("flops:", "bytes:", "origin:")):
            continue
        try:
            column = given.numbers(name)[rows]
        except ProfileError:
            try:
                words = given.words(name)
            except ProfileError:
                continue
            kept[name] = [words[row] for row in rows]
            continue
        if not np.isnan(column).all():
            kept[name] = column
    return kept
