"""What tests ask of the columns and the warnings of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np


class Warned(Protocol):
    """A table, a profile or a comparison, which has warnings."""

    @property
    def warnings(self) -> Sequence[str]:
        """The sentences."""


def _same(found: Any, values: Any) -> bool:
    """Tell whether a column has the values, where an unknown number equals an unknown one."""
    is_list_of_numbers = isinstance(values, list) and found.dtype.kind == "f"
    return bool(found.tolist() == values or (is_list_of_numbers and np.array_equal(found, values, equal_nan=True)))


def has_columns(table: Any, **columns: object) -> None:
    """Check the values of columns: None means that every row is unknown, a mapping names some of several columns."""
    for name, expected in columns.items():
        column = getattr(table, name)
        parts = expected.items() if isinstance(expected, Mapping) else [(name, expected)]
        for key, values in parts:
            found = column[key] if isinstance(expected, Mapping) else column
            if values is None:
                assert np.isnan(found).all(), (name, key, found)
            else:
                assert _same(found, values), (name, key, found.tolist(), values)


def lists(columns: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values of columns by their names."""
    return {name: column.tolist() for name, column in columns.items()}


def warns(result: Warned, *words: str) -> bool:
    """Tell whether a warning has all the words."""
    return any(all(word in warning for word in words) for warning in result.warnings)
