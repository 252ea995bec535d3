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
  Copies and fills are separate rows. A trace without kernels has host times: there the time of a row includes called
  operations, and `self_time` excludes them.
- Of nested operations the innermost one with a rule owns a kernel. Operations of PyTorch itself include the operations
  of PyTorch that they call. If the operations inside an operation do at least half of its work, its other kernels have
  no work: each work counts once.
- Kernels of CUDA and HIP graphs have no operations in the trace: one call launches them all. With ``captures=`` they
  get the operations of the graph's capture, which is a trace too: start the profiler, with ``record_shapes=True``,
  before the program captures its graphs (vLLM and SGLang do so when they start). The k-th kernel of the i-th graph
  launch of a step is the k-th kernel launch of the i-th capture. The batch in the annotations chooses between captures
  (``execute_8192_…`` and ``capture_8192_…``). If counts or names of kernels differ, nothing is tied, and a warning
  says what differs. A folder or a zip archive with one trace and captures is read as one profile. In a shell the
  option is ``--captures``.
- The column ``"phase"`` has the phase of each kernel: ``prefill``, ``decode`` or ``mixed`` by the annotated step of
  vLLM, SGLang or ATOM that launched the kernel; else ``backward`` (launched by a node of autograd), ``forward``
  (launched before a backward pass of the same iteration) or ``optimizer`` (launched in ``Optimizer.step``). The column
  ``"iteration"`` has the number of the ``ProfilerStep#``, or of the annotated step from 0; a row with calls of several
  iterations has none, but its `launches` have. ``kernels.filter(phases="decode")`` keeps one phase, in a shell
  ``--phase decode``; ``kernels.groupby("phase")`` adds each up, with its known share of time. Warm-up is left out (see
  ``iterations``).
- Calls of the same name, shape and dtype are added. `launches` has the single calls if there are fewer than a million.
- FLOPs come from shapes by the rules below, or from ``kernel_flop`` if a compiler wrote it on the kernel or on its
  operation. If ``kernel_flop`` is 0, the compiler did not count. Bytes of compiled kernels come from ``kernel_num_gb``
  if the compiler wrote it. FLOPs of other operations are unknown: rules of your own give them (see *Rules of work*),
  and ``kernels.unknown_work()`` lists them with what is missing.
- Operations of vLLM, SGLang, flash_attn, xformers, aiter, Transformer Engine, primus_turbo and Mamba have rules too.
  `Kernels.origin` says ``built-in``, which inputs a rule reads, and its formula with numbers.
- Attention over a cache has exact FLOPs and bytes if an annotation of the step has sums over its requests: vLLM with
  ``--profiler-config.detailed_trace_annotation True``, SGLang with ``roofline_annotations``. A trace does not say
  whether a layer has a sliding window, so none is assumed, and a warning says so. The lengths of sequences are on the
  device. So attention over sequences of unlike lengths has at least the pairs of the most equal lengths, and its origin
  has both bounds.
- A number can be exact, a lower bound or an estimate; `Kernels.origin` and a warning say which. An upper bound is never
  a number of a kernel, because it could put the kernel above its roof; the origin of the unknown number names it.
- Triton kernels of torch.compile without numbers of the compiler move each pointer at least once. Of a pointer to more
  elements than the kernel walks over, only so many count. If that number is no argument and the pointers differ in
  their elements, the bytes are unknown. FLOPs are estimated from the words of the name, each word once per element.
- A trace has the sizes of lists of tensors, on which optimizers work, but not their dtypes. The names of the kernels
  over lists have them, or the operations inside; otherwise the bytes are unknown.
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
- Collectives have the least bytes that a rank sends under ``"network"`` (see `roofwidget.network.bus_factor`), from the
  metadata that PyTorch writes for NCCL and RCCL, or from the arguments of the operation. Their message is read and
  written once. `Kernels.communication` says how much of their time other kernels hide. The list of an uneven
  all-to-all's splits is complete up to 30 ranks. Kernels of DeepEP have no sizes in a trace.
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
| comparisons, ``pow`` | 1 per result; a third power 2 |
| ``mse_loss`` | 3 per element, 2 without a sum; 3 backwards |
| gradients of functions | ``relu`` 1 per result, ``sigmoid`` and ``tanh`` 3, ``silu`` 9, ``gelu`` 11, or 16 with tanh |
| ``native_dropout`` | 3 per element, 2 backwards |
| ``native_layer_norm``, ``native_group_norm`` | 8 per element and 3 per row or group (6 without weights) |
| batch norms | 8 per element in training, else 2 |
| gradients of norms | 13 per element (9 without weights); ``_fused_rms_norm_backward`` 9 (6) |
| ``_softmax``, ``_log_softmax`` | 5 per element, 4 backwards |
| ``sum``, ``mean``, ``max``, ``argmax``, ``cumsum`` and the like | 1 per element |
| ``_grouped_mm``, ``_scaled_grouped_mm`` | 2 M N K over all groups |
| RMS norms | 4 per element and 3 per row; 1 more for a residual, 2 or 3 for a quantised result |
| gated activations | the function, and 1 for the gate |
| rotary embedding | 6 per pair of rotated columns |
| quantisation | 2 per element, 3 if the scales are computed |
| experts of a mixture | 6 T k D F for T tokens with k experts of D x F each and a gate |
| ``embedding_dense_backward`` | 1 per element of the gradient |
| ``_foreach_…`` | as the operation on one tensor, and 1 per element for a factor other than 1; norms 2 per element |
| ``_fused_adam_``, ``_fused_adamw_`` | 13 per parameter; decay 2 more; amsgrad, maximize, a gradient scale 1 each |
| ``_fused_sgd_`` | 2 per parameter; decay, momentum, Nesterov 2 more each; dampening 1 |
| ``_fused_adagrad_`` | 7 per parameter; decay 2 more |
| maximum pooling | elements of a window - 1 per result; backwards 1 per element of the gradient |
| mean pooling | elements of a window per result, padding included; backwards 1 more per result |
| copies, fills, look-ups, ``cat``, ``where``, ``masked_fill``, bits, writes of a cache | 0 |

Attention with a causal mask and Nq unlike Nk counts the pairs that the mask leaves. PyTorch's ``is_causal`` aligns the
mask top-left: the first query sees the first key. The kernels of flash_attn from 2.1 on, which
``_scaled_dot_product_flash_attention`` runs too, and ``custom_mask_type`` 2, align it bottom-right: the last query sees
all keys. `Kernels.origin` names the alignment. If the trace does not have the argument ("Concrete Inputs", from PyTorch
2.1 on), attention is counted in full, and a warning says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from roofwidget.kernels.table import Kernels
from roofwidget.readers.folders import members_of
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
from roofwidget.readers.torch.captures import ALONE, beside, capture_sources, is_capture, rank_of, replays_of
from roofwidget.readers.torch.communication import with_bandwidths, with_collectives
from roofwidget.readers.torch.counters import counted_kernels
from roofwidget.readers.torch.events import Collected, collect
from roofwidget.readers.torch.lists import with_dtypes_of_lists
from roofwidget.readers.torch.messages import World
from roofwidget.readers.torch.nesting import Launched, Nest
from roofwidget.readers.torch.phases import Phases, chosen_iterations, phases_of
from roofwidget.readers.torch.rows import (
    Owners,
    WorkTable,
    host_rows,
    in_parts,
    in_steps,
    is_copy,
    launch_rows,
    operation_rows,
    owners_of,
)
from roofwidget.readers.torch.rules import WorkRules
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
    if source.is_folder:
        # A trace and captures of its graphs.
        return len(members_of(source, recognises)) > 1
    if source.beginning.lstrip()[:1] not in ("{", "["):
        return False
    begins_like_kineto = all(f'"{word}"' in source.beginning for word in ("schemaVersion", "deviceProperties"))
    has_events = f'"{EVENTS}"' in source.beginning or _FIRST_EVENT.match(source.beginning) is not None
    return has_events or begins_like_kineto


def read(
    source: Source,
    *,
    by: str | None = None,
    idle: bool = True,
    captures: Any = None,
    iterations: Any = None,
    progress: Progress = None,
    rules: Sequence[WorkRules] = (),
) -> Kernels:
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
    captures
        Traces of the captures of the graphs of CUDA or HIP that the trace replays: a path, a pattern such as
        ``"capture_*.json.gz"``, bytes, an open file, or a list of these.
    iterations
        Which iterations of the profiler, or steps of a serving engine counted from 0, to read: ``"all"``, a number, or
        a list of numbers. None leaves out only the warm-up: first iterations that take more than twice as long on the
        host as the median iteration, which needs three. A warning says so.
    progress
        None: a bar in a notebook. True: a bar. False: no bar. A function is called with (bytes read, bytes in all).
    rules
        Rules for the work of operations; those of the first have precedence. `roofwidget.read` gives them here.

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
    given = capture_sources(captures)
    if source.is_folder:
        source, found = _trace_and_captures(source)
        given += found
    with advancing(progress, source.size, unit="B", description=f"reading {source.name}") as advance:
        trace = Trace(source, advance)
        collected = collect(trace.batches(), source.name)
    captured = _captured(given, collected, trace) if len(collected.device.start) else []
    if collected.counted:
        return counted_kernels(collected.counted, trace.properties, source.name)
    if not len(collected.device.start) and not len(collected.operations.start):
        seen = listed(str(category) for category, _ in collected.unread.most_common(_MAX_CATEGORIES))
        raise source.error(f"{_NOTHING}{f'; its events are of the categories {seen}' if seen else ''}")
    messages = [f"events without a duration were left out: {collected.unfinished:,}"] if collected.unfinished else []
    if collected.unread:
        events = listed(f"{category} ({count:,})" for category, count in collected.unread.most_common(_MAX_CATEGORIES))
        messages.append(f"events of unknown categories were left out, so time on a device may be missing: {events}")
    if not len(collected.device.start):
        nest = Nest.of(collected.operations)
        with_dtypes_of_lists(collected, nest)
        table = WorkTable(collected.calls, rules)
        rows = host_rows(collected, table, nest)
        calls = host_kernels(table, rows)
        messages += ["no kernels in this trace: these are operations on the host", *table.assumptions(rows)]
        return _added(calls, ["name", "shape", "dtype"], messages, shapes=collected.shapes, name=source.name)
    collected.shapes = collected.shapes or any(capture.shapes for capture in captured)
    by_operation = by == "operation" or (by is None and collected.shapes)
    table, owners, phases, about_replays = _attributed(collected, captured, rules)
    for part in (collected, *captured):
        part.forget_host()
    kept, about_iterations = chosen_iterations(phases, iterations, source)
    rows = operation_rows(collected, owners) if by_operation else launch_rows(collected, owners)
    rows = rows if by_operation else in_parts(rows, table, owners)
    rows = rows if kept.all() else rows.where(kept[rows.device])
    calls = device_kernels(collected, table, rows, owners, phases, by_operation=by_operation)
    calls.chip, calls.fitting_chips, about_chip = chip_of(collected, trace.properties)
    spans = Spans.of(collected, kept)
    messages += [*about_chip, *about_iterations, *about_replays]
    if about_replays and not captured and ALONE not in about_replays:
        messages += beside(source)
    messages += attribution_warnings(calls, rows, collected, owners)
    messages += spans.overlap()
    messages += table.assumptions(rows)
    calls, about_collectives = with_collectives(
        calls, collected, table, rows, kept=kept, world=World(trace.properties), by_operation=by_operation
    )
    messages += about_collectives
    # Without shapes only the kernels distinguish calls of an operation.
    keys = ["name", "shape", "dtype", "kernel" if by_operation else "operation"]
    keys = [key for key in keys if key != "kernel" or not collected.shapes]
    keys += ["phase"] if "phase" in calls.extra else []
    return _added(calls, keys, messages, shapes=collected.shapes, name=source.name, spans=spans if idle else None)


def _attributed(
    collected: Collected, captured: Sequence[Collected], rules: Sequence[WorkRules]
) -> tuple[WorkTable, Owners, Phases, Sequence[str]]:
    """Return the table of work, the owner and the phase of each row on the device, and warnings about graphs."""
    nest = Nest.of(collected.operations)
    replays = replays_of(collected, captured, nest, ~is_copy(collected))
    launched = Launched.of(collected, nest, replays.operation)
    phases = phases_of(collected, nest, launched)
    with_dtypes_of_lists(collected, nest, launched.operation)
    table = WorkTable(collected.calls, rules, next((step for step in phases.steps if step is not None), None))
    owners = owners_of(collected, table, nest, launched, replays)
    return *in_steps(collected, table, owners, phases), phases, replays.messages


def _trace_and_captures(folder: Source) -> tuple[Source, list[Source]]:
    """Return the trace in a folder and the captures of its graphs."""
    traces = members_of(folder, recognises)
    found = [trace for trace in traces if is_capture(trace)]
    others = [trace for trace in traces if trace not in found]
    if len(others) == 1:
        return others[0], found
    raise folder.error(
        f"expected one trace and captures of its graphs, got {len(others)} traces and {len(found)} captures"
    )


def _captured(given: Sequence[Source], collected: Collected, trace: Trace) -> list[Collected]:
    """Return the captures that belong to a trace: those of its rank if there are some, else all."""
    parts = []
    for source in given:
        capture = Trace(source)
        part = collect(capture.batches(), source.name, collected)
        parts.append((rank_of(capture.properties), part))
    rank = rank_of(trace.properties)
    same = [part for other, part in parts if other == rank]
    return same or [part for _, part in parts]


def _added(
    calls: Kernels, keys: list[str], messages: list[str], *, shapes: bool, name: str, spans: Spans | None = None
) -> Kernels:
    """Return one row per kind of call, and one row for the idle time of the spans."""
    calls.warnings = (*messages, *work_warnings(calls, shapes=shapes))
    calls.source = name
    rows = with_bandwidths((calls if spans is None else with_idle(calls, spans)).groupby(*keys))
    return rows if len(calls) < _MAX_LAUNCHES else without_launches(rows, len(calls))
