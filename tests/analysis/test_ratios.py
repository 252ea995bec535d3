"""Kernels that are known by the two coordinates of a roofline, without FLOPs, bytes and seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.kernels.work import with_typed_work
from tests.places import golden
from tests.tables import has_columns

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound

GOLDEN = golden("ratios.json")
CHIP = rw.Chip("chip", GOLDEN["chip"]["peaks"], GOLDEN["chip"]["memories"], default_precision="fp64")
LAPTOP = rw.Chip("Made-up laptop", {"fp64": "1 TFLOP/s"}, {"DRAM": "100 GB/s"})
LAB = rw.Kernels(["triad", "dgemm"], intensity=[0.083, 12.5], rate=[15.4e9, 880e9])
# No second and no amount of such a kernel is known.
AMOUNTS = ("flops", "measured", "time", "compute_time", "body_time", "headroom", "energy")


def number(value: Any) -> float:
    return float("nan") if value is None else value[0] / value[1] if isinstance(value, list) else value


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["title"])
def test_the_shares_are_those_of_the_golden_file(case: dict[str, Any]) -> None:
    table = rw.Kernels.from_records([{"name": "k", **case["kernel"]}, ("other", 1e9, 1e9, 0.1)])
    memory = case.get("memory", "main")
    bound = bound_lenient(table, CHIP, memory=memory, **case.get("options", {}))
    expected = dict(case["expected"])
    assert bound.bound_by[0] == expected.pop("bound_by")
    level = CHIP.main_memory if memory == "all" else bound.memory
    found = {name: getattr(bound, name)[0] for name in expected if name != "ai"}
    found["ai"] = bound.ai[level][0] if level in bound.ai else np.nan
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], number(value), rtol=1e-15, err_msg=name)
    np.testing.assert_allclose(bound.roof_fraction[0], number(expected["utilization"]), rtol=1e-15)
    assert bound.above_roof[0] == (number(expected["utilization"]) > 1)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["title"])
def test_no_amount_and_no_second_is_invented(case: dict[str, Any]) -> None:
    bound = bound_lenient(rw.Kernels.from_records([{"name": "k", **case["kernel"]}]), CHIP)
    for name in AMOUNTS:
        if name != "measured" or "time" not in case["kernel"]:
            assert np.isnan(getattr(bound, name)).all(), name
    for column in (*bound.memory_time.values(), *bound.bytes.values()):
        assert np.isnan(column).all()
    assert np.isnan(bound.total_time)


def test_a_bound_of_other_kernels_in_the_table_does_not_change() -> None:
    others = rw.Kernels(["a", "b"], [4e11, 0], [1e9, 1e10], time=[1, 0.5], count=[3, 1])
    options: dict[str, Any] = {"launch_overhead": "100 ms", "overlap": 0.5}
    alone, both = rw.bound(others, LAPTOP, **options), rw.bound(joined_with_lab(others), LAPTOP, **options)
    for name in (*AMOUNTS, "attainable", "utilization", "peak", "balanced", "bound_by", "exposed_fraction"):
        np.testing.assert_array_equal(getattr(both, name)[:2], getattr(alone, name), err_msg=name)


def joined_with_lab(others: rw.Kernels) -> rw.Kernels:
    return rw.Kernels.from_records([*others, *LAB])


def test_the_report_shows_the_shares_and_that_the_time_is_unknown() -> None:
    assert repr(rw.bound(LAB, LAPTOP)) == (
        "Bound: 2 kernels on Made-up laptop · fp64 · DRAM\n"
        "kernel  AI at DRAM    bound time  bound by  of peak  of roof\n"
        "triad   0.083 FLOP/B  unknown     DRAM      1.5 %    186 %, above it\n"
        "dgemm   12.5 FLOP/B   unknown     compute   88 %     88 %"
    )
    assert repr(LAB) == "Kernels(2 kernels, 2 measured)"
    assert "<td>unknown</td><td>unknown</td><td>12.5 FLOP/B</td><td>880 GFLOP/s</td>" in LAB._repr_html_()


def test_the_note_on_a_kernel_above_its_roof_needs_no_seconds() -> None:
    over = rw.Kernels(["triad", "dgemm"], intensity=[0.083, 50], rate=[15.4e9, 1.1e12])
    first, second = rw.bound(over, LAPTOP).notes
    assert first.startswith(
        "'triad' is above its roof at 15.4 GFLOP/s: its intensity at DRAM must be at least 0.154 FLOP/B, not 0.083 "
        "FLOP/B. So the bytes are miscounted"
    )
    assert second.startswith("'dgemm' is above its roof at 1.1 TFLOP/s: more than its peak of 1 TFLOP/s. So the FLOPs")


def test_advice_leaves_out_the_seconds() -> None:
    table = rw.Kernels(
        ["triad", "dgemm", "spmv", "rate"], intensity=[0.083, 12.5, 0.17, np.nan], rate=[1e9, 8.5e11, np.nan, 1]
    )
    assert [one.evidence for one in rw.advise(rw.bound(table, LAPTOP))] == [
        "12 % of roof (close from 80 %), 0.1 % of peak (DRAM)",
        "85 % of roof (close from 80 %, stop from 95 %), 85 % of peak",
        "at most 1.7 % of peak (DRAM)",
        "FLOPs and bytes at DRAM not known",
    ]


def test_kernels_are_ranked_and_filtered_by_what_is_known() -> None:
    assert LAB.top(1, by="utilization", chip=LAPTOP).names.tolist() == ["triad"]
    assert LAB.top(1, by="peak_fraction", chip=LAPTOP).names.tolist() == ["dgemm"]
    assert LAB.filter(bounds="compute", chip=LAPTOP).names.tolist() == ["dgemm"]


def test_a_projection_changes_nothing_of_such_a_kernel() -> None:
    found = rw.project(LAB, LAPTOP.replace(memories={"DRAM": "200 GB/s"}), source=LAPTOP)
    assert np.isnan(found.by_kernel).all()
    assert not found.scaled.any()
    assert (found.before, found.time) == (0, 0)


def test_a_what_if_of_such_a_kernel_is_refused() -> None:
    model = rw.RooflineModel([LAPTOP], LAB)
    for asked in ({"bytes": 0.5}, {"time": 0.5}):
        with pytest.raises(
            ValueError, match=r"'triad' has an intensity and a rate, and no bytes and no time .*with_work"
        ):
            model.move("triad", **asked)
    assert not model.moves


def test_a_snapshot_keeps_the_places() -> None:
    names, intensities, rates = zip(*rw.RooflineModel([LAPTOP], LAB).freeze().kernels, strict=True)
    assert names == ("triad", "dgemm")
    np.testing.assert_allclose([intensities, rates], [[0.083, 12.5], [15.4e9, 880e9]], rtol=1e-15)


@pytest.mark.parametrize("case", GOLDEN["typed"], ids=lambda case: case["title"])
def test_typed_work_completes_what_the_ratios_give(case: dict[str, Any]) -> None:
    table = rw.Kernels.from_records([{"name": "k", **case["kernel"]}])
    found = with_typed_work(table, {0: case["typed"]})
    np.testing.assert_array_equal(
        [found.flops[0], found.bytes[0], found.time[0]], [number(case[n]) for n in ("flops", "bytes", "time")]
    )


def test_runs_are_compared_by_their_intensities() -> None:
    faster = LAB.replace(intensity=[0.1, 12.5])
    runs = rw.compare_runs(LAB, faster, chip=LAPTOP)
    has_columns(runs, ai_before=[0.083, 12.5], ai_after=[0.1, 12.5])


def unknown(bound: Bound) -> bool:
    return bool(np.isnan(bound.utilization).all())


def test_bytes_over_a_link_leave_the_share_unknown() -> None:
    linked = rw.Chip("x", {"bf16": 1e12}, {"HBM": 1e12}, links={"Link": 1e12})
    table = rw.Kernels(["step"], {"": [np.nan]}, {"network": [1e9]}, intensity=[2], rate=[1e9])
    assert unknown(rw.bound(table, linked))
    assert unknown(rw.bound(table[[0]], linked))
    assert not table.has_ratios
