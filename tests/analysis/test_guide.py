"""The guide's preset: ridge points, its table of operations and the numbers of its sections 3 to 7, digit for digit.

Texts are made with the guide's own format strings, which work in TFLOPS and TB/s.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw

PRINTED: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/guide.json").read_text(encoding="utf-8"))
TERA = 1e12
MEMORY, COMPUTE = "MEM", "COMP"
BF16_BYTES = 2
# "Square MatMul AI (bf16, dtype=2 bytes)": N, FLOPs, bytes, FLOPs per byte.
SQUARE = """
64    | 524,288           | 24,576        | 21.3
256   | 33,554,432        | 393,216       | 85.3
1024  | 2,147,483,648     | 6,291,456     | 341.3
4096  | 137,438,953,472   | 100,663,296   | 1365.3
16384 | 8,796,093,022,208 | 1,610,612,736 | 5461.3
"""


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


@pytest.mark.parametrize("line", SQUARE.strip().splitlines(), ids=lambda line: line.split()[0])
def test_square_matrices_have_the_printed_flops_bytes_and_intensities(chips: dict[str, rw.Chip], line: str) -> None:
    size, flops, moved, intensity = (cell.strip() for cell in line.split("|"))
    n = int(size)
    bound = rw.bound(rw.Kernel(f"{n} x {n}", 2 * n**3, 3 * n * n * BF16_BYTES), chips["v7x (bf16)"])
    assert [f"{bound.flops[0]:,.0f}", f"{bound.bytes['HBM'][0]:,.0f}"] == [flops, moved]
    assert f"{bound.ai['HBM'][0]:.1f}" == f"{n / 3:.1f}" == intensity


def test_layer_norm_at_half_a_percent_of_the_peak_uses_all_the_bandwidth(guide: rw.Preset) -> None:
    (layer_norm,) = (kernel for kernel in guide.kernels if kernel.name == "LayerNorm")
    chip = guide.chips[1]
    attainable = rw.bound(layer_norm, chip)
    assert f"{attainable.ai['HBM'][0]:.3f}" == "1.667"
    # As in the guide: the kernel runs at its roof.
    bound = rw.bound(rw.Kernel("LayerNorm", layer_norm.flops, layer_norm.bytes, time=float(attainable.time[0])), chip)
    assert f"{bound.achieved[0] / TERA:.1f}" == "12.0"
    assert f"{bound.peak_fraction[0] * 100:.1f}" == "0.5"
    assert f"{bound.bandwidth_utilization['HBM'][0] * 100:.0f}" == "100"
    assert (bound.regime[0], bound.above_roof[0]) == ("memory", False)


def test_fusing_a_chain_of_four_moves_it_up_the_slope() -> None:
    elements, flops = 268_435_456, 20
    kernels = [(f"{n} kernels", flops * elements, n * 2 * elements * BF16_BYTES) for n in (4, 2, 1)]
    bound = rw.bound(kernels, rw.preset("tpu-roofline-guide").chips[1])
    assert [f"{moved / 1e9:.2f}" for moved in bound.bytes["HBM"]] == ["4.29", "2.15", "1.07"]
    # Python and the guide both round 1.25 to even.
    assert [f"{ai:.1f}" for ai in bound.ai["HBM"]] == ["1.2", "2.5", "5.0"]
    assert [f"{rate / TERA:.1f}" for rate in bound.attainable] == ["9.0", "18.0", "36.0"]


def test_the_on_chip_memory_turns_at_15_flops_a_byte_and_the_hbm_at_320() -> None:
    peak, (hbm, vmem) = 2307e12, (7.2e12, 150e12)
    chip = rw.Chip("v7x (bf16)", {"bf16": peak}, {"HBM": hbm, "VMEM": vmem})
    assert [f"{chip.ridge_point(memory=level):.2f}" for level in chip.memories] == ["320.42", "15.38"]
    assert rw.ridge_point(peak, [hbm, vmem]).round(1).tolist() == [320.4, 15.4]


@pytest.mark.parametrize(("share", "roof"), [(0.2, "1845.6"), (0.4, "1384.2"), (0.6, "922.8")])
def test_exposed_communication_lowers_the_flat_roof_as_printed(
    guide: rw.Preset, chips: dict[str, rw.Chip], share: float, roof: str
) -> None:
    bound = rw.bound(guide.kernels, chips["v7x (bf16)"], exposed_comm=share)
    plain = rw.bound(guide.kernels, chips["v7x (bf16)"])
    assert f"{bound.attainable.max() / TERA:.1f}" == roof
    assert bound.attainable == pytest.approx((1 - share) * plain.attainable)
    assert bound.bound_by.tolist() == plain.bound_by.tolist()


def cell(rate: float, share: float, bound: str) -> str:
    """Return the text of the guide's table; the guide centres it in its column."""
    return f"{rate:>5.0f}T ({share * 100:>3.0f}%) {bound}".strip()
