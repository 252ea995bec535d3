"""The instruction roofline: the peaks and roofs that the paper prints, walls as fractions, and counts by hand."""

from __future__ import annotations

import json
import math
import runpy
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.analysis.instruction_roofline import L1_WITH_SHARED, sectors_of_stride, shared_memory_level, walls
from tests import places
from tests.make_fixtures import slow_kernels

GOLDEN: dict[str, Any] = json.loads((places.GOLDEN / "instruction_roofline.json").read_text(encoding="utf-8"))
TURNS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
LOCAL = "l1tex__t_sectors_pipe_lsu_mem_local_op_"
SLOW = [places.FIXTURES / "gpu" / f"slow.{page}.csv.gz" for page in ("raw", "instructions")]


def one(extra: dict[str, Any], chip: rw.Chip, moved: dict[str, float] | None = None) -> rw.InstructionRoofline:
    table = rw.Kernels(["k"], [0.0], {key: [n] for key, n in (moved or {}).items()}, time=[1e-3], extra=extra)
    return rw.instruction_roofline(table, chip)


def volta(**figures: Any) -> rw.Chip:
    memories = {row["level"]: row["bandwidth"] for row in GOLDEN["roofs"] if row["level"] != "shared"}
    order = {name: memories[name] for name in ("HBM", "L2", "L1")}
    figures = {"vendor": "NVIDIA", "family": "Volta", "units": "80 SM", "clock": 1.53e9, **figures}
    return rw.Chip("V100", {"fp32": 15.7e12}, order, **figures)


def test_the_golden_file_is_what_its_script_writes() -> None:
    made = runpy.run_path(str(places.GOLDEN / "make_instruction_roofline.py"))["golden"]()
    assert made == GOLDEN


@pytest.mark.parametrize("row", GOLDEN["peaks"], ids=lambda row: row["chip"])
def test_the_peak_is_units_times_schedulers_times_clock(row: dict[str, Any]) -> None:
    figures = {key: row[key] for key in ("vendor", "family", "units", "clock")}
    found = one({"warp instructions": [1.0]}, rw.Chip(row["chip"], {"fp32": 1e12}, {"HBM": 1e12}, **figures))
    assert found.peak / 1e9 == pytest.approx(row["gips"], rel=1e-12)
    assert found.unit == ("wavefront" if row["vendor"] == "AMD" else "warp")


def test_the_v100_of_the_catalogue_has_the_peak_of_the_paper() -> None:
    table = rw.Kernels(["k"], [0], [1], time=[1], extra={"warp instructions": [1.0]})
    assert rw.instruction_roofline(table, "v100-sxm2-16gb").peak == pytest.approx(489.6e9, rel=1e-12)


@pytest.mark.parametrize("row", GOLDEN["roofs"], ids=lambda row: row["level"])
def test_a_roof_is_the_bandwidth_in_transactions(row: dict[str, Any]) -> None:
    found = one({"warp instructions": [1.0]}, volta())
    # The paper prints one decimal.
    assert found.bandwidths[row["level"]] / 1e9 == pytest.approx(row["gtxn"], abs=0.1)


@pytest.mark.parametrize("row", GOLDEN["strides"], ids=lambda row: f"{row['stride']} of {row['size']} B")
def test_a_warp_touches_the_sectors_of_its_stride(row: dict[str, Any]) -> None:
    assert sectors_of_stride(row["stride"], row["size"]) == row["sectors"]


@pytest.mark.parametrize(("stride", "size"), [(-1, 4), (1, 3), (1, 32)])
def test_a_stride_that_no_warp_has_is_refused(stride: int, size: int) -> None:
    with pytest.raises(ValueError, match="expected a stride from 0"):
        sectors_of_stride(stride, size)


def test_walls_are_those_of_the_paper() -> None:
    expected = [(row["name"], row["space"], row["of"][0] / row["of"][1]) for row in GOLDEN["walls"]]
    assert [(wall.name, wall.space, wall.intensity) for wall in walls()] == expected


@pytest.mark.parametrize("page", SLOW, ids=lambda path: path.name)
def test_counts_of_a_gpu_are_the_counts_by_hand(page: Any) -> None:
    table = rw.read(page)
    found = rw.instruction_roofline(table)
    names = [str(name).replace("void ", "").replace("(int)", "").partition("(")[0] for name in table.names]
    for name, counts in GOLDEN["kernels"].items():
        row = names.index(name)
        for space, (instructions, moved) in counts.items():
            assert getattr(found, f"{space}_instructions")[row] == instructions, (name, space)
            assert getattr(found, f"{space}_transactions")[row] == moved, (name, space)
            assert getattr(found, f"{space}_intensity")[row] == instructions / moved


def test_a_point_is_instructions_over_transactions_and_seconds() -> None:
    counts = {"L1 transactions": [4e6], "L2 transactions": [2e6], "HBM transactions": [1e6]}
    found = one({"warp instructions": [1e6], "thread instructions": [8e6], **counts}, volta())
    assert found.rate.tolist() == [1e9]
    assert {level: ratio.tolist() for level, ratio in found.intensity.items()} == {
        "L1": [0.25],
        "L2": [0.5],
        "HBM": [1.0],
    }
    assert found.lanes.tolist() == [0.25]
    # 437.5 / 4, 93.65 / 2 and 25.9: HBM is the lowest.
    assert found.bound_by.tolist() == ["HBM"]
    assert found.attainable[0] == pytest.approx(25.9e9)
    assert found.utilization[0] == pytest.approx(1 / 25.9)


def test_without_transactions_the_peak_is_the_roof() -> None:
    none = {f"{level} transactions": [0.0] for level in ("L1", "L2", "HBM")}
    found = one({"warp instructions": [1e6], **none}, volta())
    assert (found.bound_by.tolist(), found.attainable.tolist()) == (["instructions"], [pytest.approx(489.6e9)])


@pytest.mark.parametrize("level", ["L1", "L2", "HBM"])
def test_an_unknown_count_of_a_level_is_not_a_level_that_is_no_limit(level: str) -> None:
    counts = {f"{one} transactions": [1e6, 1e6] for one in ("L1", "L2", "HBM")}
    counts[f"{level} transactions"] = [1e6, math.nan]
    table = rw.Kernels(["k", "k"], [0, 0], [0, 0], time=[1e-3] * 2, extra={"warp instructions": [1e6] * 2, **counts})
    found = rw.instruction_roofline(table, volta())
    assert found.bound_by.tolist() == ["HBM", "unknown"]
    assert np.isnan(found.utilization).tolist() == [False, True]
    # The other levels of the same kernel stay known, and a level that no kernel counts is unknown too.
    assert sum(bool(np.isfinite(ratio[1])) for ratio in found.intensity.values()) == 2
    del counts[f"{level} transactions"]
    bare = rw.Kernels(["k", "k"], [0, 0], [0, 0], time=[1e-3] * 2, extra={"warp instructions": [1e6] * 2, **counts})
    assert rw.instruction_roofline(bare, volta()).bound_by.tolist() == ["unknown"] * 2


def test_each_kernel_is_judged_by_the_peak_at_its_own_clock() -> None:
    none = {f"{level} transactions": [0.0] * 3 for level in ("L1", "L2", "HBM")}
    # 80 x 4 schedulers at 1 GHz, at 2 GHz and at an unknown clock; the mean by time is at 1.25 GHz.
    own = {"peak warp instructions (1/s)": [320e9, 640e9, math.nan], "warp instructions": [9.6e11, 6.4e11, 4e11]}
    table = rw.Kernels(["a", "b", "c"], [0] * 3, [0] * 3, time=[3.0, 1.0, 1.0], extra={**own, **none}, chip=volta())
    found = rw.instruction_roofline(table)
    assert found.peak == pytest.approx(400e9)
    assert found.peaks.tolist() == pytest.approx([320e9, 640e9, 400e9])
    assert found.utilization.tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert found.to_dict()["kernels"]["peak"] == found.peaks.tolist()
    # The chip that is asked for has its own clock.
    assert rw.instruction_roofline(table, volta()).peaks.tolist() == pytest.approx([489.6e9] * 3)


@pytest.mark.parametrize("figures", [{"clock": None}, {"units": None}, {"family": "Pascal"}])
def test_without_a_peak_nothing_is_judged(figures: dict[str, Any]) -> None:
    found = one({"warp instructions": [1e6], "HBM transactions": [1e6]}, volta(**figures))
    assert math.isnan(found.peak)
    assert found.bound_by.tolist() == ["unknown"]
    assert np.isnan(found.utilization).all()
    assert found.to_dict()["peak"] is None


def test_amd_has_wavefronts_its_own_requests_and_no_walls() -> None:
    chip = rw.Chip(*("MI", {"fp32": 1e12}, {"HBM": 3.2e12}), vendor="AMD", family="CDNA 2", units="104 CU", clock=1.7e9)
    found = one(
        {"warp instructions": [1e6], "HBM transactions": [1e5], "thread instructions": [16e6]}, chip, {"HBM": 6.4e6}
    )
    assert (found.unit, found.walls, found.is_estimate) == ("wavefront", (), True)
    assert "peak about 176.8 GIPS of wavefronts" in repr(found)
    assert found.bandwidths["HBM"] == pytest.approx(3.2e12 / 64)
    assert found.lanes.tolist() == [0.25]


def test_a_profile_without_instructions_says_how_to_count_them() -> None:
    with pytest.raises(ValueError, match=r"smsp__inst_executed\.sum"):
        rw.instruction_roofline(rw.Kernels(["k"], [1], [1]))


def test_the_table_has_a_row_per_kernel_and_json_has_no_nan() -> None:
    found = rw.instruction_roofline(rw.read(SLOW[0]))
    frame = found.to_dataframe()
    assert len(frame) == len(found) == 21
    assert frame["intensity:L1"].tolist() == pytest.approx(found.intensity["L1"].tolist(), nan_ok=True)
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert set(json.loads(text)) == {"unit", "peak", "is_estimate", "bandwidths", "walls", "kernels"}
    # 132 SMs x 4 schedulers at 1.98 GHz.
    assert found.peak == pytest.approx(132 * 4 * 1.98e9, rel=0.02)
    assert repr(found).startswith("InstructionRoofline: 21 kernels, peak 1.04")


def test_without_a_measured_clock_the_peak_is_at_the_highest_clock() -> None:
    assert rw.instruction_roofline(rw.read(SLOW[1])).peak == pytest.approx(132 * 4 * 1.98e9)


@pytest.mark.parametrize(("capability", "peak"), [(7, 100 * 4 * 1.5e9), (6, math.nan)])
def test_schedulers_that_the_file_does_not_count_are_four_from_volta_on(capability: int, peak: float) -> None:
    kernel = dict(slow_kernels.BASE) | {"device__attribute_max_gpu_frequency_khz": 1.5e6}
    kernel["device__attribute_compute_capability_major"] = capability
    # A clock is cycles over seconds; without the cycles the highest clock counts.
    del kernel["device__attribute_num_schedulers_per_multiprocessor"], kernel["sm__cycles_elapsed.avg"]
    table = slow_kernels.wide([("k", kernel)]).replace(b'"9.0"', f'"{capability}.0"'.encode())
    assert rw.instruction_roofline(rw.read(table)).peak == pytest.approx(peak, nan_ok=True)


@pytest.mark.parametrize("amount", [1e6, 32e6])
def test_a_turn_of_shared_memory_counts_as_the_four_sectors_that_it_moves(amount: float) -> None:
    kernel = dict(slow_kernels.BASE) | dict.fromkeys((f"{TURNS}ld.sum", f"{TURNS}st.sum"), amount)
    table = rw.read(slow_kernels.wide([("k", kernel)]))
    # 128 bytes are four times 32.
    expected = table.extra["global memory transactions"][0] + 4 * 2 * amount
    assert table.extra["L1 transactions"].tolist() == [expected]


@pytest.mark.parametrize("missing", [f"{TURNS}ld.sum", f"{LOCAL}ld.sum"])
def test_transactions_at_l1_are_unknown_if_a_part_of_them_is(missing: str) -> None:
    kernel = {name: value for name, value in slow_kernels.BASE.items() if name != missing}
    assert len(kernel) < len(slow_kernels.BASE)
    table = rw.read(slow_kernels.wide([("k", kernel)]))
    assert "L1 transactions" not in table.extra
    assert "L1" not in rw.instruction_roofline(table).transactions


def test_lanes_are_the_threads_of_an_instruction_where_those_of_all_are_not_counted() -> None:
    of_threads = {"threads per instruction": [8.0, 8.0], "thread instructions": [np.nan, 128]}
    extra = {"warp instructions": [4.0, 4.0], **of_threads}
    kernels = rw.Kernels(["a", "b"], [0, 0], [1, 1], time=[1, 1], extra=extra)
    assert rw.instruction_roofline(kernels).lanes.tolist() == [0.25, 1.0]


def with_level(turns: float, ways: float, chip: rw.Chip, **more: Any) -> tuple[float, rw.Chip]:
    extra = {"L1 transactions": [1000.0], "shared memory transactions": [turns], "bank conflict ways": [ways], **more}
    found = shared_memory_level({name: np.array(column) for name, column in extra.items()}, np.array([1e-3]), chip)
    return (math.nan, chip) if found is None else (float(found[0][0]), found[1])


def test_bytes_of_l1_and_shared_memory_are_those_without_bank_conflicts() -> None:
    # 1000 transactions are 600 sectors and 4 for each of 100 turns. Of 100 turns, 75 are conflicts if it has 4 ways.
    assert with_level(100, 1, volta())[0] == 32_000
    assert with_level(100, 4, volta())[0] == 600 * 32 + 25 * 128
    assert with_level(0, math.nan, volta())[0] == 32_000
    assert math.isnan(with_level(100, math.nan, volta())[0])


def test_l1_with_shared_memory_moves_a_turn_a_cycle_or_the_bandwidth_of_l1() -> None:
    turn = "a turn of 128 B a cycle and SM"
    for memory, clock, rate, source in (
        ("14 TB/s", 1.53e9, 80 * 128 * 1.53e9, turn),
        ("20 TB/s", 1.53e9, 20e12, "V100"),
        (None, 1.53e9, 80 * 128 * 1.53e9, turn),
        ("14 TB/s", None, 14e12, "V100"),
    ):
        memories = {"HBM": 9e11} if memory is None else {"HBM": 9e11, "L1": memory}
        chip = rw.Chip("V100", {"fp32": 1e13}, memories, vendor="NVIDIA", family="Volta", units="80 SM", clock=clock)
        found = with_level(100, 1, chip)[1]
        assert found.bandwidth(L1_WITH_SHARED) == pytest.approx(rate)
        assert found.main_memory == "HBM"
        assert found.sources[f"memories.{L1_WITH_SHARED}.bandwidth"].title == source
    # A report has the clock, and its chip no units.
    report = rw.Chip("Report", {"fp32": 1e13}, {"HBM": 9e11})
    peak = {"peak warp instructions (1/s)": [40 * 4 * 1e9]}
    assert with_level(100, 1, report, **peak)[1].bandwidth(L1_WITH_SHARED) == pytest.approx(40 * 128 * 1e9)
    for chip in (report, volta(vendor="AMD")):
        bytes_, same = with_level(100, 1, chip)
        assert math.isnan(bytes_)
        assert same is chip
