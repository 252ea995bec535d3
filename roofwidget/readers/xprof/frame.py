"""XProf's roofline table as a data frame or in a file of any form, by labels or by ids of columns.

Rates (1e9 FLOP/s, 2**30 bytes/s) times total time give FLOPs and bytes. Rows of totals and the second list without
infeed are left out. Operations with neither FLOPs nor bytes are unknown.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from roofwidget.kernels.columns import Bools
from roofwidget.kernels.table_fields import TableColumns
from roofwidget.readers.tables.tool_table import ToolColumn, ToolTable

_COLUMNS: Final = {
    "name": ("Operation", "operation", ""),
    "category": ("Category", "category", ""),
    "count": ("# Occurrences", "occurrences", ""),
    "time": ("Total Time (us)", "total_time", "us"),
    "self_time": ("Total self time (us)", "total_self_time", "us"),
    "flops": ("Normalized FLOP Rate (GFLOP/s)", "measured_flop_rate", "GFLOP/s"),
    "bytes:HBM": ("HBM BW (GiB/s)", "hbm_bw", "GiB/s"),
    "bytes:VMEM read": ("VMEM Read BW (GiB/s)", "vmem_read_bw", "GiB/s"),
    "bytes:CMEM read": ("CMEM Read BW (GiB/s)", "cmem_read_bw", "GiB/s"),
    "bytes:CMEM write": ("CMEM Write BW (GiB/s)", "cmem_write_bw", "GiB/s"),
}


def _operations(given: TableColumns) -> Bools:
    """Return which rows are operations in all steps, with infeed."""
    keep = np.array([True])
    for column in given.names:
        name = column.casefold()
        if name == "rank":
            keep = keep & (given.numbers(column) > 0)
        elif name == "step":
            keep = keep & np.array([word == "Total" for word in given.words(column)])
        elif name in {"include infeed/outfeed", "include_infeed_outfeed"}:
            keep = keep & _truths(given, column)
    return keep


def _truths(given: TableColumns, column: str) -> Bools:
    try:
        numbers: Bools = given.numbers(column, truths=True) != 0
    except ValueError:
        return np.array([(word or "").casefold() == "true" for word in given.words(column)])
    return numbers


TABLES: Final = tuple(
    ToolTable(
        "XProf",
        told_by=[{_COLUMNS[field][spelling] for field in ("name", "time", "flops")}],
        columns={key: [ToolColumn(column[spelling], column[2])] for key, column in _COLUMNS.items()},
        keeps=_operations,
        uncounted=("flops", "bytes"),
    )
    for spelling in (0, 1)
)
