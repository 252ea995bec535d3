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


def test_memories_on_the_chip_have_latencies_of_as_many_cycles_at_another_clock() -> None:
    levels = {
        name: rw.Memory(name, memory.bandwidth, latency=seconds)
        for (name, memory), seconds in zip(CHIP.memories.items(), (600e-9, 20e-9, 800e-9), strict=True)
    }
    chip = rw.Chip("Example", CHIP.peak_flops, levels, clock="1.98 GHz")
    model = rw.RooflineModel([chip])

    def latencies() -> list[float | None]:
        return [memory.latency for memory in model.resolved_chip().memories.values()]

    model.use_clock("0.99 GHz")
    assert latencies() == [600e-9, pytest.approx(40e-9), 800e-9]
    capped = chip.at_clock("0.99 GHz")
    assert latencies() == [memory.latency for memory in capped.memories.values()]
    # A change of the main memory is no change of the clock; one of a single peak is no clock of all rates.
    model.set_what_if(bandwidth="2 TB/s")
    assert latencies()[1] == pytest.approx(40e-9)
    model.set_what_if(peak_flops="400 TFLOP/s", precision="bf16")
    assert latencies() == [600e-9, 20e-9, 800e-9]
    model.use_clock(None)
    assert latencies() == [600e-9, 20e-9, 800e-9]


@pytest.mark.parametrize(("bandwidth", "seconds"), [(33e12, 40e-9), (None, 20e-9)])
def test_a_change_of_the_only_rate_of_a_chip_is_no_other_clock(bandwidth: float | None, seconds: float) -> None:
    levels = {"HBM": 3e12, "L1": rw.Memory("L1", bandwidth, latency=20e-9)}
    model = rw.RooflineModel([rw.Chip("Alone", {"bf16": 1e15}, levels, clock="2 GHz")])
    model.use_clock("1 GHz")
    assert model.resolved_chip().memories["L1"].latency == pytest.approx(seconds)


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
