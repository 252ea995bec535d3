"""XProf's Roofline Analysis, for TPU and GPU: the JSON of its tool ``roofline_model``.

To get the file, open the profile in XProf with the tool "Roofline Model", and save the response of
``/data?run=<run>&tag=roofline_model``. Without a server::

    from xprof.convert import raw_to_tool_data
    data, _ = raw_to_tool_data.xspace_to_tool_data(["host.xplane.pb"], "roofline_model", {})
    open("run.roofline_model.json", "wb").write(data)

Also save the response of the tool ``hlo_stats``, as ``run.hlo_stats.json`` in the same folder: it has the shapes.

The rules. The file is ``[table, diagnostics]``. The reader finds columns by ``id``, never by position. The file's units
are microseconds, GFLOP/s (1e9) and GiB/s (2**30). A rate is a total divided by ``total_time``, both summed over the
device's cores. So a total is rate x time (the inverse of the formulas in XProf's ``op_metrics_to_record.h``):

* time: ``total_time``, with children; self time: ``total_self_time``.
* FLOPs: ``measured_flop_rate`` x ``total_time``; on TPU XProf normalises these FLOPs to the bf16 peak.
* bytes at HBM, VMEM, CMEM: ``hbm_bw``, ``vmem_read_bw`` … x ``total_time``, from XLA's cost model, not from counters.
* An operation with neither FLOPs nor bytes is XProf's "Unknown", and unknown here. With ``hlo_stats``, matrix products
  and convolutions among the unknown operations get 2 M N K x executions from their shapes (matched by program and
  operation), and the bytes of all operands and outputs.
* Library calls on GPU are counted per execution, not per kernel, if the other operations of the program show how often
  the program ran.
* The program's remaining time is a row of the category ``idle``.
* The chip's peaks are the table's properties ``p``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from roofwidget.chips import Chip
from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.xprof.device import Properties, chip_of, peak_warnings
from roofwidget.readers.xprof.hlo_stats import stats_beside
from roofwidget.readers.xprof.operations import (
    Draft,
    Options,
    above_roof,
    check_switches,
    checked_executions,
    draft_of_table,
    finish_operations,
    with_unknowns,
)
from roofwidget.readers.xprof.table import (
    GIBI,
    GIGA,
    MICRO,
    XProfTable,
    column_ids,
    has_columns,
    shown,
    text_column,
)

FORMAT: Final = "xprof"
EXPECTED: Final = "the JSON that XProf exports for its tool 'roofline_model'"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

# Only the table ``roofline_model`` has these columns. Most other columns are also in XProf's other tables.
_OWN_COLUMNS: Final = ("include_infeed_outfeed", "roofline_efficiency", "bottleneck_operational_intensity")
_PROGRAM_STEPS: Final = {"Total": "Program", "Total (HW)": "Program (HW)"}


def recognises(source: Source) -> bool:
    """Whether the source looks like ``roofline_model``. Its values are not checked.

    Examples
    --------
    >>> recognises(Source.of(b'[{"cols": [{"id": "include_infeed_outfeed"}], "rows": []}]'))
    True
    """
    document = source.document(has_columns)
    if not (isinstance(document, list) and document and isinstance(document[0], dict)):
        return False
    properties = document[0].get("p")
    has_own_column = any(name in column_ids(document[0]) for name in _OWN_COLUMNS)
    return has_own_column or (isinstance(properties, dict) and "peak_flop_rate" in properties)


def read(
    source: Source, *, infeed: bool = True, idle: bool = True, shapes: Any = None, executions: Any = None
) -> Kernels:
    """Read a ``roofline_model`` document.

    Parameters
    ----------
    source
        The file.
    infeed
        Whether to include infeed and outfeed operations; the file lists all operations with and without them.
    idle
        Whether idle time is a row, so that shares of self time add up to 1.
    shapes
        The ``hlo_stats`` table of the same profile, or its raw trace, for the shapes of opaque calls: a path. None uses
        ``<name>.hlo_stats.json`` in the folder of ``<name>.roofline_model.json``, if it exists. False uses none.
    executions
        How often operations ran, by pattern of their names (``{"cudnn-conv*": 5}``), if XProf counted kernels.

    Returns
    -------
    Kernels
        One kernel per operation: FLOPs (on TPU normalised by XProf to the bf16 peak), bytes by level (``HBM``; on TPU
        also ``VMEM read``, ``VMEM write``, ``CMEM read``, ``CMEM write`` if the device has them and the file counts
        any), seconds with and without children, launches. Zero FLOPs with known bytes stay zero; an operation with
        neither, XProf's "Unknown", has NaN for both. `extra` has all other columns, `program` and `steps` have the
        totals, and `chip` is the device with XProf's peaks (None without peaks).

    Raises
    ------
    ProfileError
        If a column is missing or a cell has an unexpected value. The message names row (from 1) and column.
    TypeError, ValueError
        If an option has the wrong type or value.

    Examples
    --------
    >>> import json
    >>> ids = ["step", "rank", "category", "operation", "occurrences", "total_time", "measured_flop_rate", "hbm_bw"]
    >>> ids += ["include_infeed_outfeed"]
    >>> cells = ["Total", 1.0, "loop fusion", "fusion.1", 10.0, 250.0, 64.0, 512.0, True]
    >>> table = {
    ...     "cols": [{"id": name} for name in ids],
    ...     "p": {"device_type": "My GPU", "peak_flop_rate": "1000", "peak_hbm_bw": "1024"},
    ...     "rows": [{"c": [{"v": value} for value in cells]}],
    ... }
    >>> kernels = read(Source.of(json.dumps([table]).encode()))
    >>> kernels.flops.tolist(), kernels.bytes.tolist(), kernels.time.tolist()
    ([16000000.0], [137438953.472], [0.00025])
    >>> kernels.chip.memories["HBM"].bandwidth == 1024 * 2**30
    True
    """
    document = source.json(nan=True)
    if not isinstance(document, list) or not document:
        raise source.error("expected a list [table, diagnostics]")
    table, properties = XProfTable.of(document[0], source.name), Properties.of(document[0], source.name)
    messages = _diagnostics(document[1], source.name) if len(document) > 1 else []
    chosen, more = chosen_options(source, properties, idle=idle, shapes=shapes, executions=executions)
    return kernels_of(table, properties, chosen, infeed=infeed, messages=[*messages, *more])


def chosen_options(
    source: Source, properties: Properties, *, idle: bool, shapes: Any, executions: Any
) -> tuple[Options, list[str]]:
    """Return the checked options with the shapes, and a warning if the shapes file could not be read."""
    check_switches(idle=idle)
    given_executions = checked_executions(executions)
    table, messages = stats_beside(source, shapes)
    return Options(idle, given_executions, table, infer=properties.is_gpu), messages


def kernels_of(
    table: XProfTable, properties: Properties, options: Options, *, infeed: bool, messages: list[str]
) -> Kernels:
    """Return `Kernels` from a table, for every file format."""
    check_switches(infeed=infeed)
    chip = chip_of(properties)
    every = _every_row(table, properties)
    steps, ranks = table.texts("step"), table.numbers("rank")
    wanted = table.truths("include_infeed_outfeed") == infeed
    if len(every) and not wanted.any():
        reason = f"no row is {shown(infeed)}; read the file with infeed={not infeed}"
        raise ProfileError(table.source, reason, column="include_infeed_outfeed")

    is_total = np.isin(steps.astype(str), list(_PROGRAM_STEPS))
    is_empty = np.isnan(every.flops) & (every.time == 0)
    is_step = wanted & ~is_total & (ranks == 0)
    program = every.rows(wanted & is_total & (ranks == 0))
    per_step = every.rows(is_step & ~is_empty)
    operations = every.rows(wanted & (steps == "Total") & (ranks > 0))
    seconds = program.time[0] if len(program) else None
    found = len(operations)
    operations, added, remarks = finish_operations(operations, chip, seconds, options)
    added.to(program)
    if added.flops and len(per_step):
        remarks.append("the totals of steps are XProf's own, without the FLOPs and bytes derived for operations")
    totals, by_step = (rows.kernels(chip, table.source) for rows in (program, per_step))
    kernels = operations.kernels(chip, table.source, program=totals, steps=by_step)
    kernels.warnings = (
        *messages,
        *_remarks(properties, chip, found, no_steps=bool((is_step & is_empty).any())),
        *remarks,
        *peak_warnings(properties),
        *above_roof(kernels),
    )
    return kernels


def _every_row(table: XProfTable, properties: Properties) -> Draft:
    """Return all rows, with and without infeed. A row of totals has the name of its step."""
    time = table.numbers("total_time") * MICRO
    flops = table.totals("measured_flop_rate", GIGA, time)
    moved = {"HBM": table.totals("hbm_bw", GIBI, time)}
    why = {"HBM": "hbm_bw x total_time"}
    for level in properties.levels():
        amount = table.totals(f"{level.stem}_bw", GIBI, time)
        # If all rows are 0, the level was not counted. If only some rows are 0, their 0 is a count.
        if amount.any():
            moved[level.name], why[level.name] = amount, f"{level.stem}_bw x total_time"
    flops, moved = with_unknowns(flops, moved)
    steps, ranks = table.texts("step"), table.numbers("rank")
    self_time = table.numbers("total_self_time") * MICRO if "total_self_time" in table.columns else time
    names = [
        operation if rank > 0 else _PROGRAM_STEPS.get(step) or (f"Step {step}" if step.isdecimal() else step)
        for operation, rank, step in zip(table.texts("operation"), ranks, steps, strict=True)
    ]
    rule = "measured_flop_rate x total_time" + ("" if properties.is_gpu else ", normalised by XProf to the bf16 peak")
    rules = {"flops": rule, "time": "total_time", "self_time": "total_self_time"}
    rules |= {f"bytes:{level}": text for level, text in why.items()}
    return draft_of_table(
        table,
        rules,
        names=text_column(names),
        flops=flops,
        bytes=moved,
        time=time,
        self_time=np.where(ranks > 0, self_time, time),
    )


def _remarks(properties: Properties, chip: Chip | None, operations: int, *, no_steps: bool) -> list[str]:
    remarks = []
    if not operations:
        where = f"on {properties.device}" if properties.device else "and no device"
        remarks.append(f"XProf lists no operation {where}: it supports only TPU and GPU profiles with operations")
    if chip is None:
        names = [name for name in ("peak_flop_rate", "peak_hbm_bw") if not properties.number(name)]
        remarks.append(f"the profile has no {' and no '.join(names)}, so there is no chip: choose a chip to see a roof")
    if no_steps:
        remarks.append("the profile has no steps: XProf's empty average step was left out")
    scale = properties.number("time_scale_multiplier")
    if scale not in {0.0, 1.0}:
        remarks.append(f"XProf's time scale multiplier is {scale:g}: times and rates are as measured, peaks nominal")
    return remarks


def _diagnostics(given: object, source: str) -> list[str]:
    """Return XProf's own messages, such as ``"WARNING: No step marker observed …"``."""
    table = XProfTable.of(given, source)
    pairs = zip(table.texts("severity"), table.texts("message"), strict=True)
    return [f"{severity}: {message}" for severity, message in pairs]
