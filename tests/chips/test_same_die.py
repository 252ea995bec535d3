"""Chips on the same die have the same set of peaks, so that no FLOPs of one are charged to another unit's peak."""

from __future__ import annotations

import re
from typing import Final

import pytest

import roofwidget as rw

# The dies that several chips of the catalogue share.
DIES: Final = {
    "GP100": ("p100-sxm2", "p100-pcie-16gb"),
    "GV100": ("v100-sxm2-16gb", "v100-sxm2-32gb", "v100-pcie-16gb"),
    "GA100": ("a800", "a100-sxm-40gb", "a100-sxm-80gb", "a100-pcie-40gb", "a100-pcie-80gb", "a30"),
    "GA102": ("a10", "a10g", "a40", "rtx-3090", "rtx-3080", "rtx-a6000"),
    "AD102": ("l20", "l40", "l40s", "rtx-4090", "rtx-6000-ada"),
    "GH100": (
        *("h100-sxm", "h100-pcie", "h100-nvl", "h200-sxm", "h200-nvl", "gh200-96gb", "gh200-144gb"),
        *("h800", "h20"),
    ),
    "GB100": ("b100", "b200", "gb200"),
    "GB110": ("b300", "gb300"),
    "Aldebaran": ("mi210", "mi250", "mi250-gcd", "mi250x", "mi250x-gcd"),
    "CDNA 3": ("mi300a", "mi300x", "mi325x"),
    "Navi 48": ("rx-9070", "rx-9070-xt", "r9700"),
    "CDNA 4": ("mi350x", "mi350p", "mi355x"),
}
# What no source was found for. The notes of these chips say so.
UNPUBLISHED: Final = {"b100": {"fp32"}, "h800": {"fp64_tensor"}, "h20": {"fp64_tensor"}, "l20": {"tf32", "int4"}}
# Only the GeForce cards of a die are slower when they accumulate in FP32.
ACCUMULATORS: Final = ("_acc16",)


def peaks(name: str) -> set[str]:
    found = {key for key in rw.chip(name).peak_flops if not key.endswith(ACCUMULATORS)}
    return found | UNPUBLISHED.get(name, set())


@pytest.mark.parametrize("die", DIES)
def test_the_same_die_has_the_same_set_of_peaks(die: str) -> None:
    sets = {name: peaks(name) for name in DIES[die]}
    most = set[str]().union(*sets.values())
    assert {name: most - one for name, one in sets.items() if one != most} == {}


@pytest.mark.parametrize(
    ("name", "missing"), [(name, key) for name, keys in UNPUBLISHED.items() for key in sorted(keys)]
)
def test_a_figure_that_no_source_gives_is_absent_and_the_notes_say_so(name: str, missing: str) -> None:
    assert missing not in rw.chip(name).peak_flops
    assert any(missing in note for note in rw.chip(name).notes)


@pytest.mark.parametrize("die", ["GV100", "GA100", "GA102", "AD102", "GH100", "CDNA 3", "CDNA 4"])
@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_vector_work_is_charged_to_the_vector_units_where_the_matrix_units_are_faster(die: str, precision: str) -> None:
    for name in DIES[die]:
        chip = rw.chip(name)
        if precision not in chip.peak_flops or (precision == "bf16" and chip.vendor == "AMD"):
            continue
        peak, own = chip.peak_of("vector", precision)
        assert own, (name, precision)
        assert peak < chip.peak(precision), (name, precision)


@pytest.mark.parametrize(
    ("name", "fp16", "bf16"),
    [
        # NVIDIA, Ampere Architecture In-Depth: 78 and 39; V100 31.4.
        ("a100-sxm-80gb", 78e12, 39e12),
        ("v100-sxm2-16gb", 31.4e12, None),
        # NVIDIA's Hopper table has one non-tensor rate for both; 132 SM x 512 x 1.98 GHz.
        ("h100-sxm", 133.8e12, 133.8e12),
        ("h200-sxm", 133.8e12, 133.8e12),
        ("gh200-96gb", 133.8e12, 133.8e12),
        ("h100-pcie", 102.4e12, 102.4e12),
        ("rtx-3090", 35.6e12, 35.6e12),
        ("rtx-4090", 82.6e12, 82.6e12),
        ("mi300x", 163.4e12, None),
    ],
)
def test_the_vector_rates_are_the_printed_ones(name: str, fp16: float, bf16: float | None) -> None:
    chip = rw.chip(name)
    for precision, printed in (("fp16", fp16), ("bf16", bf16)):
        if printed is not None:
            rate, own = chip.peak_of("vector", precision)
            assert own
            assert rate == pytest.approx(printed, rel=1e-3)


def test_the_same_die_projects_vector_work_by_bandwidth_and_clock_and_never_by_the_other_units_peak() -> None:
    vector = rw.Kernels(["gelu"], {"vector": [133.8e12]}, [1e9], time=[2], precision=["fp16"])
    for name in ("h200-sxm", "gh200-96gb", "gh200-144gb"):
        found = rw.project(vector, name, source="h100-sxm")
        assert found.speedup == pytest.approx(1, rel=1e-3), name
        assert found.remarks == ()


@pytest.mark.parametrize("one", rw.chips(), ids=lambda one: one.id)
def test_a_peak_of_units_times_flop_per_clock_times_clock_is_their_product(one: rw.Chip) -> None:
    seen = r": ([\d,]+) (?:SM|CU|cores?|SIMD|TensorCores?) x (\d+) [^x]*x ([\d.]+) GHz"
    for key, source in one.sources.items():
        found = re.search(seen, source.title)
        if key.startswith("peak_flops.") and found:
            units, per_clock, clock = (float(text.replace(",", "")) for text in found.groups())
            rate = one.peak_flops[key.removeprefix("peak_flops.")]
            assert rate == pytest.approx(units * per_clock * clock * 1e9, rel=1e-3), key
