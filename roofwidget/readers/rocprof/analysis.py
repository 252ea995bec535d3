"""The database of ``rocprof-compute analyze --output-format db``: sums over the dispatches of each kernel.

The schema is in ``src/utils/analysis_orm.py`` of rocprofiler-compute (https://github.com/ROCm/rocm-systems), and
described in its page on CLI analysis. This file reads versions 1.2 to 2.0 of the schema.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.ceilings.measured import MATRIX, VECTOR
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input import databases
from roofwidget.readers.input.databases import Database
from roofwidget.readers.input.source import Source
from roofwidget.readers.rocprof.counters import Part
from roofwidget.readers.rocprof.passes import kernel_name
from roofwidget.support.did_you_mean import first_in

_GIGA: Final = 1e9
_KERNELS, _DISPATCHES, _WORKLOADS = "compute_kernel", "compute_dispatch", "compute_workload"
_MARK: Final = b"compute_kernel"
# The tables have other names in version 1.2.
_POINTS: Final = ("compute_kernel_roofline_data", "compute_roofline_data")
_VALUES: Final = ("compute_kernel_metric_value", "compute_metric_value")
_METRICS: Final = "compute_metric_definition"
_LEVELS: Final = {
    "HBM": ("hbm_cache_data", "HBM Bandwidth"),
    "L2": ("l2_cache_data", "L2 Cache Bandwidth"),
    "L1": ("l1_cache_data", "L1 Cache Bandwidth"),
    "L0": ("l0_cache_data", "L0 Cache Bandwidth"),
    "LDS": ("lds_cache_data", "LDS Bandwidth"),
}
_RATE: Final = re.compile(r"(VALU|MFMA|WMMA) (?:FLOPs|IOPs)(?: \((\w+)\))?", re.IGNORECASE)
_PRECISIONS: Final = {
    "f8": "fp8",
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "f64": "fp64",
    "xf32": "tf32",
    "f6f4": "fp6_fp4",
    "int8": "int8",
    "i8": "int8",
}
# The unit of a mean over dispatches. The user may have asked for means per wave, per cycle or per second instead.
_PER_KERNEL: Final = re.compile(r"instr\w* per kernel", re.IGNORECASE)
_INTEGERS: Final = {"INT32": "int32", "INT64": "int64"}
_IOPS: Final = "VALU IOPs"
_LANES: Final = 64
_POINT_RULE: Final = "rate of rocprof-compute's roofline x time"
_RATE_LIMIT: Final = 2.0**63
"""No GPU reaches this many operations or bytes per second."""
_RATE_RULE: Final = "mean rate of rocprof-compute's table 4.1 x time"


# Lines of L1 have 128 bytes, and versions before 3.7 counted 64.
_WIDE: Final = ("gfx940", "gfx941", "gfx942", "gfx950")
_HALVED: Final = "rocprof-compute before 3.7 wrote the database: bytes of L1 and L2 are up to twice as many"


@dataclass(frozen=True)
class Analysis:
    """The kernels of an analysis database, n of them."""

    names: list[str]
    workloads: list[str]
    time: Floats
    count: Floats
    flops: list[Part]
    integers: list[Part]
    bytes: dict[str, Part]
    sysinfo: Source | None
    roofline: Source | None
    warnings: list[str]


def is_analysis(source: Source) -> bool:
    """Return whether the source is a database with the tables of rocprof-compute's analysis."""
    if not databases.is_database(source):
        return False
    try:
        with databases.opened(source) as database:
            return {_KERNELS, _DISPATCHES, _WORKLOADS} <= set(database.tables)
    except ProfileError:
        return _MARK in source.head


def read(source: Source) -> Analysis:
    """Return the kernels of all workloads of a database.

    Raises
    ------
    ProfileError
        If the database is damaged, has no kernel, or lacks a table or a column.
    """
    with databases.opened(source) as database:
        for table in (_KERNELS, _DISPATCHES, _WORKLOADS):
            if table not in database.tables:
                raise source.error(f"the database has no table '{table}'")
        kernels = list(database.rows(_KERNELS, ["kernel_uuid", "workload_id", "kernel_name"], "ORDER BY kernel_uuid"))
        if not kernels:
            raise source.error("the database has no kernel")
        place = {key: row for row, (key, _, _) in enumerate(kernels)}
        time, count = _times(database, place)
        points, rates = _points(database, place), _rates(database, place)
        integers = _integer_operations(database, place, time, count)
        workloads = _workloads(database)
        half = _halves_lines(database)
    found, chip_warnings = _machines(source.name, workloads, [workload for _, workload, _ in kernels])
    flops = _flops(points["total_flops"], rates, time)
    is_wide = any(isinstance(about, dict) and about.get("gpu_arch") in _WIDE for _, about, _ in workloads.values())
    halved = [_HALVED] if half and is_wide else []
    return Analysis(
        [kernel_name(name) if isinstance(name, str) else "kernel" for _, _, name in kernels],
        [workloads.get(workload, ("", None, None))[0] for _, workload, _ in kernels],
        time,
        count,
        flops,
        integers,
        _bytes(points, rates, time),
        *found,
        [*chip_warnings, *halved],
    )


def _times(database: Database, place: Mapping[Any, int]) -> tuple[Floats, Floats]:
    """Return seconds and numbers of dispatches."""
    time, count = np.zeros(len(place)), np.zeros(len(place))
    for kernel, start, end in database.rows(_DISPATCHES, ["kernel_uuid", "start_timestamp", "end_timestamp"]):
        row = place.get(kernel)
        if row is None:
            continue
        if type(start) is not int or type(end) is not int or end < start:
            reason = f"expected whole numbers of which the end is not before the start, got {start!r:.30}, {end!r:.30}"
            raise database.error(f"table '{_DISPATCHES}', kernel {kernel}: {reason}")
        time[row] += (end - start) / _GIGA
        count[row] += 1
    return np.where(count > 0, time, np.nan), np.maximum(count, 1)


def _points(database: Database, place: Mapping[Any, int]) -> dict[str, Floats]:
    """Return GFLOP/s and arithmetic intensities by column; NaN where unknown.

    rocprof-compute writes 0 for a value that it could not compute. So 0 is unknown.
    """
    wanted = ["total_flops", *(column for column, _ in _LEVELS.values())]
    found = {column: np.full(len(place), np.nan) for column in wanted}
    table = first_in(_POINTS, database.tables)
    if table is None:
        return found
    known = [column for column in wanted if column in database.tables[table]]
    for kernel, *cells in database.rows(table, ["kernel_uuid", *known]):
        row = place.get(kernel)
        for column, cell in zip(known, cells, strict=True) if row is not None else ():
            found[column][row] = _above_zero(cell)
    return found


def _rates(database: Database, place: Mapping[Any, int]) -> dict[str, Floats]:
    """Return the rates of table 4.1 (GFLOP/s, GB/s) by the metric's name."""
    table = first_in(_VALUES, database.tables)
    if table is None or _METRICS not in database.tables:
        return {}
    wanted = {level_metric for _, level_metric in _LEVELS.values()}
    names = {
        key: name
        for key, name, number in database.rows(_METRICS, ["metric_uuid", "name", "metric_id"])
        if isinstance(name, str) and str(number).startswith("4.1.") and (name in wanted or _RATE.fullmatch(name))
    }
    return _values(database, table, names, "Value", place)


def _values(
    database: Database, table: str, names: Mapping[Any, str], wanted: str, place: Mapping[Any, int]
) -> dict[str, Floats]:
    """Return the values called `wanted` of metrics, by the metric's name; NaN where unknown."""
    found = {name: np.full(len(place), np.nan) for name in names.values()}
    for metric, kernel, word, value in database.rows(table, ["metric_uuid", "kernel_uuid", "value_name", "value"]):
        row, name = place.get(kernel), names.get(metric)
        if row is None or name is None or word != wanted:
            continue
        is_known = isinstance(value, (int, float)) and 0 <= value < _RATE_LIMIT
        found[name][row] = value if is_known else np.nan
    return found


def _integer_operations(database: Database, place: Mapping[Any, int], time: Floats, count: Floats) -> list[Part]:
    """Return operations of integers outside the matrix units.

    The instructions of table 10.2 are exact. The rate of table 2.1 is a mean over dispatches, and has no widths.
    """
    table = first_in(_VALUES, database.tables)
    if table is None or _METRICS not in database.tables or "unit" not in database.tables[_METRICS]:
        return []
    names: dict[Any, str] = {}
    for key, name, number, unit in database.rows(_METRICS, ["metric_uuid", "name", "metric_id", "unit"]):
        is_count = name in _INTEGERS and str(number).startswith("10.2.") and _PER_KERNEL.match(str(unit))
        if is_count or (name == _IOPS and str(number).startswith("2.1.")):
            names[key] = name
    found = _values(database, table, names, "Avg", place)
    counted = [
        Part(_LANES * found[name] * count, f"64 lanes x {name} of rocprof-compute's table 10.2", precision, VECTOR)
        for name, precision in _INTEGERS.items()
        if name in found
    ]
    if counted or _IOPS not in found:
        return counted
    return [Part(found[_IOPS] * _GIGA * time, f"{_IOPS} of rocprof-compute's table 2.1 x time", "int32", VECTOR)]


def _flops(total: Floats, rates: Mapping[str, Floats], time: Floats) -> list[Part]:
    """Return FLOPs by precision and unit.

    The rate of the roofline is exact over several dispatches, but has no precisions. The rates of table 4.1 have
    precisions: they divide the FLOPs.
    """
    parts: dict[tuple[str, str], Floats] = {}
    for name, rate in rates.items():
        match = _RATE.fullmatch(name)
        if match is not None:
            precision = _PRECISIONS.get((match[2] or "").casefold(), "")
            parts[precision, VECTOR if match[1].upper() == "VALU" else MATRIX] = rate * _GIGA
    floating = [rate for (precision, _), rate in parts.items() if precision != "int8"]
    added = np.nansum([np.zeros(len(time)), *floating], axis=0)
    is_divided = added > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = np.where(is_divided & ~np.isnan(total), total * _GIGA / added, 1.0)
    whole = np.where(is_divided, np.nan, total * _GIGA)
    plain = parts.get(("", VECTOR), np.full(len(time), np.nan))
    if not np.isnan(whole).all():
        parts["", VECTOR] = np.where(np.isnan(whole), plain, whole)
    rule = f"{_POINT_RULE}, divided by the rates of its table 4.1" if floating else _POINT_RULE
    return [
        Part(rate * time, _RATE_RULE, precision, unit)
        if precision == "int8"
        else Part(rate * scale * time, rule, precision, unit)
        for (precision, unit), rate in parts.items()
    ]


def _bytes(points: Mapping[str, Floats], rates: Mapping[str, Floats], time: Floats) -> dict[str, Part]:
    """Return bytes by level: FLOPs over the roofline's intensity, else bandwidth times time."""
    found = {}
    for level, (column, metric) in _LEVELS.items():
        by_point = points["total_flops"] * _GIGA * time / points[column]
        by_rate = rates.get(metric, np.full(len(time), np.nan)) * _GIGA * time
        values = np.where(np.isnan(by_point), by_rate, by_point)
        if not np.isnan(values).all():
            rule = "FLOPs / arithmetic intensity of rocprof-compute's roofline"
            found[level] = Part(values, f"{rule}, else {_RATE_RULE}" if metric in rates else rule)
    return found


def _workloads(database: Database) -> dict[Any, tuple[str, object, object]]:
    columns = ["workload_id", "name", "sys_info_extdata", "roofline_bench_extdata"]
    return {
        key: (name if isinstance(name, str) else "", _object(about), _object(measured))
        for key, name, about, measured in database.rows(_WORKLOADS, columns)
    }


def _machines(
    name: str, workloads: Mapping[Any, tuple[str, object, object]], used: list[Any]
) -> tuple[tuple[Source | None, Source | None], list[str]]:
    """Return the tables of the GPU, and warnings. Workloads of different GPUs have none."""
    found = [workloads[key][1:] for key in dict.fromkeys(used) if key in workloads]
    models = {
        json.dumps([about.get("gpu_model"), about.get("gpu_arch")]) for about, _ in found if isinstance(about, dict)
    }
    if len(models) > 1:
        return (None, None), ["the workloads are of different GPUs: choose a chip to see a roof"]
    about, measured = found[0] if found else (None, None)
    return (_as_table(f"{name}, sys_info_extdata", about), _as_table(f"{name}, roofline_bench_extdata", measured)), []


def _halves_lines(database: Database) -> bool:
    """Return whether rocprof-compute is older than 3.7, by the database's metadata."""
    if "compute_metadata" not in database.tables:
        return False
    for (version,) in database.rows("compute_metadata", ["compute_version"]):
        match = re.match(r"(\d{1,4})\.(\d{1,4})", str(version))
        if match is not None:
            return (int(match[1]), int(match[2])) < (3, 7)
    return False


def _as_table(name: str, cells: object) -> Source | None:
    """Return a JSON object as the table sysinfo.csv or roofline.csv, whose columns are the object's keys."""
    if not isinstance(cells, dict):
        return None
    plain = {key: cell for key, cell in cells.items() if isinstance(cell, (str, int, float))}
    text = io.StringIO()
    csv.writer(text).writerows([plain.keys(), plain.values()])
    return Source.of_bytes(name, text.getvalue().encode("utf-8", "replace")) if plain else None


def _object(cell: object) -> object:
    try:
        return json.loads(cell) if isinstance(cell, str) else None
    except (RecursionError, ValueError):
        return None


def _above_zero(cell: object) -> float:
    """Return a number; NaN where rocprof-compute could not compute it, and for a number that no GPU reaches."""
    return float(cell) if isinstance(cell, (int, float)) and 1 / _RATE_LIMIT < cell < _RATE_LIMIT else np.nan
