"""XProf's tables by column id, and the names of the columns in exports and in `Kernels.extra`."""

from __future__ import annotations

import html
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.column_meanings import extra_name
from roofwidget.kernels.columns import Bools, Floats, Texts
from roofwidget.readers.amounts import product
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.documents import list_at, value_at
from roofwidget.support.did_you_mean import did_you_mean

# -- tables --------------------------------------------------------------------------------------------------------

GIGA: Final = 1e9
GIBI: Final = 2.0**30


@dataclass(frozen=True)
class XProfTable:
    """Columns of raw values by id, and the row numbers for messages."""

    source: str
    columns: Mapping[str, Sequence[Any]]
    rows: Sequence[int]

    @classmethod
    def of(cls, given: object, source: str) -> XProfTable:
        """Make a table of a Google DataTable, ``{"cols": [{"id": …}], "rows": [{"c": [{"v": …}]}]}``.

        Raises
        ------
        ProfileError
            If the value is not a DataTable, two columns have the same id, or a row does not have one cell per column.
        """
        columns, rows = value_at(given, "cols"), value_at(given, "rows")
        if not isinstance(columns, list) or not isinstance(rows, list):
            raise ProfileError(source, "expected a table with 'cols' and 'rows'")
        ids: list[str] = []
        for position, column in enumerate(columns):
            name = value_at(column, "id")
            if not isinstance(name, str):
                raise ProfileError(source, "expected an object with an 'id'", place=f"column {position + 1}")
            ids.append(name)
        twice = next((name for name, times in Counter(ids).items() if times > 1), None)
        if twice is not None:
            raise ProfileError(source, "two columns have this id", column=twice)
        cells = [_cells(row, number, len(ids), source) for number, row in enumerate(rows, 1)]
        by_column: list[Any] = list(zip(*cells, strict=True)) if cells else [()] * len(ids)
        return cls(source, dict(zip(ids, by_column, strict=True)), range(1, len(cells) + 1))

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self, column: str) -> Sequence[Any]:
        """Return the raw values of a column."""
        if column not in self.columns:
            hint = did_you_mean(column, self.columns)
            raise ProfileError(self.source, f"the table has no such column{hint}", column=column)
        return self.columns[column]

    def numbers(self, column: str, at_least: float = 0) -> Floats:
        """Return the numbers of a column in the file's unit; each must be finite and at least `at_least`."""
        cells = self.cells(column)
        if all(kind in {int, float} for kind in set(map(type, cells))):
            try:
                numbers = np.array(cells, dtype=np.float64)
            except OverflowError:
                numbers = np.full(len(cells), np.nan)
            # NaN fails every comparison.
            if ((numbers >= at_least) & (numbers < np.inf)).all():
                return numbers
        for row, value in enumerate(cells):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise self.error(row, column, f"expected a number, got {shown(value)}")
            # An integer may be too large for a double.
            if not (at_least <= value <= sys.float_info.max):
                raise self.error(row, column, f"expected a finite number from {at_least:g}, got {shown(value)}")
        return np.array(cells, dtype=np.float64)

    def in_units(self, column: str, unit: float) -> Floats:
        """Return the numbers of a column times the unit."""
        return product(lambda row: self.error(row, column, "the number is too large"), self.numbers(column), unit)

    def totals(self, column: str, unit: float, time: Floats) -> Floats:
        """Return a column of rates as amounts: rate x unit x seconds of each row."""
        reason = "the rate is too large for its time"
        return product(lambda row: self.error(row, column, reason), self.numbers(column), unit, time)

    def texts(self, column: str) -> Texts:
        """Return the texts of a column; half of a surrogate pair is an error, because it cannot be shown or sent."""
        cells = self.cells(column)
        for row, value in enumerate(cells):
            if not isinstance(value, str) or not _is_unicode(value):
                raise self.error(row, column, f"expected text, got {shown(value)}")
        return text_column(cells)

    def optional_texts(self, column: str) -> Texts:
        """Return the texts of a column, None for empty texts."""
        return text_column([word or None for word in self.texts(column)])

    def truths(self, column: str) -> Bools:
        """Return the truth values of a column."""
        cells = self.cells(column)
        for row, value in enumerate(cells):
            if not isinstance(value, bool):
                raise self.error(row, column, f"expected true or false, got {shown(value)}")
        return np.array(cells, dtype=np.bool_)

    def error(self, row: int, column: str, reason: str) -> ProfileError:
        """Return the error for a cell; the row counts from 0."""
        return ProfileError(self.source, reason, row=self.rows[row], column=column)


def has_columns(text: str) -> bool:
    """Return whether the begin of a JSON text may be that of a Google DataTable."""
    return '"cols"' in text


def column_ids(given: object) -> list[str]:
    """Return the column ids of a Google DataTable; an empty list for anything else.

    Examples
    --------
    >>> column_ids({"cols": [{"id": "rank"}, 5], "rows": []}), column_ids([1])
    (['rank'], [])
    """
    found = [value_at(column, "id") for column in list_at(given, "cols")]
    return [name for name in found if isinstance(name, str)]


def shown(value: object) -> str:
    """Return `value` as the file writes it, at most 60 characters; text in Python's quotes, with escapes."""
    text = ascii(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004 - a line of an error message


def _cells(row: object, number: int, width: int, source: str) -> list[Any]:
    cells = value_at(row, "c")
    if not isinstance(cells, list):
        raise ProfileError(source, f"expected an object with a list 'c', got {shown(row)}", row=number)
    if len(cells) != width:
        raise ProfileError(source, f"expected {width} cells, one per column, got {len(cells)}", row=number)
    return [value_at(cell, "v") for cell in cells]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_column(values: Sequence[str | None]) -> Texts:
    """Return a column of texts."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


# -- columns -------------------------------------------------------------------------------------------------------

MICRO: Final = 1e-6
_PERCENT: Final = 0.01

# Columns that become fields of `Kernels`, or that select rows.
_TEXT_FIELDS: Final = frozenset(("step", "category", "operation", "hlo_op_name", "source_info"))
_FIELDS: Final = _TEXT_FIELDS | {"occurrences", "total_time", "total_self_time", "include_infeed_outfeed"}
_TEXTS: Final = {
    "hlo_module_id": "program",
    "program_id": "program",
    "bound_by": "XProf bound by",
    "hlo_op_expression": "HLO",
    "tf_op_name": "framework op",
    "hlo_rematerialization": "rematerialization",
    "outside_compilation": "outside compilation",
    "autotuned": "autotuned",
    "core_type": "core type",
    "parent_op_name": "parent op",
}
_NUMBERS: Final[dict[str, tuple[str, float]]] = {
    "rank": ("rank", 1),
    "avg_time": ("time per launch (s)", MICRO),
    "avg_self_time": ("self time per launch (s)", MICRO),
    "total_time_per_core": ("time per core (s)", MICRO),
    "total_time_in_percentage": ("share of time", 1),
    "total_self_time_percent": ("share of self time", 1),
    "cumulative_total_self_time_percent": ("cumulative share of self time", 1),
    "dma_stall_percent": ("DMA stall share", 1),
    "measured_flop_rate": ("XProf normalized FLOP rate (FLOP/s)", GIGA),
    "normalized_flop_rate": ("XProf normalized FLOP rate (FLOP/s)", GIGA),
    "model_flop_rate": ("XProf model FLOP rate (FLOP/s)", GIGA),
    "measured_memory_bw": ("XProf memory bandwidth (B/s)", GIBI),
    "hbm_bw": ("XProf HBM bandwidth (B/s)", GIBI),
    "cmem_read_bw": ("XProf CMEM read bandwidth (B/s)", GIBI),
    "cmem_write_bw": ("XProf CMEM write bandwidth (B/s)", GIBI),
    "vmem_read_bw": ("XProf VMEM read bandwidth (B/s)", GIBI),
    "vmem_write_bw": ("XProf VMEM write or Shm/L1 bandwidth (B/s)", GIBI),
    "operational_intensity": ("XProf intensity (FLOP/B)", 1),
    "hbm_operational_intensity": ("XProf HBM intensity (FLOP/B)", 1),
    "cmem_read_operational_intensity": ("XProf CMEM read intensity (FLOP/B)", 1),
    "cmem_write_operational_intensity": ("XProf CMEM write intensity (FLOP/B)", 1),
    "vmem_read_operational_intensity": ("XProf VMEM read intensity (FLOP/B)", 1),
    "vmem_write_operational_intensity": ("XProf VMEM write or Shm/L1 intensity (FLOP/B)", 1),
    "bottleneck_operational_intensity": ("XProf bottleneck intensity (FLOP/B)", 1),
    "optimal_flop_rate": ("XProf optimal FLOP rate (FLOP/s)", GIGA),
    "roofline_efficiency": ("XProf roofline efficiency", 1),
    "compute_efficiency": ("XProf compute efficiency", 1),
    "max_mem_bw_utilization": ("XProf memory utilization", 1),
    "vdd_energy": ("VDD energy (J)", 1),
}
# hlo_stats has percentages in these columns, roofline_model has fractions.
_IN_PERCENT: Final = ("total_self_time_percent", "cumulative_total_self_time_percent", "dma_stall_percent")

_LABELS: Final[dict[str, str]] = {
    "step": "Step",
    "rank": "Rank",
    "category": "Category",
    "operation": "Operation",
    "occurrences": "# Occurrences",
    "total_time": "Total Time (us)",
    "avg_time": "Avg. time (us)",
    "total_self_time": "Total self time (us)",
    "avg_self_time": "Avg. self time (us)",
    "total_self_time_percent": "Total self time (%)",
    "cumulative_total_self_time_percent": "Cumulative total self time (%)",
    "dma_stall_percent": "%time stalled by DMA",
    "measured_flop_rate": "Normalized FLOP Rate (GFLOP/s)",
    "model_flop_rate": "Model FLOP Rate (GFLOP/s)",
    "measured_memory_bw": "Memory BW (GiB/s)",
    "hbm_bw": "HBM BW (GiB/s)",
    "cmem_read_bw": "CMEM Read BW (GiB/s)",
    "cmem_write_bw": "CMEM Write BW (GiB/s)",
    "vmem_read_bw": "VMEM Read BW (GiB/s)",
    "vmem_write_bw": "VMEM Write BW (GiB/s)",
    "operational_intensity": "Operational Intensity (FLOP/Byte)",
    "hbm_operational_intensity": "HBM Operational Intensity (FLOP/Byte)",
    "cmem_read_operational_intensity": "CMEM Read Operational Intensity (FLOP/Byte)",
    "cmem_write_operational_intensity": "CMEM Write Operational Intensity (FLOP/Byte)",
    "vmem_read_operational_intensity": "VMEM Read Operational Intensity (FLOP/Byte)",
    "vmem_write_operational_intensity": "VMEM Write Operational Intensity (FLOP/Byte)",
    "bottleneck_operational_intensity": "Bottleneck Operational Intensity (FLOP/Byte)",
    "bound_by": "Bound by",
    "total_time_per_core": "Total Time per core (us)",
    "total_time_in_percentage": "Total Time (%)",
    "optimal_flop_rate": "Optimal FLOP Rate (GFLOP/s)",
    "roofline_efficiency": "Roofline efficiency (%)",
    "compute_efficiency": "FLOP Rate / Peak (%)",
    "max_mem_bw_utilization": "Max memory BW utilization (among supported memories) (%)",
    "include_infeed_outfeed": "Include Infeed/Outfeed",
    "hlo_module_id": "Program ID",
    "source_info": "Source Info",
}
"""The heading of each column of ``roofline_model``, by id."""
# Headings of GPU profiles and of older versions.
_OTHER_LABELS: Final = {
    "SHM/L1 BW (GiB/s)": "vmem_write_bw",
    "SHM/L1 Operational Intensity (FLOP/Byte)": "vmem_write_operational_intensity",
    "Total Time per gpu (us)": "total_time_per_core",
    "Max memory (cmem or hbm) bandwidth utilization (%)": "max_mem_bw_utilization",
}


def id_of_label(label: str) -> str | None:
    """Return the id of the column with this heading in any version; None for an unknown heading.

    Examples
    --------
    >>> id_of_label("total time (US)"), id_of_label("hbm_bw"), id_of_label("Colour")
    ('total_time', 'hbm_bw', None)
    """
    return _BY_LABEL.get(_plain(label))


def is_text(column: str) -> bool:
    """Whether the column with this id has text."""
    return column in _TEXTS or column in _TEXT_FIELDS


def extras(table: XProfTable) -> dict[str, npt.NDArray[Any]]:
    """Return the columns that are not fields of `Kernels`, by name with unit: floats, or texts with None.

    An unknown column (of a newer XProf) is kept under its id if all its cells are numbers or all are texts.
    """
    percent = "hlo_op_expression" in table.columns
    found: dict[str, npt.NDArray[Any]] = {}
    for column in table.columns:
        if column in _TEXTS:
            found[_TEXTS[column]] = table.optional_texts(column)
        elif column in _NUMBERS:
            name, unit = _NUMBERS[column]
            found[name] = table.in_units(column, _PERCENT if percent and column in _IN_PERCENT else unit)
        elif column not in _FIELDS:
            found |= _unknown(table, column)
    if "source_info" in table.columns:
        found |= _sources(table)
    return found


def _unknown(table: XProfTable, column: str) -> Mapping[str, npt.NDArray[Any]]:
    kinds = set(map(type, table.cells(column)))
    if kinds == {str}:
        return {extra_name(column, "XProf"): table.optional_texts(column)}
    if kinds and kinds <= {int, float}:
        cells = table.cells(column)
        numbers = np.array([float(value) if abs(value) < 2**1023 else np.nan for value in cells])
        return {extra_name(column, "XProf"): numbers}
    return {}


def _sources(table: XProfTable) -> Mapping[str, npt.NDArray[Any]]:
    """Return the source line and the stack, which XProf wraps in markup."""
    cells = table.texts("source_info")
    parts = {cell: _plain_source(cell) for cell in set(cells)}
    return {
        "source": text_column([parts[cell][0] for cell in cells]),
        "stack": text_column([parts[cell][1] for cell in cells]),
    }


def _plain_source(cell: str) -> tuple[str | None, str | None]:
    r"""Return ``(file:line, whole stack)``.

    Examples
    --------
    >>> _plain_source("<div class='x' title='b.py:7:2\n&lt;a&gt;.py:3:1\n'>&lt;a&gt;.py:3</div>")
    ('<a>.py:3', 'b.py:7:2\n<a>.py:3:1')
    """
    stack = re.search(r"""\btitle=(['"])(.*?)\1""", cell, re.DOTALL)
    line = html.unescape(re.sub(r"<[^>]*>", "", cell)).strip()
    return line or None, html.unescape(stack[2]).strip() or None if stack else None


def _plain(label: str) -> str:
    return re.sub(r"[\W_]+", " ", label.casefold().replace("%", " percent ").replace("#", " count ")).strip()


_BY_LABEL: Final = {
    **{_plain(name): name for name in _LABELS},
    **{_plain(label): name for name, label in _LABELS.items()},
    **{_plain(label): name for label, name in _OTHER_LABELS.items()},
}
