"""The chip that a table's kernels ran on, where a column names it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from roofwidget.chips import AmbiguousChipError, Chip, UnknownChipError
from roofwidget.chips import chip as chip_called
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.tables.dialects import Field

__all__ = ["ran_on"]


class _Columns(Protocol):
    """A table by columns."""

    def words(self, column: str) -> list[str | None]: ...
    def refuse(self, row: int, column: str, reason: str) -> ProfileError: ...


def ran_on(
    given: _Columns, field: Field | None, rows: npt.NDArray[np.intp], *, is_asked: bool
) -> tuple[Chip | None, list[str]]:
    """Return the chip that these rows ran on if a column tells of one, else None and what to say of it.

    Raises
    ------
    ProfileError
        If the user asked for the column, and a cell names no chip of the catalogue, or another than those before.
    """
    if field is None:
        return None, []
    try:
        words = given.words(field.column)
        return _one_chip([words[row] for row in rows]), []
    except _NoChipError as error:
        if is_asked:
            raise given.refuse(int(rows[error.row]), field.column, error.reason) from None
        return None, [f"column '{field.column:.60}' does not tell the chip: {error.reason}"]
    except ProfileError:
        # Not even text, as a number of a device.
        if is_asked:
            raise
        return None, []


class _NoChipError(LookupError):
    """No one chip of the catalogue is named: from which row on, and why."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row
        self.reason = reason


def _one_chip(words: Sequence[str | None]) -> Chip | None:
    """Return the chip that all words name, None where there are none; a cell may be empty."""
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
            raise _NoChipError(row, f"'{other.id}' and '{found.id}', but a table is of one chip: read them one by one")
        known[name] = found
    return next(iter(known.values()), None)
