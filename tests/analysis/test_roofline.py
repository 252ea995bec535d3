"""The roofline arithmetic: golden cases, refused arguments, and the two curves of a roof."""

from __future__ import annotations

import json
import math
import re
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import roofwidget as rw
from roofwidget.analysis.roofline import join_times
from tests import places
from tests.places import json_of, text_of

GOLDEN_FILE = places.GOLDEN / "roofline.json"
GOLDEN: dict[str, Any] = json_of(GOLDEN_FILE)
CLOSE = 1e-12
NUMBERS = [
    *("compute_time", "time", "attainable", "attainable_fraction", "achieved", "peak_fraction", "roof_fraction"),
    "utilization",
]
OF_OPTIONS = ["body_time", "network_time", "overhead_time", "exposed_fraction"]
WORDS = ["bound_by", "regime", "balanced", "above_roof"]

rates = st.floats(min_value=1e3, max_value=1e18)


def chip_of(name: str, figures: dict[str, Any]) -> rw.Chip:
    rest = {key: value for key, value in figures.items() if key != "link"}
    return rw.Chip(name, **rest, links={"link": figures["link"]} if "link" in figures else {})


CHIPS = {name: chip_of(name, figures) for name, figures in GOLDEN["chips"].items()}


def kernel_of(case: dict[str, Any]) -> rw.Kernel:
    return rw.Kernel("k", **case["kernel"])


def bound_of(case: dict[str, Any]) -> rw.Bound:
    asked = {"precision": case["precision"], "memory": case["memory"], **case.get("options", {})}
    return rw.bound(kernel_of(case), CHIPS[case["chip"]], **asked)


def same(found: float, expected: float | str | None) -> bool:
    if expected is None:
        return math.isnan(found)
    return math.isclose(found, float(expected), rel_tol=CLOSE, abs_tol=0.0)


def at_level(columns: Any, level: str) -> float:
    return float(columns[level][0]) if level in columns else math.nan


def wrong(bound: rw.Bound, expected: dict[str, Any], levels: list[str]) -> dict[str, Any]:
    """Return the quantities of a golden case that differ from those of exact fractions."""
    found: dict[str, tuple[float, Any]] = {}
    for name in [*NUMBERS, *(name for name in OF_OPTIONS if name in expected)]:
        found[name] = float(getattr(bound, name)[0]), expected[name]
    for name in ("memory_time", "ai"):
        by_level = expected[name] if isinstance(expected[name], dict) else {levels[0]: expected[name]}
        for level in levels:
            found[f"{name} {level}"] = at_level(getattr(bound, name), level), by_level[level]
    differing: dict[str, Any] = {name: pair for name, pair in found.items() if not same(*pair)}
    words = {name: (getattr(bound, name)[0], expected[name]) for name in WORDS}
    return differing | {name: pair for name, pair in words.items() if pair[0] != pair[1]}


# -- golden cases ------------------------------------------------------------------------------------------------------


def test_there_are_enough_cases_and_the_generator_knows_nothing_of_the_package() -> None:
    assert len(GOLDEN["cases"]) >= 500
    text = text_of(GOLDEN_FILE.parent / "golden_roofline.py")
    assert not re.search(r"(import|from) roofwidget", text)


@pytest.mark.parametrize("case", GOLDEN["cases"])
def test_every_quantity_is_that_of_exact_fractions(case: dict[str, Any]) -> None:
    level = CHIPS[case["chip"]].memory(case["memory"])
    assert not wrong(bound_of(case), case["expected"], [level])


@pytest.mark.parametrize("case", GOLDEN["all_levels"])
def test_of_all_levels_the_slowest_whose_bytes_are_known_binds(case: dict[str, Any]) -> None:
    assert not wrong(bound_of(case), case["expected"], list(case["expected"]["memory_time"]))


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
    def asked(case: dict[str, Any]) -> str:
        return json.dumps([case["chip"], case["precision"], case["memory"], case.get("options", {})])

    tables, precisions = 0, 0
    for _, group in groupby(sorted([*GOLDEN["cases"], *GOLDEN["all_levels"]], key=asked), key=asked):
        cases = list(group)
        table = rw.Kernels.from_records([kernel_of(case) for case in cases])
        chip, precision, memory, options = json.loads(asked(cases[0]))
        together = rw.bound(table, CHIPS[chip], precision=precision, memory=memory, **options)
        alone = [bound_of(case) for case in cases]
        for name in [*NUMBERS, *OF_OPTIONS, "peak"]:
            # FLOPs of three precisions are summed in the order of their first appearance in the table.
            column = [getattr(b, name)[0] for b in alone]
            np.testing.assert_allclose(getattr(together, name), column, rtol=1e-15, atol=0, err_msg=name)
        for name in WORDS:
            assert getattr(together, name).tolist() == [getattr(b, name)[0] for b in alone], name
        tables += len(cases) > 1
        precisions = max(precisions, len(set(table.precision.tolist())))
    assert tables > 40
    assert precisions > 2


# -- attainable and ridge_point ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_peak_or_bandwidth_that_is_not_finite_and_above_zero_is_refused_by_name(bad: float) -> None:
    for call in (lambda p, b: rw.attainable(1.0, p, b), rw.ridge_point):
        with pytest.raises(ValueError, match=r"^peak_flops must be a finite number above zero, got"):
            call([1.0, bad], 1.0)
        with pytest.raises(ValueError, match=r"^bandwidth must be a finite number above zero, got"):
            call(1.0, [1.0, bad])


def test_numbers_give_a_float_and_arrays_an_array() -> None:
    ridge = rw.ridge_point(459e12, 2.76e12)
    assert type(ridge) is float
    assert ridge == 459e12 / 2.76e12
    assert type(rw.attainable(np.float64(10), "459 TFLOP/s", "2.76 TB/s")) is float
    assert rw.attainable(10, "459 TFLOP/s", "2.76 TB/s") == 2.76e13
    assert isinstance(rw.ridge_point([459e12], 2.76e12), np.ndarray)
    assert isinstance(rw.attainable(np.array([10.0]), 459e12, 2.76e12), np.ndarray)


@pytest.mark.parametrize("bad", [None, True, "", "fast", {}, [None, "x"], rw.chip("v5p")])
def test_a_peak_or_bandwidth_that_is_no_number_is_refused_by_name(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^peak_flops"):
        rw.ridge_point(bad, 1.0)
    with pytest.raises((TypeError, ValueError), match=r"^bandwidth"):
        rw.attainable(1.0, 1.0, bad)
    with pytest.raises((TypeError, ValueError), match=r"^ai"):
        rw.attainable(bad, 1.0, 1.0)


def test_a_negative_intensity_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^ai must not be negative, got -2\.0$"):
        rw.attainable([1.0, 0.5, 0.0, -2.0], 1.0, 1.0)


def test_under_full_overlap_the_body_is_the_longer_time_even_if_it_is_infinite() -> None:
    times = np.array([math.inf, 3.0, 2.0]), np.array([math.inf, 2.0, 3.0])
    body, time = join_times(*times, np.zeros(()), np.zeros(()), overlap=1, exposed=0)
    assert body.tolist() == time.tolist() == [math.inf, 3, 3]


def test_one_peak_or_bandwidth_may_be_text_with_a_unit() -> None:
    assert rw.attainable([1.0, 1e6], "989 TFLOP/s", "3.35 TB/s").tolist() == [3.35e12, 989e12]
    assert rw.attainable("2 FLOP/B", "989 TFLOP/s", "3 TB/s") == 6e12
    assert float(rw.ridge_point("6.7 TFLOP/s", "3.35 TB/s")) == 2
    with pytest.raises(ValueError, match=r"^bandwidth: 'TFLOP/s' is not a unit of B/s"):
        rw.ridge_point(1.0, "3 TFLOP/s")
    with pytest.raises(TypeError, match=r"^peak_flops must be numbers .* got \['1', 'fast'\]"):
        rw.ridge_point(["1", "fast"], 1.0)


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


def test_bound_takes_the_name_of_a_chip_and_refuses_an_unknown_keyword() -> None:
    kernel = ("k", 1e12, 1e9)
    assert rw.bound([kernel], "v6e").bound_by.tolist() == ["compute"]
    with pytest.raises(TypeError, match="bound has no keyword 'precison'; did you mean 'precision'"):
        rw.bound([kernel], "v6e", precison="bf16")  # type: ignore[call-arg]
