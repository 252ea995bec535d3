"""Reading the Chrome trace of XLA's profiler: times of operations by device, and where their work is."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofwidget.readers import ProfileError, read
from tests.places import FIXTURES
from tests.tables import has_columns

RECORDED = FIXTURES / "jax"
WORK = "a Chrome trace of XLA has no FLOPs and bytes of operations: the file .xplane.pb of the same run has them"


def named(pid: int, name: str, tid: int | None = None) -> dict[str, Any]:
    what = {"name": "process_name"} if tid is None else {"name": "thread_name", "tid": tid}
    return {"ph": "M", "pid": pid, **what, "args": {"name": name}}


def ran(name: str, start: float, micros: float, pid: int = 3, tid: int = 3, **arguments: Any) -> dict[str, Any]:
    return {"ph": "X", "pid": pid, "tid": tid, "ts": start, "dur": micros, "name": name, "args": arguments}


def trace(*events: dict[str, Any], host: bool = False) -> bytes:
    lanes = [
        named(3, "/host:CPU" if host else "/device:TPU:0"),
        named(3, "XLA Ops", 3),
        named(3, "XLA Modules", 2),
        named(3, "Steps", 1),
    ]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": [*lanes, *events, {}]}).encode()


FUSION: dict[str, Any] = {
    "device_duration_ps": "43000000",
    "hlo_category": "convolution fusion",
    "model_flops": "8589934592",
    "bytes_accessed": "25165824",
}


def test_operations_of_a_device_are_rows_and_other_lanes_are_not() -> None:
    kernels = read(
        gzip.compress(
            trace(
                ran("jit_f(123)", 100, 50, tid=2),
                ran("0", 100, 50, tid=1),
                ran("fusion", 100, 44, long_name="%fusion = bf16[2048,1024] fusion(…)", **FUSION),
                ran("fusion", 200, 44, long_name="%fusion = bf16[2048,1024] fusion(…)", **FUSION),
                ran("copy", 150, 2),
            )
        )
    )
    has_columns(
        kernels,
        names=["fusion", "copy"],
        time=[86e-6, 2e-6],
        count=[2, 1],
        category=["convolution fusion", None],
        extra={"device": ["/device:TPU:0"] * 2},
        flops=[2 * 8589934592, np.nan],
        bytes=[2 * 25165824, np.nan],
    )
    assert kernels.origin["flops"].tolist() == ["model_flops", None]
    assert any(text.startswith("bytes_accessed counts all memories") for text in kernels.warnings)


def test_a_loop_has_no_work_of_its_own() -> None:
    loop = ran("while.1", 10, 100, hlo_category="while", model_flops="9", bytes_accessed=9)
    kernels = read(trace(loop, ran("dot.2", 20, 30, model_flops=8, bytes_accessed="4")))
    has_columns(kernels, flops=[np.nan, 8], bytes=[np.nan, 4])


def test_a_trace_without_work_names_the_file_that_has_it() -> None:
    kernels = read(trace(ran("dot.2", 20, 30)))
    has_columns(kernels, flops=None, bytes=None)
    assert WORK in kernels.warnings


def test_an_operation_within_a_loop_is_not_the_loops_own_time() -> None:
    kernels = read(trace(ran("while.1", 10, 100), ran("dot.2", 20, 30), ran("dot.3", 60, 40), ran("add.4", 120, 5)))
    np.testing.assert_allclose(kernels.time * 1e6, [100, 30, 40, 5])
    np.testing.assert_allclose(kernels.self_time * 1e6, [30, 30, 40, 5])


def test_two_devices_are_separate_rows() -> None:
    other = [named(4, "/device:TPU:1"), named(4, "XLA Ops", 3)]
    kernels = read(trace(*other, ran("dot.2", 20, 30), ran("dot.2", 20, 31, pid=4)))
    assert kernels.extra["device"].tolist() == ["/device:TPU:0", "/device:TPU:1"]
    np.testing.assert_allclose(kernels.time * 1e6, [30, 31])
    np.testing.assert_allclose(kernels.self_time * 1e6, [30, 31])


def test_without_a_lane_of_operations_the_streams_of_a_device_are_read() -> None:
    lanes = [named(9, "/device:GPU:0"), named(9, "Stream #13(Compute)", 5), named(9, "XLA Modules", 6)]
    kernels = read(json.dumps({"traceEvents": [*lanes, ran("gemm", 1, 7, 9, 5), ran("jit", 1, 9, 9, 6)]}).encode())
    has_columns(kernels, names=["gemm"], time=[7e-6])


def test_a_recorded_run_on_a_cpu_has_its_operations_and_the_raw_trace_beside_it(tmp_path: Path) -> None:
    (path,) = RECORDED.glob("*.trace.json.gz")
    kernels = read(path)
    assert len(kernels) > 0
    assert set(kernels.count.tolist()) == {2}
    assert "the trace has no device: these are XLA's operations on the host" in kernels.warnings
    raw = path.name.replace(".trace.json.gz", ".xplane.pb")
    assert f"{WORK}; read '{raw}', which is beside this file" in kernels.warnings
    alone = shutil.copyfile(path, tmp_path / path.name)
    assert WORK in read(alone).warnings
    # A raw trace of another host is not this run's, but a single raw trace is.
    (tmp_path / "vm.xplane.pb").write_bytes(b"")
    assert f"{WORK}; read 'vm.xplane.pb', which is beside this file" in read(alone).warnings


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (trace(), "the trace has no operation of XLA on a device; read the file .xplane.pb of the same run"),
        (trace(ran("PjitFunction(f)", 1, 2), host=True), "the trace has no operation of XLA"),
        (trace(ran("dot", 1, -2)), "entry 5, 'dur': expected a number from 0, got -2"),
        (trace(ran("dot", 1, 2, device_duration_ps="fast")), "entry 5, 'device_duration_ps': expected a number"),
        (trace(ran("dot", 1, 2))[:-9], "not JSON"),
    ],
)
def test_bad_traces_end_in_one_error(data: bytes, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(data)


def test_a_trace_recorded_on_an_h100_has_the_times_of_three_steps() -> None:
    path = FIXTURES / "gpu" / "jax_layer.trace.json.gz"
    kernels = read(path)
    has_columns(
        kernels,
        names=[
            "Memset 3",
            "nvjet_sm90_tst_128x160_64x5_2x1_v_bz_NNT",
            "loop_multiply_fusion",
            "nvjet_sm90_tst_256x128_64x4_1x2_h_bx_coopA_NNT",
            "triton_softmax_2",
        ],
        count=[6, 3, 3, 3, 3],
    )
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    device = {event["pid"] for event in events if str(event.get("args", {}).get("name")).startswith("/device:GPU")}
    for row in (1, 3):
        name = kernels.names[row]
        durations = [event["dur"] for event in events if event.get("name") == name and event["pid"] in device]
        assert len(durations) == 3
        assert kernels.time[row] == pytest.approx(sum(durations) / 1e6)
