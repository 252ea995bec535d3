"""Read many small tables with one header as one table: they are split and converted together, then cut.

A file is read like this only if the result is certainly that of reading it alone. All other files are left to `read`:
files with lines that are not plain rows, a row of units or of totals, numbers of another notation, units in cells, or
columns that give a warning or need an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.column_meanings import may_have_units, unit_in
from roofwidget.kernels.columns import DictColumn, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.kernels.table_fields import Dialect, found_in, is_total_name, kernels_arguments
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import notation
from roofwidget.readers.tables.cells import Cells
from roofwidget.readers.tables.delimited import DELIMITERS, Marks, are_column_names, parse_row, split_rows
from roofwidget.readers.tables.notation import unguarded
from roofwidget.readers.tables.tools import tool_table

_WORDS: Final = ("name", "precision", "category")
_WITHOUT_RATIOS: Final = frozenset({*_WORDS, "flops", "bytes", "time", "self_time", "count"})


@dataclass(frozen=True)
class _Header:
    """The header of plain tables of kernels."""

    names: Sequence[str]
    delimiter: str
    dialect: Dialect


@dataclass(frozen=True)
class _File:
    """A small text. The lines of `rows` end in a line feed."""

    source: Source
    header: str
    rows: str


def read_together(sources: Sequence[Source], is_table: Callable[[Source], bool]) -> dict[str, Kernels]:
    r"""Return the kernels of the files that could be read together, by the source's name.

    Parameters
    ----------
    sources
        The files.
    is_table
        Whether a file is a table of no other format.

    Examples
    --------
    >>> import io
    >>> files = [Source(name, lambda: io.BytesIO(b"name,time\nk,1\n"), size=14) for name in ("a", "b")]
    >>> {name: kernels.time.tolist() for name, kernels in read_together(files, lambda _: True).items()}
    {'a': [1.0], 'b': [1.0]}
    """
    files: dict[str, list[_File]] = {}
    for file in filter(None, map(_file, sources)):
        files.setdefault(file.header, []).append(file)
    found: dict[str, Kernels] = {}
    for line, group in files.items():
        header = _header(line) if len(group) > 1 else None
        if header is not None:
            found |= _read([file for file in group if is_table(file.source)], header)
    return found


def _file(source: Source) -> _File | None:
    """Return the lines of a file that is stored as UTF-8, is small, and has only usual line ends."""
    try:
        if source.is_folder or source.size != len(source.head) or source.encoding != "utf-8":
            return None
        text = source.head.decode().replace("\r\n", "\n")
    except (ProfileError, OSError, UnicodeDecodeError):
        return None
    if not text.endswith("\n"):
        text += "\n"
    if len(text.splitlines()) != text.count("\n") or "\r" in text:
        return None
    header, _, rows = text.partition("\n")
    return _File(source, header, rows) if rows else None


def _header(line: str) -> _Header | None:
    """Return the header if the meaning of its columns depends on no cell."""
    marks = [mark for mark in DELIMITERS if mark in line]
    if len(marks) != 1:
        return None
    cells, used = parse_row(iter([line + "\n", "\n"]), marks[0])
    names = [cell.strip() for cell in cells]
    is_usual = len(used) == 1 and all(names) and len(set(names)) == len(names) > 1 and are_column_names(names)
    if not is_usual or any(name.startswith("origin:") or unguarded(name) != name for name in names):
        return None
    dialect = found_in(names)
    has_amounts = "name" in dialect.fields and dialect.is_enough and dialect.stems <= _WITHOUT_RATIOS
    is_asked = dialect.asked or dialect.twins or any(field.per == "second" for field in dialect.fields.values())
    return _Header(names, marks[0], dialect) if has_amounts and not is_asked and tool_table(names) is None else None


class _NotTogetherError(ValueError):
    """Some cell of the files needs a reader that knows the file."""


def _read(files: Sequence[_File], header: _Header) -> dict[str, Kernels]:
    """Return the kernels of the files. If some file needs to be read alone, try the others in two halves."""
    if len(files) <= 1:
        return {}
    try:
        joined = _Joined(files, header)
        parts = joined.parts()
        if parts is not None:
            return {name: one for part in parts for name, one in _read(list(compress(files, part)), header).items()}
        arguments = kernels_arguments(joined, header.dialect)
        if arguments["warnings"]:
            raise _NotTogetherError
        return dict(_cut(arguments, files, joined.ends))
    except ValueError:
        half = len(files) // 2
        return _read(files[:half], header) | _read(files[half:], header)


def _cut(
    arguments: Mapping[str, Any], files: Sequence[_File], ends: npt.NDArray[np.intp]
) -> Iterator[tuple[str, Kernels]]:
    for file, start, end in zip(files, [0, *ends.tolist()], ends.tolist(), strict=False):
        own = {name: _rows_of(value, slice(start, end)) for name, value in arguments.items()}
        extra = own["extra"]
        own["extra"] = {
            name: one for name, one in extra.items() if isinstance(one, DictColumn) or not np.isnan(one).all()
        }
        yield file.source.name, Kernels(**own, source=file.source.name)


def _rows_of(value: Any, rows: slice) -> Any:
    if isinstance(value, Mapping):
        return {name: _rows_of(part, rows) for name, part in value.items()}
    if isinstance(value, DictColumn):
        return value[rows].compact()
    return value[rows] if isinstance(value, np.ndarray) else value


class _Joined:
    """The columns of several files, one file after the other. The numbers are digits with a decimal point."""

    skipped = 0
    how = ""
    keeps_empty = False
    states_own_fields = True

    def __init__(self, files: Sequence[_File], header: _Header) -> None:
        self.names = header.names
        self._fields = header.dialect.fields
        self.ends = np.cumsum([file.rows.count("\n") for file in files])
        self._starts = np.append(0, self.ends[:-1])
        self._cells, self._odd = split_rows("".join(file.rows for file in files), header.delimiter, len(self.names))
        self._numbers: dict[str, Floats] = {}
        self._coded: dict[str, DictColumn] = {}

    def parts(self) -> list[Marks] | None:
        """Return groups of files that differ, as masks; None if all files can be read together.

        A file in no group has to be read alone: it has lines that are no rows, and perhaps units or totals.
        """
        if len(self._odd):
            is_plain = np.ones(len(self.ends), dtype=np.bool_)
            is_plain[np.searchsorted(self.ends, self._odd, side="right")] = False
            return [is_plain]
        words = {self._fields[key].column for key in _WORDS if key in self._fields}
        is_plain = np.zeros(len(self.ends), dtype=np.bool_)
        for at, name in enumerate(self.names):
            numbers = None if name in words else _plain_numbers(self._cells, at)
            if numbers is not None:
                self._numbers[name] = numbers
                is_plain |= ~np.isnan(numbers[self._starts])
                continue
            coded = self._coded[name] = self._cells.column(at).coded()
            has_text = np.logical_or.reduceat(_are_texts(coded)[coded.codes], self._starts)
            if name not in words and has_text.any() and not has_text.all():
                return [has_text, ~has_text]
            self._check_texts(name, coded, may_be_numbers=name not in words and not has_text.any())
        last = self._coded[self._fields["name"].column][self.ends - 1]
        is_plain &= ~np.array([is_total_name(unguarded(name or "")) for name in last], dtype=np.bool_)
        return None if is_plain.all() else [is_plain]

    def _check_texts(self, name: str, coded: DictColumn, *, may_be_numbers: bool) -> None:
        """Raise an error if the column has numbers, or a cell could be one with a decimal comma or with a unit."""
        may_have = may_have_units(name)
        if may_be_numbers:
            raise _NotTogetherError
        for text in filter(None, coded.values):
            is_comma = "," in text or "." in text
            if (is_comma and notation.is_number(text) and notation.decimal_mark(text) == ",") or (
                may_have and unit_in(text)
            ):
                raise _NotTogetherError

    def numbers(self, column: str, *, truths: bool = False) -> Floats:  # noqa: ARG002 - a text is no truth value
        if column not in self._numbers:
            raise _NotTogetherError
        return self._numbers[column]

    def words(self, column: str) -> DictColumn:
        return self._coded[column].map(lambda cell: unguarded(cell or "") or None)

    def refuse(self, row: int, column: str, reason: str) -> ValueError:  # noqa: ARG002 - the file's own reader says it
        return _NotTogetherError()


def _plain_numbers(cells: Cells, at: int) -> Floats | None:
    """Return a column of numbers without a comma, or None if some cell is another."""
    column = cells.column(at)
    texts = "".join(column.different(_SAMPLE_CELLS))
    if not notation.is_plain(texts):
        return None
    numbers, bad = column.numbers(".")
    if bad is not None or np.isinf(numbers).any():
        return None
    is_all_plain = len(numbers) <= _SAMPLE_CELLS or notation.is_plain("".join(column.texts()))
    return numbers if is_all_plain else None


_SAMPLE_CELLS: Final = 64


def _are_texts(coded: DictColumn) -> Marks:
    """Return which values are no numbers, as one column would tell."""
    return np.array([notation.numbers([value or ""], ".")[1] is not None for value in coded.values], dtype=np.bool_)
