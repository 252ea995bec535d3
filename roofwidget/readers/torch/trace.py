"""Chrome traces of PyTorch's profiler.

How to make a trace::

    with torch.profiler.profile(record_shapes=True) as profiler:
        model(x)
    profiler.export_chrome_trace("trace.json.gz")

Without ``record_shapes=True`` a trace has only kernels and their times; ``with_flops=True`` adds nothing to a trace.
The reader streams the trace, so memory does not grow with its length.

- A row is a call of an operation with all kernels that it launched (``by="operation"``), or one launch
  (``by="kernel"``; the longest kernel of an operation then gets the operation's work). Kernel and operation are matched
  by their external id. If the id is missing or contradicts the time of the launch, the kernel's correlation id gives
  the launch, and the operation is the operation that was running on the launching thread at the time of the launch.
  Operations inside an operation of known work are a part of it. Copies and fills are separate rows. A trace without
  kernels has host times: there the time of a row includes called operations, and `self_time` excludes them.
- Calls of the same name, shape and dtype are added. `launches` has the single calls if there are fewer than a million.
- FLOPs come from shapes by the rules below, or from ``kernel_flop`` if a compiler wrote it. If ``kernel_flop`` is 0,
  the compiler did not count. FLOPs of other operations are unknown.
- Bytes are compulsory bytes under the level ``"main"``: each operand read once, each result written once. This is the
  minimum for the operation; memory traffic was not measured. Copies and fills have bytes of their own: within a device
  under ``"main"`` (twice for a copy, which reads and writes), to and from the host under ``"host"``, between devices
  under ``"peer"``. Copies to the host, from the host and between devices cross a link, which no memory roof bounds.
  Their time counts, but they have no bound.
- Seconds are the durations of the kernels' events. If CUPTI counted (``cuda_profiler_range``), the durations are not
  real and are ignored; FLOPs and bytes then come from the counters.
- The row of the category ``idle`` is the time in which a device ran nothing: the span from its first event to its last,
  minus the union of the events of all streams, added over devices (``idle=False`` leaves it out). Shares of time are
  then shares of the span, unless kernels overlap; a warning says by how much.
- The precision is the dtype of the first tensor. fp32 operands count as tf32 if the kernel's name says so.

In the table, a product is M x K by K x N, or M x K by a vector of K. B is the batch, H the number of heads, Nq and
Nk the rows of queries and keys, and d the size of a head.

| operations | FLOPs |
| --- | --- |
| ``mm``, ``addmm``, ``_addmm_activation``, ``_int_mm``, ``_scaled_mm`` | 2 M N K; a bias is not counted |
| ``bmm``, ``baddbmm`` | 2 B M N K |
| ``mv``, ``addmv``, ``dot`` | 2 M K, 2 K |
| convolutions | 2 x results x input channels of a group x kernel size; backwards the same for each gradient |
| attention | 4 B H Nq Nk d, half of it if causal and Nq = Nk; 2.5 times that backwards; its softmax is not counted |
| element-wise | as our operators: ``add``, ``mul`` 1 per result, ``silu`` 5, ``gelu`` 5, or 8 with tanh |
| ``native_layer_norm`` | 8 per element and 3 per row (6 without weights) |
| ``_softmax``, ``_log_softmax`` | 5 per element |
| copies, fills, look-ups, ``cat`` | 0 |

Attention with a causal mask and Nq unlike Nk counts the pairs that the mask leaves. PyTorch's ``is_causal`` aligns the
mask top-left: the first query sees the first key. The kernels of flash_attn from 2.1 on, which
``_scaled_dot_product_flash_attention`` runs too, and ``custom_mask_type`` 2, align it bottom-right: the last query sees
all keys. `Kernels.origin` names the alignment. If the trace does not have the argument ("Concrete Inputs", from PyTorch
2.1 on), attention is counted in full, and a warning says so.
"""

from __future__ import annotations

import re
from typing import Final

from roofwidget.kernels.table import Kernels
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
from roofwidget.support.did_you_mean import listed
from roofwidget.support.progress import Progress, advancing

FORMAT: Final = "torch"
EXPECTED: Final = "a Chrome trace of PyTorch's profiler"

_MAX_LAUNCHES: Final = 1_000_000
_MAX_CATEGORIES: Final = 4
_NOTHING: Final = (
    "no kernels and no operations in this trace; Chrome traces of PyTorch, XLA and ONNX Runtime are read, and for "
    "another tool a table with the columns name and time (us)"
)
_FIRST_EVENT: Final = re.compile(r'\s*\[\s*\{[^{}]{0,2000}"ph"\s*:')


def recognises(source: Source) -> bool:
    """Whether the text begins like a Chrome trace, from PyTorch or another profiler.

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
        ``"operation"``: a row per operation, shape and dtype, with the time of all its kernels. ``"kernel"``: a row per
        kernel, operation, shape and dtype. None: by operation if the trace has shapes, else by kernel.
    idle
        Whether idle time of a device is a row.
    progress
        None: a bar in a notebook. True: a bar. False: no bar. A function is called with (bytes read, bytes in all).

    Returns
    -------
    Kernels
        FLOPs and bytes of all calls (NaN for operations without a formula) and seconds; with the `extra` columns
        ``"shape"``, ``"dtype"``, ``"kernel"`` or ``"operation"``, and the resources of launches.

    Raises
    ------
    ProfileError
        If the file is not a trace, is incomplete or damaged, or has neither kernels nor operations.
    TypeError, ValueError
        If an option has the wrong type or value.
    """
    if by not in (None, "operation", "kernel"):
        raise ValueError(f"by must be 'operation', 'kernel' or None, got {by!r:.40}")
    if idle not in (True, False):
        raise TypeError(f"idle must be True or False, got {idle!r:.40}")
    with advancing(progress, source.size, unit="B", description=f"reading {source.name}") as advance:
        trace = Trace(source, advance)
        collected = collect(trace.batches(), source.name)
    if collected.counted:
        return counted_kernels(collected.counted, trace.properties, source.name)
    if not len(collected.device.start) and not len(collected.operations.start):
        seen = listed(str(category) for category, _ in collected.unread.most_common(_MAX_CATEGORIES))
        raise source.error(f"{_NOTHING}{f'; its events are of the categories {seen}' if seen else ''}")
    messages = [f"events without a duration were left out: {collected.unfinished:,}"] if collected.unfinished else []
    if collected.unread:
        events = listed(f"{category} ({count:,})" for category, count in collected.unread.most_common(_MAX_CATEGORIES))
        messages.append(f"events of unknown categories were left out, so time on a device may be missing: {events}")
    table = WorkTable(collected.calls)
    if not len(collected.device.start):
        rows = host_rows(collected, table)
        calls = host_kernels(table, rows)
        messages += ["no kernels in this trace: these are operations on the host", *table.assumptions(rows)]
        return _added(calls, ["name", "shape", "dtype"], messages, shapes=collected.shapes, name=source.name)
    by_operation = by == "operation" or (by is None and collected.shapes)
    rows = operation_rows(collected, table) if by_operation else launch_rows(collected, table)
    calls = device_kernels(collected, table, rows, by_operation=by_operation)
    calls.chip, about_chip = chip_of(collected, trace.properties)
    spans = Spans.of(collected)
    messages += [*about_chip, *attribution_warnings(calls, rows, collected), *spans.overlap()]
    messages += table.assumptions(rows)
    # Without shapes only the kernels distinguish calls of an operation.
    keys = ["name", "shape", "dtype", "kernel" if by_operation else "operation"]
    keys = [key for key in keys if key != "kernel" or not collected.shapes]
    return _added(calls, keys, messages, shapes=collected.shapes, name=source.name, spans=spans if idle else None)


def _added(
    calls: Kernels, keys: list[str], messages: list[str], *, shapes: bool, name: str, spans: Spans | None = None
) -> Kernels:
    """Return one row per kind of call, and one row for the idle time of the spans."""
    calls.warnings = (*messages, *work_warnings(calls, shapes=shapes))
    calls.source = name
    rows = (calls if spans is None else with_idle(calls, spans)).groupby(*keys)
    return rows if len(calls) < _MAX_LAUNCHES else without_launches(rows, len(calls))
