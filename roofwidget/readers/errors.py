"""The error that all readers raise: which file, where in the file, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from roofwidget.support.arguments import short_message


class ProfileError(ValueError):
    """A profile that cannot be read.

    Parameters
    ----------
    file
        The file's path, as the caller gave it.
    reason
        What was expected, and what the file has instead.
    row
        The table's row, counted from 1, or None.
    column
        The column's name in the file, or None.
    place
        A place that is not a table cell, such as ``"line 3, column 14"``. It replaces row and column.

    Examples
    --------
    >>> print(ProfileError("file.json", "expected a number, got 'abc'", row=3, column="hbm_bw"))
    file.json: row 3, column 'hbm_bw': expected a number, got 'abc'
    """

    __module__ = "roofwidget"

    def __init__(
        self,
        file: str,
        reason: str,
        *,
        row: int | None = None,
        column: str | None = None,
        place: str | None = None,
    ) -> None:
        reason = short_message(reason)
        super().__init__(file, reason)
        self.file = file
        self.reason = reason
        self.row = row
        self.column = column
        self.place = place

    def __str__(self) -> str:
        places = [f"row {self.row}"] * (self.row is not None) + [f"column '{self.column}'"] * (self.column is not None)
        where = short_message(self.place or ", ".join(places))
        return ": ".join([self.file, where, self.reason] if where else [self.file, self.reason])


@contextmanager
def figures_of_chip(file: str, place: str) -> Iterator[None]:
    """Raise a ProfileError for figures of a file that `Chip` refuses, with the place of the figures.

    A ProfileError already names its place and is unchanged.
    """
    try:
        yield
    except ProfileError:
        raise
    except ValueError as error:
        raise ProfileError(file, str(error), place=place) from None


class RuleDoesNotFitError(ProfileError):
    """A rule of work of a person does not fit the operation that it matches. No other way to read the file helps."""
