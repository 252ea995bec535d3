"""Chips that people look for: their main figures as the vendors print them, to the printed digits."""

from __future__ import annotations

import math
import re
from typing import Final

import pytest

import roofwidget as rw

Printed = tuple[dict[str, float], str, float]

# Peaks in TFLOP/s (TOP/s for integers), the main memory and its bandwidth in GB/s.
CHIPS: Final[dict[str, Printed]] = {
    "h200-nvl": (
        {"fp64": 30, "fp64_tensor": 60, "fp32": 60, "tf32": 417.5, "bf16": 835.5, "fp8": 1670.5, "int8": 1670.5},
        "HBM",
        4800,
    ),
    "h800": ({"fp64": 1, "fp32": 67, "tf32": 494.5, "bf16": 989.5, "fp8": 1979, "int8": 1979}, "HBM", 3350),
    "h20": ({"fp64": 1, "fp32": 44, "tf32": 74, "bf16": 148, "fp16": 148, "int8": 296, "fp8": 296}, "HBM", 4000),
    "a800": ({"fp64": 9.7, "fp64_tensor": 19.5, "tf32": 156, "bf16": 312, "int8": 624, "int4": 1248}, "HBM", 2039),
    "l40": ({"fp32": 90.5, "tf32": 90.5, "bf16": 181.05, "fp16": 181.05, "fp8": 362, "int8": 362}, "GDDR6", 864),
    "l20": ({"fp32": 59.8, "fp16": 119.5, "bf16": 119.5, "fp8": 239, "int8": 239}, "GDDR6", 864),
    "rubin": (
        {"fp32": 130, "tf32": 2000, "bf16": 4000, "fp16": 4000, "fp8": 17500, "fp6": 17500, "fp4": 35000, "int8": 2500},
        "HBM",
        22_000,
    ),
    "rtx-a6000": ({"fp32": 38.7, "tf32": 77.4, "bf16": 154.8, "int8": 309.7, "int4": 619.3}, "GDDR6", 768),
    "rtx-3080": ({"fp32": 29.8, "tf32": 29.8, "bf16": 59.5, "fp16": 59.5, "int8": 238, "int4": 476}, "GDDR6X", 760.3),
    "rtx-4080": ({"fp32": 48.7, "bf16": 97.5, "fp16_acc16": 194.9, "fp8": 194.9, "int8": 389.9}, "GDDR6X", 716.8),
    "rtx-5080": ({"tf32": 56.3, "bf16": 112.6, "fp8": 225.1, "fp8_acc16": 450.2, "int8": 450.2}, "GDDR7", 960),
    "rtx-5070-ti": ({"tf32": 43.9, "bf16": 87.9, "fp16_acc16": 175.8, "int8": 351.5, "fp4": 703}, "GDDR7", 896),
    "rtx-5070": ({"tf32": 30.9, "bf16": 61.7, "fp16_acc16": 123.5, "int8": 246.9, "fp4": 493.9}, "GDDR7", 672),
    "rtx-5060-ti-8gb": ({"tf32": 23.7, "bf16": 47.4, "int8": 189.6, "fp4": 379.3}, "GDDR7", 448),
    "rtx-5060-ti-16gb": ({"tf32": 23.7, "bf16": 47.4, "int8": 189.6, "fp4": 379.3}, "GDDR7", 448),
    "rtx-4070": ({"tf32": 29.1, "bf16": 58.3, "fp16_acc16": 116.6, "int8": 233.2, "int4": 466.3}, "GDDR6X", 504),
    "rtx-pro-6000-workstation": (
        {"fp32": 126, "tf32": 251.9, "bf16": 503.8, "fp8": 1007.6, "int8": 1007.6, "fp4": 2015.2},
        "GDDR7",
        1792,
    ),
    "rtx-pro-6000-server": (
        {"fp32": 117, "tf32": 233.9, "bf16": 467.8, "fp8": 935.6, "int8": 935.6, "fp4": 1871.2},
        "GDDR7",
        1597,
    ),
    "rtx-pro-6000-max-q": ({"fp32": 110}, "GDDR7", 1792),
    "gb10": ({"fp4": 500, "bf16": 125, "fp32": 29.71}, "LPDDR5X", 273.2),
    "jetson-thor": ({"fp4": 1035, "fp8": 517, "fp16": 258.5}, "LPDDR5X", 273),
    "grace": ({"fp64": 3.55, "fp32": 7.1}, "LPDDR5X", 512),
    "mi250": ({"fp64": 45.3, "fp64_tensor": 90.5, "fp32_matrix": 90.5, "bf16": 362.1, "int8": 362.1}, "HBM", 3276.8),
    "mi250-gcd": ({"fp64": 22.6, "fp64_tensor": 45.3, "fp32_matrix": 45.3, "bf16": 181, "int8": 181}, "HBM", 1638.4),
    "mi350p": (
        {"fp64": 36, "fp32": 72, "fp16": 1150, "bf16": 1150, "fp8": 2300, "int8": 2300, "fp6": 4600, "fp4": 4600},
        "HBM",
        4000,
    ),
    "mi455x": ({"fp32": 315, "fp16": 5000, "bf16": 5000, "int8": 5000}, "HBM", 23_300),
    "rx-9070": ({"fp32": 36.1, "fp16": 144.5, "bf16": 144.5, "fp8": 289, "int8": 289, "int4": 578}, "GDDR6", 640),
    "rx-9070-xt": ({"fp32": 48.7, "fp16": 195, "bf16": 195, "fp8": 389, "int8": 389, "int4": 779}, "GDDR6", 640),
    "r9700": ({"fp32": 47.8, "fp16": 191, "fp8": 383, "int8": 383, "int4": 766}, "GDDR6", 640),
    "ryzen-ai-max-395": ({"fp32": 29.7, "fp16": 59.4, "bf16": 59.4}, "LPDDR5X", 256),
    "ryzen-ai-max-395-cpu": ({"fp64": 1.536, "fp32": 3.072}, "LPDDR5X", 256),
    "epyc-9755": ({"fp64": 11.06, "fp32": 22.12}, "DRAM", 614.4),
    "epyc-9965": ({"fp64": 13.82, "fp32": 27.65}, "DRAM", 614.4),
    "xeon-6980p": ({"fp64": 8.192, "fp32": 16.38, "bf16": 262.1, "fp16": 262.1, "int8": 524.3}, "DRAM", 614.4),
    "xeon-8592plus": ({"fp64": 3.8912, "fp32": 7.7824, "bf16": 124.5, "int8": 249.04}, "DRAM", 358.4),
    "xeon-max-9480": ({"fp64": 3.405, "fp32": 6.81, "bf16": 108.95, "int8": 217.9}, "HBM", 1638.4),
    "apple-m3-ultra": ({"fp32": 28.4}, "Unified memory", 819),
    "apple-m4-pro": ({"fp32": 9.2}, "Unified memory", 273),
    "apple-m4-max-32": ({"fp32": 14.42}, "Unified memory", 410),
    "apple-m5": ({"fp32_vector": 5.7}, "Unified memory", 153),
    "ascend-910c": ({"bf16": 752, "fp16": 752, "int8": 1504}, "HBM", 3200),
    "arc-pro-b60": ({"fp32": 12.28, "fp16": 98.3, "bf16": 98.3, "int8": 197}, "GDDR6", 456),
    "maia-200": ({"fp8": 5000, "fp4": 10_000}, "HBM", 7000),
    "ascend-910b": ({"fp16": 320, "int8": 640}, "HBM", 1600),
}


@pytest.mark.parametrize("name", CHIPS)
def test_the_main_figures_are_the_printed_ones(name: str) -> None:
    one = rw.chip(name)
    peaks, memory, bandwidth = CHIPS[name]
    assert {key: rate / 1e12 for key, rate in one.peak_flops.items() if key in peaks} == pytest.approx(peaks, rel=3e-3)
    assert one.main_memory == memory
    assert one.bandwidth() / 1e9 == pytest.approx(bandwidth, rel=1e-4)


def test_a_cut_down_chip_for_export_has_its_siblings_figures_but_for_what_is_cut() -> None:
    for cut, whole, differ in (
        ("h800", "h100-sxm", {"fp64": 1e12}),
        ("a800", "a100-sxm-80gb", {}),
    ):
        mine, its = rw.chip(cut).peak_flops, rw.chip(whole).peak_flops
        assert {key: rate for key, rate in mine.items() if its[key] != rate} == differ
        assert rw.chip(cut).bandwidth() == rw.chip(whole).bandwidth()
        assert rw.chip(cut).link_bandwidth() == 200e9 < rw.chip(whole).link_bandwidth()


def test_the_three_rtx_pro_6000_have_their_own_bandwidths_and_ridge_points() -> None:
    server, workstation = rw.chip("rtx-pro-6000-server"), rw.chip("rtx-pro-6000-workstation")
    assert (server.bandwidth(), workstation.bandwidth()) == (1597e9, 1792e9)
    assert server.ridge_point("bf16") == pytest.approx(292.9, abs=0.05)
    assert workstation.ridge_point("bf16") == pytest.approx(281.1, abs=0.05)
    assert [rw.chip(f"rtx-pro-6000-{one}").power for one in ("workstation", "server", "max-q")] == [600, 600, 300]


@pytest.mark.parametrize(
    "name", [one.id for one in rw.chips("nvidia") if "GeForce" in one.name and (one.year or 0) >= 2022]
)
def test_a_geforce_of_ada_and_blackwell_has_the_rates_of_its_multiprocessors(name: str) -> None:
    one = rw.chip(name)
    assert one.units is not None
    assert one.clock is not None
    clocks = int(one.units.removesuffix(" SM")) * one.clock
    per_clock = {"fp32": 256, "tf32": 256, "fp16": 512, "bf16": 512, "fp16_acc16": 1024, "fp8": 1024}
    per_clock |= {"fp8_acc16": 2048, "int8": 2048, "int4" if one.family == "Ada" else "fp4": 4096}
    per_clock |= {"fp16_vector": 256, "bf16_vector": 256}
    # The sheets print four digits.
    assert dict(one.peak_flops) == pytest.approx({key: rate * clocks for key, rate in per_clock.items()}, rel=5e-4)
    assert one.peak("int8") == pytest.approx(4 * one.peak("bf16"), rel=5e-4)


NARROW = {"fp8": 8, "fp4": 4}
WIDE = {"fp32": 32, "tf32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "fp6": 8}


@pytest.mark.parametrize("one", rw.chips(), ids=lambda one: one.id)
def test_a_narrow_type_is_no_faster_than_its_width_explains_unless_the_notes_say_why(one: rw.Chip) -> None:
    for narrow, bits in NARROW.items():
        # GeForce cards halve the rates of 8 and 16 bits, but not those of fp4, when they accumulate in FP32.
        width = {key: WIDE.get(key.removesuffix("_acc16"), 0) for key in one.peak_flops}
        wider = [key for key in width if width[key] > bits]
        if narrow not in one.peak_flops or not wider:
            continue
        least = min(width[key] for key in wider)
        fastest = max(one.peak(key) for key in wider if width[key] == least)
        # A factor for each halving of the width; more is often a rate with sparsity.
        most = 2.2 ** math.log2(least / bits)
        explained = any(re.search(rf"\b{narrow} is [\d.]+ times ", note) for note in one.notes)
        assert (one.peak(narrow) > most * fastest) == explained, narrow


def test_the_types_that_are_faster_than_their_width_are_those_of_six_chips() -> None:
    ratios = {
        ("tpu-8i", "fp8", "bf16"): 8,
        ("tpu-8t", "fp8", "bf16"): 6,
        ("aws-trainium3", "fp8", "bf16"): 3.75,
        ("b300", "fp4", "fp8"): 3.11,
        ("gb300", "fp4", "fp8"): 3,
        ("rubin", "fp8", "bf16"): 4.375,
    }
    for (name, narrow, wide), ratio in ratios.items():
        assert rw.chip(name).peak(narrow) / rw.chip(name).peak(wide) == pytest.approx(ratio, rel=2e-3)


def test_a_figure_that_is_not_published_or_not_dense_is_no_roof_and_the_notes_say_so() -> None:
    rubin, mi455x, maia = rw.chip("rubin"), rw.chip("mi455x"), rw.chip("maia-200")
    # NVIDIA prints 50 PFLOP/s with adaptive compression, AMD 20.1 and 40.3 without saying whether with sparsity.
    assert any("50 PFLOP/s of fp4" in note and "no dense rate" in note for note in rubin.notes)
    assert {"fp8", "fp6", "fp4"}.isdisjoint(mi455x.peak_flops)
    assert any("20.1, 20.1 and 40.3 PFLOP/s" in note for note in mi455x.notes)
    assert set(maia.peak_flops) == {"fp8", "fp4"}
    assert [one.power for one in (rubin, mi455x, maia)] == [None, None, 750]


def test_the_sizes_and_links_of_the_chips_of_2026_are_the_printed_ones() -> None:
    capacities = {
        "rubin": 288,
        "mi455x": 432,
        "mi350p": 144,
        "maia-200": 216,
        "arc-pro-b60": 24,
        "l20": 48,
        "rx-9070": 16,
    }
    for name, gib in capacities.items():
        assert rw.chip(name).memories[rw.chip(name).main_memory].capacity == gib * 2**30, name
    caches = {
        ("mi455x", "L2"): 192 * 2**20,
        ("mi455x", "LDS"): 256 * 320 * 2**10,
        ("mi350p", "Infinity Cache"): 128 * 2**20,
        ("mi350p", "L2"): 4 * 4 * 2**20,
        ("mi350p", "LDS"): 128 * 160 * 2**10,
        ("maia-200", "SRAM"): 272 * 2**20,
        ("rx-9070", "Infinity Cache"): 64 * 2**20,
        ("l20", "L2"): 96 * 2**20,
    }
    assert {(name, level): rw.chip(name).memories[level].capacity for name, level in caches} == caches
    # 36 x 2 links of 25 GB/s; 36 x 400 Gb/s.
    assert rw.chip("rubin").link_bandwidth() == 36 * 2 * 25e9 == 1.8e12
    assert rw.chip("mi455x").link_bandwidth() == 36 * 400e9 / 8 == 1.8e12
    assert rw.chip("arc-pro-b60").link_bandwidth("PCIe") == 32e9


def test_a_package_of_two_dies_has_twice_the_figures_of_the_one_that_software_sees() -> None:
    both, one = rw.chip("mi250"), rw.chip("mi250-gcd")
    for key, rate in one.peak_flops.items():
        assert both.peak_flops[key] == pytest.approx(2 * rate, rel=2e-3), key
    assert both.bandwidth() == 2 * one.bandwidth()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Grace", "grace"),
        ("NVIDIA Grace", "grace"),
        ("NVIDIA Grace CPU", "grace"),
        ("H20", "h20"),
        ("NVIDIA H20", "h20"),
        ("H800", "h800"),
        ("NVIDIA H800", "h800"),
        ("A800", "a800"),
        ("NVIDIA A800-SXM4-80GB", "a800"),
        ("H200 NVL", "h200-nvl"),
        ("NVIDIA H200 NVL", "h200-nvl"),
        ("L40", "l40"),
        ("L20", "l20"),
        ("NVIDIA L20", "l20"),
        ("10de:26ba", "l20"),
        ("Rubin", "rubin"),
        ("NVIDIA Rubin", "rubin"),
        ("Vera Rubin", "rubin"),
        ("RTX A6000", "rtx-a6000"),
        ("NVIDIA RTX A6000", "rtx-a6000"),
        ("a6000", "rtx-a6000"),
        ("RTX 3080", "rtx-3080"),
        ("NVIDIA GeForce RTX 3080", "rtx-3080"),
        ("rtx4080", "rtx-4080"),
        ("GeForce RTX 5080", "rtx-5080"),
        ("5080", "rtx-5080"),
        ("DGX Spark", "gb10"),
        ("GB10", "gb10"),
        ("NVIDIA GB10", "gb10"),
        ("Jetson Thor", "jetson-thor"),
        ("Jetson AGX Thor", "jetson-thor"),
        ("NVIDIA Thor", "jetson-thor"),
        ("MI250", "mi250"),
        ("MI250 GCD", "mi250-gcd"),
        ("EPYC 9755", "epyc-9755"),
        ("AMD EPYC 9965", "epyc-9965"),
        ("Xeon 6980P", "xeon-6980p"),
        ("Granite Rapids", "xeon-6980p"),
        ("Xeon Max 9480", "xeon-max-9480"),
        ("Intel Xeon CPU Max 9480", "xeon-max-9480"),
        ("M3 Ultra", "apple-m3-ultra"),
        ("Apple M3 Ultra", "apple-m3-ultra"),
        ("M4 Pro", "apple-m4-pro"),
        ("Apple M4 Pro", "apple-m4-pro"),
        ("M5", "apple-m5"),
        ("Apple M5", "apple-m5"),
        ("Radeon 8060S", "ryzen-ai-max-395"),
        ("Radeon AI PRO R9700", "r9700"),
        ("AMD Radeon AI PRO R9700", "r9700"),
        ("RX 9070", "rx-9070"),
        ("AMD Radeon RX 9070", "rx-9070"),
        ("RX 9070 XT", "rx-9070-xt"),
        ("MI350P", "mi350p"),
        ("AMD Instinct MI350P", "mi350p"),
        ("1002:75a8", "mi350p"),
        ("MI455X", "mi455x"),
        ("AMD Instinct MI455X", "mi455x"),
        ("Arc Pro B60", "arc-pro-b60"),
        ("Intel Arc Pro B60", "arc-pro-b60"),
        ("Maia 200", "maia-200"),
        ("Xeon Platinum 8592+", "xeon-8592plus"),
        ("Emerald Rapids", "xeon-8592plus"),
        ("AMD Radeon RX 9070 XT", "rx-9070-xt"),
        ("Ascend 910B", "ascend-910b"),
        ("Ascend 910C", "ascend-910c"),
        ("Huawei Ascend 910B", "ascend-910b"),
        ("TPU v7", "tpu-7x"),
    ],
)
def test_the_names_that_people_and_drivers_use_find_it(name: str, found: str) -> None:
    assert rw.chip(name).id == found


def test_a_chip_with_a_single_source_says_so_and_no_figure_is_without_one() -> None:
    for name in CHIPS:
        one = rw.chip(name)
        assert one.status in {"single-source", "cross-checked"}
        assert (one.status == "cross-checked") == bool(one.checks), name
        assert all(figure.source is not None for figure in one.figures if figure.value is not None)
