"""Parse numbers in text. A file writes ``1,234.5`` or ``1.234,5``: all columns of the file together show which."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.errors import ProfileError

_MISSING: Final = frozenset({"", "n/a", "na", "nan", "<na>", "no data", "none", "null", "-", "--", "nil", "nat"})
# Characters that start a formula in a spreadsheet, including their full-width forms.
_GUARD: Final = re.compile(r"'(?='*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")
_GROUPING: Final = "'\u2019 \u00a0\u202f\u2009"
_NUMBER: Final = re.compile(rf"[-+]?(?=[.,]?\d)(\d[\d{_GROUPING}]*)?([\d{_GROUPING}.,]*)(e[-+]?\d+)?", re.IGNORECASE)
_PLAIN_CHARACTERS: Final = b"0123456789eE+-."
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
    columns: Iterable[tuple[str, Sequence[str]]],
    conflict: Callable[[tuple[str, int], tuple[str, int]], ProfileError],
) -> tuple[str, bool]:
    """Return the decimal mark of a file, and whether some number proves it.

    Raises
    ------
    ProfileError
        If two cells have different marks. The caller's function `conflict` makes the error from the columns and rows
        (from 0) of the two cells.
    """
    first: dict[str, tuple[str, int]] = {}
    for name, cells in columns:
        found = _mark_of_column(cells)
        if found is not None:
            mark, row = found
            first.setdefault(mark, (name, row))
            if len(first) > 1:
                raise conflict(first["."], first[","])
    return next(iter(first), "."), bool(first)


def _mark_of_column(cells: Sequence[str]) -> tuple[str, int] | None:
    """Return the decimal mark of a column and the row that proves it.

    Return None if no cell proves a mark, or the cells are text.
    """
    sample = _first_different(cells)
    if not _are_numbers(sample):
        return None
    proof = next(filter(_proves_mark, sample), None)
    joined = "".join(cells) if proof is None and len(sample) == _SAMPLE_CELLS else ""
    if "." in joined or "," in joined:
        proof = next(filter(_proves_mark, dict.fromkeys(cells)), None)
    return None if proof is None else (decimal_mark(proof) or "", cells.index(proof))


def _proves_mark(cell: str) -> bool:
    return ("." in cell or "," in cell) and is_number(cell) and decimal_mark(cell) is not None


def _first_different(cells: Sequence[str]) -> list[str]:
    """Return the first different cells of a column, up to `_SAMPLE_CELLS`."""
    found: dict[str, None] = {}
    for start in range(0, len(cells), _SAMPLE_CELLS):
        found |= dict.fromkeys(cells[start : start + _SAMPLE_CELLS])
        if len(found) >= _SAMPLE_CELLS:
            break
    return list(found)[:_SAMPLE_CELLS]


def _are_numbers(cells: Iterable[str]) -> bool:
    """Whether most of the cells that are not empty are numbers."""
    looks = [is_number(cell) for cell in cells if cell.strip().casefold() not in _MISSING]
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


_GROUPED: Final = {
    ".": re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?"),
    ",": re.compile(r"[-+]?\d{1,3}(\.\d{3})+(,\d*)?"),
}
_PLAIN: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE | re.ASCII)
_SPACED: Final = re.compile(rf"[-+]?\d{{1,3}}([{_GROUPING}]\d{{3}})+([.,]\d*)?")


def _number(cell: str, mark: str) -> float | None:
    text = cell.strip()
    if text.casefold() in _MISSING:
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
