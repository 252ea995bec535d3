"""The guide's preset: every ridge point and every cell of its table of operations, digit for digit.

Texts are made with the guide's own format strings, which work in TFLOPS and TB/s.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw

PRINTED: dict[str, Any] = json.loads((Path(__file__).parent / "golden/guide.json").read_text(encoding="utf-8"))
TERA = 1e12
MEMORY, COMPUTE = "MEM", "COMP"


@pytest.fixture
def guide() -> rw.Preset:
    return rw.preset("tpu-roofline-guide")


@pytest.fixture
def chips(guide: rw.Preset) -> dict[str, rw.Chip]:
    return {chip.name: chip for chip in guide.chips}


def test_the_preset_has_the_guides_chips_and_operations_in_its_order(guide: rw.Preset) -> None:
    assert [chip.name for chip in guide.chips] == [row["name"] for row in PRINTED["hardware"]]
    assert [kernel.name for kernel in guide.kernels] == [row["name"] for row in PRINTED["operations"]]


@pytest.mark.parametrize("row", PRINTED["hardware"], ids=lambda row: row["name"])
def test_peaks_and_bandwidths_are_the_printed_ones(chips: dict[str, rw.Chip], row: dict[str, str]) -> None:
    chip = chips[row["name"]]
    assert chip.peak() == float(row["peak"]) * TERA
    assert chip.bandwidth() == pytest.approx(float(row["bandwidth"]) * TERA, rel=1e-15)


@pytest.mark.parametrize("row", PRINTED["hardware"], ids=lambda row: row["name"])
def test_ridge_points_are_the_printed_ones(chips: dict[str, rw.Chip], row: dict[str, str]) -> None:
    chip = chips[row["name"]]
    assert f"{chip.ridge_point():.1f}" == row["ridge"]
    assert f"{rw.ridge_point(chip.peak(), chip.bandwidth()):.1f}" == row["ridge"]


@pytest.mark.parametrize("row", PRINTED["operations"], ids=lambda row: row["name"])
def test_intensities_are_the_printed_ones(guide: rw.Preset, row: dict[str, Any]) -> None:
    intensity = dict(zip(guide.kernels.names, guide.kernels.arithmetic_intensity, strict=True))[row["name"]]
    assert f"{intensity:.1f}" == row["ai"]


@pytest.mark.parametrize("row", PRINTED["operations"], ids=lambda row: row["name"])
def test_attainable_makes_the_printed_cells(guide: rw.Preset, chips: dict[str, rw.Chip], row: dict[str, Any]) -> None:
    intensity = dict(zip(guide.kernels.names, guide.kernels.arithmetic_intensity, strict=True))[row["name"]]
    assert list(row["cells"]) == list(chips)
    for name, chip in chips.items():
        rate = float(rw.attainable(intensity, chip.peak(), chip.bandwidth()))
        regime = MEMORY if intensity < chip.ridge_point() else COMPUTE
        assert cell(rate / TERA, rate / chip.peak(), regime) == row["cells"][name]


@pytest.mark.parametrize("chip_name", [row["name"] for row in PRINTED["hardware"]])
def test_bound_makes_the_printed_cells(guide: rw.Preset, chips: dict[str, rw.Chip], chip_name: str) -> None:
    bound = rw.bound(guide.kernels, chips[chip_name])
    words = [MEMORY if regime == "memory" else COMPUTE for regime in bound.regime]
    cells = map(cell, bound.attainable / TERA, bound.attainable_fraction, words)
    assert list(cells) == [row["cells"][chip_name] for row in PRINTED["operations"]]
    assert [by == "HBM" for by in bound.bound_by] == [word == MEMORY for word in words]


@pytest.mark.parametrize("row", PRINTED["sizes"], ids=lambda row: row["name"])
def test_the_printed_sizes_are_three_times_the_ridge_point_cut_to_an_integer(
    chips: dict[str, rw.Chip], row: dict[str, Any]
) -> None:
    assert int(chips[row["name"]].ridge_point() * 3) == row["size"]


@pytest.mark.parametrize("row", PRINTED["sizes"], ids=lambda row: row["name"])
def test_a_matrix_of_the_printed_size_is_memory_bound_and_the_next_one_compute_bound(
    chips: dict[str, rw.Chip], row: dict[str, Any]
) -> None:
    sizes = (row["size"], row["size"] + 1)
    kernels = [rw.Kernel(f"{n} x {n}", 2 * n**3, 3 * n * n * 2) for n in sizes]
    assert rw.bound(kernels, chips[row["name"]]).regime.tolist() == ["memory", "compute"]


def cell(rate: float, share: float, bound: str) -> str:
    """Write as the guide does; it centres the result in its column."""
    return f"{rate:>5.0f}T ({share * 100:>3.0f}%) {bound}".strip()
