"""Damaged and made-up profiles, as `rw.read` and `rw.read_ceilings` get them."""

from __future__ import annotations

import functools
import io
import json
import math
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

import roofwidget as rw
from roofwidget import wire
from roofwidget.readers import FORMATS, ProfileError
from tests.fuzz import mutate
from tests.fuzz.subject import Case, Subject
from tests.real_files import present

FIXTURES: Final = Path(__file__).parents[1] / "fixtures"
_COLUMNS: Final = (
    *("name", "kernel", "op", "flops", "gflops", "bytes", "bytes (MB)", "time", "time (us)", "duration_ns", "count"),
    *("precision", "category", "self_time", "bytes:L2", "flops:fp16", "flops:fp8", "measured on", "DRAM bytes", "x"),
    *("Kernel_Name", "SQ_WAVES", "ID", "Kernel Name", "Metric Name", "Metric Value", "Metric Unit", "Duration"),
    *("dram__bytes.sum", "gpu__time_duration.sum", "sm__cycles_elapsed.avg", "Name", "GFLOPS_first", "Data Moved (MB)"),
)
_KEYS: Final = (
    *("traceEvents", "schemaVersion", "deviceProperties", "ph", "cat", "name", "ts", "dur", "args", "pid", "tid"),
    *("External id", "correlation", "Input Dims", "Input type", "cols", "rows", "id", "p", "c", "v", "label", "type"),
    *("peak_flop_rate", "device_info", "top_operations", "empirical", "gbytes", "gflops", "data", "Values", "Info"),
    *("max_achievable_tflops", "mem_bw_gbps", "hlo_op_expression", "include_infeed_outfeed", "kernel", "flops"),
    *("timeMs", "averageMs", "Layers", "benchmarks", "real_time", "time_unit", "iterations", "bytes_per_second"),
    *(
        "op_name",
        "input_type_shape",
        "activation_size",
        "hlo_op",
        "results",
        "hardware",
        "peak_tflops",
        "bandwidth_gb_s",
    ),
)
_HEADS: Final = (
    *(b"", b"NVR\0\4\0\0\0", b"PAR1", b"SQLite format 3\0", b"PK\x03\x04", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd"),
    *(b"\n\x05/host:CPU", b"<html>", b'<meta name="generator" content="roofwidget">', b"{", b"[", b'{"traceEvents": ['),
    *(b'[{"count": 3}, ', b'[{"cat": "Session", ', b'{"context": {}, "benchmarks": [', b'{"results": [{'),
    *(
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"=== Profile (3 iterations ) ===\n",
        b"name,iterations,real_time,cpu_time,time_unit\n",
    ),
    *(b"\xff\xfe", b"\x00\x00\xfe\xff", b"CPU name:\t", b"==PROF== \n", b"%PDF", b"MZ", b"\x89HDF\r\n"),
)


_SMALL: Final[Mapping[str, bytes]] = {
    "trtexec.json": mutate.text([{"count": 3}, {"name": "Conv_0", "timeMs": 4.5, "averageMs": 1.5, "percentage": 100}]),
    "trtexec.txt": b"""\
[01/05/2026-10:00:00] [I] === Profile (3 iterations ) ===
[01/05/2026-10:00:00] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
[01/05/2026-10:00:00] [I]        4.50       1.5000       1.5000     100.0   Conv_0
[01/05/2026-10:00:00] [I]        4.50       1.5000       1.5000     100.0   Total
""",
    "mixbench.txt": b"""\
Experiment ID, Single Precision ops,,,, Integer operations,,,
Compute iters, Flops/byte, ex.time,  GFLOPS, GB/sec, Iops/byte, ex.time,   GIOPS, GB/sec
0, 0.250, 0.40, 100.00, 400.00, 0.250, 0.50, 80.00, 320.00
64, 32.000, 0.50, 8000.00, 250.00, 32.000, 0.00, inf, inf
---------
""",
    "benchmark.json": mutate.text(
        {
            "context": {"library_build_type": "release"},
            "benchmarks": [{"name": "a", "iterations": 9, "real_time": 5, "time_unit": "ns", "bytes_per_second": 8e9}],
        }
    ),
    "benchmark.csv": b'name,iterations,real_time,cpu_time,time_unit,bytes_per_second\n"a",9,5,5,ns,8e9\n',
    "nested.json": mutate.text(
        {
            "results": [{"name": "a", "flops": 4e9, "bytes": 1e7, "time (us)": 31}] * 3,
            "hardware": {"name": "A100", "peak_tflops": 312, "bandwidth_gb_s": 1555},
        }
    ),
    "records.jsonl": b'{"name": "a", "flops": 4e9}\n{"name": "b", "flops": 5e9}\n',
}


@functools.cache
def fixtures() -> Mapping[str, bytes]:
    """Return the profiles of the repository, and databases and Parquet files that are made anew."""
    found = {
        path.relative_to(FIXTURES).as_posix(): path.read_bytes()
        for path in sorted(FIXTURES.rglob("*"))
        if path.is_file() and path.suffix != ".py" and "hlo" not in path.parts
    }
    return {**found, **_SMALL, "kernels.parquet": _parquet(), "rocpd.db": _database(), **_of_tools()}


@functools.cache
def real() -> Mapping[str, bytes]:
    """Return the profiles of real programs that are here."""
    return {name: path.read_bytes() for name, path in present().items()}


def _parquet() -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    from pyarrow import parquet  # noqa: PLC0415

    rows = [{"kernel": f"k{row}", "flops": row * 1e9, "bytes": row * 1e6, "time": row * 1e-3} for row in range(40)]
    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


def _database() -> bytes:
    from tests.make_fixtures.rocpd import write_rocpd  # noqa: PLC0415 - here alone

    dispatches = [(row, f"kernel_{row % 3}", 1000 * row, 1000 * row + 700, {"SQ_WAVES": 3.0}) for row in range(1, 30)]
    with tempfile.TemporaryDirectory() as folder:
        path = write_rocpd(Path(folder, "results.db"), [dispatches])
        with closing(sqlite3.connect(path)) as base:
            base.execute("VACUUM")
        return path.read_bytes()


def _of_tools() -> dict[str, bytes]:
    """Return the small twins of tools' files that their tests have."""
    from tests.readers import (  # noqa: PLC0415 - here alone
        test_hatchet,
        test_intel,
        test_nsys,
        test_nvprof,
        test_rocprof_statistics,
        test_uprof,
    )

    tree = [test_hatchet.node("ROOT", test_hatchet.ROOT, test_hatchet.kernel("f", 7, flops8=3.0)), test_hatchet.DEVICES]
    scopes = [test_hatchet.node("scope", {"time (inc)": 9, "time": 5, "bytes": 8}, *tree[:1])]
    with tempfile.TemporaryDirectory() as folder:
        kernels = test_nsys.kernels_table(
            (0, 9, 0, 7, 1, test_nsys.PID, 1, 2, 1), (5, 9, 1, 7, 2, test_nsys.PID, 1, 2, 1)
        )
        ranges: Any = (
            test_nsys.NVTX,
            [(0, 90, 59, test_nsys.THREAD, "aten::mm, op_id = 1, sizes = [[4, 2], [2, 8]]", 3)],
        )
        calls: Any = (test_nsys.RUNTIME, [(1, 2, 1, test_nsys.THREAD), (3, 4, 2, test_nsys.THREAD)])
        more = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE": test_nsys.GRAPH, "TARGET_INFO_GPU": test_nsys.A100}
        tables = {**kernels, "NVTX_EVENTS": ranges, "CUPTI_ACTIVITY_KIND_RUNTIME": calls, **more}
        export = test_nsys.export(Path(folder, "r.sqlite"), tables).read_bytes()
    texts = {
        "nsys_reports.csv": test_nsys.API
        + "\n"
        + test_nsys.KERN_SUM
        + "\n"
        + test_nsys.MEM_TIME
        + "\n"
        + test_nsys.MEM_SIZE,
        "nsys_trace.csv": test_nsys.TRACE,
        "nsys_printed.txt": test_nsys.PRINTED,
        "nvprof.csv": test_nvprof.SUMMARY,
        "nvprof_old.csv": test_nvprof.OLD,
        "nvprof.txt": test_nvprof.PRINTED,
        "nvprof_trace.csv": test_nvprof.TRACE,
        "nvprof_metrics.csv": test_nvprof.METRICS,
        "7_kernel_stats.csv": test_rocprof_statistics.LONG,
        "7_kernel_trace.csv": test_rocprof_statistics.TRACE,
        "7_results.json": json.dumps(test_rocprof_statistics.document()),
        "run.hatchet": json.dumps(tree),
        "literal.json": json.dumps(scopes),
        "caliper.json": json.dumps(test_hatchet.SPLIT),
        "advisor.csv": test_intel.ADVISOR,
        "vtune.csv": test_intel.HOTSPOTS,
        "vtune_gpu.csv": test_intel.TASKS,
        "unitrace.txt": test_intel.UNITRACE,
        "uprof.csv": test_uprof.PCM,
    }
    return {"nsys.sqlite": export, **{name: text.encode() for name, text in texts.items()}}


def _draw(files: Callable[[], Mapping[str, bytes]], chance: Random) -> Case:
    names = list(files())
    kind = chance.random()
    if kind < 0.12:
        what, data = _made_up(chance)
    else:
        name, other = chance.choice(names), chance.choice(names)
        what, data = mutate.damaged(files()[name], files()[other], chance)
        what = f"{name}: {what}"
        if kind < 0.24:
            # The whole folder of a profile, or other files, go with it.
            beside = [one for one in names if one.rpartition("/")[0] == name.rpartition("/")[0]]
            some = chance.sample(beside, min(len(beside), chance.choice((1, 3, 9))))
            packing, data = mutate.packed({name: data} | {one: files()[one] for one in some if one != name}, chance)
            what = f"{what}, {packing}"
    options: dict[str, Any] = {}
    way = chance.random()
    if way < 0.2:
        options = {"format": import_module(chance.choice(FORMATS)).FORMAT}
    return Case(f"{what} {options or ''}".strip(), (data, options, 0.2 <= way < 0.4), len(data))


def _made_up(chance: Random) -> tuple[str, bytes]:
    kind = chance.choice(("noise", "noise", "table", "table", "JSON", "JSON", "events"))
    if kind == "noise":
        head = chance.choice(_HEADS)
        return f"noise after {head[:8]!r}", head + chance.randbytes(chance.choice((0, 3, 100, 5000)))
    if kind == "table":
        return "made-up table", _table(chance)
    if kind == "events":
        events = [_object(chance, 1) | {"ph": "X", "ts": row, "dur": 3} for row in range(chance.choice((0, 3, 40)))]
        return "made-up events", mutate.text({"schemaVersion": 1, "traceEvents": events})
    return "made-up JSON", mutate.text(chance.choice((_object(chance, 3), [_object(chance, 2) for _ in range(4)])))


def _table(chance: Random) -> bytes:
    mark = chance.choice((",", ",", ";", "\t"))
    names = chance.sample(_COLUMNS, chance.randrange(2, 8))
    lines = [mark.join(names)]
    for row in range(chance.choice((0, 1, 5, 60))):
        cells = [
            f"k{row}"
            if column in {"name", "kernel", "Kernel_Name"}
            else str(chance.choice((row, row * 1.5, 1e9 * row)))
            for column in names
        ]
        if chance.random() < 0.3:
            cells[chance.randrange(len(cells))] = chance.choice(mutate.NUMBERS + mutate.TEXTS)
        lines.append(mark.join(cells))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _object(chance: Random, depth: int) -> dict[str, Any]:
    def part() -> Any:
        if depth and chance.random() < 0.4:
            return chance.choice((_object(chance, depth - 1), [_object(chance, depth - 1) for _ in range(3)]))
        return mutate.value(chance, 1)

    return {key: part() for key in chance.sample(_KEYS, chance.randrange(1, 9))}


def _use(case: Case) -> None:
    data, options, is_of_ceilings = case.given
    if is_of_ceilings:
        chip = rw.read_ceilings(data)
        assert all(0 < rate < math.inf for rate in chip.peak_flops.values()), chip
        json.dumps(wire.chips_to_wire([chip]), allow_nan=False).encode()
        return
    kernels = rw.read(data, **options)
    columns = [kernels.time, kernels.self_time, kernels.count, kernels.flops, kernels.bytes]
    for column in (*columns, *kernels.flops_by_precision.values(), *kernels.bytes_by_level.values()):
        assert len(column) == len(kernels)
        assert not (column < 0).any(), column
        assert not np.isinf(column).any(), column
    assert repr(kernels)
    assert kernels._repr_html_()
    model = rw.RooflineModel(["h100-sxm"], kernels)
    # What a page gets must be JSON with buffers, and a session must be text.
    _check_wire(model.wire_state())
    model._to_session().encode()


def _check_wire(value: Any) -> None:
    if isinstance(value, Mapping):
        for key, part in value.items():
            key.encode()
            _check_wire(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _check_wire(part)
    elif isinstance(value, float):
        assert math.isfinite(value)
    elif isinstance(value, str):
        value.encode()


PROFILES: Final = Subject("profiles", functools.partial(_draw, fixtures), _use, (ProfileError, ImportError))
OF_REAL_PROGRAMS: Final = Subject(
    "profiles of real programs", functools.partial(_draw, real), _use, (ProfileError, ImportError)
)
