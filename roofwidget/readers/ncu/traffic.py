"""Bytes of each launch by memory level. Each level uses the first definition whose metrics the file has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.ncu.metrics import Launches, Sourced, all_unknown, amount, first_known

Traffic: TypeAlias = Mapping[str, Sourced]
"""Bytes by level."""

SECTOR_BYTES: Final = 32
WRITEBACK_BYTES: Final = 128

# L1 traffic in the sections of Nsight Compute; the name depends on the chip.
_WRITEBACKS: Final = tuple(f"l1tex__lsu_writeback_active{suffix}" for suffix in ("_mem_lgds", "_mem_lg", ""))


def traffic_by_level(launches: Launches) -> Traffic:
    """Return bytes by level, shape (n,) each; levels without metrics are left out.

    DRAM: ``dram__bytes``, else reads and writes, else sectors of 32 bytes. L2: ``lts__t_bytes``, else sectors, else
    the traffic between L2 and the SMs (Nsight's own definition changed twice). L1: ``l1tex__t_bytes``, else sectors,
    else the bytes written back to registers, else global loads and stores.
    """
    read_write = (
        "lts__t_sectors_op_read",
        "lts__t_sectors_op_write",
        "lts__t_sectors_op_atom",
        "lts__t_sectors_op_red",
    )
    loads = ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld", "l1tex__t_sectors_pipe_lsu_mem_global_op_st")
    levels = {
        "DRAM": [
            amount(launches, ["dram__bytes"], rates=False),
            _sum(launches, "dram__bytes_read", "dram__bytes_write"),
            _sum(launches, "dram__bytes_op_read", "dram__bytes_op_write"),
            _sum(launches, "dram__sectors_read", "dram__sectors_write", times=SECTOR_BYTES),
            amount(launches, ["dram__bytes"]),
        ],
        "L2": [
            amount(launches, ["lts__t_bytes"], rates=False),
            amount(launches, ["lts__t_sectors"], times=SECTOR_BYTES, rates=False),
            amount(launches, ["lts__t_bytes"]),
            amount(launches, ["lts__lts2xbar_cycles_active"], times=SECTOR_BYTES),
            _noted(amount(launches, ["l1tex__m_xbar2l1tex_read_bytes"]), "reads only"),
            _sum(launches, *read_write, times=SECTOR_BYTES),
        ],
        "L1": [
            amount(launches, ["l1tex__t_bytes"], rates=False),
            amount(launches, ["l1tex__t_sectors"], times=SECTOR_BYTES, rates=False),
            amount(launches, ["l1tex__t_bytes"]),
            _noted(amount(launches, _WRITEBACKS, times=WRITEBACK_BYTES), "reads only"),
            _noted(_sum(launches, *loads, times=SECTOR_BYTES), "global loads and stores only"),
        ],
    }
    found = {level: _first(sourced, len(launches)) for level, sourced in levels.items()}
    return {level: sourced for level, sourced in found.items() if sourced.is_known.any()}


def _sum(launches: Launches, *metrics: str, times: float = 1.0) -> Sourced:
    """Return a sum of amounts; unknown where one of them is."""
    parts = [amount(launches, [metric], times=times, rates=False) for metric in metrics]
    values: Floats = np.sum([part.values for part in parts], axis=0)
    names = " + ".join(f"{metric}.sum" for metric in metrics)
    rule = f"({names}) x {times:g}" if times != 1 else names
    return first_known(len(launches), [(values, rule)])


def _noted(sourced: Sourced, note: str) -> Sourced:
    rules = [None if rule is None else f"{rule} ({note})" for rule in sourced.rules]
    return Sourced(sourced.values, np.array(rules, dtype=object))


def _first(candidates: list[Sourced], n: int) -> Sourced:
    found = all_unknown(n)
    for one in candidates:
        found = found.or_else(one)
    return found
