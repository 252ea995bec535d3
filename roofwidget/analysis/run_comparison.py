"""`RunComparison`: two runs of one program: which kernels became faster or slower, and which are only in one run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.chips import Chip, MissingFigureError
from roofwidget.kernels.columns import (
    TIE_TOLERANCE,
    Bools,
    DictColumn,
    Floats,
    Texts,
    by_field,
    frozen,
    known_or,
    unwarned,
)
from roofwidget.kernels.groupby import PER_LAUNCH
from roofwidget.kernels.matching import does_other_work, splits_its_work
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels
from roofwidget.support.text_tables import (
    aligned,
    and_more,
    counted,
    first_few,
    html_table,
    html_with_notes,
    one_line,
)
from roofwidget.units import format_change, format_quantity

_MAX_LINES: Final = 8
_MAX_TABLE_ROWS: Final = 50
_MAX_NAMED_KERNELS: Final = 3
_HEADER: Final = ["kernel", "before", "after", "change", "verdict", "bound by"]
_VERDICTS: Final = ("faster", "slower", "same", "unknown", "other work")
# A kernel that was timed once has no known spread. Timings of an unchanged kernel differ by about this share, because
# clocks and caches differ from launch to launch. A smaller difference is no change.
_SINGLE_TIMING_RESOLUTION: Final = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison:
    """Two runs of one program, with m kernels in both. Arrays have shape (m,), in the order of the earlier run.

    Parameters
    ----------
    run_before, run_after
        All kernels of the two runs.
    rows_before, rows_after
        The rows of the matched kernels in the two runs, shape (m,).
    chip
        The chip for the bounds of both runs. With None, the bounds of each run are for the chip that this run names.

    Examples
    --------
    >>> import roofwidget as rw
    >>> before = rw.Kernels(["matmul", "copy", "gelu"], [4e14, 0, 1e12], [1e12, 1e12, 1e12], time=[8, 1, 1])
    >>> after = rw.Kernels(["matmul", "fused"], [4e14, 1e12], [1e12, 1e12], time=[6, 1])
    >>> rw.compare_runs(before, after, chip=rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12}))
    RunComparison: 1 kernel in both runs, 2 only before, 1 only after; self time 10 s to 7 s (−30 %)
    kernel  before  after  change  verdict  bound by
    matmul  8 s     6 s    −25 %   faster   compute
    only before: copy; gelu
    only after: fused
    """

    __module__ = "roofwidget"

    run_before: Kernels
    run_after: Kernels
    rows_before: Rows
    rows_after: Rows
    chip: Chip | None = None

    def __len__(self) -> int:
        return len(self.rows_before)

    def __getstate__(self) -> dict[str, Any]:
        # A pickle must not name internal types, so the values of cached properties are left out.
        return by_field(self)

    @property
    def names(self) -> Texts:
        """The names of the matched kernels, as in the earlier run."""
        return self.run_before.names[self.rows_before]

    @cached_property
    def matched_before(self) -> Kernels:
        """The kernels of the earlier run that are in both runs."""
        return self.run_before[self.rows_before]

    @cached_property
    def matched_after(self) -> Kernels:
        """The kernels of the later run that are in both runs: row i matches row i of `matched_before`."""
        return self.run_after[self.rows_after]

    @cached_property
    def only_before(self) -> Kernels:
        """The kernels that are only in the earlier run."""
        return self.run_before[_others(len(self.run_before), self.rows_before)]

    @cached_property
    def only_after(self) -> Kernels:
        """The kernels that are only in the later run."""
        return self.run_after[_others(len(self.run_after), self.rows_after)]

    @property
    def before(self) -> Floats:
        """Seconds in the earlier run, over all launches; NaN where not measured."""
        return self.matched_before.time

    @property
    def after(self) -> Floats:
        """Seconds in the later run, over all launches; NaN where not measured."""
        return self.matched_after.time

    @property
    def count_before(self) -> Floats:
        """The number of launches in the earlier run."""
        return self.matched_before.count

    @property
    def count_after(self) -> Floats:
        """The number of launches in the later run."""
        return self.matched_after.count

    @cached_property
    def is_per_launch(self) -> Bools:
        """Whether `ratio` and `verdict` compare the time of one launch, because the runs differ in their launches.

        False if the numbers of launches are equal, or if a kernel does the same work in more or fewer launches.
        """
        differ = self.count_before != self.count_after
        return frozen(differ & ~splits_its_work(self.matched_before, self.matched_after))

    @cached_property
    def change(self) -> Floats:
        """Seconds in the later run minus seconds in the earlier run, over all launches."""
        return frozen(np.asarray(self.after - self.before))

    @cached_property
    @unwarned
    def ratio(self) -> Floats:
        """Seconds in the later run over seconds in the earlier run: 0.5 means twice as fast; see `is_per_launch`."""
        before, after = self._compared
        return frozen(np.asarray(after / before))

    @cached_property
    def _compared(self) -> tuple[Floats, Floats]:
        """The seconds that are compared: of one launch where `is_per_launch`, otherwise over all launches."""
        counts = (self.count_before, self.count_after)
        before, after = (
            seconds / np.where(self.is_per_launch, count, 1)
            for seconds, count in zip((self.before, self.after), counts, strict=True)
        )
        return before, after

    @cached_property
    def ai_before(self) -> Floats:
        """FLOPs per byte of main memory in the earlier run, FLOP/byte."""
        return _intensity(self.matched_before, self.chip)

    @cached_property
    def ai_after(self) -> Floats:
        """FLOPs per byte of main memory in the later run, FLOP/byte."""
        return _intensity(self.matched_after, self.chip)

    @cached_property
    def bound_by_before(self) -> Texts:
        """The resource that binds each kernel in the earlier run. Without a chip it is ``unknown``."""
        return _bound_by(self.matched_before, self.chip)

    @cached_property
    def bound_by_after(self) -> Texts:
        """The resource that binds each kernel in the later run. Without a chip it is ``unknown``."""
        return _bound_by(self.matched_after, self.chip)

    def compared_times(self, row: int) -> tuple[str, str]:
        """Return the two compared times of a matched kernel as text, such as ``"100 ms × 4"``; see `is_per_launch`."""
        before, after = (float(seconds[row]) for seconds in self._compared)
        launches = (self.count_before[row], self.count_after[row]) if self.is_per_launch[row] else (1, 1)
        return _seconds(before, launches[0]), _seconds(after, launches[1])

    @property
    def verdict(self) -> Texts:
        """The result for each matched kernel: ``faster``, ``slower``, ``same``, ``unknown`` or ``other work``.

        Each kernel has a range of times in each run. If the run has the times of launches (see `Kernels.groupby`), the
        range is from the shortest launch to the longest launch, times the number of launches unless `is_per_launch`.
        Otherwise the range is only the measured time. If the ranges of the two runs overlap, the verdict is ``same``.
        It is also ``same`` if one of the ranges is a single time and the ranges are at most 1 % apart: a single timing
        is not more exact. If a measured time is unknown, the verdict is ``unknown``. The verdict is ``other work`` if
        the total FLOPs and the FLOPs per launch both differ by more than 1 %: times of different work cannot be
        compared. Different bytes do not change the verdict.
        """
        return self._verdicts.texts()

    def by_row_before(self) -> tuple[Rows, DictColumn]:
        """Return two lists by row of the earlier run: the row in the later run (or -1), and the verdict (or None)."""
        match = np.full(len(self.run_before), -1, dtype=np.intp)
        match[self.rows_before] = self.rows_after
        codes = np.full(len(self.run_before), len(_VERDICTS), dtype=np.int32)
        codes[self.rows_before] = self._verdicts.codes
        return match, DictColumn((*_VERDICTS, None), codes)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame, one row per kernel of both runs: times, intensities, bounds and verdicts."""
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        columns = ("before", "after", "count_before", "count_after", "change", "ratio", "verdict")
        texts = ("ai_before", "ai_after", "bound_by_before", "bound_by_after")
        return pd.DataFrame({"name": self.names} | {name: getattr(self, name) for name in (*columns, *texts)})

    def __repr__(self) -> str:
        rows = aligned([_HEADER, *self._rows(_MAX_LINES)]) if len(self) else []
        return "\n".join([f"RunComparison: {self._title()}", *rows, *and_more(len(self), _MAX_LINES), *self._remarks()])

    def _repr_html_(self) -> str:
        more = "".join(and_more(len(self), _MAX_TABLE_ROWS))
        table = html_table(self._title(), _HEADER, self._rows(_MAX_TABLE_ROWS), more)
        return html_with_notes(table, self._remarks())

    def _title(self) -> str:
        before, after = (float(np.nansum(run.self_time)) for run in (self.run_before, self.run_after))
        kernels = f"{counted(len(self), 'kernel')} in both runs"
        alone = f"{len(self.only_before):,} only before, {len(self.only_after):,} only after"
        times = f"{format_quantity(before, 's')} to {format_quantity(after, 's')} ({format_change(before, after)})"
        return f"{kernels}, {alone}; self time {times}"

    def _rows(self, most: int) -> Iterator[list[str]]:
        """Yield the rows of the table that is shown, largest changes first."""
        for row in np.argsort(-np.abs(self.change), kind="stable")[:most]:
            before, after = (float(seconds[row]) for seconds in self._compared)
            binds = dict.fromkeys((str(self.bound_by_before[row]), str(self.bound_by_after[row])))
            yield [
                one_line(self.names[row]),
                *self.compared_times(int(row)),
                format_change(before, after),
                str(self.verdict[row]),
                " → ".join(binds),
            ]

    def _remarks(self) -> list[str]:
        remarks = [
            f"only {which}: {_first(run)}"
            for which, run in (("before", self.only_before), ("after", self.only_after))
            if len(run)
        ]
        per_launch = int(self.is_per_launch.sum())
        if per_launch:
            who = f"{counted(per_launch, 'kernel')} {'was' if per_launch == 1 else 'were'}"
            remarks.append(f"{who} launched more or less often than before; compared are times per launch")
        split = int((self.count_before != self.count_after).sum()) - per_launch
        if split:
            who = f"{counted(split, 'kernel')} {'does its' if split == 1 else 'do their'}"
            remarks.append(f"{who} work in more or fewer launches than before; compared are times over all launches")
        return remarks

    @cached_property
    def _verdicts(self) -> DictColumn:
        runs = (self.matched_before, self.matched_after)
        (low_before, high_before), (low_after, high_after) = (_range(run, self.is_per_launch) for run in runs)
        is_single = (low_before == high_before) | (low_after == high_after)
        tolerance = np.where(is_single, _SINGLE_TIMING_RESOLUTION, TIE_TOLERANCE)
        faster, slower, same, unknown, other = range(5)
        codes = np.full(len(self), same, dtype=np.int32)
        codes[high_after < low_before * (1 - tolerance)] = faster
        codes[low_after * (1 - tolerance) > high_before] = slower
        codes[np.isnan(self.change)] = unknown
        codes[does_other_work(self.matched_before, self.matched_after)] = other
        return DictColumn(_VERDICTS, codes)


def _others(n: int, rows: Rows) -> Rows:
    """Return the rows of a table of n rows that are not in `rows`."""
    is_other = np.ones(n, dtype=np.bool_)
    is_other[rows] = False
    return np.flatnonzero(is_other)


def _range(kernels: Kernels, per_launch: Bools) -> tuple[Floats, Floats]:
    """Return the shortest and the longest time that each kernel could have, in seconds.

    The shortest time is the shortest launch times the number of launches, and the longest time is the longest launch
    times this number. If the times of single launches are unknown, the two times are `time`. In the rows of the mask
    `per_launch` the two times are divided by the number of launches.
    """
    ends = []
    for name in (PER_LAUNCH[0], PER_LAUNCH[2]):
        column = kernels.extra_columns.get(name)
        seconds = column * kernels.count if isinstance(column, np.ndarray) else kernels.time
        ends.append(np.where(np.isnan(seconds), kernels.time, seconds) / np.where(per_launch, kernels.count, 1))
    return ends[0], ends[1]


@unwarned
def _intensity(kernels: Kernels, chip: Chip | None) -> Floats:
    if chip is None:
        return frozen(kernels.arithmetic_intensity)
    return frozen(known_or(kernels.flops / kernels.bytes_on(chip), kernels.intensity))


def _bound_by(kernels: Kernels, chip: Chip | None) -> Texts:
    own = chip or kernels.chip
    if own is not None:
        try:
            return bound_lenient(kernels, own).bound_by
        except MissingFigureError:
            pass
    return frozen(np.full(len(kernels), "unknown", dtype=object))


def _seconds(seconds: float, launches: float) -> str:
    if math.isnan(seconds):
        return "not measured"
    return format_quantity(seconds, "s") + ("" if launches == 1 else f" × {launches:,.0f}")


def _first(kernels: Kernels) -> str:
    """Return a text that names the longest kernels and counts the others, such as ``a; b; and 3 more``."""
    order = np.argsort(-kernels.self_time, kind="stable")
    return first_few([one_line(name) for name in kernels.names[order]], _MAX_NAMED_KERNELS)
