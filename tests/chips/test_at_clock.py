"""`Chip.at_clock`: the chip at another clock, as a what-if."""

from __future__ import annotations

import pytest

import roofwidget as rw
from roofwidget.chips import Ceiling, Chip, Memory, MissingFigureError, chip, chips

MINE = Chip(
    "Mine",
    {"bf16": 1e15, "fp32": 6e13},
    {
        "HBM": Memory("HBM", 3e12, latency=350e-9),
        "LPDDR5X": 5e11,
        "L2": Memory("L2", None, 5e7, latency=150e-9),
        "L1": 3e13,
    },
    links={"NVLink": 450e9},
    clock="2 GHz",
    power="700 W",
    ceilings=[Ceiling("STREAM", 2.9e12, memory="HBM", measured=True), Ceiling("my matmul", 8e14, measured=True)],
)


def test_peaks_and_memories_on_the_chip_scale_with_the_clock_and_all_else_stays() -> None:
    half = MINE.at_clock("1 GHz")
    assert dict(half.peak_flops) == {"bf16": 5e14, "fp32": 3e13}
    assert (half.bandwidth(), half.bandwidth("LPDDR5X"), half.bandwidth("L1")) == (3e12, 5e11, 1.5e13)
    assert half.memories["L2"].bandwidth is None
    assert (half.link_bandwidth(), half.power, half.clock) == (450e9, 700, 1e9)
    assert half.ridge_point() == MINE.ridge_point() / 2
    assert (half.name, half.id) == ("Mine at 1 GHz", "mine-at-1-ghz")


def test_latencies_on_the_chip_are_those_of_as_many_cycles() -> None:
    half = MINE.at_clock(1e9)
    assert (half.memories["HBM"].latency, half.memories["L2"].latency) == (350e-9, 300e-9)


def test_the_roofs_of_the_data_sheet_stay_as_ceilings_and_measured_ones_of_another_clock_do_not() -> None:
    assert [(one.key, one.rate) for one in MINE.at_clock(1e9).ceilings] == [
        ("STREAM HBM", 2.9e12),
        *[("data sheet bf16", 1e15), ("data sheet fp32", 6e13), ("data sheet L1", 3e13)],
    ]


def test_each_scaled_figure_says_that_it_is_derived_and_the_first_note_what_was_scaled() -> None:
    sheet = chip("h100-sxm")
    capped = sheet.at_clock("1.2 GHz")
    assert capped.sources["peak_flops.bf16"].title == "as at 1.98 GHz, scaled to 1.2 GHz"
    assert capped.sources["peak_flops.bf16"].confidence == "derived"
    assert capped.sources["memories.HBM.bandwidth"] == sheet.sources["memories.HBM.bandwidth"]
    assert capped.notes[0].startswith(
        "A what-if at 1.2 GHz: peaks and L2, L1 are those at 1.98 GHz, scaled. HBM and links"
    )
    assert capped.status == "given"


def test_at_its_own_clock_a_chip_has_its_own_rates() -> None:
    for one in chips():
        if one.clock is not None:
            same = one.at_clock(one.clock)
            assert dict(same.peak_flops) == dict(one.peak_flops), one.id
            assert {key: level.bandwidth for key, level in same.memories.items()} == {
                key: level.bandwidth for key, level in one.memories.items()
            }


def test_a_lower_clock_judges_kernels_by_a_lower_roof() -> None:
    kernels = [("matmul", 1e12, 1e8, 2e-3)]
    assert rw.bound(kernels, MINE.at_clock(1e9)).utilization[0] == 2 * rw.bound(kernels, MINE).utilization[0]


def test_a_chip_without_a_clock_and_a_wrong_clock_are_refused() -> None:
    with pytest.raises(MissingFigureError, match=r"Plain has no clock, .* chip\.replace\(clock='1\.98 GHz'\)"):
        Chip("Plain", {"bf16": 1e15}, {"HBM": 3e12}).at_clock(1e9)
    for wrong in (0, -1.0, "fast", None):
        with pytest.raises((TypeError, ValueError), match="at_clock of chip 'Mine'"):
            MINE.at_clock(wrong)  # type: ignore[arg-type]
