"""The work of opaque kernels: FLOPs and bytes that the user gives by name fill in what a profile does not know."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from tests.places import FIXTURES, write
from tests.tables import has_columns

NAN = float("nan")
ROCPROF = FIXTURES / "rocprof"


def profiled(**changes: Any) -> rw.Kernels:
    table = rw.Kernels(
        ["void flash_fwd_kernel<128>", "memcpy", "gemm_bf16"],
        {"fp16": [NAN, 0, 5e9]},
        {"DRAM": [NAN, 8e6, NAN], "L2": [7, 9e6, NAN]},
        time=[4e-5, 1e-5, 2e-5],
        count=[2, 1, 4],
        origin={"flops": [None, "counted", "counted"], "flops:fp16": "sm__ops", "bytes:DRAM": "dram__bytes"},
    )
    return table.replace(**changes)


def attention() -> rw.workloads.Op:
    q, k = rw.workloads.Tensor("q", (64, 32), "bf16"), rw.workloads.Tensor("k", (32, 16), "bf16")
    return rw.workloads.Op("attn", "matmul", [q, k], [rw.workloads.Tensor("o", (64, 16), "bf16")], 2 * 64 * 32 * 16)


def test_work_of_one_launch_times_the_launches_fills_in_what_is_unknown() -> None:
    table = profiled().with_work({"FLASH*kernel": {"flops": "4 GFLOP", "bytes": 3e6, "precision": "bf16"}})
    has_columns(table, flops=[8e9, 0, 5e9], bytes=[6e6, 8e6, NAN], precision=["bf16", None, None])
    assert table.warnings == ()


def test_what_was_filled_in_says_so_in_origin_and_other_origins_stay() -> None:
    table = profiled().with_work({"flash": {"flops": 1, "bytes": 1}})
    assert table.origin["flops"].tolist() == ["given per launch by work['flash']", "counted", "counted"]
    assert table.origin["flops:fp16"].tolist() == [None, "sm__ops", "sm__ops"]
    assert table.origin["bytes:DRAM"].tolist() == [None, "dram__bytes", "dram__bytes"]
    assert table.origin["bytes"].tolist() == ["given per launch by work['flash']", None, None]


def test_known_amounts_stay_and_a_warning_says_that_the_pattern_has_no_effect() -> None:
    table = profiled().with_work({"memcpy": {"flops": 7, "bytes": 7}})
    assert (table.flops[1], table.bytes[1]) == (0, 8e6)
    (warning,) = table.warnings
    assert "'memcpy' has no effect" in warning
    assert "replace=True" in warning


def test_replace_gives_new_amounts_for_known_ones_and_keeps_other_levels() -> None:
    table = profiled().with_work({"memcpy": {"flops": {"bf16": 7}, "bytes": {"HBM": 5}}}, replace=True)
    assert (table.flops[1], table.bytes[1]) == (7, 5)
    assert math.isnan(table.flops_by_precision["fp16"][1])
    assert math.isnan(table.bytes_by_level["DRAM"][1])
    assert table.bytes_by_level["L2"][1] == 9e6
    assert table.precision[1] == "bf16"


def test_a_level_beside_the_main_memory_is_filled_in_where_it_is_unknown() -> None:
    table = profiled().with_work({"*": {"bytes": {"HBM": 1, "L2": 2}}})
    has_columns(table, bytes=[2, 8e6, 4], bytes_by_level={"L2": [7, 9e6, 8]})
    assert table.origin["bytes:L2"].tolist() == [None, None, "given per launch by work['*']"]


def test_an_op_gives_its_flops_its_bytes_and_its_precision() -> None:
    table = profiled().with_work({"flash": attention()})
    # Two launches of 2 x 64 x 32 x 16 FLOPs; 2 bytes for each element of q, k and o.
    assert table.flops[0] == 2 * 65_536
    assert table.bytes[0] == 2 * 2 * (64 * 32 + 32 * 16 + 64 * 16)
    assert table.precision[0] == "bf16"
    assert table.origin["flops"][0] == "given per launch by work['flash'], op 'attn'"


def test_a_function_gets_each_row_as_a_kernel_and_may_decline() -> None:
    seen = []

    def work(row: rw.Kernel) -> Any:
        seen.append((row.name, row.count))
        return attention() if "flash" in row.name else None

    table = profiled().with_work({"": work})
    assert seen == [("void flash_fwd_kernel<128>", 2), ("memcpy", 1), ("gemm_bf16", 4)]
    np.testing.assert_array_equal(table.bytes, [2 * 7168, 8e6, NAN])
    assert table.origin["flops"][0] == "computed per launch by work[''], op 'attn'"


def test_the_first_pattern_that_matches_counts_also_with_replace() -> None:
    work = {"flash": {"flops": 1}, "kernel": {"flops": 2, "bytes": 3}}
    for table in (profiled().with_work(work), profiled().with_work(work, replace=True)):
        assert (table.flops[0], table.bytes[0]) == (2, 6)


def test_patterns_that_match_nothing_are_named_with_names_that_are_near() -> None:
    table = profiled().with_work({"gem_bf16": {"flops": 1}, "x*": {"bytes": 1}})
    assert table == profiled()
    assert table.warnings[0] == "work: no kernel's name matches 'gem_bf16'; there are 'gemm_bf16'"
    assert "no kernel's name matches 'x*'" in table.warnings[1]


def test_single_launches_of_a_sum_get_their_work_too() -> None:
    table = rw.Kernels(["flash", "flash"], [NAN, NAN], [NAN, NAN], count=[1, 3]).groupby("name")
    filled = table.with_work({"flash": {"flops": 5, "bytes": 2}})
    assert filled.flops.tolist() == [20]
    assert filled.launches_of(0).flops.tolist() == [5, 15]
    assert filled.launches_of(0).bytes.tolist() == [2, 6]


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (3, TypeError, "work must map patterns"),
        ({1: {"flops": 1}}, TypeError, "1 is no pattern"),
        ({"flash": 5}, TypeError, r"work\['flash'\] must be a dict with 'flops' and 'bytes', an op or a function"),
        ({"flash": {"flop": 1}}, TypeError, r"work\['flash'\] has no keyword 'flop'; did you mean 'flops'"),
        ({"flash": {}}, ValueError, "gives neither 'flops' nor 'bytes'"),
        ({"flash": {"flops": -1}}, ValueError, r"work\['flash'\]: flops of kernel 'flash'"),
        ({"flash": {"bytes": "3 GFLOP"}}, ValueError, r"work\['flash'\]: bytes of kernel 'flash'"),
        ({"flash": lambda row: row.time}, TypeError, r"work\['flash'\] must be a dict .* or None, got 4e-05"),
    ],
)
def test_wrong_work_is_named_by_its_pattern(work: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        profiled().with_work(work)


def test_every_reader_takes_work(tmp_path: Path) -> None:
    path = write(tmp_path / "run.csv", "name,time (us)\nflash_fwd,31\ncopy,2\n")
    work = {"flash*": {"flops": "3.1 GFLOP"}}
    for kernels in (
        rw.read(path, work=work),
        rw.read(path, format="table", work=work),
        rw.read([{"name": "flash_fwd", "time": 3.1e-5}], work=work),
        rw.read_many([path], work=work)[str(path)],
        rw.roofline(["h100-sxm"], path, work=work).kernels,
        rw.roofline(["h100-sxm"], [("flash_fwd", None, None, 3.1e-5)], work=work).kernels,
        rw.roofline(["h100-sxm"], [("copy", 0, 1)], baseline=path, work=work).baseline,
    ):
        assert kernels is not None
        assert kernels.achieved[0] == pytest.approx(1e14) or kernels.names[0] == "copy"
    with pytest.raises(TypeError, match="work is for kernels"):
        rw.roofline(["h100-sxm"], work=work)
    assert rw.read(ROCPROF / "results.csv", work={"laplacian": {"flops": 77}}).flops.tolist() == [77]


def test_work_is_named_among_the_options_of_a_reader(tmp_path: Path) -> None:
    path = write(tmp_path / "run.csv", "name,time (us)\nflash_fwd,31\n")
    with pytest.raises(TypeError, match="did you mean 'work'"):
        rw.read(path, wrk={})
