"""Tables of TraceLens: GEMMs, convolutions and attention with the FLOPs and bytes that follow from their shapes.

``GFLOPS_first`` and ``Data Moved (MB)_first`` are for one launch. ``Data Moved`` is in MiB. It counts each operand once,
so it is a model, not measured traffic.
"""

from __future__ import annotations

from typing import Final

from roofwidget.readers.tables.tool_table import ToolColumn, ToolTable

_BYTES: Final = "compulsory bytes: operands once, not measured traffic; the column is in MiB"
TABLES: Final = (
    ToolTable(
        "TraceLens",
        told_by=[{"name", "GFLOPS_first"}],
        columns={
            "name": [ToolColumn("name")],
            "flops": [ToolColumn("GFLOPS_first", "GFLOP", "launch", "TraceLens: from the shapes")],
            "bytes": [ToolColumn("Data Moved (MB)_first", "MiB", "launch", _BYTES)],
            "time": [
                ToolColumn("Kernel Time (\u00b5s)_sum", "us"),
                ToolColumn("Kernel Time (\u00b5s)_mean", "us", "launch"),
            ],
            "count": [ToolColumn("name_count"), ToolColumn("operation_count"), ToolColumn("UID_count")],
            "precision": [ToolColumn("Compute Spec")],
        },
        notes=["bytes are TraceLens's model, operands once: not measured traffic"],
    ),
)
