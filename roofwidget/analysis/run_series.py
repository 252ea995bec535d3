"""`RunSeries`: any number of runs of one program: each kernel through all runs, and the program's times by run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.result import Bound
from roofwidget.analysis.run_comparison import RunComparison
from roofwidget.chips import Chip, MissingFigureError
from roofwidget.kernels.columns import A, Bools, DictColumn, Floats, Texts, by_field, frozen, unwarned
from roofwidget.kernels.concat import joined, joined_texts, one_text
from roofwidget.kernels.matching import number_kernels
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import choose_from
from roofwidget.support.text_tables import (
    aligned,
    and_more,
    counted,
    first_few,
    html_table,
    html_with_notes,
    markdown_table,
    markdown_text,
    one_line,
)
from roofwidget.units import format_change, format_percent, format_quantity

if TYPE_CHECKING:
    from roofwidget.widget import RooflineWidget

CATEGORY_IN_PROFILE: Final = "category in the profile"
"""The column of `RunSeries.kernels` with the categories in the profiles: the category of a row is its run."""
_COMMIT: Final = "commit"
_MAX_LINES: Final = 8
_MAX_TABLE_ROWS: Final = 50
_MAX_RUNS_ACROSS: Final = 6
_MAX_NAMED_KERNELS: Final = 3
_TREND_HEADER: Final = ("run", "date", "commit", "kernels", "self time", "bound time", "of roof", "change", "step")


@dataclass(frozen=True)
class RunStep:
    """The change of one kernel from one run to a later run.

    Attributes
    ----------
    kernel
        The kernel's name.
    run_before, run_after
        The names of the two runs. The kernel is in no run between them.
    before, after
        Seconds in the two runs, over all launches.
    ratio
        Seconds in the later run over seconds in the earlier run; of one launch if the numbers of launches differ, as
        `RunComparison.ratio`.
    verdict
        ``faster`` or ``slower``; see `RunComparison.verdict`.
    """

    __module__ = "roofwidget"

    kernel: str
    run_before: str
    run_after: str
    before: float
    after: float
    ratio: float
    verdict: str

    @property
    def change(self) -> float:
        """Seconds in the later run minus seconds in the earlier run, over all launches."""
        return self.after - self.before

    def __str__(self) -> str:
        times = f"{_seconds(self.before)} to {_seconds(self.after)}"
        runs = f"from {one_line(self.run_before)} to {one_line(self.run_after)}"
        return f"{one_line(self.kernel)} {runs}: {times} ({format_change(self.before, self.after)})"


@dataclass(frozen=True, eq=False, repr=False)
class RunTrend:
    """The totals of r runs in the order of their dates. Arrays have shape (r,); NaN is unknown.

    The order is that of the runs if a date is unknown.

    Attributes
    ----------
    runs
        The names of the runs.
    dates, commits
        The date and the commit of each run, or None.
    kernels
        The number of rows of each run.
    launches
        The number of launches.
    time
        Self time, seconds.
    bound_time
        The sum of the bounds of the kernels whose time and bound are known, seconds.
    utilization
        `bound_time` over the self time of these kernels.
    change
        Relative change of `time` since the baseline: 0.1 means 10 % slower.
    step
        Relative change of `time` since the run before; NaN in the first row.
    """

    __module__ = "roofwidget"

    runs: tuple[str, ...]
    dates: tuple[datetime | None, ...]
    commits: tuple[str | None, ...]
    kernels: Rows
    launches: Floats
    time: Floats
    bound_time: Floats
    utilization: Floats
    change: Floats
    step: Floats

    def __len__(self) -> int:
        return len(self.runs)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with one row per run, in order."""
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        return pd.DataFrame(by_field(self))

    def to_markdown(self) -> str:
        """Return the table as Markdown, for example for a report of a CI run."""
        header, *rows = self._cells(len(self))
        return "\n".join(markdown_table(header, rows, code=0))

    def __repr__(self) -> str:
        rows = aligned([*self._cells(_MAX_TABLE_ROWS)])
        return "\n".join([f"RunTrend: {self._title()}", *rows, *and_more(len(self), _MAX_TABLE_ROWS)])

    def _repr_html_(self) -> str:
        header, *rows = self._cells(_MAX_TABLE_ROWS)
        return html_table(self._title(), header, rows, "".join(and_more(len(self), _MAX_TABLE_ROWS)))

    def _title(self) -> str:
        return _times_of(self.time, len(self))

    def _cells(self, most: int) -> Iterator[list[str]]:
        """Yield the heading and the rows, without columns that are unknown for all runs."""
        rows = [
            [
                one_line(self.runs[at]),
                _date_text(self.dates[at]),
                one_line(self.commits[at] or "", width=12),
                f"{self.kernels[at]:,}",
                _seconds(float(self.time[at])),
                _seconds(float(self.bound_time[at])),
                _percent(float(self.utilization[at])),
                _signed(float(self.change[at])),
                _signed(float(self.step[at])) if at else "",
            ]
            for at in range(min(most, len(self)))
        ]
        is_empty = (not any(self.dates), not any(self.commits), *(np.isnan(self.bound_time).all(),) * 2)
        left_out = {column for column, is_out in zip((1, 2, 5, 6), is_empty, strict=True) if is_out}
        for row in (list(_TREND_HEADER), *rows):
            yield [cell for column, cell in enumerate(row) if column not in left_out]


@dataclass(frozen=True, eq=False, repr=False)
class RunSeries:
    """Any number of runs of one program: r runs with m kernels in all. `roofwidget.compare_runs` makes it.

    Arrays have shape (m, r), with the runs in the order given; NaN where a run lacks the kernel or a value is unknown.
    The kernels of the baseline come first, in their order; then those that only other runs have.

    Parameters
    ----------
    tables
        The kernels of each run by the run's name.
    rows
        The row of each kernel in each run, shape (m, r); -1 if the run lacks the kernel.
    baseline
        The name of the run that the others are compared with.
    dates
        The date of each run by name; a run may be missing.
    chip
        The chip for the bounds of all runs. With None, the bounds of each run are for the chip that this run names.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})
    >>> def run(*seconds):
    ...     return rw.Kernels(["matmul", "copy"], [4e14, 0], [1e12, 1e12], time=seconds, chip=chip)
    >>> rw.compare_runs({"v1": run(8, 2), "v2": run(5, 2), "v3": run(5, 4)})
    RunSeries: 2 kernels in 3 runs; self time 10 s to 9 s (−10 %)
    largest step: matmul from v1 to v2: 8 s to 5 s (−38 %)
    run  kernels  self time  bound time  of roof  change  step
    v1   2        10 s       5 s         50 %     ±0 %
    v2   2        7 s        5 s         71 %     −30 %   −30 %
    v3   2        9 s        5 s         56 %     −10 %   +29 %
    kernel  v1          v2          v3          change
    matmul  8 s · 50 %  5 s · 80 %  5 s · 80 %  −38 %
    copy    2 s · 50 %  2 s · 50 %  4 s · 25 %  +100 %
    """

    __module__ = "roofwidget"

    tables: Mapping[str, Kernels]
    rows: Rows
    baseline: str
    dates: Mapping[str, datetime]
    chip: Chip | None = None

    @classmethod
    def of(
        cls,
        tables: Mapping[str, Kernels],
        columns: Sequence[str],
        *,
        baseline: str | None = None,
        dates: Mapping[str, datetime] = MappingProxyType({}),
        chip: Chip | None = None,
    ) -> RunSeries:
        """Match the kernels of all runs; see `roofwidget.compare_runs`."""
        names = list(tables)
        if baseline is not None and baseline not in tables:
            raise ValueError(f"compare_runs: no run is called '{baseline}'{choose_from(baseline, names)}")
        first = names[0] if baseline is None else baseline
        numbers = number_kernels(list(tables.values()), columns, names.index(first))
        rows = np.full((max((int(own.max(initial=-1)) for own in numbers), default=-1) + 1, len(names)), -1, np.intp)
        for at, own in enumerate(numbers):
            rows[own, at] = np.arange(len(own))
        return cls(MappingProxyType(dict(tables)), frozen(rows), first, MappingProxyType(dict(dates)), chip)

    def __len__(self) -> int:
        return len(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        # A pickle must not name internal types, so the values of cached properties are left out.
        return by_field(self) | {
            "tables": dict(self.tables),
            "dates": dict(self.dates),
        }

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs, in the order given."""
        return tuple(self.tables)

    @cached_property
    def names(self) -> Texts:
        """The name of each kernel, shape (m,): that in the baseline, or in the first run that has the kernel."""
        names = np.full(len(self), None, dtype=object)
        # The baseline is last, so its names stay.
        for at in sorted(range(len(self.runs)), key=lambda at: (at == self._first, -at)):
            rows = self.rows[:, at]
            names[rows >= 0] = self._run(at).names[rows[rows >= 0]]
        return frozen(names)

    @cached_property
    def is_missing(self) -> Bools:
        """Whether the run lacks the kernel."""
        return frozen(self.rows < 0)

    @cached_property
    def time(self) -> Floats:
        """Measured seconds over all launches."""
        return self._by_run(lambda at: self._run(at).time)

    @cached_property
    def count(self) -> Floats:
        """The number of launches."""
        return self._by_run(lambda at: self._run(at).count)

    @cached_property
    def bound_time(self) -> Floats:
        """The bound, seconds."""
        return self._by_run(lambda at: self._bound_of(at, "time"))

    @cached_property
    def utilization(self) -> Floats:
        """The bound over the measured time: "% of roof"."""
        return self._by_run(lambda at: self._bound_of(at, "utilization"))

    @cached_property
    def change(self) -> Floats:
        """Seconds minus the seconds in the baseline, over all launches."""
        return frozen(self.time - self.time[:, [self._first]])

    @cached_property
    def ratio(self) -> Floats:
        """Seconds over the seconds in the baseline: 0.5 means twice as fast; see `RunComparison.ratio`."""
        return self._with_baseline(lambda runs: runs.ratio, np.full(self.rows.shape, np.nan))

    @cached_property
    def verdict(self) -> Texts:
        """The comparison with the baseline, as `RunComparison.verdict`; None where one of the two lacks the kernel."""
        return self._with_baseline(lambda runs: runs.verdict, np.full(self.rows.shape, None, dtype=object))

    def comparison(self, after: str, before: str | None = None) -> RunComparison:
        """Return the comparison of two of the runs, with the same matches. ``before`` is the baseline by default.

        Raises
        ------
        ValueError
            If no run has the name; the message names the nearest.
        """
        return self._compared(self._position(self.baseline if before is None else before), self._position(after))

    @cached_property
    def steps(self) -> tuple[RunStep, ...]:
        """The changes of kernels from run to run in the order of `trend`, the largest change of seconds first.

        A change is a step if its verdict is ``faster`` or ``slower``. If a run lacks a kernel or its time, the runs
        before and after it are compared.
        """
        return tuple(map(self._step, range(len(self._changes))))

    @property
    def largest_step(self) -> RunStep | None:
        """The largest change of one kernel from run to run, or None if no kernel changed."""
        return self._step(0) if len(self._changes) else None

    @unwarned
    def trend(self) -> RunTrend:
        """Return the totals by run, in the order of dates. If a date is unknown, the order is that of the runs."""
        order = list(self._order)
        totals = np.array([self._totals(at) for at in order]).reshape(-1, 2)
        time = np.array([_known_sum(self._run(at).self_time) for at in order])
        first = _known_sum(self.tables[self.baseline].self_time)
        return RunTrend(
            runs=tuple(self.runs[at] for at in order),
            dates=tuple(self.dates.get(self.runs[at]) for at in order),
            commits=tuple(shared_text(self._run(at), _COMMIT) for at in order),
            kernels=np.array([len(self._run(at)) for at in order], dtype=np.intp),
            launches=np.array([self._run(at).count.sum() for at in order]),
            time=time,
            bound_time=totals[:, 0],
            utilization=totals[:, 0] / totals[:, 1],
            change=time / first - 1,
            step=np.concatenate([[np.nan], time[1:] / time[:-1] - 1])[: len(time)],
        )

    @cached_property
    def kernels(self) -> Kernels:
        """All rows of all runs as one table, whose categories are the runs; the widget shows it.

        The categories of the runs are in the column ``"category in the profile"`` of `Kernels.extra`.
        """
        runs = list(self.tables.values())
        table = joined(runs, joined_texts(one_text(name, len(run)) for name, run in self.tables.items()))
        own = joined_texts(run.codes("category") for run in runs)
        extra = {CATEGORY_IN_PROFILE: own} if any(own.values) else {}
        chips = {run.chip.id: run.chip for run in runs if run.chip is not None}
        is_shared = len(chips) == 1 and all(run.chip is not None for run in runs)
        return table.replace(
            extra={**table.extra_columns, **extra},
            chip=next(iter(chips.values())) if is_shared else None,
            warnings=list(dict.fromkeys(warning for run in runs for warning in run.warnings)),
            series=True,
        )

    def roofline(self, **traits: Any) -> RooflineWidget:
        """Return a `RooflineWidget` in which each run is a series with its own colour and entry in the legend."""
        return self.kernels.roofline(**traits)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with one row per kernel and run: times, bound, change and verdict."""
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        columns = ("time", "count", "bound_time", "utilization", "change", "ratio", "verdict", "is_missing")
        head = {"name": np.repeat(self.names, len(self.runs)), "run": np.tile(np.array(self.runs, object), len(self))}
        return pd.DataFrame(head | {name: getattr(self, name).ravel() for name in columns})

    def to_markdown(self) -> str:
        """Return the tables as Markdown, for example for a report of a CI run."""
        header, *rows = self._cells(_MAX_TABLE_ROWS)
        table = markdown_table([markdown_text(cell) for cell in header], rows, code=0)
        lines = [markdown_text(self._title()), "", self.trend().to_markdown(), "", *table]
        notes = [*and_more(len(self), _MAX_TABLE_ROWS), *self._notes()]
        return "\n".join([*lines, "", *(f"- {markdown_text(note)}" for note in notes)]).rstrip()

    def __repr__(self) -> str:
        step, *remarks = self._notes()
        trend = repr(self.trend()).splitlines()[1:]
        rows = aligned([*self._cells(_MAX_LINES)]) if len(self) else []
        more = and_more(len(self), _MAX_LINES)
        return "\n".join([f"RunSeries: {self._title()}", step, *trend, *rows, *more, *remarks])

    def _repr_html_(self) -> str:
        header, *rows = self._cells(_MAX_TABLE_ROWS)
        more = "".join(and_more(len(self), _MAX_TABLE_ROWS))
        table = html_table("Kernels", header, rows, more)
        return html_with_notes(self.trend()._repr_html_() + table, self._notes())

    def _title(self) -> str:
        return f"{counted(len(self), 'kernel')} in {_times_of(self.trend().time, len(self.runs))}"

    def _cells(self, most: int) -> Iterator[list[str]]:
        """Yield the heading and the kernels, the largest change since the baseline first."""
        shown = list(self._order)
        if len(shown) > _MAX_RUNS_ACROSS:
            shown = [shown[0], *shown[1 - _MAX_RUNS_ACROSS :]]
        yield ["kernel", *(one_line(self.runs[at], width=16) for at in shown), "change"]
        largest = np.max(np.nan_to_num(np.abs(self.change)), axis=1, initial=0)
        last, baseline = shown[-1], self._first
        for kernel in np.argsort(-largest, kind="stable")[:most]:
            before, after = float(self.time[kernel, baseline]), float(self.time[kernel, last])
            missing = next((at for at in (baseline, last) if self.is_missing[kernel, at]), None)
            change = "" if missing is not None else format_change(before, after)
            yield [one_line(self.names[kernel]), *(self._cell(int(kernel), at) for at in shown), change]

    def _cell(self, kernel: int, at: int) -> str:
        if self.is_missing[kernel, at]:
            return "missing"
        seconds, share = float(self.time[kernel, at]), float(self.utilization[kernel, at])
        return _seconds(seconds) + ("" if math.isnan(share) else f" · {format_percent(share)}")

    def _notes(self) -> list[str]:
        step = self.largest_step
        notes = ["no kernel changed from run to run" if step is None else f"largest step: {step}"]
        shown = len(self.runs) - _MAX_RUNS_ACROSS
        if shown > 0:
            notes.append(f"the table of kernels leaves out {counted(shown, 'run')}; see to_dataframe()")
        lacking = [at for at in self._order if self.is_missing[:, at].any()]
        for at in lacking[:_MAX_RUNS_ACROSS]:
            missing = np.flatnonzero(self.is_missing[:, at])
            order = missing[np.argsort(-self._longest[missing], kind="stable")]
            named = first_few([one_line(name) for name in self.names[order]], _MAX_NAMED_KERNELS)
            notes.append(f"not in {one_line(self.runs[at])}: {named}")
        more = len(lacking) - _MAX_RUNS_ACROSS
        if more > 0:
            notes.append(f"{counted(more, 'more run')} lack{'s' if more == 1 else ''} kernels; see is_missing")
        undated = [name for name in self.runs if name not in self.dates]
        if self.dates and undated:
            named = first_few([one_line(name) for name in undated], _MAX_NAMED_KERNELS)
            notes.append(f"the runs are in the order given, because a date is unknown: {named}")
        other = int(np.sum(np.any(self.verdict == "other work", axis=1)))
        if other:
            notes.append(f"{counted(other, 'kernel')} did other work than in {one_line(self.baseline)}")
        return notes

    @cached_property
    def _longest(self) -> Floats:
        """The longest time of each kernel, shape (m,), seconds."""
        found: Floats = np.max(np.nan_to_num(self.time), axis=1, initial=0)
        return found

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """The positions of the runs in the order of their dates, or as given if a date is unknown."""
        places = range(len(self.runs))
        if any(name not in self.dates for name in self.runs):
            return tuple(places)
        return tuple(sorted(places, key=lambda at: _instant(self.dates[self.runs[at]])))

    def _with_baseline(self, column_of: Callable[[RunComparison], A], found: A) -> A:
        """Return a column of the comparisons of all runs with the baseline, put into an array of unknown values."""
        for at in range(len(self.runs)):
            found[self._in_both(self._first, at), at] = column_of(self._compared(self._first, at))
        return frozen(found)

    @cached_property
    def _first(self) -> int:
        """The position of the baseline."""
        return self.runs.index(self.baseline)

    def _run(self, at: int) -> Kernels:
        return self.tables[self.runs[at]]

    def _position(self, run: str) -> int:
        if run not in self.tables:
            raise ValueError(f"no run is called '{run}'{choose_from(run, self.runs)}")
        return self.runs.index(run)

    def _in_both(self, before: int, after: int) -> Rows:
        return np.flatnonzero((self.rows[:, before] >= 0) & (self.rows[:, after] >= 0))

    def _compared(self, before: int, after: int, kernels: Rows | None = None) -> RunComparison:
        both = self._in_both(before, after) if kernels is None else kernels
        rows_before, rows_after = self.rows[both, before], self.rows[both, after]
        return RunComparison(self._run(before), self._run(after), rows_before, rows_after, self.chip)

    @cached_property
    def _changes(self) -> Rows:
        """The kernel, the earlier run and the later run of each step, the largest step first; shape (steps, 3)."""
        found = [np.zeros((0, 3), dtype=np.intp)]
        last = np.full(len(self), -1, dtype=np.intp)
        for at in self._order:
            is_known = ~np.isnan(self.time[:, at])
            for before in np.unique(last[is_known & (last >= 0)]).tolist():
                kernels = np.flatnonzero(is_known & (last == before))
                verdict = self._compared(before, at, kernels).verdict
                changed = kernels[(verdict == "faster") | (verdict == "slower")]
                found.append(np.column_stack([changed, np.full_like(changed, before), np.full_like(changed, at)]))
            last[is_known] = at
        steps = np.concatenate(found)
        kernels, before, after = steps.T
        sizes = np.abs(self.time[kernels, after] - self.time[kernels, before])
        return steps[np.argsort(-sizes, kind="stable")]

    def _step(self, at: int) -> RunStep:
        kernel, before, after = self._changes[at].tolist()
        runs = self._compared(before, after, np.array([kernel]))
        return RunStep(
            kernel=str(self.names[kernel]),
            run_before=self.runs[before],
            run_after=self.runs[after],
            before=float(runs.before[0]),
            after=float(runs.after[0]),
            ratio=float(runs.ratio[0]),
            verdict=str(runs.verdict[0]),
        )

    def _by_run(self, column_of: Any) -> Floats:
        found = np.full(self.rows.shape, np.nan)
        for at in range(len(self.runs)):
            column, rows = column_of(at), self.rows[:, at]
            found[rows >= 0, at] = column[rows[rows >= 0]]
        return frozen(found)

    @cached_property
    def _bounds(self) -> tuple[Bound | None, ...]:
        return tuple(_bound(run, self.chip or run.chip) for run in self.tables.values())

    def _bound_of(self, at: int, field: str) -> Floats:
        bound = self._bounds[at]
        unknown: Floats = np.full(len(self._run(at)), np.nan)
        return unknown if bound is None else getattr(bound, field)

    def _totals(self, at: int) -> tuple[float, float]:
        """Return the sums over the kernels whose time and bound are known: of the bounds and of the self times."""
        bound, own = self._bounds[at], self._run(at).self_time
        if bound is None or not (known := ~np.isnan(bound.headroom) & ~np.isnan(own)).any():
            return math.nan, math.nan
        measured = math.fsum(own[known])
        return measured - math.fsum(bound.headroom[known]), measured


def shared_text(kernels: Kernels, name: str) -> str | None:
    """Return the text that all rows have in a column of `Kernels.extra`, or None.

    Examples
    --------
    >>> shared_text(Kernels(["a", "b"], [1, 1], [1, 1], extra={"commit": "3f2a"}), "commit")
    '3f2a'
    """
    column = kernels.extra_columns.get(name)
    if not isinstance(column, DictColumn):
        return None
    found = {column.values[code] for code in np.unique(column.codes)}
    return found.pop() if len(found) == 1 else None


def _bound(run: Kernels, chip: Chip | None) -> Bound | None:
    if chip is None:
        return None
    try:
        return bound_lenient(run, chip)
    except MissingFigureError:
        return None


def _instant(date: datetime) -> datetime:
    """Return the date with a time zone. A date without a time zone is taken as UTC."""
    return date if date.tzinfo is not None else date.replace(tzinfo=timezone.utc)


def _known_sum(seconds: Floats) -> float:
    known = seconds[~np.isnan(seconds)]
    return float(known.sum()) if len(known) else math.nan


def _times_of(time: Floats, runs: int) -> str:
    first, last = (float(time[at]) if len(time) else math.nan for at in (0, -1))
    times = f"{_seconds(first)} to {_seconds(last)} ({format_change(first, last)})"
    return f"{counted(runs, 'run')}; self time {times}"


def _seconds(seconds: float) -> str:
    return "not measured" if math.isnan(seconds) else format_quantity(seconds, "s")


def _percent(share: float) -> str:
    return "unknown" if math.isnan(share) else format_percent(share)


def _signed(change: float) -> str:
    return format_change(1.0, 1.0 + change)


def _date_text(date: datetime | None) -> str:
    if date is None:
        return ""
    has_time = any((date.hour, date.minute, date.second, date.microsecond))
    return date.isoformat(" ", "minutes") if has_time else date.date().isoformat()
