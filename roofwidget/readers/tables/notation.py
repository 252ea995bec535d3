"""Parse numbers in text. A file writes ``1,234.5`` or ``1.234,5``: all columns of the file together show which."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Floats
from roofwidget.readers.errors import ProfileError

if TYPE_CHECKING:
    from roofwidget.readers.tables.cells import Column

_MISSING: Final = frozenset({"", "n/a", "na", "nan", "<na>", "no data", "none", "null", "-", "--", "nil", "nat"})
# Characters that start a formula in a spreadsheet, including their full-width forms.
_GUARD: Final = re.compile(r"'(?='*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")
_GROUPING: Final = "'\u2019 \u00a0\u202f\u2009"
_NUMBER: Final = re.compile(
    rf"[-+]?(?=[.,]?\d)(\d[\d{_GROUPING}]*)?([.,][\d{_GROUPING}.,]*)?(e[-+]?\d+)?", re.IGNORECASE
)
_PLAIN_CHARACTERS: Final = b"0123456789eE+-."
_DIGITS_AND_MARKS: Final = re.compile(r"(?:(?:[.,]?\d[\d.,]*)?\n)*")
_EXPONENT: Final = re.compile(r"[eE]")
# How many different cells of a column to check before deciding whether it holds numbers.
_SAMPLE_CELLS: Final = 1000


def unguarded(cell: str) -> str:
    """Return a text without the apostrophe that keeps spreadsheets from reading it as a formula.

    Examples
    --------
    >>> [unguarded(cell) for cell in ("'=HYPERLINK(1)", "''=kept", "'quoted'", "-1.5")]
    ['=HYPERLINK(1)', "'=kept", "'quoted'", '-1.5']
    """
    return cell[1:] if cell[:1] == "'" and _GUARD.match(cell) else cell


def is_number(cell: str) -> bool:
    """Whether a cell looks like a number in either notation.

    Examples
    --------
    >>> [is_number(cell) for cell in ("1", "-1.234,5e3", "1,2,3", "", "abc", "1x2")]
    [True, True, True, False, False, False]
    """
    return _NUMBER.fullmatch(cell.strip()) is not None


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value: it is empty, ``n/a``, ``nan``, ``no data`` and the like."""
    return cell.strip().casefold() in _MISSING


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell is a number that proves a decimal comma."""
    return ("," in cell or "." in cell) and is_number(cell) and decimal_mark(cell) == ","


def decimal_mark(cell: str) -> str | None:
    """Return the decimal mark of a number, None if both marks are possible.

    Examples
    --------
    >>> [decimal_mark(cell) for cell in ("1.5", "65,77", "27.595.520", "1,234.5", "117.344", "0.125", "12")]
    ['.', ',', ',', '.', None, '.', None]
    """
    body = _EXPONENT.split(cell.strip().lstrip("+-"))[0]
    body = re.sub(rf"[{_GROUPING}]", "", body)
    marks = [mark for mark in body if mark in ".,"]
    if not marks:
        return None
    if len(set(marks)) > 1:
        return marks[-1]
    other = "," if marks[0] == "." else "."
    if len(marks) > 1:
        return other
    before, after = body.split(marks[0])
    may_group = len(after) == 3 and 1 <= len(before) <= 3 and before[0] != "0"  # noqa: PLR2004 - a group of digits
    return None if may_group and len(body) == len(cell.strip().lstrip("+-")) else marks[0]


def decimal(
    columns: Iterable[tuple[str, Column]],
    conflict: Callable[[tuple[str, int], tuple[str, int]], ProfileError],
) -> tuple[str, bool]:
    """Return the decimal mark of a file, and whether some number proves it.

    Raises
    ------
    ProfileError
        If two cells have different marks. The caller's function `conflict` makes the error from the columns and rows
        (from 0) of the two cells.
    """
    first: dict[str, tuple[str, Column, str]] = {}
    for name, column in columns:
        proof = _proof_of_mark(column)
        if proof is not None:
            first.setdefault(decimal_mark(proof) or "", (name, column, proof))
            if len(first) > 1:
                point, comma = ((name, column.texts().index(cell)) for name, column, cell in (first["."], first[","]))
                raise conflict(point, comma)
    return next(iter(first), "."), bool(first)


def _proof_of_mark(column: Column) -> str | None:
    """Return the first cell of a column that proves a decimal mark.

    Return None if no cell proves a mark, or the cells are text.
    """
    sample = column.different(_SAMPLE_CELLS)
    if not _are_numbers(sample):
        return None
    proof = next(filter(_proves_mark, sample), None)
    if proof is None and len(sample) == _SAMPLE_CELLS and column.has_marks():
        proof = next(filter(_proves_mark, dict.fromkeys(column.texts())), None)
    return proof


def _proves_mark(cell: str) -> bool:
    return ("." in cell or "," in cell) and is_number(cell) and decimal_mark(cell) is not None


def _are_numbers(cells: Iterable[str]) -> bool:
    """Whether most of the cells that are not empty are numbers."""
    cells = list(cells)
    # Most columns of numbers have only digits and marks, which one match tells.
    joined = "\n".join([*cells, ""])
    if any(cells) and _DIGITS_AND_MARKS.fullmatch(joined) and joined.count("\n") == len(cells):
        return True
    looks = [is_number(cell) for cell in cells if not is_missing(cell)]
    return 2 * sum(looks) > len(looks)


def numbers(cells: Sequence[str], mark: str) -> tuple[Floats, int | None]:
    """Return a column's numbers, and the row of the first cell that is not a number.

    Empty cells are NaN. The row is None if all other cells are numbers.

    Examples
    --------
    >>> column, bad = numbers(["1.234,5", "n/a", "2e3"], ",")
    >>> column.tolist(), bad
    ([1234.5, nan, 2000.0], None)
    """
    written = "".join(cells).encode()
    if cells and not written.translate(None, _PLAIN_CHARACTERS) and (mark == "." or b"." not in written):
        try:
            return np.array(cells, dtype=np.float64), None
        except ValueError:
            pass  # Some cell is empty or not a number. The loop below finds this cell.
    different: dict[str, float] = {}
    for row, cell in enumerate(cells):
        if cell not in different:
            number = _number(cell, mark)
            if number is None:
                return np.full(len(cells), np.nan), row
            different[cell] = number
    return np.array([different[cell] for cell in cells], dtype=np.float64), None


_MAX_PLAIN_CHARACTERS: Final = 19
"""A sign, a decimal mark, and digits that fit into 64 bits."""
_MAX_EXACT: Final = 2**53


def plain_decimals(
    data: npt.NDArray[np.uint8], starts: npt.NDArray[Any], stops: npt.NDArray[Any], mark: str
) -> Floats | None:
    """Return the numbers of cells that are digits with at most a sign and a decimal mark; NaN for empty cells.

    The result is None if a cell is not of this form, or if it is not exact: a float64 has 53 bits, so the digits
    without the decimal mark are a float64, and so is the power of ten. Their quotient is rounded once.

    Parameters
    ----------
    data
        The cells as ASCII, with further characters before, between and after them.
    starts, stops
        The first character of each cell, and the first after it.
    mark
        The decimal mark.

    Examples
    --------
    >>> text = np.frombuffer(b"-1.5;;12;x", dtype=np.uint8)
    >>> plain_decimals(text, np.array([0, 5, 6]), np.array([4, 5, 8]), ".").tolist()
    [-1.5, nan, 12.0]
    """
    longest = int((stops - starts).max(initial=0))
    if longest > _MAX_PLAIN_CHARACTERS:
        return None
    last = len(data) - 1
    signs = data[np.minimum(starts, last)] if last >= 0 else np.zeros(len(starts), dtype=np.uint8)
    is_filled = stops > starts
    is_minus = is_filled & (signs == ord("-"))
    at = starts + (is_minus | (is_filled & (signs == ord("+"))))
    whole = np.zeros(len(starts), dtype=np.uint64)
    decimals = np.zeros(len(starts), dtype=np.int8)
    has_mark = np.zeros(len(starts), dtype=np.bool_)
    has_digit = ~is_filled
    for _ in range(longest):
        is_inside = at < stops
        cells = data[np.minimum(at, last)]
        digits = cells - np.uint8(ord("0"))
        is_digit = is_inside & (digits <= 9)  # noqa: PLR2004 - a digit
        is_mark = is_inside & (cells == ord(mark))
        if (is_inside & ~is_digit & (has_mark | ~is_mark)).any():
            return None
        whole = np.where(is_digit, whole * np.uint64(10) + digits, whole)
        decimals += is_digit & has_mark
        has_mark |= is_mark
        has_digit |= is_digit
        at = at + 1
    if not has_digit.all() or ((whole > _MAX_EXACT) & (decimals > 0)).any():
        return None
    found = whole / _POWERS[decimals]
    return np.where(is_filled, np.where(is_minus, -found, found), np.nan)


_POWERS: Final = np.array([float(10**power) for power in range(_MAX_PLAIN_CHARACTERS)])
_GROUPED: Final = {
    ".": re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?"),
    ",": re.compile(r"[-+]?\d{1,3}(\.\d{3})+(,\d*)?"),
}
_PLAIN: Final = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?", re.IGNORECASE | re.ASCII)
_SPACED: Final = re.compile(rf"[-+]?\d{{1,3}}([{_GROUPING}]\d{{3}})+([.,]\d*)?")


def _number(cell: str, mark: str) -> float | None:
    text = cell.strip()
    if is_missing(text):
        return np.nan
    if _SPACED.fullmatch(text):
        text = re.sub(rf"[{_GROUPING}]", "", text)
    if _GROUPED[mark].fullmatch(text):
        text = text.replace("," if mark == "." else ".", "")
    if mark == ",":
        if "." in text:
            return None
        text = text.replace(",", ".")
    return float(text) if _PLAIN.fullmatch(text) else None
