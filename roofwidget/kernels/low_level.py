"""The low-level columns of `Kernels.extra`: what counters of a profiler say about why a kernel is slow.

Readers fill these columns under these names, whatever their tool calls the counter. `Kernels.read_as` has the tool's
name. Rules of `roofwidget.analysis.reasons` and the instruction roofline are written in these names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import DictColumn, Floats

TIME: Final = "time"
"""The weight of a mean over launches that is weighted by their times."""
INSTRUCTIONS: Final = "warp instructions"
THREAD_INSTRUCTIONS: Final = "thread instructions"
THREADS_EACH: Final = "threads per instruction"
GLOBAL_INSTRUCTIONS: Final = "global memory instructions"
GLOBAL_TRANSACTIONS: Final = "global memory transactions"
SHARED_INSTRUCTIONS: Final = "shared memory instructions"
SHARED_TRANSACTIONS: Final = "shared memory transactions"
MAX_STALLS: Final = 3
"""How many reasons of stalls a kernel has in its columns."""


def transactions(level: str) -> str:
    """Return the name of the column with the transactions of a memory level.

    Examples
    --------
    >>> transactions("L2")
    'L2 transactions'
    """
    return f"{level} transactions"


def stall(rank: int) -> tuple[str, str]:
    """Return the names of the two columns of a stall reason, of which rank 1 is the longest: its name and its share.

    Examples
    --------
    >>> stall(1)
    ('stall 1', 'stall 1 (%)')
    """
    return f"stall {rank}", f"stall {rank} (%)"


@dataclass(frozen=True)
class LowLevelColumn:
    """A low-level column.

    Parameters
    ----------
    name
        Its name in `Kernels.extra`, with the unit.
    meaning
        What it says, for documentation.
    adds
        Whether it is a total over the launches of a row. Totals of rows are added.
    weight
        For a ratio: the column of its denominator, or ``"time"``. The ratio of a sum of rows is the mean with this
        weight. Rows without the weight are weighted by time. None: the sum has a value only if all rows have the same.
    """

    name: str
    meaning: str
    adds: bool = False
    weight: str | None = None


_COLUMNS: Final = (
    LowLevelColumn("blocks", "blocks (workgroups) of a launch"),
    LowLevelColumn("threads per block", "threads of a block"),
    LowLevelColumn("registers per thread", "registers that the compiler gives a thread"),
    LowLevelColumn("shared memory per block (B)", "bytes of shared memory of a block"),
    LowLevelColumn("waves per SM", "blocks over the blocks that the chip runs at once"),
    LowLevelColumn("blocks per SM", "blocks over the SMs, or compute units, of the chip"),
    LowLevelColumn("full waves (%)", "waves over waves rounded up: the share that the last wave leaves used"),
    LowLevelColumn("occupancy limited by", "the resource that allows the fewest blocks per SM"),
    LowLevelColumn("theoretical occupancy (%)", "warps that an SM can hold at once, of its most", weight=TIME),
    LowLevelColumn("achieved occupancy (%)", "warps that an SM held on average while active, of its most", weight=TIME),
    LowLevelColumn("reached occupancy (%)", "achieved over theoretical occupancy", weight=TIME),
    LowLevelColumn("SM active (%)", "time in which an SM has a warp, the mean of all SMs", weight=TIME),
    LowLevelColumn("busiest SM active (%)", "the same of the SM with most", weight=TIME),
    LowLevelColumn("issue slots busy (%)", "cycles in which a scheduler issues an instruction", weight=TIME),
    LowLevelColumn("active warps per scheduler", "warps that a scheduler has on average", weight=TIME),
    LowLevelColumn("eligible warps per scheduler", "warps that could issue on average", weight=TIME),
    *(
        column
        for rank in range(1, MAX_STALLS + 1)
        for column in (
            LowLevelColumn(stall(rank)[0], f"reason {rank} for which warps wait, by cycles"),
            LowLevelColumn(stall(rank)[1], "its share of the cycles between two instructions of a warp", weight=TIME),
        )
    ),
    LowLevelColumn("busiest pipe", "the pipe of an SM with the highest share"),
    LowLevelColumn("busiest pipe (%)", "its share of its peak while SMs are active", weight=TIME),
    LowLevelColumn("SM throughput (%)", "the busiest unit of the SMs, of its peak", weight=TIME),
    LowLevelColumn("memory throughput (%)", "the busiest unit of the memories, of its peak", weight=TIME),
    LowLevelColumn("L1 throughput (%)", "the busiest unit of L1 and shared memory, of its peak", weight=TIME),
    LowLevelColumn("L1 hit rate (%)", "sectors of L1 that hit", weight=TIME),
    LowLevelColumn("L2 hit rate (%)", "sectors of L2 that hit, or accesses on a CPU", weight=TIME),
    LowLevelColumn("L3 hit rate (%)", "accesses to L3 that hit", weight=TIME),
    LowLevelColumn("sectors per load request", "sectors of 32 B of a warp's global load", weight="global loads"),
    LowLevelColumn("sectors per store request", "sectors of 32 B of a warp's global store", weight="global stores"),
    LowLevelColumn("bytes used per loaded sector", "bytes of a loaded sector that threads asked for", weight=TIME),
    LowLevelColumn("bytes used per stored sector", "bytes of a stored sector that threads gave", weight=TIME),
    LowLevelColumn(
        "bank conflict ways",
        "turns of an access to shared memory over those without conflicts",
        weight=SHARED_INSTRUCTIONS,
    ),
    LowLevelColumn("LDS bank conflicts (%)", "cycles of conflicts of the active cycles of AMD's LDS", weight=TIME),
    LowLevelColumn(THREADS_EACH, "active threads of an instruction, of 32 or 64", weight=INSTRUCTIONS),
    LowLevelColumn("active lanes (%)", "the same over the threads that a warp of the block has", weight=INSTRUCTIONS),
    LowLevelColumn("instructions per warp", "instructions that a warp runs", weight=TIME),
    LowLevelColumn(
        "local memory share (%)", "sectors of local memory (spills, arrays) of global and local memory", weight=TIME
    ),
    LowLevelColumn(INSTRUCTIONS, "instructions of warps, or of wavefronts on AMD", adds=True),
    LowLevelColumn(THREAD_INSTRUCTIONS, "instructions of threads", adds=True),
    LowLevelColumn("global loads", "instructions of warps that load global memory", adds=True),
    LowLevelColumn("global stores", "instructions of warps that store to global memory", adds=True),
    LowLevelColumn(GLOBAL_INSTRUCTIONS, "loads and stores of global memory by warps", adds=True),
    LowLevelColumn(GLOBAL_TRANSACTIONS, "their sectors of 32 B", adds=True),
    LowLevelColumn(SHARED_INSTRUCTIONS, "loads and stores of shared memory by warps", adds=True),
    LowLevelColumn(SHARED_TRANSACTIONS, "their turns (wavefronts) of up to 128 B", adds=True),
    LowLevelColumn(transactions("L1"), "sectors of global and local memory, and 4 a turn of shared memory", adds=True),
    LowLevelColumn(transactions("L2"), "sectors of L2", adds=True),
    LowLevelColumn(transactions("HBM"), "sectors of the chip's memory", adds=True),
    LowLevelColumn("cycles per instruction", "cycles of a core over its instructions", weight=TIME),
    LowLevelColumn("vector instructions (%)", "vector instructions of those with floating-point numbers", weight=TIME),
    LowLevelColumn("mispredicted branches (%)", "branches that the core predicted wrongly", weight=TIME),
    LowLevelColumn("mispredictions per 1,000 instructions", "the same branches, by all instructions", weight=TIME),
    LowLevelColumn("stalled cycles (%)", "cycles in which a core executes nothing", weight=TIME),
    LowLevelColumn("cycles stalled by loads (%)", "the same while loads are under way", weight=TIME),
    LowLevelColumn(
        "peak warp instructions (1/s)", "units x schedulers x clock, each an instruction a cycle", weight=TIME
    ),
)
LOW_LEVEL_COLUMNS: Final[Mapping[str, LowLevelColumn]] = MappingProxyType({one.name: one for one in _COLUMNS})
"""The low-level columns by name."""


@dataclass(frozen=True, eq=False)
class LowLevel:
    """The low-level columns of n kernels, and the names that the profiler gives the counters behind them.

    Parameters
    ----------
    columns
        The columns by name, each of shape (n,).
    counters
        The tool's counters, by column.
    """

    columns: Mapping[str, Floats | DictColumn]
    counters: Mapping[str, str]

    @classmethod
    def of(cls, columns: Mapping[str, Floats | DictColumn], counters: Mapping[str, str]) -> LowLevel | None:
        """Return the low-level columns among these columns; None if there are none."""
        found = {name: column for name, column in columns.items() if name in LOW_LEVEL_COLUMNS}
        return cls(found, {name: counters[name] for name in found if name in counters}) if found else None


def summed(
    columns: Mapping[str, Floats | DictColumn], time: Floats, add: Callable[[Floats], Floats]
) -> dict[str, Floats]:
    """Return the low-level columns of numbers of groups of rows: totals added, ratios as means.

    Parameters
    ----------
    columns
        The columns of the rows.
    time
        The seconds of the rows, a weight.
    add
        Returns the sums of groups; NaN where a summand is NaN.

    Examples
    --------
    >>> rows = {"warp instructions": np.array([10.0, 30.0]), "threads per instruction": np.array([32.0, 16.0])}
    >>> {name: float(column[0]) for name, column in summed(rows, np.ones(2), lambda c: np.array([c.sum()])).items()}
    {'warp instructions': 40.0, 'threads per instruction': 20.0}
    """
    found: dict[str, Floats] = {}
    for name, column in columns.items():
        about = LOW_LEVEL_COLUMNS.get(name)
        if about is None or isinstance(column, DictColumn):
            continue
        if about.adds:
            found[name] = add(column)
        elif about.weight is not None:
            weight: Any = time if about.weight == TIME else columns.get(about.weight, time)
            with np.errstate(divide="ignore", invalid="ignore"):
                # A row whose denominator is 0 has no ratio and no weight.
                part = np.where(weight == 0, 0.0, column * weight)
                mean = add(part) / add(weight)
            found[name] = np.where(np.isfinite(mean), mean, np.nan)
    return found
