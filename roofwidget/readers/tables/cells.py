"""The cells of a table in text, by column. They stay in compact form until a reader asks for a column."""

from __future__ import annotations

import itertools
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.arrow import dict_column_of_arrow, values_of
from roofwidget.kernels.columns import DictColumn, Floats, dict_encoded, frozen
from roofwidget.readers.tables import notation

SEPARATOR: Final = 0x1F
"""The byte between cells."""
_MAX_PENDING_CELLS: Final = 100_000
_SAMPLE_CELLS: Final = 500
# A wider table contains counters, and a reader needs only some of them.
_MAX_NARROW_COLUMNS: Final = 64

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[Any]


Column: TypeAlias = "_PlainColumn | _ArrowColumn"
"""The cells of one column."""
Cells: TypeAlias = "_PlainCells | _ArrowCells"
"""The cells of a table."""


def cells_of(width: int, delimiter: str, *, is_large: bool) -> Cells:
    """Return an empty table of `width` columns. A large one is split by pyarrow if it is installed."""
    if is_large and width <= _MAX_NARROW_COLUMNS:
        with suppress(ImportError):
            return _ArrowCells(width, delimiter)
    return _PlainCells(width)


# -- cells in bytes ------------------------------------------------------------------------------------------------


class _PlainCells:
    r"""Cells that numpy splits.

    Examples
    --------
    >>> cells = _PlainCells(2)
    >>> cells.add(np.frombuffer(b"a\x1f1\x1fb\x1f2", dtype=np.uint8))
    >>> cells.add_row(["c", ""])
    >>> cells.column(0).texts(), cells.column(1).numbers(".")[0].tolist()
    (['a', 'b', 'c'], [1.0, 2.0, nan])
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._parts: list[_Texts | _Spans] = []
        self._pending: list[str] = []

    def add_block(self, text: str, lines: int) -> bool:  # noqa: ARG002 - the lines have to be split by `add`
        """Add lines if all are rows, and return whether they are."""
        return False

    def add(self, data: Bytes) -> None:
        """Add whole rows as UTF-8, with a `SEPARATOR` between two cells."""
        self._flush()
        ends = np.append(np.flatnonzero(data == SEPARATOR), len(data))
        self._parts.append(_Spans(self._width, data.tobytes(), ends.astype(np.int32)))

    def add_row(self, cells: Sequence[str]) -> None:
        """Add one row."""
        self._pending += cells
        if len(self._pending) > _MAX_PENDING_CELLS:
            self._flush()

    def column(self, at: int) -> Column:
        """Return a column."""
        self._flush()
        return _PlainColumn(self._parts, at)

    def first_row(self) -> list[str]:
        """Return the cells of the first row; an empty list for an empty table."""
        self._flush()
        return [self._parts[0].texts(at, 1)[0] for at in range(self._width)] if self._parts else []

    def drop_first_row(self) -> None:
        """Remove the first row."""
        self._parts[0] = self._parts[0].without_first_row()

    def _flush(self) -> None:
        """Turn the rows that were added one by one into one part."""
        if self._pending:
            self._parts.append(_Texts([self._pending[at :: self._width] for at in range(self._width)]))
            self._pending = []


@dataclass(frozen=True)
class _Texts:
    """Rows as texts, by column."""

    columns: Sequence[list[str]]

    def texts(self, at: int, most: int | None = None) -> list[str]:
        return self.columns[at][:most]

    def coded(self, at: int) -> DictColumn:
        return dict_encoded(list(self.columns[at]))

    def numbers(self, at: int, mark: str) -> tuple[Floats, int | None]:
        return notation.numbers(self.texts(at), mark)

    def has_marks(self, at: int) -> bool:
        joined = "".join(self.columns[at])
        return "." in joined or "," in joined

    def without_first_row(self) -> _Texts:
        return _Texts([column[1:] for column in self.columns])


@dataclass
class _Spans:
    """Rows as UTF-8, and the end of each cell in it."""

    width: int
    data: bytes
    ends: npt.NDArray[np.int32]
    begin: int = 0

    def texts(self, at: int, most: int | None = None) -> list[str]:
        starts, stops = self._places(at)
        return self._cut(starts[:most], stops[:most])

    def _cut(self, starts: Places, stops: Places) -> list[str]:
        data = self.data
        return [data[start:stop].decode() for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]

    def coded(self, at: int) -> DictColumn:
        """Return a column in which each different cell is decoded once."""
        starts, stops = self._places(at)
        found = _first_equals(self.data, starts, stops)
        if found is None:
            return dict_encoded(list(self.texts(at)))
        first, codes = found
        return DictColumn(tuple(self._cut(starts[first], stops[first])), frozen(codes)).compact()

    def numbers(self, at: int, mark: str) -> tuple[Floats, int | None]:
        plain = notation.plain_decimals(np.frombuffer(self.data, dtype=np.uint8), *self._places(at), mark)
        return notation.numbers(self.texts(at), mark) if plain is None else (plain, None)

    def has_marks(self, at: int) -> bool:
        return at in self._columns_with_marks

    @cached_property
    def _columns_with_marks(self) -> frozenset[int]:
        data = np.frombuffer(self.data, dtype=np.uint8)
        marks = np.flatnonzero((data == ord(".")) | (data == ord(",")))
        cells = np.searchsorted(self.ends, marks[marks >= self.begin], side="right")
        return frozenset(np.unique(cells % self.width).tolist())

    def without_first_row(self) -> _Spans:
        return _Spans(self.width, self.data, self.ends[self.width :], int(self.ends[self.width - 1]) + 1)

    def _places(self, at: int) -> tuple[Places, Places]:
        stops = self.ends[at :: self.width]
        if at:
            return self.ends[at - 1 :: self.width] + np.int32(1), stops
        before = self.ends[self.width - 1 :: self.width][: max(len(stops) - 1, 0)] + np.int32(1)
        return np.append(np.int32(self.begin), before)[: len(stops)], stops


class _PlainColumn:
    def __init__(self, parts: Sequence[_Texts | _Spans], at: int) -> None:
        self._parts = parts
        self._at = at

    def texts(self) -> list[str]:
        """Return the cells."""
        return list(itertools.chain.from_iterable(part.texts(self._at) for part in self._parts))

    def coded(self) -> DictColumn:
        """Return the cells as a dictionary-encoded column."""
        return self._coded

    @cached_property
    def _coded(self) -> DictColumn:
        code_of: dict[str | None, int] = {}
        codes = [np.zeros(0, dtype=np.int32)]
        for part in self._parts:
            column = part.coded(self._at)
            place = [code_of.setdefault(value, len(code_of)) for value in column.values]
            codes.append(np.array(place, dtype=np.int32)[column.codes])
        return DictColumn(tuple(code_of), frozen(np.concatenate(codes)))

    def numbers(self, mark: str) -> tuple[Floats, int | None]:
        """Return the cells as numbers; see `notation.numbers`."""
        return _numbers_together(part.numbers(self._at, mark) for part in self._parts)

    def different(self, most: int) -> list[str]:
        """Return the first different cells, up to `most`."""
        sample = self._parts[0].texts(self._at, most) if self._parts else []
        if 2 * len(set(sample)) <= len(sample):
            # The column repeats its texts, so its dictionary-encoded form is needed anyway.
            return [value or "" for value in self.coded().values[:most]]
        found: dict[str, None] = {}
        for part in self._parts:
            found |= dict.fromkeys(part.texts(self._at, 2 * most))
            if len(found) < most:
                found |= dict.fromkeys(part.texts(self._at))
            if len(found) >= most:
                break
        return list(found)[:most]

    def has_marks(self) -> bool:
        """Return whether some cell contains a point or a comma."""
        return any(part.has_marks(self._at) for part in self._parts)


def _numbers_together(parts: Iterable[tuple[Floats, int | None]]) -> tuple[Floats, int | None]:
    """Return the numbers of all parts of a column, and the place of the first cell that is none."""
    found: list[Floats] = [np.zeros(0)]
    for column, bad in parts:
        if bad is not None:
            return np.zeros(0), sum(map(len, found)) + bad
        found.append(column)
    return np.concatenate(found), None


_BYTES_OF_WORD: Final = 8
_MASKS: Final = np.array([256**count - 1 for count in range(_BYTES_OF_WORD + 1)], dtype="<u8")
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
"""Multiplication by an odd number maps different 64-bit numbers to different ones; this one is that of splitmix64."""
_MAX_HASHED_BYTES: Final = 512


def _first_equals(data: bytes, starts: Places, stops: Places) -> tuple[Places, npt.NDArray[np.int32]] | None:
    """Return the rows that have the different cells, and for each row the number of its cell among these rows.

    The cells are compared in words of eight bytes, by a hash first. The result is None if two different cells have the
    same hash, or if a cell is too long.
    """
    lengths = stops - starts
    longest = int(lengths.max(initial=0))
    if longest > _MAX_HASHED_BYTES:
        return None
    padded = np.frombuffer(data + bytes(longest + _BYTES_OF_WORD), dtype=np.uint8)
    words_at = np.ndarray(len(padded) - _BYTES_OF_WORD + 1, dtype="<u8", buffer=padded, strides=(1,))
    hashes = lengths.astype(np.uint64)
    words = []
    for at in range(0, longest, _BYTES_OF_WORD):
        words.append(words_at[starts + at] & _MASKS[np.clip(lengths - at, 0, _BYTES_OF_WORD)])
        hashes = (hashes ^ words[-1]) * _FACTOR
        hashes ^= hashes >> np.uint64(29)
    _, first, codes = np.unique(hashes, return_index=True, return_inverse=True)
    is_same = all((word == word[first][codes]).all() for word in (*words, lengths))
    return (first, codes.astype(np.int32)) if is_same else None


def column_of_texts(texts: Sequence[str]) -> Column:
    """Return texts as a column."""
    return _PlainColumn([_Texts([list(texts)])], 0)


# -- cells in Arrow ------------------------------------------------------------------------------------------------


class _ArrowCells:
    """Cells that pyarrow splits. A column that repeats its texts is dictionary-encoded."""

    def __init__(self, width: int, delimiter: str) -> None:
        import pyarrow.csv  # noqa: PLC0415 - optional, and slow to import

        self._arrow: Any = pyarrow
        self._names = [str(at) for at in range(width)]
        self._delimiter = delimiter
        self._parts: list[Any] = []
        self._types: dict[str, Any] = {}
        self._pending = _PlainCells(width)

    def add_block(self, text: str, lines: int) -> bool:
        r"""Add lines if all are plain rows.

        pyarrow leaves out blank lines, and a quoted cell may contain line ends. Then it finds fewer rows than lines, or
        the last line end in a cell that is not closed.
        pyarrow keeps the space at the begin of a cell, and reads a quote after it differently from Python's csv.
        """
        pa, csv = self._arrow, self._arrow.csv
        if not text.endswith("\n"):
            return False
        data = text.encode()
        try:
            table = csv.read_csv(
                pa.BufferReader(data),
                csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=self._names),
                csv.ParseOptions(delimiter=self._delimiter),
                csv.ConvertOptions(
                    column_types=self._types or dict.fromkeys(self._names, pa.string()),
                    check_utf8=False,
                    null_values=[],
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            return False
        last = table.column(len(self._names) - 1)
        if table.num_rows != lines or last[lines - 1].as_py().endswith("\n"):
            return False
        if self._delimiter != "\t" and any(map(_begin_with_space, table.columns)):
            return False
        self._flush()
        self._append(table)
        return True

    def add(self, data: Bytes) -> None:
        self._pending.add(data)

    def add_row(self, cells: Sequence[str]) -> None:
        self._pending.add_row(cells)

    def column(self, at: int) -> Column:
        self._flush()
        parts = [chunk for part in self._parts for chunk in part.column(at).chunks]
        return _ArrowColumn(self._arrow.chunked_array(parts, self._types.get(str(at), self._arrow.string())))

    def first_row(self) -> list[str]:
        self._flush()
        return [str(column[0].as_py()) for column in self._parts[0].columns] if self._parts else []

    def drop_first_row(self) -> None:
        text = self._arrow.string()
        columns = [
            column if kind == text else column.cast(text).dictionary_encode()
            for column, kind in zip(self._parts[0].slice(1).columns, self._types.values(), strict=True)
        ]
        self._parts[0] = self._arrow.table(columns, names=self._names)

    def _flush(self) -> None:
        """Add the rows that pyarrow could not split."""
        pa = self._arrow
        if self._pending.first_row():
            columns = [pa.array(self._pending.column(at).texts(), pa.string()) for at in range(len(self._names))]
            self._pending = _PlainCells(len(self._names))
            self._append(pa.table(columns, names=self._names))

    def _append(self, table: Any) -> None:
        pa = self._arrow
        if not self._types:
            # The first rows show which columns repeat their texts.
            coded = pa.dictionary(pa.int32(), pa.string())
            for name in self._names:
                sample = table.column(name)[:_SAMPLE_CELLS]
                self._types[name] = coded if 2 * len(sample.unique()) <= len(sample) else pa.string()
        columns = [
            column if column.type == kind else column.dictionary_encode()
            for column, kind in zip(table.columns, self._types.values(), strict=True)
        ]
        self._parts.append(pa.table(columns, names=self._names))


def _begin_with_space(column: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415 - optional

    for chunk in column.chunks:
        data, starts, stops = _spans_of(chunk.dictionary if types.is_dictionary(chunk.type) else chunk)
        if (data[starts[starts < stops]] == ord(" ")).any():
            return True
    return False


class _ArrowColumn:
    def __init__(self, column: Any) -> None:
        from pyarrow import types  # noqa: PLC0415 - optional

        self._column = column
        self._coded = dict_column_of_arrow(column.chunks) if types.is_dictionary(column.type) else None

    def texts(self) -> list[str]:
        return self._column.to_pylist() if self._coded is None else self._coded.texts().tolist()  # type: ignore[no-any-return]  # a list

    def coded(self) -> DictColumn:
        return self._encoded if self._coded is None else self._coded

    @cached_property
    def _encoded(self) -> DictColumn:
        return dict_column_of_arrow(self._column.chunks)

    def numbers(self, mark: str) -> tuple[Floats, int | None]:
        if self._coded is not None:
            values, bad = notation.numbers([value or "" for value in self._coded.values], mark)
            if bad is not None:
                return values, int(np.argmax(self._coded.codes == bad))
            return values[self._coded.codes], None
        return _numbers_together(_numbers_of(chunk, mark) for chunk in self._column.chunks)

    def different(self, most: int) -> list[str]:
        if self._coded is not None:
            return [value or "" for value in self._coded.values[:most]]
        found: dict[str, None] = {}
        for start in range(0, len(self._column), most):
            found |= dict.fromkeys(self._column[start : start + most].to_pylist())
            if len(found) >= most:
                break
        return list(found)[:most]

    def has_marks(self) -> bool:
        if self._coded is not None:
            joined = "".join(filter(None, self._coded.values))
            return "." in joined or "," in joined
        for data, starts, stops in map(_spans_of, self._column.chunks):
            cells = data[starts[0] : stops[-1]] if len(starts) else data[:0]
            if ((cells == ord(".")) | (cells == ord(","))).any():
                return True
        return False


def _spans_of(chunk: Any) -> tuple[Bytes, Places, Places]:
    """Return the bytes of an array of texts, and where each text starts and stops."""
    _, offsets, data = chunk.buffers()
    places = np.frombuffer(offsets or bytes(4), dtype=np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    return np.frombuffer(data or b"", dtype=np.uint8), places[:-1], places[1:]


def _numbers_of(chunk: Any, mark: str) -> tuple[Floats, int | None]:
    import pyarrow as pa  # noqa: PLC0415 - optional

    if mark == ".":
        try:
            found: Floats = values_of(chunk.cast(pa.float64()), np.float64)
        except pa.ArrowInvalid:
            pass
        else:
            # pyarrow also parses "inf" and "-nan".
            if np.isfinite(found).all():
                return found, None
    plain = notation.plain_decimals(*_spans_of(chunk), mark)
    return notation.numbers(chunk.to_pylist(), mark) if plain is None else (plain, None)


# -- columns by name, and the lines of the rows --------------------------------------------------------------------


class Columns(Mapping[str, list[str]]):
    """Columns of texts by name; a column is made from the cells on first access.

    Parameters
    ----------
    cells
        The cells.
    places
        The column number of each name.
    """

    def __init__(self, cells: Cells, places: Mapping[str, int]) -> None:
        self._cells = cells
        self._places = places
        self._columns: dict[str, Column] = {}
        self._texts: dict[str, list[str]] = {}

    def __getitem__(self, name: str) -> list[str]:
        if name not in self._texts:
            self._texts[name] = self.column(name).texts()
        return self._texts[name]

    def column(self, name: str) -> Column:
        """Return a column in its compact form."""
        if name not in self._columns:
            self._columns[name] = self._cells.column(self._places[name])
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"Columns({list(self._places)})"


class LineNumbers(Sequence[int]):
    """The line of each row. Rows on adjacent lines are one run, which takes 16 bytes.

    Examples
    --------
    >>> lines = LineNumbers()
    >>> lines.add(2, 3)
    >>> lines.add(7)
    >>> list(lines), lines[3]
    ([2, 3, 4, 7], 7)
    >>> lines.drop_first()
    >>> list(lines)
    [3, 4, 7]
    """

    def __init__(self) -> None:
        self._rows = array("q")
        self._lines = array("q")
        self._size = 0

    def add(self, line: int, count: int = 1) -> None:
        """Add rows on `count` adjacent lines."""
        if not self._size or line != self[self._size - 1] + 1:
            self._rows.append(self._size)
            self._lines.append(line)
        self._size += count

    def drop_first(self) -> None:
        """Remove the first row."""
        is_alone = self._size == 1 or self._rows[1:2] == array("q", [1])
        if is_alone:
            del self._rows[0], self._lines[0]
        else:
            self._lines[0] += 1
        self._rows = array("q", [max(row - 1, 0) for row in self._rows])
        self._size -= 1

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, row: int) -> int: ...
    @overload
    def __getitem__(self, row: slice) -> list[int]: ...
    def __getitem__(self, row: int | slice) -> int | list[int]:
        if isinstance(row, slice):
            return [self[at] for at in range(self._size)[row]]
        at = range(self._size)[row]
        run = bisect_right(self._rows, at) - 1
        return self._lines[run] + at - self._rows[run]
