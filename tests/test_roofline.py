"""The roofline arithmetic: the golden cases, what it refuses, and what holds for any kernel on any chip."""

from __future__ import annotations

import json
import math
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import roofwidget as rw

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden/roofline.json").read_text(encoding="utf-8"))
CHIPS = {name: rw.Chip(name, **figures) for name, figures in GOLDEN["chips"].items()}
CLOSE = 1e-12
NUMBERS = ["compute_time", "time", "attainable", "attainable_fraction", "achieved", "peak_fraction", "utilization"]
RATIOS = ["attainable_fraction", "peak_fraction", "roof_fraction", "utilization"]

# A deadline for each example would make slow machines fail.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

rates = st.floats(min_value=1e3, max_value=1e18)
amounts = st.floats(min_value=1e-3, max_value=1e20)
amounts_or_zero = st.one_of(st.just(0.0), amounts)
seconds = st.floats(min_value=1e-9, max_value=1e6)


def kernel_of(case: dict[str, Any]) -> rw.Kernel:
    given_ = case["kernel"]
    return rw.Kernel("k", given_["flops"], given_["bytes"], time=given_["time"], precision=given_["precision"])


def bound_of(case: dict[str, Any]) -> rw.Bound:
    return rw.bound(kernel_of(case), CHIPS[case["chip"]], precision=case["precision"], memory=case["memory"])


def same(found: float, expected: float | str | None) -> bool:
    if expected is None:
        return math.isnan(found)
    return math.isclose(found, float(expected), rel_tol=CLOSE, abs_tol=0.0)


def at_level(columns: Any, level: str) -> float:
    return float(columns[level][0]) if level in columns else math.nan


def one(flops: Any, moved: Any, time: float | None, chip: rw.Chip, **choice: str) -> rw.Bound:
    return rw.bound(rw.Kernel("k", flops, moved, time=time), chip, **choice)


def simple(peak: float = 100.0, bandwidth: float = 10.0) -> rw.Chip:
    return rw.Chip("chip", {"bf16": peak}, {"HBM": bandwidth})


# -- golden cases ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", GOLDEN["cases"])
def test_every_quantity_is_that_of_exact_fractions(case: dict[str, Any]) -> None:
    bound, expected = bound_of(case), case["expected"]
    level = CHIPS[case["chip"]].memory(case["memory"])
    found = {name: float(getattr(bound, name)[0]) for name in NUMBERS}
    found |= {"memory_time": at_level(bound.memory_time, level), "ai": at_level(bound.ai, level)}
    wrong = {name: (value, expected[name]) for name, value in found.items() if not same(value, expected[name])}
    assert not wrong
    assert (bound.bound_by[0], bound.regime[0]) == (expected["bound_by"], expected["regime"])
    assert bool(bound.above_roof[0]) is expected["above_roof"]


@pytest.mark.parametrize("case", GOLDEN["all_levels"])
def test_of_all_levels_the_slowest_whose_bytes_are_known_binds(case: dict[str, Any]) -> None:
    bound, expected = bound_of(case), case["expected"]
    found = {name: float(getattr(bound, name)[0]) for name in NUMBERS}
    assert all(same(value, expected[name]) for name, value in found.items()), (found, expected)
    assert (bound.bound_by[0], bound.regime[0]) == (expected["bound_by"], expected["regime"])


@pytest.mark.parametrize("case", GOLDEN["refused"])
def test_a_figure_that_the_chip_lacks_raises_and_is_named_with_those_it_has(case: dict[str, Any]) -> None:
    with pytest.raises(rw.MissingFigureError) as caught:
        bound_of(case)
    message, chip = str(caught.value), CHIPS[case["chip"]]
    assert message.startswith(f"{chip.name} has no ")
    assert case["lacking"].casefold() in message.casefold()
    figures = chip.memories if case["quantity"] == "bandwidth" else chip.peak_flops
    assert any(f"'{figure}'" in message for figure in figures)


def test_a_table_of_kernels_gives_row_by_row_what_each_gives_alone() -> None:
    def asked(case: dict[str, Any]) -> tuple[str, str, str]:
        return case["chip"], case["precision"], case["memory"]

    tables = 0
    for (chip, precision, memory), group in groupby(sorted(GOLDEN["cases"], key=asked), key=asked):
        cases = list(group)
        table = rw.Kernels.from_records([kernel_of(case) for case in cases])
        together = rw.bound(table, CHIPS[chip], precision=precision, memory=memory)
        alone = [bound_of(case) for case in cases]
        for name in [*NUMBERS, "roof_fraction", "headroom"]:
            np.testing.assert_array_equal(getattr(together, name), [getattr(b, name)[0] for b in alone], err_msg=name)
        for name in ["bound_by", "regime", "above_roof"]:
            assert getattr(together, name).tolist() == [getattr(b, name)[0] for b in alone]
        tables += len(cases) > 1
    assert tables > 10


# -- particular kernels ------------------------------------------------------------------------------------------------


def test_roof_fraction_equals_utilization_and_is_unknown_at_zero_flops() -> None:
    bound = rw.bound([("matmul", 1000.0, 50.0, 40.0), ("copy", 0, 50.0, 40.0)], simple())
    assert bound.utilization.tolist() == [0.25, 0.125]
    assert bound.roof_fraction[0] == 0.25
    assert math.isnan(bound.roof_fraction[1])


def test_headroom_is_measured_minus_bound_time() -> None:
    assert one(1000, 50, 40.0, simple()).headroom[0] == 30.0
    assert math.isnan(one(1000, 50, None, simple()).headroom[0])


def test_bandwidth_utilization_is_told_of_every_level_whose_bytes_and_bandwidth_are_known() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50, "L1": None})
    bound = one(1, {"HBM": 20, "L2": 50, "L1": 7}, 4.0, chip)
    assert {level: column.tolist() for level, column in bound.bandwidth_utilization.items()} == {
        "HBM": [0.5],
        "L2": [0.25],
    }


def test_each_level_has_its_own_intensity() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50})
    bound = one(100, {"HBM": 20, "L2": 50}, None, chip, memory="all")
    assert {level: column.tolist() for level, column in bound.ai.items()} == {"HBM": [5.0], "L2": [2.0]}


def test_a_kernel_above_its_roof_is_flagged_and_not_clamped() -> None:
    bound = one(1000, 1, 5.0, simple())
    assert bound.above_roof.tolist() == [True]
    assert bound.utilization.tolist() == [2.0]
    assert bound.achieved.tolist() == [200.0]
    assert bound.headroom.tolist() == [-5.0]


def test_the_number_of_launches_changes_nothing_since_all_amounts_are_totals() -> None:
    kernels = [rw.Kernel("k", 1000, 50, time=40.0, count=count) for count in (1, 1000)]
    bound = rw.bound(kernels, simple())
    assert bound.time.tolist() == [10.0, 10.0]
    assert bound.utilization.tolist() == [0.25, 0.25]


def test_no_kernels_give_empty_columns() -> None:
    bound = rw.bound([], simple())
    assert bound.time.shape == bound.bound_by.shape == bound.attainable.shape == (0,)


def test_levels_that_differ_in_case_only_are_one() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50})
    bound = rw.bound([("a", 1, {"L2": 5}), ("b", 1, {"l2": 10})], chip, memory="L2")
    assert bound.time.tolist() == [0.1, 0.2]


# -- attainable and ridge_point ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_peak_or_bandwidth_that_is_not_finite_and_above_zero_is_refused_by_name(bad: float) -> None:
    for call in (lambda p, b: rw.attainable(1.0, p, b), rw.ridge_point):
        with pytest.raises(ValueError, match=r"^peak_flops must be finite and above zero, got"):
            call([1.0, bad], 1.0)
        with pytest.raises(ValueError, match=r"^bandwidth must be finite and above zero, got"):
            call(1.0, [1.0, bad])


def test_a_negative_intensity_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^ai must not be negative, got -2\.0$"):
        rw.attainable([1.0, -2.0], 1.0, 1.0)


def test_attainable_at_no_bytes_is_the_peak_at_no_flops_zero_and_unknown_where_the_intensity_is() -> None:
    found = rw.attainable([math.inf, 0.0, math.nan], 100.0, 10.0)
    np.testing.assert_array_equal(found, [100.0, 0.0, math.nan])


@given(
    arrays.arrays(np.float64, arrays.array_shapes(max_dims=3, max_side=4), elements=st.floats(0, 1e9)),
    arrays.arrays(np.float64, 4, elements=rates),
)
def test_attainable_and_ridge_point_broadcast_like_numpy(ai: npt.NDArray[Any], peaks: npt.NDArray[Any]) -> None:
    every = rw.attainable(ai[..., np.newaxis], peaks, 1e9)
    assert every.shape == (*ai.shape, 4)
    for index in np.ndindex(every.shape):
        assert every[index] == min(peaks[index[-1]], ai[index[:-1]] * 1e9)
    ridges = rw.ridge_point(peaks[:, np.newaxis], peaks)
    assert ridges.shape == (4, 4)
    np.testing.assert_array_equal(ridges, [[peak / bandwidth for bandwidth in peaks] for peak in peaks])


@given(rates, rates)
def test_at_the_ridge_point_slope_and_flat_meet(peak: float, bandwidth: float) -> None:
    ridge = rw.ridge_point(peak, bandwidth)
    assert rw.attainable(ridge, peak, bandwidth) == pytest.approx(peak, rel=CLOSE)
    assert rw.attainable(ridge / 2, peak, bandwidth) == pytest.approx(peak / 2, rel=CLOSE)
    assert rw.attainable(ridge * 2, peak, bandwidth) == pytest.approx(peak, rel=CLOSE)


@given(st.floats(0, 1e12), rates, rates, st.floats(1, 1e3))
def test_attainable_never_falls_when_peak_bandwidth_or_intensity_rise(
    ai: float, peak: float, bandwidth: float, factor: float
) -> None:
    least = rw.attainable(ai, peak, bandwidth)
    assert rw.attainable(ai, peak * factor, bandwidth) >= least
    assert rw.attainable(ai, peak, bandwidth * factor) >= least
    assert rw.attainable(ai * factor, peak, bandwidth) >= least


# -- what holds for any kernel on any chip -----------------------------------------------------------------------------


@given(amounts_or_zero, amounts_or_zero, rates, rates)
def test_the_bound_is_the_larger_of_compute_and_memory_time(
    flops: float, moved: float, peak: float, bandwidth: float
) -> None:
    bound = one(flops, moved, None, simple(peak, bandwidth))
    compute, memory, time = bound.compute_time[0], bound.memory_time["HBM"][0], bound.time[0]
    assert time >= compute
    assert time >= memory
    assert time in {compute, memory}


@given(amounts, amounts_or_zero, rates, rates)
def test_attainable_is_no_more_than_the_peak_and_the_slope(
    flops: float, moved: float, peak: float, bandwidth: float
) -> None:
    bound = one(flops, moved, None, simple(peak, bandwidth))
    attainable, slope = bound.attainable[0], bound.ai["HBM"][0] * bandwidth
    assert attainable <= peak * (1 + CLOSE)
    assert attainable <= slope * (1 + CLOSE)
    assert attainable == pytest.approx(float(rw.attainable(bound.ai["HBM"][0], peak, bandwidth)), rel=CLOSE)
    assert 0 < bound.attainable_fraction[0] <= 1 + CLOSE


@given(amounts_or_zero, amounts, rates, rates)
def test_left_of_the_ridge_point_a_kernel_is_memory_bound_and_right_of_it_compute_bound(
    flops: float, moved: float, peak: float, bandwidth: float
) -> None:
    bound = one(flops, moved, None, simple(peak, bandwidth))
    ridge = float(rw.ridge_point(peak, bandwidth))
    if bound.ai["HBM"][0] < ridge * (1 - 1e-11):
        assert (bound.regime[0], bound.bound_by[0]) == ("memory", "HBM")
    elif bound.ai["HBM"][0] > ridge:
        assert (bound.regime[0], bound.bound_by[0]) == ("compute", "compute")


@given(amounts_or_zero, amounts_or_zero, rates, rates, st.floats(1, 1e3))
def test_a_faster_chip_never_needs_longer(
    flops: float, moved: float, peak: float, bandwidth: float, factor: float
) -> None:
    time = one(flops, moved, None, simple(peak, bandwidth)).time[0]
    assert one(flops, moved, None, simple(peak * factor, bandwidth)).time[0] <= time
    assert one(flops, moved, None, simple(peak, bandwidth * factor)).time[0] <= time


@given(amounts_or_zero, amounts, seconds, st.tuples(rates, rates), st.integers(-30, 30))
def test_scaling_flops_bytes_and_time_together_changes_no_ratio(
    flops: float, moved: float, time: float, figures: tuple[float, float], power: int
) -> None:
    chip, scale = simple(*figures), 2.0**power
    plain = one(flops, moved, time, chip)
    scaled = one(flops * scale, moved * scale, time * scale, chip)
    for name in [*RATIOS, "achieved", "attainable", "bound_by", "regime", "above_roof"]:
        np.testing.assert_array_equal(getattr(scaled, name), getattr(plain, name), err_msg=name)
    assert scaled.ai["HBM"][0] == plain.ai["HBM"][0]
    assert scaled.bandwidth_utilization["HBM"][0] == plain.bandwidth_utilization["HBM"][0]


@given(amounts_or_zero, amounts_or_zero, seconds, st.tuples(rates, rates), st.tuples(rates, rates))
def test_achieved_does_not_depend_on_the_chip(
    flops: float, moved: float, time: float, first: tuple[float, float], second: tuple[float, float]
) -> None:
    rate = one(flops, moved, time, simple(*first)).achieved[0]
    assert rate == one(flops, moved, time, simple(*second)).achieved[0] == flops / time


@given(amounts, amounts, seconds, rates, rates)
def test_the_share_of_the_roof_is_the_share_of_the_time(
    flops: float, moved: float, time: float, peak: float, bandwidth: float
) -> None:
    bound = one(flops, moved, time, simple(peak, bandwidth))
    assert bound.roof_fraction[0] == pytest.approx(bound.utilization[0], rel=CLOSE)
    assert bound.peak_fraction[0] == pytest.approx(bound.utilization[0] * bound.attainable_fraction[0], rel=CLOSE)
    assert bound.headroom[0] == time - bound.time[0]


@given(amounts, amounts, rates, rates, st.floats(0.01, 0.99))
def test_flops_split_over_precisions_take_the_sum_of_their_times(
    flops: float, moved: float, peak: float, other: float, share: float
) -> None:
    chip = rw.Chip("c", {"bf16": peak, "fp32": other}, {"HBM": 1e12})
    parts = {"bf16": flops * share, "fp32": flops * (1 - share)}
    time = one(parts, moved, None, chip).compute_time[0]
    assert time == pytest.approx(parts["bf16"] / peak + parts["fp32"] / other, rel=CLOSE)
    assert flops / max(peak, other) * (1 - CLOSE) <= time <= flops / min(peak, other) * (1 + CLOSE)


def test_bound_takes_the_name_of_a_chip_and_refuses_an_unknown_keyword() -> None:
    kernel = ("k", 1e12, 1e9)
    assert rw.bound([kernel], "v6e").bound_by.tolist() == ["compute"]
    with pytest.raises(TypeError, match="bound has no keyword 'precison'; did you mean 'precision'"):
        rw.bound([kernel], "v6e", precison="bf16")  # type: ignore[call-arg]
