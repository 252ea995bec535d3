"""The instruction roofline: instructions of warps per second, by instructions per transaction at each memory level.

The model is from N. Ding and S. Williams, "An Instruction Roofline Model for GPUs", PMBS 2019. It judges kernels that
do few or no floating-point operations, and shows strides, bank conflicts and idle lanes. For AMD, where wavefronts take
the place of warps: M. Leinhauser et al., "Metrics and Design of an Instruction Roofline Model for AMD GPUs", 2022.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.chips import Chip, Source
from roofwidget.chips import chip as look_up
from roofwidget.kernels.columns import DictColumn, Floats, Texts, frozen, unwarned
from roofwidget.kernels.low_level import (
    GLOBAL_INSTRUCTIONS,
    GLOBAL_TRANSACTIONS,
    INSTRUCTIONS,
    SHARED_INSTRUCTIONS,
    SHARED_TRANSACTIONS,
    THREAD_INSTRUCTIONS,
    THREADS_EACH,
    transactions,
)
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.text_tables import aligned, and_more, counted, one_line
from roofwidget.units import format_percent, format_quantity, format_significant

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

SECTOR_BYTES: Final = 32
"""The bytes of a transaction of NVIDIA's caches and memories."""
SHARED_BYTES: Final = 128
"""The bytes of a turn of shared memory: 32 banks of 4 bytes."""
LANES: Final = 32
"""The threads of a warp."""
L1_WITH_SHARED: Final = "L1 with shared memory"
"""The name of the level that `shared_memory_level` adds."""
PEAK_COLUMN: Final = "peak warp instructions (1/s)"
_HBM: Final = "HBM"
_LEVELS: Final = ("L1", "L2", _HBM)
_AMD: Final = "AMD"
# The schedulers of an SM from Volta on.
_SCHEDULERS: Final = 4
# Instructions a cycle of an SM, which is the number of its schedulers, or of a CU, which issues one.
_PER_CYCLE: Final = MappingProxyType(
    {
        **dict.fromkeys(("Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell", "Blackwell Ultra"), _SCHEDULERS),
        **dict.fromkeys(("CDNA", "CDNA 2", "CDNA 3", "CDNA 4"), 1),
    }
)
_MAX_LINES: Final = 8


@dataclass(frozen=True)
class Wall:
    """A vertical line: the intensity of memory instructions with a pattern of access.

    Parameters
    ----------
    name
        The pattern, such as ``"stride 1, 4 B"``.
    space
        ``"global"`` or ``"shared"``: the instructions and transactions that it is a ratio of.
    intensity
        Instructions of warps per transaction.
    """

    __module__ = "roofwidget"

    name: str
    space: str
    intensity: float


def sectors_of_stride(stride: int, size: int = 4) -> int:
    """Return the sectors of 32 bytes that the 32 threads of a warp touch.

    Parameters
    ----------
    stride
        Elements from the element of one thread to that of the next thread; 0 if all threads access the same element.
    size
        Bytes of an element, a power of two up to 16. The first element begins a sector.

    Returns
    -------
    int
        The sectors, which are the transactions of one instruction.

    Raises
    ------
    ValueError
        If the stride is negative, or the size is no such power.

    Examples
    --------
    >>> [sectors_of_stride(stride) for stride in (0, 1, 2, 8, 32)], sectors_of_stride(1, size=8)
    ([1, 4, 8, 32, 32], 8)
    """
    if stride < 0 or size not in {1, 2, 4, 8, 16}:
        raise ValueError(f"expected a stride from 0 and a size of 1, 2, 4, 8 or 16 bytes, got {stride!r} and {size!r}")
    return len({lane * stride * size // SECTOR_BYTES for lane in range(LANES)})


def walls() -> tuple[Wall, ...]:
    """Return the walls of the paper: strides of global memory, and bank conflicts of shared memory.

    Examples
    --------
    >>> [(wall.name, wall.intensity) for wall in walls()][:3]
    [('stride 0', 1.0), ('stride 1, 4 B', 0.25), ('stride 1, 8 B', 0.125)]
    """
    strides = (("stride 0", 0, 4), ("stride 1, 4 B", 1, 4), ("stride 1, 8 B", 1, 8), ("stride 8 and more, 4 B", 8, 4))
    return (
        *(Wall(name, "global", 1 / sectors_of_stride(stride, size)) for name, stride, size in strides),
        Wall("no bank conflict", "shared", 1.0),
        Wall("32-way bank conflict", "shared", 1 / LANES),
    )


@dataclass(frozen=True, eq=False, repr=False)
class InstructionRoofline:
    """The instruction roofline of n kernels. Arrays have shape (n,) and are read-only; NaN is unknown.

    Parameters
    ----------
    names
        The names of the kernels.
    time
        Measured seconds.
    instructions
        Instructions of warps (of wavefronts on AMD).
    transactions
        Transactions by level: ``"L1"``, ``"L2"`` and ``"HBM"``, which is the chip's memory.
    lanes
        The share of the lanes of these instructions that did something. The rate times `lanes` is the rate that the
        paper plots, thread instructions over 32.
    global_instructions, global_transactions
        Loads and stores of global memory, and their transactions at L1.
    shared_instructions, shared_transactions
        Loads and stores of shared memory, and their turns.
    peak
        The highest rate, instructions/s; NaN if unknown. If the profile has clocks, the mean by time of `peaks`.
    peaks
        The highest rate at the clock of each kernel, where the profile has it, else `peak`.
    bandwidths
        The roofs by level, transactions/s. ``"shared"`` has that of shared memory. Levels without a bandwidth are left
        out.
    walls
        The walls of strides and of bank conflicts. There are none for AMD.
    unit
        ``"warp"`` or ``"wavefront"``.
    is_estimate
        Whether the peak is an estimate. On AMD it is the convention of Leinhauser et al., one instruction a cycle and
        CU. A CU can issue several of different kinds, so rates above this peak are possible.
    """

    __module__ = "roofwidget"

    names: Texts
    time: Floats
    instructions: Floats
    transactions: Mapping[str, Floats]
    lanes: Floats
    global_instructions: Floats
    global_transactions: Floats
    shared_instructions: Floats
    shared_transactions: Floats
    peak: float
    peaks: Floats
    bandwidths: Mapping[str, float]
    walls: tuple[Wall, ...]
    unit: str
    is_estimate: bool

    def __len__(self) -> int:
        return len(self.names)

    @property
    def rate(self) -> Floats:
        """Instructions of warps per second. In units of 1e9 these are the warp GIPS of the paper."""
        return _ratio(self.instructions, self.time)

    @property
    def intensity(self) -> Mapping[str, Floats]:
        """Instructions per transaction by level."""
        return {level: _ratio(self.instructions, amount) for level, amount in self.transactions.items()}

    @property
    def global_intensity(self) -> Floats:
        """Loads and stores of global memory per transaction at L1: to be compared with the walls of strides."""
        return _ratio(self.global_instructions, self.global_transactions)

    @property
    def shared_intensity(self) -> Floats:
        """Loads and stores of shared memory per turn: to be compared with the walls of bank conflicts."""
        return _ratio(self.shared_instructions, self.shared_transactions)

    @property
    def global_rate(self) -> Floats:
        """Loads and stores of global memory per second."""
        return _ratio(self.global_instructions, self.time)

    @property
    def shared_rate(self) -> Floats:
        """Loads and stores of shared memory per second."""
        return _ratio(self.shared_instructions, self.time)

    @property
    def attainable(self) -> Floats:
        """The lowest of the peak and the roofs of `bandwidths`, instructions/s.

        NaN if the peak is unknown, or the transactions at a level that has a roof.
        """
        return frozen(np.min(list(self._roofs.values()), axis=0))

    @property
    def utilization(self) -> Floats:
        """The rate over `attainable`."""
        return _ratio(self.rate, self.attainable)

    @property
    def bound_by(self) -> Texts:
        """The lowest roof: ``"instructions"``, a level's name, or ``"unknown"`` where `attainable` is unknown."""
        roofs = self._roofs
        values = np.array(list(roofs.values()))
        lowest = np.array([*roofs], dtype=object)[values.argmin(axis=0)]
        return np.where(np.isnan(values).any(axis=0) | np.isnan(self.rate), "unknown", lowest)

    @property
    def _roofs(self) -> dict[str, Floats]:
        """The roofs of each kernel. A level without transactions is no limit, and an unknown level is unknown."""
        found = {"instructions": self.peaks}
        unknown = np.full(len(self), np.nan)
        for level in _LEVELS:
            if level in self.bandwidths:
                amount = self.transactions.get(level, unknown)
                roof = _ratio(self.instructions, amount) * self.bandwidths[level]
                found[level] = np.where(amount == 0, np.inf, roof)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the roofs and the walls for JSON, and the kernels as columns of numbers; None is unknown."""
        return {
            "unit": self.unit,
            "peak": _number(self.peak),
            "is_estimate": self.is_estimate,
            "bandwidths": dict(self.bandwidths),
            "walls": [{"name": wall.name, "space": wall.space, "intensity": wall.intensity} for wall in self.walls],
            "kernels": {
                name: [_number(value) if isinstance(value, float) else value for value in column.tolist()]
                for name, column in self._columns().items()
            },
        }

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame, one row per kernel. Columns by level have names such as ``intensity:L2``."""
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        return pd.DataFrame(self._columns())

    def _columns(self) -> dict[str, Any]:
        return {
            "name": self.names,
            "time": self.time,
            "instructions": self.instructions,
            **{f"transactions:{level}": amount for level, amount in self.transactions.items()},
            **{f"intensity:{level}": ratio for level, ratio in self.intensity.items()},
            "rate": self.rate,
            "peak": self.peaks,
            "lanes": self.lanes,
            "global_intensity": self.global_intensity,
            "global_rate": self.global_rate,
            "shared_intensity": self.shared_intensity,
            "shared_rate": self.shared_rate,
            "attainable": self.attainable,
            "utilization": self.utilization,
            "bound_by": self.bound_by,
        }

    def __repr__(self) -> str:
        about = "about " * self.is_estimate
        peak = "peak unknown" if np.isnan(self.peak) else f"peak {about}{_gips(self.peak, self.unit)}"
        roofs = "".join(f", {level} {format_significant(one / 1e9)} GTXN/s" for level, one in self.bandwidths.items())
        header = ["kernel", "rate", *(f"per {level} transaction" for level in self.transactions), "of roof", "lowest"]
        rows = [header]
        for row in range(min(len(self), _MAX_LINES)):
            ratios = [format_significant(float(ratio[row])) for ratio in self.intensity.values()]
            share = float(self.utilization[row])
            shown = "unknown" if np.isnan(share) else format_percent(share)
            rate = _gips(float(self.rate[row]), self.unit)
            rows.append([one_line(self.names[row]), rate, *ratios, shown, str(self.bound_by[row])])
        title = f"InstructionRoofline: {counted(len(self), 'kernel')}, {peak}{roofs}"
        return "\n".join([title, *(aligned(rows) if len(self) else []), *and_more(len(self), _MAX_LINES)])


@keywords("instruction_roofline")
def instruction_roofline(kernels: Kernels, chip: Chip | str | None = None) -> InstructionRoofline:
    """Return the instruction roofline of the kernels of a profile.

    Parameters
    ----------
    kernels
        A profile with counts of instructions and transactions: of Nsight Compute with ``--set full`` or with the
        metrics that ``docs/why.md`` lists, or of rocprof.
    chip
        The chip for the roofs; by default the one that the profile names, at its measured clock.

    Returns
    -------
    InstructionRoofline
        The peak is units × schedulers × clock, one instruction of a warp a cycle each; on AMD an estimate, see
        `is_estimate`. A roof is the bandwidth of a level over the bytes of a transaction: 32, and 128 for a turn of
        shared memory, which has the bandwidth of L1. On AMD, where requests have several sizes, it is the mean size of
        the kernels' requests.

    Raises
    ------
    ValueError
        If no kernel has a count of instructions.

    Examples
    --------
    >>> import roofwidget as rw
    >>> counts = {"warp instructions": [4e9], "HBM transactions": [1e8], "thread instructions": [6.4e10]}
    >>> found = instruction_roofline(rw.Kernels(["sort"], [0], [3.2e9], time=[0.02], extra=counts), "v100-sxm2-16gb")
    >>> round(found.peak / 1e9, 1), found.rate.tolist(), found.intensity["HBM"].tolist(), found.lanes.tolist()
    (489.6, [200000000000.0], [40.0], [0.5])
    """
    n, columns = len(kernels), kernels.extra_columns

    def numbers(name: str) -> Floats:
        column = columns.get(name)
        return frozen(np.full(n, np.nan) if column is None or isinstance(column, DictColumn) else np.array(column))

    instructions = numbers(INSTRUCTIONS)
    if np.isnan(instructions).all():
        raise ValueError(
            f"no kernel of {kernels.source or 'the table'} has '{INSTRUCTIONS}': profile with 'ncu --set full', or "
            "with '--metrics smsp__inst_executed.sum' and the transactions of docs/why.md"
        )
    on = kernels.chip if chip is None else look_up(chip)
    is_amd = on is not None and on.vendor == _AMD
    moved = {level: numbers(transactions(level)) for level in _LEVELS}
    moved = {level: amount for level, amount in moved.items() if not np.isnan(amount).all()}
    width = 2 * LANES if is_amd else LANES
    of_threads = _ratio(numbers(THREAD_INSTRUCTIONS), width * instructions)
    peak, peaks = _peaks(on, numbers(PEAK_COLUMN), kernels.time, is_given=chip is not None)
    return InstructionRoofline(
        names=kernels.names,
        time=frozen(np.where(kernels.time > 0, kernels.time, np.nan)),
        instructions=instructions,
        transactions=MappingProxyType(moved),
        lanes=frozen(np.where(np.isnan(of_threads), numbers(THREADS_EACH) / width, of_threads)),
        global_instructions=numbers(GLOBAL_INSTRUCTIONS),
        global_transactions=numbers(GLOBAL_TRANSACTIONS),
        shared_instructions=numbers(SHARED_INSTRUCTIONS),
        shared_transactions=numbers(SHARED_TRANSACTIONS),
        peak=peak,
        peaks=frozen(peaks),
        bandwidths=MappingProxyType({} if on is None else _bandwidths(on, kernels, moved, is_amd=is_amd)),
        walls=() if is_amd else walls(),
        unit="wavefront" if is_amd else "warp",
        is_estimate=is_amd,
    )


@unwarned
def shared_memory_level(
    columns: Mapping[str, Floats | DictColumn], time: Floats, chip: Chip
) -> tuple[Floats, Chip] | None:
    """Return the bytes of the level `L1_WITH_SHARED` and a chip with it: L1 and shared memory send over one path.

    The bytes are the least for the work: turns that only bank conflicts take do not count. The bandwidth is a turn a
    cycle and SM, or that of L1 if it is higher. The result is None if the low-level `columns` lack the transactions in
    sectors of 32 bytes, or the bandwidth is unknown.
    """
    counts = tuple(map(columns.get, (transactions("L1"), SHARED_TRANSACTIONS, "bank conflict ways")))
    name = next((name for name in chip.memories if name.casefold() == "l1"), "")
    measured = columns.get(PEAK_COLUMN)
    clocks = measured if isinstance(measured, np.ndarray) else np.full(len(time), np.nan)
    peak, _ = _peaks(chip, clocks, time, is_given=chip.units is not None)
    of_turns = Source("a turn of 128 B a cycle and SM", confidence="derived")
    rates = {of_turns: SHARED_BYTES * peak / _SCHEDULERS}
    if name:
        of_l1 = chip.sources.get(f"memories.{name}.bandwidth", Source(chip.name))
        rates[of_l1] = chip.memories[name].bandwidth or float("nan")
    source = max(rates, key=lambda source: np.nan_to_num(rates[source]))
    if chip.vendor == _AMD or not rates[source] > 0 or not all(isinstance(column, np.ndarray) for column in counts):
        return None
    sectors, turns, ways = map(np.asarray, counts)
    conflicts = np.where(turns == 0, 0.0, turns * (1 - 1 / ways))
    return SECTOR_BYTES * sectors - SHARED_BYTES * conflicts, chip.replace(
        memories={L1_WITH_SHARED: rates[source]}, sources={f"memories.{L1_WITH_SHARED}.bandwidth": source}
    )


def _peaks(chip: Chip | None, measured: Floats, time: Floats, *, is_given: bool) -> tuple[float, Floats]:
    """Return the peak and that of each kernel: by the clocks of the profile, else that of the chip; NaN if unknown."""
    known = ~np.isnan(measured)
    if known.any() and not is_given:
        weights = np.nan_to_num(time[known])
        peak = float(np.average(measured[known], weights=weights if weights.any() else None))
        return peak, np.where(known, measured, peak)
    peak = float("nan")
    if chip is not None and chip.units is not None and chip.clock is not None and chip.family in _PER_CYCLE:
        peak = int(chip.units.split()[0]) * _PER_CYCLE[chip.family] * chip.clock
    return peak, np.full(len(measured), peak)


def _bandwidths(chip: Chip, kernels: Kernels, moved: Mapping[str, Floats], *, is_amd: bool) -> dict[str, float]:
    memories = {name.casefold(): memory.bandwidth for name, memory in chip.memories.items()}
    found = {}
    for level in _LEVELS:
        name = chip.main_memory if level == _HBM else level
        rate = memories.get(name.casefold())
        size = _request_bytes(kernels, name, moved.get(level)) if is_amd else SECTOR_BYTES
        if rate is not None and size > 0:
            found[level] = rate / size
    shared = memories.get("smem") or memories.get("l1")
    if shared is not None and not is_amd:
        found["shared"] = shared / SHARED_BYTES
    return found


def _request_bytes(kernels: Kernels, level: str, requests: Floats | None) -> float:
    """Return the mean bytes of the kernels' requests at a level; NaN if unknown."""
    moved = {name.casefold(): column for name, column in kernels.bytes_by_level.items()}.get(level.casefold())
    if moved is None or requests is None:
        return float("nan")
    known = ~np.isnan(moved) & ~np.isnan(requests)
    count = float(requests[known].sum())
    return float(moved[known].sum()) / count if count > 0 else float("nan")


@unwarned
def _ratio(above: Floats, below: Floats) -> Floats:
    found = above / below
    return np.where(np.isfinite(found), found, np.nan)


def _gips(rate: float, unit: str) -> str:
    return "unknown" if np.isnan(rate) else f"{format_quantity(rate, 'IPS', 4)} of {unit}s"


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
