"""XProf's HLO Stats: the JSON of its tool ``hlo_stats``. It has the HLO text, and so the shapes, of every operation.

To get the file, open the profile in XProf with the tool "HLO Op Stats", and save the response of
``/data?run=<run>&tag=hlo_stats``; or use the code for ``roofline_model`` with the tool name ``hlo_stats``. If the
file is in the folder of a ``roofline_model`` file, it adds shapes to those operations. Read on its own, the file gives
the same operations but no peaks: choose a chip.

The rules. The file is one table, and the reader finds columns by their ``id``. Shares are percentages, not fractions as
in ``roofline_model``.

* time, self time: ``total_time``, ``total_self_time``; launches: ``occurrences``.
* FLOPs: ``normalized_flop_rate`` x ``total_time``; bytes at HBM, CMEM: ``hbm_bw``, ``cmem_read_bw`` … x ``total_time``.
* Opaque calls and library calls: as for ``roofline_model``.
* Collectives: kind, message size and ranks from the HLO text, and bandwidths as NCCL's tests print them. Halves of
  asynchronous collectives have no message size, because the transfer lasts from the start to the done.
* The program's time: ``total_self_time`` / ``total_self_time_percent``; its remaining time is the row ``idle``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.xprof.convert import converted, is_trace
from roofwidget.readers.xprof.operations import (
    IDLE,
    Draft,
    Options,
    check_switches,
    checked_executions,
    draft_of_table,
    finish_operations,
    is_infeed,
    with_unknowns,
)
from roofwidget.readers.xprof.table import GIBI, GIGA, MICRO, XProfTable, column_ids, has_columns

FORMAT: Final = "xprof-hlo-stats"
EXPECTED: Final = "the JSON that XProf exports for its tool 'hlo_stats'"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_OWN_COLUMNS: Final = frozenset(("hlo_op_name", "hlo_op_expression"))
_TOOLS: Final = ("roofline_model", "cli_roofline", "roofline")
_LEVELS: Final = {"HBM": "hbm_bw", "CMEM read": "cmem_read_bw", "CMEM write": "cmem_write_bw"}


def recognises(source: Source) -> bool:
    """Whether the source looks like ``hlo_stats``. Its values are not checked.

    Examples
    --------
    >>> recognises(Source.of(b'{"cols": [{"id": "hlo_op_expression"}], "rows": []}'))
    True
    """
    return not _OWN_COLUMNS.isdisjoint(column_ids(_table(source.document(has_columns))))


def table_of(source: Source) -> XProfTable:
    """Return the table.

    Raises
    ------
    ProfileError
        If the source is not a table ``hlo_stats``.
    """
    given = _table(source.json(nan=True))
    if _OWN_COLUMNS.isdisjoint(column_ids(given)):
        raise source.error(f"expected {EXPECTED}")
    return XProfTable.of(given, source.name)


def stats_beside(source: Source, shapes: Any) -> tuple[XProfTable | None, list[str]]:
    """Return the table ``hlo_stats`` to join, and a warning if the file in the profile's folder is not readable.

    Parameters
    ----------
    source
        The profile.
    shapes
        The table: a path or buffer. None uses the ``hlo_stats`` file in the profile's folder if it exists: for
        ``run.roofline_model.json`` the file ``run.hlo_stats.json``. False uses no table.
    """
    if shapes is False:
        return None, []
    if shapes is not None:
        if shapes is True:
            raise TypeError("shapes must be the path of a hlo_stats table, None or False, got True")
        return _table_or_trace(Source.of(shapes)), []
    sibling = _sibling(source)
    if sibling is None:
        return None, []
    try:
        return _table_or_trace(sibling), []
    except ProfileError as error:
        return None, [f"the shapes in the profile's folder could not be read: {error}"]


def _sibling(source: Source) -> Source | None:
    path = source.path
    if path is None:
        return None
    names = [path.name.rpartition(tool)[0] + "hlo_stats" for tool in _TOOLS if tool in path.name]
    beside = (path.with_name(name + end) for name in names[:1] for end in (".json", ".json.gz"))
    return next(filter(None, map(source.beside, beside)), None)


def _table_or_trace(source: Source) -> XProfTable:
    """Return the table; a raw trace is converted first."""
    return table_of(converted(source, "hlo_stats")[0] if is_trace(source) else source)


def read(source: Source, *, infeed: bool = True, idle: bool = True, executions: Any = None) -> Kernels:
    """Read an ``hlo_stats`` document.

    Parameters
    ----------
    source
        The file.
    infeed
        Whether to include operations that feed the device.
    idle
        Whether idle time is a row, so that shares of self time add up to 1.
    executions
        How often operations ran, by pattern of their names, if XProf counted kernels.

    Returns
    -------
    Kernels
        One kernel per operation; `extra` has all other columns and the shapes. `program` is the sum of the operations
        with the program's time. There is no chip.

    Raises
    ------
    ProfileError
        If a column is missing or a cell has an unexpected value. The message names row (from 1) and column.
    TypeError, ValueError
        If an option has the wrong type or value.
    """
    check_switches(infeed=infeed, idle=idle)
    table = table_of(source)
    draft = draft_of(table)
    program_time = _program_time(draft)
    if not infeed:
        feeds = np.array([is_infeed(word or "") for word in draft.category], dtype=bool)
        program_time -= float(draft.self_time[feeds].sum())
        draft = draft.rows(~feeds)
    on_tpu = any(draft.extra.get("core type", ()))
    options = Options(idle, checked_executions(executions), infer=not on_tpu)
    messages = [] if len(draft) else ["XProf lists no operation: it supports only TPU and GPU profiles with operations"]
    operations, _, remarks = finish_operations(draft, None, program_time, options)
    program = _program(operations, program_time, source.name) if program_time else None
    peaks = "hlo_stats has no peaks, so there is no chip: choose a chip to see a roof"
    return operations.kernels(None, source.name, program=program, warnings=[*messages, peaks, *remarks])


def _table(document: object) -> object:
    """Return the table, which some versions wrap in a list."""
    return document[0] if isinstance(document, list) and document else document


def draft_of(table: XProfTable) -> Draft:
    """Return the operations of a table with XProf's counts."""
    time = table.numbers("total_time") * MICRO
    flops = table.totals("normalized_flop_rate", GIGA, time)
    moved = {
        level: table.totals(column, GIBI, time)
        for level, column in _LEVELS.items()
        if level == "HBM" or column in table.columns
    }
    moved = {level: amount for level, amount in moved.items() if level == "HBM" or amount.any()}
    flops, moved = with_unknowns(flops, moved)
    rules = {"flops": "normalized_flop_rate x total_time", "time": "total_time", "self_time": "total_self_time"}
    rules |= {f"bytes:{level}": f"{_LEVELS[level]} x total_time" for level in moved}
    return draft_of_table(
        table,
        rules,
        names=table.texts("hlo_op_name"),
        flops=flops,
        bytes=moved,
        time=time,
        self_time=table.numbers("total_self_time") * MICRO,
    )


def _program_time(draft: Draft) -> float:
    """Return the program's seconds from self time / share of self time; 0 if no share is known."""
    shares = draft.extra.get("share of self time", np.zeros(len(draft)))
    known = shares > 0
    # Use the operation with the largest share, because its relative rounding error is the smallest.
    most = int(np.argmax(shares)) if known.any() else 0
    return float(draft.self_time[most] / shares[most]) if known.any() else 0.0


def _program(operations: Draft, seconds: float, source: str) -> Kernels:
    inner = ~operations.contains_others & (operations.category != IDLE)
    flops, moved = operations.flops[inner], {k: amount[inner] for k, amount in operations.bytes.items()}
    total = {level: [amount.sum()] for level, amount in moved.items()}
    rule = "sum over operations; unknown if any of them is"
    origin = {"flops": rule, "time": "total_self_time / total_self_time_percent"}
    origin |= {f"bytes:{level}": rule for level in total}
    return Kernels(["Program"], [flops.sum()], total, time=[seconds], origin=origin, source=source)
