"""Numbers to text and back: golden cases, refused texts, and properties of all numbers."""

from __future__ import annotations

import math
import re
import runpy
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget.units import (
    FIGURE_LIMITS,
    figure,
    finite,
    format_capacity,
    format_change,
    format_factor,
    format_intensity,
    format_percent,
    format_quantity,
    format_significant,
    parse,
    positive,
    ratio_units,
)
from tests.places import GOLDEN, golden, text_of

UNITS: dict[str, Any] = golden("units.json")
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
SAYS = {"number": "no number in", "unit": "is not a unit of", "size": "does not fit a double-precision number"}

EPSILON = 2.0**-52
numbers = st.floats(min_value=1e-12, max_value=9e26)


def double(value: float | str) -> float:
    return SPECIAL[value] if isinstance(value, str) else float(value)


def test_the_golden_files_are_what_their_script_writes() -> None:
    made = runpy.run_path(str(GOLDEN / "make_golden.py"))["files"]()
    assert {path.name for path in GOLDEN.glob("*.json")} >= set(made)
    for name, text in made.items():
        assert text_of(GOLDEN / name) == text, f"run {GOLDEN.name}/make_golden.py: {name} differs"


def test_the_script_of_the_golden_files_does_not_know_the_package() -> None:
    assert not re.search(r"(import|from) roofwidget", text_of(GOLDEN / "make_golden.py"))


# -- numbers to text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        ("significant", lambda case: format_significant(double(case["value"]), case["digits"])),
        ("percent", lambda case: format_percent(double(case["share"]))),
        ("factor", lambda case: format_factor(case["value"])),
        ("change", lambda case: format_change(double(case["from"]), double(case["to"]))),
        ("capacity", lambda case: format_capacity(case["value"])),
        ("quantity", lambda case: format_quantity(double(case["value"]), case["unit"], case["digits"])),
        ("intensity", lambda case: format_intensity(double(case["value"]), case["digits"])),
    ],
    ids=[
        "digits of exact rounding, ties to even",
        "a share is whole from 10 % on, and 100 % only where it is",
        "a factor has two digits below ten, three near to one",
        "a change has its sign, and is unknown from nothing to something",
        "a capacity has binary prefixes unless it is a whole number of megabytes",
        "a quantity has the prefix and digits of exact rounding",
        "an intensity is plain up to 9999 and has a prefix above",
    ],
)
def test_numbers_are_shown_as_the_golden_file_has_them(table: str, shown: Callable[[dict[str, Any]], str]) -> None:
    for case in UNITS[table]:
        assert shown(case) == case["text"], case


def test_a_share_has_more_digits_when_they_are_asked_for() -> None:
    assert [format_percent(0.7999, more) for more in (0, 1, 2)] == ["80 %", "80 %", "79.99 %"]


@pytest.mark.parametrize(
    ("value", "digits", "text"), [(1.25, 2, "1.2"), (2.5, 1, "2"), (3.5, 1, "4"), (0.125, 2, "0.12")]
)
def test_a_tie_goes_to_the_even_digit(value: float, digits: int, text: str) -> None:
    assert format_significant(value, digits) == text


def test_a_carry_goes_on_to_the_next_prefix() -> None:
    assert format_quantity(999.95, "FLOP/s", 4) == "1 kFLOP/s"
    assert format_quantity(999.94, "FLOP/s", 4) == "999.9 FLOP/s"
    assert format_quantity(0.9996, "s") == "1 s"


def test_three_digits_are_shown_when_none_are_asked_for() -> None:
    assert format_quantity(123456.0, "B") == "123 kB"
    assert format_intensity(1.2345) == "1.23 FLOP/B"
    assert format_significant(1.2345) == "1.23"


@given(numbers, st.integers(1, 15))
def test_shown_digits_are_within_half_a_unit_of_the_last_one(value: float, digits: int) -> None:
    shown = Fraction(format_significant(value, digits))
    last = Fraction(10) ** (Decimal(value).adjusted() - digits + 1)
    assert abs(shown - Fraction(value)) <= last / 2
    assert len(format_significant(value, digits).replace(".", "").strip("0")) <= digits


@given(numbers, st.integers(1, 6), st.sampled_from(["FLOP/s", "B/s", "FLOP", "B", "s"]))
def test_the_text_of_a_negative_number_is_that_of_the_positive_with_a_minus(
    value: float, digits: int, unit: str
) -> None:
    assert format_quantity(-value, unit, digits) == "-" + format_quantity(value, unit, digits)


def test_the_unit_of_a_ratio_names_the_operations_that_are_counted() -> None:
    asked: list[list[str]] = [["FLOP"], ["OP"], ["OP", "FLOP", "OP"], []]
    assert [ratio_units(each, "B") for each in asked] == ["FLOP/B", "OP/B", "FLOP/B · OP/B", "FLOP/B"]
    assert ratio_units(["OP"], "s") == "OP/s"


# -- text to numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", UNITS["parse"], ids=lambda case: case["text"])
def test_text_is_read_as_the_double_nearest_to_what_is_written(case: dict[str, Any]) -> None:
    assert parse(case["text"], case["unit"], "rate") == case["value"]


@pytest.mark.parametrize("case", UNITS["refused"], ids=lambda case: case["text"])
def test_text_that_is_no_such_rate_is_refused_with_its_reason(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=SAYS[case["why"]]) as caught:
        parse(case["text"], case["unit"], "bandwidth of chip 'H100'")
    assert str(caught.value).startswith("bandwidth of chip 'H100': ")


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        *(
            ("8.5 us", "s", 8.5e-6),
            ("8.5 µs", "s", 8.5e-6),
            ("3 ns", "s", 3e-9),
            ("12 ms", "s", 0.012),
            ("2 s", "s", 2.0),
        ),
        *(("16 GiB", "B", 2.0**34), ("80 GB", "B", 8e10), ("12 MB", "B", 1.2e7), ("3 bytes", "B", 3.0)),
        *(("4.3 GFLOP", "FLOP", 4.3e9), ("4.3 GFLOPs", "FLOP", 4.3e9), ("108 FLOP/B", "FLOP/B", 108.0)),
        *(("-2 TFLOP/s", "FLOP/s", -2e12), ("0", "B/s", 0.0), ("-0.5e1", "FLOP/B", -5.0)),
    ],
)
def test_times_amounts_and_intensities_are_read_too(text: str, unit: str, value: float) -> None:
    assert parse(text, unit, "x") == value


@pytest.mark.parametrize(
    ("text", "unit"), [("3 m", "s"), ("5 k", "s"), ("2 GFLOP/s", "FLOP"), ("2 GB/s", "B"), ("1 Mis", "s")]
)
def test_a_unit_of_another_quantity_is_refused(text: str, unit: str) -> None:
    with pytest.raises(ValueError, match=rf"is not a unit of {unit}"):
        parse(text, unit, "x")


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.int64(3), np.float64(3), Decimal(3), Fraction(3)])
def test_a_real_number_of_any_kind_is_taken_as_it_is(value: object) -> None:
    assert parse(value, "B/s", "x") == 3.0


@pytest.mark.parametrize("value", [True, False, None, [1.0], {}, 1j, b"1 TB/s"])
def test_what_is_neither_a_number_nor_text_is_a_type_error_with_an_example(value: object) -> None:
    with pytest.raises(TypeError, match=r"^peak: expected a number or text such as '989\.5 TFLOP/s', got"):
        parse(value, "FLOP/s", "peak")


@pytest.mark.parametrize("value", [10**400, Fraction(10**400)])
def test_a_number_too_large_for_a_double_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"^x: .* does not fit a double-precision number$"):
        parse(value, "B/s", "x")


def test_an_error_shows_only_the_start_of_a_long_text() -> None:
    with pytest.raises(ValueError, match="no number") as caught:
        parse("z" * 10_000, "B/s", "x")
    assert len(str(caught.value)) < 200


@given(numbers, st.integers(1, 15), st.sampled_from(["FLOP/s", "B/s", "FLOP", "B", "s"]))
def test_reading_a_shown_quantity_returns_the_number_within_its_rounding(value: float, digits: int, unit: str) -> None:
    again = parse(format_quantity(value, unit, digits), unit, "x")
    assert abs(again - value) <= value * (0.5 * 10.0 ** (1 - digits) + EPSILON)


@given(numbers, st.integers(1, 15))
def test_reading_a_shown_intensity_returns_the_number_within_its_rounding(value: float, digits: int) -> None:
    again = parse(format_intensity(value, digits), "FLOP/B", "x")
    assert abs(again - value) <= value * (0.5 * 10.0 ** (1 - digits) + EPSILON)


@given(st.floats(min_value=1e-3, max_value=1e9), st.sampled_from("kMGTPE"))
def test_a_prefix_moves_the_point_and_rounds_once(value: float, prefix: str) -> None:
    power = 3 * ("kMGTPE".index(prefix) + 1)
    assert parse(f"{value!r} {prefix}B/s", "B/s", "x") == float(Fraction(repr(value)) * 10**power)


@given(st.text(max_size=12), st.sampled_from(["FLOP/s", "B/s", "FLOP", "B", "s", "FLOP/B"]))
def test_any_text_is_a_finite_number_or_a_value_error(text: str, unit: str) -> None:
    try:
        value = parse(text, unit, "x")
    except ValueError as error:
        assert str(error).startswith("x: ")  # noqa: PT017 - either of the two is right
    else:
        assert math.isfinite(value)


# -- what a number must be ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-1.0, -5e-324, math.nan, math.inf, -math.inf])
def test_an_amount_must_be_finite_and_not_negative(value: float) -> None:
    with pytest.raises(ValueError, match=r"^bytes must be a finite number that is not negative, got "):
        finite(value, "bytes")


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_rate_must_be_finite_and_above_zero(value: float) -> None:
    with pytest.raises(ValueError, match=r"^bandwidth must be a finite number above zero, got "):
        positive(value, "bandwidth")


def test_a_number_that_may_be_is_returned() -> None:
    assert finite(0.0, "bytes") == 0.0
    assert positive(5e-324, "bandwidth") == 5e-324


# The page has the limits of the rates too, and is held to the same file.
LIMITS: dict[str, list[float]] = golden("figure_limits.json")


def test_the_limits_of_figures_are_those_of_the_golden_file() -> None:
    assert {unit: list(limits) for unit, limits in FIGURE_LIMITS.items()} == LIMITS


@pytest.mark.parametrize("unit", LIMITS)
def test_a_figure_is_within_the_limits_of_hardware_and_both_limits_are_accepted(unit: str) -> None:
    low, high = LIMITS[unit]
    assert (figure(low, unit, "it"), figure(high, unit, "it")) == (low, high)
    for beyond in (math.nextafter(low, 0), math.nextafter(high, math.inf), 5e-324, 1e99):
        with pytest.raises(ValueError, match=r"^it must be from .+ to .+, which all hardware is, got "):
            figure(beyond, unit, "it")
    for impossible in (0, -1, math.nan, math.inf, 10**400, "1e400"):
        with pytest.raises(ValueError, match=r"^it[ :]"):
            figure(impossible, unit, "it")
    assert figure(0, unit, "it", may_be_zero=True) == 0


def test_a_figure_is_read_from_text_and_its_error_has_the_limits_with_their_unit() -> None:
    assert figure("3.35 TB/s", "B/s", "bandwidth") == 3.35e12
    assert figure("30 pJ/B", "J/B", "energy") == 3e-11
    with pytest.raises(ValueError, match=r"^peak must be from 0\.001 FLOP/s to 1 YFLOP/s, which all hardware is, got "):
        figure(1e99, "FLOP/s", "peak")
    with pytest.raises(ValueError, match=r"^clock must be from 0\.001 Hz to 1 PHz, which all hardware is, got "):
        figure(1e99, "Hz", "clock")


@pytest.mark.parametrize(
    ("unit", "least"),
    [("W", "1e-12 W"), ("J/FLOP", "1e-30 J/FLOP"), ("J/B", "1e-30 J/B"), ("s", "1e-15 s"), ("B", "1 B")],
)
def test_the_smallest_figure_in_a_message_has_no_row_of_zeros_and_can_be_typed(unit: str, least: str) -> None:
    with pytest.raises(ValueError, match=f"^it must be from {least} to "):
        figure(1e-99, unit, "it")
    assert figure(least, unit, "it") == FIGURE_LIMITS[unit][0]
