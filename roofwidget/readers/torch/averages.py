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
- Printed tables of PyTorch 1.4 and newer are read, also inside the other output of a program. Of several tables the
  first is read; ``table=2`` reads the second. In PyTorch 1.8 and 1.9 a column such as ``GFLOPS`` is a rate: its FLOPs
  are the rate times the device's time (the CPU's time if there is no device time). Times that are negative are unknown.
- Averages have no dtypes, and calls that differ only in dtype are one row. So precision and bytes are unknown. If all
  calls have one dtype, pass it (``dtype="bf16"``): the rows then have compulsory bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.torch.calls import OpCall, OpWork, assumption_warnings
from roofwidget.readers.torch.printed import Average, is_printed_table, printed_table
from roofwidget.readers.torch.rows import COMPULSORY
from roofwidget.readers.torch.work import work_of
from roofwidget.workloads.tensors import checked_dtype

# -- reader --------------------------------------------------------------------------------------------------------

FORMAT: Final = "torch-averages"
EXPECTED: Final = "the averages of PyTorch's profiler, as objects or as the table that they print"

_MICROSECONDS: Final = 1e6
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
# Printed times are rounded, so the rows may sum up to less than the total under the table.
_MIN_SHOWN: Final = 0.99
_MAX_NAMED: Final = 4
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
    """Whether the text has a printed table in its first MiB."""
    # The table may come late in the output of a program.
    return not source.is_folder and is_printed_table(source.first)


def read(source: Source, *, dtype: str | None = None, table: int = 1) -> Kernels:
    """Read a printed table; for `dtype` see `read_object`. `table` selects one of several tables, from 1."""
    found = printed_table(source, table)
    messages = [f"the text has {found.tables} tables and this is table {table}: pass table= for another"]
    return _kernels(found.rows, source.name, dtype, found.self_totals, messages * (found.tables > 1))


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


def _average(event: Any, row: int, name: str) -> Average:
    negative: list[str] = []

    def number(words: Sequence[str]) -> float:
        for word in words:
            value = getattr(event, word, None)
            if value is not None:
                try:
                    found = float(value)
                except (TypeError, ValueError):
                    found = np.nan
                if -_MAX_NUMBER <= found < 0 and "time" in word:
                    negative.append(word)
                    return np.nan
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
    return Average(
        event.key,
        count,
        number(["flops"]),
        shapes if isinstance(shapes, (list, tuple)) and shapes else None,
        (number(_DEVICE_TOTAL) / _MICROSECONDS, device_self / _MICROSECONDS),
        (host_total / _MICROSECONDS, number(["self_cpu_time_total"]) / _MICROSECONDS),
        is_kernel=not on_host,
        is_label=bool(getattr(event, "is_user_annotation", False)) or event.key.startswith("ProfilerStep"),
        negative=tuple(negative),
    )


def _kernels(
    averages: Iterable[Average],
    name: str,
    dtype: str | None,
    self_totals: Mapping[str, float] = MappingProxyType({}),
    warnings: Sequence[str] = (),
) -> Kernels:
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
    messages = [*warnings, *_printing_warnings(given, rows, self_totals)]
    messages += ["these averages have no device time: times are the host's"] if not on_device else []
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


def _printing_warnings(given: Sequence[Average], rows: Sequence[Average], totals: Mapping[str, float]) -> list[str]:
    """Return what times are unknown because they are negative, and what a printed table leaves out."""
    negative = [f"'{column}' of {row.key}" for row in rows for column in row.negative]
    messages = []
    if negative:
        are = "time is" if len(negative) == 1 else "times are"
        shown = ", ".join(negative[:_MAX_NAMED])
        messages.append(f"{len(negative)} {are} negative in the profile and therefore unknown: {shown}")
    for what, option in (("names", "max_name_column_width"), ("shapes", "max_shapes_column_width")):
        cut = sum(what in row.cut for row in rows)
        if cut:
            messages.append(f"the table cuts off {what} in {cut} rows: print it with table({option}=None)")
    share = sum(row.host[1] for row in given) / totals.get("CPU", np.inf)
    if 0 < share < _MIN_SHOWN:
        messages.append(f"the rows have {share:.0%} of the CPU time; print all rows with table(row_limit=-1)")
    return messages


def _rows_to_show(given: Sequence[Average]) -> tuple[list[Average], bool]:
    """Return the rows to show, and whether they ran on the device.

    The rows are operations with device time. If there are none, they are kernels. Without kernels, they are operations
    on the host.
    """
    operations = [row for row in given if not row.is_label and not row.is_kernel]
    on_device = [row for row in operations if row.ran_on_device]
    kernels = [row for row in given if not row.is_label and row.is_kernel and row.ran_on_device]
    return (on_device or kernels, True) if on_device or kernels else (operations, False)


def _call(row: Average, dtype: str | None) -> OpCall:
    shapes = row.shapes or ()
    return OpCall(
        row.operator or row.key, shapes, None if dtype is None else [dtype if sizes else "" for sizes in shapes]
    )


def _flops(rows: Sequence[Average], works: Sequence[OpWork | None]) -> tuple[dict[str, Floats], list[str | None]]:
    """Return FLOPs by class and their rules; 0 from the profiler means that it does not count the operation."""
    counts: list[float] = []
    why: list[str | None] = []
    for row, work in zip(rows, works, strict=True):
        if row.flops > 0:
            counts.append(row.flops)
            why.append("flops of the profiler, summed over calls")
        elif work is not None and work.flops is not None:
            counts.append(work.flops * row.count)
            why.append(f"{work.rule} x calls")
        else:
            counts.append(np.nan)
            why.append(None)
    column = np.array(counts)
    vector = np.array([work is not None and work.vector for work in works])
    return {"": np.where(vector, np.nan, column), "vector": np.where(vector, column, np.nan)}, why
