r"""Averages of PyTorch's profiler: the result of ``key_averages()``, or the table that it prints.

How to make them::

    with torch.profiler.profile(record_shapes=True, with_flops=True) as profiler:
        model(x)
    rw.read(profiler.key_averages(group_by_input_shape=True))

or, as text, by ``print(profiler.key_averages(group_by_input_shape=True).table(row_limit=-1), file=…)``.

- A row is an operation (with ``group_by_input_shape``: an operation of one shape). If any operation ran on a device,
  `time` is device time, including called operations: PyTorch writes the FLOPs of a convolution to the outermost call,
  whose own time is nearly zero. `self_time` excludes called operations. Rows of kernels repeat the time of operations,
  so rows of kernels are left out. Operations that ran nothing on the device are left out too.
- FLOPs are the profiler's if it counts the operation (``with_flops``: matrix products, ``conv2d``, ``add`` and ``mul``;
  the sum over all calls). FLOPs of other operations come from shapes by the rules for traces, times the number of
  calls. A printed table rounds FLOPs and seconds to three decimals.
- Averages have no dtypes, and calls that differ only in dtype are one row. So precision and bytes are unknown. If all
  calls have one dtype, pass it (``dtype="bf16"``): the rows then have compulsory bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.torch.formulas import OpCall, OpWork, assumption_warnings, work_of
from roofwidget.readers.torch.rows import COMPULSORY
from roofwidget.workloads.tensors import checked_dtype

# -- one row -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Average:
    """One row of the averages: calls of one operation, or launches of one kernel.

    Parameters
    ----------
    key, count
        The name, and the number of calls.
    flops
        FLOPs of all calls; 0 if the profiler does not count them.
    shapes
        Sizes by argument, or None if unknown.
    device, host
        Pairs of seconds, on the device and on the host: with and without called operations.
    is_kernel
        Whether the row is a kernel rather than an operation.
    is_label
        Whether the row is a range that the user named, such as a step.
    """

    key: str
    count: float
    flops: float
    shapes: Sequence[object] | None
    device: tuple[float, float]
    host: tuple[float, float]
    is_kernel: bool
    is_label: bool

    def times(self, *, on_device: bool) -> tuple[float, float]:
        """Return the seconds on the device or on the host, with and without called operations."""
        return self.device if on_device else self.host


# -- the printed table ---------------------------------------------------------------------------------------------

_MAX_TEXT_BYTES: Final = 64 * 2**20
_DASHES: Final = re.compile(r"-{4,}(?:  -{4,}){4,} *")
_CALLS: Final = "# of Calls"
_SECONDS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
# A table prints at most a dozen digits; a much longer number could become infinite.
_NUMBER: Final = re.compile(r"[0-9]{1,24}(?:\.[0-9]+)?")
_WHOLE: Final = re.compile(r"[0-9]{1,24}")
_TIME: Final = re.compile(r"([0-9]{1,24}(?:\.[0-9]+)?)(s|ms|us|ns)")
_FLOPS: Final = re.compile(r"Total ([KMGTP]?)FLOPs")
_POWERS: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_NOTHING: Final = ("", "--", "N/A")
_HOST: Final = ("CPU total", "Self CPU")


def is_printed_table(text: str) -> bool:
    """Whether a text begins like a table of averages.

    Examples
    --------
    >>> is_printed_table("name,flops")
    False
    """
    return _CALLS in text and "Self CPU" in text and any(_DASHES.fullmatch(line) for line in text.splitlines()[:50])


def _printed_averages(source: Source) -> list[_Average]:
    """Return the rows of the first table in a text.

    Raises
    ------
    ProfileError
        If there is no table, a column is missing or a cell has an unexpected value.
    """
    lines = source.text(_MAX_TEXT_BYTES).splitlines()
    rules = dict.fromkeys(at for at, line in enumerate(lines) if _DASHES.fullmatch(line))
    first = next((at for at in rules if at + 2 in rules and _CALLS in lines[at + 1]), None)
    if first is None:
        raise ProfileError(source.name, f"expected a table with a column '{_CALLS}' between lines of dashes")
    end = next((at for at in rules if at > first + 2), None)
    if end is None:
        raise ProfileError(source.name, "the table has no line of dashes at its end: the file is incomplete")
    spans = [match.span() for match in re.finditer("-+", lines[first])]

    def cells(at: int) -> list[str]:
        return [lines[at][a:b].strip() for a, b in spans]

    headers = cells(first + 1)
    columns = _PrintedColumns.of(headers, source)
    return [
        columns.average(_PrintedRow(source.name, at + 1, dict(zip(headers, cells(at), strict=True))))
        for at in range(first + 3, end)
        if lines[at].strip()
    ]


@dataclass(frozen=True)
class _PrintedRow:
    """A row: its line (from 1), and its cells by header."""

    source: str
    line: int
    cells: Mapping[str, str]

    def seconds(self, header: str | None) -> float:
        cell = self.cells[header] if header else ""
        if cell in _NOTHING:
            return 0.0
        found = _TIME.fullmatch(cell)
        if found is None:
            raise self.error(header, f"expected a time such as '5.807us', got {cell!r:.40}")
        return float(found[1]) * _SECONDS[found[2]]

    def number(self, header: str, *, whole: bool = False) -> float:
        cell = self.cells[header]
        if cell in _NOTHING:
            return 0.0
        if not (_WHOLE if whole else _NUMBER).fullmatch(cell):
            raise self.error(header, f"expected a {'whole ' if whole else ''}number, got {cell!r:.40}")
        return float(cell)

    def error(self, header: str | None, reason: str) -> ProfileError:
        return ProfileError(self.source, reason, row=self.line, column=header)


@dataclass(frozen=True)
class _PrintedColumns:
    """The headers by meaning.

    A header of device times contains the device's name. The header of FLOPs has a prefix, such as G.
    """

    device_total: str | None
    device_self: str | None
    flops: str | None
    unit: float
    shapes: bool

    @classmethod
    def of(cls, headers: Sequence[str], source: Source) -> _PrintedColumns:
        for word in ("Name", *_HOST, _CALLS):
            if word not in headers:
                raise ProfileError(source.name, "the table has no such column", column=word)
        devices = [word.removesuffix(" total") for word in headers if word.endswith(" total") and word != _HOST[0]]
        found = [match for match in map(_FLOPS.fullmatch, headers) if match]
        return cls(
            f"{devices[0]} total" if devices else None,
            f"Self {devices[0]}" if devices and f"Self {devices[0]}" in headers else None,
            found[0][0] if found else None,
            _POWERS[found[0][1]] if found else 1.0,
            "Input Shapes" in headers,
        )

    def average(self, row: _PrintedRow) -> _Average:
        device = row.seconds(self.device_total), row.seconds(self.device_self)
        host = row.seconds(_HOST[0]), row.seconds(_HOST[1])
        return _Average(
            row.cells["Name"],
            row.number(_CALLS, whole=True),
            row.number(self.flops) * self.unit if self.flops else 0.0,
            _printed_shapes(row.cells["Input Shapes"]) if self.shapes else None,
            device,
            host,
            is_kernel=host[0] == 0 and device[0] > 0,
            is_label=row.cells["Name"].startswith("ProfilerStep"),
        )


def _printed_shapes(cell: str) -> list[object] | None:
    """Return the sizes by argument, None if the table truncated them."""
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


# -- reader --------------------------------------------------------------------------------------------------------

FORMAT: Final = "torch-averages"
EXPECTED: Final = "the averages of PyTorch's profiler, as objects or as the table that they print"

_MICRO: Final = 1e-6
# No sum of FLOPs or of microseconds reaches this number. A product of two such sums is still finite.
_MAX_NUMBER: Final = 1e30
_DEVICE_TOTAL: Final = ("device_time_total", "cuda_time_total", "xpu_time_total", "privateuse1_time_total")
_DEVICE_SELF: Final = tuple(f"self_{word}" for word in _DEVICE_TOTAL)
# These run inside an operation whose name begins with `_OUTER_ATTENTION`. The inner and the outer operation have the
# same shapes, so only the outer operation counts.
_INNER_ATTENTION: Final = ("aten::_flash_attention_forward", "aten::_efficient_attention_forward")
_OUTER_ATTENTION: Final = "aten::_scaled_dot_product_"

_NO_DTYPE: Final = (
    "averages have no dtypes, so precision and bytes are unknown; pass dtype='bf16' if all calls have this dtype, or "
    "read the trace"
)
_NO_SHAPES: Final = (
    "no shapes in these averages: profile with record_shapes=True and take key_averages(group_by_input_shape=True)"
)
_ONE_DTYPE: Final = "bytes are compulsory bytes (each operand once) for the given dtype; they were not measured"


def takes(given: Any) -> bool:
    """Whether this is a profiler, or the result of its ``key_averages()``.

    Examples
    --------
    >>> takes([{"key": "aten::mm"}]), takes("averages.txt")
    (False, False)
    """
    if not isinstance(given, (list, tuple)):
        return callable(getattr(given, "key_averages", None))
    if not given:
        return type(given).__name__ == "EventList"
    return all(hasattr(given[0], word) for word in ("key", "count", "cpu_time_total"))


def recognises(source: Source) -> bool:
    """Whether the text begins like the printed table."""
    return not source.is_folder and is_printed_table(source.beginning)


def read(source: Source, *, dtype: str | None = None) -> Kernels:
    """Read the printed table; for the option see `read_object`."""
    return _kernels(_printed_averages(source), source.name, dtype)


def read_object(given: Any, *, dtype: str | None = None) -> Kernels:
    """Read the result of ``key_averages()``, or a profiler that has stopped.

    Parameters
    ----------
    given
        The averages. The reader uses the attributes ``key``, ``count``, ``flops``, ``input_shapes`` and the times in
        microseconds.
    dtype
        The dtype of all operands, such as ``"bf16"``; None if unknown.

    Returns
    -------
    Kernels
        FLOPs of all calls (NaN if neither the profiler nor a formula has them), seconds, and with `dtype` bytes.

    Raises
    ------
    ProfileError
        If there are no averages, or a number is invalid. The message names the row.
    ValueError
        If `dtype` is unknown.
    """
    events = given if isinstance(given, (list, tuple)) else given.key_averages(group_by_input_shape=True)
    name = "key_averages()"
    return _kernels([_average(event, row, name) for row, event in enumerate(events, 1)], name, dtype)


def _average(event: Any, row: int, name: str) -> _Average:
    def number(words: Sequence[str]) -> float:
        for word in words:
            value = getattr(event, word, None)
            if value is not None:
                try:
                    found = float(value)
                except (TypeError, ValueError):
                    found = np.nan
                if not 0 <= found <= _MAX_NUMBER:
                    raise ProfileError(name, f"expected a number from 0, got {value!r:.40}", row=row, column=word)
                return found
        return 0.0

    if not isinstance(event.key, str):
        raise ProfileError(name, f"expected a text, got {event.key!r:.40}", row=row, column="key")
    host_total = number(["cpu_time_total"])
    device_self = number(_DEVICE_SELF)
    device_type = getattr(event, "device_type", None)
    on_host = host_total > 0 or device_self == 0 if device_type is None else str(device_type).endswith("CPU")
    shapes, count = getattr(event, "input_shapes", None), number(["count"])
    if count % 1:
        raise ProfileError(name, f"expected a whole number, got {count:g}", row=row, column="count")
    return _Average(
        event.key,
        count,
        number(["flops"]),
        shapes if isinstance(shapes, (list, tuple)) and shapes else None,
        (number(_DEVICE_TOTAL) * _MICRO, device_self * _MICRO),
        (host_total * _MICRO, number(["self_cpu_time_total"]) * _MICRO),
        is_kernel=not on_host,
        is_label=bool(getattr(event, "is_user_annotation", False)) or event.key.startswith("ProfilerStep"),
    )


def _kernels(averages: Iterable[_Average], name: str, dtype: str | None) -> Kernels:
    if dtype is not None:
        dtype = checked_dtype(dtype, "dtype")
    given = [each for each in averages if each.count > 0]
    rows, on_device = _rows_to_show(given)
    if not rows:
        raise ProfileError(name, "no operation took any time; profile a run and then take its averages")
    nested = any(row.key.startswith(_OUTER_ATTENTION) for row in rows)
    works = [None if nested and row.key in _INNER_ATTENTION else work_of(_call(row, dtype)) for row in rows]
    flops, why = _flops(rows, works)
    moved = np.array(
        [
            work.bytes * row.count if work and work.bytes is not None else np.nan
            for row, work in zip(rows, works, strict=True)
        ]
    )
    shapes = any(row.shapes for row in rows)
    messages = ["these averages have no device time: times are the host's"] if not on_device else []
    messages += [_NO_DTYPE if dtype is None else _ONE_DTYPE, *([] if shapes else [_NO_SHAPES])]
    messages += assumption_warnings(work for row, work in zip(rows, works, strict=True) if not row.flops)
    return Kernels(
        [row.key for row in rows],
        flops,
        moved,
        time=[row.times(on_device=on_device)[0] for row in rows],
        self_time=[row.times(on_device=on_device)[1] for row in rows],
        precision=[dtype] * len(rows),
        category=[work.family if work else None for work in works],
        count=[row.count for row in rows],
        origin={
            "flops": why,
            "bytes:main": [None if np.isnan(number) else f"{COMPULSORY}; all {dtype}" for number in moved],
            "time": "device_time_total" if on_device else "cpu_time_total",
        },
        extra={"shape": [_call(row, None).shape or None for row in rows]},
        warnings=messages,
        source=name,
    )


def _rows_to_show(given: Sequence[_Average]) -> tuple[list[_Average], bool]:
    """Return the rows to show, and whether they ran on the device.

    The rows are operations with device time. If there are none, they are kernels. Without kernels, they are operations
    on the host.
    """
    operations = [row for row in given if not row.is_label and not row.is_kernel]
    on_device = [row for row in operations if row.device[0] > 0]
    kernels = [row for row in given if not row.is_label and row.is_kernel and row.device[0] > 0]
    return (on_device or kernels, True) if on_device or kernels else (operations, False)


def _call(row: _Average, dtype: str | None) -> OpCall:
    shapes = row.shapes or ()
    return OpCall(row.key, shapes, None if dtype is None else [dtype if sizes else "" for sizes in shapes])


def _flops(rows: Sequence[_Average], works: Sequence[OpWork | None]) -> tuple[dict[str, Floats], list[str | None]]:
    """Return FLOPs by class and their rules; 0 from the profiler means that it does not count the operation."""
    counts: list[float] = []
    why: list[str | None] = []
    for row, work in zip(rows, works, strict=True):
        if row.flops > 0:
            counts.append(row.flops)
            why.append("flops of the profiler, summed over calls")
        elif work is not None:
            counts.append(work.flops * row.count)
            why.append(f"{work.rule} x calls")
        else:
            counts.append(np.nan)
            why.append(None)
    column = np.array(counts)
    vector = np.array([work is not None and work.vector for work in works])
    return {"": np.where(vector, np.nan, column), "vector": np.where(vector, column, np.nan)}, why
