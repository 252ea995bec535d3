"""Write twins of AMD's databases: of rocprofv3 (rocpd) and of rocprof-compute's analysis, of made-up kernels.

The tables and columns are those of the published schemas: ``source/share/rocprofiler-sdk-rocpd`` of rocprofiler-sdk
(version 3.0.3 of rocpd) and ``src/utils/analysis_orm.py`` of rocprofiler-compute (versions 1.2 and 2.0), both in
https://github.com/ROCm/rocm-systems. Columns that no reader needs are left out. SQLite writes different bytes from
version to version, so tests make the databases anew.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

Dispatch: TypeAlias = tuple[int, str, int, int, Mapping[str, float]]
"""The number of a dispatch, the kernel's name, start and end in nanoseconds, and counters."""
MI300X: Mapping[str, Any] = {"name": "gfx942", "product_name": "AMD Instinct MI300X", "cu_count": 304}
_SIZES = ("workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z")
# The first event of a dispatch. Other events come before it, so that an event's number is not the dispatch's number.
_FIRST_EVENT = 40

_ROCPD = {
    "rocpd_metadata": "id INTEGER PRIMARY KEY, tag TEXT, value TEXT",
    "rocpd_string": "id INTEGER PRIMARY KEY, guid TEXT, string TEXT UNIQUE",
    "rocpd_info_process": "id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, command TEXT",
    "rocpd_info_agent": "id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, type TEXT,"
    " absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, name TEXT, model_name TEXT,"
    " product_name TEXT, extdata JSONB",
    "rocpd_info_pmc": "id INTEGER PRIMARY KEY, guid TEXT, agent_id INTEGER, name TEXT NOT NULL, symbol TEXT NOT NULL",
    "rocpd_info_kernel_symbol": "id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT",
    "rocpd_event": "id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, extdata JSONB",
    "rocpd_pmc_event": "id INTEGER PRIMARY KEY, guid TEXT, event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL,"
    " sample_id INTEGER, xcc INTEGER, shader_engine INTEGER, instance INTEGER",
    "rocpd_kernel_dispatch": "id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER,"
    " agent_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, queue_id INTEGER,"
    f" start BIGINT NOT NULL, end BIGINT NOT NULL, private_segment_size INTEGER, group_segment_size INTEGER,"
    f" {', '.join(f'{name} INTEGER NOT NULL' for name in _SIZES)}, event_id INTEGER",
}


def write_rocpd(
    path: Path, processes: Iterable[Sequence[Dispatch]], *, gpus: Sequence[Mapping[str, Any]] = (MI300X,)
) -> Path:
    """Write a database of rocprofv3 with the tables of each process. Dispatch i runs on GPU i modulo their number."""
    with closing(sqlite3.connect(path)) as base, base:
        for number, dispatches in enumerate(processes):
            _write_process(base, f"_00019b2c_7d1e_{number:04x}", dispatches, gpus)
    return path


def _write_process(
    base: sqlite3.Connection, run: str, dispatches: Sequence[Dispatch], gpus: Sequence[Mapping[str, Any]]
) -> None:
    for table, columns in _ROCPD.items():
        base.execute(f"CREATE TABLE {table}{run} ({columns})")
        base.execute(f"CREATE VIEW IF NOT EXISTS {table} AS SELECT * FROM {table}{run}")
    guid = run.strip("_").replace("_", "-")
    base.execute(f"INSERT INTO rocpd_metadata{run} (tag, value) VALUES ('schema_version', '3.0.3')")
    agents = [{"type": "CPU", "type_index": 0, "name": "AMD EPYC 9654 96-Core Processor", "product_name": ""}]
    agents += [{"type": "GPU", "type_index": index, **gpu} for index, gpu in enumerate(gpus)]
    for key, agent in enumerate(agents):
        told = [agent["type"], key, agent["type_index"], agent["name"], agent["product_name"]]
        base.execute(
            f"INSERT INTO rocpd_info_agent{run} (id, guid, type, absolute_index, type_index, name, product_name,"
            " extdata) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [key, guid, *told, json.dumps({"cu_count": agent.get("cu_count", 0), "wave_front_size": 64})],
        )
    counters = {name: at for at, name in enumerate(sorted({n for *_, counts in dispatches for n in counts}), start=7)}
    for name, key in counters.items():
        row = [key, guid, 1, name, name]
        base.execute(f"INSERT INTO rocpd_info_pmc{run} (id, guid, agent_id, name, symbol) VALUES (?, ?, ?, ?, ?)", row)
    kernels = {name: at for at, name in enumerate(dict.fromkeys(name for _, name, *_ in dispatches), start=1)}
    for name, key in kernels.items():
        base.execute(f"INSERT INTO rocpd_info_kernel_symbol{run} VALUES (?, ?, ?, ?)", [key, guid, f"_Z{key}.kd", name])
    for at, (number, name, start, end, counts) in enumerate(dispatches):
        event = _FIRST_EVENT + 3 * at
        gpu = 1 + at % len(gpus)
        sizes = [256, 2, 1, 1024, 8, 1]
        base.execute(f"INSERT INTO rocpd_event{run} (id, guid) VALUES (?, ?)", [event, guid])
        base.execute(
            f"INSERT INTO rocpd_kernel_dispatch{run} (guid, nid, pid, agent_id, kernel_id, dispatch_id, queue_id,"
            f" start, end, private_segment_size, group_segment_size, {', '.join(_SIZES)}, event_id)"
            f" VALUES ({', '.join('?' * 18)})",
            [guid, 1, 4711, gpu, kernels[name], number, 1, start, end, 16, 4096, *sizes, event],
        )
        for counter, value in counts.items():
            # The value in two instances, and a sample during the kernel, which is no part of the value.
            parts = [(value // 4, None, 0), (value - value // 4, None, 1), (1000, 5, 0)]
            base.executemany(
                f"INSERT INTO rocpd_pmc_event{run} (guid, event_id, pmc_id, value, sample_id, instance)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [[guid, event, counters[counter], *part] for part in parts],
            )


_ANALYSIS = {
    "compute_workload": "workload_id INTEGER PRIMARY KEY, name VARCHAR, sub_name VARCHAR, sys_info_extdata JSON,"
    " roofline_bench_extdata JSON, profiling_config_extdata JSON",
    "compute_kernel": "kernel_uuid INTEGER PRIMARY KEY, workload_id INTEGER NOT NULL, kernel_name VARCHAR",
    "compute_dispatch": "dispatch_uuid INTEGER PRIMARY KEY, kernel_uuid INTEGER NOT NULL, dispatch_id INTEGER,"
    " gpu_id INTEGER, start_timestamp INTEGER, end_timestamp INTEGER",
    "compute_metric_definition": "metric_uuid INTEGER PRIMARY KEY, workload_id INTEGER, name VARCHAR,"
    " metric_id VARCHAR, description TEXT, table_name VARCHAR, sub_table_name VARCHAR, unit VARCHAR",
    "compute_metadata": "id INTEGER PRIMARY KEY, compute_version VARCHAR, git_version VARCHAR, schema_version VARCHAR",
}
_POINT = "roofline_uuid INTEGER PRIMARY KEY, kernel_uuid INTEGER, total_flops FLOAT"
_VALUE = (
    "value_uuid INTEGER PRIMARY KEY, metric_uuid INTEGER, kernel_uuid INTEGER NOT NULL, value_name VARCHAR, value FLOAT"
)
_CACHES = ("l1_cache_data", "l2_cache_data", "hbm_cache_data", "lds_cache_data", "l0_cache_data")

# Metrics of other tables than 4.1: number, unit and the name of the value.
_RATE = ("4.1", "Gflop/s", "Value")
_PLACES: Mapping[str, tuple[str, str, str]] = {
    "INT32": ("10.2.0", "Instructions per kernel", "Avg"),
    "INT64": ("10.2.1", "Instructions per kernel", "Avg"),
    "VALU IOPs": ("2.1.1", "Giop/s", "Avg"),
}

SYSTEM: Mapping[str, Any] = {"gpu_arch": "gfx942", "gpu_model": "MI300X_A1", "compute_partition": "SPX", "version": 3}
MEASURED: Mapping[str, float] = {"HBMBw": 4100.0, "L2Bw": 20000.0, "FP32Flops": 120000.0, "MFMABF16Flops": 600000.0}
Point: TypeAlias = tuple[str, Sequence[tuple[int, int]], Mapping[str, float] | None, Mapping[str, Any]]
"""A kernel's name, its dispatches (start and end), its point in the roofline, and its metrics."""


def write_analysis(
    path: Path,
    workloads: Mapping[str, Sequence[Point]],
    *,
    schema: str = "2.0.0",
    systems: Sequence[Mapping[str, Any]] = (SYSTEM,),
) -> Path:
    """Write a database of ``rocprof-compute analyze --output-format db``. Version 1.2 has other names of tables."""
    is_old = schema.startswith("1.2")
    points, values = (
        ("compute_roofline_data", "compute_metric_value")
        if is_old
        else ("compute_kernel_roofline_data", "compute_kernel_metric_value")
    )
    caches = _CACHES[: 3 if is_old else 5]
    with closing(sqlite3.connect(path)) as base, base:
        for table, columns in _ANALYSIS.items():
            base.execute(f"CREATE TABLE {table} ({columns})")
        base.execute(f"CREATE TABLE {points} ({_POINT}, {', '.join(f'{name} FLOAT' for name in caches)})")
        base.execute(f"CREATE TABLE {values} ({_VALUE})")
        base.execute("INSERT INTO compute_metadata VALUES (1, ?, 'abc', ?)", ["3.5.0" if is_old else "3.9.0", schema])
        for number, (name, kernels) in enumerate(workloads.items(), start=1):
            system = json.dumps(systems[(number - 1) % len(systems)])
            base.execute(
                "INSERT INTO compute_workload VALUES (?, ?, 'MI300X', ?, ?, NULL)",
                [number, name, system, json.dumps(MEASURED)],
            )
            metrics = dict.fromkeys(metric for *_, rates in kernels for metric in rates)
            keys = {metric: 100 * number + at for at, metric in enumerate(metrics)}
            for at, (metric, key) in enumerate(keys.items()):
                place, unit, _ = _PLACES.get(metric, (f"4.1.{at}", *_RATE[1:]))
                base.execute(
                    "INSERT INTO compute_metric_definition (metric_uuid, workload_id, name, metric_id, unit)"
                    " VALUES (?, ?, ?, ?, ?)",
                    [key, number, metric, place, unit],
                )
            for at, (kernel, dispatches, point, rates) in enumerate(kernels):
                key = 10 * number + at
                base.execute("INSERT INTO compute_kernel VALUES (?, ?, ?)", [key, number, kernel])
                base.executemany(
                    "INSERT INTO compute_dispatch (kernel_uuid, dispatch_id, gpu_id, start_timestamp, end_timestamp)"
                    " VALUES (?, ?, 0, ?, ?)",
                    [[key, one, start, end] for one, (start, end) in enumerate(dispatches)],
                )
                if point is not None:
                    shown = {column: cell for column, cell in point.items() if column in ("total_flops", *caches)}
                    base.execute(
                        f"INSERT INTO {points} (kernel_uuid, {', '.join(shown)})"
                        f" VALUES ({', '.join('?' * (1 + len(shown)))})",
                        [key, *shown.values()],
                    )
                base.executemany(
                    f"INSERT INTO {values} (metric_uuid, kernel_uuid, value_name, value) VALUES (?, ?, ?, ?)",
                    [
                        [keys[metric], key, word, cell if word == _PLACES.get(metric, _RATE)[2] else 12345.0]
                        for metric, cell in rates.items()
                        for word in ("Avg", "Value", "Peak (Empirical)")
                    ],
                )
    return path
