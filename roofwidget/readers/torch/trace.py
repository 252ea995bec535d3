"""Chrome traces of PyTorch's profiler.

Made by::

    with torch.profiler.profile(record_shapes=True) as profiler:
        model(x)
    profiler.export_chrome_trace("trace.json.gz")

Without ``record_shapes=True`` there are kernels and their times only; ``with_flops=True`` puts nothing into a trace. A
trace is read as a stream, within the same memory however long it is.

- A row is a call of an operation with all kernels that it launched (``by="operation"``), or one launch
  (``by="kernel"``: then an operation's longest kernel carries its work). Kernels belong to operations by the external
  id that both carry; where that contradicts the time of the launch, or is not there, by the correlation of kernel and
  launch and the operation that was running there and then. Operations within one of known work are a part of it.
  Copies and fills are rows of their own. A trace without kernels is of the host: there a row's time holds that of
  what it calls, and `self_time` does not.
- Calls of the same name, shape and dtype are added; `launches` has them one by one where they are fewer than a million.
- FLOPs come from shapes, by the rules below, or from ``kernel_flop`` where a compiler wrote it; a zero there means that
  nobody counted. Of other operations they are unknown.
- Bytes are compulsory bytes, under the level ``"main"``: each operand read once, each result written once, which is the
  least that the operation can do with. No memory's traffic was measured. Copies and fills tell their own bytes: within
  a device under ``"main"`` (a copy's twice, for it reads and writes), to and from the host under ``"host"`` and between
  devices under ``"peer"``. The last two cross a link that no memory's roof bounds: their time counts, and they have no
  bound.
- Seconds are the durations of the kernels' events. Where CUPTI counted (``cuda_profiler_range``), durations are made
  up and are refused: FLOPs and bytes then come from the counters.
- The row of the category ``idle`` holds the time in which a device ran nothing, from its first event to its last: that
  span less the union of the events of all streams, added over devices (``idle=False`` leaves it out). Shares of the
  time are then shares of the span, unless kernels overlap: a warning says by how much.
- The precision is that of the first tensor; fp32 operands count as tf32 where the kernel's name says so.

| operations | FLOPs |
| --- | --- |
| ``mm``, ``addmm``, ``_addmm_activation``, ``_int_mm``, ``_scaled_mm`` | 2 M N K; a bias is not counted |
| ``bmm``, ``baddbmm`` | 2 B M N K |
| ``mv``, ``addmv``, ``dot`` | 2 M K, 2 K |
| convolutions | 2 x results x input channels of a group x kernel's size; backwards as much for each gradient |
| attention | 4 B H Nq Nk d, half of it if causal; 2.5 times that backwards; its softmax is not counted |
| element by element | as our operators: ``add``, ``mul`` 1 a result, ``silu`` 5, ``gelu`` 5, 8 where tanh is told |
| ``native_layer_norm`` | 8 an element and 3 a row (6 without weights) |
| ``_softmax``, ``_log_softmax`` | 5 an element |
| copies, fills, look-ups, ``cat`` | 0 |
"""

from __future__ import annotations

import re
from typing import Final

from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.progress import Progress, advancing
from roofwidget.readers.input.source import Source
from roofwidget.readers.torch.assembly import (
    Spans,
    attribution_warnings,
    chip_of,
    device_kernels,
    host_kernels,
    with_idle,
    without_launches,
    work_warnings,
)
from roofwidget.readers.torch.counters import counted_kernels
from roofwidget.readers.torch.events import collect
from roofwidget.readers.torch.rows import WorkTable, host_rows, launch_rows, operation_rows
from roofwidget.readers.torch.stream import EVENTS, Trace

__all__ = ["EXPECTED", "FORMAT", "read", "recognises"]

FORMAT: Final = "torch"
EXPECTED: Final = "a Chrome trace of PyTorch's profiler"

_MOST_LAUNCHES: Final = 1_000_000
_NOTHING: Final = "no kernels and no operations in this trace; expected what torch.profiler exports"
_FIRST_EVENT: Final = re.compile(r'\s*\[\s*\{[^{}]{0,2000}"ph"\s*:')


def recognises(source: Source) -> bool:
    """Whether it begins like a Chrome trace, of PyTorch's or another profiler.

    Examples
    --------
    >>> recognises(Source.of(b'{"schemaVersion": 1, "traceEvents": []}')), recognises(Source.of(b"[1, 2]"))
    (True, False)
    """
    if source.is_folder or source.beginning.lstrip()[:1] not in ("{", "["):
        return False
    begins_like_kineto = all(f'"{word}"' in source.beginning for word in ("schemaVersion", "deviceProperties"))
    has_events = f'"{EVENTS}"' in source.beginning or _FIRST_EVENT.match(source.beginning) is not None
    return has_events or begins_like_kineto


def read(source: Source, *, by: str | None = None, idle: bool = True, progress: Progress = None) -> Kernels:
    """Read a trace.

    Parameters
    ----------
    source
        The trace.
    by
        ``"operation"``: a row for each operation, shape and dtype, with the time of all its kernels. ``"kernel"``: a
        row for each kernel of these. None: the first where the trace has shapes, else the second.
    idle
        Whether the time in which a device ran nothing is a row.
    progress
        None: a bar in a notebook; True: a bar; False: none; or a function of (bytes read, bytes in all).

    Returns
    -------
    Kernels
        FLOPs and bytes in all calls, NaN where no formula knows the operation; seconds; with `extra` columns
        ``"shape"``, ``"dtype"``, ``"kernel"`` or ``"operation"`` and what the launches were given.

    Raises
    ------
    ProfileError
        If the file is no trace, cut off or damaged, or holds neither kernels nor operations.
    TypeError, ValueError
        If an option is not what it says.
    """
    if by not in (None, "operation", "kernel"):
        msg = f"by must be 'operation', 'kernel' or None, got {by!r:.40}"
        raise ValueError(msg)
    if idle not in (True, False):
        msg = f"idle must be True or False, got {idle!r:.40}"
        raise TypeError(msg)
    with advancing(progress, source.size, unit="B", description=f"reading {source.name}") as advance:
        trace = Trace(source, advance)
        kept = collect(trace.batches(), source.name)
    if kept.counted:
        return counted_kernels(kept.counted, trace.properties, source.name)
    if not len(kept.device.start) and not len(kept.operations.start):
        raise ProfileError(source.name, _NOTHING)
    said = [f"events without a duration, left out: {kept.unfinished:,}"] if kept.unfinished else []
    table = WorkTable(kept.calls)
    if not len(kept.device.start):
        calls = host_kernels(table, host_rows(kept, table))
        said.append("no kernels in this trace: these are operations on the host")
        return _added(calls, ["name", "shape", "dtype"], said, shapes=kept.shapes, name=source.name)
    by_operation = by == "operation" or (by is None and kept.shapes)
    rows = operation_rows(kept, table) if by_operation else launch_rows(kept, table)
    calls = device_kernels(kept, table, rows, by_operation=by_operation)
    calls.chip, about_chip = chip_of(kept, trace.properties)
    spans = Spans.of(kept)
    said += [*about_chip, *attribution_warnings(calls, rows, kept), *spans.overlap()]
    # Without shapes only its kernels tell one call of an operation from another.
    keys = ["name", "shape", "dtype", "kernel" if by_operation else "operation"]
    keys = [key for key in keys if key != "kernel" or not kept.shapes]
    return _added(calls, keys, said, shapes=kept.shapes, name=source.name, spans=spans if idle else None)


def _added(
    calls: Kernels, keys: list[str], said: list[str], *, shapes: bool, name: str, spans: Spans | None = None
) -> Kernels:
    """Return the calls of one kind as one row, and the idle time of these spans as another."""
    calls.warnings = (*said, *work_warnings(calls, shapes=shapes))
    calls.source = name
    rows = (calls if spans is None else with_idle(calls, spans)).groupby(*keys)
    return rows if len(calls) < _MOST_LAUNCHES else without_launches(rows, len(calls))
