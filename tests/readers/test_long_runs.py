"""Long runs of one character in headers, cells and lines are read in linear time. Quadratic time would hang."""

from __future__ import annotations

import pytest

from roofwidget.kernels import column_meanings
from roofwidget.readers import ProfileError, read
from roofwidget.readers.tables import notation

N = 200_000


@pytest.mark.parametrize("character", [" ", "_", "-", ".", ",", ":", "/", "\u00a0", "\n"])
def test_a_long_run_in_a_header_hides_no_unit_and_takes_linear_time(character: str) -> None:
    run = character * N
    assert column_meanings.meaning(f"Ker{run}x") is None
    assert column_meanings.unit_of(f"G{run}B") is None
    assert column_meanings.unit_in(f"1{run}5 x") == ""
    assert notation.is_number(f"1{run}x") is False


@pytest.mark.parametrize("character", [" ", "\u00a0", "\n"])
def test_white_space_of_any_length_in_a_header_is_one_space(character: str) -> None:
    found = column_meanings.meaning(f"Kernel Time{character * N}in{character * N}ms")
    assert found is not None
    assert (found.key, found.units, found.doubt) == ("time", ("ms",), "")


def test_a_number_of_many_digits_before_a_letter_is_no_number() -> None:
    assert notation.is_number("1" * N + "x") is False


TRT_HEADER = "=== Profile (2 iterations ) ===\n   Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer\n"


@pytest.mark.parametrize(
    "text",
    [
        TRT_HEADER + "1 1 1 " + " " * N + "a" + " " * N + "b\n",
        "=== Profile (2 iterations ) ===\n" + " " * N + "x\n",
        "==PROF== Report: a" + " " * N + "b\n",
        "Name  Self CPU  # of Calls\n" + "-" * N + "x\n",
        "Device: a" + " " * N + "x\n",
    ],
    ids=["a layer of TensorRT", "a header of TensorRT", "a log of ncu", "a rule of torch", "a device"],
)
def test_a_line_with_a_long_run_is_refused_in_linear_time(text: str) -> None:
    with pytest.raises(ProfileError):
        read(text.encode())
