"""Every table and figure of the TPU guide, digit for digit, and where the course shows it.

Texts are made with the guide's own format strings, which work in TFLOPS and TB/s.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import roofwidget as rw
from tests.places import ROOT, golden, json_of, text_of

PRINTED: dict[str, Any] = golden("guide.json")

# The tables and figures in the order of the guide, each with the lesson that shows it and words of that lesson.
SHOWN = {
    "setup, table": ("10_buying_hardware", "Four TPU configurations"),
    "1, table": ("01_first_roofline", "memory-bound"),
    "2, figure": ("01_first_roofline", "ridge point"),
    "3, figure": ("10_buying_hardware", "Four TPU configurations"),
    "3, table": ("10_buying_hardware", "Four TPU configurations, four kernels"),
    "4, table of what counts": ("02_arithmetic_intensity", "It depends on how one counts"),
    "4, table of square products": ("02_arithmetic_intensity", "(64, 256, 1024, 4096, 16384)"),
    "4, figure of sizes": ("10_buying_hardware", "size_sweep"),
    "4, figure of fusion": ("03_fusion", "32 * 2048 * 4096"),
    "4, table of fusion": ("03_fusion", "[[0], [1], [2], [3]], [[0, 1], [2, 3]], [[0, 1, 2, 3]]"),
    "5, table": ("02_arithmetic_intensity", "accumulator_bytes"),
    "6, table": ("06_misconceptions", "low-share-of-peak"),
    "6, figure of four gaps": ("06_misconceptions", 'placed("Kernel A", 2, 0.92)'),
    "6, figure of two kernels": ("06_misconceptions", 'placed("matmul", 500, 0.25)'),
    "7, figure of two levels": ("07_what_rooflines_cannot_tell", "tpu-roofline-guide-vmem"),
    "7, figure of communication": ("07_what_rooflines_cannot_tell", "exposed_roofs=[0.2, 0.4, 0.6]"),
    "8, table": ("06_misconceptions", "rw.advise"),
}
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


def rows_of_the_index() -> list[list[str]]:
    text = text_of(ROOT / "docs/teaching.md").partition("\n## Where the TPU guide is\n")[2]
    rows = [line.strip("| ").split(" | ") for line in text.partition("\n## ")[0].splitlines() if line.startswith("|")]
    return rows[2:]


def test_the_index_has_every_table_and_figure_in_order() -> None:
    assert [row[0] for row in rows_of_the_index()] == list(SHOWN)


@pytest.mark.parametrize("row", rows_of_the_index(), ids=lambda row: row[0])
def test_the_lesson_of_the_index_shows_it(row: list[str]) -> None:
    lesson, words = SHOWN[row[0]]
    (target,) = re.findall(r"\]\(\.\./(notebooks/\w+\.ipynb)\)", row[2])
    assert target == f"notebooks/{lesson}.ipynb"
    cells = json_of(ROOT / target)["cells"]
    assert words in "\n".join("".join(cell["source"]) for cell in cells)


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


def test_the_first_figure_shows_a_slope_a_peak_and_their_ridge_point(chips: dict[str, rw.Chip]) -> None:
    chip = chips["v7x (bf16)"]
    assert f"Memory BW ceiling ({chip.bandwidth() / TERA} TB/s)" == "Memory BW ceiling (7.2 TB/s)"
    assert f"Compute ceiling ({chip.peak() / TERA:.0f} TFLOPS)" == "Compute ceiling (2307 TFLOPS)"
    assert f"{chip.ridge_point():.0f} FLOP/Byte" == "320 FLOP/Byte"
    # "Lots of data movement per FLOP" and "lots of math per byte".
    sides = [rw.Kernel("left", 1e12, 1e12 / 320), rw.Kernel("right", 1e12, 1e12 / 321)]
    assert rw.bound(sides, chip).regime.tolist() == ["memory", "compute"]


@pytest.mark.parametrize(("name", "ridge"), [("v7x (fp8)", 641), ("v7x (bf16)", 320), ("v6e", 574), ("v5p", 166)])
def test_the_figure_of_four_chips_has_these_ridge_points_in_its_legend(
    chips: dict[str, rw.Chip], name: str, ridge: int
) -> None:
    assert f"{name} (Ridge: {chips[name].ridge_point():.0f})" == f"{name} (Ridge: {ridge})"


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


def test_a_multiply_add_is_two_flops_and_bytes_are_those_of_the_main_memory() -> None:
    graph = rw.Graph("square")
    graph.output(graph.matmul(graph.input("A", (600, 600), "bf16"), graph.input("B", (600, 600), "bf16")))
    assert (graph.count("flops"), graph.count("bytes")) == (2 * 600**3, 3 * 600**2 * BF16_BYTES)
    # Some tools count a fused multiply-add as one operation.
    assert graph.with_convention("mac").count("flops") == 600**3


@pytest.mark.parametrize(("n", "printed"), [(100, "33"), (1000, "333")])
def test_squares_of_100_and_1000_have_the_intensities_of_the_text(n: int, printed: str) -> None:
    assert f"{rw.Kernel('square', 2 * n**3, 3 * n * n * BF16_BYTES).arithmetic_intensity:.0f}" == printed


def test_fusing_a_chain_of_four_moves_it_up_the_slope() -> None:
    elements, flops = 268_435_456, 20
    kernels = [(f"{n} kernels", flops * elements, n * 2 * elements * BF16_BYTES) for n in (4, 2, 1)]
    bound = rw.bound(kernels, rw.preset("tpu-roofline-guide").chips[1])
    assert [f"{moved / 1e9:.2f}" for moved in bound.bytes["HBM"]] == ["4.29", "2.15", "1.07"]
    # Python and the guide both round 1.25 to even.
    assert [f"{ai:.1f}" for ai in bound.ai["HBM"]] == ["1.2", "2.5", "5.0"]
    assert [f"{rate / TERA:.1f}" for rate in bound.attainable] == ["9.0", "18.0", "36.0"]
    assert [f"{rate / TERA:.0f}T" for rate in bound.attainable] == ["9T", "18T", "36T"]
    assert [f"{speedup:.1f}x" for speedup in bound.attainable / bound.attainable[0]] == ["1.0x", "2.0x", "4.0x"]
    assert set(bound.regime) == {"memory"}


def test_a_graph_of_the_chain_has_the_same_counts() -> None:
    chain = rw.chain([("LayerNorm", 10), ("GELU", 8), ("Dropout", 1), ("Add", 1)], elements=32 * 2048 * 4096)
    assert f"{32 * 2048 * 4096:,}" == "268,435,456"
    groups: list[list[list[int]]] = [[[0], [1], [2], [3]], [[0, 1], [2, 3]], [[0, 1, 2, 3]]]
    fused = [rw.Partition(chain, one) for one in groups]
    assert [f"{exact(one.total_bytes()) / 1e9:.2f} GB" for one in fused] == ["4.29 GB", "2.15 GB", "1.07 GB"]
    assert [f"{exact(one.total_flops()) / exact(one.total_bytes()):.1f}" for one in fused] == ["1.2", "2.5", "5.0"]


@pytest.mark.parametrize(
    ("dtype", "accumulator", "flops", "moved", "intensity"),
    [("bf16", 4, "17,179,869,184", "41,943,040", "409.6"), ("fp8", 2, "17,179,869,184", "20,971,520", "819.2")],
)
def test_a_product_of_2048_has_the_counts_of_the_table_with_its_accumulator(
    dtype: str, accumulator: int, flops: str, moved: str, intensity: str
) -> None:
    graph = rw.Graph("product")
    graph.output(graph.matmul(graph.input("A", (2048, 2048), dtype), graph.input("B", (2048, 2048), dtype)))
    counted = graph.with_convention(rw.Convention(dtype, accumulator_bytes=accumulator))
    assert [f"{counted.count(what):,}" for what in ("flops", "bytes")] == [flops, moved]
    kernel = rw.Partition.unfused(counted)
    assert f"{exact(kernel.total_flops()) / exact(kernel.total_bytes()):.1f}" == intensity


def exact(count: object) -> int:
    """Return a count of a graph without open sizes."""
    assert isinstance(count, int)
    return count


def at(chip: rw.Chip, name: str, intensity: float, share: float) -> rw.Kernel:
    """Return a kernel at an intensity and at a share of its roof."""
    rate = float(rw.attainable(intensity, chip.peak(), chip.bandwidth())) * share
    return rw.Kernel(name, 1e12, 1e12 / intensity, 1e12 / rate)


def test_four_measured_kernels_are_at_the_printed_shares_of_their_roofs(chips: dict[str, rw.Chip]) -> None:
    chip = chips["v7x (bf16)"]
    points = [("Kernel A", 2.0, 0.92), ("Kernel B", 12, 0.55), ("Kernel C", 150, 0.35), ("Kernel D", 2000, 0.78)]
    bound = rw.bound([at(chip, *point) for point in points], chip)
    assert [f"{share:.0%} of roof" for share in bound.utilization] == [
        "92% of roof",
        "55% of roof",
        "35% of roof",
        "78% of roof",
    ]
    assert bound.regime.tolist() == ["memory", "memory", "memory", "compute"]


def test_the_kernel_with_the_higher_rate_is_the_one_with_more_to_gain(chips: dict[str, rw.Chip]) -> None:
    chip = chips["v7x (bf16)"]
    bound = rw.bound([at(chip, "Elementwise op", 5.0, 0.92), at(chip, "MatMul kernel", 500, 0.25)], chip)
    assert [f"{share:.0%}" for share in bound.utilization] == ["92%", "25%"]
    assert [f"{1 - share:.0%} gap" for share in bound.utilization] == ["8% gap", "75% gap"]
    assert bound.regime.tolist() == ["memory", "compute"]
    assert bound.achieved[0] < bound.achieved[1]


def test_the_on_chip_memory_turns_at_15_flops_a_byte_and_the_hbm_at_320() -> None:
    peak, (hbm, vmem) = 2307e12, (7.2e12, 150e12)
    chip = rw.Chip("v7x (bf16)", {"bf16": peak}, {"HBM": hbm, "VMEM": vmem})
    assert [f"{chip.ridge_point(memory=level):.2f}" for level in chip.memories] == ["320.42", "15.38"]
    assert rw.ridge_point(peak, [hbm, vmem]).round(1).tolist() == [320.4, 15.4]


def test_the_well_tiled_kernel_is_3_5_times_above_the_roof_of_hbm() -> None:
    shown = rw.preset("tpu-roofline-guide-vmem")
    bound = rw.bound(shown.kernels, shown.chips[0], memory="HBM")
    assert f"{bound.ai['HBM'][0]:.0f}" == "50"
    assert f"HBM prediction: {bound.attainable[0] / TERA:.0f}T" == "HBM prediction: 360T"
    assert f"{bound.achieved[0] / TERA:.0f}T (above HBM roof!)" == "1260T (above HBM roof!)"
    assert f"{bound.roof_fraction[0]:.1f}" == "3.5"
    assert bound.above_roof[0]


@pytest.mark.parametrize(("share", "roof"), [(0.2, "1845.6"), (0.4, "1384.2"), (0.6, "922.8")])
def test_exposed_communication_lowers_the_flat_roof_as_printed(
    guide: rw.Preset, chips: dict[str, rw.Chip], share: float, roof: str
) -> None:
    bound = rw.bound(guide.kernels, chips["v7x (bf16)"], exposed_comm=share)
    plain = rw.bound(guide.kernels, chips["v7x (bf16)"])
    assert f"{bound.attainable.max() / TERA:.1f}" == roof
    assert bound.attainable == pytest.approx((1 - share) * plain.attainable)
    assert bound.bound_by.tolist() == plain.bound_by.tolist()


@pytest.mark.parametrize(
    ("intensity", "share", "situation"),
    [
        (5, 0.5, "memory-bound, below its roof"),
        (5, 0.95, "memory-bound, close"),
        (500, 0.5, "compute-bound, below its roof"),
        (500, 0.95, "compute-bound, close"),
        (50, 0.02, "way below both"),
    ],
)
def test_each_row_of_the_table_of_what_to_try_is_a_situation_of_the_advice(
    chips: dict[str, rw.Chip], intensity: float, share: float, situation: str
) -> None:
    chip = chips["v7x (bf16)"]
    (advice,) = rw.advise(rw.bound([at(chip, "kernel", intensity, share)], chip))
    assert advice.situation == situation


def cell(rate: float, share: float, bound: str) -> str:
    """Return the text of the guide's table; the guide centres it in its column."""
    return f"{rate:>5.0f}T ({share * 100:>3.0f}%) {bound}".strip()
