"""Matching the kernels of two runs: by equal columns, then by equal work, then by order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import DictColumn, Floats
from roofwidget.kernels.groupby import column_of
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels

_SHAPE: Final = "shape"
# Amounts count as equal up to this relative difference. FLOPs differ slightly between runs if a
# profiler prints few digits or computes them as rate × time.
_ROUNDING_TOLERANCE: Final = 0.01
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
    """
    if not columns:
        raise ValueError("compare_runs: match needs at least one column, such as 'name'")
    n = len(before)
    keys = np.zeros(n + len(after), dtype=np.int64)
    for name in columns:
        keys = _combine(keys, _column_keys(before, after, name))
    if _SHAPE in before.extra and _SHAPE in after.extra:
        several = _is_repeated(keys, n)
        keys = _combine(keys, np.where(several, _column_keys(before, after, _SHAPE) + 1, 0))
    of_flops = _combine(keys, _rounded_keys(before.flops / before.count, after.flops / after.count))
    of_work = _combine(of_flops, _rounded_keys(before.bytes / before.count, after.bytes / after.count))
    match = np.full(n, -1, dtype=np.intp)
    free = np.ones(len(after), dtype=np.bool_)
    for rule in (of_work, of_flops, keys):
        first, second = np.flatnonzero(match < 0), np.flatnonzero(free)
        rows, others = _pair_in_order(rule[first], rule[n + second])
        match[first[rows]] = second[others]
        free[second[others]] = False
    found = np.flatnonzero(match >= 0)
    return found, match[found]


def does_other_work(before: Kernels, after: Kernels) -> npt.NDArray[np.bool_]:
    """Return a mask of rows whose total FLOPs and FLOPs per launch both differ, so that times cannot be compared.

    Bytes may differ: moving fewer bytes is a way to make a kernel faster.

    Examples
    --------
    >>> first = Kernels(["a", "b", "c"], [4e9, 4e9, 4e9], [1, 1, 1], count=[1, 2, 1])
    >>> second = Kernels(["a", "b", "c"], [4.4e9, 2e9, 4e9], [1, 1, 9], count=[1, 1, 1])
    >>> does_other_work(first, second).tolist()
    [True, False, False]
    """
    first, second = before.flops, after.flops
    return _differ(first, second) & _differ(first / before.count, second / after.count)


def _differ(first: Floats, second: Floats) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = np.abs(first - second) > _ROUNDING_TOLERANCE * np.maximum(first, second)
    return found


def _pair_in_order(before: Keys, after: Keys) -> tuple[Rows, Rows]:
    """Return pairs of rows with equal keys. The i-th rows with the same key in the two runs are a pair."""
    keys = _combine(np.concatenate([before, after]), np.concatenate([_occurrence(before), _occurrence(after)]))
    n = len(before)
    _, rows_before, rows_after = np.intersect1d(keys[:n], keys[n:], assume_unique=True, return_indices=True)
    return rows_before, rows_after


def _rounded_keys(before: Floats, after: Floats) -> Keys:
    """Round amounts to steps of about 1 %, and return one key per step. All unknown amounts have the same key."""
    with np.errstate(divide="ignore"):
        steps = np.round(np.log(np.concatenate([before, after])) / _ROUNDING_TOLERANCE)
    _, codes = np.unique(steps, return_inverse=True, equal_nan=True)
    return codes.astype(np.int64)


def _combine(keys: Keys, codes: Keys) -> Keys:
    """Return one key for each row. Two rows have the same key if they agree in both `keys` and `codes`."""
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


def _numbered(column: DictColumn, index: dict[str | None, int]) -> Keys:
    return np.array([index.setdefault(word, len(index)) for word in column.values], dtype=np.int64)
