"""A table of XProf's, whatever file it came in: columns by XProf's own ids."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Floats, Texts
from roofwidget.readers.errors import ProfileError
from roofwidget.support.did_you_mean import nearest

__all__ = ["Table", "column_ids", "shown"]


@dataclass(frozen=True)
class Table:
    """Columns of raw values by id, and the number by which messages name each row."""

    source: str
    columns: Mapping[str, Sequence[Any]]
    rows: Sequence[int]

    @classmethod
    def of(cls, given: object, source: str) -> Table:
        """Make a table of a Google DataTable, ``{"cols": [{"id": …}], "rows": [{"c": [{"v": …}]}]}``.

        Raises
        ------
        ProfileError
            If it is none, two columns have one id, or a row has not one cell a column.
        """
        columns, rows = (given.get("cols"), given.get("rows")) if isinstance(given, dict) else (None, None)
        if not isinstance(columns, list) or not isinstance(rows, list):
            raise ProfileError(source, "expected a table with 'cols' and 'rows'")
        ids: list[str] = []
        for position, column in enumerate(columns):
            name = column.get("id") if isinstance(column, dict) else None
            if not isinstance(name, str):
                raise ProfileError(source, "expected an object with an 'id'", place=f"column {position + 1}")
            ids.append(name)
        twice = next((name for name, times in Counter(ids).items() if times > 1), None)
        if twice is not None:
            raise ProfileError(source, "two columns have this id", column=twice)
        cells = [_cells(row, number, len(ids), source) for number, row in enumerate(rows, 1)]
        by_column: list[Any] = list(zip(*cells, strict=True)) if cells else [()] * len(ids)
        return cls(source, dict(zip(ids, by_column, strict=True)), range(1, len(cells) + 1))

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self, column: str) -> Sequence[Any]:
        """Return the raw values of a column."""
        if column not in self.columns:
            close = nearest(column, self.columns, most=1)
            hint = f"; the nearest it has is '{close[0]}'" if close else ""
            raise ProfileError(self.source, f"the table has no such column{hint}", column=column)
        return self.columns[column]

    def numbers(self, column: str, at_least: float = 0) -> Floats:
        """Return the numbers of a column, in the file's unit; finite, and not below `at_least`."""
        cells = self.cells(column)
        if all(kind in {int, float} for kind in set(map(type, cells))):
            try:
                numbers = np.array(cells, dtype=np.float64)
            except OverflowError:
                numbers = np.full(len(cells), np.nan)
            # NaN fails every comparison.
            if ((numbers >= at_least) & (numbers < np.inf)).all():
                return numbers
        for row, value in enumerate(cells):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise self.error(row, column, f"expected a number, got {shown(value)}")
            # An integer may be too large for a double.
            if not (at_least <= value <= sys.float_info.max):
                raise self.error(row, column, f"expected a finite number from {at_least:g}, got {shown(value)}")
        return np.array(cells, dtype=np.float64)

    def totals(self, column: str, unit: float, time: Floats) -> Floats:
        """Return a rate's column as an amount: times its unit and the seconds of each row."""
        with np.errstate(over="ignore"):
            amounts: Floats = self.numbers(column) * unit * time
        if not np.isfinite(amounts).all():
            raise self.error(int(np.argmin(np.isfinite(amounts))), column, "the rate is too large for its time")
        return amounts

    def texts(self, column: str) -> Texts:
        """Return the texts of a column; text that is not Unicode (half of a surrogate pair) cannot be shown or sent."""
        cells = self.cells(column)
        for row, value in enumerate(cells):
            if not isinstance(value, str) or not _is_unicode(value):
                raise self.error(row, column, f"expected text, got {shown(value)}")
        return _objects(cells)

    def truths(self, column: str) -> npt.NDArray[np.bool_]:
        """Return the truth values of a column."""
        cells = self.cells(column)
        for row, value in enumerate(cells):
            if not isinstance(value, bool):
                raise self.error(row, column, f"expected true or false, got {shown(value)}")
        return np.array(cells, dtype=np.bool_)

    def error(self, row: int, column: str, reason: str) -> ProfileError:
        """Return the error for the cell in the row counted from 0."""
        return ProfileError(self.source, reason, row=self.rows[row], column=column)


def column_ids(given: object) -> list[str]:
    """Return the ids of what may be a Google DataTable; none where it is something else.

    Examples
    --------
    >>> column_ids({"cols": [{"id": "rank"}, 5], "rows": []}), column_ids([1])
    (['rank'], [])
    """
    columns = given.get("cols") if isinstance(given, dict) else None
    found = [column.get("id") for column in columns if isinstance(column, dict)] if isinstance(columns, list) else []
    return [name for name in found if isinstance(name, str)]


def shown(value: object) -> str:
    """Show `value` as the file writes it, cut to a line's length; text in Python's quotes, which escape the rest."""
    text = ascii(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004 - a line of an error message


def _cells(row: object, number: int, width: int, source: str) -> list[Any]:
    cells = row.get("c") if isinstance(row, dict) else None
    if not isinstance(cells, list):
        raise ProfileError(source, f"expected an object with a list 'c', got {shown(row)}", row=number)
    if len(cells) != width:
        raise ProfileError(source, f"expected {width} cells, one a column, got {len(cells)}", row=number)
    return [cell.get("v") if isinstance(cell, dict) else None for cell in cells]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _objects(values: Sequence[Any]) -> Texts:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
