"""The low-level columns of AMD's counters: instructions and requests, idle lanes, LDS conflicts, hit rates, waits.

The formulas are those of AMD's documentation of rocprofiler-compute (performance model: pipeline metrics, LDS, L2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats, unwarned
from roofwidget.kernels.low_level import INSTRUCTIONS, MAX_STALLS, SHARED_INSTRUCTIONS, stall, transactions
from roofwidget.readers.rocprof.counters import Counters
from roofwidget.support.did_you_mean import first_in

_LANES: Final = 64
_PERCENT: Final = 100.0
_INSTRUCTIONS: Final = ("SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM", "SQ_INSTS_LDS")
_READS_WRITES: Final = ("SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR")
_TO_L2: Final = (
    *("TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum"),
    *("TCP_TCC_ATOMIC_WITH_RET_REQ_sum", "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum"),
)
_VALU: Final = ("SQ_THREAD_CYCLES_VALU", "SQ_ACTIVE_INST_VALU")
_TOTALS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    INSTRUCTIONS: (
        ("SQ_INSTS",),
        (*_INSTRUCTIONS, "SQ_INSTS_BRANCH"),
        _INSTRUCTIONS,
        (*(name for name in _INSTRUCTIONS if name != "SQ_INSTS_VMEM"), *_READS_WRITES),
    ),
    SHARED_INSTRUCTIONS: (("SQ_INSTS_LDS",),),
    transactions("L1"): (("TCP_TOTAL_CACHE_ACCESSES_sum",),),
    transactions("L2"): (_TO_L2,),
    transactions("HBM"): tuple((f"{unit}_RDREQ_sum", f"{unit}_WRREQ_sum") for unit in ("TCC_EA0", "TCC_EA")),
}
# A share or a ratio: the counters above and below the line, and the factor.
_RATIOS: Final[Mapping[str, tuple[str, tuple[str, ...], float]]] = {
    "threads per instruction": (_VALU[0], (_VALU[1],), 1.0),
    "LDS bank conflicts (%)": ("SQ_LDS_BANK_CONFLICT", ("SQ_LDS_IDX_ACTIVE",), _PERCENT),
    "L2 hit rate (%)": ("TCC_HIT_sum", ("TCC_HIT_sum", "TCC_MISS_sum"), _PERCENT),
}
_STALLS: Final = {"dependency": "SQ_WAIT_ANY", "issue": "SQ_WAIT_INST_ANY"}
_WAVE_CYCLES: Final = "SQ_WAVE_CYCLES"
_GRID, _WORKGROUP = ("Grid_Size", "grd"), ("Workgroup_Size", "wgr")


@unwarned
def low_level_columns(
    counters: Counters, fields: Mapping[str, Callable[[], Floats]], units: int | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the low-level columns of the dispatches, shape (n,) each, and the counters that each comes from.

    Parameters
    ----------
    counters
        The counters.
    fields
        The other columns of numbers of the file.
    units
        The compute units of the GPU, None if unknown.
    """
    columns: dict[str, Any] = {}
    rules: dict[str, str] = {}

    def put(name: str, column: Floats, rule: str) -> None:
        known = np.where(np.isfinite(column), column, np.nan)
        if not np.isnan(known).all():
            columns[name], rules[name] = known, rule

    for name, sums in _TOTALS.items():
        names = next((names for names in sums if not counters.lacking(names)), None)
        if names is not None:
            put(name, np.sum([counters.get(one) for one in names], axis=0), " + ".join(names))
    for name, (above, below, factor) in _RATIOS.items():
        if not counters.lacking((above, *below)):
            total = np.sum([counters.get(one) for one in below], axis=0)
            put(name, factor * counters.get(above) / total, f"{above} / {' + '.join(below)}")
    _put_launch(fields, units, columns, put)
    _put_stalls(counters, columns, rules)
    return columns, rules


def _put_launch(
    fields: Mapping[str, Callable[[], Floats]], units: int | None, columns: Mapping[str, Any], put: Any
) -> None:
    """Add the sizes of launches, and the share of lanes of these sizes that was active."""
    grid, group = (first_in(names, fields) for names in (_GRID, _WORKGROUP))
    if group is None:
        return
    threads = fields[group]()
    put("threads per block", threads, group)
    if "threads per instruction" in columns:
        lanes = threads / np.ceil(threads / _LANES)
        share = np.minimum(_PERCENT * columns["threads per instruction"] / lanes, _PERCENT)
        put("active lanes (%)", share, " / ".join(_VALU))
    if grid is not None:
        blocks = np.ceil(fields[grid]() / threads)
        put("blocks", blocks, f"{grid} / {group}")
        if units:
            put("blocks per SM", blocks / units, f"{grid} / {group} / CUs")


def _put_stalls(counters: Counters, columns: dict[str, Any], rules: dict[str, str]) -> None:
    """Add the shares of the time of wavefronts in which they wait, the longest first."""
    if counters.lacking((*_STALLS.values(), _WAVE_CYCLES)):
        return
    waits = np.array([counters.get(name) for name in _STALLS.values()]) / counters.get(_WAVE_CYCLES) * _PERCENT
    order, rows = np.argsort(-np.nan_to_num(waits), axis=0, kind="stable"), np.arange(waits.shape[1])
    words = list(_STALLS)
    for rank in range(min(MAX_STALLS, len(words))):
        which = order[rank]
        share = waits[which, rows]
        is_known = np.isfinite(share)
        if is_known.any():
            text, number = stall(rank + 1)
            columns[text] = [words[one] if known else None for one, known in zip(which, is_known, strict=True)]
            columns[number] = np.where(is_known, share, np.nan)
            rules |= dict.fromkeys((text, number), f"{' or '.join(_STALLS.values())} / {_WAVE_CYCLES}")
