"""A chip: its figures, refused arguments, and look-ups of known and missing figures."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest

from roofwidget.chips import Chip, Memory, MissingFigureError, Source, card, is_off_chip

SOURCE = Source("A data sheet", "https://example.org/sheet.pdf", "datasheet")


@pytest.fixture
def h100() -> Chip:
    return Chip(
        "H100",
        {"bf16": "989.5 TFLOP/s", "FP8": 1979e12},
        {"HBM": "3.35 TB/s", "L2": None, "SMEM": Memory("SMEM", 33e12, 228 * 1024 * 132)},
        vendor="NVIDIA",
        family="Hopper",
        generation=70,
        aliases=["Hopper card"],
        sources={"peak_flops.bf16": SOURCE},
    )


@pytest.fixture
def t4() -> Chip:
    return Chip("T4", {"fp32": 8.1e12, "fp16": 65e12}, {"GDDR6": 320e9})


def test_a_figure_is_a_number_in_base_units_or_text_with_a_unit(h100: Chip) -> None:
    assert h100.peak("bf16") == 989.5e12
    assert h100.peak("fp8") == 1979e12
    assert h100.bandwidth() == 3.35e12
    assert Chip("x", {"fp64": "1e3"}, {"DRAM": "100 GiB/s"}).bandwidth() == 100 * 2**30


def test_a_figure_may_be_a_numpy_scalar() -> None:
    chip = Chip("x", {"fp32": np.float32(2.0)}, {"DRAM": np.int64(4)})
    assert chip.ridge_point() == 0.5


PEAK = r"peak_flops\['bf16'\] of chip 'My chip'"
BANDWIDTH = r"memories\['HBM'\] of chip 'My chip'"


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([0, -1.0, math.nan, math.inf, "0 TFLOP/s", "-1 TFLOP/s"], ValueError, " must be .* above zero"),
        ([True, False, [1.0], {}], TypeError, ": expected a number or text"),
        ([None], TypeError, ""),
        (["1 TB/s", "1 furlong", "1 TiFLOP/s"], ValueError, ": .* is not a unit of FLOP/s"),
        (["", "fast", "nan", "inf"], ValueError, ": no number in"),
    ],
    ids=["not above zero", "no number", "unknown", "another unit", "text without a number"],
)
def test_a_peak_that_is_no_rate_above_zero_is_refused_by_name(
    values: list[object], error: type[Exception], message: str
) -> None:
    for value in values:
        with pytest.raises(error, match=PEAK + message):
            Chip("My chip", {"bf16": value}, {"HBM": 1e12})


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([0, -1.0, math.nan, math.inf, "0 TB/s", Memory("HBM", -1.0)], ValueError, " must be .* above zero"),
        ([True, False, [1.0], {}], TypeError, ": expected a number or text"),
        (["1 TFLOP/s", "1 GB", "1 parsec"], ValueError, ": .* is not a unit of B/s"),
    ],
    ids=["not above zero", "no number", "another unit"],
)
def test_a_bandwidth_that_is_no_rate_above_zero_is_refused_by_name(
    values: list[object], error: type[Exception], message: str
) -> None:
    for value in values:
        with pytest.raises(error, match=BANDWIDTH + message):
            Chip("My chip", {"bf16": 1e12}, {"HBM": value})


def test_a_chip_without_peaks_or_memories_is_refused() -> None:
    with pytest.raises(ValueError, match="peak_flops of chip 'x' must map precisions to rates"):
        Chip("x", {}, {"HBM": 1e12})
    with pytest.raises(ValueError, match="memories of chip 'x' must map levels to bandwidths"):
        Chip("x", {"bf16": 1e12}, {})


def test_the_bandwidth_of_the_main_memory_is_needed() -> None:
    with pytest.raises(ValueError, match="chip 'x' needs the bandwidth of its main memory 'HBM'"):
        Chip("x", {"bf16": 1e12}, {"HBM": None, "L2": 5e12})


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_chip_needs_a_name(name: object) -> None:
    with pytest.raises(ValueError, match="a chip's name must be text that is not empty"):
        Chip(name, {"bf16": 1e12}, {"HBM": 1e12})  # type: ignore[arg-type]  # the wrong type is under test


def test_an_unknown_keyword_names_the_nearest_one() -> None:
    wrong: dict[str, Any] = {"vendr": "Google"}
    with pytest.raises(TypeError, match="Chip has no keyword 'vendr'; did you mean 'vendor'"):
        Chip("x", {"bf16": 1e12}, {"HBM": 1e12}, **wrong)


def test_the_default_precision_is_the_first_in_use_that_the_chip_has(h100: Chip, t4: Chip) -> None:
    assert h100.precision() == "bf16"
    assert t4.precision() == "fp16"
    assert Chip("x", {"int8": 1e12}, {"HBM": 1e12}).precision() == "int8"
    assert Chip("x", {"bf16": 1e12, "fp64": 2e12}, {"HBM": 1e12}, default_precision="FP64").peak() == 2e12


def test_a_default_precision_that_the_chip_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="default_precision 'fp8' of chip 'x' is none of its precisions: 'bf16'"):
        Chip("x", {"bf16": 1e12}, {"HBM": 1e12}, default_precision="fp8")


def test_precisions_and_memories_are_found_in_any_case(h100: Chip) -> None:
    assert h100.peak("BF16") == h100.peak("bf16")
    assert h100.precision("Fp8") == "fp8"
    assert h100.memory("hbm") == "HBM"
    assert h100.bandwidth("smem") == 33e12


def test_an_unknown_precision_memory_or_bandwidth_names_those_the_chip_has(h100: Chip) -> None:
    for asked, name, message in (
        (h100.peak, "fp4", "H100 has no peak for precision 'fp4'; it has 'bf16', 'fp8'"),
        (h100.bandwidth, "VMEM", "H100 has no memory 'VMEM'; it has 'HBM', 'L2', 'SMEM'"),
        (h100.bandwidth, "l2", "H100 has no bandwidth for L2; it has those of 'HBM', 'SMEM'"),
    ):
        with pytest.raises(MissingFigureError, match=message):
            asked(name)


def test_the_main_memory_is_the_first_and_any_off_chip_name_finds_it(h100: Chip, t4: Chip) -> None:
    assert h100.main_memory == h100.memory() == "HBM"
    assert t4.main_memory == t4.memory("HBM") == t4.memory("dram") == "GDDR6"
    assert t4.bandwidth("HBM") == 320e9


def test_an_on_chip_main_memory_is_not_found_by_an_off_chip_name() -> None:
    with pytest.raises(MissingFigureError, match="x has no memory 'HBM'; it has 'SRAM'"):
        Chip("x", {"bf16": 1e12}, {"SRAM": 1e12}).memory("HBM")


@pytest.mark.parametrize("level", ["HBM", "hbm3e", "HBM2", "DRAM", "DDR5", "GDDR6X", "LPDDR5X", "Unified memory"])
def test_the_usual_words_for_the_memory_outside_are_known(level: str) -> None:
    assert is_off_chip(level)


@pytest.mark.parametrize("level", ["L1", "L2", "SMEM", "VMEM read", "CMEM", "HBM read", ""])
def test_other_levels_are_on_the_chip(level: str) -> None:
    assert not is_off_chip(level)


def test_the_ridge_point_is_peak_over_bandwidth(h100: Chip) -> None:
    assert h100.ridge_point() == 989.5e12 / 3.35e12
    assert h100.ridge_point("fp8", "SMEM") == 1979e12 / 33e12


def test_the_id_is_made_from_the_name_unless_given() -> None:
    assert Chip("My Chip (2nd)", {"bf16": 1}, {"HBM": 1}).id == "my-chip-2nd"
    assert Chip("My Chip", {"bf16": 1}, {"HBM": 1}, id="mine").id == "mine"
    assert Chip("芯片", {"bf16": 1}, {"HBM": 1}).id


def test_a_chip_cannot_be_changed(h100: Chip) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        h100.name = "other"  # type: ignore[misc]  # the wrong type is under test
    for mapping in (h100.peak_flops, h100.memories, h100.sources):
        with pytest.raises(TypeError):
            mapping["bf16"] = 1.0  # type: ignore[index]  # the wrong type is under test


def test_a_chip_does_not_follow_the_mapping_it_was_made_from() -> None:
    peaks: dict[str, object] = {"bf16": 1e12}
    chip = Chip("x", peaks, {"HBM": 1e12})
    peaks["bf16"] = 2e12
    assert chip.peak() == 1e12


def test_equal_chips_are_one_key(h100: Chip) -> None:
    twin = copy.deepcopy(h100)
    assert twin == h100
    assert hash(twin) == hash(h100)
    assert {h100: 1}[twin] == 1


def test_chips_of_other_figures_are_not_equal(h100: Chip) -> None:
    assert dataclasses.replace(h100, peak_flops={"bf16": 1e12}) != h100


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_chip_comes_back_the_same(h100: Chip, protocol: int) -> None:
    back = pickle.loads(pickle.dumps(h100, protocol))  # noqa: S301 - our own bytes
    assert back == h100
    assert back.sources == {"peak_flops.bf16": SOURCE}


def test_a_copy_is_the_same_chip(h100: Chip) -> None:
    assert copy.copy(h100) == h100
    assert list(copy.deepcopy(h100).memories) == ["HBM", "L2", "SMEM"]


def test_the_repr_shows_name_peaks_and_known_bandwidths(h100: Chip) -> None:
    assert repr(h100) == "Chip('H100': bf16 989.5 TFLOP/s, fp8 1.979 PFLOP/s; HBM 3.35 TB/s, SMEM 33 TB/s)"


def test_a_chip_with_other_rates_keeps_everything_else() -> None:
    chip = Chip("x", {"bf16": 1e12, "fp8": 2e12}, {"HBM": Memory("HBM", 1e12, 8e10)}, vendor="v", aliases=["y"])
    other = chip.with_rates({"bf16": 3e12}, {"HBM": 4e12})
    assert (other.peak("bf16"), other.peak("fp8"), other.bandwidth()) == (3e12, 2e12, 4e12)
    assert (other.memories["HBM"].capacity, other.vendor, other.aliases, other.id) == (8e10, "v", ("y",), chip.id)
    assert chip.peak("bf16") == 1e12


def test_the_usable_bytes_of_a_memory_pass_through_records_replacements_and_cards() -> None:
    hbm = Memory("HBM", 3.35e12, 80 * 2**30, usable=81_559 * 2**20)
    one = Chip("x", {"bf16": 1e15}, {"HBM": hbm})
    assert one.to_dict()["memories"]["HBM"]["usable"] == 85_520_809_984
    assert Chip.from_dict(one.to_dict()) == one
    assert one.replace(memories={"HBM": "6 TB/s"}).memories["HBM"].usable == 85_520_809_984
    assert one.with_rates({}, {"HBM": 6e12}).memories["HBM"].allocatable == 85_520_809_984
    shown_as = {figure.key: card.shown(figure) for figure in one.figures}
    assert (shown_as["memories.HBM.capacity"], shown_as["memories.HBM.usable"]) == ("80 GiB", "79.65 GiB")


def test_the_memory_of_the_host_passes_through_records_replacements_and_cards() -> None:
    lpddr = Memory("LPDDR5X", 512e9, 480 * 2**30, "of the CPU")
    one = Chip("x", {"bf16": 1e15}, {"HBM": 4e12}, host_memories={"LPDDR5X": lpddr})
    assert one.to_dict()["host_memories"] == {
        "LPDDR5X": {"bandwidth": 512e9, "capacity": 515_396_075_520, "scope": "of the CPU"}
    }
    assert Chip.from_dict(one.to_dict()) == copy.deepcopy(one) == one
    assert one.replace(name="y").host_memories == {"LPDDR5X": lpddr}
    shown_as = {figure.label: card.shown(figure) for figure in one.figures}
    assert shown_as["Host memory LPDDR5X bandwidth (of the CPU)"] == "512 GB/s"
    assert shown_as["Host memory LPDDR5X capacity"] == "480 GiB"
    assert [*one.memories] == ["HBM"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([1e12], "host_memories of chip 'x' must map names to memories"),
        ({"main": 1e12}, "main"),
        ({"LPDDR5X": Memory("LPDDR5X", -1.0)}, "host_memories\\['LPDDR5X'\\] of chip 'x'"),
    ],
)
def test_a_wrong_memory_of_the_host_is_refused_by_its_name(given: object, problem: str) -> None:
    with pytest.raises((TypeError, ValueError), match=problem):
        Chip("x", {"bf16": 1e15}, {"HBM": 4e12}, host_memories=given)  # type: ignore[arg-type]


def test_the_bytes_of_one_block_pass_through_records_replacements_and_cards() -> None:
    l1 = Memory("L1", 33e12, 132 * 2**18, per_block=227 * 2**10)
    one = Chip("x", {"bf16": 1e15}, {"HBM": 3e12, "L1": l1})
    assert one.to_dict()["memories"]["L1"]["per_block"] == 232_448
    assert Chip.from_dict(one.to_dict()) == one
    assert one.replace(memories={"L1": "40 TB/s"}).memories["L1"].per_block == 232_448
    (row,) = [figure for figure in one.figures if figure.key == "memories.L1.per_block"]
    assert (row.label, card.shown(row)) == ("L1 capacity for one block", "227 KiB")


def test_the_latency_of_a_level_passes_through_records_replacements_and_cards() -> None:
    one = Chip("x", {"bf16": 1e15}, {"HBM": Memory("HBM", "3 TB/s", latency="350 ns")})  # type: ignore[arg-type]
    assert one.memories["HBM"].latency == 350e-9
    assert one.to_dict()["memories"]["HBM"]["latency"] == 350e-9
    assert Chip.from_dict(one.to_dict()) == one
    assert one.replace(memories={"HBM": "4 TB/s"}).memories["HBM"].latency == 350e-9
    (row,) = [figure for figure in one.figures if figure.key == "memories.HBM.latency"]
    assert (row.label, card.shown(row)) == ("HBM latency, unloaded", "350 ns")
    with pytest.raises(ValueError, match=r"latency of memories\['HBM'\] of chip 'x'"):
        Chip("x", {"bf16": 1e15}, {"HBM": Memory("HBM", 3e12, latency=0.0)})


@pytest.mark.parametrize(
    ("memory", "problem"),
    [
        (Memory("HBM", 1e12, 80e9, usable=81_559 * 2**20), "is 85520809984 B, more than its capacity, 80000000000 B"),
        (Memory("HBM", 1e12, usable=1e9), "is 1000000000 B, more than its capacity, an unknown size"),
        (Memory("HBM", 1e12, 80e9, usable=-1.0), "usable of memories"),
        (
            Memory("HBM", 1e12, 80e9, per_block=81e9),
            "per_block .* is 81000000000 B, more than its capacity",
        ),
    ],
)
def test_a_memory_with_more_usable_bytes_than_it_has_is_refused(memory: Memory, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Chip("x", {"bf16": 1e15}, {"HBM": memory})
