"""Numbers as large and as small as doubles go: no warning of numpy, and no NaN where all numbers are known."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import roofwidget as rw
from roofwidget.analysis import network as links
from roofwidget.workloads import model_flops

# As large and as small as finite doubles go, and the rates that a chip may have.
LARGEST, SMALLEST = 1.7976931348623157e308, 5e-324
NUMBERS = st.floats(SMALLEST, LARGEST) | st.sampled_from([SMALLEST, 1e-300, 1.0, 1e300, LARGEST])
AMOUNTS = st.just(0.0) | NUMBERS
# The sum of several of these is finite too.
ADDENDS = st.just(0.0) | st.floats(SMALLEST, 1e300) | st.sampled_from([SMALLEST, 1e-300, 1.0, 1e300])
RATES = st.floats(1e-3, 1e24) | st.sampled_from([1e-3, 1e24])


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def test_an_intensity_of_1e300_is_bound_by_the_peak_without_a_warning() -> None:
    assert rw.attainable(1e300, 1e20, 1e12) == 1e20
    assert rw.attainable(1e300, LARGEST, 1e12) == LARGEST
    assert rw.attainable([SMALLEST, math.inf], 1e15, 1e-12).tolist() == [0.0, 1e15]
    assert rw.ridge_point(LARGEST, SMALLEST) == math.inf
    assert rw.ridge_point(SMALLEST, LARGEST) == 0.0


@given(ai=AMOUNTS, peak=NUMBERS, bandwidth=NUMBERS)
def test_the_roofline_is_quiet_and_known_for_all_finite_numbers(ai: float, peak: float, bandwidth: float) -> None:
    assert 0 <= rw.attainable(ai, peak, bandwidth) <= peak
    assert rw.ridge_point(peak, bandwidth) >= 0


# The times on the other chip are finite, and their sum is not.
@example(rows=[(1.0, 0.0, 2e299, 1), (1.0, 0.0, 3.2e299, 1)], peak=3.6e23, bandwidth=1.0, overlap=0.0, overhead=0.0)
@given(
    rows=st.lists(st.tuples(ADDENDS, ADDENDS, ADDENDS, st.integers(1, 2**53)), min_size=1, max_size=4),
    peak=RATES,
    bandwidth=RATES,
    overlap=st.floats(0, 1),
    overhead=st.floats(0, 1e280),
)
def test_a_bound_and_what_follows_from_it_are_quiet_and_known(
    rows: list[tuple[float, float, float, int]], peak: float, bandwidth: float, overlap: float, overhead: float
) -> None:
    flops, moved, times, counts = zip(*rows, strict=True)
    names = [f"k{row}" for row in range(len(rows))]
    table = rw.Kernels(names, flops, {"main": moved, "network": moved}, time=times, count=counts)
    chip = rw.Chip("x", {"bf16": peak}, {"HBM": bandwidth}, links={"Link": bandwidth})
    other = rw.Chip("y", {"bf16": 1e15}, {"HBM": 1e12}, links={"Link": 1e11})
    bound = rw.bound(table, chip, overlap=overlap, launch_overhead=overhead)
    assert not np.isnan(bound.time).any()
    assert (bound.time >= 0).all()
    for column in bound.to_dataframe().columns:
        assert column
    assert "unknown" not in bound.bound_by
    assert len(repr(bound)) + len(bound._repr_html_()) > 0
    for found in (rw.project(table, other, source=chip), rw.compare_chips(table, [chip, other]), rw.advise(bound)):
        assert len(repr(found)) + len(found._repr_html_()) > 0


@given(
    kind=st.sampled_from(links.COLLECTIVES),
    size=AMOUNTS,
    ranks=st.integers(1, 2**53),
    bandwidth=NUMBERS,
    latency=AMOUNTS,
    topology=st.sampled_from(links.TOPOLOGIES),
)
def test_collectives_are_quiet_and_known(  # noqa: PLR0917 - a number for each argument
    kind: str, size: float, ranks: int, bandwidth: float, latency: float, topology: str
) -> None:
    if kind == "permute" and topology == "ring-both-ways":
        return
    assert links.collective_time(kind, size, ranks, bandwidth, latency=latency, topology=topology) >= 0
    sent = links.network_bytes(kind, size, ranks, topology=topology)
    assert sent >= 0
    assert links.network_intensity(max(size, SMALLEST), min(sent, LARGEST)) >= 0


@given(network=AMOUNTS, hiding=AMOUNTS, more=AMOUNTS, roof=AMOUNTS, exposed=st.floats(0, 1, exclude_max=True))
def test_exposed_communication_is_quiet_and_known(
    network: float, hiding: float, more: float, roof: float, exposed: float
) -> None:
    assert 0 <= links.exposed_fraction(network, hiding) <= 1
    assert 0 <= links.exposed_fraction(network, hiding, body_time=max(hiding, more)) <= 1
    assert 0 <= links.effective_roof(roof, exposed) <= roof


@given(peak=RATES, bandwidth=RATES, d=NUMBERS, f=NUMBERS, size=st.floats(1e-300, 1e300))
def test_sizes_are_quiet_and_known(peak: float, bandwidth: float, d: float, f: float, size: float) -> None:
    chip = rw.Chip("x", {"bf16": peak}, {"HBM": bandwidth}, links={"Link": bandwidth})
    assert rw.smallest_square_matmul(chip, itemsize=size) >= 1
    assert rw.critical_batch(chip, d, f, weight_bytes=size) >= 0
    assert rw.critical_batch(chip, weight_bytes=size) >= 0
    assert rw.critical_batch_per_chip(chip, gradient_bytes=size) >= 0
    assert links.network_ridge_point(chip) >= 0


@given(peak=RATES, bandwidth=RATES, amount=NUMBERS, time=NUMBERS, chips=st.integers(1, 2**53))
def test_utilizations_are_quiet_and_known(
    peak: float, bandwidth: float, amount: float, time: float, chips: int
) -> None:
    chip = rw.Chip("x", {"bf16": peak}, {"HBM": bandwidth})
    for found in (rw.mfu(amount, time, chip, chips), rw.mbu(amount, time, chip, chips)):
        assert float(found) >= 0
        assert len(repr(found)) > 0


def test_more_flops_than_a_double_holds_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"^flops: .* does not fit a double-precision number"):
        rw.mfu(10**400, 1.0, "h100-sxm")
    assert rw.mfu(model_flops(1e9, tokens=10**6), 1.0, "h100-sxm").amount == 6 * 10**15
