"""Which kernels of two runs are the same: equal in some columns, and in order where several are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from roofwidget.columns import Coded
from roofwidget.kernels import Kernels
from roofwidget.provenance import Rows
from roofwidget.suggest import listed, nearest

__all__ = ["matched"]

_SHAPE: Final = "shape"
Keys = npt.NDArray[np.int64]


def matched(before: Kernels, after: Kernels, columns: Sequence[str]) -> tuple[Rows, Rows]:
    """Return the rows of two runs that belong together, in the order of the first; see `roofwidget.compare_runs`.

    Raises
    ------
    ValueError
        If there is no column to match by, or a run has none of that name.

    Examples
    --------
    >>> first = Kernels(["a", "b", "b"], [0, 0, 0], [1, 1, 1])
    >>> second = Kernels(["b", "c", "b", "b", "a"], [0] * 5, [1] * 5)
    >>> [rows.tolist() for rows in matched(first, second, ("name",))]
    [[0, 1, 2], [4, 0, 2]]
    """
    if not columns:
        msg = "compare_runs: match needs at least one column, such as 'name'"
        raise ValueError(msg)
    n = len(before)
    keys = np.zeros(n + len(after), dtype=np.int64)
    for name in columns:
        keys = _joined(keys, _codes(before, after, name))
    if _SHAPE in before.extra and _SHAPE in after.extra:
        several = _is_several(keys, n)
        keys = _joined(keys, np.where(several, _codes(before, after, _SHAPE) + 1, 0))
    keys = _joined(keys, np.concatenate([_occurrence(keys[:n]), _occurrence(keys[n:])]))
    _, rows_before, rows_after = np.intersect1d(keys[:n], keys[n:], assume_unique=True, return_indices=True)
    order = np.argsort(rows_before)
    return rows_before[order], rows_after[order]


def _joined(keys: Keys, codes: Keys) -> Keys:
    """Return a number for each different pair."""
    _, both = np.unique(keys * (codes.max(initial=0) + 1) + codes, return_inverse=True)
    return both.astype(np.int64)


def _is_several(keys: Keys, n: int) -> npt.NDArray[np.bool_]:
    """Whether a run has a row's key several times."""
    most = int(keys.max(initial=0)) + 1
    several = (np.bincount(keys[:n], minlength=most) > 1) | (np.bincount(keys[n:], minlength=most) > 1)
    found: npt.NDArray[np.bool_] = several[keys]
    return found


def _occurrence(keys: Keys) -> Keys:
    """How many rows before have the same key."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    place = np.empty(len(keys), dtype=np.int64)
    place[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return place


def _codes(before: Kernels, after: Kernels, name: str) -> Keys:
    """Return numbers that are equal where a column of the runs, one after the other, is; unknown equals unknown."""
    first, second = (_column(run, which, name) for run, which in ((before, "before"), (after, "after")))
    if isinstance(first, Coded) and isinstance(second, Coded):
        index: dict[str | None, int] = {}
        parts = [_numbered(column, index)[column.codes] for column in (first, second)]
        return np.concatenate(parts)
    if not isinstance(first, Coded) and not isinstance(second, Coded):
        _, codes = np.unique(np.concatenate([first, second]), return_inverse=True, equal_nan=True)
        return codes.astype(np.int64)
    msg = f"compare_runs: column '{name}' holds texts in one run and numbers in the other"
    raise ValueError(msg)


def _numbered(column: Coded, index: dict[str | None, int]) -> Keys:
    return np.array([index.setdefault(word, len(index)) for word in column.words], dtype=np.int64)


def _column(run: Kernels, which: str, name: str) -> Coded | npt.NDArray[np.float64]:
    if name in {"name", "precision", "category"}:
        return run.codes(name)
    if name not in run.extra_columns:
        known = ["name", "precision", "category", *run.extra]
        msg = f"compare_runs: the run {which} has no column '{name}'; nearest: {listed(nearest(name, known) or known)}"
        raise ValueError(msg)
    return run.extra_columns[name]
