"""Read many small tables with one header as one table: they are split and converted together, then cut.

The result of each file is exactly that of reading it alone. If some cell of the files may need another decision in one
file than in another, such as a decimal comma, a unit, a total or anything to warn of, the files are tried in two
halves. A file that is left over is not in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget.kernels.column_meanings import units_beside
from roofwidget.kernels.columns import Bools, DictColumn, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.kernels.table_fields import Dialect, found_in, is_total_name, kernels_arguments
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import notation
from roofwidget.readers.tables.delimited import DELIMITERS, parse_row, split_rows
from roofwidget.readers.tables.notation import unguarded
from roofwidget.readers.tables.tools import tool_table

_TEXTS: Final = ("name", "precision", "category")
_AMOUNTS: Final = ("flops", "bytes", "time", "self_time", "count")


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
            tables = [file for file in group if is_table(file.source)]
            found |= _read(tables, header) if tables else {}
    return found


def _file(source: Source) -> _File | None:
    """Return the lines of a file that is stored as UTF-8, is small, and has no lone carriage return."""
    try:
        if source.is_folder or source.size != len(source.head) or source.encoding != "utf-8":
            return None
        text = source.head.decode().replace("\r\n", "\n")
    except (ProfileError, OSError, UnicodeDecodeError):
        return None
    header, _, rows = text.partition("\n")
    rows += "\n" * (not rows.endswith("\n"))
    return _File(source, header, rows) if "\r" not in text and len(rows) > 1 else None


def _header(line: str) -> _Header | None:
    """Return the header if the meaning of its columns depends on no cell."""
    mark = next((mark for mark in DELIMITERS if mark in line), None)
    if mark is None:
        return None
    cells, used = parse_row(iter([line + "\n", "\n"]), mark)
    names = [cell.strip() for cell in cells]
    is_usual = len(used) == 1 and all(names) and len(set(names)) == len(names)
    is_usual = is_usual and not units_beside(names) and tool_table(names) is None
    if not is_usual or any(name.startswith("origin:") or unguarded(name) != name for name in names):
        return None
    dialect = found_in(names)
    is_certain = "name" in dialect.fields and dialect.is_enough and dialect.stems <= {*_TEXTS, *_AMOUNTS}
    is_asked = dialect.asked or any(field.per == "second" for field in dialect.fields.values())
    return _Header(names, mark, dialect) if is_certain and not is_asked else None


class _NotTogetherError(ValueError):
    """Some cell of the files needs a reader that knows the file."""


def _read(files: Sequence[_File], header: _Header) -> dict[str, Kernels]:
    try:
        joined = _Joined(files, header)
        arguments = kernels_arguments(joined, header.dialect)
        if arguments["warnings"]:
            raise _NotTogetherError
        return dict(_cut(arguments, files, joined))
    except ValueError:
        half = len(files) // 2
        return _read(files[:half], header) | _read(files[half:], header) if half else {}


def _cut(arguments: Mapping[str, Any], files: Sequence[_File], joined: _Joined) -> Iterator[tuple[str, Kernels]]:
    ends = joined.ends.tolist()
    for at, (file, start, end) in enumerate(zip(files, [0, *ends], ends, strict=False)):
        own = {name: _rows_of(value, slice(start, end)) for name, value in arguments.items()}
        # A table leaves out columns without a value.
        own["extra"] = {
            name: column
            for name, column in own["extra"].items()
            if (joined.has_text[name][at] if name in joined.has_text else not np.isnan(column).all())
        }
        yield file.source.name, Kernels(**own, source=file.source.name)


def _rows_of(value: Any, rows: slice) -> Any:
    if isinstance(value, Mapping):
        return {name: _rows_of(part, rows) for name, part in value.items()}
    if isinstance(value, DictColumn):
        return value[rows].compact()
    return value[rows] if isinstance(value, np.ndarray) else value


class _Joined:
    """The columns of several files, one file after the other. No number has a comma.

    Raises
    ------
    _NotTogetherError
        If a line is no plain row, or the cells mean something else in one file than in all files together.
    """

    skipped = 0
    how = ""
    keeps_empty = False
    states_own_fields = True

    def __init__(self, files: Sequence[_File], header: _Header) -> None:
        self.names = header.names
        self.ends = np.cumsum([file.rows.count("\n") for file in files])
        self.has_text: dict[str, Bools] = {}
        self._starts = np.append(0, self.ends[:-1])
        self._numbers: dict[str, Floats] = {}
        self._coded: dict[str, DictColumn] = {}
        cells = split_rows("".join(file.rows for file in files), header.delimiter, len(self.names))
        if cells is None:
            raise _NotTogetherError
        fields = header.dialect.fields
        of_texts = {fields[key].column for key in _TEXTS if key in fields}
        has_number = np.zeros(len(files), dtype=np.bool_)
        for at, name in enumerate(self.names):
            column = cells.column(at)
            numbers, bad = (np.zeros(0), 0) if name in of_texts else column.numbers(".")
            if bad is None and not np.isinf(numbers).any() and "," not in "".join(column.texts()):
                self._numbers[name] = numbers
                has_number |= ~np.isnan(numbers[self._starts])
            else:
                self._coded[name] = column.coded()
                self._check_texts(name, may_be_numbers=name not in of_texts)
        # A first row without a number may be a row of units.
        last = self._coded[fields["name"].column][self.ends - 1]
        if not has_number.all() or any(is_total_name(unguarded(name or "")) for name in last):
            raise _NotTogetherError

    def _check_texts(self, name: str, *, may_be_numbers: bool) -> None:
        """Raise an error if a file alone has numbers in the column, or a cell has a decimal comma."""
        coded = self._coded[name]
        texts = [text or "" for text in coded.values]
        if may_be_numbers:
            is_text = np.array([notation.numbers([text], ".")[1] is not None for text in texts])[coded.codes]
            is_value = np.array([not notation.is_missing(text) for text in texts])[coded.codes]
            self.has_text[name], has_value = (np.logical_or.reduceat(one, self._starts) for one in (is_text, is_value))
            if (has_value & ~self.has_text[name]).any():
                raise _NotTogetherError
        if any(map(notation.has_decimal_comma, texts)):
            raise _NotTogetherError

    def numbers(self, column: str, *, truths: bool = False) -> Floats:  # noqa: ARG002 - a text is no truth value
        if column not in self._numbers:
            raise _NotTogetherError
        return self._numbers[column]

    def words(self, column: str) -> DictColumn:
        return self._coded[column].map(lambda cell: unguarded(cell or "") or None)

    def refuse(self, row: int, column: str, reason: str) -> ValueError:  # noqa: ARG002 - the file's own reader says it
        return _NotTogetherError()
