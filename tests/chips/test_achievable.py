"""`Chip.achievable`: measured rates as peaks and bandwidths."""

from __future__ import annotations

import pytest

from roofwidget.chips import Ceiling, Chip, MissingFigureError, Source, chip, chips

MINE = Source("My bench", "https://example.org", "measured")


def test_measured_rates_become_peaks_and_bandwidths_and_all_else_stays() -> None:
    sheet, real = chip("mi300x"), chip("mi300x").achievable()
    assert (real.peak("bf16"), real.bandwidth(), real.bandwidth("L1")) == (668.4e12, 4.199e12, 39.3e12)
    assert (real.peak("fp16"), real.bandwidth("LDS")) == (sheet.peak("fp16"), sheet.bandwidth("LDS"))
    assert (real.id, real.name, real.status) == ("mi300x-achievable", "AMD Instinct MI300X (achievable)", sheet.status)
    assert real.memories["HBM"].capacity == sheet.memories["HBM"].capacity
    assert real.ridge_point() == pytest.approx(668.4 / 4.199)


def test_the_first_note_names_what_is_measured_and_what_is_not() -> None:
    assert chip("h100-sxm").achievable().notes[0] == (
        "Measured: bf16, fp8, HBM. As in the data sheet: fp64, fp64_tensor, fp32, tf32, fp16, int8, fp16_vector, "
        "bf16_vector, L1."
    )


def test_an_achievable_figure_has_the_source_of_its_measurement() -> None:
    real = chip("h100-sxm").achievable()
    assert "matmul 2048x2048x13312" in real.sources["peak_flops.bf16"].title
    assert real.sources["peak_flops.fp16"] == chip("h100-sxm").sources["peak_flops.fp16"]


def test_the_figures_of_the_data_sheet_become_ceilings_with_their_source() -> None:
    sheet, real = chip("h100-sxm"), chip("h100-sxm").achievable()
    assert {(one.key, one.rate, one.measured) for one in real.ceilings} == {
        ("data sheet bf16", 989.5e12, False),
        ("data sheet fp8", 1979e12, False),
        ("data sheet HBM", 3.35e12, False),
    }
    assert {one.source for one in real.ceilings} == {
        sheet.sources[key] for key in ("peak_flops.bf16", "peak_flops.fp8", "memories.HBM.bandwidth")
    }


def test_the_fastest_of_several_measurements_counts() -> None:
    ceilings = [
        Ceiling("STREAM", 2.9e12, memory="HBM", measured=True, source=MINE),
        Ceiling("copy", 2.5e12, memory="HBM", measured=True),
        Ceiling("no FMA", 4e14),
        Ceiling("my matmul", 7e14, measured=True),
    ]
    mine = Chip("Mine", {"bf16": 1e15, "fp16": 1e15}, {"HBM": 3e12}, ceilings=ceilings)
    real = mine.achievable()
    assert (real.bandwidth(), real.peak("bf16"), real.peak("fp16")) == (2.9e12, 7e14, 1e15)
    assert real.sources == {"memories.HBM.bandwidth": MINE}
    assert [one.key for one in real.ceilings] == ["no FMA", "data sheet bf16", "data sheet HBM"]


def test_a_chip_without_a_measured_rate_has_no_achievable_one() -> None:
    with pytest.raises(MissingFigureError, match="TPU v5p has no measured peak or bandwidth; with_measured adds yours"):
        chip("v5p").achievable()


def test_every_chip_with_a_measured_rate_can_be_had_achievable_and_goes_through_a_dict() -> None:
    measured = [one for one in chips() if any(ceiling.measured for ceiling in one.ceilings)]
    assert {"h100-sxm", "h200-sxm", "b200", "mi300x", "mi355x", "a100-sxm-80gb", "rtx-4090", "tpu-v6e"} <= {
        one.id for one in measured
    }
    for one in measured:
        real = one.achievable()
        assert Chip.from_dict(real.to_dict()) == real
