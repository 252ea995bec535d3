"""Intel unitrace: the summary of the device's time that ``unitrace -d ./program`` prints.

A row is a kernel with its calls and its total time in nanoseconds. ``unitrace -v`` adds the SIMD width, the number of
groups and the size of a group to the names: these become columns of `Kernels.extra`. Copies and fills have the category
"copy"; their bytes are those of their names, times the calls, under ``host`` for copies from and to the host. unitrace
prints the calls of the host's API too: these are not read. It counts no FLOPs and no bytes of kernels: ``work=`` gives
them.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from roofwidget.kernels.columns import MAIN_LEVEL
from roofwidget.kernels.concat import joined
from roofwidget.kernels.table import Kernels
from roofwidget.readers import copies
from roofwidget.readers.amounts import product
from roofwidget.readers.folders import alone_in_a_folder, one_of
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import tool_table
from roofwidget.readers.tables.tool_table import ToolColumn, ToolTable

FORMAT: Final = "unitrace"
EXPECTED: Final = "the device timing summary that Intel unitrace prints"

_NO_WORK: Final = "unitrace counts neither FLOPs nor bytes of kernels: work= gives them"
_DEVICE: Final = ToolTable(
    "unitrace",
    [{"Kernel", "Calls", "Time (ns)", "Average (ns)"}],
    {"name": [ToolColumn("Kernel")], "time": [ToolColumn("Time", "ns")], "count": [ToolColumn("Calls")]},
    notes=[_NO_WORK],
)
_HOST: Final = ToolTable(
    "unitrace",
    [{"Function", "Calls", "Time (ns)", "Average (ns)"}],
    refusal="these are calls of the host's API, which are no kernels of a device: unitrace -d prints the kernels",
)
_LAUNCH: Final = re.compile(r"(?P<name>.+?)\[SIMD(?P<simd>\w+)(?: \{(?P<groups>[\d; ]+)\} \{(?P<size>[\d; ]+)\})?\]")
_BYTES: Final = re.compile(r"\[(\d{1,18}) bytes?\]")


@alone_in_a_folder
def recognises(source: Source) -> bool:
    """Whether the source has a summary of a device's or of the host's time, or is a folder with exactly one."""
    return tool_table.find(source, [_DEVICE, _HOST]) is not None


def read(source: Source) -> Kernels:
    """Return the kernels and copies of all summaries of devices in a text.

    Raises
    ------
    ProfileError
        If the text has only calls of the host, is cut off, or has a bad cell.
    """
    source = one_of(source, recognises)
    tables = tool_table.tables_of(source, _DEVICE)
    if not tables:
        tool_table.read_columns(source, _HOST)
    parts = [_kernels(table) for table in tables]
    return parts[0] if len(parts) == 1 else joined(parts).replace(source=source.name, warnings=[_NO_WORK])


def _kernels(source: Source) -> Kernels:
    given = tool_table.read_columns(source, _DEVICE)
    found = given.arguments()
    names = [name.strip() for name in found["names"]]
    is_copy = copies.are_copies(names)
    sizes = [_BYTES.search(name) if copied else None for name, copied in zip(names, is_copy, strict=True)]
    moved = product(
        lambda row: given.refuse(row, "Kernel", "the number of bytes is too large"),
        np.array([float(size[1]) if size else np.nan for size in sizes]),
        found["count"],
    )
    launches = [None if copied else _LAUNCH.fullmatch(name) for name, copied in zip(names, is_copy, strict=True)]
    found["names"] = [launch["name"] if launch else name for name, launch in zip(names, launches, strict=True)]
    found["bytes"] = {MAIN_LEVEL: moved}
    for column, key in (("SIMD", "simd"), ("groups", "groups"), ("group size", "size")):
        cells = [launch[key] if launch else None for launch in launches]
        if any(cells):
            found["extra"][column] = cells
    return tool_table.kernels_of(copies.with_copies(found, is_copy, names), source.name)
