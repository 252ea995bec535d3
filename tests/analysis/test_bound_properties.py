"""Properties of the bound of any kernel on any chip."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roofwidget as rw

CLOSE = 1e-12
NEVER_MORE = 1 + CLOSE
RATIOS = ["attainable_fraction", "peak_fraction", "roof_fraction", "utilization", "exposed_fraction"]

rates = st.floats(min_value=1e3, max_value=1e18)
amounts = st.floats(min_value=1e-3, max_value=1e20)
amounts_or_zero = st.one_of(st.just(0.0), amounts)
seconds = st.floats(min_value=1e-9, max_value=1e6)
shares = st.floats(0, 1)
factors = st.floats(1, 1e3)


@dataclass(frozen=True)
class Rates:
    """The figures of a chip: two precisions, a vector unit, two memory levels and a link."""

    bf16: float
    fp32: float
    vector: float
    hbm: float
    l2: float
    link: float

    def chip(self, **faster: float) -> rw.Chip:
        """Return the chip, with a factor on some of its rates."""
        rate = {name: getattr(self, name) * faster.get(name, 1.0) for name in self.__annotations__}
        peaks = {name: rate[name] for name in ("bf16", "fp32", "vector")}
        return rw.Chip("chip", peaks, {"HBM": rate["hbm"], "L2": rate["l2"]}, links={"link": rate["link"]})


chips = st.builds(Rates, rates, rates, rates, rates, rates, rates)
flops = st.one_of(
    amounts_or_zero, st.dictionaries(st.sampled_from(["bf16", "fp32", "vector", "matmul"]), amounts_or_zero, min_size=1)
)
near = st.fixed_dictionaries({"HBM": amounts_or_zero}, optional={"L2": amounts_or_zero})
anywhere = st.fixed_dictionaries({"HBM": amounts_or_zero}, optional={"L2": amounts_or_zero, "network": amounts_or_zero})


@st.composite
def situations(draw: st.DrawFn) -> tuple[rw.Kernel, dict[str, Any]]:
    """Draw a measured kernel and options that are valid for it."""
    exposed = draw(st.one_of(st.just(0.0), st.floats(0.01, 0.99)))
    kernel = rw.Kernel(
        "k",
        draw(flops),
        draw(near if exposed else anywhere),
        time=draw(seconds),
        precision=draw(st.sampled_from([None, "fp32"])),
        count=draw(st.integers(1, 10_000)),
    )
    memory = draw(st.sampled_from(["main", "all"]))
    launch = draw(st.one_of(st.just(0.0), st.floats(1e-9, 1.0)))
    options = {"overlap": draw(shares), "exposed_comm": exposed, "launch_overhead": launch, "memory": memory}
    return kernel, options


def one(moved_flops: Any, moved: Any, time: float | None, chip: rw.Chip, **choice: Any) -> rw.Bound:
    return rw.bound(rw.Kernel("k", moved_flops, moved, time=time), chip, **choice)


def simple(peak: float, bandwidth: float) -> rw.Chip:
    return rw.Chip("chip", {"bf16": peak}, {"HBM": bandwidth})


# -- any options -------------------------------------------------------------------------------------------------------


@given(situations(), chips)
def test_the_bound_is_no_less_than_any_of_its_parts(
    situation: tuple[rw.Kernel, dict[str, Any]], figures: Rates
) -> None:
    kernel, options = situation
    bound = rw.bound(kernel, figures.chip(), **options)
    time = bound.time[0] * NEVER_MORE
    assert all(time >= bound.memory_time[level][0] for level in bound.judged)
    assert all(time >= part[0] for part in (bound.compute_time, bound.network_time, bound.overhead_time))
    assert time >= bound.body_time[0] / (1 - options["exposed_comm"])


@given(situations(), chips)
def test_attainable_is_no_more_than_any_roof(situation: tuple[rw.Kernel, dict[str, Any]], figures: Rates) -> None:
    kernel, options = situation
    bound = rw.bound(kernel, figures.chip(), **options)
    if bound.flops[0] > 0:
        left = 1 - options["exposed_comm"]
        roofs = [bound.peak[0], *(bound.ai[level][0] * bound.chip.bandwidth(level) for level in bound.judged)]
        assert bound.attainable[0] <= min(roofs) * left * NEVER_MORE
        assert 0 < bound.attainable_fraction[0] <= left * NEVER_MORE


@given(situations(), chips, st.sampled_from(list(Rates.__annotations__)), factors)
def test_a_chip_that_is_faster_in_anything_never_needs_longer_and_never_allows_less(
    situation: tuple[rw.Kernel, dict[str, Any]], figures: Rates, rate: str, factor: float
) -> None:
    kernel, options = situation
    slow, fast = (rw.bound(kernel, figures.chip(**faster), **options) for faster in ({}, {rate: factor}))
    assert fast.time[0] <= slow.time[0] * NEVER_MORE
    if slow.flops[0] > 0:
        assert fast.attainable[0] >= slow.attainable[0] / NEVER_MORE


@given(situations(), chips, st.integers(-30, 30))
def test_scaling_flops_bytes_network_bytes_and_time_together_changes_no_ratio_without_launch_overhead(
    situation: tuple[rw.Kernel, dict[str, Any]], figures: Rates, power: int
) -> None:
    kernel, options = situation
    options, scale = {**options, "launch_overhead": 0.0}, 2.0**power

    def scaled(amount: Any) -> Any:
        return {key: part * scale for key, part in amount.items()} if hasattr(amount, "items") else amount * scale

    assert kernel.time is not None
    twin = rw.Kernel(
        *("k", scaled(kernel.flops), scaled(kernel.bytes)), time=kernel.time * scale, precision=kernel.precision
    )
    plain, large = (rw.bound(each, figures.chip(), **options) for each in (kernel, twin))
    for name in [*RATIOS, "achieved", "attainable", "bound_by", "regime", "balanced", "above_roof"]:
        np.testing.assert_array_equal(getattr(large, name), getattr(plain, name), err_msg=name)
    for name in ("ai", "bandwidth_utilization"):
        for level, column in getattr(plain, name).items():
            np.testing.assert_array_equal(getattr(large, name)[level], column, err_msg=f"{name} {level}")


@given(situations(), chips, chips)
def test_achieved_does_not_depend_on_the_chip_or_the_options(
    situation: tuple[rw.Kernel, dict[str, Any]], first: Rates, second: Rates
) -> None:
    kernel, options = situation
    assert kernel.time is not None
    rate = rw.bound(kernel, first.chip(), **options).achieved[0]
    assert rate == rw.bound(kernel, second.chip()).achieved[0] == pytest.approx(kernel.total_flops / kernel.time)


@given(situations(), chips)
def test_overlap_saves_at_most_half_and_never_costs(
    situation: tuple[rw.Kernel, dict[str, Any]], figures: Rates
) -> None:
    kernel, options = situation
    part, whole, none = (
        rw.bound(kernel, figures.chip(), **{**options, "overlap": overlap}).time[0]
        for overlap in (options["overlap"], 1.0, 0.0)
    )
    assert whole <= part * NEVER_MORE
    assert part <= none * NEVER_MORE
    assert none <= 2 * whole * NEVER_MORE


@given(situations(), chips)
def test_the_kernel_is_bound_by_the_resource_that_needs_longest(
    situation: tuple[rw.Kernel, dict[str, Any]], figures: Rates
) -> None:
    kernel, options = situation
    bound = rw.bound(kernel, figures.chip(), **options)
    parts = {level: bound.memory_time[level][0] for level in bound.judged} | {"compute": bound.compute_time[0]}
    outside = {"network": bound.network_time[0], "overhead": bound.overhead_time[0]}
    by, body = bound.bound_by[0], bound.body_time[0] / (1 - options["exposed_comm"])
    if by in outside:
        assert outside[by] >= max(*outside.values(), body) / NEVER_MORE
    else:
        assert body >= max(outside.values()) / NEVER_MORE
        assert parts[by] >= max(parts.values()) / NEVER_MORE
    assert bound.regime[0] == (by if by in {"compute", "network", "overhead"} else "memory")


@given(situations(), chips)
def test_the_exposed_fraction_is_the_share_of_the_time_that_the_body_leaves_to_the_link(
    situation: tuple[rw.Kernel, dict[str, Any]], figures: Rates
) -> None:
    kernel, options = situation
    bound = rw.bound(kernel, figures.chip(), **options)
    exposed = bound.exposed_fraction[0]
    assert 0 <= exposed <= 1
    if bound.network_time[0] > 0 and bound.bound_by[0] == "network":
        assert exposed == pytest.approx(1 - bound.body_time[0] / bound.time[0], abs=1e-9)
    if bound.network_time[0] <= bound.body_time[0]:
        assert exposed == options["exposed_comm"]


# -- the plain roofline ------------------------------------------------------------------------------------------------


@given(amounts_or_zero, amounts_or_zero, rates, rates)
def test_the_plain_bound_is_the_larger_of_compute_and_memory_time(
    work: float, moved: float, peak: float, bandwidth: float
) -> None:
    bound = one(work, moved, None, simple(peak, bandwidth))
    compute, memory, time = bound.compute_time[0], bound.memory_time["HBM"][0], bound.time[0]
    assert time == max(compute, memory)


@given(amounts, amounts_or_zero, rates, rates)
def test_what_is_attainable_lies_on_the_plain_roof(work: float, moved: float, peak: float, bandwidth: float) -> None:
    bound = one(work, moved, None, simple(peak, bandwidth))
    assert bound.attainable[0] == pytest.approx(float(rw.attainable(bound.ai["HBM"][0], peak, bandwidth)), rel=CLOSE)


@given(amounts_or_zero, amounts, rates, rates)
def test_left_of_the_ridge_point_a_kernel_is_memory_bound_and_right_of_it_compute_bound(
    work: float, moved: float, peak: float, bandwidth: float
) -> None:
    bound = one(work, moved, None, simple(peak, bandwidth))
    ridge = float(rw.ridge_point(peak, bandwidth))
    if bound.ai["HBM"][0] < ridge * (1 - 1e-11):
        assert (bound.regime[0], bound.bound_by[0]) == ("memory", "HBM")
    elif bound.ai["HBM"][0] > ridge:
        assert (bound.regime[0], bound.bound_by[0]) == ("compute", "compute")


@given(amounts, amounts, seconds, rates, rates)
def test_the_share_of_the_roof_is_the_share_of_the_time(
    work: float, moved: float, time: float, peak: float, bandwidth: float
) -> None:
    bound = one(work, moved, time, simple(peak, bandwidth))
    assert bound.roof_fraction[0] == pytest.approx(bound.utilization[0], rel=CLOSE)
    assert bound.peak_fraction[0] == pytest.approx(bound.utilization[0] * bound.attainable_fraction[0], rel=CLOSE)
    assert bound.headroom[0] == time - bound.time[0]


@given(amounts, amounts, rates, rates, st.floats(0.01, 0.99))
def test_flops_split_over_precisions_take_the_sum_of_their_times(
    work: float, moved: float, peak: float, other: float, share: float
) -> None:
    chip = rw.Chip("c", {"bf16": peak, "fp32": other}, {"HBM": 1e12})
    parts = {"bf16": work * share, "fp32": work * (1 - share)}
    time = one(parts, moved, None, chip).compute_time[0]
    assert time == pytest.approx(parts["bf16"] / peak + parts["fp32"] / other, rel=CLOSE)
    assert work / max(peak, other) * (1 - CLOSE) <= time <= work / min(peak, other) * NEVER_MORE


@given(st.lists(st.tuples(amounts_or_zero, amounts_or_zero), min_size=1, max_size=8), rates, rates)
def test_a_programs_time_is_the_sum_of_its_kernels_and_no_less_than_that_of_their_sums(
    kernels: list[tuple[float, float]], peak: float, bandwidth: float
) -> None:
    chip = simple(peak, bandwidth)
    total = rw.bound([("k", *kernel) for kernel in kernels], chip).total_time
    assert total == pytest.approx(math.fsum(one(*kernel, None, chip).time[0] for kernel in kernels), rel=CLOSE)
    work, moved = (math.fsum(column) for column in zip(*kernels, strict=True))
    assert total >= one(work, moved, None, chip).total_time * (1 - CLOSE)
