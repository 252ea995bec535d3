"""Intel VTune: the reports of hotspots of the CPU and of the GPU.

These commands write tables that the reader accepts, with tabs or commas::

    vtune -report hotspots -r RESULT -format csv -report-output hotspots.csv
    vtune -report hotspots -r RESULT -group-by computing-task -format csv -csv-delimiter comma -report-output gpu.csv

- Hotspots of the CPU: ``CPU Time`` is the time of a function without the functions that it calls, summed over the
  threads; it has no unit and is in seconds. With ``CPU Time:Total`` and ``CPU Time:Self``, `time` includes called
  functions and `self_time` does not. VTune gives no FLOPs and no bytes here: ``work=`` gives them.
- Hotspots of the GPU: a row per computing task, with its total time in seconds and its instances. If the report has
  ``GPU Memory Bandwidth, GB/sec:Read`` and ``:Write``, the bytes of the main memory are their sum, a mean rate, times
  the total time. Rows outside of any task are left out. Copies and fills of the runtime have the category "copy".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import MAIN_LEVEL, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers import copies
from roofwidget.readers.amounts import product
from roofwidget.readers.folders import alone_in_a_folder, one_of
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import tool_table
from roofwidget.readers.tables.tool_table import LeftOut, TextColumns, ToolColumn, ToolTable
from roofwidget.support.did_you_mean import first_in

FORMAT: Final = "vtune"
EXPECTED: Final = "a report of hotspots of Intel VTune as CSV"

_TOOL: Final = "VTune"
_TASKS: Final = ToolTable(
    _TOOL,
    [{"Computing Task", "Computing Task:Total Time"}],
    {
        "name": [ToolColumn("Computing Task")],
        "time": [ToolColumn("Computing Task:Total Time", "s", has_unit_in_cells=True)],
        "count": [ToolColumn("Computing Task:Instance Count")],
    },
    left_out=[LeftOut("Computing Task", re.compile(r"\[(?:Outside any task|Unknown)\].*"), "time outside of any task")],
)
_NAMES: Final = ("Function", "Function Stack", "Function / Call Stack", "Source Function", "Source Line", "Module")
_FUNCTIONS: Final = ToolTable(
    _TOOL,
    # "CPU Time" alone may be a column of any table.
    [
        {"Function", "CPU Time", "Module"},
        {"Function", "CPU Time", "Source File"},
        *({name, "CPU Time:Self"} for name in _NAMES),
    ],
    {
        "name": [ToolColumn(name) for name in _NAMES],
        "time": [
            ToolColumn(name, "s", has_unit_in_cells=True) for name in ("CPU Time", "CPU Time:Total", "CPU Time:Self")
        ],
        "self_time": [ToolColumn("CPU Time:Self", "s", has_unit_in_cells=True)],
    },
    notes=["VTune counts neither FLOPs nor bytes of functions: work= gives them"],
)
_TABLES: Final = (_TASKS, _FUNCTIONS)
_READ: Final = ("GPU Memory Bandwidth, GB/sec:Read", "GPU Memory Bandwidth, GB/s:Read")
_WRITE: Final = ("GPU Memory Bandwidth, GB/sec:Write", "GPU Memory Bandwidth, GB/s:Write")


@alone_in_a_folder
def recognises(source: Source) -> bool:
    """Whether the source is a report of hotspots, or a folder with exactly one."""
    return tool_table.find(source, _TABLES) is not None


def read(source: Source, *, decimal: str | None = None) -> Kernels:
    """Return the functions or computing tasks of a report.

    Parameters
    ----------
    source
        The report, or a folder with it.
    decimal
        The decimal mark, ``"."`` or ``","``, if the numbers do not prove it.

    Raises
    ------
    ProfileError
        If the report is cut off, or has a bad cell.
    """
    source = one_of(source, recognises)
    table = tool_table.find(source, _TABLES) or _FUNCTIONS
    given = tool_table.read_columns(source, table, decimal)
    found = given.arguments()
    if table is _TASKS:
        rates = [first_in(names, found["extra"]) for names in (_READ, _WRITE)]
        if all(rates):
            rate = np.sum([_rate(given, str(name), found["extra"]) for name in rates], axis=0)
            found["bytes"] = {
                MAIN_LEVEL: product(
                    lambda row: given.refuse(row, str(rates[0]), "the number is too large"), rate, found["time"], 1e9
                )
            }
            found["origin"] |= {"bytes": "mean of GPU Memory Bandwidth, read and written, x total time"}
        else:
            found["warnings"].append("the report has no bandwidth of the GPU's memory, so bytes are unknown")
        is_copy = copies.are_copies(found["names"])
        found = copies.with_copies(found, is_copy)
    return tool_table.kernels_of(found, source.name)


def _rate(given: TextColumns, column: str, extra: Mapping[str, Any]) -> Floats:
    """Return a column of rates; a cell that is not a number is an error."""
    rates = extra[column]
    if not isinstance(rates, np.ndarray) or (rates < 0).any():
        given.numbers(column)
        raise given.refuse(0, column, "expected finite numbers from 0")
    return rates
