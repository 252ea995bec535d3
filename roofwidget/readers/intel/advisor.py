"""Intel Advisor: the survey with FLOPs and bytes of loops and functions, and the table of its Python interface.

Collect the FLOPs and the traffic, and export the survey::

    advisor --collect=survey --project-dir=./adv -- ./program
    advisor --collect=tripcounts --flop --project-dir=./adv -- ./program
    advisor --report=survey --format=csv --report-output=survey.csv --project-dir=./adv

Cells are separated by commas or tabs. Columns may have the names of the report (``Self GFLOP``) or of the Python
interface (``self_gflop``).

- FLOPs: ``Self GFLOP`` is the count. ``Self GFLOPS`` is a rate; without the count, FLOPs are the rate times the time.
- Time: ``Self Elapsed Time``; without it ``Self Time``, which adds up the threads. ``1.234s`` and ``12ms`` are read.
- Bytes: ``Self Memory`` is all bytes that the core requests, so the level is L1 (the cache-aware roofline). Columns of
  L2, L3 and DRAM are bytes of these levels. Bound the kernels with ``memory="L1"`` if there are no others.
- The parts of a vectorized loop (body, peeled, remainder), which are indented under the loop, are left out.
"""

from __future__ import annotations

import re
from typing import Final

from roofwidget.kernels.table import Kernels
from roofwidget.readers import refusals
from roofwidget.readers.folders import alone_in_a_folder, one_of
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import tool_table
from roofwidget.readers.tables.tool_table import LeftOut, ToolColumn, ToolTable

FORMAT: Final = "advisor"
EXPECTED: Final = "the survey of Intel Advisor as CSV"

_CARM: Final = "cache-aware roofline: all bytes that the core requests (level L1)"
_TIMES: Final = ("Self Elapsed Time", "Self Time", "Elapsed Time")
_TABLE: Final = ToolTable(
    "Intel Advisor",
    [*({"Function Call Sites and Loops", time} for time in _TIMES), {"loop_name", "self_time"}],
    {
        "name": [ToolColumn("Function Call Sites and Loops"), ToolColumn("Loop Name")],
        "category": [ToolColumn("Type")],
        "time": [ToolColumn(name, "s", has_unit_in_cells=True) for name in _TIMES],
        "flops": [
            ToolColumn("Self GFLOP", "GFLOP"),
            ToolColumn("Self GFLOPS", "GFLOP/s"),
        ],
        "bytes:L1": [ToolColumn(name, "GB", rule=_CARM) for name in ("Self Memory", "Self Memory GB")]
        + [ToolColumn(name, "GB/s", rule=_CARM) for name in ("Self GB/s", "Self GB s")],
        **{
            f"bytes:{level}": [ToolColumn(f"Self {level}{word}", "GB") for word in ("", " GB", " Memory")]
            for level in ("L2", "L3", "DRAM")
        },
    },
    left_out=[
        LeftOut(
            column,
            re.compile(r"\s*(?:[-+|]+\s*\[|\[child\]).*", re.DOTALL),
            "parts of vectorized loops, which are rows of their own",
        )
        for column in ("Function Call Sites and Loops", "loop_name")
    ],
)


@alone_in_a_folder
def recognises(source: Source) -> bool:
    """Whether the source is a survey of Advisor, or a folder with exactly one."""
    return tool_table.find(source, [_TABLE]) is not None or _is_printed(source)


def read(source: Source, *, decimal: str | None = None) -> Kernels:
    """Return the loops and functions of a survey.

    Parameters
    ----------
    source
        The report, or a folder with it.
    decimal
        The decimal mark, ``"."`` or ``","``, if the numbers do not prove it.

    Raises
    ------
    ProfileError
        If the survey is printed for people, is cut off, or has a bad cell.
    """
    source = one_of(source, recognises)
    if tool_table.find(source, [_TABLE]) is None:
        raise refusals.of_printed(source, "tables", "Advisor", "run advisor --report=survey --format=csv")
    found = tool_table.read_columns(source, _TABLE, decimal).arguments()
    if not any(key.startswith(("bytes:", "flops")) for key in found["origin"]):
        found["warnings"].append("the survey has no FLOPs: advisor --collect=tripcounts --flop counts them")
    return tool_table.kernels_of(found, source.name)


def _is_printed(source: Source) -> bool:
    text = source.beginning
    return "Function Call Sites and Loops" in text and "____" in text
