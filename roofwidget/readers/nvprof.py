r"""NVIDIA nvprof: the tables of ``--csv``, and the printed summary.

These commands write tables that the reader accepts, with the lines of ``==PID==`` around them::

    nvprof --csv --log-file summary.csv ./program
    nvprof --csv --print-gpu-trace --log-file trace.csv ./program
    nvprof --csv --metrics flop_count_sp,flop_count_dp,flop_count_hp,dram_read_bytes,dram_write_bytes \
        --log-file metrics.csv ./program

- Each column has the unit that the row under the header gives. KB, MB and GB are powers of 1024.
- Summary: time and calls of each kernel and copy; calls of the host's API are left out. Its printed form, as nvprof
  writes it without ``--csv``, is read too.
- Trace: a row per launch. Bytes of copies are under ``host``, ``peer`` or the main memory, as for Nsight Systems.
- Metrics: a row per kernel, without times. A metric is the mean over the invocations, so amounts are the mean times the
  invocations: FLOPs from ``flop_count_sp`` (fp32), ``flop_count_dp`` (fp64) and ``flop_count_hp`` (fp16); bytes from
  ``dram_read_bytes`` and ``dram_write_bytes``, or 32 bytes times ``dram_read_transactions`` and
  ``dram_write_transactions``; bytes of L2 from 32 bytes times ``l2_read_transactions`` and ``l2_write_transactions``.
  Products of tensor cores are in none of these metrics.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import MAIN_LEVEL, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers import copies, refusals
from roofwidget.readers.amounts import product
from roofwidget.readers.devices import by_device, named_apart, one_chip_of, without_number
from roofwidget.readers.folders import alone_in_a_folder, one_of
from roofwidget.readers.input import databases
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import notation, tool_table
from roofwidget.readers.tables.delimited import DELIMITERS, DelimitedTable, read_table, split_line
from roofwidget.readers.tables.tool_table import LeftOut, ToolColumn, ToolTable

# -- tables --------------------------------------------------------------------------------------------------------

FORMAT: Final = "nvprof"
EXPECTED: Final = "a table that nvprof writes with --csv: the summary, --print-gpu-trace or --metrics"

_TOOL: Final = "nvprof"
_NO_WORK: Final = "nvprof counts FLOPs and bytes only with --metrics; work= gives them too"
_API: Final = "calls of the host's API"
_SUMMARY: Final = ToolTable(
    _TOOL,
    [{"Time(%)", "Time", "Calls", "Name"}],
    {
        "name": [ToolColumn("Name")],
        "time": [ToolColumn("Time", "s")],
        "count": [ToolColumn("Calls")],
    },
    left_out=[LeftOut("Type", re.compile("(?!GPU activities).*", re.IGNORECASE), _API)],
    notes=[_NO_WORK],
    has_unit_row=True,
)
_TRACE: Final = ToolTable(
    _TOOL,
    [{"Start", "Duration", "Stream", "Name"}],
    {
        "name": [ToolColumn("Name")],
        "time": [ToolColumn("Duration", "s")],
        "bytes:main": [ToolColumn("Size", "B", is_binary=True)],
    },
    notes=[_NO_WORK],
    has_unit_row=True,
)
_API_TRACE: Final = ToolTable(
    _TOOL,
    [{"Start", "Duration", "Name", "Correlation_ID"}],
    refusal=f"these are {_API}, which are no kernels of a device: nvprof --csv --print-gpu-trace has the kernels",
)
_METRICS: Final = ToolTable(_TOOL, [{"Device", "Kernel", "Invocations", "Metric Name", "Avg"}])
_EVENTS: Final = ToolTable(
    _TOOL,
    [{"Device", "Kernel", "Invocations", "Event Name"}],
    refusal="these are events of nvprof, which count no FLOPs: nvprof --csv --metrics flop_count_sp,dram_read_bytes …",
)
# Metrics come first: a file may have events before its metrics.
_TABLES: Final = (_METRICS, _SUMMARY, _TRACE, _API_TRACE, _EVENTS)
_CORRELATION: Final = re.compile(r" \[\d+\]$")
_BEGIN: Final = re.compile(r"^==\d+== (?:NVPROF is profiling|Profiling result|Metric result)", re.MULTILINE)


@alone_in_a_folder
def recognises(source: Source) -> bool:
    """Whether the source is a table of nvprof, or text that nvprof prints."""
    if databases.is_database(source):
        return b"CUPTI_ACTIVITY_KIND" in source.head and b"StringTable" in source.head
    text = source.beginning
    return ("==" in text and _BEGIN.search(text) is not None) or tool_table.find(source, _TABLES) is not None


def read(source: Source) -> Kernels:
    """Return the kernels and copies of a table.

    Raises
    ------
    ProfileError
        If the table has no kernels, is printed for people, or is damaged.
    """
    source = one_of(source, recognises)
    if databases.is_database(source):
        name = source.name.rpartition("/")[2]
        raise source.error(f"the file has nvprof's own format: nvprof --csv --print-gpu-trace -i {name}")
    table = tool_table.find(source, _TABLES)
    if table is None:
        return _kernels(_as_csv(source), _SUMMARY)
    return _metrics(source) if table is _METRICS else _kernels(_first_table(source, table), table)


def _first_table(source: Source, table: ToolTable) -> Source:
    """Return the source with the first table alone. The summary of old versions has a second one, of the host's API."""
    headers = 0
    for number, line in enumerate(source.beginning.splitlines()):
        headers += any(table.is_header(split_line(line, mark)) for mark in DELIMITERS)
        if headers > 1 or (headers and line.startswith("==") and "API calls" in line):
            return _of_text(source, "\n".join(source.text().splitlines()[:number]) + "\n")
    return source


def _of_text(source: Source, text: str) -> Source:
    return Source.of_bytes(source.name, text.encode())


def _kernels(source: Source, table: ToolTable) -> Kernels:
    found = tool_table.read_columns(source, table).arguments()
    names = [_CORRELATION.sub("", name) for name in found["names"]]
    found["names"] = names
    found = copies.with_copies(found, copies.are_copies(names))
    return tool_table.kernels_of(by_device(found, names), source.name)


# -- the printed summary -------------------------------------------------------------------------------------------

_PRINTED: Final = re.compile(
    r"(?:(?P<type>[A-Z][\w ()]*):\s+)?(?P<share>[\d.]+)%\s+(?P<time>[\d.]+[mun]?s)\s+(?P<calls>\d+)"
    r"\s+[\d.]+[mun]?s\s+[\d.]+[mun]?s\s+[\d.]+[mun]?s\s+(?P<name>\S.*)"
)
_OLD_TITLE: Final = re.compile(r"==\d+== (Profiling result|API calls):")


def _as_csv(source: Source) -> Source:
    """Return the printed summary as a table with commas, on the same lines."""
    lines, kind, found = io.StringIO(), "GPU activities", False
    write = csv.writer(lines, lineterminator="\n").writerow
    for line in source.text().splitlines():
        title, row = _OLD_TITLE.match(line), _PRINTED.fullmatch(line.strip())
        if title:
            kind = "GPU activities" if title[1] == "Profiling result" else title[1]
        if row is None:
            lines.write("Type,Time(%),Time,Calls,Name\n" if "Time(%)" in line and not found else "\n")
            found = found or "Time(%)" in line
            continue
        kind = row["type"] or kind
        time = re.fullmatch(r"([\d.]+)(\w+)", row["time"])
        seconds = float(time[1]) * (tool_table.factor(time[2], "s") or 1.0) if time else np.nan
        write([kind, row["share"], repr(seconds), row["calls"], row["name"].strip()])
    if not found:
        raise refusals.of_printed(source, "lines", "nvprof", "run nvprof again with --csv --log-file profile.csv")
    return _of_text(source, lines.getvalue())


# -- metrics -------------------------------------------------------------------------------------------------------

_FLOPS: Final = {"fp32": "flop_count_sp", "fp64": "flop_count_dp", "fp16": "flop_count_hp"}
_SECTOR_BYTES: Final = 32.0
# For each level: the metrics whose sum is its bytes, and the bytes of one.
_BYTES: Final[dict[str, tuple[tuple[tuple[str, ...], float], ...]]] = {
    MAIN_LEVEL: (
        (("dram_read_bytes", "dram_write_bytes"), 1.0),
        (("dram_read_transactions", "dram_write_transactions"), _SECTOR_BYTES),
    ),
    "L2": ((("l2_read_transactions", "l2_write_transactions"), _SECTOR_BYTES),),
}
_NEEDED: Final = frozenset(
    [*_FLOPS.values(), *(name for choices in _BYTES.values() for names, _ in choices for name in names)]
)


class _Metrics:
    """The metrics of each kernel of each device: n kernels, in the order of the file."""

    def __init__(self, rows: DelimitedTable) -> None:
        keys = list(zip(rows.texts("Device"), rows.texts("Kernel"), strict=True))
        place = {key: at for at, key in enumerate(dict.fromkeys(keys))}
        self.keys = list(place)
        self._rows = rows
        metrics = [name.strip() for name in rows.texts("Metric Name")]
        # Other metrics have cells such as "98.5%" or "Low (1)".
        used = [row for row, name in enumerate(metrics) if name in _NEEDED]
        means = _means(rows, used)
        invocations = rows.numbers("Invocations")
        self.count = np.full(len(place), np.nan)
        self.totals: dict[str, Floats] = {}
        at = np.array([place[key] for key in keys], dtype=np.intp)
        self.count[at] = invocations
        for name in dict.fromkeys(metrics[row] for row in used):
            mine = np.array([row for row in used if metrics[row] == name])
            column = self.totals.setdefault(name, np.full(len(place), np.nan))
            column[at[mine]] = product(
                lambda row, mine=mine: rows.error(int(mine[row]), "Avg", "the number is too large"),  # type: ignore[misc]
                means[mine],
                invocations[mine],
            )


def _means(rows: DelimitedTable, used: Sequence[int]) -> Floats:
    """Return the column ``Avg`` of the rows that are used, NaN elsewhere."""
    cells = rows.texts("Avg")
    needed = set(used)
    blank = ["" if row not in needed else cell for row, cell in enumerate(cells)]
    means, bad = notation.numbers(blank, rows.decimal)
    if bad is not None or (means < 0).any():
        row = int(np.argmax(means < 0)) if bad is None else bad
        raise rows.error(row, "Avg", f"expected a finite number from 0, got {cells[row]!a:.60}")
    return means


def _metrics(source: Source) -> Kernels:
    rows = read_table(source, header=_METRICS.is_header, strict=True)
    if not len(rows):
        raise source.error("the table of nvprof has no row under its header")
    found = _Metrics(rows)
    flops = {precision: found.totals[name] for precision, name in _FLOPS.items() if name in found.totals}
    moved, origin = _bytes_of(found.totals)
    devices = [device for device, _ in found.keys]
    chip, warnings = one_chip_of(without_number(device) for device in devices)
    missing = [what for what, known in (("FLOPs", flops), ("bytes", moved)) if not known]
    asked = {"FLOPs": "flop_count_sp,flop_count_dp,flop_count_hp", "bytes": "dram_read_bytes,dram_write_bytes"}
    return Kernels(
        named_apart([kernel for _, kernel in found.keys], devices),
        flops,
        moved,
        count=found.count,
        chip=chip,
        origin={f"flops:{key}": f"Avg of {_FLOPS[key]} x Invocations" for key in flops} | origin,
        extra={"Device": devices},
        warnings=[
            *warnings,
            *(f"{what} are unknown: nvprof --metrics {asked[what]} counts them" for what in missing),
            "metrics of nvprof have no times: nvprof --csv without --metrics has them",
        ],
        source=source.name,
    )


def _bytes_of(totals: dict[str, Floats]) -> tuple[dict[str, Floats], dict[str, Any]]:
    moved, origin = {}, {}
    for level, choices in _BYTES.items():
        for names, size in choices:
            if all(name in totals for name in names):
                moved[level] = size * np.sum([totals[name] for name in names], axis=0)
                times = "" if size == 1 else f"{size:g} x "
                origin[f"bytes:{level}"] = f"{times}Avg of {' + '.join(names)} x Invocations"
                break
    return moved, origin
