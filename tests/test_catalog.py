"""The catalogue: every figure with its source, every name that finds a chip, and the printed table exactly."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from roofwidget.chips.catalog import (
    AmbiguousChipError,
    UnknownChipError,
    chip,
    chips,
    preset,
    presets,
)
from roofwidget.chips.chip import Chip, is_off_chip

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
DATA = Path(__file__).parents[2] / "shared/data/chips.toml"
CATALOG: dict[str, Any] = tomllib.loads((ROOT / "roofwidget/chips/catalog.toml").read_text(encoding="utf-8"))
ENTRIES = {entry["id"]: entry for entry in CATALOG["chips"]}
BYTES = {"GB": 10**9, "GiB": 2**30}
CONFIDENCES = {"datasheet", "vendor doc", "source code", "derived", "measured", "secondary"}


def figures(entry: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Figures of one entry under the keys of `Chip.sources`."""
    memory = entry["memory"]
    found = {f"peak_flops.{precision}": figure for precision, figure in entry["peak_flops"].items()}
    return found | {f"memories.{memory['name']}.{f}": memory[f] for f in ("bandwidth", "capacity") if f in memory}


def spoken(entry: dict[str, Any]) -> list[str]:
    return [entry["id"], entry["name"], *entry["aliases"], *entry["short"]]


def plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character not in " -_")


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    if not DATA.exists():
        pytest.skip("the file that the catalogue was made from is not here")
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


def test_there_are_75_chips_in_the_order_of_the_file() -> None:
    assert len(chips()) == 75
    assert [one.id for one in chips()] == list(ENTRIES)


def test_ids_differ_even_without_hyphens() -> None:
    assert len({plain(name) for name in ENTRIES}) == 75


def test_every_figure_of_every_chip_has_its_source() -> None:
    for one in chips():
        expected = {f"peak_flops.{precision}" for precision in one.peak_flops}
        for level in one.memories.values():
            expected.add(f"memories.{level.name}.bandwidth")
            if level.capacity is not None:
                expected.add(f"memories.{level.name}.capacity")
        assert set(one.sources) == expected
        for source in one.sources.values():
            assert source.title
            assert source.url == "" or re.fullmatch(r"https?://\S+", source.url)
            assert source.confidence in CONFIDENCES


def test_every_source_is_used() -> None:
    used = {figure["source"] for entry in CATALOG["chips"] for figure in figures(entry).values()}
    assert set(CATALOG["sources"]) == used | {entry["source"] for entry in CATALOG["presets"]}


def test_a_figure_that_was_computed_says_how() -> None:
    for entry in CATALOG["chips"]:
        for figure in figures(entry).values():
            assert ("formula" in figure) == (figure["confidence"] == "derived")
    title = chip("xeon-8380").sources["peak_flops.fp64"].title
    assert title.startswith("Derived from other figures of this catalogue: 40 cores x 32 FP64 FLOP/cycle x 2.3 GHz")


def test_a_chip_carries_the_figures_of_its_entry() -> None:
    for name, entry in ENTRIES.items():
        one = chip(name)
        assert dict(one.peak_flops) == {p: f["value"] for p, f in entry["peak_flops"].items()}
        assert one.main_memory == entry["memory"]["name"]
        assert one.bandwidth() == entry["memory"]["bandwidth"]["value"]
        assert one.memories[one.main_memory].capacity == entry["memory"].get("capacity", {}).get("value")
        given = (entry["name"], entry["vendor"], entry["family"], entry["generation"])
        assert (one.name, one.vendor, one.family, one.generation) == given


def test_the_main_memory_has_a_name_that_means_off_chip() -> None:
    assert all(is_off_chip(one.main_memory) for one in chips())


def test_a_capacity_is_the_printed_size_in_bytes() -> None:
    for entry in CATALOG["chips"]:
        if "capacity" in entry["memory"]:
            capacity = entry["memory"]["capacity"]
            size, unit = capacity["printed"].split()
            assert capacity["value"] == int(size) * BYTES[unit]
    assert chip("v5p").memories["HBM"].capacity == 95 * 2**30
    assert chip("h100-sxm").memories["HBM"].capacity == 80e9


def test_every_figure_is_the_one_of_the_data_file(data: dict[str, Any]) -> None:
    assert [entry["id"] for entry in data["chips"]] == list(ENTRIES)
    for original in data["chips"]:
        entry = ENTRIES[original["id"]]
        main = original["levels"][0]
        expected = {f"peak_flops.{precision}": figure for precision, figure in original["compute"].items()}
        expected[f"memories.{main['label']}.bandwidth"] = main["bandwidth"]
        size = original.get("memory", {}).get("size_gb")
        if size:
            in_bytes = size["value"] * BYTES[size.get("unit", "GB")]
            expected[f"memories.{main['label']}.capacity"] = {**size, "value": in_bytes}
        assert [(key, f["value"], f["source"], f["confidence"]) for key, f in figures(entry).items()] == [
            (key, f["value"], f["source"], f["confidence"]) for key, f in expected.items()
        ]


def test_every_description_is_the_one_of_the_data_file(data: dict[str, Any]) -> None:
    for original in data["chips"]:
        entry = ENTRIES[original["id"]]
        for field in ("name", "vendor", "kind", "family", "status"):
            assert entry[field] == original[field]
        assert entry["generation"] == original["order"]
        year = original.get("release", {}).get("value", "")[:4]
        assert str(entry.get("year", "")) == year
        assert {plain(alias) for alias in original.get("aliases", [])} <= {plain(name) for name in spoken(entry)}


def test_every_source_points_where_the_data_file_says(data: dict[str, Any]) -> None:
    for key, source in CATALOG["sources"].items():
        original = data["sources"][key]
        assert source["kind"] == original["kind"]
        assert source["url"] == (original["url"] if original["url"].startswith("http") else "")


def test_an_accelerator_is_judged_by_bf16_where_it_has_it_and_a_cpu_by_fp64() -> None:
    tensor_fp16 = {"v100-sxm2-16gb", "v100-sxm2-32gb", "v100-pcie-16gb", "t4", "rtx-2080ti", "jetson-agx-orin-64gb"}
    for one in chips():
        if ENTRIES[one.id]["kind"] == "cpu":
            assert one.default_precision == "fp64"
        elif "bf16" in one.peak_flops:
            assert one.default_precision == "bf16"
        else:
            assert one.default_precision == ("fp16" if one.id in tensor_fp16 else "fp32")


@pytest.mark.parametrize(
    ("name", "ridge"),
    [("tpu-v5p", "166.0"), ("tpu-7x", "312.6"), ("tpu-v6e", "560.4")],
)
def test_the_catalogue_has_its_own_ridge_points_and_not_those_of_the_guide(name: str, ridge: str) -> None:
    assert f"{chip(name).ridge_point():.1f}" == ridge


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("v2", "tpu-v2"),
        ("v3", "tpu-v3"),
        ("v4", "tpu-v4"),
        ("v5e", "tpu-v5e"),
        ("TPU v5 lite", "tpu-v5e"),
        ("v5p", "tpu-v5p"),
        ("v6e", "tpu-v6e"),
        ("Trillium", "tpu-v6e"),
        ("v7x", "tpu-7x"),
        ("ironwood", "tpu-7x"),
        ("TPU v7x", "tpu-7x"),
        ("h200", "h200-sxm"),
        ("b200", "b200"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie-80gb"),
        ("Tesla T4", "t4"),
        ("4090", "rtx-4090"),
        ("rtx4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 3090", "rtx-3090"),
        ("3090", "rtx-3090"),
        ("mi300x", "mi300x"),
        ("mi250x", "mi250x"),
        ("MI250X GCD", "mi250x-gcd"),
        ("m1", "apple-m1"),
        ("m1 max", "apple-m1-max"),
        ("trn2", "aws-trainium2"),
        ("trainium2", "aws-trainium2"),
        ("inf2", "aws-inferentia2"),
        ("milan", "epyc-7763"),
        ("genoa", "epyc-9654"),
        ("sapphire rapids", "xeon-8480plus"),
        ("icelake", "xeon-8380"),
        ("a64fx", "a64fx"),
        ("fugaku", "a64fx"),
        ("gaudi3", "gaudi3"),
        ("pvc", "intel-max-1550"),
    ],
)
def test_the_names_people_type_find_their_chip(name: str, found: str) -> None:
    assert chip(name).id == found


@pytest.mark.parametrize("name", ["H100-SXM", "h100 sxm", "h100_sxm", " h100sxm ", "nvidia h100 sxm5 80gb"])
def test_case_spaces_hyphens_and_underscores_do_not_count(name: str) -> None:
    assert chip(name).id == "h100-sxm"


@pytest.mark.parametrize(
    ("name", "variants"),
    [
        ("h100", "'h100-sxm', 'h100-pcie', 'h100-nvl'"),
        ("A100", "'a100-sxm-40gb', 'a100-sxm-80gb', 'a100-pcie-40gb', 'a100-pcie-80gb'"),
        ("v100", "'v100-sxm2-16gb', 'v100-sxm2-32gb', 'v100-pcie-16gb'"),
        ("gh200", "'gh200-96gb', 'gh200-144gb'"),
        ("epyc", "'epyc-7763', 'epyc-9654'"),
        ("mi300", "'mi300a', 'mi300x'"),
    ],
)
def test_a_name_that_several_chips_share_raises_and_lists_them(name: str, variants: str) -> None:
    with pytest.raises(AmbiguousChipError) as caught:
        chip(name)
    assert str(caught.value) == f"'{name}' is one of several chips: {variants}; name one"


def test_an_id_wins_over_a_shared_name() -> None:
    with pytest.raises(AmbiguousChipError, match="'mi250x', 'mi250x-gcd'"):
        chip("AMD Instinct MI250X")
    assert chip("mi250x").name == "AMD Instinct MI250X (package, two GCDs)"


def test_every_name_finds_its_chip_or_lists_all_that_share_it() -> None:
    owners: dict[str, list[str]] = defaultdict(list)
    for entry in CATALOG["chips"]:
        for key in {plain(name) for name in spoken(entry)}:
            owners[key].append(entry["id"])
    ids = {plain(name): name for name in ENTRIES}
    for entry in CATALOG["chips"]:
        for name in spoken(entry):
            key = plain(name)
            if key in ids:
                assert chip(name).id == ids[key]
            elif len(owners[key]) == 1:
                assert chip(name).id == entry["id"]
            else:
                listed = ", ".join(f"'{owner}'" for owner in owners[key])
                with pytest.raises(AmbiguousChipError, match=re.escape(listed)):
                    chip(name)


def test_ids_names_and_aliases_mean_one_chip() -> None:
    for entry in CATALOG["chips"]:
        for name in (entry["id"], entry["name"], *entry["aliases"]):
            assert chip(name).id == entry["id"]


def test_the_aliases_of_a_chip_each_find_it() -> None:
    assert "h200" in chip("h200-sxm").aliases
    assert "h100" not in chip("h100-sxm").aliases
    for one in chips():
        assert all(chip(alias) is one for alias in one.aliases)


@pytest.mark.parametrize(
    ("name", "near"),
    [("h10", "'h100'"), ("rtx 4080", "'rtx-4090'"), ("tpu-v5x", "'tpu-v5p'"), ("mi250", "'mi250x'")],
)
def test_an_unknown_name_lists_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UnknownChipError, match=re.escape(near)):
        chip(name)


@pytest.mark.parametrize("name", ["", "  ", "zzzzzz"])
def test_a_name_near_to_nothing_says_where_to_look(name: str) -> None:
    with pytest.raises(UnknownChipError, match=r"chips\(\) lists all 75"):
        chip(name)


def test_a_chip_passes_through_unchanged() -> None:
    mine = Chip("mine", {"bf16": 1e12}, {"HBM": 1e12})
    assert chip(mine) is mine


def test_what_is_neither_a_name_nor_a_chip_is_refused() -> None:
    wrong: Any = 4090
    with pytest.raises(TypeError, match="expected a chip's name or a Chip, got 4090"):
        chip(wrong)


def test_a_chip_is_the_same_object_at_every_look_up() -> None:
    assert chip("v5p") is chip("TPU v5p") is next(one for one in chips() if one.id == "tpu-v5p")


def test_chips_are_chosen_by_vendor_and_family_in_any_case() -> None:
    assert [one.id for one in chips("google")][:2] == ["tpu-v2", "tpu-v3"]
    assert {one.vendor for one in chips(vendor="nvidia")} == {"NVIDIA"}
    assert [one.id for one in chips(family="gaudi")] == ["gaudi2", "gaudi3"]
    assert [one.id for one in chips("Intel", "Xeon")] == ["xeon-8380", "xeon-8480plus"]


def test_an_unknown_vendor_or_family_lists_those_there_are() -> None:
    with pytest.raises(LookupError, match="the catalogue has no vendor 'acme'; it has 'Google', 'AWS', "):
        chips(vendor="acme")
    with pytest.raises(LookupError, match=r"vendor 'Google' has no family 'Hopper'; it has 'TPU'$"):
        chips("google", "Hopper")
    with pytest.raises(LookupError, match="the catalogue has no family 'x'; it has 'TPU', "):
        chips(family="x")


def test_the_guide_is_a_preset_exactly_as_printed() -> None:
    assert presets() == ("tpu-roofline-guide",)
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


def test_the_guide_is_the_table_of_the_data_file(data: dict[str, Any]) -> None:
    original = next(entry for entry in data["presets"] if entry["id"] == "tpu-roofline-guide")
    expected = [(e["name"], e["precision"], e["compute_flops"], e["bandwidth"]) for e in original["entries"]]
    found = [(c.name, c.default_precision, c.peak(), c.bandwidth()) for c in preset("tpu-roofline-guide").chips]
    assert found == expected


def test_an_unknown_preset_lists_those_there_are() -> None:
    with pytest.raises(LookupError, match="no preset is called 'guide'; there is 'tpu-roofline-guide'"):
        preset("guide")


def test_nothing_is_read_before_the_first_look_up() -> None:
    script = (
        "from roofwidget.chips import catalog\n"
        "assert catalog._entries.cache_info().currsize == 0\n"
        "catalog.chip('v5p'); catalog.chip('v6e'); catalog.chips(); catalog.preset('tpu-roofline-guide')\n"
        "assert catalog._entries.cache_info().misses == catalog._catalog.cache_info().misses == 1\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
