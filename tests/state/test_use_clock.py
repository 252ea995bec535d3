"""`use_clock`: a chip at another clock as what-ifs, and back."""

from __future__ import annotations

import pytest

import roofwidget as rw

CHIP = rw.Chip(
    "Example",
    {"bf16": "990 TFLOP/s", "fp8": "1980 TFLOP/s"},
    {"HBM": "3 TB/s", "L1": "33 TB/s", "LPDDR5X": "500 GB/s"},
    clock="1.98 GHz",
)


def test_the_rates_of_another_clock_are_those_of_at_clock() -> None:
    model = rw.RooflineModel([CHIP])
    model.use_clock("0.99 GHz")
    assert model.what_if["example"] == {"peak_flops": {"bf16": 495e12, "fp8": 990e12}, "bandwidth": {"L1": 16.5e12}}
    capped = CHIP.at_clock("0.99 GHz")
    now = model.resolved_chip()
    assert dict(now.peak_flops) == dict(capped.peak_flops)
    assert [now.bandwidth(level) for level in CHIP.memories] == [capped.bandwidth(level) for level in CHIP.memories]


def test_without_a_clock_the_data_sheet_is_back_and_other_what_ifs_stay() -> None:
    model = rw.RooflineModel([CHIP, "h100-sxm"])
    model.set_what_if(bandwidth="2 TB/s")
    model.use_clock("1.2 GHz", chip="h100-sxm")
    model.use_clock("1.2 GHz")
    model.use_clock(None)
    assert dict(model.what_if["example"]) == {"bandwidth": {"HBM": 2e12}}
    assert "peak_flops" in model.what_if["h100-sxm"]
    model.use_clock(1.98e9, chip="h100-sxm")
    assert "h100-sxm" not in model.what_if


def test_a_chip_without_a_clock_is_refused_and_nothing_changes() -> None:
    model = rw.RooflineModel([rw.Chip("Bare", {"bf16": 1e14}, {"HBM": 1e12})])
    with pytest.raises(rw.MissingFigureError, match="Bare has no clock"):
        model.use_clock("1.2 GHz")
    assert model.what_if == {}
