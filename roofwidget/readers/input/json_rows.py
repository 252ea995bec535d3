"""Columns of a list of JSON objects. Every error names the file, the object and the key."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.amounts import number_or_nan
from roofwidget.readers.errors import ProfileError

# The product of three numbers below this limit is still finite.
_MAX_NUMBER: Final = 1e60


class JsonRows:
    """Objects of a list, as columns.

    Parameters
    ----------
    file
        The file, for messages.
    rows
        The objects.
    numbered
        The number of each object in messages; None counts from 1.

    Examples
    --------
    >>> rows = JsonRows("a.json", [{"name": "x", "ms": 1.5}, {"name": "y"}])
    >>> rows.numbers("ms").tolist(), rows.texts("name")
    ([1.5, nan], ['x', 'y'])
    """

    def __init__(self, file: str, rows: Sequence[Mapping[str, Any]], numbered: Sequence[int] | None = None) -> None:
        self.file = file
        self.rows = rows
        self.numbered = range(1, len(rows) + 1) if numbered is None else numbered

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, key: str) -> bool:
        return any(key in row for row in self.rows)

    def numbers(self, key: str, *, is_text: bool = False) -> Floats:
        """Return numbers, shape (n,), NaN where an object lacks the key or has null.

        Parameters
        ----------
        key
            The key.
        is_text
            Whether the numbers are texts, such as ``"128"``.

        Raises
        ------
        ProfileError
            If a value is not a number, negative or not finite.
        """
        kinds = (int, float, str) if is_text else (int, float)
        given = [row.get(key) for row in self.rows]
        found = np.array([math.nan if value is None else _number(value, kinds) for value in given])
        wrong = ~((found >= 0) & (found <= _MAX_NUMBER)) & np.array([value is not None for value in given], np.bool_)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.error(row, key, f"expected a number from 0, got {given[row]!r:.40}")
        return found

    def texts(self, key: str) -> list[str]:
        """Return texts; raise an error if an object has no text under the key."""
        given = [row.get(key) for row in self.rows]
        wrong = next((row for row, value in enumerate(given) if not isinstance(value, str)), None)
        if wrong is not None:
            raise self.error(wrong, key, f"expected a text, got {given[wrong]!r:.40}")
        return [str(value) for value in given]

    def error(self, row: int, key: str, reason: str) -> ProfileError:
        """Return the error for a value; `row` counts from 0."""
        return ProfileError(self.file, reason, place=f"entry {self.numbered[row]}, '{key}'")


def _number(value: Any, kinds: tuple[type[Any], ...]) -> float:
    """Return the number; NaN for a value of another kind."""
    return number_or_nan(value) if isinstance(value, kinds) and not isinstance(value, bool) else math.nan
