"""The exercise: the same answers to the last digit, except where the exercise's own solution is wrong."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget.analysis.exercise import roofline_analysis

KEYS = ["name", "arithmetic_intensity", "attainable_flops", "bound", "efficiency", "estimated_time_s"]

amounts = st.one_of(st.integers(0, 10**18), st.floats(1e-9, 1e18))
rates = st.one_of(st.integers(1, 10**18), st.floats(1e-3, 1e18))
operations = st.fixed_dictionaries({"flops": amounts, "memory_bytes": amounts}, optional={"name": st.text(max_size=3)})


def ask(flops: Any, moved: Any, peak: float = 100, bandwidth: float = 10) -> dict[str, Any]:
    return roofline_analysis([{"flops": flops, "memory_bytes": moved}], peak, bandwidth)[0]


def as_the_exercise_defines_it(operation: Mapping[str, Any], peak: float, bandwidth: float) -> list[Any]:
    """Return the six quantities as the text of the exercise defines them."""
    work, traffic = operation["flops"], operation["memory_bytes"]
    x = math.inf if traffic == 0 else work / traffic
    under_slope = x * bandwidth
    y = min(under_slope, peak)
    side = ["memory-bound", "compute-bound"][x >= peak / bandwidth]
    name = operation["name"] if "name" in operation else ""  # noqa: SIM401 - the exercise's get(), said otherwise
    return [name, round(x, 4), round(y, 4), side, round(y / peak * 100, 2), round(work / y, 8)]


@given(operation=operations, peak=rates, bandwidth=rates)
def test_every_defined_input_gets_the_exercises_answer(
    operation: dict[str, Any], peak: float, bandwidth: float
) -> None:
    (answer,) = roofline_analysis([operation], peak, bandwidth)
    assert list(answer) == KEYS
    if operation["flops"] or not operation["memory_bytes"]:
        assert list(answer.values()) == as_the_exercise_defines_it(operation, peak, bandwidth)


@given(moved=st.floats(1e-3, 1e18), bandwidth=st.floats(1e-3, 1e18))
def test_bytes_without_flops_take_the_time_that_the_bytes_take_not_for_ever(moved: float, bandwidth: float) -> None:
    answer = ask(0, moved, 1e14, bandwidth)
    assert answer["estimated_time_s"] == round(moved / bandwidth, 8)
    assert (answer["arithmetic_intensity"], answer["attainable_flops"], answer["efficiency"]) == (0, 0, 0)
    assert answer["bound"] == "memory-bound"


def test_flops_too_few_for_any_rate_take_the_time_of_their_bytes_too() -> None:
    assert ask(5e-324, 1e10)["estimated_time_s"] == 1e9


def test_neither_flops_nor_bytes_is_no_time_at_an_infinite_intensity() -> None:
    assert list(ask(0, 0).values()) == ["", math.inf, 100, "compute-bound", 100.0, 0.0]


def test_flops_without_bytes_run_at_the_peak() -> None:
    assert list(ask(50, 0).values()) == ["", math.inf, 100, "compute-bound", 100.0, 0.5]


def test_the_ridge_point_itself_is_compute_bound() -> None:
    assert ask(10, 1)["bound"] == "compute-bound"
    assert ask(math.nextafter(10, 0), 1)["bound"] == "memory-bound"


def test_large_figures_have_the_digits_of_the_exercises_order_of_operations() -> None:
    flops, moved = 1161239138846, 78844205959
    attainable = ask(flops, moved, 1e14, 1.6e12)["attainable_flops"]
    assert attainable == 23565239823960.875
    assert round(flops * 1.6e12 / moved, 4) == 23565239823960.87, "the other order is told apart by this case"
    assert math.isclose(attainable, Fraction(flops, moved) * 1_600_000_000_000, rel_tol=1e-15)


def test_a_percentage_is_a_share_times_a_hundred_in_that_order() -> None:
    assert ask(23, 1, 160, 1)["efficiency"] == 14.37
    assert round(23 * 100 / 160, 2) == 14.38, "the other order is told apart by this case"


def test_answers_come_in_the_order_of_the_operations_and_other_keys_do_not_count() -> None:
    asked = [{"name": name, "flops": 1, "memory_bytes": 1, "colour": "red"} for name in "cab"]
    before = copy.deepcopy(asked)
    answers = roofline_analysis(asked, 100, 10)
    assert [answer["name"] for answer in answers] == ["c", "a", "b"]
    assert all(list(answer) == KEYS for answer in answers)
    assert asked == before


def test_no_operations_are_no_answers() -> None:
    assert roofline_analysis([], 1, 1) == []


def test_operations_may_come_from_a_generator_and_numbers_from_numpy() -> None:
    rows = ({"flops": np.int64(n), "memory_bytes": np.float64(2)} for n in (4, 8))
    assert [answer["arithmetic_intensity"] for answer in roofline_analysis(rows, 100, 10)] == [2.0, 4.0]


def test_answers_hold_pythons_own_numbers_whatever_the_figures_came_as() -> None:
    def answered(*figures: Any) -> list[tuple[type, Any]]:
        flops, moved, peak, bandwidth = figures
        return [(type(value), value) for value in ask(flops, moved, peak, bandwidth).values()]

    assert answered(*(np.float64(n) for n in (400, 20, 100, 10))) == answered(400.0, 20.0, 100.0, 10.0)
    assert answered(*(np.int64(n) for n in (400, 20, 100, 10))) == answered(400, 20, 100, 10)
    assert answered(np.float32(400), np.int8(20), 100, 10) == answered(400.0, 20, 100, 10)


@pytest.mark.parametrize(
    ("operation", "error", "message"),
    [
        ({"flops": 10**400, "memory_bytes": 1}, ValueError, "operation 1: 'flops' does not fit a double-precision"),
        ({"flops": 1, "memory_bytes": 10**400}, ValueError, "operation 1: 'memory_bytes' does not fit a double"),
        ({"flops": 1}, ValueError, "operation 1 has no key 'memory_bytes'; it has 'flops'"),
        ({"memory_bytes": 1, "flop": 2}, ValueError, "operation 1 has no key 'flops'; it has 'memory_bytes', 'flop'"),
        ({}, ValueError, "operation 1 has no key 'flops'; it has none at all"),
        (
            {"flops": -1, "memory_bytes": 1},
            ValueError,
            "operation 1: 'flops' must be a finite number that is not negative, got -1",
        ),
        (
            {"flops": 1, "memory_bytes": math.nan},
            ValueError,
            "operation 1: 'memory_bytes' must be a finite number that is not negative, got nan",
        ),
        ({"flops": math.inf, "memory_bytes": 1}, ValueError, "operation 1: 'flops' must be a finite number"),
        ({"flops": "1e9", "memory_bytes": 1}, TypeError, "operation 1: 'flops' must be a number, got '1e9'"),
        ({"flops": 1, "memory_bytes": None}, TypeError, "operation 1: 'memory_bytes' must be a number, got None"),
        ({"flops": True, "memory_bytes": 1}, TypeError, "operation 1: 'flops' must be a number, got True"),
        ((1, 2), TypeError, "operation 1: expected a dict with 'flops' and 'memory_bytes', got (1, 2)"),
    ],
)
def test_a_bad_operation_is_named_with_its_key(operation: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match="^" + re.escape(message)):
        roofline_analysis([{"flops": 1, "memory_bytes": 1}, operation], 100, 10)


@pytest.mark.parametrize(
    ("peaks", "error", "message"),
    [
        ((0, 1), ValueError, "peak_compute must be above zero"),
        ((10**400, 1), ValueError, "peak_compute does not fit a double-precision number"),
        ((1, 0.0), ValueError, "peak_bandwidth must be above zero"),
        ((-1, 1), ValueError, "peak_compute must be a finite number that is not negative, got -1"),
        ((1, math.inf), ValueError, "peak_bandwidth must be a finite number that is not negative, got inf"),
        (("1 TFLOP/s", 1), TypeError, "peak_compute must be a number, got '1 TFLOP/s'"),
    ],
)
def test_a_bad_peak_is_named_even_without_operations(peaks: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match="^" + re.escape(message)):
        roofline_analysis([], *peaks)


def test_an_unknown_keyword_is_named_with_the_nearest() -> None:
    with pytest.raises(TypeError, match="no keyword 'peak_flops'"):
        roofline_analysis([], peak_flops=1, peak_bandwidth=1)  # type: ignore[call-arg]
