"""Lists of records within JSON documents, the chip beside them, and files with an object on each line."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from roofwidget.readers import ProfileError, read
from tests.tables import has_columns, warns

ROWS = [{"name": "gemm", "flops": 4e9, "bytes": 1e7, "time (us)": 31}, {"name": "relu", "flops": 2e6, "bytes": 8e6}]


def written(document: Any) -> bytes:
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "document",
    [
        {"results": ROWS},
        {"version": 2, "tags": ["a"], "run": {"kernels": ROWS}},
        {"a": {"b": {"c": ROWS}}, "steps": [{"epoch": 1}]},
        ROWS,
    ],
)
def test_a_list_of_records_at_a_shallow_key_is_read(document: Any) -> None:
    for data in (written(document), gzip.compress(written(document)), b"\xef\xbb\xbf" + written(document)):
        kernels = read(data)
        has_columns(kernels, names=["gemm", "relu"], flops=[4e9, 2e6])
        np.testing.assert_equal(kernels.time, [31 / 1e6, np.nan])


def test_a_well_packed_document_of_many_records_is_read() -> None:
    data = gzip.compress(written({"results": ROWS * 20_000, "hardware": "H100 SXM"}))
    kernels = read(data)
    assert (len(kernels), kernels.flops.sum()) == (40_000, 20_000 * (4e9 + 2e6))


def test_of_several_lists_the_longest_is_read_and_the_others_are_named() -> None:
    kernels = read(written({"warmup": ROWS[:1], "runs": ROWS}))
    assert len(kernels) == 2
    assert warns(kernels, "the records are the list 'runs'; ", "'warmup'")


def test_columns_of_the_user_find_their_list() -> None:
    document = {"rows": [{"id": "k", "work": 5.0, "traffic": 2.0}]}
    kernels = read(written(document), columns={"name": "id", "flops": ("work", "GFLOP"), "bytes": ("traffic", "MB")})
    assert (kernels.flops[0], kernels.bytes[0]) == (5e9, 2e6)


@pytest.mark.parametrize("key", ["hardware", "gpu", "device_info", "target_chip"])
@pytest.mark.parametrize("form", [str, lambda name: {"name": name}, lambda name: {"model": name, "count": 8}])
def test_the_hardware_beside_the_records_names_a_chip_of_the_catalogue(key: str, form: Any) -> None:
    kernels = read(written({"results": ROWS, key: form("NVIDIA H100 80GB HBM3")}))
    assert kernels.chip is not None
    assert kernels.chip.id == "h100-sxm"


@pytest.mark.parametrize(
    ("figures", "peaks", "bandwidths"),
    [
        ({"peak_tflops": 312, "bandwidth_gb_s": 1555}, {"unspecified": 312e12}, {"DRAM": 1555e9}),
        (
            {"fp16_tflops": 312, "fp32_tflops": 19.5, "mem_bw_gbps": 1555},
            {"fp16": 312e12, "fp32": 19.5e12},
            {"DRAM": 1555e9},
        ),
        ({"peak_flops": {"bf16": 3.12e14}, "hbm_bandwidth_tb_s": 1.555}, {"bf16": 3.12e14}, {"HBM": 1.555e12}),
        (
            {"peak": "312 TFLOP/s", "peak_flops": "312 TFLOP/s", "bandwidth": "1.6 TB/s"},
            {"unspecified": 312e12},
            {"DRAM": 1.6e12},
        ),
    ],
)
def test_the_hardware_beside_the_records_may_give_its_roofs(figures: Any, peaks: Any, bandwidths: Any) -> None:
    kernels = read(written({"results": ROWS, "hardware": {"name": "A100", **figures}}))
    assert kernels.chip is not None
    assert kernels.chip.name == "A100"
    np.testing.assert_allclose(list(kernels.chip.peak_flops.values()), list(peaks.values()), rtol=1e-15)
    assert list(kernels.chip.peak_flops) == list(peaks)
    assert {level: memory.bandwidth for level, memory in kernels.chip.memories.items()} == pytest.approx(bandwidths)


def test_a_peak_without_a_precision_is_that_of_the_only_precision_of_the_kernels() -> None:
    rows = [row | {"dtype": "bf16"} for row in ROWS]
    kernels = read(written({"results": rows, "hardware": {"peak_tflops": 312, "bandwidth_gb_s": 1555}}))
    assert kernels.chip is not None
    assert dict(kernels.chip.peak_flops) == {"bf16": 312e12}


def test_hardware_that_is_no_chip_and_has_no_roofs_is_said() -> None:
    kernels = read(written({"results": ROWS, "hardware": {"name": "A100", "bandwidth": 1555, "peak_tflops": 312}}))
    # 1555 bytes/s or GB/s: the key has no unit.
    assert kernels.chip is None
    assert any(
        word.startswith("'hardware' names the chip 'A100', which is one of several chips") for word in kernels.warnings
    )


def test_a_file_with_an_object_on_each_line_is_read() -> None:
    text = "".join(f"{json.dumps(row)}\n" for row in ROWS)
    for data in (text, text.replace("\n", "\r\n"), "\ufeff" + text.rstrip("\n"), text.replace("\n", "\n\n", 1)):
        kernels = read(data.encode())
        assert kernels.names.tolist() == ["gemm", "relu"]
        np.testing.assert_equal(kernels.time, [31 / 1e6, np.nan])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (written(ROWS[0]) + b"\n" + written(ROWS[1])[:-5], r"line 2, column \d+: not JSON"),
        (written(ROWS[0]) + b"\n" + written(ROWS[1]) + b"\n[1]", "line 3: expected an object on each line"),
        (written({"results": ROWS, "gpu": {"peak_tflops": 1e20, "bandwidth_gb_s": 1}}), "'gpu': peak_flops"),
        (written({"results": ROWS})[:-5], "not JSON"),
    ],
)
def test_damaged_documents_end_in_one_error(data: bytes, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(data)


# -- tables by columns ---------------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"name": ["a", "b"], "flops": [4e9, 2e9], "time (us)": [3.0, 5.0]})


@pytest.mark.parametrize("orient", ["columns", "index", "split", "table", "records"])
@pytest.mark.parametrize("index", [None, "name"])
def test_a_data_frame_is_read_from_each_form_of_its_json(orient: Any, index: str | None) -> None:
    frame = FRAME if index is None else FRAME.set_index(index)
    if index is not None and orient == "records":
        frame = frame.reset_index()
    kernels = read(frame.to_json(orient=orient).encode())
    has_columns(kernels, names=["a", "b"], flops=[4e9, 2e9])
    assert (kernels.time.tolist(), kernels.warnings) == (pytest.approx([3e-6, 5e-6], rel=1e-14), ())


@pytest.mark.parametrize("path", [(), ("results",), ("run", "kernels")])
def test_a_table_by_columns_is_read_at_a_shallow_key(path: tuple[str, ...]) -> None:
    document: Any = FRAME.to_dict(orient="list")
    for key in reversed(path):
        document = {key: document, "note": "x"}
    kernels = read(json.dumps(document).encode())
    has_columns(kernels, names=["a", "b"], time=pytest.approx([3e-6, 5e-6], rel=1e-14))


def test_a_well_packed_table_by_columns_is_read() -> None:
    document = {"name": ["a"] * 200_000, "flops": [1] * 200_000}
    assert len(read(gzip.compress(json.dumps(document).encode()))) == 200_000


@pytest.mark.parametrize(
    "document",
    [
        {"name": ["a", "b"], "flops": [1]},
        {"columns": ["name", "flops"], "data": [["a", 1], ["b"]]},
        {"columns": ["flops", "flops"], "data": [[1, 2]]},
        {"name": [], "flops": []},
    ],
)
def test_columns_of_different_lengths_or_of_one_name_are_no_table(document: Any) -> None:
    with pytest.raises(ProfileError, match="JSON, an object with the keys"):
        read(json.dumps(document).encode())
