"""MFU and MBU: what is divided by what, and that the result says so."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import roofwidget as rw

CHIP = rw.Chip("card", {"bf16": "100 TFLOP/s", "fp8": "200 TFLOP/s"}, {"HBM": "2 TB/s", "L2": "10 TB/s"})


def test_mfu_is_flops_over_time_over_the_peak_of_all_chips() -> None:
    made = rw.mfu(80e12, 2, CHIP, 4)
    assert made.value == 80e12 / 2 / (4 * 100e12) == float(made)
    assert (made.rate, made.rate_per_chip) == (40e12, 10e12)


def test_the_precision_chooses_the_peak() -> None:
    assert float(rw.mfu(50e12, 1, CHIP)) == 0.5
    made = rw.mfu(50e12, 1, CHIP, precision="float8")
    assert (made.value, made.of, made.peak) == (0.25, "fp8", 200e12)
    with pytest.raises(rw.MissingFigureError, match="card has no peak for precision 'int8'"):
        rw.mfu(50e12, 1, CHIP, precision="int8")


def test_mbu_is_bytes_over_time_over_the_bandwidth_of_all_chips() -> None:
    made = rw.mbu("8 GB", "2 ms", CHIP, 4)
    assert made.value == 0.5
    assert (made.unit, made.of) == ("B", "HBM")
    assert float(rw.mbu(8e9, 2e-3, CHIP, memory="L2")) == 0.4
    with pytest.raises(rw.MissingFigureError, match="card has no memory 'L3'; it has 'HBM', 'L2'"):
        rw.mbu(8e9, 2e-3, CHIP, memory="L3")


def test_the_text_says_the_convention_and_the_denominator() -> None:
    text = repr(rw.mfu(rw.model_flops(7e9, tokens=1_000_000), 200, "h100-sxm", 8))
    assert text.splitlines() == [
        "MFU 2.65 %",
        "numerator    42,000,000,000,000,000 FLOP in 200 s: 6ND without attention; forward and backward",
        "denominator  8 × 989.5 TFLOP/s: NVIDIA H100 SXM5 80GB, bf16, dense (NVIDIA H100 datasheet and product page)",
        "per chip     26.2 TFLOP/s",
    ]
    given = rw.mbu(1e9, 1e-3, CHIP)
    assert "1 GB in 1 ms: given as a number" in repr(given)
    assert "1 × 2 TB/s: card, HBM, bandwidth (no source stated)" in repr(given)


def test_the_html_has_the_same_rows_and_no_markup_of_a_name() -> None:
    html = rw.mfu(1e12, 1, rw.Chip("<b>", {"bf16": 1e14}, {"HBM": 1e12}))._repr_html_()
    assert "<b>" not in html
    assert '<th scope="row">denominator</th>' in html


def test_hfu_stands_beside_mfu_where_something_was_recomputed() -> None:
    work = rw.model_flops(1e9, tokens=1000, recompute="full")
    made = rw.mfu(work, 1, CHIP)
    assert made.hardware is not None
    assert (made.name, made.hardware.name) == ("MFU", "HFU")
    assert made.hardware.value / made.value == pytest.approx(8 / 6)
    assert "HFU" in repr(made).splitlines()[0]
    assert rw.mfu(rw.model_flops(1e9, tokens=1000), 1, CHIP).hardware is None


def test_more_than_the_peak_is_named_and_not_clamped() -> None:
    made = rw.mfu(150e12, 1, CHIP)
    assert made.value == 1.5
    assert made.above_peak
    assert repr(made).startswith("MFU 150 %: above the peak, so a number is wrong")
    assert not rw.mfu(100e12, 1, CHIP).above_peak


def test_whole_numbers_stay_exact() -> None:
    amount = 2**53 + 1
    assert rw.mfu(amount, 1, "tpu-v4", 6144).amount == amount


def test_results_are_pickled_and_compared_by_value() -> None:
    made = rw.mfu(rw.model_flops(7e9, tokens=10, recompute="full"), 1, CHIP)
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - made in this line


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"flops": 0}, ValueError, "flops must be a finite number above zero"),
        ({"flops": "1 TB"}, ValueError, "flops: 'TB' is not a unit of FLOP"),
        ({"time": 0}, ValueError, "time must be a finite number above zero"),
        ({"n_chips": 0}, ValueError, "n_chips must be a whole number from 1, got 0"),
        ({"n_chips": 1.5}, ValueError, r"n_chips must be a whole number from 1, got 1\.5"),
        ({"n_chips": True}, ValueError, "n_chips must be a whole number from 1, got True"),
        ({"tokens": 3}, TypeError, r"count the FLOPs first: rw\.mfu"),
        ({"model": "gpt-2"}, TypeError, r"count the FLOPs first: rw\.mfu"),
        ({"precison": "bf16"}, TypeError, "did you mean 'precision'"),
        ({"flops": rw.model_flops(1e9, 1), "convention": "x"}, TypeError, "contains its convention"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rw.mfu(**{"flops": 1, "time": 1, "chip": CHIP, **given})


def test_negative_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="bytes must be a finite number above zero"):
        rw.mbu(-1, 1, CHIP)
