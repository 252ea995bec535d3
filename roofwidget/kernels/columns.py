"""The columns of `Kernels`: checked numpy arrays. An error names the row and the column of the first bad cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property, wraps
from numbers import Real
from types import MappingProxyType
from typing import Any, Final, ParamSpec, TypeAlias, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

from roofwidget import units
from roofwidget.support.arguments import list_argument, shown_value, text_argument
from roofwidget.support.precisions import precision_key

Floats: TypeAlias = npt.NDArray[np.float64]
Texts: TypeAlias = npt.NDArray[np.object_]
Bools: TypeAlias = npt.NDArray[np.bool_]
Scalar: TypeAlias = float | np.number[Any] | str
"""One number, or one text with a unit such as ``"3.35 TB/s"``."""
A = TypeVar("A", bound=npt.NDArray[Any])
P = ParamSpec("P")
R = TypeVar("R")

ASKED_PRECISION: Final = ""
"""The key of FLOPs that were given as a plain number: their precision is the one that the user asks for."""
MAIN_LEVEL: Final = "main"
"""The key of bytes that were given as a plain number: they belong to the chip's main memory."""
TIE_TOLERANCE: Final = 1e-12
"""Relative difference below which two amounts count as equal: rounding alone can cause it."""


def unwarned(formula: Callable[P, R]) -> Callable[P, R]:
    """Decorate a formula: numpy does not warn of its infinite, unknown and tiny results.

    Finite numbers can have such results, and the formulas are right for them: a rate beyond the largest double is above
    every peak.
    """

    @wraps(formula)
    def quiet(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(all="ignore"):
            return formula(*args, **kwargs)

    return quiet


def by_field(one: Any) -> dict[str, Any]:
    """Return the values of a dataclass by the names of its fields, without those of cached properties."""
    return {field.name: getattr(one, field.name) for field in fields(one)}


def frozen(column: A) -> A:
    """Make an array read-only and return it."""
    column.flags.writeable = False
    return column


@dataclass(frozen=True, eq=False)
class DictColumn:
    """Dictionary-encoded string column: unique values plus one int32 code per row.

    Parameters
    ----------
    values
        The unique values in order of first appearance; None means "no value". A slice keeps all values of the whole
        column, so some values of the slice may be unused.
    codes
        Positions in `values`, shape (n,), read-only.
    """

    values: tuple[str | None, ...]
    codes: npt.NDArray[np.int32]

    def texts(self) -> Texts:
        """Return one value per row, shape (n,), read-only."""
        return self._texts

    @cached_property
    def _texts(self) -> Texts:
        column = np.empty(len(self.values), dtype=object)
        column[:] = self.values
        return frozen(column[self.codes])

    def at(self, row: int) -> str | None:
        """Return the value of one row."""
        return self.values[int(self.codes[row])]

    def map(self, function: Callable[[str | None], str | None]) -> DictColumn:
        """Return the column with each unique value replaced by `function` of the value.

        Examples
        --------
        >>> column = DictColumn(("a", "", "A"), np.array([0, 1, 2], dtype=np.int32))
        >>> column.map(lambda text: (text or "").upper()).values
        ('A', '')
        """
        found = [function(value) for value in self.values]
        code_of = dict(zip(dict.fromkeys(found), itertools.count(), strict=False))
        if len(code_of) == len(found):
            return DictColumn(tuple(found), self.codes)
        place = np.array([code_of[value] for value in found], dtype=np.int32)
        return DictColumn(tuple(code_of), frozen(place[self.codes]))

    def compact(self) -> DictColumn:
        """Return the column with only the values that its rows have, in order of first appearance.

        Examples
        --------
        >>> compact = DictColumn(("a", "b", "c"), np.array([2, 0, 2], dtype=np.int32)).compact()
        >>> compact.values, compact.codes.tolist()
        (('c', 'a'), [0, 1, 0])
        """
        first = np.full(len(self.values), -1)
        # Of several assignments to one place the last counts, so the rows are assigned from the last to the first.
        first[self.codes[::-1]] = np.arange(len(self.codes) - 1, -1, -1)
        used = np.flatnonzero(first >= 0)
        order = used[np.argsort(first[used])]
        if len(order) == len(self.values) and (order == np.arange(len(order))).all():
            return self
        place = np.zeros(len(self.values), dtype=np.int32)
        place[order] = np.arange(len(order))
        return DictColumn(tuple(self.values[at] for at in order), frozen(place[self.codes]))

    def where(self, holds: Callable[[str | None], bool]) -> Bools:
        """Return a mask of the rows whose value passes `holds`, which is called once for each unique value."""
        return np.array([holds(value) for value in self.values], dtype=np.bool_)[self.codes]

    def first_row(self, is_bad: Callable[[str | None], bool]) -> int | None:
        """Return the first row whose value is bad, or None."""
        rows = self.where(is_bad)
        return int(np.argmax(rows)) if rows.any() else None

    def at_rows(self, rows: npt.NDArray[np.intp]) -> DictColumn:
        """Return the given rows with the values that they have."""
        return self if len(rows) == len(self.codes) else self[rows].compact()

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str | None]:
        return iter(self._texts)

    def __getitem__(self, rows: Any) -> DictColumn:
        return DictColumn(self.values, frozen(self.codes[rows]))


def dict_column(
    given: Iterable[str | None] | DictColumn | None, field: str, n: int, *, casefold: bool = False
) -> DictColumn:
    """Return a checked column of n texts. If `given` is None, no row of the column has a value.

    With `casefold` the texts are precisions: each text is normalized by `folded`, and an empty text becomes None.
    """
    if isinstance(given, DictColumn):
        column = given.map(lambda text: _checked_text(text, field, 0, casefold=True)) if casefold else given
    elif given is None:
        column = DictColumn((None,), np.zeros(n, dtype=np.int32))
    else:
        values = list_argument(given, f"column '{field}'", "['a', None]")
        # Check only the unique values: a table of a million rows has few unique values.
        if not set(map(type, values)) <= {str, type(None)}:
            values = [_checked_text(value, field, row, casefold=False) for row, value in enumerate(values)]
        if casefold:
            word_of = {value: _checked_text(value, field, 0, casefold=True) for value in dict.fromkeys(values)}
            values = list(map(word_of.__getitem__, values))
        column = dict_encoded(values)
    if len(column.codes) != n:
        raise ValueError(f"column '{field}' has {len(column.codes)} entries, expected {n}")
    frozen(column.codes)
    return column


def dict_encoded(values: list[str | None]) -> DictColumn:
    """Return a sequence of texts and None as a dictionary-encoded column."""
    unique = tuple(dict.fromkeys(values))
    if len(unique) == len(values):
        return DictColumn(unique, frozen(np.arange(len(values), dtype=np.int32)))
    code_of = dict(zip(unique, itertools.count(), strict=False))
    return DictColumn(unique, frozen(np.fromiter(map(code_of.__getitem__, values), np.int32, len(values))))


def _checked_text(value: Any, field: str, row: int, *, casefold: bool) -> str | None:
    if not isinstance(value, str) and value is not None:
        raise TypeError(f"row {row}, column '{field}': {value!r:.60} is not text")
    return folded(value) or None if casefold and isinstance(value, str) else value


def folded(precision: str) -> str:
    """Return the package's name of a precision. For ``"auto"`` return `ASKED_PRECISION`, the empty text.

    Examples
    --------
    >>> folded("BF16"), folded("float32"), folded("Auto")
    ('bf16', 'fp32', '')
    """
    key = precision_key(precision)
    return ASKED_PRECISION if key == "auto" else key


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or numpy. A bool does not count as an integer.

    Examples
    --------
    >>> is_whole(np.int64(3)), is_whole(True)
    (True, False)
    """
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def real_number(value: Any, what: str) -> Any:
    """Return the value if it is a number of any type. Otherwise raise a `TypeError` that begins with `what`."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{what} must be a number, got {value!r:.60}")
    return value


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number of Python or numpy. A bool does not count as a number."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def known_numbers(given: list[float | None]) -> list[float] | None:
    """Return a column with NaN in place of None, or None if no number is known."""
    is_known = any(number is not None for number in given)
    return [np.nan if number is None else number for number in given] if is_known else None


def by_key_of_rows(amounts: list[float | Mapping[str, float] | None], plain: str) -> dict[str, Floats]:
    """Return columns by precision or level. Each row gives a number or a mapping by precision or level."""
    found: dict[str, dict[int, float]] = {}
    for row, amount in enumerate(amounts):
        parts = amount.items() if isinstance(amount, Mapping) else () if amount is None else ((plain, amount),)
        for key, number in parts:
            if key not in found:
                found[key] = {}
            found[key][row] = number
    columns = {key: np.full(len(amounts), np.nan) for key in found or {plain: {}}}
    for key, numbers in found.items():
        columns[key][[*numbers]] = [*numbers.values()]
    return columns


def by_key(
    given: npt.ArrayLike | Mapping[str, npt.ArrayLike], plain: str, field: str, n: int, *, casefold: bool = False
) -> Mapping[str, Floats]:
    """Return checked columns by precision or level. A single column is returned under the key `plain`.

    Keys that differ only in case become one column under the first spelling. With `casefold` the keys are precisions
    and are normalized by `folded`.
    """
    if not isinstance(given, Mapping):
        given = {plain: given}
    found: dict[str, Floats] = {}
    for key, column in given.items():
        text_argument(key, f"a key of {field}")
        kept = folded(key) if casefold else key
        name = next((other for other in found if other.casefold() == kept.casefold()), kept)
        part = checked(column, f"{field}:{key}" if key != plain else field, n)
        if name in found:
            twice = ~np.isnan(part) & ~np.isnan(found[name])
            if twice.any():
                raise ValueError(f"row {int(np.argmax(twice))}: '{field}' has both '{name or field}' and '{key}'")
            part = checked(np.where(np.isnan(part), found[name], part), field, n)
        found[name] = part
    return MappingProxyType(found or {plain: checked(np.full(n, np.nan), field, n)})


def float_column(given: npt.ArrayLike, field: str, n: int) -> Floats:
    """Return a read-only float64 column. Raise a ValueError for a bad cell, or if there are not n rows."""
    try:
        column = np.array(given, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        column = float_cells(given, field)
    if column.shape != (n,):
        raise ValueError(f"column '{field}' has shape {column.shape}, expected ({n},)")
    return frozen(column)


def checked(given: npt.ArrayLike, field: str, n: int) -> Floats:
    """Return a read-only float64 column of n rows. A bad number raises a ValueError with its row and column."""
    column = float_column(given, field, n)
    if field == "count":
        bad, rule = (
            ~(np.isfinite(column) & (column >= 1) & (column == np.floor(column))),
            "must be a whole number from 1",
        )
    else:
        bad, rule = np.isinf(column) | (column < 0), "must be finite and not negative, or NaN where unknown"
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"row {row}, column '{field}': {column[row]} {rule}")
    return column


def real(given: npt.ArrayLike, unit: str, what: str) -> Floats:
    """Return numbers, or a single text such as ``"450 GB/s"``, as float64. If `unit` is empty, text is an error.

    Raises
    ------
    TypeError, ValueError
        If the value is not a number, or not in this unit: the message names `what`.

    Examples
    --------
    >>> real([1, 2.5], "B/s", "bandwidth").tolist(), float(real("450 GB/s", "B/s", "bandwidth"))
    ([1.0, 2.5], 450000000000.0)
    """
    if isinstance(given, str) and unit:
        return np.asarray(units.parse(given, unit, what))
    if given is None or isinstance(given, (bool, str)):
        raise TypeError(f"{what} must be numbers, got {given!r:.60}")
    try:
        return np.asarray(given, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        raise TypeError(f"{what} must be numbers that fit double precision, got {given!s:.60}") from None


def number_or_array(found: Floats) -> float | Floats:
    """Return an array without dimensions as a float, and any other array unchanged.

    Examples
    --------
    >>> number_or_array(np.asarray(2.5)), number_or_array(np.asarray([2.5])).tolist()
    (2.5, [2.5])
    """
    return found if found.ndim else float(found)


def quantity(given: npt.ArrayLike, unit: str, what: str, *, above_zero: bool = False) -> Floats:
    """Return the numbers that `real` reads. They must be finite and at least zero.

    If `above_zero` is true, a zero is an error too.

    Raises
    ------
    TypeError, ValueError
        As in `real`, or if a number is out of range.

    Examples
    --------
    >>> float(quantity("1 us", "s", "latency"))
    1e-06
    """
    found = real(given, unit, what)
    good = np.isfinite(found) & ((found > 0) if above_zero else (found >= 0))
    if not good.all():
        check = units.positive if above_zero else units.finite
        check(float(found[~good].flat[0]), what)
    return found


def name_column(given: list[Any] | DictColumn) -> Texts:
    """Return a read-only column of names."""
    if isinstance(given, DictColumn):
        row = given.first_row(lambda name: not isinstance(name, str))
        if row is not None:
            raise TypeError(f"row {row}, column 'name': {given.at(row)!r:.60} is not text")
        return given.texts()
    column = np.empty(len(given), dtype=object)
    column[:] = given
    if set(map(type, given)) != {str}:
        for row, value in enumerate(given):
            if not isinstance(value, str):
                raise TypeError(f"row {row}, column 'name': {value!r:.60} is not text")
    return frozen(column)


def float_cells(given: Any, field: str) -> Floats:
    """Return the cells of a list or of a data frame's column as float64; None and NA become NaN."""
    if not hasattr(given, "__len__"):
        raise TypeError(f"column '{field}' must be a list of numbers, got {shown_value(given)}")
    result = np.full(len(given), np.nan)
    for row, value in enumerate(given):
        if value is None or type(value).__name__ in {"NAType", "NaTType"}:
            continue
        if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__float__"):
            raise ValueError(f"row {row}, column '{field}': {value!r:.60} is not a number")
        try:
            result[row] = float(value)
        except OverflowError:
            raise ValueError(
                f"row {row}, column '{field}': an integer too large for a double-precision number"
            ) from None
    return result


def text_cells(column: Any, field: str) -> list[str | None] | None:
    """Return the text cells of a data frame's column. None, NaN and NA become None. Other values raise a ValueError."""
    if column is None:
        return None
    found: list[str | None] = []
    for row, value in enumerate(column):
        missing = value is None or type(value).__name__ in {"NAType", "NaTType"} or value != value  # noqa: PLR0124 - NaN
        if not missing and not isinstance(value, str):
            raise ValueError(f"row {row}, column '{field}': {value!r:.60} is not text")
        found.append(None if missing else value or None)
    return found


@unwarned
def sum_of_known(columns: list[Floats], n: int) -> Floats:
    """Return the sum of the known amounts of each row; NaN for a row whose amounts are all unknown."""
    if not columns:
        return np.full(n, np.nan)
    if len(columns) == 1:
        return columns[0]
    stacked = np.stack(columns)
    return np.where(np.isnan(stacked).all(axis=0), np.nan, np.nansum(stacked, axis=0))


def known_or(column: Floats, other: Floats | None) -> Floats:
    """Return the values of `column`, and those of `other` where they are NaN. Without `other`, return `column`."""
    return column if other is None else np.where(np.isnan(column), other, column)


def filled(columns: Mapping[str, Floats], key: str, column: Floats, field: str) -> Mapping[str, Floats]:
    """Return columns by precision or level, in which the known values of `column` are those of `key`."""
    if np.isnan(column).all():
        return columns
    return MappingProxyType({**columns, key: checked(known_or(column, columns.get(key)), field, len(column))})


def same(left: Any, right: Any) -> bool:
    """Return whether two columns, or two mappings of columns, are equal; NaN equals NaN."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(column, right[name]) for name, column in left.items())
    if isinstance(left, DictColumn) and isinstance(right, DictColumn):
        left, right = left.texts(), right.texts()
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        has_nan = left.dtype.kind == right.dtype.kind == "f"
        return np.array_equal(left, right, equal_nan=has_nan)
    return bool(left == right)


def at_rows(column: Any, rows: Any) -> Any:
    """Return the given rows of a column, or of each column in a mapping. Arrays are read-only; None stays None."""
    if isinstance(column, Mapping):
        return MappingProxyType({name: at_rows(part, rows) for name, part in column.items()})
    if isinstance(column, np.ndarray):
        return frozen(column[rows])
    return None if column is None else column[rows]


def to_plain(value: Any) -> Any:
    """Return an argument of `Kernels` in plain types, so that a pickle does not name this module."""
    if isinstance(value, DictColumn):
        return value.values, value.codes
    if isinstance(value, Mapping):
        return {name: to_plain(part) for name, part in value.items()}
    return list(value) if isinstance(value, tuple) else value


def from_plain(value: Any) -> Any:
    """Undo `to_plain`: return the argument of `to_plain`, given its result."""
    if isinstance(value, dict):
        return {name: from_plain(part) for name, part in value.items()}
    return DictColumn(*value) if isinstance(value, tuple) else value


def at_row(columns: Mapping[str, Floats], row: int, plain: str) -> float | dict[str, float] | None:
    """Return the amount of one row: a number, a dict by precision or level, or None if the amount is unknown."""
    parts = {key: float(column[row]) for key, column in columns.items() if not np.isnan(column[row])}
    return parts.get(plain) if parts.keys() <= {plain} else parts
