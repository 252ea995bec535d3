"""More than two runs of one program: `compare_runs` with any number of runs."""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import Chip, Kernels, RunSeries, compare_runs
from tests.tables import has_columns

# Bounds: matmul 4 s, copy 1 s, fused 2 s.
CHIP = Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})
WORK = {"matmul": (4e14, 1e12), "copy": (0, 1e12), "gelu": (1e12, 1e12), "fused": (1e12, 2e12)}


def run(chip: Chip | None = CHIP, **seconds: float) -> Kernels:
    flops, moved = zip(*(WORK[name] for name in seconds), strict=True)
    return Kernels(list(seconds), flops, moved, time=list(seconds.values()), chip=chip)


def four(**options: Any) -> RunSeries:
    runs = {
        "v1": run(matmul=8, copy=2, gelu=2),
        "v2": run(copy=2, matmul=8, gelu=4),
        "v3": run(matmul=5, fused=4, copy=2),
        "v4": run(fused=2.5, matmul=5),
    }
    found: RunSeries = compare_runs(runs, **options)
    return found


# -- which kernels are the same ----------------------------------------------------------------------------------------


def test_each_kernel_has_a_row_with_its_place_in_each_run() -> None:
    runs = four()
    assert (len(runs), runs.runs, runs.baseline) == (4, ("v1", "v2", "v3", "v4"), "v1")
    has_columns(
        runs,
        names=["matmul", "copy", "gelu", "fused"],
        rows=[[0, 1, 0, 1], [1, 0, 2, -1], [2, 2, -1, -1], [-1, -1, 1, 0]],
    )
    assert runs.is_missing.sum(axis=0).tolist() == [1, 1, 1, 2]


def test_matches_with_the_baseline_are_those_of_two_runs() -> None:
    names = ["fusion.1", "fusion.2", "dot.3", "dot.3"]
    first = Kernels(names, [4e9, 8e9, 1e9, 2e9], [1e6] * 4, time=[1] * 4)
    second = Kernels(names, [8e9, 4e9, 2e9, 1e9], [1e6] * 4, time=[1] * 4)
    third = Kernels([*names, "new"], [8e9, 4e9, 2e9, 3e9, 1], [1e6] * 5, time=[1] * 5)
    runs = compare_runs(first, second, third)
    for at, other in ((1, second), (2, third)):
        two = compare_runs(first, other)
        both = runs.rows[:, at][: len(first)]
        assert both[two.rows_before].tolist() == two.rows_after.tolist()


def test_columns_to_match_by_apply_to_all_runs() -> None:
    runs = [Kernels(["a", "a"], [1, 1], [1, 1], time=[1, 1], category=kinds) for kinds in (["x", "y"], ["y", "x"])]
    new = Kernels(["a"], [1], [1], time=[1], category=["z"])
    found = compare_runs(runs[0], runs[1], new, new, match=("name", "category"))
    assert found.rows.tolist() == [[0, 1, -1, -1], [1, 0, -1, -1], [-1, -1, 0, 0]]


def test_a_hundred_thousand_kernels_in_four_runs_are_matched() -> None:
    names = [f"fusion.{row}" for row in range(25_000)]
    runs = [Kernels(names[::step], [1] * 25_000, [1] * 25_000, time=[1] * 25_000) for step in (1, -1, 1, -1)]
    assert compare_runs(*runs).rows[0].tolist() == [0, 24_999, 0, 24_999]


# -- what changed ------------------------------------------------------------------------------------------------------


def test_times_bounds_and_changes_are_given_for_each_run() -> None:
    runs = four()
    nan = math.nan
    has_columns(
        runs,
        time=[[8, 8, 5, 5], [2, 2, 2, nan], [2, 4, nan, nan], [nan, nan, 4, 2.5]],
        bound_time=[[4] * 4, [1, 1, 1, nan], [1, 1, nan, nan], [nan, nan, 2, 2]],
    )
    np.testing.assert_allclose(
        runs.utilization, [[0.5, 0.5, 0.8, 0.8], [0.5] * 3 + [nan], [0.5, 0.25, nan, nan], [nan, nan, 0.5, 0.8]]
    )
    has_columns(
        runs,
        change=[[0, 0, -3, -3], [0, 0, 0, nan], [0, 2, nan, nan], [nan] * 4],
        ratio=[[1, 1, 0.625, 0.625], [1, 1, 1, nan], [1, 2, nan, nan], [nan] * 4],
        verdict=[
            ["same", "same", "faster", "faster"],
            ["same", "same", "same", None],
            ["same", "slower", None, None],
            [None] * 4,
        ],
    )


def test_another_run_can_be_the_baseline() -> None:
    runs = four(baseline="v3")
    assert runs.names.tolist() == ["matmul", "fused", "copy", "gelu"]
    np.testing.assert_array_equal(runs.change[0], [3, 3, 0, 0])
    np.testing.assert_array_equal(runs.change[1], [math.nan, math.nan, 0, -1.5])
    np.testing.assert_allclose(runs.trend().change, [1 / 11, 3 / 11, 0, -3.5 / 11], atol=1e-15)


def test_two_of_the_runs_are_compared_as_two_runs() -> None:
    both = four().comparison("v4", before="v3")
    has_columns(both, names=["matmul", "fused"], verdict=["same", "faster"])
    assert four().comparison("v3").only_before.names.tolist() == ["gelu"]
    with pytest.raises(ValueError, match="no run is called 'v5'; there are 'v1', "):
        four().comparison("v5")


def test_times_of_one_launch_are_compared_where_the_numbers_of_launches_differ() -> None:
    runs = [Kernels(["gemm"], [1e9 * n], [1e6 * n], time=[n], count=[n]) for n in (10, 5, 20)]
    found = compare_runs(*runs)
    has_columns(found, verdict=[["same"] * 3], ratio=[[1, 1, 1]])
    assert found.largest_step is None
    assert "no kernel changed from run to run" in repr(found)


def test_each_run_is_bounded_by_its_own_chip_unless_one_is_given() -> None:
    slow = Chip("Slow", {"bf16": 5e13}, {"HBM": 5e11})
    runs = {"now": run(matmul=8), "there": run(slow, matmul=16), "unknown": run(None, matmul=8)}
    np.testing.assert_array_equal(compare_runs(runs).bound_time, [[4, 8, math.nan]])
    np.testing.assert_array_equal(compare_runs(runs, chip=slow).bound_time, [[8, 8, 8]])
    assert np.isnan(compare_runs(runs).trend().bound_time[2])


# -- the trend ---------------------------------------------------------------------------------------------------------


def test_totals_are_in_the_order_of_dates() -> None:
    dates = {"v1": "2026-03-01", "v2": date(2026, 1, 1), "v3": "2026-02-01T12:30", "v4": datetime(2026, 4, 1)}  # noqa: DTZ001 - without a time zone
    trend = four(dates=dates).trend()
    assert trend.runs == ("v2", "v3", "v1", "v4")
    has_columns(
        trend,
        time=[14, 11, 12, 7.5],
        bound_time=[6, 7, 6, 6],
        utilization=[6 / 14, 7 / 11, 0.5, 0.8],
        change=pytest.approx([1 / 6, -1 / 12, 0, -4.5 / 12], rel=1e-7),
    )
    np.testing.assert_allclose(trend.step, [math.nan, 11 / 14 - 1, 1 / 11, 7.5 / 12 - 1])
    assert repr(trend).splitlines() == [
        "RunTrend: 4 runs; self time 14 s to 7.5 s (−46 %)",
        "run  date              kernels  self time  bound time  of roof  change  step",
        "v2   2026-01-01        3        14 s       6 s         43 %     +17 %",
        "v3   2026-02-01 12:30  3        11 s       7 s         64 %     −8.3 %  −21 %",
        "v1   2026-03-01        3        12 s       6 s         50 %     ±0 %    +9.1 %",
        "v4   2026-04-01        2        7.5 s      6 s         80 %     −38 %   −38 %",
    ]


def test_dates_and_commits_come_from_columns_of_the_runs() -> None:
    runs = [
        run(matmul=seconds).replace(extra={"date": day, "commit": commit})
        for seconds, day, commit in (
            (8, "2026-02-02", "b2"),
            (6, "2026-02-01T00:00:00Z", "a1"),
            (7, "2026-02-03", "c3"),
        )
    ]
    trend = compare_runs(*runs).trend()
    assert (trend.commits, trend.time.tolist()) == (("a1", "b2", "c3"), [6, 8, 7])
    assert trend.dates[0] == datetime(2026, 2, 1, tzinfo=timezone.utc)
    assert repr(trend).splitlines()[2].split()[:3] == ["run", "2", "2026-02-01"]


def test_without_a_date_of_each_run_the_runs_keep_their_order() -> None:
    runs = four(dates=["2026-03-01", None, "2026-01-01", "2026-02-01"])
    assert runs.trend().runs == ("v1", "v2", "v3", "v4")
    assert "the runs are in the order given, because a date is unknown: v2" in repr(runs)


def test_the_largest_step_is_named_with_its_two_runs() -> None:
    step = four().largest_step
    assert step is not None
    assert (step.kernel, step.run_before, step.run_after) == ("matmul", "v2", "v3")
    assert (step.before, step.after, step.change, step.ratio, step.verdict) == (8, 5, -3, 0.625, "faster")
    assert [str(one) for one in four().steps] == [
        "matmul from v2 to v3: 8 s to 5 s (−38 %)",
        "gelu from v1 to v2: 2 s to 4 s (+100 %)",
        "fused from v3 to v4: 4 s to 2.5 s (−38 %)",
    ]


def test_a_step_may_pass_over_runs_that_lack_the_kernel() -> None:
    runs = {"a": run(matmul=8), "b": run(copy=2), "c": run(matmul=math.nan, copy=2), "d": run(matmul=5)}
    step = compare_runs(runs).largest_step
    assert step is not None
    assert (step.run_before, step.run_after) == ("a", "d")


# -- in words ----------------------------------------------------------------------------------------------------------


def test_the_text_has_the_runs_then_the_kernels_and_says_what_is_missing() -> None:
    assert repr(four()).splitlines() == [
        "RunSeries: 4 kernels in 4 runs; self time 12 s to 7.5 s (−38 %)",
        "largest step: matmul from v2 to v3: 8 s to 5 s (−38 %)",
        "run  kernels  self time  bound time  of roof  change  step",
        "v1   3        12 s       6 s         50 %     ±0 %",
        "v2   3        14 s       6 s         43 %     +17 %   +17 %",
        "v3   3        11 s       7 s         64 %     −8.3 %  −21 %",
        "v4   2        7.5 s      6 s         80 %     −38 %   −32 %",
        "kernel  v1          v2          v3          v4            change",
        "matmul  8 s · 50 %  8 s · 50 %  5 s · 80 %  5 s · 80 %    −38 %",
        "gelu    2 s · 50 %  4 s · 25 %  missing     missing",
        "copy    2 s · 50 %  2 s · 50 %  2 s · 50 %  missing",
        "fused   missing     missing     4 s · 50 %  2.5 s · 80 %",
        "not in v1: fused",
        "not in v2: fused",
        "not in v3: gelu",
        "not in v4: gelu; copy",
    ]


def test_names_are_text_in_html_and_markdown() -> None:
    runs = {"<b>1": run(matmul=1), "a|b": run(matmul=2), "c": run(matmul=3).replace(names=["<i>`x`"])}
    found = compare_runs(runs)
    shown: str = found._repr_html_()
    assert "&lt;b&gt;1" in shown
    assert "<b>" not in shown
    text = found.to_markdown()
    assert "<code>&lt;i&gt;&#96;x&#96;</code>" in text
    assert "a|b" not in text


def test_of_many_runs_the_text_shows_the_first_and_the_last() -> None:
    runs = {f"run {at}": run(matmul=8 + at) for at in range(9)}
    header = next(line for line in repr(compare_runs(runs)).splitlines() if line.startswith("kernel "))
    assert header.split()[2:-1:2] == ["0", "4", "5", "6", "7", "8"]
    assert "the table of kernels leaves out 3 runs; see to_dataframe()" in repr(compare_runs(runs))


def test_a_data_frame_has_a_row_for_each_kernel_and_run() -> None:
    frame = four().to_dataframe()
    assert len(frame) == 16
    row = frame[(frame.name == "matmul") & (frame.run == "v3")].iloc[0]
    assert (row.time, row.bound_time, row.change, row.verdict, row.is_missing) == (5, 4, -3, "faster", False)
    assert four().trend().to_dataframe().time.tolist() == [12, 14, 11, 7.5]


# -- what is given -----------------------------------------------------------------------------------------------------


def test_two_runs_without_names_are_a_comparison_and_with_names_a_series() -> None:
    one, other = run(matmul=8), run(matmul=5)
    assert isinstance(compare_runs(one, other), rw.RunComparison)
    assert isinstance(compare_runs(before=one, after=other), rw.RunComparison)
    assert isinstance(compare_runs(one, after=other), rw.RunComparison)
    assert compare_runs(one, other, names=["old", "new"]).runs == ("old", "new")
    assert compare_runs({"old": one, "new": other}).runs == ("old", "new")


def test_runs_have_the_names_of_their_files_or_numbers() -> None:
    files = [run(matmul=8).replace(source=f"runs/{name}.csv") for name in ("a", "b", "c")]
    assert compare_runs(*files).runs == ("a", "b", "c")
    assert compare_runs(files[0], files[0], files[1]).runs == ("run 1", "run 2", "run 3")


@pytest.mark.parametrize(
    ("runs", "options", "error", "message"),
    [
        ([run(matmul=1)], {}, TypeError, "compare_runs needs at least two runs, got 1"),
        ([{"a": run(matmul=1)}], {}, ValueError, "needs at least two runs, got 1"),
        ([{"a": run(matmul=1), "b": 3}], {}, TypeError, "the run 'b': kernels must be Kernels"),
        ([run(matmul=1)] * 3, {"names": ["a", "b"]}, ValueError, "a name for each of 3 runs, got 2"),
        ([run(matmul=1)] * 3, {"names": ["a", "b", "a"]}, ValueError, "two runs are called 'a'"),
        ([run(matmul=1)] * 3, {"names": ["a", "b", ""]}, ValueError, "must not be empty"),
        ([run(matmul=1)] * 3, {"baseline": "run 4"}, ValueError, "no run is called 'run 4'; there are 'run 1', "),
        ([run(matmul=1)] * 3, {"dates": ["2026-01-01"]}, ValueError, "each of 3 runs, got 1"),
        ([run(matmul=1)] * 3, {"dates": {"run 9": "2026-01-01"}}, ValueError, "dates: no run is called 'run 9'"),
        ([run(matmul=1)] * 3, {"dates": ["1", "2", "yesterday"]}, ValueError, "the run 'run 1' needs a date"),
        ([run(matmul=1)] * 3, {"match": "shape"}, ValueError, "the run 'run 1' has no column 'shape'"),
        ([run(matmul=1)] * 3, {"match": ()}, ValueError, "match needs at least one column"),
        ([run(matmul=1)] * 3, {"basline": "run 1"}, TypeError, "did you mean 'baseline'"),
    ],
)
def test_what_cannot_be_compared_is_one_clear_error(
    runs: list[Any], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        compare_runs(*runs, **options)


# -- in the widget -----------------------------------------------------------------------------------------------------


def test_the_table_of_all_runs_has_the_run_as_category_and_keeps_the_own_category() -> None:
    runs = {name: run(matmul=8, copy=2).replace(category=["gemm", None]) for name in ("v1", "v2", "v3")}
    table = compare_runs(runs).kernels
    has_columns(
        table, category=["v1", "v1", "v2", "v2", "v3", "v3"], extra={"category in the profile": ["gemm", None] * 3}
    )
    assert (table.series, table.chip) == (True, CHIP)
    assert rw.RooflineModel(None, compare_runs(runs)).has_series


def test_a_widget_of_runs_gets_the_number_of_the_kernel_in_each_row() -> None:
    wire = rw.RooflineWidget(kernels=four()).get_state(["kernels"])["kernels"]
    same = np.frombuffer(wire["same"], dtype="<i4")
    assert same.tolist() == [0, 1, 2, 1, 0, 2, 0, 3, 1, 3, 0]
    plain = rw.RooflineWidget(kernels=four().kernels.replace(series=False)).get_state(["kernels"])["kernels"]
    assert plain["same"] is None


def test_a_session_keeps_the_runs(tmp_path: Any) -> None:
    model = rw.RooflineModel(None, four())
    again = rw.RooflineModel.load(model.save(tmp_path / "runs.json"))
    assert again.has_series
    assert again.kernels == model.kernels
