"""Tables of fasterbench: layers of a network with their mean time.

fasterbench writes 0 FLOPs for layers that it does not count. The FLOPs of these layers become unknown.
"""

from __future__ import annotations

from typing import Final

from roofwidget.readers.tables.tool_table import ToolColumn, ToolTable

_FLOPS: Final = "fasterbench: from the shapes of convolutions and linear layers"
_BYTES: Final = "compulsory bytes: parameters, inputs and outputs once"
TABLES: Final = (
    ToolTable(
        "fasterbench",
        told_by=[{"name", "flops", "bytes_moved", "time_s"}],
        columns={
            "name": [ToolColumn("name")],
            "category": [ToolColumn("type")],
            "flops": [ToolColumn("flops", "FLOP", rule=_FLOPS)],
            "bytes": [ToolColumn("bytes_moved", "B", rule=_BYTES)],
            "time": [ToolColumn("time_s", "s", rule="mean of one forward pass")],
        },
        uncounted=("flops",),
    ),
)
