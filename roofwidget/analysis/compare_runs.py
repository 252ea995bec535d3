"""`compare_runs`: matches the kernels of two or more runs of one program, and compares their times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import PurePath
from typing import Any, Final, TypeAlias, overload

from roofwidget.analysis.run_comparison import RunComparison
from roofwidget.analysis.run_series import RunSeries, shared_text
from roofwidget.chips import Chip
from roofwidget.chips import chip as look_up
from roofwidget.kernels.groupby import column_of
from roofwidget.kernels.matching import match_rows
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.support.arguments import list_argument, shown_value, text_argument
from roofwidget.support.did_you_mean import choose_from, keywords

_MIN_RUNS: Final = 2
_DATE: Final = "date"
_Dates: TypeAlias = "Mapping[str, Any] | Iterable[Any] | None"


@overload
def compare_runs(
    before: Any, after: Any, *, match: Iterable[str] | str = ..., chip: Chip | str | None = ...
) -> RunComparison: ...
@overload
def compare_runs(
    runs: Mapping[str, Any],
    /,
    *,
    dates: _Dates = ...,
    baseline: str | None = ...,
    match: Iterable[str] | str = ...,
    chip: Chip | str | None = ...,
) -> RunSeries: ...
@overload
def compare_runs(
    first: Any,
    second: Any,
    /,
    *more: Any,
    names: Iterable[str],
    dates: _Dates = ...,
    baseline: str | None = ...,
    match: Iterable[str] | str = ...,
    chip: Chip | str | None = ...,
) -> RunSeries: ...
@overload
def compare_runs(
    first: Any,
    second: Any,
    third: Any,
    /,
    *more: Any,
    dates: _Dates = ...,
    baseline: str | None = ...,
    match: Iterable[str] | str = ...,
    chip: Chip | str | None = ...,
) -> RunSeries: ...


@keywords("compare_runs")
def compare_runs(
    *runs: Any,
    before: Any = None,
    after: Any = None,
    names: Iterable[str] | None = None,
    dates: _Dates = None,
    baseline: str | None = None,
    match: Iterable[str] | str = ("name",),
    chip: Chip | str | None = None,
) -> RunComparison | RunSeries:
    """Match the kernels of two or more runs of one program, and compare their times.

    Kernels with equal names match. XLA adds numbers to names, as in ``fusion.1``, and each compilation gives other
    numbers. So these numbers may differ if the work is equal. If several kernels of a run share a name, only kernels
    with equal ``"shape"`` match (if both runs have this column). Among these kernels, three rules are tried in turn.
    The first is equal FLOPs and bytes per launch, the second is equal FLOPs per launch, and the last is the order of
    rows. The first rule and the second rule match kernels with equal numbers of XLA before kernels with different
    numbers. The last rule only matches kernels with equal numbers. FLOPs and bytes that differ by about 1 % or less
    count as equal. To compare many launches of one kernel, first use `Kernels.groupby`, which also records the range
    of the launches' times.

    Parameters
    ----------
    *runs
        Two or more runs: `Kernels`, or anything that converts to it. Or one mapping from the run's name to the run, as
        `roofwidget.read_many` returns.
    before, after
        The two runs, if they are given as keywords.
    names
        The names of the runs. By default the names of their files, or "run 1", "run 2" and so on.
    dates
        The dates of the runs, as a list or by name: dates, or text such as "2026-11-26". By default the column
        ``"date"`` of each run, if all of its rows have the same date. `RunSeries.trend` is in this order.
    baseline
        The name of the run that the others are compared with. By default the first.
    match
        The columns that must be equal: ``"name"``, ``"precision"``, ``"category"`` or columns of `Kernels.extra`.
    chip
        The chip for the bounds of all runs, or its name. By default the bounds of each run are for the chip that this
        run names.

    Returns
    -------
    RunComparison or RunSeries
        For two runs a `RunComparison`. For more runs a `RunSeries`; also for two runs that have names, dates or a
        baseline.

    Raises
    ------
    ValueError
        If a run lacks a column of `match`, there are fewer than two runs, or a name or a date is wrong; the message
        names the run or the column.

    Examples
    --------
    >>> import roofwidget as rw
    >>> times = [rw.Kernels(["a", "b"], [1, 1], [1, 1], time=seconds) for seconds in ([4, 2], [2, 3])]
    >>> runs = compare_runs(*times)
    >>> runs.ratio.tolist(), runs.verdict.tolist()
    ([0.5, 1.5], ['faster', 'slower'])
    >>> series = compare_runs({"monday": times[0], "tuesday": times[1], "friday": times[0]})
    >>> series.time.tolist(), str(series.largest_step)
    ([[4.0, 2.0, 4.0], [2.0, 3.0, 2.0]], 'a from monday to tuesday: 4 s to 2 s (−50 %)')
    """
    columns = (match,) if isinstance(match, str) else tuple(list_argument(match, "match", "['name', 'shape']"))
    on = None if chip is None else look_up(chip)
    if baseline is not None:
        text_argument(baseline, "baseline")
    given = [*runs, *(run for run in (before, after) if run is not None)]
    by_name = given[0] if len(given) == 1 and isinstance(given[0], Mapping) else None
    if by_name is None and len(given) < _MIN_RUNS:
        raise TypeError(f"compare_runs needs at least two runs, got {len(given)}")
    if by_name is None and len(given) == _MIN_RUNS and names is None and dates is None and baseline is None:
        first, second = map(as_kernels, given)
        return RunComparison(first, second, *match_rows(first, second, columns), on)
    tables = _named(given, names) if by_name is None else _of_mapping(by_name, names)
    for name, table in tables.items():
        for column in columns:
            column_of(table, text_argument(column, "match"), f"compare_runs: the run '{name}'")
    return RunSeries.of(tables, columns, baseline=baseline, dates=_dates(tables, dates), chip=on)


def _of_mapping(runs: Mapping[Any, Any], names: Iterable[str] | None) -> dict[str, Kernels]:
    if names is not None:
        raise TypeError("compare_runs: the keys of the mapping are the names of the runs; leave out names=")
    if len(runs) < _MIN_RUNS:
        raise ValueError(f"compare_runs needs at least two runs, got {len(runs)}")
    return {_name(name): _table(name, run) for name, run in runs.items()}


def _named(runs: Sequence[Any], names: Iterable[str] | None) -> dict[str, Kernels]:
    tables = [_table(f"run {at}", run) for at, run in enumerate(runs, start=1)]
    if names is None:
        files = [PurePath(table.source).stem for table in tables]
        has_files = all(files) and len(set(files)) == len(files)
        found = files if has_files else [f"run {at}" for at in range(1, len(tables) + 1)]
    else:
        found = [_name(name) for name in list_argument(names, "names", "['v1', 'v2']")]
    if len(found) != len(tables):
        raise ValueError(f"names must have a name for each of {len(tables)} runs, got {len(found)}")
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"names: two runs are called '{twice}'; give each run a name of its own")
    return dict(zip(found, tables, strict=True))


def _name(name: Any) -> str:
    if not text_argument(name, "the name of a run"):
        raise ValueError("the name of a run must not be empty")
    return str(name)


def _table(name: Any, run: Any) -> Kernels:
    try:
        return as_kernels(run)
    except (TypeError, ValueError) as error:
        raise type(error)(f"compare_runs: the run '{name}': {error}") from None


def _dates(tables: Mapping[str, Kernels], dates: _Dates) -> dict[str, datetime]:
    if dates is None:
        told = {name: shared_text(table, _DATE) for name, table in tables.items()}
        return {name: found for name, text in told.items() if text and (found := _parsed(text)) is not None}
    if isinstance(dates, Mapping):
        for name in dates:
            if name not in tables:
                raise ValueError(f"dates: no run is called '{name}'{choose_from(name, tables)}")
        by_name = dict(dates)
    else:
        given = list_argument(dates, "dates", "['2026-11-26', '2026-11-27']")
        if len(given) != len(tables):
            raise ValueError(f"dates must have a date or None for each of {len(tables)} runs, got {len(given)}")
        by_name = dict(zip(tables, given, strict=True))
    return {name: _date(name, one) for name, one in by_name.items() if one is not None}


def _date(run: str, given: Any) -> datetime:
    if isinstance(given, datetime):
        return given
    if isinstance(given, date):
        return datetime(given.year, given.month, given.day)  # noqa: DTZ001 - a date without a time zone stays one
    found = _parsed(given) if isinstance(given, str) else None
    if found is None:
        raise ValueError(f"dates: the run '{run}' needs a date or text such as '2026-11-26', got {shown_value(given)}")
    return found


def _parsed(text: str) -> datetime | None:
    try:
        # Python 3.10 does not know the Z of UTC.
        return datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
