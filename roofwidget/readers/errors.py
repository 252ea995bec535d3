"""The one error of all readers: which file, where in it, and why."""

from __future__ import annotations

__all__ = ["ProfileError"]


class ProfileError(ValueError):
    """A profile that cannot be read.

    Parameters
    ----------
    file
        The file's path, as it was given.
    reason
        What was expected and what was there.
    row
        Row of the table, counted from 1, or None.
    column
        The column's name in the file, or None.
    place
        Another kind of place, such as ``"line 3, column 14"``; instead of row and column.

    Examples
    --------
    >>> print(ProfileError("file.json", "expected a number, got 'abc'", row=3, column="hbm_bw"))
    file.json: row 3, column 'hbm_bw': expected a number, got 'abc'
    """

    def __init__(
        self,
        file: str,
        reason: str,
        *,
        row: int | None = None,
        column: str | None = None,
        place: str | None = None,
    ) -> None:
        places = [f"row {row}"] * (row is not None) + [f"column '{column}'"] * (column is not None)
        where = place or ", ".join(places)
        super().__init__(": ".join([file, where, reason] if where else [file, reason]))
        self.file = file
        self.reason = reason
        self.row = row
        self.column = column
        self.place = place

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.file, self.reason, self.row, self.column, self.place)


def _rebuild(file: str, reason: str, row: int | None, column: str | None, place: str | None) -> ProfileError:
    return ProfileError(file, reason, row=row, column=column, place=place)
