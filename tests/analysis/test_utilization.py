"""MFU and MBU: what is divided by what, and that the result says so."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.analysis.utilization import ModelFlops
from roofwidget.chips import Source

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


def test_the_text_of_both_utilizations_has_the_numerator_of_each() -> None:
    work = rw.model_flops(1e9, tokens=1000, recompute="full")
    again = "with recomputation of all forward FLOPs of parameters and all forward FLOPs of attention"
    made = rw.mfu(work, 1, "h100-sxm")
    denominator = "1 × 989.5 TFLOP/s: NVIDIA H100 SXM5 80GB, bf16, dense (NVIDIA H100 datasheet and product page)"
    assert repr(made).splitlines() == [
        "MFU 0.606 %, HFU 0.808 %",
        "numerator      6,000,000,000,000 FLOP in 1 s: 6ND without attention; forward and backward",
        f"HFU numerator  8,000,000,000,000 FLOP: {again}",
        f"denominator    {denominator}",
        "per chip       6 TFLOP/s",
    ]
    assert repr(made.hardware).splitlines() == [
        "HFU 0.808 %",
        f"numerator    8,000,000,000,000 FLOP in 1 s: {again}",
        f"denominator  {denominator}",
        "per chip     8 TFLOP/s",
    ]


def test_the_text_of_mbu_names_the_source_of_the_bandwidth_and_rounds_to_four_digits() -> None:
    assert repr(rw.mbu("12.3456 GB", "14 ms", "h100-sxm")).splitlines() == [
        "MBU 26.3 %",
        "numerator    12.35 GB in 14 ms: given as a number",
        "denominator  1 × 3.35 TB/s: NVIDIA H100 SXM5 80GB, HBM, bandwidth (NVIDIA H100 datasheet and product page)",
        "per chip     882 GB/s",
    ]
    source = Source("A title that is longer than a line has room for, so that its end is cut off after 80 letters", "x")
    long = rw.Chip("card", {"bf16": 1.23456e14}, {"HBM": 1e12}, sources={"peak_flops.bf16": source})
    assert rw.mfu(1, 1, long).denominator == (
        "1 × 123.5 TFLOP/s: card, bf16, dense "
        "(A title that is longer than a line has room for, so that its end is cut off aft…)"
    )


def test_one_flop_is_a_whole_number_too() -> None:
    assert repr(rw.mfu(1, 1, CHIP)).splitlines()[1] == "numerator    1 FLOP in 1 s: given as a number"
    assert isinstance(rw.mfu(1, 1, CHIP).amount, int)
    assert isinstance(rw.mfu(1.5, 1, CHIP).amount, float)


def test_the_text_of_counted_flops_has_their_terms() -> None:
    assert repr(rw.model_flops(1e9, tokens=1000, recompute="full")).splitlines() == [
        "ModelFlops: 6ND without attention; forward and backward, 1,000 tokens",
        "term                                  FLOPs",
        "parameters forward   2,000,000,000,000 FLOP",
        "parameters backward  4,000,000,000,000 FLOP",
        "parameters again     2,000,000,000,000 FLOP",
        "model FLOPs          6,000,000,000,000 FLOP",
        "hardware FLOPs       8,000,000,000,000 FLOP",
    ]
    by_hand = ModelFlops(2.34567e9, 2.34567e9, 1.5e6, "by hand")
    assert repr(by_hand).splitlines() == [
        "ModelFlops: by hand, 1.5 Mtokens",
        "term               FLOPs",
        "model FLOPs  2.346 GFLOP",
    ]
    assert repr(rw.model_flops(1e9, tokens=1)).splitlines()[0].endswith(", 1 token")


def test_the_html_has_the_same_rows_and_no_markup_of_a_name() -> None:
    html = rw.mfu(1e12, 1, rw.Chip("<b>", {"bf16": 1e14}, {"HBM": 1e12}))._repr_html_()
    assert html == (
        '<table><caption>MFU 1 %</caption><tbody><tr><th scope="row">numerator</th>'
        '<td>1 TFLOP in 1 s: given as a number</td></tr><tr><th scope="row">denominator</th>'
        "<td>1 × 100 TFLOP/s: &lt;b&gt;, bf16, dense (no source stated)</td></tr>"
        '<tr><th scope="row">per chip</th><td>1 TFLOP/s</td></tr></tbody></table>'
    )


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
    assert [rw.mfu(share * 100e12, 1, CHIP).above_peak for share in (1, 1 + 1e-9, 1 + 2e-9)] == [False, False, True]


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
        (
            {"flops": rw.model_flops(1e9, 1), "convention": "x"},
            TypeError,
            "^mfu: a ModelFlops contains its convention; give convention only with a number of FLOPs$",
        ),
        ({"time": "1 B"}, ValueError, "^time: 'B' is not a unit of s"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rw.mfu(**{"flops": 1, "time": 1, "chip": CHIP, **given})


def test_negative_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="bytes must be a finite number above zero"):
        rw.mbu(-1, 1, CHIP)
