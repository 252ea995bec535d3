"""Properties of bounds beside each other, of any kernels on any chips; `test_exact.py` has what each bound is."""

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


@given(st.lists(st.tuples(amounts_or_zero, amounts_or_zero), min_size=1, max_size=8), rates, rates)
def test_a_programs_time_is_no_less_than_that_of_the_sums_of_its_kernels(
    kernels: list[tuple[float, float]], peak: float, bandwidth: float
) -> None:
    chip = rw.Chip("chip", {"bf16": peak}, {"HBM": bandwidth})
    work, moved = (math.fsum(column) for column in zip(*kernels, strict=True))
    apart, merged = (
        rw.bound(rows, chip).total_time for rows in ([("k", *kernel) for kernel in kernels], [("k", work, moved)])
    )
    assert apart >= merged * (1 - CLOSE)
