"""Collectives of XLA: kind, message size and number of ranks from the HLO text of an operation.

An example::

    %r = f32[1024]{0} all-reduce(f32[1024]{0} %p), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from roofwidget.analysis.network import algorithm_bandwidth, bus_bandwidth
from roofwidget.kernels.columns import Floats
from roofwidget.kernels.communication import ALGORITHM_BANDWIDTH, BUS_BANDWIDTH, KIND, RANKS, SIZE
from roofwidget.readers.xprof.hlo import Instruction
from roofwidget.readers.xprof.table import text_column
from roofwidget.support.text_tables import counted

_KINDS: Final = {
    "all-reduce": "all-reduce",
    "all-gather": "all-gather",
    "reduce-scatter": "reduce-scatter",
    "all-to-all": "all-to-all",
    "collective-broadcast": "broadcast",
    "collective-permute": "send",
}
_GROUPS: Final = re.compile(r"\breplica_groups=\{(\{[\d,{} ]*\})\}")
# [2,4]<=[8]: two groups of four.
_GROUP_GRID: Final = re.compile(r"\breplica_groups=\[\d{1,9},(\d{1,9})\]")
_NO_LINK: Final = (
    "collectives have message sizes and no bytes over the link, because the profile knows no link: "
    "roofwidget.network.with_topology(kernels, 'ring') counts these bytes for a chip with a link"
)
_HALVES: Final = re.compile(r"-(?:start|done)$")


class Collective(NamedTuple):
    """One call of a collective: its kind, its message size S in bytes, and its ranks (None if unknown)."""

    kind: str
    size: int
    ranks: int | None


def collective(of: Instruction) -> Collective | None:
    """Return what a collective moves; None for other instructions, and for the halves of asynchronous pairs.

    Examples
    --------
    >>> from roofwidget.readers.xprof.hlo import instruction
    >>> line = "%g = bf16[64]{0} all-gather(bf16[8]{0} %p), replica_groups=[2,8]<=[16], dimensions={0}"
    >>> collective(instruction(line))
    Collective(kind='all-gather', size=128, ranks=8)
    """
    kind = _KINDS.get(of.opcode)
    if kind is None:
        return None
    put, got = (sum(array.bytes for array in arrays) for arrays in (of.operands, of.results))
    return Collective(kind, max(put, got), _ranks(of.attributes))


def _ranks(attributes: str) -> int | None:
    """Return the number of ranks of the largest group. Empty groups stand for all chips, whose number is not told."""
    listed = _GROUPS.search(attributes)
    if listed:
        return max(len(re.findall(r"\d+", group)) for group in listed[1].split("}")) or None
    grid = _GROUP_GRID.search(attributes)
    return int(grid[1]) if grid else None


def columns_of(
    parsed: Sequence[Instruction | None], time: Floats, count: Floats
) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
    """Return the columns of collectives (kind, message size, ranks, bandwidths), and warnings.

    Parameters
    ----------
    parsed
        The instruction of each operation, length n; None if its text is unknown.
    time, count
        Seconds and executions of each operation, shape (n,).
    """
    found = [None if one is None else collective(one) for one in parsed]
    opcodes = [one.opcode for one in parsed if one is not None]
    halves = sum(opcode not in _KINDS and _HALVES.sub("", opcode) in _KINDS for opcode in opcodes)
    messages = []
    if halves:
        messages.append(
            f"{counted(halves, 'operation')} of asynchronous collectives without message size: the transfer lasts from "
            "start to done, and each of the two has only its own time"
        )
    if all(one is None for one in found):
        return {}, messages
    kind = [None if one is None else one.kind for one in found]
    size = np.array([np.nan if one is None else one.size for one in found])
    ranks = np.array([np.nan if one is None or one.ranks is None else one.ranks for one in found])
    each = time / count
    columns = {
        KIND: text_column(kind),
        SIZE: size,
        RANKS: ranks,
        ALGORITHM_BANDWIDTH: algorithm_bandwidth(size, each),
        BUS_BANDWIDTH: bus_bandwidth(kind, size, ranks, each),
    }
    return columns, [_NO_LINK, *messages]
