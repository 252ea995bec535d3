"""Statistics of rocprof and rocprofv3: one row per kernel or copy with its calls and total time.

``rocprof --stats`` writes ``results.stats.csv`` and ``results.copy_stats.csv``; ``rocprofv3 --stats`` writes
``*_kernel_stats.csv``, ``*_memory_copy_stats.csv`` and more, and ``rocprofv3 --summary`` prints a table with a column
``DOMAIN``. Other statistics, other domains, and traces of API calls are of the host.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from roofwidget.kernels.columns import MAIN_LEVEL
from roofwidget.kernels.table import Kernels
from roofwidget.readers import copies
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.rocprof import passes
from roofwidget.readers.tables import tool_table
from roofwidget.readers.tables.delimited import read_table
from roofwidget.readers.tables.tool_table import LeftOut, ToolColumn, ToolTable

_TOOL: Final = "rocprof"
_API: Final = "calls of the host's API"
_DOMAINS: Final = (
    r"(?:KERNEL_DISPATCH|MEMORY_COPY|MEMORY_ALLOCATION|SCRATCH_MEMORY|\w+_API(?:_EXT)?|COUNTER_COLLECTION)"
)
_CALLS: Final = re.compile(r"_*hip[A-Z]\w*|hsa_\w+|roctx\w+|(?:nccl|rccl)(?!Dev)[A-Z]\w*|roc(?:Dec|Jpeg)\w+")
_TOTALS: Final = LeftOut("Name", re.compile(_DOMAINS), "totals of all kernels, copies or calls")
_NOTES: Final = ("statistics have times and calls only: rocprofv3 --pmc counts FLOPs and bytes, and work= gives them",)
_STATISTICS: Final = ToolTable(
    _TOOL,
    [{"Name", "Calls", "TotalDurationNs"}],
    {
        "name": [ToolColumn("Name")],
        "time": [ToolColumn("TotalDurationNs", "ns")],
        "count": [ToolColumn("Calls")],
    },
    left_out=[_TOTALS, LeftOut("Name", _CALLS, _API)],
    notes=_NOTES,
)
_API_TRACE: Final = ToolTable(
    _TOOL,
    [{"Domain", "Function", "Start_Timestamp", "End_Timestamp"}],
    refusal=f"these are {_API}, which are no kernels of a device: rocprofv3 --kernel-trace has the kernels",
)
_SUMMARY: Final = ToolTable(
    _TOOL,
    [{"Name", "Domain", "Calls", "Duration"}],
    {"name": [ToolColumn("Name")], "time": [ToolColumn("Duration", "ns")], "count": [ToolColumn("Calls")]},
    left_out=[
        _TOTALS,
        LeftOut("Domain", re.compile(r"(?!(?:KERNEL_DISPATCH|MEMORY_COPY)\s*\Z).*"), _API),
    ],
    notes=_NOTES,
)
_COPY_TRACE: Final = ToolTable(_TOOL, [{"Kind", "Direction", "Start_Timestamp", "End_Timestamp"}])
_TABLES: Final = (_STATISTICS, _SUMMARY, _API_TRACE, _COPY_TRACE)
_OF_HOST: Final = re.compile(
    r".*?(?P<what>(?:hip|hsa|marker|rccl|rocdecode|rocjpeg|domain)(?:_api)?_stats)\.csv(?:\.gz)?"
)
_OF_KERNELS: Final = re.compile(r".*kernel_stats\.csv(?:\.gz)?")


def recognises(source: Source) -> bool:
    """Return whether the source is a table of statistics, or a trace of copies or of API calls."""
    return tool_table.find(source, _TABLES) is not None


def read(source: Source) -> Kernels:
    """Return the kernels and copies of a table of statistics, or the copies of a trace.

    Raises
    ------
    ProfileError
        If the table is of the host, has no rows, or is damaged.
    """
    table = tool_table.find(source, _TABLES) or _STATISTICS
    if table is _COPY_TRACE:
        return _copies(source)
    name = PurePosixPath(source.name).name
    host = _OF_HOST.fullmatch(name)
    if host:
        raise source.error(
            f"the table {host['what']} is of the host, not of kernels of a device: read *_kernel_stats.csv"
        )
    if _OF_KERNELS.fullmatch(name):
        table = ToolTable(table.tool, table.told_by, table.columns, notes=table.notes)
    try:
        found = tool_table.read_columns(source, table).arguments()
    except ProfileError as error:
        if error.row is None and "no row is a kernel" in error.reason:
            raise source.error(f"{error.reason}; read *_kernel_stats.csv") from None
        raise
    names = found["names"]
    is_copy = copies.are_copies(names)
    found = copies.with_copies(found, is_copy)
    found["names"] = [name if copied else passes.kernel_name(name) for name, copied in zip(names, is_copy, strict=True)]
    return tool_table.kernels_of(found, source.name)


def _copies(source: Source) -> Kernels:
    """Return a row per copy of a trace. Older versions do not write the bytes."""
    rows = read_table(source, header=_COPY_TRACE.is_header, only_rows=True)
    rows.decimal = "."
    if not len(rows):
        raise source.error("the table has no copy")
    time, rule = passes.seconds(rows)
    names = rows.texts("Direction")
    size = next((name for name in rows.columns if name.casefold() in {"bytes", "size", "copy_bytes"}), None)
    moved = np.full(len(rows), np.nan) if size is None else rows.numbers(size)
    unknown = np.full(len(rows), np.nan)
    found = copies.with_copies(
        {"names": names, "flops": {"": unknown}, "bytes": {MAIN_LEVEL: moved}, "time": time, "origin": {"time": rule}},
        np.ones(len(rows), dtype=np.bool_),
    )
    warnings = [] if size else ["the trace has no bytes of copies, so they are unknown"]
    return Kernels(**found, warnings=warnings, source=source.name)
