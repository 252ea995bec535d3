"""Published tables: those of the TPU guide and of Williams, Waterman and Patterson, exactly as printed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from roofwidget.kernels.presets import preset, presets
from tests.places import text_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = Path(__file__).parents[3] / "shared/data/chips.toml"


def test_the_guide_is_a_preset_exactly_as_printed() -> None:
    assert presets() == ("tpu-roofline-guide", "tpu-roofline-guide-vmem", "williams-2009")
    guide = preset("TPU-roofline-guide")
    rows = [(c.id, c.name, c.default_precision, c.peak(), c.bandwidth("HBM")) for c in guide.chips]
    assert rows == [
        ("v7x-fp8", "v7x (fp8)", "fp8", 4614e12, 7.2e12),
        ("v7x-bf16", "v7x (bf16)", "bf16", 2307e12, 7.2e12),
        ("v6e", "v6e", "bf16", 918e12, 1.6e12),
        ("v5p", "v5p", "bf16", 459e12, 2.76e12),
    ]
    assert {(c.vendor, c.family) for c in guide.chips} == {("Google", "TPU")}
    generation = {c.id: c.generation for c in guide.chips}
    assert generation["v5p"] < generation["v6e"] < generation["v7x-bf16"] == generation["v7x-fp8"]


def test_the_ridge_points_of_the_guide_are_those_it_prints() -> None:
    printed = [f"{one.ridge_point():.1f}" for one in preset("tpu-roofline-guide").chips]
    assert printed == ["640.8", "320.4", "573.8", "166.3"]


def test_the_kernels_of_the_guide_are_exact_and_have_the_intensities_it_prints() -> None:
    kernels = preset("tpu-roofline-guide").kernels
    rows = [(kernel.name, kernel.flops, kernel.bytes, f"{kernel.arithmetic_intensity:.1f}") for kernel in kernels]
    assert rows == [
        ("LayerNorm", 2_684_354_560, 1_610_629_120, "1.7"),
        ("Attention QK^T", 536_870_912, 4_980_736, "107.8"),
        ("MatMul 600x600", 432_000_000, 2_160_000, "200.0"),
        ("FFN Up Proj", 8_796_093_022_208, 2_818_572_288, "3120.8"),
    ]


def test_every_figure_of_the_guide_names_the_guide() -> None:
    guide = preset("tpu-roofline-guide")
    assert guide.title == guide.source.title == "Roofline Analysis: A Practical Guide"
    for one in guide.chips:
        assert dict(one.sources) == {
            f"peak_flops.{one.default_precision}": guide.source,
            "memories.HBM.bandwidth": guide.source,
        }


def test_the_guide_is_the_table_of_the_data_file() -> None:
    if not DATA.exists():
        pytest.skip("the file that the catalogue was made from is not here")
    data = tomllib.loads(text_of(DATA))
    original = next(entry for entry in data["presets"] if entry["id"] == "tpu-roofline-guide")
    expected = [(e["name"], e["precision"], e["compute_flops"], e["bandwidth"]) for e in original["entries"]]
    found = [(c.name, c.default_precision, c.peak(), c.bandwidth()) for c in preset("tpu-roofline-guide").chips]
    assert found == expected


def test_an_unknown_preset_lists_those_there_are() -> None:
    with pytest.raises(LookupError, match="no preset is called 'guide'; the presets are 'tpu-roofline-guide', "):
        preset("guide")


def test_the_guides_hierarchical_figure_has_a_vmem_that_is_said_to_be_illustrative() -> None:
    table = preset("tpu-roofline-guide-vmem")
    (chip,) = table.chips
    assert (chip.name, chip.peak(), chip.precision()) == ("v7x (bf16)", 2307e12, "bf16")
    assert (chip.bandwidth("HBM"), chip.bandwidth("VMEM")) == (7.2e12, 150e12)
    assert chip.sources["memories.VMEM.bandwidth"].confidence == "illustrative"
    assert chip.sources["memories.HBM.bandwidth"] == chip.sources["peak_flops.bf16"] == table.source
    assert any("VMEM illustrative" in note for note in chip.notes)
    assert "VMEM illustrative" in table.title
    ridges = [f"{chip.ridge_point(memory=level):.2f}" for level in ("HBM", "VMEM")]
    assert ridges == ["320.42", "15.38"]


def test_the_guides_well_tiled_kernel_runs_at_three_and_a_half_times_what_hbm_allows() -> None:
    (kernel,) = preset("tpu-roofline-guide-vmem").kernels
    assert kernel.name == "Well-tiled kernel"
    assert kernel.flops == 1.26e12
    assert kernel.bytes == {"HBM": 1.26e12 / 50}
    assert kernel.time == 1e-3
    assert kernel.flops / kernel.time == 1260e12 == 3.5 * 50 * 7.2e12


def test_the_machines_of_2009_have_the_printed_peaks_and_ridge_points() -> None:
    table = preset("williams-2009")
    rows = [(c.vendor, c.precision(), c.peak(), f"{c.ridge_point():.3g}", c.main_memory) for c in table.chips]
    assert rows == [
        ("Intel", "fp64", 75e9, "6.7", "DRAM"),
        ("AMD", "fp64", 74e9, "4.4", "DRAM"),
        ("Sun", "fp64", 19e9, "0.33", "DRAM"),
        ("IBM", "fp64", 29e9, "0.65", "DRAM"),
    ]
    for chip, ridge in zip(table.chips, (6.7, 4.4, 0.33, 0.65), strict=True):
        assert chip.bandwidth() == chip.peak() / ridge


def test_the_bandwidths_of_2009_are_peak_over_ridge_point_and_stream_stands_beside_them() -> None:
    table = preset("williams-2009")
    assert [f"{chip.bandwidth() / 1e9:.1f}" for chip in table.chips] == ["11.2", "16.8", "57.6", "44.6"]
    stream = [ceiling for chip in table.chips for ceiling in chip.ceilings]
    assert [(c.name, c.memory, c.rate, c.measured) for c in stream] == [
        ("STREAM", "DRAM", 5.9e9, True),
        ("STREAM", "DRAM", 16.6e9, True),
        ("STREAM", "DRAM", 26e9, True),
        ("STREAM", "DRAM", 47e9, True),
    ]
    assert {c.source.confidence for c in stream if c.source} == {"measured"}


def test_the_eight_operational_intensities_of_2009_follow_from_small_counts() -> None:
    kernels = preset("williams-2009").kernels
    printed = {kernel.name: f"{kernel.arithmetic_intensity:.2f}" for kernel in kernels}
    assert printed == {
        "SpMV, before": "0.17",
        "SpMV, after": "0.25",
        "LBMHD, before": "0.70",
        "LBMHD, after": "1.07",
        "Stencil, before": "0.33",
        "Stencil, after": "0.50",
        "3-D FFT, before": "1.09",
        "3-D FFT, after": "1.64",
    }
    counts = [(kernel.flops, kernel.bytes) for kernel in kernels]
    assert counts == [(2, 12), (2, 8), (1300, 1848), (1300, 1216), (8, 24), (8, 16), (105, 96), (105, 64)]


def test_the_table_of_2009_has_no_times_and_says_why() -> None:
    table = preset("williams-2009")
    assert all(kernel.time is None for kernel in table.kernels)
    assert table.notes[0] == "No achieved figures: they were not to be had."
    assert table.source.url == "https://doi.org/10.1145/1498765.1498785"
    for chip in table.chips:
        assert all(figure.source for figure in chip.figures)
