"""Look-ups: every name that finds a chip, and the errors for wrong names."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from typing import Any

import pytest

from roofwidget.chips import AmbiguousChipError, Chip, MissingFigureError, UnknownChipError, chip, chips
from tests.places import ROOT, text_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


CATALOGUE: dict[str, Any] = tomllib.loads(text_of(ROOT / "roofwidget/chips/catalogue.toml"))
ENTRIES = {entry["id"]: entry for entry in CATALOGUE["chips"]}
PRO_6000 = "'rtx-pro-6000-workstation', 'rtx-pro-6000-server', 'rtx-pro-6000-max-q'"
# Words of a product's name that make it another product: an RTX 4080 SUPER is no RTX 4080.
QUALIFIERS = {"max", "pro", "super", "ti", "ultra", "xt", "xtx"}
# Drivers report these names for one product only.
NAMES_OF_DRIVERS = {"NVIDIA H200"}


def spoken(entry: dict[str, Any]) -> list[str]:
    return [entry["id"], entry["name"], *entry["aliases"], *entry["short"]]


def plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character not in " -_")


def test_every_chip_of_the_file_is_there_in_its_order() -> None:
    assert [one.id for one in chips()] == list(ENTRIES)


def test_ids_differ_even_without_hyphens() -> None:
    assert len({plain(name) for name in ENTRIES}) == len(ENTRIES)


def test_an_accelerator_is_judged_by_bf16_where_it_has_it_and_a_cpu_by_fp64() -> None:
    tensor_fp16 = {"v100-sxm2-16gb", "v100-sxm2-32gb", "v100-pcie-16gb", "t4", "rtx-2080ti", "jetson-agx-orin-64gb"}
    tensor_fp16 |= {"jetson-thor", "ascend-910b"}
    for one in chips():
        if ENTRIES[one.id]["kind"] == "cpu":
            assert one.default_precision == "fp64"
        elif "bf16" in one.peak_flops:
            assert one.default_precision == "bf16"
        else:
            other = {"apple-m5": "fp32_vector", "maia-200": "fp8"}.get(one.id, "fp32")
            assert one.default_precision == ("fp16" if one.id in tensor_fp16 else other)


def test_the_rate_of_the_shaders_of_an_m5_is_no_roof_of_its_matrix_units() -> None:
    m5 = chip("m5")
    assert dict(m5.peak_flops) == {"fp32_vector": 5.7e12}
    for precision in ("fp32", "fp16", "bf16"):
        with pytest.raises(MissingFigureError, match=f"no peak for precision '{precision}'; it has 'fp32_vector'"):
            m5.peak_of("matmul", precision)
    assert any("Apple prints no rate, so there is no roof for them" in note for note in m5.notes)


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
        ("TPU v7", "tpu-7x"),
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
        ("icelake", "xeon-8380"),
        ("a64fx", "a64fx"),
        ("fugaku", "a64fx"),
        ("gaudi3", "gaudi3"),
        ("NVIDIA H200", "h200-sxm"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-workstation"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-max-q"),
        ("10de:2bb1", "rtx-pro-6000-workstation"),
        ("10de:2bb5", "rtx-pro-6000-server"),
        ("10de:2bb4", "rtx-pro-6000-max-q"),
        ("5070 Ti", "rtx-5070-ti"),
        ("NVIDIA GeForce RTX 5070", "rtx-5070"),
        ("RTX 5060 Ti 16GB", "rtx-5060-ti-16gb"),
        ("RTX 4070", "rtx-4070"),
        ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "ryzen-ai-max-395-cpu"),
        ("pvc", "intel-max-1550"),
        ("10de:2330", "h100-sxm"),
        ("10DE:2901", "b200"),
        ("1002:74a1", "mi300x"),
        ("1002:74b5", "mi300x"),
        ("AMD Instinct MI300X VF", "mi300x"),
        ("gfx908", "mi100"),
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
        ("epyc", "'epyc-7763', 'epyc-9654', 'epyc-9755', 'epyc-9965'"),
        ("turin", "'epyc-9755', 'epyc-9965'"),
        ("h200", "'h200-sxm', 'h200-nvl'"),
        ("RTX PRO 6000", PRO_6000),
        ("pro 6000", PRO_6000),
        ("rtx-pro-6000", PRO_6000),
        ("NVIDIA RTX PRO 6000 Blackwell", PRO_6000),
        ("RTX 6000", f"'rtx-6000-ada', {PRO_6000}"),
        ("NVIDIA GeForce RTX 5060 Ti", "'rtx-5060-ti-8gb', 'rtx-5060-ti-16gb'"),
        ("M4 Max", "'apple-m4-max-32', 'apple-m4-max-40'"),
        ("Apple M4 Max", "'apple-m4-max-32', 'apple-m4-max-40'"),
        ("Strix Halo", "'ryzen-ai-max-395', 'ryzen-ai-max-395-cpu'"),
        ("AMD Ryzen AI Max+ 395", "'ryzen-ai-max-395', 'ryzen-ai-max-395-cpu'"),
        ("v5", "'tpu-v5e', 'tpu-v5p'"),
        ("sapphire rapids", "'xeon-8480plus', 'xeon-max-9480'"),
        ("xeon", "'xeon-8380', 'xeon-8480plus', 'xeon-8592plus', 'xeon-max-9480', 'xeon-6980p'"),
        ("jetson", "'jetson-agx-orin-64gb', 'jetson-thor'"),
        ("mi300", "'mi300a', 'mi300x'"),
        ("gfx942", "'mi300a', 'mi300x', 'mi325x'"),
        ("gfx950", "'mi350x', 'mi350p', 'mi355x'"),
        ("mi350", "'mi350x', 'mi350p', 'mi355x'"),
        ("1002:7408", "'mi250x', 'mi250x-gcd'"),
    ],
)
def test_a_name_that_several_chips_share_raises_and_lists_them(name: str, variants: str) -> None:
    with pytest.raises(AmbiguousChipError) as caught:
        chip(name)
    assert str(caught.value) == f"'{name}' is one of several chips: {variants}; name one"


def test_a_name_that_fits_two_products_with_different_figures_names_none_of_them() -> None:
    def words(name: str) -> set[str]:
        return set(re.findall(r"[a-z0-9.+]+", name.casefold()))

    def figures(one: Chip) -> tuple[object, ...]:
        main = one.memories[one.main_memory]
        return dict(one.peak_flops), main.bandwidth, main.capacity

    def fits(name: str, product: Chip) -> bool:
        more = words(product.name) - words(name)
        return words(name) <= words(product.name) and not more & QUALIFIERS

    several = set()
    for entry in CATALOGUE["chips"]:
        mine = chip(entry["id"])
        for name in {*spoken(entry)} - {*ENTRIES, *NAMES_OF_DRIVERS}:
            others = [one for one in chips() if fits(name, one) and figures(one) != figures(mine)]
            if others:
                several.add(name)
                with pytest.raises(AmbiguousChipError):
                    chip(name)
    assert {"pro 6000", "h200", "a100", "m4 max", "5060 ti"} <= several


def test_an_id_wins_over_a_shared_name() -> None:
    with pytest.raises(AmbiguousChipError, match="'mi250x', 'mi250x-gcd'"):
        chip("AMD Instinct MI250X")
    with pytest.raises(AmbiguousChipError, match="'mi250', 'mi250-gcd'"):
        chip("AMD Instinct MI250")
    assert chip("mi250x").name == "AMD Instinct MI250X (package, two GCDs)"


def test_every_name_finds_its_chip_or_lists_all_that_share_it() -> None:
    owners: dict[str, list[str]] = defaultdict(list)
    for entry in CATALOGUE["chips"]:
        for key in {plain(name) for name in spoken(entry)}:
            owners[key].append(entry["id"])
    ids = {plain(name): name for name in ENTRIES}
    for entry in CATALOGUE["chips"]:
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
    for entry in CATALOGUE["chips"]:
        for name in (entry["id"], entry["name"], *entry["aliases"]):
            assert chip(name).id == entry["id"]


def test_the_aliases_of_a_chip_each_find_it() -> None:
    assert "NVIDIA H200" in chip("h200-sxm").aliases
    assert "h200" not in chip("h200-sxm").aliases
    assert "h100" not in chip("h100-sxm").aliases
    for one in chips():
        assert all(chip(alias) is one for alias in one.aliases)


@pytest.mark.parametrize(
    ("name", "near"),
    [("h10", "'h100'"), ("rtx 4085", "'rtx-4090'"), ("tpu-v5x", "'tpu-v5p'"), ("mi260", "'mi250'")],
)
def test_an_unknown_name_lists_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UnknownChipError, match=re.escape(near)):
        chip(name)


@pytest.mark.parametrize("name", ["", "  ", "zzzzzz"])
def test_a_name_near_to_nothing_says_where_to_look(name: str) -> None:
    with pytest.raises(UnknownChipError, match=rf"chips\(\) lists all {len(ENTRIES)}"):
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
    assert [one.id for one in chips("Intel", "Xeon")] == [
        "xeon-8380",
        "xeon-8480plus",
        "xeon-8592plus",
        "xeon-max-9480",
        "xeon-6980p",
    ]


def test_an_unknown_vendor_or_family_lists_those_there_are() -> None:
    with pytest.raises(LookupError, match="the catalogue has no vendor 'acme'; it has 'Google', 'AWS', "):
        chips(vendor="acme")
    with pytest.raises(LookupError, match=r"vendor 'Google' has no family 'Hopper'; it has 'TPU'$"):
        chips("google", "Hopper")
    with pytest.raises(LookupError, match="the catalogue has no family 'x'; it has 'TPU', "):
        chips(family="x")


def test_the_catalogue_is_read_at_the_first_look_up_and_a_chip_when_it_is_asked_for() -> None:
    script = (
        "from roofwidget.chips import catalogue\nfrom roofwidget.kernels.presets import preset\n"
        "assert catalogue._entries.cache_info().currsize == 0\n"
        "preset('tpu-roofline-guide')\n"
        "assert catalogue._entries.cache_info().currsize == 0\n"
        "catalogue.chip('v5p'); catalogue.chip('v6e'); catalogue.chip('v5p')\n"
        "assert catalogue._made.cache_info().currsize == 2\n"
        "catalogue.chips()\n"
        "assert catalogue._entries.cache_info().misses == catalogue._catalogue.cache_info().misses == 1\n"
        "assert catalogue._made.cache_info().misses == len(catalogue.chips())\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
