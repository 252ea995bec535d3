"""Call trees of Triton's Proton, Hatchet and Caliper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import ProfileError
from roofwidget.readers import read
from tests.places import write
from tests.real_files import real_file
from tests.tables import has_columns, warns


def node(name: str, metrics: dict[str, Any] | None = None, *children: dict[str, Any]) -> dict[str, Any]:
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics or {}, "children": list(children)}


def kernel(name: str, nanoseconds: float, count: int = 1, device: str = "0", **more: float) -> dict[str, Any]:
    about = {"count": count, "device_id": device, "device_type": "CUDA", "time (ns)": nanoseconds}
    return node(name, {**about, **more})


def device(arch: str, units: int, width: int, clock: int) -> dict[str, Any]:
    return {"arch": arch, "num_sms": units, "bus_width": width, "memory_clock_rate": clock, "clock_rate": 1}


DEVICES = {"CUDA": {"0": device("90", 132, 6144, 2_619_000), "1": device("90", 132, 6144, 2_619_000)}}
ROOT = {"count": 0, "time (ns)": 0, "flops8": 0, "bytes": 0}


def proton(*children: dict[str, Any]) -> rw.Kernels:
    return read(json.dumps([node("ROOT", ROOT, *children), DEVICES]).encode())


# -- Proton --------------------------------------------------------------------------------------------------------


def test_the_amounts_of_a_kernel_are_totals_of_its_launches() -> None:
    kernels = proton(kernel("foo", 204_800, 10, flops8=1e11, bytes=1e8), kernel("bar", 1000, flops16=5.0, flops=3.0))
    assert kernels.names.tolist() == ["foo", "bar"]
    assert (kernels.count[0], kernels.time[0]) == (10, pytest.approx(204.8e-6))
    assert kernels.flops_by_precision["fp8"][0] == 1e11
    assert kernels.achieved[0] == pytest.approx(1e11 / 204.8e-6)
    assert kernels.arithmetic_intensity[0] == 1000
    assert kernels.flops_by_precision["fp16"][1] == 5
    assert warns(kernels, "fp8 from int8")


def test_a_scope_gives_its_amounts_to_its_kernel() -> None:
    scope = node("matmul", {"flops16": 4e9, "bytes": 2e6}, kernel("gemm", 5000, 4), kernel("reduce", 100, 4))
    kernels = proton(scope)
    assert np.array_equal(kernels.flops, [4e9, np.nan], equal_nan=True)
    assert np.array_equal(kernels.bytes, [2e6, np.nan], equal_nan=True)
    assert kernels.category.tolist() == ["matmul", "matmul"]
    assert warns(kernels, "longest kernel of the scope")


def test_the_amounts_of_a_scope_do_not_count_twice() -> None:
    scope = node("matmul", {"flops16": 4e9, "bytes": 2e6}, kernel("gemm", 5000, 4, flops16=4e9))
    kernels = proton(scope)
    has_columns(kernels, flops=[4e9], bytes=[2e6])
    assert "1 amounts of scopes are not read: their kernels have amounts" in kernels.warnings


def test_the_kernels_of_protons_own_hook_are_left_out() -> None:
    hook = node("__proton_launch_metadata", {}, node("inner", {}, kernel("reduce", 4064)))
    kernels = proton(node("scope", {}, hook, kernel("triton_kernel", 1664, bytes=2.0)))
    has_columns(kernels, names=["triton_kernel"], bytes=[2.0], category=["scope"])
    assert "1 row left out: kernels of Proton's own hook" in kernels.warnings


def test_a_kernel_of_two_devices_is_named_apart_and_the_gpu_described() -> None:
    kernels = proton(kernel("foo", 10), kernel("foo", 20, device="1"), kernel("bar", 30, device="1"))
    assert kernels.names.tolist() == ["foo (device 0)", "foo (device 1)", "bar"]
    (told,) = [warning for warning in kernels.warnings if "does not name the GPU" in warning]
    assert "CUDA (0) is sm_90 with 132 multiprocessors, 4.02 TB/s" in told
    assert "h100-sxm" in told


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (kernel("foo", -5), r"\[0\].children\[0\]: 'time \(ns\)': expected a number from 0, got -5"),
        (node("foo", {"cycles": 5, "device_id": "0"}), "no kernel with a time in ns: cycles"),
        ({"frame": {}, "metrics": {}}, r"\[0\].children\[0\]: expected a node with frame.name"),
    ],
)
def test_a_bad_tree_is_an_error_that_names_the_node(tree: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        proton(tree)


def test_a_tree_of_many_levels_and_nodes_is_read() -> None:
    deep = kernel("leaf", 7)
    for level in range(150):
        deep = node(f"level {level}", {}, deep)
    kernels = proton(deep, node("wide", {"flops16": 1.0}, *(kernel("leaf", 1 + at) for at in range(3000))))
    assert len(kernels) == 3001
    assert np.flatnonzero(kernels.flops == 1).tolist() == [3000]


def test_a_tree_that_is_cut_off_is_an_error() -> None:
    text = json.dumps([node("ROOT", ROOT, kernel("foo", 5)), DEVICES])
    with pytest.raises(ProfileError, match="line 1"):
        read(text[:-100].encode())


def test_a_tree_in_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.hatchet").write_bytes(json.dumps([node("ROOT", ROOT, kernel("foo", 5))]).encode("utf-16"))
    write(tmp_path / "notes.txt", "hello")
    assert read(tmp_path).names.tolist() == ["foo"]


# -- Hatchet -------------------------------------------------------------------------------------------------------


def test_a_literal_has_inclusive_and_exclusive_times() -> None:
    tree = [
        node("foo", {"time (inc)": 130.0, "time": 0.0}, node("bar", {"time (inc)": 20.0, "time": 5.0, "flops": 8.0}))
    ]
    kernels = read(json.dumps(tree).encode())
    has_columns(kernels, time=[130, 20], self_time=[0, 5])
    assert np.array_equal(kernels.flops, [np.nan, 8], equal_nan=True)
    assert kernels.extra["parent"].tolist() == [None, "foo"]
    assert "the file has no unit of 'time (inc)': the times are taken for seconds" in kernels.warnings
    assert read(json.dumps(tree).encode(), unit="us").time.tolist() == pytest.approx([130e-6, 20e-6])
    with pytest.raises(ValueError, match="unit must be a unit of time"):
        read(json.dumps(tree).encode(), format="hatchet", unit="apples")


def test_a_dump_has_a_row_per_node_and_rank() -> None:
    graph = [{"0": {"data": {"name": "main"}, "children": [1]}, "1": {"data": {"name": "solve"}, "children": []}}]
    frame = [{"node": at, "rank": rank, "time": 5 + rank, "time (inc)": 9} for at in (0, 1) for rank in (0, 1)]
    dump = {"graph": graph, "dataframe_indices": ["node", "rank"], "dataframe": frame}
    kernels = read(json.dumps({**dump, "inclusive_metrics": ["time (inc)"], "exclusive_metrics": ["time"]}).encode())
    has_columns(
        kernels,
        names=["main", "main", "solve", "solve"],
        self_time=[5, 6, 5, 6],
        extra={"rank": [0, 1, 0, 1], "parent": [None, None, "main", "main"]},
    )


def test_a_metric_of_a_dump_with_the_name_of_a_regular_column_says_whose_it_is() -> None:
    dump = {"graph": [], "dataframe": [{"name": "main", "time": 5, "count": 3}], "exclusive_metrics": ["time", "count"]}
    has_columns(read(json.dumps(dump).encode()), count=[1], extra={"count (Hatchet)": [3]})


# -- Caliper -------------------------------------------------------------------------------------------------------

SPLIT: dict[str, Any] = {
    "columns": ["inclusive#sum#time.duration", "mpi.rank", "sum#time.duration", "path"],
    "column_metadata": [{"is_value": True}, {"is_value": True}, {"is_value": True}, {"is_value": False}],
    "nodes": [{"column": "path", "label": "main"}, {"column": "path", "label": "solve", "parent": 0}],
    "data": [[100.0, 0, 20.0, 0], [80.0, 0, 80.0, 1], [7.0, 1, 7.0, None]],
}


def test_a_split_of_caliper_has_microseconds_and_the_names_of_its_nodes() -> None:
    kernels = read(json.dumps(SPLIT).encode())
    has_columns(
        kernels,
        names=["main", "solve", "(outside of all regions)"],
        time=pytest.approx([100e-6, 80e-6, 7e-6]),
        self_time=pytest.approx([20e-6, 80e-6, 7e-6]),
        extra={"mpi.rank": [0, 0, 1], "parent": [None, "main", None]},
    )


def test_times_of_newer_versions_of_caliper_are_in_nanoseconds() -> None:
    columns = ["inclusive#sum#time.duration.ns", "mpi.rank", "sum#sum#time.duration.ns", "path"]
    kernels = read(json.dumps({**SPLIT, "columns": columns}).encode())
    has_columns(kernels, time=pytest.approx([100e-9, 80e-9, 7e-9]), self_time=pytest.approx([20e-9, 80e-9, 7e-9]))


def test_samples_of_caliper_have_the_names_of_functions_and_their_counts_are_no_launches() -> None:
    columns = ["count", "module#cali.sampler.pc", "source.function#callpath.address", "sum#time.duration"]
    labels = [("module#cali.sampler.pc", "cpi"), ("source.function#callpath.address", "main")]
    samples = {
        "columns": columns,
        "column_metadata": [{"is_value": name in columns[::3]} for name in columns],
        "nodes": [{"column": column, "label": label} for column, label in labels],
        "data": [[62, 0, 1, 300.0]],
    }
    kernels = read(json.dumps(samples).encode())
    has_columns(kernels, names=["main"], count=[1], time=pytest.approx([300e-6]), extra={"count (Caliper)": [62]})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": []}, "no row under 'data'"),
        ({"data": [[1.0, 0, 2.0]]}, r"data\[0\]: expected 4 values"),
        ({"data": [[1.0, 0, 2.0, 9]]}, r"data\[0\]: expected the number of a node, got 9"),
        (
            {"data": [["soon", 0, 2.0, 0]]},
            r"data\[0\]: 'inclusive#sum#time.duration': expected a number from 0, got 'soon'",
        ),
        ({"columns": ["a", "b", "c", "path"]}, "no column of times"),
    ],
)
def test_a_bad_split_is_an_error_that_names_the_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(json.dumps({**SPLIT, **changes}).encode())


# -- real files ----------------------------------------------------------------------------------------------------


def test_real_trees_of_proton_have_their_numbers() -> None:
    kernels = read(real_file("traces-2026/proton_triton.hatchet"))
    has_columns(kernels, names=["triton_kernel"], count=[1], bytes=[2], time=pytest.approx([1664e-9]))
    kernels = read(real_file("traces-2026/proton_cuda.hatchet"))
    has_columns(kernels, names=["foo0", "foo1"], count=[10, 1], flops=[1e11, 1e10], bytes=[1e8, 1e7])
    assert kernels.achieved[0] / 1e12 == pytest.approx(488.3, rel=1e-4)
    assert kernels.extra["device"].tolist() == ["CUDA (1)", "CUDA (0)"]


def test_real_times_of_caliper_and_hatchet() -> None:
    kernels = read(real_file("traces-2026/caliper_lulesh_annotation.json"))
    main = (kernels.names == "main") & (kernels.extra["mpi.rank"] == 0)
    assert (len(kernels), len(set(kernels.extra["mpi.rank"])), main.sum()) == (200, 8, 1)
    assert kernels.self_time[main] * 1e6 == pytest.approx([121_489])
    assert kernels.time[main] * 1e6 == pytest.approx([5_882_425])
    kernels = read(real_file("traces-2026/hatchet_literal.json"))
    assert kernels.names.tolist()[:2] == ["foo", "bar"]
    assert (kernels.time.tolist()[:2], kernels.self_time.tolist()[:2]) == ([135, 20], [0, 5])
