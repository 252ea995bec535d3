"""Reports of ``nsys stats``: several tables, one after another in a text, with commas or printed in columns."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import MAIN_LEVEL, Floats
from roofwidget.kernels.concat import joined
from roofwidget.kernels.table import Kernels
from roofwidget.readers import copies
from roofwidget.readers.devices import by_device
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import tool_table
from roofwidget.readers.tables.delimited import DELIMITERS, split_line
from roofwidget.readers.tables.tool_table import LeftOut, ToolColumn, ToolTable
from roofwidget.support.did_you_mean import listed

# -- the reports ---------------------------------------------------------------------------------------------------

TOOL: Final = "Nsight Systems"
NO_WORK: Final = "Nsight Systems counts neither FLOPs nor bytes of kernels: work= gives them"
TAKE: Final = "nsys stats --report cuda_gpu_trace --format csv --output . FILE.nsys-rep"
_COUNT: Final = [ToolColumn(name) for name in ("Instances", "Count", "Operations", "Calls", "Num Calls")]
_TOTAL: Final = [ToolColumn("Total Time", "ns")]
_NESTED: Final = "ranges may contain other ranges: their times do not add up to the time of the program"
_AROUND: Final = "a kernel counts in every range around its launch: the times do not add up to the time of the kernels"
_OF_HOST: Final = "times of ranges are the host's (NVTX), not the device's: nvtx_gpu_proj_sum has the device's"
_API: Final = LeftOut("Category", re.compile("CUDA[_ ]API|.*_API", re.IGNORECASE), "calls of the host's API")


@dataclass(frozen=True)
class Report:
    """A report, its columns, and what it is good for.

    Parameters
    ----------
    name
        The name that ``nsys stats --report`` takes today.
    table
        The columns.
    has
        ``"kernels"``, ``"copies"``, both, ``"sizes"`` (bytes of copies), ``"ranges"``, or nothing that a device ran.
        In a file of several reports the first in `REPORTS` that has kernels is read, and reports of copies beside it.
    """

    name: str
    table: ToolTable
    has: frozenset[str]


def _report(
    name: str, has: str, told_by: Sequence[set[str]], columns: dict[str, list[ToolColumn]] | None = None, **more: Any
) -> Report:
    return Report(name, ToolTable(TOOL, told_by, columns or {}, **more), frozenset(has.split()))


def _of_host(name: str, what: str, told_by: Sequence[set[str]]) -> Report:
    """Return a report without anything that a device ran."""
    refusal = f"{what} ({name}), which are no kernels of a device: {TAKE} has the kernels"
    return _report(name, "", told_by, refusal=refusal)


def _summary(name: str) -> dict[str, list[ToolColumn]]:
    return {"name": [ToolColumn(name)], "time": _TOTAL, "count": _COUNT}


def _trace(name: str, time: str) -> dict[str, list[ToolColumn]]:
    return {"name": [ToolColumn(name)], "time": [ToolColumn(time, "ns")]}


REPORTS: Final = (
    _report(
        "cuda_gpu_trace",
        "kernels copies",
        [{"Start", "Duration", "CorrId", "Name"}, {"Start", "Duration", "Strm", "Name"}],
        {
            **_trace("Name", "Duration"),
            "bytes:main": [ToolColumn("Bytes", "B"), ToolColumn("Size", "B")],
        },
    ),
    _report(
        "cuda_kern_exec_trace",
        "kernels",
        [{"Kernel Dur", "Kernel Name"}],
        _trace("Kernel Name", "Kernel Dur"),
    ),
    _report(
        "cuda_gpu_kern_gb_sum",
        "kernels",
        [{"Total Time", "Instances", "GridXYZ", "Name"}],
        _summary("Name"),
    ),
    _of_host("mpi_event_sum", "these are times of MPI on the host", [{"Total Time", "Instances", "Source", "Name"}]),
    _report(
        "cuda_gpu_kern_sum",
        "kernels",
        [{"Total Time", "Instances", "Name"}],
        _summary("Name"),
    ),
    _report(
        "cuda_gpu_sum",
        "kernels copies",
        [{"Total Time", "Instances", "Category", "Operation"}],
        {**_summary("Operation"), "category": [ToolColumn("Category")]},
        left_out=[_API],
    ),
    _report(
        "cuda_kern_exec_sum",
        "kernels",
        [{"Count", "KAvg", "Kernel Name"}],
        {"name": [ToolColumn("Kernel Name")], "time": [ToolColumn("KAvg", "ns", "launch")], "count": _COUNT},
    ),
    _report(
        "nvtx_kern_sum",
        "kernels",
        [{"NVTX Range", "Kern Inst", "Kernel Name"}],
        {
            **_summary("Kernel Name"),
            "category": [ToolColumn("NVTX Range")],
            "count": [ToolColumn("Kern Inst")],
        },
        notes=[_AROUND],
    ),
    _report(
        "cuda_gpu_mem_time_sum",
        "copies",
        [{"Time", "Total Time", "Count", "Operation"}, {"Time", "Total Time", "Operations", "Operation"}],
        _summary("Operation"),
    ),
    _report(
        "cuda_gpu_mem_size_sum",
        "sizes",
        [{"Total", "Count", "Operation"}, {"Total", "Operations", "Operation"}],
        # Reports of 2020 say "by size in KiB" above the table.
        {"name": [ToolColumn("Operation")], "bytes:main": [ToolColumn("Total", "KiB")], "count": _COUNT},
    ),
    _report(
        "nvtx_gpu_proj_sum",
        "ranges",
        [{"Range", "Total Proj Time"}],
        {**_trace("Range", "Total Proj Time"), "count": [ToolColumn("Range Instances"), ToolColumn("Instances")]},
        notes=[_NESTED],
    ),
    _report(
        "nvtx_gpu_proj_trace",
        "ranges",
        [{"Name", "Projected Duration"}],
        _trace("Name", "Projected Duration"),
        notes=[_NESTED],
    ),
    _report(
        "nvtx_sum",
        "ranges",
        [{"Total Time", "Instances", "Range"}],
        _summary("Range"),
        notes=[_OF_HOST, _NESTED],
    ),
    _report(
        "nvtx_pushpop_trace",
        "ranges",
        [{"Duration", "DurNonChild", "Name"}],
        {**_trace("Name", "Duration"), "self_time": [ToolColumn("DurNonChild", "ns")]},
        notes=[_OF_HOST],
    ),
    _of_host("cuda_api_sum", "these are calls of the host's API", [{"Total Time", "Num Calls", "Name"}]),
    _of_host(
        "cuda_api_trace",
        "these are calls of the host's API",
        [{"Start", "Duration", "Result", "Name"}, {"Start", "Duration", "Name", "Pid"}],
    ),
    _of_host("openmp_sum", "these are times of the host's threads", [{"Time", "Total Time", "Count", "Med", "Name"}]),
    _of_host("um_total_sum", "these are migrations of unified memory", [{"Total HtoD Migration Size"}]),
    _of_host("um_sum", "these are migrations of unified memory", [{"HtoD Migration Size", "Virtual Address"}]),
)
_TABLES: Final = tuple(report.table for report in REPORTS)


# -- the tables of a text ------------------------------------------------------------------------------------------

# The first cell of a header. A search for these finds headers in much text without splitting each line.
_FIRST_CELLS: Final = re.compile(
    r'^[ \t]*"?(?:Time ?\(%\)|App Time|Start ?[(\["]|Total[ ,;\t("]|Range[ ,;\t"]|NVTX Range|Count[ ,;\t"]|API Start'
    r'|Name[ ,;\t"]|HtoD|Virtual)[^\n]*',
    re.MULTILINE,
)
_BANNER: Final = re.compile(
    r"^(?: ?\*\* |Processing \[|\[\d+/\d+\]|SKIPPED:|Generat|NOTICE:|WARNING:|ERROR:|Using |Exporting |[ \t]*$)",
    re.MULTILINE,
)
_RULE: Final = re.compile(r" *-{2,}(?: +-{2,})+ *")
_GAP: Final = re.compile(r" {2,}")


@dataclass(frozen=True)
class _Section:
    """A table in a file.

    Parameters
    ----------
    report
        What the table is.
    file
        The file that has it.
    lines_before
        The number of lines before it.
    text
        Its text.
    is_printed
        Whether it is printed in columns, without commas.
    """

    report: Report
    file: Source
    lines_before: int
    text: str
    is_printed: bool

    def source(self) -> Source:
        """Return the table with commas, on the same lines as in the file."""
        text = "\n".join(_with_commas(self.text)) if self.is_printed else self.text
        return Source.of_bytes(self.file.name, ("\n" * self.lines_before + text).encode())

    @property
    def is_empty(self) -> bool:
        return len([line for line in self.text.splitlines() if line.strip()]) <= (2 if self.is_printed else 1)


def _sections(file: Source, *, of_beginning: bool = False) -> list[_Section]:
    """Return the tables of a file, or of its first 64 KiB, in their order."""
    text = (file.beginning if of_beginning else file.text()).replace("\r\n", "\n").removeprefix("\ufeff")
    headers = []
    for match in _FIRST_CELLS.finditer(text):
        following = text[match.end() + 1 : match.end() + 1 + 2 * len(match[0])].partition("\n")[0]
        is_printed = _RULE.fullmatch(following.rstrip("\r")) is not None
        report = _report_of(match[0].strip("\r"), is_printed=is_printed)
        if report is not None:
            headers.append((match, report, is_printed))
    found = []
    for at, (match, report, is_printed) in enumerate(headers):
        end = headers[at + 1][0].start() if at + 1 < len(headers) else len(text)
        banner = _BANNER.search(text, min(match.end() + 1, end), end)
        stop = banner.start() if banner else end
        lines_before = text.count("\n", 0, match.start())
        found.append(_Section(report, file, lines_before, text[match.start() : stop], is_printed))
    return found


def _report_of(line: str, *, is_printed: bool) -> Report | None:
    splits = [_GAP.split(line.strip())] if is_printed else [split_line(line, mark) for mark in DELIMITERS]
    return next((one for one in REPORTS for names in splits if len(names) > 1 and one.table.is_header(names)), None)


def _with_commas(text: str) -> Iterator[str]:
    """Yield the lines of a printed table with commas between the cells.

    A line of dashes shows the columns' widths. A header or a cell that is wider shifts the rest of its line, so such a
    line is split at its gaps.
    """
    header, rule, *rows = text.splitlines()
    spans = [match.span() for match in re.finditer("-+", rule)]
    spans[-1] = (spans[-1][0], max(map(len, (header, *rows))))
    names = _cells(header, spans)
    is_name = [name in {"Name", "Range", "Operation", "Kernel Name"} for name in names]
    yield _joined(names)
    yield ""
    for row in rows:
        cells = _cells(row, spans)
        plain = [cell if named else cell.replace(",", "") for cell, named in zip(cells, is_name, strict=False)]
        yield _joined(plain if row.strip() else [])


def _cells(line: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Return the cells of a line in these columns. A cell may be empty only in a line that fits the columns."""
    between = "".join(line[stop:start] for (_, stop), (start, _) in itertools.pairwise([(0, 0), *spans]))
    if not between.strip():
        return [line[start:stop].strip() for start, stop in spans]
    return _GAP.split(line.strip(), maxsplit=len(spans) - 1)


def _joined(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


# -- reading -------------------------------------------------------------------------------------------------------


def recognises(source: Source) -> bool:
    """Return whether a text has a report of ``nsys stats`` in its first 64 KiB."""
    if tool_table.find(source, _TABLES) is not None:
        return True
    return "----" in source.beginning and any(one.is_printed for one in _sections(source, of_beginning=True))


def read(files: Sequence[Source], name: str) -> Kernels:
    """Return the kernels and copies of the reports of a profile, which may be in several files.

    Parameters
    ----------
    files
        The files.
    name
        The name of the profile.

    Raises
    ------
    ProfileError
        If no report has kernels, copies or ranges, a report has no rows, a cell is bad, or two files have the same
        report.
    """
    sections = [section for file in files for section in _sections(file)]
    if not sections:
        raise ProfileError(name, "no report of nsys stats that has kernels, copies or ranges")
    filled = [section for section in sections if not section.is_empty] or sections
    used = _used(filled)
    if len({section.file.name for section in used}) > len({section.report.name for section in used}):
        reason = f"several files have the report {used[0].report.name}: they are profiles of their own"
        raise ProfileError(name, reason)
    if len(sections) == 1 and not sections[0].is_printed:
        parts = [_kernels_of(sections[0].report, files[0], None)]
    else:
        sizes = [one for one in filled if "sizes" in one.report.has]
        with_sizes = _sizes(sizes[0].source()) if sizes and used[0] not in sizes else None
        parts = [_kernels_of(one.report, one.source(), with_sizes) for one in used]
        used += sizes if with_sizes else []
    kernels = parts[0] if len(parts) == 1 else joined(parts)
    left = listed(dict.fromkeys(section.report.name for section in filled if section not in used))
    warnings = [
        *dict.fromkeys(text for part in parts for text in part.warnings),
        *([f"reports of this file that are not read: {left}"] if left else []),
        NO_WORK,
    ]
    return kernels.replace(warnings=warnings, chip=parts[0].chip, source=name)


def _used(sections: Sequence[_Section]) -> list[_Section]:
    """Return the tables to read: one report of kernels and one of copies, or else one report of ranges."""
    used: list[_Section] = []
    order = sorted(sections, key=lambda section: REPORTS.index(section.report))
    for what in ("kernels", "copies", "sizes", "ranges"):
        if what in ("sizes", "ranges") and used:
            break
        if any(what in section.report.has for section in used):
            continue
        first = next((section.report for section in order if what in section.report.has), None)
        used += [section for section in sections if section.report is first]
    return used or order[:1]


def _sizes(source: Source) -> dict[str, float]:
    """Return the bytes of each kind of copy."""
    table = next(report.table for report in REPORTS if "sizes" in report.has)
    found = tool_table.read_columns(source, table).arguments()
    return dict(zip(found["names"], found["bytes"][MAIN_LEVEL].tolist(), strict=True))


def _kernels_of(report: Report, source: Source, sizes: dict[str, float] | None) -> Kernels:
    found = tool_table.read_columns(source, report.table).arguments()
    names = found["names"]
    is_copy = copies.are_copies(names)
    if sizes is not None and "copies" in report.has and is_copy.any():
        moved: Floats = np.array([sizes.get(name, np.nan) for name in names])
        found["bytes"] = {MAIN_LEVEL: np.where(is_copy, moved, np.nan)}
        found["origin"] |= {"bytes:main": '"Total" of cuda_gpu_mem_size_sum'}
    found = copies.with_copies(found, is_copy)
    return tool_table.kernels_of(by_device(found, names), source.name)
