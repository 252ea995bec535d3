"""`Bound`: the result of `bound`, n kernels on one chip.

It stores times. All other quantities are derived from them on first access and cached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt

from roofwidget.analysis import bound_report
from roofwidget.analysis.roofline import slowest_level
from roofwidget.chips import NETWORK, Chip
from roofwidget.kernels.columns import TIE_TOLERANCE, Bools, Floats, Texts, frozen, known_or, unwarned
from roofwidget.kernels.low_level import LowLevel

ABOVE_ROOF_FROM: Final = 1 + 1e-9
"""The utilization from which a kernel is above its roof: more than rounding can explain."""
# Two resource times are balanced if their difference is smaller than this share of the larger time.
_BALANCE_TOLERANCE: Final = 0.05
# The columns of `to_dataframe`, apart from the name and the columns by level.
_COLUMNS: Final = (
    *("flops", "compute_time", "network_time", "overhead_time", "body_time", "time", "measured", "bound_by", "regime"),
    *("balanced", "peak", "attainable", "attainable_fraction", "achieved", "utilization", "roof_fraction"),
    *("peak_fraction", "headroom", "above_roof", "exposed_fraction", "energy"),
)
_BY_LEVEL: Final = ("bytes", "ai", "memory_time", "bandwidth_utilization")


A = TypeVar("A", bound=npt.NDArray[Any])


def _formula(derive: Callable[[Bound], A]) -> Callable[[Bound], A]:
    """Decorate a formula: make its result read-only, and silence numpy's warnings."""

    @wraps(derive)
    @unwarned
    def derived(bound: Bound) -> A:
        return frozen(derive(bound))

    return derived


def ratio(derive: Callable[[Bound], A]) -> Callable[[Bound], A]:
    """Decorate a formula whose result is the same for all work of a kernel, and so is known without its amounts."""

    @wraps(derive)
    def derived(bound: Bound) -> A:
        found, other = derive(bound), bound.per_byte
        return found if other is None else _joined(bound, found, other, derive(other))

    return derived


def _joined(bound: Bound, found: A, per_byte: Bound, of_ratios: A) -> A:
    """Return the results of a formula: `of_ratios`, those of `per_byte`, for kernels that are known by their ratios."""
    return cast("A", np.where(np.isnan(bound.flops) & ~np.isnan(per_byte.flops), of_ratios, found))


@dataclass(frozen=True, eq=False, repr=False)
class Bound:
    """The roofline bounds of n kernels on one chip. Arrays have shape (n,) and are read-only; NaN is unknown.

    Parameters
    ----------
    names
        The names of the kernels.
    chip
        The chip.
    precision, memory
        The options of `roofwidget.bound`, spelled as in `chip`. The memory ``all`` means every level.
    overlap, exposed_comm, launch_overhead
        The other options of `roofwidget.bound`: two shares from 0 to 1, and seconds.
    judged
        The memory levels whose bytes count.
    flops, measured
        FLOPs over all precisions and launches, and measured seconds. A measured time of zero counts as unknown.
    bytes
        Bytes by memory level. If a kernel has bytes over the link, they are under ``network``.
    compute_time, memory_time, network_time, overhead_time
        Seconds: the FLOPs at their peaks, the bytes of each level at its bandwidth, the bytes over the link, and the
        launches. The network time of a kernel without network bytes is 0.
    body_time
        Compute and memory time combined by the overlap; with an overlap of 1 the larger of the two.
    time
        The bound: the largest of ``body_time / (1 - exposed_comm)``, network time and overhead time.
    intensity, rate
        FLOP per byte of main memory and FLOP/s of kernels whose FLOPs are unknown; see `Kernels`.
    remarks
        Sentences on assumptions; the first part of `notes`.
    source
        The source of the kernels.
    non_kernels
        The kind of each row that is not a kernel, such as idle time; None for kernels.
    bytes_elsewhere
        The levels at which a kernel has bytes, as text such as ``"L2, SMEM"``, if it has none at `judged`; None for
        other kernels. Without such kernels it is None.
    self_time
        Measured seconds without the time of nested rows. None if no row contains others.
    unlinked
        Whether a row is a collective whose bytes over the link are unknown; None if no row is.
    integers
        Whether a row does operations of integers, which are no FLOPs; None if no row does. `flops`, `peak`,
        `attainable` and `achieved` of these rows are in OP and OP/s.
    per_byte
        The bounds of these kernels for one byte of main memory: ratios of its times are those of all their work. None
        without such kernels.
    low_level
        The low-level counters of the profile, from which `advise` says why a kernel is slow; None without counters.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": "989 TFLOP/s"}, {"HBM": "3.35 TB/s"})
    >>> rw.bound([("matmul", 1.4e11, 1.0e8, 2e-4), ("gelu", 1.3e8, 6.7e7)], chip)
    Bound: 2 kernels on My chip · bf16 · HBM
    kernel  AI at HBM    bound time  bound by  of peak         of roof
    matmul  1400 FLOP/B  142 µs      compute   71 %            71 %
    gelu    1.94 FLOP/B  20 µs       HBM       at most 0.66 %  not measured
    """

    __module__ = "roofwidget"

    names: Texts
    chip: Chip
    precision: str
    memory: str
    overlap: float
    exposed_comm: float
    launch_overhead: float
    judged: tuple[str, ...]
    flops: Floats
    measured: Floats
    bytes: Mapping[str, Floats]
    compute_time: Floats
    memory_time: Mapping[str, Floats]
    network_time: Floats
    overhead_time: Floats
    body_time: Floats
    time: Floats
    intensity: Floats
    rate: Floats
    remarks: tuple[str, ...] = ()
    source: str = ""
    non_kernels: Texts | None = None
    bytes_elsewhere: Texts | None = None
    self_time: Floats | None = None
    unlinked: Bools | None = None
    integers: Bools | None = None
    per_byte: Bound | None = None
    low_level: LowLevel | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def judged_memory_time(self) -> Mapping[str, Floats]:
        """`memory_time` at the levels whose bytes count."""
        return {level: self.memory_time[level] for level in self.judged if level in self.memory_time}

    def operation(self, row: int) -> str:
        """Return the unit of a kernel's operations: ``FLOP``, or ``OP`` if operations of integers are among them."""
        return "OP" if self.integers is not None and self.integers[row] else "FLOP"

    @property
    def total_time(self) -> float:
        """The bound of the whole program, seconds: the sum of the kernels' bounds. NaN if any bound is unknown."""
        # fsum has no rounding errors. The page corrects its rounding errors, so it shows the same sum.
        return math.fsum(self.time.tolist())

    @cached_property
    @unwarned
    def ai(self) -> Mapping[str, Floats]:
        """Arithmetic intensity at each level, FLOP/byte; ``network`` is FLOPs per byte over the link."""
        ratios = {level: self.flops / moved for level, moved in self.bytes.items()}
        main = self.chip.main_memory
        if main in ratios:
            ratios[main] = known_or(ratios[main], self.intensity)
        return {level: frozen(ratio) for level, ratio in ratios.items()}

    @cached_property
    @_formula
    @ratio
    def peak(self) -> Floats:
        """The peak of each kernel, FLOP/s: FLOPs over compute time. For zero FLOPs it is the peak of `precision`."""
        has_no_flops = (self.flops == 0) | (self.intensity == 0) | np.isnan(self.rate)
        without_flops = np.where(has_no_flops, self.chip.peak(self.precision), np.nan)
        return np.where(self.flops > 0, self.flops / self.compute_time, without_flops)

    @cached_property
    @_formula
    @ratio
    def attainable(self) -> Floats:
        """The highest rate that the roof allows, FLOP/s: ``(1 - exposed_comm) * flops / body_time``."""
        return (1 - self.exposed_comm) * self.flops / self.body_time

    @cached_property
    @_formula
    def attainable_fraction(self) -> Floats:
        """`attainable` over `peak`.

        If a kernel was not measured, reports show this share, as in "at most 40 % of peak".
        """
        return self.attainable / self.peak

    @cached_property
    @_formula
    def achieved(self) -> Floats:
        """FLOPs over measured time, FLOP/s."""
        return known_or(self.flops / self.measured, self.rate)

    @cached_property
    @_formula
    @ratio
    def utilization(self) -> Floats:
        """Bound time over measured time: "% of roof". Also defined for kernels without FLOPs."""
        return self.time / self.measured

    @cached_property
    @_formula
    @ratio
    def roof_fraction(self) -> Floats:
        """`achieved` over `attainable`; NaN at zero FLOPs. Equals `utilization` unless the link or launches bind."""
        return np.where(self.flops > 0, self.achieved / self.attainable, np.nan)

    @cached_property
    @_formula
    def peak_fraction(self) -> Floats:
        """Achieved over peak."""
        return self.achieved / self.peak

    @cached_property
    @unwarned
    def bandwidth_utilization(self) -> Mapping[str, Floats]:
        """Achieved bytes/s over bandwidth, by level; ``network`` is the share of the link's bandwidth."""
        shares = {level: frozen(seconds / self.measured) for level, seconds in self.memory_time.items()}
        if NETWORK in self.bytes:
            seconds = np.where(np.isnan(self.bytes[NETWORK]), np.nan, self.network_time)
            shares[NETWORK] = frozen(seconds / self.measured)
        other = self.per_byte
        if other is None:
            return shares
        of_ratios = other.bandwidth_utilization
        return {level: frozen(_joined(self, share, other, of_ratios[level])) for level, share in shares.items()}

    @cached_property
    @_formula
    def headroom(self) -> Floats:
        """Measured time minus bound time, seconds: the time saved by reaching the roof.

        If a row contains other rows, this time is multiplied by self time over measured time. So no second is counted
        twice. The headroom is NaN for kernels without work, and for collectives whose bytes over the link are unknown:
        no roof explains their time.
        """
        saved = np.where(self.time > 0, self.measured - self.time, np.nan)
        if self.self_time is not None:
            saved = saved * (self.self_time / self.measured)
        return saved if self.unlinked is None else np.where(self.unlinked, np.nan, saved)

    @cached_property
    @_formula
    def above_roof(self) -> Bools:
        """Whether a kernel is faster than its bound. Then its FLOPs, its bytes, its time or the peaks must be wrong."""
        return self.utilization > ABOVE_ROOF_FROM

    @cached_property
    @_formula
    @ratio
    def exposed_fraction(self) -> Floats:
        """The share of the bound time in which only the link works.

        If no kernel has network bytes, the share is `exposed_comm`. Otherwise it is 0 for kernels without network
        bytes. For a kernel with network bytes it is ``max(0, network_time - body_time) / time``, or NaN if the link's
        bandwidth is unknown.
        """
        if not self.network_time.any():
            return np.full(len(self), self.exposed_comm)
        left = np.maximum(self.network_time - self.body_time, 0)
        return np.where(self.network_time == 0, 0.0, left / self.time)

    @cached_property
    @_formula
    def energy(self) -> Floats:
        """Joules for FLOPs, for bytes of main memory, and for constant power during the kernel's time.

        The time is the measured time. If a kernel was not measured, it is the bound time.

        All NaN on a chip without `Chip.energy`. Choi, Bedard, Fowler and Vuduc, IPDPS 2013: times overlap,
        energies add up.
        """
        cost = self.chip.energy
        moved = self.bytes.get(self.chip.main_memory)
        if cost is None or moved is None:
            return np.full(len(self), np.nan)
        seconds = np.where(np.isnan(self.measured), self.time, self.measured)
        return self.flops * cost.per_flop + moved * cost.per_byte + seconds * cost.constant_power

    @cached_property
    @_formula
    def bound_by(self) -> Texts:
        """The largest part of the bound: ``compute``, a level's name, ``network``, ``overhead`` or ``unknown``.

        Of the three times that the bound is the largest of (the body, the link, the launches) the longest is taken, and
        of the body its longer part, compute or memory. With an overlap of 1 this is the resource with the largest time,
        and the only limit. With an overlap below 1 the body is longer than each of its parts: both limit the kernel,
        and the body may be longest although the link needs more time than either part.

        Examples
        --------
        >>> import roofwidget as rw
        >>> chip = rw.Chip("x", {"bf16": 1e12}, {"HBM": 1e12}, links={"Link": 1e12})
        >>> step = rw.Kernels(["step"], [3e12], {"HBM": [2e12], "network": [4e12]})
        >>> whole, half = rw.bound(step, chip), rw.bound(step, chip, overlap=0)
        >>> whole.bound_by[0], float(whole.time[0]), half.bound_by[0], float(half.time[0])
        ('network', 4.0, 'compute', 5.0)
        """
        return np.array([*self.judged, NETWORK, "overhead", "compute", "unknown"], dtype=object)[self._binding]

    @cached_property
    @_formula
    def regime(self) -> Texts:
        """As `bound_by`, but with ``memory`` in place of the name of a memory level."""
        of_levels = ["memory" for _ in self.judged]
        return np.array([*of_levels, NETWORK, "overhead", "compute", "unknown"], dtype=object)[self._binding]

    @cached_property
    @_formula
    @ratio
    def _binding(self) -> npt.NDArray[np.int8]:
        """The position of `bound_by` in this list: the levels of `judged`, network, overhead, compute, unknown."""
        network, overhead, compute, unknown = range(len(self.judged), len(self.judged) + 4)
        memory_time, level = slowest_level(self.memory_time, self.judged, len(self))
        index = np.where(self.compute_time * (1 + TIE_TOLERANCE) >= memory_time, compute, level)
        if self.network_time.any() or self.overhead_time.any():
            outside = np.where(self.network_time * (1 + TIE_TOLERANCE) >= self.overhead_time, network, overhead)
            rest = np.maximum(self.network_time, self.overhead_time)
            index = np.where(self._stretched(self.body_time) * (1 + TIE_TOLERANCE) >= rest, index, outside)
        return np.where(np.isnan(self.time), unknown, index).astype(np.int8)

    @cached_property
    @_formula
    @ratio
    def balanced(self) -> Bools:
        """Whether the two slowest resources are within 5 % of each other: speeding up only one of them gains little.

        The resources are compute, each level of `judged`, link and launches. The times of compute and of the levels are
        divided by ``1 - exposed_comm``.
        """
        within = [self.compute_time, *self.judged_memory_time.values()]
        first, second = np.zeros(len(self)), np.zeros(len(self))
        for seconds in (*map(self._stretched, within), self.network_time, self.overhead_time):
            # fmax ignores unknown times.
            second = np.fmax(second, np.minimum(first, seconds))
            first = np.fmax(first, seconds)
        return (first > 0) & (first - second <= _BALANCE_TOLERANCE * first) & ~np.isnan(self.time)

    def _stretched(self, seconds: Floats) -> Floats:
        """Return seconds of the body divided by ``1 - exposed_comm``."""
        return seconds / (1 - self.exposed_comm) if self.exposed_comm else seconds

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences on assumptions, on bytes that do not count, and on why kernels cannot be above their roof."""
        return (
            *self.remarks,
            *bound_report.bytes_elsewhere(self),
            *bound_report.unlinked(self),
            *bound_report.above_roof(self),
        )

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame, one row per kernel. Columns by level have names such as ``ai:HBM``."""
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        frame: dict[str, Any] = {"name": self.names}
        frame |= {name: getattr(self, name) for name in _COLUMNS}
        frame |= {f"{name}:{level}": part for name in _BY_LEVEL for level, part in getattr(self, name).items()}
        return pd.DataFrame(frame)

    def __repr__(self) -> str:
        return bound_report.plain(self)

    def _repr_html_(self) -> str:
        return bound_report.html(self)


def roof_level(bound: Bound) -> str:
    """Return the memory level whose bandwidth is the roof that is drawn: the main memory if all levels count."""
    return bound.chip.main_memory if bound.memory == "all" else bound.memory
