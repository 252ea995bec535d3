"""Two runs of one program: matching kernels, faster ones, and kernels that are only in one run."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest

from roofwidget import Chip, Kernels, RooflineModel, compare_runs
from tests.tables import has_columns

CHIP: Final = Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})


def run(names: list[str], time: list[float], **more: Any) -> Kernels:
    return Kernels(names, [0] * len(names), [1] * len(names), time=time, **more)


def pairs(before: Kernels, after: Kernels, **how: Any) -> list[tuple[int, int]]:
    found = compare_runs(before, after, **how)
    return list(zip(found.rows_before.tolist(), found.rows_after.tolist(), strict=True))


def spread(name: str, *seconds: float) -> Kernels:
    return run([name] * len(seconds), list(seconds)).groupby("name")


# -- who belongs together ----------------------------------------------------------------------------------------------


def test_kernels_with_equal_names_belong_together_in_the_order_of_the_run_before() -> None:
    assert pairs(run(["a", "b", "c"], [1, 1, 1]), run(["c", "x", "a"], [1, 1, 1])) == [(0, 2), (2, 0)]


def test_of_several_with_one_name_the_first_belongs_to_the_first() -> None:
    before, after = run(["a", "a", "b", "a"], [1] * 4), run(["b", "a", "a"], [1] * 3)
    assert pairs(before, after) == [(0, 1), (1, 2), (2, 0)]
    assert pairs(after, before) == [(0, 2), (1, 0), (2, 1)]


def test_kernels_of_one_name_with_others_between_stay_in_the_order_of_the_run_before() -> None:
    assert pairs(run(["a", "b", "a"], [1] * 3), run(["a", "a", "b"], [1] * 3)) == [(0, 0), (1, 2), (2, 1)]


def test_of_several_with_one_name_those_of_one_shape_belong_together() -> None:
    before = run(["a", "a", "a", "b"], [1] * 4, extra={"shape": ["8x8", "4x4", "8x8", "2x2"]})
    after = run(["a", "a", "b", "a"], [1] * 4, extra={"shape": ["4x4", "8x8", "16x16", "32x32"]})
    # The name b is unique in both runs, so its shape may differ.
    assert pairs(before, after) == [(0, 1), (1, 0), (3, 2)]


def test_a_shape_that_one_run_alone_tells_says_nothing() -> None:
    before = run(["a", "a"], [1, 1], extra={"shape": ["8x8", "4x4"]})
    assert pairs(before, run(["a", "a"], [1, 1])) == [(0, 0), (1, 1)]


def test_a_shape_may_be_a_number() -> None:
    before = run(["a", "a"], [1, 1], extra={"shape": [8, math.nan]})
    after = run(["a", "a"], [1, 1], extra={"shape": [math.nan, 8]})
    assert pairs(before, after) == [(0, 1), (1, 0)]


def products(*of: tuple[float, float, float], **more: Any) -> Kernels:
    flops, moved, time = zip(*of, strict=True)
    return Kernels(["addmm"] * len(of), flops, moved, time=time, **more)


def test_of_several_with_one_name_those_of_equal_work_belong_together() -> None:
    before = products((1.26e9, 9e6, 98.7e-6), (4.41e9, 2e7, 41.3e-6))
    after = products((4.41e9, 2e7, 41.3e-6), (1.26e9, 9e6, 98.7e-6))
    assert pairs(before, after) == [(0, 1), (1, 0)]
    assert compare_runs(before, after).verdict.tolist() == ["same", "same"]


def test_of_several_of_equal_flops_those_of_equal_bytes_belong_together_and_then_the_first() -> None:
    copies = [products(*((0, moved, 1) for moved in sizes)) for sizes in ([8, 2, 4, 2], [2, 4, 2, 9])]
    assert pairs(*copies) == [(0, 3), (1, 0), (2, 1), (3, 2)]
    before, after = products((4, 1, 1), (8, 1, 1)), products((8, 3, 1), (4, 3, 1))
    assert pairs(before, after) == [(0, 1), (1, 0)], "bytes that were measured differ from run to run"


def test_work_is_that_of_a_launch_and_rounding_does_not_count() -> None:
    before = products((4e9, 1, 1), (16e9, 4, 4), count=[1, 2])
    after = products((8.0001e9, 2, 2), (8e9, 2, 2), count=[1, 2])
    assert pairs(before, after) == [(0, 1), (1, 0)]


def test_times_of_other_work_are_no_verdict() -> None:
    before, after = products((1.26e9, 1, 98.7e-6)), products((4.41e9, 1, 41.3e-6))
    assert compare_runs(before, after).verdict.tolist() == ["other work"]
    match, verdict = compare_runs(before, after).by_row_before()
    assert (match.tolist(), verdict.texts().tolist()) == ([0], ["other work"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((1e9, 8e6, 2), (1e9, 1e6, 1)),
        ((1e9, 1, 2), (1.009e9, 1, 1)),
        ((math.nan, 1, 2), (1e9, 1, 1)),
        ((0, 8e6, 2), (0, 1e6, 1)),
    ],
    ids=["fewer bytes", "rounding", "unknown", "no FLOPs"],
)
def test_fewer_bytes_rounding_and_unknown_flops_are_no_other_work(before: Any, after: Any) -> None:
    assert compare_runs(products(before), products(after)).verdict.tolist() == ["faster"]


def test_the_same_work_in_fewer_or_more_launches_is_no_other_work() -> None:
    before = products((4e9, 1, 2), count=[1])
    assert compare_runs(before, products((4e9, 1, 1), count=[2])).verdict.tolist() == ["faster"]
    assert compare_runs(before, products((8e9, 2, 3), count=[2])).verdict.tolist() == ["faster"]
    assert compare_runs(before, products((2e9, 1, 1), count=[2])).verdict.tolist() == ["other work"]


def test_columns_to_match_by_can_be_chosen() -> None:
    before = run(["a", "a"], [1, 1], category=["x", None], extra={"grid": [1, 2]})
    after = run(["a", "b"], [1, 1], category=[None, "x"], extra={"grid": [1, 1]})
    assert pairs(before, after, match="category") == [(0, 1), (1, 0)]
    assert pairs(before, after, match=("name", "grid")) == [(0, 0)]
    assert pairs(before, after, match=["name", "category"]) == [(1, 0)]


def test_a_part_of_a_run_is_matched_as_a_run_of_its_own_would_be() -> None:
    before = run(["a", "b", "c", "b"], [1, 2, 3, 4])[[3, 2]]
    assert pairs(before, run(["b", "b", "c"], [1, 1, 1])[1:]) == [(0, 0), (1, 1)]


def test_who_is_in_one_run_alone_is_listed() -> None:
    found = compare_runs(run(["a", "b", "a"], [1, 2, 3]), run(["c", "a"], [4, 5]))
    assert found.only_before.names.tolist() == ["b", "a"]
    assert found.only_before.time.tolist() == [2, 3]
    assert found.only_after.names.tolist() == ["c"]
    assert (len(found), found.names.tolist()) == (1, ["a"])


def test_runs_may_have_nothing_in_common_or_nothing_at_all() -> None:
    assert len(compare_runs(run(["a"], [1]), run(["b"], [1]))) == 0
    assert repr(compare_runs(Kernels(), Kernels())).startswith("RunComparison: 0 kernels in both runs, 0 only before")


def test_a_hundred_thousand_kernels_are_matched() -> None:
    names = [f"fusion.{row}" for row in range(100_000)]
    found = compare_runs(run(names, [1] * 100_000), run(names[::-1], [2] * 100_000))
    assert found.rows_after.tolist() == list(range(99_999, -1, -1))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"match": "shape"}, "the run before has no column 'shape'"),
        ({"match": ("name", "grid")}, "the run after has no column 'grid'; nearest: 'name', 'precision', 'category'"),
        ({"match": ()}, "match needs at least one column, such as 'name'"),
        ({"match": "mixed"}, "column 'mixed' holds texts in one run and numbers in the other"),
    ],
)
def test_a_column_that_a_run_lacks_is_one_clear_error(how: dict[str, Any], message: str) -> None:
    before = run(["a"], [1], extra={"grid": 1, "mixed": "x"})
    with pytest.raises(ValueError, match=message):
        compare_runs(before, run(["a"], [1], extra={"mixed": 1}), **how)


def test_kernels_whose_xla_numbers_were_swapped_are_matched_by_their_work() -> None:
    before = Kernels(["fusion.1", "fusion.2", "dot"], [4e9, 8e9, 1e9], [1e6, 2e6, 1e6], time=[1, 2, 1])
    after = Kernels(["fusion.1", "fusion.2", "dot"], [8e9, 4e9, 1e9], [2e6, 1e6, 1e6], time=[2, 1, 1])
    assert pairs(before, after) == [(0, 1), (1, 0), (2, 2)]
    assert compare_runs(before, after).verdict.tolist() == ["same", "same", "same"]


def test_a_number_that_stayed_comes_before_one_that_changed() -> None:
    before = Kernels(["fusion.1", "fusion.2"], [4e9, 4e9], [1, 1], time=[1, 1])
    after = Kernels(["fusion.2", "fusion.1", "fusion.7"], [4e9] * 3, [1] * 3, time=[1] * 3)
    assert pairs(before, after) == [(0, 1), (1, 0)]
    renamed = Kernels(["fusion.9.remat", "fusion.2"], [4e9, 4e9], [1, 1], time=[1, 1])
    assert pairs(Kernels(["fusion.1.remat"], [4e9], [1], time=[1]), renamed) == [(0, 0)]


def test_other_numbers_do_not_match_without_known_work() -> None:
    before = Kernels(["custom-call.1"], [math.nan], [math.nan], time=[1])
    assert pairs(before, Kernels(["custom-call.2"], [math.nan], [math.nan], time=[1])) == []
    assert pairs(before, Kernels(["custom-call.1"], [math.nan], [math.nan], time=[2])) == [(0, 0)]


# -- what changed ------------------------------------------------------------------------------------------------------


def test_times_are_compared_as_difference_and_ratio() -> None:
    found = compare_runs(run(["a", "b", "c", "d"], [4, 2, 0, 1]), run(["a", "b", "c", "d"], [1, 3, 0, math.nan]))
    has_columns(
        found,
        before=[4, 2, 0, 1],
        after=[1, 3, 0, math.nan],
        change=[-3, 1, 0, math.nan],
        ratio=[0.25, 1.5, math.nan, math.nan],
        verdict=["faster", "slower", "same", "unknown"],
    )


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ((4, 5, 6), (1, 2, 3), "faster"),
        ((1, 2, 3), (4, 5, 6), "slower"),
        ((4, 5, 6), (1, 2, 4), "same"),
        ((1, 2, 4), (4, 5, 6), "same"),
        ((4, 5, 6), (1, 2, 5), "same"),
        ((1, 9), (4, 5), "same"),
        ((4, 5), (1, 9), "same"),
        # The ranges of a launch: 4 to 6 s before; after 4 to 5 s, 1 to 10 s, or 2 to 3 s in half as many launches.
        ((4, 5, 6), (4, 5), "same"),
        ((4, 5, 5, 6), (2, 3), "faster"),
        ((4, 5, 6), (1, 5, 10), "same"),
        ((0.1,), (0.1,), "same"),
        ((0.1,), (0.1000001,), "same"),
        ((0.1,), (0.102,), "slower"),
        ((0.1, 0.1001), (0.1002, 0.1003), "slower"),
    ],
)
def test_ranges_that_overlap_are_the_same(before: tuple[float, ...], after: tuple[float, ...], verdict: str) -> None:
    assert compare_runs(spread("a", *before), spread("a", *after)).verdict.tolist() == [verdict]


def test_a_run_that_tells_no_spread_is_its_time_alone() -> None:
    assert compare_runs(spread("a", 4, 6), run(["a"], [5.5])).verdict.tolist() == ["same"]
    assert compare_runs(spread("a", 4, 6), run(["a"], [6.5])).verdict.tolist() == ["slower"]
    assert compare_runs(run(["a"], [3.5]), spread("a", 4, 6)).verdict.tolist() == ["slower"]


def test_single_timings_a_thousandth_of_a_percent_apart_are_the_same() -> None:
    found = compare_runs(run(["a"], [1.0]), run(["a"], [0.99999]))
    assert found.verdict.tolist() == ["same"]
    assert compare_runs(run(["a"], [1.0]), run(["a"], [0.985])).verdict.tolist() == ["faster"]


def test_half_as_many_launches_at_equal_time_a_launch_are_the_same_and_the_counts_are_told() -> None:
    before = Kernels(["gemm"], [100e9], [100e6], time=[10], count=[100])
    after = Kernels(["gemm"], [50e9], [50e6], time=[5], count=[50])
    found = compare_runs(before, after)
    has_columns(
        found, verdict=["same"], ratio=[1], change=[-5], is_per_launch=[True], count_before=[100], count_after=[50]
    )
    assert repr(found).splitlines()[2:] == [
        "gemm    100 ms × 100  100 ms × 50  ±0 %    same     unknown",
        "1 kernel was launched more or less often than before; compared are times per launch",
    ]


def test_work_split_into_more_launches_is_compared_over_all_launches() -> None:
    before, after = products((4e9, 1, 2), count=[1]), products((4e9, 1, 1.5), count=[4])
    found = compare_runs(before, after)
    has_columns(found, verdict=["faster"], ratio=[0.75], is_per_launch=[False])
    assert "1 kernel does its work in more or fewer launches than before" in repr(found)


def test_intensity_and_what_binds_are_those_of_each_run_on_the_chip() -> None:
    before = Kernels(["a", "b"], [1e12, np.nan], [1e12, 1], time=[2, 1], chip=CHIP)
    after = Kernels(["a", "b"], [1e12, 1], [1e9, 1], time=[1, 1], chip=CHIP)
    found = compare_runs(before, after)
    has_columns(
        found,
        ai_before=[1, np.nan],
        ai_after=[1000, 1],
        bound_by_before=["HBM", "unknown"],
        bound_by_after=["compute", "HBM"],
    )
    slow = Chip("Slow", {"bf16": 1e11}, {"HBM": 1e12})
    assert compare_runs(before, after, chip=slow).bound_by_before.tolist() == ["compute", "unknown"]


def test_without_a_chip_what_binds_is_unknown() -> None:
    assert compare_runs(run(["a"], [1]), run(["a"], [1])).bound_by_before.tolist() == ["unknown"]


def test_a_data_frame_has_a_row_a_kernel_of_both_runs() -> None:
    frame = compare_runs(run(["a", "b"], [4, 2]), run(["b"], [3])).to_dataframe()
    assert frame.columns.tolist() == [
        *("name", "before", "after", "count_before", "count_after", "change", "ratio", "verdict"),
        *("ai_before", "ai_after", "bound_by_before", "bound_by_after"),
    ]
    assert [frame[name][0] for name in ("name", "before", "after", "ratio", "verdict")] == ["b", 2, 3, 1.5, "slower"]


# -- in words ----------------------------------------------------------------------------------------------------------


def test_the_text_shows_the_largest_changes_first_and_who_is_alone() -> None:
    names = ["same", "small", "large", "gone", "appears", "dark"]
    before = Kernels(names, [0] * 6, [1] * 6, time=[1, 2, 8, 1, 0, math.nan], count=[1, 1, 2, 1, 1, 1], chip=CHIP)
    after = run(["large", "small", "same", "new", "appears", "dark"], [4, 2.5, 1, 1, 1, 1], chip=CHIP)
    assert repr(compare_runs(before, after)).splitlines() == [
        "RunComparison: 5 kernels in both runs, 1 only before, 1 only after; self time 12 s to 10.5 s (−12 %)",
        "kernel   before        after  change   verdict  bound by",
        "large    8 s           4 s    −50 %    faster   HBM",
        "appears  0 s           1 s    unknown  slower   HBM",
        "small    2 s           2.5 s  +25 %    slower   HBM",
        "same     1 s           1 s    ±0 %     same     HBM",
        "dark     not measured  1 s    unknown  unknown  HBM",
        "only before: gone",
        "only after: new",
        "1 kernel does its work in more or fewer launches than before; compared are times over all launches",
    ]


def test_many_kernels_are_cut_short_and_names_are_text() -> None:
    names = [f"<b>{row}" for row in range(60)]
    found = compare_runs(run([*names, *"12345"], [1] * 65), run(names, list(range(2, 62))))
    assert repr(found).splitlines()[-2:] == ["… and 52 more", "only before: 1; 2; 3; and 2 more"]
    shown: str = found._repr_html_()
    assert "&lt;b&gt;59" in shown
    assert "<b>" not in shown
    assert "… and 10 more" in shown


# -- in the model ------------------------------------------------------------------------------------------------------


def test_rows_of_the_run_before_tell_their_row_after_and_their_verdict() -> None:
    model = RooflineModel([CHIP], run(["b", "a"], [1, 2]), baseline=run(["a", "c", "b"], [1, 1, 1]))
    assert model.baseline is not None
    match, verdict = compare_runs(model.baseline, model.kernels).by_row_before()
    assert match.tolist() == [1, -1, 0]
    assert verdict.texts().tolist() == ["slower", None, "same"]
