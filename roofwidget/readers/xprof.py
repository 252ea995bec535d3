"""XProf's Roofline Analysis: the JSON of its tool ``roofline_model``, for TPU and GPU.

The file holds ``[table, diagnostics]``. Columns are found by their ``id``, never by position; columns and properties
that are not known are ignored. Units in the file are microseconds, GFLOP/s (1e9) and GiB/s (2**30). A rate is a total
over its ``total_time``, both summed over the device's cores, so a total is the product of the two (the formulas of
XProf's ``op_metrics_to_record.h``, inverted).
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.chips.chip import Chip, Memory, Source
from roofwidget.columns import Floats
from roofwidget.kernels import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.suggest import listed, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_roofline_model", "recognises"]

_GIGA: Final = 1e9
_GIBI: Final = 2.0**30
_MICRO: Final = 1e-6

# Only this tool of XProf's has these; its other tables share most of the remaining columns.
_OWN_COLUMNS: Final = ("include_infeed_outfeed", "roofline_efficiency", "bottleneck_operational_intensity")
_PROGRAM_STEPS: Final = {"Total": "Program", "Total (HW)": "Program (HW)"}
# XProf leaves these out of the program's sums: their time holds that of other rows.
_CONTAINERS: Final = ("call", "conditional", "while", "megacore fusion")
_VENDORS: Final = {"tpu": "Google", "amd": "AMD", "nvidia": "NVIDIA"}


@dataclass(frozen=True)
class _Level:
    """A memory beside HBM: our name, the stem of XProf's names for it, and the property that says it is there."""

    name: str
    stem: str
    flag: str


_TPU_LEVELS: Final = (
    _Level("VMEM read", "vmem_read", "has_merged_vmem"),
    _Level("VMEM write", "vmem_write", "has_merged_vmem"),
    _Level("CMEM read", "cmem_read", "has_cmem"),
    _Level("CMEM write", "cmem_write", "has_cmem"),
)


def recognises(document: object) -> bool:
    """Whether parsed JSON looks like ``roofline_model``, be it flawed or not.

    Examples
    --------
    >>> recognises([{"cols": [{"id": "include_infeed_outfeed"}], "rows": []}]), recognises({"traceEvents": []})
    (True, False)
    """
    if not (isinstance(document, list) and document and isinstance(document[0], dict)):
        return False
    columns, properties = document[0].get("cols"), document[0].get("p")
    ids = [column.get("id") for column in columns if isinstance(column, dict)] if isinstance(columns, list) else []
    has_own_column = any(name in ids for name in _OWN_COLUMNS)
    return has_own_column or (isinstance(properties, dict) and "peak_flop_rate" in properties)


def read_roofline_model(document: object, source: str, *, infeed: bool = True) -> Kernels:
    """Make `Kernels` of a parsed ``roofline_model`` document.

    Parameters
    ----------
    document
        The parsed JSON, ``[table, diagnostics]``.
    source
        The file's path, for messages and for `Kernels.source`.
    infeed
        The file lists everything twice, with and without infeed and outfeed operations: which list to take.

    Returns
    -------
    Kernels
        One kernel an operation: FLOPs (on TPU normalised by XProf to the bf16 peak), bytes by level (``HBM``; on TPU
        also ``VMEM read``, ``VMEM write``, ``CMEM read``, ``CMEM write`` where the device has them and the file
        counts any), seconds with children, launches. Zero FLOPs beside known bytes stay zero; an operation with
        neither, which XProf calls "Unknown", has NaN for both. `program` and `steps` hold the totals, `chip` the
        device as XProf knows it (None when it gives no peaks).

    Raises
    ------
    ProfileError
        If a column is missing or a cell holds something else than it should; names row (from 1) and column.
    TypeError
        If `infeed` is not a bool.

    Examples
    --------
    >>> ids = ["step", "rank", "category", "operation", "occurrences", "total_time", "measured_flop_rate", "hbm_bw"]
    >>> cells = ["Total", 1.0, "loop fusion", "fusion.1", 10.0, 250.0, 64.0, 512.0]
    >>> table = {
    ...     "cols": [{"id": name} for name in [*ids, "include_infeed_outfeed"]],
    ...     "p": {"device_type": "My GPU", "peak_flop_rate": "1000", "peak_hbm_bw": "1024"},
    ...     "rows": [{"c": [{"v": value} for value in [*cells, True]]}],
    ... }
    >>> kernels = read_roofline_model([table], "mine.json")
    >>> kernels.flops.tolist(), kernels.bytes.tolist(), kernels.time.tolist()
    ([16000000.0], [137438953.472], [0.00025])
    >>> kernels.chip.memories["HBM"].bandwidth == 1024 * 2**30
    True
    """
    if infeed not in (True, False):
        msg = f"infeed must be True or False, got {infeed!r}"
        raise TypeError(msg)
    if not isinstance(document, list) or not document:
        raise ProfileError(source, "expected a list [table, diagnostics]")
    table = _Table.of(document[0], source)
    properties = _Properties.of(document[0], source)
    said = _diagnostics(document[1], source) if len(document) > 1 else []
    chip = _chip(properties)
    every = _rows_as_kernels(table, properties, chip)
    steps, ranks = table.texts("step"), table.numbers("rank")
    wanted = table.truths("include_infeed_outfeed") == infeed
    if len(every) and not wanted.any():
        reason = f"no row is {_shown(infeed)}; read it with infeed={not infeed}"
        raise ProfileError(source, reason, column="include_infeed_outfeed")

    is_total = np.isin(steps, list(_PROGRAM_STEPS))
    is_empty = np.isnan(every.flops) & (every.time == 0)
    is_step = wanted & ~is_total & (ranks == 0)
    operations = every[wanted & (steps == "Total") & (ranks > 0)]
    return Kernels(
        operations.names,
        operations.flops_by_precision,
        operations.bytes_by_level,
        time=operations.time,
        category=operations.category,
        count=operations.count,
        chip=chip,
        program=every[wanted & is_total & (ranks == 0)],
        steps=every[is_step & ~is_empty],
        warnings=[*said, *_remarks(operations, properties, chip, no_steps=bool((is_step & is_empty).any()))],
        source=source,
    )


def _rows_as_kernels(table: _Table, properties: _Properties, chip: Chip | None) -> Kernels:
    """Make a kernel of every row of both lists: the totals are named by their step."""
    time = table.numbers("total_time") * _MICRO
    flops = table.totals("measured_flop_rate", _GIGA, time)
    moved = {"HBM": table.totals("hbm_bw", _GIBI, time)}
    for level in properties.levels():
        amount = table.totals(f"{level.stem}_bw", _GIBI, time)
        # A level at which the whole file moves nothing was not counted; beside others a zero is a count.
        if amount.any():
            moved[level.name] = amount
    # XProf's "Unknown": opaque to XLA's cost model, which is not the same as free.
    opaque = (flops == 0) & np.all([amount == 0 for amount in moved.values()], axis=0)
    names = [
        operation if rank > 0 else _PROGRAM_STEPS.get(step) or (f"Step {step}" if step.isdecimal() else step)
        for operation, rank, step in zip(
            table.texts("operation"), table.numbers("rank"), table.texts("step"), strict=True
        )
    ]
    return Kernels(
        names,
        np.where(opaque, np.nan, flops),
        {level: np.where(opaque, np.nan, amount) for level, amount in moved.items()},
        time=time,
        category=[word or None for word in table.texts("category")],
        count=table.numbers("occurrences", at_least=1),
        chip=chip,
        source=table.source,
    )


def _chip(properties: _Properties) -> Chip | None:
    """Return the device with XProf's peaks, per TensorCore or GPU; None without a FLOP rate or an HBM bandwidth."""
    peak, bandwidth = properties.number("peak_flop_rate"), properties.number("peak_hbm_bw")
    if not (peak and bandwidth):
        return None
    # XProf normalises FLOPs on TPU to the bf16 peak; on GPU its one roof is the dense 16-bit rate.
    precision = "fp16" if properties.is_gpu else "bf16"
    memories = {"HBM": Memory("HBM", bandwidth * _GIBI)}
    for level in properties.levels():
        memories[level.name] = Memory(level.name, properties.number(f"peak_{level.stem}_bw") * _GIBI)
    shared = properties.number("peak_vmem_write_bw")
    if properties.is_gpu and shared:
        memories["Shm/L1"] = Memory("Shm/L1", shared * _GIBI)
    name = properties.device or "XProf device"
    origin = Source(f"XProf device properties in {PurePath(properties.source).name}")
    figures = [f"peak_flops.{precision}", *(f"memories.{level}.bandwidth" for level in memories)]
    return Chip(
        name,
        {precision: peak * _GIGA},
        memories,
        vendor=next((vendor for word, vendor in _VENDORS.items() if word in name.casefold()), ""),
        sources=dict.fromkeys(figures, origin),
    )


def _remarks(operations: Kernels, properties: _Properties, chip: Chip | None, *, no_steps: bool) -> list[str]:
    remarks = []
    if not len(operations):
        where = f"on {properties.device}" if properties.device else "and names no device"
        remarks.append(f"XProf lists no operation {where}: it knows only TPU and GPU profiles that ran something")
    if chip is None:
        names = [name for name in ("peak_flop_rate", "peak_hbm_bw") if not properties.number(name)]
        remarks.append(f"the profile has no {' and no '.join(names)}, so there is no chip: choose one to see a roof")
    if no_steps:
        remarks.append("the profile has no steps: XProf's empty average step was left out")
    opaque = np.isnan(operations.flops)
    if opaque.any():
        share = operations.time[opaque].sum() / operations.time.sum() if operations.time.sum() else 0.0
        remarks.append(
            f"operations with neither FLOPs nor bytes: {opaque.sum()} of {len(operations)}, {share:.1%} of the time; "
            "XLA cannot count opaque calls, so they are unknown, not zero"
        )
    if any(word in _CONTAINERS for word in operations.category):
        remarks.append(f"operations of the categories {listed(_CONTAINERS)} hold the time of others: do not add them")
    scale = properties.number("time_scale_multiplier")
    if scale not in {0.0, 1.0}:
        remarks.append(f"XProf's time scale multiplier is {scale:g}: times and rates are as measured, peaks nominal")
    return remarks


@dataclass(frozen=True)
class _Properties:
    """The table's ``p``: what XProf knows of the device, all of it text."""

    source: str
    given: Mapping[str, object]

    @classmethod
    def of(cls, table: object, source: str) -> _Properties:
        given = table.get("p", {}) if isinstance(table, dict) else {}
        if not isinstance(given, dict):
            raise ProfileError(source, f"expected an object of device properties, got {_shown(given)}", place="'p'")
        return cls(source, given)

    @property
    def device(self) -> str:
        value = self.given.get("device_type", "")
        if not isinstance(value, str):
            raise ProfileError(self.source, f"expected text, got {_shown(value)}", place="property 'device_type'")
        return value.strip()

    @property
    def is_gpu(self) -> bool:
        """XProf's own rule."""
        return "GPU" in self.device

    def number(self, name: str) -> float:
        """Return the property in the file's unit; 0 when it is missing, as XProf writes an unknown peak."""
        value = self.given.get(name, "0")
        try:
            number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]  # else TypeError
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not (math.isfinite(number) and number >= 0):
            reason = f"expected a number that is finite and not negative, got {_shown(value)}"
            raise ProfileError(self.source, reason, place=f"property '{name}'")
        return number

    def levels(self) -> list[_Level]:
        """Return the memories beside HBM that XProf counts; for GPU it has no such flag and never a count."""
        return [level for level in _TPU_LEVELS if self.number(level.flag) and self.number(f"peak_{level.stem}_bw")]


@dataclass(frozen=True)
class _Table:
    """A Google DataTable: ``{"cols": [{"id": …}], "rows": [{"c": [{"v": …}]}]}``."""

    source: str
    ids: Mapping[str, int]
    rows: list[list[Any]]

    @classmethod
    def of(cls, given: object, source: str) -> _Table:
        columns, rows = (given.get("cols"), given.get("rows")) if isinstance(given, dict) else (None, None)
        if not isinstance(columns, list) or not isinstance(rows, list):
            raise ProfileError(source, "expected a table with 'cols' and 'rows'")
        ids: dict[str, int] = {}
        for position, column in enumerate(columns):
            name = column.get("id") if isinstance(column, dict) else None
            if not isinstance(name, str):
                raise ProfileError(source, "expected an object with an 'id'", place=f"column {position + 1}")
            if name in ids:
                raise ProfileError(source, "two columns have this id", column=name)
            ids[name] = position
        return cls(source, ids, [cls._cells(row, number, len(ids), source) for number, row in enumerate(rows, 1)])

    @staticmethod
    def _cells(row: object, number: int, width: int, source: str) -> list[Any]:
        cells = row.get("c") if isinstance(row, dict) else None
        if not isinstance(cells, list):
            raise ProfileError(source, f"expected an object with a list 'c', got {_shown(row)}", row=number)
        if len(cells) != width:
            raise ProfileError(source, f"expected {width} cells, one a column, got {len(cells)}", row=number)
        return [cell.get("v") if isinstance(cell, dict) else None for cell in cells]

    def cells(self, column: str) -> list[Any]:
        """Return the raw values of a column."""
        if column not in self.ids:
            close = nearest(column, self.ids, most=1)
            hint = f"; the nearest it has is '{close[0]}'" if close else ""
            raise ProfileError(self.source, f"the table has no such column{hint}", column=column)
        return [row[self.ids[column]] for row in self.rows]

    def numbers(self, column: str, at_least: float = 0) -> Floats:
        """Return the numbers of a column, in the file's unit; finite, and not below `at_least`."""
        cells = self.cells(column)
        numbers = np.zeros(len(cells))
        for row, value in enumerate(cells):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise self.error(row, column, f"expected a number, got {_shown(value)}")
            # An integer may be too large for a double, and NaN fails every comparison.
            if not (at_least <= value <= sys.float_info.max):
                raise self.error(row, column, f"expected a finite number from {at_least:g}, got {_shown(value)}")
            numbers[row] = value
        return numbers

    def totals(self, column: str, unit: float, time: Floats) -> Floats:
        """Return a rate's column as an amount: times its unit and the seconds of each row."""
        with np.errstate(over="ignore"):
            amounts: Floats = self.numbers(column) * unit * time
        if not np.isfinite(amounts).all():
            raise self.error(int(np.argmin(np.isfinite(amounts))), column, "the rate is too large for its time")
        return amounts

    def texts(self, column: str) -> npt.NDArray[np.object_]:
        """Return the texts of a column; text that is not Unicode (half of a surrogate pair) cannot be shown or sent."""
        cells = self.cells(column)
        for row, value in enumerate(cells):
            if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
                raise self.error(row, column, f"expected text, got {_shown(value)}")
        return np.array(cells, dtype=object)

    def truths(self, column: str) -> npt.NDArray[np.bool_]:
        """Return the truth values of a column."""
        cells = self.cells(column)
        for row, value in enumerate(cells):
            if not isinstance(value, bool):
                raise self.error(row, column, f"expected true or false, got {_shown(value)}")
        return np.array(cells, dtype=np.bool_)

    def error(self, row: int, column: str, reason: str) -> ProfileError:
        """Return the error for the cell in the row counted from 0."""
        return ProfileError(self.source, reason, row=row + 1, column=column)


def _diagnostics(given: object, source: str) -> list[str]:
    """Return what XProf itself had to say, such as ``"WARNING: No step marker observed …"``."""
    table = _Table.of(given, source)
    pairs = zip(table.texts("severity"), table.texts("message"), strict=True)
    return [f"{severity}: {message}" for severity, message in pairs]


def _shown(value: object) -> str:
    """Show `value` as the file writes it, cut to a line's length; text in Python's quotes, which escape the rest."""
    text = ascii(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004 - a line of an error message
