"""The cells of a table, kept as the bytes they came in until a column of them is asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["SEPARATOR", "Cells", "Columns"]

SEPARATOR: Final = 0x1F
"""The byte between cells."""
_MOST_LOOSE: Final = 100_000
_SAMPLE: Final = 500
# A wider table is one of counters, of which a reader takes few: texts of all would be many times the file.
_MOST_COLUMNS_OF_TEXT: Final = 64


class Cells:
    r"""The cells of a table's rows, one row after another.

    Parameters
    ----------
    width
        How many cells a row has.

    Examples
    --------
    >>> cells = Cells(2)
    >>> cells.add(np.frombuffer(b"a\x1f1\x1fb\x1f2", dtype=np.uint8))
    >>> cells.add_row(["c", ""])
    >>> cells.column(0), cells.column(1)
    (['a', 'b', 'c'], ['1', '2', ''])
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._parts: list[_Texts | _Spans] = []
        self._loose: list[str] = []
        # Profilers repeat kernels' names and units in every row: such texts are kept once.
        self._kept: dict[str, str] = {}

    def add(self, data: npt.NDArray[np.uint8]) -> None:
        """Add whole rows: their UTF-8 with a `SEPARATOR` between two cells."""
        self._gather()
        if self._width <= _MOST_COLUMNS_OF_TEXT:
            self._split(data.tobytes().decode().split("\x1f"))
            return
        ends = np.append(np.flatnonzero(data == SEPARATOR), len(data))
        self._parts.append(_Spans(self._width, data.tobytes().decode("latin-1"), ends.astype(np.int32)))

    def add_row(self, cells: Sequence[str]) -> None:
        """Add one row."""
        self._loose += cells
        if len(self._loose) > _MOST_LOOSE:
            self._gather()

    def column(self, at: int) -> list[str]:
        """Return the texts of a column."""
        self._gather()
        return list(itertools.chain.from_iterable(part.column(at) for part in self._parts))

    def first_row(self) -> list[str]:
        """Return the cells of the first row, none of an empty table."""
        self._gather()
        return self._parts[0].first_row() if self._parts else []

    def _gather(self) -> None:
        """Make one part of the rows that came one by one."""
        if self._loose:
            self._split(self._loose)
            self._loose = []

    def _split(self, cells: list[str]) -> None:
        columns = [cells[at :: self._width] for at in range(self._width)]
        self._parts.append(_Texts([self._kept_once(column) for column in columns]))

    def _kept_once(self, cells: list[str]) -> tuple[str, ...]:
        sample = cells[:_SAMPLE]
        repeats = len(set(sample)) * 2 <= len(sample)
        return tuple(map(self._kept.setdefault, cells, cells) if repeats else cells)


@dataclass(frozen=True)
class _Texts:
    """Rows of a narrow table; in tuples, which the garbage collector passes by, unlike lists."""

    columns: Sequence[Sequence[str]]

    def column(self, at: int) -> Sequence[str]:
        return self.columns[at]

    def first_row(self) -> list[str]:
        return [column[0] for column in self.columns]


@dataclass(frozen=True)
class _Spans:
    """Rows of a wide table: their UTF-8 as Latin-1, so that a byte is a letter, and where each cell ends in it."""

    width: int
    text: str
    ends: npt.NDArray[np.int32]

    def column(self, at: int) -> Sequence[str]:
        stops = self.ends[at :: self.width]
        before = (
            self.ends[at - 1 :: self.width] if at else np.append(np.int32(-1), self.ends[self.width - 1 :: self.width])
        )
        starts = before[: len(stops)] + 1
        text = self.text
        cells = [text[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
        return cells if text.isascii() else [cell.encode("latin-1").decode() for cell in cells]

    def first_row(self) -> list[str]:
        return self.text[: self.ends[self.width - 1]].encode("latin-1").decode().split("\x1f")


class Columns(Mapping[str, list[str]]):
    """Columns of texts by name, made of a table's cells when they are asked for.

    Parameters
    ----------
    cells
        The cells.
    places
        The column of each name.
    first
        The first row that is taken.
    """

    def __init__(self, cells: Cells, places: Mapping[str, int], first: int = 0) -> None:
        self._cells = cells
        self._places = places
        self._first = first
        self._made: dict[str, list[str]] = {}

    def __getitem__(self, name: str) -> list[str]:
        if name not in self._made:
            self._made[name] = self._column(name)
        return self._made[name]

    def passing(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the names and texts of all columns, of which those of a wide table are not kept."""
        is_narrow = len(self) <= _MOST_COLUMNS_OF_TEXT
        for name in self:
            yield name, self[name] if is_narrow or name in self._made else self._column(name)

    def _column(self, name: str) -> list[str]:
        return self._cells.column(self._places[name])[self._first :]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"Columns({list(self._places)})"
