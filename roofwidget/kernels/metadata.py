"""What a table of kernels carries beside its numbers: where they came from, what else the file told, its launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from roofwidget.kernels import columns
from roofwidget.kernels.columns import DictColumn, Floats, Texts

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

__all__ = ["Extra", "Launches", "Words", "extra_columns", "origins", "part", "same_extra"]

_TAKEN: Final = ("name", "flops", "bytes", "time", "precision", "category", "count", "self_time")

Rows: TypeAlias = npt.NDArray[np.intp]
Extra: TypeAlias = Mapping[str, Floats | DictColumn]


class Words(Mapping[str, Any]):
    """Columns by name, those of texts spelled out when they are asked for: shape (n,) each, read-only."""

    def __init__(self, kept: Mapping[str, Floats | DictColumn]) -> None:
        self._kept = kept
        self._spelled: dict[str, Texts] = {}

    def __getitem__(self, name: str) -> Any:
        column = self._kept[name]
        if not isinstance(column, DictColumn):
            return column
        if name not in self._spelled:
            self._spelled[name] = column.texts()
        return self._spelled[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        return f"Words({list(self._kept)})"


def origins(given: Mapping[str, Any] | None, n: int) -> Mapping[str, DictColumn]:
    """Return checked origins: one text for all rows, or a text or None a row."""
    return MappingProxyType({key: _words(words, f"origin:{key}", n) for key, words in (given or {}).items()})


def extra_columns(given: Mapping[str, Any] | None, n: int) -> Extra:
    """Return checked further columns: numbers (any, NaN where unknown) or texts (None where there is none).

    One number or one text stands for all rows.
    """
    found: dict[str, Floats | DictColumn] = {}
    for name, column in (given or {}).items():
        if name in _TAKEN or name.startswith(("flops:", "bytes:", "origin:")):
            msg = f"extra: '{name}' is the name of a column that the table has anyway"
            raise ValueError(msg)
        found[name] = _words(column, name, n) if _is_text(column) else _numbers(column, name, n)
    return MappingProxyType(found)


def part(given: Mapping[str, Any], rows: Any) -> dict[str, Any]:
    """Return these rows of all columns."""
    return {name: column[rows] for name, column in given.items()}


def same_extra(left: Extra, right: Extra) -> bool:
    """Tell whether two sets of columns are equal, NaN to NaN."""
    return left.keys() == right.keys() and all(_same(column, right[name]) for name, column in left.items())


def _same(left: Floats | DictColumn, right: Floats | DictColumn) -> bool:
    if isinstance(left, DictColumn) or isinstance(right, DictColumn):
        both = isinstance(left, DictColumn) and isinstance(right, DictColumn)
        return both and np.array_equal(left.texts(), right.texts())  # type: ignore[union-attr]  # both are
    return np.array_equal(left, right, equal_nan=True)


def _is_text(column: Any) -> bool:
    if isinstance(column, (str, DictColumn)):
        return True
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column.dtype.kind in "US"
    if not hasattr(column, "__iter__"):
        return False
    return next((isinstance(value, str) for value in column if value is not None), False)


def _words(given: Any, name: str, n: int) -> DictColumn:
    if isinstance(given, str):
        return DictColumn((given,), np.zeros(n, dtype=np.int32))
    if isinstance(given, np.ndarray):
        given = given.tolist()
    return columns.coded(given, name, n)


def _numbers(given: Any, name: str, n: int) -> Floats:
    if not hasattr(given, "__len__"):
        given = np.broadcast_to(given, n)
    try:
        column = np.array(given, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        column = columns.numbers(given, name)
    if column.shape != (n,):
        msg = f"column '{name}' has shape {column.shape}, expected ({n},)"
        raise ValueError(msg)
    column.flags.writeable = False
    return column


@dataclass(frozen=True, eq=False)
class Launches:
    """The rows that an aggregated table was made of.

    Parameters
    ----------
    kernels
        All of them, m.
    owner
        The row of the whole aggregated table that each belongs to, shape (m,).
    rows
        The rows of the whole table that this part of it has, shape (n,).
    """

    kernels: Kernels
    owner: Rows
    rows: Rows

    @classmethod
    def of(cls, kernels: Kernels | None, owner: npt.ArrayLike | None, n: int) -> Launches | None:
        """Return the checked launches of a table of n rows, None without any."""
        if kernels is None:
            return None
        owners = np.array([] if owner is None else owner, dtype=np.intp)
        if owners.shape != (len(kernels),) or not ((owners >= 0) & (owners < n)).all():
            msg = f"launch_rows must hold a row of this table, 0 to {n - 1}, for each of {len(kernels)} launches"
            raise ValueError(msg)
        return cls(kernels, owners, np.arange(n))

    def __getitem__(self, rows: Any) -> Launches:
        return Launches(self.kernels, self.owner, self.rows[rows])

    def here(self) -> Kernels:
        """Return the launches of all rows of this part."""
        return self.kernels if len(self.rows) == self.owner.max(initial=-1) + 1 else self.of_rows(self.rows)

    def of_rows(self, rows: Any) -> Kernels:
        """Return the launches of these rows of the whole table."""
        return self.kernels[np.isin(self.owner, rows)]

    def owners_here(self) -> Rows:
        """Return the row of this part that each launch of `here` belongs to."""
        place = np.full(self.owner.max(initial=-1) + 1, -1, dtype=np.intp)
        place[self.rows] = np.arange(len(self.rows))
        found: Rows = place[self.owner[np.isin(self.owner, self.rows)]]
        return found
