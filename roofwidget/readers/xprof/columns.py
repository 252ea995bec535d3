"""Which columns XProf's tables have, what its exports call them, and what `Kernels.extra` calls the rest of them."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Texts
from roofwidget.readers.xprof.device import GIBI, GIGA
from roofwidget.readers.xprof.draft import texts
from roofwidget.readers.xprof.table import Table

__all__ = ["LABELS", "MICRO", "extras", "id_of_label", "is_text"]

MICRO: Final = 1e-6
_PERCENT: Final = 0.01

# What becomes a field of `Kernels`, or says which rows are wanted.
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
# Where hlo_stats has percent, roofline_model has fractions under the same ids.
_IN_PERCENT: Final = ("total_self_time_percent", "cumulative_total_self_time_percent", "dma_stall_percent")

LABELS: Final[dict[str, str]] = {
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
"""What XProf heads each column of ``roofline_model`` with, by id."""
# GPU profiles and older versions say it differently.
_OTHER_LABELS: Final = {
    "SHM/L1 BW (GiB/s)": "vmem_write_bw",
    "SHM/L1 Operational Intensity (FLOP/Byte)": "vmem_write_operational_intensity",
    "Total Time per gpu (us)": "total_time_per_core",
    "Max memory (cmem or hbm) bandwidth utilization (%)": "max_mem_bw_utilization",
}


def id_of_label(label: str) -> str | None:
    """Return the id of the column with this heading, in any version's words; None for a heading that is not known.

    Examples
    --------
    >>> id_of_label("total time (US)"), id_of_label("hbm_bw"), id_of_label("Colour")
    ('total_time', 'hbm_bw', None)
    """
    return _BY_LABEL.get(_plain(label))


def is_text(column: str) -> bool:
    """Whether the column with this id holds text."""
    return column in _TEXTS or column in _TEXT_FIELDS


def extras(table: Table) -> dict[str, npt.NDArray[Any]]:
    """Return what the table tells beyond the fields of `Kernels`, by name with unit: floats, or texts with None.

    Of a column that XProf has gained since, all numbers or all text are kept under its id.
    """
    percent = "hlo_op_expression" in table.columns
    found: dict[str, npt.NDArray[Any]] = {}
    for column in table.columns:
        if column in _TEXTS:
            found[_TEXTS[column]] = _words(table, column)
        elif column in _NUMBERS:
            name, unit = _NUMBERS[column]
            found[name] = table.numbers(column) * (_PERCENT if percent and column in _IN_PERCENT else unit)
        elif column not in _FIELDS:
            found |= _unknown(table, column)
    if "source_info" in table.columns:
        found |= _sources(table)
    return found


def _words(table: Table, column: str) -> Texts:
    return texts([word or None for word in table.texts(column)])


def _unknown(table: Table, column: str) -> Mapping[str, npt.NDArray[Any]]:
    kinds = set(map(type, table.cells(column)))
    if kinds == {str}:
        return {column: _words(table, column)}
    if kinds and kinds <= {int, float}:
        cells = table.cells(column)
        return {column: np.array([float(value) if abs(value) < 2**1023 else np.nan for value in cells])}
    return {}


def _sources(table: Table) -> Mapping[str, npt.NDArray[Any]]:
    """Return the line of source and the stack above it, which XProf wraps in markup."""
    cells = table.texts("source_info")
    parts = {cell: _plain_source(cell) for cell in set(cells)}
    return {"source": texts([parts[cell][0] for cell in cells]), "stack": texts([parts[cell][1] for cell in cells])}


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
    **{_plain(name): name for name in LABELS},
    **{_plain(label): name for name, label in LABELS.items()},
    **{_plain(label): name for label, name in _OTHER_LABELS.items()},
}
