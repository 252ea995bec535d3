"""Equality of records of which a number may be unknown, which is NaN."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

_UNKNOWN: Final = object()


class EqualWhereUnknown:
    """A base of data classes with ``eq=False``. Two of a class are equal if their fields are equal or both NaN."""

    def _compared(self) -> tuple[Any, ...]:
        values = (getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]  # a data class
        return tuple(_UNKNOWN if isinstance(value, float) and value != value else value for value in values)  # noqa: PLR0124

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())
