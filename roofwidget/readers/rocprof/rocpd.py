"""Databases of rocprofv3 (rocpd): the kernels that were dispatched, their counters and the GPUs.

The schema is in ``source/share/rocprofiler-sdk-rocpd`` of rocprofiler-sdk (https://github.com/ROCm/rocm-systems), and
described in its page "Using rocpd output format". This file reads version 3 of the schema. Each process has its own
tables, whose names end with the id of the process's run.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Floats
from roofwidget.readers.devices import gfx_of
from roofwidget.readers.input import databases
from roofwidget.readers.input.databases import Database
from roofwidget.readers.input.source import Source
from roofwidget.readers.rocprof.passes import COUNTER_LIMIT, Pass, kernel_name
from roofwidget.support.arrays import Integers

_NANOSECONDS: Final = 1e9
_RUN: Final = re.compile(r"rocpd_kernel_dispatch(?P<run>(?:_\w+)?)")
_DISPATCH: Final = ("dispatch_id", "agent_id", "kernel_id", "event_id", "start", "end")
# Our names of further columns, which `Kernels.extra` gets, and the columns whose product they are.
_EXTRA: Final = {
    "Grid_Size": ("grid_size_x", "grid_size_y", "grid_size_z"),
    "Workgroup_Size": ("workgroup_size_x", "workgroup_size_y", "workgroup_size_z"),
    "LDS_Per_Workgroup": ("group_segment_size",),
    "Scratch_Per_Workitem": ("private_segment_size",),
}
# The value of a dispatch is the sum over the instances of a block. The rules know this sum as NAME_sum.
OF_INSTANCES: Final = re.compile(r"(?:TCC|TCP)_\w+(?<!_sum)")
"""The names of counters that have a value for each instance of a block."""


@dataclass(frozen=True)
class Gpu:
    """A GPU of the database; ``""`` and None mean unknown."""

    gfx: str
    model: str
    units: float | None


def is_rocpd(source: Source) -> bool:
    """Return whether the source is a database with the tables of rocpd."""
    is_named = databases.is_database(source) and b"rocpd_kernel_dispatch" in source.head
    return is_named or any(map(_RUN.fullmatch, databases.tables_of(source)))


def read(source: Source) -> tuple[Pass, list[Gpu]]:
    """Return the dispatches of all processes of a database, and the GPUs that they ran on.

    Raises
    ------
    ProfileError
        If the database is damaged, or lacks a table or a column.
    """
    with databases.opened(source) as database:
        found = [match for table in database.tables if (match := _RUN.fullmatch(table)) is not None]
        if not found:
            raise source.error("the database has no table rocpd_kernel_dispatch")
        runs = [run for match in found if (run := _run(database, match["run"])).starts.size]
    if not runs:
        raise source.error("the database has no dispatch of a kernel")
    runs.sort(key=lambda run: int(run.starts.min()))
    ids = np.concatenate([run.ids for run in runs])
    counters, fields = (
        {
            name: functools.partial(_joined, [part.get(name) for part in parts], [len(run.ids) for run in runs])
            for name in dict.fromkeys(name for part in parts for name in part)
        }
        for parts in ([run.counters for run in runs], [run.sizes for run in runs])
    )
    return Pass(
        source,
        np.concatenate([run.names for run in runs]),
        ids if len(np.unique(ids)) == len(ids) else None,
        np.concatenate([(run.ends - run.starts) / _NANOSECONDS for run in runs]),
        "end - start of rocpd_kernel_dispatch",
        counters,
        range(1, len(ids) + 1),
        fields,
    ), list(dict.fromkeys(gpu for run in runs for gpu in run.gpus))


@dataclass(frozen=True)
class _Run:
    """The dispatches of one process, n of them, in the order of their numbers."""

    names: npt.NDArray[np.object_]
    ids: Integers
    starts: Integers
    ends: Integers
    counters: Mapping[str, Floats]
    sizes: Mapping[str, Floats]
    gpus: list[Gpu]


def _run(database: Database, run: str) -> _Run:
    table = f"rocpd_kernel_dispatch{run}"
    columns = database.tables[table]
    if "track_id" in columns and "agent_id" not in columns:
        raise database.error(
            "the database has version 4 of rocpd's schema; version 3 is supported: rocpd convert writes CSV files"
        )
    extra = [name for names in _EXTRA.values() for name in names if name in columns]
    rows = list(database.rows(table, ["id", *_DISPATCH, *extra], "ORDER BY dispatch_id, start"))
    key, ids, agent, kernel, event, starts, ends = (
        _whole(database, table, rows, column, at) for at, column in enumerate(("id", *_DISPATCH))
    )
    wrong = np.flatnonzero(ends < starts)
    if len(wrong):
        raise database.error(f"table '{table}', id {key[wrong[0]]}: the kernel ends before it starts")
    sizes = {name: _floats(row[len(_DISPATCH) + 1 + at] for row in rows) for at, name in enumerate(extra)}
    agents = _agents(database, run)
    symbols = _symbols(database, run)
    names = np.empty(len(rows), dtype=object)
    names[:] = [symbols.get(number, "kernel") for number in kernel.tolist()]
    products = {
        ours: np.prod([sizes[name] for name in theirs], axis=0)
        for ours, theirs in _EXTRA.items()
        if all(name in sizes for name in theirs)
    }
    indices = np.array([agents[number][1] if number in agents else np.nan for number in agent.tolist()])
    own = {"Dispatch_ID": ids.astype(np.float64), "GPU_ID": indices.astype(np.float64)}
    gpus = [agents[number][0] for number in dict.fromkeys(agent.tolist()) if number in agents]
    return _Run(names, ids, starts, ends, _counters(database, run, event), {**own, **products}, gpus)


def _counters(database: Database, run: str, events: Integers) -> dict[str, Floats]:
    """Return the counters of the dispatches; each value is the sum over instances, as in counters_collection."""
    table, info = f"rocpd_pmc_event{run}", f"rocpd_info_pmc{run}"
    if table not in database.tables or info not in database.tables:
        return {}
    names = {
        number: name
        for number, name in database.rows(info, ["id", "name"])
        if isinstance(number, int) and isinstance(name, str)
    }
    place = {event: row for row, event in enumerate(events.tolist()) if event >= 0}
    # From version 3.0.3 on, the table also has samples that were streamed during the kernel.
    only = "WHERE sample_id IS NULL" if "sample_id" in database.tables[table] else ""
    found: dict[str, Floats] = {}
    for event, number, value in database.rows(
        table, ["event_id", "pmc_id", "sum(value)"], f"{only} GROUP BY event_id, pmc_id"
    ):
        row, name = place.get(event), names.get(number)
        if row is None or name is None or not isinstance(value, (int, float)):
            continue
        if not 0 <= value < COUNTER_LIMIT:
            raise database.error(f"table '{table}', event {event}: counter '{name}' is {value!r:.30}")
        column = found.get(name)
        if column is None:
            column = found[name] = np.full(len(events), np.nan)
        column[row] = value + (0 if np.isnan(column[row]) else column[row])
    summed = {f"{name}_sum": column for name, column in found.items() if OF_INSTANCES.fullmatch(name)}
    return {**summed, **found}


def _agents(database: Database, run: str) -> dict[int, tuple[Gpu, float]]:
    """Return the GPUs, and CPUs, with their numbers by the key of the table."""
    table = f"rocpd_info_agent{run}"
    if table not in database.tables:
        return {}
    columns = ["id", "type_index", "name", "product_name", "extdata"]
    known = [column for column in columns if column in database.tables[table]]
    found: dict[int, tuple[Gpu, float]] = {}
    for row in database.rows(table, known):
        cells = dict(zip(known, row, strict=True))
        if not isinstance(cells.get("id"), int):
            continue
        name, index = _text(cells.get("name")), cells.get("type_index")
        gpu = Gpu(gfx_of(name), _text(cells.get("product_name")), _units(cells.get("extdata")))
        found[cells["id"]] = gpu, float(index) if isinstance(index, int) else np.nan
    return found


def _units(extdata: object) -> float | None:
    """Return the compute units of a GPU, by which a partition differs from the whole GPU."""
    try:
        units = json.loads(_text(extdata) or "{}").get("cu_count")
    except (AttributeError, RecursionError, ValueError):
        return None
    return float(units) if isinstance(units, int) and 0 < units < COUNTER_LIMIT else None


def _symbols(database: Database, run: str) -> dict[int, str]:
    """Return the names of kernels by the key of the table."""
    table = f"rocpd_info_kernel_symbol{run}"
    if table not in database.tables:
        raise database.error(f"the database has no table '{table}', which has the names of kernels")
    return {
        number: kernel_name(_text(shown) or _text(symbol))
        for number, shown, symbol in database.rows(table, ["id", "display_name", "kernel_name"])
        if isinstance(number, int)
    }


def _whole(database: Database, table: str, rows: list[Any], column: str, at: int) -> Integers:
    """Return whole numbers; a missing event is -1."""
    cells = [-1 if row[at] is None and column == "event_id" else row[at] for row in rows]
    for row, cell in enumerate(cells):
        if type(cell) is not int:
            where = f"table '{table}', id {rows[row][0]!r:.30}, column '{column}'"
            raise database.error(f"{where}: expected a whole number, got {cell!r:.40}")
    return np.array(cells, dtype=np.int64)


def _floats(cells: Iterator[Any]) -> Floats:
    return np.array([cell if isinstance(cell, (int, float)) else np.nan for cell in cells], dtype=np.float64)


def _joined(columns: list[Floats | None], sizes: list[int]) -> Floats:
    parts = [np.full(size, np.nan) if part is None else part for part, size in zip(columns, sizes, strict=True)]
    found: Floats = np.concatenate(parts)
    return found


def _text(cell: object) -> str:
    return cell.strip() if isinstance(cell, str) else ""
