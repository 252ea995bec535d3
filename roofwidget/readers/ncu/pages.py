"""Read the tables that Nsight Compute prints: a row per metric (long, details, summary) or per launch (wide)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers import refusals
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import HEAD_BYTES, Source
from roofwidget.readers.ncu.metrics import (
    DEVICE_NAME,
    LAUNCH_FIELDS,
    WANTED_METRICS,
    Launches,
    first_impossible,
    in_base_units,
    is_count_unit,
)
from roofwidget.readers.tables import notation
from roofwidget.readers.tables.delimited import DelimitedTable, NoHeaderError, read_table
from roofwidget.support.arrays import Places
from roofwidget.support.did_you_mean import first_in
from roofwidget.support.text_tables import first_words

# -- labels of the pages for people --------------------------------------------------------------------------------

_LABELS: Final = {
    "duration": "gpu__time_duration.sum",
    "sm frequency": "smsp__cycles_elapsed.avg.per_second",
    "dram frequency": "dram__cycles_elapsed.avg.per_second",
    "l1/tex hit rate": "l1tex__t_sector_hit_rate.pct",
    "l2 hit rate": "lts__t_sector_hit_rate.pct",
    "achieved occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "compute (sm) throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "registers per thread": "launch__registers_per_thread",
    "waves per sm": "launch__waves_per_multiprocessor",
    "theoretical occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "one or more eligible": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "active warps per scheduler": "smsp__warps_active.avg.per_cycle_active",
    "eligible warps per scheduler": "smsp__warps_eligible.avg.per_cycle_active",
    "avg. active threads per warp": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "executed instructions": "smsp__inst_executed.sum",
    "sm active cycles": "sm__cycles_active.avg",
    "elapsed cycles": "sm__cycles_elapsed.max",
    "block limit registers": "launch__occupancy_limit_registers",
    "block limit shared mem": "launch__occupancy_limit_shared_mem",
    "block limit warps": "launch__occupancy_limit_warps",
    "block limit sm": "launch__occupancy_limit_blocks",
    "block limit barriers": "launch__occupancy_limit_barriers",
}
_MEMORY_THROUGHPUT: Final = {
    True: "dram__bytes.sum.per_second",
    False: "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
}


def metric_of(label: str, unit: str) -> str | None:
    """Return the metric of a label, or None. If two metrics have the same label, the unit decides between them.

    Examples
    --------
    >>> metric_of("Duration", "us"), metric_of("Memory Throughput", "Gbyte/second"), metric_of("Branch Efficiency", "%")
    ('gpu__time_duration.sum', 'dram__bytes.sum.per_second', None)
    """
    word = label.strip().casefold()
    if word == "memory throughput":
        return _MEMORY_THROUGHPUT["byte" in unit.casefold()]
    return _LABELS.get(word)


# -- tables --------------------------------------------------------------------------------------------------------

COMMAND: Final = "ncu --set roofline -o profile ./program"
_TABLE_COMMAND: Final = "ncu --csv --page raw --print-units base"

_KERNEL, _METRIC, _UNIT, _VALUE = "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"
# Tables that are copied from the window of Nsight Compute name a kernel twice.
_NAMES: Final = (_KERNEL, "Demangled Name", "Function Name")
_RULE: Final = "Rule Name"
_OF_DETAILS: Final = (
    "the page Details has no FLOPs, peaks or bytes of caches: read the report (.ncu-rep), or its page Raw, which "
    "'ncu -i profile.ncu-rep --csv --page raw' prints"
)
_AVERAGE, _MINIMUM, _MAXIMUM, _INVOCATIONS = "Average", "Minimum", "Maximum", "Invocations"
_HEADERS: Final = {
    **{field: (field.title(),) for field in LAUNCH_FIELDS},
    "id": ("ID",),
    "process": ("Process ID", "Process"),
    "block": ("Block Size", "Block Size [block]"),
    "grid": ("Grid Size", "Grid Size [block]"),
    "cc": ("CC",),
}
_DEVICE: Final = "Device Name"
# Only these columns decide the notation of numbers. Other columns contain versions, addresses and names.
_NUMBERS: Final = frozenset({_VALUE, _AVERAGE, _MINIMUM, _MAXIMUM, _INVOCATIONS})
_PRINTED: Final = re.compile(r"^ +Section: .+\n(?:[^,\n]*\n)?? +-{3,} -{3,}", re.MULTILINE)
# Cells of the window's page Details: metrics of one launch without its kernel.
_COPIED: Final = re.compile(
    r'^"?(?:Duration|Elapsed Cycles|SM Frequency|DRAM Frequency|Memory Throughput) \[[^\]\n]+\]"?[\t,;]"?[\d.,]+',
    re.MULTILINE,
)
_MESSAGE: Final = re.compile(r"^==(?:ERROR|WARNING)== *(.+)$", re.MULTILINE)
_PROFILING: Final = re.compile(r"^==PROF== Profiling ", re.MULTILINE)
_REPORT: Final = re.compile(r"^==PROF== Report: *(\S.*)$", re.MULTILINE)
_ANY_LINE: Final = re.compile(r"^==(?:PROF|ERROR|WARNING)==", re.MULTILINE)
_MAY_GROUP: Final = re.compile(r"\d{1,3}\.\d{3}")
_FAILED: Final = "(!)"
_MAX_MESSAGE_CHARS: Final = 300
_MAX_NAME_CHARS: Final = 60
_MAX_LAUNCHES: Final = 2**53


def is_header(cells: Sequence[str]) -> bool:
    """Whether these cells are the header of a table of Nsight Compute.

    Examples
    --------
    >>> is_header(["ID", "Kernel Name", "Metric Name", "Metric Value"]), is_header(["Kernel_Name", "SQ_WAVES"])
    (True, False)
    >>> is_header(["ID", "Function Name", "Demangled Name", "Duration [us]"])
    True
    """
    if _KERNEL in cells:
        return _METRIC in cells or any("__" in cell for cell in cells)
    return first_in(_NAMES, cells) is not None and any(_metric_of_header(cell)[0] for cell in cells)


def _metric_of_header(header: str, unit: str = "") -> tuple[str | None, str]:
    """Return the metric, None if a roofline does not need it, and the unit of a column of a wide table.

    Examples
    --------
    >>> _metric_of_header("gpu__time_duration.sum [us]"), _metric_of_header("Duration [ms]")
    (('gpu__time_duration.sum', 'us'), ('gpu__time_duration.sum', 'ms'))
    """
    before, bracket, after = header.partition(" [")
    bracketed = bool(before and bracket) and after.endswith("]")
    name, unit = (before, after[:-1]) if bracketed else (header, unit)
    # Without a unit, a label may be a column of another tool.
    return (_canonical(name, unit) if bracketed or "__" in name else None), unit


def read_pages(source: Source) -> Launches:
    """Return the launches of a printed table of any kind.

    Raises
    ------
    ProfileError
        If no kernel was profiled (the message quotes ncu), a column is missing, a cell is not a number, or a launch has
        a metric twice with different values. The message names line and column.
    """
    if not any(name in source.beginning for name in _NAMES) and len(source.head) < HEAD_BYTES:
        raise _nothing(source)
    names: list[str] = []
    plain: list[str] = []

    def header(cells: Sequence[str]) -> bool:
        names[:] = cells
        plain[:] = [c for c in cells if c not in _NUMBERS and "__" not in c and not _metric_of_header(c)[0]]
        return is_header(cells)

    def short(cells: Sequence[str]) -> bool:
        # The details page ends a row before the columns of rules if the row has no rule.
        if _RULE not in names or _VALUE not in names or not cells[0].isdecimal():
            return False
        return len(cells) > names.index(_METRIC) and any(cells[names.index(_VALUE) :])

    try:
        rows = read_table(source, header=header, short=short, plain=plain)
    except NoHeaderError:
        if _ANY_LINE.search(source.first) is None and not is_printed(source.first):
            raise
        raise _nothing(source) from None
    launches = _Long(rows).launches() if _METRIC in rows.columns else _wide(rows)
    if not len(launches):
        raise _nothing(source)
    if _RULE in rows.columns:
        launches = launches.with_warning(_OF_DETAILS)
    if not rows.has_last_end:
        what = "the table ends without a line end"
        return launches.with_warning(f"{what}: if it is incomplete, launches or metrics of the last launch are missing")
    return launches


def is_printed(text: str) -> bool:
    r"""Whether a text has pages as Nsight Compute prints them without ``--csv``, or cells of its window's page Details.

    Examples
    --------
    >>> is_printed("  k (1, 1, 1)x(1, 1, 1)\n    Section: GPU Speed Of Light\n    ------- ---- ---\n")
    True
    """
    return ("Section: " in text and _PRINTED.search(text) is not None) or _COPIED.search(text) is not None


def _nothing(source: Source) -> ProfileError:
    """Return the error for a text without a table: printed pages, the log of a report, or an error of ncu."""
    text = source.first
    report = _REPORT.search(text)
    if report is not None:
        path = report[1].rstrip()[:_MAX_MESSAGE_CHARS]
        return source.error(f"this is the log of ncu, and the profile is in the report {path!r}: read it")
    message = _MESSAGE.search(text)
    words = f"; ncu said: {message[1].strip()[:_MAX_MESSAGE_CHARS]}" if message else ""
    has_pages = is_printed(text)
    if has_pages or (_PROFILING.search(text) and not message):
        instead = f"use --csv: {_TABLE_COMMAND} ./program (or -i REPORT), or read the report that '{COMMAND}' writes"
        return refusals.of_printed(source, "pages" if has_pages else "lines", "ncu", instead)
    again = f"profile again, for example with '{COMMAND}', or with '{_TABLE_COMMAND} ./program' for a table"
    return source.error(f"no kernel was profiled{words}; {again}")


class _Long:
    """A table with one row per metric of a launch or, in a summary, per metric of a kernel."""

    def __init__(self, rows: DelimitedTable) -> None:
        self.rows = rows
        self.value = _VALUE if _VALUE in rows.columns else _AVERAGE
        self.is_summary = self.value == _AVERAGE
        # Skip rows without a metric (rules), and headers that are repeated because several runs are in one file.
        ids = rows.columns.get("ID", ["0"] * len(rows))
        metrics = rows.texts(_METRIC)
        numbers = {number for number in set(ids) if notation.is_number(number)}
        real = [row for row, number in enumerate(ids) if metrics[row] not in {"", _METRIC} and number in numbers]
        keys = self._keys()
        first: dict[tuple[str, ...], int] = {}
        for row in real:
            first.setdefault(keys[row], row)
        index = {key: number for number, key in enumerate(first)}
        self.first = list(first.values())
        self.launch = np.array([index.get(key, -1) for key in keys], dtype=np.intp)
        self.groups = self._groups(real)

    def launches(self) -> Launches:
        """Return the metrics as columns."""
        rows, spread, metrics = self.rows, dict[str, tuple[Floats, Floats]](), dict[str, Floats]()
        device: list[str | None] = [None] * len(self.first)
        by_metric: dict[str, list[tuple[str, Places]]] = {}
        for metric, unit, at in self.groups:
            by_metric.setdefault(metric, []).append((unit, at))
        cells = rows.texts(self.value)
        _decide_notation(rows, (((cells[row] for row in at), unit) for _, unit, at in self.groups))
        for metric, groups in by_metric.items():
            if metric == DEVICE_NAME:
                for row in (row for _, at in groups for row in at):
                    device[self.launch[row]] = rows.columns[self.value][row] or None
                continue
            metrics[metric] = self._column(metric, self.value, groups)
            if self.is_summary:
                spread[metric] = (self._column(metric, _MINIMUM, groups), self._column(metric, _MAXIMUM, groups))
        count = np.ones(len(self.first))
        if self.is_summary and _INVOCATIONS in rows.columns:
            count = self._invocations()
        names = _picked(rows.texts(_KERNEL), self.first)
        words = _words(rows, self.first)
        found = Launches(rows.source.name, names, words, metrics, device, count, spread)
        lacking = self._missing_at_the_end(by_metric, words["process"])
        return found.with_warning(_cut_off(names[-1], lacking)) if lacking else found

    def _missing_at_the_end(
        self, by_metric: Mapping[str, Sequence[tuple[str, Places]]], process: Sequence[str | None]
    ) -> list[str]:
        """Return the metrics that only the last launch of a process lacks.

        In every other launch these metrics are last in the list. A metric that is missing in the middle of the list is
        normal, because not all kernels have all metrics.
        """
        others = [launch for launch, number in enumerate(process[:-1]) if number == process[-1]]
        cells, last = self.rows.texts(self.value), len(process) - 1
        known, lacking = [-1], dict[str, int]()
        for metric, groups in by_metric.items() if others else ():
            at = np.concatenate([rows for _, rows in groups])
            launch = self.launch[at]
            has = np.zeros(len(process), dtype=np.bool_)
            has[launch] = True
            if has[others].all():
                place = int(at[launch == others[-1]].min())
                if any(cells[row] for row in at[launch == last]):
                    known.append(place)
                else:
                    lacking[metric] = place
        return list(lacking) if min(lacking.values(), default=-1) > max(known) else []

    def _invocations(self) -> Floats:
        """Return how many launches each kernel of a summary had."""
        cells = [self.rows.columns[_INVOCATIONS][row] for row in self.first]
        count, bad = notation.numbers(cells, self.rows.decimal)
        wrong = np.flatnonzero(~((count >= 1) & (count <= _MAX_LAUNCHES) & (count == np.rint(count))))
        if bad is not None or len(wrong):
            at = int(wrong[0]) if bad is None else bad
            raise self.rows.error(
                self.first[at], _INVOCATIONS, f"expected a whole number from 1, got {cells[at]!r:.60}"
            )
        return count

    def _keys(self) -> list[tuple[str, ...]]:
        """Return for each row a key of its launch: process and number. In a summary: process, kernel and shape."""
        if not self.is_summary:
            self.rows.texts("ID")
        parts = (
            ("Process ID", "Device", _KERNEL, "Block Size", "Grid Size") if self.is_summary else ("Process ID", "ID")
        )
        return list(zip(*(self.rows.columns[part] for part in parts if part in self.rows.columns), strict=True))

    def _groups(self, real: Sequence[int]) -> list[tuple[str, str, Places]]:
        """Return the rows of each wanted metric and unit. One metric may have different units in two launches."""
        units = self.rows.columns.get(_UNIT, [""] * len(self.rows))
        pairs = list(zip(self.rows.texts(_METRIC), units, strict=True))
        found: dict[tuple[str, str], list[int]] = {}
        for row in real:
            found.setdefault(pairs[row], []).append(row)
        named = ((_canonical(name, unit), unit, np.array(at)) for (name, unit), at in found.items())
        return [(metric, unit, at) for metric, unit, at in named if metric is not None]

    def _column(self, metric: str, header: str, groups: Iterable[tuple[str, Places]]) -> Floats:
        column = np.full(len(self.first), np.nan)
        cells = self.rows.texts(header)
        for unit, at in groups:
            values = _numbers(self.rows, at, [cells[row] for row in at], (header, metric, unit))
            launch = self.launch[at]
            before = column[launch]
            column[launch] = np.where(np.isnan(values), before, values)
            # A launch may list a metric in several sections, always with the same value.
            differs = ~np.isnan(values) & ((column[launch] != values) | (~np.isnan(before) & (before != values)))
            if differs.any():
                row = int(at[np.argmax(differs)])
                raise self.rows.error(row, header, f"this launch has '{metric}' twice, with different values")
        return column


def _wide(rows: DelimitedTable) -> Launches:
    """Return the launches of a table with one row per launch and one column per metric."""
    kernel = first_in(_NAMES, rows.columns) or _KERNEL
    at = np.array([row for row, name in enumerate(rows.texts(kernel)) if name not in {"", kernel}], dtype=np.intp)
    columns: dict[str, tuple[str, str]] = {}
    for header in rows.columns:
        metric, unit = _metric_of_header(header, (rows.units or {}).get(header, ""))
        if metric is not None and ("__" in header or metric not in columns):
            columns[metric] = (header, unit)
    device: list[str | None] = [None] * len(at)
    if DEVICE_NAME in columns or _DEVICE in rows.columns:
        header, _ = columns.pop(DEVICE_NAME, (_DEVICE, ""))
        device = [cell or None for cell in _picked(rows.columns[header], at)]
    cells = {name: _picked(rows.columns[header], at) for name, (header, _) in columns.items()}
    _decide_notation(rows, ((cells[name], unit) for name, (_, unit) in columns.items()))
    metrics = {name: _numbers(rows, at, cells[name], (header, name, unit)) for name, (header, unit) in columns.items()}
    names = _picked(rows.texts(kernel), at)
    return Launches(rows.source.name, names, _words(rows, at), metrics, device, np.ones(len(at)))


def _cut_off(name: str, lacking: Sequence[str]) -> str:
    missing = first_words([f"'{metric}'" for metric in lacking], 1)
    return (
        f"the last launch, '{name[:_MAX_NAME_CHARS]}', has no {missing}, "
        "which all launches before it have: if the file is cut off, export it again"
    )


def _canonical(name: str, unit: str) -> str | None:
    """Return the metric of a row, or None if a roofline does not need it."""
    if "__" not in name:
        return metric_of(name, unit)
    return name if WANTED_METRICS.fullmatch(name) else None


def _words(rows: DelimitedTable, at: Sequence[int] | Places) -> dict[str, list[str | None]]:
    columns = {
        word: next((rows.columns[header] for header in headers if header in rows.columns), None)
        for word, headers in _HEADERS.items()
    }
    return {
        word: [None] * len(at) if cells is None else [cell or None for cell in _picked(cells, at)]
        for word, cells in columns.items()
    }


def _picked(cells: Sequence[str], at: Sequence[int] | Places) -> list[str]:
    """Return the cells of a column in the rows with these numbers, which ascend. Most tables need all rows."""
    return list(cells) if len(at) == len(cells) else [cells[row] for row in at]


def _decide_notation(rows: DelimitedTable, columns: Iterable[tuple[Iterable[str], str]]) -> None:
    """Decide the decimal mark of a table if no number proves it.

    Counts have no fraction. For example, ``117.344`` nanoseconds are 117344 nanoseconds, because nanoseconds are counts
    here. So the point in this number is not a decimal mark.
    """
    if rows.decimal and not rows.decided:
        counts = (cells for cells, unit in columns if is_count_unit(unit))
        grouped = any("." in cell and _MAY_GROUP.fullmatch(cell) for cells in counts for cell in cells)
        rows.decimal = "," if grouped else "."


def _numbers(rows: DelimitedTable, at: Places, cells: Sequence[str], named: tuple[str, str, str]) -> Floats:
    """Return cells of a metric as numbers in base units, NaN where ncu has no value.

    `named` is the metric's header, name and unit.
    """
    header, metric, unit = named
    column, bad = notation.numbers(cells, rows.decimal)
    if bad is not None and cells[bad].startswith(_FAILED):
        column, bad = notation.numbers(["" if cell.startswith(_FAILED) else cell for cell in cells], rows.decimal)
    bad = first_impossible(column) if bad is None else bad
    if bad is not None:
        reason = f"expected a finite number from 0 for '{metric}', got {ascii(cells[bad])[:60]}"
        raise rows.error(int(at[bad]), header, reason)
    if metric.startswith("gpu__time_") and not unit.strip():
        unit = "ns"
    return in_base_units(column, unit)
