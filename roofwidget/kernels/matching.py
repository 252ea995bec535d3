"""Matching the kernels of two runs: by names and equal work, then by names and the order of rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import DictColumn, Floats
from roofwidget.kernels.groupby import column_of
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels

_SHAPE: Final = "shape"
_WORK: Final = ("flops", "bytes")
# Amounts count as equal up to this relative difference. FLOPs differ slightly between runs if a
# profiler prints few digits or computes them as rate × time.
_ROUNDING_TOLERANCE: Final = 0.01
# XLA numbers the instructions of a program anew at each compilation: fusion.1 of one run may be fusion.2 of the next.
_XLA_NUMBER: Final = re.compile(r"(?<=[^.\s])\.\d+(?=\.|$)")
Keys = npt.NDArray[np.int64]


def match_rows(before: Kernels, after: Kernels, columns: Sequence[str]) -> tuple[Rows, Rows]:
    """Return two arrays: the rows of `before` that have a match, in order, and the matching rows of `after`.

    Raises
    ------
    ValueError
        If no column is given, or a run lacks one of the columns.

    Examples
    --------
    >>> first = Kernels(["a", "b", "b"], [0, 0, 0], [1, 1, 1])
    >>> second = Kernels(["b", "c", "b", "b", "a"], [0] * 5, [1] * 5)
    >>> [rows.tolist() for rows in match_rows(first, second, ("name",))]
    [[0, 1, 2], [4, 0, 2]]

    Equal work is more important than an equal number from XLA:

    >>> first = Kernels(["fusion.1", "fusion.2"], [4, 8], [1, 1])
    >>> second = Kernels(["fusion.1", "fusion.2"], [8, 4], [1, 1])
    >>> [rows.tolist() for rows in match_rows(first, second, ("name",))]
    [[0, 1], [1, 0]]
    """
    if not columns:
        raise ValueError("compare_runs: match needs at least one column, such as 'name'")
    n = len(before)
    keys, stems = np.zeros((2, n + len(after)), dtype=np.int64)
    for name in columns:
        column = _column_keys(before, after, name)
        keys = _combine(keys, column)
        stems = _combine(stems, _stem_keys(before, after) if name == "name" else column)
    if _SHAPE in before.extra and _SHAPE in after.extra:
        shapes = _column_keys(before, after, _SHAPE) + 1
        keys, stems = (_combine(each, np.where(_is_repeated(each, n), shapes, 0)) for each in (keys, stems))
    flops, moved = (np.concatenate([getattr(run, name) / run.count for run in (before, after)]) for name in _WORK)
    of_flops, of_work = _rounded_keys(flops), _combine(_rounded_keys(flops), _rounded_keys(moved))
    any_row = np.ones(len(keys), dtype=np.bool_)
    match = np.full(n, -1, dtype=np.intp)
    free = np.ones(len(after), dtype=np.bool_)
    for rule, rows_of in (
        (_combine(keys, of_work), any_row),
        # If the work is unknown, names with different XLA numbers would match by chance.
        (_combine(stems, of_work), (flops > 0) | (moved > 0)),
        (_combine(keys, of_flops), any_row),
        (_combine(stems, of_flops), flops > 0),
        (keys, any_row),
    ):
        first, second = np.flatnonzero((match < 0) & rows_of[:n]), np.flatnonzero(free & rows_of[n:])
        rows, others = _pair_in_order(rule[first], rule[n + second])
        match[first[rows]] = second[others]
        free[second[others]] = False
    found = np.flatnonzero(match >= 0)
    return found, match[found]


def does_other_work(before: Kernels, after: Kernels) -> npt.NDArray[np.bool_]:
    """Return a mask of rows that do different work in the two runs, so that their times cannot be compared.

    The work differs if the total FLOPs differ and the FLOPs per launch differ too. Different bytes are not different
    work, because moving fewer bytes is a way to make a kernel faster.

    Examples
    --------
    >>> first = Kernels(["a", "b", "c"], [4e9, 4e9, 4e9], [1, 1, 1], count=[1, 2, 1])
    >>> second = Kernels(["a", "b", "c"], [4.4e9, 2e9, 4e9], [1, 1, 9], count=[1, 1, 1])
    >>> does_other_work(first, second).tolist()
    [True, False, False]
    """
    first, second = before.flops, after.flops
    return _differ(first, second) & _differ(first / before.count, second / after.count)


def splits_its_work(before: Kernels, after: Kernels) -> npt.NDArray[np.bool_]:
    """Return a mask of rows that do the same work in another number of launches, so that only totals can be compared.

    The work is the FLOPs. Without FLOPs it is the bytes.

    Examples
    --------
    >>> first = Kernels(["a", "b", "c"], [4e9, 4e9, 0], [1, 1, 8], count=[1, 1, 1])
    >>> second = Kernels(["a", "b", "c"], [4e9, 8e9, 0], [1, 2, 8], count=[2, 2, 2])
    >>> splits_its_work(first, second).tolist()
    [True, False, True]
    """
    first, second = (np.where(run.flops > 0, run.flops, run.bytes) for run in (before, after))
    return _differ(first / before.count, second / after.count) & ~_differ(first, second)


def _differ(first: Floats, second: Floats) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = np.abs(first - second) > _ROUNDING_TOLERANCE * np.maximum(first, second)
    return found


def _pair_in_order(before: Keys, after: Keys) -> tuple[Rows, Rows]:
    """Return pairs of rows with equal keys. The i-th rows with the same key in the two runs are a pair."""
    keys = _combine(np.concatenate([before, after]), np.concatenate([_occurrence(before), _occurrence(after)]))
    n = len(before)
    _, rows_before, rows_after = np.intersect1d(keys[:n], keys[n:], assume_unique=True, return_indices=True)
    return rows_before, rows_after


def _rounded_keys(amounts: Floats) -> Keys:
    """Round amounts to steps of about 1 %, and return one key per step. All unknown amounts have the same key."""
    with np.errstate(divide="ignore"):
        steps = np.round(np.log(amounts) / _ROUNDING_TOLERANCE)
    _, codes = np.unique(steps, return_inverse=True, equal_nan=True)
    return codes.astype(np.int64)


def _combine(keys: Keys, codes: Keys) -> Keys:
    """Return one key for each row. Two rows get the same key if their `keys` are equal and their `codes` are equal."""
    _, both = np.unique(keys * (codes.max(initial=0) + 1) + codes, return_inverse=True)
    return both.astype(np.int64)


def _is_repeated(keys: Keys, n: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows whose key occurs several times in at least one of the runs."""
    most = int(keys.max(initial=0)) + 1
    several = (np.bincount(keys[:n], minlength=most) > 1) | (np.bincount(keys[n:], minlength=most) > 1)
    found: npt.NDArray[np.bool_] = several[keys]
    return found


def _occurrence(keys: Keys) -> Keys:
    """Return for each row how many earlier rows have the same key."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    place = np.empty(len(keys), dtype=np.int64)
    place[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return place


def _column_keys(before: Kernels, after: Kernels, name: str) -> Keys:
    """Return keys for the rows of both runs. Two equal values, or two unknown values, give equal keys."""
    first = column_of(before, name, "compare_runs: the run before")
    second = column_of(after, name, "compare_runs: the run after")
    if isinstance(first, DictColumn) and isinstance(second, DictColumn):
        index: dict[str | None, int] = {}
        parts = [_numbered(column, index)[column.codes] for column in (first, second)]
        return np.concatenate(parts)
    if not isinstance(first, DictColumn) and not isinstance(second, DictColumn):
        _, codes = np.unique(np.concatenate([first, second]), return_inverse=True, equal_nan=True)
        return codes.astype(np.int64)
    raise ValueError(f"compare_runs: column '{name}' holds texts in one run and numbers in the other")


def _stem_keys(before: Kernels, after: Kernels) -> Keys:
    """Return keys for the names of both runs without the numbers that XLA gave. Equal names give equal keys."""
    index: dict[str | None, int] = {}
    parts = []
    for run in (before, after):
        names = run.codes("name")
        stems = DictColumn(tuple(_XLA_NUMBER.sub("", name or "") for name in names.values), names.codes)
        parts.append(_numbered(stems, index)[stems.codes])
    return np.concatenate(parts)


def _numbered(column: DictColumn, index: dict[str | None, int]) -> Keys:
    return np.array([index.setdefault(word, len(index)) for word in column.values], dtype=np.int64)
