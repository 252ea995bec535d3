"""Matching the kernels of two runs: by names and equal work, then by names and the order of rows."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Bools, DictColumn, Floats, unwarned
from roofwidget.kernels.concat import joined
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
# The key of unknown amounts. The key of zero is smaller, and the keys of other amounts are larger.
_UNKNOWN: Final = 1
_MAX_KEY: Final = 2**62
Keys = npt.NDArray[np.int64]
SmallKeys = npt.NDArray[np.int32]


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
    keys = _Keys(before, after, columns)
    n = len(before)
    flops, moved = keys.flops, keys.bytes
    any_row = np.ones(n + len(after), dtype=np.bool_)
    match = np.full(n, -1, dtype=np.intp)
    free = np.ones(len(after), dtype=np.bool_)
    for names_of, works, rows_of in (
        (keys.names, (flops, moved), any_row),
        # If the work is unknown, names with different XLA numbers would match by chance.
        (keys.stems, (flops, moved), (flops > _UNKNOWN) | (moved > _UNKNOWN)),
        (keys.names, (flops,), any_row),
        (keys.stems, (flops,), flops > _UNKNOWN),
        (keys.names, (), any_row),
    ):
        first, second = np.flatnonzero((match < 0) & rows_of[:n]), np.flatnonzero(free & rows_of[n:])
        if not len(first) or not len(second):
            continue
        rule = _rule(np.concatenate([first, second + n]), names_of, works)
        paired, others = _pair_in_order(rule[: len(first)], rule[len(first) :])
        match[first[paired]] = second[others]
        free[second[others]] = False
    found = np.flatnonzero(match >= 0)
    return found, match[found]


def number_kernels(runs: Sequence[Kernels], columns: Sequence[str], baseline: int = 0) -> list[Rows]:
    """Return for each run the number of the kernel in each of its rows, shape (n,). Matched rows have equal numbers.

    Each run is matched with the run `baseline`, as `match_rows` does. Rows without a match there are matched with rows
    that only earlier runs have. The rows of the baseline are the kernels 0, 1 and so on.

    Examples
    --------
    >>> runs = [Kernels(list(names), [0] * len(names), [1] * len(names)) for names in ("ab", "bc", "ca")]
    >>> [numbers.tolist() for numbers in number_kernels(runs, ("name",))]
    [[0, 1], [1, 2], [2, 0]]
    """
    first = runs[baseline]
    numbers = [np.full(len(run), -1, dtype=np.intp) for run in runs]
    numbers[baseline] = np.arange(len(first))
    count = len(first)
    others, numbers_of_others = first[:0], numbers[baseline][:0]
    for at, run in enumerate(runs):
        if at == baseline:
            continue
        own = numbers[at]
        rows_of_first, rows = match_rows(first, run, columns)
        own[rows] = rows_of_first
        left = np.flatnonzero(own < 0)
        if len(left) and len(others):
            rows_of_others, rows = match_rows(others, run[left], columns)
            own[left[rows]] = numbers_of_others[rows_of_others]
            left = np.flatnonzero(own < 0)
        if len(left):
            own[left] = np.arange(count, count + len(left))
            count += len(left)
            others = joined([others, run[left]])
            numbers_of_others = np.concatenate([numbers_of_others, own[left]])
    return numbers


def _rule(rows: Rows, names_of: Callable[[Rows], Keys], works: Iterable[SmallKeys]) -> Keys:
    """Return one key for each of the rows. Rows with equal keys may match."""
    return functools.reduce(_combine, (work[rows] for work in works), names_of(rows))


class _Keys:
    """Keys of the rows of two runs: first all rows of the run before, then all rows of the run after.

    Attributes
    ----------
    flops, bytes
        Keys of the rounded FLOPs and bytes of one launch. Keys up to `_UNKNOWN` are amounts that are zero or unknown.
    """

    def __init__(self, before: Kernels, after: Kernels, columns: Sequence[str]) -> None:
        self._runs = before, after
        self._columns = {name: _column_keys(before, after, name) for name in columns}
        self._all_names = self._combined(self._columns)
        has_shapes = _SHAPE in before.extra and _SHAPE in after.extra
        self._shapes = _column_keys(before, after, _SHAPE) if has_shapes else None
        self._all_names = self._with_shapes(self._all_names)
        self.flops, self.bytes = (
            _rounded_keys(np.concatenate([getattr(run, name) / run.count for run in self._runs])) for name in _WORK
        )

    def names(self, rows: Rows) -> Keys:
        """Return keys of the columns that must be equal."""
        return self._all_names[rows]

    def stems(self, rows: Rows) -> Keys:
        """Return keys of the columns that must be equal. The numbers that XLA gave are left out of names."""
        if "name" not in self._columns:
            return self.names(rows)
        if self._shapes is not None:
            return self._all_stems[rows]
        columns = {name: column[rows] for name, column in self._columns.items()}
        return self._combined(columns | {"name": _stem_keys(*self._runs, rows)})

    @cached_property
    def _all_stems(self) -> Keys:
        every = np.arange(len(self._all_names))
        return self._with_shapes(self._combined(self._columns | {"name": _stem_keys(*self._runs, every)}))

    @staticmethod
    def _combined(columns: Mapping[str, Keys]) -> Keys:
        return functools.reduce(_combine, columns.values())

    def _with_shapes(self, keys: Keys) -> Keys:
        """Return keys in which rows whose key is not the only one in its run also differ by their shapes."""
        if self._shapes is None:
            return keys
        return _combine(keys, np.where(_is_repeated(keys, len(self._runs[0])), self._shapes + 1, 0))


def does_other_work(before: Kernels, after: Kernels) -> Bools:
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


def splits_its_work(before: Kernels, after: Kernels) -> Bools:
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


def _differ(first: Floats, second: Floats) -> Bools:
    return np.abs(first - second) > _ROUNDING_TOLERANCE * np.maximum(first, second)


def _pair_in_order(before: Keys, after: Keys) -> tuple[Rows, Rows]:
    """Return pairs of rows with equal keys. The i-th rows with the same key in the two runs are a pair."""
    order, other = np.argsort(before, kind="stable"), np.argsort(after, kind="stable")
    before, after = before[order], after[other]
    place = np.searchsorted(after, before) + _occurrence(before)
    found = np.flatnonzero(place < len(after))
    found = found[after[place[found]] == before[found]]
    return order[found], other[place[found]]


@unwarned
def _rounded_keys(amounts: Floats) -> SmallKeys:
    """Round amounts to steps of about 1 %, and return one key per step.

    The key of zero and the key of unknown amounts are at most `_UNKNOWN`. Other amounts have larger keys.
    """
    steps = np.log(amounts)
    steps /= _ROUNDING_TOLERANCE
    np.round(steps, out=steps)
    steps -= np.min(steps, initial=0, where=np.isfinite(steps)) - _UNKNOWN - 1
    steps[np.isnan(amounts)], steps[amounts == 0] = _UNKNOWN, _UNKNOWN - 1
    return steps.astype(np.int32)


def _combine(keys: Keys, codes: Keys | SmallKeys) -> Keys:
    """Return one key for each row. Two rows get the same key if their `keys` are equal and their `codes` are equal."""
    size = int(codes.max(initial=0)) + 1
    if (int(keys.max(initial=0)) + 1) * size > _MAX_KEY:
        keys = _dense(keys)
    both = keys * size
    both += codes
    return both


def _dense(keys: Keys) -> Keys:
    """Return keys that are smaller than the number of rows."""
    _, codes = np.unique(keys, return_inverse=True)
    return codes.astype(np.int64)


def _is_repeated(keys: Keys, n: int) -> Bools:
    """Return a mask of the rows whose key occurs several times in at least one of the runs."""
    keys = _dense(keys)
    most = int(keys.max(initial=0)) + 1
    several = (np.bincount(keys[:n], minlength=most) > 1) | (np.bincount(keys[n:], minlength=most) > 1)
    return several[keys]


def _occurrence(ordered: Keys) -> Keys:
    """Return for each of the sorted keys how many equal keys are before it."""
    places = np.arange(len(ordered))
    is_first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return places - np.maximum.accumulate(np.where(is_first, places, 0))


def _column_keys(before: Kernels, after: Kernels, name: str) -> Keys:
    """Return keys for the rows of both runs. Two equal values, or two unknown values, give equal keys."""
    first = column_of(before, name, "compare_runs: the run before")
    second = column_of(after, name, "compare_runs: the run after")
    if isinstance(first, DictColumn) and isinstance(second, DictColumn):
        codes, others = _numbered(first.values, second.values)
        return np.concatenate([codes[first.codes], others[second.codes]])
    if not isinstance(first, DictColumn) and not isinstance(second, DictColumn):
        _, codes = np.unique(np.concatenate([first, second]), return_inverse=True, equal_nan=True)
        return codes.astype(np.int64)
    raise ValueError(f"compare_runs: column '{name}' holds texts in one run and numbers in the other")


def _stem_keys(before: Kernels, after: Kernels, rows: Rows) -> Keys:
    """Return keys for the names of rows without the numbers that XLA gave. Equal names give equal keys.

    The rows of the run after are counted on from the rows of the run before.
    """
    n = len(before)
    stems, codes = [], []
    for run, part in ((before, rows[rows < n]), (after, rows[rows >= n] - n)):
        names = run.codes("name")
        used = np.zeros(len(names.values), dtype=np.bool_)
        used[names.codes[part]] = True
        stems.append([_stem(names.values[code] or "") for code in np.flatnonzero(used).tolist()])
        codes.append((np.cumsum(used) - 1)[names.codes[part]])
    numbers = _numbered(*stems)
    return np.concatenate([number[code] for number, code in zip(numbers, codes, strict=True)])


def _stem(name: str) -> str:
    """Return a name without the numbers that XLA gave.

    Examples
    --------
    >>> [_stem(name) for name in ("fusion.12", "fusion.1.remat.2", "copy", "v1.5x", ".5")]
    ['fusion', 'fusion.remat', 'copy', 'v1.5x', '.5']
    """
    head, dot, number = name.rpartition(".")
    if not dot:
        return name
    # Most names have one number at their end. Then the text methods are faster than the regular expression.
    if head and number.isdecimal() and "." not in head and not head[-1].isspace():
        return head
    return _XLA_NUMBER.sub("", name)


def _numbered(before: Sequence[str | None], after: Sequence[str | None]) -> tuple[Keys, Keys]:
    """Return one number for each text of two sequences. Equal texts have equal numbers."""
    number = dict(zip(before, range(len(before)), strict=True))
    if len(number) == len(before):
        codes = np.arange(len(before))
    else:
        codes = np.fromiter(map(number.__getitem__, before), np.int64, len(before))
    others = np.fromiter(map(number.get, after, itertools.repeat(-1)), np.int64, len(after))
    unknown = np.flatnonzero(others < 0)
    new: dict[str | None, int] = {}
    others[unknown] = [new.setdefault(after[at], len(before) + len(new)) for at in unknown.tolist()]
    return codes, others
